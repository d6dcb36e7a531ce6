/* A channel of constant delay between two sites: playout, repeated waves, clock drift, silence and
 * the energy balance. */
#include "devices/network/channel_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rt/wave_internal.h"

/* longest time for which the last wave is repeated where waves are missing, with at most the energy
 * of the lost waves [s] */
static const double wave_repetition_duration_limit = 0.05;
/* relative rounding error of the unused energy, which is a difference of large sums */
static const double energy_rounding_error = 1e-15;

/* largest magnitude of a wave, position or force that is accepted */
static const double max_accepted_magnitude = 1e6;

int tact_network_channel_init(struct tact_network_channel *channel,
                              const struct tact_network_channel_options *options)
{
    const struct tact_network_channel_options *o = options;
    if (o->axes < 1 || o->axes > TACT_NETWORK_MAX_AXES || o->repeats < 0 ||
        o->repeats > TACT_NETWORK_MAX_REPEATS || o->jitter < 0 || o->jitter > 500 ||
        !(o->period >= 1e-4 && o->period <= 1e-2) || o->hold < 0 ||
        o->hold * o->period > 0.01 + 1e-9) {
        return -EINVAL;
    }
    memset(channel, 0, sizeof *channel);
    channel->largest_playout_fill = INT64_MIN;
    channel->options = *options;
    return 0;
}

static void discard_received_waves(struct tact_network_channel *channel)
{
    memset(channel->slots, 0, sizeof channel->slots);
    memset(&channel->last_used_sample, 0, sizeof channel->last_used_sample);
    memset(channel->last_received_wave, 0, sizeof channel->last_received_wave);
    channel->state = TACT_NETWORK_CHANNEL_WAITING;
    channel->waiting_ticks = channel->ticks_without_packet = channel->repeated_wave_ticks = 0;
    channel->playout_fill_window_ticks = channel->has_received_any_packet =
        channel->ticks_without_wave = 0;
    channel->has_used_any_received_sample = channel->wave_gap_ticks = 0;
    channel->last_playout_fill_error = 0;
    channel->largest_playout_fill = INT64_MIN;
}

void tact_network_channel_restart(struct tact_network_channel *channel)
{
    discard_received_waves(channel);
    channel->clock = (struct tact_network_clock_offset_estimate){.start_of_present_second_ns = 0};
    channel->next_tick_to_send = 0;
    channel->tick_after_newest_used_wave = 0;
    memset(channel->last_sent_waves, 0, sizeof channel->last_sent_waves);
    channel->sent_energy = channel->used_energy = (struct tact_network_compensated_sum){0.0, 0.0};
    channel->energy_sent_by_peer = channel->least_energy = 0.0;
}

static void add_to_compensated_sum(struct tact_network_compensated_sum *sum, double value)
{
    const double new_rounded_sum = sum->sum + value;
    sum->rounding_error += fabs(sum->sum) >= fabs(value) ? (sum->sum - new_rounded_sum) + value
                                                         : (value - new_rounded_sum) + sum->sum;
    sum->sum = new_rounded_sum;
}

static double energy_of_wave(const struct tact_network_channel *channel, const double *wave)
{
    double sum = 0.0;
    for (int i = 0; i < channel->options.axes; i++) {
        sum += wave[i] * wave[i];
    }
    return 0.5 * sum * channel->options.period;
}

/* Whether a wave has energy along any axis; it has none where its end was at rest, held its
 * position or made no wave. */
static int has_wave_energy_along_any_axis(const struct tact_network_channel *channel,
                                          const double *wave)
{
    int found = 0;
    for (int i = 0; i < channel->options.axes; i++) {
        found |= tact_wave_has_energy(wave[i]);
    }
    return found;
}

double tact_network_channel_energy(const struct tact_network_channel *channel)
{
    return channel->energy_sent_by_peer -
           (channel->used_energy.sum + channel->used_energy.rounding_error);
}

static int are_numbers_in_accepted_range(const double *value, int count)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(value[i]) <= max_accepted_magnitude)) {
            return 0;
        }
    }
    return 1;
}

enum { POSITION_OFFSET = 56 /* number of bytes of a payload before the position */ };

static uint64_t channel_period_in_ns(const struct tact_network_channel *channel)
{
    return (uint64_t)(channel->options.period * 1e9 + 0.5);
}

ssize_t tact_network_channel_send(struct tact_network_channel *channel,
                                  const struct tact_network_sample *sample, int64_t now_ns,
                                  unsigned char payload[TACT_NETWORK_PAYLOAD])
{
    const int axes = channel->options.axes,
              playout_margin_ticks = channel->options.jitter + channel->options.repeats;
    if (!are_numbers_in_accepted_range(sample->wave, axes) ||
        !are_numbers_in_accepted_range(sample->position, axes) ||
        !are_numbers_in_accepted_range(sample->force, axes)) {
        return -EDOM;
    }
    memmove(channel->last_sent_waves[1], channel->last_sent_waves[0],
            sizeof channel->last_sent_waves - sizeof channel->last_sent_waves[0]);
    memcpy(channel->last_sent_waves[0], sample->wave, sizeof channel->last_sent_waves[0]);
    add_to_compensated_sum(&channel->sent_energy, energy_of_wave(channel, sample->wave));
    const double energy = channel->sent_energy.sum + channel->sent_energy.rounding_error;
    const uint64_t tick = channel->next_tick_to_send++;
    tact_network_clock_add_stamps_of_tick(&channel->clock, now_ns,
                                          &channel->newest_packet_received_ns);
    const int sent_wave_count =
        tick < (uint64_t)channel->options.repeats ? (int)tick + 1 : channel->options.repeats + 1;
    tact_network_write_u64(payload, tick);
    tact_network_write_u64(payload + 8, (uint64_t)now_ns);
    tact_network_write_u64(
        payload + 16, channel->has_received_any_packet ? (uint64_t)channel->other_end_sent_ns : 0);
    tact_network_write_u64(payload + 24,
                           channel->has_received_any_packet
                               ? (uint64_t)now_ns - (uint64_t)channel->newest_packet_received_ns
                               : 0);
    tact_network_write_doubles(payload + 32, &energy, 1);
    tact_network_write_u64(payload + 40, (sample->flags & 0xff) | sample->terms << 8);
    tact_network_write_u64(payload + 48, (uint64_t)axes | (uint64_t)sent_wave_count << 8 |
                                             (uint64_t)playout_margin_ticks << 16 |
                                             channel_period_in_ns(channel) << 32);
    unsigned char *end =
        tact_network_write_doubles(payload + POSITION_OFFSET, sample->position, axes);
    end = tact_network_write_doubles(end, sample->force, axes);
    for (int i = 0; i < sent_wave_count; i++) {
        end = tact_network_write_doubles(end, channel->last_sent_waves[i], axes);
    }
    return end - payload;
}

/* Content of a received packet. */
struct channel_packet {
    int64_t tick, sent_ns, echo_ns, peer_holding_time_ns;
    double energy;
    int sent_wave_count, playout_margin_ticks;
    struct tact_network_sample sample;
    double wave[TACT_NETWORK_MAX_REPEATS + 1][TACT_NETWORK_MAX_AXES];
};

static int parse_channel_packet(struct tact_network_channel *channel, const unsigned char *payload,
                                size_t size, struct channel_packet *out)
{
    const int axes = channel->options.axes;
    if (size < POSITION_OFFSET) {
        return -EPROTO;
    }
    const uint64_t flags = tact_network_read_u64(payload + 40),
                   format = tact_network_read_u64(payload + 48);
    out->tick = (int64_t)tact_network_read_u64(payload);
    out->sent_ns = (int64_t)tact_network_read_u64(payload + 8);
    out->echo_ns = (int64_t)tact_network_read_u64(payload + 16);
    out->peer_holding_time_ns = (int64_t)tact_network_read_u64(payload + 24);
    tact_network_read_doubles(payload + 32, &out->energy, 1);
    out->sample.flags = flags & 0xff;
    out->sample.terms = flags >> 8;
    out->sent_wave_count = (int)(format >> 8 & 0xff);
    out->playout_margin_ticks = (int)(format >> 16 & 0xffff);
    if ((int)(format & 0xff) != axes || format >> 32 != channel_period_in_ns(channel)) {
        channel->counts.mismatched_packet_count++;
        return -EPROTO;
    }
    if (out->sent_wave_count < 1 || out->sent_wave_count > TACT_NETWORK_MAX_REPEATS + 1 ||
        out->tick < out->sent_wave_count - 1 || out->tick >= (int64_t)1 << 53 ||
        !(out->energy >= 0.0 && out->energy < 1e300) ||
        size != POSITION_OFFSET + 8 * (size_t)axes * (size_t)(2 + out->sent_wave_count)) {
        return -EPROTO;
    }
    const unsigned char *in =
        tact_network_read_doubles(payload + POSITION_OFFSET, out->sample.position, axes);
    in = tact_network_read_doubles(in, out->sample.force, axes);
    int is_channel_packet_valid = are_numbers_in_accepted_range(out->sample.position, axes) &&
                                  are_numbers_in_accepted_range(out->sample.force, axes);
    for (int i = 0; i < out->sent_wave_count; i++) {
        in = tact_network_read_doubles(in, out->wave[i], axes);
        is_channel_packet_valid =
            is_channel_packet_valid && are_numbers_in_accepted_range(out->wave[i], axes);
    }
    return is_channel_packet_valid ? 0 : -EPROTO;
}

static struct tact_network_channel_slot *sample_slot_of_tick(struct tact_network_channel *channel,
                                                             int64_t tick)
{
    return &channel->slots[(uint64_t)tick % TACT_NETWORK_CHANNEL_RING];
}

static struct tact_network_channel_slot *
prepare_sample_slot_of_tick(struct tact_network_channel *channel, int64_t tick)
{
    struct tact_network_channel_slot *slot = sample_slot_of_tick(channel, tick);
    if (slot->tick != tick + 1) {
        memset(slot, 0, sizeof *slot);
        slot->tick = tick + 1;
    }
    return slot;
}

static int is_waiting_for_packets(const struct tact_network_channel *channel)
{
    return channel->state == TACT_NETWORK_CHANNEL_WAITING ||
           channel->state == TACT_NETWORK_CHANNEL_LOST;
}

/* Whether a packet's tick is near those expected: a distant one would overwrite slots of waiting
 * samples. */
static int is_plausible_packet_tick(const struct tact_network_channel *channel, int64_t tick)
{
    if (is_waiting_for_packets(channel)) {
        /* packets that were under way while the link was cut may be followed by a much newer one */
        return !channel->has_received_any_packet ||
               tick - channel->newest_received_tick > -TACT_NETWORK_CHANNEL_RING / 2;
    }
    const int64_t packet_ticks_until_played = tick - channel->playout_tick;
    return packet_ticks_until_played > -TACT_NETWORK_CHANNEL_RING &&
           packet_ticks_until_played < TACT_NETWORK_CHANNEL_RING;
}

static void update_channel_by_packet(struct tact_network_channel *channel,
                                     const struct channel_packet *packet, int64_t now_ns)
{
    if (packet->echo_ns) {
        const struct tact_network_round_trip_stamps stamps = {
            .sent_ns = packet->echo_ns,
            .other_end_received_ns =
                (int64_t)((uint64_t)packet->sent_ns - (uint64_t)packet->peer_holding_time_ns),
            .other_end_sent_ns = packet->sent_ns,
            .received_ns = now_ns};
        tact_network_clock_keep_stamps_of_tick(&channel->clock, &stamps);
    }
    channel->ticks_without_packet = 0;
    if (!channel->has_received_any_packet || packet->tick > channel->newest_received_tick) {
        channel->has_received_any_packet = 1;
        channel->newest_received_tick = packet->tick;
        channel->energy_sent_by_peer = packet->energy;
        channel->newest_packet_flags = packet->sample.flags;
        channel->newest_packet_terms = packet->sample.terms;
        channel->peer_margin_ticks = packet->playout_margin_ticks;
        channel->newest_packet_received_ns =
            INT64_MAX; /* set at the next send, when the time at which the tick began is known */
        channel->other_end_sent_ns = packet->sent_ns;
    }
}

int tact_network_channel_receive(struct tact_network_channel *channel, const unsigned char *payload,
                                 size_t size, int64_t now_ns)
{
    struct channel_packet packet = {0};
    if (parse_channel_packet(channel, payload, size, &packet) ||
        !is_plausible_packet_tick(channel, packet.tick)) {
        channel->counts.refused_packet_count++;
        return -EPROTO;
    }
    const int is_channel_waiting = is_waiting_for_packets(channel);
    const int is_packet_late = !is_channel_waiting && packet.tick < channel->playout_tick;
    struct tact_network_channel_slot *slot = sample_slot_of_tick(channel, packet.tick);
    if (slot->tick == packet.tick + 1 && slot->has_packet) {
        channel->counts.duplicate_packet_count++;
        return -EALREADY;
    }
    channel->counts.received_packet_count++;
    update_channel_by_packet(channel, &packet, now_ns);
    for (int i = 0; i < packet.sent_wave_count; i++) {
        const int64_t tick = packet.tick - i;
        if (is_channel_waiting || tick >= channel->playout_tick) {
            slot = prepare_sample_slot_of_tick(channel, tick);
            memcpy(slot->wave, packet.wave[i], sizeof slot->wave);
            slot->has_received_wave = 1;
        }
    }
    if (is_packet_late) {
        channel->counts.late_packet_count++;
    }
    if (!is_packet_late || sample_slot_of_tick(channel, packet.tick)->tick == packet.tick + 1) {
        slot = prepare_sample_slot_of_tick(channel, packet.tick);
        slot->has_packet = 1;
        slot->sample = packet.sample;
    }
    const int64_t packet_ticks_ahead_of_playout = packet.tick - channel->playout_tick;
    channel->largest_playout_fill = packet_ticks_ahead_of_playout > channel->largest_playout_fill
                                        ? packet_ticks_ahead_of_playout
                                        : channel->largest_playout_fill;
    return 0;
}

int64_t tact_network_channel_playout_fill(const struct tact_network_channel *channel)
{
    return channel->has_received_any_packet ? channel->newest_received_tick - channel->playout_tick
                                            : 0;
}

double tact_network_channel_round_trip(const struct tact_network_channel *channel)
{
    const struct tact_network_clock_sample best = tact_network_clock_best_sample(&channel->clock);
    const int playout_margin_ticks =
        channel->options.jitter + channel->options.repeats + channel->peer_margin_ticks;
    return best.is_valid
               ? (double)best.round_trip_ns * 1e-9 + playout_margin_ticks * channel->options.period
               : 0.0;
}

static int whole_ticks_of_time(const struct tact_network_channel *channel, double time)
{
    return (int)(time / channel->options.period + 0.5);
}

/* Waits 0.1 s for first packets, of which the fastest sets the tick in which the first wave is
 * used. */
static int count_tick_of_waiting_for_packets(struct tact_network_channel *channel)
{
    if (!channel->has_received_any_packet ||
        ++channel->waiting_ticks < whole_ticks_of_time(channel, 0.1)) {
        channel->playout_tick++;
        return 0;
    }
    const int playout_margin_ticks = channel->options.jitter + channel->options.repeats;
    channel->playout_tick += channel->largest_playout_fill - playout_margin_ticks;
    channel->state = TACT_NETWORK_CHANNEL_OK;
    channel->largest_playout_fill = INT64_MIN;
    channel->playout_fill_window_ticks = 0;
    return 1;
}

static void update_state_after_silence(struct tact_network_channel *channel)
{
    if (channel->ticks_without_packet <= whole_ticks_of_time(channel, 0.5)) {
        channel->ticks_without_packet++;
    }
    if (channel->ticks_without_packet > whole_ticks_of_time(channel, 0.5)) {
        discard_received_waves(channel);
        channel->state = TACT_NETWORK_CHANNEL_LOST;
        channel->counts.channel_restart_count++;
        return;
    }
    const int max_ticks_without_packet = whole_ticks_of_time(channel, 0.1);
    channel->state = channel->ticks_without_packet > max_ticks_without_packet ||
                             channel->ticks_without_wave > max_ticks_without_packet ||
                             !channel->has_used_any_received_sample
                         ? TACT_NETWORK_CHANNEL_STALE
                         : TACT_NETWORK_CHANNEL_OK;
}

/* How the packets of a window of 0.25 s arrived, compared with the expected delay. */
enum packet_arrival_timing { TIMING_GOOD, TIMING_EARLY, TIMING_LATE, TIMING_DELAY_CHANGED };

/* 1 where the arrival of packets differs from the expected one by more than jitter and repeats
 * allow, and by over 20 ms, which no clock drift reaches: the delay itself has changed. */
static int has_link_delay_changed(const struct tact_network_channel *channel,
                                  int64_t playout_fill_error)
{
    const int playout_margin_ticks = channel->options.jitter + channel->options.repeats;
    return llabs(playout_fill_error) > playout_margin_ticks &&
           llabs(playout_fill_error) > whole_ticks_of_time(channel, 0.02);
}

/* Compares the fill of the fastest packet of 0.25 s with the expected fill. A difference counts
 * only if the 0.25 s before had one too, as one late site is neither clock drift nor another delay;
 * but it counts at once if all packets came far too late for their waves. */
static enum packet_arrival_timing find_packet_arrival_timing(struct tact_network_channel *channel)
{
    if (++channel->playout_fill_window_ticks < whole_ticks_of_time(channel, 0.25)) {
        return TIMING_GOOD;
    }
    const int playout_margin_ticks = channel->options.jitter + channel->options.repeats;
    const int64_t playout_fill_error = channel->largest_playout_fill == INT64_MIN
                                           ? 0
                                           : channel->largest_playout_fill - playout_margin_ticks;
    const int64_t previous_playout_fill_error = channel->last_playout_fill_error;
    channel->playout_fill_window_ticks = 0;
    channel->largest_playout_fill = INT64_MIN;
    channel->last_playout_fill_error = playout_fill_error;
    if (has_link_delay_changed(channel, playout_fill_error) &&
        (playout_fill_error < 0 ||
         (previous_playout_fill_error > 0 &&
          has_link_delay_changed(channel, previous_playout_fill_error)))) {
        return TIMING_DELAY_CHANGED;
    }
    return playout_fill_error >= 2 && previous_playout_fill_error >= 2     ? TIMING_EARLY
           : playout_fill_error <= -2 && previous_playout_fill_error <= -2 ? TIMING_LATE
                                                                           : TIMING_GOOD;
}

/* The slot of a tick whose wave has arrived, has energy and was not used yet, or NULL. */
static struct tact_network_channel_slot *find_waiting_wave(struct tact_network_channel *channel,
                                                           int64_t tick)
{
    struct tact_network_channel_slot *slot = sample_slot_of_tick(channel, tick);
    const int is_next_unused_tick =
        slot->tick == tick + 1 && slot->tick > channel->tick_after_newest_used_wave;
    return is_next_unused_tick && slot->has_received_wave &&
                   has_wave_energy_along_any_axis(channel, slot->wave)
               ? slot
               : NULL;
}

/* Energy of lost waves [J]: sent by the other end, neither used nor waiting to be used. */
static double compute_energy_of_lost_waves(struct tact_network_channel *channel)
{
    const double used = channel->used_energy.sum + channel->used_energy.rounding_error;
    double energy_of_waves_not_yet_used = 0.0;
    for (int64_t tick = channel->playout_tick; tick <= channel->newest_received_tick; tick++) {
        const struct tact_network_channel_slot *slot = find_waiting_wave(channel, tick);
        energy_of_waves_not_yet_used += slot ? energy_of_wave(channel, slot->wave) : 0.0;
    }
    return channel->energy_sent_by_peer - used - energy_of_waves_not_yet_used -
           energy_rounding_error *
               (channel->energy_sent_by_peer + used + energy_of_waves_not_yet_used);
}

/* Makes a missing wave by linear interpolation from the last wave to the next one that waits or, if
 * none does, repeats the last one for a short time. Returns 0 if the energy of lost waves does not
 * suffice. */
static int make_wave_for_missing_one(struct tact_network_channel *channel, double *wave)
{
    double interpolated_wave[TACT_NETWORK_MAX_AXES];
    const struct tact_network_channel_slot *next = NULL;
    int64_t ticks_to_next_wave =
        0; /* distance of the next waiting wave from the missing one [ticks] */
    while (!next && channel->playout_tick + ticks_to_next_wave <= channel->newest_received_tick) {
        next = find_waiting_wave(channel, channel->playout_tick + ticks_to_next_wave++);
    }
    if (!next && channel->repeated_wave_ticks >=
                     whole_ticks_of_time(channel, wave_repetition_duration_limit)) {
        return 0;
    }
    const double ticks_since_last_wave =
        channel->wave_gap_ticks > 1 ? channel->wave_gap_ticks : 1.0;
    for (int axis = 0; axis < channel->options.axes; axis++) {
        const double last = channel->last_received_wave[axis];
        interpolated_wave[axis] =
            next && tact_wave_has_energy(last) && tact_wave_has_energy(next->wave[axis])
                ? last + (next->wave[axis] - last) * ticks_since_last_wave /
                             (ticks_since_last_wave + (double)ticks_to_next_wave)
                : last;
    }
    if (has_wave_energy_along_any_axis(channel, interpolated_wave) &&
        energy_of_wave(channel, interpolated_wave) > compute_energy_of_lost_waves(channel)) {
        return 0;
    }
    memcpy(wave, interpolated_wave, (size_t)channel->options.axes * sizeof *wave);
    channel->repeated_wave_ticks = next ? 0 : channel->repeated_wave_ticks + 1;
    *(next ? &channel->counts.bridged_wave_count : &channel->counts.held_wave_count) += 1;
    return 1;
}

/* 1 where a wave states that its sender only held its position, as no wave had arrived there: used
 * as it is, it would take the force off this end. */
static int is_wave_gap_of_sender(const struct tact_network_channel *channel, const double *wave)
{
    int found = 0;
    for (int i = 0; i < channel->options.axes; i++) {
        const enum tact_wave_kind kind = tact_wave_kind(wave[i]);
        found |= kind == TACT_WAVE_KIND_MISSING || kind == TACT_WAVE_KIND_STOPPED;
    }
    return found && !has_wave_energy_along_any_axis(channel, wave);
}

static void output_sample_of_playout_tick(struct tact_network_channel *channel,
                                          struct tact_network_sample *out)
{
    const struct tact_network_channel_slot *slot =
        sample_slot_of_tick(channel, channel->playout_tick);
    const int has_next_wave = slot->tick == channel->playout_tick + 1;
    channel->playout_tick++;
    if (has_next_wave && slot->has_packet) {
        *out = slot->sample;
        channel->has_used_any_received_sample = 1;
    } else {
        channel->counts.lost_packet_count++;
        channel->counts.recovered_wave_count +=
            (uint64_t)(has_next_wave && slot->has_received_wave);
    }
    /* A wave is used only once, even if the delay was measured again meanwhile. */
    out->missing = !(has_next_wave && slot->has_received_wave &&
                     slot->tick > channel->tick_after_newest_used_wave);
    channel->ticks_without_wave = out->missing ? channel->ticks_without_wave + 1 : 0;
    if (!out->missing) {
        channel->tick_after_newest_used_wave = slot->tick;
        memcpy(out->wave, slot->wave, sizeof out->wave);
    }
    const int is_tick_in_wave_gap = out->missing || is_wave_gap_of_sender(channel, slot->wave);
    channel->wave_gap_ticks = is_tick_in_wave_gap ? channel->wave_gap_ticks + 1 : 0;
    if (!is_tick_in_wave_gap) {
        memcpy(channel->last_received_wave, slot->wave, sizeof channel->last_received_wave);
        channel->repeated_wave_ticks = 0;
        return;
    }
    channel->counts.missing_wave_count += (uint64_t)out->missing;
    if (make_wave_for_missing_one(channel, out->wave) || !out->missing) {
        return;
    }
    if (channel->repeated_wave_ticks < channel->options.hold) {
        channel->repeated_wave_ticks++;
        channel->counts.held_wave_count++;
    } else {
        memset(out->wave, 0, sizeof out->wave);
    }
}

/* A wave that was taken for lost, and whose energy was used, may arrive after all: no more energy
 * is used than was sent. Not with the option `hold`, which is not passive. */
static void limit_wave_to_sent_energy(struct tact_network_channel *channel, double *wave)
{
    const double energy = energy_of_wave(channel, wave);
    const double unused_received_energy = fmax(0.0, tact_network_channel_energy(channel));
    const double rounding_error = energy_rounding_error * channel->energy_sent_by_peer;
    if (channel->options.hold == 0 && energy > unused_received_energy + rounding_error) {
        channel->counts.limited_wave_count++;
        for (int axis = 0; axis < channel->options.axes; axis++) {
            wave[axis] *= sqrt(unused_received_energy / energy);
        }
    }
}

void tact_network_channel_get_sample_of_tick(struct tact_network_channel *channel,
                                             struct tact_network_sample *out)
{
    if (channel->state == TACT_NETWORK_CHANNEL_LOST && channel->has_received_any_packet) {
        channel->state = TACT_NETWORK_CHANNEL_WAITING;
    }
    const int is_first_wave_to_use = channel->state == TACT_NETWORK_CHANNEL_WAITING &&
                                     count_tick_of_waiting_for_packets(channel);
    if (!is_waiting_for_packets(channel)) {
        update_state_after_silence(channel);
    }
    *out = channel->last_used_sample;
    out->missing = 1;
    if (is_waiting_for_packets(channel)) {
        memset(out->wave, 0, sizeof out->wave);
        channel->last_used_sample = *out;
        return;
    }
    const enum packet_arrival_timing packet_arrival_timing =
        is_first_wave_to_use ? TIMING_GOOD : find_packet_arrival_timing(channel);
    if (packet_arrival_timing == TIMING_DELAY_CHANGED) {
        discard_received_waves(channel);
        channel->counts.channel_restart_count++;
        memset(out->wave, 0, sizeof out->wave);
        out->flags = 0;
        channel->last_used_sample = *out;
        return;
    }
    if (packet_arrival_timing == TIMING_LATE) {
        channel->counts.inserted_wave_count++;
        if (!make_wave_for_missing_one(channel, out->wave)) {
            memset(out->wave, 0, sizeof out->wave);
        }
    } else {
        if (packet_arrival_timing == TIMING_EARLY) {
            channel->counts.dropped_wave_count++;
            channel->playout_tick++;
        }
        output_sample_of_playout_tick(channel, out);
    }
    if (!channel->has_used_any_received_sample) {
        channel->state = TACT_NETWORK_CHANNEL_STALE;
    }
    out->flags = channel->newest_packet_flags;
    out->terms = channel->newest_packet_terms;
    limit_wave_to_sent_energy(channel, out->wave);
    channel->last_used_sample = *out;
    add_to_compensated_sum(&channel->used_energy, energy_of_wave(channel, out->wave));
    channel->least_energy = fmin(channel->least_energy, tact_network_channel_energy(channel));
}
