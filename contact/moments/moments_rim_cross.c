/* The rim of an overlap: where triangles of two leaves cross. */
#include "contact/moments/moments_rim_internal.h"

/* Mask of the lanes whose three heights have both signs. */
static void tact_rim_lanes_with_both_signs(const tact_d4 h[3], tact_l4 *mixed)
{
    tact_l4 a = h[0] < 0.0, b = h[1] < 0.0, c = h[2] < 0.0;
    *mixed = (a | b | c) & ~(a & b & c);
}

/* Bits of the lanes of t (of B) whose bounds meet those of triangle i of s (of A); lanes beyond
 * t's count are undefined. */
static uint32_t tact_rim_lanes_meeting_triangle(const struct tact_rim_leaf *s, uint32_t i,
                                                const struct tact_rim_leaf *t)
{
    uint32_t bits;
    tact_i4 keep = (t->upper[0] >= s->lower[0][i]) & (t->lower[0] <= s->upper[0][i]);
    for (int c = 1; c < 3; c++) {
        keep &= (t->upper[c] >= s->lower[c][i]) & (t->lower[c] <= s->upper[c][i]);
    }
    tact_i4_mask_to_bits(&keep, &bits);
    return bits;
}

/* Bits of the lanes of t (of B) where t or triangle i of s (of A) lies in the other's plane, with
 * A unshifted. Before A is shifted, also only where their bounds meet, without the margin of single
 * precision; afterwards their common area is tested. */
static void tact_rim_coplanar_lanes(const struct tact_rim *rim, const struct tact_rim_leaf *s,
                                    uint32_t i, const struct tact_rim_leaf *t,
                                    const struct tact_rim_corner_heights *h, uint32_t *bits)
{
    /* bound by coordinates: the largest one of a vector is at least its length over the square root
     * of 3 */
    const double coplanar_height = 1.7320508 * rim->slack, *d = rim->shift;
    const int is_mesh_a_shifted = rim->coplanarity_slack_with_shift > rim->slack;
    tact_d4 high_a, high_b, area_s, area_t, of_a[3], of_b[3];
    const tact_d4 shift_along_normal_of_t = t->n[0] * d[0] + t->n[1] * d[1] + t->n[2] * d[2];
    const double shift_along_normal_of_s =
        s->n[0][i] * d[0] + s->n[1][i] * d[1] + s->n[2][i] * d[2];
    for (int k = 0; k < 3; k++) {
        of_a[k] = h->heights_of_a[k] - shift_along_normal_of_t;
        of_b[k] = h->heights_of_b[k] + shift_along_normal_of_s;
    }
    tact_rim_largest_coordinate(of_a, &high_a);
    tact_rim_largest_coordinate(of_b, &high_b);
    tact_rim_largest_coordinate(s->n, &area_s);
    tact_rim_largest_coordinate(t->n, &area_t);
    tact_l4 lies = (high_a < coplanar_height * area_t) | (high_b < coplanar_height * area_s[i]);
    for (int c = 0; c < 3 && !is_mesh_a_shifted; c++) {
        tact_d4 lower[2], upper[2];
        for (int k = 0; k < 2; k++) {
            const struct tact_rim_leaf *leaf = k ? t : s;
            lower[k] = TACT_D4_MIN(leaf->p[1][c], leaf->p[2][c]);
            upper[k] = TACT_D4_MAX(leaf->p[1][c], leaf->p[2][c]);
            lower[k] = TACT_D4_MIN(leaf->p[0][c], lower[k]);
            upper[k] = TACT_D4_MAX(leaf->p[0][c], upper[k]);
        }
        lies &= (upper[1] >= lower[0][i]) & (lower[1] <= upper[0][i]);
    }
    tact_l4_mask_to_bits(&lies, bits);
}

/* Bits of those of the given lanes of t (of B) whose triangles may cross triangle i of s (of A).
 * *bits_of_coplanar_lanes: those of the lanes where one of two near triangles lies in the other's
 * plane. */
static uint32_t
tact_rim_lanes_that_may_cross(const struct tact_rim *rim, const struct tact_rim_leaf *s, uint32_t i,
                              const struct tact_rim_leaf *t, struct tact_rim_corner_heights *h,
                              uint32_t bits_of_tested_lanes, uint32_t *bits_of_coplanar_lanes)
{
    uint32_t bits, coplanar_lane_bits;
    const double n[3] = {s->n[0][i], s->n[1][i], s->n[2][i]};
    for (int k = 0; k < 3; k++) {
        h->heights_of_a[k] = t->n[0] * (s->p[k][0][i] - t->p[0][0]) +
                             t->n[1] * (s->p[k][1][i] - t->p[0][1]) +
                             t->n[2] * (s->p[k][2][i] - t->p[0][2]);
        h->heights_of_b[k] = n[0] * (t->p[k][0] - s->p[0][0][i]) +
                             n[1] * (t->p[k][1] - s->p[0][1][i]) +
                             n[2] * (t->p[k][2] - s->p[0][2][i]);
    }
    tact_l4 mixed_a, mixed_b, mixed;
    tact_rim_lanes_with_both_signs(h->heights_of_a, &mixed_a);
    tact_rim_lanes_with_both_signs(h->heights_of_b, &mixed_b);
    mixed = mixed_a & mixed_b;
    tact_l4_mask_to_bits(&mixed, &bits);
    /* one corner away from the other's plane is sufficient, and usual, to exclude that a triangle
     * lies in it */
    const tact_l4 pairing = (TACT_D4_ABS(h->heights_of_a[0]) < t->coplanar_height) |
                            (TACT_D4_ABS(h->heights_of_b[0]) < s->coplanar_height);
    tact_l4_mask_to_bits(&pairing, &coplanar_lane_bits);
    if (coplanar_lane_bits) {
        tact_rim_coplanar_lanes(rim, s, i, t, h, &coplanar_lane_bits);
    }
    *bits_of_coplanar_lanes = coplanar_lane_bits & bits_of_tested_lanes;
    return bits & bits_of_tested_lanes;
}

/* Rounding of a determinant of differences, over the product of their largest coordinates: below
 * it a sign depends on the order of the corners. */
#define TACT_RIM_ROUNDING_RATIO (64.0 * DBL_EPSILON)

/* One of two triangles that may cross: lane `lane` of a leaf. */
struct tact_rim_crossing_triangle {
    const struct tact_rim_leaf *leaf;
    const double *p; /* coordinate c of corner k: p[tact_rim_offset_of_height_lane(k, c)] */
    const double *h; /* height of each corner over the other triangle's plane: h[4 k] */
    double size;
    /* bit k of bits_of_corners_below is set where corner k is below the other triangle's plane */
    uint32_t lane, bits_of_corners_below;
    int edge_rising_through_plane, falling_edge; /* edges on which, counter-clockwise, the height
                         over the other's plane becomes >= 0, and < 0 */
};

static int tact_rim_offset_of_height_lane(int k, int c)
{
    return 4 * (3 * k + c);
}

static void tact_rim_set_crossing_triangle(const struct tact_rim_leaf *leaf, uint32_t lane,
                                           const tact_d4 h[3], uint32_t height_lane_offset,
                                           struct tact_rim_crossing_triangle *p)
{
    static const uint8_t rising_edge_by_corners_below[8] = {0, 0, 1, 1, 2, 0, 2, 0},
                         falling_edges[8] = {0, 2, 0, 2, 1, 1, 0, 0};
    p->leaf = leaf;
    p->lane = lane;
    p->p = (const double *)leaf->p + lane;
    p->h = (const double *)h + height_lane_offset;
    p->size = leaf->size[lane];
    p->bits_of_corners_below =
        (uint32_t)(p->h[0] < 0.0) | (uint32_t)(p->h[4] < 0.0) << 1 | (uint32_t)(p->h[8] < 0.0) << 2;
    p->edge_rising_through_plane = rising_edge_by_corners_below[p->bits_of_corners_below];
    p->falling_edge = falling_edges[p->bits_of_corners_below];
}

/* The edges of a triangle that cross the other's plane, from below to above: their start and
 * vector, `edge_rising_through_plane` in lane 0 and `falling_edge` in lane 1. */
static void tact_rim_edges_crossing_upward(const struct tact_rim_crossing_triangle *s,
                                           tact_d2 from[3], tact_d2 along[3])
{
    /* tact_rim_offset_of_height_lane() of the ends of the two edges, by which corners are below. */
    static const uint8_t edge_lane_offsets_of_signs[8][4] = {
        {0, 12, 12, 0},  {0, 12, 0, 24},  {12, 24, 12, 0}, {12, 24, 0, 24},
        {24, 0, 24, 12}, {0, 12, 24, 12}, {24, 0, 12, 0},  {0, 12, 12, 0}};
    const uint8_t *end = edge_lane_offsets_of_signs[s->bits_of_corners_below];
    const double *p = s->p + end[0], *q = s->p + end[1], *u = s->p + end[2], *v = s->p + end[3];
    for (int c = 0; c < 3; c++) {
        const tact_d2 low = {p[4 * c], u[4 * c]}, high = {q[4 * c], v[4 * c]};
        from[c] = low;
        along[c] = high - low;
    }
}

/* The same as tact_rim_order_edges_along_line() for two edges whose sign is rounding: computed
 * from their corners in the order of the mesh, so that all callers get the same result. up: 1 where
 * the edge's second corner is the upper one. */
static uint32_t tact_rim_order_by_corner_indices(const struct tact_rim *rim,
                                                 const struct tact_rim_crossing_triangle *of[2],
                                                 const int edge[2], const int up[2])
{
    double from[2][3], along[2][3], apart[3], n[3];
    int is_crossing_order_reversed = 0;
    for (int i = 0; i < 2; i++) {
        const struct tact_leaf_pairing_tree *side = i ? &rim->pairing->b : &rim->pairing->a;
        const size_t first = (size_t)of[i]->leaf->first + of[i]->lane;
        const uint32_t *index = side->placed_mesh.mesh->triangles + 3 * first;
        const int e = edge[i], f = tact_rim_next_corner(e), turn = index[e] > index[f];
        const int low = turn ? f : e, high = turn ? e : f;
        is_crossing_order_reversed ^= turn ^ !up[i];
        for (int c = 0; c < 3; c++) {
            from[i][c] = of[i]->p[tact_rim_offset_of_height_lane(low, c)];
            along[i][c] = of[i]->p[tact_rim_offset_of_height_lane(high, c)] - from[i][c];
        }
    }
    tact_v3_sub(apart, from[1], from[0]);
    tact_v3_cross(n, along[0], along[1]);
    return (uint32_t)((tact_v3_dot(n, apart) < 0.0) ^ is_crossing_order_reversed);
}

/* 1 where, along the line that the two planes share, edges of t (of B) are beyond those of s (of
 * A). Bit 0: t's rising edge is beyond s's; bit 1: t's falling edge is beyond s's.
 * are_compared_edges_swapped: t's falling edge is compared with s's rising one, and t's rising edge
 * with s's falling one. */
static uint32_t tact_rim_order_edges_along_line(const struct tact_rim *rim,
                                                const struct tact_rim_crossing_triangle *s,
                                                const struct tact_rim_crossing_triangle *t,
                                                const tact_d2 (*edge)[3],
                                                int are_compared_edges_swapped)
{
    const tact_d2 *p = edge[0], *e = edge[1];
    tact_d2 f[3], g[3], n[3];
    for (int c = 0; c < 3; c++) {
        const tact_d2 u = edge[2][c], v = edge[3][c], ut = {u[1], u[0]}, vt = {v[1], v[0]};
        g[c] = (are_compared_edges_swapped ? ut : u) - p[c];
        f[c] = are_compared_edges_swapped ? vt : v;
    }
    for (int c = 0; c < 3; c++) {
        const int y = (c + 1) % 3, z = (c + 2) % 3;
        n[c] = e[y] * f[z] - e[z] * f[y];
    }
    const tact_d2 d = n[0] * g[0] + n[1] * g[1] + n[2] * g[2];
    const double edge_order_rounding_bound =
        TACT_RIM_ROUNDING_RATIO * s->size * t->size * (s->size + t->size);
    uint32_t bits_of_edges_beyond_crossing = (uint32_t)(d[0] < 0.0) | (uint32_t)(d[1] < 0.0) << 1;
    for (int i = 0; i < 2; i++) {
        if (!(fabs(d[i]) > edge_order_rounding_bound)) {
            const struct tact_rim_crossing_triangle *of[2] = {s, t};
            const int up[2] = {!i, i == are_compared_edges_swapped};
            const int edge_of_segment_end[2] = {
                up[0] ? s->edge_rising_through_plane : s->falling_edge,
                up[1] ? t->edge_rising_through_plane : t->falling_edge};
            bits_of_edges_beyond_crossing &= ~(1U << i);
            bits_of_edges_beyond_crossing |=
                tact_rim_order_by_corner_indices(rim, of, edge_of_segment_end, up) << i;
        }
    }
    return bits_of_edges_beyond_crossing;
}

/* Sets the start (0) or the end (1) of a rim segment, on edge e of the triangle. */
static void tact_rim_set_segment_end(struct tact_rim_segment *g, int segment_end_index,
                                     const struct tact_rim_crossing_triangle *s, int e, int up,
                                     int of_b)
{
    const int corner[2] = {tact_rim_next_corner(e), e}, p = corner[up], q = corner[!up];
    double share = s->h[4 * p] / (s->h[4 * p] - s->h[4 * q]);
    const double crossing_fraction_from_end[2] = {1.0 - share, share};
    tact_d4 end = {0.0};
    for (int c = 0; c < 3; c++) {
        const double from = s->p[tact_rim_offset_of_height_lane(p, c)];
        end[c] = from + share * (s->p[tact_rim_offset_of_height_lane(q, c)] - from);
    }
    g->end[segment_end_index] = end;
    g->edge_crossing[segment_end_index] = crossing_fraction_from_end[up];
    g->edge[segment_end_index] = (uint8_t)(e + 3 * of_b);
}

/* A candidate: two triangles that may cross, with tact_rim_edges_crossing_upward() of each. */
struct tact_rim_crossing_pair {
    struct tact_rim_crossing_triangle crossing_triangles[2];
    tact_d2 edge[4][3];
    uint32_t triangle[2];
};

/* Adds the segment in which two triangles cross to the rim; returns 0 or -EAGAIN. */
static int tact_rim_add_segment(struct tact_rim *rim, const struct tact_rim_crossing_pair *c)
{
    const struct tact_rim_crossing_triangle *s = &c->crossing_triangles[0],
                                            *t = &c->crossing_triangles[1];
    if (rim->rim_segment_count == TACT_RIM_MAX_SEGMENTS) {
        return -EAGAIN;
    }
    const uint32_t bits_of_edges_beyond_crossing =
        tact_rim_order_edges_along_line(rim, s, t, c->edge, 1);
    /* 1 where an end of the segment is on an edge of t: both cases are equally likely, so there are
     * no branches on it
     */
    const int start = bits_of_edges_beyond_crossing & 1, end = !(bits_of_edges_beyond_crossing & 2);
    const int edges_of_possible_segment_start[2] = {s->edge_rising_through_plane, t->falling_edge},
              end_edges[2] = {s->falling_edge, t->edge_rising_through_plane};
    struct tact_rim_segment *g = &rim->segment[rim->rim_segment_count];
    tact_rim_set_segment_end(g, 0, &c->crossing_triangles[start],
                             edges_of_possible_segment_start[start], !start, start);
    tact_rim_set_segment_end(g, 1, &c->crossing_triangles[end], end_edges[end], end, end);
    for (int i = 0; i < 2; i++) {
        uint32_t *first = &rim->side[i].first_segment_of_triangle[c->triangle[i]];
        g->triangle[i] = c->triangle[i];
        g->next[i] = *first;
        *first = rim->rim_segment_count;
    }
    rim->rim_segment_count++;
    return 0;
}

/* Of the lanes of t (of B) that are coplanar with triangle i of s (of A), those that have an area
 * in common with it: no edge of either has all of the other on its outer side, to rounding. Most
 * only touch. */
static uint32_t tact_rim_lanes_with_common_area(const struct tact_rim *rim,
                                                const struct tact_rim_leaf *s, uint32_t i,
                                                const struct tact_rim_leaf *t,
                                                uint32_t bits_of_tested_lanes)
{
    int c = fabs(s->n[1][i]) > fabs(s->n[0][i]) ? 1 : 0;
    c = fabs(s->n[2][i]) > fabs(s->n[c][i]) ? 2 : c;
    const int x = (c + 1) % 3, y = (c + 2) % 3;
    const tact_d4 zero = {0.0}, one = zero + 1.0;
    const tact_d4 turn[2] = {s->n[c][i] > 0.0 ? one : -one,
                             TACT_D4_SELECT(t->n[c] > 0.0, one, -one)};
    tact_d4 at[2][3][2];
    for (int k = 0; k < 3; k++) {
        at[0][k][0] = zero + (s->p[k][x][i] - rim->shift[x]);
        at[0][k][1] = zero + (s->p[k][y][i] - rim->shift[y]);
        at[1][k][0] = t->p[k][x];
        at[1][k][1] = t->p[k][y];
    }
    tact_l4 parts = {0};
    for (int of = 1; of >= 0 && bits_of_tested_lanes; of--) {
        for (int k = 0; k < 3; k++) {
            const tact_d4 *from = at[of][k], *to = at[of][tact_rim_next_corner(k)];
            const tact_d4 ex = turn[of] * (to[0] - from[0]), ey = turn[of] * (to[1] - from[1]);
            const tact_d4 least = 8.0 * DBL_EPSILON * (TACT_D4_ABS(ex) + TACT_D4_ABS(ey));
            tact_l4 out = {-1, -1, -1, -1};
            for (int j = 0; j < 3; j++) {
                const tact_d4 dx = at[!of][j][0] - from[0], dy = at[!of][j][1] - from[1];
                out &= ex * dy - ey * dx <= least * (TACT_D4_ABS(dx) + TACT_D4_ABS(dy));
            }
            parts |= out;
        }
        uint32_t bits;
        tact_l4_mask_to_bits(&parts, &bits);
        bits_of_tested_lanes &= ~bits;
    }
    return bits_of_tested_lanes;
}

/* Handles coplanar faces among the pending triangles, a bit for each lane; -EAGAIN where A is not
 * shifted yet, or not across them: it must then be shifted. */
static int tact_rim_handle_coplanar_triangles(struct tact_rim *rim, uint64_t bits_of_coplanar_lanes)
{
    rim->has_coplanar_faces = 1;
    rim->must_shift_mesh_a = !(rim->coplanarity_slack_with_shift > rim->slack);
    for (uint32_t k = 0; bits_of_coplanar_lanes && !rim->must_shift_mesh_a;
         k++, bits_of_coplanar_lanes >>= 4) {
        const struct tact_rim_pending_pair *w = &rim->pending_leaf_pairs[k];
        const struct tact_rim_leaf *s = &rim->side[0].leaf[w->a / 4];
        const struct tact_rim_leaf *t = &rim->side[1].leaf[w->b / 16];
        uint32_t bits_of_tested_lanes = bits_of_coplanar_lanes & 0xF;
        bits_of_tested_lanes =
            bits_of_tested_lanes
                ? tact_rim_lanes_with_common_area(rim, s, w->a % 4, t, bits_of_tested_lanes)
                : 0;
        for (; bits_of_tested_lanes && !rim->must_shift_mesh_a;
             bits_of_tested_lanes &= bits_of_tested_lanes - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(bits_of_tested_lanes);
            rim->must_shift_mesh_a = tact_rim_add_half_common_area(rim, s, w->a % 4, t, lane) != 0;
        }
    }
    return rim->must_shift_mesh_a ? -EAGAIN : 0;
}

int tact_rim_cross_pending_triangles(struct tact_rim *rim, uint32_t count)
{
    struct tact_rim_corner_heights h[TACT_RIM_PENDING_BATCH];
    struct tact_rim_crossing_pair crossing_pairs[4 * TACT_RIM_PENDING_BATCH];
    uint8_t crossing_pair_indices_in_order[4 * TACT_RIM_PENDING_BATCH];
    uint64_t bits_of_crossing_triangle_pairs = 0, bits_of_coplanar_lanes = 0;
    uint32_t n = 0;
    for (uint32_t k = 0; k < count; k++) {
        const struct tact_rim_pending_pair *w = &rim->pending_leaf_pairs[k];
        uint32_t coplanar_lane_bits;
        const uint32_t bits = tact_rim_lanes_that_may_cross(rim, &rim->side[0].leaf[w->a / 4],
                                                            w->a % 4, &rim->side[1].leaf[w->b / 16],
                                                            &h[k], w->b % 16, &coplanar_lane_bits);
        bits_of_crossing_triangle_pairs |= (uint64_t)bits << 4 * k;
        bits_of_coplanar_lanes |= (uint64_t)coplanar_lane_bits << 4 * k;
    }
    if (bits_of_coplanar_lanes && tact_rim_handle_coplanar_triangles(rim, bits_of_coplanar_lanes)) {
        return -EAGAIN;
    }
    for (uint8_t at = 0; bits_of_crossing_triangle_pairs;
         bits_of_crossing_triangle_pairs &= bits_of_crossing_triangle_pairs - 1, at++) {
        const uint32_t bit = (uint32_t)__builtin_ctzll(bits_of_crossing_triangle_pairs),
                       k = bit / 4, j = bit % 4;
        const struct tact_rim_pending_pair *w = &rim->pending_leaf_pairs[k];
        struct tact_rim_crossing_pair *c = &crossing_pairs[at];
        tact_rim_set_crossing_triangle(&rim->side[0].leaf[w->a / 4], w->a % 4, h[k].heights_of_a, j,
                                       &c->crossing_triangles[0]);
        tact_rim_set_crossing_triangle(&rim->side[1].leaf[w->b / 16], j, h[k].heights_of_b, j,
                                       &c->crossing_triangles[1]);
        c->triangle[0] = w->a;
        c->triangle[1] = w->b / 16 * 4 + j;
        tact_rim_edges_crossing_upward(&c->crossing_triangles[0], c->edge[0], c->edge[1]);
        tact_rim_edges_crossing_upward(&c->crossing_triangles[1], c->edge[2], c->edge[3]);
        /* direction of the segment: on s from where s leaves B to where it enters, on t the other
         * way
         */
        crossing_pair_indices_in_order[n] = at;
        n += tact_rim_order_edges_along_line(rim, &c->crossing_triangles[0],
                                             &c->crossing_triangles[1], c->edge, 0) == 1;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (tact_rim_add_segment(rim, &crossing_pairs[crossing_pair_indices_in_order[k]])) {
            return -EAGAIN;
        }
    }
    return 0;
}

int tact_rim_queue_leaf_pair(struct tact_rim *rim, uint32_t a, uint32_t b)
{
    const struct tact_rim_leaf *s = &rim->side[0].leaf[a], *t = &rim->side[1].leaf[b];
    uint32_t n = rim->pending_leaf_pair_count;
    const uint32_t all = (1U << t->count) - 1;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t bits_of_tested_lanes = tact_rim_lanes_meeting_triangle(s, i, t) & all;
        rim->pending_leaf_pairs[n].a = 4 * a + i;
        rim->pending_leaf_pairs[n].b = 16 * b + bits_of_tested_lanes;
        n += bits_of_tested_lanes != 0;
    }
    rim->pending_leaf_pair_count = n;
    if (n < TACT_RIM_PENDING_BATCH) {
        return 0;
    }
    if (tact_rim_cross_pending_triangles(rim, TACT_RIM_PENDING_BATCH)) {
        return -EAGAIN;
    }
    rim->pending_leaf_pair_count -= TACT_RIM_PENDING_BATCH;
    memcpy(rim->pending_leaf_pairs, rim->pending_leaf_pairs + TACT_RIM_PENDING_BATCH,
           4 * sizeof *rim->pending_leaf_pairs);
    return 0;
}
