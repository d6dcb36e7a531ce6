/*
 * Computes the direction of the largest separation of two cores. As the vector between their
 * nearest points the direction has a relative error that grows as the distance decreases. Computed
 * from the vertices, edges and faces on which these points are, it is exact to rounding at any
 * distance.
 */
#include <float.h>
#include <math.h>
#include "contact/pair/features/difference_internal.h"

enum { MOST_REFINED = 16, MOST_RAISED = 32 };

/* Sets the unit normal for the vertex, edge or plane through `count` of the points. For a vertex:
 * its direction from the origin; for an edge: the component of that perpendicular to the edge; for
 * a plane: its normal towards v. Returns 0 where it is lost in rounding. */
static int normal_of_simplex_points(const struct tact_minkowski_point *point, const int *index,
                                    int count, const double *v, double n[3])
{
    const double *p = point[index[0]].w;
    double u[3], w[3], across[3];
    if (count == 1) {
        return tact_v3_normalize(n, p) > 0.0;
    }
    tact_v3_sub(u, point[index[1]].w, p);
    if (count == 2) {
        tact_v3_cross(w, p, u);
        tact_v3_cross(across, u, w);
        return tact_v3_normalize(n, across) > 0.0;
    }
    tact_v3_sub(w, point[index[2]].w, p);
    tact_v3_cross(across, u, w);
    double size = tact_v3_normalize(n, across);
    tact_v3_scale(n, n, copysign(1.0, tact_v3_dot(n, v)));
    return size > 0.0;
}

/* Sets n to the normal, among those of all vertices, edges and planes of s, along which the nearest
 * point of s is farthest from the origin. Returns 0 where there is none. */
static int find_separating_normal_of_simplex(const struct tact_simplex *s, const double *v,
                                             double n[3])
{
    static const int vertex_subsets_of_simplex[14][3] = {
        {0},    {1},    {2},    {3},       {0, 1},    {0, 2},    {1, 2},
        {0, 3}, {1, 3}, {2, 3}, {0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
    double most = -INFINITY, candidate_normal[3];
    for (int i = 0; i < 14; i++) {
        int count = i < 4 ? 1 : i < 10 ? 2 : 3;
        if (vertex_subsets_of_simplex[i][count - 1] >= s->count ||
            !normal_of_simplex_points(s->point, vertex_subsets_of_simplex[i], count, v,
                                      candidate_normal)) {
            continue;
        }
        double least = INFINITY;
        for (int k = 0; k < s->count; k++) {
            least = tact_min(least, tact_v3_dot(candidate_normal, s->point[k].w));
        }
        if (least > most) {
            tact_v3_copy(n, candidate_normal);
            most = least;
        }
    }
    return most > -INFINITY;
}

/* Adds a point to a simplex; in a full one it replaces the point that is farthest along n. */
static void add_support_point_to_simplex(struct tact_simplex *s,
                                         const struct tact_minkowski_point *next, const double n[3])
{
    int at = 0;
    if (s->count < 4) {
        s->point[s->count++] = *next;
        return;
    }
    for (int i = 1; i < 4; i++) {
        at = tact_v3_dot(n, s->point[i].w) > tact_v3_dot(n, s->point[at].w) ? i : at;
    }
    s->point[at] = *next;
}

/* Distance along n from the origin to the Minkowski difference; *low: the point of the difference
 * with that distance. */
static double distance_bound_along_normal(struct tact_convex_core_pair *pair, const double n[3],
                                          struct tact_minkowski_point *low)
{
    double opposite_direction[3];
    tact_v3_scale(opposite_direction, n, -1.0);
    tact_minkowski_find_support_point(pair, opposite_direction, low);
    return tact_v3_dot(n, low->w);
}

void tact_find_separating_normal(struct tact_convex_core_pair *pair,
                                 const struct tact_simplex *simplex, const double *v,
                                 struct tact_nearest_points *out)
{
    static const int all[3] = {0, 1, 2};
    struct tact_simplex s = *simplex;
    struct tact_minkowski_point low;
    double n[3];
    out->bound = -INFINITY;
    int found = normal_of_simplex_points(s.point, all, s.count, v, n);
    for (int step = 0; found && step < MOST_REFINED; step++) {
        double bound = distance_bound_along_normal(pair, n, &low);
        if (bound > out->bound) {
            out->bound = bound;
            tact_v3_copy(out->normal, n);
        } else if (step > 1) {
            break;
        }
        if (out->bound >= out->distance - TACT_MINKOWSKI_ROUNDING_RATIO * pair->size) {
            break;
        }
        if (!tact_minkowski_point_is_repeated(s.point, s.count, &low)) {
            add_support_point_to_simplex(&s, &low, n);
        }
        found = find_separating_normal_of_simplex(&s, v, n);
    }
    if (!(out->bound > -INFINITY)) { /* three collinear points */
        tact_v3_normalize(out->normal, v);
        out->bound = distance_bound_along_normal(pair, out->normal, &low);
    }
}

/* Least distance along n of the points of a set [m]. */
static double least_distance_along_normal(const struct tact_minkowski_point_set *set,
                                          const double n[3])
{
    double least = INFINITY;
    for (int i = 0; i < set->count; i++) {
        least = tact_min(least, tact_v3_dot(n, set->point[i].w));
    }
    return least;
}

/* As find_separating_normal_of_simplex(), for a set of points. Returns the greatest least distance.
 */
static double find_separating_normal_of_point_set(const struct tact_minkowski_point_set *set,
                                                  const double *v, double n[3])
{
    double most = -INFINITY, tried[3];
    for (int i = 0; i < set->count; i++) {
        for (int j = i; j < set->count; j++) {
            for (int k = j + (j > i); k < set->count; k++) {
                const int index[3] = {i, j > i ? j : k, k};
                const int count = 1 + (j > i) + (k > j);
                if (!normal_of_simplex_points(set->point, index, count, v, tried)) {
                    continue;
                }
                const double least = least_distance_along_normal(set, tried);
                if (least > most) {
                    tact_v3_copy(n, tried);
                    most = least;
                }
            }
        }
    }
    return most;
}

/* Adds a point to a set; in a full one it replaces the point that is farthest along n. */
static void add_point_to_minkowski_point_set(struct tact_minkowski_point_set *set,
                                             const struct tact_minkowski_point *next,
                                             const double n[3])
{
    int at = 0;
    if (set->count < TACT_WORKING_SET) {
        set->point[set->count++] = *next;
        return;
    }
    for (int i = 1; i < TACT_WORKING_SET; i++) {
        at = tact_v3_dot(n, set->point[i].w) > tact_v3_dot(n, set->point[at].w) ? i : at;
    }
    set->point[at] = *next;
}

void tact_improve_distance_bound(struct tact_convex_core_pair *pair,
                                 struct tact_minkowski_point_set *set, const double *v,
                                 struct tact_nearest_points *out)
{
    for (int step = 0; step < MOST_RAISED; step++) {
        struct tact_minkowski_point low;
        double n[3] = {0.0, 0.0, 0.0};
        const double most = find_separating_normal_of_point_set(set, v, n);
        if (!(most > -INFINITY)) {
            return;
        }
        const double bound = distance_bound_along_normal(pair, n, &low);
        if (bound > out->bound) {
            out->bound = bound;
            tact_v3_copy(out->normal, n);
        }
        if (bound >= most - TACT_MINKOWSKI_ROUNDING_RATIO * pair->size ||
            tact_minkowski_point_is_repeated(set->point, set->count, &low)) {
            return;
        }
        add_point_to_minkowski_point_set(set, &low, n);
    }
}
