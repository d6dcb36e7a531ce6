/* Choice of the method for each pair of shapes, and what the methods share. */
#include "contact/moments/moments.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/moments/moments_internal.h"

struct tact_moments_scratch *tact_moments_scratch_create(size_t pairs)
{
    if (pairs > (SIZE_MAX - sizeof(struct tact_moments_scratch)) / sizeof(struct tact_prism_pair)) {
        return NULL;
    }
    size_t size = sizeof(struct tact_moments_scratch) + pairs * sizeof(struct tact_prism_pair);
    struct tact_moments_scratch *scratch = calloc(1, size);
    if (!scratch) {
        return NULL;
    }
    scratch->capacity = pairs;
    scratch->work = tact_prism_work_create();
    scratch->cache = tact_prism_cache_create();
    scratch->rim = tact_rim_create();
    if (!scratch->work || !scratch->cache || !scratch->rim) {
        tact_moments_scratch_destroy(scratch);
        return NULL;
    }
    return scratch;
}

const uint64_t *tact_moments_counts(const struct tact_moments_scratch *scratch)
{
    return scratch->counts;
}

void tact_moments_scratch_destroy(struct tact_moments_scratch *scratch)
{
    if (scratch) {
        free(scratch->work);
        free(scratch->cache);
        free(scratch->rim);
    }
    free(scratch);
}

enum tact_moments_method tact_moments_method(const struct tact_shape *a, const struct tact_shape *b,
                                             int *is_swapped)
{
    *is_swapped = 0;
    int is_sphere_a = a->kind == TACT_SHAPE_SPHERE, is_sphere_b = b->kind == TACT_SHAPE_SPHERE;
    int is_halfspace_a = a->kind == TACT_SHAPE_HALFSPACE,
        is_halfspace_b = b->kind == TACT_SHAPE_HALFSPACE;
    int is_mesh_a = !is_sphere_a && !is_halfspace_a && a->mesh,
        is_mesh_b = !is_sphere_b && !is_halfspace_b && b->mesh;
    int is_capsule_a = a->kind == TACT_SHAPE_CAPSULE, is_capsule_b = b->kind == TACT_SHAPE_CAPSULE;
    int is_ellipsoid_a = a->kind == TACT_SHAPE_ELLIPSOID,
        is_ellipsoid_b = b->kind == TACT_SHAPE_ELLIPSOID;
    if (is_sphere_a && is_sphere_b) {
        return TACT_MOMENTS_SPHERE_SPHERE;
    }
    if ((is_capsule_a && is_mesh_b) || (is_mesh_a && is_capsule_b)) {
        *is_swapped = !is_capsule_a;
        return TACT_MOMENTS_CAPSULE_MESH;
    }
    if ((is_capsule_a && is_halfspace_b) || (is_halfspace_a && is_capsule_b)) {
        *is_swapped = is_halfspace_a;
        return TACT_MOMENTS_CAPSULE_HALFSPACE;
    }
    if ((is_ellipsoid_a && is_mesh_b) || (is_mesh_a && is_ellipsoid_b)) {
        *is_swapped = !is_ellipsoid_a;
        return TACT_MOMENTS_SPHERE_MESH;
    }
    if (is_mesh_a && is_mesh_b) {
        return TACT_MOMENTS_MESH_MESH;
    }
    if (((is_sphere_a || is_ellipsoid_a) && is_halfspace_b) ||
        (is_halfspace_a && (is_sphere_b || is_ellipsoid_b))) {
        *is_swapped = is_halfspace_a;
        return TACT_MOMENTS_SPHERE_HALFSPACE;
    }
    if ((is_sphere_a && is_mesh_b) || (is_mesh_a && is_sphere_b)) {
        *is_swapped = is_mesh_a;
        return TACT_MOMENTS_SPHERE_MESH;
    }
    if ((is_mesh_a && is_halfspace_b) || (is_halfspace_a && is_mesh_b)) {
        *is_swapped = is_halfspace_a;
        return TACT_MOMENTS_MESH_HALFSPACE;
    }
    return TACT_MOMENTS_NONE;
}

static void count_method_use(struct tact_moments_scratch *scratch,
                             enum tact_moments_count moments_method_to_count)
{
    if (scratch) {
        scratch->counts[moments_method_to_count]++;
    }
}

static int moments_of_mesh_and_halfspace(const struct tact_mesh *mesh, const struct tact_pose *pa,
                                         const struct tact_pose *pb,
                                         struct tact_moments_scratch *scratch,
                                         struct tact_moments *out, double *planarity)
{
    int rc = mesh->facets
                 ? tact_moments_of_convex_and_mesh(mesh, pa, NULL, pb, out, planarity, NULL)
                 : -ENOSPC;
    count_method_use(scratch, rc < 0 ? TACT_COUNT_HALF_SPACE : TACT_COUNT_CONVEX);
    return rc < 0 ? tact_moments_mesh_halfspace(mesh, pa, pb, out) : rc;
}

/* Number of triangles of two meshes together from which the method of the overlap's rim is tried
 * first: below it, prism pairs take as long and share their search between queries. */
static const size_t RIM_METHOD_MIN_TRIANGLES = 16384;

/* Moments of the overlap of two meshes from all pairs of prisms. */
static int moments_by_prism_pairs(const struct tact_mesh *a, const struct tact_pose *pa,
                                  const struct tact_mesh *b, const struct tact_pose *pb,
                                  const struct tact_prism_frame *frame,
                                  struct tact_moments_scratch *scratch, struct tact_moments *out)
{
    const struct tact_prism_pair *pairs;
    long count = tact_prism_pairs(a, pa, b, pb, frame, scratch, &pairs);
    if (count < 0) {
        return (int)count;
    }
    return tact_prism_sum(a, pa, b, pb, frame, pairs, (size_t)count, out);
}

/* Moments of two meshes by the methods for many triangles, projected along a direction, or, where
 * it is NULL, along the one in which their boxes overlap least. -ENOSPC where too much is near in
 * that projection. */
static int moments_of_meshes_projected_along(const struct tact_mesh *a, const struct tact_pose *pa,
                                             const struct tact_mesh *b, const struct tact_pose *pb,
                                             const double *direction,
                                             struct tact_moments_scratch *scratch,
                                             struct tact_moments *out)
{
    struct tact_prism_frame frame;
    const int has_many_triangles =
        a->triangle_count + b->triangle_count >= RIM_METHOD_MIN_TRIANGLES;
    if (!tact_prism_frame(a, pa, b, pb, direction, &frame)) {
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        const int rc = i == has_many_triangles
                           ? tact_prism_moments_without_list(a, pa, b, pb, &frame, scratch, out)
                           : tact_moments_by_overlap_surface(a, pa, b, pb, &frame, scratch, out);
        if (rc == -ENOSPC ? direction != NULL : rc != -EAGAIN) {
            count_method_use(scratch, i == has_many_triangles ? TACT_COUNT_PRISMS : TACT_COUNT_RIM);
            return rc;
        }
    }
    count_method_use(scratch, TACT_COUNT_ALL_PRISMS);
    return moments_by_prism_pairs(a, pa, b, pb, &frame, scratch, out);
}

static int moments_of_two_meshes(const struct tact_mesh *a, const struct tact_pose *pa,
                                 const struct tact_mesh *b, const struct tact_pose *pb,
                                 const double direction[3], struct tact_moments_scratch *scratch,
                                 struct tact_moments *out, double *planarity,
                                 struct tact_overlap_corners *corners)
{
    int rc = -ENOSPC;
    if (a->facets || b->facets) {
        rc = tact_moments_of_convex_and_mesh(a, pa, b, pb, out, planarity, corners);
    }
    if (rc >= 0 || !scratch) {
        count_method_use(scratch, TACT_COUNT_CONVEX);
        return rc;
    }
    rc = moments_of_meshes_projected_along(a, pa, b, pb, direction, scratch, out);
    /* The direction of projection is that of the last tick. Nearly all of both meshes may be near
     * in it: what counts is the part of B above A. */
    if (rc == -ENOSPC && direction) {
        count_method_use(scratch, TACT_COUNT_TURNED);
        rc = moments_of_meshes_projected_along(a, pa, b, pb, NULL, scratch, out);
    }
    return rc;
}

int tact_moments_pair(const struct tact_shape *a, const struct tact_pose *pa,
                      const struct tact_shape *b, const struct tact_pose *pb,
                      const double direction[3], struct tact_moments_scratch *scratch,
                      struct tact_moments *out)
{
    return tact_moments_measure(a, pa, b, pb, direction, scratch, out, NULL, NULL);
}

int tact_moments_measure(const struct tact_shape *a, const struct tact_pose *pa,
                         const struct tact_shape *b, const struct tact_pose *pb,
                         const double direction[3], struct tact_moments_scratch *scratch,
                         struct tact_moments *out, double *planarity,
                         struct tact_overlap_corners *corners)
{
    int is_swapped, rc = -ENOTSUP;
    enum tact_moments_method moments_method = tact_moments_method(a, b, &is_swapped);
    if (is_swapped) {
        const struct tact_shape *shape = a;
        const struct tact_pose *pose = pa;
        a = b;
        pa = pb;
        b = shape;
        pb = pose;
    }
    memset(out, 0, sizeof *out);
    if (planarity) {
        *planarity = NAN;
    }
    if (corners) {
        corners->count = 0;
    }
    switch (moments_method) {
    case TACT_MOMENTS_NONE:
        break;
    case TACT_MOMENTS_SPHERE_SPHERE:
        count_method_use(scratch, TACT_COUNT_CLOSED_FORM);
        rc = tact_moments_sphere_sphere(a->size[0], pa, b->size[0], pb, out);
        break;
    case TACT_MOMENTS_SPHERE_HALFSPACE:
        count_method_use(scratch, TACT_COUNT_CLOSED_FORM);
        rc = a->kind == TACT_SHAPE_ELLIPSOID
                 ? tact_moments_ellipsoid_halfspace(a->size, pa, pb, out)
                 : tact_moments_sphere_halfspace(a->size[0], pa, pb, out);
        break;
    case TACT_MOMENTS_SPHERE_MESH:
        count_method_use(scratch, TACT_COUNT_SPHERE_MESH);
        rc = a->kind == TACT_SHAPE_ELLIPSOID
                 ? tact_moments_ellipsoid_mesh(a->size, pa, b->mesh, pb, out)
                 : tact_moments_sphere_mesh(a->size[0], pa, b->mesh, pb, out);
        break;
    case TACT_MOMENTS_CAPSULE_MESH:
        count_method_use(scratch, TACT_COUNT_CAPSULE_MESH);
        rc = b->kind == TACT_SHAPE_CAPSULE
                 ? tact_moments_capsule_capsule(a, pa, b, pb, out)
                 : tact_moments_capsule_mesh(a->size, pa, b->mesh, pb, out);
        break;
    case TACT_MOMENTS_CAPSULE_HALFSPACE:
        count_method_use(scratch, TACT_COUNT_CLOSED_FORM);
        rc = tact_moments_capsule_halfspace(a->size, pa, pb, out);
        break;
    case TACT_MOMENTS_MESH_HALFSPACE:
        rc = moments_of_mesh_and_halfspace(a->mesh, pa, pb, scratch, out, planarity);
        break;
    case TACT_MOMENTS_MESH_MESH:
        rc = moments_of_two_meshes(a->mesh, pa, b->mesh, pb, direction, scratch, out, planarity,
                                   corners);
        break;
    }
    /* The surface of an overlap is closed: the integral of its normal over A's part is minus that
     * over B's part.
     */
    for (int i = 0; is_swapped && i < 6; i++) {
        out->gradient[i] = -out->gradient[i];
    }
    return rc;
}

/* Rotates a symmetric matrix S (xx yy zz xy xz yz): r = M^T S M. */
static void rotate_packed_symmetric_matrix(double r[6], const double s[6], const double m[9])
{
    const double full_matrix_of_packed_symmetric[9] = {s[0], s[3], s[4], s[3], s[1],
                                                       s[5], s[4], s[5], s[2]};
    double sm[9];
    tact_m3_mul(sm, full_matrix_of_packed_symmetric, m);
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        int i = row[k], j = column[k];
        r[k] = m[i] * sm[j] + m[3 + i] * sm[3 + j] + m[6 + i] * sm[6 + j];
    }
}

int tact_moment_sums_finish(const struct tact_moment_sums *sums, const double axes[9],
                            const double origin[3], struct tact_moments *out)
{
    memset(out, 0, sizeof *out);
    double v = sums->volume;
    if (!(v > 1e-13 * sums->volume_term_magnitude)) {
        return 0;
    }
    double c[3], s[6], torque[3], shift[3];
    tact_v3_scale(c, sums->first, 1.0 / v);
    s[0] = tact_max(sums->second[0] - v * c[0] * c[0], 0.0);
    s[1] = tact_max(sums->second[1] - v * c[1] * c[1], 0.0);
    s[2] = tact_max(sums->second[2] - v * c[2] * c[2], 0.0);
    s[3] = sums->second[3] - v * c[0] * c[1];
    s[4] = sums->second[4] - v * c[0] * c[2];
    s[5] = sums->second[5] - v * c[1] * c[2];
    tact_v3_cross(shift, c, sums->gradient);
    tact_v3_sub(torque, sums->torque, shift);

    out->volume = v;
    tact_m3_tmul_v3(out->centroid, axes, c);
    tact_v3_add(out->centroid, out->centroid, origin);
    rotate_packed_symmetric_matrix(out->second, s, axes);
    tact_m3_tmul_v3(out->gradient, axes, sums->gradient);
    tact_m3_tmul_v3(out->gradient + 3, axes, torque);
    return 1;
}
