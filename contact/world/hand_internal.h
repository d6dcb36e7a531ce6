/*
 * The data of a hand, for hand.c, hand_dynamics.c, hand_factor.c, hand_points.c, hand_tied.c and
 * the solver.
 *
 * Joints that are tied together are one coordinate, whose index is that of the first of them. The
 * matrix of the coordinates has a tree of its own (hand_tied.c), which is that of the links where
 * nothing is tied: a coordinate's row of the factors has only entries of those above it.
 */
#ifndef TACT_CONTACT_HAND_INTERNAL_H
#define TACT_CONTACT_HAND_INTERNAL_H

#include <stddef.h>
#include "contact/world/hand.h"
#include "contact/world/spatial_internal.h"

#define TACT_UNKNOWNS_PER_NODE                                                                     \
    6 /* number of unknowns of a node of the elimination: a body, or a chain of at most so many    \
       * joints                                                                                    \
       */

/* Velocity of a link at given joint rates. */
struct velocity_of_link {
    struct spatial twist; /* twist of the link, linear part at the origin of the base */
    double product[3][4]; /* velocity product: two terms of the linear part and one of the angular
                             part of the rate of change of the joint's motion times its rate; a
                             joint of the base has only the first, or 0 */
};

struct link {
    struct tact_link_def def;
    int is_rotational;     /* 1: the joint value is an angle */
    double inertia[9];     /* inertia about the link's centre of mass, link axes */
    struct tact_pose pose; /* link frame, world */
    double rotation[3][4]; /* columns of the rotation matrix of the link's orientation */
    double axis[4];        /* joint axis, world */
    struct spatial motion; /* motion of the joint: twist per unit joint rate, linear part at the
                              origin of the base, world */
    double center[4]; /* the link's centre of mass relative to the origin of the base, world axes */
    double world[3][4]; /* columns of the inertia about the link's centre of mass, world axes; the
                           entries below the diagonal are not used */
    struct spatial_inertia inertia_about_base; /* inertia of the link alone about the origin of the
                                                  base, at its present pose */
    struct spatial_inertia subtree_inertia;    /* inertia of the link's subtree about that origin */
    struct spatial link_bias_acceleration; /* about the origin of the base, at joint accelerations
                                         of 0, less gravity */
    struct spatial force;                  /* wrench on the link about the origin of the base */
    int coordinate; /* index of the coordinate that the joint is, or that it is tied to */
    double ratio;   /* rate of the joint over that of its coordinate; 1 of a coordinate itself */
    int deepest;    /* lowest coordinate of the joints between the link and the base; all others of
                       these joints are above it */
    double tendon_drive_gain; /* implicit gain h D + h^2 K of a drive on a tendon, 0 at its force
                                 limit */
    int slot; /* index of the coordinate in w: TACT_UNKNOWNS_PER_NODE times its chain, plus its
               * position in the chain; -1 of a joint that is no coordinate
               */
};

/* Factor L of the matrix of all coordinates of a hand, or of some: of n x n, row-major, lower. */
struct coordinate_tree_factor {
    int count;       /* number of coordinates of the factorised matrix */
    int *list;       /* coordinates of the factorised matrix, ascending */
    int *up;         /* of each coordinate, the next one of `list` above it in the tree, or -1 */
    double *entry;   /* L; 0 off the tree's pattern */
    double *inverse; /* inverses of the diagonal entries */
};

struct tact_hand {
    int count;
    struct tact_pose base;
    struct link *links;
    struct velocity_of_link *velocities; /* link velocities at the present joint rates */
    struct velocity_of_link
        *link_velocities_at_other_rates; /* link velocities at other joint rates */
    int *storage_of_integer_arrays; /* one allocation that holds all the arrays of integers below */
    int *parent; /* parent of each link, as in links[].def; stored separately as `up` is */
    int *up; /* parent of each coordinate in the tree of coordinates, or -1; stored separately from
                the links, as most loops over the tree read nothing else of the links */
    int *coordinate_of_slot; /* coordinate of each slot of w */
    struct tact_hand_state state;
    double *numbers;                /* one allocation that holds all the arrays of numbers below */
    double *mass;                   /* n x n, joint-space inertia */
    double *coordinate_mass_matrix; /* mass matrix T^T M T of the coordinates, n x n; where no
                        joints are tied, `mass` itself */
    double *implicit_drive_gains;   /* implicit gain h D + h^2 K of the drives on a coordinate that
                             are not at their limits */
    double *drive_impulses; /* impulse of each joint's drive in the tick at joint rate 0, or that of
                               its limit where it is at it */
    double *matrix; /* M + h D + h^2 K of the coordinates, n x n, lower half; 0 off the tree's
                       pattern */
    struct coordinate_tree_factor full_matrix_factor; /* L^T L = `matrix` */
    /* Coordinates whose rates a step of Newton's method prescribes, 1, and the factor of the part
     * of the matrix of the others; 1 also of joints that are no coordinate. */
    int *is_coordinate_locked;
    struct coordinate_tree_factor unlocked_matrix_factor;
    int has_locked_coordinates;           /* 1: a bound prescribes the rate of a joint */
    int *slot_among_unlocked_coordinates; /* as links[].slot, among the coordinates of the chain
                                 that are not locked */
    int is_unlocked_factor_current; /* 1: `unlocked_matrix_factor` is that of `is_coordinate_locked`
                                 and of this tick's matrix */
    double *rate_changes_of_locked_coordinates; /* change of the rate of each locked coordinate in
                                                 the step, by slot */
    double *momentum;                           /* scratch: products with a mass matrix */
    double *bias_torques; /* bias torques of the joints: Coriolis, centrifugal and gravity */
    double *velocity;     /* joint rates: before the solve without contacts, after it with them */
    double *rhs;
    double *momentum_before_tick; /* M times the joint rates before the tick */
    double *scratch;
    /* 1: the bias torques of this tick are those at the rates before it */
    int has_bias_at_last_rates;
    int has_moving_base;                   /* 1: the base moves, and has six coordinates */
    int has_mimics_or_tendons;             /* 1: there are mimic joints or drives on tendons */
    struct tact_tendon_term *tendon_terms; /* of all tendons */
    /* displacement and rotation vector from a moving base to its target pose */
    double base_target_error[6];
    double base_target_twist[6]; /* velocity and angular velocity of a base's target */
    /* drives of the forces and torques of a base whose axes differ, world axes */
    struct base_axis_drives {
        int is_base_drive_set;               /* 0: the drives of the base's links act instead */
        double stiffness[9], damping[9];     /* row-major, symmetric */
        int must_torque_gradient_be_rotated; /* 1: a torque whose stiffness differs, which is turned
                                           by J_r^-T */
        double least;                        /* the least stiffness */
        double
            spring_force_at_zero_rate[3]; /* force or torque of the spring in this tick at rate 0 */
        double force_decrease_per_displacement[9]; /* decrease of that force or torque per h times
                                     the rate of the tick */
        double gain[9]; /* implicit gain h D + h^2 K of this tick; 0 at the drive's limit */
    } base_axis_drives[2];
    double base_axes_moment[3]; /* torque at the target less that on the base [N m]:
                                   tact_hand_base_axes_moment() */
    /* spring and damper of all six coordinates of a base, in place of the drives of its links
     * (hand_base_matrix.c); 6 x 6, row-major, symmetric */
    struct base_matrix_drive {
        int is_base_drive_set;
        double axes[9]; /* attitude of the frame of stiffness and damping where the rotation vector
                           of the target is 0; it turns with the target */
        double stiffness[36], damping[36];
        double unlimited_base_force_at_zero_rate[6]; /* force and torque at rate 0 in this tick,
                                                        without limits */
        double base_force_decrease_per_rate[36];     /* decrease of these per rate of the tick */
        /* force at rate 0 and gain where the drive of forces or that of torques is at its limit, of
         * the other one; and h times that gain */
        double force_with_limited_drives[6], acting_gain[36], impulse_gain[36];
    } base_matrix_drive;
    int coordinate_chain_count; /* number of chains: unbranched sequences of at most
                                 * TACT_UNKNOWNS_PER_NODE links
                                 */
    double *w; /* factored joint rates w = L v in the tick that is being solved, by slot; 0 in slots
                  without a joint */
    double **rows; /* scratch: the row of each coordinate in a contact's Jacobian J */
};

/* Joint-space inertia M with the armatures, n x n (composite rigid bodies; Featherstone 2008,
 * chapter 6). */
void tact_hand_mass_matrix(struct tact_hand *hand, double *m);

/* Torques that keep the present rates constant under gravity (recursive Newton-Euler; Featherstone
 * 2008, chapter 5). */
void tact_hand_compute_bias_torques(struct tact_hand *hand, const double gravity[3],
                                    double *bias_torques);

/* Bias torques, as tact_hand_compute_bias_torques(), at given joint rates; the links keep the
 * present ones.
 */
void tact_hand_compute_bias_torques_at_rates(struct tact_hand *hand, const double *rates,
                                             const double gravity[3], double *bias_torques);

/* Twist of a point of a link and its rate of change, as tact_hand_link_twist() and
 * tact_hand_link_rate(). */
void tact_hand_link_twist_and_rate(const struct tact_hand *hand, int link, const double point[3],
                                   double twist[6], double rate[6]);

/* For a moving base (hand_base.c): poses and motions of its links from its coordinates;
 * base_target_error, to its target; and the drift, h times its rates added to its coordinates. */
void tact_hand_base_update_links(struct tact_hand *hand);
void tact_hand_base_update_target_error(struct tact_hand *hand);
/* Rotation vector from the base to its target, world axes. */
void tact_hand_base_find_rotation_to_target(const struct tact_hand *hand, double error[3]);
void tact_hand_base_advance_coordinates(struct tact_hand *hand, double h);

/* For a base whose axes differ (hand_base_axes.c): the springs of the tick; of coordinate i, force
 * or torque of the drive at rate 0, and what the rates of the tick take from it; sets the implicit
 * gains of the tick, and adds those off the diagonal to the matrix that is to be factored. */
void tact_hand_base_update_axis_springs(struct tact_hand *hand);
double tact_hand_base_torque_at_zero_rate(const struct tact_hand *hand, int i);
double tact_hand_base_torque_of_rates(const struct tact_hand *hand, int i, double h);
/* 1 where the drive of coordinate i is at its limit, along whatever axis. */
int tact_hand_is_base_drive_limited(const struct tact_hand *hand, int i);
void tact_hand_base_set_gains(struct tact_hand *hand, double h);
void tact_hand_base_add_drives(struct tact_hand *hand);
/* Sets base_axes_moment, after the base has moved by a tick of length h. */
void tact_hand_base_store_axes_moment(struct tact_hand *hand, double h);
/* Moment on the frame of the axes, which do not turn: torque at the target less that on the base,
 * after the last tick; NULL where the stiffness is equal about all axes. */
const double *tact_hand_base_axes_moment(const struct tact_hand *hand);

/* For the matrices of a base: their values at the error of this tick of length h; those that act
 * where a drive is at its limit; and, as above, what they demand of coordinate i, by the law that
 * acts on it or, at its limit, by the unlimited one. */
void tact_hand_base_update_matrices(struct tact_hand *hand, double h);
void tact_hand_base_set_acting_gains(struct tact_hand *hand, double h);
double tact_hand_base_matrix_torque_at_zero_rate(const struct tact_hand *hand, int i);
double tact_hand_base_matrix_torque_of_rates(const struct tact_hand *hand, int i);

/* Matrices of the base that coordinate i is of, or NULL. */
static inline const struct base_matrix_drive *
tact_hand_matrices_of_coordinate(const struct tact_hand *hand, int i)
{
    return hand->base_matrix_drive.is_base_drive_set && i < TACT_HAND_BASE
               ? &hand->base_matrix_drive
               : NULL;
}

/* Drive of the coordinate of a base whose axes differ, or NULL. */
static inline const struct base_axis_drives *
tact_hand_axes_of_coordinate(const struct tact_hand *hand, int i)
{
    const int part = hand->has_moving_base && i < TACT_HAND_BASE ? i / 3 : -1;
    return part >= 0 && hand->base_axis_drives[part].is_base_drive_set
               ? &hand->base_axis_drives[part]
               : NULL;
}

/* First joint of the drive that joint i belongs to, and the number of its joints: 3 for the force
 * or torque of a base, else 1. */
int tact_hand_joints_of_drive(const struct tact_hand *hand, int i, int *count);

/* Divides the coordinates into chains, once their tree is known. */
void tact_hand_divide_into_chains(struct tact_hand *hand);

static inline int tact_hand_is_independent_joint(const struct tact_hand *hand, int joint)
{
    return hand->links[joint].coordinate == joint;
}

/* Checks the mimic joints and tendons of a hand (hand_tied.c). 0 or -EINVAL. */
int tact_hand_check_mimics_and_tendons(const struct tact_link_def *links, int count);

/* 1 where a hand has mimic joints or drives on tendons. */
int tact_hand_has_mimics_or_tendons(const struct tact_link_def *links, int count);

/* Sets the coordinates of a hand, their tree, and the range and friction that they take over from
 * joints tied to them. -EINVAL where the ranges of tied joints have no common value; -ENOMEM. */
int tact_hand_set_up_coordinates(struct tact_hand *hand);

/* Computes the mass matrix of the coordinates, `coordinate_mass_matrix`, from that of the joints,
 * `mass`.
 */
void tact_hand_compute_coordinate_mass(struct tact_hand *hand);

/* Adds the drives on tendons to the matrix that is to be factored. */
void tact_hand_add_tendon_drives(struct tact_hand *hand);

/* Replaces joint torques or impulses x by those of the coordinates, T^T x. */
void tact_hand_project_to_coordinates(const struct tact_hand *hand, double *x);

/* Replaces coordinate rates x by those of the joints, T x. */
void tact_hand_expand_to_joints(const struct tact_hand *hand, double *x);

/* Sets the values of mimic joints by their laws from the joints that they follow. */
void tact_hand_apply_mimic_laws(struct tact_hand *hand);

/* Length (or rate) of what the drive of joint i acts on, its joint or a tendon, from the values (or
 * rates) of the joints. */
double tact_hand_drive_value_or_rate(const struct tact_hand *hand, int i, const double *joints);

/* Factors the part of the matrix of the coordinates that are not locked. 0, or -EDOM where it is
 * not positive definite. */
int tact_hand_factor_unlocked(struct tact_hand *hand);

/* Momentum of rates x of the coordinates, the product of `matrix` and x. */
void tact_hand_momentum_of_coordinate_rates(const struct tact_hand *hand, const double *x,
                                            double *product);

/* L^-T x, L^-1 x and, for six columns stored side by side, L^-T x of a factor; rows: as below. */
void tact_coordinate_tree_apply_inverse_transpose(const struct coordinate_tree_factor *f, int n,
                                                  double *x);
void tact_coordinate_tree_apply_inverse(const struct coordinate_tree_factor *f, int n, double *x);
void tact_coordinate_tree_inverse_transpose_rows(const struct coordinate_tree_factor *f, int n,
                                                 double *const *rows);

/* Factors the matrix of the coordinates plus a diagonal. -EDOM where it is not positive definite.
 */
int tact_hand_factor_mass_matrix(struct tact_hand *hand, const double *diagonal);

/* Products of the inverse factor of a hand: L^-T x turns joint-space impulses into changes of w,
 * and L^-1 x turns w into joint rates. */
void tact_hand_apply_inverse_transpose(const struct tact_hand *hand, double *x);
void tact_hand_apply_inverse_factor(const struct tact_hand *hand, double *x);
/* x = L^-T of the unit vector of a joint, which has entries of that joint and those above it. */
void tact_hand_inverse_transpose_column(const struct tact_hand *hand, int joint, double *x);

/* L^-1 of four vectors, stored side by side: x is n x 4, row-major. */
void tact_hand_apply_inverse_factor_to_four(const struct tact_hand *hand, double *x);

/* L^-T x for six columns stored side by side: rows[i] are the six numbers of coordinate i, or NULL
 * where they are 0. Where a coordinate has a row, so have those above it. */
void tact_hand_apply_inverse_transpose_to_rows(const struct tact_hand *hand, double *const *rows);

/* Replaces joint rates in w, by slot, by L times these. */
void tact_hand_multiply_rates_by_factor(struct tact_hand *hand, double *w);

/* Sets w to the present joint rates, by slot, which it holds until the matrix of the tick is
 * factored. */
void tact_hand_copy_rates_by_slot(struct tact_hand *hand);

/* Computes the joint rates from the factored rates w. */
void tact_hand_compute_joint_rates(struct tact_hand *hand);

#endif
