/**
 * Elementary functions whose results are the same bit for bit on every processor of one
 * architecture.
 *
 * The C library selects a variant by the processor (with or without fused multiply-add), and the
 * results of the variants differ in the last bit; in another program the plain names may even be
 * bound to functions of that program. These are SLEEF's deterministic functions without fused
 * multiply-add, under names of our own, and the bounds of their errors in units in the last place
 * [ulp] are those that SLEEF states. sqrt(), fabs(), floor() and others that are exact by IEEE 754
 * are used directly. Real-time safe. Special values are those of C's annex F.
 */
#ifndef TACT_CONTACT_ELEMENTARY_H
#define TACT_CONTACT_ELEMENTARY_H

#include "api.h"

TACT_BEGIN_DECLS

/** Sine of x [rad], within 1 ulp. */
TACT_API double tact_sin(double x);

/** Cosine of x [rad], within 1 ulp. */
TACT_API double tact_cos(double x);

/** Angle of the point (x, y), from the x axis toward y, -pi to pi [rad]; within 1 ulp. */
TACT_API double tact_atan2(double y, double x);

/** Cube root, within 1 ulp. */
TACT_API double tact_cbrt(double x);

/** exp(x) - 1, within 1 ulp. */
TACT_API double tact_expm1(double x);

/** x to the power of y, within 1 ulp. */
TACT_API double tact_pow(double x, double y);

/** Natural logarithm, within 1 ulp. */
TACT_API double tact_log(double x);

/** sqrt(x^2 + y^2) without intermediate overflow, within 3.5 ulp. */
TACT_API double tact_hypot(double x, double y);

TACT_END_DECLS

#endif
