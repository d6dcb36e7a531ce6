/*
 * The encrypted link: key files, the handshake of fresh keys, and packets, against what any other
 * machine of the network can do: change any bit, send again, answer with another key.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/network/handshake_internal.h"
#include "support/random.h"

/* The identities of the two ends of a link, each with the other's public key. */
static void make_peer_identities(struct tact_network_identity *caller,
                                 struct tact_network_identity *listener)
{
    unsigned char secret_key_of_peer[2][TACT_NETWORK_KEY_BYTES], key[2][TACT_NETWORK_KEY_BYTES];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tact_network_make_key_pair(secret_key_of_peer[i], key[i], NULL), 0);
    }
    assert_int_equal(tact_network_identity_make(secret_key_of_peer[0], key[1], caller, NULL), 0);
    assert_int_equal(tact_network_identity_make(secret_key_of_peer[1], key[0], listener, NULL), 0);
}

struct handshake_state {
    struct tact_network_sent_hello sent_hello;
    unsigned char answer[TACT_NETWORK_ANSWER_BYTES];
    struct tact_network_session caller, listener;
};

static void run_handshake(const struct tact_network_identity *caller,
                          const struct tact_network_identity *listener, struct handshake_state *x)
{
    tact_network_make_hello(caller, &x->sent_hello);
    assert_int_equal(
        tact_network_check_hello(listener, x->sent_hello.hello, sizeof x->sent_hello.hello), 0);
    assert_int_equal(
        tact_network_answer_hello(listener, x->sent_hello.hello, &x->listener, x->answer), 0);
    assert_int_equal(tact_network_finish_handshake(caller, &x->sent_hello, x->answer,
                                                   sizeof x->answer, &x->caller),
                     0);
}

static void both_ends_of_a_handshake_derive_the_same_keys(void **state)
{
    (void)state;
    struct tact_network_identity caller, listener;
    struct handshake_state x, second_handshake;
    unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES], payload[TACT_NETWORK_PAYLOAD];
    unsigned char sent[TACT_NETWORK_PAYLOAD];
    make_peer_identities(&caller, &listener);
    run_handshake(&caller, &listener, &x);
    assert_memory_equal(x.caller.key_of_sent_packets, x.listener.key_of_received_packets, 32);
    assert_memory_equal(x.caller.key_of_received_packets, x.listener.key_of_sent_packets, 32);
    assert_memory_not_equal(x.caller.key_of_sent_packets, x.caller.key_of_received_packets, 32);
    assert_memory_equal(x.caller.name, x.listener.name, sizeof x.caller.name);
    for (size_t size = 0; size <= TACT_NETWORK_PAYLOAD; size += 145) {
        for (size_t i = 0; i < size; i++) {
            sent[i] = (unsigned char)random_bits();
        }
        ssize_t n = tact_network_encrypt_packet(&x.caller, sent, size, datagram);
        assert_int_equal(n, (ssize_t)size + 40);
        assert_int_equal(tact_network_decrypt_packet(&x.listener, datagram, (size_t)n, payload),
                         size);
        assert_memory_equal(payload, sent, size);
    }
    assert_int_equal(
        tact_network_encrypt_packet(&x.caller, sent, TACT_NETWORK_PAYLOAD + 1, datagram),
        -EMSGSIZE);
    run_handshake(&caller, &listener,
                  &second_handshake); /* a second handshake derives other keys */
    assert_memory_not_equal(x.caller.key_of_sent_packets,
                            second_handshake.caller.key_of_sent_packets, 32);
    assert_memory_not_equal(x.caller.key_of_received_packets,
                            second_handshake.caller.key_of_received_packets, 32);
    ssize_t n = tact_network_encrypt_packet(&x.caller, sent, 10, datagram);
    assert_int_equal(
        tact_network_decrypt_packet(&second_handshake.listener, datagram, (size_t)n, payload),
        -ENOENT);
    memcpy(datagram + TACT_NETWORK_START_BYTES, second_handshake.listener.name, 8);
    assert_int_equal(
        tact_network_decrypt_packet(&second_handshake.listener, datagram, (size_t)n, payload),
        -EBADMSG);
}

/* The layout of hello and answer, and the keys of the session, computed here from the description
 * of the handshake with libsodium: 32 random bytes of each side count. */
static void handshake_has_the_stated_format(void **state)
{
    (void)state;
    enum { RANDOM_AT = 40, HASH_AT = 72, TAG_AT = 88, SIZE = 104 };
    struct tact_network_identity caller, listener;
    struct handshake_state x;
    unsigned char shared_secrets[3][32], keys[64], hash[16];
    crypto_generichash_state blake;
    make_peer_identities(&caller, &listener);
    run_handshake(&caller, &listener, &x);
    const unsigned char *hello = x.sent_hello.hello, *answer = x.answer,
                        *key_of_answer = answer + 8;
    assert_int_equal(sizeof x.sent_hello.hello, SIZE);
    assert_int_equal(sizeof x.answer, SIZE);
    assert_true(sodium_is_zero(hello + HASH_AT, TAG_AT - HASH_AT));
    assert_memory_not_equal(hello + RANDOM_AT, answer + RANDOM_AT, 16);
    assert_memory_not_equal(hello + RANDOM_AT + 16, answer + RANDOM_AT + 16, 16);

    crypto_generichash(hash, sizeof hash, hello, TAG_AT, listener.peer_hello_key, 32);
    assert_memory_equal(hash, hello + TAG_AT, sizeof hash);
    crypto_generichash_init(&blake, caller.peer_hello_key, 32, sizeof hash);
    crypto_generichash_update(&blake, answer, HASH_AT);
    crypto_generichash_update(&blake, hello, SIZE);
    crypto_generichash_final(&blake, hash, sizeof hash);
    assert_memory_equal(hash, answer + HASH_AT, sizeof hash);

    const unsigned char *ephemeral_key = x.sent_hello.ephemeral_secret_key;
    assert_int_equal(crypto_scalarmult(shared_secrets[0], ephemeral_key, key_of_answer), 0);
    assert_int_equal(crypto_scalarmult(shared_secrets[1], ephemeral_key, listener.public_key), 0);
    assert_int_equal(crypto_scalarmult(shared_secrets[2], caller.secret_key, key_of_answer), 0);
    crypto_generichash_init(&blake, NULL, 0, sizeof keys);
    crypto_generichash_update(&blake, shared_secrets[0], sizeof shared_secrets);
    crypto_generichash_update(&blake, caller.public_key, 32);
    crypto_generichash_update(&blake, listener.public_key, 32);
    crypto_generichash_update(&blake, hello, SIZE);
    crypto_generichash_update(&blake, answer, TAG_AT);
    crypto_generichash_final(&blake, keys, sizeof keys);
    assert_memory_equal(keys, x.caller.key_of_sent_packets, 32);
    assert_memory_equal(keys + 32, x.caller.key_of_received_packets, 32);
}

/* Handshakes between two ends with the same pinned keys: no two session keys of all starts and
 * directions are equal. */
static void each_handshake_has_its_own_key(void **state)
{
    (void)state;
    enum { MOST = 4000 };
    static unsigned char keys[2 * MOST][TACT_NETWORK_KEY_BYTES];
    const int handshake_count = campaign_trial_count(60, MOST);
    struct tact_network_identity caller, listener;
    make_peer_identities(&caller, &listener);
    for (int i = 0; i < handshake_count; i++) {
        struct handshake_state x;
        run_handshake(&caller, &listener, &x);
        memcpy(keys[2 * i], x.caller.key_of_sent_packets, sizeof *keys);
        memcpy(keys[2 * i + 1], x.caller.key_of_received_packets, sizeof *keys);
        for (int k = 0; k < 2 * i + 1; k++) {
            assert_true(memcmp(keys[k], keys[2 * i + 1], sizeof *keys) &&
                        (k == 2 * i || memcmp(keys[k], keys[2 * i], sizeof *keys)));
        }
    }
}

static void handshake_refuses_every_flipped_bit(void **state)
{
    (void)state;
    struct tact_network_identity caller, listener;
    struct handshake_state x;
    make_peer_identities(&caller, &listener);
    run_handshake(&caller, &listener, &x);
    for (int bit = 0; bit < 8 * TACT_NETWORK_HELLO_BYTES; bit++) {
        unsigned char hello[TACT_NETWORK_HELLO_BYTES], answer[TACT_NETWORK_ANSWER_BYTES];
        struct tact_network_session session;
        memcpy(hello, x.sent_hello.hello, sizeof hello);
        hello[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        assert_int_equal(tact_network_check_hello(&listener, hello, sizeof hello), -EBADMSG);
        memcpy(answer, x.answer, sizeof answer);
        answer[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        /* The curve ignores the topmost bit of a public key, but not the hash of the answer. */
        assert_int_equal(
            tact_network_finish_handshake(&caller, &x.sent_hello, answer, sizeof answer, &session),
            -EBADMSG);
    }
    unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES],
        copy_with_changed_byte[TACT_NETWORK_MAX_DATAGRAM_BYTES], payload[TACT_NETWORK_PAYLOAD];
    const ssize_t n = tact_network_encrypt_packet(&x.listener, "pose and waves", 14, datagram);
    for (int bit = 0; bit < 8 * n; bit++) {
        const struct tact_network_session before = x.caller;
        memcpy(copy_with_changed_byte, datagram, (size_t)n);
        copy_with_changed_byte[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        assert_true(
            tact_network_decrypt_packet(&x.caller, copy_with_changed_byte, (size_t)n, payload) < 0);
        assert_memory_equal(&x.caller, &before, sizeof before);
    }
    for (ssize_t size = 0; size < n; size++) { /* cut anywhere */
        assert_true(tact_network_decrypt_packet(&x.caller, datagram, (size_t)size, payload) < 0);
    }
    assert_int_equal(tact_network_decrypt_packet(&x.caller, datagram, (size_t)n, payload), 14);
}

/* The window of accepted packet counters, compared with a plain set of them. */
static void replay_window_accepts_each_packet_once(void **state)
{
    (void)state;
    enum { PACKETS = 5000 };
    struct tact_network_identity caller, listener;
    struct handshake_state x;
    static unsigned char sealed_datagrams[PACKETS][48], accepted[PACKETS];
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    int counts[2] = {0, 0}, highest_accepted_number = -1;
    make_peer_identities(&caller, &listener);
    run_handshake(&caller, &listener, &x);
    for (int i = 0; i < PACKETS; i++) {
        unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES];
        assert_int_equal(tact_network_encrypt_packet(&x.caller, "datagram", 8, datagram), 48);
        memcpy(sealed_datagrams[i], datagram, 48);
    }
    for (int k = 0; k < 40000; k++) { /* counters go forward, with steps back and jumps */
        const int reach = k % 7 ? 1500 : 20, at = k / 10;
        const int i = at + (int)(random_bits() % (unsigned)reach) - reach / 2;
        if (i < 0 || i >= PACKETS) {
            continue;
        }
        const int is_packet_new =
            !accepted[i] && i > highest_accepted_number - TACT_NETWORK_REPLAY_WINDOW;
        const ssize_t n =
            tact_network_decrypt_packet(&x.listener, sealed_datagrams[i], 48, payload);
        assert_int_equal(n, is_packet_new ? 8 : -EALREADY);
        accepted[i] |= (unsigned char)is_packet_new;
        highest_accepted_number =
            is_packet_new && i > highest_accepted_number ? i : highest_accepted_number;
        counts[is_packet_new]++;
    }
    print_message("%d packets accepted, %d refused\n", counts[1], counts[0]);
    assert_true(counts[0] > 1000 && counts[1] > 1000);
    /* the last counter that can be used: then no more packets are sent */
    x.caller.next_sent_counter = UINT64_MAX - 1;
    unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES];
    assert_int_equal(tact_network_encrypt_packet(&x.caller, "", 0, datagram), 40);
    assert_int_equal(tact_network_decrypt_packet(&x.listener, datagram, 40, payload), 0);
    assert_int_equal(
        tact_network_decrypt_packet(&x.listener, sealed_datagrams[PACKETS - 1], 48, payload),
        -EALREADY);
    assert_int_equal(tact_network_encrypt_packet(&x.caller, "", 0, datagram), -EOVERFLOW);
}

static void handshake_refuses_unknown_peers(void **state)
{
    (void)state;
    struct tact_network_identity caller, listener, stranger, other;
    struct tact_network_session session;
    struct tact_network_sent_hello sent_hello;
    unsigned char answer[TACT_NETWORK_ANSWER_BYTES];
    struct handshake_state x;
    make_peer_identities(&caller, &listener);
    make_peer_identities(&stranger, &other);
    run_handshake(&caller, &listener, &x);
    /* a hello with a key that the listener does not know */
    tact_network_make_hello(&stranger, &sent_hello);
    assert_int_equal(tact_network_check_hello(&listener, sent_hello.hello, sizeof sent_hello.hello),
                     -EBADMSG);
    /* The caller's own hello, reflected, is refused. */
    assert_int_equal(
        tact_network_check_hello(&caller, x.sent_hello.hello, sizeof x.sent_hello.hello), -EBADMSG);
    /* A machine with another key answers, which knows all public keys. */
    assert_int_equal(tact_network_identity_make(other.secret_key, caller.public_key, &other, NULL),
                     0);
    tact_network_make_hello(&caller, &sent_hello);
    assert_int_equal(tact_network_answer_hello(&other, sent_hello.hello, &session, answer), 0);
    assert_int_equal(
        tact_network_finish_handshake(&caller, &sent_hello, answer, sizeof answer, &session),
        -EBADMSG);
    /* The answer to an earlier hello is refused. */
    assert_int_equal(
        tact_network_finish_handshake(&caller, &sent_hello, x.answer, sizeof x.answer, &session),
        -EBADMSG);
    /* A hello of an earlier session is answered with new keys, so that the packets of that session
     * do not open. */
    unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES], payload[TACT_NETWORK_PAYLOAD];
    ssize_t n = tact_network_encrypt_packet(&x.caller, "", 0, datagram);
    assert_int_equal(tact_network_answer_hello(&listener, x.sent_hello.hello, &session, answer), 0);
    memcpy(datagram + TACT_NETWORK_START_BYTES, session.name, sizeof session.name);
    assert_int_equal(tact_network_decrypt_packet(&session, datagram, (size_t)n, payload), -EBADMSG);
    /* Public keys that are points of small order, with which every shared secret would be zero. */
    static const unsigned char zero_public_key[TACT_NETWORK_KEY_BYTES] = {0};
    assert_int_equal(tact_network_identity_make(caller.secret_key, zero_public_key, &other, NULL),
                     -EINVAL);
    assert_int_equal(tact_network_identity_make(caller.secret_key, caller.public_key, &other, NULL),
                     -EINVAL);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    fchmod(fd, mode);
    close(fd);
}

static void network_key_files_are_checked(void **state)
{
    (void)state;
    char folder[] = "/tmp/tact-keys-XXXXXX", path[64], text[TACT_NETWORK_KEY_TEXT], long_text[300];
    unsigned char secret_key_of_peer[TACT_NETWORK_KEY_BYTES], key[TACT_NETWORK_KEY_BYTES],
        back[TACT_NETWORK_KEY_BYTES];
    struct tact_error err;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/key", folder);
    assert_int_equal(tact_network_make_key_pair(secret_key_of_peer, key, NULL), 0);
    tact_network_format_key_text(TACT_NETWORK_SECRET_KEY, secret_key_of_peer, text);
    write_file(path, text, 0600);
    assert_int_equal(tact_network_read_key_file(path, TACT_NETWORK_SECRET_KEY, back, NULL), 0);
    assert_memory_equal(secret_key_of_peer, back, sizeof secret_key_of_peer);
    assert_int_equal(tact_network_read_key_file(path, TACT_NETWORK_PUBLIC_KEY, back, &err),
                     -EINVAL);
    assert_non_null(strstr(err.text, "is a secret key"));
    static const mode_t open_modes[] = {0640, 0604, 0620, 0602, 0610, 0601};
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        write_file(path, text, open_modes[i]);
        assert_int_equal(tact_network_read_key_file(path, TACT_NETWORK_SECRET_KEY, back, &err),
                         -EACCES);
        assert_non_null(strstr(err.text, "chmod 600"));
    }
    if (!geteuid()) {
        write_file(path, text, 0600);
        assert_int_equal(chown(path, 1234, 0), 0);
        assert_int_equal(tact_network_read_key_file(path, TACT_NETWORK_SECRET_KEY, back, NULL),
                         -EACCES);
    }
    snprintf(long_text, sizeof long_text, "%.*s%.*s\n", (int)strlen(text) - 1, text, 200,
             "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    const char *const bad[] = {"",
                               "tact-secret-key-1",
                               "tact-secret-key-1 \n",
                               "tact-secret-key-2 AAAA\n",
                               "tact-secret-key-1 AAAA\n",
                               long_text};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(path, bad[i], 0600);
        assert_int_equal(tact_network_read_key_file(path, TACT_NETWORK_SECRET_KEY, back, &err),
                         -EINVAL);
        assert_string_equal(err.file, path);
    }
    /* replaces a character by one that base64 does not have, or a word by another */
    for (size_t i = 0; i < 18; i++) {
        write_file(path, text, 0600);
        char copy_with_changed_byte[TACT_NETWORK_KEY_TEXT];
        memcpy(copy_with_changed_byte, text, sizeof copy_with_changed_byte);
        copy_with_changed_byte[i < 9 ? i : 10 + i] = '*';
        write_file(path, copy_with_changed_byte, 0600);
        assert_int_equal(tact_network_read_key_file(path, TACT_NETWORK_SECRET_KEY, back, NULL),
                         -EINVAL);
    }
    unlink(path);
    assert_int_equal(tact_network_read_key_file(path, TACT_NETWORK_SECRET_KEY, back, NULL),
                     -ENOENT);
    assert_int_equal(tact_network_read_key_file(folder, TACT_NETWORK_SECRET_KEY, back, NULL),
                     -EISDIR);
    assert_int_equal(tact_network_read_key_file("/dev/null", TACT_NETWORK_PUBLIC_KEY, back, NULL),
                     -EINVAL);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_of_a_handshake_derive_the_same_keys),
        cmocka_unit_test(handshake_has_the_stated_format),
        cmocka_unit_test(each_handshake_has_its_own_key),
        cmocka_unit_test(handshake_refuses_every_flipped_bit),
        cmocka_unit_test(replay_window_accepts_each_packet_once),
        cmocka_unit_test(handshake_refuses_unknown_peers),
        cmocka_unit_test(network_key_files_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
