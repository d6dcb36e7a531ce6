/** Shared by the two files of the dual method; not installed. */
#ifndef TACT_CONTACT_DUAL_INTERNAL_H
#define TACT_CONTACT_DUAL_INTERNAL_H

#include <stddef.h>

/** Finds the point with the largest smallest distance from the planes n.r <= d (unit normals
 * outward), within `size` of the origin. Returns 1 with *depth that distance, negative where the
 * planes enclose nothing; 0 where it was not found. */
int tact_dual_deepest_inner_point(const double (*plane)[4], size_t count, double size,
                                  double point[3], double *depth);

#endif
