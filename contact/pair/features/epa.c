/* The least translation that separates two overlapping cores, by the expanding polytope algorithm
 * (EPA). */
#include <float.h>
#include <math.h>
#include <string.h>
#include "contact/pair/features/difference_internal.h"

/* Height of a point over a face above which it is outside of the polytope, relative to the size. */
#define MIN_SUPPORT_HEIGHT_OVER_FACE 2e-15
/* As MIN_SUPPORT_HEIGHT_OVER_FACE, where a core is curved: larger, as the result is refined
 * afterwards. */
#define MIN_CURVED_SUPPORT_HEIGHT_OVER_FACE 1e-7
/* Height below which a tetrahedron has no volume, relative to the size. */
#define FLAT_TETRAHEDRON_HEIGHT_RATIO 1e-13
/* Height with which a start tetrahedron is accepted, relative to the size. */
#define ACCEPTED_TETRAHEDRON_HEIGHT_RATIO 1e-3
/* Distance of the origin from the polytope, relative to the size, above which the cores are
 * separated. */
#define SEPARATED_ORIGIN_DISTANCE_RATIO 1e-12
/* Cosine above which the normals of two faces belong to one plane. */
#define SAME_PLANE_COSINE (1.0 - 1e-6)
/* Change of the unit normal of a face above which its support point has to be searched again. */
#define MIN_FACE_NORMAL_CHANGE_TO_SEARCH_AGAIN 1e-12
/* Area of a face below which it has no normal, relative to the product of two of its sides. */
#define SLIVER_AREA_TOLERANCE 1e-14

enum {
    MAX_POLYTOPE_POINTS = 256,
    MAX_POLYTOPE_FACES = 2 * MAX_POLYTOPE_POINTS,
    MAX_HORIZON_EDGES = 128
};

struct face {
    double n[3], d; /* outward unit normal and distance of a face's plane from the origin [m];
                       infinite: a sliver */
    int point[3];   /* corners of a face, counter-clockwise from outside */
    int neighbour_faces[3]; /* indices of the neighbouring faces across the edges from each point to
                             * the next
                             */
    int is_polytope_face_in_use;    /* 1: the entry is a face; 0: the entry is free, or its face was
                                       removed */
    int is_plane_from_sliver_edges; /* 1: the plane was computed by compute_sliver_plane() */
};

struct expanding_polytope {
    struct tact_convex_core_pair *pair;
    struct tact_minkowski_point point[MAX_POLYTOPE_POINTS];
    struct face face[MAX_POLYTOPE_FACES];
    int free_polytope_face_indices[MAX_POLYTOPE_FACES];
    int points, faces, free_polytope_face_count; /* faces: highest index in use, plus one */
    int edge[MAX_HORIZON_EDGES][2]; /* edges of the horizon: the face that remains beyond it, and
                                       the number of that face's edge */
    int edges;
    int face_starting_at_point[MAX_POLYTOPE_POINTS]; /* the new face whose horizon edge starts at a
                                                        point; -1: none */
};

/* Sets the plane of a face from its first point and the edges to the others. */
static void set_face_plane(struct face *f, const double *a, const double ab[3], const double ac[3])
{
    double n[3];
    tact_v3_cross(n, ab, ac);
    double sides =
        SLIVER_AREA_TOLERANCE * SLIVER_AREA_TOLERANCE * tact_v3_dot(ab, ab) * tact_v3_dot(ac, ac);
    double square = tact_v3_dot(n, n);
    tact_v3_scale(f->n, n, square > 0.0 ? 1.0 / sqrt(square) : 0.0);
    f->d = square > sides ? tact_v3_dot(f->n, a) : INFINITY;
    f->is_polytope_face_in_use = 1;
}

static void compute_face_plane(const struct expanding_polytope *p, struct face *f)
{
    const double *a = p->point[f->point[0]].w;
    double ab[3], ac[3];
    tact_v3_sub(ab, p->point[f->point[1]].w, a);
    tact_v3_sub(ac, p->point[f->point[2]].w, a);
    set_face_plane(f, a, ab, ac);
    f->is_plane_from_sliver_edges = 0;
}

/* As compute_face_plane(), for a face that is much shorter in one direction: from its two shorter
 * edges, each of which is precise relative to its own length and not to the size of the pair. */
static void compute_sliver_plane(const struct expanding_polytope *p, struct face *f)
{
    double edge[3][3], square[3];
    int longest_sliver_edge = 0;
    for (int i = 0; i < 3; i++) {
        tact_minkowski_edge(p->pair, &p->point[f->point[i]], &p->point[f->point[(i + 1) % 3]],
                            edge[i]);
        square[i] = tact_v3_dot(edge[i], edge[i]);
        longest_sliver_edge = square[i] > square[longest_sliver_edge] ? i : longest_sliver_edge;
    }
    const int next = (longest_sliver_edge + 1) % 3, last = (longest_sliver_edge + 2) % 3;
    set_face_plane(f, p->point[f->point[last]].w, edge[next], edge[last]);
    f->is_plane_from_sliver_edges = 1;
}

/* Height of a point over the plane of a face [m]; infinite for a sliver. */
static double point_height_above_face(const struct face *f, const double *w)
{
    return f->d < INFINITY ? tact_v3_dot(f->n, w) - f->d : INFINITY;
}

static void append_polytope_point(struct expanding_polytope *p,
                                  const struct tact_minkowski_point *point)
{
    p->face_starting_at_point[p->points] = -1;
    p->point[p->points++] = *point;
}

static int is_point_beyond_rounding(const struct expanding_polytope *p, const double *from,
                                    const double *w)
{
    double d[3];
    tact_v3_sub(d, w, from);
    return tact_v3_dot(d, d) > FLAT_TETRAHEDRON_HEIGHT_RATIO * FLAT_TETRAHEDRON_HEIGHT_RATIO *
                                   p->pair->size * p->pair->size;
}

/* Adds the support point along d or against it, if it is outside of the plane through `from`: that
 * on the side of the origin where the plane is far from it, else the farther one. Returns 1 where
 * there is one. */
static int add_support_point_off_plane(struct expanding_polytope *p, const double d[3],
                                       const double *from)
{
    struct tact_minkowski_point best = {.a = -1};
    double most = FLAT_TETRAHEDRON_HEIGHT_RATIO * p->pair->size,
           side = tact_v3_dot(d, from) > 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 2 && most < ACCEPTED_TETRAHEDRON_HEIGHT_RATIO * p->pair->size; i++) {
        double way[3], off[3];
        struct tact_minkowski_point next;
        tact_v3_scale(way, d, i ? -side : side);
        p->pair->start_vertex_a = p->pair->start_vertex_b = -1;
        tact_minkowski_find_support_point(p->pair, way, &next);
        tact_v3_sub(off, next.w, from);
        double height = fabs(tact_v3_dot(off, d));
        best = height > most ? next : best;
        most = tact_max(most, height);
    }
    if (best.a >= 0) {
        append_polytope_point(p, &best);
    }
    return best.a >= 0;
}

/* Adds points to the simplex until it is a tetrahedron with volume. Returns 1 where it is; else 0,
 * with *normal across the difference, which is flat. */
static int complete_first_tetrahedron(struct expanding_polytope *p, double normal[3])
{
    static const double axis[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    double u[3], v[3];
    if (p->points == 4) {
        return 1;
    }
    tact_v3_copy(normal, axis[2]);
    for (int i = 0; i < 3 && p->points == 1; i++) {
        add_support_point_off_plane(p, axis[i], p->point[0].w);
    }
    if (p->points == 1) {
        return 0;
    }
    tact_v3_sub(u, p->point[1].w, p->point[0].w);
    if (p->points == 2) {
        tact_v3_normalize(u, u);
        tact_v3_tangents(u, normal, v);
        if (!add_support_point_off_plane(p, normal, p->point[0].w) &&
            !add_support_point_off_plane(p, v, p->point[0].w)) {
            return 0;
        }
    }
    tact_v3_sub(v, p->point[2].w, p->point[0].w);
    tact_v3_cross(normal, u, v);
    tact_v3_normalize(normal, normal);
    return add_support_point_off_plane(p, normal, p->point[0].w);
}

/* Copies the first three points of the simplex that are distinct and not on a line; of four points,
 * which contain the origin and have volume, all. */
static void copy_distinct_simplex_points(struct expanding_polytope *p, const struct tact_simplex *s)
{
    double size = p->pair->size, u[3], v[3], n[3];
    p->points = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->count == 4) {
            append_polytope_point(p, &s->point[i]);
            continue;
        }
        const double *w = s->point[i].w;
        int is_affinely_independent_point =
            p->points == 0 || is_point_beyond_rounding(p, p->point[0].w, w);
        if (is_affinely_independent_point && p->points > 1) {
            tact_v3_sub(u, p->point[1].w, p->point[0].w);
            tact_v3_sub(v, w, p->point[0].w);
            tact_v3_cross(n, u, v);
            is_affinely_independent_point =
                tact_v3_norm(n) > FLAT_TETRAHEDRON_HEIGHT_RATIO * size * tact_v3_norm(u);
        }
        if (is_affinely_independent_point) {
            append_polytope_point(p, &s->point[i]);
        }
    }
    if (!p->points) {
        static const double up[3] = {0.0, 0.0, 1.0};
        struct tact_minkowski_point first;
        tact_minkowski_find_support_point(p->pair, up, &first);
        append_polytope_point(p, &first);
    }
}

static void make_first_tetrahedron(struct expanding_polytope *p)
{
    static const int point[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    static const int neighbour_faces[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    double u[3], v[3], n[3], up[3];
    tact_v3_sub(u, p->point[1].w, p->point[0].w);
    tact_v3_sub(v, p->point[2].w, p->point[0].w);
    tact_v3_sub(up, p->point[3].w, p->point[0].w);
    tact_v3_cross(n, u, v);
    if (tact_v3_dot(n, up) > 0.0) { /* the fourth point is behind the plane of the first three */
        struct tact_minkowski_point swapped = p->point[1];
        p->point[1] = p->point[2];
        p->point[2] = swapped;
    }
    for (int f = 0; f < 4; f++) {
        memcpy(p->face[f].point, point[f], sizeof point[f]);
        memcpy(p->face[f].neighbour_faces, neighbour_faces[f], sizeof neighbour_faces[f]);
        compute_face_plane(p, &p->face[f]);
    }
    p->faces = 4;
    p->free_polytope_face_count = 0;
}

static int find_face_nearest_to_origin(const struct expanding_polytope *p)
{
    int best = -1;
    double least = INFINITY;
    for (int f = 0; f < p->faces; f++) {
        if (p->face[f].is_polytope_face_in_use && p->face[f].d < least) {
            best = f;
            least = p->face[f].d;
        }
    }
    return best;
}

static void free_polytope_face(struct expanding_polytope *p, int f)
{
    p->face[f].is_polytope_face_in_use = 0;
    p->free_polytope_face_indices[p->free_polytope_face_count++] = f;
}

/* Removes face f and all faces connected with it that are visible from point w; lists the edges of
 * the horizon. Returns 0 where there are too many. */
static int remove_visible_faces(struct expanding_polytope *p, int f, const double *w)
{
    int stack[MAX_POLYTOPE_FACES], depth = 0;
    double min_support_height_beyond_face = MIN_SUPPORT_HEIGHT_OVER_FACE * p->pair->size;
    p->edges = 0;
    free_polytope_face(p, f);
    stack[depth++] = f;
    while (depth > 0) {
        const struct face *at = &p->face[stack[--depth]];
        for (int k = 0; k < 3; k++) {
            int next = at->neighbour_faces[k];
            struct face *neighbour_face = &p->face[next];
            if (!neighbour_face->is_polytope_face_in_use) {
                continue;
            }
            if (point_height_above_face(neighbour_face, w) > min_support_height_beyond_face) {
                free_polytope_face(p, next);
                stack[depth++] = next;
                continue;
            }
            if (p->edges == MAX_HORIZON_EDGES) {
                return 0;
            }
            int edge = 0; /* the neighbouring face has the same edge in the opposite direction */
            while (edge < 2 && neighbour_face->point[(edge + 1) % 3] != at->point[k]) {
                edge++;
            }
            p->edge[p->edges][0] = next;
            p->edge[p->edges++][1] = edge;
        }
    }
    return p->edges >= 3;
}

static int allocate_polytope_face(struct expanding_polytope *p)
{
    return p->free_polytope_face_count
               ? p->free_polytope_face_indices[--p->free_polytope_face_count]
           : p->faces < MAX_POLYTOPE_FACES ? p->faces++
                                           : -1;
}

/* Adds faces from the edges of the horizon to the last point. Returns 0 where the edges do not form
 * one closed loop, due to rounding. */
static int add_polytope_faces_over_horizon(struct expanding_polytope *p)
{
    int indices_of_new_faces[MAX_HORIZON_EDGES], good = 1;
    for (int i = 0; i < p->edges; i++) {
        struct face *neighbour_face = &p->face[p->edge[i][0]];
        int edge = p->edge[i][1], f = allocate_polytope_face(p);
        if (f < 0) {
            return 0;
        }
        struct face *face = &p->face[f];
        face->point[0] = neighbour_face->point[(edge + 1) % 3];
        face->point[1] = neighbour_face->point[edge];
        face->point[2] = p->points - 1;
        face->neighbour_faces[0] = p->edge[i][0];
        neighbour_face->neighbour_faces[edge] = f;
        good = good && p->face_starting_at_point[face->point[0]] < 0;
        p->face_starting_at_point[face->point[0]] = f;
        compute_face_plane(p, face);
        indices_of_new_faces[i] = f;
    }
    for (int i = 0; i < p->edges; i++) {
        struct face *face = &p->face[indices_of_new_faces[i]];
        int next = p->face_starting_at_point[face->point[1]];
        good = good && next >= 0;
        face->neighbour_faces[1] = next;
        if (next >= 0) {
            p->face[next].neighbour_faces[2] = indices_of_new_faces[i];
        }
    }
    for (int i = 0; i < p->edges; i++) {
        p->face_starting_at_point[p->face[indices_of_new_faces[i]].point[0]] = -1;
    }
    return good;
}

/* Weights of a face's corners in the point of its plane nearest to the origin, times twice the
 * face's area; the smallest is negative where that point is outside of the face. Returns the
 * smallest. */
static double weights_of_projected_origin(const struct expanding_polytope *p, const struct face *f,
                                          double weight[3])
{
    double origin_projected_to_face[3], least = INFINITY;
    tact_v3_scale(origin_projected_to_face, f->n, f->d);
    for (int i = 0; i < 3; i++) {
        double u[3], v[3], n[3];
        tact_v3_sub(u, p->point[f->point[(i + 1) % 3]].w, origin_projected_to_face);
        tact_v3_sub(v, p->point[f->point[(i + 2) % 3]].w, origin_projected_to_face);
        tact_v3_cross(n, u, v);
        weight[i] = tact_v3_dot(n, f->n);
        least = tact_min(least, weight[i]);
    }
    return least;
}

/* Of the faces that lie in the plane of *face except for rounding, sets *face to the one that
 * contains the point of the plane nearest to the origin, and `weight` to the weights of its
 * corners. Returns 1 where it is another face. */
static int find_face_containing_projection(const struct expanding_polytope *p,
                                           double min_support_height_beyond_face, struct face *face,
                                           double weight[3])
{
    double most = weights_of_projected_origin(p, face, weight);
    const struct face copy_of_face = *face;
    int is_projection_in_coplanar_face = 0;
    for (int f = 0; f < p->faces && most < 0.0; f++) {
        const struct face *candidate_for_coplanar_face = &p->face[f];
        if (candidate_for_coplanar_face->is_polytope_face_in_use &&
            candidate_for_coplanar_face->d <= copy_of_face.d + min_support_height_beyond_face &&
            tact_v3_dot(candidate_for_coplanar_face->n, copy_of_face.n) > SAME_PLANE_COSINE) {
            double weights_on_coplanar_face[3],
                least = weights_of_projected_origin(p, candidate_for_coplanar_face,
                                                    weights_on_coplanar_face);
            if (least > most) {
                tact_v3_copy(weight, weights_on_coplanar_face);
                *face = *candidate_for_coplanar_face;
                most = least;
                is_projection_in_coplanar_face = 1;
            }
        }
    }
    return is_projection_in_coplanar_face;
}

/* Rotates the order of the points of the result's face so that the first is the one whose vertices
 * come first: the result is the same bit for bit whatever the search started from. The plane of a
 * sliver depends on the order by rounding: where its distance changes by more than
 * plane_distance_change_limit [m], it is computed again. Returns 1 where the order changes. */
static int rotate_face_points(const struct expanding_polytope *p, struct face *face,
                              double plane_distance_change_limit, double weight[3])
{
    const int *at = face->point;
    int first = tact_minkowski_point_sorts_before(&p->point[at[1]], &p->point[at[0]]);
    first = tact_minkowski_point_sorts_before(&p->point[at[2]], &p->point[at[first]]) ? 2 : first;
    if (first) {
        const int rotated_face_points[3] = {at[first], at[(first + 1) % 3], at[(first + 2) % 3]};
        memcpy(face->point, rotated_face_points, sizeof rotated_face_points);
        const struct face face_before_reordering = *face;
        compute_face_plane(p, face);
        if (face_before_reordering.is_plane_from_sliver_edges ||
            !(fabs(face->d - face_before_reordering.d) <= plane_distance_change_limit)) {
            compute_sliver_plane(p, face);
        }
        weights_of_projected_origin(p, face, weight);
    }
    return first != 0;
}

/* Sets the points of the two cores whose difference is the point of the face nearest to the origin,
 * from the weights of the face's corners. */
static void set_nearest_points_from_weights(const struct expanding_polytope *p,
                                            const struct face *f, const double weight[3],
                                            struct tact_nearest_points *out)
{
    double positive_weight_sum = 0.0;
    out->from.count = 3;
    for (int i = 0; i < 3; i++) {
        out->from.point[i] = p->point[f->point[i]];
        positive_weight_sum += tact_max(0.0, weight[i]);
    }
    memset(out->nearest_point_on_a, 0, sizeof out->nearest_point_on_a);
    for (int i = 0; i < 3; i++) {
        double vertex[3], part = positive_weight_sum > 0.0
                                     ? tact_max(0.0, weight[i]) / positive_weight_sum
                                     : 1.0 / 3.0;
        tact_convex_core_vertex_position(p->pair->a, p->point[f->point[i]].a, vertex);
        tact_v3_axpy(out->nearest_point_on_a, part, vertex);
    }
    tact_v3_scale(out->normal, f->n, -1.0);
    tact_v3_copy(out->nearest_point_on_b, out->nearest_point_on_a);
    tact_v3_axpy(out->nearest_point_on_b, -f->d, f->n);
}

/* Sets the result for cores whose difference has no volume, for example two axes that cross: the
 * normal of the flat difference is the direction of separation. simplex: contains the origin. */
static void set_result_of_flat_minkowski_difference(const struct expanding_polytope *p,
                                                    const struct tact_simplex *simplex,
                                                    const double normal[3],
                                                    struct tact_nearest_points *out)
{
    double weight[3], vertex[3];
    double side = tact_v3_dot(normal, p->pair->shift) > 0.0 ? -1.0 : 1.0;
    out->distance = out->bound = 0.0;
    tact_v3_scale(out->normal, normal, side);
    out->from.count = 1;
    out->from.point[0] = p->point[0];
    tact_simplex_weights(simplex, weight);
    memset(out->nearest_point_on_a, 0, sizeof out->nearest_point_on_a);
    for (int i = 0; i < simplex->count && i < 3; i++) {
        tact_convex_core_vertex_position(p->pair->a, simplex->point[i].a, vertex);
        tact_v3_axpy(out->nearest_point_on_a, weight[i], vertex);
    }
    tact_v3_copy(out->nearest_point_on_b, out->nearest_point_on_a);
}

/* The support point of A - B along the normal of a face; the search for it starts at the corners of
 * the face. */
static void find_support_beyond_face(const struct expanding_polytope *p, const struct face *face,
                                     struct tact_minkowski_point *next)
{
    p->pair->start_vertex_a = p->point[face->point[0]].a;
    p->pair->start_vertex_b = p->point[face->point[0]].b;
    tact_minkowski_find_support_point(p->pair, face->n, next);
}

/* 1 where the normals of two planes differ by more than MIN_FACE_NORMAL_CHANGE_TO_SEARCH_AGAIN, as
 * those of a sliver whose points are taken in another order: the distance of a plane through the
 * origin is 0 by either. */
static int is_face_normal_changed(const struct face *one, const struct face *other)
{
    double change[3];
    tact_v3_sub(change, one->n, other->n);
    return tact_v3_dot(change, change) >
           MIN_FACE_NORMAL_CHANGE_TO_SEARCH_AGAIN * MIN_FACE_NORMAL_CHANGE_TO_SEARCH_AGAIN;
}

/* Sets the result. face_nearest_to_origin: nearest to the origin; support_point_along_normal: the
 * support point along its normal. The nearest points are on another face where that lies in the
 * same plane and contains them; one that is not in the plane of the difference there is a part of
 * its inside. */
static void set_epa_result(const struct expanding_polytope *p,
                           const struct face *face_nearest_to_origin,
                           const struct tact_minkowski_point *support_point_along_normal,
                           int curved, double min_support_height_beyond_face,
                           struct tact_nearest_points *out)
{
    struct face face = *face_nearest_to_origin;
    struct tact_minkowski_point next = *support_point_along_normal;
    double weight[3];
    int is_projection_in_other_face =
        find_face_containing_projection(p, min_support_height_beyond_face, &face, weight);
    if (is_projection_in_other_face && !curved) {
        find_support_beyond_face(p, &face, &next);
        if (point_height_above_face(&face, next.w) > min_support_height_beyond_face) {
            face = *face_nearest_to_origin;
            next = *support_point_along_normal;
            is_projection_in_other_face = 0;
            weights_of_projected_origin(p, &face, weight);
        }
    }
    const struct face face_before_point_rotation = face;
    if (rotate_face_points(p, &face, curved ? INFINITY : min_support_height_beyond_face, weight) &&
        curved) {
        is_projection_in_other_face = 1; /* the result's face is a sliver, without a normal */
    }
    if (!curved && is_face_normal_changed(&face, &face_before_point_rotation)) {
        find_support_beyond_face(p, &face, &next);
        if (point_height_above_face(&face, next.w) > min_support_height_beyond_face) {
            tact_v3_copy(face.n, face_before_point_rotation.n);
            face.d = face_before_point_rotation.d;
            weights_of_projected_origin(p, &face, weight);
        }
        is_projection_in_other_face = 1;
    }
    if (is_projection_in_other_face) {
        tact_minkowski_find_support_point(p->pair, face.n, &next);
    }
    set_nearest_points_from_weights(p, &face, weight, out);
    out->distance = -face.d;
    out->bound = -tact_v3_dot(face.n, next.w);
}

int tact_epa_find_touching_face(struct tact_convex_core_pair *pair,
                                const struct tact_simplex *simplex, struct tact_nearest_points *out)
{
    struct expanding_polytope p;
    struct tact_minkowski_point next;
    double weight[3];
    const double most = MIN_SUPPORT_HEIGHT_OVER_FACE * pair->size;
    struct face *face = &p.face[0];
    p.pair = pair;
    p.points = 0;
    p.faces = 1;
    for (int i = 0; i < 3; i++) {
        append_polytope_point(&p, &simplex->point[i]);
        face->point[i] = i;
    }
    compute_face_plane(&p, face);
    if (!(fabs(face->d) <= most) || !(weights_of_projected_origin(&p, face, weight) >= 0.0)) {
        return 0;
    }
    find_support_beyond_face(&p, face, &next);
    if (point_height_above_face(face, next.w) > most) {
        return 0;
    }
    const struct face copy_of_face_nearest_to_origin = *face;
    set_epa_result(&p, &copy_of_face_nearest_to_origin, &next, 0, most, out);
    return 1;
}

int tact_epa_find_nearest_points(struct tact_convex_core_pair *pair,
                                 const struct tact_simplex *simplex,
                                 struct tact_nearest_points *out)
{
    struct expanding_polytope p;
    int curved = !pair->a->vertex || !pair->b->vertex;
    double normal_of_flat_difference[3],
        min_support_height_beyond_face =
            (curved ? MIN_CURVED_SUPPORT_HEIGHT_OVER_FACE : MIN_SUPPORT_HEIGHT_OVER_FACE) *
            pair->size;
    p.pair = pair;
    copy_distinct_simplex_points(&p, simplex);
    if (!complete_first_tetrahedron(&p, normal_of_flat_difference)) {
        set_result_of_flat_minkowski_difference(&p, simplex, normal_of_flat_difference, out);
        return TACT_EPA_FLAT;
    }
    make_first_tetrahedron(&p);
    struct face face = p.face[0];
    struct tact_minkowski_point next = p.point[0];
    for (;;) {
        int f = find_face_nearest_to_origin(&p), done = 0, whole = f >= 0;
        if (whole) {
            face = p.face[f];
            find_support_beyond_face(&p, &face, &next);
            double height = point_height_above_face(&face, next.w);
            int is_support_point_repeated =
                tact_minkowski_point_is_repeated(p.point, p.points, &next);
            if (is_support_point_repeated &&
                height > tact_max(min_support_height_beyond_face,
                                  SEPARATED_ORIGIN_DISTANCE_RATIO * pair->size)) {
                /* the face is a sliver whose normal is lost in rounding */
                if (curved || face.is_plane_from_sliver_edges) {
                    p.face[f].d = INFINITY;
                } else {
                    compute_sliver_plane(&p, &p.face[f]);
                }
                continue;
            }
            done = is_support_point_repeated || height <= min_support_height_beyond_face;
            whole = !done && p.points < MAX_POLYTOPE_POINTS;
        }
        if (whole) {
            append_polytope_point(&p, &next);
            whole = remove_visible_faces(&p, f, next.w) && add_polytope_faces_over_horizon(&p);
        }
        if (!whole) {
            set_epa_result(&p, &face, &next, curved, min_support_height_beyond_face, out);
            return !done ? -1 : face.d < -SEPARATED_ORIGIN_DISTANCE_RATIO * pair->size ? 0 : 1;
        }
    }
}
