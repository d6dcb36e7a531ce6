/* Mathematical functions with errors in the third digit, preloaded in place of the C library's:
 * shows that no result depends on the host program's functions. */
#include <math.h>

#define DEFINE_PERTURBED_FUNCTION_OF_ONE(name)                                                     \
    double name(double x);                                                                         \
    double name(double x)                                                                          \
    {                                                                                              \
        return 0.123 + 1e-3 * x;                                                                   \
    }

#define DEFINE_PERTURBED_FUNCTION_OF_TWO(name)                                                     \
    double name(double x, double y);                                                               \
    double name(double x, double y)                                                                \
    {                                                                                              \
        return 0.123 + 1e-3 * x + 1e-4 * y;                                                        \
    }

DEFINE_PERTURBED_FUNCTION_OF_ONE(sin)
DEFINE_PERTURBED_FUNCTION_OF_ONE(cos)
DEFINE_PERTURBED_FUNCTION_OF_ONE(tan)
DEFINE_PERTURBED_FUNCTION_OF_ONE(asin)
DEFINE_PERTURBED_FUNCTION_OF_ONE(acos)
DEFINE_PERTURBED_FUNCTION_OF_ONE(atan)
DEFINE_PERTURBED_FUNCTION_OF_ONE(sinh)
DEFINE_PERTURBED_FUNCTION_OF_ONE(cosh)
DEFINE_PERTURBED_FUNCTION_OF_ONE(tanh)
DEFINE_PERTURBED_FUNCTION_OF_ONE(exp)
DEFINE_PERTURBED_FUNCTION_OF_ONE(exp2)
DEFINE_PERTURBED_FUNCTION_OF_ONE(expm1)
DEFINE_PERTURBED_FUNCTION_OF_ONE(log)
DEFINE_PERTURBED_FUNCTION_OF_ONE(log2)
DEFINE_PERTURBED_FUNCTION_OF_ONE(log10)
DEFINE_PERTURBED_FUNCTION_OF_ONE(log1p)
DEFINE_PERTURBED_FUNCTION_OF_ONE(cbrt)
DEFINE_PERTURBED_FUNCTION_OF_TWO(atan2)
DEFINE_PERTURBED_FUNCTION_OF_TWO(hypot)
DEFINE_PERTURBED_FUNCTION_OF_TWO(pow)

void sincos(double x, double *s, double *c);
void sincos(double x, double *s, double *c)
{
    *s = sin(x);
    *c = cos(x);
}
