/* The part of a link's end that runs in each tick: receives packets, gets the sample that is due,
 * sends. Never blocks. */
#include <math.h>
#include <string.h>
#include "devices/network/network_internal.h"

enum {
    /* maximum number of datagrams read per tick: further ones wait in the socket, or are dropped by
       the system, so that a flood takes no more of the tick */
    MAX_DATAGRAMS_READ_PER_TICK = 16,
    DATAGRAMS_AFTER_SKIPPED_TICKS =
        64, /* maximum number of datagrams read in a tick before which the loop skipped ticks */
    /* maximum number of skipped ticks that are made up for; after more, the channel's delay is
       measured again */
    MAX_RECOVERED_TICKS = 500
};
static const int64_t max_silence_before_lost_ns = 500000000;

static double get_one_way_delay(const struct tact_network_device *self)
{
    return 0.5e-9 * (double)tact_network_clock_best_sample(&self->channel.clock).round_trip_ns;
}

static double get_clock_offset(const struct tact_network_device *self)
{
    return 1e-9 * (double)tact_network_clock_best_sample(&self->channel.clock)
                      .clock_offset_to_other_end_ns;
}

static double get_playout_delay(const struct tact_network_device *self)
{
    const struct tact_network_channel_options *o = &self->channel.options;
    return (o->jitter + o->repeats) * o->period;
}

static double get_playout_fill(const struct tact_network_device *self)
{
    return (double)tact_network_channel_playout_fill(&self->channel) * self->channel.options.period;
}

/* Restarts the channel after a new handshake: packets received before belong to another session. */
static void restart_channel_for_session(struct tact_network_device *self)
{
    if (self->endpoint.counts.completed_handshake_count != self->session) {
        self->session = self->endpoint.counts.completed_handshake_count;
        self->is_lost = 1;
        tact_network_channel_restart(&self->channel);
    }
}

uint64_t tact_network_device_refused_packet_count(const struct tact_network_device *self)
{
    const struct tact_network_endpoint_counts *c = &self->endpoint.counts;
    return c->malformed_packet_count + c->other_version_packet_count + c->forged_packet_count +
           c->replayed_packet_count + c->other_session_packet_count + c->postponed_hello_count +
           self->channel.counts.refused_packet_count;
}

static void receive_packets_of_tick(struct tact_network_device *self, int64_t now_ns)
{
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    int most =
        self->skipped_tick_count < DATAGRAMS_AFTER_SKIPPED_TICKS - MAX_DATAGRAMS_READ_PER_TICK
            ? MAX_DATAGRAMS_READ_PER_TICK + (int)self->skipped_tick_count
            : DATAGRAMS_AFTER_SKIPPED_TICKS;
    ssize_t n;
    restart_channel_for_session(self);
    while ((n = tact_network_receive(&self->endpoint, now_ns, &most, payload)) >= 0) {
        restart_channel_for_session(self);
        self->newest_packet_received_ns = now_ns;
        if (n > 0) { /* a packet of size 0 only completes a handshake */
            tact_network_channel_receive(&self->channel, payload, (size_t)n, now_ns);
        }
    }
    self->refused_packet_count = tact_network_device_refused_packet_count(self);
    atomic_store_explicit(&self->mismatched_packet_count,
                          self->channel.counts.mismatched_packet_count, memory_order_relaxed);
}

/* Takes the endpoint back from the monitor thread, or hands it over after 0.5 s without a packet.
 */
static void update_endpoint_owner(struct tact_network_device *self, int64_t now_ns)
{
    const int is_endpoint_owned_by_loop = atomic_load_explicit(&self->owner, memory_order_acquire);
    if (is_endpoint_owned_by_loop && !self->is_endpoint_owned_by_loop) {
        self->newest_packet_received_ns = now_ns;
    }
    self->is_endpoint_owned_by_loop = is_endpoint_owned_by_loop;
    if (is_endpoint_owned_by_loop) {
        receive_packets_of_tick(self, now_ns);
    }
    if (is_endpoint_owned_by_loop &&
        now_ns - self->newest_packet_received_ns > max_silence_before_lost_ns) {
        self->is_endpoint_owned_by_loop = 0;
        atomic_store_explicit(&self->owner, TACT_NETWORK_OF_MONITOR, memory_order_release);
    }
}

static int32_t update_link_state(struct tact_network_device *self)
{
    const enum tact_network_channel_state state = self->channel.state;
    if (!self->is_endpoint_owned_by_loop || state == TACT_NETWORK_CHANNEL_LOST) {
        self->is_lost = 1;
    } else if (state == TACT_NETWORK_CHANNEL_OK) {
        self->is_lost = 0;
        return TACT_DEVICE_OK;
    }
    return self->is_lost ? TACT_DEVICE_LOST : TACT_DEVICE_STALE;
}

/* State of the other site's deadman, which counts only if its terms agree: 0
 * released, 1 held, 2 it has none, -1 not held since it lost this site. */
static double find_deadman_input_value(struct tact_network_device *self,
                                       const struct tact_network_sample *sample)
{
    const uint32_t flags = sample->flags;
    const int is_other_site_deadman_held = (flags & TACT_NETWORK_FLAG_DEADMAN_HELD) != 0;
    const int have_sites_same_terms = sample->terms == self->terms;
    if (is_other_site_deadman_held && !have_sites_same_terms && self->terms) {
        atomic_store_explicit(&self->terms_of_differing_sites[1], sample->terms,
                              memory_order_relaxed);
        atomic_store_explicit(&self->terms_of_differing_sites[0], self->terms,
                              memory_order_release);
    }
    if (!is_other_site_deadman_held || !have_sites_same_terms) {
        return flags & TACT_NETWORK_FLAG_LOST ? -1.0 : 0.0;
    }
    return flags & TACT_NETWORK_FLAG_NO_DEADMAN ? 2.0 : 1.0;
}

void tact_network_device_read(void *data, uint64_t tick, double t, int64_t now_ns,
                              struct tact_device_input *in)
{
    struct tact_network_device *self = data;
    struct tact_network_sample sample;
    const uint64_t ticks_skipped_since_last_read =
        self->has_read_first_tick ? tick - self->next_tick : 0;
    self->skipped_tick_count = ticks_skipped_since_last_read < MAX_RECOVERED_TICKS
                                   ? ticks_skipped_since_last_read
                                   : MAX_RECOVERED_TICKS;
    self->next_tick = tick + 1;
    self->has_read_first_tick = 1;
    self->time_in_scene_ns = (int64_t)(t * 1e9);
    update_endpoint_owner(self, now_ns);
    /* waves that were due in skipped ticks are dropped */
    for (uint64_t i = 0; i <= self->skipped_tick_count; i++) {
        tact_network_channel_get_sample_of_tick(&self->channel, &sample);
    }
    in->state = update_link_state(self);
    in->stamp_ns = self->newest_packet_received_ns;
    self->other_end_flags = in->state == TACT_DEVICE_LOST ? 0 : sample.flags;
    if (in->state == TACT_DEVICE_OK) {
        atomic_store_explicit(&self->has_other_end_fault,
                              (sample.flags & TACT_NETWORK_FLAG_FAULT) != 0, memory_order_relaxed);
    }
    double *out = in->channel;
    out[TACT_NETWORK_HELD] =
        in->state == TACT_DEVICE_OK ? find_deadman_input_value(self, &sample) : 0.0;
    out[TACT_NETWORK_ROUND_TRIP] = tact_network_channel_round_trip(&self->channel);
    out += TACT_NETWORK_FIRST_AXIS_INPUT;
    for (int i = 0; i < self->axes; i++, out += TACT_NETWORK_AXIS_NUMBERS) {
        out[0] = sample.wave[i];
        out[1] = sample.position[i];
        out[2] = sample.force[i];
    }
#define SET_LINK_INPUT(name, unit, value) *out++ = (double)(value);
    TACT_NETWORK_LINK_INPUTS(SET_LINK_INPUT)
}

static void send_packet_to_other_end(struct tact_network_device *self, const void *payload,
                                     size_t size)
{
    self->unsent_packet_count += tact_network_send(&self->endpoint, payload, size) != 0;
}

/* Sends a payload through the simulated link; discards what is under way while there is no session.
 */
static void send_over_link(struct tact_network_device *self, const void *payload, size_t size)
{
    unsigned char due[TACT_NETWORK_PAYLOAD];
    const int64_t receive_until_ns =
        self->is_endpoint_owned_by_loop ? self->time_in_scene_ns : INT64_MAX;
    ssize_t n;
    if (self->is_endpoint_owned_by_loop) {
        tact_simulated_link_send(self->link, self->time_in_scene_ns, payload, size);
    }
    while ((n = tact_simulated_link_receive(self->link, receive_until_ns, due)) >= 0) {
        if (self->is_endpoint_owned_by_loop) {
            send_packet_to_other_end(self, due, (size_t)n);
        }
    }
}

void tact_network_device_write(void *data, const double *out, int64_t now_ns)
{
    struct tact_network_device *self = data;
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    struct tact_network_sample sample = {.flags = 0}, empty_sample;
    const double *output_channels_of_axis = out + TACT_NETWORK_FIRST_AXIS_OUTPUT;
    const double terms = out[TACT_NETWORK_TERMS_OUTPUT];
    self->terms = terms >= 0.0 && terms < 0x1p53 ? (uint64_t)terms : 0;
    sample.terms = self->terms;
    sample.flags = (out[TACT_NETWORK_HELD] > 0.5 ? TACT_NETWORK_FLAG_DEADMAN_HELD : 0U) |
                   (out[TACT_NETWORK_HELD] > 1.5 ? TACT_NETWORK_FLAG_NO_DEADMAN : 0U) |
                   (out[TACT_NETWORK_HELD] < -0.5 ? TACT_NETWORK_FLAG_LOST : 0U) |
                   (out[TACT_NETWORK_CLUTCHED_OUTPUT] > 0.5 ? TACT_NETWORK_FLAG_CLUTCHED : 0U) |
                   (out[TACT_NETWORK_FAULT_OUTPUT] > 0.5 ? TACT_NETWORK_FLAG_FAULT : 0U);
    for (int i = 0; i < self->axes; i++, output_channels_of_axis += TACT_NETWORK_AXIS_NUMBERS) {
        sample.wave[i] = output_channels_of_axis[0];
        sample.position[i] = output_channels_of_axis[1];
        sample.force[i] = output_channels_of_axis[2];
    }
    empty_sample = sample;
    memset(empty_sample.wave, 0, sizeof empty_sample.wave);
    /* skipped ticks are counted as sent, as the other end counts this end's ticks */
    for (; self->skipped_tick_count > 0; self->skipped_tick_count--) {
        tact_network_channel_send(&self->channel, &empty_sample, now_ns, payload);
    }
    ssize_t size = tact_network_channel_send(&self->channel, &sample, now_ns, payload);
    /* values not finite or out of range: zeros are sent instead, with a released deadman */
    if (size < 0) {
        self->unsendable_tick_count++;
        memset(&empty_sample, 0, sizeof empty_sample);
        size = tact_network_channel_send(&self->channel, &empty_sample, now_ns, payload);
    }
    if (size < 0) {
        self->unsent_packet_count++;
    } else if (self->link) {
        send_over_link(self, payload, (size_t)size);
    } else if (self->is_endpoint_owned_by_loop) {
        send_packet_to_other_end(self, payload, (size_t)size);
    }
}
