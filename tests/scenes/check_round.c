/* Checks of round bodies: balls that roll or spin, cylinders, the coin. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "simulation.h"
#include "scenes.h"

static const double G = 9.81, RADIUS = 0.05;

/* Mean acceleration [m/s^2] down the slope of 15 degrees between two times. */
static double mean_downhill_acceleration(const struct simulation *p, const char *name, double from,
                                         double to)
{
    const double *a = simulation_body_at(p, name, from)->twist,
                 *b = simulation_body_at(p, name, to)->twist;
    double c = cos(M_PI / 12), s = sin(M_PI / 12);
    return ((b[0] - a[0]) * c - (b[2] - a[2]) * s) / (to - from);
}

void check_sphere_slope_scene(void)
{
    struct simulation p;
    simulate_scene("sphere_slope", 1.2, &p);
    /* a cap of mean depth d / 2 = 2.25e-5 m has the radius sqrt(2 R d) */
    double patch = sqrt(2 * RADIUS * 4.5e-5), s = sin(M_PI / 12), c = cos(M_PI / 12);
    double rolls = 5.0 / 7 * G * (s - c * patch / RADIUS),
           got = mean_downhill_acceleration(&p, "rolling", 0.2, 1.1);
    print_message("    rolling: %.6f m/s^2, exact %.6f: off by %.3f %%\n", got, rolls,
                  100 * (got / rolls - 1));
    assert_true(fabs(got / rolls - 1) < 0.01);
    const struct body_state *end = simulation_body_at(&p, "rolling", -1);
    double slip = end->twist[4] * RADIUS / hypot(end->twist[0], end->twist[2]);
    print_message("    rolling: spin R / v = %.6f\n", slip);
    assert_true(fabs(slip - 1) < 0.01);
    got = mean_downhill_acceleration(&p, "sliding", 0.0, 1.1);
    double spin = tact_v3_norm(simulation_body_at(&p, "sliding", -1)->twist + 3);
    print_message("    sliding: %.9f m/s^2, exact %.9f; spin %.1e rad/s\n", got, G * s, spin);
    assert_true(fabs(got / (G * s) - 1) < 1e-6 && spin < 1e-9);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

/* Time at which the ball stops spinning about the vertical [s]. */
static double time_until_sliding_stops(const struct simulation *p, const char *name)
{
    int tick = 0;
    while (tick + 1 < p->ticks &&
           fabs(simulation_body_at(p, name, tick * p->period)->twist[5]) > 1e-6) {
        tick++;
    }
    return tick * p->period;
}

void check_spinning_sphere_scene(void)
{
    static const struct {
        const char *name;
        double depth; /* deepest point [m] */
    } ball[2] = {{"firm", 2e-4}, {"flabby", 8e-4}};
    struct simulation p;
    double stopped[2], worst = 0;
    simulate_scene("sphere_spinning", 1.5, &p);
    for (int i = 0; i < 2; i++) {
        /* mu N (2/3) a slows (2/5) m R^2 */
        double arm = 2.0 / 3 * sqrt(2 * RADIUS * ball[i].depth);
        double exact = 0.5 * G * arm / (0.4 * RADIUS * RADIUS);
        double a = simulation_body_at(&p, ball[i].name, 0.1)->twist[5];
        double b = simulation_body_at(&p, ball[i].name, 0.6)->twist[5], got = (a - b) / 0.5;
        stopped[i] = time_until_sliding_stops(&p, ball[i].name);
        print_message(
            "    %-6s slows by %.5f rad/s^2, exact %.5f: off by %.3f %%; rests at %.3f s, "
            "exact %.3f\n",
            ball[i].name, got, exact, 100 * (got / exact - 1), stopped[i], 20 / exact);
        worst = fmax(worst, fmax(fabs(got / exact - 1), fabs(stopped[i] / (20 / exact) - 1)));
    }
    assert_true(worst < 0.01);
    assert_true(largest_final_speed(&p) < 1e-9);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

void check_cylinder_scene(void)
{
    struct simulation p;
    simulate_scene("cylinder", 1.5, &p);
    /* every tick is solved, although the patches are 2 mm long and only 15 nm wide */
    assert_int_equal(p.report.unconverged, 0);
    static const char *const names[3] = {"rocks", "falls", "tumbles"};
    for (int i = 0; i < 3; i++) {
        double tilt = body_tilt_deg(simulation_body_at(&p, names[i], -1));
        print_message("    %-8s ends tilted by %.3f degrees\n", names[i], tilt);
        assert_true(fabs(tilt - (i ? 90 : 0)) < 0.2);
    }
    /* The rocking cylinder reaches the angle that its energy permits, short of the balance over
     * its edge. */
    double most = 0, balance = atan(0.03 / 0.06) * 180 / M_PI;
    for (int t = 0; t < p.ticks; t++) {
        most = fmax(most, body_tilt_deg(simulation_body_at(&p, "rocks", t * p.period)));
    }
    double arm = hypot(0.03, 0.06), lift = 0.81 * (arm - 0.06);
    double exact = balance - acos((0.06 + lift) / arm) * 180 / M_PI;
    print_message("    rocks: tilts by %.3f degrees at most, exact %.3f; balance at %.3f\n", most,
                  exact, balance);
    assert_true(fabs(most - exact) < 0.5);
    assert_true(largest_final_speed(&p) < 1e-9);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

void check_coin_scene(void)
{
    struct simulation p;
    simulate_scene("coin", 2, &p);
    double rolled_distance = 0, most = 0;
    for (int t = 1; t < p.ticks; t++) {
        const struct body_state *b = simulation_body_at(&p, "coin", t * p.period);
        rolled_distance += hypot(b->twist[0], b->twist[1]) * p.period;
        most = fmax(most, t > p.ticks / 4 ? 0 : body_tilt_deg(b));
    }
    double tilt = body_tilt_deg(simulation_body_at(&p, "coin", -1));
    tilt = fmin(tilt, 180 - tilt);
    print_message("    rolls %.3f m, ends %.4f degrees off flat, speed %.1e\n", rolled_distance,
                  tilt, largest_final_speed(&p));
    assert_true(rolled_distance > 0.1 && most > 60);
    assert_true(tilt < 0.1 && largest_final_speed(&p) < 1e-9);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}
