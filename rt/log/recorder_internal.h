/* The recorder's internals, shared by the API, the writing thread, and recovery. */
#ifndef TACT_RT_LOG_RECORDER_INTERNAL_H
#define TACT_RT_LOG_RECORDER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "contact/version.h"
#include "content_internal.h"
#include "encode_internal.h"
#include "recorder.h"
#include "ring_file_internal.h"

/* Fields of a log's header. */
#define TACT_LOG_HEADER_PROFILE "ros2"
#define TACT_LOG_HEADER_LIBRARY "tact " TACT_VERSION

/* An event in a ring. */
struct tact_ring_event {
    uint64_t tick;
    int64_t stamp_ns;
    char name[TACT_RECORDER_EVENT_NAME];
    char text[TACT_RECORDER_EVENT_TEXT];
};

/* An event that is too long for a ring; `name` contains name and text, one after the other. */
struct tact_queued_event {
    struct tact_queued_event *next;
    uint64_t tick;
    int64_t stamp_ns;
    char *text;
    char name[];
};

/* A pressure map in its ring. */
struct tact_ring_pressure {
    uint64_t tick;
    int64_t stamp_ns;
    struct tact_pressure map;
};

/* One file of a recording, with its rings and its thread: a complete log. */
struct tact_recorder_part {
    struct tact_recorder *owner;       /* NULL in recovery */
    unsigned number;                   /* from 1 */
    struct tact_recorder_part *before; /* part before this one, whose thread is to be joined */
    bool is_recorder_thread_joined;    /* the thread has been joined */
    atomic_bool is_producer_done;      /* the producer has switched to the next part */
    atomic_bool ended; /* the file of this part is finished; only its report is left */
    bool closed;       /* no more events are accepted; guarded by lock */
    struct tact_ring_file rings;
    /* ring of pressure maps in private memory; NULL: none are recorded */
    struct tact_ring *pressures;
    struct tact_recorder_options options;
    struct tact_messages messages;
    char *path;
    pthread_t thread;
    atomic_bool stop;

    /* guards the ring of asynchronous events and the queue; never locked by the tick */
    pthread_mutex_t lock;
    struct tact_queued_event *queue;
    struct tact_queued_event **event_queue_tail;

    /* Accessed by the recorder thread only, and by tact_recorder_close() once it has joined that
     * thread. */
    struct tact_mcap_writer *writer;
    struct tact_encoder encoder;
    int fd;                                       /* file descriptor of the writer, for fstat() */
    uint32_t unflushed_element_count[TACT_RINGS]; /* elements in the open chunk that are still in
                                                     their rings */
    uint64_t open_chunk_record_count, open_chunk_event_count,
        open_chunk_pressure_count;             /* numbers of elements in the open chunk */
    uint64_t open_chunk_omitted_polygon_count; /* polygons beyond the capacity of the pressure maps
                                           in the open chunk */
    int64_t chunk_first_record_stamp_ns;       /* stamp of the open chunk's first record */
    int64_t part_first_record_stamp_ns;        /* stamp of the part's first record */
    bool is_next_log_part_opened; /* the next part was created, or creating it failed */
    int64_t chunk_opening_time_ns, file_synced_ns; /* CLOCK_MONOTONIC */
    int64_t file_name_check_time_ns; /* time at which the file was last found to have a name */
    bool had_file_name_when_opened;  /* the file had a name when it was opened */
    bool is_ring_overrun_logged, is_deletion_logged;
    struct tact_recorder_report report;
};

/* State of a recording that all its parts use. */
struct tact_recorder {
    _Atomic(struct tact_recorder_part *) current; /* part that the producer fills */
    _Atomic(struct tact_recorder_part *) next;    /* next part, once it is ready for the producer */
    _Atomic uint64_t overruns;                    /* overruns of the parts before the current one */
    /* newest part of the recording; head of the list of all parts */
    struct tact_recorder_part *last;
    struct tact_recorder_options options;
    struct tact_messages messages;
    struct tact_owned_recorder_content
        content; /* content of the later parts; empty if there will be none */
    char *path;
    int fd;           /* descriptor of the first file until the first part owns it, then -1 */
    char session[40]; /* fact "session", the same in all parts */
};

/* Creates a part of a recording with its file, rings and thread. @retval 0, or a negative errno
 * with *err set */
int tact_recorder_part_open(struct tact_recorder *owner, unsigned number,
                            const struct tact_recorder_content *content,
                            struct tact_recorder_part **out, struct tact_error *err);

/* Begins and commits a record in the part's ring. Real-time safe. */
struct tact_record *tact_recorder_part_begin_record(struct tact_recorder_part *part);
void tact_recorder_part_commit_record(struct tact_recorder_part *part);

/* Records an event, from any thread, or from the producer's. @retval 0; -EAGAIN: the part is
 * closed; -EMSGSIZE, -ENOMEM, -ENOBUFS */
int tact_recorder_part_add_event(struct tact_recorder_part *part, uint64_t tick, int64_t stamp_ns,
                                 const char *name, const char *text);
int tact_recorder_part_add_event_rt(struct tact_recorder_part *part, uint64_t tick,
                                    int64_t stamp_ns, const char *name, const char *text);

/* Records a pressure map, from the producer's thread. @retval 0 or -ENOBUFS */
int tact_recorder_part_add_pressure_map(struct tact_recorder_part *part, uint64_t tick,
                                        int64_t stamp_ns, const struct tact_pressure *map);

/* Called by the part's thread once its rings stay empty: writes the index, syncs, removes the
 * rings. */
void tact_recorder_part_finish(struct tact_recorder_part *part);

/* Joins the part's thread, if not yet joined. */
void tact_recorder_part_join_thread(struct tact_recorder_part *part);

/* Frees the part. */
void tact_recorder_part_free(struct tact_recorder_part *part);

/* Capacity of the ring of asynchronous events. */
#define TACT_RECORDER_ASYNC_EVENT_CAPACITY 256

/* Sizes of this session's rings. */
struct tact_ring_sizes tact_recorder_ring_sizes(const struct tact_recorder_options *options,
                                                const struct tact_layout *layout);

/* Body of the recorder's thread; runs until recorder->stop is set and everything was written. */
void *tact_recorder_thread_main(void *recorder);

/* Appends the oldest element that is not yet in the open chunk to it; content is that element's.
 * Writes the chunk when it is due, and only then releases its elements. */
void tact_recorder_write_tick(struct tact_recorder_part *recorder,
                              const struct tact_record *content);
void tact_recorder_write_event(struct tact_recorder_part *recorder, int ring,
                               const struct tact_ring_event *content);

/* Discards the oldest element that is not yet in the open chunk. */
void tact_recorder_discard_oldest_element(struct tact_recorder_part *recorder, int ring);

/* Writes the open chunk and releases its elements from their rings. */
void tact_recorder_flush(struct tact_recorder_part *recorder);

#endif
