/* A guard detects by its clocks that the system was suspended: the clock that counts during a
 * suspend is then ahead of the one that does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>
#include "devices/guard/serve_internal.h"

/* simulated time since the system's start without suspends, and total time suspended [ns] */
static int64_t monotonic_clock_ns, suspended_time_ns;
static int64_t clock_advance_per_reading_ns; /* time by which the simulated clocks advance after
                                                each reading [ns] */

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    const int64_t now = monotonic_clock_ns + (clock == CLOCK_BOOTTIME ? suspended_time_ns : 0);
    t->tv_sec = now / 1000000000;
    t->tv_nsec = now % 1000000000;
    monotonic_clock_ns += clock_advance_per_reading_ns;
    return 0;
}

static void guarded_outputs_are_zeroed_once_after_a_suspend(void **state)
{
    (void)state;
    monotonic_clock_ns = 5000000000;
    suspended_time_ns = 3600000000000;
    clock_advance_per_reading_ns = 0;
    int64_t suspended_ns = tact_guard_suspended_time_upper_bound();
    const struct tact_guard_requests guard_requests = {.suspended_ns_at_start = &suspended_ns};
    assert_int_equal(suspended_ns, 3600000000000);
    for (int i = 0; i < 100; i++) {
        monotonic_clock_ns += 1000000;
        assert_int_equal(tact_guard_is_zeroing_requested(&guard_requests), 0);
    }
    suspended_time_ns += 50000000; /* 2 s is the shortest suspend that the guard detects */
    assert_int_equal(tact_guard_is_zeroing_requested(&guard_requests), 1);
    assert_int_equal(tact_guard_is_zeroing_requested(&guard_requests), 0);
    suspended_time_ns += 7200000000000;
    assert_int_equal(tact_guard_is_zeroing_requested(&guard_requests), 1);
    assert_int_equal(tact_guard_is_zeroing_requested(&guard_requests), 0);
}

/* A delay between two readings of the clocks is not a suspend. */
static void delay_between_clock_readings_is_not_a_suspend(void **state)
{
    (void)state;
    suspended_time_ns = 0;
    for (int64_t first = 0; first <= 1000000000; first += 250000000) {
        clock_advance_per_reading_ns = first;
        int64_t suspended_ns = tact_guard_suspended_time_upper_bound();
        const struct tact_guard_requests guard_requests = {.suspended_ns_at_start = &suspended_ns};
        for (int64_t delay_ns = 0; delay_ns <= 1000000000; delay_ns += 50000000) {
            clock_advance_per_reading_ns = delay_ns;
            assert_int_equal(tact_guard_is_zeroing_requested(&guard_requests), 0);
        }
    }
}

/* A request of the suspend hook zeroes the outputs once, with or without the comparison of
 * clocks. */
static void guarded_outputs_are_zeroed_on_request(void **state)
{
    (void)state;
    volatile sig_atomic_t reported = 1;
    clock_advance_per_reading_ns = 0;
    int64_t suspended_ns = tact_guard_suspended_time_upper_bound();
    const struct tact_guard_requests requests_with_suspend_detection = {
        .zero_outputs = &reported, .suspended_ns_at_start = &suspended_ns};
    const struct tact_guard_requests request_to_zero_outputs = {.zero_outputs = &reported};
    assert_int_equal(tact_guard_is_zeroing_requested(&requests_with_suspend_detection), 1);
    assert_int_equal(tact_guard_is_zeroing_requested(&requests_with_suspend_detection), 0);
    reported = 1;
    assert_int_equal(tact_guard_is_zeroing_requested(&request_to_zero_outputs), 1);
    suspended_time_ns += 1000000000;
    assert_int_equal(tact_guard_is_zeroing_requested(&request_to_zero_outputs), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guarded_outputs_are_zeroed_once_after_a_suspend),
        cmocka_unit_test(delay_between_clock_readings_is_not_a_suspend),
        cmocka_unit_test(guarded_outputs_are_zeroed_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
