/**
 * Elementary functions whose results are the same bit for bit on every processor of one
 * architecture.
 *
 * The C library selects a variant by the processor (with or without fused multiply-add), and the
 * results of the variants differ in the last bit; in another program the plain names may even be
 * bound to functions of that program. These are SLEEF's deterministic functions without fused
 * multiply-add, under names of our own. The largest errors measured against 113-bit references are
 * given in units in the last place [ulp]. sqrt(), fabs(), floor() and others that are exact by IEEE
 * 754 are used directly. Real-time safe. Special values are those of C's annex F.
 */
#ifndef TACT_CONTACT_ELEMENTARY_H
#define TACT_CONTACT_ELEMENTARY_H

#include "api.h"

TACT_BEGIN_DECLS

/** Sine of x [rad], 0.88 ulp. */
TACT_API double tact_sin(double x);

/** Cosine of x [rad], 0.83 ulp. */
TACT_API double tact_cos(double x);

/** Angle of the point (x, y), from the x axis toward y, -pi to pi [rad]; 0.85 ulp. */
TACT_API double tact_atan2(double y, double x);

/** Cube root, 0.54 ulp. */
TACT_API double tact_cbrt(double x);

/** exp(x) - 1, 1.0 ulp. */
TACT_API double tact_expm1(double x);

/** x to the power of y, 0.66 ulp. */
TACT_API double tact_pow(double x, double y);

/** Natural logarithm, within 1.0 ulp as SLEEF states. */
TACT_API double tact_log(double x);

/** sqrt(x^2 + y^2) without intermediate overflow, 2.0 ulp. */
TACT_API double tact_hypot(double x, double y);

TACT_END_DECLS

#endif
