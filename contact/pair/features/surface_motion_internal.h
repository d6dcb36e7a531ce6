/* Motion of the contact point of two convex solids over their surfaces. */
#ifndef TACT_CONTACT_SURFACE_MOTION_INTERNAL_H
#define TACT_CONTACT_SURFACE_MOTION_INTERNAL_H

#include "contact/pair/features/nearest_internal.h"

/* A point where two solids are nearest to each other. World axes. */
struct tact_surface_contact {
    const struct tact_convex_core *core[2]; /* A, B */
    const struct tact_separation *nearest_points_and_normal_of_cores;
    double arm[2][3]; /* vectors from the origins of the shapes' frames to the nearest points [m] */
    double gap;       /* gap between the nearest points, along the normal [m] */
};

/* World axes. */
struct tact_surface_motion {
    double point[2][3]; /* velocities of the contact points of A and B [m/s] */
    double normal[3];   /* rate of change of the contact normal [1/s] */
};

/*
 * Computes how the contact point moves, from the radii of curvature S = dx/dn of both surfaces: 0
 * at a vertex, infinite across a face. A point over which the outward normal m turns moves over its
 * surface by S (dm/dt - w x m). The two points remain opposite each other, at the gap g, so that
 * with the slip v of A relative to B
 *
 * (S_A + S_B + g) dn/dt = v + S_A (w_A x n) + S_B (w_B x n).
 *
 * These are Montana's equations (1988) with the inverse of the curvatures, which edges, rims and
 * vertices have too. twist: of the shapes' frames at their origins. 0, or -EDOM where both surfaces
 * are flat or both sharp, or the normal turns over one by more than max_normal_turn_rate [rad/s].
 * Real-time safe.
 */
int tact_surface_motion_find(const struct tact_surface_contact *contact, const double twist[2][6],
                             double max_normal_turn_rate, struct tact_surface_motion *out);

#endif
