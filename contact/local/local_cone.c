/*
 * Solution of the scaled law (local_scaled_internal.h). At a fixed centre of pressure and friction
 * fraction (a friction state) and slip multiplier g, friction is linear and is eliminated; g is
 * the root of one equation, and Newton's method finds the friction state that belongs to its own
 * impulse.
 */
#include "contact/counts.h"
#include "contact/local/local.h"

#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/local/local_active_internal.h"
#include "contact/local/local_points_internal.h"
#include "contact/local/local_scaled_internal.h"
#include "contact/root.h"
#include "contact/vec.h"

#define MAX_FRICTION_STATE_STEPS                                                                   \
    6 /* one more than the largest number of steps between friction states in a series of them */
#define MAX_FRICTION_STATE_STEP_QUARTERINGS                                                        \
    4 /* largest number of reductions of a step that increases the residual                        \
       */
#define FRICTION_STATE_DIFFERENCE_STEP                                                             \
    1e-6 /* step between friction states in numerical derivatives, relative to the patch */
#define MIN_FRICTION_RESIDUAL_DETERMINANT                                                          \
    1e-9 /* determinant below which a derivative matrix counts as singular */
#define CONVERGED_FRICTION_STATE_RESIDUAL                                                          \
    1e-12 /* residual of a friction state that counts as converged, relative to the patch */
#define DIVERGED_FRICTION_STATE_RESIDUAL                                                           \
    1e-6 /* residual of a friction state above which no solution is near, relative to the patch */
#define MAX_FRICTION_STATE_RELAXATIONS                                                             \
    12 /* most relaxation steps of the friction state where Newton's method fails */

/* Solves for the normal part x_N and friction z at a slip multiplier g; returns f_n / |z| - 1, zero
 * at the solution. */
static double evaluate_slip_equation(void *user, double g)
{
    struct scaled_local_problem *p = user;
    int n = p->has_rolling_torque_rows ? 3 : 1;
    double f[9], w[12]; /* columns of F^-1 [S_zN b_z] */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            f[3 * i + j] = p->s[(3 + i) * 6 + 3 + j];
        }
        f[4 * i] += g;
    }
    tact_ldl_factor(f, 3);
    for (int k = 0; k <= n; k++) {
        for (int i = 0; i < 3; i++) {
            w[3 * k + i] = k < n ? p->s[(3 + i) * 6 + k] : p->b[3 + i];
        }
        tact_ldl_solve(f, 3, w + 3 * k);
    }
    double h[9] = {0.0}, q[3];
    for (int i = 0; i < n; i++) {
        const double *row = p->s + i * 6 + 3;
        for (int j = 0; j < n; j++) {
            h[3 * i + j] = p->s[i * 6 + j] - tact_v3_dot(row, w + 3 * j);
        }
        q[i] = p->b[i] - tact_v3_dot(row, w + 3 * n);
    }
    p->rim = 0;
    if (n == 1) {
        double min_cholesky_pivot = TACT_PIVOT_FLOOR * p->s[0];
        p->x[0] = q[0] < 0.0 && h[0] > min_cholesky_pivot ? -q[0] / h[0] : 0.0;
    } else {
        p->rim = tact_normal_minimize_over_cone(&p->patch, h, q, p->x);
    }
    for (int i = 0; i < 3; i++) {
        p->x[3 + i] = -w[3 * n + i];
        for (int k = 0; k < n; k++) {
            p->x[3 + i] -= w[3 * k + i] * p->x[k];
        }
    }
    double z = tact_v3_norm(p->x + 3), slip_equation_value = z > 0.0 ? p->x[0] / z - 1.0 : 1.0;
    p->slip = g;
    return fabs(slip_equation_value) > 1e-15 ? slip_equation_value : 0.0;
}

/* Brackets the root of the slip equation, starting at `initial_slip_multiplier` and multiplying or
 * dividing by a growing factor; `lo` is below the root. Returns 1 where there is one; the last
 * evaluation is at the end where the equation holds, if it does. */
static int bracket_slip_multiplier(struct scaled_local_problem *p, double initial_slip_multiplier,
                                   double factor, double *lo, double *flo, double *hi, double *fhi)
{
    *hi = initial_slip_multiplier;
    *fhi = evaluate_slip_equation(p, initial_slip_multiplier);
    while (*fhi > 0.0 && factor < 2.0) {
        double trial_slip_multiplier = *hi / factor,
               f = evaluate_slip_equation(p, trial_slip_multiplier);
        if (f <= 0.0) {
            *lo = trial_slip_multiplier;
            *flo = f;
            return 1;
        }
        *hi = trial_slip_multiplier;
        *fhi = f;
        factor = 1.0 + 8.0 * (factor - 1.0);
    }
    for (int i = 0; i < 24 && *fhi < 0.0; i++) {
        *lo = *hi;
        *flo = *fhi;
        *hi *= factor;
        *fhi = evaluate_slip_equation(p, *hi);
        factor = tact_min(1.0 + 8.0 * (factor - 1.0), 16.0);
    }
    return *fhi >= 0.0;
}

/* Finds the slip multiplier g and the solution x. p->slip: on input a value near g, or 0. Returns
 * the active limits. */
static int solve_scaled_slip_problem(struct scaled_local_problem *p)
{
    double initial_slip_multiplier = p->slip > 0.0 ? p->slip : p->s[21] + p->s[28] + p->s[35];
    double factor = p->slip > 0.0 ? 1.001 : 16.0;
    double lo = 0.0, flo = evaluate_slip_equation(p, 0.0), hi, fhi;
    if (flo >= 0.0) {
        return 0;
    }
    if (bracket_slip_multiplier(p, initial_slip_multiplier, factor, &lo, &flo, &hi, &fhi) &&
        flo < 0.0 && fhi > 0.0) {
        tact_root_find(evaluate_slip_equation, p, lo, flo, hi, fhi, 80);
    }
    double z = tact_v3_norm(p->x + 3);
    if (z > p->x[0]) { /* friction is scaled to the limit surface except for rounding, and never
                          beyond it */
        tact_v3_scale(p->x + 3, p->x + 3, p->x[0] > 0.0 ? p->x[0] / z : 0.0);
    }
    return TACT_LIMIT_CONE;
}

void tact_local_prepare(struct tact_local_problem *problem)
{
    /* a point transmits no rolling torque: rows 4 and 5 are left out */
    int n = tact_local_transmits_rolling_torque(problem) ? 6 : 4;
    problem->rows = n;
    for (int i = 0; i < n; i++) {
        memcpy(problem->factor + n * i, problem->s + 6 * i, sizeof(double) * (size_t)n);
    }
    if (n == 6) { /* the number of rows is constant: the compiler unrolls the loops */
        tact_ldl_factor(problem->factor, 6);
    } else {
        tact_ldl_factor(problem->factor, 4);
    }
}

int tact_local_solve_sticking_impulse(const struct tact_local_problem *problem, double x[6],
                                      double d[2])
{
    int n = problem->rows;
    memset(x, 0, 6 * sizeof *x);
    for (int i = 0; i < n; i++) {
        x[i] = -problem->b[i];
    }
    if (n == 6) { /* the number of rows is constant: the compiler unrolls the loops */
        tact_ldl_solve(problem->factor, 6, x);
    } else {
        tact_ldl_solve(problem->factor, 4, x);
    }
    d[0] = d[1] = 0.0;
    if (!(x[0] > 0.0)) {
        return 0;
    }
    if (n == 6) {
        d[0] = -x[5] / x[0];
        d[1] = x[4] / x[0];
    }
    return 1;
}

/* Computes the impulse that stops all relative motion; 1 where the patch can transmit it. This
 * solves most contacts in most ticks. */
static int try_sticking_impulse(const struct tact_local_problem *problem, double *r)
{
    double x[6], d[2];
    if (!tact_local_solve_sticking_impulse(problem, x, d)) {
        return 0;
    }
    if (tact_local_edge_distance_ratio(problem, d) > 1.0 ||
        !tact_local_is_within_friction_limit(problem, x, d)) {
        return 0;
    }
    memcpy(r, x, sizeof x);
    return 1;
}

int tact_local_scale_to_limit_surface(const struct tact_local_problem *problem, double r[6])
{
    if (!(r[0] > 0.0)) {
        memset(r, 0, 6 * sizeof *r);
        return 0;
    }
    if (tact_local_resists_rolling(problem)) {
        return tact_local_enforce_rolling_limits(problem, r);
    }
    double inverse = 1.0 / r[0], f, m, w[2];
    const double d[2] = {-r[5] * inverse, r[4] * inverse};
    if (!(problem->spin_arm > 0.0)) {
        r[3] = d[0] * r[2] - d[1] * r[1];
    }
    double square, part[2];
    if (tact_has_friction_points(problem)) {
        struct limit_surface_at_slip at;
        double z[3], slip[3] = {0.0, 0.0, 0.0};
        tact_local_scaled_friction(problem, r, d, z);
        square = tact_friction_points_squared_gauge(problem, z, slip, &at);
        part[0] = z[0] * slip[0] + z[1] * slip[1];
        part[1] = z[2] * slip[2];
    } else {
        tact_local_squared_friction_and_torsion(problem, r, d, &f, &m);
        square = tact_local_limit_surface(problem, f, m, w);
        part[0] = f * w[0];
        part[1] = m * w[1];
    }
    double fit = square > r[0] * r[0] ? r[0] / sqrt(square) : 1.0;
    for (int i = 1; (fit < 1.0 || !(problem->mu > 0.0)) && i < 4; i++) {
        r[i] = problem->mu > 0.0 ? r[i] * fit : 0.0;
    }
    return (part[0] >= 0.01 * square ? TACT_LIMIT_CONE : 0) |
           (part[1] > 0.01 * square ? TACT_LIMIT_SPIN : 0);
}

int tact_local_solve_friction_state(const struct tact_local_problem *problem,
                                    const struct friction_state *at, double *r, double *slip)
{
    struct scaled_local_problem p;
    p.slip = *slip;
    memset(p.x, 0, sizeof p.x);
    tact_local_make_scaled_problem(problem, at, &p);
    int is_contact_opening =
        p.has_rolling_torque_rows ? tact_normal_velocity_opens_patch(&p.patch, p.b) : p.b[0] >= 0.0;
    if (is_contact_opening ||
        !(p.s[0] > 0.0)) { /* b_N is in the dual cone N*: the solution is zero */
        memset(r, 0, 6 * sizeof *r);
        return TACT_LIMIT_OPEN;
    }
    int limits = solve_scaled_slip_problem(&p);
    *slip = p.slip;
    if (p.has_points_limit_surface) {
        double z[3];
        tact_m3_mul_v3(z, p.lower, p.x + 3);
        tact_v3_copy(p.x + 3, z);
    }
    for (int i = 0; i < 6; i++) {
        r[tact_local_row_of_scaled_unknown[i]] = p.impulse_unit[i] * p.x[i];
    }
    r[3] += at->d[0] * r[2] - at->d[1] * r[1];
    if (!(p.x[0] > 0.0)) {
        return TACT_LIMIT_OPEN;
    }
    return limits | (p.rim ? TACT_LIMIT_EDGE : 0);
}

/* A trial friction state and the solution at it. */
struct friction_state_with_residual {
    struct friction_state at;
    double r[6];                            /* impulse that solves the law at this friction state */
    double centre_and_friction_residual[3]; /* difference between this friction state and that of
                       the impulse, over the patch size */
    double size; /* norm of the difference, the residual; 0: r is a solution */
    double slip; /* slip multiplier g; on input that of a similar friction state, or 0 */
    int limits;
};

static void
evaluate_trial_friction_state(const struct tact_local_problem *problem,
                              struct friction_state_with_residual *trial_of_friction_state)
{
    struct friction_state own;
    const struct friction_state *at = &trial_of_friction_state->at;
    int rolls = tact_local_transmits_rolling_torque(problem),
        moves = problem->surface != TACT_SURFACE_ELLIPSOID;
    trial_of_friction_state->limits = tact_local_solve_friction_state(
        problem, at, trial_of_friction_state->r, &trial_of_friction_state->slip);
    tact_local_friction_state(problem, trial_of_friction_state->r, &own);
    trial_of_friction_state->centre_and_friction_residual[0] =
        rolls ? (own.d[0] - at->d[0]) / problem->semi[0] : 0.0;
    trial_of_friction_state->centre_and_friction_residual[1] =
        rolls ? (own.d[1] - at->d[1]) / problem->semi[1] : 0.0;
    trial_of_friction_state->centre_and_friction_residual[2] =
        moves ? own.friction_to_torsion_fraction - at->friction_to_torsion_fraction : 0.0;
    trial_of_friction_state->size =
        tact_v3_norm(trial_of_friction_state->centre_and_friction_residual);
    /* 1 where friction is within the ellipsoid that is tangent to the limit surface at this state
     */
    int is_within_tangent_ellipsoid = !(trial_of_friction_state->limits & TACT_LIMIT_CONE);
    if (is_within_tangent_ellipsoid &&
        tact_local_friction_limit_ratio(problem, trial_of_friction_state->r, own.d) <= 1.0) {
        trial_of_friction_state->size = 0.0;
    }
}

/* Moves a friction state by a step in units of the patch, within the patch; step: on output the
 * actual move. */
static void move_friction_state_within_patch(const struct tact_local_problem *problem,
                                             struct friction_state *at, double *step)
{
    const struct friction_state friction_state_before_step = *at;
    for (int i = 0; i < 2 && tact_local_transmits_rolling_torque(problem); i++) {
        at->d[i] += problem->semi[i] * step[i];
    }
    at->friction_to_torsion_fraction =
        tact_max(0.0, tact_min(1.0, at->friction_to_torsion_fraction + step[2]));
    tact_local_clamp_pressure_centre(problem, at->d);
    for (int i = 0; i < 2 && tact_local_transmits_rolling_torque(problem); i++) {
        step[i] = (at->d[i] - friction_state_before_step.d[i]) / problem->semi[i];
    }
    step[2] =
        at->friction_to_torsion_fraction - friction_state_before_step.friction_to_torsion_fraction;
}

/* Minus the inverse of the derivative of the residual, by finite differences; the identity, as if
 * the impulse did not depend on the state, where it is singular. */
static void invert_residual_derivative(const struct tact_local_problem *problem,
                                       const struct friction_state_with_residual *now,
                                       double *inverse)
{
    const int rolls = tact_local_transmits_rolling_torque(problem);
    const int is_friction_state_component_varying[3] = {rolls, rolls,
                                                        problem->surface != TACT_SURFACE_ELLIPSOID};
    const double difference_step_sign_inward[3] = {
        now->at.d[0] > 0.0 ? -1.0 : 1.0, now->at.d[1] > 0.0 ? -1.0 : 1.0,
        now->at.friction_to_torsion_fraction > 0.5 ? -1.0 : 1.0};
    double column[3][3], cross[3][3];
    for (int k = 0; k < 3; k++) {
        struct friction_state_with_residual perturbed_friction_trial = *now;
        double step[3] = {0.0, 0.0, 0.0};
        tact_v3_set(column[k], k == 0, k == 1, k == 2);
        if (is_friction_state_component_varying[k]) {
            step[k] = FRICTION_STATE_DIFFERENCE_STEP * difference_step_sign_inward[k];
            move_friction_state_within_patch(problem, &perturbed_friction_trial.at, step);
            evaluate_trial_friction_state(problem, &perturbed_friction_trial);
            tact_v3_sub(column[k], now->centre_and_friction_residual,
                        perturbed_friction_trial.centre_and_friction_residual);
            tact_v3_scale(column[k], column[k],
                          difference_step_sign_inward[k] / FRICTION_STATE_DIFFERENCE_STEP);
        }
    }
    tact_v3_cross(cross[0], column[1], column[2]);
    tact_v3_cross(cross[1], column[2], column[0]);
    tact_v3_cross(cross[2], column[0], column[1]);
    double det = tact_v3_dot(column[0], cross[0]);
    for (int i = 0; i < 9; i++) {
        inverse[i] = fabs(det) > MIN_FRICTION_RESIDUAL_DETERMINANT ? cross[i / 3][i % 3] / det
                                                                   : (double)(i % 4 == 0);
    }
}

/* Broyden's rank-one update of minus the inverse derivative, for a step that changed the residual.
 */
static void update_inverse_by_broyden(double *inverse, const double *step,
                                      const double *residual_before_broyden_step,
                                      const double *residual_after_broyden_step)
{
    double residual_change_of_broyden_step[3], inverse_times_change[3], back[3];
    tact_v3_sub(residual_change_of_broyden_step, residual_after_broyden_step,
                residual_before_broyden_step);
    tact_m3_mul_v3(inverse_times_change, inverse, residual_change_of_broyden_step);
    tact_m3_tmul_v3(back, inverse, step);
    double size = tact_v3_dot(step, inverse_times_change);
    for (int i = 0; i < 9 && fabs(size) > 1e-300; i++) {
        inverse[i] -= (step[i / 3] + inverse_times_change[i / 3]) * back[i % 3] / size;
    }
}

/* Searches along a step of the friction state for a reduced residual, by quartering it. Returns 1
 * where one was found. */
static int reduce_residual_along_newton_step(const struct tact_local_problem *problem,
                                             double *inverse,
                                             struct friction_state_with_residual *now)
{
    struct friction_state_with_residual friction_trial_after_step;
    double step[3], share = 1.0;
    for (int i = 0; i < MAX_FRICTION_STATE_STEP_QUARTERINGS; i++) {
        friction_trial_after_step = *now;
        tact_m3_mul_v3(step, inverse, now->centre_and_friction_residual);
        tact_v3_scale(step, step, share);
        move_friction_state_within_patch(problem, &friction_trial_after_step.at, step);
        evaluate_trial_friction_state(problem, &friction_trial_after_step);
        if (friction_trial_after_step.size < now->size) {
            update_inverse_by_broyden(inverse, step, now->centre_and_friction_residual,
                                      friction_trial_after_step.centre_and_friction_residual);
            *now = friction_trial_after_step;
            return 1;
        }
        share *= 0.25;
    }
    return 0;
}

/* Newton's method for the friction state. The first step assumes that the impulse does not depend
 * on the state, which holds approximately where the patch is small compared with the body. Where it
 * depends more, as for a spinning ball, the derivative is computed by finite differences. Returns 0
 * where this does not converge. */
static int iterate_friction_state(const struct tact_local_problem *problem,
                                  struct friction_state_with_residual *now)
{
    double inverse[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    int most = problem->passes ? problem->passes : MAX_FRICTION_STATE_STEPS;
    double residual_before_broyden_step = INFINITY;
    evaluate_trial_friction_state(problem, now);
    for (int friction_state_step = 1;
         friction_state_step < most && now->size > CONVERGED_FRICTION_STATE_RESIDUAL;
         friction_state_step++) {
        double step[3];
        residual_before_broyden_step = now->size;
        struct friction_state_with_residual friction_trial_after_step = *now;
        tact_m3_mul_v3(step, inverse, now->centre_and_friction_residual);
        move_friction_state_within_patch(problem, &friction_trial_after_step.at, step);
        evaluate_trial_friction_state(problem, &friction_trial_after_step);
        update_inverse_by_broyden(inverse, step, now->centre_and_friction_residual,
                                  friction_trial_after_step.centre_and_friction_residual);
        if (friction_trial_after_step.size < now->size) {
            *now = friction_trial_after_step;
        }
        if (now->size > 0.1 * residual_before_broyden_step &&
            now->size > CONVERGED_FRICTION_STATE_RESIDUAL) {
            invert_residual_derivative(problem, now, inverse);
            if (!reduce_residual_along_newton_step(problem, inverse, now)) {
                break;
            }
        }
    }
    return now->size <=
           tact_max(DIVERGED_FRICTION_STATE_RESIDUAL, 0.5 * residual_before_broyden_step);
}

/* Relaxes the friction state: moves it halfway to that of the present impulse, repeatedly, even if
 * the residual increases. */
static void relax_friction_state(const struct tact_local_problem *problem,
                                 struct friction_state_with_residual *now)
{
    for (int i = 0;
         i < MAX_FRICTION_STATE_RELAXATIONS && now->size > CONVERGED_FRICTION_STATE_RESIDUAL; i++) {
        double step[3];
        tact_v3_scale(step, now->centre_and_friction_residual, 0.5);
        move_friction_state_within_patch(problem, &now->at, step);
        evaluate_trial_friction_state(problem, now);
    }
}

/* Searches for the friction state of the solution, from the impulse r. Returns the active limits.
 */
static int search_friction_state(const struct tact_local_problem *problem, double *r)
{
    struct friction_state_with_residual now = {.slip = 0.0};
    tact_local_friction_state(problem, r, &now.at);
    if (!iterate_friction_state(problem, &now)) {
        /* the search ended at a local minimum of the residual that is not zero */
        struct friction_state_with_residual relaxed_friction_trial = now;
        relax_friction_state(problem, &relaxed_friction_trial);
        iterate_friction_state(problem, &relaxed_friction_trial);
        now = relaxed_friction_trial.size < now.size ? relaxed_friction_trial : now;
    }
    memcpy(r, now.r, sizeof now.r);
    return now.limits;
}

/* 1 where b_N is in the dual cone N*, so that the solution is zero at any friction state. */
static int is_zero_impulse_solution(const struct tact_local_problem *problem)
{
    const double *b = problem->b, *semi = problem->semi;
    if (!tact_local_transmits_rolling_torque(problem)) {
        return b[0] >= 0.0;
    }
    const double v[3] = {b[0], -semi[0] * b[5], semi[1] * b[4]};
    struct admissible_pressure_centres patch;
    patch.corners = problem->corners;
    for (int i = 0; i < patch.corners; i++) {
        patch.corner[i][0] = problem->corner[i][0] / semi[0];
        patch.corner[i][1] = problem->corner[i][1] / semi[1];
    }
    return tact_normal_velocity_opens_patch(&patch, v);
}

int tact_local_cone(const struct tact_local_problem *problem, double r[6])
{
    int by;
    return tact_local_cone_by(problem, r, &by);
}

int tact_local_cone_by(const struct tact_local_problem *problem, double r[6], int *by)
{
    if (tact_local_resists_rolling(problem)) {
        return tact_local_solve_with_rolling_resistance(problem, r, by);
    }
    *by = TACT_COUNT_STICK;
    if (try_sticking_impulse(problem, r)) {
        return 0;
    }
    int limits = tact_local_solve_by_active_set(problem, r);
    *by = TACT_COUNT_ACTIVE_SET;
    if (limits < 0 && is_zero_impulse_solution(problem)) {
        memset(r, 0, 6 * sizeof *r);
        return TACT_LIMIT_OPEN;
    }
    if (limits < 0) {
        *by = TACT_COUNT_SEARCH;
        limits = tact_has_friction_points(problem) ? tact_local_search_on_points_surface(problem, r)
                                                   : search_friction_state(problem, r);
    }
    int friction_limits_reached = tact_local_scale_to_limit_surface(problem, r);
    return limits & TACT_LIMIT_CONE ? (limits & ~TACT_LIMIT_CONE) | friction_limits_reached
                                    : limits;
}
