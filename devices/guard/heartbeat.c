/* Parts common to all kinds of guards: the conditions on which a guard ends, and the controller's
 * heartbeat. */
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "devices/guard/serve_internal.h"

enum { MIN_SLEEP_NS = 10000000 }; /* [ns] shortest system sleep (suspend) that is detected */

static bool has_controller_process_ended(int controller_process_fd)
{
    struct pollfd fd = {.fd = controller_process_fd, .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
}

int tact_guard_must_guard_end(const struct tact_guard_page_header *head,
                              const struct tact_guard_requests *guard_requests)
{
    return atomic_load_explicit(&head->must_guard_end, memory_order_acquire) ||
           (guard_requests->end && *guard_requests->end) ||
           (guard_requests->controller_pidfd &&
            atomic_load_explicit(&head->state, memory_order_relaxed) != TACT_GUARD_PASSING &&
            has_controller_process_ended(guard_requests->controller_pidfd));
}

void tact_guard_lock_memory(bool must_allow_loading_libraries)
{
    struct rlimit limit;
    const bool is_locked_memory_unlimited =
        getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
    mlockall(must_allow_loading_libraries && !is_locked_memory_unlimited
                 ? MCL_CURRENT
                 : MCL_CURRENT | MCL_FUTURE);
}

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Upper bound of the suspended time: the time between the two clock readings counts as suspended,
 * which it does not in suspended_ns_lower_bound(). */
int64_t tact_guard_suspended_time_upper_bound(void)
{
    const int64_t monotonic_clock_ns = read_clock_ns(CLOCK_MONOTONIC);
    return read_clock_ns(CLOCK_BOOTTIME) - monotonic_clock_ns;
}

static int64_t suspended_ns_lower_bound(void)
{
    const int64_t all = read_clock_ns(CLOCK_BOOTTIME);
    return all - read_clock_ns(CLOCK_MONOTONIC);
}

int tact_guard_is_zeroing_requested(const struct tact_guard_requests *guard_requests)
{
    int reported = guard_requests->zero_outputs && *guard_requests->zero_outputs;
    if (reported) {
        *guard_requests->zero_outputs = 0;
    }
    if (guard_requests->suspended_ns_at_start) {
        const int64_t suspended_ns_at_start = suspended_ns_lower_bound();
        if (suspended_ns_at_start > *guard_requests->suspended_ns_at_start + MIN_SLEEP_NS) {
            *guard_requests->suspended_ns_at_start = suspended_ns_at_start;
            reported = 1;
        }
    }
    return reported;
}

static void publish_guard_state(struct tact_guard_heartbeat_state *heartbeat,
                                enum tact_guard_state state)
{
    heartbeat->state = state;
    atomic_store_explicit(&heartbeat->head->trip_count, heartbeat->trip_count,
                          memory_order_relaxed);
    atomic_store_explicit(&heartbeat->head->state, (uint32_t)state, memory_order_release);
}

void tact_guard_start_heartbeat(struct tact_guard_heartbeat_state *heartbeat,
                                struct tact_guard_page_header *head)
{
    *heartbeat = (struct tact_guard_heartbeat_state){.head = head, .trip_count = 1};
    publish_guard_state(heartbeat, TACT_GUARD_INHIBITED);
}

bool tact_guard_handle_new_heartbeat(struct tact_guard_heartbeat_state *heartbeat)
{
    const uint32_t heartbeat_number =
        atomic_load_explicit(&heartbeat->head->heartbeat_number, memory_order_acquire);
    if (heartbeat_number == heartbeat->heartbeat_number) {
        return false;
    }
    heartbeat->heartbeat_number = heartbeat_number;
    if (heartbeat->state == TACT_GUARD_INHIBITED &&
        atomic_load_explicit(&heartbeat->head->trip_number_when_armed, memory_order_relaxed) ==
            heartbeat->trip_count) {
        publish_guard_state(heartbeat, TACT_GUARD_PASSING);
    }
    return true;
}

void tact_guard_acknowledge_heartbeat(struct tact_guard_heartbeat_state *heartbeat,
                                      int64_t stamp_ns, int64_t now)
{
    heartbeat->heartbeat_age_start_ns = stamp_ns > 0 && stamp_ns <= now ? stamp_ns : now;
    atomic_store_explicit(&heartbeat->head->acknowledged_heartbeat_number,
                          heartbeat->heartbeat_number, memory_order_release);
}

bool tact_guard_is_heartbeat_overdue(const struct tact_guard_heartbeat_state *heartbeat,
                                     int64_t now)
{
    return heartbeat->state == TACT_GUARD_PASSING &&
           now - heartbeat->heartbeat_age_start_ns >= heartbeat->head->timeout_ns;
}

void tact_guard_trip(struct tact_guard_heartbeat_state *heartbeat)
{
    heartbeat->trip_count++;
    publish_guard_state(heartbeat, TACT_GUARD_INHIBITED);
}
