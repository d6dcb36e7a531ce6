/* tact import: a recording made elsewhere as a log of tact. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "devices/registry.h"
#include "devices/common/settings.h"
#include "import.h"
#include "output.h"
#include "text.h"

#define IMPORT_LOG_FACT_COUNT 5

typedef unsigned long long ull;

static const char help[] =
    "usage: tact import DATA.csv MAP.yaml -o OUT.mcap [OPTION]...\n"
    "       tact import HAND.xml|HAND.urdf [-o OUT.yaml] [OPTION]...\n"
    "       tact import MESH.ply|MESH.glb|MESH.dae -o OUT.obj [OPTION]...\n"
    "       tact import SOLID.step -o OUT.obj [OPTION]...\n\n"
    "With one file, MJCF or URDF, writes the hand in it as a scene: links with masses, joints,\n"
    "ranges, drives and shapes, and the pairs that do not touch; a scene may also name the file\n"
    "itself (hands: file). rt/model/MODEL.md has what is read, left out and refused. What is\n"
    "left out is noted on stderr.\n\n"
    "  --material NAME   of the hand's shapes; default: hand\n"
    "  --collision KIND  of meshes: convex (default), their convex hulls, or mesh, as they are\n\n"
    "A mesh becomes an OBJ file, which scenes read: the triangles of all its parts, in the unit\n"
    "of the file, placed by its nodes. A process that has nothing but the file reads it.\n\n"
    "The surfaces of the one solid of a STEP file become free-form surfaces of an OBJ file, for\n"
    "shapes of type patches, in metres and exactly: whole B-splines, Bezier surfaces and tori.\n"
    "Trimmed surfaces, planes, spheres, cylinders and cones are refused; scenes have types for\n"
    "the latter. It needs a build with gmsh.\n\n"
    "With two files makes a log of a recording that another program made: its columns, in SI\n"
    "units and resampled to ticks, are the channels of a device \"recording\", and its joints,\n"
    "poses and wrenches are shown to viewers. tact info, plot, export, diff and replay read it\n"
    "like any other log.\n\n"
    "MAP.yaml says what the columns are; examples/imports/guiding.yaml is one:\n"
    "  name      of the session\n"
    "  rate      rows a second [Hz]; or  time: COLUMN  with  time_unit: s, ms, us or ns\n"
    "  period    of the ticks [s]; default 0.001\n"
    "  repeats   keep (default): a row that repeats the one before is taken as it is;\n"
    "            fill: it is one that was not measured, and interpolated over\n"
    "  joints    name, position, velocity, effort: columns; unit: rad, deg, m or mm; effort_unit\n"
    "  poses     name, position: 3 columns, quat_wxyz or quat_xyzw: 4; unit: m or mm\n"
    "  wrenches  name, frame, force: 3 columns, torque: 3; force_unit, torque_unit\n"
    "  signals   name, column, unit: anything else\n"
    "  scene     optional: a scene whose first device is of type import, run on the data\n\n"
    "  -o, --output OUT  the log, or the hand; without it the hand is written to stdout\n"
    "  --force           replace OUT where it exists\n"
    "  --json            one JSON object on stdout\n"
    "  --quiet           no messages but warnings\n"
    "  --help            this text\n\n"
    "Values between two rows are interpolated linearly. Where the time to the next row is over "
    "1.5\n"
    "times the usual one, there is a gap: the row before it is held, and the device is stale.\n\n"
    "exit codes:\n"
    "  0  imported\n"
    "  1  the log could not be written\n"
    "  2  bad usage, or a file that cannot be used: one line names file, line and key; or OUT\n"
    "     exists\n\n"
    "example:\n"
    "  tact import examples/imports/guiding.csv examples/imports/guiding.yaml -o guiding.mcap\n"
    "  tact plot guiding.mcap\n";

/* The data of the device type "import": a file-scope variable, as a device type has no access to
 * the command. */
static struct {
    const struct recording_import *recording_import;
    size_t row;
} imported_recording;

static void read_imported_row(void *self, uint64_t tick, double t, int64_t now_ns,
                              struct tact_device_input *in)
{
    (void)self;
    (void)tick;
    in->state = interpolate_imported_rows(imported_recording.recording_import, t,
                                          &imported_recording.row, in->channel)
                    ? TACT_DEVICE_STALE
                    : TACT_DEVICE_OK;
    /* Reads the values at the time of a tick; the stamp is that of the present row. */
    in->stamp_ns =
        now_ns -
        (int64_t)((t - imported_recording.recording_import->time[imported_recording.row]) * 1e9);
}

static void close_import_device(void *self)
{
    (void)self;
}

static int open_import_device(const struct tact_device_config *config, struct tact_device *out,
                              struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_imported_row,
                                               NULL, close_import_device};
    int rc = tact_settings_check(config, NULL, 0, err);
    tact_settings_info(config, "recording", &out->info);
    out->info.input_count = imported_recording.recording_import->channel_count;
    for (int k = 0; k < out->info.input_count; k++) {
        const struct import_channel *c = &imported_recording.recording_import->channel[k];
        tact_settings_channel(&out->info.input[k], c->name, c->unit,
                              imported_recording.recording_import->values[k]);
    }
    out->ops = &ops;
    return rc;
}

static const struct tact_device_type import_device_type = {TACT_ABI(struct tact_device_type),
                                                           "import", "a recording made elsewhere",
                                                           open_import_device, NULL};

/* Loads the scene that the mapping names, or one that has the recording as its only device. */
static int load_template_scene(const struct recording_import *i, struct tact_scene **out,
                               struct tact_error *err)
{
    char text[512], path[4096], folder[4096];
    if (!get_scene_of_import_map(i)) {
        int size =
            snprintf(text, sizeof text,
                     "name: %s\nperiod: %.17g\nduration: %.17g\nmoments: {source: host}\n"
                     "devices:\n  - {name: recording, type: import}\n",
                     get_session_name_of_import_map(i), i->period, (double)i->ticks * i->period);
        return tact_scene_parse(text, (uint64_t)size, i->map_path, NULL, out, err);
    }
    snprintf(folder, sizeof folder, "%s", i->map_path);
    snprintf(path, sizeof path, "%s/%.1000s", dirname(folder), get_scene_of_import_map(i));
    int rc = tact_scene_load(
        get_scene_of_import_map(i)[0] == '/' ? get_scene_of_import_map(i) : path, out, err);
    if (!rc && (!(*out)->devices_count || strcmp((*out)->devices[0].type, "import") ||
                (*out)->period != i->period)) {
        tact_error_at(err, i->map_path, 0, 0, "scene");
        rc = tact_error_set(err, -EINVAL,
                            "the first device of the scene must have the type import, and the "
                            "scene's period must be that of the map, %g s",
                            i->period);
    }
    return rc;
}

/* Counts of imported and omitted rows, as facts of the log. */
static void format_import_facts(const struct recording_import *i,
                                char text[IMPORT_LOG_FACT_COUNT][512],
                                struct tact_log_fact facts[IMPORT_LOG_FACT_COUNT])
{
    static const char *const keys[IMPORT_LOG_FACT_COUNT] = {
        "import_source", "import_rows", "import_gaps", "import_repeats", "import_resampling"};
    size_t used = 0;
    snprintf(text[0], sizeof text[0], "%s", i->imported_csv_path);
    snprintf(text[1], sizeof text[1], "%zu rows, %.6g Hz, %llu dropped as their time repeats",
             i->rows, 1.0 / i->median_row_interval, (ull)i->dropped);
    snprintf(text[2], sizeof text[2], "%llu gaps, the longest %.6g s", (ull)i->gaps,
             i->longest_time_gap);
    text[3][0] = 0;
    for (int k = 0; k < i->group_count && used < sizeof text[3]; k++) {
        used += (size_t)snprintf(text[3] + used, sizeof text[3] - used, "%s%s %llu", k ? ", " : "",
                                 i->group[k].name, (ull)i->group[k].repeated_row_count);
    }
    snprintf(text[4], sizeof text[4], "linear, repeated rows %s",
             import_must_interpolate_repeats(i) ? "filled" : "kept");
    for (int k = 0; k < IMPORT_LOG_FACT_COUNT; k++) {
        facts[k] = (struct tact_log_fact){keys[k], text[k]};
    }
}

static int record_imported_session(const struct recording_import *i, const char *out, int force,
                                   const int *are_info_messages_suppressed,
                                   struct tact_session_report *report, struct tact_error *err)
{
    const struct tact_device_type *types[16] = {&import_device_type};
    struct tact_session_options options = tact_session_options_default();
    struct tact_log_fact facts[IMPORT_LOG_FACT_COUNT];
    struct tact_scene *scene = NULL;
    struct tact_session *session;
    char text[IMPORT_LOG_FACT_COUNT][512];
    size_t count;
    const struct tact_device_type *const *builtin = tact_devices_builtin(&count);
    const struct tact_log_attachment map = {"import.yaml", "application/yaml", i->import_map_text,
                                            i->import_map_bytes};
    const struct tact_recorder_content imported_log_content = {
        .attachments = &map,
        .attachment_count = 1,
        .facts = facts,
        .fact_count = IMPORT_LOG_FACT_COUNT,
        .joints = i->joint,
        .joint_count = i->joint_count,
        .bodies = i->body,
        .body_count = i->body_count,
        .sensors = i->sensor,
        .sensor_count = i->sensor_count,
    };
    format_import_facts(i, text, facts);
    for (size_t k = 0; k < count && k < 15; k++) {
        types[k + 1] = builtin[k];
    }
    imported_recording.recording_import = i;
    options.types = types;
    options.type_count = count < 15 ? count + 1 : 16;
    options.clock = TACT_LOOP_FREE;
    options.ticks = i->ticks;
    options.record = out;
    options.replace = force;
    options.also = &imported_log_content;
    options.messages =
        (struct tact_messages){command_print_message, (void *)are_info_messages_suppressed};
    int rc = load_template_scene(i, &scene, err);
    rc = rc ? rc : tact_session_create(scene, &options, &session, err);
    if (!rc) {
        rc = tact_session_run(session, report);
        tact_session_destroy(session);
        rc = rc ? 1 : 0;
    }
    tact_scene_free(scene);
    return rc;
}

static void print_import_table(const struct recording_import *i, const char *out)
{
    printf("%s: %zu rows in %.3f s, %.6g Hz; %llu ticks of %g ms in %s\n",
           text_make_printable(i->imported_csv_path), i->rows, i->time[i->rows - 1],
           1.0 / i->median_row_interval, (ull)i->ticks, i->period * 1e3, text_make_printable(out));
    printf("  %llu gaps, the longest %.6g s; %llu rows dropped that had the time of another\n",
           (ull)i->gaps, i->longest_time_gap, (ull)i->dropped);
    printf("  %-24s %8s %10s %9s %8s\n", "measured together", "channels", "repeated", "of rows",
           "in a run");
    for (int k = 0; k < i->group_count; k++) {
        const struct import_channel_group *g = &i->group[k];
        printf("  %-24s %8d %10llu %8.1f%% %8llu\n", text_make_printable(g->name), g->count,
               (ull)g->repeated_row_count, 100.0 * (double)g->repeated_row_count / (double)i->rows,
               (ull)g->longest);
    }
}

static int print_import_json(const struct recording_import *i, const char *out)
{
    json_t *groups = json_object();
    for (int k = 0; k < i->group_count; k++) {
        const struct import_channel_group *g = &i->group[k];
        json_object_set_new(groups, g->name,
                            json_pack("{s:i, s:I, s:I}", "channels", g->count, "repeated",
                                      (json_int_t)g->repeated_row_count, "longest_run",
                                      (json_int_t)g->longest));
    }
    json_t *all = json_pack("{s:o, s:o, s:I, s:f, s:f, s:I, s:I, s:f, s:I, s:o}", "source",
                            text_json(i->imported_csv_path), "log", text_json(out), "rows",
                            (json_int_t)i->rows, "rate_Hz", 1.0 / i->median_row_interval,
                            "duration_s", i->time[i->rows - 1], "ticks", (json_int_t)i->ticks,
                            "gaps", (json_int_t)i->gaps, "longest_gap_s", i->longest_time_gap,
                            "dropped", (json_int_t)i->dropped, "groups", groups);
    return text_print_json(all);
}

static int import_csv_by_map(struct recording_import *i, const char *out, int force, int json,
                             const int *quiet)
{
    struct tact_error err = {.line = 0};
    struct tact_session_report report = {.fallback_ticks = 0};
    int rc = import_read_map(i, &err);
    rc = rc ? rc : import_read_rows(i, &err);
    rc = rc ? rc : record_imported_session(i, out, force, quiet, &report, &err);
    if (rc < 0) {
        return command_print_error(&err);
    }
    if (rc > 0) {
        fprintf(stderr, "tact import: %s is not complete: %s\n", text_make_printable(out),
                strerror(-report.recorder.error));
        return EXIT_BAD;
    }
    if (json) {
        return print_import_json(i, out) ? EXIT_BAD : EXIT_GOOD;
    }
    print_import_table(i, out);
    return EXIT_GOOD;
}

static int import_recording(const char *command_name, const char *const inputs[2], const char *out,
                            int force, int json, int quiet)
{
    int code = is_output_allowed(command_name, out, force, inputs, 2);
    if (code) {
        return code;
    }
    struct recording_import *recording_import = calloc(1, sizeof *recording_import);
    if (!recording_import) {
        fprintf(stderr, "%s: no memory\n", command_name);
        return EXIT_BAD;
    }
    recording_import->imported_csv_path = inputs[0];
    recording_import->map_path = inputs[1];
    code = import_csv_by_map(recording_import, out, force, json, &quiet);
    import_free_recording(recording_import);
    free(recording_import);
    return code;
}

int cmd_import(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"output", required_argument, NULL, 'o'},   {"force", no_argument, NULL, 'F'},
        {"json", no_argument, NULL, 'j'},           {"quiet", no_argument, NULL, 'q'},
        {"material", required_argument, NULL, 'm'}, {"collision", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    struct hand_import hand = {.material = "hand"};
    int c, json = 0, of_hand = 0;
    while ((c = getopt_long(argc, argv, "ho:q", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?' || (c == 'c' && strcmp(optarg, "convex") && strcmp(optarg, "mesh"))) {
            return c == '?'
                       ? EXIT_USAGE
                       : command_print_usage_error(argv[0], "--collision: expected convex or mesh");
        }
        hand.out = c == 'o' ? optarg : hand.out;
        hand.material = c == 'm' ? optarg : hand.material;
        hand.meshes = c == 'c' ? !strcmp(optarg, "mesh") : hand.meshes;
        of_hand |= c == 'm' || c == 'c';
        json |= c == 'j';
        hand.force |= c == 'F';
        hand.quiet |= c == 'q';
    }
    const char *const inputs[] = {argv[optind], argc - optind > 1 ? argv[optind + 1] : NULL};
    const bool is_hand_import = argc - optind == 1 && is_hand_file(inputs[0]);
    if ((json && argc - optind == 1) || (of_hand && !is_hand_import)) {
        return command_print_usage_error(
            argv[0], json && argc - optind == 1
                         ? "--json is only for the import of a recording, DATA.csv"
                         : "--material and --collision are only for the import of a hand");
    }
    if (is_hand_import) {
        c = hand.out ? is_output_allowed(argv[0], hand.out, hand.force, inputs, 1) : EXIT_GOOD;
        hand.path = inputs[0];
        return c ? c : import_hand(argv[0], &hand);
    }
    const bool is_import_of_step_file = argc - optind == 1 && is_step_file(inputs[0]);
    if (argc - optind == 1 && (is_import_of_step_file || is_mesh_file(inputs[0])) && hand.out) {
        c = is_output_allowed(argv[0], hand.out, hand.force, inputs, 1);
        hand.path = inputs[0];
        return c ? c
                 : (is_import_of_step_file ? import_step_file_as_surfaces : import_mesh)(argv[0],
                                                                                         &hand);
    }
    if (argc - optind != 2 || !hand.out) {
        return command_print_usage_error(
            argv[0], "DATA.csv, MAP.yaml and -o OUT.mcap are expected, or a hand "
                     ".xml, .mjcf or .urdf, or a mesh .ply, .glb or .dae, or a "
                     "solid .step or .stp, and -o OUT.obj");
    }
    return import_recording(argv[0], inputs, hand.out, hand.force, json, hand.quiet);
}
