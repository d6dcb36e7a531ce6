/* Shows a running session in the viewer. */
#include "stream.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "player.h"
#include "rt/clock.h"

#define TICK_TIME_PER_FRAME_NS                                                                     \
    14000000 /* part of a frame's time in which a simulation's ticks run */

/* sample: 1 where the record of this tick is published with the next sample. */
static void publish_record(struct stream *stream, int sample)
{
    struct tact_record *record =
        server_record_buffer_if_wanted(stream->server, stream->status.tick, sample);
    if (record) {
        server_push_record(stream->server, record, tact_session_record(stream->session, record));
    }
}

/* Whether the record of a sample is that of its own tick. In real time it is that of the tick
 * halfway between two samples: code and data of both have left the caches since they were last
 * used, and no tick has to fetch both. */
static int must_make_own_record(const struct stream *stream)
{
    return stream->is_paced_by_pages || stream->every < 2;
}

static void publish_tick_to_pages(struct stream *stream)
{
    const struct tact_session_status *now = &stream->status;
    publish_record(stream, must_make_own_record(stream));
    for (int i = 0; i < stream->device_count; i++) {
        stream->devices[i] = tact_session_device_state(stream->session, i);
    }
    const struct wire_state state = {
        .tick = now->tick,
        .time = now->time,
        .flags = stream->flags | (now->deadman ? WIRE_DEADMAN : 0),
        .safety = now->safety,
        .residual = now->residual,
        .iterations = now->iterations,
        .missed = now->missed,
        .age = now->age,
        .devices = stream->device_count,
        .device = stream->devices,
    };
    struct wire_sample *sample = server_sample_to_fill(stream->server);
    wire_accumulate_and_sample_tick(&stream->gather, tact_session_world(stream->session),
                                    stream->period, &state, stream->has_map ? stream->map : NULL,
                                    sample);
    server_publish(stream->server);
}

/* Requests the pressure of the next tick where that tick may be a sample's and a page is connected.
 * In real time the session writes it into that sample. In a simulation every tick may be a
 * sample's, also several times. */
static void request_pressure_map(struct stream *stream)
{
    int next = stream->gather.ticks + 1 >= stream->every;
    if ((next || stream->is_paced_by_pages) && server_client_count(stream->server) > 0) {
        stream->map = stream->is_paced_by_pages ? stream->owned_pressure_map
                                                : &server_sample_to_fill(stream->server)->map;
        stream->pressure_request_tick = stream->status.tick + 1;
        tact_session_request_pressure(stream->session, stream->map);
    }
}

void stream_publish_tick(void *user, struct tact_session *session,
                         const struct tact_session_status *status)
{
    struct stream *stream = user;
    if (!stream->server) {
        return;
    }
    stream->status = *status;
    stream->has_map = status->tick == stream->pressure_request_tick;
    wire_accumulate_tick(&stream->gather, tact_session_world(session), stream->period,
                         (double)status->wake_ns, (double)status->compute_ns);
    if (status->faults && !stream->fault.text[0]) { /* once: the server reads it */
        stream->fault = status->fault;
        server_send_fault_text(stream->server, stream->fault.text);
    }
    if (stream->gather.ticks >= stream->every) {
        publish_tick_to_pages(stream);
    } else {
        publish_record(stream,
                       !must_make_own_record(stream) && stream->gather.ticks == stream->every / 2);
    }
    request_pressure_map(stream);
}

/* Markers and stop requests are passed on at once; the others wait for the ticking thread. */
static void on_page_request(void *user, enum server_request what, double value)
{
    struct stream *stream = user;
    if (what == SERVER_MARKER) {
        tact_session_mark(stream->session, "page of the viewer");
    } else if (what == SERVER_STOP) {
        tact_stop_request(stream->stop);
    } else {
        page_requests_merge(&stream->page_requests, what, value);
    }
}

int stream_open_server(struct stream *stream, struct tact_session *session,
                       const struct tact_scene *scene, const char *kind, struct tact_stop *stop,
                       const struct stream_options *options, struct tact_error *err)
{
    struct tact_world *world = tact_session_world(session);
    memset(stream, 0, sizeof *stream);
    page_requests_open(&stream->page_requests, 1);
    stream->session = session;
    stream->stop = stop;
    stream->period = scene->period;
    stream->every = (uint32_t)fmax(1.0, ceil(1e-9 * PAGE_REQUESTS_FRAME_NS / scene->period));
    stream->device_count = (int)scene->devices_count;
    stream->devices = calloc((size_t)stream->device_count + 1, sizeof *stream->devices);
    stream->owned_pressure_map = calloc(1, sizeof *stream->owned_pressure_map);
    stream->pressure_request_tick = UINT64_MAX;
    stream->hello = wire_make_hello_message(scene, world, kind, 0, 0);
    stream->shapes = (size_t)tact_world_shape_count(world);
    int rc = stream->devices && stream->owned_pressure_map && stream->hello
                 ? wire_make_mesh_messages(world, &stream->meshes, &stream->mesh_sizes)
                 : -ENOMEM;
    rc = rc ? rc : tact_session_topics(session, &stream->topics, err);
    struct server_options o = {
        .hello = stream->hello,
        .mesh_count = stream->shapes,
        .meshes = stream->meshes,
        .mesh_sizes = stream->mesh_sizes,
        .world = world,
        .device_count = (size_t)stream->device_count,
        .name = scene->name ? scene->name : kind,
        .topics = stream->topics,
        .record_room = tact_layout_bytes(tact_session_layout(session)),
        .allowed_origin = options->allowed_origin,
        .port = options->port,
        .is_token_required = 1,
        .away_from_cpu = options->loop_cpu,
        .ask = on_page_request,
        .user = stream,
    };
    rc = rc ? tact_error_set(err, rc, "no memory for the viewer") : 0;
    rc = rc ? rc : server_open(&o, &stream->server, err);
    if (!rc) {
        player_announce(options->address_stream, server_address(stream->server), options->browser);
    }
    return rc;
}

void stream_close(struct stream *stream)
{
    if (!stream->session) {
        return;
    }
    server_close(stream->server);
    tact_topics_free(stream->topics);
    page_requests_close(&stream->page_requests);
    wire_meshes_free(stream->meshes, stream->mesh_sizes, stream->shapes);
    free(stream->hello);
    free(stream->devices);
    free(stream->owned_pressure_map);
    memset(stream, 0, sizeof *stream);
}

/* Runs the ticks that are due, as long as time remains. */
static int step_ticks_due_by_clock(struct stream *stream, double due, uint64_t *left)
{
    int64_t end = tact_clock_now() + TICK_TIME_PER_FRAME_NS;
    int rc = 0;
    for (; !rc && due >= 1.0 && *left && tact_clock_now() < end; due -= 1.0) {
        rc = tact_session_step(stream->session, 0, NULL);
        *left -= !rc;
    }
    return rc;
}

static int step_all_ticks(struct stream *stream, uint64_t ticks)
{
    double due = 0.0;
    int64_t next = tact_clock_now();
    int rc = 0;
    while (!rc && !tact_stop_requested(stream->stop)) {
        struct page_request page_request = page_requests_take_all(&stream->page_requests);
        double rate = page_request.speed * 1e-9 * PAGE_REQUESTS_FRAME_NS / stream->period;
        due += page_request.playing ? rate : 0.0;
        /* A simulation that cannot keep up stays late and does not catch up. */
        due = fmin(due, 1.0 + rate);
        due = page_request.step > 0 ? (double)page_request.step : due;
        int changed = page_request.changed || due >= 1.0;
        stream->flags = (page_request.playing ? 0 : WIRE_PAUSED) | (ticks ? 0 : WIRE_ENDED);
        rc = step_ticks_due_by_clock(stream, due, &ticks);
        due = page_request.step > 0 ? 0.0 : due - floor(due);
        if (!ticks) {
            page_requests_pause(&stream->page_requests);
        }
        if (!rc && changed && (stream->gather.number || stream->gather.ticks)) {
            publish_tick_to_pages(stream);
        }
        next += PAGE_REQUESTS_FRAME_NS;
        tact_clock_sleep_until(next);
        next = tact_clock_now() > next + PAGE_REQUESTS_FRAME_NS ? tact_clock_now() : next;
    }
    return rc == -EINTR ? 0 : rc;
}

int stream_run_session(struct stream *stream, uint64_t ticks, struct tact_session_report *report)
{
    stream->is_paced_by_pages = 1;
    int rc = tact_session_begin(stream->session);
    if (rc) {
        return rc;
    }
    rc = step_all_ticks(stream, ticks);
    int end = tact_session_end(stream->session, report);
    return rc ? rc : end;
}
