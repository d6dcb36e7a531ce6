/* tact distance: distance of two convex solids, or the depth of their overlap. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "contact/pair/features/distance.h"
#include "text.h"
#include "words.h"

#define EXIT_SHAPES_OVERLAP 1
#define EXIT_FILE_ERROR 3

static const char help[] =
    "usage: tact distance A B [OPTION]...\n\n"
    "Signed distance of two convex solids, exact but for rounding, and the features that decide\n"
    "it. Each is the path of a mesh (OBJ or STL), whose convex hull is taken, or one of\n"
    "  sphere:RADIUS  capsule:RADIUS,LENGTH  cylinder:RADIUS,LENGTH  box:X,Y,Z (full edges)\n"
    "  ellipsoid:X,Y,Z (full axes)  halfspace (z <= 0)\n"
    "all in m, sizes and positions up to 1e9 m. The axis of capsule and cylinder is z, and LENGTH\n"
    "that of its straight part.\n\n"
    "  --pose-a POSE    of A: \"x y z\" or \"x y z qw qx qy qz\"; default: the origin\n"
    "  --pose-b POSE    of B\n"
    "  --scale S        of the coordinates of mesh files; 0.001 for files in mm; default 1\n"
    "  --json           one JSON object on stdout: distance [m] (negative: the depth of the least\n"
    "                   translation that parts them), duality_gap [m] (distance less its lower\n"
    "                   bound), normal (pushes A out of B), features (of A and B: vertex, edge or\n"
    "                   face), points (of A and B: nearest to each other, or deepest [m]), "
    "polygon\n"
    "                   (corners [m] half way between the two, where the features face each "
    "other),\n"
    "                   gaps (at its corners [m]), supports (searches that it took)\n"
    "  --help           this text\n\n"
    "exit codes:\n"
    "  0  they are apart, or touch\n"
    "  1  they overlap\n"
    "  2  bad usage, or a kind of shape that has no distance\n"
    "  3  a file that cannot be read, or has no hull\n\n"
    "example: a cube on its corner, 0.9 m above the ground\n"
    "  tact distance box:1,1,1 halfspace --pose-a \"0 0 0.9 0.8881 -0.3251 0.3251 0\"\n";

static int parse_shape_word(const char *word, double scale, struct parsed_shape *out,
                            struct tact_error *err)
{
    int rc = parse_shape_or_soup_argument(word, scale, out, err);
    if (!rc && out->soup.vertex_count) {
        rc = tact_mesh_hull(out->soup.vertices, out->soup.vertex_count, &out->mesh, err);
        tact_error_at(err, rc ? word : NULL, 0, 0, NULL);
        out->shape.kind = TACT_SHAPE_CONVEX;
        out->shape.mesh = out->mesh;
    }
    return rc;
}

static int print_distance_json(const struct tact_distance *d)
{
    json_t *polygon = json_array(), *gaps = json_array();
    for (int i = 0; i < d->corners; i++) {
        json_array_append_new(polygon, text_json_numbers(d->corner[i], 3));
        json_array_append_new(gaps, json_real(d->gap[i]));
    }
    json_t *all =
        json_pack("{s:f, s:f, s:o, s:[s, s], s:[o, o], s:o, s:o, s:i}", "distance",
                  d->distance + 0.0 /* no -0.0 */, "duality_gap", d->distance - d->bound, "normal",
                  text_json_numbers(d->normal, 3), "features", tact_feature_name(d->feature[0]),
                  tact_feature_name(d->feature[1]), "points", text_json_numbers(d->point[0], 3),
                  text_json_numbers(d->point[1], 3), "polygon", polygon, "gaps", gaps, "supports",
                  d->supports);
    return text_print_json(all);
}

static void print_distance_row(const char *name, const char *unit, const double *v)
{
    printf("  %-14s %-3s %15.9g %15.9g %15.9g\n", name, unit, v[0], v[1], v[2]);
}

static void print_distance_table(const struct tact_distance *d)
{
    printf("%s on %s: %.12g m %s (duality gap %.1e m)\n", tact_feature_name(d->feature[0]),
           tact_feature_name(d->feature[1]), fabs(d->distance),
           d->distance < 0.0 ? "deep" : "apart", d->distance - d->bound);
    print_distance_row("normal", "", d->normal);
    print_distance_row("point of A", "m", d->point[0]);
    print_distance_row("point of B", "m", d->point[1]);
    for (int i = 0; i < d->corners; i++) {
        print_distance_row(i ? "" : "polygon", "m", d->corner[i]);
    }
}

static int compute_and_print_distance(const struct shape_pair_options *q, char **words,
                                      struct parsed_shape shape[2])
{
    struct tact_error err = {.line = 0};
    struct tact_distance found;
    for (int i = 0; i < 2; i++) {
        int rc = parse_shape_word(words[i], q->scale, &shape[i], &err);
        if (rc) {
            command_print_error(&err);
            return rc == -EDOM ? EXIT_USAGE : EXIT_FILE_ERROR;
        }
    }
    int rc = tact_distance_find(&shape[0].shape, &q->pose[0], &shape[1].shape, &q->pose[1], &found);
    if (rc) {
        tact_error_set(&err, rc,
                       rc == -ENOTSUP ? "%s and %s: expected two of sphere, capsule, cylinder, "
                                        "box, ellipsoid, halfspace and mesh files, one of them "
                                        "not a halfspace"
                                      : "%s and %s: out of memory",
                       words[0], words[1]);
        return command_print_error(&err);
    }
    if (!q->json) {
        print_distance_table(&found);
    } else if (print_distance_json(&found)) {
        return EXIT_USAGE;
    }
    return found.distance < 0.0 ? EXIT_SHAPES_OVERLAP : EXIT_GOOD;
}

int cmd_distance(int argc, char **argv)
{
    static const struct option long_options[] = {SHAPE_PAIR_OPTIONS, {NULL, 0, NULL, 0}};
    struct shape_pair_options q = shape_pair_options_default();
    struct parsed_shape shape[2] = {{.mesh = NULL}, {.mesh = NULL}};
    int c, code = 0;
    while (!code && (c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        code = parse_shape_pair_option(&q, argv[0], c, optarg);
    }
    if (!code && argc - optind != 2) {
        code = command_print_usage_error(argv[0], "two shapes are expected, not %d", argc - optind);
    }
    code = code ? code : compute_and_print_distance(&q, argv + optind, shape);
    release_parsed_shape(&shape[0]);
    release_parsed_shape(&shape[1]);
    return code;
}
