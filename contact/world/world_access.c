/* Access of a program to a world: it reads counts, shapes, pairs and contacts, and sets weights,
 * normals and the observer. */
#include <string.h>
#include "contact/record_code_internal.h"
#include "contact/world/near_internal.h"
#include "contact/world/world_internal.h"

TACT_IN_TICK_RECORD_SECTION int tact_world_body_count(const struct tact_world *world)
{
    return world->body_count;
}

TACT_IN_TICK_RECORD_SECTION int tact_world_hand_count(const struct tact_world *world)
{
    return world->hand_count;
}

TACT_IN_TICK_RECORD_SECTION int tact_world_shape_count(const struct tact_world *world)
{
    return world->shape_count;
}

struct tact_world_extent tact_world_extent(const struct tact_world *world)
{
    return world->extent;
}

int tact_world_next_pair(const struct tact_world *world, int pair)
{
    int a = 0, b = 0;
    if (pair >= 0) {
        tact_pair_number_to_shapes(world, pair, &a, &b);
    }
    for (; a < world->shape_count; b = ++a) {
        for (b++; b < world->shape_count; b++) {
            if (tact_world_max_patches(world, a, b) > 0) {
                return tact_shape_pair_number(world, a, b);
            }
        }
    }
    return -1;
}

double *tact_world_state(struct tact_world *world, int pair, int *count)
{
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    *count = tact_world_model(world, pair)->state;
    return slot < 0 ? NULL : tact_slot_model_state(world, slot);
}

int tact_world_near_capacity(const struct tact_world *world)
{
    return world->slots;
}

TACT_IN_TICK_RECORD_SECTION int tact_world_slot(const struct tact_world *world, int pair)
{
    return tact_broad_phase_slot_of_pair(&world->near, pair);
}

const char *tact_world_exceeded_capacity(const struct tact_world *world)
{
    return world->near.is_capacity_exceeded      ? "near pairs"
           : world->is_contact_capacity_exceeded ? "contacts"
           : world->is_point_capacity_exceeded   ? "contact points"
                                                 : NULL;
}

int tact_world_contact_capacity(const struct tact_world *world)
{
    return world->contact_capacity;
}

TACT_IN_TICK_RECORD_SECTION void tact_world_pair_shapes(const struct tact_world *world, int pair,
                                                        int *a, int *b)
{
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    if (slot < 0) {
        tact_pair_number_to_shapes(world, pair, a, b);
        return;
    }
    *a = world->contacts[slot].a;
    *b = world->contacts[slot].b;
}

int tact_world_pair_between(const struct tact_world *world, int a, int b)
{
    int is_valid_pair = a >= 0 && a < b && b < world->shape_count;
    return is_valid_pair && tact_world_max_patches(world, a, b) > 0
               ? tact_shape_pair_number(world, a, b)
               : -1;
}

TACT_IN_TICK_RECORD_SECTION struct tact_body *tact_world_body(struct tact_world *world, int index)
{
    return &world->bodies[index].body;
}

TACT_IN_TICK_RECORD_SECTION struct tact_hand *tact_world_hand(struct tact_world *world, int index)
{
    return world->hands[index].hand;
}

const struct tact_shape *tact_world_shape(const struct tact_world *world, int index)
{
    return &world->shapes[index].shape;
}

struct tact_owner tact_world_owner(const struct tact_world *world, int shape)
{
    return world->shapes[shape].owner;
}

TACT_IN_TICK_RECORD_SECTION struct tact_contact *tact_world_contact(struct tact_world *world,
                                                                    int pair)
{
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    if (slot >= 0) {
        return &world->contacts[slot];
    }
    memset(&world->contact_of_pair_without_slot, 0, sizeof world->contact_of_pair_without_slot);
    tact_pair_number_to_shapes(world, pair, &world->contact_of_pair_without_slot.a,
                               &world->contact_of_pair_without_slot.b);
    world->contact_of_pair_without_slot.limits = TACT_LIMIT_OPEN;
    return &world->contact_of_pair_without_slot;
}

TACT_IN_TICK_RECORD_SECTION struct tact_contact *tact_world_piece(struct tact_world *world,
                                                                  int pair, int k)
{
    int a, b, slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    if (slot >= 0) {
        int first = world->contacts[slot].first_piece;
        return first ? &world->contacts[first + k] : NULL;
    }
    tact_pair_number_to_shapes(world, pair, &a, &b);
    if (tact_world_max_patches(world, a, b) <= 1) {
        return NULL;
    }
    memset(&world->piece_of_pair_without_slot, 0, sizeof world->piece_of_pair_without_slot);
    return &world->piece_of_pair_without_slot;
}

const struct tact_contact_model *tact_world_model_between(const struct tact_world *world, int a,
                                                          int b)
{
    return tact_world_pair_model(world, a, b);
}

const struct tact_contact_model *tact_world_model(const struct tact_world *world, int pair)
{
    int a, b, slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    if (slot >= 0) {
        return world->near.pairs[slot].model;
    }
    tact_pair_number_to_shapes(world, pair, &a, &b);
    return tact_world_pair_model(world, a, b);
}

const struct tact_contact_law *tact_world_law(const struct tact_world *world, int pair)
{
    int a, b;
    tact_world_pair_shapes(world, pair, &a, &b);
    return tact_world_pair_law(world, a, b);
}

void tact_world_refresh(struct tact_world *world)
{
    for (int i = 0; i < world->body_count; i++) {
        tact_body_refresh(&world->bodies[i].body);
    }
    for (int i = 0; i < world->hand_count; i++) {
        tact_hand_refresh(world->hands[i].hand);
    }
}

void tact_world_keep_pressure(struct tact_world *world, struct tact_pressure *map)
{
    world->pressure = map;
}

void tact_world_set_observer(struct tact_world *world, tact_solve_observer_fn observer, void *user)
{
    world->observer = observer;
    world->solve_observer_context = user;
}

void tact_world_set_weight(struct tact_world *world, int body, int on)
{
    world->bodies[body].weight = on;
}

TACT_IN_TICK_RECORD_SECTION const struct tact_pose *
tact_world_shape_poses(const struct tact_world *world)
{
    return world->poses;
}

int tact_world_is_close(const struct tact_world *world, int pair)
{
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    return slot >= 0 && world->near.pairs[slot].are_moments_required;
}

void tact_world_add_near(struct tact_world *world, int pair)
{
    tact_broad_phase_add_pair(world, pair);
}

TACT_IN_TICK_RECORD_SECTION const int *tact_world_near(const struct tact_world *world, int *count)
{
    *count = world->near.count;
    return world->near.list;
}

TACT_IN_TICK_RECORD_SECTION const double *tact_world_direction(const struct tact_world *world,
                                                               int pair)
{
    static const double none[3];
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    return slot < 0 ? none : world->near.pairs[slot].direction;
}

void tact_world_set_direction(struct tact_world *world, int pair, const double normal[3])
{
    int slot = tact_broad_phase_slot_of_pair(&world->near, pair);
    if (slot >= 0) {
        tact_v3_copy(world->near.pairs[slot].direction, normal);
    }
}
