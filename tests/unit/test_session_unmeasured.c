/* A pair that cannot be measured keeps its last overlap for a few ticks, then the session is in
 * fault; the pair is reported by name, counted and logged, and a replay is equal. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "rt/session/report.h"
#include "rt/session/session_internal.h"
#include "support/run_scene.h"

#define LOG "unmeasured.mcap"
#define MAX_UNMEASURED_TICKS                                                                       \
    20 /* ticks for which a pair is carried without a measurement, as in session.h                 \
        */

/* Two rings, one on the other: neither is convex, so that their moments need a scratch. */
#define RING_MESH_YAML                                                                             \
    "{type: mesh, material: steel, generate: {kind: torus, radius: 0.05, tube: 0.01, "             \
    "triangles: 800}}\n"
static const char scene_text[] = "name: rings\n"
                                 "duration: 0.3\n"
                                 "moments: {source: host}\n"
                                 "materials:\n"
                                 "  - name: steel\n"
                                 "pairs:\n"
                                 "  - {materials: [steel, steel], friction: 0.5}\n"
                                 "bodies:\n"
                                 "  - name: base\n"
                                 "    fixed: true\n"
                                 "    shapes:\n"
                                 "      - " RING_MESH_YAML "  - name: top\n"
                                 "    mass: 0.1\n"
                                 "    position: [0, 0, 0.0199]\n"
                                 "    shapes:\n"
                                 "      - " RING_MESH_YAML;

static char reported[4096];

static void store_last_message(void *user, enum tact_message_level level, const char *text)
{
    (void)user;
    (void)level;
    strncat(reported, text, sizeof reported - strlen(reported) - 2);
    strcat(reported, "\n");
}

struct session_of_unmeasured_pair {
    struct tact_scene *scene;
    struct tact_session *session;
};

static struct session_of_unmeasured_pair open_session_of_unmeasured_pair(const char *record,
                                                                         int ticks)
{
    struct tact_session_options o = tact_session_options_default();
    struct session_of_unmeasured_pair s;
    o.clock = TACT_LOOP_FREE;
    o.record = record;
    o.ticks = (uint64_t)ticks;
    o.messages = (struct tact_messages){store_last_message, NULL};
    reported[0] = 0;
    open_session_of_scene_text(scene_text, &o, &s.scene, &s.session);
    return s;
}

static void close_session_of_unmeasured_pair(struct session_of_unmeasured_pair *s)
{
    tact_session_destroy(s->session);
    tact_scene_free(s->scene);
}

static double height_of_falling_body(const struct tact_session *s)
{
    return tact_world_body(s->world, 0)->pose.position[2];
}

/* Runs ticks from `from` on, with or without the scratch memory that the pair's moments need. */
static void run_ticks_with_or_without_scratch(struct tact_session *s, int from, int count,
                                              int has_moments_scratch)
{
    struct tact_moments_scratch *scratch = s->moments_scratch;
    s->moments_scratch = has_moments_scratch ? scratch : NULL;
    for (int i = from; i < from + count; i++) {
        tact_session_tick(s, (uint64_t)i, 0, 0);
    }
    s->moments_scratch = scratch;
}

static void unmeasured_pair_is_extrapolated_and_then_a_fault(void **state)
{
    (void)state;
    struct session_of_unmeasured_pair o = open_session_of_unmeasured_pair(NULL, 1000);
    struct tact_session *s = o.session;
    const struct tact_contact *c = tact_world_contact(s->world, 0);
    run_ticks_with_or_without_scratch(s, 0, 100, 1);
    assert_true(c->touching);
    double before = height_of_falling_body(s);
    run_ticks_with_or_without_scratch(s, 100, MAX_UNMEASURED_TICKS - 1, 0);
    assert_true(c->touching);
    assert_int_equal(s->report.unmeasured, MAX_UNMEASURED_TICKS - 1);
    assert_int_not_equal(s->safety.state, TACT_SAFETY_FAULT);
    run_ticks_with_or_without_scratch(s, 119, 1, 1);
    run_ticks_with_or_without_scratch(s, 120, MAX_UNMEASURED_TICKS - 1,
                                      /* the count of unmeasured ticks starts again after a measured
                                       * one */
                                      0);
    assert_int_not_equal(s->safety.state, TACT_SAFETY_FAULT);
    run_ticks_with_or_without_scratch(s, 139, 1, 0);
    assert_int_equal(s->safety.state, TACT_SAFETY_FAULT);
    run_ticks_with_or_without_scratch(s, 140, 500, 0);
    assert_true(c->touching);
    assert_true(fabs(height_of_falling_body(s) - before) < 1e-4); /* in free fall 1.3 m */
    assert_int_equal(tact_session_pair_report(s, 0).unmeasured_ticks,
                     2 * MAX_UNMEASURED_TICKS - 1 + 500);
    close_session_of_unmeasured_pair(&o);
}

static void unmeasured_shape_pair_is_reported_and_logged(void **state)
{
    (void)state;
    struct session_of_unmeasured_pair o = open_session_of_unmeasured_pair(LOG, 150);
    struct tact_session_report report;
    struct tact_moments_scratch *scratch = o.session->moments_scratch;
    o.session->moments_scratch = NULL; /* no scratch from the first tick on */
    assert_int_equal(tact_session_run(o.session, &report), 0);
    o.session->moments_scratch = scratch;
    assert_true(report.unmeasured >= 150 - 1);
    assert_int_equal(report.safety, TACT_SAFETY_FAULT);
    assert_non_null(strstr(reported, "base/top"));
    assert_non_null(strstr(reported, "could not be measured in 150 ticks"));
    char *json = tact_session_report_json(o.session, &report);
    assert_non_null(strstr(json, "\"unmeasured\": 150"));
    assert_non_null(strstr(json, "\"unmeasured_ticks\": 150"));
    free(json);
    struct tact_log *log;
    assert_int_equal(tact_log_open(LOG, &log, NULL), 0);
    const struct tact_log_event *e = tact_log_event(log, 0);
    assert_non_null(e);
    assert_string_equal(e->name, "unmeasured");
    assert_non_null(strstr(e->text, "cannot be measured"));
    tact_log_close(log);
    close_session_of_unmeasured_pair(&o);
    unlink(LOG);
}

/* A replay from any tick reads the carried moments and their age from the log. */
static void unmeasured_shape_pair_is_replayed(void **state)
{
    (void)state;
    struct session_of_unmeasured_pair o = open_session_of_unmeasured_pair(LOG, 1000);
    run_ticks_with_or_without_scratch(o.session, 0, 100, 1);
    run_ticks_with_or_without_scratch(o.session, 100, 40, 0);
    run_ticks_with_or_without_scratch(o.session, 140, 10, 1);
    assert_int_equal(o.session->safety.state, TACT_SAFETY_FAULT);
    close_session_of_unmeasured_pair(&o);
    for (int from = 0; from < 120; from += 110) {
        struct tact_replay_options options = tact_replay_options_default();
        struct tact_replay_report report;
        struct tact_error err = {.line = 0};
        options.from = from;
        assert_int_equal(tact_replay_run_with(LOG, &options, &report, &err), 0);
        assert_int_equal(report.ticks, 150 - from);
        assert_int_equal(report.differing, 0);
    }
    unlink(LOG);
}

/* A shape that cannot be measured at all is refused when it is added, not omitted from the
 * pairs. */
static void shape_without_a_surface_mesh_is_refused(void **state)
{
    (void)state;
    const struct tact_world_options options = tact_world_options_default();
    const struct tact_owner fixed = {.kind = TACT_OWNER_FIXED};
    const struct tact_pose here = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {1.0, 1.0, 1.0}};
    struct tact_world *world;
    assert_int_equal(tact_world_create(&options, &world), 0);
    assert_int_equal(tact_world_add_shape(world, fixed, &box, &here, 0), -EINVAL);
    assert_int_equal(tact_shape_tessellate(&box), 0);
    assert_true(tact_world_add_shape(world, fixed, &box, &here, 0) >= 0);
    tact_world_destroy(world);
    tact_shape_release(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmeasured_pair_is_extrapolated_and_then_a_fault),
        cmocka_unit_test(unmeasured_shape_pair_is_reported_and_logged),
        cmocka_unit_test(unmeasured_shape_pair_is_replayed),
        cmocka_unit_test(shape_without_a_surface_mesh_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
