#include "contact/shape/charts_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"

#define CHART_BALL_MARGIN                                                                          \
    1.1 /* factor by which a cell's bounding ball exceeds that of its nine samples */
#define NORMAL_CONE_MARGIN                                                                         \
    1.3 /* factor by which a cell's cone of normals exceeds that of its samples */
#define MAX_NORMAL_CONE_ANGLE                                                                      \
    1.5 /* half angle from which a cone counts as all directions [rad]                             \
         */

int tact_charts_point(const struct tact_charts *charts, const double place[3],
                      struct tact_surface_point *out)
{
    return charts->type->point(charts, place, out);
}

void tact_charts_move(const struct tact_charts *charts, double place[3], const double step[3])
{
    charts->type->move(charts, place, step);
}

const struct tact_mesh *tact_charts_mesh(const struct tact_charts *charts)
{
    return charts->mesh;
}

void tact_charts_free(struct tact_charts *charts)
{
    if (charts) {
        if (charts->type->release) {
            charts->type->release(charts);
        }
        tact_mesh_free(charts->mesh);
        free(charts->nodes);
    }
    free(charts);
}

static double angle_between_normals(const double *a, const double *b)
{
    double cross[3];
    tact_v3_cross(cross, a, b);
    return tact_atan2(tact_v3_norm(cross), tact_v3_dot(a, b));
}

static void set_normal_cone(struct chart_node *node, double angle)
{
    node->normal_cone_cosine = angle < MAX_NORMAL_CONE_ANGLE ? tact_cos(angle) : -1.0;
    node->sine = angle < MAX_NORMAL_CONE_ANGLE ? tact_sin(angle) : 0.0;
}

static double normal_cone_half_angle(const struct chart_node *node)
{
    return node->normal_cone_cosine > 0.0 ? tact_atan2(node->sine, node->normal_cone_cosine)
                                          : MAX_NORMAL_CONE_ANGLE;
}

/* Projects a Weingarten map onto the plane across an axis: the normals of a part of the surface
 * differ, by which the map of a point is smaller there to the second order only. */
static void curvature_across_axis(const double axis[3], const double bend[9], double out[9])
{
    double half[9];
    for (int i = 0; i < 9; i++) { /* (1 - a a') L */
        half[i] = bend[i];
        for (int k = 0; k < 3; k++) {
            half[i] -= axis[i / 3] * axis[k] * bend[3 * k + i % 3];
        }
    }
    for (int i = 0; i < 9; i++) {
        out[i] = half[i];
        for (int k = 0; k < 3; k++) {
            out[i] -= half[i / 3 * 3 + k] * axis[k] * axis[i % 3];
        }
    }
}

static void add_weighted_curvature_to_node(struct chart_node *node, const double bend[9],
                                           double weight)
{
    double curvature_across_cone_axis[9];
    curvature_across_axis(node->axis, bend, curvature_across_cone_axis);
    for (int i = 0; i < 9; i++) {
        node->bend[i] += weight * curvature_across_cone_axis[i];
    }
}

/* Frobenius norm of the difference of a Weingarten map from that of a node. */
static double curvature_deviation_from_node(const struct chart_node *node, const double bend[9])
{
    double curvature_across_cone_axis[9], sum = 0.0;
    curvature_across_axis(node->axis, bend, curvature_across_cone_axis);
    for (int i = 0; i < 9; i++) {
        sum += (curvature_across_cone_axis[i] - node->bend[i]) *
               (curvature_across_cone_axis[i] - node->bend[i]);
    }
    return sqrt(sum);
}

/* Makes the tree leaf of a surface cell, from the cell's nine samples. */
static int make_chart_leaf(const struct tact_charts *charts, const struct chart_surface_cell *cell,
                           struct chart_node *leaf)
{
    struct tact_surface_point p[9];
    double angle = 0.0;
    for (int i = 0; i < 9; i++) {
        if (tact_charts_point(charts, cell->place[i], &p[i])) {
            return -EINVAL;
        }
    }
    memset(leaf, 0, sizeof *leaf);
    leaf->first = -1;
    memcpy(leaf->place, cell->place[4], sizeof leaf->place);
    tact_v3_copy(leaf->center, p[4].at);
    tact_v3_copy(leaf->axis, p[4].normal);
    for (int i = 0; i < 9; i++) {
        double d[3];
        tact_v3_sub(d, p[i].at, leaf->center);
        leaf->radius = tact_max(leaf->radius, CHART_BALL_MARGIN * tact_v3_norm(d));
        leaf->node_extent_along_cone_axis =
            tact_max(leaf->node_extent_along_cone_axis,
                     NORMAL_CONE_MARGIN * fabs(tact_v3_dot(d, leaf->axis)));
        angle =
            tact_max(angle, NORMAL_CONE_MARGIN * angle_between_normals(p[i].normal, leaf->axis));
        add_weighted_curvature_to_node(leaf, p[i].bend, 1.0 / 9.0);
    }
    for (int i = 0; i < 9; i++) {
        const double off = NORMAL_CONE_MARGIN * curvature_deviation_from_node(leaf, p[i].bend);
        leaf->max_curvature_deviation = tact_max(leaf->max_curvature_deviation, off);
    }
    set_normal_cone(leaf, angle);
    return 0;
}

double tact_chart_node_extent_along(const struct chart_node *node, const double along[3])
{
    double c = fabs(tact_v3_dot(node->axis, along));
    return tact_min(node->node_extent_along_cone_axis * c +
                        node->radius * sqrt(tact_max(0.0, 1.0 - c * c)),
                    node->radius);
}

struct chart_leaf_with_sort_key {
    double key;
    int leaf;
};

static int compare_chart_leaf_sort_keys(const void *a, const void *b)
{
    const struct chart_leaf_with_sort_key *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->leaf - y->leaf;
}

/* Computes the middle, and finds the longest side, of the box of the leaves' centres. */
static int find_longest_axis_of_leaves(const struct chart_node *leaf,
                                       const struct chart_leaf_with_sort_key *list, int count,
                                       double middle[3])
{
    double side[3];
    int axis_of_longest_box_side = 0;
    for (int k = 0; k < 3; k++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int i = 0; i < count; i++) {
            lower = tact_min(lower, leaf[list[i].leaf].center[k]);
            upper = tact_max(upper, leaf[list[i].leaf].center[k]);
        }
        middle[k] = 0.5 * (lower + upper);
        side[k] = upper - lower;
        axis_of_longest_box_side =
            side[k] > side[axis_of_longest_box_side] ? k : axis_of_longest_box_side;
    }
    return axis_of_longest_box_side;
}

/* Computes a node's bounding ball, normal cone and curvature over its leaves. */
static void compute_bounds_of_chart_node(const struct chart_node *leaf,
                                         const struct chart_leaf_with_sort_key *list, int count,
                                         struct chart_node *node)
{
    double angle = 0.0;
    memset(node->axis, 0, sizeof node->axis);
    memset(node->bend, 0, sizeof node->bend);
    node->radius = node->node_extent_along_cone_axis = node->max_curvature_deviation = 0.0;
    for (int i = 0; i < count; i++) {
        tact_v3_add(node->axis, node->axis, leaf[list[i].leaf].axis);
    }
    int has_normal_cone = tact_v3_normalize(node->axis, node->axis) > 1e-3 * count;
    for (int i = 0; i < count; i++) {
        add_weighted_curvature_to_node(node, leaf[list[i].leaf].bend, 1.0 / count);
    }
    for (int i = 0; i < count; i++) {
        const struct chart_node *l = &leaf[list[i].leaf];
        double d[3];
        tact_v3_sub(d, l->center, node->center);
        node->radius = tact_max(node->radius, tact_v3_norm(d) + l->radius);
        node->node_extent_along_cone_axis = tact_max(
            node->node_extent_along_cone_axis,
            fabs(tact_v3_dot(d, node->axis)) + tact_chart_node_extent_along(l, node->axis));
        angle =
            tact_max(angle, angle_between_normals(node->axis, l->axis) + normal_cone_half_angle(l));
        node->max_curvature_deviation =
            tact_max(node->max_curvature_deviation,
                     curvature_deviation_from_node(node, l->bend) + l->max_curvature_deviation);
    }
    set_normal_cone(node, has_normal_cone ? angle : MAX_NORMAL_CONE_ANGLE);
}

/* Builds the tree over a range of leaves, with its root at node `at`. */
static void build_chart_node(struct tact_charts *charts, const struct chart_node *leaf,
                             struct chart_leaf_with_sort_key *list, int count, int at)
{
    if (count == 1) {
        charts->nodes[at] = leaf[list->leaf];
        return;
    }
    int half = count / 2, first = charts->node_count;
    int axis = find_longest_axis_of_leaves(leaf, list, count, charts->nodes[at].center);
    charts->node_count += 2;
    charts->nodes[at].first = first;
    compute_bounds_of_chart_node(leaf, list, count, &charts->nodes[at]);
    for (int i = 0; i < count; i++) {
        list[i].key = leaf[list[i].leaf].center[axis];
    }
    qsort(list, (size_t)count, sizeof *list, compare_chart_leaf_sort_keys);
    build_chart_node(charts, leaf, list, half, first);
    build_chart_node(charts, leaf, list + half, count - half, first + 1);
}

int tact_charts_build(struct tact_charts *charts, const struct chart_surface_cell *cell, int count)
{
    struct chart_node *leaf = calloc((size_t)count, sizeof *leaf);
    struct chart_leaf_with_sort_key *list = calloc((size_t)count, sizeof *list);
    charts->nodes = calloc(2 * (size_t)count, sizeof *charts->nodes);
    int rc = leaf && list && charts->nodes ? 0 : -ENOMEM;
    for (int i = 0; !rc && i < count; i++) {
        rc = make_chart_leaf(charts, &cell[i], &leaf[i]);
        list[i].leaf = i;
    }
    if (!rc) {
        for (int i = 0; i < count; i++) {
            double reach_of_leaf_from_origin = tact_v3_norm(leaf[i].center) + leaf[i].radius;
            charts->radius = tact_max(charts->radius, reach_of_leaf_from_origin);
        }
        charts->node_count = 1;
        build_chart_node(charts, leaf, list, count, 0);
    }
    free(list);
    free(leaf);
    return rc;
}

void tact_charts_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    *out = shape->charts->mass;
}

/* never used: tact_shape_radius() returns the radius of the charts */
double tact_charts_bounding_radius(const double size[3])
{
    (void)size;
    return 0.0;
}
