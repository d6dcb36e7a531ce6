/*
 * The energy of the port of a coupling whose input has a clamp, beyond which the person moves the
 * device, or whose joint is moved by a second device too: against force times motion out of the
 * log; and the energy bound beyond the clamp.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "support/coupled_press.h"
#include "support/replays.h"
#include "support/run_scene.h"

enum { TICKS = 1500 };

/* A tool that hangs in the direction of motion, so that it draws the device past the clamp. */
static const char text[] =
    "name: drawn\n"
    "gravity: [20, 0, 0]\n"
    "materials: [{name: skin}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.05\n"
    "        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0], coupling: {stiffness: 1000, damping: 2%s}}\n"
    "devices:\n"
    "  - name: stick\n"
    "    type: twin\n"
    "    settings: {axes: x, forces: f, mass: 0.2, damping: 1, hand: trajectory,\n"
    "      hand_file: %s/press.csv, hand_interpolation: linear, hand_time: time,\n"
    "      hand_damping: 2, hand_stiffness: 100}\n"
    "%s"
    "inputs: [{from: stick.x, to: hand.tip%s}%s]\n"
    "outputs: [{from: hand.tip, to: stick.f, limit: 1e3, rate: 1e9}]\n";

/* A second device that moves the joint, without force feedback. */
static const char second_device[] =
    "  - name: other\n"
    "    type: twin\n"
    "    settings: {axes: x, forces: f, mass: 0.2, damping: 1, hand: trajectory,\n"
    "      hand_file: %s/lead.csv, hand_interpolation: linear, hand_time: time,\n"
    "      hand_damping: 2, hand_stiffness: 100}\n";

struct port_energy_result {
    double energy, least;                                /* of force times motion [J] */
    double port_energy_in_log, least_port_energy_in_log; /* as the log states them [J] */
    double
        largest_energy_beyond_damper; /* the most that the port generated beyond what its force can
                          store by the energy bound, and the device's damping has dissipated [J] */
    double farthest_pressed_position; /* [m] */
};

static struct port_energy_result measure_port_energy(const char *device, const char *clamp_setting,
                                                     int has_second_device)
{
    char scene[4096], path[64], other[512] = "";
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    snprintf(path, sizeof path, "%s/press.mcap", press_folder);
    if (has_second_device) {
        snprintf(other, sizeof other, second_device, press_folder);
    }
    snprintf(scene, sizeof scene, text, device, press_folder, other, clamp_setting,
             has_second_device ? ", {from: other.x, to: hand.tip}" : "");
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.replace = 1;
    options.ticks = TICKS;
    run_session_of_scene_text(scene, &options, &report);
    struct press_log t = read_press_log(path, 1);
    const double damping = 1.0, bound_stiffness = damping / (0.5 * PRESS_TICK_PERIOD);
    struct port_energy_result out = {.energy = 0.0};
    double dissipated_energy = 0.0;
    for (uint64_t k = 1; k < t.ticks; k++) {
        const double moved = value_in_press_log(&t, k, X) - value_in_press_log(&t, k - 1, X),
                     force = value_in_press_log(&t, k, FORCE);
        out.energy -= value_in_press_log(&t, k - 1, FORCE) * moved;
        dissipated_energy += damping / PRESS_TICK_PERIOD * moved * moved;
        out.least = fmin(out.least, out.energy);
        out.largest_energy_beyond_damper =
            fmax(out.largest_energy_beyond_damper,
                 force * force / (2.0 * bound_stiffness) - out.energy - dissipated_energy);
        out.farthest_pressed_position =
            fmax(out.farthest_pressed_position, value_in_press_log(&t, k, X));
    }
    out.port_energy_in_log = value_in_press_log(&t, t.ticks - 1, ENERGY);
    out.least_port_energy_in_log = value_in_press_log(&t, t.ticks - 1, LEAST);
    free(t.values);
    check_replays_of_log(path, TICKS, 311, 1);
    return out;
}

/* With the passivity controller, with the energy bound and without either; a clamp that never acts
 * changes nothing. */
static void port_energy_counts_motion_beyond_the_clamp(void **state)
{
    (void)state;
    static const char *const devices[] = {"", ", device: {mass: 0.1, damping: 1000}",
                                          ", hard: true, device: {mass: 0.1, damping: 1}"};
    assert_int_equal(write_hand_motion("press.csv", "time,x\n0,0\n0.3,0\n0.5,0.02\n0.9,0.1\n"
                                                    "1.1,0.1\n1.4,-0.03\n2,-0.03\n"),
                     0);
    for (int i = 0; i < 3; i++) {
        const struct port_energy_result port_energy_result_without_clamp =
                                            measure_port_energy(devices[i], "", 0),
                                        wide = measure_port_energy(devices[i],
                                                                   ", lower: -1, upper: 1", 0),
                                        clamped = measure_port_energy(
                                            devices[i], ", lower: -0.01, upper: 0.02", 0);
        print_message("\"%s\": absorbed %.6f mJ, at its least %.6f; clamped %.6f, %.6f, in the log "
                      "off by %.1e, %.1e J, %.1e J beyond the damper's\n",
                      devices[i], 1e3 * port_energy_result_without_clamp.energy,
                      1e3 * port_energy_result_without_clamp.least, 1e3 * clamped.energy,
                      1e3 * clamped.least, clamped.port_energy_in_log - clamped.energy,
                      clamped.least_port_energy_in_log - clamped.least,
                      clamped.largest_energy_beyond_damper);
        assert_true(clamped.farthest_pressed_position > 0.09 && clamped.least < -0.01);
        assert_true(fabs(clamped.port_energy_in_log - clamped.energy) < 1e-14);
        assert_true(fabs(clamped.least_port_energy_in_log - clamped.least) < 1e-14);
        assert_true(i < 2 || clamped.largest_energy_beyond_damper < 1e-12);
        assert_true(wide.port_energy_in_log ==
                        port_energy_result_without_clamp.port_energy_in_log &&
                    wide.energy == port_energy_result_without_clamp.energy);
    }
}

/* A second device moves the joint, whose reaction goes to the first one: its motion does no work at
 * the port. */
static void port_counts_the_motion_of_its_device_only(void **state)
{
    (void)state;
    assert_int_equal(write_hand_motion("press.csv", "time,x\n0,0\n0.3,0\n0.5,0.02\n2,-0.03\n"), 0);
    assert_int_equal(write_hand_motion("lead.csv", "time,x\n0,0\n0.4,0\n0.6,0.03\n2,-0.02\n"), 0);
    static const char *const devices[] = {"", ", hard: true, device: {mass: 0.1, damping: 1}"};
    for (int i = 0; i < 2; i++) {
        const struct port_energy_result one = measure_port_energy(devices[i], "", 0),
                                        two = measure_port_energy(devices[i], "", 1);
        print_message(
            "\"%s\": absorbed %.6f mJ, by two devices %.6f, in the log off by %.1e, %.1e J\n",
            devices[i], 1e3 * one.energy, 1e3 * two.energy, two.port_energy_in_log - two.energy,
            two.least_port_energy_in_log - two.least);
        assert_true(fabs(two.energy - one.energy) > 5e-5);
        assert_true(fabs(two.port_energy_in_log - two.energy) < 1e-14);
        assert_true(fabs(two.least_port_energy_in_log - two.least) < 1e-14);
        assert_true(i < 1 || two.largest_energy_beyond_damper < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(port_energy_counts_motion_beyond_the_clamp),
                                       cmocka_unit_test(port_counts_the_motion_of_its_device_only)};
    return cmocka_run_group_tests(tests, make_press_folder, remove_press_folder);
}
