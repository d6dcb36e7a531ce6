/* Integrals over columns, four triangles at a time. */
#include "contact/moments/moments_columns_internal.h"

/* Adds a volume v and the integrals f of r and s of r r^T, given about the point base, to the
 * sums. */
static void tact_prism_columns_shift_origin(struct tact_prism_columns_sums *c, const tact_d4 *v,
                                            const tact_d4 *f, const tact_d4 *s, const tact_d4 *base)
{
    static const int row[3] = {0, 0, 1}, column[3] = {1, 2, 2};
    c->volume += *v;
    c->volume_term_magnitude += TACT_D4_ABS(*v);
    for (int k = 0; k < 3; k++) {
        int i = row[k], j = column[k];
        c->first[k] += f[k] + *v * base[k];
        c->second[k] += s[k] + 2.0 * base[k] * f[k] + *v * base[k] * base[k];
        c->second[3 + k] += s[3 + k] + base[i] * f[j] + base[j] * f[i] + *v * base[i] * base[j];
    }
}

/* Integrates the columns over the queued triangles.
 *
 * Relative to corner 0, the middle points of the column above the corners, x, y and m = z + h/2,
 * are linear over the triangle, and the integrals over z of r and r r^T are h r_m and h r_m r_m^T
 * with h^3 / 12 added to zz. */
static void
tact_prism_columns_integrate_batch(const struct tact_prism_columns_batch *prism_column_batch,
                                   struct tact_prism_columns_sums *c)
{
    const tact_d4 *p0 = prism_column_batch->corner[0], *p1 = prism_column_batch->corner[1],
                  *p2 = prism_column_batch->corner[2];
    const tact_d4 *h = prism_column_batch->height;
    tact_d4 a[3], b[3], area[3], base[3], f[3], s[6];
    for (int k = 0; k < 3; k++) {
        base[k] = p0[k];
        a[k] = p1[k] - p0[k];
        b[k] = p2[k] - p0[k];
    }
    tact_d4 half = 0.5 * prism_column_batch->tau;
    area[0] = half * (a[1] * b[2] - a[2] * b[1]);
    area[1] = half * (a[2] * b[0] - a[0] * b[2]);
    area[2] = half * (a[0] * b[1] - a[1] * b[0]);
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        tact_d4 cy = p0[y] + p1[y] + p2[y], cz = p0[z] + p1[z] + p2[z];
        c->gradient[k] += area[k];
        c->torque[k] += (cy * area[z] - cz * area[y]) * (1.0 / 3.0);
    }
    base[2] += 0.5 * h[0];
    a[2] = p1[2] + 0.5 * h[1] - base[2];
    b[2] = p2[2] + 0.5 * h[2] - base[2];

    /* sign of the column: where A faces down (area[2] < 0) the solid A begins, sigma = +1 */
    tact_d4 w = -area[2], sum = h[0] + h[1] + h[2], v = w * (1.0 / 3.0) * sum;
    tact_d4 fa = w * (1.0 / 12.0) * (sum + h[1]), fb = w * (1.0 / 12.0) * (sum + h[2]);
    tact_d4 aa = w * (1.0 / 30.0) * (sum + 2.0 * h[1]), bb = w * (1.0 / 30.0) * (sum + 2.0 * h[2]);
    tact_d4 ab = w * (1.0 / 60.0) * (sum + h[1] + h[2]);
    for (int k = 0; k < 3; k++) {
        f[k] = fa * a[k] + fb * b[k];
        s[k] = aa * a[k] * a[k] + bb * b[k] * b[k] + 2.0 * ab * a[k] * b[k];
    }
    s[3] = aa * a[0] * a[1] + bb * b[0] * b[1] + ab * (a[0] * b[1] + a[1] * b[0]);
    s[4] = aa * a[0] * a[2] + bb * b[0] * b[2] + ab * (a[0] * b[2] + a[2] * b[0]);
    s[5] = aa * a[1] * a[2] + bb * b[1] * b[2] + ab * (a[1] * b[2] + a[2] * b[1]);
    tact_d4 squares = h[0] * h[0] + h[1] * h[1] + h[2] * h[2];
    tact_d4 cubes = h[0] * h[0] * h[0] + h[1] * h[1] * h[1] + h[2] * h[2] * h[2];
    s[2] += w * (1.0 / 720.0) * (sum * sum * sum + 3.0 * sum * squares + 2.0 * cubes);
    tact_prism_columns_shift_origin(c, &v, f, s, base);
}

void tact_prism_columns_add_triangle(struct tact_prism_columns *c, const tact_d4 *polygon,
                                     const double *height, int n, double tau)
{
    for (int i = 1; i + 1 < n; i++) {
        const int at[3] = {0, i, i + 1};
        struct tact_prism_columns_batch *queued_column_batch =
            &c->queued_column_batches[c->queued_triangle_count / 4];
        int lane = c->queued_triangle_count % 4;
        for (int k = 0; k < 3; k++) {
            const double *p = (const double *)&polygon[at[k]];
            ((double *)&queued_column_batch->corner[k][0])[lane] = p[0];
            ((double *)&queued_column_batch->corner[k][1])[lane] = p[1];
            ((double *)&queued_column_batch->corner[k][2])[lane] = p[2];
            ((double *)&queued_column_batch->height[k])[lane] = height[at[k]];
        }
        ((double *)&queued_column_batch->tau)[lane] = tau;
        if (lane == 3) {
            tact_prism_columns_integrate_batch(queued_column_batch,
                                               &c->sums[c->queued_triangle_count / 4]);
        }
        c->queued_triangle_count = (c->queued_triangle_count + 1) % 8;
    }
}

static double tact_prism_columns_sum_lanes(const tact_d4 *a, const tact_d4 *b)
{
    const double *l = (const double *)a, *m = (const double *)b;
    return ((l[0] + l[1]) + (l[2] + l[3])) + ((m[0] + m[1]) + (m[2] + m[3]));
}

#define TACT_PRISM_COLUMNS_SUM_OF_LANES(c, of)                                                     \
    tact_prism_columns_sum_lanes(&(c)->sums[0].of, &(c)->sums[1].of)

void tact_prism_columns_sum_queued(struct tact_prism_columns *c, struct tact_moment_sums *sums)
{
    struct tact_prism_columns_batch *queued_column_batch =
        &c->queued_column_batches[c->queued_triangle_count / 4];
    for (int lane = c->queued_triangle_count % 4; c->queued_triangle_count % 4 && lane < 4;
         lane++) {
        ((double *)&queued_column_batch->tau)[lane] = 0.0;
    }
    if (c->queued_triangle_count % 4) {
        tact_prism_columns_integrate_batch(queued_column_batch,
                                           &c->sums[c->queued_triangle_count / 4]);
    }
    sums->volume = TACT_PRISM_COLUMNS_SUM_OF_LANES(c, volume);
    sums->volume_term_magnitude = TACT_PRISM_COLUMNS_SUM_OF_LANES(c, volume_term_magnitude);
    for (int k = 0; k < 3; k++) {
        sums->first[k] = TACT_PRISM_COLUMNS_SUM_OF_LANES(c, first[k]);
        sums->second[k] = TACT_PRISM_COLUMNS_SUM_OF_LANES(c, second[k]);
        sums->second[3 + k] = TACT_PRISM_COLUMNS_SUM_OF_LANES(c, second[3 + k]);
        sums->gradient[k] = TACT_PRISM_COLUMNS_SUM_OF_LANES(c, gradient[k]);
        sums->torque[k] = TACT_PRISM_COLUMNS_SUM_OF_LANES(c, torque[k]);
    }
}
