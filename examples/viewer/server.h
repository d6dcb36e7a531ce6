/*
 * The server of the viewer: the page and its socket on loopback, in a thread of its own. Frames
 * come through a triple buffer: whoever publishes one never waits, and a client that reads slowly
 * is sent the newest one and none of those between.
 */
#ifndef TACT_EXAMPLES_VIEWER_SERVER_H
#define TACT_EXAMPLES_VIEWER_SERVER_H

#include <stddef.h>
#include "contact/error.h"

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
};

struct server_options {
    const char *hello;   /* see wire_hello() */
    size_t mesh_count;   /* messages of wire_meshes() */
    void *const *meshes; /* and their sizes; they and hello stay as long as the server */
    const size_t *mesh_sizes;
    size_t frame_room;
    int port;          /* 0: SERVER_PORT or one of the 20 after it */
    int away_from_cpu; /* processor that its thread stays off; -1: none */
    int secret;        /* 1: whatever is asked needs the token of the address */
    /* Called on the server's thread; text of a marker may be NULL. */
    void (*ask)(void *user, enum server_ask what, double value);
    void *user;
};

struct server;

/* Listens and starts its thread. 0, or a negative errno with *err filled. */
int server_open(const struct server_options *options, struct server **out, struct tact_error *err);
void server_close(struct server *server);

/* Its address, for a browser; belongs to the server. */
const char *server_address(const struct server *server);

/* Room for a frame, and publishing it. One thread; real-time safe. */
void *server_frame(struct server *server);
void server_publish(struct server *server, size_t bytes);

/* A fault, said once to each page. Belongs to the caller, who keeps it. Any thread; real-time safe.
 */
void server_fault(struct server *server, const char *text);

/* Pages connected now. Any thread. */
int server_clients(const struct server *server);

#endif
