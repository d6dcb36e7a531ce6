/** The pairs of triangles near a small overlap of two meshes, found and handed out one by one; not
 *  installed.
 *
 *  Both trees are cut down, eight boxes at a time, to the leaves that reach what is left of the
 *  other, and these are matched all with all. Boxes are held in single precision and are a little
 *  too large for it: a leaf is ruled out only where every pair of its triangles would be. */
#ifndef TACT_CONTACT_MOMENTS_NEAR_INTERNAL_H
#define TACT_CONTACT_MOMENTS_NEAR_INTERNAL_H

#include <errno.h>

#include "moments_face_internal.h"
#include "moments_leaf_internal.h"

/** Leaves of B that are placed at a time, a multiple of 8; no search has room for more nodes of one
 *  tree than the second number. */
enum { TACT_NEAR = 512, TACT_NEAR_MOST = 32768 };

/** Nodes of one tree: those that are no leaves, and the leaves with what their boxes span along x,
 *  y, z and the normal of the frame, in the unit of the pair. */
struct tact_near_side {
    struct tact_placed placed;
    float lower[4], upper[4]; /* what all of them span */
    uint32_t inner, leaves;
    uint32_t node[TACT_NEAR_MOST], leaf[TACT_NEAR_MOST];
    tact_f8 leaf_lower[4][TACT_NEAR_MOST / 8 + 2], leaf_upper[4][TACT_NEAR_MOST / 8 + 2];
};

/** A pair of triangles: where their faces are. */
struct tact_near_pair {
    uint16_t a, b;
};

/** What four triangles span [m]; nothing where there is none. */
struct tact_near_bounds {
    tact_d4 lower[3], upper[3];
};

struct tact_near {
    float per_unit; /* 1 over the unit of the pair [1/m] */
    struct tact_near_side a, b;
    uint32_t from[TACT_NEAR_MOST];             /* nodes that are being replaced */
    uint32_t first;                            /* leaf of B with which the present ones begin, */
    uint8_t ready[TACT_NEAR];                  /* those that are placed, */
    struct tact_near_bounds bounds[TACT_NEAR]; /* and what they span */
    struct tact_face face_a[TACT_NEAR], face_b[4 * TACT_NEAR];
};

/** Pairs handed out at once, most. */
enum { TACT_NEAR_BATCH = 64 };

/** Takes pairs of triangles of a leaf of A, in face_a[0] to face_a[3], with those of leaves of B:
 *  face_b[4 k + i] is of lane i of w->b.leaf[w->first + k]. Returns 0, or what ends the search. */
typedef int tact_near_take(void *user, struct tact_near *w, uint32_t leaf_a,
                           const struct tact_near_pair *pairs, uint32_t count);

#define tact_near_cut_trees TACT_VARIANT(tact_near_cut_trees)
#define tact_near_match TACT_VARIANT(tact_near_match)

/** Cuts both trees to leaves, `room` of each at most; returns 1, 0 where nothing is left, -ENOSPC
 *  where there is no room. */
int tact_near_cut_trees(struct tact_near *w, uint32_t room);

/** Matches the leaves of the two sides, those of A larger by a margin [m]. */
int tact_near_match(struct tact_near *w, double margin, tact_near_take *take, void *user);

#endif
