/* The protocol foxglove.sdk.v1: which clients may connect, and how their requests are read. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "foxglove_client.h"

#define MAX_TICKS_BETWEEN_FRAMES 1000000

static uint32_t find_greatest_common_divisor(uint32_t a, uint32_t b)
{
    return b ? find_greatest_common_divisor(b, a % b) : a;
}

/* Determines which records the session must publish for the present clients. */
void server_update_requested_ticks(struct server *s)
{
    uint32_t ticks_between_frames = 0;
    int frames = page_clients_want_values(s);
    s->pages_want_values = frames;
    s->has_plotted_values &= frames;
    s->are_topics_subscribed = 0;
    for (int i = 0; i < MAX_SERVER_CLIENTS; i++) {
        const struct foxglove_client *c = s->foxglove_clients[i];
        if (c && c->subscription_count) {
            s->are_topics_subscribed = 1;
            ticks_between_frames =
                c->ticks_between_frames
                    ? find_greatest_common_divisor(c->ticks_between_frames, ticks_between_frames)
                    : ticks_between_frames;
            frames |= !c->ticks_between_frames;
        }
    }
    atomic_store_explicit(&s->wanted_tick_interval, ticks_between_frames, memory_order_relaxed);
    atomic_store_explicit(&s->are_frame_ticks_wanted, frames, memory_order_relaxed);
}

static int parse_subscription_id(const json_t *item, const char *key, uint32_t *out)
{
    const json_t *value = json_object_get(item, key);
    json_int_t number = json_integer_value(value);
    *out = (uint32_t)number;
    return json_is_integer(value) && number >= 0 && number <= UINT32_MAX ? 0 : -EINVAL;
}

/* Index of the topic of a subscription, or -1. */
static long find_foxglove_subscription(const struct foxglove_client *c, uint32_t id)
{
    for (long i = 0; i < MAX_FOXGLOVE_TOPICS; i++) {
        if (c->is_topic_subscribed[i] && c->ids[i] == id) {
            return i;
        }
    }
    return -1;
}

static void subscribe_client_to_channel(struct server *s, struct foxglove_client *c, uint32_t id,
                                        uint32_t channel)
{
    const struct tact_topic_message *scene = tact_topics_scene(s->options.topics);
    if (channel < 1 || channel > foxglove_topic_count(s)) {
        foxglove_set_status(c, FOXGLOVE_ERROR, "Unknown channel ID: %u", channel);
    } else if (find_foxglove_subscription(c, id) >= 0) {
        foxglove_set_status(c, FOXGLOVE_ERROR,
                            "Subscription ID was already used: %u; ignoring subscription", id);
    } else if (c->is_topic_subscribed[channel - 1]) {
        foxglove_set_status(c, FOXGLOVE_WARNING,
                            "Client is already subscribed to channel: %u; ignoring subscription",
                            channel);
    } else {
        c->is_topic_subscribed[channel - 1] = 1;
        c->ids[channel - 1] = id;
        c->must_send_scene_message |= scene && scene->topic == channel - 1;
        c->is_topic_new[channel - 1] = 1;
        c->has_new_topics = 1;
        if (!c->subscription_count++) {
            c->next = s->frames.next;
        }
    }
}

/* Checks the whole message before it applies any part of it. */
static int subscribe_topics(struct server *s, struct foxglove_client *c, const json_t *list)
{
    size_t count = json_array_size(list);
    uint32_t id, channel;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        if (parse_subscription_id(item, "id", &id) ||
            parse_subscription_id(item, "channelId", &channel)) {
            return -EINVAL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        parse_subscription_id(item, "id", &id);
        parse_subscription_id(item, "channelId", &channel);
        subscribe_client_to_channel(s, c, id, channel);
    }
    server_update_requested_ticks(s);
    atomic_store_explicit(&s->must_queue_again, 1, memory_order_relaxed);
    s->options.ask(s->options.user, SERVER_SHOW_TICK, 0.0);
    return json_is_array(list) ? 0 : -EINVAL;
}

static int unsubscribe_topics(struct server *s, struct foxglove_client *c, const json_t *list)
{
    const struct tact_topic_message *scene = tact_topics_scene(s->options.topics);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *id = json_array_get(list, i);
        json_int_t number = json_integer_value(id);
        long topic = json_is_integer(id) && number >= 0 && number <= UINT32_MAX
                         ? find_foxglove_subscription(c, (uint32_t)number)
                         : -1;
        if (topic >= 0) {
            c->is_topic_subscribed[topic] = 0;
            c->subscription_count--;
            c->must_send_scene_message &= !scene || scene->topic != (size_t)topic;
        }
    }
    server_update_requested_ticks(s);
    return json_is_array(list) ? 0 : -EINVAL;
}

/* Ignores all other requests: they need capabilities that this server does not advertise. No client
 * changes the session. */
static void handle_subscription_request(struct server *s, struct foxglove_client *c)
{
    json_t *message = json_loadb(c->request.text, c->request.size, 0, NULL);
    const char *op = json_string_value(json_object_get(message, "op"));
    int rc = -EINVAL;
    if (op && !strcmp(op, "subscribe")) {
        rc = subscribe_topics(s, c, json_object_get(message, "subscriptions"));
    } else if (op && !strcmp(op, "unsubscribe")) {
        rc = unsubscribe_topics(s, c, json_object_get(message, "subscriptionIds"));
    }
    if (rc) {
        foxglove_set_status(c, FOXGLOVE_ERROR,
                            "Invalid message: expected subscribe or unsubscribe");
    }
    json_decref(message);
}

static void receive_client_message(struct server *s, struct foxglove_client *c, const void *in,
                                   size_t size)
{
    if (!server_append_request_part(&c->request, c->wsi, in, size)) {
        return;
    }
    if (c->request.size > MAX_SERVER_REQUEST_BYTES) {
        foxglove_set_status(c, FOXGLOVE_ERROR,
                            "Invalid message: a message must not be longer than %d bytes",
                            MAX_SERVER_REQUEST_BYTES);
    } else if (lws_frame_is_binary(c->wsi)) {
        foxglove_set_status(c, FOXGLOVE_ERROR, "Invalid message: expected text");
    } else {
        handle_subscription_request(s, c);
    }
    c->request.size = 0;
}

/* Ignores a pong that answers no ping. */
static void handle_pong(struct foxglove_client *c, const void *in, size_t size)
{
    uint32_t number;
    if (size != sizeof number) {
        return;
    }
    memcpy(&number, in, sizeof number);
    if (number - c->last_answered_ping <= c->sent_ping_count - c->last_answered_ping) {
        c->last_answered_ping = number;
        lws_callback_on_writable(c->wsi);
    }
}

/* Reads N from ?every=N in the address that the client connects to; 0 where there is none. -EINVAL.
 */
static int parse_ticks_between_frames(struct lws *wsi, uint32_t *ticks_between_frames)
{
    char uri_arguments[64];
    int size = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS);
    unsigned long number;
    char end;
    *ticks_between_frames = 0;
    if (size == 0) {
        return 0;
    }
    if (lws_hdr_copy(wsi, uri_arguments, sizeof uri_arguments, WSI_TOKEN_HTTP_URI_ARGS) <= 0 ||
        strspn(uri_arguments, "every=0123456789") != strlen(uri_arguments) ||
        sscanf(uri_arguments, "every=%8lu%c", &number, &end) != 1 || number < 1 ||
        number > MAX_TICKS_BETWEEN_FRAMES) {
        return -EINVAL;
    }
    *ticks_between_frames = (uint32_t)number;
    return 0;
}

static int add_foxglove_client(struct server *s, struct foxglove_client **out, struct lws *wsi)
{
    struct foxglove_client *c = calloc(1, sizeof *c);
    int slot = 0;
    while (slot < MAX_SERVER_CLIENTS && s->foxglove_clients[slot]) {
        slot++;
    }
    if (!c || slot == MAX_SERVER_CLIENTS ||
        parse_ticks_between_frames(wsi, &c->ticks_between_frames)) {
        free(c);
        return -1;
    }
    s->foxglove_clients[slot] = *out = c;
    c->wsi = wsi;
    server_start_or_stop_updates(s);
    lws_callback_on_writable(wsi);
    return 0;
}

static void remove_foxglove_client(struct server *s, struct foxglove_client *c)
{
    for (int i = 0; c && i < MAX_SERVER_CLIENTS; i++) {
        if (s->foxglove_clients[i] == c) {
            s->foxglove_clients[i] = NULL;
        }
    }
    free(c);
    server_update_requested_ticks(s);
    server_start_or_stop_updates(s);
}

/* The HTTP status by which a connection is refused, or 0. */
static unsigned get_refusal_http_status(struct lws *wsi)
{
    uint32_t ticks_between_frames;
    if (!server_is_host_local(wsi) ||
        !server_is_origin_allowed(wsi, get_server_of_connection(wsi)->options.allowed_origin)) {
        return HTTP_STATUS_FORBIDDEN;
    }
    return parse_ticks_between_frames(wsi, &ticks_between_frames) ? HTTP_STATUS_BAD_REQUEST : 0;
}

static int accept_or_refuse_connection(struct lws *wsi)
{
    unsigned status = get_refusal_http_status(wsi);
    if (status) {
        lws_return_http_status(wsi, status, NULL);
    }
    return status ? -1 : 0;
}

int foxglove_websocket_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user,
                                void *in, size_t size)
{
    struct server *s = get_server_of_connection(wsi);
    struct foxglove_client **c = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return accept_or_refuse_connection(wsi);
    case LWS_CALLBACK_ESTABLISHED:
        return add_foxglove_client(s, c, wsi);
    case LWS_CALLBACK_CLOSED:
        remove_foxglove_client(s, *c);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return foxglove_send(s, *c);
    case LWS_CALLBACK_RECEIVE:
        receive_client_message(s, *c, in, size);
        return 0;
    case LWS_CALLBACK_RECEIVE_PONG:
        handle_pong(*c, in, size);
        return 0;
    default:
        return 0;
    }
}

static void add_frame_for_clients(struct server *s, const struct tact_record *record)
{
    if (s->pages_want_values) {
        memcpy(s->values, record->values, sizeof *s->values * s->options.layout->size);
        s->plotted_values_tick = record->tick;
        s->has_plotted_values = 1;
    }
    if (s->are_topics_subscribed && frames_encode_and_add(&s->frames, s->options.topics, record)) {
        atomic_fetch_add(&s->queue.lost_record_count, 1);
    }
}

/* Makes frames of the records that were published since the last update, in their order: the record
 * in the slot comes after those that were in the queue before it, and is outdated where later ones
 * were read already. */
static int make_frames_of_queued_records(struct server *s, const struct slot *slot)
{
    uint64_t before = s->frames.next;
    const struct tact_record *record;
    int is_slot_record_due =
        slot && slot->record_bytes && s->queue.popped_record_count <= slot->records_queued_before;
    while ((record = record_queue_pop(&s->queue)) != NULL) {
        if (is_slot_record_due && s->queue.popped_record_count > slot->records_queued_before) {
            add_frame_for_clients(s, server_slot_record(s, slot));
            is_slot_record_due = 0;
        }
        add_frame_for_clients(s, record);
    }
    if (is_slot_record_due) {
        add_frame_for_clients(s, server_slot_record(s, slot));
    }
    return s->frames.next > before;
}

void update_foxglove_clients(struct server *s, int was_new_sample_read)
{
    int were_frames_added =
        make_frames_of_queued_records(s, was_new_sample_read ? s->newest : NULL);
    uint64_t newly_lost_record_count =
        atomic_load(&s->queue.lost_record_count) - s->reported_queue_losses;
    s->reported_queue_losses += newly_lost_record_count;
    for (int i = 0; i < MAX_SERVER_CLIENTS; i++) {
        struct foxglove_client *c = s->foxglove_clients[i];
        if (!c || !c->subscription_count) {
            continue;
        }
        if (c->ticks_between_frames) {
            c->lost_frame_count += newly_lost_record_count;
        } else if (were_frames_added) {
            /* a newer frame replaces the one that waits to be sent */
            c->lost_frame_count += c->was_frame_due_earlier > 0;
            c->was_frame_due_earlier = 1;
        }
        if (were_frames_added) {
            lws_callback_on_writable(c->wsi);
        }
    }
}
