/**
 * Closed triangle meshes: checked, with a bounding-volume tree, ready for moments.
 *
 * A mesh is closed (every edge is shared by exactly two triangles, in opposite directions),
 * oriented outward (positive volume) and immutable once made. It may have several components.
 * Meshes come in as buffers: nothing here opens a file. Nothing here is real-time safe but reading
 * the struct.
 */
#ifndef TACT_CONTACT_MESH_H
#define TACT_CONTACT_MESH_H

#include <stddef.h>
#include <stdint.h>
#include "../api.h"
#include "../error.h"

TACT_BEGIN_DECLS

/** Node of the bounding-volume tree over the triangles, in mesh coordinates [m]. Node 0 is the
 * root. A leaf has count > 0 and covers triangles order[first .. first + count - 1]; an inner node
 * has count 0 and children first and first + 1. */
struct tact_mesh_node {
    double lower[3];
    double upper[3];
    uint32_t first;
    uint32_t count;
};

/** A closed mesh. Read-only for everyone but mesh.c. */
struct tact_mesh {
    size_t vertex_count;
    double *vertices; /**< vertex_count x 3 [m], mesh frame */
    size_t triangle_count;
    uint32_t *triangles; /**< triangle_count x 3 vertex indices, counter-clockwise seen from
                            outside; sorted so that each leaf of the tree is a run of them */
    size_t node_count;
    struct tact_mesh_node *nodes;
    struct tact_mesh_box *boxes;     /**< one per node, tighter: for pairs of meshes, private */
    struct tact_mesh_wide *wide;     /**< the tree and the triangles for quick walks; private */
    struct tact_mesh_facets *facets; /**< of a small convex mesh, else NULL; private */
    double volume;                   /**< [m^3] */
    double centroid[3];              /**< of the volume [m], mesh frame */
    double second[9]; /**< integral of (r - centroid)(r - centroid)^T dV [m^5], row-major */
    double radius;    /**< of the bounding sphere about the centroid [m] */
};

/** Why a mesh is no closed oriented surface: counts. All zero for a good mesh. */
struct tact_mesh_defects {
    size_t boundary_edges;    /**< used by one triangle only: the mesh is open there */
    size_t nonmanifold_edges; /**< used by three or more triangles */
    size_t misoriented_edges; /**< both triangles run along it in the same direction */
    size_t degenerate;        /**< triangles with a repeated vertex or no area */
    size_t crossings;         /**< pairs of triangles that cross: the surface overlaps itself */
    size_t misplaced;         /**< components inside another that are no cavity, or cavities that
                                   are in none: counted twice, or of negative volume */
    size_t components;        /**< connected components, not a defect */
    double volume;            /**< signed volume [m^3] of the triangles as given */
};

/**
 * Makes a mesh of vertex_count x 3 coordinates [m] and triangle_count x 3 indices. Vertices with
 * bitwise equal coordinates are merged. Copies its input.
 * @retval 0        *out is the mesh, to be freed with tact_mesh_free()
 * A third of the time goes into finding crossings: 0.3 s for 100,000 triangles.
 * @retval -EINVAL  a defect (err says how many edges or triangles of which kind), an index out of
 * range, a number that is not finite, or a negative volume (triangles turned inside out)
 * @retval -ENOMEM
 */
TACT_API int tact_mesh_create(const double *vertices, size_t vertex_count,
                              const uint32_t *triangles, size_t triangle_count,
                              struct tact_mesh **out, struct tact_error *err);

/** Counts defects without making a mesh; same arguments. Crossings are those of the triangles as
 *  they are; misplaced components are told of a surface without other defects. 0 or -ENOMEM,
 * -EINVAL for bad indices. */
TACT_API int tact_mesh_inspect(const double *vertices, size_t vertex_count,
                               const uint32_t *triangles, size_t triangle_count,
                               struct tact_mesh_defects *defects);

/** Triangles as read from a file, before any check: a soup. Freed with tact_soup_free(). */
struct tact_soup {
    size_t vertex_count;
    double *vertices;
    size_t triangle_count;
    uint32_t *triangles;
};

/** Farthest coordinate of a mesh [m]: beyond it doubles are coarser than the overlap of a contact,
 * and the moments of what is far larger overflow. */
#define TACT_MESH_FARTHEST 1e9

/**
 * Reads Wavefront OBJ (v and f lines, polygons fanned, negative indices) or STL (binary and ASCII;
 * equal vertices merged), told apart by content. name is used in err, with the line (ASCII) or the
 * byte (binary) of the first thing wrong. Coordinates are multiplied by scale.
 * @retval 0, -EINVAL (malformed, not finite, beyond TACT_MESH_FARTHEST, no triangles), -ENOMEM
 */
TACT_API int tact_soup_read(const void *data, size_t size, const char *name, double scale,
                            struct tact_soup *out, struct tact_error *err);
TACT_API void tact_soup_free(struct tact_soup *soup);

/** Convex hull of n x 3 points (through qhull). -EINVAL for fewer than 4 points or a flat set. */
TACT_API int tact_mesh_hull(const double *points, size_t n, struct tact_mesh **out,
                            struct tact_error *err);

/** Triangulated primitives about the origin: box of half extents [m]; sphere and capsule (axis z,
 *  half_length from centre to each cap's centre) with about `triangles` triangles, whose vertices
 *  lie on the surface scaled so that the volume equals the exact one. */
TACT_API int tact_mesh_box(const double half[3], struct tact_mesh **out);
TACT_API int tact_mesh_capsule(double radius, double half_length, size_t triangles,
                               struct tact_mesh **out);

TACT_API void tact_mesh_free(struct tact_mesh *mesh);

TACT_END_DECLS

#endif
