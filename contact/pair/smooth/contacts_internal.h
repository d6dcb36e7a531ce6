/* All places where two smooth surfaces are closest to each other. */
#ifndef TACT_CONTACT_CONTACTS_INTERNAL_H
#define TACT_CONTACT_CONTACTS_INTERNAL_H

#include "contact/limits.h"
#include "contact/pair/smooth/closest_internal.h"

/* Most contacts of two shapes; 0 where the search does not take them. */
int tact_smooth_most(const struct tact_shape *a, const struct tact_shape *b);

/* The local minima of their distance, from any poses, in an order that follows from the poses; of a
 * torus those that are near. Of more than TACT_PIECES, those with the least gaps. Their number,
 * which may be greater; -EDOM where a pair of one contact has none. */
int tact_smooth_contacts(const struct smooth_pair *pair,
                         struct smooth_contact contact[TACT_PIECES]);

/* Whether a torus lies so flat on a half-space that it touches along its ring: then the plane's
 * place in the pair, else -1. */
int tact_smooth_flat(const struct smooth_pair *pair);

#endif
