/*
 * Convex hull of points in a plane: starts with the extreme points in a few directions, which
 * usually include all corners, and adds the points outside the edges between them (quickhull;
 * Barber, Dobkin and Huhdanpaa 1996).
 */
#include "contact/moments/hull_internal.h"

#include <string.h>
#include "contact/simd_internal.h"

enum { DIRECTIONS = 8, HALF = DIRECTIONS / 2, NONE = DIRECTIONS };

/* Height of a corner over the line between its neighbours, relative to the size, below which it is
 * removed. */
static const double MAX_HEIGHT_OF_COLLINEAR_HULL_CORNER = 1e-9;

/* Half of the directions in which extreme points are sought; the others are opposite to them. */
static const double directions[HALF][2] = {{0.99144486137381038, 0.13052619222005157},
                                           {0.60876142900872066, 0.79335334029123517},
                                           {-0.1305261922200516, 0.99144486137381038},
                                           {-0.79335334029123505, 0.60876142900872088}};

/* Rounds in which each remaining corner is moved to the best place between its neighbours. */
enum { ROUNDS = 4 };

/* Ring of the corners of a convex hull, counter-clockwise. */
struct hull_corner_ring {
    int count;
    double size; /* largest extent of the points in one of the directions [m] */
    double at[TACT_HULL_POINTS + DIRECTIONS][2];
};

/* An edge of the hull still to be searched: its end, and the range of points that may be outside
 * of it. */
struct edge {
    double end[2];
    int from, to;
};

/* Distance of a point to the right of the line from p to q, times the distance from p to q [m^2].
 */
TACT_INLINE double twice_area_beyond_edge(const double *p, const double *q, double x, double y)
{
    return (q[1] - p[1]) * (x - p[0]) - (q[0] - p[0]) * (y - p[1]);
}

/* Value of twice_area_beyond_edge(), twice the area of a triangle, above which a point is a corner
 * of the hull. */
TACT_INLINE double min_twice_area_beyond_edge(const double *p, const double *q, double size)
{
    return MAX_HEIGHT_OF_COLLINEAR_HULL_CORNER * size * (fabs(q[0] - p[0]) + fabs(q[1] - p[1]));
}

/* Adds a corner to a hull's ring unless it equals the last one. */
static void add_distinct_corner(struct hull_corner_ring *ring, double x, double y)
{
    const double *last = ring->count ? ring->at[ring->count - 1] : NULL;
    if (!last ||
        fabs(x - last[0]) + fabs(y - last[1]) > MAX_HEIGHT_OF_COLLINEAR_HULL_CORNER * ring->size) {
        ring->at[ring->count][0] = x;
        ring->at[ring->count++][1] = y;
    }
}

/* Finds the extreme points in each direction and in the opposite one, four directions at a time.
 */
static void find_extreme_points(const struct tact_planar_hull *hull, int at[DIRECTIONS],
                                double farthest_point_projection[DIRECTIONS])
{
    for (int i = 0; i < HALF; i += 4) {
        const double(*d)[2] = directions + i;
        const tact_d4 dx = {d[0][0], d[1][0], d[2][0], d[3][0]};
        const tact_d4 dy = {d[0][1], d[1][1], d[2][1], d[3][1]};
        tact_d4 most = hull->x[0] * dx + hull->y[0] * dy, least = most;
        tact_l4 at_most = {0}, at_least = {0};
        for (int k = 1; k < hull->count; k++) {
            tact_d4 reach = hull->x[k] * dx + hull->y[k] * dy;
            tact_l4 more = reach > most, less = reach < least;
            most = TACT_D4_SELECT(more, reach, most);
            least = TACT_D4_SELECT(less, reach, least);
            at_most = (more & k) | (~more & at_most);
            at_least = (less & k) | (~less & at_least);
        }
        for (int k = 0; k < 4; k++) {
            farthest_point_projection[i + k] = most[k];
            farthest_point_projection[HALF + i + k] = -least[k];
            at[i + k] = (int)at_most[k];
            at[HALF + i + k] = (int)at_least[k];
        }
    }
}

/* Lists the extreme points in the order of their directions. */
static void list_extreme_points(const struct tact_planar_hull *hull, struct hull_corner_ring *ring)
{
    int at[DIRECTIONS];
    double farthest_point_projection[DIRECTIONS];
    find_extreme_points(hull, at, farthest_point_projection);
    ring->count = 0;
    ring->size = 0.0;
    for (int i = 0; i < DIRECTIONS; i++) {
        ring->size = tact_max(ring->size, fabs(farthest_point_projection[i]));
    }
    for (int i = 0; i < DIRECTIONS; i++) {
        if (i == 0 || at[i] != at[i - 1]) {
            add_distinct_corner(ring, hull->x[at[i]], hull->y[at[i]]);
        }
    }
    const double *first = ring->at[0], *last = ring->at[ring->count - 1];
    while (ring->count > 1 && fabs(last[0] - first[0]) + fabs(last[1] - first[1]) <=
                                  MAX_HEIGHT_OF_COLLINEAR_HULL_CORNER * ring->size) {
        ring->count--;
        last -= 2;
    }
}

/* Moves the points outside an edge from p to the front of its range, the farthest first; returns
 * their number. */
static int partition_points_beyond_edge(struct tact_planar_hull *hull, const double *p,
                                        const struct edge *edge, double size)
{
    const double least = min_twice_area_beyond_edge(p, edge->end, size);
    double most = least;
    int n = edge->from;
    for (int i = edge->from; i < edge->to; i++) {
        const double x = hull->x[i], y = hull->y[i],
                     far = twice_area_beyond_edge(p, edge->end, x, y);
        if (!(far > least)) {
            continue;
        }
        const int at = far > most ? edge->from : n;
        most = tact_max(far, most);
        hull->x[i] = hull->x[n];
        hull->y[i] = hull->y[n];
        hull->x[n] = hull->x[at];
        hull->y[n++] = hull->y[at];
        hull->x[at] = x;
        hull->y[at] = y;
    }
    return n - edge->from;
}

/* Adds the hull's corners outside an edge from p, in order, without the ends of the edge. */
static void add_corners_beyond_edge(struct tact_planar_hull *hull, const double *p,
                                    const struct edge *hull_edge, struct hull_corner_ring *ring)
{
    struct edge hull_edges_to_process[TACT_HULL_POINTS + 1];
    double start[2] = {p[0], p[1]};
    int top = 0;
    hull_edges_to_process[top++] = *hull_edge;
    while (top > 0) {
        struct edge *edge = &hull_edges_to_process[top - 1];
        const int n = partition_points_beyond_edge(hull, start, edge, ring->size);
        if (n == 0) {
            memcpy(start, edge->end, sizeof start);
            if (--top > 0) {
                add_distinct_corner(ring, start[0], start[1]);
            }
            continue;
        }
        const int far = edge->from++;
        edge->to = far + n;
        hull_edges_to_process[top++] =
            (struct edge){{hull->x[far], hull->y[far]}, far + 1, far + n};
    }
}

/* Finds the edge of a ring that each point is outside of, by the index of its first corner, or
 * NONE; returns 1 where there is such a point. No point is outside of two edges: the corner between
 * them would not be extreme. */
static int find_edges_with_points_beyond(const struct tact_planar_hull *hull,
                                         const struct hull_corner_ring *ring, uint8_t *edge)
{
    uint32_t any = 0;
    memset(edge, NONE, (size_t)hull->count);
    for (int i = 0; i < ring->count; i += 4) {
        double p[2][4], e[2][4], least[4];
        for (int k = 0; k < 4; k++) {
            const int from = i + k < ring->count ? i + k : 0;
            const int to = from + 1 < ring->count ? from + 1 : 0;
            for (int c = 0; c < 2; c++) {
                p[c][k] = ring->at[from][c];
                e[c][k] = ring->at[to][c] - ring->at[from][c];
            }
            least[k] = i + k < ring->count
                           ? min_twice_area_beyond_edge(ring->at[from], ring->at[to], ring->size)
                           : INFINITY;
        }
        const tact_d4 px = {p[0][0], p[0][1], p[0][2], p[0][3]};
        const tact_d4 py = {p[1][0], p[1][1], p[1][2], p[1][3]};
        const tact_d4 ex = {e[0][0], e[0][1], e[0][2], e[0][3]};
        const tact_d4 ey = {e[1][0], e[1][1], e[1][2], e[1][3]};
        const tact_d4 limit = {least[0], least[1], least[2], least[3]};
        for (int k = 0; k < hull->count; k++) {
            const tact_l4 passed = ey * (hull->x[k] - px) - ex * (hull->y[k] - py) > limit;
            uint32_t bits;
            tact_l4_mask_to_bits(&passed, &bits);
            if (bits) {
                edge[k] = (uint8_t)(i + __builtin_ctz(bits));
            }
            any |= bits;
        }
    }
    return any != 0;
}

/* Adds the corners of the hull that are outside the edges of a ring of corners. */
static void add_corners_outside_ring_edges(const struct tact_planar_hull *hull,
                                           struct hull_corner_ring *ring)
{
    uint8_t edge[TACT_HULL_POINTS];
    if (!find_edges_with_points_beyond(hull, ring, edge)) {
        return;
    }
    int first[NONE + 2] = {0}, at[NONE + 1];
    struct tact_planar_hull sorted_hull;
    for (int k = 0; k < hull->count; k++) {
        first[edge[k] + 1]++;
    }
    for (int i = 0; i <= NONE; i++) {
        at[i] = first[i];
        first[i + 1] += first[i];
    }
    for (int k = 0; k < hull->count; k++) {
        const int to = at[edge[k]]++;
        sorted_hull.x[to] = hull->x[k];
        sorted_hull.y[to] = hull->y[k];
    }
    const struct hull_corner_ring from = *ring;
    ring->count = 0;
    for (int i = 0; i < from.count; i++) {
        const double *end = from.at[i + 1 < from.count ? i + 1 : 0];
        const struct edge hull_edge = {{end[0], end[1]}, first[i], first[i + 1]};
        add_distinct_corner(ring, from.at[i][0], from.at[i][1]);
        add_corners_beyond_edge(&sorted_hull, from.at[i], &hull_edge, ring);
    }
}

/* Removes corners of a hull that lie on the line between their neighbours. */
static void remove_collinear_corners(struct hull_corner_ring *ring)
{
    int n = 0;
    for (int i = 0; i < ring->count; i++) {
        const double *p = ring->at[n ? n - 1 : ring->count - 1], *c = ring->at[i];
        const double *q = i + 1 < ring->count ? ring->at[i + 1] : ring->at[0];
        if (twice_area_beyond_edge(p, q, c[0], c[1]) >
            min_twice_area_beyond_edge(p, q, ring->size)) {
            memmove(ring->at[n++], c, sizeof ring->at[0]);
        }
    }
    ring->count = n;
}

/* Weight that corresponds to one of `most` corners, such that corners of larger weight count as
 * one. */
static double hull_corner_weight_threshold(const double *hull_corner_weight, int count, int most)
{
    double hull_corner_weight_limit = INFINITY;
    for (int previous_corner_count_above_threshold = -1;;) {
        double corner_weight_sum_below_limit = 0.0;
        int corners_above_weight_threshold = 0;
        for (int i = 0; i < count; i++) {
            corners_above_weight_threshold += hull_corner_weight[i] >= hull_corner_weight_limit;
            corner_weight_sum_below_limit +=
                hull_corner_weight[i] >= hull_corner_weight_limit ? 0.0 : hull_corner_weight[i];
        }
        if (corners_above_weight_threshold == previous_corner_count_above_threshold ||
            corners_above_weight_threshold >= most) {
            return hull_corner_weight_limit;
        }
        previous_corner_count_above_threshold = corners_above_weight_threshold;
        hull_corner_weight_limit =
            corner_weight_sum_below_limit / (most - corners_above_weight_threshold);
    }
}

/* Finds the corner between two others of a hull that spans the largest triangle with them. */
static int corner_of_largest_area_between(const struct hull_corner_ring *ring, int from, int to)
{
    const double *p = ring->at[from], *q = ring->at[to];
    double most = -1.0;
    int best = from;
    for (int i = from;;) {
        i = i + 1 < ring->count ? i + 1 : 0;
        if (i == to) {
            return best;
        }
        const double area = twice_area_beyond_edge(p, q, ring->at[i][0], ring->at[i][1]);
        if (area > most) {
            most = area;
            best = i;
        }
    }
}

/* Reduces a hull to `most` corners, at most TACT_HULL_CORNERS, with little loss of area. The
 * weight of a corner is the cube root of the area of its triangle with its neighbours; on a smooth
 * outline this is the affine length, and corners at equal steps of it form the best inscribed
 * polygon. A corner that weighs more than a step is kept. Each is then moved to the best place
 * between its neighbours: of 1500 random outlines the worst then loses 0.164 %, without this 0.200
 * %. */
static void reduce_hull_corners(struct hull_corner_ring *ring, int most)
{
    /* The running sum of the weights starts at 0.3 of a step, so that steps end inside a corner's
     * weight, and not at the border of two, where rounding would decide which corner is kept. */
    double hull_corner_weight[TACT_HULL_POINTS + DIRECTIONS], sum = 0.3;
    int n = 0, kept_corners[TACT_HULL_CORNERS];
    if (ring->count <= most) {
        return;
    }
    for (int i = 0; i < ring->count; i++) {
        const double *p = ring->at[i ? i - 1 : ring->count - 1];
        const double *q = ring->at[i + 1 < ring->count ? i + 1 : 0];
        hull_corner_weight[i] =
            tact_cbrt(twice_area_beyond_edge(p, q, ring->at[i][0], ring->at[i][1]));
    }
    const double unit = hull_corner_weight_threshold(hull_corner_weight, ring->count, most);
    for (int i = 0; i < ring->count; i++) {
        sum += tact_min(1.0, hull_corner_weight[i] / unit);
        if (sum >= 1.0 && n < most) {
            kept_corners[n++] = i;
            sum -= 1.0;
        }
    }
    for (int hull_refinement_round = 0; hull_refinement_round < ROUNDS; hull_refinement_round++) {
        for (int i = 0; i < n; i++) {
            kept_corners[i] = corner_of_largest_area_between(ring, kept_corners[i ? i - 1 : n - 1],
                                                             kept_corners[i + 1 < n ? i + 1 : 0]);
        }
    }
    const struct hull_corner_ring from = *ring;
    for (int i = 0; i < n; i++) {
        memcpy(ring->at[i], from.at[kept_corners[i]], sizeof ring->at[i]);
    }
    ring->count = n;
}

static void compute_convex_hull(struct tact_planar_hull *hull, struct hull_corner_ring *ring)
{
    list_extreme_points(hull, ring);
    add_corners_outside_ring_edges(hull, ring);
    remove_collinear_corners(ring);
}

TACT_DISPATCH_BY_CPU(void, tact_planar_hull_reduce_to_corners, (struct tact_planar_hull * hull),
                     (hull))
{
    struct hull_corner_ring ring;
    compute_convex_hull(hull, &ring);
    reduce_hull_corners(&ring, TACT_HULL_CORNERS);
    for (int i = 0; i < ring.count; i++) {
        hull->x[i] = ring.at[i][0];
        hull->y[i] = ring.at[i][1];
    }
    hull->count = ring.count;
}

TACT_DISPATCH_BY_CPU(int, tact_planar_hull_corners,
                     (struct tact_planar_hull * hull, double corners[TACT_PATCH_CORNERS][2]),
                     (hull, corners))
{
    struct hull_corner_ring ring;
    double area = 0.0;
    if (!hull->count) {
        return 0;
    }
    compute_convex_hull(hull, &ring);
    reduce_hull_corners(&ring, TACT_PATCH_CORNERS);
    for (int i = 0; i < ring.count; i++) {
        const double *p = ring.at[i], *q = ring.at[(i + 1) % ring.count];
        area += 0.5 * (p[0] * q[1] - p[1] * q[0]);
        memcpy(corners[i], p, sizeof corners[i]);
    }
    return ring.count >= 3 && area > MAX_HEIGHT_OF_COLLINEAR_HULL_CORNER * ring.size * ring.size
               ? ring.count
               : 0;
}
