/* Moments of convex polyhedra through their duals and qhull. */
#include "contact/compare/moments_dual.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

#include "contact/elementary.h"
#include "contact/compare/dual_internal.h"
#include "contact/moments/moments_internal.h"

/* Height of a triangle over its longest edge below which the triangle has no defined plane. */
static const double SLIVER_TRIANGLE_HEIGHT_RATIO = 1e-10;

/* Two dual points that differ by less than this, relative to their size, belong to one plane. */
static const double EQUAL_DUAL_POINTS_TOLERANCE = 1e-11;

/* Face planes of the overlap, about a point inside all of them, and the polyhedron that they
 * enclose. */
struct overlap_polyhedron {
    size_t count;
    double (*plane)[4];           /* n.r <= d, r from origin */
    uint8_t *solids_owning_plane; /* solid that the plane belongs to; 1: A, 2: B, 3: both */
    double (*point)[3];           /* n / d */
    size_t corners, capacity;
    struct corner *corner;
    double origin[3];
};

/* A vertex of the overlap, listed once for each face plane that it is on. */
struct corner {
    double r[3], angle;
    uint32_t plane_index;
};

/* A dual point with the plane that it belongs to, for sorting. */
struct plane_with_dual_point {
    double point[3], plane[4];
    uint8_t solids_owning_plane;
};

static void free_overlap_polyhedron(struct overlap_polyhedron *d)
{
    free(d->plane);
    free(d->solids_owning_plane);
    free(d->point);
    free(d->corner);
}

/* Adds the plane of a triangle to the planes. Slivers are left out: their neighbours enclose the
 * same solid. */
static void add_triangle_plane(struct overlap_polyhedron *d, const double r[9],
                               const double vector_from_origin_to_shape[3],
                               const struct tact_mesh *m, size_t t, uint8_t solids_owning_plane)
{
    double p[3][3], e[3][3], length[3], n[3], unit[3];
    for (size_t k = 0; k < 3; k++) {
        tact_m3_mul_v3(p[k], r, m->vertices + 3 * (size_t)m->triangles[3 * t + k]);
        tact_v3_add(p[k], p[k], vector_from_origin_to_shape);
    }
    for (int k = 0; k < 3; k++) {
        tact_v3_sub(e[k], p[(k + 2) % 3], p[(k + 1) % 3]);
        length[k] = tact_v3_norm(e[k]);
    }
    int at = length[0] >= length[1] ? (length[0] >= length[2] ? 0 : 2)
                                    : (length[1] >= length[2] ? 1 : 2);
    tact_v3_cross(n, e[(at + 1) % 3], e[(at + 2) % 3]);
    double area = tact_v3_normalize(unit, n);
    if (!(area > SLIVER_TRIANGLE_HEIGHT_RATIO * length[at] * length[at])) {
        return;
    }
    double *plane = d->plane[d->count];
    tact_v3_copy(plane, unit);
    plane[3] = tact_v3_dot(unit, p[at]);
    d->solids_owning_plane[d->count++] = solids_owning_plane;
}

static void add_shape_planes(struct overlap_polyhedron *d, const struct tact_shape *shape,
                             const struct tact_pose *pose, uint8_t solids_owning_plane)
{
    static const double up[3] = {0.0, 0.0, 1.0};
    double r[9], vector_from_origin_to_shape[3];
    tact_quat_to_m3(r, pose->quat_wxyz);
    tact_v3_sub(vector_from_origin_to_shape, pose->position, d->origin);
    if (shape->kind == TACT_SHAPE_HALFSPACE) {
        double *plane = d->plane[d->count];
        tact_m3_mul_v3(plane, r, up);
        plane[3] = tact_v3_dot(plane, vector_from_origin_to_shape);
        d->solids_owning_plane[d->count++] = solids_owning_plane;
        return;
    }
    for (size_t t = 0; t < shape->mesh->triangle_count; t++) {
        add_triangle_plane(d, r, vector_from_origin_to_shape, shape->mesh, t, solids_owning_plane);
    }
}

static int compare_dual_points(const void *pa, const void *pb)
{
    const struct plane_with_dual_point *a = pa, *b = pb;
    for (int k = 0; k < 3; k++) {
        if (a->point[k] != b->point[k]) {
            return a->point[k] < b->point[k] ? -1 : 1;
        }
    }
    return a->solids_owning_plane - b->solids_owning_plane;
}

/* 1 where two dual points belong to one plane. */
static int are_duals_of_one_plane(const struct plane_with_dual_point *a,
                                  const struct plane_with_dual_point *b)
{
    double difference_of_dual_points[3];
    tact_v3_sub(difference_of_dual_points, a->point, b->point);
    return tact_v3_norm(difference_of_dual_points) <=
           EQUAL_DUAL_POINTS_TOLERANCE * tact_v3_norm(a->point);
}

/* Moves the origin to a point inside the overlap and computes one dual point for each plane.
 * Returns 0 or -ENOMEM. */
static int compute_dual_points(struct overlap_polyhedron *d, const double point_inside_overlap[3])
{
    size_t capacity = d->count ? d->count : 1;
    struct plane_with_dual_point *sorted_planes = calloc(capacity, sizeof *sorted_planes);
    d->point = calloc(capacity, sizeof *d->point);
    if (!sorted_planes || !d->point) {
        free(sorted_planes);
        return -ENOMEM;
    }
    for (size_t i = 0; i < d->count; i++) {
        memcpy(sorted_planes[i].plane, d->plane[i], sizeof sorted_planes[i].plane);
        sorted_planes[i].plane[3] -= tact_v3_dot(d->plane[i], point_inside_overlap);
        sorted_planes[i].solids_owning_plane = d->solids_owning_plane[i];
        tact_v3_scale(sorted_planes[i].point, d->plane[i], 1.0 / sorted_planes[i].plane[3]);
    }
    qsort(sorted_planes, d->count, sizeof *sorted_planes, compare_dual_points);
    size_t distinct_plane_count = 0;
    for (size_t i = 0; i < d->count; i++) {
        size_t plane_with_equal_dual_point = distinct_plane_count;
        double dual_point_tolerance =
            EQUAL_DUAL_POINTS_TOLERANCE * tact_v3_norm(sorted_planes[i].point);
        while (plane_with_equal_dual_point > 0 &&
               sorted_planes[plane_with_equal_dual_point - 1].point[0] >=
                   sorted_planes[i].point[0] - dual_point_tolerance &&
               !are_duals_of_one_plane(&sorted_planes[i],
                                       &sorted_planes[plane_with_equal_dual_point - 1])) {
            plane_with_equal_dual_point--;
        }
        if (plane_with_equal_dual_point > 0 &&
            sorted_planes[plane_with_equal_dual_point - 1].point[0] >=
                sorted_planes[i].point[0] - dual_point_tolerance) {
            sorted_planes[plane_with_equal_dual_point - 1].solids_owning_plane |=
                sorted_planes[i].solids_owning_plane;
        } else {
            sorted_planes[distinct_plane_count++] = sorted_planes[i];
        }
    }
    d->count = distinct_plane_count;
    for (size_t i = 0; i < distinct_plane_count; i++) {
        memcpy(d->plane[i], sorted_planes[i].plane, sizeof d->plane[i]);
        tact_v3_copy(d->point[i], sorted_planes[i].point);
        d->solids_owning_plane[i] = sorted_planes[i].solids_owning_plane;
    }
    tact_v3_add(d->origin, d->origin, point_inside_overlap);
    free(sorted_planes);
    return 0;
}

/* Records every facet of the convex hull of the dual points as a corner of the overlap on each of
 * its planes. */
static int record_hull_corners(struct overlap_polyhedron *d, qhT *qh)
{
    facetT *facet;
    FORALLfacets
    {
        vertexT *vertex, **vertexp;
        FOREACHvertex_(facet->vertices)
        {
            if (d->corners == d->capacity) {
                d->capacity = d->capacity ? 2 * d->capacity : 1024;
                struct corner *resized_corners =
                    realloc(d->corner, d->capacity * sizeof *resized_corners);
                if (!resized_corners) {
                    return -ENOMEM;
                }
                d->corner = resized_corners;
            }
            struct corner *c = &d->corner[d->corners++];
            tact_v3_scale(c->r, facet->normal, -1.0 / facet->offset);
            c->plane_index = (uint32_t)qh_pointid(qh, vertex->point);
            c->angle = 0.0;
        }
    }
    return 0;
}

/* Finds the corners of the overlap by qhull. Returns 0, -EDOM or -ENOMEM. */
static int compute_polyhedron_corners(struct overlap_polyhedron *d)
{
    char qhull_command[] = "qhull Pp", *text = NULL;
    size_t size = 0;
    /* qhull writes its messages to a stream: one in memory, as a library must not print */
    FILE *log = open_memstream(&text, &size);
    qhT *qh = calloc(1, sizeof *qh);
    int rc = log && qh ? 0 : -ENOMEM, bytes_not_freed_by_qhull, blocks;
    if (rc == 0) {
        qh_zero(qh, log);
        int qhull_exit_code =
            qh_new_qhull(qh, 3, (int)d->count, d->point[0], False, qhull_command, log, log);
        rc = qhull_exit_code == qh_ERRmem ? -ENOMEM
             : qhull_exit_code            ? -EDOM
                                          : record_hull_corners(d, qh);
        qh_freeqhull(qh, !qh_ALL);
        qh_memfreeshort(qh, &bytes_not_freed_by_qhull, &blocks);
    }
    free(qh);
    if (log) {
        fclose(log);
    }
    free(text);
    return rc;
}

static int compare_corner_angles(const void *pa, const void *pb)
{
    const struct corner *a = pa, *b = pb;
    if (a->plane_index != b->plane_index) {
        return a->plane_index < b->plane_index ? -1 : 1;
    }
    return a->angle < b->angle ? -1 : a->angle > b->angle;
}

/* Sorts the corners on each plane by their angle about their mean. */
static void sort_corners_by_angle(struct overlap_polyhedron *d)
{
    if (d->corners) {
        qsort(d->corner, d->corners, sizeof *d->corner, compare_corner_angles);
    }
    for (size_t i = 0, end; i < d->corners; i = end) {
        double centre_of_face_corners[3] = {0.0}, u[3], w[3];
        for (end = i; end < d->corners && d->corner[end].plane_index == d->corner[i].plane_index;
             end++) {
            tact_v3_add(centre_of_face_corners, centre_of_face_corners, d->corner[end].r);
        }
        tact_v3_scale(centre_of_face_corners, centre_of_face_corners, 1.0 / (double)(end - i));
        tact_v3_tangents(d->plane[d->corner[i].plane_index], u, w);
        for (size_t k = i; k < end; k++) {
            double difference_of_dual_points[3];
            tact_v3_sub(difference_of_dual_points, d->corner[k].r, centre_of_face_corners);
            d->corner[k].angle = tact_atan2(tact_v3_dot(difference_of_dual_points, w),
                                            tact_v3_dot(difference_of_dual_points, u));
        }
        qsort(d->corner + i, end - i, sizeof *d->corner, compare_corner_angles);
    }
}

/* Adds a triangle of a face to the sums: its tetrahedron with the origin to volume and moments,
 * and the share that belongs to A's surface to the gradient. */
static void add_face_triangle_sums(struct tact_moment_sums *s, const double *p, const double *q,
                                   const double *r, double share_of_face_on_surface_of_a)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double u[3], w[3], n[3], t[3], moment[3];
    tact_v3_sub(u, q, p);
    tact_v3_sub(w, r, p);
    tact_v3_cross(n, u, w);
    tact_v3_scale(n, n, 0.5);
    double v = tact_v3_dot(n, p) / 3.0;
    s->volume += v;
    for (int k = 0; k < 3; k++) {
        t[k] = p[k] + q[k] + r[k];
        s->first[k] += 0.25 * v * t[k];
    }
    for (int k = 0; k < 6; k++) {
        int i = row[k], j = column[k];
        s->second[k] += 0.05 * v * (p[i] * p[j] + q[i] * q[j] + r[i] * r[j] + t[i] * t[j]);
    }
    tact_v3_cross(moment, t, n);
    tact_v3_axpy(s->gradient, share_of_face_on_surface_of_a, n);
    tact_v3_axpy(s->torque, share_of_face_on_surface_of_a / 3.0, moment);
}

static void integrate_polyhedron(const struct overlap_polyhedron *d,
                                 struct tact_moment_sums *overlap_moment_sums)
{
    static const double share_of_face_on_surface_of_a[4] = {0.0, 1.0, 0.0, 0.5};
    memset(overlap_moment_sums, 0, sizeof *overlap_moment_sums);
    for (size_t i = 0, end; i < d->corners; i = end) {
        for (end = i; end < d->corners && d->corner[end].plane_index == d->corner[i].plane_index;
             end++) {
            if (end > i + 1) {
                add_face_triangle_sums(overlap_moment_sums, d->corner[i].r, d->corner[end - 1].r,
                                       d->corner[end].r,
                                       share_of_face_on_surface_of_a
                                           [d->solids_owning_plane[d->corner[i].plane_index]]);
            }
        }
    }
    overlap_moment_sums->volume_term_magnitude = overlap_moment_sums->volume;
}

/* Half the diagonal of a mesh's bounding box; *middle: the centre of the box in the world. */
static double half_diagonal_of_mesh_bounding_box(const struct tact_mesh *m,
                                                 const struct tact_pose *pose,
                                                 double centre_of_face_corners[3])
{
    double box_centre_in_mesh_frame[3], half[3];
    for (int k = 0; k < 3; k++) {
        box_centre_in_mesh_frame[k] = 0.5 * (m->nodes[0].lower[k] + m->nodes[0].upper[k]);
        half[k] = 0.5 * (m->nodes[0].upper[k] - m->nodes[0].lower[k]);
    }
    tact_pose_point(centre_of_face_corners, pose, box_centre_in_mesh_frame);
    return tact_v3_norm(half);
}

static int compute_overlap_moments_by_duality(struct overlap_polyhedron *d, double size,
                                              struct tact_moments *out)
{
    static const double identity_axes_of_moments[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    struct tact_moment_sums overlap_moment_sums;
    double point_inside_overlap[3], depth;
    if (!tact_dual_find_chebyshev_centre((const double(*)[4])d->plane, d->count, size,
                                         point_inside_overlap, &depth)) {
        return -EDOM;
    }
    if (depth <= 1e-14 * size) {
        return 0;
    }
    int rc = compute_dual_points(d, point_inside_overlap);
    rc = rc ? rc : compute_polyhedron_corners(d);
    if (rc) {
        return rc;
    }
    sort_corners_by_angle(d);
    integrate_polyhedron(d, &overlap_moment_sums);
    return tact_moment_sums_finish(&overlap_moment_sums, identity_axes_of_moments, d->origin, out);
}

int tact_moments_dual(const struct tact_shape *a, const struct tact_pose *pa,
                      const struct tact_shape *b, const struct tact_pose *pb,
                      struct tact_moments *out)
{
    memset(out, 0, sizeof *out);
    int is_halfspace_a = a->kind == TACT_SHAPE_HALFSPACE,
        is_halfspace_b = b->kind == TACT_SHAPE_HALFSPACE;
    if ((is_halfspace_a && is_halfspace_b) || (!is_halfspace_a && !a->mesh) ||
        (!is_halfspace_b && !b->mesh)) {
        return -ENOTSUP;
    }
    struct overlap_polyhedron d = {0};
    size_t capacity = (is_halfspace_a ? 1 : a->mesh->triangle_count) +
                      (is_halfspace_b ? 1 : b->mesh->triangle_count);
    double size = is_halfspace_a ? half_diagonal_of_mesh_bounding_box(b->mesh, pb, d.origin)
                                 : half_diagonal_of_mesh_bounding_box(a->mesh, pa, d.origin);
    d.plane = malloc(capacity * sizeof *d.plane);
    d.solids_owning_plane = malloc(capacity);
    int rc = d.plane && d.solids_owning_plane ? 0 : -ENOMEM;
    if (rc == 0) {
        add_shape_planes(&d, a, pa, 1);
        add_shape_planes(&d, b, pb, 2);
        rc = compute_overlap_moments_by_duality(&d, size, out);
    }
    free_overlap_polyhedron(&d);
    return rc;
}

int tact_mesh_convexity(const struct tact_mesh *mesh, double *ratio)
{
    struct tact_mesh *convex_hull_mesh;
    int rc = tact_mesh_hull(mesh->vertices, mesh->vertex_count, &convex_hull_mesh, NULL);
    if (rc == 0) {
        *ratio = mesh->volume / convex_hull_mesh->volume;
        tact_mesh_free(convex_hull_mesh);
    }
    return rc;
}
