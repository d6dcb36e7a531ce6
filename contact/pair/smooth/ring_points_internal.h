/* Contacts of a torus with another shape that has a closed form and is no half-space. */
#ifndef TACT_CONTACT_RING_POINTS_INTERNAL_H
#define TACT_CONTACT_RING_POINTS_INTERNAL_H

#include "contact/pair/smooth/contacts_internal.h"
#include "contact/pair/model.h"

/* Finds the local minima of the distance with a gap of at most `near` [m], and further contacts
 * along the rings where a ring may touch far from those in this tick: the last ring_point_count of
 * the contacts. Sets *search_failed to 1 where a contact that is near was not found. Returns the
 * number of contacts, at most TACT_PIECES. */
int tact_smooth_find_torus_contacts(const struct tact_pair_query *q, const struct smooth_pair *pair,
                                    double near, struct smooth_contact contact[TACT_PIECES],
                                    int *ring_point_count, int *search_failed);

#endif
