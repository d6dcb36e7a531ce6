#include "bytes_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the log's encoders copy numbers as in memory: little-endian processors only"
#endif

uint8_t *tact_bytes_reserve(struct tact_bytes *bytes, size_t size)
{
    if (bytes->failed) {
        return NULL;
    }
    if (!bytes->data || size > bytes->capacity - bytes->size) {
        size_t capacity = bytes->capacity ? bytes->capacity : 4096;
        while (capacity - bytes->size < size && capacity <= SIZE_MAX / 2) {
            capacity *= 2;
        }
        uint8_t *data = capacity - bytes->size < size ? NULL : realloc(bytes->data, capacity);
        if (!data) {
            bytes->failed = true;
            return NULL;
        }
        bytes->data = data;
        bytes->capacity = capacity;
    }
    return bytes->data + bytes->size;
}

void tact_bytes_free(struct tact_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct tact_bytes){0};
}

void tact_bytes_append(struct tact_bytes *out, const void *data, size_t size)
{
    uint8_t *to = tact_bytes_reserve(out, size);

    if (!to || size == 0) {
        return;
    }
    memcpy(to, data, size);
    out->size += size;
}

void tact_bytes_append_u8(struct tact_bytes *out, uint8_t value)
{
    tact_bytes_append(out, &value, sizeof value);
}

void tact_bytes_append_u16(struct tact_bytes *out, uint16_t value)
{
    tact_bytes_append(out, &value, sizeof value);
}

void tact_bytes_append_u32(struct tact_bytes *out, uint32_t value)
{
    tact_bytes_append(out, &value, sizeof value);
}

void tact_bytes_append_u64(struct tact_bytes *out, uint64_t value)
{
    tact_bytes_append(out, &value, sizeof value);
}

void tact_bytes_append_text(struct tact_bytes *out, const char *text)
{
    size_t size = text ? strlen(text) : 0;

    if (size > UINT32_MAX) {
        size = UINT32_MAX;
    }
    tact_bytes_append_u32(out, (uint32_t)size);
    tact_bytes_append(out, text, size);
}

void tact_bytes_overwrite_u32(struct tact_bytes *out, size_t at, uint32_t value)
{
    if (!out->failed) {
        memcpy(out->data + at, &value, sizeof value);
    }
}

void tact_bytes_overwrite_u64(struct tact_bytes *out, size_t at, uint64_t value)
{
    if (!out->failed) {
        memcpy(out->data + at, &value, sizeof value);
    }
}

struct tact_byte_span tact_byte_cursor_read_bytes(struct tact_byte_cursor *in, uint64_t size)
{
    struct tact_byte_span span = {in->at, 0};

    if (in->bad || size > in->left) {
        in->bad = true;
        return span;
    }
    span.size = (size_t)size;
    in->at += span.size;
    in->left -= span.size;
    return span;
}

static void read_little_endian(struct tact_byte_cursor *in, void *out, size_t size)
{
    struct tact_byte_span span = tact_byte_cursor_read_bytes(in, size);

    memset(out, 0, size);
    if (span.size == size) {
        memcpy(out, span.data, size);
    }
}

uint8_t tact_byte_cursor_read_u8(struct tact_byte_cursor *in)
{
    uint8_t value;
    read_little_endian(in, &value, sizeof value);
    return value;
}

uint16_t tact_byte_cursor_read_u16(struct tact_byte_cursor *in)
{
    uint16_t value;
    read_little_endian(in, &value, sizeof value);
    return value;
}

uint32_t tact_byte_cursor_read_u32(struct tact_byte_cursor *in)
{
    uint32_t value;
    read_little_endian(in, &value, sizeof value);
    return value;
}

uint64_t tact_byte_cursor_read_u64(struct tact_byte_cursor *in)
{
    uint64_t value;
    read_little_endian(in, &value, sizeof value);
    return value;
}

struct tact_byte_span tact_byte_cursor_read_text(struct tact_byte_cursor *in)
{
    return tact_byte_cursor_read_bytes(in, tact_byte_cursor_read_u32(in));
}

bool tact_byte_span_equals_text(struct tact_byte_span span, const char *text)
{
    size_t size = strlen(text);
    return span.size == size && (size == 0 || memcmp(span.data, text, size) == 0);
}

char *tact_byte_span_copy_to_text(struct tact_byte_span span)
{
    if (span.size > 0 && memchr(span.data, 0, span.size)) {
        return NULL;
    }
    char *text = malloc(span.size + 1);
    if (!text) {
        return NULL;
    }
    if (span.size > 0) {
        memcpy(text, span.data, span.size);
    }
    text[span.size] = '\0';
    return text;
}

/* Length of the well-formed UTF-8 sequence that starts at `at` (Unicode 15, table 3-7), or 0. */
static size_t get_utf8_sequence_length(const uint8_t *at)
{
    uint8_t low = 0x80, high = 0xBF;
    size_t length;

    if (at[0] < 0x80) {
        return 1;
    }
    if (at[0] >= 0xC2 && at[0] <= 0xDF) {
        length = 2;
    } else if (at[0] >= 0xE0 && at[0] <= 0xEF) {
        length = 3;
    } else if (at[0] >= 0xF0 && at[0] <= 0xF4) {
        length = 4;
    } else {
        return 0;
    }
    if (at[0] == 0xE0) {
        low = 0xA0;
    } else if (at[0] == 0xED) {
        high = 0x9F;
    } else if (at[0] == 0xF0) {
        low = 0x90;
    } else if (at[0] == 0xF4) {
        high = 0x8F;
    }
    if (at[1] < low || at[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if (at[i] < 0x80 || at[i] > 0xBF) {
            return 0;
        }
    }
    return length;
}

size_t tact_utf8_repair(char *text)
{
    size_t replaced_invalid_byte_count = 0;

    for (uint8_t *at = (uint8_t *)text; *at;) {
        size_t length = get_utf8_sequence_length(at);
        if (length == 0) {
            *at = '?';
            length = 1;
            replaced_invalid_byte_count++;
        }
        at += length;
    }
    return replaced_invalid_byte_count;
}

bool tact_utf8_valid(const char *text)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t length = 1;

    for (; *at && length > 0; at += length) {
        length = get_utf8_sequence_length(at);
    }
    return length > 0;
}

uint32_t tact_crc32(uint32_t crc, const void *data, size_t size)
{
    /* zlib would take NULL as the start of a new checksum */
    return size ? (uint32_t)crc32_z(crc, data, size) : crc;
}
