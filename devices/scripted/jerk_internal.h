/* The minimum-jerk profile of scripted devices. */
#ifndef TACT_DEVICES_JERK_INTERNAL_H
#define TACT_DEVICES_JERK_INTERNAL_H

/* Fraction of a motion that is completed at the fraction u of its time, u in 0 .. 1: velocity and
 * acceleration are zero at both ends (Flash and Hogan 1985). Real-time safe. */
static inline double tact_minimum_jerk(double u)
{
    return u * u * u * (10.0 + u * (-15.0 + 6.0 * u));
}

#endif
