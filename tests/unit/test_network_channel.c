/*
 * The constant channel and the seeded link under it: no link generates energy while missing waves
 * are zero; each wave is used once, in its order, a constant number of ticks later; clocks that
 * drift; loops that are late; packets that are malformed.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "devices/network/channel_internal.h"
#include "devices/network/seeded_link_internal.h"
#include "rt/wave_internal.h"
#include "support/random.h"

static struct tact_network_channel sender, receiver;
static struct tact_simulated_link *simulated_link;

static const struct tact_network_channel_options plain_channel_options = {
    .axes = 2, .repeats = 4, .jitter = 5, .period = 1e-3};

static void restart_simulated_link_and_channels(const struct tact_network_channel_options *channel,
                                                const struct tact_simulated_link_options *link)
{
    assert_int_equal(tact_network_channel_init(&sender, channel), 0);
    assert_int_equal(tact_network_channel_init(&receiver, channel), 0);
    assert_int_equal(simulated_link ? tact_simulated_link_restart(simulated_link, link)
                                    : tact_simulated_link_create(link, &simulated_link),
                     0);
}

/* Sums over all samples of the squares of the waves that were sent and used [W], which the test
 * counts itself, beside the channel; times half the sample period they are energies. */
static double sum_of_squares_of_sent_waves, sum_of_squares_of_used_waves;

static void send_two_axis_wave(double first, double second, int64_t now)
{
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    const struct tact_network_sample sample = {.wave = {first, second}, .flags = 5};
    const ssize_t size = tact_network_channel_send(&sender, &sample, now, payload);
    assert_true(size > 0);
    tact_simulated_link_send(simulated_link, now, payload, (size_t)size);
    sum_of_squares_of_sent_waves += first * first + second * second;
}

static struct tact_network_sample play_out_channel_at(int64_t now)
{
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    struct tact_network_sample out;
    ssize_t size;
    while ((size = tact_simulated_link_receive(simulated_link, now, payload)) >= 0) {
        tact_network_channel_receive(&receiver, payload, (size_t)size, now);
    }
    tact_network_channel_get_sample_of_tick(&receiver, &out);
    sum_of_squares_of_used_waves += out.wave[0] * out.wave[0] + out.wave[1] * out.wave[1];
    return out;
}

static void wave_channel_generates_no_energy(void **state)
{
    (void)state;
    const int links = campaign_trial_count(2000, 1000000);
    double least = 0.0, least_by_channel = 0.0, sent_squares[600];
    uint64_t missing = 0;
    for (int i = 0; i < links; i++) {
        sum_of_squares_of_sent_waves = sum_of_squares_of_used_waves = 0.0;
        const double start = uniform(0.0, 0.6);
        const struct tact_simulated_link_options link = {
            .seed = random_bits(),
            .delay = uniform(0.0, 0.2),
            .jitter = uniform(0.0, 0.03),
            .lost_packet_fraction = uniform(0.0, 0.5),
            .mean_loss_burst_duration = i % 3 ? uniform(1e-3, 0.03) : 0.0,
            .duplicated_packet_fraction = uniform(0.0, 0.3),
            .reordered_packet_fraction = uniform(0.0, 0.3),
            .link_blackout_interval = {start, start + (i % 4 ? 0.0 : uniform(0.0, 1.0))}};
        const struct tact_network_channel_options channel = {
            .axes = 2, .repeats = i % 21, .jitter = i % 31, .period = 1e-3};
        restart_simulated_link_and_channels(&channel, &link);
        for (int k = 0; k < 600; k++) {
            if (k < 200 && i % 2) { /* no energy of the time in which the channel still fills */
                send_two_axis_wave(0.0, 0.0, 1000000 * (int64_t)k + 1);
            } else if (k % 64 < i % 7) { /* the sender reports that its end is kept where it is */
                send_two_axis_wave(TACT_WAVE_STOPPED, TACT_WAVE_AT_REST, 1000000 * (int64_t)k + 1);
            } else {
                /* in the end small waves, so that nothing is under way that could hide an excess */
                send_two_axis_wave(k < 300 ? uniform(-3.0, 3.0) : 0.0, k < 300 ? 1.0 : 1e-3,
                                   1000000 * (int64_t)k + 1);
            }
            play_out_channel_at(1000000 * (int64_t)k + 1);
            sent_squares[k] = sum_of_squares_of_sent_waves;
            const int newest =
                k - (int)(1e3 * link.delay); /* newest tick whose waves may have arrived */
            least = fmin(least, 0.5e-3 * ((newest < 0 ? 0.0 : sent_squares[newest]) -
                                          sum_of_squares_of_used_waves));
        }
        least_by_channel = fmin(least_by_channel, receiver.least_energy);
        missing += receiver.counts.missing_wave_count;
    }
    print_message("%d links: least energy %.1e J, by the channel's account %.1e J, %llu waves "
                  "missing\n",
                  links, least, least_by_channel, (unsigned long long)missing);
    assert_true(least > -1e-12 && least_by_channel > -1e-12 && missing > (uint64_t)links);
}

static void wave_channel_uses_each_wave_once_at_a_constant_delay(void **state)
{
    (void)state;
    /* Without bursts, 4 repeats replace all but about 1e-7 of the losses. */
    const struct tact_simulated_link_options link = {.seed = 7,
                                                     .delay = 0.02,
                                                     .jitter = 0.005,
                                                     .lost_packet_fraction = 0.02,
                                                     .duplicated_packet_fraction = 0.1};
    double last = 0.0;
    int delay = -1;
    restart_simulated_link_and_channels(&plain_channel_options, &link);
    for (int k = 0; k < 20000; k++) {
        send_two_axis_wave(k + 1, 0.0, 1000000 * (int64_t)k);
        const struct tact_network_sample in = play_out_channel_at(1000000 * (int64_t)k);
        if (!in.missing) {
            assert_true(last == 0.0 || in.wave[0] == last + 1.0);
            delay = delay < 0 ? k + 1 - (int)in.wave[0] : delay;
            assert_int_equal(k + 1 - (int)in.wave[0], delay);
            last = in.wave[0];
        }
    }
    const struct tact_network_channel_counts *c = &receiver.counts;
    const struct tact_simulated_link_counts l = tact_simulated_link_counts(simulated_link);
    print_message("delay %d ticks; %llu of %llu lost, %llu repeated, %llu duplicate\n", delay,
                  (unsigned long long)c->lost_packet_count, (unsigned long long)l.lost,
                  (unsigned long long)c->recovered_wave_count,
                  (unsigned long long)c->duplicate_packet_count);
    assert_true(delay >= 29 && delay <= 30 && c->recovered_wave_count > 300 &&
                c->missing_wave_count == 0);
    assert_true(c->duplicate_packet_count > 1000 && c->duplicate_packet_count <= l.duplicated);
    assert_true(c->lost_packet_count <= l.lost && l.overflow_packet_count == 0 &&
                c->inserted_wave_count + c->dropped_wave_count == 0);
}

/* The clock of one site is fast or slow by 1 ms/s, ten times what is to be expected; an hour in
 * the long form. */
static void wave_channel_drops_or_inserts_waves_as_clocks_drift(void **state)
{
    (void)state;
    const struct tact_simulated_link_options link = {.delay = 0.01};
    const int ticks = campaign_trial_count(20000, 3600000);
    for (int fast = 0; fast < 2; fast++) {
        const int64_t step = fast ? 999000 : 1001000;
        int64_t send_time_ns = 0;
        restart_simulated_link_and_channels(&plain_channel_options, &link);
        for (int k = 0; k < ticks; k++) {
            for (; send_time_ns <= 1000000 * (int64_t)k; send_time_ns += step) {
                send_two_axis_wave(1.0, 0.5, send_time_ns);
            }
            play_out_channel_at(1000000 * (int64_t)k);
            assert_true(k < 200 || (tact_network_channel_playout_fill(&receiver) >= 3 &&
                                    tact_network_channel_playout_fill(&receiver) <= 15));
        }
        const struct tact_network_channel_counts *c = &receiver.counts;
        print_message("%llu dropped, %llu inserted, %llu missing\n",
                      (unsigned long long)c->dropped_wave_count,
                      (unsigned long long)c->inserted_wave_count,
                      (unsigned long long)c->missing_wave_count);
        const int64_t off = llabs((int64_t)ticks * 1000000 / step - ticks);
        assert_in_range(fast ? c->dropped_wave_count : c->inserted_wave_count, off - 4, off + 4);
        assert_true((fast ? c->inserted_wave_count : c->dropped_wave_count) == 0 &&
                    c->missing_wave_count == 0);
        assert_true(receiver.least_energy > -1e-12);
    }
}

/* The delay of the link grows from 20 to 200 ms at 2 s; the flags sent from then on are 0. */
static void increased_link_delay_is_measured_again(void **state)
{
    (void)state;
    enum { STEP = 2000, LATER = 180, TICKS = 3000 };
    static unsigned char sent[TICKS][TACT_NETWORK_PAYLOAD];
    size_t size[TICKS];
    assert_int_equal(tact_network_channel_init(&sender, &plain_channel_options), 0);
    assert_int_equal(tact_network_channel_init(&receiver, &plain_channel_options), 0);
    int was_receiving_channel_stale = 0;
    double last = 0.0;
    for (int k = 0; k < TICKS; k++) {
        const struct tact_network_sample sample = {.wave = {k + 1.0, 0.0}, .flags = k < STEP};
        struct tact_network_sample out;
        size[k] =
            (size_t)tact_network_channel_send(&sender, &sample, 1000000 * (int64_t)k, sent[k]);
        const int at[] = {k - 20, k - 20 - LATER};
        for (int i = 0; i < 2; i++) {
            if (at[i] >= 0 && (at[i] < STEP) == !i) {
                tact_network_channel_receive(&receiver, sent[at[i]], size[at[i]],
                                             1000000 * (int64_t)k);
            }
        }
        tact_network_channel_get_sample_of_tick(&receiver, &out);
        was_receiving_channel_stale |= receiver.state == TACT_NETWORK_CHANNEL_STALE;
        assert_true(k < STEP + 20 + LATER || out.flags == 0);
        assert_true(out.missing || out.wave[0] > last);
        last = out.missing ? last : out.wave[0];
    }
    print_message("%llu restarts, last wave %g ticks late\n",
                  (unsigned long long)receiver.counts.channel_restart_count, TICKS - last);
    assert_true(was_receiving_channel_stale && receiver.counts.channel_restart_count == 1);
    assert_int_equal(receiver.state, TACT_NETWORK_CHANNEL_OK);
    assert_true(TICKS - last >= 200.0 && TICKS - last <= 212.0);
}

/* The receiving loop is late by 40 ms once, and then runs its ticks one after the other: packets
 * are early by that in one quarter of a second, and the delay is the same. */
static void late_loop_does_not_change_the_measured_link_delay(void **state)
{
    (void)state;
    enum { LATE = 1100, BY = 40 };
    const struct tact_simulated_link_options link = {.delay = 0.02};
    restart_simulated_link_and_channels(&plain_channel_options, &link);
    for (int k = 0; k < 2000; k++) {
        send_two_axis_wave(1.0, 1.0, 1000000 * (int64_t)k);
        for (int i = k == LATE + BY ? BY : 0; i >= 0 && (k < LATE || k >= LATE + BY); i--) {
            const struct tact_network_sample out = play_out_channel_at(1000000 * (int64_t)k);
            assert_true(k < 400 || (!out.missing && out.wave[0] == 1.0));
        }
    }
    assert_int_equal(receiver.counts.channel_restart_count, 0);
}

/* The delay of the link falls from 200 to 20 ms at 1 s; the channel notices it after two quarters
 * of a second. */
static void decreased_link_delay_is_measured_again(void **state)
{
    (void)state;
    struct tact_simulated_link_options link = {.delay = 0.2};
    double last = 0.0;
    restart_simulated_link_and_channels(&plain_channel_options, &link);
    for (int k = 0; k < 3000; k++) {
        if (k == 1000) {
            link.delay = 0.02;
            assert_int_equal(tact_simulated_link_restart(simulated_link, &link), 0);
        }
        send_two_axis_wave(k + 1.0, 0.0, 1000000 * (int64_t)k);
        const struct tact_network_sample out = play_out_channel_at(1000000 * (int64_t)k);
        assert_true(out.missing || out.wave[0] > last);
        last = out.missing ? last : out.wave[0];
    }
    assert_int_equal(receiver.counts.channel_restart_count, 1);
    assert_true(3000 - last >= 20.0 && 3000 - last <= 32.0);
}

/* 80 packets of a steady wave are lost: the channel puts out zeros once the known energy is used
 * up, and from the next packet on the steady wave, without a rise from zero. */
static void steady_wave_returns_after_a_gap_in_the_link(void **state)
{
    (void)state;
    const struct tact_simulated_link_options link = {.delay = 0.02,
                                                     .link_blackout_interval = {0.5, 0.58}};
    int zero_wave_count = 0;
    restart_simulated_link_and_channels(&plain_channel_options, &link);
    for (int k = 0; k < 1000; k++) {
        send_two_axis_wave(1.0, 1.0, 1000000 * (int64_t)k);
        const struct tact_network_sample out = play_out_channel_at(1000000 * (int64_t)k);
        zero_wave_count += k > 400 && out.wave[0] == 0.0;
        assert_true(k < 400 || out.wave[0] == 0.0 || fabs(out.wave[0] - 1.0) < 1e-12);
    }
    print_message("%d zeros, %llu missing, least energy %g J\n", zero_wave_count,
                  (unsigned long long)receiver.counts.missing_wave_count, receiver.least_energy);
    assert_true(zero_wave_count > 0 && zero_wave_count < 80 && receiver.least_energy > -1e-12);
}

/* A cut of 1 s, after which packets arrive first that were sent before it, as those do that waited
 * for the address of a network interface: the channel uses waves again as soon as without them. */
static void old_packets_after_a_cut_delay_no_wave(void **state)
{
    enum { CUT_START = 500, CUT_END = 1500, OLD_PACKETS = 3, END = 2500 };
    unsigned char payload[OLD_PACKETS][TACT_NETWORK_PAYLOAD];
    ssize_t size[OLD_PACKETS] = {0};
    const struct tact_network_sample sent = {.wave = {1.0, 1.0}};
    (void)state;
    for (int old_packet_count = 0; old_packet_count <= OLD_PACKETS;
         old_packet_count += OLD_PACKETS) {
        int back = 0;
        restart_simulated_link_and_channels(&plain_channel_options,
                                            &(struct tact_simulated_link_options){.delay = 0.0});
        for (int k = 0; k < END; k++) {
            const int64_t now = 1000000 * (int64_t)k;
            struct tact_network_sample out;
            unsigned char newest[TACT_NETWORK_PAYLOAD];
            const ssize_t length = tact_network_channel_send(&sender, &sent, now, newest);
            if (k >= CUT_START && k < CUT_START + OLD_PACKETS) {
                memcpy(payload[k - CUT_START], newest, sizeof newest);
                size[k - CUT_START] = length;
            }
            for (int i = 0; k == CUT_END && i < old_packet_count; i++) {
                tact_network_channel_receive(&receiver, payload[i], (size_t)size[i], now);
            }
            if (k < CUT_START || k >= CUT_END) {
                tact_network_channel_receive(&receiver, newest, (size_t)length, now);
            }
            tact_network_channel_get_sample_of_tick(&receiver, &out);
            back = k > CUT_END && !back && out.wave[0] > 0.5 ? k : back;
        }
        print_message("%d old packets: waves again %d ticks after the cut, %llu refused\n",
                      old_packet_count, back - CUT_END,
                      (unsigned long long)receiver.counts.refused_packet_count);
        assert_true(back > CUT_END && back < CUT_END + 130);
        assert_true(receiver.counts.refused_packet_count == 0 && receiver.least_energy > -1e-12);
    }
}

/* An end without a wave to send puts marks in place of 10 waves of a steady wave. The marks arrive
 * as they were sent, unless as many waves were lost before them: then waves made of the lost energy
 * replace the marks, but not the mark of an end at rest. All other waves keep their energy. */
static void gap_of_the_sender_is_filled_by_the_energy_of_lost_waves(void **state)
{
    (void)state;
    static const double wave_values_sent_in_gap[] = {TACT_WAVE_MISSING, TACT_WAVE_STOPPED,
                                                     TACT_WAVE_AT_REST};
    for (int i = 0; i < 6; i++) {
        const int are_waves_lost_before_gap = i < 3;
        const double wave_sent_in_gap = wave_values_sent_in_gap[i % 3];
        const struct tact_simulated_link_options cut = {.delay = 0.02,
                                                        .link_blackout_interval = {0.4, 0.43}},
                                                 whole = {.delay = 0.02};
        int filled_wave_count = 0, passed_on_wave_count = 0;
        restart_simulated_link_and_channels(&plain_channel_options,
                                            are_waves_lost_before_gap ? &cut : &whole);
        for (int k = 0; k < 800; k++) {
            /* no wave while the channel still fills at the start */
            const double wave = k >= 500 && k < 510 ? wave_sent_in_gap : k > 300;
            send_two_axis_wave(wave, wave, 1000000 * (int64_t)k);
            const struct tact_network_sample out = play_out_channel_at(1000000 * (int64_t)k);
            if (k >= 529 && k < 539) {
                filled_wave_count += out.wave[0] == 1.0;
                passed_on_wave_count +=
                    out.wave[0] == wave_sent_in_gap && out.wave[1] == wave_sent_in_gap;
            } else {
                assert_true(k < 460 || out.wave[0] == 1.0);
            }
        }
        print_message("wave %g: %d lost before, %d filled, %d passed on, least energy %g J\n",
                      wave_sent_in_gap, (int)receiver.counts.missing_wave_count, filled_wave_count,
                      passed_on_wave_count, receiver.least_energy);
        const int are_gap_waves_filled =
            are_waves_lost_before_gap && wave_sent_in_gap != TACT_WAVE_AT_REST;
        assert_int_equal(filled_wave_count, are_gap_waves_filled ? 10 : 0);
        assert_int_equal(passed_on_wave_count, 10 - filled_wave_count);
        assert_true(receiver.least_energy > -1e-12);
    }
}

/* The marks by which two ends say that they wait for each other arrive as they were sent, a lost
 * one as a copy of the mark before it, also where they are few; the waves around them keep their
 * energy. */
static void waits_of_the_sender_are_not_filled_with_waves(void **state)
{
    (void)state;
    static const double wave_values_meaning_wait[] = {TACT_WAVE_REQUEST_TO_WAIT, TACT_WAVE_WAITING};
    const struct tact_simulated_link_options link = {.delay = 0.02,
                                                     .link_blackout_interval = {0.502, 0.51}};
    for (int i = 0; i < 2; i++) {
        int passed_wait_wave_count = 0;
        restart_simulated_link_and_channels(&plain_channel_options, &link);
        for (int k = 0; k < 800; k++) {
            const double wave = k >= 500 && k < 516 ? wave_values_meaning_wait[i] : k > 300;
            send_two_axis_wave(wave, wave, 1000000 * (int64_t)k);
            const struct tact_network_sample out = play_out_channel_at(1000000 * (int64_t)k);
            passed_wait_wave_count += out.wave[0] == wave_values_meaning_wait[i] &&
                                      out.wave[1] == wave_values_meaning_wait[i];
            assert_true(k <= 400 || out.wave[0] == 1.0 ||
                        out.wave[0] == wave_values_meaning_wait[i]);
        }
        assert_int_equal(passed_wait_wave_count, 16);
        assert_true(receiver.counts.missing_wave_count == 4 && receiver.least_energy > -1e-12);
    }
}

static void bad_packets_do_not_change_the_channel(void **state)
{
    (void)state;
    const struct tact_simulated_link_options link = {.delay = 0.0};
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    restart_simulated_link_and_channels(&plain_channel_options, &link);
    for (int k = 0; k < 300; k++) {
        send_two_axis_wave(1.0, 1.0, 1000000 * (int64_t)k);
        play_out_channel_at(1000000 * (int64_t)k);
    }
    struct tact_network_sample sample = {.wave = {1.0, 1.0}};
    const ssize_t size = tact_network_channel_send(&sender, &sample, 300000000, payload);
    struct tact_network_channel before = receiver;
    uint64_t refused = receiver.counts.refused_packet_count;
    for (ssize_t n = 0; n < size; n++) {
        assert_int_equal(tact_network_channel_receive(&receiver, payload, (size_t)n, 0), -EPROTO);
        refused++;
    }
    /* makes the tick number of the packet far from the expected one */
    for (int byte = 2; byte < 8; byte++) {
        payload[byte] ^= 0x40;
        assert_int_equal(tact_network_channel_receive(&receiver, payload, (size_t)size, 0),
                         -EPROTO);
        payload[byte] ^= 0x40;
        refused++;
    }
    for (ssize_t at = 48; at < size; at += 8) { /* infinite numbers */
        unsigned char bad[TACT_NETWORK_PAYLOAD];
        memcpy(bad, payload, sizeof bad);
        bad[at + 6] = 0xf0;
        bad[at + 7] = 0x7f;
        assert_int_equal(tact_network_channel_receive(&receiver, bad, (size_t)size, 0), -EPROTO);
        refused++;
    }
    assert_int_equal(receiver.counts.refused_packet_count, refused);
    assert_true(receiver.counts.mismatched_packet_count > 0);
    before.counts.refused_packet_count = refused;
    before.counts.mismatched_packet_count = receiver.counts.mismatched_packet_count;
    assert_memory_equal(&receiver, &before, sizeof before);
    sample.wave[1] = NAN;
    assert_int_equal(tact_network_channel_send(&sender, &sample, 0, payload), -EDOM);
}

static void wave_channel_options_are_checked(void **state)
{
    (void)state;
    static const struct tact_simulated_link_options invalid_link_options[] = {
        {.delay = -1.0},
        {.jitter = NAN},
        {.lost_packet_fraction = 0.95},
        {.link_blackout_interval = {2.0, 1.0}}};
    for (size_t i = 0; i < sizeof invalid_link_options / sizeof *invalid_link_options; i++) {
        struct tact_simulated_link *link = NULL;
        assert_int_equal(tact_simulated_link_create(&invalid_link_options[i], &link), -EINVAL);
    }
    struct tact_network_channel_options o = plain_channel_options;
    o.hold = 11;
    assert_int_equal(tact_network_channel_init(&sender, &o), -EINVAL);
    o = plain_channel_options;
    o.axes = 7;
    assert_int_equal(tact_network_channel_init(&sender, &o), -EINVAL);
}

enum { STALL_EVERY_MS = 700, STALL_MS = 90, LINK_DELAY_MS = 2, PACKETS_UNDER_WAY = 256 };

/* An end of a link whose loop is stalled at times and makes up for its ticks afterwards. */
struct link_end_with_stalled_loop {
    struct tact_network_channel channel;
    int64_t tick, stall_phase_ms; /* next tick of the end; time of the end's first stall */
    struct {
        int64_t arrival_time_ns;
        ssize_t size;
        unsigned char payload[TACT_NETWORK_PAYLOAD];
    } packet[PACKETS_UNDER_WAY]; /* to this end */
    unsigned put, taken;
};

static int64_t planned_tick_start_time_of_link_end(const struct link_end_with_stalled_loop *end)
{
    return 1000000000 + end->tick * 1000000;
}

/* Time at which an end's next tick begins: as planned, or at the end of a stall [ns]. */
static int64_t next_tick_start_time(const struct link_end_with_stalled_loop *end)
{
    const int64_t phase = (end->tick + STALL_EVERY_MS - end->stall_phase_ms) % STALL_EVERY_MS;
    return planned_tick_start_time_of_link_end(end) +
           (phase < STALL_MS ? STALL_MS - phase : 0) * 1000000;
}

static void run_tick_of_end_with_stalled_loop(struct link_end_with_stalled_loop *end,
                                              struct link_end_with_stalled_loop *other)
{
    const struct tact_network_sample sample = {.wave = {0.0}};
    const int64_t tick_start_ns = next_tick_start_time(end);
    struct tact_network_sample sample_played_out_by_channel;
    for (; end->taken < end->put &&
           end->packet[end->taken % PACKETS_UNDER_WAY].arrival_time_ns <= tick_start_ns;
         end->taken++) {
        tact_network_channel_receive(&end->channel,
                                     end->packet[end->taken % PACKETS_UNDER_WAY].payload,
                                     (size_t)end->packet[end->taken % PACKETS_UNDER_WAY].size,
                                     planned_tick_start_time_of_link_end(end));
    }
    tact_network_channel_get_sample_of_tick(&end->channel, &sample_played_out_by_channel);
    const unsigned slot = other->put++ % PACKETS_UNDER_WAY;
    other->packet[slot].size = tact_network_channel_send(&end->channel, &sample, tick_start_ns,
                                                         other->packet[slot].payload);
    other->packet[slot].arrival_time_ns = tick_start_ns + LINK_DELAY_MS * 1000000;
    assert_true(other->packet[slot].size > 0);
    end->tick++;
}

/* Late ticks read packets long after the time for which they are planned: the clock offset, here 0,
 * is never wrong by more than half of the round trip that is stated, nor that less than the link's.
 */
static void clock_offset_is_not_biased_by_late_ticks(void **state)
{
    (void)state;
    static struct link_end_with_stalled_loop ends[2];
    int64_t worst = 0, shortest = INT64_MAX;
    memset(ends, 0, sizeof ends);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tact_network_channel_init(&ends[i].channel, &plain_channel_options), 0);
        ends[i].stall_phase_ms = 300 + 250 * i;
    }
    for (int k = 0; k < 10000; k++) {
        const int i = next_tick_start_time(&ends[1]) < next_tick_start_time(&ends[0]);
        run_tick_of_end_with_stalled_loop(&ends[i], &ends[1 - i]);
        const struct tact_network_clock_sample s =
            tact_network_clock_best_sample(&ends[i].channel.clock);
        if (s.is_valid) {
            const int64_t error = s.clock_offset_to_other_end_ns < 0
                                      ? -s.clock_offset_to_other_end_ns
                                      : s.clock_offset_to_other_end_ns;
            worst = error - s.round_trip_ns / 2 > worst ? error - s.round_trip_ns / 2 : worst;
            shortest = s.round_trip_ns < shortest ? s.round_trip_ns : shortest;
        }
    }
    print_message("offset wrong by %.1f ms more than half of a round trip, shortest %.1f ms\n",
                  1e-6 * (double)worst, 1e-6 * (double)shortest);
    assert_true(worst <= 1 && shortest >= 2 * LINK_DELAY_MS * 1000000);
}

static int destroy_simulated_link(void **state)
{
    (void)state;
    tact_simulated_link_free(simulated_link);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wave_channel_generates_no_energy),
        cmocka_unit_test(wave_channel_uses_each_wave_once_at_a_constant_delay),
        cmocka_unit_test(wave_channel_drops_or_inserts_waves_as_clocks_drift),
        cmocka_unit_test(increased_link_delay_is_measured_again),
        cmocka_unit_test(late_loop_does_not_change_the_measured_link_delay),
        cmocka_unit_test(clock_offset_is_not_biased_by_late_ticks),
        cmocka_unit_test(decreased_link_delay_is_measured_again),
        cmocka_unit_test(steady_wave_returns_after_a_gap_in_the_link),
        cmocka_unit_test(old_packets_after_a_cut_delay_no_wave),
        cmocka_unit_test(gap_of_the_sender_is_filled_by_the_energy_of_lost_waves),
        cmocka_unit_test(waits_of_the_sender_are_not_filled_with_waves),
        cmocka_unit_test(bad_packets_do_not_change_the_channel),
        cmocka_unit_test(wave_channel_options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, destroy_simulated_link);
}
