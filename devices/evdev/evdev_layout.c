#include "devices/evdev/evdev_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "devices/common/settings.h"

/* Event code with an index among all axes, relative axes and buttons, axes first. */
static bool nth_code_of_device(const struct libevdev *dev, int index, unsigned int *type,
                               unsigned int *code)
{
    *type = index < ABS_CNT ? EV_ABS : index < ABS_CNT + REL_CNT ? EV_REL : EV_KEY;
    *code = (unsigned int)(*type == EV_ABS   ? index
                           : *type == EV_REL ? index - ABS_CNT
                                             : index - ABS_CNT - REL_CNT);
    return libevdev_has_event_code(dev, *type, *code);
}

enum { CANDIDATES = ABS_CNT + REL_CNT + KEY_CNT };

/* Maximum number of input channels: with forces, one is used by force_age. */
static int get_max_channel_count(const struct tact_device_config *config)
{
    return TACT_DEVICE_CHANNELS - (tact_settings_find(config, "forces") != NULL);
}

static bool is_button_code(unsigned int code)
{
    return (code >= BTN_MISC && code < KEY_OK) || (code >= BTN_DPAD_UP && code <= BTN_DPAD_RIGHT) ||
           code >= BTN_TRIGGER_HAPPY;
}

/* Whether an event code becomes a channel by default. */
static bool is_default_channel_code(unsigned int type, unsigned int code)
{
    if (type == EV_ABS) {
        return code < ABS_MT_SLOT;
    }
    if (type == EV_REL) {
        return code != REL_WHEEL_HI_RES && code != REL_HWHEEL_HI_RES;
    }
    return is_button_code(code);
}

void tact_evdev_code_name(unsigned int type, unsigned int code, char *name, size_t size)
{
    const char *known = libevdev_event_code_get_name(type, code);
    const char *prefix = type == EV_ABS         ? "abs"
                         : type == EV_REL       ? "rel"
                         : is_button_code(code) ? "btn"
                                                : "key";
    if (known) {
        snprintf(name, size, "%s", known);
    } else {
        snprintf(name, size, "%s_0x%x", prefix, code);
    }
    for (char *at = name; *at; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
}

/* Whether a word is the kernel's name, or an alias, of an event code. */
static bool does_channel_name_denote_code(const char *word, unsigned int type, unsigned int code)
{
    char name[TACT_DEVICE_NAME];
    tact_evdev_code_name(type, code, name, sizeof name);
    if (strcmp(word, name) == 0) {
        return true;
    }
    snprintf(name, sizeof name, "%s", word);
    for (char *at = name; *at; at++) {
        *at = (char)toupper((unsigned char)*at);
    }
    return libevdev_event_code_from_name(type, name) == (int)code;
}

static void append_channel_to_layout(struct tact_evdev_layout *layout, unsigned int type,
                                     unsigned int code, const char *name)
{
    struct tact_evdev_channel *channel = &layout->channel[layout->count++];
    memset(channel, 0, sizeof *channel);
    channel->type = type;
    channel->code = code;
    snprintf(channel->name, sizeof channel->name, "%s", name);
}

/* Appends the channels that the setting `channels` names to the layout. */
static int choose_named_channels(const struct tact_device_config *config,
                                 const struct libevdev *dev, const char *text,
                                 struct tact_evdev_layout *layout, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, "channels");
    char word[TACT_DEVICE_NAME];
    unsigned int type;
    unsigned int code;
    while (tact_settings_word(&text, word, sizeof word)) {
        int i = 0;
        while (i < CANDIDATES && !(nth_code_of_device(dev, i, &type, &code) &&
                                   does_channel_name_denote_code(word, type, code))) {
            i++;
        }
        if (i == CANDIDATES) {
            return tact_settings_fault(config, setting, err, "'%s' has no '%s'",
                                       libevdev_get_name(dev), word);
        }
        for (int k = 0; k < layout->count; k++) {
            if (layout->channel[k].type == type && layout->channel[k].code == code) {
                return tact_settings_fault(config, setting, err, "'%s' given twice", word);
            }
        }
        if (layout->count == get_max_channel_count(config)) {
            return tact_settings_fault(config, setting, err, "more than %d channels",
                                       get_max_channel_count(config));
        }
        append_channel_to_layout(layout, type, code, word);
    }
    return 0;
}

static void choose_default_channels(const struct tact_device_config *config,
                                    const struct libevdev *dev, struct tact_evdev_layout *layout)
{
    int left_out = 0;
    char first[TACT_DEVICE_NAME] = "";
    for (int i = 0; i < CANDIDATES; i++) {
        unsigned int type;
        unsigned int code;
        char name[TACT_DEVICE_NAME];
        if (!nth_code_of_device(dev, i, &type, &code) || !is_default_channel_code(type, code)) {
            continue;
        }
        tact_evdev_code_name(type, code, name, sizeof name);
        if (layout->count < get_max_channel_count(config)) {
            append_channel_to_layout(layout, type, code, name);
        } else if (left_out++ == 0) {
            snprintf(first, sizeof first, "%s", name);
        }
    }
    if (left_out) {
        tact_message(config->messages, TACT_MESSAGE_WARNING,
                     "%s: '%s' has more than %d channels: %d left out, from %s on; choose with "
                     "channels",
                     config->name, libevdev_get_name(dev), get_max_channel_count(config), left_out,
                     first);
    }
}

/* Whether an axis is one-sided by default; *inverted: it rests at its maximum. */
static bool is_one_sided_by_default(const struct libevdev *dev, unsigned int code,
                                    bool *is_axis_inverted)
{
    static const unsigned int one_sided_axis_codes[] = {ABS_Z,   ABS_RZ,    ABS_THROTTLE,
                                                        ABS_GAS, ABS_BRAKE, ABS_PRESSURE};
    const struct input_absinfo *info = libevdev_get_abs_info(dev, code);
    bool may_be_one_sided_axis = code >= ABS_HAT0X && code <= ABS_HAT3Y;
    for (size_t i = 0; i < sizeof one_sided_axis_codes / sizeof *one_sided_axis_codes; i++) {
        may_be_one_sided_axis = may_be_one_sided_axis || one_sided_axis_codes[i] == code;
    }
    if (!may_be_one_sided_axis || info->minimum < 0 || info->maximum <= info->minimum) {
        return false;
    }
    double share = ((double)info->value - info->minimum) / ((double)info->maximum - info->minimum);
    *is_axis_inverted = share >= 0.9;
    return share <= 0.1 || share >= 0.9;
}

/* Whether an axis rests near an end of its range by its calibration. */
static bool is_one_sided_by_calibration(struct tact_evdev_channel *channel)
{
    const double *span = channel->span;
    double share = (span[1] - span[0]) / (span[2] - span[0]);
    channel->is_axis_inverted = share >= 0.9;
    return share <= 0.1 || share >= 0.9;
}

static void set_axis_kinds_of_channels(const struct libevdev *dev, bool must_guess_axis_kinds,
                                       bool displacement, struct tact_evdev_layout *layout)
{
    for (int i = 0; i < layout->count; i++) {
        struct tact_evdev_channel *channel = &layout->channel[i];
        bool is_axis_inverted = false;
        if (channel->type == EV_KEY) {
            channel->kind = TACT_EVDEV_BUTTON;
        } else if (channel->type == EV_REL) {
            channel->kind =
                displacement ? TACT_EVDEV_RELATIVE_DISPLACEMENT : TACT_EVDEV_RELATIVE_INCREMENT;
        } else if (must_guess_axis_kinds && channel->is_axis_calibrated) {
            channel->kind = is_one_sided_by_calibration(channel) ? TACT_EVDEV_ONE_SIDED_AXIS
                                                                 : TACT_EVDEV_CENTRED_AXIS;
        } else if (must_guess_axis_kinds &&
                   is_one_sided_by_default(dev, channel->code, &is_axis_inverted)) {
            channel->kind = TACT_EVDEV_ONE_SIDED_AXIS;
            channel->is_axis_inverted = is_axis_inverted;
        } else {
            channel->kind = TACT_EVDEV_CENTRED_AXIS;
        }
    }
}

/* Marks the axes that the setting `key` lists as one-sided, or as inverted. */
static int mark_listed_axes_one_sided_or_inverted(const struct tact_device_config *config,
                                                  const char *key, bool is_axis_one_sided,
                                                  struct tact_evdev_layout *layout,
                                                  struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    const char *text = NULL;
    char word[TACT_DEVICE_NAME];
    int rc = tact_settings_text(config, key, &text, err);
    if (rc || !text) {
        return rc;
    }
    for (int i = 0; i < layout->count && !is_axis_one_sided; i++) {
        layout->channel[i].is_axis_inverted = false;
    }
    while (tact_settings_word(&text, word, sizeof word)) {
        int i = 0;
        while (i < layout->count && !does_channel_name_denote_code(word, layout->channel[i].type,
                                                                   layout->channel[i].code)) {
            i++;
        }
        if (i == layout->count || layout->channel[i].type == EV_KEY ||
            (is_axis_one_sided && layout->channel[i].type != EV_ABS)) {
            return tact_settings_fault(config, setting, err, "no %s channel '%s'",
                                       is_axis_one_sided ? "absolute" : "axis", word);
        }
        if (is_axis_one_sided) {
            layout->channel[i].kind = TACT_EVDEV_ONE_SIDED_AXIS;
        } else {
            layout->channel[i].is_axis_inverted = true;
        }
    }
    return 0;
}

/* Whether the device has an axis of that name, which need not be a channel: a calibration lists all
 * axes. */
static bool has_device_axis_of_name(const struct libevdev *dev, const char *word)
{
    unsigned int type;
    unsigned int code;
    for (int i = 0; i < ABS_CNT + REL_CNT; i++) {
        if (nth_code_of_device(dev, i, &type, &code) &&
            does_channel_name_denote_code(word, type, code)) {
            return true;
        }
    }
    return false;
}

/* Reads the setting "axis.abs_x": [lowest, at rest, highest, half the width of rest]. */
static int read_axis_settings(const struct tact_device_config *config, const struct libevdev *dev,
                              struct tact_evdev_layout *layout, struct tact_error *err)
{
    for (int i = 0; i < config->setting_count; i++) {
        const struct tact_device_setting *setting = &config->settings[i];
        const double *v = setting->numbers;
        if (strncmp(setting->key, "axis.", 5) != 0) {
            continue;
        }
        if (!has_device_axis_of_name(dev, setting->key + 5)) {
            return tact_settings_fault(config, setting, err, "'%s' has no axis '%s'",
                                       libevdev_get_name(dev), setting->key + 5);
        }
        if (!v || setting->rows * setting->columns != 4 || !(v[0] <= v[1] && v[1] <= v[2]) ||
            !(v[0] < v[2]) || !(v[3] >= 0.0 && v[3] < v[2] - v[0])) {
            return tact_settings_fault(config, setting, err,
                                       "expected [lowest, at rest, highest, half the width of "
                                       "rest] in counts");
        }
        for (int k = 0; k < layout->count; k++) {
            struct tact_evdev_channel *c = &layout->channel[k];
            if (c->type != EV_KEY &&
                does_channel_name_denote_code(setting->key + 5, c->type, c->code)) {
                c->is_axis_calibrated = true;
                memcpy(c->span, v, sizeof c->span);
            }
        }
    }
    return 0;
}

static int check_channel_name(const struct tact_device_config *config, const struct libevdev *dev,
                              struct tact_error *err)
{
    const char *name = NULL;
    int rc = tact_settings_text(config, "calibrated_for", &name, err);
    if (!rc && name && strcmp(name, libevdev_get_name(dev)) != 0) {
        rc = tact_settings_fault(
            config, tact_settings_find(config, "calibrated_for"), err,
            "the calibration was made for '%s', this device is '%s': measure it by tact calibrate",
            name, libevdev_get_name(dev));
    }
    return rc;
}

static int read_axis_number_settings(const struct tact_device_config *config,
                                     struct tact_evdev_layout *layout, struct tact_error *err)
{
    layout->dead_zone_fraction_of_range = -1.0;
    layout->relative_axis_range = 350.0;
    int rc = tact_settings_positive(config, "relative_range", &layout->relative_axis_range, err);
    rc = rc ? rc
            : tact_settings_number(config, "deadzone", &layout->dead_zone_fraction_of_range, err);
    const struct tact_device_setting *dead_zone_setting = tact_settings_find(config, "deadzone");
    if (rc == 0 && dead_zone_setting &&
        !(layout->dead_zone_fraction_of_range >= 0.0 &&
          layout->dead_zone_fraction_of_range <= 0.9)) {
        rc = tact_settings_fault(config, dead_zone_setting, err, "expected 0 .. 0.9, not %g",
                                 layout->dead_zone_fraction_of_range);
    }
    return rc;
}

int tact_evdev_choose_channels(const struct tact_device_config *config, const struct libevdev *dev,
                               struct tact_evdev_layout *layout, struct tact_error *err)
{
    static const char *const words[] = {"increment", "displacement"};
    const char *text = NULL;
    int displacement = libevdev_has_event_code(dev, EV_REL, REL_RX) ||
                       libevdev_has_event_code(dev, EV_REL, REL_RY) ||
                       libevdev_has_event_code(dev, EV_REL, REL_RZ);
    memset(layout, 0, sizeof *layout);
    int rc = tact_settings_text(config, "channels", &text, err);
    rc = rc ? rc : tact_settings_choice(config, "relative", words, 2, &displacement, err);
    rc = rc ? rc : read_axis_number_settings(config, layout, err);
    if (rc) {
        return rc;
    }
    if (text) {
        rc = choose_named_channels(config, dev, text, layout, err);
    } else {
        choose_default_channels(config, dev, layout);
    }
    rc = rc ? rc : check_channel_name(config, dev, err);
    rc = rc ? rc : read_axis_settings(config, dev, layout, err);
    rc = rc ? rc : tact_settings_flag(config, "raw", &layout->raw, err);
    set_axis_kinds_of_channels(dev, !tact_settings_find(config, "unsigned"), displacement, layout);
    rc = rc ? rc : mark_listed_axes_one_sided_or_inverted(config, "unsigned", true, layout, err);
    rc = rc ? rc : mark_listed_axes_one_sided_or_inverted(config, "inverted", false, layout, err);
    if (rc == 0 && layout->count == 0) {
        rc = tact_settings_fault(config, NULL, err, "'%s' has neither axes nor buttons",
                                 libevdev_get_name(dev));
    }
    return rc;
}

/* Rest position of a centred axis. A range such as -32768 .. 32767 is taken to rest at 0. */
static double rest_position_of_range(const struct tact_evdev_range *range)
{
    double sum = range->low + range->high;
    return fabs(sum) <= 1.0 ? 0.0 : 0.5 * sum;
}

/* A one-sided axis begins at its rest position; its far end, and both of a centred one, are the
 * measured extremes. */
static void set_channel_range_from_calibration(const struct tact_evdev_channel *channel,
                                               struct tact_evdev_range *range)
{
    bool is_axis_one_sided = channel->kind == TACT_EVDEV_ONE_SIDED_AXIS;
    range->rest = channel->span[1];
    range->low = is_axis_one_sided && !channel->is_axis_inverted ? range->rest : channel->span[0];
    range->high = is_axis_one_sided && channel->is_axis_inverted ? range->rest : channel->span[2];
}

bool tact_evdev_compute_channel_ranges(const struct tact_evdev_layout *layout,
                                       struct tact_evdev_source *source)
{
    for (int i = 0; i < layout->count; i++) {
        const struct tact_evdev_channel *channel = &layout->channel[i];
        struct tact_evdev_range *range = &source->range[i];
        if (!libevdev_has_event_code(source->dev, channel->type, channel->code)) {
            return false;
        }
        double flat = 0.0;
        range->low = -layout->relative_axis_range;
        range->high = layout->relative_axis_range;
        if (channel->type == EV_ABS) {
            const struct input_absinfo *info = libevdev_get_abs_info(source->dev, channel->code);
            range->low = info->minimum;
            range->high = info->maximum;
            flat = info->flat;
        }
        range->rest = rest_position_of_range(range);
        range->raw = layout->raw;
        if (channel->is_axis_calibrated) {
            set_channel_range_from_calibration(channel, range);
            flat = channel->span[3];
        }
        double way = range->high - range->low;
        if (channel->kind != TACT_EVDEV_ONE_SIDED_AXIS) {
            way = fmin(range->high - range->rest, range->rest - range->low);
        }
        range->dead_zone_half_width_raw = layout->dead_zone_fraction_of_range >= 0.0
                                              ? layout->dead_zone_fraction_of_range * way
                                              : flat;
        if (!(range->dead_zone_half_width_raw >= 0.0 && range->dead_zone_half_width_raw < way)) {
            /* a dead zone as wide as the axis would remove its whole range */
            range->dead_zone_half_width_raw = 0.0;
        }
    }
    return true;
}

double tact_evdev_scaled_value(const struct tact_evdev_channel *channel,
                               const struct tact_evdev_range *range, int raw)
{
    if (channel->kind == TACT_EVDEV_BUTTON) {
        return raw != 0 ? 1.0 : 0.0;
    }
    double sign = channel->is_axis_inverted ? -1.0 : 1.0;
    if (range->raw) {
        return raw;
    }
    if (channel->kind == TACT_EVDEV_RELATIVE_INCREMENT) {
        return sign * raw;
    }
    double off; /* distance of the raw value from rest */
    double way; /* distance from rest to the end of the range in the direction of the value */
    if (channel->kind == TACT_EVDEV_ONE_SIDED_AXIS) {
        off = channel->is_axis_inverted ? range->high - raw : raw - range->low;
        way = range->high - range->low;
        sign = 1.0;
    } else {
        double rest = range->rest;
        off = fabs(raw - rest);
        way = raw < rest ? rest - range->low : range->high - rest;
        sign = raw < rest ? -sign : sign;
    }
    if (!(off > range->dead_zone_half_width_raw)) {
        return 0.0;
    }
    return off >= way ? sign
                      : sign * (off - range->dead_zone_half_width_raw) /
                            (way - range->dead_zone_half_width_raw);
}
