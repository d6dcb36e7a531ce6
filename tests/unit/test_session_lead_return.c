/*
 * A device that leads a base is taken away and returns while the tool presses, without a jump of
 * force or torque: clutch, change of scale, unplugging, a silent device, a deadman, a loop that was
 * stopped.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/vec.h"
#include "rt/session/replay.h"
#include "support/campaign.h"
#include "support/led_tool.h"

static const double rotational_stiffness =
    1.0; /* turning stiffness of the tool's coupling [N m/rad] */

enum event { BY_CLUTCH, BY_FINE, BY_UNPLUG, BY_SILENCE, BY_DEADMAN, BY_STOP, EVENTS };

enum { CYCLE = 1000, BEGINS = 300, ENDS = 650, LEAVES = 850, ROUNDS = 3 }; /* [ticks] */

/* Position of the device along x [m], and its rotation about x, y and z, by the same angle each
 * [rad]. */
struct device_pose {
    double x, turn;
};

/* Pose and buttons of the device in a tick of a cycle: it presses by 6 mm, moves by 30 mm and turns
 * by `turn` while the event lasts, and goes back; during a change of scale, which leaves it in the
 * lead, by 10 mm and a tenth of the turn to and fro. */
static struct device_pose move_tool_through_event(enum event event, int k, struct device_pose from,
                                                  double turn)
{
    const int is_event_active = k >= BEGINS && k < ENDS;
    const double pressing_fraction = fmin(1.0, (double)k / BEGINS);
    const double along = fmin(1.0, fmax(0.0, (double)(k - BEGINS) / (ENDS - BEGINS)));
    const double fraction = fmin(1.0, fmax(0.0, (double)(k - LEAVES) / (CYCLE - 1 - LEAVES)));
    const double excursion_fraction = sin(3.14159265358979323846 * along);
    const double excursion_distance = event == BY_FINE ? 0.01 * excursion_fraction : 0.03 * along;
    probe.in[CLUTCH] = is_event_active && event == BY_CLUTCH;
    probe.in[FINE] = is_event_active && event == BY_FINE;
    probe.deadman = !(is_event_active && event == BY_DEADMAN);
    probe.state = is_event_active && event == BY_UNPLUG    ? TACT_DEVICE_LOST
                  : is_event_active && event == BY_SILENCE ? TACT_DEVICE_STALE
                                                           : TACT_DEVICE_OK;
    const struct device_pose at = {
        .x = from.x + 0.006 * pressing_fraction + excursion_distance -
             (event == BY_FINE ? 0.006 : 0.003) * fraction,
        .turn = from.turn + turn * (event == BY_FINE ? 0.1 * excursion_fraction : along)};
    if (probe.state != TACT_DEVICE_STALE) {
        probe.in[X] = at.x;
        probe.in[RX] = probe.in[RY] = probe.in[RZ] = at.turn;
    }
    return at;
}

/* Changes of a force, or of a torque, by its length in successive ticks [N, N m]. */
struct largest_wrench_changes_in_a_tick {
    double last[3], rise, change, least_press;
    int ticks_with_forbidden_force; /* number of ticks with a force where there must be none */
};

/* Records the change of the force in a tick, as the person feels it, and whether the force is zero
 * in time. A force whose device is lost, or whose deadman is released, must be zero at once. */
static void record_force_or_torque_change(struct largest_wrench_changes_in_a_tick *r,
                                          const double *force, enum event event, int k)
{
    double step[3];
    tact_v3_sub(step, force, r->last);
    const double length = tact_v3_norm(force);
    const int is_during_event = k >= BEGINS && k < ENDS;
    const int cut = (event == BY_UNPLUG || event == BY_DEADMAN) && k == BEGINS;
    const int stopped = event == BY_STOP && k == ENDS;
    r->rise = fmax(r->rise, length - tact_v3_norm(r->last));
    r->change = fmax(r->change, cut || stopped ? 0.0 : tact_v3_norm(step));
    r->ticks_with_forbidden_force +=
        ((cut || stopped || (is_during_event && (event == BY_UNPLUG || event == BY_DEADMAN))) ||
         (is_during_event && (event == BY_CLUTCH || event == BY_SILENCE) && k > BEGINS + 210)) &&
        length > 0.0;
    r->least_press = k == BEGINS - 1 ? fmin(r->least_press, length) : r->least_press;
    tact_v3_copy(r->last, force);
}

/* Runs each event ROUNDS times with a tool that has its tip at that place, and adds to r: force and
 * torque. */
static void press_tool_through_events(const char *tip, const char *keys, const char *log,
                                      struct largest_wrench_changes_in_a_tick r[2])
{
    struct tact_scene *scene;
    struct tact_session *session = begin_led_tool_session_with_tip(tip, keys, log, &scene);
    struct device_pose from = {0.0, 0.0};
    for (int i = 0; i < 3; i++) {
        r[0].last[i] = r[1].last[i] = 0.0;
    }
    for (int i = 0; i < ROUNDS * EVENTS; i++) {
        const enum event event = (enum event)(i % EVENTS);
        struct device_pose at = from;
        for (int k = 0; k < CYCLE; k++) {
            at = move_tool_through_event(event, k, from, i / EVENTS % 2 ? -0.2 : 0.2);
            if (event != BY_STOP || k < BEGINS || k >= ENDS) {
                tact_recorder_wait_room(session->recorder);
                tact_session_tick(session, (uint64_t)(i * CYCLE + k), 0, 0);
                record_force_or_torque_change(&r[0], probe.out, event, k);
                record_force_or_torque_change(&r[1], probe.out + 3, event, k);
            }
        }
        from = at;
    }
    end_led_tool_session(session, scene);
}

static void print_largest_wrench_changes(const struct largest_wrench_changes_in_a_tick r[2],
                                         int event_count)
{
    for (int i = 0; i < 2; i++) {
        print_message("%d times each: pressed with %.3f %s or more; it rises by %.4f in a tick, "
                      "changes by %.4f; late %d\n",
                      event_count, r[i].least_press, i ? "N m" : "N", r[i].rise, r[i].change,
                      r[i].ticks_with_forbidden_force);
    }
}

static void check_session_replay(const char *path)
{
    struct tact_replay_options how = tact_replay_options_default();
    struct tact_replay_report replay_report;
    struct tact_error err = {.line = 0};
    how.from = 2000;
    assert_int_equal(tact_replay_run_with(path, &how, &replay_report, &err), 0);
    assert_true(replay_report.differing == 0 && replay_report.resyncs == 0);
}

/* 3 times each event, 51 in .ci/long, while the tool presses with 3 N or more: between two ticks
 * the force changes by what the motion of the device makes of it, never by K times 1 mm. With
 * attitude and torque the tip is 30 mm beside the middle of the tool, which presses with 1.7 N and
 * 0.04 N m: that never changes by the turning stiffness times 1 mm at the 60 mm of a hand. */
static void force_and_torque_return_without_a_jump_after_each_event(void **state)
{
    (void)state;
    static const char keys[] =
        "position: [x, y, z], %sforce: [fx, fy, fz], limit: 50, rate: 1e6, clutch: "
        "probe.clutch, fine: probe.fine, fine_scale: 0.25";
    static const char *const tips[] = {"0, 0, 0", "0.0288, 0.0084, 0"};
    static const char *const attitude_keys[] = {
        "", "attitude: [rx, ry, rz], torque: [tx, ty, tz], turn_limit: 5, turn_rate: 1e5, "};
    char folder[] = "/tmp/tact_lead_XXXXXX", path[64], text[512];
    const int sessions = campaign_trial_count(1, 17);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/lead.mcap", folder);
    for (int i = 0; i < 2; i++) {
        struct largest_wrench_changes_in_a_tick r[2] = {{.least_press = INFINITY},
                                                        {.least_press = INFINITY}};
        snprintf(text, sizeof text, keys, attitude_keys[i]);
        for (int k = 0; k < sessions; k++) {
            press_tool_through_events(tips[i], text, path, r);
        }
        print_largest_wrench_changes(r, sessions * ROUNDS);
        assert_true(r[0].least_press > (i ? 1.5 : 2.5) && r[1].least_press >= (i ? 0.04 : 0.0));
        assert_true(r[0].change < stiffness * 1e-3);
        assert_true(r[1].change < rotational_stiffness * 1e-3 / 0.06);
        assert_int_equal(r[0].ticks_with_forbidden_force + r[1].ticks_with_forbidden_force, 0);
        check_session_replay(path);
    }
    assert_true(remove(path) == 0 && rmdir(folder) == 0);
}

/* A force whose device is lost is 0 in that tick, which is no trip of its rate limit. */
static void force_lost_with_its_device_is_no_trip(void **state)
{
    (void)state;
    struct tact_scene *scene;
    struct tact_session *session = begin_led_tool_session(
        "position: [x, y, z], force: [fx, fy, fz], limit: 50, rate: 500", NULL, &scene);
    step_led_tool_session(session, 210);
    for (int k = 0; k < 120;
         k++) { /* the force rises by 0.1 N a tick, 0.2 of what the output's rate allows */
        probe.in[X] = 1e-4 * k;
        step_led_tool_session(session, 1);
    }
    const uint64_t slowed = session->safety.trips[TACT_TRIP_RATE];
    assert_true(tact_v3_norm(probe.out) > 5.0);
    probe.state = TACT_DEVICE_LOST;
    step_led_tool_session(session, 1);
    assert_true(tact_v3_norm(probe.out) == 0.0);
    probe.state = TACT_DEVICE_OK;
    step_led_tool_session(session, 300);
    assert_int_equal(session->safety.trips[TACT_TRIP_RATE], slowed);
    end_led_tool_session(session, scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_and_torque_return_without_a_jump_after_each_event),
        cmocka_unit_test(force_lost_with_its_device_is_no_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
