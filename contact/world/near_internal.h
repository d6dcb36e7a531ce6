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

struct pair_measurement;
struct tact_world;

/* A pair of shapes that may touch, a < b. */
struct candidate_shape_pair {
    int a, b;
    int max_patches_of_pair; /* number of patches that the pair's model may produce; above 1 the
                        pair may be solved as pieces */
};

/* State of a pair of shapes in the broad phase's list; indexed by its slot. */
struct near_pair {
    int number;              /* number of the slot's pair among all pairs; -1: the slot is free */
    int max_patches_of_pair; /* number of patches that the pair's model may produce */
    const struct tact_contact_model *model; /* of this tick */
    uint8_t is_pair_listed;
    uint8_t is_measurement_required; /* 1: the pair's bounding spheres overlap or, for fast bodies
                                 and a model that knows their gap, are within the search margin */
    uint8_t are_moments_required;    /* 1: the pair is to be measured, and its model uses moments */
    uint8_t
        is_field_measurement_required; /* 1: the pair is to be measured, by its pressure fields */
    /* measurement at earlier poses that this tick uses; NULL: it measures the pair */
    const struct pair_measurement *measurement;
    int64_t pair_measurement_time_ns; /* time of the pair's measurement in the solve; 0: it was not
                                         timed */
    double planar; /* planarity of the pair's overlap in this tick, as in struct tact_pair_query */
    uint8_t has_overlap_corners; /* 1: the pair's corners in near.corners are of this tick */
    /* last contact normal of the pair; 0 0 0: none since the pair came close */
    double direction[3];
};

struct broad_phase {
    int *list;  /* numbers of the near pairs among all pairs, ascending */
    int *slots; /* slot of each */
    int count;
    struct near_pair *pairs;              /* by slot */
    struct tact_overlap_corners *corners; /* corners of the overlap found by the last measurement,
                                             by slot; NULL where no two solids have facets */
    struct tact_keys keys;                /* map from the number of a near pair to its slot */
    struct candidate_shape_pair
        *candidate_shape_pairs; /* pairs found by a search that have no slot yet */
    int candidate_shape_pair_count;
    int *first; /* scratch of the sort by pair: position in the list of each shape's next pair, the
                   shape being the first of the pair; one more entry */
    int *order; /* shapes except half-spaces, sorted by lower_end_of_search_interval */
    int sorted_shape_count;
    double *lower_end_of_search_interval; /* lower end of each shape's interval along the axis of
                               the broad-phase search [m] */
    double *position_at_search;    /* three numbers a shape: its position at the last broad-phase
                                      search [m] */
    double *orientation_at_search; /* four numbers a shape: orientation of a half-space at the last
                                      broad-phase search */
    int was_broad_phase_searched;  /* 1: at least one broad-phase search was made */
    int *indices_of_free_pair_slots; /* slots without a pair */
    int free_pair_slot_count;
    int *indices_of_unused_pieces; /* free list: indices of the first pieces that are not in use */
    int unused_piece_slot_count;
    int is_capacity_exceeded; /* 1: the capacity was exceeded, so that a near pair has no slot */
};

/* Allocates the broad phase for the shapes and pairs of a world. -ENOMEM. */
int tact_broad_phase_create(struct tact_world *world);
void tact_broad_phase_destroy(struct broad_phase *near);

/* Updates the list of near pairs for the present poses of the shapes. Real-time safe. */
void tact_broad_phase_update(struct tact_world *world);

/* The number of the pair of two shapes a < b, among all pairs sorted by a, then b; and the shapes
 * of a pair. */
int tact_shape_pair_number(const struct tact_world *world, int a, int b);
void tact_pair_number_to_shapes(const struct tact_world *world, int pair, int *a, int *b);

/* Slot of a pair in the list of near pairs; -1: the pair is not near. Real-time safe. */
static inline int tact_broad_phase_slot_of_pair(const struct broad_phase *near, int pair)
{
    return tact_keys_find(&near->keys, pair);
}

/* Adds a pair to the list of near pairs where its shapes may touch. Real-time safe. */
void tact_broad_phase_add_pair(struct tact_world *world, int pair);

#endif
