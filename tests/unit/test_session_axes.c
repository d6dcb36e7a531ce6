/*
 * A coupling of a base with a stiffness and a damping along each axis of the device of its tool:
 * the quasi-static force at a wall that is askew to these axes, the energy of a loop of the
 * attitude, the defaults, replays, and what is refused.
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
#include "support/turn_energy.h"

/* Writes a scene with `keys` in place of a text in it. */
static void write_scene_with_replaced_text(char out[4096], const char *from, const char *keys)
{
    char before[4096];
    memcpy(before, out, sizeof before);
    const char *at = strstr(before, from);
    assert_non_null(at);
    snprintf(out, 4096, "%.*s%s%s", (int)(at - before), before, keys, at + strlen(from));
}

/* A tool at a wall without friction, its device turned at random: at rest the coupling's force
 * K e is along the wall's normal n, and the tool has slid so far that n e is the depth of the
 * device, which gives depth / (n K^-1 n) n, in the axes of the device. */
static void force_at_a_wall_is_that_of_all_axes(void **state)
{
    (void)state;
    static const struct tact_device_type *const types[] = {&test_probe_device_type,
                                                           &test_pedal_device_type};
    for (int trial = 0; trial < 3; trial++) {
        const double k[3] = {pow(10.0, uniform(2.0, 3.5)), pow(10.0, uniform(2.0, 3.5)),
                             pow(10.0, uniform(2.0, 3.5))};
        double quat[4], a[9], normal[3] = {1.0, 0.0, 0.0}, along[3], moved[3], flexibility = 0.0;
        char scene_text[4096], keys[512];
        struct tact_scene *scene;
        struct tact_session *session;
        struct tact_session_options options = tact_session_options_default();
        for (int i = 0; i < 4; i++) {
            quat[i] = uniform(-1.0, 1.0);
        }
        tact_quat_normalize(quat);
        tact_quat_to_m3(a, quat);
        tact_number_print(keys, sizeof keys,
                          "position: [x, y, z], force: [fx, fy, fz], limit: 50, rate: 1e6, "
                          "quat_wxyz: [%.17g, %.17g, %.17g, %.17g]",
                          quat[0], quat[1], quat[2], quat[3]);
        format_led_tool_scene(scene_text, "0, 0, 0", keys);
        tact_number_print(keys, sizeof keys, "axis_stiffness: [%.17g, %.17g, %.17g], damping: 20",
                          k[0], k[1], k[2]);
        write_scene_with_replaced_text(scene_text, "stiffness: 1000, damping: 5", keys);
        write_scene_with_replaced_text(scene_text, "friction: 0.5", "friction: 0");
        options.types = types;
        options.type_count = 2;
        options.clock = TACT_LOOP_FREE;
        probe = (struct probe){.state = TACT_DEVICE_OK, .in = {[W] = 1.0}, .deadman = 1.0};
        open_session_of_scene_text(scene_text, &options, &scene, &session);
        assert_int_equal(tact_session_begin(session), 0);
        step_led_tool_session(session, 250); /* the force has faded in */
        const double depth = 0.002, aside[3] = {depth, 0.001, -0.0005};
        tact_m3_tmul_v3(along, a, normal);
        tact_m3_tmul_v3(moved, a, aside);
        for (int i = 0; i < 3; i++) {
            flexibility += along[i] * along[i] / k[i];
        }
        for (int tick = 0; tick <= 3000; tick++) {
            for (int i = 0; i < 3; i++) {
                probe.in[X + i] = moved[i] * fmin(1.0, tick / 300.0);
            }
            step_led_tool_session(session, 1);
        }
        double off = 0.0;
        for (int i = 0; i < 3; i++) {
            off = fmax(off, fabs(probe.out[i] + depth / flexibility * along[i]));
        }
        const double energy = tact_session_port(session, 0).energy;
        print_message("%.0f, %.0f, %.0f N/m: %.4f N of %.4f, off by %.1e N; %.4f mJ absorbed\n",
                      k[0], k[1], k[2], tact_v3_norm(probe.out), depth / flexibility, off,
                      energy * 1e3);
        assert_true(off < 1e-4 * depth / flexibility);
        assert_true(energy > 0.5 * depth * depth / flexibility);
        end_led_tool_session(session, scene);
    }
}

/* A tool of 100 g in free space whose attitude has three stiffnesses and no damper. */
static void write_scene_with_attitude_stiffnesses(char out[4096], const double k[3],
                                                  const double quat[4], int rate)
{
    char keys[512];
    tact_number_print(keys, sizeof keys,
                      "position: [x, y, z], attitude: [w, i, j, k], force: [fx, fy, fz], torque: "
                      "[tx, ty, tz], limit: 100, rate: 1e9, turn_limit: 1e3, turn_rate: 1e9, "
                      "quat_wxyz: [%.17g, %.17g, %.17g, %.17g]",
                      quat[0], quat[1], quat[2], quat[3]);
    format_led_tool_scene(out, "0, 0, 0", keys);
    tact_number_print(keys, sizeof keys, "axis_stiffness: [%.17g, %.17g, %.17g], damping: 0", k[0],
                      k[1], k[2]);
    write_scene_with_replaced_text(out, "stiffness: 1, damping: 0.01", keys);
    write_scene_with_replaced_text(out, "position: [0.06, 0, 0]", "position: [60, 0, 0]");
    write_scene_with_replaced_text(out, "[1e-5, 1e-5, 1e-5, 0", "[1e-2, 1e-2, 1e-2, 0");
    tact_number_print(keys, sizeof keys, "name: lead\nperiod: %.17g\n", 1.0 / rate);
    write_scene_with_replaced_text(out, "name: lead\n", keys);
}

/* Energy of spring and tool less what the port of the attitude has absorbed, after the device has
 * turned by up to 0.8 rad about all axes and back within a second. *most: largest energy. */
static double attitude_energy_gained_in_turn(const double k[3], const double quat[4],
                                             const double reach[3], const double phase[3], int rate,
                                             double *most)
{
    static const struct tact_device_type *const types[] = {&test_probe_device_type,
                                                           &test_pedal_device_type};
    const double pi = 3.14159265358979323846, inertia = 1e-2;
    char scene_text[4096];
    double axes[9], energy = 0.0;
    struct tact_scene *scene;
    struct tact_session *session;
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 2;
    options.clock = TACT_LOOP_FREE;
    write_scene_with_attitude_stiffnesses(scene_text, k, quat, rate);
    tact_quat_to_m3(axes, quat);
    probe = (struct probe){.state = TACT_DEVICE_OK, .in = {[W] = 1.0}, .deadman = 1.0};
    open_session_of_scene_text(scene_text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    step_led_tool_session(session, rate / 4);
    *most = 0.0;
    for (int tick = 0; tick <= rate; tick++) {
        const double share = sin(pi * tick / rate);
        double turn[3];
        for (int i = 0; i < 3; i++) {
            turn[i] = reach[i] * share * share * sin(2.0 * pi * tick / rate + phase[i]);
        }
        tact_quat_from_rotvec(&probe.in[W], turn);
        step_led_tool_session(session, 1);
        const struct tact_hand_state s = tact_hand_state(tact_world_hand(session->world, 0));
        energy = attitude_spring_energy(k, axes, s.target + 3, s.q + 3) +
                 0.5 * inertia * tact_v3_dot(s.v + 3, s.v + 3);
        *most = fmax(*most, energy);
    }
    energy -= tact_session_port(session, 1).energy;
    end_led_tool_session(session, scene);
    return energy;
}

/* What the device feels of a tool that turns is as conservative: at h, h/2 and h/4 no energy is
 * gained, and at 0 the balance closes. */
static void attitude_loop_has_its_exact_energy_balance(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3; trial++) {
        double k[3], quat[4], reach[3], phase[3], gained[3], most;
        random_unit_quaternion(quat);
        for (int i = 0; i < 3; i++) {
            k[i] = pow(10.0, uniform(-0.5, 1.0));
            reach[i] = uniform(0.5, 1.0) * 0.8;
            phase[i] = uniform(-3.1, 3.1);
        }
        for (int i = 0; i < 3; i++) {
            gained[i] = attitude_energy_gained_in_turn(k, quat, reach, phase, 1000 << i, &most);
        }
        const double limit = (8.0 * gained[2] - 6.0 * gained[1] + gained[0]) / 3.0;
        print_message("%.2f, %.2f, %.2f N m/rad: gained %.3f, %.3f, %.3f mJ at h, h/2, h/4, to "
                      "%.4f at 0, of %.1f mJ\n",
                      k[0], k[1], k[2], 1e3 * gained[0], 1e3 * gained[1], 1e3 * gained[2],
                      1e3 * limit, 1e3 * most);
        assert_true(fabs(limit) < 1e-3 * most);
    }
}

/* Without a damping each axis has that of its stiffness; what bounds the stiffness bounds each. */
static void coupling_axes_have_default_damping_and_limits(void **state)
{
    (void)state;
    static const struct {
        const char *coupling, *key, *message; /* NULL: accepted */
    } rows[] = {
        {"axis_stiffness: [100, 400, 900]", NULL, NULL},
        {"axis_stiffness: [100, 400, 900], device: {mass: 0.1, damping: 1}", NULL, NULL},
        {"axis_stiffness: [100, 2001, 900], device: {mass: 0.1, damping: 1}",
         "hands[0].base.coupling.axis_stiffness", "2001 is over 2000"},
        {"axis_stiffness: [100, 400, 0]", "hands[0].base.coupling.axis_stiffness",
         "greater than 0"},
        {"axis_stiffness: [100, 400, 900], axis_damping: [1, -1, 1]",
         "hands[0].base.coupling.axis_damping", "or more"},
        {"axis_stiffness: [100, 400, 900], stiffness: 100", "hands[0].base.coupling.stiffness",
         "one of the two keys"},
        {"axis_stiffness: [100, 400]", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tact_scene *scene = NULL;
        struct tact_error err = {.line = 0};
        char text[4096];
        format_led_tool_scene(text, "0, 0, 0", "position: [x, y, z]");
        write_scene_with_replaced_text(text, "stiffness: 1000, damping: 5", rows[i].coupling);
        const int rc = tact_scene_parse(text, strlen(text), "a.yaml", NULL, &scene, &err);
        print_message("%s: %d: %s: %s\n", rows[i].coupling, err.line, err.key, err.text);
        if (rows[i].message) {
            assert_int_equal(rc, -EINVAL);
            assert_true(err.line == 16 && strstr(err.text, rows[i].message));
            assert_true(!rows[i].key[0] || !strcmp(err.key, rows[i].key));
            continue;
        }
        assert_int_equal(rc, 0);
        for (int k = 0; k < 3; k++) {
            const struct tact_scene_coupling *axis = scene->hands[0].links[k].joint.coupling;
            assert_true(axis->stiffness == 100.0 * (k + 1) * (k + 1));
            assert_true(fabs(axis->damping - 0.1 * sqrt(axis->stiffness)) < 1e-15);
        }
        tact_scene_free(scene);
    }
}

/* The stylus of tool.yaml with other numbers along each axis: replays are equal bit for bit. */
static void session_with_unequal_axes_is_replayed(void **state)
{
    (void)state;
    static const struct edit edits[] = {
        {"        stiffness: 1000\n        damping: 5\n",
         "        axis_stiffness: [1000, 500, 250]\n        axis_damping: [5, 4, 3]\n"},
        {"        stiffness: 1\n        damping: 0.005\n",
         "        axis_stiffness: [1, 0.5, 2]\n        damping: 0.005\n"},
        {NULL, NULL}};
    check_replays_of_edited_scene("tool.yaml", edits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_at_a_wall_is_that_of_all_axes),
        cmocka_unit_test(attitude_loop_has_its_exact_energy_balance),
        cmocka_unit_test(coupling_axes_have_default_damping_and_limits),
        cmocka_unit_test(session_with_unequal_axes_is_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
