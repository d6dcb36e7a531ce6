/**
 * Counts of a tick's special cases: the stages of the solver and the methods of the moments that it
 * used, by name. Counts show why a tick was slow, and where a result is not a solution.
 *
 * Real-time safe.
 */
#ifndef TACT_CONTACT_COUNTS_H
#define TACT_CONTACT_COUNTS_H

#include "api.h"

TACT_BEGIN_DECLS

/** Counts of a solve by the contact solver. The first three count contacts times sweeps. */
enum tact_solve_count {
    TACT_COUNT_STICK,      /**< contacts solved in one step because they stick */
    TACT_COUNT_ACTIVE_SET, /**< contacts solved with the set of their active limits */
    TACT_COUNT_SEARCH,     /**< contacts solved by the iterative search for the friction state */
    TACT_COUNT_NEWTON,     /**< steps of Newton's method for whole islands */
    TACT_COUNT_TAKEN_BACK, /**< Newton solves of islands that did not converge and were undone */
    TACT_COUNT_INTERIOR,   /**< steps of the interior-point method for islands */
    TACT_COUNT_PROXIMAL,   /**< times that the springs of an island were anchored at its present
                              impulses */
    TACT_COUNT_ANDERSON,   /**< steps of Anderson acceleration of an island's sweeps */
    TACT_COUNT_SLOWED,     /**< islands solved again with reduced bias velocities */
    TACT_COUNT_DAMPED, /**< islands solved again with less restitution, because the restitution had
                          added energy, or with another load of an elastic contact, because its
                          springs had returned more than they absorbed */
    TACT_COUNT_RESTORED,   /**< islands that ran out of sweeps and whose impulses with the smallest
                              absolute residual were restored */
    TACT_COUNT_BOUNDED,    /**< unsolved islands whose impulses balanced each other and were scaled
                              down */
    TACT_COUNT_SCALED,     /**< unsolved islands whose impulses added energy and were scaled down */
    TACT_COUNT_UNSOLVED,   /**< islands not solved to the tolerance */
    TACT_COUNT_CONFORMING, /**< pairs without their second-order term, because the contact of a
                              smooth pair, or a body of a pair of features, moves too far in a tick
                            */
    TACT_COUNT_NOT_FOUND,  /**< near smooth pairs whose closest points were not found */
    TACT_COUNT_EDGES,      /**< smooth pairs at edges, lines or faces, or none of whose contacts
                              was found, that the models features or volume measure, and those
                              that touch along the ring of a torus */
    TACT_COUNT_POLYGONS,   /**< polygons of the contact surfaces of pressure fields */
    TACT_COUNT_PARTS, /**< parts into which the pressures are divided for their friction limits */
    TACT_COUNT_ALIKE, /**< pairs of cells of pressure fields whose pressures are equal in a volume:
                         the force is discontinuous there */
    TACT_COUNT_CROWDED,  /**< pairs of pressure fields with more polygons than the capacity, which
                            exert no force, or than their friction limit was computed from */
    TACT_COUNT_OVERSHOT, /**< pairs of fast bodies that overlapped after the drift and were
                            separated */
    TACT_COUNT_TERM_LIMITED,      /**< pairs of features whose second-order term was limited to the
                                     velocity that it reverses, so that friction adds no energy */
    TACT_COUNT_ROLLING_NOT_FOUND, /**< contacts times sweeps whose torques that resist rolling were
                                     not found: they are inside their limit, but no solution */
    TACT_COUNT_OPPOSED,     /**< patches of pressure fields whose pressures oppose each other so far
                               that their torque about the normal is cut to the force times their size,
                               or their friction to ten times that of the force */
    TACT_COUNT_JOINTS_LOST, /**< rows of joints between bodies that were left out because the masses
                               of the bodies differ by so much that the rows are lost in rounding
                             */
    TACT_COUNT_POINTS_LEFT_OUT,     /**< contact points beyond the capacity, which bear nothing */
    TACT_COUNT_RATES_NOT_PREDICTED, /**< hands whose Coriolis and centrifugal torques are those at
                                       the rates before the tick, because the rates predicted with
                                       the last tick's impulses have too much energy */
    TACT_SOLVE_COUNTS
};

/** Counts of overlap measurements on the host, by the method that computed their moments. */
enum tact_moments_count {
    TACT_COUNT_CLOSED_FORM, /**< overlaps of ball and ball; ball, ellipsoid or capsule and
                               half-space */
    TACT_COUNT_SPHERE_MESH, /**< overlaps of a ball or an ellipsoid with a mesh */
    TACT_COUNT_HALF_SPACE,  /**< overlaps of a mesh with a half-space, triangle by triangle */
    TACT_COUNT_CONVEX,      /**< overlaps with a convex solid of few faces, which cuts the other */
    TACT_COUNT_RIM,         /**< overlaps of meshes measured from the rim of their intersection */
    TACT_COUNT_PRISMS,     /**< overlaps of meshes measured from the prisms near the intersection */
    TACT_COUNT_ALL_PRISMS, /**< overlaps of meshes measured from all pairs of prisms, where rim and
                              near prisms refused */
    TACT_COUNT_TURNED,     /**< overlaps of meshes projected along another direction than the last
                              normal */
    TACT_COUNT_CAPSULE_MESH, /**< capsule and mesh */
    TACT_MOMENTS_COUNTS
};

/** Name of a count of enum tact_solve_count, e.g. "stick", static text; NULL out of range.
 * Real-time safe. */
TACT_API const char *tact_solve_count_name(int count);
/** Name of a count of enum tact_moments_count, e.g. "closed_form", static text; NULL out of range.
 * Real-time safe. */
TACT_API const char *tact_moments_count_name(int count);

TACT_END_DECLS

#endif
