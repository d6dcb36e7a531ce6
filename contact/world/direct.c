#include "contact/world/direct_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/world/hand_internal.h"
#include "contact/world/rows_internal.h"
#include "contact/world/six_internal.h"
#include "contact/world/world_internal.h"

/* Number of unknowns in use of each node: six of a body; of a chain as many as it has coordinates.
 */
static void set_unknown_counts_of_nodes(struct tact_world *world)
{
    struct direct *d = &world->direct;
    for (int i = 0; i < world->body_count; i++) {
        d->dof[i] = TACT_UNKNOWNS_PER_NODE;
    }
    for (int i = 0; i < world->hand_count; i++) {
        const struct tact_hand *hand = world->hands[i].hand;
        for (int k = 0; k < hand->count; k++) {
            if (tact_hand_is_independent_joint(hand, k)) {
                d->dof[world->hands[i].node + hand->links[k].slot / TACT_UNKNOWNS_PER_NODE]++;
            }
        }
    }
}

int tact_sparse_matrix_create(struct tact_world *world)
{
    struct direct *d = &world->direct;
    size_t nodes = (size_t)world->node_count, neighbour_words_per_node = (nodes + 63) / 64;
    d->off_diagonal_entry_capacity =
        nodes * (nodes < SPARSE_MATRIX_MAX_OFF_DIAGONALS ? nodes : SPARSE_MATRIX_MAX_OFF_DIAGONALS);
    d->neighbour_bits_of_nodes =
        calloc(nodes * neighbour_words_per_node + 1, sizeof *d->neighbour_bits_of_nodes);
    d->degree = calloc(nodes + 1, sizeof *d->degree);
    d->list = calloc(nodes + 1, sizeof *d->list);
    d->place = calloc(nodes + 1, sizeof *d->place);
    d->row = calloc(nodes + 1, sizeof *d->row);
    d->order = calloc(nodes + 1, sizeof *d->order);
    d->dof = calloc(nodes + 1, sizeof *d->dof);
    d->start = calloc(nodes + 1, sizeof *d->start);
    d->column = calloc(d->off_diagonal_entry_capacity + 1, sizeof *d->column);
    d->entry = calloc(72 * d->off_diagonal_entry_capacity + 1, sizeof *d->entry);
    d->diagonal = calloc(36 * nodes + 1, sizeof *d->diagonal);
    d->mass = calloc(36 * nodes + 1, sizeof *d->mass);
    d->rhs = calloc(6 * nodes + 1, sizeof *d->rhs);
    if (!d->neighbour_bits_of_nodes || !d->degree || !d->list || !d->place || !d->row ||
        !d->order || !d->dof || !d->start || !d->column || !d->entry || !d->diagonal || !d->mass ||
        !d->rhs) {
        return -ENOMEM;
    }
    set_unknown_counts_of_nodes(world);
    return 0;
}

void tact_sparse_matrix_destroy(struct direct *d)
{
    void *all[] = {d->neighbour_bits_of_nodes,
                   d->degree,
                   d->list,
                   d->place,
                   d->row,
                   d->order,
                   d->dof,
                   d->start,
                   d->column,
                   d->entry,
                   d->diagonal,
                   d->mass,
                   d->rhs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

void tact_body_world_mass_matrix(const struct tact_body *body, double *out)
{
    double r[9], ri[9], inertia[9];
    tact_quat_to_m3(r, body->pose.quat_wxyz);
    tact_m3_mul(ri, r, body->inertia);
    tact_m3_mul_t(inertia, ri, r);
    memset(out, 0, 36 * sizeof *out);
    for (int i = 0; i < 3; i++) {
        out[7 * i] = body->mass;
        memcpy(out + 6 * (3 + i) + 3, inertia + 3 * i, 3 * sizeof *out);
    }
}

void tact_sparse_set_mass_matrices(struct direct *d)
{
    memset(d->entry, 0, 72 * d->start[d->rows] * sizeof *d->entry);
    memcpy(d->diagonal, d->mass, 36 * (size_t)d->rows * sizeof *d->diagonal);
}

/* The 6 x 6 matrix entry of nodes i and j, which must be neighbours: of U where i < j, else of L.
 */
static double *find_matrix_entry_between_nodes(const struct direct *d, int i, int j)
{
    int row = i < j ? i : j, column = i < j ? j : i;
    size_t k = d->start[row];
    while (d->column[k] != column) {
        k++;
    }
    return d->entry + 72 * k + (i < j ? 0 : 36);
}

void tact_sparse_add_contact_impulse(struct direct *d, const struct block *block, const double *r)
{
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        if (node->newton_step_unknown_count) {
            tact_rows_apply_impulse(d->rhs + 6 * d->row[node->node], node->newton_step_jacobian, r,
                                    node->newton_step_unknown_count);
        }
    }
}

void tact_sparse_contact_velocity(const struct direct *d, const struct block *block,
                                  const double *v, double *u)
{
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        if (node->newton_step_unknown_count) {
            tact_rows_add_velocity(u, node->newton_step_jacobian, v + 6 * d->row[node->node],
                                   node->newton_step_unknown_count);
        }
    }
}

void tact_sparse_add_contact(struct direct *d, const struct block *block, const double *c,
                             int is_compliance_diagonal)
{
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *of = &block->nodes[k];
        double transposed_contact_jacobian[36], cj[36] = {0.0};
        if (!of->newton_step_unknown_count) {
            continue;
        }
        const int column = d->row[of->node];
        tact_6x6_transpose(transposed_contact_jacobian, of->newton_step_jacobian);
        if (is_compliance_diagonal) {
            for (int i = 0; i < 6; i++) {
                tact_axpy(cj + 6 * i, -c[7 * i], transposed_contact_jacobian + 6 * i, 6);
            }
        } else {
            tact_6x6_add_product(cj, -1.0, c, transposed_contact_jacobian);
        }
        for (int i = 0; i < block->node_count; i++) {
            const struct block_jacobian_node *node = &block->nodes[i];
            if (node->newton_step_unknown_count) {
                const int row = d->row[node->node];
                double *out = i == k ? d->diagonal + 36 * (size_t)row
                                     : find_matrix_entry_between_nodes(d, row, column);
                tact_6x6_add_product_of_leading_block(out, 1.0, node->newton_step_jacobian, cj,
                                                      node->newton_step_unknown_count, 6);
            }
        }
    }
}

/* Eliminates row k: subtracts L_ik U_kj for all pairs of its entries. */
static void subtract_outer_product_of_row(struct direct *d, int k)
{
    const int inner = d->dof[d->order[k]];
    for (size_t e = d->start[k]; e < d->start[k + 1]; e++) {
        const double *lower = d->entry + 72 * e + 36;
        int i = d->column[e], rows = d->dof[d->order[i]];
        for (size_t f = d->start[k]; f < d->start[k + 1]; f++) {
            int j = d->column[f];
            double *out =
                i == j ? d->diagonal + 36 * (size_t)i : find_matrix_entry_between_nodes(d, i, j);
            tact_6x6_add_product_of_leading_block(out, -1.0, lower, d->entry + 72 * f, rows, inner);
        }
    }
}

int tact_sparse_factor(struct direct *d)
{
    for (int k = 0; k < d->rows; k++) {
        double *diagonal = d->diagonal + 36 * (size_t)k, inverse[36];
        const int dof = d->dof[d->order[k]];
        if (!tact_6x6_invert_leading_block(diagonal, dof, inverse)) {
            return 0;
        }
        memcpy(diagonal, inverse, sizeof inverse);
        for (size_t e = d->start[k]; e < d->start[k + 1]; e++) {
            double *lower = d->entry + 72 * e + 36, scaled[36] = {0.0};
            tact_6x6_add_product_of_leading_block(scaled, 1.0, lower, diagonal,
                                                  d->dof[d->order[d->column[e]]], dof);
            memcpy(lower, scaled, sizeof scaled);
        }
        subtract_outer_product_of_row(d, k);
    }
    return 1;
}

void tact_sparse_back_substitute(struct direct *d)
{
    double *x = d->rhs;
    for (int k = 0; k < d->rows; k++) {
        for (size_t e = d->start[k]; e < d->start[k + 1]; e++) {
            tact_6x6_add_matrix_vector(x + 6 * d->column[e], -1.0, d->entry + 72 * e + 36,
                                       x + 6 * k);
        }
    }
    for (int k = d->rows - 1; k >= 0; k--) {
        double y[6] = {0.0};
        for (size_t e = d->start[k]; e < d->start[k + 1]; e++) {
            tact_6x6_add_matrix_vector(x + 6 * k, -1.0, d->entry + 72 * e, x + 6 * d->column[e]);
        }
        tact_6x6_add_matrix_vector(y, 1.0, d->diagonal + 36 * (size_t)k, x + 6 * k);
        memcpy(x + 6 * k, y, sizeof y);
    }
}
