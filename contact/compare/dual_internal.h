/* Shared by moments_dual.c and dual_point.c, which compute moments by dual polyhedra; not
 * installed. */
#ifndef TACT_CONTACT_DUAL_INTERNAL_H
#define TACT_CONTACT_DUAL_INTERNAL_H

#include <stddef.h>

/* Finds the point inside the planes n.r <= d (unit normals outward) whose smallest distance from
 * them is largest, within `size` of the origin. Returns 1 with *depth that distance, negative where
 * the planes enclose nothing; 0 where it was not found. */
int tact_dual_find_chebyshev_centre(const double (*plane)[4], size_t count, double size,
                                    double point[3], double *depth);

#endif
