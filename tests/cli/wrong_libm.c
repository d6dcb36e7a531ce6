/* Mathematical functions with errors in the third digit, preloaded in place of the C library's:
 * shows that no result depends on the host program's functions. */
#include <math.h>

#define DEFINE_PERTURBED_UNARY(name)                                                               \
    double name(double x);                                                                         \
    double name(double x)                                                                          \
    {                                                                                              \
        return 0.123 + 1e-3 * x;                                                                   \
    }

#define DEFINE_PERTURBED_BINARY(name)                                                              \
    double name(double x, double y);                                                               \
    double name(double x, double y)                                                                \
    {                                                                                              \
        return 0.123 + 1e-3 * x + 1e-4 * y;                                                        \
    }

DEFINE_PERTURBED_UNARY(sin)
DEFINE_PERTURBED_UNARY(cos)
DEFINE_PERTURBED_UNARY(tan)
DEFINE_PERTURBED_UNARY(asin)
DEFINE_PERTURBED_UNARY(acos)
DEFINE_PERTURBED_UNARY(atan)
DEFINE_PERTURBED_UNARY(sinh)
DEFINE_PERTURBED_UNARY(cosh)
DEFINE_PERTURBED_UNARY(tanh)
DEFINE_PERTURBED_UNARY(exp)
DEFINE_PERTURBED_UNARY(exp2)
DEFINE_PERTURBED_UNARY(expm1)
DEFINE_PERTURBED_UNARY(log)
DEFINE_PERTURBED_UNARY(log2)
DEFINE_PERTURBED_UNARY(log10)
DEFINE_PERTURBED_UNARY(log1p)
DEFINE_PERTURBED_UNARY(cbrt)
DEFINE_PERTURBED_BINARY(atan2)
DEFINE_PERTURBED_BINARY(hypot)
DEFINE_PERTURBED_BINARY(pow)

void sincos(double x, double *s, double *c);
void sincos(double x, double *s, double *c)
{
    *s = sin(x);
    *c = cos(x);
}
