/*
 * The ruler of examples/scenes/teleop_*.yaml, pinched, lifted and held for a minute (in the long
 * form), over a plain link and over poor ones: 20 ms of jitter, 5 % of packets lost in bursts of
 * 10 ms; and through silences of one and both directions. Both sessions are stepped in turn, in
 * virtual time. Nothing moves in the fingers.
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
#include "contact/number.h"
#include "support/campaign.h"
#include "support/free_port.h"
#include "support/network_sites.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/run_scene.h"

/* The person's script lasts on: the ruler is not put down, and the deadman is the operator's turn,
 * which is released from 12.5 to 13.1 s where asked. */
static void open_sessions_of_sites(const char *const settings[SITES], int releases_deadman,
                                   const char *const records[SITES])
{
    const int port = find_free_udp_port();
    char address[64];
    snprintf(address, sizeof address, "\"127.0.0.1:%d\"", port);
    const struct edit edits_of_person_scene[] = {
        {"\"127.0.0.1:4710\"", address},
        {"link: {delay: 0.05}", settings[PERSON]},
        {"operator.deadman", "operator.turn"},
        {"[3, 0, 0, 0]", "[2, 0, 0, 0]\n        - [2.1, 0, 1, 0]\n        - [3, 0, 1, 0]"},
        {"[4, 1, 0, 0]", "[4, 1, 1, 0]"},
        {"[7, 1, 0, 0]", "[7, 1, 1, 0]"},
        {"[8, 1, 0, 0.05]", releases_deadman ? "[8, 1, 1, 0.05]\n        - [12.4, 1, 1, 0.05]\n"
                                               "        - [12.5, 1, 0, 0.05]\n        - [13, 1, 0, "
                                               "0.05]\n        - [13.1, 1, 1, 0.05]"
                                             : "[8, 1, 1, 0.05]"},
        {"[18, 1, 0", "[9980, 1, 1"},
        {"[19, 1, 0", "[9981, 1, 1"},
        {"[20, 1, 0", "[9982, 1, 1"},
        {"[21, 0, 0", "[9983, 1, 1"},
        {NULL, NULL}};
    const struct edit edits_of_robot_scene[] = {
        edits_of_person_scene[0], {"link: {delay: 0.05}", settings[ROBOT]}, {NULL, NULL}};
    for (int i = 0; i < SITES; i++) {
        struct tact_error err = {.line = 0};
        const char *name = i ? "teleop_remote.yaml" : "teleop_local.yaml";
        char *text =
            load_scene_text_with_edits(name, i ? edits_of_robot_scene : edits_of_person_scene);
        if (tact_scene_parse(text, strlen(text), name, NULL, &scenes[i], &err)) {
            fail_msg("%d: %s: %s", err.line, err.key, err.text);
        }
        free(text);
        open_session_of_site(i, records ? records[i] : NULL);
    }
}

/* Position of the ruler's centre in the hand, between the fingers [m]. */
static void find_ruler_position(double place[3])
{
    struct tact_pose ruler;
    const struct tact_hand_state hand = tact_hand_state(tact_world_hand(sessions[ROBOT]->world, 0));
    tact_session_body_pose(sessions[ROBOT], tact_session_find_body(sessions[ROBOT], "ruler"),
                           &ruler);
    place[0] = ruler.position[0];
    place[1] = ruler.position[1] - 0.5 * (hand.q[1] - hand.q[2]);
    place[2] = ruler.position[2] - hand.q[0];
}

#define POOR_LINK_SETTINGS ", jitter: 0.02, loss: 0.05, burst: 0.01, seed: 5}"
#define POOR_LINK(delay) "jitter: 0.02, repeats: 20, link: {delay: " delay POOR_LINK_SETTINGS

enum { LIFTED = 10000 }; /* ticks until the ruler is lifted and at rest */

/* Lifts the ruler and holds it until tick `end`; returns how far it moves in the fingers meanwhile,
 * and the height to which it was lifted [m]. */
static double lift_and_hold_ruler_over_link(const char *settings, int end,
                                            const char *const records[SITES], double *height)
{
    double first[3] = {0.0}, now[3] = {0.0}, most = 0.0;
    open_sessions_of_sites((const char *const[]){settings, settings}, 0, records);
    for (int k = wait_for_both_links(); k < end; k++) {
        step_both_sessions();
        find_ruler_position(k > LIFTED ? now : first);
        for (int i = 0; i < 3 && k > LIFTED; i++) {
            most = fmax(most, fabs(now[i] - first[i]));
        }
    }
    *height = tact_hand_state(tact_world_hand(sessions[ROBOT]->world, 0)).q[0];
    close_sessions_of_sites();
    return most;
}

static void ruler_is_held_by_a_remote_hand(void **state)
{
    (void)state;
    static const struct {
        const char *name, *settings;
    } links[] = {{"plain, 50 ms", "link: {delay: 0.05}"}, {"poor, 0 ms", POOR_LINK("0")},
                 {"poor, 5 ms", POOR_LINK("0.005")},      {"poor, 20 ms", POOR_LINK("0.02")},
                 {"poor, 100 ms", POOR_LINK("0.1")},      {"poor, 200 ms", POOR_LINK("0.2")},
                 {"poor, 50 ms", POOR_LINK("0.05")}};
    const size_t count = sizeof links / sizeof *links;
    const int end = campaign_trial_count(LIFTED + 1500, LIFTED + 60000);
    /* the short form of the test runs the last link alone */
    for (size_t n = is_long_campaign() ? 0 : count - 1; n < count; n++) {
        double height;
        const double most = lift_and_hold_ruler_over_link(links[n].settings, end, NULL, &height);
        print_message("%s: lifted by %.2f mm; the ruler moved in the fingers by %.4f mm\n",
                      links[n].name, 1e3 * height, 1e3 * most);
        /* under a sanitizer the run ends before the ruler is lifted */
        assert_true(IS_SANITIZER_BUILD || (height > 0.04 && height < 0.055));
        assert_true(most < 1e-4); /* motion of the ruler between the fingers [m] */
    }
}

/* Each end's log of a ruler that is lifted over a poor link replays bit for bit without the other
 * one, from the start and from the middle. */
static void ruler_logs_of_both_sites_replay(void **state)
{
    (void)state;
    SKIP_IN_QUICK_SANITIZER_RUN();
    char folder[] = "/tmp/tact_ruler_XXXXXX", paths[SITES][64];
    const int end = campaign_trial_count(LIFTED, LIFTED + 10000);
    double height;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < SITES; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d.mcap", folder, i);
    }
    lift_and_hold_ruler_over_link(POOR_LINK("0.05"), end,
                                  (const char *const[]){paths[PERSON], paths[ROBOT]}, &height);
    for (int i = 0; i < SITES; i++) {
        check_replays_of_log(paths[i], end, 7001, 1);
        assert_int_equal(remove(paths[i]), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* Memory of this process that is resident [bytes]. */
static double resident_memory_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &pages, &resident), 2);
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* Nothing grows in an hour of the scene's time over a poor link: memory, motion in the fingers, the
 * change of the grip. Only in .ci/long, where it takes two minutes. */
static void remote_hand_holds_the_ruler_for_an_hour(void **state)
{
    (void)state;
    enum { SETTLED = 60000, END = 3600000 };
    const char *settings = POOR_LINK("0.05");
    double first[3] = {0.0}, now[3], most = 0.0, least_grip = INFINITY, memory = 0.0;
    if (!is_long_campaign()) {
        skip();
    }
    open_sessions_of_sites((const char *const[]){settings, settings}, 0, NULL);
    for (int k = wait_for_both_links(); k < END; k++) {
        step_both_sessions();
        find_ruler_position(k > SETTLED ? now : first);
        for (int i = 0; i < 3 && k > SETTLED; i++) {
            most = fmax(most, fabs(now[i] - first[i]));
        }
        least_grip = k > SETTLED ? fmin(least_grip, first_tie_force_of_site(ROBOT)) : least_grip;
        memory = k == SETTLED ? resident_memory_bytes() : memory;
    }
    const double memory_growth_bytes = resident_memory_bytes() - memory;
    print_message(
        "in an hour the ruler moved by %.4f mm, the grip was at least %.2f N and at the "
        "end %.2f, memory grew by %.0f kB, least energy of the channels %.1e and %.1e J\n",
        1e3 * most, least_grip, first_tie_force_of_site(ROBOT), 1e-3 * memory_growth_bytes,
        read_link_input(PERSON, "least_energy"), read_link_input(ROBOT, "least_energy"));
    assert_true(most < 1e-4 && least_grip > 3.3 && memory_growth_bytes < 1e6);
    assert_true(read_link_input(PERSON, "least_energy") > -1e-12 &&
                read_link_input(ROBOT, "least_energy") > -1e-12);
    close_sessions_of_sites();
}

/* A silence of the link: nothing arrives, or nothing in one direction. */
struct link_silence {
    const char *name, *delay;
    int has_link_jitter_and_loss; /* 1: the link has jitter and bursts of loss */
    double until;                 /* end of the silence, which begins at SILENCE_START_TIME [s] */
    int loses_packets_to_robot;   /* 1: packets to the robot are lost */
    int loses_packets_to_person;  /* 1: packets to the person are lost */
    double allowed_ruler_slip_in_fingers; /* bound of the slip of the ruler in the fingers [m] */
    int releases_deadman;                 /* 1: between 12.5 and 13.1 s */
};

/* What a silence does, from its beginning on; forces are those of the left finger. */
struct link_silence_effect {
    double grip_force_before_silence, least_grip, last_grip, least_felt, last_felt;
    double largest_robot_force_step,
        largest_person_force_step; /* largest change of the force in a tick [N] */
    double slip;                   /* largest slip of the ruler in the fingers [m] */
};

#define SILENCE_START_TIME 11.0 /* [s] */

static void format_link_settings_with_silence(char *out, size_t size,
                                              const struct link_silence *link_silence,
                                              int has_link_silence)
{
    char end[32];
    tact_number_print(end, sizeof end, "%g",
                      has_link_silence ? link_silence->until : SILENCE_START_TIME);
    snprintf(out, size, "%slink: {delay: %s, blackout: [11, %s]%s",
             link_silence->has_link_jitter_and_loss ? "jitter: 0.02, repeats: 20, " : "",
             link_silence->delay, end,
             link_silence->has_link_jitter_and_loss ? POOR_LINK_SETTINGS : "}");
}

static void open_sessions_with_silence(const struct link_silence *link_silence)
{
    char settings[SITES][160];
    format_link_settings_with_silence(settings[PERSON], sizeof settings[PERSON], link_silence,
                                      link_silence->loses_packets_to_robot);
    format_link_settings_with_silence(settings[ROBOT], sizeof settings[ROBOT], link_silence,
                                      link_silence->loses_packets_to_person);
    open_sessions_of_sites((const char *const[]){settings[PERSON], settings[ROBOT]},
                           link_silence->releases_deadman, NULL);
}

static void record_tick(struct link_silence_effect *effect, const double place[3],
                        const double last[2])
{
    double now[3];
    const double grip = first_tie_force_of_site(ROBOT),
                 felt_force = -first_tie_force_of_site(PERSON);
    find_ruler_position(now);
    for (int i = 0; i < 3; i++) {
        effect->slip = fmax(effect->slip, fabs(now[i] - place[i]));
    }
    effect->least_grip = fmin(effect->least_grip, grip);
    effect->least_felt = fmin(effect->least_felt, felt_force);
    effect->largest_robot_force_step =
        fmax(effect->largest_robot_force_step, fabs(grip - last[ROBOT]));
    effect->largest_person_force_step =
        fmax(effect->largest_person_force_step, fabs(felt_force - last[PERSON]));
}

static struct link_silence_effect
run_grip_through_link_silence(const struct link_silence *link_silence)
{
    struct link_silence_effect effect = {.least_grip = INFINITY, .least_felt = INFINITY};
    const int from = (int)(SILENCE_START_TIME * 1e3),
              end = link_silence->releases_deadman ? 17000 : 14000;
    double place[3] = {0.0}, last[SITES] = {0.0};
    open_sessions_with_silence(link_silence);
    for (int k = wait_for_both_links(); k < end; k++) {
        if (k > (int)(link_silence->until * 1e3) &&
            (is_link_of_site_in_handshake(PERSON) || is_link_of_site_in_handshake(ROBOT))) {
            usleep(5000);
        }
        step_both_sessions();
        if (k == from - 1) {
            find_ruler_position(place);
            effect.grip_force_before_silence = first_tie_force_of_site(ROBOT);
        } else if (k >= from) {
            record_tick(&effect, place, last);
        }
        last[PERSON] = -first_tie_force_of_site(PERSON);
        last[ROBOT] = first_tie_force_of_site(ROBOT);
    }
    effect.last_felt = last[PERSON];
    effect.last_grip = last[ROBOT];
    close_sessions_of_sites();
    return effect;
}

/* The robot's end keeps its grip while nothing arrives, and until the person feels it again. What
 * is felt fades within 0.2 s, and neither force jumps: the ramp of 4.6 N is 0.023 N a tick. */
static void link_silence_does_not_drop_the_ruler(void **state)
{
    (void)state;
    static const struct link_silence link_silences[] = {
        {"plain, 50 ms, 0.1 s", "0.05", 0, 11.1, 1, 1, 1e-5, 0},
        {"poor, 20 ms, 0.3 s", "0.02", 1, 11.3, 1, 1, 1e-5, 0},
        {"plain, 0 ms, 0.3 s to the robot", "0", 0, 11.3, 1, 0, 1e-5, 0},
        {"plain, 100 ms, 0.3 s to the person", "0.1", 0, 11.3, 0, 1, 1e-5, 0},
        {"plain, 50 ms, 1 s, by the deadman", "0.05", 0, 12.0, 1, 1, 1e-5, 1},
        {"plain, 5 ms, 0.02 s", "0.005", 0, 11.02, 1, 1, 1e-5, 0},
        {"plain, 0 ms, 0.06 s", "0", 0, 11.06, 1, 1, 1e-5, 0},
        {"plain, 20 ms, 0.1 s to the robot", "0.02", 0, 11.1, 1, 0, 1e-5, 0},
        {"plain, 200 ms, 0.3 s", "0.2", 0, 11.3, 1, 1, 1e-5, 0},
        {"poor, 0 ms, 1 s, by the deadman", "0", 1, 12.0, 1, 1, 1e-5, 1},
        {"poor, 50 ms, 0.3 s", "0.05", 1, 11.3, 1, 1, 1e-5, 0},
        {"poor, 100 ms, 0.3 s to the robot", "0.1", 1, 11.3, 1, 0, 1e-5, 0},
        {"poor, 200 ms, 0.3 s", "0.2", 1, 11.3, 1, 1, 1e-5, 0}};
    const int count = IS_SANITIZER_BUILD && !is_long_campaign()
                          ? 1
                          : campaign_trial_count(5, sizeof link_silences / sizeof *link_silences);
    for (int n = 0; n < count; n++) {
        const struct link_silence *link_silence = &link_silences[n];
        const struct link_silence_effect e = run_grip_through_link_silence(link_silence);
        print_message(
            "%s: grip %.2f N, at least %.2f, at the end %.2f; felt at least %.2f, at the end "
            "%.2f; most in a tick %.3f and %.3f; the ruler moved by %.4f mm\n",
            link_silence->name, e.grip_force_before_silence, e.least_grip, e.last_grip,
            e.least_felt, e.last_felt, e.largest_robot_force_step, e.largest_person_force_step,
            1e3 * e.slip);
        assert_true(e.slip < link_silence->allowed_ruler_slip_in_fingers);
        assert_true(e.least_grip > 0.95 * e.grip_force_before_silence);
        assert_true(e.last_felt > 0.98 * e.grip_force_before_silence &&
                    e.last_grip > 0.98 * e.grip_force_before_silence);
        assert_true(e.largest_robot_force_step < 0.15 && e.largest_person_force_step < 0.15);
        assert_true(link_silence->until < SILENCE_START_TIME + 0.3 ||
                    !link_silence->loses_packets_to_robot ||
                    !link_silence->loses_packets_to_person || e.least_felt < 0.01);
    }
}

/* Silences of any length and direction, over any delay up to 60 ms: no end's force jumps, and what
 * a gap took from one end is not handed to and fro between them. */
static void link_silences_of_any_length_cause_no_force_jump(void **state)
{
    (void)state;
    const int count = campaign_trial_count(IS_SANITIZER_BUILD ? 1 : 5, 200);
    double worst = 0.0;
    for (int n = 0; n < count; n++) {
        char delay[32];
        const double until = 0.005 + (n % 2 ? uniform(0.0, 0.1) : uniform(0.1, 1.0));
        const int direction = 1 + (int)uniform(0.0, 3.0),
                  has_link_jitter_and_loss = uniform(0.0, 3.0) < 1.0;
        tact_number_print(delay, sizeof delay, "%.3f", uniform(0.0, 0.06));
        const struct link_silence link_silence = {NULL,
                                                  delay,
                                                  has_link_jitter_and_loss,
                                                  SILENCE_START_TIME + until,
                                                  direction & 1,
                                                  direction >> 1,
                                                  1.0,
                                                  until > 0.45};
        const struct link_silence_effect e = run_grip_through_link_silence(&link_silence);
        const double step = fmax(e.largest_robot_force_step, e.largest_person_force_step);
        if (step > worst) {
            print_message("%.4f s, directions %d, %s link of %s s: grip %.2f N, at least %.2f, at "
                          "the end %.2f; most in a tick %.3f and %.3f N\n",
                          until, direction, has_link_jitter_and_loss ? "poor" : "plain", delay,
                          e.grip_force_before_silence, e.least_grip, e.last_grip,
                          e.largest_robot_force_step, e.largest_person_force_step);
        }
        worst = fmax(worst, step);
        assert_true(step < 0.3 && e.slip < 1e-4);
        assert_true(e.least_grip > 0.8 * e.grip_force_before_silence &&
                    e.last_grip > 0.85 * e.grip_force_before_silence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruler_is_held_by_a_remote_hand),
        cmocka_unit_test(ruler_logs_of_both_sites_replay),
        cmocka_unit_test(link_silence_does_not_drop_the_ruler),
        cmocka_unit_test(link_silences_of_any_length_cause_no_force_jump),
        cmocka_unit_test(remote_hand_holds_the_ruler_for_an_hour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
