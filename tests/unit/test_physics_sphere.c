/* A sphere on a slope: a patch of radius a resists rolling, and without friction the sphere does
 * not rotate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

static const double G = 9.81, BALL_RADIUS = 0.05;

struct sphere_rolling_motion {
    double speed;          /* speed downhill after the given time [m/s] */
    double spin;           /* angular velocity about the rolling axis [rad/s] */
    double patch;          /* mean of the patch's semi-axes at the end [m] */
    double rise_of_centre; /* rise of the ball's centre over its height at the start [m] */
    int touching;          /* ticks in contact */
    int ticks;
};

/* Runs a sphere from rest for `seconds`. Its target overlap makes the patch radius a times RADIUS:
 * a cap of depth d has the radius sqrt(2 R d) and the mean depth d / 2. */
static struct sphere_rolling_motion run_sphere_on_slope(double slope, double mu, double a,
                                                        double seconds)
{
    struct world_scene s;
    struct tact_world_options options = options_with_tilted_gravity(slope);
    struct tact_contact_law law = make_rigid_law(mu);
    struct tact_shape ball = make_sphere(BALL_RADIUS);
    double deepest = 0.5 * a * a * BALL_RADIUS;
    const double at[3] = {0, 0, BALL_RADIUS - deepest};
    struct sphere_rolling_motion out = {0};
    law.overlap = 0.5 * deepest;
    open_empty_scene(&s, &options);
    add_scene_ground(&s);
    int b = add_scene_solid(&s, &ball, 0.3, at, 0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    const struct tact_contact *c = tact_world_contact(s.world, 0);
    while (out.ticks < lround(seconds / options.period)) {
        step_scene(&s);
        out.ticks++;
        out.touching += c->touching && c->impulse[0] > 0;
    }
    const struct tact_body *body = tact_world_body(s.world, b);
    out.speed = body->twist[0];
    out.spin = body->twist[4];
    out.patch = 0.5 * (c->patch.semi[0] + c->patch.semi[1]);
    out.rise_of_centre = body->pose.position[2] - at[2];
    print_message("slope %.2f, a/R %.3f: in contact %d of %d ticks, lifted %.1e m, patch %.5f R, "
                  "residual %.1e, %d sweeps\n",
                  slope, a, out.touching, out.ticks, out.rise_of_centre, out.patch / BALL_RADIUS,
                  s.worst_residual, s.max_tick_iterations);
    close_scene(&s);
    return out;
}

/* A ball on a slope accelerates at (5/7) (g sin(theta) - g cos(theta) a / R), for three patch radii
 * a. */
static void rolling_is_resisted_by_the_patch_radius(void **state)
{
    (void)state;
    const double slope = 0.2, radii[3] = {0.01, 0.03, 0.06};
    for (int i = 0; i < 3; i++) {
        struct sphere_rolling_motion r = run_sphere_on_slope(slope, 1.0, radii[i], 1.0);
        double exact = 5.0 / 7.0 * G * (sin(slope) - cos(slope) * radii[i]);
        print_message("    acceleration %.5f m/s^2, exact %.5f: off by %.3f %%; spin R / v %.5f\n",
                      r.speed, exact, 100 * (r.speed / exact - 1), r.spin * BALL_RADIUS / r.speed);
        assert_true(fabs(r.speed / exact - 1) < 0.003);
    }
}

/* The ball stays at rest where tan(theta) < a / R, with patch radius a and ball radius R. */
static void ball_with_a_patch_rests_on_a_gentle_slope(void **state)
{
    (void)state;
    struct sphere_rolling_motion r = run_sphere_on_slope(0.05, 1.0, 0.06, 1.0);
    print_message("    speed %.1e m/s, spin %.1e rad/s\n", r.speed, r.spin);
    assert_true(fabs(r.speed) < 1e-6 && fabs(r.spin) < 1e-4);
}

static void frictionless_sphere_does_not_spin(void **state)
{
    (void)state;
    struct sphere_rolling_motion r = run_sphere_on_slope(0.2, 0.0, 0.03, 1.0);
    print_message("    speed %.6f m/s, exact %.6f, spin %.1e rad/s\n", r.speed, G * sin(0.2),
                  r.spin);
    assert_true(fabs(r.speed / (G * sin(0.2)) - 1) < 1e-9);
    assert_true(fabs(r.spin) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolling_is_resisted_by_the_patch_radius),
        cmocka_unit_test(ball_with_a_patch_rests_on_a_gentle_slope),
        cmocka_unit_test(frictionless_sphere_does_not_spin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
