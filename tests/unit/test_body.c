/* Free bodies: energy and angular momentum of a spinning box, and bad mass properties. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "contact/world/body.h"

static void measure_spinning_box_errors(double wx, double wy, double wz, double *energy_error,
                                        double *momentum_error)
{
    const double size[3] = {0.3, 0.2, 0.1}, m = 2.0;
    const double inertia[6] = {m / 12 * (size[1] * size[1] + size[2] * size[2]),
                               m / 12 * (size[0] * size[0] + size[2] * size[2]),
                               m / 12 * (size[0] * size[0] + size[1] * size[1])};
    struct tact_body body = {.pose = tact_pose_identity(), .twist = {0, 0, 0, wx, wy, wz}};
    assert_int_equal(tact_body_set_mass(&body, m, inertia), 0);
    tact_body_refresh(&body);
    double e0 = tact_body_energy(&body), l0[3], l[3], worst_e = 0, worst_l = 0;
    tact_body_momentum(&body, l0);
    for (int k = 0; k < 10000; k++) {
        tact_body_drift(&body, 1e-3);
        tact_body_momentum(&body, l);
        tact_v3_sub(l, l, l0);
        worst_e = fmax(worst_e, fabs(tact_body_energy(&body) / e0 - 1));
        worst_l = fmax(worst_l, tact_v3_norm(l) / tact_v3_norm(l0));
    }
    *energy_error = worst_e;
    *momentum_error = worst_l;
}

/* A box spins about each of its axes; about the intermediate axis the spin is unstable, and the box
 * tumbles. */
static void spinning_box_keeps_energy(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        double w[3] = {1e-3, 1e-3, 1e-3}, e, l;
        w[axis] = 10.0;
        measure_spinning_box_errors(w[0], w[1], w[2], &e, &l);
        print_message("axis %d at 10 rad/s for 10 s: energy %.1e, momentum %.1e\n", axis, e, l);
        assert_true(e < 1e-6);
        assert_true(l < 1e-6);
        w[axis] = 60.0;
        measure_spinning_box_errors(w[0], w[1], w[2], &e, &l);
        print_message("axis %d at 60 rad/s for 10 s: energy %.1e, momentum %.1e\n", axis, e, l);
        assert_true(e < 1e-6);
        assert_true(l < 1e-6);
    }
}

/* A free symmetric top precesses about its angular momentum at the exact rate L / I1. */
static void a_symmetric_top_precesses_exactly(void **state)
{
    (void)state;
    const double inertia[6] = {2e-3, 2e-3, 3e-3, 0, 0, 0};
    struct tact_body body = {.pose = tact_pose_identity(), .twist = {0, 0, 0, 3.0, 0, 20.0}};
    assert_int_equal(tact_body_set_mass(&body, 1.0, inertia), 0);
    tact_body_refresh(&body);
    double l[3], start[3];
    tact_body_momentum(&body, l);
    double rate = tact_v3_norm(l) / 2e-3, axis[3], z[3] = {0, 0, 1}, along[3], across[3], third[3];
    tact_v3_normalize(axis, l);
    tact_v3_copy(start, z);
    for (int k = 0; k < 1000; k++) {
        tact_body_drift(&body, 1e-3);
    }
    tact_v3_scale(along, axis, tact_v3_dot(axis, start));
    tact_v3_sub(across, start, along);
    tact_v3_cross(third, axis, across);
    double angle = rate * 1.0, expected[3], got[3];
    for (int i = 0; i < 3; i++) {
        expected[i] = along[i] + cos(angle) * across[i] + sin(angle) * third[i];
    }
    tact_quat_rotate(got, body.pose.quat_wxyz, z);
    tact_v3_sub(got, got, expected);
    print_message("axis of the top after 1 s: off by %.1e\n", tact_v3_norm(got));
    assert_true(tact_v3_norm(got) < 1e-6);
}

static void unphysical_mass_or_inertia_is_refused(void **state)
{
    (void)state;
    struct tact_body body;
    const double valid_inertia[6] = {1, 1, 1, 0, 0, 0}, flat[6] = {1, 1, 2.1, 0, 0, 0};
    const double negative_inertia[6] = {1, 1, -1, 0, 0, 0},
                 indefinite_inertia[6] = {1, 1, 1, 1.5, 0, 0};
    const double inertia_with_nan[6] = {NAN, 1, 1, 0, 0, 0},
                 thin_body_inertia[6] = {1e-9, 1, 1, 0, 0, 0};
    assert_int_equal(tact_body_set_mass(&body, 1, valid_inertia), 0);
    assert_int_equal(tact_body_set_mass(&body, 1, thin_body_inertia), 0);
    assert_int_not_equal(tact_body_set_mass(&body, 0, valid_inertia), 0);
    assert_int_not_equal(tact_body_set_mass(&body, -1, valid_inertia), 0);
    assert_int_not_equal(tact_body_set_mass(&body, NAN, valid_inertia), 0);
    assert_int_not_equal(tact_body_set_mass(&body, 1, flat), 0);
    assert_int_not_equal(tact_body_set_mass(&body, 1, negative_inertia), 0);
    assert_int_not_equal(tact_body_set_mass(&body, 1, indefinite_inertia), 0);
    assert_int_not_equal(tact_body_set_mass(&body, 1, inertia_with_nan), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spinning_box_keeps_energy),
        cmocka_unit_test(a_symmetric_top_precesses_exactly),
        cmocka_unit_test(unphysical_mass_or_inertia_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
