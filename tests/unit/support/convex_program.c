/* The quadratic program: an interior-point method of 5 unknowns from a start that is feasible. */
#include "convex_program.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

enum { UNKNOWNS = 5, MOST_STEPS = 60, MOST_ROUNDS = 5 };

/* Unknowns x = (w, alpha, beta); each vertex has a row g.x >= 0, a slack s = g.x and a multiplier
 * z. */
struct program {
    int rows;
    double (*g)[UNKNOWNS];
    real *s, *z, *ds, *dz, x[UNKNOWNS];
};

/* The quadratic program of hulls A and B, with A moved by `shift` and lengths divided by `scale`
 * [m]. */
static struct program set_up_distance_program(const struct reference_hull *a,
                                              const struct reference_hull *b, const double shift[3],
                                              double scale)
{
    const int rows = a->vertices + b->vertices;
    struct program p = {.rows = rows, .g = calloc((size_t)rows, sizeof *p.g)};
    p.s = calloc((size_t)rows, 4 * sizeof *p.s);
    p.z = p.s + rows;
    p.ds = p.s + 2 * rows;
    p.dz = p.s + 3 * rows;
    p.x[3] = -2.0;
    p.x[4] = 2.0;
    for (int i = 0; i < rows; i++) {
        const int of_a = i < a->vertices;
        const double *v = of_a ? a->vertex[i] : b->vertex[i - a->vertices];
        tact_v3_scale(p.g[i], v, (of_a ? 1.0 : -1.0) / scale);
        tact_v3_axpy(p.g[i], (of_a ? 1.0 : 0.0) / scale, shift);
        p.g[i][3] = of_a ? -1.0 : 0.0;
        p.g[i][4] = of_a ? 0.0 : 1.0;
        p.s[i] = 2.0;
        p.z[i] = 1.0 / (of_a ? a->vertices : b->vertices);
    }
    return p;
}

static real row_times(const struct program *p, int i, const real x[UNKNOWNS])
{
    real sum = 0.0;
    for (int k = 0; k < UNKNOWNS; k++) {
        sum += p->g[i][k] * x[k];
    }
    return sum;
}

/* Solves m x = r by Cholesky's method; r becomes x. */
static void solve_positive_definite(real m[UNKNOWNS][UNKNOWNS], real r[UNKNOWNS])
{
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int k = 0; k <= i; k++) {
            real sum = m[i][k];
            for (int j = 0; j < k; j++) {
                sum -= m[i][j] * m[k][j];
            }
            m[i][k] = i == k ? sqrtl(fmaxl(sum, 1e-300L)) : sum / m[k][k];
        }
    }
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int k = 0; k < i; k++) {
            r[i] -= m[i][k] * r[k];
        }
        r[i] /= m[i][i];
    }
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        for (int k = i + 1; k < UNKNOWNS; k++) {
            r[i] -= m[k][i] * r[k];
        }
        r[i] /= m[i][i];
    }
}

/* Interior-point step towards s z = centre; is_corrector_step: with Mehrotra's second-order term.
 */
static void compute_interior_point_step(struct program *p, real centre, int is_corrector_step,
                                        real dx[UNKNOWNS])
{
    real m[UNKNOWNS][UNKNOWNS] = {{0.0}};
    /* minus the gradient (w, -1, 1), plus the multipliers' part */
    for (int k = 0; k < UNKNOWNS; k++) {
        dx[k] = k < 3 ? -p->x[k] : k == 3 ? 1.0 : -1.0;
        m[k][k] = k < 3 ? 1.0 : 0.0;
    }
    for (int i = 0; i < p->rows; i++) {
        const real dual_over_slack = p->z[i] / p->s[i], off = row_times(p, i, p->x) - p->s[i];
        const real want = centre - (is_corrector_step ? p->ds[i] * p->dz[i] : 0.0);
        const real pull = want / p->s[i] - dual_over_slack * off;
        for (int k = 0; k < UNKNOWNS; k++) {
            dx[k] += p->g[i][k] * pull;
            for (int j = 0; j <= k; j++) {
                m[k][j] += dual_over_slack * p->g[i][k] * p->g[i][j];
            }
        }
    }
    solve_positive_definite(m, dx);
    for (int i = 0; i < p->rows; i++) {
        const real off = row_times(p, i, p->x) - p->s[i];
        const real want = centre - (is_corrector_step ? p->ds[i] * p->dz[i] : 0.0);
        p->ds[i] = row_times(p, i, dx) + off;
        p->dz[i] = (want - p->z[i] * p->ds[i]) / p->s[i] - p->z[i];
    }
}

/* Largest step length, at most 1, after which every slack and multiplier is at least `keep` times
 * what it was. */
static real longest_step(const struct program *p, real keep)
{
    real most = 1.0;
    for (int i = 0; i < p->rows; i++) {
        most = p->ds[i] < 0.0 ? fminl(most, -(1.0 - keep) * p->s[i] / p->ds[i]) : most;
        most = p->dz[i] < 0.0 ? fminl(most, -(1.0 - keep) * p->z[i] / p->dz[i]) : most;
    }
    return most;
}

static real mean_product(const struct program *p, real step)
{
    real sum = 0.0;
    for (int i = 0; i < p->rows; i++) {
        sum += (p->s[i] + step * p->ds[i]) * (p->z[i] + step * p->dz[i]);
    }
    return sum / p->rows;
}

/* The gap along w bounds the distance from below; the points that the multipliers weigh, from
 * above. */
static void tighten_distance_bounds(const struct program *p, const struct reference_hull *a,
                                    const struct reference_hull *b, const double shift[3],
                                    double scale, struct distance_bounds *out)
{
    real point[2][3] = {{0.0}}, weight[2] = {0.0};
    double apart[3], n[3];
    for (int i = 0; i < p->rows; i++) {
        const int of_b = i >= a->vertices;
        weight[of_b] += p->z[i];
        for (int k = 0; k < 3; k++) {
            point[of_b][k] += p->z[i] * p->g[i][k];
        }
    }
    for (int k = 0; k < 3; k++) { /* the rows of hull B hold -b in place of b */
        const real between = point[0][k] / weight[0] + point[1][k] / weight[1];
        apart[k] = (double)(scale * between - shift[k]);
        n[k] = (double)p->x[k];
    }
    out->upper = fmin(out->upper, tact_v3_norm(apart));
    const double gap =
        tact_v3_normalize(n, n) > 0.0 ? gap_of_hulls_along_normal(a, b, n) : -INFINITY;
    if (gap > out->lower) {
        out->lower = gap;
        tact_v3_copy(out->normal, n);
    }
}

/* Moves to the optimum until the bounds differ by no more than `bound_tolerance_m` [m] or rounding
 * ends it. */
static void solve_distance_program(struct program *p, const struct reference_hull *a,
                                   const struct reference_hull *b, const double shift[3],
                                   double scale, double bound_tolerance_m,
                                   struct distance_bounds *out)
{
    for (int i = 0; i < MOST_STEPS && out->upper - out->lower > bound_tolerance_m; i++) {
        real dx[UNKNOWNS];
        const real now = mean_product(p, 0.0);
        compute_interior_point_step(p, 0.0, 0, dx);
        const real then = mean_product(p, longest_step(p, 0.0)) / now;
        compute_interior_point_step(p, now * then * then * then, 1, dx);
        const real step = longest_step(p, 0.005);
        for (int k = 0; k < UNKNOWNS; k++) {
            p->x[k] += step * dx[k];
        }
        for (int k = 0; k < p->rows; k++) {
            p->s[k] += step * p->ds[k];
            p->z[k] += step * p->dz[k];
        }
        if (!(mean_product(p, 0.0) > 0.0)) {
            break;
        }
        tighten_distance_bounds(p, a, b, shift, scale, out);
    }
}

/* Where two hulls nearly touch, rounding ends the method early. A is then moved away along the
 * normal so far, to which the optimum only adds that way, and the program solved again; until the
 * normal no longer changes. */
struct distance_bounds bound_hull_distance(const struct reference_hull *a,
                                           const struct reference_hull *b, double size)
{
    /* scaling by a power of two causes no rounding error */
    const double scale = exp2(ceil(log2(size)));
    struct distance_bounds out = {.lower = -INFINITY, .upper = INFINITY};
    double shift[3] = {0.0};
    while (out.program_solve_count < MOST_ROUNDS && out.upper - out.lower > 1e-13 * size) {
        struct program p = set_up_distance_program(a, b, shift, scale);
        solve_distance_program(&p, a, b, shift, scale, 1e-13 * size, &out);
        out.program_solve_count++;
        tact_v3_scale(shift, out.normal, fmax(0.0, 0.2 * size - out.lower));
        free(p.g);
        free(p.s);
    }
    return out;
}
