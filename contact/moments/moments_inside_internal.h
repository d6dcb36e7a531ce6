/* Test whether a point is inside a mesh or shape, with the numbers by which its triangles are
 * measured. */
#ifndef TACT_CONTACT_MOMENTS_INSIDE_INTERNAL_H
#define TACT_CONTACT_MOMENTS_INSIDE_INTERNAL_H

#include "contact/mesh/mesh.h"
#include "contact/shape/shape.h"
#include "contact/vec.h"

/* Corners of a triangle, relative to a point in the mesh's frame. */
static inline void tact_triangle_corners(const struct tact_mesh *mesh, const double point[3],
                                         uint32_t index, double v[3][3])
{
    for (int k = 0; k < 3; k++) {
        uint32_t vertex = mesh->triangles[3 * (size_t)index + (size_t)k];
        tact_v3_sub(v[k], mesh->vertices + 3 * (size_t)vertex, point);
    }
}

/* Unit normal of the triangle with these corners, 0 where it has no area; returns the distance of
 * its plane along the normal. */
static inline double tact_plane_of_triangle_corners(double v[3][3], double n[3])
{
    double e1[3], e2[3];
    tact_v3_sub(e1, v[1], v[0]);
    tact_v3_sub(e2, v[2], v[0]);
    tact_v3_cross(n, e1, e2);
    tact_v3_normalize(n, n);
    return tact_v3_dot(n, v[0]);
}

/* Squared distance of a point from the box of a node of a mesh's tree. */
static inline double tact_squared_distance_from_node_box(const struct tact_mesh_node *node,
                                                         const double p[3])
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = tact_max(tact_max(node->lower[k] - p[k], p[k] - node->upper[k]), 0.0);
        sum += d * d;
    }
    return sum;
}

/* 1 where the point is inside the mesh: the sum of crossings of a ray. radius: length scale [m];
 * within 1e-8 of it from the surface the result may be either. */
int tact_mesh_contains(const struct tact_mesh *mesh, const double point[3], double radius);

/* 1 where the point [m], shape frame, is inside the shape or on its surface; of a shape with a
 * mesh within 1e-8 of its size from the surface the result may be either. Real-time safe. */
int tact_shape_contains(const struct tact_shape *shape, const double point[3]);

#endif
