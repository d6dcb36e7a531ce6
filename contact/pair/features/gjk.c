/* The distance of two separated cores, by the Gilbert-Johnson-Keerthi algorithm (GJK). */
#include <float.h>
#include <math.h>
#include <string.h>
#include "contact/pair/features/difference_internal.h"

/* Precision of the distance for a curved core, relative to the distance. */
#define CURVED_CORE_DISTANCE_TOLERANCE 1e-7
/* Distance below which its direction is due to rounding, relative to the size. */
#define MIN_DISTANCE_WITH_DIRECTION_RATIO 1e-13

/* Difference between a distance and its bound that is due to rounding, relative to the size. */
#define DUALITY_GAP_BY_ROUNDING_RATIO 4e-16

/* Difference above which the nearest points are searched at another distance, relative to the size:
 * it comes from points that are not the nearest. */
#define DUALITY_GAP_TO_SEARCH_AGAIN_RATIO 1e-14

/* Distance to which bodies are moved for a search of their nearest points, relative to the size:
 * its square resolves a displacement across of 1e-8 of it, and rounding its direction to 1e-12. */
#define RESOLVED_DISTANCE_RATIO 1e-4

enum { MOST_STEPS = 200, MOST_STALLS = 8 };

static const double weight_of_single_point[3] = {
    1.0}; /* barycentric weight of the only point of a simplex */

/* A simplex with the barycentric weights of its points in the simplex's point nearest to the
 * origin. */
struct nearest_point_on_simplex {
    int count, index[3];
    double weight[3], v[3], square;
    double n[3]; /* normal of the plane of the simplex's three points, of any length */
};

/* Sets the points of a nearest point. The lengths of the copied arrays do not depend on the count,
 * so that they are copied without a call. */
static inline void set_nearest_point(struct nearest_point_on_simplex *best,
                                     const struct tact_simplex *s, int count, const int index[3],
                                     const double weight[3])
{
    double v[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++) {
        tact_v3_axpy(v, weight[i], s->point[index[i]].w);
    }
    double square = tact_v3_dot(v, v);
    if (square < best->square) {
        best->count = count;
        best->square = square;
        memcpy(best->index, index, sizeof best->index);
        memcpy(best->weight, weight, sizeof best->weight);
        tact_v3_copy(best->v, v);
    }
}

static void keep_if_nearest_on_edge(struct nearest_point_on_simplex *best,
                                    const struct tact_simplex *s, int i, int k)
{
    double d[3];
    tact_v3_sub(d, s->point[k].w, s->point[i].w);
    double origin_projection_on_edge = -tact_v3_dot(d, s->point[i].w), square = tact_v3_dot(d, d);
    if (!(origin_projection_on_edge > 0.0) || origin_projection_on_edge >= square) {
        const int index[3] = {origin_projection_on_edge > 0.0 ? k : i};
        set_nearest_point(best, s, 1, index, weight_of_single_point);
    } else {
        const int index[3] = {i, k};
        const double weight[3] = {1.0 - origin_projection_on_edge / square,
                                  origin_projection_on_edge / square};
        set_nearest_point(best, s, 2, index, weight);
    }
}

/* Keeps those points of a triangle that span its point nearest to the origin, which is in its
 * interior or on one of its edges. The weights are computed from differences from a corner, so that
 * they are accurate for a triangle much smaller than its distance. */
static void keep_if_nearest_on_triangle(struct nearest_point_on_simplex *best,
                                        const struct tact_simplex *s, int i, int j, int k)
{
    const double *a = s->point[i].w;
    double ab[3], ac[3], n[3], part[3], weight[3];
    const int index[3] = {i, j, k};
    tact_v3_sub(ab, s->point[j].w, a);
    tact_v3_sub(ac, s->point[k].w, a);
    tact_v3_cross(n, ab, ac);
    double square = tact_v3_dot(n, n);
    tact_v3_cross(part, ac, a);
    weight[1] = tact_v3_dot(n, part) / square;
    tact_v3_cross(part, a, ab);
    weight[2] = tact_v3_dot(n, part) / square;
    weight[0] = 1.0 - weight[1] - weight[2];
    if (square > 0.0 && weight[0] > 0.0 && weight[1] > 0.0 && weight[2] > 0.0) {
        double before = best->square;
        set_nearest_point(best, s, 3, index, weight);
        if (best->square < before) {
            tact_v3_copy(best->n, n);
        }
        return;
    }
    keep_if_nearest_on_edge(best, s, i, j);
    keep_if_nearest_on_edge(best, s, j, k);
    keep_if_nearest_on_edge(best, s, k, i);
}

/* 1 where the origin is outside of face i j k of a tetrahedron, opposite to the fourth point;
 * always for a flat tetrahedron, whose orientation is rounding. */
static int is_origin_beyond_face(const struct tact_simplex *s, const int *i,
                                 double flat_tetrahedron_height)
{
    const double *a = s->point[i[0]].w;
    double ab[3], ac[3], ad[3], n[3];
    tact_v3_sub(ab, s->point[i[1]].w, a);
    tact_v3_sub(ac, s->point[i[2]].w, a);
    tact_v3_sub(ad, s->point[i[3]].w, a);
    tact_v3_cross(n, ab, ac);
    double height = tact_v3_dot(n, ad), origin = -tact_v3_dot(n, a);
    return height * height <=
               flat_tetrahedron_height * flat_tetrahedron_height * tact_v3_dot(n, n) ||
           height * origin <= 0.0;
}

/* Finds the point of a simplex nearest to the origin. Returns 1 where its four points contain the
 * origin. */
static int find_nearest_simplex_point(const struct tact_simplex *s, double flat_tetrahedron_height,
                                      struct nearest_point_on_simplex *best)
{
    static const int faces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    static const int first[3] = {0};
    int face_count_of_simplex = s->count == 4 ? 4 : s->count == 3, inside = s->count == 4;
    best->count = 0;
    best->square = INFINITY;
    tact_v3_set(best->v, 0.0, 0.0, 0.0);
    tact_v3_set(best->n, 0.0, 0.0, 0.0);
    if (s->count == 1) {
        set_nearest_point(best, s, 1, first, weight_of_single_point);
    } else if (s->count == 2) {
        keep_if_nearest_on_edge(best, s, 0, 1);
    }
    for (int f = 0; f < face_count_of_simplex; f++) {
        const int *i = faces[f];
        if (s->count == 3 || is_origin_beyond_face(s, i, flat_tetrahedron_height)) {
            keep_if_nearest_on_triangle(best, s, i[0], i[1], i[2]);
            inside = 0;
        }
    }
    return inside;
}

void tact_simplex_weights(const struct tact_simplex *simplex, double weight[3])
{
    struct nearest_point_on_simplex best;
    find_nearest_simplex_point(simplex, 0.0, &best);
    for (int i = 0; i < simplex->count; i++) {
        /* in a sliver an edge may be nearer to the origin than a face, due to rounding */
        keep_if_nearest_on_edge(&best, simplex, i, (i + 1) % simplex->count);
    }
    memset(weight, 0, 3 * sizeof *weight);
    for (int i = 0; i < best.count; i++) {
        weight[best.index[i]] = best.weight[i];
    }
}

static void drop_unused_simplex_points(struct tact_simplex *s,
                                       const struct nearest_point_on_simplex *best)
{
    struct tact_minkowski_point simplex_points_to_keep[3];
    if (best->count == s->count) {
        return;
    }
    for (int i = 0; i < best->count; i++) {
        simplex_points_to_keep[i] = s->point[best->index[i]];
    }
    for (int i = 0; i < best->count; i++) {
        s->point[i] = simplex_points_to_keep[i];
    }
    s->count = best->count;
}

/* Sorts the points of the simplex by their vertices, so that the result is the same bit for bit
 * whatever the search started from. Returns 1 where the order changes. */
static int sort_simplex_points(struct tact_simplex *s)
{
    int is_simplex_order_changed = 0;
    for (int i = 1; i < s->count; i++) {
        for (int k = i; k > 0 && tact_minkowski_point_sorts_before(&s->point[k], &s->point[k - 1]);
             k--) {
            struct tact_minkowski_point swapped = s->point[k];
            s->point[k] = s->point[k - 1];
            s->point[k - 1] = swapped;
            is_simplex_order_changed = 1;
        }
    }
    return is_simplex_order_changed;
}

/* Chooses the direction against which the next support is searched: the vector to the nearest
 * point; of three points the normal of their plane, which is exact to rounding at any distance,
 * unless they are so nearly on a line that it is not along that vector. */
static void choose_search_direction(const struct nearest_point_on_simplex *best, double d[3])
{
    double distance_along_simplex_normal = best->count == 3 ? tact_v3_dot(best->n, best->v) : 0.0;
    if (best->count == 3 && distance_along_simplex_normal * distance_along_simplex_normal >
                                0.5 * best->square * tact_v3_dot(best->n, best->n)) {
        tact_v3_scale(d, best->n, copysign(1.0, distance_along_simplex_normal));
    } else {
        tact_v3_copy(d, best->v);
    }
}

/* Sets the result of the search for the distance. d: direction of the last support search; low: the
 * support point that it found. */
static void set_gjk_result(struct tact_convex_core_pair *pair, const struct tact_simplex *s,
                           const struct nearest_point_on_simplex *best, const double d[3],
                           const struct tact_minkowski_point *low, struct tact_nearest_points *out)
{
    memset(out->nearest_point_on_a, 0, sizeof out->nearest_point_on_a);
    out->from = *s;
    for (int i = 0; i < best->count; i++) {
        double vertex[3];
        tact_convex_core_vertex_position(pair->a, s->point[i].a, vertex);
        tact_v3_axpy(out->nearest_point_on_a, best->weight[i], vertex);
    }
    tact_v3_sub(out->nearest_point_on_b, out->nearest_point_on_a, best->v);
    out->distance = sqrt(best->square);
    out->bound = -INFINITY;
    if (s->count == 3) {
        tact_v3_normalize(out->normal, d);
        out->bound = tact_v3_dot(out->normal, low->w);
    }
    if (!(out->bound >= out->distance - TACT_MINKOWSKI_ROUNDING_RATIO * pair->size)) {
        tact_find_separating_normal(pair, s, best->v, out);
    }
    if (s->count == 3) {
        out->distance = tact_v3_dot(out->normal, best->v);
    }
}

/* Finds the simplex of A - B nearest to the origin, with its nearest point. *d: the direction of
 * the last support search, *low: the support point that it found. gjk_step_limit_without_decrease:
 * number of steps after which the square of the distance need not be smaller. Returns 0 where the
 * simplex contains the origin or is nearer than `near` [m]. */
static int find_nearest_simplex(struct tact_convex_core_pair *pair, double near,
                                int gjk_step_limit_without_decrease, struct tact_simplex *simplex,
                                struct nearest_point_on_simplex *best, double d[3],
                                struct tact_minkowski_point *low)
{
    double squared_distance_of_last_step = INFINITY;
    int are_both_cores_polytopes = pair->a->vertex && pair->b->vertex, sorted = 0,
        gjk_steps_without_decrease = 0;
    double min_support_to_squared_distance =
        are_both_cores_polytopes ? 1.0 : 1.0 - CURVED_CORE_DISTANCE_TOLERANCE;
    for (int step = 0; step < MOST_STEPS; step++) {
        double opposite_direction[3];
        if (find_nearest_simplex_point(simplex, near, best)) {
            return 0;
        }
        drop_unused_simplex_points(simplex, best);
        if (!(best->square > near * near)) {
            return 0;
        }
        choose_search_direction(best, d);
        tact_v3_scale(opposite_direction, d, -1.0);
        int is_support_point_repeated =
            tact_minkowski_does_support_repeat(pair, simplex, opposite_direction, low);
        gjk_steps_without_decrease += !(best->square < squared_distance_of_last_step);
        int is_gjk_search_finished =
            sorted || is_support_point_repeated ||
            gjk_steps_without_decrease > gjk_step_limit_without_decrease ||
            tact_v3_dot(d, low->w) >= min_support_to_squared_distance * tact_v3_dot(d, best->v);
        if (is_gjk_search_finished &&
            (sorted || !are_both_cores_polytopes || !sort_simplex_points(simplex))) {
            break;
        }
        /* one more iteration, from the sorted simplex with which the search of the next tick begins
         */
        if (is_gjk_search_finished) {
            sorted = 1;
            pair->start_vertex_a = simplex->point[0].a;
            pair->start_vertex_b = simplex->point[0].b;
            continue;
        }
        squared_distance_of_last_step = best->square;
        simplex->point[simplex->count++] = *low;
    }
    return 1;
}

/* Finds the simplex of up to three points of a set that is nearest to the origin. */
static void find_nearest_simplex_of_set(const struct tact_minkowski_point_set *set,
                                        double flat_tetrahedron_height,
                                        struct tact_simplex *nearest)
{
    double square = INFINITY;
    nearest->count = 1;
    nearest->point[0] = set->point[0];
    for (int i = 0; i < set->count; i++) {
        for (int j = i; j < set->count; j++) {
            for (int k = j + (j > i); k < set->count; k++) {
                struct nearest_point_on_simplex best;
                struct tact_simplex s = {.count = 1 + (j > i) + (k > j)};
                s.point[0] = set->point[i];
                s.point[1] = set->point[j > i ? j : k];
                s.point[2] = set->point[k];
                find_nearest_simplex_point(&s, flat_tetrahedron_height, &best);
                if (best.square < square) {
                    drop_unused_simplex_points(&s, &best);
                    *nearest = s;
                    square = best.square;
                }
            }
        }
    }
}

/* Sorts the points of a simplex and drops those that do not span its point nearest to the origin,
 * until all that are left do: of a nearest point on an edge, rounding decides by their order
 * whether a third point has a part in it. */
static void sort_nearest_simplex(struct tact_simplex *s, double flat_tetrahedron_height,
                                 struct nearest_point_on_simplex *best)
{
    int count;
    do {
        count = s->count;
        sort_simplex_points(s);
        find_nearest_simplex_point(s, flat_tetrahedron_height, best);
        drop_unused_simplex_points(s, best);
    } while (s->count < count);
}

int tact_nearest_points_after_shift(const struct tact_convex_core_pair *pair, const double n[3],
                                    double distance, struct tact_simplex *s,
                                    double nearest_point_of_a[3], double v[3])
{
    struct tact_convex_core_pair core_pair_displaced_along_normal = *pair;
    struct tact_minkowski_point low;
    struct nearest_point_on_simplex best = {.count = 0};
    double d[3];
    tact_v3_axpy(core_pair_displaced_along_normal.shift,
                 distance - RESOLVED_DISTANCE_RATIO * pair->size, n);
    for (int i = 0; i < s->count; i++) {
        tact_minkowski_from_vertices(&core_pair_displaced_along_normal, s->point[i].a,
                                     s->point[i].b, &s->point[i]);
    }
    if (!find_nearest_simplex(&core_pair_displaced_along_normal,
                              MIN_DISTANCE_WITH_DIRECTION_RATIO * pair->size, MOST_STALLS, s, &best,
                              d, &low)) {
        return 0;
    }
    tact_v3_set(nearest_point_of_a, 0.0, 0.0, 0.0);
    tact_v3_set(v, 0.0, 0.0, 0.0);
    for (int i = 0; i < s->count; i++) {
        double vertex[3];
        tact_minkowski_from_vertices(pair, s->point[i].a, s->point[i].b, &s->point[i]);
        tact_convex_core_vertex_position(pair->a, s->point[i].a, vertex);
        tact_v3_axpy(nearest_point_of_a, best.weight[i], vertex);
        tact_v3_axpy(v, best.weight[i], s->point[i].w);
    }
    return 1;
}

/* Replaces the nearest points by those that are found with the bodies moved along the normal, where
 * these are nearer. */
static void search_at_resolvable_distance(const struct tact_convex_core_pair *pair,
                                          struct tact_nearest_points *out)
{
    struct tact_simplex s = out->from;
    double nearest_point_of_a[3], v[3];
    if (tact_nearest_points_after_shift(pair, out->normal, out->bound, &s, nearest_point_of_a, v) &&
        tact_v3_dot(out->normal, v) < out->distance) {
        out->distance = tact_v3_dot(out->normal, v);
        out->from = s;
        tact_v3_copy(out->nearest_point_on_a, nearest_point_of_a);
        tact_v3_sub(out->nearest_point_on_b, nearest_point_of_a, v);
    }
}

/* Searches the nearest simplex of a set of points, and replaces the result where it is nearer. */
static void search_nearest_simplex_in_set(struct tact_convex_core_pair *pair, double near,
                                          const struct tact_minkowski_point_set *set,
                                          struct tact_nearest_points *out)
{
    struct tact_nearest_points next;
    struct tact_simplex s;
    struct tact_minkowski_point low;
    struct nearest_point_on_simplex best;
    double d[3], opposite_direction[3];
    find_nearest_simplex_of_set(set, near, &s);
    sort_nearest_simplex(&s, near, &best);
    if (!(best.square < out->distance * out->distance)) {
        return;
    }
    choose_search_direction(&best, d);
    tact_v3_scale(opposite_direction, d, -1.0);
    tact_minkowski_find_support_point(pair, opposite_direction, &low);
    set_gjk_result(pair, &s, &best, d, &low, &next);
    if (next.bound < out->bound) {
        next.bound = out->bound;
        tact_v3_copy(next.normal, out->normal);
    }
    *out = next;
}

/* Replaces a result whose distance is larger than its bound. Where features are parallel within
 * 1e-7 rad, or a body is a needle, the square of the distance decreases by less than rounding from
 * one step to the next although the normal or the nearest points still change, and the search ends
 * too early. */
static void search_again_where_duality_gap_is_wide(struct tact_convex_core_pair *pair, double near,
                                                   const double *v, struct tact_nearest_points *out)
{
    struct tact_minkowski_point_set set = {.count = out->from.count};
    memcpy(set.point, out->from.point, (size_t)out->from.count * sizeof *set.point);
    tact_improve_distance_bound(pair, &set, v, out);
    search_nearest_simplex_in_set(pair, near, &set, out);
    if (out->distance - out->bound > DUALITY_GAP_TO_SEARCH_AGAIN_RATIO * pair->size) {
        search_at_resolvable_distance(pair, out);
    }
}

int tact_gjk_find_nearest_points(struct tact_convex_core_pair *pair, struct tact_simplex *simplex,
                                 struct tact_nearest_points *out)
{
    struct nearest_point_on_simplex best;
    struct tact_minkowski_point low;
    double d[3], near = MIN_DISTANCE_WITH_DIRECTION_RATIO * pair->size;
    int are_both_cores_polytopes = pair->a->vertex && pair->b->vertex;
    if (!simplex->count) {
        tact_minkowski_find_support_point(pair, pair->shift, &simplex->point[0]);
        simplex->count = 1;
    }
    if (!find_nearest_simplex(pair, near, 0, simplex, &best, d, &low)) {
        return 0;
    }
    set_gjk_result(pair, simplex, &best, d, &low, out);
    if (are_both_cores_polytopes &&
        out->distance - out->bound > DUALITY_GAP_BY_ROUNDING_RATIO * pair->size) {
        search_again_where_duality_gap_is_wide(pair, near, best.v, out);
        *simplex = out->from;
    }
    /* no direction separates the cores: the simplex is a sliver, by rounding */
    return out->bound > -near;
}
