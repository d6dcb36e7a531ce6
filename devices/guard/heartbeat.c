/* Parts common to all kinds of guards: the conditions on which a guard ends, and the controller's
 * heartbeat. */
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "devices/guard/serve_internal.h"

enum { MIN_SLEEP_NS = 10000000 }; /* [ns] shortest system sleep (suspend) that is detected */

static bool has_controller_process_ended(int process)
{
    struct pollfd fd = {.fd = process, .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
}

int tact_guard_must_end(const struct tact_guard_page_header *head,
                        const struct tact_guard_requests *guard_requests)
{
    return atomic_load_explicit(&head->must_guard_quit, memory_order_acquire) ||
           (guard_requests->end && *guard_requests->end) ||
           (guard_requests->controller &&
            atomic_load_explicit(&head->state, memory_order_relaxed) != TACT_GUARD_PASSING &&
            has_controller_process_ended(guard_requests->controller));
}

void tact_guard_lock_memory(bool loads_libraries)
{
    struct rlimit limit;
    const bool is_unlimited =
        getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
    mlockall(loads_libraries && !is_unlimited ? MCL_CURRENT : MCL_CURRENT | MCL_FUTURE);
}

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Upper bound of the suspended time: the time between the two clock readings counts as suspended,
 * which it does not in lower_bound_of_suspended_time(). */
int64_t tact_guard_suspended_time_bound(void)
{
    const int64_t time_without_suspend_ns = read_clock_ns(CLOCK_MONOTONIC);
    return read_clock_ns(CLOCK_BOOTTIME) - time_without_suspend_ns;
}

static int64_t lower_bound_of_suspended_time(void)
{
    const int64_t all = read_clock_ns(CLOCK_BOOTTIME);
    return all - read_clock_ns(CLOCK_MONOTONIC);
}

int tact_guard_zero_requested(const struct tact_guard_requests *guard_requests)
{
    int reported = guard_requests->zero_outputs && *guard_requests->zero_outputs;
    if (reported) {
        *guard_requests->zero_outputs = 0;
    }
    if (guard_requests->slept) {
        const int64_t slept = lower_bound_of_suspended_time();
        if (slept > *guard_requests->slept + MIN_SLEEP_NS) {
            *guard_requests->slept = slept;
            reported = 1;
        }
    }
    return reported;
}

static void publish_guard_state(struct tact_guard_heartbeat *heart, enum tact_guard_state state)
{
    heart->state = state;
    atomic_store_explicit(&heart->head->trips, heart->trips, memory_order_relaxed);
    atomic_store_explicit(&heart->head->state, (uint32_t)state, memory_order_release);
}

void tact_guard_start_heartbeat(struct tact_guard_heartbeat *heart,
                                struct tact_guard_page_header *head)
{
    *heart = (struct tact_guard_heartbeat){.head = head, .trips = 1};
    publish_guard_state(heart, TACT_GUARD_INHIBITED);
}

bool tact_guard_take_beat(struct tact_guard_heartbeat *heart)
{
    const uint32_t beat = atomic_load_explicit(&heart->head->beat, memory_order_acquire);
    if (beat == heart->beat) {
        return false;
    }
    heart->beat = beat;
    if (heart->state == TACT_GUARD_INHIBITED &&
        atomic_load_explicit(&heart->head->armed, memory_order_relaxed) == heart->trips) {
        publish_guard_state(heart, TACT_GUARD_PASSING);
    }
    return true;
}

void tact_guard_answer_beat(struct tact_guard_heartbeat *heart, int64_t stamp_ns, int64_t now)
{
    heart->heartbeat_ns = stamp_ns > 0 && stamp_ns <= now ? stamp_ns : now;
    atomic_store_explicit(&heart->head->handled_heartbeat, heart->beat, memory_order_release);
}

bool tact_guard_is_beat_overdue(const struct tact_guard_heartbeat *heart, int64_t now)
{
    return heart->state == TACT_GUARD_PASSING &&
           now - heart->heartbeat_ns >= heart->head->timeout_ns;
}

void tact_guard_trip(struct tact_guard_heartbeat *heart)
{
    heart->trips++;
    publish_guard_state(heart, TACT_GUARD_INHIBITED);
}
