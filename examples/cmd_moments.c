/* tact moments: volume, centroid, second moment and gradient of the overlap of two solids. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "cmd_moments_check.h"
#include "command.h"
#include "contact/patch.h"
#include "measure.h"
#include "words.h"

#define EXIT_APART 1
#define EXIT_FILE 3

static const char help[] =
    "usage: tact moments A B [OPTION]...\n"
    "       tact moments --check FILE [--scale S] [--json]\n\n"
    "Measures the overlap of two solids, each the path of a closed mesh (OBJ or STL) or one of\n"
    "  sphere:RADIUS  capsule:RADIUS,LENGTH  box:X,Y,Z (full edges)  halfspace (z <= 0)\n"
    "all in m. A capsule's axis is z and LENGTH that of its segment; it is measured as a mesh of "
    "the\n"
    "same volume.\n\n"
    "  --pose-a POSE    of A: \"x y z\" or \"x y z qw qx qy qz\"; default: the origin\n"
    "  --pose-b POSE    of B\n"
    "  --scale S        of the coordinates of mesh files; 0.001 for files in mm; default 1\n"
    "  --method METHOD  exact (default): on the host, in double precision; opencl: on a device\n"
    "  --json           one JSON object on stdout: volume [m^3], centroid [m], second_moment "
    "[m^5]\n"
    "                   (xx yy zz xy xz yz, about the centroid), gradient (dV/d(pose of A): 3 "
    "[m^2]\n"
    "                   and its torque about the centroid 3 [m^3]), normal (pushes A out of B),\n"
    "                   patch {depth [m], area [m^2], semi [m]}, method, device, time_us\n"
    "  --check FILE     tell whether FILE is a closed mesh, and else why it is refused: vertices,\n"
    "                   triangles, components, boundary, non-manifold and misoriented edges,\n"
    "                   triangles without area, volume [m^3], centroid [m], inertia about it at\n"
    "                   unit density [m^5]\n"
    "  --help           this text\n\n"
    "exit codes:\n"
    "  0  they overlap; with --check: the mesh is closed\n"
    "  1  they do not; with --check: it is refused\n"
    "  2  bad usage, or a method that cannot be had\n"
    "  3  a file that cannot be read, or is no closed mesh\n\n"
    "example: a ball of 8 mm radius, 0.1 mm deep in the ground\n"
    "  tact moments sphere:0.008 halfspace --pose-a \"0 0 0.0079\"\n";

static json_t *list(const double *v, int count)
{
    json_t *all = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(all, json_real(v[i]));
    }
    return all;
}

static int print_json(const struct measured *r, const struct tact_patch *patch, const char *method)
{
    const struct tact_moments *m = &r->moments;
    json_t *all = json_pack("{s:b, s:f, s:o, s:o, s:o, s:o, s:{s:f, s:f, s:o}, s:s, s:s, s:f}",
                            "overlap", r->status, "volume", m->volume, "centroid",
                            list(m->centroid, 3), "second_moment", list(m->second, 6), "gradient",
                            list(m->gradient, 6), "normal", list(patch->frame, 3), "patch", "depth",
                            patch->depth, "area", patch->area, "semi", list(patch->semi, 2),
                            "method", method, "device", r->device, "time_us", r->time_us);
    int rc = all ? json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : -1;
    json_decref(all);
    puts("");
    return rc;
}

static void row(const char *name, const char *unit, const double *v, int count)
{
    printf("  %-14s %-5s", name, unit);
    for (int i = 0; i < count; i++) {
        printf(" %13.6g", v[i]);
    }
    puts("");
}

static void print_table(const struct measured *r, const struct tact_patch *patch)
{
    const struct tact_moments *m = &r->moments;
    if (!r->status) {
        printf("no overlap (%s, %.1f us)\n", r->device, r->time_us);
        return;
    }
    printf("overlap (%s, %.1f us)\n", r->device, r->time_us);
    row("volume", "m^3", &m->volume, 1);
    row("centroid", "m", m->centroid, 3);
    row("second moment", "m^5", m->second, 3);
    row("  xy xz yz", "", m->second + 3, 3);
    row("gradient", "m^2", m->gradient, 3);
    row("  torque", "m^3", m->gradient + 3, 3);
    row("normal", "", patch->frame, 3);
    row("depth V/|g|", "m", &patch->depth, 1);
    row("patch area", "m^2", &patch->area, 1);
    row("  semi-axes", "m", patch->semi, 2);
}

struct query {
    const char *name, *method, *check;
    struct tact_pose pose[2];
    double scale;
    int json;
    struct word_shape shape[2];
};

static int set_option(struct query *q, int option, const char *text)
{
    switch (option) {
    case 'a':
    case 'b':
        return word_to_pose(text, &q->pose[option - 'a'])
                   ? command_usage(q->name,
                                   "--pose-%c \"%s\": \"x y z\" or \"x y z qw qx qy qz\" is "
                                   "expected",
                                   option, text)
                   : 0;
    case 's':
        return word_to_number(text, &q->scale) || q->scale <= 0.0
                   ? command_usage(q->name, "--scale %s: a positive number is expected", text)
                   : 0;
    case 'm':
        q->method = text;
        return strcmp(text, "exact") && strcmp(text, "opencl")
                   ? command_usage(q->name, "--method %s: exact or opencl is expected", text)
                   : 0;
    case 'c':
        q->check = text;
        return 0;
    case 'j':
        q->json = 1;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

static int answer(struct query *q, char **words)
{
    struct tact_error err = {.line = 0};
    struct tact_shape shape[2];
    struct measured result;
    struct tact_patch patch = {.depth = 0.0};
    for (int i = 0; i < 2; i++) {
        int rc = word_to_shape(words[i], q->scale, &q->shape[i], &err);
        shape[i] = q->shape[i].shape;
        if (rc) {
            command_error(&err);
            return rc == -EDOM ? EXIT_USAGE : EXIT_FILE;
        }
    }
    int rc = strcmp(q->method, "exact") ? measure_opencl(shape, q->pose, &result, &err)
                                        : measure_exact(shape, q->pose, &result, &err);
    if (rc) {
        return command_error(&err);
    }
    struct tact_patch_options options = {.curved = tact_shape_is_curved(&shape[0]) ||
                                                   tact_shape_is_curved(&shape[1])};
    if (result.status) {
        tact_patch_from_moments(&result.moments, &options, &patch);
    }
    if (!q->json) {
        print_table(&result, &patch);
    } else if (print_json(&result, &patch, q->method)) {
        return EXIT_USAGE;
    }
    return result.status ? EXIT_GOOD : EXIT_APART;
}

int cmd_moments(int argc, char **argv)
{
    static const struct option longs[] = {
        {"pose-a", required_argument, NULL, 'a'}, {"pose-b", required_argument, NULL, 'b'},
        {"scale", required_argument, NULL, 's'},  {"method", required_argument, NULL, 'm'},
        {"check", required_argument, NULL, 'c'},  {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    struct query q = {.name = argv[0], .method = "exact", .scale = 1.0};
    q.pose[0] = q.pose[1] = tact_pose_identity();
    int c, code = 0;
    while (!code && (c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        code = set_option(&q, c, optarg);
    }
    int words = argc - optind;
    if (!code && words != (q.check ? 0 : 2)) {
        code = q.check ? command_usage(q.name, "--check takes one file and no shapes")
                       : command_usage(q.name, "two shapes are expected, not %d", words);
    }
    if (!code) {
        code = q.check ? moments_check(q.check, q.scale, q.json) : answer(&q, argv + optind);
    }
    word_shape_release(&q.shape[0]);
    word_shape_release(&q.shape[1]);
    return code;
}
