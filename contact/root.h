/**
 * Bracketed root of a continuous function of one variable (Chandrupatla 1997, A new hybrid
 * quadratic/bisection algorithm for finding the zero of a nonlinear function). Real-time safe:
 * bounded evaluations, no allocation.
 */
#ifndef TACT_CONTACT_ROOT_H
#define TACT_CONTACT_ROOT_H

#include <math.h>

/** A function of one variable whose root is searched. */
typedef double (*tact_root_fn)(void *user, double x);

/** Finds the root in [lo, hi] of a function whose values f(lo) = flo and f(hi) = fhi differ in
 * sign; to about 1e-15 relative, in at most `most` evaluations. The last point evaluated is the one
 * returned. */
static inline double tact_root_find(tact_root_fn f, void *user, double lo, double flo, double hi,
                                    double fhi, int most)
{
    double a = hi, fa = fhi, b = lo, fb = flo, c = lo, fc = flo, t = 0.5;
    for (int i = 0; i < most; i++) {
        double x = a + t * (b - a);
        double fx = f(user, x);
        if (signbit(fx) == signbit(fa)) {
            c = a;
            fc = fa;
        } else {
            c = b;
            fc = fb;
            b = a;
            fb = fa;
        }
        a = x;
        fa = fx;
        double best = fabs(fa) < fabs(fb) ? a : b;
        double width = fabs(b - a);
        double limit = (2e-16 * fabs(best) + 1e-300) / width;
        if (limit > 0.5 || fa == 0.0) {
            break;
        }
        double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
        t = 0.5;
        if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi) {
            t = fa / (fb - fa) * fc / (fb - fc) +
                (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
        }
        t = t < limit ? limit : (t > 1.0 - limit ? 1.0 - limit : t);
    }
    return a;
}

#endif
