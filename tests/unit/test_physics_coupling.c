/* Friction and torsion of a patch that slips and spins at once reduce each other: compared with
 * quadrature of Coulomb friction over the pressure. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/local/local.h"
#include "support/world_scene.h"
#include "support/random.h"

enum shape { DISC_UNIFORM, DISC_HERTZ, SQUARE, OBLONG };

/* Quadrature of Coulomb friction: force along the slip (v, 0) and torsion of a patch of radius or
 * half side 1 under unit force and friction 1 that slides by v and spins by w about its centre; the
 * slip is turned by `turn`. */
static void friction_by_quadrature(enum shape shape, double v, double w, double turn, double *f,
                                   double *m)
{
    enum { RINGS = 240, RAYS = 240 };
    double vx = v * cos(turn), vy = v * sin(turn), weight_sum = 0;
    double force[2] = {0, 0};
    *m = 0;
    for (int i = 0; i < RINGS; i++) {
        for (int k = 0; k < RAYS; k++) {
            double x, y, weight;
            if (shape == DISC_UNIFORM || shape == DISC_HERTZ) {
                double r = (i + 0.5) / RINGS, angle = 2 * M_PI * (k + 0.5) / RAYS;
                x = r * cos(angle);
                y = r * sin(angle);
                weight = shape == DISC_HERTZ ? r * sqrt(1 - r * r) : r;
            } else {
                x = 2 * (i + 0.5) / RINGS - 1;
                y = (2 * (k + 0.5) / RAYS - 1) * (shape == OBLONG ? 0.25 : 1);
                weight = 1;
            }
            double ux = vx - w * y, uy = vy + w * x, u = hypot(ux, uy);
            weight_sum += weight;
            if (u > 0) {
                force[0] += weight * ux / u;
                force[1] += weight * uy / u;
                *m += weight * (x * uy - y * ux) / u;
            }
        }
    }
    *f = (force[0] * cos(turn) + force[1] * sin(turn)) / weight_sum;
    *m /= weight_sum;
}

/* A patch of unbounded inertia: unit normal force, slip v at angle `turn` and spin w. */
static void make_sliding_spinning_patch_problem(enum tact_surface surface, double arm, double v,
                                                double w, double turn, struct tact_local_problem *p,
                                                double *r)
{
    const double b[6] = {-1, v * cos(turn), v * sin(turn), w, 0, 0};
    memset(p, 0, sizeof *p);
    for (int i = 0; i < 6; i++) {
        p->s[7 * i] = i ? 1e-12 : 1;
    }
    memcpy(p->b, b, sizeof b);
    p->mu = 1;
    p->spin_arm = arm;
    p->surface = surface;
    tact_local_prepare(p);
    memset(r, 0, 6 * sizeof *r);
    for (int pass = 0; pass < 100; pass++) {
        tact_local_cone(p, r);
        if (tact_local_residual(p, r) < 1e-13) {
            break;
        }
    }
    assert_true(tact_local_residual(p, r) < 1e-10);
    assert_true(fabs(r[0] - 1) < 1e-12);
}

static const char *const names[4] = {"uniform disc", "Hertz disc", "square", "oblong 4:1"};

/* Largest relative errors of friction and torsion over the ratio of slip to spin, and the largest
 * error of either as a share of its own limit. */
static void largest_friction_errors(enum shape shape, enum tact_surface surface, double arm,
                                    double *relative_friction_error, double *share)
{
    *relative_friction_error = *share = 0;
    for (int i = -12; i <= 12; i++) {
        double ratio = pow(10, i / 6.0), turn = 0.3 + 0.1 * i, f, m, r[6];
        struct tact_local_problem p;
        friction_by_quadrature(shape, ratio, 1, turn, &f, &m);
        make_sliding_spinning_patch_problem(surface, arm, ratio, 1, turn, &p, r);
        double got = -(r[1] * cos(turn) + r[2] * sin(turn));
        *relative_friction_error =
            fmax(*relative_friction_error, fmax(fabs(got / f - 1), fabs(-r[3] / m - 1)));
        *share = fmax(*share, fmax(fabs(got - f), fabs(-r[3] - m) / arm));
    }
}

static void friction_of_a_disc_agrees_with_its_integral(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double relative_friction_error, share, old_relative, old_share,
            arm = i ? 3 * M_PI / 16 : 2.0 / 3;
        enum tact_surface surface = i ? TACT_SURFACE_HERTZ : TACT_SURFACE_UNIFORM;
        largest_friction_errors((enum shape)i, surface, arm, &relative_friction_error, &share);
        largest_friction_errors((enum shape)i, TACT_SURFACE_ELLIPSOID, arm, &old_relative,
                                &old_share);
        print_message("%s: off by %.2f %% of its value, %.2f %% of its limit; ellipsoid %.0f %% "
                      "and %.1f %%\n",
                      names[i], 100 * relative_friction_error, 100 * share, 100 * old_relative,
                      100 * old_share);
        assert_true(relative_friction_error < 0.02 && share < 0.01);
    }
}

/* Root mean square of the errors, as shares of the limits, over ratios of slip to spin and the
 * directions of slip. */
static double rms_friction_error(enum shape shape, enum tact_surface surface, double arm)
{
    double sum = 0;
    int count = 0;
    for (int i = -4; i <= 4; i++) {
        for (int k = 0; k < 5; k++) {
            double ratio = pow(10, i / 4.0) * arm, turn = k * M_PI / 8, f, m, r[6];
            struct tact_local_problem p;
            friction_by_quadrature(shape, ratio, 1, turn, &f, &m);
            make_sliding_spinning_patch_problem(surface, arm, ratio, 1, turn, &p, r);
            double df = -(r[1] * cos(turn) + r[2] * sin(turn)) - f, dm = (-r[3] - m) / arm;
            sum += df * df + dm * dm;
            count += 2;
        }
    }
    return sqrt(sum / count);
}

/* Patches that are no discs are represented by the disc of equal torsion, whatever the direction
 * of slip. */
static void friction_of_other_patches_agrees_with_its_integral(void **state)
{
    (void)state;
    for (int i = SQUARE; i <= OBLONG; i++) {
        double none, arm;
        friction_by_quadrature((enum shape)i, 0, 1, 0, &none, &arm);
        double off = rms_friction_error((enum shape)i, TACT_SURFACE_UNIFORM, arm);
        double old = rms_friction_error((enum shape)i, TACT_SURFACE_ELLIPSOID, arm);
        print_message("%s by the disc of equal torsion: off by %.1f %% of its limits, rms; "
                      "ellipsoid %.1f %%\n",
                      names[i], 100 * off, 100 * old);
        assert_true(off < old && off < (i == SQUARE ? 0.02 : 0.12));
    }
}

/* The returned wrench dissipates most of all within the limit surface, and is never outside of
 * it. */
static void friction_dissipates_maximally(void **state)
{
    (void)state;
    for (int n = 0; n < 400; n++) {
        enum tact_surface surface = (enum tact_surface)(n % 3);
        double v = pow(10, uniform(-2, 2)), w = uniform(-1, 1), arm = uniform(0.1, 2), r[6];
        struct tact_local_problem p;
        make_sliding_spinning_patch_problem(surface, arm, v, w, uniform(0, 6), &p, r);
        double most = -(r[1] * p.b[1] + r[2] * p.b[2] + r[3] * p.b[3]);
        assert_true(tact_local_residual(&p, r) < 1e-10);
        for (int k = 0; k < 200; k++) {
            double other[6];
            struct tact_local_problem q;
            make_sliding_spinning_patch_problem(surface, arm, pow(10, uniform(-2, 2)),
                                                uniform(-1, 1), uniform(0, 6), &q, other);
            double power = -(other[1] * p.b[1] + other[2] * p.b[2] + other[3] * p.b[3]);
            assert_true(power <= most * (1 + 1e-9));
        }
    }
}

/* A disc that slides and spins, against the equations of motion with quadrature: m v' = -mu N F,
 * I w' = -mu N R M. */
static void sliding_spinning_disc_comes_to_rest_as_by_quadrature(void **state)
{
    (void)state;
    const double mu = 0.5, g = 9.81, radius = 0.05, spins[3] = {5, 20, 60}, step = 2e-3;
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        struct tact_contact_law law = make_rigid_law(mu);
        const double at[3] = {0, 0, 0.0005 - 2e-5};
        open_empty_scene(&s, NULL);
        add_scene_ground(&s);
        struct tact_shape disc = make_cylinder_mesh_shape(&s, radius, 0.001, 128);
        int b = add_scene_solid(&s, &disc, 0.4, at, 0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        struct tact_body *body = tact_world_body(s.world, b);
        body->twist[0] = 0.5;
        body->twist[5] = spins[i];
        double v = 0.5, w = spins[i], t = 0, worst = 0;
        while (t < 0.9 * fmax(0.1, spins[i] / 130)) {
            double f, m;
            friction_by_quadrature(DISC_UNIFORM, v, w * radius, 0, &f, &m);
            double vh = v - 0.5 * step * mu * g * f,
                   wh = w - 0.5 * step * mu * g * m / (0.5 * radius);
            friction_by_quadrature(DISC_UNIFORM, vh, wh * radius, 0, &f, &m);
            v -= step * mu * g * f;
            w -= step * mu * g * m / (0.5 * radius);
            t += step;
            run_scene_for_seconds(&s, step);
            double sliding_speed = hypot(body->twist[0], body->twist[1]);
            worst = fmax(worst,
                         fmax(fabs(sliding_speed - v) / 0.5, fabs(body->twist[5] - w) / spins[i]));
            if (v < 0.02) {
                break;
            }
        }
        print_message("0.5 m/s and %.0f rad/s: after %.3f s speed and spin off by %.2f %% at "
                      "worst; %d sweeps at most\n",
                      spins[i], t, 100 * worst, s.max_tick_iterations);
        assert_true(worst < 0.009 && s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_of_a_disc_agrees_with_its_integral),
        cmocka_unit_test(friction_of_other_patches_agrees_with_its_integral),
        cmocka_unit_test(friction_dissipates_maximally),
        cmocka_unit_test(sliding_spinning_disc_comes_to_rest_as_by_quadrature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
