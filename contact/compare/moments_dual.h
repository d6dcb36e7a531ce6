/**
 * Moments of two convex polyhedra through their duals (Yi and Drumwright 2018, section IV-G). The
 * point deepest inside both is found by linear programming; relative to it, the plane n.r <= d of
 * each face is dual to the point n / d, and the vertices of the overlap are the facets of the
 * convex hull of those points, computed by qhull. It is an independent check of the exact methods,
 * with which it shares no code.
 *
 * The error is about 1e-10 of the volume where the overlap is no thinner than 1e-4 of its width;
 * for thinner ones qhull loses digits. It allocates: not real-time safe.
 */
#ifndef TACT_CONTACT_MOMENTS_DUAL_H
#define TACT_CONTACT_MOMENTS_DUAL_H

#include <stddef.h>
#include "../api.h"
#include "../moments/moments.h"

TACT_BEGIN_DECLS

/**
 * Computes the moments of the overlap of a with b, each a shape with a convex mesh or a half-space.
 * The caller must ensure that meshes are convex (tact_mesh_convexity()). Of a face of A in a face
 * of B half counts in the gradient.
 * @retval 1  they overlap, *out is set
 * @retval 0  no overlap, *out is zero
 * @retval -ENOTSUP  a sphere, or two half-spaces
 * @retval -EDOM     qhull or the linear program failed: an overlap without thickness
 * @retval -ENOMEM
 */
TACT_API int tact_moments_dual(const struct tact_shape *a, const struct tact_pose *pa,
                               const struct tact_shape *b, const struct tact_pose *pb,
                               struct tact_moments *out);

/** Volume of a mesh over that of its convex hull [1]: 1 for a convex mesh, to rounding. -EINVAL,
 * -ENOMEM as tact_mesh_hull(). Not real-time safe. */
TACT_API int tact_mesh_convexity(const struct tact_mesh *mesh, double *ratio);

TACT_END_DECLS

#endif
