/* What the solver needs of bond.c, mechanism.c and bond_solve.c. */
#ifndef TACT_CONTACT_CONSTRAINT_INTERNAL_H
#define TACT_CONTACT_CONSTRAINT_INTERNAL_H

#include <stddef.h>
#include "contact/world/body.h"
#include "contact/world/constraint.h"
#include "contact/world/island_internal.h"

struct block;

/* A joint in this tick's solve. Its rows are along and about b's axes at a's point, both at the
 * start of the tick. */
struct world_constraint {
    struct tact_constraint constraint;
    double rows[9];
    double j[2][36], y[2][36]; /* as of struct side; of a side that is fixed: unused */
    int constrained[6], count; /* the rows that are constrained */
    int row;                   /* the first of them in its mechanism's matrix */
    int mechanism;             /* its mechanism */
    int free_row;              /* the row that has a law of its own; -1: none */
    double *free_response; /* impulses of the mechanism's rows that answer one of the loose row */
    double mobility;       /* of the loose row, all joints held [1/kg, 1/(kg m^2)] */
    double residual_error[6];         /* error that this tick leaves: too large to mend at once */
    double rounding_rate[2];          /* what rounding makes of an error's rate [m/s, rad/s] */
    double lowest_rate, highest_rate; /* rates of the loose row that its stops allow */
    double per_length;                /* makes torques comparable with forces [1/m] */
};

/* Bodies that joints connect, and the rows of those joints. */
struct mechanism {
    int constraint, constraint_end; /* in struct mechanisms' order */
    int row, row_end;
};

/* A = J M^-1 J^T of all held rows as L D L^T, by mechanism; of each row what lies between its first
 * entry and the diagonal is kept, which is where the factors' entries are. */
struct mechanisms {
    struct mechanism *list;
    int count, rows;
    int *order;      /* the bonds, by mechanism */
    int *of_body;    /* mechanism of each body, or -1 */
    int *first;      /* column of each row's first entry */
    size_t *start;   /* entry k of row i is factors[start[i] + k - first[i]] */
    double *factors; /* unit L below the diagonal, 1/D on it */
    double *work;    /* a number a row */
    double
        *row_velocities; /* velocity of each held row after the sweep's step: 0 but for curvature */
    double *free_responses; /* of the loose rows */
    double *responses;      /* room for the contacts' */
    size_t response_capacity, responses_used;
};

/* Share of what joints hold that they give way to a contact none of whose bodies is free of joints:
 * where they leave no motion, no contact can ask for any, and its impulse must not grow for it. */
#define TACT_CONSTRAINT_CFM 1e-5

/* How the joints of a mechanism answer a contact's impulse so that they hold. */
struct mechanism_response {
    int mechanism;    /* -1: none */
    double *impulse;  /* of a unit impulse: 6 a row */
    double *coupling; /* J M^-1 J_c^T: 6 a row */
};

/* How far apart the frames are with a and b at these poses, in b's axes: m (3), rad (3). All six,
 * where the kind constrains them. */
void tact_constraint_error(const struct tact_constraint *constraint, const struct tact_pose *a,
                           const struct tact_pose *b, double e[6]);

/* a's turn about or way along the free axis. */
double tact_constraint_value(const struct tact_constraint *constraint, const struct tact_pose *a,
                             const struct tact_pose *b);

/* The body that an owner names, or NULL where it is fixed. */
struct tact_body *tact_constraint_body(const struct tact_world *world, struct tact_owner owner);
const struct tact_pose *tact_constraint_pose(const struct tact_world *world,
                                             struct tact_owner owner);

/* The body on a joint's side 0, a, or 1, b; NULL where that is fixed. */
struct tact_body *tact_constraint_side(const struct tact_world *world,
                                       const struct world_constraint *w, int side);

/* 1 where a joint holds these two together. */
int tact_constraints_join(const struct tact_world *world, const struct tact_owner *a,
                          const struct tact_owner *b);

/* Finds the mechanisms and makes room, once bonds and pairs are known. -ENOMEM. */
int tact_mechanisms_create(struct tact_world *world);
void tact_mechanisms_destroy(struct mechanisms *m);

/* Factors the matrix of each mechanism from the bonds' J and Y. */
void tact_mechanisms_factor(struct tact_world *world);

/* Solves for the rows of a mechanism; x: a number a row of it, `stride` apart. */
void tact_mechanism_solve(const struct mechanisms *m, int mechanism, double *x, int stride);

/* The blocks of all joints at the present poses. */
void tact_constraints_assemble(struct tact_world *world);

/* Takes from a contact's S what the joints of its bodies hold, and finds how they answer it. */
void tact_constraints_eliminate(struct tact_world *world, struct block *block);

/* Where none of a contact's bodies is free of joints, takes from its velocity u what they let by (a
 * tick's velocities lead along chords, and no contact can straighten those), and adds how they give
 * way to its impulse r. */
void tact_constraints_correct_velocity(const struct tact_world *world, const struct block *block,
                                       const double *r, double u[6]);

/* Lets the joints answer a change of the contact's impulse. */
void tact_constraints_respond(struct tact_world *world, const struct block *block,
                              const double *delta);

/* Adds the impulses of all joints of an island to the velocities. */
void tact_constraints_apply(struct tact_world *world, const struct island *island);

/* Solves each mechanism of an island once; adds squares of impulses and of their changes to the
 * island's, and returns the largest residual met: the change of a joint's impulse over the impulse.
 */
double tact_constraints_sweep(struct tact_world *world, struct island *island);

/* The loose impulse of each joint out, or back in, whereupon the mechanism answers. */
void tact_constraints_copy(struct tact_world *world, const struct island *island, double *impulses,
                           int back);
void tact_constraints_scale(const struct tact_world *world, const struct island *island,
                            double *scale);

/* Sum over the joints of impulse times velocity at the present velocities [J]. */
double tact_constraints_work(const struct tact_world *world, const struct island *island);

/* Wrenches from the impulses. */
void tact_constraints_store(struct tact_world *world);

/* No impulses: a tick that could not be solved. */
void tact_constraints_clear(struct tact_world *world);

#endif
