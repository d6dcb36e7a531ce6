/* One end of a link: socket, handshake, and what was refused. */
#include "devices/network/endpoint_internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>
#include "devices/network/address_internal.h"

/* 0.1 s without an answer, after which a hello is sent again */
static const int64_t hello_retry_interval_ns = 100000000;
/* 1 s without a packet, after which a new hello is sent: the other end may have restarted */
static const int64_t silence_before_new_hello_ns = 1000000000;
/* 1.5 s without an answer, after which the hello is replaced by a new one: the listener has
 * answered it for at most 2 s */
static const int64_t hello_lifetime_ns = 1500000000;
/* 2 s for which an answered hello is kept while no packet proves its session */
static const int64_t answered_hello_lifetime_ns = 2000000000;
static const int64_t handshake_interval_ns = 50000000; /* 20 handshakes a second, */
/* time of four handshakes, which may follow each other at once */
static const int64_t handshake_burst_duration_ns = 200000000;

static int open_udp_socket(struct tact_network_endpoint *endpoint, struct tact_error *err)
{
    const struct sockaddr *address =
        (const struct sockaddr *)&endpoint->peer_address.socket_address;
    endpoint->socket = socket(address->sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int rc = endpoint->socket < 0 ? -1
             : endpoint->is_handshake_initiator
                 ? connect(endpoint->socket, address, endpoint->peer_address.size)
                 : bind(endpoint->socket, address, endpoint->peer_address.size);
    if (rc) {
        rc = tact_error_set(err, -errno, "%s", strerror(errno));
        tact_network_endpoint_close(endpoint);
    }
    return rc;
}

int tact_network_endpoint_open(const struct tact_network_endpoint_options *options,
                               struct tact_network_endpoint *out, struct tact_error *err)
{
    memset(out, 0, sizeof *out);
    out->socket = -1;
    out->is_handshake_initiator = options->is_handshake_initiator;
    int rc = tact_network_resolve_address(options->address, !options->is_handshake_initiator,
                                          !options->identity, &out->peer_address, err);
    if (!rc && options->identity) {
        out->identity = *options->identity;
    } else if (!rc) {
        rc =
            tact_network_identity_of_loopback(options->is_handshake_initiator, &out->identity, err);
    }
    return rc ? rc : open_udp_socket(out, err);
}

void tact_network_endpoint_close(struct tact_network_endpoint *endpoint)
{
    if (endpoint->socket >= 0) {
        close(endpoint->socket);
    }
    sodium_memzero(endpoint, sizeof *endpoint);
    endpoint->socket = -1;
}

int tact_network_endpoint_port(const struct tact_network_endpoint *endpoint)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound = {.v6 = {.sin6_family = AF_UNSPEC}};
    socklen_t size = sizeof bound;
    if (getsockname(endpoint->socket, &bound.any, &size)) {
        return -errno;
    }
    return ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
}

/* The socket of the initiator is always connected to its peer. The listener's is only while the
 * tick owns the endpoint, so that each datagram states its address. */
static int send_datagram(struct tact_network_endpoint *endpoint, const unsigned char *datagram,
                         size_t size, const struct tact_network_address *to)
{
    const struct sockaddr *address =
        endpoint->is_handshake_initiator ? NULL : (const struct sockaddr *)&to->socket_address;
    ssize_t n = sendto(endpoint->socket, datagram, size, MSG_DONTWAIT | MSG_NOSIGNAL, address,
                       address ? to->size : 0);
    if (n < 0) {
        endpoint->counts.unsent_packet_count++;
        return errno == EWOULDBLOCK || errno == ENOBUFS ? -EAGAIN : -errno;
    }
    endpoint->counts.sent++;
    return 0;
}

static void forget_sent_hello(struct tact_network_endpoint *endpoint)
{
    memcpy(endpoint->previous_sent_hello, endpoint->sent_hello.hello,
           sizeof endpoint->previous_sent_hello);
    sodium_memzero(&endpoint->sent_hello, sizeof endpoint->sent_hello);
    endpoint->hello_creation_time_ns = 0;
}

void tact_network_endpoint_send_due_handshakes(struct tact_network_endpoint *endpoint,
                                               int64_t now_ns)
{
    if (!endpoint->is_handshake_initiator ||
        (endpoint->has_encrypted_session &&
         now_ns - endpoint->last_accepted_time_ns < silence_before_new_hello_ns)) {
        return;
    }
    if (endpoint->hello_creation_time_ns &&
        now_ns - endpoint->hello_creation_time_ns > hello_lifetime_ns) {
        forget_sent_hello(endpoint);
    }
    if (!endpoint->hello_creation_time_ns) {
        tact_network_make_hello(&endpoint->identity, &endpoint->sent_hello);
        endpoint->hello_creation_time_ns = now_ns;
    } else if (now_ns - endpoint->last_hello_time_ns < hello_retry_interval_ns) {
        return;
    }
    endpoint->last_hello_time_ns = now_ns;
    send_datagram(endpoint, endpoint->sent_hello.hello, sizeof endpoint->sent_hello.hello,
                  &endpoint->peer_address);
}

void tact_network_endpoint_allow_hello(struct tact_network_endpoint *endpoint, int64_t now_ns)
{
    endpoint->last_accepted_time_ns = now_ns - silence_before_new_hello_ns;
}

int tact_network_receive_only_from_peer(struct tact_network_endpoint *endpoint,
                                        int receives_only_from_peer)
{
    static const struct sockaddr address_that_disconnects_socket = {.sa_family = AF_UNSPEC};
    const struct tact_network_address *peer = &endpoint->peer_address;
    endpoint->postpones_new_handshakes = receives_only_from_peer;
    if (endpoint->is_handshake_initiator) {
        return 0;
    }
    const int rc =
        receives_only_from_peer
            ? connect(endpoint->socket, (const struct sockaddr *)&peer->socket_address, peer->size)
            : connect(endpoint->socket, &address_that_disconnects_socket,
                      sizeof address_that_disconnects_socket);
    return rc ? -errno : 0;
}

static void start_using_session(struct tact_network_endpoint *endpoint,
                                const struct tact_network_session *session, int64_t now_ns)
{
    endpoint->session = *session;
    endpoint->has_encrypted_session = 1;
    endpoint->last_accepted_time_ns = now_ns;
    endpoint->counts.completed_handshake_count++;
}

/* Counts a packet that the handshake or the decryption refused, by its error code. */
static void count_refused_packet(struct tact_network_endpoint_counts *counts, ssize_t refusal_errno)
{
    switch (refusal_errno) {
    case -EPROTO:
        counts->malformed_packet_count++;
        break;
    case -EBADMSG:
        counts->forged_packet_count++;
        break;
    case -EALREADY:
        counts->replayed_packet_count++;
        break;
    default:
        counts->other_session_packet_count++;
    }
}

static void discard_expired_answer_to_hello(struct tact_network_answered_hello *entry,
                                            int64_t now_ns)
{
    if (entry->answer_time_ns && now_ns - entry->answer_time_ns > answered_hello_lifetime_ns) {
        sodium_memzero(entry, sizeof *entry);
    }
}

/* Finds the entry of this hello if it was answered before, else the entry to use for it: a free,
 * expired or the oldest one. */
static struct tact_network_answered_hello *
find_answered_hello(struct tact_network_endpoint *endpoint, const unsigned char *hello,
                    int64_t now_ns)
{
    struct tact_network_answered_hello *oldest_answered_hello = endpoint->answered_hellos;
    for (int i = 0; i < TACT_NETWORK_ANSWERED; i++) {
        struct tact_network_answered_hello *entry = &endpoint->answered_hellos[i];
        discard_expired_answer_to_hello(entry, now_ns);
        if (entry->answer_time_ns && !memcmp(entry->hello, hello, sizeof entry->hello)) {
            return entry;
        }
        oldest_answered_hello = entry->answer_time_ns < oldest_answered_hello->answer_time_ns
                                    ? entry
                                    : oldest_answered_hello;
    }
    return oldest_answered_hello;
}

static int is_handshake_within_rate_limit(struct tact_network_endpoint *endpoint, int64_t now_ns)
{
    const int64_t start = now_ns - handshake_burst_duration_ns;
    endpoint->next_handshake_time_ns =
        endpoint->next_handshake_time_ns > start ? endpoint->next_handshake_time_ns : start;
    if (endpoint->next_handshake_time_ns > now_ns - handshake_interval_ns) {
        endpoint->counts.postponed_hello_count++;
        return 0;
    }
    endpoint->next_handshake_time_ns += handshake_interval_ns;
    return 1;
}

/* Entry in the table of known hellos for a hello with this tag; it may contain the tag of another
 * hello. */
static unsigned char *slot_of_known_hello_tag(struct tact_network_endpoint *endpoint,
                                              const unsigned char *tag)
{
    return endpoint->tags_of_known_hellos[(tag[0] | tag[1] << 8) % TACT_NETWORK_KNOWN_HELLOS];
}

static void handle_hello(struct tact_network_endpoint *endpoint, const unsigned char *hello,
                         size_t size, const struct tact_network_address *from, int64_t now_ns)
{
    int rc = endpoint->is_handshake_initiator
                 ? -ENOENT
                 : tact_network_check_hello(&endpoint->identity, hello, size);
    if (rc) {
        count_refused_packet(&endpoint->counts, rc);
        return;
    }
    struct tact_network_answered_hello *entry = find_answered_hello(endpoint, hello, now_ns);
    if (!entry->answer_time_ns || memcmp(entry->hello, hello, sizeof entry->hello) != 0) {
        const unsigned char *tag = hello + TACT_NETWORK_HELLO_BYTES - TACT_NETWORK_TAG_BYTES;
        unsigned char *known_hello_tag = slot_of_known_hello_tag(endpoint, tag);
        if (!memcmp(known_hello_tag, tag, TACT_NETWORK_TAG_BYTES)) {
            endpoint->counts.replayed_packet_count++;
            return;
        }
        if (!is_handshake_within_rate_limit(endpoint, now_ns)) {
            return;
        }
        memcpy(known_hello_tag, tag, TACT_NETWORK_TAG_BYTES);
        memcpy(entry->hello, hello, sizeof entry->hello);
        entry->answer_time_ns = now_ns;
        rc = tact_network_answer_hello(&endpoint->identity, hello, &entry->session, entry->answer);
        if (rc) {
            entry->answer_time_ns = 0;
            count_refused_packet(&endpoint->counts, rc);
            return;
        }
    }
    send_datagram(endpoint, entry->answer, sizeof entry->answer, from);
}

/* Why an answer does not belong to the hello that is open: 0, -ENOENT (none is open, or it answers
 * the hello before, late), or that of tact_network_check_answer(). */
static int check_answer_of_open_hello(const struct tact_network_endpoint *endpoint,
                                      const unsigned char *answer, size_t size)
{
    if (!endpoint->is_handshake_initiator || !endpoint->hello_creation_time_ns) {
        return -ENOENT;
    }
    const int rc =
        tact_network_check_answer(&endpoint->identity, endpoint->sent_hello.hello, answer, size);
    return rc == -EBADMSG && !tact_network_check_answer(&endpoint->identity,
                                                        endpoint->previous_sent_hello, answer, size)
               ? -ENOENT
               : rc;
}

static void handle_answer_to_hello(struct tact_network_endpoint *endpoint,
                                   const unsigned char *answer, size_t size, int64_t now_ns)
{
    struct tact_network_session session;
    int rc = check_answer_of_open_hello(endpoint, answer, size);
    /* forged answers, whose sender address may be any, do not count towards the rate of handshakes
     */
    if (!rc && !is_handshake_within_rate_limit(endpoint, now_ns)) {
        return;
    }
    rc = rc ? rc
            : tact_network_finish_handshake(&endpoint->identity, &endpoint->sent_hello, answer,
                                            size, &session);
    if (rc) {
        count_refused_packet(&endpoint->counts, rc);
        return;
    }
    forget_sent_hello(endpoint);
    start_using_session(endpoint, &session, now_ns);
    /* the empty packet proves the key of this end; if it is lost, the next packet does */
    tact_network_send(endpoint, NULL, 0);
}

/* Decrypts a packet with the keys of an answered hello, whose session thereby becomes the session
 * of this end. */
static ssize_t accept_session_of_hello(struct tact_network_endpoint *endpoint,
                                       const unsigned char *datagram, size_t size,
                                       const struct tact_network_address *from, int64_t now_ns,
                                       void *payload)
{
    ssize_t n = -ENOENT;
    for (int i = 0; i < TACT_NETWORK_ANSWERED && n == -ENOENT; i++) {
        struct tact_network_answered_hello *entry = &endpoint->answered_hellos[i];
        discard_expired_answer_to_hello(entry, now_ns);
        n = entry->answer_time_ns
                ? tact_network_decrypt_packet(&entry->session, datagram, size, payload)
                : -ENOENT;
        if (n >= 0) {
            start_using_session(endpoint, &entry->session, now_ns);
            endpoint->peer_address = *from;
            sodium_memzero(endpoint->answered_hellos, sizeof endpoint->answered_hellos);
        }
    }
    return n;
}

static ssize_t handle_data_packet(struct tact_network_endpoint *endpoint,
                                  const unsigned char *datagram, size_t size,
                                  const struct tact_network_address *from, int64_t now_ns,
                                  void *payload)
{
    const int is_sender_the_peer = endpoint->is_handshake_initiator ||
                                   tact_network_are_addresses_equal(from, &endpoint->peer_address);
    ssize_t n = endpoint->has_encrypted_session && is_sender_the_peer
                    ? tact_network_decrypt_packet(&endpoint->session, datagram, size, payload)
                    : -ENOENT;
    if (n == -ENOENT && !endpoint->is_handshake_initiator) {
        n = accept_session_of_hello(endpoint, datagram, size, from, now_ns, payload);
    }
    if (n < 0) {
        count_refused_packet(&endpoint->counts, n);
        return n;
    }
    /* the old session continues: the other end was only silent */
    if (endpoint->hello_creation_time_ns) {
        forget_sent_hello(endpoint);
    }
    endpoint->last_accepted_time_ns = now_ns;
    endpoint->counts.accepted_packet_count++;
    return n;
}

ssize_t tact_network_receive(struct tact_network_endpoint *endpoint, int64_t now_ns, int *most,
                             void *payload)
{
    unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES];
    for (; *most > 0; --*most) {
        struct tact_network_address from = {.size = sizeof from.socket_address};
        ssize_t n = recvfrom(endpoint->socket, datagram, sizeof datagram, MSG_DONTWAIT | MSG_TRUNC,
                             (struct sockaddr *)&from.socket_address, &from.size);
        if (n < 0 && (errno == EWOULDBLOCK || errno == EBADF)) {
            return -EAGAIN;
        }
        if (n < 0) { /* ECONNREFUSED: the other machine reports that nobody listens there yet */
            continue;
        }
        endpoint->counts.received_datagram_count++;
        /* A truncated datagram is longer than any that tact sends. */
        const int kind = (size_t)n > sizeof datagram
                             ? -EPROTO
                             : tact_network_read_datagram_start(datagram, (size_t)n);
        if (endpoint->postpones_new_handshakes &&
            (kind == TACT_NETWORK_HELLO || kind == TACT_NETWORK_ANSWER)) {
            endpoint->counts.postponed_hello_count++;
            continue;
        }
        switch (kind) {
        case TACT_NETWORK_HELLO:
            handle_hello(endpoint, datagram, (size_t)n, &from, now_ns);
            break;
        case TACT_NETWORK_ANSWER:
            handle_answer_to_hello(endpoint, datagram, (size_t)n, now_ns);
            break;
        case TACT_NETWORK_DATA:
            n = handle_data_packet(endpoint, datagram, (size_t)n, &from, now_ns, payload);
            if (n >= 0) {
                --*most;
                return n;
            }
            break;
        case -EPROTONOSUPPORT:
            endpoint->counts.other_version_packet_count++;
            endpoint->other_version_packet_count = datagram[4];
            break;
        default:
            endpoint->counts.malformed_packet_count++;
        }
    }
    return -EAGAIN;
}

int tact_network_send(struct tact_network_endpoint *endpoint, const void *payload, size_t size)
{
    unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES];
    if (!endpoint->has_encrypted_session) {
        return -ENOTCONN;
    }
    ssize_t n = tact_network_encrypt_packet(&endpoint->session, payload, size, datagram);
    return n < 0 ? (int)n : send_datagram(endpoint, datagram, (size_t)n, &endpoint->peer_address);
}
