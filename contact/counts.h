/**
 * What a tick did besides the usual: the stages of the solver and the methods of the moments that
 * it used, by name. Counts show why a tick was slow, and where a result is not a solution.
 *
 * Real-time safe.
 */
#ifndef TACT_CONTACT_COUNTS_H
#define TACT_CONTACT_COUNTS_H

#include "api.h"

TACT_BEGIN_DECLS

/** Counts of a solve. The first three count contacts times sweeps. */
enum tact_solve_count {
    TACT_COUNT_STICK,      /**< solved at once: the contact sticks */
    TACT_COUNT_ACTIVE_SET, /**< solved with the set of its active limits */
    TACT_COUNT_SEARCH,     /**< solved by the search for the friction state */
    TACT_COUNT_NEWTON,     /**< steps of Newton's method of an island */
    TACT_COUNT_TAKEN_BACK, /**< times that such steps did not converge and were undone */
    TACT_COUNT_INTERIOR,   /**< steps of the interior-point method */
    TACT_COUNT_PROXIMAL,   /**< times that the springs of an island were anchored at its present
                              impulses */
    TACT_COUNT_ANDERSON,   /**< steps of Anderson acceleration */
    TACT_COUNT_SLOWED,     /**< islands solved again with reduced bias velocities */
    TACT_COUNT_DAMPED,     /**< islands solved again with less restitution, which added energy */
    TACT_COUNT_RESTORED,   /**< islands out of sweeps whose impulses with the smallest absolute
                              residual were restored */
    TACT_COUNT_BOUNDED,    /**< unsolved islands whose impulses balanced each other and were scaled
                              down */
    TACT_COUNT_SCALED,     /**< unsolved islands whose impulses added energy and were scaled down */
    TACT_COUNT_UNSOLVED,   /**< islands not solved to the tolerance */
    TACT_COUNT_CONFORMING, /**< pairs without their second-order term: the contact of a smooth
                              pair, or a body of a pair of features, moves too far in a tick */
    TACT_COUNT_NOT_FOUND,  /**< near smooth pairs whose closest points were not found */
    TACT_COUNT_EDGES,      /**< smooth pairs that touch at edges, or along a line or face where they
                              conform, and are measured by features or volume */
    TACT_COUNT_POLYGONS,   /**< polygons of the contact surfaces of pressure fields */
    TACT_COUNT_PARTS, /**< parts of their pressures that the friction limits are computed from */
    TACT_COUNT_ALIKE, /**< pairs of their cells whose pressures are equal in a volume: the force is
                         discontinuous there */
    TACT_COUNT_CROWDED,  /**< pairs of pressure fields with more polygons than the capacity, which
                            exert no force, or with more than their friction limit was computed from
                          */
    TACT_COUNT_OVERSHOT, /**< pairs of fast bodies that overlapped after the drift and were
                            separated */
    TACT_COUNT_TERM_LIMITED, /**< pairs of features whose second-order term was reduced to what it
                                reverses, so that friction adds no energy */
    TACT_COUNT_ROLLING_NOT_FOUND, /**< contacts times sweeps whose torques that resist rolling were
                                     not found: they are inside their limit, but no solution */
    TACT_COUNT_OPPOSED, /**< patches of pressure fields whose pressures oppose each other so far
                           that their torque about the normal is cut to the force times their size,
                           or their friction to ten times that of the force */
    TACT_SOLVE_COUNTS
};

/** Counts of the host's moments: by which method a pair was measured. */
enum tact_moments_count {
    TACT_COUNT_CLOSED_FORM,  /**< ball and ball; ball, ellipsoid or capsule and half-space */
    TACT_COUNT_SPHERE_MESH,  /**< ball or ellipsoid and mesh */
    TACT_COUNT_HALF_SPACE,   /**< mesh and half-space, triangle by triangle */
    TACT_COUNT_CONVEX,       /**< a convex solid with few faces, cut */
    TACT_COUNT_RIM,          /**< meshes by the rim of their overlap */
    TACT_COUNT_PRISMS,       /**< meshes by the prisms near it */
    TACT_COUNT_ALL_PRISMS,   /**< meshes by all pairs of prisms, where the two methods above refused
                              */
    TACT_COUNT_TURNED,       /**< meshes projected along another direction than the last normal */
    TACT_COUNT_CAPSULE_MESH, /**< capsule and mesh */
    TACT_MOMENTS_COUNTS
};

/** Name of an enum tact_solve_count, e.g. "stick", static text; NULL out of range. Real-time safe.
 */
TACT_API const char *tact_solve_count_name(int count);
/** Name of an enum tact_moments_count, e.g. "closed_form", static text; NULL out of range.
 * Real-time safe. */
TACT_API const char *tact_moments_count_name(int count);

TACT_END_DECLS

#endif
