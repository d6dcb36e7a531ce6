/* Distances of points from surfaces: the nearest triangle, found by descending the tree of the
 * mesh. */
#include "contact/pair/field/nearest_internal.h"

#include <math.h>
#include "contact/moments/moments_inside_internal.h"
#include "contact/vec.h"

static double squared_distance_from_segment(const double *x, const double *a, const double *b)
{
    double way[3], from[3];
    tact_v3_sub(way, b, a);
    tact_v3_sub(from, x, a);
    double squared_length = tact_v3_dot(way, way);
    double share = squared_length > 0.0 ? tact_v3_dot(from, way) / squared_length : 0.0;
    tact_v3_axpy(from, -tact_min(tact_max(share, 0.0), 1.0), way);
    return tact_v3_dot(from, from);
}

double tact_triangle_squared_distance(const double *x, const double *a, const double *b,
                                      const double *c)
{
    const double *corner[3] = {a, b, c};
    double u[3], w[3], n[3], from[3], least = INFINITY;
    int inside = 1;
    tact_v3_sub(u, b, a);
    tact_v3_sub(w, c, a);
    tact_v3_cross(n, u, w);
    double squared_double_triangle_area = tact_v3_dot(n, n);
    for (int i = 0; i < 3; i++) {
        double edge[3], side[3];
        const double *p = corner[i], *q = corner[(i + 1) % 3];
        tact_v3_sub(edge, q, p);
        tact_v3_sub(from, x, p);
        tact_v3_cross(side, edge, from);
        if (!(tact_v3_dot(side, n) >= 0.0)) {
            inside = 0;
            least = tact_min(least, squared_distance_from_segment(x, p, q));
        }
    }
    if (!inside) {
        return least;
    }
    double height = tact_v3_dot(from, n);
    return squared_double_triangle_area > 0.0 ? height * height / squared_double_triangle_area
                                              : squared_distance_from_segment(x, a, b);
}

double tact_mesh_distance(const struct tact_mesh *mesh, const double x[3])
{
    uint32_t stack[128];
    double best = INFINITY;
    int top = 0;
    stack[top++] = 0;
    while (top) {
        const struct tact_mesh_node *node = &mesh->nodes[stack[--top]];
        if (!(tact_squared_distance_from_node_box(node, x) < best)) {
            continue;
        }
        if (node->count) {
            for (uint32_t i = node->first; i < node->first + node->count; i++) {
                const uint32_t *t = mesh->triangles + 3 * (size_t)i;
                best = tact_min(best,
                                tact_triangle_squared_distance(x, mesh->vertices + 3 * (size_t)t[0],
                                                               mesh->vertices + 3 * (size_t)t[1],
                                                               mesh->vertices + 3 * (size_t)t[2]));
            }
            continue;
        }
        double first = tact_squared_distance_from_node_box(&mesh->nodes[node->first], x);
        double second = tact_squared_distance_from_node_box(&mesh->nodes[node->first + 1], x);
        uint32_t near = second < first;
        stack[top++] = node->first + 1 - near;
        stack[top++] = node->first + near;
    }
    return sqrt(best);
}
