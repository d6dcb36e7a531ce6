/* Finds all local minima of the distance of two smooth surfaces. */
#ifndef TACT_CONTACT_CONTACTS_INTERNAL_H
#define TACT_CONTACT_CONTACTS_INTERNAL_H

#include "contact/limits.h"
#include "contact/pair/smooth/closest_internal.h"

/* Largest number of contacts that two smooth shapes can have; 0 where the search does not support
 * them. */
int tact_smooth_max_contacts(const struct tact_shape *a, const struct tact_shape *b);

/* Finds the local minima of the distance of two shapes, from any poses, in an order that depends on
 * the poses only; for a torus those with a gap of at most `near` [m] or a quarter of its radius. Of
 * more than TACT_PIECES, those with the smallest gaps. *search_failed: 1 where a contact with a gap
 * of at most `near` was not found. Returns their number, which may be greater; -EDOM where a pair
 * with one contact has none. */
int tact_smooth_find_contacts(const struct smooth_pair *pair, double near,
                              struct smooth_contact contact[TACT_PIECES], int *search_failed);

/* Adds a contact to a list, unless one of the listed contacts is within same_contact_distance [m];
 * beyond TACT_PIECES the farthest is dropped. Returns the number listed. */
int tact_smooth_add_contact(struct smooth_contact *all, int contact_count,
                            const struct smooth_contact *c, double same_contact_distance);

/* Index in the pair of the half-space on which a torus lies so flat that it touches along its whole
 * ring, else -1. */
int tact_smooth_index_of_flat_halfspace(const struct smooth_pair *pair);

#endif
