/**
 * Real-time set-up of a thread: what was granted, what was refused, why, and how to get it.
 *
 * Nothing here is fatal unless options.require says so: a loop without privileges still runs, and
 * its report says what it lacks. Threads inherit the scheduling of the thread that creates them, so
 * make whatever starts threads of its own (an OpenCL context, a recorder) before entering real
 * time, or from another thread.
 *
 * The fuse: a SCHED_FIFO thread that never sleeps starves its processor. RLIMIT_RTTIME limits how
 * long it may run without blocking. When that is over a handler for SIGXCPU, installed while a
 * thread is entered, returns the thread to SCHED_OTHER and sets a flag, tact_realtime_fuse_blown();
 * the process lives on and the runaway competes like any other thread. SIGXCPU from RLIMIT_CPU
 * cannot be told apart and blows the fuse too.
 */
#ifndef TACT_RT_REALTIME_H
#define TACT_RT_REALTIME_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_REALTIME_ITEMS 8
#define TACT_REALTIME_CPU_LAST (-1) /**< the last processor that the thread may use */
#define TACT_REALTIME_CPU_ANY (-2)  /**< leave the affinity alone */

struct tact_realtime_options {
    int priority;       /**< SCHED_FIFO priority, 1 to 99; 0: stay as it is; default 80 */
    int cpu;            /**< processor, or TACT_REALTIME_CPU_*; default the last one */
    int lock_memory;    /**< mlockall(); default 1 */
    int dma_latency_us; /**< most wake-up latency of idle processors [us], held through
                             /dev/cpu_dma_latency; -1: leave; default 0 */
    int64_t fuse_us;    /**< longest run without sleeping [us]; 0: no fuse; default 200000 */
    int timer_slack_ns; /**< how late timers of a normal thread may fire [ns]; 0: leave; default 1
                         */
    size_t stack_size;  /**< of tact_realtime_thread()'s threads [bytes]; touched on entering;
                             default 512 KiB */
    int require;        /**< refuse to go on where anything is refused; default 0 */
};

/** One step of the set-up. */
struct tact_realtime_item {
    char name[16]; /**< scheduler, memory, affinity, dma_latency, fuse, timer_slack, stack */
    int granted;   /**< 1 granted, 0 refused */
    int error;     /**< errno of a refusal, else 0 */
    char why[160]; /**< why it was refused, or what was given instead; else empty */
    char fix[256]; /**< the command or setting that would get it; else empty */
};

/** What became of every step that was asked for. */
struct tact_realtime_report {
    int count;
    int refused; /**< number of items refused */
    struct tact_realtime_item item[TACT_REALTIME_ITEMS];
};

TACT_API struct tact_realtime_options tact_realtime_default(void);

/** The processor that tact_realtime_enter() moves the calling thread to for an option `cpu`; -1
 *  where it leaves the affinity alone. Not real-time safe. */
TACT_API int tact_realtime_processor(int cpu);

/**
 * Sets up the calling thread. Several threads of a process may be entered: locked memory, the fuse
 * and its signal handler belong to the process, are set by the first and undone by the last, and
 * the reports of the others say what they have of it. A thread that asks for the last processor
 * gets the last that no other is pinned to, or shares one, and is told. report may be NULL. Not
 * real-time safe: may take long, as it pages everything in.
 * @retval 0 done; see the report for what was refused
 * @retval -EINVAL priority, cpu, fuse or slack out of range
 * @retval -EBUSY this thread is entered already
 * @retval -errno of the first refusal, where options->require; everything is undone then
 */
TACT_API int tact_realtime_enter(const struct tact_realtime_options *options,
                                 struct tact_realtime_report *report);

/** Undoes what tact_realtime_enter() did, on the same thread: scheduling, affinity, slack, latency
 *  request and, where no other thread is entered, fuse and handler and locked memory (all of the
 *  process's). Not real-time safe. */
TACT_API void tact_realtime_leave(void);

/** 1 where the calling thread ran longer than the fuse without sleeping, since it entered (also
 * after it left, until it enters again). Real-time safe. */
TACT_API int tact_realtime_fuse_blown(void);

/**
 * Creates a joinable normal thread that is fit to enter real time: a small stack of its own, so
 * that locking it cannot fail where the memory limit is low, scheduling not inherited, and all
 * signals blocked, so that handlers run elsewhere (SIGXCPU is let in on entering). Not real-time
 * safe.
 * @retval 0, -EINVAL for a stack that is too small, -EAGAIN, other negative errno of pthread_create
 */
TACT_API int tact_realtime_thread(pthread_t *thread, const struct tact_realtime_options *options,
                                  void *(*run)(void *), void *arg);

TACT_END_DECLS

#endif
