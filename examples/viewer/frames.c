/* The last frames of a session. See frames.h. */
#include "frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIN_FRAME_BUFFER_BYTES 4096 /* smallest buffer of a frame */

int frames_allocate(struct frames *f, size_t topics)
{
    *f = (struct frames){.frame = calloc(MAX_FRAMES_IN_BUFFER, sizeof *f->frame), .topics = topics};
    return f->frame ? 0 : -ENOMEM;
}

void frames_free(struct frames *f)
{
    for (size_t i = 0; f->frame && i < MAX_FRAMES_IN_BUFFER; i++) {
        free(f->frame[i].messages);
        free(f->frame[i].bytes);
    }
    free(f->frame);
    *f = (struct frames){.frame = NULL};
}

static int reserve_frame_buffer(struct frame *frame, size_t topics, size_t bytes)
{
    if (!frame->messages) {
        frame->messages = calloc(topics, sizeof *frame->messages);
    }
    size_t room = frame->room ? frame->room : MIN_FRAME_BUFFER_BYTES;
    while (room < bytes) {
        room *= 2;
    }
    if (room > frame->room) {
        unsigned char *more = realloc(frame->bytes, room);
        if (!more) {
            return -ENOMEM;
        }
        frame->bytes = more;
        frame->room = room;
    }
    return frame->messages ? 0 : -ENOMEM;
}

static void drop_oldest_frame(struct frames *f)
{
    struct frame *frame = &f->frame[f->first++ % MAX_FRAMES_IN_BUFFER];
    f->size -= frame->size;
    frame->size = 0;
}

/* Drops the oldest frames until the bytes fit. Small buffers are kept for later frames. */
static void drop_frames_until_fit(struct frames *f, size_t bytes)
{
    while (f->first < f->next && (f->next - f->first == MAX_FRAMES_IN_BUFFER ||
                                  f->size + bytes > MAX_FRAME_BUFFER_BYTES)) {
        struct frame *frame = &f->frame[f->first % MAX_FRAMES_IN_BUFFER];
        drop_oldest_frame(f);
        if (frame->room > MAX_FRAME_BUFFER_BYTES / MAX_FRAMES_IN_BUFFER) {
            free(frame->bytes);
            frame->bytes = NULL;
            frame->room = 0;
        }
    }
}

int frames_encode_and_add(struct frames *f, struct tact_topics *topics,
                          const struct tact_record *record)
{
    const struct tact_topic_message *messages;
    size_t count, bytes = 0;
    int rc = tact_topics_encode(topics, record, &messages, &count);
    for (size_t i = 0; !rc && i < count; i++) {
        bytes += messages[i].size;
    }
    if (!rc) {
        drop_frames_until_fit(f, bytes);
    }
    struct frame *frame = &f->frame[f->next % MAX_FRAMES_IN_BUFFER];
    rc = rc ? rc : reserve_frame_buffer(frame, f->topics, bytes);
    if (rc) {
        return rc;
    }
    unsigned char *at = frame->bytes;
    for (size_t i = 0; i < count; at += messages[i].size, i++) {
        memcpy(at, messages[i].data, messages[i].size);
        frame->messages[i] = messages[i];
        frame->messages[i].data = at;
    }
    frame->tick = record->tick;
    frame->time_ns = messages[0].time_ns; /* the first message, /tact/tick, is in every record */
    frame->count = count;
    frame->size = bytes;
    f->size += bytes;
    f->next++;
    return 0;
}

const struct frame *frames_find_by_number(const struct frames *f, uint64_t number)
{
    return &f->frame[number % MAX_FRAMES_IN_BUFFER];
}
