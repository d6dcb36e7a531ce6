/* The guard's main functions, which run until they are requested to end. */
#ifndef TACT_DEVICES_GUARD_SERVE_INTERNAL_H
#define TACT_DEVICES_GUARD_SERVE_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>
#include "page_internal.h"

#define TACT_GUARD_POLL_INTERVAL_NS 50000000 /* [ns] interval of checking a silent controller */

/* Requests to the guard that do not come through the shared page. */
struct tact_guard_requests {
    const volatile sig_atomic_t *end; /* 1: the guard should end; or NULL */
    /* 1: zero the outputs once, as before a suspend; or NULL */
    volatile sig_atomic_t *zero_outputs;
    /* tact_guard_suspended_time_upper_bound() at the start: where the system has slept since,
     * outputs are zeroed too; or NULL */
    int64_t *suspended_ns_at_start;
    /* pidfd of the controller process, after whose end the guard ends; 0: the guard is a thread of
     * it */
    int controller_pidfd;
};

static inline int64_t tact_guard_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Upper bound of the time that the system has slept since it was started: CLOCK_BOOTTIME advances
 * during sleep, CLOCK_MONOTONIC does not. [ns] */
int64_t tact_guard_suspended_time_upper_bound(void);

/* Whether the guard should end. */
int tact_guard_must_guard_end(const struct tact_guard_page_header *head,
                              const struct tact_guard_requests *guard_requests);

/* Whether zeroing of the outputs was requested since the last call, or the system has slept
 * meanwhile, so that outputs sent before are outdated. */
int tact_guard_is_zeroing_requested(const struct tact_guard_requests *guard_requests);

/* State of the controller's heartbeat in the guard: forces pass from the heartbeat that arms the
 * guard until the next one is overdue. */
struct tact_guard_heartbeat_state {
    struct tact_guard_page_header *head;
    uint32_t heartbeat_number;      /* number of the last heartbeat that was handled */
    int64_t heartbeat_age_start_ns; /* time from which the age of that heartbeat counts */
    uint32_t trip_count;
    enum tact_guard_state state;
};

/* Locks the guard's memory in RAM; a refusal is ignored. must_allow_loading_libraries: future
 * memory is locked only where RLIMIT_MEMLOCK is unlimited, as beyond that limit mappings and
 * threads of a manufacturer's library would fail. */
void tact_guard_lock_memory(bool must_allow_loading_libraries);

/* Initialises the heartbeat's state: outputs are inhibited, which counts as the first trip. */
void tact_guard_start_heartbeat(struct tact_guard_heartbeat_state *heartbeat,
                                struct tact_guard_page_header *head);

/* Handles a new heartbeat. The caller then copies its data and calls
 * tact_guard_acknowledge_heartbeat(). If the controller has armed the guard for the present trip,
 * outputs pass from this heartbeat on. Real-time safe. @retval false: there is no new heartbeat */
bool tact_guard_handle_new_heartbeat(struct tact_guard_heartbeat_state *heartbeat);

/* Acknowledges a heartbeat, once its data are copied. stamp_ns: time at which the data were sent,
 * from which the heartbeat's age counts; if it is 0 or in the future, `now` is used. The next
 * heartbeat may be overdue at once. Real-time safe. */
void tact_guard_acknowledge_heartbeat(struct tact_guard_heartbeat_state *heartbeat,
                                      int64_t stamp_ns, int64_t now);

/* Whether the next heartbeat is overdue while forces still pass. Real-time safe. */
bool tact_guard_is_heartbeat_overdue(const struct tact_guard_heartbeat_state *heartbeat,
                                     int64_t now);

/* Counts a trip of the guard: outputs are inhibited until it is armed for this trip. The caller
 * has zeroed the forces. */
void tact_guard_trip(struct tact_guard_heartbeat_state *heartbeat);

#define TACT_GUARD_COMPONENTS_PER_FORCE_PART 3 /* number of components of a part */
#define TACT_GUARD_MAX_LIMITED_FORCE_PARTS TACT_GUARD_MAX_OUTPUTS /* maximum number of parts */

/* State of the rate limit on what is sent to a device after a gap: of vectors, each of which a
 * person feels as one, such as a force and a torque, padded with zeros. All zero but the number of
 * parts before the first ones. */
struct tact_guard_rise_limit {
    int parts;
    /* values that were sent last; zero while the device is closed or its outputs are zero */
    double sent[TACT_GUARD_MAX_LIMITED_FORCE_PARTS * TACT_GUARD_COMPONENTS_PER_FORCE_PART];
    double value_sent_before_gap[TACT_GUARD_MAX_LIMITED_FORCE_PARTS *
                                 TACT_GUARD_COMPONENTS_PER_FORCE_PART]; /* values that were sent
                                                                last before the gap, reduced by all
                                                                decreases since */
    int64_t last_value_time_ns; /* time at which the last values were chosen; 0: none yet */
    uint32_t
        heartbeat_number; /* number of the heartbeat from whose data the last values were chosen */
    bool is_heartbeat_burst; /* the last heartbeats came at over twice their usual rate */
    int64_t burst_excess_ns; /* time by which the ticks of the heartbeats in a burst exceed twice
                                the time that passed */
    int64_t last_heartbeat_gap_ns; /* duration of the last gap */
    /* duration of the limited rise of each part after the last gap; 0: no limit */
    int64_t remaining_rise_duration_ns[TACT_GUARD_MAX_LIMITED_FORCE_PARTS];
    double max_rise_rate[TACT_GUARD_MAX_LIMITED_FORCE_PARTS]; /* limit of the rate of rise of each
                                                                 part [unit/ns] */
    /* magnitude by which each part is below the wanted one while its rise is limited */
    double remaining_force_rise[TACT_GUARD_MAX_LIMITED_FORCE_PARTS];
};

/* Chooses the values to be sent, gap->sent. Where the previous ones were chosen over
 * shortest_limited_gap_ns ago, because a call of the device took so long or this process was not
 * run, the wanted ones may have risen meanwhile by more than a person should feel in one step: each
 * part then rises to it over as long as the gap lasted, in steps of at most half of shortest_ns. A
 * smaller force is sent at once; one in the opposite direction, or across, rises from 0. wanted:
 * [parts][TACT_GUARD_COMPONENTS_PER_FORCE_PART]. shortest_limited_gap_ns: > 0. A burst of
 * heartbeats with which the controller makes up for late ticks ends a gap too, of the duration of
 * these ticks. Real-time safe.
 * @retval true if a gap ended now and a part is reduced after it */
bool tact_guard_limit_rise_after_gap(struct tact_guard_rise_limit *gap,
                                     const double *requested_value, int64_t now_ns,
                                     int64_t shortest_limited_gap_ns);

/* Detects bursts by the heartbeats since the last values were chosen. heartbeat_number: number of
 * the newest heartbeat. period_ns: of the heartbeats, at most 1 s; 0: not known, and no burst is
 * detected. Called before tact_guard_limit_rise_after_gap(). Real-time safe. */
void tact_guard_detect_heartbeat_burst(struct tact_guard_rise_limit *gap, uint32_t heartbeat_number,
                                       int64_t period_ns, int64_t now_ns);

/* Calls tact_guard_detect_heartbeat_burst(), with the period of the page, and
 * tact_guard_limit_rise_after_gap(), and counts the gap in the page. Real-time safe. */
void tact_guard_limit_rise_and_count_gap(struct tact_guard_rise_limit *gap,
                                         const double *requested_value, uint32_t heartbeat_number,
                                         int64_t now_ns, int64_t shortest_limited_gap_ns,
                                         struct tact_guard_page_header *head);

/* Durations of the calls of a device's driver. All zero before the first call. */
struct tact_guard_driver_call_durations {
    int timed_driver_call_count;     /* number of timed calls, up to those that are needed */
    int64_t shortest_driver_call_ns; /* duration of the shortest call */
};

/* Adds the duration of a call. Real-time safe. */
void tact_guard_add_driver_call_duration(
    struct tact_guard_driver_call_durations *driver_call_durations,
    int64_t driver_call_duration_ns);

/* Time between two choices of values beyond which there was a gap [ns]: the timeout of heartbeats,
 * or two usual calls of the driver where these take longer, else a device whose calls always take
 * long would lag. The first calls, any of which may have been delayed, do not count. Real-time
 * safe. */
int64_t tact_guard_find_shortest_limited_gap(
    const struct tact_guard_driver_call_durations *driver_call_durations, int64_t timeout_ns);

/* Claims the outputs of a board and writes the values that the controller sends. @retval 0, or a
 * negative errno if the board could not be claimed, also in the page */
int tact_guard_serve_board(struct tact_guard_page *page,
                           const struct tact_guard_requests *guard_requests);

/* Plays the force levels that the controller sends on an input device. Also runs as a thread for a
 * device without a guard process. */
void tact_guard_serve_force(struct tact_guard_force_page *page,
                            const struct tact_guard_requests *guard_requests);

/* Runs a haptic device through its manufacturer's library. */
void tact_guard_serve_haptic(struct tact_guard_haptic_page *page,
                             const struct tact_guard_requests *guard_requests);

#endif
