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
#include "../../version.h"

TACT_BEGIN_DECLS

/** How an extent (depth) is computed from a surface; T is the thickness, d the distance from the
 * surface. */
enum tact_extent_kind {
    TACT_EXTENT_AUTO,     /**< SCREENED for a mesh; other kinds of shape have a field of their own
                             (field.h) */
    TACT_EXTENT_SCREENED, /**< depth -T ln w with w - T^2 lap w = 0, w = 1 on the surface: smooth
                             inside. Its slope at the surface of a slab of half thickness t is
                             tanh(t / T) */
    TACT_EXTENT_LAPLACE, /**< depth T u with lap u = 0, u = 0 on the surface and u = 1 deeper than T
                            (section VI-A2 of the paper, with a rigid core) */
    TACT_EXTENT_DISTANCE, /**< the distance d itself, with kinks where two points of the surface are
                             equally near */
};

/** Names of the kinds of extent in scenes and commands, in the order of the enumeration; the last
 * is NULL. */
TACT_API extern const char *const tact_extent_kind_names[];

/** Parameters from which the extent of a mesh is computed. */
struct tact_extent_recipe {
    enum tact_extent_kind kind; /**< how the extent is computed from the surface */
    double thickness;           /**< T [m] > 0 */
    double cell; /**< edge length of the lattice's finest cells [m]; 0: 1/48 of the longest side of
                    the mesh or the thickness, whichever is smaller, and finer if a part of the
                    solid is thinner than two cells */
};

/** How well a pressure field represents a mesh. */
struct tact_field_quality {
    double volume;  /**< volume of the region with positive pressure [m^3] */
    double deepest; /**< largest pressure, over the slope E / T of the material [m] */
    double slope; /**< mean gradient of the pressure on the surface by area, over the slope E / T of
                     the material [1] */
    double slope_spread; /**< standard deviation of that gradient over the surface [1] */
    double rms;      /**< root mean square, over the mesh's area, of the distance between mesh and
                        surface of zero pressure [m] */
    double worst;    /**< largest distance of a vertex or triangle centre from the surface of zero
                        pressure [m] */
    double place[3]; /**< position of that vertex or triangle centre [m], mesh frame */
};

/** The extent (depth) of a mesh as a function that is linear on tetrahedra. */
struct tact_extent {
    size_t vertex_count; /**< number of vertices */
    double *vertices;    /**< positions of the vertices, [3 vertex_count] [m], mesh frame */
    double *extent;   /**< extent at the vertices, [vertex_count] [m], negative outside the solid */
    size_t tet_count; /**< number of tetrahedra */
    /** vertex indices of the tetrahedra, [4 tet_count]; neighbours share whole faces */
    uint32_t *tets;
    double cell; /**< longest edge of the finest cells [m] */
    /** quality of a pressure field with this extent; all 0 until measured */
    struct tact_field_quality quality;
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

/** Measures how well a pressure field of tetrahedra represents a mesh; all 0 for other fields.
 * slope: modulus over thickness [Pa/m]. */
TACT_API void tact_field_measure(const struct tact_pressure_field *field, double slope,
                                 const struct tact_mesh *mesh, struct tact_field_quality *out);

/** Pressure at the point x [m] of the frame of a field of tetrahedra [Pa]; 0 outside of it, and for
 * other fields. */
TACT_API double tact_field_pressure(const struct tact_pressure_field *field, const double x[3]);

/**
 * Functions that store computed extents from one run to the next. Before a stored extent is used,
 * its mesh, recipe and checksum are compared; it then equals a computed one bit for bit.
 */
struct tact_extent_store {
    struct tact_abi abi; /**< TACT_ABI(struct tact_extent_store) */
    void *user;          /**< pointer passed to each function of the store */
    /** Loads the data saved under a name, to be freed by free(). Returns 0 or a negative errno. */
    int (*load)(void *user, const char *name, void **data, size_t *size);
    /** Saves data under a name of up to 40 letters, digits and hyphens. After a failure the extent
     * is computed again in the next run. */
    void (*save)(void *user, const char *name, const void *data, size_t size);
    /** Reports a warning about a mesh whose pressure field is used. */
    void (*warn)(void *user, const char *text);
};

/** Loads the extent of a mesh from a store. Returns 1 with *out, to be freed with
 * tact_extent_free(); 0 where the store has none, or one that is damaged or belongs to another mesh
 * or recipe, and where the store was compiled for another ABI. */
TACT_API int tact_extent_load(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                              const struct tact_extent_recipe *recipe, struct tact_extent **out);

/** Saves the extent of a mesh to a store; not to one that was compiled for another ABI. */
TACT_API void tact_extent_save(const struct tact_extent_store *store, const struct tact_mesh *mesh,
                               const struct tact_extent_recipe *recipe,
                               const struct tact_extent *extent);

TACT_END_DECLS

#endif
