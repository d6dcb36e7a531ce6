/*
 * Block Gauss-Seidel over the contacts of a tick (Bouchard 2015, sections 3 and 5.1). Each block
 * is a 6D contact in the frame of its patch, with S = J M^-1 J^T of its two bodies, and is
 * warm-started.
 */
#include <errno.h>
#include <string.h>
#include "contact/local/local_internal.h"
#include "contact/world/hand_internal.h"
#include "contact/world/rows_internal.h"
#include "contact/world/sweeps_internal.h"
#include "contact/world/world_internal.h"

enum {
    ROLLING_ROWS = 1 << 4 | 1 << 5
}; /* rows of a contact impulse whose torques, about t1 and t2, move the centre of pressure */

void tact_block_assemble_schur_complement(struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    double *s = block->local.s;
    tact_block_assemble_mobility(world, block);
    tact_constraints_reduce_mobility(world, block);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            s[j * 6 + i] = s[i * 6 + j];
        }
    }
    tact_block_set_relative_mobility(block);
    tact_impact_set_target_velocity(world, block);
    tact_block_reduce_bias_velocity(world, block);
    tact_impact_set_restitution_velocity(world, block);
    tact_springs_add_compliance(world, block);
    block->local.mu = block->law->friction;
    int point = c->patch.kind == TACT_PATCH_ELASTIC;
    block->local.corners = c->patch.corners;
    block->local.by_mass = world->options.by_mass;
    _Static_assert(sizeof block->local.corner == sizeof c->patch.corner,
                   "the local solver's array of outline corners must have the size of the patch's");
    memcpy(block->local.corner, c->patch.corner,
           (size_t)c->patch.corners * sizeof *c->patch.corner);
    for (int i = 0; i < 2; i++) {
        block->local.semi[i] = point ? 0.0 : c->patch.semi[i];
        /* spin arm and rolling arm: each sweep sets them from the normal force */
        block->local.rolling_arm[i] = 0.0;
        block->local.rectangle[i] = c->patch.spin == TACT_SPIN_CORNERS ? c->patch.semi[i] : 0.0;
    }
    block->local.passes = block->is_only_contact_of_bodies ? 0 : 3;
    block->local.surface = c->patch.surface;
    memcpy(block->local.fit, c->patch.fit, sizeof block->local.fit);
    block->local.points = &c->patch.points;
}

static void factor_local_problem(struct tact_world *world, struct block *block)
{
    if (block->points) {
        tact_points_prepare_pair(&world->points, block->contact, &block->local);
    } else {
        tact_local_prepare(&block->local);
    }
}

/* Transforms a contact's impulse of the last tick to the frame and centre of its new patch. */
static void transform_warm_start_to_new_patch(struct tact_world *world, const struct block *block)
{
    struct tact_contact *c = &world->contacts[block->contact];
    double arm[3], torque[3];
    if (block->points) {
        int has_warm_start = tact_v3_dot(c->warm, c->warm) > 0.0;
        tact_points_copy_last_impulses(&world->points, block->contact, has_warm_start, c->impulse);
        return;
    }
    tact_v3_sub(arm, c->warm_point, c->patch.center);
    tact_v3_cross(torque, arm, c->warm);
    tact_v3_add(torque, torque, c->warm + 3);
    tact_m3_mul_v3(c->impulse, c->patch.frame, c->warm);
    tact_m3_mul_v3(c->impulse + 3, c->patch.frame, torque);
    c->impulse[3] -= block->elastic_wrench_pitch * c->impulse[0];
    if (!(c->impulse[0] > 0.0)) {
        memset(c->impulse, 0, sizeof c->impulse);
    }
}

/* Adds to the joint-space impulses of a hand those that a block's impulse exerts on its joints. */
static void add_joint_impulses_of_block(const struct world_hand *hand, const struct block *block,
                                        const double impulse[6])
{
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        int chain_of_node = node->node - hand->node;
        if (chain_of_node < 0 || chain_of_node >= hand->hand->coordinate_chain_count) {
            continue;
        }
        const int *coordinate =
            hand->hand->coordinate_of_slot + TACT_UNKNOWNS_PER_NODE * chain_of_node;
        for (int m = 0; m < node->dof; m++) {
            hand->impulse[coordinate[m]] += tact_dot(node->j + 6 * m, impulse, 6);
        }
    }
}

/* Joint-space impulses that the warm start exerts on the hands. */
static void predict_joint_impulses(struct tact_world *world)
{
    for (int i = 0; i < world->hand_count; i++) {
        size_t n = (size_t)tact_hand_count(world->hands[i].hand);
        memset(world->hands[i].impulse, 0, n * sizeof(double));
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        const struct block *block = &world->blocks[i];
        const double *impulse = world->contacts[block->contact].impulse;
        for (int k = 0; k < 2; k++) {
            if (tact_block_has_hand_on_side(block, k)) {
                add_joint_impulses_of_block(&world->hands[block->owner[k].index], block, impulse);
            }
        }
    }
}

static int compute_free_velocities(struct tact_world *world, int *failed_hand)
{
    static const double gravity_of_weightless_hand[3] = {0.0, 0.0, 0.0};
    double h = world->options.period;
    for (int i = 0; i < world->body_count; i++) {
        if (world->bodies[i].weight) {
            tact_v3_axpy(world->bodies[i].body.twist, h, world->options.gravity);
        }
    }
    for (int i = 0; i < world->hand_count; i++) {
        struct world_hand *hand = &world->hands[i];
        int rc = tact_hand_free_velocity(
            hand->hand, h, hand->weightless ? gravity_of_weightless_hand : world->options.gravity,
            hand->impulse);
        if (rc) {
            *failed_hand = i;
            return rc;
        }
        world->counts[TACT_COUNT_RATES_NOT_PREDICTED] += hand->hand->has_bias_at_last_rates;
        tact_hand_multiply_rates_by_factor(hand->hand, world->velocities_before_forces +
                                                           TACT_UNKNOWNS_PER_NODE * hand->node);
    }
    return 0;
}

/* The margin of an elastic patch to its edge. The impulse that would stop it within a tick does not
 * say how far it is from the edge: the stiffness is that of this tick's patch, which a rotation
 * changes. The centre of the solved pressure is in the patch. */
static double compute_elastic_edge_margin(const struct block *block, const double *r)
{
    if (!(r[0] > 0.0)) {
        return 1.0;
    }
    const double d[2] = {-r[5] / r[0], r[4] / r[0]};
    double share = tact_local_edge_distance_ratio(&block->local, d);
    /* the ratio of the centre of pressure to the edge is at most 1 except for rounding */
    return tact_margin(tact_min(share, 1.0), 1.0);
}

/* Computes the margins of a contact to its limits and whether drives that carry it are at theirs.
 * For contact points, which have no common sticking impulse, the margins are those of their sum. */
static void compute_limit_margins(const struct tact_world *world, struct block *block)
{
    struct tact_contact *c = &world->contacts[block->contact];
    tact_local_margins(&block->local, c->impulse, &c->margins);
    if (block->bits_of_elastic_wrench_rows & ROLLING_ROWS) {
        c->margins.edge = compute_elastic_edge_margin(block, c->impulse);
    }
    c->stuck = block->is_held_closed_by_joints;
    for (int k = 0; k < 2; k++) {
        struct tact_owner owner = world->shapes[k ? c->b : c->a].owner;
        int is_drive_saturated = 0;
        if (owner.kind == TACT_OWNER_HAND) {
            double torque_margin_of_hand_drives =
                tact_hand_drive_margin(world->hands[owner.index].hand, owner.link,
                                       world->options.period, &is_drive_saturated);
            c->margins.joint = tact_min(c->margins.joint, torque_margin_of_hand_drives);
            c->limits |= is_drive_saturated ? TACT_LIMIT_JOINT : 0;
        }
    }
}

/* Stores the wrench in world axes and the next warm start from the impulse in the frame of the
 * patch, which the torque of a pitch is added to. */
static void store_contact_wrench(struct tact_world *world, struct block *block)
{
    struct tact_contact *c = &world->contacts[block->contact];
    double ticks_per_second = 1.0 / world->options.period;
    c->impulse[3] += block->elastic_wrench_pitch * c->impulse[0];
    tact_m3_tmul_v3(c->warm, c->patch.frame, c->impulse);
    tact_m3_tmul_v3(c->warm + 3, c->patch.frame, c->impulse + 3);
    tact_v3_copy(c->warm_point, c->patch.center);
    c->spin_arm = block->points ? tact_patch_spin_arm(&c->patch, c->impulse[0] * ticks_per_second)
                                : block->local.spin_arm;
    for (int i = 0; i < 6; i++) {
        c->wrench[i] = c->warm[i] * ticks_per_second;
    }
    tact_springs_store_loads(world, block);
}

/* Iterates from the warm start to impulses that are a solution or at least add no energy. */
static void solve_all_islands(struct tact_world *world, struct tact_solve_stats *stats)
{
    for (int i = 0; i < world->islands.count; i++) {
        tact_velocities_recompute(world, &world->islands.list[i]);
        tact_impact_limit_bias_velocities(world, &world->islands.list[i]);
    }
    tact_islands_solve_by_sweeps(world, stats);
    tact_islands_bound_bias_impulses(world, stats);
    tact_energy_limit_elastic_returns(world, stats);
    tact_energy_limit_restitution(world, stats);
    for (int i = 0; i < world->islands.count; i++) {
        struct island *island = &world->islands.list[i];
        if (!tact_island_is_solved(world, island)) {
            world->counts[TACT_COUNT_UNSOLVED]++;
            /* with or without convergence, the momentum is balanced to rounding */
            tact_velocities_recompute(world, island);
            tact_island_bound_impulses(world, island);
            tact_island_scale_to_passivity(world, island);
            /* No joint passes its stop, converged or not. For given contact impulses, the impulses
             * of joint stops and joint friction leave the least energy possible. */
            tact_joint_bounds_solve_in_sweep(world, island);
        } else {
            tact_joint_bounds_solve_after_contacts(world, island);
        }
    }
}

/* In a tick without a solution hands keep their rates, which are in the log; the rates that were
 * computed last are not. */
static void restore_joint_rates_of_hands(struct tact_world *world)
{
    for (int i = 0; i < world->hand_count; i++) {
        struct tact_hand *hand = world->hands[i].hand;
        memcpy(hand->velocity, hand->state.v, (size_t)hand->count * sizeof *hand->velocity);
        memset(hand->state.saturated, 0, (size_t)hand->count * sizeof *hand->state.saturated);
        if (hand->has_moving_base) {
            tact_hand_base_update_target_error(hand);
        }
    }
}

int tact_world_solve(struct tact_world *world, struct tact_solve_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    memset(world->counts, 0, sizeof world->counts);
    int rc = tact_assemble_blocks(world);
    stats->contacts = world->contact_block_count;
    stats->points = world->points.now.count;
    stats->left_out = world->counts[TACT_COUNT_POINTS_LEFT_OUT] = world->points.dropped_point_count;
    tact_world_notify_observer(world, TACT_SOLVE_PATCHES, stats);
    for (int i = 0; i < world->hand_count; i++) {
        tact_hand_copy_rates_by_slot(world->hands[i].hand);
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        tact_block_assemble_jacobians(world, &world->blocks[i]);
        tact_impact_set_rolling_edge_speed(world, &world->blocks[i]);
        tact_impact_normal_and_tipping_velocity(&world->blocks[i],
                                                world->blocks[i].contact_velocity_before_forces);
        transform_warm_start_to_new_patch(world, &world->blocks[i]);
    }
    predict_joint_impulses(world);
    tact_joint_bounds_warm_start(world);
    tact_velocities_copy_all(world, world->velocities_before_forces);
    rc = rc ? rc : compute_free_velocities(world, &stats->failed_hand);
    if (rc) {
        for (int i = 0; i < world->contact_block_count; i++) {
            struct tact_contact *c = &world->contacts[world->blocks[i].contact];
            tact_contact_zero_impulses(c);
            c->spin_arm = 0.0;
        }
        tact_constraints_zero_impulses(world);
        tact_joint_bounds_zero_impulses(world);
        tact_pieces_sum_results(world);
        restore_joint_rates_of_hands(world);
        memcpy(stats->counts, world->counts, sizeof stats->counts);
        return rc;
    }
    tact_velocities_copy_all(world, world->free_velocities);
    tact_constraints_assemble(world);
    tact_joint_bounds_assemble(world);
    tact_islands_find(world);
    for (int i = 0; i < world->contact_block_count; i++) {
        tact_block_assemble_schur_complement(world, &world->blocks[i]);
    }
    tact_world_notify_observer(world, TACT_SOLVE_ASSEMBLED, stats);
    for (int i = 0; i < world->contact_block_count; i++) {
        factor_local_problem(world, &world->blocks[i]);
    }
    tact_world_notify_observer(world, TACT_SOLVE_FACTORED, stats);
    solve_all_islands(world, stats);
    memcpy(stats->counts, world->counts, sizeof stats->counts);
    for (int i = 0; i < world->hand_count; i++) {
        tact_hand_compute_joint_rates(world->hands[i].hand);
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        compute_limit_margins(world, &world->blocks[i]);
        store_contact_wrench(world, &world->blocks[i]);
    }
    tact_pieces_sum_results(world);
    tact_contacts_mark_start_as_over(world);
    tact_constraints_store_wrenches(world);
    tact_joint_bounds_store_torques(world);
    tact_world_notify_observer(world, TACT_SOLVE_STORED, stats);
    return 0;
}
