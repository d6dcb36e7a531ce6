/* The velocities that contacts act on: without them, with them, and at rest. */
#include <string.h>
#include "contact/world/sweeps_internal.h"

/* The velocities of a body or hand, and where those without contacts are kept. */
static double *velocities(struct tact_world *world, int owner, double **kept, size_t *n)
{
    int hand = owner - world->body_count;
    if (hand < 0) {
        *kept = world->free + (size_t)owner * 6;
        *n = 6;
        return world->bodies[owner].body.twist;
    }
    *kept = world->free + (size_t)world->body_count * 6 + (size_t)hand * (size_t)world->most_dof;
    *n = (size_t)tact_hand_count(world->hands[hand].hand);
    return tact_hand_velocity(world->hands[hand].hand);
}

void tact_velocities_keep(struct tact_world *world)
{
    for (int i = 0; i < world->body_count + world->hand_count; i++) {
        double *kept;
        size_t n;
        const double *v = velocities(world, i, &kept, &n);
        memcpy(kept, v, n * sizeof *v);
    }
}

/* Sets what an island moves to what was kept, or, at rest, to nothing. */
static void set_velocities(struct tact_world *world, const struct island *island, int at_rest)
{
    for (int i = 0; i < island->owners.count; i++) {
        double *kept;
        size_t n;
        double *v = velocities(world, island->owners.at[i], &kept, &n);
        for (size_t k = 0; k < n; k++) {
            v[k] = at_rest ? 0.0 : kept[k];
        }
    }
}

void tact_velocities_restore(struct tact_world *world, const struct island *island)
{
    set_velocities(world, island, 0);
}

void tact_velocities_stop(struct tact_world *world, const struct island *island)
{
    set_velocities(world, island, 1);
}

void tact_velocities_rebuild(struct tact_world *world, const struct island *island)
{
    tact_velocities_restore(world, island);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        tact_block_kick(block, world->contacts[block->pair].impulse);
    }
    tact_bonds_apply(world, island);
}
