/* The limit surface of a pressure given as point loads (parts), and the contact law with it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/counts.h"
#include "contact/local/local_active_internal.h"
#include "contact/local/local_points_internal.h"
#include "support/friction_parts.h"
#include "support/local_problem.h"
#include "support/random.h"

/* Tilts the surface normals of the parts by random angles. */
static void tilt_normals_of_friction_points(struct tact_friction_points *p)
{
    double pressed = uniform(1.0, 1.5);
    p->tilted = 1;
    for (int i = 0; i < p->count; i++) {
        double way = uniform(0, 2 * M_PI), sine = uniform(0, 0.98);
        p->tilt_xx[i] = sine * sine * cos(way) * cos(way);
        p->tilt_xy[i] = sine * sine * cos(way) * sin(way);
        p->tilt_yy[i] = sine * sine * sin(way) * sin(way);
        p->share[i] *= pressed;
    }
}

/* Makes random friction parts: in a disc, in two groups, or almost in a line; in a third of the
 * cases tilted. Returns their torsion arm. */
static double make_random_friction_points(struct tact_friction_points *p, double size)
{
    double load = 0.0, x = 0.0, y = 0.0;
    int point_arrangement = (int)uniform(0, 3);
    memset(p, 0, sizeof *p);
    p->count = 3 + (int)uniform(0, TACT_FRICTION_POINTS - 2);
    for (int i = 0; i < p->count; i++) {
        double way = uniform(0, 2 * M_PI), far = size * sqrt(uniform(0, 1));
        p->x[i] = far * cos(way) + (point_arrangement == 1 ? (i % 2 ? 3.0 : -3.0) * size : 0.0);
        p->y[i] = far * sin(way) * (point_arrangement == 2 ? 0.01 : 1.0);
        p->share[i] = uniform(0.2, 1.0);
        p->arm[i] = size * uniform(0.5, 1.0) / sqrt(p->count);
        load += p->share[i];
        x += p->share[i] * p->x[i];
        y += p->share[i] * p->y[i];
    }
    for (int i = 0; i < p->count; i++) {
        p->share[i] /= load;
        p->x[i] -= x / load;
        p->y[i] -= y / load;
    }
    if (uniform(0, 3) < 1.0) {
        tilt_normals_of_friction_points(p);
    }
    const double zero_slip[2] = {0.0, 0.0};
    double friction[3];
    return friction_force_and_power_of_points(p, zero_slip, 1.0, friction);
}

/* The limit surface's gauge function, gradient and Hessian, against sums over the parts and finite
 * differences. */
static void limit_surface_is_the_sum_over_friction_points(void **state)
{
    (void)state;
    double worst = 0.0, bent = 0.0, symmetric = 0.0;
    for (int n = 0; n < 4000; n++) {
        struct tact_friction_points parts;
        struct tact_local_problem p = {.surface = TACT_SURFACE_POINTS, .points = &parts};
        double z[3], normal[3] = {0.0}, bend[9], friction[3], step = 1e-6;
        p.spin_arm = make_random_friction_points(&parts, exp(uniform(-8, 2)));
        double scale = exp(uniform(-15, 15));
        for (int i = 0; i < 3; i++) {
            z[i] = scale * uniform(-1, 1) * (n % 4 == 3 && i < 2 ? 1e-6 : 1.0);
        }
        double gauge = sqrt(tact_friction_points_gauge_hessian(&p, z, normal, bend));
        friction_force_and_power_of_points(&parts, normal, normal[2] / p.spin_arm, friction);
        friction[2] /= p.spin_arm;
        for (int i = 0; i < 3; i++) {
            worst = fmax(worst, fabs(friction[i] - z[i] / gauge));
        }
        for (int k = 0; k < 3; k++) {
            double beside[2][3] = {{0.0}}, any[9], moved[3];
            for (int side = 0; side < 2; side++) {
                tact_v3_copy(moved, z);
                moved[k] += (side ? step : -step) * gauge;
                tact_friction_points_gauge_hessian(&p, moved, beside[side], any);
            }
            for (int i = 0; i < 3; i++) {
                double slope = (beside[1][i] - beside[0][i]) / (2.0 * step * gauge);
                double size = fabs(bend[0]) + fabs(bend[4]) + fabs(bend[8]);
                bent = fmax(bent, fabs(slope - bend[3 * i + k]) / size);
                symmetric = fmax(symmetric, fabs(bend[3 * i + k] - bend[3 * k + i]) / size);
            }
        }
    }
    print_message("friction within %.1e, curvature within %.1e of differences, symmetric to %.1e\n",
                  worst, bent, symmetric);
    assert_true(worst < 1e-11 && bent < 1e-4 && symmetric < 1e-12);
}

/* Whether friction is within a limit, which bounds of the gauge decide early, against the gauge
 * itself, far from the limit and near it. */
static void friction_within_a_limit_is_that_of_the_gauge(void **state)
{
    (void)state;
    int within_limit_trial_count = 0, trial_count = campaign_trial_count(20000, 1000000);
    for (int n = 0; n < trial_count; n++) {
        struct tact_friction_points parts;
        struct tact_local_problem p = {.surface = TACT_SURFACE_POINTS, .points = &parts};
        struct limit_surface_at_slip at;
        double z[3], slip[3] = {0.0}, scale = exp(uniform(-15, 15));
        p.spin_arm = make_random_friction_points(&parts, exp(uniform(-8, 2)));
        for (int i = 0; i < 3; i++) {
            z[i] = scale * uniform(-1, 1) * (n % 4 == 3 && i < 2 ? 1e-6 : 1.0);
        }
        double gauge = sqrt(tact_friction_points_squared_gauge(&p, z, slip, &at));
        double apart = (n % 2 ? 1.0 : -1.0) * exp(uniform(-22, 1));
        int is = tact_friction_points_surface_contains(&p, z, gauge * exp(apart));
        if (is != (apart > 0.0)) {
            fail_msg("gauge %.17g, limit of %.3g more of it: %d", gauge, apart, is);
        }
        within_limit_trial_count += is;
    }
    print_message("%d of %d within their limit\n", within_limit_trial_count, trial_count);
    assert_int_equal(within_limit_trial_count, trial_count / 2);
}

/* Deviation of the impulse r from the contact law: friction is that of the parts at the resulting
 * slip, or the contact sticks within their limit; no approach, and no normal velocity at the centre
 * of pressure. */
static double deviation_from_contact_law(const struct tact_local_problem *p, const double *r,
                                         int *slips)
{
    double u[6], f[3], speed = 0.0, worst = 0.0;
    contact_velocity_after_impulse(p, r, u);
    for (int i = 0; i < 3; i++) {
        speed = fmax(speed, fabs(p->b[i]) + p->spin_arm * fabs(p->b[3 + i]));
    }
    worst = largest_approach_speed(p, u) / speed;
    if (!(r[0] > 0)) {
        return worst;
    }
    double d[2] = {-r[5] / r[0], r[4] / r[0]}, force = p->mu * r[0];
    double v[2] = {d[1] * u[3] - u[1], -u[2] - d[0] * u[3]}, k = p->spin_arm;
    double torsion = r[3] - (d[0] * r[2] - d[1] * r[1]);
    double slip = sqrt(v[0] * v[0] + v[1] * v[1] + k * k * u[3] * u[3]);
    worst = fmax(worst, fabs(u[0] + d[1] * u[4] - d[0] * u[5]) / speed);
    double power = friction_force_and_power_of_points(p->points, v, -u[3], f);
    double friction_power_of_solution = r[1] * v[0] + r[2] * v[1] - torsion * u[3];
    worst = fmax(worst, fabs(friction_power_of_solution - force * power) / (force * speed));
    if (slip > 1e-7 * speed) {
        (*slips)++;
        worst = fmax(worst, slip / speed * hypot(r[1] - force * f[0], r[2] - force * f[1]) / force);
        worst = fmax(worst, slip / speed * fabs(torsion - force * f[2]) / (force * k));
    }
    /* sticking: r is within every tangent plane of the limit surface */
    for (int i = 0; i < 40; i++) {
        double way[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        double most = force * friction_force_and_power_of_points(p->points, way, way[2] / k, f);
        double is = r[1] * way[0] + r[2] * way[1] + torsion * way[2] / k;
        worst = fmax(worst, is / most - 1.0);
    }
    return worst;
}

static void cone_solver_solves_friction_points(void **state)
{
    (void)state;
    static const char *const kind_names[] = {"points", "ellipses", "polygons"};
    for (int kind = POINT; kind <= POLYGON; kind++) {
        int unsolved_problem_count = 0, slips = 0, count_per_kind[3] = {0};
        double worst = 0.0;
        for (int n = 0; n < 3000; n++) {
            struct tact_local_problem p;
            struct tact_friction_points parts;
            double r[6] = {0};
            make_random_local_problem(&p, (enum kind)kind);
            p.surface = TACT_SURFACE_POINTS;
            p.points = &parts;
            p.spin_arm = make_random_friction_points(&parts, p.spin_arm);
            tact_local_prepare(&p);
            for (int pass = 0; pass < 50; pass++) {
                int reached_solver_stage;
                tact_local_cone_by(&p, r, &reached_solver_stage);
                count_per_kind[reached_solver_stage - TACT_COUNT_STICK]++;
                if (tact_local_residual(&p, r) < 1e-12) {
                    break;
                }
            }
            double contact_law_deviation = deviation_from_contact_law(&p, r, &slips);
            assert_true(isfinite(contact_law_deviation));
            if (contact_law_deviation > 1e-8) {
                unsolved_problem_count++;
                assert_true(tact_local_residual(&p, r) > 1e-10);
            } else {
                worst = fmax(worst, contact_law_deviation);
            }
        }
        print_message("%s: %d of 3000 unsolved, the others within %.1e, %d slip; stick %d, active "
                      "set %d, search %d\n",
                      kind_names[kind], unsolved_problem_count, worst, slips, count_per_kind[0],
                      count_per_kind[1], count_per_kind[2]);
        assert_in_range(unsolved_problem_count, 0, 2);
        assert_true(slips > 300);
    }
}

/* Solves a problem by Newton's method from the solution of a similar one; compares the solution's
 * derivative with differences of solutions. */
static void solution_derivative_equals_differences(void **state)
{
    (void)state;
    int tried = 0, found = 0, differ = 0, compared = 0;
    for (int n = 0; n < 1500; n++) {
        struct tact_local_problem p;
        struct tact_friction_points parts;
        double r[6] = {0}, slope[36];
        make_random_local_problem(&p, (enum kind)(n % 3));
        p.surface = TACT_SURFACE_POINTS;
        p.points = &parts;
        p.spin_arm = make_random_friction_points(&parts, p.spin_arm);
        tact_local_prepare(&p);
        tact_local_cone(&p, r);
        if (!(r[0] > 0) || tact_local_residual(&p, r) > 1e-12) {
            continue;
        }
        tried++;
        double next[6];
        for (int k = 0; k < 6; k++) {
            p.b[k] *= uniform(0.99, 1.01);
        }
        memcpy(next, r, sizeof next);
        found +=
            tact_local_solve_by_active_set(&p, next) >= 0 && tact_local_residual(&p, next) <= 1e-10;
        memcpy(next, r, sizeof next);
        const int active = tact_local_cone(&p, next);
        if (tact_local_residual(&p, next) > 1e-12 ||
            !tact_local_impulse_derivative(&p, active, next, slope)) {
            continue;
        }
        double worst = 0.0, size = 0.0;
        int is_each_step_solved_at_same_limits = 1;
        for (int k = 0; k < p.rows; k++) {
            struct tact_local_problem beside = p;
            double solutions_at_both_steps[2][6], unit = fabs(p.b[k]) * 1e-6;
            int limits[2];
            for (int side = 0; side < 2; side++) {
                memcpy(solutions_at_both_steps[side], next, sizeof solutions_at_both_steps[side]);
                beside.b[k] = p.b[k] + (side ? unit : -unit);
                limits[side] = tact_local_cone(&beside, solutions_at_both_steps[side]);
                is_each_step_solved_at_same_limits &=
                    tact_local_residual(&beside, solutions_at_both_steps[side]) < 1e-12;
            }
            is_each_step_solved_at_same_limits &= limits[0] == limits[1];
            for (int i = 0; i < p.rows; i++) {
                double derivative_by_difference =
                    0.5 * (solutions_at_both_steps[1][i] - solutions_at_both_steps[0][i]);
                worst =
                    fmax(worst, fabs(derivative_by_difference - slope[6 * i + k] * unit) / next[0]);
                size = fmax(size, fabs(derivative_by_difference) / next[0]);
            }
        }
        compared += is_each_step_solved_at_same_limits;
        differ += is_each_step_solved_at_same_limits && worst > 1e-4 * size;
    }
    print_message("%d of %d near problems solved; %d derivatives, %d differ\n", found, tried,
                  compared, differ);
    assert_true(found >= 0.97 * tried && compared > 500);
    assert_int_equal(differ, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_surface_is_the_sum_over_friction_points),
        cmocka_unit_test(friction_within_a_limit_is_that_of_the_gauge),
        cmocka_unit_test(cone_solver_solves_friction_points),
        cmocka_unit_test(solution_derivative_equals_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
