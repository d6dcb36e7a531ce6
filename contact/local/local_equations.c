/* The equations of the local law where it is known which limits act, and their derivative. */
#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/local/local_active_internal.h"
#include "contact/vec.h"

static const int normal[3] = {0, 4, 5};

void tact_active_look(struct active *a)
{
    double m;
    a->y[0] = a->face == FACE_POINT ? 0.0 : -a->x[5] / a->x[0];
    a->y[1] = a->face == FACE_POINT ? 0.0 : a->x[4] / a->x[0];
    a->m = a->x[3] - (a->alpha * a->y[0] * a->x[2] - a->beta * a->y[1] * a->x[1]);
    a->f = a->x[1] * a->x[1] + a->x[2] * a->x[2];
    m = a->m * a->m;
    a->g = tact_local_surface(a->surface, a->f, m, a->w);
    m += a->f;
    a->bend = m > 0.0 ? 2.0 * tact_local_surface_bend(a->surface, a->f / m) / (m * m * m) : 0.0;
    a->size = 0.0;
    for (int i = 0; i < 6; i++) {
        double sum = a->b[i];
        for (int j = 0; j < 6; j++) {
            sum += a->s[i][j] * a->x[j];
        }
        a->u[i] = sum;
        a->size = tact_max(a->size, tact_max(fabs(a->b[i]), a->s[i][i] * fabs(a->x[0])));
    }
}

void tact_active_basis(struct active *a)
{
    static const double all[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    memcpy(a->basis, all, sizeof all);
    a->free = a->face == FACE_INSIDE ? 3 : a->face == FACE_EDGE || a->face == FACE_RIM ? 2 : 1;
    if (a->face == FACE_EDGE || a->face == FACE_CORNER) {
        const double *p = a->corner[a->first], *q = a->corner[(a->first + 1) % a->corners];
        tact_v3_set(a->basis[0], 1.0, p[1], -p[0]);
        tact_v3_set(a->basis[1], 1.0, q[1], -q[0]);
    } else if (a->face == FACE_RIM) {
        tact_v3_set(a->basis[0], 1.0, a->y[1], -a->y[0]);
        tact_v3_set(a->basis[1], 0.0, a->x[0] * a->y[0], a->x[0] * a->y[1]);
    }
}

/* The change of (x0, x4, x5) whose velocities along the basis change by v. */
static void answer_normal(const struct active *a, double *v, double *dn)
{
    tact_ldl_solve(a->inner, a->free, v);
    for (int i = 0; i < 3; i++) {
        dn[i] = 0.0;
        for (int k = 0; k < a->free; k++) {
            dn[i] += a->basis[k][i] * v[k];
        }
    }
}

void tact_active_eliminate(struct active *a)
{
    int k = a->free;
    double back[3][3]; /* S_NT by rows of the basis */
    for (int i = 0; i < k; i++) {
        const double *e = a->basis[i];
        double du[6];
        for (int j = 0; j < 6; j++) {
            du[j] = e[0] * a->s[0][j] + e[1] * a->s[4][j] + e[2] * a->s[5][j];
        }
        for (int j = 0; j < k; j++) {
            const double *o = a->basis[j];
            a->inner[i * k + j] = o[0] * du[0] + o[1] * du[4] + o[2] * du[5];
        }
        memcpy(back[i], du + 1, sizeof back[i]);
    }
    if (a->face == FACE_RIM) { /* the basis turns with the second unknown */
        const double *t = a->basis[1];
        double bent = t[1] * a->u[4] + t[2] * a->u[5];
        a->inner[2] += bent / a->x[0];
        a->inner[3] -= a->x[4] * a->u[4] + a->x[5] * a->u[5];
    }
    tact_ldl_factor(a->inner, k);
    for (int j = 0; j < 3; j++) {
        double v[3] = {0.0}, *w = a->follow[j];
        for (int i = 0; i < k; i++) {
            v[i] = -back[i][j];
        }
        answer_normal(a, v, w);
        for (int i = 0; i < 3; i++) {
            a->seen[j][i] = a->s[1 + i][1 + j] + a->s[1 + i][0] * w[0] + a->s[1 + i][4] * w[1] +
                            a->s[1 + i][5] * w[2];
        }
    }
}

/* How friction's equations answer changes of the normal part and of friction, of its velocities and
 * of the multiplier. */
static void column(const struct active *a, const double *dn, const double *dt, const double *du,
                   double *out)
{
    const double *x = a->x;
    if (!a->slips) {
        memcpy(out, du, 3 * sizeof *out);
        return;
    }
    double dy[2] = {0.0, 0.0}, inverse = 1.0 / x[0];
    if (a->face != FACE_POINT) {
        dy[0] = (-dn[2] - a->y[0] * dn[0]) * inverse;
        dy[1] = (dn[1] - a->y[1] * dn[0]) * inverse;
    }
    double dm = dt[2] - a->alpha * (dy[0] * x[2] + a->y[0] * dt[1]) +
                a->beta * (dy[1] * x[1] + a->y[1] * dt[0]);
    double dfx = x[1] * dt[0] + x[2] * dt[1], dmm = a->m * dm, g = a->gamma;
    double turn = g * a->bend * (dfx * a->m * a->m - a->f * dmm);
    double dw0 = turn * a->m * a->m, dw1 = -turn * a->f, w0 = g * a->w[0];
    out[0] = du[0] - a->beta * (dy[1] * a->u[3] + a->y[1] * du[2]) + dw0 * x[1] + w0 * dt[0];
    out[1] = du[1] + a->alpha * (dy[0] * a->u[3] + a->y[0] * du[2]) + dw0 * x[2] + w0 * dt[1];
    out[2] = du[2] + dw1 * a->m + g * a->w[1] * dm;
    out[3] =
        (a->w[0] * dfx + a->w[1] * dmm) * inverse - 0.5 * (a->g * inverse * inverse + 1.0) * dn[0];
}

void tact_active_equations(const struct active *a, double *t)
{
    const double *x = a->x;
    memcpy(t, a->u + 1, 3 * sizeof *t);
    if (a->slips) {
        t[0] += -a->beta * a->y[1] * a->u[3] + a->gamma * a->w[0] * x[1];
        t[1] += a->alpha * a->y[0] * a->u[3] + a->gamma * a->w[0] * x[2];
        t[2] += a->gamma * a->w[1] * a->m;
        t[3] = 0.5 * (a->g / x[0] - x[0]);
    }
}

int tact_active_factor(struct active *a)
{
    int n = a->slips ? 4 : 3;
    double out[4];
    a->n = n;
    for (int k = 0; k < 3; k++) {
        double dt[3] = {k == 0, k == 1, k == 2};
        column(a, a->follow[k], dt, a->seen[k], out);
        for (int i = 0; i < n; i++) {
            a->jacobian[i][k] = out[i];
        }
    }
    if (a->slips) {
        a->jacobian[0][3] = a->w[0] * a->x[1];
        a->jacobian[1][3] = a->w[0] * a->x[2];
        a->jacobian[2][3] = a->w[1] * a->m;
        a->jacobian[3][3] = 0.0;
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(a->jacobian[i][k]) > fabs(a->jacobian[best][k]) ? i : best;
        }
        a->pivot[k] = best;
        if (!(fabs(a->jacobian[best][k]) > 0.0)) {
            return 0;
        }
        for (int j = 0; best != k && j < n; j++) {
            double keep = a->jacobian[k][j];
            a->jacobian[k][j] = a->jacobian[best][j];
            a->jacobian[best][j] = keep;
        }
        double inverse = 1.0 / a->jacobian[k][k];
        a->diagonal[k] = inverse;
        for (int i = k + 1; i < n; i++) {
            double l = a->jacobian[i][k] *= inverse;
            for (int j = k + 1; j < n; j++) {
                a->jacobian[i][j] -= l * a->jacobian[k][j];
            }
        }
    }
    return 1;
}

static void solve(const struct active *a, double *v)
{
    for (int k = 0; k < a->n; k++) {
        double keep = v[a->pivot[k]];
        v[a->pivot[k]] = v[k];
        v[k] = keep;
    }
    for (int k = 0; k < a->n; k++) {
        for (int i = k + 1; i < a->n; i++) {
            v[i] -= a->jacobian[i][k] * v[k];
        }
    }
    for (int k = a->n - 1; k >= 0; k--) {
        for (int j = k + 1; j < a->n; j++) {
            v[k] -= a->jacobian[k][j] * v[j];
        }
        v[k] *= a->diagonal[k];
    }
}

void tact_active_respond(const struct active *a, const double *b, double *left, double *dx)
{
    double v[3] = {0.0}, dn[3], du[3], none[3] = {0.0, 0.0, 0.0}, out[4];
    for (int i = 0; i < a->free; i++) {
        const double *e = a->basis[i];
        v[i] = -(e[0] * b[0] + e[1] * b[4] + e[2] * b[5]);
    }
    answer_normal(a, v, dn);
    for (int i = 0; i < 3; i++) {
        du[i] = b[1 + i] + a->s[1 + i][0] * dn[0] + a->s[1 + i][4] * dn[1] + a->s[1 + i][5] * dn[2];
    }
    column(a, dn, none, du, out);
    for (int i = 0; i < a->n; i++) {
        left[i] = -left[i] - out[i];
    }
    solve(a, left);
    memcpy(dx + 1, left, 3 * sizeof *dx);
    for (int i = 0; i < 3; i++) {
        dx[normal[i]] = dn[i] + a->follow[0][i] * left[0] + a->follow[1][i] * left[1] +
                        a->follow[2][i] * left[2];
    }
}
