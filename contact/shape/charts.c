#include "contact/shape/charts_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"

#define BALL_MARGIN 1.1 /* of a cell's ball over its nine samples */
#define CONE_MARGIN 1.3 /* of its cone of normals over theirs */
#define WIDEST 1.5      /* half angle from which a cone counts as all directions [rad] */

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
        tact_mesh_free(charts->mesh);
        free(charts->nodes);
    }
    free(charts);
}

static double angle_between(const double *a, const double *b)
{
    double cross[3];
    tact_v3_cross(cross, a, b);
    return tact_atan2(tact_v3_norm(cross), tact_v3_dot(a, b));
}

static void set_cone(struct chart_node *node, double angle)
{
    node->cosine = angle < WIDEST ? tact_cos(angle) : -1.0;
    node->sine = angle < WIDEST ? tact_sin(angle) : 0.0;
}

static double cone_angle(const struct chart_node *node)
{
    return node->cosine > 0.0 ? tact_atan2(node->sine, node->cosine) : WIDEST;
}

/* The leaf of a cell, from its nine samples. */
static int make_leaf(const struct tact_charts *charts, const struct chart_cell *cell,
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
        leaf->radius = tact_max(leaf->radius, BALL_MARGIN * tact_v3_norm(d));
        angle = tact_max(angle, CONE_MARGIN * angle_between(p[i].normal, leaf->axis));
    }
    set_cone(leaf, angle);
    return 0;
}

/* The node that contains two others. */
static void join_nodes(struct chart_node *out, const struct chart_node *a,
                       const struct chart_node *b)
{
    double d[3], length = 0.0;
    tact_v3_sub(d, b->center, a->center);
    length = tact_v3_norm(d);
    tact_v3_add(out->center, a->center, b->center);
    tact_v3_scale(out->center, out->center, 0.5);
    out->radius = 0.5 * length + tact_max(a->radius, b->radius);
    tact_v3_add(out->axis, a->axis, b->axis);
    if (!(tact_v3_normalize(out->axis, out->axis) > 1e-3)) {
        tact_v3_copy(out->axis, a->axis);
        set_cone(out, WIDEST);
        return;
    }
    double angle = tact_max(angle_between(out->axis, a->axis) + cone_angle(a),
                            angle_between(out->axis, b->axis) + cone_angle(b));
    set_cone(out, angle);
}

struct sorted {
    double key;
    int leaf;
};

static int compare_keys(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->leaf - y->leaf;
}

/* Sorts leaves along the longest side of the box of their centres. */
static void sort_leaves(const struct chart_node *leaf, struct sorted *list, int count)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    int axis = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            lower[k] = tact_min(lower[k], leaf[list[i].leaf].center[k]);
            upper[k] = tact_max(upper[k], leaf[list[i].leaf].center[k]);
        }
    }
    for (int k = 1; k < 3; k++) {
        axis = upper[k] - lower[k] > upper[axis] - lower[axis] ? k : axis;
    }
    for (int i = 0; i < count; i++) {
        list[i].key = leaf[list[i].leaf].center[axis];
    }
    qsort(list, (size_t)count, sizeof *list, compare_keys);
}

/* Fills node `at` with the tree over these leaves. */
static void build_node(struct tact_charts *charts, const struct chart_node *leaf,
                       struct sorted *list, int count, int at)
{
    if (count == 1) {
        charts->nodes[at] = leaf[list->leaf];
        return;
    }
    int half = count / 2, first = charts->node_count;
    charts->node_count += 2;
    sort_leaves(leaf, list, count);
    build_node(charts, leaf, list, half, first);
    build_node(charts, leaf, list + half, count - half, first + 1);
    join_nodes(&charts->nodes[at], &charts->nodes[first], &charts->nodes[first + 1]);
    charts->nodes[at].first = first;
}

static void set_extent(struct tact_charts *charts, const struct chart_node *leaf, int count)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < count; i++) {
        double reach = tact_v3_norm(leaf[i].center) + leaf[i].radius;
        charts->radius = tact_max(charts->radius, reach);
        for (int k = 0; k < 3; k++) {
            lower[k] = tact_min(lower[k], leaf[i].center[k]);
            upper[k] = tact_max(upper[k], leaf[i].center[k]);
        }
    }
    charts->thickness =
        tact_min(upper[0] - lower[0], tact_min(upper[1] - lower[1], upper[2] - lower[2]));
}

int tact_charts_build(struct tact_charts *charts, const struct chart_cell *cell, int count)
{
    struct chart_node *leaf = calloc((size_t)count, sizeof *leaf);
    struct sorted *list = calloc((size_t)count, sizeof *list);
    charts->nodes = calloc(2 * (size_t)count, sizeof *charts->nodes);
    int rc = leaf && list && charts->nodes ? 0 : -ENOMEM;
    for (int i = 0; !rc && i < count; i++) {
        rc = make_leaf(charts, &cell[i], &leaf[i]);
        list[i].leaf = i;
    }
    if (!rc) {
        charts->node_count = 1;
        build_node(charts, leaf, list, count, 0);
        set_extent(charts, leaf, count);
    }
    free(list);
    free(leaf);
    return rc;
}
