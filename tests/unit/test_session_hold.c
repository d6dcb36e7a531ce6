/*
 * Touch, slip and release of a body in a hand: a ruler that slides through a pinch with a known
 * acceleration, one that turns in it, and one that is held and released.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "rt/session/report.h"
#include "rt/session/scene_log.h"
#include "support/grip_scene.h"
#include "support/run_scene.h"

#define LOG "hold.mcap"

static const char *path_of_log_to_record; /* path of the log of the next run, or NULL */
static double support_end_time = 0.5;     /* time until which the ruler's weight is carried [s] */

/* A run that has ended: the ruler, how far the left tip, where it presses, moved down since its
 * weight was released at 0.5 s, and the report of the ruler against the hand. */
struct held_ruler_motion {
    double fallen_height, tip_fallen_height, rotation_at_end; /* [m], [m], [rad] */
    double total_rotation; /* integral of the magnitude of the ruler's angular velocity [rad] */
    double speed; /* speed of the ruler at 0.55 s, and its acceleration from then on [m/s, m/s^2] */
    json_t *report, *hold;
};

static struct held_ruler_motion simulate_held_ruler(const char *ruler_position_yaml,
                                                    double friction, const char *script,
                                                    const char *grip, double seconds)
{
    char text[4096];
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_status status = {.tick = 0};
    struct tact_session_report report;
    struct tact_session *session;
    struct tact_scene *scene;
    struct held_ruler_motion out = {.fallen_height = 0.0};
    double before[3] = {0.0}, after[3], rotation[9], tip[3] = {0.0};
    tact_number_print(text, sizeof text, grip_scene_format, 1e-3, seconds, friction,
                      ruler_position_yaml, support_end_time, script, grip);
    options.clock = TACT_LOOP_FREE;
    options.record = path_of_log_to_record;
    options.types = tact_devices_builtin(&options.type_count);
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    struct tact_world *world = tact_session_world(session);
    const struct tact_body *ruler = tact_world_body(world, 0);
    while (status.tick + 1 < (uint64_t)llround(seconds / 1e-3)) {
        assert_int_equal(tact_session_step(session, 0, &status), 0);
        out.total_rotation += fabs(ruler->twist[4]) * 1e-3;
        out.speed = status.tick == 549 ? ruler->twist[2] : out.speed;
        if (status.tick == 499) {
            out.fallen_height = ruler->pose.position[2];
            const struct tact_pose *pose = tact_hand_link_pose(tact_world_hand(world, 0), 1);
            tact_quat_to_m3(rotation, pose->quat_wxyz);
            tact_m3_tmul_v3(tip, rotation, (double[3]){0.0, -0.008, 0.0});
            tip[2] -= 0.05;
            tact_pose_point(before, pose, tip);
        }
    }
    tact_pose_point(after, tact_hand_link_pose(tact_world_hand(world, 0), 1), tip);
    out.speed = (out.speed - ruler->twist[2]) / (seconds - 0.55);
    out.fallen_height -= ruler->pose.position[2];
    out.tip_fallen_height = before[2] - after[2];
    out.rotation_at_end = 2.0 * asin(fabs(ruler->pose.quat_wxyz[2]));
    assert_int_equal(tact_session_end(session, &report), 0);
    char *json = tact_session_report_json(session, &report);
    out.report = json_loads(json, 0, NULL);
    out.hold = json_array_get(json_object_get(out.report, "holds"), 0);
    assert_non_null(out.hold);
    free(json);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return out;
}

static double number_in_hold_report(const struct held_ruler_motion *run, const char *key)
{
    return json_number_value(json_object_get(run->hold, key));
}

/* Time of the k-th event of a run [s]; checks that it is of that kind. */
static double time_of_hold_event(const struct held_ruler_motion *run, size_t k, const char *kind)
{
    const json_t *event = json_array_get(json_object_get(run->hold, "events"), k);
    assert_non_null(event);
    assert_string_equal(json_string_value(json_object_get(event, "event")), kind);
    return json_number_value(json_object_get(event, "time"));
}

/* A ruler held at its centre of mass by 1 N on each side with friction 0.1, the weight of 0.2943 N
 * exceeds 2 mu F by 0.0943 N: a = 3.143 m/s^2 once the compliant fingers have come to rest. */
static void ruler_slips_with_the_known_acceleration(void **state)
{
    (void)state;
    const struct held_ruler_motion run =
        simulate_held_ruler("0", 0.1, "[0, 0, 0, 0], [0.2, 1, 0, 0]", "scale: 1, speed: 0.5", 0.58);
    const double slip = number_in_hold_report(&run, "slip"), exact = 9.81 - 2.0 * 0.1 * 1.0 / 0.03;
    print_message("slip %.9f m, by the poses %.9f; acceleration %.6f, exact %.6f m/s^2\n", slip,
                  run.fallen_height - run.tip_fallen_height, run.speed, exact);
    assert_true(fabs(slip - (run.fallen_height - run.tip_fallen_height)) < 1e-6);
    assert_true(fabs(run.speed - exact) < 1e-5 * exact);
    assert_true(number_in_hold_report(&run, "turn") < 1e-6);
    assert_true(fabs(number_in_hold_report(&run, "grip_force") - 2.0) < 0.02);
    assert_true(fabs(number_in_hold_report(&run, "grip_over_load") - 10.0) < 1e-3);
    assert_true(time_of_hold_event(&run, 0, "touch") < 0.4);
    assert_true(fabs(time_of_hold_event(&run, 1, "slip") - 0.5) < 0.003);
    assert_int_equal(json_array_size(json_object_get(run.hold, "events")), 2);
    json_decref(run.report);
}

/* A ruler held 5 cm off its centre of mass with too little torsion: the reported turn is all that
 * the ruler turned, at the touch back and forth, which is more than the angle at the end. */
static void turning_of_the_ruler_in_the_grip_is_reported(void **state)
{
    (void)state;
    const struct held_ruler_motion run = simulate_held_ruler(
        "0.05", 0.8, "[0, 0, 0, 0], [0.2, 1, 0, 0]", "scale: 2, speed: 0.5", 0.6);
    print_message("turn %.9f rad, of the ruler %.9f, at the end %.9f\n",
                  number_in_hold_report(&run, "turn"), run.total_rotation, run.rotation_at_end);
    assert_true(run.rotation_at_end > 0.05 &&
                fabs(run.total_rotation - run.rotation_at_end) < 0.01 * run.rotation_at_end);
    assert_true(fabs(number_in_hold_report(&run, "turn") - run.total_rotation) < 1e-6);
    json_decref(run.report);
}

/* A ruler that is held firmly does not slip, however long; when the fingers open it is released,
 * once. */
static void hold_and_release_of_the_ruler_are_reported(void **state)
{
    (void)state;
    const struct held_ruler_motion held =
        simulate_held_ruler("0", 0.8, "[0, 0, 0, 0], [0.2, 1, 0, 0]", "scale: 4, speed: 0.5", 1.5);
    assert_true(number_in_hold_report(&held, "slip") < 1e-7 &&
                number_in_hold_report(&held, "slips") == 0.0);
    assert_true(fabs(number_in_hold_report(&held, "load_force") - 0.2943) < 1e-6);
    json_decref(held.report);
    const struct held_ruler_motion motion_of_released_ruler = simulate_held_ruler(
        "0", 0.8, "[0, 0, 0, 0], [0.2, 1, 0, 0], [0.4, 1, 0, 0], [0.45, 0, 0, 0]",
        "scale: 4, speed: 0.5", 0.9);
    assert_true(number_in_hold_report(&motion_of_released_ruler, "touches") == 1.0 &&
                number_in_hold_report(&motion_of_released_ruler, "releases") == 1.0);
    assert_false(json_boolean_value(json_object_get(motion_of_released_ruler.hold, "touching")));
    json_decref(motion_of_released_ruler.report);
}

/* The number of events of that name in the log, and the tick of the first. */
static int count_events(const struct tact_log *log, const char *name, uint64_t *tick)
{
    const struct tact_log_event *event;
    int count = 0;
    for (size_t i = 0; (event = tact_log_event(log, i)); i++) {
        if (!strcmp(event->name, name) && !count++) {
            *tick = event->tick;
            assert_true(strstr(event->text, "ruler in pinch") == event->text);
        }
    }
    return count;
}

static void store_hold_at_session_end(void *user, struct tact_session *session)
{
    *(struct tact_session_hold *)user = tact_session_hold(session, 0);
}

/* The log has what the report has: the events, and in every record force, slip and turn so far,
 * which a replay from its middle gives again to the bit. What touches at its start is touching, and
 * touches not once more. */
static void log_has_the_hold_events_of_the_report(void **state)
{
    (void)state;
    unlink(LOG);
    path_of_log_to_record = LOG;
    const struct held_ruler_motion run =
        simulate_held_ruler("0", 0.1, "[0, 0, 0, 0], [0.2, 1, 0, 0]", "scale: 1, speed: 0.5", 0.58);
    path_of_log_to_record = NULL;
    struct tact_scene_log view;
    struct tact_log *log;
    struct tact_error err = {.line = 0};
    struct tact_replay_report replay_report;
    struct tact_replay_options options = tact_replay_options_default();
    uint64_t touch_tick = 0, slip = 0;
    assert_int_equal(tact_log_open(LOG, &log, &err), 0);
    assert_int_equal(count_events(log, "touch", &touch_tick), 1);
    assert_int_equal(count_events(log, "slip", &slip), 1);
    assert_true(fabs((double)touch_tick * 1e-3 - time_of_hold_event(&run, 0, "touch")) < 1e-9);
    assert_true(fabs((double)slip * 1e-3 - time_of_hold_event(&run, 1, "slip")) < 1e-9);
    assert_int_equal(tact_scene_log_open(log, (struct tact_messages){0}, &view, &err), 0);
    assert_int_equal(view.hold_count, 1);
    assert_string_equal(view.holds[0].body, "ruler");
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    assert_int_equal(tact_log_seek(log, 579), 0);
    assert_int_equal(tact_log_next(log, r), 1);
    const double *hold = r->values + view.holds[0].hold;
    assert_true(hold[0] == number_in_hold_report(&run, "grip_force") && hold[1] > 0.0);
    assert_true(hold[2] == number_in_hold_report(&run, "slip") &&
                hold[3] == number_in_hold_report(&run, "turn"));
    struct tact_session_hold hold_at_session_end = {.touching = 0};
    options.from = 540;
    options.ended = store_hold_at_session_end;
    options.user = &hold_at_session_end;
    assert_int_equal(tact_replay_run_with(LOG, &options, &replay_report, &err), 0);
    assert_true(replay_report.ticks == 40 && replay_report.values > 0 &&
                replay_report.differing == 0);
    assert_true(hold_at_session_end.touching && hold_at_session_end.touches == 0);
    assert_true(hold_at_session_end.slip == number_in_hold_report(&run, "slip"));
    options.from = (double)touch_tick;
    assert_int_equal(tact_replay_run_with(LOG, &options, &replay_report, &err), 0);
    assert_true(hold_at_session_end.touching && hold_at_session_end.touches == 1);
    free(r);
    tact_scene_log_close(&view);
    tact_log_close(log);
    json_decref(run.report);
    unlink(LOG);
}

/* Fingers that open and close 20 times: 32 events are listed, the others counted, in report and
 * log.
 */
static void hold_events_beyond_the_list_are_counted(void **state)
{
    (void)state;
    char script[1024];
    size_t used = (size_t)snprintf(script, sizeof script, "[0, 0, 0, 0]");
    for (int i = 0; i < 20; i++) {
        used += (size_t)tact_number_print(script + used, sizeof script - used,
                                          ", [%g, 1, 0, 0], [%g, 0, 0, 0]", 0.4 + 0.8 * i,
                                          0.8 + 0.8 * i);
    }
    unlink(LOG);
    path_of_log_to_record = LOG;
    support_end_time = 100.0;
    const struct held_ruler_motion run =
        simulate_held_ruler("0", 0.8, script, "scale: 4, speed: 1", 16.2);
    path_of_log_to_record = NULL;
    support_end_time = 0.5;
    const double events = number_in_hold_report(&run, "touches") +
                          number_in_hold_report(&run, "slips") +
                          number_in_hold_report(&run, "releases");
    struct tact_log *log;
    uint64_t tick = 0;
    print_message("%g touches, %g slips, %g releases\n", number_in_hold_report(&run, "touches"),
                  number_in_hold_report(&run, "slips"), number_in_hold_report(&run, "releases"));
    assert_true(events > 33.0 && number_in_hold_report(&run, "events_left_out") == events - 32.0);
    assert_int_equal(tact_log_open(LOG, &log, NULL), 0);
    assert_int_equal(count_events(log, "touch", &tick) + count_events(log, "slip", &tick) +
                         count_events(log, "release", &tick),
                     32);
    assert_int_equal(count_events(log, "left out", &tick), 1);
    tact_log_close(log);
    json_decref(run.report);
    unlink(LOG);
}

/* A palm that does not move is of the hand as well: a ball lies on it, and its weight is borne. */
static void fixed_palm_counts_as_part_of_the_hand(void **state)
{
    (void)state;
    static const char text[] =
        "name: palm\nduration: 0.3\nmaterials: [{name: skin}]\n"
        "pairs: [{materials: [skin, skin], friction: 0.5}]\n"
        "bodies:\n  - {name: floor, fixed: true, position: [1, 0, 0],\n"
        "     shapes: [{type: box, size: [0.1, 0.1, 0.02], material: skin}]}\n"
        "  - {name: ball, mass: 0.1, position: [0, 0, 0.02],\n"
        "     shapes: [{type: sphere, radius: 0.01, material: skin}]}\n"
        "  - {name: other, mass: 0.1, position: [1, 0, 0.02],\n"
        "     shapes: [{type: sphere, radius: 0.01, material: skin}]}\n"
        "hands:\n  - name: hand\n"
        "    base: {fixed: true, shapes: [{type: box, size: [0.1, 0.1, 0.02], material: skin}]}\n"
        "    links:\n      - {name: finger, mass: 0.1, inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0],\n"
        "         joint: {type: hinge, axis: [1, 0, 0], position: [0, 0.2, 0], stiffness: 1}}\n";
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_session *session;
    struct tact_scene *scene;
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_run(session, &report), 0);
    assert_int_equal(tact_session_hold_count(session), 2);
    const struct tact_session_hold ball = tact_session_hold(session, 0),
                                   other = tact_session_hold(session, 1);
    print_message("%s in %s: %.6f N\n", ball.body, ball.hand, ball.grip_force);
    assert_true(ball.touches >= 1 && ball.touching && fabs(ball.grip_force - 0.981) < 1e-6);
    assert_true(other.touches == 0 && other.grip_force == 0.0);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* A joint that its dry friction keeps at rest is no unknown of a step of Newton's method, which
 * then solves a grip of 24 such joints in one: with friction as a stiff spring of each it took 1.5
 * and, as each first sweep released joints anew, 2.5 sweeps and up to 11. */
static void grip_of_joints_with_dry_friction_takes_one_newton_step_a_tick(void **state)
{
    (void)state;
    struct run_result result;
    const struct run_options options = {
        .scene = "tumbler.yaml", .seconds = 9.0, .clock = TACT_LOOP_FREE, .source = "host"};
    run_scene(&options, &result);
    const struct tact_session_report *report = &result.report;
    const double steps = (double)report->counts[TACT_COUNT_NEWTON] / 9000.0;
    print_message("%.3f sweeps a tick, at most %d, %.3f steps of Newton's method, %d unsolved\n",
                  report->iterations_mean, report->iterations_max, steps, (int)report->unconverged);
    assert_int_equal(report->unconverged, 0);
    assert_true(report->iterations_mean < 2.1 && report->iterations_max <= 10);
    assert_true(steps < 1.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruler_slips_with_the_known_acceleration),
        cmocka_unit_test(turning_of_the_ruler_in_the_grip_is_reported),
        cmocka_unit_test(hold_and_release_of_the_ruler_are_reported),
        cmocka_unit_test(fixed_palm_counts_as_part_of_the_hand),
        cmocka_unit_test(log_has_the_hold_events_of_the_report),
        cmocka_unit_test(hold_events_beyond_the_list_are_counted),
        cmocka_unit_test(grip_of_joints_with_dry_friction_takes_one_newton_step_a_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
