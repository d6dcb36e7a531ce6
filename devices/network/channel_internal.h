/*
 * A channel of constant delay between two sites: the sample of each tick of one site is used in one
 * tick of the other, a constant number of ticks later, whatever delays the packets have. A sample
 * of tick k is used at k + D, D = least delay + jitter + repeats: each packet repeats the waves of
 * the last ticks, so that a lost or late one is replaced. A packet also says how much energy was
 * sent so far, so that the energy of waves that did not come is known: as far as it lasts, such a
 * wave is put between its neighbours, or the last one is used again for 50 ms; else it is zero.
 * That is passive; with the option `hold` it is held for a few ticks instead of zero, which is not.
 * A wave that arrives without energy, as none arrived at the other end, is made up for in the same
 * way, and where that fails used as it is. Where the clocks of the sites drift, the fill is
 * corrected by a wave that is dropped or one more that is made so, passive as well.
 *
 * Of each wave u [sqrt(W)], u^2 / 2 is power; energy() is what the other site has sent by its own
 * account less what was used here, never negative with missing waves zero.
 *
 *   payload: tick, sent_ns, echo_ns, kept_ns, energy, flags (1), terms (7), axes, waves,
 *            jitter + repeats (2), period [ns] (4), position[axes], force[axes], wave[waves][axes]
 * from the newest; little-endian, 8 bytes each where not stated
 *
 * No allocation, no clock, no system call: all is real-time safe.
 */
#ifndef TACT_DEVICES_NETWORK_CHANNEL_INTERNAL_H
#define TACT_DEVICES_NETWORK_CHANNEL_INTERNAL_H

#include "devices/network/clock_offset_internal.h"
#include "devices/network/packet_internal.h"

enum {
    TACT_NETWORK_MAX_AXES = 6,
    TACT_NETWORK_MAX_REPEATS = 20,   /* maximum number of earlier waves that a packet repeats */
    TACT_NETWORK_CHANNEL_RING = 1024 /* maximum number of ticks whose samples can wait to be used */
};

struct tact_network_channel_options {
    int axes;    /* 1 to TACT_NETWORK_MAX_AXES */
    int repeats; /* number of waves of earlier ticks in each packet, 0 to
                                TACT_NETWORK_MAX_REPEATS */
    /* time by which a packet may arrive later than the fastest one [ticks], 0 to 500 */
    int jitter;
    /* number of ticks for which the last wave is used in place of a missing one, 0 to 10 ms */
    int hold;
    double period; /* [s], 1e-4 to 1e-2 */
};

struct tact_network_sample {
    double wave[TACT_NETWORK_MAX_AXES]; /* [sqrt(W)] */
    /* position of the other site, from the newest packet so far [m, rad] */
    double position[TACT_NETWORK_MAX_AXES];
    /* force of the other site, from the newest packet so far [N, N m] */
    double force[TACT_NETWORK_MAX_AXES];
    /* 8 flags and a number below 2^56 on which both ends must agree, of the newest packet so far,
     * late or not; their meaning is left to the caller */
    uint32_t flags;
    uint64_t terms;
    /* 1: the wave did not arrive in time; it is made from others, held or zero */
    int missing;
};

enum tact_network_channel_state {
    TACT_NETWORK_CHANNEL_WAITING, /* waits for first packets, and uses no sample yet */
    TACT_NETWORK_CHANNEL_OK,
    TACT_NETWORK_CHANNEL_STALE, /* no packet or no wave for 100 ms */
    TACT_NETWORK_CHANNEL_LOST   /* no packet for 500 ms; the next packet starts the channel again */
};

struct tact_network_channel_counts {
    uint64_t received_packet_count; /* packets that were valid */
    /* packets refused: malformed, of other axes, not finite, or of an impossible tick */
    uint64_t refused_packet_count;
    uint64_t mismatched_packet_count; /* refused packets that have another number of axes or another
                                         period */
    uint64_t duplicate_packet_count;  /* packets of a tick that was received before */
    uint64_t late_packet_count;       /* packets that came after their own tick was used */
    uint64_t lost_packet_count;    /* ticks used before their own packet came, if it came at all */
    uint64_t recovered_wave_count; /* lost ticks whose wave arrived in a later packet, which repeats
                                      it */
    uint64_t missing_wave_count;   /* ticks without a wave */
    uint64_t bridged_wave_count;   /* missing and inserted waves that were made from other waves */
    uint64_t limited_wave_count;   /* waves reduced to the energy that is left of what was sent */
    uint64_t held_wave_count;      /* missing waves for which the last wave was held */
    uint64_t dropped_wave_count;   /* waves dropped, as too many waited (clock drift) */
    uint64_t inserted_wave_count;  /* waves inserted, as too few waited (clock drift) */
    uint64_t channel_restart_count; /* restarts of the channel, after silence or a changed delay */
};

/* A compensated sum: the sum and its rounding error (Neumaier 1974). */
struct tact_network_compensated_sum {
    double sum, rounding_error;
};

struct tact_network_channel {
    struct tact_network_channel_options options;
    struct tact_network_channel_counts counts;
    enum tact_network_channel_state state;
    struct tact_network_clock_offset_estimate clock;
    uint64_t next_tick_to_send; /* tick of the next sample that is sent */
    double last_sent_waves[TACT_NETWORK_MAX_REPEATS + 1][TACT_NETWORK_MAX_AXES];
    struct tact_network_compensated_sum sent_energy, used_energy; /* [J] */
    double energy_sent_by_peer, least_energy;                     /* [J] */
    /* Tick of the next sample that is used; while first packets are awaited, a count of this site's
     * ticks. */
    int64_t playout_tick;
    int64_t newest_received_tick; /* newest tick of which a packet has arrived */
    int64_t
        tick_after_newest_used_wave; /* tick of the newest wave that was used, plus 1; 0: none */
    /* time at which the newest packet was received here, and at which it was sent */
    int64_t newest_packet_received_ns, other_end_sent_ns;
    int has_received_any_packet, waiting_ticks, ticks_without_packet, repeated_wave_ticks;
    /* 1: `last_used_sample` has a position and a force that arrived; 0: the state is STALE */
    int has_used_any_received_sample;
    int64_t largest_playout_fill; /* largest fill after a packet of this window of 0.25 s [ticks] */
    /* largest fill of the window before less the expected one [ticks] */
    int64_t last_playout_fill_error;
    int playout_fill_window_ticks, peer_margin_ticks, ticks_without_wave;
    int wave_gap_ticks; /* consecutive ticks in which no wave arrived, or only one that states that
                           none arrived at the other end */
    uint32_t newest_packet_flags;
    uint64_t newest_packet_terms;
    struct tact_network_channel_slot {
        int64_t tick; /* tick + 1; 0: none */
        /* 1: the wave of this tick, the packet of this tick has arrived */
        int has_received_wave, has_packet;
        double wave[TACT_NETWORK_MAX_AXES];
        struct tact_network_sample sample; /* sample of the packet of this tick */
    } slots[TACT_NETWORK_CHANNEL_RING];
    struct tact_network_sample last_used_sample; /* sample that was used last */
    /* the last wave used that was received, not made here [sqrt(W)] */
    double last_received_wave[TACT_NETWORK_MAX_AXES];
};

/* Returns 0, or -EINVAL: an option out of its range. */
int tact_network_channel_init(struct tact_network_channel *channel,
                              const struct tact_network_channel_options *options);

/* Called once per tick: writes the payload of this tick. Returns its size, or -EDOM if a number is
 * not finite or beyond 1e6: nothing must be sent then. */
ssize_t tact_network_channel_send(struct tact_network_channel *channel,
                                  const struct tact_network_sample *sample, int64_t now_ns,
                                  unsigned char payload[TACT_NETWORK_PAYLOAD]);

/* Handles a payload that arrived. Returns 0, -EALREADY (duplicate) or -EPROTO (refused); duplicate
 * and refused payloads are counted and have no other effect. */
int tact_network_channel_receive(struct tact_network_channel *channel, const unsigned char *payload,
                                 size_t size, int64_t now_ns);

/* Called once per tick: gets the sample that is to be used in this tick. */
void tact_network_channel_get_sample_of_tick(struct tact_network_channel *channel,
                                             struct tact_network_sample *out);

/* Forgets all received packets and energies, as after a new handshake; keeps the counts. */
void tact_network_channel_restart(struct tact_network_channel *channel);

/* Number of ticks from the one that is due to the newest that has arrived. */
int64_t tact_network_channel_playout_fill(const struct tact_network_channel *channel);

/* Time from sending a wave to using the answer to it, with the playout delays of both ends [s]; 0:
 * not known yet. */
double tact_network_channel_round_trip(const struct tact_network_channel *channel);

/* Energy that the other end has sent less the energy used here [J]. */
double tact_network_channel_energy(const struct tact_network_channel *channel);

#endif
