/*
 * Handshake of fresh keys, authenticated by the pinned ones. The end that connects sends a hello,
 * the one that listens an answer; the first packet that opens under the new key proves the other
 * end, so that both have proven their long-term key before any payload counts.
 *
 *   hello    start 8 | ephemeral public key 32 | random 32 | zeros 16 | keyed BLAKE2b of these, 16
 *   answer   start 8 | ephemeral public key 32 | random 32 | keyed BLAKE2b of these and of the
 *            hello, 16 | tag of an empty message under the new key, 16
 *
 * The keys of both directions are BLAKE2b-512 of the three Diffie-Hellman secrets (ephemeral with
 * ephemeral, and each ephemeral with the other's pinned key), both pinned keys, the hello and the
 * answer without its tag. Each start has keys of its own, and the loss of a long-term key does not
 * open recorded sessions.
 */
#ifndef TACT_DEVICES_NETWORK_HANDSHAKE_INTERNAL_H
#define TACT_DEVICES_NETWORK_HANDSHAKE_INTERNAL_H

#include "devices/network/key_internal.h"
#include "devices/network/packet_internal.h"

enum {
    TACT_NETWORK_HELLO_BYTES = 104, /* size of a hello */
    TACT_NETWORK_ANSWER_BYTES = 104 /* size of an answer, which is no larger than a hello */
};

/* A hello that was sent and not answered yet. */
struct tact_network_sent_hello {
    unsigned char ephemeral_secret_key[TACT_NETWORK_KEY_BYTES];
    unsigned char hello[TACT_NETWORK_HELLO_BYTES];
};

/* Makes a hello from new random numbers. Not real-time safe: it asks the system for them. */
void tact_network_make_hello(const struct tact_network_identity *self,
                             struct tact_network_sent_hello *sent_hello);

/* Whether a datagram is a hello of the pinned other end. Returns 0, -EPROTO (its size is wrong) or
 * -EBADMSG (of another sender). A replayed hello is not recognised here: its sender cannot open
 * what follows. Real-time safe. */
int tact_network_check_hello(const struct tact_network_identity *self, const unsigned char *hello,
                             size_t size);

/* Answers a hello that was checked: the session of the end that listens, and the answer that is
 * sent. The session is proven by the first packet that it opens. Takes about 0.2 ms. Returns 0 or
 * -EBADMSG (its key is not usable). */
int tact_network_answer_hello(const struct tact_network_identity *self, const unsigned char *hello,
                              struct tact_network_session *session, unsigned char *answer);

/* Whether a datagram may be the pinned other end's answer to this hello, which costs a hash.
 * Returns 0, -EPROTO (its size is wrong) or -EBADMSG (of another sender, or to another hello).
 * Real-time safe. */
int tact_network_check_answer(const struct tact_network_identity *self, const unsigned char *hello,
                              const unsigned char *answer, size_t size);

/* Completes the handshake at the end that connects. Takes about 0.2 ms. Returns 0, -EPROTO (its
 * size is wrong) or -EBADMSG (not an answer of the pinned end to this hello). */
int tact_network_finish_handshake(const struct tact_network_identity *self,
                                  const struct tact_network_sent_hello *sent_hello,
                                  const unsigned char *answer, size_t size,
                                  struct tact_network_session *session);

#endif
