/*
 * Joints whose bounds prescribe their rates, in a step of Newton's method: joints that dry friction
 * keeps at rest, and those at their stops. They are no unknowns of the step. With the change of
 * their rates known, dv_L, that of the others is (M_F - J_F^T C J_F) dv_F = J_F^T a - M_FL dv_L, M
 * the matrix of the hand's coordinates, in which the drives are. Its part M_F has the sparsity of
 * the tree again, so that in w = L_F v_F it is the identity (hand_factor.c). The impulses of the
 * bounds follow: p = (M dv - J^T dr)_L.
 */
#include "contact/world/locked_joints_internal.h"

#include <string.h>
#include "contact/linear.h"
#include "contact/world/hand_internal.h"
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

/* Marks the locked joints of a hand. Returns 1 where these or the hand's matrix have changed since
 * the last step. Without any, the unknowns are those of the whole hand. */
static int mark_locked_joints(const struct tact_world *world, int hand)
{
    const struct hand_joint_bounds *of = &world->bounds.hands[hand];
    struct tact_hand *h = world->hands[hand].hand;
    int have_locked_joints_changed = !h->is_unlocked_factor_current;
    h->has_locked_coordinates = 0;
    for (int i = 0; i < h->count && have_locked_joints_changed; i++) {
        h->is_coordinate_locked[i] = !tact_hand_is_independent_joint(h, i);
    }
    for (int k = of->first; k < of->first + of->count; k++) {
        const struct joint_bound *b = &world->bounds.list[k];
        have_locked_joints_changed |= h->is_coordinate_locked[b->joint] != b->free;
        h->has_locked_coordinates |= h->is_coordinate_locked[b->joint] = b->free;
    }
    return have_locked_joints_changed;
}

/* Numbers the unknowns of a hand's nodes. */
static void number_unlocked_joints(struct tact_world *world, const struct world_hand *hand)
{
    int *dof = world->direct.dof + hand->node;
    memset(dof, 0, (size_t)hand->hand->coordinate_chain_count * sizeof *dof);
    for (int i = 0; i < hand->hand->count; i++) {
        const int chain_index = hand->hand->links[i].slot / TACT_UNKNOWNS_PER_NODE;
        if (!hand->hand->is_coordinate_locked[i]) {
            hand->hand->slot_among_unlocked_coordinates[i] =
                TACT_UNKNOWNS_PER_NODE * chain_index + dof[chain_index]++;
        }
    }
}

/* Copies the rows of the coordinates that are not locked, and lists them. */
static void copy_jacobian_of_unlocked_joints(struct tact_hand *hand, int chain_index,
                                             struct block_jacobian_node *node)
{
    struct storage_of_joint_rows *rows = node->rows;
    if (!hand->has_locked_coordinates) {
        node->newton_step_jacobian = node->j;
        node->newton_step_unknown_count = node->dof;
        return;
    }
    memset(rows->newton_step_jacobian, 0, sizeof rows->newton_step_jacobian);
    node->newton_step_jacobian = rows->newton_step_jacobian;
    node->newton_step_unknown_count = 0;
    for (int k = 0; k < node->dof; k++) {
        const int i = hand->coordinate_of_slot[TACT_UNKNOWNS_PER_NODE * chain_index + k];
        if (!hand->is_coordinate_locked[i]) {
            hand->rows[i] = rows->newton_step_jacobian + 6 * node->newton_step_unknown_count++;
            memcpy(hand->rows[i], rows->j + 6 * k, 6 * sizeof *rows->j);
        }
    }
}

/* Sets the Jacobians of the step of a contact on a hand. */
static void set_newton_step_jacobians_of_contact(const struct world_hand *hand, struct block *block)
{
    struct tact_hand *h = hand->hand;
    memset(h->rows, 0, (size_t)h->count * sizeof *h->rows);
    for (int k = 0; k < block->node_count; k++) {
        struct block_jacobian_node *node = &block->nodes[k];
        const int chain_index = node->node - hand->node;
        if (chain_index >= 0 && chain_index < h->coordinate_chain_count) {
            copy_jacobian_of_unlocked_joints(h, chain_index, node);
        }
    }
    if (h->has_locked_coordinates) {
        tact_coordinate_tree_inverse_transpose_rows(&h->unlocked_matrix_factor, h->count, h->rows);
    }
}

/* Changes of the rates of the locked joints, which take them to their targets. */
static void set_rate_changes_of_locked_joints(struct tact_world *world, int hand)
{
    const struct hand_joint_bounds *of = &world->bounds.hands[hand];
    struct tact_hand *h = world->hands[hand].hand;
    if (h->has_locked_coordinates) {
        tact_joint_bounds_compute_rates(world, of);
    }
    for (int k = of->first; k < of->first + of->count; k++) {
        const struct joint_bound *b = &world->bounds.list[k];
        h->rate_changes_of_locked_coordinates[h->links[b->joint].slot] =
            b->free ? b->target - b->rate : 0.0;
    }
}

/* Number of the hand whose joint bounds follow the first *k bounds of an island, or -1; adds the
 * hand's bounds to *k. */
static int next_bounded_hand_of_island(const struct tact_world *world, const struct island *island,
                                       int *k)
{
    if (*k >= island->bounds.count) {
        return -1;
    }
    const int hand = world->bounds.list[island->bounds.at[*k]].hand;
    *k += world->bounds.hands[hand].count;
    return hand;
}

int tact_locked_joints_set_unknowns(struct tact_world *world, const struct island *island)
{
    for (int k = 0, i; (i = next_bounded_hand_of_island(world, island, &k)) >= 0;) {
        const struct world_hand *hand = &world->hands[i];
        const int have_locked_joints_changed = mark_locked_joints(world, i);
        set_rate_changes_of_locked_joints(world, i);
        if (!have_locked_joints_changed) {
            continue;
        }
        world->direct.island = NULL;
        hand->hand->is_unlocked_factor_current = 1;
        number_unlocked_joints(world, hand);
        if (hand->hand->has_locked_coordinates && tact_hand_factor_unlocked(hand->hand)) {
            return 0;
        }
        for (int m = 0; m < island->blocks.count; m++) {
            set_newton_step_jacobians_of_contact(hand, &world->blocks[island->blocks.at[m]]);
        }
    }
    return 1;
}

/* Rates of a hand's coordinates: the changes of those of the locked joints, and 0. */
static double *rate_changes_of_locked_joints(struct tact_hand *hand)
{
    double *rates = hand->scratch;
    for (int i = 0; i < hand->count; i++) {
        const int slot = hand->links[i].slot;
        rates[i] = slot >= 0 && hand->is_coordinate_locked[i]
                       ? hand->rate_changes_of_locked_coordinates[slot]
                       : 0.0;
    }
    return rates;
}

/* Entry of an unlocked coordinate in the right side, or the solution. */
static double *find_system_entry_of_coordinate(const struct direct *d,
                                               const struct world_hand *hand, int i)
{
    const int slot = hand->hand->slot_among_unlocked_coordinates[i];
    return d->rhs + 6 * d->row[hand->node + slot / TACT_UNKNOWNS_PER_NODE] +
           slot % TACT_UNKNOWNS_PER_NODE;
}

void tact_locked_joints_add_to_step_rhs(struct tact_world *world, const struct island *island)
{
    for (int k = 0, i; (i = next_bounded_hand_of_island(world, island, &k)) >= 0;) {
        const struct world_hand *hand = &world->hands[i];
        struct tact_hand *h = hand->hand;
        if (!h->has_locked_coordinates) {
            continue;
        }
        tact_hand_momentum_of_coordinate_rates(h, rate_changes_of_locked_joints(h), h->momentum);
        tact_coordinate_tree_apply_inverse_transpose(&h->unlocked_matrix_factor, h->count,
                                                     h->momentum);
        for (int m = 0; m < h->unlocked_matrix_factor.count; m++) {
            const int of = h->unlocked_matrix_factor.list[m];
            *find_system_entry_of_coordinate(&world->direct, hand, of) -= h->momentum[of];
        }
    }
}

/* Subtracts from a hand's momentum, by coordinate, that of the change of a contact's impulse. */
static void subtract_contact_momentum(const struct world_hand *hand, const struct block *block,
                                      const double *from, const double *to)
{
    double change[6];
    for (int k = 0; k < 6; k++) {
        change[k] = to[k] - from[k];
    }
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        const int chain_index = node->node - hand->node;
        for (int m = 0;
             m < node->dof && chain_index >= 0 && chain_index < hand->hand->coordinate_chain_count;
             m++) {
            const int i = hand->hand->coordinate_of_slot[TACT_UNKNOWNS_PER_NODE * chain_index + m];
            hand->hand->momentum[i] -= tact_dot(node->rows->j + 6 * m, change, 6);
        }
    }
}

/* Momentum of a hand, by coordinate, of the changes of its rates and of the contacts' impulses. */
static void compute_hand_momentum_of_newton_step(struct tact_world *world,
                                                 const struct island *island,
                                                 const struct world_hand *hand, const double *from,
                                                 const double *to)
{
    struct tact_hand *h = hand->hand;
    double *rates = rate_changes_of_locked_joints(h);
    for (int m = 0; m < h->unlocked_matrix_factor.count; m++) {
        const int at = h->unlocked_matrix_factor.list[m];
        rates[at] = *find_system_entry_of_coordinate(&world->direct, hand, at);
    }
    tact_coordinate_tree_apply_inverse(&h->unlocked_matrix_factor, h->count, rates);
    tact_hand_momentum_of_coordinate_rates(h, rates, h->momentum);
    for (int m = 0; m < island->blocks.count; m++) {
        subtract_contact_momentum(hand, &world->blocks[island->blocks.at[m]], from + 6 * m,
                                  to + 6 * m);
    }
}

void tact_locked_joints_step_impulses(struct tact_world *world, const struct island *island,
                                      const double *from, double *to)
{
    double *next = to + 6 * island->blocks.count;
    for (int k = 0, i; (i = next_bounded_hand_of_island(world, island, &k)) >= 0;) {
        const struct world_hand *hand = &world->hands[i];
        const struct hand_joint_bounds *of = &world->bounds.hands[i];
        if (hand->hand->has_locked_coordinates) {
            compute_hand_momentum_of_newton_step(world, island, hand, from, to);
        }
        for (int m = of->first; m < of->first + of->count; m++) {
            const struct joint_bound *b = &world->bounds.list[m];
            *next++ = b->impulse + (b->free ? hand->hand->momentum[b->joint] : 0.0);
        }
    }
}
