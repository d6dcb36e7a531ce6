/* Pairs of triangles near a small overlap of two meshes, passed to a function in batches; not
 * installed.
 *
 * Both trees are cut down, eight boxes at a time, to the leaves that reach what is left of the
 * other tree, and all leaves of one are matched with all of the other. Boxes are in single
 * precision and enlarged for it: a leaf is excluded only where every pair of its triangles would
 * be. */
#ifndef TACT_CONTACT_MOMENTS_NEAR_INTERNAL_H
#define TACT_CONTACT_MOMENTS_NEAR_INTERNAL_H

#include <errno.h>

#include "moments_face_internal.h"
#include "moments_leaf_internal.h"

/* Leaves of B that are placed at a time, a multiple of 8; and the capacity for nodes of one tree.
 */
enum { TACT_PAIRING_LEAVES = 512, TACT_PAIRING_MAX_NODES = 32768 };

/* Nodes of one tree: inner ones, and the leaves with the bounds of their boxes along x, y, z and
 * the normal of the frame, in the unit of the pair. */
struct tact_leaf_pairing_tree {
    struct tact_placed_mesh placed_mesh;
    float lower[4], upper[4]; /* bounds of all leaves of this side */
    uint32_t inner_node_count, leaves;
    uint32_t node[TACT_PAIRING_MAX_NODES], leaf[TACT_PAIRING_MAX_NODES];
    tact_f8 leaf_lower[4][TACT_PAIRING_MAX_NODES / 8 + 2],
        leaf_upper[4][TACT_PAIRING_MAX_NODES / 8 + 2];
};

/* A pair of near triangles, one of A and one of B: indices of their faces. */
struct tact_triangle_pair {
    uint16_t a, b;
};

/* Bounds of four triangles [m]; empty for lanes without one. */
struct tact_triangle_bounds {
    tact_d4 lower[3], upper[3];
};

struct tact_leaf_pairing {
    float pair_units_per_metre; /* factor from metres to the unit of the pair of meshes [1/m] */
    struct tact_leaf_pairing_tree a, b;
    uint32_t from[TACT_PAIRING_MAX_NODES];       /* nodes of a tree that are being replaced by their
                                                    children */
    uint32_t first;                              /* first leaf of B of the present group */
    uint8_t is_placed_leaf[TACT_PAIRING_LEAVES]; /* 1: placed */
    /* bounds of the triangles of each placed leaf */
    struct tact_triangle_bounds bounds[TACT_PAIRING_LEAVES];
    struct tact_face face_a[TACT_PAIRING_LEAVES], face_b[4 * TACT_PAIRING_LEAVES];
};

/* Largest number of triangle pairs in a batch. */
enum { TACT_PAIRING_BATCH = 64 };

/* Visits pairs of triangles of a leaf of A, in face_a[0] to face_a[3], with those of leaves of B:
 * face_b[4 k + i] is lane i of w->b.leaf[w->first + k]. Returns 0, or a value that ends the search.
 */
typedef int tact_triangle_pairs_fn(void *user, struct tact_leaf_pairing *w, uint32_t leaf_a,
                                   const struct tact_triangle_pair *pairs, uint32_t count);

#define tact_pairing_expand_to_leaves TACT_CPU_VARIANT(tact_pairing_expand_to_leaves)
#define tact_pairing_match_leaves TACT_CPU_VARIANT(tact_pairing_match_leaves)

/* Cuts both trees to leaves, at most `capacity` of each; returns 1, 0 where nothing is left,
 * -ENOSPC where the capacity is exceeded. */
int tact_pairing_expand_to_leaves(struct tact_leaf_pairing *w, uint32_t capacity);

/* Matches the leaves of the two sides, with those of A enlarged by a margin [m]. */
int tact_pairing_match_leaves(struct tact_leaf_pairing *w, double margin,
                              tact_triangle_pairs_fn *visit_triangle_pairs, void *user);

#endif
