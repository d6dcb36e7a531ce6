/*
 * Bodies and hands that the contacts and joints of a tick hold together. What happens in one island
 * is not felt in another: each is swept until it is solved, and one that is not takes nothing from
 * the rest.
 */
#ifndef TACT_CONTACT_ISLAND_INTERNAL_H
#define TACT_CONTACT_ISLAND_INTERNAL_H

#include "contact/world/anderson_internal.h"

struct tact_world;

struct list {
    int *at;
    int count;
};

/* What is known between the sweeps of an island (search.c). */
struct search {
    int n;                /* unknowns */
    int newton;           /* 1 where Newton's steps may be taken */
    double best;          /* least residual met */
    double since_restart; /* the same since Anderson acceleration began anew */
    double newton_start;  /* residual where Newton's present steps began */
    int newton_tries;     /* how many of them have led no lower; 0: none is under way */
    int newton_failures;  /* how often they were taken back */
    int newton_pause;     /* sweeps until they are tried again */
    int interior_steps; /* of the interior-point method that were taken; 0: not tried, or of no use
                         */
    int anchored;       /* 1: the solver's springs start at impulses of this search, as set by
                           tact_springs_anchor(); -1: they must not be anchored any more */
    double least_miss;  /* miss met: a residual is a share of impulses, which may be absurd */
    double least_miss_residual;            /* residual there */
    double *before, *after, *scale, *next; /* impulses */
    double *best_impulses,
        *least_miss_impulses; /* those of the best sweep, and of the least miss */
    struct anderson anderson;
};

struct island {
    struct list blocks, constraints,
        mechanisms;     /* of the world, and which mechanisms the bonds make */
    struct list owners; /* bodies, then hands */
    int points;         /* one of its contacts is solved as points */
    int coupled;        /* two contacts share a body or hand */
    int open;           /* 1: to be swept */
    double residual;    /* largest of the last sweep, as tact_solve_stats has it */
    double size,
        change; /* of that: squares of all impulses and of what changed, torques as forces */
    struct search search;
};

/* Those of a tick, in the order of their first contacts, then those of joints alone. */
struct islands {
    struct island *list;
    int count;
    int *root;        /* of each body, then hand: one that it hangs together with */
    int *number;      /* of each root: its island, or -1 */
    int *items;       /* what the lists point into */
    double *unknowns; /* of all searches */
};

/* Room, once bodies, hands, bonds and pairs are known. -ENOMEM. */
int tact_islands_create(struct tact_world *world);
void tact_islands_destroy(struct islands *islands);

/* Finds the islands of the present blocks; all are open. Tells which contacts share no body or hand
 * with another. */
void tact_islands_find(struct tact_world *world);

#endif
