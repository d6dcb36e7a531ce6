/* Records of ticks from one thread to another. See record_queue.h. */
#include "record_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_PART_BYTES 2048
#define QUEUE_PART_COUNT 2048 /* 4 MiB: two seconds of a small scene's ticks */

struct part {
    size_t left; /* remaining bytes of the record, including this part */
    unsigned char data[QUEUE_PART_BYTES - sizeof(size_t)];
};

int record_queue_open(struct record_queue *queue, size_t record_bytes)
{
    *queue = (struct record_queue){.record_being_filled = calloc(1, record_bytes),
                                   .last_popped_record = calloc(1, record_bytes)};
    return queue->record_being_filled && queue->last_popped_record
               ? tact_ring_create(&queue->parts, QUEUE_PART_COUNT, sizeof(struct part), 0)
               : -ENOMEM;
}

void record_queue_close(struct record_queue *queue)
{
    tact_ring_free(queue->parts);
    free(queue->record_being_filled);
    free(queue->last_popped_record);
    *queue = (struct record_queue){.parts = NULL};
}

struct tact_record *record_queue_next_slot(struct record_queue *queue)
{
    return queue->record_being_filled;
}

void record_queue_push(struct record_queue *queue, size_t bytes)
{
    struct tact_ring *ring = queue->parts;
    const size_t part_data_bytes = sizeof((struct part *)0)->data;
    const unsigned char *at = (const unsigned char *)queue->record_being_filled;
    if ((bytes + part_data_bytes - 1) / part_data_bytes >
        tact_ring_capacity(ring) - tact_ring_occupancy(ring)) {
        atomic_fetch_add_explicit(&queue->lost_record_count, 1, memory_order_relaxed);
        return;
    }
    while (bytes > 0) {
        struct part *part = tact_ring_reserve(ring);
        size_t size = bytes < part_data_bytes ? bytes : part_data_bytes;
        part->left = bytes;
        memcpy(part->data, at, size);
        tact_ring_commit(ring);
        bytes -= size;
        at += size;
    }
    queue->added_record_count++;
}

const struct tact_record *record_queue_pop(struct record_queue *queue)
{
    const struct part *part;
    while ((part = tact_ring_peek(queue->parts)) != NULL) {
        size_t left = part->left;
        size_t size = left < sizeof part->data ? left : sizeof part->data;
        memcpy((unsigned char *)queue->last_popped_record + queue->last_popped_record_bytes,
               part->data, size);
        queue->last_popped_record_bytes += size;
        tact_ring_release(queue->parts);
        if (left == size) {
            queue->last_popped_record_bytes = 0;
            queue->popped_record_count++;
            return queue->last_popped_record;
        }
    }
    return NULL; /* the queue has no complete record yet */
}
