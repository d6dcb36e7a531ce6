/* Encrypted packets of a session, and the window that refuses replayed ones. */
#include "devices/network/packet_internal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

enum { COUNTER_AT = 16 };

static const unsigned char datagram_protocol_signature[4] = {'T', 'A', 'C', 'T'};

void tact_network_write_datagram_start(unsigned char *datagram, enum tact_network_packet_kind kind)
{
    memset(datagram, 0, TACT_NETWORK_START_BYTES);
    memcpy(datagram, datagram_protocol_signature, sizeof datagram_protocol_signature);
    datagram[4] = TACT_NETWORK_PACKET_FORMAT_VERSION;
    datagram[5] = (unsigned char)kind;
}

int tact_network_read_datagram_start(const unsigned char *datagram, size_t size)
{
    if (size < TACT_NETWORK_START_BYTES ||
        memcmp(datagram, datagram_protocol_signature, sizeof datagram_protocol_signature) != 0 ||
        datagram[5] < TACT_NETWORK_HELLO || datagram[5] > TACT_NETWORK_DATA || datagram[6] ||
        datagram[7]) {
        return -EPROTO;
    }
    if (datagram[4] != TACT_NETWORK_PACKET_FORMAT_VERSION) {
        return -EPROTONOSUPPORT;
    }
    return datagram[5];
}

void tact_network_write_u64(unsigned char out[8], uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        out[i] = (unsigned char)(value >> (8 * i));
    }
}

uint64_t tact_network_read_u64(const unsigned char in[8])
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) {
        value |= (uint64_t)in[i] << (8 * i);
    }
    return value;
}

/* The nonce is the packet's counter alone, as each direction has a key of its own. */
static void
make_packet_nonce(unsigned char packet_nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES],
                  uint64_t packet_counter)
{
    memset(packet_nonce, 0, crypto_aead_chacha20poly1305_IETF_NPUBBYTES);
    tact_network_write_u64(packet_nonce + 4, packet_counter);
}

ssize_t tact_network_encrypt_packet(struct tact_network_session *session, const void *payload,
                                    size_t size, unsigned char *datagram)
{
    unsigned char packet_nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];
    if (size > TACT_NETWORK_PAYLOAD) {
        return -EMSGSIZE;
    }
    if (session->next_sent_counter == UINT64_MAX) {
        return -EOVERFLOW;
    }
    tact_network_write_datagram_start(datagram, TACT_NETWORK_DATA);
    memcpy(datagram + TACT_NETWORK_START_BYTES, session->name, sizeof session->name);
    tact_network_write_u64(datagram + COUNTER_AT, session->next_sent_counter);
    make_packet_nonce(packet_nonce, session->next_sent_counter);
    session->next_sent_counter++;
    crypto_aead_chacha20poly1305_ietf_encrypt(datagram + TACT_NETWORK_HEADER_BYTES, NULL, payload,
                                              size, datagram, TACT_NETWORK_HEADER_BYTES, NULL,
                                              packet_nonce, session->key_of_sent_packets);
    return (ssize_t)(TACT_NETWORK_HEADER_BYTES + size + TACT_NETWORK_TAG_BYTES);
}

static int was_packet_counter_received(const struct tact_network_session *session,
                                       uint64_t packet_counter)
{
    if (!session->has_received_packet || packet_counter > session->highest_received_counter) {
        return 0;
    }
    const uint64_t bit = packet_counter % TACT_NETWORK_REPLAY_WINDOW;
    return session->highest_received_counter - packet_counter >= TACT_NETWORK_REPLAY_WINDOW ||
           (session->received_counter_bits[bit / 64] >> (bit % 64) & 1);
}

static void mark_packet_counter_as_received(struct tact_network_session *session,
                                            uint64_t packet_counter)
{
    if (!session->has_received_packet || packet_counter > session->highest_received_counter) {
        /* Clears the bits of the counters that were skipped: they still belong to older counters.
         */
        uint64_t skipped_packet_counter_count =
            session->has_received_packet ? packet_counter - session->highest_received_counter : 0;
        skipped_packet_counter_count = skipped_packet_counter_count < TACT_NETWORK_REPLAY_WINDOW
                                           ? skipped_packet_counter_count
                                           : TACT_NETWORK_REPLAY_WINDOW;
        for (uint64_t i = 0; i < skipped_packet_counter_count; i++) {
            const uint64_t bit = (packet_counter - i) % TACT_NETWORK_REPLAY_WINDOW;
            session->received_counter_bits[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
        }
        session->highest_received_counter = packet_counter;
        session->has_received_packet = 1;
    }
    const uint64_t bit = packet_counter % TACT_NETWORK_REPLAY_WINDOW;
    session->received_counter_bits[bit / 64] |= UINT64_C(1) << (bit % 64);
}

ssize_t tact_network_decrypt_packet(struct tact_network_session *session,
                                    const unsigned char *datagram, size_t size, void *payload)
{
    unsigned char packet_nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES];
    if (size < TACT_NETWORK_HEADER_BYTES + TACT_NETWORK_TAG_BYTES ||
        size > TACT_NETWORK_MAX_DATAGRAM_BYTES) {
        return -EPROTO;
    }
    if (memcmp(datagram + TACT_NETWORK_START_BYTES, session->name, sizeof session->name) != 0) {
        return -ENOENT;
    }
    const uint64_t packet_counter = tact_network_read_u64(datagram + COUNTER_AT);
    if (was_packet_counter_received(session, packet_counter)) {
        return -EALREADY;
    }
    make_packet_nonce(packet_nonce, packet_counter);
    if (crypto_aead_chacha20poly1305_ietf_decrypt(
            payload, NULL, NULL, datagram + TACT_NETWORK_HEADER_BYTES,
            size - TACT_NETWORK_HEADER_BYTES, datagram, TACT_NETWORK_HEADER_BYTES, packet_nonce,
            session->key_of_received_packets) != 0) {
        return -EBADMSG;
    }
    mark_packet_counter_as_received(session, packet_counter);
    return (ssize_t)(size - TACT_NETWORK_HEADER_BYTES - TACT_NETWORK_TAG_BYTES);
}

unsigned char *tact_network_write_doubles(unsigned char *out, const double *value, int count)
{
    for (int i = 0; i < count; i++, out += 8) {
        uint64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        tact_network_write_u64(out, bits);
    }
    return out;
}

const unsigned char *tact_network_read_doubles(const unsigned char *in, double *value, int count)
{
    for (int i = 0; i < count; i++, in += 8) {
        const uint64_t bits = tact_network_read_u64(in);
        memcpy(&value[i], &bits, sizeof bits);
    }
    return in;
}
