/* Handshakes in the monitor thread, and messages about the other end of a link. */
#include <string.h>
#include "devices/network/address_internal.h"
#include "devices/network/network_internal.h"
#include "rt/clock.h"

/* maximum number of datagrams handled per poll: enough that a flood does not delay handshakes */
enum { DATAGRAMS_PER_POLL = 4096 };

/* 5 s of search after which an end that connects reports that nothing answers */
static const int64_t search_before_report_ns = 5000000000;

typedef unsigned long long ull;

/* Makes the system drop datagrams that do not come from the other end, or no longer; reports a
 * failure. */
static void receive_only_from_peer(struct tact_network_device *self,
                                   int must_receive_only_from_peer)
{
    const int rc =
        tact_network_receive_only_from_peer(&self->endpoint, must_receive_only_from_peer);
    if (rc) {
        tact_message(self->messages, TACT_MESSAGE_WARNING, "%s: %s: %s", self->name,
                     must_receive_only_from_peer
                         ? "the socket could not be limited to packets of the other end: "
                           "those of other senders are received and then refused"
                         : "the socket could not be opened to other addresses again: the "
                           "other end is found only at its last one",
                     strerror(-rc));
    }
}

static void start_search_for_other_end(struct tact_network_device *self, int64_t now_ns)
{
    receive_only_from_peer(self, 0);
    self->is_searching_for_other_end = 1;
    self->is_forgery_reported = 0;
    self->is_search_reported = 0;
    self->search_start_ns = now_ns;
    self->forged_packet_count_at_start = self->endpoint.counts.forged_packet_count;
    self->reported_session_count = self->endpoint.counts.completed_handshake_count;
    tact_network_endpoint_allow_hello(&self->endpoint, now_ns);
    if (self->endpoint.has_encrypted_session) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: no packet from the other end for 0.5 s: no waves are exchanged until "
                     "packets arrive again and the deadman was released",
                     self->name);
    }
}

/* Reports once in a search that the end that connects has no answer: an end that listens does not
 * answer a wrong key. */
static void report_unanswered_search(struct tact_network_device *self, int64_t now_ns)
{
    char address[128];
    if (self->is_search_reported || !self->endpoint.is_handshake_initiator ||
        now_ns - self->search_start_ns < search_before_report_ns) {
        return;
    }
    tact_network_format_address(&self->endpoint.peer_address, address, sizeof address);
    tact_message(self->messages, TACT_MESSAGE_WARNING,
                 "%s: no answer from %s for 5 s: either nothing listens there, or no packet "
                 "arrives, or%s",
                 self->name, address,
                 self->has_own_and_peer_key
                     ? " the key `peer` of one end is not the public key of the other"
                     : " the other end has keys, and this end has none");
    self->is_search_reported = 1;
}

static void return_endpoint_to_loop(struct tact_network_device *self)
{
    char address[128];
    const int is_new_network_session =
        self->endpoint.counts.completed_handshake_count != self->reported_session_count;
    tact_network_format_address(&self->endpoint.peer_address, address, sizeof address);
    tact_message(self->messages, TACT_MESSAGE_INFO, "%s: the other end, %s, is connected%s",
                 self->name, address,
                 !is_new_network_session      ? " again"
                 : self->has_own_and_peer_key ? " and has proven its key"
                                              : "; without keys nothing is protected");
    self->reported_session_count = self->endpoint.counts.completed_handshake_count;
    self->is_searching_for_other_end = 0;
    receive_only_from_peer(self, 1);
    atomic_store_explicit(&self->owner, TACT_NETWORK_OF_LOOP, memory_order_release);
}

static void search_for_other_end(struct tact_network_device *self)
{
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    const int64_t now_ns = tact_clock_now();
    int most = DATAGRAMS_PER_POLL, is_heard = 0;
    if (!self->is_searching_for_other_end) {
        start_search_for_other_end(self, now_ns);
    }
    tact_network_endpoint_send_due_handshakes(&self->endpoint, now_ns);
    while (tact_network_receive(&self->endpoint, now_ns, &most, payload) >= 0) {
        is_heard = 1;
    }
    const struct tact_network_endpoint_counts *c = &self->endpoint.counts;
    if (c->forged_packet_count != self->forged_packet_count_at_start &&
        !self->is_forgery_reported) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: packets with a wrong key arrive and are refused: the key `peer` of each "
                     "end must be the public key of the other",
                     self->name);
        self->is_forgery_reported = 1;
    }
    if (c->other_version_packet_count && !self->is_other_version_reported) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: packets with version %d of the packet format are refused, as this end "
                     "has version %d: both ends need the same version of tact",
                     self->name, self->endpoint.other_version_packet_count,
                     TACT_NETWORK_PACKET_FORMAT_VERSION);
        self->is_other_version_reported = 1;
    }
    report_unanswered_search(self, now_ns);
    if (is_heard || c->completed_handshake_count != self->reported_session_count) {
        return_endpoint_to_loop(self);
    }
}

/* Reports that the other end is at fault, or no longer is, at most once a second. */
static void report_fault_of_other_end(struct tact_network_device *self)
{
    const int has_other_site_fault =
        atomic_load_explicit(&self->has_other_end_fault, memory_order_relaxed);
    const int64_t now_ns = tact_clock_now();
    if (has_other_site_fault == self->is_fault_reported ||
        now_ns - self->last_fault_report_ns < 1000000000) {
        return;
    }
    self->is_fault_reported = has_other_site_fault;
    self->last_fault_report_ns = now_ns;
    tact_message(
        self->messages, has_other_site_fault ? TACT_MESSAGE_WARNING : TACT_MESSAGE_INFO,
        has_other_site_fault
            ? "%s: the other end has a fault: no remote joint engages until it is cleared there"
            : "%s: the fault of the other end was cleared",
        self->name);
}

static void report_differing_terms(struct tact_network_device *self)
{
    char terms_difference_text[1024];
    const uint64_t terms_of_this_site =
        atomic_load_explicit(&self->terms_of_differing_sites[0], memory_order_acquire);
    if (!terms_of_this_site || self->is_terms_reported) {
        return;
    }
    tact_remote_terms_difference(
        terms_of_this_site,
        atomic_load_explicit(&self->terms_of_differing_sites[1], memory_order_relaxed),
        terms_difference_text, sizeof terms_difference_text);
    tact_message(self->messages, TACT_MESSAGE_WARNING,
                 "%s: no remote joint engages, as the `remotes` of the two ends differ: %s",
                 self->name, terms_difference_text);
    self->is_terms_reported = 1;
}

void tact_network_device_poll(void *data)
{
    struct tact_network_device *self = data;
    if (atomic_load_explicit(&self->owner, memory_order_acquire) == TACT_NETWORK_OF_MONITOR) {
        search_for_other_end(self);
    }
    report_fault_of_other_end(self);
    if (!self->is_mismatch_reported &&
        atomic_load_explicit(&self->mismatched_packet_count, memory_order_relaxed) > 0) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: packets of the other end are refused: its number of axes or its period "
                     "is not that of this end (%d axes, %g ms)",
                     self->name, self->axes, 1e3 * self->channel.options.period);
        self->is_mismatch_reported = 1;
    }
    report_differing_terms(self);
}

void tact_network_device_report(const struct tact_network_device *self)
{
    const struct tact_network_endpoint_counts *c = &self->endpoint.counts;
    const struct tact_network_channel_counts *k = &self->channel.counts;
    tact_message(self->messages, TACT_MESSAGE_INFO,
                 "%s: %llu packets sent, %llu not sent; %llu received, %llu lost, of which %llu "
                 "were replaced by repeated waves; %llu waves missing; %llu packets late",
                 self->name, (ull)c->sent, (ull)self->unsent_packet_count,
                 (ull)k->received_packet_count, (ull)k->lost_packet_count,
                 (ull)k->recovered_wave_count, (ull)k->missing_wave_count,
                 (ull)k->late_packet_count);
    /* A repeated hello, and packets that were under way at a new handshake, are refused in normal
     * operation too. */
    const int has_suspicious_refused_packets =
        c->malformed_packet_count || c->other_version_packet_count || c->forged_packet_count ||
        c->replayed_packet_count || k->refused_packet_count;
    if (tact_network_device_refused_packet_count(self)) {
        tact_message(
            self->messages,
            has_suspicious_refused_packets ? TACT_MESSAGE_WARNING : TACT_MESSAGE_INFO,
            "%s: packets refused: %llu malformed, %llu of another version of the format, %llu with "
            "a wrong key, %llu received before, %llu of another session or sender, "
            "%llu handshake messages at the wrong time, %llu with invalid content",
            self->name, (ull)c->malformed_packet_count, (ull)c->other_version_packet_count,
            (ull)c->forged_packet_count, (ull)c->replayed_packet_count,
            (ull)c->other_session_packet_count, (ull)c->postponed_hello_count,
            (ull)k->refused_packet_count);
    }
}
