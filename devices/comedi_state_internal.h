/** An open comedi device, as its loop and its watcher share it. */
#ifndef TACT_DEVICES_COMEDI_STATE_INTERNAL_H
#define TACT_DEVICES_COMEDI_STATE_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include "comedi_internal.h"
#include "guard/guard.h"

/* The loop owns `active`, the watcher what is not handed over. A board goes round in one direction:
 * fresh (watcher to loop), active, retired (loop to watcher). */
struct tact_comedi {
    struct tact_comedi_layout layout;
    uint32_t saturated; /* ticks */
    uint32_t stuck;     /* ticks */
    uint32_t recover;   /* ticks */
    uint32_t rearm;     /* ticks */
    double gate_step;   /* growth of the gate a tick */
    int64_t timeout_ns; /* of the guard */
    bool guarded;
    struct tact_guard *guard; /* or NULL: the loop writes the outputs itself */
    /* the loop's */
    struct tact_comedi_board *active; /* NULL while lost */
    int fault_now[TACT_DEVICE_CHANNELS];
    struct tact_comedi_health health[TACT_DEVICE_CHANNELS];
    lsampl_t counter[TACT_DEVICE_CHANNELS]; /* last raw value */
    int64_t count[TACT_DEVICE_CHANNELS];
    double value[TACT_DEVICE_CHANNELS];
    bool counting;   /* counter[] holds values of this board */
    int write_error; /* of the last tick, negative errno or 0 */
    uint32_t good;   /* ticks without fault */
    double gate;     /* share of the outputs that is let through */
    int64_t stamp_ns;
    uint32_t zeros;  /* ticks in a row in which nothing but zeros was to be sent */
    uint32_t armed;  /* the trip of the guard that was ended last */
    bool left_alone; /* the guard is gone: for good */
    bool let_go;     /* ... and the outputs were zeroed without it */
    /* between the two */
    _Atomic(struct tact_comedi_board *) fresh;
    _Atomic(struct tact_comedi_board *) retired;
    atomic_uint faults[TACT_DEVICE_CHANNELS]; /* how often; the kind is in the lowest two bits */
    atomic_int read_error;                    /* the latest, negative errno, until it is told */
    atomic_int refused;                       /* the latest of writing */
    atomic_bool alone;                        /* the guard is gone */
    /* the watcher's */
    char name[TACT_DEVICE_NAME];
    struct tact_messages messages;
    bool lost;
    bool alone_told;
    uint32_t trips_told;
    int open_error; /* told last */
    unsigned int faults_told[TACT_DEVICE_CHANNELS];
    pthread_t watcher;
    sem_t stop;
};

/** Starts the watcher: an ordinary thread, whatever the policy of the caller, deaf to signals.
 *  @retval 0, or a negative errno */
int tact_comedi_watch(struct tact_comedi *self);

/** Stops it and waits for it. */
void tact_comedi_unwatch(struct tact_comedi *self);

#endif
