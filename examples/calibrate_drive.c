/* tact calibrate: opens a haptic device by its settings in the scene, drives one axis of it, and
 * reports what the axis is and how stiff a wall it renders. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "calibrate.h"
#include "calibrate_haptic.h"
#include "command.h"
#include "contact/number.h"
#include "devices.h"
#include "devices/plugin/plugin.h"
#include "devices/registry.h"
#include "output.h"
#include "text.h"

static int find_axis_channel(const struct tact_device_channel *channels, int count,
                             const char *name)
{
    for (int i = 0; i < count; i++) {
        if (!strcmp(channels[i].name, name)) {
            return i;
        }
    }
    fprintf(stderr, "tact: the device has no input or output channel %s\n",
            text_make_printable(name));
    return -1;
}

/* Units of the axis by the unit of its position channel: the force is then in N, or N m. */
static enum haptic_units find_units_of_haptic_axis(const struct tact_device_channel *input)
{
    return !strcmp(input->unit, "m")     ? HAPTIC_LINEAR
           : !strcmp(input->unit, "rad") ? HAPTIC_ROTARY
                                         : HAPTIC_OTHER;
}

static int open_haptic_axis(const struct calibrate_options *o, const struct tact_scene *scene,
                            const struct tact_scene_device *def, struct tact_plugins *plugins,
                            struct tact_device *device, struct haptic_axis *axis)
{
    static int are_messages_quiet = 1;
    struct tact_error err = {.line = 0};
    size_t count;
    const struct tact_device_type *const *known = tact_plugins_types(plugins, &count);
    const struct tact_device_type *type = tact_device_type_find(known, count, def->type);
    const struct tact_device_config config = {
        .name = def->name,
        .directory = scene->directory,
        .file = o->scene,
        .settings = def->settings,
        .setting_count = (int)def->settings_count,
        .period = scene->period,
        .user = type ? type->user : NULL,
        .messages = {command_print_message, &are_messages_quiet}};
    if (!type) {
        fprintf(stderr, "tact: there is no device type %s in this build or its plug-ins\n",
                text_make_printable(def->type));
        return EXIT_USAGE;
    }
    if (type->open(&config, device, &err)) {
        command_print_error(&err);
        return EXIT_BAD;
    }
    if (tact_device_check(device, &err)) {
        if (device->ops && device->ops->close) {
            device->ops->close(device->self);
        }
        command_print_error(&err);
        return EXIT_BAD;
    }
    *axis = (struct haptic_axis){
        .device = device,
        .input = find_axis_channel(device->info.input, device->info.input_count, o->axis),
        .output = find_axis_channel(device->info.output, device->info.output_count, o->drive),
        .limit = o->limit,
        .allowed_axis_travel = o->allowed_axis_travel,
        .period = scene->period,
        .is_axis_paced_by_clock = strcmp(def->type, "twin") != 0};
    if (axis->input < 0 || axis->output < 0 || !device->ops->write) {
        device->ops->close(device->self);
        return EXIT_USAGE;
    }
    if (device->info.output[axis->output].raw > 0) {
        fprintf(stderr, "tact: the output %s is a position; expected one that is a force\n",
                text_make_printable(o->drive));
        device->ops->close(device->self);
        return EXIT_USAGE;
    }
    axis->units = find_units_of_haptic_axis(&device->info.input[axis->input]);
    return EXIT_GOOD;
}

static void print_identified_axis(const struct identified_haptic_axis *found,
                                  const struct stable_wall_stiffness *wall_stiffness)
{
    char text[512];
    tact_number_print(text, sizeof text,
                      "device: {mass: %.6g, damping: %.6g, delay: %.6g, friction: %.6g, "
                      "resolution: %.6g}\n",
                      found->mass, found->damping, found->delay, found->friction,
                      found->resolution);
    fputs(text, stdout);
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        const double stable_stiffness = wall_stiffness->stiffness[i],
                     unstable_stiffness = wall_stiffness->unstable_stiffness[i];
        const char *limit = !isnan(stable_stiffness) && !isnan(unstable_stiffness)
                                ? "stable to a stiffness of"
                            : !isnan(stable_stiffness) ? "stable at least to a stiffness of"
                                                       : "stable below a stiffness of";
        if (isnan(stable_stiffness) && isnan(unstable_stiffness)) {
            tact_number_print(text, sizeof text,
                              "# wall with damping %.4g: not tested, as the axis has no damping\n",
                              wall_stiffness->damping[i]);
        } else {
            tact_number_print(text, sizeof text,
                              "# wall with damping %.4g: %s %.6g, (b + B) / (T/2 + delay) is "
                              "%.6g\n",
                              wall_stiffness->damping[i], limit,
                              isnan(stable_stiffness) ? unstable_stiffness : stable_stiffness,
                              wall_stiffness->analytic_stiffness_limit[i]);
        }
        fputs(text, stdout);
    }
}

static json_t *real_or_null(double number)
{
    return isnan(number) ? json_null() : json_real(number);
}

static int report_identified_axis(json_t *report, const struct identified_haptic_axis *found,
                                  const struct stable_wall_stiffness *wall_stiffness)
{
    json_t *walls = json_array();
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        json_array_append_new(
            walls, json_pack("{s:f, s:o, s:o, s:f}", "damping", wall_stiffness->damping[i],
                             "stiffness", real_or_null(wall_stiffness->stiffness[i]), "unstable",
                             real_or_null(wall_stiffness->unstable_stiffness[i]), "line",
                             wall_stiffness->analytic_stiffness_limit[i]));
    }
    json_object_update_new(report,
                           json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "mass", found->mass,
                                     "damping", found->damping, "friction", found->friction,
                                     "delay", found->delay, "resolution", found->resolution,
                                     "difference", found->rms_position_error, "walls", walls));
    return json_dumpf(report, stdout, JSON_INDENT(2)) || puts("") < 0 ? EXIT_BAD : EXIT_GOOD;
}

/* Writes the axis to the device's calibration file, beside what that has. Returns the exit code. */
static int write_calibrated_axis(const struct calibrate_options *o,
                                 const struct tact_scene_device *def, const char *model,
                                 const char *path, const struct identified_haptic_axis *found,
                                 const struct stable_wall_stiffness *wall_stiffness)
{
    static struct calibrate_file file;
    struct tact_scene_haptic_axis axis = {
        .port = {found->mass, found->damping, found->delay, found->friction, found->resolution},
        .stiffest = isnan(wall_stiffness->stiffness[0]) ? 0.0 : wall_stiffness->stiffness[0]};
    if (isnan(wall_stiffness->stiffness[0]) && !isnan(wall_stiffness->unstable_stiffness[0])) {
        fprintf(stderr,
                "tact: the virtual wall without damping was not stable, not even at a quarter of "
                "the computed stiffness: nothing is written\n");
        return EXIT_BAD;
    }
    snprintf(axis.channel, sizeof axis.channel, "%s", o->axis);
    int code = o->output ? EXIT_GOOD : calibrate_copy_settings(&file, def);
    if (!code && calibrate_is_plain_yaml_text(model)) {
        code = calibrate_set_text(&file, "haptic_model", model);
    }
    code = code ? code : calibrate_set_haptic_axis(&file, &axis);
    code = code ? code : calibrate_write_file(&file, path, o->force);
    if (!code && o->report) {
        json_object_set_new(o->report, "file", devices_text(path));
    } else if (!code) {
        fprintf(stderr, "written: %s\n", text_make_printable(path));
    }
    return code;
}

/* Drives the axis of an open device. Returns the exit code; the device is closed. */
static int drive_and_measure_haptic_axis(const struct calibrate_options *o,
                                         struct haptic_axis *axis,
                                         struct identified_haptic_axis *found,
                                         struct stable_wall_stiffness *wall_stiffness)
{
    int code = EXIT_GOOD;
    if (axis->is_axis_paced_by_clock) {
        code = ask_user_and_wait_for_enter(o,
                                           "the axis %s will be driven with up to %g N or N m: "
                                           "move it to the middle of its travel and let it go",
                                           o->axis, o->limit);
    }
    command_install_stop_signals();
    code = code ? code : identify_haptic_axis(axis, found);
    code = code ? code : measure_stable_wall_stiffness(axis, found, wall_stiffness);
    set_haptic_force(axis, 0.0);
    axis->device->ops->close(axis->device->self);
    if (!code && axis->late_tick_count) {
        fprintf(stderr,
                "tact: %d ticks of the measurement began late: its results are less accurate\n",
                axis->late_tick_count);
    }
    return code;
}

/* Refuses outputs that may not be written, before anything is driven. path: of the calibration, or
 * empty. */
static int check_calibration_output_paths(const struct calibrate_options *o, const char *path)
{
    const char *channel_name_characters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    int code =
        path[0] ? is_output_allowed("tact calibrate", path, o->force, &o->scene, 1) : EXIT_GOOD;
    if (!code && o->stable_wall_plot_path) {
        code =
            is_output_allowed("tact calibrate", o->stable_wall_plot_path, o->force, &o->scene, 1);
    }
    if (!code && path[0] && o->axis[strspn(o->axis, channel_name_characters)]) {
        fprintf(stderr,
                "tact: %s: expected a channel name of letters, digits, _ and -, as it becomes a "
                "key of the calibration file\n",
                text_make_printable(o->axis));
        code = EXIT_USAGE;
    }
    return code;
}

int calibrate_haptic(const struct calibrate_options *o, const struct tact_scene *scene,
                     const struct tact_scene_device *def)
{
    struct tact_device device = {.ops = NULL};
    struct tact_plugins *plugins = NULL;
    struct tact_error err = {.line = 0};
    struct haptic_axis axis;
    struct identified_haptic_axis found;
    struct stable_wall_stiffness wall_stiffness;
    char path[4096] = "";
    if (o->output || def->calibration) {
        calibrate_choose_file_path(o, def, scene->directory, path, sizeof path);
    }
    int code = check_calibration_output_paths(o, path);
    if (!code && tact_plugins_open(scene, o->plugins, &plugins, &err)) {
        code = command_print_error(&err);
    }
    code = code ? code : open_haptic_axis(o, scene, def, plugins, &device, &axis);
    code = code ? code : drive_and_measure_haptic_axis(o, &axis, &found, &wall_stiffness);
    int write_exit_code =
        EXIT_GOOD; /* nothing is asked of the person if the file will not be written */
    if (!code && !o->report) {
        print_identified_axis(&found, &wall_stiffness);
    }
    if (!code && path[0]) {
        write_exit_code =
            write_calibrated_axis(o, def, device.info.model, path, &found, &wall_stiffness);
    }
    if (!code && o->report) {
        code = report_identified_axis(o->report, &found, &wall_stiffness);
    }
    code = code ? code : write_exit_code;
    tact_plugins_close(plugins);
    return code || !o->stable_wall_plot_path
               ? code
               : draw_stable_wall_stiffness(axis.units, &wall_stiffness, &found,
                                            o->stable_wall_plot_path, o->force);
}
