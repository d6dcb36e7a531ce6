/* Slightly displaced poses, for central differences. */
#ifndef TACT_TESTS_MOVED_H
#define TACT_TESTS_MOVED_H

#include "contact/vec.h"

/* The pose displaced by `step` [m] along axis k of the world (0 to 2), or rotated by `step` [rad]
 * about axis k - 3 through the centroid. */
static inline struct tact_pose pose_displaced_along_coordinate(const struct tact_pose *p,
                                                               const double centroid[3], int k,
                                                               double step)
{
    struct tact_pose out = *p;
    if (k < 3) {
        out.position[k] += step;
        return out;
    }
    double spin[3] = {0.0}, q[4], r[3], turned[3];
    spin[k - 3] = step;
    tact_quat_from_rotvec(q, spin);
    tact_v3_sub(r, p->position, centroid);
    tact_quat_rotate(turned, q, r);
    tact_v3_add(out.position, centroid, turned);
    tact_quat_mul(out.quat_wxyz, q, p->quat_wxyz);
    return out;
}

#endif
