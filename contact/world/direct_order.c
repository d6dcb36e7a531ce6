/*
 * The order in which the nodes of an island are eliminated, and the resulting fill-in. Nodes of the
 * same contact are neighbours. The node with the fewest neighbours is eliminated next, which makes
 * its neighbours neighbours of each other (minimum degree, Rose 1972). Of several such nodes the
 * first is taken.
 */
#include <string.h>
#include "contact/world/direct_internal.h"
#include "contact/world/hand_internal.h"
#include "contact/world/world_internal.h"

static uint64_t *neighbour_bits_of_node(const struct direct *d, int node)
{
    return d->neighbour_bits_of_nodes + (size_t)node * (size_t)d->neighbour_words_per_node;
}

static void set_bit_of_neighbour_set(uint64_t *row, int bit)
{
    row[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void clear_bit_of_neighbour_set(uint64_t *row, int bit)
{
    row[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

static int count_bits_of_neighbour_set(const struct direct *d, const uint64_t *row)
{
    int count = 0;
    for (int i = 0; i < d->neighbour_words_per_node; i++) {
        count += __builtin_popcountll(row[i]);
    }
    return count;
}

/* Writes the indices of the bits that are set in a row; returns their number. */
static int list_set_bits(const struct direct *d, const uint64_t *row, int *out)
{
    int count = 0;
    for (int i = 0; i < d->neighbour_words_per_node; i++) {
        for (uint64_t bits_still_to_list = row[i]; bits_still_to_list;
             bits_still_to_list &= bits_still_to_list - 1) {
            out[count++] = 64 * i + __builtin_ctzll(bits_still_to_list);
        }
    }
    return count;
}

/* Lists the nodes of an island. */
static void list_island_nodes(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    d->rows = 0;
    for (int i = 0; i < island->owners.count; i++) {
        int owner = island->owners.at[i], hand = owner - world->body_count;
        int first = hand < 0 ? owner : world->hands[hand].node;
        int count = hand < 0 ? 1 : world->hands[hand].hand->coordinate_chain_count;
        for (int k = first; k < first + count; k++) {
            if (d->dof[k]) {
                d->list[d->rows++] = k;
            }
        }
    }
}

static void mark_nodes_as_neighbours(struct direct *d, int node, int node_to_connect)
{
    int a = d->row[node], b = d->row[node_to_connect];
    if (a != b) {
        set_bit_of_neighbour_set(neighbour_bits_of_node(d, a), b);
    }
}

/* Finds the neighbours of each listed node, those with which it shares a contact. Nodes are
 * identified by their positions in the list. */
static void find_node_neighbours(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    int n = d->rows;
    d->neighbour_words_per_node = (n + 63) / 64;
    memset(d->neighbour_bits_of_nodes, 0,
           (size_t)n * (size_t)d->neighbour_words_per_node * sizeof *d->neighbour_bits_of_nodes);
    for (int i = 0; i < n; i++) {
        d->row[d->list[i]] = i;
    }
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        for (int k = 0; k < block->node_count * block->node_count; k++) {
            const struct block_jacobian_node *node = &block->nodes[k / block->node_count],
                                             *other = &block->nodes[k % block->node_count];
            if (node->newton_step_unknown_count && other->newton_step_unknown_count) {
                mark_nodes_as_neighbours(d, node->node, other->node);
            }
        }
    }
    for (int i = 0; i < n; i++) {
        d->degree[i] = count_bits_of_neighbour_set(d, neighbour_bits_of_node(d, i));
    }
}

/* The node with the fewest neighbours among those not yet eliminated. */
static int find_node_of_least_degree(const struct direct *d, int n)
{
    int least_degree_node = -1;
    for (int i = 0; i < n; i++) {
        least_degree_node = d->degree[i] >= 0 && (least_degree_node < 0 ||
                                                  d->degree[i] < d->degree[least_degree_node])
                                ? i
                                : least_degree_node;
    }
    return least_degree_node;
}

/* Eliminates a node from the graph: its neighbours, given as a list, become neighbours of each
 * other.
 */
static void eliminate_node_from_graph(struct direct *d, int node, const int *list, int count)
{
    const uint64_t *row = neighbour_bits_of_node(d, node);
    for (int k = 0; k < count; k++) {
        uint64_t *neighbours_of_neighbour = neighbour_bits_of_node(d, list[k]);
        for (int i = 0; i < d->neighbour_words_per_node; i++) {
            neighbours_of_neighbour[i] |= row[i];
        }
        clear_bit_of_neighbour_set(neighbours_of_neighbour, list[k]);
        clear_bit_of_neighbour_set(neighbours_of_neighbour, node);
        d->degree[list[k]] = count_bits_of_neighbour_set(d, neighbours_of_neighbour);
    }
    d->degree[node] = -1;
}

/* Mass matrix of a node: of a free body, or the identity for a chain of joints. */
static void mass_matrix_of_node(const struct tact_world *world, int node, double *out)
{
    if (node < world->body_count) {
        tact_body_world_mass_matrix(&world->bodies[node].body, out);
        return;
    }
    for (int i = 0; i < 36; i++) {
        out[i] = i % 7 == 0;
    }
}

int tact_sparse_order_nodes(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    if (d->island == island) {
        return 1;
    }
    d->island = NULL;
    list_island_nodes(world, island);
    find_node_neighbours(world, island);
    d->start[0] = 0;
    for (int i = 0; i < d->rows; i++) {
        int next = find_node_of_least_degree(d, d->rows);
        if (next < 0 || d->start[i] + (size_t)d->degree[next] > d->off_diagonal_entry_capacity) {
            return 0;
        }
        int count = list_set_bits(d, neighbour_bits_of_node(d, next), d->column + d->start[i]);
        eliminate_node_from_graph(d, next, d->column + d->start[i], count);
        d->start[i + 1] = d->start[i] + (size_t)count;
        d->order[i] = d->list[next];
        d->place[next] = i;
    }
    for (size_t i = 0; i < d->start[d->rows]; i++) {
        d->column[i] = d->place[d->column[i]];
    }
    for (int i = 0; i < d->rows; i++) {
        d->row[d->order[i]] = i;
        mass_matrix_of_node(world, d->order[i], d->mass + 36 * (size_t)i);
    }
    d->island = island;
    return 1;
}
