/** Integrals over the overlap from its surface, as tetrahedra about a point in it; not installed.
 *
 * Where the overlap is small against the bodies' extents along the direction of projection, columns
 * are long and cancel. Tetrahedra about the overlap are as small as it is: of sheets down to 1e-5
 * of their size, columns alone miss the bounds of test_moments_oracle 16 times, these keep to 0.07
 * of them. */
#ifndef TACT_CONTACT_MOMENTS_TETS_INTERNAL_H
#define TACT_CONTACT_MOMENTS_TETS_INTERNAL_H

#include "moments_internal.h"
#include "../simd_internal.h"

/** A body's bounds in its own frame, a little widened, seen in the frame of prisms:
 *  lower <= row . r <= upper. */
struct tact_tets_box {
    double row[3][3], lower[3], upper[3];
};

/** Sums of volume, first and second about `origin`. What of A lies outside B's box, or of B outside
 *  A's, bounds no overlap: it would only cancel. */
struct tact_tets {
    double origin[3];
    struct tact_tets_box box[2]; /* of A and of B */
    struct tact_moment_sums sums;
};

/** Adds `weight` times the tetrahedron over triangle p q r, coordinates about the origin. */
TACT_INLINE void tact_tets_add(struct tact_tets *tets, const double *p, const double *q,
                               const double *r, double weight)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    struct tact_moment_sums *sums = &tets->sums;
    double u[3], w[3], normal[3], t[3];
    tact_v3_sub(u, q, p);
    tact_v3_sub(w, r, p);
    tact_v3_cross(normal, u, w);
    double v = weight * (1.0 / 6.0) * tact_v3_dot(normal, p);
    sums->volume += v;
    sums->magnitude += fabs(v);
    for (int k = 0; k < 3; k++) {
        t[k] = p[k] + q[k] + r[k];
        sums->first[k] += 0.25 * v * t[k];
    }
    for (int k = 0; k < 6; k++) {
        int i = row[k], j = column[k];
        sums->second[k] += 0.05 * v * (p[i] * p[j] + q[i] * q[j] + r[i] * r[j] + t[i] * t[j]);
    }
}

/** Adds the tetrahedra over a convex polygon of n corners. */
TACT_INLINE void tact_tets_over(struct tact_tets *tets, const tact_d4 *polygon, int n,
                                double weight)
{
    double first[3], last[3], next[3];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            next[k] = polygon[i][k] - tets->origin[k];
        }
        if (i == 0) {
            tact_v3_copy(first, next);
        } else if (i > 1) {
            tact_tets_add(tets, first, last, next, weight);
        }
        tact_v3_copy(last, next);
    }
}

/** Takes volume, first and second in place of those of `sums`; all are then about tets->origin. */
TACT_INLINE void tact_tets_replace(const struct tact_tets *tets, struct tact_moment_sums *sums)
{
    double torque[3];
    tact_v3_cross(torque, tets->origin, sums->gradient);
    tact_v3_sub(torque, sums->torque, torque);
    double gradient[3] = {sums->gradient[0], sums->gradient[1], sums->gradient[2]};
    *sums = tets->sums;
    tact_v3_copy(sums->gradient, gradient);
    tact_v3_copy(sums->torque, torque);
}

#endif
