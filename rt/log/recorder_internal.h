/** The recorder as its parts see it: the API, the thread that writes, and recovery. */
#ifndef TACT_RT_LOG_RECORDER_INTERNAL_H
#define TACT_RT_LOG_RECORDER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "content_internal.h"
#include "encode_internal.h"
#include "recorder.h"
#include "ring_file_internal.h"

/** What a log's header says. */
#define TACT_LOG_PROFILE "ros2"
#define TACT_LOG_LIBRARY "tact " TACT_VERSION

/** An event as it stands in a ring. */
struct tact_ring_event {
    uint64_t tick;
    int64_t stamp_ns;
    char name[TACT_RECORDER_EVENT_NAME];
    char text[TACT_RECORDER_EVENT_TEXT];
};

/** An event that is too long for a ring; name and text follow each other in `name`. */
struct tact_queued_event {
    struct tact_queued_event *next;
    uint64_t tick;
    int64_t stamp_ns;
    char *text;
    char name[];
};

/** One file of a recording, with its rings and its thread: a whole log by itself. */
struct tact_recorder_part {
    struct tact_recorder *owner;       /* NULL: recovery */
    unsigned number;                   /* from 1 */
    struct tact_recorder_part *before; /* to be joined */
    bool joined;                       /* so it was */
    atomic_bool retired;               /* the producer has gone on to the next part */
    atomic_bool ended;                 /* its file is finished; only the report is left */
    bool closed;                       /* no event is taken any more; under the lock */
    struct tact_ring_file rings;
    struct tact_recorder_options options;
    struct tact_messages messages;
    char *path;
    pthread_t thread;
    atomic_bool stop;

    pthread_mutex_t lock; /* guards the notes' ring and the queue; never taken by the tick */
    struct tact_queued_event *queue;
    struct tact_queued_event **queue_end;

    /* Of the recorder thread, and of tact_recorder_close() once it has joined it. */
    struct tact_mcap_writer *writer;
    struct tact_encoder encoder;
    int fd;                                   /* the writer's, to look at */
    uint32_t ahead[TACT_RINGS];               /* elements in the open chunk, still in their rings */
    uint64_t pending_records, pending_events; /* in the open chunk */
    int64_t chunk_stamp_ns;                   /* of its first record */
    int64_t first_stamp_ns;                   /* of the part's first record */
    bool offered;                             /* the next part was made, or cannot be */
    int64_t chunk_opened_ns, synced_ns;       /* CLOCK_MONOTONIC */
    int64_t looked_ns;                        /* when it was last seen that the file has a name */
    bool has_name;                            /* the file had one when it was opened */
    bool overruns_told, deletion_told;
    struct tact_recorder_report report;
};

/** What all parts of a recording share. */
struct tact_recorder {
    _Atomic(struct tact_recorder_part *) current; /* that the producer fills */
    _Atomic(struct tact_recorder_part *) next;    /* offered to the producer, or NULL */
    _Atomic uint64_t overruns;                    /* of parts before the current one */
    struct tact_recorder_part *last;              /* made; the others hang on it */
    struct tact_recorder_options options;
    struct tact_messages messages;
    struct tact_content content; /* for the next parts; empty where there will be none */
    char *path;
    int fd;           /* of the first file, until its part has it; -1 */
    char session[40]; /* the same in all parts */
};

/** Makes a part with its file, rings and thread. @retval 0, or a negative errno with *err filled */
int tact_recorder_part_open(struct tact_recorder *owner, unsigned number,
                            const struct tact_recorder_content *content,
                            struct tact_recorder_part **out, struct tact_error *err);

/** Room for a record, and the end of it. Real-time safe. */
struct tact_record *tact_recorder_part_begin(struct tact_recorder_part *part);
void tact_recorder_part_commit(struct tact_recorder_part *part);

/** Marks an event, from any thread, or from the producer's. @retval 0; -EAGAIN: the part is closed;
 *  -EMSGSIZE, -ENOMEM, -ENOBUFS */
int tact_recorder_part_event(struct tact_recorder_part *part, uint64_t tick, int64_t stamp_ns,
                             const char *name, const char *text);
int tact_recorder_part_event_rt(struct tact_recorder_part *part, uint64_t tick, int64_t stamp_ns,
                                const char *name, const char *text);

/** Called by the part's thread once its rings are empty for good: index, sync, and no more rings.
 */
void tact_recorder_part_finish(struct tact_recorder_part *part);

/** Joins the part's thread, where that was not done. */
void tact_recorder_part_join(struct tact_recorder_part *part);

/** Frees what is left. */
void tact_recorder_part_free(struct tact_recorder_part *part);

/** Elements of the notes' ring. */
#define TACT_RECORDER_NOTES 256

/** What the rings of this session hold. */
struct tact_ring_sizes tact_recorder_sizes(const struct tact_recorder_options *options,
                                           const struct tact_layout *layout);

/** The recorder's thread, until recorder->stop is set and everything was written. */
void *tact_recorder_run(void *recorder);

/** Puts the oldest element that is not yet in the open chunk there; content is that element's. The
 *  chunk is written, and only then its elements given back, when it is due. */
void tact_recorder_take_record(struct tact_recorder_part *recorder,
                               const struct tact_record *content);
void tact_recorder_take_event(struct tact_recorder_part *recorder, int ring,
                              const struct tact_ring_event *content);

/** Leaves the oldest element that is not yet in the open chunk out of it. */
void tact_recorder_skip(struct tact_recorder_part *recorder, int ring);

/** Writes the open chunk and gives its elements back. */
void tact_recorder_flush(struct tact_recorder_part *recorder);

#endif
