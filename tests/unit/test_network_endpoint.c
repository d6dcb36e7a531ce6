/*
 * Two ends of a link over this machine's network, on a clock of the test: handshake, lost and
 * repeated datagrams, ends that begin anew, floods, and random datagrams.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/network/address_internal.h"
#include "support/random.h"

static const int64_t ms = 1000000;
static int64_t now_ns = 1000000000000;

static void open_endpoint(struct tact_network_endpoint *end, int does_endpoint_start_handshake,
                          int port, const struct tact_network_identity *identity)
{
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    const struct tact_network_endpoint_options options = {.address = address,
                                                          .is_handshake_initiator =
                                                              does_endpoint_start_handshake,
                                                          .identity = identity};
    assert_int_equal(tact_network_endpoint_open(&options, end, NULL), 0);
}

/* Runs one tick of an end, with every datagram that has arrived. Returns the number of payloads;
 * the last one is in payload. */
static int receive_and_send_at_endpoint(struct tact_network_endpoint *end, void *payload)
{
    unsigned char buffer[TACT_NETWORK_PAYLOAD];
    int most = 1000, payloads = 0;
    ssize_t n;
    tact_network_endpoint_send_due_handshakes(end, now_ns);
    while ((n = tact_network_receive(end, now_ns, &most, buffer)) != -EAGAIN) {
        payloads += n > 0;
        if (n > 0 && payload) {
            memcpy(payload, buffer, (size_t)n);
        }
    }
    assert_true(most > 0);
    return payloads;
}

/* Milliseconds until both ends have completed the handshake, at most `most`. */
static int wait_until_connected(struct tact_network_endpoint *caller,
                                struct tact_network_endpoint *listener, int most)
{
    for (int i = 0; i <= most; i++) {
        receive_and_send_at_endpoint(caller, NULL);
        receive_and_send_at_endpoint(listener, NULL);
        receive_and_send_at_endpoint(caller, NULL);
        receive_and_send_at_endpoint(listener, NULL);
        if (caller->has_encrypted_session && listener->has_encrypted_session) {
            return i;
        }
        now_ns += ms;
    }
    return -1;
}

static void assert_data_passes_both_ways(struct tact_network_endpoint *caller,
                                         struct tact_network_endpoint *listener)
{
    char text[TACT_NETWORK_PAYLOAD];
    assert_int_equal(tact_network_send(caller, "to the listener", 16), 0);
    assert_int_equal(receive_and_send_at_endpoint(listener, text), 1);
    assert_string_equal(text, "to the listener");
    assert_int_equal(tact_network_send(listener, "to the caller", 14), 0);
    assert_int_equal(receive_and_send_at_endpoint(caller, text), 1);
    assert_string_equal(text, "to the caller");
}

static void restarted_network_peer_is_accepted(void **state)
{
    (void)state;
    struct tact_network_endpoint caller, listener;
    open_endpoint(&listener, 0, 0, NULL);
    const int port = tact_network_endpoint_port(&listener);
    open_endpoint(&caller, 1, port, NULL);
    assert_int_equal(tact_network_send(&caller, "early", 6), -ENOTCONN);
    assert_int_equal(wait_until_connected(&caller, &listener, 10), 0);
    assert_data_passes_both_ways(&caller, &listener);
    /* the calling end is killed, and started again at another port */
    tact_network_endpoint_close(&caller);
    open_endpoint(&caller, 1, port, NULL);
    for (int i = 0; i < 10 && listener.counts.completed_handshake_count < 2; i++, now_ns += ms) {
        receive_and_send_at_endpoint(&caller, NULL);
        receive_and_send_at_endpoint(&listener, NULL);
    }
    assert_int_equal(listener.counts.completed_handshake_count, 2);
    assert_data_passes_both_ways(&caller, &listener);
    tact_network_endpoint_close(&listener); /* the listening end of the link is killed too */
    for (int i = 0; i < 500; i++, now_ns += ms) {
        tact_network_send(&caller, "into the void", 14);
        receive_and_send_at_endpoint(&caller, NULL);
    }
    open_endpoint(&listener, 0, port, NULL);
    const int connection_time_ms = wait_until_connected(&caller, &listener, 3000);
    print_message("a listener that began anew is found after %d ms\n", connection_time_ms);
    assert_true(connection_time_ms > 0 && connection_time_ms <= 1100);
    assert_data_passes_both_ways(&caller, &listener);
    tact_network_endpoint_close(&caller);
    tact_network_endpoint_close(&listener);
}

/* A relay between two ends, which loses, repeats and records what passes. */
struct relay {
    int socket[2]; /* sockets of the relay towards the caller and towards the listener */
    struct sockaddr_in caller; /* address that the caller sends from */
    unsigned char kept[512][TACT_NETWORK_MAX_DATAGRAM_BYTES];
    size_t size[512];
    int is_from_caller[512];
    int count;
};

static void open_lossy_relay(struct relay *relay, int port)
{
    memset(relay, 0, sizeof *relay);
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)(i ? port : 0)),
                                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
        relay->socket[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        assert_int_equal(
            (i ? connect : bind)(relay->socket[i], (struct sockaddr *)&address, sizeof address), 0);
    }
}

static int relay_port(const struct relay *relay)
{
    struct sockaddr_in bound;
    socklen_t size = sizeof bound;
    assert_int_equal(getsockname(relay->socket[0], (struct sockaddr *)&bound, &size), 0);
    return ntohs(bound.sin_port);
}

/* Two ends without keys whose datagrams pass through a relay. */
static void open_relayed_ends(struct relay *relay, struct tact_network_endpoint *caller,
                              struct tact_network_endpoint *listener)
{
    open_endpoint(listener, 0, 0, NULL);
    open_lossy_relay(relay, tact_network_endpoint_port(listener));
    open_endpoint(caller, 1, relay_port(relay), NULL);
}

static void close_relayed_ends(struct relay *relay, struct tact_network_endpoint *caller,
                               struct tact_network_endpoint *listener)
{
    for (int i = 0; i < 2; i++) {
        close(relay->socket[i]);
    }
    tact_network_endpoint_close(caller);
    tact_network_endpoint_close(listener);
}

static void record_and_send_datagram_of_relay(struct relay *relay, int is_from_caller,
                                              const unsigned char *datagram, size_t size)
{
    if (is_from_caller) {
        send(relay->socket[1], datagram, size, 0);
    } else {
        sendto(relay->socket[0], datagram, size, 0, (struct sockaddr *)&relay->caller,
               sizeof relay->caller);
    }
}

static void forward_queued_datagrams_of_relay(struct relay *relay, double packet_loss_probability)
{
    for (int way = 0; way < 2; way++) {
        unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES];
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        ssize_t n;
        while ((n = recvfrom(relay->socket[way], datagram, sizeof datagram, 0,
                             (struct sockaddr *)&from, &size)) > 0) {
            if (!way) {
                relay->caller = from;
            }
            if (relay->count < 512) {
                memcpy(relay->kept[relay->count], datagram, (size_t)n);
                relay->size[relay->count] = (size_t)n;
                relay->is_from_caller[relay->count++] = !way;
            }
            if (uniform(0.0, 1.0) >= packet_loss_probability) {
                record_and_send_datagram_of_relay(relay, !way, datagram, (size_t)n);
            }
        }
    }
}

static void network_handshakes_survive_packet_loss(void **state)
{
    (void)state;
    int worst = 0;
    for (int trial = 0; trial < 20; trial++) {
        static struct relay relay;
        struct tact_network_endpoint caller, listener;
        int connection_time_ms = 0;
        open_relayed_ends(&relay, &caller, &listener);
        for (; !(caller.has_encrypted_session && listener.has_encrypted_session) &&
               connection_time_ms < 20000;
             connection_time_ms++) {
            receive_and_send_at_endpoint(&caller, NULL);
            if (caller.has_encrypted_session) {
                tact_network_send(&caller, "data", 5);
            }
            forward_queued_datagrams_of_relay(&relay, 0.5);
            receive_and_send_at_endpoint(&listener, NULL);
            forward_queued_datagrams_of_relay(&relay, 0.5);
            now_ns += ms;
        }
        worst = connection_time_ms > worst ? connection_time_ms : worst;
        assert_int_equal(caller.counts.forged_packet_count + listener.counts.forged_packet_count,
                         0);
        close_relayed_ends(&relay, &caller, &listener);
    }
    print_message("half of all datagrams lost: established after at most %d ms\n", worst);
    assert_true(worst < 5000);
}

/* An answer that comes when its hello has been replaced by a new one, as nothing else had arrived
 * for 1.5 s, is not counted as forged. */
static void late_answer_is_not_counted_as_forged(void **state)
{
    (void)state;
    static struct relay relay;
    struct tact_network_endpoint caller, listener;
    open_relayed_ends(&relay, &caller, &listener);
    receive_and_send_at_endpoint(&caller, NULL);
    forward_queued_datagrams_of_relay(&relay, 0.0);
    receive_and_send_at_endpoint(&listener, NULL);
    forward_queued_datagrams_of_relay(&relay, 1.0);
    assert_true(relay.count == 2 && !relay.is_from_caller[1]);
    now_ns += 1600 * ms;
    receive_and_send_at_endpoint(&caller, NULL);
    for (int i = 0; i < 2; i++) { /* the second answer has a hash that belongs to no hello */
        relay.kept[1][relay.size[1] - 1 - TACT_NETWORK_TAG_BYTES] ^= (unsigned char)i;
        record_and_send_datagram_of_relay(&relay, 0, relay.kept[1], relay.size[1]);
        receive_and_send_at_endpoint(&caller, NULL);
        assert_int_equal(caller.counts.other_session_packet_count, 1);
        assert_int_equal(caller.counts.forged_packet_count, i);
    }
    for (int i = 0; i < 4; i++) {
        forward_queued_datagrams_of_relay(&relay, 0.0);
        receive_and_send_at_endpoint(i % 2 ? &caller : &listener, NULL);
    }
    assert_true(caller.has_encrypted_session);
    close_relayed_ends(&relay, &caller, &listener);
}

static void replayed_datagrams_have_no_effect(void **state)
{
    (void)state;
    static struct relay relay;
    struct tact_network_endpoint caller, listener;
    open_relayed_ends(&relay, &caller, &listener);
    for (int i = 0; i < 50; i++, now_ns += ms) {
        receive_and_send_at_endpoint(&caller, NULL);
        tact_network_send(&caller, "of the caller", 14);
        forward_queued_datagrams_of_relay(&relay, 0.0);
        receive_and_send_at_endpoint(&listener, NULL);
        tact_network_send(&listener, "of the listener", 16);
        forward_queued_datagrams_of_relay(&relay, 0.0);
    }
    receive_and_send_at_endpoint(&caller, NULL);
    assert_true(caller.has_encrypted_session && listener.has_encrypted_session && relay.count > 90);
    const struct tact_network_session before = listener.session;
    const struct tact_network_endpoint_counts counts[2] = {caller.counts, listener.counts};
    const int recorded_datagram_count = relay.count;
    for (int round = 0; round < 40; round++, now_ns += ms) {
        for (int i = 0; i < recorded_datagram_count; i++) {
            record_and_send_datagram_of_relay(&relay, relay.is_from_caller[i], relay.kept[i],
                                              relay.size[i]);
        }
        assert_int_equal(receive_and_send_at_endpoint(&caller, NULL), 0);
        assert_int_equal(receive_and_send_at_endpoint(&listener, NULL), 0);
        relay.count = 512; /* answers to the replayed hello are not recorded */
        forward_queued_datagrams_of_relay(&relay, 0.0);
    }
    assert_int_equal(receive_and_send_at_endpoint(&caller, NULL), 0);
    assert_memory_equal(&before, &listener.session, sizeof before);
    assert_int_equal(listener.counts.completed_handshake_count, 1);
    assert_int_equal(caller.counts.completed_handshake_count, 1);
    assert_int_equal(listener.counts.accepted_packet_count, counts[1].accepted_packet_count);
    assert_int_equal(caller.counts.accepted_packet_count, counts[0].accepted_packet_count);
    assert_true(listener.counts.replayed_packet_count > 40 * 40);
    assert_true(caller.counts.replayed_packet_count + caller.counts.other_session_packet_count >
                40 * 40);
    /* The caller's hello was among the replayed datagrams, and the session continues. */
    assert_true(relay.kept[0][5] == TACT_NETWORK_HELLO);
    char text[TACT_NETWORK_PAYLOAD];
    tact_network_send(&caller, "continues", 10);
    forward_queued_datagrams_of_relay(&relay, 0.0);
    assert_int_equal(receive_and_send_at_endpoint(&listener, text), 1);
    assert_string_equal(text, "continues");
    close_relayed_ends(&relay, &caller, &listener);
}

/* Hellos of the right key, each a new one: more than any end sends, as if it had failed. */
static void flood_of_hello_packets_is_counted(void **state)
{
    (void)state;
    struct tact_network_endpoint caller, listener, failing;
    unsigned char secret_keys[2][TACT_NETWORK_KEY_BYTES], key[2][TACT_NETWORK_KEY_BYTES];
    struct tact_network_identity identity[2], stranger;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tact_network_make_key_pair(secret_keys[i], key[i], NULL), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tact_network_identity_make(secret_keys[i], key[!i], &identity[i], NULL),
                         0);
    }
    assert_int_equal(tact_network_identity_of_loopback(1, &stranger, NULL), 0);
    open_endpoint(&listener, 0, 0, &identity[1]);
    const int port = tact_network_endpoint_port(&listener);
    open_endpoint(&caller, 1, port, &identity[0]);
    assert_int_equal(wait_until_connected(&caller, &listener, 10), 0);
    open_endpoint(&failing, 1, port, &identity[0]);
    for (int i = 0; i < 2000; i++, now_ns += ms) {
        failing.hello_creation_time_ns = 0;
        failing.identity = i % 2 ? identity[0] : stranger;
        tact_network_endpoint_send_due_handshakes(&failing, now_ns);
        if (i % 10 == 0) {
            tact_network_send(&caller, "continues", 10);
        }
        assert_int_equal(receive_and_send_at_endpoint(&listener, NULL), i % 10 == 0);
    }
    print_message("%llu hellos of a stranger refused; of the right key %llu postponed\n",
                  (unsigned long long)listener.counts.forged_packet_count,
                  (unsigned long long)listener.counts.postponed_hello_count);
    assert_int_equal(listener.counts.forged_packet_count, 1000);
    assert_in_range(listener.counts.postponed_hello_count, 950,
                    /* 1000 hellos less those that are answered: 20 a second for 2 s, and a burst of
                     * 4 */
                    960);
    assert_int_equal(listener.counts.completed_handshake_count, 1);
    tact_network_endpoint_close(&failing);
    tact_network_endpoint_close(&caller);
    tact_network_endpoint_close(&listener);
}

/* Hellos of earlier starts, recorded and sent again 20 a ms, use the rate of handshakes up once: 20
 * of them for a second. */
static void flood_of_recorded_hellos_delays_a_handshake_once(void **state)
{
    (void)state;
    enum { RECORDED = 20 };
    struct tact_network_endpoint caller, listener;
    struct tact_network_sent_hello recorded_hellos[RECORDED];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    int tick_of_completed_handshake = -1;
    open_endpoint(&listener, 0, 0, NULL);
    open_endpoint(&caller, 1, tact_network_endpoint_port(&listener), NULL);
    to.sin_port = htons((uint16_t)tact_network_endpoint_port(&listener));
    for (int i = 0; i < RECORDED; i++) {
        tact_network_make_hello(&caller.identity, &recorded_hellos[i]);
    }
    for (int i = 0; i < 5000 && tick_of_completed_handshake < 0; i++, now_ns += ms) {
        for (int k = 0; k < RECORDED; k++) {
            sendto(fd, recorded_hellos[k].hello, sizeof recorded_hellos[k].hello, 0,
                   (const struct sockaddr *)&to, sizeof to);
        }
        receive_and_send_at_endpoint(&caller, NULL);
        receive_and_send_at_endpoint(&listener, NULL);
        tick_of_completed_handshake = caller.has_encrypted_session ? i : -1;
    }
    print_message("connected after %d ms, %llu recorded hellos refused\n",
                  tick_of_completed_handshake,
                  (unsigned long long)listener.counts.replayed_packet_count);
    assert_in_range(tick_of_completed_handshake, 0, 1000 * RECORDED / 20 + 200);
    close(fd);
    tact_network_endpoint_close(&caller);
    tact_network_endpoint_close(&listener);
}

/* Answers that are made up, from the address of the listener and more than the rate of handshakes,
 * are refused by their hash and do not keep the ends from each other. */
static void flood_of_made_up_answers_does_not_delay_a_handshake(void **state)
{
    (void)state;
    struct tact_network_endpoint caller, listener;
    unsigned char answer[TACT_NETWORK_ANSWER_BYTES];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int tick_of_completed_handshake = -1;
    open_endpoint(&listener, 0, 0, NULL);
    open_endpoint(&caller, 1, tact_network_endpoint_port(&listener), NULL);
    to.sin_port = htons((uint16_t)tact_network_endpoint_port(&caller));
    for (int i = 0; i < 1000 && tick_of_completed_handshake < 0; i++, now_ns += ms) {
        receive_and_send_at_endpoint(&caller, NULL);
        for (int k = 0; k < 4; k++) {
            for (size_t b = 0; b < sizeof answer; b++) {
                answer[b] = (unsigned char)random_bits();
            }
            tact_network_write_datagram_start(answer, TACT_NETWORK_ANSWER);
            assert_int_equal(sendto(listener.socket, answer, sizeof answer, 0,
                                    (const struct sockaddr *)&to, sizeof to),
                             sizeof answer);
        }
        if (i >= 500) { /* the listener starts late, when the made-up answers would have used up the
                           rate of handshakes */
            receive_and_send_at_endpoint(&listener, NULL);
        }
        tick_of_completed_handshake = caller.has_encrypted_session ? i : -1;
    }
    print_message("connected after %d ms, %llu made-up answers refused\n",
                  tick_of_completed_handshake - 500,
                  (unsigned long long)caller.counts.forged_packet_count);
    assert_in_range(tick_of_completed_handshake, 500, 501);
    assert_in_range(caller.counts.forged_packet_count, 4 * 500, 4 * 502);
    assert_int_equal(caller.counts.postponed_hello_count, 0);
    tact_network_endpoint_close(&caller);
    tact_network_endpoint_close(&listener);
}

/* Replaces the end's socket by one of a socket pair that nobody reads, until its queue is full:
 * packets sent then are lost and counted, no call waits, and the session continues afterwards. */
static void full_socket_loses_packets_without_waiting(void **state)
{
    (void)state;
    struct tact_network_endpoint caller, listener;
    char text[TACT_NETWORK_PAYLOAD];
    int pair[2];
    open_endpoint(&listener, 0, 0, NULL);
    open_endpoint(&caller, 1, tact_network_endpoint_port(&listener), NULL);
    assert_int_equal(wait_until_connected(&caller, &listener, 10), 0);
    const struct tact_network_endpoint_counts before = caller.counts;
    const int own = dup(caller.socket);
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    assert_true(own >= 0 && dup2(pair[0], caller.socket) == caller.socket);
    uint64_t lost = 0;
    for (int i = 0; i < 2000; i++) {
        const int rc = tact_network_send(&caller, "is lost", 8);
        assert_true(rc == 0 || rc == -EAGAIN);
        lost += rc != 0;
    }
    print_message("%llu of 2000 packets lost\n", (unsigned long long)lost);
    assert_in_range(lost, 1, 1999);
    assert_int_equal(caller.counts.unsent_packet_count, before.unsent_packet_count + lost);
    assert_int_equal(caller.counts.sent, before.sent + 2000 - lost);
    assert_int_equal(dup2(own, caller.socket), caller.socket);
    assert_int_equal(tact_network_send(&caller, "arrives", 8), 0);
    assert_int_equal(receive_and_send_at_endpoint(&listener, text), 1);
    assert_string_equal(text, "arrives");
    close(own);
    close(pair[0]);
    close(pair[1]);
    tact_network_endpoint_close(&caller);
    tact_network_endpoint_close(&listener);
}

/* Datagrams of any content and size, and recorded ones with some bytes changed. */
static void random_datagrams_are_refused(void **state)
{
    (void)state;
    static struct relay relay;
    struct tact_network_endpoint caller, listener;
    open_relayed_ends(&relay, &caller, &listener);
    for (int i = 0; i < 10; i++, now_ns += ms) {
        receive_and_send_at_endpoint(&caller, NULL);
        tact_network_send(&caller, "of the caller", 14);
        forward_queued_datagrams_of_relay(&relay, 0.0);
        receive_and_send_at_endpoint(&listener, NULL);
        forward_queued_datagrams_of_relay(&relay, 0.0);
    }
    const struct tact_network_session before = listener.session;
    const int recorded_datagram_count = relay.count,
              trial_count = campaign_trial_count(20000, 20000000);
    for (int i = 0; i < trial_count; i++) {
        unsigned char datagram[1400];
        const int k = (int)(random_bits() % (unsigned)recorded_datagram_count);
        size_t size = random_bits() % sizeof datagram;
        for (size_t at = 0; at < size; at++) {
            datagram[at] = (unsigned char)random_bits();
        }
        if (i % 3) {
            memcpy(datagram, relay.kept[k], relay.size[k]);
            size = i % 3 == 1 ? relay.size[k] : random_bits() % (relay.size[k] + 10);
            datagram[random_bits() % relay.size[k]] ^= (unsigned char)(1 + random_bits() % 255);
        }
        record_and_send_datagram_of_relay(&relay, i % 2, datagram, size);
        record_and_send_datagram_of_relay(&relay, !(i % 2), datagram, size);
        if (i % 50 == 0) {
            assert_int_equal(receive_and_send_at_endpoint(&caller, NULL), 0);
            assert_int_equal(receive_and_send_at_endpoint(&listener, NULL), 0);
        }
    }
    const struct tact_network_endpoint_counts *c = &listener.counts;
    print_message("of %llu datagrams %llu malformed, %llu forged, %llu repeated, %llu foreign\n",
                  (unsigned long long)c->received_datagram_count,
                  (unsigned long long)c->malformed_packet_count,
                  (unsigned long long)c->forged_packet_count,
                  (unsigned long long)c->replayed_packet_count,
                  (unsigned long long)c->other_session_packet_count);
    assert_memory_equal(&before, &listener.session, sizeof before);
    assert_int_equal(c->completed_handshake_count, 1);
    assert_true(c->malformed_packet_count > (uint64_t)trial_count / 10 &&
                c->forged_packet_count > (uint64_t)trial_count / 20);
    close_relayed_ends(&relay, &caller, &listener);
}

/* A datagram of any earlier version of the format is counted by its version, and has no other
 * effect; one of a type that no version has is malformed. */
static void other_protocol_versions_are_refused_by_name(void **state)
{
    (void)state;
    struct tact_network_endpoint caller, listener;
    unsigned char datagram[TACT_NETWORK_HELLO_BYTES] = {0};
    open_endpoint(&listener, 0, 0, NULL);
    open_endpoint(&caller, 1, tact_network_endpoint_port(&listener), NULL);
    tact_network_write_datagram_start(datagram, TACT_NETWORK_HELLO);
    for (int version = 1; version < TACT_NETWORK_PACKET_FORMAT_VERSION; version++) {
        datagram[4] = (unsigned char)version;
        assert_int_equal(send(caller.socket, datagram, sizeof datagram, 0), sizeof datagram);
    }
    datagram[5] = TACT_NETWORK_DATA + 1;
    assert_int_equal(send(caller.socket, datagram, sizeof datagram, 0), sizeof datagram);
    assert_int_equal(receive_and_send_at_endpoint(&listener, NULL), 0);
    assert_int_equal(listener.counts.other_version_packet_count,
                     TACT_NETWORK_PACKET_FORMAT_VERSION - 1);
    assert_int_equal(listener.other_version_packet_count, TACT_NETWORK_PACKET_FORMAT_VERSION - 1);
    assert_int_equal(listener.counts.malformed_packet_count, 1);
    assert_int_equal(listener.counts.sent, 0);
    tact_network_endpoint_close(&caller);
    tact_network_endpoint_close(&listener);
}

static void network_addresses_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int listen, only_this_machine, expected;
    } cases[] = {
        {"127.0.0.1:4710", 0, 1, 0},
        {"[::1]:4710", 0, 1, 0},
        {"4710", 1, 1, 0},
        {"4710", 1, 0, 0},
        {"4710", 0, 0, -EINVAL},
        {"0.0.0.0:4710", 1, 1, -EPERM},
        {"192.0.2.7:4710", 0, 1, -EPERM},
        {"[2001:db8::7]:4710", 0, 1, -EPERM},
        {"tact.invalid:4710", 0, 1,
         -EPERM}, /* no name server is asked: its answer would be -EINVAL */
        {"192.0.2.7:4710", 0, 0, 0},
        {"::1:4710", 0, 0, -EINVAL},
        {"127.0.0.1", 0, 0, -EINVAL},
        {"127.0.0.1:", 0, 0, -EINVAL},
        {":4710", 1, 0, -EINVAL},
        {"127.0.0.1:65536", 0, 0, -EINVAL},
        {"127.0.0.1:-1", 0, 0, -EINVAL},
        {"127.0.0.1:http", 0, 0, -EINVAL},
        {"[::1:4710", 0, 0, -EINVAL},
        {"", 1, 0, -EINVAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tact_network_address address;
        struct tact_error err;
        const int rc = tact_network_resolve_address(cases[i].text, cases[i].listen,
                                                    cases[i].only_this_machine, &address, &err);
        if (rc != cases[i].expected) {
            fail_msg("%s: %d, not %d", cases[i].text, rc, cases[i].expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restarted_network_peer_is_accepted),
        cmocka_unit_test(network_handshakes_survive_packet_loss),
        cmocka_unit_test(late_answer_is_not_counted_as_forged),
        cmocka_unit_test(replayed_datagrams_have_no_effect),
        cmocka_unit_test(flood_of_hello_packets_is_counted),
        cmocka_unit_test(flood_of_recorded_hellos_delays_a_handshake_once),
        cmocka_unit_test(flood_of_made_up_answers_does_not_delay_a_handshake),
        cmocka_unit_test(full_socket_loses_packets_without_waiting),
        cmocka_unit_test(random_datagrams_are_refused),
        cmocka_unit_test(other_protocol_versions_are_refused_by_name),
        cmocka_unit_test(network_addresses_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
