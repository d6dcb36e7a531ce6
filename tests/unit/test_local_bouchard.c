/* Algorithm 1 of Bouchard 2015: its branches, and its residual by the law of the cone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "contact/local/local.h"
#include "support/local_problem.h"
#include "support/random.h"

/* Contact problem of a cube of 1 kg and 0.1 m on the floor, with velocity (vx, vz) and angular
 * velocity wy; contact normal n = z. */
static void make_cube_on_floor(double vx, double vz, double wy, double mu,
                               struct tact_local_problem *p)
{
    const double in[3] = {1.0 / 600, 1.0 / 600, 1.0 / 600}, arm[3] = {-0.05, 0, 0};
    /* contact axes (n, t1, t2) are the world's (z, x, y); the contact is 0.05 m below the centre
     * along n */
    const double t[6] = {vz, vx, 0, 0, 0, wy};
    make_free_body_problem(1.0, in, arm, t, p);
    p->mu = mu;
    p->semi[0] = p->semi[1] = 0.05;
    p->rectangle[0] = p->rectangle[1] = 0.05;
    p->spin_arm = 0.038;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void each_contact_case_of_bouchard_is_solved(void **state)
{
    (void)state;
    struct tact_local_problem p;
    double r[6], u[6];
    make_cube_on_floor(0.001, -0.01, 0, 0.8, &p); /* sticks: everything stops */
    assert_int_equal(tact_local_bouchard(&p, r), 0);
    contact_velocity_after_impulse(&p, r, u);
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(u[i]) < 1e-15);
    }
    make_cube_on_floor(0, 0.01, 0, 0.8, &p); /* separates */
    assert_int_equal(tact_local_bouchard(&p, r), TACT_LIMIT_OPEN);
    assert_true(r[0] == 0 && r[3] == 0);
    /* the cube slides: friction mu f_n against the slip, no rotation */
    make_cube_on_floor(0.5, -0.01, 0, 0.1, &p);
    assert_int_equal(tact_local_bouchard(&p, r), TACT_LIMIT_CONE);
    contact_velocity_after_impulse(&p, r, u);
    assert_true(fabs(r[0] - 0.01) < 1e-12 && fabs(r[1] + 0.001) < 1e-12);
    assert_true(fabs(u[0]) < 1e-15 && fabs(u[5]) < 1e-13);
    /* the cube tips about an edge of the patch, which stays in contact */
    make_cube_on_floor(0, -0.01, 3.0, 0.8, &p);
    assert_true(tact_local_bouchard(&p, r) & TACT_LIMIT_EDGE);
    contact_velocity_after_impulse(&p, r, u);
    double d[2] = {-r[5] / r[0], r[4] / r[0]};
    assert_true(fabs(hypot(d[0], d[1]) - 0.05) < 1e-12);
    assert_true(fabs(u[0] + d[1] * u[4] - d[0] * u[5]) < 1e-13);
    /* the cube spins: torsion limited to that of four corners, mu f_n sqrt(2) 0.05 */
    make_cube_on_floor(0, -0.01, 0, 0.3, &p);
    p.b[3] = 50.0;
    assert_int_equal(tact_local_bouchard(&p, r), TACT_LIMIT_SPIN);
    assert_true(fabs(r[3] / (-0.3 * 0.01 * 0.05 * sqrt(2)) - 1) < 1e-12);
    /* without friction the impulse is a normal one only */
    make_cube_on_floor(0.5, -0.01, 0, 0.0, &p);
    assert_int_equal(tact_local_bouchard(&p, r), TACT_LIMIT_CONE);
    assert_true(r[1] == 0 && r[2] == 0 && fabs(r[0] - 0.01) < 1e-12);
}

/* With the metric of the masses Algorithm 1 is exact without friction, and its residual is smaller
 * with friction. */
static void mass_metric_makes_algorithm_1_exact_without_friction(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    static double residual[2][2][COUNT];
    double worst = 0.0, median[2][2];
    for (int has_friction = 0; has_friction < 2; has_friction++) {
        for (int n = 0; n < COUNT; n++) {
            struct tact_local_problem p;
            double r[6];
            make_random_local_problem(&p, ELLIPSE);
            p.mu = has_friction ? p.mu : 0.0;
            tact_local_prepare(&p);
            for (p.by_mass = 0; p.by_mass < 2; p.by_mass++) {
                tact_local_bouchard(&p, r);
                residual[has_friction][p.by_mass][n] = tact_local_residual(&p, r);
            }
            worst = has_friction ? worst : fmax(worst, residual[0][1][n]);
        }
        for (int k = 0; k < 2; k++) {
            qsort(residual[has_friction][k], COUNT, sizeof(double), compare_doubles);
            median[has_friction][k] = residual[has_friction][k][COUNT / 2];
            print_message(
                "%s, %s metric: residual %.1e in the median, %.1e at nine tenths, %.1e at "
                "most\n",
                has_friction ? "friction" : "no friction", k ? "masses'" : "Euclidean",
                median[has_friction][k], residual[has_friction][k][COUNT * 9 / 10],
                residual[has_friction][k][COUNT - 1]);
        }
    }
    assert_true(worst < 1e-9);
    assert_true(median[0][0] > 1e-4); /* with the Euclidean metric Algorithm 1 is not exact */
    assert_true(median[1][1] < 0.9 * median[1][0]);
}

/* A frictionless sphere landing on a slope takes no torque (Bouchard, section 5.2). */
static void frictionless_sphere_does_not_roll(void **state)
{
    (void)state;
    const double in[3] = {4e-4, 4e-4, 4e-4}, arm[3] = {-0.03, 0, 0}, t[6] = {-0.5, 0.4, 0, 0, 0, 0};
    struct tact_local_problem p;
    double r[6] = {0}, u[6];
    make_free_body_problem(1.0, in, arm, t, &p);
    p.semi[0] = p.semi[1] = p.rectangle[0] = p.rectangle[1] = 0.004;
    for (int local = 0; local < 2; local++) {
        tact_local_prepare(&p);
        if (local) {
            tact_local_cone(&p, r);
        } else {
            tact_local_bouchard(&p, r);
        }
        contact_velocity_after_impulse(&p, r, u);
        assert_true(fabs(r[0] - 0.5) < 1e-12);
        for (int i = 1; i < 6; i++) {
            assert_true(fabs(r[i]) < 1e-15);
        }
        assert_true(fabs(u[1] - 0.4) < 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_contact_case_of_bouchard_is_solved),
        cmocka_unit_test(mass_metric_makes_algorithm_1_exact_without_friction),
        cmocka_unit_test(frictionless_sphere_does_not_roll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
