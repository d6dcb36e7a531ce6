/* Overlaps of parametric surfaces that are deeper than the search for their contacts reaches. */
#ifndef TACT_CONTACT_OVERLAP_INTERNAL_H
#define TACT_CONTACT_OVERLAP_INTERNAL_H

#include "contact/pair/smooth/closest_internal.h"

/*
 * 1 where the solids of a pair overlap, of which at least one has charts without edges: the middle
 * of a cell of one surface is inside the other solid, or one solid contains the other. The contact
 * search starts where normals are opposite and the surfaces are as near as their cells are large;
 * solids that are deeper in each other need not have such a place. Overlaps of charts between the
 * middles of cells are not detected.
 */
int tact_smooth_do_charts_overlap(const struct smooth_pair *pair);

/* 1 where the point of A or that of B of a contact is inside the other solid. Both have charts.
 * Real-time safe. */
int tact_smooth_is_contact_inside_charts(const struct smooth_pair *pair,
                                         const struct smooth_contact *c);

#endif
