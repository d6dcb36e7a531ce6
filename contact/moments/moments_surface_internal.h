/* Integrals over a solid from triangles of its closed surface, four at a time; not installed. */
#ifndef TACT_CONTACT_MOMENTS_SURFACE_INTERNAL_H
#define TACT_CONTACT_MOMENTS_SURFACE_INTERNAL_H

#include "moments_internal.h"
#include "../simd_internal.h"

/* Triangles of a closed surface to be integrated, and sums over integrated ones, one a lane. Zero
 * initially. */
struct tact_cut_surface {
    int queued_triangle_count, started;
    tact_d4 origin;
    tact_d4 corner[3][3]; /* corners of the queued triangles, [corner][coordinate], from origin */
    tact_d4 share;        /* weight of each triangle in the gradient */
    tact_d4 normal[3];    /* normal of the triangle's plane, where it is known more accurately than
                             from the corners */
    tact_d4 height; /* distance of the known plane from origin: tact_surface_integrate_coplanar() */
    double surface_displacement_to_solid[3]; /* displacement of the surface that the integrals over
                       the solid allow for: of A, back from where it was shifted [m] */
    tact_d4 volume, area, first[3], second[6], gradient[3], torque[3];
};

/* Adds the integrals over tetrahedra from the origin to the sums: n is each triangle's area, v the
 * tetrahedron's volume. */
TACT_INLINE void tact_surface_add_tetrahedra(struct tact_cut_surface *s, tact_d4 n[3],
                                             const tact_d4 *v)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const tact_d4 *a = s->corner[0], *b = s->corner[1], *c = s->corner[2];
    tact_d4 sum[3], size;
    for (int k = 0; k < 3; k++) {
        sum[k] = a[k] + b[k] + c[k];
    }
    /* the largest coordinate of the area vector measures the area within a factor of sqrt(3) */
    size = TACT_D4_MAX(TACT_D4_ABS(n[0]), TACT_D4_ABS(n[1]));
    s->area += TACT_D4_MAX(size, TACT_D4_ABS(n[2]));
    /* volume that the triangle sweeps as its plane is displaced, to first order */
    const tact_d4 slab = n[0] * s->surface_displacement_to_solid[0] +
                         n[1] * s->surface_displacement_to_solid[1] +
                         n[2] * s->surface_displacement_to_solid[2];
    s->volume += *v + slab;
    tact_d4 quarter = 0.25 * *v + (1.0 / 3.0) * slab, twentieth = 0.05 * *v + (1.0 / 12.0) * slab;
    for (int k = 0; k < 6; k++) {
        int i = row[k], j = column[k];
        tact_d4 product = sum[i] * sum[j] + a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
        s->second[k] += twentieth * product;
    }
    for (int k = 0; k < 3; k++) {
        n[k] *= s->share;
    }
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        s->first[k] += quarter * sum[k];
        s->gradient[k] += n[k];
        s->torque[k] += (1.0 / 3.0) * (sum[y] * n[z] - sum[z] * n[y]);
    }
    s->queued_triangle_count = 0;
}

/* Twice the area vectors of the queued triangles. */
TACT_INLINE void tact_surface_area_vectors(const struct tact_cut_surface *s, tact_d4 n[3])
{
    tact_d4 u[3], w[3];
    for (int k = 0; k < 3; k++) {
        u[k] = s->corner[1][k] - s->corner[0][k];
        w[k] = s->corner[2][k] - s->corner[0][k];
    }
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        n[k] = u[y] * w[z] - u[z] * w[y];
    }
}

/* Integrates over the queued triangles of the surface. Inline in a header, as a call for each four
 * of them costs 5 % of the moments of two boxes. */
TACT_INLINE void tact_surface_integrate_batch(struct tact_cut_surface *s)
{
    const tact_d4 *a = s->corner[0];
    tact_d4 n[3];
    tact_surface_area_vectors(s, n);
    for (int k = 0; k < 3; k++) {
        n[k] = 0.5 * n[k];
    }
    tact_d4 v = (1.0 / 3.0) * (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]);
    tact_surface_add_tetrahedra(s, n, &v);
}

#define tact_surface_integrate_coplanar TACT_CPU_VARIANT(tact_surface_integrate_coplanar)
#define tact_surface_zero_unused_lanes TACT_CPU_VARIANT(tact_surface_zero_unused_lanes)
#define tact_surface_convert_to_moment_sums TACT_CPU_VARIANT(tact_surface_convert_to_moment_sums)

/* Integrates over the queued triangles of the surface and adds the lanes of the sums up. */
void tact_surface_convert_to_moment_sums(struct tact_cut_surface *s, double size,
                                         struct tact_moment_sums *sums);

/* Integrates over the queued triangles of the surface with known planes: normals computed from
 * needle-shaped triangles are inaccurate. */
void tact_surface_integrate_coplanar(struct tact_cut_surface *s);

/* Sets the unused lanes of queued triangles to zero. */
void tact_surface_zero_unused_lanes(struct tact_cut_surface *s);

#endif
