/**
 * Moments of two convex polyhedra through their duals (Yi and Drumwright 2018, section IV-G): the
 * point deepest inside both is found by linear programming; about it, every face's plane n.r <= d
 * is the point n / d, and the vertices of the overlap are the facets of the convex hull of those
 * points, found by qhull. An independent check of the exact methods: it shares no code with them.
 *
 * Good to about 1e-10 of the volume where the overlap is no thinner than 1e-4 of its width; thinner
 * ones lose digits in qhull. Allocates: not real-time safe.
 */
#ifndef TACT_CONTACT_MOMENTS_DUAL_H
#define TACT_CONTACT_MOMENTS_DUAL_H

#include <stddef.h>
#include "../api.h"
#include "../moments/moments.h"

TACT_BEGIN_DECLS

/**
 * Moments of a with b, each a shape with a convex mesh or a half-space; that a mesh is convex is
 * the caller's word (tact_mesh_convexity()). Of a face of A in a face of B half counts for the
 * gradient.
 * @retval 1  they overlap, *out filled
 * @retval 0  no overlap, *out zeroed
 * @retval -ENOTSUP  a sphere, or two half-spaces
 * @retval -EDOM     qhull or the linear program found no answer: an overlap of no thickness
 * @retval -ENOMEM
 */
TACT_API int tact_moments_dual(const struct tact_shape *a, const struct tact_pose *pa,
                               const struct tact_shape *b, const struct tact_pose *pb,
                               struct tact_moments *out);

/** Volume of a mesh over that of its convex hull: 1 for a convex mesh, to rounding.
 *  -EINVAL, -ENOMEM as tact_mesh_hull(). Not real-time safe. */
TACT_API int tact_mesh_convexity(const struct tact_mesh *mesh, double *ratio);

TACT_END_DECLS

#endif
