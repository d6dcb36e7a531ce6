/* Velocity of a body's material point at a position, and its rate of change there. World axes; a
 * twist is that of a frame at its origin [m/s, rad/s], an arm goes from that origin to the position
 * [m]. */
#ifndef TACT_CONTACT_PAIR_MOTION_INTERNAL_H
#define TACT_CONTACT_PAIR_MOTION_INTERNAL_H

#include "contact/vec.h"

static inline void tact_pair_velocity_at_arm(const double twist[6], const double arm[3],
                                             double out[3])
{
    tact_v3_cross(out, twist + 3, arm);
    tact_v3_add(out, out, twist);
}

/* Largest relative change of an angular velocity in a tick that is extrapolated. */
#define TACT_MAX_STEADY_ANGULAR_VELOCITY_CHANGE 0.5

/* 1 where a shape's rotation is nearly that of the last tick, so that it can be extrapolated. */
static inline int tact_pair_is_rotation_steady(const double now[6], const double last[6])
{
    double change[3];
    tact_v3_sub(change, now + 3, last + 3);
    return tact_v3_norm(change) <= TACT_MAX_STEADY_ANGULAR_VELOCITY_CHANGE * tact_v3_norm(now + 3);
}

/* Rate of change of the material velocity [m/s^2] at a position that moves with velocity `place`;
 * rate: of the twist. */
static inline void tact_pair_velocity_rate(const double twist[6], const double rate[6],
                                           const double arm[3], const double place[3],
                                           double out[3])
{
    double along[3], turned[3];
    tact_v3_sub(along, place, twist);
    tact_v3_cross(out, twist + 3, along);
    tact_v3_cross(turned, rate + 3, arm);
    tact_v3_add(out, out, turned);
    tact_v3_add(out, out, rate);
}

#endif
