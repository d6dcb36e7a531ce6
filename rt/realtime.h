/**
 * Real-time set-up of a thread, with a report: what was granted, what was refused, why, and how
 * to fix it.
 *
 * Refusals are not fatal unless options.require is set: a loop without privileges still runs.
 * Threads inherit the scheduling of the thread that creates them, so create libraries' threads (an
 * OpenCL context, a recorder) before entering real time, or from another thread.
 *
 * The fuse: a SCHED_FIFO thread that never sleeps starves its processor. RLIMIT_RTTIME limits how
 * long it may run without blocking. At the limit a handler for SIGXCPU, installed while a thread is
 * entered, returns the thread to SCHED_OTHER and sets a flag, tact_realtime_fuse_blown(); the
 * process continues, and the thread competes like any other. SIGXCPU from RLIMIT_CPU cannot be
 * distinguished and blows the fuse too.
 */
#ifndef TACT_RT_REALTIME_H
#define TACT_RT_REALTIME_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_REALTIME_ITEMS 8       /**< most steps of a report */
#define TACT_REALTIME_CPU_LAST (-1) /**< the last processor that the thread may use */
#define TACT_REALTIME_CPU_ANY (-2)  /**< do not change the affinity */

/** The requested real-time settings. */
struct tact_realtime_options {
    int priority;       /**< SCHED_FIFO priority, 1 to 99; 0: unchanged; default 80 */
    int cpu;            /**< processor, or TACT_REALTIME_CPU_*; default the last one */
    int lock_memory;    /**< mlockall(); default 1 */
    int dma_latency_us; /**< maximum wake-up latency of idle processors [us], requested through
                           /dev/cpu_dma_latency; -1: unchanged; default 0 */
    int64_t fuse_us;    /**< maximum run without sleeping [us]; 0: no fuse; default 200000 */
    int timer_slack_ns; /**< maximum delay of timers of a normal thread [ns]; 0: unchanged; default
                           1 */
    size_t stack_size;  /**< stack size of tact_realtime_thread()'s threads [bytes]; touched on
                           entering; default 512 KiB */
    int require;        /**< 1: fail if anything is refused; default 0 */
};

/** One step of the set-up. */
struct tact_realtime_item {
    char name[16]; /**< scheduler, memory, affinity, dma_latency, fuse, timer_slack, stack */
    int granted;   /**< 1 granted, 0 refused */
    int error;     /**< errno of a refusal, else 0 */
    char why[160]; /**< why it was refused, or what was granted instead; else empty */
    char fix[256]; /**< the command or setting that fixes it; else empty */
};

/** The result of every requested step. */
struct tact_realtime_report {
    int count;                                           /**< number of items */
    int refused;                                         /**< number of items refused */
    struct tact_realtime_item item[TACT_REALTIME_ITEMS]; /**< [count] items */
};

/** Defaults: priority 80, locked memory, a fuse; what is refused is only reported. Real-time safe.
 */
TACT_API struct tact_realtime_options tact_realtime_default(void);

/** The processor to which tact_realtime_enter() would pin the calling thread for an option `cpu`;
 * -1 if it does not change the affinity. Not real-time safe. */
TACT_API int tact_realtime_processor(int cpu);

/**
 * Sets up the calling thread. Several threads of a process may be entered: locked memory, the
 * fuse and its signal handler belong to the process, are set by the first and undone by the last;
 * the reports of the others state what applies to them. A thread that requests the last processor
 * gets the last to which no other is pinned, or shares one, which is reported. report may be NULL.
 * Not real-time safe: may take long, as it faults all pages in.
 * @retval 0 done; see the report for refusals
 * @retval -EINVAL priority, cpu, fuse or slack out of range
 * @retval -EBUSY this thread is entered already
 * @retval -errno of the first refusal, with options->require; everything is undone then
 */
TACT_API int tact_realtime_enter(const struct tact_realtime_options *options,
                                 struct tact_realtime_report *report);

/** Undoes tact_realtime_enter() on the same thread: scheduling, affinity, slack, latency request
 * and, if no other thread is entered, fuse, handler and locked memory (of the whole process). Not
 * real-time safe. */
TACT_API void tact_realtime_leave(void);

/** 1 if the calling thread ran longer than the fuse without sleeping since it entered (also after
 * it left, until it enters again). Real-time safe. */
TACT_API int tact_realtime_fuse_blown(void);

/**
 * Creates a joinable normal thread that can enter real time: a small stack, so that locking it
 * cannot fail under a low memory limit, scheduling not inherited, and all signals blocked, so that
 * handlers run elsewhere (entering unblocks SIGXCPU). Not real-time safe.
 * @retval 0, -EINVAL for a stack that is too small, -EAGAIN, other negative errno of pthread_create
 */
TACT_API int tact_realtime_thread(pthread_t *thread, const struct tact_realtime_options *options,
                                  void *(*run)(void *), void *arg);

TACT_END_DECLS

#endif
