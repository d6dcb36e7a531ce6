/* The energy that the contact impulses of a tick add or dissipate, and its bound. */
#include <math.h>
#include <string.h>
#include "contact/world/sweeps_internal.h"

/* Impulse of a contact times its velocity at the present velocities [J]. */
static double compute_contact_impulse_work(const struct tact_world *world,
                                           const struct block *block)
{
    const double *r = world->contacts[block->contact].impulse;
    double u[6] = {0.0}, work = 0.0;
    tact_block_add_velocity(block, u);
    for (int j = 0; j < 6; j++) {
        work += u[j] * r[j];
    }
    return work;
}

static double work_of_island_contacts(struct tact_world *world, const struct island *island)
{
    double work = tact_constraints_impulse_work(world, island) +
                  tact_joint_bounds_impulse_work(world, island);
    for (int i = 0; i < island->blocks.count; i++) {
        work += compute_contact_impulse_work(world, &world->blocks[island->blocks.at[i]]);
    }
    return work;
}

/* Work of the impulses of an island's contacts and joints [J]: impulses times the velocities before
 * gravity and drives, times those without the impulses, and times those with them; and the energy
 * that the impulses may add. */
struct work_of_island_impulses {
    double pre, free, after, allowed;
};

/* Largest energy that a contact may add [J]: that of the stabilisation, which separates the bodies,
 * including what gravity and drives remove from it in this tick, and that of the springs of its
 * patch. Restitution adds none. */
static double max_stabilisation_energy(const struct block *block)
{
    double separation_bias_velocity = tact_max(block->bias_velocity, 0.0),
           sum = tact_springs_max_returned_energy(block);
    if (separation_bias_velocity > tact_max(block->restitution_velocity[0], 0.0)) {
        sum += 0.5 * separation_bias_velocity *
               (separation_bias_velocity + tact_max(block->added_closing_velocity, 0.0)) /
               block->local.s[0];
    }
    return sum;
}

/* Bodies that were separating and that gravity and drives close again within the tick are stopped
 * where they are. At the pre-velocity the impulse that stops them appears to add what gravity then
 * removes. */
static double energy_of_stopped_separation(const struct tact_world *world,
                                           const struct block *block)
{
    const double *r = world->contacts[block->contact].impulse;
    double separation_speed_before_impulse =
        tact_min(block->contact_velocity_before_forces[0], block->added_closing_velocity);
    return tact_block_has_restitution(block)
               ? 0.0
               : 0.5 * r[0] * tact_max(separation_speed_before_impulse, 0.0);
}

static struct work_of_island_impulses compute_island_work(struct tact_world *world,
                                                          const struct island *island)
{
    struct work_of_island_impulses w = {.after = work_of_island_contacts(world, island)};
    tact_velocities_set_before_forces(world, island);
    w.pre = work_of_island_contacts(world, island);
    tact_velocities_set_free(world, island);
    w.free = work_of_island_contacts(world, island);
    tact_velocities_recompute(world, island);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        w.allowed += max_stabilisation_energy(block) + energy_of_stopped_separation(world, block);
    }
    return w;
}

/* 1 where the impulses of an island add more energy than is allowed. Their work is the mean of that
 * at the pre-velocities and at the final ones. With the free velocities in place of the
 * pre-velocities an impulse could add r g h / 2 of what gravity removed in the tick, permanently
 * where a body rebounds. */
static int do_impulses_add_energy(const struct work_of_island_impulses *w)
{
    return 0.5 * (w->pre + w->after) > w->allowed + 1e-12 * (fabs(w->pre) + fabs(w->after));
}

/* Scales down the restitution of an island's impacts where it adds energy. Returns 1 where it did.
 */
static int reduce_island_restitution(struct tact_world *world, struct island *island, double share)
{
    int has_restitution = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        has_restitution |= tact_block_has_restitution(&world->blocks[island->blocks.at[i]]);
    }
    if (!has_restitution) {
        return 0;
    }
    struct work_of_island_impulses w = compute_island_work(world, island);
    if (!do_impulses_add_energy(&w)) {
        return 0;
    }
    for (int i = 0; i < island->blocks.count; i++) {
        double *restitution_velocity_of_contact =
            world->blocks[island->blocks.at[i]].restitution_velocity;
        tact_v3_scale(restitution_velocity_of_contact, restitution_velocity_of_contact, share);
    }
    return 1;
}

/* Solves islands again that add energy, each time with the next share of what adds it, which
 * `reduce` sets, until none does. Each solution has the sweeps that the options allow, whatever the
 * first one and other islands needed. */
static void solve_again_with_shares(struct tact_world *world, struct tact_solve_stats *stats,
                                    int (*reduce)(struct tact_world *world, struct island *island,
                                                  double share),
                                    const double *shares, int count)
{
    for (int attempt = 0, any = 1; attempt < count && any; attempt++) {
        any = 0;
        for (int i = 0; i < world->islands.count; i++) {
            struct island *island = &world->islands.list[i];
            island->is_island_unsolved = reduce(world, island, shares[attempt]);
            world->counts[TACT_COUNT_DAMPED] += island->is_island_unsolved;
            any |= island->is_island_unsolved;
        }
        if (any) {
            tact_islands_solve_again_by_sweeps(world, stats);
        }
    }
}

/* Restitution of the normal velocity together with Coulomb friction can add energy (Kane and
 * Levinson 1985). Such an impact is solved again with half the restitution, then with none: without
 * restitution the contacts dissipate, except for the stabilisation. */
void tact_energy_limit_restitution(struct tact_world *world, struct tact_solve_stats *stats)
{
    static const double shares[] = {0.5, 0.0};
    solve_again_with_shares(world, stats, reduce_island_restitution, shares, 2);
}

/* Sets the loads of an island's elastic contacts that returned more energy than they absorbed to a
 * share of those by the last motion. Returns 1 where there was one. */
static int reduce_elastic_loads(struct tact_world *world, struct island *island, double share)
{
    int any = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        struct block *block = &world->blocks[island->blocks.at[i]];
        if (tact_elastic_returns_too_much(world, block)) {
            tact_elastic_load_by_last_motion(world, block, share);
            any = 1;
        }
    }
    return any;
}

/* With the whole load by the last motion only friction can add energy, as with restitution above;
 * without a load the springs are dampers. */
void tact_energy_limit_elastic_returns(struct tact_world *world, struct tact_solve_stats *stats)
{
    static const double shares[] = {1.0, 0.5, 0.0};
    solve_again_with_shares(world, stats, reduce_elastic_loads, shares, 3);
}

/* Largest scale s of an island's impulses with which they add no more energy than is allowed. Their
 * work is s (pre + free) / 2 + s^2 (after - free) / 2. */
static double largest_passive_impulse_scale(const struct work_of_island_impulses *w)
{
    double p = 0.5 * (w->pre + w->free), q = 0.5 * (w->after - w->free);
    return q > 0.0 ? tact_min(1.0, (sqrt(p * p + 4.0 * q * w->allowed) - p) / (2.0 * q)) : 1.0;
}

void tact_island_scale_to_passivity(struct tact_world *world, struct island *island)
{
    if (!tact_island_can_accelerate(world, island)) {
        return;
    }
    struct work_of_island_impulses w = compute_island_work(world, island);
    if (do_impulses_add_energy(&w)) {
        world->counts[TACT_COUNT_SCALED]++;
        tact_sweeps_scale_impulses(world, island, largest_passive_impulse_scale(&w));
        tact_sweeps_enforce_limits(world, island);
    }
}
