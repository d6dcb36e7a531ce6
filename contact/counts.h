/**
 * What a tick did beside its usual way: the layers of the solver and the methods of the moments
 * that it took, by name. Counts say why a tick was slow, and where a result is not a solution.
 *
 * Real-time safe.
 */
#ifndef TACT_CONTACT_COUNTS_H
#define TACT_CONTACT_COUNTS_H

#include "api.h"

TACT_BEGIN_DECLS

/** Of a solve. The first three are contacts, times sweeps. */
enum tact_solve_count {
    TACT_COUNT_STICK,      /**< solved at once: the contact sticks */
    TACT_COUNT_ACTIVE_SET, /**< by the set of its active limits */
    TACT_COUNT_SEARCH,     /**< by the search for the place of friction */
    TACT_COUNT_NEWTON,     /**< steps of Newton's method of an island */
    TACT_COUNT_TAKEN_BACK, /**< times that such steps led nowhere and were taken back */
    TACT_COUNT_INTERIOR,   /**< steps of the interior-point method */
    TACT_COUNT_PROXIMAL,   /**< times that an island was solved near its present impulses */
    TACT_COUNT_ANDERSON,   /**< steps of Anderson acceleration */
    TACT_COUNT_SLOWED,     /**< islands solved again with slower pushes */
    TACT_COUNT_DAMPED,     /**< islands solved again with less rebound, which gave energy */
    TACT_COUNT_RESTORED,   /**< islands out of sweeps that take the impulses that missed by least */
    TACT_COUNT_BOUNDED,    /**< unsolved islands whose impulses balanced each other, made less */
    TACT_COUNT_SCALED,     /**< unsolved islands whose impulses gave energy, made less */
    TACT_COUNT_UNSOLVED,   /**< islands that are not solved to the tolerance */
    TACT_COUNT_CONFORMING, /**< smooth pairs without their second-order term: the contact moves too
                              far in a tick */
    TACT_COUNT_NOT_FOUND,  /**< smooth pairs near each other whose closest points were not found */
    TACT_COUNT_POLYGONS,   /**< polygons of the contact surfaces of pressure fields */
    TACT_COUNT_ALIKE,   /**< pairs of their cells whose pressures agree on a volume: the force jumps
                           there */
    TACT_COUNT_CROWDED, /**< pairs of pressure fields with more polygons than there is room for,
                           which do not press, or more than their friction limit was made of */
    TACT_COUNT_OVERSHOT, /**< pairs that fast bodies overlapped after the drift, moved apart */
    TACT_SOLVE_COUNTS
};

/** Of the host's moments: by which method a pair was measured. */
enum tact_moments_count {
    TACT_COUNT_CLOSED_FORM,  /**< ball and ball, ball or capsule and half-space */
    TACT_COUNT_SPHERE_MESH,  /**< ball and mesh */
    TACT_COUNT_HALF_SPACE,   /**< mesh and half-space, triangle by triangle */
    TACT_COUNT_CONVEX,       /**< a convex solid of few faces, cut */
    TACT_COUNT_RIM,          /**< meshes by the rim of their overlap */
    TACT_COUNT_PRISMS,       /**< meshes by the prisms near it */
    TACT_COUNT_ALL_PRISMS,   /**< meshes by all pairs of prisms, where the rim and those refused */
    TACT_COUNT_TURNED,       /**< meshes seen along another direction than the last normal */
    TACT_COUNT_CAPSULE_MESH, /**< capsule and mesh */
    TACT_MOMENTS_COUNTS
};

/** Their names: "stick", "closed_form"; NULL for what is none. Real-time safe. */
TACT_API const char *tact_solve_count_name(int count);
/** Name of enum tact_moments_count, static text. Real-time safe. */
TACT_API const char *tact_moments_count_name(int count);

TACT_END_DECLS

#endif
