#include "contact/pair/features/manifold_internal.h"

#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/features/curved_internal.h"

/* Sine of the angle up to which a face or an edge lies in the contact plane. */
#define MAX_CONTACT_PLANE_SLOPE 0.1
/* Cosine of the angle up to which no other face is nearer to the contact plane: smaller than the
 * angle between any two faces, which are one within 1e-6. */
#define FLAT_FACE_COSINE (1.0 - 1e-14)
/* Distance from the rim of a face within which a corner is on it, relative to the size. An edge
 * that coincides with the rim, as where two plates lean together, is kept whole whatever rounding
 * does. */
#define OUTLINE_CLIP_TOLERANCE 1e-12
/* Sine of the angle up to which two edges are parallel and have a segment in common. */
#define PARALLEL_EDGE_SINE 0.01
/* Size of the square that represents a half-space, relative to the size of the other shape. */
#define HALFSPACE_SQUARE_EXTENT_RATIO 4.0

/* Outline of a feature projected along the normal: its corners in the contact plane, relative to
 * the middle, and its height. */
struct outline {
    enum tact_feature kind;
    int count;
    int face; /* index of a polytope's face, of which only the height is set until the corners are
                 needed; else -1 */
    double point[3]; /* position of a feature that is a vertex, world axes, from the middle */
    double corner[TACT_MAX_CORE_FACE_CORNERS][2]; /* corners of the outline; those of a face
                                        counter-clockwise about the normal */
    double height[3];
};

/* One of the two shapes, with its pose in the frame of the manifold. */
struct side {
    const struct tact_convex_core *core;
    const struct tact_pose *pose;
    const double *rotation; /* rotation matrix of the shape's frame, row-major */
    double shift[3];        /* position of the shape relative to the middle of the two shapes [m],
                               once its outline is needed */
    double out[3];          /* unit vector towards the other shape, world axes */
    int64_t vertex;         /* a vertex on the shape's nearest feature; -1: unknown */
    double outward_normal_in_core_frame[3]; /* outward normal in the shape's own frame */
    int is_side_below_contact_plane; /* 1: this shape is B, whose face is below the contact plane */
};

/* The feature of a shape that is nearest to the contact plane. */
struct feature {
    enum tact_feature kind;
    int face;       /* a polytope's face; -1: none */
    int64_t vertex; /* the vertex, or an end of the edge, of a core whose feature is none of the
                       others */
    int64_t end;    /* the other end of the edge; -1: none */
};

static void shape_point_to_world(const struct side *s, const double *vertex, double out[3])
{
    tact_m3_mul_v3(out, s->rotation, vertex);
    tact_v3_add(out, out, s->shift);
    tact_v3_axpy(out, s->core->radius, s->out);
}

static void project_to_contact_plane(const struct tact_manifold *m, const double *r, double x[2])
{
    x[0] = tact_v3_dot(r, m->t1);
    x[1] = tact_v3_dot(r, m->t2);
}

/* Index of the face at the vertex whose normal is nearest to the outward direction; -1 where none
 * has at least this cosine to it. */
static int find_face_facing_normal(const struct side *s, int64_t vertex, double min_facing_cosine)
{
    const struct tact_convex_core *core = s->core;
    double most = min_facing_cosine;
    int best = -1;
    for (int k = core->faces ? core->first_face_index_of_vertex[vertex] : 0;
         core->faces && k < core->first_face_index_of_vertex[vertex + 1]; k++) {
        double c = tact_v3_dot(core->normal[core->at[k]], s->outward_normal_in_core_frame);
        best = c > most ? core->at[k] : best;
        most = tact_max(c, most);
    }
    return best;
}

/* Index of the neighbouring vertex along the edge with the smallest slope from the contact plane;
 * -1 where none is within MAX_CONTACT_PLANE_SLOPE. */
static int find_edge_in_contact_plane(const struct side *s, int64_t vertex)
{
    const struct tact_convex_core *core = s->core;
    double least = MAX_CONTACT_PLANE_SLOPE;
    int best = -1;
    if (!core->faces) { /* the core is a point, or an axis along z */
        return core->vertices == 2 &&
                       fabs(s->outward_normal_in_core_frame[2]) < MAX_CONTACT_PLANE_SLOPE
                   ? 1 - (int)vertex
                   : -1;
    }
    for (int k = core->first_neighbour_index_of_vertex[vertex];
         k < core->first_neighbour_index_of_vertex[vertex + 1]; k++) {
        double d[3];
        tact_v3_sub(d, core->vertex[core->next[k]], core->vertex[vertex]);
        double slope = -tact_v3_dot(d, s->outward_normal_in_core_frame) / tact_v3_norm(d);
        best = slope < least ? core->next[k] : best;
        least = tact_min(slope, least);
    }
    return best;
}

/* Lists the corners of a face, counter-clockwise from outside (shape frame). */
static void list_face_corners(const struct tact_manifold *m, const struct side *s,
                              double (*corner)[3], int count, struct outline *o)
{
    o->kind = TACT_FEATURE_FACE;
    o->count = count;
    for (int i = 0; i < count; i++) {
        double r[3];
        shape_point_to_world(s, corner[i], r);
        project_to_contact_plane(m, r,
                                 o->corner[s->is_side_below_contact_plane ? i : count - 1 - i]);
    }
}

/* Sets the height of a surface from the plane through the point `at` with outward unit normal `out`
 * (shape frame). */
static void set_surface_height_plane(const struct tact_manifold *m, const double n[3],
                                     const struct side *s, const double *out, const double *at,
                                     struct outline *o)
{
    double normal[3], r[3];
    tact_m3_mul_v3(normal, s->rotation, out);
    shape_point_to_world(s, at, r);
    double face_normal_along_contact_normal = tact_v3_dot(normal, n);
    o->height[0] = tact_v3_dot(normal, r) / face_normal_along_contact_normal;
    o->height[1] = -tact_v3_dot(normal, m->t1) / face_normal_along_contact_normal;
    o->height[2] = -tact_v3_dot(normal, m->t2) / face_normal_along_contact_normal;
}

static void set_face_outline(const struct tact_manifold *m, const double n[3], const struct side *s,
                             int face, struct outline *o)
{
    double point_on_face_plane[3];
    o->kind = TACT_FEATURE_FACE;
    o->face = face;
    tact_v3_scale(point_on_face_plane, s->core->normal[face], s->core->offset[face]);
    set_surface_height_plane(m, n, s, s->core->normal[face], point_on_face_plane, o);
}

/* Adds the corners to the outline of a face, where they were not needed before. */
static void complete_face_outline(const struct tact_manifold *m, const struct side *s,
                                  struct outline *o)
{
    const struct tact_convex_core *core = s->core;
    if (o->face < 0) {
        return;
    }
    int first = core->first_corner_index_of_face[o->face],
        all = core->first_corner_index_of_face[o->face + 1] - first;
    int count = all < TACT_MAX_CORE_FACE_CORNERS ? all : TACT_MAX_CORE_FACE_CORNERS;
    double corner[TACT_MAX_CORE_FACE_CORNERS][3];
    for (int i = 0; i < count; i++) {
        /* many corners are replaced by a subset at even distances along the rim */
        int k = (int)((long)i * all / count);
        tact_v3_copy(corner[i], core->vertex[core->rim[first + k]]);
    }
    list_face_corners(m, s, corner, count, o);
}

static void set_edge_outline(const struct tact_manifold *m, const double n[3], const struct side *s,
                             const double *from, const double *to, struct outline *o)
{
    double p[3], q[3], d[2];
    o->kind = TACT_FEATURE_EDGE;
    o->count = 2;
    shape_point_to_world(s, from, p);
    shape_point_to_world(s, to, q);
    project_to_contact_plane(m, p, o->corner[0]);
    project_to_contact_plane(m, q, o->corner[1]);
    d[0] = o->corner[1][0] - o->corner[0][0];
    d[1] = o->corner[1][1] - o->corner[0][1];
    double edge_height_slope =
        (tact_v3_dot(q, n) - tact_v3_dot(p, n)) / (d[0] * d[0] + d[1] * d[1]);
    o->height[1] = edge_height_slope * d[0];
    o->height[2] = edge_height_slope * d[1];
    o->height[0] =
        tact_v3_dot(p, n) - o->height[1] * o->corner[0][0] - o->height[2] * o->corner[0][1];
}

static void set_vertex_outline(const struct tact_manifold *m, const double n[3],
                               const struct side *s, int64_t vertex, struct outline *o)
{
    double at[3];
    o->kind = TACT_FEATURE_VERTEX;
    o->count = 1;
    tact_convex_core_vertex_position(s->core, vertex, at);
    shape_point_to_world(s, at, o->point);
    project_to_contact_plane(m, o->point, o->corner[0]);
    o->height[0] = tact_v3_dot(o->point, n);
    o->height[1] = o->height[2] = 0.0;
}

/* Kind of feature of a cylinder: its end, or the line on its side, within MAX_CONTACT_PLANE_SLOPE
 * of the contact plane; otherwise a vertex. */
static enum tact_feature find_kind_of_cylinder_feature(const struct side *s)
{
    double up = s->outward_normal_in_core_frame[2];
    if (fabs(up) < MAX_CONTACT_PLANE_SLOPE) {
        return TACT_FEATURE_EDGE;
    }
    return up * up > 1.0 - MAX_CONTACT_PLANE_SLOPE * MAX_CONTACT_PLANE_SLOPE ? TACT_FEATURE_FACE
                                                                             : TACT_FEATURE_VERTEX;
}

/* Sets the outline of a cylinder's side or end. */
static void set_cylinder_outline(const struct tact_manifold *m, const double n[3],
                                 const struct side *s, enum tact_feature kind, struct outline *o)
{
    double corner[TACT_MAX_CORE_FACE_CORNERS][3];
    if (kind == TACT_FEATURE_EDGE) {
        tact_curved_core_farthest_segment(s->core, s->outward_normal_in_core_frame, corner);
        set_edge_outline(m, n, s, corner[0], corner[1], o);
        return;
    }
    double normal[3] = {0.0, 0.0, copysign(1.0, s->outward_normal_in_core_frame[2])};
    tact_curved_core_end_circle_corners(s->core, normal[2], s->outward_normal_in_core_frame,
                                        TACT_MAX_CORE_FACE_CORNERS, corner);
    list_face_corners(m, s, corner, TACT_MAX_CORE_FACE_CORNERS, o);
    set_surface_height_plane(m, n, s, normal, corner[0], o);
}

/* Sets the outline of a half-space's bounding plane: a square about the middle, larger than the
 * other shape. */
static void set_halfspace_outline(const struct tact_manifold *m, const double n[3],
                                  const struct side *s, double size, struct outline *o)
{
    static const double sign[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    (void)m;
    o->kind = TACT_FEATURE_FACE;
    o->count = 4;
    for (int i = 0; i < 4; i++) {
        o->corner[i][0] = HALFSPACE_SQUARE_EXTENT_RATIO * size * sign[i][0];
        o->corner[i][1] = HALFSPACE_SQUARE_EXTENT_RATIO * size * sign[i][1];
    }
    o->height[0] = tact_v3_dot(s->shift, n);
    o->height[1] = o->height[2] = 0.0;
}

/* Finds the feature of a shape: a face, or otherwise an edge, within MAX_CONTACT_PLANE_SLOPE of the
 * contact plane, or otherwise a vertex. */
static struct feature find_feature_in_contact_plane(const struct side *s)
{
    struct feature f = {.kind = TACT_FEATURE_VERTEX, .face = -1, .end = -1};
    if (s->core->kind == TACT_SHAPE_HALFSPACE) {
        f.kind = TACT_FEATURE_FACE;
        return f;
    }
    if (s->core->vertices == 1) {
        return f;
    }
    if (s->core->kind == TACT_SHAPE_CYLINDER) {
        f.kind = find_kind_of_cylinder_feature(s);
    } else if (s->vertex >= 0) {
        f.face = find_face_facing_normal(s, s->vertex, FLAT_FACE_COSINE);
    }
    if (f.face < 0 && f.kind == TACT_FEATURE_VERTEX) {
        f.vertex = tact_convex_core_support_vertex(s->core, s->outward_normal_in_core_frame, -1);
        f.face = find_face_facing_normal(
            s, f.vertex, sqrt(1.0 - MAX_CONTACT_PLANE_SLOPE * MAX_CONTACT_PLANE_SLOPE));
        f.end = f.face < 0 ? find_edge_in_contact_plane(s, f.vertex) : -1;
        f.kind = f.end >= 0 ? TACT_FEATURE_EDGE : TACT_FEATURE_VERTEX;
    }
    f.kind = f.face >= 0 ? TACT_FEATURE_FACE : f.kind;
    return f;
}

/* Sets the outline of a shape's feature. size: of the pair [m] */
static void set_feature_outline(const struct tact_manifold *m, const double n[3],
                                const struct side *s, const struct feature *f, double size,
                                struct outline *o)
{
    o->face = -1;
    if (f->face >= 0) {
        set_face_outline(m, n, s, f->face, o);
    } else if (s->core->kind == TACT_SHAPE_HALFSPACE) {
        set_halfspace_outline(m, n, s, size, o);
    } else if (f->kind == TACT_FEATURE_VERTEX) {
        set_vertex_outline(m, n, s, f->vertex, o);
    } else if (s->core->kind == TACT_SHAPE_CYLINDER) {
        set_cylinder_outline(m, n, s, f->kind, o);
    } else {
        set_edge_outline(m, n, s, s->core->vertex[f->vertex], s->core->vertex[f->end], o);
    }
}

static double squared_distance_in_plane(const double p[2], const double q[2])
{
    double x = q[0] - p[0], y = q[1] - p[1];
    return x * x + y * y;
}

/* Clips a polygon by the line from p to q (Sutherland and Hodgman 1974); returns the number of
 * remaining corners. Corners within `tolerance` [m] outside of the line are kept as they are. */
static int clip_polygon_by_line(double (*corner)[2], int count, const double *p, const double *q,
                                double tolerance)
{
    double corners_of_clipped_outline[TACT_MANIFOLD_CORNERS][2],
        outside = -tolerance * sqrt(squared_distance_in_plane(p, q));
    int n = 0;
    for (int i = 0; i < count; i++) {
        const double *a = corner[i], *b = corner[i + 1 < count ? i + 1 : 0];
        double of_a = (q[0] - p[0]) * (a[1] - p[1]) - (q[1] - p[1]) * (a[0] - p[0]);
        double of_b = (q[0] - p[0]) * (b[1] - p[1]) - (q[1] - p[1]) * (b[0] - p[0]);
        if (of_a >= outside && n < TACT_MANIFOLD_CORNERS) {
            memcpy(corners_of_clipped_outline[n++], a, sizeof corners_of_clipped_outline[0]);
        }
        if ((of_a > 0.0 && of_b < outside) || (of_a < outside && of_b > 0.0)) {
            double t = of_a / (of_a - of_b);
            for (int k = 0; k < 2 && n < TACT_MANIFOLD_CORNERS; k++) {
                corners_of_clipped_outline[n][k] = a[k] + t * (b[k] - a[k]);
            }
            n += n < TACT_MANIFOLD_CORNERS;
        }
    }
    memcpy(corner, corners_of_clipped_outline, (size_t)n * sizeof *corners_of_clipped_outline);
    return n;
}

/* 1 where a vertex, projected along the normal, is on a polytope's face or on its rim. */
static int is_projected_vertex_on_face(const struct outline *vertex, const struct side *s, int face)
{
    const struct tact_convex_core *core = s->core;
    const int *end = core->rim + core->first_corner_index_of_face[face + 1];
    const double *n = s->outward_normal_in_core_frame;
    double offset[3], at[3], along[3], to[3], across[3];
    tact_v3_sub(offset, vertex->point, s->shift);
    tact_m3_tmul_v3(at, s->rotation, offset);
    const double *p = core->vertex[end[-1]];
    for (const int *next = core->rim + core->first_corner_index_of_face[face]; next < end; next++) {
        const double *q = core->vertex[*next];
        tact_v3_sub(along, q, p);
        tact_v3_sub(to, at, p);
        tact_v3_cross(across, along, to);
        if (!(tact_v3_dot(across, n) >= 0.0)) {
            return 0;
        }
        p = q;
    }
    return 1;
}

/* Clips an outline of the shape side_of_outline_to_clip by a face of the shape s. */
static void clip_outline_by_face(struct outline *outline_to_clip,
                                 const struct side *side_of_outline_to_clip,
                                 struct outline *outline_of_clipping_face, const struct side *s,
                                 double size, struct tact_manifold *m)
{
    if (outline_to_clip->kind == TACT_FEATURE_VERTEX && outline_of_clipping_face->face >= 0) {
        m->corners =
            is_projected_vertex_on_face(outline_to_clip, s, outline_of_clipping_face->face);
        memcpy(m->corner, outline_to_clip->corner, sizeof *outline_to_clip->corner);
        return;
    }
    complete_face_outline(m, side_of_outline_to_clip, outline_to_clip);
    complete_face_outline(m, s, outline_of_clipping_face);
    int n = outline_to_clip->count;
    memcpy(m->corner, outline_to_clip->corner, (size_t)n * sizeof *outline_to_clip->corner);
    for (int i = 0; i < outline_of_clipping_face->count && n > 0; i++) {
        int next = i + 1 < outline_of_clipping_face->count ? i + 1 : 0;
        n = clip_polygon_by_line(m->corner, n, outline_of_clipping_face->corner[i],
                                 outline_of_clipping_face->corner[next],
                                 OUTLINE_CLIP_TOLERANCE * size);
    }
    m->corners = n;
}

/* Finds the part of edge a that is opposite to edge b, where the two are nearly parallel. */
static void overlap_of_parallel_edges(const struct outline *a, const struct outline *b,
                                      struct tact_manifold *m)
{
    const double *p = a->corner[0], *q = a->corner[1];
    double d[2] = {q[0] - p[0], q[1] - p[1]}, low = INFINITY, high = -INFINITY;
    double e[2] = {b->corner[1][0] - b->corner[0][0], b->corner[1][1] - b->corner[0][1]};
    double square = d[0] * d[0] + d[1] * d[1];
    m->corners = 0;
    if (fabs(d[0] * e[1] - d[1] * e[0]) >
        PARALLEL_EDGE_SINE * sqrt(square) * tact_hypot(e[0], e[1])) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        const double *r = b->corner[i];
        double s = ((r[0] - p[0]) * d[0] + (r[1] - p[1]) * d[1]) / square;
        low = tact_min(low, s);
        high = tact_max(high, s);
    }
    low = tact_max(low, 0.0);
    high = tact_min(high, 1.0);
    for (int i = 0; i < 2 && low < high; i++) {
        double s = i ? high : low;
        m->corner[i][0] = p[0] + s * d[0];
        m->corner[i][1] = p[1] + s * d[1];
        m->corners = 2;
    }
}

/* 1 where the area of a polygon is less than half its diameter times a width. */
static int is_manifold_narrower_than(const struct tact_manifold *m, double width)
{
    const double *o = m->corner[0];
    double twice = 0.0, most_square = 0.0;
    for (int i = 0; i < m->corners; i++) {
        const double *p = m->corner[i], *q = m->corner[i + 1 < m->corners ? i + 1 : 0];
        twice += (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
        for (int k = i + 1; k < m->corners; k++) {
            most_square = tact_max(most_square, squared_distance_in_plane(p, m->corner[k]));
        }
    }
    return !(twice > sqrt(most_square) * width);
}

/* Makes a polygon the segment between the two of its corners that are farthest from each other. */
static void reduce_polygon_to_farthest_corners(struct tact_manifold *m)
{
    int far[2] = {0, 0};
    double most = 0.0, farthest_corners[2][2];
    for (int i = 0; i < m->corners; i++) {
        for (int k = i + 1; k < m->corners; k++) {
            double d =
                tact_hypot(m->corner[k][0] - m->corner[i][0], m->corner[k][1] - m->corner[i][1]);
            far[0] = d > most ? i : far[0];
            far[1] = d > most ? k : far[1];
            most = tact_max(d, most);
        }
    }
    memcpy(farthest_corners[0], m->corner[far[0]], sizeof farthest_corners[0]);
    memcpy(farthest_corners[1], m->corner[far[1]], sizeof farthest_corners[1]);
    memcpy(m->corner, farthest_corners, sizeof farthest_corners);
    m->corners = 2;
}

/* Merges corners of the polygon that are equal except for rounding; a polygon without area becomes
 * its two ends. */
static void merge_equal_manifold_corners(struct tact_manifold *m, double least)
{
    int n = 0;
    if (m->corners < 2) {
        return;
    }
    for (int i = 0; i < m->corners; i++) {
        const double *c = m->corner[i];
        if (!n || squared_distance_in_plane(m->corner[n - 1], c) > least * least) {
            memmove(m->corner[n++], c, sizeof m->corner[0]);
        }
    }
    n -= n > 1 && squared_distance_in_plane(m->corner[0], m->corner[n - 1]) <= least * least;
    m->corners = n;
    if (n > 2 && is_manifold_narrower_than(m, least)) {
        reduce_polygon_to_farthest_corners(m);
    }
}

static void init_manifold_side(struct side *s, const struct tact_convex_core *core,
                               const struct tact_pose *pose, const struct tact_separation *sep,
                               int is_side_below_contact_plane)
{
    s->core = core;
    s->pose = pose;
    s->is_side_below_contact_plane = is_side_below_contact_plane;
    s->vertex = sep->vertex[is_side_below_contact_plane];
    s->rotation = sep->rotation[is_side_below_contact_plane];
    tact_v3_scale(s->out, sep->normal, is_side_below_contact_plane ? 1.0 : -1.0);
    if (core->kind ==
        TACT_SHAPE_HALFSPACE) { /* a separation has no rotation matrix of a half-space */
        tact_v3_set(s->outward_normal_in_core_frame, 0.0, 0.0, 1.0);
    } else {
        tact_m3_tmul_v3(s->outward_normal_in_core_frame, s->rotation, s->out);
    }
}

/* Makes a manifold the point between the nearest points of both shapes. */
static void make_manifold_middle_point(const struct tact_separation *sep, struct tact_manifold *m)
{
    m->corners = 1;
    m->corner[0][0] = m->corner[0][1] = 0.0;
    memset(m->surface_height_plane_a, 0, sizeof m->surface_height_plane_a);
    memset(m->surface_height_plane_b, 0, sizeof m->surface_height_plane_b);
    m->surface_height_plane_a[0] = 0.5 * sep->distance;
    m->surface_height_plane_b[0] = -0.5 * sep->distance;
}

/* Finds the polygon in which the outlines of two features overlap. */
static void intersect_outlines(struct side side[2], const struct feature feature[2],
                               const struct tact_separation *sep, struct tact_manifold *m)
{
    struct outline a, b;
    for (int i = 0; i < 2; i++) {
        tact_v3_sub(side[i].shift, side[i].pose->position, sep->origin);
        tact_v3_sub(side[i].shift, side[i].shift, m->middle);
    }
    const struct tact_convex_core *core_of_side_a = side[0].core, *core_of_side_b = side[1].core;
    double size = core_of_side_a->size + core_of_side_a->radius + core_of_side_b->size +
                  core_of_side_b->radius;
    set_feature_outline(m, sep->normal, &side[0], &feature[0], size, &a);
    set_feature_outline(m, sep->normal, &side[1], &feature[1], size, &b);
    memcpy(m->surface_height_plane_a, a.height, sizeof m->surface_height_plane_a);
    memcpy(m->surface_height_plane_b, b.height, sizeof m->surface_height_plane_b);
    if (b.kind == TACT_FEATURE_FACE) {
        clip_outline_by_face(&a, &side[0], &b, &side[1], size, m);
    } else if (a.kind == TACT_FEATURE_FACE) {
        clip_outline_by_face(&b, &side[1], &a, &side[0], size, m);
    } else if (a.kind == TACT_FEATURE_EDGE && b.kind == TACT_FEATURE_EDGE) {
        overlap_of_parallel_edges(&a, &b, m);
    } else {
        m->corners = 0;
    }
    merge_equal_manifold_corners(m, 1e-9 * size);
}

void tact_manifold_find_contact_points(const struct tact_convex_core *a,
                                       const struct tact_pose *pose_a,
                                       const struct tact_convex_core *b,
                                       const struct tact_pose *pose_b,
                                       const struct tact_separation *sep, struct tact_manifold *out)
{
    struct side side[2];
    tact_v3_add(out->middle, sep->point_a, sep->point_b);
    tact_v3_scale(out->middle, out->middle, 0.5);
    tact_v3_tangents(sep->normal, out->t1, out->t2);
    init_manifold_side(&side[0], a, pose_a, sep, 0);
    init_manifold_side(&side[1], b, pose_b, sep, 1);
    const struct feature feature[2] = {find_feature_in_contact_plane(&side[0]),
                                       find_feature_in_contact_plane(&side[1])};
    out->feature[0] = feature[0].kind;
    out->feature[1] = feature[1].kind;
    /* a ball has one nearest point to any feature */
    out->is_point_between_nearest_points =
        sep->are_points_opposed_along_normal && (a->vertices == 1 || b->vertices == 1);
    if (!out->is_point_between_nearest_points) {
        intersect_outlines(side, feature, sep, out);
        out->is_point_between_nearest_points = !out->corners;
    }
    if (out->is_point_between_nearest_points) {
        make_manifold_middle_point(sep, out);
    }
}
