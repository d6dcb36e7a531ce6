/* A moment source that dies or is late costs accuracy or host time, never a deadline, and is
 * reported. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernels/source.h"
#include "support/run_scene.h"

/* The OpenCL source with the fault that user points to. */
static int faulty(void *user, const struct tact_source_scene *scene, const char *device,
                  int64_t period_ns, struct tact_messages messages, struct tact_source *out,
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

static void run_faulty(struct tact_opencl_fault fault, const char *source, struct run_result *r)
{
    struct run_options o = {.scene = "ruler.yaml",
                            .seconds = TICKS * 1e-3,
                            .clock = TACT_LOOP_REAL,
                            .source = source,
                            .factory = faulty,
                            .factory_user = &fault};
    run_scene(&o, r);
    print_message(
        "%s: age %u (most %u), %lu fallbacks in %lu ticks, %lu of %lu missed, pitch %.3f\n",
        r->report.source, r->report.age, r->report.age_max, (unsigned long)r->report.fallbacks,
        (unsigned long)r->report.fallback_ticks, (unsigned long)r->report.loop.missed,
        (unsigned long)r->report.loop.ticks, r->pitch_deg);
    assert_int_equal(r->report.loop.ticks, TICKS);
    assert_int_equal(r->report.loop.executed + r->report.loop.skipped, TICKS);
    assert_true(fabs(r->pitch_deg) < 0.5);
    /* A busy machine that refuses priority misses some; a loop that waited for its worker would
     * miss all that follow. */
    assert_true(r->report.loop.missed < FAULT * 2 / 3);
}

static void worker_killed_in_mid_run(void **state)
{
    (void)state;
    need_opencl();
    struct run_result r;
    run_faulty((struct tact_opencl_fault){.exit_after = FAULT}, "opencl", &r);
    assert_true(r.report.fallback_ticks >= FAULT - 100);
    assert_true(r.report.source_pairs > FAULT / 3);
    assert_non_null(strstr(r.warnings, "late"));
}

static void worker_hangs(void **state)
{
    (void)state;
    need_opencl();
    struct run_result r;
    run_faulty((struct tact_opencl_fault){.hang_after = FAULT}, "opencl", &r);
    assert_true(r.report.fallback_ticks >= FAULT - 100);
    assert_non_null(strstr(r.warnings, "late"));
}

static void worker_late_now_and_then(void **state)
{
    (void)state;
    need_opencl();
    struct run_result r;
    run_faulty((struct tact_opencl_fault){.delay_every = 20, .delay_ns = 3000000}, "opencl", &r);
    assert_true(r.report.fallback_ticks > TICKS / 30);
    assert_true(r.report.source_pairs > TICKS / 30);
}

/* A driver whose results are wrong is found out before the loop starts, and the host takes over. */
static void wrong_kernels_are_not_used(void **state)
{
    (void)state;
    need_opencl();
    struct run_result r;
    run_faulty((struct tact_opencl_fault){.wrong_kernels = 1}, "auto", &r);
    assert_string_equal(r.report.source, "host");
    assert_int_equal(r.report.source_pairs, 0);
    assert_non_null(strstr(r.warnings, "host"));
}

/* Without a late frame the age is 1: the very poses of this tick, measured in another thread. */
static void age_is_one(void **state)
{
    (void)state;
    need_opencl();
    struct run_options o = {
        .scene = "ruler.yaml", .seconds = 5, .clock = TACT_LOOP_FREE, .source = "opencl"};
    struct run_result with, without;
    run_scene(&o, &with);
    o.source = "host";
    run_scene(&o, &without);
    assert_int_equal(with.report.age, 1);
    assert_int_equal(with.report.age_max, 1);
    assert_int_equal(with.report.fallbacks, 0);
    double apart[3];
    tact_v3_sub(apart, with.position, without.position);
    print_message("OpenCL and host moments end %.1e m apart\n", tact_v3_norm(apart));
    assert_true(tact_v3_norm(apart) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(age_is_one),
        cmocka_unit_test(worker_killed_in_mid_run),
        cmocka_unit_test(worker_hangs),
        cmocka_unit_test(worker_late_now_and_then),
        cmocka_unit_test(wrong_kernels_are_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
