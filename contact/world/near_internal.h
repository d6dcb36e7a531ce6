/*
 * Which pairs of shapes are near enough to be looked at in a tick (Verlet 1967): those whose
 * bounding spheres, each larger by a margin, overlapped when they were last searched for. While no
 * shape has moved by more than its margin since, no other pair can overlap. The search sweeps along
 * the axis on which the shapes are spread furthest. Only near pairs take memory: a pair is known by
 * its number among all pairs of shapes, and whether its shapes may touch is found as they come
 * near. Pairs that still have something of the last tick, or were written from outside, stay until
 * that is cleared. What is active, and in which order, is as if all pairs were tried: bits do not
 * depend on when a search was made.
 */
#ifndef TACT_CONTACT_NEAR_INTERNAL_H
#define TACT_CONTACT_NEAR_INTERNAL_H

#include <stdint.h>
#include "contact/keys.h"

struct tact_world;

/* Two shapes that may touch, a < b. */
struct world_pair {
    int a, b;
    int max_patches; /* patches that its model may make; over 1: it may be solved as pieces */
};

/* What is known of a near pair, by its contact. */
struct near_pair {
    int number;      /* of the pair; -1: the contact is of none */
    int max_patches; /* as struct world_pair has it */
    uint8_t listed;
    uint8_t active;      /* bounding spheres overlap, and its model uses moments */
    double planar;       /* as struct tact_pair_query has it, in this tick */
    double direction[3]; /* the last normal; 0 0 0: none since it came close */
};

struct near {
    int *list;  /* pairs, ascending, */
    int *slots; /* and the contact of each */
    int count;
    struct near_pair *pairs;       /* by contact */
    struct tact_keys keys;         /* of the pairs that have a contact: its place */
    struct world_pair *candidates; /* pairs of a search that have no contact */
    int candidate_count;
    int *first; /* by shape: where its next pair goes in the list; one more */
    int *order; /* shapes but half-spaces, by their lower end along the axis */
    int order_count;
    double *lower_end;             /* that end [m], by shape */
    double *position_at_search;    /* by shape, 3: its position at the last search [m] */
    double *orientation_at_search; /* the same of a half-space's orientation, 4 */
    int searched;                  /* 1: once at least */
    int *free_slots;               /* contacts of no pair, */
    int free_slot_count;
    int *free_pieces; /* and first pieces of none */
    int free_piece_count;
    int overflow; /* 1: a near pair has no contact */
};

/* Room for the world's shapes and pairs. -ENOMEM. */
int tact_near_create(struct tact_world *world);
void tact_near_destroy(struct near *near);

/* Brings the list up to date with the shapes' poses. Real-time safe. */
void tact_near_update(struct tact_world *world);

/* The number of the pair of two shapes a < b, among all pairs in the order of a, then b; and the
 * shapes of a pair. */
int tact_near_number(const struct tact_world *world, int a, int b);
void tact_near_shapes(const struct tact_world *world, int pair, int *a, int *b);

/* The contact of a pair; -1: it is not near. Real-time safe. */
static inline int tact_near_slot(const struct near *near, int pair)
{
    return tact_keys_find(&near->keys, pair);
}

/* Puts a pair into the list, where its shapes may touch. Real-time safe. */
void tact_near_add(struct tact_world *world, int pair);

#endif
