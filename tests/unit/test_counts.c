/* The session's counts of solver methods and moment methods, in scenes each of which needs one of
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "support/campaign.h"
#include "support/run_scene.h"

#define TICKS 20

static const char head[] = "name: counts\nmaterials: [{name: m}]\n"
                           "pairs: [{materials: [m, m], friction: 0.5}]\n"
                           "moments: {source: host}\n";
static const char ground[] = "bodies:\n"
                             "  - {name: floor, fixed: true,\n"
                             "     shapes: [{type: halfspace, material: m}]}\n";
static const char box[] = "shapes: [{type: box, size: [0.02, 0.02, 0.02], material: m}]}\n";

static void run_scene_for_solver_counts(const char *contact, const char *bodies,
                                        struct tact_session_report *report)
{
    struct tact_session_options options = tact_session_options_default();
    char text[4096];
    options.clock = TACT_LOOP_FREE;
    options.ticks = TICKS;
    snprintf(text, sizeof text, "%s%s%s%s", head, contact, ground, bodies);
    run_session_of_scene_text(text, &options, report);
    for (int i = 0; i < TACT_SOLVE_COUNTS; i++) {
        if (report->counts[i]) {
            print_message("%s %lu ", tact_solve_count_name(i), (unsigned long)report->counts[i]);
        }
    }
    for (int i = 0; i < TACT_MOMENTS_COUNTS; i++) {
        if (report->methods[i]) {
            print_message("%s %lu ", tact_moments_count_name(i), (unsigned long)report->methods[i]);
        }
    }
    print_message("\n");
}

static void resting_ball_is_counted_as_sticking(void **unused)
{
    (void)unused;
    struct tact_session_report r;
    run_scene_for_solver_counts("",
                                "  - {name: b, mass: 0.1, position: [0, 0, 0.00999],\n"
                                "     shapes: [{type: sphere, radius: 0.01, material: m}]}\n",
                                &r);
    assert_true(r.counts[TACT_COUNT_STICK] >= TICKS);
    for (int i = TACT_COUNT_NEWTON; i < TACT_SOLVE_COUNTS; i++) {
        assert_true(r.counts[i] == 0 || i == TACT_COUNT_ANDERSON);
    }
    /* one count more than ticks: from the session's start */
    assert_int_equal(r.methods[TACT_COUNT_CLOSED_FORM], TICKS + 1);
    assert_int_equal(r.methods[TACT_COUNT_CONVEX], 0);
}

static void active_set_solves_of_a_sliding_box_are_counted(void **unused)
{
    (void)unused;
    struct tact_session_report r;
    char text[512];
    snprintf(text, sizeof text,
             "  - {name: b, mass: 0.1, position: [0, 0, 0.00998], velocity: [0.5, 0, 0],\n     %s",
             box);
    run_scene_for_solver_counts("", text, &r);
    assert_true(r.counts[TACT_COUNT_ACTIVE_SET] >= TICKS - 1);
    assert_int_equal(r.counts[TACT_COUNT_UNSOLVED], 0);
    assert_int_equal(r.methods[TACT_COUNT_CONVEX], TICKS + 1);
    assert_int_equal(r.methods[TACT_COUNT_CLOSED_FORM], 0);
}

/* A box, measured by features, turns as it slides: the second-order term of its contact is limited
 * to what reverses it. */
static void limited_second_order_terms_are_counted(void **unused)
{
    (void)unused;
    struct tact_session_report r;
    char text[512];
    snprintf(text, sizeof text,
             "  - {name: b, mass: 0.1, position: [0, 0, 0.01], velocity: [0.02, 0, 0],\n"
             "     angular_velocity: [0, 0, 5],\n     %s",
             box);
    run_scene_for_solver_counts("contact: {model: features}\n", text, &r);
    assert_true(r.counts[TACT_COUNT_TERM_LIMITED] > 0);
    run_scene_for_solver_counts("", text, &r);
    assert_int_equal(r.counts[TACT_COUNT_TERM_LIMITED], 0);
}

/* YAML of a stack of six boxes, the upper three thrown sideways, so that sweeps alone do not solve
 * the first ticks. */
static void format_box_stack_yaml(char *text, size_t room)
{
    size_t used = 0;
    for (int i = 0; i < 6; i++) {
        used += (size_t)snprintf(text + used, room - used,
                                 "  - {name: b%d, mass: 0.1, position: [0, 0, 0.%05d],\n"
                                 "     velocity: [%s, 0, 0], %s",
                                 i, 998 + 1998 * i, i > 2 ? "0.3" : "0", box);
    }
}

static void newton_solves_of_a_thrown_stack_are_counted(void **unused)
{
    (void)unused;
    struct tact_session_report r;
    char text[2048];
    format_box_stack_yaml(text, sizeof text);
    run_scene_for_solver_counts("", text, &r);
    assert_true(r.counts[TACT_COUNT_NEWTON] > 0);
    assert_int_equal(r.counts[TACT_COUNT_UNSOLVED], 0);
    assert_true(r.methods[TACT_COUNT_CONVEX] > 6 * TICKS);
}

/* A tick whose solve is stopped after one sweep is counted as unsolved. */
static void tick_stopped_after_one_sweep_is_counted_as_unsolved(void **unused)
{
    (void)unused;
    struct tact_session_report r;
    char text[2048];
    format_box_stack_yaml(text, sizeof text);
    run_scene_for_solver_counts("contact: {iterations: 1}\n", text, &r);
    assert_true(r.counts[TACT_COUNT_UNSOLVED] > 0 && r.unconverged > 0);
    assert_true(r.counts[TACT_COUNT_UNSOLVED] >= r.unconverged);
    assert_int_equal(r.counts[TACT_COUNT_NEWTON], 0);
}

/* Islands that two sweeps do not solve get their best impulses back, and those that one sweep does
 * not solve are scaled down where they would add energy. */
static void impulses_restored_or_scaled_in_unsolved_islands_are_counted(void **unused)
{
    (void)unused;
    struct tact_session_report r;
    char text[2048];
    format_box_stack_yaml(text, sizeof text);
    run_scene_for_solver_counts("contact: {iterations: 2}\n", text, &r);
    assert_true(r.counts[TACT_COUNT_RESTORED] > 0);
    run_scene_for_solver_counts("contact: {iterations: 1}\n", text, &r);
    assert_true(r.counts[TACT_COUNT_SCALED] > 0);
    run_scene_for_solver_counts("", text, &r);
    assert_int_equal(r.counts[TACT_COUNT_RESTORED] + r.counts[TACT_COUNT_SCALED], 0);
}

/* A box, measured by features, that turns by a radian in a tick while it touches the ground: its
 * contact has no second-order term. */
static void omitted_second_order_terms_are_counted(void **unused)
{
    (void)unused;
    struct tact_session_report r;
    char text[512];
    snprintf(text, sizeof text,
             "  - {name: b, mass: 0.1, position: [0, 0, 0.00999],\n"
             "     angular_velocity: [0, 1000, 0],\n     %s",
             box);
    run_scene_for_solver_counts("contact: {model: features}\n", text, &r);
    assert_true(r.counts[TACT_COUNT_CONFORMING] > 0);
}

static void run_gallery_scene_for_counts(const char *scene, double seconds,
                                         struct tact_session_report *report)
{
    struct run_result result;
    run_scene(
        &(struct run_options){
            .scene = scene, .seconds = seconds, .clock = TACT_LOOP_FREE, .source = "host"},
        &result);
    *report = result.report;
}

static void solver_methods_of_a_card_house_are_counted(void **unused)
{
    (void)unused;
    static const int methods[] = {
        TACT_COUNT_STICK,    TACT_COUNT_ACTIVE_SET, TACT_COUNT_SEARCH,
        TACT_COUNT_NEWTON,   TACT_COUNT_TAKEN_BACK, TACT_COUNT_INTERIOR,
        TACT_COUNT_PROXIMAL, TACT_COUNT_ANDERSON,   TACT_COUNT_TERM_LIMITED};
    struct tact_session_report r;
    run_gallery_scene_for_counts("card_house.yaml", 0.3, &r);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!r.counts[methods[i]]) {
            fail_msg("%s is not counted", tact_solve_count_name(methods[i]));
        }
    }
    assert_int_equal(r.counts[TACT_COUNT_UNSOLVED], 0);
}

/* A tool that its device moves into a corner: what would push it out of one wall presses it into
 * another one. */
static void opposed_bias_velocities_are_counted(void **unused)
{
    (void)unused;
    struct tact_session_report r;
    SKIP_IN_QUICK_SANITIZER_RUN();
    run_gallery_scene_for_counts("tool_puck.yaml", 6.5, &r);
    assert_true(r.counts[TACT_COUNT_SLOWED] > 0);
}

static void every_solver_count_has_its_own_name(void **unused)
{
    (void)unused;
    for (int i = 0; i < TACT_SOLVE_COUNTS; i++) {
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(tact_solve_count_name(i), tact_solve_count_name(k));
        }
    }
    for (int i = 0; i < TACT_MOMENTS_COUNTS; i++) {
        assert_non_null(tact_moments_count_name(i));
    }
    assert_null(tact_solve_count_name(TACT_SOLVE_COUNTS));
    assert_null(tact_solve_count_name(-1));
    assert_null(tact_moments_count_name(TACT_MOMENTS_COUNTS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resting_ball_is_counted_as_sticking),
        cmocka_unit_test(active_set_solves_of_a_sliding_box_are_counted),
        cmocka_unit_test(limited_second_order_terms_are_counted),
        cmocka_unit_test(newton_solves_of_a_thrown_stack_are_counted),
        cmocka_unit_test(tick_stopped_after_one_sweep_is_counted_as_unsolved),
        cmocka_unit_test(impulses_restored_or_scaled_in_unsolved_islands_are_counted),
        cmocka_unit_test(omitted_second_order_terms_are_counted),
        cmocka_unit_test(solver_methods_of_a_card_house_are_counted),
        cmocka_unit_test(opposed_bias_velocities_are_counted),
        cmocka_unit_test(every_solver_count_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
