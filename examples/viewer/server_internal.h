/* Types shared by the server's files. Only the server's thread uses them, except where noted. */
#ifndef TACT_EXAMPLES_VIEWER_SERVER_INTERNAL_H
#define TACT_EXAMPLES_VIEWER_SERVER_INTERNAL_H

#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include "frames.h"
#include "record_queue.h"
#include "rt/triple.h"
#include "server.h"

#define MAX_SERVER_CLIENTS 64          /* maximum number of clients of each protocol */
#define MAX_SERVER_REQUEST_BYTES 16384 /* bytes of a client's message; longer ones are ignored */
/* Most frames, or groups of frames, that a client may leave unacknowledged. */
#define MAX_SERVER_FRAMES_UNDER_WAY 2
#define MAX_SERVER_EVENTS 256 /* newest events that are kept for pages that connect later */

struct page_client;
struct foxglove_client;

/* Data that the publishing thread passes to the server's thread: a sample, and after it, where
 * clients of foxglove.sdk.v1 need it, the record of its tick or of an earlier one since the last
 * sample. */
struct slot {
    size_t record_bytes; /* 0: none */
    /* number of records that were added to the queue before this one */
    uint64_t records_queued_before;
    struct wire_sample sample;
};

struct server_event {
    uint64_t tick;
    const char *name, *text;
};

/* The publishing thread reads in each tick what its first and second part have. The server's thread
 * writes the third part with each frame, and so has it in cache lines of its own: a tick does not
 * wait for one from the other processor. */
struct server {
    /* Members that both threads read, and none writes while the server's thread runs. */
    struct server_options options;
    struct lws_context *websocket_context;
    pthread_t thread;
    struct tact_triple *slots;    /* triple buffer of samples from the publishing thread */
    size_t record_offset_in_slot; /* place of the record in a slot */
    int port;
    char token[33];
    char address[96];
    char session[24]; /* identifier of the session, for clients of foxglove.sdk.v1 */
    /* Members that both threads use; written when clients connect or disconnect, in a fault, and at
     * the end. */
    _Alignas(WIRE_CACHE_LINE_BYTES) atomic_int done;
    atomic_int count;                   /* pages */
    atomic_int has_frame_been_received; /* 1: by a page that may send requests */
    _Atomic(const char *) fault;
    atomic_uint
        wanted_tick_interval; /* the session publishes ticks that are multiples of this; 0: none */
    atomic_int are_frame_ticks_wanted; /* 1: it also publishes the tick of each frame of the page */
    struct record_queue queue;         /* records, from the publishing thread */
    /* 1: the record of the present tick is queued again, for a client that has just asked for it */
    atomic_int must_queue_again;
    /* Members of the publishing thread. */
    /* size of the last record in a slot */
    _Alignas(WIRE_CACHE_LINE_BYTES) size_t last_record_bytes;
    uint64_t last_queued_tick; /* tick of the last record that was added to the queue; UINT64_MAX:
                                  none */
    /* Members of the server's thread. */
    /* timer file of the updates of clients; -1: closed */
    _Alignas(WIRE_CACHE_LINE_BYTES) int client_update_timer_fd;
    int is_update_timer_running; /* 1: there are clients */
    const struct slot *newest;
    unsigned char *frame; /* frame of the newest sample, where a page needs it */
    size_t page_frame_bytes;
    uint32_t newest_frame_number; /* 0: none was written */
    unsigned char *buffer;        /* the message that is being written */
    size_t write_buffer_capacity;
    struct page_client *page_clients[MAX_SERVER_CLIENTS];
    struct frames frames; /* topic messages encoded from the records */
    struct foxglove_client *foxglove_clients[MAX_SERVER_CLIENTS];
    /* records lost by the queue and already counted for the clients */
    uint64_t reported_queue_losses;
    struct server_event events[MAX_SERVER_EVENTS]; /* the n-th is at n modulo their number */
    size_t event_count;                            /* number of all events so far */
    double speed;              /* factor of real time that a page requested last */
    int pages_want_values;     /* 1: a page plots values of records */
    int are_topics_subscribed; /* 1: a client of foxglove.sdk.v1 has subscribed */
    double *values;            /* [layout->size] of the last record, where pages want them */
    uint64_t plotted_values_tick;
    int has_plotted_values; /* 1: there was one */
};

/* A client's message, collected from its parts. */
struct request {
    size_t size; /* larger than MAX_SERVER_REQUEST_BYTES: too long */
    char text[MAX_SERVER_REQUEST_BYTES];
};

/* Adds a part. 1: the message is complete; the caller sets size to 0 after reading it. */
int server_append_request_part(struct request *request, struct lws *wsi, const void *in,
                               size_t size);

struct server *get_server_of_connection(struct lws *wsi);

/* Starts the updates of the clients with the first one and stops them with the last: without
 * clients the server's thread does not wake. Called after a client was added or removed. */
void server_start_or_stop_updates(struct server *s);

/* Address of the record in a slot. */
static inline struct tact_record *server_slot_record(const struct server *s,
                                                     const struct slot *slot)
{
    return (struct tact_record *)((uintptr_t)slot + s->record_offset_in_slot);
}

/* 1 where the Host is this machine's loopback with this port; and 1 where the Origin is that of the
 * page, the allowed one, or absent. */
int server_is_host_local(struct lws *wsi);
int server_is_origin_allowed(struct lws *wsi, const char *allowed);

/* Writes one message, from a client's WRITEABLE callback. kind: LWS_WRITE_TEXT etc. 0, or -1: close
 * the connection. */
int server_write_message(struct server *s, struct lws *wsi, const void *head, size_t head_size,
                         const void *data, size_t size, enum lws_write_protocol kind);

/* Callbacks of the two protocols, and their updates: of the page for each new slot, of the other
 * sixty times a second; was_new_sample_read: 1 where the newest slot is new. */
int page_websocket_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                            size_t size);
void page_clients_request_write(struct server *s);
int page_clients_want_values(const struct server *s);
/* Sets which ticks the session publishes, after what a client asks for has changed. */
void server_update_requested_ticks(struct server *s);
int foxglove_websocket_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user,
                                void *in, size_t size);
void update_foxglove_clients(struct server *s, int was_new_sample_read);

#endif
