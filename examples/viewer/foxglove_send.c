/*
 * The messages sent to a client of foxglove.sdk.v1: serverInfo, the channels, then the messages of
 * frames.
 *
 * A frame is sent for the newest tick 60 times a second or, with ?every=N in the address, for each
 * tick that is a multiple of N. A ping follows each group of frames. At most two groups are sent
 * without an answer to their pings, so that a client that stops reading finds few old frames in its
 * socket later. Frames that a client misses are counted and reported to it.
 */
#include <jansson.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "contact/version.h"
#include "foxglove_client.h"
#include "rt/clock.h"

#define MAX_FRAMES_BETWEEN_PINGS 32    /* frames between two pings */
#define MAX_WRITES_PER_CLIENT_TURN 256 /* messages written before other clients get their turn */
#define LOSS_REPORT_INTERVAL_NS INT64_C(1000000000) /* time between two reports of lost frames */

enum { MESSAGE_DATA = 1, TIME = 2 }; /* opcodes of binary messages */

size_t foxglove_topic_count(const struct server *s)
{
    size_t count = tact_topics_count(s->options.topics);
    return count < MAX_FOXGLOVE_TOPICS ? count : MAX_FOXGLOVE_TOPICS;
}

void foxglove_set_status(struct foxglove_client *c, int level, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(c->status, sizeof c->status, format, values);
    va_end(values);
    c->level = level;
    lws_callback_on_writable(c->wsi);
}

/* Writes an object as JSON and frees it. */
static int write_json_message(struct server *s, struct foxglove_client *c, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    int rc =
        text ? server_write_message(s, c->wsi, NULL, 0, text, strlen(text), LWS_WRITE_TEXT) : -1;
    json_decref(message);
    free(text);
    return rc;
}

static int write_server_info(struct server *s, struct foxglove_client *c)
{
    return write_json_message(s, c,
                              json_pack("{s:s, s:s+, s:[s], s:[], s:{s:s}, s:s}", "op",
                                        "serverInfo", "name", "tact: ", s->options.name,
                                        "capabilities", "time", "supportedEncodings", "metadata",
                                        "tact", TACT_VERSION, "sessionId", s->session));
}

static int write_channel_list(struct server *s, struct foxglove_client *c)
{
    json_t *channels = json_array();
    for (size_t i = 0; i < foxglove_topic_count(s); i++) {
        struct tact_topic t = tact_topics_get(s->options.topics, i);
        json_array_append_new(channels,
                              json_pack("{s:I, s:s, s:s, s:s, s:s, s:s}", "id", (json_int_t)i + 1,
                                        "topic", t.name, "encoding", "cdr", "schemaName", t.type,
                                        "schemaEncoding", "ros2msg", "schema", t.schema));
    }
    return write_json_message(s, c,
                              json_pack("{s:s, s:o}", "op", "advertise", "channels", channels));
}

static int write_status_message(struct server *s, struct foxglove_client *c)
{
    int level = c->level;
    c->level = 0;
    return write_json_message(
        s, c, json_pack("{s:s, s:i, s:s}", "op", "status", "level", level, "message", c->status));
}

static int write_topic_message(struct server *s, struct foxglove_client *c,
                               const struct tact_topic_message *m)
{
    unsigned char head[13] = {MESSAGE_DATA};
    memcpy(head + 1, &c->ids[m->topic], 4);
    memcpy(head + 5, &m->time_ns, 8);
    return server_write_message(s, c->wsi, head, sizeof head, m->data, m->size, LWS_WRITE_BINARY);
}

/* Writes /scene before the first frame, as in a log. */
static int write_scene_message(struct server *s, struct foxglove_client *c, uint64_t time_ns)
{
    struct tact_topic_message m = *tact_topics_scene(s->options.topics);
    m.time_ns = time_ns;
    c->must_send_scene_message = 0;
    return write_topic_message(s, c, &m);
}

/* 1 where a client with ?every=N needs the frame of a tick. In a pause a tick is published again
 * for new subscriptions. A client that has it already needs it for topics that are new to it. */
static int is_frame_due_for_client(const struct foxglove_client *c, uint64_t tick)
{
    return tick % c->ticks_between_frames == 0 &&
           (!c->sent || tick != c->tick || c->has_new_topics);
}

/* Sets c->next to the number of the client's next frame. A client with ?every=N whose frames are no
 * longer stored continues with the newest. Returns 1 where there is a frame. */
static int find_next_frame_of_client(const struct server *s, struct foxglove_client *c)
{
    const struct frames *f = &s->frames;
    if (c->next >= f->next) {
        return 0;
    }
    const uint64_t newest_frame_tick = frames_find_by_number(f, f->next - 1)->tick;
    if (!c->ticks_between_frames) {
        c->next = f->next - 1;
    } else if (c->next < f->first) {
        if (c->sent && newest_frame_tick > c->tick) { /* counts the frames that the client missed */
            c->lost_frame_count += (newest_frame_tick - 1) / c->ticks_between_frames -
                                   c->tick / c->ticks_between_frames;
        }
        c->next = f->next - 1;
    }
    while (c->ticks_between_frames && c->next < f->next &&
           !is_frame_due_for_client(c, frames_find_by_number(f, c->next)->tick)) {
        c->next++;
    }
    return c->next < f->next;
}

static void begin_client_frame(struct server *s, struct foxglove_client *c)
{
    const uint64_t tick = frames_find_by_number(&s->frames, c->next)->tick;
    c->is_frame_tick_repeated = c->ticks_between_frames && c->sent && tick == c->tick;
    c->has_new_topics = 0;
    c->tick = tick;
    c->sent = 1;
    c->frame = c->next++;
    c->is_sending_frame = 1;
    c->message = 0;
    c->was_frame_due_earlier = 0;
}

static int write_time_message(struct server *s, struct foxglove_client *c, uint64_t time_ns)
{
    unsigned char head[9] = {TIME};
    memcpy(head + 1, &time_ns, 8);
    return server_write_message(s, c->wsi, head, sizeof head, NULL, 0, LWS_WRITE_BINARY);
}

static int write_ping_message(struct server *s, struct foxglove_client *c)
{
    c->sent_ping_count++;
    c->frames_since_ping = 0;
    return server_write_message(s, c->wsi, &c->sent_ping_count, sizeof c->sent_ping_count, NULL, 0,
                                LWS_WRITE_PING);
}

/* Writes the frame's next message: its time, /scene where it is due, then the topics. Returns 1
 * where the frame is complete and nothing was written. */
static int write_next_message_of_frame(struct server *s, struct foxglove_client *c)
{
    const struct frame *frame = frames_find_by_number(&s->frames, c->frame);
    if (c->frame < s->frames.first) {
        c->lost_frame_count += 1; /* counts the frame whose rest is dropped */
        c->is_sending_frame = 0;
        return 1;
    }
    if (c->message == 0) {
        c->message = 1;
        return write_time_message(s, c, frame->time_ns);
    }
    if (c->must_send_scene_message) {
        return write_scene_message(s, c, frame->time_ns);
    }
    for (; c->message <= frame->count; c->message++) {
        const struct tact_topic_message *m = &frame->messages[c->message - 1];
        if (m->topic < MAX_FOXGLOVE_TOPICS && c->is_topic_subscribed[m->topic] &&
            (c->is_topic_new[m->topic] || !c->is_frame_tick_repeated)) {
            c->message++;
            c->is_topic_new[m->topic] = 0;
            return write_topic_message(s, c, m);
        }
    }
    c->is_sending_frame = 0;
    c->frames_since_ping++;
    return 1;
}

static int report_lost_frames(struct server *s, struct foxglove_client *c)
{
    c->reported_lost_frame_count = c->lost_frame_count;
    c->last_loss_report_time_ns = tact_clock_now();
    foxglove_set_status(c, FOXGLOVE_WARNING,
                        "%llu frames so far were not sent: this client was too slow for them",
                        (unsigned long long)c->lost_frame_count);
    return write_status_message(s, c);
}

/* Writes one message. Returns 0: written, 1: nothing to write, -1: close the connection. */
static int write_next_message(struct server *s, struct foxglove_client *c)
{
    if (c->sent_greeting_message_count < 2) {
        return c->sent_greeting_message_count++ ? write_channel_list(s, c)
                                                : write_server_info(s, c);
    }
    const char *fault = atomic_load_explicit(&s->fault, memory_order_acquire);
    if (!c->level && fault && !c->fault) {
        c->fault = 1;
        foxglove_set_status(c, FOXGLOVE_ERROR, "fault: %s", fault);
    }
    if (c->level) {
        return write_status_message(s, c);
    }
    while (c->subscription_count) {
        int rc = c->is_sending_frame ? write_next_message_of_frame(s, c) : 1;
        if (rc < 1) {
            return rc;
        }
        if (c->frames_since_ping >= MAX_FRAMES_BETWEEN_PINGS) {
            return write_ping_message(s, c);
        }
        if (c->sent_ping_count - c->last_answered_ping >= MAX_SERVER_FRAMES_UNDER_WAY ||
            !find_next_frame_of_client(s, c)) {
            return c->frames_since_ping ? write_ping_message(s, c) : 1;
        }
        if (c->lost_frame_count > c->reported_lost_frame_count &&
            tact_clock_now() > c->last_loss_report_time_ns + LOSS_REPORT_INTERVAL_NS) {
            return report_lost_frames(
                s, c); /* as the client reads again, reports the frames that it missed */
        }
        begin_client_frame(s, c);
    }
    return 1;
}

/* on: 1: the kernel collects what is written into full segments; 0: it sends the last one, too. A
 * segment costs the sender ten times the copy of a message, as on loopback it includes the work of
 * the receiver's side and its wake-up. */
static void collect_messages_into_segments(const struct foxglove_client *c, int on)
{
    setsockopt(lws_get_socket_fd(c->wsi), IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

int foxglove_send(struct server *s, struct foxglove_client *c)
{
    int rc = 0;
    collect_messages_into_segments(c, 1);
    /* The first call is made when the socket has room. */
    for (int i = 0; !rc && i < MAX_WRITES_PER_CLIENT_TURN && !lws_partial_buffered(c->wsi); i++) {
        rc = write_next_message(s, c);
    }
    collect_messages_into_segments(c, 0);
    if (!rc) {
        lws_callback_on_writable(c->wsi);
    }
    return rc < 0 ? -1 : 0;
}
