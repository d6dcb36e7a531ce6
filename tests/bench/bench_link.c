/*
 * What an end of a link adds to a tick of the loop: two ends in two loops of 1 kHz over a socket of
 * this machine, six axes and the largest packets, beside loops that are idle, in turn.
 *
 *     bench_link [--seconds 5] [--rounds 3] [--no-bar]
 *
 * Prints one JSON object. Exits with 1 where the 99th percentile of receiving or of sending is over
 * 50 us, with 2 on an error.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices/network/network_internal.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/loop.h"

enum { ENDS = 2, AXES = 6 };
static const double allowed_link_p99_us = 50.0;

struct end {
    struct tact_device device;
    struct tact_device_input input;
    uint64_t tick; /* next tick of the link's device, counted over all rounds */
    struct tact_histogram link_receive_durations, send_durations;
    struct tact_loop_stats stats;
    struct tact_loop_options loop;
    struct tact_histogram tick_durations_without_link,
        tick_durations_with_link; /* durations of ticks without and with the link */
};

static struct end ends[ENDS];

static void tick_without_link(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns)
{
    (void)user;
    (void)tick;
    (void)planned_ns;
    (void)woke_ns;
}

static void tick_with_link(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns)
{
    struct end *end = user;
    double out[TACT_NETWORK_FIRST_AXIS_OUTPUT + AXES * TACT_NETWORK_AXIS_NUMBERS] = {
        [TACT_NETWORK_HELD] = 1.0, [TACT_NETWORK_TERMS_OUTPUT] = 1.0};
    (void)tick;
    (void)planned_ns;
    for (size_t i = TACT_NETWORK_FIRST_AXIS_OUTPUT; i < sizeof out / sizeof *out; i++) {
        out[i] = 0.01 * (double)(end->tick % 100);
    }
    const int64_t start_ns = tact_clock_now();
    end->device.ops->read(end->device.self, end->tick, 1e-3 * (double)end->tick, woke_ns,
                          &end->input);
    const int64_t receive_end_ns = tact_clock_now();
    end->device.ops->write(end->device.self, out, receive_end_ns);
    const int64_t send_end_ns = tact_clock_now();
    end->tick++;
    if (end->input.state == TACT_DEVICE_OK) {
        tact_histogram_add(&end->link_receive_durations, receive_end_ns - start_ns);
        tact_histogram_add(&end->send_durations, send_end_ns - receive_end_ns);
    }
}

static void *run_loop_of_end(void *user)
{
    struct end *end = user;
    const int code = tact_loop_run(&end->loop, &end->stats);
    if (code) {
        fprintf(stderr, "bench_link: the loop: %s\n", strerror(-code));
        exit(2);
    }
    return NULL;
}

/* Runs both loops at the same time, and adds the durations of their ticks. */
static void run_both_loops(int has_link, uint64_t ticks)
{
    pthread_t threads[ENDS];
    for (int i = 0; i < ENDS; i++) {
        ends[i].loop = tact_loop_default();
        ends[i].loop.realtime.cpu = TACT_REALTIME_CPU_ANY;
        ends[i].loop.ticks = ticks;
        ends[i].loop.user = &ends[i];
        ends[i].loop.tick = has_link ? tick_with_link : tick_without_link;
        if (pthread_create(&threads[i], NULL, run_loop_of_end, &ends[i])) {
            fprintf(stderr, "bench_link: cannot start a thread\n");
            exit(2);
        }
    }
    for (int i = 0; i < ENDS; i++) {
        pthread_join(threads[i], NULL);
        tact_histogram_merge(has_link ? &ends[i].tick_durations_with_link
                                      : &ends[i].tick_durations_without_link,
                             &ends[i].stats.compute);
    }
}

static void open_both_link_ends(void)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    const struct tact_device_type *type = tact_device_type_find(types, count, "network");
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%d", 16384 + (int)getpid() % 16384);
    for (int i = 0; i < ENDS; i++) {
        const struct tact_device_setting settings[] = {
            {.key = i ? "connect" : "listen", .text = address},
            {.key = "axes", .text = "6"},
            {.key = "repeats", .text = "20"},
            {.key = "jitter", .text = "0.02"}};
        const struct tact_device_config config = {.name = "link",
                                                  .directory = "",
                                                  .file = "bench_link",
                                                  .settings = settings,
                                                  .setting_count = 4,
                                                  .period = 1e-3};
        struct tact_error err = {.line = 0};
        if (type->open(&config, &ends[i].device, &err)) {
            fprintf(stderr, "bench_link: %s\n", err.text);
            exit(2);
        }
        tact_histogram_reset(&ends[i].link_receive_durations);
        tact_histogram_reset(&ends[i].send_durations);
        tact_histogram_reset(&ends[i].tick_durations_without_link);
        tact_histogram_reset(&ends[i].tick_durations_with_link);
    }
}

static double print_merged_durations(const char *name,
                                     const struct tact_histogram *first_end_durations,
                                     const struct tact_histogram *second_end_durations)
{
    struct tact_histogram durations_of_both_ends = *first_end_durations;
    tact_histogram_merge(&durations_of_both_ends, second_end_durations);
    const struct tact_histogram_summary s = tact_histogram_summarise(&durations_of_both_ends);
    printf("\"%s_us\": {\"p50\": %.2f, \"p99\": %.2f, \"p99.9\": %.2f, \"max\": %.2f}, ", name,
           1e-3 * (double)s.p50, 1e-3 * (double)s.p99, 1e-3 * (double)s.p999, 1e-3 * (double)s.max);
    return 1e-3 * (double)s.p99;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"seconds", required_argument, NULL, 's'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"no-bar", no_argument, NULL, 'n'},
                                          {0}};
    long seconds = 5, rounds = 3;
    int option, has_bar = 1;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        seconds = option == 's' ? strtol(optarg, NULL, 10) : seconds;
        rounds = option == 'r' ? strtol(optarg, NULL, 10) : rounds;
        has_bar &= option != 'n';
        if (option == '?' || seconds < 1 || seconds > 3600 || rounds < 1 || rounds > 100) {
            fprintf(stderr, "bench_link: expected 1 to 3600 seconds and 1 to 100 rounds\n");
            return 2;
        }
    }
    open_both_link_ends();
    for (long i = 0; i < rounds; i++) {
        run_both_loops(0, 1000 * (uint64_t)seconds);
        run_both_loops(1, 1000 * (uint64_t)seconds);
    }
    printf("{");
    print_merged_durations("idle_tick", &ends[0].tick_durations_without_link,
                           &ends[1].tick_durations_without_link);
    print_merged_durations("linked_tick", &ends[0].tick_durations_with_link,
                           &ends[1].tick_durations_with_link);
    const double link_receive_p99_us = print_merged_durations(
        "receive", &ends[0].link_receive_durations, &ends[1].link_receive_durations);
    const double link_send_p99_us =
        print_merged_durations("send", &ends[0].send_durations, &ends[1].send_durations);
    const unsigned long long measured =
        ends[0].link_receive_durations.count + ends[1].link_receive_durations.count;
    printf("\"ticks\": %llu, \"bar_us\": %g}\n", measured, allowed_link_p99_us);
    for (int i = 0; i < ENDS; i++) {
        ends[i].device.ops->close(ends[i].device.self);
    }
    if (measured == 0) {
        fprintf(stderr, "bench_link: the two ends did not connect\n");
        return 2;
    }
    return has_bar &&
           (link_receive_p99_us > allowed_link_p99_us || link_send_p99_us > allowed_link_p99_us);
}
