/**
 * Time: CLOCK_MONOTONIC in nanoseconds, tied to the wall clock by one anchor per session.
 */
#ifndef TACT_RT_CLOCK_H
#define TACT_RT_CLOCK_H

#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

/** One instant on both clocks. */
struct tact_clock_anchor {
    int64_t monotonic_ns; /**< CLOCK_MONOTONIC [ns] */
    int64_t wall_ns;      /**< CLOCK_REALTIME at that instant [ns since 1970-01-01 UTC] */
    int64_t error_ns;     /**< maximum difference between the two instants [ns], >= 0 */
};

/** CLOCK_MONOTONIC now [ns]. Real-time safe (no system call where the vDSO serves the clock). */
TACT_API int64_t tact_clock_now(void);

/** Reads CLOCK_MONOTONIC and the wall clock several times and returns the pair of readings with the
 * smallest error. Not real-time safe. */
TACT_API struct tact_clock_anchor tact_clock_anchor_now(void);

/** Wall time of a CLOCK_MONOTONIC instant [ns since 1970-01-01 UTC]. Real-time safe. */
TACT_API int64_t tact_clock_wall(const struct tact_clock_anchor *anchor, int64_t monotonic_ns);

/**
 * Sleeps until the CLOCK_MONOTONIC instant deadline_ns; returns at once if it has passed. Signals
 * do not shorten the sleep. Real-time safe: the one blocking call of the loop.
 * @retval 0, or a negative errno of clock_nanosleep other than -EINTR (-EINVAL: deadline below 0)
 */
TACT_API int tact_clock_sleep_until(int64_t deadline_ns);

TACT_END_DECLS

#endif
