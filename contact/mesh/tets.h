/**
 * Tetrahedra with a pressure at their vertices, as users give them: read from buffers of legacy VTK
 * and Gmsh files.
 *
 * Not real-time safe.
 */
#ifndef TACT_CONTACT_TETS_H
#define TACT_CONTACT_TETS_H

#include <stddef.h>
#include <stdint.h>
#include "../api.h"
#include "../error.h"

TACT_BEGIN_DECLS

struct tact_soup; /* mesh.h */

/** Tetrahedra as read from a file, in either orientation. */
struct tact_tets {
    size_t vertex_count; /**< number of vertices */
    double *vertices;    /**< vertex_count x 3 [m] */
    size_t tet_count;    /**< number of tetrahedra */
    uint32_t *tets;      /**< vertex indices of the tetrahedra, tet_count x 4 */
    double *values; /**< value at each vertex: pressure [Pa], or extent [m], 0 on the surface */
    int pressure;   /**< 1: the values at the vertices are pressures, 0: extents */
};

/** 1 where the content is that of a VTK or Gmsh file, or XML, readable or not; a byte order mark
 * and white space may stand before it. */
TACT_API int tact_tets_recognise(const void *data, size_t size);

/**
 * Reads tetrahedra and the values at their vertices. Legacy VTK: an unstructured grid, ASCII or
 * binary, of a version up to 5.1, with point data. Gmsh: version 2.2 or 4.1, ASCII, with
 * $NodeData. The values are a scalar named `pressure` [Pa] or `extent` [m]. Elements of fewer
 * dimensions are skipped. Coordinates and extents are multiplied by scale. name is used in err,
 * with the line of the first error.
 * @retval 0        *out is to be freed with tact_tets_free()
 * @retval -EINVAL  malformed or truncated, a number that is not finite, a vertex that does not
 *                  exist, solids other than tetrahedra of four vertices, no such scalar, two of
 *                  them, or a vertex of a tetrahedron without value
 * @retval -ENOMEM
 */
TACT_API int tact_tets_read(const void *data, size_t size, const char *name, double scale,
                            struct tact_tets **out, struct tact_error *err);

/** Makes the surface of tetrahedra: the triangles that belong to one tetrahedron only, outward,
 * with their vertices. 0 or -ENOMEM.
 */
TACT_API int tact_tets_surface(const struct tact_tets *tets, struct tact_soup *out);

/** Frees tetrahedra; NULL is allowed. */
TACT_API void tact_tets_free(struct tact_tets *tets);

TACT_END_DECLS

#endif
