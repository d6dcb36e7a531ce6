#include "log_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcap_internal.h"
#include "ring_file_internal.h"

static int check_log_is_loaded(const struct tact_log *log, struct tact_error *err)
{
    if (log->tick_log_channel >= 0) {
        return 0;
    }
    if (log->state.complete) {
        return tact_error_set(err, -EINVAL, "not a log of tact: it has no topic /tact/tick");
    }
    return tact_error_set(err, -ENODATA,
                          "the log is damaged before its first tick, at byte %llu of %llu: %s",
                          (unsigned long long)log->state.damage_at,
                          (unsigned long long)log->state.file_bytes, log->state.why);
}

/* Reports that the rest of an incomplete log is still to be written, or can be recovered. */
static void warn_of_incomplete_log(struct tact_log *log, const char *path)
{
    struct tact_log_state *state = &log->state;
    size_t used = strlen(state->why);

    state->recording = !state->complete && log->file.is_being_recorded;
    if (state->recording && log->is_truncated) {
        snprintf(state->why, sizeof state->why,
                 "it is being recorded now; this is what the file contains so far");
    }
    if (state->complete || !log->file.has_shared_file_lock ||
        !tact_ring_file_exists(TACT_RING_FILE_FOLDER, &log->file.status)) {
        return;
    }
    snprintf(state->why + used, sizeof state->why - used,
             "; the rest is in memory: run `tact recover %s`", strlen(path) < 100 ? path : "FILE");
}

static void report_too_many_pairs(int rc, struct tact_error *err)
{
    tact_error_set(err, rc, "%s",
                   rc == -ENOMEM
                       ? "out of memory"
                       : "the log contains more pairs of touching shapes than can be read");
}

int tact_log_load(const char *path, struct tact_log **out, struct tact_error *err)
{
    struct tact_log *log = calloc(1, sizeof *log);

    tact_error_at(err, path, 0, 0, NULL);
    if (!log) {
        tact_error_set(err, -ENOMEM, "out of memory");
        return -ENOMEM;
    }
    log->tick_schema = log->tick_log_channel = log->event_channel = -1;
    int rc = tact_mcap_reader_open(&log->file, path);
    if (rc == -EBADMSG) {
        rc = tact_error_set(err, -EINVAL,
                            "not a log of tact: the file does not start as an MCAP file");
    } else if (rc == -ENODATA) {
        tact_error_set(err, rc,
                       "the log ends before its first record: its recorder was killed at the "
                       "start, or the file was truncated");
    } else if (rc != 0) {
        tact_error_set(err, rc, "cannot open the log: %s", strerror(-rc));
    }
    log->state.file_bytes = log->file.size;
    if (rc == 0) {
        rc = tact_log_scan(log, err);
    }
    if (rc != 0) {
        tact_log_close(log);
        if (rc == -E2BIG || rc == -ENOMEM) {
            report_too_many_pairs(rc, err);
        }
        return rc;
    }
    warn_of_incomplete_log(log, path);
    log->chunk.size = 0;
    *out = log;
    return 0;
}

int tact_log_open(const char *path, struct tact_log **out, struct tact_error *err)
{
    struct tact_log *log = NULL;
    int rc = tact_log_load(path, &log, err);

    if (rc != 0) {
        return rc;
    }
    rc = check_log_is_loaded(log, err);
    if (rc == 0) {
        rc = tact_log_load_parts(log, path);
        rc = rc != 0 ? rc : tact_log_pairs_build_layout(log);
        if (rc != 0) {
            report_too_many_pairs(rc, err);
        }
    }
    if (rc == 0) {
        *out = log;
    } else {
        tact_log_close(log);
    }
    return rc;
}

void tact_log_close(struct tact_log *log)
{
    if (!log) {
        return;
    }
    tact_log_close(log->next_log_part);
    for (size_t i = 0; i < log->attachment_count; i++) {
        free((char *)log->attachments[i].name);
        free((char *)log->attachments[i].media_type);
        free((void *)log->attachments[i].data);
    }
    for (size_t i = 0; i < log->fact_count; i++) {
        free((char *)log->facts[i].key);
        free((char *)log->facts[i].value);
    }
    for (size_t i = 0; i < log->event_count; i++) {
        free((char *)log->events[i].name);
        free((char *)log->events[i].text);
    }
    free(log->damaged_ranges);
    free(log->attachments);
    free(log->facts);
    free(log->events);
    for (size_t i = 0; i < log->chunk_count; i++) {
        tact_bytes_free(&log->chunks[i].decompressed_chunk);
    }
    free(log->chunks);
    tact_bytes_free(&log->chunk);
    tact_layout_free(&log->layout);
    tact_log_pairs_free(&log->pairs);
    tact_mcap_reader_close(&log->file);
    free(log);
}

const struct tact_log_state *tact_log_state(const struct tact_log *log)
{
    return &log->state;
}

const struct tact_layout *tact_log_layout(const struct tact_log *log)
{
    return log->layout.element ? &log->pairs.layout : &log->layout;
}

const struct tact_layout *tact_log_element(const struct tact_log *log)
{
    return log->layout.element;
}

const struct tact_log_pair *tact_log_pair(const struct tact_log *log, size_t index)
{
    return index < log->pairs.count ? &log->pairs.list[index] : NULL;
}

const char *tact_log_fact(const struct tact_log *log, const char *key)
{
    for (size_t i = 0; i < log->fact_count; i++) {
        if (strcmp(log->facts[i].key, key) == 0) {
            return log->facts[i].value;
        }
    }
    return NULL;
}

size_t tact_log_fact_count(const struct tact_log *log)
{
    return log->fact_count;
}

const struct tact_log_fact *tact_log_fact_at(const struct tact_log *log, size_t index)
{
    return index < log->fact_count ? &log->facts[index] : NULL;
}

const struct tact_log_attachment *tact_log_attachment(const struct tact_log *log, const char *name)
{
    for (size_t i = 0; i < log->attachment_count; i++) {
        if (strcmp(log->attachments[i].name, name) == 0) {
            return &log->attachments[i];
        }
    }
    return NULL;
}

size_t tact_log_attachment_count(const struct tact_log *log)
{
    return log->attachment_count;
}

const struct tact_log_attachment *tact_log_attachment_at(const struct tact_log *log, size_t index)
{
    return index < log->attachment_count ? &log->attachments[index] : NULL;
}

const struct tact_log_topic *tact_log_topic(const struct tact_log *log, size_t index)
{
    return index < log->topic_count ? &log->topics[index] : NULL;
}

long tact_log_field(const struct tact_log *log, const char *name, uint32_t *count)
{
    const struct tact_field *field = tact_layout_find(tact_log_layout(log), name);

    if (!field) {
        return -ENOENT;
    }
    if (count) {
        *count = field->count;
    }
    return (long)field->offset;
}

static int load_log_chunk(struct tact_log *log, size_t index)
{
    struct tact_mcap_record record;
    const struct tact_bytes *decompressed_chunk = &log->chunks[index].decompressed_chunk;

    if (!decompressed_chunk->data) {
        log->file.offset = log->chunks[index].at;
        int rc = tact_mcap_reader_next(&log->file, &record);
        if (rc == 0) {
            rc = record.opcode == TACT_MCAP_CHUNK
                     ? tact_mcap_parse_chunk(record.content, &log->chunk)
                     : -EBADMSG;
        }
        if (rc != 0) {
            return rc;
        }
        decompressed_chunk = &log->chunk;
    }
    log->unread_chunk_bytes =
        (struct tact_byte_cursor){decompressed_chunk->data, decompressed_chunk->size, false};
    log->next_chunk_index = index + 1;
    return 0;
}

/* Reads the next tick message of the loaded chunk; -ENODATA after the last one. */
static int read_next_message_of_chunk(struct tact_log *log, struct tact_mcap_message *message)
{
    struct tact_mcap_record record;
    int rc;

    while ((rc = tact_mcap_chunk_next_record(&log->unread_chunk_bytes, &record)) == 0) {
        if (record.opcode != TACT_MCAP_MESSAGE) {
            continue;
        }
        rc = tact_mcap_parse_message(record.content, message);
        if (rc != 0 || message->channel == log->tick_log_channel) {
            return rc;
        }
    }
    return rc;
}

int tact_log_read_next_in_file(struct tact_log *log, const struct tact_log_pairs *pairs,
                               struct tact_record *record)
{
    struct tact_mcap_message message;
    struct tact_log_tick tick;
    int rc;

    if (log->position >= log->tick_count_of_log_file) {
        return 0;
    }
    while ((rc = read_next_message_of_chunk(log, &message)) == -ENODATA) {
        if (log->next_chunk_index == log->chunk_count) {
            return -EBADMSG;
        }
        rc = load_log_chunk(log, log->next_chunk_index);
        if (rc != 0) {
            return rc;
        }
    }
    if (rc == 0) {
        rc = tact_log_parse_tick(log, message.data, &tick);
    }
    if (rc != 0) {
        return rc;
    }
    record->tick = tick.tick;
    record->stamp_ns = tick.stamp_ns;
    tact_log_pairs_fill_record(pairs, log, tick, record->values);
    log->position++;
    return 1;
}

int tact_log_seek_in_file(struct tact_log *log, uint64_t index)
{
    struct tact_mcap_message message;
    size_t low = 0, high = log->chunk_count;

    if (index > log->tick_count_of_log_file) {
        return -ERANGE;
    }
    log->position = index;
    log->unread_chunk_bytes = (struct tact_byte_cursor){0};
    log->next_chunk_index = log->chunk_count;
    if (index == log->tick_count_of_log_file) {
        return 0;
    }
    while (high - low > 1) {
        size_t middle_chunk_index = low + (high - low) / 2;
        if (log->chunks[middle_chunk_index].first <= index) {
            low = middle_chunk_index;
        } else {
            high = middle_chunk_index;
        }
    }
    int rc = load_log_chunk(log, low);
    for (uint64_t i = log->chunks[low].first; rc == 0 && i < index; i++) {
        rc = read_next_message_of_chunk(log, &message);
    }
    return rc;
}
