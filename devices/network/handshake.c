/* Handshake of fresh keys between two ends that know each other's long-term key. */
#include "devices/network/handshake_internal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

enum {
    KEY = TACT_NETWORK_KEY_BYTES,
    EPHEMERAL_AT = TACT_NETWORK_START_BYTES,
    RANDOM_AT = EPHEMERAL_AT + KEY,
    TAG_AT = RANDOM_AT + KEY
};
_Static_assert(TAG_AT + TACT_NETWORK_TAG_BYTES == TACT_NETWORK_HELLO_BYTES, "layout of a hello");
_Static_assert(TAG_AT + TACT_NETWORK_TAG_BYTES == TACT_NETWORK_ANSWER_BYTES, "layout of an answer");

/* The three secrets, in the order that both ends use. */
struct secrets {
    unsigned char ephemeral[KEY];      /* of both ephemeral keys */
    unsigned char with_listener[KEY];  /* ephemeral key of the initiator, pinned of the listener */
    unsigned char with_initiator[KEY]; /* pinned key of the initiator, ephemeral of the listener */
};

static void write_message(unsigned char *message, enum tact_network_kind kind,
                          unsigned char ephemeral_secret[KEY])
{
    tact_network_write_start(message, kind);
    randombytes_buf(ephemeral_secret, KEY);
    crypto_scalarmult_base(message + EPHEMERAL_AT, ephemeral_secret);
    randombytes_buf(message + RANDOM_AT, KEY);
}

/* Keys and name of the session. initiator: 1 at the end that sent the hello. */
static void derive_session(const struct tact_network_identity *self, int initiator,
                           const struct secrets *secrets, const unsigned char *hello,
                           const unsigned char *answer, struct tact_network_session *session)
{
    unsigned char keys[2 * KEY];
    const unsigned char *initiator_key = initiator ? self->public_key : self->peer_key;
    const unsigned char *listener_key = initiator ? self->peer_key : self->public_key;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof keys);
    crypto_generichash_update(&state, (const unsigned char *)secrets, sizeof *secrets);
    crypto_generichash_update(&state, initiator_key, KEY);
    crypto_generichash_update(&state, listener_key, KEY);
    crypto_generichash_update(&state, hello, TACT_NETWORK_HELLO_BYTES);
    crypto_generichash_update(&state, answer, TAG_AT);
    crypto_generichash_final(&state, keys, sizeof keys);
    memset(session, 0, sizeof *session);
    memcpy(session->send_key, initiator ? keys : keys + KEY, KEY);
    memcpy(session->receive_key, initiator ? keys + KEY : keys, KEY);
    sodium_memzero(keys, sizeof keys);

    crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES);
    crypto_generichash_update(&state, hello, TACT_NETWORK_HELLO_BYTES);
    crypto_generichash_update(&state, answer, TAG_AT);
    unsigned char name[crypto_generichash_BYTES];
    crypto_generichash_final(&state, name, sizeof name);
    memcpy(session->name, name, sizeof session->name);
    session->next_counter = 1; /* the nonce 0 is that of the answer's tag */
}

/* The tag under the key of the listener's direction, of an empty message with the answer's bytes
 * as its associated data. */
static void tag_answer(unsigned char *tag, const unsigned char *answer, const unsigned char *key)
{
    static const unsigned char nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES] = {0};
    crypto_aead_chacha20poly1305_ietf_encrypt(tag, NULL, NULL, 0, answer, TAG_AT, NULL, nonce, key);
}

static void authenticate_hello(unsigned char *tag, const unsigned char *hello,
                               const unsigned char *key)
{
    crypto_generichash(tag, TACT_NETWORK_TAG_BYTES, hello, TAG_AT, key, KEY);
}

void tact_network_hello(const struct tact_network_identity *self,
                        struct tact_network_opening *opening)
{
    write_message(opening->hello, TACT_NETWORK_HELLO, opening->ephemeral_secret);
    authenticate_hello(opening->hello + TAG_AT, opening->hello, self->own_hello_key);
}

int tact_network_check_hello(const struct tact_network_identity *self, const unsigned char *hello,
                             size_t size)
{
    unsigned char tag[TACT_NETWORK_TAG_BYTES];
    if (size != TACT_NETWORK_HELLO_BYTES) {
        return -EPROTO;
    }
    authenticate_hello(tag, hello, self->peer_hello_key);
    return sodium_memcmp(tag, hello + TAG_AT, sizeof tag) ? -EBADMSG : 0;
}

int tact_network_answer(const struct tact_network_identity *self, const unsigned char *hello,
                        struct tact_network_session *session, unsigned char *answer)
{
    unsigned char ephemeral_secret[KEY];
    struct secrets secrets;
    write_message(answer, TACT_NETWORK_ANSWER, ephemeral_secret);
    int bad = crypto_scalarmult(secrets.ephemeral, ephemeral_secret, hello + EPHEMERAL_AT) |
              crypto_scalarmult(secrets.with_listener, self->secret_key, hello + EPHEMERAL_AT) |
              crypto_scalarmult(secrets.with_initiator, ephemeral_secret, self->peer_key);
    if (!bad) {
        derive_session(self, 0, &secrets, hello, answer, session);
        tag_answer(answer + TAG_AT, answer, session->send_key);
    }
    sodium_memzero(&secrets, sizeof secrets);
    sodium_memzero(ephemeral_secret, sizeof ephemeral_secret);
    return bad ? -EBADMSG : 0;
}

int tact_network_finish(const struct tact_network_identity *self,
                        const struct tact_network_opening *opening, const unsigned char *answer,
                        size_t size, struct tact_network_session *session)
{
    unsigned char tag[TACT_NETWORK_TAG_BYTES];
    struct secrets secrets;
    if (size != TACT_NETWORK_ANSWER_BYTES) {
        return -EPROTO;
    }
    int bad =
        crypto_scalarmult(secrets.ephemeral, opening->ephemeral_secret, answer + EPHEMERAL_AT) |
        crypto_scalarmult(secrets.with_listener, opening->ephemeral_secret, self->peer_key) |
        crypto_scalarmult(secrets.with_initiator, self->secret_key, answer + EPHEMERAL_AT);
    if (!bad) {
        derive_session(self, 1, &secrets, opening->hello, answer, session);
        tag_answer(tag, answer, session->receive_key);
        bad = sodium_memcmp(tag, answer + TAG_AT, sizeof tag);
    }
    sodium_memzero(&secrets, sizeof secrets);
    if (bad) {
        sodium_memzero(session, sizeof *session);
    }
    return bad ? -EBADMSG : 0;
}
