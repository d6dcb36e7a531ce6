#include "log_scan_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdr_internal.h"
#include "encode_internal.h"
#include "mcap_internal.h"
#include "schema_internal.h"

/* Positive results of the functions below: continue, or stop and examine log->state. */
enum { SCAN_NEXT, SCAN_STOP };

/* Counts the bytes of a damaged range; the first damage is described in the state. */
static void record_damaged_range(struct tact_log *log, uint64_t at, uint64_t bytes, const char *why)
{
    log->state.bytes_lost += bytes;
    if (log->state.why[0] != '\0') {
        return;
    }
    log->state.damage_at = at;
    snprintf(log->state.why, sizeof log->state.why, "%s", why);
}

static int stop_scan_at_damage(struct tact_log *log, uint64_t at, const char *why)
{
    log->last_intact_offset = at;
    record_damaged_range(log, at, log->state.file_bytes - at, why);
    return SCAN_STOP;
}

static int scan_chunk_record(struct tact_log *log, const struct tact_mcap_record *record,
                             struct tact_error *err)
{
    struct tact_mcap_message message;

    switch (record->opcode) {
    case TACT_MCAP_SCHEMA:
        return tact_log_scan_schema(log, record->content, err);
    case TACT_MCAP_CHANNEL:
        return tact_log_scan_channel(log, record->content);
    case TACT_MCAP_MESSAGE:
        if (tact_mcap_parse_message(record->content, &message) != 0) {
            return -EBADMSG;
        }
        tact_log_count_message(log, &message);
        if (message.channel == log->tick_log_channel) {
            return tact_log_scan_tick(log, &message);
        }
        if (message.channel == log->event_channel) {
            return tact_log_scan_event(log, &message);
        }
        return 0;
    default:
        return -EBADMSG;
    }
}

/* A chunk is used whole or not at all. */
static int scan_chunk(struct tact_log *log, const struct tact_mcap_record *chunk,
                      struct tact_error *err)
{
    struct tact_log_state before = log->state;
    const struct tact_log_sequence_gap log_gap_before_chunk_scan = log->gap;
    struct tact_log_topic topics_before_chunk_scan[TACT_LOG_TOPICS];
    size_t topic_count_before_chunk_scan = log->topic_count, events_before = log->event_count;
    const int tick_channel_before_chunk_scan = log->tick_log_channel,
              event_channel_before = log->event_channel;
    struct tact_mcap_record record;

    memcpy(topics_before_chunk_scan, log->topics, sizeof topics_before_chunk_scan);
    int rc = tact_log_grow_array(&log->chunks, log->chunk_count, sizeof *log->chunks);
    if (rc == 0) {
        rc = tact_mcap_parse_chunk(chunk->content, &log->chunk);
    }
    if (rc != 0) {
        return rc;
    }
    struct tact_byte_cursor chunk_cursor = {log->chunk.data, log->chunk.size, false};
    while (rc == 0 && (rc = tact_mcap_chunk_next_record(&chunk_cursor, &record)) == 0) {
        rc = scan_chunk_record(log, &record, err);
    }
    if (rc == -ENODATA) {
        struct tact_log_chunk *appended_chunk = &log->chunks[log->chunk_count++];
        *appended_chunk =
            (struct tact_log_chunk){chunk->at, before.ticks, log->state.ticks - before.ticks, {0}};
        if (log->chunk.size <= TACT_LOG_CACHE_BYTES - log->cached_chunk_bytes) {
            log->cached_chunk_bytes += log->chunk.size;
            appended_chunk->decompressed_chunk = log->chunk;
            log->chunk = (struct tact_bytes){0};
        }
        return 0;
    }
    log->state = before;
    log->gap = log_gap_before_chunk_scan;
    memcpy(log->topics, topics_before_chunk_scan, sizeof topics_before_chunk_scan);
    log->topic_count = topic_count_before_chunk_scan;
    log->tick_log_channel = tick_channel_before_chunk_scan;
    log->event_channel = event_channel_before;
    for (; log->event_count > events_before; log->event_count--) {
        free((char *)log->events[log->event_count - 1].name);
        free((char *)log->events[log->event_count - 1].text);
    }
    return rc;
}

static int check_message_index(struct tact_byte_span content)
{
    struct tact_byte_cursor in = {content.data, content.size, false};

    tact_byte_cursor_read_u16(&in);
    struct tact_byte_span message_index_entries = tact_byte_cursor_read_text(&in);
    return in.bad || in.left > 0 || message_index_entries.size % 16 != 0 ? -EBADMSG : 0;
}

static int scan_definition_record(struct tact_log *log, const struct tact_mcap_record *record,
                                  struct tact_error *err)
{
    return record->opcode == TACT_MCAP_SCHEMA ? tact_log_scan_schema(log, record->content, err)
                                              : tact_log_scan_channel(log, record->content);
}

/* Continues after a damaged range; the sequence numbers that follow show what was in it. */
static int resume_scan_after_damage(struct tact_log *log, uint64_t at, const char *why,
                                    struct tact_error *err)
{
    record_damaged_range(log, at, log->file.offset - at, why);
    log->gap.ticks = log->gap.events = true;
    return log->tick_log_channel < 0 ? tact_log_read_definitions(log, err, scan_definition_record)
                                     : SCAN_NEXT;
}

/* Continues after a damaged record. Its length may be damaged, so the search for the next record
 * starts at its first byte. */
static int skip_damaged_record(struct tact_log *log, uint64_t at, const char *why,
                               struct tact_error *err)
{
    int rc = tact_log_find_next_record(log, at + 1);

    if (rc == -ENODATA) {
        return stop_scan_at_damage(log, at, why);
    }
    if (rc != 0) {
        return tact_error_set(err, rc, "cannot read the log: %s", strerror(-rc));
    }
    rc = tact_log_grow_array(&log->damaged_ranges, log->damaged_range_count,
                             sizeof *log->damaged_ranges);
    if (rc != 0) {
        return rc;
    }
    log->damaged_ranges[log->damaged_range_count++] =
        (struct tact_mcap_byte_range){at, log->file.offset};
    return resume_scan_after_damage(log, at, why, err);
}

static int scan_damage_cover(struct tact_log *log, const struct tact_mcap_record *record,
                             struct tact_error *err)
{
    if (tact_mcap_check_damage_cover(record->content) != 0) {
        return skip_damaged_record(
            log, record->at,
            "a record by which `tact recover` covered damaged bytes is damaged itself", err);
    }
    log->damage_cover_count++;
    return resume_scan_after_damage(
        log, record->at, "some bytes of the log were already damaged before its recovery", err);
}

static int scan_data_end(struct tact_log *log, const struct tact_mcap_record *record,
                         struct tact_error *err)
{
    struct tact_byte_cursor in = {record->content.data, record->content.size, false};
    uint32_t crc = tact_byte_cursor_read_u32(&in);

    /* possibly a damaged opcode of another record: more data may follow */
    if (in.bad || in.left > 0) {
        return skip_damaged_record(log, record->at, "the record DataEnd of the log is damaged",
                                   err);
    }
    if (log->damaged_range_count > 0) {
        log->data_end_offset = record->at;
        return SCAN_STOP; /* the index would refer to missing records, so it is not used */
    }
    if (crc != log->file.crc_up_to_last_record) {
        /* chunks and attachments are intact by their own checksums */
        stop_scan_at_damage(log, record->at,
                            "bytes between the records were changed: the checksum of the data "
                            "does not match");
        log->state.bytes_lost = 0;
        return SCAN_STOP;
    }
    log->state.data_complete = log->damage_cover_count == 0;
    log->data_end_offset = record->at;
    log->file.crc = 0;
    return SCAN_NEXT;
}

/* The footer's checksum covers the summary and the preceding bytes of the footer; then the file
 * ends. */
static int scan_footer_record(struct tact_log *log, const struct tact_mcap_record *record)
{
    static const uint8_t head[TACT_MCAP_RECORD_HEADER] = {TACT_MCAP_FOOTER, 20};
    struct tact_byte_span content = record->content;
    uint32_t crc;

    if (content.size != 20) {
        return stop_scan_at_damage(log, record->at, "the footer of the log is damaged");
    }
    memcpy(&crc, content.data + 16, sizeof crc);
    uint32_t computed_crc = tact_crc32(log->file.crc_up_to_last_record, head, sizeof head);
    if (tact_crc32(computed_crc, content.data, 16) != crc) {
        return stop_scan_at_damage(log, record->at,
                                   "the checksum of the log's index does not match");
    }
    if (tact_mcap_reader_is_at_end(&log->file) != 0) {
        return stop_scan_at_damage(log, log->file.offset,
                                   "the magic bytes at the end of the log are damaged");
    }
    log->closed = true;
    log->state.complete = log->damage_cover_count == 0 && !log->file.is_magic_damaged;
    return SCAN_STOP;
}

static int scan_data_record(struct tact_log *log, const struct tact_mcap_record *record,
                            struct tact_error *err)
{
    const char *why;
    int rc;

    switch (record->opcode) {
    case TACT_MCAP_HEADER:
        rc =
            record->at == TACT_MCAP_MAGIC_SIZE ? tact_mcap_parse_header(record->content) : -EBADMSG;
        why = "the header of the log is damaged, or not at its start";
        break;
    case TACT_MCAP_SCHEMA:
        rc = tact_log_scan_schema(log, record->content, err);
        why = "a schema is damaged";
        break;
    case TACT_MCAP_CHANNEL:
        rc = tact_log_scan_channel(log, record->content);
        why = "a channel is damaged";
        break;
    case TACT_MCAP_CHUNK:
        rc = scan_chunk(log, record, err);
        why = "a chunk of the log is damaged, or the chunk before it is missing";
        break;
    case TACT_MCAP_MESSAGE_INDEX:
        rc = check_message_index(record->content);
        why = "the index of a chunk is damaged";
        break;
    case TACT_MCAP_ATTACHMENT:
        rc = tact_log_scan_attachment(log, record->content);
        why = "an attachment is damaged";
        break;
    case TACT_MCAP_METADATA:
        rc = tact_log_scan_facts(log, record->content);
        why = "the facts of the session are damaged";
        break;
    case TACT_MCAP_DAMAGE_COVER:
        return scan_damage_cover(log, record, err);
    case TACT_MCAP_DATA_END:
        return scan_data_end(log, record, err);
    default:
        rc = -EBADMSG;
        why = "a record has a type that tact does not write";
    }
    return rc == -EBADMSG ? skip_damaged_record(log, record->at, why, err) : rc;
}

static int scan_summary_record(struct tact_log *log, const struct tact_mcap_record *record)
{
    switch (record->opcode) {
    case TACT_MCAP_SCHEMA:
    case TACT_MCAP_CHANNEL:
    case TACT_MCAP_CHUNK_INDEX:
    case TACT_MCAP_ATTACHMENT_INDEX:
    case TACT_MCAP_METADATA_INDEX:
    case TACT_MCAP_STATISTICS:
    case TACT_MCAP_SUMMARY_OFFSET:
        return SCAN_NEXT;
    case TACT_MCAP_FOOTER:
        return scan_footer_record(log, record);
    default:
        return stop_scan_at_damage(log, record->at, "the index of the log is damaged");
    }
}

/* A length beyond the end of the file: the file was truncated there, or the length is damaged. */
static int report_truncated_record(struct tact_log *log, uint64_t at, struct tact_error *err)
{
    size_t before = log->damaged_range_count;
    bool first = log->state.why[0] == '\0';
    int rc = skip_damaged_record(log, at, "the file ends inside a record", err);

    if (log->damaged_range_count > before && first) {
        snprintf(log->state.why, sizeof log->state.why, "the length field of a record is damaged");
    }
    log->is_truncated = log->is_truncated || log->damaged_range_count == before;
    return rc;
}

/* Describes in the state which ticks are lost. */
static void describe_lost_ticks(const struct tact_log *log, struct tact_log_state *state)
{
    size_t used = strlen(state->why);

    if (state->lost > 0) {
        snprintf(state->why + used, sizeof state->why - used,
                 "; %" PRIu64 " ticks are lost, of those from %" PRIu64 " to %" PRIu64, state->lost,
                 state->lost_first, state->lost_last);
    }
    used = strlen(state->why);
    if (log->damaged_range_count + log->damage_cover_count > 0 && log->gap.ticks &&
        state->ticks > 0) {
        snprintf(state->why + used, sizeof state->why - used,
                 "; ticks after %" PRIu64 " were in it, how many is not known", state->last_tick);
    }
}

int tact_log_scan(struct tact_log *log, struct tact_error *err)
{
    struct tact_mcap_record record;
    int rc = SCAN_NEXT;

    if (log->file.is_magic_damaged) {
        record_damaged_range(log, 0, TACT_MCAP_MAGIC_SIZE,
                             "the magic bytes at the start of the log are damaged");
    }
    while (rc == SCAN_NEXT) {
        uint64_t at = log->file.offset;
        rc = tact_mcap_reader_next(&log->file, &record);
        if (rc == -EBADMSG && log->data_end_offset == 0) {
            rc = report_truncated_record(log, at, err);
        } else if (rc == -ENODATA || rc == -EBADMSG) {
            log->is_truncated = true;
            rc = stop_scan_at_damage(
                log, at,
                rc == -ENODATA
                    ? "the log has no end: its recorder was killed or the file was truncated"
                    : "the file ends inside a record");
        } else if (rc != 0) {
            return tact_error_set(err, rc, "cannot read the log: %s", strerror(-rc));
        } else if (log->data_end_offset > 0) {
            rc = scan_summary_record(log, &record);
        } else {
            rc = scan_data_record(log, &record, err);
        }
    }
    if (rc == -ENOMEM) {
        tact_error_set(err, rc, "out of memory");
    }
    log->state.events = log->event_count;
    describe_lost_ticks(log, &log->state);
    return rc < 0 ? rc : 0;
}
