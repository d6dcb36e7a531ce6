/*
 * Newton's method on the sweeps. A sweep is a map x -> g(x) of all impulses, smooth except
 * where active limits change. The solution of x = g(x) is near x + d with (1 - g'(x)) d = g(x) -
 * x. This system is solved by elimination of the contacts, then of the nodes (direct_internal.h);
 * that of two contacts by their impulses alone.
 */
#ifndef TACT_CONTACT_NEWTON_INTERNAL_H
#define TACT_CONTACT_NEWTON_INTERNAL_H

struct island;
struct tact_world;

struct newton {
    double *numbers;
    /* 36 numbers a contact block: derivative of its impulse by its b, the velocity without its own
     * impulse; impulse_derivative_by_velocity is computed from it */
    double *impulse_derivative_by_free_velocity;
    double *impulse_derivative_by_normal_force; /* six numbers a contact block: derivative of its
                                 impulse by its normal force in the sweep before */
    /* 36 and 6 numbers a contact block, of its impulse step dr = offset + derivative * change of
     * its velocity */
    double *impulse_derivative_by_velocity, *impulse_offset;
    double compliance; /* compliance of the contact rows in the present step of Newton's method,
                          relative to S */
};

/* Allocates Newton's method for a number of contact blocks. -ENOMEM. */
int tact_newton_create(struct newton *newton, int blocks);
void tact_newton_destroy(struct newton *newton);

/* Newton's step of an island whose last sweep mapped x to g, while velocities are those of g; scale
 * makes the unknowns comparable. Writes the next x. Only for contacts with the cone law and without
 * joints between bodies. Returns 0 where there is no step: the fill-in exceeds the capacity, or the
 * matrix is singular. */
int tact_newton_step(struct tact_world *world, const struct island *island, const double *x,
                     const double *g, const double *scale, double *next);

#endif
