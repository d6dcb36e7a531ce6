/* Moments of an overlap from its surface: A's triangles inside B and B's inside A, cut along the
 * rim where it crosses them. */
#include <errno.h>
#include <stdlib.h>

#include "contact/moments/moments_rim_known_internal.h"

/* Rounding bounds: of a sign, as in moments_rim.c; and of a sum over a closed surface, over the
 * magnitudes of its terms.
 */
static const double SIGN_ROUNDING_BOUND = 64.0 * DBL_EPSILON, CLOSED = 256.0 * DBL_EPSILON;

/* Adds to *winding_number the triangles of a leaf that a ray from p meets, up or down; returns 0,
 * or -1 where rounding leaves it undecided. */
TACT_INLINE int add_winding_number_of_leaf(const struct tact_rim_leaf *leaf, const double p[3],
                                           const float low[3], const float high[3], int up,
                                           int *winding_number)
{
    tact_d4 d[3][3], area[3], size, apart;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            d[k][c] = leaf->p[k][c] - p[c];
        }
    }
    tact_rim_largest_coordinate(d[0], &apart);
    size = leaf->size + leaf->size;
    const tact_d4 zero = {0.0}, turn = TACT_D4_SELECT(leaf->n[2] > 0.0, zero + 1.0, zero - 1.0);
    const tact_i4 beside = (leaf->lower[0] > high[0]) | (leaf->upper[0] < low[0]) |
                           (leaf->lower[1] > high[1]) | (leaf->upper[1] < low[1]);
    tact_l4 outside = __builtin_convertvector(beside, tact_l4);
    tact_l4 unsure = TACT_D4_ABS(leaf->n[2]) <= SIGN_ROUNDING_BOUND * size * size;
    for (int k = 0; k < 3; k++) {
        const tact_d4 *a = d[k], *b = d[(k + 1) % 3];
        area[k] = turn * (a[0] * b[1] - a[1] * b[0]);
        outside |= area[k] < -SIGN_ROUNDING_BOUND * size * size;
        unsure |= TACT_D4_ABS(area[k]) <= SIGN_ROUNDING_BOUND * size * size;
    }
    /* height of the triangle's plane over the point p, times |n_z| */
    tact_d4 over = turn * (leaf->n[0] * d[0][0] + leaf->n[1] * d[0][1] + leaf->n[2] * d[0][2]);
    over = up ? over : -over;
    tact_d4 least = SIGN_ROUNDING_BOUND * size * size * (size + apart);
    outside |= over < -least;
    unsure |= over <= least;
    unsure &= ~outside;
    uint32_t undecided_triangle_bits, met, risen;
    tact_l4 not_met = outside, rises = leaf->n[2] > 0.0;
    tact_l4_mask_to_bits(&unsure, &undecided_triangle_bits);
    tact_l4_mask_to_bits(&not_met, &met);
    tact_l4_mask_to_bits(&rises, &risen);
    const uint32_t bits_of_triangle_lanes = (1U << leaf->count) - 1;
    undecided_triangle_bits &= bits_of_triangle_lanes;
    met = ~met & bits_of_triangle_lanes;
    risen = up ? risen : ~risen;
    *winding_number += __builtin_popcount(met & risen) - __builtin_popcount(met & ~risen);
    return undecided_triangle_bits ? -1 : 0;
}

/* Whether point p of one mesh is inside the other, by a ray: up from A, down from B, where
 * everything that it may meet is near. 1, 0, or -1 where rounding leaves it undecided. */
static int is_point_inside_other_mesh(const struct tact_rim *rim, int of, const double p[3])
{
    const struct tact_leaf_pairing_tree *pairing = of ? &rim->pairing->a : &rim->pairing->b;
    const struct tact_rim_mesh *side = &rim->side[!of];
    float low[3], high[3];
    uint32_t stack[8 * TACT_RIM_BOX_LEVELS], top = 0;
    int winding_number = 0;
    for (int c = 0; c < 3; c++) {
        float x = (float)p[c] * rim->pairing->pair_units_per_metre, by = 2e-6F + 2e-6F * fabsf(x);
        low[c] = x - by;
        high[c] = x + by;
    }
    stack[top++] = (uint32_t)side->top << 16;
    while (top > 0) {
        uint32_t level = stack[--top] >> 16, at = stack[top] & 0xFFFF, bits;
        const struct tact_rim_box_group *e = &side->box_groups[side->level[level] + at];
        tact_i8 keep = (e->lower[0] <= high[0]) & (e->upper[0] >= low[0]) &
                       (e->lower[1] <= high[1]) & (e->upper[1] >= low[1]);
        keep &= of ? e->lower[2] <= high[2] : e->upper[2] >= low[2];
        tact_i8_mask_to_bits(&keep, &bits);
        for (; bits; bits &= bits - 1) {
            uint32_t k = 8 * at + (uint32_t)__builtin_ctz(bits);
            if (level > 0) {
                stack[top++] = (level - 1) << 16 | k;
                continue;
            }
            struct tact_rim_leaf placed_leaf, *leaf = &placed_leaf;
            tact_rim_place_leaf(&pairing->placed_mesh, pairing->leaf[k],
                                rim->pairing->pair_units_per_metre, rim->margin, leaf);
            if (add_winding_number_of_leaf(leaf, p, low, high, !of, &winding_number)) {
                return -1;
            }
        }
    }
    return winding_number == 0 || winding_number == 1 ? winding_number : -1;
}

/* 1 where a triangle that the rim does not cross is inside the other mesh, by a ray; -1 where
 * undecided. */
static int is_triangle_inside(const struct tact_rim *rim, int of, const struct tact_rim_leaf *leaf,
                              uint32_t lane)
{
    static const double interior_point_weights[4][3] = {
        {0.34, 0.33, 0.33}, {0.6, 0.27, 0.13}, {0.13, 0.6, 0.27}, {0.27, 0.13, 0.6}};
    int inside = -1;
    for (int i = 0; i < 4 && inside < 0; i++) {
        double p[3];
        for (int c = 0; c < 3; c++) {
            p[c] = interior_point_weights[i][0] * leaf->p[0][c][lane] +
                   interior_point_weights[i][1] * leaf->p[1][c][lane] +
                   interior_point_weights[i][2] * leaf->p[2][c][lane];
        }
        inside = is_point_inside_other_mesh(rim, of, p);
    }
    return inside;
}

/* 1 where a ray contradicts the state that the rim implies for a triangle that it does not cross.
 * Where an edge lies in a face, the rim is a loop of zero width, which due to rounding may have the
 * wrong orientation: its surroundings would count as inside, or outside. */
static int does_ray_contradict_rim(struct tact_rim *rim, int of, const struct tact_rim_leaf *leaf,
                                   uint32_t lane, int is_inside_by_rim)
{
    uint8_t *remaining_ray_checks = &rim->ray_checks_left_by_state[of][is_inside_by_rim];
    if (!*remaining_ray_checks) {
        return 0;
    }
    const int triangle_inside_by_ray = is_triangle_inside(rim, of, leaf, lane);
    *remaining_ray_checks = triangle_inside_by_ray < 0 ? (uint8_t)(*remaining_ray_checks - 1) : 0;
    return triangle_inside_by_ray == !is_inside_by_rim;
}

/* Crossings of the rim with an edge of a triangle: points at which the edge, counter-clockwise,
 * leaves the other mesh, and at which it enters, sorted by their position. */
struct edge {
    int count[2];
    double edge_crossing[2][TACT_RIM_MAX_CROSSINGS_ON_EDGE];
    const tact_d4 *at[2][TACT_RIM_MAX_CROSSINGS_ON_EDGE];
};

/* A triangle that the rim crosses, and the closed outline of the part inside the other mesh. */
struct crossed_triangle {
    struct edge edge[3];
    int inside[3];
    tact_d4 corner[3];
    int crossed_outline_piece_count;
    const tact_d4 *piece[2][8 * TACT_RIM_MAX_CROSSINGS_ON_EDGE]; /* from, to */
};

static int insert_crossing_on_edge(struct edge *e, int is_crossing_inward, double edge_crossing,
                                   const tact_d4 *at)
{
    int i = e->count[is_crossing_inward]++;
    if (i == TACT_RIM_MAX_CROSSINGS_ON_EDGE) {
        return -EAGAIN;
    }
    for (; i > 0 && e->edge_crossing[is_crossing_inward][i - 1] > edge_crossing; i--) {
        e->edge_crossing[is_crossing_inward][i] = e->edge_crossing[is_crossing_inward][i - 1];
        e->at[is_crossing_inward][i] = e->at[is_crossing_inward][i - 1];
    }
    e->edge_crossing[is_crossing_inward][i] = edge_crossing;
    e->at[is_crossing_inward][i] = at;
    return 0;
}

static int add_edge_piece(struct crossed_triangle *t, const tact_d4 *from, const tact_d4 *to)
{
    if (t->crossed_outline_piece_count == 8 * TACT_RIM_MAX_CROSSINGS_ON_EDGE) {
        return -EAGAIN;
    }
    t->piece[0][t->crossed_outline_piece_count] = from;
    t->piece[1][t->crossed_outline_piece_count++] = to;
    return 0;
}

/* Collects the segments of the rim that cross a triangle of side `of`. */
static int collect_triangle_segments(const struct tact_rim *rim, int of, uint32_t triangle,
                                     struct crossed_triangle *t)
{
    for (uint32_t i = rim->side[of].first_segment_of_triangle[triangle]; i != TACT_RIM_NO_INDEX;) {
        const struct tact_rim_segment *g = &rim->segment[i];
        /* on B's triangle the rim segment has the opposite direction */
        if (add_edge_piece(t, &g->end[of], &g->end[!of])) {
            return -EAGAIN;
        }
        for (int is_segment_end = 0; is_segment_end < 2; is_segment_end++) {
            int segment_end = is_segment_end ^ of, e = g->edge[segment_end] - 3 * of;
            if (e >= 0 && e < 3 &&
                insert_crossing_on_edge(&t->edge[e], is_segment_end, g->edge_crossing[segment_end],
                                        &g->end[segment_end])) {
                return -EAGAIN;
            }
        }
        i = g->next[of];
    }
    return 0;
}

/* Sets whether a corner is inside; returns 1 where it contradicts what is known. */
TACT_INLINE int set_corner_inside(int *inside, int is_inside_other_mesh)
{
    int contradicts_earlier_state = *inside >= 0 && *inside != is_inside_other_mesh;
    *inside = is_inside_other_mesh;
    return contradicts_earlier_state;
}

/* Determines from the rim's crossings of a triangle's edges which corners are inside; returns 0,
 * or -EAGAIN where they are inconsistent. */
static int classify_crossed_triangle_corners(struct crossed_triangle *t)
{
    int are_crossings_inconsistent = 0, first = -1;
    for (int k = 0; k < 3; k++) {
        const struct edge *e = &t->edge[k];
        const int leaving_minus_entering = e->count[0] - e->count[1];
        if (e->count[0] + e->count[1]) {
            const int is_start_inside = leaving_minus_entering
                                            ? leaving_minus_entering > 0
                                            : e->edge_crossing[0][0] < e->edge_crossing[1][0];
            are_crossings_inconsistent |= leaving_minus_entering > 1 || leaving_minus_entering < -1;
            are_crossings_inconsistent |= set_corner_inside(&t->inside[k], is_start_inside);
            are_crossings_inconsistent |= set_corner_inside(
                &t->inside[tact_rim_next_corner(k)], is_start_inside - leaving_minus_entering);
            first = first < 0 ? k : first;
        }
    }
    /* around the triangle from an edge that the rim crosses: the state at the start of an uncrossed
     * edge is then known */
    for (int i = 0, k = first; i < 2 && first >= 0; i++) {
        k = tact_rim_next_corner(k);
        if (t->edge[k].count[0] + t->edge[k].count[1] == 0) {
            are_crossings_inconsistent |=
                set_corner_inside(&t->inside[tact_rim_next_corner(k)], t->inside[k]);
        }
    }
    return are_crossings_inconsistent ? -EAGAIN : 0;
}

/* Determines whether the corners of a triangle are inside where the rim crosses none of its edges:
 * all have the same state. */
static int classify_corners_by_ray(const struct tact_rim *rim, int of, const uint32_t corner[3],
                                   struct crossed_triangle *t)
{
    const uint8_t *state = rim->side[of].state;
    const int is_inside_other_mesh = state[corner[0]] | state[corner[1]] | state[corner[2]];
    int inside = is_inside_other_mesh ? is_inside_other_mesh >> 1 : -1;
    for (int k = 0; k < 3 && inside < 0; k++) {
        double p[3] = {t->corner[k][0], t->corner[k][1], t->corner[k][2]};
        inside = is_point_inside_other_mesh(rim, of, p);
    }
    t->inside[0] = t->inside[1] = t->inside[2] = inside;
    return inside < 0 ? -EAGAIN : 0;
}

/* Adds to a crossed triangle's outline the parts of its edges that are inside the other mesh. */
static int add_inside_edge_parts(struct crossed_triangle *t)
{
    for (int k = 0; k < 3; k++) {
        const struct edge *e = &t->edge[k];
        const tact_d4 *first = t->inside[k] ? &t->corner[k] : NULL;
        const int next = tact_rim_next_corner(k);
        const tact_d4 *last = t->inside[next] ? &t->corner[next] : NULL;
        int n = e->count[1] + (first != NULL), shift = first != NULL;
        for (int i = 0; i < n; i++) {
            const tact_d4 *from = i < shift ? first : e->at[1][i - shift];
            const tact_d4 *to = i < e->count[0] ? e->at[0][i] : last;
            if (add_edge_piece(t, from, to)) {
                return -EAGAIN;
            }
        }
    }
    return 0;
}

/* Adds the area within the outline of a crossed triangle; returns 0, or -EAGAIN where it is not
 * closed. */
TACT_INLINE int add_outline_area(const struct crossed_triangle *t, const struct tact_rim_leaf *leaf,
                                 uint32_t lane, struct tact_cut_surface *surface)
{
    const tact_d4 base = *t->piece[0][0] - surface->origin, to = t->corner[0] - surface->origin;
    double normal[3] = {leaf->n[0][lane], leaf->n[1][lane], leaf->n[2][lane]};
    if (!(tact_v3_normalize(normal, normal) > 0.0)) {
        return -EAGAIN;
    }
    const double height = normal[0] * to[0] + normal[1] * to[1] + normal[2] * to[2];
    tact_d4 gap = {0.0};
    for (int i = 0; i < t->crossed_outline_piece_count; i++) {
        gap += *t->piece[1][i] - *t->piece[0][i];
        /* a piece of the outline that begins or ends at the base point spans no area with it */
        if (i == 0 || t->piece[1][i] == t->piece[0][0]) {
            continue;
        }
        const tact_d4 corner[3] = {base, *t->piece[0][i] - surface->origin,
                                   *t->piece[1][i] - surface->origin};
        const int at = surface->queued_triangle_count;
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                ((double *)&surface->corner[k][c])[at] = corner[k][c];
            }
            ((double *)&surface->normal[c])[at] = normal[c];
        }
        ((double *)&surface->height)[at] = height;
        if (++surface->queued_triangle_count == 4) {
            tact_surface_integrate_coplanar(surface);
        }
    }
    double most = tact_max(fabs(gap[0]), tact_max(fabs(gap[1]), fabs(gap[2])));
    return most <= CLOSED * leaf->size[lane] ? 0 : -EAGAIN;
}

/* Adds the part of a triangle of one mesh that lies inside the other, cut along the rim, where
 * their surfaces cross. */
TACT_INLINE int add_crossed_triangles(struct tact_rim *rim, int of, uint32_t triangle,
                                      struct tact_cut_surface *surface)
{
    const struct tact_rim_leaf *leaf = &rim->side[of].leaf[triangle / 4];
    const uint32_t lane = triangle % 4;
    const uint8_t *local = tact_rim_corner_indices(rim, of, leaf) + 3 * lane;
    uint8_t *state = rim->side[of].state;
    uint32_t corner[3];
    struct crossed_triangle t;
    int are_crossings_inconsistent = 0;
    t.crossed_outline_piece_count = 0;
    for (int k = 0; k < 3; k++) {
        corner[k] = leaf->corner[local[k]];
        t.edge[k].count[0] = t.edge[k].count[1] = 0;
        t.inside[k] = -1;
        t.corner[k] = (tact_d4){leaf->p[k][0][lane], leaf->p[k][1][lane], leaf->p[k][2][lane]};
    }
    if (collect_triangle_segments(rim, of, triangle, &t) || classify_crossed_triangle_corners(&t) ||
        (t.inside[0] < 0 && classify_corners_by_ray(rim, of, corner, &t)) ||
        add_inside_edge_parts(&t)) {
        return -EAGAIN;
    }
    for (int k = 0; k < 3; k++) {
        const int is_inside_other_mesh = TACT_RIM_OUTSIDE + t.inside[k];
        are_crossings_inconsistent |=
            state[corner[k]] == TACT_RIM_OUTSIDE + TACT_RIM_INSIDE - is_inside_other_mesh;
        state[corner[k]] = (uint8_t)is_inside_other_mesh;
    }
    return are_crossings_inconsistent ? -EAGAIN : add_outline_area(&t, leaf, lane, surface);
}

/* 1 where a triangle that meets leaves of the other mesh, but is not crossed, is inside; -1 where
 * undecided. */
TACT_INLINE int is_uncrossed_triangle_inside(struct tact_rim *rim, int of,
                                             const struct tact_rim_leaf *leaf, uint32_t lane,
                                             const uint8_t *local)
{
    uint8_t *state = rim->side[of].state;
    const uint16_t corner[3] = {leaf->corner[local[0]], leaf->corner[local[1]],
                                leaf->corner[local[2]]};
    int is_inside_other_mesh = state[corner[0]] | state[corner[1]] | state[corner[2]];
    if (is_inside_other_mesh == TACT_RIM_UNKNOWN) {
        is_inside_other_mesh = TACT_RIM_OUTSIDE + is_triangle_inside(rim, of, leaf, lane);
    } else if (does_ray_contradict_rim(rim, of, leaf, lane,
                                       is_inside_other_mesh == TACT_RIM_INSIDE)) {
        return -1;
    }
    if (is_inside_other_mesh != TACT_RIM_OUTSIDE && is_inside_other_mesh != TACT_RIM_INSIDE) {
        return -1;
    }
    state[corner[0]] = state[corner[1]] = state[corner[2]] = (uint8_t)is_inside_other_mesh;
    return is_inside_other_mesh == TACT_RIM_INSIDE;
}

/* Adds those triangles of a leaf to the surface whose bit is set. */
TACT_INLINE void add_leaf(const struct tact_rim_leaf *leaf, uint32_t bits,
                          struct tact_cut_surface *surface)
{
    const tact_l4 weight = {1, 2, 4, 8}, has = (weight & (int64_t)bits) != 0;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            surface->corner[k][c] = (tact_d4)((tact_l4)(leaf->p[k][c] - surface->origin[c]) & has);
        }
    }
    tact_surface_integrate_batch(surface);
}

/* Adds the triangles of a leaf that are inside and not crossed by the rim. */
TACT_INLINE int add_uncrossed_triangles(struct tact_rim *rim, int of, uint32_t i,
                                        struct tact_cut_surface *surface)
{
    const struct tact_rim_mesh *side = &rim->side[of];
    const struct tact_rim_leaf *leaf = &side->leaf[i];
    const uint8_t *local = tact_rim_corner_indices(rim, of, leaf);
    uint32_t bits = 0;
    for (uint32_t k = 0; k < leaf->count; k++) {
        if (side->first_segment_of_triangle[4 * i + k] == TACT_RIM_NO_INDEX) {
            int inside = is_uncrossed_triangle_inside(rim, of, leaf, k, local + 3 * k);
            if (inside < 0) {
                return -EAGAIN;
            }
            bits |= (uint32_t)inside << k;
        }
    }
    if (bits) {
        add_leaf(leaf, bits, surface);
    }
    return 0;
}

/* Adds the surface integrals of the triangles that the rim crosses, then of those near it. */
static int add_surface_near_rim(struct tact_rim *rim, int of, struct tact_cut_surface surface[2])
{
    struct tact_rim_mesh *side = &rim->side[of];
    for (uint32_t i = 0; i < side->placed_leaf_count; i++) {
        if (side->leaf[i].meets_other_mesh && tact_rim_list_corners(rim, of, &side->leaf[i])) {
            return -EAGAIN;
        }
    }
    for (uint32_t i = 0; i < 4 * side->placed_leaf_count; i++) {
        if (side->first_segment_of_triangle[i] != TACT_RIM_NO_INDEX &&
            add_crossed_triangles(rim, of, i, &surface[0])) {
            return -EAGAIN;
        }
    }
    tact_surface_zero_unused_lanes(&surface[0]);
    tact_surface_integrate_coplanar(&surface[0]);
    for (uint32_t i = 0; i < side->placed_leaf_count; i++) {
        if (side->leaf[i].meets_other_mesh && add_uncrossed_triangles(rim, of, i, &surface[1])) {
            return -EAGAIN;
        }
    }
    return 0;
}

/* Cache of recent separated boxes, and whether they are inside the other mesh. */
struct recent_separated_boxes {
    tact_f8 lower[3], upper[3];
    uint32_t inside, next;
};

/* 1 where a separated box is inside the other mesh: known from a recent box that it meets, from a
 * corner, or by a ray. */
TACT_INLINE int is_box_inside_other_mesh(struct tact_rim *rim, int of, uint32_t box,
                                         struct recent_separated_boxes *recent_separated_boxes)
{
    const struct tact_rim_mesh *side = &rim->side[of];
    const struct tact_leaf_pairing_tree *pairing = of ? &rim->pairing->b : &rim->pairing->a;
    const uint32_t lane = box % 8, first = (box & 0xFFFF) << 3 * (box >> 16);
    const struct tact_rim_box_group *own =
        &side->box_groups[side->level[box >> 16] + (box & 0xFFFF) / 8];
    const struct tact_mesh *mesh = pairing->placed_mesh.mesh;
    const struct tact_mesh_leaf *from = &mesh->wide->leaves[pairing->leaf[first]];
    tact_i8 meet = recent_separated_boxes->lower[0] <= INFINITY;
    uint32_t bits, at = recent_separated_boxes->next++ % 8;
    int inside = -1;
    for (int d = 0; d < 3; d++) {
        meet &= (recent_separated_boxes->lower[d] <= own->upper[d][lane]) &
                (recent_separated_boxes->upper[d] >= own->lower[d][lane]);
    }
    tact_i8_mask_to_bits(&meet, &bits);
    if (bits) {
        inside = (int)(recent_separated_boxes->inside >> __builtin_ctz(bits)) & 1;
    }
    const uint32_t *index = mesh->triangles + 3 * (size_t)from->first;
    for (uint32_t k = 0; k < from->corners && inside < 0; k++) {
        inside = (int)tact_rim_get_corner_state(rim, of, index[from->distinct_corner_index[k]]) -
                 TACT_RIM_OUTSIDE;
    }
    if (!bits) {
        struct tact_rim_leaf leaf;
        tact_rim_place_leaf(&pairing->placed_mesh, pairing->leaf[first],
                            rim->pairing->pair_units_per_metre, rim->margin, &leaf);
        if (inside < 0) {
            inside = is_triangle_inside(rim, of, &leaf, 0);
        } else if (does_ray_contradict_rim(rim, of, &leaf, 0, inside > 0)) {
            return -1;
        }
    }
    for (int d = 0; d < 3; d++) {
        recent_separated_boxes->lower[d][at] = own->lower[d][lane];
        recent_separated_boxes->upper[d][at] = own->upper[d][lane];
    }
    recent_separated_boxes->inside =
        (recent_separated_boxes->inside & ~(1U << at)) | (uint32_t)(inside > 0) << at;
    return inside;
}

/* Adds the surface of those leaves inside the other mesh whose boxes meet none of its leaves. */
static int add_separated_leaves(struct tact_rim *rim, int of, struct tact_cut_surface *surface)
{
    const struct tact_rim_mesh *side = &rim->side[of];
    const struct tact_leaf_pairing_tree *pairing = of ? &rim->pairing->b : &rim->pairing->a;
    struct recent_separated_boxes recent_separated_boxes;
    memset(&recent_separated_boxes, 0, sizeof recent_separated_boxes);
    for (int d = 0; d < 3; d++) {
        recent_separated_boxes.lower[d] += INFINITY;
    }
    for (uint32_t i = 0; i < side->separated_box_count; i++) {
        const uint32_t box = side->separated_boxes[i], level = box >> 16,
                       first = (box & 0xFFFF) << 3 * level;
        const uint32_t first_leaf_after_box = first + (1U << 3 * level);
        int inside = is_box_inside_other_mesh(rim, of, box, &recent_separated_boxes);
        if (inside < 0) {
            return -EAGAIN;
        }
        for (uint32_t k = first; inside && k < first_leaf_after_box && k < side->count; k++) {
            struct tact_rim_leaf leaf;
            tact_rim_place_leaf(&pairing->placed_mesh, pairing->leaf[k],
                                rim->pairing->pair_units_per_metre, rim->margin, &leaf);
            add_leaf(&leaf, (1U << leaf.count) - 1, surface);
        }
    }
    return 0;
}

static void reset_rim_for_next_query(struct tact_rim *rim)
{
    if (++rim->overlap_query_number == 0) {
        memset(rim->side[0].known_corner_keys, 0, sizeof rim->side[0].known_corner_keys);
        memset(rim->side[1].known_corner_keys, 0, sizeof rim->side[1].known_corner_keys);
        rim->overlap_query_number = 1;
    }
    tact_rim_reset_corners(&rim->side[0]);
    tact_rim_reset_corners(&rim->side[1]);
    memset(rim->ray_checks_left_by_state, 4, sizeof rim->ray_checks_left_by_state);
    rim->origin = (tact_d4){0.0};
    if (rim->rim_segment_count) {
        rim->origin = rim->segment[0].end[0];
    }
}

/* Sums over the surfaces of both meshes inside each other; -EAGAIN where they do not close. */
static int add_surfaces_of_both_meshes(struct tact_rim *rim, double size,
                                       struct tact_moment_sums *sums)
{
    struct tact_moment_sums part[4];
    memset(sums, 0, sizeof *sums);
    for (int of = 0; of < 2; of++) {
        struct tact_cut_surface surface[2];
        memset(surface, 0, sizeof surface);
        for (int i = 0; i < 2; i++) {
            surface[i].origin = rim->origin;
            surface[i].share = (tact_d4){1.0, 1.0, 1.0, 1.0};
            tact_v3_scale(surface[i].surface_displacement_to_solid, rim->shift, of ? 0.0 : -1.0);
        }
        if (add_surface_near_rim(rim, of, surface) || add_separated_leaves(rim, of, &surface[1])) {
            return -EAGAIN;
        }
        tact_surface_convert_to_moment_sums(&surface[0], size, &part[2 * of]);
        tact_surface_convert_to_moment_sums(&surface[1], size, &part[2 * of + 1]);
    }
    double gap = 0.0;
    for (int i = 0; i < 4; i++) {
        sums->volume += part[i].volume;
        sums->volume_term_magnitude += part[i].volume_term_magnitude;
        for (int k = 0; k < 3; k++) {
            sums->first[k] += part[i].first[k];
            sums->second[k] += part[i].second[k];
            sums->second[3 + k] += part[i].second[3 + k];
        }
    }
    for (int k = 0; k < 3; k++) {
        sums->gradient[k] = part[0].gradient[k] + part[1].gradient[k];
        sums->torque[k] = part[0].torque[k] + part[1].torque[k];
        gap = tact_max(gap, fabs(sums->gradient[k] + (part[2].gradient[k] + part[3].gradient[k])));
    }
    return gap <= CLOSED * (sums->volume_term_magnitude / (0.1 * size)) ? 0 : -EAGAIN;
}

TACT_DISPATCH_BY_CPU(struct tact_rim *, tact_rim_create, (void), ())
{
    size_t size = (sizeof(struct tact_rim) + 63) / 64 * 64;
    struct tact_rim *rim = aligned_alloc(64, size);
    if (rim) {
        memset(rim, 0, size);
    }
    return rim;
}

TACT_DISPATCH_BY_CPU(int, tact_moments_by_overlap_surface,
                     (const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                      struct tact_moments *out),
                     (a, pa, b, pb, frame, scratch, out))
{
    struct tact_rim *rim = scratch->rim;
    struct tact_moment_sums sums;
    double slack = tact_prism_slack(a, pa, b, pb), local[3], origin[3];
    rim->pairing = tact_pairing_place_meshes(a, pa, b, pb, frame, scratch);
    rim->slack = 2.0 * slack;
    int rc = tact_rim_find_segments(rim);
    if (rc != 1) {
        return rc;
    }
    reset_rim_for_next_query(rim);
    if (add_surfaces_of_both_meshes(rim, slack / (32.0 * DBL_EPSILON), &sums)) {
        return -EAGAIN;
    }
    if (rim->has_coplanar_faces) {
        tact_rim_correct_sums_for_shift(rim, &sums);
    }
    for (int k = 0; k < 3; k++) {
        local[k] = rim->origin[k];
    }
    tact_m3_tmul_v3(origin, frame->axes, local);
    tact_v3_add(origin, origin, frame->origin);
    return tact_moment_sums_finish(&sums, frame->axes, origin, out);
}
