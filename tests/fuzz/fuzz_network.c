/*
 * Fuzz target: what a link reads. Bytes as datagrams of a stranger (hello, answer, packet) are
 * refused and change nothing; bytes that change the payloads of an end whose key is right, as of a
 * peer that lies, leave the channel with finite numbers within its bounds.
 *
 * Built for libFuzzer where the compiler is clang (target fuzz_network);
 * tests/unit/test_fuzz_network.c calls it with random bytes from a seed.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/network/channel_internal.h"
#include "devices/network/handshake_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tact_network_identity listener, caller;
static struct tact_network_sent_hello sent_hello;
static struct tact_network_session caller_session, listener_session;

static void abort_unless(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void make_network_sessions(void)
{
    static int initialisation_count;
    unsigned char answer[TACT_NETWORK_ANSWER_BYTES];
    if (initialisation_count++) {
        return;
    }
    abort_unless(!tact_network_identity_of_loopback(0, &listener, NULL) &&
                     !tact_network_identity_of_loopback(1, &caller, NULL),
                 "no identities");
    tact_network_make_hello(&caller, &sent_hello);
    abort_unless(
        !tact_network_check_hello(&listener, sent_hello.hello, sizeof sent_hello.hello) &&
            !tact_network_answer_hello(&listener, sent_hello.hello, &listener_session, answer) &&
            !tact_network_finish_handshake(&caller, &sent_hello, answer, sizeof answer,
                                           &caller_session),
        "no handshake");
}

static void receive_from_unknown_sender(const uint8_t *data, size_t size)
{
    unsigned char datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES] = {0},
                  payload[TACT_NETWORK_MAX_DATAGRAM_BYTES];
    struct tact_network_session before = listener_session, session;
    const size_t length = size < sizeof datagram ? size : sizeof datagram;
    const int kind = 1 + data[0] / 2 % 3;
    memcpy(datagram, data, length);
    if (data[0] % 2) { /* the datagram gets a valid head */
        tact_network_write_datagram_start(datagram, (enum tact_network_packet_kind)kind);
        memcpy(datagram + TACT_NETWORK_START_BYTES, listener_session.name,
               sizeof listener_session.name);
    }
    tact_network_read_datagram_start(datagram, length);
    abort_unless(tact_network_check_hello(&listener, datagram, length) < 0, "a stranger's hello");
    abort_unless(tact_network_decrypt_packet(&listener_session, datagram, length, payload) < 0,
                 "a stranger's packet");
    if (data[0] >=
        0xf0) { /* tests the answer for some inputs only, as one of the right size takes 0.2 ms */
        abort_unless(
            tact_network_finish_handshake(&caller, &sent_hello, datagram, length, &session) < 0,
            "a stranger's answer");
    }
    abort_unless(!memcmp(&before, &listener_session, sizeof before),
                 "a refused packet had an effect");
}

static int are_sample_values_bounded(const struct tact_network_sample *sample, int axes)
{
    int good = 1;
    for (int i = 0; i < axes; i++) {
        good &= fabs(sample->wave[i]) <= 1e6 && fabs(sample->position[i]) <= 1e6 &&
                fabs(sample->force[i]) <= 1e6;
    }
    return good;
}

/* Sends one packet, of which four bytes say what is changed, and runs up to three ticks. */
static void send_changed_packet(struct tact_network_channel *sender,
                                struct tact_network_channel *receiver, const uint8_t change[4],
                                int64_t now_ns)
{
    unsigned char payload[TACT_NETWORK_PAYLOAD], datagram[TACT_NETWORK_MAX_DATAGRAM_BYTES],
        opened[TACT_NETWORK_MAX_DATAGRAM_BYTES];
    struct tact_network_sample sample = {.wave = {(double)change[1]}, .flags = change[2]};
    const ssize_t length = tact_network_channel_send(sender, &sample, now_ns, payload);
    abort_unless(length > 0, "nothing to send");
    const size_t at = (size_t)change[0] * 4 % (size_t)length;
    payload[at] ^= change[1];
    payload[(at + 7) % (size_t)length] ^= change[2];
    const size_t cut = change[3] >= 0xf0 ? change[3] & 0xf : 0;
    const ssize_t n =
        tact_network_encrypt_packet(&caller_session, payload, (size_t)length - cut, datagram);
    abort_unless(n > 0 && tact_network_decrypt_packet(&listener_session, datagram, (size_t)n,
                                                      opened) == length - (ssize_t)cut,
                 "a packet of the right key");
    tact_network_channel_receive(receiver, opened, (size_t)length - cut, now_ns);
    for (int i = change[3] % 4; i > 0; i--) {
        tact_network_channel_get_sample_of_tick(receiver, &sample);
        abort_unless(are_sample_values_bounded(&sample, receiver->options.axes),
                     "a number beyond its bounds");
        abort_unless(isfinite(tact_network_channel_energy(receiver)) &&
                         isfinite(tact_network_channel_round_trip(receiver)),
                     "an account that is not finite");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tact_network_channel sender, receiver;
    make_network_sessions();
    if (size < 4) {
        return 0;
    }
    receive_from_unknown_sender(data, size);
    const struct tact_network_channel_options options = {
        .axes = 1 + data[1] % 6, .repeats = data[2] % 21, .jitter = data[3] % 40, .period = 1e-3};
    abort_unless(!tact_network_channel_init(&sender, &options) &&
                     !tact_network_channel_init(&receiver, &options),
                 "no channel");
    for (size_t at = 4; at + 4 <= size; at += 4) {
        send_changed_packet(&sender, &receiver, data + at, (int64_t)at * 250000);
    }
    return 0;
}
