#include "recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log_file_internal.h"
#include "recorder_internal.h"

#define NS_PER_S INT64_C(1000000000)
#define RING_DRAIN_POLL_INTERVAL_NS 200000

struct tact_recorder_options tact_recorder_options_default(void)
{
    return (struct tact_recorder_options){
        .ring_ticks = 8192,
        .ring_events = 256,
        .chunk_bytes = 1 << 20,
        .chunk_ns = NS_PER_S / 4,
        .sync_ns = NS_PER_S,
        .zstd_level = 1,
        .derived_every = 10,
        .loop_cpu = -1,
    };
}

static int check_recorder_options(const struct tact_recorder_options *options,
                                  struct tact_error *err)
{
    if (options->ring_ticks < 1 || options->ring_ticks > 1U << 24 || options->ring_events < 1 ||
        options->ring_events > 1U << 20) {
        return tact_error_set(
            err, -EINVAL,
            "ring_ticks or ring_events, the sizes of the recorder's rings, is out of range");
    }
    if (options->ring_pressures > 1U << 12) {
        return tact_error_set(
            err, -EINVAL,
            "ring_pressures, the size of the recorder's ring of pressure maps, is too large");
    }
    if (options->chunk_bytes < 1 || options->chunk_bytes > TACT_RECORDER_CHUNK_MAX ||
        options->chunk_ns < 1 || options->sync_ns < 0) {
        return tact_error_set(err, -EINVAL,
                              "chunk_bytes, chunk_ns or sync_ns of the recorder is out of range");
    }
    if (options->zstd_level < 0 || options->zstd_level > 19) {
        return tact_error_set(err, -EINVAL, "zstd_level must be 0 to 19");
    }
    if (options->split_ns < 0 || (options->split_bytes > 0 && options->split_bytes < 65536)) {
        return tact_error_set(
            err, -EINVAL,
            "a log can be split into files of 64 KiB or more, or of a positive duration");
    }
    return 0;
}

/* Before the file is created or replaced: a longer record has no room in the ring of ticks. */
static int check_record_size(const struct tact_layout *layout, struct tact_error *err)
{
    const size_t bytes = tact_layout_bytes(layout);

    if (bytes <= TACT_RECORD_BYTES_MAX) {
        return 0;
    }
    return tact_error_set(err, -E2BIG,
                          "a tick's record has up to %zu bytes, with a list of up to %u contacts; "
                          "expected at most %u bytes",
                          bytes, layout->most, TACT_RECORD_BYTES_MAX);
}

/* Sets facts that identify the files of this session. */
static void set_session_facts(struct tact_recorder *recorder)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(recorder->session, sizeof recorder->session, "%llx-%lx",
             (unsigned long long)now.tv_sec * NS_PER_S + (unsigned long long)now.tv_nsec,
             (long)getpid());
}

static void free_recorder(struct tact_recorder *recorder)
{
    struct tact_recorder_part *part = recorder->last;

    while (part) {
        struct tact_recorder_part *before = part->before;
        tact_recorder_part_free(part);
        part = before;
    }
    tact_recorder_content_free(&recorder->content);
    free(recorder->path);
    free(recorder);
}

/* A viewer lacks the shapes beyond the room of /scene; the log has them in its attachments. */
static void encode_scene_and_report_omitted_shapes(struct tact_recorder *recorder,
                                                   const struct tact_recorder_content *content)
{
    struct tact_scene_omitted_shapes omitted_shapes;

    tact_encode_scene(content, TACT_SCENE_MESSAGE_MAX_BYTES, &recorder->content.scene,
                      &omitted_shapes);
    if (omitted_shapes.count > 0) {
        tact_message(recorder->messages, TACT_MESSAGE_WARNING,
                     "%s: /scene lacks %zu of %zu shapes, the first of \"%s\": their triangles "
                     "exceed its %u MiB; viewers do not draw them",
                     recorder->path, omitted_shapes.count, content->shape_count,
                     omitted_shapes.first, (unsigned)(TACT_SCENE_MESSAGE_MAX_BYTES >> 20));
    }
}

static int create_recorder_and_file(const char *path, const struct tact_recorder_options *options,
                                    const struct tact_recorder_content *content,
                                    struct tact_messages messages, struct tact_recorder **out,
                                    struct tact_error *err)
{
    bool is_log_file_created = false;
    int rc;
    struct tact_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    recorder->fd =
        tact_log_file_create_first(path, options, &recorder->path, &is_log_file_created, err);
    if (recorder->fd < 0) {
        rc = recorder->fd;
        free(recorder);
        return rc;
    }
    recorder->options = *options;
    recorder->messages = messages;
    bool is_log_split_requested = options->split_bytes > 0 || options->split_ns > 0;
    if (is_log_split_requested) {
        set_session_facts(recorder);
    }
    if (content->shape_count > 0 && options->derived_every > 0) {
        encode_scene_and_report_omitted_shapes(recorder, content);
    }
    rc = 0;
    if (is_log_split_requested &&
        tact_recorder_content_copy(&recorder->content, content, recorder->session) != 0) {
        rc = tact_error_set(err, -ENOMEM, "out of memory");
    }
    if (rc == 0) {
        rc = tact_recorder_part_open(recorder, 1,
                                     is_log_split_requested ? &recorder->content.content : content,
                                     &recorder->last, err);
    }
    if (rc != 0) {
        if (recorder->fd >= 0) {
            close(recorder->fd);
        }
        if (is_log_file_created) {
            unlink(recorder->path);
        }
        free_recorder(recorder);
        return rc;
    }
    atomic_init(&recorder->current, recorder->last);
    *out = recorder;
    return 0;
}

int tact_recorder_open(const char *path, const struct tact_recorder_options *options,
                       const struct tact_recorder_content *content, struct tact_messages messages,
                       struct tact_recorder **out, struct tact_error *err)
{
    tact_error_at(err, path, 0, 0, NULL);
    int rc = check_recorder_options(options, err);
    if (rc == 0) {
        rc = tact_encoder_check_content(content, err);
    }
    if (rc == 0) {
        rc = check_record_size(content->layout, err);
    }
    if (rc != 0) {
        return rc;
    }
    /* This thread writes the header of the file, its attachments and the rings. */
    struct tact_sigxfsz_mask saved_sigxfsz_mask = tact_sigxfsz_block();
    rc = create_recorder_and_file(path, options, content, messages, out, err);
    tact_sigxfsz_restore(&saved_sigxfsz_mask);
    return rc;
}

const char *tact_recorder_path(const struct tact_recorder *recorder)
{
    return recorder->path;
}

static struct tact_recorder_part *current_recorder_part(const struct tact_recorder *recorder)
{
    return atomic_load_explicit(&recorder->current, memory_order_acquire);
}

/* Switches to the next file if it is ready, starting with this tick. */
static struct tact_recorder_part *switch_to_next_log_part(struct tact_recorder *recorder)
{
    struct tact_recorder_part *now = current_recorder_part(recorder);
    struct tact_recorder_part *next = atomic_load_explicit(&recorder->next, memory_order_acquire);

    if (!next) {
        return now;
    }
    atomic_store_explicit(&recorder->next, NULL, memory_order_relaxed);
    atomic_fetch_add_explicit(&recorder->overruns,
                              tact_ring_overruns(now->rings.rings[TACT_RING_TICKS]),
                              memory_order_relaxed);
    atomic_store_explicit(&recorder->current, next, memory_order_release);
    /* Last access to the old part: its thread may now free the rings. */
    atomic_store_explicit(&now->is_producer_done, true, memory_order_release);
    return next;
}

struct tact_record *tact_recorder_begin(struct tact_recorder *recorder)
{
    return tact_recorder_part_begin_record(switch_to_next_log_part(recorder));
}

void tact_recorder_commit(struct tact_recorder *recorder)
{
    tact_recorder_part_commit_record(current_recorder_part(recorder));
}

void tact_recorder_wait_room(struct tact_recorder *recorder)
{
    const struct tact_recorder_part *part = current_recorder_part(recorder);
    const struct tact_ring *ticks = part->rings.rings[TACT_RING_TICKS];

    while ((tact_ring_occupancy(ticks) >= tact_ring_capacity(ticks) ||
            (part->pressures &&
             tact_ring_occupancy(part->pressures) >= tact_ring_capacity(part->pressures))) &&
           !atomic_load_explicit(&recorder->next, memory_order_relaxed)) {
        clock_nanosleep(CLOCK_MONOTONIC, 0,
                        &(struct timespec){.tv_nsec = RING_DRAIN_POLL_INTERVAL_NS}, NULL);
    }
}

int tact_recorder_event(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                        const char *name, const char *text)
{
    int rc;

    do { /* -EAGAIN: this part of the log was closed meanwhile; the event is written to the next */
        rc = tact_recorder_part_add_event(current_recorder_part(recorder), tick, stamp_ns, name,
                                          text);
    } while (rc == -EAGAIN);
    return rc;
}

int tact_recorder_event_rt(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                           const char *name, const char *text)
{
    return tact_recorder_part_add_event_rt(current_recorder_part(recorder), tick, stamp_ns, name,
                                           text);
}

int tact_recorder_pressure(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                           const struct tact_pressure *map)
{
    return tact_recorder_part_add_pressure_map(current_recorder_part(recorder), tick, stamp_ns,
                                               map);
}

uint64_t tact_recorder_overruns(const struct tact_recorder *recorder)
{
    return atomic_load_explicit(&recorder->overruns, memory_order_relaxed) +
           tact_ring_overruns(current_recorder_part(recorder)->rings.rings[TACT_RING_TICKS]);
}

/* Sums the reports of all parts. A file that was created and never used is removed. */
static void sum_reports_of_log_parts(struct tact_recorder *recorder,
                                     struct tact_recorder_report *summed_recorder_report)
{
    for (const struct tact_recorder_part *part = recorder->last; part; part = part->before) {
        const struct tact_recorder_report *log_part_report = &part->report;
        if (part->number > 1 && log_part_report->records + log_part_report->events == 0 &&
            log_part_report->error == 0) {
            unlink(part->path);
            continue;
        }
        summed_recorder_report->records += log_part_report->records;
        summed_recorder_report->events += log_part_report->events;
        summed_recorder_report->bytes += log_part_report->bytes;
        summed_recorder_report->overruns += log_part_report->overruns;
        summed_recorder_report->event_overruns += log_part_report->event_overruns;
        summed_recorder_report->discarded += log_part_report->discarded;
        summed_recorder_report->pressures += log_part_report->pressures;
        summed_recorder_report->pressure_overruns += log_part_report->pressure_overruns;
        summed_recorder_report->polygons_left_out += log_part_report->polygons_left_out;
        summed_recorder_report->ring_ticks = log_part_report->ring_ticks;
        if (log_part_report->occupancy_max > summed_recorder_report->occupancy_max) {
            summed_recorder_report->occupancy_max = log_part_report->occupancy_max;
        }
        if (log_part_report->error != 0) {
            summed_recorder_report->error =
                log_part_report
                    ->error; /* the report has the error of the first part that has one */
        }
        summed_recorder_report->parts++;
    }
}

int tact_recorder_close(struct tact_recorder *recorder, struct tact_recorder_report *report)
{
    struct tact_recorder_report summed_recorder_report = {0};

    if (!recorder) {
        return 0;
    }
    /* The current part's thread may still create another part until it has ended. */
    struct tact_recorder_part *part = current_recorder_part(recorder);
    atomic_store_explicit(&part->stop, true, memory_order_release);
    tact_recorder_part_join_thread(part);
    for (part = recorder->last; part; part = part->before) {
        atomic_store_explicit(&part->stop, true, memory_order_release);
    }
    for (part = recorder->last; part; part = part->before) {
        tact_recorder_part_join_thread(part);
    }
    sum_reports_of_log_parts(recorder, &summed_recorder_report);
    if (report) {
        *report = summed_recorder_report;
    }
    free_recorder(recorder);
    return summed_recorder_report.error;
}
