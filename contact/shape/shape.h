/**
 * Collision shapes: solids whose overlap is measured.
 *
 * A shape is defined in its own frame; its pose on a body is stored separately. Shapes are plain
 * data; the mesh that they point to is owned by the caller and must outlive them.
 *
 * Real-time safe, except tact_shape_tessellate() and tact_shape_release().
 */
#ifndef TACT_CONTACT_SHAPE_H
#define TACT_CONTACT_SHAPE_H

#include "../api.h"
#include "../vec.h"
#include "../mesh/mesh.h"

TACT_BEGIN_DECLS

/**
 * The kinds of shape, TACT_SHAPE_SPHERE and so on, about the origin of the shape's frame. Each has
 * a row of the table, a source beside this header and a line here.
 */
#define TACT_SHAPE_KINDS(KIND)                                                                     \
    KIND(SPHERE, sphere)       /* size[0] = radius */                                              \
    KIND(CAPSULE, capsule)     /* size[0] = radius, size[1] = half length of the axis, along z */  \
    KIND(BOX, box)             /* size = half extents */                                           \
    KIND(HALFSPACE, halfspace) /* solid where z <= 0; normal +z; infinite: static bodies only */   \
    KIND(CONVEX, convex)       /* mesh that is known to be convex */                               \
    KIND(MESH, mesh)           /* any closed mesh */                                               \
    KIND(CYLINDER, cylinder)   /* cylinder; size[0] = radius, size[1] = half length, along z */    \
    KIND(ELLIPSOID, ellipsoid) /* ellipsoid; size = half axes, along x, y, z */                    \
    KIND(TORUS, torus)         /* size[0] = radius of the ring, size[1] of the tube; about z */    \
    KIND(CONE, cone) /* size[0] = radius of the base at z = -size[1], its tip at size[1] */        \
    KIND(REVOLUTION,                                                                               \
         revolution)       /* solid of revolution, given by charts: a profile turned about z */    \
    KIND(PATCHES, patches) /* solid bounded by Bezier and B-spline patches, given by charts */     \
    KIND(SUBDIVISION, subdivision) /* solid bounded by the subdivision surface of a control mesh,  \
                                      given by charts */

#define TACT_SHAPE_NAMED(name, word) TACT_SHAPE_##name, /**< enumerator of a kind */
/** Kinds of shape, see TACT_SHAPE_KINDS. */
enum tact_shape_kind { TACT_SHAPE_KINDS(TACT_SHAPE_NAMED) TACT_SHAPE_COUNT };
#undef TACT_SHAPE_NAMED

struct tact_surface_point; /* surface.h */
struct tact_charts;        /* charts.h */

/** Kinds of surface. */
enum tact_shape_faces {
    TACT_FACES_FLAT,   /**< plane faces */
    TACT_FACES_CURVED, /**< curved everywhere: the exponent of V ~ depth^p of its contacts is 2 */
    TACT_FACES_MIXED,  /**< flat and curved, as a cylinder: the exponent p is computed from the
                          overlap */
};

/** A shape: kind, size, and mesh where it has one. */
struct tact_shape {
    enum tact_shape_kind kind;    /**< kind of shape */
    double size[3];               /**< [m], see the kind */
    const struct tact_mesh *mesh; /**< closed surface: given for CONVEX and MESH, the triangulation
                                     for others (set by tact_shape_tessellate()), NULL for SPHERE
                                     and HALFSPACE */
    /** triangulation that the shape owns, freed by tact_shape_release() */
    struct tact_mesh *owned;
    const struct tact_charts *charts; /**< parametric surface, given for REVOLUTION, PATCHES and
                                         SUBDIVISION,
                                         with its mesh;
                                         NULL for others */
};

/** Mass properties at unit density, shape frame. */
struct tact_shape_mass {
    double volume;      /**< volume of the solid [m^3]; infinite for a half-space */
    double centroid[3]; /**< [m] */
    double inertia[9];  /**< inertia about the centroid per unit density: kg m^2 / (kg/m^3),
                           row-major */
};

/** A row of the table of shape kinds. */
struct tact_shape_type {
    const char *name; /**< name of the shape kind in scenes, on command lines and in logs */
    enum tact_shape_faces faces; /**< whether the surface is flat, curved or both */
    const char *keys; /**< keys in a scene, separated by spaces: "radius", "tube", "length" [m],
                         "size", three full lengths [m]; "file" where it is given as a mesh,
                         "profile" where it is given as charts */
    int lengths;      /**< number of entries of size[] in use */
    int may_vanish;   /**< bits of the entries of size[] that may be 0 */
    int concave;      /**< 1: the solid is not convex, or not known to be */
    /** Makes a closed triangulation with the volume of the solid; NULL where none is needed. */
    int (*make)(const double size[3], struct tact_mesh **out);
    void (*mass)(const struct tact_shape *shape,
                 struct tact_shape_mass *out); /**< computes the mass properties at unit density */
    double (*reach)(const double size[3]); /**< returns the distance of the solid's farthest point
                                              from the origin [m] */
    double (*rolling_radius)(const double size[3]); /**< returns the largest radius of curvature of
                                                       the surface [m]; NULL: the surface is flat */
    /** Implements tact_shape_surface(); NULL where the surface has edges. */
    int (*surface)(const struct tact_shape *shape, const double near[3],
                   struct tact_surface_point *out);
    /** Implements tact_shape_support(); NULL where the solid is not strictly convex. */
    void (*support)(const struct tact_shape *shape, const double normal[3], double out[3]);
    /** Makes the parametric surface of a solid with edges: its smooth pieces, without mesh. NULL
     * for solids with flat faces only, without edges, or with charts of their own. -ENOMEM. */
    int (*charts)(const struct tact_shape *shape, struct tact_charts **out);
};

/** Row of the table for a kind of shape; NULL out of range. */
TACT_API const struct tact_shape_type *tact_shape_type(enum tact_shape_kind kind);

/** Kind of shape by its name; -1 where there is none of that name. */
TACT_API int tact_shape_kind_find(const char *name);

/** Size of a shape as given in a scene [m]. */
struct tact_shape_lengths {
    double radius;  /**< [m] */
    double tube;    /**< radius of a torus' tube [m] */
    double length;  /**< along the axis [m] */
    double size[3]; /**< full lengths along x, y, z [m] */
};

/** A shape of a kind, from the lengths of the keys that the kind uses; others are ignored. Without
 * triangulation. */
TACT_API struct tact_shape tact_shape_sized(enum tact_shape_kind kind,
                                            const struct tact_shape_lengths *lengths);

/** Makes the triangulation of a kind that some of its pairs need (not SPHERE, which has closed
 * forms with every kind). -ENOMEM, -EINVAL for a size that is not positive. Not real-time safe. */
TACT_API int tact_shape_tessellate(struct tact_shape *shape);

/** Frees the triangulation. */
TACT_API void tact_shape_release(struct tact_shape *shape);

/** Volume, centroid and inertia at unit density, exact (closed form; for a mesh its integrals). */
TACT_API void tact_shape_mass(const struct tact_shape *shape, struct tact_shape_mass *out);

/** Radius [m] of a sphere about the shape's origin that contains it; INFINITY for a half-space. */
TACT_API double tact_shape_radius(const struct tact_shape *shape);

/** Smallest extent along an axis of its frame [m]; INFINITY for a half-space. */
TACT_API double tact_shape_thickness(const struct tact_shape *shape);

/** Kind of surface of a shape. Real-time safe. */
TACT_API enum tact_shape_faces tact_shape_faces(const struct tact_shape *shape);

/** Largest radius on which a shape rolls [m]; INFINITY for flat surfaces. */
TACT_API double tact_shape_rolling_radius(const struct tact_shape *shape);

TACT_END_DECLS

#endif
