/*
 * A joint of one session that feels what the joint of another meets, by a model (mode: model), over
 * a line in this process: force of the press against springs in series, no drag in free air, the
 * robot's peak at the first and the second touch.
 */
#include "support/remote_sites.h"

/* The person meets the wall that the robot has found: no drag in free air and the press of springs
 * in series at every delay. Before it is known the robot is pushed as far as the hand goes: the
 * peaks of the literature page, by the delay. */
static void modelled_wall_is_felt_without_link_delay(void **state)
{
    static const uint64_t link_delays_ms[] = {0, 5, 20, 50, 100, 200}; /* [ms] */
    static const double expected_peak_forces[] = {5.9,  6.2,  6.5,
                                                  12.0, 17.0, 19.0}; /* average hand [N] */
    (void)state;
    button = (struct button){0.3, 100.0, 100.0, 100.0};
    for (size_t i = 0; i < sizeof link_delays_ms / sizeof *link_delays_ms; i++) {
        for (size_t h = i % 2 ? 0 : 1; h < (i % 2 ? 3 : 2); h++) {
            struct run run = {.line = {.delay = link_delays_ms[i]},
                              .hand = hands[h],
                              .person_tie_keys = "mode: model, damping: 2",
                              .robot_tie_keys = "mode: model, stiffness: 1000, damping: 30",
                              .seconds = 5.0,
                              .back = 4.5};
            struct remote_log t = run_both_sites(&run);
            const double felt_force = -mean_of_log_column(&t, PERSON_FORCE, 4.0, 4.5);
            const double ideal_force = force_of_springs_in_series(&hands[h]);
            const double free_air_drag = peak_of_log_column(&t, PERSON_FORCE, 0.5, 1.0);
            const double peak = peak_of_log_column(&t, ROBOT_FORCE, 0.5, 4.5);
            const double rest = rms_speed_of_log_column(&t, PERSON_Q, 4.0, 4.5);
            print_message("%3d ms %s: press %.3f N, ideal %.3f; robot %.3f N; drag %.3f N; robot's "
                          "peak %.2f N; rest %.2g mm/s\n",
                          (int)link_delays_ms[i], hands[h].name, felt_force, ideal_force,
                          mean_of_log_column(&t, ROBOT_FORCE, 4.0, 4.5), free_air_drag, peak,
                          1e3 * rest);
            assert_true(fabs(felt_force - ideal_force) < 1e-3 * ideal_force);
            assert_true(free_air_drag < 0.01 && rest < 2e-3);
            assert_true(h != 1 || peak < 1.1 * expected_peak_forces[i]);
            free(t.at);
        }
    }
}

/* A wall that is known is felt where it is: the second press, 100 ms away, has no more force on it
 * than the hand exerts here, and is felt from where the wall begins. */
static void wall_known_from_the_other_site_is_felt_at_once(void **state)
{
    (void)state;
    button = (struct button){0.3, 100.0, 100.0, 100.0};
    struct run run = {.line = {.delay = 100},
                      .hand = hands[1],
                      .person_tie_keys = "mode: model, damping: 2",
                      .robot_tie_keys = "mode: model, stiffness: 1000, damping: 30",
                      .seconds = 7.0,
                      .back = 3.0,
                      .again = ", [5, 0, 0, 0], [6, 1, 0, 0]"};
    struct remote_log t = run_both_sites(&run);
    double was_force_missing = 0.0;
    for (uint64_t k = 5000; k < 7000; k++) {
        was_force_missing =
            fmax(was_force_missing,
                 t.at[k][PERSON_Q] > wall + 1e-3 ? -t.at[k][PERSON_FORCE] < 0.5 : 0.0);
    }
    print_message("first peak %.2f N, second %.2f N\n",
                  peak_of_log_column(&t, ROBOT_FORCE, 0.5, 3.0),
                  peak_of_log_column(&t, ROBOT_FORCE, 5.0, 7.0));
    assert_true(peak_of_log_column(&t, PERSON_FORCE, 4.2, 5.0) < 0.01 && was_force_missing == 0.0);
    assert_true(peak_of_log_column(&t, ROBOT_FORCE, 5.0, 7.0) <
                1.1 * force_of_springs_in_series(&hands[1]));
    free(t.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modelled_wall_is_felt_without_link_delay),
        cmocka_unit_test(wall_known_from_the_other_site_is_felt_at_once),
    };
    if (!mkdtemp(folder)) {
        return 1;
    }
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    remove_site_logs();
    return rc;
}
