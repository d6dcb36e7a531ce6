/*
 * ROS 2 messages on the wire: plain CDR (XCDR version 1), little-endian.
 *
 * Four bytes of encapsulation (00 01 00 00), then every number aligned to its own size counted from
 * after them; a string is a 32-bit length, zero included, and its characters; a sequence is a
 * 32-bit count and its elements. OMG DDSI-RTPS 2.5, section 10; DDS-XTypes 1.3, section 7.4.
 */
#ifndef TACT_RT_LOG_CDR_INTERNAL_H
#define TACT_RT_LOG_CDR_INTERNAL_H

#include "bytes_internal.h"

struct tact_cdr_writer {
    struct tact_bytes *out;
    size_t origin; /* position from which alignment is counted */
};

/* Starts a message at the end of out. */
struct tact_cdr_writer tact_cdr_begin_message(struct tact_bytes *out);
void tact_cdr_put_u8(struct tact_cdr_writer *cdr, uint8_t value);
void tact_cdr_put_f32(struct tact_cdr_writer *cdr, float value);
void tact_cdr_put_u32(struct tact_cdr_writer *cdr, uint32_t value);
void tact_cdr_put_u64(struct tact_cdr_writer *cdr, uint64_t value);
void tact_cdr_put_f64(struct tact_cdr_writer *cdr, double value);
/* Writes `count` doubles of an array (no count is written). */
void tact_cdr_put_f64_array(struct tact_cdr_writer *cdr, const double *values, size_t count);
void tact_cdr_put_string(struct tact_cdr_writer *cdr, const char *text);
/* Writes a builtin_interfaces/Time: seconds rounded toward minus infinity, and nanoseconds. The
 * range is 32 bits of seconds: +-68 years. */
void tact_cdr_put_time(struct tact_cdr_writer *cdr, int64_t ns);

/* Reads what the functions above write. */
struct tact_cdr_reader {
    struct tact_byte_cursor in;
    const uint8_t *origin;
};

/* Starts reading a CDR message; sets `bad` if the encapsulation is not plain little-endian CDR. */
struct tact_cdr_reader tact_cdr_open_message(const void *data, size_t size);
uint32_t tact_cdr_get_u32(struct tact_cdr_reader *cdr);
uint64_t tact_cdr_get_u64(struct tact_cdr_reader *cdr);
int64_t tact_cdr_get_time(struct tact_cdr_reader *cdr);
/* Returns the address of `count` doubles, little-endian, possibly unaligned. */
struct tact_byte_span tact_cdr_get_f64_array(struct tact_cdr_reader *cdr, size_t count);
/* Reads the characters of a string without the terminating zero; sets `bad` if there is none. */
struct tact_byte_span tact_cdr_get_string(struct tact_cdr_reader *cdr);

#endif
