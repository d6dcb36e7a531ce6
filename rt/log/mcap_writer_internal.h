/**
 * Writing an MCAP file: messages gather in a chunk, which goes out whole in one write().
 *
 * One thread uses a writer. The first error (disk full, out of memory) sticks: the file is cut back
 * to its last whole record, and every later call returns that error without touching the file.
 */
#ifndef TACT_RT_LOG_MCAP_WRITER_INTERNAL_H
#define TACT_RT_LOG_MCAP_WRITER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include "bytes_internal.h"
#include "mcap_internal.h"

struct tact_mcap_writer;

/** Takes over fd, an empty file opened for writing, and writes the header. zstd_level 0 stores
 * chunks uncompressed. @retval 0, -ENOMEM or the errno of write(); fd is closed on failure. */
int tact_mcap_writer_open(int fd, const char *profile, const char *library, int zstd_level,
                          struct tact_mcap_writer **out);

/** The header's record, which follows the magic bytes. */
void tact_mcap_put_header(struct tact_bytes *out, const char *profile, const char *library);

/** What a writer finds in an unfinished file that it is to go on with. */
struct tact_mcap_takeover {
    int fd;         /* open for reading and writing; owned by the writer from then on */
    uint64_t end;   /* where what is to be kept ends: at a whole record */
    int zstd_level; /* of the chunks to come */
    struct tact_span definitions; /* schemas and channels for where no chunk has them yet */
    struct tact_span header;      /* the record as it must be, where that is known; else empty */
    const struct tact_mcap_stretch *damaged; /* from one whole record to another, in their order */
    size_t damaged_count;
};

/** A writer that goes on where the one of an unfinished file stopped. Reads it up to `end` and
 *  changes nothing in it: what follows `end`, an index that its last chunk may lack, and damage are
 *  dealt with by tact_mcap_writer_resume(). @retval 0; -EBADMSG: a record is out of place, or a
 *  stretch is too short to be covered; -ENOMEM or an errno of reading; fd is closed on failure */
int tact_mcap_writer_take_over(const struct tact_mcap_takeover *from,
                               struct tact_mcap_writer **out);

/** Cuts the file to what was kept, writes indexes of chunks that are damaged or missing anew and
 *  covers all other damage with records of tact's own. */
int tact_mcap_writer_resume(struct tact_mcap_writer *writer);

/** Bytes of damage that are, or will be, covered. */
uint64_t tact_mcap_writer_covered(const struct tact_mcap_writer *writer);

/** Passes over the sequence numbers of so many messages of a channel: they are lost. */
void tact_mcap_writer_pass(struct tact_mcap_writer *writer, int channel, uint32_t count);

/** Number of channels. */
int tact_mcap_writer_channels(const struct tact_mcap_writer *writer);

/** A schema in ros2msg, and a channel of CDR messages on it. The id, or a negative errno. */
int tact_mcap_writer_schema(struct tact_mcap_writer *writer, const char *name, const void *text,
                            size_t size);
int tact_mcap_writer_channel(struct tact_mcap_writer *writer, int schema, const char *topic);

/** Writes an attachment at once. time_ns: wall clock. */
int tact_mcap_writer_attachment(struct tact_mcap_writer *writer, uint64_t time_ns, const char *name,
                                const char *media_type, const void *data, size_t size);

/** Writes a metadata record at once: a map that was made with tact_put_text, key, value, ... */
int tact_mcap_writer_metadata(struct tact_mcap_writer *writer, const char *name,
                              const struct tact_bytes *map);

/** Starts a message in the chunk; its data is appended to the buffer returned, then
 *  tact_mcap_writer_end() closes it. Never NULL. time_ns: log and publish time, wall clock. */
struct tact_bytes *tact_mcap_writer_begin(struct tact_mcap_writer *writer, int channel,
                                          uint64_t time_ns);
void tact_mcap_writer_end(struct tact_mcap_writer *writer);

/** Bytes in the file: where the next chunk starts. */
uint64_t tact_mcap_writer_offset(const struct tact_mcap_writer *writer);

/** Checksum of all bytes in the file. */
uint32_t tact_mcap_writer_crc(const struct tact_mcap_writer *writer);

/** Schemas and channels as they will stand in the first chunk; before its first message. */
struct tact_span tact_mcap_writer_definitions(const struct tact_mcap_writer *writer);

/** Bytes of messages that wait in the chunk. */
size_t tact_mcap_writer_pending(const struct tact_mcap_writer *writer);

/** Writes the chunk and its index; nothing where it is empty. */
int tact_mcap_writer_flush(struct tact_mcap_writer *writer);

/** fdatasync() of what was written. */
int tact_mcap_writer_sync(struct tact_mcap_writer *writer);

/** Flushes, writes the summary, syncs, closes and frees. *bytes (may be NULL): size of the file.
 *  Returns the first error of the writer's life. */
int tact_mcap_writer_close(struct tact_mcap_writer *writer, uint64_t *bytes);

/** Closes and frees; what waits is dropped and the file stays as it is. */
void tact_mcap_writer_abandon(struct tact_mcap_writer *writer);

/** The error that sticks, or 0. */
int tact_mcap_writer_error(const struct tact_mcap_writer *writer);

#endif
