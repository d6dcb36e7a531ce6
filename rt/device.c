#include "rt/device.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Whether text is terminated and can be shown in a log, a table and a terminal: UTF-8 without
 * control characters. */
static bool is_displayable_text(const char *text, size_t capacity)
{
    if (!memchr(text, '\0', capacity)) {
        return false;
    }
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        /* C2 80 to C2 9F are the control characters beyond ASCII. */
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) {
            return false;
        }
    }
    json_t *string = json_string(text);
    json_decref(string);
    return string != NULL;
}

static int report_bad_device_type_description(struct tact_error *err, const char *what, int index,
                                              const char *why)
{
    return index < 0
               ? tact_error_set(err, -EINVAL, "the device type has %s %s", what, why)
               : tact_error_set(err, -EINVAL, "the device type: %s %d has %s", what, index, why);
}

static int check_device_channel_count(const char *what, int count, int device_channel_count_limit,
                                      struct tact_error *err)
{
    return count >= 0 && count <= device_channel_count_limit
               ? 0
               : tact_error_set(err, -EINVAL, "the device type reports %d %s; expected 0 to %d",
                                count, what, device_channel_count_limit);
}

static int check_channel_names(const struct tact_device_channel *list, int count, const char *what,
                               struct tact_error *err)
{
    for (int i = 0; i < count; i++) {
        const struct tact_device_channel *c = &list[i];
        if (!is_displayable_text(c->name, sizeof c->name) || !c->name[0]) {
            return report_bad_device_type_description(
                err, what, i, "no name; expected 1 to 47 characters of text");
        }
        if (!is_displayable_text(c->unit, sizeof c->unit)) {
            return report_bad_device_type_description(
                err, what, i, "a unit that is not text of at most 15 characters");
        }
        if (!isfinite(c->rest)) {
            return report_bad_device_type_description(err, what, i,
                                                      "a rest value that is not finite");
        }
        for (int k = 0; k < i; k++) {
            if (!strcmp(list[k].name, c->name)) {
                return tact_error_set(err, -EINVAL,
                                      "the device type: %s %d and %d have the same name, \"%s\"",
                                      what, k, i, c->name);
            }
        }
    }
    return 0;
}

static bool is_valid_sensor_name(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_') {
            return false;
        }
    }
    return isalpha((unsigned char)*text);
}

static int check_wrench_channels(const struct tact_device_info *info, struct tact_error *err)
{
    const char *what = "force-torque sensor";
    for (int i = 0; i < info->wrench_count; i++) {
        const struct tact_device_wrench *w = &info->wrench[i];
        if (!is_displayable_text(w->name, sizeof w->name) || !is_valid_sensor_name(w->name)) {
            return report_bad_device_type_description(
                err, what, i, "no valid name: expected a letter, then letters, digits and _");
        }
        if (!is_displayable_text(w->frame, sizeof w->frame)) {
            return report_bad_device_type_description(
                err, what, i, "a frame that is not text of at most 47 characters");
        }
        if (w->channel < 0 || w->channel > info->input_count - 6) {
            return tact_error_set(err, -EINVAL,
                                  "the device type: %s \"%s\" has the inputs from %d on, of %d; "
                                  "expected six",
                                  what, w->name, w->channel, info->input_count);
        }
        for (int k = 0; k < i; k++) {
            if (!strcmp(info->wrench[k].name, w->name)) {
                return report_bad_device_type_description(
                    err, what, i, "the name of another force-torque sensor");
            }
        }
    }
    return 0;
}

/* The position that an output takes is measured by an input, in the same unit. */
static int check_inputs_measuring_position_outputs(const struct tact_device_info *info,
                                                   struct tact_error *err)
{
    for (int i = 0; i < info->output_count; i++) {
        const struct tact_device_channel *output = &info->output[i];
        if (output->raw < 0 || output->raw > info->input_count) {
            return tact_error_set(err, -EINVAL,
                                  "the device type: output %d, \"%s\", is measured by input %d of "
                                  "%d; expected 0, or 1 + its index",
                                  i, output->name, output->raw, info->input_count);
        }
        const struct tact_device_channel *measured =
            info->input + (output->raw > 0 ? output->raw - 1 : 0);
        if (output->raw > 0 && strcmp(output->unit, measured->unit) != 0) {
            return tact_error_set(err, -EINVAL,
                                  "the device type: output %d, \"%s\", sets a position in the unit "
                                  "\"%s\", which its input measures in the unit \"%s\"",
                                  i, output->name, output->unit, measured->unit);
        }
    }
    return 0;
}

int tact_device_check(const struct tact_device *device, struct tact_error *err)
{
    const struct tact_device_info *info = &device->info;
    if (device->ops && tact_abi_check(&device->ops->abi, sizeof *device->ops)) {
        return report_bad_device_type_description(err, "functions", -1,
                                                  "that were compiled for another ABI version");
    }
    if (!device->ops || !device->ops->read || !device->ops->close) {
        return report_bad_device_type_description(err,
                                                  !device->ops         ? "no functions"
                                                  : !device->ops->read ? "no read"
                                                                       : "no close",
                                                  -1, "for the device");
    }
    if (!is_displayable_text(info->name, sizeof info->name) ||
        !is_displayable_text(info->type, sizeof info->type)) {
        return report_bad_device_type_description(err, "a name or a type", -1,
                                                  "that is not text of at most 47 characters");
    }
    if (!is_displayable_text(info->model, sizeof info->model)) {
        return report_bad_device_type_description(err, "a model", -1,
                                                  "that is not text of at most 255 characters");
    }
    int rc = check_device_channel_count("inputs", info->input_count, TACT_DEVICE_CHANNELS, err);
    rc = rc ? rc
            : check_device_channel_count("outputs", info->output_count, TACT_DEVICE_CHANNELS, err);
    rc = rc ? rc
            : check_device_channel_count("force-torque sensors", info->wrench_count,
                                         TACT_DEVICE_WRENCHES, err);
    rc = rc ? rc : check_channel_names(info->input, info->input_count, "input", err);
    rc = rc ? rc : check_channel_names(info->output, info->output_count, "output", err);
    rc = rc ? rc : check_inputs_measuring_position_outputs(info, err);
    return rc ? rc : check_wrench_channels(info, err);
}
