/**
 * Moments of the overlap of two solids A and B: volume, centroid, second moment, volume gradient.
 *
 * They are exact in double precision: closed forms for spheres and capsules; for closed meshes
 * signed prism pairs, or the surface of the overlap cut along its rim. Every quantity is in the
 * world frame. Units: m, m^2, m^3, m^5.
 *
 * All functions are real-time safe, except tact_moments_scratch_create() and
 * tact_moments_scratch_destroy().
 */
#ifndef TACT_CONTACT_MOMENTS_H
#define TACT_CONTACT_MOMENTS_H

#include <stddef.h>
#include <stdint.h>
#include "../api.h"
#include "../counts.h"
#include "../shape/shape.h"
#include "../vec.h"

TACT_BEGIN_DECLS

/** Moments of the overlap of A and B. All zero where they do not overlap. */
struct tact_moments {
    double volume;      /**< V [m^3], >= 0 */
    double centroid[3]; /**< c [m], world */
    double second[6];   /**< second moment of the overlap, C = integral of (r-c)(r-c)^T dV [m^5]: xx
                           yy zz xy xz yz, world axes */
    double gradient[6]; /**< gradient of the volume by the pose of A: [0..2] integral of n_A dS over
                           the part of A's surface inside B, n_A outward [m^2]; [3..5] its torque
                           about c [m^3]. The normal -g/|g| pushes A out of B. */
};

/** Working memory of one thread, with fixed capacity: nothing in the tick allocates. */
struct tact_moments_scratch;

/** One pair of triangles whose prisms may overlap: indices into the two meshes' triangles. */
struct tact_prism_pair {
    uint32_t a; /**< index of the triangle of the first mesh */
    uint32_t b; /**< index of the triangle of the second mesh */
};

/** Allocates a scratch with capacity for `pairs` candidate triangle pairs. NULL without memory. */
TACT_API struct tact_moments_scratch *tact_moments_scratch_create(size_t pairs);
/** Frees a scratch; NULL is allowed. Not real-time safe. */
TACT_API void tact_moments_scratch_destroy(struct tact_moments_scratch *scratch);

/** Number of uses of each method with this scratch, by enum tact_moments_count (counts.h): one for
 * each pair that is near enough for a method to be tried. Real-time safe. */
TACT_API const uint64_t *tact_moments_counts(const struct tact_moments_scratch *scratch);

/**
 * Moments of shape a at pose pa with shape b at pose pb.
 *
 * direction: the last contact normal (unit vector, world) where known, else NULL. The moments do
 * not depend on it; a good direction is faster and, for a small overlap of large meshes, more
 * accurate (in a bad projection large terms cancel). Where a face of A lies in a face of B, to
 * rounding, the volume has different one-sided derivatives; the gradient is their mean. scratch:
 * may be NULL where the method is not TACT_MOMENTS_MESH_MESH.
 *
 * A ball whose centre is within 1e-8 of its radius of an edge of the mesh (including the diagonals
 * of faces) is measured displaced by 2e-8 of its radius. Elsewhere the rounding error grows with
 * radius / depth: at a depth of 1e-3 radii V has a relative error of about 1e-11 for a mesh ten
 * times the ball. The same holds for a capsule with an end of its axis within 1e-8 of its radius of
 * a face. Of two capsules or ellipsoids the second is measured as its triangulation, and so is an
 * ellipsoid with a sphere or a capsule.
 *
 * Real-time safe: no allocation, no system call; the time grows with the number of triangles near
 * the overlap. The same input gives the same bits.
 * @retval 1  they overlap, *out is set
 * @retval 0  no overlap, *out is zero
 * @retval -ENOSPC   the scratch is too small for the triangle pairs near the overlap, or NULL
 * @retval -ENOTSUP  the pair has no method (two half-spaces)
 */
TACT_API int tact_moments_pair(const struct tact_shape *a, const struct tact_pose *pa,
                               const struct tact_shape *b, const struct tact_pose *pb,
                               const double direction[3], struct tact_moments_scratch *scratch,
                               struct tact_moments *out);

/** Method by which tact_moments_pair() measures a pair of kinds; the OpenCL source uses the same.
 */
enum tact_moments_method {
    TACT_MOMENTS_NONE,              /**< no method */
    TACT_MOMENTS_SPHERE_SPHERE,     /**< lens, closed form */
    TACT_MOMENTS_SPHERE_HALFSPACE,  /**< method for a sphere or ellipsoid cut by a plane: a cap,
                                       closed form */
    TACT_MOMENTS_SPHERE_MESH,       /**< sphere or ellipsoid with a closed mesh, closed form per
                                       triangle */
    TACT_MOMENTS_CAPSULE_MESH,      /**< method for a capsule with a closed mesh, closed form per
                                       triangle */
    TACT_MOMENTS_CAPSULE_HALFSPACE, /**< method for a capsule below a plane, closed form */
    TACT_MOMENTS_MESH_HALFSPACE, /**< method for a mesh below a plane: prisms down to the plane */
    TACT_MOMENTS_MESH_MESH,      /**< method for two meshes: signed prism pairs, or the rim of the
                                    overlap */
};

/** Method by which a pair of shape kinds is measured; *is_swapped is set to 1 where the method
 * requires b as its first shape. */
TACT_API enum tact_moments_method tact_moments_method(const struct tact_shape *a,
                                                      const struct tact_shape *b, int *is_swapped);

/** The frame in which prisms are measured: z is the direction of projection. */
struct tact_prism_frame {
    double axes[9];   /**< axes of the frame as rows x, y, z, world; right-handed [1] */
    double origin[3]; /**< origin of the frame, near the overlap so that sums do not lose digits
                         [m], world */
    double normal[3]; /**< unit normal from b to a, world, within 90 degrees of z: solids that are
                         separated along it do not overlap [1] */
};

/**
 * Chooses the frame for a pair of meshes: z is `direction` rotated by a fixed 0.05 rad, so that
 * walls along the normal are not projected to lines; where direction is NULL, the axis of the two
 * bounding boxes along which they overlap least, from b to a. Real-time safe.
 * @retval 1  *frame is set
 * @retval 0  the bounding boxes do not overlap, nor do the meshes
 */
TACT_API int tact_prism_frame(const struct tact_mesh *a, const struct tact_pose *pa,
                              const struct tact_mesh *b, const struct tact_pose *pb,
                              const double direction[3], struct tact_prism_frame *frame);

/** Distance [m] from a plane within which a triangle counts as lying in it: rounding of poses and
 * coordinates. Where a face of A lies in a face of B, the one-sided derivatives of V differ and
 * half of the face counts, which is their mean. b is NULL for the half-space of pb. Real-time safe.
 */
TACT_API double tact_prism_slack(const struct tact_mesh *a, const struct tact_pose *pa,
                                 const struct tact_mesh *b, const struct tact_pose *pb);

/**
 * Candidate triangle pairs of two meshes whose prisms in `frame` may overlap, found by a
 * simultaneous descent of the two trees; the integration (here or on a device) then sums over them.
 * A pair is listed where the projections of the two triangles overlap and the highest corner of b's
 * is above the lowest of a's. *pairs points into the scratch until its next use; returns their
 * number or -ENOSPC. Real-time safe.
 */
TACT_API long tact_prism_pairs(const struct tact_mesh *a, const struct tact_pose *pa,
                               const struct tact_mesh *b, const struct tact_pose *pb,
                               const struct tact_prism_frame *frame,
                               struct tact_moments_scratch *scratch,
                               const struct tact_prism_pair **pairs);

/**
 * Sums the listed pairs. Let A's triangles s project upward and B's triangles t downward along z: V
 * = sum of sigma_s tau_t integral of (z_t - z_s)^+ over the overlap of their projections, and
 * likewise for the other moments; the gradient is the integral of n_A dS over the part of each s
 * below each t, times tau_t. Real-time safe.
 * @retval 1, 0  as tact_moments_pair()
 */
TACT_API int tact_prism_sum(const struct tact_mesh *a, const struct tact_pose *pa,
                            const struct tact_mesh *b, const struct tact_pose *pb,
                            const struct tact_prism_frame *frame,
                            const struct tact_prism_pair *pairs, size_t count,
                            struct tact_moments *out);

/**
 * Advances moments of an earlier time by dt [s].
 *
 * twist_a, twist_b: velocities of the material points of A and B at the centroid [m/s] and angular
 * velocities [rad/s], linear part first, world. exponent: p in V ~ depth^p (1 flat, 2 curved). V' =
 * V (1 + g.dx / (p V))^p with dx the motion of A relative to B, zero where the bracket is not
 * positive. The magnitude of the gradient scales with V^((p-1)/p), the second moment with
 * V^((2p-1)/p). The centroid moves with the mean of the two bodies, and axes rotate with their mean
 * angular velocity. Real-time safe. out may equal in.
 */
TACT_API void tact_moments_advance(const struct tact_moments *in, const double twist_a[6],
                                   const double twist_b[6], double dt, double exponent,
                                   struct tact_moments *out);

/**
 * Exponent p of V ~ depth^p, estimated from the shape of an overlap: 1 for a layer, about 2 for a
 * cap or lens, at most 3 for a tip. It depends on the spread s of the overlap along its normal: s
 * |g| / V is 1 / sqrt(12) for a layer, sqrt(2) / 3 for a cap on a plane, 1 / sqrt(6) for a lens
 * between equals, and sqrt(27 / 80) for a cone; p is linear in between. 1 without an overlap.
 * Real-time safe.
 */
TACT_API double tact_moments_exponent(const struct tact_moments *moments);

TACT_END_DECLS

#endif
