/* The server of the viewer, on libwebsockets: its address, its page, its thread. See server.h. */
#include "server.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "pages.h"
#include "rt/clock.h"
#include "rt/realtime.h"
#include "server_internal.h"

#define CLIENT_UPDATE_PERIOD_NS 16666667 /* time between two updates of the clients */
#define MIN_MESSAGE_BUFFER_BYTES 65536
#define MAX_TRIED_PORTS 20
#define UPDATE_TIMER_PROTOCOL "tact.timer" /* name of its handler; clients cannot use it */
#define MAX_ORIGIN_BYTES 256               /* bytes for an Origin, including the terminating zero */

struct server *get_server_of_connection(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* Whether a header names the loopback of this machine and this port. Any other name is refused: a
 * foreign page could have its own name resolve to this machine. */
static int is_local_host_name(const struct server *s, const char *host_of_request)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char local_address_with_port[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(local_address_with_port, sizeof local_address_with_port, "%s:%d", names[i],
                 s->port);
        if (!strcmp(host_of_request, local_address_with_port)) {
            return 1;
        }
    }
    return 0;
}

int server_is_host_local(struct lws *wsi)
{
    char host_of_request[128];
    return lws_hdr_copy(wsi, host_of_request, sizeof host_of_request, WSI_TOKEN_HOST) > 0 &&
           is_local_host_name(get_server_of_connection(wsi), host_of_request);
}

int server_is_valid_origin(const char *text)
{
    const char *host_of_request = strstr(text, "://");
    return host_of_request && host_of_request > text && strlen(text) < MAX_ORIGIN_BYTES &&
           !strpbrk(host_of_request + 3, "/?# ");
}

/* Programs send no origin. A browser sends that of its page. */
int server_is_origin_allowed(struct lws *wsi, const char *allowed_origin)
{
    static const char http_scheme[] = "http://";
    char origin[MAX_ORIGIN_BYTES];
    if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) == 0) {
        return 1;
    }
    if (lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) <= 0) {
        return 0;
    }
    return (allowed_origin && !strcmp(origin, allowed_origin)) ||
           (!strncmp(origin, http_scheme, strlen(http_scheme)) &&
            is_local_host_name(get_server_of_connection(wsi), origin + strlen(http_scheme)));
}

static int serve_page_file(struct lws *wsi, const char *uri)
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

static int write_next_part_of_page_file(struct lws *wsi)
{
    const struct page_file *file = *(const struct page_file **)lws_wsi_user(wsi);
    unsigned char *padded_file_copy = file ? malloc(LWS_PRE + file->size) : NULL;
    if (!padded_file_copy) {
        return -1;
    }
    memcpy(padded_file_copy + LWS_PRE, file->data, file->size);
    int sent_byte_count =
        lws_write(wsi, padded_file_copy + LWS_PRE, file->size, LWS_WRITE_HTTP_FINAL);
    free(padded_file_copy);
    return sent_byte_count < (int)file->size || lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int handle_http_event(struct lws *wsi, enum lws_callback_reasons reason, void *user,
                             void *in, size_t size)
{
    switch (reason) {
    case LWS_CALLBACK_FILTER_HTTP_CONNECTION:
        return !server_is_host_local(wsi);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: /* a socket without a protocol */
        return 1;
    case LWS_CALLBACK_HTTP:
        return server_is_host_local(wsi) ? serve_page_file(wsi, in) : -1;
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return write_next_part_of_page_file(wsi);
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, size);
    }
}

int server_append_request_part(struct request *request, struct lws *wsi, const void *in,
                               size_t size)
{
    if (request->size + size <= MAX_SERVER_REQUEST_BYTES) {
        memcpy(request->text + request->size, in, size);
        request->size += size;
    } else {
        request->size = MAX_SERVER_REQUEST_BYTES + 1;
    }
    return lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi);
}

static int reserve_message_buffer(struct server *s, size_t size)
{
    if (size > s->write_buffer_capacity) {
        unsigned char *more = realloc(s->buffer, size);
        if (!more) {
            return -ENOMEM;
        }
        s->buffer = more;
        s->write_buffer_capacity = size;
    }
    return 0;
}

int server_write_message(struct server *s, struct lws *wsi, const void *head, size_t head_size,
                         const void *data, size_t size, enum lws_write_protocol kind)
{
    size_t all = head_size + size;
    if (reserve_message_buffer(s, LWS_PRE + all)) {
        return -1;
    }
    if (head_size) {
        memcpy(s->buffer + LWS_PRE, head, head_size);
    }
    if (size) {
        memcpy(s->buffer + LWS_PRE + head_size, data, size);
    }
    return lws_write(wsi, s->buffer + LWS_PRE, all, kind) < (int)all ? -1 : 0;
}

/* Updates all clients, sixty times a second. */
static void update_viewer_clients(struct server *s)
{
    int was_new_sample_read;
    const struct slot *slot = tact_triple_read(s->slots, &was_new_sample_read);
    if (slot && was_new_sample_read) {
        s->newest = slot;
        if (s->options.add_events) {
            s->options.add_events(s->options.user, s);
        }
        page_clients_request_write(s);
    }
    update_foxglove_clients(s, was_new_sample_read);
}

void server_start_or_stop_updates(struct server *s)
{
    int has_any_client = 0;
    for (int i = 0; i < MAX_SERVER_CLIENTS; i++) {
        has_any_client |= s->page_clients[i] || s->foxglove_clients[i];
    }
    if (has_any_client == s->is_update_timer_running || s->client_update_timer_fd < 0) {
        return;
    }
    const struct timespec period = {.tv_nsec = has_any_client ? CLIENT_UPDATE_PERIOD_NS : 0};
    const struct itimerspec update_timer_setting = {.it_interval = period, .it_value = period};
    timerfd_settime(s->client_update_timer_fd, 0, &update_timer_setting, NULL);
    s->is_update_timer_running = has_any_client;
    if (has_any_client) {
        update_viewer_clients(s);
    }
}

static int handle_timer_event(struct lws *wsi, enum lws_callback_reasons reason, void *user,
                              void *in, size_t size)
{
    struct server *s = get_server_of_connection(wsi);
    uint64_t timer_expiration_count;
    (void)user;
    (void)in;
    (void)size;
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: /* no protocol of clients */
        return 1;
    case LWS_CALLBACK_RAW_RX_FILE:
        if (read(s->client_update_timer_fd, &timer_expiration_count,
                 sizeof timer_expiration_count) == sizeof timer_expiration_count) {
            update_viewer_clients(s);
        }
        return 0;
    case LWS_CALLBACK_RAW_CLOSE_FILE: /* the library closes it */
        s->client_update_timer_fd = -1;
        return 0;
    default:
        return 0;
    }
}

static const struct lws_protocols websocket_protocols[] = {
    {"http", handle_http_event, sizeof(struct page_file *), 0, 0, NULL, 0},
    {"tact.view.1", page_websocket_callback, sizeof(struct page_client *), 4096, 0, NULL, 0},
    {"foxglove.sdk.v1", foxglove_websocket_callback, sizeof(struct foxglove_client *), 4096, 0,
     NULL, 0},
    {UPDATE_TIMER_PROTOCOL, handle_timer_event, 0, 0, 0, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0}};

/* Adds the timer of the updates to what the library waits for. Its own timers have the resolution
 * of poll(), 1 ms, rounded down: with updates by them the thread called poll() for the last part of
 * each millisecond without a pause, 55,000 times a second, also without clients. */
static int add_update_timer(struct server *s)
{
    lws_sock_file_fd_type timer = {.filefd =
                                       timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    struct lws_vhost *vhost = lws_get_vhost_by_name(s->websocket_context, "default");
    s->client_update_timer_fd = timer.filefd;
    if (timer.filefd < 0) {
        return -errno;
    }
    return lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, timer, UPDATE_TIMER_PROTOCOL,
                                      NULL)
               ? 0
               : -EIO;
}

/* Keeps this thread off the processor of the real-time loop. */
static void exclude_cpu_of_thread(int cpu)
{
    cpu_set_t set;
    if (cpu >= 0 && !pthread_getaffinity_np(pthread_self(), sizeof set, &set)) {
        CPU_CLR((size_t)cpu, &set);
        if (CPU_COUNT(&set)) {
            pthread_setaffinity_np(pthread_self(), sizeof set, &set);
        }
    }
}

static void *run_server_thread(void *arg)
{
    struct server *s = arg;
    exclude_cpu_of_thread(s->options.excluded_cpu);
    while (!atomic_load(&s->done) && lws_service(s->websocket_context, 0) >= 0) {
    }
    return NULL;
}

/* A client is pinged a minute after its last pong, and disconnected if it does not answer within
 * five. The library's default leaves it ten seconds. */
static const lws_retry_bo_t idle_policy = {.secs_since_valid_ping = 60,
                                           .secs_since_valid_hangup = 360};

static int listen_at_port(struct server *s, int port)
{
    struct lws_context_creation_info info = {
        .port = port,
        .iface = "127.0.0.1",
        .protocols = websocket_protocols,
        .user = s,
        .retry_and_idle_policy = &idle_policy,
        .options = LWS_SERVER_OPTION_HTTP_HEADERS_SECURITY_BEST_PRACTICES_ENFORCE |
                   LWS_SERVER_OPTION_DISABLE_IPV6 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
    };
    /* No change of user and group. Their type is int in older libraries, else unsigned. */
    memset(&info.gid, 0xff, sizeof info.gid);
    memset(&info.uid, 0xff, sizeof info.uid);
    s->port = port;
    s->websocket_context = lws_create_context(&info);
    return s->websocket_context ? 0 : -EADDRINUSE;
}

static int listen_at_free_port(struct server *s, struct tact_error *err)
{
    int requested_port = s->options.port,
        first = requested_port ? requested_port : DEFAULT_SERVER_PORT;
    lws_set_log_level(0, NULL);
    for (int port = first; port < first + (requested_port ? 1 : MAX_TRIED_PORTS); port++) {
        if (!listen_at_port(s, port)) {
            return 0;
        }
    }
    return requested_port
               ? tact_error_set(err, -EADDRINUSE, "port %d of 127.0.0.1 cannot be used",
                                requested_port)
               : tact_error_set(err, -EADDRINUSE, "no port of 127.0.0.1 from %d to %d is free",
                                first, first + MAX_TRIED_PORTS - 1);
}

static int make_access_token(struct server *s)
{
    unsigned char random_token_bytes[16];
    if (getrandom(random_token_bytes, sizeof random_token_bytes, 0) != sizeof random_token_bytes) {
        return -EIO;
    }
    for (size_t i = 0; i < sizeof random_token_bytes; i++) {
        snprintf(s->token + 2 * i, 3, "%02x", random_token_bytes[i]);
    }
    return 0;
}

static int allocate_server_buffers(struct server *s)
{
    const struct server_options *o = &s->options;
    int rc = reserve_message_buffer(s, MIN_MESSAGE_BUFFER_BYTES);
    const int devices = (int)o->device_count;
    const size_t record = tact_layout_bytes(o->layout);
    s->record_offset_in_slot = wire_round_up_to_eight_bytes(offsetof(struct slot, sample) +
                                                            wire_sample_bytes(o->world, devices));
    s->frame = malloc(wire_max_frame_bytes(o->world, devices));
    s->values = calloc((size_t)o->layout->size + 1, sizeof *s->values);
    rc = rc || (s->frame && s->values) ? rc : -ENOMEM;
    rc = rc ? rc : tact_triple_create(&s->slots, s->record_offset_in_slot + record, 0);
    rc = rc ? rc : record_queue_open(&s->queue, record);
    return rc ? rc : frames_allocate(&s->frames, tact_topics_count(o->topics));
}

static void free_viewer_server(struct server *s)
{
    if (s && s->websocket_context) {
        lws_context_destroy(s->websocket_context); /* closes the clients */
    }
    if (s) {
        frames_free(&s->frames);
        record_queue_close(&s->queue);
        tact_triple_free(s->slots);
        free(s->frame);
        free(s->values);
        free(s->buffer);
    }
    free(s);
}

/* A normal thread, also where a real-time one starts it, without signals: the command's thread
 * handles them. Its stack, all of which locked memory has, is 512 KiB: JSON that is nested as deep
 * as it is read takes 170 kB. */
static int start_server_thread(struct server *s)
{
    const struct tact_realtime_options options = tact_realtime_default();
    int rc = tact_realtime_thread(&s->thread, &options, run_server_thread, s);
    if (!rc) {
        pthread_setname_np(s->thread, "tact-viewer");
    }
    return rc;
}

int server_open(const struct server_options *options, struct server **out, struct tact_error *err)
{
    struct server *s = aligned_alloc(_Alignof(struct server), sizeof *s);
    int rc = s ? 0 : -ENOMEM;
    *out = NULL;
    if (s) {
        memset(s, 0, sizeof *s);
        s->options = *options;
        s->last_queued_tick = UINT64_MAX;
        s->speed = 1.0;
        rc = allocate_server_buffers(s);
    }
    rc = rc ? rc : make_access_token(s);
    if (!rc) {
        snprintf(s->session, sizeof s->session, "%lld", (long long)tact_clock_now());
    }
    rc = rc ? rc : listen_at_free_port(s, err);
    rc = rc ? rc : add_update_timer(s);
    if (!rc) {
        snprintf(s->address, sizeof s->address, "http://127.0.0.1:%d/%s%s", s->port,
                 options->is_token_required ? "#token=" : "",
                 options->is_token_required ? s->token : "");
        rc = start_server_thread(s);
    }
    if (!rc) {
        *out = s;
        return 0;
    }
    free_viewer_server(s);
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
    lws_cancel_service(s->websocket_context);
    pthread_join(s->thread, NULL);
    free_viewer_server(s);
}

const char *server_address(const struct server *s)
{
    return s->address;
}

static WIRE_CODE_RUN_EVERY_TICK struct slot *get_next_publish_slot(struct server *s)
{
    return tact_triple_write_begin(s->slots);
}

WIRE_CODE_RUN_EVERY_TICK struct wire_sample *server_get_sample_to_fill(struct server *s)
{
    return &get_next_publish_slot(s)->sample;
}

WIRE_CODE_RUN_EVERY_TICK void server_publish_sample(struct server *s)
{
    tact_triple_publish(s->slots);
    get_next_publish_slot(s)->record_bytes = 0;
}

WIRE_CODE_RUN_EVERY_TICK struct tact_record *
server_get_record_buffer_if_wanted(struct server *s, uint64_t tick, int sample)
{
    unsigned published_tick_interval =
        atomic_load_explicit(&s->wanted_tick_interval, memory_order_relaxed);
    if (published_tick_interval && tick % published_tick_interval == 0) {
        /* A simulation, replay or log publishes a tick again at the end of a frame or in a pause:
         * every client was sent it, but for those that have asked for it since. */
        const int must_publish_again =
            atomic_load_explicit(&s->must_queue_again, memory_order_relaxed) &&
            atomic_exchange_explicit(&s->must_queue_again, 0, memory_order_relaxed);
        return must_publish_again || tick != s->last_queued_tick ? record_queue_next_slot(&s->queue)
                                                                 : NULL;
    }
    return sample && atomic_load_explicit(&s->are_frame_ticks_wanted, memory_order_relaxed)
               ? server_slot_record(s, get_next_publish_slot(s))
               : NULL;
}

WIRE_CODE_RUN_EVERY_TICK void server_push_record(struct server *s, struct tact_record *record,
                                                 size_t bytes)
{
    if (record == record_queue_next_slot(&s->queue)) {
        s->last_queued_tick = record->tick;
        record_queue_push(&s->queue, bytes);
    } else {
        get_next_publish_slot(s)->records_queued_before = s->queue.added_record_count;
        get_next_publish_slot(s)->record_bytes = bytes;
        s->last_record_bytes = bytes;
    }
}

WIRE_CODE_RUN_EVERY_TICK int server_needs_ticks_between_samples(const struct server *s)
{
    return atomic_load_explicit(&s->wanted_tick_interval, memory_order_relaxed) > 0;
}

WIRE_CODE_RUN_EVERY_TICK void server_bring_sample_buffer_into_cache(struct server *s)
{
    wire_bring_sample_buffer_into_cache(&get_next_publish_slot(s)->sample);
}

WIRE_CODE_RUN_EVERY_TICK void server_bring_record_buffer_into_cache(struct server *s)
{
    if (atomic_load_explicit(&s->are_frame_ticks_wanted, memory_order_relaxed)) {
        wire_zero_cache_lines(server_slot_record(s, get_next_publish_slot(s)),
                              s->last_record_bytes);
    }
}

void server_copy_record(struct server *s, const struct tact_record *record, size_t bytes,
                        int sample)
{
    struct tact_record *to = server_get_record_buffer_if_wanted(s, record->tick, sample);
    if (to) {
        memcpy(to, record, bytes);
        server_push_record(s, to, bytes);
    }
}

void server_send_fault_text(struct server *s, const char *text)
{
    atomic_store_explicit(&s->fault, text, memory_order_release);
}

int server_has_viewers(const struct server *s)
{
    return atomic_load(&s->has_frame_been_received) || atomic_load(&s->wanted_tick_interval) > 0 ||
           atomic_load(&s->are_frame_ticks_wanted);
}

WIRE_CODE_RUN_EVERY_TICK int server_client_count(const struct server *s)
{
    return atomic_load(&s->count);
}
