/*
 * The peg of examples/scenes/teleop_peg_*.yaml: position and attitude of a base tied to those of a
 * handle at another site, over a link of 50 ms. Both sessions are stepped in turn, in virtual time.
 * What the person feels on the floor, and where the peg is turned in its hole, is that of springs
 * in series; both logs replay bit for bit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/session/remote_internal.h"
#include "support/campaign.h"
#include "support/free_port.h"
#include "support/network_sites.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/run_scene.h"

enum { AXES = 6, TOUCHES = 4490, PRESSED = 19900, TURNED = 30900 }; /* ticks */
/* Number of ticks of the run; under a sanitizer it ends as the peg touches. */
enum { END = IS_SANITIZER_BUILD ? 7000 : 31000 };

static char folder[] = "/tmp/tact_peg_XXXXXX";

static void log_path(int site, char path[64])
{
    snprintf(path, 64, "%s/%d.mcap", folder, site);
}

/* Keys of the ties of both ends, of a position and of an attitude. */
struct tie_keys_of_ends {
    const char *along[SITES], *about[SITES];
};

static const struct tie_keys_of_ends keys_of_wave_ties = {
    .along = {"impedance: 10}", "impedance: 10, stiffness: 1000, damping: 20}"},
    .about = {"impedance: 0.03}", "impedance: 0.03, stiffness: 3, damping: 0.03}"}};

/* Opens both ends; link: settings in place of those of the simulated link, or NULL. */
static void open_sessions_of_ends(const struct tie_keys_of_ends *tie_keys_of_ends, const char *link)
{
    static const char *const names[] = {"teleop_peg_local.yaml", "teleop_peg_remote.yaml"};
    char address[64];
    snprintf(address, sizeof address, "\"127.0.0.1:%d\"", find_free_udp_port());
    for (int i = 0; i < SITES; i++) {
        struct tact_error err = {.line = 0};
        char path[64], file[512];
        struct edit edits[9] = {{"\"127.0.0.1:4710\"", address},
                                {"link: {delay: 0.05}", link ? link : "link: {delay: 0.05}"}};
        for (int k = 0; k < AXES; k++) {
            edits[2 + k] =
                k < 3 ? (struct edit){keys_of_wave_ties.along[i], tie_keys_of_ends->along[i]}
                      : (struct edit){keys_of_wave_ties.about[i], tie_keys_of_ends->about[i]};
        }
        char *text = load_scene_text_with_edits(names[i], edits);
        snprintf(file, sizeof file, TACT_SOURCE_DIR "/examples/scenes/%s", names[i]);
        if (tact_scene_parse(text, strlen(text), file, NULL, &scenes[i], &err)) {
            fail_msg("%d: %s: %s", err.line, err.key, err.text);
        }
        free(text);
        log_path(i, path);
        open_session_of_site(i, path);
    }
}

/* Forces of the ties of a site [N, N m]. */
static void find_tie_forces(int site, double out[AXES])
{
    for (int i = 0; i < AXES; i++) {
        out[i] = sessions[site]->remotes[i].state.force;
    }
}

/* What the person's device is sent [N, N m]: force, torque. */
static double wrench_sent_to_person(int channel)
{
    return sessions[PERSON]->devices[1].output[channel];
}

static void remote_peg_seats_and_is_felt_along_all_axes(void **state)
{
    (void)state;
    /* The hand, its coupling and the tie of the peg: 300, 1000 and 1000 N/m, 1, 3 and 3 N m/rad. */
    const double along = 1.0 / (1.0 / 300.0 + 2.0 / 1000.0), about = 1.0 / (1.0 + 2.0 / 3.0);
    /* A square of 20 mm turns in one of 20.5 mm until cos a + sin a = 20.5 / 20. */
    const double play = asin(1.025 / sqrt(2.0)) - atan(1.0),
                 exact[] = {0.01 * along, (0.2 - play) * about};
    double ends[2][AXES], pressed = 0.0, turned = 0.0, most = 0.0, slip = 0.0;
    open_sessions_of_ends(&keys_of_wave_ties, NULL);
    for (int k = wait_for_both_links(); k < END; k++) {
        step_both_sessions();
        const struct tact_hand_state peg =
            tact_hand_state(tact_world_hand(sessions[ROBOT]->world, 0));
        find_tie_forces(ROBOT, ends[ROBOT]);
        most = fmax(most, tact_v3_norm(ends[ROBOT]));
        if (k == PRESSED) {
            pressed = wrench_sent_to_person(2);
            find_tie_forces(PERSON, ends[PERSON]);
            print_message(
                "seated at %.4f mm, %.2e rad; felt %.5f N, exact %.5f; at the ends %.5f, %.5f N\n",
                1e3 * peg.q[2], tact_v3_norm(peg.q + 3), pressed, exact[0], ends[PERSON][2],
                ends[ROBOT][2]);
            assert_true(fabs(peg.q[2] + 0.0525) < 5e-5 && tact_v3_norm(peg.q + 3) < 5e-3);
            assert_true(fabs(ends[PERSON][2] + ends[ROBOT][2]) < 0.005 * exact[0]);
        } else if (k == TURNED) {
            turned = -wrench_sent_to_person(5);
            find_tie_forces(PERSON, ends[PERSON]);
            slip = peg.q[5];
            print_message("turned by %.5f rad, room for %.5f; felt %.5f N m, exact %.5f; at the "
                          "ends %.5f, %.5f N m\n",
                          slip, play, turned, exact[1], ends[PERSON][5], ends[ROBOT][5]);
        }
    }
    print_message("at most %.2f N on the peg\n", most);
    /* the force is not compared under a sanitizer, where the run ends before the press */
    assert_true(IS_SANITIZER_BUILD || fabs(pressed - exact[0]) < 0.005 * exact[0]);
    assert_true(IS_SANITIZER_BUILD ||
                (fabs(slip - play) < 1e-3 && fabs(turned - exact[1]) < 0.01 * exact[1]));
    assert_true(most < 1.5 * exact[0]);
    close_sessions_of_sites();
}

/* out = exp(a) exp(b) [rad]. */
static void compose_rotations(double out[3], const double a[3], const double b[3])
{
    double first[4], second[4], product_quat[4];
    tact_quat_from_rotvec(first, a);
    tact_quat_from_rotvec(second, b);
    tact_quat_mul(product_quat, first, second);
    tact_quat_to_rotvec(out, product_quat);
}

static double distance_of_vectors(const double a[3], const double b[3])
{
    double apart[3];
    tact_v3_sub(apart, a, b);
    return tact_v3_norm(apart);
}

/* However the two ends stand as they engage, a turn of the other site is the same turn of this one,
 * along the world's axes; and the rate of a rotation vector is that of its turn. */
static void rotation_since_engagement_is_the_same_at_both_ends(void **state)
{
    (void)state;
    double worst = 0.0, worst_rate = 0.0;
    open_sessions_of_ends(&keys_of_wave_ties, NULL);
    struct tact_session *s = sessions[ROBOT];
    struct session_remote *const r = s->remotes + 3;
    double *target = tact_hand_state(tact_world_hand(s->world, 0)).target + 3;
    for (int i = 0; i < 1000; i++) {
        const double h = 1e-6;
        double own[3], other[3], turn[3], now[3], error[3], rate[3], step[3], moved[3], exact[3];
        for (int k = 0; k < 3; k++) {
            own[k] = uniform(-1.7, 1.7);
            other[k] = uniform(-1.7, 1.7);
            turn[k] = uniform(-1.0, 1.0);
        }
        compose_rotations(now, turn, other);
        for (int k = 0; k < 3; k++) {
            r[k].state.target = target[k] = own[k];
            r[k].state.rate = turn[k];
            s->devices[0].input.channel[r[k].in.position] = other[k];
        }
        for (int k = 0; k < 3; k++) {
            r[k].state.offset = tact_session_offset_to_keep_line_end(s, &r[k]);
        }
        for (int k = 0; k < 3; k++) {
            s->devices[0].input.channel[r[k].in.position] = now[k];
        }
        for (int k = 0; k < 3; k++) {
            error[k] = tact_session_line_end_position_error(s, &r[k]);
            rate[k] = tact_session_tie_target_rate(s, &r[k]);
            moved[k] = own[k] + h * rate[k];
        }
        tact_v3_scale(step, turn, h);
        compose_rotations(exact, step, own);
        worst = fmax(worst, distance_of_vectors(error, turn));
        worst_rate = fmax(worst_rate, distance_of_vectors(moved, exact) / h);
    }
    print_message("turns differ by at most %.1e rad, rates by %.1e\n", worst, worst_rate);
    assert_true(worst < 1e-12 && worst_rate < 1e-5);
    close_sessions_of_sites();
}

/* An end of the robot's line that is far from the other position goes there with 0.05 m/s, and
 * turns there with 0.05 rad/s, by the shortest way; near it with a gain of 0.5 / round trip. */
static void tie_correction_is_limited_by_its_magnitude(void **state)
{
    (void)state;
    const double round_trip = 0.4, limit = 0.05, gain = 0.5 / round_trip;
    double worst = 0.0;
    open_sessions_of_ends(&keys_of_wave_ties, NULL);
    wait_for_both_links();
    struct tact_session *s = sessions[ROBOT];
    struct tact_device_input *in = &s->devices[0].input;
    struct session_remote *const remote_ties = s->remotes;
    in->state = TACT_DEVICE_OK;
    in->channel[remote_ties->in.held] = 1.0;
    in->channel[remote_ties->in.round_trip] = round_trip;
    for (int i = 0; i < 1000; i++) {
        double error[AXES];
        const double scale = i % 2 ? 1.5 : 0.04 / sqrt(3.0) / gain;
        for (int k = 0; k < AXES; k++) {
            error[k] = uniform(-scale, scale);
            remote_ties[k].state.ticks = remote_ties[k].state.force_fraction = 1.0;
            remote_ties[k].state.target = remote_ties[k].state.offset = remote_ties[k].state.force =
                0.0;
            in->channel[remote_ties[k].in.position] = error[k];
            in->channel[remote_ties[k].in.wave] = TACT_WAVE_AT_REST;
        }
        tact_session_set_tie_targets(s, 1000);
        for (int first_axis_of_vector = 0; first_axis_of_vector < AXES; first_axis_of_vector += 3) {
            const double length = tact_v3_norm(error + first_axis_of_vector),
                         rate = fmin(limit, gain * length) / length;
            for (int k = first_axis_of_vector; k < first_axis_of_vector + 3; k++) {
                worst = fmax(worst,
                             fabs(remote_ties[k].state.line_end_correction_rate - rate * error[k]));
            }
        }
    }
    print_message("corrections differ by at most %.1e\n", worst);
    assert_true(worst < 1e-14);
    close_sessions_of_sites();
}

/* The other end turns through two whole turns, as rotation vectors of at most half a turn, and the
 * end of the line follows: its error and its rate have no step at half a turn. Where the ends are
 * half a turn apart, either way is as short, and the correction keeps its sense. */
static void tied_rotations_pass_half_a_turn_without_a_step(void **state)
{
    (void)state;
    const double step = 1e-3, pi = acos(-1.0);
    double most = 0.0, most_rate = 0.0;
    int correction_reversal_count = 0;
    open_sessions_of_ends(&keys_of_wave_ties, NULL);
    wait_for_both_links();
    struct tact_session *s = sessions[ROBOT];
    struct tact_device_input *in = &s->devices[0].input;
    struct session_remote *const remote_ties = s->remotes, *const turning = remote_ties + 3;
    in->state = TACT_DEVICE_OK;
    in->channel[remote_ties->in.held] = 1.0;
    in->channel[remote_ties->in.round_trip] = 0.1;
    for (int i = 0; i < 40; i++) {
        double axis[3], rotation_vector[3], last[3] = {0.0}, line_end_correction_of_axes[3];
        for (int k = 0; k < 3; k++) {
            axis[k] = uniform(-1.0, 1.0);
        }
        tact_v3_scale(axis, axis, 1.0 / tact_v3_norm(axis));
        for (int k = 0; k < AXES; k++) {
            remote_ties[k].state =
                (struct session_remote_state){.ticks = 1.0, .force_fraction = 1.0};
            in->channel[remote_ties[k].in.wave] = TACT_WAVE_AT_REST;
        }
        for (int n = 0; n < 12600; n++) { /* along, 1 mrad behind */
            const double angle = step * n;
            tact_v3_scale(rotation_vector, axis, remainder(angle, 2.0 * pi));
            for (int k = 0; k < 3; k++) {
                in->channel[turning[k].in.position] = rotation_vector[k];
                turning[k].state.rate = axis[k];
                turning[k].line_end_rotation = n ? step * axis[k] : -step * axis[k];
            }
            tact_session_rotate_line_ends(s);
            for (int k = 0; k < 3; k++) {
                tact_hand_state(tact_world_hand(s->world, 0)).target[3 + k] =
                    turning[k].state.target;
            }
            double tie_target_rotation_vector[3], moved[3], rate[3], ahead[3];
            for (int k = 0; k < 3; k++) {
                most = fmax(most, fabs(tact_session_line_end_position_error(s, &turning[k]) -
                                       step * axis[k]));
                rate[k] = tact_session_tie_target_rate(s, &turning[k]);
                moved[k] = turning[k].state.target + 1e-6 * rate[k];
                ahead[k] = 1e-6 * axis[k];
                tie_target_rotation_vector[k] = turning[k].state.target;
            }
            compose_rotations(rotation_vector, ahead, tie_target_rotation_vector);
            for (int k = 0; k < 3; k++) {
                ahead[k] = -moved[k];
            }
            compose_rotations(tie_target_rotation_vector, rotation_vector, ahead);
            most_rate = fmax(most_rate, tact_v3_norm(tie_target_rotation_vector) / 1e-6);
        }
        for (int n = -200; n < 200; n++) { /* to and fro about half a turn */
            tact_v3_scale(rotation_vector, axis, pi + 0.02 * sin(0.3 * n));
            for (int k = 0; k < 3; k++) {
                turning[k].state.target = turning[k].state.force = 0.0;
                in->channel[turning[k].in.position] = rotation_vector[k];
            }
            tact_session_set_tie_targets(s, 1000);
            for (int k = 0; k < 3; k++) {
                line_end_correction_of_axes[k] = turning[k].state.line_end_correction_rate;
            }
            correction_reversal_count += tact_v3_dot(line_end_correction_of_axes, last) < 0.0;
            tact_v3_copy(last, line_end_correction_of_axes);
        }
    }
    print_message("errors differ by at most %.1e rad, rates by %.1e; %d reversals\n", most,
                  most_rate, correction_reversal_count);
    assert_true(most < 1e-11 && most_rate < 1e-4);
    assert_int_equal(correction_reversal_count, 0);
    close_sessions_of_sites();
}

/* In the other modes, without delay, the peg goes where the handle goes, in free air. */
static void remote_peg_follows_along_all_axes_in_other_modes(void **state)
{
    (void)state;
    static const struct tie_keys_of_ends tie_keys_of_ends[] = {
        {.along = {"mode: position_force, damping: 1}",
                   "mode: position_force, stiffness: 1000, damping: 20}"},
         .about = {"mode: position_force, damping: 0.01}",
                   "mode: position_force, stiffness: 3, damping: 0.03}"}},
        {.along = {"mode: position_position, stiffness: 1000, damping: 10}",
                   "mode: position_position, stiffness: 1000, damping: 10}"},
         .about = {"mode: position_force, damping: 0.01}",
                   "mode: position_force, stiffness: 3, damping: 0.03}"}}};
    for (size_t i = 0; i < sizeof tie_keys_of_ends / sizeof *tie_keys_of_ends; i++) {
        open_sessions_of_ends(&tie_keys_of_ends[i], "jitter: 0, repeats: 0");
        for (int k = wait_for_both_links(); k < TOUCHES; k++) {
            step_both_sessions();
        }
        const double *person_pose = tact_hand_state(tact_world_hand(sessions[PERSON]->world, 0)).q;
        const double *robot_pose = tact_hand_state(tact_world_hand(sessions[ROBOT]->world, 0)).q;
        print_message("%s %.4f mm, %.5f rad of %.4f mm, %.5f rad\n",
                      tie_keys_of_ends[i].along[ROBOT],
                      1e3 * distance_of_vectors(person_pose, robot_pose),
                      distance_of_vectors(person_pose + 3, robot_pose + 3),
                      1e3 * tact_v3_norm(person_pose), tact_v3_norm(person_pose + 3));
        assert_true(tact_v3_norm(person_pose) > 0.008 && tact_v3_norm(person_pose + 3) > 0.05);
        assert_true(distance_of_vectors(person_pose, robot_pose) < 1e-5 &&
                    distance_of_vectors(person_pose + 3, robot_pose + 3) < 1e-4);
        close_sessions_of_sites();
        for (int site = 0; site < SITES; site++) {
            char path[64];
            log_path(site, path);
            check_replays_of_log(path, TOUCHES, 2001, 1);
        }
    }
}

static void logs_of_both_peg_sites_replay(void **state)
{
    (void)state;
    for (int i = 0; i < SITES; i++) {
        char path[64];
        log_path(i, path);
        check_replays_of_log(path, END, IS_SANITIZER_BUILD ? END : campaign_trial_count(END, 3001),
                             1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remote_peg_seats_and_is_felt_along_all_axes),
        cmocka_unit_test(logs_of_both_peg_sites_replay),
        cmocka_unit_test(remote_peg_follows_along_all_axes_in_other_modes),
        cmocka_unit_test(rotation_since_engagement_is_the_same_at_both_ends),
        cmocka_unit_test(tie_correction_is_limited_by_its_magnitude),
        cmocka_unit_test(tied_rotations_pass_half_a_turn_without_a_step),
    };
    if (!mkdtemp(folder)) {
        return 1;
    }
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < SITES; i++) {
        char path[64];
        log_path(i, path);
        remove(path);
    }
    rmdir(folder);
    return rc;
}
