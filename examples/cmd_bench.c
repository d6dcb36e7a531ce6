/* tact bench: measures the solver on scenes, in comparison with contact points and published
 * numbers. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"
#include "bench_convex.h"
#include "bench_field.h"
#include "bench_smooth.h"
#include "command.h"
#include "drawing.h"
#include "words.h"

#define BENCH_SCENE_FOLDER "examples/scenes"
#define DEFAULT_MAX_SWEEPS 2000
#define DEFAULT_SETTLING_DURATION (-1.0)
#define DEFAULT_SWEEP_UPDATE_TOLERANCE 1e-10

static const char help[] =
    "usage: tact bench contact [SCENE.yaml]... [OPTION]...\n"
    "       tact bench contact --figure N... [--json] [-o OUT]\n"
    "       tact bench contact --table N... [--json]\n"
    "       tact bench field [--json]\n\n"
    "The tables and figures of Bouchard 2015 on this machine: the same ticks of a scene solved as "
    "one\n"
    "6D contact a pair, by the paper's Algorithm 1, and as contact points by projected "
    "Gauss-Seidel,\n"
    "beside the published numbers. Every tick is solved from zero to the paper's criterion, the "
    "2-norm\n"
    "of the update of a sweep, here relative to that of the impulses; then from the tick before, "
    "the\n"
    "load changing by 1 % from tick to tick.\n\n"
    "With --figure, what figure 3, 4 or 5 of Yi and Drumwright 2018 shows of contact by convex\n"
    "polyhedra, as the paper reads it and by tact, beside an exact answer; no scenes then. With\n"
    "--table, table I or II of Kry and Pai 2003: what a smooth surface costs to evaluate, and 3 s "
    "of a\n"
    "bowl that is thrown on a table, beside the published times.\n\n"
    "field: figure 6 of Elandt 2019, a rigid wave in a soft layer: its force by a pressure field "
    "and by\n"
    "linear elasticity, beside the paper's difference, and the time of a query.\n\n"
    "  --scene NAME     one of octagon, stack_tapered, sphere_slope, bumpy_cube, salad in the\n"
    "                   folder of scenes; may be given again; default, without SCENE.yaml: all\n"
    "  --scenes FOLDER  where those are; default " BENCH_SCENE_FOLDER ", else where they are\n"
    "                   installed\n"
    "  --figure N       3 (a box that is pushed out), 4 (a parallelogram in a hole) or 5 (a ball "
    "in\n"
    "                   a long box); may be given again\n"
    "  --table N        1 (surfaces) or 2 (the bowl, loop_bowl.obj of the folder of scenes); may "
    "be given\n"
    "                   again\n"
    "  --reduced        with --table 2: by reduced coordinates too, the paper's method; a "
    "minute\n"
    "  --ticks N        measured a scene, 1 to 1000000; default 100, of the salad 10\n"
    "  --sweeps N       most of a solve, 1 to 10000; default 2000\n"
    "  --settle S       seconds that the scene runs before; default: the paper's scenes by name,\n"
    "                   others half their duration\n"
    "  --update E       the criterion; default 1e-10\n"
    "  -o, --output OUT figures 15 and 16, or with --figure 3 that one: OUT.png, OUT.svg, OUT.gp "
    "(the\n"
    "                   script for gnuplot) or OUT.csv\n"
    "  --force          replace OUT where it exists\n"
    "  --json           one JSON object on stdout: per scene and method contacts, unknowns, "
    "time_us\n"
    "                   by part, sweeps cold and warm, residual, the curve of one cold solve; "
    "paper;\n"
    "                   with --figure: figures, by number, lengths in m and angles in rad;\n"
    "                   with --table: tables, by number, times in s;\n"
    "                   field: figures, by number, amplitudes in m, forces in N, times in s\n"
    "  --help           this text\n\n"
    "exit codes:\n"
    "  0  measured\n"
    "  1  a scene or figure cannot be solved, gnuplot is missing or failed, or OUT cannot be "
    "written\n"
    "  2  bad usage, a scene that is wrong, or OUT exists\n\n"
    "example:\n"
    "  tact bench contact --scene octagon --scene stack_tapered -o convergence.png\n"
    "  tact bench contact --figure 3 -o pushed.png\n"
    "  tact bench field\n";

static const char *const names[] = {"octagon", "stack_tapered", "sphere_slope", "bumpy_cube",
                                    "salad"};
enum { NAMES = sizeof names / sizeof *names, MOST_SCENES = 16 };

struct query {
    const char *name, *out;
    const char *folder; /* folder of the scenes that are given by name; NULL: to be found */
    const char *scene[MOST_SCENES]; /* names of scenes, or paths where they contain a dot */
    int count, json, force;
    int requested_figure_bits; /* bits 3, 4, 5: figures of Yi and Drumwright 2018 */
    int requested_table_bits;  /* bits 1, 2: tables of Kry and Pai 2003 */
    int reduced;               /* 1: table II by reduced coordinates too */
    struct bench_options options;
};

static int add_bench_scene(struct query *q, const char *scene)
{
    if (q->count == MOST_SCENES) {
        return command_print_usage_error(q->name, "at most %d scenes", MOST_SCENES);
    }
    q->scene[q->count++] = scene;
    return 0;
}

static int parse_option_number(const struct query *q, const char *option, const char *text,
                               double least, double most, double *out)
{
    if (!parse_finite_number(text, out) && *out >= least && *out <= most) {
        return 0;
    }
    return isinf(most)
               ? command_print_usage_error(q->name, "%s %s: a number from %g on is expected",
                                           option, text, least)
               : command_print_usage_error(q->name, "%s %s: a number from %g to %.0f is expected",
                                           option, text, least, most);
}

static int add_requested_figure(struct query *q, const char *text)
{
    if (text[0] < '3' || text[0] > '5' || text[1]) {
        return command_print_usage_error(q->name, "--figure %s: 3, 4 or 5 is expected", text);
    }
    q->requested_figure_bits |= 1 << (text[0] - '0');
    return 0;
}

static int add_requested_table(struct query *q, const char *text)
{
    if (text[0] < '1' || text[0] > '2' || text[1]) {
        return command_print_usage_error(q->name, "--table %s: 1 or 2 is expected", text);
    }
    q->requested_table_bits |= 1 << (text[0] - '0');
    return 0;
}

static int set_bench_option(struct query *q, int option, const char *text)
{
    double value = 0.0;
    int code = 0;
    switch (option) {
    case 's':
        for (size_t i = 0; i < NAMES; i++) {
            if (!strcmp(text, names[i])) {
                return add_bench_scene(q, names[i]);
            }
        }
        return command_print_usage_error(
            q->name, "--scene %s: tact bench contact has no scene of this name", text);
    case 'f':
        q->folder = text;
        return 0;
    case 'g':
        return add_requested_figure(q, text);
    case 'T':
        return add_requested_table(q, text);
    case 'r':
        q->reduced = 1;
        return 0;
    case 't':
        code = parse_option_number(q, "--ticks", text, 1.0, 1e6, &value);
        q->options.ticks = code ? 0 : (int)value;
        return code;
    case 'n':
        code = parse_option_number(q, "--sweeps", text, 1.0, 1e4, &value);
        q->options.sweeps = code ? 0 : (int)value;
        return code;
    case 'b':
        return parse_option_number(q, "--settle", text, 0.0, INFINITY,
                                   &q->options.settling_duration);
    case 'u':
        return parse_option_number(q, "--update", text, 0.0, INFINITY, &q->options.update);
    case 'o':
        q->out = text;
        return text_ends_with(text, ".png") || text_ends_with(text, ".svg") ||
                       text_ends_with(text, ".gp") || text_ends_with(text, ".csv")
                   ? 0
                   : command_print_usage_error(
                         q->name, "-o %s: .png, .svg, .gp or .csv is expected at its end", text);
    case 'j':
        q->json = 1;
        return 0;
    case 'F':
        q->force = 1;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

/* Draws the results of scenes, or of the convex figures; the other pointer is NULL. */
static int draw_bench_figure(const struct query *q, const struct bench_scene *scenes,
                             const struct convex_bench_results *convex_results)
{
    struct drawing d;
    if (text_ends_with(q->out, ".csv")) {
        struct output figure_output;
        int output_open_error = output_open(&figure_output, q->name, q->out, q->force);
        if (output_open_error) {
            return output_open_error;
        }
        if (convex_results) {
            write_convex_csv(figure_output.to, convex_results);
        } else {
            write_bench_csv(figure_output.to, scenes, q->count);
        }
        return output_close(&figure_output, EXIT_GOOD, 1);
    }
    int code = drawing_open(&d, q->name, q->out, q->force);
    if (code) {
        return code;
    }
    if (convex_results) {
        write_convex_figure(d.to, convex_results, d.terminal);
    } else {
        bench_figure(d.to, scenes, q->count, d.terminal);
    }
    return drawing_close(&d);
}

static int measure_convex_figures(const struct query *q)
{
    struct convex_bench_results *convex_results = calloc(1, sizeof *convex_results);
    int rc = convex_results ? 0 : -ENOMEM;
    if (!rc) {
        convex_results->requested_figure_bits = q->requested_figure_bits;
        rc = q->requested_figure_bits & 1 << 3
                 ? measure_falling_box(convex_results->box_attitude_curves)
                 : 0;
        rc = !rc && q->requested_figure_bits & 1 << 4
                 ? measure_plate_in_hole(convex_results->plate_in_hole_results)
                 : rc;
        rc = !rc && q->requested_figure_bits & 1 << 5 ? measure_ball_in_corner(convex_results->ball)
                                                      : rc;
    }
    if (rc) {
        fprintf(stderr, "tact %s: a figure cannot be measured: %s\n", q->name, strerror(-rc));
    } else if (!q->json) {
        print_convex_results(convex_results);
    } else {
        rc = convex_print_json(convex_results);
    }
    int code = rc ? EXIT_BAD : EXIT_GOOD;
    code = code || !q->out ? code : draw_bench_figure(q, NULL, convex_results);
    free(convex_results);
    return code;
}

static int measure_and_print_smooth_tables(const struct query *q)
{
    struct smooth_bench_results tables = {.requested_table_bits = q->requested_table_bits,
                                          .reduced = q->reduced};
    struct tact_error err = {.line = 0};
    if (measure_smooth_tables(q->folder, &tables, &err)) {
        return command_print_error(&err);
    }
    if (q->json) {
        return smooth_tables_print_json(&tables) ? EXIT_BAD : EXIT_GOOD;
    }
    print_smooth_tables(&tables);
    return EXIT_GOOD;
}

static int measure_bench_scenes(const struct query *q)
{
    struct bench_scene *scenes = calloc((size_t)q->count, sizeof *scenes);
    struct tact_error err = {.line = 0};
    int code = scenes ? EXIT_GOOD : EXIT_BAD;
    for (int i = 0; !code && i < q->count; i++) {
        char path[4096];
        const char *scene = q->scene[i];
        int named = !strchr(scene, '.');
        snprintf(path, sizeof path, "%s%s%s%s", named ? q->folder : "", named ? "/" : "", scene,
                 named ? ".yaml" : "");
        code = bench_contact(path, &q->options, &scenes[i], &err) ? command_print_error(&err) : 0;
    }
    if (!code && q->json) {
        code = bench_print_json(scenes, q->count, &q->options) ? EXIT_BAD : EXIT_GOOD;
    } else if (!code) {
        bench_print(scenes, q->count, &q->options);
    }
    code = code || !q->out ? code : draw_bench_figure(q, scenes, NULL);
    free(scenes);
    return code;
}

/* 1 where an option is given that `tact bench field` does not have. */
static int has_option_of_contact_bench(const struct query *q)
{
    return q->count || q->requested_figure_bits || q->requested_table_bits || q->reduced ||
           q->out || q->folder || q->force || q->options.ticks ||
           q->options.sweeps != DEFAULT_MAX_SWEEPS ||
           q->options.settling_duration != DEFAULT_SETTLING_DURATION ||
           q->options.update != DEFAULT_SWEEP_UPDATE_TOLERANCE;
}

/* Measures figure 6 of Elandt 2019; words: number of words of the command from `field` on. */
static int measure_field_figure(const struct query *q, int words)
{
    struct field_wave_row row[FIELD_WAVES];
    if (words > 1 || has_option_of_contact_bench(q)) {
        return command_print_usage_error(q->name, "tact bench field takes no option but --json");
    }
    int rc = measure_field_waves(row);
    if (rc) {
        fprintf(stderr, "tact %s: the figure cannot be measured: %s\n", q->name, strerror(-rc));
    } else if (q->json) {
        rc = field_waves_print_json(row);
    } else {
        print_field_waves(row);
    }
    return rc ? EXIT_BAD : EXIT_GOOD;
}

/* Finds the folder of the installed scenes, relative to this program. */
static void find_installed_scene_folder(char folder[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX / 2);
    folder[length > 0 ? length : 0] = '\0';
    char *last_slash = strrchr(folder, '/');
    const size_t used = last_slash ? (size_t)(last_slash + 1 - folder) : 0;
    snprintf(folder + used, PATH_MAX - used, "%s", BENCH_INSTALLED_SCENES);
}

static int has_folder_readable_file(const char *folder, const char *name,
                                    const char *file_extension)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, file_extension);
    return !access(path, R_OK);
}

/* Finds the folder of the scenes that are given by name, and of the bowl: that of the option, of
 * the sources, or the installed one. */
static int find_bench_scene_folder(struct query *q, char installed_scene_folder[PATH_MAX])
{
    const char *scene_given_by_name = q->requested_table_bits & 1 << 2 ? "loop_bowl" : NULL;
    for (int i = 0; !scene_given_by_name && i < q->count; i++) {
        scene_given_by_name = strchr(q->scene[i], '.') ? NULL : q->scene[i];
    }
    const char *file_extension = q->requested_table_bits ? ".obj" : ".yaml";
    find_installed_scene_folder(installed_scene_folder);
    if (q->folder || !scene_given_by_name) {
        return 0;
    }
    q->folder = has_folder_readable_file(BENCH_SCENE_FOLDER, scene_given_by_name, file_extension)
                    ? BENCH_SCENE_FOLDER
                    : installed_scene_folder;
    return has_folder_readable_file(q->folder, scene_given_by_name, file_extension)
               ? 0
               : command_print_usage_error(
                     q->name, "%s%s is neither in %s nor in %s; --scenes FOLDER says where it is",
                     scene_given_by_name, file_extension, BENCH_SCENE_FOLDER,
                     installed_scene_folder);
}

int cmd_bench(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"scene", required_argument, NULL, 's'},  {"scenes", required_argument, NULL, 'f'},
        {"table", required_argument, NULL, 'T'},  {"figure", required_argument, NULL, 'g'},
        {"reduced", no_argument, NULL, 'r'},      {"ticks", required_argument, NULL, 't'},
        {"settle", required_argument, NULL, 'b'}, {"update", required_argument, NULL, 'u'},
        {"output", required_argument, NULL, 'o'}, {"sweeps", required_argument, NULL, 'n'},
        {"json", no_argument, NULL, 'j'},         {"force", no_argument, NULL, 'F'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    char installed_scene_folder[PATH_MAX];
    struct query q = {.name = argv[0]};
    q.options = (struct bench_options){.sweeps = DEFAULT_MAX_SWEEPS,
                                       .settling_duration = DEFAULT_SETTLING_DURATION,
                                       .update = DEFAULT_SWEEP_UPDATE_TOLERANCE};
    int c, code = 0;
    while (!code && (c = getopt_long(argc, argv, "ho:", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        code = set_bench_option(&q, c, optarg);
    }
    if (!code && optind < argc && !strcmp(argv[optind], "field")) {
        return measure_field_figure(&q, argc - optind);
    }
    if (!code && (optind >= argc || strcmp(argv[optind], "contact"))) {
        code = command_print_usage_error(q.name, "expected the benchmark to run: contact or field");
    }
    for (int i = optind + 1; !code && i < argc; i++) {
        code = strchr(argv[i], '.')
                   ? add_bench_scene(&q, argv[i])
                   : command_print_usage_error(
                         q.name, "%s: expected the path of a scene file (.yaml)", argv[i]);
    }
    if (!code && q.requested_figure_bits &&
        (q.count || (q.out && !(q.requested_figure_bits & 1 << 3)))) {
        code = command_print_usage_error(
            q.name, q.count ? "--figure cannot be combined with --scene"
                            : "-o needs --figure 3: the other figures cannot be drawn");
    }
    if (!code && q.reduced && !(q.requested_table_bits & 1 << 2)) {
        code = command_print_usage_error(q.name, "--reduced needs --table 2");
    }
    if (!code && q.requested_table_bits && (q.count || q.requested_figure_bits || q.out)) {
        code = command_print_usage_error(q.name,
                                         "--table cannot be combined with --scene, --figure or -o");
    }
    for (size_t i = 0;
         !code && !q.requested_figure_bits && !q.requested_table_bits && !q.count && i < NAMES;
         i++) {
        q.scene[i] = names[i];
        q.count = i + 1 == NAMES ? NAMES : 0;
    }
    code = code ? code : find_bench_scene_folder(&q, installed_scene_folder);
    if (!code && q.out) {
        code = is_output_allowed(q.name, q.out, q.force, q.scene, q.count);
    }
    if (code) {
        return code;
    }
    if (q.requested_table_bits) {
        return measure_and_print_smooth_tables(&q);
    }
    return q.requested_figure_bits ? measure_convex_figures(&q) : measure_bench_scenes(&q);
}
