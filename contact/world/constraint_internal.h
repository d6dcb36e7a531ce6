/* Joints between bodies: what constraint.c, constraint_assemble.c, constraint_solve.c and
 * mechanism.c share with each other and with the solver. */
#ifndef TACT_CONTACT_CONSTRAINT_INTERNAL_H
#define TACT_CONTACT_CONSTRAINT_INTERNAL_H

#include <stddef.h>
#include "contact/world/body.h"
#include "contact/world/constraint.h"
#include "contact/world/island_internal.h"

struct block;

/* A joint of a mechanism in the solve of this tick. Its rows are along and about the axes of b at
 * the joint's point on a, both at the start of the tick. */
struct world_constraint {
    struct tact_constraint constraint;
    double rows[9];
    double j[2][36], y[2][36]; /* J and Y of the joint's two bodies, as in struct
                                  block_jacobian_node; unused for a side that is fixed */
    /* which of the joint's six rows are constrained, and their number */
    int constrained_row_indices[6], count;
    int row;       /* index of the joint's first constrained row in the matrix of its mechanism */
    int mechanism; /* index of the joint's mechanism */
    int free_direction_row_of_joint; /* the joint's free row, with friction, damping or stops; -1:
                                        none */
    double *joint_impulses_per_free_row_impulse; /* impulses of the constrained rows of the
                              mechanism per unit impulse of the free row */
    double free_row_mobility; /* mobility of the free row with all joints satisfied [1/kg, 1/(kg
                                 m^2)] */
    double uncorrected_joint_error[6]; /* joint error left after this tick, where it is too large to
                                 be corrected at once */
    double joint_error_rounding_rate[2]; /* rate of a joint error that is due to rounding alone
                                            [m/s, rad/s] */
    /* lowest and highest rate of the free row that the joint's stops allow */
    double lowest_rate_within_stops, highest_rate_within_stops;
    double joint_torque_to_force_scale; /* factor by which torques of the joint are comparable with
                                           forces [1/m] */
};

/* Bodies that are connected by joints, and the rows of these joints. */
struct mechanism {
    /* joints of the mechanism: a range of `order` in struct mechanisms */
    int constraint, constraint_end;
    int row, row_end;
    double inverse_inertia; /* inverse of the inertia of the equal bodies whose matrix was factored
                               in this tick [1/(kg m^2)]; 0: it was not */
};

/* A = J M^-1 J^T of all constrained rows, factored as L D L^T for each mechanism. Each row is
 * stored from its first nonzero entry to the diagonal, which is also where its factors are nonzero.
 */
struct mechanisms {
    struct mechanism *list;
    int count, rows;
    int *order;             /* indices of the joints, sorted by mechanism */
    int *mechanism_of_body; /* index of the mechanism of each body, or -1 */
    int *first;    /* first column that is stored of each row of the mechanisms' matrices */
    size_t *start; /* where a row is stored: entry k of row i is factors[start[i] + k - first[i]] */
    double *ldl_factors; /* factors of the mechanisms' matrices: L, with a unit diagonal, below the
                            diagonal and 1/D on it */
    double
        *factors_with_equal_bodies;     /* factors of the matrices of mechanisms with equal bodies,
                                    where these matrices are needed to find which rows are redundant */
    double *work;                       /* scratch: one number for each row of a mechanism */
    double *constrained_row_velocities; /* velocity of each constrained row after the step of the
                               sweep: 0 except for curvature */
    double *free_response_storage_of_joints; /* storage of the joint_impulses_per_free_row_impulse
                                                arrays of all joints */
    double *mechanism_response_storage;      /* storage of the mechanisms' responses to contacts */
    size_t mechanism_response_capacity, mechanism_responses_used;
};

/* Compliance of joints, over their mobility, for a contact none of whose bodies is free of joints.
 * Where joints leave no motion, the contact cannot cause any, and this bounds its impulse. */
#define TACT_JOINT_COMPLIANCE_TO_MOBILITY 1e-5

/* Response of the joints of a mechanism to a contact's impulse, such that they stay satisfied. */
struct mechanism_response {
    int mechanism;    /* index of the mechanism that responds; -1: none */
    double *impulse;  /* six numbers for each constrained row of the mechanism: minus the joint
                         impulse per unit contact impulse */
    double *coupling; /* six a row: J M^-1 J_c^T */
};

/* Errors of a joint with a and b at these poses, in the axes of b: position (3) [m], rotation (3)
 * [rad]. All six are written; only those that the kind constrains are errors. */
void tact_constraint_joint_error(const struct tact_constraint *constraint,
                                 const struct tact_pose *a, const struct tact_pose *b, double e[6]);

/* Value of a joint: rotation of a about the free axis of a hinge, or displacement along that of a
 * slider. */
double tact_constraint_joint_value(const struct tact_constraint *constraint,
                                   const struct tact_pose *a, const struct tact_pose *b);

/* The free body that an owner names, NULL for a fixed owner; and the pose of an owner. */
struct tact_body *tact_constraint_body_of_owner(const struct tact_world *world,
                                                struct tact_owner owner);
const struct tact_pose *tact_constraint_pose_of_owner(const struct tact_world *world,
                                                      struct tact_owner owner);

/* The body on side 0 (a) or 1 (b) of a joint; NULL where that side is fixed. */
struct tact_body *tact_constraint_body_on_side(const struct tact_world *world,
                                               const struct world_constraint *w, int side);

/* 1 where a joint connects the two owners. */
int tact_constraint_exists_between(const struct tact_world *world, const struct tact_owner *a,
                                   const struct tact_owner *b);

/* Finds the mechanisms, sets of bodies connected by joints, and allocates their arrays, once joints
 * and pairs are known. -ENOMEM. */
int tact_mechanisms_create(struct tact_world *world);
void tact_mechanisms_destroy(struct mechanisms *m);

/* Factors the matrix of each mechanism from J and Y of its constraints. */
void tact_mechanisms_factor(struct tact_world *world);

/* Eliminates the earlier rows from a row of a matrix in `factors`, stored as `ldl_factors` is,
 * which has the factors of those rows: leaves L there, and returns the pivot. */
double tact_mechanism_eliminate_row(const struct mechanisms *m, double *matrix_row_factors,
                                    int row);

/* 1 where a constrained row is independent of the rows before it, whatever the masses. */
int tact_mechanism_is_row_independent(struct tact_world *world, int mechanism, int row);

/* Ratio of the mobility of a joint's free row with the joints to that without them, for equal
 * bodies. Overwrites `work`. */
double tact_mechanism_free_mobility_ratio(struct tact_world *world,
                                          const struct world_constraint *w);

/* Replaces x by A^-1 x for a mechanism. x: one number for each of its rows, `stride` apart. */
void tact_mechanism_solve(const struct mechanisms *m, int mechanism, double *x, int stride);

/* Computes the rows of all joints at the present poses, and factors the matrices of the mechanisms.
 */
void tact_constraints_assemble(struct tact_world *world);

/* Subtracts from a contact's S the mobility that the joints of its bodies remove, and computes the
 * response of the joints to the contact. */
void tact_constraints_reduce_mobility(struct tact_world *world, struct block *block);

/* For a contact none of whose bodies is free of joints: subtracts from its velocity u the
 * velocities that the joints have because bodies move along chords within a tick, which no contact
 * can prevent, and adds the compliance of the joints times the impulse r. */
void tact_constraints_correct_contact_velocity(const struct tact_world *world,
                                               const struct block *block, const double *r,
                                               double u[6]);

/* Applies the joint impulses that respond to a change of the contact's impulse. */
void tact_constraints_apply_response_to_contact(struct tact_world *world, const struct block *block,
                                                const double *impulse_change);

/* Adds the effect of the impulses of all joints of an island to the velocities. */
void tact_constraints_apply_impulses(struct tact_world *world, const struct island *island);

/* Solves each mechanism of an island once. Adds the squares of impulses and of their changes to the
 * island's sums. Returns the largest residual: the change of a joint's impulse over the impulse. */
double tact_constraints_solve_in_sweep(struct tact_world *world, struct island *island);

/* Copies the free-row impulse of each joint of an island to `impulses` or, with `back`, from it;
 * the mechanism then responds. */
void tact_constraints_copy_impulses(struct tact_world *world, const struct island *island,
                                    double *impulses, int back);
void tact_constraints_set_unknown_scales(const struct tact_world *world,
                                         const struct island *island, double *scale);

/* Sum of impulse times velocity over the joints of an island, at the present velocities [J]. */
double tact_constraints_impulse_work(const struct tact_world *world, const struct island *island);

/* Stores the wrenches of all joints, from their impulses. */
void tact_constraints_store_wrenches(struct tact_world *world);

/* Sets the impulses and wrenches of all joints to zero, for a tick that could not be solved. */
void tact_constraints_zero_impulses(struct tact_world *world);

#endif
