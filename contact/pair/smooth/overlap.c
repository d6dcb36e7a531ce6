#include "contact/pair/smooth/overlap_internal.h"

#include "contact/shape/charts_internal.h"

/* Depth of a point inside a solid from which on it counts, relative to the smaller surface. */
#define MIN_INSIDE_DEPTH_RATIO 1e-6
/* Tangential offset from a point of a surface, relative to the height above its tangent plane, up
 * to which the sign of the height is that above the surface. */
#define MAX_CLOSEST_POINT_OFFSET_RATIO 0.5
/* Step of a point towards another solid, relative to the way to its surface: it ends inside where
 * the surfaces cross. */
#define STEP_BEYOND_SURFACE_RATIO 2.0

enum {
    MAX_TESTED_POINTS_OF_CHART_LEAF =
        3,                       /* points of a leaf that are tested against a closed form */
    MAX_CLOSEST_POINT_STEPS = 8, /* steps from the middle of a cell to the closest point */
};

struct chart_overlap_search {
    const struct smooth_pair *pair;
    double min_inside_depth;                   /* [m] */
    double rotation_a_to_b[9];                 /* row-major */
    double position_of_origin_a_in_frame_b[3]; /* [m] */
};

static void init_overlap_search(const struct smooth_pair *pair, struct chart_overlap_search *s)
{
    s->pair = pair;
    s->min_inside_depth = INFINITY;
    for (int k = 0; k < 2; k++) {
        if (pair->charts[k]) {
            s->min_inside_depth =
                tact_min(s->min_inside_depth, MIN_INSIDE_DEPTH_RATIO * pair->charts[k]->radius);
        }
    }
    tact_m3_tmul(s->rotation_a_to_b, pair->rotation[1], pair->rotation[0]);
    tact_m3_tmul_v3(s->position_of_origin_a_in_frame_b, pair->rotation[1],
                    pair->offset_from_origin_b_to_origin_a);
}

/* Position in the frame of the other shape of a point in the frame of A (k = 0) or B (k = 1). */
static void position_in_other_frame(const struct chart_overlap_search *s, int k, const double at[3],
                                    double out[3])
{
    double d[3];
    if (k == 0) {
        tact_m3_mul_v3(out, s->rotation_a_to_b, at);
        tact_v3_add(out, out, s->position_of_origin_a_in_frame_b);
    } else {
        tact_v3_sub(d, at, s->position_of_origin_a_in_frame_b);
        tact_m3_tmul_v3(out, s->rotation_a_to_b, d);
    }
}

static double distance_between_points(const double a[3], const double b[3])
{
    double d[3];
    tact_v3_sub(d, a, b);
    return tact_v3_norm(d);
}

/* The leaf of a tree whose middle is nearest to a point in the shape's frame; the root where a
 * coordinate is not finite. */
static const struct chart_node *chart_leaf_nearest_to_point(const struct tact_charts *charts,
                                                            const double at[3])
{
    const struct chart_node *nearest = &charts->nodes[0];
    double least = INFINITY;
    int stack[CHART_TREE_STACK_DEPTH], count = 1;
    stack[0] = 0;
    while (count > 0) {
        const struct chart_node *node = &charts->nodes[stack[--count]];
        const double distance = distance_between_points(at, node->center);
        if (distance - node->radius >= least) {
            continue;
        }
        if (node->first < 0) {
            nearest = distance < least ? node : nearest;
            least = tact_min(least, distance);
            continue;
        }
        const struct chart_node *child = &charts->nodes[node->first];
        const int is_second_child_nearer =
            distance_between_points(at, child[1].center) - child[1].radius <
            distance_between_points(at, child[0].center) - child[0].radius;
        stack[count++] = node->first + !is_second_child_nearer;
        stack[count++] = node->first + is_second_child_nearer;
    }
    return nearest;
}

/* 1 where a point, in the shape's frame, is inside a solid with charts by more than
 * min_inside_depth [m], by the normal at the closest point of its surface. */
static int is_point_inside_charts(const struct tact_charts *charts, const double at[3],
                                  double min_inside_depth)
{
    struct tact_surface_point p;
    double place[3], d[3];
    if (tact_v3_norm(at) > charts->radius) {
        return 0;
    }
    tact_v3_copy(place, chart_leaf_nearest_to_point(charts, at)->place);
    for (int i = 0; i < MAX_CLOSEST_POINT_STEPS; i++) {
        if (tact_charts_point(charts, place, &p)) {
            return 0;
        }
        tact_v3_sub(d, at, p.at);
        const double height = tact_v3_dot(d, p.normal);
        tact_v3_axpy(d, -height, p.normal);
        if (tact_v3_norm(d) <= MAX_CLOSEST_POINT_OFFSET_RATIO * fabs(height)) {
            return height < -min_inside_depth;
        }
        tact_charts_move(charts, place, d);
    }
    return 0;
}

/* 1 where the middle of a leaf of A (k = 0) or B (k = 1) is inside the other solid, to whose leaf
 * `other` it is near. at: the middle in the frame of the other shape. */
static int is_leaf_inside_other_charts(const struct chart_overlap_search *s, int k,
                                       const double at[3], const struct chart_node *other)
{
    double d[3];
    tact_v3_sub(d, at, other->center);
    const double height = tact_v3_dot(d, other->axis);
    tact_v3_axpy(d, -height, other->axis);
    /* the tangent plane of the cell below which the point is; its closest point decides */
    return height < other->node_extent_along_cone_axis && tact_v3_norm(d) <= other->radius &&
           is_point_inside_charts(s->pair->charts[1 - k], at, s->min_inside_depth);
}

/* 1 where the surfaces of two solids with charts cross. */
static int do_chart_surfaces_cross(const struct chart_overlap_search *s)
{
    const struct chart_node *of[2] = {s->pair->charts[0]->nodes, s->pair->charts[1]->nodes};
    int stack[2 * CHART_TREE_STACK_DEPTH][2], count = 1;
    stack[0][0] = stack[0][1] = 0;
    while (count > 0) {
        count--;
        int at[2] = {stack[count][0], stack[count][1]};
        const struct chart_node *a = &of[0][at[0]], *b = &of[1][at[1]];
        double chart_centre_a_in_frame_b[3], chart_centre_b_in_frame_a[3];
        position_in_other_frame(s, 0, a->center, chart_centre_a_in_frame_b);
        if (distance_between_points(chart_centre_a_in_frame_b, b->center) > a->radius + b->radius) {
            continue;
        }
        if (a->first < 0 && b->first < 0) {
            position_in_other_frame(s, 1, b->center, chart_centre_b_in_frame_a);
            if (is_leaf_inside_other_charts(s, 0, chart_centre_a_in_frame_b, b) ||
                is_leaf_inside_other_charts(s, 1, chart_centre_b_in_frame_a, a)) {
                return 1;
            }
            continue;
        }
        int split = b->first < 0 || (a->first >= 0 && a->radius >= b->radius) ? 0 : 1;
        for (int i = 1; i >= 0; i--, count++) {
            stack[count][split] = (split ? b : a)->first + i;
            stack[count][1 - split] = at[1 - split];
        }
    }
    return 0;
}

/* Height above the other shape, in closed form, of a point of A (k = 0) or B (k = 1);
 * *vector_to_closed_form_surface: the way to the other's surface in the frame of A or B. Zero where
 * the point has no projection. */
static double height_above_closed_form(const struct chart_overlap_search *s, int k,
                                       const double point[3],
                                       double vector_to_closed_form_surface[3])
{
    struct tact_surface_point p;
    double at[3], d[3] = {0.0}, height = 0.0;
    position_in_other_frame(s, k, point, at);
    if (!tact_shape_surface(s->pair->shape[1 - k], at, &p)) {
        tact_v3_sub(d, p.at, at);
        height = -tact_v3_dot(d, p.normal);
    }
    if (k == 0) {
        tact_m3_tmul_v3(vector_to_closed_form_surface, s->rotation_a_to_b, d);
    } else {
        tact_m3_mul_v3(vector_to_closed_form_surface, s->rotation_a_to_b, d);
    }
    return height;
}

/* 1 where a leaf of A's or B's charts (k) has a point inside the other solid: its middle, or a
 * point on the way to the other solid. */
static int does_leaf_reach_into_closed_form(const struct chart_overlap_search *s, int k,
                                            const struct chart_node *leaf)
{
    struct tact_surface_point p;
    double place[3], d[3];
    tact_v3_copy(place, leaf->place);
    for (int i = 0; i < MAX_TESTED_POINTS_OF_CHART_LEAF; i++) {
        if (tact_charts_point(s->pair->charts[k], place, &p)) {
            return 0;
        }
        const double height = height_above_closed_form(s, k, p.at, d);
        if (height < -s->min_inside_depth) {
            return 1;
        }
        if (height > leaf->radius) {
            return 0;
        }
        tact_v3_axpy(d, -tact_v3_dot(d, p.normal), p.normal);
        tact_v3_scale(d, d, STEP_BEYOND_SURFACE_RATIO);
        tact_charts_move(s->pair->charts[k], place, d);
    }
    return 0;
}

/* 1 where the charts of A (k = 0) or B (k = 1) have a point inside the other solid, which is in
 * closed form. */
static int do_charts_reach_into_closed_form(const struct chart_overlap_search *s, int k)
{
    const struct chart_node *nodes = s->pair->charts[k]->nodes;
    int stack[CHART_TREE_STACK_DEPTH], count = 1;
    stack[0] = 0;
    while (count > 0) {
        const struct chart_node *node = &nodes[stack[--count]];
        double vector_to_closed_form_surface[3];
        if (height_above_closed_form(s, k, node->center, vector_to_closed_form_surface) >
            node->radius) {
            continue;
        }
        if (node->first >= 0) {
            stack[count++] = node->first + 1;
            stack[count++] = node->first;
        } else if (does_leaf_reach_into_closed_form(s, k, node)) {
            return 1;
        }
    }
    return 0;
}

/* 1 where a point of A (k = 0) or B (k = 1) is inside the other solid, which has charts. */
static int is_inner_point_inside_charts(const struct chart_overlap_search *s, int k)
{
    const struct tact_shape *shape = s->pair->shape[k];
    double inner[3] = {0.0}, at[3];
    if (s->pair->charts[k]) {
        tact_v3_copy(inner, chart_leaf_nearest_to_point(s->pair->charts[k], inner)->center);
    } else if (shape->kind == TACT_SHAPE_TORUS) {
        inner[0] = shape->size[0];
    }
    position_in_other_frame(s, k, inner, at);
    return is_point_inside_charts(s->pair->charts[1 - k], at, s->min_inside_depth);
}

int tact_smooth_do_charts_overlap(const struct smooth_pair *pair)
{
    struct chart_overlap_search s;
    struct tact_shape_mass mass[2];
    init_overlap_search(pair, &s);
    if (pair->charts[0] && pair->charts[1]) {
        if (do_chart_surfaces_cross(&s)) {
            return 1;
        }
    } else if (do_charts_reach_into_closed_form(&s, pair->charts[0] ? 0 : 1)) {
        return 1;
    }
    for (int k = 0; k < 2; k++) {
        mass[k].volume = INFINITY;
        if (pair->charts[k]) {
            mass[k] = pair->charts[k]->mass;
        } else if (pair->shape[k]->kind != TACT_SHAPE_HALFSPACE) {
            tact_shape_mass(pair->shape[k], &mass[k]);
        }
    }
    const int index_of_smaller_solid = mass[0].volume <= mass[1].volume ? 0 : 1;
    return pair->charts[1 - index_of_smaller_solid] &&
           is_inner_point_inside_charts(&s, index_of_smaller_solid);
}

int tact_smooth_is_contact_inside_charts(const struct smooth_pair *pair,
                                         const struct smooth_contact *c)
{
    struct chart_overlap_search s;
    init_overlap_search(pair, &s);
    for (int k = 0; k < 2; k++) {
        double point[3], at[3];
        tact_m3_tmul_v3(point, pair->rotation[k], c->arm[k]);
        position_in_other_frame(&s, k, point, at);
        if (is_point_inside_charts(pair->charts[1 - k], at, s.min_inside_depth)) {
            return 1;
        }
    }
    return 0;
}
