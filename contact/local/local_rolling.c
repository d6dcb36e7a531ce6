/*
 * A contact in a point that resists rolling, by torques z_i = tau_i / e_i about t1 and t2 with |z|
 * <= f_n and, of all such, those that dissipate most: where they do not stop rolling, e_i w_i = -g
 * z_i with g > 0 and |z| = f_n. For given g the torques are linear in the impulse and eliminated;
 * the law without them is left, and one equation for g, |z| = f_n.
 */
#include <math.h>
#include <string.h>
#include "contact/counts.h"
#include "contact/elementary.h"
#include "contact/linear.h"
#include "contact/local/local_internal.h"
#include "contact/root.h"
#include "contact/vec.h"

enum { MAX_BRACKET_STEPS = 60, MAX_ROOT_STEPS = 60 };

#define ROLLING_MULTIPLIER_BRACKET_FACTOR 8.0
#define MAX_ROLLING_LIMIT_ERROR                                                                    \
    1e-6 /* largest relative error of |z| = f_n with which a multiplier g is a solution            \
          */
/* residual with which impulses whose multiplier was not found are a solution nevertheless: the
 * contact opens, or no longer rolls */
#define MAX_RESIDUAL_WITHOUT_ROLLING_MULTIPLIER 1e-12

/* The local problem with its rolling torques eliminated for a multiplier g, and its last solution.
 */
struct rolling_resistance_problem {
    const struct tact_local_problem *problem;
    struct tact_local_problem problem_with_eliminated_torques; /* without torques */
    double factor[4];                                          /* of S_rr + g / e^2 */
    double r[6];
    int limits, by;
};

/* The local problem without the rolling torques, which act as given. */
static void move_given_rolling_torques_to_bias(const struct tact_local_problem *problem,
                                               const double tau[2], struct tact_local_problem *out)
{
    *out = *problem;
    out->rolling_arm[0] = out->rolling_arm[1] = 0.0;
    for (int i = 0; i < 6; i++) {
        out->b[i] += problem->s[6 * i + 4] * tau[0] + problem->s[6 * i + 5] * tau[1];
    }
}

/* Magnitude of the rolling torques over their arms [N s]. */
static double rolling_torque_size_over_arms(const struct tact_local_problem *problem,
                                            const double *r)
{
    return tact_hypot(r[4] / problem->rolling_arm[0], r[5] / problem->rolling_arm[1]);
}

/* Eliminates the rolling torques at a multiplier g: S_cc - S_cr H S_rc and b_c - S_cr H b_r with H
 * the inverse of S_rr + g / e^2. */
static void eliminate_rolling_torques(struct rolling_resistance_problem *m, double g)
{
    const struct tact_local_problem *p = m->problem;
    for (int i = 0; i < 4; i++) {
        double e = p->rolling_arm[i / 2];
        m->factor[i] = p->s[6 * (4 + i / 2) + 4 + i % 2] + (i % 3 ? 0.0 : g / (e * e));
    }
    tact_ldl_factor(m->factor, 2);
    for (int j = 0; j < 5; j++) { /* eliminates from the rows of S, then from b */
        double x[2] = {j < 4 ? p->s[24 + j] : p->b[4], j < 4 ? p->s[30 + j] : p->b[5]};
        tact_ldl_solve(m->factor, 2, x);
        for (int i = 0; i < 4; i++) {
            double entry_change_by_torque_elimination =
                p->s[6 * i + 4] * x[0] + p->s[6 * i + 5] * x[1];
            double *entry_without_rolling_torques =
                j < 4 ? &m->problem_with_eliminated_torques.s[6 * i + j]
                      : &m->problem_with_eliminated_torques.b[i];
            *entry_without_rolling_torques =
                (j < 4 ? p->s[6 * i + j] : p->b[i]) - entry_change_by_torque_elimination;
        }
    }
    tact_local_prepare(&m->problem_with_eliminated_torques);
}

/* Solves the law at a multiplier g of rolling; returns f_n / |z| - 1, almost linear in g. */
static double evaluate_rolling_equation(void *user, double g)
{
    struct rolling_resistance_problem *m = user;
    const struct tact_local_problem *p = m->problem;
    eliminate_rolling_torques(m, g);
    m->r[4] = m->r[5] = 0.0;
    m->limits = tact_local_cone_by(&m->problem_with_eliminated_torques, m->r, &m->by);
    double tau[2];
    for (int i = 0; i < 2; i++) {
        tau[i] = -p->b[4 + i] - tact_dot(p->s + 6 * (4 + i), m->r, 4);
    }
    tact_ldl_solve(m->factor, 2, tau);
    m->r[4] = tau[0];
    m->r[5] = tau[1];
    double z = rolling_torque_size_over_arms(p, m->r);
    return z > 0.0 ? tact_max(m->r[0], 0.0) / z - 1.0 : 1.0;
}

/* Scales the rolling torques to their limit, which they exceed by rounding or where no multiplier
 * was found. */
static void scale_rolling_torques_to_limit(const struct tact_local_problem *problem, double *r)
{
    double z = rolling_torque_size_over_arms(problem, r), limit = tact_max(r[0], 0.0);
    double share = z > limit ? limit / z : 1.0;
    r[4] *= share;
    r[5] *= share;
}

/* Residual of the rolling law: |z - P(z - rho e w)|, with P the projection onto |z| <= f_n, over
 * the force. */
static double rolling_torque_residual(const struct tact_local_problem *problem, const double *r)
{
    double z[2], v[2], squared_rolling_velocity = 0.0, max_scaled_mobility = 0.0;
    for (int i = 0; i < 2; i++) {
        double e = problem->rolling_arm[i], b = e * problem->b[4 + i];
        z[i] = r[4 + i] / e;
        v[i] = b + e * tact_dot(problem->s + 6 * (4 + i), r, 6);
        squared_rolling_velocity += b * b;
        max_scaled_mobility = tact_max(max_scaled_mobility, e * e * problem->s[7 * (4 + i)]);
    }
    if (!(max_scaled_mobility > 0.0)) {
        return 0.0;
    }
    double rho = 1.0 / max_scaled_mobility, x[2] = {z[0] - rho * v[0], z[1] - rho * v[1]};
    double size = tact_hypot(x[0], x[1]), limit = tact_max(r[0], 0.0);
    double share = size > limit ? limit / size : 1.0;
    double rolling_torque_outside_limit = tact_hypot(z[0] - share * x[0], z[1] - share * x[1]);
    double scale =
        tact_max(tact_hypot(r[0], tact_hypot(z[0], z[1])), rho * sqrt(squared_rolling_velocity));
    return scale > 0.0 ? rolling_torque_outside_limit / scale : 0.0;
}

double tact_local_rolling_resistance_residual(const struct tact_local_problem *problem,
                                              const double r[6])
{
    struct tact_local_problem problem_with_eliminated_torques;
    const double contact[6] = {r[0], r[1], r[2], r[3], 0.0, 0.0};
    move_given_rolling_torques_to_bias(problem, r + 4, &problem_with_eliminated_torques);
    return tact_max(tact_local_residual(&problem_with_eliminated_torques, contact),
                    rolling_torque_residual(problem, r));
}

/* Solves with the rolling torques at their limit. rolling_equation_without_multiplier: value of the
 * equation at g = 0, negative. Returns 0 where no multiplier was found. */
static int solve_at_rolling_limit(struct rolling_resistance_problem *m,
                                  double rolling_equation_without_multiplier)
{
    const struct tact_local_problem *p = m->problem;
    double lo = 0.0, flo = rolling_equation_without_multiplier,
           fhi = rolling_equation_without_multiplier, max_scaled_mobility = 0.0;
    for (int i = 0; i < 2; i++) {
        double e = p->rolling_arm[i];
        max_scaled_mobility = tact_max(max_scaled_mobility, e * e * p->s[7 * (4 + i)]);
    }
    /* Upper bound of the multiplier: for one row |z| = B / (S + g), where
     * rolling_equation_without_multiplier at g = 0 gives B = f_n S / (1 +
     * rolling_equation_without_multiplier). */
    double hi = max_scaled_mobility *
                tact_min(-rolling_equation_without_multiplier /
                             tact_max(1.0 + rolling_equation_without_multiplier, 1e-12),
                         1e12);
    for (int i = 0; i < MAX_BRACKET_STEPS; i++) {
        fhi = evaluate_rolling_equation(m, hi);
        if (fhi >= 0.0) {
            break;
        }
        lo = hi;
        flo = fhi;
        hi *= ROLLING_MULTIPLIER_BRACKET_FACTOR;
    }
    if (fhi > 0.0 && flo < 0.0) {
        tact_root_find(evaluate_rolling_equation, m, lo, flo, hi, fhi, MAX_ROOT_STEPS);
    }
    double z = rolling_torque_size_over_arms(p, m->r), f = tact_max(m->r[0], 0.0);
    return fabs(z - f) <= MAX_ROLLING_LIMIT_ERROR * f;
}

int tact_local_solve_with_rolling_resistance(const struct tact_local_problem *problem, double r[6],
                                             int *by)
{
    static const double zero_torques[2] = {0.0, 0.0};
    struct rolling_resistance_problem m = {.problem = problem};
    int is_rolling_multiplier_missing = 0;
    move_given_rolling_torques_to_bias(problem, zero_torques, &m.problem_with_eliminated_torques);
    memcpy(m.r, r, sizeof m.r);
    double rolling_equation_without_multiplier = evaluate_rolling_equation(&m, 0.0);
    if (rolling_equation_without_multiplier < 0.0) {
        struct tact_local_problem problem_at_zero_rolling_torques;
        double impulse_without_rolling_torques[6] = {r[0], r[1], r[2], r[3], 0.0, 0.0};
        move_given_rolling_torques_to_bias(problem, zero_torques, &problem_at_zero_rolling_torques);
        tact_local_prepare(&problem_at_zero_rolling_torques);
        int limits_without_rolling_torques = tact_local_cone_by(
            &problem_at_zero_rolling_torques, impulse_without_rolling_torques, by);
        if (!(impulse_without_rolling_torques[0] > 0.0)) {
            /* without rolling torques there is no normal force, and so there is none with rolling
             * torques */
            memcpy(r, impulse_without_rolling_torques, sizeof impulse_without_rolling_torques);
            return limits_without_rolling_torques;
        }
        is_rolling_multiplier_missing =
            !solve_at_rolling_limit(&m, rolling_equation_without_multiplier);
        m.limits |= m.r[0] > 0.0 ? TACT_LIMIT_ROLLING : 0;
    }
    memcpy(r, m.r, sizeof m.r);
    scale_rolling_torques_to_limit(problem, r);
    *by = m.by;
    if (is_rolling_multiplier_missing && tact_local_rolling_resistance_residual(problem, r) >
                                             MAX_RESIDUAL_WITHOUT_ROLLING_MULTIPLIER) {
        *by = TACT_COUNT_ROLLING_NOT_FOUND;
    } else if (is_rolling_multiplier_missing) {
        m.limits &= ~TACT_LIMIT_ROLLING;
    }
    return m.limits;
}

int tact_local_enforce_rolling_limits(const struct tact_local_problem *problem, double r[6])
{
    static const double zero_torques[2] = {0.0, 0.0};
    struct tact_local_problem problem_at_zero_rolling_torques;
    double tau[2] = {r[4], r[5]};
    move_given_rolling_torques_to_bias(problem, zero_torques, &problem_at_zero_rolling_torques);
    r[4] = r[5] = 0.0;
    int limits = tact_local_scale_to_limit_surface(&problem_at_zero_rolling_torques, r);
    r[4] = tau[0];
    r[5] = tau[1];
    scale_rolling_torques_to_limit(problem, r);
    return limits;
}

void tact_local_rolling_resistance_margins(const struct tact_local_problem *problem,
                                           const double r[6], struct tact_margins *out)
{
    struct tact_local_problem problem_at_zero_rolling_torques;
    const double contact[6] = {r[0], r[1], r[2], r[3], 0.0, 0.0};
    move_given_rolling_torques_to_bias(problem, r + 4, &problem_at_zero_rolling_torques);
    tact_local_margins(&problem_at_zero_rolling_torques, contact, out);
}
