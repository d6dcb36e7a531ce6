/* Counts the times at which a processor ran nothing for longer than a deadline, as happens where a
 * host shares it with others: a thread of the highest priority on each processor measures how late
 * it wakes. Without real-time priority any busy time counts. */
#ifndef TACT_TESTS_CPU_STALLS_H
#define TACT_TESTS_CPU_STALLS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "rt/clock.h"

enum { MAX_WATCHED_CPUS = 64, STALL_NS = 3000000, WATCH_INTERVAL_NS = 1000000 };

static struct {
    pthread_t thread[MAX_WATCHED_CPUS];
    int thread_count;
    atomic_int stall_count;
    atomic_bool must_end;
} cpu_watch;

static inline void *watch_cpu(void *unused)
{
    int64_t next = tact_clock_now();
    (void)unused;
    while (!atomic_load(&cpu_watch.must_end)) {
        next += WATCH_INTERVAL_NS;
        tact_clock_sleep_until(next);
        const int64_t now = tact_clock_now();
        atomic_fetch_add(&cpu_watch.stall_count, now - next > STALL_NS ? 1 : 0);
        next = now > next + WATCH_INTERVAL_NS ? now : next;
    }
    return NULL;
}

static inline void start_watching_cpus(void)
{
    const struct sched_param highest = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) {
        return;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE && cpu_watch.thread_count < MAX_WATCHED_CPUS; cpu++) {
        cpu_set_t one;
        pthread_t *thread = &cpu_watch.thread[cpu_watch.thread_count];
        if (!CPU_ISSET(cpu, &allowed) || pthread_create(thread, NULL, watch_cpu, NULL)) {
            continue;
        }
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(*thread, sizeof one, &one);
        pthread_setschedparam(*thread, SCHED_FIFO, &highest);
        cpu_watch.thread_count++;
    }
}

static inline void stop_watching_cpus(void)
{
    atomic_store(&cpu_watch.must_end, true);
    for (int i = 0; i < cpu_watch.thread_count; i++) {
        pthread_join(cpu_watch.thread[i], NULL);
    }
}

/* Number of stalls so far. */
static inline int cpu_stall_count(void)
{
    return atomic_load(&cpu_watch.stall_count);
}

#endif
