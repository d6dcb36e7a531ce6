/* Computes the frames of the viewer from a log. */
#include "playback.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "log_seek.h"
#include "rt/clock.h"

/* distance [ticks] beyond which a target is a jump, and not played tick by tick */
#define FAR 1000

static int make_record_buffers(struct playback *p, struct tact_error *err)
{
    if (tact_log_state(p->log)->ticks < 2) {
        return tact_error_set(err, -ENODATA, "the log has fewer than two ticks");
    }
    size_t bytes = tact_layout_bytes(tact_log_layout(p->log));
    p->before = malloc(bytes);
    p->now = malloc(bytes);
    p->devices = calloc((size_t)p->scene_log.device_count + 1, sizeof *p->devices);
    p->map = calloc(1, sizeof *p->map);
    return p->before && p->now && p->devices && p->map ? 0 : -ENOMEM;
}

static int make_viewer_messages(struct playback *p)
{
    struct tact_world *world = tact_session_world(p->scene_log.session);
    const struct tact_log_state *state = tact_log_state(p->log);
    p->shapes = (size_t)tact_world_shape_count(world);
    const struct wire_hello hello = {.kind = "log",
                                     .source = tact_log_fact(p->log, "moments"),
                                     .layout = tact_log_layout(p->log),
                                     .first = state->first_tick,
                                     .last = state->last_tick,
                                     .log = p->log};
    p->hello = wire_make_hello_message(p->scene_log.scene, world, &hello);
    return p->hello ? wire_make_mesh_messages(world, &p->meshes, &p->mesh_sizes) : -ENOMEM;
}

int playback_open(struct playback *p, struct tact_log *log, struct tact_error *err)
{
    struct tact_messages messages = {NULL, NULL};
    memset(p, 0, sizeof *p);
    p->log = log;
    int rc = tact_scene_log_open(log, messages, &p->scene_log, err);
    rc = rc ? rc : make_record_buffers(p, err);
    rc = rc ? rc : make_viewer_messages(p);
    return rc && !err->text[0]
               ? tact_error_set(err, rc, "the log cannot be shown: %s", strerror(-rc))
               : rc;
}

void playback_close(struct playback *p)
{
    wire_meshes_free(p->meshes, p->mesh_sizes, p->shapes);
    free(p->hello);
    free(p->devices);
    free(p->map);
    free(p->before);
    free(p->now);
    tact_scene_log_close(&p->scene_log);
}

static int read_record_at(struct playback *p, uint64_t index)
{
    if (index == p->index + 1 && p->index >= 1) {
        struct tact_record *old = p->before;
        p->before = p->now;
        p->now = old;
    } else {
        int rc = tact_log_seek(p->log, index - 1);
        rc = rc ? rc : tact_log_next(p->log, p->before) == 1 ? 0 : -EIO;
        if (rc) {
            return rc;
        }
    }
    p->index = index;
    return tact_log_next(p->log, p->now) == 1 ? 0 : -EIO;
}

static void run_tick_of_record(struct playback *p)
{
    const double *v = p->now->values;
    tact_session_request_pressure(p->scene_log.session, p->map);
    tact_scene_log_step(&p->scene_log, p->before, p->now);
    wire_accumulate_tick(&p->tick_statistics, tact_session_world(p->scene_log.session),
                         p->scene_log.scene->period, v[p->scene_log.timing],
                         v[p->scene_log.timing + 1]);
}

/* Reads the next record of the log and, with `must_run_tick_again`, runs its tick again. */
static int read_record_and_run_its_tick(struct playback *p, uint64_t index, int must_run_tick_again)
{
    int rc = p->index == index ? 0 : read_record_at(p, index);
    if (rc) {
        return rc;
    }
    if (must_run_tick_again) {
        run_tick_of_record(p);
    }
    if (p->on_record) {
        p->on_record(p->user, p->now);
    }
    return 0;
}

int playback_go_to_tick(struct playback *p, uint64_t target, int64_t time_budget_ns)
{
    int64_t end = tact_clock_now() + time_budget_ns;
    int rc = 0;
    target = target < 1 ? 1 : target;
    while (!rc && p->index >= 1 && p->index + 1 < target && target - p->index < FAR) {
        rc = read_record_and_run_its_tick(p, p->index + 1, tact_clock_now() < end);
    }
    return rc ? rc : read_record_and_run_its_tick(p, target, 1);
}

int playback_find_record(struct playback *p, uint64_t tick, uint64_t *index)
{
    int rc = log_find_record(p->log, tick, index);
    return rc || !p->index ? rc : tact_log_seek(p->log, p->index + 1);
}

uint32_t playback_age_of_moments(const struct tact_scene_log *scene_log, const double *values)
{
    double oldest_moments_age = 0.0;
    for (int i = 0; i < scene_log->pair_count; i++) {
        const double *status = values + scene_log->pairs[i].status;
        oldest_moments_age =
            status[0] > 0.0 && status[1] > oldest_moments_age ? status[1] : oldest_moments_age;
    }
    return oldest_moments_age < UINT32_MAX ? (uint32_t)oldest_moments_age : UINT32_MAX;
}

void playback_fill_sample(struct playback *p, int flags, struct wire_sample *out)
{
    const double *v = p->now->values;
    const struct tact_scene_log *scene_log = &p->scene_log;
    int is_last_record_of_log = p->index + 1 == tact_log_state(p->log)->ticks;
    for (int i = 0; i < scene_log->device_count; i++) {
        p->devices[i] = (int)v[scene_log->device_inputs[i]];
    }
    const struct wire_session_state state = {
        .tick = p->now->tick,
        .time = (double)p->now->tick * scene_log->scene->period,
        .flags = flags | (is_last_record_of_log ? WIRE_ENDED : 0) |
                 (v[scene_log->solver + 4] > 0.0 ? WIRE_DEADMAN : 0),
        .safety = (int)v[scene_log->safety],
        .residual = v[scene_log->solver + 2],
        .iterations = (int)v[scene_log->solver + 1],
        .missed = (uint64_t)v[scene_log->timing + 2],
        .age = playback_age_of_moments(scene_log, v),
        .devices = scene_log->device_count,
        .device = p->devices,
    };
    wire_fill_sample(&p->tick_statistics, tact_session_world(scene_log->session),
                     scene_log->scene->period, &state, p->map, out);
}
