/*
 * Overlaps that fast bodies have after the drift. The gaps of a solve are linear in the velocity,
 * and are those of the nearest features only. They include neither a corner that the rotation
 * brings down within the tick, nor the curvature of a rotation by a large angle. Bodies that
 * overlap for these reasons are separated along the contact normal, without a separation velocity.
 * They touch at the start of the next tick, whose contacts stop them.
 */
#include <math.h>
#include "contact/world/world_internal.h"

#define MIN_OVERSHOOT_TO_RADIUS_RATIO                                                              \
    1e-11 /* overlap after the drift, over the smaller radius of the shapes, that is not           \
             corrected; larger than the errors of the features model */

#define MIN_SEPARATION_TO_NORMAL_COSINE                                                            \
    0.5 /* smallest cosine between the least separating translation and the contact normal of the  \
           tick: below it the translation may lead through to the far side, so that the depth      \
           along the normal is used */

enum { MOST_PASSES = 4 };

/* Inverse mass of the body of a shape where the body is fast [1/kg]; else 0, as the correction does
 * not move it. */
static double inverse_mass_of_movable_body(const struct tact_world *world, int shape)
{
    if (!tact_world_is_shape_of_fast_body(world, shape)) {
        return 0.0;
    }
    double mass = world->bodies[world->shapes[shape].owner.index].body.mass;
    return 1.0 / mass;
}

/* Moves the body of a shape. Work against gravity is taken from its kinetic energy. */
static void move_body_of_shape(struct tact_world *world, int shape, double distance,
                               const double n[3])
{
    if (distance == 0.0) {
        return;
    }
    struct tact_body *body = &world->bodies[world->shapes[shape].owner.index].body;
    double work = -body->mass * distance * tact_v3_dot(world->options.gravity, n);
    double kinetic_energy = tact_body_energy(body);
    tact_v3_axpy(body->pose.position, distance, n);
    if (work > 0.0 && kinetic_energy > 0.0) {
        double speed_ratio_after_separation = sqrt(tact_max(0.0, 1.0 - work / kinetic_energy));
        tact_v3_scale(body->twist, body->twist, speed_ratio_after_separation);
        tact_v3_scale(body->twist + 3, body->twist + 3, speed_ratio_after_separation);
    }
}

/* Separates the shapes of a pair that overlap by more after the drift than at the start of the
 * tick. Returns 1 where they did. */
static int separate_overshot_pair(struct tact_world *world, int slot)
{
    struct tact_contact *c = &world->contacts[slot];
    double of_a = inverse_mass_of_movable_body(world, c->a),
           of_b = inverse_mass_of_movable_body(world, c->b);
    struct tact_patch patch;
    if (!(of_a + of_b > 0.0) || !tact_world_pair_model(world, c->a, c->b)->gaps ||
        tact_world_measure_pair_after_drift(world, slot, NULL, &patch) < 0 ||
        patch.law != TACT_LAW_GAPS) {
        return 0;
    }
    const double tolerance = MIN_OVERSHOOT_TO_RADIUS_RATIO * tact_contact_smaller_radius(world, c);
    int was_patch_gap_known = c->touching && c->patch.law == TACT_LAW_GAPS;
    if (was_patch_gap_known && patch.depth > tolerance &&
        !(tact_v3_dot(patch.frame, c->patch.frame) > MIN_SEPARATION_TO_NORMAL_COSINE) &&
        (tact_world_measure_pair_after_drift(world, slot, c->patch.frame, &patch) < 0 ||
         !(tact_v3_dot(patch.frame, c->patch.frame) > MIN_SEPARATION_TO_NORMAL_COSINE))) {
        return 0;
    }
    double overlap_depth_increase = patch.depth - (was_patch_gap_known ? c->patch.depth : 0.0);
    if (!(patch.depth > tolerance && overlap_depth_increase > 0.0)) {
        return 0;
    }
    move_body_of_shape(world, c->a, overlap_depth_increase * of_a / (of_a + of_b), patch.frame);
    move_body_of_shape(world, c->b, -overlap_depth_increase * of_b / (of_a + of_b), patch.frame);
    return 1;
}

int tact_overshoot_separate_fast_bodies(struct tact_world *world)
{
    int separated_pair_count = 0;
    for (int pass = 0, separated_in_pass = 1; pass < MOST_PASSES && separated_in_pass; pass++) {
        separated_in_pass = 0;
        for (int k = 0; k < world->near.count; k++) {
            separated_in_pass += separate_overshot_pair(world, world->near.slots[k]);
        }
        separated_pair_count += separated_in_pass;
    }
    return separated_pair_count;
}
