/**
 * Joints of mechanisms: what keeps two free bodies, or a body and the world, together.
 *
 * Joints are solved in the sweeps that solve the contacts. The constrained directions of all bonds
 * of a mechanism are one matrix, factored once a tick; what is free (a hinge's turn, a slider's
 * way) is a scalar with friction, damping and stops; and contacts see bodies whose joints hold.
 * Impulses act along the constraint's gradient at the start of the tick and are such that the
 * constraint holds at its end, after the bodies have moved (Ryckaert, Ciccotti and Berendsen 1977,
 * SHAKE, here with the exact free motion of rigid bodies): loops stay closed to rounding, and the
 * energy of a mechanism without friction does not drift. Bodies that turn by more than 0.3 rad a
 * tick are held to first order. What a bond joins does not touch each other: the shapes of its two
 * owners (of FIXED ones, those whose index is the same).
 *
 * Real-time safe but for tact_world_add_constraint().
 */
#ifndef TACT_CONTACT_CONSTRAINT_H
#define TACT_CONTACT_CONSTRAINT_H

#include "../api.h"
#include "../owner.h"
#include "../vec.h"

TACT_BEGIN_DECLS

struct tact_world;

/** Kinds of joint. */
enum tact_constraint_kind {
    TACT_CONSTRAINT_BALL,   /**< the points coincide */
    TACT_CONSTRAINT_HINGE,  /**< and so do the z axes: a turns about z */
    TACT_CONSTRAINT_SLIDER, /**< a moves along b's z axis, and does not turn */
    TACT_CONSTRAINT_FIXED,  /**< the frames coincide */
};

/** A joint between a and b. Set by the caller up to `friction`; the rest follows from solving. */
struct tact_constraint {
    enum tact_constraint_kind kind; /**< kind of joint */
    struct tact_owner a, b;         /**< BODY or FIXED; at least one a body */
    struct tact_pose in_a; /**< the joint's frame in a (a body's centre of mass and axes; the world
                                for FIXED) */
    struct tact_pose in_b; /**< and in b */
    double lower;    /**< lower stop of the value (HINGE [rad], within -pi to pi; SLIDER [m]) */
    double upper;    /**< upper stop, in the unit of lower; no stops unless lower < upper */
    double damping;  /**< of a HINGE [N m s/rad] or SLIDER [N s/m] >= 0 */
    double friction; /**< dry, of a HINGE [N m] or SLIDER [N] >= 0 */

    double impulse[6]; /**< on a along and about b's axes, at a's point: warm start [N s, N m s] */
    double wrench[6];  /**< on a, world axes, about `point` [N, N m] */
    double point[3];   /**< of a, at the start of the tick solved last [m], world */
    double value;      /**< of a relative to b then: HINGE [rad], SLIDER [m], else 0 */
    int stop;          /**< -1, 1: at its lower or upper stop, 0: not */
};

/**
 * Describes a joint of a and b that holds where they are now; no stops, damping or friction.
 * frame: of the joint, world. Not for worlds whose bodies are not there yet.
 * @retval 0
 * @retval -EINVAL  a or b cannot be joined, or a number is not finite
 */
TACT_API int tact_constraint_between(struct tact_world *world, enum tact_constraint_kind kind,
                                     struct tact_owner a, struct tact_owner b,
                                     const struct tact_pose *frame, struct tact_constraint *out);

/** Adds a joint, before tact_world_finish(). Index, -ENOMEM, or -EINVAL for owners that cannot be
 *  joined or numbers out of range. */
TACT_API int tact_world_add_constraint(struct tact_world *world,
                                       const struct tact_constraint *constraint);

/** Number of joints of a world. Real-time safe. */
TACT_API int tact_world_constraint_count(const struct tact_world *world);

/** Live; write `impulse` only, to restore a warm start. Real-time safe. */
TACT_API struct tact_constraint *tact_world_constraint(struct tact_world *world, int index);

/** How far apart the joint's frames are now: out[0] the distance [m], out[1] the angle [rad], each
 * in the directions that the joint constrains. Real-time safe. */
TACT_API void tact_world_constraint_error(const struct tact_world *world, int index, double out[2]);

TACT_END_DECLS

#endif
