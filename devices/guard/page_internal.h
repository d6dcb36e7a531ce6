/** The pages that controller and guard share. */
#ifndef TACT_DEVICES_GUARD_PAGE_INTERNAL_H
#define TACT_DEVICES_GUARD_PAGE_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>
#include "../force/force_internal.h"
#include "guard.h"

#define TACT_GUARD_FD 3            /* where the guard finds the page */
#define TACT_GUARD_CONTROLLER_FD 4 /* and the pidfd of its controller */
#define TACT_GUARD_SLOTS 4         /* a power of two */

enum tact_guard_kind { TACT_GUARD_BOARD, TACT_GUARD_FORCE };

/* What every page begins with. What is sent never stands half-written in the slot of the current
 * beat: a controller that dies while it writes leaves no trace. */
struct tact_guard_head {
    /* set before the guard starts */
    uint64_t size; /* of the page: both sides are of the same build */
    int32_t kind;
    int64_t timeout_ns;
    /* the controller's */
    _Atomic uint32_t beat;  /* a futex; what was sent is in slot beat % TACT_GUARD_SLOTS */
    _Atomic uint32_t armed; /* the trip that is to end */
    _Atomic uint32_t quit;
    /* the guard's */
    _Atomic uint32_t ready;    /* 1 once it holds the outputs, or has given up */
    _Atomic int32_t error;     /* why it gave up, negative errno */
    _Atomic uint32_t state;    /* enum tact_guard_state */
    _Atomic uint32_t trips;    /* from 1: it starts with one */
    _Atomic uint32_t answered; /* the last beat it has seen */
    _Atomic uint32_t busy;     /* 1 while a driver has it: it cannot answer */
};

struct tact_guard_page {
    struct tact_guard_head head;
    int32_t output_count;
    char board[256];
    char driver[32];
    char name[32];
    struct tact_guard_output output[TACT_GUARD_OUTPUTS];
    _Atomic uint32_t slot[TACT_GUARD_SLOTS][TACT_GUARD_OUTPUTS][2];
};

struct tact_force_page {
    struct tact_guard_head head;
    struct tact_force_plan plan;
    int64_t period_ns; /* between two uploads of an effect */
    /* the controller's */
    _Atomic uint32_t place; /* how often the device went or came; the node is path[place % 2] */
    char path[2][256];      /* empty while it is gone */
    _Atomic double level[TACT_GUARD_SLOTS][TACT_FORCE_CHANNELS];
    _Atomic int64_t stamp[TACT_GUARD_SLOTS];
    /* the server's */
    _Atomic int64_t shown_ns;   /* stamp of what is on the device */
    _Atomic int64_t slowest_ns; /* longest upload */
    _Atomic uint64_t uploads;
    _Atomic int32_t failed; /* the latest negative errno of the device, until it is told */
};

#endif
