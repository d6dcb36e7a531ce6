/* Signed prism pairs: the integrals over each pair of triangles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contact/moments/moments_cache_internal.h"
#include "contact/moments/moments_clip_internal.h"
#include "contact/moments/moments_columns_internal.h"
#include "contact/moments/moments_near_internal.h"
#include "contact/moments/moments_tets_internal.h"

/* Volume over the sum of columns whose difference it is: below the first, columns cancel too many
 * digits; below the second, the centroid is rounding too. */
static const double MIN_VOLUME_TO_TERMS_RATIO = 1e-4, MIN_CENTROID_VOLUME = 1e-12;

/* Square of the overlap's size over that of its distance from the frame's origin, below which the
 * second moment is lost in the shift to its own centroid. */
static const double MIN_SIZE_OVER_DISTANCE_SQUARED = 1e-6;

/* Transform of a mesh's vertices to the prism frame. */
struct frame_transform {
    const struct tact_mesh *mesh;
    tact_d4 column[3], shift;
};

static void make_transform_to_frame(const struct tact_mesh *mesh,
                                    const struct tact_prism_frame *frame,
                                    const struct tact_pose *pose, struct frame_transform *out)
{
    double rot[9], shift[3];
    tact_prism_transform_to_frame(frame, pose, rot, shift);
    out->mesh = mesh;
    for (int k = 0; k < 3; k++) {
        out->column[k] = (tact_d4){rot[k], rot[3 + k], rot[6 + k], 0.0};
    }
    out->shift = (tact_d4){shift[0], shift[1], shift[2], 0.0};
}

TACT_INLINE void place_triangle_in_prism_frame(const struct frame_transform *frame_transform,
                                               uint32_t index, tact_d4 t[3])
{
    const uint32_t *corner = frame_transform->mesh->triangles + 3 * (size_t)index;
    for (int k = 0; k < 3; k++) {
        const double *v = frame_transform->mesh->vertices + 3 * (size_t)corner[k];
        t[k] = frame_transform->column[0] * v[0] + frame_transform->column[1] * v[1] +
               frame_transform->column[2] * v[2] + frame_transform->shift;
    }
}

/* Places four triangles of B in the prism frame. */
TACT_INLINE void place_four_triangles(const struct frame_transform *frame_transform,
                                      const uint32_t index[4], struct tact_face t[4])
{
    tact_d4 p[3][3];
    for (size_t k = 0; k < 3; k++) {
        const double *from[4];
        for (int i = 0; i < 4; i++) {
            from[i] = frame_transform->mesh->vertices +
                      3 * (size_t)frame_transform->mesh->triangles[3 * (size_t)index[i] + k];
        }
        const tact_d4 x = TACT_D4_GATHER(from, 0), y = TACT_D4_GATHER(from, 1),
                      z = TACT_D4_GATHER(from, 2);
        for (int c = 0; c < 3; c++) {
            p[k][c] = frame_transform->column[0][c] * x + frame_transform->column[1][c] * y +
                      frame_transform->column[2][c] * z + frame_transform->shift[c];
        }
    }
    tact_faces_set_from_corners(p, 0, 0.0, t);
}

/* Clips a polygon by the oriented box of a body. */
static void clip_polygon_by_mesh_box(struct tact_clipped_polygon *p,
                                     const struct tact_bounds_in_prism_frame *box)
{
    for (int side = 0; side < 6; side++) {
        const double *row = box->row[side / 2];
        double value[TACT_POLYGON], kept[TACT_POLYGON];
        for (int i = 0; i < p->n; i++) {
            const tact_d4 *r = &p->corner[p->buffer_in_use][i];
            double x = row[0] * (*r)[0] + row[1] * (*r)[1] + row[2] * (*r)[2];
            value[i] = side % 2 ? box->upper[side / 2] - x : x - box->lower[side / 2];
        }
        tact_clip_nonconvex_polygon(p, value, kept);
    }
}

/* Adds the volume enclosed by a polygon of A and B's surface above it, in the direction of the
 * origin. */
static void add_volume_under_polygon(struct tact_tetrahedron_sums *tets,
                                     const struct tact_clipped_polygon *clipped_polygon_of_mesh_a,
                                     const double *height, double tau)
{
    struct tact_clipped_polygon p = *clipped_polygon_of_mesh_a;
    clip_polygon_by_mesh_box(&p, &tets->box[1]);
    tact_tetrahedron_sums_add_polygon(tets, p.corner[p.buffer_in_use], p.n, tau);
    p = *clipped_polygon_of_mesh_a;
    for (int i = 0; i < p.n; i++) {
        p.corner[p.buffer_in_use][i][2] += height[i];
    }
    clip_polygon_by_mesh_box(&p, &tets->box[0]);
    tact_tetrahedron_sums_add_polygon(tets, p.corner[p.buffer_in_use], p.n, -tau);
}

/* Adds the overlap of two triangles' prisms to the columns or, where tets is not NULL, to the
 * tetrahedra. value: TACT_FACE_EDGE_VALUES_AT() of t at the corners of s. */
TACT_INLINE void add_overlap_of_triangle_prisms(struct tact_prism_columns *columns,
                                                struct tact_tetrahedron_sums *tets,
                                                const tact_d4 s[3], const struct tact_face *t,
                                                const tact_d4 value[3], double slack)
{
    double tau = t->height[3], height[TACT_POLYGON];
    struct tact_clipped_polygon p;
    p.n = 3;
    p.buffer_in_use = 0;
    for (int k = 0; k < 3; k++) {
        p.corner[0][k] = s[k];
    }
    tact_clip_polygon_by_face(&p, t, value);
    if (p.n < 3) {
        return;
    }
    int corners_below_plane =
        tact_clip_compute_corner_heights(t, p.corner[p.buffer_in_use], p.n, slack, height);
    if (corners_below_plane == p.n) {
        return;
    }
    if (corners_below_plane < 0) {
        tau *= 0.5;
        memset(height, 0, sizeof height);
    } else if (corners_below_plane) {
        tact_clip_polygon_below_face(&p, height);
        if (p.n < 3) {
            return;
        }
    }
    if (tets) {
        add_volume_under_polygon(tets, &p, height, tau);
    } else {
        tact_prism_columns_add_triangle(columns, p.corner[p.buffer_in_use], height, p.n, tau);
    }
}

/* Adds the overlap of the prisms of each listed pair of triangles. */
TACT_INLINE void
add_listed_prism_pairs(struct tact_prism_columns *columns, struct tact_tetrahedron_sums *tets,
                       const struct frame_transform *a, const struct frame_transform *b,
                       const struct tact_prism_pair *pairs, size_t count, double slack)
{
    tact_d4 s[3] = {{0.0}};
    for (size_t i = 0; i < count; i += 4) {
        struct tact_face t[4];
        uint32_t triangles_of_b[4];
        for (size_t k = 0; k < 4; k++) {
            triangles_of_b[k] = pairs[i + k < count ? i + k : i].b;
        }
        place_four_triangles(b, triangles_of_b, t);
        for (size_t k = 0; k < 4 && i + k < count; k++) {
            tact_d4 value[3];
            if (i + k == 0 || pairs[i + k].a != pairs[i + k - 1].a) {
                place_triangle_in_prism_frame(a, pairs[i + k].a, s);
            }
            for (int c = 0; c < 3; c++) {
                value[c] = TACT_FACE_EDGE_VALUES_AT(&t[k], s[c]);
            }
            if (t[k].height[3] != 0.0) {
                add_overlap_of_triangle_prisms(columns, tets, s, &t[k], value, slack);
            }
        }
    }
}

static void add_prism_pair_sums(const struct frame_transform *a, const struct frame_transform *b,
                                const struct tact_prism_pair *pairs, size_t count, double slack,
                                struct tact_moment_sums *sums)
{
    struct tact_prism_columns columns;
    memset(&columns, 0, sizeof columns);
    add_listed_prism_pairs(&columns, NULL, a, b, pairs, count, slack);
    tact_prism_columns_sum_queued(&columns, sums);
}

static void enlarged_root_box_in_frame(const struct frame_transform *frame_transform, double slack,
                                       struct tact_bounds_in_prism_frame *box)
{
    const struct tact_mesh_node *root_node = &frame_transform->mesh->nodes[0];
    for (int k = 0; k < 3; k++) {
        double enlarged_half_width =
                   4.0 * slack + 1e-3 * (root_node->upper[k] - root_node->lower[k]),
               middle = 0.0;
        for (int j = 0; j < 3; j++) {
            box->row[k][j] = frame_transform->column[k][j];
            middle += frame_transform->column[k][j] * frame_transform->shift[j];
        }
        box->lower[k] = root_node->lower[k] + middle - enlarged_half_width;
        box->upper[k] = root_node->upper[k] + middle + enlarged_half_width;
    }
}

/* 1 where columns about the frame's origin leave too few digits. */
static int have_column_sums_cancelled(const struct tact_moment_sums *sums)
{
    double v = sums->volume, away = tact_v3_dot(sums->first, sums->first) / v;
    double size = sums->second[0] + sums->second[1] + sums->second[2];
    return fabs(v) < MIN_VOLUME_TO_TERMS_RATIO * sums->volume_term_magnitude ||
           (v > 0.0 && size - away < MIN_SIZE_OVER_DISTANCE_SQUARED * away);
}

/* Computes volume, first and second moment again, as tetrahedra about a point in the overlap,
 * which becomes the origin of all sums. */
static void sum_tetrahedra_about_inner_point(const struct frame_transform *a,
                                             const struct frame_transform *b,
                                             const struct tact_prism_pair *pairs, size_t count,
                                             double slack, struct tact_moment_sums *sums,
                                             double origin[3])
{
    struct tact_tetrahedron_sums tets;
    memset(&tets, 0, sizeof tets);
    enlarged_root_box_in_frame(a, slack, &tets.box[0]);
    enlarged_root_box_in_frame(b, slack, &tets.box[1]);
    if (sums->volume > MIN_CENTROID_VOLUME * sums->volume_term_magnitude) {
        tact_v3_scale(tets.origin, sums->first, 1.0 / sums->volume);
    }
    add_listed_prism_pairs(NULL, &tets, a, b, pairs, count, slack);
    tact_tetrahedron_sums_to_moment_sums(&tets, sums);
    tact_v3_copy(origin, tets.origin);
}

/* Number of contributing triangle pairs above which other methods are faster. */
enum { MAX_FOUND = 512 };

/* Integration of the columns of the triangle pairs found so far. */
struct found {
    struct tact_prism_columns columns;
    double slack;
    uint32_t count;
};

/* A pair of triangles s of A and t of B that contributes, with TACT_FACE_EDGE_VALUES_AT() of t at
 * the corners of s. */
struct contributing_prism_pair {
    tact_d4 value[3];
    const struct tact_face *s, *t;
};

/* 1 where t of B, raised, is above s of A somewhere, as the search requires of the bounds of both:
 * a cached list has other pairs too, whose sums are rounding. */
TACT_INLINE int do_face_heights_overlap(const struct tact_face *s, const struct tact_face *t,
                                        double height_added_to_mesh_b)
{
    const double lowest_corner_height_a =
        tact_min(tact_min(s->corner[0][2], s->corner[1][2]), s->corner[2][2]);
    const double highest_corner_height_b =
        tact_max(tact_max(t->corner[0][2], t->corner[1][2]), t->corner[2][2]);
    return highest_corner_height_b + height_added_to_mesh_b > lowest_corner_height_a;
}

/* Adds the sums of the pairs of prisms that contribute. */
TACT_INLINE int add_found_prism_pairs(void *user, struct tact_leaf_pairing *pairing,
                                      uint32_t leaf_a, const struct tact_triangle_pair *pairs,
                                      uint32_t count)
{
    struct found *found = user;
    struct contributing_prism_pair contributing_prism_pair[TACT_PAIRING_BATCH];
    const double height_added_to_mesh_b =
        pairing->b.placed_mesh.slack * (1.0 + TACT_MAX_FACE_SLOPE);
    (void)leaf_a;
    while (count) {
        uint32_t n = 0, batch = count < TACT_PAIRING_BATCH ? count : TACT_PAIRING_BATCH;
        for (uint32_t i = 0; i < batch; i++) {
            struct contributing_prism_pair *to = &contributing_prism_pair[n];
            to->s = &pairing->face_a[pairs[i].a];
            to->t = &pairing->face_b[pairs[i].b];
            n += (uint32_t)(tact_faces_may_prisms_overlap(to->s, to->t, to->value) &&
                            do_face_heights_overlap(to->s, to->t, height_added_to_mesh_b));
        }
        found->count += n;
        if (found->count > MAX_FOUND) {
            return -EAGAIN;
        }
        for (uint32_t i = 0; i < n; i++) {
            const struct contributing_prism_pair *c = &contributing_prism_pair[i];
            add_overlap_of_triangle_prisms(&found->columns, NULL, c->s->corner, c->t, c->value,
                                           found->slack);
        }
        pairs += batch;
        count -= batch;
    }
    return 0;
}

static int add_near_prism_pairs(struct tact_leaf_pairing *pairing,
                                struct tact_cached_pair_list *list, double slack,
                                struct tact_moment_sums *sums)
{
    struct found found;
    int rc = 0;
    memset(&found, 0, sizeof found);
    found.slack = slack;
    if (list && !list->is_cached_list_valid) {
        tact_cache_make_triangle_pair_list(list, pairing);
    }
    if (list && list->is_cached_list_valid) {
        tact_cache_transform_list_triangles(list, pairing);
        rc = add_found_prism_pairs(&found, pairing, 0, list->pair, list->count);
    } else {
        rc = tact_pairing_expand_to_leaves(pairing, TACT_PAIRING_LEAVES);
        rc = rc > 0 ? tact_pairing_match_leaves(pairing, 0.0, add_found_prism_pairs, &found) : rc;
    }
    tact_prism_columns_sum_queued(&found.columns, sums);
    return rc ? -EAGAIN : 0;
}

TACT_DISPATCH_BY_CPU(int, tact_prism_moments_without_list,
                     (const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                      struct tact_moments *out),
                     (a, pa, b, pb, frame, scratch, out))
{
    struct tact_moment_sums sums;
    double slack = tact_prism_slack(a, pa, b, pb);
    struct tact_leaf_pairing *pairing = tact_pairing_place_meshes(a, pa, b, pb, frame, scratch);
    double normal[3];
    tact_m3_mul_v3(normal, frame->axes, frame->normal);
    if (add_near_prism_pairs(pairing, tact_cache_find_pair_list(scratch->cache, pairing, normal),
                             slack, &sums)) {
        return -EAGAIN;
    }
    /* the overlap is measured again, from a list of the triangle pairs */
    if (sums.volume_term_magnitude > 0.0 && have_column_sums_cancelled(&sums)) {
        return -EAGAIN;
    }
    return tact_moment_sums_finish(&sums, frame->axes, frame->origin, out);
}

TACT_DISPATCH_BY_CPU(int, tact_prism_sum,
                     (const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const struct tact_prism_frame *frame, const struct tact_prism_pair *pairs,
                      size_t count, struct tact_moments *out),
                     (a, pa, b, pb, frame, pairs, count, out))
{
    struct frame_transform transform_of_mesh_a_to_frame, transform_b;
    struct tact_moment_sums sums;
    make_transform_to_frame(a, frame, pa, &transform_of_mesh_a_to_frame);
    make_transform_to_frame(b, frame, pb, &transform_b);
    double slack = tact_prism_slack(a, pa, b, pb);
    add_prism_pair_sums(&transform_of_mesh_a_to_frame, &transform_b, pairs, count, slack, &sums);
    double local[3] = {0.0}, origin[3];
    if (have_column_sums_cancelled(&sums)) {
        sum_tetrahedra_about_inner_point(&transform_of_mesh_a_to_frame, &transform_b, pairs, count,
                                         slack, &sums, local);
    }
    tact_m3_tmul_v3(origin, frame->axes, local);
    tact_v3_add(origin, origin, frame->origin);
    return tact_moment_sums_finish(&sums, frame->axes, origin, out);
}
