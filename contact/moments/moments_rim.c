/* The rim of an overlap: which pairs of triangles cross, and where. */
#include "contact/moments/moments_rim_internal.h"

TACT_INLINE void compute_union_of_eight_boxes(const struct tact_rim_box_group *e, float low[3],
                                              float high[3])
{
    for (int d = 0; d < 3; d++) {
        const float *l = (const float *)&e->lower[d], *u = (const float *)&e->upper[d];
        float l0 = l[0] < l[1] ? l[0] : l[1], l1 = l[2] < l[3] ? l[2] : l[3];
        float l2 = l[4] < l[5] ? l[4] : l[5], l3 = l[6] < l[7] ? l[6] : l[7];
        float u0 = u[0] > u[1] ? u[0] : u[1], u1 = u[2] > u[3] ? u[2] : u[3];
        float u2 = u[4] > u[5] ? u[4] : u[5], u3 = u[6] > u[7] ? u[6] : u[7];
        l0 = l0 < l1 ? l0 : l1;
        l2 = l2 < l3 ? l2 : l3;
        u0 = u0 > u1 ? u0 : u1;
        u2 = u2 > u3 ? u2 : u3;
        low[d] = l0 < l2 ? l0 : l2;
        high[d] = u0 > u2 ? u0 : u2;
    }
}

TACT_INLINE void set_node_box(struct tact_rim_box_group *e, uint32_t k, const float low[3],
                              const float high[3])
{
    for (int d = 0; d < 3; d++) {
        ((float *)&e->lower[d])[k] = low[d];
        ((float *)&e->upper[d])[k] = high[d];
    }
}

/* Builds the tree of boxes over the near leaves of a side, eight by eight, with at least one
 * level. */
TACT_INLINE void build_box_tree(struct tact_rim_mesh *side,
                                const struct tact_leaf_pairing_tree *pairing)
{
    static const float lower_corner_of_empty_box[3] = {INFINITY, INFINITY, INFINITY};
    static const float upper_corner_of_empty_box[3] = {-INFINITY, -INFINITY, -INFINITY};
    uint32_t count = side->count = pairing->leaves, leaf_group_count = (count + 7) / 8, first = 0;
    for (uint32_t e = 0; e < leaf_group_count; e++) {
        for (int d = 0; d < 3; d++) {
            side->box_groups[e].lower[d] = pairing->leaf_lower[d][e];
            side->box_groups[e].upper[d] = pairing->leaf_upper[d][e];
        }
    }
    side->top = 0;
    side->level[0] = 0;
    for (; count > 8 || side->top == 0;
         count = leaf_group_count, leaf_group_count = (leaf_group_count + 7) / 8) {
        uint32_t next = first + leaf_group_count;
        for (uint32_t k = count; k < 8 * leaf_group_count; k++) {
            set_node_box(&side->box_groups[first + k / 8], k % 8, lower_corner_of_empty_box,
                         upper_corner_of_empty_box);
        }
        for (uint32_t e = 0; e < leaf_group_count; e++) {
            float low[3], high[3];
            compute_union_of_eight_boxes(&side->box_groups[first + e], low, high);
            set_node_box(&side->box_groups[next + e / 8], e % 8, low, high);
        }
        first = next;
        side->level[++side->top] = next;
    }
    for (uint32_t k = count; k < 8; k++) {
        set_node_box(&side->box_groups[first], k, lower_corner_of_empty_box,
                     upper_corner_of_empty_box);
    }
}

/* Places leaf i of a side and computes its tight box; returns NULL where the capacity is exceeded.
 */
TACT_INLINE struct tact_rim_leaf *
transform_leaf_to_prism_frame(struct tact_rim *rim, int of, uint32_t i, float low[3], float high[3])
{
    struct tact_rim_mesh *side = &rim->side[of];
    const struct tact_leaf_pairing_tree *pairing = of ? &rim->pairing->b : &rim->pairing->a;
    if (!side->free_slot_count && side->placed_leaf_count == TACT_RIM_MAX_LEAVES) {
        return NULL;
    }
    const uint32_t at = side->free_slot_count
                            ? side->free_indices_of_leaf_array[--side->free_slot_count]
                            : side->placed_leaf_count++;
    struct tact_rim_leaf *leaf = &side->leaf[at];
    side->at[i] = at;
    tact_rim_place_leaf(&pairing->placed_mesh, pairing->leaf[i], rim->pairing->pair_units_per_metre,
                        rim->margin, leaf);
    /* bound: no coordinate of the area vector n exceeds twice the square of the largest edge */
    const double *size = (const double *)&leaf->size;
    const double most = tact_max(tact_max(size[0], size[1]), tact_max(size[2], size[3]));
    leaf->coplanar_height = 4.0 * rim->coplanarity_slack_with_shift * most * most;
    leaf->meets_other_mesh = 0;
    tact_prefetch(pairing->placed_mesh.mesh->triangles + 3 * (size_t)leaf->first, 64);
    tact_rim_leaf_bounds(leaf, low, high);
    set_node_box(&side->box_groups[i / 8], i % 8, low, high);
    for (uint32_t k = 0; k < 4; k++) {
        side->first_segment_of_triangle[4 * at + k] = TACT_RIM_NO_INDEX;
    }
    return leaf;
}

/* Mask of those among eight boxes that overlap a given one. */
TACT_INLINE uint32_t find_overlapping_boxes_of_8(const struct tact_rim_box_group *e,
                                                 const float low[3], const float high[3])
{
    uint32_t bits;
    tact_i8 keep = (e->lower[0] <= high[0]) & (e->upper[0] >= low[0]);
    for (int d = 1; d < 3; d++) {
        keep &= (e->lower[d] <= high[d]) & (e->upper[d] >= low[d]);
    }
    tact_i8_mask_to_bits(&keep, &bits);
    return bits;
}

TACT_INLINE void get_bounds_of_leaf_box(const struct tact_rim_mesh *side, uint32_t box,
                                        float low[3], float high[3])
{
    uint32_t k = box & 0xFFFF;
    const struct tact_rim_box_group *e = &side->box_groups[side->level[box >> 16] + k / 8];
    for (int d = 0; d < 3; d++) {
        low[d] = ((const float *)&e->lower[d])[k % 8];
        high[d] = ((const float *)&e->upper[d])[k % 8];
    }
}

/* 1 where a box of one side meets any leaf of the other. */
TACT_INLINE int does_box_meet_any_leaf(const struct tact_rim_mesh *side, uint32_t box,
                                       const struct tact_rim_mesh *opposite_rim_mesh)
{
    uint32_t stack[8 * TACT_RIM_BOX_LEVELS], top = 0;
    float low[3], high[3];
    get_bounds_of_leaf_box(side, box, low, high);
    stack[top++] = tact_rim_box_key((uint32_t)opposite_rim_mesh->top, 0);
    while (top > 0) {
        uint32_t level = stack[--top] >> 16, at = stack[top] & 0xFFFF;
        uint32_t bits = find_overlapping_boxes_of_8(
            &opposite_rim_mesh->box_groups[opposite_rim_mesh->level[level] + at], low, high);
        if (bits && level == 0) {
            return 1;
        }
        for (; bits; bits &= bits - 1) {
            stack[top++] = tact_rim_box_key(level - 1, 8 * at + (uint32_t)__builtin_ctz(bits));
        }
    }
    return 0;
}

/* Lists the groups of eight leaves of B of which some meet a box of A; returns their number. */
TACT_INLINE uint32_t list_near_leaf_groups(struct tact_rim *rim, uint32_t box)
{
    const struct tact_rim_mesh *b = &rim->side[1];
    uint32_t stack[8 * TACT_RIM_BOX_LEVELS], top = 0, n = 0;
    float low[3], high[3];
    get_bounds_of_leaf_box(&rim->side[0], box, low, high);
    stack[top++] = tact_rim_box_key((uint32_t)b->top, 0);
    while (top > 0) {
        uint32_t level = stack[--top] >> 16, at = stack[top] & 0xFFFF;
        uint32_t bits =
            find_overlapping_boxes_of_8(&b->box_groups[b->level[level] + at], low, high);
        if (level == 0) {
            rim->near_leaf_groups[n] = at;
            n += bits != 0;
            continue;
        }
        for (; bits; bits &= bits - 1) {
            stack[top++] = tact_rim_box_key(level - 1, 8 * at + (uint32_t)__builtin_ctz(bits));
        }
    }
    return n;
}

/* A group of eight adjacent leaves of A, and their boxes. */
struct leaf_group {
    uint32_t first, count;
    float low[8][3], high[8][3];
};

/* Matches leaf i of a group of A with leaf k of B, whose boxes overlap: lists the triangles that
 * may cross. */
TACT_INLINE int match_leaf_pair(struct tact_rim *rim, const struct leaf_group *leaf_group,
                                uint32_t i, uint32_t k)
{
    struct tact_rim_mesh *a = &rim->side[0], *b = &rim->side[1];
    const struct tact_leaf_pairing_tree *leaf_pairing_tree_of_mesh_a = &rim->pairing->a,
                                        *leaf_pairing_tree_of_mesh_b = &rim->pairing->b;
    const uint32_t leaf_index_a = a->at[leaf_group->first + i];
    if (b->at[k] == TACT_RIM_NO_INDEX) {
        float low[3], high[3];
        int meets_other_mesh = 1;
        if (!transform_leaf_to_prism_frame(rim, 1, k, low, high)) {
            return -EAGAIN;
        }
        for (int d = 0; d < 3; d++) {
            meets_other_mesh &=
                (low[d] <= leaf_group->high[i][d]) & (high[d] >= leaf_group->low[i][d]);
        }
        if (!meets_other_mesh) {
            return 0;
        }
    }
    const uint32_t leaf_index_b = b->at[k];
    a->leaf[leaf_index_a].meets_other_mesh = b->leaf[leaf_index_b].meets_other_mesh = 1;
    const float *lower_along_normal_a =
        (const float *)leaf_pairing_tree_of_mesh_a->leaf_lower[3] + leaf_group->first;
    const float *upper_along_normal_a =
        (const float *)leaf_pairing_tree_of_mesh_a->leaf_upper[3] + leaf_group->first;
    if ((lower_along_normal_a[i] <=
         ((const float *)leaf_pairing_tree_of_mesh_b->leaf_upper[3])[k]) &
        (upper_along_normal_a[i] >=
         ((const float *)leaf_pairing_tree_of_mesh_b->leaf_lower[3])[k])) {
        return tact_rim_queue_leaf_pair(rim, leaf_index_a, leaf_index_b);
    }
    return 0;
}

/* Matches a group of eight leaves of A with a group of eight leaves of B. */
TACT_INLINE int match_leaf_groups_of_eight(struct tact_rim *rim,
                                           const struct leaf_group *leaf_group,
                                           uint32_t leaf_group_index_b)
{
    const struct tact_rim_box_group *e = &rim->side[1].box_groups[leaf_group_index_b];
    uint64_t bits = 0;
    /* all pairs of leaves are tested together, as the number of leaves that a single one meets
     * cannot be predicted */
    for (uint32_t i = 0; i < 8; i++) {
        bits |= (uint64_t)find_overlapping_boxes_of_8(e, leaf_group->low[i], leaf_group->high[i])
                << 8 * i;
    }
    for (; bits; bits &= bits - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctzll(bits);
        if (match_leaf_pair(rim, leaf_group, bit / 8, 8 * leaf_group_index_b + bit % 8)) {
            return -EAGAIN;
        }
    }
    return 0;
}

/* Matches the eight leaves of a box of A with those of B; lists those that meet none as separated.
 */
TACT_INLINE int match_leaf_groups(struct tact_rim *rim, uint32_t box, uint32_t leaf_group_count)
{
    struct tact_rim_mesh *side = &rim->side[0];
    struct leaf_group leaf_group = {.first = 8 * (box & 0xFFFF)};
    leaf_group.count = side->count - leaf_group.first < 8 ? side->count - leaf_group.first : 8;
    for (uint32_t i = 0; i < 8; i++) {
        if (i >= leaf_group.count) {
            for (int d = 0; d < 3; d++) {
                leaf_group.low[i][d] = INFINITY;
                leaf_group.high[i][d] = -INFINITY;
            }
        } else if (!transform_leaf_to_prism_frame(rim, 0, leaf_group.first + i, leaf_group.low[i],
                                                  leaf_group.high[i])) {
            return -EAGAIN;
        }
    }
    for (uint32_t e = 0; e < leaf_group_count; e++) {
        if (match_leaf_groups_of_eight(rim, &leaf_group, rim->near_leaf_groups[e])) {
            return -EAGAIN;
        }
    }
    /* slots of leaves that meet no leaf of the other mesh are reused for the next ones */
    for (uint32_t i = 0; i < leaf_group.count; i++) {
        const uint32_t at = side->at[leaf_group.first + i],
                       meets_other_mesh = side->leaf[at].meets_other_mesh;
        side->free_indices_of_leaf_array[side->free_slot_count] = at;
        side->free_slot_count += !meets_other_mesh;
        side->separated_boxes[side->separated_box_count] =
            tact_rim_box_key(0, leaf_group.first + i);
        side->separated_box_count += !meets_other_mesh;
    }
    return 0;
}

/* 1 where nothing in a side's box meets the other side; it is then listed as separated.
 * *leaf_group_count: for eight leaves of A that do meet something, the number of groups of B to
 * match with. */
TACT_INLINE int list_box_leaves_if_separated(struct tact_rim *rim, int of, uint32_t box,
                                             uint32_t *leaf_group_count)
{
    struct tact_rim_mesh *side = &rim->side[of];
    const uint32_t level = box >> 16;
    uint32_t is_box_separated;
    *leaf_group_count = 0;
    if (level == 0) {
        const uint32_t at = side->at[box & 0xFFFF];
        is_box_separated = at == TACT_RIM_NO_INDEX || !side->leaf[at].meets_other_mesh;
    } else if (level == 1 && of == 0) {
        *leaf_group_count = list_near_leaf_groups(rim, box);
        is_box_separated = !*leaf_group_count;
    } else {
        is_box_separated = !does_box_meet_any_leaf(side, box, &rim->side[!of]);
    }
    side->separated_boxes[side->separated_box_count] = box;
    side->separated_box_count += is_box_separated;
    return (int)is_box_separated;
}

/* Partitions a side's boxes, from large to small, into those that meet nothing of the other side
 * and leaves that do; leaves of A are matched with those of B. */
TACT_INLINE int partition_separated_leaves(struct tact_rim *rim, int of)
{
    struct tact_rim_mesh *side = &rim->side[of];
    uint32_t stack[8 * TACT_RIM_BOX_LEVELS], top = 0, leaf_group_count;
    for (uint32_t k = 8; k-- > 0;) {
        stack[top++] = tact_rim_box_key((uint32_t)side->top, k);
    }
    side->separated_box_count = 0;
    while (top > 0) {
        const uint32_t box = stack[--top], level = box >> 16;
        if ((box & 0xFFFF) << 3 * level >= side->count ||
            list_box_leaves_if_separated(rim, of, box, &leaf_group_count)) {
            continue;
        }
        if (leaf_group_count && match_leaf_groups(rim, box, leaf_group_count)) {
            return -EAGAIN;
        }
        for (uint32_t k = 8; k-- > 0 && level > 0 && !leaf_group_count;) {
            stack[top++] = tact_rim_box_key(level - 1, 8 * (box & 0xFFFF) + k);
        }
    }
    return 0;
}

/* Rounding of single precision in the coordinates of the near leaves, in the unit of the pair. */
static float single_precision_rounding_margin(const struct tact_leaf_pairing *pairing)
{
    float most = 0.0F;
    for (int d = 0; d < 3; d++) {
        const float bounds_of_meshes_along_axis[4] = {pairing->a.lower[d], pairing->a.upper[d],
                                                      pairing->b.lower[d], pairing->b.upper[d]};
        for (int i = 0; i < 4; i++) {
            most = fabsf(bounds_of_meshes_along_axis[i]) > most
                       ? fabsf(bounds_of_meshes_along_axis[i])
                       : most;
        }
    }
    return 2e-6F + 2e-6F * most;
}

/* Directions in which A may be shifted off coplanar faces, in the frame: not along planes that
 * bodies are likely to share. */
enum { SHIFTS = 6 };
static const double mesh_a_shift_directions[SHIFTS][3] = {
    {0.48, 0.36, 0.8},     {-0.36, 0.8, 0.48},  {0.8, -0.48, 0.36},
    {0.28, -0.576, 0.768}, {-0.8, -0.36, 0.48}, {-0.352, 0.36, 0.864}};

/* Size of the shift of A over the slack: its square must be negligible, and its sign must decide
 * all heights. */
static const double SHIFT_TO_SLACK_RATIO = 1024.0;

/* Shifts A off coplanar faces; returns 0 where the boxes of the trees do not allow for the shift.
 */
TACT_INLINE int shift_a_off_coplanar_faces(struct tact_rim *rim, int shift_direction_number)
{
    double *to = rim->pairing->a.placed_mesh.shift;
    tact_v3_sub(to, to, rim->shift);
    tact_v3_scale(rim->shift, mesh_a_shift_directions[shift_direction_number],
                  SHIFT_TO_SLACK_RATIO * rim->slack);
    tact_v3_add(to, to, rim->shift);
    rim->coplanarity_slack_with_shift = (1.0 + SHIFT_TO_SLACK_RATIO) * rim->slack;
    tact_v3_set(rim->coplanar_face_area_correction, 0.0, 0.0, 0.0);
    tact_v3_set(rim->coplanar_half_torque, 0.0, 0.0, 0.0);
    return rim->coplanarity_slack_with_shift * (double)rim->pairing->pair_units_per_metre < 1e-6;
}

/* Finds which near leaves of the two meshes meet, and the segments in which their triangles cross.
 */
TACT_INLINE int find_overlap_rim(struct tact_rim *rim)
{
    build_box_tree(&rim->side[0], &rim->pairing->a);
    build_box_tree(&rim->side[1], &rim->pairing->b);
    rim->rim_segment_count = rim->pending_leaf_pair_count = 0;
    for (int i = 0; i < 2; i++) {
        struct tact_rim_mesh *side = &rim->side[i];
        side->placed_leaf_count = side->free_slot_count = 0;
        memset(side->at, 0xFF, side->count * sizeof *side->at);
    }
    return partition_separated_leaves(rim, 0) ||
                   tact_rim_cross_pending_triangles(rim, rim->pending_leaf_pair_count) ||
                   partition_separated_leaves(rim, 1)
               ? -EAGAIN
               : 1;
}

int tact_rim_find_segments(struct tact_rim *rim)
{
    int rc = tact_pairing_expand_to_leaves(rim->pairing, TACT_PAIRING_MAX_NODES);
    if (rc <= 0) {
        return rc;
    }
    rim->margin = single_precision_rounding_margin(rim->pairing);
    tact_v3_set(rim->shift, 0.0, 0.0, 0.0);
    rim->coplanarity_slack_with_shift = rim->slack;
    rim->has_coplanar_faces = rim->must_shift_mesh_a = 0;
    rc = find_overlap_rim(rim);
    for (int i = 0; rc < 0 && rim->must_shift_mesh_a && i < SHIFTS; i++) {
        rim->must_shift_mesh_a = 0;
        rc = shift_a_off_coplanar_faces(rim, i) ? find_overlap_rim(rim) : -EAGAIN;
    }
    return rc;
}
