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

#define BLOCK 65536

struct recovery {
    const char *path;
    struct tact_error *err;
    struct tact_recover_report report;
    struct tact_log *log; /* as it was found */
    struct tact_description description;
    struct tact_recorder_part recorder; /* without a thread: its writer, encoder and rings */
    bool described;                     /* there are rings, and they are this log's */
    uint32_t next[TACT_RINGS];          /* first element that is not in the file */
};

static int refuse(struct recovery *r, const char *why)
{
    return tact_error_set(r->err, -EBADMSG, "%s; nothing was changed", why);
}

/* One that is being recorded or read is left alone; the lock is kept until the log is finished. */
static int open_log(struct recovery *r)
{
    struct tact_recorder_part *recorder = &r->recorder;

    recorder->fd = open(r->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (recorder->fd < 0)
        return tact_error_set(r->err, -errno, "cannot open the log: %s", strerror(errno));
    if (flock(recorder->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return tact_error_set(r->err, -EBUSY, "this log is still being recorded, or read");
    return tact_log_load(r->path, &r->log, r->err);
}

/* The rings were made when the log was so far: these bytes tell it from every other one. */
static int check_prefix(const struct recovery *r, bool *same)
{
    const struct tact_description *d = &r->description;
    uint8_t block[BLOCK];
    uint32_t crc = 0;
    uint64_t at = 0;

    *same = false;
    while (at < d->prefix_bytes) {
        uint64_t left = d->prefix_bytes - at;
        ssize_t n = pread(r->recorder.fd, block, left < BLOCK ? (size_t)left : BLOCK, (off_t)at);
        if (n < 0)
            return -errno;
        if (n == 0)
            return 0;
        crc = tact_crc32(crc, block, (size_t)n);
        at += (uint64_t)n;
    }
    *same = crc == d->prefix_crc;
    return 0;
}

static int read_description(struct recovery *r)
{
    struct tact_ring_file *rings = &r->recorder.rings;
    struct tact_description *d = &r->description;
    bool same;

    int rc = tact_description_read(rings->session, d);
    if (rc != 0)
        return refuse(r, "the rings that its recorder left are of another version, or damaged");
    r->described = true;
    if (rings->sizes.content[TACT_RING_TICKS] !=
            sizeof(struct tact_record) + d->encoder.size * sizeof(double) ||
        rings->sizes.content[TACT_RING_EVENTS] != sizeof(struct tact_ring_event) ||
        rings->sizes.content[TACT_RING_NOTES] != sizeof(struct tact_ring_event))
        return refuse(r, "the rings that its recorder left do not fit what they say of themselves");
    rc = check_prefix(r, &same);
    if (rc != 0)
        return tact_error_set(r->err, rc, "cannot read the log: %s", strerror(-rc));
    return same ? 0 : refuse(r, "the log was changed after its recorder was killed");
}

static int open_rings(struct recovery *r, const char *folder)
{
    struct tact_ring_file *rings = &r->recorder.rings;

    int rc = tact_ring_file_open(rings, folder, &r->log->file.status, r->err);
    if (rc == -ENOENT)
        return 0;
    if (rc != 0)
        return rc;
    r->report.rings = true;
    if (rings->finished)
        return read_description(r);
    return r->log->chunk_count == 0 ? 0 : refuse(r, "the rings that its recorder left are cut");
}

/* The last chunk's mark says where the rings go on. Without it (its bytes are damaged) ticks can be
 * counted in the file, and events go on where they were last given back. */
static void find_next(struct recovery *r)
{
    struct tact_ring_file *rings = &r->recorder.rings;
    const struct tact_log *log = r->log;
    bool found = log->chunk_count == 0;

    for (int i = 0; i < TACT_RINGS; i++)
        r->next[i] = found ? 0 : tact_ring_tail(rings->rings[i]);
    for (int which = 0; which < 2 && log->chunk_count > 0; which++) {
        const struct tact_ring_mark *mark = &rings->marks[which];
        if (mark->chunk_at != log->chunks[log->chunk_count - 1].at ||
            mark->next[TACT_RING_TICKS] != (uint32_t)log->state.ticks ||
            !tact_ring_file_mark_is_whole(rings, which))
            continue;
        found = true;
        memcpy(r->next, mark->next, sizeof r->next);
        rings->mark_count = (uint32_t)which + 1; /* the other one is the next to be replaced */
    }
    r->next[TACT_RING_TICKS] = (uint32_t)log->state.ticks;
    r->report.counters_damaged = !found;
}

/* A ring whose counter says nonsense is believed as far as its elements are whole. */
static uint32_t count_committed(struct recovery *r, int ring, bool *damaged)
{
    struct tact_ring_file *rings = &r->recorder.rings;
    uint32_t capacity = tact_ring_capacity(rings->rings[ring]);
    uint32_t count = tact_ring_head(rings->rings[ring]) - r->next[ring];

    *damaged = count > capacity;
    if (*damaged)
        count = 0;
    /* The next one may be whole and not yet counted; more than one is a counter that is wrong. */
    uint32_t more = 0;
    while (count < capacity && tact_ring_file_element(rings, ring, r->next[ring] + count)) {
        count++;
        more++;
    }
    *damaged = *damaged || more > 1;
    return count;
}

/* Whole chunks behind the damage: then it is no record that a kill cut short. */
static int chunks_follow(const struct recovery *r, uint64_t from, bool *follow)
{
    struct tact_mcap_reader file;
    struct tact_mcap_record record;
    struct tact_bytes unpacked = {0};
    uint64_t left = r->log->file.size - from;
    uint8_t *bytes = malloc(left ? left : 1);
    int rc = bytes ? 0 : -ENOMEM;

    *follow = false;
    if (rc == 0 && pread(r->recorder.fd, bytes, left, (off_t)from) != (ssize_t)left)
        rc = -EIO;
    tact_mcap_reader_start(&file, r->recorder.fd, r->log->file.size);
    for (uint64_t at = 1; rc == 0 && !*follow && at + TACT_MCAP_RECORD_HEAD < left; at++) {
        uint64_t length;
        memcpy(&length, bytes + at + 1, sizeof length);
        if (bytes[at] != TACT_MCAP_CHUNK || length > left - at - TACT_MCAP_RECORD_HEAD)
            continue;
        file.offset = from + at;
        *follow = tact_mcap_reader_next(&file, &record) == 0 &&
                  tact_mcap_parse_chunk(record.content, &unpacked) == 0;
    }
    free(bytes);
    tact_bytes_free(&file.buffer);
    tact_bytes_free(&unpacked);
    return rc;
}

/* A kill cuts the file short, and nothing else. */
static int check_damage(struct recovery *r)
{
    const struct tact_log *log = r->log;
    const struct tact_log_state *state = &log->state;
    bool follow = false;

    if (state->data_complete)
        return 0;
    if (log->skipped > 0)
        return tact_error_set(r->err, -EBADMSG,
                              "the log is damaged at byte %" PRIu64
                              ", which a killed recorder does not explain: %s; it is read without "
                              "that part, and nothing was changed",
                              state->damage_at, state->why);
    if (!log->cut || state->bytes_lost > 2 * TACT_MCAP_CHUNK_LIMIT)
        return tact_error_set(r->err, -EBADMSG,
                              "the log is damaged at byte %" PRIu64
                              ", which a killed recorder does not explain: %s; nothing was changed",
                              state->damage_at, state->why);
    int rc = chunks_follow(r, state->damage_at, &follow);
    if (rc != 0)
        return tact_error_set(r->err, rc, "cannot read the log: %s", strerror(-rc));
    return follow ? refuse(r, "the log is damaged in its middle") : 0;
}

/* What was given back had been written: it must be in the file. */
static int check_rings(struct recovery *r)
{
    struct tact_ring *ticks = r->recorder.rings.rings[TACT_RING_TICKS];

    if ((int32_t)(r->next[TACT_RING_TICKS] - tact_ring_tail(ticks)) < 0)
        return refuse(r, "ticks that had been written are missing from the log, or the rings that "
                         "its recorder left are damaged");
    const struct tact_encoder *encoder = &r->description.encoder;
    if (r->log->chunk_count > 0 &&
        (r->log->layout.size != encoder->size || r->log->tick_channel != encoder->tick_channel ||
         r->log->event_channel != encoder->event_channel))
        return refuse(r, "the rings that its recorder left have another layout than the log");
    return 0;
}

/* The rings' elements from next[ring] on; the open chunk starts there. */
static void take_ring(struct recovery *r, int ring, uint64_t *added, uint64_t *lost)
{
    struct tact_recorder_part *recorder = &r->recorder;
    bool damaged;
    uint32_t count = count_committed(r, ring, &damaged);

    r->report.counters_damaged = r->report.counters_damaged || damaged;
    for (uint32_t i = 0; i < count; i++) {
        const void *content = tact_ring_file_element(&recorder->rings, ring, r->next[ring] + i);
        if (!content) {
            tact_recorder_skip(recorder, ring);
            ++*lost;
            continue;
        }
        if (ring == TACT_RING_TICKS)
            tact_recorder_take_record(recorder, content);
        else
            tact_recorder_take_event(recorder, ring, content);
        ++*added;
    }
}

static int put_facts(struct recovery *r)
{
    const struct tact_recover_report *report = &r->report;
    struct tact_bytes map = {0};
    const struct {
        const char *key;
        uint64_t value;
    } facts[] = {{"recovered_ticks", report->ticks_added},
                 {"recovered_events", report->events_added},
                 {"lost_ticks", report->ticks_lost}};
    char text[32];

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        snprintf(text, sizeof text, "%" PRIu64, facts[i].value);
        tact_put_text(&map, facts[i].key);
        tact_put_text(&map, text);
    }
    snprintf(text, sizeof text, "%08" PRIx32, tact_crc32(0, map.data, map.size));
    tact_put_text(&map, TACT_FACTS_CRC);
    tact_put_text(&map, text);
    int rc = tact_mcap_writer_metadata(r->recorder.writer, TACT_RECOVERED, &map);
    tact_bytes_free(&map);
    return rc;
}

/* Everything was checked: from here on the file changes. */
static int finish(struct recovery *r)
{
    struct tact_recorder_part *recorder = &r->recorder;
    struct tact_recover_report *report = &r->report;

    int rc = tact_mcap_writer_resume(recorder->writer);
    if (rc == 0 && r->described) {
        for (int i = 0; i < TACT_RINGS; i++) {
            struct tact_ring *ring = recorder->rings.rings[i];
            tact_ring_release_many(ring, r->next[i] - tact_ring_tail(ring));
        }
        take_ring(r, TACT_RING_TICKS, &report->ticks_added, &report->ticks_lost);
        take_ring(r, TACT_RING_EVENTS, &report->events_added, &report->events_lost);
        take_ring(r, TACT_RING_NOTES, &report->events_added, &report->events_lost);
        tact_recorder_flush(recorder);
    }
    if (rc == 0)
        rc = recorder->report.error;
    if (rc == 0)
        rc = put_facts(r);
    report->ticks += report->ticks_added;
    report->events += report->events_added;
    int closed = tact_mcap_writer_close(recorder->writer, NULL);
    recorder->writer = NULL;
    rc = rc ? rc : closed;
    return rc ? tact_error_set(r->err, rc, "cannot finish the log: %s", strerror(-rc)) : 0;
}

static int take_over(struct recovery *r)
{
    struct tact_recorder_part *recorder = &r->recorder;
    const struct tact_log *log = r->log;
    const struct tact_log_state *state = &log->state;
    struct tact_mcap_takeover from = {
        .fd = fcntl(recorder->fd, F_DUPFD_CLOEXEC, 0),
        .end = state->data_complete ? log->data_end_at : state->damage_at,
        .zstd_level = r->described ? r->description.options.zstd_level : 1,
        .definitions = r->description.definitions,
    };

    if (from.fd < 0)
        return tact_error_set(r->err, -errno, "cannot open the log: %s", strerror(errno));
    int rc = tact_mcap_writer_take_over(&from, &recorder->writer);
    if (rc == -EBADMSG)
        return refuse(r, "the index of a chunk is damaged");
    if (rc != 0)
        return tact_error_set(r->err, rc, "cannot read the log: %s", strerror(-rc));
    r->report.bytes_cut = state->file_bytes - from.end;
    if (!r->described)
        return 0;
    recorder->encoder = r->description.encoder;
    r->description.encoder = (struct tact_encoder){0};
    recorder->encoder.writer = recorder->writer;
    recorder->options = r->description.options;
    recorder->options.sync_ns = 0;
    return tact_encoder_channels_exist(&recorder->encoder)
               ? 0
               : refuse(r, "the rings that its recorder left have other topics than the log");
}

static int recover(struct recovery *r, const char *folder)
{
    const struct tact_log_state *state;
    bool damaged, more = false;

    int rc = open_log(r);
    if (rc == 0)
        rc = open_rings(r, folder);
    if (rc != 0)
        return rc;
    state = &r->log->state;
    r->report.ticks = state->ticks;
    r->report.events = state->events;
    if (r->described) {
        find_next(r);
        more = count_committed(r, TACT_RING_TICKS, &damaged) > 0;
    }
    r->report.was_complete = state->complete;
    if (state->complete && !more)
        return 0;
    rc = check_damage(r);
    if (rc == 0 && !r->described && r->log->tick_channel < 0)
        rc = tact_error_set(r->err, -ENODATA,
                            "nothing was recorded: it holds no tick, and its recorder left nothing "
                            "in memory");
    if (rc == 0 && r->described)
        rc = check_rings(r);
    if (rc == 0)
        rc = take_over(r);
    return rc == 0 ? finish(r) : rc;
}

int tact_log_recover(const char *path, const char *ring_folder, struct tact_recover_report *report,
                     struct tact_error *err)
{
    struct recovery *r = calloc(1, sizeof *r);

    tact_error_at(err, path, 0, 0, NULL);
    if (!r)
        return tact_error_set(err, -ENOMEM, "out of memory");
    r->path = path;
    r->err = err;
    r->recorder.fd = -1;
    struct tact_size_signal signal = tact_size_signal_block();
    int rc = recover(r, ring_folder ? ring_folder : TACT_RING_FILE_FOLDER);
    if (r->recorder.writer)
        tact_mcap_writer_abandon(r->recorder.writer);
    tact_size_signal_restore(&signal);
    tact_ring_file_close(&r->recorder.rings, rc != 0 && rc != -ENODATA);
    tact_encoder_free(&r->recorder.encoder);
    tact_encoder_free(&r->description.encoder);
    if (r->recorder.fd >= 0)
        close(r->recorder.fd);
    tact_log_close(r->log);
    if (report)
        *report = r->report;
    free(r);
    return rc;
}
