/* Handshake of fresh keys between two ends that know each other's long-term key. */
#include "devices/network/handshake_internal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

enum {
    KEY = TACT_NETWORK_KEY_BYTES,
    EPHEMERAL_KEY_OFFSET = TACT_NETWORK_START_BYTES,
    RANDOM_BYTES_OFFSET = EPHEMERAL_KEY_OFFSET + KEY,
    /* offset in an answer of the keyed hash, which follows the random bytes and is checked first;
     * in a hello zeros */
    ANSWER_HASH_OFFSET = RANDOM_BYTES_OFFSET + KEY,
    TAG_OFFSET = ANSWER_HASH_OFFSET + TACT_NETWORK_TAG_BYTES
};
_Static_assert(TAG_OFFSET + TACT_NETWORK_TAG_BYTES == TACT_NETWORK_HELLO_BYTES,
               "the fields of a handshake hello must fill TACT_NETWORK_HELLO_BYTES");
_Static_assert(TAG_OFFSET + TACT_NETWORK_TAG_BYTES == TACT_NETWORK_ANSWER_BYTES,
               "the fields of a handshake answer must fill TACT_NETWORK_ANSWER_BYTES");

/* The three Diffie-Hellman secrets of a handshake, in the order that both ends use. */
struct shared_secrets {
    unsigned char ephemeral_keys_secret[KEY]; /* secret shared by both ephemeral keys */
    /* ephemeral key of the initiator, pinned of the listener */
    unsigned char pinned_listener_key_secret[KEY];
    /* pinned key of the initiator, ephemeral of the listener */
    unsigned char pinned_initiator_key_secret[KEY];
};

static void write_handshake_message(unsigned char *message, enum tact_network_packet_kind kind,
                                    unsigned char ephemeral_secret_key[KEY])
{
    tact_network_write_datagram_start(message, kind);
    randombytes_buf(ephemeral_secret_key, KEY);
    crypto_scalarmult_base(message + EPHEMERAL_KEY_OFFSET, ephemeral_secret_key);
    randombytes_buf(message + RANDOM_BYTES_OFFSET, KEY);
    memset(message + ANSWER_HASH_OFFSET, 0, TACT_NETWORK_TAG_BYTES);
}

/* Derives keys and identifier of the session. initiator: 1 at the end that sent the hello. */
static void derive_session_keys(const struct tact_network_identity *self,
                                int is_handshake_initiator,
                                const struct shared_secrets *shared_secrets,
                                const unsigned char *hello, const unsigned char *answer,
                                struct tact_network_session *session)
{
    unsigned char keys[2 * KEY];
    const unsigned char *initiator_public_key =
        is_handshake_initiator ? self->public_key : self->peer_key;
    const unsigned char *listener_public_key =
        is_handshake_initiator ? self->peer_key : self->public_key;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof keys);
    crypto_generichash_update(&state, (const unsigned char *)shared_secrets,
                              sizeof *shared_secrets);
    crypto_generichash_update(&state, initiator_public_key, KEY);
    crypto_generichash_update(&state, listener_public_key, KEY);
    crypto_generichash_update(&state, hello, TACT_NETWORK_HELLO_BYTES);
    crypto_generichash_update(&state, answer, TAG_OFFSET);
    crypto_generichash_final(&state, keys, sizeof keys);
    memset(session, 0, sizeof *session);
    memcpy(session->key_of_sent_packets, is_handshake_initiator ? keys : keys + KEY, KEY);
    memcpy(session->key_of_received_packets, is_handshake_initiator ? keys + KEY : keys, KEY);
    sodium_memzero(keys, sizeof keys);

    crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES);
    crypto_generichash_update(&state, hello, TACT_NETWORK_HELLO_BYTES);
    crypto_generichash_update(&state, answer, TAG_OFFSET);
    unsigned char name[crypto_generichash_BYTES];
    crypto_generichash_final(&state, name, sizeof name);
    memcpy(session->name, name, sizeof session->name);
    /* the nonce 0 is used by the answer's tag, so packets count from 1 */
    session->next_sent_counter = 1;
}

/* Computes the authentication tag of an answer: that of an empty message with the answer's bytes as
 * associated data, under the key of the listener's direction. */
static void compute_answer_tag(unsigned char *tag, const unsigned char *answer,
                               const unsigned char *key)
{
    static const unsigned char zero_nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES] = {0};
    crypto_aead_chacha20poly1305_ietf_encrypt(tag, NULL, NULL, 0, answer, TAG_OFFSET, NULL,
                                              zero_nonce, key);
}

/* Keyed hash of an answer and the hello that it answers. */
static void compute_answer_hash(unsigned char *answer_hash, const unsigned char *answer,
                                const unsigned char *hello, const unsigned char *key)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, KEY, TACT_NETWORK_TAG_BYTES);
    crypto_generichash_update(&state, answer, ANSWER_HASH_OFFSET);
    crypto_generichash_update(&state, hello, TACT_NETWORK_HELLO_BYTES);
    crypto_generichash_final(&state, answer_hash, TACT_NETWORK_TAG_BYTES);
}

static void compute_hello_tag(unsigned char *tag, const unsigned char *hello,
                              const unsigned char *key)
{
    crypto_generichash(tag, TACT_NETWORK_TAG_BYTES, hello, TAG_OFFSET, key, KEY);
}

void tact_network_make_hello(const struct tact_network_identity *self,
                             struct tact_network_sent_hello *sent_hello)
{
    write_handshake_message(sent_hello->hello, TACT_NETWORK_HELLO,
                            sent_hello->ephemeral_secret_key);
    compute_hello_tag(sent_hello->hello + TAG_OFFSET, sent_hello->hello, self->own_hello_key);
}

int tact_network_check_hello(const struct tact_network_identity *self, const unsigned char *hello,
                             size_t size)
{
    unsigned char tag[TACT_NETWORK_TAG_BYTES];
    if (size != TACT_NETWORK_HELLO_BYTES) {
        return -EPROTO;
    }
    compute_hello_tag(tag, hello, self->peer_hello_key);
    return sodium_memcmp(tag, hello + TAG_OFFSET, sizeof tag) ? -EBADMSG : 0;
}

int tact_network_answer_hello(const struct tact_network_identity *self, const unsigned char *hello,
                              struct tact_network_session *session, unsigned char *answer)
{
    unsigned char ephemeral_secret_key[KEY];
    struct shared_secrets shared_secrets;
    write_handshake_message(answer, TACT_NETWORK_ANSWER, ephemeral_secret_key);
    compute_answer_hash(answer + ANSWER_HASH_OFFSET, answer, hello, self->own_hello_key);
    int bad = crypto_scalarmult(shared_secrets.ephemeral_keys_secret, ephemeral_secret_key,
                                hello + EPHEMERAL_KEY_OFFSET) |
              crypto_scalarmult(shared_secrets.pinned_listener_key_secret, self->secret_key,
                                hello + EPHEMERAL_KEY_OFFSET) |
              crypto_scalarmult(shared_secrets.pinned_initiator_key_secret, ephemeral_secret_key,
                                self->peer_key);
    if (!bad) {
        derive_session_keys(self, 0, &shared_secrets, hello, answer, session);
        compute_answer_tag(answer + TAG_OFFSET, answer, session->key_of_sent_packets);
    }
    sodium_memzero(&shared_secrets, sizeof shared_secrets);
    sodium_memzero(ephemeral_secret_key, sizeof ephemeral_secret_key);
    return bad ? -EBADMSG : 0;
}

int tact_network_check_answer(const struct tact_network_identity *self, const unsigned char *hello,
                              const unsigned char *answer, size_t size)
{
    unsigned char expected_answer_hash[TACT_NETWORK_TAG_BYTES];
    if (size != TACT_NETWORK_ANSWER_BYTES) {
        return -EPROTO;
    }
    compute_answer_hash(expected_answer_hash, answer, hello, self->peer_hello_key);
    return sodium_memcmp(expected_answer_hash, answer + ANSWER_HASH_OFFSET,
                         sizeof expected_answer_hash)
               ? -EBADMSG
               : 0;
}

int tact_network_finish_handshake(const struct tact_network_identity *self,
                                  const struct tact_network_sent_hello *sent_hello,
                                  const unsigned char *answer, size_t size,
                                  struct tact_network_session *session)
{
    unsigned char tag[TACT_NETWORK_TAG_BYTES];
    struct shared_secrets shared_secrets;
    const int rc = tact_network_check_answer(self, sent_hello->hello, answer, size);
    if (rc) {
        return rc;
    }
    int bad = crypto_scalarmult(shared_secrets.ephemeral_keys_secret,
                                sent_hello->ephemeral_secret_key, answer + EPHEMERAL_KEY_OFFSET) |
              crypto_scalarmult(shared_secrets.pinned_listener_key_secret,
                                sent_hello->ephemeral_secret_key, self->peer_key) |
              crypto_scalarmult(shared_secrets.pinned_initiator_key_secret, self->secret_key,
                                answer + EPHEMERAL_KEY_OFFSET);
    if (!bad) {
        derive_session_keys(self, 1, &shared_secrets, sent_hello->hello, answer, session);
        compute_answer_tag(tag, answer, session->key_of_received_packets);
        bad = sodium_memcmp(tag, answer + TAG_OFFSET, sizeof tag);
    }
    sodium_memzero(&shared_secrets, sizeof shared_secrets);
    if (bad) {
        sodium_memzero(session, sizeof *session);
    }
    return bad ? -EBADMSG : 0;
}
