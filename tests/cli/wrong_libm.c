/* Mathematical functions with errors in the third digit, preloaded in place of the C library's:
 * shows that no result depends on the host program's functions. */
#include <math.h>

#define DEFINE_PERTURBED(name)                                                                     \
    double name(double x);                                                                         \
    double name(double x)                                                                          \
    {                                                                                              \
        return 0.123 + 1e-3 * x;                                                                   \
    }

#define DEFINE_PERTURBED_2(name)                                                                   \
    double name(double x, double y);                                                               \
    double name(double x, double y)                                                                \
    {                                                                                              \
        return 0.123 + 1e-3 * x + 1e-4 * y;                                                        \
    }

DEFINE_PERTURBED(sin)
DEFINE_PERTURBED(cos)
DEFINE_PERTURBED(tan)
DEFINE_PERTURBED(asin)
DEFINE_PERTURBED(acos)
DEFINE_PERTURBED(atan)
DEFINE_PERTURBED(sinh)
DEFINE_PERTURBED(cosh)
DEFINE_PERTURBED(tanh)
DEFINE_PERTURBED(exp)
DEFINE_PERTURBED(exp2)
DEFINE_PERTURBED(expm1)
DEFINE_PERTURBED(log)
DEFINE_PERTURBED(log2)
DEFINE_PERTURBED(log10)
DEFINE_PERTURBED(log1p)
DEFINE_PERTURBED(cbrt)
DEFINE_PERTURBED_2(atan2)
DEFINE_PERTURBED_2(hypot)
DEFINE_PERTURBED_2(pow)

void sincos(double x, double *s, double *c);
void sincos(double x, double *s, double *c)
{
    *s = sin(x);
    *c = cos(x);
}
