#include "rt/session/session.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "rt/clock.h"
#include "rt/session/session_internal.h"

#define SCRATCH_PAIRS 262144 /* triangle pairs that a pair of meshes may come to */
#define WATCH_PERIOD_MS 100
#define SOURCE_WAIT_NS 1000000000 /* free-wheeling: longest wait for a frame */

struct tact_session_options tact_session_options_default(void)
{
    struct tact_session_options o = {.clock = TACT_LOOP_REAL};
    return o;
}

static int make_buffers(struct tact_session *s)
{
    s->blank = calloc(1, tact_layout_bytes(&s->layout));
    return s->blank ? tact_triple_create(&s->status, sizeof(struct tact_session_status), 0)
                    : -ENOMEM;
}

int tact_session_stopped(const struct tact_session *s, struct tact_error *err)
{
    return tact_stop_requested(s->options.stop)
               ? tact_error_set(err, -EINTR, "stopped before it began")
               : 0;
}

/* Whether overlaps at the start were taken as they are: earlier versions pushed them open, and have
 * no field for what is kept of them. */
static int keeps_starts(const struct tact_log *log)
{
    const struct tact_layout *layout = tact_log_layout(log);
    int keeps = tact_log_element(log) != NULL;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        keeps |= !strcmp(layout->fields[i].unit, SESSION_PRELOAD_UNIT);
    }
    return keeps;
}

int tact_session_prepare(const struct tact_scene *scene, const struct tact_session_options *options,
                         const struct tact_device_info *replayed, int replayed_count,
                         const struct tact_log *log, struct tact_session **out,
                         struct tact_error *err)
{
    struct tact_session *s = calloc(1, sizeof *s);
    *out = s;
    if (!s) {
        return -ENOMEM;
    }
    s->unmeasured_pair = -1;
    s->scene = scene;
    s->options = *options;
    s->period = scene->period;
    s->period_ns = llround(scene->period * 1e9);
    tact_histogram_reset(&s->report.moments);
    s->ticks = options->ticks ? options->ticks : (uint64_t)llround(scene->duration / scene->period);
    s->scratch = tact_moments_scratch_create(SCRATCH_PAIRS);
    int rc = s->scratch ? tact_session_build_world(s, err) : -ENOMEM;
    rc = rc ? rc : tact_session_stopped(s, err);
    if (!rc && (!log || keeps_starts(log))) {
        tact_session_start(s);
    }
    rc = rc ? rc : tact_session_open_devices(s, replayed, replayed_count, err);
    rc = rc ? rc : tact_session_map(s, err);
    rc = rc ? rc : tact_session_layout_fields(s, log, err);
    return rc ? rc : make_buffers(s);
}

int tact_session_create(const struct tact_scene *scene, const struct tact_session_options *options,
                        struct tact_session **out, struct tact_error *err)
{
    *out = NULL;
    int rc = tact_session_check_log(scene, options, err);
    rc = rc ? rc : tact_session_prepare(scene, options, NULL, 0, NULL, out, err);
    if (!rc) {
        tact_scene_doubt(scene, options->messages);
    }
    rc = rc ? rc : tact_session_check_calibrated(*out, err);
    rc = rc ? rc : tact_session_stopped(*out, err);
    rc = rc ? rc : tact_session_open_source(*out, err);
    rc = rc ? rc : tact_session_stopped(*out, err); /* no log of what never began */
    rc = rc ? rc : tact_session_open_log(*out, err);
    if (rc) {
        if (err && !err->text[0]) {
            tact_error_set(err, rc, "the session cannot be made: %s", strerror(-rc));
        }
        tact_session_destroy(*out);
        *out = NULL;
        return rc;
    }
    tact_session_report_start(*out);
    return 0;
}

const char *tact_session_log_path(const struct tact_session *s)
{
    return s->log_path;
}

void tact_session_destroy(struct tact_session *s)
{
    if (!s) {
        return;
    }
    for (int i = 0; i < s->device_count; i++) {
        if (s->devices[i].open) {
            s->devices[i].device.ops->close(s->devices[i].device.self);
        }
    }
    if (s->source_open) {
        s->source.ops->close(s->source.self);
    }
    tact_recorder_close(s->recorder, NULL);
    for (uint32_t i = 0; s->hands && i < s->scene->hands_count; i++) {
        free(s->hands[i].names);
    }
    tact_moments_scratch_destroy(s->scratch);
    tact_triple_free(s->status);
    tact_layout_free(&s->layout);
    tact_layout_free(&s->element);
    for (int i = 0; s->pair_names && i < tact_world_pair_count(s->world); i++) {
        free(s->pair_names[i]);
    }
    tact_world_destroy(s->world);
    free(s->markers);
    free(s->log_path);
    void *blocks[] = {s->bodies,  s->hands,         s->pairs,        s->devices,    s->inputs,
                      s->outputs, s->source_shapes, s->source_pairs, s->blank,      s->measured,
                      s->history, s->history_frame, s->bonds,        s->owners,     s->group,
                      s->absent,  s->stray,         s->listed,       s->pair_names, s->live};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
    free(s);
}

/* The free-wheeling clock waits for what real time would have had a period for. */
static int between(void *user, uint64_t tick)
{
    struct tact_session *s = user;
    if (s->handed) {
        s->source.ops->wait(s->source.self, tick, SOURCE_WAIT_NS);
    }
    if (s->recorder) {
        tact_recorder_wait_room(s->recorder);
    }
    return 0;
}

struct watcher {
    struct tact_session *session;
    pthread_t thread;
    struct tact_stop done;
    struct tact_session_status last;
    int64_t started_ns; /* CLOCK_MONOTONIC */
    int told;           /* what of real time was granted */
};

/* Says once, loudly, what a person must know while it runs. */
static void warn_of(struct watcher *w, const struct tact_session_status *now)
{
    struct tact_messages to = w->session->options.messages;
    if (now->fallbacks && !w->last.fallbacks) {
        tact_message(to, TACT_MESSAGE_WARNING,
                     "%s is late: moments are computed on the host where it is (t = %.3f s)",
                     w->session->report.source, now->time);
    }
    if (now->unmeasured && !w->last.unmeasured) {
        char name[SESSION_NAME];
        tact_session_name_pair(w->session, now->unmeasured_pair, name);
        tact_message(to, TACT_MESSAGE_WARNING,
                     "%s cannot be measured: its last overlap is carried (t = %.3f s)", name,
                     now->time);
    }
    if (now->safety == TACT_SAFETY_FAULT && w->last.safety != TACT_SAFETY_FAULT) {
        tact_message(
            to, TACT_MESSAGE_ERROR, "fault at t = %.3f s: %s; outputs are zero from then on",
            (double)now->fault_tick * w->session->period, now->fault ? now->fault : "unknown");
    }
    if (now->devices_lost > w->last.devices_lost) {
        tact_message(to, TACT_MESSAGE_WARNING, "%d device(s) lost or stale (t = %.3f s)",
                     now->devices_lost, now->time);
    }
    if (now->overruns && !w->last.overruns) {
        tact_message(to, TACT_MESSAGE_WARNING,
                     "the log cannot keep up: records are lost from t = %.3f s on", now->time);
    }
    w->last = *now;
}

/* What of real time was granted stands in the log from the first ticks on. */
static void tell_realtime(struct watcher *w, const struct tact_session_status *now)
{
    struct tact_session *s = w->session;
    const struct tact_realtime_report *r = &s->report.loop.realtime;
    char text[512] = "granted:";
    size_t used = strlen(text);
    if (w->told || s->options.clock != TACT_LOOP_REAL) {
        return;
    }
    w->told = 1;
    for (int i = 0; i < r->count; i++) {
        if (r->item[i].granted && r->item[i].why[0]) {
            tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                         "real time, %s: %s; for more: %s", r->item[i].name, r->item[i].why,
                         r->item[i].fix);
        }
    }
    if (!s->recorder) {
        return;
    }
    for (int refused = 0; refused < 2; refused++) {
        if (refused && r->refused) {
            used += (size_t)snprintf(text + used, sizeof text - used, "; refused:");
        }
        for (int i = 0; i < r->count && used < sizeof text; i++) {
            if (r->item[i].granted != refused) {
                used += (size_t)snprintf(text + used, sizeof text - used, " %s", r->item[i].name);
            }
        }
    }
    tact_recorder_event(s->recorder, now->tick, w->started_ns, "realtime", text);
}

static void watch_once(struct watcher *w)
{
    const struct tact_session_options *o = &w->session->options;
    int fresh;
    const struct tact_session_status *now = tact_triple_read(w->session->status, &fresh);
    if (!now || !fresh) {
        return;
    }
    tell_realtime(w, now);
    warn_of(w, now);
    if (o->watch) {
        o->watch(o->watch_user, now);
    }
}

static void *watch(void *arg)
{
    struct watcher *w = arg;
    const struct timespec pause = {0, WATCH_PERIOD_MS * 1000000L};
    while (!tact_stop_requested(&w->done)) {
        nanosleep(&pause, NULL);
        watch_once(w);
    }
    return NULL;
}

/* Devices get zero, whatever state the chain was in. */
static void let_go(struct tact_session *s)
{
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        memset(d->output, 0, sizeof d->output);
        if (d->device.ops->write) {
            d->device.ops->write(d->device.self, d->output, tact_clock_now());
        }
    }
}

static uint32_t median_age(const struct tact_session *s)
{
    uint64_t below = 0;
    for (uint32_t age = 1; age < TACT_SESSION_AGES; age++) {
        below += s->report.ages[age];
        if (2 * below >= s->report.source_pairs && s->report.source_pairs) {
            return age;
        }
    }
    return 0;
}

static void finish_report(struct tact_session *s, struct tact_session_report *report)
{
    struct tact_session_report *r = &s->report;
    r->age = median_age(s);
    r->contacts = s->solve.contacts;
    r->residual = s->solve.residual;
    r->iterations_mean = s->solved_ticks ? s->iterations_sum / (double)s->solved_ticks : 0.0;
    r->safety = s->safety.state;
    for (int i = 0; i < TACT_TRIP_CAUSES; i++) {
        r->trips += s->safety.trips[i];
    }
    *report = *r;
}

/* Every pair that could not be measured, by name. */
static void report_unmeasured(struct tact_session *s)
{
    for (int i = 0; i < tact_world_pair_count(s->world); i++) {
        const struct session_pair *p = &s->pairs[i];
        if (p->use.unmeasured) {
            char name[SESSION_NAME];
            tact_session_name_pair(s, i, name);
            tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                         "%s could not be measured in %llu ticks, the first at t = %.3f s (%s): "
                         "its last overlap was carried",
                         name, (unsigned long long)p->use.unmeasured, (double)p->first * s->period,
                         strerror(-p->why));
        }
    }
}

int tact_session_run(struct tact_session *s, struct tact_session_report *report)
{
    struct tact_loop_options o = tact_loop_default();
    struct watcher watcher = {.session = s, .started_ns = tact_clock_now()};
    if (s->ran) {
        return -EALREADY;
    }
    s->ran = 1;
    o.period_ns = s->period_ns;
    o.ticks = s->ticks;
    o.clock = s->options.clock;
    o.realtime.priority = s->scene->realtime.priority;
    o.realtime.cpu = s->scene->realtime.cpu;
    o.realtime.require = s->options.require_realtime;
    o.stop = s->options.stop;
    o.user = s;
    o.tick = tact_session_tick;
    o.between = between;
    /* Signals and priority are the host's: this thread has none of them. */
    int watched = !tact_realtime_thread(&watcher.thread, &o.realtime, watch, &watcher);
    int rc = tact_loop_run(&o, &s->report.loop);
    let_go(s);
    if (watched) {
        tact_stop_request(&watcher.done);
        pthread_join(watcher.thread, NULL);
        watch_once(&watcher);
    }
    int log = tact_recorder_close(s->recorder, &s->report.recorder);
    s->recorder = NULL;
    finish_report(s, report);
    report_unmeasured(s);
    tact_session_report_stuck(s);
    return rc ? rc : log;
}

struct tact_world *tact_session_world(struct tact_session *session)
{
    return session->world;
}

const struct tact_layout *tact_session_layout(const struct tact_session *session)
{
    return &session->layout;
}

const char *tact_session_body_name(const struct tact_session *session, int body)
{
    return session->bodies[body].name;
}

const char *tact_session_joint_name(const struct tact_session *session, int hand, int link)
{
    return session->hands[hand].names[link];
}

const char *tact_session_pair_name(struct tact_session *session, int pair)
{
    if (!session->pair_names[pair]) {
        char name[SESSION_NAME];
        tact_session_name_pair(session, pair, name);
        session->pair_names[pair] = strdup(name);
    }
    return session->pair_names[pair] ? session->pair_names[pair] : "";
}

struct tact_session_pair_report tact_session_pair_report(const struct tact_session *session,
                                                         int pair)
{
    const struct session_pair *p = &session->pairs[pair];
    return (struct tact_session_pair_report){.host_ticks = p->use.host,
                                             .source_ticks = p->use.source,
                                             .unmeasured_ticks = p->use.unmeasured,
                                             .age_max = p->use.age_max,
                                             .by_source = p->by_source,
                                             .cost = 1e-9 * p->cost_ns};
}

void tact_session_body_pose(struct tact_session *session, int body, struct tact_pose *out)
{
    tact_pose_mul(out, &tact_world_body(session->world, body)->pose, &session->bodies[body].frame);
}
