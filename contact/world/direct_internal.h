/*
 * Elimination over the bodies of an island. Each contact answers a change of its bodies' velocities
 * by dr = a + C J dv; M dv = f + J^T dr of all contacts is then a system with six unknowns a body,
 * (M - J^T C J) dv = f + J^T a, which is sparse: a body is beside those that it touches. Bodies are
 * put in an order in which those are near (Cuthill and McKee 1969), so that what elimination fills
 * in is a narrow band. All of it is real-time safe once created.
 */
#ifndef TACT_CONTACT_DIRECT_INTERNAL_H
#define TACT_CONTACT_DIRECT_INTERNAL_H

#include <stddef.h>

#define DIRECT_WIDTH 48 /* bodies: mean width of a band that there is room for */

struct block;
struct tact_body;
struct island;
struct tact_world;

struct direct {
    size_t room;    /* 6 x 6 entries that fit */
    int *row;       /* of each body: its place in the order, or -1 */
    int *order;     /* bodies of an island */
    int *first;     /* of each row: leftmost entry */
    int *from, *to; /* of each body: its neighbours in `beside` */
    int *beside;    /* two a contact */
    size_t *start;  /* of each row: its entries in `band`, left of the diagonal, then above it */
    double *band;   /* 36 an entry: L left, U above */
    double *middle; /* 36 a row: the inverse of U's diagonal */
    double *right;  /* 6 a row: right side, then solution */
};

/* Room for the world's bodies and contacts. -ENOMEM. */
int tact_direct_create(struct tact_world *world);
void tact_direct_destroy(struct direct *direct);

/* Orders an island's bodies. Returns 1, or 0 where it has hands or is too wide. */
int tact_direct_order(struct tact_world *world, const struct island *island);

/* out += M v of a body. */
void tact_direct_momentum(const struct tact_body *body, const double *v, double *out);

/* Starts a matrix with the bodies' M, as ordered last. */
void tact_direct_begin(struct tact_world *world, const struct island *island);

/* Adds a contact's -J^T C J. */
void tact_direct_put(struct direct *d, const struct block *block, const double *c);

/* Adds a contact's J^T r to the right side. */
void tact_direct_push(struct direct *d, const struct block *block, const double *r);

/* Factors it for that many bodies; 0 where it is singular. Then the right side becomes dv. */
int tact_direct_factor(struct direct *d, int rows);
void tact_direct_substitute(struct direct *d, int rows);

/* u += J v, v six a row. */
void tact_direct_velocity(const struct direct *d, const struct block *block, const double *v,
                          double *u);

/* 6 x 6, row-major: out += sign a b; y += sign a x; b = a^-1 b, of so many columns, by elimination
 * with pivots, which returns 0 where a is singular and takes a as well. */
void tact_six_multiply(double *out, double sign, const double *a, const double *b);
void tact_six_apply(double *y, double sign, const double *a, const double *x);
int tact_six_solve(double *a, double *b, int columns);

#endif
