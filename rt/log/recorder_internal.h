/** The recorder as its parts see it: the API, the thread that writes, and recovery. */
#ifndef TACT_RT_LOG_RECORDER_INTERNAL_H
#define TACT_RT_LOG_RECORDER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "encode_internal.h"
#include "recorder.h"
#include "ring_file_internal.h"

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

struct tact_recorder {
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
    int64_t chunk_opened_ns, synced_ns;       /* CLOCK_MONOTONIC */
    int64_t looked_ns;                        /* when it was last seen that the file has a name */
    bool has_name;                            /* the file had one when it was opened */
    bool overruns_told, deletion_told;
    struct tact_recorder_report report;
};

/** Elements of the notes' ring. */
#define TACT_RECORDER_NOTES 256

/** What the rings of this session hold. */
struct tact_ring_sizes tact_recorder_sizes(const struct tact_recorder_options *options,
                                           uint32_t record_bytes);

/** The recorder's thread, until recorder->stop is set and everything was written. */
void *tact_recorder_run(void *recorder);

/** Puts the oldest element that is not yet in the open chunk there; content is that element's. The
 *  chunk is written, and only then its elements given back, when it is due. */
void tact_recorder_take_record(struct tact_recorder *recorder, const struct tact_record *content);
void tact_recorder_take_event(struct tact_recorder *recorder, int ring,
                              const struct tact_ring_event *content);

/** Leaves the oldest element that is not yet in the open chunk out of it. */
void tact_recorder_skip(struct tact_recorder *recorder, int ring);

/** Writes the open chunk and gives its elements back. */
void tact_recorder_flush(struct tact_recorder *recorder);

#endif
