#include "contact/moments/outline.h"

#include <string.h>

#include "contact/moments/hull_internal.h"
#include "contact/moments/overlap_internal.h"
#include "contact/moments/outline_internal.h"

#define MAX_CONVEX_PLANES                                                                          \
    128 /* maximum number of planes of a convex solid: with more, clipping of edges is too slow    \
           for the tick */
#define MAX_MESH_TREE_DEPTH 64 /* maximum depth of a mesh's tree */
#define RECENT_VERTEX_TABLE_SIZE                                                                   \
    256 /* number of recently added vertices that are remembered: a vertex occurs again in         \
           neighbouring leaves of the tree */

/* A plane that clips a mesh's edges, n.r <= d inside, in the frame of the mesh. */
struct plane {
    double n[3];
    double d;
};

struct edge_clipper_by_planes {
    const struct tact_mesh *mesh;
    struct plane planes[MAX_CONVEX_PLANES];
    int plane_count;
    int last_rejecting_plane; /* index of the plane that rejected the last edge and is likely to
                                 reject the next */
    uint32_t
        recently_projected_vertices[RECENT_VERTEX_TABLE_SIZE]; /* 1 + the vertex that was added
                                   last, of those with the same index modulo the size; 0 for none */
    double origin[3]; /* centre and axes of the patch in the mesh's frame */
    double t1[3];
    double t2[3];
    struct tact_planar_hull *hull;
};

static void add_outline_point(const struct edge_clipper_by_planes *c, const double *p)
{
    double r[3];
    tact_v3_sub(r, p, c->origin);
    tact_planar_hull_add_point(c->hull, tact_v3_dot(r, c->t1), tact_v3_dot(r, c->t2));
}

/* Adds a vertex of the mesh, in which several edges end, unless it was added recently. */
static void add_projected_vertex(struct edge_clipper_by_planes *c, uint32_t i)
{
    uint32_t *entry_of_recent_vertex =
        &c->recently_projected_vertices[i % RECENT_VERTEX_TABLE_SIZE];
    if (*entry_of_recent_vertex != i + 1) {
        *entry_of_recent_vertex = i + 1;
        add_outline_point(c, c->mesh->vertices + 3 * (size_t)i);
    }
}

/* Adds the point at `edge_fraction_of_clipped_end` of the way from p to q; at
 * `edge_fraction_of_vertex` is vertex i, which then itself is added. */
static void add_edge_end_point(struct edge_clipper_by_planes *c, uint32_t i, const double *p,
                               const double *q, double edge_fraction_of_clipped_end,
                               double edge_fraction_of_vertex)
{
    double edge_vector[3], end[3];
    if (edge_fraction_of_clipped_end == edge_fraction_of_vertex) {
        add_projected_vertex(c, i);
        return;
    }
    tact_v3_sub(edge_vector, q, p);
    tact_v3_copy(end, p);
    tact_v3_axpy(end, edge_fraction_of_clipped_end, edge_vector);
    add_outline_point(c, end);
}

/* Adds to the outline's points the ends of an edge's part inside the planes, the edge from vertex a
 * to vertex b. */
static void clip_edge_by_solid(struct edge_clipper_by_planes *c, uint32_t a, uint32_t b)
{
    const double *p = c->mesh->vertices + 3 * (size_t)a, *q = c->mesh->vertices + 3 * (size_t)b;
    double lo = 0.0, hi = 1.0;
    for (int i = 0; i < c->plane_count; i++) {
        int at = i == 0 ? c->last_rejecting_plane : (i == c->last_rejecting_plane ? 0 : i);
        const struct plane *plane = &c->planes[at];
        double hp = tact_v3_dot(plane->n, p) - plane->d, hq = tact_v3_dot(plane->n, q) - plane->d;
        if (hp > 0.0 && hq > 0.0) {
            c->last_rejecting_plane = at;
            return;
        }
        if (hp > 0.0) {
            lo = tact_max(lo, hp / (hp - hq));
        } else if (hq > 0.0) {
            hi = tact_min(hi, hp / (hp - hq));
        }
        if (lo > hi) {
            c->last_rejecting_plane = at;
            return;
        }
    }
    add_edge_end_point(c, a, p, q, lo, 0.0);
    add_edge_end_point(c, b, p, q, hi, 1.0);
}

static int is_node_outside_planes(const struct edge_clipper_by_planes *c,
                                  const struct tact_mesh_node *node)
{
    for (int i = 0; i < c->plane_count; i++) {
        const struct plane *plane = &c->planes[i];
        double least = -plane->d;
        for (int k = 0; k < 3; k++) {
            least += plane->n[k] * (plane->n[k] > 0.0 ? node->lower[k] : node->upper[k]);
        }
        if (least > 0.0) {
            return 1;
        }
    }
    return 0;
}

/* every edge is clipped once, in that of its two triangles in which its vertices ascend */
static void clip_triangle_edges_by_solid(struct edge_clipper_by_planes *c, const uint32_t *t)
{
    for (int k = 0; k < 3; k++) {
        uint32_t i = t[k], j = t[(k + 1) % 3];
        if (i < j) {
            clip_edge_by_solid(c, i, j);
        }
    }
}

static void clip_mesh_edges(struct edge_clipper_by_planes *c)
{
    uint32_t stack[MAX_MESH_TREE_DEPTH];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const struct tact_mesh_node *node = &c->mesh->nodes[stack[--depth]];
        if (is_node_outside_planes(c, node)) {
            continue;
        }
        if (node->count == 0 && depth + 2 <= MAX_MESH_TREE_DEPTH) {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            clip_triangle_edges_by_solid(c, c->mesh->triangles + 3 * (size_t)(node->first + i));
        }
    }
}

static int has_bounding_planes(const struct tact_shape *s)
{
    return s->kind == TACT_SHAPE_HALFSPACE || s->kind == TACT_SHAPE_BOX ||
           (s->kind == TACT_SHAPE_CONVEX && s->mesh->triangle_count <= MAX_CONVEX_PLANES);
}

/* Lists the bounding planes of a shape that has them, in its own frame; returns their number. */
static int list_bounding_planes(const struct tact_shape *s, struct plane *out)
{
    if (s->kind == TACT_SHAPE_HALFSPACE) {
        out[0] = (struct plane){{0.0, 0.0, 1.0}, 0.0};
        return 1;
    }
    if (s->kind == TACT_SHAPE_BOX) {
        for (int i = 0; i < 6; i++) {
            out[i] = (struct plane){{0.0, 0.0, 0.0}, s->size[i / 2]};
            out[i].n[i / 2] = i % 2 ? -1.0 : 1.0;
        }
        return 6;
    }
    for (size_t i = 0; i < s->mesh->triangle_count; i++) {
        const uint32_t *t = s->mesh->triangles + 3 * i;
        const double *p = s->mesh->vertices + 3 * (size_t)t[0];
        double e[3], f[3];
        tact_v3_sub(e, s->mesh->vertices + 3 * (size_t)t[1], p);
        tact_v3_sub(f, s->mesh->vertices + 3 * (size_t)t[2], p);
        tact_v3_cross(out[i].n, e, f);
        out[i].d = tact_v3_dot(out[i].n, p);
    }
    return (int)s->mesh->triangle_count;
}

/* Transforms a direction from the axes of pose `to` to those of `from`: r = R(from)' (R(to) v). */
static void direction_in_other_frame(double *r, const double *from, const double *to,
                                     const double *v)
{
    double w[3];
    tact_m3_mul_v3(w, to, v);
    tact_m3_tmul_v3(r, from, w);
}

/* Clips the edges of `edges` at pe by the planes of `solid_whose_planes_clip` at ps. */
static void clip_edges_by_solid_planes(const struct tact_shape *edges, const struct tact_pose *pe,
                                       const struct tact_shape *solid_whose_planes_clip,
                                       const struct tact_pose *ps, const double *center,
                                       const double *frame, struct tact_planar_hull *hull)
{
    struct edge_clipper_by_planes c = {.mesh = edges->mesh, .hull = hull};
    double re[9], rs[9], apart[3], offset[3];
    c.plane_count = list_bounding_planes(solid_whose_planes_clip, c.planes);
    tact_quat_to_m3(re, pe->quat_wxyz);
    tact_quat_to_m3(rs, ps->quat_wxyz);
    tact_v3_sub(apart, ps->position, pe->position);
    tact_m3_tmul_v3(offset, re, apart);
    for (int i = 0; i < c.plane_count; i++) {
        double n[3];
        direction_in_other_frame(n, re, rs, c.planes[i].n);
        tact_v3_copy(c.planes[i].n, n);
        c.planes[i].d += tact_v3_dot(n, offset);
    }
    tact_v3_sub(apart, center, pe->position);
    tact_m3_tmul_v3(c.origin, re, apart);
    tact_m3_tmul_v3(c.t1, re, frame + 3);
    tact_m3_tmul_v3(c.t2, re, frame + 6);
    clip_mesh_edges(&c);
}

/* Projection of an overlap's corners to the tangent plane, one coordinate a lane. */
struct overlap_tangent_plane_projection {
    tact_d4 origin, t1, t2;
    struct tact_planar_hull *hull;
};

TACT_INLINE void project_overlap_corner(struct overlap_tangent_plane_projection *projection,
                                        const tact_d4 *corner)
{
    tact_d4 r = *corner - projection->origin, x = r * projection->t1, y = r * projection->t2;
    tact_planar_hull_add_point(projection->hull, x[0] + x[1] + x[2], y[0] + y[1] + y[2]);
}

/* Adds the projected corners of a face: all of a face of A; of a cap only those where its edges
 * start. */
TACT_INLINE void project_overlap_face(void *user, const tact_d4 *corner, int n, double share)
{
    for (int i = share > 0.0 ? 0 : 1; i < n; i++) {
        project_overlap_corner(user, &corner[i]);
    }
}

static int project_overlap(struct tact_cutter *c, const struct tact_mesh *a,
                           struct overlap_tangent_plane_projection *projection)
{
    return a->facets ? tact_cut_convex_facets(c, a->facets, project_overlap_face, projection)
                     : tact_cut_mesh_by_cutter_planes(c, a, project_overlap_face, projection);
}

static void rotate_vector_into_axes(const double *axes, const double *v, tact_d4 *out)
{
    double r[3];
    tact_m3_tmul_v3(r, axes, v);
    *out = (tact_d4){r[0], r[1], r[2], 0.0};
}

/* Sets the projection to the tangent plane for points in the frame of a pose. */
static void set_tangent_plane_projection(const struct tact_pose *pose, const double *center,
                                         const double *frame,
                                         struct overlap_tangent_plane_projection *projection)
{
    double r[9], apart[3];
    tact_quat_to_m3(r, pose->quat_wxyz);
    tact_v3_sub(apart, center, pose->position);
    rotate_vector_into_axes(r, apart, &projection->origin);
    rotate_vector_into_axes(r, frame + 3, &projection->t1);
    rotate_vector_into_axes(r, frame + 6, &projection->t2);
}

/* Adds the projected corners of the part of a mesh inside the cutter's planes. -ENOSPC where there
 * are too many edges. */
static int project_clipped_mesh(struct tact_cutter *cutter, const struct tact_mesh *a,
                                const struct tact_pose *pa, const double *center,
                                const double *frame, struct tact_planar_hull *hull)
{
    struct overlap_tangent_plane_projection projection = {.hull = hull};
    set_tangent_plane_projection(pa, center, frame, &projection);
    return project_overlap(cutter, a, &projection);
}

/* Adds the corners of the overlap of two solids with facets; b may be a half-space (NULL). */
static int find_overlap_outline(const struct tact_mesh *a, const struct tact_pose *pa,
                                const struct tact_mesh_facets *b, const struct tact_pose *pb,
                                const double *center, const double *frame,
                                struct tact_planar_hull *hull)
{
    struct tact_cutter cutter;
    tact_cutter_init_frame(&cutter, a->facets->size, pa, b, pb);
    return project_clipped_mesh(&cutter, a, pa, center, frame, hull);
}

TACT_DISPATCH_BY_CPU(int, tact_outline_from_corners,
                     (const struct tact_overlap_corners *known_overlap_corners,
                      const struct tact_pose *pose, const double center[3], const double frame[9],
                      double corners[TACT_PATCH_CORNERS][2]),
                     (known_overlap_corners, pose, center, frame, corners))
{
    struct tact_planar_hull hull;
    struct overlap_tangent_plane_projection projection = {.hull = &hull};
    hull.count = 0;
    set_tangent_plane_projection(pose, center, frame, &projection);
    for (int i = 0; i < known_overlap_corners->count; i++) {
        const double *r = known_overlap_corners->at[i];
        const tact_d4 corner = {r[0], r[1], r[2], 0.0};
        project_overlap_corner(&projection, &corner);
    }
    return tact_planar_hull_corners(&hull, corners);
}

TACT_DISPATCH_BY_CPU(int, tact_outline_of_overlap_in_planes,
                     (const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const double (*plane)[4], int planes, const double center[3],
                      const double frame[9], double corners[TACT_PATCH_CORNERS][2]),
                     (a, pa, b, pb, plane, planes, center, frame, corners))
{
    struct tact_planar_hull hull;
    struct tact_cutter cutter;
    int swapped = !b->facets;
    const struct tact_mesh *first = swapped ? b : a;
    const struct tact_pose *pose = swapped ? pb : pa;
    hull.count = 0;
    tact_cutter_init_frame(&cutter, tact_mesh_largest_coordinate(first), pose,
                           (swapped ? a : b)->facets, swapped ? pa : pb);
    int rc = tact_cutter_add_world_planes(&cutter, pose, plane, planes);
    rc = rc ? rc : project_clipped_mesh(&cutter, first, pose, center, frame, &hull);
    return rc >= 0 ? tact_planar_hull_corners(&hull, corners) : 0;
}

TACT_DISPATCH_BY_CPU(int, tact_outline,
                     (const struct tact_shape *a, const struct tact_pose *pa,
                      const struct tact_shape *b, const struct tact_pose *pb,
                      const double center[3], const double frame[9],
                      double corners[TACT_PATCH_CORNERS][2]),
                     (a, pa, b, pb, center, frame, corners))
{
    struct tact_planar_hull hull;
    int is_shape_a_halfspace = a->kind == TACT_SHAPE_HALFSPACE,
        is_shape_b_halfspace = b->kind == TACT_SHAPE_HALFSPACE;
    if (tact_shape_faces(a) == TACT_FACES_CURVED || tact_shape_faces(b) == TACT_FACES_CURVED) {
        return 0;
    }
    const struct tact_mesh_facets *fa = is_shape_a_halfspace ? NULL : a->mesh->facets;
    const struct tact_mesh_facets *fb = is_shape_b_halfspace ? NULL : b->mesh->facets;
    int rc = -ENOSPC;
    hull.count = 0;
    if (fa && (fb || is_shape_b_halfspace) && !(fb && fb->count > fa->count)) {
        rc = find_overlap_outline(a->mesh, pa, fb, pb, center, frame, &hull);
    } else if (fb && (fa || is_shape_a_halfspace)) {
        rc = find_overlap_outline(b->mesh, pb, fa, pa, center, frame, &hull);
    }
    if (rc >= 0) {
        return tact_planar_hull_corners(&hull, corners);
    }
    hull.count = 0;
    if ((!is_shape_a_halfspace && !has_bounding_planes(b)) ||
        (!is_shape_b_halfspace && !has_bounding_planes(a))) {
        return 0;
    }
    if (!is_shape_a_halfspace) {
        clip_edges_by_solid_planes(a, pa, b, pb, center, frame, &hull);
    }
    if (!is_shape_b_halfspace) {
        clip_edges_by_solid_planes(b, pb, a, pa, center, frame, &hull);
    }
    return tact_planar_hull_corners(&hull, corners);
}
