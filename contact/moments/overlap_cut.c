/* Cuts the faces of a solid by the planes of a convex one. */
#include "contact/moments/moments_surface_internal.h"
#include "contact/moments/overlap_internal.h"

TACT_INLINE double tact_cut_height_above_plane(const double *plane, const tact_d4 *p)
{
    return plane[0] * (*p)[0] + plane[1] * (*p)[1] + plane[2] * (*p)[2] - plane[3];
}

/* Depth below a plane, over the cutter's tolerance, beyond which rounding cannot place a cut of an
 * edge above the plane: each of up to 64 cuts is off its edge by less than 2 tolerances. */
static const double CLEAR_DEPTH_IN_TOLERANCES = 128.0;

/* Height range of the corners of a convex solid A above a plane. */
struct tact_cut_corner_height_range {
    double lowest, highest;         /* [m] */
    uint64_t corners_below[2];      /* bits of the corners below the plane by more than
                                                     rounding */
    uint64_t near_plane_corners[2]; /* bits of the corners that are neither well below nor
                               well  above the plane */
};

TACT_INLINE void tact_cut_find_height_range(const struct tact_cutter *c,
                                            const struct tact_mesh_facets *a, const double *plane,
                                            struct tact_cut_corner_height_range *out)
{
    tact_d4 low = {INFINITY, INFINITY, INFINITY, INFINITY}, high = -low;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < a->corners; i += 4) {
        tact_d4 x, y, z;
        uint32_t bits;
        memcpy(&x, a->corner[0] + i, sizeof x);
        memcpy(&y, a->corner[1] + i, sizeof y);
        memcpy(&z, a->corner[2] + i, sizeof z);
        tact_d4 h = plane[0] * x + plane[1] * y + plane[2] * z - plane[3];
        low = TACT_D4_MIN(h, low);
        high = TACT_D4_MAX(h, high);
        tact_l4 corners_below = h<-2.0 * c->tolerance, near_plane_corners = h> -
                                CLEAR_DEPTH_IN_TOLERANCES * c->tolerance;
        tact_l4_mask_to_bits(&corners_below, &bits);
        out->corners_below[i / 64] |= (uint64_t)bits << i % 64;
        tact_l4_mask_to_bits(&near_plane_corners, &bits);
        out->near_plane_corners[i / 64] |= (uint64_t)bits << i % 64;
    }
    out->lowest = tact_min(tact_min(low[0], low[1]), tact_min(low[2], low[3]));
    out->highest = tact_max(tact_max(high[0], high[1]), tact_max(high[2], high[3]));
}

/* 1 where a facet has a corner of a given set. */
TACT_INLINE int tact_cut_facet_has_corner(const struct tact_mesh_facets *a, uint32_t facet,
                                          const uint64_t corners[2])
{
    const uint64_t *of = a->corner_bits_of_facet[facet];
    return ((of[0] & corners[0]) | (of[1] & corners[1])) != 0;
}

/* Sorts the two planes that leave least of A to the front, and clears the caps. lowest: height of
 * A's lowest point above each. near_plane_corners: sorted likewise, or NULL. */
TACT_INLINE void tact_cutter_sort_planes(struct tact_cutter *c, double *lowest,
                                         uint64_t (*near_plane_corners)[2])
{
    for (int k = 0; k < 2 && k < c->cutting_plane_count; k++) {
        int best = k;
        for (int i = k + 1; i < c->cutting_plane_count; i++) {
            best = lowest[i] > lowest[best] ? i : best;
        }
        double plane[4], low = lowest[best];
        memcpy(plane, c->plane[best], sizeof plane);
        memcpy(c->plane[best], c->plane[k], sizeof plane);
        memcpy(c->plane[k], plane, sizeof plane);
        lowest[best] = lowest[k];
        lowest[k] = low;
        for (int i = 0; near_plane_corners && i < 2; i++) {
            uint64_t bits = near_plane_corners[best][i];
            near_plane_corners[best][i] = near_plane_corners[k][i];
            near_plane_corners[k][i] = bits;
        }
    }
    for (int k = 0; k < c->cutting_plane_count; k++) {
        c->first_edge_of_cap[k] = -1;
    }
}

/* Sorts the planes that cut a to the front, beginning with the two that leave least of it; returns
 * 0 where one leaves nothing. near_plane_corners: output, bits of the corners that are not
 * clear of each.
 */
TACT_INLINE int tact_cutter_order_planes(struct tact_cutter *c, const struct tact_mesh_facets *a,
                                         uint64_t near_plane_corners[TACT_FACETS][2])
{
    double lowest[TACT_FACETS];
    struct tact_cut_corner_height_range height_range;
    c->cutting_plane_count = 0;
    c->facets_coplanar_with_b = 0;
    for (int k = 0; k < c->planes; k++) {
        tact_cut_find_height_range(c, a, c->plane[k], &height_range);
        if (height_range.lowest >= 0.0) {
            return 0;
        }
        if (height_range.highest > 0.0) {
            lowest[c->cutting_plane_count] = height_range.lowest;
            memcpy(near_plane_corners[c->cutting_plane_count], height_range.near_plane_corners,
                   sizeof height_range.near_plane_corners);
            memcpy(c->plane[c->cutting_plane_count++], c->plane[k], sizeof c->plane[k]);
        } else if (height_range.highest >= -2.0 * c->tolerance) {
            /* Facets of a that lie in a plane which cuts nothing off. */
            for (uint32_t f = 0; f < a->count; f++) {
                c->facets_coplanar_with_b |=
                    (uint64_t)!tact_cut_facet_has_corner(a, f, height_range.corners_below) << f;
            }
        }
    }
    tact_cutter_sort_planes(c, lowest, near_plane_corners);
    return 1;
}

/* The point in the plane between one inside at height in <= 0 and one outside at height out. */
TACT_INLINE void tact_cut_crossing_point(const tact_d4 *inside, double in, const tact_d4 *outside,
                                         double out, tact_d4 *point)
{
    *point = *inside + in / (in - out) * (*outside - *inside);
}

/* Adds an edge to the cap that closes the cut in a plane. */
TACT_INLINE void tact_cap_add_edge(struct tact_cutter *c, int plane, const tact_d4 *from,
                                   const tact_d4 *to)
{
    if (c->edges == TACT_CUT_EDGES) {
        c->is_capacity_exceeded = 1;
        return;
    }
    int e = c->edges++;
    c->from[e] = *from;
    c->to[e] = *to;
    c->next[e] = -1;
    if (c->first_edge_of_cap[plane] < 0) {
        c->first_edge_of_cap[plane] = e;
    } else {
        c->next[c->last_edge_of_cap[plane]] = e;
    }
    c->last_edge_of_cap[plane] = e;
}

/* Cuts a polygon whose outline may cross the plane more than twice, due to rounding. */
TACT_INLINE int tact_cut_nonconvex_polygon(struct tact_cutter *c, int plane, const tact_d4 *in,
                                           int n, tact_d4 *out)
{
    int m = 0, leaving_count = 0, entering_count = 0, enters_first = 0;
    for (int i = 0; i < n; i++) {
        int j = i + 1 < n ? i + 1 : 0;
        double vi = c->value[i], vj = c->value[j];
        if (vi <= 0.0) {
            out[m++] = in[i];
            if (vj > 0.0) {
                tact_cut_crossing_point(&in[i], vi, &in[j], vj, &out[m]);
                c->leaves[leaving_count++] = out[m++];
            }
        } else if (vj <= 0.0) {
            tact_cut_crossing_point(&in[j], vj, &in[i], vi, &out[m]);
            enters_first |= leaving_count == 0;
            c->enters[entering_count++] = out[m++];
        }
    }
    /* cuts can be paired: a closed outline crosses the plane as often in one direction as in the
     * other */
    for (int i = 0; i < leaving_count && entering_count > 0; i++) {
        tact_cap_add_edge(c, plane, &c->enters[(i + enters_first) % entering_count], &c->leaves[i]);
    }
    return m;
}

/* A face polygon in one of the cutter's two buffers: cutting writes to the other. */
struct tact_cut_polygon {
    int n, buffer_in_use;
};

/* Cuts a face polygon by a plane of the convex solid, and adds the cut's edge to the plane's cap.
 */
TACT_INLINE void tact_cut_polygon(struct tact_cutter *c, int plane, struct tact_cut_polygon *p)
{
    const tact_d4 *in = c->buffers[p->buffer_in_use];
    tact_d4 *out = c->buffers[!p->buffer_in_use];
    uint64_t inside = 0;
    int n = p->n, m = 0;
    if (n > 63) {
        c->is_capacity_exceeded = 1;
        p->n = 0;
        return;
    }
    for (int i = 0; i < n; i++) {
        c->value[i] = tact_cut_height_above_plane(c->plane[plane], &in[i]);
        inside |= (uint64_t)(c->value[i] <= 0.0) << i;
    }
    if (inside == 0 || inside == ((uint64_t)1 << n) - 1) {
        p->n = inside ? n : 0;
        return;
    }
    p->buffer_in_use = !p->buffer_in_use;
    /* bit i of `next`: whether corner i + 1 is below the plane */
    uint64_t next = inside >> 1 | (inside & 1) << (n - 1);
    uint64_t bits_of_leaving_edges = inside & ~next, entering_edges = ~inside & next;
    if (bits_of_leaving_edges & (bits_of_leaving_edges - 1)) {
        p->n = tact_cut_nonconvex_polygon(c, plane, in, n, out);
        return;
    }
    int last_inside_corner = __builtin_ctzll(bits_of_leaving_edges),
        last_outside = __builtin_ctzll(entering_edges);
    int corner_after_last = last_inside_corner + 1 < n ? last_inside_corner + 1 : 0,
        first = last_outside + 1 < n ? last_outside + 1 : 0;
    for (int i = first; i != corner_after_last; i = i + 1 < n ? i + 1 : 0) {
        out[m++] = in[i];
    }
    tact_cut_crossing_point(&in[last_inside_corner], c->value[last_inside_corner],
                            &in[corner_after_last], c->value[corner_after_last], &out[m]);
    tact_cut_crossing_point(&in[first], c->value[first], &in[last_outside], c->value[last_outside],
                            &out[m + 1]);
    tact_cap_add_edge(c, plane, &out[m + 1], &out[m]);
    p->n = m + 2;
}

/* Sorts points on a line by one of their coordinates. */
TACT_INLINE void tact_cut_sort_points(tact_d4 *point, int count, int axis)
{
    for (int i = 1; i < count; i++) {
        const tact_d4 p = point[i];
        int at = i;
        for (; at > 0 && point[at - 1][axis] > p[axis]; at--) {
            point[at] = point[at - 1];
        }
        point[at] = p;
    }
}

/* Sorts the points in which a cap's outline crosses a plane along the line of the two planes. Its
 * outline crosses that line upward and downward by turns, so that points of the same rank bound one
 * opening: pairs of other ranks would close the surface too, but with needles from one opening to
 * another, which cancel but for the rounding of their length. */
TACT_INLINE void tact_cap_sort_crossings(struct tact_cutter *c, int cap, int plane, int count)
{
    double line_direction[3];
    int axis = 0;
    tact_v3_cross(line_direction, c->plane[cap], c->plane[plane]);
    for (int k = 1; k < 3; k++) {
        axis = fabs(line_direction[k]) > fabs(line_direction[axis]) ? k : axis;
    }
    tact_cut_sort_points(c->leaves, count, axis);
    tact_cut_sort_points(c->enters, count, axis);
}

/* Cuts the cap of an earlier plane by a later one; the resulting opening is closed in both caps.
 */
TACT_INLINE void tact_cut_cap(struct tact_cutter *c, int cap, int plane)
{
    int *link_to_kept_cap_edge = &c->first_edge_of_cap[cap], kept = -1, leaving_count = 0,
        entering_count = 0;
    for (int e = *link_to_kept_cap_edge; e >= 0; e = c->next[e]) {
        double from = tact_cut_height_above_plane(c->plane[plane], &c->from[e]);
        double to = tact_cut_height_above_plane(c->plane[plane], &c->to[e]);
        if (from > 0.0 && to > 0.0) {
            continue;
        }
        if (to > 0.0 && leaving_count < TACT_CUT_CORNERS) {
            tact_cut_crossing_point(&c->from[e], from, &c->to[e], to, &c->leaves[leaving_count]);
            c->to[e] = c->leaves[leaving_count++];
        } else if (from > 0.0 && entering_count < TACT_CUT_CORNERS) {
            tact_cut_crossing_point(&c->to[e], to, &c->from[e], from, &c->enters[entering_count]);
            c->from[e] = c->enters[entering_count++];
        }
        *link_to_kept_cap_edge = e;
        link_to_kept_cap_edge = &c->next[e];
        kept = e;
    }
    *link_to_kept_cap_edge = -1;
    c->last_edge_of_cap[cap] = kept;
    c->is_capacity_exceeded |= leaving_count != entering_count;
    if (leaving_count > 1 && leaving_count == entering_count) {
        tact_cap_sort_crossings(c, cap, plane, leaving_count);
    }
    for (int i = 0; i < leaving_count && !c->is_capacity_exceeded; i++) {
        tact_cap_add_edge(c, cap, &c->leaves[i], &c->enters[i]);
        tact_cap_add_edge(c, plane, &c->enters[i], &c->leaves[i]);
    }
}

/* Cuts a face of A, in buffer 0, by the planes whose bits are set, and passes on what is left. */
TACT_INLINE void tact_cut_face_by_planes(struct tact_cutter *c, int n, uint64_t planes,
                                         double share, tact_cut_face_fn *face, void *user)
{
    struct tact_cut_polygon p = {n, 0};
    for (; planes && p.n > 2; planes &= planes - 1) {
        tact_cut_polygon(c, __builtin_ctzll(planes), &p);
    }
    if (p.n > 2) {
        face(user, c->buffers[p.buffer_in_use], p.n, share);
    }
}

/* Cuts each cap by the later planes, and passes on what is left. */
TACT_INLINE void tact_cut_and_emit_caps(struct tact_cutter *c, tact_cut_face_fn *face, void *user)
{
    for (int k = 1; k < c->cutting_plane_count; k++) {
        for (int i = 0; i < k; i++) {
            tact_cut_cap(c, i, k);
        }
    }
    for (int k = 0; k < c->cutting_plane_count; k++) {
        for (int e = c->first_edge_of_cap[k] < 0 ? -1 : c->next[c->first_edge_of_cap[k]]; e >= 0;
             e = c->next[e]) {
            tact_d4 corner[3] = {c->from[c->first_edge_of_cap[k]], c->from[e], c->to[e]};
            face(user, corner, 3, 0.0);
        }
    }
}

TACT_INLINE int cut_facets(struct tact_cutter *c, const struct tact_mesh_facets *a,
                           tact_cut_face_fn *face, void *user)
{
    uint64_t near_plane_corners[TACT_FACETS][2];
    if (!tact_cutter_order_planes(c, a, near_plane_corners)) {
        return 0;
    }
    for (uint32_t f = 0; f < a->count; f++) {
        uint64_t planes = 0;
        int n = 0;
        for (uint32_t i = a->first[f]; i < a->first[f + 1]; i++) {
            uint8_t k = a->rim[i];
            c->buffers[0][n++] = (tact_d4){a->corner[0][k], a->corner[1][k], a->corner[2][k], 0.0};
        }
        for (int k = 0; k < c->cutting_plane_count; k++) {
            planes |= (uint64_t)tact_cut_facet_has_corner(a, f, near_plane_corners[k]) << k;
        }
        tact_cut_face_by_planes(c, n, planes, c->facets_coplanar_with_b >> f & 1 ? 0.5 : 1.0, face,
                                user);
    }
    tact_cut_and_emit_caps(c, face, user);
    return c->is_capacity_exceeded ? -ENOSPC : 1;
}

/* Smallest distance from a plane, over the unit of a mesh's boxes, at which a box is clearly on
 * one side of the plane: some roundings of single precision. */
static const double MIN_BOX_CLEAR_DISTANCE = 4e-6;

/* Largest number of a mesh's leaves that are cut by planes. */
enum { TACT_CUT_LEAVES = 2048 };

/* Number of planes by which a mesh's boxes are tested: one bit each. */
enum { TACT_BOX_PLANES = 32 };

/* Planes for tests of a mesh's boxes, in their unit. */
struct tact_box_test_planes {
    float n[TACT_BOX_PLANES][3], d[TACT_BOX_PLANES];
    float clear_distance; /* distance beyond which rounding cannot place what is in
                    a box, nor its cuts, on the other side of a plane */
    uint32_t all;
};

/* Tests eight boxes by the planes whose bits are set. *bits: loses the bits of boxes of which
 * nothing is left and that add nothing to what is left of a cap: a box wholly above one of the
 * first two planes, or clearly above another one and clearly below all planes before it but one.
 * What that one leaves in its cap reaches the other plane uncut, and is cut off whole by it.
 * near_plane_bits: output, bits of the planes that each box is not clearly below. */
TACT_INLINE void tact_test_boxes_against_planes(const struct tact_mesh_wide_node *wide_node,
                                                const struct tact_box_test_planes *p,
                                                uint32_t planes, uint32_t *bits,
                                                tact_i8 *near_plane_bits)
{
    const tact_f8 *centre = (const tact_f8 *)wide_node->centre;
    *near_plane_bits = (tact_i8){0};
    for (; planes && *bits; planes &= planes - 1) {
        const int k = __builtin_ctz(planes);
        const float *n = p->n[k];
        tact_f8 height = n[0] * centre[0] + n[1] * centre[1] + n[2] * centre[2] - p->d[k];
        tact_f8 lowest = height, highest = height;
        uint32_t bits_of_kept_boxes;
        for (int i = 0; i < 3; i++) {
            const tact_f8 *axis = (const tact_f8 *)wide_node->axis[i];
            tact_f8 along = n[0] * axis[0] + n[1] * axis[1] + n[2] * axis[2];
            lowest -= TACT_F8_ABS(along);
            highest += TACT_F8_ABS(along);
        }
        tact_i8 kept_boxes = k < 2 ? lowest <= 0.0F
                                   : (lowest <= p->clear_distance) |
                                         ((*near_plane_bits & (*near_plane_bits - 1)) != 0);
        tact_i8_mask_to_bits(&kept_boxes, &bits_of_kept_boxes);
        *bits &= bits_of_kept_boxes;
        *near_plane_bits |= (highest >= -p->clear_distance) & (int32_t)(1U << k);
    }
}

/* Sorts the planes that may cut the mesh to the front, followed by those that may contain some of
 * it; returns 0 where one leaves nothing. */
TACT_INLINE int tact_cutter_order_planes_for_mesh(struct tact_cutter *c,
                                                  const struct tact_mesh *mesh,
                                                  struct tact_box_test_planes *boxes)
{
    double lowest[TACT_FACETS], middle[3], unit = tact_mesh_box_length_unit(mesh, middle);
    c->cutting_plane_count = 0;
    for (int k = 0; k < c->planes; k++) {
        double *plane = c->plane[k], reach = -plane[3] + tact_v3_dot(plane, middle);
        double half = 0.0;
        for (int i = 0; i < 3; i++) {
            half += fabs(plane[i]) * (mesh->nodes[0].upper[i] - middle[i]);
        }
        if (reach - half >= c->tolerance) {
            return 0;
        }
        if (reach + half >= -3.0 * c->tolerance) {
            lowest[c->cutting_plane_count] = reach - half;
            memcpy(c->plane[c->cutting_plane_count++], plane, sizeof c->plane[k]);
        }
    }
    tact_cutter_sort_planes(c, lowest, NULL);
    boxes->all = 0;
    boxes->clear_distance =
        (float)(MIN_BOX_CLEAR_DISTANCE + 2.0 * CLEAR_DEPTH_IN_TOLERANCES * c->tolerance / unit);
    for (int k = 0; k < TACT_BOX_PLANES && k < c->cutting_plane_count; k++) {
        const double *plane = c->plane[k];
        for (int i = 0; i < 3; i++) {
            boxes->n[k][i] = (float)plane[i];
        }
        boxes->d[k] = (float)((plane[3] - tact_v3_dot(plane, middle)) / unit);
        boxes->all |= 1U << k;
    }
    return 1;
}

/* Cuts the triangles of a leaf by the planes whose bits are set: it is clearly below the others.
 * Heights above each plane are computed four at a time. What is above one of the first two planes,
 * or above another one and clear of those before it but one, is skipped: the caps that it would
 * close are above that plane too. */
TACT_INLINE void tact_cut_leaf_triangles(struct tact_cutter *c, const struct tact_mesh_leaf *leaf,
                                         uint64_t planes, tact_cut_face_fn *face, void *user)
{
    const tact_d4(*p)[3] = (const tact_d4(*)[3])leaf->corner;
    const tact_d4 near_plane_height = (tact_d4){0.0} - 2.0 * c->tolerance;
    const tact_d4 clear_distance = (tact_d4){0.0} - CLEAR_DEPTH_IN_TOLERANCES * c->tolerance;
    const tact_d4 far = (tact_d4){0.0} + 2.0 * CLEAR_DEPTH_IN_TOLERANCES * c->tolerance;
    tact_l4 cuts = {0}, gone = {0}, lies_in_plane = {0};
    planes &=
        c->cutting_plane_count < 64 ? ((uint64_t)1 << c->cutting_plane_count) - 1 : ~(uint64_t)0;
    for (; planes; planes &= planes - 1) {
        const int k = __builtin_ctzll(planes);
        const double *f = c->plane[k];
        tact_d4 h[3], low, high;
        for (int j = 0; j < 3; j++) {
            h[j] = f[0] * p[j][0] + f[1] * p[j][1] + f[2] * p[j][2] - f[3];
        }
        low = TACT_D4_MIN(h[0], h[1]);
        low = TACT_D4_MIN(h[2], low);
        high = TACT_D4_MAX(h[0], h[1]);
        high = TACT_D4_MAX(h[2], high);
        const tact_l4 one_cut = (cuts & (cuts - 1)) == 0;
        gone |= k < 2 ? low > 0.0 : ((low > 0.0) & (cuts == 0)) | ((low > far) & one_cut);
        cuts |= (high > clear_distance) & (int64_t)((uint64_t)1 << k);
        lies_in_plane |= (low >= near_plane_height) & (high <= 0.0);
    }
    for (uint32_t i = 0; i < leaf->count; i++) {
        if (gone[i]) {
            continue;
        }
        for (int j = 0; j < 3; j++) {
            c->buffers[0][j] = (tact_d4){p[j][0][i], p[j][1][i], p[j][2][i], 0.0};
        }
        tact_cut_face_by_planes(c, 3, (uint64_t)cuts[i], lies_in_plane[i] ? 0.5 : 1.0, face, user);
    }
}

TACT_INLINE int cut_mesh_by_planes(struct tact_cutter *c, const struct tact_mesh *mesh,
                                   tact_cut_face_fn *face, void *user)
{
    struct tact_box_test_planes boxes;
    struct {
        uint32_t index, planes;
    } stack[TACT_MESH_STACK];
    int top = 0, leaves = 0;
    if (!tact_cutter_order_planes_for_mesh(c, mesh, &boxes)) {
        return 0;
    }
    stack[top].index = 0;
    stack[top++].planes = boxes.all;
    while (top > 0 && !c->is_capacity_exceeded) {
        const uint32_t index = stack[--top].index, planes = stack[top].planes;
        if (index & TACT_MESH_CHILD_IS_LEAF_FLAG) {
            tact_cut_leaf_triangles(c, &mesh->wide->leaves[index & ~TACT_MESH_CHILD_IS_LEAF_FLAG],
                                    planes | ~(uint64_t)boxes.all, face, user);
            c->is_capacity_exceeded |= ++leaves > TACT_CUT_LEAVES;
            continue;
        }
        const struct tact_mesh_wide_node *wide_node = &mesh->wide->wide_nodes[index];
        uint32_t bits = (1U << wide_node->count) - 1U;
        tact_i8 near_plane_bits;
        tact_test_boxes_against_planes(wide_node, &boxes, planes, &bits, &near_plane_bits);
        for (int i = 7; i >= 0 && bits; i--) {
            if (bits >> i & 1U) {
                stack[top].index = wide_node->child[i];
                stack[top++].planes = (uint32_t)near_plane_bits[i];
            }
        }
    }
    tact_cut_and_emit_caps(c, face, user);
    return c->is_capacity_exceeded ? -ENOSPC : 1;
}

TACT_DISPATCH_BY_CPU(int, tact_cut_convex_facets,
                     (struct tact_cutter * c, const struct tact_mesh_facets *a,
                      tact_cut_face_fn *face, void *user),
                     (c, a, face, user))
{
    return cut_facets(c, a, face, user);
}

TACT_DISPATCH_BY_CPU(int, tact_cut_mesh_by_cutter_planes,
                     (struct tact_cutter * c, const struct tact_mesh *mesh, tact_cut_face_fn *face,
                      void *user),
                     (c, mesh, face, user))
{
    return cut_mesh_by_planes(c, mesh, face, user);
}

/* Adds a face of the overlap, in triangles about its first corner. */
TACT_INLINE void add_face_triangles(void *user, const tact_d4 *corner, int n, double share)
{
    struct tact_cut_surface *s = user;
    if (!s->started) {
        s->started = 1;
        s->origin = corner[0];
    }
    for (int i = 1; i + 1 < n; i++) {
        const int at[3] = {0, i, i + 1};
        int lane = s->queued_triangle_count;
        for (int k = 0; k < 3; k++) {
            tact_d4 p = corner[at[k]] - s->origin;
            ((double *)&s->corner[k][0])[lane] = p[0];
            ((double *)&s->corner[k][1])[lane] = p[1];
            ((double *)&s->corner[k][2])[lane] = p[2];
        }
        ((double *)&s->share)[lane] = share;
        if (++s->queued_triangle_count == 4) {
            tact_surface_integrate_batch(s);
        }
    }
}

/* Sums that are computed from the faces of an overlap as they are cut. */
struct cut {
    struct tact_cut_surface surface;
    struct tact_face_areas
        face_areas; /* areas of the faces of a solid that is not convex, not of the caps */
    struct tact_overlap_corners *corners; /* corners of the faces and caps of a convex solid */
};

/* Adds a face of a convex solid, or a triangle of a cap, all of which share their first corner. */
TACT_INLINE void add_face_to_cut_sums(void *user, const tact_d4 *corner, int n, double share)
{
    struct cut *cut = user;
    struct tact_overlap_corners *corners = cut->corners;
    add_face_triangles(&cut->surface, corner, n, share);
    for (int i = share > 0.0 ? 0 : 1; i < n; i++, corners->count++) {
        for (int k = 0; k < 3 && corners->count < TACT_OVERLAP_CORNERS; k++) {
            corners->at[corners->count][k] = corner[i][k];
        }
    }
}

TACT_INLINE void add_face_triangles_and_area(void *user, const tact_d4 *corner, int n, double share)
{
    struct cut *cut = user;
    add_face_triangles(&cut->surface, corner, n, share);
    for (int i = 1; i + 1 < n && share > 0.0; i++) {
        double area[3];
        tact_face_areas_add(&cut->face_areas, &corner[0], &corner[i], &corner[i + 1], share, area);
    }
}

int tact_cutter_sum_moments(struct tact_cutter *c, const struct tact_mesh *mesh, double origin[3],
                            struct tact_moment_sums *sums, double *planarity,
                            struct tact_overlap_corners *corners)
{
    struct cut cut;
    memset(&cut, 0, sizeof cut);
    cut.corners = corners;
    int rc = mesh->facets && corners ? cut_facets(c, mesh->facets, add_face_to_cut_sums, &cut)
             : mesh->facets          ? cut_facets(c, mesh->facets, add_face_triangles, &cut.surface)
             : planarity ? cut_mesh_by_planes(c, mesh, add_face_triangles_and_area, &cut)
                         : cut_mesh_by_planes(c, mesh, add_face_triangles, &cut.surface);
    if (corners && (rc != 1 || corners->count > TACT_OVERLAP_CORNERS)) {
        corners->count = 0;
    }
    if (rc == 1) {
        tact_surface_convert_to_moment_sums(&cut.surface, c->size, sums);
        for (int k = 0; k < 3; k++) {
            origin[k] = cut.surface.origin[k];
        }
    }
    if (rc == 1 && planarity) {
        *planarity = tact_max(tact_areas_planarity(&cut.face_areas), tact_caps_planarity(c));
    }
    return rc;
}
