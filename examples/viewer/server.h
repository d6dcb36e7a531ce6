/*
 * The server of the viewer: the page and its socket on loopback, in its own thread. Samples are
 * passed to it through a triple buffer, so that the publishing thread never waits; its own thread
 * writes the frames. A client that
 * reads slowly gets the newest frame; frames in between are skipped. The socket supports two
 * protocols: tact.view.1 for the page, and foxglove.sdk.v1, whose clients get the topics of the
 * log: see VIEW.md.
 */
#ifndef TACT_EXAMPLES_VIEWER_SERVER_H
#define TACT_EXAMPLES_VIEWER_SERVER_H

#include <stddef.h>
#include "contact/error.h"
#include "rt/log/topics.h"
#include "wire.h"

#define DEFAULT_SERVER_PORT                                                                        \
    8765 /* first port that is tried; where it is in use, the next ones are tried                  \
          */

/* Requests of a page. */
enum server_request {
    SERVER_PLAY,
    SERVER_PAUSE,
    SERVER_STEP,      /* value: number of ticks, negative: backwards */
    SERVER_SEEK,      /* value: tick */
    SERVER_SET_SPEED, /* value: session time over real time */
    SERVER_ADD_MARKER,
    SERVER_STOP,
    SERVER_SHOW_TICK, /* a client of foxglove.sdk.v1 needs the present tick, also in a pause */
};

struct server;

struct server_options {
    const char *hello;   /* see wire_make_hello_message() */
    size_t mesh_count;   /* number of messages from wire_make_mesh_messages() */
    void *const *meshes; /* the messages, and their sizes; they and hello must outlive the server */
    const size_t *mesh_sizes;
    const struct tact_world *world; /* world of the samples; it must outlive the server */
    size_t device_count;
    const char *name;           /* name of the session or log, for display */
    struct tact_topics *topics; /* only the server's thread may use it while the server is open */
    const struct tact_layout *layout; /* layout of the records of these topics */
    const char *allowed_origin; /* origin from which a browser may use foxglove.sdk.v1; or NULL */
    int port;                   /* 0: DEFAULT_SERVER_PORT or one of the 20 after it */
    int excluded_cpu;           /* processor that the server's thread must not use; -1: none */
    int is_token_required;      /* 1: every request must have the token of the address */
    /* Called on the server's thread. The text of a marker may be NULL. */
    void (*ask)(void *user, enum server_request what, double value);
    /* Called on the server's thread before a new sample is sent, for server_send_event(). NULL:
     * there are no events. */
    void (*add_events)(void *user, struct server *server);
    void *user;
};

/* 1 where a text has the form of an Origin: "https://host", "http://host:1234". */
int server_is_valid_origin(const char *text);

/* Listens and starts the thread. 0, or a negative errno with *err filled. */
int server_open(const struct server_options *options, struct server **out, struct tact_error *err);
void server_close(struct server *server);

/* The address for a browser. The server owns it. */
const char *server_address(const struct server *server);

/* server_get_sample_to_fill(): the buffer of the next sample, the same until it is published;
 * server_publish_sample(): publishes it, with the record that was added for it. One thread;
 * real-time safe. */
struct wire_sample *server_get_sample_to_fill(struct server *server);
void server_publish_sample(struct server *server);

/* server_get_record_buffer_if_wanted(): the buffer for the record of a tick, or NULL where no
 * client of foxglove.sdk.v1 needs that record; sample: 1 where the record is to be published with
 * the next sample. server_push_record(): adds the first `bytes` of the record. The thread of
 * server_publish_sample(); real-time safe. */
struct tact_record *server_get_record_buffer_if_wanted(struct server *server, uint64_t tick,
                                                       int sample);
void server_push_record(struct server *server, struct tact_record *record, size_t bytes);

/* 1 where a client of foxglove.sdk.v1 asked for more ticks than those of the samples. The same
 * thread; real-time safe. */
int server_needs_ticks_between_samples(const struct server *server);

/* Fetch the cache lines of a buffer in the tick before it is filled, as the server's thread has
 * read them since they were written: the tick that fills the buffer then does not wait for them.
 * The thread of server_publish_sample(); real-time safe. */
void server_bring_sample_buffer_into_cache(struct server *server);
void server_bring_record_buffer_into_cache(struct server *server);

/* Adds a copy of the record where a client needs it. */
void server_copy_record(struct server *server, const struct tact_record *record, size_t bytes,
                        int sample);

/* Reports a fault once to each client. The caller keeps the text. Any thread; real-time safe. */
void server_send_fault_text(struct server *server, const char *text);

/* Sends an event to each page, also to those that connect later. The caller keeps the texts. The
 * server's thread, from `ask` and `add_events`, only. server may be NULL. */
void server_send_event(struct server *server, uint64_t tick, const char *name, const char *text);

/* The tick of the newest frame; 0 where there is none. As server_send_event(). */
uint64_t server_newest_tick(const struct server *server);

/* 1 where a page that may send requests has received a frame, or a client of foxglove.sdk.v1 has
 * subscribed. Any thread. */
int server_has_viewers(const struct server *server);

/* Number of connected pages. Any thread. */
int server_client_count(const struct server *server);

#endif
