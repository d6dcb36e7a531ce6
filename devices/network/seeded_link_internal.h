/*
 * A simulated network link inside one process, for tests and to study its effect on a session:
 * delay, jitter, loss in bursts (Gilbert 1960), duplicates, reordering and a blackout. Time is an
 * argument, and all random numbers follow from a seed: the same packets at the same times are
 * delayed, lost and doubled alike on every machine. One link carries one direction.
 */
#ifndef TACT_DEVICES_NETWORK_SEEDED_LINK_INTERNAL_H
#define TACT_DEVICES_NETWORK_SEEDED_LINK_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "devices/network/packet_internal.h"

enum { TACT_SIMULATED_LINK_PACKETS = 2048 /* maximum number of packets under way at once */ };

struct tact_simulated_link_options {
    uint64_t seed;
    double delay;                /* least delay [s], 0 to 10 */
    double jitter;               /* additional random delay, uniform from 0 to this [s], 0 to 10 */
    double lost_packet_fraction; /* fraction of packets that are lost, 0 to 0.9 */
    /* mean duration of a burst of losses [s]; 0: each packet is lost independently */
    double mean_loss_burst_duration;
    /* fraction of packets that arrive a second time, after a delay of their own, 0 to 1 */
    double duplicated_packet_fraction;
    /* fraction of packets that are delayed further, by twice the jitter plus 2 ms, 0 to 1 */
    double reordered_packet_fraction;
    /* start and end of an interval in which all packets are lost [s]; equal: none */
    double link_blackout_interval[2];
};

struct tact_simulated_link_counts {
    uint64_t sent, delivered, lost, duplicated, reordered;
    uint64_t blackout_packet_count; /* packets lost in the blackout */
    /* packets dropped, as too many were under way or the packet was too long */
    uint64_t overflow_packet_count;
};

struct tact_simulated_link;

/* Creates a simulated link. Not real-time safe. Returns 0, -EINVAL (an option is not finite or out
 * of its range) or -ENOMEM. */
int tact_simulated_link_create(const struct tact_simulated_link_options *options,
                               struct tact_simulated_link **out);
void tact_simulated_link_free(struct tact_simulated_link *link);

/* Resets a link to the state after its creation, with other options, without allocating. Returns 0
 * or -EINVAL. Real-time safe, as all below. */
int tact_simulated_link_restart(struct tact_simulated_link *link,
                                const struct tact_simulated_link_options *options);

/* Sends a payload. now_ns must not decrease from call to call. */
void tact_simulated_link_send(struct tact_simulated_link *link, int64_t now_ns, const void *payload,
                              size_t size);

/* Gets the next payload that has arrived, of at most TACT_NETWORK_PAYLOAD bytes. Returns its size,
 * or -EAGAIN if there is none. */
ssize_t tact_simulated_link_receive(struct tact_simulated_link *link, int64_t now_ns,
                                    void *payload);

struct tact_simulated_link_counts
tact_simulated_link_counts(const struct tact_simulated_link *link);

#endif
