/*
 * Factorisation of the matrix of a tree of joints, M + h D + h^2 K = L^T L with L lower triangular.
 * Row i of L has non-zero entries only for joint i and its ancestors, the joints between link i and
 * the base (Featherstone 2008, section 6.5): there is no fill-in. In coordinates w = L v the matrix
 * is the identity, and an impulse on a link changes only the coordinates of its ancestors.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/world/hand_internal.h"
#include "contact/world/rows_internal.h"

static int parent_joint(const struct tact_hand *hand, int joint)
{
    return hand->links[joint].def.parent;
}

/* Subtracts the outer product of row k of L, once scaled, from the rows of its ancestors. */
static void eliminate_joint(struct tact_hand *hand, int k)
{
    const double *row = hand->factor + (size_t)k * (size_t)hand->count;
    for (int i = parent_joint(hand, k); i >= 0; i = parent_joint(hand, i)) {
        double *other = hand->factor + (size_t)i * (size_t)hand->count;
        for (int j = i; j >= 0; j = parent_joint(hand, j)) {
            other[j] -= row[i] * row[j];
        }
    }
}

int tact_hand_factor(struct tact_hand *hand, const double *diagonal)
{
    int n = hand->count;
    for (int i = 0; i < n; i++) {
        for (int j = i; j >= 0; j = parent_joint(hand, j)) {
            hand->factor[i * n + j] = hand->mass[i * n + j];
        }
        hand->factor[i * n + i] += diagonal[i];
    }
    for (int k = n - 1; k >= 0; k--) {
        double *row = hand->factor + (size_t)k * (size_t)n;
        if (!(row[k] > 0.0 && isfinite(row[k]))) {
            return -EDOM;
        }
        hand->inverse[k] = 1.0 / sqrt(row[k]);
        for (int j = k; j >= 0; j = parent_joint(hand, j)) {
            row[j] *= hand->inverse[k];
        }
        eliminate_joint(hand, k);
    }
    return 0;
}

void tact_hand_apply_inverse_transpose(const struct tact_hand *hand, double *x)
{
    for (int i = hand->count - 1; i >= 0; i--) {
        const double *row = hand->factor + (size_t)i * (size_t)hand->count;
        x[i] *= hand->inverse[i];
        for (int j = parent_joint(hand, i); j >= 0; j = parent_joint(hand, j)) {
            x[j] -= row[j] * x[i];
        }
    }
}

void tact_hand_apply_inverse_factor(const struct tact_hand *hand, double *x)
{
    for (int i = 0; i < hand->count; i++) {
        const double *row = hand->factor + (size_t)i * (size_t)hand->count;
        for (int j = parent_joint(hand, i); j >= 0; j = parent_joint(hand, j)) {
            x[i] -= row[j] * x[j];
        }
        x[i] *= hand->inverse[i];
    }
}

void tact_hand_solve(const struct tact_hand *hand, double *x, int columns)
{
    for (int k = 0; k < columns; k++) {
        tact_hand_apply_inverse_transpose(hand, x + (size_t)k * (size_t)hand->count);
        tact_hand_apply_inverse_factor(hand, x + (size_t)k * (size_t)hand->count);
    }
}

void tact_hand_reduce_rows(const struct tact_hand *hand, double *const *rows)
{
    for (int i = hand->count - 1; i >= 0; i--) {
        const double *l = hand->factor + (size_t)i * (size_t)hand->count;
        tact_row2 *row = (tact_row2 *)rows[i];
        for (int k = 0; k < 3 && row; k++) {
            row[k] *= hand->inverse[i];
        }
        for (int j = parent_joint(hand, i); j >= 0 && row; j = parent_joint(hand, j)) {
            tact_row2 *other = (tact_row2 *)rows[j];
            for (int k = 0; k < 3; k++) {
                other[k] -= l[j] * row[k];
            }
        }
    }
}

void tact_hand_scale_rates(struct tact_hand *hand, double *w)
{
    double *unscaled_rates = hand->scratch;
    for (int i = 0; i < hand->count; i++) {
        unscaled_rates[i] = w[hand->links[i].slot];
    }
    for (int i = 0; i < hand->count; i++) {
        const double *row = hand->factor + (size_t)i * (size_t)hand->count;
        double sum = 0.0;
        for (int j = i; j >= 0; j = parent_joint(hand, j)) {
            sum += row[j] * unscaled_rates[j];
        }
        w[hand->links[i].slot] = sum;
    }
}

void tact_hand_set_factored_rates(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count; i++) {
        hand->w[hand->links[i].slot] = hand->state.v[i];
    }
}

void tact_hand_compute_joint_rates(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count; i++) {
        hand->velocity[i] = hand->w[hand->links[i].slot];
    }
    tact_hand_apply_inverse_factor(hand, hand->velocity);
}

/* A link continues the chain of its parent where it is the only child and the chain has room. */
void tact_hand_find_chains(struct tact_hand *hand)
{
    hand->chain_count = 0;
    for (int i = 0; i < hand->count; i++) {
        struct link *link = &hand->links[i];
        int parent = link->def.parent, siblings = 0;
        for (int j = 0; j < hand->count; j++) {
            siblings += parent_joint(hand, j) == parent;
        }
        int after = parent >= 0 ? hand->links[parent].slot + 1 : 0;
        if (parent < 0 || siblings > 1 || after % TACT_NODE_UNKNOWNS == 0) {
            after = TACT_NODE_UNKNOWNS * hand->chain_count++;
        }
        link->slot = after;
    }
}
