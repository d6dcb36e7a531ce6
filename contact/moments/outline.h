/**
 * The outline of a flat overlap: the convex polygon that it covers in the tangent plane.
 *
 * Where both solids are convex polyhedra, or one is a half-space, the corners of their overlap are
 * the ends of the edges of each clipped by the planes of the other, and the outline is their convex
 * hull: exact to 1e-9 of its size if it has at most TACT_PATCH_CORNERS corners. Otherwise that many
 * are kept, and the area is too small: for a regular outline of up to 128 corners, stretched or
 * not, by at most 0.15 %, for any by at most 0.2 % (the best 64 corners of an ellipse lose 0.16 %).
 * The outline of a table's feet is the hull of the feet, as Bouchard 2015, section 6.2, requires.
 */
#ifndef TACT_CONTACT_OUTLINE_H
#define TACT_CONTACT_OUTLINE_H

#include "../api.h"
#include "../limits.h"
#include "../shape/shape.h"
#include "../vec.h"

TACT_BEGIN_DECLS

/**
 * Outline of the overlap of shape a at pa and b at pb, projected along the first row of frame.
 * center, frame: of the patch (struct tact_patch), world. corners: output, counter-clockwise about
 * the normal, relative to center along the frame's second and third rows [m]. Returns the number of
 * corners, 3 or more; 0 where there is no exact outline (curved solids, two that are not convex,
 * too many planes) or it has no area. Real-time safe.
 */
TACT_API int tact_outline(const struct tact_shape *a, const struct tact_pose *pa,
                          const struct tact_shape *b, const struct tact_pose *pb,
                          const double center[3], const double frame[9],
                          double corners[TACT_PATCH_CORNERS][2]);

TACT_END_DECLS

#endif
