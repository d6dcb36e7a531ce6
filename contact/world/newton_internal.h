/*
 * Newton's method on the sweeps. A sweep is a map x -> g(x) of all impulses, smooth but where
 * limits begin or cease to act; x = g(x) is near x + d with (1 - g'(x)) d = g(x) - x. That system
 * is solved by GMRES (Saad and Schultz 1986) over sweeps of the linearised contacts, which take a
 * fraction of a sweep; where contacts share a load in more than one way, any of them will do. An
 * island of free bodies is solved by elimination instead (direct_internal.h), which gets through
 * stacks of any height, where GMRES knows no more than as many levels as it has products.
 */
#ifndef TACT_CONTACT_NEWTON_INTERNAL_H
#define TACT_CONTACT_NEWTON_INTERNAL_H

#define NEWTON_PRODUCTS 48 /* most linearised sweeps in a step */

struct block;
struct island;
struct tact_world;

struct newton {
    double *numbers;
    double *impulse_by_b;     /* 36 a block: how its impulse answers its b */
    double *impulse_by_force; /* 6 a block: how it answers its normal force */
    double *impulse_by_velocity,
        *impulse_offset;          /* 36 and 6 a block: how it answers its bodies' velocities */
    double *sweep_in, *sweep_out; /* of a linearised sweep */
    double *basis[NEWTON_PRODUCTS + 1];                    /* orthonormal directions, scaled */
    double h[NEWTON_PRODUCTS][NEWTON_PRODUCTS];            /* by column: triangular, once rotated */
    double cosine[NEWTON_PRODUCTS], sine[NEWTON_PRODUCTS]; /* of the rotations */
    double residual[NEWTON_PRODUCTS + 1]; /* right side, rotated: the last entry is left over */
};

/* Room for that many blocks. -ENOMEM. */
int tact_newton_create(struct newton *newton, int blocks);
void tact_newton_destroy(struct newton *newton);

/* Whether a contact answers every change by stopping it: one without friction never does. */
int tact_newton_sticks(const struct tact_world *world, const struct block *block);

/* 1 where an island's Newton steps are by elimination, unless too much is filled in. */
int tact_newton_eliminates(const struct tact_world *world, const struct island *island);

/* x went into the last sweep of an island's contacts and g came out; scale makes the unknowns
 * comparable. Writes the next x, for which `share` of |g - x| may be left over. The velocities of
 * bodies and hands are lost. For contacts by the wrench cone, without joints. Returns how many
 * linearised sweeps that took; eliminated: 1 where it was an elimination instead. */
int tact_newton_step(struct tact_world *world, const struct island *island, const double *x,
                     const double *g, const double *scale, double share, double *next,
                     int *eliminated);

/* The same by elimination, exactly, once slopes and presses are known and while velocities are
 * those of g. Returns 0 where the island is none for that: it has hands, or too much is filled in.
 */
int tact_newton_eliminate(struct tact_world *world, const struct island *island, const double *x,
                          const double *g, double *next);

#endif
