/* Convex hull by qhull, its reentrant version. */
#include "contact/mesh/mesh_internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

#include "contact/vec.h"

/* Distance of two points, relative to the largest coordinate, below which one of them is left out
 * where qhull finds no closed surface with both. */
#define COINCIDENT_HULL_POINT_DISTANCE_RATIO 1e-12

/* Lists the outward triangles of a computed convex hull. Returns their number, or -ENOMEM. */
static long list_triangles_of_hull(qhT *qh, const double *points, uint32_t **triangles)
{
    facetT *facet;
    size_t hull_triangle_capacity = (size_t)qh->num_facets, n = 0;
    uint32_t *t = malloc(3 * (hull_triangle_capacity ? hull_triangle_capacity : 1) * sizeof *t);
    *triangles = t;
    if (!t) {
        return -ENOMEM;
    }
    FORALLfacets
    {
        vertexT *vertex, **vertexp;
        uint32_t corner[3];
        int k = 0;
        FOREACHvertex_(facet->vertices)
        {
            if (k < 3) {
                corner[k] = (uint32_t)qh_pointid(qh, vertex->point);
            }
            k++;
        }
        if (k != 3 || n == hull_triangle_capacity) {
            continue;
        }
        double e1[3], e2[3], normal[3];
        tact_v3_sub(e1, points + 3 * (size_t)corner[1], points + 3 * (size_t)corner[0]);
        tact_v3_sub(e2, points + 3 * (size_t)corner[2], points + 3 * (size_t)corner[0]);
        tact_v3_cross(normal, e1, e2);
        /* A sliver has no reliable normal: qhull's orientation decides. */
        int must_reverse_facet_corners = tact_v3_dot(normal, normal) > 0.0
                                             ? tact_v3_dot(normal, facet->normal) < 0.0
                                             : !(facet->toporient ^ qh_ORIENTclock);
        t[3 * n] = corner[0];
        t[3 * n + 1] = corner[must_reverse_facet_corners ? 2 : 1];
        t[3 * n + 2] = corner[must_reverse_facet_corners ? 1 : 2];
        n++;
    }
    return (long)n;
}

/* Runs qhull once with the given options; its messages go to log. *was_hull_found: whether qhull
 * itself found a hull, closed or not. */
static int run_qhull_with_options(const double *points, size_t n, const char *options, FILE *log,
                                  int *was_hull_found, struct tact_mesh **out,
                                  struct tact_error *err)
{
    char qhull_command[64];
    snprintf(qhull_command, sizeof qhull_command, "qhull %s", options);
    *was_hull_found = 0;
    double *copy_of_points_for_qhull = malloc(3 * n * sizeof *copy_of_points_for_qhull);
    qhT *qh = calloc(1, sizeof *qh);
    if (!copy_of_points_for_qhull || !qh) {
        free(copy_of_points_for_qhull);
        free(qh);
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    memcpy(copy_of_points_for_qhull, points, 3 * n * sizeof *copy_of_points_for_qhull);
    qh_zero(qh, log);
    int rc = qh_new_qhull(qh, 3, (int)n, copy_of_points_for_qhull, False, qhull_command, log, log);
    if (rc == qh_ERRmem) {
        rc = tact_error_set(err, -ENOMEM, "out of memory");
    } else if (rc) {
        rc = tact_error_set(
            err, -EINVAL,
            "the %zu points have no convex hull with a volume: they lie in a plane, or nearly so",
            n);
    } else {
        uint32_t *triangles;
        *was_hull_found = 1;
        long count = list_triangles_of_hull(qh, copy_of_points_for_qhull, &triangles);
        rc = count < 0 ? tact_error_set(err, -ENOMEM, "out of memory")
                       : tact_mesh_create_checked(points, n, triangles, (size_t)count, 1, out, err);
        free(triangles);
    }
    int bytes_not_freed_by_qhull, blocks_not_freed_by_qhull;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &bytes_not_freed_by_qhull, &blocks_not_freed_by_qhull);
    free(qh);
    free(copy_of_points_for_qhull);
    return rc;
}

/* Points are sorted along a direction in which the planes of a solid rarely lie, as those of one
 * height are compared with each other. */
static const double point_sorting_direction[3] = {0.534, 0.617, 0.578};

struct point_with_sorting_height {
    double height; /* coordinate along point_sorting_direction */
    size_t index;
};

static int compare_points_by_height(const void *a, const void *b)
{
    const struct point_with_sorting_height *p = a, *q = b;
    return p->height != q->height ? (p->height < q->height ? -1 : 1)
           : p->index < q->index  ? -1
                                  : p->index > q->index;
}

static int are_points_near(const double *p, const double *q, double tolerance)
{
    return fabs(p[0] - q[0]) <= tolerance && fabs(p[1] - q[1]) <= tolerance &&
           fabs(p[2] - q[2]) <= tolerance;
}

/* Copies the points without those that are within a distance of another, which is copied. Returns
 * their number, or 0 without memory; *distinct_hull_points is owned by the caller. */
static size_t copy_distinct_points(const double *points, size_t n, double tolerance,
                                   double **distinct_hull_points)
{
    struct point_with_sorting_height *points_sorted_by_height =
        malloc(n * sizeof *points_sorted_by_height);
    const double height_range_of_equal_points =
        2.0 *
        tolerance; /* at least `tolerance` times the sum of point_sorting_direction's components */
    size_t count = 0, first = 0;
    double *out = malloc(3 * n * sizeof *out);
    *distinct_hull_points = out;
    for (size_t i = 0; points_sorted_by_height && i < n; i++) {
        points_sorted_by_height[i] = (struct point_with_sorting_height){
            tact_v3_dot(point_sorting_direction, points + 3 * i), i};
    }
    if (points_sorted_by_height) {
        qsort(points_sorted_by_height, n, sizeof *points_sorted_by_height,
              compare_points_by_height);
    }
    for (size_t i = 0; points_sorted_by_height && out && i < n; i++) {
        const double *p = points + 3 * points_sorted_by_height[i].index;
        while (first < count &&
               tact_v3_dot(point_sorting_direction, out + 3 * first) <
                   points_sorted_by_height[i].height - height_range_of_equal_points) {
            first++;
        }
        size_t k = first;
        while (k < count && !are_points_near(p, out + 3 * k, tolerance)) {
            k++;
        }
        if (k == count) {
            memcpy(out + 3 * count++, p, 3 * sizeof *p);
        }
    }
    free(points_sorted_by_height);
    return count;
}

/* Runs qhull without the points that coincide with another within rounding, by which facets may be
 * flipped, or too wide for it to continue. -EINVAL, with the error as it was, where there are none.
 */
static int run_qhull_without_coincident_points(const double *points, size_t n, FILE *log,
                                               struct tact_mesh **out, struct tact_error *err)
{
    double *distinct_hull_points, most = 0.0;
    for (size_t i = 0; i < 3 * n; i++) {
        most = fmax(most, fabs(points[i]));
    }
    const size_t count = copy_distinct_points(
        points, n, COINCIDENT_HULL_POINT_DISTANCE_RATIO * most, &distinct_hull_points);
    int was_hull_found, rc = -EINVAL;
    if (count == 0) {
        rc = tact_error_set(err, -ENOMEM, "out of memory");
    } else if (count >= 4 && count < n) {
        rc = run_qhull_with_options(distinct_hull_points, count, "Qt Pp", log, &was_hull_found, out,
                                    err);
        if (rc == -EINVAL && was_hull_found) {
            rc = run_qhull_with_options(distinct_hull_points, count, "QJ Pp", log, &was_hull_found,
                                        out, err);
        }
    }
    free(distinct_hull_points);
    return rc;
}

int tact_mesh_hull(const double *points, size_t n, struct tact_mesh **out, struct tact_error *err)
{
    *out = NULL;
    if (n < 4 || n > INT_MAX / 8) {
        return tact_error_set(err, -EINVAL, "a convex hull needs 4 points or more, not %zu", n);
    }
    for (size_t i = 0; i < 3 * n; i++) {
        if (!(fabs(points[i]) <= TACT_MESH_MAX_COORDINATE)) {
            return tact_error_set(err, -EINVAL, "coordinate %c of point %zu is not %s",
                                  "xyz"[i % 3], i / 3,
                                  isfinite(points[i]) ? "within 1e9 m" : "finite");
        }
    }
    /* qhull writes messages to a stream: in memory, as a library does not print */
    char *text = NULL;
    size_t size = 0;
    FILE *log = open_memstream(&text, &size);
    if (!log) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    int was_hull_found;
    int rc = run_qhull_with_options(points, n, "Qt Pp", log, &was_hull_found, out, err);
    if (rc == -EINVAL && was_hull_found) {
        /* Merged facets may triangulate badly; joggled input has none. Only the connectivity is
         * taken from it, not the coordinates. */
        rc = run_qhull_with_options(points, n, "QJ Pp", log, &was_hull_found, out, err);
    }
    if (rc == -EINVAL) {
        rc = run_qhull_without_coincident_points(points, n, log, out, err);
    }
    fclose(log);
    free(text);
    return rc;
}
