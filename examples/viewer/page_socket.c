/* The protocol of the page, tact.view.1. wire.h describes its messages. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "page_requests.h"
#include "server_internal.h"

#define MAX_PLOTTED_VALUES_OF_PAGE 16 /* most values of records that follow a page's frames */

struct page_client {
    struct lws *wsi;
    size_t written_message_count; /* messages written so far: 0: hello is next, then the meshes,
                                     then frames */
    uint32_t last_written_frame_number; /* number of the last frame that was written to the page */
    int unacknowledged_frame_count;     /* number of frames that the page has not acknowledged: its
                                           socket alone would buffer 3 s of frames */
    int fault;                          /* 1: sent */
    size_t written_event_count; /* number of the server's events that were written or skipped */
    double speed;               /* speed that the page requested or was sent last */
    size_t plotted_value_count; /* number of values of a record that the page plots, and their
                                   offsets */
    uint32_t plotted_value_offsets[MAX_PLOTTED_VALUES_OF_PAGE];
    struct request request;
};

/* Writes a message, and frees it. */
static int write_text_message(struct server *s, struct page_client *c, json_t *message)
{
    char *out = message ? json_dumps(message, JSON_COMPACT) : NULL;
    int rc = out ? server_write_message(s, c->wsi, NULL, 0, out, strlen(out), LWS_WRITE_TEXT) : 0;
    json_decref(message);
    free(out);
    return rc;
}

static int write_fault_message(struct server *s, struct page_client *c, const char *text)
{
    c->fault = 1;
    return write_text_message(s, c, json_pack("{s:s, s:s}", "op", "fault", "text", text));
}

/* Writes the next event, the oldest one that the server still has. */
static int write_event_message(struct server *s, struct page_client *c)
{
    if (s->event_count - c->written_event_count > MAX_SERVER_EVENTS) {
        c->written_event_count = s->event_count - MAX_SERVER_EVENTS;
    }
    const struct server_event *e = &s->events[c->written_event_count++ % MAX_SERVER_EVENTS];
    return write_text_message(s, c,
                              json_pack("{s:s, s:I, s:s, s:s}", "op", "event", "tick",
                                        (json_int_t)e->tick, "name", e->name, "text", e->text));
}

void server_send_event(struct server *s, uint64_t tick, const char *name, const char *text)
{
    if (s) {
        s->events[s->event_count++ % MAX_SERVER_EVENTS] = (struct server_event){tick, name, text};
        page_clients_request_write(s);
    }
}

uint64_t server_newest_tick(const struct server *s)
{
    return s && s->newest ? s->newest->sample.state.tick : 0;
}

/* Writes the speed that another page requested, or this page before it was loaded again. */
static int write_speed_message(struct server *s, struct page_client *c)
{
    c->speed = s->speed;
    return write_text_message(s, c, json_pack("{s:s, s:f}", "op", "speed", "factor", s->speed));
}

/* Writes the frame of the newest sample, once for all pages. */
static int write_frame_message(struct server *s, struct page_client *c)
{
    const struct wire_sample *sample = &s->newest->sample;
    if (s->newest_frame_number != sample->number) {
        s->page_frame_bytes = wire_write_frame(sample, s->options.world, s->frame);
        s->newest_frame_number = sample->number;
    }
    c->last_written_frame_number = sample->number;
    c->unacknowledged_frame_count++;
    unsigned char values[sizeof(struct wire_record_values) + 8 * MAX_PLOTTED_VALUES_OF_PAGE];
    size_t bytes =
        c->plotted_value_count && s->has_plotted_values
            ? wire_write_record_values(s->plotted_values_tick, s->values, c->plotted_value_offsets,
                                       c->plotted_value_count, values)
            : 0;
    return server_write_message(s, c->wsi, s->frame, s->page_frame_bytes, values, bytes,
                                LWS_WRITE_BINARY);
}

/* Writes one message in each call: hello, the meshes, then a frame for each acknowledged one. */
static int write_to_page(struct server *s, struct page_client *c)
{
    const struct server_options *o = &s->options;
    const char *fault = atomic_load_explicit(&s->fault, memory_order_acquire);
    int rc = 0;
    if (c->written_message_count == 0) {
        rc = server_write_message(s, c->wsi, NULL, 0, o->hello, strlen(o->hello), LWS_WRITE_TEXT);
        c->written_message_count++;
    } else if (c->written_message_count <= o->mesh_count) {
        size_t mesh = c->written_message_count++ - 1;
        rc = o->meshes[mesh] ? server_write_message(s, c->wsi, NULL, 0, o->meshes[mesh],
                                                    o->mesh_sizes[mesh], LWS_WRITE_BINARY)
                             : 0;
    } else if (fault && !c->fault) {
        rc = write_fault_message(s, c, fault);
    } else if (c->written_event_count < s->event_count) {
        rc = write_event_message(s, c);
    } else if (c->speed < s->speed || c->speed > s->speed) {
        rc = write_speed_message(s, c);
    } else if (s->newest && s->newest->sample.number != c->last_written_frame_number &&
               c->unacknowledged_frame_count < MAX_SERVER_FRAMES_UNDER_WAY) {
        return write_frame_message(s, c);
    } else {
        return 0;
    }
    lws_callback_on_writable(c->wsi);
    return rc;
}

/* Compares in constant time, so that the duration does not reveal how much of a guess is right. */
static int is_access_token_valid(const struct server *s, const char *token)
{
    unsigned token_difference_bits = !token || strlen(token) != sizeof s->token - 1;
    for (size_t i = 0; !token_difference_bits && i < sizeof s->token - 1; i++) {
        token_difference_bits |= (unsigned)(token[i] ^ s->token[i]);
    }
    return !token_difference_bits;
}

int page_clients_want_values(const struct server *s)
{
    int any = 0;
    for (int i = 0; i < MAX_SERVER_CLIENTS; i++) {
        any |= s->page_clients[i] && s->page_clients[i]->plotted_value_count;
    }
    return any;
}

/* Sets which values of records follow the frames of a page. A list with a value that records do not
 * have is ignored. */
static void choose_plotted_values(struct server *s, struct page_client *c, const json_t *list)
{
    size_t count = json_array_size(list);
    uint32_t at[MAX_PLOTTED_VALUES_OF_PAGE];
    if (!json_is_array(list) || count > MAX_PLOTTED_VALUES_OF_PAGE) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t number = json_integer_value(item);
        if (!json_is_integer(item) || number < 0 || number >= s->options.layout->size) {
            return;
        }
        at[i] = (uint32_t)number;
    }
    memcpy(c->plotted_value_offsets, at, sizeof *at * count);
    c->plotted_value_count = count;
    server_update_requested_ticks(s);
    atomic_store_explicit(&s->must_queue_again, 1, memory_order_relaxed);
    s->options.ask(s->options.user, SERVER_SHOW_TICK, 0.0);
}

/* Stores a requested speed, for the other pages and pages that connect later. */
static void store_requested_speed(struct server *s, struct page_client *c, double speed)
{
    if (page_requests_is_valid_speed(speed)) {
        s->speed = c->speed = speed;
        page_clients_request_write(s);
    }
}

static void read_page_request(struct server *s, struct page_client *c)
{
    static const struct {
        const char *op, *value;
        enum server_request what;
    } asks[] = {{"play", NULL, SERVER_PLAY},
                {"pause", NULL, SERVER_PAUSE},
                {"step", "ticks", SERVER_STEP},
                {"seek", "tick", SERVER_SEEK},
                {"speed", "factor", SERVER_SET_SPEED},
                {"marker", NULL, SERVER_ADD_MARKER},
                {"stop", NULL, SERVER_STOP}};
    json_t *message = json_loadb(c->request.text, c->request.size, 0, NULL);
    const char *op = json_string_value(json_object_get(message, "op"));
    const char *token = json_string_value(json_object_get(message, "token"));
    const int may_request = !s->options.is_token_required || is_access_token_valid(s, token);
    if (op && !strcmp(op, "ack")) {
        c->unacknowledged_frame_count -= c->unacknowledged_frame_count > 0;
        /* A page that an earlier session left open connects to this one by itself. */
        if (may_request) {
            atomic_store(&s->has_frame_been_received, 1);
        }
        lws_callback_on_writable(c->wsi);
    } else if (op && !strcmp(op, "values")) {
        choose_plotted_values(s, c, json_object_get(message, "at"));
    }
    for (size_t i = 0; op && i < sizeof asks / sizeof *asks; i++) {
        if (!strcmp(op, asks[i].op) && may_request) {
            json_t *value = asks[i].value ? json_object_get(message, asks[i].value) : NULL;
            s->options.ask(s->options.user, asks[i].what, json_number_value(value));
            if (asks[i].what == SERVER_SET_SPEED) {
                store_requested_speed(s, c, json_number_value(value));
            }
        }
    }
    json_decref(message);
}

static void receive_page_request(struct server *s, struct page_client *c, const void *in,
                                 size_t size)
{
    if (server_append_request_part(&c->request, c->wsi, in, size)) {
        if (c->request.size <= MAX_SERVER_REQUEST_BYTES && !lws_frame_is_binary(c->wsi)) {
            read_page_request(s, c);
        }
        c->request.size = 0;
    }
}

static int add_page_client(struct server *s, struct page_client **out, struct lws *wsi)
{
    for (int i = 0; i < MAX_SERVER_CLIENTS; i++) {
        if (!s->page_clients[i]) {
            struct page_client *c = calloc(1, sizeof *c);
            s->page_clients[i] = *out = c;
            if (!c) {
                return -1;
            }
            c->wsi = wsi;
            c->speed = 1.0;
            atomic_fetch_add(&s->count, 1);
            server_start_or_stop_updates(s);
            lws_callback_on_writable(wsi);
            return 0;
        }
    }
    return -1;
}

static void remove_page_client(struct server *s, struct page_client *c)
{
    for (int i = 0; c && i < MAX_SERVER_CLIENTS; i++) {
        if (s->page_clients[i] == c) {
            s->page_clients[i] = NULL;
            atomic_fetch_sub(&s->count, 1);
        }
    }
    free(c);
    server_update_requested_ticks(s);
    server_start_or_stop_updates(s);
}

int page_websocket_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                            size_t size)
{
    struct server *s = get_server_of_connection(wsi);
    struct page_client **c = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return !server_is_host_local(wsi) || !server_is_origin_allowed(wsi, NULL);
    case LWS_CALLBACK_ESTABLISHED:
        return add_page_client(s, c, wsi);
    case LWS_CALLBACK_CLOSED:
        remove_page_client(s, *c);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return write_to_page(s, *c);
    case LWS_CALLBACK_RECEIVE:
        receive_page_request(s, *c, in, size);
        return 0;
    default:
        return 0;
    }
}

void page_clients_request_write(struct server *s)
{
    for (int i = 0; i < MAX_SERVER_CLIENTS; i++) {
        if (s->page_clients[i]) {
            lws_callback_on_writable(s->page_clients[i]->wsi);
        }
    }
}
