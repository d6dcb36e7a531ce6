/* Signed distance of two cores with their radii, at poses in the world. */
#ifndef TACT_CONTACT_NEAREST_INTERNAL_H
#define TACT_CONTACT_NEAREST_INTERNAL_H

#include "contact/pair/features/difference_internal.h"

/* Numbers that a search stores for the next search of the same pair: the vertices of its result.
 * All 0: none. */
enum { TACT_NEAREST_STATE = 7 };

struct tact_separation {
    double distance;   /* distance of the two shapes [m]; negative: length of the least translation
                          that separates them */
    double bound;      /* lower bound of the distance, from the extents along the normal [m] */
    double normal[3];  /* unit normal that pushes A out of B, world */
    double point_a[3]; /* point of A that is nearest to B or deepest in it, world axes, relative to
                          origin [m] */
    double point_b[3]; /* point of B that is nearest to A or deepest in it, as point_a */
    double origin[3];  /* world [m] */
    double rotation[2][9]; /* rotation matrices from the frames of A and B to the world, row-major;
                          not set for a half-space */
    int64_t vertex[2];     /* a vertex of each core on its nearest feature; -1: unknown */
    int are_points_opposed_along_normal; /* 1: the points differ by the distance along the normal
                                only; 0: the normal was given */
    int is_exact; /* 0: the capacity of the search was exceeded before the distance equalled its
                   * bound
                   */
    int supports; /* number of support searches */
};

/* Computes the signed distance of two shapes. state: on input that of the last search of these two
 * shapes; on output that of this one. -EDOM for two half-spaces. Real-time safe. */
int tact_nearest_points(const struct tact_convex_core *a, const struct tact_pose *pose_a,
                        const struct tact_convex_core *b, const struct tact_pose *pose_b,
                        double state[TACT_NEAREST_STATE], struct tact_separation *out);

/* Sets the nearest points of two bounded cores along a given normal n (unit, world): the points
 * farthest along it. Real-time safe. */
void tact_nearest_points_along_normal(const struct tact_convex_core *a,
                                      const struct tact_pose *pose_a,
                                      const struct tact_convex_core *b,
                                      const struct tact_pose *pose_b, const double n[3],
                                      struct tact_separation *out);

#endif
