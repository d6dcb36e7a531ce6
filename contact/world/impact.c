/*
 * Targets of a contact's normal velocity: the overlap relaxes to its target at the rate of its
 * spring and dampers, and an impact rebounds.
 */
#include <string.h>
#include "contact/elementary.h"
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

/* Excess of an overlap over its target depth [m] above which its bias velocity is limited. */
#define MIN_OVERLAP_EXCESS_WITH_SPEED_LIMIT 1e-6

/* Rows of a contact velocity: the normal velocity, and the two rotations that tip the patch. */
static const int rows[3] = {0, 4, 5};

static int can_patch_tip_about_edge(const struct tact_patch *patch)
{
    return patch->kind == TACT_PATCH_ELLIPSE && patch->exponent == 1.0;
}

/* Gap beyond its target at a point of a patch that has gaps [m]; x: the point from the patch
 * centre, along t1, t2. */
static double gap_beyond_target_at_point(const struct tact_contact *c, const double *x)
{
    const double *gap = c->patch.gap;
    return gap[0] + c->patch.target + c->preload + gap[1] * x[0] + gap[2] * x[1];
}

/* Depth beyond the target of the deepest point of a patch that has gaps [m]. */
static double find_largest_overlap_excess(const struct tact_contact *c)
{
    static const double middle[2] = {0.0, 0.0};
    const struct tact_patch *patch = &c->patch;
    double most = -gap_beyond_target_at_point(c, middle);
    for (int i = 0; i < patch->corners; i++) {
        most = tact_max(most, -gap_beyond_target_at_point(c, patch->corner[i]));
    }
    int has_elliptic_outline = !patch->corners && patch->kind == TACT_PATCH_ELLIPSE;
    return has_elliptic_outline
               ? most + tact_hypot(patch->gap[1] * patch->semi[0], patch->gap[2] * patch->semi[1])
               : most;
}

/* Largest closing speed of a point of a patch at the normal velocity and rotation u [m/s]. */
static double largest_point_approach_speed(const struct tact_patch *patch, const double *u)
{
    double approach_speed_of_fastest_point = -u[0];
    if (!can_patch_tip_about_edge(patch)) {
        return approach_speed_of_fastest_point;
    }
    for (int i = 0; i < patch->corners; i++) {
        const double *x = patch->corner[i];
        approach_speed_of_fastest_point =
            tact_max(approach_speed_of_fastest_point, -(u[0] + x[1] * u[1] - x[0] * u[2]));
    }
    return patch->corners ? approach_speed_of_fastest_point
                          : approach_speed_of_fastest_point +
                                tact_hypot(patch->semi[1] * u[1], patch->semi[0] * u[2]);
}

void tact_impact_normal_and_tipping_velocity(const struct block *block, double u[3])
{
    double all[6] = {0.0};
    tact_block_add_velocity(block, all);
    for (int i = 0; i < 3; i++) {
        u[i] = all[rows[i]];
    }
}

/* Sets the closing speed of the edge of a patch due to rolling, at the pre-velocities. A flat patch
 * tips about its edge, where it stays in contact, so that the velocity at the edge must not be
 * negative. A curved patch rolls: at its edge the depth is zero and still increases, while the
 * centre stays at its height. A direction is curved where the patch is no longer than its depth and
 * radius imply (a^2 = 4 R depth for a cap); along a capsule it is flat. */
void tact_impact_set_rolling_edge_speed(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    double radius = c->patch.rolling_radius, speed[2], u[6] = {0.0},
           longest = 5.0 * radius * c->patch.depth;
    block->edge_speed = 0.0;
    if (world->options.local == TACT_LOCAL_BOUCHARD || c->patch.kind != TACT_PATCH_ELLIPSE ||
        !isfinite(radius)) {
        return; /* Bouchard's Algorithm 1 as published, or a patch that transmits no rolling torque
                 */
    }
    tact_block_add_velocity(block, u);
    speed[0] = u[5];
    speed[1] = u[4];
    for (int i = 0; i < 2; i++) {
        const double semi = c->patch.semi[i];
        speed[i] *= semi * semi <= longest ? semi : 0.0;
    }
    block->edge_speed = tact_hypot(speed[0], speed[1]);
}

void tact_impact_set_restitution_velocity(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    double e = block->law->restitution;
    double impact_approach_speed =
        largest_point_approach_speed(&c->patch, block->contact_velocity_before_forces);
    memset(block->restitution_velocity, 0, sizeof block->restitution_velocity);
    if (c->patch.law == TACT_LAW_GAPS) {
        /* only points of the patch whose gap closes in this tick count */
        impact_approach_speed =
            tact_min(impact_approach_speed, impact_approach_speed + find_largest_overlap_excess(c) /
                                                                        world->options.period);
    }
    /* What the load adds in a tick, and the motion over curved surfaces, is no impact. The target
     * velocity of a patch is what this motion adds in half a tick. */
    double closing_speed_by_load_of_contact =
        block->added_closing_velocity + 2.0 * tact_max(0.0, c->patch.target_velocity[0]);
    if (!(e > 0.0) || c->patch.law == TACT_LAW_WRENCH || !(impact_approach_speed > 0.0) ||
        impact_approach_speed <= 2.0 * closing_speed_by_load_of_contact) {
        return;
    }
    for (int i = 0; i < (can_patch_tip_about_edge(&c->patch) ? 3 : 1); i++) {
        block->restitution_velocity[i] = -e * block->contact_velocity_before_forces[i];
    }
    if (block->normal_cfm > 0.0) {
        /* no spring term: an impact does not load the contact's spring */
        block->local.s[0] -= block->normal_cfm;
        block->normal_cfm = 0.0;
        block->bias_velocity =
            tact_min(block->bias_velocity, tact_max(block->restitution_velocity[0], 0.0));
    }
}

/* Sets the bias velocity and the compliance of the normal row of a patch with an overlap, without
 * restitution. The excess e = p (depth - target) relaxes like a spring 1/c with a damper tau/c,
 * implicit in the depth after the tick: v_n + c / ((h + tau) h) f_n = e / (h + tau). tau is the
 * relaxation time plus, for the force (e / c) (1 - a v_n) of Hunt and Crossley (1975), a e. Where
 * the overlap is less than the target it may close in one tick: v_n >= e / h. The force never
 * pulls. From rest, bodies separate no faster than push_limit and, if rigid or rebounding, no
 * faster than tact_impact_limit_bias_velocities() allows. */
static void set_normal_law_of_overlap(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    const struct tact_contact_law *law = block->law;
    double h = world->options.period;
    double e = c->patch.exponent * (c->patch.depth - c->patch.target - c->preload);
    e = c->preload > 0.0 && law->compliance == 0.0 ? tact_min(e, 0.0) : e;
    double time = h + (e > 0.0 ? law->dissipation + law->hunt_crossley * e : 0.0);
    block->bias_velocity = e / time;
    block->normal_cfm = c->starting ? 0.0 : law->compliance / (time * h);
    int is_rigid_or_rebounding = law->compliance == 0.0 || law->restitution > 0.0;
    block->excess_overlap =
        is_rigid_or_rebounding && e > MIN_OVERLAP_EXCESS_WITH_SPEED_LIMIT * c->patch.target ? e
                                                                                            : 0.0;
    block->bias_velocity_ratio = 1.0 + block->normal_cfm / block->local.s[0];
    block->bias_velocity =
        tact_min(block->bias_velocity, world->options.push_limit * block->bias_velocity_ratio) -
        block->edge_speed;
}

/* Sets the bias velocity, the compliance of the normal row, and the target velocities of tipping,
 * of a patch with gaps g, without restitution: v_n + w_1 x_2 - w_2 x_1 >= -g(x) / h at each of its
 * points x, where none is deeper than its target. Otherwise the deepest point opens like an overlap
 * that is too deep. */
static void set_normal_law_of_gaps(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    const struct tact_contact_law *law = block->law;
    static const double middle[2] = {0.0, 0.0};
    double h = world->options.period, e = find_largest_overlap_excess(c),
           gap = gap_beyond_target_at_point(c, middle);
    if (c->preload > 0.0 && law->compliance == 0.0 && e > 0.0) {
        gap += e;
        e = 0.0;
    }
    double time = h + (e > 0.0 ? law->dissipation + law->hunt_crossley * e : 0.0);
    block->normal_cfm = c->starting ? 0.0 : law->compliance / (time * h);
    block->bias_velocity_ratio = 1.0 + block->normal_cfm / block->local.s[0];
    double most = world->options.push_limit * block->bias_velocity_ratio;
    double rate = e > most * time ? most / e : 1.0 / time;
    int is_rigid_or_rebounding = law->compliance == 0.0 || law->restitution > 0.0;
    /* a patch with corners may tip while it opens, so that its excess is not bounded */
    int is_overlap_excess_bounded = is_rigid_or_rebounding && !c->patch.corners;
    block->excess_overlap =
        is_overlap_excess_bounded && e > tact_contact_touching_depth(world, c) ? e : 0.0;
    block->bias_velocity = -gap * rate;
    block->target_velocity[4] -= c->patch.gap[2] * rate;
    block->target_velocity[5] += c->patch.gap[1] * rate;
}

void tact_impact_set_target_velocity(const struct tact_world *world, struct block *block)
{
    const struct tact_patch *patch = &world->contacts[block->contact].patch;
    double free_velocity[3];
    tact_impact_normal_and_tipping_velocity(block, free_velocity);
    block->added_closing_velocity = block->contact_velocity_before_forces[0] - free_velocity[0];
    block->bias_velocity = block->normal_cfm = block->excess_overlap = 0.0;
    block->bias_velocity_ratio = 1.0;
    memcpy(block->target_velocity, patch->target_velocity, sizeof block->target_velocity);
    if (patch->law == TACT_LAW_DEPTH) {
        set_normal_law_of_overlap(world, block);
    } else if (patch->law == TACT_LAW_GAPS) {
        set_normal_law_of_gaps(world, block);
    }
    block->bias_velocity =
        block->is_normal_immobile ? tact_min(block->bias_velocity, 0.0) : block->bias_velocity;
    block->local.s[0] += block->normal_cfm;
}

/* Closing velocity that the load of a contact causes in a tick [m/s], at velocities with the
 * impulses of the last tick. The part of the impulses that made the bodies separate came from an
 * impact and is no load. */
static double closing_velocity_due_to_load(const struct tact_world *world,
                                           const struct block *block)
{
    double u[3];
    tact_impact_normal_and_tipping_velocity(block, u);
    return block->local.s[0] * world->contacts[block->contact].impulse[0] - tact_max(u[0], 0.0);
}

/* Upper bound of the sum of excess overlaps of contacts on top of each other [m]: the largest
 * excess of each body or hand of an island. */
static double sum_overlap_excess(const struct tact_world *world, const struct island *island)
{
    double sum = 0.0;
    for (int i = 0; i < island->owners.count; i++) {
        world->excess_overlap[island->owners.at[i]] = 0.0;
    }
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        for (int k = 0; k < 2; k++) {
            int at = tact_world_index_of_owner(world, block->owner[k]);
            if (at >= 0) {
                sum += tact_max(0.0, block->excess_overlap - world->excess_overlap[at]);
                world->excess_overlap[at] =
                    tact_max(block->excess_overlap, world->excess_overlap[at]);
            }
        }
    }
    return sum;
}

/* Limits bias velocities so that an overlap that an impact caused is corrected without a hop.
 * Bodies separate no faster than the acceleration d that closes the contact, per tick, brings to
 * rest within the excess e: v^2 + v d = 2 e d / h (half of d is due to the integrator). Contacts on
 * top of each other share the speed that belongs to the sum of their excesses. Where both bodies
 * fall alike, as those of a stack do until the ground stops them, d is due to the load. An impact
 * in the last tick makes the load too large; it is therefore bounded by gravity and by d of the
 * other contacts of the island. */
void tact_impact_limit_bias_velocities(const struct tact_world *world, const struct island *island)
{
    double h = world->options.period, excess_overlap = sum_overlap_excess(world, island);
    double most = h * tact_v3_norm(world->options.gravity);
    for (int i = 0; i < island->blocks.count; i++) {
        most = tact_max(most, world->blocks[island->blocks.at[i]].added_closing_velocity);
    }
    for (int i = 0; i < island->blocks.count && excess_overlap > 0.0; i++) {
        struct block *block = &world->blocks[island->blocks.at[i]];
        if (!(block->excess_overlap > 0.0) || !(block->bias_velocity > 0.0)) {
            continue;
        }
        double load = block->has_body_free_of_joints
                          ? tact_min(closing_velocity_due_to_load(world, block), most)
                          : 0.0;
        double d = tact_max(block->added_closing_velocity, load);
        d = tact_max(d, 0.0);
        double all = sqrt(0.25 * d * d + 2.0 * d / h * excess_overlap) - 0.5 * d;
        double share = block->excess_overlap / excess_overlap * all * block->bias_velocity_ratio;
        block->bias_velocity = tact_min(block->bias_velocity, share - block->edge_speed);
    }
}

void tact_impact_subtract_all_targets(const struct block *block, double u[6])
{
    if (tact_block_has_restitution(block)) {
        u[0] -= tact_max(block->bias_velocity, block->restitution_velocity[0]);
        u[4] -= block->restitution_velocity[1];
        u[5] -= block->restitution_velocity[2];
        return;
    }
    u[0] -= block->bias_velocity;
    for (int i = 0; i < 6; i++) {
        u[i] -= block->target_velocity[i];
    }
}
