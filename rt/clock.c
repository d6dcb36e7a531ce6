#include "rt/clock.h"

#include <errno.h>
#include <time.h>

#define NS_PER_S 1000000000LL

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t tact_clock_now(void)
{
    return read_clock_ns(CLOCK_MONOTONIC);
}

struct tact_clock_anchor tact_clock_anchor_now(void)
{
    struct tact_clock_anchor clock_anchor_with_least_error = {0, 0, INT64_MAX};
    for (int i = 0; i < 8; i++) {
        const int64_t monotonic_before_wall_read_ns = read_clock_ns(CLOCK_MONOTONIC);
        const int64_t wall_clock_ns = read_clock_ns(CLOCK_REALTIME);
        const int64_t monotonic_after_wall_read_ns = read_clock_ns(CLOCK_MONOTONIC);
        const int64_t error =
            (monotonic_after_wall_read_ns - monotonic_before_wall_read_ns + 1) / 2;
        if (error < clock_anchor_with_least_error.error_ns) {
            clock_anchor_with_least_error = (struct tact_clock_anchor){
                monotonic_before_wall_read_ns +
                    (monotonic_after_wall_read_ns - monotonic_before_wall_read_ns) / 2,
                wall_clock_ns, error};
        }
    }
    return clock_anchor_with_least_error;
}

int64_t tact_clock_wall(const struct tact_clock_anchor *anchor, int64_t monotonic_ns)
{
    return anchor->wall_ns + (monotonic_ns - anchor->monotonic_ns);
}

int tact_clock_sleep_until(int64_t deadline_ns)
{
    const struct timespec t = {.tv_sec = deadline_ns / NS_PER_S, .tv_nsec = deadline_ns % NS_PER_S};
    int rc;
    do {
        rc = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    } while (rc == EINTR);
    return -rc;
}
