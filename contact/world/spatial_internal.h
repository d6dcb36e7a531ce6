/*
 * Spatial vectors and inertias, whose parts of three numbers fill vector registers of four; the
 * fourth numbers have no meaning and are in no sum with others. Twists and wrenches have their
 * linear part first. Sums and products are in the order of those of vec.h, and have the same bits.
 */
#ifndef TACT_CONTACT_SPATIAL_INTERNAL_H
#define TACT_CONTACT_SPATIAL_INTERNAL_H

#include "contact/simd_internal.h"

/* A twist, an acceleration, a momentum or a wrench. */
struct spatial {
    double linear[4], angular[4];
};

/* An inertia about the origin of a twist: the mass times the position of the centre of mass (3) and
 * the mass; and the columns of the symmetric matrix of the moments of inertia. */
struct spatial_inertia {
    double moment[4], column[3][4];
};

#define TACT_INDEX_OF_SPATIAL_MASS 3 /* index of the mass in `moment` */

/* The components y, z, x and z, x, y of a vector. */
#define TACT_YZX(a) __builtin_shufflevector(a, a, 1, 2, 0, 3)
#define TACT_ZXY(a) __builtin_shufflevector(a, a, 2, 0, 1, 3)
#define TACT_CROSS(a, b) (TACT_YZX(a) * TACT_ZXY(b) - TACT_ZXY(a) * TACT_YZX(b))

#endif
