/* Random bytes from a seed for a fuzz target. */
#ifndef TACT_TESTS_RANDOM_BYTES_H
#define TACT_TESTS_RANDOM_BYTES_H

#include "campaign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Calls the fuzz target with `quick_input_count` (in .ci/long `long_campaign_input_count`) random
 * inputs of `size` bytes, at most 1024; $TACT_FUZZ sets another number of inputs. Returns their
 * number. */
static inline long fuzz_with_random_bytes(int quick_input_count, int long_campaign_input_count,
                                          size_t size)
{
    const char *count = getenv("TACT_FUZZ");
    long input_count =
        count ? atol(count) : campaign_trial_count(quick_input_count, long_campaign_input_count);
    uint64_t bits = 1 ^ campaign_seed_offset();
    for (long n = 0; n < input_count; n++) {
        uint8_t data[1024];
        for (size_t i = 0; i < size; i++) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            data[i] = (uint8_t)(bits >> 56);
        }
        LLVMFuzzerTestOneInput(data, size);
    }
    return input_count;
}

/* Calls the fuzz target with inputs of zeros, of all sizes up to 64 bytes. */
static inline void fuzz_with_short_inputs(void)
{
    const uint8_t full[64] = {0};
    for (size_t size = 0; size <= sizeof full; size++) {
        LLVMFuzzerTestOneInput(full, size);
    }
}

#endif
