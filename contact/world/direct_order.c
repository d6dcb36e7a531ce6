/*
 * The order in which the bodies of an island are eliminated, and the resulting fill-in. Bodies
 * that touch are neighbours. The body with the fewest neighbours is eliminated next, which makes
 * its neighbours neighbours of each other (minimum degree, Rose 1972). Of several such bodies the
 * first is taken.
 */
#include <string.h>
#include "contact/world/direct_internal.h"
#include "contact/world/world_internal.h"

static uint64_t *neighbours_of(const struct direct *d, int body)
{
    return d->neighbours + (size_t)body * (size_t)d->words;
}

static void set_bit(uint64_t *row, int bit)
{
    row[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void clear_bit(uint64_t *row, int bit)
{
    row[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

static int count_bits(const struct direct *d, const uint64_t *row)
{
    int count = 0;
    for (int i = 0; i < d->words; i++) {
        count += __builtin_popcountll(row[i]);
    }
    return count;
}

/* Writes the indices of the set bits of a row; returns their number. */
static int list_bits(const struct direct *d, const uint64_t *row, int *out)
{
    int count = 0;
    for (int i = 0; i < d->words; i++) {
        for (uint64_t left = row[i]; left; left &= left - 1) {
            out[count++] = 64 * i + __builtin_ctzll(left);
        }
    }
    return count;
}

/* Finds which bodies touch, by their positions in the island's list. */
static void find_neighbours(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    int n = island->owners.count;
    d->words = (n + 63) / 64;
    memset(d->neighbours, 0, (size_t)n * (size_t)d->words * sizeof *d->neighbours);
    for (int i = 0; i < n; i++) {
        d->row[island->owners.at[i]] = i;
    }
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        int a = tact_direct_body(block, 0), b = tact_direct_body(block, 1);
        if (a >= 0 && b >= 0) {
            set_bit(neighbours_of(d, d->row[a]), d->row[b]);
            set_bit(neighbours_of(d, d->row[b]), d->row[a]);
        }
    }
    for (int i = 0; i < n; i++) {
        d->degree[i] = count_bits(d, neighbours_of(d, i));
    }
}

/* The remaining body with the fewest neighbours. */
static int find_min_degree(const struct direct *d, int n)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        best = d->degree[i] >= 0 && (best < 0 || d->degree[i] < d->degree[best]) ? i : best;
    }
    return best;
}

/* Removes a body from the graph: its neighbours, given as a list, become neighbours of each other.
 */
static void eliminate_body(struct direct *d, int body, const int *list, int count)
{
    const uint64_t *row = neighbours_of(d, body);
    for (int k = 0; k < count; k++) {
        uint64_t *other = neighbours_of(d, list[k]);
        for (int i = 0; i < d->words; i++) {
            other[i] |= row[i];
        }
        clear_bit(other, list[k]);
        clear_bit(other, body);
        d->degree[list[k]] = count_bits(d, other);
    }
    d->degree[body] = -1;
}

int tact_direct_order(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    int n = island->owners.count;
    if (d->island == island) {
        return 1;
    }
    if (island->owners.at[n - 1] >= world->body_count) {
        return 0;
    }
    d->island = NULL;
    find_neighbours(world, island);
    d->start[0] = 0;
    for (int i = 0; i < n; i++) {
        int next = find_min_degree(d, n);
        if (d->start[i] + (size_t)d->degree[next] > d->room) {
            return 0;
        }
        int count = list_bits(d, neighbours_of(d, next), d->column + d->start[i]);
        eliminate_body(d, next, d->column + d->start[i], count);
        d->start[i + 1] = d->start[i] + (size_t)count;
        d->order[i] = island->owners.at[next];
        d->place[next] = i;
    }
    for (size_t i = 0; i < d->start[n]; i++) {
        d->column[i] = d->place[d->column[i]];
    }
    for (int i = 0; i < n; i++) {
        d->row[d->order[i]] = i;
        tact_direct_mass(&world->bodies[d->order[i]].body, d->mass + 36 * (size_t)i);
    }
    d->island = island;
    return 1;
}
