/* The pages of memory that the controller and the guard process share. */
#ifndef TACT_DEVICES_GUARD_PAGE_INTERNAL_H
#define TACT_DEVICES_GUARD_PAGE_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>
#include "../force/force_internal.h"
#include "../makers/maker_internal.h"
#include "guard.h"

#define TACT_GUARD_PAGE_FD 3 /* file descriptor of the shared page in the guard process */
/* file descriptor (pidfd) of the controller in the guard process */
#define TACT_GUARD_CONTROLLER_FD 4
/* number of the last heartbeats whose data a page keeps: a power of two */
#define TACT_GUARD_HEARTBEAT_SLOTS 4

enum tact_guard_kind { TACT_GUARD_BOARD, TACT_GUARD_FORCE, TACT_GUARD_HAPTIC };

/* Start of every shared page. The slot of the current heartbeat is always complete: one that a
 * dying controller left incomplete is never used. */
struct tact_guard_page_header {
    /* set by the controller before the guard starts */
    uint64_t size; /* size of the page [bytes], to check that both sides are of the same build */
    int32_t kind;
    int64_t timeout_ns;
    /* written by the controller */
    /* number of the last heartbeat, a futex; its data are in slot heartbeat_number %
     * TACT_GUARD_HEARTBEAT_SLOTS
     */
    _Atomic uint32_t heartbeat_number;
    _Atomic uint32_t
        trip_number_when_armed; /* number of the trip after which outputs may pass again */
    _Atomic uint32_t must_guard_end;
    _Atomic int64_t period_ns; /* period of the heartbeats, at most 1 s; 0: not known */
    /* written by the guard */
    _Atomic uint32_t is_guard_ready; /* 1 once the guard has claimed the outputs, or failed to */
    _Atomic int32_t error;           /* negative errno if the guard failed to start, else 0 */
    _Atomic uint32_t state;          /* enum tact_guard_state */
    /* number of times that the guard has zeroed the outputs, its start included: from 1 */
    _Atomic uint32_t trip_count;
    /* number of the last heartbeat that the guard has handled */
    _Atomic uint32_t acknowledged_heartbeat_number;
    /* 1 while the guard is in a driver call and cannot respond */
    _Atomic uint32_t is_in_driver_call;
    /* number of gaps between commands, or bursts of them, after which the guard reduced a force */
    _Atomic uint64_t gaps;
    _Atomic int64_t longest_heartbeat_gap_ns; /* longest gap */
};

struct tact_guard_page {
    struct tact_guard_page_header head;
    int32_t output_count;
    char board[256];
    char driver[32];
    char name[32];
    struct tact_guard_output output[TACT_GUARD_MAX_OUTPUTS];
    _Atomic uint32_t slot[TACT_GUARD_HEARTBEAT_SLOTS][TACT_GUARD_MAX_OUTPUTS][2];
    _Atomic int64_t
        stamp[TACT_GUARD_HEARTBEAT_SLOTS]; /* time at which the words of each slot were sent */
};

struct tact_guard_force_page {
    struct tact_guard_page_header head;
    struct tact_force_rendering_plan plan;
    int64_t period_ns; /* shortest time between two uploads of an effect [ns] */
    /* written by the controller */
    /* number of changes of the path of the device's node, which is path[node_path_change_count % 2]
     */
    _Atomic uint32_t node_path_change_count;
    char path[2][256]; /* path of the device's node; empty while the device is gone */
    _Atomic double level[TACT_GUARD_HEARTBEAT_SLOTS][TACT_FORCE_CHANNELS];
    _Atomic int64_t stamp[TACT_GUARD_HEARTBEAT_SLOTS];
    /* written by the guard */
    _Atomic int64_t played_levels_stamp_ns; /* stamp of the levels on the device */
    _Atomic int64_t slowest_upload_ns;      /* longest upload */
    _Atomic uint64_t effect_upload_count;
    _Atomic int32_t failed; /* latest negative errno of the device, until it is reported */
};

struct tact_guard_haptic_page {
    struct tact_guard_page_header head;
    struct tact_haptic_device_choice haptic_device_choice;
    /* written by the guard, before it is ready */
    int32_t measures_attitude; /* 1: the device measures its attitude */
    int32_t renders_torques;   /* 1: the device renders torques */
    char model[64];
    char guard_failure_text[160];              /* reason of head.error, as text */
    int64_t pose_to_force_delay_at_opening_ns; /* delay from reading a pose to sending its force, as
                                 estimated when the device was opened */
    /* written by the controller; stamp_of_wrench_pose: stamp of the pose for which the wrench was
     * computed */
    _Atomic double wrench[TACT_GUARD_HEARTBEAT_SLOTS][TACT_HAPTIC_NUMBERS_PER_WRENCH];
    _Atomic int64_t stamp_of_wrench_pose[TACT_GUARD_HEARTBEAT_SLOTS];
    _Atomic int64_t stamp[TACT_GUARD_HEARTBEAT_SLOTS]; /* time at which the wrench was sent */
    /* written by the guard */
    /* number of poses so far: the newest is pose[published_pose_count % TACT_GUARD_HEARTBEAT_SLOTS]
     */
    _Atomic uint32_t published_pose_count;
    struct {
        _Atomic double value[TACT_HAPTIC_NUMBERS_PER_POSE];
        _Atomic uint32_t buttons;
        _Atomic int64_t stamp_ns; /* time just before the library was asked for the pose */
    } pose[TACT_GUARD_HEARTBEAT_SLOTS];
    _Atomic uint32_t
        is_device_connected; /* 0: the library reports an error, or the device is gone */
    /* newest delay from reading a pose to sending the force computed for it */
    _Atomic int64_t newest_pose_to_force_delay_ns;
    _Atomic int64_t longest_pose_to_force_delay_ns; /* longest delay */
    _Atomic uint64_t pose_to_force_delay_sum_ns, pose_to_force_delay_count;
};

#endif
