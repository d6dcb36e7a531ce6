/**
 * The loop: one callback at every tick of an absolute time grid, t_k = start + k * period.
 *
 * Two clocks run the same callback. The real clock (CLOCK_MONOTONIC) wakes a real-time thread at
 * each t_k. The free-wheeling clock runs the ticks one after the other, as fast as they compute, on
 * a normal thread; its times are those of the grid.
 *
 * If the real clock is late:
 * - Every tick of the grid is executed. After a stall the ticks that are due run back to back until
 * the loop has caught up with the grid.
 * - A backlog over options.max_backlog_ns is not executed: the ticks that are due are skipped and
 * the loop continues with the next one. Tick numbers follow the grid, so a callback gets a gap in
 * them.
 * - Everything is counted: a tick of the backlog is late and its wake-up latency is measured from
 * its own t_k; skipped ticks are counted as skipped and as missed.
 * - A loop that has been late for a quarter of the fuse's time sleeps for 50 us, so that the fuse
 * (realtime.h) blows for a callback that does not return, not for a machine that is too slow. When
 * it blows the thread loses its priority, the loop ends after the callback, if that returns, and
 * tact_loop_run() returns -ETIME.
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

/** Which clock the ticks follow. */
enum tact_loop_clock {
    TACT_LOOP_REAL, /**< CLOCK_MONOTONIC, real time */
    TACT_LOOP_FREE, /**< free-wheeling */
};

/** A request to stop, set by any thread or signal handler. Zero-initialised: no request. */
struct tact_stop {
    int requested; /**< access with tact_stop_request() and tact_stop_requested() only */
};

/** Async-signal-safe and real-time safe. */
TACT_API void tact_stop_request(struct tact_stop *stop);

/** 1 if a stop was requested, else 0 (also for NULL). Async-signal-safe and real-time safe. */
TACT_API int tact_stop_requested(const struct tact_stop *stop);

/** How a loop runs. */
struct tact_loop_options {
    int64_t period_ns; /**< > 0; default 1000000 */
    uint64_t ticks;    /**< length of the grid; 0 (default): until stopped */
    int clock;         /**< enum tact_loop_clock; default TACT_LOOP_REAL */
    int64_t start_ns;  /**< t_0 [ns]; 0 (default): a period after the thread is ready (real), or now
                            (free-wheeling), on CLOCK_MONOTONIC */
    int64_t max_backlog_ns; /**< backlog of due ticks that is still executed [ns]; longer ones are
                               skipped; at least one period is used; default 100 ms */
    /** real-time options of the thread; a free-wheeling loop uses stack_size only */
    struct tact_realtime_options realtime;
    struct tact_stop *stop; /**< stop request that is checked before every tick, or NULL */
    void *user;             /**< argument of the callbacks */
    /** One tick, on the loop's thread. planned_ns is t_k; woke_ns the time at which it began, equal
     * to planned_ns on the free-wheeling clock. Real time: must not allocate, lock, print or block.
     * It may read the stats, which do not yet include this tick. */
    void (*tick)(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns);
    /** Free-wheeling clock only, before each tick, on the same thread: may block, for example to
     * wait for a moment source. A value other than 0 ends the loop; a negative one is returned by
     * tact_loop_run(). */
    int (*between)(void *user, uint64_t tick);
};

/** Result of a run of the loop. */
struct tact_loop_stats {
    int64_t start_ns;  /**< t_0 */
    uint64_t ticks;    /**< ticks of the grid so far: executed + skipped */
    uint64_t executed; /**< callbacks run */
    uint64_t skipped;  /**< ticks skipped because the backlog was too long */
    uint64_t late;     /**< executed, but started more than a tenth of the period after t_k */
    uint64_t missed;   /**< finished after t_k + period, or skipped */
    int stopped;       /**< 1: ended by the stop request */
    int fuse_blown;    /**< 1: the CPU-time fuse ended the loop */
    /** from t_k to the start of the callback [ns]; empty if free-wheeling */
    struct tact_histogram wake_latency;
    struct tact_histogram compute;        /**< duration of the callback [ns] */
    struct tact_realtime_report realtime; /**< result of the real-time set-up of the loop's thread;
                                             empty if free-wheeling */
};

/** Defaults: a real-time loop of 1 kHz without end. Real-time safe. */
TACT_API struct tact_loop_options tact_loop_default(void);

/**
 * Runs the loop on a thread of its own and returns when it has ended and the thread is joined;
 * real time is set up before t_0 and undone after the last tick. *stats is reset first and written
 * by the loop's thread. If a callback never returns, neither does this function: see realtime.h for
 * what the fuse does. Not real-time safe.
 * @retval 0 all ticks are done, or a stop was requested, or between() returned a positive value
 * @retval -EINVAL no tick callback, or period, clock or real-time options out of range
 * @retval -ETIME the fuse blew
 * @retval -errno the thread could not be created, real time was required and refused (see
 *                stats->realtime), the clock failed, or between() returned it
 */
TACT_API int tact_loop_run(const struct tact_loop_options *options, struct tact_loop_stats *stats);

TACT_END_DECLS

#endif
