/*
 * Islands: sets of bodies and hands that are connected by contacts and joints in a tick.
 * Impulses in one island do not affect another, so each is swept until it is solved, independent
 * of the others.
 */
#ifndef TACT_CONTACT_ISLAND_INTERNAL_H
#define TACT_CONTACT_ISLAND_INTERNAL_H

#include "contact/world/anderson_internal.h"

struct tact_world;

struct list {
    int *at;
    int count;
};

/* State of the iteration between the sweeps of an island (search.c). */
struct search {
    int n;                     /* number of unknowns */
    int newton;                /* 1 where Newton's steps may be used */
    double best;               /* smallest residual so far */
    double best_since_restart; /* smallest residual since Anderson acceleration was restarted */
    double
        newton_start_residual; /* residual at the start of the present series of Newton's steps */
    int newton_steps_without_progress; /* steps of that series without progress; 0: no series is in
                                          progress */
    int undone_newton_series;          /* number of series that were undone */
    int newton_pause_sweeps;           /* sweeps until Newton's steps are tried again */
    int interior_point_steps; /* steps of the interior-point method; 0: not tried, or without
                                 success */
    int anchor_state;         /* 1: the solver's springs are anchored at impulses of this search, by
                             tact_springs_anchor(); -1: they must not be anchored again */
    int is_damped; /* 1: Newton's steps are damped, as most contacts have anchored springs */
    double least_absolute_residual;    /* smallest absolute residual so far: a relative one is
                             misleading where impulses are huge */
    double residual_at_least_absolute; /* relative residual at the impulses with the least absolute
                                   residual */
    double *before, *after, *scale, *next;           /* impulses */
    double *best_impulses, *least_absolute_impulses; /* impulses with the smallest relative, and
                                                    with the smallest absolute residual */
    struct anderson anderson;
};

struct island {
    struct list blocks, constraints, mechanisms; /* indices in the world */
    struct list bounds;  /* indices of the bounds of hands' joints (stops and dry friction) */
    struct list owners;  /* bodies, then hands */
    int points;          /* 1: one of its contacts is solved as contact points */
    int is_coupled;      /* 1: two contacts or bounds of joints share a body or hand */
    int open;            /* 1: not solved yet */
    double residual;     /* largest residual of the last sweep, as in struct tact_solve_stats */
    double size, change; /* sums of squares of all impulses and of their changes in that sweep;
                            torques are scaled to forces */
    struct search search;
};

/* The islands of a tick: in the order of their first contacts, then those with joints only. */
struct islands {
    struct island *list;
    int count;
    int *root;        /* union-find parent of each body, then hand */
    int *number;      /* index of the island of each root, or -1 */
    int *items;       /* storage of the lists */
    double *unknowns; /* storage of the vectors of all searches */
};

/* Allocates, once bodies, hands, constraints and pairs are known. -ENOMEM. */
int tact_islands_create(struct tact_world *world);
void tact_islands_destroy(struct islands *islands);

/* Finds the islands of the present blocks and marks all as unsolved. Sets block.uncoupled. */
void tact_islands_find(struct tact_world *world);

#endif
