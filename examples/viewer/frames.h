/*
 * The most recent frames of a session for its clients. A frame contains the messages of one tick,
 * which are encoded once for all clients.
 */
#ifndef TACT_EXAMPLES_VIEWER_FRAMES_H
#define TACT_EXAMPLES_VIEWER_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include "rt/log/topics.h"

#define MAX_FRAMES_IN_BUFFER 1024 /* about a second of ticks at 1 kHz */
/* most bytes of all frames in the buffer; at least one frame is kept */
#define MAX_FRAME_BUFFER_BYTES (16u << 20)

struct frame {
    uint64_t tick, time_ns; /* tick of the frame; wall-clock time of that tick [ns] */
    size_t count;           /* number of messages, whose data points into bytes */
    struct tact_topic_message *messages;
    unsigned char *bytes;
    size_t size, room;
};

struct frames {
    /* [MAX_FRAMES_IN_BUFFER]; a frame is at its number modulo MAX_FRAMES_IN_BUFFER */
    struct frame *frame;
    size_t topics;
    uint64_t first, next; /* numbers, from 0, of the oldest stored frame and of the next one */
    size_t size;          /* number of bytes of all stored frames */
};

/* Allocates for the messages of that many topics. Returns 0 or -ENOMEM. Call frames_free() in
 * either case. */
int frames_allocate(struct frames *frames, size_t topics);
void frames_free(struct frames *frames);

/* Adds the frame of a record, and drops the oldest ones to make space. Returns 0, or -ENOMEM: it
 * was not added. */
int frames_encode_and_add(struct frames *frames, struct tact_topics *topics,
                          const struct tact_record *record);

/* The frame with a number from `first` to `next` - 1. */
const struct frame *frames_find_by_number(const struct frames *frames, uint64_t number);

#endif
