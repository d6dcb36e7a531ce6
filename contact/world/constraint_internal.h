/* Joints between bodies: what constraint.c, constraint_assemble.c, constraint_solve.c and
 * mechanism.c share with each other and with the solver. */
#ifndef TACT_CONTACT_CONSTRAINT_INTERNAL_H
#define TACT_CONTACT_CONSTRAINT_INTERNAL_H

#include <stddef.h>
#include "contact/world/body.h"
#include "contact/world/constraint.h"
#include "contact/world/island_internal.h"

struct block;

/* A joint in the solve of this tick. Its rows are along and about the axes of b at the point of a,
 * both at the start of the tick. */
struct world_constraint {
    struct tact_constraint constraint;
    double rows[9];
    double j[2][36], y[2][36];     /* as in struct block_node; unused for a side that is fixed */
    int constrained_row[6], count; /* indices and number of the constrained rows */
    int row;               /* index of its first constrained row in the matrix of its mechanism */
    int mechanism;         /* index of its mechanism */
    int free_row;          /* row with friction, damping or stops; -1: none */
    double *free_response; /* impulses of the constrained rows of the mechanism per unit impulse of
                              the free row */
    double mobility; /* mobility of the free row with all joints satisfied [1/kg, 1/(kg m^2)] */
    double residual_error[6]; /* error that remains after this tick: one that is too large to be
                                 corrected at once */
    double rounding_rate[2];  /* rate of an error that is due to rounding alone [m/s, rad/s] */
    double lowest_rate, highest_rate; /* rates of the free row that the stops allow */
    double per_length; /* scale factor that makes torques comparable with forces [1/m] */
};

/* Bodies that are connected by joints, and the rows of these joints. */
struct mechanism {
    int constraint, constraint_end; /* constraints of the mechanism: range of the `order` in struct
                                       mechanisms */
    int row, row_end;
};

/* A = J M^-1 J^T of all constrained rows, factored as L D L^T for each mechanism. Each row is
 * stored from its first nonzero entry to the diagonal, which is also where its factors are nonzero.
 */
struct mechanisms {
    struct mechanism *list;
    int count, rows;
    int *order;               /* constraints, sorted by mechanism */
    int *mechanism_of_body;   /* index of the mechanism of each body, or -1 */
    int *first;               /* column of the first entry of each row */
    size_t *start;            /* entry k of row i is factors[start[i] + k - first[i]] */
    double *ldl_factors;      /* unit L below the diagonal, 1/D on it */
    double *work;             /* one number for each row of a mechanism */
    double *row_velocities;   /* velocity of each constrained row after the step of the sweep: 0
                                 except for curvature */
    double *free_responses;   /* storage for the free_response of all joints */
    double *response_storage; /* storage for the responses to contacts */
    size_t response_capacity, responses_used;
};

/* Compliance of joints, over their mobility, for a contact none of whose bodies is free of joints.
 * Where joints leave no motion, the contact cannot cause any, and this bounds its impulse. */
#define TACT_CONSTRAINT_CFM 1e-5

/* Response of the joints of a mechanism to a contact's impulse, such that they stay satisfied. */
struct mechanism_response {
    int mechanism;    /* index of the mechanism; -1: none */
    double *impulse;  /* six a row: minus the joint impulse per unit contact impulse */
    double *coupling; /* six a row: J M^-1 J_c^T */
};

/* Errors of a joint with a and b at these poses, in the axes of b: position (3) [m], rotation (3)
 * [rad]. All six are written; only those that the kind constrains are errors. */
void tact_constraint_error(const struct tact_constraint *constraint, const struct tact_pose *a,
                           const struct tact_pose *b, double e[6]);

/* Rotation of a about the free axis, or its displacement along it. */
double tact_constraint_value(const struct tact_constraint *constraint, const struct tact_pose *a,
                             const struct tact_pose *b);

/* The body of an owner, or NULL for a fixed one; and its pose. */
struct tact_body *tact_constraint_body(const struct tact_world *world, struct tact_owner owner);
const struct tact_pose *tact_constraint_pose(const struct tact_world *world,
                                             struct tact_owner owner);

/* The body on side 0 (a) or 1 (b) of a joint; NULL where that side is fixed. */
struct tact_body *tact_constraint_side(const struct tact_world *world,
                                       const struct world_constraint *w, int side);

/* 1 where a joint connects the two owners. */
int tact_constraint_exists_between(const struct tact_world *world, const struct tact_owner *a,
                                   const struct tact_owner *b);

/* Finds the mechanisms and allocates, once constraints and pairs are known. -ENOMEM. */
int tact_mechanisms_create(struct tact_world *world);
void tact_mechanisms_destroy(struct mechanisms *m);

/* Factors the matrix of each mechanism from J and Y of its constraints. */
void tact_mechanisms_factor(struct tact_world *world);

/* Replaces x by A^-1 x for a mechanism. x: one number for each of its rows, `stride` apart. */
void tact_mechanism_solve(const struct mechanisms *m, int mechanism, double *x, int stride);

/* Computes the rows of all joints at the present poses, and factors. */
void tact_constraints_assemble(struct tact_world *world);

/* Subtracts from a contact's S the mobility that the joints of its bodies remove, and computes the
 * response of the joints to the contact. */
void tact_constraints_reduce_mobility(struct tact_world *world, struct block *block);

/* For a contact none of whose bodies is free of joints: subtracts from its velocity u the
 * velocities that the joints have because bodies move along chords within a tick, which no contact
 * can prevent, and adds the compliance of the joints times the impulse r. */
void tact_constraints_correct_velocity(const struct tact_world *world, const struct block *block,
                                       const double *r, double u[6]);

/* Applies the joint impulses that respond to a change of the contact's impulse. */
void tact_constraints_apply_response(struct tact_world *world, const struct block *block,
                                     const double *impulse_change);

/* Adds the impulses of all joints of an island to the velocities. */
void tact_constraints_apply_impulses(struct tact_world *world, const struct island *island);

/* Solves each mechanism of an island once. Adds the squares of impulses and of their changes to the
 * island's sums. Returns the largest residual: the change of a joint's impulse over the impulse. */
double tact_constraints_solve_once(struct tact_world *world, struct island *island);

/* Copies the free-row impulse of each joint of an island to `impulses` or, with `back`, from it;
 * the mechanism then responds. */
void tact_constraints_copy_impulses(struct tact_world *world, const struct island *island,
                                    double *impulses, int back);
void tact_constraints_unknown_scales(const struct tact_world *world, const struct island *island,
                                     double *scale);

/* Sum of impulse times velocity over the joints of an island, at the present velocities [J]. */
double tact_constraints_impulse_work(const struct tact_world *world, const struct island *island);

/* Computes the wrenches from the impulses. */
void tact_constraints_store_wrenches(struct tact_world *world);

/* Sets all impulses and wrenches to zero, for a tick that could not be solved. */
void tact_constraints_zero_impulses(struct tact_world *world);

#endif
