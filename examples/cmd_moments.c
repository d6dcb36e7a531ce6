/* tact moments: volume, centroid, second moment and gradient of the overlap of two solids. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cmd_moments_check.h"
#include "command.h"
#include "measure.h"
#include "moments_print.h"
#include "words.h"

#define EXIT_SHAPES_SEPARATED 1
#define EXIT_FILE_ERROR 3

static const char help[] =
    "usage: tact moments A B [OPTION]...\n"
    "       tact moments --check FILE [--scale S] [--json]\n\n"
    "Measures the overlap of two solids, each the path of a closed mesh (OBJ or STL) or one of\n"
    "  sphere:RADIUS  capsule:RADIUS,LENGTH  cylinder:RADIUS,LENGTH  box:X,Y,Z (full edges)\n"
    "  ellipsoid:X,Y,Z (full axes)  torus:RADIUS,TUBE (of ring and tube)\n"
    "  cone:RADIUS,LENGTH (base at -LENGTH/2)  halfspace (z <= 0)\n"
    "all in m. The axis of capsule, cylinder, cone and torus is z, and LENGTH that of its straight "
    "part.\n"
    "Cylinders, cones, ellipsoids, tori and the second of two capsules are measured as meshes of "
    "the "
    "same\n"
    "volume.\n\n"
    "  --pose-a POSE    of A: \"x y z\" or \"x y z qw qx qy qz\"; default: the origin\n"
    "  --pose-b POSE    of B\n"
    "  --scale S        of the coordinates of mesh files; 0.001 for files in mm; default 1\n"
    "  --method METHOD  exact (default): on the host, in double precision; opencl: on a device, "
    "which\n"
    "                   leaves spheres and capsules to the host;\n"
    "                   convex: of two convex polyhedra by their duals and qhull, a check; rays: "
    "by\n"
    "                   rays in three directions, which open and flipped meshes bear: a file is\n"
    "                   taken as it is, and what the rays met there is reported\n"
    "  --resolution N   rays along each side of the overlap's bounds, 1 to 2048; default 64\n"
    "  --json           one JSON object on stdout: volume [m^3], centroid [m], second_moment "
    "[m^5]\n"
    "                   (xx yy zz xy xz yz, about the centroid), gradient (dV/d(pose of A): 3 "
    "[m^2]\n"
    "                   and its torque about the centroid 3 [m^3]), normal (pushes A out of B),\n"
    "                   patch {depth [m], area [m^2], semi [m]}, method, device, time_us, pairs\n"
    "                   (of triangles near the overlap of two meshes); by rays: rays {resolution,\n"
    "                   rays, mended, dropped, volume along x, y, z [m^3]}\n"
    "  --check FILE     check whether FILE is a closed mesh, and else why it is refused: "
    "vertices,\n"
    "                   triangles, components, boundary, non-manifold and misoriented edges,\n"
    "                   triangles without area, pairs of triangles that cross, components inside\n"
    "                   another or inside out, volume [m^3] (null: open), centroid [m],\n"
    "                   inertia about it at unit density [m^5]\n"
    "  --help           this text\n\n"
    "exit codes:\n"
    "  0  they overlap; with --check: the mesh is closed\n"
    "  1  they do not; with --check: it is refused\n"
    "  2  bad usage, or a method that cannot be had\n"
    "  3  a file that cannot be read, or is no closed mesh\n\n"
    "example: a ball of 8 mm radius, 0.1 mm deep in the ground\n"
    "  tact moments sphere:0.008 halfspace --pose-a \"0 0 0.0079\"\n";

struct query {
    const char *name, *method, *check;
    struct shape_pair_options shape_options;
    int resolution;
    struct parsed_shape shape[2];
};

static int is_ray_method_chosen(const struct query *q)
{
    return strcmp(q->method, "rays") == 0;
}

static int find_moments_method(const char *name)
{
    static const char *const methods[] = {"exact", "opencl", "convex", "rays"};
    int found = 0;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        found |= strcmp(name, methods[i]) == 0;
    }
    return found;
}

static int set_moments_command_option(struct query *q, int option, const char *text)
{
    double number;
    switch (option) {
    case 'm':
        q->method = text;
        return find_moments_method(text)
                   ? 0
                   : command_print_usage_error(q->name,
                                               "--method %s: exact, opencl, convex or rays is "
                                               "expected",
                                               text);
    case 'n':
        return parse_finite_number(text, &number) || number != floor(number) || number < 1.0 ||
                       number > 2048.0
                   ? command_print_usage_error(
                         q->name, "--resolution %s: a whole number from 1 to 2048 is expected",
                         text)
                   : ((q->resolution = (int)number), 0);
    case 'c':
        q->check = text;
        return 0;
    default:
        return parse_shape_pair_option(&q->shape_options, q->name, option, text);
    }
}

/* Measures by the requested method. */
static int measure_overlap_moments(const struct query *q, struct measured_overlap *out,
                                   struct tact_error *err)
{
    const struct tact_shape shape[2] = {q->shape[0].shape, q->shape[1].shape};
    const struct tact_soup *const soup[2] = {&q->shape[0].soup, &q->shape[1].soup};
    if (is_ray_method_chosen(q)) {
        return measure_overlap_by_rays(shape, soup, q->shape_options.pose, q->resolution, out, err);
    }
    if (strcmp(q->method, "convex") == 0) {
        return measure_overlap_of_convex_shapes(shape, q->shape_options.pose, out, err);
    }
    return strcmp(q->method, "opencl") == 0
               ? measure_overlap_with_opencl(shape, q->shape_options.pose, out, err)
               : measure_overlap_exactly(shape, q->shape_options.pose, out, err);
}

static int print_overlap_moments(struct query *q, char **words)
{
    struct tact_error err = {.line = 0};
    struct measured_overlap result = {.status = 0};
    struct tact_patch patch = {.depth = 0.0};
    for (int i = 0; i < 2; i++) {
        int rc =
            is_ray_method_chosen(q)
                ? parse_shape_or_soup_argument(words[i], q->shape_options.scale, &q->shape[i], &err)
                : parse_shape_argument(words[i], q->shape_options.scale, &q->shape[i], &err);
        if (rc) {
            command_print_error(&err);
            return rc == -EDOM ? EXIT_USAGE : EXIT_FILE_ERROR;
        }
    }
    int rc = measure_overlap_moments(q, &result, &err);
    if (rc) {
        return command_print_error(&err);
    }
    struct tact_patch_options options = {
        .curved = tact_shape_faces(&q->shape[0].shape) == TACT_FACES_CURVED ||
                  tact_shape_faces(&q->shape[1].shape) == TACT_FACES_CURVED};
    if (result.status) {
        tact_patch_from_moments(&result.moments, &options, &patch);
    }
    if (!q->shape_options.json) {
        moments_print_table(&result, &patch);
    } else if (moments_print_json(&result, &patch, q->method,
                                  is_ray_method_chosen(q) ? q->resolution : 0)) {
        return EXIT_USAGE;
    }
    return result.status ? EXIT_GOOD : EXIT_SHAPES_SEPARATED;
}

int cmd_moments(int argc, char **argv)
{
    static const struct option long_options[] = {SHAPE_PAIR_OPTIONS,
                                                 {"method", required_argument, NULL, 'm'},
                                                 {"check", required_argument, NULL, 'c'},
                                                 {"resolution", required_argument, NULL, 'n'},
                                                 {NULL, 0, NULL, 0}};
    struct query q = {.name = argv[0],
                      .method = "exact",
                      .shape_options = shape_pair_options_default(),
                      .resolution = 64};
    int c, code = 0;
    while (!code && (c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        code = set_moments_command_option(&q, c, optarg);
    }
    int words = argc - optind;
    if (!code && words != (q.check ? 0 : 2)) {
        code = q.check
                   ? command_print_usage_error(q.name, "--check FILE takes no shapes besides")
                   : command_print_usage_error(q.name, "two shapes are expected, not %d", words);
    }
    if (!code) {
        code = q.check ? check_mesh_of_file(q.check, q.shape_options.scale, q.shape_options.json)
                       : print_overlap_moments(&q, argv + optind);
    }
    release_parsed_shape(&q.shape[0]);
    release_parsed_shape(&q.shape[1]);
    return code;
}
