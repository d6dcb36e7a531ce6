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
 * Delay by which a first-order low-pass of a wall's force lowers the stiffest passive wall, beside
 * the delay of the device: T / (exp(2 pi f T) - 1), the mean delay of its impulse response, which
 * is 1 / (2 pi f) less half a period at low f.
 *
 * The condition of Colgate and Schenkel 1997 of a wall K whose force is the sum of w_n times the
 * position n ticks ago, w_n >= 0 and of sum 1, is
 *
 *     b > sup over a of T K / (2 (1 - cos a)) Re{(1 - exp(-j a)) sum w_n exp(-j n a)}
 *       = sup over a of T K / 2 sum w_n sin((n + 1/2) a) / sin(a / 2) = T K sum w_n (n + 1/2),
 *
 * as |sin(N x) / sin(x)| <= N, with equality for a to 0: K (T/2 + mean delay), exactly, for a
 * filter and any whole number of ticks of delay. The filter of a damper's rate is not in it: the
 * spring acts on the position itself.
 * @param cutoff  f [Hz]; 0: no filter
 * @param period  T [s]
 * @return [s]; 0 without a filter. Real-time safe.
 */
double tact_passivity_filter_delay(double cutoff, double period);

/* The loop of a free device and a virtual wall with a damper. */
struct tact_passivity_loop {
    double mass;      /* m, of the device [kg, kg m^2] */
    double damping;   /* b, of the device [N s/m, N m s/rad]; counts beside a stiffness only */
    double delay;     /* from sensor to force, without filters [s] */
    double stiffness; /* K, of the wall; counts up to the stiffest passive one [N/m, N m/rad] */
    double rate_filter_weight;  /* weight of a new value in the low-pass of the damper's rate, 0
                                   to 1; 1: no filter */
    double force_filter_weight; /* the same of the low-pass of the whole force */
    double period;              /* T [s] */
};

/*
 * Largest damping of a virtual wall at which a free device, which nobody holds, comes to rest:
 * beyond it the damper by itself, which acts on the difference of two readings, makes the device
 * oscillate. With the filters H = alpha / (1 - (1 - alpha) / z) of that difference and of the force
 * the characteristic equation on the unit circle, z = exp(j a), is
 * z^(delay/T + 1) (z - 1) = -(B T / 2 m) (z + 1) H_rate H_force:
 *
 *     (delay/T + 1) a - arg(H_rate H_force) = pi/2,   B = 2 m / T tan(a/2) / |H_rate H_force|,
 *
 * 2, 0.828 and 0.536 m / T without filters at delays of 0, 1 and 2 ticks, and 2, 0.667 and 0.400
 * with a slow filter, whose gain falls as its lag grows. The damping of the device itself, which is
 * not in it, raises it by little, and the stiffness of a passive wall lowers it by less than a
 * twentieth, unless the rate has a filter: a damper that lags is a spring too. With a filter of the
 * rate the result is at most the least B > 0 at which the loop with b and K has a root on the unit
 * circle,
 *
 *     B = -(exp(j a delay/T) / (P H_force) + K) T / ((1 - 1/z) H_rate),
 *
 * P the device after a zero-order hold.
 * @return [N s/m, N m s/rad]. Not real-time safe: it takes up to a millisecond.
 */
double tact_passivity_max_damping(const struct tact_passivity_loop *loop);

#endif
