/* The energy bound of passivity.h for a vector whose axes have different bounds, and the largest
 * damping of a coupling. */
#ifndef TACT_RT_PASSIVITY_INTERNAL_H
#define TACT_RT_PASSIVITY_INTERNAL_H

/*
 * Energy bound of a vector along axes with bounds of their own: scales the force down to
 *
 *     sum force_i^2 / c_i <= sum (last_i - c_i x_i)^2 / c_i,   c_i = b_i / (T/2 + delay)
 *
 * with x_i the displacement. sum F_i^2 / (2 c_i) is the storage: expanded, it grows in a tick by no
 * more than sum (-last_i x_i + c_i x_i^2 / 2), and c_i / 2 <= b_i / T: by what the person and the
 * dampings have put in. The least c_i for all axes generates nothing either, but no wall across any
 * of them feels stiffer than it. With equal c_i it is tact_passivity_bound(), bit for bit.
 * @param c  [n] [N/m, N m/rad], > 0; else as tact_passivity_bound()
 * @return the factor, 0 to 1. Real-time safe.
 */
double tact_passivity_bound_axes(double *force, const double *last, const double *displacement,
                                 int n, const double *c);

/*
 * Largest damping of a virtual wall at which a free device, which nobody holds, comes to rest:
 * beyond it the damper by itself, which acts on the difference of two readings, makes the device
 * oscillate. With the filter H = alpha / (1 - (1 - alpha) / z) of that difference the
 * characteristic equation on the unit circle, z = exp(j a), is
 * z^(delay/T + 1) (z - 1) = -(B T / 2 m) (z + 1) H:
 *
 *     (delay/T + 1) a - arg H(a) = pi/2,   B = 2 m / T tan(a/2) / |H(a)|,
 *
 * 2, 0.828 and 0.536 m / T without a filter at delays of 0, 1 and 2 ticks. The damping of the
 * device itself, which is not in it, raises it by little, and the stiffness of a passive wall
 * lowers it by less than a twentieth.
 * @param mass    m, of the device [kg, kg m^2]
 * @param delay   from sensor to force [s]
 * @param alpha   weight of a new rate in the low-pass filter, 0 to 1; 1: no filter
 * @param period  T [s]
 * @return [N s/m, N m s/rad]. Real-time safe.
 */
double tact_passivity_max_damping(double mass, double delay, double filter_weight_of_new_rate,
                                  double period);

#endif
