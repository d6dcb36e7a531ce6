#include "contact/local/local_active_internal.h"

#include <math.h>
#include <string.h>
#include "contact/local/local_scaled_internal.h"
#include "contact/vec.h"

enum { MAX_ACTIVE_SET_STEPS = 16, SWITCHES = 6 };

#define MIN_FRICTION_RATIO_AT_LIMIT                                                                \
    (1.0 - 1e-9) /* ratio of friction to its limit from which the limit counts as reached */
#define ROUNDING_VELOCITY_RESIDUAL                                                                 \
    1e-15 /* residual of the contact velocities, relative to their size, that counts as rounding   \
           */
#define MAX_NORMAL_FORCE_DROP_RATIO                                                                \
    0.9 /* largest share of the normal force by which a Newton step may reduce it */
#define MAX_SQUARED_FRICTION_TO_LIMIT_RATIO                                                        \
    1.5 /* square of friction over that of its limit from which friction is scaled to the limit */
#define ACCEPTED_NEWTON_RESIDUAL                                                                   \
    1e-10 /* relative residual that is accepted when Newton's method on the active limits ends */

/* Projects the normal part of the impulse onto the active face, and updates everything that depends
 * on it. */
static void project_impulse_to_face(struct tact_active_set *a)
{
    tact_active_set_project_to_face(a);
    tact_active_set_compute_velocities(a);
    tact_active_set_update_limit_surface(a);
}

/* Estimates the multiplier of slip by the least residual of the friction law. */
static void estimate_slip_multiplier(struct tact_active_set *a)
{
    double v[3], resist[3];
    tact_active_set_compute_slip(a, v);
    tact_active_set_limit_surface_normal(a, resist);
    double size = tact_v3_dot(resist, resist);
    a->slip_multiplier = size > 0.0 ? tact_max(0.0, -tact_v3_dot(resist, v) / size) : 0.0;
}

/* Takes a step of Newton's method, shortened so that the normal force does not vanish. The limit of
 * friction is an equation of squares, from beyond which Newton's method halves the excess in each
 * step: friction far beyond it is scaled to it. Returns 0 where the step is not finite. */
static int
apply_active_set_newton_step(struct tact_active_set *a,
                             const struct tact_active_set_changes *active_set_newton_step)
{
    double relative_normal_force_drop_of_step = -active_set_newton_step->n[0] / a->n[0];
    double share = relative_normal_force_drop_of_step > MAX_NORMAL_FORCE_DROP_RATIO
                       ? MAX_NORMAL_FORCE_DROP_RATIO / relative_normal_force_drop_of_step
                       : 1.0;
    tact_v3_axpy(a->n, share, active_set_newton_step->n);
    tact_v3_axpy(a->t, share, active_set_newton_step->t);
    a->slip_multiplier += share * active_set_newton_step->slip_multiplier;
    if (!(a->n[0] > 0.0) || !isfinite(a->n[0] + a->t[0] + a->t[1] + a->t[2])) {
        return 0;
    }
    project_impulse_to_face(a);
    if (a->is_contact_slipping && a->g > MAX_SQUARED_FRICTION_TO_LIMIT_RATIO * a->n[0] * a->n[0]) {
        tact_v3_scale(a->t, a->t, a->n[0] / sqrt(a->g));
        project_impulse_to_face(a);
        estimate_slip_multiplier(a);
    }
    return 1;
}

/* Runs Newton's method with the present face and slip state. Returns 1 where it converged. */
static int iterate_newton_on_active_face(struct tact_active_set *a)
{
    struct tact_active_set_changes active_set_newton_step;
    for (int step = 0;; step++) {
        if (step == 0 || a->face == FACE_RIM) {
            tact_active_set_compute_face_basis(a);
        }
        double active_set_equation_residual = tact_active_set_residual(a),
               size = tact_active_set_velocity_scale(a);
        if (active_set_equation_residual <= ROUNDING_VELOCITY_RESIDUAL * size ||
            step == MAX_ACTIVE_SET_STEPS) {
            return active_set_equation_residual <= ACCEPTED_NEWTON_RESIDUAL * size;
        }
        tact_active_set_solve_newton_step(a, &active_set_newton_step);
        if (!apply_active_set_newton_step(a, &active_set_newton_step)) {
            return 0;
        }
    }
}

/* Switches the contact from stick to slip: scales friction to its limit. */
static void switch_from_stick_to_slip(struct tact_active_set *a)
{
    tact_v3_scale(a->t, a->t, a->n[0] / sqrt(a->g));
    a->is_contact_slipping = 1;
    project_impulse_to_face(a);
    estimate_slip_multiplier(a);
}

/* 1 where the slip state, stick or slip, is consistent with the solution; otherwise switches it. */
static int switch_slip_state_if_inconsistent(struct tact_active_set *a)
{
    if (a->is_contact_slipping && a->slip_multiplier < 0.0) {
        a->is_contact_slipping = 0;
        return 0;
    }
    if (!a->is_contact_slipping && a->g > a->n[0] * a->n[0]) {
        switch_from_stick_to_slip(a);
        return 0;
    }
    return 1;
}

/* Loads a scaled 3 x 3 block of S, by rows and by columns; returns the block's largest diagonal
 * entry. */
static double copy_scaled_mobility_block(const struct tact_local_problem *problem,
                                         const double *impulse_unit, int row, int column,
                                         double rows[3][4], double columns[3][4])
{
    const int *i = tact_local_row_of_scaled_unknown + row,
              *j = tact_local_row_of_scaled_unknown + column;
    for (int k = 0; k < 9; k++) {
        rows[k / 3][k % 3] = columns[k % 3][k / 3] = impulse_unit[row + k / 3] *
                                                     impulse_unit[column + k % 3] *
                                                     problem->s[6 * i[k / 3] + j[k % 3]];
    }
    for (int k = 0; k < 3; k++) {
        rows[k][3] = columns[k][3] = 0.0; /* a denormal number in a lane would slow all of them */
    }
    return tact_max(rows[0][0], tact_max(rows[1][1], rows[2][2]));
}

/* Loads three scaled entries of b and of r; returns the largest of b. */
static double copy_scaled_problem_rows(const struct tact_local_problem *problem,
                                       const double *impulse_unit, const double *r, int row,
                                       double *b, double *x)
{
    double most = 0.0;
    for (int i = 0; i < 3; i++) {
        int row_of_scaled_unknown = tact_local_row_of_scaled_unknown[row + i];
        b[i] = impulse_unit[row + i] * problem->b[row_of_scaled_unknown];
        x[i] =
            impulse_unit[row + i] != 0.0 ? r[row_of_scaled_unknown] / impulse_unit[row + i] : 0.0;
        most = tact_max(most, fabs(b[i]));
    }
    return most;
}

/* Loads S, b and r, scaled. */
static void copy_scaled_problem(const struct tact_local_problem *problem, const double *r,
                                struct tact_active_set *a)
{
    const double *impulse_unit = a->impulse_unit;
    double nn[3][4], normal = copy_scaled_mobility_block(problem, impulse_unit, 0, 0, nn,
                                                         a->columns_of_normal_mobility_block);
    double friction = copy_scaled_mobility_block(problem, impulse_unit, 3, 3, a->tt, a->tt_columns);
    copy_scaled_mobility_block(problem, impulse_unit, 0, 3, a->nt, a->nt_columns);
    a->bn[3] = a->bt[3] = 0.0;
    a->max_scaled_mobility = tact_max(normal, friction);
    normal = copy_scaled_problem_rows(problem, impulse_unit, r, 0, a->bn, a->n);
    friction = copy_scaled_problem_rows(problem, impulse_unit, r, 3, a->bt, a->t);
    a->largest_free_velocity = tact_max(normal, friction);
}

/* Scales the impulse so that the normal force does no work. The other unknowns may be near the
 * solution even where the magnitude is not. */
static void scale_impulse_to_zero_work(struct tact_active_set *a)
{
    double s[3], power, normal_power = tact_v3_dot(a->n, a->bn);
    tact_v3_sub(s, a->un, a->bn);
    power = tact_v3_dot(a->n, s);
    if (normal_power < 0.0 && power > 0.0) {
        tact_v3_scale(a->n, a->n, -normal_power / power);
        tact_v3_scale(a->t, a->t, -normal_power / power);
        tact_active_set_compute_velocities(a);
    }
}

/* Scales the local problem at the impulse r. Returns 0 where the active-set method does not apply.
 */
static int init_scaled_problem(const struct tact_local_problem *problem, const double *r,
                               struct tact_active_set *a)
{
    int rolls = tact_local_transmits_rolling_torque(problem);
    double mu = problem->mu, arm = mu * problem->spin_arm;
    int has_torsion_limit =
        problem->spin_arm > 0.0; /* spin arm 0: the contact is a point, without torsion */
    if (!(r[0] > 0.0) || !(mu > 0.0) || (rolls && !has_torsion_limit)) {
        return 0;
    }
    const double impulse_unit[6] = {
        1.0, rolls ? -problem->semi[0] : 0.0, rolls ? problem->semi[1] : 0.0, mu, mu, arm};
    memcpy(a->impulse_unit, impulse_unit, sizeof impulse_unit);
    copy_scaled_problem(problem, r, a);
    if (!has_torsion_limit) {
        a->tt[2][2] = a->tt_columns[2][2] = a->max_scaled_mobility;
    }
    a->semi_axis_1_over_spin_arm = has_torsion_limit ? problem->semi[0] / problem->spin_arm : 0.0;
    a->semi_axis_2_over_spin_arm = has_torsion_limit ? problem->semi[1] / problem->spin_arm : 0.0;
    a->corners = rolls ? problem->corners : 0;
    double inverse[2] = {1.0 / problem->semi[0], 1.0 / problem->semi[1]};
    for (int i = 0; i < a->corners; i++) {
        a->corner[i][0] = problem->corner[i][0] * inverse[0];
        a->corner[i][1] = problem->corner[i][1] * inverse[1];
    }
    a->law = problem;
    tact_v3_set(a->normal, 0.0, 0.0, 0.0);
    a->face = rolls ? FACE_INSIDE : FACE_POINT;
    a->first = 0;
    return 1;
}

/* Initialises the active set with the limits that are active at r; with `must_scale_to_zero_work`
 * the magnitude of r is corrected. Returns 0 where the active-set method does not apply. */
static int init_active_set(const struct tact_local_problem *problem, const double *r,
                           int must_scale_to_zero_work, struct tact_active_set *a)
{
    if (!init_scaled_problem(problem, r, a)) {
        return 0;
    }
    tact_active_set_choose_face(a);
    tact_active_set_project_to_face(a);
    tact_active_set_compute_velocities(a);
    if (must_scale_to_zero_work) {
        scale_impulse_to_zero_work(a);
    }
    /* a contact that slips is opposed by its friction */
    tact_active_set_set_pressure_centre(a);
    tact_active_set_compute_slip(a, a->normal);
    tact_v3_scale(a->normal, a->normal, -1.0);
    tact_active_set_update_limit_surface(a);
    a->is_contact_slipping = sqrt(a->g) >= MIN_FRICTION_RATIO_AT_LIMIT * a->n[0];
    estimate_slip_multiplier(a);
    return 1;
}

TACT_DISPATCH_BY_CPU(int, tact_local_solve_by_active_set,
                     (const struct tact_local_problem *problem, double r[6]), (problem, r))
{
    struct tact_active_set a;
    if (!init_active_set(problem, r, 1, &a)) {
        return -1;
    }
    for (int i = 0; i < SWITCHES; i++) {
        if (!iterate_newton_on_active_face(&a)) {
            return -1;
        }
        if (tact_active_set_update_face(&a) && switch_slip_state_if_inconsistent(&a)) {
            for (int k = 0; k < 3; k++) {
                r[tact_local_row_of_scaled_unknown[k]] = a.impulse_unit[k] * a.n[k];
                r[tact_local_row_of_scaled_unknown[3 + k]] = a.impulse_unit[3 + k] * a.t[k];
            }
            return (a.is_contact_slipping ? TACT_LIMIT_CONE : 0) |
                   (a.face != FACE_INSIDE && a.face != FACE_POINT ? TACT_LIMIT_EDGE : 0);
        }
        project_impulse_to_face(&a);
    }
    return -1;
}

TACT_DISPATCH_BY_CPU(int, tact_local_impulse_derivative,
                     (const struct tact_local_problem *problem, int limits, const double r[6],
                      double *slope),
                     (problem, limits, r, slope))
{
    struct tact_active_set a;
    struct tact_active_set_changes responses_of_unknowns_to_rows[6];
    memset(slope, 0, 36 * sizeof *slope);
    if (tact_local_resists_rolling(problem) || !init_active_set(problem, r, 0, &a)) {
        return 0;
    }
    if (limits >= 0) {
        a.is_contact_slipping = (limits & (TACT_LIMIT_CONE | TACT_LIMIT_SPIN)) != 0;
    }
    tact_active_set_compute_face_basis(&a);
    tact_active_set_responses_to_rows(&a, responses_of_unknowns_to_rows);
    for (int k = 0; k < 6; k++) {
        if (!isfinite(responses_of_unknowns_to_rows[k].t[0])) {
            return 0;
        }
        for (int i = 0; i < 3; i++) {
            slope[6 * tact_local_row_of_scaled_unknown[i] + tact_local_row_of_scaled_unknown[k]] =
                a.impulse_unit[i] * responses_of_unknowns_to_rows[k].n[i];
            slope[6 * tact_local_row_of_scaled_unknown[3 + i] +
                  tact_local_row_of_scaled_unknown[k]] =
                a.impulse_unit[3 + i] * responses_of_unknowns_to_rows[k].t[i];
        }
    }
    return 1;
}
