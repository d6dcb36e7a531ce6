/**
 * Little-endian bytes: a growing buffer to write to, a bounded cursor to read from, and CRC-32.
 *
 * A buffer that could not grow sets `failed` and ignores the rest; a cursor that would run past its
 * end sets `bad` and gives zeros. Both are checked once, at the end.
 */
#ifndef TACT_RT_LOG_BYTES_INTERNAL_H
#define TACT_RT_LOG_BYTES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tact_bytes {
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool failed; /* out of memory: the contents are not to be used */
};

/** Makes room for `size` more bytes and returns where they go, or NULL. Does not change size. */
uint8_t *tact_bytes_room(struct tact_bytes *bytes, size_t size);
void tact_bytes_free(struct tact_bytes *bytes);

void tact_put(struct tact_bytes *out, const void *data, size_t size);
void tact_put_u8(struct tact_bytes *out, uint8_t value);
void tact_put_u16(struct tact_bytes *out, uint16_t value);
void tact_put_u32(struct tact_bytes *out, uint32_t value);
void tact_put_u64(struct tact_bytes *out, uint64_t value);
/** A 32-bit length and the characters, as MCAP has them (no zero at the end). */
void tact_put_text(struct tact_bytes *out, const char *text);
/** Overwrites bytes that were put before. */
void tact_set_u32(struct tact_bytes *out, size_t at, uint32_t value);
void tact_set_u64(struct tact_bytes *out, size_t at, uint64_t value);

struct tact_cursor {
    const uint8_t *at;
    size_t left;
    bool bad; /* something was read beyond the end */
};

/** Some characters inside a buffer; not zero-terminated. */
struct tact_span {
    const uint8_t *data;
    size_t size;
};

struct tact_span tact_get(struct tact_cursor *in, uint64_t size);
uint8_t tact_get_u8(struct tact_cursor *in);
uint16_t tact_get_u16(struct tact_cursor *in);
uint32_t tact_get_u32(struct tact_cursor *in);
uint64_t tact_get_u64(struct tact_cursor *in);
/** A 32-bit length and that many bytes. */
struct tact_span tact_get_text(struct tact_cursor *in);

bool tact_span_is(struct tact_span span, const char *text);
/** A zero-terminated copy, or NULL where memory is short or the text holds a zero itself. */
char *tact_span_copy(struct tact_span span);

/** Text in a log is UTF-8: other tools refuse a message that is not. Repairing replaces each byte
 * that is out of place by '?' and returns how many there were. */
bool tact_utf8_valid(const char *text);
size_t tact_utf8_repair(char *text);

/** CRC-32 of zlib and Ethernet (reflected polynomial 0xEDB88320). Starts with crc = 0 and goes on
 *  with the last result: crc(b, crc(a, 0)) is that of a followed by b. */
uint32_t tact_crc32(uint32_t crc, const void *data, size_t size);

#endif
