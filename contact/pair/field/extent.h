/**
 * The extent of a closed mesh: how deep each place of the solid counts for its pressure field.
 *
 * Elandt 2019 makes a pressure of a "penetration extent", 0 on the surface and rising inward. Here
 * it is a length [m], about the depth under a flat surface, and the pressure is modulus / thickness
 * times it. It is computed on a lattice about the mesh, whose nodes next to the surface know
 * exactly where that is, and is linear on tetrahedra of the lattice's cells: the body is where it
 * is over 0, and no tetrahedra need to fit the surface.
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

/** How an extent follows from a surface; T is the thickness, d the distance from the surface. */
enum tact_extent_kind {
    TACT_EXTENT_AUTO,     /**< of a mesh SCREENED; of other shapes their own field (field.h) */
    TACT_EXTENT_SCREENED, /**< -T ln w with w - T^2 lap w = 0, w = 1 on the surface: smooth inside.
                               T tanh-like on a slab of half thickness t: slope tanh(t / T) */
    TACT_EXTENT_LAPLACE,  /**< T u with lap u = 0, 0 on the surface and 1 deeper than T (the paper's
                               VI-A2 with a rigid core) */
    TACT_EXTENT_DISTANCE, /**< d, with kinks where two places of the surface are as near */
};

/** Words for them in scenes and commands, the last NULL. */
TACT_API extern const char *const tact_extent_kind_names[];

/** What an extent is computed from, beside the mesh. */
struct tact_extent_recipe {
    enum tact_extent_kind kind; /**< how it follows from the surface */
    double thickness;           /**< T [m] > 0 */
    double cell; /**< edge of the finest cells [m]; 0: a 48th of the mesh's longest side or the
                      thickness, if that is less, and finer where the solid is thinner */
};

/** How well a field stands for a mesh. */
struct tact_field_quality {
    double volume;       /**< of what has a pressure over 0 [m^3] */
    double deepest;      /**< largest pressure over slope [m] */
    double slope;        /**< mean gradient on the surface by area, over slope [1] */
    double slope_spread; /**< its standard deviation [1] */
    double rms;      /**< distance of the mesh from where the pressure is 0, over its area [m] */
    double worst;    /**< largest such distance of vertices and middles of triangles [m] */
    double place[3]; /**< where that is [m], mesh frame */
};

/** An extent, linear on tetrahedra. */
struct tact_extent {
    size_t vertex_count; /**< number of vertices */
    double *vertices;    /**< [3 vertex_count] [m], mesh frame */
    double *extent;      /**< [vertex_count] [m], below 0 outside of the solid */
    size_t tet_count;    /**< number of tetrahedra */
    uint32_t *tets;      /**< [4 tet_count] indices of vertices; they meet face to face */
    double cell;         /**< longest edge of the finest cells [m] */
    struct tact_field_quality quality; /**< of a field with this extent; all 0 until measured */
};

/**
 * Computes the extent of a mesh: about 0.3 s for 6,000 triangles. Same input, same bits.
 * @retval 0        *out is the extent; free it with tact_extent_free()
 * @retval -EINVAL  a thickness or cell that is not positive
 * @retval -EDOM    the cell is too coarse for a thin part, or for the thickness, or so fine that
 *                  there are over four million nodes, or no place is as deep as Laplace's core; err
 *                  says which, and where
 * @retval -ENOMEM
 */
TACT_API int tact_extent_of_mesh(const struct tact_mesh *mesh,
                                 const struct tact_extent_recipe *recipe, struct tact_extent **out,
                                 struct tact_error *err);

/** Frees an extent; NULL is allowed. */
TACT_API void tact_extent_free(struct tact_extent *extent);

struct tact_pressure_field;

/** Measures a field of tetrahedra beside a mesh; all 0 of another. slope: modulus over thickness
 *  [Pa/m]. */
TACT_API void tact_field_measure(const struct tact_pressure_field *field, double slope,
                                 const struct tact_mesh *mesh, struct tact_field_quality *out);

/** The pressure of a field of tetrahedra at a place in its frame [Pa]; 0 outside of it, and of
 *  another field. */
TACT_API double tact_field_pressure(const struct tact_pressure_field *field, const double x[3]);

/**
 * Where extents are stored from one run to the next. A stored extent is compared with its mesh and
 * recipe, and by a checksum, before it is used; it is then equal to a computed one bit for bit.
 */
struct tact_extent_store {
    void *user; /**< passed to each function */
    /** Returns 0 and what was saved under a name, to be freed by free(); else a negative errno. */
    int (*load)(void *user, const char *name, void **data, size_t *size);
    /** Saves under a name of up to 40 letters, digits and hyphens; a failure costs time only. */
    void (*save)(void *user, const char *name, const void *data, size_t size);
    /** Is passed what a person should know of a mesh whose field is used. */
    void (*warn)(void *user, const char *text);
};

/** The extent of a mesh that the store has. 1: *out is to be freed with tact_extent_free(); 0:
 * there is none, or another one, or a damaged one. */
TACT_API int tact_extent_load(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                              const struct tact_extent_recipe *recipe, struct tact_extent **out);

/** Saves the extent of a mesh. */
TACT_API void tact_extent_save(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                               const struct tact_extent_recipe *recipe,
                               const struct tact_extent *extent);

TACT_END_DECLS

#endif
