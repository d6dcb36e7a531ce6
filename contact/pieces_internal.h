/* What the world needs of pieces.c. */
#ifndef TACT_CONTACT_PIECES_INTERNAL_H
#define TACT_CONTACT_PIECES_INTERNAL_H

#include "contact/moments.h"
#include "contact/world.h"

/* The planes between the pieces of an overlap: those about piece i are the first of plane[i], one
 * less than there are pieces; n.r <= d in it, world. */
struct tact_pieces {
    double plane[TACT_PIECES][TACT_PIECES - 1][4];
};

/* 1 where overlaps of the two may have to be split and can be: one is a convex polyhedron with few
 * faces and the other a mesh that is not. */
int tact_pieces_possible(const struct tact_shape *a, const struct tact_shape *b);

/* Finds the planar pieces of an overlap; their number, or 0 where it is one or they are too many.
 */
int tact_pieces_find(const struct tact_shape *a, const struct tact_pose *pa,
                     const struct tact_shape *b, const struct tact_pose *pb,
                     struct tact_pieces *out);

/* Outline, as tact_outline(), of the part of the overlap within planes of the world. */
int tact_outline_within(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        const double (*plane)[4], int planes, const double center[3],
                        const double frame[9], double corners[TACT_OUTLINE_CORNERS][2]);

struct tact_world;

/* Makes the contacts of the pieces of a pair, with their patches and warm starts. Their number; 0:
 * the pair is one contact. */
int tact_pieces_make(struct tact_world *world, int pair);

/* Sums the pieces up in their pairs, once solved. */
void tact_pieces_collect(struct tact_world *world);

/* The contact of a pair that is split no longer, or touches no longer. */
void tact_pieces_clear(struct tact_world *world, int pair);

#endif
