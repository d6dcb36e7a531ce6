/* The energy that the contacts of a tick give or take. */
#include <math.h>
#include <string.h>
#include "contact/world/sweeps_internal.h"

/* Sum over the contacts and joints of an island of impulse times velocity at the present velocities
 * [J]; beside it, what stabilisation gives to bodies that it pushes apart from rest, and what the
 * springs of patches give back. */
static double contact_work(const struct tact_world *world, const struct island *island,
                           double *pushed)
{
    double work = tact_bonds_work(world, island);
    *pushed = 0.0;
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        const double *r = world->contacts[block->pair].impulse;
        double push = tact_max(block->push, 0.0);
        *pushed += push > 0.0 ? 0.5 * push * push / block->local.s[0] : 0.0;
        *pushed += tact_springs_most(block);
        for (int k = 0; k < 2; k++) {
            const struct side *side = &block->side[k];
            for (int m = 0; m < side->dof; m++) {
                for (int j = 0; j < 6; j++) {
                    work += side->v[m] * side->j[m * 6 + j] * r[j];
                }
            }
        }
    }
    return work;
}

/* Work of all impulses [J]: half the sum of that at the velocities without and with them. */
struct work {
    double before, after, pushed;
};

static struct work take_work(struct tact_world *world, const struct island *island)
{
    struct work w = {.after = contact_work(world, island, &w.pushed)};
    tact_velocities_restore(world, island);
    w.before = contact_work(world, island, &w.pushed);
    tact_velocities_rebuild(world, island);
    return w;
}

static int gives(const struct work *w)
{
    return 0.5 * (w->before + w->after) > w->pushed + 1e-12 * (fabs(w->before) + fabs(w->after));
}

/* Makes the rebounds of an island's impacts less, where they give energy. Returns whether they did.
 */
static int damp_rebounds(struct tact_world *world, struct island *island, double share)
{
    int rebounds = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        rebounds |= tact_block_rebounds(&world->blocks[island->blocks.at[i]]);
    }
    if (!rebounds) {
        return 0;
    }
    struct work w = take_work(world, island);
    if (!gives(&w)) {
        return 0;
    }
    for (int i = 0; i < island->blocks.count; i++) {
        double *rebound = world->blocks[island->blocks.at[i]].rebound;
        tact_v3_scale(rebound, rebound, share);
    }
    return 1;
}

/* Restitution of the normal velocity beside Coulomb's friction can give energy (Kane and Levinson
 * 1985). An impact that does rebounds by half, and then not at all: without rebound the contacts
 * take energy, all but what stabilisation pushes. */
void tact_energy_bound_rebound(struct tact_world *world, struct tact_solve_stats *stats)
{
    for (int round = 0, any = 1; round < 2 && any; round++) {
        any = 0;
        for (int i = 0; i < world->islands.count; i++) {
            struct island *island = &world->islands.list[i];
            island->open = damp_rebounds(world, island, round ? 0.0 : 0.5);
            any |= island->open;
        }
        if (any) {
            tact_sweeps_run(world, stats);
        }
    }
}

/* The work of s times the impulses is s before + s^2 (after - before) / 2: the largest s by which
 * they give no more than is pushed. */
static double most_share(const struct work *w)
{
    double p = w->before, q = 0.5 * (w->after - w->before);
    return q > 0.0 ? tact_min(1.0, (sqrt(p * p + 4.0 * q * w->pushed) - p) / (2.0 * q)) : 1.0;
}

void tact_energy_bound_unsolved(struct tact_world *world, struct island *island)
{
    if (!tact_sweeps_search(world)) {
        return;
    }
    struct work w = take_work(world, island);
    if (gives(&w)) {
        tact_sweeps_scale(world, island, most_share(&w));
        tact_sweeps_keep_limits(world, island);
    }
}
