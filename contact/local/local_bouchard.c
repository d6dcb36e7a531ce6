#include "contact/local/local.h"

#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/local/local_internal.h"
#include "contact/local/normal_internal.h"
#include "contact/moments/patch.h"
#include "contact/vec.h"

/* Solves S_kk x = -b_k for the n rows and columns of S in `selected_row_indices`. */
static void solve_selected_impulse_rows(const double *s, const double *b,
                                        const int *selected_row_indices, int n, double *x)
{
    double a[36];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i * n + j] = s[selected_row_indices[i] * 6 + selected_row_indices[j]];
        }
        x[i] = -b[selected_row_indices[i]];
    }
    tact_ldl_factor(a, n);
    tact_ldl_solve(a, n, x);
}

static void move_local_problem_to_point(const struct tact_local_problem *in, const double *p,
                                        double *s, double *b)
{
    /* Velocity at p = (p1, p2): v_n += p2 w_1 - p1 w_2, v_1 -= p2 w_n, v_2 += p1 w_n. */
    const double x[3][2] = {{p[1], -p[0]}, {-p[1], 0.0}, {p[0], 0.0}};
    const int from[3][2] = {{4, 5}, {3, 3}, {3, 3}};
    memcpy(s, in->s, sizeof in->s);
    memcpy(b, in->b, sizeof in->b);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 6; j++) {
                s[i * 6 + j] += x[i][k] * s[from[i][k] * 6 + j];
            }
            b[i] += x[i][k] * b[from[i][k]];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 6; j++) {
                s[j * 6 + i] += x[i][k] * s[j * 6 + from[i][k]];
            }
        }
    }
}

/* Direction (1, mu f_t / |f_t|) on the friction cone with the tangential direction of the force f.
 */
static void friction_cone_direction(const double *f, double mu, double *q)
{
    double t = tact_hypot(f[1], f[2]);
    q[0] = 1.0;
    q[1] = t > 0.0 ? mu * f[1] / t : 0.0;
    q[2] = t > 0.0 ? mu * f[2] / t : 0.0;
}

static int is_force_outside_friction_cone(const double *f, double mu)
{
    return f[0] <= 0.0 || tact_hypot(f[1], f[2]) > mu * f[0];
}

/* Solves eq. 4 of Bouchard 2015 for a sliding contact: a force along q, on the friction cone, with
 * free torques, four equations: no normal velocity, no rotation. The matrix R S Q is not symmetric:
 * the torques are eliminated, which leaves one equation for the force. */
static double bouchard_solve_sliding_force(const double *s, const double *b, const double *q,
                                           double *torque)
{
    double a[9], solved_coupling[3], solved_bias[3];
    for (int i = 0; i < 3; i++) {
        const double *row = s + (3 + i) * 6;
        memcpy(a + 3 * i, row + 3, 3 * sizeof *a);
        solved_coupling[i] = tact_v3_dot(row, q);
        solved_bias[i] = b[3 + i];
    }
    tact_ldl_factor(a, 3);
    tact_ldl_solve(a, 3, solved_coupling);
    tact_ldl_solve(a, 3, solved_bias);
    double slope = tact_v3_dot(s, q) - tact_v3_dot(s + 3, solved_coupling);
    double offset = b[0] - tact_v3_dot(s + 3, solved_bias);
    double size = slope > TACT_PIVOT_FLOOR * s[0] ? -offset / slope : 0.0;
    for (int i = 0; i < 3; i++) {
        torque[i] = -solved_bias[i] - solved_coupling[i] * size;
    }
    return size;
}

/* Closest point of the ellipse x^2/a^2 + y^2/b^2 = 1 to a point d outside of it: the root in t of
 * (a d1 / (a^2 + t))^2 + (b d2 / (b^2 + t))^2 = 1, by Newton's method from below, where the
 * function is convex and decreasing, so that no step overshoots. It starts where the larger term is
 * 1: from 0 each step would be half of a^2 + t, and a distant point would need more steps than are
 * allowed.
 */
static void find_closest_point_on_patch_ellipse(const double *semi, const double *d, double *p)
{
    double a2 = semi[0] * semi[0], b2 = semi[1] * semi[1];
    double t = tact_max(0.0, tact_max(semi[0] * fabs(d[0]) - a2, semi[1] * fabs(d[1]) - b2));
    for (int i = 0; i < 40; i++) {
        double x = semi[0] * d[0] / (a2 + t), y = semi[1] * d[1] / (b2 + t);
        double f = x * x + y * y - 1.0;
        double slope = -2.0 * (x * x / (a2 + t) + y * y / (b2 + t));
        double step = slope < 0.0 ? -f / slope : 0.0;
        t += step;
        if (step <= 1e-15 * t) {
            break;
        }
    }
    p[0] = a2 * d[0] / (a2 + t);
    p[1] = b2 * d[1] / (b2 + t);
}

/* Largest torsion about a point p for the force r: by eq. 13 of Bouchard 2015, or what the limit
 * surface allows in addition to friction. */
static double torsion_bound_at_point(const struct tact_local_problem *problem, const double *r,
                                     const double *p)
{
    double most = problem->mu * r[0], w[2];
    if (problem->rectangle[0] > 0.0 && problem->rectangle[1] > 0.0) {
        return most * tact_patch_corner_arm(problem->rectangle, p);
    }
    if (problem->surface == TACT_SURFACE_ELLIPSOID || !(most > 0.0)) {
        return most * problem->spin_arm;
    }
    double f = (r[1] * r[1] + r[2] * r[2]) / (most * most), lo = 0.0, hi = 1.0;
    for (int i = 0; i < 50; i++) {
        double m = 0.5 * (lo + hi);
        *(tact_local_limit_surface(problem, f, m * m, w) <= 1.0 ? &lo : &hi) = m;
    }
    return most * problem->spin_arm * lo;
}

/* Solves a point contact at p (eq. 8 of Bouchard 2015, then eq. 10 where friction exceeds the
 * cone): force f, 0 where it would pull. */
static int solve_point_contact(const struct tact_local_problem *problem, const double *p, double *f)
{
    static const int force_row_indices[3] = {0, 1, 2};
    double s[36], b[6];
    move_local_problem_to_point(problem, p, s, b);
    solve_selected_impulse_rows(s, b, force_row_indices, 3, f);
    if (!is_force_outside_friction_cone(f, problem->mu)) {
        return 0;
    }
    double q[3];
    friction_cone_direction(f, problem->mu, q);
    double slope = tact_v3_dot(s, q);
    double size = slope > TACT_PIVOT_FLOOR * s[0] ? -b[0] / slope : 0.0;
    tact_v3_scale(f, q, size > 0.0 ? size : 0.0);
    return TACT_LIMIT_CONE;
}

/* Normal force and centre of pressure p that minimise the energy of the relative motion: with
 * friction and torsion of r or, where it sticks, with those that stop slip. Returns 1 where p is at
 * the edge. */
static int pressure_centre_by_mass_metric(const struct tact_local_problem *problem, const double *r,
                                          int is_sticking, double *p, double *force)
{
    /* scaled unknowns: normal force, and its moments -tau_2 and tau_1 over the semi-axes */
    static const int row[3] = {0, 5, 4};
    const double impulse_unit[3] = {1.0, -problem->semi[0], problem->semi[1]}, *s = problem->s;
    static const struct admissible_pressure_centres unit_disc_of_pressure_centres = {.corners = 0};
    double h[9], g[3], x[3] = {0.0, 0.0, 0.0}, slip[9], rhs[4][3];
    for (int i = 0; i < 9; i++) {
        slip[i] = s[6 * (1 + i / 3) + 1 + i % 3];
    }
    tact_ldl_factor(slip, 3);
    for (int k = 0; k < 4; k++) { /* friction and torsion per unit of each scaled unknown, and those
                                     for the velocity b */
        for (int i = 0; i < 3; i++) {
            rhs[k][i] = !is_sticking ? k < 3 ? 0.0 : -r[1 + i]
                        : k < 3 ? impulse_unit[k] * s[6 * (1 + i) + row[k]]
                                     : problem->b[1 + i];
        }
        if (is_sticking) {
            tact_ldl_solve(slip, 3, rhs[k]);
        }
    }
    for (int i = 0; i < 3; i++) {
        const double *own = s + 6 * row[i];
        g[i] = impulse_unit[i] * (problem->b[row[i]] - tact_v3_dot(own + 1, rhs[3]));
        for (int k = 0; k < 3; k++) {
            h[3 * i + k] =
                impulse_unit[i] * (impulse_unit[k] * own[row[k]] - tact_v3_dot(own + 1, rhs[k]));
        }
    }
    int edge = tact_normal_minimize_over_cone(&unit_disc_of_pressure_centres, h, g, x);
    *force = x[0];
    p[0] = x[0] > 0.0 ? problem->semi[0] * x[1] / x[0] : 0.0;
    p[1] = x[0] > 0.0 ? problem->semi[1] * x[2] / x[0] : 0.0;
    return edge;
}

/* Sets the impulse where no rigid solution pushes: a frictionless one where the bodies approach,
 * otherwise zero. */
static int set_frictionless_or_zero_impulse(const struct tact_local_problem *problem, double *r)
{
    memset(r, 0, 6 * sizeof *r);
    if (problem->by_mass && !(problem->mu > 0.0) && problem->semi[0] > 0.0 &&
        problem->semi[1] > 0.0) {
        double p[2];
        int edge = pressure_centre_by_mass_metric(problem, r, 0, p, &r[0]);
        r[4] = p[1] * r[0];
        r[5] = -p[0] * r[0];
        return r[0] > 0.0 ? TACT_LIMIT_CONE | (edge ? TACT_LIMIT_EDGE : 0) : TACT_LIMIT_OPEN;
    }
    if (problem->b[0] < 0.0 && problem->s[0] > 0.0) {
        r[0] = -problem->b[0] / problem->s[0];
        return TACT_LIMIT_CONE;
    }
    return TACT_LIMIT_OPEN;
}

/* Projects the centre of pressure d of r, which is outside of the patch, to p. */
static void project_pressure_centre(const struct tact_local_problem *problem, const double *r,
                                    int is_sticking, const double *d, double *p)
{
    double force, beside[6], friction_torsion_bound = torsion_bound_at_point(problem, r, d);
    memcpy(beside, r, sizeof beside);
    beside[3] = tact_max(-friction_torsion_bound, tact_min(friction_torsion_bound, r[3]));
    if (!problem->by_mass ||
        !pressure_centre_by_mass_metric(problem, beside, is_sticking, p, &force) ||
        !(force > 0.0)) {
        find_closest_point_on_patch_ellipse(problem->semi, d, p);
    }
}

int tact_local_bouchard(const struct tact_local_problem *problem, double r[6])
{
    static const int all[6] = {0, 1, 2, 3, 4, 5};
    const double *semi = problem->semi;
    int limits = 0;
    solve_selected_impulse_rows(problem->s, problem->b, all, 6, r);
    if (r[0] <= 0.0) {
        return set_frictionless_or_zero_impulse(problem, r);
    }
    if (is_force_outside_friction_cone(r, problem->mu)) {
        double q[3];
        friction_cone_direction(r, problem->mu, q);
        double size = bouchard_solve_sliding_force(problem->s, problem->b, q, r + 3);
        if (!(size > 0.0)) {
            return set_frictionless_or_zero_impulse(problem, r);
        }
        tact_v3_scale(r, q, size);
        limits |= TACT_LIMIT_CONE;
    }
    double d[2] = {-r[5] / r[0], r[4] / r[0]}, p[2] = {d[0], d[1]};
    int point = !(semi[0] > 0.0 && semi[1] > 0.0);
    int is_pressure_centre_outside = point || tact_hypot(d[0] / semi[0], d[1] / semi[1]) > 1.0;
    double spin = 0.0;
    if (is_pressure_centre_outside) {
        p[0] = p[1] = 0.0;
        if (!point) {
            project_pressure_centre(problem, r, !(limits & TACT_LIMIT_CONE), d, p);
        }
        limits = TACT_LIMIT_EDGE | solve_point_contact(problem, p, r);
        if (!(r[0] > 0.0)) {
            memset(r, 0, 6 * sizeof *r);
            return TACT_LIMIT_OPEN;
        }
    } else {
        double friction_torsion_bound = torsion_bound_at_point(problem, r, p);
        spin = r[3] - (p[0] * r[2] - p[1] * r[1]);
        if (fabs(spin) > friction_torsion_bound) {
            spin = copysign(friction_torsion_bound, spin);
            limits |= TACT_LIMIT_SPIN;
        }
    }
    r[3] = spin + p[0] * r[2] - p[1] * r[1];
    r[4] = p[1] * r[0];
    r[5] = -p[0] * r[0];
    return limits;
}
