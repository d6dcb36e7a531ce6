/* Bodies on their smooth surfaces: rattlebacks, a bangle, Euler's discs, tippe tops, balls in bowls
 * and on a turntable, Chaplygin's ball, links of a chain, a torus on a torus, pebbles in bowls. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "contact/shape/charts.h"
#include "simulation.h"
#include "scenes.h"
#include "tests/unit/support/rolling_body.h"

/* Solves the equations of motion of the rattleback from the given initial state for 10 s. Returns
 * its final angular velocity about the vertical [rad/s]; *reversal: time at which that first
 * changes sign [s], 0 if never. */
static double exact_final_rattleback_spin(const struct body_state *start, double *time_of_reversal)
{
    static const double size[3] = {0.11, 0.022, 0.018};
    struct rolling_body b = {.mass = 0.25,
                             .inertia = {3.0e-5, 0.0, 0.0, 0.0, 60e-5, 0.0, 0.0, 0.0, 62e-5},
                             .center = {0.0, 0.0, 0.004},
                             .gravity = 9.81};
    const double h = 2e-4, w[3] = {0.0, 0.0, start->twist[5] > 0.0 ? 4.0 : -4.0};
    const double q[4] = {0.999980961532, 0.004363267749, 0.004363267749, -0.000019038468};
    double last = w[2], world_angular_velocity[3] = {0.0, 0.0, 0.0};
    set_rolling_ellipsoid(&b, size, M_PI / 180);
    set_rolling_initial_state(&b, q, w);
    *time_of_reversal = 0.0;
    for (int i = 1; i <= 50000; i++) {
        integrate_rolling_step(&b, h);
        tact_quat_rotate(world_angular_velocity, b.y, b.y + 4);
        if (!(*time_of_reversal > 0.0) && world_angular_velocity[2] * last < 0.0) {
            *time_of_reversal =
                h * (i - world_angular_velocity[2] / (world_angular_velocity[2] - last));
        }
        last = world_angular_velocity[2];
    }
    return last;
}

/* Time at which a body's angular velocity about the vertical first changes sign [s]; 0: never. */
static double spin_reversal_time(const struct simulation *p, const char *name)
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

/* The patch of the overlap resists rocking: with model volume both come to rest, turned by the same
 * angle. */
static void check_rattlebacks_by_volume(void)
{
    static const char *const names[2] = {"reverses", "goes_on"};
    struct simulation p;
    simulate_scene_with_yaml_replaced("rattleback", 1.0, "model: smooth", "model: volume", &p);
    for (int i = 0; i < 2; i++) {
        double turned = 0.0, last = 0.0, rest = 0.0, turn[9];
        for (int k = 0; k < p.ticks; k++) {
            const struct body_state *b = simulation_body_at(&p, names[i], k * p.period);
            tact_quat_to_m3(turn, b->quat_wxyz);
            const double now = atan2(turn[3], turn[0]);
            turned += k ? remainder(now - last, 2 * M_PI) : 0.0;
            last = now;
            rest = tact_v3_norm(b->twist + 3) > 1e-3 ? k * p.period : rest;
        }
        turned *= 180 / M_PI;
        print_message("    %-8s by volume: turned by %.2f degrees, at rest after %.3f s\n",
                      names[i], turned, rest);
        assert_true(fabs(fabs(turned) - 59.2) < 0.5 && (turned > 0.0) == (i == 0));
        assert_true(rest > 0.45 && rest < 0.6);
    }
    simulation_free(&p);
}

void check_rattleback_scene(void)
{
    static const char *const names[2] = {"reverses", "goes_on"};
    struct simulation p;
    simulate_scene("rattleback", 10.0, &p);
    for (int i = 0; i < 2; i++) {
        double exact,
            spin = exact_final_rattleback_spin(simulation_body_at(&p, names[i], 0.0), &exact);
        double got = spin_reversal_time(&p, names[i]),
               end = simulation_body_at(&p, names[i], -1)->twist[5];
        print_message(
            "    %-8s reverses at %.4f s, exact %.4f; at the end %.4f rad/s, exact %.4f\n",
            names[i], got, exact, end, spin);
        assert_true(fabs(got - exact) <= 1e-3 * exact && fabs(end / spin - 1) < 0.01);
    }
    simulation_free(&p);
    check_rattlebacks_by_volume();
}

/* Steady rate [rad/s] at which a body on a round rim, ring and tube [m], goes round on a plane with
 * its middle at rest, at a tilt of that sine: inertia over mass [m^2] across and about its axis. */
static double steady_precession_rate(double ring, double tube, double inertia_across_axis,
                                     double inertia_about_axis, double s)
{
    return sqrt(
        9.81 * ring * (ring + tube * s) /
        (s * (inertia_across_axis * ring - (inertia_about_axis - inertia_across_axis) * tube * s)));
}

/* Mean rate at which a body's axis goes round the vertical, from its passage of the x axis on
 * [rad/s]; *moved: largest distance of the body's middle from where it was at the start [m]. */
static double mean_precession_rate(const struct simulation *p, const char *name, double *moved)
{
    const double *start = simulation_body_at(p, name, 0.0)->position;
    double angle = 0.0, last = 0.0, turn[9];
    *moved = 0.0;
    for (int i = 0; i < p->ticks; i++) {
        const struct body_state *b = simulation_body_at(p, name, i * p->period);
        tact_quat_to_m3(turn, b->quat_wxyz);
        double now = atan2(turn[5], turn[2]);
        angle += remainder(now - last, 2 * M_PI);
        *moved = fmax(*moved, hypot(b->position[0] - start[0], b->position[1] - start[1]));
        last = now;
    }
    return angle / (p->ticks * p->period);
}

void check_bangle_scene(void)
{
    const double ring = 0.03, tube = 0.004;
    double exact = steady_precession_rate(ring, tube, 0.5 * ring * ring + 0.625 * tube * tube,
                                          ring * ring + 0.75 * tube * tube, 0.5);
    double moved;
    struct simulation p;
    simulate_scene("bangle", 2.0, &p);
    double rate = mean_precession_rate(&p, "bangle", &moved);
    print_message(
        "    goes round at %.4f rad/s, exact %.4f; tilt at the end %.2f degrees; its middle "
        "moves by up to %.2f mm\n",
        rate, exact, body_tilt_deg(simulation_body_at(&p, "bangle", -1)), 1e3 * moved);
    assert_true(fabs(rate / exact - 1) < 1e-3 && moved < 1.5e-3);
    assert_true(fabs(body_tilt_deg(simulation_body_at(&p, "bangle", -1)) - 30.0) < 1.0);
    simulation_free(&p);
}

/* Discs with the inertia of a thin disc of 30 mm: nothing dissipates energy, so that they keep
 * their tilts. */
void check_eulers_disc_scene(void)
{
    static const char *const names[3] = {"steep", "middle", "flat"};
    static const char *const period_entries[3] = {"period: 0.002", "", "period: 0.0005"};
    static const double initial_tilts_deg[3] = {60.0, 30.0, 10.0}, within[3] = {8e-3, 1e-3, 1e-4};
    for (int k = 0; k < 3; k++) {
        struct simulation p;
        simulate_scene_with_yaml_appended("eulers_disc", 2.0, period_entries[k], &p);
        for (int i = 0; i < 3; i++) {
            double moved, rate = mean_precession_rate(&p, names[i], &moved);
            double exact = steady_precession_rate(0.027, 0.003, 0.000225, 0.00045,
                                                  sin(initial_tilts_deg[i] * M_PI / 180.0));
            double tilt = body_tilt_deg(simulation_body_at(&p, names[i], -1));
            print_message("    %g ms: %s goes round at %.4f rad/s, exact %.4f (%+.4f %%), at the "
                          "end at %.2f degrees\n",
                          1e3 * p.period, names[i], rate, exact, 100.0 * (rate / exact - 1.0),
                          tilt);
            assert_true(fabs(rate / exact - 1.0) < within[k] &&
                        fabs(tilt - initial_tilts_deg[i]) < 0.6);
            /* the distance is of first order in the tick: 1 mm at 1 ms */
            assert_true(moved < p.period);
        }
        simulation_free(&p);
    }
}

void check_tippe_top_scene(void)
{
    struct simulation p;
    double level = 0.0;
    simulate_scene("tippe_top", 1.5, &p);
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

/* Period of a pendulum of that length released from rest at an angle: by the arithmetic and
 * geometric mean. */
static double pendulum_period(double length, double angle)
{
    double a = 1.0, g = cos(0.5 * angle);
    for (int i = 0; i < 6; i++) {
        double mean = 0.5 * (a + g);
        g = sqrt(a * g);
        a = mean;
    }
    return 2.0 * M_PI * sqrt(length / 9.81) / a;
}

void check_bowl_scene(void)
{
    static const char *const names[2] = {"rolls", "slides"};
    struct simulation p;
    simulate_scene("bowl", 4.0, &p);
    for (int i = 0; i < 2; i++) {
        double exact = pendulum_period(i ? 0.08 : 1.4 * 0.08, M_PI / 6.0);
        double period = mean_oscillation_period(&p, names[i], 0);
        print_message("    %s: %.5f s, exact %.5f\n", names[i], period, exact);
        assert_true(fabs(period / exact - 1.0) < 1e-3);
    }
    simulation_free(&p);
}

/* The ball starts at (80, 0) mm with 80 mm/s along y, so that the middle of its circle is aside by
 * v / (2 rate / 7). */
void check_turntable_scene(void)
{
    struct simulation p;
    double off = 0.0, rate = 2.0 / 7.0 * 5.0, radius = 0.08 / rate;
    simulate_scene("turntable", 4.4, &p);
    for (int i = 0; i < p.ticks; i++) {
        const double *at = simulation_body_at(&p, "ball", i * p.period)->position;
        double t = (i + 1) * p.period; /* the state of tick i is that at its end */
        off = fmax(off, hypot(at[0] - 0.08 + radius - radius * cos(rate * t),
                              at[1] - radius * sin(rate * t)));
    }
    print_message("    within %.1e m of a circle of %.1f mm\n", off, 1e3 * radius);
    assert_true(off < 1e-3 * radius);
    simulation_free(&p);
}

void check_chaplygin_ball_scene(void)
{
    const double at[2] = {0.957056, -2.703893};
    struct simulation p;
    simulate_scene("chaplygin", 10.0, &p);
    const double *end = simulation_body_at(&p, "ball", -1)->position;
    double off = hypot(end[0] - at[0], end[1] - at[1]);
    print_message("    at (%.6f, %.6f) m, exact (%.6f, %.6f)\n", end[0], end[1], at[0], at[1]);
    assert_true(off < 1e-5);
    simulation_free(&p);
}

/* Pendulum of a hanging ring: its inner circle of radius a rolls on one of radius b about the
 * support's middle, length a - b, longer by the factor 1 + I / (m a^2). */
void check_links_scene(void)
{
    const double ring = 0.03, tube = 0.004, a = ring - tube, b = 0.006;
    /* moment of inertia about the ring's axis, divided by the mass */
    double inertia = ring * ring + 0.75 * tube * tube;
    double exact = pendulum_period((a - b) * (1.0 + inertia / (a * a)), 40.0 * M_PI / 180.0);
    struct simulation p;
    simulate_scene("links", 4.0, &p);
    double period = mean_oscillation_period(&p, "lower", 0);
    print_message("    swings in %.5f s, exact %.5f\n", period, exact);
    assert_true(fabs(period / exact - 1.0) < 1e-3);
    simulation_free(&p);
}

/* A ring rolls on the tube of another in three dimensions, against `tact sim --reduced` at 0.2 ms,
 * which at 1 ms says the same within 1e-9 m: the differences are of the second order. */
void check_torus_on_torus_scene(void)
{
    static const char *const period_entries[3] = {"period: 0.002", "", "period: 0.0005"};
    const double at[3] = {0.002803174, 0.002278031, -0.019563770};
    double off[3];
    for (int i = 0; i < 3; i++) {
        struct simulation p;
        double apart[3];
        simulate_scene_with_yaml_appended("torus_on_torus", 2.0, period_entries[i], &p);
        tact_v3_sub(apart, simulation_body_at(&p, "ring", -1)->position, at);
        off[i] = tact_v3_norm(apart);
        print_message("    %g ms: off by %.2e m after 2 s\n", 1e3 * p.period, off[i]);
        simulation_free(&p);
    }
    assert_true(off[1] < 2e-6);
    assert_true(fabs(off[0] / off[1] - 4.0) < 0.4 && fabs(off[1] / off[2] - 4.0) < 0.4);
}

/* Largest principal curvature of a surface at its lowest point where normals point down (-1), or at
 * the highest point on the axis with a normal up (+1), of those at the corners of its charts: k[0]
 * <= k[1], and its height. */
static double find_curvatures_and_height_on_axis(const struct tact_shape *shape, double up,
                                                 double k[2])
{
    struct tact_surface_point p;
    double height = NAN, directions[9];
    for (int i = 0; !tact_charts_point(shape->charts, (double[3]){i, 0.0, 0.0}, &p); i++) {
        if (hypot(p.at[0], p.at[1]) < 1e-9 && p.normal[2] * up > 0.9) {
            height = p.at[2];
            tact_surface_curvatures(&p, k, directions);
            break;
        }
    }
    return height;
}

/* A rocking stone in a bowl, of its own mass properties and curvatures; the other pebble stays in
 * its bowl. The curvature changes with the distance from the vertex below, and the period in
 * proportion to the amplitude: that of the scene is 0.004 rad, a tenth of which is small. */
void check_pebbles_scene(void)
{
    struct tact_scene *scene = NULL;
    struct tact_error err = {.line = 0};
    struct simulation p;
    double k[2], bowl_curvatures[2];
    assert_int_equal(tact_scene_load(TACT_SOURCE_DIR "/examples/scenes/pebbles.yaml", &scene, &err),
                     0);
    const struct tact_scene_body *body = &scene->bodies[1];
    double h = body->center_of_mass[2] -
               find_curvatures_and_height_on_axis(&body->shapes[0].shape, -1.0, k);
    find_curvatures_and_height_on_axis(&scene->bodies[0].shapes[0].shape, 1.0, bowl_curvatures);
    double reach = 1.0 / (k[0] + bowl_curvatures[0]),
           inertia = body->inertia[1] + body->mass * h * h;
    double exact = 2.0 * M_PI * sqrt(inertia / (body->mass * 9.81 * (reach - h)));
    tact_scene_free(scene);
    simulate_scene("pebbles", 2.0, &p);
    double period = mean_oscillation_period(&p, "rocks", 0), farthest = 0.0;
    for (int i = 0; i < p.ticks; i++) {
        const double *at = simulation_body_at(&p, "tumbles", i * p.period)->position;
        farthest = fmax(farthest, hypot(at[0], at[1] - 0.16));
    }
    print_message("    rocks in %.5f s, exact for a small motion %.5f; the other within %.1f mm\n",
                  period, exact, 1e3 * farthest);
    assert_true(fabs(period / exact - 1.0) < 2e-3 && farthest < 0.08);
    simulation_free(&p);
    simulate_scene_with_yaml_replaced(
        "pebbles", 2.0,
        "velocity: [0.0017835, 0, 0] # of the centre of mass: it rolls\n"
        "    angular_velocity: [0, 0.1, 0]",
        "velocity: [0.00017835, 0, 0]\n    angular_velocity: [0, 0.01, 0]", &p);
    period = mean_oscillation_period(&p, "rocks", 0);
    print_message("    at a tenth of that in %.5f s\n", period);
    assert_true(fabs(period / exact - 1.0) < 3e-4);
    simulation_free(&p);
}
