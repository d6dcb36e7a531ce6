/* The fuzz target of the local solvers (tests/fuzz) with random bytes from a seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "support/campaign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void random_bytes_make_solvable_problems(void **state)
{
    (void)state;
    const char *count = getenv("TACT_FUZZ"); /* sets their number */
    long problems = count ? atol(count) : campaign_trial_count(20000, 20000);
    uint64_t bits = 1 ^ campaign_seed_offset();
    for (long n = 0; n < problems; n++) {
        uint8_t data[192];
        for (size_t i = 0; i < sizeof data; i++) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            data[i] = (uint8_t)(bits >> 56);
        }
        LLVMFuzzerTestOneInput(data, sizeof data);
    }
    print_message("%ld problems\n", problems);
}

static void short_inputs_are_accepted(void **state)
{
    (void)state;
    const uint8_t full[64] = {0};
    for (size_t size = 0; size <= sizeof full; size++) {
        LLVMFuzzerTestOneInput(full, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_inputs_are_accepted),
        cmocka_unit_test(random_bytes_make_solvable_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
