/*
 * Newton's method on the sweeps. A sweep is a map x -> g(x) of all impulses, smooth except
 * where active limits change. The solution of x = g(x) is near x + d with (1 - g'(x)) d = g(x) -
 * x. GMRES (Saad and Schultz 1986) solves this system with sweeps of the linearised contacts, each
 * a fraction of the cost of a sweep. Where contacts share a load in more than one way, any of the
 * solutions will do. An island of free bodies is solved by elimination instead
 * (direct_internal.h): it handles stacks of any height, whereas GMRES propagates a load by one
 * level per product.
 */
#ifndef TACT_CONTACT_NEWTON_INTERNAL_H
#define TACT_CONTACT_NEWTON_INTERNAL_H

#define NEWTON_PRODUCTS 48 /* largest number of linearised sweeps in a step */

struct block;
struct island;
struct tact_world;

struct newton {
    double *numbers;
    double *impulse_by_b;     /* 36 numbers a block: derivative of its impulse by its b */
    double *impulse_by_force; /* six numbers a block: derivative of its impulse by its previous
                                 normal force */
    double *impulse_by_velocity, *impulse_offset; /* 36 and 6 numbers a block: dr = offset +
                                                     derivative * change of its velocity */
    double *sweep_in, *sweep_out;                 /* of a linearised sweep */
    double *basis[NEWTON_PRODUCTS + 1];           /* orthonormal directions, scaled */
    double h[NEWTON_PRODUCTS]
            [NEWTON_PRODUCTS]; /* Hessenberg matrix by column, triangular after the rotations */
    double cosine[NEWTON_PRODUCTS], sine[NEWTON_PRODUCTS]; /* of the Givens rotations */
    double residual[NEWTON_PRODUCTS +
                    1]; /* right side after the rotations: its last entry is the residual */
};

/* Allocates for that many blocks. -ENOMEM. */
int tact_newton_create(struct newton *newton, int blocks);
void tact_newton_destroy(struct newton *newton);

/* 1 where a contact sticks and so cancels every change of its velocity. One without friction never
 * does. */
int tact_newton_sticks(const struct tact_world *world, const struct block *block);

/* 1 where the Newton steps of an island use elimination, unless there is too much fill-in. */
int tact_newton_eliminates(const struct tact_world *world, const struct island *island);

/* Newton's step of an island whose last sweep mapped x to g; scale makes the unknowns comparable.
 * Writes the next x; the linear system is solved to a residual of `share` of |g - x|. The
 * velocities of bodies and hands are overwritten. Only for contacts with the cone law and without
 * joints. Returns the number of linearised sweeps; *eliminated: 1 where elimination was used
 * instead. */
int tact_newton_step(struct tact_world *world, const struct island *island, const double *x,
                     const double *g, const double *scale, double share, double *next,
                     int *eliminated);

/* The same by elimination, exact, once the derivatives are known and while velocities are those of
 * g. Returns 0 where it does not apply: the island has hands, or there is too much fill-in. */
int tact_newton_eliminate(struct tact_world *world, const struct island *island, const double *x,
                          const double *g, double *next);

#endif
