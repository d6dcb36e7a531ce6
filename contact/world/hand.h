/**
 * A hand: a tree of links on a fixed base, in reduced coordinates, with driven joints.
 *
 * One joint a link, turning about or sliding along an axis of the link's frame; joint values q [rad
 * or m], rates v, drive torques [N m or N]. Drives are implicit: a tick's rates follow from
 *     (M + h D + h^2 K) v' = M v + h (K (target - q) - bias) + J^T impulse,
 * so that any gain is stable, and contacts see the inverse of that matrix. A joint whose drive
 * reaches its limit keeps the limit as a constant torque instead.
 *
 * Made once (allocates), then real-time safe but for tact_hand_create() and tact_hand_destroy().
 */
#ifndef TACT_CONTACT_HAND_H
#define TACT_CONTACT_HAND_H

#include <stdint.h>
#include "../api.h"
#include "../vec.h"

TACT_BEGIN_DECLS

/** Kinds of joint of a hand. */
enum tact_joint_kind { TACT_JOINT_HINGE, TACT_JOINT_SLIDE };

/** One link and the joint to its parent. */
struct tact_link_def {
    int parent;                 /**< index of an earlier link, or -1: the base */
    enum tact_joint_kind joint; /**< kind of joint */
    double axis[3];             /**< unit vector, link frame */
    struct tact_pose origin;    /**< link frame in the parent's frame at joint value 0 */
    double stiffness;           /**< K >= 0 [N m/rad] or [N/m] */
    double damping;             /**< D >= 0 [N m s/rad] or [N s/m] */
    double limit;               /**< of the drive [N m] or [N]; 0: none */
    double start;               /**< joint value and target at the start [rad] or [m] */
    double mass;                /**< [kg] > 0 */
    double center[3];           /**< of mass [m], link frame */
    double inertia[6]; /**< about the centre of mass, link axes: xx yy zz xy xz yz [kg m^2] */
};

/** Joint states, one entry a link. Read and write freely between ticks. */
struct tact_hand_state {
    double *q;         /**< joint values [rad, m] */
    double *v;         /**< joint rates [rad/s, m/s] */
    double *target;    /**< drive targets [rad, m] */
    double *torque;    /**< drive torque of the last tick [N m, N], after its limit */
    double *saturated; /**< 1, -1: the drive was at its limit in that direction, 0: not [1] */
};

struct tact_hand;

/** -EINVAL for a parent that does not come earlier, a mass or inertia that is not physical,
 * negative gains, a zero axis, or numbers that are not finite; -ENOMEM. */
TACT_API int tact_hand_create(const struct tact_link_def *links, int count,
                              const struct tact_pose *base, struct tact_hand **out);
/** Frees a hand that no world owns; NULL is allowed. Not real-time safe. */
TACT_API void tact_hand_destroy(struct tact_hand *hand);

/** Number of links, and of joints. Real-time safe. */
TACT_API int tact_hand_count(const struct tact_hand *hand);

/** Index of a link's parent, -1: the base. */
TACT_API int tact_hand_parent(const struct tact_hand *hand, int link);
/** Pointers to the joint states; valid as long as the hand. Real-time safe. */
TACT_API struct tact_hand_state tact_hand_state(struct tact_hand *hand);

/** Link frames and joint axes in the world from q. */
TACT_API void tact_hand_refresh(struct tact_hand *hand);

/** Pose of a link's frame in the world, and the twist of the point of the link that is at `point`
 *  (world), as of the last refresh. */
TACT_API const struct tact_pose *tact_hand_link_pose(const struct tact_hand *hand, int link);
/** Twist [m/s, rad/s], world axes, of the point of a link that is at `point` [m], world. Real-time
 * safe. */
TACT_API void tact_hand_link_twist(const struct tact_hand *hand, int link, const double point[3],
                                   double twist[6]);

/** How that twist changes at constant joint rates, the point moving with the link: Jdot v [m/s^2,
 *  rad/s^2]. */
TACT_API void tact_hand_link_rate(const struct tact_hand *hand, int link, const double point[3],
                                  double rate[6]);

/** Jacobian of a link at a world point: rows 6 (linear, angular, world axes), one column a joint,
 *  column-major with stride 6; columns of joints that do not move the link are zero. */
TACT_API void tact_hand_jacobian(const struct tact_hand *hand, int link, const double point[3],
                                 double *jacobian);

/**
 * Free rates of the next tick: factors M + h D + h^2 K and solves, contacts left out. impulse:
 * joint space impulse expected from contacts [N m s], by which the drives that reach their limits
 * are chosen (the last tick's; NULL: none). gravity [m/s^2], world.
 * @retval 0
 * @retval -EDOM  the matrix is not positive definite (numbers out of range)
 */
TACT_API int tact_hand_free_velocity(struct tact_hand *hand, double h, const double gravity[3],
                                     const double *impulse);

/** x = (M + h D + h^2 K)^-1 x for `columns` columns of length count, with the last factors. */
TACT_API void tact_hand_solve(const struct tact_hand *hand, double *x, int columns);

/** Rates of the tick being solved: starts as the free rates; contacts add to it. */
TACT_API double *tact_hand_velocity(struct tact_hand *hand);

/** Least margin (tact_margin(), limits.h) of the torque limits of the drives from the base to the
 *  link, by the torque that their springs ask for at the rates being solved; 1 where none has a
 *  limit. *held: 1 where one of them is at its limit. h [s]: the tick's. */
TACT_API double tact_hand_drive_margin(const struct tact_hand *hand, int link, double h,
                                       int *saturated);

/** Takes those rates: drive torques, q += h v, refresh. */
TACT_API void tact_hand_integrate(struct tact_hand *hand, double h);

TACT_END_DECLS

#endif
