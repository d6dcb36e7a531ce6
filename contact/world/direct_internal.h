/*
 * Elimination of the contacts of an island, which leaves a system for its nodes: free bodies, and
 * chains of joints of hands. Each contact responds to a change of its nodes' velocities by dr = a +
 * C J dv. With it, M dv = f + J^T dr becomes (M - J^T C J) dv = f + J^T a, with at most six
 * unknowns a node: joints whose bounds prescribe their rates are none (locked_joints.c). The matrix
 * is sparse: a node has entries with the nodes that share a contact with it and with those that
 * fill-in adds, which a good order of elimination (direct_order.c) keeps few. M of a chain is the
 * identity. All functions are real-time safe, except those that create and destroy.
 */
#ifndef TACT_CONTACT_DIRECT_INTERNAL_H
#define TACT_CONTACT_DIRECT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#define SPARSE_MATRIX_MAX_OFF_DIAGONALS                                                            \
    48 /* capacity for off-diagonal 6 x 6 entries of the sparse matrix, per node */

struct block;
struct tact_body;
struct island;
struct tact_world;

struct direct {
    /* island whose elimination order was computed last in this tick; NULL: none */
    const struct island *island;
    size_t off_diagonal_entry_capacity; /* capacity for matrix entries */
    int neighbour_words_per_node;       /* number of 64-bit words of a row of `neighbours` */
    int rows;                           /* number of nodes of the island */
    uint64_t *neighbour_bits_of_nodes;  /* bit set, for each node of an island, of its neighbours */
    int *degree; /* number of neighbours of each node; -1: it is eliminated */
    int *list;   /* nodes of an island, in the order of the world */
    int *place;  /* position of each node in the order of elimination */
    int *row;    /* position of each node of the world in the order of elimination */
    int *order;  /* nodes of an island, in the order of elimination */
    int *dof;    /* unknowns in use of each node of the world */
    /* index of each row's first entry right of the diagonal; entries are not sorted */
    size_t *start;
    int *column;   /* column of each off-diagonal matrix entry */
    double *entry; /* 72 numbers an off-diagonal entry: the 6 x 6 block of U at (row, column), then
                      that of L at (column, row) */
    double *diagonal; /* 36 numbers a matrix row: its 6 x 6 diagonal block; once factored, the
                         inverse of that */
    double *mass;     /* 36 numbers a row: M */
    double *rhs;      /* six numbers a matrix row: the right side, then the solution */
};

/* Allocates the elimination for the nodes of a world. -ENOMEM. */
int tact_sparse_matrix_create(struct tact_world *world);
void tact_sparse_matrix_destroy(struct direct *direct);

/* Orders the nodes of an island, unless it was ordered last in this tick. Returns 1, or 0 where the
 * fill-in exceeds the capacity. */
int tact_sparse_order_nodes(struct tact_world *world, const struct island *island);

/* Mass matrix of a body, 6 x 6: momentum and angular momentum about its centre of mass, per twist.
 */
void tact_body_world_mass_matrix(const struct tact_body *body, double *out);

/* Sets the matrix to the mass matrices of the nodes, in the last elimination order. */
void tact_sparse_set_mass_matrices(struct direct *d);

/* Adds -J^T C J of a contact to the matrix. is_compliance_diagonal: 1 where C has no other entries.
 */
void tact_sparse_add_contact(struct direct *d, const struct block *block, const double *c,
                             int is_compliance_diagonal);

/* Adds J^T r of a contact to the right side. */
void tact_sparse_add_contact_impulse(struct direct *d, const struct block *block, const double *r);

/* Factors the matrix; 0 where it is singular. tact_sparse_back_substitute() then replaces
 * the right side by dv. */
int tact_sparse_factor(struct direct *d);
void tact_sparse_back_substitute(struct direct *d);

/* Adds to a contact's velocity u that due to the nodes' velocities v, J v; v: six numbers a matrix
 * row. */
void tact_sparse_contact_velocity(const struct direct *d, const struct block *block,
                                  const double *v, double *u);

#endif
