/*
 * Linear interpolation of a concave extent is below it everywhere. Over a tetrahedron the mean of
 * the difference is the sum of e'H e / 40 over its edges e, H the second derivatives, as the mean
 * product of two barycentric coordinates is 1/20. Over the six tetrahedra of a cell (Kuhn 1960) of
 * steps h it is
 *
 *     (sum of h_k^2 H_kk + sum over k < l of h_k h_l H_kl) / 12
 *
 * Where the values at the nodes are lowered by that much, its interpolation is right in the mean.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "contact/pair/field/lattice_internal.h"
#include "contact/vec.h"

/* Largest correction of a value, relative to the value. Near the surface it changes the slope
 * there. */
#define MAX_MEAN_CORRECTION_RATIO 0.2

/* Extent at a neighbouring node; 0 on the surface and outside. */
static double extent_of_node_or_zero(const struct lattice *l, size_t node)
{
    return l->kind[node] == LATTICE_NODE_INSIDE_SOLID ? l->value[node] : 0.0;
}

/* Second difference h_k^2 H_kk of the extent along an axis, over arms that end on the surface;
 * *slope: the first difference. */
static double second_difference_of_extent(const struct lattice *l, size_t node, int axis,
                                          double *slope)
{
    const double *arm = &l->node_arm_lengths[l->cut[node]].of[2 * axis];
    const size_t next[2] = {node - l->stride[axis], node + l->stride[axis]};
    double extent_slope_to_neighbour[2], both = arm[0] + arm[1];
    for (int side = 0; side < 2; side++) {
        double end = arm[side] < 1.0 ? 0.0 : extent_of_node_or_zero(l, next[side]);
        extent_slope_to_neighbour[side] = (end - l->value[node]) / arm[side];
    }
    *slope = (extent_slope_to_neighbour[1] * arm[0] - extent_slope_to_neighbour[0] * arm[1]) / both;
    return 2.0 * (extent_slope_to_neighbour[0] + extent_slope_to_neighbour[1]) / both;
}

/* Mixed second difference h_k h_l H_kl of the extent at a node whose neighbours are inside. */
static double mixed_second_difference(const struct lattice *l, size_t node, int k, int m)
{
    size_t up = l->stride[k], over = l->stride[m];
    return 0.25 * (extent_of_node_or_zero(l, node + up + over) -
                   extent_of_node_or_zero(l, node + up - over) -
                   extent_of_node_or_zero(l, node - up + over) +
                   extent_of_node_or_zero(l, node - up - over));
}

/* 1 where all nodes are inside that the mixed second differences need. */
static int has_cell_corners_inside(const struct lattice *l, size_t node)
{
    static const int pair[3][2] = {{0, 1}, {1, 2}, {2, 0}};
    for (int i = 0; i < 12; i++) {
        size_t up = l->stride[pair[i / 4][0]], over = l->stride[pair[i / 4][1]];
        size_t at = i & 1 ? node + up : node - up;
        if (l->kind[i & 2 ? at + over : at - over] != LATTICE_NODE_INSIDE_SOLID) {
            return 0;
        }
    }
    return 1;
}

/* Mean error of linear interpolation of the extent near a node. Next to the surface, where not all
 * neighbours have values, the extent is taken to vary along its gradient only. */
static double mean_of_interpolation_error(const struct lattice *l, size_t node)
{
    double second = 0.0, slope[3], mixed = 0.0, square = 0.0;
    for (int k = 0; k < 3; k++) {
        second += second_difference_of_extent(l, node, k, &slope[k]);
        square += slope[k] * slope[k];
    }
    int are_mixed_differences_known = has_cell_corners_inside(l, node);
    for (int k = 0; k < 3; k++) {
        int m = (k + 1) % 3;
        if (are_mixed_differences_known) {
            mixed += mixed_second_difference(l, node, k, m);
        } else if (square > 0.0) {
            mixed += second * slope[k] * slope[m] / square;
        }
    }
    return (second + mixed) / 12.0;
}

int tact_lattice_correct_mean_extent(struct lattice *l, double thickness)
{
    double *error = malloc((l->inside_node_count + 1) * sizeof *error), longest = 0.0;
    if (!error) {
        return -ENOMEM;
    }
    for (int k = 0; k < 3; k++) {
        longest = tact_max(longest, l->step[k]);
    }
    double most =
        longest * longest / (6.0 * thickness); /* bound for an extent whose slope is from 0 to 1 */
    for (size_t i = 0; i < l->inside_node_count; i++) {
        double bound = tact_min(most, MAX_MEAN_CORRECTION_RATIO * l->value[l->inside[i]]);
        double mean = mean_of_interpolation_error(l, l->inside[i]);
        error[i] = tact_min(tact_max(mean, -bound), bound);
    }
    for (size_t i = 0; i < l->inside_node_count; i++) {
        l->value[l->inside[i]] -= error[i];
    }
    free(error);
    return 0;
}
