/*
 * Elimination over the bodies of an island. Each contact answers a change of its bodies' velocities
 * by dr = a + C J dv; M dv = f + J^T dr of all contacts is then a system with six unknowns a body,
 * (M - J^T C J) dv = f + J^T a, which is sparse: a body has entries with those that it touches, and
 * with those that elimination in a good order (direct_order.c) fills in. All of it is real-time
 * safe once created.
 */
#ifndef TACT_CONTACT_DIRECT_INTERNAL_H
#define TACT_CONTACT_DIRECT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#define DIRECT_WIDTH 48 /* entries beside the diagonal, a body, that there is room for */

struct block;
struct tact_body;
struct island;
struct tact_world;

struct direct {
    const struct island *island; /* whose order it is; NULL: of none in this tick */
    size_t room;                 /* entries that fit */
    int words;                   /* of a row of `beside` */
    uint64_t *neighbours;        /* bits: the neighbours of each body of an island */
    int *degree;                 /* how many; -1: eliminated */
    int *place;                  /* of each body of an island, in the order */
    int *row;                    /* of each body of the world: its place in the order */
    int *order;                  /* bodies of an island */
    size_t *start;               /* of each row: its entries right of the diagonal, in any order */
    int *column;                 /* of each entry */
    double *entry;               /* 72 each: U at (row, column), then L at (column, row) */
    double *diagonal;            /* 36 a row: the inverse of U's diagonal */
    double *mass;                /* 36 a row: M */
    double *rhs;                 /* 6 a row: right side, then solution */
};

/* Room for the world's bodies. -ENOMEM. */
int tact_direct_create(struct tact_world *world);
void tact_direct_destroy(struct direct *direct);

/* The body that a side of a block moves, or -1. */
int tact_direct_body(const struct block *block, int side);

/* Orders an island's bodies, unless they were ordered last in this tick. Returns 1, or 0 where it
 * has hands, or too much is filled in. */
int tact_direct_order(struct tact_world *world, const struct island *island);

/* M of a body, 6 x 6: momentum and angular momentum about its centre of mass, per twist. */
void tact_direct_mass(const struct tact_body *body, double *out);

/* Starts a matrix with the bodies' M, as ordered last. */
void tact_direct_begin(struct tact_world *world, const struct island *island);

/* Adds a contact's -J^T C J. */
void tact_direct_add_block(struct direct *d, const struct block *block, const double *c);

/* Adds a contact's J^T r to the right side. */
void tact_direct_add_rhs(struct direct *d, const struct block *block, const double *r);

/* Factors it for that many bodies; 0 where it is singular. Then the right side becomes dv. */
int tact_direct_factor(struct direct *d, int rows);
void tact_direct_substitute(struct direct *d, int rows);

/* u += J v, v six a row. */
void tact_direct_velocity(const struct direct *d, const struct block *block, const double *v,
                          double *u);

#endif
