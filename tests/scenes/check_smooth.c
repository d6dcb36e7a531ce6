/* Bodies on their smooth surfaces: rattlebacks, a bangle, tippe tops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "simulation.h"
#include "scenes.h"
#include "tests/unit/support/rolling_body.h"

/* Solves the equations of motion of the rattleback from the given initial state for 10 s. Returns
 * its final angular velocity about the vertical [rad/s]; *reversal: time at which that first
 * changes sign [s], 0 if never. */
static double exact_spin(const struct body_state *start, double *reversal)
{
    static const double size[3] = {0.11, 0.022, 0.018};
    struct rolling_body b = {.mass = 0.25,
                             .inertia = {3.0e-5, 0.0, 0.0, 0.0, 60e-5, 0.0, 0.0, 0.0, 62e-5},
                             .center = {0.0, 0.0, 0.004},
                             .gravity = 9.81};
    const double h = 2e-4, w[3] = {0.0, 0.0, start->twist[5] > 0.0 ? 4.0 : -4.0};
    const double q[4] = {0.999980961532, 0.004363267749, 0.004363267749, -0.000019038468};
    double last = w[2], turns[3] = {0.0, 0.0, 0.0};
    rolling_form(&b, size, M_PI / 180);
    rolling_start(&b, q, w);
    *reversal = 0.0;
    for (int i = 1; i <= 50000; i++) {
        rolling_step(&b, h);
        tact_quat_rotate(turns, b.y, b.y + 4);
        if (!(*reversal > 0.0) && turns[2] * last < 0.0) {
            *reversal = h * (i - turns[2] / (turns[2] - last));
        }
        last = turns[2];
    }
    return last;
}

/* Time at which a body's angular velocity about the vertical first changes sign [s]; 0: never. */
static double reversal_time(const struct simulation *p, const char *name)
{
    double last = simulation_body_at(p, name, 0.0)->twist[5];
    for (int i = 1; i < p->ticks; i++) {
        double now = simulation_body_at(p, name, i * p->period)->twist[5];
        if (now * last < 0.0) {
            return p->period * (i + 1 - now / (now - last));
        }
        last = now;
    }
    return 0.0;
}

void check_rattleback(void)
{
    static const char *const names[2] = {"reverses", "goes_on"};
    struct simulation p;
    simulate("rattleback", 10.0, &p);
    for (int i = 0; i < 2; i++) {
        double exact, spin = exact_spin(simulation_body_at(&p, names[i], 0.0), &exact);
        double got = reversal_time(&p, names[i]),
               end = simulation_body_at(&p, names[i], -1)->twist[5];
        print_message(
            "    %-8s reverses at %.4f s, exact %.4f; at the end %.4f rad/s, exact %.4f\n",
            names[i], got, exact, end, spin);
        assert_true(fabs(got - exact) <= 1e-3 * exact && fabs(end / spin - 1) < 0.01);
    }
    simulation_free(&p);
}

void check_bangle(void)
{
    const double ring = 0.03, tube = 0.004, s = 0.5, mass = 0.1;
    const double across = mass * (0.5 * ring * ring + 0.625 * tube * tube);
    const double axial = mass * (ring * ring + 0.75 * tube * tube);
    double exact = sqrt(mass * 9.81 * ring * (ring + tube * s) /
                        (s * (across * ring - (axial - across) * tube * s)));
    double angle = 0.0, last = 0.0, moved = 0.0, turn[9];
    struct simulation p;
    simulate("bangle", 2.0, &p);
    for (int i = 0; i < p.ticks; i++) {
        const struct body_state *b = simulation_body_at(&p, "bangle", i * p.period);
        tact_quat_to_m3(turn, b->quat_wxyz);
        double now = atan2(turn[5], turn[2]);
        angle += remainder(now - last, 2 * M_PI);
        moved = fmax(moved, hypot(b->position[0], b->position[1]));
        last = now;
    }
    double rate = angle / (p.ticks * p.period);
    print_message(
        "    goes round at %.4f rad/s, exact %.4f; tilt at the end %.2f degrees; its middle "
        "moves by up to %.2f mm\n",
        rate, exact, body_tilt_deg(simulation_body_at(&p, "bangle", -1)), 1e3 * moved);
    assert_true(fabs(rate / exact - 1) < 1e-3 && moved < 1.5e-3);
    assert_true(fabs(body_tilt_deg(simulation_body_at(&p, "bangle", -1)) - 30.0) < 1.0);
    simulation_free(&p);
}

void check_tippe_top(void)
{
    struct simulation p;
    double level = 0.0;
    simulate("tippe_top", 1.5, &p);
    for (int i = 0; i < p.ticks && !(level > 0.0); i++) {
        level = body_tilt_deg(simulation_body_at(&p, "turns_over", i * p.period)) > 90
                    ? i * p.period
                    : 0.0;
    }
    double end = body_tilt_deg(simulation_body_at(&p, "turns_over", -1));
    double other = body_tilt_deg(simulation_body_at(&p, "stays", -1));
    print_message("    level after %.3f s, at the end at %.0f degrees; the other at %.1f degrees\n",
                  level, end, other);
    assert_true(fabs(level / 1.021 - 1) < 0.02 && end > 140 && other < 6);
    simulation_free(&p);
}
