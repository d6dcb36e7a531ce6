/*
 * The law, scaled. x = (f_n, y1, y2, z1, z2, z3) with y the centre of pressure over the semi-axes
 * times f_n, z friction over mu and torsion over mu k, both at the centre of pressure d:
 *     f_1 = mu z1, f_2 = mu z2, tau_d = mu k z3, tau_1 = a2 y2, tau_2 = -a1 y1.
 * U = S x + b is power-conjugate. Wanted: N = {|y| <= f_n} holds x_N, perpendicular to U_N in N* =
 * N; and either |z| <= f_n with U_z = 0 (stick) or |z| = f_n with U_z = -g z, g > 0 (slip). For a
 * given g friction is linear and is eliminated, which leaves a convex program of three unknowns
 * over N; |z| = f_n is then one equation for g.
 */
#include "contact/local.h"

#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/root.h"
#include "contact/vec.h"

/** The scaled problem at a centre of pressure. */
struct scaled {
    double s[36]; /* order f_n, y1, y2, z1, z2, z3 */
    double b[6];
    double unit[6]; /* impulse per scaled unknown */
    double d[2];    /* centre of pressure that friction acts at [m] */
    int rolling;    /* 1: y are unknowns, 0: y = 0 */
    double x[6];    /* of the last evaluation */
};

/* Which entry of r each scaled unknown is, and its sign. */
static const int entry[6] = {0, 5, 4, 1, 2, 3};
static const double sign[6] = {1.0, -1.0, 1.0, 1.0, 1.0, 1.0};

/* Row or column 3 (spin) of S and b holds w_n at c; friction at d sees v_1 - d2 w_n, v_2 + d1 w_n.
 */
static void shift_friction(double *s, double *b, const double *d)
{
    for (int j = 0; j < 6; j++) {
        s[6 + j] -= d[1] * s[18 + j];
        s[12 + j] += d[0] * s[18 + j];
    }
    for (int i = 0; i < 6; i++) {
        s[i * 6 + 1] -= d[1] * s[i * 6 + 3];
        s[i * 6 + 2] += d[0] * s[i * 6 + 3];
    }
    b[1] -= d[1] * b[3];
    b[2] += d[0] * b[3];
}

static void scale_problem(const struct tact_local_problem *in, const double *d, struct scaled *out)
{
    double s[36], b[6];
    memcpy(s, in->s, sizeof s);
    memcpy(b, in->b, sizeof b);
    shift_friction(s, b, d);
    const double unit[6] = {1.0, in->semi[0], in->semi[1], in->mu, in->mu, in->mu * in->spin_arm};
    for (int i = 0; i < 6; i++) {
        double ui = sign[i] * unit[i];
        for (int j = 0; j < 6; j++) {
            out->s[i * 6 + j] = ui * sign[j] * unit[j] * s[entry[i] * 6 + entry[j]];
        }
        out->b[i] = ui * b[entry[i]];
        out->unit[i] = ui;
    }
    out->d[0] = d[0];
    out->d[1] = d[1];
    out->rolling = in->semi[0] > 0.0 && in->semi[1] > 0.0;
}

/* Where friction of the impulse r acts: its centre of pressure, held inside the ellipse. */
static void pressure_center(const struct tact_local_problem *problem, const double *r, double *d)
{
    d[0] = d[1] = 0.0;
    if (r[0] > 0.0 && problem->semi[0] > 0.0 && problem->semi[1] > 0.0) {
        d[0] = -r[5] / r[0];
        d[1] = r[4] / r[0];
        double rho = hypot(d[0] / problem->semi[0], d[1] / problem->semi[1]);
        double fit = rho > 1.0 ? 1.0 / rho : 1.0;
        d[0] *= fit;
        d[1] *= fit;
    }
}

/** Slope of the objective along the rim of N, for the bracketed search. */
struct rim {
    const double *h;
    const double *g;
    double x[3];
};

static double rim_slope(void *user, double angle)
{
    struct rim *rim = user;
    double e[3] = {1.0, cos(angle), sin(angle)}, he[3];
    tact_m3_mul_v3(he, rim->h, e);
    double eg = tact_v3_dot(e, rim->g), ehe = tact_v3_dot(e, he);
    double size = eg < 0.0 && ehe > 0.0 ? -eg / ehe : 0.0;
    tact_v3_scale(rim->x, e, size);
    double u1 = size * he[1] + rim->g[1], u2 = size * he[2] + rim->g[2];
    return u2 * e[1] - u1 * e[2];
}

/* Minimum of x'Hx/2 + g'x on the rim of |(x2, x3)| <= x1: best of 16 directions, then the zero of
 * the slope between its neighbours. */
static void minimize_on_rim(const double *h, const double *g, double *x)
{
    static const double tau = 6.28318530717958647692;
    struct rim rim = {h, g, {0.0, 0.0, 0.0}};
    double best = 0.0, at = 0.0;
    int found = 0;
    for (int i = 0; i < 16; i++) {
        double angle = tau * i / 16.0;
        rim_slope(&rim, angle);
        double value = 0.5 * tact_v3_dot(rim.x, g); /* of the objective at its minimum along e */
        if (value < best) {
            best = value;
            at = angle;
            found = 1;
        }
    }
    if (!found) {
        tact_v3_set(x, 0.0, 0.0, 0.0);
        return;
    }
    double lo = at - tau / 16.0, hi = at + tau / 16.0;
    double flo = rim_slope(&rim, lo), fhi = rim_slope(&rim, hi);
    if (flo < 0.0 && fhi > 0.0) {
        tact_root_find(rim_slope, &rim, lo, flo, hi, fhi, 60);
    } else {
        rim_slope(&rim, at);
    }
    tact_v3_copy(x, rim.x);
}

/* min x'Hx/2 + g'x over N. Returns 1 where the rim is active. */
static int minimize_over_cone(const double *h, const double *g, double *x)
{
    if (g[0] >= hypot(g[1], g[2])) {
        tact_v3_set(x, 0.0, 0.0, 0.0);
        return 0;
    }
    double a[9];
    memcpy(a, h, sizeof a);
    tact_v3_scale(x, g, -1.0);
    tact_ldl_factor(a, 3);
    tact_ldl_solve(a, 3, x);
    if (x[0] >= hypot(x[1], x[2])) {
        return 0;
    }
    minimize_on_rim(h, g, x);
    return 1;
}

/* The normal part x_N and friction z for slip multiplier g; returns f_n / |z| - 1. */
static double slip_equation(void *user, double g)
{
    struct scaled *p = user;
    int n = p->rolling ? 3 : 1;
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
    p->x[1] = p->x[2] = 0.0;
    if (n == 1) {
        double floor = TACT_PIVOT_FLOOR * p->s[0];
        p->x[0] = q[0] < 0.0 && h[0] > floor ? -q[0] / h[0] : 0.0;
    } else {
        minimize_over_cone(h, q, p->x);
    }
    for (int i = 0; i < 3; i++) {
        p->x[3 + i] = -w[3 * n + i];
        for (int k = 0; k < n; k++) {
            p->x[3 + i] -= w[3 * k + i] * p->x[k];
        }
    }
    double z = tact_v3_norm(p->x + 3);
    return z > 0.0 ? p->x[0] / z - 1.0 : 1.0;
}

/* Finds g and with it x. Returns the active limits. */
static int solve_scaled(struct scaled *p)
{
    double at_stick = slip_equation(p, 0.0);
    if (at_stick >= 0.0) {
        return 0;
    }
    double trace = p->s[21] + p->s[28] + p->s[35];
    double lo = 0.0, flo = at_stick, hi = trace, fhi = -1.0;
    for (int i = 0; i < 24; i++) {
        fhi = slip_equation(p, hi);
        if (fhi >= 0.0) {
            break;
        }
        lo = hi;
        flo = fhi;
        hi *= 16.0;
    }
    if (fhi > 0.0) {
        tact_root_find(slip_equation, p, lo, flo, hi, fhi, 80);
    }
    double z = tact_v3_norm(p->x + 3);
    if (z > p->x[0]) { /* to rounding on the limit surface, and never beyond it */
        tact_v3_scale(p->x + 3, p->x + 3, p->x[0] > 0.0 ? p->x[0] / z : 0.0);
    }
    return TACT_LIMIT_CONE;
}

int tact_local_cone(const struct tact_local_problem *problem, double r[6])
{
    struct scaled p;
    double d[2];
    pressure_center(problem, r, d);
    scale_problem(problem, d, &p);
    double push = p.rolling ? hypot(p.b[1], p.b[2]) : 0.0;
    if (p.b[0] >= push || !(p.s[0] > 0.0)) { /* b_N in N*: zero impulse is a solution */
        memset(r, 0, 6 * sizeof *r);
        return TACT_LIMIT_OPEN;
    }
    int limits = solve_scaled(&p);
    for (int i = 0; i < 6; i++) {
        r[entry[i]] = p.unit[i] * p.x[i];
    }
    r[3] += d[0] * r[2] - d[1] * r[1];
    if (!(p.x[0] > 0.0)) {
        return TACT_LIMIT_OPEN;
    }
    double rho = hypot(p.x[1], p.x[2]) / p.x[0];
    return limits | (rho >= 1.0 - 1e-9 ? TACT_LIMIT_EDGE : 0);
}

/* Projects x onto K = {|y| <= t, |z| <= t}: for the axis value t both radii are clipped to t, and
 * (t - x0)^2 + (|y| - t)+^2 + (|z| - t)+^2 is convex and piecewise quadratic in t. */
static void project_to_cone(double *x)
{
    double y = hypot(x[1], x[2]), z = tact_v3_norm(x + 3);
    double large = y > z ? y : z, small = y > z ? z : y;
    double t = x[0];
    if (t < large) {
        t = 0.5 * (x[0] + large);
        if (t < small) {
            t = (x[0] + large + small) / 3.0;
        }
        t = t > 0.0 ? t : 0.0;
    }
    x[0] = t;
    double fy = y > t ? t / y : 1.0, fz = z > t ? t / z : 1.0;
    for (int i = 1; i < 6; i++) {
        x[i] *= i < 3 ? fy : fz;
    }
}

double tact_local_residual(const struct tact_local_problem *problem, const double r[6])
{
    struct scaled p;
    double d[2], x[6], u[6], trial[6];
    pressure_center(problem, r, d);
    scale_problem(problem, d, &p);
    const double at_d[6] = {r[0], r[1], r[2], r[3] - (d[0] * r[2] - d[1] * r[1]), r[4], r[5]};
    double rho = 0.0, size = 0.0, drive = 0.0, miss = 0.0;
    for (int i = 0; i < 6; i++) {
        x[i] = p.unit[i] != 0.0 ? at_d[entry[i]] / p.unit[i] : 0.0;
        rho = p.s[7 * i] > rho ? p.s[7 * i] : rho;
        size += x[i] * x[i];
        drive += p.b[i] * p.b[i];
    }
    if (!(rho > 0.0)) {
        return 0.0;
    }
    rho = 1.0 / rho;
    for (int i = 0; i < 6; i++) {
        u[i] = p.b[i];
        for (int j = 0; j < 6; j++) {
            u[i] += p.s[i * 6 + j] * x[j];
        }
    }
    u[0] += tact_v3_norm(u + 3);
    for (int i = 0; i < 6; i++) {
        trial[i] = x[i] - rho * u[i];
    }
    project_to_cone(trial);
    for (int i = 0; i < 6; i++) {
        miss += (x[i] - trial[i]) * (x[i] - trial[i]);
    }
    double scale = sqrt(size) > rho * sqrt(drive) ? sqrt(size) : rho * sqrt(drive);
    return scale > 0.0 ? sqrt(miss) / scale : 0.0;
}
