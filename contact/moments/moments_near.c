/* Pairs of near triangles, passed to a function one batch after another. */
#include "contact/moments/moments_near_internal.h"

/* Computes the bounds, along x, y, z and the normal, of eight boxes of a mesh's tree. */
static void tact_pairing_bounds_of_eight(const struct tact_placed_mesh *p,
                                         const struct tact_mesh_wide_node *wide_node,
                                         tact_f8 lower[4], tact_f8 upper[4])
{
    const tact_f8 *centre = (const tact_f8 *)wide_node->centre;
    for (int d = 0; d < 4; d++) {
        float x = p->column[0][d], y = p->column[1][d], z = p->column[2][d];
        tact_f8 middle = x * centre[0] + y * centre[1] + z * centre[2] + p->middle[d];
        tact_f8 half = (tact_f8){0.0F} + p->margin;
        for (int k = 0; k < 3; k++) {
            const tact_f8 *axis = (const tact_f8 *)wide_node->axis[k];
            half += TACT_F8_ABS(x * axis[0] + y * axis[1] + z * axis[2]);
        }
        lower[d] = middle - half;
        upper[d] = middle + half;
    }
}

/* Lanes of boxes of A (or else of B) that may contribute with the bounds of the other side: their
 * columns overlap, and B's top is above A's bottom along z and along the normal. */
static void tact_pairing_overlapping_lanes(const tact_f8 lower[4], const tact_f8 upper[4],
                                           int is_of_a,
                                           const struct tact_leaf_pairing_tree *tree_of_other_mesh,
                                           tact_i8 *overlapping)
{
    const float *low = tree_of_other_mesh->lower, *high = tree_of_other_mesh->upper;
    *overlapping =
        (lower[0] < high[0]) & (upper[0] > low[0]) & (lower[1] < high[1]) & (upper[1] > low[1]);
    if (is_of_a) {
        *overlapping &= (lower[2] < high[2]) & (lower[3] < high[3]);
    } else {
        *overlapping &= (upper[2] > low[2]) & (upper[3] > low[3]);
    }
}

/* Appends a leaf of one of the two meshes to that mesh's list of near leaves; its bounds are those
 * in lane k of eight boxes. */
static void tact_pairing_append_leaf_of_mesh(struct tact_leaf_pairing_tree *side, uint32_t leaf,
                                             const tact_f8 lower[4], const tact_f8 upper[4],
                                             uint32_t k)
{
    uint32_t n = side->leaves++;
    side->leaf[n] = leaf;
    for (int d = 0; d < 4; d++) {
        ((float *)side->leaf_lower[d])[n] = ((const float *)&lower[d])[k];
        ((float *)side->leaf_upper[d])[n] = ((const float *)&upper[d])[k];
    }
}

/* Replaces the inner nodes of a side by those children that may contribute with the other side.
 * Returns 0 where the capacity is exceeded. */
static int tact_pairing_expand_largest_nodes(struct tact_leaf_pairing *w, int is_of_a,
                                             uint32_t capacity_for_listed_nodes)
{
    struct tact_leaf_pairing_tree *side = is_of_a ? &w->a : &w->b,
                                  *tree_of_other_mesh = is_of_a ? &w->b : &w->a;
    const struct tact_mesh_wide_node *wide_nodes = side->placed_mesh.mesh->wide->wide_nodes;
    uint32_t *from = w->from, inner = side->inner_node_count, before = side->leaves, n = 0;
    tact_f8 least[4], most[4];
    for (int d = 0; d < 4; d++) {
        least[d] = (tact_f8){0.0F} + INFINITY;
        most[d] = (tact_f8){0.0F} - INFINITY;
    }
    memcpy(from, side->node, inner * sizeof *from);
    for (uint32_t i = 0; i < inner; i++) {
        const struct tact_mesh_wide_node *wide_node = &wide_nodes[from[i]];
        tact_f8 lower[4], upper[4];
        tact_i8 overlapping;
        if (n + 8 > capacity_for_listed_nodes || side->leaves + 8 > capacity_for_listed_nodes) {
            return 0;
        }
        tact_pairing_bounds_of_eight(&side->placed_mesh, wide_node, lower, upper);
        tact_pairing_overlapping_lanes(lower, upper, is_of_a, tree_of_other_mesh, &overlapping);
        for (int d = 0; d < 4; d++) {
            tact_f8 low = TACT_F8_SELECT(overlapping, lower[d], least[d]);
            tact_f8 high = TACT_F8_SELECT(overlapping, upper[d], most[d]);
            least[d] = TACT_F8_MIN(low, least[d]);
            most[d] = TACT_F8_MAX(high, most[d]);
        }
        uint32_t bits_of_overlapping_nodes;
        tact_i8_mask_to_bits(&overlapping, &bits_of_overlapping_nodes);
        for (bits_of_overlapping_nodes &= (1U << wide_node->count) - 1; bits_of_overlapping_nodes;
             bits_of_overlapping_nodes &= bits_of_overlapping_nodes - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(bits_of_overlapping_nodes),
                     child = wide_node->child[k];
            if (child & TACT_MESH_CHILD_IS_LEAF_FLAG) {
                child &= ~TACT_MESH_CHILD_IS_LEAF_FLAG;
                tact_pairing_append_leaf_of_mesh(side, child, lower, upper, k);
                tact_prefetch(&side->placed_mesh.mesh->wide->leaves[child],
                              sizeof(struct tact_mesh_leaf));
            } else {
                side->node[n++] = child;
                tact_prefetch(&wide_nodes[child], sizeof *wide_nodes);
            }
        }
    }
    side->inner_node_count = n;
    if (inner) {
        for (int d = 0; d < 4; d++) {
            const float *l = (const float *)&least[d], *m = (const float *)&most[d];
            float low = l[0], high = m[0];
            for (int k = 1; k < 8; k++) {
                low = l[k] < low ? l[k] : low;
                high = m[k] > high ? m[k] : high;
            }
            for (uint32_t i = 0; i < before; i++) {
                float lower_of_earlier_leaf = ((const float *)side->leaf_lower[d])[i];
                float upper_of_earlier_leaf = ((const float *)side->leaf_upper[d])[i];
                low = lower_of_earlier_leaf < low ? lower_of_earlier_leaf : low;
                high = upper_of_earlier_leaf > high ? upper_of_earlier_leaf : high;
            }
            side->lower[d] = low;
            side->upper[d] = high;
        }
    }
    return 1;
}

int tact_pairing_expand_to_leaves(struct tact_leaf_pairing *w, uint32_t capacity_for_listed_nodes)
{
    for (int i = 0; i < 2; i++) {
        struct tact_leaf_pairing_tree *side = i ? &w->b : &w->a;
        side->inner_node_count = 1;
        side->leaves = 0;
        side->node[0] = 0;
        for (int d = 0; d < 4; d++) {
            side->lower[d] = -INFINITY;
            side->upper[d] = INFINITY;
        }
    }
    while (w->a.inner_node_count || w->b.inner_node_count) {
        if (!tact_pairing_expand_largest_nodes(w, 1, capacity_for_listed_nodes) ||
            !tact_pairing_expand_largest_nodes(w, 0, capacity_for_listed_nodes)) {
            return -ENOSPC;
        }
        if (!(w->a.inner_node_count + w->a.leaves) || !(w->b.inner_node_count + w->b.leaves)) {
            return 0;
        }
    }
    return 1;
}

/* Bounds of the triangles of a leaf of A, x, y and z from below; and the same in the unit of the
 * pair, enlarged by the rounding of single precision. */
struct tact_leaf_bounds_in_pair_units {
    double lower[3], upper[2];
    float leaf_lower_in_pair_units[3], upper_in_pair_units[2];
};

static void tact_leaf_bounds_from_triangle_bounds(
    const struct tact_triangle_bounds *s, float pair_units_per_metre,
    struct tact_leaf_bounds_in_pair_units *bounds_of_leaf_in_pair_units)
{
    for (int c = 0; c < 3; c++) {
        const double *l = (const double *)&s->lower[c], *u = (const double *)&s->upper[c];
        bounds_of_leaf_in_pair_units->lower[c] =
            tact_min(tact_min(l[0], l[1]), tact_min(l[2], l[3]));
        float x = (float)bounds_of_leaf_in_pair_units->lower[c] * pair_units_per_metre;
        bounds_of_leaf_in_pair_units->leaf_lower_in_pair_units[c] = x - (2e-6F + 2e-6F * fabsf(x));
        if (c < 2) {
            bounds_of_leaf_in_pair_units->upper[c] =
                tact_max(tact_max(u[0], u[1]), tact_max(u[2], u[3]));
            x = (float)bounds_of_leaf_in_pair_units->upper[c] * pair_units_per_metre;
            bounds_of_leaf_in_pair_units->upper_in_pair_units[c] = x + (2e-6F + 2e-6F * fabsf(x));
        }
    }
}

/* Fills unused lanes of B with bounds that no leaf meets, before leaves are matched. */
static void tact_pairing_fill_unused_lanes(struct tact_leaf_pairing *w)
{
    for (uint32_t i = w->b.leaves; i % 8; i++) {
        ((float *)w->b.leaf_lower[0])[i] = INFINITY;
    }
}

/* Corners of the triangles of a leaf at the pose of the body, and their bounds, enlarged by a
 * margin. */
static void tact_pairing_leaf_corners(const struct tact_placed_mesh *body, uint32_t leaf,
                                      double margin, tact_d4 p[3][3],
                                      struct tact_triangle_bounds *bounds)
{
    const struct tact_mesh_leaf *from = &body->mesh->wide->leaves[leaf];
    tact_leaf_corners(body, from, p);
    tact_faces_bounds(p, bounds->lower, bounds->upper);
    const tact_l4 lane = {0, 1, 2, 3}, empty = lane >= (int64_t)from->count;
    const tact_d4 never = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int c = 0; c < 3; c++) {
        bounds->lower[c] = TACT_D4_SELECT(empty, never, bounds->lower[c] - margin);
        bounds->upper[c] = TACT_D4_SELECT(empty, -never, bounds->upper[c] + margin);
    }
}

/* Computes the corners and bounds of a leaf of B, unless they are computed already. */
static void tact_pairing_place_leaf(struct tact_leaf_pairing *w, uint32_t at)
{
    if (!w->is_placed_leaf[at]) {
        tact_d4 p[3][3];
        tact_pairing_leaf_corners(&w->b.placed_mesh, w->b.leaf[w->first + at], 0.0, p,
                                  &w->bounds[at]);
        w->bounds[at].upper[2] += w->b.placed_mesh.slack * (1.0 + TACT_MAX_FACE_SLOPE);
        tact_faces_set_from_corners(p, 0, w->b.placed_mesh.slack, &w->face_b[4 * at]);
        w->is_placed_leaf[at] = 1;
    }
}

/* Bits of those of the eight leaves of a group of B whose boxes may meet the bounds of a
 * leaf of A. */
static uint32_t tact_pairing_bits_of_leaves_in_bounds(
    const struct tact_leaf_pairing_tree *b,
    const struct tact_leaf_bounds_in_pair_units *bounds_of_leaf_in_pair_units,
    uint32_t leaf_group_index)
{
    const float *low = bounds_of_leaf_in_pair_units->leaf_lower_in_pair_units,
                *high = bounds_of_leaf_in_pair_units->upper_in_pair_units;
    uint32_t bits;
    tact_i8 overlapping = (b->leaf_lower[0][leaf_group_index] < high[0]) &
                          (b->leaf_lower[1][leaf_group_index] < high[1]) &
                          (b->leaf_upper[0][leaf_group_index] > low[0]) &
                          (b->leaf_upper[1][leaf_group_index] > low[1]) &
                          (b->leaf_upper[2][leaf_group_index] > low[2]);
    tact_i8_mask_to_bits(&overlapping, &bits);
    return bits;
}

/* Bits of those among four triangles t whose bounds meet the bounds from lower to upper. */
static uint32_t tact_triangles_meeting_bounds(const struct tact_triangle_bounds *t,
                                              const double lower[3], const double upper[2])
{
    uint32_t bits;
    tact_l4 overlapping = (t->upper[2] > lower[2]) & (t->upper[0] > lower[0]) &
                          (t->lower[0] < upper[0]) & (t->upper[1] > lower[1]) &
                          (t->lower[1] < upper[1]);
    tact_l4_mask_to_bits(&overlapping, &bits);
    return bits;
}

/* The leaf of A that is being matched with leaves of B. */
struct tact_pairing_leaf_of_a {
    tact_d4 p[3][3];
    struct tact_triangle_bounds bounds;
    uint32_t leaf, triangles, count;
    int is_leaf_placed_in_prism_frame;
    struct tact_triangle_pair pairs[TACT_PAIRING_BATCH];
};

static int tact_pairing_visit_batch_of_pairs(struct tact_leaf_pairing *w,
                                             struct tact_pairing_leaf_of_a *s,
                                             tact_triangle_pairs_fn *visit_pairs_of_batch,
                                             void *user)
{
    uint32_t count = s->count;
    if (!count) {
        return 0;
    }
    if (!s->is_leaf_placed_in_prism_frame) {
        tact_faces_set_from_corners(s->p, 1, 0.0, w->face_a);
        s->is_leaf_placed_in_prism_frame = 1;
    }
    s->count = 0;
    return visit_pairs_of_batch(user, w, s->leaf, s->pairs, count);
}

/* Visits the pairs of triangles of one leaf of A and one of B whose bounds meet. */
static int tact_pairing_visit_leaf_pairs(struct tact_leaf_pairing *w,
                                         struct tact_pairing_leaf_of_a *s, uint32_t at,
                                         tact_triangle_pairs_fn *visit_pairs_of_batch, void *user)
{
    for (uint32_t i = 0; i < s->triangles; i++) {
        double lower[3], upper[2];
        for (int c = 0; c < 3; c++) {
            lower[c] = s->bounds.lower[c][i];
            upper[c < 2 ? c : 0] = s->bounds.upper[c < 2 ? c : 0][i];
        }
        uint32_t overlapping_lanes = tact_triangles_meeting_bounds(&w->bounds[at], lower, upper);
        for (; overlapping_lanes; overlapping_lanes &= overlapping_lanes - 1) {
            uint32_t j = (uint32_t)__builtin_ctz(overlapping_lanes);
            s->pairs[s->count++] = (struct tact_triangle_pair){(uint16_t)i, (uint16_t)(4 * at + j)};
            int rc = s->count == TACT_PAIRING_BATCH
                         ? tact_pairing_visit_batch_of_pairs(w, s, visit_pairs_of_batch, user)
                         : 0;
            if (rc) {
                return rc;
            }
        }
    }
    return 0;
}

/* Matches the leaves of A, enlarged by a margin [m], with as many of B as can be placed at a time.
 */
static int tact_pairing_match_leaf_batch(struct tact_leaf_pairing *w, double margin,
                                         tact_triangle_pairs_fn *visit_pairs_of_batch, void *user)
{
    uint32_t unmatched_leaf_count = w->b.leaves - w->first,
             count = unmatched_leaf_count < TACT_PAIRING_LEAVES ? unmatched_leaf_count
                                                                : TACT_PAIRING_LEAVES;
    struct tact_pairing_leaf_of_a s;
    int rc = 0;
    s.count = 0;
    memset(w->is_placed_leaf, 0, count);
    for (uint32_t i = 0; i < w->a.leaves && !rc; i++) {
        struct tact_leaf_bounds_in_pair_units bounds_of_leaf_in_pair_units;
        s.leaf = w->a.leaf[i];
        s.triangles = w->a.placed_mesh.mesh->wide->leaves[s.leaf].count;
        s.is_leaf_placed_in_prism_frame = 0;
        tact_pairing_leaf_corners(&w->a.placed_mesh, s.leaf, margin, s.p, &s.bounds);
        tact_leaf_bounds_from_triangle_bounds(&s.bounds, w->pair_units_per_metre,
                                              &bounds_of_leaf_in_pair_units);
        for (uint32_t e = 0; e < count; e += 8) {
            uint32_t bits = tact_pairing_bits_of_leaves_in_bounds(
                &w->b, &bounds_of_leaf_in_pair_units, (w->first + e) / 8);
            for (; bits && !rc; bits &= bits - 1) {
                uint32_t at = e + (uint32_t)__builtin_ctz(bits);
                tact_pairing_place_leaf(w, at);
                if (tact_triangles_meeting_bounds(&w->bounds[at],
                                                  bounds_of_leaf_in_pair_units.lower,
                                                  bounds_of_leaf_in_pair_units.upper)) {
                    rc = tact_pairing_visit_leaf_pairs(w, &s, at, visit_pairs_of_batch, user);
                }
            }
        }
        rc = rc ? rc : tact_pairing_visit_batch_of_pairs(w, &s, visit_pairs_of_batch, user);
    }
    return rc;
}

int tact_pairing_match_leaves(struct tact_leaf_pairing *w, double margin,
                              tact_triangle_pairs_fn *visit_pairs_of_batch, void *user)
{
    int rc = 0;
    tact_pairing_fill_unused_lanes(w);
    for (w->first = 0; w->first < w->b.leaves && !rc; w->first += TACT_PAIRING_LEAVES) {
        rc = tact_pairing_match_leaf_batch(w, margin, visit_pairs_of_batch, user);
    }
    return rc;
}
