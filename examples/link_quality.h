/* What a link does to packets that are sent at a constant rate, and what follows for wave
 * variables over it (Niemeyer and Slotine 1991). */
#ifndef TACT_EXAMPLES_LINK_QUALITY_H
#define TACT_EXAMPLES_LINK_QUALITY_H

#include <stddef.h>
#include <stdint.h>

/* A packet that arrived. */
struct link_arrival {
    uint64_t tick;       /* tick of the sender */
    int64_t sent_ns;     /* clock of the sender [ns] */
    int64_t received_ns; /* clock of this end [ns] */
};

/* The packets of one direction. */
struct link_quality {
    uint64_t
        expected_packet_count; /* number of ticks from the first to the last whose packet arrived */
    uint64_t lost;             /* number of these whose packet was lost */
    uint64_t longest_loss_gap; /* largest number of consecutive ticks whose packets were lost */
    uint64_t overtaken_packet_count; /* packets that arrived after one of a later tick */
    /* Delays of one direction [ns], nearest rank: by the clock offset, which is wrong by half of
     * what the two directions differ by. */
    int64_t smallest_packet_delay, delay_p50, delay_p99, delay_p999, delay_max;
};

/* Sorts the arrivals by delay. clock_offset_to_other_end_ns: clock of the sender less that of this
 * end. count > 0. */
void link_quality(struct link_arrival *packet_arrivals, size_t count,
                  int64_t clock_offset_to_other_end_ns, struct link_quality *out);

/* A channel of wave variables over such a link. */
struct link_channel_settings {
    int repeated_wave_count; /* waves that each packet repeats, so that a gap of this length loses
                                none */
    int is_longest_gap_covered; /* 0: gaps are longer than the repeated waves; those ticks have zero
                                 * waves
                                 */
    int playout_delay_ticks;    /* constant delay after which a wave is used [ticks] */
    double delay;               /* constant delay after which a wave is used [s] */
    /* gain of the drift correction, min(2/s, 0.5 / round trip) [1/s] */
    double drift_correction_gain;
};

/* period: of the loop [s]. */
struct link_channel_settings link_channel_settings(const struct link_quality *quality,
                                                   double period);

/* Stiffness that a line of wave impedance b and one-way delay d adds in series with the wall and
 * the couplings: blocked at its end it is b coth(s d), which is b / (s d) at low frequencies.
 * [N/m]; infinite without delay. */
double link_wave_stiffness(double b, double delay);

#endif
