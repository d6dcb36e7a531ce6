#include "rt/session/field_source_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "contact/pair/field/field_model_internal.h"
#include "contact/pair/models_internal.h"
#include "contact/world/carry_internal.h"
#include "rt/clock.h"
#include "rt/session/field_cutter_internal.h"
#include "rt/session/placing_internal.h"
#include "rt/session/session_internal.h"
#include "rt/thread_internal.h"

enum { FRAMES_BYTES = 48 }; /* capacity of the text that describes frames */

/* interval at which the thread looks for the next frame, as a fraction of the period */
#define POLL_FRACTION_OF_PERIOD 40
#define LONGEST_POLL_INTERVAL_NS 1000000
/* time without a frame after which the thread looks for one at the longest interval */
#define FIELD_THREAD_IDLE_AFTER_NS 100000000

/* A pair to be measured, with the poses of its shapes. */
struct field_measurement_task {
    int pair;
    struct tact_pair_query query;
    struct tact_pose pose[2];
};

/* The pairs to be measured in a tick. */
struct field_measurement_frame {
    uint64_t number; /* number of the frame, from 1: ticks that were not skipped */
    uint64_t tick;
    int64_t next_tick_planned_ns; /* planned start of that tick: no frame comes before its end */
    int count;
    struct field_measurement_task task[MAX_SOURCE_FIELD_PAIRS];
};

struct field_measurement_result {
    int pair;
    int64_t cost_ns; /* time of the measurement; 0 where a device computed polygons for it */
    struct pair_measurement measurement;
};

struct field_measurement_results {
    uint64_t number, tick; /* frame that was measured; number 0: none yet */
    int count;
    struct field_measurement_result result[MAX_SOURCE_FIELD_PAIRS];
};

struct session_field_source {
    int measures_all_pairs; /* 1: every pair, 0: those that the tick has no time for */
    uint64_t frame_count;
    struct field_workspace workspace; /* memory of the thread or, without it, of the tick */
    struct field_measurement_results *results_without_thread; /* results where there is no thread */
    struct field_measurement_frame *frames; /* frames by number, where there is no thread */
    uint64_t frame_slot_count;
    _Atomic(struct session_field_cutter *) cutter; /* device of the thread; NULL: none */
    struct tact_triple *submitted, *finished;
    pthread_t thread;
    int is_measuring_thread_started;
    _Atomic int stop;
    int64_t poll_interval_ns;
};

int tact_session_may_carry_field_measurements(const struct tact_session *s)
{
    const char *source = s->scene->moments.source;
    if (!strcmp(source, "host") || !s->scene->moments.max_age) {
        return 0;
    }
    return tact_world_has_fields(s->world) &&
           (!strcmp(source, "thread") || s->options.clock == TACT_LOOP_REAL);
}

static void run_field_measurement_task(const struct field_measurement_task *task,
                                       const struct field_workspace *workspace,
                                       struct field_measurement_result *out)
{
    const int64_t start_ns = tact_clock_now();
    out->pair = task->pair;
    tact_field_measure_pair_at_poses(&task->query, task->pose, workspace, &out->measurement);
    out->cost_ns = tact_clock_now() - start_ns;
}

static void measure_field_frame(struct session_field_source *f,
                                const struct field_measurement_frame *frame,
                                struct field_measurement_results *out)
{
    out->number = frame->number;
    out->tick = frame->tick;
    out->count = frame->count;
    for (int i = 0; i < frame->count; i++) {
        run_field_measurement_task(&frame->task[i], &f->workspace, &out->result[i]);
    }
}

/* Time at which to look for a frame again: not before the tick starts that submits one. */
static int64_t compute_next_poll_time(const struct session_field_source *f,
                                      int64_t last_frame_time_ns, int64_t next_tick_planned_ns)
{
    const int64_t now = tact_clock_now(), latest = now + LONGEST_POLL_INTERVAL_NS;
    const int64_t earliest = now + f->poll_interval_ns;
    const int64_t due = next_tick_planned_ns > earliest ? next_tick_planned_ns : earliest;
    return due < latest && now - last_frame_time_ns <= FIELD_THREAD_IDLE_AFTER_NS ? due : latest;
}

/* Measures a frame for which a device may compute polygons. */
static void measure_field_frame_by_device(struct session_field_source *f,
                                          struct session_field_cutter *cutter,
                                          const struct field_measurement_frame *frame,
                                          struct field_measurement_results *out)
{
    const int64_t start_ns = tact_clock_now();
    struct tact_field_cuts *cuts[MAX_SOURCE_FIELD_PAIRS];
    out->number = frame->number;
    out->tick = frame->tick;
    out->count = frame->count;
    tact_session_cutter_begin_frame(cutter);
    for (int i = 0; i < frame->count; i++) {
        const struct field_measurement_task *task = &frame->task[i];
        cuts[i] = tact_session_cutter_add_pair(cutter, task->pair, &task->query, task->pose);
    }
    tact_session_cutter_compute_frame(cutter);
    for (int i = 0; i < frame->count; i++) {
        struct field_measurement_result *result = &out->result[i];
        tact_field_scratch_use_cuts(f->workspace.scratch, cuts[i]);
        run_field_measurement_task(&frame->task[i], &f->workspace, result);
        tact_field_scratch_copy_candidates(f->workspace.scratch, cuts[i]);
        tact_session_cutter_count_polygons(cutter, cuts[i], &result->measurement);
        result->cost_ns = cuts[i]->found ? 0 : result->cost_ns;
    }
    tact_session_cutter_end_frame(cutter, tact_clock_now() - start_ns);
}

static void *measure_submitted_frames(void *argument)
{
    struct session_field_source *f = argument;
    int64_t last_frame_time_ns = tact_clock_now(), next_tick_planned_ns = 0;
    while (!atomic_load(&f->stop)) {
        int is_frame_new = 0;
        const struct field_measurement_frame *frame = tact_triple_read(f->submitted, &is_frame_new);
        if (!is_frame_new) {
            tact_clock_sleep_until(
                compute_next_poll_time(f, last_frame_time_ns, next_tick_planned_ns));
            continue;
        }
        struct session_field_cutter *cutter = atomic_load(&f->cutter);
        struct field_measurement_results *results = tact_triple_write_begin(f->finished);
        if (cutter) {
            measure_field_frame_by_device(f, cutter, frame, results);
        } else {
            measure_field_frame(f, frame, results);
        }
        tact_triple_publish(f->finished);
        last_frame_time_ns = tact_clock_now();
        next_tick_planned_ns = frame->next_tick_planned_ns;
    }
    return NULL;
}

static int start_thread(struct tact_session *s, struct session_field_source *f)
{
    const struct tact_thread_options options = {.name = "tact-fields"};
    f->poll_interval_ns = s->period_ns / POLL_FRACTION_OF_PERIOD;
    if (f->poll_interval_ns > LONGEST_POLL_INTERVAL_NS) {
        f->poll_interval_ns = LONGEST_POLL_INTERVAL_NS;
    }
    int rc = tact_triple_create(&f->submitted, sizeof(struct field_measurement_frame), 0);
    rc = rc ? rc : tact_triple_create(&f->finished, sizeof(struct field_measurement_results), 0);
    rc = rc ? rc : tact_thread_start(&f->thread, &options, measure_submitted_frames, f);
    f->is_measuring_thread_started = !rc;
    return rc;
}

/* Allocates what the tick needs where it measures at earlier poses itself. */
static int allocate_field_source_without_thread(struct tact_session *s,
                                                struct session_field_source *f)
{
    f->frame_slot_count = s->scene->moments.max_age;
    f->results_without_thread = calloc(1, sizeof *f->results_without_thread);
    f->frames = calloc(f->frame_slot_count + 1, sizeof *f->frames);
    return f->results_without_thread && f->frames ? 0 : -ENOMEM;
}

int tact_session_open_field_source(struct tact_session *s, int is_replay)
{
    if (!s->optional_contact_fields.measured) {
        return 0;
    }
    struct session_field_source *f = calloc(1, sizeof *f);
    s->field_source = f;
    if (!f) {
        return -ENOMEM;
    }
    f->measures_all_pairs = !strcmp(s->scene->moments.source, "thread");
    int rc = tact_field_workspace_create(&f->workspace);
    for (int i = 0; i < s->pair_count; i++) {
        tact_session_init_field_pair(s, &s->pairs[i]);
    }
    if (!rc && !is_replay && s->options.clock == TACT_LOOP_REAL) {
        rc = start_thread(s, f);
    } else {
        rc = rc ? rc : allocate_field_source_without_thread(s, f);
    }
    if (!rc && !is_replay) {
        tact_session_submit_field_pairs(s, 0, 0);
    }
    return rc;
}

/* Reports which device computes polygons, or why none does. is_opencl_required: the scene names
 * OpenCL. */
static void report_polygon_device(struct tact_session *s, const struct session_field_cutter *cutter,
                                  int is_opencl_required, int rc, const struct tact_error *why)
{
    struct tact_session_polygons polygons;
    char text[512];
    if (cutter) {
        tact_session_cutter_get_statistics(cutter, &polygons);
        snprintf(text, sizeof text, "polygons of pressure fields by %s%s", polygons.device,
                 is_opencl_required ? "" : ", where that is faster");
    } else {
        snprintf(text, sizeof text,
                 "polygons of pressure fields cannot be computed by OpenCL (%s): they are computed "
                 "on the host",
                 why->text);
        /* with `auto` the source of moments reports that there is no device */
        tact_message(s->options.messages,
                     is_opencl_required || rc != -ENODEV ? TACT_MESSAGE_WARNING : TACT_MESSAGE_INFO,
                     "%s", text);
    }
    if (s->recorder) {
        tact_recorder_event(s->recorder, 0, tact_clock_now(), "polygons", text);
    }
}

int tact_session_add_field_cutter(struct tact_session *s, tact_field_cutter_factory factory,
                                  void *user)
{
    struct session_field_source *f = s->field_source;
    const char *source = s->scene->moments.source;
    const int is_opencl_required = !strcmp(source, "opencl");
    struct session_field_cutter *cutter = NULL;
    struct tact_error why = {0};
    if (s->phase != SESSION_MADE || (f && atomic_load(&f->cutter))) {
        return -EALREADY;
    }
    if (!f || !f->is_measuring_thread_started || (!is_opencl_required && strcmp(source, "auto"))) {
        return 0;
    }
    const int rc =
        tact_session_cutter_create(s->world, s->scene->moments.device, is_opencl_required, factory,
                                   user, s->options.messages, &cutter, &why);
    atomic_store(&f->cutter, cutter);
    report_polygon_device(s, cutter, is_opencl_required, rc, &why);
    return rc;
}

/* Describes frames by their mean time [s]. */
static void format_frame_count_and_mean_time(uint64_t frames, double mean_frame_time,
                                             char text[FRAMES_BYTES])
{
    if (frames) {
        tact_number_print(text, FRAMES_BYTES, "frames of %.0f us", 1e6 * mean_frame_time);
    } else {
        snprintf(text, FRAMES_BYTES, "no frame");
    }
}

void tact_session_report_polygons(struct tact_session *s,
                                  void (*report)(struct tact_session *s, const char *event,
                                                 const char *text))
{
    struct tact_session_polygons p;
    char text[512], with_device[FRAMES_BYTES], without_device[FRAMES_BYTES];
    tact_session_polygons(s, &p);
    if (!p.device[0]) {
        return;
    }
    if (!p.host_frames && !p.device_frames && !p.has_failed) {
        report(s, "polygons",
               "no pair of pressure fields beside the tick had polygons for a device");
        return;
    }
    if (p.has_failed) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "the driver of %s failed: polygons of pressure fields were computed on the "
                     "host from then on",
                     p.device);
    }
    format_frame_count_and_mean_time(p.device_frames, p.device_time, with_device);
    format_frame_count_and_mean_time(p.host_frames, p.host_time, without_device);
    tact_number_print(text, sizeof text,
                      "polygons of pressure fields beside the tick: %llu by %s, %s with it; %llu "
                      "by the host, %s without the device%s",
                      (unsigned long long)p.device_polygons, p.device, with_device,
                      (unsigned long long)p.host_polygons, without_device,
                      p.has_failed ? "; its driver failed" : "");
    report(s, "polygons", text);
}

void tact_session_polygons(const struct tact_session *s, struct tact_session_polygons *out)
{
    const struct session_field_cutter *cutter =
        s->field_source ? atomic_load(&s->field_source->cutter) : NULL;
    *out = (struct tact_session_polygons){.device = ""};
    if (cutter) {
        tact_session_cutter_get_statistics(cutter, out);
    }
}

void tact_session_close_field_source(struct tact_session *s)
{
    struct session_field_source *f = s->field_source;
    if (!f) {
        return;
    }
    if (f->is_measuring_thread_started) {
        atomic_store(&f->stop, 1);
        pthread_join(f->thread, NULL);
    }
    tact_session_cutter_destroy(atomic_load(&f->cutter));
    tact_triple_free(f->submitted);
    tact_triple_free(f->finished);
    tact_field_workspace_free(&f->workspace);
    free(f->results_without_thread);
    free(f->frames);
    free(f);
    s->field_source = NULL;
}

void tact_session_init_field_pair(const struct tact_session *s, struct session_pair *p)
{
    if (s->field_source && tact_world_model(s->world, p->number) == &tact_model_field) {
        p->by_source = s->field_source->measures_all_pairs;
        p->source_start_tick = UINT64_MAX;
    }
}

/* Sets the shapes and poses of a task to those of a near pair in this tick. */
static void make_field_measurement_task(const struct tact_session *s, int pair,
                                        struct field_measurement_task *task)
{
    const struct tact_contact *c = tact_world_contact(s->world, pair);
    const struct tact_pose *poses = tact_world_shape_poses(s->world);
    task->pair = pair;
    task->pose[0] = poses[c->a];
    task->pose[1] = poses[c->b];
    tact_world_make_query_of_pair_fields(s->world, pair, &task->query);
}

void tact_session_submit_field_pairs(struct tact_session *s, uint64_t tick, int64_t planned_ns)
{
    struct session_field_source *f = s->field_source;
    if (!f || s->replayed_input_record) {
        return;
    }
    if (f->is_measuring_thread_started && !f->measures_all_pairs) {
        tact_session_reassign_costliest_field(s);
    }
    struct field_measurement_frame *frame = f->is_measuring_thread_started
                                                ? tact_triple_write_begin(f->submitted)
                                                : &f->frames[f->frame_count % f->frame_slot_count];
    int near_pair_count;
    const int *near = tact_world_near(s->world, &near_pair_count);
    frame->number = ++f->frame_count;
    frame->tick = tick;
    frame->next_tick_planned_ns = planned_ns;
    frame->count = 0;
    for (int k = 0; k < near_pair_count && frame->count < MAX_SOURCE_FIELD_PAIRS; k++) {
        if (!tact_world_must_measure_pair_fields(s->world, near[k])) {
            continue;
        }
        struct session_pair *p = tact_session_find_or_add_pair(s, near[k]);
        if (p->by_source) {
            make_field_measurement_task(s, near[k], &frame->task[frame->count++]);
            p->source_start_tick = p->source_start_tick == UINT64_MAX ? tick : p->source_start_tick;
        }
    }
    if (f->is_measuring_thread_started && frame->count) {
        tact_triple_publish(f->submitted);
    }
}

/* The newest results; without a thread those that are as old as moments.max_age allows. NULL where
 * there are none. */
static const struct field_measurement_results *
read_newest_field_results(struct session_field_source *f)
{
    if (f->is_measuring_thread_started) {
        return tact_triple_read(f->finished, NULL);
    }
    if (f->frame_count < f->frame_slot_count) {
        return NULL;
    }
    measure_field_frame(f, &f->frames[f->frame_count % f->frame_slot_count],
                        f->results_without_thread);
    return f->results_without_thread;
}

static const struct field_measurement_result *
find_field_result_of_pair(const struct field_measurement_results *results, int pair)
{
    for (int i = 0; i < results->count; i++) {
        if (results->result[i].pair == pair) {
            return &results->result[i];
        }
    }
    return NULL;
}

/* Notes which measurement a pair uses in this tick, for the record and the report. */
static void use_field_measurement(struct tact_session *s, int pair,
                                  const struct pair_measurement *measurement, uint32_t age)
{
    struct session_near_pair *near_pair = tact_session_near_pair_state(s, pair);
    tact_world_set_measurement(s->world, pair, measurement);
    near_pair->status = measurement->result >= 0;
    near_pair->age = age;
    memcpy(near_pair->measured, measurement->pose, sizeof near_pair->measured);
    tact_session_count_pair_measurement(s, tact_session_find_or_add_pair(s, pair), age);
}

/* Uses the newest result for a pair, if there is one that is not too old and can be carried: no
 * contact begins late. Returns 1 where the source is late. */
static int use_newest_field_result(struct tact_session *s, int pair,
                                   const struct field_measurement_results *results)
{
    struct session_pair *p = tact_session_find_or_add_pair(s, pair);
    if (!p->by_source || !results || results->tick < p->source_start_tick) {
        return 0;
    }
    const uint64_t age = s->field_source->frame_count - results->number + 1;
    const struct field_measurement_result *result = find_field_result_of_pair(results, pair);
    if (age > tact_session_oldest_accepted_field_age(s, p)) {
        return 1;
    }
    if (!result) {
        return 0;
    }
    if (result->cost_ns > 0) {
        tact_session_update_host_cost(p, result->cost_ns);
    }
    if (!tact_world_can_carry_measurement(s->world, pair, &result->measurement)) {
        return 0;
    }
    use_field_measurement(s, pair, &result->measurement, (uint32_t)age);
    p->carried_field_tick_count += age > 1;
    return 0;
}

/* Measures a pair of a replay at the poses of the log, if the log has earlier ones. */
static void replay_field_measurement(struct tact_session *s, int pair)
{
    struct field_measurement_results *own = s->field_source->results_without_thread;
    const double *v = tact_session_logged_contact_values(s, pair, s->replayed_input_record);
    const uint32_t age = (uint32_t)v[CONTACT_STATUS_OFFSET + 1];
    struct field_measurement_task task;
    if (age == AGE_OF_HOST_MOMENTS || own->count == MAX_SOURCE_FIELD_PAIRS) {
        return;
    }
    make_field_measurement_task(s, pair, &task);
    memcpy(task.pose, v + s->measured_poses_offset, sizeof task.pose);
    struct field_measurement_result *result = &own->result[own->count++];
    run_field_measurement_task(&task, &s->field_source->workspace, result);
    use_field_measurement(s, pair, &result->measurement, age);
}

void tact_session_carry_field_measurements(struct tact_session *s)
{
    struct session_field_source *f = s->field_source;
    const int is_replay = s->replayed_input_record != NULL;
    int near_pair_count, is_late = 0;
    if (!f || (is_replay && s->recomputes_source_moments)) {
        return;
    }
    /* A pressure map is that of the present poses. */
    const struct field_measurement_results *results =
        is_replay || s->pressure_map_of_tick ? NULL : read_newest_field_results(f);
    const int *near = tact_world_near(s->world, &near_pair_count);
    if (is_replay) {
        f->results_without_thread->count = 0;
    }
    for (int k = 0; k < near_pair_count; k++) {
        if (!tact_world_must_measure_pair_fields(s->world, near[k])) {
            continue;
        }
        if (is_replay) {
            replay_field_measurement(s, near[k]);
        } else {
            is_late += use_newest_field_result(s, near[k], results);
        }
    }
    s->report.fallbacks += (uint64_t)is_late;
    s->report.fallback_ticks += is_late > 0;
}

void tact_session_count_measured_field_pairs(struct tact_session *s)
{
    int near_pair_count;
    const int *near = tact_world_near(s->world, &near_pair_count);
    for (int k = 0; tact_world_has_fields(s->world) && k < near_pair_count; k++) {
        const int64_t ns = tact_world_measurement_ns(s->world, near[k]);
        if (ns > 0) {
            struct session_pair *p = tact_session_find_or_add_pair(s, near[k]);
            tact_session_update_host_cost(p, ns);
            tact_session_count_pair_measurement(s, p, AGE_OF_HOST_MOMENTS);
            s->moments_duration_ns += ns;
        }
    }
}

void tact_session_log_carried_field_measurements(struct tact_session *s, uint64_t tick, int64_t now)
{
    static const char what[] =
        ": its contact surface of an earlier tick is used, moved with the bodies";
    int near_pair_count;
    const int *near = tact_world_near(s->world, &near_pair_count);
    for (int k = 0; s->field_source && k < near_pair_count; k++) {
        struct session_pair *p = tact_session_find_or_add_pair(s, near[k]);
        if (p->carried_field_tick_count && !p->is_first_carried_measurement_logged) {
            char text[PAIR_NAME_BYTES + sizeof what];
            tact_session_name_pair(s, near[k], text);
            memcpy(text + strlen(text), what, sizeof what);
            tact_recorder_event_rt(s->recorder, tick, now, "carried", text);
            p->is_first_carried_measurement_logged = 1;
        }
    }
}
