/** The guard's main functions, which run until they are requested to end. */
#ifndef TACT_DEVICES_GUARD_SERVE_INTERNAL_H
#define TACT_DEVICES_GUARD_SERVE_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>
#include "page_internal.h"

#define TACT_GUARD_POLL_NS 50000000 /* [ns] interval of checking a silent controller */

/** Requests from outside the page. */
struct tact_guard_requests {
    const volatile sig_atomic_t *end; /* 1: end; or NULL */
    volatile sig_atomic_t
        *zero_outputs; /* 1: zero the outputs once, as before a suspend; or NULL */
    int64_t *slept; /* initial tact_guard_suspended_time_bound(): a longer sleep is a request too;
                       or NULL */
    int controller; /* pidfd of the controller, whose end ends the guard; 0: this process */
};

static inline int64_t tact_guard_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/** Upper bound of the time that the system has slept since it was started: CLOCK_BOOTTIME advances
 * during sleep, CLOCK_MONOTONIC does not. [ns] */
int64_t tact_guard_suspended_time_bound(void);

/** Whether the guard should end. */
int tact_guard_must_end(const struct tact_guard_page_header *head,
                        const struct tact_guard_requests *guard_requests);

/** Whether zeroing was requested since the last call, or the system has slept meanwhile: outputs
 * sent before are outdated. */
int tact_guard_zero_requested(const struct tact_guard_requests *guard_requests);

/** The heartbeat as a server of forces follows it: forces pass from a beat that arms the guard
 * until one is overdue. */
struct tact_guard_heartbeat {
    struct tact_guard_page_header *head;
    uint32_t beat;        /* the last one that was handled */
    int64_t heartbeat_ns; /* time from which its age counts */
    uint32_t trips;
    enum tact_guard_state state;
};

/** Locks the guard's memory; a refusal is ignored. loads_libraries: memory to come is locked only
 * where RLIMIT_MEMLOCK is unlimited, as mappings and threads of a maker's library fail beyond it.
 */
void tact_guard_lock_memory(bool loads_libraries);

/** Starts with the first trip: inhibited. */
void tact_guard_start_heartbeat(struct tact_guard_heartbeat *heart,
                                struct tact_guard_page_header *head);

/** Handles a new beat, whose data are then copied and answered by tact_guard_answer_beat(); a guard
 * that is armed for the present trip passes from it on. Real-time safe. @retval false: none */
bool tact_guard_take_beat(struct tact_guard_heartbeat *heart);

/** Answers a beat, once its data are copied. stamp_ns: when they were sent, the beat's time; now
 * where there is none, or one to come. The beat may be overdue at once. Real-time safe. */
void tact_guard_answer_beat(struct tact_guard_heartbeat *heart, int64_t stamp_ns, int64_t now);

/** Whether forces pass although the next beat is overdue. Real-time safe. */
bool tact_guard_is_beat_overdue(const struct tact_guard_heartbeat *heart, int64_t now);

/** Counts a trip: inhibited until armed for it. The caller has zeroed the forces. */
void tact_guard_trip(struct tact_guard_heartbeat *heart);

/** The wrenches that a haptic device is sent, across gaps. All zero before the first one. */
struct tact_guard_gap {
    double sent[TACT_HAPTIC_WRENCH];   /* the last one; zero where the device is closed [N, N m] */
    double before[TACT_HAPTIC_WRENCH]; /* the last one before a gap */
    int64_t chosen_ns;                 /* when the last one was chosen; 0: none yet */
    int64_t ended_ns;                  /* when the last gap ended */
    int64_t last_ns;                   /* how long it lasted */
    int64_t length_ns[2]; /* length of the way after it, of force and torque; 0: none */
    double rate[2];       /* by which they rise on the way at most [N/ns, N m/ns] */
};

/** Chooses gap->sent. Where the one before was chosen over shortest_ns ago, because a call of the
 * library took so long or this process was not run, the wanted one may have risen meanwhile by more
 * than a person should feel in one step: force and torque then rise to it over as long as the gap
 * lasted, with a first step as after shortest_ns. What is smaller is sent at once; what points the
 * other way or across rises from 0. shortest_ns: over 0. Real-time safe.
 * @retval true if a gap ended now and the wanted one is reduced after it */
bool tact_guard_bridge_gap(struct tact_guard_gap *gap, const double wanted[TACT_HAPTIC_WRENCH],
                           int64_t now_ns, int64_t shortest_ns);

/** Claims the outputs of a board and writes what is sent. @retval 0, or a negative errno if the
 * board could not be claimed, also in the page */
int tact_guard_serve_board(struct tact_guard_page *page,
                           const struct tact_guard_requests *guard_requests);

/** Plays the levels sent on an input device; also the thread of a device without guard. */
void tact_guard_serve_force(struct tact_force_page *page,
                            const struct tact_guard_requests *guard_requests);

/** Runs a haptic device through its maker's library. */
void tact_guard_serve_haptic(struct tact_haptic_page *page,
                             const struct tact_guard_requests *guard_requests);

#endif
