/* How the motion of a smooth pair continues. */
#ifndef TACT_CONTACT_EXTRAPOLATE_INTERNAL_H
#define TACT_CONTACT_EXTRAPOLATE_INTERNAL_H

#include "contact/pair/model.h"

/* Size of a motion: twists of A and B, world; then their rates, along the shapes' axes. */
enum { SMOOTH_MOTION_SIZE = 24 };

/*
 * Extrapolates the twists after this tick's solve and their rates in its drift from the last ticks,
 * by at most a parabola. Rates are extrapolated along the shapes' axes, where they differ by the
 * changes of the velocities, not by the rotation of the shapes.
 * ticks_of_steady_motion: number of ticks of contact with steady rotation before this one, 0, 1, 2,
 * 3 for more; motions: of the last tick and of the one before. Both become those of the next tick.
 */
void tact_smooth_extrapolate_motion(const struct tact_pair_query *q, double *ticks_of_steady_motion,
                                    double last_two_shape_motions[2 * SMOOTH_MOTION_SIZE],
                                    double twist[2][6], double rate[2][6]);

#endif
