/* The tree over a field's cells: halved along the widest spread of their centres. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "contact/pair/field/field_internal.h"

struct item {
    double centre[3], key;
    uint32_t cell;
};

static int compare_items(const void *pa, const void *pb)
{
    const struct item *a = pa, *b = pb;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->cell < b->cell ? -1 : a->cell > b->cell;
}

static void sort_widest(struct item *items, size_t count)
{
    int axis = 0;
    double widest = -1.0;
    for (int k = 0; k < 3; k++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            least = tact_min(least, items[i].centre[k]);
            most = tact_max(most, items[i].centre[k]);
        }
        if (most - least > widest) {
            widest = most - least;
            axis = k;
        }
    }
    for (size_t i = 0; i < count; i++) {
        items[i].key = items[i].centre[axis];
    }
    qsort(items, count, sizeof *items, compare_items);
}

static void include(double *lower, double *upper, const double *from, const double *to)
{
    for (int k = 0; k < 3; k++) {
        lower[k] = tact_min(lower[k], from[k]);
        upper[k] = tact_max(upper[k], to[k]);
    }
}

static const struct field_node nothing = {
    .lower = {INFINITY, INFINITY, INFINITY},
    .upper = {-INFINITY, -INFINITY, -INFINITY},
    .rim_lower = {INFINITY, INFINITY, INFINITY},
    .rim_upper = {-INFINITY, -INFINITY, -INFINITY},
    .slope_lower = {INFINITY, INFINITY, INFINITY},
    .slope_upper = {-INFINITY, -INFINITY, -INFINITY},
    .least = INFINITY,
    .most = -INFINITY,
};

static void bound_cell(const struct tact_field *field, uint32_t i, struct field_node *node)
{
    const struct field_cell *cell = &field->cells[i];
    int corners = field->rigid ? 3 : 4;
    *node = nothing;
    for (int k = 0; k < corners; k++) {
        const double *x = field->vertices + 3 * (size_t)cell->corner[k];
        include(node->lower, node->upper, x, x);
        /* A corner is on the sides opposite to the others. */
        if (field->rigid || cell->rim & (31 & ~(1 << k))) {
            include(node->rim_lower, node->rim_upper, x, x);
        }
        node->least =
            field->rigid ? -INFINITY : tact_min(node->least, field->pressure[cell->corner[k]]);
        node->most =
            field->rigid ? INFINITY : tact_max(node->most, field->pressure[cell->corner[k]]);
    }
    include(node->slope_lower, node->slope_upper, cell->gradient, cell->gradient);
    node->first = i;
    node->leaf = 1;
}

static void join(const struct field_node *child, struct field_node *node)
{
    *node = nothing;
    for (int i = 0; i < 2; i++) {
        include(node->lower, node->upper, child[i].lower, child[i].upper);
        include(node->rim_lower, node->rim_upper, child[i].rim_lower, child[i].rim_upper);
        include(node->slope_lower, node->slope_upper, child[i].slope_lower, child[i].slope_upper);
        node->least = tact_min(node->least, child[i].least);
        node->most = tact_max(node->most, child[i].most);
    }
}

static void build(struct tact_field *field, size_t node, struct item *items, size_t count)
{
    struct field_node *n = &field->nodes[node];
    if (count == 1) {
        bound_cell(field, items->cell, n);
        return;
    }
    sort_widest(items, count);
    size_t first = field->node_count;
    field->node_count += 2;
    build(field, first, items, count / 2);
    build(field, first + 1, items + count / 2, count - count / 2);
    join(&field->nodes[first], n);
    n->first = (uint32_t)first;
}

int tact_field_build_tree(struct tact_field *field)
{
    struct item *items = malloc(field->cell_count * sizeof *items);
    int corners = field->rigid ? 3 : 4;
    field->nodes = malloc(2 * field->cell_count * sizeof *field->nodes);
    if (!items || !field->nodes) {
        free(items);
        return -ENOMEM;
    }
    for (size_t i = 0; i < field->cell_count; i++) {
        tact_v3_set(items[i].centre, 0.0, 0.0, 0.0);
        items[i].cell = (uint32_t)i;
        for (int k = 0; k < corners; k++) {
            tact_v3_axpy(items[i].centre, 1.0 / corners,
                         field->vertices + 3 * (size_t)field->cells[i].corner[k]);
        }
    }
    field->node_count = 1;
    build(field, 0, items, field->cell_count);
    for (int k = 0; k < 3; k++) {
        field->size += field->nodes->upper[k] - field->nodes->lower[k];
    }
    free(items);
    return 0;
}

/* One axis of a separating-plane test. */
static int apart(double gap, double reach)
{
    return !(fabs(gap) <= reach);
}

int tact_field_boxes_overlap(const struct field_pair *pair, const double *lower_a,
                             const double *upper_a, const double *lower_b, const double *upper_b)
{
    const double *r = pair->turn;
    double half_a[3], half_b[3], middle_a[3], middle_b[3], gap[3], slack = 0.0;
    for (int k = 0; k < 3; k++) {
        half_a[k] = 0.5 * (upper_a[k] - lower_a[k]);
        half_b[k] = 0.5 * (upper_b[k] - lower_b[k]);
        middle_a[k] = lower_a[k] + half_a[k];
        middle_b[k] = lower_b[k] + half_b[k];
        slack += half_a[k] + half_b[k];
    }
    slack *= 1e-12; /* rounding of what only touches */
    tact_m3_mul_v3(gap, r, middle_b);
    tact_v3_add(gap, gap, pair->shift);
    tact_v3_sub(gap, gap, middle_a);
    for (int k = 0; k < 3; k++) {
        double across = gap[0] * r[k] + gap[1] * r[3 + k] + gap[2] * r[6 + k];
        if (apart(gap[k], half_a[k] + fabs(r[3 * k]) * half_b[0] + fabs(r[3 * k + 1]) * half_b[1] +
                              fabs(r[3 * k + 2]) * half_b[2] + slack) ||
            apart(across, half_b[k] + fabs(r[k]) * half_a[0] + fabs(r[3 + k]) * half_a[1] +
                              fabs(r[6 + k]) * half_a[2] + slack)) {
            return 0;
        }
    }
    return 1;
}
