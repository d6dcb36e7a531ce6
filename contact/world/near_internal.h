/*
 * Which pairs of shapes are near enough to be looked at in a tick (Verlet 1967): those whose
 * bounding spheres, each larger by a margin, overlapped when they were last searched for. While no
 * shape has moved by more than its margin since, no other pair can overlap. The search sweeps along
 * the axis on which the shapes are spread furthest. Pairs that still have something of the last
 * tick, or were written from outside, stay until that is cleared. What is active, and in which
 * order, is as if all pairs were tried: bits do not depend on when a search was made.
 */
#ifndef TACT_CONTACT_NEAR_INTERNAL_H
#define TACT_CONTACT_NEAR_INTERNAL_H

#include <stdint.h>

struct tact_world;

/* Two shapes that may touch, a < b. */
struct world_pair {
    int a, b;
    int most; /* patches that its model may make; over 1: it may be solved as pieces */
};

struct near {
    int *list; /* pairs, ascending */
    int count;
    uint8_t *listed; /* by pair: in the list */
    int *of;         /* pair of two shapes a < b at b (b - 1) / 2 + a; -1: they cannot touch */
    int *found;      /* pairs of a search, unsorted */
    int *first;      /* by shape: where its next pair goes in the list; one more */
    int *order;      /* shapes but half-spaces, by their lower end along the axis */
    int order_count;
    double *low;   /* that end [m], by shape */
    double *then;  /* by shape, 3: its position at the last search [m] */
    double *plane; /* the same of a half-space's orientation, 4 */
    int searched;  /* 1: once at least */
    int *slot;     /* by pair: its contact; -1: it is not near */
    int *free;     /* contacts of no pair, */
    int free_count;
    int *free_pieces; /* and first pieces of none */
    int free_piece_count;
    int crowded; /* 1: a near pair has no contact */
};

/* Room for the world's shapes and pairs. -ENOMEM. */
int tact_near_create(struct tact_world *world);
void tact_near_destroy(struct near *near);

/* Brings the list up to date with the shapes' poses. Real-time safe. */
void tact_near_update(struct tact_world *world);

/* The pair of two shapes; -1: they cannot touch. */
int tact_near_pair(const struct near *near, int i, int k);

/* Puts a pair into the list. Real-time safe. */
void tact_near_add(struct tact_world *world, int pair);

#endif
