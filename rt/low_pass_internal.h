/* A first-order low-pass: of channels, of rates, and of the forces of couplings. */
#ifndef TACT_RT_LOW_PASS_INTERNAL_H
#define TACT_RT_LOW_PASS_INTERNAL_H

#include "contact/elementary.h"

/*
 * Weight of a new value, 1 - exp(-2 pi f T): that of the continuous filter 1 / (1 + s / 2 pi f) for
 * an input that is constant over a period.
 * @param cutoff  f [Hz]; 0: no filter
 * @param period  T [s]
 * @return 0 to 1; 1: no filter. Real-time safe.
 */
static inline double tact_low_pass_weight(double cutoff, double period)
{
    const double pi = 3.14159265358979323846;
    return cutoff > 0.0 ? -tact_expm1(-2.0 * pi * cutoff * period) : 1.0;
}

#endif
