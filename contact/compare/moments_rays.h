/**
 * Moments by rays: layered depth in three directions (Faure et al. 2008; Bouchard et al. 2015,
 * section 4), for surfaces that are open or dirty and as an independent check of the exact methods.
 *
 * Parallel rays along x, y and z of the world cross both surfaces; where a ray is inside both, its
 * length there times the area of its cell is volume. Each direction gives the part of the gradient
 * along it. Errors fall with the resolution N about as N^-1.5 to N^-2 and are percents at N = 64:
 * this is a second opinion, not a measurement. Allocates: not real-time safe.
 */
#ifndef TACT_CONTACT_MOMENTS_RAYS_H
#define TACT_CONTACT_MOMENTS_RAYS_H

#include <stddef.h>
#include <stdint.h>
#include "../api.h"
#include "../moments/moments.h"

TACT_BEGIN_DECLS

/** A solid as rays see it. Spheres and half-spaces are met in closed form; any other kind by its
 *  triangles, which need not make a closed surface. */
struct tact_rays_body {
    enum tact_shape_kind kind; /**< kind of shape */
    double radius;             /**< of a sphere [m] */
    const double *vertices;    /**< x 3 [m], shape frame; read where kind is neither */
    const uint32_t *triangles; /**< x 3 indices */
    size_t triangle_count;     /**< number of triangles */
    struct tact_pose pose;     /**< shape frame to world */
};

/** What rays met on their way. A ray whose crossings of one surface do not alternate between in and
 *  out is mended where their number is even (every second one leaves) and dropped where it is odd:
 *  the surface is open there. */
struct tact_rays_report {
    size_t rays;      /**< that crossed both solids, over the three directions */
    size_t mended;    /**< of these: met flipped triangles */
    size_t dropped;   /**< of these: met a hole, and count for nothing */
    double volume[3]; /**< by rays along x, y and z [m^3]; their spread tells the error */
};

/** A shape at a pose, seen by its own triangles where it has them. */
TACT_API struct tact_rays_body tact_rays_body(const struct tact_shape *shape,
                                              const struct tact_pose *pose);

/**
 * Moments of a with b. resolution: rays along each side of the overlap's bounds, 1 to 2048.
 * The volume, centroid and second moment are means of the three directions, weighted by their
 * shares of rays that were not dropped; those that were are taken for as long as the others. Where
 * an overlap is smaller than a cell of the two solids' common bounds it may be missed. report may
 * be NULL. Same input, same bits.
 * @retval 1  they overlap, *out filled
 * @retval 0  no overlap found, *out zeroed
 * @retval -EINVAL   the resolution
 * @retval -ENOTSUP  two half-spaces
 * @retval -ENOMEM
 */
TACT_API int tact_moments_rays(const struct tact_rays_body *a, const struct tact_rays_body *b,
                               int resolution, struct tact_moments *out,
                               struct tact_rays_report *report);

TACT_END_DECLS

#endif
