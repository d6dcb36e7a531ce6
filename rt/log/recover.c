#include "recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "describe_internal.h"
#include "log_file_internal.h"
#include "log_internal.h"
#include "mcap_internal.h"
#include "recorder_internal.h"

#define PREFIX_BLOCK_BYTES 65536
#define LOG_CHANGED_TEXT "the log was changed after its recorder was killed"

struct recovery {
    const char *path;
    struct tact_error *err;
    struct tact_recover_report report;
    struct tact_log *log; /* the log, as it was before the recovery */
    struct tact_session_description description;
    struct tact_recorder_part recorder; /* without a thread: writer, encoder, rings */
    bool prefix_damaged;       /* 1: the first bytes of the log, which identify it, are damaged */
    bool are_rings_found;      /* 1: the rings of the log's recorder were found */
    struct tact_bytes header;  /* expected record of the header, if the rings were found */
    uint32_t next[TACT_RINGS]; /* index of the first ring element that is not in the file */
    uint32_t lost[TACT_RINGS]; /* elements before next[ring] that neither file nor ring has */
    uint64_t lost_last;        /* tick number of the last lost tick */
    struct tact_mcap_byte_range *damaged; /* damaged ranges that will be covered or rewritten */
    size_t damaged_count;
    uint64_t end; /* end of the usable part of the file */
};

static int refuse_log(struct recovery *r, const char *why)
{
    return tact_error_set(r->err, -EBADMSG, "%s; nothing was changed", why);
}

/* A log that is being recorded or read is refused; the lock is held until the log is finished. */
static int open_log_for_recovery(struct recovery *r)
{
    struct tact_recorder_part *recorder = &r->recorder;

    recorder->fd = open(r->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (recorder->fd < 0) {
        return tact_error_set(r->err, -errno, "cannot open the log: %s", strerror(errno));
    }
    if (flock(recorder->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return tact_error_set(r->err, -EBUSY, "another process still records or reads this log");
    }
    return tact_log_load(r->path, &r->log, r->err);
}

/* Compares the bytes that were in the log when the rings were created: they identify it. Magic
 * bytes and header are the same in all logs of a version, and may be damaged. */
static int compare_log_prefix(const struct recovery *r, bool *is_prefix_same)
{
    const struct tact_session_description *d = &r->description;
    uint8_t block[PREFIX_BLOCK_BYTES];
    uint32_t crc = 0;
    uint64_t at = 0;

    *is_prefix_same = false;
    while (at < d->log_prefix_byte_count) {
        uint64_t rest = d->log_prefix_byte_count - at;
        ssize_t n = pread(r->recorder.fd, block,
                          rest < PREFIX_BLOCK_BYTES ? (size_t)rest : PREFIX_BLOCK_BYTES, (off_t)at);
        if (n < 0) {
            return -errno;
        }
        if (n == 0) {
            return 0;
        }
        size_t header_byte_count = at == 0 ? TACT_MCAP_MAGIC_SIZE + r->header.size : 0;
        if (header_byte_count > 0 && (size_t)n >= header_byte_count) {
            crc = tact_crc32(crc, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE);
            crc = tact_crc32(crc, r->header.data, r->header.size);
        } else {
            header_byte_count = 0;
        }
        crc = tact_crc32(crc, block + header_byte_count, (size_t)n - header_byte_count);
        at += (uint64_t)n;
    }
    *is_prefix_same = crc == d->log_prefix_crc;
    return 0;
}

/* Whether the size fits a tick's record, and its list if there is one. */
static bool is_tick_element_size_valid(const struct tact_ring_sizes *ring_sizes,
                                       const struct tact_encoder *encoder)
{
    uint64_t fixed = sizeof(struct tact_record) + (uint64_t)encoder->size * sizeof(double);

    return encoder->stride == 0
               ? ring_sizes->list_count_offset == 0 && ring_sizes->content[TACT_RING_TICKS] == fixed
               : ring_sizes->list_count_offset == fixed &&
                     ring_sizes->list_element_bytes == (uint64_t)encoder->stride * sizeof(double);
}

static int read_ring_description(struct recovery *r)
{
    struct tact_ring_file *rings = &r->recorder.rings;
    struct tact_session_description *d = &r->description;
    bool is_prefix_same;

    int rc = tact_session_description_read(rings->session, d);
    if (rc != 0) {
        return refuse_log(r, "the ticks in memory are damaged or of another version of tact");
    }
    tact_mcap_put_header(&r->header, TACT_LOG_HEADER_PROFILE, TACT_LOG_HEADER_LIBRARY);
    if (r->header.failed) {
        return tact_error_set(r->err, -ENOMEM, "out of memory");
    }
    r->are_rings_found = true;
    if (!is_tick_element_size_valid(&rings->ring_sizes, &d->encoder) ||
        rings->ring_sizes.content[TACT_RING_EVENTS] != sizeof(struct tact_ring_event) ||
        rings->ring_sizes.content[TACT_RING_ASYNC_EVENTS] != sizeof(struct tact_ring_event)) {
        return refuse_log(r, "the ticks in memory do not match their description");
    }
    rc = compare_log_prefix(r, &is_prefix_same);
    if (rc != 0) {
        return tact_error_set(r->err, rc, "cannot read the log: %s", strerror(-rc));
    }
    /* Where damaged, the mark of the last chunk identifies the rings: find_unlogged_elements().
     */
    r->prefix_damaged = !is_prefix_same &&
                        r->log->damaged_range_count + r->log->damage_cover_count > 0 &&
                        r->log->state.damage_at < d->log_prefix_byte_count;
    return is_prefix_same || r->prefix_damaged ? 0 : refuse_log(r, LOG_CHANGED_TEXT);
}

static int open_rings_of_log(struct recovery *r, const char *folder)
{
    struct tact_ring_file *rings = &r->recorder.rings;

    int rc = tact_ring_file_open(rings, folder, &r->log->file.status, r->err);
    if (rc == -ENOENT) {
        return 0;
    }
    if (rc != 0) {
        return rc;
    }
    r->report.rings = true;
    if (rings->is_ring_file_complete) {
        return read_ring_description(r);
    }
    return r->log->chunk_count == 0 ? 0 : refuse_log(r, "the ticks in memory are truncated");
}

/* The mark of the last chunk states the next element of each ring. If that chunk is damaged, ticks
 * are counted in the file, and events start after the last released one. */
static void find_unlogged_elements(struct recovery *r)
{
    struct tact_ring_file *rings = &r->recorder.rings;
    const struct tact_log *log = r->log;
    uint32_t ticks = (uint32_t)(log->state.ticks + log->state.lost);
    bool found = log->chunk_count == 0;

    for (int i = 0; i < TACT_RINGS; i++) {
        r->next[i] = found ? 0 : tact_ring_tail(rings->rings[i]);
    }
    for (int index = 0; index < 2 && log->chunk_count > 0; index++) {
        const struct tact_ring_chunk_mark *mark = &rings->marks[index];
        if (mark->chunk_file_offset != log->chunks[log->chunk_count - 1].at ||
            mark->next[TACT_RING_TICKS] != ticks || !tact_ring_file_is_mark_valid(rings, index)) {
            continue;
        }
        found = true;
        memcpy(r->next, mark->next, sizeof r->next);
        rings->chunk_mark_count = (uint32_t)index + 1; /* the other mark is overwritten next */
    }
    r->next[TACT_RING_TICKS] = ticks;
    r->report.counters_damaged = !found;
}

/* If a ring's counter is invalid, its elements are counted as far as they are valid. */
static uint32_t committed_element_count(struct recovery *r, int ring, bool *damaged)
{
    struct tact_ring_file *rings = &r->recorder.rings;
    uint32_t capacity = tact_ring_capacity(rings->rings[ring]);
    uint32_t count = tact_ring_head(rings->rings[ring]) - r->next[ring];

    *damaged = count > capacity;
    if (*damaged) {
        count = 0;
    }
    /* Of valid elements beyond the counter one may be new; more mean that the counter is wrong.
     */
    uint32_t ring_elements_beyond_head = 0;
    while (count < capacity && tact_ring_file_element(rings, ring, r->next[ring] + count)) {
        count++;
        ring_elements_beyond_head++;
    }
    *damaged = *damaged || ring_elements_beyond_head > 1;
    return count;
}

/* Tick number of a ring element that is valid; else 0. */
static uint64_t tick_of_ring_element(struct recovery *r, uint32_t index)
{
    const struct tact_record *record =
        tact_ring_file_element(&r->recorder.rings, TACT_RING_TICKS, index);
    return record ? record->tick : 0;
}

/* Whether a ring element can be used: it is valid, and of a tick after those of the file. */
static bool is_valid_element(struct recovery *r, int ring, uint32_t index)
{
    const struct tact_log_state *state = &r->log->state;

    return tact_ring_file_element(&r->recorder.rings, ring, index) &&
           (ring != TACT_RING_TICKS || state->ticks == 0 ||
            tick_of_ring_element(r, index) > state->last_tick);
}

/* Released elements whose chunk is damaged at the end of the file are in the ring until reused. */
static int reclaim_released_elements(struct recovery *r, int ring)
{
    struct tact_ring *from = r->recorder.rings.rings[ring];
    uint32_t head = tact_ring_head(from), tail = tact_ring_tail(from);
    uint32_t capacity = tact_ring_capacity(from), first = r->next[ring];

    if ((int32_t)(first - tail) >= 0) {
        return 0;
    }
    if (head - tail > capacity) {
        return refuse_log(r, "ticks are missing from the log, or those in memory are damaged");
    }
    if (head - first > capacity) {
        first = head - capacity;
    }
    while (first != tail && !is_valid_element(r, ring, first)) {
        first++;
    }
    r->lost[ring] = first - r->next[ring];
    r->next[ring] = first;
    if (ring == TACT_RING_TICKS) {
        r->lost_last = is_valid_element(r, ring, first) ? tick_of_ring_element(r, first) - 1
                                                        : r->log->state.last_tick + r->lost[ring];
    }
    return 0;
}

/* Whether a chunk follows damage, or so much that looks like chunks that one may. */
static int find_chunk_after_damage(const struct recovery *r, uint64_t from, bool *chunk_found)
{
    struct tact_mcap_reader file;
    struct tact_mcap_record record;
    struct tact_bytes chunk_content = {0};
    uint64_t size = r->log->file.size - from, length, read = 0;
    uint8_t *bytes = malloc(size ? size : 1);
    int rc = bytes ? tact_mcap_read_at(r->recorder.fd, from, bytes, size) : -ENOMEM;

    *chunk_found = false;
    tact_mcap_reader_start(&file, r->recorder.fd, r->log->file.size);
    for (uint64_t at = 1; rc == 0 && !*chunk_found && at + TACT_MCAP_RECORD_HEADER < size; at++) {
        memcpy(&length, bytes + at + 1, sizeof length);
        if (bytes[at] == TACT_MCAP_CHUNK && length <= size - at - TACT_MCAP_RECORD_HEADER) {
            read += length;
            file.offset = from + at;
            *chunk_found = read > 8 * size + TACT_MCAP_CHUNK_MAX_BYTES ||
                           (tact_mcap_reader_next(&file, &record) == 0 &&
                            tact_mcap_parse_chunk(record.content, &chunk_content) == 0);
        }
    }
    free(bytes);
    tact_bytes_free(&file.buffer);
    tact_bytes_free(&chunk_content);
    return rc;
}

/* The log was already completed by its recorder or by a recovery. */
static bool is_completed(const struct recovery *r)
{
    uint8_t magic[TACT_MCAP_MAGIC_SIZE];

    return r->log->file.size > 2 * sizeof magic &&
           tact_mcap_read_at(r->recorder.fd, r->log->file.size - sizeof magic, magic,
                             sizeof magic) == 0 &&
           memcmp(magic, TACT_MCAP_MAGIC, sizeof magic) == 0;
}

/* A kill truncates the file. Other damage is covered; a log that has its end is not changed. */
static int check_damaged_ranges(struct recovery *r)
{
    const struct tact_log *log = r->log;
    const struct tact_log_state *state = &log->state;
    bool chunk_found = false;
    if (is_completed(r) &&
        (log->damaged_range_count > 0 || (log->data_end_offset == 0 && !log->is_truncated))) {
        return tact_error_set(r->err, -EBADMSG,
                              "the log is damaged at byte %" PRIu64
                              ", which a killed recorder does not explain: %s; it is read without "
                              "that part, and nothing was changed",
                              state->damage_at, state->why);
    }
    if (log->data_end_offset > 0) {
        return 0;
    }
    if (state->file_bytes - log->last_intact_offset > 2 * TACT_MCAP_CHUNK_MAX_BYTES) {
        return refuse_log(r, "too long a part at the end of the log is damaged");
    }
    int rc = find_chunk_after_damage(r, log->last_intact_offset, &chunk_found);
    if (rc != 0) {
        return tact_error_set(r->err, rc, "cannot read the log: %s", strerror(-rc));
    }
    return chunk_found ? refuse_log(r, "too long a part in the middle of the log is damaged") : 0;
}

/* Whether damage at the end stays in the file: not if a kill truncated it or the rings have its
 * content, and not after other damage, where numbers may be missing already. */
static bool must_keep_damaged_end(const struct recovery *r)
{
    const struct tact_log *log = r->log;
    bool lost =
        r->lost[TACT_RING_TICKS] + r->lost[TACT_RING_EVENTS] + r->lost[TACT_RING_ASYNC_EVENTS] > 0;

    if (log->data_end_offset > 0) {
        return false;
    }
    return lost ? !log->gap.ticks || !log->gap.events : !log->is_truncated && !r->are_rings_found;
}

static int list_damaged_ranges(struct recovery *r)
{
    const struct tact_log *log = r->log;

    r->end = log->data_end_offset > 0 ? log->data_end_offset : log->last_intact_offset;
    r->damaged = malloc((log->damaged_range_count + 1) * sizeof *r->damaged);
    if (!r->damaged) {
        return tact_error_set(r->err, -ENOMEM, "out of memory");
    }
    if (log->damaged_range_count > 0) {
        memcpy(r->damaged, log->damaged_ranges, log->damaged_range_count * sizeof *r->damaged);
    }
    r->damaged_count = log->damaged_range_count;
    if (must_keep_damaged_end(r)) {
        if (log->file.size - r->end < TACT_MCAP_MIN_DAMAGE_COVER_BYTES) {
            return refuse_log(r, "ticks that had been written are missing from the log");
        }
        r->damaged[r->damaged_count++] = (struct tact_mcap_byte_range){r->end, log->file.size};
        r->end = log->file.size;
    }
    return 0;
}

static int check_rings_match_log(struct recovery *r)
{
    const struct tact_encoder *encoder = &r->description.encoder;
    int rc = 0;

    for (int i = 0; rc == 0 && i < TACT_RINGS; i++) {
        rc = reclaim_released_elements(r, i);
    }
    if (rc == 0 && r->log->chunk_count > 0 &&
        (r->log->layout.size != encoder->size ||
         tact_layout_stride(&r->log->layout) != encoder->stride ||
         r->log->tick_log_channel != encoder->tick_log_channel ||
         r->log->event_channel != encoder->event_channel)) {
        return refuse_log(r, "the ticks in memory have another layout than those of the log");
    }
    return rc;
}

/* Appends the elements of a ring from next[ring] on; the open chunk starts there. */
static void append_elements(struct recovery *r, int ring, uint64_t *added, uint64_t *lost)
{
    struct tact_recorder_part *recorder = &r->recorder;
    bool damaged;
    uint32_t count = committed_element_count(r, ring, &damaged);

    r->report.counters_damaged = r->report.counters_damaged || damaged;
    for (uint32_t i = 0; i < count; i++) {
        const void *content = tact_ring_file_element(&recorder->rings, ring, r->next[ring] + i);
        if (!content) {
            tact_recorder_discard_oldest_element(recorder, ring);
            ++*lost;
            continue;
        }
        if (ring == TACT_RING_TICKS) {
            tact_recorder_write_tick(recorder, content);
        } else {
            tact_recorder_write_event(recorder, ring, content);
        }
        ++*added;
    }
}

/* Describes what was in the damaged bytes that stay in the file, as far as known. */
static void report_damage_as_text(struct recovery *r)
{
    const struct tact_log_state *state = &r->log->state;
    struct tact_recover_report *report = &r->report;
    uint32_t lost_ticks_at_end = r->lost[TACT_RING_TICKS];

    report->bytes_covered = tact_mcap_writer_damage_cover_bytes(r->recorder.writer);
    if (report->bytes_covered == 0) {
        return;
    }
    report->ticks_damaged = state->lost + lost_ticks_at_end;
    int used = snprintf(report->damage, sizeof report->damage,
                        "%" PRIu64 " bytes, the first of them at %" PRIu64, report->bytes_covered,
                        state->damage_at);
    if (report->ticks_damaged > 0) {
        snprintf(report->damage + used, sizeof report->damage - (size_t)used,
                 "; %" PRIu64 " ticks are lost, of those from %" PRIu64 " to %" PRIu64,
                 report->ticks_damaged, state->lost > 0 ? state->lost_first : state->last_tick + 1,
                 lost_ticks_at_end > 0 ? r->lost_last : state->lost_last);
    }
}

static void put_key_and_value(struct tact_bytes *map, const char *key, const char *value)
{
    tact_bytes_append_text(map, key);
    tact_bytes_append_text(map, value);
}

static int put_recovery_facts(struct recovery *r)
{
    const struct tact_recover_report *report = &r->report;
    struct tact_bytes map = {0};
    const struct {
        const char *key;
        uint64_t value;
    } facts[] = {{"recovered_ticks", report->ticks_added},
                 {"recovered_events", report->events_added},
                 {"lost_ticks", report->ticks_lost},
                 {"damaged_ticks", report->ticks_damaged}};
    size_t count = sizeof facts / sizeof *facts - (report->damage[0] ? 0 : 1);
    char text[32];
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%" PRIu64, facts[i].value);
        put_key_and_value(&map, facts[i].key, text);
    }
    if (report->damage[0]) {
        put_key_and_value(&map, "damage", report->damage);
    }
    tact_put_crc_of_log_facts(&map);
    int rc = tact_mcap_writer_add_metadata(r->recorder.writer, TACT_RECOVERED_METADATA_NAME, &map);
    tact_bytes_free(&map);
    return rc;
}

/* All checks passed: from here on the file is changed. */
static int finish_recovered_log(struct recovery *r)
{
    struct tact_recorder_part *recorder = &r->recorder;
    struct tact_recover_report *report = &r->report;

    int rc = tact_mcap_writer_repair_file(recorder->writer);
    if (rc == 0 && r->are_rings_found) {
        for (int i = 0; i < TACT_RINGS; i++) {
            struct tact_ring *ring = recorder->rings.rings[i];
            tact_ring_release_many(ring, r->next[i] - tact_ring_tail(ring));
        }
        tact_mcap_writer_skip_sequence(recorder->writer, recorder->encoder.tick_log_channel,
                                       r->lost[TACT_RING_TICKS]);
        tact_mcap_writer_skip_sequence(recorder->writer, recorder->encoder.event_channel,
                                       r->lost[TACT_RING_EVENTS] + r->lost[TACT_RING_ASYNC_EVENTS]);
        append_elements(r, TACT_RING_TICKS, &report->ticks_added, &report->ticks_lost);
        append_elements(r, TACT_RING_EVENTS, &report->events_added, &report->events_lost);
        append_elements(r, TACT_RING_ASYNC_EVENTS, &report->events_added, &report->events_lost);
        tact_recorder_flush(recorder);
    }
    if (rc == 0) {
        rc = recorder->report.error;
    }
    if (rc == 0) {
        rc = put_recovery_facts(r);
    }
    report->ticks += report->ticks_added;
    report->events += report->events_added;
    int closed = tact_mcap_writer_close(recorder->writer, NULL);
    recorder->writer = NULL;
    rc = rc ? rc : closed;
    return rc ? tact_error_set(r->err, rc, "cannot finish the log: %s", strerror(-rc)) : 0;
}

static int resume_log_writer(struct recovery *r)
{
    struct tact_recorder_part *recorder = &r->recorder;
    struct tact_mcap_unfinished_file from = {
        .fd = fcntl(recorder->fd, F_DUPFD_CLOEXEC, 0),
        .end = r->end,
        .zstd_level = r->are_rings_found ? r->description.options.zstd_level : 1,
        .schema_and_channel_records = r->description.schema_and_channel_records,
        .header = {r->header.data, r->header.size},
        .damaged = r->damaged,
        .damaged_count = r->damaged_count,
    };

    if (from.fd < 0) {
        return tact_error_set(r->err, -errno, "cannot open the log: %s", strerror(errno));
    }
    int rc = tact_mcap_writer_reopen(&from, &recorder->writer);
    if (rc == -EBADMSG) {
        return refuse_log(r, "a record is out of order, or damage is too short to be covered");
    }
    if (rc != 0) {
        return tact_error_set(r->err, rc, "cannot read the log: %s", strerror(-rc));
    }
    r->report.bytes_cut = r->log->file.size - from.end;
    report_damage_as_text(r);
    if (!r->are_rings_found) {
        return 0;
    }
    recorder->encoder = r->description.encoder;
    r->description.encoder = (struct tact_encoder){0};
    recorder->encoder.message_sink = tact_mcap_message_sink(recorder->writer);
    recorder->options = r->description.options;
    recorder->options.sync_ns = 0;
    int count = tact_mcap_writer_channel_count(recorder->writer);
    bool topics_match = tact_encoder_has_channels(&recorder->encoder, count);
    return topics_match ? 0 : refuse_log(r, "the ticks in memory have other topics than the log");
}

static int run_recovery(struct recovery *r, const char *folder)
{
    const struct tact_log_state *state;
    bool damaged, has_unlogged_ticks = false;

    int rc = open_log_for_recovery(r);
    if (rc == 0) {
        rc = open_rings_of_log(r, folder);
    }
    if (rc != 0) {
        return rc;
    }
    state = &r->log->state;
    r->report.ticks = state->ticks;
    r->report.events = state->events;
    if (r->are_rings_found) {
        find_unlogged_elements(r);
        has_unlogged_ticks = committed_element_count(r, TACT_RING_TICKS, &damaged) > 0;
    }
    r->report.was_complete = r->log->closed;
    if (r->log->closed && !has_unlogged_ticks) {
        r->report.ticks_damaged = state->lost;
        snprintf(r->report.damage, sizeof r->report.damage, "%s", state->why);
        return 0;
    }
    rc = check_damaged_ranges(r);
    if (rc == 0 && !r->are_rings_found && r->log->tick_log_channel < 0) {
        rc = tact_error_set(r->err, -ENODATA,
                            "nothing was recorded: the log contains no tick, and its recorder left "
                            "no ticks in memory");
    }
    if (rc == 0 && r->prefix_damaged && (r->report.counters_damaged || r->log->chunk_count == 0)) {
        rc = refuse_log(r, LOG_CHANGED_TEXT);
    }
    if (rc == 0 && r->are_rings_found) {
        rc = check_rings_match_log(r);
    }
    if (rc == 0) {
        rc = list_damaged_ranges(r);
    }
    if (rc == 0) {
        rc = resume_log_writer(r);
    }
    return rc == 0 ? finish_recovered_log(r) : rc;
}

int tact_log_recover(const char *path, const char *ring_folder, struct tact_recover_report *report,
                     struct tact_error *err)
{
    struct recovery *r = calloc(1, sizeof *r);

    tact_error_at(err, path, 0, 0, NULL);
    if (!r) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    r->path = path;
    r->err = err;
    r->recorder.fd = -1;
    struct tact_sigxfsz_mask saved_sigxfsz_mask = tact_sigxfsz_block();
    int rc = run_recovery(r, ring_folder ? ring_folder : TACT_RING_FILE_FOLDER);
    if (r->recorder.writer) {
        tact_mcap_writer_abandon(r->recorder.writer);
    }
    tact_sigxfsz_restore(&saved_sigxfsz_mask);
    tact_ring_file_close(&r->recorder.rings, rc != 0 && rc != -ENODATA);
    tact_encoder_free(&r->recorder.encoder);
    tact_encoder_free(&r->description.encoder);
    if (r->recorder.fd >= 0) {
        close(r->recorder.fd);
    }
    tact_log_close(r->log);
    free(r->damaged);
    tact_bytes_free(&r->header);
    if (report) {
        *report = r->report;
    }
    free(r);
    return rc;
}
