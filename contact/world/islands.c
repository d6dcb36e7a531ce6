/* Finds the bodies and hands that are connected in a tick: union-find over contacts and joints. */
#include "contact/world/island_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/world_internal.h"

#define IMPULSE_VECTORS_PER_SEARCH 6 /* number of impulse vectors in struct search */

static int owner_count(const struct tact_world *world)
{
    return world->body_count + world->hand_count;
}

int tact_islands_create(struct tact_world *world)
{
    struct islands *s = &world->islands;
    size_t owners = (size_t)owner_count(world), contacts = (size_t)world->contact_capacity;
    size_t constraints = (size_t)world->constraint_count, bounds = (size_t)world->bounds.count;
    size_t capacity_for_impulse_unknowns = contacts * 6 + constraints + bounds;
    s->list = calloc(owners + 1, sizeof *s->list);
    s->union_find_parent_of_owner = calloc(owners + 1, sizeof *s->union_find_parent_of_owner);
    s->number = calloc(owners + 1, sizeof *s->number);
    s->contact_count = calloc(owners + 1, sizeof *s->contact_count);
    s->items = calloc(contacts + 2 * constraints + bounds + owners + 1, sizeof *s->items);
    s->storage_of_impulse_vectors = calloc(
        capacity_for_impulse_unknowns * (IMPULSE_VECTORS_PER_SEARCH + ANDERSON_STORAGE_VECTORS) + 1,
        sizeof *s->storage_of_impulse_vectors);
    return s->list && s->union_find_parent_of_owner && s->number && s->contact_count && s->items &&
                   s->storage_of_impulse_vectors
               ? 0
               : -ENOMEM;
}

void tact_islands_destroy(struct islands *islands)
{
    free(islands->list);
    free(islands->union_find_parent_of_owner);
    free(islands->number);
    free(islands->contact_count);
    free(islands->items);
    free(islands->storage_of_impulse_vectors);
}

static int find_union_tree_root(struct islands *s, int owner)
{
    while (s->union_find_parent_of_owner[owner] != owner) {
        s->union_find_parent_of_owner[owner] =
            s->union_find_parent_of_owner[s->union_find_parent_of_owner[owner]];
        owner = s->union_find_parent_of_owner[owner];
    }
    return owner;
}

static void unite_owner_sets(struct islands *s, int a, int b)
{
    if (a >= 0 && b >= 0) {
        a = find_union_tree_root(s, a);
        b = find_union_tree_root(s, b);
        s->union_find_parent_of_owner[a > b ? a : b] = a > b ? b : a;
    }
}

static int find_moving_owner_of_block(const struct tact_world *world, int block, int side)
{
    return tact_world_index_of_owner(world, world->blocks[block].owner[side]);
}

static int find_moving_owner_of_constraint(const struct tact_world *world, int constraint, int side)
{
    const struct tact_constraint *b = &world->constraints[constraint].constraint;
    return tact_world_index_of_owner(world, side ? b->b : b->a);
}

/* The island of a moving body or hand, or -1 where it is in none. */
static int island_of_moving_owner(const struct tact_world *world, int a, int b)
{
    return world->islands.number[a >= 0 ? a : b];
}

static int island_of_block(struct tact_world *world, int i)
{
    return island_of_moving_owner(world, find_moving_owner_of_block(world, i, 0),
                                  find_moving_owner_of_block(world, i, 1));
}

static int island_of_constraint(struct tact_world *world, int i)
{
    return island_of_moving_owner(world, find_moving_owner_of_constraint(world, i, 0),
                                  find_moving_owner_of_constraint(world, i, 1));
}

static int island_of_mechanism(struct tact_world *world, int i)
{
    return island_of_constraint(world,
                                world->mechanisms.order[world->mechanisms.list[i].constraint]);
}

static int hand_index_of_joint_bound(const struct tact_world *world, int i)
{
    return world->body_count + world->bounds.list[i].hand;
}

static int island_of_joint_bound(struct tact_world *world, int i)
{
    return island_of_moving_owner(world, hand_index_of_joint_bound(world, i), -1);
}

static int island_of_owner(struct tact_world *world, int i)
{
    return island_of_moving_owner(world, i, i);
}

/* Starts a new island for a union-find root that has none. */
static void assign_island_to_root(struct islands *s, int root)
{
    if (s->number[root] < 0) {
        s->list[s->count] = (struct island){.is_island_unsolved = 1};
        s->number[root] = s->count++;
    }
}

static void assign_island_numbers(struct tact_world *world)
{
    struct islands *s = &world->islands;
    const int owners = owner_count(world);
    for (int i = 0; i < owners; i++) {
        s->union_find_parent_of_owner[i] = i;
        s->number[i] = -1;
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        unite_owner_sets(s, find_moving_owner_of_block(world, i, 0),
                         find_moving_owner_of_block(world, i, 1));
    }
    for (int i = 0; i < world->constraint_count; i++) {
        unite_owner_sets(s, find_moving_owner_of_constraint(world, i, 0),
                         find_moving_owner_of_constraint(world, i, 1));
    }
    s->count = 0;
    for (int i = 0; i < world->contact_block_count; i++) {
        int a = find_moving_owner_of_block(world, i, 0);
        assign_island_to_root(
            s, find_union_tree_root(s, a >= 0 ? a : find_moving_owner_of_block(world, i, 1)));
    }
    for (int i = 0; i < world->constraint_count; i++) {
        int a = find_moving_owner_of_constraint(world, i, 0);
        assign_island_to_root(
            s, find_union_tree_root(s, a >= 0 ? a : find_moving_owner_of_constraint(world, i, 1)));
    }
    for (int i = 0; i < world->bounds.count; i++) {
        assign_island_to_root(s, find_union_tree_root(s, hand_index_of_joint_bound(world, i)));
    }
    for (int i = 0; i < owners; i++) {
        s->number[i] = s->number[find_union_tree_root(s, i)];
    }
}

/* Fills the list at `offset` in each island with the indices of its items; returns the remaining
 * storage. */
static int *fill_island_index_lists(struct tact_world *world, size_t offset, int count,
                                    int (*island_of)(struct tact_world *, int),
                                    int *unused_index_storage)
{
    struct islands *s = &world->islands;
    struct index_list *list;
    /* The first pass counts the items of each island, the second writes them. */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            int island = island_of(world, i);
            if (island < 0) {
                continue;
            }
            list = (struct index_list *)((char *)&s->list[island] + offset);
            if (pass) {
                list->at[list->count] = i;
            }
            list->count++;
        }
        for (int i = 0; i < s->count && !pass; i++) {
            list = (struct index_list *)((char *)&s->list[i] + offset);
            list->at = unused_index_storage;
            unused_index_storage += list->count;
            list->count = 0;
        }
    }
    return unused_index_storage;
}

/* Partitions the storage into the vectors of each search, one island after another. */
static void assign_vectors_of_island_searches(struct islands *s)
{
    double *next = s->storage_of_impulse_vectors;
    for (int i = 0; i < s->count; i++) {
        struct island_search *search = &s->list[i].search;
        int n =
            s->list[i].blocks.count * 6 + s->list[i].constraints.count + s->list[i].bounds.count;
        double **search_vector_pointers[IMPULSE_VECTORS_PER_SEARCH] = {
            &search->before,
            &search->after,
            &search->scale,
            &search->next,
            &search->impulses_of_least_relative_residual,
            &search->impulses_of_least_absolute_residual};
        search->n = n;
        search->spring_anchor_state = 0;
        for (int k = 0; k < IMPULSE_VECTORS_PER_SEARCH; k++) {
            *search_vector_pointers[k] = next;
            next += n;
        }
        tact_anderson_initialise(&search->anderson, next, n);
        next += (size_t)n * ANDERSON_STORAGE_VECTORS;
    }
}

/* Counts the contacts, and bounds of joints, of each body and hand, a contact of a hand with itself
 * once; and finds the contacts whose bodies have no other. */
static void find_contacts_without_coupling(struct tact_world *world)
{
    int *contact_count = world->islands.contact_count;
    memset(contact_count, 0, (size_t)owner_count(world) * sizeof *contact_count);
    for (int i = 0; i < world->bounds.count; i++) {
        contact_count[hand_index_of_joint_bound(world, i)]++;
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        int a = find_moving_owner_of_block(world, i, 0),
            b = find_moving_owner_of_block(world, i, 1);
        if (a >= 0) {
            contact_count[a]++;
        }
        if (b >= 0 && b != a) {
            contact_count[b]++;
        }
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        int a = find_moving_owner_of_block(world, i, 0),
            b = find_moving_owner_of_block(world, i, 1);
        world->blocks[i].is_only_contact_of_bodies =
            (a < 0 || contact_count[a] == 1) && (b < 0 || contact_count[b] == 1);
    }
}

void tact_islands_find(struct tact_world *world)
{
    struct islands *s = &world->islands;
    int *unused_index_storage = s->items;
    world->direct.island = NULL;
    assign_island_numbers(world);
    unused_index_storage =
        fill_island_index_lists(world, offsetof(struct island, blocks), world->contact_block_count,
                                island_of_block, unused_index_storage);
    unused_index_storage = fill_island_index_lists(world, offsetof(struct island, constraints),
                                                   world->constraint_count, island_of_constraint,
                                                   unused_index_storage);
    unused_index_storage =
        fill_island_index_lists(world, offsetof(struct island, mechanisms), world->mechanisms.count,
                                island_of_mechanism, unused_index_storage);
    unused_index_storage =
        fill_island_index_lists(world, offsetof(struct island, bounds), world->bounds.count,
                                island_of_joint_bound, unused_index_storage);
    fill_island_index_lists(world, offsetof(struct island, owners), owner_count(world),
                            island_of_owner, unused_index_storage);
    assign_vectors_of_island_searches(s);
    find_contacts_without_coupling(world);
    for (int i = 0; i < s->count; i++) {
        s->list[i].has_coupled_contacts |= s->list[i].bounds.count > 1;
        for (int k = 0; k < s->list[i].blocks.count; k++) {
            const struct block *block = &world->blocks[s->list[i].blocks.at[k]];
            s->list[i].has_coupled_contacts |= !block->is_only_contact_of_bodies;
            s->list[i].points |= block->points;
        }
    }
}
