/* One file of a recording: creating and closing its log, rings and thread. */
#include "recorder_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "describe_internal.h"
#include "log_file_internal.h"
#include "log_reader.h"
#include "../thread_internal.h"

#define NS_PER_S INT64_C(1000000000)
#define MAX_QUEUED_EVENT_BYTES (1 << 20)
#define MIN_RING_ELEMENTS 16

static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int start_thread(struct tact_recorder_part *recorder)
{
    const struct tact_thread_options options = {.name = "tact-recorder"};
    return tact_thread_start(&recorder->thread, &options, tact_recorder_thread_main, recorder);
}

/* Opens the file of a part; that of the first part was created with the recorder. */
static int open_log_part_file(struct tact_recorder_part *part, bool *is_log_file_created,
                              struct tact_error *err)
{
    int fd = part->owner->fd;

    *is_log_file_created = false;
    part->owner->fd = -1;
    return part->number == 1 ? fd
                             : tact_log_file_create_part(part->path, part->options.replace,
                                                         is_log_file_created, err);
}

void tact_recorder_part_free(struct tact_recorder_part *part)
{
    if (part->writer) {
        tact_mcap_writer_close(part->writer, &part->report.bytes);
    }
    tact_encoder_free(&part->encoder);
    tact_ring_file_close(&part->rings, false);
    tact_ring_free(part->pressures);
    pthread_mutex_destroy(&part->lock);
    free(part->path);
    free(part);
}

/* Capacity of the ticks' ring within TACT_RECORDER_RING_BYTES. */
static uint32_t ring_tick_capacity(const struct tact_recorder_options *options, size_t record_bytes)
{
    uint32_t ticks = options->ring_ticks;

    while (ticks > MIN_RING_ELEMENTS && (size_t)ticks * record_bytes > TACT_RECORDER_RING_BYTES) {
        ticks /= 2;
    }
    return ticks;
}

struct tact_ring_sizes tact_recorder_ring_sizes(const struct tact_recorder_options *options,
                                                const struct tact_layout *layout)
{
    size_t bytes = tact_layout_bytes(layout);

    return (struct tact_ring_sizes){
        .capacity = {ring_tick_capacity(options, bytes), options->ring_events,
                     TACT_RECORDER_ASYNC_EVENT_CAPACITY},
        .content = {(uint32_t)bytes, sizeof(struct tact_ring_event),
                    sizeof(struct tact_ring_event)},
        .list_count_offset =
            layout->element ? (uint32_t)(sizeof(struct tact_record) + layout->size * sizeof(double))
                            : 0,
        .list_element_bytes = tact_layout_stride(layout) * (uint32_t)sizeof(double),
    };
}

/* Falls back to private memory: without rings that survive the process, recording still works. */
static int create_rings_of_log_part(struct tact_recorder_part *recorder,
                                    const struct tact_layout *layout)
{
    struct tact_ring_sizes ring_sizes = tact_recorder_ring_sizes(&recorder->options, layout);
    const char *folder = recorder->options.ring_folder;
    struct tact_bytes session = {0};
    struct stat log;
    bool was_ring_file_replaced = false;
    int rc = -EINVAL; /* the log is a pipe or a device: it cannot be recovered */

    if (!folder) {
        folder = TACT_RING_FILE_FOLDER;
    }
    if (fstat(recorder->fd, &log) == 0 && S_ISREG(log.st_mode)) {
        recorder->had_file_name_when_opened = log.st_nlink > 0;
        tact_session_description_write(&recorder->options, recorder->writer, &recorder->encoder,
                                       &session);
        rc = tact_ring_file_create(&recorder->rings, folder, &log, &ring_sizes, &session,
                                   &was_ring_file_replaced);
        tact_bytes_free(&session);
        if (rc != 0) {
            tact_message(
                recorder->messages, TACT_MESSAGE_WARNING,
                "%s: the ticks that are not yet in the log file cannot be stored in the folder %s "
                "(%s): if this process is killed, the last %.2g s of the log are lost",
                recorder->path, folder, strerror(-rc), (double)recorder->options.chunk_ns * 1e-9);
        }
    }
    if (was_ring_file_replaced) {
        tact_message(recorder->messages, TACT_MESSAGE_WARNING,
                     "%s: an older log of this name, whose recorder had been killed, was "
                     "overwritten: its last ticks were not recovered",
                     recorder->path);
    }
    rc = rc == 0 ? 0 : tact_ring_file_create_in_private_memory(&recorder->rings, &ring_sizes);
    if (rc == 0 && recorder->options.ring_pressures > 0) {
        rc = tact_ring_create(&recorder->pressures, recorder->options.ring_pressures,
                              sizeof(struct tact_ring_pressure), 0);
    }
    return rc;
}

/* Opens a part of a recording except for its thread. */
static int open_recorder_part(struct tact_recorder_part *recorder,
                              const struct tact_recorder_content *content,
                              bool *is_log_file_created, struct tact_error *err)
{
    int64_t now = read_clock_ns(CLOCK_MONOTONIC);
    int64_t anchor = recorder->options.wall_anchor_ns;

    if (anchor == 0) {
        anchor = read_clock_ns(CLOCK_REALTIME) - now;
    }
    recorder->path = tact_log_part_path(recorder->owner->path, recorder->number);
    if (!recorder->path) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    int fd = recorder->fd = open_log_part_file(recorder, is_log_file_created, err);
    if (fd < 0) {
        return fd;
    }
    int rc = tact_mcap_writer_open(fd, TACT_LOG_HEADER_PROFILE, TACT_LOG_HEADER_LIBRARY,
                                   recorder->options.zstd_level, &recorder->writer);
    if (rc == 0) {
        rc = tact_encoder_init(&recorder->encoder, recorder->writer, content,
                               &recorder->owner->content.scene,
                               recorder->owner->session[0] ? recorder->number : 0,
                               recorder->options.derived_every, anchor, now);
    }
    if (rc == 0 && recorder->options.ring_pressures > 0) {
        rc = tact_encoder_add_pressure(&recorder->encoder);
    }
    if (rc != 0) {
        return tact_error_set(err, rc, "cannot write the log: %s", strerror(-rc));
    }
    rc = create_rings_of_log_part(recorder, content->layout);
    if (rc != 0) {
        return tact_error_set(err, rc, "the recorder's rings: %s", strerror(-rc));
    }
    return 0;
}

int tact_recorder_part_open(struct tact_recorder *owner, unsigned number,
                            const struct tact_recorder_content *content,
                            struct tact_recorder_part **out, struct tact_error *err)
{
    struct tact_recorder_part *part = calloc(1, sizeof *part);
    if (!part) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    part->owner = owner;
    part->number = number;
    part->before = owner->last;
    part->options = owner->options;
    part->messages = owner->messages;
    part->event_queue_tail = &part->queue;
    part->file_synced_ns = read_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_init(&part->lock, NULL);
    bool is_log_file_created = false;
    int rc = open_recorder_part(part, content, &is_log_file_created, err);
    if (rc == 0) {
        rc = start_thread(part);
        if (rc != 0) {
            tact_error_set(err, rc, "cannot start the recorder thread: %s", strerror(-rc));
        }
    }
    if (rc != 0) {
        if (is_log_file_created) {
            unlink(part->path);
        }
        tact_recorder_part_free(part);
        return rc;
    }
    *out = part;
    return 0;
}

struct tact_record *tact_recorder_part_begin_record(struct tact_recorder_part *part)
{
    return tact_ring_file_begin_element(&part->rings, TACT_RING_TICKS);
}

void tact_recorder_part_commit_record(struct tact_recorder_part *part)
{
    tact_ring_file_commit_element(&part->rings, TACT_RING_TICKS);
}

/* Copies at most size - 1 characters, as strncpy(), and always terminates the copy. */
static void copy_truncated_text(char *to, const char *from, size_t size)
{
    size_t length = strnlen(from, size - 1);

    memcpy(to, from, length);
    memset(to + length, 0, size - length);
}

static int push_event_to_ring(struct tact_recorder_part *recorder, int ring, uint64_t tick,
                              int64_t stamp_ns, const char *name, const char *text)
{
    struct tact_ring_event *event = tact_ring_file_begin_element(&recorder->rings, ring);

    if (!event) {
        return -ENOBUFS;
    }
    event->tick = tick;
    event->stamp_ns = stamp_ns;
    copy_truncated_text(event->name, name, sizeof event->name);
    copy_truncated_text(event->text, text, sizeof event->text);
    tact_ring_file_commit_element(&recorder->rings, ring);
    return 0;
}

static int queue_long_event(struct tact_recorder_part *recorder, uint64_t tick, int64_t stamp_ns,
                            const char *name, size_t event_name_byte_count, const char *text,
                            size_t text_size)
{
    struct tact_queued_event *event = malloc(sizeof *event + event_name_byte_count + text_size);

    if (!event) {
        return -ENOMEM;
    }
    event->next = NULL;
    event->tick = tick;
    event->stamp_ns = stamp_ns;
    memcpy(event->name, name, event_name_byte_count);
    event->text = memcpy(event->name + event_name_byte_count, text, text_size);
    *recorder->event_queue_tail = event;
    recorder->event_queue_tail = &event->next;
    return 0;
}

int tact_recorder_part_add_event(struct tact_recorder_part *recorder, uint64_t tick,
                                 int64_t stamp_ns, const char *name, const char *text)
{
    size_t event_name_byte_count = strlen(name) + 1, text_size = strlen(text) + 1;
    int rc = -ENOBUFS;

    if (event_name_byte_count + text_size > MAX_QUEUED_EVENT_BYTES) {
        return -EMSGSIZE;
    }
    pthread_mutex_lock(&recorder->lock);
    if (recorder->closed) {
        pthread_mutex_unlock(&recorder->lock);
        return -EAGAIN;
    }
    if (!recorder->queue && event_name_byte_count <= TACT_RECORDER_EVENT_NAME &&
        text_size <= TACT_RECORDER_EVENT_TEXT) {
        rc = push_event_to_ring(recorder, TACT_RING_ASYNC_EVENTS, tick, stamp_ns, name, text);
    }
    if (rc != 0) {
        rc = queue_long_event(recorder, tick, stamp_ns, name, event_name_byte_count, text,
                              text_size);
    }
    pthread_mutex_unlock(&recorder->lock);
    return rc;
}

int tact_recorder_part_add_event_rt(struct tact_recorder_part *part, uint64_t tick,
                                    int64_t stamp_ns, const char *name, const char *text)
{
    return push_event_to_ring(part, TACT_RING_EVENTS, tick, stamp_ns, name, text);
}

/* Copies the valid part of a pressure map. */
static void copy_pressure_map(struct tact_pressure *to, const struct tact_pressure *from)
{
    to->patches = from->patches;
    to->polygons = from->polygons;
    to->corners = from->corners;
    to->left_out = from->left_out;
    to->patches_left_out = from->patches_left_out;
    memcpy(to->patch, from->patch, from->patches * sizeof *to->patch);
    memcpy(to->sides, from->sides, from->polygons * sizeof *to->sides);
    memcpy(to->corner, from->corner, from->corners * sizeof *to->corner);
}

int tact_recorder_part_add_pressure_map(struct tact_recorder_part *part, uint64_t tick,
                                        int64_t stamp_ns, const struct tact_pressure *map)
{
    struct tact_ring_pressure *slot = part->pressures ? tact_ring_reserve(part->pressures) : NULL;

    if (!slot) {
        return -ENOBUFS;
    }
    slot->tick = tick;
    slot->stamp_ns = stamp_ns;
    copy_pressure_map(&slot->map, map);
    tact_ring_commit(part->pressures);
    return 0;
}

/* A last record states that the session continues in another file. */
static int write_continuation_metadata(struct tact_recorder_part *part)
{
    struct tact_bytes map = {0};
    char *next = tact_log_part_path(part->owner->path, part->number + 1);
    const char *slash = next ? strrchr(next, '/') : NULL;
    int rc = -ENOMEM;

    if (next) {
        tact_bytes_append_text(&map, "continued_in");
        tact_bytes_append_text(&map, slash ? slash + 1 : next);
        tact_put_crc_of_log_facts(&map);
        rc = tact_mcap_writer_add_metadata(part->writer, TACT_CONTINUED_METADATA_NAME, &map);
    }
    tact_bytes_free(&map);
    free(next);
    return rc;
}

void tact_recorder_part_finish(struct tact_recorder_part *part)
{
    struct tact_recorder_report *report = &part->report;
    const struct tact_ring *ticks = part->rings.rings[TACT_RING_TICKS];

    report->overruns = tact_ring_overruns(ticks);
    report->event_overruns = tact_ring_overruns(part->rings.rings[TACT_RING_EVENTS]);
    report->pressure_overruns = part->pressures ? tact_ring_overruns(part->pressures) : 0;
    report->occupancy_max = tact_ring_high_water(ticks);
    report->ring_ticks = tact_ring_capacity(ticks);
    if (atomic_load(&part->is_producer_done) && report->error == 0) {
        write_continuation_metadata(part);
    }
    int rc = tact_mcap_writer_close(part->writer, &report->bytes);
    part->writer = NULL;
    if (rc != 0 && report->error == 0) {
        report->error = rc;
        tact_message(part->messages, TACT_MESSAGE_ERROR,
                     "%s: the log could not be finished: %s; its ticks can be read", part->path,
                     strerror(-rc));
    }
    if (report->error == 0 && part->is_deletion_logged) {
        report->error = -ENOENT;
    }
    tact_encoder_free(&part->encoder);
    if (!atomic_load(&part->is_producer_done)) {
        return; /* the thread that records may still access the rings */
    }
    tact_ring_file_close(&part->rings, false);
    atomic_store(&part->ended, true);
}

void tact_recorder_part_join_thread(struct tact_recorder_part *part)
{
    if (!part->is_recorder_thread_joined) {
        pthread_join(part->thread, NULL);
    }
    part->is_recorder_thread_joined = true;
}
