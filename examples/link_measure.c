/* Measures a link: each end sends a probe every period and echoes the newest that it heard. */
#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "link.h"
#include "rt/clock.h"
#include "text.h"

enum {
    PROBE_PACKET_BYTES =
        560, /* size of a session's packet: stamps, a pose, ten waves of six numbers */
    NUMBERS_PER_PROBE_PACKET =
        4, /* numbers of 8 bytes at the start of the packet; the rest is zero */
    /* maximum number of packets read per tick; further ones wait for the next tick, or are dropped
       by the system */
    DATAGRAMS_A_TICK = 64
};
/* largest plausible tick number of a session */
static const uint64_t MAX_PLAUSIBLE_TICK = UINT64_C(1) << 53;
/* silence after which the other end has stopped [ns] */
static const int64_t peer_silence_timeout_ns = 2000000000;

/* Tick and stamps of the newest probe packet of the other end. */
struct newest_probe {
    uint64_t tick;
    int64_t sent_ns;     /* time of sending, clock of the other end [ns] */
    int64_t received_ns; /* clock of this end; 0: none yet */
};

static void send_probe_packet(struct link_measurement *m, uint64_t tick,
                              const struct newest_probe *newest_probe)
{
    unsigned char probe_packet[PROBE_PACKET_BYTES] = {0};
    const int64_t start_ns = tact_clock_now();
    tact_network_write_u64(probe_packet, tick);
    tact_network_write_u64(probe_packet + 8, (uint64_t)start_ns);
    tact_network_write_u64(probe_packet + 16, (uint64_t)newest_probe->sent_ns);
    tact_network_write_u64(probe_packet + 24, (uint64_t)newest_probe->received_ns);
    tact_network_send(&m->endpoint, probe_packet, sizeof probe_packet);
    tact_histogram_add(&m->send_call_durations, tact_clock_now() - start_ns);
}

static void record_probe_arrival(struct link_measurement *m, const unsigned char *probe_packet,
                                 struct newest_probe *newest_probe)
{
    const int64_t now_ns = tact_clock_now();
    const struct tact_network_round_trip_stamps stamps = {
        .sent_ns = (int64_t)tact_network_read_u64(probe_packet + 16),
        .other_end_received_ns = (int64_t)tact_network_read_u64(probe_packet + 24),
        .other_end_sent_ns = (int64_t)tact_network_read_u64(probe_packet + 8),
        .received_ns = now_ns,
    };
    const uint64_t tick = tact_network_read_u64(probe_packet);
    if (tick > MAX_PLAUSIBLE_TICK) {
        m->refused_packet_count++;
        return;
    }
    if (m->count == m->capacity) {
        m->dropped_probe_count++;
        return;
    }
    m->packet_arrivals[m->count++] = (struct link_arrival){
        .tick = tick, .sent_ns = stamps.other_end_sent_ns, .received_ns = now_ns};
    if (!newest_probe->received_ns || tick > newest_probe->tick) {
        *newest_probe = (struct newest_probe){
            .tick = tick, .sent_ns = stamps.other_end_sent_ns, .received_ns = now_ns};
    }
    if (stamps.sent_ns) {
        const int64_t round_trip = tact_network_clock_add_stamps(&m->clock, &stamps);
        if (round_trip >= 0) {
            tact_histogram_add(&m->round_trip, round_trip);
        } else {
            m->refused_packet_count++;
        }
    }
}

/* Receives all probe packets that have arrived. */
static void receive_probe_packets(struct link_measurement *m, struct newest_probe *newest_probe)
{
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    const int64_t start_ns = tact_clock_now();
    int most = DATAGRAMS_A_TICK;
    ssize_t n;
    tact_network_endpoint_send_due_handshakes(&m->endpoint, start_ns);
    while ((n = tact_network_receive(&m->endpoint, start_ns, &most, payload)) != -EAGAIN) {
        /* the other end has restarted */
        if (m->endpoint.counts.completed_handshake_count != m->session) {
            m->session = m->endpoint.counts.completed_handshake_count;
            m->count = 0;
            m->dropped_probe_count = 0;
            m->clock = (struct tact_network_clock_offset_estimate){.start_of_present_second_ns = 0};
            tact_histogram_reset(&m->round_trip);
            *newest_probe = (struct newest_probe){.tick = 0};
        }
        if (n == PROBE_PACKET_BYTES) {
            record_probe_arrival(m, payload, newest_probe);
        } else if (n > 0) { /* a packet of size 0 only completes a handshake */
            m->refused_packet_count++;
        }
    }
    tact_histogram_add(&m->receive_call_time, tact_clock_now() - start_ns);
}

/* Prints for which end this end waits, and for how long. */
static void print_waiting_message(const char *command, const struct link_options *options,
                                  const struct link_measurement *m)
{
    if (options->listen) {
        fprintf(stderr, "%s: listening on port %d for the other end, at most %g s (--wait)\n",
                command, tact_network_endpoint_port(&m->endpoint), options->wait);
    } else {
        fprintf(stderr, "%s: waiting for an answer of the other end at %s, at most %g s (--wait)\n",
                command, options->connect, options->wait);
    }
}

static void report_absent_peer(const char *command, const struct link_options *options,
                               const struct link_measurement *m)
{
    const struct tact_network_endpoint_counts *c = &m->endpoint.counts;
    fprintf(stderr,
            "%s: no session with the other end within %g s: %llu datagrams arrived, %llu of them "
            "with a wrong key, %llu of another version of the format\n",
            command, options->wait, (unsigned long long)c->received_datagram_count,
            (unsigned long long)c->forged_packet_count,
            (unsigned long long)c->other_version_packet_count);
    if (c->other_version_packet_count) {
        fprintf(stderr,
                "%s: packets with version %d of the packet format arrive, but this end has version "
                "%d: both ends need the same version of tact\n",
                command, m->endpoint.other_version_packet_count,
                TACT_NETWORK_PACKET_FORMAT_VERSION);
    }
}

/* Waits for the handshake. Returns 0, or -1 if it was stopped, or no other end came in time. */
static int wait_for_other_end_of_link(const char *command, const struct link_options *options,
                                      struct link_measurement *m)
{
    const int64_t wait_deadline_ns = tact_clock_now() + (int64_t)(options->wait * 1e9);
    struct newest_probe newest_probe = {.tick = 0};
    int64_t next_poll_ns = tact_clock_now();
    while (!m->endpoint.has_encrypted_session) {
        if (tact_stop_requested(command_stop_flag()) || next_poll_ns > wait_deadline_ns) {
            report_absent_peer(command, options, m);
            return -1;
        }
        next_poll_ns += 1000000;
        tact_clock_sleep_until(next_poll_ns);
        receive_probe_packets(m, &newest_probe);
    }
    return 0;
}

static void exchange_probes(const struct link_options *options, struct link_measurement *m)
{
    struct tact_realtime_options realtime = tact_realtime_default();
    realtime.cpu = TACT_REALTIME_CPU_ANY;
    realtime.lock_memory = 0;
    const uint64_t ticks = (uint64_t)llround(options->seconds * options->rate);
    const double period_ns = 1e9 / options->rate;
    struct newest_probe newest_probe = {.tick = 0};
    tact_histogram_reset(&m->send_call_durations);
    tact_histogram_reset(&m->receive_call_time);
    tact_histogram_reset(&m->round_trip);
    tact_realtime_enter(&realtime, &m->realtime);
    const int64_t start_ns = tact_clock_now();
    for (uint64_t tick = 0; tick < ticks && !tact_stop_requested(command_stop_flag()); tick++) {
        const int64_t probe_send_time_ns = start_ns + (int64_t)((double)tick * period_ns);
        tact_clock_sleep_until(probe_send_time_ns);
        const int64_t now_ns = tact_clock_now();
        m->late_tick_count += (double)(now_ns - probe_send_time_ns) > period_ns;
        receive_probe_packets(m, &newest_probe);
        send_probe_packet(m, tick, &newest_probe);
        if (now_ns - m->endpoint.last_accepted_time_ns > peer_silence_timeout_ns) {
            break;
        }
    }
    tact_realtime_leave();
}

int link_measure(const char *command, const struct link_options *options,
                 struct link_measurement *m)
{
    struct tact_error err = {.line = 0};
    struct tact_network_identity identity;
    const struct tact_network_endpoint_options endpoint = {
        .address = options->connect ? options->connect : options->listen,
        .is_handshake_initiator = !!options->connect,
        .identity = options->key ? &identity : NULL,
    };
    int rc =
        options->key ? tact_network_identity_read(options->key, options->peer, &identity, &err) : 0;
    rc = rc ? rc : tact_network_endpoint_open(&endpoint, &m->endpoint, &err);
    sodium_memzero(&identity, sizeof identity);
    if (rc) {
        return command_print_error(&err);
    }
    /* Reserves memory for arrivals over twice the duration of this end, as that of the other end is
     * not known. */
    m->capacity = (size_t)(2.0 * options->seconds * options->rate) + 1000;
    m->packet_arrivals = calloc(m->capacity, sizeof *m->packet_arrivals);
    if (!m->packet_arrivals) {
        fprintf(stderr, "%s: out of memory\n", command);
        return EXIT_BAD;
    }
    print_waiting_message(command, options, m);
    command_install_stop_signals();
    if (wait_for_other_end_of_link(command, options, m)) {
        return EXIT_BAD;
    }
    exchange_probes(options, m);
    return EXIT_GOOD;
}
