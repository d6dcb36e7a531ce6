/*
 * Little-endian bytes: a growing output buffer, a bounded input cursor, UTF-8 and CRC-32.
 *
 * A buffer that could not grow sets `failed` and ignores later writes; a cursor read beyond its end
 * sets `bad` and returns zeros. Both are checked once, at the end.
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
    bool failed; /* out of memory: the contents are invalid */
};

/* Ensures capacity for `size` more bytes and returns their address, or NULL. Does not change size.
 */
uint8_t *tact_bytes_reserve(struct tact_bytes *bytes, size_t size);
void tact_bytes_free(struct tact_bytes *bytes);

void tact_bytes_append(struct tact_bytes *out, const void *data, size_t size);
void tact_bytes_append_u8(struct tact_bytes *out, uint8_t value);
void tact_bytes_append_u16(struct tact_bytes *out, uint16_t value);
void tact_bytes_append_u32(struct tact_bytes *out, uint32_t value);
void tact_bytes_append_u64(struct tact_bytes *out, uint64_t value);
/* Appends a 32-bit length and the characters, as in MCAP (no terminating zero). */
void tact_bytes_append_text(struct tact_bytes *out, const char *text);
/* Overwrites a number that was written before. */
void tact_bytes_overwrite_u32(struct tact_bytes *out, size_t at, uint32_t value);
void tact_bytes_overwrite_u64(struct tact_bytes *out, size_t at, uint64_t value);

struct tact_byte_cursor {
    const uint8_t *at;
    size_t left;
    bool bad; /* 1: a read went beyond the end of the buffer */
};

/* Characters inside a buffer; not zero-terminated. */
struct tact_byte_span {
    const uint8_t *data;
    size_t size;
};

struct tact_byte_span tact_byte_cursor_read_bytes(struct tact_byte_cursor *in, uint64_t size);
uint8_t tact_byte_cursor_read_u8(struct tact_byte_cursor *in);
uint16_t tact_byte_cursor_read_u16(struct tact_byte_cursor *in);
uint32_t tact_byte_cursor_read_u32(struct tact_byte_cursor *in);
uint64_t tact_byte_cursor_read_u64(struct tact_byte_cursor *in);
/* Reads a 32-bit length and that many bytes. */
struct tact_byte_span tact_byte_cursor_read_text(struct tact_byte_cursor *in);

bool tact_byte_span_equals_text(struct tact_byte_span span, const char *text);
/* A zero-terminated copy of a span, or NULL if out of memory or the span contains a zero. */
char *tact_byte_span_copy_to_text(struct tact_byte_span span);

/* Text in a log is UTF-8: other tools refuse an invalid message. tact_utf8_repair() replaces each
 * invalid byte by '?' and returns their number. */
bool tact_utf8_valid(const char *text);
size_t tact_utf8_repair(char *text);

/* CRC-32 of zlib and Ethernet (reflected polynomial 0xEDB88320), incremental: start with crc = 0;
 * crc(b, crc(a, 0)) is the checksum of a followed by b. */
uint32_t tact_crc32(uint32_t crc, const void *data, size_t size);

#endif
