/*
 * What one end of a link costs its loop: processor time of receiving and sending, of six axes with
 * the largest packets and keys, at each tick of two ends over a socket of this machine. Beside it,
 * in the same ticks, that of an idle loop, which reads the clock only, and of a plain datagram of
 * the same size. Processor time and the best of several rounds, as the machine may be busy;
 * tests/bench/bench_link measures the time of the clock at 1 kHz.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "devices/network/network_internal.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "support/campaign.h"
#include "support/device_config.h"
#include "support/free_port.h"

enum { ENDS = 2, TICKS = 2000, ROUNDS = 5 };
enum { RECEIVE, SEND, IDLE, PLAIN, KINDS };

/* Largest 99th percentile of receiving and of sending in a tick [ns]; where plain datagrams are
 * slow, as on an emulator, a multiple of the median of theirs. */
static const int64_t allowed_p99_tick_duration_ns = 50000;
enum { MOST_OF_PLAIN = 10 };

static struct device_config device_configs[ENDS];
static struct tact_device devices[ENDS];
static struct tact_device_input inputs[ENDS];

static int64_t processor_time(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void open_link_ends(void)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    const struct tact_device_type *type = tact_device_type_find(types, count, "network");
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%d", find_free_udp_port());
    for (int i = 0; i < ENDS; i++) {
        const struct tact_device_setting settings[] = {
            SETTING(i ? "connect" : "listen", address), SETTING("axes", "6"),
            SETTING("repeats", "20"), SETTING("jitter", "0.02")};
        device_config_init(&device_configs[i], settings, 4);
        assert_int_equal(type->open(&device_configs[i].config, &devices[i], &device_configs[i].err),
                         0);
    }
}

static void read_network_device_of_end(int end, uint64_t tick)
{
    devices[end].ops->read(devices[end].self, tick, 1e-3 * (double)tick, tact_clock_now(),
                           &inputs[end]);
}

static void write_network_device_of_end(int end, uint64_t tick)
{
    double out[TACT_NETWORK_FIRST_AXIS_OUTPUT + TACT_NETWORK_MAX_AXES * TACT_NETWORK_AXIS_NUMBERS] =
        {[TACT_NETWORK_HELD] = 1.0, [TACT_NETWORK_TERMS_OUTPUT] = 1.0};
    for (int i = TACT_NETWORK_FIRST_AXIS_OUTPUT; i < (int)(sizeof out / sizeof *out); i++) {
        out[i] = 0.01 * (double)(tick % 100) + i;
    }
    devices[end].ops->write(devices[end].self, out, tact_clock_now());
}

static uint64_t complete_handshake_of_link_ends(void)
{
    uint64_t tick = 0;
    do {
        usleep(2000);
        for (int i = 0; i < ENDS; i++) {
            read_network_device_of_end(i, tick);
            write_network_device_of_end(i, tick);
        }
        assert_true(++tick < 5000);
    } while (inputs[0].state != TACT_DEVICE_OK || inputs[1].state != TACT_DEVICE_OK);
    return tick;
}

static int compare_durations(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* Times of a round of ticks, sorted [ns]. */
static int64_t tick_durations[KINDS][TICKS];

static void measure_tick_durations_in_round(uint64_t first, int plain)
{
    static char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES];
    for (int k = 0; k < TICKS; k++) {
        const uint64_t tick = first + (uint64_t)k;
        int64_t at[KINDS + 1];
        at[RECEIVE] = processor_time();
        read_network_device_of_end(0, tick);
        at[SEND] = processor_time();
        write_network_device_of_end(0, tick);
        at[IDLE] = processor_time();
        tact_clock_now();
        at[PLAIN] = processor_time();
        assert_true(send(plain, datagram, sizeof datagram, 0) == (ssize_t)sizeof datagram);
        assert_true(recv(plain, datagram, sizeof datagram, 0) == (ssize_t)sizeof datagram);
        at[KINDS] = processor_time();
        for (int i = 0; i < KINDS; i++) {
            tick_durations[i][k] = at[i + 1] - at[i];
        }
        read_network_device_of_end(1, tick);
        write_network_device_of_end(1, tick);
        assert_int_equal(inputs[0].state, TACT_DEVICE_OK);
    }
    for (int i = 0; i < KINDS; i++) {
        qsort(tick_durations[i], TICKS, sizeof **tick_durations, compare_durations);
    }
}

/* A socket that sends to itself. */
static int open_socket_that_sends_to_itself(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)find_free_udp_port()),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void receiving_and_sending_take_little_of_the_loop(void **state)
{
    (void)state;
    static const char *const names[KINDS] = {"receive", "send", "idle", "plain datagram"};
    const int median_index_of_tick_durations = TICKS / 2,
              index_of_99th_percentile = TICKS - TICKS / 100;
    int64_t least[KINDS], of_plain = 0;
    if (IS_SANITIZER_BUILD) {
        skip();
    }
    open_link_ends();
    const uint64_t first = complete_handshake_of_link_ends();
    const int plain = open_socket_that_sends_to_itself();
    const struct tact_network_device *end = devices[0].self;
    const uint64_t received = end->channel.counts.received_packet_count;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        measure_tick_durations_in_round(first + i * TICKS, plain);
        for (int k = 0; k < KINDS; k++) {
            print_message("%s: median %.1f, p99 %.1f us; ", names[k],
                          1e-3 * (double)tick_durations[k][median_index_of_tick_durations],
                          1e-3 * (double)tick_durations[k][index_of_99th_percentile]);
            least[k] = i == 0 || tick_durations[k][index_of_99th_percentile] < least[k]
                           ? tick_durations[k][index_of_99th_percentile]
                           : least[k];
        }
        of_plain = i == 0 || tick_durations[PLAIN][median_index_of_tick_durations] < of_plain
                       ? tick_durations[PLAIN][median_index_of_tick_durations]
                       : of_plain;
        print_message("\n");
    }
    assert_true(end->channel.counts.received_packet_count - received >= ROUNDS * TICKS - 1);
    assert_true(end->unsent_packet_count == 0 && end->unsendable_tick_count == 0);
    of_plain *= MOST_OF_PLAIN;
    const int64_t most =
        least[IDLE] +
        (of_plain > allowed_p99_tick_duration_ns ? of_plain : allowed_p99_tick_duration_ns);
    assert_in_range(least[RECEIVE], least[IDLE], most);
    assert_in_range(least[SEND], least[IDLE], most);
    close(plain);
    for (int i = 0; i < ENDS; i++) {
        devices[i].ops->close(devices[i].self);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receiving_and_sending_take_little_of_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
