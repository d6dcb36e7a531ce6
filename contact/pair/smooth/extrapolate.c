/* The twists and rates that the second-order term of smooth contacts is evaluated at: those after
 * the solve of a tick, continued from the last ticks. */
#include "contact/pair/smooth/extrapolate_internal.h"

#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/motion_internal.h"

/* Change of the rotation in a tick that does not matter [rad] */
#define MAX_NEGLIGIBLE_TURN_CHANGE 1e-7
/* Largest relative difference of the changes of an angular velocity in two ticks with which it is
 * extrapolated. */
#define MAX_STEADY_CHANGE_RATIO 0.5

/* Rotates both halves of a twist's rate from the world to the shape's axes, or back. */
static void rotate_twist_rate_to_shape_axes(const struct tact_pose *pose, int back,
                                            const double *in, double *out)
{
    double rotation[9];
    tact_quat_to_m3(rotation, pose->quat_wxyz);
    for (int i = 0; i < 6; i += 3) {
        if (back) {
            tact_m3_mul_v3(out + i, rotation, in + i);
        } else {
            tact_m3_tmul_v3(out + i, rotation, in + i);
        }
    }
}

/* 1 where the rotation of a shape continues that of the last ticks, so that it can be extrapolated:
 * it is nearly that of the last tick, or changes as much as before, as at the turning point of a
 * swing, or hardly at all. twist_of_tick_before_last: that of the tick before the last; NULL: not
 * known. */
static int does_rotation_continue(const double now[6], const double last[6],
                                  const double *twist_of_tick_before_last, double h)
{
    double change[3], difference[3];
    tact_v3_sub(change, now + 3, last + 3);
    double size = tact_v3_norm(change);
    if (tact_pair_is_rotation_steady(now, last) || h * size <= MAX_NEGLIGIBLE_TURN_CHANGE) {
        return 1;
    }
    if (!twist_of_tick_before_last) {
        return 0;
    }
    tact_v3_sub(difference, change, last + 3);
    tact_v3_add(difference, difference, twist_of_tick_before_last + 3);
    return tact_v3_norm(difference) <= MAX_STEADY_CHANGE_RATIO * size;
}

/* Number of ticks for which the contact has existed. */
static double count_ticks_of_contact(const struct tact_pair_query *q, double ticks_of_steady_motion,
                                     const double *last, const double *twist_of_tick_before_last)
{
    int is_contact_steady = 1, is_earlier_known = ticks_of_steady_motion > 0.0;
    for (int k = 0; k < 2; k++) {
        is_contact_steady &= does_rotation_continue(
            q->twist[k], last + 6 * k, is_earlier_known ? twist_of_tick_before_last + 6 * k : NULL,
            q->options->period);
    }
    double ticks_of_steady_contact = is_contact_steady ? ticks_of_steady_motion : 0.0;
    return q->pressed > 0.0 ? tact_min(ticks_of_steady_contact + 1.0, 3.0) : 0.0;
}

void tact_smooth_extrapolate_motion(const struct tact_pair_query *q, double *ticks_of_steady_motion,
                                    double last_two_shape_motions[2 * SMOOTH_MOTION_SIZE],
                                    double twist[2][6], double rate[2][6])
{
    const struct tact_pose *pose[2] = {q->pose_a, q->pose_b};
    double now[SMOOTH_MOTION_SIZE], next[SMOOTH_MOTION_SIZE],
        *last = last_two_shape_motions, *before = last_two_shape_motions + SMOOTH_MOTION_SIZE;
    *ticks_of_steady_motion = count_ticks_of_contact(q, *ticks_of_steady_motion, last, before);
    for (int k = 0; k < 2; k++) {
        memcpy(now + 6 * k, q->twist[k], sizeof q->twist[k]);
        rotate_twist_rate_to_shape_axes(pose[k], 0, q->rate[k], now + 12 + 6 * k);
    }
    for (int i = 0; i < SMOOTH_MOTION_SIZE; i++) {
        double change = now[i] - last[i];
        next[i] = now[i];
        next[i] += *ticks_of_steady_motion > 1.0 ? change : 0.0;
        next[i] += *ticks_of_steady_motion > 2.0 ? change - (last[i] - before[i]) : 0.0;
        before[i] = last[i];
        last[i] = now[i];
    }
    for (int k = 0; k < 2; k++) {
        memcpy(twist[k], next + 6 * k, sizeof twist[k]);
        rotate_twist_rate_to_shape_axes(pose[k], 1, next + 12 + 6 * k, rate[k]);
    }
}
