/* Oriented boxes about the nodes of the tree. A patch of a smooth surface is nearly flat: a box
 * with an axis along its mean normal is thin in any orientation, unlike an axis-aligned one. */
#include "contact/mesh/mesh_internal.h"

#include <math.h>
#include <stdlib.h>

#include "contact/vec.h"

/* Relative rounding error of a box coordinate in single precision, with a margin. */
static const double BOX_SINGLE_PRECISION_ERROR = 2e-6;

/* A run of triangles, contiguous in the mesh: those below a node of the tree. */
struct run {
    const struct tact_mesh *mesh;
    uint32_t first, count;
};

static const double *vertex_of_triangle_range(const struct run *run, uint32_t i)
{
    return run->mesh->vertices + 3 * (size_t)run->mesh->triangles[3 * (size_t)run->first + i];
}

/* Sums the area vectors of a run of triangles; returns the sum of their areas. */
static double sum_triangle_areas(const struct run *run, double sum[3])
{
    double total_triangle_area = 0.0;
    tact_v3_set(sum, 0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < 3 * run->count; i += 3) {
        double e1[3], e2[3], n[3];
        tact_v3_sub(e1, vertex_of_triangle_range(run, i + 1), vertex_of_triangle_range(run, i));
        tact_v3_sub(e2, vertex_of_triangle_range(run, i + 2), vertex_of_triangle_range(run, i));
        tact_v3_cross(n, e1, e2);
        total_triangle_area += tact_v3_norm(n);
        tact_v3_add(sum, sum, n);
    }
    return total_triangle_area;
}

/* Rotates axes[0] and axes[1] about axes[2] to the principal axes of the triangles' corners. */
static void align_axes_to_principal_directions(const struct run *run, double axes[3][3])
{
    double n = 3.0 * run->count, mean[2] = {0.0}, c[3] = {0.0};
    for (int centroid_and_spread_pass = 0; centroid_and_spread_pass < 2;
         centroid_and_spread_pass++) {
        for (uint32_t i = 0; i < 3 * run->count; i++) {
            double x = tact_v3_dot(axes[0], vertex_of_triangle_range(run, i)) - mean[0];
            double y = tact_v3_dot(axes[1], vertex_of_triangle_range(run, i)) - mean[1];
            c[0] += centroid_and_spread_pass ? x * x : x;
            c[1] += centroid_and_spread_pass ? y * y : y;
            c[2] += centroid_and_spread_pass ? x * y : 0.0;
        }
        if (centroid_and_spread_pass == 0) {
            mean[0] = c[0] / n;
            mean[1] = c[1] / n;
            c[0] = c[1] = 0.0;
        }
    }
    double angle = 0.5 * tact_atan2(2.0 * c[2], c[0] - c[1]), u[3], v[3];
    tact_v3_scale(u, axes[0], tact_cos(angle));
    tact_v3_axpy(u, tact_sin(angle), axes[1]);
    tact_v3_scale(v, axes[1], tact_cos(angle));
    tact_v3_axpy(v, -tact_sin(angle), axes[0]);
    tact_v3_copy(axes[0], u);
    tact_v3_copy(axes[1], v);
}

struct box_extents_along_axes {
    double lower[3], half[3];
};

/* Measures the extents of the triangles' corners along axes; returns a quarter of the surface of
 * their box. */
static double measure_extents_along_axes(const struct run *run, double axes[3][3],
                                         struct box_extents_along_axes *out)
{
    for (int k = 0; k < 3; k++) {
        double lower = INFINITY, upper = -INFINITY;
        for (uint32_t i = 0; i < 3 * run->count; i++) {
            double x = tact_v3_dot(axes[k], vertex_of_triangle_range(run, i));
            lower = tact_min(lower, x);
            upper = tact_max(upper, x);
        }
        out->lower[k] = lower;
        out->half[k] = 0.5 * (upper - lower);
    }
    const double *h = out->half;
    return h[0] * h[1] + h[1] * h[2] + h[2] * h[0];
}

static void build_oriented_box(const struct run *run, const double mesh_bounds_centre[3],
                               double unit, struct tact_mesh_box *box)
{
    double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, turned[3][3];
    struct box_extents_along_axes box_extents_along_axes, other;
    double surface = measure_extents_along_axes(run, axes, &box_extents_along_axes),
           centre[3] = {0.0};
    double total_triangle_area = sum_triangle_areas(run, turned[2]);
    if (tact_v3_norm(turned[2]) > 0.3 * total_triangle_area) {
        tact_v3_normalize(turned[2], turned[2]);
        tact_v3_tangents(turned[2], turned[0], turned[1]);
        align_axes_to_principal_directions(run, turned);
        if (measure_extents_along_axes(run, turned, &other) < surface) {
            box_extents_along_axes = other;
            for (int k = 0; k < 3; k++) {
                tact_v3_copy(axes[k], turned[k]);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        double half = box_extents_along_axes.half[k] / unit + BOX_SINGLE_PRECISION_ERROR;
        tact_v3_axpy(centre, box_extents_along_axes.lower[k] + box_extents_along_axes.half[k],
                     axes[k]);
        for (int j = 0; j < 3; j++) {
            box->axis[k][j] = (float)(half * axes[k][j]);
        }
    }
    for (int j = 0; j < 3; j++) {
        box->centre[j] = (float)((centre[j] - mesh_bounds_centre[j]) / unit);
    }
}

/* Run of the triangles below a node: leaves are contiguous in the order of the tree. */
static struct run get_triangle_range_below_node(const struct tact_mesh *mesh, size_t index)
{
    const struct tact_mesh_node *first = &mesh->nodes[index], *last = first;
    while (!first->count) {
        first = &mesh->nodes[first->first];
    }
    while (!last->count) {
        last = &mesh->nodes[last->first + 1];
    }
    return (struct run){mesh, first->first, last->first + last->count - first->first};
}

struct tact_mesh_box *tact_mesh_build_boxes(const struct tact_mesh *mesh)
{
    double mesh_bounds_centre[3], unit = tact_mesh_box_length_unit(mesh, mesh_bounds_centre);
    struct tact_mesh_box *oriented_boxes_of_nodes =
        calloc(mesh->node_count, sizeof *oriented_boxes_of_nodes);
    for (size_t i = 0; oriented_boxes_of_nodes && i < mesh->node_count; i++) {
        struct run run = get_triangle_range_below_node(mesh, i);
        build_oriented_box(&run, mesh_bounds_centre, unit, &oriented_boxes_of_nodes[i]);
        oriented_boxes_of_nodes[i].first = mesh->nodes[i].first;
        oriented_boxes_of_nodes[i].count = mesh->nodes[i].count;
    }
    return oriented_boxes_of_nodes;
}
