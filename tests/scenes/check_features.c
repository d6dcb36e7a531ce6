/* Contact by convex features: a box on its corner, a press, edges that cross, pegs in their holes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/vec.h"
#include "simulation.h"
#include "scenes.h"

#define G 9.81

/* The lowest corner of a box, relative to its centre of mass. */
static void find_lowest_corner(const struct body_state *body, const double size[3], double arm[3])
{
    double turn[9], corner[3];
    tact_quat_to_m3(turn, body->quat_wxyz);
    for (int k = 0; k < 3; k++) {
        corner[k] = turn[6 + k] > 0.0 ? -0.5 * size[k] : 0.5 * size[k];
    }
    tact_m3_mul_v3(arm, turn, corner);
}

/* Twist after the corner at `arm` of a box without friction has hit a plane and stays on it: the
 * impulse along the vertical that stops the corner. */
static void exact_twist_after_impact(const struct body_state *body, double mass,
                                     const double size[3], const double arm[3], double twist[6])
{
    static const double up[3] = {0.0, 0.0, 1.0};
    double turn[9], lever[3], local[3], spin[3], speed[3];
    tact_quat_to_m3(turn, body->quat_wxyz);
    tact_v3_cross(lever, arm, up);
    tact_m3_tmul_v3(local, turn, lever);
    for (int k = 0; k < 3; k++) {
        double a = size[(k + 1) % 3], b = size[(k + 2) % 3];
        local[k] /= mass * (a * a + b * b) / 12.0;
    }
    tact_m3_mul_v3(spin, turn, local);
    tact_v3_cross(speed, twist + 3, arm);
    double impulse = -(twist[2] + speed[2]) / (1.0 / mass + tact_v3_dot(lever, spin));
    twist[2] += impulse / mass;
    tact_v3_axpy(twist + 3, impulse, spin);
}

/* Relative difference of the twist of the frictionless box after the impact from that of one
 * impulse in the pose of touch: of the spin, plus that of the speed over the speed of the approach.
 * The gap closes in one tick and the corner stops in the next, in the pose that the first leaves:
 * the difference is up to the angle by which the box turns in a tick. */
static double impact_twist_error(const struct simulation *p, double mass, const double size[3])
{
    double arm[3], twist[6], apart[3];
    int tick = 0;
    const struct body_state *body, *before;
    do {
        body = simulation_body_at(p, "smooth", ++tick * p->period);
        find_lowest_corner(body, size, arm);
    } while (body->position[2] + arm[2] > 1e-5);
    before = simulation_body_at(p, "smooth", (tick - 1) * p->period);
    memcpy(twist, before->twist, sizeof twist);
    twist[2] -= 2.0 * G * p->period;
    const double approach_speed_at_start = fabs(twist[2]);
    find_lowest_corner(before, size, arm);
    exact_twist_after_impact(before, mass, size, arm, twist);
    const double *got = simulation_body_at(p, "smooth", (tick + 1) * p->period)->twist;
    tact_v3_sub(apart, got + 3, twist + 3);
    const double off = tact_v3_norm(apart) / tact_v3_norm(twist + 3) +
                       fabs(got[2] - twist[2]) / approach_speed_at_start;
    print_message(
        "    h %g ms: turns at %.3f %.3f %.3f rad/s after the impact, by one impulse %.3f "
        "%.3f %.3f; off by %.2f %%\n",
        1e3 * p->period, got[3], got[4], got[5], twist[3], twist[4], twist[5], 100.0 * off);
    return off;
}

void check_corner_scene(void)
{
    static const double size[3] = {0.06, 0.05, 0.04};
    static const char *const names[2] = {"smooth", "rough"};
    struct simulation p;
    simulate_scene("corner", 1.5, &p);
    for (int i = 0; i < 2; i++) {
        double deepest = 0.0, arm[3], end = simulation_body_at(&p, names[i], -1)->position[2];
        for (int t = 0; t < p.ticks; t++) {
            const struct body_state *body = simulation_body_at(&p, names[i], t * p.period);
            find_lowest_corner(body, size, arm);
            deepest = fmin(deepest, body->position[2] + arm[2]);
        }
        print_message("    %s: lowest corner ever %.1e m, at the end on its face to %.1e m\n",
                      names[i], deepest, end - 0.02);
        assert_true(deepest > -1e-12 && fabs(end - 0.02) < 1e-12);
    }
    assert_true(impact_twist_error(&p, 0.24, size) < 0.02);
    assert_true(fabs(p.force[p.ticks - 1] / (p.mass * G) - 1.0) < 1e-9);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
    for (int i = 1; i < 3; i++) {
        simulate_scene_with_yaml_appended("corner", 0.3,
                                          i == 1 ? "period: 0.00025" : "period: 0.0000625", &p);
        assert_true(impact_twist_error(&p, 0.24, size) < 45.0 * p.period);
        simulation_free(&p);
    }
}

void check_pressed_scene(void)
{
    struct simulation p;
    double deepest = 0.0;
    simulate_scene("pressed", 0.3, &p);
    for (int t = 0; t < p.ticks; t++) {
        double z = simulation_body_at(&p, "block_features", t * p.period)->position[2] - 0.01;
        deepest = fmin(deepest, z);
    }
    /* The press on the block, and the block on the plate; the other block was pushed away. */
    double force = p.force[p.ticks - 1], exact = 500.0 + 500.0 + 0.06 * G;
    double other = simulation_body_at(&p, "block_volume", 0.11)->position[2];
    print_message("    by features: deepest %.1e m, presses with %.9f N of %.9f; by volume %.3f m "
                  "after 0.11 s\n",
                  deepest, force, exact, other);
    assert_true(deepest > -2e-11 && fabs(force / exact - 1.0) < 1e-9);
    assert_true(other < -0.02);
    simulation_free(&p);
}

/* Period of a pendulum that swings out by `angle`: by the arithmetic-geometric mean. */
static double pendulum_period(double inertia, double stiffness, double angle)
{
    double a = 1.0, b = cos(0.5 * angle);
    for (int i = 0; i < 8; i++) {
        double next = 0.5 * (a + b);
        b = sqrt(a * b);
        a = next;
    }
    return 2.0 * M_PI * sqrt(inertia / stiffness) / a;
}

/* Mean period of an angle from its passages through 0. */
static double mean_oscillation_period_of_angle(const double *angle, int ticks, double period)
{
    double first = 0.0, last = 0.0;
    int count = 0;
    for (int t = 1; t < ticks; t++) {
        if ((angle[t] < 0.0) != (angle[t - 1] < 0.0)) {
            last = (t - 1 + angle[t - 1] / (angle[t - 1] - angle[t])) * period;
            first = count++ ? first : last;
        }
    }
    assert_true(count > 3);
    return 2.0 * (last - first) / (count - 1);
}

void check_balances_scene(void)
{
    static const char *const names[2] = {"along", "across"};
    static const double inertia[2] = {8.0e-4, 2.0e-4}, mass = 0.5, centre_below_pivot = 0.03;
    static double angle[4000];
    struct simulation p;
    simulate_scene("balances", 4.0, &p);
    assert_int_equal(p.ticks, 4000);
    for (int i = 0; i < 2; i++) {
        double deepest = 0.0, moved = 0.0;
        for (int t = 0; t < p.ticks; t++) {
            const struct body_state *body = simulation_body_at(&p, names[i], t * p.period);
            const double low[3] = {0.0, 0.0, centre_below_pivot}, *q = body->quat_wxyz;
            double pivot[3], a = angle[t] = 2.0 * asin(q[1 + i]);
            tact_quat_rotate(pivot, q, low);
            tact_v3_add(pivot, pivot, body->position);
            pivot[0] -= i ? 0.12 : -0.12;
            /* height of the edges in contact over each other, along the normal */
            deepest = fmin(deepest, i ? pivot[2] : pivot[2] * cos(a) - pivot[1] * sin(a));
            moved = fmax(moved, hypot(pivot[0], pivot[1]));
        }
        double exact = pendulum_period(inertia[i] + mass * centre_below_pivot * centre_below_pivot,
                                       mass * G * centre_below_pivot, 0.1);
        double got = mean_oscillation_period_of_angle(angle, p.ticks, p.period);
        print_message("    %-6s period %.6f s, exact %.6f; edges sink by %.1e m at most, the point "
                      "moves by %.1e m\n",
                      names[i], got, exact, -deepest, moved);
        assert_true(fabs(got / exact - 1.0) < 1e-3 && deepest > -1e-6 && moved < 1e-4);
    }
    assert_true(p.report.iterations_max <= 3);
    simulation_free(&p);
}

/* Offset of a weight from the axis of a hole of width W beyond which a peg of width w, inserted by
 * l, jams: friction at both contact points is at its limit. The tilt t follows from W cos t - l
 * sin t = w. [m] */
static double peg_jamming_offset(double w, double W, double l, double mu)
{
    double t = (W - w) / l;
    for (int i = 0; i < 20; i++) {
        t += (W * cos(t) - l * sin(t) - w) / (W * sin(t) + l * cos(t));
    }
    double along = cos(t) - mu * sin(t),
           /* components along the peg and upward of the force at the upper contact point */
        up = sin(t) + mu * cos(t);
    return (W * up + l * along) / (up + mu * along) - 0.5 * W;
}

void check_peg_scene(void)
{
    static const char *const names[4] = {"features_jams", "features_slides", "volume_jams",
                                         "volume_slides"};
    struct simulation p;
    double limit = peg_jamming_offset(0.02, 0.0202, 0.03, 0.3);
    simulate_scene("peg", 1.5, &p);
    for (int i = 0; i < 4; i++) {
        const struct body_state *a = simulation_body_at(&p, names[i], 0.0);
        const struct body_state *b = simulation_body_at(&p, names[i], -1);
        double arm = a->position[0] / limit, sunk = a->position[2] - b->position[2];
        print_message("    %-15s hangs out by %.4f of the limit; goes in by %.2e m\n", names[i],
                      arm, sunk);
        assert_true(fabs(arm - (i & 1 ? 0.98 : 1.02)) < 1e-4);
        assert_true(i == 0 ? sunk < 1e-9 : sunk > 0.009);
    }
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}
