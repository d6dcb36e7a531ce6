/*
 * A device that leads a base: frame, scale and quaternion, the wrench in the device's axes, rates
 * of a puck, the edge of the workspace, a peg in a hole, a gripper, and what is refused.
 */
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
#include "contact/vec.h"
#include "rt/log/log_reader.h"
#include "support/led_tool.h"
#include "support/random.h"
#include "support/run_scene.h"

static const double *session_target_pose(struct tact_session *session)
{
    return tact_hand_state(tact_world_hand(tact_session_world(session), 0)).target;
}

/* The device's axes are turned: a half turn about x and y's bisector swaps x and y and reverses z.
 * Motion is scaled, angles are not, and a quaternion that changes its sign is the same attitude. */
static void led_tool_moves_in_the_world_frame(void **state)
{
    (void)state;
    struct tact_scene *scene;
    struct tact_session *session =
        begin_led_tool_session("position: [x, y, z], attitude: [w, i, j, k], scale: 3, "
                               "quat_wxyz: [0, 0.7071067811865476, "
                               "0.7071067811865476, 0]",
                               NULL, &scene);
    const double *target = session_target_pose(session);
    for (int k = 0; k <= 1000; k++) {
        const double t = k / 1000.0, sign = k % 2 ? -1.0 : 1.0;
        probe.in[X] = 5.0; /* the device begins at any position, as only its motion counts */
        probe.in[Y] = -0.02 * t;
        probe.in[Z] = 0.01 * t;
        probe.in[W] = sign * cos(0.75 * t);
        probe.in[I] = sign * sin(0.75 * t);
        step_led_tool_session(session, 1);
    }
    const double wanted[6] = {-0.06, 0.0, -0.03, 0.0, 1.5, 0.0};
    for (int i = 0; i < 6; i++) {
        print_message("%s%.6f for %.6f", i ? ", " : "target ", target[i], wanted[i]);
        assert_true(fabs(target[i] - wanted[i]) < 1e-12);
    }
    print_message("\n");
    probe.in[W] = probe.in[I] =
        0.0; /* a quaternion of zeros is no attitude: the target keeps its own */
    probe.in[X] = 6.0;
    step_led_tool_session(session, 1);
    assert_true(fabs(target[0] - wanted[0]) < 1e-12 && fabs(target[1] - wanted[1]) < 1e-12);
    end_led_tool_session(session, scene);
}

/* The wrench goes out along the device's axes: a wall in the world's x pushes against the device's
 * y, at half the force. */
static void force_sent_is_in_the_device_frame(void **state)
{
    (void)state;
    struct tact_scene *scene;
    struct tact_session *session = begin_led_tool_session(
        "position: [x, y, z], attitude: [rx, ry, rz], force: [fx, fy, fz], torque: [tx, ty, "
        "tz], limit: 50, rate: 1e6, turn_limit: 1, turn_rate: 1e4, force_scale: 0.5, "
        "quat_wxyz: [0.7071067811865476, 0, 0, -0.7071067811865476]",
        NULL, &scene);
    step_led_tool_session(session, 250); /* the force has faded in */
    for (int k = 0; k <= 600; k++) {
        probe.in[Y] = fmin(0.004, 1e-5 * k);
        step_led_tool_session(session, 1);
    }
    struct tact_hand *hand = tact_world_hand(tact_session_world(session), 0);
    const double *torque = tact_hand_state(hand).torque;
    print_message("force %.4f %.4f %.4f N for 2 N on the device's y\n", probe.out[0], probe.out[1],
                  probe.out[2]);
    assert_true(fabs(probe.out[1] + 2.0) < 0.01 && fabs(probe.out[0]) < 1e-9);
    assert_true(fabs(probe.out[1] + 0.5 * torque[0]) < 1e-12);
    assert_true(fabs(torque[0] - 4.0) < 0.02);
    /* The energy of the port is that at the device: half the force over the same motion, 4 mm. */
    const double energy = tact_session_port(session, 0).energy;
    print_message("absorbed %.4f mJ\n", energy * 1e3);
    assert_true(fabs(energy - 0.5 * 0.5 * stiffness * 0.004 * 0.004) < 0.05 * energy);
    end_led_tool_session(session, scene);
}

/* Rates of a puck move the tool along its own axes; a small deflection does nothing, and a large
 * one in all directions no more than one. The target does not run away from a tool that is blocked.
 */
static void puck_rates_move_the_led_tool(void **state)
{
    (void)state;
    struct tact_scene *scene;
    struct tact_session *session = begin_led_tool_session(
        "mode: rate, position: [x, y, z], attitude: [rx, ry, rz], dead_zone: 0.1, speed: "
        "0.2, turn_speed: 2, lower: [-1, -1, -0.02]",
        NULL, &scene);
    const double *target = session_target_pose(session);
    probe.in[X] = -0.05;
    probe.in[RZ] = 0.08;
    step_led_tool_session(session, 100);
    assert_true(tact_v3_norm(target) == 0.0 && tact_v3_norm(target + 3) == 0.0);
    /* The base starts turned by 2 atan(0.6 / 0.8): its x axis is 0.28, 0.96. */
    probe.in[X] = probe.in[RZ] = 0.0;
    probe.in[Y] = 0.55; /* 0.55 is half way from the end of the dead zone, 0.1, to 1 */
    step_led_tool_session(session, 100);
    assert_true(fabs(target[0] + 0.96 * 0.1 * 0.1) < 1e-12);
    assert_true(fabs(target[1] - 0.28 * 0.1 * 0.1) < 1e-12);
    probe.in[X] = probe.in[Y] = probe.in[Z] = -1.0;
    const double before[3] = {target[0], target[1], target[2]};
    step_led_tool_session(session, 10);
    double moved[3];
    tact_v3_sub(moved, target, before);
    assert_true(fabs(tact_v3_norm(moved) - 0.2 * 0.01) < 1e-12);
    probe.in[X] = probe.in[Y] = 0.0;
    step_led_tool_session(session, 1000);
    assert_true(target[2] == -0.02);
    memset(probe.in, 0, sizeof probe.in);
    probe.in[RX] = 1.0;
    step_led_tool_session(session, 100);
    assert_true(fabs(tact_v3_norm(target + 3) - 0.2) < 1e-12);
    assert_true(fabs(target[3] - 0.2 * 0.28) < 1e-12 && fabs(target[4] - 0.2 * 0.96) < 1e-12);
    /* Against the wall: no further than what the base's limit of 20 N stretches, 20 mm. */
    probe.in[RX] = 0.0;
    probe.in[X] = 0.28;
    probe.in[Y] = -0.96;
    step_led_tool_session(session, 4000);
    const double *q = tact_hand_state(tact_world_hand(tact_session_world(session), 0)).q;
    print_message("target %.4f mm from the tool\n", (target[0] - q[0]) * 1e3);
    assert_true(target[0] - q[0] > 0.019 && target[0] - q[0] < 0.0201 + 0.2e-3);
    end_led_tool_session(session, scene);
}

/* Largest motion and rotation of a tool's target in a tick, by random channels of a puck: small
 * ones, and those of a device that leaves its range. */
static void puck_rates_have_the_speed_limits(void **state)
{
    (void)state;
    struct tact_scene *scene;
    struct tact_session *session = begin_led_tool_session(
        "mode: rate, position: [x, y, z], attitude: [rx, ry, rz], dead_zone: 0.1, speed: "
        "0.2, turn_speed: 2, lower: [-1, -1, -1], upper: [0, 1, 1]",
        NULL, &scene);
    static const int channels[] = {X, Y, Z, RX, RY, RZ};
    const double *target = session_target_pose(session);
    double largest_target_motion[2] = {0.0, 0.0};
    probe.in[Y] = 1.0;
    step_led_tool_session(session, 100); /* moves the tool away from the wall */
    for (int k = 0; k < 3000; k++) {
        const double range = k % 3 == 0 ? 0.5 : k % 3 == 1 ? 2.0 : 1e6;
        double before[6], from[4], to[4], turn[4], moved[3], turned[3];
        for (int i = 0; i < 6; i++) {
            before[i] = target[i];
            probe.in[channels[i]] = uniform(-range, range);
        }
        step_led_tool_session(session, 1);
        tact_v3_sub(moved, target, before);
        tact_quat_from_rotvec(from, before + 3);
        tact_quat_from_rotvec(to, target + 3);
        tact_v3_scale(from + 1, from + 1, -1.0);
        tact_quat_mul(turn, to, from);
        tact_quat_to_rotvec(turned, turn);
        largest_target_motion[0] = fmax(largest_target_motion[0], tact_v3_norm(moved) / 1e-3);
        largest_target_motion[1] = fmax(largest_target_motion[1], tact_v3_norm(turned) / 1e-3);
    }
    print_message("at most %.12f m/s and %.12f rad/s\n", largest_target_motion[0],
                  largest_target_motion[1]);
    assert_true(fabs(largest_target_motion[0] - 0.2) < 1e-11 &&
                fabs(largest_target_motion[1] - 2.0) < 1e-11);
    end_led_tool_session(session, scene);
}

/* Beyond the edge of its workspace the device gives a rate too, by how far it is beyond; the target
 * of a tool that is blocked stops where the base's limit of 20 N is. */
static void tool_moves_by_rate_beyond_the_workspace_edge(void **state)
{
    (void)state;
    struct tact_scene *scene;
    struct tact_session *session =
        begin_led_tool_session("position: [x, y, z], scale: 2, edge: 0.05, edge_speed: "
                               "0.1, center: [0, 0.01, 0]",
                               NULL, &scene);
    const double *target = session_target_pose(session);
    probe.in[Y] = 0.01;
    step_led_tool_session(session, 210);
    for (int k = 0; k < 500;
         k++) { /* moves the device to the edge of its workspace, away from the wall */
        probe.in[Y] = 0.01 - 1e-4 * k;
        step_led_tool_session(session, 1);
    }
    const double target_y_at_workspace_edge = target[1];
    assert_true(fabs(target_y_at_workspace_edge + 2.0 * 0.0499) < 1e-12);
    /* at 1.5 times the distance `edge`: the target moves at half of `edge_speed` */
    probe.in[Y] = 0.01 - 0.075;
    step_led_tool_session(session, 200);
    const double first = target[1];
    step_led_tool_session(session, 1000);
    const double displacement_by_rate = target[1] - first;
    print_message("moves by %.6f m in 1 s\n", displacement_by_rate);
    assert_true(first < target_y_at_workspace_edge - 2.0 * 0.025);
    assert_true(fabs(displacement_by_rate + 0.05) < 1e-9);
    probe.in[Y] = 0.01 - 0.2;
    step_led_tool_session(session, 200);
    const double last = target[1];
    step_led_tool_session(session, 100);
    assert_true(fabs(target[1] - last + 0.01) < 1e-12); /* at most the speed */
    end_led_tool_session(session, scene);
    session = begin_led_tool_session("position: [x, y, z], scale: 0.2, edge: 0.05, edge_speed: 0.1",
                                     NULL, &scene);
    target = session_target_pose(session);
    step_led_tool_session(session, 210);
    for (int k = 0; k <= 550; k++) { /* 11 mm into the wall */
        probe.in[X] = 1e-4 * k;
        step_led_tool_session(session, 1);
    }
    step_led_tool_session(session, 5000);
    const double *q = tact_hand_state(tact_world_hand(tact_session_world(session), 0)).q;
    print_message("target %.4f mm from the tool\n", (target[0] - q[0]) * 1e3);
    assert_true(target[0] - q[0] > 0.01999 && target[0] - q[0] < 0.0201);
    const double stopped = target[0];
    step_led_tool_session(session, 500);
    assert_true(target[0] == stopped);
    end_led_tool_session(session, scene);
}

/* Scenes that are refused, with line and key. */
static void invalid_led_tools_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"position: [x, y]", "expected 3 channels, found 2"},
        {"attitude: [rx, ry]", "of a rotation vector, or 4 of a quaternion, w first; found 2"},
        {"scale: 2", "needs the key \"position\", \"attitude\" or both"},
        {"position: [x, y, z], mode: turbo", "turbo"},
        {"position: [x, y, z], scale: 0", "greater than 0"},
        {"position: [x, y, z], speed: 1", "\"mode: rate\""},
        {"mode: rate, position: [x, y, z]", "greater than 0"},
        {"mode: rate, position: [x, y, z], speed: 1, dead_zone: 1", "dead_zone"},
        {"mode: rate, position: [x, y, z], speed: 1, force: [fx, fy, fz], limit: 1, rate: 1",
         "channels are speeds has no force"},
        {"position: [x, y, z], force: [fx, fy, fz], rate: 1", "greater than 0"},
        {"position: [x, y, z], torque: [tx, ty, tz], turn_limit: 1, turn_rate: 1",
         "if it has the key \"attitude\" too"},
        {"position: [x, y, z], fine_scale: 0.5", "expected \"fine\" beside it"},
        {"position: [x, y, z], lower: [0.1, 0, 0]", "expected at most 0"},
        {"position: [x, y, z], edge: 0.1", "edge_speed"},
        {"position: [x, y, z], edge: -1, edge_speed: 1", "greater than 0"},
        {"position: [x, y, z], center: [0, 0, 0]", "expected \"edge\" beside it"},
        {"mode: rate, position: [x, y, z], speed: 1, edge: 0.1, edge_speed: 1", "are positions"},
        {"position: [x, y, z], clutch: other.b", "no device is named \"other\""},
        {"position: [x, y, z], quat_wxyz: [0, 0, 0, 0]", "quat_wxyz"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tact_scene *scene;
        struct tact_error err;
        char out[4096];
        format_led_tool_scene(out, "0, 0, 0", bad[i][0]);
        assert_int_equal(tact_scene_parse(out, strlen(out), "a.yaml", NULL, &scene, &err), -EINVAL);
        print_message("%s:%d: %s: %s\n", err.file, err.line, err.key, err.text);
        assert_true(err.line > 0 && !strncmp(err.key, "tools[0]", 8));
        assert_true(strstr(err.text, bad[i][1]) || strstr(err.key, bad[i][1]));
    }
}

/* peg_tool.yaml: while the hand aims 2.5 mm below the floor of the hole, the person feels grip and
 * coupling in series, 300 and 1000 N/m. */
static void peg_reaches_the_floor_of_its_hole(void **state)
{
    (void)state;
    char path[] = "/tmp/tact_peg_XXXXXX";
    struct tact_record *record;
    const int file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0 && remove(path) == 0);
    struct tact_log *log = record_and_open_log("peg_tool.yaml", 3.5, path, &record);
    const double *v = read_values_of_tick(log, 3450, record);
    const double force = v[tact_log_field(log, "outputs_sent", NULL) + 2];
    const double exact = 0.0025 * 300.0 * 1000.0 / 1300.0;
    print_message("%.5f N at the floor, quasi-static %.5f N\n", force, exact);
    assert_true(fabs(force - exact) < 0.02 * exact);
    free(record);
    tact_log_close(log);
    assert_int_equal(remove(path), 0);
}

/* tool_puck.yaml: the puck's deflections beyond the dead zone, 0.94 and 1.18 s at full speed, turn
 * the peg by 0.47 of its 0.5 rad and move it by 59 mm along its own y axis; at the floor of the
 * hole it presses with the limit; 1 s at full speed lifts it by 50 mm from where its target was
 * then. */
static void puck_puts_a_peg_into_its_hole(void **state)
{
    (void)state;
    enum { ABOVE, PRESSED, END, MOMENTS };
    static const uint64_t ticks[MOMENTS] = {2780, 4999, 6499};
    double q[MOMENTS][6], target[MOMENTS][6], force[MOMENTS];
    char path[] = "/tmp/tact_puck_XXXXXX";
    struct tact_record *record;
    const int file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0 && remove(path) == 0);
    struct tact_log *log = record_and_open_log("tool_puck.yaml", 6.5, path, &record);
    for (int i = 0; i < MOMENTS; i++) {
        const double *v = read_values_of_tick(log, ticks[i], record);
        memcpy(q[i], v + tact_log_field(log, "peg_position", NULL), sizeof q[i]);
        memcpy(target[i], v + tact_log_field(log, "peg_target", NULL), sizeof target[i]);
        force[i] = tact_v3_norm(v + tact_log_field(log, "peg_torque", NULL));
        print_message("at %.4f %.4f %.4f mm, turned by %.4f rad, %.4f N\n", q[i][0] * 1e3,
                      q[i][1] * 1e3, q[i][2] * 1e3, q[i][5], force[i]);
    }
    assert_true(fabs(q[ABOVE][0] + 0.059 * sin(0.03)) < 1e-6);
    assert_true(fabs(q[ABOVE][1] - 0.059 * cos(0.03)) < 1e-6);
    assert_true(fabs(q[ABOVE][5] + 0.47) < 1e-6);
    /* The floor is 72.5 mm below the peg, whose hole leaves it 0.25 mm on each side. */
    assert_true(fabs(q[PRESSED][2] + 0.0725) < 1e-5);
    assert_true(fabs(q[PRESSED][0]) < 2.6e-4 && fabs(q[PRESSED][1] - 0.06) < 2.6e-4);
    assert_true(fabs(force[PRESSED] - 6.0) < 1e-9);
    assert_true(fabs(target[END][2] - target[PRESSED][2] - 0.05) < 1e-9);
    assert_true(fabs(q[END][2] - target[END][2]) < 1e-6);
    free(record);
    tact_log_close(log);
    assert_int_equal(remove(path), 0);
}

/* grasp_tool.yaml: the box is put down where and how the hand turned it. */
static void gripper_led_by_the_tool_moves_a_box(void **state)
{
    (void)state;
    struct run_result result;
    run_scene(
        &(struct run_options){
            .scene = "grasp_tool.yaml", .seconds = 5.0, .clock = TACT_LOOP_FREE, .source = "host"},
        &result);
    const double turn = 2.0 * atan2(result.quat_wxyz[3], result.quat_wxyz[0]);
    print_message("box at %.3f, %.3f, %.3f mm, turned by %.4f rad\n", result.position[0] * 1e3,
                  result.position[1] * 1e3, result.position[2] * 1e3, turn);
    assert_true(fabs(result.position[0] - 0.06) < 2e-4 && fabs(result.position[1] - 0.02) < 2e-4);
    assert_true(fabs(result.position[2] - 0.02) < 1e-4 && fabs(turn - 0.8) < 2e-3);
}

/* A device whose position is in bare volts leads no tool that is felt. */
static void tool_led_by_uncalibrated_channels_is_refused(void **state)
{
    (void)state;
    static const struct tact_device_type *const types[] = {&test_probe_device_type,
                                                           &test_pedal_device_type};
    struct tact_session_options options = tact_session_options_default();
    struct tact_session *session;
    struct tact_scene *scene;
    struct tact_error err = {.line = 0};
    char out[4096];
    options.types = types;
    options.type_count = 2;
    format_led_tool_scene(out, "0, 0, 0",
                          "position: [x, y, z], force: [fx, fy, fz], limit: 1, rate: 1");
    assert_int_equal(tact_scene_parse(out, strlen(out), "a.yaml", NULL, &scene, &err), 0);
    probe = (struct probe){.state = TACT_DEVICE_OK, .raw = 1};
    assert_int_equal(tact_session_create(scene, &options, &session, &err), -EINVAL);
    print_message("%s:%d: %s: %s\n", err.file, err.line, err.key, err.text);
    assert_string_equal(err.key, "tools[0].position");
    tact_scene_free(scene);
}

/* A mass or an inertia that no arithmetic survives. */
static void absurd_base_masses_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][4] = {
        {"mass: 0.05", "mass: 1e-300", "mass", "must be from 1e-12 to 1e+12 kg, got 1e-300"},
        {"mass: 0.05", "mass: 1e300", "mass", "must be from 1e-12 to 1e+12 kg, got 1e+300"},
        {"1e-5, 1e-5, 1e-5", "1e-90, 1e-90, 1e-90", "inertia", "expected 1e-24 to 1e+24"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tact_scene *scene;
        struct tact_error err;
        char out[4096], changed_scene[4096], key[64];
        format_led_tool_scene(out, "0, 0, 0", "position: [x, y, z]");
        const char *at = strstr(out, bad[i][0]);
        assert_non_null(at);
        snprintf(changed_scene, sizeof changed_scene, "%.*s%s%s", (int)(at - out), out, bad[i][1],
                 at + strlen(bad[i][0]));
        assert_int_equal(
            tact_scene_parse(changed_scene, strlen(changed_scene), "a.yaml", NULL, &scene, &err),
            -EINVAL);
        print_message("%s:%d: %s: %s\n", err.file, err.line, err.key, err.text);
        snprintf(key, sizeof key, "hands[0].base.%s", bad[i][2]);
        assert_string_equal(err.key, key);
        assert_non_null(strstr(err.text, bad[i][3]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(led_tool_moves_in_the_world_frame),
        cmocka_unit_test(force_sent_is_in_the_device_frame),
        cmocka_unit_test(puck_rates_move_the_led_tool),
        cmocka_unit_test(puck_rates_have_the_speed_limits),
        cmocka_unit_test(tool_moves_by_rate_beyond_the_workspace_edge),
        cmocka_unit_test(peg_reaches_the_floor_of_its_hole),
        cmocka_unit_test(puck_puts_a_peg_into_its_hole),
        cmocka_unit_test(gripper_led_by_the_tool_moves_a_box),
        cmocka_unit_test(invalid_led_tools_are_refused),
        cmocka_unit_test(tool_led_by_uncalibrated_channels_is_refused),
        cmocka_unit_test(absurd_base_masses_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
