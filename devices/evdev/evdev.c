#include "devices/evdev/evdev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/evdev/evdev_state_internal.h"
#include "devices/common/settings.h"
#include "rt/clock.h"

enum { POLL_NS = 50000000 }; /* [ns] polling interval of the monitor thread */

static int read_device_selector(const struct tact_device_config *config,
                                struct tact_evdev_selector *selector, struct tact_error *err)
{
    static const char *const keys[] = {"path", "match", "serial", "phys"};
    char *const to[] = {selector->path, selector->name_to_match, selector->serial, selector->phys};
    const size_t size[] = {sizeof selector->path, sizeof selector->name_to_match,
                           sizeof selector->serial, sizeof selector->phys};
    int selection_criterion_count = 0;
    for (int i = 0; i < 4; i++) {
        const char *text = NULL;
        int rc = tact_settings_text(config, keys[i], &text, err);
        if (rc) {
            return rc;
        }
        if (text && strlen(text) >= size[i]) {
            return tact_settings_fault(config, tact_settings_find(config, keys[i]), err,
                                       "longer than %zu characters", size[i] - 1);
        }
        snprintf(to[i], size[i], "%s", text ? text : "");
        selection_criterion_count += text != NULL;
    }
    return selection_criterion_count
               ? 0
               : tact_settings_fault(
                     config, NULL, err,
                     "no input device is selected: set path, match, serial or phys");
}

/* Reports why no device was found. */
static int report_device_not_found(const struct tact_device_config *config,
                                   const struct tact_evdev_selector *selector,
                                   const struct tact_evdev_device_search *search,
                                   struct tact_error *err)
{
    const char *key = selector->path[0]            ? "path"
                      : selector->name_to_match[0] ? "match"
                      : selector->serial[0]        ? "serial"
                                                   : "phys";
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    bool refused = search->refused > 0;
    if (selector->path[0] && search->readable_device_count == 0) {
        tact_settings_fault(config, setting, err, "cannot open %s as an input device: %s%s",
                            selector->path, strerror(-search->error),
                            refused ? " (tact devices shows how to get access)" : "");
        return search->error ? search->error : -ENODEV;
    }
    if (refused) {
        tact_settings_fault(config, setting, err,
                            "no such input device among %d that can be read; %d are closed (tact "
                            "devices lists what opens them)",
                            search->readable_device_count, search->refused);
    } else {
        tact_settings_fault(config, setting, err,
                            "no such input device among %d that can be read (tact devices lists "
                            "them)",
                            search->readable_device_count);
    }
    return refused && search->readable_device_count == 0 ? -EACCES : -ENODEV;
}

static void map_codes_to_channels(struct tact_evdev_device *self)
{
    memset(self->channel_of_absolute_axis_code, TACT_EVDEV_NONE,
           sizeof self->channel_of_absolute_axis_code);
    memset(self->channel_of_relative_axis_code, TACT_EVDEV_NONE,
           sizeof self->channel_of_relative_axis_code);
    memset(self->channel_of_key_code, TACT_EVDEV_NONE, sizeof self->channel_of_key_code);
    for (int i = 0; i < self->layout.count; i++) {
        const struct tact_evdev_channel *channel = &self->layout.channel[i];
        uint8_t *channel_index_of_code =
            channel->type == EV_ABS   ? self->channel_of_absolute_axis_code
            : channel->type == EV_REL ? self->channel_of_relative_axis_code
                                      : self->channel_of_key_code;
        channel_index_of_code[channel->code] = (uint8_t)i;
    }
}

static void report_found_input_device(const struct tact_evdev_device *self,
                                      const struct tact_evdev_device_search *search)
{
    char axes[512] = "";
    size_t used = 0;
    int button_count = 0;
    for (int i = 0; i < self->layout.count; i++) {
        static const char *const spans[] = {"-1..1", "0..1", "-1..1 displacement", "counts"};
        const struct tact_evdev_channel *channel = &self->layout.channel[i];
        if (channel->kind == TACT_EVDEV_BUTTON) {
            button_count++;
        } else if (used < sizeof axes) {
            int n = snprintf(axes + used, sizeof axes - used, "%s%s %s%s", used ? ", " : "",
                             channel->name, spans[channel->kind],
                             channel->is_axis_inverted ? " inverted" : "");
            used += n > 0 ? (size_t)n : 0;
        }
    }
    tact_message(self->messages, TACT_MESSAGE_INFO, "%s: '%s' at %s: %s%s%d buttons", self->name,
                 self->selector.name, self->active_source->path, axes, used ? "; " : "",
                 button_count);
    if (search->matching_device_count > 1) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: %d input devices match; this one is used", self->name,
                     search->matching_device_count);
    }
    if (self->playback && self->playback->axes_without_start_position[0]) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: %s does not state the initial position of these axes, which are taken as "
                     "centred until they move: %s",
                     self->name, self->active_source->path,
                     self->playback->axes_without_start_position);
    }
    if (!self->active_source->is_clock_monotonic) {
        tact_message(
            self->messages, TACT_MESSAGE_WARNING,
            "%s: %s has no CLOCK_MONOTONIC time stamps: values are stamped when they are read",
            self->name, self->active_source->path);
    }
}

static void describe_channels_of_evdev_device(const struct tact_evdev_device *self,
                                              const struct tact_device_config *config,
                                              struct tact_device_info *info)
{
    tact_settings_info(config, tact_evdev_type.name, info);
    snprintf(info->model, sizeof info->model, "%s", self->selector.name);
    info->input_count = self->layout.count;
    for (int i = 0; i < info->input_count; i++) {
        const struct tact_evdev_channel *channel = &self->layout.channel[i];
        tact_settings_channel(&info->input[i], channel->name,
                              channel->kind == TACT_EVDEV_RELATIVE_INCREMENT ? "count" : "1", 0.0);
    }
    if (self->force.count) {
        tact_settings_channel(&info->input[info->input_count++], "force_age", "s", 0.0);
    }
    info->output_count = self->force.count;
    for (int i = 0; i < info->output_count; i++) {
        tact_settings_channel(&info->output[i], tact_force_output_name(self->force.channel[i]), "1",
                              0.0);
    }
}

/* Opens a recording of events in place of a device: its description has no node. */
static int open_event_recording(struct tact_evdev_device *self,
                                const struct tact_device_config *config, struct tact_error *err)
{
    self->playback = calloc(1, sizeof *self->playback);
    self->active_source = calloc(1, sizeof *self->active_source);
    if (!self->playback || !self->active_source) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    self->active_source->fd = -1;
    int rc = tact_settings_path(config, "recording", self->active_source->path,
                                sizeof self->active_source->path, err);
    rc = rc ? rc : tact_evdev_playback_open(self->active_source->path, self->playback, err);
    self->active_source->dev = self->playback->dev;
    self->active_source->is_clock_monotonic = self->playback->is_clock_monotonic;
    return rc;
}

/* Finds and opens the device, or its recording. */
static int open_event_source(struct tact_evdev_device *self,
                             const struct tact_device_config *config,
                             struct tact_evdev_device_search *search, struct tact_error *err)
{
    if (tact_settings_find(config, "recording")) {
        return open_event_recording(self, config, err);
    }
    int rc = read_device_selector(config, &self->selector, err);
    if (rc) {
        return rc;
    }
    self->active_source = tact_evdev_find_device(&self->selector, search);
    return self->active_source ? 0 : report_device_not_found(config, &self->selector, search, err);
}

/* Reads all settings but those of the forces, and chooses the channels. */
static int read_layout_settings(struct tact_evdev_device *self,
                                const struct tact_device_config *config,
                                struct tact_evdev_device_search *search, struct tact_error *err)
{
    static const char *const keys[] = {
        "path",     "match",    "serial",        "phys",    "channels",       "unsigned",
        "inverted", "deadzone", "relative",      "timeout", "relative_range", "forces",
        "gain",     "rate",     "frequency",     "guard",   "guard_timeout",  "recording",
        "axis.",    "raw",      "calibrated_for"};
    double stale_timeout_seconds = 0.04;
    snprintf(self->name, sizeof self->name, "%s", config->name);
    self->messages = config->messages;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, err);
    rc = rc ? rc : tact_settings_positive(config, "timeout", &stale_timeout_seconds, err);
    self->timeout_ns =
        stale_timeout_seconds < 1e9 ? (int64_t)(stale_timeout_seconds * 1e9) : INT64_MAX;
    rc = rc ? rc : open_event_source(self, config, search, err);
    rc = rc ? rc : tact_evdev_choose_channels(config, self->active_source->dev, &self->layout, err);
    if (rc) {
        return rc;
    }
    tact_evdev_compute_channel_ranges(&self->layout, self->active_source);
    tact_evdev_store_identity(&self->selector, self->active_source->dev);
    map_codes_to_channels(self);
    tact_evdev_update_state(self, tact_clock_now());
    self->source_checked_by_monitor = self->active_source;
    report_found_input_device(self, search);
    return 0;
}

/* Starts forces, capture and monitor. */
static int start_evdev_threads(struct tact_evdev_device *self,
                               const struct tact_device_config *config, struct tact_error *err)
{
    if (self->playback) {
        return tact_evdev_force_read_settings(config, &self->force, err);
    }
    int rc = tact_evdev_capture_open(&self->capture, config, self->active_source->dev,
                                     self->active_source->is_clock_monotonic, err);
    rc = rc ? rc : tact_evdev_force_open(config, self->active_source, &self->force, err);
    if (rc) {
        tact_evdev_capture_close(&self->capture, 0, self->name, self->messages);
        return rc;
    }
    rc = tact_monitor_start(&self->monitor, "tact-evdev", POLL_NS, tact_evdev_monitor_device, self);
    if (rc) {
        tact_error_set(err, rc, "cannot start a thread: %s", strerror(-rc));
        tact_evdev_force_close(&self->force, self->name, self->messages);
        tact_evdev_capture_close(&self->capture, 0, self->name, self->messages);
    }
    return rc;
}

static int evdev_open(const struct tact_device_config *config, struct tact_device *out,
                      struct tact_error *err)
{
    struct tact_evdev_device_search search = {.matching_device_count = 0};
    struct tact_evdev_device *self = calloc(1, sizeof *self);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    int rc = read_layout_settings(self, config, &search, err);
    rc = rc ? rc : start_evdev_threads(self, config, err);
    if (rc && self->playback) {
        tact_evdev_playback_ops.close(self);
    } else if (rc) {
        tact_evdev_source_free(self->active_source);
        free(self);
    }
    if (rc) {
        return rc;
    }
    describe_channels_of_evdev_device(self, config, &out->info);
    out->ops = self->playback ? &tact_evdev_playback_ops : &tact_evdev_ops;
    out->self = self;
    return 0;
}

const struct tact_device_type tact_evdev_type = {
    TACT_ABI(struct tact_device_type), "evdev",
    "gamepads, joysticks, wheels, pedals and six-axis pucks, read by Linux's evdev interface",
    evdev_open, NULL};
