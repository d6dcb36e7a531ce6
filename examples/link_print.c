/* Prints the measurement of a link, and what it means for teleoperation. */
#include <math.h>
#include <stdio.h>
#include "command.h"
#include "devices/network/address_internal.h"
#include "link.h"
#include "text.h"

static const double operator_impedances[] = {3.0, 10.0, 30.0}; /* [N s/m]: light, ordinary, firm */
enum { IMPEDANCES = sizeof operator_impedances / sizeof *operator_impedances };

static double convert_ns_to_ms(int64_t ns)
{
    return (double)ns * 1e-6;
}

static void print_call_durations(const char *name, const struct tact_histogram *h)
{
    const struct tact_histogram_summary s = tact_histogram_summarise(h);
    printf("  %-12s p50 %.1f, p99 %.1f, at most %.1f us a tick\n", name, (double)s.p50 * 1e-3,
           (double)s.p99 * 1e-3, (double)s.max * 1e-3);
}

/* Prints which real-time settings were refused, as late ticks of this end count as delay of the
 * link. */
static void print_refused_realtime_settings(const struct tact_realtime_report *report)
{
    for (int i = 0; i < report->count; i++) {
        if (!report->item[i].granted) {
            printf("  real time    %s: refused: %s\n", report->item[i].name, report->item[i].why);
        }
    }
}

static void print_suggested_channel(const struct link_channel_settings *channel, double rate)
{
    printf(
        "\n  suggested settings for both directions at %g Hz, by the packets that arrived here:\n",
        rate);
    printf("  waves        each packet repeats %d%s\n", channel->repeated_wave_count,
           channel->is_longest_gap_covered ? "" : "; longer gaps have zero waves");
    printf("  playout      %d ticks, %.1f ms one way\n", channel->playout_delay_ticks,
           1e3 * channel->delay);
    printf("  correction   of drift: %.2f /s\n", channel->drift_correction_gain);
    printf(
        "  impedance    stiffness of link    a wall of 1000 N/m feels, without correction, like\n");
    for (int i = 0; i < IMPEDANCES; i++) {
        const double line = link_wave_stiffness(operator_impedances[i], channel->delay);
        printf("  %3.0f N s/m    %13.0f N/m    %8.0f N/m\n", operator_impedances[i], line,
               1.0 / (1.0 / line + 1e-3));
    }
}

static void print_refused_packets(const struct link_measurement *m)
{
    const struct tact_network_endpoint_counts *c = &m->endpoint.counts;
    printf("  refused      packets: %llu malformed, %llu of another version of the format, %llu "
           "with a wrong key, %llu received before, %llu of another session or sender, %llu "
           "handshake messages at the wrong time, %llu with invalid content\n",
           (unsigned long long)c->malformed_packet_count,
           (unsigned long long)c->other_version_packet_count,
           (unsigned long long)c->forged_packet_count, (unsigned long long)c->replayed_packet_count,
           (unsigned long long)c->other_session_packet_count,
           (unsigned long long)c->postponed_hello_count,
           (unsigned long long)m->refused_packet_count);
    if (m->dropped_probe_count || c->completed_handshake_count > 1) {
        printf("  dropped      %llu probes over the room for them; %llu sessions, of which the "
               "last is measured\n",
               (unsigned long long)m->dropped_probe_count,
               (unsigned long long)c->completed_handshake_count);
    }
}

static void print_link_table(const struct link_options *options, const struct link_measurement *m,
                             const struct link_quality *q)
{
    const struct tact_histogram_summary round_trip_summary =
        tact_histogram_summarise(&m->round_trip);
    char peer_address_text[96];
    tact_network_format_address(&m->endpoint.peer_address, peer_address_text,
                                sizeof peer_address_text);
    printf("link with %s, %s\n\n", peer_address_text,
           options->key ? "the other end has proven its key" : "within this machine, without keys");
    printf("  arrived      %llu of %llu: %.3f %% lost, at most %llu in a row, %llu overtaken\n",
           (unsigned long long)(q->expected_packet_count - q->lost),
           (unsigned long long)q->expected_packet_count,
           100.0 * (double)q->lost / (double)q->expected_packet_count,
           (unsigned long long)q->longest_loss_gap, (unsigned long long)q->overtaken_packet_count);
    printf("  round trip   least %.3f, p50 %.3f, p99 %.3f, at most %.3f ms\n",
           convert_ns_to_ms(round_trip_summary.min), convert_ns_to_ms(round_trip_summary.p50),
           convert_ns_to_ms(round_trip_summary.p99), convert_ns_to_ms(round_trip_summary.max));
    printf("  one way      least %.3f, p50 %.3f, p99 %.3f, p99.9 %.3f, at most %.3f ms\n",
           convert_ns_to_ms(q->smallest_packet_delay), convert_ns_to_ms(q->delay_p50),
           convert_ns_to_ms(q->delay_p99), convert_ns_to_ms(q->delay_p999),
           convert_ns_to_ms(q->delay_max));
    printf("               (exact if the least delays of the two directions are equal)\n");
    print_call_durations("sending", &m->send_call_durations);
    print_call_durations("receiving", &m->receive_call_time);
    print_refused_realtime_settings(&m->realtime);
    printf(
        "  this end     %llu ticks began more than a period late, %llu packets could not be sent\n",
        (unsigned long long)m->late_tick_count,
        (unsigned long long)m->endpoint.counts.unsent_packet_count);
    print_refused_packets(m);
    const struct link_channel_settings channel = link_channel_settings(q, 1.0 / options->rate);
    print_suggested_channel(&channel, options->rate);
}

static json_t *json_cost(const struct tact_histogram *h)
{
    const struct tact_histogram_summary s = tact_histogram_summarise(h);
    return json_pack("{s:f, s:f, s:f}", "p50", (double)s.p50 * 1e-9, "p99", (double)s.p99 * 1e-9,
                     "max", (double)s.max * 1e-9);
}

static json_t *json_refused(const struct link_measurement *m)
{
    const struct tact_network_endpoint_counts *c = &m->endpoint.counts;
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "malformed",
        (json_int_t)c->malformed_packet_count, "other_version",
        (json_int_t)c->other_version_packet_count, "forged", (json_int_t)c->forged_packet_count,
        "repeated", (json_int_t)c->replayed_packet_count, "foreign",
        (json_int_t)c->other_session_packet_count, "postponed",
        (json_int_t)c->postponed_hello_count, "payloads", (json_int_t)m->refused_packet_count,
        "dropped", (json_int_t)m->dropped_probe_count);
}

static json_t *json_channel(const struct link_options *options, const struct link_quality *q)
{
    const struct link_channel_settings channel = link_channel_settings(q, 1.0 / options->rate);
    json_t *lines = json_array();
    for (int i = 0; i < IMPEDANCES; i++) {
        json_array_append_new(
            lines, json_pack("{s:f, s:f}", "impedance", operator_impedances[i], "stiffness",
                             link_wave_stiffness(operator_impedances[i], channel.delay)));
    }
    return json_pack("{s:i, s:b, s:i, s:f, s:f, s:o}", "repeated", channel.repeated_wave_count,
                     "gap_is_covered", channel.is_longest_gap_covered, "playout",
                     channel.playout_delay_ticks, "delay", channel.delay, "correction",
                     channel.drift_correction_gain, "lines", lines);
}

static int print_link_json(const struct link_options *options, struct link_scene *scene,
                           const struct link_measurement *m, const struct link_quality *q)
{
    const struct tact_network_endpoint_counts *c = &m->endpoint.counts;
    const struct tact_histogram_summary round_trip_summary =
        tact_histogram_summarise(&m->round_trip);
    json_t *delay =
        json_pack("{s:f, s:f, s:f, s:f, s:f}", "min", (double)q->smallest_packet_delay * 1e-9,
                  "p50", (double)q->delay_p50 * 1e-9, "p99", (double)q->delay_p99 * 1e-9, "p999",
                  (double)q->delay_p999 * 1e-9, "max", (double)q->delay_max * 1e-9);
    json_t *round_trip = json_pack(
        "{s:f, s:f, s:f, s:f}", "min", (double)round_trip_summary.min * 1e-9, "p50",
        (double)round_trip_summary.p50 * 1e-9, "p99", (double)round_trip_summary.p99 * 1e-9, "max",
        (double)round_trip_summary.max * 1e-9);
    json_t *all = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:b, s:I, s:I, s:o, s:o}",
        "authenticated", options->key != NULL, "expected", (json_int_t)q->expected_packet_count,
        "lost", (json_int_t)q->lost, "longest_gap", (json_int_t)q->longest_loss_gap, "overtaken",
        (json_int_t)q->overtaken_packet_count, "round_trip", round_trip, "delay", delay, "sending",
        json_cost(&m->send_call_durations), "receiving", json_cost(&m->receive_call_time), "late",
        (json_int_t)m->late_tick_count, "realtime", m->realtime.refused == 0, "unsent",
        (json_int_t)c->unsent_packet_count, "sessions", (json_int_t)c->completed_handshake_count,
        "refused", json_refused(m), "channel", json_channel(options, q));
    if (all && options->scene) {
        json_object_set_new(all, "scene", link_scene_json(scene, q));
    }
    return text_print_json(all) ? EXIT_BAD : EXIT_GOOD;
}

int link_print(const struct link_options *options, struct link_scene *scene,
               struct link_measurement *m)
{
    const struct tact_network_clock_sample clock = tact_network_clock_best_sample(&m->clock);
    struct link_quality quality;
    if (!m->count || !clock.is_valid) {
        fprintf(stderr, "tact link: the other end stopped before anything was measured\n");
        return EXIT_BAD;
    }
    link_quality(m->packet_arrivals, m->count, clock.clock_offset_to_other_end_ns, &quality);
    if (options->json) {
        return print_link_json(options, scene, m, &quality);
    }
    print_link_table(options, m, &quality);
    if (options->scene) {
        link_scene_print(options, scene, &quality);
    }
    return EXIT_GOOD;
}
