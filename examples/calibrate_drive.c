/* tact calibrate: opens a haptic device by its settings in the scene, drives one axis of it, and
 * reports what the axis is and how stiff a wall it renders. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "calibrate.h"
#include "calibrate_haptic.h"
#include "command.h"
#include "contact/number.h"
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
    fprintf(stderr, "tact: the device has no channel %s\n", text_shown(name));
    return -1;
}

static int open_haptic_axis(const struct calibrate_options *o, const struct tact_scene *scene,
                            const struct tact_scene_device *def, struct tact_device *device,
                            struct haptic_axis *axis)
{
    static int quiet = 1;
    struct tact_error err = {.line = 0};
    size_t count;
    const struct tact_device_type *const *known = tact_devices_builtin(&count);
    const struct tact_device_type *type = tact_device_type_find(known, count, def->type);
    const struct tact_device_config config = {.name = def->name,
                                              .directory = scene->directory,
                                              .file = o->scene,
                                              .settings = def->settings,
                                              .setting_count = (int)def->settings_count,
                                              .period = scene->period,
                                              .messages = {command_message, &quiet}};
    if (!type) {
        fprintf(stderr, "tact: no device type %s\n", text_shown(def->type));
        return EXIT_USAGE;
    }
    if (type->open(&config, device, &err)) {
        command_error(&err);
        return EXIT_BAD;
    }
    *axis = (struct haptic_axis){
        .device = device,
        .input = find_axis_channel(device->info.input, device->info.input_count, o->axis),
        .output = find_axis_channel(device->info.output, device->info.output_count, o->drive),
        .limit = o->limit,
        .travel = o->travel,
        .period = scene->period,
        .timed = strcmp(def->type, "twin") != 0};
    if (axis->input < 0 || axis->output < 0 || !device->ops->write) {
        device->ops->close(device->self);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

static void print_identified_axis(const struct identified_haptic_axis *found,
                                  const struct stable_wall_stiffness *width)
{
    char text[512];
    tact_number_print(text, sizeof text,
                      "device: {mass: %.6g, damping: %.6g, delay: %.6g, friction: %.6g, "
                      "resolution: %.6g}\n",
                      found->mass, found->damping, found->delay, found->friction,
                      found->resolution);
    fputs(text, stdout);
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        const double stable = width->stiffness[i], unstable = width->unstable[i];
        const char *limit = !isnan(stable) && !isnan(unstable) ? "stable to"
                            : !isnan(stable)                   ? "stable to at least"
                                                               : "stable below";
        if (isnan(stable) && isnan(unstable)) {
            tact_number_print(text, sizeof text,
                              "# wall with damping %.4g: not tested, the axis has no damping\n",
                              width->damping[i]);
        } else {
            tact_number_print(text, sizeof text,
                              "# wall with damping %.4g: %s %.6g, (b + B) / (T/2 + delay) is "
                              "%.6g\n",
                              width->damping[i], limit, isnan(stable) ? unstable : stable,
                              width->line[i]);
        }
        fputs(text, stdout);
    }
}

static json_t *real_or_null(double number)
{
    return isnan(number) ? json_null() : json_real(number);
}

static int report_identified_axis(json_t *report, const struct identified_haptic_axis *found,
                                  const struct stable_wall_stiffness *width)
{
    json_t *walls = json_array();
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        json_array_append_new(walls,
                              json_pack("{s:f, s:o, s:o, s:f}", "damping", width->damping[i],
                                        "stiffness", real_or_null(width->stiffness[i]), "unstable",
                                        real_or_null(width->unstable[i]), "line", width->line[i]));
    }
    json_object_update_new(report,
                           json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "mass", found->mass,
                                     "damping", found->damping, "friction", found->friction,
                                     "delay", found->delay, "resolution", found->resolution,
                                     "difference", found->difference, "walls", walls));
    return json_dumpf(report, stdout, JSON_INDENT(2)) || puts("") < 0 ? EXIT_BAD : EXIT_GOOD;
}

int calibrate_haptic(const struct calibrate_options *o, const struct tact_scene *scene,
                     const struct tact_scene_device *def)
{
    struct tact_device device = {.ops = NULL};
    struct haptic_axis axis;
    struct identified_haptic_axis found;
    struct stable_wall_stiffness width;
    int code = o->plot_path
                   ? is_output_allowed("tact calibrate", o->plot_path, o->force, &o->scene, 1)
                   : EXIT_GOOD;
    code = code ? code : open_haptic_axis(o, scene, def, &device, &axis);
    if (code) {
        return code;
    }
    if (axis.timed) {
        code = ask_user_and_wait_for_enter(
            o,
            "%s will be driven with up to %g N or N m: let it go, in the "
            "middle of its travel",
            o->axis, o->limit);
    }
    command_install_stop_signals();
    code = code ? code : identify_haptic_axis(&axis, &found);
    code = code ? code : haptic_measure_width(&axis, &found, &width);
    set_haptic_force(&axis, 0.0);
    device.ops->close(device.self);
    if (!code && axis.late) {
        fprintf(stderr, "tact: %d ticks began late: what is found is no better than that\n",
                axis.late);
    }
    if (!code && o->report) {
        code = report_identified_axis(o->report, &found, &width);
    } else if (!code) {
        print_identified_axis(&found, &width);
    }
    return code || !o->plot_path
               ? code
               : draw_stable_wall_stiffness(&width, &found, o->plot_path, o->force);
}
