/**
 * Solids made by rule: closed triangle surfaces for scenes, tests and benches that need a complex
 * body without a file.
 *
 * The same numbers give the same triangles. Nothing here is real-time safe.
 */
#ifndef TACT_CONTACT_GENERATE_H
#define TACT_CONTACT_GENERATE_H

#include <stdint.h>
#include "../api.h"
#include "mesh.h"

TACT_BEGIN_DECLS

enum tact_generate_kind {
    TACT_GENERATE_PRISM,      /**< regular prism along z: radius, height, count sides */
    TACT_GENERATE_GEAR,       /**< gear along z: radius of the tips, height, count teeth */
    TACT_GENERATE_TORUS,      /**< about z: radius of the ring, tube */
    TACT_GENERATE_KNOT,       /**< trefoil about z: radius that its middle line reaches, tube */
    TACT_GENERATE_BLOB,       /**< ball of `radius` whose surface rises by up to bump: count bumps a
                                   diameter, seed */
    TACT_GENERATE_BUMPY_CUBE, /**< cube of `edge` whose surface rises likewise: count bumps an edge,
                                   seed */
    TACT_GENERATE_KINDS,
};

/** What to make. A kind reads the members that it names above and, but for the prism, triangles. */
struct tact_generate {
    enum tact_generate_kind kind;
    double edge;    /**< [m] */
    double radius;  /**< [m] */
    double height;  /**< [m] */
    double tube;    /**< radius of the tube [m]: under `radius`, for a knot under a quarter of it */
    double bump;    /**< greatest rise of the surface [m], 0 to `radius` or `edge` */
    uint32_t count; /**< sides (3 to 4096), teeth (3 to 512) or bumps (1 to 1024) */
    uint32_t triangles; /**< about how many, 12 to 2^20 */
    uint32_t seed;      /**< of the bumps */
};

/** The words of a scene for the kinds: prism, gear, torus, knot, blob, bumpy_cube, NULL. */
TACT_API extern const char *const tact_generate_names[TACT_GENERATE_KINDS + 1];

/**
 * Makes the triangles, closed and counter-clockwise seen from outside; equal vertices may occur
 * several times, as tact_mesh_create() takes them. To be freed with tact_soup_free().
 * @retval 0
 * @retval -EINVAL  a number out of range: *wrong, where given, names the member
 * @retval -ENOMEM
 */
TACT_API int tact_soup_generate(const struct tact_generate *what, struct tact_soup *out,
                                const char **wrong);

TACT_END_DECLS

#endif
