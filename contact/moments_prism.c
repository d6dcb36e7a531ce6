/* Signed prism pairs: the integrals over each pair of triangles. */
#include <string.h>

#include "contact/moments_internal.h"

/** Room for a polygon. Exact clipping of a triangle by four lines leaves 7 corners; where all is
 * within rounding of a line, signs may alternate and leave 13. */
enum { CORNERS = 16 };

void tact_sums_add_column(struct tact_moment_sums *sums, double polygon[][3], const double *height,
                          int n, double tau)
{
    /* Middle points of the column above the corners, from that of corner 0: x, y and m = z + h/2
     * are linear over the polygon, and the integrals over z of r and r r^T are h r_m and h r_m
     * r_m^T with h^3 / 12 added to zz. */
    const double *p0 = polygon[0];
    double base[3] = {p0[0], p0[1], p0[2] + 0.5 * height[0]};
    double v = 0.0, f[3] = {0.0}, s[6] = {0.0};
    for (int i = 1; i + 1 < n; i++) {
        const double *p1 = polygon[i], *p2 = polygon[i + 1];
        double h0 = height[0], h1 = height[i], h2 = height[i + 1], h = h0 + h1 + h2;
        double e1[3], e2[3], area[3], centre[3], turn[3];
        tact_v3_sub(e1, p1, p0);
        tact_v3_sub(e2, p2, p0);
        tact_v3_cross(area, e1, e2);
        for (int k = 0; k < 3; k++) {
            area[k] *= 0.5 * tau;
            centre[k] = (p0[k] + p1[k] + p2[k]) / 3.0;
        }
        tact_v3_add(sums->gradient, sums->gradient, area);
        tact_v3_cross(turn, centre, area);
        tact_v3_add(sums->torque, sums->torque, turn);

        /* A facing down (area[2] < 0) is where a column of A begins: sigma = +1. */
        double w = -area[2];
        double a[3] = {e1[0], e1[1], p1[2] + 0.5 * h1 - base[2]};
        double b[3] = {e2[0], e2[1], p2[2] + 0.5 * h2 - base[2]};
        double aa = w / 30.0 * (h + 2.0 * h1), bb = w / 30.0 * (h + 2.0 * h2);
        double ab = w / 60.0 * (h + h1 + h2);
        v += w / 3.0 * h;
        for (int k = 0; k < 3; k++) {
            f[k] += w / 12.0 * ((h + h1) * a[k] + (h + h2) * b[k]);
            s[k] += aa * a[k] * a[k] + bb * b[k] * b[k] + 2.0 * ab * a[k] * b[k];
        }
        s[3] += aa * a[0] * a[1] + bb * b[0] * b[1] + ab * (a[0] * b[1] + a[1] * b[0]);
        s[4] += aa * a[0] * a[2] + bb * b[0] * b[2] + ab * (a[0] * b[2] + a[2] * b[0]);
        s[5] += aa * a[1] * a[2] + bb * b[1] * b[2] + ab * (a[1] * b[2] + a[2] * b[1]);
        double squares = h0 * h0 + h1 * h1 + h2 * h2;
        double cubes = h0 * h0 * h0 + h1 * h1 * h1 + h2 * h2 * h2;
        s[2] += w / 720.0 * (h * h * h + 3.0 * h * squares + 2.0 * cubes);
    }
    sums->volume += v;
    sums->magnitude += fabs(v);
    for (int k = 0; k < 3; k++) {
        sums->first[k] += f[k] + v * base[k];
        sums->second[k] += s[k] + 2.0 * base[k] * f[k] + v * base[k] * base[k];
    }
    sums->second[3] += s[3] + base[0] * f[1] + base[1] * f[0] + v * base[0] * base[1];
    sums->second[4] += s[4] + base[0] * f[2] + base[2] * f[0] + v * base[0] * base[2];
    sums->second[5] += s[5] + base[1] * f[2] + base[2] * f[1] + v * base[1] * base[2];
}

/** Keeps the part of in where value >= 0 (Sutherland-Hodgman); returns its number of corners. value
 *  is linear over the polygon. */
static int clip(double in[][3], const double *value, int n, double out[][3])
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        int j = i + 1 < n ? i + 1 : 0;
        if (value[i] >= 0.0) {
            tact_v3_copy(out[m++], in[i]);
        }
        if ((value[i] > 0.0 && value[j] < 0.0) || (value[i] < 0.0 && value[j] > 0.0)) {
            double u = value[i] / (value[i] - value[j]);
            for (int k = 0; k < 3; k++) {
                out[m][k] = in[i][k] + u * (in[j][k] - in[i][k]);
            }
            m++;
        }
    }
    return m;
}

/** Clips the polygon by the projection of triangle t, oriented by tau. Result in p. */
static int clip_by_triangle(double p[CORNERS][3], int n, double t[3][3], double tau)
{
    for (int k = 0; k < 3 && n >= 3; k++) {
        const double *a = t[k], *b = t[(k + 1) % 3];
        double dx = tau * (b[0] - a[0]), dy = tau * (b[1] - a[1]);
        double value[CORNERS], q[CORNERS][3];
        int outside = 0;
        for (int i = 0; i < n; i++) {
            value[i] = dx * (p[i][1] - a[1]) - dy * (p[i][0] - a[0]);
            outside += value[i] < 0.0;
        }
        if (outside == n) {
            return 0;
        }
        if (outside) {
            n = clip(p, value, n, q);
            memcpy(p, q, (size_t)n * sizeof *q);
        }
    }
    return n;
}

static void add_pair(struct tact_moment_sums *sums, double s[3][3], double t[3][3])
{
    double ux = t[1][0] - t[0][0], uy = t[1][1] - t[0][1], uz = t[1][2] - t[0][2];
    double wx = t[2][0] - t[0][0], wy = t[2][1] - t[0][1], wz = t[2][2] - t[0][2];
    double nz = ux * wy - uy * wx;
    if (nz == 0.0) {
        return;
    }
    double tau = nz > 0.0 ? 1.0 : -1.0;
    double p[CORNERS][3], q[CORNERS][3], height[CORNERS];
    memcpy(p, s, 3 * sizeof *p);
    int n = clip_by_triangle(p, 3, t, tau);
    if (n < 3) {
        return;
    }
    double slope_x = -(uy * wz - uz * wy) / nz, slope_y = -(uz * wx - ux * wz) / nz;
    double lowest = tact_min(t[0][2], tact_min(t[1][2], t[2][2]));
    double highest = tact_max(t[0][2], tact_max(t[1][2], t[2][2]));
    for (int pass = 0; pass < 2; pass++) {
        int below = 0;
        for (int i = 0; i < n; i++) {
            double z = t[0][2] + slope_x * (p[i][0] - t[0][0]) + slope_y * (p[i][1] - t[0][1]);
            /* The polygon lies within t: beyond its corners z is only rounding, on a steep t. */
            height[i] = tact_min(tact_max(z, lowest), highest) - p[i][2];
            below += height[i] < 0.0;
        }
        if (below == n) {
            return;
        }
        if (below == 0) {
            break;
        }
        if (pass == 1) {
            for (int i = 0; i < n; i++) {
                height[i] = tact_max(height[i], 0.0);
            }
            break;
        }
        n = clip(p, height, n, q);
        memcpy(p, q, (size_t)n * sizeof *q);
    }
    if (n >= 3) {
        tact_sums_add_column(sums, p, height, n, tau);
    }
}

static void triangle_in_frame(const struct tact_mesh *mesh, const double rot[9],
                              const double shift[3], uint32_t index, double t[3][3])
{
    const uint32_t *v = mesh->triangles + 3 * (size_t)index;
    for (int k = 0; k < 3; k++) {
        tact_m3_mul_v3(t[k], rot, mesh->vertices + 3 * (size_t)v[k]);
        tact_v3_add(t[k], t[k], shift);
    }
}

int tact_prism_sum(const struct tact_mesh *a, const struct tact_pose *pa, const struct tact_mesh *b,
                   const struct tact_pose *pb, const struct tact_prism_frame *frame,
                   const struct tact_prism_pair *pairs, size_t count, struct tact_moments *out)
{
    double rot_a[9], shift_a[3], rot_b[9], shift_b[3], s[3][3] = {{0.0}}, t[3][3];
    tact_prism_place(frame, pa, rot_a, shift_a);
    tact_prism_place(frame, pb, rot_b, shift_b);
    struct tact_moment_sums sums = {0};
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || pairs[i].a != pairs[i - 1].a) {
            triangle_in_frame(a, rot_a, shift_a, pairs[i].a, s);
        }
        triangle_in_frame(b, rot_b, shift_b, pairs[i].b, t);
        add_pair(&sums, s, t);
    }
    return tact_sums_finish(&sums, frame->axes, frame->origin, out);
}
