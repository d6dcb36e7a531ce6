/**
 * The pressure of a tick's contacts, polygon by polygon, as the contact models that compute one
 * measured it: for logs and pictures. The solver does not use it.
 *
 * It is the elastic pressure at the poses that the tick begins with. Its integral is the elastic
 * force; the normal force of the solution has damping and the motion of the tick besides.
 */
#ifndef TACT_CONTACT_PRESSURE_H
#define TACT_CONTACT_PRESSURE_H

#include <stdint.h>
#include "../api.h"

TACT_BEGIN_DECLS

#define TACT_PRESSURE_PATCHES 64    /**< most patches of a map */
#define TACT_PRESSURE_POLYGONS 2048 /**< most polygons of all its patches */
#define TACT_PRESSURE_CORNERS 12288 /**< most corners of all polygons */

/** A patch of a pressure map. Its sums are those of all of its polygons, in the map or not. */
struct tact_pressure_patch {
    uint32_t pair;     /**< index of the pair in the world, as in tact_world_contact() */
    uint32_t a;        /**< first shape */
    uint32_t b;        /**< second shape */
    uint32_t polygons; /**< number of its polygons in the map, after those of the patches before */
    uint32_t left_out; /**< polygons for which the map had no room */
    float peak;        /**< largest pressure at a corner [Pa] */
    double center[3];  /**< centre of pressure, origin of the corners [m], world */
    double normal[3];  /**< direction of the force on a, unit vector, world */
    double area;       /**< [m^2] */
    double load;       /**< integral of the pressure [N] */
};

/** The pressure of all patches in a tick. Plain data of 210 kB, of which the counts say how much is
 * valid. */
struct tact_pressure {
    uint32_t patches;          /**< number of valid entries of patch */
    uint32_t polygons;         /**< number of valid entries of sides */
    uint32_t corners;          /**< number of valid entries of corner */
    uint32_t left_out;         /**< polygons without room, of all patches, in the map or not */
    uint32_t patches_left_out; /**< patches without room */
    struct tact_pressure_patch patch[TACT_PRESSURE_PATCHES]; /**< patches, by pair */
    uint8_t sides[TACT_PRESSURE_POLYGONS];  /**< corners of each polygon; polygons are convex */
    float corner[TACT_PRESSURE_CORNERS][4]; /**< x, y, z from the patch's center [m], world axes;
                                                 pressure [Pa], linear on each polygon */
};

/** Empties a map. Real-time safe. */
TACT_API void tact_pressure_clear(struct tact_pressure *map);

/** Adds a patch without polygons, for a contact model: its pair and shapes are filled by the world,
 * area and load by the model. NULL, counted, without room. Real-time safe. */
TACT_API struct tact_pressure_patch *
tact_pressure_add_patch(struct tact_pressure *map, const double center[3], const double normal[3]);

/** Adds a convex polygon to the last patch: corner[count], world [m], and the pressure at each
 * [Pa]. It is counted as left out where the map has no room, or the patch has none (NULL).
 * Real-time safe. */
TACT_API void tact_pressure_add_polygon(struct tact_pressure *map,
                                        struct tact_pressure_patch *patch,
                                        const double (*corner)[3], const double *pressure,
                                        int count);

TACT_END_DECLS

#endif
