/*
 * Forces on an input device, played by the guard process: none without the controller's
 * heartbeat. Without a guard process, by a thread of the controller.
 */
#ifndef TACT_DEVICES_GUARD_FORCE_INTERNAL_H
#define TACT_DEVICES_GUARD_FORCE_INTERNAL_H

#include <stdbool.h>
#include "../force/force_internal.h"
#include "guard.h"

struct tact_guard_force_options {
    const char *path; /* node of the device */
    const struct tact_force_rendering_plan *plan;
    int64_t timeout_ns; /* longest time between two heartbeats */
    int64_t period_ns;  /* minimum time between two uploads of an effect */
    bool thread;        /* a thread instead of a process */
};

/* Starts the guard of an input device's forces, as tact_guard_start(). If it is a thread, its
 * state never becomes TACT_GUARD_ENDED. */
int tact_guard_start_force_guard(const struct tact_guard_force_options *options,
                                 struct tact_guard **out, struct tact_error *err);

/* Sends one tick's force levels[TACT_FORCE_CHANNELS] with the heartbeat. stamp_ns: time from which
 * their age counts. No system call. Real-time safe. */
void tact_guard_send_force_levels(struct tact_guard *guard, const double *level, int64_t stamp_ns);

/* Sets the path of the device's node; NULL: it is gone. From one thread only. */
void tact_guard_set_device_path(struct tact_guard *guard, const char *path);

/* Time at which the levels on the device were sent [ns]; 0: none yet. Real-time safe. */
int64_t tact_guard_last_played_stamp(const struct tact_guard *guard);

/* Number of uploads, the longest of them [ns], and the latest failure of the device (negative
 * errno or 0), reported once. */
uint64_t tact_guard_get_effect_upload_count(const struct tact_guard *guard,
                                            int64_t *slowest_upload_ns, int *failed);

#endif
