/* Long-term keys: their files, and the keys that two ends derive from them. */
#include "devices/network/key_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BASE64_VARIANT sodium_base64_VARIANT_ORIGINAL

static const char *const kind_words[] = {
    [TACT_NETWORK_SECRET_KEY] = "tact-secret-key-1",
    [TACT_NETWORK_PUBLIC_KEY] = "tact-public-key-1",
};
static const char *const kind_names[] = {
    [TACT_NETWORK_SECRET_KEY] = "secret",
    [TACT_NETWORK_PUBLIC_KEY] = "public",
};

static int initialise_sodium(struct tact_error *err)
{
    return sodium_init() < 0 ? tact_error_set(err, -EIO, "libsodium cannot be initialised") : 0;
}

int tact_network_make_key_pair(unsigned char secret_key[TACT_NETWORK_KEY_BYTES],
                               unsigned char public_key[TACT_NETWORK_KEY_BYTES],
                               struct tact_error *err)
{
    int rc = initialise_sodium(err);
    if (!rc) {
        randombytes_buf(secret_key, TACT_NETWORK_KEY_BYTES);
        crypto_scalarmult_base(public_key, secret_key);
    }
    return rc;
}

void tact_network_format_key_text(enum tact_network_key_kind kind,
                                  const unsigned char key[TACT_NETWORK_KEY_BYTES],
                                  char text[TACT_NETWORK_KEY_TEXT])
{
    char base64_key_text[sodium_base64_ENCODED_LEN(TACT_NETWORK_KEY_BYTES, BASE64_VARIANT)];
    sodium_bin2base64(base64_key_text, sizeof base64_key_text, key, TACT_NETWORK_KEY_BYTES,
                      BASE64_VARIANT);
    snprintf(text, TACT_NETWORK_KEY_TEXT, "%s %s\n", kind_words[kind], base64_key_text);
    sodium_memzero(base64_key_text, sizeof base64_key_text);
}

static int check_key_file_owner(int fd, enum tact_network_key_kind kind, struct tact_error *err)
{
    struct stat status;
    if (fstat(fd, &status)) {
        return tact_error_set(err, -errno, "%s", strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return tact_error_set(err, -EINVAL, "the key file is not a regular file");
    }
    if (kind == TACT_NETWORK_PUBLIC_KEY) {
        return 0;
    }
    if (status.st_uid != geteuid() && status.st_uid != 0) {
        return tact_error_set(
            err, -EACCES,
            "the file of a secret key must belong to the user of this process or to root");
    }
    if (status.st_mode & 077) {
        return tact_error_set(
            err, -EACCES,
            "group and others can read or write the secret key (mode %04o): chmod 600",
            (unsigned)status.st_mode & 07777U);
    }
    return 0;
}

static int parse_key_file_text(const char *text, enum tact_network_key_kind kind,
                               unsigned char key[TACT_NETWORK_KEY_BYTES], struct tact_error *err)
{
    const enum tact_network_key_kind other =
        kind == TACT_NETWORK_SECRET_KEY ? TACT_NETWORK_PUBLIC_KEY : TACT_NETWORK_SECRET_KEY;
    const size_t word = strlen(kind_words[kind]);
    if (!strncmp(text, kind_words[other], strlen(kind_words[other]))) {
        return tact_error_set(err, -EINVAL, "this is a %s key: expected a %s one",
                              kind_names[other], kind_names[kind]);
    }
    size_t bytes = 0;
    const char *end = NULL;
    if (strncmp(text, kind_words[kind], word) != 0 || text[word] != ' ' ||
        sodium_base642bin(key, TACT_NETWORK_KEY_BYTES, text + word + 1, strlen(text + word + 1),
                          "\n", &bytes, &end, BASE64_VARIANT) != 0 ||
        bytes != TACT_NETWORK_KEY_BYTES || *end) {
        return tact_error_set(err, -EINVAL,
                              "not a %s key file: expected \"%s\" and 44 characters in base64",
                              kind_names[kind], kind_words[kind]);
    }
    return 0;
}

int tact_network_read_key_file(const char *path, enum tact_network_key_kind kind,
                               unsigned char key[TACT_NETWORK_KEY_BYTES], struct tact_error *err)
{
    char text[256];
    int rc = initialise_sodium(err);
    if (rc) {
        return rc;
    }
    tact_error_at(err, path, 0, 0, NULL);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return tact_error_set(err, -errno, "%s", strerror(errno));
    }
    ssize_t n = read(fd, text, sizeof text - 1);
    if (n < 0) {
        rc = tact_error_set(err, -errno, "%s", strerror(errno));
    } else {
        text[n] = '\0';
        rc = parse_key_file_text(text, kind, key, err);
    }
    rc = rc ? rc : check_key_file_owner(fd, kind, err);
    close(fd);
    sodium_memzero(text, sizeof text);
    return rc;
}

/* The key that authenticates hellos and answers from one end to the other. */
static void
derive_hello_key(unsigned char out[TACT_NETWORK_KEY_BYTES],
                 const unsigned char diffie_hellman_shared_secret[TACT_NETWORK_KEY_BYTES],
                 const unsigned char *from, const unsigned char *to)
{
    static const unsigned char hello_key_derivation_label[] = "tact link 1 hello";
    crypto_generichash_state state;
    crypto_generichash_init(&state, diffie_hellman_shared_secret, TACT_NETWORK_KEY_BYTES,
                            TACT_NETWORK_KEY_BYTES);
    crypto_generichash_update(&state, hello_key_derivation_label,
                              sizeof hello_key_derivation_label);
    crypto_generichash_update(&state, from, TACT_NETWORK_KEY_BYTES);
    crypto_generichash_update(&state, to, TACT_NETWORK_KEY_BYTES);
    crypto_generichash_final(&state, out, TACT_NETWORK_KEY_BYTES);
}

int tact_network_identity_make(const unsigned char secret_key[TACT_NETWORK_KEY_BYTES],
                               const unsigned char peer_key[TACT_NETWORK_KEY_BYTES],
                               struct tact_network_identity *out, struct tact_error *err)
{
    unsigned char diffie_hellman_shared_secret[TACT_NETWORK_KEY_BYTES];
    int rc = initialise_sodium(err);
    if (rc) {
        return rc;
    }
    memcpy(out->secret_key, secret_key, sizeof out->secret_key);
    memcpy(out->peer_key, peer_key, sizeof out->peer_key);
    crypto_scalarmult_base(out->public_key, secret_key);
    if (!sodium_memcmp(out->public_key, peer_key, sizeof out->public_key)) {
        return tact_error_set(err, -EINVAL,
                              "the public key of the other end equals that of this end: exchange "
                              "the public keys of the two ends");
    }
    if (crypto_scalarmult(diffie_hellman_shared_secret, secret_key, peer_key)) {
        return tact_error_set(
            err, -EINVAL,
            "the public key of the other end is not a valid key: make the keys of that end again "
            "by `tact keygen`, and copy its new public key to this end");
    }
    derive_hello_key(out->own_hello_key, diffie_hellman_shared_secret, out->public_key, peer_key);
    derive_hello_key(out->peer_hello_key, diffie_hellman_shared_secret, peer_key, out->public_key);
    sodium_memzero(diffie_hellman_shared_secret, sizeof diffie_hellman_shared_secret);
    return 0;
}

int tact_network_identity_of_loopback(int is_handshake_initiator, struct tact_network_identity *out,
                                      struct tact_error *err)
{
    static const char *const seeds[2] = {"tact link without a key, end that listens",
                                         "tact link without a key, end that connects"};
    unsigned char secret_key[2][TACT_NETWORK_KEY_BYTES], peer_key[TACT_NETWORK_KEY_BYTES];
    int rc = initialise_sodium(err);
    if (rc) {
        return rc;
    }
    for (int i = 0; i < 2; i++) {
        crypto_generichash(secret_key[i], TACT_NETWORK_KEY_BYTES, (const unsigned char *)seeds[i],
                           strlen(seeds[i]), NULL, 0);
    }
    crypto_scalarmult_base(peer_key, secret_key[!is_handshake_initiator]);
    return tact_network_identity_make(secret_key[!!is_handshake_initiator], peer_key, out, err);
}

int tact_network_identity_read(const char *key_path, const char *peer_key_path,
                               struct tact_network_identity *out, struct tact_error *err)
{
    unsigned char key[TACT_NETWORK_KEY_BYTES], peer[TACT_NETWORK_KEY_BYTES];
    int rc = tact_network_read_key_file(key_path, TACT_NETWORK_SECRET_KEY, key, err);
    rc = rc ? rc : tact_network_read_key_file(peer_key_path, TACT_NETWORK_PUBLIC_KEY, peer, err);
    rc = rc ? rc : tact_network_identity_make(key, peer, out, err);
    sodium_memzero(key, sizeof key);
    return rc;
}
