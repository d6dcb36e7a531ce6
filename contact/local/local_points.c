/*
 * The limit surface of a pressure given by its parts (struct tact_friction_points). Its support
 * function is the power of friction at a slip s = (v_1, v_2, k w) over mu f_n,
 *
 *     h(s) = sum share sqrt(s' A s),   s' A s = u'(1 - T) u + (w arm)^2,   u = v + w x r
 *
 * with A positive semidefinite of each part. Friction at s is z = h'(s). h^2 / 2 and half of the
 * square of the gauge of the surface are conjugates, so the slip that belongs to z is the least of
 * h^2 / 2 - z.s, smooth and strictly convex; and the Hessians are inverse to each other. With L =
 * s' A s of each part at one slip,
 *
 *     h(s)^2 <= s' H s,   H = h sum share A / sqrt(L),   H s = h h'(s) there
 *
 * (Cauchy and Schwarz): the ellipsoid z' H^-1 z = 1 contains the surface and is tangent to it at
 * that slip. A step to the least of s' H s / 2 - z.s therefore always descends, and is the fallback
 * of Newton's method.
 */
#include <float.h>
#include <math.h>
#include <string.h>
#include "contact/local/local_points_internal.h"
#include "contact/vec.h"

#define ROUNDING_GAUGE_RESIDUAL                                                                    \
    2e-14 /* residual of the gauge, relative to the friction, below which it is rounding alone */
#define STALLED_GAUGE_RESIDUAL                                                                     \
    1e-12 /* relative residual below which a step that does not reduce it ends the search */
#define GAUGE_LIMIT_DECISION_MARGIN                                                                \
    1e-9 /* fraction of a limit by which a bound of the gauge must differ from it to decide on     \
            which side the gauge is */
#define MIN_SQUARED_SLIP                                                                           \
    (DBL_MIN / (DBL_EPSILON * DBL_EPSILON)) /* square of a slip below which its parts underflow */
#define MAX_SLIP_NEWTON_STEPS 60

/* Inverse of a symmetric 3 x 3 matrix. */
static void invert_symmetric_3x3(const double *m, double *out)
{
    double matrix_cofactor_rows[3][3];
    tact_v3_cross(matrix_cofactor_rows[0], m + 3, m + 6);
    tact_v3_cross(matrix_cofactor_rows[1], m + 6, m);
    tact_v3_cross(matrix_cofactor_rows[2], m, m + 3);
    double det = tact_v3_dot(m, matrix_cofactor_rows[0]), inverse = 1.0 / det;
    for (int i = 0; i < 9; i++) {
        out[i] = inverse * matrix_cofactor_rows[i % 3][i / 3];
    }
}

/* Moves a slip by a Newton step: the inverse of a matrix times the residual. */
static void apply_newton_step_to_slip(const double *slip_objective_hessian,
                                      const double *slip_gauge_residual, double *slip)
{
    double by[9], step[3];
    invert_symmetric_3x3(slip_objective_hessian, by);
    tact_m3_mul_v3(step, by, slip_gauge_residual);
    tact_v3_add(slip, slip, step);
}

/* Residual of z = h h'(s), and h^2 / 2 - z.s. */
static double compute_gauge_slip_residual(const struct limit_surface_at_slip *at, const double *z,
                                          const double *slip, double *slip_gauge_residual,
                                          double *slip_search_objective)
{
    for (int i = 0; i < 3; i++) {
        slip_gauge_residual[i] = z[i] - at->power * at->force[i];
    }
    *slip_search_objective = 0.5 * at->power * at->power - tact_v3_dot(z, slip);
    return tact_v3_norm(slip_gauge_residual);
}

/* Adds the matrix A of a pressure part i, for slips (v_1, v_2, w), times share. */
static void add_friction_matrix_of_part(const struct tact_friction_points *p, int i,
                                        double *slip_objective_hessian)
{
    const double x = p->x[i], y = p->y[i], share = p->share[i];
    const double one = 1.0 - p->tilt_xx[i], xy = -p->tilt_xy[i], other = 1.0 - p->tilt_yy[i];
    const double a = xy * x - one * y, b = other * x - xy * y;
    const double friction_matrix_of_part[9] = {
        one, xy, a, xy, other, b, a, b, x * b - y * a + p->arm[i] * p->arm[i]};
    for (int k = 0; k < 9; k++) {
        slip_objective_hessian[k] += share * friction_matrix_of_part[k];
    }
}

/* The slip at which forces of the parts that are proportional to their slips would add up to z. */
static int find_slip_of_proportional_friction(const struct tact_local_problem *problem,
                                              const double z[3], double slip[3])
{
    const struct tact_friction_points *p = problem->points;
    const double torque[3] = {z[0], z[1], z[2] * problem->spin_arm};
    double square = 0.0, slip_objective_hessian[9] = {0.0}, inverse[9];
    for (int i = 0; i < p->count; i++) {
        square += p->share[i] * (p->x[i] * p->x[i] + p->y[i] * p->y[i] + p->arm[i] * p->arm[i]);
    }
    if (!(square > 0.0)) {
        return 0;
    }
    tact_v3_set(slip, z[0], z[1], torque[2] / square);
    if (p->tilted) {
        for (int i = 0; i < p->count; i++) {
            add_friction_matrix_of_part(p, i, slip_objective_hessian);
        }
        invert_symmetric_3x3(slip_objective_hessian, inverse);
        tact_m3_mul_v3(slip, inverse, torque);
    }
    return 1;
}

/* Square of a bound on the gauge: z is the sum of forces of the parts at what would be their slips
 * if friction were proportional to slip; the gauge is at most the largest of these over its limit.
 */
static double squared_gauge_bound(const struct tact_local_problem *problem, const double z[3])
{
    const struct tact_friction_points *p = problem->points;
    double slip[3], worst = 0.0;
    if (!find_slip_of_proportional_friction(problem, z, slip)) {
        return INFINITY;
    }
    for (int i = 0; i < p->count; i++) {
        double w = slip[2], a = slip[0] - w * p->y[i], b = slip[1] + w * p->x[i], c = w * p->arm[i];
        double squared_slip_along_surface_normal =
            p->tilted ? p->tilt_xx[i] * a * a + 2.0 * p->tilt_xy[i] * a * b + p->tilt_yy[i] * b * b
                      : 0.0;
        worst = tact_max(worst, a * a + b * b + c * c - squared_slip_along_surface_normal);
    }
    return worst;
}

/* Whether the gauge at z is at most a limit, as far as a slip near that of z decides it: 1, 0, or
 * -1 where it does not. By definition the gauge is at least z.s / h(s); and as a norm at most that
 * of h h'(s), h(s), and that of the residual. */
static int compare_gauge_with_limit(const struct tact_local_problem *problem, const double *z,
                                    const double *slip, const struct limit_surface_at_slip *at,
                                    const double *slip_gauge_residual, double limit)
{
    if (tact_v3_dot(z, slip) > limit * at->power * (1.0 + GAUGE_LIMIT_DECISION_MARGIN)) {
        return 0;
    }
    double friction_power_below_limit = limit * (1.0 - GAUGE_LIMIT_DECISION_MARGIN) - at->power;
    if (!(tact_v3_norm(slip_gauge_residual) < friction_power_below_limit)) {
        return -1; /* the bound of the residual's gauge is hardly below the residual's norm */
    }
    return squared_gauge_bound(problem, slip_gauge_residual) <
                   friction_power_below_limit * friction_power_below_limit
               ? 1
               : -1;
}

/* Searches for the slip of z from a slip at which the surface is `at`. limit: the search ends where
 * it is decided whether the gauge is at most this, and *is_gauge_within_limit is then 0 or 1;
 * INFINITY: nothing is to be decided. Returns the square of the gauge. */
static double find_slip_of_friction(const struct tact_local_problem *problem, const double *z,
                                    double limit, double *slip, struct limit_surface_at_slip *at,
                                    int *is_gauge_within_limit)
{
    struct limit_surface_at_slip trial_limit_surface;
    double size = tact_v3_norm(z), slip_gauge_residual[3], then[3], value, after;
    double slip_search_residual =
        compute_gauge_slip_residual(at, z, slip, slip_gauge_residual, &value);
    for (int i = 0;
         i < MAX_SLIP_NEWTON_STEPS && slip_search_residual > ROUNDING_GAUGE_RESIDUAL * size; i++) {
        double trial_slip_velocity[3];
        if (isfinite(limit)) {
            *is_gauge_within_limit =
                compare_gauge_with_limit(problem, z, slip, at, slip_gauge_residual, limit);
            if (*is_gauge_within_limit >= 0) {
                break;
            }
        }
        tact_v3_copy(trial_slip_velocity, slip);
        apply_newton_step_to_slip(at->hessian, slip_gauge_residual, trial_slip_velocity);
        tact_friction_points_at_slip(problem, trial_slip_velocity, &trial_limit_surface);
        double trial_slip_residual =
            compute_gauge_slip_residual(&trial_limit_surface, z, trial_slip_velocity, then, &after);
        if (!(trial_slip_residual < 0.5 * slip_search_residual || after < value)) {
            if (slip_search_residual <= STALLED_GAUGE_RESIDUAL * size) {
                break;
            }
            tact_v3_copy(trial_slip_velocity, slip);
            apply_newton_step_to_slip(at->metric, slip_gauge_residual, trial_slip_velocity);
            tact_friction_points_at_slip(problem, trial_slip_velocity, &trial_limit_surface);
            trial_slip_residual = compute_gauge_slip_residual(&trial_limit_surface, z,
                                                              trial_slip_velocity, then, &after);
        }
        tact_v3_copy(slip, trial_slip_velocity);
        tact_v3_copy(slip_gauge_residual, then);
        *at = trial_limit_surface;
        slip_search_residual = trial_slip_residual;
        value = after;
    }
    return tact_v3_dot(z, slip);
}

double tact_friction_points_squared_gauge(const struct tact_local_problem *problem,
                                          const double z[3], double slip[3],
                                          struct limit_surface_at_slip *at)
{
    int is_gauge_within_limit;
    if (!(tact_v3_dot(z, z) > 0.0)) {
        memset(at, 0, sizeof *at);
        tact_v3_set(slip, 0.0, 0.0, 0.0);
        return 0.0;
    }
    if (!(tact_v3_dot(slip, z) > 0.0) || tact_v3_dot(slip, slip) < MIN_SQUARED_SLIP) {
        tact_v3_copy(slip, z);
    }
    tact_friction_points_at_slip(problem, slip, at);
    /* of all slips s in this direction, the one with the least h^2 / 2 - z.s, where h is the power
     * at s */
    double share = tact_v3_dot(slip, z) / at->power / at->power;
    tact_v3_scale(slip, slip, share);
    at->power *= share;
    return find_slip_of_friction(problem, z, INFINITY, slip, at, &is_gauge_within_limit);
}

int tact_friction_points_surface_contains(const struct tact_local_problem *problem,
                                          const double z[3], double limit)
{
    struct limit_surface_at_slip at;
    double slip[3] = {z[0], z[1], z[2]}, size = tact_v3_dot(z, z);
    int is_gauge_within_limit = -1;
    if (!(size > 0.0) || squared_gauge_bound(problem, z) <= limit * limit) {
        return 1;
    }
    tact_friction_points_at_slip(problem, slip, &at);
    if (size > limit * at.power) {
        return 0;
    }
    double square = find_slip_of_friction(problem, z, limit, slip, &at, &is_gauge_within_limit);
    return is_gauge_within_limit >= 0 ? is_gauge_within_limit : square <= limit * limit;
}

double tact_friction_points_gauge_hessian(const struct tact_local_problem *problem,
                                          const double z[3], double normal[3],
                                          double limit_surface_hessian[9])
{
    struct limit_surface_at_slip at;
    double square = tact_friction_points_squared_gauge(problem, z, normal, &at);
    if (square > 0.0) {
        invert_symmetric_3x3(at.hessian, limit_surface_hessian);
    } else {
        memset(limit_surface_hessian, 0, 9 * sizeof *limit_surface_hessian);
    }
    return square;
}

void tact_friction_points_tangent_ellipsoid(const struct tact_local_problem *problem,
                                            const double slip[3], double lower[9])
{
    struct limit_surface_at_slip at;
    const double any[3] = {1.0, 0.0, 0.0};
    const double *m = at.metric;
    tact_friction_points_at_slip(problem, tact_v3_dot(slip, slip) > 0.0 ? slip : any, &at);
    memset(lower, 0, 9 * sizeof *lower);
    lower[0] = sqrt(m[0]);
    lower[3] = m[3] / lower[0];
    lower[6] = m[6] / lower[0];
    lower[4] = sqrt(m[4] - lower[3] * lower[3]);
    lower[7] = (m[7] - lower[6] * lower[3]) / lower[4];
    lower[8] = sqrt(m[8] - lower[6] * lower[6] - lower[7] * lower[7]);
}

void tact_friction_points_map_to_unit_ball(const double lower[9], const double z[3], double y[3])
{
    y[0] = z[0] / lower[0];
    y[1] = (z[1] - lower[3] * y[0]) / lower[4];
    y[2] = (z[2] - lower[6] * y[0] - lower[7] * y[1]) / lower[8];
}
