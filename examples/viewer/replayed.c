/* Shows a replay in the viewer. See replayed.h. */
#include "replayed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "playback.h"
#include "player.h"
#include "rt/clock.h"
#include "server.h"

#define REPLAY_TIME_PER_FRAME_NS 12000000 /* part of a frame's time in which ticks are replayed */

static int open_viewer_pages(struct replayed *r, struct tact_scene_log *scene_log,
                             const struct tact_log *log)
{
    const struct tact_log_state *state = tact_log_state(log);
    const struct wire_hello hello = {.kind = "log",
                                     .source = tact_log_fact(log, "moments"),
                                     .layout = tact_session_layout(scene_log->session),
                                     .first = state->first_tick,
                                     .last = state->last_tick,
                                     .log = log};
    struct tact_world *world = tact_session_world(scene_log->session);
    page_requests_open(&r->page_requests, 1);
    r->scene_log = scene_log;
    r->shapes = (size_t)tact_world_shape_count(world);
    r->devices = calloc((size_t)scene_log->device_count + 1, sizeof *r->devices);
    r->map = calloc(1, sizeof *r->map);
    r->hello = wire_make_hello_message(scene_log->scene, world, &hello);
    int rc = r->devices && r->map && r->hello
                 ? wire_make_mesh_messages(world, &r->meshes, &r->mesh_sizes)
                 : -ENOMEM;
    rc = rc ? tact_error_set(&r->err, rc, "no memory for the viewer") : 0;
    rc = rc ? rc : tact_session_topics(scene_log->session, &r->topics, &r->err);
    r->record_bytes = tact_layout_bytes(tact_session_layout(scene_log->session));
    r->record = rc ? NULL : calloc(1, r->record_bytes);
    rc = rc || r->record ? rc : tact_error_set(&r->err, -ENOMEM, "no memory for the viewer");
    const struct server_options o = {
        .hello = r->hello,
        .mesh_count = r->shapes,
        .meshes = r->meshes,
        .mesh_sizes = r->mesh_sizes,
        .world = world,
        .device_count = (size_t)scene_log->device_count,
        .name = scene_log->scene->name ? scene_log->scene->name : "log",
        .topics = r->topics,
        .layout = tact_session_layout(scene_log->session),
        .allowed_origin = r->allowed_origin,
        .port = r->port,
        .excluded_cpu = -1,
        .ask = page_requests_merge,
        .user = &r->page_requests,
    };
    rc = rc ? rc : server_open(&o, &r->server, &r->err);
    if (!rc) {
        player_print_and_open_address(stderr, server_address(r->server), r->must_open_browser);
    }
    return rc;
}

void replay_view_add_tick(struct replayed *r, const struct tact_record *logged,
                          const struct tact_record *record)
{
    const struct tact_scene_log *scene_log = r->scene_log;
    const double *v = record->values, *timing = logged->values + scene_log->timing;
    for (int i = 0; i < scene_log->device_count; i++) {
        r->devices[i] = (int)v[scene_log->device_inputs[i]];
    }
    r->state = (struct wire_session_state){
        .tick = record->tick,
        .time = (double)record->tick * scene_log->scene->period,
        .flags = v[scene_log->solver + 4] > 0.0 ? WIRE_DEADMAN : 0,
        .safety = (int)v[scene_log->safety],
        .residual = v[scene_log->solver + 2],
        .iterations = (int)v[scene_log->solver + 1],
        .missed = (uint64_t)timing[2],
        .age = playback_age_of_moments(scene_log, v),
        .devices = scene_log->device_count,
        .device = r->devices,
    };
    wire_accumulate_tick(&r->tick_statistics, tact_session_world(scene_log->session),
                         scene_log->scene->period, timing[0], timing[1]);
    memcpy(r->record, record, r->record_bytes);
    memcpy(r->record->values + scene_log->timing, timing, 4 * sizeof *timing);
    server_copy_record(r->server, r->record, r->record_bytes, 0);
}

static void publish_replayed_frame(struct replayed *r, int flags)
{
    if (!r->tick_statistics.number && !r->tick_statistics.ticks) {
        return; /* nothing was replayed yet */
    }
    struct wire_session_state state = r->state;
    state.flags |= flags;
    server_copy_record(r->server, r->record, r->record_bytes, 1);
    wire_fill_sample(&r->tick_statistics, tact_session_world(r->scene_log->session),
                     r->scene_log->scene->period, &state, r->map,
                     server_get_sample_to_fill(r->server));
    server_publish_sample(r->server);
}

/* Applies the requests of the pages. Returns 1 where there were any: a frame is due. */
static int apply_requests_of_pages(struct replayed *r, const struct tact_log_state *log,
                                   uint64_t *next, int *flags)
{
    struct page_request w = page_requests_read_and_clear(&r->page_requests);
    double to = w.requested_seek_tick >= 0.0 ? w.requested_seek_tick
                                             : (double)r->state.tick + (double)w.step;
    int is_past_last_tick = *next > log->last_tick,
        is_jump_requested = w.requested_seek_tick >= 0.0 || w.step < 0;
    if (w.is_playing && is_past_last_tick && !is_jump_requested) {
        page_requests_pause(&r->page_requests);
    }
    double rate = w.speed * 1e-9 * PAGE_FRAME_INTERVAL_NS / r->scene_log->scene->period;
    if (w.is_playing || w.is_page_frame_due) {
        r->due =
            w.is_playing && !is_past_last_tick ? fmin(r->due + rate, 1.0 + rate) : (double)w.step;
    }
    *flags = (w.is_playing && !is_past_last_tick ? 0 : WIRE_PAUSED) |
             (is_past_last_tick ? WIRE_ENDED : 0);
    if (is_jump_requested) { /* the first tick of a log cannot be replayed, as the log has no state
                                before it */
        *next = (uint64_t)fmin(fmax(to, (double)log->first_tick + 1.0), (double)log->last_tick);
        r->due = 1.0;
    }
    return w.is_page_frame_due;
}

int replay_view_choose_tick(struct replayed *r, struct tact_scene_log *scene_log,
                            const struct tact_log *log, uint64_t *next)
{
    const struct tact_log_state *state = tact_log_state(log);
    if (!r->server && open_viewer_pages(r, scene_log, log)) {
        return 1;
    }
    while (!tact_stop_requested(r->stop)) {
        int64_t now = tact_clock_now();
        if (r->due >= 1.0 && *next <= state->last_tick &&
            now < r->next_frame_due_ns - PAGE_FRAME_INTERVAL_NS + REPLAY_TIME_PER_FRAME_NS) {
            r->due -= 1.0;
            tact_session_request_pressure(scene_log->session, r->map);
            return 0;
        }
        int flags = 0, ticks = r->tick_statistics.ticks > 0;
        tact_clock_sleep_until(r->next_frame_due_ns);
        r->next_frame_due_ns =
            (now > r->next_frame_due_ns ? now : r->next_frame_due_ns) + PAGE_FRAME_INTERVAL_NS;
        if (apply_requests_of_pages(r, state, next, &flags) || ticks) {
            publish_replayed_frame(r, flags);
        }
    }
    return 1;
}

void replay_view_close(struct replayed *r)
{
    if (!r->scene_log) {
        return;
    }
    server_close(r->server);
    tact_topics_free(r->topics);
    free(r->record);
    page_requests_close(&r->page_requests);
    wire_meshes_free(r->meshes, r->mesh_sizes, r->shapes);
    free(r->hello);
    free(r->devices);
    free(r->map);
}
