/*
 * One end of a link: a UDP socket, the handshake, and what was refused. The end that connects
 * repeats its hello until it is answered, and begins again after a second without a packet; the end
 * that listens learns the address of the other from a handshake that was proven.
 *
 *   datagram -> signature, version, size -> hello, answer: handshake -> session
 *                                        -> data: session, counter, tag -> payload
 */
#ifndef TACT_DEVICES_NETWORK_ENDPOINT_INTERNAL_H
#define TACT_DEVICES_NETWORK_ENDPOINT_INTERNAL_H

#include <netdb.h>
#include <sys/socket.h>
#include "devices/network/handshake_internal.h"

enum {
    TACT_NETWORK_ANSWERED = 16 /* answered hellos whose session is not proven yet: at 20 a
                                  second, of the last 0.8 s */
};

struct tact_network_address {
    struct sockaddr_storage socket_address;
    socklen_t size;
};

/* Counts of datagrams sent, received and refused. */
struct tact_network_endpoint_counts {
    uint64_t sent;                /* packets handed to the system */
    uint64_t unsent_packet_count; /* packets lost here: the socket was full, or the system refused
                                     them */
    uint64_t received_datagram_count;    /* datagrams of any kind */
    uint64_t accepted_packet_count;      /* packets whose payload was handed on */
    uint64_t malformed_packet_count;     /* packets of another protocol, or of a wrong size */
    uint64_t other_version_packet_count; /* packets of another version of the format */
    uint64_t forged_packet_count;        /* hello, answer or packet whose tag is wrong */
    /* packets received before, or older than the window of packet counters */
    uint64_t replayed_packet_count;
    uint64_t other_session_packet_count; /* packets of another session, or from another address */
    /* hellos and answers refused, as handshakes are limited in rate or postponed */
    uint64_t postponed_hello_count;
    uint64_t completed_handshake_count; /* handshakes that were completed */
};

/* A hello that was answered, until a packet proves its session. */
struct tact_network_answered_hello {
    unsigned char hello[TACT_NETWORK_HELLO_BYTES];
    unsigned char answer[TACT_NETWORK_ANSWER_BYTES];
    struct tact_network_session session;
    int64_t answer_time_ns; /* when it was answered, CLOCK_MONOTONIC [ns]; 0: this entry is free */
};

enum { TACT_NETWORK_KNOWN_HELLOS = 1024 }; /* a power of two */

struct tact_network_endpoint {
    int socket;
    int is_handshake_initiator; /* 1: connects; 0: listens */
    /* 1: hellos and answers are counted and not handled, as in a real-time thread: a step of a
     * handshake takes 0.2 ms */
    int postpones_new_handshakes;
    struct tact_network_identity identity;
    /* address of the other end of the session; at the initiator always that of the listener */
    struct tact_network_address peer_address;
    struct tact_network_session session;       /* valid if has_encrypted_session */
    int has_encrypted_session;                 /* 1 after the first handshake */
    struct tact_network_sent_hello sent_hello; /* hello of the initiator that is not answered yet */
    /* the hello before it, whose answer may still arrive; zeros: none */
    unsigned char previous_sent_hello[TACT_NETWORK_HELLO_BYTES];
    int64_t hello_creation_time_ns; /* time at which the open hello was made; 0: none is open */
    int64_t last_hello_time_ns;     /* time at which the hello was sent last */
    int64_t last_accepted_time_ns;  /* time of the newest accepted packet, or of the handshake */
    /* hellos that the listener has answered */
    struct tact_network_answered_hello answered_hellos[TACT_NETWORK_ANSWERED];
    /* tags of hellos that this listener has answered since it was opened, by their first bytes: one
     * that was recorded and is sent again costs no handshake */
    unsigned char tags_of_known_hellos[TACT_NETWORK_KNOWN_HELLOS][TACT_NETWORK_TAG_BYTES];
    int64_t next_handshake_time_ns; /* time from which another handshake is allowed: limits their
                                       rate */
    /* version of the newest datagram that was refused for its version */
    int other_version_packet_count;
    struct tact_network_endpoint_counts counts;
};

struct tact_network_endpoint_options {
    const char *address;        /* "HOST:PORT", "[IPV6]:PORT", or to listen also "PORT" */
    int is_handshake_initiator; /* 1: the end connects to `address`; 0: it listens on `address` */
    /* Keys of both ends, or NULL: none, and only addresses of this machine are allowed. */
    const struct tact_network_identity *identity;
};

/* Opens the socket. Not real-time safe: it may look up a name. Returns 0, or a negative errno with
 * *err set: -EINVAL (no address), -EPERM (not an address of this machine, and no keys), or that of
 * the system. */
int tact_network_endpoint_open(const struct tact_network_endpoint_options *options,
                               struct tact_network_endpoint *out, struct tact_error *err);

void tact_network_endpoint_close(struct tact_network_endpoint *endpoint);

/* UDP port to which the socket is bound. */
int tact_network_endpoint_port(const struct tact_network_endpoint *endpoint);

/* Sends the messages of a handshake that are due; to be called in each tick, before
 * tact_network_receive(). Does not block. */
void tact_network_endpoint_send_due_handshakes(struct tact_network_endpoint *endpoint,
                                               int64_t now_ns);

/* Lets the end that connects send a new hello at once, instead of after a second of silence. */
void tact_network_endpoint_allow_hello(struct tact_network_endpoint *endpoint, int64_t now_ns);

/* While `receives_only_from_peer`, the system drops what does not come from the peer's address
 * before it takes room in the queue of the listener's socket, and the listener takes no handshake;
 * the initiator never receives from others. Not real-time safe. Returns 0 or a negative errno of
 * the system, with which all datagrams arrive as before. */
int tact_network_receive_only_from_peer(struct tact_network_endpoint *endpoint,
                                        int receives_only_from_peer);

/* Handles datagrams that have arrived, at most `most` of them, up to the next payload. Does not
 * block; a step of a handshake, of which there are at most 20 a second, takes 0.2 ms. Returns the
 * size of the payload, which may be 0 (the packet that completes a handshake), or -EAGAIN (none is
 * left, or `most` were handled). *most is what remains of it. */
ssize_t tact_network_receive(struct tact_network_endpoint *endpoint, int64_t now_ns, int *most,
                             void *payload);

/* Sends a payload. Does not block. Returns 0, -ENOTCONN (no session yet), -EAGAIN (lost: the socket
 * is full), -EMSGSIZE, -EOVERFLOW, or another negative errno of the system (lost as well). */
int tact_network_send(struct tact_network_endpoint *endpoint, const void *payload, size_t size);

#endif
