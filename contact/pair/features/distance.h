/**
 * The distance between two convex solids, or the least translation that separates them, with the
 * closest features (Yi and Drumwright 2018; see README.md beside this header).
 */
#ifndef TACT_CONTACT_DISTANCE_H
#define TACT_CONTACT_DISTANCE_H

#include "../../api.h"
#include "../../shape/shape.h"

TACT_BEGIN_DECLS

/** Kind of feature of a solid that is nearest along the normal; of a capsule's axis and of a ball's
 * centre. */
enum tact_feature { TACT_FEATURE_VERTEX, TACT_FEATURE_EDGE, TACT_FEATURE_FACE };

/** Capacity for the corners of the contact polygon of two features. */
#define TACT_DISTANCE_CORNERS 136

/** Distance between two convex solids, with nearest points and contact polygon. */
struct tact_distance {
    double distance; /**< distance [m]; negative: length of the least translation that separates */
    double bound; /**< lower bound of the distance, from the extents along the normal; differs from
                     it by rounding only [m] */
    double normal[3];             /**< unit normal that pushes A out of B, world */
    double point[2][3];           /**< nearest, or deepest, points of A and B [m], world */
    enum tact_feature feature[2]; /**< feature of A and B */
    int corners; /**< number of corners of the polygon in which the features overlap, projected
                    along the normal; counter-clockwise about it; 1: a point, 2: a segment */
    /** corners of the polygon, half way between the two surfaces [m], world */
    double corner[TACT_DISTANCE_CORNERS][3];
    double gap[TACT_DISTANCE_CORNERS]; /**< gap between the surfaces at each corner, along the
                                          normal [m] */
    int supports;                      /**< number of support searches that the query needed */
};

/** Name of a kind of feature: "vertex", "edge" or "face", static text. Real-time safe. */
TACT_API const char *tact_feature_name(enum tact_feature feature);

/** 1 for two shapes whose distance tact_distance_find() can compute: half-spaces, spheres,
 * capsules, cylinders, ellipsoids, boxes and convex solids, one of them bounded; 0 for others.
 * Real-time safe. */
TACT_API int tact_distance_supports(const struct tact_shape *a, const struct tact_shape *b);

/**
 * Computes the distance between shape a at pose_a and shape b at pose_b; a box must be tessellated.
 * Allocates: not real-time safe.
 * @retval 0
 * @retval -ENOTSUP  tact_distance_supports() is 0
 * @retval -ENOMEM, -EINVAL for a box or convex solid without its triangulation
 */
TACT_API int tact_distance_find(const struct tact_shape *a, const struct tact_pose *pose_a,
                                const struct tact_shape *b, const struct tact_pose *pose_b,
                                struct tact_distance *out);

TACT_END_DECLS

#endif
