/*
 * The data of a hand, for hand.c, hand_dynamics.c, hand_factor.c, hand_tied.c and the solver.
 *
 * Joints that are tied together are one coordinate, whose index is that of the first of them. The
 * matrix of the coordinates has a tree of its own (hand_tied.c), which is that of the links where
 * nothing is tied: a coordinate's row of the factors has only entries of those above it.
 */
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
    double rotation[9];    /* rotation matrix of its orientation, row-major */
    double axis[3];        /* joint axis, world */
    double motion[6]; /* twist per unit joint rate, linear part at the origin of the base, world */
    double center[3]; /* centre of mass relative to the origin of the base, world axes */
    double world[9];  /* inertia about the centre of mass, world axes */
    double subtree_inertia[10]; /* inertia of the subtree about the origin of the base: m, m c (3),
                             J xx yy zz xy xz yz */
    double velocity[6];         /* twist at the origin of the base */
    double product[3][3]; /* two terms of the linear part and one of the angular part of the rate
                             of change of `motion` times the joint's rate; a joint of the base
                             has only the first, or 0 */
    double acceleration[6];
    double force[6]; /* wrench about the origin of the base */
    int coordinate;  /* that the joint is or is tied to */
    double ratio;    /* rate of the joint by that of its coordinate; 1 of a coordinate itself */
    int up;          /* of a coordinate: the next one above it, or -1 */
    int deepest;     /* lowest coordinate of the joints between the link and the base; all others of
                        these joints are above it */
    double tendon_resistance; /* h D + h^2 K of a drive on a tendon, 0 at its limit */
    int slot; /* index of the coordinate in w: TACT_NODE_UNKNOWNS times its chain, plus its position
               * in the chain; -1 of a joint that is no coordinate
               */
};

struct tact_hand {
    int count;
    struct tact_pose base;
    struct link *links;
    struct tact_hand_state state;
    double *numbers; /* storage of all arrays of numbers below */
    double *mass;    /* n x n, joint-space inertia */
    double *reduced; /* n x n, T^T M T of the coordinates; where nothing is tied, mass itself */
    double
        *resistance;  /* h D + h^2 K of the drives that act on a coordinate, not at their limits */
    double *factor;   /* L, row-major, lower: L^T L = M + h D + h^2 K of the coordinates; 0 off the
                         tree's pattern */
    double *inverse;  /* inverse of the diagonal of L */
    double *bias;     /* Coriolis, centrifugal and gravity torques */
    double *velocity; /* joint rates: before the solve without contacts, after it with them */
    double *rhs;
    double *scratch;
    int moves;                      /* 1: the base has coordinates */
    int tied;                       /* 1: there are mimic joints or drives on tendons */
    struct tact_tendon_term *terms; /* of all tendons */
    double base_error[6];        /* displacement and rotation vector from the base to its target */
    double base_target_twist[6]; /* velocity and angular velocity of the target */
    int chain_count; /* number of chains: unbranched sequences of at most TACT_NODE_UNKNOWNS links
                      */
    double *w;       /* L v in the tick that is being solved, by slot; 0 in slots without a joint */
    double **rows;   /* each coordinate's row of a contact's J; scratch */
};

/* Joint-space inertia M with the armatures, n x n (composite rigid bodies; Featherstone 2008,
 * chapter 6). */
void tact_hand_mass_matrix(struct tact_hand *hand, double *m);

/* Torques that keep the present rates constant under gravity (recursive Newton-Euler; Featherstone
 * 2008, chapter 5). */
void tact_hand_bias_torque(struct tact_hand *hand, const double gravity[3], double *bias);

/* The same at other rates of the joints than the present ones, which the links keep. */
void tact_hand_bias_torque_at(struct tact_hand *hand, const double *rates, const double gravity[3],
                              double *bias);

/* tact_hand_link_twist() and tact_hand_link_rate() of the same point. */
void tact_hand_link_motion(const struct tact_hand *hand, int link, const double point[3],
                           double twist[6], double rate[6]);

/* Of a base that moves (hand_base.c): computes poses and motions of its links from its coordinates;
 * sets base_error; adds h times its rates to its coordinates. */
void tact_hand_base_refresh(struct tact_hand *hand);
void tact_hand_base_update_target_error(struct tact_hand *hand);
void tact_hand_base_drift(struct tact_hand *hand, double h);

/* First joint of the drive that joint i belongs to, and the number of its joints: 3 for the force
 * or torque of a base, else 1. */
int tact_hand_drive_group(const struct tact_hand *hand, int i, int *count);

/* Divides the coordinates into chains, once their tree is known. */
void tact_hand_find_chains(struct tact_hand *hand);

static inline int tact_hand_is_coordinate(const struct tact_hand *hand, int joint)
{
    return hand->links[joint].coordinate == joint;
}

/* hand_tied.c: checks mimic joints and tendons. 0 or -EINVAL. */
int tact_hand_check_tied(const struct tact_link_def *links, int count);

/* Whether there are mimic joints or drives on tendons. */
int tact_hand_is_tied(const struct tact_link_def *links, int count);

/* Sets the coordinates, their tree and what they take over from the joints tied to them. -EINVAL
 * where their ranges leave no room; -ENOMEM. */
int tact_hand_tie(struct tact_hand *hand);

/* Computes `reduced` from `mass`. */
void tact_hand_reduce_mass(struct tact_hand *hand);

/* Adds the drives on tendons to the matrix that is to be factored. */
void tact_hand_add_tendons(struct tact_hand *hand);

/* x: torques or impulses of the joints; on output those of the coordinates, T^T x. */
void tact_hand_project(const struct tact_hand *hand, double *x);

/* x: rates of the coordinates; on output those of the joints, T x. */
void tact_hand_expand(const struct tact_hand *hand, double *x);

/* Moves joints that are no coordinates to their law. */
void tact_hand_follow(struct tact_hand *hand);

/* Length or rate of what the drive of joint i acts on, from values or rates of the joints. */
double tact_hand_drive_length(const struct tact_hand *hand, int i, const double *joints);

/* Factors the matrix of the coordinates plus a diagonal. -EDOM where it is not positive definite.
 */
int tact_hand_factor(struct tact_hand *hand, const double *diagonal);

/* x = L^-T x, which turns joint-space impulses into changes of w; x = L^-1 x, which turns w into
 * rates. */
void tact_hand_apply_inverse_transpose(const struct tact_hand *hand, double *x);
void tact_hand_apply_inverse_factor(const struct tact_hand *hand, double *x);
/* x = L^-T of the unit vector of a joint, which has entries of that joint and those above it. */
void tact_hand_unit_inverse_transpose(const struct tact_hand *hand, int joint, double *x);

/* L^-T x for six columns stored side by side: rows[i] are the six numbers of coordinate i, or NULL
 * where they are 0. Where a coordinate has a row, so have those above it. */
void tact_hand_reduce_rows(const struct tact_hand *hand, double *const *rows);

/* w: on input the joint rates, by slot; on output L times these. */
void tact_hand_scale_rates(struct tact_hand *hand, double *w);

/* Sets w to the present rates, by slot: its meaning until the matrix of the tick is factored. */
void tact_hand_set_factored_rates(struct tact_hand *hand);

/* Computes the joint rates from w. */
void tact_hand_compute_joint_rates(struct tact_hand *hand);

#endif
