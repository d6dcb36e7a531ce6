/* Each number of a state is made NaN or infinite in turn: it is detected, and the report names its
 * body, joint or pair. */
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
#include "contact/world/constraint.h"
#include "contact/world/world.h"

#define SPEED_LIMIT 100.0

/* Two balls on a plane, one of them on a slider, and a finger of a hinge and a slide. */
static struct tact_world *make_world_with_slider_and_finger(struct tact_moments_scratch **scratch)
{
    struct tact_world_options options = tact_world_options_default();
    struct tact_contact_law law = {.friction = 0.5, .overlap = 2e-5, .dissipation = 0.005};
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.01}};
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose here = tact_pose_identity();
    struct tact_world *world;
    assert_int_equal(tact_world_create(&options, &world), 0);
    assert_true(tact_world_add_shape(world, (struct tact_owner){TACT_OWNER_FIXED, 0, 0}, &plane,
                                     &here, 0) >= 0);
    for (int i = 0; i < 2; i++) {
        const double inertia[6] = {4e-6, 4e-6, 4e-6, 0, 0, 0};
        struct tact_body body = {.pose = {{0.1 * i, 0, 0.00998}, {1, 0, 0, 0}}};
        assert_int_equal(tact_body_set_mass(&body, 0.1, inertia), 0);
        int at = tact_world_add_body(world, &body);
        assert_int_equal(at, i);
        assert_true(tact_world_add_shape(world, (struct tact_owner){TACT_OWNER_BODY, at, 0}, &ball,
                                         &here, 0) >= 0);
    }
    struct tact_constraint constraint;
    struct tact_pose frame = {{0.1, 0, 0}, {1, 0, 0, 0}};
    assert_int_equal(tact_constraint_between(
                         world, TACT_CONSTRAINT_SLIDER, (struct tact_owner){TACT_OWNER_BODY, 1, 0},
                         (struct tact_owner){TACT_OWNER_FIXED, 0, 0}, &frame, &constraint),
                     0);
    assert_int_equal(tact_world_add_constraint(world, &constraint), 0);
    struct tact_link_def links[2] = {{.parent = -1,
                                      .joint = TACT_JOINT_HINGE,
                                      .origin = {{0, 0, 1}, {1, 0, 0, 0}},
                                      .axis = {0, 1, 0},
                                      .stiffness = 1,
                                      .damping = 0.1,
                                      .mass = 0.1,
                                      .inertia = {1e-4, 1e-4, 1e-4, 0, 0, 0}}};
    links[1] = links[0];
    links[1].parent = 0;
    links[1].joint = TACT_JOINT_SLIDE;
    struct tact_hand *hand;
    assert_int_equal(tact_hand_create(links, 2, &here, &hand), 0);
    assert_int_equal(tact_world_add_hand(world, hand, 0), 0);
    assert_int_equal(tact_world_set_law(world, 0, 0, &law), 0);
    assert_int_equal(tact_world_finish(world), 0);
    *scratch = tact_moments_scratch_create(16);
    return world;
}

/* Runs a tick up to the check of the state. pair: whose moment number `at` is set to `value`, or
 * -1. */
static void run_world_tick_with_changed_moment(struct tact_world *world,
                                               struct tact_moments_scratch *scratch, int pair,
                                               int at, double value)
{
    struct tact_solve_stats stats;
    tact_world_begin(world);
    for (int i = tact_world_next_pair(world, -1); i >= 0; i = tact_world_next_pair(world, i)) {
        struct tact_moments m = {0};
        int got = tact_world_is_close(world, i) && tact_world_measure(world, i, scratch, &m) > 0;
        if (i == pair) {
            ((double *)&m)[at] = value;
        }
        tact_world_set_moments(world, i, got ? &m : NULL);
    }
    tact_world_solve(world, &stats);
    tact_world_integrate(world);
}

static void expect_world_fault(struct tact_world *world, enum tact_world_part part, int index,
                               int link, const char *what)
{
    struct tact_world_fault fault = {.what = "nothing"};
    int rc = tact_world_check(world, SPEED_LIMIT, &fault);
    if (rc != -EDOM || fault.part != part || fault.index != index || fault.link != link ||
        !strstr(fault.what, what)) {
        fail_msg("%d: part %d, %d, %d: %s; expected part %d, %d, %d: %s", rc, fault.part,
                 fault.index, fault.link, fault.what, part, index, link, what);
    }
}

static const double odd[] = {NAN, INFINITY, -INFINITY};

static void every_number_of_a_world_is_checked_for_nan(void **state)
{
    (void)state;
    struct tact_moments_scratch *scratch;
    struct tact_world *world = make_world_with_slider_and_finger(&scratch);
    struct tact_world_fault fault;
    run_world_tick_with_changed_moment(world, scratch, -1, 0, 0.0);
    run_world_tick_with_changed_moment(world, scratch, -1, 0, 0.0);
    assert_int_equal(tact_world_check(world, SPEED_LIMIT, &fault), 0);
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(world, 0));
    for (size_t k = 0; k < 3; k++) {
        const struct {
            double *at;
            int count;
            enum tact_world_part part;
            int index, link;
            const char *what;
        } numbers[] = {
            {(double *)&tact_world_body(world, 1)->pose, 7, TACT_WORLD_BODY, 1, 0, "pose"},
            {tact_world_body(world, 0)->twist, 6, TACT_WORLD_BODY, 0, 0, "velocity"},
            {tact_world_contact(world, 0)->wrench, 6, TACT_WORLD_PAIR, 0, 0, "wrench"},
            {(double *)&tact_world_contact(world, 0)->moments, 16, TACT_WORLD_PAIR, 0, 0,
             "overlap"},
            {tact_world_constraint(world, 0)->wrench, 6, TACT_WORLD_CONSTRAINT, 0, 0, "wrench"},
            {&tact_world_constraint(world, 0)->value, 1, TACT_WORLD_CONSTRAINT, 0, 0, "wrench"},
            {hand.q + 1, 1, TACT_WORLD_JOINT, 0, 1, "angle or position"},
            {hand.v, 1, TACT_WORLD_JOINT, 0, 0, "velocity"},
            {hand.torque + 1, 1, TACT_WORLD_JOINT, 0, 1, "torque"}};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            for (int i = 0; i < numbers[n].count; i++) {
                const double was = numbers[n].at[i];
                numbers[n].at[i] = odd[k];
                expect_world_fault(world, numbers[n].part, numbers[n].index, numbers[n].link,
                                   numbers[n].what);
                numbers[n].at[i] = was;
            }
        }
        assert_int_equal(tact_world_check(world, SPEED_LIMIT, &fault), 0);
    }
    tact_world_destroy(world);
    tact_moments_scratch_destroy(scratch);
}

static void body_speeds_over_the_limit_are_detected(void **state)
{
    (void)state;
    struct tact_moments_scratch *scratch;
    struct tact_world *world = make_world_with_slider_and_finger(&scratch);
    struct tact_world_fault fault;
    run_world_tick_with_changed_moment(world, scratch, -1, 0, 0.0);
    double *twist = tact_world_body(world, 1)->twist;
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(world, 0));
    const struct {
        double *at, most;
        enum tact_world_part part;
        int index, link;
        const char *what;
    } limits[] = {{&twist[2], SPEED_LIMIT, TACT_WORLD_BODY, 1, 0, "speed exceeds max_speed"},
                  {&twist[4], 1e5, TACT_WORLD_BODY, 1, 0, "angular speed exceeds"},
                  {&hand.v[0], 1e5, TACT_WORLD_JOINT, 0, 0, "angular speed exceeds"},
                  {&hand.v[1], SPEED_LIMIT, TACT_WORLD_JOINT, 0, 1, "speed exceeds max_speed"}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const double was = *limits[i].at;
        for (int sign = -1; sign <= 1; sign += 2) {
            *limits[i].at = sign * 0.999 * limits[i].most;
            assert_int_equal(tact_world_check(world, SPEED_LIMIT, &fault), 0);
            *limits[i].at = sign * 1.001 * limits[i].most;
            expect_world_fault(world, limits[i].part, limits[i].index, limits[i].link,
                               limits[i].what);
            *limits[i].at = sign * 1e300; /* its square overflows */
            expect_world_fault(world, limits[i].part, limits[i].index, limits[i].link,
                               limits[i].what);
        }
        *limits[i].at = was;
    }
    tact_world_destroy(world);
    tact_moments_scratch_destroy(scratch);
}

/* A solve with a moment that is not finite, whichever of the 16, is reported by the check. */
static void nonfinite_moments_are_detected_after_the_tick(void **state)
{
    (void)state;
    for (int at = 0; at < 16; at++) {
        for (size_t k = 0; k < 3; k++) {
            struct tact_moments_scratch *scratch;
            struct tact_world *world = make_world_with_slider_and_finger(&scratch);
            run_world_tick_with_changed_moment(world, scratch, -1, 0, 0.0);
            assert_true(tact_world_contact(world, 0)->touching);
            run_world_tick_with_changed_moment(world, scratch, 0, at, odd[k]);
            expect_world_fault(world, TACT_WORLD_PAIR, 0, 0, "overlap");
            tact_world_destroy(world);
            tact_moments_scratch_destroy(scratch);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_a_world_is_checked_for_nan),
        cmocka_unit_test(body_speeds_over_the_limit_are_detected),
        cmocka_unit_test(nonfinite_moments_are_detected_after_the_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
