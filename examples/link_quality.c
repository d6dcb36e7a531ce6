/* Statistics of the packets of a link, and the channel of wave variables that suits it. */
#include "link_quality.h"

#include <math.h>
#include <stdlib.h>

/* largest plausible delay [s]: a larger one means that a clock was set meanwhile */
#define MAX_PLAUSIBLE_DELAY 60.0

enum {
    MIN_REPEATED_WAVES = 10, /* minimum number of repeated waves: with independent losses of 5 %, a
                                wave is lost with probability 0.05^10 */
    REPEATED_MOST = 20       /* 20 waves of six numbers are 960 of at most 1,160 bytes */
};

static int compare_arrival_ticks(const void *a, const void *b)
{
    const struct link_arrival *x = a, *y = b;
    return (x->tick > y->tick) - (x->tick < y->tick);
}

static int64_t get_measured_delay(const struct link_arrival *packet_arrival)
{
    /* Computed in unsigned arithmetic, as stamps of the other end may be any numbers. */
    return (int64_t)((uint64_t)packet_arrival->received_ns - (uint64_t)packet_arrival->sent_ns);
}

static int compare_delays(const void *a, const void *b)
{
    const int64_t x = get_measured_delay(a), y = get_measured_delay(b);
    return (x > y) - (x < y);
}

/* Quantile of sorted delays, by nearest rank. */
static int64_t find_delay_quantile(const struct link_arrival *arrivals_by_delay, size_t count,
                                   double q)
{
    size_t nearest_rank_of_quantile = (size_t)ceil(q * (double)count);
    nearest_rank_of_quantile = nearest_rank_of_quantile < 1       ? 1
                               : nearest_rank_of_quantile > count ? count
                                                                  : nearest_rank_of_quantile;
    return get_measured_delay(&arrivals_by_delay[nearest_rank_of_quantile - 1]);
}

static int64_t add_clock_offset(int64_t delay, int64_t clock_offset_to_other_end_ns)
{
    return (int64_t)((uint64_t)delay + (uint64_t)clock_offset_to_other_end_ns);
}

void link_quality(struct link_arrival *packet_arrivals, size_t count,
                  int64_t clock_offset_to_other_end_ns, struct link_quality *out)
{
    *out = (struct link_quality){.expected_packet_count = 0};
    uint64_t latest_received_tick = packet_arrivals[0].tick;
    for (size_t i = 1; i < count; i++) {
        out->overtaken_packet_count += packet_arrivals[i].tick < latest_received_tick;
        latest_received_tick = packet_arrivals[i].tick > latest_received_tick
                                   ? packet_arrivals[i].tick
                                   : latest_received_tick;
    }
    qsort(packet_arrivals, count, sizeof *packet_arrivals, compare_arrival_ticks);
    out->expected_packet_count = packet_arrivals[count - 1].tick - packet_arrivals[0].tick + 1;
    out->lost = out->expected_packet_count - 1;
    for (size_t i = 1; i < count; i++) {
        const uint64_t step = packet_arrivals[i].tick - packet_arrivals[i - 1].tick;
        out->lost -= step > 0;
        out->longest_loss_gap = step > out->longest_loss_gap + 1 ? step - 1 : out->longest_loss_gap;
    }
    qsort(packet_arrivals, count, sizeof *packet_arrivals, compare_delays);
    out->smallest_packet_delay =
        add_clock_offset(get_measured_delay(&packet_arrivals[0]), clock_offset_to_other_end_ns);
    out->delay_p50 = add_clock_offset(find_delay_quantile(packet_arrivals, count, 0.5),
                                      clock_offset_to_other_end_ns);
    out->delay_p99 = add_clock_offset(find_delay_quantile(packet_arrivals, count, 0.99),
                                      clock_offset_to_other_end_ns);
    out->delay_p999 = add_clock_offset(find_delay_quantile(packet_arrivals, count, 0.999),
                                       clock_offset_to_other_end_ns);
    out->delay_max = add_clock_offset(get_measured_delay(&packet_arrivals[count - 1]),
                                      clock_offset_to_other_end_ns);
}

struct link_channel_settings link_channel_settings(const struct link_quality *quality,
                                                   double period)
{
    struct link_channel_settings channel = {.repeated_wave_count = MIN_REPEATED_WAVES};
    if (quality->longest_loss_gap > MIN_REPEATED_WAVES) {
        channel.repeated_wave_count = quality->longest_loss_gap > REPEATED_MOST
                                          ? REPEATED_MOST
                                          : (int)quality->longest_loss_gap;
    }
    channel.is_longest_gap_covered =
        quality->longest_loss_gap <= (uint64_t)channel.repeated_wave_count;
    /* The stamps of the other end are any numbers. */
    const double plausible_delay_seconds =
        fmin(fmax((double)quality->delay_p999 * 1e-9, 0.0), MAX_PLAUSIBLE_DELAY);
    channel.playout_delay_ticks =
        (int)ceil(plausible_delay_seconds / period) + channel.repeated_wave_count;
    channel.delay = channel.playout_delay_ticks * period;
    channel.drift_correction_gain = fmin(2.0, 0.5 / (2.0 * channel.delay));
    return channel;
}

double link_wave_stiffness(double b, double delay)
{
    return b / delay;
}
