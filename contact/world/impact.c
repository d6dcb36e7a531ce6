/*
 * What a contact asks of the velocity along its normal: that the overlap goes to its target, at the
 * pace of its spring and dampers, and that an impact rebounds.
 */
#include <string.h>
#include "contact/elementary.h"
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

/* Overlap beyond the target, over that, that has sunk in: less may go in a tick. */
#define SUNK 1e-6

/* Rows of the normal velocity and of the two rotations that tip the patch. */
static const int rows[3] = {0, 4, 5};

static int tips(const struct tact_patch *patch)
{
    return patch->kind == TACT_PATCH_ELLIPSE && patch->exponent == 1.0;
}

/* How far a point of a patch with gaps is from its target; x: from the centre, along t1, t2. */
static double gap_at(const struct tact_contact *c, const double *x)
{
    const double *gap = c->patch.gap;
    return gap[0] + c->patch.target + c->preload + gap[1] * x[0] + gap[2] * x[1];
}

/* By how much the deepest point of such a patch is beyond it [m]. */
static double deepest(const struct tact_contact *c)
{
    static const double middle[2] = {0.0, 0.0};
    const struct tact_patch *patch = &c->patch;
    double most = -gap_at(c, middle);
    for (int i = 0; i < patch->corners; i++) {
        most = tact_max(most, -gap_at(c, patch->corner[i]));
    }
    int round = !patch->corners && patch->kind == TACT_PATCH_ELLIPSE;
    return round ? most + tact_hypot(patch->gap[1] * patch->semi[0], patch->gap[2] * patch->semi[1])
                 : most;
}

/* Fastest approach of a point of the patch at normal velocity and turning u [m/s]. */
static double fastest_approach(const struct tact_patch *patch, const double *u)
{
    double fastest = -u[0];
    if (!tips(patch)) {
        return fastest;
    }
    for (int i = 0; i < patch->corners; i++) {
        const double *x = patch->corner[i];
        fastest = tact_max(fastest, -(u[0] + x[1] * u[1] - x[0] * u[2]));
    }
    return patch->corners ? fastest
                          : fastest + tact_hypot(patch->semi[1] * u[1], patch->semi[0] * u[2]);
}

void tact_impact_velocity(const struct block *block, double u[3])
{
    double all[6] = {0.0};
    for (int k = 0; k < 2; k++) {
        const struct side *side = &block->side[k];
        tact_rows_velocity(all, side->j, side->v, side->dof);
    }
    for (int i = 0; i < 3; i++) {
        u[i] = all[rows[i]];
    }
}

/* How fast the edge of a patch closes as the bodies roll, at the velocities that led here. A flat
 * patch tips about its edge, which stays: there the edge's velocity is what may not be negative. A
 * curved one rolls on: its edge comes down where the depth is none yet, and only the centre keeps
 * its height. Curved is a direction in which the patch is no longer than its depth and radius make
 * it (a^2 = 4 R depth for a cap); along a capsule it is flat. */
void tact_impact_rolling(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    double radius = c->patch.rolls, speed[2] = {0.0, 0.0}, longest = 5.0 * radius * c->patch.depth;
    block->rolling = 0.0;
    if (world->options.local == TACT_LOCAL_BOUCHARD || c->patch.kind != TACT_PATCH_ELLIPSE ||
        !isfinite(radius)) {
        return; /* as published, or without rolling torque */
    }
    for (int k = 0; k < 2; k++) {
        const struct side *side = &block->side[k];
        for (int m = 0; m < side->dof; m++) {
            speed[0] += side->j[m * 6 + 5] * side->v[m];
            speed[1] += side->j[m * 6 + 4] * side->v[m];
        }
    }
    for (int i = 0; i < 2; i++) {
        const double semi = c->patch.semi[i];
        speed[i] *= semi * semi <= longest ? semi : 0.0;
    }
    block->rolling = tact_hypot(speed[0], speed[1]);
}

void tact_impact_rebound(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    double e = tact_world_pair_law(world, c->a, c->b)->restitution;
    double approach = fastest_approach(&c->patch, block->arrival);
    memset(block->rebound, 0, sizeof block->rebound);
    if (c->patch.law == TACT_LAW_GAPS) { /* those that close in this tick */
        approach = tact_min(approach, approach + deepest(c) / world->options.period);
    }
    if (!(e > 0.0) || c->patch.law == TACT_LAW_WRENCH || !(approach > 0.0) ||
        approach <= 2.0 * block->drawn) {
        return;
    }
    for (int i = 0; i < (tips(&c->patch) ? 3 : 1); i++) {
        block->rebound[i] = -e * block->arrival[i];
    }
    if (block->softness > 0.0) { /* nothing is left to the spring */
        block->local.s[0] -= block->softness;
        block->softness = 0.0;
        block->push = tact_min(block->push, tact_max(block->rebound[0], 0.0));
    }
}

/* An overlap e = p (depth - target) beyond the target relaxes like a spring 1/c with a damper
 * tau/c, implicit in the depth after the tick, v_n + c / ((h + tau) h) f_n = e / (h + tau), where
 * tau is the relaxation time and, for the force (e / c) (1 - a v_n) of Hunt and Crossley (1975), a
 * e beside it. One that is not yet deep enough may close in one tick: v_n >= e / h. Never
 * pulls. From rest, a tick pushes bodies apart no faster than the options say, and if rigid or
 * rebounding no faster than tact_impact_limit_pushes() finds. */
static void depth_target(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    const struct tact_contact_law *law = tact_world_pair_law(world, c->a, c->b);
    double h = world->options.period;
    double e = c->patch.exponent * (c->patch.depth - c->patch.target - c->preload);
    e = c->preload > 0.0 && law->compliance == 0.0 ? tact_min(e, 0.0) : e;
    double time = h + (e > 0.0 ? law->dissipation + law->hunt_crossley * e : 0.0);
    block->push = e / time;
    block->softness = c->starting ? 0.0 : law->compliance / (time * h);
    int sinks = law->compliance == 0.0 || law->restitution > 0.0;
    block->sunk = sinks && e > SUNK * c->patch.target ? e : 0.0;
    block->softer = 1.0 + block->softness / block->local.s[0];
    block->push = tact_min(block->push, world->options.push_limit * block->softer) - block->rolling;
}

/* The same of a patch with gaps g: v_n + w_1 x_2 - w_2 x_1 >= -g(x) / h at each of its points x
 * where none is deeper than its target; otherwise the deepest opens as too deep an overlap does. */
static void gaps_target(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    const struct tact_contact_law *law = tact_world_pair_law(world, c->a, c->b);
    static const double middle[2] = {0.0, 0.0};
    double h = world->options.period, e = deepest(c), gap = gap_at(c, middle);
    if (c->preload > 0.0 && law->compliance == 0.0 && e > 0.0) {
        gap += e;
        e = 0.0;
    }
    double time = h + (e > 0.0 ? law->dissipation + law->hunt_crossley * e : 0.0);
    block->softness = c->starting ? 0.0 : law->compliance / (time * h);
    block->softer = 1.0 + block->softness / block->local.s[0];
    double most = world->options.push_limit * block->softer;
    double rate = e > most * time ? most / e : 1.0 / time;
    int sinks = law->compliance == 0.0 || law->restitution > 0.0;
    block->sunk = sinks && !c->patch.corners ? tact_max(e, 0.0) : 0.0; /* others tip as they open */
    block->push = -gap * rate;
    block->wanted[4] -= c->patch.gap[2] * rate;
    block->wanted[5] += c->patch.gap[1] * rate;
}

void tact_impact_target(const struct tact_world *world, struct block *block)
{
    const struct tact_patch *patch = &world->contacts[block->contact].patch;
    double free[3];
    tact_impact_velocity(block, free);
    block->drawn = block->arrival[0] - free[0];
    block->push = block->softness = block->sunk = 0.0;
    block->softer = 1.0;
    memcpy(block->wanted, patch->wanted, sizeof block->wanted);
    if (patch->law == TACT_LAW_DEPTH) {
        depth_target(world, block);
    } else if (patch->law == TACT_LAW_GAPS) {
        gaps_target(world, block);
    }
    block->push = block->locked ? tact_min(block->push, 0.0) : block->push;
    block->local.s[0] += block->softness;
}

/* How much faster the bodies of a contact would close after this tick without its impulse [m/s], at
 * velocities with the impulses of the last tick: what these gave beyond stopping the bodies was an
 * impact's, and carries nothing. */
static double loaded(const struct tact_world *world, const struct block *block)
{
    double u[3];
    tact_impact_velocity(block, u);
    return block->local.s[0] * world->contacts[block->contact].impulse[0] - tact_max(u[0], 0.0);
}

/* At least the sum of overlaps beyond the target of any contacts one above the other [m]: of each
 * body or hand of an island the largest counts. */
static double find_sunk(const struct tact_world *world, const struct island *island)
{
    double sum = 0.0;
    for (int i = 0; i < island->owners.count; i++) {
        world->sunk[island->owners.at[i]] = 0.0;
    }
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        for (int k = 0; k < 2; k++) {
            int at = tact_world_place(world, block->side[k].owner);
            if (at >= 0) {
                sum += tact_max(0.0, block->sunk - world->sunk[at]);
                world->sunk[at] = tact_max(block->sunk, world->sunk[at]);
            }
        }
    }
    return sum;
}

/* What sank in an impact is lifted again, but does not hop: bodies are pushed apart no faster than
 * what draws them, d a tick, brings back to rest on the way e to the target, v^2 + v d = 2 e d / h
 * (the half of d is the integrator's). Contacts one above the other share the speed at which the
 * sum of their overlaps is covered. Between bodies that fall alike, as those of a stack do until
 * the ground stops them, it is the load that draws; of which an impact in the last tick says too
 * much, but that is no faster than gravity or what draws another contact of the island. */
void tact_impact_limit_pushes(const struct tact_world *world, const struct island *island)
{
    double h = world->options.period, sunk = find_sunk(world, island);
    double most = h * tact_v3_norm(world->options.gravity);
    for (int i = 0; i < island->blocks.count; i++) {
        most = tact_max(most, world->blocks[island->blocks.at[i]].drawn);
    }
    for (int i = 0; i < island->blocks.count && sunk > 0.0; i++) {
        struct block *block = &world->blocks[island->blocks.at[i]];
        if (!(block->sunk > 0.0) || !(block->push > 0.0)) {
            continue;
        }
        double load = block->loose ? tact_min(loaded(world, block), most) : 0.0;
        double d = tact_max(block->drawn, load);
        d = tact_max(d, 0.0);
        double all = sqrt(0.25 * d * d + 2.0 * d / h * sunk) - 0.5 * d;
        double share = block->sunk / sunk * all * block->softer;
        block->push = tact_min(block->push, share - block->rolling);
    }
}

void tact_impact_wanted(const struct block *block, double u[6])
{
    if (tact_block_rebounds(block)) {
        u[0] -= tact_max(block->push, block->rebound[0]);
        u[4] -= block->rebound[1];
        u[5] -= block->rebound[2];
        return;
    }
    u[0] -= block->push;
    for (int i = 0; i < 6; i++) {
        u[i] -= block->wanted[i];
    }
}
