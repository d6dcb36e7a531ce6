/*
 * Finds the vertices of an overlap's polyhedron: vertices of each solid inside the other, and the
 * points where an edge of one crosses the other's surface.
 */
#include <math.h>
#include <string.h>
#include "contact/vec.h"
#include "contact/pair/points/point_internal.h"

/* Depth of the stack of tree nodes: a tree split at the median has at most 32 levels. */
enum { STACK_NODES = 34, STACK_PAIRS = 128 };

/* Kinds of feature keys, in their upper bits; the lower bits are indices. */
enum { OF_A = 1, OF_B = 2, CROSSING_A = 3, CROSSING_B = 4 };

/* Transform from mesh `from` to mesh (or half-space) `to`: r_to = rot r_from + shift. */
struct mesh_to_mesh_transform {
    const struct tact_mesh *from, *to;
    const struct tact_pose *pose; /* pose of `to` */
    double rot[9], shift[3];
    double size[9]; /* |rot| */
    int pair, crossing, inside;
    struct contact_point_store *store;
};

static void set_mesh_transform(struct mesh_to_mesh_transform *v, const struct tact_pose *from,
                               const struct tact_pose *to)
{
    double rf[9], rt[9], origin_offset[3];
    tact_quat_to_m3(rf, from->quat_wxyz);
    tact_quat_to_m3(rt, to->quat_wxyz);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            v->rot[3 * i + j] = rt[i] * rf[j] + rt[3 + i] * rf[3 + j] + rt[6 + i] * rf[6 + j];
            v->size[3 * i + j] = fabs(v->rot[3 * i + j]);
        }
    }
    tact_v3_sub(origin_offset, from->position, to->position);
    tact_m3_tmul_v3(v->shift, rt, origin_offset);
    v->pose = to;
}

static void transform_vertex_to_other_frame(const struct mesh_to_mesh_transform *v, uint32_t index,
                                            double *out)
{
    tact_m3_mul_v3(out, v->rot, v->from->vertices + 3 * (size_t)index);
    tact_v3_add(out, out, v->shift);
}

static void add_contact_point_of_feature(const struct mesh_to_mesh_transform *v, const double *at,
                                         uint64_t kind, uint64_t i, uint64_t j, uint64_t k)
{
    const uint64_t key[2] = {kind << 32 | i, j << 32 | k};
    double place[3];
    tact_pose_point(place, v->pose, at);
    tact_points_add_contact_point(v->store, v->pair, place, key);
}

/* Bounding box of a node of mesh `from`, in the axes of mesh `to`. */
static void transform_node_box_to_other_frame(const struct mesh_to_mesh_transform *v,
                                              const struct tact_mesh_node *node, double *lower,
                                              double *upper)
{
    double middle[3], half[3], reach[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (node->lower[k] + node->upper[k]);
        half[k] = 0.5 * (node->upper[k] - node->lower[k]);
    }
    tact_m3_mul_v3(lower, v->rot, middle);
    tact_v3_add(lower, lower, v->shift);
    tact_m3_mul_v3(reach, v->size, half);
    tact_v3_add(upper, lower, reach);
    tact_v3_sub(lower, lower, reach);
}

static int do_boxes_overlap(const double *lower, const double *upper,
                            const struct tact_mesh_node *node)
{
    return lower[0] <= node->upper[0] && lower[1] <= node->upper[1] && lower[2] <= node->upper[2] &&
           upper[0] >= node->lower[0] && upper[1] >= node->lower[1] && upper[2] >= node->lower[2];
}

/* Intersects the line p + t d with a triangle: returns 1 and t, or 0. */
static int line_triangle_intersection(const double *p, const double *d, const double *a,
                                      const double *b, const double *c, double *t)
{
    double e[3], f[3], s[3], q[3], r[3];
    tact_v3_sub(e, b, a);
    tact_v3_sub(f, c, a);
    tact_v3_cross(q, d, f);
    double det = tact_v3_dot(e, q);
    tact_v3_sub(s, p, a);
    double x = tact_v3_dot(s, q);
    tact_v3_cross(r, s, e);
    double y = tact_v3_dot(d, r);
    if (det < 0.0) {
        x = -x;
        y = -y;
    }
    if (det == 0.0 || x < 0.0 || y < 0.0 || x + y > fabs(det)) {
        return 0;
    }
    *t = tact_v3_dot(f, r) / det;
    return 1;
}

static void get_triangle_corners(const struct tact_mesh *mesh, uint32_t triangle,
                                 const double *out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)triangle + (size_t)k];
    }
}

/* Adds the intersections of the edges of a triangle of `from` with a triangle of `to`. Each edge
 * is processed in the triangle in which its vertices are ascending. */
static void intersect_triangle_edges(const struct mesh_to_mesh_transform *v, uint32_t from,
                                     uint32_t to)
{
    const uint32_t *t = v->from->triangles + 3 * (size_t)from;
    const double *c[3];
    double p[3][3];
    get_triangle_corners(v->to, to, c);
    for (int k = 0; k < 3; k++) {
        transform_vertex_to_other_frame(v, t[k], p[k]);
    }
    for (int k = 0; k < 3; k++) {
        int next = (k + 1) % 3;
        double d[3], at;
        if (t[k] > t[next]) {
            continue;
        }
        tact_v3_sub(d, p[next], p[k]);
        if (line_triangle_intersection(p[k], d, c[0], c[1], c[2], &at) && at >= 0.0 && at <= 1.0) {
            tact_v3_scale(d, d, at);
            tact_v3_add(d, d, p[k]);
            add_contact_point_of_feature(v, d, (uint64_t)v->crossing, t[k], t[next], to);
        }
    }
}

/* Adds all intersections of edges and triangles, by pairs of nodes. back: the inverse transform.
 */
static void intersect_mesh_edges_with_faces(const struct mesh_to_mesh_transform *v,
                                            const struct mesh_to_mesh_transform *back)
{
    uint32_t stack[STACK_PAIRS][2] = {{0, 0}};
    int top = 1;
    while (top > 0) {
        top--;
        const struct tact_mesh_node *a = &v->from->nodes[stack[top][0]];
        const struct tact_mesh_node *b = &v->to->nodes[stack[top][1]];
        uint32_t ia = stack[top][0], ib = stack[top][1];
        double lower[3], upper[3];
        transform_node_box_to_other_frame(v, a, lower, upper);
        if (!do_boxes_overlap(lower, upper, b)) {
            continue;
        }
        for (uint32_t i = 0; i < a->count && b->count; i++) {
            for (uint32_t j = 0; j < b->count; j++) {
                intersect_triangle_edges(v, a->first + i, b->first + j);
                intersect_triangle_edges(back, b->first + j, a->first + i);
            }
        }
        int must_split_node_of_a =
            !a->count &&
            (b->count ||
             a->upper[0] - a->lower[0] + a->upper[1] - a->lower[1] + a->upper[2] - a->lower[2] >
                 b->upper[0] - b->lower[0] + b->upper[1] - b->lower[1] + b->upper[2] - b->lower[2]);
        for (uint32_t k = 0; k < 2 && !(a->count && b->count) && top < STACK_PAIRS; k++) {
            stack[top][0] = must_split_node_of_a ? a->first + 1 - k : ia;
            stack[top++][1] = must_split_node_of_a ? ib : b->first + 1 - k;
        }
    }
}

/* 1 where a box, in the axes of `to`, meets no leaf of the tree of `to`. */
static int does_box_meet_no_leaf(const struct tact_mesh *to, const double *lower,
                                 const double *upper)
{
    uint32_t stack[STACK_NODES] = {0};
    int top = 1;
    while (top > 0) {
        const struct tact_mesh_node *node = &to->nodes[stack[--top]];
        if (!do_boxes_overlap(lower, upper, node)) {
            continue;
        }
        if (node->count) {
            return 0;
        }
        stack[top++] = node->first + 1;
        stack[top++] = node->first;
    }
    return 1;
}

/* 1 where a ray from p may meet a tree node; d is not along an axis. */
static int ray_meets_box(const double *p, const double *d, const struct tact_mesh_node *node)
{
    double lo = 0.0, hi = INFINITY;
    for (int k = 0; k < 3; k++) {
        double a = (node->lower[k] - p[k]) / d[k], b = (node->upper[k] - p[k]) / d[k];
        lo = tact_max(lo, tact_min(a, b));
        hi = tact_min(hi, tact_max(a, b));
    }
    return lo <= hi;
}

/* 1 where a point is inside a closed mesh: a ray from it crosses the surface outwards once more
 * than inwards. */
static int is_point_in_mesh(const struct tact_mesh *mesh, const double *p)
{
    static const double d[3] = {0.5377, 0.1834, 0.8223};
    uint32_t stack[STACK_NODES] = {0};
    int top = 1, crossings = 0;
    while (top > 0) {
        const struct tact_mesh_node *node = &mesh->nodes[stack[--top]];
        if (!ray_meets_box(p, d, node)) {
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            const double *c[3];
            double t;
            get_triangle_corners(mesh, node->first + i, c);
            crossings += line_triangle_intersection(p, d, c[0], c[1], c[2], &t) && t > 0.0;
        }
        if (!node->count) {
            stack[top++] = node->first + 1;
            stack[top++] = node->first;
        }
    }
    return crossings % 2;
}

/* Adds a vertex of `from`, once, where it is inside the other solid. is_vertex_known_inside: 1
 * where that is already known. */
static void add_vertex_if_inside_other(const struct mesh_to_mesh_transform *v, uint32_t index,
                                       int is_vertex_known_inside)
{
    double at[3];
    if (v->store->stamps_of_listed_vertices[index] == v->store->current_vertex_stamp) {
        return;
    }
    v->store->stamps_of_listed_vertices[index] = v->store->current_vertex_stamp;
    transform_vertex_to_other_frame(v, index, at);
    if (is_vertex_known_inside || (v->to ? is_point_in_mesh(v->to, at) : at[2] <= 0.0)) {
        add_contact_point_of_feature(v, at, (uint64_t)v->inside, index, 0, 0);
    }
}

/* Adds the vertices of `from` that are inside `to`. A tree node that does not meet the other's
 * surface is all inside or all outside. */
static void add_vertices_inside_other_solid(const struct mesh_to_mesh_transform *v)
{
    uint32_t stack[STACK_NODES][2] = {{0, 0}};
    int top = 1;
    v->store->current_vertex_stamp++;
    while (top > 0) {
        top--;
        const struct tact_mesh_node *node = &v->from->nodes[stack[top][0]];
        int inside = (int)stack[top][1];
        double lower[3], upper[3];
        if (!inside) {
            transform_node_box_to_other_frame(v, node, lower, upper);
            int is_box_outside_other_solid =
                v->to ? !do_boxes_overlap(lower, upper, &v->to->nodes[0]) : lower[2] > 0.0;
            int is_box_clear_of_other_surface =
                v->to ? does_box_meet_no_leaf(v->to, lower, upper) : upper[2] <= 0.0;
            double middle[3] = {0.5 * (lower[0] + upper[0]), 0.5 * (lower[1] + upper[1]),
                                0.5 * (lower[2] + upper[2])};
            if (is_box_outside_other_solid ||
                (is_box_clear_of_other_surface && v->to && !is_point_in_mesh(v->to, middle))) {
                continue;
            }
            inside = is_box_clear_of_other_surface;
        }
        for (uint32_t i = 0; i < 3 * node->count; i++) {
            add_vertex_if_inside_other(v, v->from->triangles[3 * (size_t)node->first + i], inside);
        }
        for (uint32_t k = 0; k < 2 && !node->count; k++) {
            stack[top][0] = node->first + 1 - k;
            stack[top++][1] = (uint32_t)inside;
        }
    }
}

/* Adds the intersections of edges of `from` with the plane z = 0 of `to`. */
static void add_edge_intersections_with_plane(const struct mesh_to_mesh_transform *v)
{
    uint32_t stack[STACK_NODES] = {0};
    int top = 1;
    while (top > 0) {
        const struct tact_mesh_node *node = &v->from->nodes[stack[--top]];
        double lower[3], upper[3];
        transform_node_box_to_other_frame(v, node, lower, upper);
        if (lower[2] > 0.0 || upper[2] < 0.0) {
            continue;
        }
        for (uint32_t i = 0; i < 3 * node->count; i++) {
            const uint32_t *t = v->from->triangles + 3 * (size_t)(node->first + i / 3);
            uint32_t from = t[i % 3], to = t[(i + 1) % 3];
            double p[3], q[3];
            transform_vertex_to_other_frame(v, from, p);
            transform_vertex_to_other_frame(v, to, q);
            if (from < to && (p[2] <= 0.0) != (q[2] <= 0.0)) {
                double share = p[2] / (p[2] - q[2]);
                tact_v3_sub(q, q, p);
                tact_v3_axpy(p, share, q);
                add_contact_point_of_feature(v, p, (uint64_t)v->crossing, from, to, 0);
            }
        }
        if (!node->count) {
            stack[top++] = node->first + 1;
            stack[top++] = node->first;
        }
    }
}

void tact_points_add_overlap_vertices(struct contact_point_store *store, int pair,
                                      const struct tact_mesh *a, const struct tact_pose *pa,
                                      const struct tact_mesh *b, const struct tact_pose *pb)
{
    struct mesh_to_mesh_transform v = {.from = a, .to = b, .pair = pair, .store = store};
    v.crossing = CROSSING_A;
    v.inside = OF_A;
    set_mesh_transform(&v, pa, pb);
    if (!b) {
        add_edge_intersections_with_plane(&v);
        add_vertices_inside_other_solid(&v);
        return;
    }
    struct mesh_to_mesh_transform back = {.from = b, .to = a, .pair = pair, .store = store};
    back.crossing = CROSSING_B;
    back.inside = OF_B;
    set_mesh_transform(&back, pb, pa);
    intersect_mesh_edges_with_faces(&v, &back);
    add_vertices_inside_other_solid(&v);
    add_vertices_inside_other_solid(&back);
}
