/* The flat faces of a small convex mesh: coplanar triangles form one facet. */
#include "contact/mesh/mesh_internal.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/vec.h"

/* Largest number of triangles of a mesh whose facets are sought: few facets may have many
 * triangles. */
enum { MAX_TRIANGLES = 1024 };

/* Distance from a plane, in roundings of the largest coordinate, up to which a corner is in it. */
static const double FACET_PLANE_TOLERANCE = 4.0 * DBL_EPSILON;

/* A directed edge between two facets, in the direction of the first. */
struct edge {
    uint32_t from, to, facet;
};

struct work {
    const struct tact_mesh *mesh;
    struct tact_mesh_facets *facets;
    uint32_t facet[MAX_TRIANGLES];
    struct edge edge[3 * MAX_TRIANGLES];
    uint32_t edges;
    int64_t corner[3 * MAX_TRIANGLES]; /* index among the facets' corners of each vertex, or -1 */
};

static const double *get_triangle_vertex(const struct tact_mesh *mesh, size_t triangle, size_t k)
{
    return mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + k];
}

static double point_height_above_facet(const struct tact_mesh_facets *facets, uint32_t f,
                                       const double *p)
{
    return tact_v3_dot(facets->normal[f], p) - facets->distance[f];
}

/* Whether a triangle lies in the plane of facet f. */
static int is_triangle_in_facet_plane(const struct work *w, size_t triangle, const double area[3],
                                      uint32_t f)
{
    if (!(tact_v3_dot(area, w->facets->normal[f]) > 0.0)) {
        return 0;
    }
    for (size_t k = 0; k < 3; k++) {
        double h =
            point_height_above_facet(w->facets, f, get_triangle_vertex(w->mesh, triangle, k));
        if (fabs(h) > FACET_PLANE_TOLERANCE * w->facets->size) {
            return 0;
        }
    }
    return 1;
}

/* Assigns every triangle to a facet; returns 0 if there are too many facets. */
static int assign_triangles_to_facets(struct work *w)
{
    struct tact_mesh_facets *facets = w->facets;
    for (size_t t = 0; t < w->mesh->triangle_count; t++) {
        const double *a = get_triangle_vertex(w->mesh, t, 0);
        double u[3], v[3], area[3];
        uint32_t f = 0;
        tact_v3_sub(u, get_triangle_vertex(w->mesh, t, 1), a);
        tact_v3_sub(v, get_triangle_vertex(w->mesh, t, 2), a);
        tact_v3_cross(area, u, v);
        while (f < facets->count && !is_triangle_in_facet_plane(w, t, area, f)) {
            f++;
        }
        if (f == facets->count) {
            if (f == TACT_FACETS || !(tact_v3_normalize(facets->normal[f], area) > 0.0)) {
                return 0;
            }
            facets->distance[f] = tact_v3_dot(facets->normal[f], a);
            facets->count++;
        }
        w->facet[t] = f;
    }
    return 1;
}

/* Whether the mesh is convex: no vertex is outside the plane of any facet. */
static int is_mesh_of_facets_convex(const struct work *w)
{
    for (size_t i = 0; i < w->mesh->vertex_count; i++) {
        for (uint32_t f = 0; f < w->facets->count; f++) {
            double h = point_height_above_facet(w->facets, f, w->mesh->vertices + 3 * i);
            if (h > FACET_PLANE_TOLERANCE * w->facets->size) {
                return 0;
            }
        }
    }
    return 1;
}

/* Lists the directed edges of triangles whose neighbour is in another facet. */
static void list_facet_boundary_edges(struct work *w)
{
    uint32_t n = (uint32_t)w->mesh->triangle_count;
    const uint32_t *v = w->mesh->triangles;
    for (uint32_t i = 0; i < 3 * n; i++) {
        uint32_t from = v[i], to = v[i - i % 3 + (i + 1) % 3];
        for (uint32_t j = 0; j < 3 * n; j++) {
            if (v[j] == to && v[j - j % 3 + (j + 1) % 3] == from) {
                if (w->facet[i / 3] != w->facet[j / 3]) {
                    w->edge[w->edges++] = (struct edge){from, to, w->facet[i / 3]};
                }
                break;
            }
        }
    }
}

/* Index of a vertex among the facets' corners, to which it is added; -1 if there are too many. */
static int64_t index_of_corner_vertex(struct work *w, uint32_t vertex)
{
    struct tact_mesh_facets *facets = w->facets;
    if (w->corner[vertex] < 0) {
        if (facets->corners == TACT_FACET_CORNERS) {
            return -1;
        }
        for (int k = 0; k < 3; k++) {
            facets->corner[k][facets->corners] = w->mesh->vertices[3 * (size_t)vertex + (size_t)k];
        }
        w->corner[vertex] = facets->corners++;
    }
    return w->corner[vertex];
}

/* Chains the boundary edges of each facet to a closed rim; returns 0 if a limit is exceeded or a
 * rim is not a single loop. */
static int chain_facet_boundary_edges_to_loops(struct work *w)
{
    struct tact_mesh_facets *facets = w->facets;
    uint32_t stored_corner_count = 0;
    for (uint32_t f = 0; f < facets->count; f++) {
        uint32_t first = 0, of_facet = 0, length = 0;
        for (uint32_t e = 0; e < w->edges; e++) {
            if (w->edge[e].facet == f) {
                first = of_facet++ ? first : e;
            }
        }
        facets->first[f] = stored_corner_count;
        if (of_facet < 3 || of_facet > TACT_FACET_RIM ||
            stored_corner_count + of_facet > sizeof facets->rim / sizeof facets->rim[0]) {
            return 0;
        }
        uint32_t e = first;
        do {
            int64_t corner = index_of_corner_vertex(w, w->edge[e].from);
            if (corner < 0 || length == of_facet) {
                return 0;
            }
            facets->rim[stored_corner_count + length++] = (uint8_t)corner;
            facets->corner_bits_of_facet[f][corner / 64] |= (uint64_t)1 << corner % 64;
            uint32_t next = 0;
            while (next < w->edges &&
                   (w->edge[next].facet != f || w->edge[next].from != w->edge[e].to)) {
                next++;
            }
            if (next == w->edges) {
                return 0;
            }
            e = next;
        } while (e != first);
        if (length != of_facet) {
            return 0;
        }
        stored_corner_count += length;
    }
    facets->first[facets->count] = stored_corner_count;
    return 1;
}

static int store_facets_in_mesh(struct work *w)
{
    struct tact_mesh_facets *facets = w->facets;
    for (size_t i = 0; i < 3 * w->mesh->vertex_count; i++) {
        facets->size = fmax(facets->size, fabs(w->mesh->vertices[i]));
    }
    if (!assign_triangles_to_facets(w) || !is_mesh_of_facets_convex(w)) {
        return 0;
    }
    list_facet_boundary_edges(w);
    for (size_t i = 0; i < sizeof w->corner / sizeof w->corner[0]; i++) {
        w->corner[i] = -1;
    }
    if (!chain_facet_boundary_edges_to_loops(w)) {
        return 0;
    }
    for (uint32_t i = facets->corners; i % 4; i++) {
        for (int k = 0; k < 3; k++) {
            facets->corner[k][i] = facets->corner[k][0];
        }
    }
    return 1;
}

int tact_mesh_build_facets(struct tact_mesh *mesh)
{
    if (mesh->triangle_count > MAX_TRIANGLES) {
        return 0;
    }
    struct work *w = calloc(1, sizeof *w);
    mesh->facets = calloc(1, sizeof *mesh->facets);
    int rc = w && mesh->facets ? 0 : -ENOMEM;
    int are_facets_stored = 0;
    if (rc == 0) {
        w->mesh = mesh;
        w->facets = mesh->facets;
        are_facets_stored = store_facets_in_mesh(w);
    }
    if (!are_facets_stored) {
        free(mesh->facets);
        mesh->facets = NULL;
    }
    free(w);
    return rc;
}
