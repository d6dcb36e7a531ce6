/*
 * Limits to the separation of overlapping bodies: overlaps that existed at the start are not
 * forced open, and others are opened with no more than the weight and motion of the bodies account
 * for.
 */
#include "contact/world/hand_internal.h"
#include "contact/world/sweeps_internal.h"

/* Mobility along the normal over that of the joints in their best direction. Below
 * WEAK_NORMAL_MOBILITY_RATIO joints hardly move the contact: the momentum that a normal impulse
 * adds to them grows as the inverse square root, and a compliance of STUCK_NORMAL_MOBILITY_RATIO
 * bounds it to 500 times their own. Below STUCK_NORMAL_MOBILITY_RATIO joints cannot open it. */
#define WEAK_NORMAL_MOBILITY_RATIO 1e-2
#define STUCK_NORMAL_MOBILITY_RATIO 1e-6
#define FULL_OPENING_SPEED_MOBILITY_RATIO                                                          \
    0.1 /* mobility ratio above which a contact opens at full speed                                \
         */

#define PRELOAD_RELEASE_FRACTION                                                                   \
    0.01 /* fraction of the target depth by which a contact may lift before its preload decreases  \
          */
#define JAMMED_IMPULSE_RATIO                                                                       \
    10.0 /* ratio of impulses to those that motion and weight account for, above which they oppose \
            each other */

#define MAX_UNSOLVED_IMPULSE_FACTOR                                                                \
    100.0 /* bound of the impulses of an unsolved tick, over those that motion and weight account  \
             for */

#define JAMMED_COMPLIANCE_OF_SECOND_SOLVE                                                          \
    1e-4 /* compliance of a jammed contact in its second solve, over its mobility */
#define JAMMED_COMPLIANCE_OF_THIRD_SOLVE                                                           \
    1e-2 /* compliance of a jammed contact in its third solve, over its mobility */

/* Sum of joint mobilities at a contact, each joint in the direction in which it moves the contact
 * most. A hinge counts at least as if the contact were at its radius of gyration. */
double tact_joint_mobility_along_normal(const struct tact_hand *hand)
{
    double sum = 0.0;
    for (int m = 0; m < hand->count; m++) {
        const double *j = hand->rows[m];
        const struct link *link = &hand->links[m];
        double square = j ? tact_v3_dot(j, j) : 0.0,
               mass = hand->coordinate_mass_matrix[m * hand->count + m];
        if (!j || (square == 0.0 && tact_v3_dot(j + 3, j + 3) == 0.0)) {
            continue; /* joint m does not move the two links of a self-contact relative to each
                         other */
        }
        if (link->is_rotational) {
            square =
                tact_max(square, mass / link->subtree_inertia.moment[TACT_INDEX_OF_SPATIAL_MASS]);
        }
        sum += square / (mass + hand->implicit_drive_gains[m]);
    }
    return sum;
}

void tact_block_set_relative_mobility(struct block *block)
{
    double mobility_of_joints_along_normal = block->joint_mobility_along_normal;
    block->relative_normal_mobility = 1.0;
    block->weak_normal_compliance = 0.0;
    if (block->owner[0].kind == TACT_OWNER_BODY || block->owner[1].kind == TACT_OWNER_BODY) {
        return; /* a contact with a body free of hand joints moves in every direction, except for
                   joints of mechanisms: tact_constraints_reduce_mobility() */
    }
    block->relative_normal_mobility =
        mobility_of_joints_along_normal > 0.0
            ? tact_min(block->local.s[0] / mobility_of_joints_along_normal, 1.0)
            : 0.0;
    block->weak_normal_compliance =
        STUCK_NORMAL_MOBILITY_RATIO * mobility_of_joints_along_normal *
        tact_max(0.0, 1.0 - block->relative_normal_mobility / WEAK_NORMAL_MOBILITY_RATIO);
}

int tact_block_is_stuck_by_joints(const struct block *block)
{
    return block->relative_normal_mobility < STUCK_NORMAL_MOBILITY_RATIO;
}

void tact_blocks_find_stuck_at_start(struct tact_world *world)
{
    static const double zero_gravity[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < world->hand_count; i++) {
        if (tact_hand_free_velocity(world->hands[i].hand, world->options.period, zero_gravity,
                                    NULL)) {
            return; /* an error here is reported by the solve of the first tick */
        }
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        struct block *block = &world->blocks[i];
        struct tact_contact *c = &world->contacts[block->contact];
        tact_block_assemble_jacobians(world, block);
        tact_block_assemble_mobility(world, block);
        tact_block_set_relative_mobility(block);
        c->stuck = tact_block_is_stuck_by_joints(block);
    }
    for (int i = 0; i < world->near.count; i++) {
        struct tact_contact *c = tact_contact_of_near_pair(world, i);
        for (int k = 0; k < c->split; k++) {
            int is_contact_piece_stuck = world->contacts[c->first_piece + k].stuck;
            c->stuck = k ? c->stuck && is_contact_piece_stuck : is_contact_piece_stuck;
        }
    }
}

void tact_block_reduce_bias_velocity(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    int is_contact_stuck = tact_block_is_stuck_by_joints(block);
    double allowed_opening_speed_fraction =
        is_contact_stuck
            ? 0.0
            : tact_min(1.0, block->relative_normal_mobility / FULL_OPENING_SPEED_MOBILITY_RATIO);
    block->is_held_closed_by_joints =
        c->patch.law != TACT_LAW_WRENCH && (is_contact_stuck || block->is_normal_immobile) &&
        c->patch.depth - c->preload > (1.0 + PRELOAD_RELEASE_FRACTION) * c->patch.target;
    if (block->bias_velocity > 0.0) {
        block->bias_velocity *= allowed_opening_speed_fraction;
    }
}

void tact_contact_update_preload(const struct tact_world *world, struct tact_contact *c)
{
    double depth_beyond_target_of_contact = tact_max(0.0, c->patch.depth - c->patch.target);
    c->starting &= c->preload > 0.0;
    /* PRELOAD_RELEASE_FRACTION is the amount by which rounding may lift a contact temporarily.
     * Without it the preload would follow each such lift, and the targets of several contacts of a
     * body would never agree.
     */
    if (c->preload > 0.0) {
        c->preload = tact_min(c->preload, depth_beyond_target_of_contact +
                                              PRELOAD_RELEASE_FRACTION * c->patch.target);
    }
    double fraction_of_overlap_in_preload =
        depth_beyond_target_of_contact > 0.0
            ? tact_min(1.0, c->preload / depth_beyond_target_of_contact)
            : 0.0;
    for (int k = 0; k < c->split; k++) {
        struct tact_contact *piece = &world->contacts[c->first_piece + k];
        piece->preload = fraction_of_overlap_in_preload *
                         tact_max(0.0, piece->patch.depth - piece->patch.target);
        piece->starting = c->starting;
    }
}

/* Clears `starting` of contacts of islands that start in motion: their springs bear no load yet, as
 * the impulse of the first tick stops the motion. */
static void clear_starting_contacts_of_moving_islands(struct tact_world *world)
{
    double speed_limit_of_resting_contact =
        world->options.period * tact_v3_norm(world->options.gravity);
    for (int i = 0; i < world->islands.count; i++) {
        const struct index_list *blocks = &world->islands.list[i].blocks;
        int is_island_at_rest = 1;
        for (int k = 0; k < blocks->count; k++) {
            is_island_at_rest &=
                fabs(world->blocks[blocks->at[k]].contact_velocity_before_forces[0]) <=
                speed_limit_of_resting_contact;
        }
        for (int k = 0; k < blocks->count; k++) {
            world->contacts[world->blocks[blocks->at[k]].contact].starting &= is_island_at_rest;
        }
    }
}

/* Reduces the preload of a contact by the compression under its load. */
static void reduce_preload_by_compression(const struct tact_world *world, struct tact_contact *c)
{
    const struct tact_contact_law *law = tact_world_pair_law(world, c->a, c->b);
    double load = c->impulse[0] / world->options.period / (c->split ? c->split : 1);
    c->preload = tact_max(0.0, c->preload - law->compliance * load);
}

void tact_contacts_mark_start_as_over(struct tact_world *world)
{
    clear_starting_contacts_of_moving_islands(world);
    for (int i = 0; i < world->near.count; i++) {
        struct tact_contact *c = tact_contact_of_near_pair(world, i);
        int is_island_at_rest = c->split ? world->contacts[c->first_piece].starting : c->starting;
        if (c->starting && is_island_at_rest && c->touching) {
            reduce_preload_by_compression(world, c);
        }
        c->starting = 0;
        for (int k = 0; k < c->split; k++) {
            world->contacts[c->first_piece + k].starting = 0;
        }
    }
}

/* Sum of impulses that all contacts of an island need, by the velocities of the free motion. */
static double sum_expected_impulses(const struct tact_world *world, const struct island *island)
{
    double h = world->options.period, sum = 0.0;
    double gravity_speed_per_tick = h * tact_v3_norm(world->options.gravity);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        double closing_speed =
            fabs(block->contact_velocity_before_forces[0] - block->added_closing_velocity) +
            tact_max(block->bias_velocity, 0.0);
        sum += closing_speed / block->local.s[0];
        sum += block->bits_of_elastic_wrench_rows & 1
                   ? tact_max(block->impulse_at_spring_rest[0], 0.0)
                   : 0.0;
    }
    for (int i = 0; i < island->owners.count; i++) {
        int owner = island->owners.at[i];
        if (owner < world->body_count) {
            sum += world->bodies[owner].body.mass *
                   (gravity_speed_per_tick + tact_v3_norm(world->free_velocities + 6 * owner));
        }
    }
    return sum;
}

void tact_island_bound_impulses(struct tact_world *world, struct island *island)
{
    double most = 0.0, bound = MAX_UNSOLVED_IMPULSE_FACTOR * sum_expected_impulses(world, island);
    for (int i = 0; i < island->blocks.count; i++) {
        most =
            tact_max(most, world->contacts[world->blocks[island->blocks.at[i]].contact].impulse[0]);
    }
    if (most > bound) {
        world->counts[TACT_COUNT_BOUNDED]++;
        tact_sweeps_scale_impulses(world, island, bound / most);
    }
}

/* 1 where joints alone carry the load of some contact of the island; they may permit no motion. */
static int is_any_contact_carried_by_joints_alone(const struct tact_world *world,
                                                  const struct island *island)
{
    for (int i = 0; i < island->blocks.count; i++) {
        if (!world->blocks[island->blocks.at[i]].has_body_free_of_joints) {
            return 1;
        }
    }
    return 0;
}

/* Reduces the bias velocities of an island where they oppose each other, until the impulses are
 * JAMMED_IMPULSE_RATIO times the load, so that friction holds what is jammed; on the second call
 * to zero. Contacts become more compliant there, and where links that touch what is fixed were not
 * solved; but not those with which hands only press bodies, which would creep. Returns 1 where the
 * island is to be solved again. */
static int reduce_island_bias_velocities(struct tact_world *world, struct island *island,
                                         int is_second_velocity_reduction)
{
    static const double zero_gravity[6] = {0.0};
    double most = 0.0, bound = JAMMED_IMPULSE_RATIO * sum_expected_impulses(world, island);
    int has_separation_bias = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        most = tact_max(most, world->contacts[block->contact].impulse[0]);
        has_separation_bias |= block->bias_velocity > 0.0;
    }
    int are_contacts_carried_by_joints_alone =
        is_any_contact_carried_by_joints_alone(world, island) &&
        tact_island_can_accelerate(world, island);
    int is_island_jammed =
        (has_separation_bias || are_contacts_carried_by_joints_alone) &&
        !(most <= (is_second_velocity_reduction ? JAMMED_IMPULSE_RATIO : 1.0) * bound);
    if (!is_island_jammed &&
        (!are_contacts_carried_by_joints_alone || tact_island_is_solved(world, island))) {
        return 0;
    }
    double share = is_second_velocity_reduction || !isfinite(most) ? 0.0 : bound / most;
    for (int i = 0; i < island->blocks.count; i++) {
        struct block *block = &world->blocks[island->blocks.at[i]];
        if (is_island_jammed) {
            block->is_held_closed_by_joints |= block->bias_velocity > 0.0;
            block->bias_velocity *= block->bias_velocity > 0.0 ? share : 1.0;
        }
        /* An island whose contacts press against each other through bodies that cannot move may
         * have any impulses, and keeps them. */
        if (tact_island_can_accelerate(world, island) &&
            (are_contacts_carried_by_joints_alone || !tact_island_has_hands(world, island))) {
            tact_springs_set_solver_compliance(block,
                                               is_second_velocity_reduction
                                                   ? JAMMED_COMPLIANCE_OF_THIRD_SOLVE
                                                   : JAMMED_COMPLIANCE_OF_SECOND_SOLVE,
                                               zero_gravity);
            island->search.spring_anchor_state = -1;
        }
    }
    tact_sweeps_scale_impulses(world, island, 0.0);
    return 1;
}

void tact_islands_bound_bias_impulses(struct tact_world *world, struct tact_solve_stats *stats)
{
    for (int is_second_velocity_reduction = 0, any = 1; is_second_velocity_reduction < 2 && any;
         is_second_velocity_reduction++) {
        any = 0;
        for (int i = 0; i < world->islands.count; i++) {
            struct island *island = &world->islands.list[i];
            island->is_island_unsolved =
                !island->points &&
                reduce_island_bias_velocities(world, island, is_second_velocity_reduction);
            world->counts[TACT_COUNT_SLOWED] += island->is_island_unsolved;
            any |= island->is_island_unsolved;
        }
        if (any) {
            tact_islands_solve_again_by_sweeps(world, stats);
        }
    }
}
