/*
 * Wake-up latency of the loop with an empty tick. tests/bench/loop runs it beside cyclictest.
 *
 *     bench_loop [--seconds 5] [--priority 80] [--cpu N]
 *
 * Prints one JSON object; exits with 0, with 3 where SCHED_FIFO was refused, with 2 on an error.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/loop.h"

#define EXIT_SCHEDULER_REFUSED 3

static void empty_tick(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns)
{
    (void)user;
    (void)tick;
    (void)planned_ns;
    (void)woke_ns;
}

/* Reads a whole number between low and high; -1 where the text is none. */
static long read_number(const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno || end == text || *end || value < low || value > high ? -1 : value;
}

static int parse_loop_options(int argc, char **argv, struct tact_loop_options *loop)
{
    static const struct option names[] = {{"seconds", required_argument, NULL, 's'},
                                          {"priority", required_argument, NULL, 'p'},
                                          {"cpu", required_argument, NULL, 'c'},
                                          {0}};
    long value;
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 's':
            value = read_number(optarg, 1, 3600);
            loop->ticks = (uint64_t)value * 1000;
            break;
        case 'p':
            value = read_number(optarg, 1, 99);
            loop->realtime.priority = (int)value;
            break;
        case 'c':
            value = read_number(optarg, 0, 1023);
            loop->realtime.cpu = (int)value;
            break;
        default:
            return -EINVAL;
        }
        if (value < 0) {
            fprintf(stderr, "bench_loop: %s is not a number that this option takes\n", optarg);
            return -EINVAL;
        }
    }
    return optind == argc ? 0 : -EINVAL;
}

static int was_scheduler_granted(const struct tact_realtime_report *report)
{
    for (int i = 0; i < report->count; i++)
        if (!strcmp(report->item[i].name, "scheduler"))
            return report->item[i].granted;
    return 0;
}

int main(int argc, char **argv)
{
    static struct tact_loop_stats stats;
    struct tact_loop_options loop = tact_loop_default();
    loop.ticks = 5000;
    loop.tick = empty_tick;
    if (parse_loop_options(argc, argv, &loop))
        return 2;

    int code = tact_loop_run(&loop, &stats);
    if (code) {
        fprintf(stderr, "bench_loop: the loop: %s\n", strerror(-code));
        return 2;
    }
    struct tact_histogram_summary wake = tact_histogram_summarise(&stats.wake_latency);
    int granted = was_scheduler_granted(&stats.realtime);
    printf("{\"ticks\": %llu, \"missed\": %llu, \"fifo\": %s, \"wake_latency_us\": {\"p50\": %.3f, "
           "\"p99\": %.3f, \"p99.9\": %.3f, \"max\": %.3f}}\n",
           (unsigned long long)stats.ticks, (unsigned long long)stats.missed,
           granted ? "true" : "false", (double)wake.p50 * 1e-3, (double)wake.p99 * 1e-3,
           (double)wake.p999 * 1e-3, (double)wake.max * 1e-3);
    return granted ? 0 : EXIT_SCHEDULER_REFUSED;
}
