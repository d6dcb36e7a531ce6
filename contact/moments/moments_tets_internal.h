/* Integrals over the overlap from its surface, as tetrahedra about a point in it; not installed.
 *
 * Where the overlap is small compared with the extent of the bodies along the direction of
 * projection, columns are long and cancel. Tetrahedra about the overlap are as small as it is: for
 * sheets down to 1e-5 of their size, columns alone exceed the bounds of test_moments_oracle 16
 * times; tetrahedra stay within 0.07 of them. */
#ifndef TACT_CONTACT_MOMENTS_TETS_INTERNAL_H
#define TACT_CONTACT_MOMENTS_TETS_INTERNAL_H

#include "moments_internal.h"
#include "../simd_internal.h"

/* A body's bounds in its own frame, slightly enlarged, expressed in the frame of prisms: lower <=
 * row . r <= upper. */
struct tact_bounds_in_prism_frame {
    double row[3][3], lower[3], upper[3];
};

/* Sums of volume, first and second moment about `origin`. The part of A outside B's box, or of B
 * outside A's, does not bound the overlap and would only cancel. */
struct tact_tetrahedron_sums {
    double origin[3];
    struct tact_bounds_in_prism_frame box[2]; /* bounding boxes of A and of B */
    struct tact_moment_sums sums;
};

#define tact_tetrahedron_sums_add_polygon TACT_CPU_VARIANT(tact_tetrahedron_sums_add_polygon)
#define tact_tetrahedron_sums_to_moment_sums TACT_CPU_VARIANT(tact_tetrahedron_sums_to_moment_sums)

/* Adds the tetrahedra from the origin over a convex polygon of n corners. */
void tact_tetrahedron_sums_add_polygon(struct tact_tetrahedron_sums *tets, const tact_d4 *polygon,
                                       int n, double weight);

/* Replaces volume, first and second moment of `sums`; all sums are then about tets->origin. */
void tact_tetrahedron_sums_to_moment_sums(const struct tact_tetrahedron_sums *tets,
                                          struct tact_moment_sums *sums);

#endif
