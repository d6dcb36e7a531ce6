/** The energy bound of passivity.h for a vector whose axes have different bounds. */
#ifndef TACT_RT_PASSIVITY_INTERNAL_H
#define TACT_RT_PASSIVITY_INTERNAL_H

/**
 * Energy bound of a vector along axes with bounds of their own: scales the force down to
 *
 *     sum force_i^2 / c_i <= sum (last_i - c_i moved_i)^2 / c_i,   c_i = b_i / (T/2 + delay)
 *
 * sum F_i^2 / (2 c_i) is the storage: expanded, it grows in a tick by no more than
 * sum (-last_i moved_i + c_i moved_i^2 / 2), and c_i / 2 <= b_i / T: by what the person and the
 * dampings have put in. The least c_i for all axes generates nothing either, but no wall across any
 * of them feels stiffer than it. With equal c_i it is tact_passivity_bound(), bit for bit.
 * @param c  [n] [N/m, N m/rad], > 0; else as tact_passivity_bound()
 * @return the factor, 0 to 1. Real-time safe.
 */
double tact_passivity_bound_axes(double *force, const double *last, const double *moved, int n,
                                 const double *c);

#endif
