/*
 * Searches the trees of two fields for pairs of cells.
 *
 * Cells at the rim are a pair where their boxes overlap on the axes of both (field_tree.c). The
 * boxes of inner nodes are tested along the axes of a only, with the boxes of b that these axes
 * contain: what a child's test accepts its parents' accept too, in all poses. The pairs found
 * therefore depend on nothing but tests of their own, and may be tested from a list instead.
 */
#include <math.h>
#include "contact/pair/field/field_search_internal.h"

void tact_field_set_pair_poses(struct field_pair *pair, const struct tact_pressure_field *a,
                               const struct tact_pose *pose_a, const struct tact_pressure_field *b,
                               const struct tact_pose *pose_b)
{
    double from[9], to[9], between[3];
    pair->a = a;
    pair->b = b;
    tact_quat_to_m3(from, pose_b->quat_wxyz);
    tact_quat_to_m3(to, pose_a->quat_wxyz);
    for (int i = 0; i < 9; i++) {
        int r = i / 3, c = i % 3;
        pair->rotation[i] = to[r] * from[c] + to[3 + r] * from[3 + c] + to[6 + r] * from[6 + c];
        pair->size[i] = fabs(pair->rotation[i]);
    }
    tact_v3_sub(between, pose_b->position, pose_a->position);
    tact_m3_tmul_v3(pair->shift, to, between);
}

/* Ratio of the sizes of two nodes above which the larger alone is divided. */
#define SPLIT_LARGER_NODE_RATIO 2.0
/* Distance of boxes that counts as an overlap, relative to the size of the scene. */
#define BOX_ROUNDING_RATIO 1e-12

/* A pair of nodes of the two fields' trees, and the box of the second along the axes of a. */
struct field_node_pair {
    uint32_t a, b;
    double middle[3], half[3]; /* [m], frame of a */
};

static const struct field_box *find_searched_box_of_node(const struct field_cell_pair_search *s,
                                                         const struct field_node *node)
{
    return s->searches_closed_pieces ? &node->all : &node->rim;
}

static void transform_node_box_to_axes_of_a(const struct field_pair *pair,
                                            const struct field_box *box,
                                            struct field_node_pair *out)
{
    tact_m3_mul_v3(out->middle, pair->rotation, box->middle);
    tact_v3_add(out->middle, out->middle, pair->shift);
    tact_m3_mul_v3(out->half, pair->size, box->half);
}

/* Smallest or largest component along d of the pressure gradients in a node. */
static double extreme_pressure_gradient_along(const struct field_node *node, const double *d,
                                              int most)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double lower = node->pressure_gradient_lower_bound[k] * d[k],
               upper = node->pressure_gradient_upper_bound[k] * d[k];
        sum += most ? tact_max(lower, upper) : tact_min(lower, upper);
    }
    return sum;
}

/* 1 where the boxes of a pair of nodes may overlap along the axes of a. */
static int may_boxes_overlap(const struct field_node_pair *at, const struct field_box *a,
                             const struct field_box *b, double slack)
{
    return a->radius >= 0.0 && b->radius >= 0.0 &&
           fabs(at->middle[0] - a->middle[0]) <= a->half[0] + at->half[0] + slack &&
           fabs(at->middle[1] - a->middle[1]) <= a->half[1] + at->half[1] + slack &&
           fabs(at->middle[2] - a->middle[2]) <= a->half[2] + at->half[2] + slack;
}

/* 1 where the cells of two nodes may contain a polygon from which the search starts a piece of the
 * contact surface. */
static int may_cells_intersect(const struct field_cell_pair_search *s,
                               const struct field_node_pair *at, double slack)
{
    const struct field_node *a = &s->pair->a->nodes[at->a], *b = &s->pair->b->nodes[at->b];
    if (s->searches_closed_pieces &&
        !(a->least <= b->most && b->least <= a->most &&
          extreme_pressure_gradient_along(b, s->facing_away_direction_b, 0) <
              (s->pair->b->is_rigid
                   ? 0.0
                   : extreme_pressure_gradient_along(a, s->back_facing_direction_a, 1)))) {
        return 0;
    }
    const struct field_box *box = find_searched_box_of_node(s, a),
                           *other = find_searched_box_of_node(s, b);
    return may_boxes_overlap(at, box, other, slack) &&
           (!a->leaf || !b->leaf || tact_field_boxes_overlap(s->pair, box, other, s->margin));
}

void tact_field_search_cells(const struct field_cell_pair_search *s)
{
    const struct tact_pressure_field *a = s->pair->a, *b = s->pair->b;
    struct field_node_pair stack[8 * TACT_FIELD_DEPTH], next = {0, 0, {0.0}, {0.0}};
    double size = a->nodes->all.radius + b->nodes->all.radius + tact_v3_norm(s->pair->shift);
    double slack = s->margin + BOX_ROUNDING_RATIO * size;
    int height = 0;
    transform_node_box_to_axes_of_a(s->pair, find_searched_box_of_node(s, b->nodes), &next);
    if (may_cells_intersect(s, &next, slack)) {
        stack[height++] = next;
    }
    while (height) {
        const struct field_node_pair at = stack[--height];
        const struct field_node *na = &a->nodes[at.a], *nb = &b->nodes[at.b];
        if (na->leaf && nb->leaf) {
            if (s->found(s->user, at.a, at.b)) {
                return;
            }
            continue;
        }
        double node_size_a = na->all.radius, node_size_b = nb->all.radius;
        int searched_child_count_a =
            na->leaf || (!nb->leaf && SPLIT_LARGER_NODE_RATIO * node_size_a < node_size_b) ? 1 : 2;
        int searched_child_count_b =
            nb->leaf || (!na->leaf && SPLIT_LARGER_NODE_RATIO * node_size_b < node_size_a) ? 1 : 2;
        for (int k = searched_child_count_b - 1; k >= 0; k--) {
            next = at;
            if (searched_child_count_b == 2) {
                next.b = nb->first + (uint32_t)k;
                transform_node_box_to_axes_of_a(
                    s->pair, find_searched_box_of_node(s, &b->nodes[next.b]), &next);
            }
            for (int i = searched_child_count_a - 1; i >= 0; i--) {
                next.a = searched_child_count_a == 2 ? na->first + (uint32_t)i : at.a;
                if (may_cells_intersect(s, &next, slack)) {
                    stack[height++] = next;
                }
            }
        }
    }
}
