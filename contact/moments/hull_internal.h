/* Convex hull of points in a plane; not installed. */
#ifndef TACT_CONTACT_HULL_INTERNAL_H
#define TACT_CONTACT_HULL_INTERNAL_H

#include "contact/moments/outline.h"

/* Capacity of a hull for points; for its corners half of that. */
enum { TACT_HULL_POINTS = 512, TACT_HULL_CORNERS = TACT_HULL_POINTS / 2 };

/* Points whose convex hull is to be computed. Zero initially. */
struct tact_planar_hull {
    int count;
    double x[TACT_HULL_POINTS], y[TACT_HULL_POINTS]; /* [m] */
};

/* Replaces the points by the corners of their convex hull, at most TACT_HULL_CORNERS. */
void tact_planar_hull_reduce_to_corners(struct tact_planar_hull *hull);

/* Adds a point. */
static inline void tact_planar_hull_add_point(struct tact_planar_hull *hull, double x, double y)
{
    if (hull->count == TACT_HULL_POINTS) {
        tact_planar_hull_reduce_to_corners(hull);
    }
    hull->x[hull->count] = x;
    hull->y[hull->count++] = y;
}

/* Corners of the hull, counter-clockwise, as tact_outline() returns them; their number, or 0 where
 * the hull has no area. The points are overwritten. */
int tact_planar_hull_corners(struct tact_planar_hull *hull, double corners[TACT_PATCH_CORNERS][2]);

#endif
