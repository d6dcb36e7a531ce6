/* Planar pieces of an overlap that is not planar. */
#ifndef TACT_CONTACT_PIECES_INTERNAL_H
#define TACT_CONTACT_PIECES_INTERNAL_H

#include "contact/pair/model.h"
#include "contact/limits.h"

/* Planes between the pieces of an overlap: those of piece i are the first of plane[i], one less
 * than there are pieces; n.r <= d inside, world. */
struct tact_planes_between_overlap_pieces {
    double plane[TACT_PIECES][TACT_PIECES - 1][4];
};

/* 1 where overlaps of two shapes may have to be split into pieces and can be: one is a convex
 * polyhedron with few faces and the other a mesh that is not convex. */
int tact_overlap_pieces_are_possible(const struct tact_shape *a, const struct tact_shape *b);

/* Finds the planar pieces of an overlap; returns their number, or 0 where the overlap is planar or
 * has too many pieces. */
int tact_overlap_pieces_find_planes(const struct tact_pair_query *query,
                                    struct tact_planes_between_overlap_pieces *out);

#endif
