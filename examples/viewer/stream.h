/*
 * Shows a running session in the viewer. A tick only copies a sample into a triple buffer, 60
 * times a second. The server's thread does the rest.
 */
#ifndef TACT_EXAMPLES_VIEWER_STREAM_H
#define TACT_EXAMPLES_VIEWER_STREAM_H

#include <stdatomic.h>
#include <stdio.h>
#include "hold_events.h"
#include "rt/session/session.h"
#include "wire.h"
#include "page_requests.h"

struct stream_options {
    int port;                   /* 0: the first free one of the usual ports */
    int must_open_browser;      /* 1: open a browser if there is a display */
    FILE *address_stream;       /* stream to which the address is printed */
    const char *allowed_origin; /* see struct server_options */
    const char *source;         /* name of what computes the moments */
    int loop_cpu; /* processor of the real-time loop, which the server does not use; -1: none */
};

struct stream {
    /* Members that every tick uses are first, in two cache lines with the start of
     * `tick_statistics`. */
    struct server *server; /* server of the viewer; NULL: not open, nothing is published */
    struct tact_world *world;
    double period;
    uint32_t next_due_tick_count; /* ticks of `tick_statistics` at which there is more to do than
                                     gathering */
    int is_fault_sent_to_viewer;  /* 1: `fault` was sent */
    struct wire_tick_statistics tick_statistics;
    struct tact_session *session;
    struct tact_topics *topics;
    struct page_requests page_requests;
    struct tact_stop *stop; /* flag that a page's stop request sets */
    int64_t period_ns;
    uint32_t
        ticks_between_samples;  /* ticks between two samples; in real time up to a quarter more */
    int is_record_published;    /* 1: the record that goes with the next sample was published */
    int64_t average_elapsed_ns; /* average time from the wake-up of a tick to the choice whether it
                                   publishes, plus a constant; 0: not known */
    int flags, published_flags; /* published_flags: those of the last sample */
    int is_paced_by_pages;      /* 1: a simulation, whose speed the pages set */
    /* pressures that were requested last; valid where has_pressure_map */
    struct tact_pressure *requested_pressure_map;
    struct tact_pressure *owned_pressure_map;
    uint64_t pressure_request_tick; /* tick for which they were requested */
    int has_pressure_map; /* 1: the pressures in `requested_pressure_map` are those of the last tick
                           */
    int *devices;
    int device_count;
    struct tact_session_fault fault;   /* the first fault, which the pages show */
    atomic_ullong fault_tick_plus_one; /* tick of `fault`, after it was written; 0: none */
    int is_fault_event_sent;           /* 1: the pages have the event of `fault` */
    struct hold_events hold_events;
    struct wire_session_state state; /* state after the last tick, without its list of devices */
    char *hello;
    void **meshes;
    size_t *mesh_sizes, shapes;
};

/* The session's observer (tact_session_observer). user: a struct stream, all zero until it is
 * opened. Real-time safe. */
void stream_publish_tick(void *user, struct tact_session *session,
                         const struct tact_session_status *status);

/* Serves a session that was created with that observer and has not started. Prints the address.
 * kind: "real time" or "simulation". 0, or a negative errno with *err filled. Call stream_close()
 * in either case, before the session is closed. */
int stream_open_server(struct stream *stream, struct tact_session *session,
                       const struct tact_scene *scene, const char *kind, struct tact_stop *stop,
                       const struct stream_options *options, struct tact_error *err);
void stream_close(struct stream *stream);

/* Runs a simulation for that many ticks at the speed that the pages set, initially real time. It
 * begins with its first viewer, so that none misses its beginning. Then shows its last tick until
 * it is stopped. Returns as tact_session_run() does. */
int stream_run_session(struct stream *stream, uint64_t ticks, struct tact_session_report *report);

#endif
