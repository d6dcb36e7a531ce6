/*
 * One axis over a link: a person moves a device of 0.1 kg by 70 mm in 1 s (minimum jerk) and holds;
 * at the other site a robot of 0.5 kg follows by its drive, and a wall is at 50 mm. The plants move
 * in 20 substeps of a tick. Press: force on the person in the last 0.5 s, to 10 s after the motion;
 * drag: largest force against the person without a wall; peak: largest force of the robot on the
 * wall.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "devices/network/channel_internal.h"
#include "devices/network/seeded_link_internal.h"
#include "rt/wave_internal.h"
#include "support/wave_line.h"

/* POSITION_WALL_FORCE: the force sent back is the wall's, not the drive's */
enum mode { WAVES, WAVES_WITHOUT_POSITION, POSITION_FORCE, POSITION_WALL_FORCE, POSITION_POSITION };

static const struct hand {
    const char *name;
    double mass, damping, stiffness;
} hands[] = {{"weak", 0.1, 2.0, 100.0}, {"average", 0.3, 10.0, 300.0}, {"strong", 1.0, 40.0, 1e3}};

static const double period = 1e-3, impedance = 10.0, drive_stiffness = 1e3, drive_damping = 30.0;
static const double wall_position = 0.05, wall_stiffness = 5e3, motion = 0.07, starts_at = 1.0;

struct run_options {
    enum mode mode;
    const struct hand *hand;
    struct tact_simulated_link_options link;
    double press_duration; /* time of the press after the motion [s] */
    double tank;           /* [J] */
    double wall_damping;   /* [N s/m] */
    int free, repeats, jitter, hold;
};

struct run_result {
    int did_motion_diverge; /* 1: the motion grew beyond all bounds, and the run was ended */
    double press_force, drag, peak, late_speed, least_energy;
    struct tact_network_channel_counts counts;
};

struct site {
    struct tact_simulated_link *link; /* the link that this site sends to */
    struct tact_network_channel channel;
    struct tact_network_sample in;
};

static struct site person_site, robot_site;

static double position_of_person_hand(double time)
{
    const double t = fmin(1.0, fmax(0.0, time - starts_at));
    return motion * t * t * t * (10.0 + t * (6.0 * t - 15.0));
}

static double velocity_of_person_hand(double time)
{
    const double t = fmin(1.0, fmax(0.0, time - starts_at));
    return motion * 30.0 * t * t * (1.0 - t) * (1.0 - t);
}

static void open_teleop_sites(const struct run_options *o)
{
    const struct tact_network_channel_options options = {
        .axes = 1, .repeats = o->repeats, .jitter = o->jitter, .hold = o->hold, .period = period};
    struct tact_simulated_link_options back = o->link;
    back.seed ^= 0x5555;
    assert_int_equal(tact_simulated_link_create(&o->link, &person_site.link), 0);
    assert_int_equal(tact_simulated_link_create(&back, &robot_site.link), 0);
    assert_int_equal(tact_network_channel_init(&person_site.channel, &options), 0);
    assert_int_equal(tact_network_channel_init(&robot_site.channel, &options), 0);
}

static void receive_at_site(struct site *site, struct tact_simulated_link *from, int64_t now)
{
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    ssize_t size;
    while ((size = tact_simulated_link_receive(from, now, payload)) >= 0) {
        const int rc = tact_network_channel_receive(&site->channel, payload, (size_t)size, now + 1);
        assert_true(rc == 0 || rc == -EALREADY);
    }
    tact_network_channel_get_sample_of_tick(&site->channel, &site->in);
}

static void send_from_site(struct site *site, double wave, double position, double force,
                           int64_t now)
{
    const struct tact_network_sample sample = {
        .wave = {wave}, .position = {position}, .force = {force}};
    unsigned char payload[TACT_NETWORK_PAYLOAD];
    const ssize_t size = tact_network_channel_send(&site->channel, &sample, now + 1, payload);
    assert_true(size > 0);
    tact_simulated_link_send(site->link, now, payload, (size_t)size);
}

struct motion_of_device_and_robot {
    double x, v, robot_x, robot_v, wall;
};

static void move_device_and_robot(struct motion_of_device_and_robot *p, const struct run_options *o,
                                  double time, double felt_force, double drive)
{
    const struct hand *hand = o->hand;
    for (int s = 0; s < 20; s++) {
        const double h = period / 20.0, t = time + s * h;
        p->v += h *
                (felt_force - p->v + hand->damping * (velocity_of_person_hand(t) - p->v) +
                 hand->stiffness * (position_of_person_hand(t) - p->x)) /
                (0.1 + hand->mass);
        p->x += h * p->v;
        p->wall = !o->free && p->robot_x > wall_position
                      ? fmax(0.0, wall_stiffness * (p->robot_x - wall_position) +
                                      o->wall_damping * p->robot_v)
                      : 0.0;
        p->robot_v += h * (drive - 2.0 * p->robot_v - p->wall) / 0.5;
        p->robot_x += h * p->robot_v;
    }
}

/* Forces in the modes that send positions: drives to the newest position and rate that were
 * received. */
static double drive_force_toward_other_site(double other, double *last, double x, double v)
{
    const double rate = (other - *last) / period;
    *last = other;
    return drive_stiffness * (other - x) + drive_damping * (rate - v);
}

/* Robot's end of the wave line, whose motion is solved together with the wave. */
struct robot_end_of_wave_line {
    double position, tank, force;
};

static double wave_returned_by_robot_coupling(struct robot_end_of_wave_line *end,
                                              const struct tact_wave_tie *tie, double wave,
                                              double round_trip, double other,
                                              const struct motion_of_device_and_robot *p)
{
    const double implicit_tie_damping = tie->period * tie->stiffness + tie->damping;
    const double error = other - end->position;
    const double position_return_rate =
        tact_wave_line_end_return_rate(tie, round_trip, error, end->force);
    const double stretch_correction_rate = tact_wave_position_correction(
        tie, end->tank, position_return_rate, fabs(position_return_rate), end->force);
    wave = tact_wave_attenuate_incoming(tie, round_trip, error, wave, end->force);
    end->force = tact_wave_drive_gain_fraction(tie) *
                 (tie->stiffness * (end->position - p->robot_x) - tie->damping * p->robot_v +
                  implicit_tie_damping * (stretch_correction_rate +
                                          tact_wave_line_end_rate(tie->impedance, wave, 0.0)));
    const double rate = tact_wave_line_end_rate(tie->impedance, wave, end->force);
    tact_wave_advance_line_end(tie, rate, stretch_correction_rate, end->force, p->robot_v,
                               &end->position, &end->tank);
    return tact_wave_outgoing(tie->impedance, rate, end->force);
}

static struct run_result run_press(const struct run_options *o)
{
    struct run_result r = {.least_energy = 0.0};
    struct motion_of_device_and_robot p = {.x = 0.0};
    const struct tact_wave_tie tie = {impedance, drive_stiffness, drive_damping, period, o->tank};
    struct robot_end_of_wave_line end = {.tank = o->tank};
    const int ticks = (int)((starts_at + 1.0 + o->press_duration) / period);
    double squared_speed_sum_at_end_of_press = 0.0, last_person = 0.0, last_robot = 0.0,
           felt_force = 0.0, drive = 0.0;
    open_teleop_sites(o);
    for (int k = 0; k < ticks; k++) {
        const int64_t now = (int64_t)k * 1000000;
        double out = 0.0, back = 0.0;
        receive_at_site(&person_site, robot_site.link, now);
        receive_at_site(&robot_site, person_site.link, now);
        if (o->mode == WAVES || o->mode == WAVES_WITHOUT_POSITION) {
            felt_force = sqrt(2.0 * impedance) * person_site.in.wave[0] - impedance * p.v;
            out = tact_wave_outgoing(impedance, p.v, felt_force);
            back = wave_returned_by_robot_coupling(
                &end, &tie, robot_site.in.wave[0],
                o->mode == WAVES && robot_site.channel.state == TACT_NETWORK_CHANNEL_OK
                    ? tact_network_channel_round_trip(&robot_site.channel)
                    : 0.0,
                robot_site.in.position[0], &p);
            drive = end.force;
        } else {
            felt_force = o->mode != POSITION_POSITION
                             ? -person_site.in.force[0]
                             : drive_force_toward_other_site(person_site.in.position[0],
                                                             &last_person, p.x, p.v);
            drive = drive_force_toward_other_site(robot_site.in.position[0], &last_robot, p.robot_x,
                                                  p.robot_v);
        }
        send_from_site(&person_site, out, p.x, felt_force, now);
        send_from_site(&robot_site, back, p.robot_x,
                       o->mode == POSITION_WALL_FORCE ? p.wall : drive, now);
        move_device_and_robot(&p, o, k * period, felt_force, drive);
        if (!(fabs(p.x) < 1.0 && fabs(p.robot_x) < 1.0)) {
            r.did_motion_diverge = 1;
            break;
        }
        const double t = k * period - starts_at;
        r.drag = t >= 0.0 && t <= 1.5 ? fmax(r.drag, -felt_force) : r.drag;
        r.peak = fmax(r.peak, p.wall);
        squared_speed_sum_at_end_of_press +=
            k >= ticks - 500 ? p.v * p.v + p.robot_v * p.robot_v : 0.0;
        r.press_force -= k >= ticks - 500 ? felt_force / 500.0 : 0.0;
    }
    r.late_speed = sqrt(squared_speed_sum_at_end_of_press / 500.0);
    r.least_energy = fmin(person_site.channel.least_energy, robot_site.channel.least_energy);
    r.counts = robot_site.channel.counts;
    tact_simulated_link_free(person_site.link);
    tact_simulated_link_free(robot_site.link);
    return r;
}

static int did_motion_settle(struct run_result r)
{
    return !r.did_motion_diverge && r.late_speed < 2e-3;
}

static double ideal_press_force(const struct hand *hand)
{
    return (motion - wall_position) /
           (1.0 / hand->stiffness + 1.0 / drive_stiffness + 1.0 / wall_stiffness);
}

enum { DELAYS = 6 };
static const double link_delays_ms[DELAYS] = {0.0, 5.0, 20.0, 50.0, 100.0, 200.0}; /* [ms] */

/* largest force of the robot on the wall with the average hand [N] */
static const double allowed_wall_impact_force = 1.5 * 5.8;

static struct run_options options_of_plain_link(enum mode mode, int hand, double link_delay_ms)
{
    return (struct run_options){.mode = mode,
                                .hand = &hands[hand],
                                .link = {.delay = 1e-3 * link_delay_ms},
                                .press_duration = 10.0,
                                .tank = 1.0};
}

/* Used in the next tick at the earliest. */
static struct wave_line_options wave_line_of_hand(const struct hand *hand, double link_delay_ms)
{
    return (struct wave_line_options){.hand_mass = hand->mass,
                                      .hand_damping = hand->damping,
                                      .hand_stiffness = hand->stiffness,
                                      .impedance = impedance,
                                      .delay = 1e-3 * fmax(1.0, link_delay_ms)};
}

/* The page has drags of the average hand, probably without the correction of positions. Its 1.15 N
 * at 200 ms are left out: these equations have 1.32 N there, and 1.11 N, impedance times rate of
 * the hand, before anything returns from the robot. */
static void wave_line_equations_have_the_published_drag(void **state)
{
    (void)state;
    static const double published_drag_force[] = {0.40, 0.44, 0.55, 0.74, 1.02}; /* [N] */
    static const double tested_wave_impedances[] = {3.0, 10.0, 30.0},
                        published_at_120_ms[] = {0.5, 1.1, 2.5};
    for (int i = 0; i < 5; i++) {
        struct wave_line_options o = wave_line_of_hand(&hands[1], link_delays_ms[i]);
        o.is_position_correction_off = 1;
        const double drag = wave_line_largest_drag_force(&o, 1500);
        print_message("%3.0f ms: drag %.3f N, published %.2f\n", link_delays_ms[i], drag,
                      published_drag_force[i]);
        assert_true(fabs(drag / published_drag_force[i] - 1.0) < 0.03);
    }
    for (int i = 0; i < 3; i++) {
        struct wave_line_options o = wave_line_of_hand(&hands[1], 120.0);
        o.is_position_correction_off = 1;
        o.impedance = tested_wave_impedances[i];
        const double drag = wave_line_largest_drag_force(&o, 1500);
        print_message("%2.0f N s/m: drag %.3f N at 120 ms, published %.1f\n", o.impedance, drag,
                      published_at_120_ms[i]);
        assert_true(fabs(drag - published_at_120_ms[i]) <= 0.05);
    }
}

/* With room in the tank, the press is that of no delay, and the robot hits the wall with at most
 * 1.5 times the force of no delay, 5.8 N. */
static void wave_press_equals_that_without_delay(void **state)
{
    (void)state;
    for (int i = 0; i < DELAYS; i++) {
        for (int h = 0; h < 3; h++) {
            struct run_options o = options_of_plain_link(WAVES, h, link_delays_ms[i]);
            const struct run_result r = run_press(&o);
            o.free = 1;
            const struct run_result f = run_press(&o);
            print_message("%3.0f ms %-7s press %.2f of %.2f N, drag %.2f N, peak %.2f N, "
                          "%.0e m/s at the end\n",
                          link_delays_ms[i], hands[h].name, r.press_force,
                          ideal_press_force(&hands[h]), f.drag, r.peak, r.late_speed);
            assert_true(did_motion_settle(r));
            assert_true(r.least_energy > -1e-12 && r.counts.missing_wave_count == 0);
            const struct wave_line_options line = wave_line_of_hand(&hands[h], link_delays_ms[i]);
            assert_true(fabs(f.drag / wave_line_largest_drag_force(&line, 1500) - 1.0) < 0.01);
            if (h == 1) {
                o.free = 0;
                o.tank = 0.1;
                const struct run_result press_result_with_tank = run_press(&o);
                print_message("       with a tank of 0.1 J press %.2f N\n",
                              press_result_with_tank.press_force);
                assert_true(press_result_with_tank.press_force <= r.press_force &&
                            press_result_with_tank.press_force > 2.9);
                assert_true(fabs(r.press_force / ideal_press_force(&hands[h]) - 1.0) < 0.01);
                assert_true(r.peak < allowed_wall_impact_force);
            }
        }
    }
}

/* A line of waves is a spring of b / d in series; d as the round trip's half, a tick at 0 ms. */
static void waves_without_position_act_as_a_spring(void **state)
{
    (void)state;
    static const double expected[DELAYS] = {769.0, 588.0, 312.0, 161.0, 89.0, 47.0}; /* [N/m] */
    for (int i = 0; i < DELAYS; i++) {
        const struct run_options o =
            options_of_plain_link(WAVES_WITHOUT_POSITION, 1, link_delays_ms[i]);
        const struct run_result r = run_press(&o);
        const double felt_force =
            1.0 / ((motion - wall_position) / r.press_force - 1.0 / hands[1].stiffness);
        print_message("%3.0f ms: %.1f N/m felt, expected %.0f\n", link_delays_ms[i], felt_force,
                      expected[i]);
        assert_true(!r.did_motion_diverge && fabs(felt_force / expected[i] - 1.0) < 0.02);
    }
}

static void assert_relative_difference_below(double value, double expected, double tolerance)
{
    if (!(fabs(value / expected - 1.0) < tolerance)) {
        fail_msg("%g, expected %g within %g", value, expected, tolerance);
    }
}

/* Forces sent back as they are do not settle at 20 ms, nor do those of the wall at 5 ms. The page's
 * row is that of a wall with a damper of 10 N s/m, which it does not state: a loop of its equations
 * without channels has a peak of 5.8 N without delay, which is the page's ideal, and 31.9, 80.4,
 * 107.7, 40.9 and 44.7 N. Without the damper that loop has the peaks of expected_peak_force, at one
 * tick in place of 0 ms. */
static void position_force_mode_needs_a_fast_link(void **state)
{
    (void)state;
    static const double published_peak_force[DELAYS] = {5.8, 33.0, 81.0, 112.0, 42.0, 46.0},
                        expected_peak_force[DELAYS] = {26.3,  44.7, 94.8,
                                                       121.0, 46.0, 49.4}; /* [N] */
    for (int i = 0; i < DELAYS; i++) {
        struct run_options o = options_of_plain_link(POSITION_FORCE, 1, link_delays_ms[i]);
        assert_int_equal(did_motion_settle(run_press(&o)), link_delays_ms[i] < 20.0);
        o.mode = POSITION_WALL_FORCE;
        const struct run_result press_result_without_wall_damper = run_press(&o);
        o.wall_damping = 10.0;
        const struct run_result press_result_with_wall_damper = run_press(&o);
        print_message("%3.0f ms: wall's force sent back %.1f N at most%s, %.1f without a damper of "
                      "the wall, published %.1f\n",
                      link_delays_ms[i], press_result_with_wall_damper.peak,
                      did_motion_settle(press_result_with_wall_damper) ? " and at rest" : "",
                      press_result_without_wall_damper.peak, published_peak_force[i]);
        assert_false(did_motion_settle(press_result_without_wall_damper));
        assert_int_equal(did_motion_settle(press_result_with_wall_damper), i == 0);
        assert_relative_difference_below(press_result_without_wall_damper.peak,
                                         expected_peak_force[i], 0.01);
        if (i > 0) { /* at 0 ms values are used a tick later here */
            assert_relative_difference_below(press_result_with_wall_damper.peak,
                                             published_peak_force[i], 0.05);
        }
    }
}

/* Positions tied to positions are felt in free air, and rattle with a weak hand from 50 ms on and
 * with the average one at 100 ms. The page's row is the weak hand's, which exerts at most 7 N: the
 * average hand has 8.7 N at 50 ms. A loop of the equations without channels has the forces of
 * expected_drag_force, at one tick in place of 0 ms, where it has 0.45 and 0.40 N without a delay.
 */
static void position_position_mode_drags_in_free_air(void **state)
{
    (void)state;
    static const double published_drag_force[DELAYS] = {0.4, 1.4, 3.6, 5.3, 6.1, 6.5}; /* [N] */
    static const double expected_drag_force[2][DELAYS] = {{0.69, 1.56, 3.40, 4.75, 5.52, 6.03},
                                                          {0.65, 1.68, 4.89, 8.67, 11.73, 14.26}};
    for (int i = 0; i < DELAYS; i++) {
        for (int h = 0; h < 2; h++) {
            struct run_options o = options_of_plain_link(POSITION_POSITION, h, link_delays_ms[i]);
            o.free = 1;
            const struct run_result r = run_press(&o);
            print_message("%3.0f ms: positions drag a%s hand with %.2f N, published %.1f%s\n",
                          link_delays_ms[i], h ? "n average" : " weak", r.drag,
                          published_drag_force[i], did_motion_settle(r) ? "" : ", and rattle");
            assert_relative_difference_below(r.drag, expected_drag_force[h][i], 0.01);
            if (h == 0 && i > 0) {
                assert_relative_difference_below(r.drag, published_drag_force[i], 0.12);
            }
            assert_true(h == 1 || did_motion_settle(r) == (link_delays_ms[i] < 50.0));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wave_line_equations_have_the_published_drag),
        cmocka_unit_test(wave_press_equals_that_without_delay),
        cmocka_unit_test(waves_without_position_act_as_a_spring),
        cmocka_unit_test(position_force_mode_needs_a_fast_link),
        cmocka_unit_test(position_position_mode_drags_in_free_air),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
