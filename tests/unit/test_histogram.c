/* The histogram against sorted samples. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "rt/clock.h"
#include "rt/histogram.h"
#include "support/campaign.h"

static uint64_t seed;

static double random_unit_number(void)
{
    seed = seed ? seed : 1 ^ campaign_seed_offset();
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-53;
}

static int compare_integers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void assert_close(int64_t got, int64_t expected, double relative_tolerance)
{
    if (fabs((double)(got - expected)) > relative_tolerance * (double)llabs(expected)) {
        fail_msg("got %lld, expected %lld within %g", (long long)got, (long long)expected,
                 relative_tolerance);
    }
}

static void summary_of_an_empty_histogram_is_zero(void **state)
{
    (void)state;
    struct tact_histogram h;
    tact_histogram_reset(&h);
    const struct tact_histogram_summary s = tact_histogram_summarise(&h);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.min, 0);
    assert_int_equal(s.max, 0);
    assert_int_equal(s.p99, 0);
    assert_int_equal(tact_histogram_quantile(&h, 0.5), 0);
}

/* Of a single value every quantile is that value; of two values quantiles are exact to the width of
 * a bin. */
static void histogram_counts_values_of_every_magnitude(void **state)
{
    (void)state;
    struct tact_histogram h;
    for (int i = 0; i < 1800; i++) {
        const int64_t v = (int64_t)pow(1.013, i); /* up to 1.2e10 */
        tact_histogram_reset(&h);
        tact_histogram_add(&h, v);
        assert_int_equal(tact_histogram_quantile(&h, 0.5), v);
        tact_histogram_add(&h, 0);
        tact_histogram_add(&h, v);
        tact_histogram_add(&h, INT64_C(1) << 40);
        assert_close(tact_histogram_quantile(&h, 0.5), v, v < 128 ? 0.0 : 0.016);
    }
}

static void histogram_counts_values_out_of_range(void **state)
{
    (void)state;
    struct tact_histogram h;
    tact_histogram_reset(&h);
    tact_histogram_add(&h, -5);
    tact_histogram_add(&h, INT64_MAX);
    tact_histogram_add(&h, INT64_MIN);
    assert_int_equal(h.count, 3);
    assert_int_equal(h.min, INT64_MIN);
    assert_int_equal(h.max, INT64_MAX);
    assert_int_equal(tact_histogram_quantile(&h, 1.0), INT64_MAX);
    assert_true(tact_histogram_quantile(&h, NAN) <= 0);
}

static void histogram_quantiles_match_sorted_samples(void **state)
{
    (void)state;
    enum { N = 20000 };
    static int64_t v[N];
    struct tact_histogram h, half;
    tact_histogram_reset(&h);
    tact_histogram_reset(&half);
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        v[i] = (int64_t)(10.0 * pow(1e9, random_unit_number()));
        tact_histogram_add(i % 2 ? &h : &half, v[i]);
        sum += (double)v[i];
    }
    tact_histogram_merge(&h, &half);
    qsort(v, N, sizeof v[0], compare_integers);
    for (int i = 1; i < 1000; i++) {
        const double q = i / 1000.0;
        const int64_t exact = v[(int)ceil(q * N) - 1];
        assert_close(tact_histogram_quantile(&h, q), exact, 0.02);
    }
    const struct tact_histogram_summary s = tact_histogram_summarise(&h);
    assert_int_equal(s.count, N);
    assert_int_equal(s.min, v[0]);
    assert_int_equal(s.max, v[N - 1]);
    assert_true(fabs(s.mean - sum / N) < 1e-9 * s.mean);
    assert_close(s.p999, v[(int)ceil(0.999 * N) - 1], 0.02);
}

/* Many values within one bin: a quantile is known far better than the bin is wide. */
static void histogram_quantile_is_interpolated_within_a_bin(void **state)
{
    (void)state;
    struct tact_histogram h;
    tact_histogram_reset(&h);
    for (int64_t v = 40000; v < 60000; v++) {
        tact_histogram_add(&h, v);
    }
    for (int i = 1; i < 100; i++) {
        assert_close(tact_histogram_quantile(&h, i / 100.0), 40000 + 200 * i - 1, 3e-4);
    }
}

static void adding_a_value_to_a_histogram_is_cheap(void **state)
{
    (void)state;
    static struct tact_histogram h;
    tact_histogram_reset(&h);
    const int n = 2000000;
    const int64_t t0 = tact_clock_now();
    for (int i = 0; i < n; i++) {
        tact_histogram_add(&h, 1000 + (i & 0xffff));
    }
    print_message("histogram: %.1f ns to add a value\n", (double)(tact_clock_now() - t0) / n);
    assert_int_equal(h.count, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_of_an_empty_histogram_is_zero),
        cmocka_unit_test(histogram_counts_values_of_every_magnitude),
        cmocka_unit_test(histogram_counts_values_out_of_range),
        cmocka_unit_test(histogram_quantiles_match_sorted_samples),
        cmocka_unit_test(histogram_quantile_is_interpolated_within_a_bin),
        cmocka_unit_test(adding_a_value_to_a_histogram_is_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
