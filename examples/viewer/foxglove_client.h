/* A client of foxglove.sdk.v1: its requests (foxglove.c) and the messages sent to it
 * (foxglove_send.c). */
#ifndef TACT_EXAMPLES_VIEWER_FOXGLOVE_CLIENT_H
#define TACT_EXAMPLES_VIEWER_FOXGLOVE_CLIENT_H

#include "server_internal.h"

#define MAX_FOXGLOVE_TOPICS (2 * TACT_RECORDER_WRENCHES + 8)

enum { FOXGLOVE_WARNING = 1, FOXGLOVE_ERROR = 2 }; /* levels of a status */

struct foxglove_client {
    struct lws *wsi;
    uint32_t ticks_between_frames;   /* the client gets the frames of ticks that are multiples of
                                        this; 0: of the newest tick, 60 times a second */
    int sent_greeting_message_count; /* 1: serverInfo was sent; advertise follows */
    uint64_t next;                   /* number of the first frame that may be sent to it */
    uint64_t frame;                  /* number of the frame that is being sent */
    size_t message;                  /* index of the frame's next message; 0: its time */
    int is_sending_frame;            /* 1: a frame is being sent */
    int sent;                        /* 1: a frame was sent */
    uint64_t tick;                   /* tick of the last frame that was sent */
    uint32_t sent_ping_count;        /* pings sent so far */
    uint32_t last_answered_ping;     /* number of the last ping that was answered */
    int frames_since_ping;           /* frames since the last ping */
    int was_frame_due_earlier;       /* 1: a frame has been due since an earlier update */
    uint64_t lost_frame_count,
        reported_lost_frame_count;    /* frames that it missed, and how many were reported to it */
    int64_t last_loss_report_time_ns; /* time of the last report, CLOCK_MONOTONIC */
    int level;                        /* level of the status message that is due; 0: none */
    char status[256];
    int fault; /* 1: the fault of the session was sent */
    int must_send_scene_message;
    int has_new_topics;         /* 1: topics were subscribed since the last frame began */
    int is_frame_tick_repeated; /* 1: the tick of the frame being sent was sent before: only new
                                   topics follow */
    /* for each topic: 1 where it is subscribed */
    uint32_t is_topic_subscribed[MAX_FOXGLOVE_TOPICS];
    uint32_t is_topic_new[MAX_FOXGLOVE_TOPICS]; /* for each topic: 1 where none of its messages was
                                                   sent since it was subscribed */
    uint32_t ids[MAX_FOXGLOVE_TOPICS];          /* for each topic: number of the subscription */
    size_t subscription_count;
    struct request request;
};

/* Number of topics. The number of a channel is the index of its topic plus 1. */
size_t foxglove_topic_count(const struct server *s);

/* Sets the status message that is sent next. It replaces one that waits. */
__attribute__((format(printf, 3, 4))) void foxglove_set_status(struct foxglove_client *c, int level,
                                                               const char *format, ...);

/* Writes the next message, in the client's WRITEABLE callback. Returns 0, or -1: close the
 * connection. */
int foxglove_send(struct server *s, struct foxglove_client *c);

#endif
