/* tact field: the pressure field of a mesh, its accuracy and its cost. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "command.h"
#include "contact/pair/field/extent.h"
#include "contact/pair/field/field.h"
#include "contact/pair/options.h"
#include "field_section.h"
#include "output.h"
#include "text.h"
#include "words.h"

#define EXIT_FIELD_REFUSED 1
#define EXIT_FILE_ERROR 3

enum { REPEATS = 20 }; /* number of times that a query is measured */

static const char help[] =
    "usage: tact field MESH --thickness T [OPTION]...\n\n"
    "Computes the pressure field that `model: field` gives to a mesh (OBJ or STL), reads that of\n"
    "tetrahedra (legacy VTK, or Gmsh's .msh, see SCENE.md, `file`), or makes that of one of\n"
    "  sphere:RADIUS  capsule:RADIUS,LENGTH  cylinder:RADIUS,LENGTH  box:X,Y,Z (full edges, m)\n"
    "and measures how well it stands for it. The pressure is modulus / T times an extent [m],\n"
    "about the depth under the surface.\n\n"
    "  --thickness T    of the layer that yields [m]\n"
    "  --modulus E      of the material [Pa], for tetrahedra with pressures; default 1\n"
    "  --kind KIND      auto (default), screened, laplace or distance: see SCENE.md, `field`\n"
    "  --cell C         edge of the finest cells [m]; default: by the mesh\n"
    "  --scale S        of the coordinates of a mesh file; 0.001 for files in mm; default 1\n"
    "  --section PLANE  x, y or z across the section, and where [m]: z=0.01; default: through the\n"
    "                   centroid, across z\n"
    "  --out FILE       draws the section: lines of equal extent, and the mesh; .svg, .png, .pdf,\n"
    "                   or .gp, the script for gnuplot; one that exists needs "
    "--force\n" OUTPUT_FORCE_HELP
    "  --json           one JSON object on stdout: triangles, size [m], tetrahedra, seconds (of "
    "the\n"
    "                   processor, to compute the field), volume (over the mesh's), slope and\n"
    "                   slope_spread (of the extent on the surface), deepest [m], zero_rms,\n"
    "                   zero_worst [m] and zero_place (distance of the mesh from where the extent "
    "is\n"
    "                   0), query_us and polygons (of a query on a rigid flat, mean of six sides)\n"
    "  --help           this text\n\n"
    "exit codes:\n"
    "  0  the field is within half the thickness of the surface\n"
    "  1  it is farther away somewhere\n"
    "  2  bad usage\n"
    "  3  a file that cannot be read, is no closed mesh, or has no such field\n\n"
    "example: the field of a cow of 0.2 m, and a section along it\n"
    "  tact field spot.obj --scale 0.1 --thickness 0.01 --section x --out cow.svg\n";

struct field_command_options {
    struct tact_field_material material;
    double scale, at;
    int axis, json, force;
    const char *out;
};

/* CPU time of this process [s]. */
static double get_processor_time(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* What was found. */
struct field_measurement {
    const struct tact_mesh *mesh;
    struct tact_pressure_field *field;
    struct tact_field_quality quality;
    double slope, size, seconds, query, polygons;
};

/* Measures the time of a query with a rigid plane at each side of the bounding box, at a depth of a
 * fifth of the extent. */
static int measure_field_query_time(struct field_measurement *a)
{
    struct tact_field_scratch *scratch = tact_field_scratch_create(100000);
    struct tact_pressure_field *flat = NULL;
    int rc = scratch ? tact_field_halfspace(INFINITY, &flat) : -1;
    for (int side = 0; side < 6 && !rc; side++) {
        static const double turn[3][4] = {{0.70710678118654752, 0.0, 0.70710678118654752, 0.0},
                                          {0.70710678118654752, -0.70710678118654752, 0.0, 0.0},
                                          {1.0, 0.0, 0.0, 0.0}};
        const struct tact_mesh_node *bounds = &a->mesh->nodes[0];
        struct tact_pose own = tact_pose_identity(), at = own;
        struct tact_field_contact contact;
        int axis = side / 2;
        double sign = side % 2 ? -1.0 : 1.0;
        const double half_turn_quat[4] = {0.0, axis == 0 ? 0.0 : 1.0, axis == 0 ? 1.0 : 0.0, 0.0};
        tact_quat_mul(at.quat_wxyz, turn[axis], side % 2 ? half_turn_quat : own.quat_wxyz);
        at.position[axis] = (side % 2 ? bounds->upper[axis] : bounds->lower[axis]) +
                            sign * 0.2 * a->quality.deepest;
        double before = get_processor_time();
        for (int n = 0; n < REPEATS; n++) {
            tact_field_touch(a->field, &own, flat, &at, scratch, &contact);
        }
        a->query += 1e6 * (get_processor_time() - before) / (6 * REPEATS);
        a->polygons += (double)contact.polygons / 6.0;
    }
    tact_field_free(flat);
    tact_field_scratch_destroy(scratch);
    return rc;
}

static int compute_pressure_field(const struct field_command_options *q,
                                  const struct parsed_shape *of, struct field_measurement *a,
                                  struct tact_error *err)
{
    double before = get_processor_time();
    int rc = tact_field_of_shape(&of->shape, &q->material, &a->field, err);
    a->seconds = get_processor_time() - before;
    if (rc) {
        return rc;
    }
    a->slope = q->material.modulus / q->material.thickness;
    for (int k = 0; k < 3; k++) {
        a->size = tact_max(a->size, a->mesh->nodes[0].upper[k] - a->mesh->nodes[0].lower[k]);
    }
    tact_field_measure(a->field, a->slope, a->mesh, &a->quality);
    return measure_field_query_time(a);
}

static int print_field_json(const struct field_measurement *a)
{
    const struct tact_field_quality *q = &a->quality;
    return text_print_json(json_pack(
        "{s:I, s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:[f, f, f], s:f, s:f}", "triangles",
        (json_int_t)a->mesh->triangle_count, "size", a->size, "tetrahedra",
        (json_int_t)tact_field_cells(a->field), "seconds", a->seconds, "volume",
        q->volume / a->mesh->volume, "slope", q->slope, "slope_spread", q->slope_spread, "deepest",
        q->deepest, "zero_rms", q->rms, "zero_worst", q->worst, "zero_place", q->place[0],
        q->place[1], q->place[2], "query_us", a->query, "polygons", a->polygons));
}

static void print_field_table(const struct field_measurement *a)
{
    const struct tact_field_quality *q = &a->quality;
    printf("mesh      %zu triangles, %.4g m\n", a->mesh->triangle_count, a->size);
    printf("field     %zu tetrahedra, computed in %.2f s\n", tact_field_cells(a->field),
           a->seconds);
    printf("volume    %.4f times that of the mesh\n", q->volume / a->mesh->volume);
    printf("slope     %.3f on the surface (standard deviation %.3f)\n", q->slope, q->slope_spread);
    printf("deepest   %.4g m\n", q->deepest);
    printf("zero set  %.2g m from the mesh rms (%.3f %% of its size), %.2g m at worst, at "
           "(%.4g, %.4g, %.4g)\n",
           q->rms, 100.0 * q->rms / a->size, q->worst, q->place[0], q->place[1], q->place[2]);
    printf("query     %.3g us for a contact with a rigid plane, %.0f polygons, mean of six sides\n",
           a->query, a->polygons);
}

static int compute_and_print_field(const struct field_command_options *q, const char *name,
                                   const char *word, struct parsed_shape *of)
{
    struct tact_error err = {.line = 0};
    struct field_measurement a = {.slope = 0.0};
    struct tact_mesh *ball = NULL;
    int rc = parse_shape_argument(word, q->scale, of, &err);
    if (!rc && of->shape.kind == TACT_SHAPE_SPHERE) {
        rc = tact_mesh_capsule(of->shape.size[0], 0.0, 2000, &ball);
    }
    a.mesh = ball ? ball : of->shape.mesh;
    if (!rc && !a.mesh) {
        return command_print_usage_error(name, "%s has no surface that ends; expected a mesh",
                                         word);
    }
    if (!rc && (rc = compute_pressure_field(q, of, &a, &err))) {
        tact_error_at(&err, word, 0, 0, NULL);
    }
    int code = EXIT_FILE_ERROR;
    if (rc) {
        command_print_error(&err);
    } else {
        code = q->json ? (print_field_json(&a) ? EXIT_USAGE : EXIT_GOOD)
                       : (print_field_table(&a), EXIT_GOOD);
        const struct pressure_field_section pressure_field_section = {
            a.mesh,
            a.field,
            a.slope,
            q->axis,
            isnan(q->at) ? a.mesh->centroid[q->axis] : q->at,
            a.quality.deepest};
        code = !code && q->out ? field_section_draw(&pressure_field_section, name, q->out, q->force)
                               : code;
        code = !code && a.quality.worst > 0.5 * q->material.thickness ? EXIT_FIELD_REFUSED : code;
    }
    tact_field_free(a.field);
    tact_mesh_free(ball);
    return code;
}

/* "z" or "z=0.01". */
static int parse_section_plane(const char *text, struct field_command_options *q)
{
    const char *axis = text[0] ? strchr("xyz", text[0]) : NULL;
    if (!axis || (text[1] && text[1] != '=')) {
        return -1;
    }
    q->axis = text[0] - 'x';
    return text[1] ? parse_finite_number(text + 2, &q->at) : 0;
}

static int parse_field_kind(const char *text, int *kind)
{
    for (*kind = 0; tact_extent_kind_names[*kind]; (*kind)++) {
        if (!strcmp(tact_extent_kind_names[*kind], text)) {
            return 0;
        }
    }
    return -1;
}

static int set_field_command_option(struct field_command_options *q, const char *name, int option,
                                    const char *text)
{
    switch (option) {
    case 't':
        return parse_finite_number(text, &q->material.thickness) || !(q->material.thickness > 0.0)
                   ? command_print_usage_error(
                         name, "--thickness %s: a positive number is expected", text)
                   : 0;
    case 'm':
        return parse_finite_number(text, &q->material.modulus) || !(q->material.modulus > 0.0)
                   ? command_print_usage_error(name, "--modulus %s: a positive number is expected",
                                               text)
                   : 0;
    case 'k':
        return parse_field_kind(text, &q->material.kind)
                   ? command_print_usage_error(
                         name, "--kind %s: expected auto, screened, laplace or distance", text)
                   : 0;
    case 'c':
        return parse_finite_number(text, &q->material.cell) || !(q->material.cell > 0.0)
                   ? command_print_usage_error(name, "--cell %s: a positive number is expected",
                                               text)
                   : 0;
    case 's':
        return parse_finite_number(text, &q->scale) || !(q->scale > 0.0)
                   ? command_print_usage_error(name, "--scale %s: a positive number is expected",
                                               text)
                   : 0;
    case 'p':
        return parse_section_plane(text, q)
                   ? command_print_usage_error(
                         name, "--section %s: expected x, y or z, or a plane such as z=0.01", text)
                   : 0;
    case 'o':
        q->out = text;
        return 0;
    case 'f':
        q->force = 1;
        return 0;
    case 'j':
        q->json = 1;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

int cmd_field(int argc, char **argv)
{
    static const struct option long_options[] = {{"thickness", required_argument, NULL, 't'},
                                                 {"modulus", required_argument, NULL, 'm'},
                                                 {"kind", required_argument, NULL, 'k'},
                                                 {"cell", required_argument, NULL, 'c'},
                                                 {"scale", required_argument, NULL, 's'},
                                                 {"section", required_argument, NULL, 'p'},
                                                 {"out", required_argument, NULL, 'o'},
                                                 {"force", no_argument, NULL, 'f'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    struct field_command_options q = {
        .scale = 1.0, .at = NAN, .axis = 2, .material = {.modulus = 1.0}};
    struct parsed_shape shape = {.mesh = NULL};
    int c, code = 0;
    while (!code && (c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        code = set_field_command_option(&q, argv[0], c, optarg);
    }
    if (!code && argc - optind != 1) {
        code = command_print_usage_error(argv[0], "one mesh is expected, not %d", argc - optind);
    }
    if (!code && !(q.material.thickness > 0.0)) {
        code = command_print_usage_error(argv[0],
                                         "expected --thickness: that of the elastic layer [m]");
    }
    if (!code && q.out) {
        code = is_output_allowed(argv[0], q.out, q.force, (const char *const *)&argv[optind], 1);
    }
    code = code ? code : compute_and_print_field(&q, argv[0], argv[optind], &shape);
    release_parsed_shape(&shape);
    return code;
}
