/* Moments extrapolated to the next tick, compared with moments measured at its pose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/moments/moments.h"
#include "support/moved.h"

struct extrapolated_moments_errors {
    double v, c, s, g;
};

/* Extrapolates the overlap of a with b by 1 ms and compares it with a measurement. */
static struct extrapolated_moments_errors
errors_of_extrapolated_overlap_moments(const struct tact_shape *a, struct tact_pose pa,
                                       const struct tact_shape *b, struct tact_pose pb,
                                       const double ta[6], const double tb[6], double exponent)
{
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(10000);
    struct tact_moments now, later, guess;
    assert_int_equal(tact_moments_pair(a, &pa, b, &pb, NULL, scratch, &now), 1);
    struct tact_pose qa = pose_displaced_by_twist(&pa, now.centroid, ta, 1e-3);
    struct tact_pose qb = pose_displaced_by_twist(&pb, now.centroid, tb, 1e-3);
    assert_int_equal(tact_moments_pair(a, &qa, b, &qb, NULL, scratch, &later), 1);
    tact_moments_advance(&now, ta, tb, 1e-3, exponent, &guess);
    double second_moment_trace = later.second[0] + later.second[1] + later.second[2], d[3];
    struct extrapolated_moments_errors e = {.v = fabs(guess.volume / later.volume - 1.0)};
    tact_v3_sub(d, guess.centroid, later.centroid);
    e.c = tact_v3_norm(d) / sqrt(second_moment_trace / later.volume);
    for (int k = 0; k < 6; k++) {
        e.s = fmax(e.s, fabs(guess.second[k] - later.second[k]) / second_moment_trace);
    }
    tact_v3_sub(d, guess.gradient, later.gradient);
    e.g = tact_v3_norm(d) / tact_v3_norm(later.gradient);
    tact_moments_scratch_destroy(scratch);
    return e;
}

static const double ZERO_TWIST[6] = {0};

/* A ball pressed into a plane: V is proportional to depth^2, up to a relative error of depth / 3R.
 */
static void moments_of_a_ball_pressed_into_a_plane_are_extrapolated(void **unused)
{
    (void)unused;
    struct tact_shape a = {.kind = TACT_SHAPE_SPHERE, .size = {0.008}};
    struct tact_shape b = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    pa.position[2] = 0.008 - 2e-4;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double twist[6] = {0.0, 0.0, sign * 0.1};
        struct extrapolated_moments_errors e =
            errors_of_extrapolated_overlap_moments(&a, pa, &b, pb, twist, ZERO_TWIST, 2.0);
        print_message("ball, 0.2 mm deep, %+.1f m/s: V %.1e c %.1e C %.1e g %.1e\n", sign * 0.1,
                      e.v, e.c, e.s, e.g);
        assert_true(e.v < 5e-3 && e.c < 0.06 && e.s < 5e-3 && e.g < 1e-2);
    }
    const double separating_twist[6] = {0.0, 0.0, 0.3};
    struct tact_moments m;
    assert_int_equal(tact_moments_pair(&a, &pa, &b, &pb, NULL, NULL, &m), 1);
    tact_moments_advance(&m, separating_twist, ZERO_TWIST, 1e-3, 1.0, &m);
    assert_true(m.volume == 0.0 && m.gradient[2] == 0.0);
}

/* A block pressed into a plate: V is proportional to depth; then both bodies turn together, which
 * only turns the moments' axes. */
static void moments_of_a_block_pressed_into_a_plate_are_extrapolated(void **unused)
{
    (void)unused;
    struct tact_shape a = {.kind = TACT_SHAPE_BOX, .size = {0.01, 0.02, 0.01}};
    struct tact_shape b = {.kind = TACT_SHAPE_BOX, .size = {0.1, 0.1, 0.01}};
    assert_int_equal(tact_shape_tessellate(&a), 0);
    assert_int_equal(tact_shape_tessellate(&b), 0);
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    tact_v3_set(pa.position, 0.01, 0.0, 0.0198);
    const double pressing_twist[6] = {0.0, 0.0, -0.1};
    struct extrapolated_moments_errors e =
        errors_of_extrapolated_overlap_moments(&a, pa, &b, pb, pressing_twist, ZERO_TWIST, 1.0);
    print_message("block pressed: V %.1e c %.1e C %.1e g %.1e\n", e.v, e.c, e.s, e.g);
    assert_true(e.v < 1e-10 && e.s < 1e-4 && e.g < 1e-10);
    const double common_twist_of_both_bodies[6] = {0.1, -0.2, 0.3, 5.0, 3.0, -4.0};
    e = errors_of_extrapolated_overlap_moments(&a, pa, &b, pb, common_twist_of_both_bodies,
                                               common_twist_of_both_bodies, 1.0);
    print_message("both swung: V %.1e c %.1e C %.1e g %.1e\n", e.v, e.c, e.s, e.g);
    assert_true(e.v < 1e-9 && e.c < 1e-9 && e.s < 1e-9 && e.g < 1e-9);
    /* A rotation about a point beside the normal through the centroid tests the torque part of the
     * gradient. */
    const double rocking_twist[6] = {0.0, 0.0, 0.0, 0.0, 0.5, 0.0};
    e = errors_of_extrapolated_overlap_moments(&a, pa, &b, pb, rocking_twist, ZERO_TWIST, 1.0);
    assert_true(e.v < 1e-3);
    tact_shape_release(&a);
    tact_shape_release(&b);
}

/* The exponent with which an overlap's volume grows with depth, estimated from the overlap's
 * shape, against closed forms. */
static void volume_growth_exponent_matches_closed_forms(void **unused)
{
    (void)unused;
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.01}};
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape block = {.kind = TACT_SHAPE_BOX, .size = {0.01, 0.02, 0.01}};
    struct tact_pose here = tact_pose_identity(), body_pose_above_plane = here, beside = here;
    struct tact_moments m;
    assert_int_equal(tact_shape_tessellate(&block), 0);
    body_pose_above_plane.position[2] = 0.01 - 1e-5;
    assert_int_equal(
        tact_moments_pair(&ball, &body_pose_above_plane, &plane, &here, NULL, NULL, &m), 1);
    double cap = tact_moments_exponent(&m);
    beside.position[0] = 0.02 - 1e-5;
    assert_int_equal(tact_moments_pair(&ball, &beside, &ball, &here, NULL, NULL, &m), 1);
    double volume_growth_exponent_of_lens = tact_moments_exponent(&m);
    body_pose_above_plane.position[2] = 0.005 - 1e-4;
    assert_int_equal(
        tact_moments_pair(&block, &body_pose_above_plane, &plane, &here, NULL, NULL, &m), 1);
    double volume_growth_exponent_of_layer = tact_moments_exponent(&m);
    print_message("exponent: cap %.4f, lens %.4f, layer %.9f\n", cap,
                  volume_growth_exponent_of_lens, volume_growth_exponent_of_layer);
    assert_true(fabs(cap - (1.0 + (sqrt(2.0) / 3.0 - sqrt(1.0 / 12.0)) /
                                      (0.44 - sqrt(1.0 / 12.0)))) < 2e-3);
    assert_true(fabs(volume_growth_exponent_of_lens -
                     (1.0 + (sqrt(1.0 / 6.0) - sqrt(1.0 / 12.0)) / (0.44 - sqrt(1.0 / 12.0)))) <
                2e-3);
    assert_true(cap < 2.3 && volume_growth_exponent_of_lens > 1.7 &&
                fabs(volume_growth_exponent_of_layer - 1.0) < 1e-9);
    memset(&m, 0, sizeof m);
    assert_true(tact_moments_exponent(&m) == 1.0);
    tact_shape_release(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_of_a_ball_pressed_into_a_plane_are_extrapolated),
        cmocka_unit_test(moments_of_a_block_pressed_into_a_plate_are_extrapolated),
        cmocka_unit_test(volume_growth_exponent_matches_closed_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
