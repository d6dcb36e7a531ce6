/*
 * Coulomb problems as the contacts of a world, so that tests of them go through the loop of
 * tact_world_solve() itself: each contact point is a block without a patch, of real bodies or of a
 * hand whose joints' rates are the points' velocities.
 */
#ifndef TACT_TESTS_COULOMB_WORLD_H
#define TACT_TESTS_COULOMB_WORLD_H

#include "contact/world/world.h"
#include "coulomb_problem.h"
#include "masonry.h"

/* Result of a solve. */
struct coulomb_solve_run {
    double norm;          /* spectral, of W */
    double residual_goal; /* Coulomb residual at which the solve ends */
    int six, ten;         /* number of sweeps to a residual of 1e-6, and to 1e-10; 0: not reached */
    int work;             /* number of sweeps and eliminations to a residual of 1e-6 */
    int sweeps;           /* number of sweeps of the whole solve */
    int steps;            /* number of steps of Newton's method of the whole solve */
    double residual; /* residual after the last sweep: |r - P_K(r - rho u~)| / |r|, from velocities
                        computed anew */
};

/* The world of a problem given as a matrix, or of the contact points of a masonry at rest, with a
 * period of 1 ms. */
struct tact_world *coulomb_world_of_problem(const struct coulomb_problem *p);
struct tact_world *coulomb_world_of_masonry(const struct masonry *m);

/* Solves the world's contact problem with at most the world's number of sweeps. */
void coulomb_world_solve(struct tact_world *world, struct coulomb_solve_run *run);

#endif
