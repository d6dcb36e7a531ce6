/* The law scaled at a friction state, and the friction state of an impulse. */
#include "contact/local/local_scaled_internal.h"

#include <math.h>
#include <string.h>
#include "contact/local/local_points_internal.h"
#include "contact/vec.h"

/* index in the impulse r, and sign, of each scaled unknown */
const int tact_local_row_of_scaled_unknown[6] = {0, 5, 4, 1, 2, 3};
static const double sign[6] = {1.0, -1.0, 1.0, 1.0, 1.0, 1.0};

/* Row and column 3 (spin) of S and b belong to w_n at c; the velocity of friction at d is v_1 - d2
 * w_n, v_2 + d1 w_n. */
static void shift_friction_to_pressure_centre(double *s, double *b, const double *d)
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

void tact_local_scaled_friction(const struct tact_local_problem *problem, const double *r,
                                const double *d, double z[3])
{
    double mu = problem->mu, arm = mu * problem->spin_arm;
    double spin = r[3] - (d[0] * r[2] - d[1] * r[1]);
    tact_v3_set(z, mu > 0.0 ? r[1] / mu : 0.0, mu > 0.0 ? r[2] / mu : 0.0,
                arm > 0.0 ? spin / arm : 0.0);
}

void tact_local_squared_friction_and_torsion(const struct tact_local_problem *problem,
                                             const double *r, const double *d, double *f, double *m)
{
    double spin = r[3] - (d[0] * r[2] - d[1] * r[1]), arm = problem->mu * problem->spin_arm;
    double share = arm > 0.0 ? spin / arm : 0.0;
    *f = problem->mu > 0.0 ? (r[1] * r[1] + r[2] * r[2]) / (problem->mu * problem->mu) : 0.0;
    *m = share * share;
}

/* Scales friction to the ellipsoid that is tangent to a surface of points at a slip. */
static void scale_friction_to_ellipsoid(const struct tact_local_problem *in, const double *slip,
                                        struct scaled_local_problem *out)
{
    double l[9], rows[18], b[3];
    tact_friction_points_tangent_ellipsoid(in, slip, l);
    for (int i = 0; i < 3; i++) {
        b[i] = l[i] * out->b[3] + l[3 + i] * out->b[4] + l[6 + i] * out->b[5];
        for (int j = 0; j < 6; j++) {
            rows[6 * i + j] =
                l[i] * out->s[18 + j] + l[3 + i] * out->s[24 + j] + l[6 + i] * out->s[30 + j];
        }
    }
    memcpy(out->s + 18, rows, sizeof rows);
    memcpy(out->b + 3, b, sizeof b);
    for (int i = 0; i < 6; i++) {
        double *row = out->s + 6 * i + 3, mixed[3];
        tact_m3_tmul_v3(mixed, l, row);
        tact_v3_copy(row, mixed);
    }
    memcpy(out->lower, l, sizeof l);
}

void tact_local_make_scaled_problem(const struct tact_local_problem *in,
                                    const struct friction_state *at,
                                    struct scaled_local_problem *out)
{
    double s[36], b[6], w[2];
    const double *d = at->d;
    memcpy(s, in->s, sizeof s);
    memcpy(b, in->b, sizeof b);
    shift_friction_to_pressure_centre(s, b, d);
    out->has_points_limit_surface = tact_has_friction_points(in);
    w[0] = w[1] = 1.0;
    if (!out->has_points_limit_surface) {
        tact_local_limit_surface(in, at->friction_to_torsion_fraction,
                                 1.0 - at->friction_to_torsion_fraction, w);
    }
    double mu = in->mu / sqrt(w[0]);
    const double impulse_unit[6] = {1.0, in->semi[0], in->semi[1],
                                    mu,  mu,          in->mu * in->spin_arm / sqrt(w[1])};
    for (int i = 0; i < 6; i++) {
        double ui = sign[i] * impulse_unit[i];
        for (int j = 0; j < 6; j++) {
            out->s[i * 6 + j] =
                ui * sign[j] * impulse_unit[j] *
                s[tact_local_row_of_scaled_unknown[i] * 6 + tact_local_row_of_scaled_unknown[j]];
        }
        out->b[i] = ui * b[tact_local_row_of_scaled_unknown[i]];
        out->impulse_unit[i] = ui;
    }
    if (out->has_points_limit_surface) {
        scale_friction_to_ellipsoid(in, at->slip, out);
    }
    out->has_rolling_torque_rows = tact_local_transmits_rolling_torque(in);
    out->patch.corners = out->has_rolling_torque_rows ? in->corners : 0;
    for (int i = 0; i < out->patch.corners; i++) {
        out->patch.corner[i][0] = in->corner[i][0] / in->semi[0];
        out->patch.corner[i][1] = in->corner[i][1] / in->semi[1];
    }
}

double tact_local_clamp_pressure_centre(const struct tact_local_problem *problem, double *d)
{
    double rho = tact_local_edge_distance_ratio(problem, d);
    if (rho > 1.0) {
        d[0] /= rho;
        d[1] /= rho;
    }
    return rho;
}

double tact_local_pressure_centre(const struct tact_local_problem *problem, const double *r,
                                  double *d)
{
    d[0] = d[1] = 0.0;
    if (!(r[0] > 0.0) || !tact_local_transmits_rolling_torque(problem)) {
        return 0.0;
    }
    double inverse = 1.0 / r[0];
    d[0] = -r[5] * inverse;
    d[1] = r[4] * inverse;
    return tact_local_clamp_pressure_centre(problem, d);
}

void tact_local_friction_state(const struct tact_local_problem *problem, const double *r,
                               struct friction_state *at)
{
    double f, m;
    tact_local_pressure_centre(problem, r, at->d);
    tact_v3_set(at->slip, 0.0, 0.0, 0.0);
    if (tact_has_friction_points(problem)) {
        struct limit_surface_at_slip surface;
        double z[3];
        tact_local_scaled_friction(problem, r, at->d, z);
        tact_friction_points_squared_gauge(problem, z, at->slip, &surface);
    }
    tact_local_squared_friction_and_torsion(problem, r, at->d, &f, &m);
    at->friction_to_torsion_fraction = f + m > 0.0 ? f / (f + m) : 0.5;
}
