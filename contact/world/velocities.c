/* The velocities that contacts act on: those before gravity and drives, those without contacts,
 * those with contacts, and zero. */
#include <string.h>
#include "contact/world/hand_internal.h"
#include "contact/world/sweeps_internal.h"

/* Pointer to the velocities of a body or hand, and their first index and number in a copy of all
 * velocities. */
static double *find_velocities_of_owner(const struct tact_world *world, int owner, size_t *at,
                                        size_t *n)
{
    if (owner < world->body_count) {
        *at = (size_t)owner * TACT_UNKNOWNS_PER_NODE;
        *n = TACT_UNKNOWNS_PER_NODE;
        return world->bodies[owner].body.twist;
    }
    const struct world_hand *hand = &world->hands[owner - world->body_count];
    *at = (size_t)hand->node * TACT_UNKNOWNS_PER_NODE;
    *n = (size_t)hand->hand->coordinate_chain_count * TACT_UNKNOWNS_PER_NODE;
    return hand->hand->w;
}

void tact_velocities_copy_all(const struct tact_world *world, double *all)
{
    for (int i = 0; i < world->body_count + world->hand_count; i++) {
        size_t at, n;
        const double *v = find_velocities_of_owner(world, i, &at, &n);
        memcpy(all + at, v, n * sizeof *v);
    }
}

/* Sets the velocities of an island to stored ones or, with NULL, to zero. */
static void set_island_velocities(struct tact_world *world, const struct island *island,
                                  const double *all)
{
    for (int i = 0; i < island->owners.count; i++) {
        size_t at, n;
        double *v = find_velocities_of_owner(world, island->owners.at[i], &at, &n);
        for (size_t k = 0; k < n; k++) {
            v[k] = all ? all[at + k] : 0.0;
        }
    }
}

void tact_velocities_set_free(struct tact_world *world, const struct island *island)
{
    set_island_velocities(world, island, world->free_velocities);
}

void tact_velocities_set_before_forces(struct tact_world *world, const struct island *island)
{
    set_island_velocities(world, island, world->velocities_before_forces);
}

void tact_velocities_set_zero(struct tact_world *world, const struct island *island)
{
    set_island_velocities(world, island, NULL);
}

void tact_velocities_recompute(struct tact_world *world, const struct island *island)
{
    tact_velocities_set_free(world, island);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        tact_block_apply_impulse(block, world->contacts[block->contact].impulse);
    }
    tact_constraints_apply_impulses(world, island);
    tact_joint_bounds_apply_impulses(world, island);
}
