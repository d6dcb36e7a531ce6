/* The integrals of a polygon: its pressure is linear, so area, first and second moments give all.
 */
#include <math.h>
#include <string.h>
#include "contact/pair/field/field_internal.h"

/* Difference of two gradients, of the larger, below which the fields agree too closely for a
 * stiffness: the force jumps over a way that is no deformation. */
#define ALIKE 1e-6

/* Area, and first and second moments about corner 0. */
struct extent {
    double area, first[3], second[9];
};

static void measure(const struct field_cut *cut, const double *normal, struct extent *out)
{
    double u[3], w[3], across[3];
    memset(out, 0, sizeof *out);
    tact_v3_sub(w, cut->corner[1], cut->corner[0]);
    for (int i = 2; i < cut->n; i++) {
        tact_v3_copy(u, w);
        tact_v3_sub(w, cut->corner[i], cut->corner[0]);
        tact_v3_cross(across, u, w);
        double area = 0.5 * tact_v3_dot(across, normal), t[3];
        tact_v3_add(t, u, w);
        out->area += area;
        tact_v3_axpy(out->first, area * (1.0 / 3.0), t);
        for (int k = 0; k < 9; k++) {
            int p = k / 3, q = k % 3;
            out->second[k] += area * (1.0 / 12.0) * (u[p] * u[q] + w[p] * w[q] + t[p] * t[q]);
        }
    }
    double sign = out->area < 0.0 ? -1.0 : 1.0;
    out->area *= sign;
    tact_v3_scale(out->first, out->first, sign);
    for (int k = 0; k < 9; k++) {
        out->second[k] *= sign;
    }
}

/* Minus the integral of sym[(g_B.u1)(g_A.u2)] / |g_B - g_A|, with (v, w) moving x, from the origin
 * of the sums, at v + w x x: g.u = g.v + (x cross g).w. arm: of corner 0. */
static void add_stiffness(const struct extent *of, const double *arm,
                          const struct field_plane *plane, double *stiffness)
{
    const double *ga = plane->slope_a, *gb = plane->slope_b;
    double mean_a[3], mean_b[3], turn[9], at[9], scale = 1.0 / plane->apart, middle[3], full[36];
    for (int k = 0; k < 3; k++) {
        middle[k] = of->first[k] + of->area * arm[k];
    }
    for (int k = 0; k < 9; k++) {
        int p = k / 3, q = k % 3;
        at[k] = of->second[k] + arm[p] * of->first[q] + of->first[p] * arm[q] +
                of->area * arm[p] * arm[q];
    }
    tact_v3_cross(mean_a, middle, ga);
    tact_v3_cross(mean_b, middle, gb);
    /* turn = [x cross g_B] integral of x x' [x cross g_A]', by columns of the second moment */
    for (int q = 0; q < 3; q++) {
        const double column[3] = {at[q], at[3 + q], at[6 + q]};
        double across[3];
        tact_v3_cross(across, column, gb);
        turn[q] = across[0];
        turn[3 + q] = across[1];
        turn[6 + q] = across[2];
    }
    for (int p = 0; p < 3; p++) {
        double across[3];
        tact_v3_cross(across, turn + 3 * p, ga);
        for (int q = 0; q < 3; q++) {
            full[6 * p + q] = of->area * gb[p] * ga[q];
            full[6 * p + 3 + q] = gb[p] * mean_a[q];
            full[6 * (p + 3) + q] = mean_b[p] * ga[q];
            full[6 * (p + 3) + 3 + q] = across[q];
        }
    }
    for (int p = 0, k = 0; p < 6; p++) {
        for (int q = 0; q <= p; q++) {
            stiffness[k++] -= 0.5 * scale * (full[6 * p + q] + full[6 * q + p]);
        }
    }
}

/* g_A g_B / (g_A + g_B) of the slopes along the normal; of a rigid one the other's. */
static double in_series(const struct field_plane *plane)
{
    return -tact_v3_dot(plane->slope_a, plane->normal) *
           tact_v3_dot(plane->slope_b, plane->normal) / plane->apart;
}

/* Two soft fields whose gradients are all but equal. */
static int is_alike(const struct field_plane *plane)
{
    double steep = tact_max(tact_v3_norm(plane->slope_a), tact_v3_norm(plane->slope_b));
    return plane->soft && plane->apart < ALIKE * steep;
}

void tact_field_add(struct field_sums *sums, const struct field_cut *cut,
                    const struct field_plane *plane, struct tact_field_polygon *polygon)
{
    struct extent of;
    double arm[3], moment[3], torque[3], *first = polygon->first;
    measure(cut, plane->normal, &of);
    polygon->corners = cut->n;
    memcpy(polygon->corner, cut->corner, sizeof cut->corner);
    polygon->pressure = plane->base + tact_v3_dot(plane->slope, cut->corner[0]);
    polygon->area = of.area;
    polygon->load = polygon->pressure * of.area + tact_v3_dot(plane->slope, of.first);
    tact_m3_mul_v3(first, of.second, plane->slope);
    tact_v3_axpy(first, polygon->pressure, of.first);
    tact_v3_scale(polygon->normal, plane->normal, -1.0);
    tact_v3_copy(polygon->gradient, plane->slope);
    polygon->series = in_series(plane);
    tact_v3_sub(arm, cut->corner[0], sums->origin);
    tact_v3_copy(moment, first);
    tact_v3_axpy(moment, polygon->load, arm);
    tact_v3_cross(torque, moment, plane->normal);
    sums->area += of.area;
    sums->load += polygon->load;
    for (int i = 0; i < cut->n; i++) {
        double p = plane->base + tact_v3_dot(plane->slope, cut->corner[i]);
        sums->peak = tact_max(sums->peak, p);
    }
    tact_v3_add(sums->first, sums->first, moment);
    tact_v3_axpy(sums->force, polygon->load, plane->normal);
    tact_v3_add(sums->torque, sums->torque, torque);
    if (is_alike(plane)) {
        sums->alike++;
    } else {
        add_stiffness(&of, arm, plane, sums->stiffness);
    }
}
