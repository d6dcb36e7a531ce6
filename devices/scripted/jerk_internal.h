/** The minimum-jerk blend that scripted devices share. */
#ifndef TACT_DEVICES_JERK_INTERNAL_H
#define TACT_DEVICES_JERK_INTERNAL_H

/** Share of a motion that is done after the share u of its time, u in 0 .. 1: velocity and
 *  acceleration are zero at both ends (Flash and Hogan 1985). Real-time safe. */
static inline double tact_minimum_jerk(double u)
{
    return u * u * u * (10.0 + u * (-15.0 + 6.0 * u));
}

#endif
