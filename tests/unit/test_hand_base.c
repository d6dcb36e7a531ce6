/*
 * A base that moves: momentum and energy of a tree on it, its Jacobian, a coupling that turns it by
 * any angle at any stiffness, follows without lag, and saturates by the length of force and torque.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/hand.h"
#include "support/random.h"

enum { BASE = TACT_HAND_BASE, LINKS = BASE + 3 };

static const double none[3] = {0.0, 0.0, 0.0};
static const struct tact_base_drive undriven_base_drive = {0.0, 0.0, 0.0};
static const struct tact_pose start = {{0.1, 0.2, 0.3}, {0.9, 0.1, -0.3, 0.2}};

static const struct tact_link_def palm_link_definition = {
    .mass = 0.2, .center = {0.01, -0.02, 0.03}, .inertia = {3e-4, 2e-4, 4e-4, 2e-5, -3e-5, 1e-5}};

static void make_tree_links(struct tact_link_def link_definitions[LINKS])
{
    tact_hand_base_links(&palm_link_definition, &undriven_base_drive, &undriven_base_drive,
                         link_definitions);
    for (int i = BASE; i < LINKS; i++) {
        link_definitions[i] =
            (struct tact_link_def){.parent = i - 1,
                                   .joint = i == BASE + 2 ? TACT_JOINT_SLIDE : TACT_JOINT_HINGE,
                                   .axis = {i == BASE, i != BASE, 0.3},
                                   .origin = {{0.01, 0.0, -0.04}, {1, 0, 0, 0}},
                                   .mass = 0.05,
                                   .center = {0.0, 0.005, -0.02},
                                   .inertia = {7e-6, 6e-6, 4e-6, 1e-6, 0, 0}};
    }
}

static struct tact_hand *make_hand(const struct tact_link_def *link_definitions, int count)
{
    struct tact_hand *hand;
    assert_int_equal(tact_hand_create(link_definitions, count, &start, &hand), 0);
    return hand;
}

static void inertia_matrix(double m[9], const double in[6])
{
    const double full[9] = {in[0], in[3], in[4], in[3], in[1], in[5], in[4], in[5], in[2]};
    memcpy(m, full, sizeof full);
}

/* Linear and angular momentum about the origin, and kinetic energy, from the twists of the links.
 */
static double compute_momentum_and_energy(struct tact_hand *hand,
                                          const struct tact_link_def *link_definitions, int count,
                                          double p[6])
{
    double energy = 0.0;
    memset(p, 0, 6 * sizeof *p);
    for (int i = BASE - 1; i < count; i++) {
        const struct tact_pose *pose = tact_hand_link_pose(hand, i);
        double c[3], t[6], r[9], w[3], in[9], spin[3], linear[3], moment[3];
        tact_pose_point(c, pose, link_definitions[i].center);
        tact_hand_link_twist(hand, i, c, t);
        tact_quat_to_m3(r, pose->quat_wxyz);
        tact_m3_tmul_v3(w, r, t + 3);
        inertia_matrix(in, link_definitions[i].inertia);
        tact_m3_mul_v3(spin, in, w);
        energy += 0.5 * (link_definitions[i].mass * tact_v3_dot(t, t) + tact_v3_dot(spin, w));
        tact_v3_scale(linear, t, link_definitions[i].mass);
        tact_v3_cross(moment, c, linear);
        tact_m3_mul_v3(t, r, spin);
        tact_v3_add(p, p, linear);
        tact_v3_add(p + 3, p + 3, moment);
        tact_v3_add(p + 3, p + 3, t);
    }
    return energy;
}

static void set_random_joint_values_and_rates(struct tact_hand *hand)
{
    struct tact_hand_state s = tact_hand_state(hand);
    for (int i = 0; i < tact_hand_count(hand); i++) {
        s.q[i] = uniform(-0.5, 0.5);
        s.v[i] = uniform(-3.0, 3.0);
    }
    tact_hand_refresh(hand);
}

/* Without forces a tree of links keeps its momentum and energy: their error in a step falls with
 * the square of the step. That requires inertia and velocity terms of base and links to be
 * consistent. */
static void free_floating_hand_keeps_its_momentum(void **state)
{
    (void)state;
    struct tact_link_def link_definitions[LINKS];
    make_tree_links(link_definitions);
    for (int trial = 0; trial < 50; trial++) {
        struct tact_hand *hand = make_hand(link_definitions, trial % 2 ? LINKS : BASE);
        const int count = tact_hand_count(hand);
        struct tact_hand_state s = tact_hand_state(hand);
        double q[LINKS], v[LINKS], change[2] = {0.0, 0.0}, p[2][6];
        set_random_joint_values_and_rates(hand);
        memcpy(q, s.q, sizeof *q * (size_t)count);
        memcpy(v, s.v, sizeof *v * (size_t)count);
        for (int k = 0; k < 2; k++) {
            const double h = k ? 5e-6 : 1e-5;
            memcpy(s.q, q, sizeof *q * (size_t)count);
            memcpy(s.v, v, sizeof *v * (size_t)count);
            tact_hand_refresh(hand);
            const double before = compute_momentum_and_energy(hand, link_definitions, count, p[0]);
            assert_int_equal(tact_hand_free_velocity(hand, h, none, NULL), 0);
            tact_hand_integrate(hand, h);
            const double momentum_or_energy_after =
                compute_momentum_and_energy(hand, link_definitions, count, p[1]);
            for (int i = 0; i < 6; i++) {
                change[k] = fmax(change[k], fabs(p[1][i] - p[0][i]));
            }
            change[k] = fmax(change[k], fabs(momentum_or_energy_after - before));
        }
        assert_true(change[0] < 1e-6);
        assert_true(change[1] < 0.27 * change[0] + 1e-14);
        tact_hand_destroy(hand);
    }
}

/* The twist of a link's point is the Jacobian times the joint rates, and the derivative of its
 * position; the Jacobian's rate term is the derivative of the twist at constant joint rates. */
static void base_jacobian_is_derivative_of_link_position(void **state)
{
    (void)state;
    struct tact_link_def link_definitions[LINKS];
    const double tip[3] = {0.01, 0.02, -0.04}, e = 1e-6;
    make_tree_links(link_definitions);
    for (int trial = 0; trial < 20; trial++) {
        struct tact_hand *hand = make_hand(link_definitions, LINKS),
                         *moved = make_hand(link_definitions, LINKS);
        struct tact_hand_state s = tact_hand_state(hand), m = tact_hand_state(moved);
        double p[2][3], point[3], jacobian[6 * LINKS], twist[6], next[2][6], rate[6];
        set_random_joint_values_and_rates(hand);
        for (int k = 0; k < 2; k++) {
            memcpy(m.q, s.q, sizeof *s.q * LINKS);
            memcpy(m.v, s.v, sizeof *s.v * LINKS);
            memcpy(tact_hand_velocity(moved), s.v, sizeof *s.v * LINKS);
            tact_hand_integrate(moved, k ? e : -e);
            tact_pose_point(p[k], tact_hand_link_pose(moved, LINKS - 1), tip);
            tact_hand_link_twist(moved, LINKS - 1, p[k], next[k]);
        }
        tact_pose_point(point, tact_hand_link_pose(hand, LINKS - 1), tip);
        tact_hand_jacobian(hand, LINKS - 1, point, jacobian);
        tact_hand_link_twist(hand, LINKS - 1, point, twist);
        tact_hand_link_rate(hand, LINKS - 1, point, rate);
        for (int i = 0; i < 6; i++) {
            double sum = 0.0;
            for (int j = 0; j < LINKS; j++) {
                sum += jacobian[6 * j + i] * s.v[j];
            }
            assert_true(fabs(sum - twist[i]) < 1e-12);
            assert_true(i > 2 || fabs((p[1][i] - p[0][i]) / (2.0 * e) - twist[i]) < 1e-8);
            assert_true(fabs((next[1][i] - next[0][i]) / (2.0 * e) - rate[i]) < 1e-6);
        }
        tact_hand_destroy(hand);
        tact_hand_destroy(moved);
    }
}

static struct tact_hand *make_coupled_base(double mass, double inertia,
                                           struct tact_base_drive force,
                                           struct tact_base_drive torque)
{
    struct tact_link_def link_definitions[BASE];
    const struct tact_link_def tool_link_definition = {
        .mass = mass, .inertia = {inertia, inertia, inertia, 0, 0, 0}};
    tact_hand_base_links(&tool_link_definition, &force, &torque, link_definitions);
    return make_hand(link_definitions, BASE);
}

/* A coupled base reaches a target that jumps by nearly half a turn, at any coupling stiffness, and
 * is no faster than the spring's energy makes it, nor than to be there in a tick. */
static void base_coupling_turns_to_any_attitude(void **state)
{
    (void)state;
    for (double k = 0.1; k < 2e6; k *= 10.0) {
        for (int i = 0; i < 6; i++) {
            const double inertia = i % 2 ? 3e-5 : 5e-6, h = 1e-3;
            struct tact_hand *hand =
                make_coupled_base(0.05, inertia, (struct tact_base_drive){1000, 5, 0},
                                  (struct tact_base_drive){k, 2.0 * sqrt(k * inertia), 0});
            struct tact_hand_state s = tact_hand_state(hand);
            double axis[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}, fastest = 0.0;
            tact_v3_normalize(axis, axis);
            tact_v3_scale(s.target + 3, axis, 3.1);
            for (int tick = 0; tick < 2000; tick++) {
                assert_int_equal(tact_hand_free_velocity(hand, h, none, NULL), 0);
                tact_hand_integrate(hand, h);
                fastest = fmax(fastest, tact_v3_norm(s.v + 3));
            }
            double error[3];
            tact_v3_sub(error, s.target + 3, s.q + 3);
            const double most = 3.1 * fmin(1.0 / h, sqrt(k / inertia));
            /* what a tick adds to a rotation vector of 3.1 rad is rounded to 4e-16 rad: of a soft
             * spring it is a small share of the error */
            const double rounding = 2e-15 / (h * sqrt(k / inertia));
            if (!(tact_v3_norm(error) < fmax(1e-14, rounding) && fastest < (1.0 + 1e-12) * most)) {
                fail_msg("K %g: error %g rad, %g rad/s of %g", k, tact_v3_norm(error), fastest,
                         most);
            }
            tact_hand_destroy(hand);
        }
    }
}

/* Near half a turn the coupling's torque keeps its sense until the other way round is shorter by
 * 0.1 rad, that is until the target is 0.05 rad past half a turn; on the way back likewise on the
 * other side. */
static void base_torque_keeps_its_sense_near_half_a_turn(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    const double h = 1e-3, pi = 3.14159265358979323846, step = 1e-3;
    /* the base is so heavy that it stays where it is */
    struct tact_hand *hand =
        make_coupled_base(1e9, 1e9, undriven_base_drive, (struct tact_base_drive){1.0, 0.0, 0});
    struct tact_hand_state s = tact_hand_state(hand);
    double turned[2] = {0.0, 0.0};
    int torque_reversal_count = 0;
    for (int tick = 0; tick < 4 * STEPS; tick++) {
        const int phase = tick % (2 * STEPS);
        const double last = s.torque[5];
        s.target[5] = pi - 0.2 + step * (phase < STEPS ? phase : 2 * STEPS - phase);
        assert_int_equal(tact_hand_free_velocity(hand, h, none, NULL), 0);
        tact_hand_integrate(hand, h);
        if (tick > 0 && last * s.torque[5] < 0.0) {
            turned[torque_reversal_count % 2] = s.target[5] - pi;
            torque_reversal_count++;
        }
    }
    print_message("flips %d times, %.4f rad past half a turn and %.4f before\n",
                  torque_reversal_count, turned[0], -turned[1]);
    assert_int_equal(torque_reversal_count, 4);
    assert_true(fabs(turned[0] - 0.05) <= step && fabs(turned[1] + 0.05) <= step);
    tact_hand_destroy(hand);
}

/* A coupled base follows a target that moves and turns steadily, one tick behind, with no force but
 * that of its own inertia; with damping against the world it lags by D v / K. */
static void base_coupling_follows_without_lag(void **state)
{
    (void)state;
    const double h = 1e-3, v = 0.2, w = 1.5;
    for (int has_target_rates = 0; has_target_rates < 2; has_target_rates++) {
        struct tact_hand *hand =
            make_coupled_base(0.05, 1e-5, (struct tact_base_drive){2000, 20, 0},
                              (struct tact_base_drive){1, 0.005, 0});
        struct tact_hand_state s = tact_hand_state(hand);
        for (int tick = 0; tick < 1000; tick++) {
            s.target[1] = v * h * tick;
            s.target[5] = w * h * tick;
            s.target_rate[1] = has_target_rates ? v : 0.0;
            s.target_rate[5] = has_target_rates ? w : 0.0;
            assert_int_equal(tact_hand_free_velocity(hand, h, none, NULL), 0);
            tact_hand_integrate(hand, h);
        }
        const double lag = s.target[1] - s.q[1], turned = s.target[5] - s.q[5];
        print_message("%s: lag %.2e m, %.2e rad\n", has_target_rates ? "relative" : "grounded", lag,
                      turned);
        assert_true(fabs(lag - (has_target_rates ? 0.0 : 20.0 * v / 2000.0)) < 1e-12);
        assert_true(fabs(turned - (has_target_rates ? 0.0 : 0.005 * w / 1.0)) < 1e-12);
        tact_hand_destroy(hand);
    }
}

/* The coupling's limits apply to the magnitudes of force and torque, whose directions are kept. */
static void base_coupling_saturates_by_magnitude(void **state)
{
    (void)state;
    struct tact_hand *hand = make_coupled_base(0.05, 1e-5, (struct tact_base_drive){1000, 5, 3.0},
                                               (struct tact_base_drive){1, 0.005, 0.1});
    struct tact_hand_state s = tact_hand_state(hand);
    const double base_target_beyond_drive_limits[6] = {0.3, -0.4, 1.2, 0.2, 0.3, -0.6};
    int saturated;
    memcpy(s.target, base_target_beyond_drive_limits, sizeof base_target_beyond_drive_limits);
    assert_int_equal(tact_hand_free_velocity(hand, 1e-3, none, NULL), 0);
    assert_true(tact_hand_drive_margin(hand, BASE - 1, 1e-3, &saturated) < 0.0 && saturated);
    tact_hand_integrate(hand, 1e-3);
    assert_true(fabs(tact_v3_norm(s.torque) - 3.0) < 1e-12);
    assert_true(fabs(tact_v3_norm(s.torque + 3) - 0.1) < 1e-12);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(s.torque[i] - 3.0 * base_target_beyond_drive_limits[i] / 1.3) < 1e-12);
        assert_true(fabs(s.torque[3 + i] - 0.1 * base_target_beyond_drive_limits[3 + i] / 0.7) <
                    1e-12);
        assert_true(fabs(s.v[i] - 1e-3 * s.torque[i] / 0.05) < 1e-15);
    }
    memset(s.target, 0, sizeof base_target_beyond_drive_limits);
    memset(s.q, 0, sizeof base_target_beyond_drive_limits);
    tact_hand_refresh(hand);
    assert_int_equal(tact_hand_free_velocity(hand, 1e-3, none, NULL), 0);
    assert_true(s.saturated[0] == 0.0);
    tact_hand_destroy(hand);
}

/* A drive that differs along the axes of a frame: in a tick from rest the rates satisfy the
 * implicit equation (M + h D + h^2 K) v = h K e with K = A diag(k) A^T, the force is that of K and
 * D, the base reaches a target that jumps by 3.1 rad, and the limit is that of the length. The
 * torque, which is not K e, is in test_hand_base_axes.c. */
static void base_drive_has_gains_and_limits_per_axis(void **state)
{
    (void)state;
    const double h = 1e-3, mass = 0.05, inertia = 1e-5;
    for (int trial = 0; trial < 40; trial++) {
        struct tact_hand *hand =
            make_coupled_base(mass, inertia, (struct tact_base_drive){1.0, 0.0, 0.0},
                              (struct tact_base_drive){1.0, 0.0, trial % 2 ? 0.3 : 0.0});
        struct tact_hand_state s = tact_hand_state(hand);
        double k[2][3], d[2][3], quat[2][4], a[2][9], off = 0.0;
        for (int part = 0; part < 2; part++) {
            for (int i = 0; i < 3; i++) {
                const double m = part ? inertia : mass;
                k[part][i] = pow(10.0, part ? uniform(-1.0, 2.0) : uniform(1.0, 5.0));
                d[part][i] = 2.0 * sqrt(k[part][i] * m);
            }
            for (int i = 0; i < 4; i++) {
                quat[part][i] = uniform(-1.0, 1.0);
            }
            tact_quat_normalize(quat[part]);
            tact_quat_to_m3(a[part], quat[part]);
            assert_int_equal(tact_hand_set_base_axes(hand, part, quat[part], k[part], d[part]), 0);
        }
        double axis[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        tact_v3_normalize(axis, axis);
        tact_v3_scale(s.target, axis, 0.01);
        tact_v3_scale(s.target + 3, axis, 3.1);
        assert_int_equal(tact_hand_free_velocity(hand, h, none, NULL), 0);
        tact_hand_integrate(hand, h);
        for (int part = 0; part < 2; part++) {
            double error[3], rate[3], force[3];
            tact_m3_tmul_v3(error, a[part], s.target + 3 * part);
            tact_m3_tmul_v3(rate, a[part], s.v + 3 * part);
            tact_m3_tmul_v3(force, a[part], s.torque + 3 * part);
            const double m = part ? inertia : mass;
            const int is_torque_limited = part && trial % 2;
            for (int i = 0; i < 3; i++) {
                const double wanted = k[part][i] * (error[i] - h * rate[i]) - d[part][i] * rate[i];
                const double scale = fabs(k[part][i] * error[i]) + 1e-9;
                off = fmax(off, part ? 0.0 : fabs(force[i] - wanted) / scale);
                off = fmax(off, fabs(m * rate[i] - h * force[i]) / (h * scale));
            }
            if (is_torque_limited) {
                off = fmax(off, fabs(tact_v3_norm(force) / 0.3 - 1.0));
            }
        }
        for (int tick = 0; tick < 4000; tick++) {
            assert_int_equal(tact_hand_free_velocity(hand, h, none, NULL), 0);
            tact_hand_integrate(hand, h);
        }
        double left[6];
        for (int i = 0; i < 6; i++) {
            left[i] = s.target[i] - s.q[i];
        }
        if (!(off < 1e-9 && tact_v3_norm(left) < 1e-12 && tact_v3_norm(left + 3) < 1e-9)) {
            fail_msg("trial %d: off by %g; %g m and %g rad left", trial, off, tact_v3_norm(left),
                     tact_v3_norm(left + 3));
        }
        assert_int_equal(tact_hand_set_base_axes(hand, 2, quat[0], k[0], d[0]), -EINVAL);
        k[0][1] = -1.0;
        assert_int_equal(tact_hand_set_base_axes(hand, 0, quat[0], k[0], d[0]), -EINVAL);
        tact_hand_destroy(hand);
    }
}

static void incomplete_set_of_base_joints_is_refused(void **state)
{
    (void)state;
    struct tact_link_def link_definitions[LINKS];
    struct tact_hand *hand;
    make_tree_links(link_definitions);
    assert_int_equal(tact_hand_create(link_definitions, BASE - 1, &start, &hand), -22);
    link_definitions[2].parent = 0;
    assert_int_equal(tact_hand_create(link_definitions, LINKS, &start, &hand), -22);
    make_tree_links(link_definitions);
    link_definitions[BASE].joint = TACT_JOINT_BASE;
    assert_int_equal(tact_hand_create(link_definitions, LINKS, &start, &hand), -22);
    make_tree_links(link_definitions);
    link_definitions[BASE - 1].mass = 0.0;
    assert_int_equal(tact_hand_create(link_definitions, LINKS, &start, &hand), -22);
    make_tree_links(link_definitions);
    link_definitions[1].start = 0.1;
    assert_int_equal(tact_hand_create(link_definitions, LINKS, &start, &hand), -22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_floating_hand_keeps_its_momentum),
        cmocka_unit_test(base_jacobian_is_derivative_of_link_position),
        cmocka_unit_test(base_coupling_turns_to_any_attitude),
        cmocka_unit_test(base_torque_keeps_its_sense_near_half_a_turn),
        cmocka_unit_test(base_coupling_follows_without_lag),
        cmocka_unit_test(base_coupling_saturates_by_magnitude),
        cmocka_unit_test(base_drive_has_gains_and_limits_per_axis),
        cmocka_unit_test(incomplete_set_of_base_joints_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
