/* An open comedi device, shared by loop and monitor. */
#ifndef TACT_DEVICES_COMEDI_STATE_INTERNAL_H
#define TACT_DEVICES_COMEDI_STATE_INTERNAL_H

#include <stdatomic.h>
#include "comedi_internal.h"
#include "comedi_stream_internal.h"
#include "comedi_capture_internal.h"
#include "../guard/arming_internal.h"
#include "../common/monitor_internal.h"

/* The loop owns the board `active_board`, the monitor thread any other. A board moves in one
 * direction: `reopened_board` (monitor to loop), `active_board`, `lost_board` (loop to monitor). */
struct tact_comedi_device {
    struct tact_comedi_channel_layout layout;
    uint32_t saturated_tick_limit;        /* ticks */
    uint32_t stuck_tick_limit;            /* ticks */
    uint32_t fault_recovery_ticks;        /* ticks */
    double output_ramp_increase_per_tick; /* increase of `output_ramp_factor` per tick, when outputs
                                return after a fault */
    int64_t timeout_ns;                   /* timeout of the guard */
    bool has_output_guard;
    /* state of the guard of the outputs; without a guard the loop writes them */
    struct tact_guard_arming guard_arming;
    /* members used by the loop: */
    struct tact_comedi_board *active_board; /* board that the loop uses; NULL while it is lost */
    int input_fault_of_last_tick[TACT_DEVICE_CHANNELS];
    struct tact_comedi_analog_input_health analog_input_health[TACT_DEVICE_CHANNELS];
    lsampl_t last_raw_counter_value[TACT_DEVICE_CHANNELS]; /* last raw value */
    int64_t count[TACT_DEVICE_CHANNELS];
    double value[TACT_DEVICE_CHANNELS];
    bool is_analog_input_unreliable[TACT_DEVICE_CHANNELS]; /* analog inputs: saturated or unusable
                                                       in this tick */
    /* number of ticks in a row in which each wrench axis was over its limit */
    uint32_t wrench_ticks_over_limit[TACT_DEVICE_WRENCHES][6];
    /* bit mask of axes over their limits */
    unsigned int overloaded_wrench_axes[TACT_DEVICE_WRENCHES];
    bool has_counter_reference;   /* counter[] has values of the present board */
    int last_write_error;         /* write error of the last tick, negative errno or 0 */
    uint32_t ticks_without_fault; /* ticks without fault */
    double output_ramp_factor;    /* factor by which outputs are multiplied, 0 to 1 */
    int64_t stamp_ns;
    /* stream of scans; NULL: analog inputs are read by instructions */
    struct tact_comedi_stream *stream;
    struct tact_comedi_raw_values raw_tick_values; /* raw values of this tick */
    struct tact_comedi_capture capture;
    struct tact_comedi_playback *playback; /* a recording instead of a board, or NULL */
    /* the guard has ended; the device itself has zeroed the outputs */
    bool are_outputs_zeroed_by_device;
    /* exchanged between the loop and the monitor */
    _Atomic(struct tact_comedi_board *) reopened_board;
    _Atomic(struct tact_comedi_board *) lost_board;
    /* number of faults of each input, times 4, plus enum tact_comedi_reading_fault of the last */
    atomic_uint fault_counts_and_kinds[TACT_DEVICE_CHANNELS];
    /* bit mask of overloaded wrench axes that are not reported yet */
    atomic_uint unreported_overloads[TACT_DEVICE_WRENCHES];
    atomic_int
        unreported_read_error; /* negative errno of the last read error that is not reported yet */
    atomic_int unreported_write_error; /* negative errno of the last write error that is not
                                          reported yet */
    /* members used by the monitor thread: */
    char name[TACT_DEVICE_NAME];
    struct tact_messages messages;
    bool is_board_loss_reported;
    int reported_open_error; /* error of opening the board that was reported last */
    unsigned int reported_input_fault_bits[TACT_DEVICE_CHANNELS];
    uint32_t reported_stream_restart_count; /* number of the stream's restarts that were reported */
    struct tact_monitor_thread board_monitor;
};

/* Device operations of a board, and of a recording that is played. */
extern const struct tact_device_ops tact_comedi_ops, tact_comedi_playback_ops;

/* Sets all inputs to their initial values, before the loop runs. Not real-time safe. */
void tact_comedi_init_inputs(struct tact_comedi_device *self);

/* Reads the inputs into `raw_tick_values`, for a tick of this time. Real-time safe.
 * @retval 0, or a negative errno */
int tact_comedi_read_live_inputs(struct tact_comedi_device *self, int64_t now_ns);

/* Reads the inputs before the first tick: from the board, or the row with that tick number from a
 * recording. Not real-time safe. @retval 0 or a negative errno; -ENODATA: the recording has no more
 * such rows */
int tact_comedi_read_first_inputs(struct tact_comedi_device *self, int64_t tick);

/* Measures the bias of the sensors that request it. Waits; not real-time safe.
 * @retval 0, or a negative errno with *err set */
int tact_comedi_measure_gauge_bias(struct tact_comedi_device *self, double period,
                                   struct tact_error *err);

/* Computes the wrenches of all sensors from the inputs of this tick. Returns whether one is over
 * its limits. Real-time safe. */
bool tact_comedi_compute_wrenches(struct tact_comedi_device *self);

/* Text for messages about an input: "; it is a strain gauge of the force-torque sensor wrist,
 * whose last wrench is used", or "". The second function reports overloaded sensors. */
void tact_comedi_describe_gauge(const struct tact_comedi_device *self, int input, char *text,
                                size_t size);
void tact_comedi_report_wrenches(struct tact_comedi_device *self);

/* Starts the monitor thread of a board; tact_monitor_stop(&self->monitor) ends it.
 * @retval 0, or a negative errno */
int tact_comedi_start_monitor(struct tact_comedi_device *self);

#endif
