/* Shows a running session in the viewer. */
#include "stream.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "player.h"
#include "rt/clock.h"

/* part of a frame's time in which a simulation's ticks run */
#define TICK_TIME_PER_FRAME_NS 14000000

/* Largest change of the average duration of ticks by one tick; the average follows a jump within
 * seconds. */
#define MAX_AVERAGE_STEP_NS 10000

/* sample: 1 where the record of this tick is published with the next sample. */
static WIRE_CODE_RUN_EVERY_TICK void publish_tick_record(struct stream *stream, int sample)
{
    struct tact_record *record =
        server_get_record_buffer_if_wanted(stream->server, stream->state.tick, sample);
    if (record) {
        server_push_record(stream->server, record, tact_session_record(stream->session, record));
    }
}

/* Whether the record of a sample is that of its own tick. In real time it is that of the tick
 * halfway between two samples: code and data of both have left the caches since they were last
 * used, and no tick has to fetch both. */
static WIRE_CODE_RUN_EVERY_TICK int is_record_of_sample_tick(const struct stream *stream)
{
    return stream->is_paced_by_pages || stream->ticks_between_samples < 2;
}

static WIRE_CODE_RUN_EVERY_TICK void publish_tick_to_pages(struct stream *stream)
{
    for (int i = 0; i < stream->device_count; i++) {
        stream->devices[i] = tact_session_device_state(stream->session, i);
    }
    struct wire_session_state state = stream->state;
    state.flags |= stream->flags;
    state.devices = stream->device_count;
    state.device = stream->devices;
    struct wire_sample *sample = server_get_sample_to_fill(stream->server);
    wire_fill_sample(&stream->tick_statistics, stream->world, stream->period, &state,
                     stream->has_pressure_map ? stream->requested_pressure_map : NULL, sample);
    server_publish_sample(stream->server);
    stream->published_flags = stream->flags;
}

/* Requests the pressure of the next tick where that tick may be a sample's and a page is connected.
 * In real time the session writes it into that sample. In a simulation every tick may be a
 * sample's, also several times. */
static WIRE_CODE_RUN_EVERY_TICK void request_pressure_map(struct stream *stream)
{
    int next = stream->tick_statistics.ticks + 1 >= stream->ticks_between_samples;
    if ((next || stream->is_paced_by_pages) && server_client_count(stream->server) > 0) {
        stream->requested_pressure_map = stream->is_paced_by_pages
                                             ? stream->owned_pressure_map
                                             : &server_get_sample_to_fill(stream->server)->map;
        stream->pressure_request_tick = stream->state.tick + 1;
        tact_session_request_pressure(stream->session, stream->requested_pressure_map);
    }
}

static WIRE_CODE_RUN_EVERY_TICK void store_state_of_tick(struct stream *stream,
                                                         const struct tact_session_status *now)
{
    stream->state = (struct wire_session_state){.tick = now->tick,
                                                .time = now->time,
                                                .flags = now->deadman ? WIRE_DEADMAN : 0,
                                                .safety = now->safety,
                                                .residual = now->residual,
                                                .iterations = now->iterations,
                                                .missed = now->missed,
                                                .age = now->age};
}

/* Whether this tick has taken no longer so far than ticks take on average. */
static WIRE_CODE_RUN_EVERY_TICK int is_tick_duration_at_most_average(struct stream *stream,
                                                                     int64_t wake_ns)
{
    /* The time since the tick woke, and a constant: the start of the session. */
    const int64_t time_since_tick_wake_ns =
        tact_clock_now() - (int64_t)stream->state.tick * stream->period_ns - wake_ns;
    stream->average_elapsed_ns =
        stream->average_elapsed_ns ? stream->average_elapsed_ns : time_since_tick_wake_ns;
    const int64_t excess_over_average_ns = time_since_tick_wake_ns - stream->average_elapsed_ns;
    int64_t step = excess_over_average_ns / 8;
    step = step > MAX_AVERAGE_STEP_NS ? MAX_AVERAGE_STEP_NS : step;
    stream->average_elapsed_ns += step < -MAX_AVERAGE_STEP_NS ? -MAX_AVERAGE_STEP_NS : step;
    return excess_over_average_ns <= 0;
}

/* Publishes record and sample in real time, each in a tick that has taken no longer so far than
 * average, so that a late tick is not made later. Neither is postponed for long. */
static WIRE_CODE_RUN_EVERY_TICK void publish_in_faster_than_average_ticks(struct stream *stream,
                                                                          int64_t wake_ns)
{
    const uint32_t ticks = stream->tick_statistics.ticks,
                   ticks_between_samples = stream->ticks_between_samples;
    const int is_sample_due_to_publish = ticks >= ticks_between_samples;
    const int is_record_due_to_publish =
        !stream->is_record_published && ticks >= ticks_between_samples / 2;
    const int is_tick_faster_than_average =
        (is_sample_due_to_publish || is_record_due_to_publish) &&
        is_tick_duration_at_most_average(stream, wake_ns);
    const int record = is_record_due_to_publish &&
                       (is_tick_faster_than_average || ticks + 1 >= ticks_between_samples);
    publish_tick_record(stream, record);
    stream->is_record_published |= record;
    /* A pressure was computed for this tick, and is not computed for the next ones as well. */
    const int shows_pressure = stream->has_pressure_map && stream->requested_pressure_map->patches;
    if (is_sample_due_to_publish && (is_tick_faster_than_average || shows_pressure ||
                                     ticks >= ticks_between_samples + ticks_between_samples / 4)) {
        publish_tick_to_pages(stream);
        stream->is_record_published = 0;
    }
}

/* At the end of a tick in real time: fetches the buffer that the next tick may fill. */
static WIRE_CODE_RUN_EVERY_TICK void bring_buffer_of_next_tick_into_cache(struct stream *stream)
{
    const uint32_t next = stream->tick_statistics.ticks + 1;
    if (next == stream->ticks_between_samples) {
        server_bring_sample_buffer_into_cache(stream->server);
    } else if (next == stream->ticks_between_samples / 2) {
        server_bring_record_buffer_into_cache(stream->server);
    }
    /* The tick before the next one that publishes: it fetches the buffer to be filled. */
    const uint32_t due = (stream->is_record_published ? stream->ticks_between_samples
                                                      : stream->ticks_between_samples / 2) -
                         1;
    stream->next_due_tick_count = due > next ? due : next;
}

static WIRE_CODE_RUN_EVERY_TICK void
publish_due_samples_and_records(struct stream *stream, const struct tact_session_status *status)
{
    store_state_of_tick(stream, status);
    stream->has_pressure_map = status->tick == stream->pressure_request_tick;
    if (status->faults && !stream->is_fault_sent_to_viewer) { /* once: the server reads it */
        stream->is_fault_sent_to_viewer = 1;
        stream->fault = status->fault;
        atomic_store_explicit(&stream->fault_tick_plus_one, status->tick + 1, memory_order_release);
        server_send_fault_text(stream->server, stream->fault.text);
    }
    if (is_record_of_sample_tick(stream)) {
        const int is_sample_due_to_publish =
            stream->tick_statistics.ticks >= stream->ticks_between_samples;
        publish_tick_record(stream, is_sample_due_to_publish);
        if (is_sample_due_to_publish) {
            publish_tick_to_pages(stream);
        }
        request_pressure_map(stream);
    } else {
        publish_in_faster_than_average_ticks(stream, status->wake_ns);
        request_pressure_map(stream);
        bring_buffer_of_next_tick_into_cache(stream);
    }
}

WIRE_CODE_RUN_EVERY_TICK void stream_publish_tick(void *user, struct tact_session *session,
                                                  const struct tact_session_status *status)
{
    struct stream *stream = user;
    (void)session;
    if (!stream->server) {
        return;
    }
    wire_accumulate_tick(&stream->tick_statistics, stream->world, stream->period,
                         (double)status->wake_ns, (double)status->compute_ns);
    if (stream->tick_statistics.ticks >= stream->next_due_tick_count ||
        server_needs_ticks_between_samples(stream->server) ||
        (status->faults && !stream->is_fault_sent_to_viewer)) {
        publish_due_samples_and_records(stream, status);
    }
}

/* Handles a request of a page: markers and stops at once; other requests wait for the thread that
 * runs the ticks. */
static void on_page_request(void *user, enum server_request what, double value)
{
    struct stream *stream = user;
    if (what == SERVER_ADD_MARKER) {
        static const char text[] = "a marker set on the page of tact view";
        if (tact_session_mark(stream->session, text)) {
            server_send_event(stream->server, server_newest_tick(stream->server), "no marker",
                              "the session is not recorded");
        } else {
            server_send_event(stream->server, server_newest_tick(stream->server), "marker", text);
        }
    } else if (what == SERVER_STOP) {
        tact_stop_request(stream->stop);
    } else {
        page_requests_merge(&stream->page_requests, what, value);
    }
}

/* Adds the events of the session that the pages do not have: the first fault, touches, slips,
 * releases. */
static void add_session_events(void *user, struct server *server)
{
    struct stream *stream = user;
    const uint64_t fault_tick_plus_one =
        atomic_load_explicit(&stream->fault_tick_plus_one, memory_order_acquire);
    if (fault_tick_plus_one && !stream->is_fault_event_sent) {
        stream->is_fault_event_sent = 1;
        server_send_event(server, fault_tick_plus_one - 1, "fault", stream->fault.text);
    }
    hold_events_send_new(&stream->hold_events, server);
}

int stream_open_server(struct stream *stream, struct tact_session *session,
                       const struct tact_scene *scene, const char *kind, struct tact_stop *stop,
                       const struct stream_options *options, struct tact_error *err)
{
    struct tact_world *world = tact_session_world(session);
    memset(stream, 0, sizeof *stream);
    page_requests_open(&stream->page_requests, 1);
    stream->session = session;
    stream->world = world;
    stream->stop = stop;
    stream->period = scene->period;
    stream->period_ns = llround(1e9 * scene->period);
    stream->ticks_between_samples =
        (uint32_t)fmax(1.0, ceil(1e-9 * PAGE_FRAME_INTERVAL_NS / scene->period));
    stream->device_count = (int)scene->devices_count;
    stream->devices = calloc((size_t)stream->device_count + 1, sizeof *stream->devices);
    stream->owned_pressure_map = calloc(1, sizeof *stream->owned_pressure_map);
    stream->pressure_request_tick = UINT64_MAX;
    stream->hello = wire_make_hello_message(
        scene, world,
        &(struct wire_hello){
            .kind = kind, .source = options->source, .layout = tact_session_layout(session)});
    stream->shapes = (size_t)tact_world_shape_count(world);
    int rc = stream->devices && stream->owned_pressure_map && stream->hello
                 ? wire_make_mesh_messages(world, &stream->meshes, &stream->mesh_sizes)
                 : -ENOMEM;
    rc = rc ? rc : hold_events_open(&stream->hold_events, session);
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
        .layout = tact_session_layout(session),
        .allowed_origin = options->allowed_origin,
        .port = options->port,
        .is_token_required = 1,
        .excluded_cpu = options->loop_cpu,
        .ask = on_page_request,
        .add_events = add_session_events,
        .user = stream,
    };
    rc = rc ? tact_error_set(err, rc, "no memory for the viewer") : 0;
    rc = rc ? rc : server_open(&o, &stream->server, err);
    if (!rc) {
        player_print_and_open_address(options->address_stream, server_address(stream->server),
                                      options->must_open_browser);
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
    hold_events_close(&stream->hold_events);
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
    int rc = 0, is_watched = 0;
    /* The first frame is of the start: ticks wait until a page has it. */
    stream->published_flags = -1;
    while (!rc && !tact_stop_requested(stream->stop)) {
        struct page_request page_request = page_requests_read_and_clear(&stream->page_requests);
        double rate = page_request.speed * 1e-9 * PAGE_FRAME_INTERVAL_NS / stream->period;
        is_watched = is_watched || server_has_viewers(stream->server);
        due += page_request.is_playing && is_watched ? rate : 0.0;
        /* A simulation that cannot keep up stays late and does not catch up. */
        due = fmin(due, 1.0 + rate);
        due = page_request.step > 0 ? (double)page_request.step : due;
        int is_page_frame_due = page_request.is_page_frame_due || due >= 1.0;
        stream->flags = (page_request.is_playing ? 0 : WIRE_PAUSED) | (ticks ? 0 : WIRE_ENDED);
        rc = step_ticks_due_by_clock(stream, due, &ticks);
        due = page_request.step > 0 ? 0.0 : due - floor(due);
        if (!ticks) {
            stream->flags |= WIRE_PAUSED | WIRE_ENDED;
            page_requests_pause(&stream->page_requests);
        }
        /* The last tick may have published itself, and pages that ask are shown it again. */
        const int has_unpublished_state =
            stream->tick_statistics.ticks || stream->flags != stream->published_flags;
        if (!rc && is_page_frame_due &&
            (has_unpublished_state ||
             (page_request.is_page_frame_due && stream->tick_statistics.number))) {
            publish_tick_record(stream, 1);
            publish_tick_to_pages(stream);
        }
        next += PAGE_FRAME_INTERVAL_NS;
        tact_clock_sleep_until(next);
        next = tact_clock_now() > next + PAGE_FRAME_INTERVAL_NS ? tact_clock_now() : next;
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
