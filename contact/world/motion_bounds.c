/*
 * Bounds on the motion of shapes in a tick. Pairs of bodies that are marked as fast are searched
 * as far ahead as they may move in two ticks, with models that know the gap of separated shapes.
 * Of all other pairs, those whose shapes pass each other by more than the thinner of them in a
 * tick are counted, because their contact may never have been measured.
 */
#include <errno.h>
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
    if (world->is_world_finished || world->prepared_models.is_prepared || body < 0 ||
        body >= world->body_count) {
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
        shape->travel_in_tick = h * speed;
        shape->search_margin = tact_world_is_shape_of_fast_body(world, i)
                                   ? FAST_BODY_LOOKAHEAD_TICKS * h * (speed + fall)
                               : shape->travel_in_tick > NEGLIGIBLE_TRAVEL_RATIO * shape->radius
                                   ? shape->travel_in_tick
                                   : 0.0;
    }
}

double tact_motion_search_margin(const struct world_shape *shape)
{
    return SEARCH_MARGIN_FACTOR * shape->search_margin;
}

int tact_motion_do_shapes_pass(const struct tact_world *world, const struct tact_contact *c)
{
    const struct world_shape *a = &world->shapes[c->a], *b = &world->shapes[c->b];
    double smaller_thickness = tact_min(a->thickness, b->thickness), of_a[6], of_b[6], moved[3];
    if (!(a->travel_in_tick + b->travel_in_tick > smaller_thickness)) {
        return 0;
    }
    tact_world_shape_twist(world, c->a, of_a);
    tact_world_shape_twist(world, c->b, of_b);
    tact_v3_sub(moved, of_a, of_b);
    return world->options.period * tact_v3_norm(moved) > smaller_thickness;
}
