/**
 * Pressure fields and their contact (Elandt, Drumwright, Sherman and Ruina 2019).
 *
 * A soft solid has a pressure p(x) [Pa], 0 on its surface and increasing inward. Two overlapping
 * solids touch on the surface where their pressures are equal; it transmits that pressure along its
 * normal. For fields that are linear on tetrahedra it consists of convex plane polygons, and
 * everything that a contact needs is integrated in closed form. A rigid solid has an infinite
 * pressure just inside its surface: the contact surface is then the part of its own surface inside
 * the other solid.
 *
 * Real-time safe, except functions that create and free fields and scratches.
 */
#ifndef TACT_CONTACT_FIELD_H
#define TACT_CONTACT_FIELD_H

#include <stddef.h>
#include <stdint.h>
#include "../../api.h"
#include "../../error.h"
#include "../../mesh/mesh.h"
#include "../../shape/shape.h"
#include "../../vec.h"

TACT_BEGIN_DECLS

struct tact_field_material; /* pair/options.h */

/** A solid with its pressure field: tetrahedra, a rigid surface, or a half-space. Read-only once
 * created. */
struct tact_pressure_field;

/**
 * A field that is linear on tetrahedra. vertices: vertex_count x 3 [m]; tets: tet_count x 4
 * indices, in either orientation; pressure: vertex_count [Pa]. Tetrahedra meet face to face. The
 * solid ends at their boundary, where the pressure is 0, or where the pressure becomes negative
 * inside of them.
 * @retval 0  *out is the field, to be freed with tact_field_free()
 * @retval -EINVAL  a number that is not finite, an index out of range, a tetrahedron that is flat
 * or without positive pressure, a face of three or more tetrahedra, or a positive pressure on the
 * boundary; err states which
 * @retval -ENOMEM
 * Not real-time safe.
 */
TACT_API int tact_field_tets(const double *vertices, size_t vertex_count, const uint32_t *tets,
                             size_t tet_count, const double *pressure,
                             struct tact_pressure_field **out, struct tact_error *err);

struct tact_tets; /* mesh/tets.h */

/** Checks that tetrahedra read from a file can be those of a pressure field, as tact_field_tets()
 * does. 0, -EINVAL, -ENOMEM. Not real-time safe. */
TACT_API int tact_field_check_tets(const struct tact_tets *tets, struct tact_error *err);

/** Creates the field of a rigid solid from its surface, in the mesh's frame. 0 or -ENOMEM. Not
 * real-time safe. */
TACT_API int tact_field_rigid(const struct tact_mesh *mesh, struct tact_pressure_field **out);

/** Creates the field of the half-space z <= 0, whose pressure increases by `gradient` [Pa/m] with
 * depth; INFINITY: rigid. 0, -EINVAL for a gradient that is not positive, -ENOMEM. Not real-time
 * safe. */
TACT_API int tact_field_halfspace(double gradient, struct tact_pressure_field **out);

/**
 * The field of a shape, tessellated: the pressure is modulus times (d / thickness)^power, of a
 * depth d; modulus 0: rigid, for any kind. d is by kind the distance from the surface (half-space,
 * box); that of a polyhedron of about 2000 triangles with the volume of the solid (sphere, capsule,
 * cylinder); linear along each ray from the centre, from 0 on the surface to the smallest distance
 * of the surface, exact there, and softer where the surface is farther away (ellipsoid, convex).
 * Mesh, torus, cone, revolution, and all but half-spaces of a material whose kind is not AUTO: the
 * extent of the mesh, which is stored in the material's store or found there. A mesh with
 * tetrahedra (mesh/tets.h) has, with the kind AUTO, their pressure, or with extents that of these.
 * @retval -EINVAL   a convex solid whose tetrahedra are flat, or a store of another ABI
 * @retval -EDOM     a mesh without an extent, see tact_extent_of_mesh(); err says why
 * @retval -ENOMEM
 * Not real-time safe.
 */
TACT_API int tact_field_of_shape(const struct tact_shape *shape,
                                 const struct tact_field_material *material,
                                 struct tact_pressure_field **out, struct tact_error *err);

/** Frees a pressure field; NULL is allowed. Not real-time safe. */
TACT_API void tact_field_free(struct tact_pressure_field *field);

/** Number of tetrahedra of a field, or of triangles of a rigid surface; 1 for a half-space.
 * Real-time safe. */
TACT_API size_t tact_field_cells(const struct tact_pressure_field *field);

/** Working memory of one thread for contact queries, which allocate nothing. */
struct tact_field_scratch;

/** Allocates working memory for `polygons` contact polygons a query, and for 16 times as many pairs
 * of cells, with or without a polygon. NULL without memory. Not real-time safe. */
TACT_API struct tact_field_scratch *tact_field_scratch_create(size_t polygons);
/** Frees a scratch; NULL is allowed. Not real-time safe. */
TACT_API void tact_field_scratch_destroy(struct tact_field_scratch *scratch);

/** Contact of two pressure fields: sums over the surface of equal pressure of A and B. World axes.
 */
struct tact_field_contact {
    size_t polygons;  /**< number of polygons of the contact surface; some may have no area */
    size_t pieces;    /**< number of connected pieces of the contact surface */
    size_t tried;     /**< number of pairs of cells that were tested, with or without a polygon */
    size_t alike;     /**< number of pairs of cells whose fields are equal, or nearly equal, in a
                         volume: the force is discontinuous there. They count in the force but not in
                         the stiffness */
    double area;      /**< [m^2] */
    double load;      /**< integral of the pressure over the contact surface [N] */
    double peak;      /**< largest pressure at a corner of a polygon [Pa] */
    double centre[3]; /**< centre of pressure of the contact [m], world */
    double wrench[6]; /**< contact wrench on A about the centre: force [N], torque [N m] */
    /** decrease of the wrench as A moves relative to B: symmetric part of minus its derivative by a
     * twist (v at the centre, w), row-major [N/m, N, N m] */
    double stiffness[36];
};

/**
 * The contact of fields a and b at their poses: every piece of the surface, each polygon once.
 *
 * The wrench is minus the derivative of tact_field_energy(). Stiffness: with u = v + w x r of A
 * relative to B, minus the integral of sym[(g_B.u1)(g_A.u2)] / |g_B - g_A| over the surface. No
 * polygon is excluded because of its angle: that would violate energy conservation.
 *
 * Pieces with a rim are found where the surfaces of the two solids cross; closed ones by a polygon
 * that faces away from the force: each closed surface has one. From there the surface is followed
 * across the faces of cells.
 *
 * Real-time safe. The same input gives the same bits.
 * @retval 1  they touch, *out is set
 * @retval 0  no polygon, *out is zero except `tried` and `alike`
 * @retval -ENOSPC   the scratch is too small
 * @retval -ENOTSUP  two rigid surfaces, two half-spaces, or two soft ones of different power
 */
TACT_API int tact_field_touch(const struct tact_pressure_field *a, const struct tact_pose *pose_a,
                              const struct tact_pressure_field *b, const struct tact_pose *pose_b,
                              struct tact_field_scratch *scratch, struct tact_field_contact *out);

/**
 * Potential energy of the contact [J]: the integral over all space of the lesser of the two
 * pressures, each 0 outside of its solid. Cuts all pairs of cells that overlap: for tests and
 * reports, too slow for a tick. NAN for fields that have no contact (tact_field_touch()), or with a
 * power other than 1.
 */
TACT_API double tact_field_energy(const struct tact_pressure_field *a,
                                  const struct tact_pose *pose_a,
                                  const struct tact_pressure_field *b,
                                  const struct tact_pose *pose_b);

TACT_END_DECLS

#endif
