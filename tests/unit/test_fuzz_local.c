/* Runs the fuzz target of the local contact solvers (tests/fuzz) with random bytes from a seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/random_bytes.h"

static void contact_problems_of_random_bytes_are_solved(void **state)
{
    (void)state;
    print_message("%ld problems\n", fuzz_with_random_bytes(20000, 20000, 192));
}

static void contact_problems_of_few_bytes_are_solved(void **state)
{
    (void)state;
    fuzz_with_short_inputs();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_problems_of_few_bytes_are_solved),
        cmocka_unit_test(contact_problems_of_random_bytes_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
