/** The page that controller and guard share. */
#ifndef TACT_DEVICES_GUARD_PAGE_INTERNAL_H
#define TACT_DEVICES_GUARD_PAGE_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>
#include "guard.h"

#define TACT_GUARD_FD 3    /* where the guard finds the page */
#define TACT_GUARD_SLOTS 4 /* a power of two */

/* What is sent never stands half-written in the slot of the current beat: a controller that dies
 * while it writes leaves no trace. */
struct tact_guard_page {
    /* set before the guard starts */
    uint64_t size; /* of this struct: both sides are of the same build */
    int32_t controller;
    int32_t output_count;
    int64_t timeout_ns;
    char board[256];
    char driver[32];
    char name[32];
    struct tact_guard_output output[TACT_GUARD_OUTPUTS];
    /* the controller's */
    _Atomic uint32_t beat;  /* a futex; the words are in slot beat % TACT_GUARD_SLOTS */
    _Atomic uint32_t armed; /* the trip that is to end */
    _Atomic uint32_t quit;
    _Atomic uint32_t slot[TACT_GUARD_SLOTS][TACT_GUARD_OUTPUTS][2];
    /* the guard's */
    _Atomic uint32_t ready;    /* 1 once it holds the outputs, or has given up */
    _Atomic int32_t error;     /* why it gave up, negative errno */
    _Atomic uint32_t state;    /* enum tact_guard_state */
    _Atomic uint32_t trips;    /* from 1: it starts with one */
    _Atomic uint32_t answered; /* the last beat it has seen */
};

#endif
