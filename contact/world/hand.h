/**
 * A hand: a tree of links on a base that is fixed or moves, in reduced coordinates, with driven
 * joints.
 *
 * Each link has one joint to its parent, which rotates about or slides along an axis of the link's
 * frame. Joint values are q [rad or m], rates v, drive torques [N m or N]. Drives are implicit:
 * the rates after a tick follow from
 *     (M + h D + h^2 K) v' = M v + h (K (target - q) + D target_rate - bias) + J^T impulse,
 * so that every gain is stable, and contacts use the inverse of that matrix as the mobility. A
 * drive that reaches its limit exerts the limit as a constant torque instead. With a target rate of
 * 0 the damper acts against the base, as that of a robot's drive does; with the rate of the target
 * it acts between the target and the joint, as that of a virtual coupling does.
 *
 * A joint also has an armature, which adds to the diagonal of M, viscous friction V, which adds h V
 * to it and acts where the drive is at its limit too, dry friction, and a range with a stop at each
 * end. Dry friction and stops are constraints that the world solves together with the contacts
 * (joint_bounds_internal.h): a joint within its stops ends no tick beyond one, a joint beyond a
 * stop returns at 5 rad/s or the world's push_limit at most, and one that does not slip is at rest.
 *
 * A mimic joint follows another one by a linear law, q = offset + multiplier q of the other. Joints
 * that are tied so are one coordinate z: with v = T z the matrix above is T^T (...) T, and contacts
 * and constraints see its inverse. Drives, armature and friction of all of them act on z, and the
 * narrowest of their ranges holds; `reaction` and `stop` of them are at the first of them, in its
 * unit. A drive may act on a fixed tendon, of length sum c_i q_i, instead of on its joint: with the
 * force f, the torques c_i f.
 *
 * A base that moves has six coordinates, links 0 to 5 (tact_hand_base_links()): its displacement
 * from where it was created, world axes [m], and its rotation vector relative to its attitude then,
 * world axes [rad]. Their rates are the velocity of its frame's origin and its angular velocity,
 * world axes. The drives act toward a target pose in the same coordinates, with the torque along
 * the shortest rotation; their two limits are those of the length of force and torque.
 *
 * tact_hand_create() allocates; all functions except tact_hand_create() and tact_hand_destroy()
 * are real-time safe.
 */
#ifndef TACT_CONTACT_HAND_H
#define TACT_CONTACT_HAND_H

#include <stdint.h>
#include "../api.h"
#include "../vec.h"

TACT_BEGIN_DECLS

/** Kinds of joint of a hand. */
enum tact_joint_kind {
    TACT_JOINT_HINGE, /**< hinge joint: the link rotates about the axis */
    TACT_JOINT_SLIDE, /**< slide joint: the link moves along the axis */
    TACT_JOINT_BASE,  /**< one of the six coordinates of a moving base */
};

/** Number of coordinates of a base that moves. */
#define TACT_HAND_BASE 6

/** Term of a fixed tendon: the contribution of one joint to its length. */
struct tact_tendon_term {
    int joint;          /**< index of the joint in the hand */
    double coefficient; /**< tendon length per joint value [1], [m/rad] or [rad/m] */
};

/** One link and the joint to its parent. */
struct tact_link_def {
    int parent;                 /**< index of the parent link, an earlier one; -1: the base */
    enum tact_joint_kind joint; /**< kind of joint */
    double axis[3];             /**< joint axis: unit vector, link frame */
    struct tact_pose origin; /**< pose of the link frame in the parent's frame at joint value 0 */
    double stiffness;        /**< K >= 0 [N m/rad] or [N/m] */
    double damping;          /**< D >= 0 [N m s/rad] or [N s/m] */
    double limit;            /**< limit of the drive torque or force [N m] or [N]; 0: no limit */
    double start;            /**< joint value and target at the start [rad] or [m] */
    double lower;            /**< lower stop of the joint value [rad] or [m] */
    double upper;            /**< upper stop [rad] or [m]; no stops unless lower < upper */
    double armature; /**< armature: inertia or mass of the drive's rotor as it acts at the joint, >=
                        0 [kg m^2] or [kg] */
    double viscous;  /**< viscous friction V of the joint, >= 0 [N m s/rad] or [N s/m] */
    double friction; /**< largest dry friction of the joint, >= 0 [N m] or [N] */
    int mimic;       /**< 1 + index of the joint that this one follows, which follows
                          none itself; 0: none */
    double multiplier; /**< multiplier of a mimic joint's law, not 0 [1], [m/rad] or [rad/m] */
    double offset;     /**< offset of a mimic joint's law [rad] or [m] */
    /** [tendon_count] terms of the tendon that the drive acts on, if any: target, limit and torque
     * are then of its length and force */
    const struct tact_tendon_term *tendon;
    int tendon_count;  /**< number of joints of the tendon; 0: the drive acts on its joint */
    double mass;       /**< [kg] > 0 */
    double center[3];  /**< centre of mass of the link [m], link frame */
    double inertia[6]; /**< inertia of the link about its centre of mass, link axes: xx yy zz xy xz
                          yz [kg m^2] */
};

/** Joint states, one entry a link. Read and write them freely between ticks; of joints tied
 * together the first one's value and rate count, and the next tick moves the others to their law.
 */
struct tact_hand_state {
    double *q;      /**< joint values [rad, m] */
    double *v;      /**< joint rates [rad/s, m/s] */
    double *target; /**< drive targets [rad, m]; of a drive on a tendon its length */
    /** rates that the dampers of the drives act toward [rad/s, m/s]; 0 until set */
    double *target_rate;
    double *torque; /**< drive torque of the last tick [N m, N], after limiting; of a drive on a
                        tendon its force */
    /** 1 or -1 where the drive was at its torque limit in that direction, else 0 [1]. Of a base:
     * the direction of the force or torque that was at its limit */
    double *saturated;
    double *reaction; /**< torque of stops and dry friction in the last tick [N m, N]; the next
                         solve starts from it */
    double *stop;     /**< -1 where the joint was at its lower stop in the last tick, 1 at the upper
                         one, else 0 [1] */
};

struct tact_hand;

/** Creates a hand. -EINVAL for a parent that is not an earlier link, a mass or inertia that is not
 * physical, negative gains, frictions or armature, a zero axis, stops or friction of a base, a
 * mimic joint that follows none, itself or one that follows or that starts more than 1e-9 away from
 * its law, ranges of joints tied together that leave no room, a tendon that has no joint, a joint
 * twice or one of a base, or numbers that are not finite; -ENOMEM. */
TACT_API int tact_hand_create(const struct tact_link_def *links, int count,
                              const struct tact_pose *base, struct tact_hand **out);
/** Drive of a moving base: of its forces along all axes, or of its torques about all axes. */
struct tact_base_drive {
    double stiffness; /**< K >= 0 [N/m] or [N m/rad] */
    double damping;   /**< D >= 0 [N s/m] or [N m s/rad] */
    /** limit of the magnitude of the base's force [N] or torque [N m]; 0: no limit */
    double limit;
};

/** Writes the links of a base that moves to links[TACT_HAND_BASE]; the last has its mass and
 * shapes. base: mass, center and inertia in its frame; its other members are not used. force,
 * torque: its drives. Real-time safe. */
TACT_API void tact_hand_base_links(const struct tact_link_def *base,
                                   const struct tact_base_drive *force,
                                   const struct tact_base_drive *torque,
                                   struct tact_link_def *links);

/** Sets the stiffness and damping of one of a moving base's drives along each axis of a frame that
 * does not move: its matrices are A diag(k) A^T in the axes of the world. The limit of the drive
 * stays that of the magnitude. With the error e, of the attitude a rotation vector, the energy of
 * the spring is e^T K e / 2, and force and torque on the base are its gradient: K e, and J_r^-T K e
 * with the right Jacobian J_r of SO(3) at e. At the target acts J_r^-1 K e, and on the frame the
 * difference, e x K e, which is 0 where the stiffness is equal about all axes. Real-time safe.
 * @param hand       a hand with a moving base
 * @param part       0: the drive of its forces; 1: that of its torques
 * @param quat_wxyz  attitude A of the frame in the world, of length 1
 * @param stiffness  [3] along or about its axes, >= 0 [N/m] or [N m/rad]
 * @param damping    [3] >= 0 [N s/m] or [N m s/rad]
 * @retval 0
 * @retval -EINVAL  the hand has no moving base, part is neither 0 nor 1, or a number is negative or
 *                  not finite */
TACT_API int tact_hand_set_base_axes(struct tact_hand *hand, int part, const double quat_wxyz[4],
                                     const double stiffness[3], const double damping[3]);

/** Ties a moving base to its target by a spring and a damper of all six coordinates, in place of
 * its two drives. Rows and columns are those of force then torque, along axes that turn with the
 * target: K in N/m, N/rad, N and N m/rad, D in N s/m, N s/rad, N s and N m s/rad. With the error e
 * of position and attitude the energy of the spring is e^T K e / 2, where the terms between the two
 * fade out from a quarter turn to half a turn, and force and torque on the base are its gradient;
 * the reaction at the target has the opposite force, and the torque that balances both. The limits
 * stay those of the links: where the force is at its limit, the torque is that of the spring that
 * deflects until it has this force, and the other way round. Real-time safe.
 * @param hand       a hand with a moving base
 * @param quat_wxyz  attitude of the frame in the world where the target's rotation vector is 0, of
 *                   length 1
 * @param stiffness  [36] K, row-major
 * @param damping    [36] D, row-major
 * @retval 0
 * @retval -EINVAL  the hand has no moving base, or a matrix is not finite, symmetric and positive
 *                  semidefinite, to 1e-9 of the roots of the products of its diagonal entries */
TACT_API int tact_hand_set_base_matrices(struct tact_hand *hand, const double quat_wxyz[4],
                                         const double stiffness[36], const double damping[36]);

/** Frees a hand that no world owns; NULL is allowed. Not real-time safe. */
TACT_API void tact_hand_destroy(struct tact_hand *hand);

/** Number of links of a hand, which is also that of its joints. Real-time safe. */
TACT_API int tact_hand_count(const struct tact_hand *hand);

/** Number of a hand's links that are coordinates of a moving base: 0 or TACT_HAND_BASE. Real-time
 * safe.
 */
TACT_API int tact_hand_base_count(const struct tact_hand *hand);

/** Returns the index of a link's parent link, or -1: the base. */
TACT_API int tact_hand_parent(const struct tact_hand *hand, int link);
/** Pointers to the joint states; valid as long as the hand. Real-time safe. */
TACT_API struct tact_hand_state tact_hand_state(struct tact_hand *hand);

/** Computes the poses of link frames and joint axes in the world from the joint values q. */
TACT_API void tact_hand_refresh(struct tact_hand *hand);

/** Pose of a link's frame in the world, as of the last refresh. */
TACT_API const struct tact_pose *tact_hand_link_pose(const struct tact_hand *hand, int link);
/** Twist [m/s, rad/s], world axes, of the point of a link that is at `point` [m], world. Real-time
 * safe. */
TACT_API void tact_hand_link_twist(const struct tact_hand *hand, int link, const double point[3],
                                   double twist[6]);

/** Rate of change of the twist of a point of a link at constant joint rates, Jdot v, for a point
 * that moves with the link [m/s^2, rad/s^2]. */
TACT_API void tact_hand_link_rate(const struct tact_hand *hand, int link, const double point[3],
                                  double rate[6]);

/** Jacobian of a link at a world point: six rows (linear, angular, world axes), one column a joint,
 * column-major with stride 6. Columns of joints that do not move the link are zero. */
TACT_API void tact_hand_jacobian(const struct tact_hand *hand, int link, const double point[3],
                                 double *jacobian);

/**
 * Computes the free rates of the next tick: factors M + h D + h^2 K and solves without
 * contacts. impulse: joint-space impulse expected from contacts [N m s], usually that of the last
 * tick, used to predict which drives reach their limits, and the rates between the ticks, at which
 * Coriolis and centrifugal torques act; NULL: none. gravity [m/s^2], world.
 * @retval 0
 * @retval -EDOM  the matrix is not positive definite (numbers out of range)
 */
TACT_API int tact_hand_free_velocity(struct tact_hand *hand, double h, const double gravity[3],
                                     const double *impulse);

/** Solves with the hand's matrix: x = (M + h D + h^2 K)^-1 x for `columns` columns of length count,
 * with the factors of the last tact_hand_free_velocity(). */
TACT_API void tact_hand_solve(const struct tact_hand *hand, double *x, int columns);

/** Joint rates of the tick [rad/s, m/s]: the free ones after tact_hand_free_velocity(), and those
 * with contacts once the world is solved. Real-time safe. */
TACT_API double *tact_hand_velocity(struct tact_hand *hand);

/** Smallest margin (tact_margin(), limits.h) to the torque limits of the drives that move a joint
 * between the base and the link, by it, by a joint tied to it or by a tendon, for the torque that
 * their springs demand at the rates being solved; 1 where no drive has a limit. *saturated: 1 where
 * a drive is at its limit. h [s]: period of the tick. */
TACT_API double tact_hand_drive_margin(const struct tact_hand *hand, int link, double h,
                                       int *saturated);

/** Ends a hand's tick: stores drive torques and joint rates, adds h v to the joint values q, and
 * refreshes the link poses. */
TACT_API void tact_hand_integrate(struct tact_hand *hand, double h);

TACT_END_DECLS

#endif
