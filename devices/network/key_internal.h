/*
 * Long-term keys of the two ends of a link, X25519. A secret key stays on its machine; the public
 * key goes to the other end, which accepts that key only ("pinned").
 *
 * A key file is one line of text: "tact-secret-key-1 " or "tact-public-key-1 ", then the 32 bytes
 * in base64.
 */
#ifndef TACT_DEVICES_NETWORK_KEY_INTERNAL_H
#define TACT_DEVICES_NETWORK_KEY_INTERNAL_H

#include "contact/error.h"

enum {
    TACT_NETWORK_KEY_BYTES = 32,
    TACT_NETWORK_KEY_TEXT = 80 /* size of a key file's text, with the zero */
};

enum tact_network_key_kind { TACT_NETWORK_SECRET_KEY, TACT_NETWORK_PUBLIC_KEY };

/* Keys of one end of a link: its own, and the public one of the other end. */
struct tact_network_identity {
    unsigned char secret_key[TACT_NETWORK_KEY_BYTES];
    unsigned char public_key[TACT_NETWORK_KEY_BYTES];
    unsigned char peer_key[TACT_NETWORK_KEY_BYTES]; /* public key of the other end */
    /* Authenticate the hello or answer of this end and of the other: BLAKE2b of the secret that
     * only the two long-term keys have in common, so that a stranger's costs no more than a
     * checksum. */
    unsigned char own_hello_key[TACT_NETWORK_KEY_BYTES];
    unsigned char peer_hello_key[TACT_NETWORK_KEY_BYTES];
};

/* Makes a new pair of keys from the system's random numbers. Not real-time safe. 0 or -EIO. */
int tact_network_make_key_pair(unsigned char secret_key[TACT_NETWORK_KEY_BYTES],
                               unsigned char public_key[TACT_NETWORK_KEY_BYTES],
                               struct tact_error *err);

/* Text of a key file. */
void tact_network_format_key_text(enum tact_network_key_kind kind,
                                  const unsigned char key[TACT_NETWORK_KEY_BYTES],
                                  char text[TACT_NETWORK_KEY_TEXT]);

/* Reads a key file. One with a secret key must belong to the caller or root, and be readable by
 * its owner only. Not real-time safe.
 * Returns 0, or a negative errno with *err set: -EACCES (owner or mode), -EINVAL (not a key file of
 * this kind), or that of opening or reading. */
int tact_network_read_key_file(const char *path, enum tact_network_key_kind kind,
                               unsigned char key[TACT_NETWORK_KEY_BYTES], struct tact_error *err);

/* Combines the keys of both ends. Not real-time safe. Returns 0, or -EINVAL with *err set: the
 * other end's key is one's own, or no usable point of the curve. */
int tact_network_identity_make(const unsigned char secret_key[TACT_NETWORK_KEY_BYTES],
                               const unsigned char peer_key[TACT_NETWORK_KEY_BYTES],
                               struct tact_network_identity *out, struct tact_error *err);

/* Reads and combines the key files of an end. Not real-time safe. Returns 0, or a negative errno of
 * the two functions above with *err set. */
int tact_network_identity_read(const char *key_path, const char *peer_key_path,
                               struct tact_network_identity *out, struct tact_error *err);

/* Identity of a link within this machine that has no keys: both pairs are constants, so that it is
 * encrypted by the same code but protects nothing. initiator: 1 for the end that connects. Not
 * real-time safe. 0 or -EIO. */
int tact_network_identity_of_loopback(int is_handshake_initiator, struct tact_network_identity *out,
                                      struct tact_error *err);

#endif
