/* The largest value of a measure over random worlds. */
#ifndef TACT_TESTS_WORST_H
#define TACT_TESTS_WORST_H

/* The largest value of a measure over random worlds, the seed of its world, and the number of
 * worlds over a bound. */
struct worst {
    double value;
    int seed, exceed;
};

/* NaN counts as larger than any number. */
static inline void record_if_worst(struct worst *w, double value, int seed)
{
    if (!(value <= w->value)) {
        w->value = value;
        w->seed = seed;
    }
}

#endif
