/*
 * Facets of the Minkowski difference of two polytopes around one of its points, from the edges of
 * both bodies there. Each edge is the difference of two vertices of one body, which rounding does
 * not change, so that a facet is found however short its edges are.
 */
#include <math.h>
#include <string.h>
#include "contact/pair/features/difference_internal.h"

/* Sine of the angle of two edges below which they have no normal. */
#define SINE_OF_EDGES_WITHOUT_NORMAL 1e-12
/* Sine of the angle by which an edge may be below a facet due to rounding. */
#define MAX_EDGE_BELOW_FACET_SINE 1e-12
/* Difference of the distances of two facets that is due to rounding, relative to the size. */
#define EQUAL_FACET_DISTANCE_RATIO 1e-15

enum { MOST_EDGES = 32, MOST_FACETS = 16 };

/* Edges of A - B that start at one of its points: unit vectors, and the points where they end. */
struct minkowski_edge_fan {
    int count;
    double minkowski_edge_direction[MOST_EDGES][3];
    int64_t a[MOST_EDGES], b[MOST_EDGES];
};

static void add_minkowski_edge(struct minkowski_edge_fan *fan,
                               const struct tact_convex_core_pair *pair,
                               const struct tact_minkowski_point *from, int64_t a, int64_t b)
{
    const struct tact_minkowski_point to = {.a = a, .b = b};
    double edge[3];
    tact_minkowski_edge(pair, from, &to, edge);
    if (fan->count < MOST_EDGES &&
        tact_v3_normalize(fan->minkowski_edge_direction[fan->count], edge) > 0.0) {
        fan->a[fan->count] = a;
        fan->b[fan->count++] = b;
    }
}

/* Number of the neighbours of a vertex; *first: the first of them in the core's list. */
static int neighbours_of_vertex(const struct tact_convex_core *core, int64_t vertex,
                                const int **first)
{
    static const int other_end_index_of_segment[2] = {1, 0};
    if (core->first_neighbour_index_of_vertex) {
        const int *at = core->first_neighbour_index_of_vertex + vertex;
        *first = core->next + at[0];
        return at[1] - at[0];
    }
    *first = other_end_index_of_segment +
             vertex; /* the ends of a capsule's axis are neighbours; a ball's centre has none */
    return core->vertices == 2;
}

static void collect_minkowski_edges_at_point(const struct tact_convex_core_pair *pair,
                                             const struct tact_minkowski_point *point,
                                             struct minkowski_edge_fan *fan)
{
    const int *next;
    int count = neighbours_of_vertex(pair->a, point->a, &next);
    fan->count = 0;
    for (int i = 0; i < count; i++) {
        add_minkowski_edge(fan, pair, point, next[i], point->b);
    }
    count = neighbours_of_vertex(pair->b, point->b, &next);
    for (int i = 0; i < count; i++) {
        add_minkowski_edge(fan, pair, point, point->a, next[i]);
    }
}

/* Sets n to the normal of two edges of a fan, into A - B. Returns 0 where they do not span a facet:
 * where other edges are on both sides of their plane. */
static int find_facet_normal(const struct minkowski_edge_fan *fan, int i, int k, double n[3])
{
    double least = 0.0, most = 0.0;
    tact_v3_cross(n, fan->minkowski_edge_direction[i], fan->minkowski_edge_direction[k]);
    if (!(tact_v3_norm(n) > SINE_OF_EDGES_WITHOUT_NORMAL)) {
        return 0;
    }
    tact_v3_normalize(n, n);
    for (int j = 0; j < fan->count &&
                    (least >= -MAX_EDGE_BELOW_FACET_SINE || most <= MAX_EDGE_BELOW_FACET_SINE);
         j++) {
        const double height = tact_v3_dot(n, fan->minkowski_edge_direction[j]);
        least = tact_min(least, height);
        most = tact_max(most, height);
    }
    if (least < -MAX_EDGE_BELOW_FACET_SINE) {
        tact_v3_scale(n, n, -1.0);
    }
    return least >= -MAX_EDGE_BELOW_FACET_SINE || most <= MAX_EDGE_BELOW_FACET_SINE;
}

/* A facet of A - B: its unit normal into A - B, which points from B to A, its distance from the
 * origin along that [m], and three of its points. */
struct facet {
    double n[3], distance;
    struct tact_minkowski_point point[3];
};

/* Replaces *farthest by the facet at a point that is the farthest along its normal, where that is
 * farther. Returns 1 where it is. */
static int find_farthest_facet_at_point(const struct tact_convex_core_pair *pair,
                                        const struct tact_minkowski_point *point,
                                        struct facet *farthest_facet)
{
    struct minkowski_edge_fan fan;
    int is_farther_facet_found = 0;
    collect_minkowski_edges_at_point(pair, point, &fan);
    for (int i = 0; i < fan.count; i++) {
        for (int k = i + 1; k < fan.count; k++) {
            double n[3];
            if (!find_facet_normal(&fan, i, k, n)) {
                continue;
            }
            const double distance = tact_v3_dot(n, point->w);
            if (distance > farthest_facet->distance + EQUAL_FACET_DISTANCE_RATIO * pair->size) {
                tact_v3_copy(farthest_facet->n, n);
                farthest_facet->distance = distance;
                farthest_facet->point[0] = *point;
                tact_minkowski_from_vertices(pair, fan.a[i], fan.b[i], &farthest_facet->point[1]);
                tact_minkowski_from_vertices(pair, fan.a[k], fan.b[k], &farthest_facet->point[2]);
                is_farther_facet_found = 1;
            }
        }
    }
    return is_farther_facet_found;
}

/* Sets the nearest points of a result for its normal; where they are not found, the point on A
 * remains, as that of bodies that touch. */
static void set_nearest_points_on_normal(const struct tact_convex_core_pair *pair,
                                         struct tact_nearest_points *out)
{
    struct tact_simplex s = out->from;
    double point_on_a_along_normal[3], v[3];
    if (tact_nearest_points_after_shift(pair, out->normal, out->distance, &s,
                                        point_on_a_along_normal, v)) {
        tact_v3_copy(out->nearest_point_on_a, point_on_a_along_normal);
    }
    tact_v3_copy(out->nearest_point_on_b, out->nearest_point_on_a);
    tact_v3_axpy(out->nearest_point_on_b, -out->distance, out->normal);
}

/* Replaces the normal, distance and points of a result by those of the farthest facet at its
 * points. Returns 0 where the result is as far. */
static int move_to_farther_adjacent_facet(struct tact_convex_core_pair *pair,
                                          struct tact_nearest_points *out)
{
    struct facet facet = {.distance = out->bound};
    struct tact_minkowski_point low;
    double opposite_direction[3];
    int is_farther_facet_found = 0;
    for (int i = 0; i < out->from.count; i++) {
        is_farther_facet_found |= find_farthest_facet_at_point(pair, &out->from.point[i], &facet);
    }
    if (!is_farther_facet_found) {
        return 0;
    }
    tact_v3_scale(opposite_direction, facet.n, -1.0);
    tact_minkowski_find_support_point(pair, opposite_direction, &low);
    const double bound = tact_v3_dot(facet.n, low.w);
    if (bound <= out->bound + EQUAL_FACET_DISTANCE_RATIO * pair->size) {
        return 0;
    }
    out->distance = out->bound = bound;
    tact_v3_copy(out->normal, facet.n);
    out->from.count = 3;
    memcpy(out->from.point, facet.point, sizeof facet.point);
    return 1;
}

void tact_epa_move_to_farthest_facet(struct tact_convex_core_pair *pair,
                                     struct tact_nearest_points *out)
{
    int adjacent_facet_step_count = 0;
    while (adjacent_facet_step_count < MOST_FACETS && move_to_farther_adjacent_facet(pair, out)) {
        adjacent_facet_step_count++;
    }
    if (adjacent_facet_step_count) {
        set_nearest_points_on_normal(pair, out);
    }
}
