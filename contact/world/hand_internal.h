/* The data of a hand, for hand.c, hand_dynamics.c, hand_factor.c and the solver. */
#ifndef TACT_CONTACT_HAND_INTERNAL_H
#define TACT_CONTACT_HAND_INTERNAL_H

#include "contact/world/hand.h"

#define TACT_NODE_UNKNOWNS                                                                         \
    6 /* unknowns of a node: a body, or a chain of at most so many joints                          \
       */

struct link {
    struct tact_link_def def;
    int turns;             /* 1: its joint value is an angle */
    double inertia[9];     /* about the centre of mass, link axes */
    struct tact_pose pose; /* link frame, world */
    double axis[3];        /* joint axis, world */
    double motion[6]; /* twist per unit joint rate, linear part at the origin of the base, world */
    double center[3]; /* centre of mass relative to the origin of the base, world axes */
    double world[9];  /* inertia about the centre of mass, world axes */
    double subtree_inertia[10]; /* inertia of the subtree about the origin of the base: m, m c (3),
                             J xx yy zz xy xz yz */
    double velocity[6];         /* twist at the origin of the base */
    double acceleration[6];
    double force[6]; /* wrench about the origin of the base */
    int slot; /* index of the joint in w: TACT_NODE_UNKNOWNS times its chain, plus its position in
               * the chain
               */
};

struct tact_hand {
    int count;
    struct tact_pose base;
    struct link *links;
    struct tact_hand_state state;
    double *numbers;  /* storage of all arrays of numbers below */
    double *mass;     /* n x n, joint-space inertia */
    double *factor;   /* L, row-major, lower: L^T L = M + h D + h^2 K; 0 off the tree's pattern */
    double *inverse;  /* inverse of the diagonal of L */
    double *bias;     /* Coriolis, centrifugal and gravity torques */
    double *velocity; /* joint rates: before the solve without contacts, after it with them */
    double *rhs;
    double *scratch;
    int moves;                   /* 1: the base has coordinates */
    double base_error[6];        /* displacement and rotation vector from the base to its target */
    double base_target_twist[6]; /* velocity and angular velocity of the target */
    int chain_count; /* number of chains: unbranched sequences of at most TACT_NODE_UNKNOWNS links
                      */
    double *w;       /* L v in the tick that is being solved, by slot; 0 in slots without a joint */
    double **rows;   /* each joint's row of a contact's J; scratch */
};

/* Joint-space inertia M with the armatures, n x n (composite rigid bodies; Featherstone 2008,
 * chapter 6). */
void tact_hand_mass_matrix(struct tact_hand *hand, double *m);

/* Torques that keep the present rates constant under gravity (recursive Newton-Euler; Featherstone
 * 2008, chapter 5). */
void tact_hand_bias_torque(struct tact_hand *hand, const double gravity[3], double *bias);

/* Of a base that moves (hand_base.c): computes poses and motions of its links from its coordinates;
 * sets base_error; adds h times its rates to its coordinates. */
void tact_hand_base_refresh(struct tact_hand *hand);
void tact_hand_base_update_target_error(struct tact_hand *hand);
void tact_hand_base_drift(struct tact_hand *hand, double h);

/* First joint of the drive that joint i belongs to, and the number of its joints: 3 for the force
 * or torque of a base, else 1. */
int tact_hand_drive_group(const struct tact_hand *hand, int i, int *count);

/* Divides the links into chains, once their parents are known. */
void tact_hand_find_chains(struct tact_hand *hand);

/* Factors the mass matrix plus a diagonal. -EDOM where it is not positive definite. */
int tact_hand_factor(struct tact_hand *hand, const double *diagonal);

/* x = L^-T x, which turns joint-space impulses into changes of w; x = L^-1 x, which turns w into
 * rates. */
void tact_hand_apply_inverse_transpose(const struct tact_hand *hand, double *x);
void tact_hand_apply_inverse_factor(const struct tact_hand *hand, double *x);

/* L^-T x for six columns stored side by side: rows[i] are the six numbers of joint i, or NULL where
 * they are 0. Where a joint has a row, so have its ancestors. */
void tact_hand_reduce_rows(const struct tact_hand *hand, double *const *rows);

/* w: on input the joint rates, by slot; on output L times these. */
void tact_hand_scale_rates(struct tact_hand *hand, double *w);

/* Sets w to the present rates, by slot: its meaning until the matrix of the tick is factored. */
void tact_hand_set_factored_rates(struct tact_hand *hand);

/* Computes the joint rates from w. */
void tact_hand_compute_joint_rates(struct tact_hand *hand);

#endif
