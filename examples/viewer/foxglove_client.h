/* A client of foxglove.sdk.v1: what it asked for (foxglove.c), and what it is sent
 * (foxglove_send.c).
 */
#ifndef TACT_EXAMPLES_VIEWER_FOXGLOVE_CLIENT_H
#define TACT_EXAMPLES_VIEWER_FOXGLOVE_CLIENT_H

#include "server_internal.h"

#define FOXGLOVE_TOPICS_MOST (2 * TACT_RECORDER_WRENCHES + 8)

enum { FOXGLOVE_WARNING = 1, FOXGLOVE_ERROR = 2 }; /* levels of a status */

struct foxglove_client {
    struct lws *wsi;
    uint32_t every;          /* ticks; 0: the newest of sixty a second */
    int greeted;             /* serverInfo is sent; then advertise */
    uint64_t next;           /* number of the first frame that it may be sent */
    uint64_t frame;          /* that is being sent, and */
    size_t message;          /* the next of it; 0: its time */
    int in_frame;            /* 1: there is one */
    int sent;                /* 1: a frame was, */
    uint64_t tick;           /* and of the last one the tick */
    uint32_t pings;          /* sent so far, and */
    uint32_t pongs;          /* the last that was answered */
    int group;               /* frames since the last ping */
    int waiting;             /* 1: a frame is due since an earlier update */
    uint64_t lost, reported; /* frames */
    int64_t reported_ns;
    int level; /* of the status that is due; 0: none */
    char status[256];
    int fault; /* 1: that of the session was sent */
    int scene_due;
    uint32_t subscribed[FOXGLOVE_TOPICS_MOST]; /* 1: topic by topic */
    uint32_t ids[FOXGLOVE_TOPICS_MOST];        /* of the subscriptions */
    size_t subscriptions;
    struct request request;
};

/* Channels have the numbers of topics plus 1. */
size_t foxglove_topic_count(const struct server *s);

/* The next status that it is sent; a later one takes its place. */
__attribute__((format(printf, 3, 4))) void foxglove_set_status(struct foxglove_client *c, int level,
                                                               const char *format, ...);

/* Writes what is due, from its WRITEABLE callback. 0, or -1: the connection is to be closed. */
int foxglove_send(struct server *s, struct foxglove_client *c);

#endif
