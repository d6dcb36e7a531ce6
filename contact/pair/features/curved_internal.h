/*
 * Cores with a curved surface, represented as polytopes with so many vertices that they differ from
 * it by rounding only. A vertex is the point of the surface in one of 2^31 directions about a
 * cylinder's axis, or 2^52 on an ellipsoid, and its index is that of the direction. Algorithms that
 * end where a support repeats therefore apply to them too, and a state of vertices is a starting
 * point.
 */
#ifndef TACT_CONTACT_CURVED_INTERNAL_H
#define TACT_CONTACT_CURVED_INTERNAL_H

#include "contact/pair/features/core_internal.h"

/* Makes the core of a cylinder or an ellipsoid of these lengths, as a shape has them. */
void tact_curved_make(struct tact_core *core, const double size[3]);

/* As tact_core_support(): the vertex furthest along d. */
int64_t tact_curved_support(const struct tact_core *core, const double d[3]);

/*
 * The point of any core furthest along a unit vector d, on a curved surface exactly; of a hull, of
 * those a vertex. bend: NULL, or out, how it moves as d turns, row-major, symmetric: the radii of
 * curvature [m], 0 along d, and of what is flat.
 */
void tact_curved_point(const struct tact_core *core, const double d[3], double out[3],
                       double *bend);

/* A vertex moved over a curved surface to where it is as far along the unit vector d as any: the
 * same end of the same line of a cylinder that lies across d, the same place on an end along it. */
void tact_curved_along(const struct tact_core *core, int64_t vertex, const double d[3],
                       double out[3]);

/*
 * Of a cylinder's end, whose outward normal is `end` along z: its rim, counter-clockwise from
 * outside, `count` corners from the one furthest along d (shape frame).
 */
void tact_curved_rim(const struct tact_core *core, double end, const double d[3], int count,
                     double (*corner)[3]);

/* The line on a cylinder's side that is furthest along d (shape frame). */
void tact_curved_line(const struct tact_core *core, const double d[3], double ends[2][3]);

#endif
