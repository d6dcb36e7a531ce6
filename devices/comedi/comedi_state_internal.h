/** An open comedi device, shared by loop and monitor. */
#ifndef TACT_DEVICES_COMEDI_STATE_INTERNAL_H
#define TACT_DEVICES_COMEDI_STATE_INTERNAL_H

#include <stdatomic.h>
#include "comedi_internal.h"
#include "comedi_stream_internal.h"
#include "comedi_capture_internal.h"
#include "../guard/arming_internal.h"
#include "../common/monitor_internal.h"

/* The loop owns `active`, the monitor any other board. A board moves in one direction: fresh
 * (monitor to loop), active, retired (loop to monitor). */
struct tact_comedi {
    struct tact_comedi_layout layout;
    uint32_t saturated;      /* ticks */
    uint32_t stuck;          /* ticks */
    uint32_t recover;        /* ticks */
    double output_gate_step; /* growth of the gate per tick */
    int64_t timeout_ns;      /* of the guard */
    bool has_output_guard;
    struct tact_arming arming; /* without a guard the loop writes the outputs itself */
    /* of the loop */
    struct tact_comedi_board *active; /* NULL while lost */
    int current_input_fault[TACT_DEVICE_CHANNELS];
    struct tact_comedi_health health[TACT_DEVICE_CHANNELS];
    lsampl_t counter[TACT_DEVICE_CHANNELS]; /* last raw value */
    int64_t count[TACT_DEVICE_CHANNELS];
    double value[TACT_DEVICE_CHANNELS];
    bool is_unreliable_input[TACT_DEVICE_CHANNELS]; /* analog inputs: saturated or unusable in this
                                                       tick */
    uint32_t beyond[TACT_DEVICE_WRENCHES][6];       /* ticks in a row over the limit */
    unsigned int overloaded_wrench_axes[TACT_DEVICE_WRENCHES]; /* axes, as bits */
    bool has_counter_reference; /* counter[] holds values of this board */
    int last_write_error;       /* write error of the last tick, negative errno or 0 */
    uint32_t good;              /* ticks without fault */
    double gate;                /* factor of the outputs, 0 to 1 */
    int64_t stamp_ns;
    struct tact_comedi_stream
        *stream; /* stream of scans; NULL: analog inputs are read by instructions */
    struct tact_comedi_raw_values words; /* words of this tick */
    struct tact_comedi_capture capture;
    struct tact_comedi_play *play; /* a recording instead of a board, or NULL */
    bool zero_outputs;             /* the guard has ended, and the outputs were zeroed without it */
    /* exchanged between the loop and the monitor */
    _Atomic(struct tact_comedi_board *) fresh;
    _Atomic(struct tact_comedi_board *) retired;
    atomic_uint faults[TACT_DEVICE_CHANNELS];    /* count; the lowest two bits are the kind */
    atomic_uint overloads[TACT_DEVICE_WRENCHES]; /* axes, as bits, until they are reported */
    atomic_int read_error; /* the latest, negative errno, until it is reported */
    atomic_int refused;    /* the latest of writing */
    /* of the monitor */
    char name[TACT_DEVICE_NAME];
    struct tact_messages messages;
    bool lost;
    int reported_open_error; /* last one reported */
    unsigned int reported_faults[TACT_DEVICE_CHANNELS];
    uint32_t reported_loss_count; /* reported losses of the stream */
    struct tact_monitor monitor;
};

/** Operations of boards in the loop, and of recordings. */
extern const struct tact_device_ops tact_comedi_ops, tact_comedi_play_ops;

/** Initialises the inputs at rest, before the loop runs. Not real-time safe. */
void tact_comedi_init_inputs(struct tact_comedi *self);

/** Reads the inputs into `words`, for a tick of this time. Real-time safe.
 *  @retval 0, or a negative errno */
int tact_comedi_read_live_inputs(struct tact_comedi *self, int64_t now_ns);

/** Reads the inputs before the first tick: at the current time, from the recording, or recorded
 * with that tick. Not real-time safe. @retval the same; -ENODATA: the recording has no more of them
 */
int tact_comedi_read_first_inputs(struct tact_comedi *self, int64_t tick);

/** Measures the bias of the sensors that request it. Waits; not real-time safe.
 * @retval 0, or a negative errno with *err set */
int tact_comedi_measure_tare(struct tact_comedi *self, double period, struct tact_error *err);

/** The wrenches from the inputs of this tick. Returns whether one is over its limits. Real-time
 *  safe. */
bool tact_comedi_compute_wrenches(struct tact_comedi *self);

/** ", a gauge of wrist, whose last wrench is used", or nothing; and what the watcher says of
 * overloads. */
void tact_comedi_describe_gauge(const struct tact_comedi *self, int input, char *text, size_t size);
void tact_comedi_report_wrenches(struct tact_comedi *self);

/** Starts the monitor; tact_monitor_stop(&self->monitor) ends it.
 * @retval 0, or a negative errno */
int tact_comedi_monitor(struct tact_comedi *self);

#endif
