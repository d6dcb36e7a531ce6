/*
 * Presses at four phases of touch: the way that is left to the wall at the start of the tick of
 * touch is another share of that tick's motion in each. A wall by features is known before it is
 * touched. One by its overlap is known when the tool is in it, and pushes it out at a speed that
 * the coupling's damper feels: by the default of `dissipation` that changes the peaks, by a longer
 * one it does not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "contact/number.h"
#include "support/campaign.h"
#include "support/coupled_press.h"

enum { PHASES = 4, FIRST = 1500 }; /* FIRST: tick in which the hand has left its place of rest */

static const char volume[] = "model: volume", damped_volume[] = "model: volume, dissipation: 0.05";
#define TARGET_OVERLAP 2e-5      /* default target overlap [m] */
#define DEFAULT_DISSIPATION 5e-3 /* [s] */

/* A press of a weak hand, and its peak [N] by simulations of one axis that share no code with tact:
 * those of test_session_press.c. */
static const struct expected_peak_row {
    double stiffness, damping, mass, peak;
} rows[] = {{500, 10, 0.05, 1.83},
            {2000, 20, 0.05, 3.14},
            {8000, 40, 0.05, 6.87},
            {1000, 0, 1e-3, 2.50},
            {4000, 0, 1e-3, 4.49}};
enum { ROWS = sizeof rows / sizeof *rows };

/* Measured values of a press. */
struct measured_press {
    double peak;  /* largest force [N] */
    double depth; /* depth of the tool in the wall in the tick of touch [m] */
    double rest;  /* depth of the tool in the wall at the end [m] */
    double step;  /* largest rise of the force in a tick, over (h K + D) v */
    double speed; /* root mean square of the speed at the end [m/s] */
};

/* A press that touches `phase` of a tick later than one of phase 0. The speed v is that of the
 * device, measured: the fastest of the tick of touch, the one before and the one after. */
static void measure_wall_press(const struct expected_peak_row *row, const char *contact,
                               double phase, struct measured_press *out)
{
    const struct hand_press_scenario p = {
        pressing_hands[0], "coupling: {%s}", row->stiffness, row->damping, NULL, 4.5,
        row->mass,         "phase.csv"};
    char motion[128];
    tact_number_print(motion, sizeof motion,
                      "time,x\n0,0\n0.5,0.01\n%.6f,0.01\n%.6f,0.04\n9,0.04\n",
                      1.5 + phase * PRESS_TICK_PERIOD, 1.8 + phase * PRESS_TICK_PERIOD);
    assert_int_equal(write_hand_motion("phase.csv", motion), 0);
    struct press_log t = simulate_press_with_contact(&p, contact);
    uint64_t touch_tick = FIRST;
    while (touch_tick + 2 < t.ticks &&
           value_in_press_log(&t, touch_tick, TOOL) < PRESS_WALL_POSITION - 1e-8) {
        touch_tick++;
    }
    assert_true(touch_tick + 2 < t.ticks);
    double largest_touch_velocity = 0.0, largest_force_rise = 0.0;
    *out = (struct measured_press){.speed = rms_tool_speed_of_last_500_ticks(&t)};
    for (uint64_t k = touch_tick - 1; k <= touch_tick + 1; k++) {
        largest_touch_velocity = fmax(
            largest_touch_velocity,
            (value_in_press_log(&t, k, X) - value_in_press_log(&t, k - 1, X)) / PRESS_TICK_PERIOD);
    }
    for (uint64_t k = FIRST; k < t.ticks; k++) {
        out->peak = fmax(out->peak, -value_in_press_log(&t, k, FORCE));
        largest_force_rise = fmax(largest_force_rise, value_in_press_log(&t, k - 1, FORCE) -
                                                          value_in_press_log(&t, k, FORCE));
    }
    out->depth = value_in_press_log(&t, touch_tick, TOOL) - PRESS_WALL_POSITION;
    out->rest = value_in_press_log(&t, t.ticks - 1, TOOL) - PRESS_WALL_POSITION;
    out->step = largest_force_rise /
                ((PRESS_TICK_PERIOD * row->stiffness + row->damping) * largest_touch_velocity);
    free(t.values);
}

static void measure_and_print_press(const struct expected_peak_row *row, const char *contact,
                                    int phase, struct measured_press *out)
{
    measure_wall_press(row, contact, phase / (double)PHASES, out);
    print_message("%s, K %g, D %g, phase %d of %d: peak %.3f N of %.3f, step of %.3f (h K + D) v, "
                  "%.1f um deep in the tick of touch, %.1e mm/s left\n",
                  contact, row->stiffness, row->damping, phase, PHASES, out->peak, row->peak,
                  out->step, out->depth * 1e6, out->speed * 1e3);
}

/* Every phase of every row in .ci/long; else every third one, so that each phase and row is there.
 */
static int tested_phase_stride(void)
{
    return is_long_campaign() ? 1 : is_quick_sanitizer_run() ? 7 : 3;
}

/* A wall that is known before it is touched has its peaks, and no step of force over (h K + D) v.
 */
static void wall_by_features_is_felt_alike_at_every_phase(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS * PHASES; i += tested_phase_stride()) {
        const struct expected_peak_row *row = &rows[i / PHASES];
        struct measured_press m;
        measure_and_print_press(row, PRESS_CONTACT_BY_FEATURES, i % PHASES, &m);
        assert_true(fabs(m.peak / row->peak - 1.0) < 0.02);
        assert_true(m.step <= 1.0 && m.depth < 1e-8 && m.speed < 2e-3);
    }
}

/* With a dissipation of 0.05 s the peaks of the default model are those too, within the 5 % of the
 * other presses, and so are the steps; the tool rests at the overlap of the contact. */
static void damped_wall_by_overlap_is_felt_alike_at_every_phase(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS * PHASES; i += tested_phase_stride()) {
        const struct expected_peak_row *row = &rows[i / PHASES];
        struct measured_press m;
        measure_and_print_press(row, damped_volume, i % PHASES, &m);
        assert_true(fabs(m.peak / row->peak - 1.0) < 0.05);
        assert_true(m.step < 1.05 && m.speed < 2e-3);
        assert_true(fabs(m.rest - TARGET_OVERLAP) < 1e-7);
    }
}

/* By default the wall pushes the tool out of the depth d of its touch within 6 ticks, at
 * (d - overlap) / (h + dissipation): a damper D feels that much more, where its peak is at touch.
 */
static void wall_by_overlap_adds_the_damper_of_its_push_to_the_peak(void **state)
{
    (void)state;
    for (int i = PHASES; i < 3 * PHASES; i += is_quick_sanitizer_run() ? 3 : 1) {
        const struct expected_peak_row *row = &rows[i / PHASES];
        struct measured_press m;
        measure_and_print_press(row, volume, i % PHASES, &m);
        const double push =
            fmax(0.0, m.depth - TARGET_OVERLAP) / (PRESS_TICK_PERIOD + DEFAULT_DISSIPATION);
        print_message("pushed out at %.1f mm/s: %.3f N expected\n", push * 1e3,
                      row->peak + row->damping * push);
        assert_true(fabs(m.peak / (row->peak + row->damping * push) - 1.0) < 0.05);
        assert_true(m.peak < 1.16 * row->peak && m.step < 1.1 && m.speed < 2e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wall_by_features_is_felt_alike_at_every_phase),
        cmocka_unit_test(damped_wall_by_overlap_is_felt_alike_at_every_phase),
        cmocka_unit_test(wall_by_overlap_adds_the_damper_of_its_push_to_the_peak),
    };
    return cmocka_run_group_tests(tests, make_press_folder, remove_press_folder);
}
