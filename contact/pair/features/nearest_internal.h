/* The signed distance of two cores with their radii, at poses in the world. */
#ifndef TACT_CONTACT_NEAREST_INTERNAL_H
#define TACT_CONTACT_NEAREST_INTERNAL_H

#include "contact/pair/features/difference_internal.h"

/* Numbers that a search keeps for the next: the vertices that its result is of. All 0: none. */
enum { TACT_NEAREST_STATE = 7 };

struct tact_separation {
    double distance;   /* [m]; negative: depth of the least translation that parts them */
    double bound;      /* the distance is at least this [m]: by the support along the normal */
    double normal[3];  /* unit, pushes A out of B, world */
    double point_a[3]; /* the points of A and B that are nearest or deepest, world axes from */
    double point_b[3]; /* `origin` [m] */
    double origin[3];  /* world [m] */
    int exact;         /* 0: room ran out before the distance was its bound */
    int supports;      /* searches made for a vertex furthest along a direction */
};

/* state: in, of the last search of these two; out, of this one. -EDOM for two half-spaces.
 * Real-time safe. */
int tact_nearest(const struct tact_core *a, const struct tact_pose *pose_a,
                 const struct tact_core *b, const struct tact_pose *pose_b,
                 double state[TACT_NEAREST_STATE], struct tact_separation *out);

/* The same of two bounded cores along a unit vector n (world): the points are those furthest along
 * it. Real-time safe. */
void tact_nearest_along(const struct tact_core *a, const struct tact_pose *pose_a,
                        const struct tact_core *b, const struct tact_pose *pose_b,
                        const double n[3], struct tact_separation *out);

#endif
