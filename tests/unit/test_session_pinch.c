/* The pinched ruler (Bouchard 2015, figure 12): the torsion of the two patches holds it level, up
 * to their limit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "support/campaign.h"
#include "support/run_scene.h"

static struct run_options ruler_run_options(double seconds, const char *source)
{
    struct run_options o = {
        .scene = "ruler.yaml", .seconds = seconds, .clock = TACT_LOOP_FREE, .source = source};
    return o;
}

/* Checks that the ruler stays level within 0.5 degrees and slips under 0.1 mm in the 5 s after its
 * weight is released. */
static void check_ruler_is_held(const char *source)
{
    char log[64] = "/tmp/tact_pinch_XXXXXX";
    close(mkstemp(log));
    struct run_options o = ruler_run_options(6.1, source);
    struct run_result r;
    double tilt, slip;
    o.record = log;
    run_scene(&o, &r);
    read_worst_tilt_and_slip_of_log(log, "ruler", "ruler_pinch_left_distal",
                                    "ruler_pinch_right_distal", 1.0, 6.0, &tilt, &slip);
    unlink(log);
    print_message("%s: tilt %.4f deg, pitch at the end %.4f deg, slip %.2e m, N %.4f, arm %.4e m\n",
                  r.report.source, tilt, r.pitch_deg, slip, r.normal_force, r.spin_arm);
    assert_true(tilt < 0.5);
    assert_true(fabs(r.pitch_deg) < 0.5);
    assert_true(slip < 1e-4);
    assert_int_equal(r.report.contacts, 2);
    assert_int_equal(r.report.loop.ticks, 6100);
    assert_true(fabs(r.normal_force / 4.0 - 1.0) < 0.01);
    /* Hertz's torsion arm: 3 pi / 16 (3 N R / (4 E*))^(1/3) */
    double arm = 3 * M_PI / 16 * cbrt(3 * r.normal_force * 0.008 / (4 * 3e5));
    assert_true(fabs(r.spin_arm / arm - 1.0) < 0.01);
}

static void pinch_by_host_moments_holds_the_ruler(void **state)
{
    (void)state;
    check_ruler_is_held("host");
}

static void pinch_by_opencl_moments_holds_the_ruler(void **state)
{
    (void)state;
    skip_test_without_opencl();
    check_ruler_is_held("opencl");
}

/* Largest offset of the centre of mass that torsion holds [m]: d = 2 k mu N / (m g) with N = 4 N,
 * R = 8 mm, E* = 0.3 MPa, mu = 0.8 and m = 30 g is 55.19 mm. */
static double ruler_offset_at_torsion_limit(void)
{
    return 2 * (3 * M_PI / 16 * cbrt(3 * 4 * 0.008 / (4 * 3e5))) * 0.8 * 4 / (0.03 * 9.81);
}

static double ruler_pitch_at_end(double fraction, double seconds, const char *source)
{
    char position[64];
    struct run_options o = ruler_run_options(seconds, source);
    struct run_result r;
    tact_number_print(position, sizeof position, "position: [%.6f, 0, 0]",
                      fraction * ruler_offset_at_torsion_limit());
    const struct edit edits[] = {{"position: [0.05, 0, 0]", position}, {NULL, NULL}};
    o.edits = edits;
    run_scene(&o, &r);
    print_message("%.2f of %.2f mm for %.0f s (%s): pitch %.3f deg\n", fraction,
                  1e3 * ruler_offset_at_torsion_limit(), seconds, r.report.source, r.pitch_deg);
    return r.pitch_deg;
}

static void torsion_keeps_the_ruler_level_below_its_limit(void **state)
{
    (void)state;
    SKIP_IN_QUICK_SANITIZER_RUN();
    assert_true(fabs(ruler_pitch_at_end(0.97, 61, "host")) < 0.5);
    skip_test_without_opencl();
    assert_true(fabs(ruler_pitch_at_end(0.97, IS_SANITIZER_BUILD ? 10 : 61, "opencl")) < 0.5);
}

static void ruler_turns_above_the_torsion_limit(void **state)
{
    (void)state;
    SKIP_IN_QUICK_SANITIZER_RUN();
    assert_true(fabs(ruler_pitch_at_end(1.03, 61, "host")) > 5.0);
    skip_test_without_opencl();
    assert_true(fabs(ruler_pitch_at_end(1.03, 10, "opencl")) > 5.0);
}

static void ruler_turns_with_little_friction(void **state)
{
    (void)state;
    const struct edit edits[] = {{"friction: 0.8", "friction: 0.2"}, {NULL, NULL}};
    struct run_options o = ruler_run_options(5, "host");
    struct run_result r;
    o.edits = edits;
    run_scene(&o, &r);
    print_message("mu 0.2: pitch %.1f deg\n", r.pitch_deg);
    assert_true(fabs(r.pitch_deg) > 20.0);
}

/* No creep: the last 30 s of a minute move the ruler by less than a nanometre. */
static void pinched_ruler_does_not_creep(void **state)
{
    (void)state;
    char log[64] = "/tmp/tact_creep_XXXXXX";
    close(mkstemp(log));
    struct run_options o = ruler_run_options(61, "host");
    struct run_result r;
    double tilt, slip;
    o.record = log;
    run_scene(&o, &r);
    read_worst_tilt_and_slip_of_log(log, "ruler", "ruler_pinch_left_distal",
                                    "ruler_pinch_right_distal", 31, 61, &tilt, &slip);
    unlink(log);
    print_message("last 30 s: %.1e m, speed at the end %.1e m/s\n", slip, r.speed);
    assert_true(slip < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinch_by_host_moments_holds_the_ruler),
        cmocka_unit_test(pinch_by_opencl_moments_holds_the_ruler),
        cmocka_unit_test(torsion_keeps_the_ruler_level_below_its_limit),
        cmocka_unit_test(ruler_turns_above_the_torsion_limit),
        cmocka_unit_test(ruler_turns_with_little_friction),
        cmocka_unit_test(pinched_ruler_does_not_creep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
