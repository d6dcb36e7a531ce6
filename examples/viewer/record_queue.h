/*
 * A queue of records from the thread that computes ticks to the thread of the server. As the length
 * of a record depends on its number of contacts, records are divided into parts of equal size in a
 * lock-free ring.
 */
#ifndef TACT_EXAMPLES_VIEWER_RECORD_QUEUE_H
#define TACT_EXAMPLES_VIEWER_RECORD_QUEUE_H

#include <stdatomic.h>
#include <stddef.h>
#include "rt/log/layout.h"
#include "rt/ring.h"
#include "wire.h"

/* Members that one thread writes are in no cache line that the other thread uses. */
struct record_queue {
    /* members used by both threads, and not written after opening */
    struct tact_ring *parts;
    struct tact_record *record_being_filled; /* record that the writer fills */
    struct tact_record *last_popped_record;  /* record that the reader received last */
    /* writer */
    _Alignas(WIRE_CACHE_LINE_BYTES) uint64_t added_record_count; /* number of records added */
    atomic_ullong lost_record_count; /* number of records dropped because the ring was full */
    /* reader */
    _Alignas(WIRE_CACHE_LINE_BYTES) size_t last_popped_record_bytes;
    uint64_t popped_record_count; /* number of records taken */
};

/* record_bytes: size of the longest record. Returns 0 or -ENOMEM. Call record_queue_close() in
 * either case. */
int record_queue_open(struct record_queue *queue, size_t record_bytes);
void record_queue_close(struct record_queue *queue);

/* For the writer: the buffer to be filled with a record, and adding the first `bytes` of it to the
 * queue. A record that the ring has no space for is dropped and counted. Real-time safe. */
struct tact_record *record_queue_next_slot(struct record_queue *queue);
void record_queue_push(struct record_queue *queue, size_t bytes);

/* For the reader: the next record, valid until the next call, or NULL. */
const struct tact_record *record_queue_pop(struct record_queue *queue);

#endif
