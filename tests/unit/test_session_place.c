/* Who measures a pair, the source or the host, and what an old result is good for: with a source
 * that takes its moments from the host's own code, as late and as dear as the test says. */
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

#define KEPT 8
#define PAIRS 64

struct slow {
    uint64_t late;   /* frames that every result comes late */
    int32_t cost_ns; /* of every pair, as it says */
    struct tact_source_scene scene;
    struct tact_moments_scratch *scratch;
    uint64_t frames, tick[KEPT];
    struct tact_source_moments pairs[KEPT][PAIRS];
};

static void submit(void *self, uint64_t tick, const struct tact_pose *poses, const uint8_t *active,
                   const double *directions)
{
    struct slow *s = self;
    uint64_t slot = s->frames++ % KEPT;
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

static int latest(void *self, struct tact_source_result *out)
{
    struct slow *s = self;
    if (s->frames <= s->late) {
        return -EAGAIN;
    }
    uint64_t slot = (s->frames - 1 - s->late) % KEPT;
    *out = (struct tact_source_result){s->tick[slot], s->pairs[slot]};
    return 0;
}

static int wait_for(void *self, uint64_t tick, int64_t timeout_ns)
{
    (void)self;
    (void)tick;
    (void)timeout_ns;
    return 0;
}

static void close_slow(void *self)
{
    tact_moments_scratch_destroy(((struct slow *)self)->scratch);
}

static int make_slow(void *user, const struct tact_source_scene *scene, const char *device,
                     int64_t period_ns, struct tact_messages messages, struct tact_source *out,
                     struct tact_error *err)
{
    static const struct tact_source_ops ops = {TACT_ABI(struct tact_source_ops), submit, latest,
                                               wait_for, close_slow};
    struct slow *s = user;
    (void)device;
    (void)period_ns;
    (void)messages;
    (void)err;
    assert_true(scene->pair_count <= PAIRS);
    s->scene = *scene;
    s->frames = 0;
    s->scratch = tact_moments_scratch_create(10000);
    *out = (struct tact_source){.ops = &ops, .self = s, .name = "slow"};
    return 0;
}

/* The ruler in its two fingers, and the host's share of a tick. */
static void run(struct slow *slow, int clock, const char *source, const char *host_time,
                struct run_result *r)
{
    char moments[128];
    snprintf(moments, sizeof moments, "moments: {host_time: %s}\nname: ruler", host_time);
    const struct edit edits[] = {{"name: ruler", moments}, {NULL, NULL}};
    struct run_options o = {.scene = "ruler.yaml",
                            .edits = edits,
                            .seconds = 2,
                            .clock = clock,
                            .source = source,
                            .factory = make_slow,
                            .factory_user = slow};
    run_scene(&o, r);
    const uint64_t *ages = r->report.ages;
    print_message("%s, host_time %s, %lu late: %lu pairs by the host, %lu by the source, of age 1 "
                  "%lu, 4 %lu, 5 %lu\n",
                  source, host_time, (unsigned long)slow->late, (unsigned long)r->report.host_pairs,
                  (unsigned long)r->report.source_pairs, (unsigned long)ages[1],
                  (unsigned long)ages[4], (unsigned long)ages[5]);
    assert_int_equal(r->report.host_pairs, ages[0]);
    assert_int_equal(r->report.loop.ticks, 2000);
}

static double apart(const struct run_result *a, const struct run_result *b)
{
    double d[3];
    tact_v3_sub(d, a->position, b->position);
    return tact_v3_norm(d);
}

static void cheap_pairs_stay_on_the_host(void **state)
{
    (void)state;
    struct slow slow = {.cost_ns = 1000};
    struct run_result r;
    run(&slow, TACT_LOOP_FREE, "auto", "1e-3", &r);
    assert_int_equal(r.report.source_pairs, 0);
    assert_int_equal(slow.frames, 0);
    assert_int_equal(r.report.fallbacks, 0);
}

/* A result of age 1 is that of the very poses: nothing differs, bit for bit. */
static void without_host_time_the_source_measures(void **state)
{
    (void)state;
    struct slow slow = {.cost_ns = 1000};
    struct run_result host, source;
    run(&slow, TACT_LOOP_FREE, "host", "0", &host);
    run(&slow, TACT_LOOP_FREE, "auto", "0", &source);
    assert_int_equal(source.report.host_pairs, 0);
    assert_int_equal(source.report.source_pairs, source.report.ages[1]);
    assert_memory_equal(source.position, host.position, sizeof host.position);
    assert_memory_equal(source.quat_wxyz, host.quat_wxyz, sizeof host.quat_wxyz);
}

/* Results are carried along what moved since; the host measures only until the first is there. */
static void late_results_are_carried(void **state)
{
    (void)state;
    struct slow slow = {.late = 3, .cost_ns = 1000};
    struct run_result host, late;
    run(&slow, TACT_LOOP_FREE, "host", "0", &host);
    run(&slow, TACT_LOOP_FREE, "auto", "0", &late);
    assert_int_equal(late.report.ages[slow.late + 1], late.report.source_pairs);
    assert_true(late.report.host_pairs <= 3 * PAIRS);
    print_message("  ends %.1e m from where exact moments end, pitch %.3f\n", apart(&host, &late),
                  late.pitch_deg);
    assert_true(apart(&host, &late) < 4e-4); /* three ticks of falling while it touched unseen */
    assert_true(fabs(late.pitch_deg - host.pitch_deg) < 0.1);
}

/* With `opencl` the scene says how old a result may be; there is none in time. */
static void max_age_holds_where_the_source_is_asked_for(void **state)
{
    (void)state;
    struct slow slow = {.late = 3, .cost_ns = 1000};
    struct run_result r;
    run(&slow, TACT_LOOP_FREE, "opencl", "1e-3", &r);
    assert_int_equal(r.report.source_pairs, 0);
    assert_true(r.report.fallbacks > 1000);
}

/* In real time a pair goes where its measured time says: none is as cheap as a nanosecond. */
static void measured_cost_moves_pairs(void **state)
{
    (void)state;
    struct slow dear = {.cost_ns = 1000000}, cheap = {.cost_ns = 100};
    struct run_result r;
    run(&dear, TACT_LOOP_REAL, "auto", "1e-9", &r);
    assert_true(r.report.source_pairs > 1000);
    /* On the host by guess, and cheap enough to stay. */
    run(&cheap, TACT_LOOP_REAL, "auto", "1e-3", &r);
    assert_true(r.report.host_pairs > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheap_pairs_stay_on_the_host),
        cmocka_unit_test(without_host_time_the_source_measures),
        cmocka_unit_test(late_results_are_carried),
        cmocka_unit_test(max_age_holds_where_the_source_is_asked_for),
        cmocka_unit_test(measured_cost_moves_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
