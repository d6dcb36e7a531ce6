/* The cone of normal forces and rolling torques that a patch transmits, in scaled unknowns. */
#ifndef TACT_CONTACT_NORMAL_INTERNAL_H
#define TACT_CONTACT_NORMAL_INTERNAL_H

#include "contact/local/local.h"

/* Set of admissible centres of pressure: a polygon about the origin, or the unit disc. */
struct admissible_pressure_centres {
    int corners; /* 0: the disc */
    double corner[TACT_PATCH_CORNERS][2];
};

/* 1 where a velocity v = (v_n, conjugates of y) opens the contact everywhere in the patch: v is in
 * the dual cone. */
int tact_normal_velocity_opens_patch(const struct admissible_pressure_centres *patch,
                                     const double *v);

/* Minimises x'Hx/2 + g'x over the cone of normal forces and rolling torques; H 3 x 3. x: on input a
 * starting point, the solution of a similar problem or 0; on output the solution. Returns 1 where
 * the centre of pressure is at the edge. */
int tact_normal_minimize_over_cone(const struct admissible_pressure_centres *patch, const double *h,
                                   const double *g, double *x);

/* Distance of a point d from the origin, over that of the polygon's edge in its direction: 1 at the
 * edge. */
double tact_polygon_edge_distance_ratio(const double (*corner)[2], int corners, const double *d);

#endif
