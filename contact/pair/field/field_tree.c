/* The tree over a field's cells: bisected along the largest extent of their centres. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <xxhash.h>
#include "contact/mesh/mesh_internal.h"
#include "contact/pair/field/field_internal.h"

static void extend_bounds_to_box(double *lower, double *upper, const double *from, const double *to)
{
    for (int k = 0; k < 3; k++) {
        lower[k] = tact_min(lower[k], from[k]);
        upper[k] = tact_max(upper[k], to[k]);
    }
}

/* Bounds under construction of a tree node. */
struct bounds {
    double lower[3], upper[3], rim_lower[3], rim_upper[3], pressure_gradient_lower_bound[3],
        pressure_gradient_upper_bound[3];
    double least, most;
};

static const struct bounds empty_bounds = {
    .lower = {INFINITY, INFINITY, INFINITY},
    .upper = {-INFINITY, -INFINITY, -INFINITY},
    .rim_lower = {INFINITY, INFINITY, INFINITY},
    .rim_upper = {-INFINITY, -INFINITY, -INFINITY},
    .pressure_gradient_lower_bound = {INFINITY, INFINITY, INFINITY},
    .pressure_gradient_upper_bound = {-INFINITY, -INFINITY, -INFINITY},
    .least = INFINITY,
    .most = -INFINITY,
};

static void bound_field_cell(const struct tact_pressure_field *field, uint32_t i, struct bounds *b)
{
    const struct field_cell *cell = &field->cells[i];
    int corners = field->is_rigid ? 3 : 4;
    *b = empty_bounds;
    for (int k = 0; k < corners; k++) {
        const double *x = field->vertices + 3 * (size_t)cell->corner[k];
        extend_bounds_to_box(b->lower, b->upper, x, x);
        /* A corner of a tetrahedron belongs to the sides opposite to the other corners. */
        if (field->is_rigid || cell->rim & (31 & ~(1 << k))) {
            extend_bounds_to_box(b->rim_lower, b->rim_upper, x, x);
        }
        double p = field->is_rigid ? 0.0 : field->pressure[cell->corner[k]];
        b->least = field->is_rigid ? -INFINITY : tact_min(b->least, p);
        b->most = field->is_rigid ? INFINITY : tact_max(b->most, p);
    }
    extend_bounds_to_box(b->pressure_gradient_lower_bound, b->pressure_gradient_upper_bound,
                         cell->gradient, cell->gradient);
}

static void join_child_bounds(const struct bounds *child, struct bounds *b)
{
    *b = empty_bounds;
    for (int i = 0; i < 2; i++) {
        extend_bounds_to_box(b->lower, b->upper, child[i].lower, child[i].upper);
        extend_bounds_to_box(b->rim_lower, b->rim_upper, child[i].rim_lower, child[i].rim_upper);
        extend_bounds_to_box(b->pressure_gradient_lower_bound, b->pressure_gradient_upper_bound,
                             child[i].pressure_gradient_lower_bound,
                             child[i].pressure_gradient_upper_bound);
        b->least = tact_min(b->least, child[i].least);
        b->most = tact_max(b->most, child[i].most);
    }
}

static void fill_field_box(const double *lower, const double *upper, struct field_box *box)
{
    if (!(lower[0] <= upper[0])) {
        *box = (struct field_box){.radius = -INFINITY};
        return;
    }
    for (int k = 0; k < 3; k++) {
        box->half[k] = 0.5 * (upper[k] - lower[k]);
        box->middle[k] = lower[k] + box->half[k];
    }
    box->radius = tact_v3_norm(box->half);
}

static void build_field_subtree(struct tact_pressure_field *field, size_t node,
                                struct tact_bounding_box_tree_item *items, size_t count,
                                struct bounds *b)
{
    struct bounds child[2];
    struct field_node *n = &field->nodes[node];
    n->leaf = count == 1;
    n->first = items->number;
    if (n->leaf) {
        bound_field_cell(field, items->number, b);
    } else {
        tact_sort_tree_items(items, count);
        size_t first = field->node_count;
        field->node_count += 2;
        build_field_subtree(field, first, items, count / 2, &child[0]);
        build_field_subtree(field, first + 1, items + count / 2, count - count / 2, &child[1]);
        join_child_bounds(child, b);
        n->first = (uint32_t)first;
    }
    fill_field_box(b->lower, b->upper, &n->all);
    fill_field_box(b->rim_lower, b->rim_upper, &n->rim);
    tact_v3_copy(n->pressure_gradient_lower_bound, b->pressure_gradient_lower_bound);
    tact_v3_copy(n->pressure_gradient_upper_bound, b->pressure_gradient_upper_bound);
    n->least = b->least;
    n->most = b->most;
}

/* Mean radius of the boxes of the cells at the zero-pressure boundary [m]; 0 where there is none.
 */
static double compute_mean_radius_of_rim_cells(const struct tact_pressure_field *field)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < field->node_count; i++) {
        const struct field_node *node = &field->nodes[i];
        if (node->leaf && node->rim.radius >= 0.0) {
            sum += node->rim.radius;
            count++;
        }
    }
    return count ? sum / (double)count : 0.0;
}

int tact_field_build_tree(struct tact_pressure_field *field)
{
    struct tact_bounding_box_tree_item *items = malloc(field->cell_count * sizeof *items);
    struct bounds bounds;
    int corners = field->is_rigid ? 3 : 4;
    field->nodes = malloc(2 * field->cell_count * sizeof *field->nodes);
    if (!items || !field->nodes) {
        free(items);
        return -ENOMEM;
    }
    for (size_t i = 0; i < field->cell_count; i++) {
        tact_v3_set(items[i].centre, 0.0, 0.0, 0.0);
        items[i].number = (uint32_t)i;
        for (int k = 0; k < corners; k++) {
            tact_v3_axpy(items[i].centre, 1.0 / corners,
                         field->vertices + 3 * (size_t)field->cells[i].corner[k]);
        }
    }
    field->node_count = 1;
    build_field_subtree(field, 0, items, field->cell_count, &bounds);
    for (int k = 0; k < 3; k++) {
        field->size += 2.0 * field->nodes->all.half[k];
    }
    field->mean_radius_of_rim_cells = compute_mean_radius_of_rim_cells(field);
    field->key = XXH3_64bits(field->nodes, field->node_count * sizeof *field->nodes);
    free(items);
    return 0;
}

int tact_field_boxes_overlap(const struct field_pair *pair, const struct field_box *a,
                             const struct field_box *b, double margin)
{
    const double *r = pair->rotation, *s = pair->size;
    double size = a->radius + b->radius, slack = margin + 1e-12 * size; /* rounding */
    double gap[3], reach = size + slack;
    tact_m3_mul_v3(gap, r, b->middle);
    for (int k = 0; k < 3; k++) {
        gap[k] += pair->shift[k] - a->middle[k];
    }
    if (reach < 0.0 || tact_v3_dot(gap, gap) > reach * reach) {
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        const double *row = s + 3 * k;
        double far = a->half[k] + tact_v3_dot(row, b->half) + slack;
        if (fabs(gap[k]) > far) {
            return 0;
        }
    }
    for (int k = 0; k < 3; k++) {
        double across = gap[0] * r[k] + gap[1] * r[3 + k] + gap[2] * r[6 + k];
        double far =
            b->half[k] + s[k] * a->half[0] + s[3 + k] * a->half[1] + s[6 + k] * a->half[2] + slack;
        if (fabs(across) > far) {
            return 0;
        }
    }
    return 1;
}
