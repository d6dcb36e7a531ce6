/* The tick before and after the solve: poses and near pairs, moments, patches, integration. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/moments/moments_internal.h"
#include "contact/pair/models_internal.h"
#include "contact/world/carry_internal.h"
#include "contact/world/world_internal.h"

static const struct tact_pose *pose_of_owner(const struct tact_world *world,
                                             struct tact_owner owner)
{
    if (owner.kind == TACT_OWNER_BODY) {
        return &world->bodies[owner.index].body.pose;
    }
    return tact_hand_link_pose(world->hands[owner.index].hand, owner.link);
}

void tact_world_shape_twist(const struct tact_world *world, int shape, double twist[6])
{
    const struct tact_owner *owner = &world->shapes[shape].owner;
    const double *at = world->poses[shape].position;
    memset(twist, 0, 6 * sizeof *twist);
    if (owner->kind == TACT_OWNER_HAND) {
        tact_hand_link_twist(world->hands[owner->index].hand, owner->link, at, twist);
    } else if (owner->kind == TACT_OWNER_BODY) {
        const struct tact_body *body = &world->bodies[owner->index].body;
        double arm[3];
        memcpy(twist, body->twist, 6 * sizeof *twist);
        tact_v3_sub(arm, at, body->pose.position);
        tact_v3_cross(twist, body->twist + 3, arm);
        tact_v3_add(twist, twist, body->twist);
    }
}

/* 1 where two bounding spheres, or a sphere and a half-space, are nearer to each other than
 * `margin` [m]. */
static int are_bounding_spheres_within_margin(const struct tact_world *world,
                                              const struct tact_contact *c, double margin)
{
    const struct world_shape *a = &world->shapes[c->a], *b = &world->shapes[c->b];
    const struct tact_pose *pa = &world->poses[c->a], *pb = &world->poses[c->b];
    double vector_from_plane_to_solid[3];
    int is_first_shape_of_pair_a_halfspace = a->shape.kind == TACT_SHAPE_HALFSPACE;
    if (is_first_shape_of_pair_a_halfspace || b->shape.kind == TACT_SHAPE_HALFSPACE) {
        const struct tact_pose *plane = is_first_shape_of_pair_a_halfspace ? pa : pb,
                               *solid = is_first_shape_of_pair_a_halfspace ? pb : pa;
        double z[3] = {0.0, 0.0, 1.0}, up[3];
        tact_quat_rotate(up, plane->quat_wxyz, z);
        tact_v3_sub(vector_from_plane_to_solid, solid->position, plane->position);
        return tact_v3_dot(vector_from_plane_to_solid, up) <
               (is_first_shape_of_pair_a_halfspace ? b : a)->radius + margin;
    }
    tact_v3_sub(vector_from_plane_to_solid, pa->position, pb->position);
    return tact_v3_norm(vector_from_plane_to_solid) < a->radius + b->radius + margin;
}

/* Distance beyond their bounding spheres within which two shapes are searched. */
static double pair_search_margin(const struct tact_world *world, const struct tact_contact *c)
{
    return world->shapes[c->a].contact_search_margin + world->shapes[c->b].contact_search_margin;
}

/* 1 where the contact model is to measure a pair: the bounding spheres overlap or, for fast bodies
 * and a model that knows their gap, are within the search margin. */
static int is_pair_measurement_required(const struct tact_world *world,
                                        const struct tact_contact *c)
{
    int is_pair_fast = tact_world_is_shape_of_fast_body(world, c->a) ||
                       tact_world_is_shape_of_fast_body(world, c->b);
    return are_bounding_spheres_within_margin(world, c,
                                              is_pair_fast ? pair_search_margin(world, c) : 0.0);
}

static void compute_shape_pose(const struct tact_world *world, int shape, struct tact_pose *pose)
{
    const struct world_shape *s = &world->shapes[shape];
    if (s->owner.kind == TACT_OWNER_FIXED) {
        *pose = s->local;
    } else {
        tact_pose_mul(pose, pose_of_owner(world, s->owner), &s->local);
    }
}

/* 1 where a pair that a model with gaps measures was in contact in the last tick, but may touch in
 * several places, not all of which the model finds from afar. The bodies' velocities are those that
 * the contacts found have left them. */
static int may_contact_have_been_missed(const struct near_pair *pair, const struct tact_contact *c)
{
    return pair->max_patches_of_pair > 1 && c->touching;
}

void tact_world_begin(struct tact_world *world)
{
    for (int i = 0; i < world->shape_count; i++) {
        compute_shape_pose(world, i, &world->poses[i]);
    }
    tact_motion_update_search_margins(world);
    tact_broad_phase_update(world);
    for (int k = 0; k < world->near.count; k++) {
        struct near_pair *pair = &world->near.pairs[world->near.slots[k]];
        struct tact_contact *c = tact_contact_of_near_pair(world, k);
        const struct tact_contact_model *model = tact_world_pair_model(world, c->a, c->b);
        int is_measurement_required = is_pair_measurement_required(world, c);
        pair->model = model;
        pair->planar = NAN;
        pair->has_overlap_corners = 0;
        pair->is_measurement_required = (uint8_t)is_measurement_required;
        pair->are_moments_required = is_measurement_required && model->moments;
        pair->is_field_measurement_required = is_measurement_required && model == &tact_model_field;
        pair->measurement = NULL;
        pair->pair_measurement_time_ns = 0;
        c->outrun =
            !(is_measurement_required && model->gaps && !may_contact_have_been_missed(pair, c)) &&
            tact_motion_may_shapes_pass_each_other(world, c) &&
            are_bounding_spheres_within_margin(world, c, pair_search_margin(world, c));
        if (!is_measurement_required) {
            memset(pair->direction, 0, sizeof pair->direction);
        } else if (c->touching) {
            tact_v3_copy(pair->direction, c->patch.frame);
        }
    }
}

int tact_world_measure(const struct tact_world *world, int pair,
                       struct tact_moments_scratch *scratch, struct tact_moments *out)
{
    int a, b, slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    struct near_pair *near = slot < 0 ? NULL : &world->near.pairs[slot];
    if (near) {
        a = world->contacts[slot].a;
        b = world->contacts[slot].b;
    } else {
        tact_pair_number_to_shapes(world, pair, &a, &b);
    }
    const double *d = near ? near->direction : NULL;
    int is_direction_known = d && (d[0] != 0.0 || d[1] != 0.0 || d[2] != 0.0);
    struct tact_overlap_corners *corners =
        near && world->near.corners ? &world->near.corners[slot] : NULL;
    if (corners) {
        near->has_overlap_corners = 1;
    }
    return tact_moments_measure(&world->shapes[a].shape, &world->poses[a], &world->shapes[b].shape,
                                &world->poses[b], is_direction_known ? d : NULL, scratch, out,
                                near ? &near->planar : NULL, corners);
}

void tact_world_point_displacement(const struct tact_world *world, int shape, const double *point,
                                   double *displacement)
{
    const struct tact_pose *pose_at_tick_start = &world->poses[shape];
    struct tact_pose now;
    compute_shape_pose(world, shape, &now);
    tact_rotation_vector_between_poses(pose_at_tick_start, &now, displacement + 3);
    tact_point_displacement_between_poses(pose_at_tick_start, &now, displacement + 3, point,
                                          displacement);
}

void tact_world_set_moments(struct tact_world *world, int pair, const struct tact_moments *moments)
{
    if (moments) {
        tact_broad_phase_add_pair(world, pair);
    }
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    if (slot < 0) {
        return; /* the pair is not near, or the capacity is exceeded, which the solve reports */
    }
    struct tact_contact *c = &world->contacts[slot];
    if (moments) {
        c->moments = *moments;
    } else if (c->moments.volume != 0.0) {
        memset(&c->moments, 0, sizeof c->moments);
    }
}

/* Velocity of the frame of a shape at its origin, and the rate of change of that twist during the
 * drift. */
static void compute_shape_twist_and_rate(const struct tact_world *world, int shape,
                                         struct shape_twist_and_rate *motion)
{
    const struct tact_owner *owner = &world->shapes[shape].owner;
    const double *at = world->poses[shape].position;
    double *twist = motion->twist, *rate = motion->rate;
    if (owner->kind == TACT_OWNER_HAND) {
        tact_hand_link_twist_and_rate(world->hands[owner->index].hand, owner->link, at, twist,
                                      rate);
    } else if (owner->kind == TACT_OWNER_BODY) {
        const struct tact_body *body = &world->bodies[owner->index].body;
        const double *w = body->twist + 3;
        double l[3], torque[3], arm[3], moved[3], along[3];
        tact_body_momentum(body, l);
        tact_v3_cross(torque, l, w);
        tact_m3_mul_v3(rate + 3, body->inverse_world, torque);
        tact_v3_sub(arm, at, body->pose.position);
        tact_v3_cross(moved, w, arm);
        tact_v3_cross(along, w, moved);
        tact_v3_cross(rate, rate + 3, arm);
        tact_v3_add(rate, rate, along);
        tact_v3_add(twist, moved, body->twist);
        tact_v3_copy(twist + 3, w);
    } else {
        memset(twist, 0, sizeof motion->twist);
        memset(rate, 0, sizeof motion->rate);
    }
}

const struct shape_twist_and_rate *tact_world_shape_twist_and_rate(struct tact_world *world,
                                                                   int shape)
{
    struct shape_twist_and_rate *motion = &world->shapes[shape].motion;
    if (motion->pair_measurement_of_motion != world->pair_measurement_counter) {
        compute_shape_twist_and_rate(world, shape, motion);
        motion->pair_measurement_of_motion = world->pair_measurement_counter;
    }
    return motion;
}

/* Sum of the magnitudes of the impulses of a pair's forces, of its patch and its pieces, in the
 * last tick. */
static double sum_of_force_impulse_norms_of_pair(const struct tact_world *world,
                                                 const struct tact_contact *c)
{
    double sum = tact_v3_norm(c->warm);
    for (int k = 0; k < TACT_PIECES && c->first_piece; k++) {
        sum += tact_v3_norm(world->contacts[c->first_piece + k].warm);
    }
    return sum;
}

/* Makes the query of a near pair's model at the start of the tick. */
static void make_pair_query(struct tact_world *world, int slot,
                            const struct tact_contact_model *model, struct tact_pair_query *query)
{
    struct tact_contact *c = &world->contacts[slot];
    const struct near_pair *pair = &world->near.pairs[slot];
    *query = (struct tact_pair_query){
        .model = model,
        .a = &world->shapes[c->a].shape,
        .b = &world->shapes[c->b].shape,
        .data_a = tact_prepared_data(world, model, c->a),
        .data_b = tact_prepared_data(world, model, c->b),
        .pose_a = &world->poses[c->a],
        .pose_b = &world->poses[c->b],
        .law = tact_world_pair_law(world, c->a, c->b),
        .options = &world->options,
        .moments = model->moments ? &c->moments : NULL,
        .planar = pair->planar,
        .corners = pair->has_overlap_corners ? &world->near.corners[slot] : NULL,
        .most = pair->max_patches_of_pair,
        .state = tact_slot_model_state(world, slot),
        .counts = world->counts,
        .pressure = world->pressure,
    };
    if (!model->moments) {
        query->pressed = sum_of_force_impulse_norms_of_pair(world, c);
        for (int k = 0; k < 2; k++) {
            const struct shape_twist_and_rate *motion =
                tact_world_shape_twist_and_rate(world, k ? c->b : c->a);
            memcpy(query->twist[k], motion->twist, sizeof motion->twist);
            memcpy(query->rate[k], motion->rate, sizeof motion->rate);
        }
    }
}

/* Measures the pair of a query by its model; times it where its contact is elastic. */
static int measure_by_model(struct tact_world *world, struct near_pair *pair,
                            const struct tact_pair_query *query, struct tact_patch *patch)
{
    const int is_measurement_timed = world->now && query->model->elastic;
    const int64_t start_ns = is_measurement_timed ? world->now() : 0;
    const int pieces = query->model->measure(query, patch, world->piece);
    pair->pair_measurement_time_ns = is_measurement_timed ? world->now() - start_ns : 0;
    return pieces;
}

/* Carries a measurement at earlier poses to the present ones. A pressure map gets the pressures at
 * the earlier poses. */
static int use_measurement_at_earlier_poses(struct tact_world *world, struct tact_contact *c,
                                            const struct pair_measurement *measurement,
                                            struct tact_pair_query *query)
{
    if (query->pressure) {
        query->pose_a = &measurement->pose[0];
        query->pose_b = &measurement->pose[1];
        query->counts = NULL;
        query->model->measure(query, &c->patch, world->piece);
    }
    return tact_carry_measurement_to_poses(world, c->a, c->b, measurement, world->counts, &c->patch,
                                           world->piece);
}

/* Measures a near pair by its model into the contact's patch and world->piece. Returns the number
 * of pieces, or the reason why there is no patch, as in struct tact_contact_model. */
static int measure_pair_patches(struct tact_world *world, int slot,
                                const struct tact_contact_model *model)
{
    struct tact_contact *c = &world->contacts[slot];
    struct near_pair *pair = &world->near.pairs[slot];
    struct tact_pair_query query;
    if ((model->state || !model->moments) && !pair->is_measurement_required) {
        memset(tact_slot_model_state(world, slot), 0, (size_t)world->state * sizeof(double));
        return -EDOM;
    }
    if (model->moments && !(c->moments.volume > 0.0)) {
        return -EDOM;
    }
    make_pair_query(world, slot, model, &query);
    return pair->measurement ? use_measurement_at_earlier_poses(world, c, pair->measurement, &query)
                             : measure_by_model(world, pair, &query, &c->patch);
}

int tact_world_measure_pair_after_drift(struct tact_world *world, int slot, const double *along,
                                        struct tact_patch *patch)
{
    const struct tact_contact *c = &world->contacts[slot];
    double *state = tact_slot_model_state(world, world->slots);
    int counts[TACT_SOLVE_COUNTS] = {0};
    struct tact_pose pose[2];
    struct tact_pair_query query;
    world->pair_measurement_counter++;
    make_pair_query(world, slot, tact_world_pair_model(world, c->a, c->b), &query);
    compute_shape_pose(world, c->a, &pose[0]);
    compute_shape_pose(world, c->b, &pose[1]);
    memcpy(state, query.state, (size_t)world->state * sizeof *state);
    query.pose_a = &pose[0];
    query.pose_b = &pose[1];
    query.state = state;
    query.counts = counts;
    query.pressure = NULL;
    query.along = along;
    query.corners = NULL;
    return query.model->measure(&query, patch, world->piece);
}

/* Adds the block of a contact to the solve of this tick, where a body of it can move. Returns 1
 * where it was added. */
static int add_contact_block(struct tact_world *world, int contact, int points)
{
    if (world->contact_block_count == world->contact_capacity) {
        world->is_contact_capacity_exceeded = 1;
        return 0;
    }
    struct block *block = &world->blocks[world->contact_block_count];
    const struct tact_contact *c = &world->contacts[contact];
    block->contact = contact;
    block->law = tact_world_pair_law(world, c->a, c->b);
    block->points = points;
    tact_block_list_owner_nodes(world, block);
    int has_movable_body = block->node_count > 0;
    world->contact_block_count += has_movable_body;
    return has_movable_body;
}

/* Clears a pair without a patch: separated, or one shape wholly inside the other, which nothing can
 * open. In the latter case it keeps its preload. */
static void clear_pair_without_patch(struct tact_world *world, struct tact_contact *c, int inside)
{
    c->stuck = inside;
    c->preload = inside ? c->preload : 0.0;
    c->limits = TACT_LIMIT_OPEN;
    tact_contact_zero_impulses(c);
    if (tact_pieces_pair_was_split(world, c)) {
        tact_pieces_clear_pieces_of_pair(world, c);
    }
}

/* Sets the pair of the patches that its model has added to the pressure map. */
static void set_pair_of_pressure_patches(struct tact_world *world, int pair,
                                         const struct tact_contact *c,
                                         uint32_t pressure_patches_before_pair)
{
    struct tact_pressure *map = world->pressure;
    for (uint32_t i = pressure_patches_before_pair; map && i < map->patches; i++) {
        map->patch[i].pair = (uint32_t)pair;
        map->patch[i].a = (uint32_t)c->a;
        map->patch[i].b = (uint32_t)c->b;
    }
}

/* Adds the contacts of the n-th near pair to the solve. */
static void assemble_near_pair(struct tact_world *world, int n)
{
    const int slot = world->near.slots[n];
    struct tact_contact *c = &world->contacts[slot];
    uint32_t pressure_patches_before_pair = world->pressure ? world->pressure->patches : 0;
    const struct tact_contact_model *model = world->near.pairs[slot].model;
    int pieces = measure_pair_patches(world, slot, model);
    set_pair_of_pressure_patches(world, world->near.list[n], c, pressure_patches_before_pair);
    c->touching = c->stuck = 0;
    int is_gap_not_measured =
        pieces == -ENODATA || (model->gaps && pieces >= 0 && c->patch.law == TACT_LAW_DEPTH);
    c->outrun |= is_gap_not_measured && tact_motion_may_shapes_pass_each_other(world, c);
    if (pieces < 0) {
        clear_pair_without_patch(world, c, pieces == -ERANGE);
        return;
    }
    int points = model->points;
    tact_pieces_create_contacts(world, slot, world->piece, pieces);
    tact_contact_update_preload(world, c);
    for (int k = 0; k < pieces; k++) {
        c->touching |= add_contact_block(world, c->first_piece + k, points);
    }
    if (!pieces) {
        c->touching = add_contact_block(world, slot, points);
    }
    if (points && c->touching) {
        tact_points_list_pair_points(&world->points, slot, &world->shapes[c->a].shape,
                                     &world->poses[c->a], &world->shapes[c->b].shape,
                                     &world->poses[c->b], &c->patch);
        world->is_point_capacity_exceeded |= !world->points.now.point_count_of_pair[slot];
    }
}

int tact_assemble_blocks(struct tact_world *world)
{
    world->contact_block_count = 0;
    world->is_contact_capacity_exceeded = world->is_point_capacity_exceeded = 0;
    world->pair_measurement_counter++;
    if (world->pressure) {
        tact_pressure_clear(world->pressure);
    }
    if (world->points.room) {
        tact_points_begin_tick(&world->points);
    }
    for (int n = 0; n < world->near.count; n++) {
        assemble_near_pair(world, n);
    }
    return tact_world_exceeded_capacity(world) ? -ENOSPC : 0;
}

/* Depth of a pair beyond its target; 33 sizes for a shape wholly inside the other. An elastic
 * wrench has no target. Solids whose gap is zero start without an overlap: otherwise it would be
 * part of the preload, and so would the depth that they reach later. */
static double initial_overlap_excess(struct tact_world *world, int slot)
{
    const struct tact_contact *c = &world->contacts[slot];
    int rc = measure_pair_patches(world, slot, tact_world_pair_model(world, c->a, c->b));
    if (rc == -ERANGE) {
        double size = c->moments.volume > 0.0 ? tact_cbrt(c->moments.volume)
                                              : tact_contact_smaller_radius(world, c);
        return size / TACT_PATCH_MIN_AREA - tact_world_pair_law(world, c->a, c->b)->overlap;
    }
    double excess_overlap = c->patch.depth - c->patch.target;
    int is_within_touching_depth =
        c->patch.law == TACT_LAW_GAPS && excess_overlap <= tact_contact_touching_depth(world, c);
    return rc < 0 || is_within_touching_depth || c->patch.law == TACT_LAW_WRENCH ? 0.0
                                                                                 : excess_overlap;
}

/* Measures the overlaps of all pairs at the start; returns how many are deeper than their target.
 */
static int measure_start_overlaps(struct tact_world *world, struct tact_moments_scratch *scratch)
{
    int too_deep_overlap_count = 0;
    world->pair_measurement_counter++;
    for (int n = 0; n < world->near.count; n++) {
        int slot = world->near.slots[n];
        struct tact_contact *c = &world->contacts[slot];
        c->preload = 0.0;
        if (!world->near.pairs[slot].are_moments_required ||
            tact_world_measure(world, world->near.list[n], scratch, &c->moments) <= 0) {
            memset(&c->moments, 0, sizeof c->moments);
        }
        c->preload = tact_max(0.0, initial_overlap_excess(world, slot));
        c->starting = c->preload > 0.0;
        too_deep_overlap_count += c->starting;
    }
    return too_deep_overlap_count;
}

int tact_world_start(struct tact_world *world, struct tact_moments_scratch *scratch)
{
    tact_world_begin(world);
    int too_deep_overlap_count = measure_start_overlaps(world, scratch);
    if (too_deep_overlap_count) {
        tact_assemble_blocks(world);
        tact_blocks_find_stuck_at_start(world);
        for (int n = 0; n < world->near.count; n++) {
            tact_contact_of_near_pair(world, n)->touching = 0;
            tact_pieces_clear_pieces_of_pair(world, tact_contact_of_near_pair(world, n));
        }
    }
    return too_deep_overlap_count;
}

int tact_world_integrate(struct tact_world *world)
{
    double h = world->options.period;
    for (int i = 0; i < world->body_count; i++) {
        tact_body_drift(&world->bodies[i].body, h);
    }
    for (int i = 0; i < world->hand_count; i++) {
        tact_hand_integrate(world->hands[i].hand, h);
    }
    int separated_pair_count = tact_overshoot_separate_fast_bodies(world);
    tact_springs_update_loads(world);
    return separated_pair_count;
}
