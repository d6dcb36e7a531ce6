/** An open comedi device, as its loop and its watcher share it. */
#ifndef TACT_DEVICES_COMEDI_STATE_INTERNAL_H
#define TACT_DEVICES_COMEDI_STATE_INTERNAL_H

#include <stdatomic.h>
#include "comedi_internal.h"
#include "comedi_stream_internal.h"
#include "comedi_tape_internal.h"
#include "../guard/arming_internal.h"
#include "../common/watch_internal.h"

/* The loop owns `active`, the watcher what is not handed over. A board goes round in one direction:
 * fresh (watcher to loop), active, retired (loop to watcher). */
struct tact_comedi {
    struct tact_comedi_layout layout;
    uint32_t saturated; /* ticks */
    uint32_t stuck;     /* ticks */
    uint32_t recover;   /* ticks */
    double gate_step;   /* growth of the gate a tick */
    int64_t timeout_ns; /* of the guard */
    bool guarded;
    struct tact_arming arming; /* without a guard the loop writes the outputs itself */
    /* the loop's */
    struct tact_comedi_board *active; /* NULL while lost */
    int fault_now[TACT_DEVICE_CHANNELS];
    struct tact_comedi_health health[TACT_DEVICE_CHANNELS];
    lsampl_t counter[TACT_DEVICE_CHANNELS]; /* last raw value */
    int64_t count[TACT_DEVICE_CHANNELS];
    double value[TACT_DEVICE_CHANNELS];
    bool doubted[TACT_DEVICE_CHANNELS];       /* analog inputs: saturated or not usable this tick */
    uint32_t beyond[TACT_DEVICE_WRENCHES][6]; /* ticks in a row over the limit */
    unsigned int overload_now[TACT_DEVICE_WRENCHES]; /* axes, as bits */
    bool counting;                                   /* counter[] holds values of this board */
    int write_error;                                 /* of the last tick, negative errno or 0 */
    uint32_t good;                                   /* ticks without fault */
    double gate;                                     /* share of the outputs that is let through */
    int64_t stamp_ns;
    struct tact_comedi_stream *stream; /* NULL: analog inputs are in the list */
    struct tact_comedi_words words;    /* of this tick */
    struct tact_comedi_tape tape;
    struct tact_comedi_play *play; /* a recording instead of a board, or NULL */
    bool let_go;                   /* the guard is gone, and the outputs were zeroed without it */
    /* between the two */
    _Atomic(struct tact_comedi_board *) fresh;
    _Atomic(struct tact_comedi_board *) retired;
    atomic_uint faults[TACT_DEVICE_CHANNELS];    /* how often; the kind is in the lowest two bits */
    atomic_uint overloads[TACT_DEVICE_WRENCHES]; /* axes, as bits, until they are told */
    atomic_int read_error;                       /* the latest, negative errno, until it is told */
    atomic_int refused;                          /* the latest of writing */
    /* the watcher's */
    char name[TACT_DEVICE_NAME];
    struct tact_messages messages;
    bool lost;
    int open_error; /* told last */
    unsigned int faults_told[TACT_DEVICE_CHANNELS];
    uint32_t lost_told; /* of the stream */
    struct tact_watch watch;
};

/** What boards do in the loop, and what recordings do. */
extern const struct tact_device_ops tact_comedi_ops, tact_comedi_play_ops;

/** Where the inputs rest, before the loop runs. Not real-time safe. */
void tact_comedi_look_first(struct tact_comedi *self);

/** Reads the inputs into `words`, for a tick of this time. Real-time safe.
 *  @retval 0, or a negative errno */
int tact_comedi_acquire(struct tact_comedi *self, int64_t now_ns);

/** As it, before the first tick: at the same time, out of the recording, or kept in one as of that
 *  tick. Not real-time safe. @retval as it; -ENODATA: the recording has no more of them */
int tact_comedi_acquire_before(struct tact_comedi *self, int64_t tick);

/** Takes the bias of the sensors that ask for it, as they are now. Waits; not real-time safe.
 *  @retval 0, or a negative errno with *err filled */
int tact_comedi_tare(struct tact_comedi *self, double period, struct tact_error *err);

/** The wrenches from the inputs of this tick. Returns whether one is over its limits. Real-time
 *  safe. */
bool tact_comedi_take_wrenches(struct tact_comedi *self);

/** ", a gauge of wrist, which is held", or nothing; and what the watcher says of overloads. */
void tact_comedi_tell_gauge(const struct tact_comedi *self, int input, char *text, size_t size);
void tact_comedi_tell_wrenches(struct tact_comedi *self);

/** Starts what looks after the board; tact_watch_stop(&self->watch) ends it.
 *  @retval 0, or a negative errno */
int tact_comedi_watch(struct tact_comedi *self);

#endif
