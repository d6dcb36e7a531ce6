#include "contact/world/near_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/world_internal.h"

#define MARGIN 0.25 /* of a moving shape's radius: how far it goes until the next search */
#define LEFT 0.98   /* of the margin, squared: room for rounding */

int tact_near_create(struct tact_world *world)
{
    struct near *near = &world->near;
    size_t shapes = (size_t)world->shape_count, pairs = (size_t)world->pair_count + 1;
    near->list = calloc(pairs, sizeof *near->list);
    near->listed = calloc(pairs, sizeof *near->listed);
    near->found = calloc(pairs, sizeof *near->found);
    near->of = malloc((shapes * shapes / 2 + 1) * sizeof *near->of);
    near->first = calloc(shapes + 2, sizeof *near->first);
    near->order = calloc(shapes + 1, sizeof *near->order);
    near->low = calloc(shapes + 1, sizeof *near->low);
    near->then = calloc(3 * shapes + 1, sizeof *near->then);
    near->plane = calloc(4 * shapes + 1, sizeof *near->plane);
    near->slot = malloc(pairs * sizeof *near->slot);
    near->free = calloc((size_t)world->slots + 1, sizeof *near->free);
    near->free_pieces = calloc((size_t)world->piece_slots + 1, sizeof *near->free_pieces);
    if (!near->list || !near->listed || !near->found || !near->of || !near->first || !near->order ||
        !near->low || !near->then || !near->plane || !near->slot || !near->free ||
        !near->free_pieces) {
        return -ENOMEM;
    }
    memset(near->of, 0xff, (shapes * shapes / 2 + 1) * sizeof *near->of); /* -1 */
    memset(near->slot, 0xff, pairs * sizeof *near->slot);
    while (near->free_count < world->slots) {
        near->free[near->free_count] = world->slots - 1 - near->free_count;
        near->free_count++;
    }
    while (near->free_piece_count < world->piece_slots) {
        near->free_pieces[near->free_piece_count] =
            world->slots + near->free_piece_count * TACT_PIECES;
        near->free_piece_count++;
    }
    for (int i = 0; i < world->pair_count; i++) {
        size_t a = (size_t)world->pairs[i].a, b = (size_t)world->pairs[i].b;
        near->of[b * (b - 1) / 2 + a] = i;
    }
    for (int i = 0; i < world->shape_count; i++) {
        if (world->shapes[i].shape.kind != TACT_SHAPE_HALFSPACE) {
            near->order[near->order_count++] = i;
        }
    }
    return 0;
}

void tact_near_destroy(struct near *near)
{
    free(near->list);
    free(near->listed);
    free(near->of);
    free(near->found);
    free(near->first);
    free(near->order);
    free(near->low);
    free(near->then);
    free(near->plane);
    free(near->slot);
    free(near->free);
    free(near->free_pieces);
}

static double margin_of(const struct world_shape *shape)
{
    return shape->owner.kind == TACT_OWNER_FIXED ? 0.0 : MARGIN * shape->radius;
}

/* Whether a shape is where a search would find other pairs. A position that is not finite is. */
static int has_left(const struct tact_world *world, int i)
{
    const struct world_shape *shape = &world->shapes[i];
    const struct tact_pose *pose = &world->poses[i];
    const double *then = world->near.then + 3 * i;
    double moved[3], margin = margin_of(shape);
    tact_v3_sub(moved, pose->position, then);
    if (shape->shape.kind == TACT_SHAPE_HALFSPACE) {
        return tact_v3_dot(moved, moved) != 0.0 ||
               memcmp(world->near.plane + 4 * i, pose->quat_wxyz, sizeof pose->quat_wxyz) != 0;
    }
    return !(tact_v3_dot(moved, moved) <= LEFT * margin * margin);
}

static int any_has_left(const struct tact_world *world)
{
    for (int i = 0; i < world->shape_count; i++) {
        if (has_left(world, i)) {
            return 1;
        }
    }
    return 0;
}

/* Whether a pair has something that a tick has to clear once its shapes are apart. */
static int is_left_over(const struct tact_world *world, int pair)
{
    static const struct tact_springs none;
    const struct tact_contact *c = tact_near_contact(world, pair);
    const double *direction = world->directions + 3 * pair;
    return world->active[pair] || tact_v3_dot(direction, direction) > 0.0 ||
           c->limits != TACT_LIMIT_OPEN || c->touching || c->stuck || c->split || c->starting ||
           c->moments.volume != 0.0 || c->preload != 0.0 ||
           memcmp(c->warm, none.impulse, sizeof c->warm) != 0 ||
           memcmp(&c->springs, &none, sizeof none) != 0;
}

static void take(struct tact_world *world, int pair, int *count)
{
    if (pair >= 0 && !world->near.listed[pair]) {
        world->near.listed[pair] = 1;
        world->near.found[(*count)++] = pair;
    }
}

static void take_left_over(struct tact_world *world, int *count)
{
    struct near *near = &world->near;
    for (int i = 0; i < near->count; i++) {
        near->listed[near->list[i]] = 0;
    }
    for (int i = 0; i < near->count; i++) {
        if (is_left_over(world, near->list[i])) {
            take(world, near->list[i], count);
        }
    }
}

int tact_near_pair(const struct near *near, int i, int k)
{
    size_t a = (size_t)(i < k ? i : k), b = (size_t)(i < k ? k : i);
    return near->of[b * (b - 1) / 2 + a];
}

static void take_at_planes(struct tact_world *world, int *count)
{
    struct near *near = &world->near;
    for (int p = 0; p < world->shape_count; p++) {
        const double z[3] = {0.0, 0.0, 1.0}, *at = world->poses[p].position;
        double up[3], apart[3];
        if (world->shapes[p].shape.kind != TACT_SHAPE_HALFSPACE) {
            continue;
        }
        tact_quat_rotate(up, world->poses[p].quat_wxyz, z);
        for (int k = 0; k < near->order_count; k++) {
            int i = near->order[k];
            const struct world_shape *shape = &world->shapes[i];
            tact_v3_sub(apart, world->poses[i].position, at);
            if (tact_v3_dot(apart, up) < shape->radius + margin_of(shape)) {
                take(world, tact_near_pair(near, p, i), count);
            }
        }
    }
}

/* The axis along which the shapes are spread furthest. */
static int widest_axis(const struct tact_world *world)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int best = 0;
    for (int k = 0; k < world->near.order_count; k++) {
        const double *at = world->poses[world->near.order[k]].position;
        for (int i = 0; i < 3; i++) {
            low[i] = at[i] < low[i] ? at[i] : low[i];
            high[i] = at[i] > high[i] ? at[i] : high[i];
        }
    }
    for (int i = 1; i < 3; i++) {
        best = high[i] - low[i] > high[best] - low[best] ? i : best;
    }
    return best;
}

/* By Shell's method, with the gaps of Ciura 2001: in place, and quick where little has changed. */
static void sort_order(struct near *near)
{
    static const int gaps[] = {57893, 24684, 10525, 4487, 1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        for (int i = gaps[g]; i < near->order_count; i++) {
            int shape = near->order[i], k = i;
            for (; k >= gaps[g] && near->low[near->order[k - gaps[g]]] > near->low[shape];
                 k -= gaps[g]) {
                near->order[k] = near->order[k - gaps[g]];
            }
            near->order[k] = shape;
        }
    }
}

/* Pairs of bounding spheres that overlap with their margins. What is not finite is far away. */
static void take_swept(struct tact_world *world, int *count)
{
    struct near *near = &world->near;
    int axis = widest_axis(world);
    for (int k = 0; k < near->order_count; k++) {
        int i = near->order[k];
        const double *at = world->poses[i].position;
        double reach = world->shapes[i].radius + margin_of(&world->shapes[i]);
        near->low[i] = isfinite(at[0] + at[1] + at[2]) ? at[axis] - reach : INFINITY;
    }
    sort_order(near);
    for (int k = 0; k < near->order_count; k++) {
        int i = near->order[k];
        const double *at = world->poses[i].position;
        double reach = world->shapes[i].radius + margin_of(&world->shapes[i]);
        double end = at[axis] + reach;
        for (int m = k + 1; m < near->order_count && near->low[near->order[m]] < end; m++) {
            int j = near->order[m];
            double apart[3];
            double both = reach + world->shapes[j].radius + margin_of(&world->shapes[j]);
            tact_v3_sub(apart, at, world->poses[j].position);
            if (tact_v3_dot(apart, apart) < both * both) {
                take(world, tact_near_pair(near, i, j), count);
            }
        }
    }
}

/* Into the list, ascending: by their first shape, then by insertion. */
static void sort_found(struct tact_world *world, int count)
{
    struct near *near = &world->near;
    memset(near->first, 0, ((size_t)world->shape_count + 1) * sizeof *near->first);
    for (int i = 0; i < count; i++) {
        near->first[world->pairs[near->found[i]].a + 1]++;
    }
    for (int i = 1; i <= world->shape_count; i++) {
        near->first[i] += near->first[i - 1];
    }
    for (int i = 0; i < count; i++) {
        near->list[near->first[world->pairs[near->found[i]].a]++] = near->found[i];
    }
    near->count = count;
    for (int i = 1; i < count; i++) {
        int pair = near->list[i], k = i;
        for (; k > 0 && near->list[k - 1] > pair; k--) {
            near->list[k] = near->list[k - 1];
        }
        near->list[k] = pair;
    }
}

/* A contact for a pair that came near; 0 where there is none left. */
static int acquire(struct tact_world *world, int pair)
{
    struct near *near = &world->near;
    const struct world_pair *p = &world->pairs[pair];
    if (!near->free_count || (p->most > 1 && !near->free_piece_count)) {
        near->crowded = 1;
        return 0;
    }
    near->slot[pair] = near->free[--near->free_count];
    struct tact_contact *c = tact_near_contact(world, pair);
    memset(c, 0, sizeof *c);
    c->a = p->a;
    c->b = p->b;
    c->limits = TACT_LIMIT_OPEN;
    memset(tact_pair_state(world, pair), 0, (size_t)world->state * sizeof(double));
    if (p->most > 1) {
        c->first_piece = near->free_pieces[--near->free_piece_count];
        tact_pieces_clear(world, pair);
    }
    return 1;
}

static void release(struct tact_world *world, int pair)
{
    struct near *near = &world->near;
    if (world->pairs[pair].most > 1) {
        near->free_pieces[near->free_piece_count++] = tact_near_contact(world, pair)->first_piece;
    }
    near->free[near->free_count++] = near->slot[pair];
    near->slot[pair] = -1;
}

/* Contacts of the pairs that left go to those that came. */
static int exchange(struct tact_world *world, int count)
{
    struct near *near = &world->near;
    int used = 0;
    near->crowded = 0;
    for (int i = 0; i < near->count; i++) {
        if (!near->listed[near->list[i]]) {
            release(world, near->list[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        int pair = near->found[i];
        near->listed[pair] = near->slot[pair] >= 0 || acquire(world, pair);
        near->found[used] = pair;
        used += near->listed[pair];
    }
    return used;
}

static void search(struct tact_world *world)
{
    struct near *near = &world->near;
    int count = 0;
    take_left_over(world, &count);
    take_at_planes(world, &count);
    take_swept(world, &count);
    sort_found(world, exchange(world, count));
    for (int i = 0; i < world->shape_count; i++) {
        tact_v3_copy(near->then + 3 * i, world->poses[i].position);
        memcpy(near->plane + 4 * i, world->poses[i].quat_wxyz, 4 * sizeof *near->plane);
    }
    near->searched = 1;
}

void tact_near_update(struct tact_world *world)
{
    if (!world->near.searched || any_has_left(world)) {
        search(world);
    }
}

void tact_near_add(struct tact_world *world, int pair)
{
    struct near *near = &world->near;
    int k = near->count;
    if (near->listed[pair] || !acquire(world, pair)) {
        return;
    }
    near->listed[pair] = 1;
    near->count++;
    for (; k > 0 && near->list[k - 1] > pair; k--) {
        near->list[k] = near->list[k - 1];
    }
    near->list[k] = pair;
}
