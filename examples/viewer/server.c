/* The server of the viewer, on libwebsockets. See server.h. */
#include "server.h"

#include <errno.h>
#include <jansson.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "pages.h"
#include "rt/triple.h"

#define FRAMES_UNDER_WAY 2 /* that a page has not acknowledged: its socket may hold 3 s of them */
#define FRAME_US 16667     /* between two looks for a frame */
#define MESSAGE_MOST 4096  /* of what a page sends */
#define CLIENTS_MOST 64
#define PORTS 20

struct slot {
    size_t bytes;
    unsigned char data[];
};

struct client {
    struct lws *wsi;
    size_t written;  /* 0: hello is next, then each mesh, then frames */
    uint32_t sent;   /* number of the last frame */
    int under_way;   /* frames that it has not acknowledged */
    int fault;       /* 1: sent */
    size_t received; /* of a message in parts; more than MESSAGE_MOST: it is dropped */
    char message[MESSAGE_MOST + 1];
};

struct server {
    struct server_options options;
    struct lws_context *context;
    lws_sorted_usec_list_t timer;
    pthread_t thread;
    atomic_int done, count;
    _Atomic(const char *) fault;
    struct tact_triple *frames;
    const struct slot *newest;
    uint32_t newest_number;
    unsigned char *buffer; /* of a message that is written */
    size_t buffer_room;
    int port;
    char token[33];
    char address[96];
    struct client *clients[CLIENTS_MOST];
};

static uint32_t number_of(const struct slot *slot)
{
    uint32_t number;
    memcpy(&number, slot->data + 4, sizeof number); /* struct wire_head */
    return number;
}

static struct server *server_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* Whether a header names this machine's loopback and this port: another name, as of a page that
 * had its own resolved to here, is refused. */
static int is_local(const struct server *s, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char expected[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(expected, sizeof expected, "%s:%d", names[i], s->port);
        if (!strcmp(host, expected)) {
            return 1;
        }
    }
    return 0;
}

static int has_local_host(struct lws *wsi)
{
    char host[128];
    return lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) > 0 &&
           is_local(server_of(wsi), host);
}

/* Programs send no origin; a browser sends that of the page. */
static int has_local_origin(struct lws *wsi)
{
    static const char scheme[] = "http://";
    char origin[128];
    int size = lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN);
    if (size == 0) {
        return 1;
    }
    return lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) > 0 &&
           !strncmp(origin, scheme, strlen(scheme)) &&
           is_local(server_of(wsi), origin + strlen(scheme));
}

static int serve_file(struct lws *wsi, const char *uri)
{
    unsigned char head[LWS_PRE + 1024], *at = head + LWS_PRE, *end = head + sizeof head - 1;
    const struct page_file *file = page_file(!strcmp(uri, "/") ? "/index.html" : uri);
    if (!file) {
        return lws_return_http_status(wsi, HTTP_STATUS_NOT_FOUND, NULL) ||
               lws_http_transaction_completed(wsi);
    }
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, file->type, file->size, &at, end) ||
        lws_finalize_write_http_header(wsi, head + LWS_PRE, &at, end)) {
        return -1;
    }
    *(const struct page_file **)lws_wsi_user(wsi) = file;
    lws_callback_on_writable(wsi);
    return 0;
}

static int write_file(struct lws *wsi)
{
    const struct page_file *file = *(const struct page_file **)lws_wsi_user(wsi);
    unsigned char *copy = file ? malloc(LWS_PRE + file->size) : NULL;
    if (!copy) {
        return -1;
    }
    memcpy(copy + LWS_PRE, file->data, file->size);
    int sent = lws_write(wsi, copy + LWS_PRE, file->size, LWS_WRITE_HTTP_FINAL);
    free(copy);
    return sent < (int)file->size || lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t size)
{
    switch (reason) {
    case LWS_CALLBACK_FILTER_HTTP_CONNECTION:
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return !has_local_host(wsi);
    case LWS_CALLBACK_HTTP:
        return has_local_host(wsi) ? serve_file(wsi, in) : -1;
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return write_file(wsi);
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, size);
    }
}

static int write_message(struct server *s, struct lws *wsi, const void *data, size_t size, int text)
{
    if (size + LWS_PRE > s->buffer_room) {
        return -1;
    }
    memcpy(s->buffer + LWS_PRE, data, size);
    int sent = lws_write(wsi, s->buffer + LWS_PRE, size, text ? LWS_WRITE_TEXT : LWS_WRITE_BINARY);
    return sent < (int)size ? -1 : 0;
}

static int write_fault(struct server *s, struct client *c, const char *text)
{
    json_t *message = json_pack("{s:s, s:s}", "op", "fault", "text", text);
    char *out = message ? json_dumps(message, JSON_COMPACT) : NULL;
    int rc = out ? write_message(s, c->wsi, out, strlen(out), 1) : 0;
    c->fault = 1;
    json_decref(message);
    free(out);
    return rc;
}

/* One message a call: hello, the meshes, then frames as they are acknowledged. */
static int write_next(struct server *s, struct client *c)
{
    const struct server_options *o = &s->options;
    const char *fault = atomic_load_explicit(&s->fault, memory_order_acquire);
    int rc = 0;
    if (c->written == 0) {
        rc = write_message(s, c->wsi, o->hello, strlen(o->hello), 1);
        c->written++;
    } else if (c->written <= o->mesh_count) {
        rc = o->meshes[c->written - 1] ? write_message(s, c->wsi, o->meshes[c->written - 1],
                                                       o->mesh_sizes[c->written - 1], 0)
                                       : 0;
        c->written++;
    } else if (fault && !c->fault) {
        rc = write_fault(s, c, fault);
    } else if (s->newest && s->newest_number != c->sent && c->under_way < FRAMES_UNDER_WAY) {
        c->sent = s->newest_number;
        c->under_way++;
        rc = write_message(s, c->wsi, s->newest->data, s->newest->bytes, 0);
        return rc;
    } else {
        return 0;
    }
    lws_callback_on_writable(c->wsi);
    return rc;
}

/* Of equal length in any case: how much of it is right does not show in time. */
static int has_token(const struct server *s, const char *token)
{
    unsigned differs = !token || strlen(token) != sizeof s->token - 1;
    for (size_t i = 0; !differs && i < sizeof s->token - 1; i++) {
        differs |= (unsigned)(token[i] ^ s->token[i]);
    }
    return !differs;
}

static void take_request(struct server *s, struct client *c)
{
    static const struct {
        const char *op, *value;
        enum server_ask what;
    } asks[] = {{"play", NULL, SERVER_PLAY},       {"pause", NULL, SERVER_PAUSE},
                {"step", "ticks", SERVER_STEP},    {"seek", "tick", SERVER_SEEK},
                {"speed", "factor", SERVER_SPEED}, {"marker", NULL, SERVER_MARKER},
                {"stop", NULL, SERVER_STOP}};
    json_t *message = json_loadb(c->message, c->received, 0, NULL);
    const char *op = json_string_value(json_object_get(message, "op"));
    const char *token = json_string_value(json_object_get(message, "token"));
    if (op && !strcmp(op, "ack")) {
        c->under_way -= c->under_way > 0;
        lws_callback_on_writable(c->wsi);
    }
    for (size_t i = 0; op && i < sizeof asks / sizeof *asks; i++) {
        if (!strcmp(op, asks[i].op) && (!s->options.secret || has_token(s, token))) {
            json_t *value = asks[i].value ? json_object_get(message, asks[i].value) : NULL;
            s->options.ask(s->options.user, asks[i].what, json_number_value(value));
        }
    }
    json_decref(message);
}

static void receive(struct server *s, struct client *c, const void *in, size_t size)
{
    if (c->received + size <= MESSAGE_MOST) {
        memcpy(c->message + c->received, in, size);
    }
    c->received = c->received + size <= MESSAGE_MOST ? c->received + size : MESSAGE_MOST + 1;
    if (lws_is_final_fragment(c->wsi) && !lws_remaining_packet_payload(c->wsi)) {
        if (c->received <= MESSAGE_MOST && !lws_frame_is_binary(c->wsi)) {
            take_request(s, c);
        }
        c->received = 0;
    }
}

static int add_client(struct server *s, struct client *c, struct lws *wsi)
{
    memset(c, 0, sizeof *c);
    c->wsi = wsi;
    for (int i = 0; i < CLIENTS_MOST; i++) {
        if (!s->clients[i]) {
            s->clients[i] = c;
            atomic_fetch_add(&s->count, 1);
            lws_callback_on_writable(wsi);
            return 0;
        }
    }
    return -1;
}

static void remove_client(struct server *s, const struct client *c)
{
    for (int i = 0; i < CLIENTS_MOST; i++) {
        if (s->clients[i] == c) {
            s->clients[i] = NULL;
            atomic_fetch_sub(&s->count, 1);
        }
    }
}

static int on_socket(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t size)
{
    struct server *s = server_of(wsi);
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return !has_local_host(wsi) || !has_local_origin(wsi);
    case LWS_CALLBACK_ESTABLISHED:
        return add_client(s, user, wsi);
    case LWS_CALLBACK_CLOSED:
        remove_client(s, user);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return write_next(s, user);
    case LWS_CALLBACK_RECEIVE:
        receive(s, user, in, size);
        return 0;
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {"http", on_http, sizeof(struct page_file *), 0, 0, NULL, 0},
    {"tact.view.1", on_socket, sizeof(struct client), MESSAGE_MOST, 0, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0}};

/* Sixty times a second: whether there is a frame. */
static void look_for_frame(lws_sorted_usec_list_t *timer)
{
    struct server *s = lws_container_of(timer, struct server, timer);
    int fresh;
    const struct slot *slot = tact_triple_read(s->frames, &fresh);
    if (slot && fresh) {
        s->newest = slot;
        s->newest_number = number_of(slot);
        for (int i = 0; i < CLIENTS_MOST; i++) {
            if (s->clients[i]) {
                lws_callback_on_writable(s->clients[i]->wsi);
            }
        }
    }
    lws_sul_schedule(s->context, 0, timer, look_for_frame, FRAME_US);
}

/* The loop has its processor to itself. */
static void leave_cpu(int cpu)
{
    cpu_set_t set;
    if (cpu >= 0 && !pthread_getaffinity_np(pthread_self(), sizeof set, &set)) {
        CPU_CLR((size_t)cpu, &set);
        if (CPU_COUNT(&set)) {
            pthread_setaffinity_np(pthread_self(), sizeof set, &set);
        }
    }
}

static void *serve(void *arg)
{
    struct server *s = arg;
    leave_cpu(s->options.away_from_cpu);
    look_for_frame(&s->timer);
    while (!atomic_load(&s->done) && lws_service(s->context, 0) >= 0) {
    }
    return NULL;
}

static int listen_at(struct server *s, int port)
{
    struct lws_context_creation_info info = {
        .port = port,
        .iface = "127.0.0.1",
        .protocols = protocols,
        .user = s,
        .gid = -1,
        .uid = -1,
        .options = LWS_SERVER_OPTION_HTTP_HEADERS_SECURITY_BEST_PRACTICES_ENFORCE |
                   LWS_SERVER_OPTION_DISABLE_IPV6 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
    };
    s->port = port;
    s->context = lws_create_context(&info);
    return s->context ? 0 : -EADDRINUSE;
}

static int listen_somewhere(struct server *s, struct tact_error *err)
{
    int asked = s->options.port, first = asked ? asked : SERVER_PORT;
    lws_set_log_level(0, NULL);
    for (int port = first; port < first + (asked ? 1 : PORTS); port++) {
        if (!listen_at(s, port)) {
            return 0;
        }
    }
    return asked ? tact_error_set(err, -EADDRINUSE, "port %d of 127.0.0.1 cannot be used", asked)
                 : tact_error_set(err, -EADDRINUSE, "no port of 127.0.0.1 from %d to %d is free",
                                  first, first + PORTS - 1);
}

static int make_token(struct server *s)
{
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return -EIO;
    }
    for (size_t i = 0; i < sizeof random; i++) {
        snprintf(s->token + 2 * i, 3, "%02x", random[i]);
    }
    return 0;
}

static int make_room(struct server *s)
{
    const struct server_options *o = &s->options;
    size_t most = strlen(o->hello);
    most = o->frame_room > most ? o->frame_room : most;
    for (size_t i = 0; i < o->mesh_count; i++) {
        most = o->mesh_sizes[i] > most ? o->mesh_sizes[i] : most;
    }
    s->buffer_room = LWS_PRE + (most > 2048 ? most : 2048);
    s->buffer = malloc(s->buffer_room);
    return s->buffer ? tact_triple_create(&s->frames, sizeof(struct slot) + o->frame_room, 0)
                     : -ENOMEM;
}

static int start_thread(struct server *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the command's */
    int rc = pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}

int server_open(const struct server_options *options, struct server **out, struct tact_error *err)
{
    struct server *s = calloc(1, sizeof *s);
    int rc = s ? 0 : -ENOMEM;
    *out = NULL;
    if (!rc) {
        s->options = *options;
        rc = make_room(s);
    }
    rc = rc ? rc : make_token(s);
    rc = rc ? rc : listen_somewhere(s, err);
    if (!rc) {
        snprintf(s->address, sizeof s->address, "http://127.0.0.1:%d/%s%s", s->port,
                 options->secret ? "#token=" : "", options->secret ? s->token : "");
        rc = start_thread(s);
    }
    if (!rc) {
        *out = s;
        return 0;
    }
    if (s && s->context) {
        lws_context_destroy(s->context);
    }
    if (s) {
        tact_triple_free(s->frames);
        free(s->buffer);
    }
    free(s);
    return err && err->text[0]
               ? rc
               : tact_error_set(err, rc, "the viewer cannot be started: %s", strerror(-rc));
}

void server_close(struct server *s)
{
    if (!s) {
        return;
    }
    atomic_store(&s->done, 1);
    lws_cancel_service(s->context);
    pthread_join(s->thread, NULL);
    lws_context_destroy(s->context);
    tact_triple_free(s->frames);
    free(s->buffer);
    free(s);
}

const char *server_address(const struct server *s)
{
    return s->address;
}

void *server_frame(struct server *s)
{
    return ((struct slot *)tact_triple_write_begin(s->frames))->data;
}

void server_publish(struct server *s, size_t bytes)
{
    ((struct slot *)tact_triple_write_begin(s->frames))->bytes = bytes;
    tact_triple_publish(s->frames);
}

void server_fault(struct server *s, const char *text)
{
    atomic_store_explicit(&s->fault, text, memory_order_release);
}

int server_clients(const struct server *s)
{
    return atomic_load(&s->count);
}
