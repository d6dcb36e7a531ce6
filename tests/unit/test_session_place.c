/* Whether the source or the host measures a pair, and the use of old results: with a source that
 * computes moments by the host's code, with a delay and a cost that the test sets. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/run_scene.h"

#define STORED_SOURCE_RESULT_COUNT 8
#define MAX_MOMENT_SOURCE_PAIRS 64

struct delayed_moment_source {
    uint64_t delay_frames; /* delay of every result of the source [frames] */
    int32_t cost_ns;       /* cost that the source reports for every pair [ns] */
    struct tact_source_scene scene;
    struct tact_moments_scratch *scratch;
    uint64_t frames, tick[STORED_SOURCE_RESULT_COUNT];
    struct tact_source_moments pairs[STORED_SOURCE_RESULT_COUNT][MAX_MOMENT_SOURCE_PAIRS];
};

static void submit_to_delayed_moment_source(void *self, uint64_t tick,
                                            const struct tact_pose *poses, const uint8_t *active,
                                            const double *directions)
{
    struct delayed_moment_source *s = self;
    uint64_t slot = s->frames++ % STORED_SOURCE_RESULT_COUNT;
    s->tick[slot] = tick;
    memset(s->pairs[slot], 0, sizeof s->pairs[slot]);
    for (uint32_t i = 0; i < s->scene.pair_count; i++) {
        const struct tact_source_pair *p = &s->scene.pairs[i];
        const double *d = directions + 3 * i;
        struct tact_source_moments *m = &s->pairs[slot][i];
        if (active[i]) {
            m->cost_ns = s->cost_ns;
            m->status = tact_moments_pair(
                &s->scene.shapes[p->a], &poses[p->a], &s->scene.shapes[p->b], &poses[p->b],
                tact_v3_norm(d) > 0.0 ? d : NULL, s->scratch, &m->moments);
        }
    }
}

static int latest_result_of_delayed_moment_source(void *self, struct tact_source_result *out)
{
    struct delayed_moment_source *s = self;
    if (s->frames <= s->delay_frames) {
        return -EAGAIN;
    }
    uint64_t slot = (s->frames - 1 - s->delay_frames) % STORED_SOURCE_RESULT_COUNT;
    *out = (struct tact_source_result){s->tick[slot], s->pairs[slot]};
    return 0;
}

static int wait_for_delayed_moment_source(void *self, uint64_t tick, int64_t timeout_ns)
{
    (void)self;
    (void)tick;
    (void)timeout_ns;
    return 0;
}

static void close_delayed_moment_source(void *self)
{
    tact_moments_scratch_destroy(((struct delayed_moment_source *)self)->scratch);
}

static int create_delayed_moment_source(void *user, const struct tact_source_scene *scene,
                                        const char *device, int64_t period_ns,
                                        struct tact_messages messages, struct tact_source *out,
                                        struct tact_error *err)
{
    static const struct tact_source_ops ops = {
        TACT_ABI(struct tact_source_ops), submit_to_delayed_moment_source,
        latest_result_of_delayed_moment_source, wait_for_delayed_moment_source,
        close_delayed_moment_source};
    struct delayed_moment_source *s = user;
    (void)device;
    (void)period_ns;
    (void)messages;
    (void)err;
    assert_true(scene->pair_count <= MAX_MOMENT_SOURCE_PAIRS);
    s->scene = *scene;
    s->frames = 0;
    s->scratch = tact_moments_scratch_create(10000);
    *out = (struct tact_source){.ops = &ops, .self = s, .name = "slow"};
    return 0;
}

/* Runs the ruler in its two fingers. host_time: the host's budget in a tick. */
static void run_ruler(struct delayed_moment_source *delayed_moment_source, int clock,
                      const char *source, const char *host_time, struct run_result *r)
{
    char moments[128];
    snprintf(moments, sizeof moments, "moments: {host_time: %s}\nname: ruler", host_time);
    const struct edit edits[] = {{"name: ruler", moments}, {NULL, NULL}};
    struct run_options o = {.scene = "ruler.yaml",
                            .edits = edits,
                            .seconds = 2,
                            .clock = clock,
                            .source = source,
                            .factory = create_delayed_moment_source,
                            .source_factory_user_data = delayed_moment_source};
    run_scene(&o, r);
    const uint64_t *ages = r->report.ages;
    print_message("%s, host_time %s, %lu late: %lu pairs by the host, %lu by the source, of age 1 "
                  "%lu, 4 %lu, 5 %lu\n",
                  source, host_time, (unsigned long)delayed_moment_source->delay_frames,
                  (unsigned long)r->report.host_pairs, (unsigned long)r->report.source_pairs,
                  (unsigned long)ages[1], (unsigned long)ages[4], (unsigned long)ages[5]);
    assert_int_equal(r->report.host_pairs, ages[0]);
    assert_int_equal(r->report.loop.ticks, 2000);
}

static double end_position_difference(const struct run_result *a, const struct run_result *b)
{
    double d[3];
    tact_v3_sub(d, a->position, b->position);
    return tact_v3_norm(d);
}

static void host_measures_cheap_pairs(void **state)
{
    (void)state;
    struct delayed_moment_source delayed_moment_source = {.cost_ns = 1000};
    struct run_result r;
    run_ruler(&delayed_moment_source, TACT_LOOP_FREE, "auto", "1e-3", &r);
    assert_int_equal(r.report.source_pairs, 0);
    assert_int_equal(delayed_moment_source.frames, 0);
    assert_int_equal(r.report.fallbacks, 0);
}

/* A result of age 1 is of the present poses: the run is equal bit for bit. */
static void moment_source_measures_pairs_without_host_budget(void **state)
{
    (void)state;
    struct delayed_moment_source delayed_moment_source = {.cost_ns = 1000};
    struct run_result host, source;
    run_ruler(&delayed_moment_source, TACT_LOOP_FREE, "host", "0", &host);
    run_ruler(&delayed_moment_source, TACT_LOOP_FREE, "auto", "0", &source);
    assert_int_equal(source.report.host_pairs, 0);
    assert_int_equal(source.report.source_pairs, source.report.ages[1]);
    assert_memory_equal(source.position, host.position, sizeof host.position);
    assert_memory_equal(source.quat_wxyz, host.quat_wxyz, sizeof host.quat_wxyz);
}

/* Late results are extrapolated by the motion since; the host measures only until the first result
 * arrives. */
static void late_moments_of_a_source_are_extrapolated(void **state)
{
    (void)state;
    struct delayed_moment_source delayed_moment_source = {.delay_frames = 3, .cost_ns = 1000};
    struct run_result host, result_with_delay;
    run_ruler(&delayed_moment_source, TACT_LOOP_FREE, "host", "0", &host);
    run_ruler(&delayed_moment_source, TACT_LOOP_FREE, "auto", "0", &result_with_delay);
    assert_int_equal(result_with_delay.report.ages[delayed_moment_source.delay_frames + 1],
                     result_with_delay.report.source_pairs);
    assert_true(result_with_delay.report.host_pairs <= 3 * MAX_MOMENT_SOURCE_PAIRS);
    print_message("  ends %.1e m from where exact moments end, pitch %.3f\n",
                  end_position_difference(&host, &result_with_delay), result_with_delay.pitch_deg);
    /* the body falls for three ticks before the contact is known [m/s] */
    assert_true(end_position_difference(&host, &result_with_delay) < 4e-4);
    assert_true(fabs(result_with_delay.pitch_deg - host.pitch_deg) < 0.1);
}

/* With `source: opencl` the scene sets the maximum age of a result, and no result is that
 * recent. */
static void maximum_age_applies_to_a_requested_moment_source(void **state)
{
    (void)state;
    struct delayed_moment_source delayed_moment_source = {.delay_frames = 3, .cost_ns = 1000};
    struct run_result r;
    run_ruler(&delayed_moment_source, TACT_LOOP_FREE, "opencl", "1e-3", &r);
    assert_int_equal(r.report.source_pairs, 0);
    assert_true(r.report.fallbacks > 1000);
}

/* In real time a pair is assigned by its measured cost, which is more than a nanosecond for every
 * pair. */
static void measured_costs_reassign_pairs_between_host_and_source(void **state)
{
    (void)state;
    struct delayed_moment_source slow_moment_source = {.cost_ns = 1000000},
                                 cheap = {.cost_ns = 100};
    struct run_result r;
    run_ruler(&slow_moment_source, TACT_LOOP_REAL, "auto", "1e-9", &r);
    assert_true(r.report.source_pairs > 1000);
    /* Assigned to the host by the initial estimate, and cheap enough to remain there. */
    run_ruler(&cheap, TACT_LOOP_REAL, "auto", "1e-3", &r);
    assert_true(r.report.host_pairs > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_measures_cheap_pairs),
        cmocka_unit_test(moment_source_measures_pairs_without_host_budget),
        cmocka_unit_test(late_moments_of_a_source_are_extrapolated),
        cmocka_unit_test(maximum_age_applies_to_a_requested_moment_source),
        cmocka_unit_test(measured_costs_reassign_pairs_between_host_and_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
