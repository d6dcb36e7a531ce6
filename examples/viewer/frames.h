/* The last frames of a session, which clients are sent: the messages of a tick, encoded once for
 * all of them. */
#ifndef TACT_EXAMPLES_VIEWER_FRAMES_H
#define TACT_EXAMPLES_VIEWER_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include "rt/log/topics.h"

#define FRAMES_MOST 1024              /* about a second of ticks at 1 kHz, */
#define FRAMES_BYTES_MOST (16u << 20) /* or as many as fit here, at least one */

struct frame {
    uint64_t tick, time_ns; /* wall clock */
    size_t count;           /* messages; data of each points into bytes */
    struct tact_topic_message *messages;
    unsigned char *bytes;
    size_t size, room;
};

struct frames {
    struct frame *frame; /* [FRAMES_MOST] number modulo that */
    size_t topics;
    uint64_t first, next; /* numbers of the oldest that is there and of the next one, from 0 */
    size_t size;          /* bytes of all */
};

/* 0 or -ENOMEM; to be closed whatever comes back. */
int frames_open(struct frames *frames, size_t topics);
void frames_close(struct frames *frames);

/* Adds the frame of a record, in place of the oldest ones. 0 or -ENOMEM: it is left out. */
int frames_add(struct frames *frames, struct tact_topics *topics, const struct tact_record *record);

/* The frame of that number, which is from `first` on and less than `next`. */
const struct frame *frames_get(const struct frames *frames, uint64_t number);

#endif
