/* The state of an MCAP writer, shared with the code that continues an unfinished file. */
#ifndef TACT_RT_LOG_MCAP_WRITER_STATE_INTERNAL_H
#define TACT_RT_LOG_MCAP_WRITER_STATE_INTERNAL_H

#include <zstd.h>
#include "mcap_internal.h"
#include "mcap_writer_internal.h"

#define TACT_MCAP_MAX_CHANNELS 160

struct tact_mcap_channel_state {
    uint64_t messages; /* number of messages of the channel in the file, and in the open chunk */
    uint32_t next;     /* next sequence number; those of lost messages are skipped */
    struct tact_bytes index; /* index of the open chunk: (time, offset) pairs */
};

/* Index records, collected until the file is closed. */
struct tact_mcap_summary_group {
    uint8_t opcode;
    uint32_t count;
    struct tact_bytes records;
};

enum {
    TACT_MCAP_GROUP_SCHEMAS,
    TACT_MCAP_GROUP_CHANNEL_INFOS,
    TACT_MCAP_GROUP_CHUNKS,
    TACT_MCAP_GROUP_ATTACHMENTS,
    TACT_MCAP_GROUP_METADATA,
    TACT_MCAP_GROUPS
};

struct tact_mcap_writer {
    int fd;
    int error;
    int zstd_level;
    uint64_t offset; /* number of bytes written to the file: whole records only */
    uint32_t crc;    /* checksum of them */
    ZSTD_CCtx *zstd;
    struct tact_bytes chunk;    /* uncompressed records of the open chunk */
    struct tact_bytes output;   /* bytes of the next write() to the file */
    size_t open_message_offset; /* offset in the chunk at which the open message starts */
    uint64_t chunk_message_count;
    uint64_t chunk_first_log_time, chunk_last_log_time;
    struct tact_mcap_channel_state channels[TACT_MCAP_MAX_CHANNELS];
    int channel_count;
    struct tact_mcap_summary_group groups[TACT_MCAP_GROUPS];
    uint64_t start, end;         /* smallest and largest log time of all messages */
    uint64_t damage_cover_bytes; /* bytes of damage in a continued file */
    struct tact_bytes patches;   /* changes to a continued file: offset, length and bytes of each */
};

/* Allocates a writer without touching its file. @retval 0 or -ENOMEM; fd is closed on failure */
int tact_mcap_writer_alloc(int fd, int zstd_level, struct tact_mcap_writer **out);

/* Writes the bytes in `output`, which are whole records. @retval 0 or the writer's error */
int tact_mcap_write_output(struct tact_mcap_writer *writer);

/* Appends a record's opcode and a placeholder for its length; returns its position for
 * tact_mcap_end_record(). */
size_t tact_mcap_begin_record(struct tact_bytes *out, uint8_t opcode);
void tact_mcap_end_record(struct tact_bytes *out, size_t start);

/* Adds summary entries of records in the file. */
void tact_mcap_index_attachment(struct tact_mcap_writer *writer, uint64_t at, uint64_t length,
                                uint64_t time_ns, uint64_t size, const char *name,
                                const char *media_type);
void tact_mcap_index_metadata(struct tact_mcap_writer *writer, uint64_t at, uint64_t length,
                              const char *name);

/* Counts a message at that offset of the open chunk. */
void tact_mcap_index_message(struct tact_mcap_writer *writer, int channel, uint64_t time_ns,
                             uint64_t offset);

/* Appends the index of the open chunk's messages to `output`, adds the chunk to the summary and
 * starts a new one. at, length: of the chunk's record in the file. */
void tact_mcap_index_chunk(struct tact_mcap_writer *writer, uint64_t at, uint64_t length,
                           uint64_t compressed_chunk_size, const char *compression);

#endif
