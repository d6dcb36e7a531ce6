/* Runs the fuzz target of received network packets (tests/fuzz) with random bytes from a seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/random_bytes.h"

static void random_network_packets_are_refused_or_bounded(void **state)
{
    (void)state;
    fuzz_with_short_inputs();
    print_message("%ld inputs\n", fuzz_with_random_bytes(300, 200000, 900));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_network_packets_are_refused_or_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
