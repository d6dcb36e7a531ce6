/**
 * Constraints: joints of mechanisms, each between two free bodies or a body and the world.
 *
 * Constraints are solved in the same sweeps as contacts. The constrained directions of all joints
 * of a mechanism form one matrix, which is factored once a tick. The free direction (rotation of a
 * hinge, translation of a slider) is a scalar with friction, damping and stops. The mobility that
 * a contact uses is that of the bodies with all joints satisfied. Impulses act along the gradient
 * of the constraint at the start of the tick and are such that the constraint is satisfied at its
 * end, after the bodies have moved (SHAKE, Ryckaert, Ciccotti and Berendsen 1977, here with the
 * exact free motion of rigid bodies). Loops therefore stay closed to rounding, and the energy of a
 * mechanism without friction does not drift. For bodies that turn by more than 0.3 rad in a tick
 * the constraint is satisfied to first order only. The shapes of the two bodies of a joint do not
 * touch each other (of FIXED shapes, those of the same index).
 *
 * All functions are real-time safe, except tact_world_add_constraint().
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
    TACT_CONSTRAINT_HINGE,  /**< hinge: points and z axes of both joint frames coincide, and a
                               rotates about z */
    TACT_CONSTRAINT_SLIDER, /**< slider: body a moves along the z axis of b and does not rotate */
    TACT_CONSTRAINT_FIXED,  /**< the frames coincide */
};

/** A joint between a and b. The caller sets the members up to `friction`; the solver sets the
 * others. */
struct tact_constraint {
    enum tact_constraint_kind kind; /**< kind of joint */
    /** the two owners that the joint connects, BODY or FIXED; at least one is a BODY */
    struct tact_owner a, b;
    struct tact_pose in_a; /**< joint frame relative to a (to a body's centre of mass and axes; to
                              the world for FIXED) */
    struct tact_pose in_b; /**< joint frame relative to b */
    /** lower stop of the joint's value (HINGE [rad], within -pi to pi; SLIDER [m]) */
    double lower;
    double upper; /**< upper stop of the hinge's angle or the slider's displacement, in the unit of
                     lower; no stops unless lower < upper */
    double damping;  /**< viscous friction of the joint, >= 0: HINGE [N m s/rad], SLIDER [N s/m] */
    double friction; /**< largest dry friction of the joint, >= 0: HINGE [N m], SLIDER [N] */

    double impulse[6]; /**< joint impulse on a, along and about the axes of b's joint frame, at the
                          joint's point on a; the warm start of the next solve [N s, N m s] */
    double wrench[6];  /**< joint force and torque on a in the last tick, world axes, about `point`
                          [N, N m] */
    double point[3];   /**< joint's point on a at the start of the last tick [m], world */
    double value; /**< value of the joint at the start of the last tick: angle of a HINGE [rad],
                     displacement of a SLIDER [m], else 0 */
    int stop;     /**< -1: the joint is at its lower stop, 1: at its upper stop, 0: at neither */
};

/**
 * Describes a joint that is satisfied at the present poses of a and b, without stops, damping
 * and friction. frame: of the joint, world. The bodies must already be in the world.
 * @retval 0
 * @retval -EINVAL  a and b cannot be joined, or a number is not finite
 */
TACT_API int tact_constraint_between(struct tact_world *world, enum tact_constraint_kind kind,
                                     struct tact_owner a, struct tact_owner b,
                                     const struct tact_pose *frame, struct tact_constraint *out);

/** Adds a joint, before tact_world_finish(). Returns its index, -ENOMEM, or -EINVAL where the two
 * owners cannot be joined or a number is out of range. */
TACT_API int tact_world_add_constraint(struct tact_world *world,
                                       const struct tact_constraint *constraint);

/** Number of a world's joints between bodies, as added by tact_world_add_constraint(). Real-time
 * safe. */
TACT_API int tact_world_constraint_count(const struct tact_world *world);

/** A mechanism's joint by its index. A caller may write only `impulse`, to restore a warm start.
 * Real-time safe. */
TACT_API struct tact_constraint *tact_world_constraint(struct tact_world *world, int index);

/** Present error of a joint in the directions that it constrains: out[0] distance of its two frames
 * [m], out[1] angle between them [rad]. Real-time safe. */
TACT_API void tact_world_constraint_error(const struct tact_world *world, int index, double out[2]);

TACT_END_DECLS

#endif
