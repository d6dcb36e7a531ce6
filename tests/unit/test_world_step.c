/* tact_world_step() without a session: the same bits as its parts called in turn, and its return
 * value where one fails; ticks that are not solved, and terms of hands that are left out. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

static void start_thrown_box_with_fixed_numbers(struct world_scene *s)
{
    static const double fixed_random_numbers[THROWN_BOX_DRAW_COUNT] = {0.3, 0.7, 0.2, 0.9, 0.4,
                                                                       0.6, 0.1, 0.8, 0.5, 0.35};
    const struct tact_contact_law law = make_rigid_law(0.4);
    start_thrown_box_scene(s, NULL, fixed_random_numbers, 0.2, &law);
}

static void world_step_has_the_bits_of_its_separate_parts(void **state)
{
    (void)state;
    struct world_scene whole, parts;
    struct tact_solve_stats stats;
    int contacts = 0;
    start_thrown_box_with_fixed_numbers(&whole);
    start_thrown_box_with_fixed_numbers(&parts);
    for (int k = 0; k < 1000; k++) {
        assert_int_equal(tact_world_step(whole.world, whole.scratch, &stats), 0);
        step_scene(&parts);
        const struct tact_body *a = tact_world_body(whole.world, 0);
        const struct tact_body *b = tact_world_body(parts.world, 0);
        assert_memory_equal(&a->pose, &b->pose, sizeof a->pose);
        assert_memory_equal(a->twist, b->twist, sizeof a->twist);
        assert_int_equal(stats.contacts, parts.stats.contacts);
        contacts += stats.contacts;
    }
    assert_true(contacts > 100);
    close_scene(&whole);
    close_scene(&parts);
}

/* Two meshes that are not convex, so that their moments need a scratch. */
static void world_step_with_an_unmeasured_pair_changes_nothing(void **state)
{
    (void)state;
    static const double feet_boxes[] = {0, 0, 0, 0.1, 0.1, 0.1, 0.2, 0, 0, 0.1, 0.1, 0.1};
    struct world_scene s;
    struct tact_solve_stats stats = {.contacts = 77};
    struct tact_contact_law law = make_rigid_law(0.4);
    open_empty_scene(&s, NULL);
    struct tact_shape shape = make_shape_of_boxes(&s, feet_boxes, 2);
    add_scene_solid(&s, &shape, 1.0, (double[3]){0, 0, 0}, 0.0);
    add_scene_solid(&s, &shape, 1.0, (double[3]){0.03, 0.02, 0.0999}, 0.4);
    set_scene_contact_law(&s, 1, 1, &law);
    finish_scene_building(&s);
    const struct tact_body before = *tact_world_body(s.world, 1);
    assert_true(tact_world_step(s.world, NULL, &stats) < 0);
    assert_memory_equal(&before, tact_world_body(s.world, 1), sizeof before);
    assert_int_equal(stats.contacts, 77);
    assert_int_equal(tact_world_step(s.world, s.scratch, &stats), 0);
    assert_int_equal(stats.contacts, 1);
    assert_memory_not_equal(&before, tact_world_body(s.world, 1), sizeof before);
    close_scene(&s);
}

/* A pendulum of a rod with a ball at its end, at rest at an angle from horizontal, and bodies. */
static struct tact_hand *open_pendulum_scene(struct world_scene *s,
                                             const struct tact_world_options *o, double height)
{
    struct tact_link_def link = {.parent = -1,
                                 .joint = TACT_JOINT_HINGE,
                                 .axis = {0, 1, 0},
                                 .origin = tact_pose_identity(),
                                 .mass = 0.1,
                                 .center = {0.1, 0, 0},
                                 .inertia = {1e-4, 1e-4, 1e-4, 0, 0, 0}};
    const struct tact_owner owner = {TACT_OWNER_HAND, 0, 0};
    const struct tact_pose end = {{0.1, 0, 0}, {1, 0, 0, 0}};
    struct tact_pose base = tact_pose_identity();
    struct tact_hand *hand;
    base.position[2] = height;
    open_empty_scene(s, o);
    add_scene_ground(s);
    assert_int_equal(tact_hand_create(&link, 1, &base, &hand), 0);
    assert_int_equal(tact_world_add_hand(s->world, hand, 0), 0);
    s->shapes[s->shape_count] = make_sphere(0.01);
    assert_true(tact_world_add_shape(s->world, owner, &s->shapes[s->shape_count++], &end, 1) >= 0);
    return hand;
}

/* In a tick with more near pairs or contacts than the capacity a joint keeps the rate of its state,
 * whatever was solved last; the capacity is named. */
static void joints_keep_their_rates_in_a_tick_that_is_not_solved(void **state)
{
    (void)state;
    for (int near = 0; near < 2; near++) {
        struct world_scene s;
        struct tact_world_options o = tact_world_options_default();
        struct tact_shape ball = make_sphere(0.01);
        o.contacts = near ? 0 : 1;
        o.near = near ? 1 : 0;
        struct tact_hand *hand = open_pendulum_scene(&s, &o, 1.0);
        for (int i = 0; i < 2; i++) {
            add_scene_solid(&s, &ball, 0.1, (double[3]){i, 1, 0.00999}, 0);
        }
        const struct tact_contact_law law = make_rigid_law(0.5);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        struct tact_hand_state joints = tact_hand_state(hand);
        joints.v[0] = 3.0;
        tact_world_refresh(s.world);
        assert_int_equal(tact_world_step(s.world, s.scratch, &s.stats), -ENOSPC);
        print_message("%s: %.17g rad in a tick\n", tact_world_exceeded_capacity(s.world),
                      joints.q[0]);
        assert_string_equal(tact_world_exceeded_capacity(s.world),
                            near ? "near pairs" : "contacts");
        assert_true(joints.v[0] == 3.0 && joints.q[0] == o.period * 3.0);
        close_scene(&s);
    }
}

/* A pendulum hits the ground and stays: in the next tick the rates that are predicted with its
 * impulse are not used. */
static void rates_that_are_not_predicted_are_counted(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_contact_law law = make_rigid_law(0.0);
    int rates_not_predicted_count = 0, touched = 0, ticks_after = 0;
    open_pendulum_scene(&s, NULL, 0.05);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    for (int k = 0; k < 200 && ticks_after < 3; k++) {
        step_scene(&s);
        rates_not_predicted_count += s.stats.counts[TACT_COUNT_RATES_NOT_PREDICTED];
        touched += s.stats.contacts > 0 && fabs(tact_world_contact(s.world, 0)->warm[2]) > 0.0;
        ticks_after += touched > 0;
        assert_true(touched > 0 || rates_not_predicted_count == 0);
    }
    print_message("impact in %d tick(s), %d hand(s) without prediction\n", touched,
                  rates_not_predicted_count);
    assert_true(touched > 0 && rates_not_predicted_count > 0);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(world_step_has_the_bits_of_its_separate_parts),
        cmocka_unit_test(world_step_with_an_unmeasured_pair_changes_nothing),
        cmocka_unit_test(joints_keep_their_rates_in_a_tick_that_is_not_solved),
        cmocka_unit_test(rates_that_are_not_predicted_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
