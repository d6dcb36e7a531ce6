/* The survey of attached devices. */
#include "devices/attached/attached.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "devices/attached/attached_internal.h"
#include "devices/evdev/evdev_internal.h"

/* number of nodes /dev/comediN that are boards; higher numbers are subdevices */
enum { BOARDS = 48 };

void tact_attached_append_text(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    tact_number_vprint(text + used, size - used, format, args);
    va_end(args);
}

/* Appends a text in the double quotes of YAML. */
static void append_quoted_selector_value(char *text, size_t size, const char *value)
{
    tact_attached_append_text(text, size, "\"");
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (c < 0x20 || c == 0x7f) {
            tact_attached_append_text(text, size, "\\x%02x", c);
        } else {
            tact_attached_append_text(text, size, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
        }
    }
    tact_attached_append_text(text, size, "\"");
}

/* Whether another input device has the same name and, if set, the same serial or phys. */
static bool do_other_devices_share_identity(const struct tact_attached_input *all, int count,
                                            const struct tact_attached_input *one, bool serial,
                                            bool phys)
{
    for (int i = 0; i < count; i++) {
        if (&all[i] != one && strcmp(all[i].name, one->name) == 0 &&
            (!serial || strcmp(all[i].serial, one->serial) == 0) &&
            (!phys || strcmp(all[i].phys, one->phys) == 0)) {
            return true;
        }
    }
    return false;
}

/* Appends the settings that select a device in a scene. evdev prefers a device with exactly the
 * name to one whose name contains it. */
static void append_device_selector(const struct tact_attached_input *all, int count,
                                   struct tact_attached_input *one)
{
    const size_t max_selector_name_length =
        sizeof((struct tact_evdev_selector *)NULL)->name_to_match - 1;
    const size_t size = sizeof one->scene;
    bool is_selectable_by_name = one->name[0] && strlen(one->name) <= max_selector_name_length;
    bool is_name_unique = !do_other_devices_share_identity(all, count, one, false, false);
    bool serial = !is_name_unique && one->serial[0] &&
                  strlen(one->serial) <= max_selector_name_length &&
                  !do_other_devices_share_identity(all, count, one, true, false);
    bool phys = !is_name_unique && !serial && one->phys[0] &&
                !do_other_devices_share_identity(all, count, one, false, true);
    if (!is_selectable_by_name || (!is_name_unique && !serial && !phys)) {
        tact_attached_append_text(one->scene, size, "path: ");
        append_quoted_selector_value(one->scene, size, one->link[0] ? one->link : one->path);
        return;
    }
    tact_attached_append_text(one->scene, size, "match: ");
    append_quoted_selector_value(one->scene, size, one->name);
    if (serial || phys) {
        tact_attached_append_text(one->scene, size, serial ? ", serial: " : ", phys: ");
        append_quoted_selector_value(one->scene, size, serial ? one->serial : one->phys);
    }
}

/* Lists the force outputs for the example entry of a scene. */
static const char *list_example_forces(const struct tact_attached_input *one)
{
    const char *effect = one->force_count ? one->force[0].effect : "";
    bool is_effect_directional = strcmp(effect, "constant") == 0 || strcmp(effect, "spring") == 0;
    for (int i = 0; i < one->force_count && !is_effect_directional; i++) {
        if (strcmp(one->force[i].name, "strong") == 0) {
            return "strong weak";
        }
    }
    return one->force_count ? one->force[0].name : "";
}

void tact_attached_write_input_scene_entries(struct tact_attached_input *input, int count)
{
    for (int i = 0; i < count; i++) {
        struct tact_attached_input *one = &input[i];
        const size_t size = sizeof one->scene;
        int before = 0;
        if (!one->channel_count && !one->named[0] && one->note[0]) {
            continue; /* nothing to open */
        }
        for (int k = 0; k < i; k++) {
            before += strcmp(input[k].kind, one->kind) == 0;
        }
        snprintf(one->scene, size, "- {name: %s", one->kind);
        if (before) {
            tact_attached_append_text(one->scene, size, "%d", before + 1);
        }
        tact_attached_append_text(one->scene, size, ", type: evdev, settings: {");
        append_device_selector(input, count, one);
        if (one->named[0]) {
            tact_attached_append_text(one->scene, size, ", channels: %s", one->named);
        }
        if (one->force_count) {
            tact_attached_append_text(one->scene, size, ", forces: %s", list_example_forces(one));
        }
        tact_attached_append_text(one->scene, size, "}}");
    }
}

static void list_input_devices(struct udev *udev, struct tact_attached *out)
{
    int numbers[TACT_EVDEV_NODES];
    int count = tact_evdev_list_nodes(numbers);
    for (int i = 0; i < count; i++) {
        struct tact_attached_input *input = &out->input[out->input_count];
        out->input_count += tact_attached_read_input(udev, numbers[i], input);
    }
    tact_attached_write_input_scene_entries(out->input, out->input_count);
}

static void list_measurement_boards(struct udev *udev, struct tact_attached *out)
{
    for (int i = 0; i < BOARDS; i++) {
        out->board_count += tact_attached_read_board(udev, i, &out->board[out->board_count]);
    }
}

int tact_attached_survey(struct tact_attached *out, struct tact_error *err)
{
    *out = (struct tact_attached){0};
    out->input = calloc(TACT_EVDEV_NODES, sizeof *out->input);
    out->board = calloc(BOARDS, sizeof *out->board);
    if (!out->input || !out->board) {
        tact_attached_free(out);
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    struct udev *udev = udev_new();
    list_input_devices(udev, out);
    list_measurement_boards(udev, out);
    udev_unref(udev);
    return 0;
}

void tact_attached_free(struct tact_attached *attached)
{
    free(attached->input);
    free(attached->board);
    *attached = (struct tact_attached){0};
}
