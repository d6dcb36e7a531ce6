#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "../ring.h"
#include "encode_internal.h"

#define NS_PER_S INT64_C(1000000000)
#define POLL_NS 5000000
#define WAIT_NS 200000
#define EVENT_BYTES (1 << 20)
#define STACK_BYTES (256 * 1024) /* mlockall() would lock the 8 MiB of the default */

/* An event of the real-time thread, as it stands in its ring. */
struct rt_event {
    uint64_t tick;
    int64_t stamp_ns;
    char name[TACT_RECORDER_EVENT_NAME];
    char text[TACT_RECORDER_EVENT_TEXT];
};

/* An event of another thread; name and text follow each other in `strings`. */
struct queued_event {
    struct queued_event *next;
    uint64_t tick;
    int64_t stamp_ns;
    const char *text;
    char name[];
};

struct tact_recorder {
    struct tact_ring *ticks;
    struct tact_ring *events;
    struct tact_recorder_options options;
    struct tact_messages messages;
    char *path;
    pthread_t thread;
    atomic_bool stop;

    pthread_mutex_t lock; /* guards the queue; the real-time thread never takes it */
    struct queued_event *queue;
    struct queued_event **queue_end;

    /* Of the recorder thread, and of tact_recorder_close() once it has joined it. */
    struct tact_mcap_writer *writer;
    struct tact_encoder encoder;
    uint64_t pending_records, pending_events; /* in the open chunk */
    int64_t chunk_stamp_ns;                   /* of its first record */
    int64_t chunk_opened_ns, synced_ns;       /* CLOCK_MONOTONIC */
    bool overruns_told;
    struct tact_recorder_report report;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void sleep_ns(long ns)
{
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = ns}, NULL);
}

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
    };
}

/* The first error ends the recording; the ring is emptied all the same. */
static void note_error(struct tact_recorder *recorder)
{
    int error = tact_mcap_writer_error(recorder->writer);

    if (error == 0 || recorder->report.error != 0)
        return;
    recorder->report.error = error;
    tact_message(recorder->messages, TACT_MESSAGE_ERROR,
                 "%s: recording stopped after %llu ticks: %s; what was written can be read",
                 recorder->path, (unsigned long long)recorder->report.records, strerror(-error));
}

static void flush(struct tact_recorder *recorder)
{
    if (tact_mcap_writer_flush(recorder->writer) == 0) {
        recorder->report.records += recorder->pending_records;
        recorder->report.events += recorder->pending_events;
    } else {
        recorder->report.discarded += recorder->pending_records + recorder->pending_events;
    }
    recorder->pending_records = 0;
    recorder->pending_events = 0;
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (recorder->options.sync_ns > 0 && now - recorder->synced_ns >= recorder->options.sync_ns) {
        tact_mcap_writer_sync(recorder->writer);
        recorder->synced_ns = clock_ns(CLOCK_MONOTONIC);
    }
    note_error(recorder);
}

static bool is_empty(const struct tact_recorder *recorder)
{
    return recorder->pending_records + recorder->pending_events == 0;
}

static void take_record(struct tact_recorder *recorder, const struct tact_record *record)
{
    if (recorder->report.error != 0) {
        recorder->report.discarded++;
        return;
    }
    if (is_empty(recorder))
        recorder->chunk_opened_ns = clock_ns(CLOCK_MONOTONIC);
    if (recorder->pending_records == 0)
        recorder->chunk_stamp_ns = record->stamp_ns;
    tact_encode_record(&recorder->encoder, record);
    recorder->pending_records++;
    /* Unsigned: a stamp that steps back ends the chunk too. */
    if (tact_mcap_writer_pending(recorder->writer) >= recorder->options.chunk_bytes ||
        (uint64_t)record->stamp_ns - (uint64_t)recorder->chunk_stamp_ns >=
            (uint64_t)recorder->options.chunk_ns)
        flush(recorder);
}

static void take_event(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns, char *name,
                       char *text)
{
    if (recorder->report.error != 0) {
        recorder->report.discarded++;
        return;
    }
    if (is_empty(recorder))
        recorder->chunk_opened_ns = clock_ns(CLOCK_MONOTONIC);
    tact_utf8_repair(name);
    tact_utf8_repair(text);
    tact_encode_event(&recorder->encoder, tick, stamp_ns, name, text);
    recorder->pending_events++;
    if (tact_mcap_writer_pending(recorder->writer) >= recorder->options.chunk_bytes)
        flush(recorder);
}

static void take_queue(struct tact_recorder *recorder)
{
    pthread_mutex_lock(&recorder->lock);
    struct queued_event *event = recorder->queue;
    recorder->queue = NULL;
    recorder->queue_end = &recorder->queue;
    pthread_mutex_unlock(&recorder->lock);
    while (event) {
        struct queued_event *next = event->next;
        take_event(recorder, event->tick, event->stamp_ns, event->name, (char *)event->text);
        free(event);
        event = next;
    }
}

static void drain(struct tact_recorder *recorder)
{
    const void *element;

    while ((element = tact_ring_peek(recorder->ticks))) {
        take_record(recorder, element);
        tact_ring_release(recorder->ticks);
    }
    while ((element = tact_ring_peek(recorder->events))) {
        struct rt_event event;
        memcpy(&event, element, sizeof event);
        tact_ring_release(recorder->events);
        take_event(recorder, event.tick, event.stamp_ns, event.name, event.text);
    }
    take_queue(recorder);
}

static void *run(void *argument)
{
    struct tact_recorder *recorder = argument;
    bool stop;

    do {
        stop = atomic_load_explicit(&recorder->stop, memory_order_acquire);
        drain(recorder);
        /* The first chunk holds the schemas: without it nothing can be read, so it goes early. */
        bool first = recorder->report.records + recorder->report.events == 0;
        int64_t open_ns = clock_ns(CLOCK_MONOTONIC) - recorder->chunk_opened_ns;
        if (!is_empty(recorder) && (stop || first || open_ns >= recorder->options.chunk_ns))
            flush(recorder);
        if (!recorder->overruns_told && tact_ring_overruns(recorder->ticks) > 0) {
            recorder->overruns_told = true;
            tact_message(recorder->messages, TACT_MESSAGE_WARNING,
                         "%s: the disk is too slow: ticks are missing from the log",
                         recorder->path);
        }
        if (!stop)
            sleep_ns(POLL_NS);
    } while (!stop);
    return NULL;
}

/* A thread of normal priority, whatever the caller's, that takes no signals. */
static int start_thread(struct tact_recorder *recorder)
{
    pthread_attr_t attributes;
    sigset_t all, old;

    int rc = pthread_attr_init(&attributes);
    if (rc != 0)
        return -rc;
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&recorder->thread, &attributes, run, recorder);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    if (rc == 0)
        pthread_setname_np(recorder->thread, "tact-recorder");
    return -rc;
}

static int check_options(const struct tact_recorder_options *options, struct tact_error *err)
{
    if (options->ring_ticks < 1 || options->ring_ticks > 1U << 24 || options->ring_events < 1 ||
        options->ring_events > 1U << 20)
        return tact_error_set(err, -EINVAL, "the recorder's rings have no sensible size");
    if (options->chunk_bytes < 1 || options->chunk_bytes > 16U << 20 || options->chunk_ns < 1 ||
        options->sync_ns < 0)
        return tact_error_set(err, -EINVAL, "chunk_bytes, chunk_ns or sync_ns is out of range");
    if (options->zstd_level < 0 || options->zstd_level > 19)
        return tact_error_set(err, -EINVAL, "zstd_level must be 0 to 19");
    return 0;
}

/* The file is emptied only once it is known that nobody else writes it. */
static int open_file(const char *path, struct tact_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    if (fd < 0)
        return tact_error_set(err, -errno, "cannot create the log: %s", strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(fd);
        return tact_error_set(err, -EBUSY, "this log is being written or read by somebody else");
    }
    if (ftruncate(fd, 0) != 0 && errno != EINVAL) {
        int rc = -errno;
        close(fd);
        return tact_error_set(err, rc, "cannot empty the log: %s", strerror(-rc));
    }
    return fd;
}

static void destroy(struct tact_recorder *recorder)
{
    if (recorder->writer)
        tact_mcap_writer_close(recorder->writer, &recorder->report.bytes);
    tact_encoder_free(&recorder->encoder);
    tact_ring_free(recorder->ticks);
    tact_ring_free(recorder->events);
    pthread_mutex_destroy(&recorder->lock);
    free(recorder->path);
    free(recorder);
}

/* Everything but the thread. */
static int prepare(struct tact_recorder *recorder, const char *path,
                   const struct tact_recorder_content *content, struct tact_error *err)
{
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    int64_t anchor = recorder->options.wall_anchor_ns;

    if (anchor == 0)
        anchor = clock_ns(CLOCK_REALTIME) - now;
    recorder->path = strdup(path);
    int rc = recorder->path ? 0 : -ENOMEM;
    if (rc == 0)
        rc = tact_ring_create(&recorder->ticks, recorder->options.ring_ticks,
                              tact_layout_bytes(content->layout), 0);
    if (rc == 0)
        rc = tact_ring_create(&recorder->events, recorder->options.ring_events,
                              sizeof(struct rt_event), 0);
    if (rc != 0)
        return tact_error_set(err, rc, "the recorder's rings: %s", strerror(-rc));
    int fd = open_file(recorder->path, err);
    if (fd < 0)
        return fd;
    rc = tact_mcap_writer_open(fd, "ros2", "tact " TACT_VERSION, recorder->options.zstd_level,
                               &recorder->writer);
    if (rc == 0)
        rc = tact_encoder_init(&recorder->encoder, recorder->writer, content,
                               recorder->options.derived_every, anchor, now);
    if (rc != 0)
        return tact_error_set(err, rc, "cannot write the log: %s", strerror(-rc));
    return 0;
}

int tact_recorder_open(const char *path, const struct tact_recorder_options *options,
                       const struct tact_recorder_content *content, struct tact_messages messages,
                       struct tact_recorder **out, struct tact_error *err)
{
    tact_error_at(err, path, 0, 0, NULL);
    int rc = check_options(options, err);
    if (rc == 0)
        rc = tact_encoder_check(content, err);
    if (rc != 0)
        return rc;
    struct tact_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tact_error_set(err, -ENOMEM, "out of memory");
    recorder->options = *options;
    recorder->messages = messages;
    recorder->queue_end = &recorder->queue;
    recorder->synced_ns = clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_init(&recorder->lock, NULL);
    rc = prepare(recorder, path, content, err);
    if (rc == 0) {
        rc = start_thread(recorder);
        if (rc != 0)
            tact_error_set(err, rc, "cannot start the recorder thread: %s", strerror(-rc));
    }
    if (rc != 0) {
        destroy(recorder);
        return rc;
    }
    *out = recorder;
    return 0;
}

struct tact_record *tact_recorder_begin(struct tact_recorder *recorder)
{
    return tact_ring_reserve(recorder->ticks);
}

void tact_recorder_commit(struct tact_recorder *recorder)
{
    tact_ring_commit(recorder->ticks);
}

void tact_recorder_wait_room(struct tact_recorder *recorder)
{
    while (tact_ring_occupancy(recorder->ticks) >= tact_ring_capacity(recorder->ticks))
        sleep_ns(WAIT_NS);
}

int tact_recorder_event(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                        const char *name, const char *text)
{
    size_t name_size = strlen(name) + 1, text_size = strlen(text) + 1;

    if (name_size + text_size > EVENT_BYTES)
        return -EMSGSIZE;
    struct queued_event *event = malloc(sizeof *event + name_size + text_size);

    if (!event)
        return -ENOMEM;
    event->next = NULL;
    event->tick = tick;
    event->stamp_ns = stamp_ns;
    memcpy(event->name, name, name_size);
    event->text = memcpy(event->name + name_size, text, text_size);
    pthread_mutex_lock(&recorder->lock);
    *recorder->queue_end = event;
    recorder->queue_end = &event->next;
    pthread_mutex_unlock(&recorder->lock);
    return 0;
}

/* As strncpy, and always terminated. */
static void copy_cut(char *to, const char *from, size_t size)
{
    size_t length = strnlen(from, size - 1);

    memcpy(to, from, length);
    to[length] = '\0';
}

int tact_recorder_event_rt(struct tact_recorder *recorder, uint64_t tick, int64_t stamp_ns,
                           const char *name, const char *text)
{
    struct rt_event *event = tact_ring_reserve(recorder->events);

    if (!event)
        return -ENOBUFS;
    event->tick = tick;
    event->stamp_ns = stamp_ns;
    copy_cut(event->name, name, sizeof event->name);
    copy_cut(event->text, text, sizeof event->text);
    tact_ring_commit(recorder->events);
    return 0;
}

uint64_t tact_recorder_overruns(const struct tact_recorder *recorder)
{
    return tact_ring_overruns(recorder->ticks);
}

int tact_recorder_close(struct tact_recorder *recorder, struct tact_recorder_report *report)
{
    if (!recorder)
        return 0;
    atomic_store_explicit(&recorder->stop, true, memory_order_release);
    pthread_join(recorder->thread, NULL);
    struct tact_recorder_report *own = &recorder->report;
    own->overruns = tact_ring_overruns(recorder->ticks);
    own->event_overruns = tact_ring_overruns(recorder->events);
    own->occupancy_max = tact_ring_high_water(recorder->ticks);
    own->ring_ticks = tact_ring_capacity(recorder->ticks);
    int rc = tact_mcap_writer_close(recorder->writer, &own->bytes);
    recorder->writer = NULL;
    if (rc != 0 && own->error == 0) {
        own->error = rc;
        tact_message(recorder->messages, TACT_MESSAGE_ERROR,
                     "%s: the log could not be finished: %s; its ticks can be read", recorder->path,
                     strerror(-rc));
    }
    rc = own->error;
    if (report)
        *report = *own;
    destroy(recorder);
    return rc;
}
