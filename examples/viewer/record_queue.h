/*
 * Records of ticks from the thread that computes them to that of the server: a ring of parts of one
 * size, since a record's length follows the number of its contacts.
 */
#ifndef TACT_EXAMPLES_VIEWER_RECORD_QUEUE_H
#define TACT_EXAMPLES_VIEWER_RECORD_QUEUE_H

#include <stdatomic.h>
#include <stddef.h>
#include "rt/log/layout.h"
#include "rt/ring.h"

struct record_queue {
    struct tact_ring *parts;
    struct tact_record *filled; /* of the writer */
    struct tact_record *taken;  /* of the reader */
    size_t taken_bytes;
    atomic_ullong lost; /* records without room */
};

/* record_bytes: of the longest record. 0 or -ENOMEM; to be closed whatever comes back. */
int record_queue_open(struct record_queue *queue, size_t record_bytes);
void record_queue_close(struct record_queue *queue);

/* Writer: room for a record, and adding the first `bytes` of it. One without room is counted and
 * lost. Real-time safe. */
struct tact_record *record_queue_room(struct record_queue *queue);
void record_queue_add(struct record_queue *queue, size_t bytes);

/* Reader: the next record, valid until the next call, or NULL. */
const struct tact_record *record_queue_next(struct record_queue *queue);

#endif
