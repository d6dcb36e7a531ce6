/* OpenCL drivers that end the process where they cannot run cost OpenCL, not the process. */
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

static void comes_back(void)
{
    fputs("a driver's chatter\n", stderr);
}

static void aborts(void)
{
    fputs("Not enough memory to run on this device.\n", stderr);
    abort();
}

static void exits(void)
{
    _exit(0); /* even this is no coming back */
}

/* What the probe says in a process of its own, as it runs once per process; called twice. */
static int answer(void (*query)(void), const char *expected_words)
{
    pid_t child = fork();
    if (child == 0) {
        struct tact_error err = {0}, again = {0};
        int rc = tact_cl_probe(query, &err);
        int same = tact_cl_probe(query, &again) == rc && !strcmp(err.text, again.text);
        int said = strstr(err.text, expected_words) != NULL;
        fprintf(stderr, "%d: %s\n", rc, err.text);
        _exit(!same || !said ? 1 : (rc == 0 ? 10 : (rc == -ENODEV ? 20 : 2)));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void good_drivers_are_used(void **state)
{
    (void)state;
    assert_int_equal(answer(comes_back, ""), 10);
}

static void a_driver_that_aborts_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(answer(aborts, ": Not enough memory to run on this device."), 20);
    assert_int_equal(answer(exits, "terminates any process"), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_drivers_are_used),
        cmocka_unit_test(a_driver_that_aborts_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
