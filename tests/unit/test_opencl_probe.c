/* An OpenCL driver that ends the process where it cannot run disables OpenCL, but does not end
 * tact. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "kernels/probe_internal.h"

static void opencl_driver_query_that_returns(void)
{
    fputs("a driver's chatter\n", stderr);
}

static void opencl_driver_query_that_aborts(void)
{
    fputs("Not enough memory to run on this device.\n", stderr);
    abort();
}

static void opencl_driver_query_that_exits(void)
{
    _exit(0); /* a driver that ends the process with status 0 has not returned either */
}

/* The probe's answer in a child process, as it runs once per process; called twice. */
static int probe_opencl_driver_twice_in_child(void (*query)(void), const char *expected_error_words)
{
    pid_t child = fork();
    if (child == 0) {
        struct tact_error err = {0}, second_error = {0};
        int rc = tact_cl_probe_driver(query, &err);
        int is_second_probe_answer_equal = tact_cl_probe_driver(query, &second_error) == rc &&
                                           !strcmp(err.text, second_error.text);
        int error_names_the_reason = strstr(err.text, expected_error_words) != NULL;
        fprintf(stderr, "%d: %s\n", rc, err.text);
        _exit(!is_second_probe_answer_equal || !error_names_the_reason
                  ? 1
                  : (rc == 0 ? 10 : (rc == -ENODEV ? 20 : 2)));
    }
    int wait_status;
    assert_int_equal(waitpid(child, &wait_status, 0), child);
    assert_true(WIFEXITED(wait_status));
    return WEXITSTATUS(wait_status);
}

static void opencl_driver_that_returns_is_used(void **state)
{
    (void)state;
    assert_int_equal(probe_opencl_driver_twice_in_child(opencl_driver_query_that_returns, ""), 10);
}

static void opencl_driver_that_aborts_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(
        probe_opencl_driver_twice_in_child(opencl_driver_query_that_aborts,
                                           ": Not enough memory to run on this device."),
        20);
    assert_int_equal(probe_opencl_driver_twice_in_child(opencl_driver_query_that_exits,
                                                        "terminates any process"),
                     20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opencl_driver_that_returns_is_used),
        cmocka_unit_test(opencl_driver_that_aborts_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
