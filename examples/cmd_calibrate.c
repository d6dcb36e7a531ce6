/* tact calibrate: measures a device and writes the file that a scene's device refers to. */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate.h"
#include "command.h"
#include "contact/number.h"
#include "devices.h"
#include "devices/attached/attached.h"
#include "devices/registry.h"
#include "output.h"
#include "text.h"

static const char help[] =
    "usage: tact calibrate NAME [OPTION]...\n\n"
    "Measures a device and writes its calibration file, which a scene refers to by\n"
    "devices[].calibration. NAME is a device of the scene, or without --scene an attached input\n"
    "device: its name, a part of it, or its path (tact devices). Nothing is driven but a\n"
    "haptic device; says on stderr what to do, and waits for the Enter key before each step.\n\n"
    "An input device: where its axes rest, how far they go, their dead zones.\n"
    "  --sweep S        how long the axes are moved; default 15\n\n"
    "A measurement card (needs --scene), by one of\n"
    "  --channel INPUT --points 'A B ...'   the map of an input from volts: it is brought to each\n"
    "                   of these values, in its unit, one after the other\n"
    "  --degree N       of the polynomial, 1 to 3; default 1\n"
    "  --zero SENSOR    what the gauges of a force-torque sensor are without load\n\n"
    "A haptic device (needs --scene), by one of its axes, which is driven to and fro:\n"
    "  --axis INPUT --drive OUTPUT   position or angle, and its force or torque\n"
    "  --limit N        most force or torque; --travel M: how far it may go, either way, from\n"
    "                   where it is; nothing is driven beyond\n"
    "  --plot OUT       .png, .svg or .pdf: the walls that it renders, and the analytic line\n"
    "  --plugins DIR    folder of device types beside those built in\n"
    "  prints the numbers for `device` of a coupling: mass, damping, delay, friction and\n"
    "  resolution; and how stiff a wall was stable at each of four dampings. Takes about 5 s, and\n"
    "  up to 9 min at 1 kHz for the walls; a signal (Ctrl-C) ends it with force 0. They are\n"
    "  written too where the scene's device has a calibration, or with --output\n\n"
    "  --scene FILE     the scene that has the device\n"
    "  --output FILE    default: the scene's devices[].calibration, else NAME.calibration.yaml\n"
    "                   (letters and digits), of a haptic axis none. What the scene's file has\n"
    "                   besides is kept\n"
    "  --force          replace that file where it exists\n"
    "  --seconds S      of each measurement at rest; default 2, of a card 0.5\n"
    "  --wait S         before each step, instead of the Enter key\n"
    "  --json           one JSON object on stdout, once it is written: {device, file}, and axes\n"
    "                   [{name, moved, lowest, rest, highest, width}], width half that of rest,\n"
    "                   or points [{volts, value, map}], coefficients and worst, or gauges\n"
    "                   [{name, bias, unit, noise}]; of\n"
    "                   a haptic axis {file, mass, damping, friction, delay, resolution, "
    "difference,\n"
    "                   walls [{damping, stiffness, unstable, line}]}; stiffness is null where no "
    "wall\n"
    "                   was stable, unstable where none was unstable, both where none was tested\n"
    "  --help           this text\n\n"
    "exit codes:\n"
    "  0  measured and written\n"
    "  1  not written: no such device, closed, gone, did not move, saturated, input ended,\n"
    "     stopped by a signal, or a force moves the axis the wrong way\n"
    "  2  bad usage, the scene is wrong, or the file exists\n\n"
    "examples:\n"
    "  tact calibrate X-Box\n"
    "  tact calibrate board --scene rig.yaml --channel angle --points '0 0.785 1.571'\n"
    "  tact calibrate board --scene rig.yaml --zero wrist\n"
    "  tact calibrate stick --scene tool.yaml --axis x --drive fx --limit 4 --travel 0.02\n";

/* Reads a file. *data is valid until the next call. */
static int read_whole_file(const char *path, const void **data, uint64_t *size)
{
    static char *text;
    free(text);
    text = NULL;
    FILE *file = fopen(path, "re");
    if (!file) {
        return -errno;
    }
    int is_whole_file_read = !fseek(file, 0, SEEK_END);
    long length = is_whole_file_read ? ftell(file) : -1;
    rewind(file);
    text = length >= 0 && length < 1L << 28 ? malloc((size_t)length + 1) : NULL;
    is_whole_file_read = text && fread(text, 1, (size_t)length, file) == (size_t)length;
    fclose(file);
    *data = text;
    *size = is_whole_file_read ? (uint64_t)length : 0;
    return is_whole_file_read ? 0 : -EIO;
}

/* Reads a file that the scene names, relative to its folder. A calibration file that does not exist
 * is taken as empty. */
static int read_scene_file(void *user, const char *name, const void **data, uint64_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : (const char *)user,
             name[0] == '/' ? "" : "/", name);
    int rc = read_whole_file(path, data, size);
    if (rc == -ENOENT && strstr(name, ".yaml")) {
        *data = "{}\n";
        *size = 3;
        rc = 0;
    }
    return rc;
}

static int load_device_scene(const char *path, struct tact_scene **scene)
{
    struct tact_error err = {.line = 0};
    const void *text = NULL;
    uint64_t size = 0;
    char folder[4096];
    char *scene_text;
    snprintf(folder, sizeof folder, "%s", path);
    char *directory = dirname(folder);
    const struct tact_scene_files scene_file_reader = {read_scene_file, directory};
    int rc = read_whole_file(path, &text, &size);
    scene_text = rc || !text ? NULL : malloc(size + 1);
    if (!scene_text) {
        fprintf(stderr, "tact: %s: cannot be read: %s\n", text_make_printable(path),
                strerror(rc ? -rc : ENOMEM));
        return EXIT_USAGE;
    }
    memcpy(scene_text, text, size);
    rc = tact_scene_parse(scene_text, size, path, &scene_file_reader, scene, &err);
    free(scene_text);
    return rc ? command_print_error(&err) : EXIT_GOOD;
}

static const struct tact_scene_device *find_scene_device_of_name(const struct tact_scene *scene,
                                                                 const char *name)
{
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        if (!strcmp(scene->devices[i].name, name)) {
            return &scene->devices[i];
        }
    }
    return NULL;
}

/* Whether a setting of the scene is used while its device is measured: its selection, and how it is
 * read. The zero of gauges is in their inputs' units. */
static int is_setting_used_while_measured(const char *key, const char *type, int is_zero_measured)
{
    static const char *const input[] = {"path", "match", "serial", "phys", "relative", NULL};
    static const char *const board[] = {"board",       "inputs",      "reference",
                                        "input_range", "calibration", "stream",
                                        "input_map",   "input_units", NULL};
    const int is_measurement_card = !strcmp(type, "comedi");
    if (is_measurement_card && is_zero_measured && !strncmp(key, "maps.", 5)) {
        return 1;
    }
    for (const char *const *k = is_measurement_card ? board : input; *k; k++) {
        if (!strcmp(key, *k)) {
            return is_zero_measured || (strcmp(key, "input_map") && strcmp(key, "input_units"));
        }
    }
    return 0;
}

/* Opens the device as it is measured: without outputs, axes in counts, inputs in volts. */
static int open_device_to_calibrate(const struct tact_scene_device *def,
                                    const struct calibrate_options *o, const char *directory,
                                    struct tact_device *device)
{
    static int are_messages_suppressed = 1;
    struct tact_device_setting settings[64];
    struct tact_error err = {.line = 0};
    int count = 0;
    size_t types;
    const struct tact_device_type *const *known = tact_devices_builtin(&types);
    const struct tact_device_type *type = tact_device_type_find(known, types, def->type);
    for (uint32_t i = 0; i < def->settings_count && count < 60; i++) {
        if (is_setting_used_while_measured(def->settings[i].key, def->type,
                                           o->sensor_to_zero != NULL)) {
            settings[count++] = def->settings[i];
        }
    }
    if (!strcmp(def->type, "evdev")) {
        settings[count++] = (struct tact_device_setting){.key = "raw", .text = "true"};
    } else if (strcmp(def->type, "comedi") != 0) {
        fprintf(stderr,
                "tact: the device %s has the type %s: only devices of the types evdev and comedi "
                "can be calibrated without --axis\n",
                text_make_printable(def->name), text_make_printable(def->type));
        return EXIT_USAGE;
    }
    const struct tact_device_config config = {
        .name = def->name,
        .directory = directory,
        .file = o->scene ? o->scene : "",
        .settings = settings,
        .setting_count = count,
        .period = 1e-3,
        .messages = {command_print_message, &are_messages_suppressed}};
    if (type->open(&config, device, &err)) {
        command_print_error(&err);
        return EXIT_BAD;
    }
    return EXIT_GOOD;
}

/* The gauge inputs of a force-torque sensor of the scene, as text; NULL where it has none of that
 * name. */
static const char *get_gauges_of_sensor(const struct tact_scene_device *def, const char *sensor)
{
    for (uint32_t i = 0; i < def->settings_count; i++) {
        const char *dot = strstr(def->settings[i].key, "].name");
        char key[64];
        if (!dot || strncmp(def->settings[i].key, "wrenches[", 9) != 0 ||
            strcmp(def->settings[i].text ? def->settings[i].text : "", sensor) != 0) {
            continue;
        }
        snprintf(key, sizeof key, "%.*s].channels", (int)(dot - def->settings[i].key),
                 def->settings[i].key);
        for (uint32_t k = 0; k < def->settings_count; k++) {
            if (!strcmp(def->settings[k].key, key)) {
                return def->settings[k].text;
            }
        }
    }
    return NULL;
}

/* Measures and writes the file, whose first line names the device. */
static int measure_scene_device(const struct calibrate_options *o,
                                const struct tact_scene_device *def, const char *directory)
{
    struct tact_device device = {.ops = NULL};
    static struct calibrate_file file;
    char path[4096];
    const int is_measurement_card = !strcmp(def->type, "comedi");
    const char *gauges = o->sensor_to_zero ? get_gauges_of_sensor(def, o->sensor_to_zero) : NULL;
    struct calibrate_options own = *o;
    own.seconds = o->seconds > 0.0 ? o->seconds : is_measurement_card ? 0.5 : 2.0;
    if (o->sensor_to_zero && !gauges) {
        fprintf(stderr, "tact: the device %s has no force-torque sensor %s in the scene\n",
                o->device, o->sensor_to_zero);
        return EXIT_USAGE;
    }
    if (is_measurement_card != (o->channel || o->sensor_to_zero)) {
        fprintf(
            stderr,
            is_measurement_card
                ? "tact: %s is a measurement card: it needs --channel with --points, or --zero\n"
                : "tact: %s is no measurement card: --channel and --zero are only for such cards\n",
            o->device);
        return EXIT_USAGE;
    }
    calibrate_choose_file_path(o, def, directory, path, sizeof path);
    int code = is_output_allowed("tact calibrate", path, o->force, &o->scene, 1);
    code = code ? code : open_device_to_calibrate(def, o, directory, &device);
    if (code) {
        return code;
    }
    code = o->output ? EXIT_GOOD : calibrate_copy_settings(&file, def);
    if (!code && calibrate_is_plain_yaml_text(device.info.model)) {
        code = calibrate_set_text(&file, "calibrated_for", device.info.model);
    }
    if (!code) {
        code = o->sensor_to_zero ? calibrate_sensor_zero(&own, &device, gauges, &file)
               : o->channel      ? calibrate_map_of_channel(&own, &device, &file)
                                 : calibrate_ranges_of_axes(&own, &device, &file);
    }
    device.ops->close(device.self);
    code = code ? code : calibrate_write_file(&file, path, o->force);
    if (!code && o->report) {
        json_object_set_new(o->report, "device", devices_text(device.info.model));
        json_object_set_new(o->report, "file", devices_text(path));
        code = devices_print_json(json_incref(o->report)) ? EXIT_BAD : EXIT_GOOD;
    } else if (!code) {
        printf("written: %s\n", text_make_printable(path));
        if (!def->calibration) {
            fprintf(stderr, "a scene uses this file if its device has the key calibration: %s\n",
                    text_make_printable(path));
        }
    }
    return code;
}

static int calibrate_device_of_scene(const struct calibrate_options *o)
{
    struct tact_scene *scene = NULL;
    int code = load_device_scene(o->scene, &scene);
    const struct tact_scene_device *def = code ? NULL : find_scene_device_of_name(scene, o->device);
    if (!code && !def) {
        fprintf(stderr, "tact: the scene %s has no device %s\n", o->scene, o->device);
        code = EXIT_USAGE;
    }
    code = code      ? code
           : o->axis ? calibrate_haptic(o, scene, def)
                     : measure_scene_device(o, def, scene->directory);
    tact_scene_free(scene);
    return code;
}

static int calibrate_attached_device(const struct calibrate_options *o)
{
    struct tact_attached attached;
    struct tact_error err = {.line = 0};
    if (tact_attached_survey(&attached, &err)) {
        return command_print_error(&err);
    }
    int matching_device_count = 0;
    const struct tact_attached_input *input =
        devices_find_input_device(&attached, o->device, &matching_device_count);
    struct tact_device_setting path = {.key = "path", .text = input ? input->path : ""};
    struct tact_scene_device def = {
        .name = "device", .type = "evdev", .settings = &path, .settings_count = 1};
    int code = EXIT_BAD;
    if (input && !devices_report_no_access(&input->access)) {
        code = measure_scene_device(o, &def, "");
    } else if (!input) {
        fprintf(stderr,
                "tact: %s: %d input devices have that name (see tact devices; a card needs "
                "--scene)\n",
                o->device, matching_device_count);
    }
    tact_attached_free(&attached);
    return code;
}

/* Parses the number of an option, within bounds. Returns nonzero where the text is no such number.
 */
static int parse_number_within_bounds(const char *text, double least, double most, double *value)
{
    char *end;
    *value = tact_number_read(text, &end);
    return *end || end == text || !(*value >= least && *value <= most);
}

static int parse_calibrate_option(char *name, int c, struct calibrate_options *o)
{
    double value = 0.0;
    int bad = 0;
    switch (c) {
    case 'j':
        o->json = 1;
        break;
    case 'F':
        o->force = 1;
        break;
    case 's':
        o->scene = optarg;
        break;
    case 'o':
        o->output = optarg;
        break;
    case 'c':
        o->channel = optarg;
        break;
    case 'p':
        o->points = optarg;
        break;
    case 'a':
        o->axis = optarg;
        break;
    case 'D':
        o->drive = optarg;
        break;
    case 'P':
        o->stable_wall_plot_path = optarg;
        break;
    case 'g':
        o->plugins = optarg;
        break;
    case 'L':
        bad = parse_number_within_bounds(optarg, 1e-6, 1e4, &o->limit);
        break;
    case 'T':
        bad = parse_number_within_bounds(optarg, 1e-6, 100.0, &o->allowed_axis_travel);
        break;
    case 'z':
        o->sensor_to_zero = optarg;
        break;
    case 'd':
        bad = parse_number_within_bounds(optarg, 1.0, 3.0, &value) || value != floor(value);
        o->degree = (int)value;
        break;
    case 't':
        bad = parse_number_within_bounds(optarg, 0.01, 600.0, &o->seconds);
        break;
    case 'm':
        bad = parse_number_within_bounds(optarg, 0.01, 600.0, &o->axis_sweep_duration);
        break;
    default:
        bad = parse_number_within_bounds(optarg, 0.0, 600.0, &o->wait);
    }
    return bad ? command_print_usage_error(name, "%s is not a valid number for this option", optarg)
               : EXIT_GOOD;
}

int cmd_calibrate(int argc, char **argv)
{
    static const struct option long_options[] = {{"scene", required_argument, NULL, 's'},
                                                 {"output", required_argument, NULL, 'o'},
                                                 {"channel", required_argument, NULL, 'c'},
                                                 {"points", required_argument, NULL, 'p'},
                                                 {"degree", required_argument, NULL, 'd'},
                                                 {"zero", required_argument, NULL, 'z'},
                                                 {"axis", required_argument, NULL, 'a'},
                                                 {"drive", required_argument, NULL, 'D'},
                                                 {"limit", required_argument, NULL, 'L'},
                                                 {"travel", required_argument, NULL, 'T'},
                                                 {"plot", required_argument, NULL, 'P'},
                                                 {"seconds", required_argument, NULL, 't'},
                                                 {"sweep", required_argument, NULL, 'm'},
                                                 {"wait", required_argument, NULL, 'w'},
                                                 {"plugins", required_argument, NULL, 'g'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"force", no_argument, NULL, 'F'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    struct calibrate_options o = {.degree = 1, .axis_sweep_duration = 15.0, .wait = -1.0};
    int c;
    while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_GOOD;
        }
        if (c == '?' || parse_calibrate_option(argv[0], c, &o)) {
            return EXIT_USAGE;
        }
    }
    if (argc != optind + 1) {
        return command_print_usage_error(argv[0], "expected one device");
    }
    o.device = argv[optind];
    if (!!o.channel != !!o.points || (o.channel && o.sensor_to_zero)) {
        return command_print_usage_error(argv[0], "expected --channel with --points, or --zero");
    }
    const int is_haptic_calibration =
        o.axis && o.drive && o.limit > 0.0 && o.allowed_axis_travel > 0.0;
    if ((o.axis || o.drive || o.stable_wall_plot_path || o.plugins || o.limit > 0.0 ||
         o.allowed_axis_travel > 0.0) &&
        (!is_haptic_calibration || o.channel || o.sensor_to_zero || !o.scene)) {
        return command_print_usage_error(
            argv[0], "calibration of a haptic axis needs --scene, --axis, --drive, --limit "
                     "and --travel, without --channel and --zero");
    }
    if ((o.channel || o.sensor_to_zero) && !o.scene) {
        return command_print_usage_error(
            argv[0],
            "calibration of a measurement card needs --scene, a scene that lists its inputs");
    }
    o.report = o.json ? json_object() : NULL;
    int code = o.scene ? calibrate_device_of_scene(&o) : calibrate_attached_device(&o);
    json_decref(o.report);
    return code;
}
