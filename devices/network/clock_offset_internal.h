/*
 * Difference of the clocks of two ends, by four stamps: t1 this end sends, t2 the other receives,
 * t3 it sends, t4 this end receives. Round trip (t4 - t1) - (t3 - t2), offset
 * ((t2 - t1) + (t3 - t4)) / 2, kept from the least round trip of the last one to two seconds. A
 * difference between the delays of the two directions cannot be measured: the offset is wrong by
 * half of it.
 */
#ifndef TACT_DEVICES_NETWORK_CLOCK_OFFSET_INTERNAL_H
#define TACT_DEVICES_NETWORK_CLOCK_OFFSET_INTERNAL_H

#include <stdint.h>

struct tact_network_round_trip_stamps {
    int64_t sent_ns;               /* t1, clock of this end [ns] */
    int64_t other_end_received_ns; /* t2, clock of the other end [ns] */
    int64_t other_end_sent_ns;     /* t3 */
    int64_t received_ns;           /* t4 */
};

/* Estimate of the clock offset, from all zero at the start. */
struct tact_network_clock_offset_estimate {
    struct tact_network_clock_sample {
        int64_t round_trip_ns; /* [ns] */
        int64_t
            clock_offset_to_other_end_ns; /* clock of the other end minus clock of this end [ns] */
        int is_valid;
    } best[2]; /* best samples of the present second, and of the one before */
    int64_t start_of_present_second_ns; /* start of the present second */
    /* stamps with the shortest round trip, of all packets that have arrived in this tick */
    struct tact_network_round_trip_stamps best_stamps_of_tick;
    int has_stamps_of_tick;
};

/* Adds the four stamps of one packet and its echo. Stamps in an impossible order (a round trip
 * below 0) are refused. Returns the round trip [ns], or -1. Real-time safe. */
int64_t tact_network_clock_add_stamps(struct tact_network_clock_offset_estimate *clock,
                                      const struct tact_network_round_trip_stamps *stamps);

/* Keeps the stamps of a packet that a tick reads, received_ns being the time for which the tick is
 * planned, until the time at which it began is known. Real-time safe. */
void tact_network_clock_keep_stamps_of_tick(struct tact_network_clock_offset_estimate *clock,
                                            const struct tact_network_round_trip_stamps *stamps);

/* Adds the stamps kept in this tick, which began at now_ns: a late tick reads packets that arrived
 * after the time for which it is planned. *received_ns: time of the newest packet, INT64_MAX where
 * this tick has read it; set to now_ns then. Real-time safe. */
void tact_network_clock_add_stamps_of_tick(struct tact_network_clock_offset_estimate *clock,
                                           int64_t now_ns, int64_t *received_ns);

/* The sample with the shortest round trip; its member `is_valid` is 0 before the first. Real-time
 * safe. */
struct tact_network_clock_sample
tact_network_clock_best_sample(const struct tact_network_clock_offset_estimate *clock);

#endif
