/* Response of the unknowns of the local law to changes of velocity. */
#include <string.h>
#include "contact/local/local_active_internal.h"
#include "contact/local/local_points_internal.h"
#include "contact/simd_internal.h"
#include "contact/vec.h"

/* A row of the equations: coefficients of the three parts of friction, and the constant term. */
typedef double row __attribute__((vector_size(32)));

/* Changes due to velocities (un, ut) and to each part of friction: w of the normal part and, with
 * it, v of friction's velocities. */
static void compute_velocity_changes(const struct tact_active *a, const double *un,
                                     const double *ut, row *w, row *v)
{
    const double *nt = a->nt, *tt = a->tt, *normal_response = a->normal_response;
    row c[3];
    for (int i = 0; i < 3; i++) {
        c[i] = (row){nt[3 * i], nt[3 * i + 1], nt[3 * i + 2], un[i]};
    }
    for (int i = 0; i < 3; i++) {
        w[i] = -(c[0] * normal_response[3 * i] + c[1] * normal_response[3 * i + 1] +
                 c[2] * normal_response[3 * i + 2]);
    }
    for (int i = 0; i < 3; i++) {
        v[i] = (row){tt[3 * i], tt[3 * i + 1], tt[3 * i + 2], ut[i]};
        v[i] += w[0] * nt[i] + w[1] * nt[3 + i] + w[2] * nt[6 + i];
    }
}

/* Adds the change of friction's direction to the equations of slip, and that of its limit, on a
 * surface of points. dm: change of the torsion. */
static void add_point_surface_terms(const struct tact_active *a, const row *dm, row *out)
{
    const double *normal = a->normal, *b = a->bend, gamma = a->gamma;
    for (int i = 0; i < 3; i++) {
        out[i] += (row){b[3 * i] * gamma, b[3 * i + 1] * gamma, 0.0, 0.0};
        out[i] += *dm * (b[3 * i + 2] * gamma);
    }
    out[3] += ((row){normal[0], normal[1], 0.0, 0.0} + *dm * normal[2]) * a->per_force;
}

/* The equations of slip, from changes w of the normal part and v of friction's velocities; the
 * fourth is that of the limit. */
static void slip_equations(const struct tact_active *a, const row *w, const row *v, row *out)
{
    const double *t = a->t, *y = a->y, m = a->m, square = m * m;
    double inverse = a->per_force, w0 = a->gamma * a->w[0], w1 = a->gamma * a->w[1];
    row y0 = (w[1] - w[0] * y[0]) * inverse, y1 = (w[2] - w[0] * y[1]) * inverse;
    row along = {t[0], t[1], 0.0, 0.0}, turn = {a->beta * y[1], -a->alpha * y[0], 1.0, 0.0};
    row dm = (turn + y1 * (a->beta * t[0]) - y0 * (a->alpha * t[1]));
    if (tact_has_friction_points(a->law)) {
        out[0] = v[0] - (y1 * a->ut[2] + v[2] * y[1]) * a->beta;
        out[1] = v[1] + (y0 * a->ut[2] + v[2] * y[0]) * a->alpha;
        out[2] = v[2];
        out[3] = w[0] * (-0.5 * (a->g * inverse * inverse + 1.0));
        add_point_surface_terms(a, &dm, out);
        return;
    }
    row bent = (along * square - dm * (a->f * m)) * (a->gamma * a->curvature);
    out[0] = v[0] - (y1 * a->ut[2] + v[2] * y[1]) * a->beta + bent * (square * t[0]);
    out[1] = v[1] + (y0 * a->ut[2] + v[2] * y[0]) * a->alpha + bent * (square * t[1]);
    out[2] = v[2] - bent * (a->f * m) + dm * w1;
    out[0][0] += w0;
    out[1][1] += w0;
    out[3] = (along * a->w[0] + dm * (a->w[1] * m)) * inverse -
             w[0] * (0.5 * (a->g * inverse * inverse + 1.0));
}

/* Solves J t + pull gamma = rhs (three equations) and limit . t = rhs (the fourth). */
static void solve_slip_equations(const struct tact_active *a, const row *eq, const double *left,
                                 struct tact_active_change *out)
{
    double j[3][3], cross[3][3], dt[3], pull[3], by[3];
    for (int i = 0; i < 3; i++) {
        tact_v3_set(j[i], eq[i][0], eq[i][1], eq[i][2]);
    }
    tact_v3_cross(cross[0], j[1], j[2]);
    tact_v3_cross(cross[1], j[2], j[0]);
    tact_v3_cross(cross[2], j[0], j[1]);
    double det = tact_v3_dot(j[0], cross[0]), inverse = 1.0 / det;
    tact_m3_tmul_v3(dt, cross[0], left);
    out->gamma = 0.0;
    if (a->slips) {
        const double limit[3] = {eq[3][0], eq[3][1], eq[3][2]};
        tact_active_limit_surface_normal(a, pull);
        tact_m3_tmul_v3(by, cross[0], pull);
        out->gamma = (tact_v3_dot(limit, dt) - det * left[3]) / tact_v3_dot(limit, by);
        tact_v3_axpy(dt, -out->gamma, by);
    }
    tact_v3_scale(out->t, dt, inverse);
}

TACT_TWICE(void, tact_active_unknown_changes,
           (const struct tact_active *a, const double *un, const double *ut, const double *more,
            struct tact_active_change *out),
           (a, un, ut, more, out))
{
    row w[3], v[3], eq[4];
    double left[4];
    compute_velocity_changes(a, un, ut, w, v);
    if (a->slips) {
        slip_equations(a, w, v, eq);
    } else {
        memcpy(eq, v, sizeof v);
        eq[3] = (row){0.0};
    }
    for (int i = 0; i < 4; i++) {
        left[i] = -eq[i][3] - more[i];
    }
    solve_slip_equations(a, eq, left, out);
    for (int i = 0; i < 3; i++) {
        out->n[i] = w[i][0] * out->t[0] + w[i][1] * out->t[1] + w[i][2] * out->t[2] + w[i][3];
    }
}
