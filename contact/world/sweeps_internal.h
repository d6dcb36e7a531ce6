/* Sweeps over the contacts of a tick, and the iteration between them. */
#ifndef TACT_CONTACT_SWEEPS_INTERNAL_H
#define TACT_CONTACT_SWEEPS_INTERNAL_H

#include "contact/linear.h"
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

/* Copies the velocities of all bodies and hands into `all`: world->velocities_before_forces or
 * world->free_velocities. */
void tact_velocities_copy_all(const struct tact_world *world, double *all);

/* Sets the velocities of an island's bodies and hands to those without contacts. */
void tact_velocities_set_free(struct tact_world *world, const struct island *island);

/* Sets the velocities of an island's bodies and hands to those before gravity and drives. */
void tact_velocities_set_before_forces(struct tact_world *world, const struct island *island);

/* Sets the velocities of an island's bodies and hands to zero. */
void tact_velocities_set_zero(struct tact_world *world, const struct island *island);

/* Recomputes the velocities of an island from the free ones and all impulses. Summing large changes
 * instead would lose digits. */
void tact_velocities_recompute(struct tact_world *world, const struct island *island);

/* Applies a contact impulse to the velocities of the contact's bodies and joint chains. */
static inline void tact_block_apply_impulse(const struct block *block, const double *impulse)
{
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        tact_rows_apply_impulse(node->v, node->y, impulse, node->dof);
    }
}

/* Adds the compliance of a block times its impulse r to its velocity u. S includes this term, J v
 * does not. */
static inline void tact_block_add_compliance(const struct block *block, const double *r, double *u)
{
    u[0] += block->normal_cfm * r[0];
    for (int i = 0; i < 6; i++) {
        u[i] += block->row_cfm[i] * r[i];
    }
    for (int i = 0; i < 6 && block->has_cross_compliance; i++) {
        u[i] += tact_dot(block->cross_compliance + 6 * i, r, 6);
    }
}

/* Subtracts the compliance of a block times the rest impulse of its springs from its velocity u. */
static inline void tact_block_subtract_rest_velocity(const struct block *block, double *u)
{
    for (int i = 0; i < 6; i++) {
        u[i] -= block->row_cfm[i] * block->impulse_at_spring_rest[i];
    }
    for (int i = 0; i < 6 && block->has_cross_compliance; i++) {
        u[i] -= tact_dot(block->cross_compliance + 6 * i, block->impulse_at_spring_rest, 6);
    }
}

/* One sweep over an island. Sets its residual, and size and change with torques over the patch
 * size. */
void tact_sweep_island(struct tact_world *world, struct island *island);

/* Scales impulses back into their limits, where the iteration ended with limits of an earlier
 * impulse. */
void tact_sweeps_enforce_limits(struct tact_world *world, const struct island *island);

/* 1 where all blocks are patches with the cone law, to which the search and its bounds apply. */
static inline int tact_island_can_accelerate(const struct tact_world *world,
                                             const struct island *island)
{
    return world->options.local == TACT_LOCAL_CONE && !island->points;
}

/* 1 where an island includes joints of hands. */
static inline int tact_island_has_hands(const struct tact_world *world, const struct island *island)
{
    /* owners are in the common order: bodies, then hands, so that the last is a hand if any is */
    const struct index_list *owners = &island->owners;
    return owners->at[owners->count - 1] >= world->body_count;
}

int tact_island_is_solved(const struct tact_world *world, const struct island *island);

/* Sweeps each island that is not solved until it is, at most `iterations` times. All force limits
 * are satisfied at the end. */
void tact_islands_solve_by_sweeps(struct tact_world *world, struct tact_solve_stats *stats);

/* Sweeps the islands that are marked is_island_unsolved again, with `iterations` sweeps of their
 * own, which are added to those in stats. */
void tact_islands_solve_again_by_sweeps(struct tact_world *world, struct tact_solve_stats *stats);

/* Multiplies all impulses of an island's contacts and of the bounds of its joints by a factor
 * `share`; the joints of mechanisms respond. */
void tact_sweeps_scale_impulses(struct tact_world *world, struct island *island, double share);

/* Bias velocities that oppose each other, directly or through joints, cause unbounded impulses.
 * Such an island is solved again with reduced bias velocities and then with none, each time with a
 * full number of sweeps. The same is done for an unsolved island with contacts between links and
 * what is fixed. */
void tact_islands_bound_bias_impulses(struct tact_world *world, struct tact_solve_stats *stats);

/* Scales the impulses of an unsolved island down to a hundred times what its weight and motion
 * need: impulses that balance each other may have any size. */
void tact_island_bound_impulses(struct tact_world *world, struct island *island);

/* Reduces the restitution of impacts that would create energy, which restitution with friction can.
 */
void tact_energy_limit_restitution(struct tact_world *world, struct tact_solve_stats *stats);

/* Solves islands again whose elastic contacts returned more energy than they absorbed: with the
 * load that they have by the last motion, then with half of it, then with none. */
void tact_energy_limit_elastic_returns(struct tact_world *world, struct tact_solve_stats *stats);

/* Scales the impulses of an unsolved island down until they create no energy. */
void tact_island_scale_to_passivity(struct tact_world *world, struct island *island);

/* Calls the world's observer for a completed phase of the solve. Returns 1 where the observer ends
 * the iteration. */
int tact_world_notify_observer(const struct tact_world *world, enum tact_solve_phase phase,
                               const struct tact_solve_stats *stats);

#endif
