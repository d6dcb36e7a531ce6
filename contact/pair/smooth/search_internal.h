/* Search for the contacts of parametric surfaces by the trees of their chart cells. */
#ifndef TACT_CONTACT_SEARCH_INTERNAL_H
#define TACT_CONTACT_SEARCH_INTERNAL_H

#include "contact/limits.h"
#include "contact/pair/smooth/closest_internal.h"

/* 1 where the search supports two shapes: at least one has charts, the other has them or a surface
 * in closed form. */
int tact_smooth_can_search_charts(const struct tact_shape *a, const struct tact_shape *b);

/*
 * Searches the contacts with a gap of at most `near` [m], from any poses, by Newton's method from
 * the cells whose balls come so near and whose normals may be opposite. contact[0 ..
 * known_contact_count - 1] are contacts that are already known, from which no start is repeated.
 * Returns their number, known ones included, which may be greater than TACT_PIECES: those with the
 * smallest gaps are in contact. *search_failed: 1 where a pair of cells touches but Newton's method
 * found no contact from any, or too many: the surfaces conform, or touch at an edge.
 */
int tact_smooth_search_contacts(const struct smooth_pair *pair, double near,
                                int known_contact_count, struct smooth_contact contact[TACT_PIECES],
                                int *search_failed);

/*
 * 1 where the overlap at a contact of charts and a closed form is a local one, or no deeper than
 * `near` [m]. Newton's method may come to other points with opposite normals: those of a body in a
 * bowl and of the bowl's outside would make the whole wall an overlap. In an overlap, the point of
 * the charts is inside the closed form. Of two charts: 1.
 */
int tact_smooth_is_overlap_shallow(const struct smooth_pair *pair, double near,
                                   const struct smooth_contact *c);

#endif
