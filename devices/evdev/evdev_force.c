/* The force feedback of an evdev device. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "devices/evdev/evdev_internal.h"
#include "devices/common/settings.h"

/* Lists the effects of a device, for messages. */
static void list_effect_names(const unsigned char *bits, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (int type = FF_RUMBLE; type <= FF_RAMP; type++) {
        if (used < size && tact_force_supports_effect(bits, type)) {
            int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                             tact_force_type_name(type));
            used += n > 0 ? (size_t)n : 0;
        }
    }
}

/* Reads the names of the outputs; returns a bit mask. */
static int read_force_output_names_setting(const struct tact_device_config *config,
                                           struct tact_evdev_force_feedback *force,
                                           uint32_t *requested_outputs, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, "forces");
    const char *text = NULL;
    char word[TACT_DEVICE_NAME];
    int rc = tact_settings_text(config, "forces", &text, err);
    while (!rc && text && tact_settings_word(&text, word, sizeof word)) {
        int i = 0;
        while (i < TACT_FORCE_CHANNELS && strcmp(word, tact_force_output_name(i)) != 0) {
            i++;
        }
        if (i == TACT_FORCE_CHANNELS) {
            return tact_settings_fault(config, setting, err,
                                       "'%s' is none of force_x, force_y, spring, spring_center, "
                                       "damper, friction, inertia, vibration, strong, weak",
                                       word);
        }
        if (*requested_outputs >> i & 1U) {
            return tact_settings_fault(config, setting, err, "'%s' given twice", word);
        }
        *requested_outputs |= 1U << i;
        force->channel[force->count++] = i;
    }
    if (!rc && (*requested_outputs >> TACT_FORCE_SPRING_CENTER & 1U) &&
        !(*requested_outputs >> TACT_FORCE_SPRING & 1U)) {
        rc = tact_settings_fault(config, setting, err,
                                 "the output 'spring_center' cannot be listed without 'spring'");
    }
    return rc;
}

static int read_force_number_settings(const struct tact_device_config *config,
                                      struct tact_evdev_force_feedback *force,
                                      struct tact_error *err)
{
    double gain = 1.0;
    double rate = 250.0;
    double vibration_frequency = 60.0;
    double guard_timeout_seconds = tact_guard_default_timeout(config->period);
    force->is_guard_run_as_process = true;
    int rc = tact_settings_positive(config, "gain", &gain, err);
    rc = rc ? rc : tact_settings_positive(config, "rate", &rate, err);
    rc = rc ? rc : tact_settings_positive(config, "frequency", &vibration_frequency, err);
    rc = rc ? rc : tact_settings_flag(config, "guard", &force->is_guard_run_as_process, err);
    rc = rc ? rc : tact_settings_positive(config, "guard_timeout", &guard_timeout_seconds, err);
    if (!rc && gain > 1.0) {
        rc = tact_settings_fault(config, tact_settings_find(config, "gain"), err,
                                 "expected a gain of 0 to 1, not %g", gain);
    }
    if (!rc && !(rate >= 1.0 && rate <= 1000.0)) {
        rc = tact_settings_fault(config, tact_settings_find(config, "rate"), err,
                                 "expected 1 .. 1000 Hz, not %g", rate);
    }
    if (!rc && !(vibration_frequency >= 1.0 && vibration_frequency <= 1000.0)) {
        rc = tact_settings_fault(config, tact_settings_find(config, "frequency"), err,
                                 "expected 1 .. 1000 Hz, not %g", vibration_frequency);
    }
    force->rendering_plan.gain = (uint16_t)lrint(fmin(gain, 1.0) * 0xffff);
    force->rendering_plan.wave_period_ms = (uint16_t)lrint(fmax(1000.0 / vibration_frequency, 1.0));
    force->period_ns = (int64_t)(1e9 / rate);
    force->guard_arming.timeout_ns = (int64_t)(fmin(guard_timeout_seconds, 3600.0) * 1e9);
    return rc;
}

/* Reports how the outputs are rendered: "force_x as constant". */
static void report_force_rendering(const struct tact_device_config *config,
                                   const struct tact_evdev_force_feedback *force)
{
    char text[400] = "";
    size_t used = 0;
    for (int i = 0; i < force->count && used < sizeof text; i++) {
        int channel = force->channel[i];
        int n = snprintf(
            text + used, sizeof text - used, "%s%s as %s", i ? ", " : "",
            tact_force_output_name(channel),
            tact_force_type_name(force->rendering_plan.type[force->rendering_plan.slot[channel]]));
        used += n > 0 ? (size_t)n : 0;
    }
    tact_message(config->messages, TACT_MESSAGE_INFO, "%s: forces: %s; at most %g times a second",
                 config->name, text, 1e9 / (double)force->period_ns);
}

int tact_evdev_force_read_settings(const struct tact_device_config *config,
                                   struct tact_evdev_force_feedback *force, struct tact_error *err)
{
    uint32_t requested_outputs = 0;
    int rc = read_force_output_names_setting(config, force, &requested_outputs, err);
    return rc ? rc : read_force_number_settings(config, force, err);
}

int tact_evdev_force_open(const struct tact_device_config *config,
                          const struct tact_evdev_source *source,
                          struct tact_evdev_force_feedback *force, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, "forces");
    unsigned char bits[FF_CNT / 8] = {0};
    uint32_t requested_outputs = 0;
    int rc = read_force_output_names_setting(config, force, &requested_outputs, err);
    rc = rc ? rc : read_force_number_settings(config, force, err);
    if (rc || !force->count) {
        return rc;
    }
    for (unsigned int code = 0; code < FF_CNT; code++) {
        if (libevdev_has_event_code(source->dev, EV_FF, code)) {
            bits[code / 8] |= (unsigned char)(1U << (code % 8));
        }
    }
    int first_unrenderable_output =
        tact_force_choose_effects(bits, requested_outputs, &force->rendering_plan);
    if (first_unrenderable_output >= 0) {
        char has[120];
        list_effect_names(bits, has, sizeof has);
        return tact_settings_fault(config, setting, err, "'%s' cannot render %s; its effects: %s",
                                   libevdev_get_name(source->dev),
                                   tact_force_output_name(first_unrenderable_output), has);
    }
    const struct tact_guard_force_options options = {.path = source->path,
                                                     .plan = &force->rendering_plan,
                                                     .timeout_ns = force->guard_arming.timeout_ns,
                                                     .period_ns = force->period_ns,
                                                     .thread = !force->is_guard_run_as_process};
    struct tact_error why = {0};
    struct tact_guard *guard = NULL;
    rc = tact_guard_start_force_guard(&options, &guard, &why);
    if (rc) {
        tact_settings_fault(config, setting, err, "%s%s", why.text,
                            rc == -EACCES ? " (tact devices shows how to get access)" : "");
        return rc;
    }
    tact_guard_arming_start(&force->guard_arming, guard, options.timeout_ns, config->period);
    report_force_rendering(config, force);
    return 0;
}

int tact_evdev_force_device_state(struct tact_evdev_force_feedback *force, int64_t now_ns,
                                  double *age)
{
    bool was_guard_rearmed;
    int64_t last_played_stamp_ns = tact_guard_last_played_stamp(force->guard_arming.guard);
    *age = last_played_stamp_ns ? (double)(now_ns - last_played_stamp_ns) * 1e-9 : 0.0;
    /* while inhibited, the forces are not felt; the axes are unaffected */
    return tact_guard_arming_read_state(&force->guard_arming, &was_guard_rearmed) ==
                   TACT_DEVICE_LOST
               ? TACT_DEVICE_LOST
               : TACT_DEVICE_OK;
}

void tact_evdev_force_write(struct tact_evdev_force_feedback *force, const double *out,
                            int64_t now_ns)
{
    double level[TACT_FORCE_CHANNELS] = {0};
    for (int i = 0; i < force->count; i++) {
        level[force->channel[i]] = force->guard_arming.has_guard_ended ? 0.0 : out[i];
    }
    tact_guard_arming_update(&force->guard_arming, out, force->count);
    tact_guard_send_force_levels(force->guard_arming.guard, level, now_ns);
}

void tact_evdev_force_report(struct tact_evdev_force_feedback *force, const char *name,
                             struct tact_messages messages)
{
    int64_t slowest_upload_ns;
    int effect_upload_error;
    if (!force->count) {
        return;
    }
    tact_guard_get_effect_upload_count(force->guard_arming.guard, &slowest_upload_ns,
                                       &effect_upload_error);
    if (effect_upload_error) {
        tact_message(messages, TACT_MESSAGE_WARNING,
                     "%s: the device's driver refused a force effect: %s", name,
                     strerror(-effect_upload_error));
    }
    tact_guard_arming_report(&force->guard_arming, name, messages);
}

void tact_evdev_force_close(struct tact_evdev_force_feedback *force, const char *name,
                            struct tact_messages messages)
{
    int64_t slowest_upload_ns;
    int effect_upload_error;
    if (!force->count) {
        return;
    }
    uint64_t effect_upload_count = tact_guard_get_effect_upload_count(
        force->guard_arming.guard, &slowest_upload_ns, &effect_upload_error);
    tact_message(messages, TACT_MESSAGE_INFO,
                 "%s: %llu force commands sent to the device, the slowest of which took %.1f ms",
                 name, (unsigned long long)effect_upload_count, (double)slowest_upload_ns / 1e6);
    tact_guard_arming_report_gaps(&force->guard_arming, name, messages);
    if (tact_guard_stop(force->guard_arming.guard)) {
        tact_message(messages, TACT_MESSAGE_WARNING,
                     "%s: the driver did not stop a force effect within a second", name);
    }
}
