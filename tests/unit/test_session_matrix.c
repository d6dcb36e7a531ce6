/*
 * A tool whose base is coupled by matrices of all six coordinates: the quasi-static force and
 * torque of a press with the tip of a tool on springs at another point, the energy of both ports in
 * a loop, what is refused, and replays.
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
#include "contact/number.h"
#include "contact/vec.h"
#include "support/led_tool.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/run_scene.h"
#include "support/spring_matrix.h"

static const double pi = 3.14159265358979323846;

/* Replaces a text of the scene. */
static void replace_text(char out[8192], const char *from, const char *to)
{
    char before[8192];
    memcpy(before, out, sizeof before);
    const char *at = strstr(before, from);
    assert_non_null(at);
    snprintf(out, 8192, "%.*s%s%s", (int)(at - before), before, to, at + strlen(from));
}

static void format_stiffness_or_damping_matrix(char *out, size_t size, const char *key,
                                               const double m[36])
{
    size_t used = (size_t)snprintf(out, size, "      %s: [", key);
    for (int i = 0; i < 36; i++) {
        char number[64];
        tact_number_print(number, sizeof number, i < 35 ? "%.17g, " : "%.17g]\n", m[i]);
        used += (size_t)snprintf(out + used, size - used, "%s", number);
    }
}

/* A tool that a device leads in position and attitude, coupled by matrices; `couplings`: of which
 * other keys there are. */
static void write_scene_with_stiffness_matrix(char out[8192], const double tip[3],
                                              const double quat[4], const double k[36],
                                              const double d[36], const char *couplings)
{
    char text[4096], place[128], keys[512], matrices[4096], more[2048];
    tact_number_print(place, sizeof place, "%.17g, %.17g, %.17g", tip[0], tip[1], tip[2]);
    tact_number_print(keys, sizeof keys,
                      "position: [x, y, z], attitude: [w, i, j, k], force: [fx, fy, fz], torque: "
                      "[tx, ty, tz], limit: 1e3, rate: 1e9, turn_limit: 1e3, turn_rate: 1e9, "
                      "quat_wxyz: [%.17g, %.17g, %.17g, %.17g]",
                      quat[0], quat[1], quat[2], quat[3]);
    format_led_tool_scene(text, place, keys);
    memcpy(out, text, sizeof text);
    format_stiffness_or_damping_matrix(matrices, sizeof matrices, "stiffness_matrix", k);
    format_stiffness_or_damping_matrix(more, sizeof more, "damping_matrix", d);
    strcat(matrices, more);
    strcat(matrices, couplings);
    replace_text(out,
                 "      coupling: {stiffness: 1000, damping: 5}\n"
                 "      turn_coupling: {stiffness: 1, damping: 0.01}\n",
                 matrices);
    replace_text(out, "      limit: 20\n", "");
    replace_text(out, "friction: 0.5", "friction: 0");
}

static struct tact_session_options matrix_session_options(void)
{
    static const struct tact_device_type *const types[] = {&test_probe_device_type,
                                                           &test_pedal_device_type};
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 2;
    options.clock = TACT_LOOP_FREE;
    return options;
}

static struct tact_session *begin_session_with_stiffness_matrix(const char *text,
                                                                struct tact_scene **scene)
{
    const struct tact_session_options options = matrix_session_options();
    struct tact_session *session;
    probe = (struct probe){.state = TACT_DEVICE_OK, .in = {[W] = 1.0}, .deadman = 1.0};
    open_session_of_scene_text(text, &options, scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    return session;
}

/* How far force and torque on the device are from the balance of a tool that touches the wall with
 * its tip: no force along the wall, and about the target of the base no moment. */
static double find_wrench_imbalance(const struct tact_session *session, const double tip[3],
                                    const double quat[4])
{
    const double hand_attitude_quat[4] = {0.8, 0.0, 0.0, 0.6};
    const struct tact_hand_state s = tact_hand_state(tact_world_hand(session->world, 0));
    double turn[4], all[4], at[3], force[3], torque[3], moment[3];
    tact_quat_from_rotvec(turn, s.q + 3);
    tact_quat_mul(all, turn, hand_attitude_quat);
    tact_quat_rotate(at, all, tip);
    tact_v3_add(at, at, s.q);
    tact_v3_sub(at, at, s.target);
    tact_quat_rotate(force, quat, probe.out);
    tact_quat_rotate(torque, quat, probe.out + 3);
    tact_v3_cross(moment, at, force);
    tact_v3_sub(moment, moment, torque);
    return (hypot(force[1], force[2]) + tact_v3_norm(moment) / 0.05) / tact_v3_norm(force);
}

/* Springs along and about the axes of a point, in the axes of a device that is turned at random,
 * press the tip of the tool to a wall without friction: the force is the depth over the flexibility
 * of the tip along the normal n, n^2/k of the point and of the turn (tip - point) x n, and the
 * torque at the device is the moment of that force at the tip. Force and torque also balance where
 * the tool has deflected by centimetres. */
static void press_with_springs_at_a_point_is_exact(void **state)
{
    (void)state;
    const double hand_attitude_quat[4] = {0.8, 0.0, 0.0, 0.6}; /* of the scene */
    for (int trial = 0; trial < 3; trial++) {
        double k[36], d[36], spring[6], damper[6], point[3], tip[3], quat[4], axes[9];
        double normal[3], at[3], arm[3], turn[3], moment[3], flexibility = 0.0, off = 0.0;
        const double depth = 2e-4;
        char text[8192];
        struct tact_scene *scene;
        for (int i = 0; i < 3; i++) {
            spring[i] = pow(10.0, uniform(2.5, 3.5));
            spring[3 + i] = pow(10.0, uniform(0.0, 1.0));
            point[i] = uniform(-0.05, 0.05);
            tip[i] = uniform(-0.05, 0.05);
        }
        for (int i = 0; i < 6; i++) {
            damper[i] = 0.01 * spring[i];
        }
        random_unit_quaternion(quat);
        tact_quat_to_m3(axes, quat);
        spring_matrix_at_point(k, spring, point);
        spring_matrix_at_point(d, damper, point);
        write_scene_with_stiffness_matrix(text, tip, quat, k, d, "");
        double tip_in_world_axes[3];
        tact_quat_rotate(tip_in_world_axes, hand_attitude_quat, tip);
        char wall[128]; /* the wall's face is where the tool's tip is */
        tact_number_print(wall, sizeof wall, "position: [%.17g, 0, 0]",
                          0.06 + tip_in_world_axes[0]);
        replace_text(text, "position: [0.06, 0, 0]", wall);
        tact_m3_tmul_v3(normal, axes, (const double[3]){1.0, 0.0, 0.0});
        tact_m3_tmul_v3(at, axes, tip_in_world_axes);
        tact_v3_axpy(at, 0.01, normal); /* where the sphere of the tip touches the wall */
        tact_v3_sub(arm, at, point);
        tact_v3_cross(turn, arm, normal);
        tact_v3_cross(moment, at, normal);
        for (int i = 0; i < 3; i++) {
            flexibility += normal[i] * normal[i] / spring[i] + turn[i] * turn[i] / spring[3 + i];
        }
        struct tact_session *session = begin_session_with_stiffness_matrix(text, &scene);
        step_led_tool_session(session, 250); /* the force has faded in */
        for (int tick = 0; tick <= 3000; tick++) {
            for (int i = 0; i < 3; i++) {
                probe.in[X + i] = depth * normal[i] * fmin(1.0, tick / 300.0);
            }
            step_led_tool_session(session, 1);
        }
        const double force = depth / flexibility;
        for (int i = 0; i < 3; i++) {
            off = fmax(off, fabs(probe.out[i] + force * normal[i]) / force);
            off = fmax(off, fabs(probe.out[3 + i] + force * moment[i]) / (0.05 * force));
        }
        print_message("%.5f N at %.1f mm from the springs: off by %.1e\n", force,
                      1e3 * tact_v3_norm(arm), off);
        assert_true(off < 1e-2);
        for (int tick = 0; tick <= 4000;
             tick++) { /* presses so far that the tool turns by itself */
            for (int i = 0; i < 3; i++) {
                probe.in[X + i] = (depth + 0.02 * fmin(1.0, tick / 1000.0)) * normal[i];
            }
            step_led_tool_session(session, 1);
        }
        const double wrench_imbalance = find_wrench_imbalance(session, tip, quat);
        print_message("%.3f N, off balance by %.1e\n", tact_v3_norm(probe.out), wrench_imbalance);
        assert_true(tact_v3_norm(probe.out) > 10.0 * force && wrench_imbalance < 1e-6);
        end_led_tool_session(session, scene);
    }
}

/* The device follows a closed path in position and attitude: what both ports have absorbed when the
 * tool rests again is not below 0, and approaches 0 with the period, as there is only a small
 * damper. */
static void device_loop_with_matrices_generates_no_energy(void **state)
{
    (void)state;
    const double tip[3] = {0.0}, quat[4] = {0.5, -0.5, 0.5, 0.5};
    for (int trial = 0; trial < 2; trial++) {
        double k[36], d[36], reach[6], phase[6], absorbed[3];
        random_spring_matrix(k, 1000.0, 0.05);
        for (int i = 0; i < 36; i++) {
            d[i] = 2e-3 * k[i];
        }
        for (int i = 0; i < 6; i++) {
            reach[i] = uniform(0.5, 1.0) * (i < 3 ? 0.05 : 0.8);
            phase[i] = uniform(-pi, pi);
        }
        for (int n = 0; n < 3; n++) {
            const int ticks = 1000 << n;
            char text[8192], period[64];
            struct tact_scene *scene;
            write_scene_with_stiffness_matrix(text, tip, quat, k, d, "");
            tact_number_print(period, sizeof period, "name: lead\nperiod: %.17g\n", 1.0 / ticks);
            replace_text(text, "name: lead\n", period);
            replace_text(text, "position: [0.06, 0, 0]", "position: [60, 0, 0]");
            struct tact_session *session = begin_session_with_stiffness_matrix(text, &scene);
            step_led_tool_session(session, ticks / 4);
            for (int tick = 0; tick <= ticks + ticks / 2; tick++) {
                const double t = fmin(1.0, (double)tick / ticks);
                const double share = sin(pi * t) * sin(pi * t);
                double turn[3];
                for (int i = 0; i < 6; i++) {
                    const double at = reach[i] * share * sin(2.0 * pi * t + phase[i]);
                    *(i < 3 ? &probe.in[X + i] : &turn[i - 3]) = at;
                }
                tact_quat_from_rotvec(&probe.in[W], turn);
                step_led_tool_session(session, 1);
            }
            absorbed[n] =
                tact_session_port(session, 0).energy + tact_session_port(session, 1).energy;
            end_led_tool_session(session, scene);
        }
        print_message("absorbed %.4f, %.4f, %.4f mJ at h, h/2, h/4\n", 1e3 * absorbed[0],
                      1e3 * absorbed[1], 1e3 * absorbed[2]);
        assert_true(absorbed[0] >= 0.0 && absorbed[1] >= 0.0 && absorbed[2] >= 0.0);
    }
}

/* What is refused, with its key: by the scene, or by the session (session: 1), for which a
 * direction of force and torque counts. */
static void bad_stiffness_matrices_are_refused(void **state)
{
    (void)state;
    static const char coupling_with_device[] =
        "      coupling: {device: {mass: 0.1, damping: 1}}\n"
        "      turn_coupling: {device: {mass: 1e-3, damping: 5e-3}}\n";
    static const char hard[] = "      coupling: {device: {mass: 0.1, damping: 1}, hard: true}\n"
                               "      turn_coupling: {device: {mass: 1e-3, damping: 5e-3}, hard: "
                               "true}\n";
    static const struct {
        int at, session;
        double by, damped_by;
        const char *couplings, *from, *to, *key, *message; /* message NULL: accepted */
    } rows[] = {
        {0, 0, 0.0, 0.0, "", "", "", NULL, NULL},
        {1, 0, 1.0, 0.0, "", "", "", "hands[0].base.stiffness_matrix", "is not symmetric"},
        {1, 0, 0.0, 1.0, "", "", "", "hands[0].base.damping_matrix", "is not symmetric"},
        {7, 0, -5e3, 0.0, "", "", "", "hands[0].base.stiffness_matrix", "below 0 on its diagonal"},
        {0, 0, -985.0, 0.0, "", "", "", "hands[0].base.stiffness_matrix", "semidefinite"},
        {0, 0, 0.0, 0.0, "      coupling: {stiffness: 100}\n", "", "",
         "hands[0].base.coupling.stiffness", "stiffness_matrix"},
        {0, 0, 0.0, 0.0, "      turn_coupling: {axis_damping: [1, 1, 1]}\n", "", "",
         "hands[0].base.turn_coupling.axis_damping", "damping_matrix"},
        {0, 0, 0.0, 0.0, "      coupling: {filter: -1}\n", "", "", "hands[0].base.coupling.filter",
         "0"},
        {0, 0, 0.0, 0.0, "", "      damping_matrix", "      # damping_matrix",
         "hands[0].base.stiffness_matrix", "needs \"damping_matrix\""},
        {0, 0, 0.0, 0.0, "", "      stiffness_matrix", "      # stiffness_matrix",
         "hands[0].base.damping_matrix", "needs \"stiffness_matrix\""},
        {0, 0, 0.0, 0.0, "", "damping_matrix: [5,", "damping_matrix: [", "", ""},
        {0, 0, 0.0, 0.0, "", "rate: 1e9,", "rate: 1e9, scale: 2,", "tools[0].scale", "expected 1"},
        {0, 0, 0.0, 0.0, "",
         "devices:", "inputs: [{from: probe.x, to: tip.base_x, what: force}]\ndevices:",
         "hands[0].base.stiffness_matrix", "inputs[0] moves this base"},
        {0, 0, 0.0, 0.0, coupling_with_device, "", "", NULL, NULL},
        {0, 0, 1100.0, 0.0, coupling_with_device, "", "", "hands[0].base.stiffness_matrix",
         "is over 2000"},
        {28, 1, 6.0, 0.0, coupling_with_device, "", "", "hands[0].base.stiffness_matrix", "1.1"},
        {28, 0, 6.0, 0.0, hard, "", "", NULL, NULL},
        {0, 1, 0.0, 500.0, coupling_with_device, "", "", "hands[0].base.damping_matrix",
         "oscillat"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double spring[6] = {1000.0, 1000.0, 1000.0, 1.0, 1.0, 1.0},
                     damper[6] = {5.0, 5.0, 5.0, 5e-3, 5e-3, 5e-3}, point[3] = {0.0, 0.0, 0.05},
                     none[3] = {0.0}, quat[4] = {1.0, 0.0, 0.0, 0.0};
        double k[36], d[36];
        char text[8192];
        struct tact_scene *scene = NULL;
        struct tact_session *session = NULL;
        struct tact_error err = {.line = 0};
        const struct tact_session_options options = matrix_session_options();
        spring_matrix_at_point(k, spring, point);
        spring_matrix_at_point(d, damper, none);
        k[rows[i].at] += rows[i].by;
        d[rows[i].at] += rows[i].damped_by;
        write_scene_with_stiffness_matrix(text, none, quat, k, d, rows[i].couplings);
        replace_text(text, rows[i].from, rows[i].to);
        int rc = tact_scene_parse(text, strlen(text), "a.yaml", NULL, &scene, &err);
        if (rows[i].session || !rows[i].message) {
            assert_int_equal(rc, 0);
            rc = tact_session_create(scene, &options, &session, &err);
        }
        print_message("%zu: %d: %d: %s: %s\n", i, rc, err.line, err.key, err.text);
        assert_int_equal(rc, rows[i].message ? -EINVAL : 0);
        if (rows[i].message) {
            assert_true(err.line >= 12 && strstr(err.text, rows[i].message));
            assert_true(!rows[i].key[0] || !strcmp(err.key, rows[i].key));
        }
        tact_session_destroy(session);
        tact_scene_free(scene);
    }
}

/* A tie to another site is of each vector by itself. */
static void stiffness_matrix_of_a_remote_base_is_refused(void **state)
{
    (void)state;
    static char keys[4096], more[2048];
    double k[36];
    random_spring_matrix(k, 1000.0, 0.05);
    format_stiffness_or_damping_matrix(keys, sizeof keys, "stiffness_matrix", k);
    format_stiffness_or_damping_matrix(more, sizeof more, "damping_matrix", k);
    strcat(keys, more);
    strcat(keys, "      mass: 0.05\n");
    const struct edit edits[] = {
        {"        stiffness: 1000\n        damping: 5\n", ""},
        {"        stiffness: 3\n        damping: 0.02\n", ""},
        {"        device: {mass: 0.3, damping: 1}", "        filter: 0"},
        {"        device: {mass: 2e-3, damping: 0.01}", "        filter: 0"},
        {"      mass: 0.05\n", keys},
        {NULL, NULL}};
    struct tact_scene *scene = NULL;
    struct tact_error err = {.line = 0};
    char *text = load_scene_text_with_edits("teleop_peg_local.yaml", edits);
    assert_int_equal(tact_scene_parse(text, strlen(text), "a.yaml", NULL, &scene, &err), -EINVAL);
    print_message("%d: %s: %s\n", err.line, err.key, err.text);
    assert_string_equal(err.key, "remotes[0].joint");
    assert_true(err.line > 40 && strstr(err.text, "stiffness_matrix"));
    free(text);
}

/* The stylus of tool.yaml on springs at a point of it: replays are equal bit for bit. */
static void session_with_stiffness_matrices_is_replayed(void **state)
{
    (void)state;
    const double spring[6] = {1000.0, 500.0, 250.0, 1.0, 0.5, 2.0}, point[3] = {0.01, 0.0, -0.02};
    double k[36], d[36];
    static char keys[4096], more[2048];
    spring_matrix_at_point(k, spring, point);
    for (int i = 0; i < 36; i++) {
        d[i] = 5e-3 * k[i];
    }
    format_stiffness_or_damping_matrix(keys, sizeof keys, "stiffness_matrix", k);
    format_stiffness_or_damping_matrix(more, sizeof more, "damping_matrix", d);
    strcat(keys, more);
    strcat(keys, "      limit: 8 ");
    const struct edit edits[] = {{"        stiffness: 1000\n        damping: 5\n", ""},
                                 {"        stiffness: 1\n        damping: 0.005\n", ""},
                                 {"      limit: 8 ", keys},
                                 {NULL, NULL}};
    check_replays_of_edited_scene("tool.yaml", edits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(press_with_springs_at_a_point_is_exact),
        cmocka_unit_test(device_loop_with_matrices_generates_no_energy),
        cmocka_unit_test(bad_stiffness_matrices_are_refused),
        cmocka_unit_test(stiffness_matrix_of_a_remote_base_is_refused),
        cmocka_unit_test(session_with_stiffness_matrices_is_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
