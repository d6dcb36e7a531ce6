/* The mathematical functions of a host program that has its own: wrong from the third digit on.
 * Preloaded before the C library's, to show that no result depends on whose they are. */
#include <math.h>

#define WRONG(name)                                                                                \
    double name(double x);                                                                         \
    double name(double x)                                                                          \
    {                                                                                              \
        return 0.123 + 1e-3 * x;                                                                   \
    }

#define WRONG_OF_TWO(name)                                                                         \
    double name(double x, double y);                                                               \
    double name(double x, double y)                                                                \
    {                                                                                              \
        return 0.123 + 1e-3 * x + 1e-4 * y;                                                        \
    }

WRONG(sin)
WRONG(cos)
WRONG(tan)
WRONG(asin)
WRONG(acos)
WRONG(atan)
WRONG(sinh)
WRONG(cosh)
WRONG(tanh)
WRONG(exp)
WRONG(exp2)
WRONG(expm1)
WRONG(log)
WRONG(log2)
WRONG(log10)
WRONG(log1p)
WRONG(cbrt)
WRONG_OF_TWO(atan2)
WRONG_OF_TWO(hypot)
WRONG_OF_TWO(pow)

void sincos(double x, double *s, double *c);
void sincos(double x, double *s, double *c)
{
    *s = sin(x);
    *c = cos(x);
}
