/* Moments of a tick: the newest result of the source, or from the host where that is late. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "rt/clock.h"
#include "rt/session/placing_internal.h"
#include "rt/session/session_internal.h"

#define MAX_CARRIED_OVERLAP_AGE_TICKS                                                              \
    20 /* number of ticks for which an ended overlap is still advanced */
/* slots of poses in addition to max_age: results of large pairs may be older */
#define EXTRA_POSE_HISTORY_SLOTS 32
/* maximum number of pairs of a source, which needs 2 kB for each, near or not: 1,000 bodies took 6
 * s to set up */
#define MAX_PAIRS_OF_MOMENT_SOURCE 20000
/* number of ticks in a row for which a pair may be advanced without a measurement; then a fault */
#define MAX_UNMEASURED_TICKS 20
/* longest wait for the first result of a source, before the loop starts */
#define MAX_FIRST_RESULT_WAIT_NS 2000000000

static int describe_scene_to_moment_source(struct tact_session *s, struct tact_source_scene *scene)
{
    int shapes = tact_world_shape_count(s->world), pairs = tact_world_extent(s->world).pairs;
    s->source_shapes = calloc((size_t)shapes + 1, sizeof *s->source_shapes);
    s->source_pairs = calloc((size_t)pairs + 1, sizeof *s->source_pairs);
    s->source_pair_normals = calloc((size_t)pairs * 3 + 1, sizeof *s->source_pair_normals);
    s->is_source_pair_due = calloc((size_t)pairs + 1, 1);
    s->pose_history_slot_count = s->scene->moments.max_age + EXTRA_POSE_HISTORY_SLOTS;
    s->pose_history =
        calloc((size_t)s->pose_history_slot_count * (size_t)(shapes + 1), sizeof *s->pose_history);
    s->pose_history_frame = calloc(s->pose_history_slot_count, sizeof *s->pose_history_frame);
    if (!s->source_shapes || !s->source_pairs || !s->source_pair_normals ||
        !s->is_source_pair_due || !s->pose_history || !s->pose_history_frame) {
        return -ENOMEM;
    }
    for (int i = 0; i < shapes; i++) {
        s->source_shapes[i] = *tact_world_shape(s->world, i);
    }
    for (int i = tact_world_next_pair(s->world, -1); i >= 0;
         i = tact_world_next_pair(s->world, i)) {
        int a, b;
        tact_world_pair_shapes(s->world, i, &a, &b);
        s->source_pairs[s->source_pair_count++] =
            (struct tact_source_pair){(uint32_t)a, (uint32_t)b};
    }
    *scene = (struct tact_source_scene){s->source_shapes, (uint32_t)shapes, s->source_pairs,
                                        (uint32_t)pairs};
    return 0;
}

int tact_session_open_source(struct tact_session *s, struct tact_error *err)
{
    const char *moment_source_setting = s->scene->moments.source;
    struct tact_source_scene scene;
    strcpy(s->report.source, "host");
    if (!strcmp(moment_source_setting, "host") || !strcmp(moment_source_setting, "thread")) {
        return 0;
    }
    int requires_moment_source = !strcmp(moment_source_setting, "opencl");
    if (!s->options.source) {
        return requires_moment_source
                   ? tact_error_set(err, -ENODEV,
                                    "this program can compute overlap moments only on the host")
                   : 0;
    }
    if (!requires_moment_source && tact_world_extent(s->world).pairs > MAX_PAIRS_OF_MOMENT_SOURCE) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "overlap moments are computed on the host: %d pairs of shapes may touch, and "
                     "OpenCL is not used for more than %d",
                     tact_world_extent(s->world).pairs, MAX_PAIRS_OF_MOMENT_SOURCE);
        return 0;
    }
    int rc = describe_scene_to_moment_source(s, &scene);
    if (rc) {
        return rc;
    }
    struct tact_error why = {0};
    rc = s->options.source(s->options.source_user, &scene, s->scene->moments.device, s->period_ns,
                           s->options.messages, &s->source, &why);
    if (rc) {
        if (requires_moment_source) {
            tact_scene_where(s->scene, "moments.source", err);
            return tact_error_set(err, rc, "no OpenCL moments: %s", why.text);
        }
        tact_message(
            s->options.messages, TACT_MESSAGE_WARNING,
            "overlap moments cannot be computed by OpenCL (%s): they are computed on the host",
            why.text);
        return 0;
    }
    if (tact_abi_check(&s->source.ops->abi, sizeof *s->source.ops)) {
        return tact_error_set(err, -EINVAL,
                              "the source of overlap moments was compiled for another ABI version");
    }
    s->is_moment_source_open = 1;
    tact_session_assign_pairs_host_or_source(s, requires_moment_source);
    memcpy(s->report.source, s->source.name, sizeof s->report.source);
    tact_session_submit_frame(s, 0);
    if (s->is_tick_submitted) {
        /* if the source is late, the host measures from now on */
        s->source.ops->wait(s->source.self, 0, MAX_FIRST_RESULT_WAIT_NS);
    }
    return 0;
}

static struct tact_pose *submitted_frame_of_tick(const struct tact_session *s, uint64_t tick)
{
    size_t shapes = (size_t)tact_world_shape_count(s->world);
    return s->pose_history + tick % s->pose_history_slot_count * shapes;
}

void tact_session_submit_frame(struct tact_session *s, uint64_t tick)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    if (!s->is_moment_source_open) {
        return;
    }
    if (s->options.clock == TACT_LOOP_REAL && !s->replayed_input_record) {
        tact_session_reassign_costliest_pair(s);
    }
    s->is_tick_submitted = s->requires_moment_source;
    memset(s->is_source_pair_due, 0, (size_t)s->source_pair_count);
    for (int k = 0; k < count; k++) {
        const int i = near[k];
        struct session_pair *p = tact_session_find_or_add_pair(s, i);
        s->is_source_pair_due[p->source] = p->by_source && tact_world_is_close(s->world, i);
        s->is_tick_submitted |= s->is_source_pair_due[p->source];
        tact_v3_copy(s->source_pair_normals + 3 * p->source, tact_world_direction(s->world, i));
        if (p->by_source && p->source_start_tick == UINT64_MAX) {
            p->source_start_tick = tick;
        }
    }
    s->pose_history_frame[tick % s->pose_history_slot_count] = ++s->submitted_frame_count;
    memcpy(submitted_frame_of_tick(s, tick), tact_world_shape_poses(s->world),
           (size_t)tact_world_shape_count(s->world) * sizeof *s->pose_history);
    if (s->is_tick_submitted) {
        s->source.ops->submit(s->source.self, tick, tact_world_shape_poses(s->world),
                              s->is_source_pair_due, s->source_pair_normals);
    }
}

TACT_IN_TICK_RECORD_SECTION struct session_near_pair *
tact_session_near_pair_in_slot(struct tact_session *s, int slot, int pair)
{
    struct session_near_pair *near_pair = &s->near_pairs[slot];
    if (near_pair->pair != pair + 1) {
        *near_pair = (struct session_near_pair){.pair = pair + 1};
    }
    return near_pair;
}

struct session_near_pair *tact_session_near_pair_state(struct tact_session *s, int pair)
{
    return tact_session_near_pair_in_slot(s, tact_world_slot(s->world, pair), pair);
}

static void compute_pair_moments_on_host(struct tact_session *s, int pair, struct tact_moments *m)
{
    struct session_pair *p = tact_session_find_or_add_pair(s, pair);
    struct session_near_pair *near_pair = tact_session_near_pair_state(s, pair);
    int is_host_time_measured =
        s->is_moment_source_open && s->options.clock == TACT_LOOP_REAL && !s->replayed_input_record;
    int64_t start_ns = is_host_time_measured ? tact_clock_now() : 0;
    near_pair->age = AGE_OF_HOST_MOMENTS;
    near_pair->status = tact_world_measure(s->world, pair, s->moments_scratch, m);
    if (near_pair->status == 0 && isnan(m->volume)) {
        near_pair->status = 1; /* a negative status is no overlap, but a fault */
    }
    if (is_host_time_measured) {
        tact_session_update_host_cost(p, tact_clock_now() - start_ns);
    }
}

/* A pair that cannot be measured is given its last overlap, advanced with the two shapes. Its
 * status stays negative and its age counts the ticks in a row, so that a replay reads it from the
 * log. */
static void carry_overlap_of_unmeasured_pair(struct tact_session *s, int pair,
                                             struct tact_moments *m)
{
    struct session_near_pair *near_pair = tact_session_near_pair_state(s, pair);
    const struct session_last_overlap *last = &near_pair->last;
    memset(m, 0, sizeof *m);
    near_pair->age = ++near_pair->unmeasured_tick_count;
    if (last->frame) {
        tact_world_carry(s->world, pair, &last->a, &last->b, &last->moments, m);
    }
}

/* Stores the overlap from which a pair is advanced if it cannot be measured in later ticks. */
static void store_overlap_to_carry_forward(struct tact_session *s, int pair,
                                           const struct tact_moments *m)
{
    struct session_near_pair *near_pair = tact_session_near_pair_state(s, pair);
    const struct tact_contact *c = tact_world_contact(s->world, pair);
    const struct tact_pose *poses = tact_world_shape_poses(s->world);
    near_pair->unmeasured_tick_count = 0;
    near_pair->last.frame = near_pair->status > 0;
    if (near_pair->status > 0) {
        near_pair->last = (struct session_last_overlap){*m, poses[c->a], poses[c->b], 1};
    }
}

/* Counts a pair that could not be measured, and raises a fault after too many ticks in a row. */
static void count_unmeasured_tick(struct tact_session *s, int pair, uint64_t tick)
{
    struct session_pair *p = tact_session_find_or_add_pair(s, pair);
    const struct session_near_pair *near_pair = tact_session_near_pair_state(s, pair);
    s->report.unmeasured++;
    p->tick_counts.unmeasured++;
    if (!p->unmeasured_errno) {
        p->unmeasured_errno = near_pair->status;
        p->first_unmeasured_tick = tick;
        s->unmeasured_pair = s->unmeasured_pair < 0 ? pair : s->unmeasured_pair;
    }
    if (near_pair->age < MAX_UNMEASURED_TICKS) {
        return;
    }
    s->has_fault_cause_now = 1;
    if (s->safety.state != TACT_SAFETY_FAULT) {
        char name[PAIR_NAME_BYTES];
        tact_session_name_pair(s, pair, name);
        tact_session_describe_fault(s, tick, "pair ", name, "its overlap could not be measured");
        tact_session_raise_fault(s, (double)near_pair->status, tick);
    }
}

/* The newest result of the source. */
struct newest_result_of_source {
    uint64_t age; /* age of the result [ticks], UINT64_MAX where there is none */
    struct tact_source_result result;
};

static struct newest_result_of_source read_source_results(struct tact_session *s, uint64_t tick)
{
    struct newest_result_of_source n = {.age = UINT64_MAX};
    /* Nothing moves in a skipped tick: the age counts the others. */
    if (s->is_moment_source_open && !s->source.ops->latest(s->source.self, &n.result) &&
        tick >= n.result.tick && tick - n.result.tick < s->pose_history_slot_count) {
        n.age = s->submitted_frame_count -
                s->pose_history_frame[n.result.tick % s->pose_history_slot_count] + 1;
    }
    return n;
}

/* Advances an old result to the present. Where it is empty, advances the last overlap before it:
 * two bodies that were separated for a moment may touch again. */
static void advance_moments_to_tick(struct tact_session *s, int pair,
                                    const struct newest_result_of_source *n, struct tact_moments *m)
{
    struct session_near_pair *near_pair = tact_session_near_pair_state(s, pair);
    struct session_last_overlap *last_nonzero_overlap = &near_pair->last_source_overlap;
    const struct tact_source_moments *result =
        &n->result.pairs[tact_session_find_known_pair(s, pair)->source];
    uint64_t frame = s->submitted_frame_count + 1 - n->age;
    if (result->status > 0 && last_nonzero_overlap->frame != frame) {
        const struct tact_pose *poses_at_tick_of_result =
            submitted_frame_of_tick(s, n->result.tick);
        const struct tact_contact *c = tact_world_contact(s->world, pair);
        *last_nonzero_overlap = (struct session_last_overlap){
            result->moments, poses_at_tick_of_result[c->a], poses_at_tick_of_result[c->b], frame};
    }
    if (last_nonzero_overlap->frame &&
        frame - last_nonzero_overlap->frame <= MAX_CARRIED_OVERLAP_AGE_TICKS) {
        tact_world_carry(s->world, pair, &last_nonzero_overlap->a, &last_nonzero_overlap->b,
                         &last_nonzero_overlap->moments, m);
    }
    near_pair->status = !(m->volume <= 0.0); /* NaN is a fault: see fault.c */
}

/* Uses a result of the source, advanced to the present; 0 where it cannot be used. */
static int use_moment_result_of_source(struct tact_session *s, int pair,
                                       const struct newest_result_of_source *n,
                                       struct tact_moments *m)
{
    struct session_pair *p = tact_session_find_or_add_pair(s, pair);
    struct session_near_pair *near_pair = tact_session_near_pair_state(s, pair);
    if (!p->by_source || n->age > tact_session_oldest_accepted_result_age(s, p) ||
        n->result.tick < p->source_start_tick) {
        return 0;
    }
    const struct tact_source_moments *result = &n->result.pairs[p->source];
    if (s->options.clock == TACT_LOOP_REAL) {
        tact_session_update_source_cost(p, result->cost_ns);
    }
    if (result->status < 0) {
        return 0;
    }
    near_pair->status = result->status;
    near_pair->age = (uint32_t)n->age;
    if (n->age == 1) {
        *m = result->moments;
    } else {
        advance_moments_to_tick(s, pair, n, m);
    }
    return 1;
}

/* A replay reads the moments of the source from the log, and recomputes those of the host. */
static void replay_pair_moments(struct tact_session *s, int pair, struct tact_moments *m)
{
    const double *v = tact_session_logged_contact_values(s, pair, s->replayed_input_record);
    struct session_near_pair *near_pair = tact_session_near_pair_state(s, pair);
    if (v[CONTACT_STATUS_OFFSET + 1] == AGE_OF_HOST_MOMENTS) {
        compute_pair_moments_on_host(s, pair, m);
        return;
    }
    near_pair->status = (int32_t)v[CONTACT_STATUS_OFFSET];
    near_pair->age = (uint32_t)v[CONTACT_STATUS_OFFSET + 1];
    memcpy(m, v + CONTACT_MOMENTS_OFFSET, sizeof *m);
}

void tact_session_count_pair_measurement(struct tact_session *s, struct session_pair *p,
                                         uint32_t age)
{
    struct tact_session_report *r = &s->report;
    r->ages[age < TACT_SESSION_AGES ? age : TACT_SESSION_AGES - 1]++;
    r->source_pairs += age != AGE_OF_HOST_MOMENTS;
    r->host_pairs += age == AGE_OF_HOST_MOMENTS;
    p->tick_counts.source += age != AGE_OF_HOST_MOMENTS;
    p->tick_counts.host += age == AGE_OF_HOST_MOMENTS;
    p->tick_counts.age_max = age > p->tick_counts.age_max ? age : p->tick_counts.age_max;
    s->moments_age_of_tick = age > s->moments_age_of_tick ? age : s->moments_age_of_tick;
    r->age_max = age > r->age_max ? age : r->age_max;
}

void tact_session_measure_moments(struct tact_session *s, uint64_t tick)
{
    const struct newest_result_of_source newest_moment_result = read_source_results(s, tick);
    int host_replaced_pair_count = 0, near_pair_count;
    const int *near = tact_world_near(s->world, &near_pair_count);
    s->moments_age_of_tick = 0;
    for (int k = 0; k < near_pair_count; k++) {
        const int i = near[k];
        struct session_pair *p = tact_session_find_or_add_pair(s, i);
        struct session_near_pair *near_pair = tact_session_near_pair_state(s, i);
        near_pair->status = 0;
        near_pair->age = AGE_OF_HOST_MOMENTS;
        memset(near_pair->measured, 0, sizeof near_pair->measured);
        if (!tact_world_is_close(s->world, i)) {
            near_pair->unmeasured_tick_count = 0;
            near_pair->last.frame = 0;
            tact_world_set_moments(s->world, i, NULL);
            continue;
        }
        struct tact_moments m = {0};
        p->did_pair_come_near = 1;
        if (s->replayed_input_record && !s->recomputes_source_moments) {
            replay_pair_moments(s, i, &m);
        } else {
            if (!use_moment_result_of_source(s, i, &newest_moment_result, &m)) {
                compute_pair_moments_on_host(s, i, &m);
                host_replaced_pair_count +=
                    p->by_source && newest_moment_result.result.tick >= p->source_start_tick;
            }
            if (near_pair->status < 0) {
                carry_overlap_of_unmeasured_pair(s, i, &m);
            } else {
                store_overlap_to_carry_forward(s, i, &m);
                tact_session_count_pair_measurement(s, p, near_pair->age);
            }
        }
        if (near_pair->status < 0) {
            count_unmeasured_tick(s, i, tick);
        }
        const int is_overlap_carried_forward = near_pair->status < 0 && m.volume > 0.0;
        tact_world_set_moments(s->world, i,
                               near_pair->status > 0 || is_overlap_carried_forward ? &m : NULL);
    }
    memcpy(s->moment_method_counts_before_tick, s->report.methods,
           sizeof s->moment_method_counts_before_tick);
    if (s->moments_scratch) {
        memcpy(s->report.methods, tact_moments_counts(s->moments_scratch),
               sizeof s->report.methods);
    }
    s->report.fallbacks += (uint64_t)host_replaced_pair_count;
    s->report.fallback_ticks += host_replaced_pair_count > 0;
}
