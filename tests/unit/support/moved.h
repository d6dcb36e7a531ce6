/* Displaced poses, for central differences. */
#ifndef TACT_TESTS_MOVED_H
#define TACT_TESTS_MOVED_H

#include "contact/vec.h"

/* Pose displaced by `by` times a twist about a centre. */
static inline struct tact_pose pose_displaced_by_twist(const struct tact_pose *from,
                                                       const double *centre, const double *twist,
                                                       double by)
{
    struct tact_pose out = *from;
    double turn[3], q[4], arm[3], after[3];
    tact_v3_scale(turn, twist + 3, by);
    tact_quat_from_rotvec(q, turn);
    tact_v3_sub(arm, from->position, centre);
    tact_quat_rotate(after, q, arm);
    tact_v3_add(out.position, centre, after);
    tact_v3_axpy(out.position, by, twist);
    tact_quat_mul(out.quat_wxyz, q, from->quat_wxyz);
    tact_quat_normalize(out.quat_wxyz);
    return out;
}

/* The pose displaced by `step` [m] along axis k of the world (0 to 2), or rotated by `step` [rad]
 * about axis k - 3 through the centroid. */
static inline struct tact_pose pose_displaced_along_coordinate(const struct tact_pose *p,
                                                               const double centroid[3], int k,
                                                               double step)
{
    double twist[6] = {0.0};
    twist[k] = 1.0;
    return pose_displaced_by_twist(p, centroid, twist, step);
}

#endif
