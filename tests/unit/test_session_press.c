/*
 * The presses of a plant of one axis: hands of three kinds at a rigid wall, stiffnesses that are
 * too high for the device, the passivity controller and the energy bound, a force that is one tick
 * late, and the energy of the port, against simulations that share no code with tact, and its exact
 * definition.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "support/coupled_press.h"
#include "support/replays.h"

static const char ground[] = "%s", /* a drive, whose damper acts against the base */
    plain[] = "coupling: {%s}", watched[] = "coupling: {%s, device: {mass: 0.1, damping: 1000}}",
                  watched_late[] =
                      "coupling: {%s, device: {mass: 0.1, damping: 1000, delay: 0.001}}",
                  hard[] = "coupling: {%s, hard: true, device: {mass: 0.1, damping: 1}}",
                  hard_late[] =
                      "coupling: {%s, hard: true, device: {mass: 0.1, damping: 1, delay: 0.001}}",
                  known_late[] = /* its controller does nothing, and its delay is known */
                  "coupling: {%s, device: {mass: 1e-9, damping: 1000, delay: 0.001}}";

/* No hand rattles at the wall at any of these stiffnesses, also where the force is a tick late;
 * damped against the base the weak one does, and late without a damper. */
static void every_coupled_hand_settles_at_the_wall(void **state)
{
    (void)state;
    static const double coupling_gains_text[][2] = {{500.0, 5.0}, {2000.0, 2.0}, {2000.0, 20.0}};
    for (int i = 0; i < 18; i += is_quick_sanitizer_run() ? 5 : 1) {
        const struct press_scenario p = {pressing_hands[i / 3 % 3],
                                         "coupling: {%s}",
                                         coupling_gains_text[i % 3][0],
                                         coupling_gains_text[i % 3][1],
                                         i < 9 ? NULL : PRESS_LATE_FORCE_SETTING,
                                         4.0,
                                         PRESS_TOOL_MASS,
                                         "press.csv"};
        struct press_log t = simulate_coupled_press(&p);
        const double speed = rms_speed_of_last_500_ticks(&t);
        /* Quasi-static force: stiffness of grip and coupling in series, over 20 mm. */
        const double pressed =
            0.02 * p.stiffness * p.grip.stiffness / (p.stiffness + p.grip.stiffness);
        print_message("%s, K %g, D %g: %.1e m/s left, %.4f N of %.4f\n", p.grip.name, p.stiffness,
                      p.damping, speed, -logged_press_value(&t, t.ticks - 1, FORCE), pressed);
        assert_true(speed < 1e-6);
        assert_true(fabs(logged_press_value(&t, t.ticks - 1, FORCE) + pressed) < 1e-4 * pressed);
        free(t.values);
    }
    static const struct press_scenario unstable_presses[] = {
        {{"weak", 0.1, 2.0, 100.0}, "%s", 8000, 40, NULL, 4, 0.05, "press.csv"},
        {{"weak", 0.1, 2.0, 100.0},
         "coupling: {%s}",
         2000,
         0,
         PRESS_LATE_FORCE_SETTING,
         4,
         0.05,
         "press.csv"}};
    for (int i = 0; i < 2; i++) {
        struct press_log t = simulate_coupled_press(&unstable_presses[i]);
        print_message("%s: %.1e m/s left\n", unstable_presses[i].drive,
                      rms_speed_of_last_500_ticks(&t));
        assert_true(rms_speed_of_last_500_ticks(&t) > 2e-3);
        free(t.values);
    }
}

/* The press of a weak hand that starts at rest 10 mm before the wall and goes 20 mm past it at
 * 0.1 m/s; with a force that is late it lasts longer, as it comes to rest slowly. peak: largest
 * force [N]; rest: depth at the end [mm]; a peak of 0: it rattles, by an rms speed over 2 mm/s.
 * given: the most that the port has generated [mJ]; 0: not compared. */
struct expected_press_row {
    const char *drive;
    double stiffness, damping, mass, peak, rest, given;
    const char *device;
};

/* Presses as a row says, and checks peak, depth and verdict. */
static void check_press_of_table_row(const struct expected_press_row *row)
{
    const struct press_scenario p = {pressing_hands[0], row->drive,  row->stiffness,
                                     row->damping,      row->device, row->device ? 8.0 : 5.5,
                                     row->mass,         "lead.csv"};
    struct press_log t = simulate_coupled_press(&p);
    double peak = 0.0;
    for (uint64_t k = 1500; k < t.ticks; k++) {
        peak = fmax(peak, -logged_press_value(&t, k, FORCE));
    }
    const double rest = 1e3 * (logged_press_value(&t, t.ticks - 1, X) - PRESS_WALL_POSITION);
    const double given = -1e3 * logged_press_value(&t, t.ticks - 1, LEAST);
    const double speed = rms_speed_of_last_500_ticks(&t);
    print_message("K %g, D %g, %g kg, %s%s: peak %.3f N of %.3f, %.3f mm deep of %.3f, gave %.3f "
                  "mJ of %.2f, %.2g mm/s left\n",
                  p.stiffness, p.damping, p.tool_mass, p.drive, p.device ? ", late" : "", peak,
                  row->peak, rest, row->rest, given, row->given, 1e3 * speed);
    if (row->peak == 0.0) {
        assert_true(speed > 2e-3);
    } else {
        assert_true(speed < 2e-3);
        assert_true(fabs(peak - row->peak) < 0.05 * row->peak);
        assert_true(fabs(rest - row->rest) < 0.05 * row->rest);
        assert_true(row->given == 0.0 || fabs(given - row->given) < 0.15 * row->given);
    }
    free(t.values);
}

/* The tables of a press, by simulations of one axis that share no code with tact (semi-implicit
 * Euler, 20 steps a tick; a coupling's tool as in test_session_coupling.c). Without damper, and
 * with a tool of 1 g, that is a wall which the device itself touches. The energy bound is lower
 * through a tool of 50 g, 3.02 N and not 3.2: the tool's own motion before it touches stores energy
 * in the coupling. */
static void press_peaks_are_those_of_an_independent_simulation(void **state)
{
    (void)state;
    static const struct expected_press_row rows[] = {
        {ground, 500, 10, 0.05, 2.24, 3.33, 0, NULL},
        {ground, 2000, 20, 0.05, 4.40, 0.952, 0, NULL},
        {ground, 8000, 40, 0.05, 0, 0, 0, NULL},
        {plain, 500, 10, 0.05, 1.83, 3.33, 0, NULL},
        {plain, 2000, 20, 0.05, 3.14, 0.952, 0, NULL},
        {plain, 8000, 40, 0.05, 6.87, 0.247, 0, NULL},
        {plain, 1000, 0, 1e-3, 2.50, 1.82, 0.18, NULL},
        {plain, 4000, 0, 1e-3, 4.49, 0.488, 2.5, NULL},
        {plain, 8000, 0, 1e-3, 0, 0, 0, NULL},
        {plain, 20000, 0, 1e-3, 0, 0, 0, NULL},
        {watched, 1000, 0, 1e-3, 2.44, 1.82, 0.04, NULL},
        {watched, 4000, 0, 1e-3, 4.15, 0.488, 0.16, NULL},
        {watched, 8000, 0, 1e-3, 5.96, 0.247, 0.33, NULL},
        {watched, 20000, 0, 1e-3, 9.73, 0.0995, 0.86, NULL},
        {watched, 100000, 0, 1e-3, 0, 0, 0, NULL},
        {hard, 500, 0, 1e-3, 1.864, 3.616, 0, NULL},
        {hard, 1000, 0, 1e-3, 2.07, 1.92, 0, NULL},
        {hard, 4000, 0, 1e-3, 3.17, 0.95, 0, NULL},
        {hard, 8000, 0, 1e-3, 3.19, 0.946, 0, NULL},
        {hard, 20000, 0, 1e-3, 3.2, 0.95, 0, NULL},
        {hard, 100000, 0, 1e-3, 3.2, 0.95, 0, NULL},
        {hard, 8000, 0, 0.05, 3.02, 0.905, 0, NULL},
        {plain, 8000, 0, 1e-3, 0, 0, 0, PRESS_LATE_FORCE_SETTING},
        {watched_late, 8000, 0, 1e-3, 6.887, 0.247, 0, PRESS_LATE_FORCE_SETTING},
        {watched_late, 20000, 0, 1e-3, 0, 0, 0, PRESS_LATE_FORCE_SETTING},
        {hard_late, 8000, 0, 1e-3, 2.195, 2.538, 0, PRESS_LATE_FORCE_SETTING},
        {hard_late, 100000, 0, 1e-3, 2.195, 2.538, 0, PRESS_LATE_FORCE_SETTING},
        {plain, 2000, 5, 0.05, 2.65, 0.952, 0, NULL},
        {plain, 2000, 2, 0.05, 3.08, 0.952, 0, PRESS_LATE_FORCE_SETTING},
        {plain, 2000, 20, 0.05, 3.42, 0.952, 0, PRESS_LATE_FORCE_SETTING},
        {plain, 2000, 80, 0.05, 10.0, 0.952, 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += is_quick_sanitizer_run() ? 4 : 1) {
        check_press_of_table_row(&rows[i]);
    }
}

/* Walls too stiff for the device, through a tool of 50 g, from the first contact on: a plain spring
 * rattles, as its port generates energy; the passivity controller and the energy bound keep it
 * quiet. The bound has the device's true damping, the controller more, as such a stiffness would be
 * refused otherwise. */
static void coupling_stays_passive_at_stiff_walls(void **state)
{
    (void)state;
    static const struct {
        const char *drive, *device;
        double stiffness;
    } rows[] = {{plain, NULL, 8e3},
                {watched, NULL, 8e3},
                {hard, NULL, 8e3},
                {plain, NULL, 2e4},
                {watched, NULL, 2e4},
                {hard, NULL, 2e4},
                {hard, NULL, 1e5},
                {known_late, PRESS_LATE_FORCE_SETTING, 8e3},
                {watched_late, PRESS_LATE_FORCE_SETTING, 8e3},
                {hard_late, PRESS_LATE_FORCE_SETTING, 8e3},
                {hard_late, PRESS_LATE_FORCE_SETTING, 1e5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct press_scenario p = {
            pressing_hands[0],          rows[i].drive,   rows[i].stiffness, 0.0, rows[i].device,
            rows[i].device ? 8.0 : 4.0, PRESS_TOOL_MASS, "press.csv"};
        struct press_log t = simulate_coupled_press(&p);
        const double speed = rms_speed_of_last_500_ticks(&t),
                     least = logged_press_value(&t, t.ticks - 1, LEAST);
        print_message("K %g, %s%s: %.2g mm/s left, least energy %.3f mJ\n", p.stiffness, p.drive,
                      p.device ? ", late" : "", speed * 1e3, least * 1e3);
        if (p.drive == plain || p.drive == known_late) {
            assert_true(speed > 0.02 && least < -1e-2);
        } else {
            assert_true(speed < 2e-3 && least > (p.device ? -4e-3 : -1.5e-3));
        }
        free(t.values);
    }
}

/* The energy of a port whose force acts late is that of the forces that act: of a whole tick, of
 * the one before; of a part of a tick, of both by their shares. Without the delay the same motion
 * seems to generate next to nothing. Forces under way are restored in a replay from any tick. */
static void port_energy_is_that_of_the_acting_delayed_force(void **state)
{
    (void)state;
    static const double force_delays_ticks[] = {0.5, 1.0, 1.25, 2.0, 3.0};
    for (size_t i = 0; i < sizeof force_delays_ticks / sizeof *force_delays_ticks; i++) {
        char drive[128], path[64];
        const int whole = (int)floor(force_delays_ticks[i]);
        const double part = force_delays_ticks[i] - whole;
        snprintf(drive, sizeof drive,
                 "coupling: {%%s, device: {mass: 1e-9, damping: 1e4, delay: %d.%02de-3}}", whole,
                 (int)(100.0 * part));
        const struct press_scenario p = {
            pressing_hands[0], drive,      8e3, 0.0, PRESS_LATE_FORCE_SETTING, 1.0,
            PRESS_TOOL_MASS,   "press.csv"};
        struct press_log t = simulate_coupled_press(&p);
        double energy = 0.0, at_once = 0.0, least = 0.0;
        for (uint64_t k = 1; k < t.ticks; k++) {
            const double moved = logged_press_value(&t, k, X) - logged_press_value(&t, k - 1, X);
            const uint64_t newer = k > (uint64_t)whole + 1 ? k - 1 - (uint64_t)whole : 0;
            const uint64_t older_tick = newer > 0 ? newer - 1 : 0;
            const double acting_force = (1.0 - part) * logged_press_value(&t, newer, FORCE) +
                                        part * logged_press_value(&t, older_tick, FORCE);
            energy -= acting_force * moved;
            at_once -= logged_press_value(&t, k - 1, FORCE) * moved;
            least = fmin(least, energy);
        }
        print_message("%.2f ticks: %.3f mJ, in the log %.3f; at the output %.3f\n",
                      force_delays_ticks[i], energy * 1e3,
                      logged_press_value(&t, t.ticks - 1, ENERGY) * 1e3, at_once * 1e3);
        assert_true(fabs(energy - logged_press_value(&t, t.ticks - 1, ENERGY)) < 1e-13);
        assert_true(fabs(least - logged_press_value(&t, t.ticks - 1, LEAST)) < 1e-13);
        assert_true(force_delays_ticks[i] < 1.0 || energy < 10.0 * fmin(at_once, -1e-4));
        free(t.values);
        snprintf(path, sizeof path, "%s/press.mcap", press_folder);
        check_replays_of_log(path, 1000, 333, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_coupled_hand_settles_at_the_wall),
        cmocka_unit_test(press_peaks_are_those_of_an_independent_simulation),
        cmocka_unit_test(coupling_stays_passive_at_stiff_walls),
        cmocka_unit_test(port_energy_is_that_of_the_acting_delayed_force),
    };
    return cmocka_run_group_tests(tests, make_press_folder, remove_press_folder);
}
