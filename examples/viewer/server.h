/*
 * The server of the viewer: the page and its socket on loopback, in a thread of its own. Frames
 * come through a triple buffer: whoever publishes one never waits, and a client that reads slowly
 * is sent the newest one and none of those between. The socket speaks tact.view.1, to the page, and
 * foxglove.sdk.v1, whose clients are sent the topics of the log: see README.md.
 */
#ifndef TACT_EXAMPLES_VIEWER_SERVER_H
#define TACT_EXAMPLES_VIEWER_SERVER_H

#include <stddef.h>
#include "contact/error.h"
#include "rt/log/topics.h"

#define SERVER_PORT 8765 /* where it is free; else the next that is */

/* What a page asks for. */
enum server_ask {
    SERVER_PLAY,
    SERVER_PAUSE,
    SERVER_STEP,  /* value: ticks, negative: back */
    SERVER_SEEK,  /* value: tick */
    SERVER_SPEED, /* value: factor of real time */
    SERVER_MARKER,
    SERVER_STOP,
    SERVER_SHOW, /* a client of foxglove.sdk.v1 is to be sent the present tick, also in a pause */
};

struct server_options {
    const char *hello;   /* see wire_hello() */
    size_t mesh_count;   /* messages of wire_meshes() */
    void *const *meshes; /* and their sizes; they and hello stay as long as the server */
    const size_t *mesh_sizes;
    size_t frame_room;
    const char *name;           /* of what is shown, for people */
    struct tact_topics *topics; /* used by its thread alone as long as it is open */
    size_t record_room;         /* bytes of the longest record of these topics */
    const char *allowed_origin; /* that a browser's client of foxglove.sdk.v1 may have; or NULL */
    int port;                   /* 0: SERVER_PORT or one of the 20 after it */
    int away_from_cpu;          /* processor that its thread stays off; -1: none */
    int secret;                 /* 1: whatever is asked needs the token of the address */
    /* Called on the server's thread; text of a marker may be NULL. */
    void (*ask)(void *user, enum server_ask what, double value);
    void *user;
};

struct server;

/* Whether a text is what a browser sends as an Origin: "https://host", "http://host:1234". */
int server_is_origin(const char *text);

/* Listens and starts its thread. 0, or a negative errno with *err filled. */
int server_open(const struct server_options *options, struct server **out, struct tact_error *err);
void server_close(struct server *server);

/* Its address, for a browser; belongs to the server. */
const char *server_address(const struct server *server);

/* Room for a frame, and publishing it. One thread; real-time safe. */
void *server_frame(struct server *server);
void server_publish(struct server *server, size_t bytes);

/* Whether clients of foxglove.sdk.v1 are to be sent that tick; frame: 1 where the page is sent a
 * frame of it. Then the record that is filled, and publishing the first `bytes` of it. One thread;
 * real-time safe. */
int server_wants_record(const struct server *server, uint64_t tick, int frame);
struct tact_record *server_record(struct server *server);
void server_publish_record(struct server *server, size_t bytes);

/* Publishes a record where it is wanted. */
void server_publish_copy(struct server *server, const struct tact_record *record, size_t bytes,
                         int frame);

/* A fault, sent once to each client. Belongs to the caller, who keeps it. Any thread; real-time
 * safe.
 */
void server_fault(struct server *server, const char *text);

/* Pages connected now. Any thread. */
int server_clients(const struct server *server);

#endif
