/* A session that runs, as pages show it. The tick writes a frame into a triple buffer 60 times a
 * second and does nothing else for it; the server's thread does the rest. */
#ifndef TACT_EXAMPLES_VIEWER_STREAM_H
#define TACT_EXAMPLES_VIEWER_STREAM_H

#include <stdio.h>
#include "rt/session/session.h"
#include "wire.h"
#include "wishes.h"

struct stream_options {
    int port;                   /* 0: any of the usual */
    int browser;                /* 1: one is opened where there is a display */
    FILE *address_to;           /* where its address is printed */
    const char *allowed_origin; /* see struct server_options */
    int loop_cpu;               /* processor of the loop, which the server leaves to it; -1: none */
};

struct stream {
    struct tact_session *session;
    struct server *server; /* NULL: not open, nothing is written */
    struct tact_topics *topics;
    struct wire_gather gather;
    struct wishes wishes;
    struct tact_stop *stop; /* requested where a page asks for the end */
    double period;
    uint32_t every; /* ticks from frame to frame */
    int flags;
    int paced; /* 1: a simulation, at the pages' pace */
    struct tact_pressure *map;
    uint64_t map_tick; /* of its pressures */
    int *devices;
    int device_count;
    struct tact_session_fault fault; /* the first, which the pages report */
    struct tact_session_status status;
    char *hello;
    void **meshes;
    size_t *mesh_sizes, shapes;
};

/* Observer of a session (tact_session_observer); user is a struct stream, all zero until it is
 * opened. Real-time safe. */
void stream_observe(void *user, struct tact_session *session,
                    const struct tact_session_status *status);

/* Serves a session that was made with that observer and has not run; prints the address. kind:
 * "real time" or "simulation". 0, or a negative errno with *err filled; to be closed whatever comes
 * back, before the session. */
int stream_open(struct stream *stream, struct tact_session *session, const struct tact_scene *scene,
                const char *kind, struct tact_stop *stop, const struct stream_options *options,
                struct tact_error *err);
void stream_close(struct stream *stream);

/* Runs a simulation at the pace that the pages ask for, real time at first, for that many ticks;
 * then shows its end until it is stopped. As tact_session_run(). */
int stream_run(struct stream *stream, uint64_t ticks, struct tact_session_report *report);

#endif
