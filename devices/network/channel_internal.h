/*
 * The constant channel between two sites: what each tick of one is used in one tick of the other, a
 * constant number of ticks later, whatever the packets do. A sample of tick k is used at k + D,
 * D = least delay + jitter + repeats: each packet repeats the waves of the last ticks, so that a
 * lost or late one is replaced. A packet also says how much energy was sent so far, so that the
 * energy of waves that did not come is known: as far as it lasts, such a wave is put between its
 * neighbours, or the last one is used again for 50 ms; a small share of what arrives is kept for
 * that, once waves were missing. Else it is made of the energy of those that
 * wait behind it, and where none waits it is zero. All of that is passive; with the option `hold`
 * it is held for a few ticks instead of zero, which is not. Where the clocks of the sites drift,
 * the fill is corrected by a wave that is dropped or one more that is made so, passive as well.
 *
 * Of each wave u [sqrt(W)], u^2 / 2 is power; energy() is what the other site has sent by its own
 * account less what was used here, never negative with missing waves zero.
 *
 *   payload: tick, sent_ns, echo_ns, kept_ns, energy, flags (4), axes, waves, jitter + repeats (2),
 *            period [ns], position[axes], force[axes], wave[waves][axes] from the newest;
 * little-endian, 8 bytes each where not stated
 *
 * No allocation, no clock, no system call: all is real-time safe.
 */
#ifndef TACT_DEVICES_NETWORK_CHANNEL_INTERNAL_H
#define TACT_DEVICES_NETWORK_CHANNEL_INTERNAL_H

#include "devices/network/clock_offset_internal.h"
#include "devices/network/packet_internal.h"

enum {
    TACT_NETWORK_AXES = 6,
    TACT_NETWORK_REPEATS = 20,       /* waves that a packet repeats, at most */
    TACT_NETWORK_CHANNEL_RING = 1024 /* ticks that can wait */
};

struct tact_network_channel_options {
    int axes;      /* 1 to TACT_NETWORK_AXES */
    int repeats;   /* waves of earlier ticks in each packet, 0 to TACT_NETWORK_REPEATS */
    int jitter;    /* by which a packet may come later than the fastest [ticks], 0 to 500 */
    int hold;      /* ticks that a missing wave is held, 0 to 10 ms */
    double period; /* [s], 1e-4 to 1e-2 */
};

struct tact_network_sample {
    double wave[TACT_NETWORK_AXES];     /* [sqrt(W)] */
    double position[TACT_NETWORK_AXES]; /* of the newest packet so far [m, rad] */
    double force[TACT_NETWORK_AXES];    /* likewise [N, N m] */
    uint32_t flags;                     /* likewise, late or not; their meaning is the user's */
    int missing;                        /* 1: the wave is not there, and is bridged, zero or held */
};

enum tact_network_channel_state {
    TACT_NETWORK_CHANNEL_WAITING, /* for first packets; nothing is used */
    TACT_NETWORK_CHANNEL_OK,
    TACT_NETWORK_CHANNEL_STALE, /* no packet or no wave for 100 ms */
    TACT_NETWORK_CHANNEL_LOST   /* for 500 ms; begins again with the next packet */
};

struct tact_network_channel_counts {
    uint64_t received;  /* packets that were valid */
    uint64_t refused;   /* malformed, of other axes, not finite, or from an impossible tick */
    uint64_t unlike;    /* of those, packets of another number of axes or another period */
    uint64_t duplicate; /* packets of a tick that was received before */
    uint64_t late;      /* packets that came after their own tick was used */
    uint64_t lost;      /* ticks used before their own packet came, if it came at all */
    uint64_t repeated;  /* of those, ticks whose wave came with another packet */
    uint64_t missing;   /* ticks without a wave */
    uint64_t bridged;   /* of those, and of inserted, ticks whose wave was made by others */
    uint64_t held;      /* of those, ticks in which the last wave was held */
    uint64_t dropped;   /* waves dropped, as the fill was too large */
    uint64_t inserted;  /* waves inserted, as the fill was too small */
    uint64_t restarts;  /* after silence, or another delay */
};

/* A sum with the error of its roundings (Neumaier 1974). */
struct tact_network_sum {
    double sum, rest;
};

struct tact_network_channel {
    struct tact_network_channel_options options;
    struct tact_network_channel_counts counts;
    enum tact_network_channel_state state;
    struct tact_network_clock clock;
    uint64_t sent_tick; /* of the next sample that is sent */
    double sent[TACT_NETWORK_REPEATS + 1][TACT_NETWORK_AXES];
    struct tact_network_sum sent_energy, used_energy; /* [J] */
    double other_energy, least_energy;                /* [J] */
    /* Of the next sample that is used; while first packets are awaited, ticks of this site. */
    int64_t play_tick;
    int64_t newest_tick;             /* that has arrived */
    int64_t used_tick;               /* of the newest wave used, + 1; 0: none */
    int64_t gave_tick;               /* of the newest wave that gave to a gap, likewise */
    int64_t heard_ns, other_sent_ns; /* of the newest packet: its two stamps */
    int has_heard, waiting_ticks, silence, held_ticks;
    int has_sample;       /* 1: `last` has a position and a force that arrived; else it is STALE */
    int64_t largest_fill; /* of the packets of this window [ticks] */
    int64_t off_before;   /* by how much that of the window before was off [ticks] */
    int window_ticks, other_margin, missing_ticks;
    uint32_t newest_flags;
    struct tact_network_channel_slot {
        int64_t tick;             /* tick + 1; 0: none */
        int has_wave, has_packet; /* its wave, and its own packet, are there */
        double wave[TACT_NETWORK_AXES];
        struct tact_network_sample sample; /* of its own packet */
    } slots[TACT_NETWORK_CHANNEL_RING];
    struct tact_network_sample last;     /* that was used */
    double real_wave[TACT_NETWORK_AXES]; /* the last wave that was not made here [sqrt(W)] */
};

/* Returns 0, or -EINVAL: an option out of its range. */
int tact_network_channel_init(struct tact_network_channel *channel,
                              const struct tact_network_channel_options *options);

/* Once in each tick: writes the payload of this tick. Returns its size, or -EDOM: a number is not
 * finite or beyond 1e6; nothing is sent, and the caller faults. */
ssize_t tact_network_channel_send(struct tact_network_channel *channel,
                                  const struct tact_network_sample *sample, int64_t now_ns,
                                  unsigned char payload[TACT_NETWORK_PAYLOAD]);

/* A payload that arrived. Returns 0, -EALREADY (duplicate) or -EPROTO (refused); both are counted
 * and have no other effect. */
int tact_network_channel_receive(struct tact_network_channel *channel, const unsigned char *payload,
                                 size_t size, int64_t now_ns);

/* Once in each tick: the sample that is due. */
void tact_network_channel_play(struct tact_network_channel *channel,
                               struct tact_network_sample *out);

/* Forgets what was received and the accounts, as after a new handshake; keeps the counts. */
void tact_network_channel_restart(struct tact_network_channel *channel);

/* What has arrived and waits [ticks], beyond the tick that is due. */
int64_t tact_network_channel_fill(const struct tact_network_channel *channel);

/* From a wave that leaves to the answer that is used here, with the playouts of both ends [s];
 * 0: not known yet. */
double tact_network_channel_round_trip(const struct tact_network_channel *channel);

/* [J] */
double tact_network_channel_energy(const struct tact_network_channel *channel);

#endif
