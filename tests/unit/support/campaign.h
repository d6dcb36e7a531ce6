/* Number of trials and random stream of the random tests. TACT_SEED=N (a whole number, default
 * 0) selects another stream for every random test; TACT_LONG=1 selects the sizes that .ci/long
 * runs. */
#ifndef TACT_TESTS_CAMPAIGN_H
#define TACT_TESTS_CAMPAIGN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether this build runs under AddressSanitizer or ThreadSanitizer: gcc has a macro for each,
 * clang a feature. */
#if defined __SANITIZE_THREAD__
#define IS_TSAN_BUILD 1
#elif defined __SANITIZE_ADDRESS__
#define IS_SANITIZER_BUILD 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define IS_TSAN_BUILD 1
#elif __has_feature(address_sanitizer)
#define IS_SANITIZER_BUILD 1
#endif
#endif
#ifndef IS_TSAN_BUILD
#define IS_TSAN_BUILD 0
#endif
#ifndef IS_SANITIZER_BUILD
#define IS_SANITIZER_BUILD IS_TSAN_BUILD
#endif

/* Skips a long test of motion under ThreadSanitizer, where it takes ten seconds or more and its
 * threads do nothing that shorter tests do not check. */
#define SKIP_UNDER_TSAN()                                                                          \
    do {                                                                                           \
        if (IS_TSAN_BUILD) {                                                                       \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* Whether all trials run, in .ci/long, or those of continuous integration. */
static inline int is_long_campaign(void)
{
    const char *text = getenv("TACT_LONG");
    return text && *text && *text != '0';
}

/* Whether this is the daily run under a sanitizer, which executes every case but not every
 * repetition: the builds without one check the results. */
static inline int is_quick_sanitizer_run(void)
{
    return IS_SANITIZER_BUILD && !is_long_campaign();
}

/* In a quick sanitizer run, skips a long motion whose code other cases execute too. */
#define SKIP_IN_QUICK_SANITIZER_RUN()                                                              \
    do {                                                                                           \
        if (is_quick_sanitizer_run()) {                                                            \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* The number of trials: `quick_trial_count` in continuous integration; a fifth of it under a
 * sanitizer, which is many times slower but needs few trials to detect an access out of bounds;
 * `long_campaign_trial_count` in .ci/long. */
static inline int campaign_trial_count(int quick_trial_count, int long_campaign_trial_count)
{
    if (is_long_campaign()) {
        return long_campaign_trial_count;
    }
    return IS_SANITIZER_BUILD ? (quick_trial_count + 4) / 5 : quick_trial_count;
}

/* The number that a test adds to its own random seed: the value of TACT_SEED, by default 0, with
 * which the figures stated in comments can be reproduced. */
static inline uint64_t campaign_seed_offset(void)
{
    const char *text = getenv("TACT_SEED");
    if (!text || !*text) {
        return 0;
    }
    char *end = NULL;
    unsigned long long n = strtoull(text, &end, 10);
    if (*end) {
        fprintf(stderr, "TACT_SEED=%s: expected a whole number\n", text);
        exit(2);
    }
    return (uint64_t)n * 0x9e3779b97f4a7c15u;
}

#endif
