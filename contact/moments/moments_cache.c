/* Cached lists of near triangles: search for a list that is valid for a pair of meshes at their
 * present poses. */
#include "contact/moments/moments_cache_internal.h"

#include <stdlib.h>

/* Margin of a list, over the mean distance of the corners of the finer mesh; and the fraction of
 * it that two bodies may move between queries for a list to be worthwhile. */
static const double PAIR_LIST_MARGIN_RATIO = 0.5, SLOW_MOTION_FRACTION = 0.25;

/* Relative motion, in margins, beyond which a cached list is abandoned. */
static const double MAX_MOTION_IN_LIST_MARGINS = 64.0;

static void set_cached_mesh_placement(const struct tact_leaf_pairing *pairing,
                                      const double normal[3],
                                      struct tact_cached_placement *placement_in_prism_frame)
{
    for (int i = 0; i < 2; i++) {
        const struct tact_placed_mesh *p = i ? &pairing->b.placed_mesh : &pairing->a.placed_mesh;
        double middle[3];
        tact_mesh_box_length_unit(p->mesh, middle);
        for (int k = 0; k < 3; k++) {
            tact_v3_copy(placement_in_prism_frame->row[i][k], p->rot + 3 * k);
            placement_in_prism_frame->middle[i][k] =
                tact_v3_dot(p->rot + 3 * k, middle) + p->shift[k];
        }
        tact_m3_tmul_v3(placement_in_prism_frame->row[i][3], p->rot, normal);
        placement_in_prism_frame->middle[i][3] =
            tact_v3_dot(normal, placement_in_prism_frame->middle[i]);
    }
}

/* Upper bound of the relative motion of a point of A and one of B along an axis of the frame or
 * its normal [m]. */
static double bound_relative_motion(const struct tact_cached_pair_list *cached_triangle_pair_list,
                                    const struct tact_cached_placement *from,
                                    const struct tact_cached_placement *to)
{
    double max_relative_mesh_motion = 0.0;
    for (int k = 0; k < 4; k++) {
        double relative_motion_along_axis =
            fabs((to->middle[0][k] - from->middle[0][k]) - (to->middle[1][k] - from->middle[1][k]));
        for (int i = 0; i < 2; i++) {
            double d[3];
            tact_v3_sub(d, to->row[i][k], from->row[i][k]);
            relative_motion_along_axis +=
                cached_triangle_pair_list->bounding_radius_of_mesh[i] * tact_v3_norm(d);
        }
        max_relative_mesh_motion = tact_max(relative_motion_along_axis, max_relative_mesh_motion);
    }
    return max_relative_mesh_motion;
}

static void init_cached_pair_list(struct tact_cached_pair_list *cached_triangle_pair_list,
                                  const struct tact_leaf_pairing *pairing)
{
    cached_triangle_pair_list->is_cached_list_valid = 0;
    cached_triangle_pair_list->margin = INFINITY;
    for (int i = 0; i < 2; i++) {
        const struct tact_mesh *mesh =
            i ? pairing->b.placed_mesh.mesh : pairing->a.placed_mesh.mesh;
        double half[3];
        tact_v3_sub(half, mesh->nodes[0].upper, mesh->nodes[0].lower);
        cached_triangle_pair_list->bounding_radius_of_mesh[i] = 0.5 * tact_v3_norm(half);
        cached_triangle_pair_list->margin = tact_min(
            cached_triangle_pair_list->margin,
            PAIR_LIST_MARGIN_RATIO * cached_triangle_pair_list->bounding_radius_of_mesh[i] /
                sqrt((double)mesh->triangle_count));
    }
}

TACT_DISPATCH_BY_CPU(struct tact_cached_pair_list *, tact_cache_find_pair_list,
                     (struct tact_pair_list_cache * triangle_pair_list_cache,
                      const struct tact_leaf_pairing *pairing, const double normal[3]),
                     (triangle_pair_list_cache, pairing, normal))
{
    const uint64_t a = pairing->a.placed_mesh.mesh->wide->mesh_serial_number,
                   b = pairing->b.placed_mesh.mesh->wide->mesh_serial_number;
    int best = -1, oldest = 0;
    struct tact_cached_placement now;
    double least_relative_motion_bound = INFINITY;
    set_cached_mesh_placement(pairing, normal, &now);
    for (int i = 0; i < TACT_CACHE_LISTS; i++) {
        const struct tact_cached_pair_list *cached_triangle_pair_list =
            &triangle_pair_list_cache->pair_lists[i];
        const uint64_t *mesh_serial_number = triangle_pair_list_cache->keys[i].mesh_serial_number;
        oldest = triangle_pair_list_cache->keys[i].last_use_time_of_list <
                         triangle_pair_list_cache->keys[oldest].last_use_time_of_list
                     ? i
                     : oldest;
        if (mesh_serial_number[0] == a && mesh_serial_number[1] == b) {
            double relative_mesh_motion_bound = bound_relative_motion(
                cached_triangle_pair_list, &cached_triangle_pair_list->placement_at_last_use, &now);
            if (relative_mesh_motion_bound < least_relative_motion_bound &&
                relative_mesh_motion_bound <
                    MAX_MOTION_IN_LIST_MARGINS * cached_triangle_pair_list->margin) {
                least_relative_motion_bound = relative_mesh_motion_bound;
                best = i;
            }
        }
    }
    if (best < 0) {
        best = oldest;
        triangle_pair_list_cache->keys[best].mesh_serial_number[0] = a;
        triangle_pair_list_cache->keys[best].mesh_serial_number[1] = b;
        init_cached_pair_list(&triangle_pair_list_cache->pair_lists[best], pairing);
    }
    struct tact_cached_pair_list *cached_triangle_pair_list =
        &triangle_pair_list_cache->pair_lists[best];
    triangle_pair_list_cache->keys[best].last_use_time_of_list =
        ++triangle_pair_list_cache->last_use_clock_of_cache;
    cached_triangle_pair_list->placement_at_last_use = now;
    /* a hundredth of a margin covers the rounding of the frame's coordinates by far */
    if (cached_triangle_pair_list->is_cached_list_valid &&
        bound_relative_motion(cached_triangle_pair_list,
                              &cached_triangle_pair_list->placement_when_list_made,
                              &now) < 0.99 * cached_triangle_pair_list->margin) {
        return cached_triangle_pair_list;
    }
    cached_triangle_pair_list->is_cached_list_valid = 0;
    cached_triangle_pair_list->placement_when_list_made = now;
    return least_relative_motion_bound < SLOW_MOTION_FRACTION * cached_triangle_pair_list->margin
               ? cached_triangle_pair_list
               : NULL;
}

/* A cached list under construction, with the positions in it of the triangles of the present leaf
 * of A, and of B; or NOWHERE. */
struct tact_triangle_pair_list_builder {
    struct tact_cached_pair_list *cached_triangle_pair_list;
    uint32_t leaf_a;
    uint16_t face_index_a[4], face_index_b[4 * TACT_PAIRING_LEAVES];
};

enum { TACT_CACHE_NOWHERE = UINT16_MAX };

/* Position of a triangle in a cached list, to which it is added where it is missing. -ENOSPC: the
 * capacity is exceeded.
 */
static int tact_cache_find_or_add_triangle(uint32_t face, uint16_t *at, uint32_t *faces,
                                           uint32_t *count)
{
    if (*at == TACT_CACHE_NOWHERE) {
        if (*count == TACT_CACHE_FACES) {
            return -ENOSPC;
        }
        *at = (uint16_t)*count;
        faces[(*count)++] = face;
    }
    return *at;
}

/* Adds pairs of triangles to a cached list. */
static int tact_cache_add_triangle_pairs(void *user, struct tact_leaf_pairing *w, uint32_t leaf_a,
                                         const struct tact_triangle_pair *pairs, uint32_t count)
{
    struct tact_triangle_pair_list_builder *list_builder = user;
    struct tact_cached_pair_list *cached_triangle_pair_list =
        list_builder->cached_triangle_pair_list;
    if (list_builder->leaf_a != leaf_a) {
        list_builder->leaf_a = leaf_a;
        memset(list_builder->face_index_a, 0xFF, sizeof list_builder->face_index_a);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = pairs[i].a, b = pairs[i].b;
        if (!tact_faces_may_overlap_after_motion(&w->face_a[a], &w->face_b[b],
                                                 cached_triangle_pair_list->margin)) {
            continue;
        }
        int face_index_a = tact_cache_find_or_add_triangle(
            4 * leaf_a + a, &list_builder->face_index_a[a],
            cached_triangle_pair_list->triangle_of_face_a, &cached_triangle_pair_list->faces_a);
        int face_index_b = tact_cache_find_or_add_triangle(
            4 * w->b.leaf[b / 4] + b % 4, &list_builder->face_index_b[b],
            cached_triangle_pair_list->triangle_of_face_b, &cached_triangle_pair_list->faces_b);
        if (face_index_a < 0 || face_index_b < 0 ||
            cached_triangle_pair_list->count == TACT_CACHE_PAIRS) {
            return -ENOSPC;
        }
        cached_triangle_pair_list->pair[cached_triangle_pair_list->count++] =
            (struct tact_triangle_pair){(uint16_t)face_index_a, (uint16_t)face_index_b};
    }
    return 0;
}

/* Fills the last group of four triangles of a list by repeating one. */
static void tact_cache_pad_faces_to_four(uint32_t *faces, uint32_t count)
{
    for (; count % 4; count++) {
        faces[count] = faces[0];
    }
}

void tact_cache_make_triangle_pair_list(struct tact_cached_pair_list *cached_triangle_pair_list,
                                        struct tact_leaf_pairing *w)
{
    struct tact_triangle_pair_list_builder list_builder;
    w->a.placed_mesh.margin =
        (float)cached_triangle_pair_list->margin * w->pair_units_per_metre * 1.001F + 1e-6F;
    int rc = tact_pairing_expand_to_leaves(w, TACT_PAIRING_LEAVES);
    w->a.placed_mesh.margin = 0.0F;
    cached_triangle_pair_list->count = cached_triangle_pair_list->faces_a =
        cached_triangle_pair_list->faces_b = 0;
    if (rc > 0) {
        list_builder.cached_triangle_pair_list = cached_triangle_pair_list;
        list_builder.leaf_a = UINT32_MAX;
        memset(list_builder.face_index_b, 0xFF,
               4 * w->b.leaves * sizeof *list_builder.face_index_b);
        rc = tact_pairing_match_leaves(w, cached_triangle_pair_list->margin,
                                       tact_cache_add_triangle_pairs, &list_builder);
    }
    tact_cache_pad_faces_to_four(cached_triangle_pair_list->triangle_of_face_a,
                                 cached_triangle_pair_list->faces_a);
    tact_cache_pad_faces_to_four(cached_triangle_pair_list->triangle_of_face_b,
                                 cached_triangle_pair_list->faces_b);
    cached_triangle_pair_list->is_cached_list_valid = rc >= 0;
}

/* Corners of four triangles of a cached list at the pose of their body. */
static void tact_cache_place_four_triangles(const struct tact_placed_mesh *body,
                                            const uint32_t face[4], tact_d4 p[3][3])
{
    const struct tact_mesh_leaf *leaves = body->mesh->wide->leaves;
    const double *from[4];
    for (int i = 0; i < 4; i++) {
        from[i] = &leaves[face[i] / 4].corner[0][0][face[i] % 4];
    }
    for (int k = 0; k < 3; k++) {
        const tact_d4 x = TACT_D4_GATHER(from, 12 * k), y = TACT_D4_GATHER(from, 12 * k + 4);
        const tact_d4 z = TACT_D4_GATHER(from, 12 * k + 8);
        tact_leaf_place_corner(body, &x, &y, &z, p[k]);
    }
}

void tact_cache_transform_list_triangles(
    const struct tact_cached_pair_list *cached_triangle_pair_list, struct tact_leaf_pairing *w)
{
    tact_d4 p[3][3];
    for (uint32_t i = 0; i < cached_triangle_pair_list->faces_a; i += 4) {
        tact_cache_place_four_triangles(&w->a.placed_mesh,
                                        &cached_triangle_pair_list->triangle_of_face_a[i], p);
        tact_faces_set_from_corners(p, 1, 0.0, &w->face_a[i]);
    }
    for (uint32_t i = 0; i < cached_triangle_pair_list->faces_b; i += 4) {
        tact_cache_place_four_triangles(&w->b.placed_mesh,
                                        &cached_triangle_pair_list->triangle_of_face_b[i], p);
        tact_faces_set_from_corners(p, 0, w->b.placed_mesh.slack, &w->face_b[i]);
    }
}

TACT_DISPATCH_BY_CPU(struct tact_pair_list_cache *, tact_prism_cache_create, (void), ())
{
    return calloc(1, sizeof(struct tact_pair_list_cache));
}
