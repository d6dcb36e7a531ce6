/* What the files of the server share; all of it is of the server's thread, but where said. */
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

#define SERVER_CLIENTS_MOST 64    /* of each protocol */
#define SERVER_REQUEST_MOST 16384 /* bytes of a client's message; longer ones are dropped */
/* Most frames, or groups of them, that a client has not acknowledged. */
#define SERVER_UNDER_WAY_MOST 2

struct page_client;
struct foxglove_client;

struct slot {
    size_t bytes;
    unsigned char data[];
};

struct server {
    struct server_options options;
    struct lws_context *context;
    lws_sorted_usec_list_t timer;
    pthread_t thread;
    atomic_int done, count; /* count: pages */
    _Atomic(const char *) fault;
    struct tact_triple *pages; /* frames of the page, from the thread that publishes */
    const struct slot *newest;
    unsigned char *buffer; /* of a message that is written */
    size_t buffer_room;
    int port;
    char token[33];
    char address[96];
    struct page_client *page_clients[SERVER_CLIENTS_MOST];
    struct record_queue queue; /* records, from the thread that publishes */
    struct frames frames;      /* their messages */
    struct foxglove_client *foxglove_clients[SERVER_CLIENTS_MOST];
    char session[24];        /* identifies it to clients of foxglove.sdk.v1 */
    uint64_t queue_lost;     /* records lost by the queue that clients know of */
    atomic_uint wants_ticks; /* records are wanted of each tick that is a multiple of it; 0: none */
    atomic_int wants_frames; /* 1: and with each frame of the page */
};

/* A client's message that arrives in parts. */
struct request {
    size_t size; /* over SERVER_REQUEST_MOST: too long */
    char text[SERVER_REQUEST_MOST];
};

/* Adds a part. 1: the message is complete, and size is to be set to 0 once it is read. */
int server_add_part(struct request *request, struct lws *wsi, const void *in, size_t size);

struct server *server_of(struct lws *wsi);

/* Whether the Host is this machine's loopback with this port, and the Origin that of the page, or
 * the one that is allowed besides, or none. */
int server_has_local_host(struct lws *wsi);
int server_has_good_origin(struct lws *wsi, const char *allowed);

/* Writes one message, from a client's WRITEABLE callback. kind: LWS_WRITE_TEXT or so. 0, or -1: the
 * connection is to be closed. */
int server_write(struct server *s, struct lws *wsi, const void *head, size_t head_size,
                 const void *data, size_t size, enum lws_write_protocol kind);

/* Callbacks of the protocols, and what each does sixty times a second. */
int page_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t size);
void page_update(struct server *s);
int foxglove_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                      size_t size);
void foxglove_update(struct server *s);

#endif
