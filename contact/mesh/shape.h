/**
 * Collision shapes: solids whose overlap is measured.
 *
 * A shape lives in its own frame; where it sits on a body is a pose beside it. Shapes are plain
 * data; the mesh they point to is owned by whoever made it and must outlive them.
 */
#ifndef TACT_CONTACT_SHAPE_H
#define TACT_CONTACT_SHAPE_H

#include "../api.h"
#include "../vec.h"
#include "mesh.h"

TACT_BEGIN_DECLS

enum tact_shape_kind {
    TACT_SHAPE_SPHERE,  /**< size[0] = radius */
    TACT_SHAPE_CAPSULE, /**< size[0] = radius, size[1] = half length of the axis segment, along z */
    TACT_SHAPE_BOX,     /**< size = half extents */
    TACT_SHAPE_HALFSPACE, /**< solid where z <= 0; normal +z; infinite: static bodies only */
    TACT_SHAPE_CONVEX,    /**< mesh, known to be convex */
    TACT_SHAPE_MESH,      /**< mesh, any closed one */
};

struct tact_shape {
    enum tact_shape_kind kind;
    double size[3]; /**< [m], see the kind */
    const struct tact_mesh
        *mesh;               /**< closed surface: given for CONVEX and MESH, the triangulation for
                                  CAPSULE and BOX (set by tact_shape_tessellate()), else NULL */
    struct tact_mesh *owned; /**< the triangulation, freed by tact_shape_release() */
};

/** Mass properties at unit density, shape frame. */
struct tact_shape_mass {
    double volume;      /**< [m^3]; infinite for a half-space */
    double centroid[3]; /**< [m] */
    double inertia[9];  /**< about the centroid, per unit density: kg m^2 / (kg/m^3), row-major */
};

/** Makes the triangulation that CAPSULE and BOX need for pairs without a closed form (SPHERE
 * against a mesh has one). -ENOMEM, -EINVAL for a size that is not positive. Not real-time safe. */
TACT_API int tact_shape_tessellate(struct tact_shape *shape);

/** Frees what tact_shape_tessellate() made. */
TACT_API void tact_shape_release(struct tact_shape *shape);

/** Volume, centroid, inertia at unit density, exact (closed form; a mesh by its own integrals). */
TACT_API void tact_shape_mass(const struct tact_shape *shape, struct tact_shape_mass *out);

/** Radius [m] of a sphere about the shape's origin that holds it; INFINITY for a half-space. */
TACT_API double tact_shape_radius(const struct tact_shape *shape);

/** 1 where the surface is curved (sphere, capsule), 0 where it is flat or faceted: the exponent of
 *  V ~ depth^p of a contact between two shapes is 2 when either is curved, else 1. */
TACT_API int tact_shape_is_curved(const struct tact_shape *shape);

TACT_END_DECLS

#endif
