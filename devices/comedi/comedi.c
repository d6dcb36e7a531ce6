#include "devices/comedi/comedi.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/comedi/comedi_state_internal.h"
#include "devices/common/settings.h"
#include "rt/clock.h"

/* [s] time over which outputs return to their values after a fault */
static const double output_return_time_after_fault = 0.2;

static int read_tick_count_setting(const struct tact_device_config *config, const char *key,
                                   uint32_t least, uint32_t *value, struct tact_error *err)
{
    double tick_limit_setting = *value;
    int rc = tact_settings_number(config, key, &tick_limit_setting, err);
    if (!rc && (tick_limit_setting < least || tick_limit_setting > 1e9 ||
                tick_limit_setting != floor(tick_limit_setting))) {
        rc = tact_settings_fault(config, tact_settings_find(config, key), err,
                                 "expected a whole number of ticks, %u to 1e9", least);
    }
    *value = rc ? *value : (uint32_t)tick_limit_setting;
    return rc;
}

static int read_comedi_device_settings(struct tact_comedi_device *self,
                                       const struct tact_device_config *config,
                                       struct tact_error *err)
{
    static const char *const keys[] = {
        "board",        "inputs",      "outputs",        "reference",   "input_range",
        "output_range", "input_map",   "output_map",     "input_units", "output_units",
        "limits",       "calibration", "guard",          "timeout",     "saturated",
        "stuck",        "recover",     "wrenches[",      "stream",      "stream_timeout",
        "maps.",        "bias.",       "calibrated_for", "recording"};
    const char *path = "/dev/comedi0";
    double fault_recovery_time = 0.1;
    double guard_timeout = tact_guard_default_timeout(config->period);
    self->saturated_tick_limit = 3;
    self->has_output_guard = true;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, err);
    rc = rc ? rc : tact_settings_text(config, "board", &path, err);
    rc =
        rc ? rc : read_tick_count_setting(config, "saturated", 1, &self->saturated_tick_limit, err);
    rc = rc ? rc : read_tick_count_setting(config, "stuck", 0, &self->stuck_tick_limit, err);
    rc = rc ? rc : tact_settings_positive(config, "recover", &fault_recovery_time, err);
    rc = rc ? rc : tact_settings_flag(config, "guard", &self->has_output_guard, err);
    rc = rc ? rc : tact_settings_positive(config, "timeout", &guard_timeout, err);
    if (!rc && strlen(path) >= sizeof self->layout.path) {
        rc = tact_settings_fault(config, tact_settings_find(config, "board"), err,
                                 "longer than %zu characters", sizeof self->layout.path - 1);
    }
    if (!rc) {
        snprintf(self->layout.path, sizeof self->layout.path, "%s", path);
        double n = ceil(fault_recovery_time / config->period);
        self->fault_recovery_ticks = n < 1e9 ? (uint32_t)n : 1000000000U;
        self->output_ramp_increase_per_tick = config->period / output_return_time_after_fault;
        self->timeout_ns = (int64_t)(fmin(guard_timeout, 3600.0) * 1e9);
    }
    return rc;
}

/* Reports why there is no board. */
static int report_missing_board(const struct tact_device_config *config, const char *path,
                                int error, struct tact_error *err)
{
    const char *fix = error == EACCES   ? " (tact devices shows how to get access)"
                      : error == ENOENT ? " (is the kernel driver of the board loaded?)"
                      : error == ENODEV ? " (no board is attached; boards that the kernel does not "
                                          "find by itself: comedi_config)"
                                        : "";
    tact_settings_fault(config, tact_settings_find(config, "board"), err,
                        "cannot open %s as a comedi board: %s%s", path, strerror(error), fix);
    return error ? -error : -ENODEV;
}

/* Chooses the board's channels by the settings. */
static int choose_channels_of_board(struct tact_comedi_device *self,
                                    const struct tact_device_config *config,
                                    const struct tact_comedi_board_or_recording *board_or_recording,
                                    struct tact_error *err)
{
    int rc = tact_comedi_choose_channels(config, board_or_recording, &self->layout, err);
    rc = rc ? rc
            : tact_comedi_stream_read_settings(config, board_or_recording->dev, &self->layout, err);
    rc = rc ? rc : tact_comedi_read_wrench_settings(config, &self->layout, err);
    if (!rc && tact_comedi_assemble_instructions(&self->layout)) {
        rc = tact_settings_fault(config, NULL, err, "more than %d instructions",
                                 TACT_COMEDI_MAX_INSTRUCTIONS);
    }
    return rc;
}

/* Opens a recording in place of a board. */
static int find_board_recording(struct tact_comedi_device *self,
                                const struct tact_device_config *config, const char *path,
                                struct tact_error *err)
{
    self->playback = calloc(1, sizeof *self->playback);
    if (!self->playback) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    const struct tact_comedi_board_or_recording board_or_recording = {
        .playback = self->playback,
        .driver = self->playback->driver,
        .board = self->playback->board};
    int rc = tact_comedi_playback_open(path, self->playback, err);
    self->has_output_guard = false;
    snprintf(self->layout.path, sizeof self->layout.path, "%.255s", path);
    return rc ? rc : choose_channels_of_board(self, config, &board_or_recording, err);
}

/* Opens the board (twice: to examine it, and for use), or the recording of one. */
static int open_card_or_capture_file(struct tact_comedi_device *self,
                                     const struct tact_device_config *config,
                                     struct tact_error *err)
{
    char recording_file_path[1024] = "";
    int rc = read_comedi_device_settings(self, config, err);
    rc = rc ? rc
            : tact_settings_path(config, "recording", recording_file_path,
                                 sizeof recording_file_path, err);
    if (rc || recording_file_path[0]) {
        return rc ? rc : find_board_recording(self, config, recording_file_path, err);
    }
    errno = 0;
    comedi_t *dev = comedi_open(self->layout.path);
    if (!dev) {
        return report_missing_board(config, self->layout.path, errno, err);
    }
    const struct tact_comedi_board_or_recording board_or_recording = {
        .dev = dev, .driver = comedi_get_driver_name(dev), .board = comedi_get_board_name(dev)};
    rc = choose_channels_of_board(self, config, &board_or_recording, err);
    rc = rc ? rc : tact_comedi_capture_open(&self->capture, config, dev, &self->layout, err);
    comedi_close(dev);
    if (rc) {
        return rc;
    }
    self->has_output_guard = self->has_output_guard && self->layout.output_instruction_count > 0;
    self->active_board = tact_comedi_board_open(&self->layout, !self->has_output_guard, &rc);
    if (!self->active_board) {
        tact_settings_fault(config, tact_settings_find(config, "outputs"), err,
                            "cannot claim %s: %s%s", self->layout.path, strerror(-rc),
                            rc == -EBUSY ? " (another process has locked the outputs)" : "");
    }
    return rc;
}

static int start_output_guard(struct tact_comedi_device *self,
                              const struct tact_device_config *config, struct tact_error *err)
{
    struct tact_guard_output outputs[TACT_COMEDI_MAX_INSTRUCTIONS];
    const struct tact_guard_options options = {.board = self->layout.path,
                                               .driver = self->layout.driver,
                                               .name = self->layout.board,
                                               .outputs = outputs,
                                               .output_count =
                                                   self->layout.output_instruction_count,
                                               .timeout_ns = self->timeout_ns};
    struct tact_error why = {0};
    if (!self->has_output_guard) {
        return 0;
    }
    for (int i = 0; i < self->layout.output_instruction_count; i++) {
        const struct tact_comedi_instruction *op = &self->layout.out[i];
        outputs[i] =
            (struct tact_guard_output){op->insn,     op->words,   op->subdevice,
                                       op->chanspec, op->maxdata, {op->safe[0], op->safe[1]}};
    }
    struct tact_guard *guard = NULL;
    int rc = tact_guard_start(&options, &guard, &why);
    if (rc) {
        tact_settings_fault(config, tact_settings_find(config, "outputs"), err, "%s", why.text);
        return rc;
    }
    tact_guard_arming_start(&self->guard_arming, guard, self->timeout_ns, config->period);
    return 0;
}

static int start_input_stream(struct tact_comedi_device *self,
                              const struct tact_device_config *config, struct tact_error *err)
{
    struct tact_error why = {.line = 0};
    double rate = 0.0;
    if (!(self->layout.stream_scan_rate > 0.0) || self->playback) {
        return 0;
    }
    int rc = tact_comedi_stream_start(&self->layout, &self->stream, &rate, &why);
    if (rc) {
        tact_settings_fault(config, tact_settings_find(config, "stream"), err, "%s", why.text);
        return rc;
    }
    tact_message(self->messages, TACT_MESSAGE_INFO,
                 "%s: the board samples %d analog inputs at %g Hz in a stream", self->name,
                 self->layout.streamed_input_count, rate);
    return 0;
}

static void describe_channels_of_comedi_device(struct tact_comedi_device *self,
                                               const struct tact_device_config *config,
                                               struct tact_device_info *info)
{
    tact_settings_info(config, tact_comedi_type.name, info);
    snprintf(info->model, sizeof info->model, "%s", self->layout.board);
    info->input_count = tact_comedi_input_count(&self->layout);
    info->output_count = self->layout.output_count;
    for (int i = 0; i < self->layout.input_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.input[i];
        tact_settings_channel(&info->input[i], channel->name, channel->unit, self->value[i]);
        info->input[i].raw = channel->kind == TACT_COMEDI_ANALOG && !channel->has_scaling_map;
    }
    for (int i = 0; i < self->layout.wrench_count; i++) {
        tact_wrench_describe_channels(&self->layout.wrench[i],
                                      self->layout.input_count + i * TACT_WRENCH_CHANNELS, info);
    }
    if (self->layout.stream_scan_rate > 0.0) {
        tact_settings_channel(&info->input[info->input_count - 2], "stream_age", "s", 0.0);
        tact_settings_channel(&info->input[info->input_count - 1], "stream_lost", "1", 0.0);
    }
    for (int i = 0; i < info->output_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.output[i];
        tact_settings_channel(&info->output[i], channel->name, channel->unit, 0.0);
    }
    tact_message(self->messages, TACT_MESSAGE_INFO,
                 "%s: %s at %s (driver %s): %d inputs, %d outputs", self->name, self->layout.board,
                 self->layout.path, self->layout.driver, info->input_count, info->output_count);
}

static int start_comedi_device(const struct tact_device_config *config, struct tact_device *out,
                               struct tact_error *err)
{
    struct tact_comedi_device *self = calloc(1, sizeof *self);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    snprintf(self->name, sizeof self->name, "%s", config->name);
    self->messages = config->messages;
    int rc = open_card_or_capture_file(self, config, err);
    rc = rc ? rc : start_input_stream(self, config, err);
    rc = rc ? rc : tact_comedi_measure_gauge_bias(self, config->period, err);
    rc = rc ? rc : start_output_guard(self, config, err);
    if (rc == 0) {
        rc = tact_comedi_start_monitor(self);
        if (rc) {
            tact_error_set(err, rc, "cannot start a thread: %s", strerror(-rc));
        }
    }
    if (rc) {
        tact_guard_stop(self->guard_arming.guard);
        tact_comedi_board_free(self->active_board);
        tact_comedi_stream_stop(self->stream);
        tact_comedi_capture_close(&self->capture, self->name, self->messages);
        tact_comedi_playback_close(self->playback);
        free(self);
        return rc;
    }
    self->ticks_without_fault = self->fault_recovery_ticks;
    self->output_ramp_factor = 1.0;
    tact_comedi_init_inputs(self);
    describe_channels_of_comedi_device(self, config, &out->info);
    out->ops = self->playback ? &tact_comedi_playback_ops : &tact_comedi_ops;
    out->self = self;
    return 0;
}

const struct tact_device_type tact_comedi_type = {
    TACT_ABI(struct tact_device_type), "comedi",
    "measurement cards: analog, digital and counter channels", start_comedi_device, NULL};
