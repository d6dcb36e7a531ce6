/*
 * Bounds on the motion of shapes in a tick. Pairs of bodies that are marked as fast are searched
 * as far ahead as they may move in two ticks, with models that know the gap of separated shapes.
 * Of all other pairs, those whose shapes pass each other by more than the thinner of them in a
 * tick, by their translation or their rotation, are counted, because their contact may never have
 * been measured.
 */
#include <errno.h>
#include <math.h>
#include "contact/mesh/mesh_internal.h"
#include "contact/world/world_internal.h"

#define FAST_BODY_LOOKAHEAD_TICKS                                                                  \
    2.0 /* number of ticks ahead within whose motion the contacts of a fast body are found */
#define NEGLIGIBLE_TRAVEL_RATIO                                                                    \
    0.1 /* travel of a shape in a tick, over its radius, below which contacts need no wider search \
         */
#define SEARCH_MARGIN_FACTOR                                                                       \
    1.25 /* factor of the present search margin, so that a search stays valid while a body         \
            accelerates */

int tact_world_set_fast(struct tact_world *world, int body)
{
    if (world->is_world_definition_finished || world->prepared_models.are_models_prepared ||
        body < 0 || body >= world->body_count) {
        return -EINVAL;
    }
    world->bodies[body].fast = 1;
    return 0;
}

int tact_world_is_shape_of_fast_body(const struct tact_world *world, int shape)
{
    const struct tact_owner *owner = &world->shapes[shape].owner;
    return owner->kind == TACT_OWNER_BODY && world->bodies[owner->index].fast;
}

const struct tact_contact_model *tact_world_find_gapless(const struct tact_world *world, int *a,
                                                         int *b)
{
    for (*a = 0; *a < world->shape_count; (*a)++) {
        for (*b = *a + 1; *b < world->shape_count; (*b)++) {
            if (!tact_world_is_shape_of_fast_body(world, *a) &&
                !tact_world_is_shape_of_fast_body(world, *b)) {
                continue;
            }
            const struct tact_contact_model *model = tact_world_pair_model(world, *a, *b);
            if (!model->gaps && tact_world_max_patches(world, *a, *b) > 0) {
                return model;
            }
        }
    }
    return NULL;
}

void tact_motion_update_search_margins(struct tact_world *world)
{
    double h = world->options.period, fall = 2.0 * h * tact_v3_norm(world->options.gravity);
    for (int i = 0; i < world->shape_count; i++) {
        struct world_shape *shape = &world->shapes[i];
        double twist[6];
        if (shape->owner.kind == TACT_OWNER_FIXED) {
            continue;
        }
        tact_world_shape_twist(world, i, twist);
        double speed = tact_v3_norm(twist);
        shape->origin_travel_in_tick = h * speed;
        shape->rotation_travel_in_tick = h * tact_v3_norm(twist + 3) * shape->radius;
        shape->contact_search_margin =
            tact_world_is_shape_of_fast_body(world, i)
                ? FAST_BODY_LOOKAHEAD_TICKS * h * (speed + fall)
            : shape->origin_travel_in_tick > NEGLIGIBLE_TRAVEL_RATIO * shape->radius
                ? shape->origin_travel_in_tick
                : 0.0;
    }
}

double tact_motion_search_margin(const struct world_shape *shape)
{
    return SEARCH_MARGIN_FACTOR * shape->contact_search_margin;
}

/* Measures the walls of a shape that may be hollow, as a mug: INFINITY for others. Shapes of the
 * same mesh share one measurement. Returns 0 or -ENOMEM. */
static int measure_wall_thickness(struct tact_world *world, int i)
{
    struct world_shape *shape = &world->shapes[i];
    const struct tact_shape *solid = &shape->shape;
    shape->wall_thickness = INFINITY;
    if (!solid->mesh || solid->kind == TACT_SHAPE_TORUS || !tact_shape_type(solid->kind)->concave) {
        return 0;
    }
    for (int k = 0; k < i; k++) {
        const struct world_shape *other = &world->shapes[k];
        if (other->shape.mesh == solid->mesh && other->shape.kind == solid->kind) {
            shape->wall_thickness = other->wall_thickness;
            return 0;
        }
    }
    return tact_mesh_wall_thickness(solid->mesh, &shape->wall_thickness);
}

int tact_motion_measure_shape_extents(struct tact_world *world, int i)
{
    struct world_shape *shape = &world->shapes[i];
    const struct tact_shape *solid = &shape->shape;
    if (measure_wall_thickness(world, i)) {
        return -ENOMEM;
    }
    shape->thickness = tact_min(tact_shape_thickness(solid), shape->wall_thickness);
    for (int k = 0; k < 3; k++) {
        const struct tact_mesh_node *all = solid->mesh ? &solid->mesh->nodes[0] : NULL;
        const double radius = solid->kind == TACT_SHAPE_SPHERE ? solid->size[0] : INFINITY;
        const double lower = all ? all->lower[k] : -radius, upper = all ? all->upper[k] : radius;
        shape->extent[k] = upper - lower;
        shape->reach[k] = tact_max(fabs(lower), fabs(upper));
    }
    if (solid->kind == TACT_SHAPE_HALFSPACE) {
        shape->reach[2] = 0.0;
    }
    return 0;
}

/* The part of a rotation vector, in the shape's frame, that moves the surface of a shape along its
 * normal: not that about an axis of symmetry. */
static void remove_rotation_about_symmetry_axes(const struct tact_shape *shape, double turn[3])
{
    const double *s = shape->size;
    switch (shape->kind) {
    case TACT_SHAPE_SPHERE:
        tact_v3_set(turn, 0.0, 0.0, 0.0);
        break;
    case TACT_SHAPE_ELLIPSOID:
        for (int k = 0; k < 3; k++) {
            turn[k] = s[(k + 1) % 3] == s[(k + 2) % 3] ? 0.0 : turn[k];
        }
        break;
    case TACT_SHAPE_CAPSULE:
    case TACT_SHAPE_CYLINDER:
    case TACT_SHAPE_TORUS:
    case TACT_SHAPE_CONE:
    case TACT_SHAPE_REVOLUTION:
        turn[2] = 0.0;
        break;
    default:
        break;
    }
}

/* Motion of a shape in a tick. */
struct shape_motion_in_tick {
    double axes[9];     /* rotation matrix of the shape's frame */
    double velocity[3]; /* velocity of the origin of the shape's frame, world axes [m/s] */
    double turn[3];     /* rotation vector of the motion of its surface, shape frame [rad] */
    double arc;         /* bound of the distance of its origin, where that moves about another
                           centre, from the straight motion at `velocity` [m] */
};

static void compute_shape_motion_in_tick(const struct tact_world *world, int i,
                                         struct shape_motion_in_tick *m)
{
    double twist[6];
    tact_world_shape_twist(world, i, twist);
    tact_quat_to_m3(m->axes, world->poses[i].quat_wxyz);
    tact_v3_copy(m->velocity, twist);
    m->arc = 0.5 * world->options.period * tact_v3_norm(twist + 3) *
             world->shapes[i].origin_travel_in_tick;
    tact_m3_tmul_v3(m->turn, m->axes, twist + 3);
    tact_v3_scale(m->turn, m->turn, world->options.period);
    remove_rotation_about_symmetry_axes(&world->shapes[i].shape, m->turn);
}

/* Bound of the distance along n, in world axes, by which a rotation moves the points of a shape
 * that are no farther than `distance` from its origin: n (R - 1) x for R by an angle t about k is
 * sin t (n x k) x + (1 - cos t) ((n x k) x k) x. */
static double rotation_travel_along(const struct world_shape *shape,
                                    const struct shape_motion_in_tick *m, const double n[3],
                                    double distance)
{
    double normal[3], first[3], second[3], by_extent = 0.0;
    tact_m3_tmul_v3(normal, m->axes, n);
    tact_v3_cross(first, normal, m->turn);
    if (!(tact_v3_norm(first) > 0.0)) {
        return 0.0;
    }
    tact_v3_cross(second, first, m->turn);
    for (int k = 0; k < 3; k++) {
        by_extent += (fabs(first[k]) + 0.5 * fabs(second[k])) * shape->reach[k];
    }
    return tact_min(by_extent, (tact_v3_norm(first) + 0.5 * tact_v3_norm(second)) * distance);
}

/* Distance along n, in world axes, of the farthest corner of a shape's box from its origin. */
static double compute_box_reach_along(const struct world_shape *shape,
                                      const struct shape_motion_in_tick *m, const double n[3])
{
    double normal[3], sum = 0.0;
    tact_m3_tmul_v3(normal, m->axes, n);
    for (int k = 0; k < 3; k++) {
        sum += normal[k] != 0.0 ? fabs(normal[k]) * shape->reach[k] : 0.0;
    }
    return sum;
}

/* 1 where two shapes may meet within the tick and pass each other: along no axis of theirs are
 * their boxes farther apart than their points move along it, and along one those at which they may
 * meet move by more than the shape's extent. */
static int may_shapes_pass_along_all_axes(const struct tact_world *world, const int shape[2],
                                          const double moved[3],
                                          const struct shape_motion_in_tick motion[2])
{
    const struct world_shape *of[2] = {&world->shapes[shape[0]], &world->shapes[shape[1]]};
    const double thickness = tact_min(of[0]->thickness, of[1]->thickness);
    double difference_of_shape_origins[3];
    int may_shapes_pass_through_each_other = tact_v3_norm(moved) > thickness;
    tact_v3_sub(difference_of_shape_origins, world->poses[shape[0]].position,
                world->poses[shape[1]].position);
    const double distance = tact_v3_norm(difference_of_shape_origins) + tact_v3_norm(moved);
    for (int i = 0; i < 6; i++) {
        const int side = i / 3, k = i % 3;
        const double *axes = motion[side].axes;
        const double n[3] = {axes[k], axes[3 + k], axes[6 + k]};
        double travel_along_box_axis = fabs(tact_v3_dot(n, moved)),
               gap = fabs(tact_v3_dot(n, difference_of_shape_origins));
        for (int j = 0; j < 2; j++) {
            travel_along_box_axis += motion[j].arc;
            travel_along_box_axis +=
                rotation_travel_along(of[j], &motion[j], n, distance + of[1 - j]->radius);
            gap -= compute_box_reach_along(of[j], &motion[j], n);
        }
        if (gap > travel_along_box_axis) {
            return 0;
        }
        may_shapes_pass_through_each_other |= travel_along_box_axis > of[side]->extent[k];
    }
    return may_shapes_pass_through_each_other;
}

int tact_motion_may_shapes_pass_each_other(const struct tact_world *world,
                                           const struct tact_contact *c)
{
    const struct world_shape *a = &world->shapes[c->a], *b = &world->shapes[c->b];
    const int indices_of_contact_shapes[2] = {c->a, c->b};
    double moved[3];
    struct shape_motion_in_tick motion[2];
    if (!(a->origin_travel_in_tick + a->rotation_travel_in_tick + b->origin_travel_in_tick +
              b->rotation_travel_in_tick >
          tact_min(a->thickness, b->thickness))) {
        return 0;
    }
    compute_shape_motion_in_tick(world, c->a, &motion[0]);
    compute_shape_motion_in_tick(world, c->b, &motion[1]);
    tact_v3_sub(moved, motion[0].velocity, motion[1].velocity);
    tact_v3_scale(moved, moved, world->options.period);
    return may_shapes_pass_along_all_axes(world, indices_of_contact_shapes, moved, motion);
}
