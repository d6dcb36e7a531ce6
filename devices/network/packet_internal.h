/*
 * Encrypted packets of one session between two ends, ChaCha20-Poly1305 (IETF) by libsodium. A
 * session has a key for each direction and a 64-bit counter for each packet, which is the nonce and
 * never repeats; the receiver accepts each counter once, within a window of 1,024 packets.
 *
 *   offset  size
 *   0       4     "TACT"
 *   4       1     version, TACT_NETWORK_PACKET_FORMAT_VERSION
 *   5       1     kind: enum tact_network_packet_kind
 *   6       2     0
 *   8       8     session
 *   16      8     counter, little-endian
 *   24      n     payload, encrypted; n <= TACT_NETWORK_PAYLOAD
 *   24 + n  16    tag, which authenticates all of it
 */
#ifndef TACT_DEVICES_NETWORK_PACKET_INTERNAL_H
#define TACT_DEVICES_NETWORK_PACKET_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    TACT_NETWORK_PACKET_FORMAT_VERSION =
        6, /* earlier versions of the format: 1 has no clutch and fault of a
site; 2 fewer terms; 3 answers without a hash of their own; 4 no
waves that ask an end to wait; 5 answers with 16 random bytes */
    TACT_NETWORK_START_BYTES =
        8, /* bytes at the start of every datagram: signature, version, kind */
    TACT_NETWORK_SESSION_NAME_BYTES = 8, /* size of a session's name */
    TACT_NETWORK_HEADER_BYTES = 24,      /* size of a packet's header */
    TACT_NETWORK_TAG_BYTES = 16, /* bytes of the authentication tag of a packet and of an answer */
    TACT_NETWORK_MAX_DATAGRAM_BYTES = 1200, /* largest datagram: none is fragmented */
    TACT_NETWORK_PAYLOAD =
        TACT_NETWORK_MAX_DATAGRAM_BYTES - TACT_NETWORK_HEADER_BYTES - TACT_NETWORK_TAG_BYTES,
    TACT_NETWORK_REPLAY_WINDOW = 1024 /* [packets] */
};

enum tact_network_packet_kind { TACT_NETWORK_HELLO = 1, TACT_NETWORK_ANSWER, TACT_NETWORK_DATA };

struct tact_network_session {
    unsigned char name[TACT_NETWORK_SESSION_NAME_BYTES];
    unsigned char key_of_sent_packets[32], key_of_received_packets[32];
    uint64_t next_sent_counter;        /* counter of the next packet that is sent */
    uint64_t highest_received_counter; /* highest counter of the packets that were received */
    uint64_t received_counter_bits[TACT_NETWORK_REPLAY_WINDOW /
                                   64]; /* bit i: counter % window was received */
    int has_received_packet;
};

/* Write and read a 64-bit number of the protocol or of a payload, little-endian. */
void tact_network_write_u64(unsigned char out[8], uint64_t value);
uint64_t tact_network_read_u64(const unsigned char in[8]);

/* Writes the first bytes of a datagram. Real-time safe, as all here. */
void tact_network_write_datagram_start(unsigned char *datagram, enum tact_network_packet_kind kind);

/* Returns the kind of a datagram, or -EPROTONOSUPPORT (of tact, by another version of the format)
 * or -EPROTO (another signature, no such kind, or too short for any). */
int tact_network_read_datagram_start(const unsigned char *datagram, size_t size);

/* Encrypts a payload into a datagram of TACT_NETWORK_MAX_DATAGRAM_BYTES bytes. Returns the size of
 * it, or -EMSGSIZE (payload too long), -EOVERFLOW (the counter is used up). */
ssize_t tact_network_encrypt_packet(struct tact_network_session *session, const void *payload,
                                    size_t size, unsigned char *datagram);

/* Decrypts a datagram whose kind is DATA into payload, of TACT_NETWORK_PAYLOAD bytes. Returns the
 * size of the payload, or -EPROTO (its size is wrong), -ENOENT (of another session), -EALREADY
 * (received before, or older than the window), -EBADMSG (the tag is wrong). The state of the
 * session changes only where the packet is accepted. */
ssize_t tact_network_decrypt_packet(struct tact_network_session *session,
                                    const unsigned char *datagram, size_t size, void *payload);

/* Writes or reads `count` doubles, little-endian; returns what follows them. */
unsigned char *tact_network_write_doubles(unsigned char *out, const double *value, int count);
const unsigned char *tact_network_read_doubles(const unsigned char *in, double *value, int count);

#endif
