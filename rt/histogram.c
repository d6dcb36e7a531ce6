#include "rt/histogram.h"

#include <math.h>
#include <string.h>

#define LOG2_BINS_PER_OCTAVE 6u /* 64 bins an octave */
#define BINS_PER_OCTAVE (1u << LOG2_BINS_PER_OCTAVE)

/* Bins 0..63 have one nanosecond each; after them every octave [2^e, 2^(e+1)) has 64 bins of
 * 2^(e-6) ns. */
static unsigned histogram_bin_index_of_duration(int64_t ns)
{
    if (ns < (int64_t)BINS_PER_OCTAVE) {
        return ns < 0 ? 0 : (unsigned)ns;
    }
    const unsigned exponent = 63u - (unsigned)__builtin_clzll((unsigned long long)ns);
    const unsigned shift = exponent - LOG2_BINS_PER_OCTAVE;
    const unsigned bin = (shift << LOG2_BINS_PER_OCTAVE) + (unsigned)(ns >> shift);
    return bin < TACT_HISTOGRAM_BINS ? bin : TACT_HISTOGRAM_BINS - 1;
}

/* Lower bound of a bin. */
static int64_t histogram_bin_lower_bound_ns(unsigned bin)
{
    if (bin < 2 * BINS_PER_OCTAVE) {
        return bin;
    }
    const unsigned shift = (bin >> LOG2_BINS_PER_OCTAVE) - 1;
    return (int64_t)(BINS_PER_OCTAVE + (bin & (BINS_PER_OCTAVE - 1))) << shift;
}

void tact_histogram_reset(struct tact_histogram *h)
{
    memset(h, 0, sizeof *h);
    h->min = INT64_MAX;
    h->max = INT64_MIN;
}

void tact_histogram_add(struct tact_histogram *h, int64_t ns)
{
    h->count++;
    h->sum += (double)ns;
    h->min = ns < h->min ? ns : h->min;
    h->max = ns > h->max ? ns : h->max;
    h->bin[histogram_bin_index_of_duration(ns)]++;
}

void tact_histogram_merge(struct tact_histogram *h, const struct tact_histogram *from)
{
    h->count += from->count;
    h->sum += from->sum;
    h->min = from->min < h->min ? from->min : h->min;
    h->max = from->max > h->max ? from->max : h->max;
    for (unsigned i = 0; i < TACT_HISTOGRAM_BINS; i++) {
        h->bin[i] += from->bin[i];
    }
}

int64_t tact_histogram_quantile(const struct tact_histogram *h, double q)
{
    if (h->count == 0) {
        return 0;
    }
    const double part = q > 0.0 ? (q < 1.0 ? q : 1.0) : 0.0;
    uint64_t rank_of_quantile = (uint64_t)ceil(part * (double)h->count);
    rank_of_quantile = rank_of_quantile < 1 ? 1 : rank_of_quantile;
    if (rank_of_quantile >= h->count) {
        return h->max;
    }
    uint64_t before = 0;
    unsigned bin = 0;
    while (bin < TACT_HISTOGRAM_BINS - 1 && before + h->bin[bin] < rank_of_quantile) {
        before += h->bin[bin++];
    }
    /* assumes values evenly spread over the part of the bin between min and max */
    const int64_t low =
        histogram_bin_lower_bound_ns(bin) > h->min ? histogram_bin_lower_bound_ns(bin) : h->min;
    const int64_t high = histogram_bin_lower_bound_ns(bin + 1) <= h->max
                             ? histogram_bin_lower_bound_ns(bin + 1)
                             : h->max + 1;
    const double rank_fraction_within_bin =
        ((double)(rank_of_quantile - before) - 0.5) / (double)h->bin[bin];
    const int64_t value = low + (int64_t)(rank_fraction_within_bin * (double)(high - low));
    return value < h->min ? h->min : value > h->max ? h->max : value;
}

double tact_histogram_mean(const struct tact_histogram *h)
{
    return h->count ? h->sum / (double)h->count : 0.0;
}

struct tact_histogram_summary tact_histogram_summarise(const struct tact_histogram *h)
{
    struct tact_histogram_summary s = {0, 0, 0.0, 0, 0, 0, 0};
    if (h->count) {
        s.count = h->count;
        s.min = h->min;
        s.mean = tact_histogram_mean(h);
        s.p50 = tact_histogram_quantile(h, 0.5);
        s.p99 = tact_histogram_quantile(h, 0.99);
        s.p999 = tact_histogram_quantile(h, 0.999);
        s.max = h->max;
    }
    return s;
}
