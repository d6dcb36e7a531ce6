/* The recorder's thread: from the rings into chunks, from chunks into the file. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "recorder_internal.h"

#define NS_PER_S INT64_C(1000000000)
#define RECORDER_RING_POLL_INTERVAL_NS 5000000

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The first error ends the recording; the rings are drained in any case. */
static void report_log_write_error(struct tact_recorder_part *recorder)
{
    int error = tact_mcap_writer_error(recorder->writer);

    if (error == 0 || recorder->report.error != 0) {
        return;
    }
    recorder->report.error = error;
    tact_message(recorder->messages, TACT_MESSAGE_ERROR,
                 "%s: recording stopped after %llu ticks: %s; what was written can be read",
                 recorder->path, (unsigned long long)recorder->report.records, strerror(-error));
}

/* Called once the chunk is written: a process killed before that leaves its elements in the rings.
 */
static void release_written_ring_elements(struct tact_recorder_part *recorder)
{
    for (int i = 0; i < TACT_RINGS; i++) {
        tact_ring_release_many(recorder->rings.rings[i], recorder->unflushed_element_count[i]);
        recorder->unflushed_element_count[i] = 0;
    }
}

/* The part has reached its size or time: creates the next one for the producer. On failure this one
 * continues. */
static void open_next_log_part(struct tact_recorder_part *part)
{
    struct tact_recorder *owner = part->owner;
    const struct tact_recorder_options *o = &part->options;
    struct tact_recorder_part *next = NULL;
    struct tact_error err = {0};
    bool is_log_part_full =
        (o->split_bytes > 0 && tact_mcap_writer_file_offset(part->writer) >= o->split_bytes) ||
        (o->split_ns > 0 && part->report.records > 0 &&
         part->chunk_first_record_stamp_ns - part->part_first_record_stamp_ns >= o->split_ns);

    if (!is_log_part_full || part->is_next_log_part_opened || part->report.error != 0 ||
        !part->had_file_name_when_opened) {
        return;
    }
    part->is_next_log_part_opened = true;
    if (tact_recorder_part_open(owner, part->number + 1, &owner->content.content, &next, &err) !=
        0) {
        tact_message(part->messages, TACT_MESSAGE_WARNING,
                     "%s: the log continues in this file, as the next file of the session cannot "
                     "be opened: %s",
                     part->path, err.text);
        return;
    }
    owner->last = next;
    atomic_store_explicit(&owner->next, next, memory_order_release);
}

void tact_recorder_flush(struct tact_recorder_part *recorder)
{
    uint32_t next[TACT_RINGS];

    for (int i = 0; i < TACT_RINGS; i++) {
        next[i] = tact_ring_tail(recorder->rings.rings[i]) + recorder->unflushed_element_count[i];
    }
    tact_ring_file_write_chunk_mark(&recorder->rings,
                                    tact_mcap_writer_file_offset(recorder->writer), next);
    if (tact_mcap_writer_flush(recorder->writer) == 0) {
        recorder->report.records += recorder->open_chunk_record_count;
        recorder->report.events += recorder->open_chunk_event_count;
        recorder->report.pressures += recorder->open_chunk_pressure_count;
        recorder->report.polygons_left_out += recorder->open_chunk_omitted_polygon_count;
    } else {
        recorder->report.discarded += recorder->open_chunk_record_count +
                                      recorder->open_chunk_event_count +
                                      recorder->open_chunk_pressure_count;
    }
    recorder->open_chunk_record_count = 0;
    recorder->open_chunk_event_count = 0;
    recorder->open_chunk_pressure_count = 0;
    recorder->open_chunk_omitted_polygon_count = 0;
    release_written_ring_elements(recorder);
    if (recorder->options.sync_ns > 0 &&
        now_ns() - recorder->file_synced_ns >= recorder->options.sync_ns) {
        tact_mcap_writer_sync(recorder->writer);
        recorder->file_synced_ns = now_ns();
    }
    report_log_write_error(recorder);
    if (recorder->owner) {
        open_next_log_part(recorder);
    }
}

static bool is_chunk_empty(const struct tact_recorder_part *recorder)
{
    return recorder->open_chunk_record_count + recorder->open_chunk_event_count +
               recorder->open_chunk_pressure_count ==
           0;
}

/* Whether the open chunk is due to be written: before the ring is full. */
static bool is_chunk_due(const struct tact_recorder_part *recorder)
{
    bool is_chunk_full =
        tact_mcap_writer_open_chunk_bytes(recorder->writer) >= recorder->options.chunk_bytes;

    for (int i = 0; i < TACT_RINGS; i++) {
        is_chunk_full = is_chunk_full || recorder->unflushed_element_count[i] >=
                                             (recorder->rings.ring_sizes.capacity[i] + 1) / 2;
    }
    return is_chunk_full;
}

void tact_recorder_discard_oldest_element(struct tact_recorder_part *recorder, int ring)
{
    recorder->unflushed_element_count[ring]++;
    if (is_chunk_empty(recorder)) {
        release_written_ring_elements(recorder);
    }
}

static void discard_ring_element(struct tact_recorder_part *recorder, int ring)
{
    recorder->report.discarded++;
    recorder->unflushed_element_count[ring]++;
    release_written_ring_elements(recorder);
}

/* A scene that fills a chunk has one of its own, without the first ticks. */
static void write_scene_chunk(struct tact_recorder_part *recorder, int64_t stamp_ns)
{
    tact_encode_scene_once(&recorder->encoder,
                           tact_encoder_wall_clock_time(&recorder->encoder, stamp_ns));
    tact_recorder_flush(recorder);
}

void tact_recorder_write_tick(struct tact_recorder_part *recorder, const struct tact_record *record)
{
    if (recorder->report.error != 0) {
        discard_ring_element(recorder, TACT_RING_TICKS);
        return;
    }
    if (recorder->encoder.scene.size >= recorder->options.chunk_bytes) {
        write_scene_chunk(recorder, record->stamp_ns);
    }
    if (is_chunk_empty(recorder)) {
        recorder->chunk_opening_time_ns = now_ns();
    }
    if (recorder->open_chunk_record_count == 0) {
        recorder->chunk_first_record_stamp_ns = record->stamp_ns;
    }
    if (recorder->report.records + recorder->open_chunk_record_count == 0) {
        recorder->part_first_record_stamp_ns = record->stamp_ns;
    }
    tact_encode_record(&recorder->encoder, record);
    recorder->open_chunk_record_count++;
    recorder->unflushed_element_count[TACT_RING_TICKS]++;
    /* unsigned: a stamp that steps back ends the chunk too */
    if (is_chunk_due(recorder) ||
        (uint64_t)record->stamp_ns - (uint64_t)recorder->chunk_first_record_stamp_ns >=
            (uint64_t)recorder->options.chunk_ns) {
        tact_recorder_flush(recorder);
    }
}

static void encode_recorder_event(struct tact_recorder_part *recorder, uint64_t tick,
                                  int64_t stamp_ns, char *name, char *text)
{
    if (is_chunk_empty(recorder)) {
        recorder->chunk_opening_time_ns = now_ns();
    }
    tact_utf8_repair(name);
    tact_utf8_repair(text);
    tact_encode_event(&recorder->encoder, tick, stamp_ns, name, text);
    recorder->open_chunk_event_count++;
}

void tact_recorder_write_event(struct tact_recorder_part *recorder, int ring,
                               const struct tact_ring_event *content)
{
    struct tact_ring_event event = *content;

    if (recorder->report.error != 0) {
        discard_ring_element(recorder, ring);
        return;
    }
    event.name[sizeof event.name - 1] = '\0';
    event.text[sizeof event.text - 1] = '\0';
    encode_recorder_event(recorder, event.tick, event.stamp_ns, event.name, event.text);
    recorder->unflushed_element_count[ring]++;
    if (is_chunk_due(recorder)) {
        tact_recorder_flush(recorder);
    }
}

/* Long events are only in the memory of the process, so they are written at once. */
static void append_queued_event(struct tact_recorder_part *recorder,
                                struct tact_queued_event *event)
{
    bool is_event_queued = event != NULL;

    while (event) {
        struct tact_queued_event *next = event->next;
        if (recorder->report.error != 0) {
            recorder->report.discarded++;
        } else {
            encode_recorder_event(recorder, event->tick, event->stamp_ns, event->name, event->text);
        }
        free(event);
        event = next;
        if (is_chunk_due(recorder)) {
            tact_recorder_flush(recorder);
        }
    }
    if (is_event_queued && !is_chunk_empty(recorder)) {
        tact_recorder_flush(recorder);
    }
}

static void write_ring_elements_until(struct tact_recorder_part *recorder, int ring, uint32_t until)
{
    struct tact_ring_file *rings = &recorder->rings;

    while (tact_ring_tail(rings->rings[ring]) + recorder->unflushed_element_count[ring] != until) {
        const void *content =
            tact_ring_file_peek_element(rings, ring, recorder->unflushed_element_count[ring]);
        if (ring == TACT_RING_TICKS) {
            tact_recorder_write_tick(recorder, content);
        } else {
            tact_recorder_write_event(recorder, ring, content);
        }
    }
}

/* Appends the pressure maps that are in their ring now. */
static void append_pressure_maps(struct tact_recorder_part *recorder)
{
    const struct tact_ring_pressure *from;

    while (recorder->pressures && (from = tact_ring_peek(recorder->pressures))) {
        if (recorder->report.error != 0) {
            recorder->report.discarded++;
        } else {
            if (is_chunk_empty(recorder)) {
                recorder->chunk_opening_time_ns = now_ns();
            }
            tact_encode_pressure(&recorder->encoder, from->tick, from->stamp_ns, &from->map);
            recorder->open_chunk_pressure_count++;
            recorder->open_chunk_omitted_polygon_count += from->map.left_out;
        }
        tact_ring_release(recorder->pressures);
        if (is_chunk_due(recorder)) {
            tact_recorder_flush(recorder);
        }
    }
}

/* Drains what is in the rings now: a producer that fills one continuously must not starve the
 * others. */
static void write_available_ring_elements(struct tact_recorder_part *recorder)
{
    struct tact_ring *const *rings = recorder->rings.rings;

    write_ring_elements_until(recorder, TACT_RING_TICKS, tact_ring_head(rings[TACT_RING_TICKS]));
    write_ring_elements_until(recorder, TACT_RING_EVENTS, tact_ring_head(rings[TACT_RING_EVENTS]));
    append_pressure_maps(recorder);
    /* events in the queue are newer than those in the ring */
    pthread_mutex_lock(&recorder->lock);
    uint32_t until = tact_ring_head(rings[TACT_RING_ASYNC_EVENTS]);
    struct tact_queued_event *queue = recorder->queue;
    recorder->queue = NULL;
    recorder->event_queue_tail = &recorder->queue;
    pthread_mutex_unlock(&recorder->lock);
    write_ring_elements_until(recorder, TACT_RING_ASYNC_EVENTS, until);
    append_queued_event(recorder, queue);
}

static void drain_rings_into_chunk(struct tact_recorder_part *recorder)
{
    do {
        write_available_ring_elements(recorder);
    } while (tact_ring_file_peek_element(&recorder->rings, TACT_RING_TICKS,
                                         recorder->unflushed_element_count[TACT_RING_TICKS]));
}

/* A deleted file exists as long as this process has it open, so recording continues. */
static void check_log_file_not_deleted(struct tact_recorder_part *recorder)
{
    struct stat status;

    recorder->file_name_check_time_ns = now_ns();
    if (!recorder->had_file_name_when_opened || recorder->is_deletion_logged ||
        fstat(recorder->fd, &status) != 0 || status.st_nlink > 0) {
        return;
    }
    recorder->is_deletion_logged = true;
    tact_message(recorder->messages, TACT_MESSAGE_ERROR,
                 "%s: the log was deleted while it is being recorded; until this process ends, "
                 "its contents can be copied from /proc/self/fd/%d",
                 recorder->path, recorder->fd);
}

/* The thread of the previous part has ended or is about to. Until it has, its `joined` belongs to
 * tact_recorder_close(): the previous part may still be the current one. */
static void join_thread_of_previous_log_part(struct tact_recorder_part *part)
{
    struct tact_recorder_part *before = part->before;

    if (before && atomic_load(&before->ended) && !before->is_recorder_thread_joined) {
        tact_recorder_part_join_thread(before);
    }
}

static void stop_accepting_events_of_log_part(struct tact_recorder_part *part)
{
    pthread_mutex_lock(&part->lock);
    part->closed = true;
    pthread_mutex_unlock(&part->lock);
    drain_rings_into_chunk(part);
    if (!is_chunk_empty(part)) {
        tact_recorder_flush(part);
    }
}

/* a failure to change the affinity only costs cache misses */
static void exclude_cpu_from_affinity(int cpu)
{
    cpu_set_t allowed;

    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    CPU_CLR((size_t)cpu, &allowed);
    if (CPU_COUNT(&allowed) > 0) {
        sched_setaffinity(0, sizeof allowed, &allowed);
    }
}

void *tact_recorder_thread_main(void *recorder_part_argument)
{
    struct tact_recorder_part *recorder = recorder_part_argument;
    struct timespec recorder_poll_interval = {.tv_nsec = RECORDER_RING_POLL_INTERVAL_NS};
    bool stop;

    exclude_cpu_from_affinity(recorder->options.loop_cpu);
    do {
        stop = atomic_load_explicit(&recorder->stop, memory_order_acquire) ||
               atomic_load_explicit(&recorder->is_producer_done, memory_order_acquire);
        drain_rings_into_chunk(recorder);
        /* The first chunk has the schemas, without which nothing can be read: it is written early.
         */
        bool first = recorder->report.records + recorder->report.events == 0;
        int64_t chunk_open_duration_ns = now_ns() - recorder->chunk_opening_time_ns;
        if (!is_chunk_empty(recorder) &&
            (stop || first || chunk_open_duration_ns >= recorder->options.chunk_ns)) {
            tact_recorder_flush(recorder);
        }
        if (!recorder->is_ring_overrun_logged &&
            tact_ring_overruns(recorder->rings.rings[TACT_RING_TICKS]) > 0) {
            recorder->is_ring_overrun_logged = true;
            tact_message(recorder->messages, TACT_MESSAGE_WARNING,
                         "%s: the disk is too slow: ticks are missing from the log",
                         recorder->path);
        }
        if (stop || now_ns() - recorder->file_name_check_time_ns >= NS_PER_S) {
            check_log_file_not_deleted(recorder);
        }
        if (stop) {
            break;
        }
        join_thread_of_previous_log_part(recorder);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &recorder_poll_interval, NULL);
    } while (true);
    stop_accepting_events_of_log_part(recorder);
    tact_recorder_part_finish(recorder);
    return NULL;
}
