/*
 * Reading an untrusted MCAP file from front to back.
 *
 * Lengths are checked against the file before memory is allocated, so a reader allocates no more
 * than the file's size and one chunk of at most TACT_MCAP_CHUNK_MAX_BYTES. The parsers fail with
 * -EBADMSG on a record that does not fill its length exactly.
 */
#ifndef TACT_RT_LOG_MCAP_READER_INTERNAL_H
#define TACT_RT_LOG_MCAP_READER_INTERNAL_H

#include <stdint.h>
#include <sys/stat.h>
#include "bytes_internal.h"

/* A record of the file or of a chunk; content is valid until the next one is read. */
struct tact_mcap_record {
    uint8_t opcode;
    uint64_t at; /* offset of the record in the file (0 inside a chunk) */
    struct tact_byte_span content;
};

struct tact_mcap_reader {
    int fd;
    uint64_t size;   /* size of the file when it was opened */
    uint64_t offset; /* offset of the next record */
    uint32_t crc;    /* checksum of all bytes before it since the caller last set this to 0 */
    uint32_t crc_up_to_last_record; /* checksum of the bytes read so far without the last record */
    struct tact_bytes buffer;
    bool is_magic_damaged;     /* the magic bytes at the start are damaged */
    bool has_shared_file_lock; /* this reader has a shared lock: nobody writes the file */
    bool is_being_recorded;    /* a recorder writes the file: it has the lock, which ends with its
                                  process */
    struct stat status;
};

/* @retval 0, -EBADMSG (the file ends before) or the errno of pread() */
int tact_mcap_read_at(int fd, uint64_t at, uint8_t *data, size_t size);

/* Reads an open file from after its magic bytes, which the caller has checked, to `end`. */
void tact_mcap_reader_start(struct tact_mcap_reader *reader, int fd, uint64_t end);

/* Opens a file and checks its magic bytes, which may be damaged if at least half of them are right
 * and a header follows.
 * @retval 0, the errno of open() or read(), -EBADMSG (not an MCAP file), or -ENODATA (the file ends
 *            within them) */
int tact_mcap_reader_open(struct tact_mcap_reader *reader, const char *path);
void tact_mcap_reader_close(struct tact_mcap_reader *reader);

/* Reads the record at reader->offset and advances.
 * @retval 0, -ENODATA (the file ends exactly here), -EBADMSG (it ends inside the record), -ENOMEM
 *            or the errno of read() */
int tact_mcap_reader_next(struct tact_mcap_reader *reader, struct tact_mcap_record *record);

/* Whether the final magic bytes are at reader->offset and nothing follows. @retval 0, -EBADMSG or
 * an errno */
int tact_mcap_reader_is_at_end(const struct tact_mcap_reader *reader);

/* Parses the next record of a chunk. @retval 0, -ENODATA or -EBADMSG */
int tact_mcap_chunk_next_record(struct tact_byte_cursor *chunk, struct tact_mcap_record *record);

/* @retval 0 or -EBADMSG */
int tact_mcap_parse_header(struct tact_byte_span content);
/* @retval 0 or -EBADMSG */
int tact_mcap_check_damage_cover(struct tact_byte_span content);

/* Decompresses a chunk into `out` (replacing its content) and verifies its checksum.
 * @retval 0, -EBADMSG or -ENOMEM */
int tact_mcap_parse_chunk(struct tact_byte_span content, struct tact_bytes *out);

struct tact_mcap_schema {
    uint16_t id;
    struct tact_byte_span name, encoding, data;
};

struct tact_mcap_channel {
    uint16_t id, schema;
    struct tact_byte_span topic, encoding;
};

struct tact_mcap_message {
    uint16_t channel;
    uint32_t sequence;
    uint64_t log_time;
    struct tact_byte_span data;
};

struct tact_mcap_attachment {
    struct tact_byte_span name, media_type, data;
};

int tact_mcap_parse_schema(struct tact_byte_span content, struct tact_mcap_schema *out);
int tact_mcap_parse_channel(struct tact_byte_span content, struct tact_mcap_channel *out);
int tact_mcap_parse_message(struct tact_byte_span content, struct tact_mcap_message *out);
/* Parses an attachment and verifies its checksum. */
int tact_mcap_parse_attachment(struct tact_byte_span content, struct tact_mcap_attachment *out);
/* Parses a metadata record; map: key, value, key, ... for tact_byte_cursor_read_text(). */
int tact_mcap_parse_metadata(struct tact_byte_span content, struct tact_byte_span *name,
                             struct tact_byte_cursor *map);

#endif
