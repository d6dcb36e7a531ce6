/*
 * Cores with a curved surface, represented as polytopes with so many vertices that the difference
 * is rounding. A vertex is the point of the surface that is farthest in one of 2^31 directions
 * about the axis of a cylinder, or 2^52 for an ellipsoid; its index is that of the direction.
 * Algorithms that end where a support repeats therefore apply to them too, and stored vertices can
 * start a search.
 */
#ifndef TACT_CONTACT_CURVED_INTERNAL_H
#define TACT_CONTACT_CURVED_INTERNAL_H

#include "contact/pair/features/core_internal.h"

/* Sets the core of a cylinder or an ellipsoid. size: lengths as in struct tact_shape [m]. */
void tact_curved_core_init(struct tact_convex_core *core, const double size[3]);

/* The vertex of a curved core that is farthest along d, as tact_convex_core_support_vertex(). */
int64_t tact_curved_core_support_vertex(const struct tact_convex_core *core, const double d[3]);

/*
 * The point of a core that is farthest along a unit vector d: exact on a curved surface; a vertex
 * of a hull. bend: NULL, or on output the derivative of the point with respect to d, row-major,
 * symmetric: the radii of curvature [m]; 0 along d and where the surface is flat.
 */
void tact_curved_core_farthest_point(const struct tact_convex_core *core, const double d[3],
                                     double out[3], double *bend);

/* Moves a vertex on a curved surface to the point farthest along the unit vector d. Where many
 * points of a cylinder are equally far it stays as near as possible: at the same end of the line if
 * the axis is perpendicular to d, at the same position on the end if the axis is parallel to d. */
void tact_curved_core_move_to_farthest(const struct tact_convex_core *core, int64_t vertex,
                                       const double d[3], double out[3]);

/*
 * Sets the end circle of a cylinder as `count` corners, counter-clockwise seen from outside,
 * beginning with the one farthest along d (shape frame). end: 1 or -1, the outward normal along z.
 */
void tact_curved_core_end_circle_corners(const struct tact_convex_core *core, double end,
                                         const double d[3], int count, double (*corner)[3]);

/* Sets the line on the side of a cylinder that is farthest along d (shape frame). */
void tact_curved_core_farthest_segment(const struct tact_convex_core *core, const double d[3],
                                       double farthest_segment_ends[2][3]);

#endif
