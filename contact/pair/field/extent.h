/**
 * The extent of a closed mesh: the depth that each point of the solid has for its pressure field.
 *
 * Elandt 2019 computes the pressure from a "penetration extent", 0 on the surface and increasing
 * inwards. Here the extent is a length [m], approximately the depth under a flat surface, and the
 * pressure is modulus / thickness times the extent. It is computed on a lattice about the mesh,
 * with exact distances along the axes from the nodes next to the surface to it, and is linear on
 * tetrahedra made from the cells of the lattice. The body is where the extent is positive, so that
 * no tetrahedra have to fit the surface.
 *
 * Not real-time safe.
 */
#ifndef TACT_CONTACT_EXTENT_H
#define TACT_CONTACT_EXTENT_H

#include <stddef.h>
#include <stdint.h>
#include "../../api.h"
#include "../../error.h"
#include "../../mesh/mesh.h"

TACT_BEGIN_DECLS

/** How an extent is defined by a surface; T is the thickness, d the distance from the surface. */
enum tact_extent_kind {
    TACT_EXTENT_AUTO, /**< SCREENED for a mesh; other shapes have a field of their own (field.h) */
    TACT_EXTENT_SCREENED, /**< -T ln w with w - T^2 lap w = 0, w = 1 on the surface: smooth inside.
                             Its slope at the surface of a slab of half thickness t is tanh(t / T)
                           */
    TACT_EXTENT_LAPLACE,  /**< T u with lap u = 0, u = 0 on the surface and u = 1 deeper than T
                             (section VI-A2 of the paper, with a rigid core) */
    TACT_EXTENT_DISTANCE, /**< d, with kinks where two points of the surface are equally near */
};

/** Names of the kinds in scenes and commands, in the order of the enumeration; the last is NULL. */
TACT_API extern const char *const tact_extent_kind_names[];

/** Parameters of an extent. */
struct tact_extent_recipe {
    enum tact_extent_kind kind; /**< how it is defined by the surface */
    double thickness;           /**< T [m] > 0 */
    double cell; /**< edge of the finest cells [m]; 0: 1/48 of the longest side of the mesh or the
                    thickness, whichever is smaller, and finer if a part of the solid is thinner
                    than two cells */
};

/** How well a field represents a mesh. */
struct tact_field_quality {
    double volume;       /**< volume of the region with positive pressure [m^3] */
    double deepest;      /**< largest pressure, over the slope E / T of the material [m] */
    double slope;        /**< mean gradient on the surface by area, over that slope [1] */
    double slope_spread; /**< its standard deviation [1] */
    double rms; /**< root mean square over the mesh's area of its distance from the surface of zero
                   pressure [m] */
    double worst;    /**< largest such distance of a vertex or the centre of a triangle [m] */
    double place[3]; /**< position of that point [m], mesh frame */
};

/** An extent, linear on tetrahedra. */
struct tact_extent {
    size_t vertex_count; /**< number of vertices */
    double *vertices;    /**< [3 vertex_count] [m], mesh frame */
    double *extent;      /**< [vertex_count] [m], negative outside the solid */
    size_t tet_count;    /**< number of tetrahedra */
    uint32_t *tets;      /**< [4 tet_count] indices of vertices; neighbours share whole faces */
    double cell;         /**< longest edge of the finest cells [m] */
    struct tact_field_quality
        quality; /**< quality of a field with this extent; all 0 until measured */
};

/**
 * Computes the extent of a mesh: about 0.3 s for 6,000 triangles. Same input, same bits.
 * @retval 0        *out is the extent; free it with tact_extent_free()
 * @retval -EINVAL  a thickness or cell that is not positive
 * @retval -EDOM    the cell is too coarse for a thin part, or for the thickness, or so fine that
 * the lattice would exceed four million nodes, or no point is deep enough for the core of LAPLACE;
 * err states which, and where
 * @retval -ENOMEM
 */
TACT_API int tact_extent_of_mesh(const struct tact_mesh *mesh,
                                 const struct tact_extent_recipe *recipe, struct tact_extent **out,
                                 struct tact_error *err);

/** Frees an extent; NULL is allowed. */
TACT_API void tact_extent_free(struct tact_extent *extent);

struct tact_pressure_field;

/** Compares a field of tetrahedra with a mesh; all 0 for other fields. slope: modulus over
 * thickness [Pa/m]. */
TACT_API void tact_field_measure(const struct tact_pressure_field *field, double slope,
                                 const struct tact_mesh *mesh, struct tact_field_quality *out);

/** The pressure of a field of tetrahedra at the point x [m] of its frame [Pa]; 0 outside of it, and
 * for other fields. */
TACT_API double tact_field_pressure(const struct tact_pressure_field *field, const double x[3]);

/**
 * Functions that store extents from one run to the next. Before a stored extent is used, its mesh,
 * recipe and checksum are compared; it then equals a computed one bit for bit.
 */
struct tact_extent_store {
    void *user; /**< passed to each function */
    /** Loads the data saved under a name, to be freed by free(). Returns 0 or a negative errno. */
    int (*load)(void *user, const char *name, void **data, size_t *size);
    /** Saves data under a name of up to 40 letters, digits and hyphens. After a failure the extent
     * is computed again in the next run. */
    void (*save)(void *user, const char *name, const void *data, size_t size);
    /** Reports a warning about a mesh whose field is used. */
    void (*warn)(void *user, const char *text);
};

/** Loads the extent of a mesh from a store. Returns 1 with *out, to be freed with
 * tact_extent_free(); 0 where the store has none, or one that is damaged or belongs to another mesh
 * or recipe. */
TACT_API int tact_extent_load(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                              const struct tact_extent_recipe *recipe, struct tact_extent **out);

/** Saves the extent of a mesh to a store. */
TACT_API void tact_extent_save(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                               const struct tact_extent_recipe *recipe,
                               const struct tact_extent *extent);

TACT_END_DECLS

#endif
