/*
 * A joint that a coupling ties to a device: force against an independent recursion of tool, spring
 * and damper, peaks of a press against an independent simulation of hand, device and wall, no lag
 * in free motion, no rattle at a rigid wall with a weak, an average and a strong hand, the energy
 * of the port, and no jump where the device is lost and returns.
 */
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
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/coupled_press.h"
#include "support/replays.h"
#include "support/run_scene.h"

/* Force on the person from the device's positions alone: a mass on spring and damper, implicit, and
 * a wall that it does not pass. Returns the largest difference after the outputs have ramped in. */
static double largest_force_error_against_recursion(const struct press_log *t, double k, double d)
{
    double p = 0.0, u = 0.0, worst = 0.0, before = value_in_press_log(t, 0, X);
    for (uint64_t i = 0; i < t->ticks; i++) {
        const double x = value_in_press_log(t, i, X), rate = (x - before) / PRESS_TICK_PERIOD;
        u = (PRESS_TOOL_MASS * u + PRESS_TICK_PERIOD * (k * (x - p) + d * rate)) /
            (PRESS_TOOL_MASS + PRESS_TICK_PERIOD * (d + PRESS_TICK_PERIOD * k));
        u = fmin(u, (PRESS_WALL_POSITION - p) / PRESS_TICK_PERIOD);
        p += PRESS_TICK_PERIOD * u;
        before = x;
        const double force = -(k * (x - p) + d * (rate - u));
        worst = i > 200 ? fmax(worst, fabs(force - value_in_press_log(t, i, FORCE))) : worst;
    }
    return worst;
}

/* The first tick in which the tool is at the wall. */
static uint64_t find_tick_of_touch(const struct press_log *t)
{
    uint64_t tick = 1;
    while (tick + 2 < t->ticks && value_in_press_log(t, tick, TOOL) < PRESS_WALL_POSITION - 1e-8) {
        tick++;
    }
    assert_true(tick + 2 < t->ticks);
    return tick;
}

/* In free motion the tool is where the device is; a damper against the base leaves it D v / K
 * behind. No step of the force is over (h K + D) v, v the speed of the device at touch: the fastest
 * of that tick, the one before and the one after. Energy that the port takes in is that of
 * force times motion, and none is generated. */
static void coupled_hand_feels_only_the_wall(void **state)
{
    (void)state;
    static const double coupling_stiffness_and_damping_pairs[][2] = {
        {500.0, 10.0}, {2000.0, 20.0}, {8000.0, 40.0}};
    for (int g = 0; g < 3; g++) {
        const double k = coupling_stiffness_and_damping_pairs[g][0],
                     d = coupling_stiffness_and_damping_pairs[g][1];
        struct hand_press_scenario p = {pressing_hands[0], "coupling: {%s}", k, d, NULL, 4.0,
                                        PRESS_TOOL_MASS,   "press.csv"};
        struct press_log t = simulate_coupled_press(&p);
        double energy = 0.0, step = 0.0, speed_at_touch = 0.0;
        const uint64_t touch_tick = find_tick_of_touch(&t);
        for (uint64_t i = 1; i < t.ticks; i++) {
            const double moved = value_in_press_log(&t, i, X) - value_in_press_log(&t, i - 1, X);
            energy -= value_in_press_log(&t, i - 1, FORCE) * moved;
            step = fmax(step, fabs(value_in_press_log(&t, i, FORCE) -
                                   value_in_press_log(&t, i - 1, FORCE)));
            if (i + 1 >= touch_tick && i <= touch_tick + 1) {
                speed_at_touch = fmax(speed_at_touch, moved / PRESS_TICK_PERIOD);
            }
        }
        const double largest_relative_force_error = largest_force_error_against_recursion(&t, k, d),
                     lag = value_in_press_log(&t, 150, X) - value_in_press_log(&t, 150, TOOL);
        p.drive = "%s";
        struct press_log log_of_drive_damped_on_base = simulate_coupled_press(&p);
        const double tool_lag_with_drive_damped_on_base =
            value_in_press_log(&log_of_drive_damped_on_base, 150, X) -
            value_in_press_log(&log_of_drive_damped_on_base, 150, TOOL);
        print_message("K %g, D %g: force off by %.1e N, lag %.1e m (damped against the base %.1e), "
                      "step %.3f of %.3f N, absorbed %.6f mJ\n",
                      k, d, largest_relative_force_error, lag, tool_lag_with_drive_damped_on_base,
                      step, (PRESS_TICK_PERIOD * k + d) * speed_at_touch, energy * 1e3);
        /* relative error of the force, as the contact yields by some 1e-9 m */
        assert_true(largest_relative_force_error < 1e-5);
        assert_true(fabs(lag) < 2e-5 && tool_lag_with_drive_damped_on_base > 10.0 * fabs(lag));
        assert_true(step <= (PRESS_TICK_PERIOD * k + d) * speed_at_touch);
        assert_true(fabs(energy - value_in_press_log(&t, t.ticks - 1, ENERGY)) < 1e-15);
        assert_true(energy > 0.0 && value_in_press_log(&t, t.ticks - 1, LEAST) > -1e-6);
        free(t.values);
        free(log_of_drive_damped_on_base.values);
    }
}

/* A wall that is a mesh is known by its overlap only: in the tick of touch the tool moves freely to
 * its depth d, less than v T, in the next one it is stopped there, and from the third on it is
 * pushed out, by d / T at most. So the force is less by K d in the first two than that of a wall
 * which is known before, and rises in the third by up to K (v T + d) + D d / T: no step is over
 * (2 h K + D) v. */
static void mesh_wall_is_felt_two_ticks_late(void **state)
{
    (void)state;
    static const char box[] = "{type: box, size: [0.1, 0.1, 0.1], position: [0.08, 0, 0],",
                      mesh[] =
                          "{type: mesh, generate: {kind: bumpy_cube, edge: 0.1, bump: 0, count: "
                          "1, triangles: 1200}, position: [0.08, 0, 0],",
                      features[] = "model: features",
                      overlap[] = "model: volume, overlap: 1e-7, dissipation: 0";
    static const double coupling_stiffness_and_damping_pairs[][2] = {
        {500.0, 10.0}, {2000.0, 5.0}, {2000.0, 20.0}};
    for (int g = 0; g < 3; g++) {
        const double k = coupling_stiffness_and_damping_pairs[g][0],
                     d = coupling_stiffness_and_damping_pairs[g][1];
        const struct hand_press_scenario p = {pressing_hands[0], "coupling: {%s}", k, d, NULL, 0.5,
                                              PRESS_TOOL_MASS,   "press.csv"};
        char scene[4096], changed_scene[4300], path[64];
        struct tact_session_report report;
        struct tact_session_options options = tact_session_options_default();
        format_press_scene(&p, scene);
        const char *model = strstr(scene, features), *at = strstr(scene, box);
        assert_true(model && at > model);
        snprintf(changed_scene, sizeof changed_scene, "%.*s%s%.*s%s%s", (int)(model - scene), scene,
                 overlap, (int)(at - model - (long)sizeof features + 1),
                 model + sizeof features - 1, mesh, at + sizeof box - 1);
        snprintf(path, sizeof path, "%s/press.mcap", press_folder);
        options.types = tact_devices_builtin(&options.type_count);
        options.clock = TACT_LOOP_FREE;
        options.record = path;
        options.replace = 1;
        options.ticks = 500;
        run_session_of_scene_text(changed_scene, &options, &report);
        struct press_log t = read_press_log(path, 1);
        uint64_t touch_tick = 1;
        while (touch_tick < t.ticks &&
               value_in_press_log(&t, touch_tick, TOOL) <= PRESS_WALL_POSITION) {
            touch_tick++;
        }
        assert_true(touch_tick + 3 < t.ticks);
        const double depth = value_in_press_log(&t, touch_tick, TOOL) - PRESS_WALL_POSITION;
        double steps[3], speed = 0.0;
        for (uint64_t i = 0; i < 3; i++) {
            steps[i] = value_in_press_log(&t, touch_tick + i - 1, FORCE) -
                       value_in_press_log(&t, touch_tick + i, FORCE);
            speed = fmax(speed, value_in_press_log(&t, touch_tick + i, X) -
                                    value_in_press_log(&t, touch_tick + i - 1, X));
        }
        speed /= PRESS_TICK_PERIOD;
        print_message("K %g, D %g: %.2f v T deep, steps of %.3f, %.3f, %.3f N of %.3f; tool at "
                      "%.1f, %.1f, %.1f um\n",
                      k, d, depth / (speed * PRESS_TICK_PERIOD), steps[0], steps[1], steps[2],
                      (PRESS_TICK_PERIOD * k + d) * speed, depth * 1e6,
                      (value_in_press_log(&t, touch_tick + 1, TOOL) - PRESS_WALL_POSITION) * 1e6,
                      (value_in_press_log(&t, touch_tick + 2, TOOL) - PRESS_WALL_POSITION) * 1e6);
        assert_true(depth < speed * PRESS_TICK_PERIOD);
        for (int i = 0; i < 3; i++) {
            assert_true(steps[i] < (2.0 * PRESS_TICK_PERIOD * k + d) * speed);
        }
        free(t.values);
    }
}

/* While the device is unplugged the target stays; on return it starts there, and reaches the
 * device's position without a jump of the force. */
static void replugging_a_device_makes_no_force_jump(void **state)
{
    (void)state;
    const struct hand_press_scenario p = {pressing_hands[1],
                                          "coupling: {%s, filter: 100}",
                                          1000.0,
                                          5.0,
                                          "      lost: [[1, 1.5]]\n",
                                          4.0,
                                          PRESS_TOOL_MASS,
                                          "press.csv"};
    struct press_log t = simulate_coupled_press(&p);
    double force_jump = 0.0, force = 0.0;
    for (uint64_t i = 1; i < t.ticks; i++) {
        force_jump = fmax(force_jump, fabs(value_in_press_log(&t, i, TARGET) -
                                           value_in_press_log(&t, i - 1, TARGET)));
        if (i > 1000 && i < 1500) {
            force = fmax(force, fabs(value_in_press_log(&t, i, FORCE)));
            assert_true(value_in_press_log(&t, i, ENGAGED) == 0.0);
        }
        if (i >= 1500) {
            const double change =
                fabs(value_in_press_log(&t, i, FORCE) - value_in_press_log(&t, i - 1, FORCE));
            assert_true(change < 1000.0 * 1e-3);
        }
    }
    const double target_lag_behind_device_at_end =
        value_in_press_log(&t, t.ticks - 1, TARGET) - value_in_press_log(&t, t.ticks - 1, X);
    print_message("lost for 0.5 s: target jumps by %.1e m at most, %.1e m from the device at the "
                  "end\n",
                  force_jump, target_lag_behind_device_at_end);
    assert_true(force_jump < 3e-4 && force == 0.0);
    assert_true(fabs(value_in_press_log(&t, 1499, X) - value_in_press_log(&t, 1499, TARGET)) >
                    1e-5 ||
                force_jump > 0.0);
    assert_true(fabs(target_lag_behind_device_at_end) < 1e-5);
    free(t.values);
    char path[64];
    snprintf(path, sizeof path, "%s/press.mcap", press_folder);
    check_replays_of_log(path, 4000, 1999, 1);
}

/* A device that is lost for 3 ms while it presses: its force is 0 meanwhile, and begins from 0,
 * also where the rate of the output is too low for the force to end in that time. */
static void short_loss_of_a_device_leaves_no_force(void **state)
{
    (void)state;
    const struct hand_press_scenario p = {
        pressing_hands[1], "coupling: {%s}", 1000.0, 5.0, "      lost: [[1, 1.003]]\n", 1.2,
        PRESS_TOOL_MASS,   "press.csv"};
    char scene[4096], path[64];
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    snprintf(path, sizeof path, "%s/press.mcap", press_folder);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.replace = 1;
    options.ticks = 1200;
    format_press_scene(&p, scene);
    memcpy(strstr(scene, "rate: 1e9"), "rate: 100", 9);
    run_session_of_scene_text(scene, &options, &report);
    struct press_log t = read_press_log(path, 1);
    print_message("pressed with %.3f N, lost for 3 ms, then %.3f N\n",
                  value_in_press_log(&t, 999, FORCE), value_in_press_log(&t, 1003, FORCE));
    assert_true(value_in_press_log(&t, 999, FORCE) < -3.0);
    assert_true(value_in_press_log(&t, 1002, FORCE) == 0.0);
    for (uint64_t i = 1003; i < t.ticks; i++) {
        assert_true(fabs(value_in_press_log(&t, i, FORCE) - value_in_press_log(&t, i - 1, FORCE)) <
                    0.1001);
    }
    free(t.values);
    check_replays_of_log(path, 1200, 601, 1);
}

/* A device whose values are old from 1 s to 2 s, while its hand moves by 30 mm. */
static struct device_with_interval_of_old_values {
    double x, force[3000];
    uint64_t tick;
} device_with_interval_of_old_values;

static void read_silent_device(void *self, uint64_t tick, double t, int64_t now,
                               struct tact_device_input *in)
{
    struct device_with_interval_of_old_values *device = self;
    const int is_device_silent = tick >= 1000 && tick < 2000;
    device->tick = tick;
    device->x = is_device_silent ? device->x : fmin(0.03, 0.1 * t) + (tick >= 2000 ? 0.03 : 0.0);
    in->state = is_device_silent ? TACT_DEVICE_STALE : TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = device->x;
}

static void write_silent_device(void *self, const double *out, int64_t now)
{
    struct device_with_interval_of_old_values *device = self;
    (void)now;
    device->force[device->tick] = out[0];
}

static void close_silent_device(void *self)
{
    (void)self;
}

static int open_silent_device(const struct tact_device_config *config, struct tact_device *out,
                              struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_silent_device,
                                               write_silent_device, close_silent_device};
    (void)config;
    (void)err;
    memset(&device_with_interval_of_old_values, 0, sizeof device_with_interval_of_old_values);
    out->ops = &ops;
    out->self = &device_with_interval_of_old_values;
    out->info.input_count = out->info.output_count = 1;
    strcpy(out->info.input[0].name, "x");
    strcpy(out->info.output[0].name, "f");
    return 0;
}

/* A device that is silent for 1 s while it presses: its force fades, and does not jump when the
 * device returns 30 mm from where it was. */
static void silent_device_loses_its_coupling_force(void **state)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "silent",
                                                 "values that are old for a time",
                                                 open_silent_device, NULL};
    static const struct tact_device_type *const types[] = {&type};
    static const char settings[] = "devices: [{name: stick, type: silent}]\n";
    const struct hand_press_scenario p = {
        pressing_hands[1], "coupling: {%s}", 500.0, 5.0, NULL, 3.0, PRESS_TOOL_MASS, "press.csv"};
    char scene[4096], changed_scene[5000], path[64];
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    double force_jump = 0.0;
    (void)state;
    format_press_scene(&p, scene);
    const char *devices = strstr(scene, "devices:");
    snprintf(changed_scene, sizeof changed_scene, "%.*s%s%s", (int)(devices - scene), scene,
             settings, strstr(scene, "inputs:"));
    snprintf(path, sizeof path, "%s/press.mcap", press_folder);
    options.types = types;
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    options.ticks = 3000;
    options.record = path;
    options.replace = 1;
    run_session_of_scene_text(changed_scene, &options, &report);
    const double *force = device_with_interval_of_old_values.force;
    for (int i = 1000; i < 2999; i++) {
        force_jump = fmax(force_jump, fabs(force[i] - force[i - 1]));
    }
    print_message("silent while pressing with %.3f N: %.3f N after 0.3 s, steps of %.3f N at most, "
                  "%.3f N in the end\n",
                  force[999], force[1300], force_jump, force[2998]);
    assert_true(force[999] < -4.0);
    for (int i = 1300; i < 2000; i++) {
        assert_true(force[i] == 0.0);
    }
    assert_true(force_jump < p.stiffness * 1e-3);
    /* the force of the device's new position again: 20 N at rest */
    assert_true(force[2998] < -16.0);
    check_replays_of_log(path, 3000, 1499, 1);
}

static void bad_coupling_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *drive, *expected_message;
        int line;
    } bad[] = {
        {"stiffness: 1, coupling: {%s}", "is of a drive", 15},
        {"damping: 1, coupling: {%s}", "is of a drive", 15},
        {"coupling: {%s, damping: 1}", "", 15},
        {"coupling: {damping: 1}", "expected the key \"stiffness\" here, or \"device\"", 15},
        {"coupling: {hard: true, device: {mass: 1, damping: 1}}", "beside \"hard: true\"", 15},
        {"coupling: {device: {mass: 1, damping: -1}}", "greater than 0", 15},
        {"coupling: {stiffness: 0, damping: 1}", "greater than 0", 15},
        {"coupling: {stiffness: 1, damping: -1}", "", 15},
        {"coupling: {%s, hard: true}", "expected \"device\"", 15},
        {"coupling: {%s, axis_damping: [1, 2, 3]}", "is of the three axes of a base", 15},
        {"coupling: {%s, device: {mass: 1}}", "damping", 15},
        {"coupling: {%s, device: {mass: 1, damping: 1, stiffness: -1}}", "0 N m/rad or N/m or more",
         15},
        {"coupling: {%s, device: {mass: 0, damping: 1}}", "greater than 0", 15},
        {"coupling: {stiffness: 2001, damping: 1, device: {mass: 1, damping: 1}}", "is over 2000",
         15},
        {"coupling: {stiffness: 700, damping: 1, device: {mass: 1, damping: 1, delay: 0.001}}",
         "is over 666.667", 15},
        {"coupling: {stiffness: 400, damping: 1, device: {mass: 1, damping: 1, friction: 0.005,"
         " resolution: 30e-6}}",
         "2 friction / resolution", 15},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char scene[4096];
        struct tact_error err = {0};
        struct tact_scene *out = NULL;
        const struct hand_press_scenario p = {pressing_hands[0], bad[i].drive, 1.0, 1.0, NULL, 1.0,
                                              PRESS_TOOL_MASS,   "press.csv"};
        format_press_scene(&p, scene);
        assert_int_equal(tact_scene_parse(scene, strlen(scene), "bad.yaml", NULL, &out, &err), -22);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_int_equal(err.line, bad[i].line);
        assert_non_null(strstr(err.text, bad[i].expected_message));
    }
}

/* Half of what the device renders, and 0.1 sqrt(K 1 kg), at most 0.4 m / T. */
static void coupling_gains_have_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *drive;
        double stiffness, damping;
    } rows[] = {
        {"coupling: {device: {mass: 0.1, damping: 1}}", 1000.0, 3.1622776601683795},
        {"coupling: {device: {mass: 0.1, damping: 1, delay: 0.001}}", 1000.0 / 3.0,
         1.8257418583505538},
        {"coupling: {device: {mass: 1e-3, damping: 1}}", 1000.0, 0.4},
        {"coupling: {device: {mass: 0.1, damping: 1}, damping: 7}", 1000.0, 7.0},
        {"coupling: {device: {mass: 0.1, damping: 1, stiffness: 3000}}", 1000.0,
         3.1622776601683795},
        {"coupling: {device: {mass: 0.1, damping: 1, stiffness: 400}}", 400.0, 2.0},
        {"coupling: {stiffness: 1e4}", 1e4, 10.0},
        {"coupling: {stiffness: 400, device: {mass: 0.1, damping: 1}, hard: true}", 400.0, 2.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char scene[4096];
        struct tact_error err = {0};
        struct tact_scene *out = NULL;
        const struct hand_press_scenario p = {pressing_hands[0], rows[i].drive, 0.0, 0.0, NULL, 1.0,
                                              PRESS_TOOL_MASS,   "press.csv"};
        format_press_scene(&p, scene);
        if (tact_scene_parse(scene, strlen(scene), "a.yaml", NULL, &out, &err)) {
            fail_msg("%s", err.text);
        }
        const struct tact_scene_coupling *found = out->hands[0].links[0].joint.coupling;
        assert_true(fabs(found->stiffness / rows[i].stiffness - 1.0) < 1e-15);
        assert_true(fabs(found->damping / rows[i].damping - 1.0) < 1e-15);
        tact_scene_free(out);
    }
}

/* A coupling needs an input that is its target, and none that measures the joint. */
static void coupling_without_an_input_is_refused(void **state)
{
    (void)state;
    static const char *const instead[] = {
        "inputs: []\noutputs: []\n",
        "inputs: [{from: stick.x, to: hand.tip}, {from: stick.x, to: hand.tip, what: state}]\n"};
    for (int i = 0; i < 2; i++) {
        char scene[4096], changed_scene[5000];
        struct tact_error err = {0};
        struct tact_scene *out = NULL;
        const struct hand_press_scenario p = {
            pressing_hands[0], "coupling: {%s}", 1.0, 1.0, NULL, 1.0, PRESS_TOOL_MASS, "press.csv"};
        format_press_scene(&p, scene);
        *strstr(scene, "inputs:") = 0;
        snprintf(changed_scene, sizeof changed_scene, "%s%s", scene, instead[i]);
        assert_int_equal(
            tact_scene_parse(changed_scene, strlen(changed_scene), "bad.yaml", NULL, &out, &err),
            -22);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_int_equal(err.line, 15);
        assert_non_null(strstr(err.text, i ? "measures its state" : "no input"));
    }
}

/* A coupling whose force goes to a device that is not known is named at the start; one of a known
 * device, and one whose force goes nowhere or to a script, is not. */
static void coupling_of_an_unknown_device_is_named(void **state)
{
    static const struct edit edits_removing_device[] = {
        {"        device: {mass: 2e-3, damping: 0.01} # kg m^2, N m s/rad\n", ""}, {NULL, NULL}};
    static const struct {
        const char *scene;
        const struct edit *edits;
        const char *named; /* NULL: none */
    } rows[] = {
        {"wheel_twin.yaml", NULL,
         "hands[0].links[0].joint.coupling.stiffness: the 400 N m/rad or N/m of hand.finger are "
         "not checked"},
        {"tool.yaml", NULL, NULL},
        {"tool.yaml", edits_removing_device,
         "hands[0].base.turn_coupling.stiffness: the 1 N m/rad or N/m of stylus.base attitude are "
         "not checked"},
        {"peg_tool.yaml", edits_removing_device,
         "hands[0].base.turn_coupling.stiffness: the 2 N m/rad or N/m of peg.base attitude are "
         "not checked"},
        {"mug.yaml", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static struct run_result result;
        const struct run_options options = {.scene = rows[i].scene,
                                            .edits = rows[i].edits,
                                            .seconds = 0.005,
                                            .clock = TACT_LOOP_FREE,
                                            .source = "host"};
        run_scene(&options, &result);
        const char *first = strstr(result.run_warning_text, "are not checked");
        print_message("%s: %s\n", rows[i].scene, result.run_warning_text);
        assert_true(rows[i].named ? strstr(result.run_warning_text, rows[i].named) != NULL
                                  : !first);
        assert_true(!first || !strstr(first + 1, "are not checked"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coupled_hand_feels_only_the_wall),
        cmocka_unit_test(mesh_wall_is_felt_two_ticks_late),
        cmocka_unit_test(replugging_a_device_makes_no_force_jump),
        cmocka_unit_test(short_loss_of_a_device_leaves_no_force),
        cmocka_unit_test(silent_device_loses_its_coupling_force),
        cmocka_unit_test(bad_coupling_settings_are_refused),
        cmocka_unit_test(coupling_gains_have_defaults),
        cmocka_unit_test(coupling_without_an_input_is_refused),
        cmocka_unit_test(coupling_of_an_unknown_device_is_named),
    };
    return cmocka_run_group_tests(tests, make_press_folder, remove_press_folder);
}
