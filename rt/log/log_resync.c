/* Finding the next record after damage. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "encode_internal.h"
#include "log_internal.h"
#include "mcap_internal.h"

#define FIRST_RESYNC_BLOCK_BYTES 1024
#define RESYNC_BLOCK_BYTES 65536
#define DATA_END_CONTENT_BYTES 4
#define MCAP_FOOTER_BYTES 20

/* Whether a record is confirmed by its checksum, or by the records that must follow it. */
static bool is_record_verified(struct tact_log *log, const struct tact_mcap_record *record)
{
    struct tact_mcap_attachment attachment;
    struct tact_byte_cursor map;
    struct tact_byte_span name;
    uint8_t next;

    switch (record->opcode) {
    case TACT_MCAP_CHUNK:
        return tact_mcap_parse_chunk(record->content, &log->chunk) == 0;
    case TACT_MCAP_ATTACHMENT:
        return tact_mcap_parse_attachment(record->content, &attachment) == 0;
    case TACT_MCAP_METADATA:
        return tact_mcap_parse_metadata(record->content, &name, &map) == 0 &&
               (tact_byte_span_equals_text(name, TACT_FACTS_METADATA_NAME) ||
                tact_byte_span_equals_text(name, TACT_RECOVERED_METADATA_NAME) ||
                tact_byte_span_equals_text(name, TACT_CONTINUED_METADATA_NAME));
    case TACT_MCAP_DAMAGE_COVER:
        return tact_mcap_check_damage_cover(record->content) == 0;
    case TACT_MCAP_DATA_END:
        return record->content.size == DATA_END_CONTENT_BYTES &&
               pread(log->file.fd, &next, 1, (off_t)log->file.offset) == 1 &&
               (next == TACT_MCAP_SCHEMA || next == TACT_MCAP_FOOTER);
    default:
        return false;
    }
}

static bool is_plausible_record_at(struct tact_log *log, uint64_t at)
{
    struct tact_mcap_record record;

    log->file.offset = at;
    bool found =
        tact_mcap_reader_next(&log->file, &record) == 0 && is_record_verified(log, &record);
    log->file.offset = at;
    return found;
}

/* Whether a record may start here: a known opcode, and a length within the file. */
static bool is_plausible_record_header(const uint8_t *head, uint64_t remaining_file_bytes,
                                       uint64_t *length)
{
    memcpy(length, head + 1, sizeof *length);
    return (head[0] == TACT_MCAP_CHUNK || head[0] == TACT_MCAP_ATTACHMENT ||
            head[0] == TACT_MCAP_METADATA || head[0] == TACT_MCAP_DAMAGE_COVER ||
            (head[0] == TACT_MCAP_DATA_END && *length == DATA_END_CONTENT_BYTES)) &&
           remaining_file_bytes >= TACT_MCAP_RECORD_HEADER &&
           *length <= remaining_file_bytes - TACT_MCAP_RECORD_HEADER;
}

int tact_log_find_next_record(struct tact_log *log, uint64_t from)
{
    uint8_t block[RESYNC_BLOCK_BYTES];
    uint64_t size = log->file.size, at = from;
    /* limits the bytes read in all searches, as each candidate may cost a whole record */
    const uint64_t resync_byte_limit = 8 * size + ((uint64_t)64 << 20);
    uint64_t length;
    size_t resync_block_bytes =
        FIRST_RESYNC_BLOCK_BYTES; /* grows, as the next record is often near */

    while (at + TACT_MCAP_RECORD_HEADER <= size) {
        ssize_t n = pread(log->file.fd, block, resync_block_bytes, (off_t)at);
        if (n < 0) {
            return -errno;
        }
        if (n < TACT_MCAP_RECORD_HEADER) {
            break;
        }
        size_t places = (size_t)n - TACT_MCAP_RECORD_HEADER + 1;
        for (size_t i = 0; i < places; i++) {
            if (!is_plausible_record_header(block + i, size - at - i, &length)) {
                continue;
            }
            if (length > resync_byte_limit - log->resync_read_byte_count) {
                return -ENODATA;
            }
            log->resync_read_byte_count += length;
            if (is_plausible_record_at(log, at + i)) {
                return 0;
            }
        }
        at += places;
        resync_block_bytes =
            resync_block_bytes < sizeof block ? 2 * resync_block_bytes : sizeof block;
    }
    return -ENODATA;
}

int tact_log_read_definitions(struct tact_log *log, struct tact_error *err,
                              int (*store_definition)(struct tact_log *,
                                                      const struct tact_mcap_record *,
                                                      struct tact_error *))
{
    struct tact_mcap_reader file;
    struct tact_mcap_record record;
    const uint64_t footer_record_bytes = TACT_MCAP_RECORD_HEADER + MCAP_FOOTER_BYTES;
    uint64_t start;
    int rc = -EBADMSG;

    if (log->file.size < 2 * TACT_MCAP_MAGIC_SIZE + footer_record_bytes) {
        return 0;
    }
    tact_mcap_reader_start(&file, log->file.fd, log->file.size - TACT_MCAP_MAGIC_SIZE);
    file.offset = file.size - footer_record_bytes;
    if (tact_mcap_reader_next(&file, &record) == 0 && record.opcode == TACT_MCAP_FOOTER &&
        record.content.size == MCAP_FOOTER_BYTES) {
        memcpy(&start, record.content.data, sizeof start);
        file.offset = start;
        rc = start < file.size - footer_record_bytes ? 0 : -EBADMSG;
    }
    while (rc == 0 && tact_mcap_reader_next(&file, &record) == 0 &&
           (record.opcode == TACT_MCAP_SCHEMA || record.opcode == TACT_MCAP_CHANNEL)) {
        rc = store_definition(log, &record, err);
    }
    tact_bytes_free(&file.buffer);
    return rc == -EBADMSG ? 0 : rc;
}
