/**
 * Histogram of durations with fixed log-linear bins: 64 bins per octave, whole nanoseconds below
 * 128.
 *
 * From 0 to 17 s the error of a quantile is at most 1.6 %, and much smaller for many values spread
 * over its bin; minimum, maximum and count are exact. Plain struct, about 15 kB; all zero is not
 * its empty state: call tact_histogram_reset() first.
 */
#ifndef TACT_RT_HISTOGRAM_H
#define TACT_RT_HISTOGRAM_H

#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_HISTOGRAM_BINS 1856 /**< number of bins */

/** Counts of durations, by bin. */
struct tact_histogram {
    uint64_t count;                    /**< values added */
    int64_t min;                       /**< smallest value [ns], exact; INT64_MAX if count is 0 */
    int64_t max;                       /**< largest value [ns], exact; INT64_MIN if count is 0 */
    double sum;                        /**< sum of all values [ns] */
    uint64_t bin[TACT_HISTOGRAM_BINS]; /**< values per bin; the last one includes larger values */
};

/** Summary statistics; all 0 if empty. */
struct tact_histogram_summary {
    uint64_t count; /**< number of values */
    int64_t min;    /**< [ns] */
    double mean;    /**< [ns] */
    int64_t p50;    /**< [ns] */
    int64_t p99;    /**< [ns] */
    int64_t p999;   /**< 99.9 % [ns] */
    int64_t max;    /**< [ns] */
};

/** Resets to empty. Real-time safe. */
TACT_API void tact_histogram_reset(struct tact_histogram *h);

/** Adds one value [ns]. A negative one enters min and sum, and counts in bin 0. Real-time safe. */
TACT_API void tact_histogram_add(struct tact_histogram *h, int64_t ns);

/** Adds all values of `from`. Real-time safe. */
TACT_API void tact_histogram_merge(struct tact_histogram *h, const struct tact_histogram *from);

/** Nearest-rank quantile [ns]: the smallest value v such that at least the fraction q (clamped to
 * [0, 1]) of the values is <= v, interpolated within its bin; q = 1 is the exact maximum. 0 if
 * empty. Real-time safe (iterates over the bins). */
TACT_API int64_t tact_histogram_quantile(const struct tact_histogram *h, double q);

/** Mean [ns]; 0 if empty. Real-time safe. */
TACT_API double tact_histogram_mean(const struct tact_histogram *h);

/** Real-time safe (iterates over the bins). */
TACT_API struct tact_histogram_summary tact_histogram_summarise(const struct tact_histogram *h);

TACT_END_DECLS

#endif
