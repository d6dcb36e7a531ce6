/* Searches the trees of two fields for pairs of cells in which a piece of their contact surface may
 * start. */
#ifndef TACT_CONTACT_FIELD_SEARCH_INTERNAL_H
#define TACT_CONTACT_FIELD_SEARCH_INTERNAL_H

#include "contact/pair/field/field_internal.h"

struct field_cell_pair {
    uint32_t a, b;
};

/* Slot at which the search of a hash table of pairs of cells begins; slot_count: a power of two. */
static inline size_t tact_field_hash_slot_of_cell_pair(uint32_t a, uint32_t b, size_t slot_count)
{
    const uint64_t hash = (((uint64_t)a << 32) | b) * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) & (slot_count - 1);
}

/* Number of slots of a hash table: the least power of two, from 16, that is twice the pairs. */
static inline size_t tact_field_hash_slot_count(size_t pairs)
{
    size_t slot_count = 16;
    while (slot_count < 2 * pairs && slot_count < (size_t)1 << 31) {
        slot_count *= 2;
    }
    return slot_count;
}

/* A search of the trees of two fields. */
struct field_cell_pair_search {
    const struct field_pair *pair;
    int searches_closed_pieces; /* 1: search for closed pieces of the contact surface; 0: for pieces
                                   with a rim */
    /* Direction that closed pieces of the surface face away from, in the frames of a and b. */
    double back_facing_direction_a[3], facing_away_direction_b[3];
    double margin; /* distance below which boxes at the zero-pressure boundary count as overlapping
                      [m] */
    /* Called for each pair of leaves found; a result other than 0 ends the search. */
    int (*found)(void *user, uint32_t leaf_a, uint32_t leaf_b);
    void *user;
};

/* Finds the pairs of leaves whose cells may contain a first polygon, in an order that is
 * independent of the pose. */
void tact_field_search_cells(const struct field_cell_pair_search *search);

/* Cached pairs of cells at the zero-pressure boundary, for one pose of two fields and those near
 * it. */
struct cached_boundary_cell_pair_list {
    uint64_t field_key_a, field_key_b; /* keys of the two fields; 0: the list is unused */
    double rotation[9], shift[3];
    double margin; /* largest relative motion for which the list is complete [m]; negative: it has
                      no pairs */
    int queries_until_seed_list_retry; /* number of queries until a list that was too long is made
                                        * again
                                        */
    uint64_t query;                    /* number of the last query that used the list */
    size_t count;
    struct field_cell_pair *leaves; /* nodes */
};

enum { TACT_FIELD_SEED_LISTS = 8 };

/*
 * Lists of cell pairs of the last queries, of one thread. A list is longer than what a query needs:
 * it has the pairs of all poses within its margin, in the order of a search. A query tests each of
 * its pairs as a search would, so that the result is the same, bit for bit, with and without a
 * list.
 */
struct cached_boundary_cell_pair_lists {
    struct cached_boundary_cell_pair_list list[TACT_FIELD_SEED_LISTS];
    size_t seed_capacity; /* pairs of a list */
    uint64_t query;
};

/* Allocates the cached lists, each for seed_capacity pairs of cells. 0 or -ENOMEM. */
int tact_field_boundary_pair_lists_init(struct cached_boundary_cell_pair_lists *seeds,
                                        size_t seed_capacity);
void tact_field_boundary_pair_lists_free(struct cached_boundary_cell_pair_lists *seeds);

/* Returns a list of cell pairs that is complete for the pose; NULL where a search is cheaper.
 * Real-time safe. */
const struct cached_boundary_cell_pair_list *
tact_field_find_boundary_pair_list(struct cached_boundary_cell_pair_lists *seeds,
                                   const struct field_pair *pair);

#endif
