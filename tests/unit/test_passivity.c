/*
 * Passivity of a sampled port: the energy bound's invariant for any requested force and any motion,
 * the controller's dissipation, the stiffest passive wall against Colgate and Schenkel's
 * condition evaluated over frequency, and the largest damping against a free axis.
 */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "rt/low_pass_internal.h"
#include "rt/passivity.h"
#include "rt/passivity_internal.h"
#include "support/random.h"

enum { TICKS = 1000000 };

static const double period = 1e-3, pi = 3.14159265358979323846;

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* What the port has absorbed and the device's damping dissipated, less the storage |F|^2 / 2c,
 * never falls; the force requested is random, or works with the motion. With a delay that is the
 * energy of the force as it is requested. */
static void port_with_passivity_bound_generates_no_energy(void **state)
{
    (void)state;
    static const int axis_counts[] = {1, 3, 6};
    for (int s = 0; s < 3; s++) {
        const int n = axis_counts[s];
        double last[6] = {0.0}, margin = 0.0, least = 0.0;
        int limited_tick_count = 0;
        for (int k = 0; k < TICKS; k++) {
            const double b = 1.0, delay = (k / 1000 % 3) * period, c = b / (0.5 * period + delay);
            double moved[6], force[6], before = margin;
            if (k % 1000 == 0) { /* another device */
                memset(last, 0, sizeof last);
            }
            for (int i = 0; i < n; i++) {
                moved[i] = 1e-4 * uniform(-1.0, 1.0);
                force[i] = k % 3 ? 10.0 * uniform(-1.0, 1.0) : 1e5 * moved[i];
            }
            const double taken = -dot(last, moved, n) + b / period * dot(moved, moved, n);
            const double storable_energy = dot(last, last, n) / (2.0 * c);
            const double factor = tact_passivity_bound(force, last, moved, n, c);
            limited_tick_count += factor < 1.0;
            assert_true(factor >= 0.0 && factor <= 1.0);
            margin = taken + storable_energy - dot(force, force, n) / (2.0 * c);
            least = fmin(least, margin);
            assert_true(isfinite(before + margin));
            memcpy(last, force, sizeof force);
        }
        print_message("%d components: least margin %.1e J, limited in %d of %d ticks\n", n, least,
                      limited_tick_count, TICKS);
        assert_true(least > -1e-15 && limited_tick_count > TICKS / 4);
    }
}

/* The port's energy invariant for axes with dampings and delays of their own, whose storage is the
 * sum over the axes; and the bound of the least of them is never above this one. */
static void passivity_bounds_of_axes_generate_no_energy(void **state)
{
    (void)state;
    const double b[3] = {0.5, 1.0, 4.0}, delay[3] = {period, 0.0, 2.0 * period};
    double c[3], last[3] = {0.0}, least = 0.0;
    int limited_tick_count = 0;
    for (int i = 0; i < 3; i++) {
        c[i] = b[i] / (0.5 * period + delay[i]);
    }
    for (int k = 0; k < 100000; k++) {
        double moved[3], force[3], margin = 0.0;
        for (int i = 0; i < 3; i++) {
            moved[i] = 1e-4 * uniform(-1.0, 1.0);
            force[i] = k % 3 ? 10.0 * uniform(-1.0, 1.0) : 1e5 * moved[i];
        }
        limited_tick_count += tact_passivity_bound_axes(force, last, moved, 3, c) < 1.0;
        for (int i = 0; i < 3; i++) {
            margin += -last[i] * moved[i] + b[i] / period * moved[i] * moved[i] +
                      (last[i] * last[i] - force[i] * force[i]) / (2.0 * c[i]);
        }
        least = fmin(least, margin);
        memcpy(last, force, sizeof force);
    }
    print_message("axes of their own: least margin %.1e J, limited in %d ticks\n", least,
                  limited_tick_count);
    assert_true(least > -1e-15 && limited_tick_count > 30000);
    /* A wall along the third axis alone is as stiff as that axis allows. */
    double wall[3] = {0.0, 0.0, -1.0};
    const double none[3] = {0.0}, pressed[3] = {0.0, 0.0, 1e-3};
    tact_passivity_bound_axes(wall, none, pressed, 3, c);
    assert_true(wall[2] == -1.0 && c[2] * 1e-3 > 1.0 && c[0] * 1e-3 < 1.0);
}

/* A force within the bound is unchanged, bit for bit; without motion the force may not grow. */
static void passivity_bound_cuts_only_excess_force(void **state)
{
    (void)state;
    double force[3] = {1.0, -2.0, 0.5};
    const double last[3] = {1.0, -2.0, 0.5}, zero_device_rates[3] = {0.0},
                 pressed[3] = {-1e-3, 0.0, 0.0};
    assert_true(tact_passivity_bound(force, last, zero_device_rates, 3, 1000.0) == 1.0);
    assert_memory_equal(force, last, sizeof last);
    double larger_force[3] = {2.0, -4.0, 1.0};
    assert_true(fabs(tact_passivity_bound(larger_force, last, zero_device_rates, 3, 1000.0) - 0.5) <
                1e-15);
    assert_memory_equal(larger_force, last, sizeof last);
    double force_vector_before_bound[3] = {2.0, -2.0, 0.5};
    assert_true(tact_passivity_bound(force_vector_before_bound, last, pressed, 3, 1000.0) == 1.0);
}

/* The damper dissipates what was generated within the next tick, but no faster than it may. */
static void passivity_damper_dissipates_the_energy_debt(void **state)
{
    (void)state;
    const double rate[2] = {0.03, -0.04}, most = 10.0;
    double force[2] = {1.0, 1.0};
    assert_true(tact_passivity_damp(force, rate, 2, 1e-6, period, most) == 0.0);
    assert_true(force[0] == 1.0 && force[1] == 1.0);
    const double energy_debt = 1e-6,
                 damping = tact_passivity_damp(force, rate, 2, -energy_debt, period, most);
    const double added_damping_force[2] = {force[0] - 1.0, force[1] - 1.0};
    assert_true(fabs(-dot(added_damping_force, rate, 2) * period - energy_debt) < 1e-18);
    assert_true(damping < most);
    assert_true(tact_passivity_damp(force, rate, 2, -1.0, period, most) == most);
    const double zero_device_rates[2] = {0.0, 0.0};
    assert_true(tact_passivity_damp(force, zero_device_rates, 2, -1.0, period, most) == 0.0);
}

/* Damping that makes the wall H passive: sup over w of (T/2) / (1 - cos wT) Re{(1 - exp(-j w T))
 * H(w)}, H = K + B (1 - 1/z) / T, `delay` ticks late, behind a low-pass with this weight of a new
 * value. */
static double damping_for_passive_filtered_wall(double stiffness, double damping, int delay,
                                                double weight)
{
    double most = -INFINITY;
    for (int i = 1; i <= 20000; i++) {
        const double wt = pi * i / 20000.0;
        const double complex back = cexp(-I * wt);
        const double complex wall = (stiffness + damping * (1.0 - back) / period) *
                                    cexp(-I * wt * delay) * weight / (1.0 - (1.0 - weight) * back);
        most = fmax(most, 0.5 * period / (1.0 - cos(wt)) * creal((1.0 - back) * wall));
    }
    return most;
}

static double damping_for_passive_wall(double stiffness, double damping, int delay)
{
    return damping_for_passive_filtered_wall(stiffness, damping, delay, 1.0);
}

/* Damping needed by a coupling, implicit, with a tool of some mass that touches nothing: of (M (1 -
 * 1/z) + T D + T^2 K / (1 - 1/z)) U = (T K + D (1 - 1/z)) X, the force is M (1 - 1/z) U / T. */
static double damping_for_passive_coupling(double stiffness, double damping, double mass)
{
    double most = -INFINITY;
    for (int i = 1; i <= 20000; i++) {
        const double wt = pi * i / 20000.0;
        const double complex change = 1.0 - cexp(-I * wt);
        const double complex rate =
            (period * stiffness + damping * change) /
            (mass * change + period * damping + period * period * stiffness / change);
        most = fmax(most,
                    0.5 * period / (1.0 - cos(wt)) * creal(change * mass * change * rate / period));
    }
    return most;
}

/* A coupling needs K T / 2 + D where its tool is blocked, as a wall of its stiffness and damping,
 * and less where the tool is free. */
static void coupling_needs_no_more_damping_than_its_wall(void **state)
{
    (void)state;
    const double needed_damping_with_blocked_tool = damping_for_passive_wall(1000.0, 2.0, 0);
    const double needed_damping_with_free_tool = damping_for_passive_coupling(1000.0, 2.0, 0.01);
    print_message("K 1000, D 2: needs %.3f blocked, %.3f with a free tool of 10 g\n",
                  needed_damping_with_blocked_tool, needed_damping_with_free_tool);
    assert_true(fabs(needed_damping_with_blocked_tool - 2.5) < 1e-6 &&
                fabs(needed_damping_with_free_tool - 2.22) < 5e-3);
    assert_true(fabs(damping_for_passive_coupling(1000.0, 2.0, 1e9) -
                     needed_damping_with_blocked_tool) < 1e-3);
    for (int i = 0; i < 60; i++) {
        const double k = pow(10.0, uniform(1.0, 5.0)), d = pow(10.0, uniform(-2.0, 2.0)),
                     m = pow(10.0, uniform(-4.0, 1.0));
        assert_true(damping_for_passive_coupling(k, d, m) <= (0.5 * period * k + d) * (1.0 + 1e-9));
    }
}

/* The refusal of a stiffness is the condition of a wall without damping; the rows with one check
 * the formula, which test_session_passivity.c measures at the port of a session. */
static void stiffest_passive_wall_is_that_of_colgate(void **state)
{
    (void)state;
    assert_true(fabs(damping_for_passive_wall(1000.0, 0.0, 0) - 0.5) < 1e-6);
    assert_true(fabs(damping_for_passive_wall(1000.0, 0.3, 0) - 0.8) < 1e-6);
    assert_true(fabs(damping_for_passive_wall(1000.0, 0.0, 1) - 1.5) < 1e-6);
    assert_true(fabs(damping_for_passive_wall(1000.0, 0.3, 1) - 1.217) < 5e-4);
    for (int delay = 0; delay < 3; delay++) {
        const double needed = damping_for_passive_wall(1000.0, 0.0, delay);
        const double largest_passive_stiffness =
            tact_passivity_stiffest(needed, delay * period, 0.0, 0.0, period);
        print_message("%d ticks late: K 1000 needs b %.4f, which allows %.3f\n", delay, needed,
                      largest_passive_stiffness);
        assert_true(fabs(largest_passive_stiffness - 1000.0) < 0.01);
    }
    /* Stiffest passive wall of Abbott and Okamura: sensor steps of 30 um, dry friction of 5 mN. */
    assert_true(fabs(tact_passivity_stiffest(1.0, 0.0, 5e-3, 30e-6, period) - 1e3 / 3.0) < 1e-9);
}

/* A low-pass of the force lowers the stiffest passive wall by its mean delay, exactly, at every
 * delay of the device: less than 1 / (2 pi f), by about half a tick. With a filter a wall with a
 * damper too is passive where the sum of both conditions is met. */
static void filter_of_the_force_counts_as_its_mean_delay(void **state)
{
    (void)state;
    static const double filter_cutoffs_hz[] = {300.0, 100.0, 30.0, 10.0},
                        filter_delays_ms[] = {0.1790, 1.1436, 4.8209, 15.4207};
    assert_true(tact_passivity_filter_delay(0.0, period) == 0.0);
    assert_true(tact_low_pass_weight(0.0, period) == 1.0);
    for (int i = 0; i < 4; i++) {
        const double weight = tact_low_pass_weight(filter_cutoffs_hz[i], period),
                     filter_delay = tact_passivity_filter_delay(filter_cutoffs_hz[i], period);
        assert_true(fabs(filter_delay - period * (1.0 - weight) / weight) < 1e-15);
        assert_true(fabs(1e3 * filter_delay - filter_delays_ms[i]) < 1e-4);
        assert_true(filter_delay < 1.0 / (2.0 * pi * filter_cutoffs_hz[i]) &&
                    filter_delay > 1.0 / (2.0 * pi * filter_cutoffs_hz[i]) - 0.5 * period);
        for (int delay = 0; delay < 3; delay++) {
            const double needed = damping_for_passive_filtered_wall(1000.0, 0.0, delay, weight);
            const double largest_passive_stiffness =
                tact_passivity_stiffest(needed, delay * period + filter_delay, 0.0, 0.0, period);
            print_message("filter of %g Hz, %d ticks late: K 1000 needs b %.4f, which allows %.3f "
                          "by the mean delay of %.4f ms\n",
                          filter_cutoffs_hz[i], delay, needed, largest_passive_stiffness,
                          1e3 * filter_delay);
            assert_true(fabs(largest_passive_stiffness - 1000.0) < 0.05);
            assert_true(damping_for_passive_filtered_wall(1000.0, 3.0, delay, weight) <=
                        needed + 3.0);
        }
    }
}

/* 1 if the free axis (mass m, damping b) at a wall of given stiffness and damping comes to rest.
 * rate_weight, force_weight: of a new value in the filters of rate and force. */
static int free_axis_comes_to_rest(double m, double b, double stiffness, double damping, int delay,
                                   double rate_weight, double force_weight)
{
    const double velocity_decay_factor = exp(-b * period / m),
                 gain = (1.0 - velocity_decay_factor) / b;
    double x = 1e-3, before = x, v = 0.0, rate = 0.0, filtered = 0.0, force_history[3] = {0.0},
           early = 0.0, late = 0.0;
    for (int k = 0; k < 20000; k++) {
        rate += rate_weight * ((x - before) / period - rate);
        filtered += force_weight * (-stiffness * x - damping * rate - filtered);
        force_history[k % 3] = filtered;
        const double force = k < delay ? 0.0 : force_history[(k - delay) % 3];
        before = x;
        x += m * gain * v + (period - m * gain) / b * force;
        v = velocity_decay_factor * v + gain * force;
        early = k >= 2000 && k < 8000 ? fmax(early, fabs(x - before)) : early;
        late = k >= 14000 ? fmax(late, fabs(x - before)) : late;
    }
    return late <= early; /* false for NAN */
}

/* Fails unless a free axis rests at 0.94 times the largest damping, and oscillates at 1.06 times.
 */
static void check_largest_damping(const struct tact_passivity_loop *p)
{
    const double most = tact_passivity_max_damping(p);
    const int delay = (int)(p->delay / period + 0.5);
    const int does_axis_rest_below_limit =
                  free_axis_comes_to_rest(p->mass, p->damping, p->stiffness, 0.94 * most, delay,
                                          p->rate_filter_weight, p->force_filter_weight),
              does_axis_rest_above_limit =
                  free_axis_comes_to_rest(p->mass, p->damping, p->stiffness, 1.06 * most, delay,
                                          p->rate_filter_weight, p->force_filter_weight);
    if (!does_axis_rest_below_limit || does_axis_rest_above_limit) {
        fail_msg("m %g, b %g, K %g, %d ticks late, weights %g and %g: limit %g, at 0.94 of it %s, "
                 "at 1.06 %s",
                 p->mass, p->damping, p->stiffness, delay, p->rate_filter_weight,
                 p->force_filter_weight, most, does_axis_rest_below_limit ? "rests" : "oscillates",
                 does_axis_rest_above_limit ? "rests" : "oscillates");
    }
}

/* The most damping of a wall is that at which the free device just comes to rest, at delays,
 * filters and stiffnesses up to the stiffest passive one. */
static void largest_damping_is_that_of_a_free_device(void **state)
{
    (void)state;
    static const double expected[] = {2.0, 0.828427, 0.535898}, slow[] = {2.0, 0.666667, 0.4};
    for (int delay = 0; delay < 3; delay++) {
        struct tact_passivity_loop p = {.mass = 0.1,
                                        .delay = delay * period,
                                        .rate_filter_weight = 1.0,
                                        .force_filter_weight = 1.0,
                                        .period = period};
        assert_true(fabs(tact_passivity_max_damping(&p) * period / 0.1 - expected[delay]) < 1e-6);
        p.force_filter_weight = tact_low_pass_weight(1e-3, period);
        assert_true(fabs(tact_passivity_max_damping(&p) * period / 0.1 - slow[delay]) < 1e-4);
        for (int i = 0; i < 40; i++) {
            const int has_rate_filter = i % 2, has_force_filter = i / 2 % 2;
            const double cutoff = has_force_filter ? pow(10.0, uniform(0.7, 2.6)) : 0.0;
            p.mass = pow(10.0, uniform(-2.0, 0.0));
            p.damping = p.mass * uniform(0.1, has_force_filter ? 1.0 : 10.0);
            p.rate_filter_weight =
                tact_low_pass_weight(has_rate_filter ? uniform(50.0, 400.0) : 0.0, period);
            p.force_filter_weight = tact_low_pass_weight(cutoff, period);
            p.stiffness = uniform(0.0, 1.0) *
                          tact_passivity_stiffest(
                              p.damping, p.delay + tact_passivity_filter_delay(cutoff, period), 0.0,
                              0.0, period);
            check_largest_damping(&p);
        }
    }
}

/* A damper whose rate is filtered is a spring too: beside a stiff wall, at a device of much
 * damping, less of it makes the device oscillate than without the wall. */
static void stiffness_lowers_the_largest_damping_of_a_filtered_rate(void **state)
{
    (void)state;
    static const double filter_cutoffs_hz[] = {10.0, 20.0, 50.0};
    for (int i = 0; i < 9; i++) {
        struct tact_passivity_loop p = {.mass = 0.1,
                                        .damping = 3.0,
                                        .delay = i % 3 * period,
                                        .rate_filter_weight =
                                            tact_low_pass_weight(filter_cutoffs_hz[i / 3], period),
                                        .force_filter_weight = 1.0,
                                        .period = period};
        const double without = tact_passivity_max_damping(&p);
        p.stiffness = tact_passivity_stiffest(p.damping, p.delay, 0.0, 0.0, period);
        const double beside = tact_passivity_max_damping(&p);
        print_message("rate filtered at %g Hz, %d ticks late: at most %.2f N s/m, and %.2f beside "
                      "%.0f N/m\n",
                      filter_cutoffs_hz[i / 3], i % 3, without, beside, p.stiffness);
        assert_true(beside < 0.96 * without);
        check_largest_damping(&p);
        p.stiffness *= 10.0; /* which is refused: the damping is that of the stiffest wall */
        assert_true(tact_passivity_max_damping(&p) == beside);
        p.damping = 1e-12; /* a device without damping renders no stiffness that could matter */
        assert_true(tact_passivity_max_damping(&p) == without);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_with_passivity_bound_generates_no_energy),
        cmocka_unit_test(passivity_bounds_of_axes_generate_no_energy),
        cmocka_unit_test(passivity_bound_cuts_only_excess_force),
        cmocka_unit_test(passivity_damper_dissipates_the_energy_debt),
        cmocka_unit_test(stiffest_passive_wall_is_that_of_colgate),
        cmocka_unit_test(filter_of_the_force_counts_as_its_mean_delay),
        cmocka_unit_test(coupling_needs_no_more_damping_than_its_wall),
        cmocka_unit_test(largest_damping_is_that_of_a_free_device),
        cmocka_unit_test(stiffness_lowers_the_largest_damping_of_a_filtered_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
