/**
 * Pressure map: the pressure of a tick's contacts, polygon by polygon, as the contact models that
 * compute one measured it: for logs and pictures. The solver does not use it.
 *
 * It is the elastic pressure at the poses that the tick begins with. Its integral is the elastic
 * force; the normal force of the solution also has damping and the motion of the tick.
 */
#ifndef TACT_CONTACT_PRESSURE_H
#define TACT_CONTACT_PRESSURE_H

#include <stdint.h>
#include "../api.h"

TACT_BEGIN_DECLS

#define TACT_PRESSURE_PATCHES 64 /**< largest number of patches of a pressure map */
/** Largest number of polygons of all patches of a pressure map. */
#define TACT_PRESSURE_POLYGONS 2048
/** Largest number of corners of all polygons of a pressure map. */
#define TACT_PRESSURE_CORNERS 12288

/** A patch of a pressure map. Its sums include all of its polygons, also those that the map has no
 * room for. */
struct tact_pressure_patch {
    uint32_t pair;     /**< index of the pair in the world, as in tact_world_contact() */
    uint32_t a;        /**< first shape */
    uint32_t b;        /**< second shape */
    uint32_t polygons; /**< number of its polygons in the map, which follow those of the patches
                          before */
    uint32_t left_out; /**< number of polygons for which the map had no room */
    float peak;        /**< largest pressure at a corner of the patch's polygons [Pa] */
    double center[3];  /**< centre of pressure [m], world; origin of the corners' coordinates */
    double normal[3];  /**< direction of the contact force on a, unit vector, world */
    double area;       /**< [m^2] */
    double load;       /**< integral of the pressure over the patch [N] */
};

/** Pressure map: the pressure of all patches in a tick. Plain data of 210 kB, of which the counts
 * say how much is valid. */
struct tact_pressure {
    uint32_t patches;  /**< number of valid entries of the array patch */
    uint32_t polygons; /**< number of valid entries of the array sides */
    uint32_t corners;  /**< number of valid entries of the array corner */
    uint32_t left_out; /**< number of polygons without room, of all patches, in the map or not */
    uint32_t patches_left_out;                               /**< patches without room */
    struct tact_pressure_patch patch[TACT_PRESSURE_PATCHES]; /**< patches, by pair */
    uint8_t sides[TACT_PRESSURE_POLYGONS];  /**< number of corners of each polygon; polygons are
                                               convex */
    float corner[TACT_PRESSURE_CORNERS][4]; /**< corner x, y, z from the patch's center [m], world
                                               axes; pressure [Pa], linear on each polygon */
};

/** Empties a pressure map. Real-time safe. */
TACT_API void tact_pressure_clear(struct tact_pressure *map);

/** Adds a patch without polygons to a pressure map, for a contact model: center [m, world]; normal,
 * a unit vector, world. Its pair and shapes are filled by the world, area and load by the model.
 * Returns NULL where there is no room, which is counted. Real-time safe. */
TACT_API struct tact_pressure_patch *
tact_pressure_add_patch(struct tact_pressure *map, const double center[3], const double normal[3]);

/** Adds a convex polygon to the last patch of a pressure map: corner[count], world [m], and the
 * pressure at each [Pa]. It is counted as left out where the map has no room, or the patch has none
 * (NULL). Real-time safe. */
TACT_API void tact_pressure_add_polygon(struct tact_pressure *map,
                                        struct tact_pressure_patch *patch,
                                        const double (*corner)[3], const double *pressure,
                                        int count);

TACT_END_DECLS

#endif
