/* The ellipse in which two smooth surfaces touch (Hertz 1882; Johnson 1985, section 4.2). */
#include <errno.h>
#include "contact/elementary.h"
#include "contact/moments/patch.h"

#define PI 3.14159265358979323846
#define CIRCULAR_RATIO_TOLERANCE                                                                   \
    1e-7 /* bound of the ratios of curvatures and of semi-axes, less 1, below which the patch      \
            counts as a disc */
#define ARITHMETIC_GEOMETRIC_MEAN_ITERATIONS                                                       \
    8 /* iterations of the arithmetic-geometric mean; each doubles the number of digits */
#define MAX_AXIS_RATIO_ITERATIONS                                                                  \
    30 /* largest number of iterations for the ratio of the semi-axes */

/* Complete elliptic integrals K and E of the modulus e, by the arithmetic-geometric mean. */
static void complete_elliptic_integrals(double e, double *k, double *second)
{
    double a = 1.0, b = sqrt(1.0 - e * e), c = e, sum = 0.5 * e * e, power = 0.5;
    for (int i = 0; i < ARITHMETIC_GEOMETRIC_MEAN_ITERATIONS; i++) {
        double arithmetic_mean = 0.5 * (a + b);
        c = 0.5 * (a - b);
        b = sqrt(a * b);
        a = arithmetic_mean;
        power *= 2.0;
        sum += power * c * c;
    }
    *k = PI / (2.0 * a);
    *second = *k * (1.0 - sum);
}

/* Terms (a/b)^2 E - K and K - E at an axis ratio a/b: their quotient is the ratio of curvatures
 * k2/k1. */
static void compute_hertz_curvature_terms(double ratio, double *hertz_curvature_ratio_numerator,
                                          double *hertz_curvature_ratio_denominator)
{
    double k, second;
    complete_elliptic_integrals(sqrt(1.0 - 1.0 / (ratio * ratio)), &k, &second);
    *hertz_curvature_ratio_numerator = ratio * ratio * second - k;
    *hertz_curvature_ratio_denominator = k - second;
}

/* Solves for the ratio of semi-axes a/b at a ratio of curvatures above 1: k2/k1 is nearly
 * (a/b)^(pi/2). */
static double solve_hertz_axis_ratio(double principal_curvature_ratio)
{
    double ratio = tact_pow(principal_curvature_ratio, 2.0 / PI);
    for (int i = 0; i < MAX_AXIS_RATIO_ITERATIONS; i++) {
        double hertz_curvature_ratio_numerator, hertz_curvature_ratio_denominator;
        compute_hertz_curvature_terms(ratio, &hertz_curvature_ratio_numerator,
                                      &hertz_curvature_ratio_denominator);
        double next =
            ratio * tact_pow(principal_curvature_ratio * hertz_curvature_ratio_denominator /
                                 hertz_curvature_ratio_numerator,
                             2.0 / PI);
        double change = fabs(next - ratio);
        ratio = tact_max(next, 1.0 + 0.5 * (ratio - 1.0));
        if (change <= 1e-15 * ratio) {
            break;
        }
    }
    return ratio;
}

int tact_patch_hertz(struct tact_patch *patch, double modulus, double k1, double k2)
{
    double shape = 1.0, ratio = 1.0;
    if (!(k1 > 0.0) || !(k2 >= k1) || !(modulus > 0.0)) {
        return -EDOM;
    }
    if (k2 > (1.0 + CIRCULAR_RATIO_TOLERANCE) * k1) {
        double hertz_curvature_ratio_numerator, hertz_curvature_ratio_denominator;
        ratio = solve_hertz_axis_ratio(k2 / k1);
        compute_hertz_curvature_terms(ratio, &hertz_curvature_ratio_numerator,
                                      &hertz_curvature_ratio_denominator);
        shape = 4.0 / (PI * (1.0 - 1.0 / (ratio * ratio))) / (ratio * sqrt(ratio)) *
                sqrt(hertz_curvature_ratio_numerator * hertz_curvature_ratio_denominator);
    }
    patch->kind = TACT_PATCH_ELASTIC;
    patch->modulus = modulus;
    patch->radius = shape / sqrt(k1 * k2);
    patch->tip_radius = patch->tip_power = 0.0;
    patch->stretch[0] = sqrt(ratio);
    patch->stretch[1] = 1.0 / patch->stretch[0];
    patch->corners = 0;
    return 0;
}
