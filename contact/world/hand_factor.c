/*
 * Factorisation of the matrix of a tree of coordinates, M + h D + h^2 K = L^T L with L lower
 * triangular. Row i of L has non-zero entries only for coordinate i and those above it, of the
 * joints between link i and the base (Featherstone 2008, section 6.5): there is no fill-in. In
 * coordinates w = L v the matrix is the identity, and an impulse on a link changes only those above
 * it. Where joints are tied, the tree is that of hand_tied.c; a joint that is no coordinate has a
 * row of the identity.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/world/hand_internal.h"
#include "contact/world/rows_internal.h"

static int find_parent_coordinate(const struct tact_hand *hand, int coordinate)
{
    return hand->up[coordinate];
}

/* Subtracts the outer product of row k of L, once scaled, from the rows of its ancestors. */
static void eliminate_coordinate_from_ancestors(const struct coordinate_tree_factor *f, int n,
                                                int k)
{
    const double *row = f->entry + k * n;
    for (int i = f->up[k]; i >= 0; i = f->up[i]) {
        double *factor_row_of_ancestor = f->entry + i * n;
        for (int j = i; j >= 0; j = f->up[j]) {
            factor_row_of_ancestor[j] -= row[i] * row[j];
        }
    }
}

/* Replaces the entries of a matrix by those of its factor. -EDOM where it is not positive definite.
 */
static int factor_matrix_of_tree(const struct coordinate_tree_factor *f, int n)
{
    for (int m = f->count - 1; m >= 0; m--) {
        const int k = f->list[m];
        double *row = f->entry + k * n;
        if (!(row[k] > 0.0 && isfinite(row[k]))) {
            return -EDOM;
        }
        f->inverse[k] = 1.0 / sqrt(row[k]);
        for (int j = k; j >= 0; j = f->up[j]) {
            row[j] *= f->inverse[k];
        }
        eliminate_coordinate_from_ancestors(f, n, k);
    }
    return 0;
}

int tact_hand_factor_mass_matrix(struct tact_hand *hand, const double *diagonal)
{
    const int n = hand->count;
    for (int i = 0; i < n; i++) {
        for (int j = i; j >= 0; j = find_parent_coordinate(hand, j)) {
            hand->matrix[i * n + j] = hand->coordinate_mass_matrix[i * n + j];
        }
        hand->matrix[i * n + i] += diagonal[i];
    }
    tact_hand_base_add_drives(hand);
    tact_hand_add_tendon_drives(hand);
    hand->is_unlocked_factor_current = 0;
    memcpy(hand->full_matrix_factor.entry, hand->matrix,
           (size_t)n * (size_t)n * sizeof *hand->matrix);
    return factor_matrix_of_tree(&hand->full_matrix_factor, n);
}

int tact_hand_factor_unlocked(struct tact_hand *hand)
{
    const struct coordinate_tree_factor *f = &hand->unlocked_matrix_factor;
    const int n = hand->count;
    hand->unlocked_matrix_factor.count = 0;
    for (int i = 0; i < n; i++) {
        const int up = hand->up[i];
        f->up[i] = up < 0 || !hand->is_coordinate_locked[up] ? up : f->up[up];
        if (!hand->is_coordinate_locked[i]) {
            f->list[hand->unlocked_matrix_factor.count++] = i;
        }
        for (int j = i; j >= 0 && !hand->is_coordinate_locked[i]; j = f->up[j]) {
            f->entry[i * n + j] = hand->matrix[i * n + j];
        }
    }
    return factor_matrix_of_tree(f, n);
}

void tact_hand_momentum_of_coordinate_rates(const struct tact_hand *hand, const double *x,
                                            double *product)
{
    const int n = hand->count;
    for (int i = 0; i < n; i++) {
        const double *row = hand->matrix + i * n;
        double sum = row[i] * x[i];
        for (int j = find_parent_coordinate(hand, i); j >= 0; j = find_parent_coordinate(hand, j)) {
            sum += row[j] * x[j];
            product[j] += row[j] * x[i];
        }
        product[i] = sum;
    }
}

/* Applies row i of L^-T to a vector: scales entry i, and subtracts its multiples from the entries
 * of the coordinates above i in the tree. */
static void apply_transposed_factor_row(const struct coordinate_tree_factor *f, int n, int i,
                                        double *x)
{
    const double *row = f->entry + i * n;
    x[i] *= f->inverse[i];
    for (int j = f->up[i]; j >= 0; j = f->up[j]) {
        x[j] -= row[j] * x[i];
    }
}

void tact_coordinate_tree_apply_inverse_transpose(const struct coordinate_tree_factor *f, int n,
                                                  double *x)
{
    for (int m = f->count - 1; m >= 0; m--) {
        apply_transposed_factor_row(f, n, f->list[m], x);
    }
}

void tact_hand_apply_inverse_transpose(const struct tact_hand *hand, double *x)
{
    tact_coordinate_tree_apply_inverse_transpose(&hand->full_matrix_factor, hand->count, x);
}

void tact_hand_inverse_transpose_column(const struct tact_hand *hand, int joint, double *x)
{
    memset(x, 0, (size_t)hand->count * sizeof *x);
    x[joint] = 1.0;
    for (int i = joint; i >= 0; i = find_parent_coordinate(hand, i)) {
        apply_transposed_factor_row(&hand->full_matrix_factor, hand->count, i, x);
    }
}

void tact_coordinate_tree_apply_inverse(const struct coordinate_tree_factor *f, int n, double *x)
{
    for (int m = 0; m < f->count; m++) {
        const int i = f->list[m];
        const double *row = f->entry + i * n;
        for (int j = f->up[i]; j >= 0; j = f->up[j]) {
            x[i] -= row[j] * x[j];
        }
        x[i] *= f->inverse[i];
    }
}

void tact_hand_apply_inverse_factor(const struct tact_hand *hand, double *x)
{
    tact_coordinate_tree_apply_inverse(&hand->full_matrix_factor, hand->count, x);
}

void tact_hand_apply_inverse_factor_to_four(const struct tact_hand *hand, double *x)
{
    tact_row2 *pairs = (tact_row2 *)x;
    for (int i = 0; i < hand->count; i++) {
        const double *row = hand->full_matrix_factor.entry + (size_t)i * (size_t)hand->count;
        tact_row2 a = pairs[2 * i], b = pairs[2 * i + 1];
        for (int j = find_parent_coordinate(hand, i); j >= 0; j = find_parent_coordinate(hand, j)) {
            a -= row[j] * pairs[2 * j];
            b -= row[j] * pairs[2 * j + 1];
        }
        pairs[2 * i] = a * hand->full_matrix_factor.inverse[i];
        pairs[2 * i + 1] = b * hand->full_matrix_factor.inverse[i];
    }
}

void tact_hand_solve(const struct tact_hand *hand, double *x, int columns)
{
    for (int k = 0; k < columns; k++) {
        double *column = x + (size_t)k * (size_t)hand->count;
        tact_hand_project_to_coordinates(hand, column);
        tact_hand_apply_inverse_transpose(hand, column);
        tact_hand_apply_inverse_factor(hand, column);
        tact_hand_expand_to_joints(hand, column);
    }
}

void tact_coordinate_tree_inverse_transpose_rows(const struct coordinate_tree_factor *f, int n,
                                                 double *const *rows)
{
    for (int m = f->count - 1; m >= 0; m--) {
        const int i = f->list[m];
        const double *l = f->entry + i * n;
        tact_row2 *row = (tact_row2 *)rows[i];
        for (int k = 0; k < 3 && row; k++) {
            row[k] *= f->inverse[i];
        }
        for (int j = f->up[i]; j >= 0 && row; j = f->up[j]) {
            tact_row2 *other = (tact_row2 *)rows[j];
            for (int k = 0; k < 3; k++) {
                other[k] -= l[j] * row[k];
            }
        }
    }
}

void tact_hand_apply_inverse_transpose_to_rows(const struct tact_hand *hand, double *const *rows)
{
    tact_coordinate_tree_inverse_transpose_rows(&hand->full_matrix_factor, hand->count, rows);
}

void tact_hand_multiply_rates_by_factor(struct tact_hand *hand, double *w)
{
    double *independent_joint_rates = hand->scratch;
    for (int i = 0; i < hand->count; i++) {
        independent_joint_rates[i] =
            tact_hand_is_independent_joint(hand, i) ? w[hand->links[i].slot] : 0.0;
    }
    for (int i = 0; i < hand->count; i++) {
        const double *row = hand->full_matrix_factor.entry + (size_t)i * (size_t)hand->count;
        double sum = 0.0;
        for (int j = i; j >= 0; j = find_parent_coordinate(hand, j)) {
            sum += row[j] * independent_joint_rates[j];
        }
        if (tact_hand_is_independent_joint(hand, i)) {
            w[hand->links[i].slot] = sum;
        }
    }
}

void tact_hand_copy_rates_by_slot(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count; i++) {
        if (tact_hand_is_independent_joint(hand, i)) {
            hand->w[hand->links[i].slot] = hand->state.v[i];
        }
    }
}

void tact_hand_compute_joint_rates(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count; i++) {
        hand->velocity[i] =
            tact_hand_is_independent_joint(hand, i) ? hand->w[hand->links[i].slot] : 0.0;
    }
    tact_hand_apply_inverse_factor(hand, hand->velocity);
    tact_hand_expand_to_joints(hand, hand->velocity);
}

/* A coordinate continues the chain of its parent coordinate where it is the only child and the
 * chain is not full. */
void tact_hand_divide_into_chains(struct tact_hand *hand)
{
    hand->coordinate_chain_count = 0;
    for (int i = 0; i < hand->count; i++) {
        struct link *link = &hand->links[i];
        const int up = find_parent_coordinate(hand, i);
        int child_coordinate_count = 0;
        if (!tact_hand_is_independent_joint(hand, i)) {
            link->slot = -1;
            continue;
        }
        for (int j = 0; j < hand->count; j++) {
            child_coordinate_count +=
                tact_hand_is_independent_joint(hand, j) && find_parent_coordinate(hand, j) == up;
        }
        int slot_of_coordinate = up >= 0 ? hand->links[up].slot + 1 : 0;
        if (up < 0 || child_coordinate_count > 1 ||
            slot_of_coordinate % TACT_UNKNOWNS_PER_NODE == 0) {
            slot_of_coordinate = TACT_UNKNOWNS_PER_NODE * hand->coordinate_chain_count++;
        }
        link->slot = slot_of_coordinate;
        hand->coordinate_of_slot[slot_of_coordinate] = i;
    }
}
