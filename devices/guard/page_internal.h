/** The pages shared by controller and guard. */
#ifndef TACT_DEVICES_GUARD_PAGE_INTERNAL_H
#define TACT_DEVICES_GUARD_PAGE_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>
#include "../force/force_internal.h"
#include "../makers/maker_internal.h"
#include "guard.h"

#define TACT_GUARD_FD 3            /* descriptor of the page in the guard */
#define TACT_GUARD_CONTROLLER_FD 4 /* pidfd of its controller */
#define TACT_GUARD_SLOTS 4         /* a power of two */

enum tact_guard_kind { TACT_GUARD_BOARD, TACT_GUARD_FORCE, TACT_GUARD_HAPTIC };

/* Start of every page. The slot of the current beat is always complete: a controller that dies
 * while writing leaves no trace. */
struct tact_guard_page_header {
    /* set before the guard starts */
    uint64_t size; /* size of the page: both sides are of the same build */
    int32_t kind;
    int64_t timeout_ns;
    /* of the controller */
    _Atomic uint32_t beat;  /* a futex; the data are in slot beat % TACT_GUARD_SLOTS */
    _Atomic uint32_t armed; /* the trip to be ended */
    _Atomic uint32_t must_guard_quit;
    /* of the guard */
    _Atomic uint32_t ready; /* 1 once it has claimed the outputs, or failed */
    _Atomic int32_t error;  /* why it failed, negative errno */
    _Atomic uint32_t state; /* enum tact_guard_state */
    _Atomic uint32_t
        trips; /* number of times that the outputs were zeroed, from 1: the guard starts with one */
    _Atomic uint32_t handled_heartbeat; /* the last beat that it has handled */
    _Atomic uint32_t busy;              /* 1 during a driver call: it cannot respond */
};

struct tact_guard_page {
    struct tact_guard_page_header head;
    int32_t output_count;
    char board[256];
    char driver[32];
    char name[32];
    struct tact_guard_output output[TACT_GUARD_OUTPUTS];
    _Atomic uint32_t slot[TACT_GUARD_SLOTS][TACT_GUARD_OUTPUTS][2];
};

struct tact_force_page {
    struct tact_guard_page_header head;
    struct tact_force_plan plan;
    int64_t period_ns; /* shortest time between two uploads of an effect [ns] */
    /* of the controller */
    _Atomic uint32_t
        path_count;    /* number of changes of the node's path; the node is path[path_count % 2] */
    char path[2][256]; /* empty while the device is gone */
    _Atomic double level[TACT_GUARD_SLOTS][TACT_FORCE_CHANNELS];
    _Atomic int64_t stamp[TACT_GUARD_SLOTS];
    /* of the server */
    _Atomic int64_t played_ns;  /* stamp of the levels on the device */
    _Atomic int64_t slowest_ns; /* longest upload */
    _Atomic uint64_t uploads;
    _Atomic int32_t failed; /* latest negative errno of the device, until it is reported */
};

struct tact_haptic_page {
    struct tact_guard_page_header head;
    struct tact_haptic_choice choice;
    /* of the server, before it is ready */
    int32_t turns;   /* 1: it measures its attitude */
    int32_t torques; /* 1: it renders torques */
    char model[64];
    char why[160];            /* of head.error */
    int64_t opening_delay_ns; /* estimate of delay_ns */
    /* of the controller; the stamp is that of the pose for which the wrench was computed */
    _Atomic double wrench[TACT_GUARD_SLOTS][TACT_HAPTIC_WRENCH];
    _Atomic int64_t pose_stamp[TACT_GUARD_SLOTS];
    _Atomic int64_t stamp[TACT_GUARD_SLOTS]; /* when it was sent */
    /* of the server */
    _Atomic uint32_t pose_count; /* the newest is pose[pose_count % TACT_GUARD_SLOTS] */
    struct {
        _Atomic double value[TACT_HAPTIC_POSE];
        _Atomic uint32_t buttons;
        _Atomic int64_t stamp_ns; /* before the library was asked */
    } pose[TACT_GUARD_SLOTS];
    _Atomic uint32_t connected; /* 0: the library reports an error, or the device is gone */
    _Atomic int64_t delay_ns;   /* from a pose to the force computed for it, the newest */
    _Atomic int64_t longest_ns; /* longest of them */
    _Atomic uint64_t delay_sum_ns, delay_count;
    _Atomic uint64_t gaps;          /* after which the guard reduced a force */
    _Atomic int64_t longest_gap_ns; /* longest of them */
};

#endif
