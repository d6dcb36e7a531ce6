/* Describes an input device. One that cannot be opened is described from /sys. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "devices/attached/attached_internal.h"
#include "devices/evdev/evdev_internal.h"

static bool has_input_device_event_code(const struct libevdev *dev, unsigned int type,
                                        unsigned int code)
{
    return libevdev_has_event_code(dev, type, code) == 1;
}

/* Enables the event codes of a bitmap from /sys, written as hexadecimal words, the highest first.
 */
static void enable_event_codes(struct libevdev *dev, unsigned int type,
                               const char *event_code_bitmap)
{
    static const struct input_absinfo axis_info_without_range = {.value = 0};
    const unsigned int width = 8 * sizeof(unsigned long);
    const char *at = event_code_bitmap ? event_code_bitmap + strlen(event_code_bitmap) : "";
    int most = libevdev_event_type_get_max(type);
    for (unsigned int base = 0; event_code_bitmap && at > event_code_bitmap; base += width) {
        while (at > event_code_bitmap && at[-1] != ' ') {
            at--;
        }
        unsigned long word = strtoul(at, NULL, 16);
        for (unsigned int bit = 0; bit < width; bit++) {
            if ((word >> bit & 1U) && (int)(base + bit) <= most) {
                libevdev_enable_event_code(dev, type, base + bit,
                                           type == EV_ABS ? &axis_info_without_range : NULL);
            }
        }
        at -= at > event_code_bitmap;
    }
}

static int read_hexadecimal_attribute(struct udev_device *parent, const char *attribute)
{
    const char *text = udev_device_get_sysattr_value(parent, attribute);
    return text ? (int)strtoul(text, NULL, 16) : 0;
}

/* The device from /sys, without the ranges of axes. NULL on failure. */
static struct libevdev *make_libevdev_from_sysfs(struct udev_device *node)
{
    static const struct {
        unsigned int type;
        const char *attribute;
    } maps[] = {{EV_KEY, "capabilities/key"},
                {EV_REL, "capabilities/rel"},
                {EV_ABS, "capabilities/abs"},
                {EV_FF, "capabilities/ff"}};
    struct udev_device *parent =
        node ? udev_device_get_parent_with_subsystem_devtype(node, "input", NULL) : NULL;
    struct libevdev *dev = parent ? libevdev_new() : NULL;
    if (!dev) {
        return NULL;
    }
    const char *name = udev_device_get_sysattr_value(parent, "name");
    libevdev_set_name(dev, name ? name : "");
    libevdev_set_uniq(dev, udev_device_get_sysattr_value(parent, "uniq"));
    libevdev_set_phys(dev, udev_device_get_sysattr_value(parent, "phys"));
    libevdev_set_id_bustype(dev, read_hexadecimal_attribute(parent, "id/bustype"));
    libevdev_set_id_vendor(dev, read_hexadecimal_attribute(parent, "id/vendor"));
    libevdev_set_id_product(dev, read_hexadecimal_attribute(parent, "id/product"));
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        enable_event_codes(dev, maps[i].type,
                           udev_device_get_sysattr_value(parent, maps[i].attribute));
    }
    return dev;
}

static bool does_name_contain_word(const char *name, const char *word)
{
    return strcasestr(name, word) != NULL;
}

/* Whether the device has keyboard keys, which no joystick has: wireless receivers declare axes and
 * buttons of all devices that might be paired with them. The list of keys is that of systemd's
 * input_id. */
static bool has_keyboard_keys(const struct libevdev *dev)
{
    static const unsigned int keys[] = {KEY_LEFTCTRL,  KEY_CAPSLOCK,      KEY_NUMLOCK, KEY_INSERT,
                                        KEY_MUTE,      KEY_CALC,          KEY_FILE,    KEY_MAIL,
                                        KEY_PLAYPAUSE, KEY_BRIGHTNESSDOWN};
    int found = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        found += has_input_device_event_code(dev, EV_KEY, keys[i]);
    }
    return found >= 4;
}

/* Kind of the device; only names distinguish a wheel from a stick. */
static const char *guess_device_kind(const struct libevdev *dev)
{
    const char *name = libevdev_get_name(dev);
    bool has_six_axes = (has_input_device_event_code(dev, EV_REL, REL_RX) &&
                         has_input_device_event_code(dev, EV_REL, REL_RZ)) ||
                        (has_input_device_event_code(dev, EV_ABS, ABS_RX) &&
                         has_input_device_event_code(dev, EV_ABS, ABS_RZ) &&
                         has_input_device_event_code(dev, EV_ABS, ABS_Z) &&
                         !has_input_device_event_code(dev, EV_KEY, BTN_GAMEPAD) &&
                         !has_input_device_event_code(dev, EV_KEY, BTN_JOYSTICK));
    bool has_steering_axis = has_input_device_event_code(dev, EV_ABS, ABS_X) ||
                             has_input_device_event_code(dev, EV_ABS, ABS_WHEEL);
    bool is_keyboard_device = has_keyboard_keys(dev);
    /* A headset is no pad: it has such buttons, but no stick, hat or directional pad. */
    bool has_pointing_axis =
        !is_keyboard_device && (has_input_device_event_code(dev, EV_ABS, ABS_X) ||
                                has_input_device_event_code(dev, EV_ABS, ABS_RX) ||
                                has_input_device_event_code(dev, EV_ABS, ABS_HAT0X) ||
                                has_input_device_event_code(dev, EV_KEY, BTN_DPAD_UP));
    if (libevdev_has_property(dev, INPUT_PROP_ACCELEROMETER) ||
        does_name_contain_word(name, "motion sensor") ||
        does_name_contain_word(name, "accelerometer")) {
        return "motion";
    }
    if (has_steering_axis && !is_keyboard_device &&
        (has_input_device_event_code(dev, EV_ABS, ABS_WHEEL) ||
         has_input_device_event_code(dev, EV_KEY, BTN_GEAR_DOWN) ||
         does_name_contain_word(name, "wheel") || does_name_contain_word(name, "racing")) &&
        !has_input_device_event_code(dev, EV_KEY, BTN_STYLUS) &&
        !has_input_device_event_code(dev, EV_KEY, BTN_TOOL_PEN)) {
        return "wheel";
    }
    if (has_input_device_event_code(dev, EV_KEY, BTN_TOOL_PEN) ||
        has_input_device_event_code(dev, EV_KEY, BTN_STYLUS)) {
        return "tablet";
    }
    if (has_input_device_event_code(dev, EV_ABS, ABS_X) &&
        has_input_device_event_code(dev, EV_KEY, BTN_TOUCH)) {
        return "touch";
    }
    if (has_pointing_axis && has_input_device_event_code(dev, EV_KEY, BTN_GAMEPAD)) {
        return "pad";
    }
    if (has_pointing_axis && (has_input_device_event_code(dev, EV_KEY, BTN_JOYSTICK) ||
                              has_input_device_event_code(dev, EV_KEY, BTN_THUMB))) {
        return "stick";
    }
    if (has_six_axes && !is_keyboard_device) {
        return "puck";
    }
    if (has_input_device_event_code(dev, EV_REL, REL_X) &&
        has_input_device_event_code(dev, EV_KEY, BTN_LEFT)) {
        return "mouse";
    }
    return has_input_device_event_code(dev, EV_KEY, KEY_A) &&
                   has_input_device_event_code(dev, EV_KEY, KEY_ENTER)
               ? "keyboard"
               : "other";
}

/* Appends to the note of an input device which of its channels are omitted. */
static void append_unmapped_codes_to_note(void *user, enum tact_message_level level,
                                          const char *text)
{
    struct tact_attached_input *input = user;
    const char *body = strstr(text, "' has ");
    (void)level;
    snprintf(input->note, sizeof input->note, "%s", body ? body + 2 : text);
}

/* Chooses the key of a keyboard that the example entry of a scene names: the space bar, or the
 * first key. */
static void choose_key_named_in_example_entry(const struct libevdev *dev,
                                              struct tact_attached_input *input)
{
    unsigned int code = KEY_SPACE;
    for (unsigned int i = 1; i < KEY_CNT && !has_input_device_event_code(dev, EV_KEY, code); i++) {
        code = has_input_device_event_code(dev, EV_KEY, i) ? i : code;
    }
    if (has_input_device_event_code(dev, EV_KEY, code)) {
        tact_evdev_code_name(EV_KEY, code, input->named, sizeof input->named);
    }
}

static void describe_input_channels(const struct libevdev *dev, bool are_axis_ranges_known,
                                    struct tact_attached_input *input)
{
    static const char *const spans[] = {"-1..1", "0..1", "-1..1 displacement", "counts", "0 or 1"};
    struct tact_evdev_layout layout;
    struct tact_error err = {.line = 0};
    const struct tact_device_config config = {.name = "",
                                              .directory = "",
                                              .file = "",
                                              .period = 1e-3,
                                              .messages = {append_unmapped_codes_to_note, input}};
    if (tact_evdev_choose_channels(&config, dev, &layout, &err)) {
        snprintf(input->note, sizeof input->note,
                 libevdev_has_event_type(dev, EV_KEY)
                     ? "the device has only keys: list those to use in `channels`"
                     : "the device has no axes and no buttons");
        choose_key_named_in_example_entry(dev, input);
        return;
    }
    input->channel_count = layout.count;
    for (int i = 0; i < layout.count; i++) {
        const struct tact_evdev_channel *from = &layout.channel[i];
        struct tact_attached_channel *to = &input->channel[i];
        bool is_absolute_axis = from->type == EV_ABS;
        snprintf(to->name, sizeof to->name, "%s", from->name);
        snprintf(to->span, sizeof to->span, "%s%s",
                 is_absolute_axis && !are_axis_ranges_known ? "?" : spans[from->kind],
                 from->is_axis_inverted ? " inverted" : "");
        to->axis = from->type != EV_KEY;
        if (is_absolute_axis && are_axis_ranges_known) {
            const struct input_absinfo *info = libevdev_get_abs_info(dev, from->code);
            to->low = info->minimum;
            to->high = info->maximum;
            to->flat = info->flat;
        }
    }
}

static void describe_force_effects(const struct libevdev *dev, struct tact_attached_input *input)
{
    unsigned char bits[FF_CNT / 8] = {0};
    for (unsigned int code = 0; code < FF_CNT; code++) {
        bits[code / 8] |=
            (unsigned char)(has_input_device_event_code(dev, EV_FF, code) << (code % 8));
    }
    for (unsigned int type = FF_RUMBLE; type <= FF_RAMP; type++) {
        if (has_input_device_event_code(dev, EV_FF, type)) {
            tact_attached_append_text(input->effects, sizeof input->effects, "%s%s",
                                      input->effects[0] ? ", " : "",
                                      tact_force_type_name((int)type));
        }
    }
    for (int i = 0; i < TACT_FORCE_CHANNELS && input->effects[0]; i++) {
        /* Without the output spring, the output spring_center is refused; with it, it needs no
         * further effect. */
        struct tact_force_rendering_plan force_rendering_plan = {.gain = 0xffff,
                                                                 .wave_period_ms = 17};
        if (tact_force_choose_effects(bits, 1U << i, &force_rendering_plan) < 0) {
            struct tact_attached_force *force = &input->force[input->force_count++];
            snprintf(force->name, sizeof force->name, "%s", tact_force_output_name(i));
            snprintf(force->effect, sizeof force->effect, "%s",
                     tact_force_type_name(force_rendering_plan.type[force_rendering_plan.slot[i]]));
        }
    }
}

/* Finds a permanent path of the node: by the device's identity, or else by its port. */
static void find_permanent_path_of_input_node(struct tact_attached_input *input)
{
    static const char *const folders[] = {"/dev/input/by-id", "/dev/input/by-path"};
    const char *node = input->path + strlen("/dev/input/");
    for (int i = 0; i < 2 && !input->link[0]; i++) {
        struct dirent *entry;
        DIR *folder = opendir(folders[i]);
        while (folder && (entry = readdir(folder))) {
            char link[512], target[256];
            snprintf(link, sizeof link, "%s/%s", folders[i], entry->d_name);
            ssize_t n = readlink(link, target, sizeof target - 1);
            target[n > 0 ? n : 0] = '\0';
            const char *last = strrchr(target, '/');
            /* the alphabetically first path is used, as the entries of a folder have no order */
            if (last && strcmp(last + 1, node) == 0 && strlen(link) < sizeof input->link &&
                (!input->link[0] || strcmp(link, input->link) < 0)) {
                memcpy(input->link, link, strlen(link) + 1);
            }
        }
        if (folder) {
            closedir(folder);
        }
    }
}

/* The condition of a udev rule that matches this model only. */
static void make_udev_rule_condition(const struct tact_attached_input *input, char *rule,
                                     size_t size)
{
    const char *const base = "SUBSYSTEM==\"input\", KERNEL==\"event*\"";
    rule[0] = '\0';
    if (input->vendor || input->product) {
        snprintf(rule, size, "%s, ATTRS{id/vendor}==\"%04x\", ATTRS{id/product}==\"%04x\"", base,
                 (unsigned)input->vendor, (unsigned)input->product);
    } else if (input->name[0] && !strpbrk(input->name, "\"'\\*?[]|$%")) {
        snprintf(rule, size, "%s, ATTRS{name}==\"%.128s\"", base, input->name);
    }
}

static void describe_input_access(struct udev_device *node, int error,
                                  struct tact_attached_input *input)
{
    struct tact_attached_access *access_of_input_device = &input->access;
    char rule[384];
    bool is_open_to_user_at_seat = node && udev_device_has_tag(node, "uaccess") == 1;
    make_udev_rule_condition(input, rule, sizeof rule);
    access_of_input_device->error = error;
    if (input->force_count) {
        access_of_input_device->force_error = error                            ? error
                                              : access(input->path, W_OK) == 0 ? 0
                                                                               : -errno;
    }
    if (error || access_of_input_device->force_error) {
        tact_attached_explain_access(
            input->path, error ? error : access_of_input_device->force_error,
            error ? "reading" : "forces", rule, is_open_to_user_at_seat, access_of_input_device);
    }
}

static void describe_input_device(const struct libevdev *dev, bool open,
                                  struct tact_attached_input *input)
{
    const char *serial = libevdev_get_uniq(dev);
    const char *phys = libevdev_get_phys(dev);
    snprintf(input->name, sizeof input->name, "%s", libevdev_get_name(dev));
    snprintf(input->serial, sizeof input->serial, "%s", serial ? serial : "");
    snprintf(input->phys, sizeof input->phys, "%s", phys ? phys : "");
    input->bus = (uint16_t)libevdev_get_id_bustype(dev);
    input->vendor = (uint16_t)libevdev_get_id_vendor(dev);
    input->product = (uint16_t)libevdev_get_id_product(dev);
    snprintf(input->kind, sizeof input->kind, "%s", guess_device_kind(dev));
    describe_input_channels(dev, open, input);
    describe_force_effects(dev, input);
}

bool tact_attached_read_input(struct udev *udev, int number, struct tact_attached_input *input)
{
    char name[32];
    int error;
    memset(input, 0, sizeof *input);
    snprintf(name, sizeof name, "event%d", number);
    snprintf(input->path, sizeof input->path, "/dev/input/%s", name);
    struct udev_device *node =
        udev ? udev_device_new_from_subsystem_sysname(udev, "input", name) : NULL;
    struct tact_evdev_source *source = tact_evdev_node_open(input->path, &error);
    if (source) {
        describe_input_device(source->dev, true, input);
        if (ioctl(source->fd, EVIOCGEFFECTS, &input->effect_most) < 0) {
            input->effect_most = 0;
        }
    } else {
        struct libevdev *dev = make_libevdev_from_sysfs(node);
        if (dev) {
            describe_input_device(dev, false, input);
        }
        libevdev_free(dev);
    }
    if (!input->kind[0]) {
        snprintf(input->kind, sizeof input->kind, "other");
    }
    find_permanent_path_of_input_node(input);
    describe_input_access(node, source ? 0 : error, input);
    bool is_device_present = source || access(input->path, F_OK) == 0;
    tact_evdev_source_free(source);
    udev_device_unref(node);
    return is_device_present;
}
