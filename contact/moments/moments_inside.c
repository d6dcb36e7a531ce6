/* Whether a point is inside a mesh or shape. */
#include "contact/moments/moments_inside_internal.h"

#include <math.h>

/* A tree split at the median has at most 32 levels. */
enum { STACK_NODES = 34 };

/* Direction of the test rays, which is unlikely to be parallel to an edge of a mesh. */
static const double RAY[3] = {0.5237186402, 0.6410352817, 0.5609482733};

/* Crossing of the ray from o with a triangle: +1 outward, -1 inward, 0 none. Side and distance are
 * computed from the same numbers as the moments, so that both agree on the side of o. */
static int ray_triangle_crossing(const struct tact_mesh *mesh, const double *point, uint32_t index)
{
    double v[3][3], n[3], c[3];
    tact_triangle_corners(mesh, point, index, v);
    double h = tact_plane_of_triangle_corners(v, n);
    const uint32_t *id = mesh->triangles + 3 * (size_t)index;
    int triangle_edges_left_of_ray = 0;
    for (int k = 0; k < 3; k++) {
        int next = (k + 1) % 3;
        tact_v3_cross(c, v[k], v[next]);
        double e = tact_v3_dot(c, RAY);
        triangle_edges_left_of_ray += e > 0.0 || (e == 0.0 && id[k] < id[next]);
    }
    if (triangle_edges_left_of_ray != 0 && triangle_edges_left_of_ray != 3) {
        return 0;
    }
    int does_ray_leave_mesh = triangle_edges_left_of_ray == 3,
        is_ahead = (h >= 0.0) == does_ray_leave_mesh;
    return is_ahead ? (does_ray_leave_mesh ? 1 : -1) : 0;
}

/* 1 where the ray from o meets the box of a node of the mesh's tree, with a margin of the radius
 * behind o. */
static int does_ray_meet_node_box(const struct tact_mesh_node *node, const double *point,
                                  double radius)
{
    double ray_entry_distance = -radius, far = INFINITY;
    for (int k = 0; k < 3; k++) {
        double margin = 1e-9 * radius;
        ray_entry_distance =
            tact_max(ray_entry_distance, (node->lower[k] - margin - point[k]) / RAY[k]);
        far = tact_min(far, (node->upper[k] + margin - point[k]) / RAY[k]);
    }
    return ray_entry_distance <= far;
}

int tact_mesh_contains(const struct tact_mesh *mesh, const double point[3], double radius)
{
    double margin = 1e-9 * radius;
    if (tact_squared_distance_from_node_box(&mesh->nodes[0], point) > margin * margin) {
        return 0;
    }
    uint32_t unvisited_node_stack[STACK_NODES] = {0};
    int top = 1, winding = 0;
    while (top > 0) {
        const struct tact_mesh_node *node = &mesh->nodes[unvisited_node_stack[--top]];
        if (!does_ray_meet_node_box(node, point, radius)) {
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            winding += ray_triangle_crossing(mesh, point, node->first + i);
        }
        if (node->count == 0) {
            unvisited_node_stack[top++] = node->first + 1;
            unvisited_node_stack[top++] = node->first;
        }
    }
    return winding > 0;
}

int tact_shape_contains(const struct tact_shape *shape, const double point[3])
{
    switch (shape->kind) {
    case TACT_SHAPE_SPHERE:
        return tact_v3_dot(point, point) <= shape->size[0] * shape->size[0];
    case TACT_SHAPE_HALFSPACE:
        return point[2] <= 0.0;
    case TACT_SHAPE_BOX:
        return fabs(point[0]) <= shape->size[0] && fabs(point[1]) <= shape->size[1] &&
               fabs(point[2]) <= shape->size[2];
    default:
        return tact_mesh_contains(shape->mesh, point, tact_shape_radius(shape));
    }
}
