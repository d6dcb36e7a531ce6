#include "contact/world/near_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/mesh/mesh_internal.h"
#include "contact/moments/moments_internal.h"
#include "contact/world/world_internal.h"

#define MAX_TRAVEL_BETWEEN_SEARCHES_RATIO                                                          \
    0.25 /* distance that a moving shape may travel until the next broad-phase search, over its    \
          * radius                                                                                 \
          */
#define SEARCH_ROUNDING_FACTOR                                                                     \
    0.98 /* factor of the squared search margin that allows for rounding */

/* Number of shapes with facets, of whose overlaps the corners are found. */
static int count_faceted_shapes(const struct tact_world *world)
{
    int count = 0;
    for (int i = 0; i < world->shape_count; i++) {
        const struct tact_mesh *mesh = world->shapes[i].shape.mesh;
        count += mesh && mesh->facets;
    }
    return count;
}

int tact_broad_phase_create(struct tact_world *world)
{
    struct broad_phase *near = &world->near;
    size_t shapes = (size_t)world->shape_count, slots = (size_t)world->slots + 1;
    int number_of_faceted_shapes = count_faceted_shapes(world);
    near->list = calloc(slots, sizeof *near->list);
    near->slots = calloc(slots, sizeof *near->slots);
    near->pairs = calloc(slots, sizeof *near->pairs);
    near->corners = number_of_faceted_shapes > 1 ? calloc(slots, sizeof *near->corners) : NULL;
    near->candidate_shape_pairs = calloc(slots, sizeof *near->candidate_shape_pairs);
    near->first = calloc(shapes + 2, sizeof *near->first);
    near->order = calloc(shapes + 1, sizeof *near->order);
    near->lower_end_of_search_interval =
        calloc(shapes + 1, sizeof *near->lower_end_of_search_interval);
    near->position_at_search = calloc(3 * shapes + 1, sizeof *near->position_at_search);
    near->orientation_at_search = calloc(4 * shapes + 1, sizeof *near->orientation_at_search);
    near->indices_of_free_pair_slots = calloc(slots, sizeof *near->indices_of_free_pair_slots);
    near->indices_of_unused_pieces =
        calloc((size_t)world->piece_slots + 1, sizeof *near->indices_of_unused_pieces);
    if (tact_keys_create(&near->keys, world->slots) || !near->list || !near->slots ||
        !near->pairs || !near->candidate_shape_pairs || !near->first || !near->order ||
        !near->lower_end_of_search_interval || !near->position_at_search ||
        !near->orientation_at_search || !near->indices_of_free_pair_slots ||
        !near->indices_of_unused_pieces || (number_of_faceted_shapes > 1 && !near->corners)) {
        return -ENOMEM;
    }
    while (near->free_pair_slot_count < world->slots) {
        near->pairs[near->free_pair_slot_count].number = -1;
        near->indices_of_free_pair_slots[near->free_pair_slot_count] =
            world->slots - 1 - near->free_pair_slot_count;
        near->free_pair_slot_count++;
    }
    while (near->unused_piece_slot_count < world->piece_slots) {
        near->indices_of_unused_pieces[near->unused_piece_slot_count] =
            world->slots + near->unused_piece_slot_count * TACT_PIECES;
        near->unused_piece_slot_count++;
    }
    for (int i = 0; i < world->shape_count; i++) {
        if (world->shapes[i].shape.kind != TACT_SHAPE_HALFSPACE) {
            near->order[near->sorted_shape_count++] = i;
        }
    }
    return 0;
}

void tact_broad_phase_destroy(struct broad_phase *near)
{
    void *blocks[] = {near->list,
                      near->slots,
                      near->pairs,
                      near->corners,
                      near->candidate_shape_pairs,
                      near->first,
                      near->order,
                      near->lower_end_of_search_interval,
                      near->position_at_search,
                      near->orientation_at_search,
                      near->indices_of_free_pair_slots,
                      near->indices_of_unused_pieces};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
    tact_keys_destroy(&near->keys);
}

/* Number of pairs of shapes whose first shape is before a. */
static int64_t number_of_pairs_before_shape(const struct tact_world *world, int a)
{
    return (int64_t)a * (2 * (int64_t)world->shape_count - a - 1) / 2;
}

int tact_shape_pair_number(const struct tact_world *world, int a, int b)
{
    return (int)(number_of_pairs_before_shape(world, a) + b - a - 1);
}

void tact_pair_number_to_shapes(const struct tact_world *world, int pair, int *a, int *b)
{
    int low = 0, high = world->shape_count - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(number_of_pairs_before_shape(world, middle) <= pair ? &low : &high) = middle;
    }
    *a = low;
    *b = (int)(pair - number_of_pairs_before_shape(world, low)) + low + 1;
}

/* Distance that a shape may move until the next broad-phase search. */
static double travel_until_next_search(const struct world_shape *shape)
{
    return shape->owner.kind == TACT_OWNER_FIXED
               ? 0.0
               : MAX_TRAVEL_BETWEEN_SEARCHES_RATIO * shape->radius;
}

/* Radius about a shape's origin within which a broad-phase search finds other shapes, valid until
 * the next search. */
static double search_radius_of_shape(const struct world_shape *shape)
{
    return shape->radius + travel_until_next_search(shape) + shape->margin_at_last_search;
}

/* 1 where a shape has moved so far that a search would find other pairs; also for a position that
 * is not finite. */
static int has_shape_left_search_margin(const struct tact_world *world, int i)
{
    const struct world_shape *shape = &world->shapes[i];
    const struct tact_pose *pose = &world->poses[i];
    const double *shape_position_at_last_search = world->near.position_at_search + 3 * i;
    double displacement[3], margin = travel_until_next_search(shape);
    tact_v3_sub(displacement, pose->position, shape_position_at_last_search);
    if (shape->shape.kind == TACT_SHAPE_HALFSPACE) {
        return tact_v3_dot(displacement, displacement) != 0.0 ||
               memcmp(world->near.orientation_at_search + 4 * i, pose->quat_wxyz,
                      sizeof pose->quat_wxyz) != 0;
    }
    return !(tact_v3_dot(displacement, displacement) <= SEARCH_ROUNDING_FACTOR * margin * margin) ||
           shape->contact_search_margin > shape->margin_at_last_search;
}

static int has_any_shape_left_search_margin(const struct tact_world *world)
{
    for (int i = 0; i < world->shape_count; i++) {
        if (has_shape_left_search_margin(world, i)) {
            return 1;
        }
    }
    return 0;
}

/* 1 where a pair of shapes has contact state that a tick must clear once the shapes are separated.
 */
static int does_pair_have_state(const struct tact_world *world, int slot)
{
    static const struct tact_springs springs_without_load;
    const struct tact_contact *c = &world->contacts[slot];
    const struct near_pair *pair = &world->near.pairs[slot];
    return pair->are_moments_required || tact_v3_dot(pair->direction, pair->direction) > 0.0 ||
           c->limits != TACT_LIMIT_OPEN || c->touching || c->stuck || c->split || c->starting ||
           c->moments.volume != 0.0 || c->preload != 0.0 ||
           memcmp(c->warm, springs_without_load.impulse, sizeof c->warm) != 0 ||
           memcmp(&c->springs, &springs_without_load, sizeof springs_without_load) != 0;
}

/* Visits two shapes of the search: where they are near, marks their pair as listed or adds it to
 * the candidates. */
static void list_candidate_pair_if_close(struct tact_world *world, int i, int k)
{
    struct broad_phase *near = &world->near;
    int a = i < k ? i : k, b = i < k ? k : i;
    int slot = tact_broad_phase_slot_of_pair(near, tact_shape_pair_number(world, a, b));
    if (slot >= 0) {
        near->pairs[slot].is_pair_listed = 1;
        return;
    }
    int most = tact_world_max_patches(world, a, b);
    if (most > 0 && near->candidate_shape_pair_count < world->slots) {
        near->candidate_shape_pairs[near->candidate_shape_pair_count++] =
            (struct candidate_shape_pair){a, b, most};
    } else if (most > 0) {
        near->is_capacity_exceeded = 1;
    }
}

static void list_pairs_with_state(struct tact_world *world)
{
    struct broad_phase *near = &world->near;
    for (int i = 0; i < near->count; i++) {
        near->pairs[near->slots[i]].is_pair_listed =
            (uint8_t)does_pair_have_state(world, near->slots[i]);
    }
}

static void list_pairs_with_halfspaces(struct tact_world *world)
{
    struct broad_phase *near = &world->near;
    for (int p = 0; p < world->shape_count; p++) {
        const double z[3] = {0.0, 0.0, 1.0}, *at = world->poses[p].position;
        double up[3], difference_of_shape_origins[3];
        if (world->shapes[p].shape.kind != TACT_SHAPE_HALFSPACE) {
            continue;
        }
        tact_quat_rotate(up, world->poses[p].quat_wxyz, z);
        for (int k = 0; k < near->sorted_shape_count; k++) {
            int i = near->order[k];
            const struct world_shape *shape = &world->shapes[i];
            tact_v3_sub(difference_of_shape_origins, world->poses[i].position, at);
            if (tact_v3_dot(difference_of_shape_origins, up) < search_radius_of_shape(shape)) {
                list_candidate_pair_if_close(world, p, i);
            }
        }
    }
}

/* Index of the world axis along which the shapes' positions are spread furthest. */
static int axis_of_widest_shape_spread(const struct tact_world *world)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int axis_of_widest_spread = 0;
    for (int k = 0; k < world->near.sorted_shape_count; k++) {
        const double *at = world->poses[world->near.order[k]].position;
        for (int i = 0; i < 3; i++) {
            low[i] = at[i] < low[i] ? at[i] : low[i];
            high[i] = at[i] > high[i] ? at[i] : high[i];
        }
    }
    for (int i = 1; i < 3; i++) {
        axis_of_widest_spread =
            high[i] - low[i] > high[axis_of_widest_spread] - low[axis_of_widest_spread]
                ? i
                : axis_of_widest_spread;
    }
    return axis_of_widest_spread;
}

/* Sorts by Shell's method with the gaps of Ciura 2001: in place, and fast where little has changed.
 */
static void sort_shapes_along_axis(struct broad_phase *near)
{
    static const int gaps[] = {57893, 24684, 10525, 4487, 1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        for (int i = gaps[g]; i < near->sorted_shape_count; i++) {
            int shape = near->order[i], k = i;
            for (; k >= gaps[g] && near->lower_end_of_search_interval[near->order[k - gaps[g]]] >
                                       near->lower_end_of_search_interval[shape];
                 k -= gaps[g]) {
                near->order[k] = near->order[k - gaps[g]];
            }
            near->order[k] = shape;
        }
    }
}

/* Visits pairs of bounding spheres that overlap with their margins. Positions that are not finite
 * count as far away. */
static void sweep_and_prune_along_axis(struct tact_world *world)
{
    struct broad_phase *near = &world->near;
    int axis = axis_of_widest_shape_spread(world);
    for (int k = 0; k < near->sorted_shape_count; k++) {
        int i = near->order[k];
        const double *at = world->poses[i].position;
        double reach = search_radius_of_shape(&world->shapes[i]);
        near->lower_end_of_search_interval[i] =
            isfinite(at[0] + at[1] + at[2]) ? at[axis] - reach : INFINITY;
    }
    sort_shapes_along_axis(near);
    for (int k = 0; k < near->sorted_shape_count; k++) {
        int i = near->order[k];
        const double *at = world->poses[i].position;
        double reach = search_radius_of_shape(&world->shapes[i]);
        double end = at[axis] + reach;
        for (int m = k + 1; m < near->sorted_shape_count &&
                            near->lower_end_of_search_interval[near->order[m]] < end;
             m++) {
            int j = near->order[m];
            double difference_of_shape_origins[3];
            double search_radius_sum = reach + search_radius_of_shape(&world->shapes[j]);
            tact_v3_sub(difference_of_shape_origins, at, world->poses[j].position);
            if (tact_v3_dot(difference_of_shape_origins, difference_of_shape_origins) <
                search_radius_sum * search_radius_sum) {
                list_candidate_pair_if_close(world, i, j);
            }
        }
    }
}

/* Sorts the slots of near pairs by the number of their pair: first by the first shape, then by
 * insertion. */
static void sort_slots_by_pair(struct tact_world *world, int count)
{
    struct broad_phase *near = &world->near;
    memset(near->first, 0, ((size_t)world->shape_count + 1) * sizeof *near->first);
    for (int i = 0; i < count; i++) {
        near->first[world->contacts[near->slots[i]].a + 1]++;
    }
    for (int i = 1; i <= world->shape_count; i++) {
        near->first[i] += near->first[i - 1];
    }
    for (int i = 0; i < count; i++) {
        near->list[near->first[world->contacts[near->slots[i]].a]++] = near->slots[i];
    }
    for (int i = 0; i < count; i++) {
        int slot = near->list[i], pair = near->pairs[slot].number, k = i;
        for (; k > 0 && near->list[k - 1] > pair; k--) {
            near->list[k] = near->list[k - 1];
            near->slots[k] = near->slots[k - 1];
        }
        near->list[k] = pair;
        near->slots[k] = slot;
    }
    near->count = count;
}

/* Assigns a free slot to a pair that has come near; -1 where no slot is left. */
static int assign_slot_to_near_pair(struct tact_world *world, const struct candidate_shape_pair *p)
{
    struct broad_phase *near = &world->near;
    if (!near->free_pair_slot_count ||
        (p->max_patches_of_pair > 1 && !near->unused_piece_slot_count)) {
        near->is_capacity_exceeded = 1;
        return -1;
    }
    int slot = near->indices_of_free_pair_slots[--near->free_pair_slot_count],
        number = tact_shape_pair_number(world, p->a, p->b);
    struct tact_contact *c = &world->contacts[slot];
    tact_keys_insert(&near->keys, number, slot);
    near->pairs[slot] = (struct near_pair){.number = number,
                                           .max_patches_of_pair = p->max_patches_of_pair,
                                           .model = tact_world_pair_model(world, p->a, p->b),
                                           .is_pair_listed = 1};
    memset(c, 0, sizeof *c);
    c->a = p->a;
    c->b = p->b;
    c->limits = TACT_LIMIT_OPEN;
    memset(tact_slot_model_state(world, slot), 0, (size_t)world->state * sizeof(double));
    if (world->points.room) {
        tact_points_clear_pair(&world->points, slot);
    }
    if (p->max_patches_of_pair > 1) {
        c->first_piece = near->indices_of_unused_pieces[--near->unused_piece_slot_count];
        tact_pieces_clear_pieces_of_pair(world, c);
    }
    return slot;
}

static void release_pair_slot(struct tact_world *world, int slot)
{
    struct broad_phase *near = &world->near;
    if (near->pairs[slot].max_patches_of_pair > 1) {
        near->indices_of_unused_pieces[near->unused_piece_slot_count++] =
            world->contacts[slot].first_piece;
    }
    tact_keys_remove(&near->keys, near->pairs[slot].number);
    near->pairs[slot].number = -1;
    near->indices_of_free_pair_slots[near->free_pair_slot_count++] = slot;
}

/* Releases the slots of pairs that are no longer near and assigns slots to new ones; returns the
 * number in use. */
static int reassign_pair_slots_after_search(struct tact_world *world)
{
    struct broad_phase *near = &world->near;
    int count_of_pair_slots_in_use = 0;
    for (int i = 0; i < near->count; i++) {
        if (near->pairs[near->slots[i]].is_pair_listed) {
            near->slots[count_of_pair_slots_in_use++] = near->slots[i];
        } else {
            release_pair_slot(world, near->slots[i]);
        }
    }
    for (int i = 0; i < near->candidate_shape_pair_count; i++) {
        int slot = assign_slot_to_near_pair(world, &near->candidate_shape_pairs[i]);
        if (slot >= 0) {
            near->slots[count_of_pair_slots_in_use++] = slot;
        }
    }
    return count_of_pair_slots_in_use;
}

static void run_broad_phase_search(struct tact_world *world)
{
    for (int i = 0; i < world->shape_count; i++) {
        world->shapes[i].margin_at_last_search = tact_motion_search_margin(&world->shapes[i]);
    }
    struct broad_phase *near = &world->near;
    near->candidate_shape_pair_count = near->is_capacity_exceeded = 0;
    list_pairs_with_state(world);
    list_pairs_with_halfspaces(world);
    sweep_and_prune_along_axis(world);
    sort_slots_by_pair(world, reassign_pair_slots_after_search(world));
    for (int i = 0; i < world->shape_count; i++) {
        tact_v3_copy(near->position_at_search + 3 * i, world->poses[i].position);
        memcpy(near->orientation_at_search + 4 * i, world->poses[i].quat_wxyz,
               4 * sizeof *near->orientation_at_search);
    }
    near->was_broad_phase_searched = 1;
}

void tact_broad_phase_update(struct tact_world *world)
{
    if (!world->near.was_broad_phase_searched || has_any_shape_left_search_margin(world)) {
        run_broad_phase_search(world);
    }
}

void tact_broad_phase_add_pair(struct tact_world *world, int pair)
{
    struct broad_phase *near = &world->near;
    struct candidate_shape_pair p;
    if (tact_broad_phase_slot_of_pair(near, pair) >= 0) {
        return;
    }
    tact_pair_number_to_shapes(world, pair, &p.a, &p.b);
    p.max_patches_of_pair = tact_world_max_patches(world, p.a, p.b);
    int slot = p.max_patches_of_pair > 0 ? assign_slot_to_near_pair(world, &p) : -1,
        k = near->count;
    if (slot < 0) {
        return;
    }
    near->count++;
    for (; k > 0 && near->list[k - 1] > pair; k--) {
        near->list[k] = near->list[k - 1];
        near->slots[k] = near->slots[k - 1];
    }
    near->list[k] = pair;
    near->slots[k] = slot;
}
