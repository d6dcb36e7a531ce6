/*
 * A link inside one process, for tests and for trying what a network does to a session: delay,
 * jitter, loss in bursts (Gilbert 1960), duplicates, reordering and a blackout. Time is an
 * argument, and all chance follows from the seed: the same packets at the same times have the same
 * fate on every machine. One link carries one direction.
 */
#ifndef TACT_DEVICES_NETWORK_SEEDED_LINK_INTERNAL_H
#define TACT_DEVICES_NETWORK_SEEDED_LINK_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "devices/network/packet_internal.h"

enum { TACT_NETWORK_LINK_PACKETS = 2048 /* under way at once, at most */ };

struct tact_network_link_options {
    uint64_t seed;
    double delay;       /* least delay [s], 0 to 10 */
    double jitter;      /* more delay, uniform from 0 [s], 0 to 10 */
    double loss;        /* share of packets that are lost, 0 to 0.9 */
    double burst;       /* mean length of a burst of losses [s]; 0: each packet by itself */
    double duplicate;   /* share that arrives a second time, after a delay of its own, 0 to 1 */
    double reorder;     /* share that is held back by twice the jitter and 2 ms, 0 to 1 */
    double blackout[2]; /* from, to: what is sent then is lost [s]; equal: none */
};

struct tact_network_link_counts {
    uint64_t sent, delivered, lost, duplicated, reordered;
    uint64_t blacked_out; /* lost in the blackout */
    uint64_t overflow;    /* lost, as too many were under way or one was too long */
};

struct tact_network_link;

/* Not real-time safe. Returns 0, -EINVAL (an option that is not finite or out of its range) or
 * -ENOMEM. */
int tact_network_link_create(const struct tact_network_link_options *options,
                             struct tact_network_link **out);
void tact_network_link_free(struct tact_network_link *link);

/* As it was created, with other options; keeps the memory. 0 or -EINVAL. Real-time safe, as all
 * below. */
int tact_network_link_restart(struct tact_network_link *link,
                              const struct tact_network_link_options *options);

/* Sends a payload. Times never fall. */
void tact_network_link_put(struct tact_network_link *link, int64_t now_ns, const void *payload,
                           size_t size);

/* The next payload that has arrived, of at most TACT_NETWORK_PAYLOAD bytes: its size, or -EAGAIN.
 */
ssize_t tact_network_link_get(struct tact_network_link *link, int64_t now_ns, void *payload);

struct tact_network_link_counts tact_network_link_counts(const struct tact_network_link *link);

#endif
