/* What hand.c and hand_dynamics.c share. */
#ifndef TACT_CONTACT_HAND_INTERNAL_H
#define TACT_CONTACT_HAND_INTERNAL_H

#include "contact/world/hand.h"

struct link {
    struct tact_link_def def;
    double inertia[9];     /* about the centre of mass, link axes */
    struct tact_pose pose; /* link frame, world */
    double axis[3];        /* world */
    double motion[6];      /* twist of a unit joint rate, linear part at the base's origin, world */
    double center[3];      /* of mass, from the base's origin, world axes */
    double world[9];       /* inertia about the centre of mass, world axes */
    double
        composite[10]; /* of the subtree about the base's origin: m, m c (3), J xx yy zz xy xz yz */
    double velocity[6]; /* twist at the base's origin */
    double acceleration[6];
    double force[6]; /* wrench about the base's origin */
};

struct tact_hand {
    int count;
    struct tact_pose base;
    struct link *links;
    struct tact_hand_state state;
    double *numbers;  /* what everything below points into */
    double *mass;     /* n x n */
    double *factor;   /* Cholesky of M + h D + h^2 K, column-major, lower */
    double *bias;     /* Coriolis, centrifugal and gravity torques */
    double *velocity; /* rates of the tick being solved */
    double *rhs;
};

/* Joint-space inertia M, n x n (composite rigid bodies; Featherstone 2008, chapter 6). */
void tact_hand_mass_matrix(struct tact_hand *hand, double *m);

/* Torques that keep the present rates constant under gravity (recursive Newton-Euler, chapter 5).
 */
void tact_hand_bias(struct tact_hand *hand, const double gravity[3], double *bias);

/* As tact_hand_solve() does, of six columns that lie side by side: y has a row of six a joint. In
 * LAPACK's order of operations, so that the bits are those of its dpotrs. */
void tact_hand_solve_rows(const struct tact_hand *hand, double *y);

#endif
