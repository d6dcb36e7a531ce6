/* Estimates the offset between the clocks of the two ends of a link. */
#include "devices/network/clock_offset_internal.h"

static const int64_t best_stamps_lifetime_ns = 1000000000;

/* Difference of two stamps, in unsigned arithmetic, as those from the other end may be any numbers.
 */
static uint64_t nanoseconds_between_stamps(int64_t earlier_stamp_ns, int64_t later_stamp_ns)
{
    return (uint64_t)later_stamp_ns - (uint64_t)earlier_stamp_ns;
}

static int64_t round_trip_of_stamps(const struct tact_network_round_trip_stamps *stamps)
{
    return (int64_t)(nanoseconds_between_stamps(stamps->sent_ns, stamps->other_end_received_ns) +
                     nanoseconds_between_stamps(stamps->other_end_sent_ns, stamps->received_ns));
}

int64_t tact_network_clock_add_stamps(struct tact_network_clock_offset_estimate *clock,
                                      const struct tact_network_round_trip_stamps *stamps)
{
    const uint64_t delay_plus_clock_offset_ns =
        nanoseconds_between_stamps(stamps->sent_ns, stamps->other_end_received_ns);
    const int64_t round_trip = round_trip_of_stamps(stamps);
    if (round_trip < 0) {
        return -1;
    }
    if (!clock->best[0].is_valid ||
        stamps->received_ns - clock->start_of_present_second_ns >= best_stamps_lifetime_ns) {
        clock->best[1] = clock->best[0];
        clock->best[0].is_valid = 0;
        clock->start_of_present_second_ns = stamps->received_ns;
    }
    if (!clock->best[0].is_valid || round_trip < clock->best[0].round_trip_ns) {
        clock->best[0].round_trip_ns = round_trip;
        clock->best[0].clock_offset_to_other_end_ns =
            (int64_t)(delay_plus_clock_offset_ns - (uint64_t)(round_trip / 2));
        clock->best[0].is_valid = 1;
    }
    return round_trip;
}

void tact_network_clock_keep_stamps_of_tick(struct tact_network_clock_offset_estimate *clock,
                                            const struct tact_network_round_trip_stamps *stamps)
{
    if (!clock->has_stamps_of_tick ||
        round_trip_of_stamps(stamps) < round_trip_of_stamps(&clock->best_stamps_of_tick)) {
        clock->best_stamps_of_tick = *stamps;
        clock->has_stamps_of_tick = 1;
    }
}

void tact_network_clock_add_stamps_of_tick(struct tact_network_clock_offset_estimate *clock,
                                           int64_t now_ns, int64_t *received_ns)
{
    *received_ns = *received_ns == INT64_MAX ? now_ns : *received_ns;
    if (clock->has_stamps_of_tick) {
        clock->best_stamps_of_tick.received_ns = now_ns;
        tact_network_clock_add_stamps(clock, &clock->best_stamps_of_tick);
        clock->has_stamps_of_tick = 0;
    }
}

struct tact_network_clock_sample
tact_network_clock_best_sample(const struct tact_network_clock_offset_estimate *clock)
{
    const struct tact_network_clock_sample *a = &clock->best[0], *b = &clock->best[1];
    return b->is_valid && (!a->is_valid || b->round_trip_ns < a->round_trip_ns) ? *b : *a;
}
