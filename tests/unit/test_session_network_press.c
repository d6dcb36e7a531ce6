/*
 * A wall pressed at a distance by sessions over network links: a weak, an average and a strong hand
 * move a device of 0.1 kg by 70 mm in 1 s, and the robot meets a wall after 50 mm. Links have a
 * one-way delay of 0 to 200 ms, 20 ms of jitter, 5 % of packets lost in bursts of 10 ms, and a
 * blackout of 0.3 s before the press or of 1 s in it, after which the deadman is released and held
 * again. Both sessions are stepped in turn, in virtual time. Press: force on the person at rest;
 * drag: largest force against the hand in free air; peak: largest force of the robot's tie, and of
 * the wall.
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
#include "support/remote_scenes.h"
#include "support/wave_line.h"

static const double reach = 0.07, wall = 0.05; /* [m] */
static const double impedance = 10.0;          /* [N s/m] */
static const double small_tank_energy = 0.1;   /* [J] */
/* largest RMS speed in the last half second; what is faster rattles [m/s] */
static const double allowed_rms_speed_at_rest = 2e-3;

static const struct operator_hand {
    const char *name;
    double mass, damping, stiffness;
} hands[] = {{"weak", 0.1, 2.0, 100.0}, {"average", 0.3, 10.0, 300.0}, {"strong", 1.0, 40.0, 1e3}};

enum {
    PLAYOUT_WAIT_MS = 40,     /* playout wait of the channel, for jitter and repeats [ms] */
    REPEATS = 20,             /* waves that a packet repeats */
    MOTION_START_TICK = 2000, /* of the hand, which takes 1 s [ticks] */
    MOTION_END_TICK = 3000,   /* [ticks] */
    REST_TICKS = 500, /* at the end of a press, of which mean force and speed are taken [ticks] */
    MAX_WAVES_MISSING_AT_REST = 2 * REPEATS, /* at both ends; if more, it is extended by as long */
    MAX_REST_REPETITIONS = 8,
    PRESS_END_TICK = 13000,        /* end of a press, 10 s after the motion [ticks] */
    BLACKOUT_START_TICK = 7000,    /* of the blackout of 1 s, in the press [ticks] */
    BLACKOUT_END_TICK = 8000,      /* [ticks] */
    DEADMAN_RELEASE_TICK = 8500,   /* [ticks] */
    DEADMAN_HELD_AGAIN_TICK = 9010 /* [ticks] */
};

struct press_options {
    const struct operator_hand *hand;
    int link_delay_ms, seed;
    double wall_position;
    double tank;                /* [J]; 0: the default */
    int has_blackout_in_press;  /* 1: of 1 s, in the press; 0: of 0.3 s, before it */
    int is_constant_delay_link; /* 1: a constant delay, and every packet arrives */
};

struct press {
    double press, peak, late_speed, least_energy;
    double waves_missing_at_rest; /* waves missing at both ends in the last half second */
    double peak_wall_force;       /* largest force on the wall [N] */
    double force_in_blackout;     /* largest force on the person once it has faded [N] */
    double largest_force_step;    /* largest change of a force in a tick from the blackout on [N] */
};

/* Without a wall. */
struct free_motion {
    double drag;
    double drag_by_equations;                   /* of a plain line [N] */
    double robot_deviation_from_line_equations; /* largest one of the robot's place [m] */
    double missing[SITES]; /* waves missing at each end in the motion's first second */
    double lost[SITES];    /* packets with any of the waves due in it that were lost */
};

/* Settings of both ends of the link. */
static void format_link_settings_of_press(char *out, size_t size, const struct press_options *o)
{
    char delay[32];
    tact_number_print(delay, sizeof delay, "%g", 1e-3 * o->link_delay_ms);
    if (o->is_constant_delay_link) {
        snprintf(out, size, "jitter: 0.02, repeats: 20, link: {delay: %s}", delay);
        return;
    }
    snprintf(out, size,
             "jitter: 0.02, repeats: 20, link: {delay: %s, jitter: 0.02, loss: 0.05, burst: 0.01, "
             "duplicate: 0.01, blackout: %s, seed: %d}",
             delay, o->has_blackout_in_press ? "[7, 8]" : "[3, 3.3]", o->seed);
}

/* The hand moves from 2 s on, when the ends have found each other; its deadman is an operator's
 * grip. */
static void print_person_scene(char *out, size_t size, const struct press_options *o)
{
    char device[200];
    snprintf(device, sizeof device,
             "type: operator, settings: {script: [[1.49, 0, 0, 0], [1.5, 1, 0, 0]%s]}",
             o->has_blackout_in_press
                 ? ", [8.5, 1, 0, 0], [8.51, 0, 0, 0], [9, 0, 0, 0], [9.01, 1, 0, 0]"
                 : "");
    tact_number_print(out, size, person_scene_text, 0.1 + o->hand->mass, o->hand->damping,
                      o->hand->stiffness, 90.0, 91.0, "", "impedance: 10");
    replace_in_text(out, size, "[[0.5, 0, 0, 0], [1.5, 1, 0, 0]", "[[2, 0, 0, 0], [3, 1, 0, 0]");
    replace_in_text(out, size, "type: button", device);
    replace_in_text(out, size, "button.held", "button.grip");
}

static void print_robot_scene(char *out, size_t size, const struct press_options *o)
{
    char tie[128], tank[64] = "", place[64];
    if (o->tank > 0.0) {
        tact_number_print(tank, sizeof tank, ", tank: %g", o->tank);
    }
    snprintf(tie, sizeof tie, "impedance: 10, stiffness: 1000, damping: 30%s", tank);
    snprintf(out, size, robot_scene_text, tie);
    tact_number_print(place, sizeof place, "position: [%g,", o->wall_position + 0.06);
    replace_in_text(out, size, "position: [0.11,", place);
}

static void open_press_sessions(const struct press_options *o)
{
    const int port = find_free_udp_port();
    char text[4096], settings[256], device[512];
    format_link_settings_of_press(settings, sizeof settings, o);
    for (int i = 0; i < SITES; i++) {
        snprintf(device, sizeof device, "type: network, settings: {%s: \"127.0.0.1:%d\", %s}",
                 i ? "listen" : "connect", port, settings);
        (i ? print_robot_scene : print_person_scene)(text, sizeof text, o);
        replace_in_text(text, sizeof text, i ? "type: end_1" : "type: end_0", device);
        scenes[i] = parse_remote_scene(text);
        open_session_of_site(i, NULL);
    }
}

/* Force of the robot on the wall, its only contact [N]. */
static double wall_force(void)
{
    struct tact_world *world = sessions[ROBOT]->world;
    double force = 0.0;
    int count;
    const int *near = tact_world_near(world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(world, near[i]);
        force += c->touching ? fabs(c->wrench[0]) : 0.0;
    }
    return force;
}

/* In the blackout in the press the force has faded 0.3 s after the last wave was used, within
 * 0.1 s of waves and 0.2 s of the tie, and stays so until the deadman was released and held again.
 */
static void record_blackout(const struct press_options *o, int tick, const double last[SITES],
                            struct press *r)
{
    if (tick >= BLACKOUT_START_TICK + o->link_delay_ms + PLAYOUT_WAIT_MS + 300 &&
        tick < DEADMAN_HELD_AGAIN_TICK - 10) {
        r->force_in_blackout = fmax(r->force_in_blackout, fabs(first_tie_force_of_site(PERSON)));
    }
    for (int i = 0; i < SITES && tick >= BLACKOUT_START_TICK; i++) {
        r->largest_force_step =
            fmax(r->largest_force_step, fabs(first_tie_force_of_site(i) - last[i]));
    }
}

/* Half a second at rest: sums of the force on the person and of the squared speeds of hand and
 * robot, and the waves that were missing at both ends before it. */
struct rest {
    double force, squared_speed, missing_before;
};

static double joint_velocity(int site)
{
    return tact_hand_state(tact_world_hand(sessions[site]->world, 0)).v[0];
}

static double count_waves_missing_at_both_ends(void)
{
    return read_link_input(PERSON, "missing") + read_link_input(ROBOT, "missing");
}

static void add_tick_to_rest_statistics(struct rest *rest, int ticks_to_end)
{
    if (ticks_to_end == REST_TICKS) {
        *rest = (struct rest){.missing_before = count_waves_missing_at_both_ends()};
    }
    rest->force -= first_tie_force_of_site(PERSON);
    rest->squared_speed += joint_velocity(PERSON) * joint_velocity(PERSON) +
                           joint_velocity(ROBOT) * joint_velocity(ROBOT);
}

/* Whether many waves were missing in that time. A burst of loss far longer than the waves that a
 * packet repeats, of which 100 are missing, moves the weak hand with 4e-3 m/s RMS, once; a rattle
 * continues. */
static int was_rest_disturbed(const struct rest *rest)
{
    return count_waves_missing_at_both_ends() - rest->missing_before > MAX_WAVES_MISSING_AT_REST;
}

static struct press run_press(const struct press_options *o, int end)
{
    struct press r = {.peak = 0.0};
    struct rest rest = {.force = 0.0};
    const int latest_end_tick = end + MAX_REST_REPETITIONS * REST_TICKS;
    double last[SITES] = {0.0};
    open_press_sessions(o);
    for (int k = wait_for_both_links(); k < end; k++) {
        if (k > BLACKOUT_END_TICK &&
            (is_link_of_site_in_handshake(PERSON) || is_link_of_site_in_handshake(ROBOT))) {
            usleep(5000);
        }
        step_both_sessions();
        r.peak = fmax(r.peak, first_tie_force_of_site(ROBOT));
        r.peak_wall_force = fmax(r.peak_wall_force, wall_force());
        if (o->has_blackout_in_press) {
            record_blackout(o, k, last, &r);
        }
        if (end - k <= REST_TICKS) {
            add_tick_to_rest_statistics(&rest, end - k);
        }
        if (k == end - 1 && end < latest_end_tick && was_rest_disturbed(&rest)) {
            end += REST_TICKS;
        }
        last[PERSON] = first_tie_force_of_site(PERSON);
        last[ROBOT] = first_tie_force_of_site(ROBOT);
    }
    r.press = rest.force / REST_TICKS;
    r.late_speed = sqrt(rest.squared_speed / REST_TICKS);
    r.waves_missing_at_rest = count_waves_missing_at_both_ends() - rest.missing_before;
    r.least_energy =
        fmin(read_link_input(PERSON, "least_energy"), read_link_input(ROBOT, "least_energy"));
    close_sessions_of_sites();
    return r;
}

/* Adds the waves that are missing at both ends in the tick of the motion's first second, and the
 * packets with such waves that the links lost. */
static void count_missing_waves(const struct press_options *o, int tick, struct free_motion *m)
{
    const int first_sending_tick = MOTION_START_TICK - o->link_delay_ms - PLAYOUT_WAIT_MS - 1,
              last_sending_tick =
                  MOTION_END_TICK - o->link_delay_ms - PLAYOUT_WAIT_MS + REPEATS + 1;
    for (int i = 0; i < SITES; i++) {
        const struct tact_network_device *other = sessions[!i]->devices[0].device.self;
        const double missing = read_link_input(i, "missing"),
                     lost = (double)tact_simulated_link_counts(other->link).lost;
        m->missing[i] += tick == MOTION_END_TICK - 1     ? missing
                         : tick == MOTION_START_TICK - 1 ? -missing
                                                         : 0.0;
        m->lost[i] += tick == last_sending_tick        ? lost
                      : tick == first_sending_tick - 1 ? -lost
                                                       : 0.0;
    }
}

static struct wave_line_options wave_line_of_press(const struct press_options *o)
{
    /* the person's session is stepped first: what the robot's sends is used a tick later */
    return (struct wave_line_options){.hand_mass = o->hand->mass,
                                      .hand_damping = o->hand->damping,
                                      .hand_stiffness = o->hand->stiffness,
                                      .impedance = impedance,
                                      .delay = 1e-3 * (o->link_delay_ms + PLAYOUT_WAIT_MS + 0.5)};
}

static struct free_motion run_free_motion(struct press_options o)
{
    static struct wave_line line;
    struct free_motion m = {.drag = 0.0};
    const struct wave_line_options options = wave_line_of_press(&o);
    /* a poor link is cut after the motion */
    const int end = MOTION_END_TICK + (o.is_constant_delay_link ? 500 : 0);
    o.wall_position = 1.0;
    open_press_sessions(&o);
    start_wave_line(&line, &options);
    for (int k = wait_for_both_links(); k < end; k++) {
        step_both_sessions();
        count_missing_waves(&o, k, &m);
        if (k < MOTION_START_TICK) {
            continue;
        }
        step_wave_line(&line);
        m.drag = fmax(m.drag, -first_tie_force_of_site(PERSON));
        m.drag_by_equations = fmax(m.drag_by_equations, -line.force);
        m.robot_deviation_from_line_equations = fmax(
            m.robot_deviation_from_line_equations,
            fabs(tact_hand_state(tact_world_hand(sessions[ROBOT]->world, 0)).q[0] - line.robot_x));
    }
    close_sessions_of_sites();
    return m;
}

static double ideal_press_force(const struct operator_hand *hand)
{
    return (reach - wall) / (1.0 / hand->stiffness + 1.0 / 1000.0 + 1.0 / 5000.0);
}

/* A line under the force F contains F^2 d / (2 b), which the tank has to supply: the press that
 * a tank bears over this link. */
static double press_force_of_tank(double tank, int link_delay_ms)
{
    return sqrt(2.0 * impedance * tank / (1e-3 * (link_delay_ms + PLAYOUT_WAIT_MS)));
}

/* Largest force on the wall where the drive ties hand and robot to each other, without a line:
 * 7.4, 6.9 and 9.2 N for the three hands, by 20 steps of each millisecond. */
static double largest_wall_force_without_line(const struct operator_hand *hand)
{
    const double h = 5e-5;
    double x = 0.0, v = 0.0, robot_x = 0.0, robot_v = 0.0, peak = 0.0;
    for (int k = 0; k < 60000; k++) {
        const double s = fmin(1.0, k * h),
                     target = reach * s * s * s * (10.0 + s * (6.0 * s - 15.0)),
                     target_rate = reach * 30.0 * s * s * (1.0 - s) * (1.0 - s);
        const double drive = 1000.0 * (x - robot_x) + 30.0 * (v - robot_v),
                     contact = 5000.0 * fmax(0.0, robot_x - wall);
        v += h * (hand->damping * (target_rate - v) + hand->stiffness * (target - x) - v - drive) /
             (0.1 + hand->mass);
        x += h * v;
        robot_v += h * (drive - 2.0 * robot_v - contact) / 0.5;
        robot_x += h * robot_v;
        peak = fmax(peak, contact);
    }
    return peak;
}

/* The page states 5.8 N as the ideal of the average hand. */
static double ideal_peak_wall_force(const struct operator_hand *hand)
{
    return hand == &hands[1] ? 5.8 : largest_wall_force_without_line(hand);
}

/* Relative to a press without delay, which the page has with the average hand up to 100 ms, and
 * 4.09 of 4.41 N at 200 ms. The default tank of 1 J is just what the line of the strong hand
 * contains at 240 ms. */
static double allowed_press_force_error(const struct press_options *o)
{
    return o->link_delay_ms > 100 && o->hand->stiffness > 500.0 ? 0.2 : 0.05;
}

static void check_press_on_wall(const struct press_options *o)
{
    const struct press p = run_press(o, PRESS_END_TICK);
    const double ideal_force = ideal_press_force(o->hand),
                 peak_wall_force = ideal_peak_wall_force(o->hand);
    print_message("%3d ms %-7s press %.2f of %.2f N, peak %.2f N, on the wall %.2f of %.2f N, %.0e "
                  "m/s at the end with %.0f waves missing\n",
                  o->link_delay_ms, o->hand->name, p.press, ideal_force, p.peak, p.peak_wall_force,
                  peak_wall_force, p.late_speed, p.waves_missing_at_rest);
    assert_true(fabs(p.press / ideal_force - 1.0) < allowed_press_force_error(o));
    assert_true(p.peak < 1.5 * ideal_force && p.peak_wall_force < 1.5 * peak_wall_force &&
                p.late_speed < allowed_rms_speed_at_rest && p.least_energy > -1e-12);
}

/* Over a plain line force and motion are those of its equations; beyond 80 ms the end of the line
 * begins to take less of the waves at a threshold, and the robot's place depends on it. Over a poor
 * link waves are missing only in a burst of more losses than a packet repeats waves, and what
 * returns is later by as much: the drag is that of a plain line which is longer by the missing
 * waves. */
static void check_drag_in_free_air(struct press_options o)
{
    const struct free_motion motion_over_poor_link = run_free_motion(o);
    o.is_constant_delay_link = 1;
    const struct free_motion free_motion_over_plain_line = run_free_motion(o);
    struct wave_line_options longer = wave_line_of_press(&o);
    longer.delay = fmin(0.39, longer.delay + 0.5e-3 * (motion_over_poor_link.missing[PERSON] +
                                                       motion_over_poor_link.missing[ROBOT]));
    const double drag_of_longer_line =
        wave_line_largest_drag_force(&longer, MOTION_END_TICK - MOTION_START_TICK);
    print_message("               drag %.3f N over a plain line, %.3f by its equations, from which "
                  "the robot is %.2f mm at most; %.3f over the poor link, %.3f "
                  "with %.0f and %.0f "
                  "waves missing of %.0f and %.0f packets lost\n",
                  free_motion_over_plain_line.drag, free_motion_over_plain_line.drag_by_equations,
                  1e3 * free_motion_over_plain_line.robot_deviation_from_line_equations,
                  motion_over_poor_link.drag, drag_of_longer_line,
                  motion_over_poor_link.missing[PERSON], motion_over_poor_link.missing[ROBOT],
                  motion_over_poor_link.lost[PERSON], motion_over_poor_link.lost[ROBOT]);
    assert_true(
        fabs(free_motion_over_plain_line.drag / free_motion_over_plain_line.drag_by_equations -
             1.0) < 0.006);
    assert_true(free_motion_over_plain_line.robot_deviation_from_line_equations <
                (o.link_delay_ms > 50 ? 3e-3 : 3e-4));
    for (int i = 0; i < SITES; i++) {
        /* half of the repeats: the last of them may arrive a tick or two too late */
        assert_true(motion_over_poor_link.missing[i] <=
                    fmax(0.0, motion_over_poor_link.lost[i] - 0.5 * REPEATS));
    }
    assert_true(motion_over_poor_link.drag < 1.06 * drag_of_longer_line);
}

/* With a small tank the press is what the tank bears. */
static void check_press_by_small_tank(struct press_options o)
{
    o.tank = small_tank_energy;
    const double press = run_press(&o, PRESS_END_TICK).press,
                 expected =
                     fmin(ideal_press_force(o.hand), press_force_of_tank(o.tank, o.link_delay_ms));
    print_message("               with a tank of 0.1 J press %.2f N, expected %.2f\n", press,
                  expected);
    assert_true(fabs(press / expected - 1.0) < 0.12);
}

/* Force and peak are those of springs in series, of a line without delay, with every hand. */
static void wall_is_pressed_over_poor_links(void **state)
{
    (void)state;
    static const int link_delays_ms[] = {20, 200, 0, 5, 50, 100};
    const int count = campaign_trial_count(2, 6);
    for (int i = 0; i < count; i++) {
        for (int h = 0; h < 3; h++) {
            const struct press_options o = {.hand = &hands[h],
                                            .link_delay_ms = link_delays_ms[i],
                                            .seed = 1 + i + 10 * h +
                                                    (int)(campaign_seed_offset() % 1000000) * 100,
                                            .wall_position = wall};
            check_press_on_wall(&o);
            check_drag_in_free_air(o);
            if (is_long_campaign() || (!IS_SANITIZER_BUILD && i == 0 && h > 0)) {
                check_press_by_small_tank(o);
            }
        }
    }
}

static void check_press_after_blackout(struct press_options o)
{
    const double press_without_blackout = run_press(&o, PRESS_END_TICK).press,
                 ideal_force = ideal_press_force(o.hand);
    o.has_blackout_in_press = 1;
    /* again 10 s after the deadman was held again */
    const struct press p = run_press(&o, DEADMAN_HELD_AGAIN_TICK + 10000);
    print_message(
        "%3d ms %-7s press %.2f N without 1 s of silence, %.2f after it, of %.2f; at "
        "most %.4f N in it, %.3f N in a tick, %.0e m/s at the end with %.0f waves missing\n",
        o.link_delay_ms, o.hand->name, press_without_blackout, p.press, ideal_force,
        p.force_in_blackout, p.largest_force_step, p.late_speed, p.waves_missing_at_rest);
    assert_true(fabs(press_without_blackout / ideal_force - 1.0) < allowed_press_force_error(&o));
    /* the strong hand has 7.9 N at 200 ms before and 8.7 after, as the tank is filled again */
    assert_true(p.press > 0.95 * press_without_blackout && p.press < 1.02 * ideal_force);
    assert_true(p.force_in_blackout < 0.05 && p.largest_force_step < 0.05 * ideal_force);
    assert_true(p.peak < 1.5 * ideal_force && p.late_speed < allowed_rms_speed_at_rest &&
                p.least_energy > -1e-12);
}

/* 1 s of silence in the press: the force fades, nothing engages until the deadman was released, and
 * the same press returns, with every hand. */
static void press_force_returns_after_a_link_blackout(void **state)
{
    (void)state;
    static const int link_delays_ms[] = {50, 0, 5, 20, 100, 200};
    SKIP_IN_QUICK_SANITIZER_RUN();
    const int count = campaign_trial_count(3, 18);
    for (int i = 0; i < count; i++) {
        const int h = i % 3;
        check_press_after_blackout((struct press_options){
            .hand = &hands[h],
            .link_delay_ms = link_delays_ms[i / 3],
            .seed = 1 + i / 3 + 10 * h + (int)(campaign_seed_offset() % 1000000) * 100,
            .wall_position = wall});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wall_is_pressed_over_poor_links),
        cmocka_unit_test(press_force_returns_after_a_link_blackout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
