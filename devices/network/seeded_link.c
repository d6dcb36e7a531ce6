/* A simulated network link inside one process, with random numbers from a seed. */
#include "devices/network/seeded_link_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct packet_under_way {
    int64_t packet_delivery_time_ns;
    int slot; /* index of the packet's payload in the link's array of payloads */
};

struct tact_simulated_link {
    struct tact_simulated_link_options options;
    struct tact_simulated_link_counts counts;
    uint64_t random_generator_state;
    int64_t last_packet_sent_ns;
    int has_sent_packet, is_in_loss_burst;
    /* first packet and number of packets of the queue, a ring in the order of arrival */
    uint32_t first, count;
    struct packet_under_way packets_by_delivery_time[TACT_SIMULATED_LINK_PACKETS];
    int unused_payload_slots[TACT_SIMULATED_LINK_PACKETS];
    size_t size[TACT_SIMULATED_LINK_PACKETS];
    unsigned char payload[TACT_SIMULATED_LINK_PACKETS][TACT_NETWORK_PAYLOAD];
};

/* A random number, uniform in [0, 1), by Steele, Lea and Flood's SplitMix64. */
static double draw_uniform_random_number(struct tact_simulated_link *link)
{
    uint64_t z = link->random_generator_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int is_at_least_zero_and_at_most(double value, double most)
{
    return value >= 0.0 && value <= most;
}

int tact_simulated_link_restart(struct tact_simulated_link *link,
                                const struct tact_simulated_link_options *options)
{
    const struct tact_simulated_link_options *o = options;
    if (!is_at_least_zero_and_at_most(o->delay, 10.0) ||
        !is_at_least_zero_and_at_most(o->jitter, 10.0) ||
        !is_at_least_zero_and_at_most(o->lost_packet_fraction, 0.9) ||
        !is_at_least_zero_and_at_most(o->mean_loss_burst_duration, 10.0) ||
        !is_at_least_zero_and_at_most(o->duplicated_packet_fraction, 1.0) ||
        !is_at_least_zero_and_at_most(o->reordered_packet_fraction, 1.0) ||
        !is_at_least_zero_and_at_most(o->link_blackout_interval[1], 1e9) ||
        !is_at_least_zero_and_at_most(o->link_blackout_interval[0], o->link_blackout_interval[1])) {
        return -EINVAL;
    }
    link->options = *options;
    link->random_generator_state = options->seed;
    link->counts = (struct tact_simulated_link_counts){0};
    link->last_packet_sent_ns = 0;
    link->has_sent_packet = link->is_in_loss_burst = 0;
    link->first = link->count = 0;
    for (int i = 0; i < TACT_SIMULATED_LINK_PACKETS; i++) {
        link->unused_payload_slots[i] = i;
    }
    return 0;
}

int tact_simulated_link_create(const struct tact_simulated_link_options *options,
                               struct tact_simulated_link **out)
{
    struct tact_simulated_link *link = calloc(1, sizeof *link);
    if (!link) {
        return -ENOMEM;
    }
    const int rc = tact_simulated_link_restart(link, options);
    if (rc) {
        free(link);
        return rc;
    }
    *out = link;
    return 0;
}

void tact_simulated_link_free(struct tact_simulated_link *link)
{
    free(link);
}

static int64_t seconds_to_ns(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

/* Whether a packet is lost. A burst ends, in the time since the packet before, with the probability
 * that follows from its mean duration; bursts begin with the probability that gives the set
 * fraction of lost packets. */
static int is_lost_packet(struct tact_simulated_link *link, int64_t now_ns)
{
    const struct tact_simulated_link_options *o = &link->options;
    const double step =
        link->has_sent_packet ? (double)(now_ns - link->last_packet_sent_ns) * 1e-9 : 0.0;
    const double random_number = draw_uniform_random_number(link);
    if (o->mean_loss_burst_duration > 0.0) {
        const double loss_burst_end_probability = fmin(1.0, step / o->mean_loss_burst_duration);
        link->is_in_loss_burst = link->is_in_loss_burst
                                     ? random_number >= loss_burst_end_probability
                                     : random_number < loss_burst_end_probability *
                                                           o->lost_packet_fraction /
                                                           (1.0 - o->lost_packet_fraction);
    } else {
        link->is_in_loss_burst = random_number < o->lost_packet_fraction;
    }
    return link->is_in_loss_burst;
}

static struct packet_under_way *packet_at_queue_index(struct tact_simulated_link *link,
                                                      uint32_t index)
{
    return &link->packets_by_delivery_time[(link->first + index) % TACT_SIMULATED_LINK_PACKETS];
}

static void insert_packet_by_delivery_time(struct tact_simulated_link *link,
                                           int64_t packet_delivery_time_ns, const void *payload,
                                           size_t size)
{
    if (link->count == TACT_SIMULATED_LINK_PACKETS || size > TACT_NETWORK_PAYLOAD) {
        link->counts.overflow_packet_count++;
        return;
    }
    const int slot = link->unused_payload_slots[link->count];
    memcpy(link->payload[slot], payload, size);
    link->size[slot] = size;
    uint32_t at = link->count++;
    for (; at > 0 &&
           packet_at_queue_index(link, at - 1)->packet_delivery_time_ns > packet_delivery_time_ns;
         at--) {
        *packet_at_queue_index(link, at) = *packet_at_queue_index(link, at - 1);
    }
    *packet_at_queue_index(link, at) =
        (struct packet_under_way){.packet_delivery_time_ns = packet_delivery_time_ns, .slot = slot};
}

void tact_simulated_link_send(struct tact_simulated_link *link, int64_t now_ns, const void *payload,
                              size_t size)
{
    const struct tact_simulated_link_options *o = &link->options;
    const int lost = is_lost_packet(link, now_ns);
    /* All random numbers are drawn for each packet, so that the loss of one does not change those
     * of the next. */
    const double delay = draw_uniform_random_number(link),
                 second_delay = draw_uniform_random_number(link);
    const int is_packet_reordered = draw_uniform_random_number(link) < o->reordered_packet_fraction;
    const int is_packet_duplicated =
        draw_uniform_random_number(link) < o->duplicated_packet_fraction;
    const int64_t delivery_time_without_jitter_ns = now_ns + seconds_to_ns(o->delay);
    link->last_packet_sent_ns = now_ns;
    link->has_sent_packet = 1;
    link->counts.sent++;
    if (now_ns >= seconds_to_ns(o->link_blackout_interval[0]) &&
        now_ns < seconds_to_ns(o->link_blackout_interval[1])) {
        link->counts.blackout_packet_count++;
        return;
    }
    if (lost) {
        link->counts.lost++;
        return;
    }
    link->counts.reordered += (uint64_t)is_packet_reordered;
    link->counts.duplicated += (uint64_t)is_packet_duplicated;
    const double additional_delay_to_reorder = is_packet_reordered ? 2.0 * o->jitter + 2e-3 : 0.0;
    insert_packet_by_delivery_time(
        link,
        delivery_time_without_jitter_ns +
            seconds_to_ns(delay * o->jitter + additional_delay_to_reorder),
        payload, size);
    if (is_packet_duplicated) {
        insert_packet_by_delivery_time(
            link, delivery_time_without_jitter_ns + seconds_to_ns(second_delay * o->jitter),
            payload, size);
    }
}

ssize_t tact_simulated_link_receive(struct tact_simulated_link *link, int64_t now_ns, void *payload)
{
    if (!link->count || packet_at_queue_index(link, 0)->packet_delivery_time_ns > now_ns) {
        return -EAGAIN;
    }
    const int slot = packet_at_queue_index(link, 0)->slot;
    memcpy(payload, link->payload[slot], link->size[slot]);
    link->first = (link->first + 1) % TACT_SIMULATED_LINK_PACKETS;
    link->count--;
    link->unused_payload_slots[link->count] = slot;
    link->counts.delivered++;
    return (ssize_t)link->size[slot];
}

struct tact_simulated_link_counts tact_simulated_link_counts(const struct tact_simulated_link *link)
{
    return link->counts;
}
