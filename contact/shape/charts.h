/**
 * Parametric surfaces: a closed surface that is given by its charts rather than in closed form.
 *
 * A point of it has a place: three numbers whose meaning is that of the kind of surface. At a place
 * position, normal and curvature are computed from the derivatives of the chart, and a place is
 * displaced along the surface, across the edges of charts. Cells of the surface with their bounds
 * form a tree, by which closest points are searched from any poses.
 *
 * Real-time safe, except the functions that create and free.
 */
#ifndef TACT_CONTACT_CHARTS_H
#define TACT_CONTACT_CHARTS_H

#include <stddef.h>
#include "../api.h"
#include "../error.h"
#include "shape.h"
#include "surface.h"

TACT_BEGIN_DECLS

/** A parametric surface, immutable. It may be shared by shapes and must outlive them. */
struct tact_charts;

/** Largest number of points of a profile. */
#define TACT_PROFILE_POINTS 256

/**
 * A solid of revolution about z, for shapes of kind TACT_SHAPE_REVOLUTION. Its profile is the cubic
 * spline, twice continuously differentiable, through `count` points (r, z) [m], with chord length
 * as its parameter. It either begins and ends on the axis (r = 0), which it meets at a right angle,
 * or is closed, its last point being the first, and does not meet the axis. It may run in either
 * direction. Mass properties are exact. Not real-time safe.
 * @retval 0        *out is the surface; free it with tact_charts_free()
 * @retval -EINVAL  *err (may be NULL) says what was expected of which point: too few or too many,
 *                  not finite, two that coincide, an end off the axis, a profile that reaches or
 *                  crosses the axis elsewhere, or that crosses itself
 * @retval -ENOMEM
 */
TACT_API int tact_charts_revolution(const double (*profile)[2], int count, struct tact_charts **out,
                                    struct tact_error *err);

/**
 * A solid bounded by Bezier or B-spline patches, for shapes of kind TACT_SHAPE_PATCHES: the
 * surfaces of a Wavefront OBJ file (v, cstype [rat] bezier | bspline, deg of 1 to 3, surf, parm,
 * end), of which the rest of the statements but polygons, curves and trimming is passed over.
 * Neighbours share whole sides, along which the normal is continuous; a side that is one point is a
 * pole, about which such sides go round once; normals c_u x c_v point outward. At most 2048
 * patches. Coordinates are multiplied by scale [m per unit of the file]. Volume and moments by
 * quadrature, exact without weights. name is used in err, with the line. Not real-time safe.
 * @retval 0        *out is the surface; free it with tact_charts_free()
 * @retval -EINVAL  malformed; a surface that is trimmed, open, not a manifold, creased, turned over
 *                  or inside out; a collapsed side that is no pole; degenerate knots
 * @retval -ENOMEM
 */
TACT_API int tact_charts_patches(const void *data, size_t size, const char *name, double scale,
                                 struct tact_charts **out, struct tact_error *err);

/**
 * A solid bounded by the subdivision surface of a closed control mesh, for shapes of kind
 * TACT_SHAPE_SUBDIVISION: the faces (v and f lines) of a Wavefront OBJ file, counter-clockwise from
 * outside. Where all are triangles the subdivision is Loop's (1987, his weights), else Catmull and
 * Clark's (1978). Positions, normals and curvatures are exact (Stam 1998), but within 2^-40 of a
 * face at an extraordinary vertex, where the curvature of that distance is used, as it diverges or
 * vanishes at the vertex. The mesh is subdivided until no face has two extraordinary vertices,
 * after which at most 2048 faces are allowed. Coordinates are multiplied by scale [m per unit of
 * the file]. Volume and moments by quadrature, to rounding. name is used in err, with the line. Not
 * real-time safe.
 * @retval 0        *out is the surface; free it with tact_charts_free()
 * @retval -EINVAL  malformed; a mesh that is open, not a manifold, with neighbours of opposite
 *                  orientation or inside out; a vertex with fewer than 3 or more than 64 edges; too
 *                  many faces; a surface without a normal somewhere
 * @retval -ENOMEM
 */
TACT_API int tact_charts_subdivision(const void *data, size_t size, const char *name, double scale,
                                     struct tact_charts **out, struct tact_error *err);

/** Frees a parametric surface; NULL is allowed. Not real-time safe. */
TACT_API void tact_charts_free(struct tact_charts *charts);

/** The closed triangulation of a surface, its vertices on it; owned by the surface. */
TACT_API const struct tact_mesh *tact_charts_mesh(const struct tact_charts *charts);

/** Point, normal and curvature at a place, three numbers in the units of the surface's chart. -EDOM
 * where the place is not one of the surface. */
TACT_API int tact_charts_point(const struct tact_charts *charts, const double place[3],
                               struct tact_surface_point *out);

/**
 * Moves a place on a surface by a tangent step [m], shape frame, to first order, into other charts
 * where the step leads there. On a surface with edges, as a cylinder, it ends at the edge.
 */
TACT_API void tact_charts_move(const struct tact_charts *charts, double place[3],
                               const double step[3]);

TACT_END_DECLS

#endif
