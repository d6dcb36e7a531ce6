/* The wall of a mesh that is not convex, by chords through the solid between two sides that face
 * away from each other. */
#include "contact/mesh/mesh_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "contact/vec.h"

#define MAX_CONVEX_HEIGHT_RATIO                                                                    \
    1e-3 /* height of a vertex above the plane of a triangle, over the radius of the mesh, up to   \
            which the mesh counts as convex */
#define MIN_WALL_SURFACE_SHARE                                                                     \
    0.01 /* share of the surface that a wall has at least: thinner places that are smaller, as the \
            end of a thread, are none */
#define MIN_WALL_CHORD_TO_SIZE_RATIO                                                               \
    1e-6 /* chord over the radius of the mesh below which two sides are one, a fold without wall   \
          */
#define MAX_NORMAL_COSINE_ACROSS_WALL                                                              \
    (-0.8660254037844386) /* cosine between the normals of the two sides of a wall: 150 degrees */
#define BARYCENTRIC_TOLERANCE                                                                      \
    1e-12 /* distance beyond the edge of a triangle at which a ray still hits it, so that none     \
             passes between two triangles */

/* Number of points of a triangle from which chords start, and of triangles, spread evenly over a
 * finer mesh, that are measured. */
enum { CHORDS_OF_TRIANGLE = 4, MAX_MEASURED_TRIANGLES = 2048 };

static void get_triangle_corners(const struct tact_mesh *mesh, size_t triangle,
                                 const double *corner[3])
{
    for (size_t k = 0; k < 3; k++) {
        corner[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + k];
    }
}

/* Outward unit normal of a triangle; returns twice its area [m^2]. */
static double compute_triangle_normal(const struct tact_mesh *mesh, size_t triangle,
                                      double normal[3])
{
    const double *corner[3];
    double u[3], v[3], area[3];
    get_triangle_corners(mesh, triangle, corner);
    tact_v3_sub(u, corner[1], corner[0]);
    tact_v3_sub(v, corner[2], corner[0]);
    tact_v3_cross(area, u, v);
    return tact_v3_normalize(normal, area);
}

/* Greatest height of a point of a node's box over the plane through the origin with that normal. */
static double box_height_along(const struct tact_mesh_node *node, const double normal[3])
{
    double height = 0.0;
    for (int k = 0; k < 3; k++) {
        height += normal[k] * (normal[k] > 0.0 ? node->upper[k] : node->lower[k]);
    }
    return height;
}

/* 1 where a vertex of a leaf is higher than `limit` along the normal. */
static int is_leaf_vertex_above(const struct tact_mesh *mesh, const struct tact_mesh_node *leaf,
                                const double normal[3], double limit)
{
    for (size_t i = 3 * (size_t)leaf->first; i < 3 * ((size_t)leaf->first + leaf->count); i++) {
        if (tact_v3_dot(normal, mesh->vertices + 3 * (size_t)mesh->triangles[i]) > limit) {
            return 1;
        }
    }
    return 0;
}

/* 1 where a vertex of the mesh is higher than `limit` along the normal. */
static int is_any_vertex_above(const struct tact_mesh *mesh, const double normal[3], double limit)
{
    uint32_t stack[TACT_MESH_STACK];
    int count = 1;
    stack[0] = 0;
    while (count > 0) {
        const struct tact_mesh_node *node = &mesh->nodes[stack[--count]];
        if (!(box_height_along(node, normal) > limit)) {
            continue;
        }
        if (!node->count) {
            stack[count++] = node->first + 1;
            stack[count++] = node->first;
        } else if (is_leaf_vertex_above(mesh, node, normal, limit)) {
            return 1;
        }
    }
    return 0;
}

/* By every `step`-th triangle. */
static int is_mesh_nearly_convex(const struct tact_mesh *mesh, size_t step)
{
    for (size_t t = 0; t < mesh->triangle_count; t += step) {
        const double *corner[3];
        double normal[3];
        get_triangle_corners(mesh, t, corner);
        if (compute_triangle_normal(mesh, t, normal) > 0.0 &&
            is_any_vertex_above(mesh, normal,
                                tact_v3_dot(normal, corner[0]) +
                                    MAX_CONVEX_HEIGHT_RATIO * mesh->radius)) {
            return 0;
        }
    }
    return 1;
}

/* A ray into the solid, and where it first leaves it so far. */
struct chord {
    double start[3], direction[3];
    size_t triangle_at_start_of_chord;
    double length; /* [m]; INFINITY: not found */
    size_t triangle_at_end_of_chord;
};

static int does_chord_reach_box(const struct chord *c, const struct tact_mesh_node *node)
{
    double near = 0.0, far = c->length;
    for (int k = 0; k < 3; k++) {
        double enter = (node->lower[k] - c->start[k]) / c->direction[k];
        double leave = (node->upper[k] - c->start[k]) / c->direction[k];
        if (c->direction[k] == 0.0) {
            if (c->start[k] < node->lower[k] || c->start[k] > node->upper[k]) {
                return 0;
            }
            continue;
        }
        near = fmax(near, fmin(enter, leave));
        far = fmin(far, fmax(enter, leave));
    }
    return near <= far;
}

/* Ends the chord at a triangle that it meets before its end so far (Moeller and Trumbore 1997). */
static void cut_chord_at_triangle(const struct tact_mesh *mesh, size_t triangle, struct chord *c)
{
    const double *corner[3];
    double u[3], v[3], p[3], q[3], from[3];
    if (triangle == c->triangle_at_start_of_chord) {
        return;
    }
    get_triangle_corners(mesh, triangle, corner);
    tact_v3_sub(u, corner[1], corner[0]);
    tact_v3_sub(v, corner[2], corner[0]);
    tact_v3_cross(p, c->direction, v);
    const double determinant = tact_v3_dot(u, p);
    if (determinant == 0.0) {
        return;
    }
    tact_v3_sub(from, c->start, corner[0]);
    tact_v3_cross(q, from, u);
    const double a = tact_v3_dot(from, p) / determinant,
                 b = tact_v3_dot(c->direction, q) / determinant,
                 length = tact_v3_dot(v, q) / determinant;
    if (a >= -BARYCENTRIC_TOLERANCE && b >= -BARYCENTRIC_TOLERANCE &&
        a + b <= 1.0 + BARYCENTRIC_TOLERANCE && length >= 0.0 && length < c->length) {
        c->length = length;
        c->triangle_at_end_of_chord = triangle;
    }
}

static void find_chord_end(const struct tact_mesh *mesh, struct chord *c)
{
    uint32_t stack[TACT_MESH_STACK];
    int count = 1;
    stack[0] = 0;
    c->length = INFINITY;
    while (count > 0) {
        const struct tact_mesh_node *node = &mesh->nodes[stack[--count]];
        if (!does_chord_reach_box(c, node)) {
            continue;
        }
        if (!node->count) {
            stack[count++] = node->first + 1;
            stack[count++] = node->first;
        }
        for (size_t t = node->first; t < (size_t)node->first + node->count; t++) {
            cut_chord_at_triangle(mesh, t, c);
        }
    }
}

/* Thickness of the solid at a triangle: the least chord from its centre and from the points half
 * way between that and its corners, against the normal, to a side that faces away; INFINITY without
 * one. Its surface is its area times two, also for the sum over a mesh. */
struct wall_at_triangle {
    double thickness, surface;
};

static struct wall_at_triangle measure_wall_at_triangle(const struct tact_mesh *mesh,
                                                        size_t triangle)
{
    const double *corner[3];
    double normal[3], other[3], centre[3];
    struct chord c = {.triangle_at_start_of_chord = triangle};
    struct wall_at_triangle wall = {INFINITY, compute_triangle_normal(mesh, triangle, normal)};
    get_triangle_corners(mesh, triangle, corner);
    tact_v3_scale(c.direction, normal, -1.0);
    for (int k = 0; k < 3; k++) {
        centre[k] = (corner[0][k] + corner[1][k] + corner[2][k]) / 3.0;
    }
    for (int i = 0; i < CHORDS_OF_TRIANGLE && wall.surface > 0.0; i++) {
        for (int k = 0; k < 3; k++) {
            c.start[k] = i ? 0.5 * (centre[k] + corner[i - 1][k]) : centre[k];
        }
        find_chord_end(mesh, &c);
        if (c.length < wall.thickness && c.length > MIN_WALL_CHORD_TO_SIZE_RATIO * mesh->radius &&
            compute_triangle_normal(mesh, c.triangle_at_end_of_chord, other) > 0.0 &&
            tact_v3_dot(normal, other) < MAX_NORMAL_COSINE_ACROSS_WALL) {
            wall.thickness = c.length;
        }
    }
    return wall;
}

static int compare_wall_thickness(const void *pa, const void *pb)
{
    const struct wall_at_triangle *a = pa, *b = pb;
    return (a->thickness > b->thickness) - (a->thickness < b->thickness);
}

int tact_mesh_wall_thickness(const struct tact_mesh *mesh, double *thickness)
{
    double surface = 0.0, thinner = 0.0;
    *thickness = INFINITY;
    const size_t step = (mesh->triangle_count - 1) / MAX_MEASURED_TRIANGLES + 1,
                 count = (mesh->triangle_count - 1) / step + 1;
    if (is_mesh_nearly_convex(mesh, step)) {
        return 0;
    }
    struct wall_at_triangle *walls = calloc(count, sizeof *walls);
    if (!walls) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        walls[i] = measure_wall_at_triangle(mesh, i * step);
        surface += walls[i].surface;
    }
    qsort(walls, count, sizeof *walls, compare_wall_thickness);
    for (size_t i = 0; i < count && thinner < MIN_WALL_SURFACE_SHARE * surface; i++) {
        thinner += walls[i].surface;
        *thickness = walls[i].thickness;
    }
    free(walls);
    return 0;
}
