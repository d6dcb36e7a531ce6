/*
 * Where reduced coordinates (Kry and Pai 2003) let a contact stick: the torque about the normal up
 * to which it does not spin, against Newton's and Euler's equations; and a contact that begins with
 * an overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "contact/compare/reduced.h"
#include "contact/vec.h"
#include "support/campaign.h"
#include "support/random.h"

#define BALL_RADIUS 0.02 /* [m] */

static const struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};

/* A ball whose centre of mass is beside its middle, at rest on the ground. */
struct ball_with_off_centre_mass {
    double radius, mass, inertia[6];
    double center[3];  /* centre of mass from the contact [m] */
    double gravity[3]; /* [m/s^2] */
};

static struct ball_with_off_centre_mass
make_ball_with_off_centre_mass(double random_mass_factor_of_ball)
{
    struct ball_with_off_centre_mass b = {.radius = BALL_RADIUS,
                                          .mass = uniform(0.05, 0.2) * random_mass_factor_of_ball};
    const double scale = b.mass * BALL_RADIUS * BALL_RADIUS;
    for (int i = 0; i < 3; i++) {
        b.inertia[i] = scale * uniform(0.4, 0.5);
    }
    tact_v3_set(b.center, uniform(2e-3, 6e-3), uniform(-4e-3, 4e-3),
                BALL_RADIUS + uniform(-5e-3, 5e-3));
    tact_v3_set(b.gravity, uniform(-1.0, 1.0), uniform(0.5, 2.0), -9.81);
    return b;
}

static struct tact_reduced *
start_reduced_ball_with_off_centre_mass(const struct ball_with_off_centre_mass *b,
                                        double spin_static)
{
    struct tact_reduced_options o = tact_reduced_options_default();
    const struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {b->radius}};
    const double twist[6] = {0.0};
    struct tact_pose local = tact_pose_identity(), place = tact_pose_identity(), pose = place;
    struct tact_reduced *r;
    tact_v3_copy(o.gravity, b->gravity);
    o.friction_static = o.friction_dynamic = 5.0;
    o.spin_static = spin_static;
    tact_v3_copy(pose.position, b->center);
    tact_v3_set(local.position, -b->center[0], -b->center[1], b->radius - b->center[2]);
    assert_int_equal(
        tact_reduced_create(&ball, &local, b->mass, b->inertia, &ground, &place, &o, &r, NULL), 0);
    assert_int_equal(tact_reduced_start(r, &pose, twist, 1e-6), 0);
    return r;
}

/*
 * Torque about the normal over the normal force of the ball that begins to roll without spin. With
 * a = alpha x c at the centre of mass c from the contact, alpha_z = 0, the moments about the
 * contact are I alpha + m c x a = m c x g + tau n.
 */
static double spin_torque_over_normal_force(const struct ball_with_off_centre_mass *b,
                                            double *normal_force)
{
    const double m = b->mass, *c = b->center;
    double load[3], a[3], turning[3], acceleration[3];
    tact_v3_cross(load, c, b->gravity);
    tact_v3_scale(load, load, m);
    /* matrix of the equations for the components of alpha about x and y */
    const double xx = b->inertia[0] + m * (c[1] * c[1] + c[2] * c[2]),
                 yy = b->inertia[1] + m * (c[0] * c[0] + c[2] * c[2]), xy = -m * c[0] * c[1];
    const double det = xx * yy - xy * xy;
    tact_v3_set(a, (yy * load[0] - xy * load[1]) / det, (xx * load[1] - xy * load[0]) / det, 0.0);
    tact_v3_cross(acceleration, a, c);
    tact_v3_cross(turning, c, acceleration);
    *normal_force = m * (acceleration[2] - b->gravity[2]);
    return fabs(m * turning[2] - load[2]) / *normal_force;
}

/* Finds the spin_static from which the ball does not spin [m]; where it does not, checks its
 * wrench. */
static double least_spin_static_that_holds_ball(const struct ball_with_off_centre_mass *b,
                                                double exact, double normal_force)
{
    double low = 0.0, high = 0.3;
    for (int k = 0; k < 42; k++) {
        const double middle = 0.5 * (low + high);
        struct tact_reduced *r = start_reduced_ball_with_off_centre_mass(b, middle);
        const struct tact_reduced_report *is = tact_reduced_report(r);
        assert_true(is->mode == TACT_REDUCED_NO_SPIN || is->mode == TACT_REDUCED_ROLLING);
        if (is->mode == TACT_REDUCED_NO_SPIN) {
            assert_true(fabs(is->force[5] / normal_force - 1.0) < 1e-9);
            assert_true(fabs(fabs(is->force[2]) - exact * normal_force) < 1e-9 * normal_force);
            high = middle;
        } else {
            assert_true(fabs(is->force[2]) < 1e-12);
            low = middle;
        }
        tact_reduced_destroy(r);
    }
    return high;
}

static void spin_sticks_up_to_the_exact_torque(void **state)
{
    (void)state;
    const int trial_count = campaign_trial_count(8, 400);
    double worst = 0.0, force[2] = {INFINITY, 0.0}, arm[2] = {INFINITY, 0.0};
    for (int i = 0; i < trial_count; i++) {
        const struct ball_with_off_centre_mass b =
            make_ball_with_off_centre_mass(i % 2 ? 20.0 : 1.0);
        double normal_force;
        const double exact = spin_torque_over_normal_force(&b, &normal_force);
        worst =
            fmax(worst, fabs(least_spin_static_that_holds_ball(&b, exact, normal_force) - exact));
        force[0] = fmin(force[0], normal_force);
        force[1] = fmax(force[1], normal_force);
        arm[0] = fmin(arm[0], exact);
        arm[1] = fmax(arm[1], exact);
    }
    printf("%d balls, forces of %.2g to %.2g N: spin from torques of %.2g to %.2g m times the "
           "force on, within %.1e m\n",
           trial_count, force[0], force[1], arm[0], arm[1], worst);
    assert_true(worst < 1e-12 && force[1] > 2.0 * force[0]);
}

/* The mu of (40) is a length: the same ball five times as large spins from five times the
 * coefficient on. A number without unit, as the mu of (35), would be the same for both. */
static void torsion_limit_is_a_length(void **state)
{
    (void)state;
    const double scale = 5.0;
    double most = 0.0, worst = 0.0;
    for (int i = 0; i < campaign_trial_count(8, 400); i++) {
        const struct ball_with_off_centre_mass b = make_ball_with_off_centre_mass(1.0);
        struct ball_with_off_centre_mass unbalanced_ball_of_larger_radius = b;
        double force[2], is[2];
        unbalanced_ball_of_larger_radius.radius *= scale;
        tact_v3_scale(unbalanced_ball_of_larger_radius.center, b.center, scale);
        tact_v3_scale(unbalanced_ball_of_larger_radius.inertia, b.inertia, scale * scale);
        for (int k = 0; k < 2; k++) {
            const struct ball_with_off_centre_mass *ball =
                k ? &unbalanced_ball_of_larger_radius : &b;
            const double exact = spin_torque_over_normal_force(ball, &force[k]);
            is[k] = least_spin_static_that_holds_ball(ball, exact, force[k]);
        }
        assert_true(fabs(force[1] / force[0] - 1.0) < 1e-12);
        worst = fmax(worst, fabs(is[1] - scale * is[0]));
        most = fmax(most, is[1] - is[0]);
    }
    printf("limits within %.1e m of %g times, up to %.1e m apart\n", worst, scale, most);
    assert_true(worst < 1e-11 && most > 1e-5);
}

/* A ball at rest that overlaps by less than the gap is raised until it touches. Its energy there,
 * not that of the overlap, is what it must not exceed. */
static void contact_that_begins_with_an_overlap_moves_on(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double overlap = i ? pow(10.0, -4.0 - 3.0 * i) : 0.0; /* none, 0.1 um, 0.1 nm */
        struct tact_reduced_options o = tact_reduced_options_default();
        const struct tact_shape solid = {.kind = TACT_SHAPE_ELLIPSOID,
                                         .size = {0.03, 0.025, BALL_RADIUS}};
        const double inertia[6] = {4.1e-5, 5.2e-5, 6.1e-5}, twist[6] = {0.0};
        const struct tact_pose here = tact_pose_identity();
        struct tact_pose pose = here;
        struct tact_reduced *r;
        double moved[6];
        tact_v3_set(o.gravity, 1.0, 0.0, -9.75);
        pose.position[2] = BALL_RADIUS - 5.0 * overlap;
        assert_int_equal(
            tact_reduced_create(&solid, &here, 0.1, inertia, &ground, &here, &o, &r, NULL), 0);
        assert_int_equal(tact_reduced_start(r, &pose, twist, 1e-6), 0);
        const double energy = tact_reduced_energy(r);
        if (tact_reduced_advance(r, 0.3)) {
            fail_msg("overlap %g m: %s", 5.0 * overlap, tact_reduced_failure(r));
        }
        tact_reduced_get(r, &pose, moved);
        printf("overlap %g m: rocks to x = %.9f m, energy %+.1e J\n", 5.0 * overlap,
               pose.position[0], tact_reduced_energy(r) - energy);
        assert_true(fabs(tact_reduced_energy(r) - energy) < 1e-9);
        assert_true(pose.position[0] > 1e-3);
        tact_reduced_destroy(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin_sticks_up_to_the_exact_torque),
        cmocka_unit_test(torsion_limit_is_a_length),
        cmocka_unit_test(contact_that_begins_with_an_overlap_moves_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
