#include "cdr_internal.h"

#include <string.h>

#define NS_PER_S 1000000000

static const uint8_t cdr_encapsulation_header[4] = {0, 1, 0, 0};

static void pad_cdr_to_alignment(struct tact_cdr_writer *cdr, size_t size)
{
    static const uint8_t cdr_padding_zeros[8];

    if (!cdr->out->failed) {
        tact_bytes_append(cdr->out, cdr_padding_zeros,
                          (size - (cdr->out->size - cdr->origin) % size) % size);
    }
}

struct tact_cdr_writer tact_cdr_begin_message(struct tact_bytes *out)
{
    tact_bytes_append(out, cdr_encapsulation_header, sizeof cdr_encapsulation_header);
    return (struct tact_cdr_writer){out, out->size};
}

void tact_cdr_put_u8(struct tact_cdr_writer *cdr, uint8_t value)
{
    tact_bytes_append_u8(cdr->out, value);
}

void tact_cdr_put_f32(struct tact_cdr_writer *cdr, float value)
{
    pad_cdr_to_alignment(cdr, 4);
    tact_bytes_append(cdr->out, &value, sizeof value);
}

void tact_cdr_put_u32(struct tact_cdr_writer *cdr, uint32_t value)
{
    pad_cdr_to_alignment(cdr, 4);
    tact_bytes_append_u32(cdr->out, value);
}

void tact_cdr_put_u64(struct tact_cdr_writer *cdr, uint64_t value)
{
    pad_cdr_to_alignment(cdr, 8);
    tact_bytes_append_u64(cdr->out, value);
}

void tact_cdr_put_f64(struct tact_cdr_writer *cdr, double value)
{
    pad_cdr_to_alignment(cdr, 8);
    tact_bytes_append(cdr->out, &value, sizeof value);
}

void tact_cdr_put_f64_array(struct tact_cdr_writer *cdr, const double *values, size_t count)
{
    if (count == 0) {
        return;
    }
    pad_cdr_to_alignment(cdr, 8);
    tact_bytes_append(cdr->out, values, count * sizeof *values);
}

void tact_cdr_put_string(struct tact_cdr_writer *cdr, const char *text)
{
    size_t size = text ? strlen(text) : 0;

    tact_cdr_put_u32(cdr, (uint32_t)size + 1);
    tact_bytes_append(cdr->out, text, size);
    tact_bytes_append_u8(cdr->out, 0);
}

void tact_cdr_put_time(struct tact_cdr_writer *cdr, int64_t ns)
{
    int64_t seconds = ns / NS_PER_S - (ns % NS_PER_S < 0);

    tact_cdr_put_u32(cdr, (uint32_t)seconds);
    tact_cdr_put_u32(cdr, (uint32_t)(ns - seconds * NS_PER_S));
}

struct tact_cdr_reader tact_cdr_open_message(const void *data, size_t size)
{
    struct tact_cdr_reader cdr = {.in = {data, size, false}};
    struct tact_byte_span head =
        tact_byte_cursor_read_bytes(&cdr.in, sizeof cdr_encapsulation_header);

    /* The last two bytes are options, which plain CDR ignores. */
    if (head.size != sizeof cdr_encapsulation_header ||
        memcmp(head.data, cdr_encapsulation_header, 2) != 0) {
        cdr.in.bad = true;
    }
    cdr.origin = cdr.in.at;
    return cdr;
}

static void skip_alignment_padding(struct tact_cdr_reader *cdr, size_t size)
{
    size_t at = (size_t)(cdr->in.at - cdr->origin);
    tact_byte_cursor_read_bytes(&cdr->in, (size - at % size) % size);
}

uint32_t tact_cdr_get_u32(struct tact_cdr_reader *cdr)
{
    skip_alignment_padding(cdr, 4);
    return tact_byte_cursor_read_u32(&cdr->in);
}

uint64_t tact_cdr_get_u64(struct tact_cdr_reader *cdr)
{
    skip_alignment_padding(cdr, 8);
    return tact_byte_cursor_read_u64(&cdr->in);
}

int64_t tact_cdr_get_time(struct tact_cdr_reader *cdr)
{
    int32_t seconds = (int32_t)tact_cdr_get_u32(cdr);
    return (int64_t)seconds * NS_PER_S + tact_cdr_get_u32(cdr);
}

struct tact_byte_span tact_cdr_get_f64_array(struct tact_cdr_reader *cdr, size_t count)
{
    skip_alignment_padding(cdr, 8);
    return tact_byte_cursor_read_bytes(&cdr->in, count * sizeof(double));
}

struct tact_byte_span tact_cdr_get_string(struct tact_cdr_reader *cdr)
{
    struct tact_byte_span span = tact_byte_cursor_read_bytes(&cdr->in, tact_cdr_get_u32(cdr));

    if (span.size == 0 || span.data[span.size - 1] != 0) {
        cdr->in.bad = true;
    } else {
        span.size--;
    }
    return span;
}
