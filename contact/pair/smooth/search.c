/*
 * Contacts of parametric surfaces, from any poses: pairs of cells that are near and whose normals
 * may be opposite (Johnson and Cohen 2001) are starting points of Newton's method. A surface in
 * closed form is one cell, whose distance from a ball of the other's tree follows from its own
 * closest point.
 */
#include "contact/pair/smooth/search_internal.h"

#include <errno.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/smooth/contacts_internal.h"
#include "contact/pair/smooth/overlap_internal.h"
#include "contact/shape/charts_internal.h"

/* Distance up to which two contacts are the same, relative to the smaller surface. */
#define SAME_CONTACT_DISTANCE_TO_SIZE 1e-6
/* Largest assumed ratio of a closed form's curvature within a ball to that at the ball's middle. */
#define MAX_CURVATURE_GROWTH 1.5
/* Rotation of a closed form's normal over a ball beyond which the normal counts as unknown [rad] */
#define MAX_NORMAL_ROTATION_OVER_BALL 0.5
/* Distance of a cell from a known contact within which it starts no search, relative to the cell's
 * radius. */
#define KNOWN_CONTACT_DISTANCE_RATIO 2.0
/* Largest overlap at a contact of two cells, relative to the sum of their radii. */
#define MAX_OVERLAP_TO_CELL_RADII_RATIO 2.0

/* Cosine of the half angle of a node's normal cone up to which curvatures are compared: 0.55 rad.
 */
#define MIN_COSINE_OF_NARROW_NORMAL_CONE 0.85
/* Cosine of the largest angle between a normal and that of a known contact. */
#define MIN_COSINE_TO_KNOWN_NORMAL 0.8
/* Factor by which curvatures may differ over a node more than its samples do. */
#define CURVATURE_BOUND_MARGIN 1.3

enum {
    MAX_NEWTON_STARTS = 64,       /* number of best start points kept for Newton's method */
    SUPPORT_POINT_ITERATIONS = 6, /* number of steps from a start point by support points */
};

/* A start point of Newton's method: two cells that may touch, or one cell and a point of a closed
 * form. */
struct start_of_newton_search {
    double closest_point_residual;    /* distance of the cells' centres from being closest points,
                                         relative to the cells' size */
    const struct chart_node *cell[2]; /* NULL: closed form */
    double place[2][3];
};

struct chart_contact_search {
    const struct smooth_pair *pair;
    struct smooth_contact *contact;
    double near, same_distance;
    struct start_of_newton_search start[MAX_NEWTON_STARTS]; /* the best, sorted */
    int newton_start_count;
    double rotation_b_to_a[9];                 /* rotation from B's frame to A's, row-major */
    double position_of_origin_b_in_frame_a[3]; /* position of B's origin in A's frame [m] */
    int found, failed;
};

int tact_smooth_can_search_charts(const struct tact_shape *a, const struct tact_shape *b)
{
    const struct tact_shape *shape[2] = {a, b};
    int charts = 0;
    for (int k = 0; k < 2; k++) {
        const struct tact_shape_type *type = tact_shape_type(shape[k]->kind);
        int has = shape[k]->charts || type->charts;
        charts += has;
        if (!has && !type->surface) {
            return 0;
        }
    }
    return charts > 0;
}

/* 1 where the middle of a cell is near a contact that was already found. */
static int is_near_known_contact(const struct chart_contact_search *s, int k,
                                 const struct chart_node *cell)
{
    int stored_contact_count = s->found < TACT_PIECES ? s->found : TACT_PIECES;
    for (int i = 0; i < stored_contact_count; i++) {
        double at[3];
        tact_m3_tmul_v3(at, s->pair->rotation[k], s->contact[i].arm[k]);
        tact_v3_sub(at, at, cell->center);
        if (tact_v3_dot(at, at) <= KNOWN_CONTACT_DISTANCE_RATIO * KNOWN_CONTACT_DISTANCE_RATIO *
                                       cell->radius * cell->radius) {
            return 1;
        }
    }
    return 0;
}

static double frobenius_norm(const double m[9])
{
    double sum = 0.0;
    for (int i = 0; i < 9; i++) {
        sum += m[i] * m[i];
    }
    return sqrt(sum);
}

/* Part of the surface of A (k = 0) or B (k = 1) about a point: that of a tree node, or of a closed
 * form. */
struct part_of_surface {
    const double *center, *normal, *bend;   /* shape frame */
    double radius, max_curvature_deviation; /* largest deviation of the curvature map from bend
                                               within the part [1/m] */
};

static struct part_of_surface surface_part_of_node(const struct chart_node *node)
{
    return (struct part_of_surface){node->center, node->axis, node->bend, node->radius,
                                    node->normal_cone_cosine < MIN_COSINE_OF_NARROW_NORMAL_CONE
                                        ? INFINITY
                                        : node->max_curvature_deviation};
}

/* Surface part of a closed form about a point, as large as a node's ball. The curvature of a sphere
 * and of a plane is the same everywhere. */
static struct part_of_surface surface_part_of_closed_form(const struct tact_shape *shape,
                                                          const struct tact_surface_point *point,
                                                          double radius)
{
    const double norm_of_surface_curvature = frobenius_norm(point->bend),
                 rotation = MAX_CURVATURE_GROWTH * radius * norm_of_surface_curvature;
    double off = rotation > MAX_NORMAL_ROTATION_OVER_BALL
                     ? INFINITY
                     : (MAX_CURVATURE_GROWTH - 1.0) * norm_of_surface_curvature;
    if (shape->kind == TACT_SHAPE_SPHERE || shape->kind == TACT_SHAPE_HALFSPACE) {
        off = 0.0;
    }
    return (struct part_of_surface){point->at, point->normal, point->bend, radius, off};
}

/*
 * Adds the curvature of a part of A's or B's surface to sum (entries 11, 12, 22 over the tangents
 * of a contact). Returns how much the curvature between contact and part may differ from it [1/m]:
 * as it does over the part, and as the angle between the normals of contact and part allows.
 * INFINITY where the normals are far from each other.
 */
static double add_curvature_of_surface_part(const struct smooth_pair *pair, int k,
                                            const struct smooth_contact *c,
                                            const struct part_of_surface *part, double sum[3])
{
    double d[3], normal[3], t[2][3], bent[2][3], along[3], closest_point_residual[2];
    tact_m3_tmul_v3(d, pair->rotation[k], c->arm[k]);
    tact_v3_sub(d, part->center, d);
    tact_m3_tmul_v3(normal, pair->rotation[k], c->frame);
    tact_v3_scale(normal, normal, k ? 1.0 : -1.0);
    if (tact_v3_dot(normal, part->normal) < MIN_COSINE_TO_KNOWN_NORMAL) {
        return INFINITY;
    }
    tact_v3_sub(normal, part->normal, normal);
    tact_m3_mul_v3(along, part->bend, d);
    for (int m = 0; m < 2; m++) {
        tact_m3_tmul_v3(t[m], pair->rotation[k], c->frame + 3 + 3 * m);
        tact_m3_mul_v3(bent[m], part->bend, t[m]);
        closest_point_residual[m] = tact_v3_dot(t[m], normal) - tact_v3_dot(t[m], along);
    }
    sum[0] += tact_v3_dot(t[0], bent[0]);
    sum[1] += tact_v3_dot(t[0], bent[1]);
    sum[2] += tact_v3_dot(t[1], bent[1]);
    return part->max_curvature_deviation +
           tact_hypot(closest_point_residual[0], closest_point_residual[1]) /
               tact_max(tact_v3_norm(d), part->radius);
}

/*
 * 1 where two surface parts can have no contact except one that is known. The distance of the
 * surfaces above the tangent plane of that contact has the second derivative L_A + L_B over the
 * plane; where it is positive from there to both parts, the distance is convex and has one minimum.
 */
static int do_parts_contain_only_known_contact(const struct chart_contact_search *s,
                                               const struct part_of_surface part[2])
{
    const double off = part[0].max_curvature_deviation + part[1].max_curvature_deviation;
    for (int i = 0; i < s->found && i < TACT_PIECES && off < INFINITY; i++) {
        const struct smooth_contact *c = &s->contact[i];
        double sum[3] = {0.0}, differ = tact_max(s->near, fabs(c->gap)); /* g L_A L_B */
        for (int k = 0; k < 2; k++) {
            differ *= frobenius_norm(part[k].bend) + part[k].max_curvature_deviation;
        }
        for (int k = 0; k < 2; k++) {
            differ += add_curvature_of_surface_part(s->pair, k, c, &part[k], sum);
        }
        double least = 0.5 * (sum[0] + sum[2]) - tact_hypot(0.5 * (sum[0] - sum[2]), sum[1]);
        if (least > CURVATURE_BOUND_MARGIN * differ) {
            return 1;
        }
    }
    return 0;
}

/* Inserts a start point into the sorted list of the best. */
static void insert_newton_start(struct chart_contact_search *s,
                                const struct start_of_newton_search *start)
{
    int at = s->newton_start_count;
    if (at == MAX_NEWTON_STARTS &&
        !(start->closest_point_residual < s->start[at - 1].closest_point_residual)) {
        return;
    }
    at = at < MAX_NEWTON_STARTS ? at : MAX_NEWTON_STARTS - 1;
    for (; at > 0 && start->closest_point_residual < s->start[at - 1].closest_point_residual;
         at--) {
        s->start[at] = s->start[at - 1];
    }
    s->start[at] = *start;
    s->newton_start_count += s->newton_start_count < MAX_NEWTON_STARTS;
}

int tact_smooth_is_overlap_shallow(const struct smooth_pair *pair, double near,
                                   const struct smooth_contact *c)
{
    if (c->gap >= -near || (pair->charts[0] && pair->charts[1])) {
        return 1;
    }
    const int k = pair->charts[0] ? 0 : 1;
    struct tact_surface_point p;
    double at[3], local[3], d[3];
    tact_v3_copy(at, c->arm[k]);
    tact_v3_axpy(at, k ? -1.0 : 1.0, pair->offset_from_origin_b_to_origin_a);
    tact_m3_tmul_v3(local, pair->rotation[1 - k], at);
    if (tact_shape_surface(pair->shape[1 - k], local, &p)) {
        return 1;
    }
    tact_v3_sub(d, local, p.at);
    return tact_v3_dot(d, p.normal) <= near;
}

/* 1 where the overlap at a contact is one of the surfaces about a start point; of two charts, the
 * cells from which it was found are as near to each other, and one of the contact's points is
 * inside the other solid. */
static int is_overlap_at_newton_start(const struct chart_contact_search *s,
                                      const struct start_of_newton_search *start,
                                      const struct smooth_contact *c)
{
    const struct chart_node *const *cell = start->cell;
    return cell[0] && cell[1]
               ? -c->gap <= s->near + MAX_OVERLAP_TO_CELL_RADII_RATIO *
                                          (cell[0]->radius + cell[1]->radius) &&
                     (-c->gap <= s->near || tact_smooth_is_contact_inside_charts(s->pair, c))
               : tact_smooth_is_overlap_shallow(s->pair, s->near, c);
}

/*
 * Moves a start point at a cell that is large against a convex closed form towards a contact of
 * its neighbourhood: by turns to the point of the closed form whose normal is opposite to that of
 * the charts, and to the point of the charts next to it. This converges where the closed form is
 * the more curved one. 0, or -EDOM where the closed form is not convex.
 */
static int approach_by_support_points(const struct smooth_pair *pair, int k, double place[2][3])
{
    const struct tact_shape *closed_form_shape = pair->shape[1 - k];
    struct tact_surface_point p;
    if (!tact_shape_type(closed_form_shape->kind)->support) {
        return -EDOM;
    }
    for (int i = 0; i < SUPPORT_POINT_ITERATIONS; i++) {
        double n[3], opposite[3], d[3];
        if (tact_charts_point(pair->charts[k], place[k], &p)) {
            return -EDOM;
        }
        tact_m3_mul_v3(n, pair->rotation[k], p.normal);
        tact_v3_scale(n, n, -1.0);
        tact_m3_tmul_v3(opposite, pair->rotation[1 - k], n);
        tact_shape_support(closed_form_shape, opposite, place[1 - k]);
        tact_m3_mul_v3(n, pair->rotation[1 - k], place[1 - k]);
        tact_v3_axpy(n, k ? 1.0 : -1.0, pair->offset_from_origin_b_to_origin_a);
        tact_m3_tmul_v3(d, pair->rotation[k], n);
        tact_v3_sub(d, d, p.at);
        tact_v3_axpy(d, -tact_v3_dot(d, p.normal), p.normal);
        tact_charts_move(pair->charts[k], place[k], d);
    }
    return 0;
}

/* Finds the contact of the surfaces about a start point by Newton's method. 0, or -EDOM where there
 * is none, or only one of other parts of the surfaces. */
static int find_contact_from_start(const struct chart_contact_search *s,
                                   const struct start_of_newton_search *start,
                                   struct smooth_contact *c)
{
    memcpy(c->place, start->place, sizeof c->place);
    if (!tact_smooth_refine_closest_points(s->pair, c) && is_overlap_at_newton_start(s, start, c)) {
        return 0;
    }
    if (start->cell[0] && start->cell[1]) {
        return -EDOM;
    }
    memcpy(c->place, start->place, sizeof c->place);
    return approach_by_support_points(s->pair, start->cell[0] ? 0 : 1, c->place) ||
                   tact_smooth_refine_closest_points(s->pair, c) ||
                   !is_overlap_at_newton_start(s, start, c)
               ? -EDOM
               : 0;
}

/* Runs Newton's method from the start points, the best first, except from those near a contact that
 * is known. */
static void refine_starts_by_newton(struct chart_contact_search *s)
{
    for (int i = 0; i < s->newton_start_count; i++) {
        const struct start_of_newton_search *start = &s->start[i];
        struct smooth_contact c;
        if ((!start->cell[0] || is_near_known_contact(s, 0, start->cell[0])) &&
            (!start->cell[1] || is_near_known_contact(s, 1, start->cell[1]))) {
            continue;
        }
        if (find_contact_from_start(s, start, &c)) {
            s->failed++;
        } else if (c.gap <= s->near) {
            s->found = tact_smooth_add_contact(s->contact, s->found, &c, s->same_distance);
        }
    }
}

/* Cosine of the sum of two angles. */
static double cosine_of_angle_sum(double ca, double sa, double cb, double sb)
{
    return ca * cb - sa * sb;
}

/* 1 where a tree node of A's or B's charts (k) may touch the other surface, which is in closed
 * form, in a contact that is not known; *start: start point, of a leaf. */
static int may_node_touch_closed_form(const struct chart_contact_search *s, int k,
                                      const struct chart_node *node,
                                      struct start_of_newton_search *start)
{
    const struct smooth_pair *pair = s->pair;
    struct tact_surface_point p;
    double at[3], local[3], d[3], n[3], turned[3];
    tact_m3_mul_v3(at, pair->rotation[k], node->center);
    tact_v3_axpy(at, k ? -1.0 : 1.0, pair->offset_from_origin_b_to_origin_a);
    tact_m3_tmul_v3(local, pair->rotation[1 - k], at);
    if (tact_shape_surface(pair->shape[1 - k], local, &p)) {
        /* no closest point for the centre of this node: its children, which have smaller balls,
         * decide
         */
        return node->first >= 0;
    }
    tact_v3_copy(start->place[k], node->place);
    tact_v3_copy(start->place[1 - k], p.at);
    start->cell[k] = node;
    start->cell[1 - k] = NULL;
    tact_m3_mul_v3(n, pair->rotation[1 - k], p.normal);
    tact_m3_tmul_v3(turned, pair->rotation[k], n);
    tact_v3_add(n, turned, node->axis);
    start->closest_point_residual = tact_v3_norm(n);
    tact_v3_sub(d, local, p.at);
    double gap = tact_v3_dot(d, p.normal);
    if (gap > s->near + node->radius) {
        return 0;
    }
    struct part_of_surface part[2];
    part[k] = surface_part_of_node(node);
    part[1 - k] = surface_part_of_closed_form(pair->shape[1 - k], &p, node->radius);
    if (do_parts_contain_only_known_contact(s, part)) {
        return 0;
    }
    double rotation = MAX_CURVATURE_GROWTH * node->radius * frobenius_norm(p.bend);
    if (rotation > MAX_NORMAL_ROTATION_OVER_BALL || node->normal_cone_cosine < 0.0) {
        return 1;
    }
    if (gap >
        s->near + tact_chart_node_extent_along(node, turned) + 0.5 * rotation * node->radius) {
        return 0;
    }
    double most = cosine_of_angle_sum(node->normal_cone_cosine, node->sine,
                                      1.0 - 0.5 * rotation * rotation, rotation);
    return -tact_v3_dot(turned, node->axis) >= most;
}

static void search_node_against_closed_form(struct chart_contact_search *s, int k)
{
    const struct chart_node *nodes = s->pair->charts[k]->nodes;
    int stack[CHART_TREE_STACK_DEPTH], count = 1;
    stack[0] = 0;
    while (count > 0) {
        const struct chart_node *node = &nodes[stack[--count]];
        struct start_of_newton_search start;
        if (!may_node_touch_closed_form(s, k, node, &start)) {
            continue;
        }
        if (node->first >= 0) {
            stack[count++] = node->first + 1;
            stack[count++] = node->first;
        } else {
            insert_newton_start(s, &start);
        }
    }
}

/* 1 where tree nodes of A's and B's charts may touch; *closest_point_residual: distance of the
 * nodes' middles from being closest points: across the mean normal, relative to their radii, and in
 * the normals. */
static int may_chart_nodes_touch(const struct chart_contact_search *s, const struct chart_node *a,
                                 const struct chart_node *b, double *closest_point_residual)
{
    double d[3], axis[3], n[3], reach = a->radius + b->radius, far = s->near + reach;
    tact_m3_mul_v3(d, s->rotation_b_to_a, b->center);
    tact_v3_add(d, d, s->position_of_origin_b_in_frame_a);
    tact_v3_sub(d, d, a->center);
    *closest_point_residual = 0.0;
    if (tact_v3_dot(d, d) > far * far) {
        return 0;
    }
    if (a->normal_cone_cosine < 0.0 || b->normal_cone_cosine < 0.0) {
        return 1;
    }
    tact_m3_mul_v3(axis, s->rotation_b_to_a, b->axis);
    double most =
        cosine_of_angle_sum(a->normal_cone_cosine, a->sine, b->normal_cone_cosine, b->sine);
    if (!(-tact_v3_dot(axis, a->axis) >= most)) {
        return 0;
    }
    tact_m3_tmul_v3(n, s->rotation_b_to_a, a->axis);
    if (fabs(tact_v3_dot(d, a->axis)) >
        s->near + a->node_extent_along_cone_axis + tact_chart_node_extent_along(b, n)) {
        return 0;
    }
    tact_v3_sub(n, a->axis, axis);
    tact_v3_normalize(n, n);
    tact_v3_axpy(d, -tact_v3_dot(d, n), n);
    tact_v3_add(axis, axis, a->axis);
    *closest_point_residual = tact_v3_norm(d) / reach + tact_v3_norm(axis);
    return 1;
}

static void search_charts(struct chart_contact_search *s)
{
    const struct chart_node *of[2] = {s->pair->charts[0]->nodes, s->pair->charts[1]->nodes};
    int stack[2 * CHART_TREE_STACK_DEPTH][2], count = 1;
    stack[0][0] = stack[0][1] = 0;
    while (count > 0) {
        count--;
        int at[2] = {stack[count][0], stack[count][1]};
        const struct chart_node *a = &of[0][at[0]], *b = &of[1][at[1]];
        struct start_of_newton_search start = {.cell = {a, b}};
        const struct part_of_surface part[2] = {surface_part_of_node(a), surface_part_of_node(b)};
        if (!may_chart_nodes_touch(s, a, b, &start.closest_point_residual) ||
            do_parts_contain_only_known_contact(s, part)) {
            continue;
        }
        if (a->first < 0 && b->first < 0) {
            memcpy(start.place[0], a->place, sizeof start.place[0]);
            memcpy(start.place[1], b->place, sizeof start.place[1]);
            insert_newton_start(s, &start);
            continue;
        }
        int split = b->first < 0 || (a->first >= 0 && a->radius >= b->radius) ? 0 : 1;
        for (int i = 1; i >= 0; i--, count++) {
            stack[count][split] = (split ? b : a)->first + i;
            stack[count][1 - split] = at[1 - split];
        }
    }
}

int tact_smooth_search_contacts(const struct smooth_pair *pair, double near,
                                int known_contact_count, struct smooth_contact contact[TACT_PIECES],
                                int *search_failed)
{
    double size = INFINITY;
    struct chart_contact_search s;
    *search_failed = 0;
    if (!pair->charts[0] && !pair->charts[1]) {
        return known_contact_count;
    }
    s.pair = pair;
    s.contact = contact;
    s.near = near;
    s.found = known_contact_count;
    s.newton_start_count = s.failed = 0;
    for (int k = 0; k < 2; k++) {
        size = pair->charts[k] ? tact_min(size, pair->charts[k]->radius) : size;
    }
    s.same_distance = SAME_CONTACT_DISTANCE_TO_SIZE * size;
    if (pair->charts[0] && pair->charts[1]) {
        tact_m3_tmul(s.rotation_b_to_a, pair->rotation[0], pair->rotation[1]);
        tact_m3_tmul_v3(s.position_of_origin_b_in_frame_a, pair->rotation[0],
                        pair->offset_from_origin_b_to_origin_a);
        tact_v3_scale(s.position_of_origin_b_in_frame_a, s.position_of_origin_b_in_frame_a, -1.0);
        search_charts(&s);
    } else {
        search_node_against_closed_form(&s, pair->charts[0] ? 0 : 1);
    }
    refine_starts_by_newton(&s);
    *search_failed = s.failed > 0 && s.found == 0;
    return s.found;
}
