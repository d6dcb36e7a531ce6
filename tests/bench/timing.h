/* Processor time of a benchmark, and the order of its durations. */
#ifndef TACT_BENCH_TIMING_H
#define TACT_BENCH_TIMING_H

#include <time.h>

/* CPU time of this thread [s]; other programs do not count. */
static inline double thread_cpu_time_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int compare_durations_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

#endif
