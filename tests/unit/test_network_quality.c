/*
 * What is measured of a link: clock offset, delays, losses against a simulated link whose numbers
 * are known; and the stiffness of a line of wave variables against a simulation of one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "devices/network/clock_offset_internal.h"
#include "examples/link_quality.h"
#include "support/random.h"

static const int64_t us = 1000;

/* Echoes over a link with delays of its own in each direction. */
static void clock_offset_is_that_of_the_fastest_echo(void **state)
{
    (void)state;
    static const int64_t clock_offsets_ns[] = {0, 7777777, -1234567890123, INT64_MAX / 2};
    for (size_t k = 0; k < sizeof clock_offsets_ns / sizeof *clock_offsets_ns; k++) {
        struct tact_network_clock_offset_estimate clock = {.start_of_present_second_ns = 0};
        const int64_t least_outward_link_delay_ns = 20000 * us, back_least = 21000 * us;
        int64_t least = INT64_MAX;
        for (int i = 0; i < 5000; i++) {
            const int64_t sent = 1000000000 + i * 1000 * us;
            const int64_t out = least_outward_link_delay_ns + (int64_t)uniform(0.0, 3e6);
            const int64_t back = back_least + (int64_t)uniform(0.0, 3e6);
            const int64_t held = (int64_t)uniform(0.0, 1e6);
            const struct tact_network_round_trip_stamps stamps = {
                .sent_ns = sent,
                .other_end_received_ns = sent + out + clock_offsets_ns[k],
                .other_end_sent_ns = sent + out + held + clock_offsets_ns[k],
                .received_ns = sent + out + held + back};
            assert_int_equal(tact_network_clock_add_stamps(&clock, &stamps), out + back);
            least = out + back < least ? out + back : least;
        }
        const struct tact_network_clock_sample best = tact_network_clock_best_sample(&clock);
        /* The clock offset is wrong by half of the difference of the fastest delays of the two
         * directions. */
        const int64_t error = best.clock_offset_to_other_end_ns - clock_offsets_ns[k];
        assert_true(best.is_valid && best.round_trip_ns - least < 400 * us);
        assert_true(llabs(error + 500 * us) < 200 * us);
    }
    struct tact_network_clock_offset_estimate clock = {.start_of_present_second_ns = 0};
    const struct tact_network_round_trip_stamps round_trip_stamps_out_of_order = {
        .sent_ns = 10, .other_end_received_ns = 5, .other_end_sent_ns = 100, .received_ns = 20};
    assert_int_equal(tact_network_clock_add_stamps(&clock, &round_trip_stamps_out_of_order), -1);
    assert_false(tact_network_clock_best_sample(&clock).is_valid);
    const struct tact_network_round_trip_stamps round_trip_stamps_of_far_future = {
        .sent_ns = 1,
        .other_end_received_ns = INT64_MIN,
        .other_end_sent_ns = INT64_MIN + 2,
        .received_ns = INT64_MAX};
    assert_true(tact_network_clock_add_stamps(&clock, &round_trip_stamps_of_far_future) >= 0);
}

/* Packets with delays of 20 ms and an exponential tail, of which some are lost in bursts. */
static void measured_losses_and_delays_are_those_of_the_link(void **state)
{
    (void)state;
    enum { TICKS = 100000 };
    static struct link_arrival link_arrivals[TICKS];
    static double delay[TICKS];
    const int64_t offset = -987654321098;
    uint64_t lost = 0, longest = 0, gap = 0;
    size_t count = 0;
    int bad = 0;
    for (int i = 0; i < TICKS; i++) {
        delay[i] = 20e6 - 1e6 * log(1.0 - uniform(0.0, 0.999999)); /* [ns] */
        bad = bad ? uniform(0.0, 1.0) > 0.2 : uniform(0.0, 1.0) < 0.01;
        const int is_lost = bad && i > 0 && i < TICKS - 1;
        gap = is_lost ? gap + 1 : 0;
        lost += (uint64_t)is_lost;
        longest = gap > longest ? gap : longest;
        if (!is_lost) {
            const int64_t sent = 1000 * us * i;
            link_arrivals[count++] = (struct link_arrival){.tick = (uint64_t)i + 77,
                                                           .sent_ns = sent + offset,
                                                           .received_ns = sent + (int64_t)delay[i]};
        }
    }
    struct link_quality q;
    link_quality(link_arrivals, count, offset, &q);
    assert_int_equal(q.expected_packet_count, TICKS);
    assert_int_equal(q.lost, lost);
    assert_int_equal(q.longest_loss_gap, longest);
    assert_true(fabs((double)q.smallest_packet_delay - 20e6) < 1e4);
    assert_true(fabs((double)q.delay_p50 - (20e6 + 1e6 * log(2.0))) < 2e4);
    assert_true(fabs((double)q.delay_p99 - (20e6 + 1e6 * log(100.0))) < 1.5e5);
    assert_true(fabs((double)q.delay_p999 - (20e6 + 1e6 * log(1000.0))) < 5e5);
    const struct link_channel_settings channel = link_channel_settings(&q, 1e-3);
    print_message("%llu lost, %llu in a row, p99.9 %.2f ms: playout of %d ticks\n",
                  (unsigned long long)q.lost, (unsigned long long)q.longest_loss_gap,
                  (double)q.delay_p999 * 1e-6, channel.playout_delay_ticks);
    assert_true(channel.repeated_wave_count == 20 && !channel.is_longest_gap_covered &&
                longest > 20);
    assert_true(channel.playout_delay_ticks == (int)ceil((double)q.delay_p999 * 1e-6) + 20);
    assert_true(channel.drift_correction_gain == 2.0);
    q.delay_p999 = 200000 * us;
    const struct link_channel_settings slow_link_settings = link_channel_settings(&q, 1e-3);
    assert_true(slow_link_settings.playout_delay_ticks == 220 &&
                slow_link_settings.drift_correction_gain == 0.5 / (2.0 * slow_link_settings.delay));

    struct link_arrival few[4] = {{.tick = 5, .sent_ns = INT64_MIN, .received_ns = INT64_MAX},
                                  {.tick = 3, .sent_ns = INT64_MAX, .received_ns = INT64_MIN},
                                  {.tick = 5, .sent_ns = 0, .received_ns = 0},
                                  {.tick = UINT64_MAX, .sent_ns = 0, .received_ns = 0}};
    link_quality(few, 4, INT64_MAX, &q); /* quality of a link whose peer sends nonsense */
    assert_true(q.overtaken_packet_count == 1 && q.lost == q.expected_packet_count - 3);
    assert_true(link_channel_settings(&q, 1e-3).delay <= 60.1);
    q.delay_p999 = INT64_MAX;
    assert_true(link_channel_settings(&q, 1e-3).delay <= 60.1);
}

/* A line with delay d whose far end is blocked, pushed slowly: force over displacement. */
static double simulate_wave_line_stiffness(double b, int delay, double period)
{
    enum { LONGEST = 1000 };
    static double waves_to_far_end[LONGEST], waves_to_near_end[LONGEST];
    double x = 0.0, force = 0.0;
    memset(waves_to_far_end, 0, sizeof waves_to_far_end);
    memset(waves_to_near_end, 0, sizeof waves_to_near_end);
    const double rate = 1e-3;
    for (int k = 0; k < 200 * delay; k++) {
        const double wave_at_near_end = waves_to_near_end[k % delay];
        /* Near end of the line: a velocity is imposed; the wave that arrives gives the force. */
        force = b * rate - sqrt(2.0 * b) * wave_at_near_end;
        const double sent = (b * rate + force) / sqrt(2.0 * b);
        /* Far end of the line: it is blocked, so that the wave returns with the other sign. */
        const double wave_at_far_end = waves_to_far_end[k % delay];
        waves_to_far_end[k % delay] = sent;
        waves_to_near_end[k % delay] = -wave_at_far_end;
        x += rate * period;
    }
    return force / x;
}

static void wave_line_is_as_stiff_as_stated(void **state)
{
    (void)state;
    for (int delay = 5; delay <= 200; delay *= 2) {
        const double period = 1e-3, b = 10.0;
        const double expected = link_wave_stiffness(b, delay * period);
        const double simulated_stiffness = simulate_wave_line_stiffness(b, delay, period);
        print_message("%d ms: %.1f N/m, simulated %.1f\n", delay, expected, simulated_stiffness);
        assert_true(fabs(simulated_stiffness / expected - 1.0) < 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_offset_is_that_of_the_fastest_echo),
        cmocka_unit_test(measured_losses_and_delays_are_those_of_the_link),
        cmocka_unit_test(wave_line_is_as_stiff_as_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
