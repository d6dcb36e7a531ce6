/* Shared by hand.c and hand_dynamics.c. */
#ifndef TACT_CONTACT_HAND_INTERNAL_H
#define TACT_CONTACT_HAND_INTERNAL_H

#include "contact/world/hand.h"

struct link {
    struct tact_link_def def;
    double inertia[9];     /* about the centre of mass, link axes */
    struct tact_pose pose; /* link frame, world */
    double axis[3];        /* joint axis, world */
    double motion[6]; /* twist per unit joint rate, linear part at the origin of the base, world */
    double center[3]; /* centre of mass relative to the origin of the base, world axes */
    double world[9];  /* inertia about the centre of mass, world axes */
    double composite[10]; /* inertia of the subtree about the origin of the base: m, m c (3), J xx
                             yy zz xy xz yz */
    double velocity[6];   /* twist at the origin of the base */
    double acceleration[6];
    double force[6]; /* wrench about the origin of the base */
};

struct tact_hand {
    int count;
    struct tact_pose base;
    struct link *links;
    struct tact_hand_state state;
    double *numbers;  /* storage of all arrays below */
    double *mass;     /* n x n, joint-space inertia */
    double *factor;   /* Cholesky factor of M + h D + h^2 K, column-major, lower */
    double *bias;     /* Coriolis, centrifugal and gravity torques */
    double *velocity; /* rates in the tick that is being solved */
    double *rhs;
};

/* Joint-space inertia M, n x n (composite rigid bodies; Featherstone 2008, chapter 6). */
void tact_hand_mass_matrix(struct tact_hand *hand, double *m);

/* Torques that keep the present rates constant under gravity (recursive Newton-Euler; Featherstone
 * 2008, chapter 5). */
void tact_hand_bias(struct tact_hand *hand, const double gravity[3], double *bias);

/* As tact_hand_solve(), for six columns stored side by side: y has a row of six numbers for each
 * joint. The order of operations is that of LAPACK's dpotrs, so that results agree bit for bit. */
void tact_hand_solve_rows(const struct tact_hand *hand, double *y);

#endif
