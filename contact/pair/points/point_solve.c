/* Projected Gauss-Seidel over the contact points of a pair, each by the exact Coulomb law. */
#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/root.h"
#include "contact/vec.h"
#include "contact/pair/points/point_internal.h"

/* Adds a point's impulse p to the pair's, r += T' p: force, and its torque about the patch's
 * centre. */
static void add_point_wrench(double *r, const double *at, const double *p)
{
    double torque[3];
    tact_v3_cross(torque, at, p);
    tact_v3_add(r, r, p);
    tact_v3_add(r + 3, r + 3, torque);
}

/* Velocity T u of the pair at the point. */
static void velocity_at_point(double *v, const double *at, const double *u)
{
    double turn[3];
    tact_v3_cross(turn, u + 3, at);
    tact_v3_add(v, u, turn);
}

static void prepare_contact_point(struct point *point, const double *s)
{
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2}, wrench[6] = {0.0}, column[6], v[3];
        add_point_wrench(wrench, point->at, unit);
        for (int i = 0; i < 6; i++) {
            column[i] = 0.0;
            for (int j = 0; j < 6; j++) {
                column[i] += s[6 * i + j] * wrench[j];
            }
            point->w[3 * i + k] = column[i];
        }
        velocity_at_point(v, point->at, column);
        for (int i = 0; i < 3; i++) {
            point->s[3 * i + k] = v[i];
        }
    }
    const double *m = point->s;
    double angle = 0.5 * tact_atan2(2.0 * m[5], m[4] - m[8]);
    double cs = tact_cos(angle), sn = tact_sin(angle);
    point->turn[0] = cs;
    point->turn[1] = sn;
    point->l[0] = cs * cs * m[4] + 2.0 * cs * sn * m[5] + sn * sn * m[8];
    point->l[1] = sn * sn * m[4] - 2.0 * cs * sn * m[5] + cs * cs * m[8];
    point->l[0] = tact_max(point->l[0], 0.0);
    point->l[1] = tact_max(point->l[1], 0.0);
    point->c[0] = cs * m[1] + sn * m[2];
    point->c[1] = cs * m[2] - sn * m[1];
    memcpy(point->factor, point->s, sizeof point->factor);
    tact_ldl_factor(point->factor, 3);
}

void tact_points_prepare_pair(struct contact_point_store *store, int pair,
                              const struct tact_local_problem *in)
{
    struct point *points = store->now.points + store->now.first[pair];
    for (int i = 0; i < store->now.point_count_of_pair[pair]; i++) {
        prepare_contact_point(&points[i], in->s);
    }
}

/* Equation of a point that slips: friction -(b_t + c f) / (l + g), f such that the normal velocity
 * is zero. */
struct slip {
    const struct point *point;
    double b[3]; /* components along the normal, and along the axes of l */
    double mu;
    double p[3];
};

static double evaluate_point_slip_equation(void *user, double g)
{
    struct slip *slip = user;
    const struct point *point = slip->point;
    double i0 = 1.0 / (point->l[0] + g), i1 = 1.0 / (point->l[1] + g);
    double c0 = point->c[0], c1 = point->c[1];
    double approach_velocity_with_friction =
        c0 * i0 * slip->b[1] + c1 * i1 * slip->b[2] - slip->b[0];
    double mass = point->s[0] - c0 * c0 * i0 - c1 * c1 * i1;
    double f = approach_velocity_with_friction > 0.0 && mass > TACT_PIVOT_FLOOR * point->s[0]
                   ? approach_velocity_with_friction / mass
                   : 0.0;
    slip->p[0] = f;
    slip->p[1] = -(slip->b[1] + c0 * f) * i0;
    slip->p[2] = -(slip->b[2] + c1 * f) * i1;
    double t = tact_hypot(slip->p[1], slip->p[2]);
    return t > 0.0 ? slip->mu * f / t - 1.0 : 1.0;
}

/* Solves u = S p + b for a point that slips: friction on its cone, opposite to the slip, no normal
 * velocity. b_n < 0, so that a root exists. */
static void solve_slipping_point(const struct point *point, double mu, const double *b, double *p)
{
    double cs = point->turn[0], sn = point->turn[1];
    struct slip slip = {
        .point = point, .b = {b[0], cs * b[1] + sn * b[2], cs * b[2] - sn * b[1]}, .mu = mu};
    double lo = 0.0, flo = -1.0, hi = 1e-3 * (point->l[0] + point->l[1]), fhi = -1.0;
    for (int i = 0; i < 24 && mu > 0.0; i++) {
        fhi = evaluate_point_slip_equation(&slip, hi);
        if (fhi >= 0.0) {
            break;
        }
        lo = hi;
        flo = fhi;
        hi *= 16.0;
    }
    if (fhi > 0.0) {
        tact_root_find(evaluate_point_slip_equation, &slip, lo, flo, hi, fhi, 80);
    }
    if (!(mu > 0.0)) {
        tact_v3_set(slip.p, -b[0] / point->s[0], 0.0, 0.0);
    }
    double t = tact_hypot(slip.p[1], slip.p[2]), most = mu * slip.p[0];
    /* the friction is on the cone to rounding, and never beyond it */
    double fit = t > most ? most / t : 1.0;
    p[0] = slip.p[0];
    p[1] = fit * (cs * slip.p[1] - sn * slip.p[2]);
    p[2] = fit * (sn * slip.p[1] + cs * slip.p[2]);
}

/* Solves Coulomb's law exactly for one point. Returns its active limits. */
static int solve_point_contact(const struct point *point, double mu, const double *b, double *p)
{
    if (!(point->s[0] > 0.0)) {
        tact_v3_set(p, 0.0, 0.0, 0.0);
        return TACT_LIMIT_OPEN;
    }
    tact_v3_scale(p, b, -1.0);
    tact_ldl_solve(point->factor, 3, p);
    if (p[0] > 0.0 && p[1] * p[1] + p[2] * p[2] <= mu * mu * p[0] * p[0]) {
        return 0;
    }
    if (b[0] >= 0.0) {
        tact_v3_set(p, 0.0, 0.0, 0.0);
        return TACT_LIMIT_OPEN;
    }
    solve_slipping_point(point, mu, b, p);
    return TACT_LIMIT_CONE;
}

/* Square of the natural-map residual at a point: p - P_K(p - rho (u + mu |u_t| e_n)). */
static double squared_natural_map_residual(double mu, double rho, const double *p, const double *u)
{
    double x[3] = {p[0] - rho * (u[0] + mu * tact_hypot(u[1], u[2])), p[1] - rho * u[1],
                   p[2] - rho * u[2]};
    double t = tact_hypot(x[1], x[2]);
    if (t > mu * x[0]) {
        double n = (x[0] + mu * t) / (1.0 + mu * mu);
        double fit = n > 0.0 ? mu * n / t : 0.0;
        tact_v3_set(x, tact_max(n, 0.0), fit * x[1], fit * x[2]);
    }
    tact_v3_sub(x, p, x);
    return tact_v3_dot(x, x);
}

void tact_points_solve_pair(struct contact_point_store *store, int pair,
                            const struct tact_local_problem *problem, double r[6],
                            struct contact_point_solver_pass *pass)
{
    struct point *points = store->now.points + store->now.first[pair];
    int count = store->now.point_count_of_pair[pair], slipping = 0, loaded = 0;
    double u[6], before = 0.0, miss = 0.0, drive = 0.0;
    pass->size = pass->change = 0.0;
    for (int i = 0; i < 6; i++) {
        u[i] = problem->b[i];
        for (int j = 0; j < 6; j++) {
            u[i] += problem->s[6 * i + j] * r[j];
        }
    }
    memset(r, 0, 6 * sizeof *r);
    for (int i = 0; i < count; i++) {
        struct point *point = &points[i];
        double v[3], b[3], p[3], d[3];
        velocity_at_point(v, point->at, u);
        tact_m3_mul_v3(b, point->s, point->p);
        tact_v3_sub(b, v, b);
        double rho = tact_max(point->s[0], tact_max(point->l[0], point->l[1]));
        rho = rho > 0.0 ? 1.0 / rho : 0.0;
        miss += squared_natural_map_residual(problem->mu, rho, point->p, v);
        before += tact_v3_dot(point->p, point->p);
        drive += rho * rho * tact_v3_dot(b, b);
        int limit = solve_point_contact(point, problem->mu, b, p);
        tact_v3_sub(d, p, point->p);
        for (int k = 0; k < 6; k++) {
            u[k] += tact_v3_dot(point->w + 3 * k, d);
        }
        tact_v3_copy(point->p, p);
        add_point_wrench(r, point->at, p);
        pass->size += tact_v3_dot(p, p);
        pass->change += tact_v3_dot(d, d);
        slipping += limit == TACT_LIMIT_CONE;
        loaded += p[0] > 0.0;
    }
    double scale = sqrt(tact_max(before, drive));
    pass->residual = scale > 0.0 ? sqrt(miss) / scale : 0.0;
    pass->limits = !loaded ? TACT_LIMIT_OPEN : (slipping == loaded ? TACT_LIMIT_CONE : 0);
}
