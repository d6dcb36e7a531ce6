/* The law scaled at a friction state, and the friction state of an impulse. */
#include "contact/local/local_scaled_internal.h"

#include <math.h>
#include <string.h>
#include "contact/vec.h"

/* Index in r, and sign, of each scaled unknown. */
const int tact_local_entry[6] = {0, 5, 4, 1, 2, 3};
static const double sign[6] = {1.0, -1.0, 1.0, 1.0, 1.0, 1.0};

/* Row and column 3 (spin) of S and b belong to w_n at c; the velocity of friction at d is v_1 - d2
 * w_n, v_2 + d1 w_n. */
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

void tact_local_squares(const struct tact_local_problem *problem, const double *r, const double *d,
                        double *f, double *m)
{
    double spin = r[3] - (d[0] * r[2] - d[1] * r[1]), arm = problem->mu * problem->spin_arm;
    double share = arm > 0.0 ? spin / arm : 0.0;
    *f = problem->mu > 0.0 ? (r[1] * r[1] + r[2] * r[2]) / (problem->mu * problem->mu) : 0.0;
    *m = share * share;
}

void tact_local_scale(const struct tact_local_problem *in, const struct friction_state *at,
                      struct scaled *out)
{
    double s[36], b[6], w[2];
    const double *d = at->d;
    memcpy(s, in->s, sizeof s);
    memcpy(b, in->b, sizeof b);
    shift_friction(s, b, d);
    tact_local_surface(in, at->friction_fraction, 1.0 - at->friction_fraction, w);
    double mu = in->mu / sqrt(w[0]);
    const double unit[6] = {1.0, in->semi[0], in->semi[1],
                            mu,  mu,          in->mu * in->spin_arm / sqrt(w[1])};
    for (int i = 0; i < 6; i++) {
        double ui = sign[i] * unit[i];
        for (int j = 0; j < 6; j++) {
            out->s[i * 6 + j] =
                ui * sign[j] * unit[j] * s[tact_local_entry[i] * 6 + tact_local_entry[j]];
        }
        out->b[i] = ui * b[tact_local_entry[i]];
        out->unit[i] = ui;
    }
    out->rolling = tact_local_rolls(in);
    out->patch.corners = out->rolling ? in->corners : 0;
    for (int i = 0; i < out->patch.corners; i++) {
        out->patch.corner[i][0] = in->corner[i][0] / in->semi[0];
        out->patch.corner[i][1] = in->corner[i][1] / in->semi[1];
    }
}

double tact_local_clamp_pressure(const struct tact_local_problem *problem, double *d)
{
    double rho = tact_local_edge_share(problem, d);
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
    if (!(r[0] > 0.0) || !tact_local_rolls(problem)) {
        return 0.0;
    }
    double inverse = 1.0 / r[0];
    d[0] = -r[5] * inverse;
    d[1] = r[4] * inverse;
    return tact_local_clamp_pressure(problem, d);
}

void tact_local_friction_state(const struct tact_local_problem *problem, const double *r,
                               struct friction_state *at)
{
    double f, m;
    tact_local_pressure_centre(problem, r, at->d);
    tact_local_squares(problem, r, at->d, &f, &m);
    at->friction_fraction = f + m > 0.0 ? f / (f + m) : 0.5;
}
