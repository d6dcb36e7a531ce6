/* Elementary functions: compared with the C library's in extended precision, which share no code
 * with them; at special values; and by a hash of their bits, which is the same on every machine. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "contact/elementary.h"
#include "contact/elementary_internal.h"
#include "support/campaign.h"

#define SAMPLES_IN_CI 50000
#define SAMPLES_IN_LONG_CI 5000000

static uint64_t state;

static uint64_t next_random_bits(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A random double of either sign, with an exponent from low to below high; assembled from bits,
 * without any library function. */
static double random_double_with_exponent_between(int low, int high)
{
    uint64_t bits = next_random_bits(),
             exponent = (uint64_t)(1023 + low) + next_random_bits() % (uint64_t)(high - low);
    double x;
    bits = (bits & 0x800fffffffffffffu) | exponent << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Distance of a double from the exact value, in units of the exact value's last place. */
static double error_in_ulps(double got, long double exact)
{
    int exponent;
    frexpl(exact, &exponent);
    return (double)(fabsl((long double)got - exact) / ldexpl(1.0L, exponent - DBL_MANT_DIG));
}

static double call_tact_sin(double x, double y)
{
    (void)y;
    return tact_sin(x);
}

static double call_tact_cos(double x, double y)
{
    (void)y;
    return tact_cos(x);
}

static double call_tact_cbrt(double x, double y)
{
    (void)y;
    return tact_cbrt(x);
}

static double call_tact_expm1(double x, double y)
{
    (void)y;
    return tact_expm1(x);
}

static double call_tact_pow(double x, double y)
{
    return tact_pow(fabs(x), y);
}

static long double reference_sin(long double x, long double y)
{
    (void)y;
    return sinl(x);
}

static long double reference_cos(long double x, long double y)
{
    (void)y;
    return cosl(x);
}

static long double reference_cbrt(long double x, long double y)
{
    (void)y;
    return cbrtl(x);
}

static long double reference_expm1(long double x, long double y)
{
    (void)y;
    return expm1l(x);
}

static long double reference_pow(long double x, long double y)
{
    return powl(fabsl(x), y);
}

/* An elementary function to test: range of the arguments' exponents, error bound that the header
 * states [ulp], hash of the results' bits. */
static const struct {
    const char *name;
    double (*function)(double, double);
    long double (*exact)(long double, long double);
    int x[2], y[2];
    double error_bound_ulp;
    uint64_t bits;
} functions[] = {
    {"sin", call_tact_sin, reference_sin, {-40, 30}, {0, 1}, 1.0, 0x9687df134e05c021u},
    {"cos", call_tact_cos, reference_cos, {-40, 30}, {0, 1}, 1.0, 0xf0f3a2d3c1bafba8u},
    {"atan2", tact_atan2, atan2l, {-40, 40}, {-40, 40}, 1.0, 0x8b239507a9c10158u},
    {"cbrt", call_tact_cbrt, reference_cbrt, {-300, 300}, {0, 1}, 1.0, 0x9eb99a8c04fc3ae7u},
    {"expm1", call_tact_expm1, reference_expm1, {-60, 8}, {0, 1}, 1.0, 0xd256bd558e17bb3cu},
    {"pow", call_tact_pow, reference_pow, {-20, 20}, {-5, 5}, 1.0, 0x5e73bc034e53cc3bu},
    {"hypot", tact_hypot, hypotl, {-200, 200}, {-200, 200}, 3.5, 0xde4ab7ecaf1e8592u},
};

static void elementary_functions_agree_with_extended_precision(void **unused)
{
    (void)unused;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        double worst = 0.0;
        state = 17 + f + campaign_seed_offset();
        for (int i = 0; i < campaign_trial_count(SAMPLES_IN_CI, SAMPLES_IN_LONG_CI); i++) {
            double x = random_double_with_exponent_between(functions[f].x[0], functions[f].x[1]);
            double y = i % 2 || f > 5 ? random_double_with_exponent_between(functions[f].y[0],
                                                                            functions[f].y[1])
                                      : x * 0.75;
            long double exact = functions[f].exact(x, y);
            if (fabsl(exact) < 1e300L && fabsl(exact) > 1e-300L) {
                worst = fmax(worst, error_in_ulps(functions[f].function(x, y), exact));
            }
        }
        printf("%-6s %.3f ulp, stated %.2f\n", functions[f].name, worst,
               functions[f].error_bound_ulp);
        assert_true(worst <= functions[f].error_bound_ulp + 0.01);
        assert_true(worst > 0.4); /* a smaller error would mean that the reference is not
                                     independent of the tested function */
    }
}

static void bits_of_elementary_functions_have_the_stated_hash(void **unused)
{
    (void)unused;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        uint64_t result_bits_hash = 14695981039346656037u, bits;
        state = 1;
        for (int i = 0; i < 100000; i++) {
            double x = random_double_with_exponent_between(functions[f].x[0], functions[f].x[1]);
            double got = functions[f].function(
                x, random_double_with_exponent_between(functions[f].y[0], functions[f].y[1]));
            memcpy(&bits, &got, sizeof bits);
            result_bits_hash = (result_bits_hash ^ bits) * 1099511628211u; /* FNV-1a, of words */
        }
        printf("%-6s %016llx\n", functions[f].name, (unsigned long long)result_bits_hash);
        assert_int_equal(result_bits_hash, functions[f].bits);
    }
}

#define ASSERT_SAME_BITS(a, b)                                                                     \
    assert_true(isnan(b) ? isnan(a) : (a) == (b) && !signbit(a) == !signbit(b))

static void elementary_functions_of_special_values_match_libm(void **unused)
{
    static const double odd[] = {0.0, -0.0,     1.0,       -1.0, 0.5,    -0.5,    2.0,  -2.0,
                                 3.0, INFINITY, -INFINITY, NAN,  1e-310, -1e-310, 1e308};
    (void)unused;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        double x = odd[i];
        ASSERT_SAME_BITS(tact_cbrt(isfinite(x) ? 0.0 * x : x), cbrt(isfinite(x) ? 0.0 * x : x));
        if (!isfinite(x) || x == 0.0) {
            ASSERT_SAME_BITS(tact_sin(x), sin(x));
            ASSERT_SAME_BITS(tact_cos(x), cos(x));
            ASSERT_SAME_BITS(tact_expm1(x), expm1(x));
        }
        ASSERT_SAME_BITS(tact_hypot(x, 0.0), fabs(x));
        ASSERT_SAME_BITS(tact_hypot(0.0, x), fabs(x));
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
            double y = odd[k];
            if (!isfinite(x) || !isfinite(y)) {
                ASSERT_SAME_BITS(tact_hypot(x, y), hypot(x, y));
            }
            ASSERT_SAME_BITS(tact_hypot(x, y), tact_hypot(y, x));
            if (x == 0.0 || isnan(x) || isinf(x) || y == 0.0 || isnan(y)) {
                ASSERT_SAME_BITS(tact_pow(x, y), pow(x, y));
                double tact_atan2_value = tact_atan2(x, y), library_atan2_value = atan2(x, y);
                assert_true(isnan(library_atan2_value)
                                ? isnan(tact_atan2_value)
                                : fabs(tact_atan2_value - library_atan2_value) <= 1e-15 &&
                                      !signbit(tact_atan2_value) == !signbit(library_atan2_value));
            }
        }
    }
}

/* Points of all bit patterns, of ordinary sizes, and of special values. */
static double random_point_coordinate(int kind)
{
    static const double odd[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 5e-324, -1e-310};
    uint64_t bits = next_random_bits();
    double x;
    memcpy(&x, &bits, sizeof x);
    return kind == 0   ? x
           : kind == 1 ? random_double_with_exponent_between(-40, 40)
                       : odd[bits % (sizeof odd / sizeof *odd)];
}

static void atan2_of_four_at_once_equals_single_calls(void **unused)
{
    (void)unused;
    state = 23 + campaign_seed_offset();
    for (int i = 0; i < campaign_trial_count(SAMPLES_IN_CI, SAMPLES_IN_LONG_CI); i++) {
        double y[4], x[4], angle[4];
        for (int k = 0; k < 4; k++) {
            y[k] = random_point_coordinate(i % 3);
            x[k] = random_point_coordinate(i % 3);
        }
        tact_atan2_of_four(y, x, angle);
        for (int k = 0; k < 4; k++) {
            ASSERT_SAME_BITS(angle[k], tact_atan2(y[k], x[k]));
        }
    }
}

static void sines_of_four_at_once_equal_single_calls(void **unused)
{
    (void)unused;
    state = 24 + campaign_seed_offset();
    for (int i = 0; i < campaign_trial_count(SAMPLES_IN_CI, SAMPLES_IN_LONG_CI); i++) {
        double angle[4], sine[4], cosine[4];
        for (int k = 0; k < 4; k++) {
            angle[k] = random_point_coordinate((i + k * (i % 2)) % 3);
        }
        tact_sin_and_cos_of_four(angle, sine, cosine);
        for (int k = 0; k < 4; k++) {
            ASSERT_SAME_BITS(sine[k], tact_sin(angle[k]));
            ASSERT_SAME_BITS(cosine[k], tact_cos(angle[k]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementary_functions_agree_with_extended_precision),
        cmocka_unit_test(bits_of_elementary_functions_have_the_stated_hash),
        cmocka_unit_test(elementary_functions_of_special_values_match_libm),
        cmocka_unit_test(atan2_of_four_at_once_equals_single_calls),
        cmocka_unit_test(sines_of_four_at_once_equal_single_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
