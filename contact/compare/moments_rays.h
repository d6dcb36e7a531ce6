/**
 * Moments by rays: layered depth in three directions (Faure et al. 2008; Bouchard et al. 2015,
 * section 4), for surfaces that are open or defective, and as an independent check of the exact
 * methods.
 *
 * Parallel rays along x, y and z of the world cross both surfaces; the length of a ray inside both,
 * times the area of its cell, is volume. Each direction gives the component of the gradient along
 * it. Errors decrease with the resolution N about as N^-1.5 to N^-2 and are percents at N = 64: the
 * result is a rough check. It allocates: not real-time safe.
 */
#ifndef TACT_CONTACT_MOMENTS_RAYS_H
#define TACT_CONTACT_MOMENTS_RAYS_H

#include <stddef.h>
#include <stdint.h>
#include "../api.h"
#include "../moments/moments.h"

TACT_BEGIN_DECLS

/** A solid for ray casting. Spheres and half-spaces are intersected in closed form, all other kinds
 * by their triangles, which need not form a closed surface. */
struct tact_rays_body {
    enum tact_shape_kind kind; /**< kind of shape */
    double radius;             /**< radius of a sphere [m] */
    const double *vertices;    /**< vertices of the triangles, x 3 [m], shape frame; not used for a
                                  sphere or a half-space */
    const uint32_t *triangles; /**< x 3 indices */
    size_t triangle_count;     /**< number of triangles */
    struct tact_pose pose;     /**< pose of the shape frame in the world */
};

/** Statistics of the rays that were cast. A ray whose crossings of one surface do not alternate
 * between in and out is repaired where their number is even (every second one leaves) and dropped
 * where it is odd: the surface is open there. */
struct tact_rays_report {
    size_t rays;      /**< number of rays that crossed both solids, over the three directions */
    size_t corrected; /**< number of rays that met reversed triangles, which were corrected */
    size_t dropped;   /**< number of rays that met a hole of a surface and are not counted */
    double volume[3]; /**< volume of the overlap by rays along x, y and z [m^3]; their spread
                         indicates the error */
};

/** Makes the solid for ray casting of a shape at a pose, from the shape's triangles where it has
 * them. */
TACT_API struct tact_rays_body tact_rays_body(const struct tact_shape *shape,
                                              const struct tact_pose *pose);

/**
 * Computes the moments of the overlap of a with b. resolution: rays along each side of the
 * overlap's bounds, 1 to 2048. Volume, centroid and second moment are means of the three
 * directions, weighted by their fractions of rays that were not dropped; dropped rays count as the
 * mean of the others. An overlap smaller than a cell of the two solids' common bounds may be
 * missed. ray_statistics may be NULL. The same input gives the same bits.
 * @retval 1  they overlap, *out is set
 * @retval 0  no overlap found, *out is zero
 * @retval -EINVAL   the resolution
 * @retval -ENOTSUP  two half-spaces
 * @retval -ENOMEM
 */
TACT_API int tact_moments_rays(const struct tact_rays_body *a, const struct tact_rays_body *b,
                               int resolution, struct tact_moments *out,
                               struct tact_rays_report *ray_statistics);

TACT_END_DECLS

#endif
