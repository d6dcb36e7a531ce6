/* How far an impulse is from a solution of the law of local_cone.c. */
#include <math.h>
#include "contact/local/local_scaled_internal.h"
#include "contact/vec.h"

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

/* Violations of the polygon's conditions, in units of force. u: without De Saxce's term. */
static double polygon_residual(const struct scaled *p, const double *x, const double *u, double rho,
                               double size)
{
    double z = tact_v3_norm(x + 3), slip = tact_v3_norm(u + 3), least = 0.0, beyond = 0.0;
    for (int i = 0; i < p->patch.corners; i++) {
        const double *a = p->patch.corner[i], *b = p->patch.corner[(i + 1) % p->patch.corners];
        double edge[2] = {b[0] - a[0], b[1] - a[1]};
        double out = edge[1] * (x[1] - a[0] * x[0]) - edge[0] * (x[2] - a[1] * x[0]);
        least = tact_min(least, u[0] + a[0] * u[1] + a[1] * u[2]);
        if (out > 0.0) {
            beyond = tact_max(beyond, out / hypot(edge[0], edge[1]));
        }
    }
    double miss = tact_max(tact_max(-x[0], z - x[0]), tact_max(beyond, -rho * least));
    double power = fabs(x[0] * u[0] + x[1] * u[1] + x[2] * u[2]) +
                   fabs(tact_v3_dot(x + 3, u + 3) + tact_max(x[0], 0.0) * slip);
    return tact_max(miss, size > 0.0 ? rho * power / size : 0.0);
}

/* Residual of an impulse well inside every limit, where the projection changes nothing; -1 where it
 * is not. */
static double inner_residual(const struct tact_local_problem *problem, const double *r)
{
    int rolling = tact_local_rolls(problem);
    double d[2] = {0.0, 0.0}, size = 0.0, miss = 0.0, rho = 0.0;
    if (!(r[0] > 0.0) || !(problem->mu > 0.0)) {
        return -1.0;
    }
    if (rolling) {
        d[0] = -r[5] / r[0];
        d[1] = r[4] / r[0];
    }
    if (tact_local_edge_share(problem, d) > 0.9 || tact_local_friction_share(problem, r, d) > 0.9) {
        return -1.0;
    }
    const double unit[6] = {1.0,
                            problem->mu,
                            problem->mu,
                            problem->mu * problem->spin_arm,
                            rolling ? problem->semi[1] : 0.0,
                            rolling ? problem->semi[0] : 0.0};
    for (int i = 0; i < 6; i++) {
        double u = problem->b[i];
        for (int j = 0; j < 6; j++) {
            u += problem->s[6 * i + j] * r[j];
        }
        miss += unit[i] * u * unit[i] * u;
        size += unit[i] > 0.0 ? r[i] / unit[i] * r[i] / unit[i] : 0.0;
        rho = tact_max(rho, unit[i] * unit[i] * problem->s[7 * i]);
    }
    double share = sqrt(miss) / (rho * sqrt(size));
    return share < 0.05 ? share : -1.0;
}

double tact_local_residual(const struct tact_local_problem *problem, const double r[6])
{
    double inner = inner_residual(problem, r);
    if (inner >= 0.0) {
        return inner;
    }
    struct scaled p;
    struct place at;
    const double *d = at.d;
    double x[6], u[6], trial[6];
    tact_local_find_place(problem, r, &at);
    tact_local_scale(problem, &at, &p);
    const double at_d[6] = {r[0], r[1], r[2], r[3] - (d[0] * r[2] - d[1] * r[1]), r[4], r[5]};
    double rho = 0.0, size = 0.0, drive = 0.0, miss = 0.0;
    for (int i = 0; i < 6; i++) {
        x[i] = p.unit[i] != 0.0 ? at_d[tact_local_entry[i]] / p.unit[i] : 0.0;
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
    double scale = tact_max(sqrt(size), rho * sqrt(drive));
    if (p.patch.corners) {
        return scale > 0.0 ? polygon_residual(&p, x, u, rho, sqrt(size)) / scale : 0.0;
    }
    u[0] += tact_v3_norm(u + 3);
    for (int i = 0; i < 6; i++) {
        trial[i] = x[i] - rho * u[i];
    }
    project_to_cone(trial);
    for (int i = 0; i < 6; i++) {
        miss += (x[i] - trial[i]) * (x[i] - trial[i]);
    }
    return scale > 0.0 ? sqrt(miss) / scale : 0.0;
}
