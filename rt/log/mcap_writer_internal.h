/*
 * Writing an MCAP file: messages are collected in a chunk, which is written with one write().
 *
 * One thread uses a writer. The first error (disk full, out of memory) is permanent: the file is
 * truncated to its last whole record, and every later call returns that error without touching the
 * file.
 */
#ifndef TACT_RT_LOG_MCAP_WRITER_INTERNAL_H
#define TACT_RT_LOG_MCAP_WRITER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include "bytes_internal.h"
#include "mcap_internal.h"

struct tact_mcap_writer;

/* Writes the header to fd, an empty file open for writing, and takes ownership of it. zstd_level 0
 * stores chunks uncompressed. @retval 0, -ENOMEM or the errno of write(); fd is closed on failure.
 */
int tact_mcap_writer_open(int fd, const char *profile, const char *library, int zstd_level,
                          struct tact_mcap_writer **out);

/* The record of the file's header, which follows the magic bytes. */
void tact_mcap_put_header(struct tact_bytes *out, const char *profile, const char *library);

/* An unfinished file that a writer is to continue. */
struct tact_mcap_unfinished_file {
    int fd;         /* open for reading and writing; owned by the writer from then on */
    uint64_t end;   /* offset at which the usable part ends: after a whole record */
    int zstd_level; /* zstd level of the new chunks */
    /* schema and channel records, for a file in which no chunk has them yet */
    struct tact_byte_span schema_and_channel_records;
    struct tact_byte_span header; /* expected header record, if known; else empty */
    /* damaged ranges between whole records, in ascending order */
    const struct tact_mcap_byte_range *damaged;
    size_t damaged_count;
};

/* Creates a writer that continues an unfinished file. Reads it up to `end` and does not change it:
 * tact_mcap_writer_repair_file() truncates what follows `end`, adds a missing index of the last
 * chunk and covers damage. @retval 0; -EBADMSG: a record is out of place, or a range is too short
 * to be covered; -ENOMEM or an errno of reading; fd is closed on failure */
int tact_mcap_writer_reopen(const struct tact_mcap_unfinished_file *from,
                            struct tact_mcap_writer **out);

/* Truncates the file to its usable part, rewrites damaged or missing chunk indexes, and covers all
 * other damage with private records. */
int tact_mcap_writer_repair_file(struct tact_mcap_writer *writer);

/* Number of bytes of damage that are, or will be, covered. */
uint64_t tact_mcap_writer_damage_cover_bytes(const struct tact_mcap_writer *writer);

/* Skips the sequence numbers of lost messages of a channel. */
void tact_mcap_writer_skip_sequence(struct tact_mcap_writer *writer, int channel, uint32_t count);

/* Number of channels. */
int tact_mcap_writer_channel_count(const struct tact_mcap_writer *writer);

/* Adds a ros2msg schema, and a channel of CDR messages on it. Returns the id, or a negative errno.
 */
int tact_mcap_writer_add_schema(struct tact_mcap_writer *writer, const char *name, const void *text,
                                size_t size);
int tact_mcap_writer_add_channel(struct tact_mcap_writer *writer, int schema, const char *topic);

/* Writes an attachment at once. time_ns: wall clock. */
int tact_mcap_writer_add_attachment(struct tact_mcap_writer *writer, uint64_t time_ns,
                                    const char *name, const char *media_type, const void *data,
                                    size_t size);

/* Writes a metadata record at once: a map of key, value, key, ... written with
 * tact_bytes_append_text(). */
int tact_mcap_writer_add_metadata(struct tact_mcap_writer *writer, const char *name,
                                  const struct tact_bytes *map);

/* Starts a message in the chunk; the caller appends its data to the returned buffer (never NULL)
 * and calls tact_mcap_writer_end_message(). time_ns: log and publish time, wall clock. */
struct tact_bytes *tact_mcap_writer_begin_message(struct tact_mcap_writer *writer, int channel,
                                                  uint64_t time_ns);
void tact_mcap_writer_end_message(struct tact_mcap_writer *writer);

/* Size of the file so far: the offset of the next chunk. */
uint64_t tact_mcap_writer_file_offset(const struct tact_mcap_writer *writer);

/* Checksum of all bytes in the file. */
uint32_t tact_mcap_writer_crc(const struct tact_mcap_writer *writer);

/* Schema and channel records as in the first chunk; valid before its first message. */
struct tact_byte_span
tact_mcap_writer_schema_and_channel_records(const struct tact_mcap_writer *writer);

/* Number of bytes of messages in the open chunk. */
size_t tact_mcap_writer_open_chunk_bytes(const struct tact_mcap_writer *writer);

/* Writes the chunk and its index, if not empty. */
int tact_mcap_writer_flush(struct tact_mcap_writer *writer);

/* Forces the written data to disk with fdatasync(). */
int tact_mcap_writer_sync(struct tact_mcap_writer *writer);

/* Flushes, writes the summary, syncs, closes and frees. *bytes (may be NULL): size of the file.
 * Returns the first error of the writer. */
int tact_mcap_writer_close(struct tact_mcap_writer *writer, uint64_t *bytes);

/* Closes and frees without writing the open chunk. */
void tact_mcap_writer_abandon(struct tact_mcap_writer *writer);

/* The writer's permanent error, or 0. */
int tact_mcap_writer_error(const struct tact_mcap_writer *writer);

#endif
