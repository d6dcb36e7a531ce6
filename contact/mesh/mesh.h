/**
 * Closed triangle meshes: checked, with a bounding-volume tree, ready for moments.
 *
 * A mesh is closed (every edge is shared by exactly two triangles, in opposite directions),
 * oriented outward (positive volume) and immutable. It may have several components. Meshes are
 * created from buffers: no function here opens a file. Only reading the struct is real-time safe.
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
    double lower[3]; /**< least coordinates [m] */
    double upper[3]; /**< largest coordinates [m] */
    uint32_t first;  /**< index of a leaf's first triangle, or of an inner node's first child */
    uint32_t count;  /**< number of triangles of a leaf; 0: inner node */
};

struct tact_tets; /* tets.h */

/** A closed mesh. Read-only for everyone but mesh.c. */
struct tact_mesh {
    size_t vertex_count;   /**< number of vertices */
    double *vertices;      /**< coordinates of the vertices, vertex_count x 3 [m], mesh frame */
    size_t triangle_count; /**< number of triangles */
    uint32_t *triangles; /**< vertex indices of the triangles, triangle_count x 3, counter-clockwise
                            seen from outside; sorted so that the triangles of each leaf of the tree
                            are contiguous */
    size_t node_count;   /**< number of nodes */
    /** nodes of the tree of bounding boxes, node_count of them, the root first */
    struct tact_mesh_node *nodes;
    struct tact_mesh_wide *wide;     /**< tree and triangles laid out for SIMD traversal; private */
    struct tact_mesh_facets *facets; /**< facets of a small convex mesh, else NULL; private */
    double volume;                   /**< [m^3] */
    double centroid[3];              /**< centroid of the volume [m], mesh frame */
    double second[9]; /**< second moment of the volume, integral of (r - centroid)(r - centroid)^T
                         dV [m^5], row-major */
    double radius;    /**< radius of the bounding sphere about the centroid [m] */
    struct tact_tets *tets; /**< tetrahedra whose surface the mesh is, else NULL (tets.h) */
};

/** Number of crossing pairs of triangles above which a mesh is not searched for more, nor for
 * misplaced components. */
#define TACT_MESH_CROSSINGS_MAX 2000000

/** Why a mesh is not a closed oriented surface: counts. All zero for a valid mesh. */
struct tact_mesh_defects {
    size_t boundary_edges;    /**< edges of one triangle only: the mesh is open there */
    size_t nonmanifold_edges; /**< edges of three or more triangles */
    size_t misoriented_edges; /**< edges along which both triangles run in the same direction */
    size_t degenerate;        /**< triangles with a repeated vertex or no area */
    size_t crossings;         /**< pairs of triangles that cross: the surface overlaps itself;
                                 TACT_MESH_CROSSINGS_MAX + 1: more */
    size_t misplaced;  /**< components inside another that are not cavities, or cavities outside any
                          solid: counted twice, or of negative volume */
    size_t components; /**< number of connected components, which is no defect */
    double volume;     /**< signed volume of the input triangles [m^3] */
};

/**
 * Creates a mesh from vertex_count x 3 coordinates [m] and triangle_count x 3 indices. Vertices
 * with bitwise equal coordinates are merged. Copies its input. A third of the time is spent on
 * finding crossings: 0.3 s for 100,000 triangles.
 * @retval 0        *out is the mesh; free it with tact_mesh_free()
 * @retval -EINVAL  a defect (err has the number of edges or triangles of each kind), an index out
 *                  of range, a number that is not finite, or a negative volume (triangles inside
 *                  out)
 * @retval -ENOMEM
 */
TACT_API int tact_mesh_create(const double *vertices, size_t vertex_count,
                              const uint32_t *triangles, size_t triangle_count,
                              struct tact_mesh **out, struct tact_error *err);

struct tact_soup; /* below */

/** Creates a mesh, as tact_mesh_create(), from triangles of a file. The mesh takes over their
 * tetrahedra, if it has any: out->tets. Returns as tact_mesh_create(). Not real-time safe. */
TACT_API int tact_mesh_of_soup(struct tact_soup *soup, struct tact_mesh **out,
                               struct tact_error *err);

/** Counts the defects of triangles, with the arguments of tact_mesh_create(), vertices [m], without
 * creating a mesh. Crossings are counted on the triangles as given; misplaced components only on a
 * surface without other defects. 0, -ENOMEM, or -EINVAL for invalid indices. */
TACT_API int tact_mesh_inspect(const double *vertices, size_t vertex_count,
                               const uint32_t *triangles, size_t triangle_count,
                               struct tact_mesh_defects *defects);

/** Triangles as read from a file, before any check: a soup. Freed with tact_soup_free(). */
struct tact_soup {
    size_t vertex_count;    /**< number of vertices */
    double *vertices;       /**< [3 vertex_count] coordinates [m] */
    size_t triangle_count;  /**< number of triangles */
    uint32_t *triangles;    /**< vertex indices of the triangles, 3 triangle_count */
    struct tact_tets *tets; /**< tetrahedra of the file, whose surface the triangles are, else NULL
                             */
};

/** Largest absolute coordinate of a mesh [m]: beyond it doubles are coarser than the overlap of a
 * contact, and moments of much larger bodies overflow. */
#define TACT_MESH_MAX_COORDINATE 1e9

/**
 * Parses Wavefront OBJ (v and f lines, polygons as fans, negative indices) or STL (binary and
 * ASCII; equal vertices merged), or the surface of the tetrahedra of a VTK or Gmsh file (tets.h);
 * the format is recognised by content. name is used in err, with the line (ASCII) or the byte
 * (binary) of the first error. Coordinates are multiplied by scale [m per unit of the file].
 * @retval 0, -EINVAL (malformed, not finite, beyond TACT_MESH_MAX_COORDINATE, no triangles),
 *            -ENOMEM
 */
TACT_API int tact_soup_read(const void *data, size_t size, const char *name, double scale,
                            struct tact_soup *out, struct tact_error *err);
/** Frees the arrays of a soup of triangles. Not real-time safe. */
TACT_API void tact_soup_free(struct tact_soup *soup);

/** Convex hull of n x 3 points [m] (through qhull). Not real-time safe.
 * @retval 0, -EINVAL (fewer than 4 points, a flat set, not finite) or -ENOMEM */
TACT_API int tact_mesh_hull(const double *points, size_t n, struct tact_mesh **out,
                            struct tact_error *err);

/** A triangulated box about the origin of 12 triangles, half: its half extents [m]. Not real-time
 * safe.
 * @retval 0, -EINVAL (as tact_mesh_create(): not positive, not finite) or -ENOMEM */
TACT_API int tact_mesh_box(const double half[3], struct tact_mesh **out);
/** A triangulated capsule about the origin, axis z, of `radius` [m], half_length [m] from its
 * centre to the centre of each cap, 0: a sphere; with about `triangles` triangles, whose vertices
 * lie on the surface scaled so that the volume equals the exact one. Not real-time safe.
 * @retval 0, -EINVAL (as tact_mesh_create(): not positive, not finite) or -ENOMEM */
TACT_API int tact_mesh_capsule(double radius, double half_length, size_t triangles,
                               struct tact_mesh **out);

/** Frees a mesh; NULL is allowed. Not real-time safe. */
TACT_API void tact_mesh_free(struct tact_mesh *mesh);

TACT_END_DECLS

#endif
