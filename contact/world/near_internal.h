/*
 * Broad phase: which pairs of shapes are near enough to be measured in a tick, by Verlet lists
 * (Verlet 1967). A search lists the pairs whose bounding spheres overlap when each is enlarged by
 * a margin. Until a shape has moved by more than its margin no other pair can overlap, and no new
 * search is needed. The search sorts along the axis on which the shapes are spread furthest.
 * Memory is used for near pairs only: a pair is identified by its number among all pairs of
 * shapes, and whether two shapes may touch is determined when they come near. A pair with state
 * from the last tick, or written by the caller, remains in the list until that state is cleared.
 * Active pairs and their order are the same as if all pairs were tested in each tick, so that
 * results do not depend on when a search was made.
 */
#ifndef TACT_CONTACT_NEAR_INTERNAL_H
#define TACT_CONTACT_NEAR_INTERNAL_H

#include <stdint.h>
#include "contact/keys.h"

struct tact_world;

/* Two shapes that may touch, a < b. */
struct world_pair {
    int a, b;
    int max_patches; /* patches that its model may produce; more than 1: it may be solved as pieces
                      */
};

/* State of a near pair; indexed by its slot. */
struct near_pair {
    int number;      /* number of the pair; -1: the slot is free */
    int max_patches; /* as in struct world_pair */
    uint8_t listed;
    uint8_t active;      /* 1: bounding spheres overlap, and the model uses moments */
    double planar;       /* as in struct tact_pair_query, of this tick */
    uint8_t has_corners; /* 1: those in near.corners are of this tick */
    double direction[3]; /* last normal; 0 0 0: none since the pair came close */
};

struct near {
    int *list;  /* numbers of the near pairs, ascending */
    int *slots; /* slot of each */
    int count;
    struct near_pair *pairs;              /* by slot */
    struct tact_overlap_corners *corners; /* corners found by the last measurement, by slot; NULL
                                             where no two solids have facets */
    struct tact_keys keys;                /* map from the number of a near pair to its slot */
    struct world_pair *candidates;        /* pairs found by a search that have no slot yet */
    int candidate_count;
    int *first; /* position in the list of each shape's next pair; one more entry */
    int *order; /* shapes except half-spaces, by interval_start */
    int sorted_shape_count;
    double *interval_start;        /* lower end of each shape along the axis of the search [m] */
    double *position_at_search;    /* three numbers a shape: its position at the last search [m] */
    double *orientation_at_search; /* four numbers a shape: orientation of a half-space at the last
                                      search */
    int was_searched;              /* 1: at least one search was made */
    int *free_slots;               /* slots without a pair */
    int free_slot_count;
    int *unused_piece_slots; /* first pieces that are not in use */
    int unused_piece_slot_count;
    int has_overflowed; /* 1: a near pair has no slot */
};

/* Allocates for the shapes and pairs of the world. -ENOMEM. */
int tact_near_create(struct tact_world *world);
void tact_near_destroy(struct near *near);

/* Updates the list for the present poses of the shapes. Real-time safe. */
void tact_near_update_pairs(struct tact_world *world);

/* The number of the pair of two shapes a < b, among all pairs sorted by a, then b; and the shapes
 * of a pair. */
int tact_near_pair_number(const struct tact_world *world, int a, int b);
void tact_near_pair_shapes(const struct tact_world *world, int pair, int *a, int *b);

/* The slot of a pair; -1: it is not near. Real-time safe. */
static inline int tact_near_slot_of_pair(const struct near *near, int pair)
{
    return tact_keys_find(&near->keys, pair);
}

/* Adds a pair to the list where its shapes may touch. Real-time safe. */
void tact_near_add_pair(struct tact_world *world, int pair);

#endif
