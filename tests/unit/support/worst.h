/* The worst of something over random worlds. */
#ifndef TACT_TESTS_WORST_H
#define TACT_TESTS_WORST_H

/* The largest value, the seed of its world, and how many worlds exceed a bound where that is
 * counted. */
struct worst {
    double value;
    int seed, exceed;
};

/* A value that is no number is the largest. */
static inline void note(struct worst *w, double value, int seed)
{
    if (!(value <= w->value)) {
        w->value = value;
        w->seed = seed;
    }
}

#endif
