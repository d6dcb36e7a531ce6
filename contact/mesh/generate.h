/**
 * Procedural solids: closed triangle surfaces for scenes, tests and benchmarks that need a
 * complex body without a file.
 *
 * The same parameters produce the same triangles. No function here is real-time safe.
 */
#ifndef TACT_CONTACT_GENERATE_H
#define TACT_CONTACT_GENERATE_H

#include <stdint.h>
#include "../api.h"
#include "mesh.h"

TACT_BEGIN_DECLS

/** Kinds of generated mesh. */
enum tact_generate_kind {
    TACT_GENERATE_PRISM, /**< regular prism along z; uses radius, height, and count as the number of
                            sides */
    TACT_GENERATE_GEAR,  /**< gear along z; uses radius (of the tips), height, and count as the
                            number of teeth */
    TACT_GENERATE_TORUS, /**< torus about z; uses radius (of the ring) and tube */
    TACT_GENERATE_KNOT,  /**< trefoil knot about z; uses radius (outer one of the centre line) and
                            tube */
    TACT_GENERATE_BLOB,  /**< ball of `radius` with bumps up to `bump` high: count bumps per
                            diameter, seed */
    TACT_GENERATE_BUMPY_CUBE, /**< cube of `edge` with bumps up to `bump` high: count bumps per
                                 edge, seed */
    TACT_GENERATE_KINDS,
};

/** Parameters of a generated mesh. A kind uses the members named at it and, except for the prism,
 * triangles. */
struct tact_generate {
    enum tact_generate_kind kind; /**< kind of mesh */
    double edge;                  /**< [m] */
    double radius;                /**< [m] */
    double height;                /**< [m] */
    double tube;    /**< radius of the tube [m]: below `radius`, for a knot below a quarter of it */
    double bump;    /**< height of the bumps [m], 0 to `radius` or `edge` */
    uint32_t count; /**< number of sides (3 to 4096), teeth (3 to 512) or bumps (1 to 1024) */
    uint32_t triangles; /**< approximate number of triangles, 12 to 2^20 */
    uint32_t seed;      /**< seed of the random bumps */
};

/** Names of the kinds in a scene: prism, gear, torus, knot, blob, bumpy_cube, NULL. */
TACT_API extern const char *const tact_generate_names[TACT_GENERATE_KINDS + 1];

/**
 * Generates the triangles, closed and counter-clockwise seen from outside; equal vertices may
 * occur several times, as tact_mesh_create() accepts them. Free with tact_soup_free().
 * @retval 0
 * @retval -EINVAL  a parameter out of range: *wrong (unless NULL) is the member's name
 * @retval -ENOMEM
 */
TACT_API int tact_soup_generate(const struct tact_generate *what, struct tact_soup *out,
                                const char **name_of_bad_parameter);

TACT_END_DECLS

#endif
