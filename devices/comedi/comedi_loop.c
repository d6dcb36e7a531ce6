/* A tick of a card: reads and examines the inputs, writes the outputs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/comedi/comedi_state_internal.h"
#include "rt/clock.h"

/* Hands the lost board over to the monitor thread. */
static void pass_lost_board_to_monitor(struct tact_comedi_device *self)
{
    atomic_store_explicit(&self->lost_board, self->active_board, memory_order_release);
    self->active_board = NULL;
    self->last_write_error = 0;
}

/* Sets digital inputs that cannot be read to 0. */
static void zero_unreadable_digital_inputs(struct tact_comedi_device *self)
{
    for (int i = 0; i < self->layout.input_count; i++) {
        if (self->layout.input[i].kind == TACT_COMEDI_DIGITAL) {
            self->value[i] = 0.0;
        }
    }
}

static void update_counter_value(struct tact_comedi_device *self, int i, lsampl_t raw)
{
    const struct tact_comedi_channel *channel = &self->layout.input[i];
    if (self->has_counter_reference) {
        self->count[i] = tact_comedi_extend_counter(self->count[i], self->last_raw_counter_value[i],
                                                    raw, channel->maxdata);
    }
    self->last_raw_counter_value[i] = raw;
    self->value[i] = tact_comedi_scaled_value(channel, raw, self->count[i]);
}

/* Checks one analog input. Returns whether it is free of faults. */
static bool is_analog_input_free_of_faults(struct tact_comedi_device *self, int i, lsampl_t raw)
{
    const struct tact_comedi_channel *channel = &self->layout.input[i];
    bool is_input_value_usable;
    double value = tact_comedi_scaled_value(channel, raw, 0);
    int fault = tact_comedi_check_analog_reading(&self->analog_input_health[i], channel, raw, value,
                                                 self->saturated_tick_limit, self->stuck_tick_limit,
                                                 &is_input_value_usable);
    if (fault != TACT_COMEDI_READING_GOOD && fault != self->input_fault_of_last_tick[i]) {
        unsigned int before =
            atomic_load_explicit(&self->fault_counts_and_kinds[i], memory_order_relaxed);
        atomic_store_explicit(&self->fault_counts_and_kinds[i],
                              ((before >> 2) + 1) << 2 | (unsigned int)fault, memory_order_relaxed);
    }
    self->input_fault_of_last_tick[i] = fault;
    self->is_analog_input_unreliable[i] =
        !is_input_value_usable || self->analog_input_health[i].saturated > 0;
    if (is_input_value_usable) {
        self->value[i] = value;
    }
    return fault == TACT_COMEDI_READING_GOOD;
}

/* Whether the stream reports that the board is gone: if all inputs are streamed, no call in the
 * tick detects it. */
static bool is_board_gone(const struct tact_comedi_device *self)
{
    return self->stream && tact_comedi_stream_board_is_gone(self->stream);
}

int tact_comedi_read_live_inputs(struct tact_comedi_device *self, int64_t now_ns)
{
    struct tact_comedi_raw_values *raw_tick_values = &self->raw_tick_values;
    const struct tact_comedi_scan *newest_stream_scan = NULL;
    int is_scan_new = 1;
    if (is_board_gone(self)) {
        return -ENODEV;
    }
    if (self->stream) {
        newest_stream_scan = tact_comedi_stream_latest_scan(self->stream, &is_scan_new);
        const int64_t age = tact_clock_now() - newest_stream_scan->stamp_ns;
        raw_tick_values->scan_age_at_tick_start_ns = now_ns - newest_stream_scan->stamp_ns;
        raw_tick_values->scan_age_ns = age > 0 ? age : 0;
        raw_tick_values->stream_restart_count = newest_stream_scan->stream_restart_count;
    }
    raw_tick_values->is_new_scan = is_scan_new != 0;
    int rc = tact_comedi_instruction_list_run(self->active_board->dev, &self->active_board->in);
    for (int i = 0; !rc && i < self->layout.input_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.input[i];
        const lsampl_t *data = self->active_board->in.data[channel->op];
        raw_tick_values->raw[i] = newest_stream_scan && channel->is_input_read_by_stream
                                      ? newest_stream_scan->raw[channel->index_of_input_in_scan]
                                  : channel->kind == TACT_COMEDI_DIGITAL
                                      ? data[1] >> channel->bit & 1U
                                      : data[0];
    }
    return rc;
}

int tact_comedi_read_first_inputs(struct tact_comedi_device *self, int64_t tick)
{
    static const struct tact_comedi_inhibit_reasons none;
    if (self->playback) {
        return tact_comedi_playback_read_row_before_ticks(self->playback, &self->layout, tick,
                                                          &self->raw_tick_values);
    }
    int rc = tact_comedi_read_live_inputs(self, tact_clock_now());
    tact_comedi_capture_record_row(&self->capture, tick, rc, &none, &self->raw_tick_values);
    return rc;
}

/* Sets the inputs stream_age and stream_lost. Returns whether the scan is too old. */
static bool set_stream_age_and_loss_inputs(struct tact_comedi_device *self)
{
    double *stream_input_channel_values =
        self->value + tact_comedi_input_count(&self->layout) - TACT_COMEDI_STREAM_CHANNELS;
    if (!(self->layout.stream_scan_rate > 0.0)) {
        return false;
    }
    stream_input_channel_values[0] = 1e-9 * (double)self->raw_tick_values.scan_age_ns;
    stream_input_channel_values[1] = self->raw_tick_values.stream_restart_count;
    return self->raw_tick_values.scan_age_ns > self->layout.stream_timeout_ns;
}

/* Updates the values of all inputs. Returns whether one has a fault. */
static bool update_input_values(struct tact_comedi_device *self)
{
    bool bad = false;
    for (int i = 0; i < self->layout.input_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.input[i];
        const lsampl_t raw = self->raw_tick_values.raw[i];
        if (channel->kind == TACT_COMEDI_DIGITAL) {
            self->value[i] = (raw != 0) != channel->is_digital_channel_active_low;
        } else if (channel->kind == TACT_COMEDI_COUNTER) {
            update_counter_value(self, i, raw);
        } else if (self->raw_tick_values.is_new_scan) {
            bad = !is_analog_input_free_of_faults(self, i, raw) || bad;
        } else {
            bad = bad || self->input_fault_of_last_tick[i] != TACT_COMEDI_READING_GOOD;
        }
    }
    self->has_counter_reference = true;
    return tact_comedi_compute_wrenches(self) || bad;
}

void tact_comedi_init_inputs(struct tact_comedi_device *self)
{
    if (tact_comedi_read_first_inputs(self, TACT_COMEDI_OPENED) == 0) {
        update_input_values(self);
    }
}

/* Reads the board. @retval 0, or a negative errno: -ENODEV while it is gone */
static int read_board_inputs(struct tact_comedi_device *self, int64_t now_ns)
{
    if (!self->active_board && !is_board_gone(self)) {
        self->active_board =
            atomic_exchange_explicit(&self->reopened_board, NULL, memory_order_acquire);
    }
    int rc = self->active_board ? tact_comedi_read_live_inputs(self, now_ns) : -ENODEV;
    if (self->active_board && rc == -ENODEV) {
        pass_lost_board_to_monitor(self);
    }
    return rc;
}

/* Examines the inputs that were read. Returns whether all are usable. A digital input (button) that
 * cannot be read is 0. */
static bool examine_board_inputs(struct tact_comedi_device *self, int rc, int64_t now_ns)
{
    if (rc == 0) {
        self->stamp_ns = now_ns - self->raw_tick_values.scan_age_at_tick_start_ns;
        bool old = set_stream_age_and_loss_inputs(self);
        return !update_input_values(self) && !old;
    }
    zero_unreadable_digital_inputs(self);
    if (rc == -ENODEV) {
        self->has_counter_reference = false;
    } else {
        atomic_store_explicit(&self->unreported_read_error, rc, memory_order_relaxed);
    }
    return false;
}

/* Sets the device's state of this tick. */
static void set_device_state(struct tact_comedi_device *self, int rc,
                             const struct tact_comedi_inhibit_reasons *output_inhibit_reasons,
                             int64_t now_ns, struct tact_device_input *in)
{
    const bool are_all_analog_inputs_usable =
        examine_board_inputs(self, rc, now_ns) && !output_inhibit_reasons->has_output_write_failed;
    if (output_inhibit_reasons->was_guard_rearmed) {
        self->output_ramp_factor = 0.0;
        self->ticks_without_fault = self->fault_recovery_ticks;
    }
    self->ticks_without_fault =
        are_all_analog_inputs_usable
            ? self->ticks_without_fault + (self->ticks_without_fault < UINT32_MAX)
            : 0;
    if (self->ticks_without_fault < self->fault_recovery_ticks) {
        self->output_ramp_factor = 0.0;
    } else if (self->output_ramp_factor < 1.0) {
        self->output_ramp_factor =
            fmin(self->output_ramp_factor + self->output_ramp_increase_per_tick, 1.0);
    }
    in->state = rc == -ENODEV || output_inhibit_reasons->guard == TACT_DEVICE_LOST
                    ? TACT_DEVICE_LOST
                : self->output_ramp_factor > 0.0 ? output_inhibit_reasons->guard
                                                 : TACT_DEVICE_STALE;
    in->stamp_ns = self->stamp_ns;
    memcpy(in->channel, self->value,
           (size_t)tact_comedi_input_count(&self->layout) * sizeof *in->channel);
}

static void comedi_read(void *data, uint64_t tick, double t, int64_t now_ns,
                        struct tact_device_input *in)
{
    struct tact_comedi_device *self = data;
    struct tact_comedi_inhibit_reasons output_inhibit_reasons;
    (void)t;
    const int rc = read_board_inputs(self, now_ns);
    output_inhibit_reasons.has_output_write_failed = self->last_write_error != 0;
    output_inhibit_reasons.guard = tact_guard_arming_read_state(
        &self->guard_arming, &output_inhibit_reasons.was_guard_rearmed);
    tact_comedi_capture_record_row(&self->capture, (int64_t)tick, rc, &output_inhibit_reasons,
                                   &self->raw_tick_values);
    set_device_state(self, rc, &output_inhibit_reasons, now_ns, in);
}

static void read_recorded_tick(void *data, uint64_t tick, double t, int64_t now_ns,
                               struct tact_device_input *in)
{
    struct tact_comedi_device *self = data;
    struct tact_comedi_recorded_tick row;
    (void)tick;
    const bool has_recording_ended =
        tact_comedi_playback_tick_at_time(self->playback, &self->layout, t, &row);
    self->raw_tick_values = row.raw_tick_values;
    set_device_state(self, -row.error, &row.output_inhibit_reasons, now_ns, in);
    in->state = has_recording_ended ? TACT_DEVICE_ENDED : in->state;
}

/* Computes the raw words of all outputs. */
static void convert_outputs_to_card_words(const struct tact_comedi_device *self, const double *out,
                                          lsampl_t (*data)[2])
{
    for (int i = 0; i < self->layout.output_count; i++) {
        const struct tact_comedi_channel *channel = &self->layout.output[i];
        lsampl_t *output_words = data[channel->op];
        if (channel->kind == TACT_COMEDI_ANALOG) {
            output_words[0] = tact_comedi_raw(channel, self->output_ramp_factor * out[i]);
        } else {
            bool on = (self->output_ramp_factor > 0.0 && out[i] > 0.5) !=
                      channel->is_digital_channel_active_low;
            output_words[1] = (output_words[1] & ~(1U << channel->bit)) | (lsampl_t)on
                                                                              << channel->bit;
        }
    }
}

/* Writes the list of outputs directly, without a guard. */
static void write_outputs_without_guard(struct tact_comedi_device *self,
                                        struct tact_comedi_instruction_list *list)
{
    int rc = tact_comedi_instruction_list_run(self->active_board->dev, list);
    self->last_write_error = rc;
    if (rc == -ENODEV) {
        pass_lost_board_to_monitor(self);
    } else if (rc) {
        atomic_store_explicit(&self->unreported_write_error, rc, memory_order_relaxed);
        tact_comedi_instruction_list_write_zeros(self->active_board->dev, list);
    }
}

static void comedi_write(void *data, const double *out, int64_t now_ns)
{
    struct tact_comedi_device *self = data;
    (void)now_ns;
    tact_guard_arming_update(&self->guard_arming, out, self->layout.output_count);
    if (self->guard_arming.has_guard_ended) {
        if (self->active_board && !self->are_outputs_zeroed_by_device) {
            self->are_outputs_zeroed_by_device =
                tact_comedi_instruction_list_write_zeros(self->active_board->dev,
                                                         &self->active_board->out) == 0;
        }
    } else if (self->guard_arming.guard) {
        /* the heartbeat continues while the board is gone, as the guard searches for it too */
        lsampl_t output_words[TACT_COMEDI_MAX_INSTRUCTIONS][2];
        for (int i = 0; i < self->layout.output_instruction_count; i++) {
            memcpy(output_words[i], self->layout.out[i].safe, sizeof output_words[i]);
        }
        if (self->active_board) {
            convert_outputs_to_card_words(self, out, output_words);
        }
        tact_guard_send(self->guard_arming.guard, (const uint32_t(*)[2])output_words,
                        tact_clock_now());
    } else if (self->active_board) {
        struct tact_comedi_instruction_list *list = &self->active_board->out;
        memcpy(list->data, list->safe, sizeof list->data);
        convert_outputs_to_card_words(self, out, list->data);
        write_outputs_without_guard(self, list);
    }
}

static void close_comedi_device(void *data)
{
    struct tact_comedi_device *self = data;
    tact_monitor_stop(&self->board_monitor);
    tact_guard_arming_report_gaps(&self->guard_arming, self->name, self->messages);
    /* the guard is stopped before the board is freed, which zeroes outputs that no process has
     * locked */
    tact_guard_stop(self->guard_arming.guard);
    tact_comedi_board_free(self->active_board);
    tact_comedi_board_free(atomic_load(&self->reopened_board));
    tact_comedi_board_free(atomic_load(&self->lost_board));
    tact_comedi_stream_stop(self->stream);
    tact_comedi_capture_close(&self->capture, self->name, self->messages);
    tact_comedi_playback_close(self->playback);
    free(self);
}

const struct tact_device_ops tact_comedi_ops = {TACT_ABI(struct tact_device_ops), comedi_read,
                                                comedi_write, close_comedi_device};
const struct tact_device_ops tact_comedi_playback_ops = {
    TACT_ABI(struct tact_device_ops), read_recorded_tick, NULL, close_comedi_device};
