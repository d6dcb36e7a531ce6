/* A moment source that ends or is late costs accuracy or host time but never a deadline, and is
 * reported. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernels/source.h"
#include "support/run_scene.h"

/* Makes an OpenCL moment source with the fault that `user` points to. */
static int make_faulty_opencl_source(void *user, const struct tact_source_scene *scene,
                                     const char *device, int64_t period_ns,
                                     struct tact_messages messages, struct tact_source *out,
                                     struct tact_error *err)
{
    struct tact_opencl_options options = tact_opencl_options_default();
    options.device = device;
    options.period_ns = period_ns;
    options.messages = messages;
    options.fault = *(struct tact_opencl_fault *)user;
    return tact_opencl_source_create(scene, &options, out, err);
}

enum { TICKS = 1500, FAULT = TICKS / 2 };

/* Real-time runs of a busy machine miss deadlines and frames of their own: one of so many is
 * enough, as a loop that waits for its worker misses all that follow the fault in each. */
enum { RUNS = 4 };

static void run_with_opencl_fault(struct tact_opencl_fault fault, const char *source,
                                  uint64_t least_pairs_measured_by_source, struct run_result *r)
{
    struct run_options o = {.scene = "ruler.yaml",
                            .seconds = TICKS * 1e-3,
                            .clock = TACT_LOOP_REAL,
                            .source = source,
                            .factory = make_faulty_opencl_source,
                            .source_factory_user_data = &fault};
    bool are_deadlines_kept = false;
    for (int run = 0; run < RUNS && !are_deadlines_kept; run++) {
        run_scene(&o, r);
        print_message(
            "%s: age %u (most %u), %lu fallbacks in %lu ticks, %lu source pairs, %lu of %lu "
            "missed, %lu skipped, pitch %.3f\n",
            r->report.source, r->report.age, r->report.age_max, (unsigned long)r->report.fallbacks,
            (unsigned long)r->report.fallback_ticks, (unsigned long)r->report.source_pairs,
            (unsigned long)r->report.loop.missed, (unsigned long)r->report.loop.ticks,
            (unsigned long)r->report.loop.skipped, r->pitch_deg);
        assert_int_equal(r->report.loop.ticks, TICKS);
        assert_int_equal(r->report.loop.executed + r->report.loop.skipped, TICKS);
        assert_true(fabs(r->pitch_deg) < 0.5);
        are_deadlines_kept = r->report.loop.missed < FAULT * 2 / 3 &&
                             r->report.source_pairs >= least_pairs_measured_by_source;
    }
    assert_true(are_deadlines_kept);
}

static void host_replaces_a_killed_opencl_worker(void **state)
{
    (void)state;
    skip_test_without_opencl();
    struct run_result r;
    run_with_opencl_fault((struct tact_opencl_fault){.exit_after = FAULT}, "opencl", FAULT / 3, &r);
    assert_true(r.report.fallback_ticks + r.report.loop.skipped >= FAULT - 100);
    assert_non_null(strstr(r.run_warning_text, "late"));
}

static void host_replaces_a_hanging_opencl_worker(void **state)
{
    (void)state;
    skip_test_without_opencl();
    struct run_result r;
    run_with_opencl_fault((struct tact_opencl_fault){.hang_after = FAULT}, "opencl", FAULT / 3, &r);
    assert_true(r.report.fallback_ticks + r.report.loop.skipped >= FAULT - 100);
    assert_non_null(strstr(r.run_warning_text, "late"));
}

static void occasional_late_opencl_frames_are_tolerated(void **state)
{
    (void)state;
    skip_test_without_opencl();
    struct run_result r;
    run_with_opencl_fault((struct tact_opencl_fault){.delay_every = 20, .delay_ns = 3000000},
                          "opencl", TICKS / 30, &r);
    assert_true(r.report.fallback_ticks + r.report.loop.skipped > TICKS / 30);
}

/* A driver with wrong results is detected before the loop starts, and the host measures instead. */
static void opencl_kernels_with_wrong_results_are_unused(void **state)
{
    (void)state;
    skip_test_without_opencl();
    struct run_result r;
    run_with_opencl_fault((struct tact_opencl_fault){.wrong_kernels = 1}, "auto", 0, &r);
    assert_string_equal(r.report.source, "host");
    assert_int_equal(r.report.source_pairs, 0);
    assert_non_null(strstr(r.run_warning_text, "host"));
}

/* Without late frames the age is 1: moments of this tick's poses, measured in another thread. */
static void opencl_moments_are_one_tick_old(void **state)
{
    (void)state;
    skip_test_without_opencl();
    struct run_options o = {
        .scene = "ruler.yaml", .seconds = 5, .clock = TACT_LOOP_FREE, .source = "opencl"};
    struct run_result result_with_opencl, result_with_host;
    run_scene(&o, &result_with_opencl);
    o.source = "host";
    run_scene(&o, &result_with_host);
    assert_int_equal(result_with_opencl.report.age, 1);
    assert_int_equal(result_with_opencl.report.age_max, 1);
    assert_int_equal(result_with_opencl.report.fallbacks, 0);
    double apart[3];
    tact_v3_sub(apart, result_with_opencl.position, result_with_host.position);
    print_message("OpenCL and host moments end %.1e m apart\n", tact_v3_norm(apart));
    assert_true(tact_v3_norm(apart) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opencl_moments_are_one_tick_old),
        cmocka_unit_test(host_replaces_a_killed_opencl_worker),
        cmocka_unit_test(host_replaces_a_hanging_opencl_worker),
        cmocka_unit_test(occasional_late_opencl_frames_are_tolerated),
        cmocka_unit_test(opencl_kernels_with_wrong_results_are_unused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
