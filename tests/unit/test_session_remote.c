/*
 * A joint of one session tied to a joint of another, over a line in this process with a constant
 * delay, missing waves and blackouts: force of the press against springs in series, drag in free
 * air, stability with a weak, an average and a strong hand, no jump when the other site returns,
 * who may engage, energy, replays of both logs, and channels that are refused.
 */
#include <errno.h>
#include "support/remote_sites.h"
#include "support/replays.h"

/* Drag [N] and press of the average hand [N] of the table in the literature page of waves with
 * position, by the delay [ms]; its press has no tank. */
static const struct {
    uint64_t delay;
    double free_air_drag, press_force;
} table[] = {{0, 0.40, 4.41},  {5, 0.44, 4.41},   {20, 0.55, 4.41},
             {50, 0.74, 4.41}, {100, 1.02, 4.41}, {200, 1.15, 4.09}};

static void remote_press_is_that_of_springs_in_series(void **state)
{
    (void)state;
    button = (struct button){0.3, 100.0, 100.0, 100.0};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (size_t h = 0; h < sizeof hands / sizeof *hands; h++) {
            struct run run = {.line = {.delay = table[i].delay},
                              .hand = hands[h],
                              .person_tie_keys = "impedance: 10",
                              .robot_tie_keys =
                                  "impedance: 10, stiffness: 1000, damping: 30, tank: 10",
                              .seconds = 9.0,
                              .back = 8.0};
            struct remote_log t = run_both_sites(&run);
            const double felt_force = -mean_of_log_column(&t, PERSON_FORCE, 7.0, 8.0);
            const double expected_press_force = force_of_springs_in_series(&hands[h]);
            const double free_air_drag = peak_of_log_column(&t, PERSON_FORCE, 0.5, 1.0);
            const double peak = peak_of_log_column(&t, ROBOT_FORCE, 0.5, 8.0);
            const double rest = rms_speed_of_log_column(&t, PERSON_Q, 7.5, 8.0);
            print_message("%3d ms %s: press %.3f N, ideal %.3f; drag %.2f N; robot's peak %.2f N; "
                          "rest %.2g mm/s\n",
                          (int)table[i].delay, hands[h].name, felt_force, expected_press_force,
                          free_air_drag, peak, 1e3 * rest);
            assert_true(rest < 2e-3);
            assert_true(peak <= 1.5 * expected_press_force);
            assert_true(fabs(felt_force - expected_press_force) <
                        (table[i].delay > 100 ? 0.25 : 0.1) * expected_press_force);
            if (h == 1) {
                assert_true(felt_force > 0.95 * table[i].press_force &&
                            felt_force < 1.01 * expected_press_force);
                assert_true(free_air_drag < 1.15 * table[i].free_air_drag);
            }
            assert_true(run.line.least >= -1e-12);
            free(t.at);
        }
    }
}

/* Nothing arrives for 0.3 s before the press, which is reached all the same; then also with 10 of
 * every 200 waves missing, each of which takes something of it. */
static void wave_line_with_missing_waves_stays_passive(void **state)
{
    (void)state;
    button = (struct button){0.3, 100.0, 100.0, 100.0};
    for (int h = 0; h < 4; h++) {
        struct run run = {.line = {.delay = 50,
                                   .gap = h % 2 ? 200 : 0,
                                   .gap_length = 10,
                                   .blackout_start_tick = 800,
                                   .blackout_end_tick = 1100},
                          .hand = hands[h / 2],
                          .seconds = 9.0,
                          .back = 8.0};
        struct remote_log t = run_both_sites(&run);
        const double felt_force = -mean_of_log_column(&t, PERSON_FORCE, 7.0, 8.0),
                     ideal_force = force_of_springs_in_series(&run.hand);
        print_message("%s, %d waves of 200 missing: press %.3f N, ideal %.3f; robot's peak %.2f N; "
                      "channel's energy at least %.2g J\n",
                      run.hand.name, h % 2 ? 10 : 0, felt_force, ideal_force,
                      peak_of_log_column(&t, ROBOT_FORCE, 0.5, 8.0), run.line.least);
        assert_true(run.line.least >= -1e-12);
        assert_true(h % 2 || fabs(felt_force - ideal_force) < 0.05 * ideal_force);
        assert_true(peak_of_log_column(&t, ROBOT_FORCE, 0.5, 8.0) <= 1.5 * ideal_force);
        assert_true(peak_of_log_column(&t, TANK, 0.5, 8.0) <= 1.0);
        free(t.at);
    }
}

/* Without a wave the end of the robot's line stays where it is: the robot's push lasts over a gap
 * of 90 ms, in which waves of zero would let it fall with a time constant of 10 ms, impedance /
 * stiffness. */
static void robot_force_lasts_over_a_gap_of_waves(void **state)
{
    (void)state;
    button = (struct button){0.3, 100.0, 100.0, 100.0};
    struct run run = {.line = {.delay = 20, .blackout_start_tick = 4000, .blackout_end_tick = 4090},
                      .hand = hands[1],
                      .seconds = 4.5,
                      .back = 4.4};
    struct remote_log t = run_both_sites(&run);
    const double before = mean_of_log_column(&t, ROBOT_FORCE, 3.9, 4.0);
    const double force_after_missing_waves = mean_of_log_column(&t, ROBOT_FORCE, 4.085, 4.09);
    print_message("pushes with %.3f N, after 90 ms without a wave %.3f N\n", before,
                  force_after_missing_waves);
    assert_true(before > 4.0 && fabs(force_after_missing_waves / before - 1.0) < 0.01);
    free(t.at);
}

/* 1 s of silence in the press: what the person feels fades within 0.1 s of waves and 0.2 s of the
 * tie, neither site engages until the deadman was released, and nothing jumps then. */
static void lost_site_engages_again_only_by_its_deadman(void **state)
{
    (void)state;
    button = (struct button){0.3, 100.0, 5.5, 6.0};
    struct run run = {.line = {.delay = 20, .blackout_start_tick = 3000, .blackout_end_tick = 4000},
                      .hand = hands[1],
                      .seconds = 11.0,
                      .back = 10.0};
    struct remote_log t = run_both_sites(&run);
    double force_jump = 0.0, robot_jump = 0.0;
    for (uint64_t i = 2900; i < 7000; i++) { /* from just before the silence, which begins at 3 s */
        force_jump = fmax(force_jump, fabs(t.at[i][PERSON_FORCE] - t.at[i - 1][PERSON_FORCE]));
        robot_jump = fmax(robot_jump, fabs(t.at[i][ROBOT_FORCE] - t.at[i - 1][ROBOT_FORCE]));
    }
    const double before = mean_of_log_column(&t, PERSON_FORCE, 2.8, 3.0),
                 force_after_silence = mean_of_log_column(&t, PERSON_FORCE, 9.0, 10.0);
    print_message("felt before %.2f N, in the silence %.3f N, after %.2f N, again %.2f N; largest "
                  "step of a tick %.3f N, of the robot %.3f N\n",
                  before, peak_of_log_column(&t, PERSON_FORCE, 3.9, 4.0),
                  peak_of_log_column(&t, PERSON_FORCE, 4.5, 5.5), force_after_silence, force_jump,
                  robot_jump);
    assert_true(fabs(force_after_silence / before - 1.0) < 0.05);
    assert_true(peak_of_log_column(&t, PERSON_FORCE, 3.9, 5.5) < 0.01);
    assert_true(peak_of_log_column(&t, PERSON_HELD, 4.1, 6.0) == 0.0);
    assert_true(peak_of_log_column(&t, ROBOT_HELD, 4.1, 6.0) == 0.0);
    assert_true(mean_of_log_column(&t, PERSON_HELD, 6.1, 10.0) == 1.0);
    assert_true(mean_of_log_column(&t, ROBOT_HELD, 6.1, 10.0) == 1.0);
    assert_true(force_jump < 0.05 && robot_jump < 0.2); /* of 4.4 N */
    free(t.at);
}

/* The deadman is released for a moment in the press, once it is felt again: nothing jumps. The
 * ramp of 4.4 N steps by 0.022 N in a tick. */
static void felt_force_fades_on_a_short_deadman_release(void **state)
{
    static const double deadman_release_durations[] = {0.01, 0.05, 0.15};
    (void)state;
    for (int i = 0; i < 6; i++) {
        button = (struct button){0.3, 100.0, 4.0, 4.0 + deadman_release_durations[i % 3]};
        struct run run = {.line = {.delay = i < 3 ? 20 : 0},
                          .hand = hands[1],
                          .person_tie_keys = i < 3 ? NULL : "mode: position_force, damping: 1",
                          .robot_tie_keys =
                              i < 3 ? NULL : "mode: position_force, stiffness: 1000, damping: 30",
                          .seconds = 6.0,
                          .back = 5.5};
        struct remote_log t = run_both_sites(&run);
        double force_jump = 0.0;
        for (uint64_t k = 3900; k < 5500; k++) {
            force_jump = fmax(force_jump, fabs(t.at[k][PERSON_FORCE] - t.at[k - 1][PERSON_FORCE]));
        }
        print_message("%g s off: felt before %.2f N, least %.2f N, again %.2f N; largest step of a "
                      "tick %.4f N\n",
                      deadman_release_durations[i % 3],
                      mean_of_log_column(&t, PERSON_FORCE, 3.8, 4.0),
                      mean_of_log_column(&t, PERSON_FORCE, 4.195, 4.2),
                      mean_of_log_column(&t, PERSON_FORCE, 5.3, 5.5), force_jump);
        assert_true(fabs(mean_of_log_column(&t, PERSON_FORCE, 4.195, 4.2)) < 0.3);
        assert_true(mean_of_log_column(&t, PERSON_HELD, 4.5, 5.5) == 1.0);
        assert_true(force_jump < 0.05);
        free(t.at);
    }
}

/* The hand is too fast at 0.5 s, and the fault is cleared with the deadman held until 3 s. */
static void cleared_remote_fault_needs_the_deadman(void **state)
{
    (void)state;
    button = (struct button){0.3, 100.0, 3.0, 3.2};
    struct run run = {.line = {.delay = 20},
                      .hand = hands[1],
                      .top = "max_speed: 0.05\n",
                      .seconds = 4.0,
                      .back = 3.9,
                      .fault_clear_time = 2.5};
    struct remote_log t = run_both_sites(&run);
    assert_true(mean_of_log_column(&t, PERSON_HELD, 0.4, 0.5) == 1.0);
    assert_true(peak_of_log_column(&t, PERSON_HELD, 2.0, 3.19) == 0.0);
    assert_true(peak_of_log_column(&t, ROBOT_HELD, 2.0, 3.19) == 0.0);
    assert_true(mean_of_log_column(&t, PERSON_HELD, 3.3, 3.8) == 1.0);
    free(t.at);
}

/* A peer that claims that its deadman is held moves nothing that this site has not armed. */
static void deadman_claimed_by_the_peer_arms_no_outputs(void **state)
{
    (void)state;
    button = (struct button){100.0, 100.0, 100.0, 100.0};
    struct run run = {.line = {.delay = 20, .claims_deadman_held = 1},
                      .hand = hands[1],
                      .seconds = 3.0,
                      .back = 2.5};
    struct remote_log t = run_both_sites(&run);
    assert_true(peak_of_log_column(&t, PERSON_HELD, 0.0, 3.0) == 0.0);
    assert_true(peak_of_log_column(&t, PERSON_FORCE, 0.0, 3.0) < 1e-9);
    /* the robot is engaged, but no target moves it */
    assert_true(peak_of_log_column(&t, ROBOT_Q, 0.0, 3.0) < 1e-9);
    free(t.at);
}

/* The other modes press as springs in series do without delay; at 50 ms one bounces. */
static void position_modes_need_a_link_without_delay(void **state)
{
    static const struct {
        const char *person_tie_keys, *robot_tie_keys;
        uint64_t delay;
    } tie_cases[] = {{"mode: position_force, damping: 1",
                      "mode: position_force, stiffness: 1000, damping: 30", 0},
                     {"mode: position_position, stiffness: 1000, damping: 10",
                      "mode: position_position, stiffness: 1000, damping: 10", 0},
                     {"mode: position_force, damping: 1",
                      "mode: position_force, stiffness: 1000, damping: 30", 20}};
    (void)state;
    button = (struct button){0.3, 100.0, 100.0, 100.0};
    for (size_t i = 0; i < sizeof tie_cases / sizeof *tie_cases; i++) {
        struct run run = {.line = {.delay = tie_cases[i].delay},
                          .hand = hands[1],
                          .person_tie_keys = tie_cases[i].person_tie_keys,
                          .robot_tie_keys = tie_cases[i].robot_tie_keys,
                          .seconds = 7.0,
                          .back = 6.0};
        struct remote_log t = run_both_sites(&run);
        const double felt_force = -mean_of_log_column(&t, PERSON_FORCE, 5.0, 6.0),
                     ideal_force = force_of_springs_in_series(&hands[1]);
        const double peak = peak_of_log_column(&t, ROBOT_FORCE, 0.5, 6.0);
        print_message("%s, %d ms: press %.3f N; robot's peak %.1f N\n",
                      tie_cases[i].person_tie_keys, (int)tie_cases[i].delay, felt_force, peak);
        assert_true(tie_cases[i].delay ? peak > 2.0 * ideal_force
                                       : fabs(felt_force - ideal_force) < 1e-3 * ideal_force);
        free(t.at);
    }
}

static void logs_of_both_sites_replay_bit_for_bit(void **state)
{
    (void)state;
    button = (struct button){0.3, 100.0, 2.5, 2.8};
    for (int i = 0; i < 4; i++) {
        struct run run = {.line = {.delay = 20,
                                   .gap = 200,
                                   .gap_length = 10,
                                   .blackout_start_tick = 1400,
                                   .blackout_end_tick = 2200},
                          .hand = hands[1],
                          .person_tie_keys = i < 2 ? NULL : "mode: model, damping: 2",
                          .robot_tie_keys =
                              i < 2 ? NULL : "mode: model, stiffness: 1000, damping: 30",
                          .seconds = 4.0,
                          .back = 3.5};
        if (i % 2 == 0) {
            struct remote_log t = run_both_sites(&run);
            free(t.at);
        }
        char path[64];
        snprintf(path, sizeof path, "%s/%d.mcap", folder, i % 2);
        check_replays_of_log(path, 4000, 1337, 1);
    }
}

/* Channels of another site that are invalid are refused once the devices are open. */
static void bad_remote_channels_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *key;
    } bad[] = {{"deadman: button.held", "deadman: site.held", "deadman"},
               {"deadman: button.held",
                "outputs: [{from: arm.tip, to: site.force_0, limit: 1, rate: 1}]", "outputs[0].to"},
               {"device: site, impedance", "device: site, axis: 1, impedance", "remotes[0].axis"},
               {"device: site, impedance", "device: button, impedance", "remotes[0].device"}};
    struct line line = {.delay = 1};
    char valid_scene_text[4096];
    (void)state;
    tact_number_print(valid_scene_text, sizeof valid_scene_text, person_scene_text, 0.4, 10.0,
                      300.0, 8.0, 9.0, "", "impedance: 10");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct end end = {&line, 0, 0};
        char text[8192];
        const char *at = strstr(valid_scene_text, bad[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - valid_scene_text), valid_scene_text,
                 bad[i].to, at + strlen(bad[i].from));
        struct tact_scene *scene = parse_remote_scene(text);
        struct tact_error err = {.line = 0};
        struct tact_session *session = NULL;
        assert_int_equal(create_session_of_link_end(scene, &end, NULL, &session, &err), -EINVAL);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_string_equal(err.key, bad[i].key);
        tact_scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remote_press_is_that_of_springs_in_series),
        cmocka_unit_test(wave_line_with_missing_waves_stays_passive),
        cmocka_unit_test(robot_force_lasts_over_a_gap_of_waves),
        cmocka_unit_test(lost_site_engages_again_only_by_its_deadman),
        cmocka_unit_test(felt_force_fades_on_a_short_deadman_release),
        cmocka_unit_test(cleared_remote_fault_needs_the_deadman),
        cmocka_unit_test(deadman_claimed_by_the_peer_arms_no_outputs),
        cmocka_unit_test(position_modes_need_a_link_without_delay),
        cmocka_unit_test(logs_of_both_sites_replay_bit_for_bit),
        cmocka_unit_test(bad_remote_channels_are_refused),
    };
    if (!mkdtemp(folder)) {
        return 1;
    }
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    remove_site_logs();
    return rc;
}
