/**
 * Forces on an input device, shown by the guard process: the device stays silent unless the
 * controller's heart beats. Without a guard, by a thread of the controller.
 */
#ifndef TACT_DEVICES_GUARD_FORCE_INTERNAL_H
#define TACT_DEVICES_GUARD_FORCE_INTERNAL_H

#include <stdbool.h>
#include "../force/force_internal.h"
#include "guard.h"

struct tact_guard_force_options {
    const char *path; /* node of the device */
    const struct tact_force_plan *plan;
    int64_t timeout_ns; /* longest time between two heartbeats */
    int64_t period_ns;  /* least between two uploads of an effect */
    bool thread;        /* a thread instead of a process */
};

/** Starts it; as tact_guard_start(). A thread never is TACT_GUARD_GONE. */
int tact_guard_start_force(const struct tact_guard_force_options *options, struct tact_guard **out,
                           struct tact_error *err);

/** Sends one tick's levels[TACT_FORCE_CHANNELS], and with it the heartbeat. stamp_ns: what their
 * age counts from. No system call. Real-time safe. */
void tact_guard_send_force(struct tact_guard *guard, const double *level, int64_t stamp_ns);

/** Tells where the device is now; NULL: it is gone. From one thread only. */
void tact_guard_place(struct tact_guard *guard, const char *path);

/** When the levels were sent that the device is known to show [ns]; 0: none yet. Real-time safe. */
int64_t tact_guard_shown(const struct tact_guard *guard);

/** Uploads so far, the longest of them [ns], and the latest failure of the device (negative errno
 *  or 0), told once. */
uint64_t tact_guard_uploads(const struct tact_guard *guard, int64_t *slowest_ns, int *failed);

#endif
