/**
 * Smooth surfaces of shapes: position, normal and curvature, without triangulation.
 */
#ifndef TACT_CONTACT_SURFACE_H
#define TACT_CONTACT_SURFACE_H

#include "../api.h"
#include "shape.h"

TACT_BEGIN_DECLS

/** A point of a smooth surface, with normal and curvature, in the shape's frame. */
struct tact_surface_point {
    double at[3];     /**< position [m] */
    double normal[3]; /**< unit, outward */
    double bend[9]; /**< Weingarten map L [1/m]: the normal changes by L dp over a tangent step dp;
                         row-major, symmetric, L normal = 0, positive where convex */
};

/**
 * The point of the surface to which `near` [m] is projected, and the curvature there. The
 * projection leaves points of the surface unchanged, and moves with `near` to first order along the
 * surface: for a sphere and an ellipsoid along the radius, for a torus from the ring.
 * Real-time safe.
 * @retval 0
 * @retval -ENOTSUP  a kind whose surface is not smooth everywhere
 * @retval -EDOM     `near` has no unique projection, as the centre of a sphere
 */
TACT_API int tact_shape_surface(const struct tact_shape *shape, const double near[3],
                                struct tact_surface_point *out);

/**
 * The point of a strictly convex surface whose outward unit normal is `normal` [m]. Real-time safe.
 * @retval 0
 * @retval -ENOTSUP  a kind that is not strictly convex
 */
TACT_API int tact_shape_support(const struct tact_shape *shape, const double normal[3],
                                double out[3]);

/** Principal curvatures of a point [1/m], k[0] <= k[1], and the unit direction of each, 3 x 3
 * row-major with the normal as the last row. Real-time safe. */
TACT_API void tact_surface_curvatures(const struct tact_surface_point *point, double k[2],
                                      double directions[9]);

/** Eigenvalues l[0] <= l[1] of the symmetric [a b; b c]; unit vector of the first in axis.
 * Real-time safe. */
TACT_API void tact_eigen2(double a, double b, double c, double l[2], double axis[2]);

TACT_END_DECLS

#endif
