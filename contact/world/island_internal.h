/*
 * Islands: sets of bodies and hands that are connected by contacts and joints in a tick.
 * Impulses in one island do not affect another, so each is swept until it is solved, independent
 * of the others.
 */
#ifndef TACT_CONTACT_ISLAND_INTERNAL_H
#define TACT_CONTACT_ISLAND_INTERNAL_H

#include "contact/world/anderson_internal.h"

struct tact_world;

struct index_list {
    int *at;
    int count;
};

/* State of the iteration between the sweeps of an island (search.c). */
struct island_search {
    int n;                                  /* number of unknowns */
    int is_newton_allowed_in_search;        /* 1: Newton's method may be used in this search */
    double smallest_search_residual;        /* smallest residual of the island in this search */
    double smallest_residual_since_restart; /* smallest residual of the island since Anderson
                                  acceleration was restarted */
    /* residual at the start of the present series of Newton's steps */
    double residual_before_newton_steps;
    int newton_steps_without_progress; /* Newton's steps of the present series without progress; 0:
                                          no series is in progress */
    int undone_newton_series_count;    /* number of series of Newton's steps that were undone */
    int sweeps_until_next_newton_step; /* number of sweeps until Newton's method is tried again */
    int interior_point_step_count; /* steps of the interior-point method for this island; 0: it was
                                 not tried, or did not succeed */
    int spring_anchor_state; /* 1: the solver's springs are anchored at impulses of this search, by
                     tact_springs_anchor_at_impulses(); -1: they must not be anchored again */
    int are_island_newton_steps_damped;  /* 1: Newton's steps are damped, as most contacts have
                                     anchored springs */
    int are_joint_bounds_left_to_newton; /* 1: this sweep leaves the impulses of joint bounds that
                               are far from a solution to the step of Newton's method after it */
    double least_absolute_residual; /* smallest absolute residual of the search, as a relative one
                                       is misleading where impulses are huge */
    double relative_residual_at_least_absolute; /* relative residual at the island's impulses with
                                          the least absolute residual */
    double *before, *after, *scale, *next;      /* impulses */
    /* copies of the island's impulses with the smallest relative, and with the smallest absolute
     * residual */
    double *impulses_of_least_relative_residual, *impulses_of_least_absolute_residual;
    struct anderson anderson;
};

struct island {
    struct index_list blocks, constraints,
        mechanisms;           /* indices of the island's contact blocks, joints
                           between bodies, and mechanisms in the world */
    struct index_list bounds; /* indices of the bounds of hands' joints (stops and dry friction) */
    struct index_list owners; /* bodies, then hands */
    int points;               /* 1: a contact of the island is solved as contact points */
    int has_coupled_contacts; /* 1: two contacts or joint bounds of the island share a body or hand
                               */
    int is_island_unsolved;   /* 1: not solved yet */
    /* largest residual of the island's last sweep, as in struct tact_solve_stats */
    double residual;
    double size, change; /* sums of squares of the island's impulses and of their changes in the
                            last sweep; torques are scaled to forces */
    struct island_search search;
};

/* The islands of a tick: in the order of their first contacts, then those with joints only. */
struct islands {
    struct island *list;
    int count;
    int *union_find_parent_of_owner; /* union-find parent of each body, then of each hand */
    int *number;        /* index of the island of each body, then of each hand, or -1 */
    int *contact_count; /* number of contacts of each body, then of each hand, in this tick */
    int *items;         /* storage of the lists of all islands */
    double *storage_of_impulse_vectors; /* storage of the impulse vectors of all searches */
};

/* Allocates the islands, once bodies, hands, joints and pairs are known. -ENOMEM. */
int tact_islands_create(struct tact_world *world);
void tact_islands_destroy(struct islands *islands);

/* Finds the islands of the present blocks and marks all as unsolved. Sets
 * block.is_only_contact_of_bodies. */
void tact_islands_find(struct tact_world *world);

#endif
