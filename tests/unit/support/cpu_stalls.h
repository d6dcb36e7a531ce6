/* Records the times at which a processor ran nothing for longer than a deadline, as happens where a
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

enum {
    MAX_WATCHED_CPUS = 64,
    MAX_STALLS = 1 << 16,
    MIN_STALL_NS = 500000,
    WATCH_INTERVAL_NS = 1000000
};

static struct {
    pthread_t thread[MAX_WATCHED_CPUS];
    int thread_count;
    pthread_mutex_t lock;
    struct cpu_stall {
        int64_t begin, end; /* CLOCK_MONOTONIC [ns] */
    } stall[MAX_STALLS];
    int stall_count; /* number of stalls, of which the first MAX_STALLS are recorded */
    atomic_bool must_end;
} cpu_watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline void record_cpu_stall(int64_t begin, int64_t end)
{
    pthread_mutex_lock(&cpu_watch.lock);
    if (cpu_watch.stall_count < MAX_STALLS) {
        cpu_watch.stall[cpu_watch.stall_count] = (struct cpu_stall){begin, end};
    }
    cpu_watch.stall_count++;
    pthread_mutex_unlock(&cpu_watch.lock);
}

static inline void *record_stalls_of_cpu(void *unused)
{
    int64_t next = tact_clock_now();
    (void)unused;
    while (!atomic_load(&cpu_watch.must_end)) {
        next += WATCH_INTERVAL_NS;
        tact_clock_sleep_until(next);
        const int64_t now = tact_clock_now();
        if (now - next > MIN_STALL_NS) {
            record_cpu_stall(next, now);
        }
        next = now > next + WATCH_INTERVAL_NS ? now : next;
    }
    return NULL;
}

static inline void start_stall_watch_threads(void)
{
    const struct sched_param highest_priority = {.sched_priority =
                                                     sched_get_priority_max(SCHED_FIFO)};
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) {
        return;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE && cpu_watch.thread_count < MAX_WATCHED_CPUS; cpu++) {
        cpu_set_t one;
        pthread_t *thread = &cpu_watch.thread[cpu_watch.thread_count];
        if (!CPU_ISSET(cpu, &allowed) || pthread_create(thread, NULL, record_stalls_of_cpu, NULL)) {
            continue;
        }
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(*thread, sizeof one, &one);
        pthread_setschedparam(*thread, SCHED_FIFO, &highest_priority);
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

/* Time within [from, to] in which processors were stalled, those of several summed [ns]. Call it
 * once the stalls have ended. */
static inline int64_t cpu_stall_ns_between(int64_t from, int64_t to)
{
    int64_t sum = 0;
    pthread_mutex_lock(&cpu_watch.lock);
    const int count = cpu_watch.stall_count < MAX_STALLS ? cpu_watch.stall_count : MAX_STALLS;
    for (int i = 0; i < count; i++) {
        const int64_t begin = cpu_watch.stall[i].begin, end = cpu_watch.stall[i].end;
        const int64_t first = begin > from ? begin : from, last = end < to ? end : to;
        sum += last > first ? last - first : 0;
    }
    pthread_mutex_unlock(&cpu_watch.lock);
    return sum;
}

#endif
