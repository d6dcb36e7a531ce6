/*
 * The extent outside, negative, such that its linear interpolation is 0 on the surface. A node next
 * to the surface has the value at which the line from a neighbour inside is 0 where it crosses the
 * surface. For several neighbours the value minimises the sum of squared distances between the
 * zeros and the crossings. Farther nodes are extrapolated linearly.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "contact/pair/field/lattice_internal.h"
#include "contact/vec.h"

/* Number of layers of nodes outside: a corner of a coarse cell may be four nodes from the
      surface. */
enum { LAYERS = 5 };
/* Smallest magnitude of a value outside, relative to the lattice step. */
#define MIN_EXTRAPOLATED_MAGNITUDE 1e-6

/* Weighted sum, and sum of the weights, of the values that the neighbours inside imply for a node
 * outside: those with which the interpolated extent is 0 on the surface. */
static void add_values_extrapolated_on_lines(const struct lattice *l, size_t node, double *sum,
                                             double *weight)
{
    for (int k = 0; k < 6; k++) {
        size_t from = k % 2 ? node + l->stride[k / 2] : node - l->stride[k / 2];
        if (l->kind[from] != LATTICE_NODE_INSIDE_SOLID || !l->cut[from]) {
            continue;
        }
        double arm = l->node_arm_lengths[l->cut[from]].of[k ^ 1], value = l->value[from];
        if (arm < 1.0 && value > 0.0) {
            /* derivative by the node's value of the position of the zero along the edge: step arm^2
             * / value */
            double by = l->step[k / 2] * arm * arm / value;
            *weight += by * by;
            *sum -= by * by * value * (1.0 - arm) / arm;
        }
    }
}

static int is_extent_defined(const struct lattice *l, size_t node)
{
    return l->kind[node] != LATTICE_NODE_OUTSIDE_SOLID;
}

/* Difference of the extent per lattice step along an axis, from the neighbours that have values:
 * central, or one-sided. */
static double extent_slope_at_lattice_node(const struct lattice *l, size_t node, int axis)
{
    size_t s = l->stride[axis];
    int has_neighbour_value_below = is_extent_defined(l, node - s),
        has_neighbour_value_above = is_extent_defined(l, node + s);
    double low = has_neighbour_value_below ? l->value[node - s] : l->value[node];
    double high = has_neighbour_value_above ? l->value[node + s] : l->value[node];
    return has_neighbour_value_below && has_neighbour_value_above ? 0.5 * (high - low) : high - low;
}

/* Sets *out to the mean of the values that are extrapolated from the neighbours with a value.
 * Returns the number of these neighbours. */
static int extrapolate_from_neighbours(const struct lattice *l, size_t node, double *out)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < 27; i++) {
        const int step[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        size_t from = node;
        for (int k = 0; k < 3; k++) {
            from = step[k] < 0 ? from - l->stride[k] : from + (size_t)step[k] * l->stride[k];
        }
        if (i == 13 || !is_extent_defined(l, from)) {
            continue;
        }
        double value = l->value[from];
        for (int k = 0; k < 3; k++) {
            value -= step[k] ? step[k] * extent_slope_at_lattice_node(l, from, k) : 0.0;
        }
        sum += value;
        count++;
    }
    *out = count ? sum / count : 0.0;
    return count;
}

static int is_node_inside_lattice_border(const struct lattice *l, size_t node)
{
    int at[3];
    lattice_position_of_node(l, node, at);
    for (int k = 0; k < 3; k++) {
        if (at[k] < 2 || at[k] > l->nodes[k] - 3) {
            return 0;
        }
    }
    return 1;
}

/* Lists the nodes without a value that are next to the listed nodes, each once. Returns their
 * number. */
static size_t list_next_outside_nodes(const struct lattice *l, const uint32_t *list, size_t count,
                                      uint8_t *is_node_listed, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < 27; k++) {
            size_t next = list[i];
            next += (size_t)(k % 3) * l->stride[0] + (size_t)(k / 3 % 3) * l->stride[1] +
                    (size_t)(k / 9) * l->stride[2];
            next -= l->stride[0] + l->stride[1] + l->stride[2];
            if (l->kind[next] == LATTICE_NODE_OUTSIDE_SOLID && !is_node_listed[next] &&
                is_node_inside_lattice_border(l, next)) {
                is_node_listed[next] = 1;
                out[n++] = (uint32_t)next;
            }
        }
    }
    return n;
}

static double clamp_extent_outside_solid(const struct lattice *l, double value)
{
    return tact_min(value, -MIN_EXTRAPOLATED_MAGNITUDE * tact_lattice_node_spacing(l));
}

/* Sets the extent at the listed nodes that have a neighbour inside along an axis. */
static void extrapolate_first_layer(struct lattice *l, const uint32_t *list, size_t count,
                                    double *value)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 0.0, weight = 0.0;
        add_values_extrapolated_on_lines(l, list[i], &sum, &weight);
        value[i] = weight > 0.0 ? clamp_extent_outside_solid(l, sum / weight) : NAN;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(value[i])) {
            l->value[list[i]] = value[i];
            l->kind[list[i]] = LATTICE_NODE_WITH_EXTRAPOLATED_EXTENT;
        }
    }
}

static void set_extents_of_outside_layer(struct lattice *l, const uint32_t *list, size_t count,
                                         double *value)
{
    for (size_t i = 0; i < count; i++) {
        value[i] = NAN;
        if (l->kind[list[i]] == LATTICE_NODE_OUTSIDE_SOLID &&
            extrapolate_from_neighbours(l, list[i], &value[i])) {
            value[i] = clamp_extent_outside_solid(l, value[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(value[i])) {
            l->value[list[i]] = value[i];
            l->kind[list[i]] = LATTICE_NODE_WITH_EXTRAPOLATED_EXTENT;
        }
    }
}

int tact_lattice_extrapolate_extent(struct lattice *l)
{
    uint8_t *is_node_listed = calloc(l->count, 1);
    uint32_t *list = malloc(l->count * sizeof *list), *next = malloc(l->count * sizeof *next);
    double *value = malloc(l->count * sizeof *value);
    int rc = is_node_listed && list && next && value ? 0 : -ENOMEM;
    size_t count = 0;
    for (size_t i = 0; i < l->count && !rc; i++) {
        if (l->cut[i] || l->kind[i] == LATTICE_NODE_ON_SURFACE) {
            list[count++] = (uint32_t)i;
        }
    }
    for (int layer_outside_solid = 0; layer_outside_solid < LAYERS && !rc; layer_outside_solid++) {
        size_t found = list_next_outside_nodes(l, list, count, is_node_listed, next);
        uint32_t *last = list;
        list = next;
        next = last;
        count = found;
        if (!layer_outside_solid) {
            extrapolate_first_layer(l, list, count, value);
        }
        set_extents_of_outside_layer(l, list, count, value);
    }
    free(is_node_listed);
    free(list);
    free(next);
    free(value);
    return rc;
}
