/**
 * Pressure fields and their contact (Elandt, Drumwright, Sherman and Ruina 2019).
 *
 * A soft solid carries a pressure p(x) [Pa], 0 on its surface and rising inward. Two solids that
 * overlap touch on the surface where their pressures are equal; it pushes with that pressure along
 * its normal. Of fields that are linear on tetrahedra it consists of convex plane polygons, and all
 * that a contact needs of them is integrated in closed form. A rigid solid has an infinite pressure
 * just inside its surface: the contact surface is then the part of its own that lies in the other
 * solid.
 *
 * Real-time safe but for what creates and frees fields and scratches.
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

/** A solid with its pressure: tetrahedra, a rigid surface, or a half-space. Read-only once made. */
struct tact_pressure_field;

/**
 * A field that is linear on tetrahedra. vertices: vertex_count x 3 [m]; tets: tet_count x 4
 * indices, in either orientation; pressure: vertex_count [Pa]. Tetrahedra meet face to face. The
 * solid ends on their boundary, where the pressure is 0, or where the pressure falls below 0 inside
 * of them.
 * @retval 0  *out is the field, to be freed with tact_field_free()
 * @retval -EINVAL  a number that is not finite, an index out of range, a tetrahedron that is flat
 * or without any pressure over 0, a face of three or more tetrahedra, or a pressure over 0 on the
 * boundary; err says which
 * @retval -ENOMEM
 * Not real-time safe.
 */
TACT_API int tact_field_tets(const double *vertices, size_t vertex_count, const uint32_t *tets,
                             size_t tet_count, const double *pressure,
                             struct tact_pressure_field **out, struct tact_error *err);

/** The surface of a rigid solid, in the mesh's frame. 0 or -ENOMEM. Not real-time safe. */
TACT_API int tact_field_rigid(const struct tact_mesh *mesh, struct tact_pressure_field **out);

/** The half-space z <= 0 whose pressure rises by `gradient` [Pa/m] with depth; INFINITY: rigid.
 *  0, -EINVAL for a gradient that is not positive, -ENOMEM. Not real-time safe. */
TACT_API int tact_field_halfspace(double gradient, struct tact_pressure_field **out);

/**
 * The field of a shape, tessellated, with the slope s = modulus / thickness of its material [Pa/m];
 * modulus 0: rigid, of any kind. By kind, with the distance d inside the surface: half-space, box:
 * s d. Sphere, capsule, cylinder: s d of a polyhedron of about 2000 triangles, of the volume that
 * the solid has. Ellipsoid and convex: linear along each ray from the centre, from 0 on the surface
 * to s times the least distance of the surface; exact there, and softer where the surface is
 * farther away. Mesh and torus, and all but half-spaces of a material whose kind is not AUTO: s
 * times the extent of the mesh, which is stored in the material's store or found there.
 * @retval -EINVAL   a convex solid whose tetrahedra are flat
 * @retval -EDOM     a mesh without an extent, see tact_extent_of_mesh(); err says why
 * @retval -ENOMEM
 * Not real-time safe.
 */
TACT_API int tact_field_of_shape(const struct tact_shape *shape,
                                 const struct tact_field_material *material,
                                 struct tact_pressure_field **out, struct tact_error *err);

/** Frees a field; NULL is allowed. Not real-time safe. */
TACT_API void tact_field_free(struct tact_pressure_field *field);

/** Number of tetrahedra, or of triangles of a rigid surface; 1 of a half-space. */
TACT_API size_t tact_field_cells(const struct tact_pressure_field *field);

/** Working memory of one thread: queries allocate nothing. */
struct tact_field_scratch;

/** Room for `polygons` polygons a query, and for at least as many pairs of cells that have none.
 * NULL where memory is short. */
TACT_API struct tact_field_scratch *tact_field_scratch_create(size_t polygons);
/** Frees a scratch; NULL is allowed. Not real-time safe. */
TACT_API void tact_field_scratch_destroy(struct tact_field_scratch *scratch);

/** What the surface of equal pressure of A and B does. World axes. */
struct tact_field_contact {
    size_t polygons;  /**< of the surface; some may have no area */
    size_t pieces;    /**< surfaces that are not connected */
    size_t tried;     /**< pairs of cells that were cut, with or without a polygon */
    size_t alike;     /**< pairs of cells whose fields agree on a volume, or all but agree: there
                           the force jumps as the pair is passed. They count in the force but not
                           in the stiffness */
    double area;      /**< [m^2] */
    double load;      /**< integral of the pressure [N] */
    double peak;      /**< largest pressure at a corner [Pa] */
    double centre[3]; /**< centre of pressure [m], world */
    double wrench[6]; /**< on A about the centre: force [N], torque [N m] */
    double stiffness[36]; /**< what that loses as A moves against B: symmetric part of minus its
                               derivative by a twist (v at the centre, w), row-major [N/m, N, N m]
                           */
};

/**
 * The contact of fields a and b at their poses: every piece of the surface, each polygon once.
 *
 * The wrench is minus the derivative of tact_field_energy(). Stiffness: with u = v + w x r of A
 * against B, minus the integral of sym[(g_B.u1)(g_A.u2)] / |g_B - g_A| over the surface. No polygon
 * is left out for its angle: it would cost conservation.
 *
 * Pieces with a rim are found where the surfaces of the two solids cross, closed ones by a polygon
 * that faces away from the force: each closed surface has one. From there the surface is walked
 * across the cells' faces.
 *
 * Real-time safe. Same input, same bits.
 * @retval 1  they touch, *out filled
 * @retval 0  no polygon, *out zeroed but for `tried` and `alike`
 * @retval -ENOSPC   the scratch is too small
 * @retval -ENOTSUP  two rigid surfaces, or two half-spaces
 */
TACT_API int tact_field_touch(const struct tact_pressure_field *a, const struct tact_pose *pose_a,
                              const struct tact_pressure_field *b, const struct tact_pose *pose_b,
                              struct tact_field_scratch *scratch, struct tact_field_contact *out);

/**
 * Potential energy of the contact [J]: the integral over all space of the lesser of the two
 * pressures, each 0 outside of its solid. Cuts all pairs of cells that overlap: for tests and
 * reports, not for a tick. NAN for two half-spaces or two rigid surfaces.
 */
TACT_API double tact_field_energy(const struct tact_pressure_field *a,
                                  const struct tact_pose *pose_a,
                                  const struct tact_pressure_field *b,
                                  const struct tact_pose *pose_b);

TACT_END_DECLS

#endif
