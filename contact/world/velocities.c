/* The velocities that contacts act on: those that led here, without contacts, with them, at rest.
 */
#include <string.h>
#include "contact/world/sweeps_internal.h"

/* The velocities of a body or hand, and where in a copy of all they stand. */
static double *velocities(const struct tact_world *world, int owner, size_t *at, size_t *n)
{
    int hand = owner - world->body_count;
    if (hand < 0) {
        *at = (size_t)owner * 6;
        *n = 6;
        return world->bodies[owner].body.twist;
    }
    *at = (size_t)world->body_count * 6 + (size_t)hand * (size_t)world->most_dof;
    *n = (size_t)tact_hand_count(world->hands[hand].hand);
    return tact_hand_velocity(world->hands[hand].hand);
}

void tact_velocities_keep(const struct tact_world *world, double *all)
{
    for (int i = 0; i < world->body_count + world->hand_count; i++) {
        size_t at, n;
        const double *v = velocities(world, i, &at, &n);
        memcpy(all + at, v, n * sizeof *v);
    }
}

/* Sets what an island moves to what was kept, or, with NULL, to rest. */
static void set_velocities(struct tact_world *world, const struct island *island, const double *all)
{
    for (int i = 0; i < island->owners.count; i++) {
        size_t at, n;
        double *v = velocities(world, island->owners.at[i], &at, &n);
        for (size_t k = 0; k < n; k++) {
            v[k] = all ? all[at + k] : 0.0;
        }
    }
}

void tact_velocities_restore(struct tact_world *world, const struct island *island)
{
    set_velocities(world, island, world->free);
}

void tact_velocities_arrive(struct tact_world *world, const struct island *island)
{
    set_velocities(world, island, world->arrived);
}

void tact_velocities_stop(struct tact_world *world, const struct island *island)
{
    set_velocities(world, island, NULL);
}

void tact_velocities_rebuild(struct tact_world *world, const struct island *island)
{
    tact_velocities_restore(world, island);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        tact_block_kick(block, world->contacts[block->contact].impulse);
    }
    tact_bonds_apply(world, island);
}
