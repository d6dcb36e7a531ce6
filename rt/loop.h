/**
 * The loop: one callback at every tick of an absolute time grid, t_k = start + k * period.
 *
 * Two clocks run the same callback. The real clock (CLOCK_MONOTONIC) wakes a thread set up for real
 * time at each t_k. The free-wheeling clock runs the ticks one after the other, as fast as they
 * compute, on a normal thread; its times are the grid's, not the wall's.
 *
 * What the real clock does when it is behind:
 * - Every tick of the grid is executed. After a stall the ticks that are due run back to back until
 *   the grid is caught up with.
 * - A backlog over options.max_backlog_ns is not worked off: the ticks that are due are skipped and
 *   the loop goes on with the next one to come. Tick numbers keep to the grid, so a callback sees a
 *   gap in them.
 * - Nothing is hidden: a tick of the backlog counts as late and its wake latency is measured from
 * its own t_k; skipped ticks are counted as skipped and as missed.
 * - A loop that has been behind for a quarter of the real-time fuse sleeps for 50 us, so that the
 * fuse (realtime.h) blows for a callback that does not come back, not for a machine that is too
 * slow. When it blows the thread loses its priority, the loop ends after the callback, should it
 * return, and tact_loop_run() gives -ETIME.
 *
 * On the real clock the tick path makes no system call but clock_gettime (vDSO) and
 * clock_nanosleep.
 */
#ifndef TACT_RT_LOOP_H
#define TACT_RT_LOOP_H

#include <stdint.h>
#include "../contact/api.h"
#include "histogram.h"
#include "realtime.h"

TACT_BEGIN_DECLS

enum tact_loop_clock {
    TACT_LOOP_REAL, /**< CLOCK_MONOTONIC, real time */
    TACT_LOOP_FREE, /**< free-wheeling */
};

/** A request to stop, set by any thread or signal handler. Zero is "go on". */
struct tact_stop {
    int requested; /**< through tact_stop_request() and tact_stop_requested() only */
};

/** Async-signal-safe and real-time safe. */
TACT_API void tact_stop_request(struct tact_stop *stop);

/** 1 where a stop was requested, else 0 (also for NULL). Async-signal-safe and real-time safe. */
TACT_API int tact_stop_requested(const struct tact_stop *stop);

struct tact_loop_options {
    int64_t period_ns; /**< > 0; default 1000000 */
    uint64_t ticks;    /**< length of the grid; 0 (default): until stopped */
    int clock;         /**< enum tact_loop_clock; default TACT_LOOP_REAL */
    int64_t start_ns;  /**< t_0 [ns]; 0 (default): a period after the thread is ready (real), or now
                            (free-wheeling), on CLOCK_MONOTONIC */
    int64_t max_backlog_ns; /**< see above; at least a period is used; default 100 ms */
    struct tact_realtime_options realtime; /**< real clock; of it, both clocks use stack_size */
    struct tact_stop *stop;                /**< or NULL; looked at before every tick */
    void *user;                            /**< handed to the callbacks */
    /** One tick, on the loop's thread. planned_ns is t_k; woke_ns when it really began, equal to
     *  planned_ns on the free-wheeling clock. Real time: must not allocate, lock, print or block.
     * It may read the stats, which do not yet include this tick. */
    void (*tick)(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns);
    /** Free-wheeling clock only, before each tick, on the same thread: may block, for example to
     * wait for a moment source. Not 0 ends the loop; a negative value is returned by
     * tact_loop_run(). */
    int (*between)(void *user, uint64_t tick);
};

struct tact_loop_stats {
    int64_t start_ns;  /**< t_0 */
    uint64_t ticks;    /**< ticks of the grid accounted for: executed + skipped */
    uint64_t executed; /**< callbacks run */
    uint64_t skipped;  /**< ticks given up because the backlog was too long */
    uint64_t late;     /**< executed, but begun more than a tenth of the period after t_k */
    uint64_t missed;   /**< finished after t_k + period, or skipped */
    int stopped;       /**< 1: ended by the stop request */
    int fuse_blown;    /**< 1: ended by the fuse */
    struct tact_histogram
        wake_latency;              /**< t_k to the callback's begin [ns]; empty free-wheeling */
    struct tact_histogram compute; /**< begin to end of the callback [ns] */
    struct tact_realtime_report realtime; /**< empty free-wheeling */
};

TACT_API struct tact_loop_options tact_loop_default(void);

/**
 * Runs the loop on a thread of its own and returns when it has ended and the thread is joined; real
 * time is set up before t_0 and undone after the last tick. *stats is reset first and written by
 * the loop's thread. Should a callback never return, neither does this function: see realtime.h for
 * what the fuse does about it. Not real-time safe.
 * @retval 0 all ticks are accounted for, or a stop was requested, or between() gave a positive
 * value
 * @retval -EINVAL no tick callback, or period, clock or real-time options out of range
 * @retval -ETIME the fuse blew
 * @retval -errno where the thread could not be made, real time was required and refused
 *         (stats->realtime tells), the clock failed, or between() gave it
 */
TACT_API int tact_loop_run(const struct tact_loop_options *options, struct tact_loop_stats *stats);

TACT_END_DECLS

#endif
