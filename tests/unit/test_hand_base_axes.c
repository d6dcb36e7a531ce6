/*
 * A base whose torque has a stiffness about each of three axes that do not move: torques at base
 * and target are the gradients of an energy, also within a limit, the device feels the stiffness of
 * its axes, loops of the target close its balance, and nearly equal axes act as equal ones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/hand.h"
#include "contact/world/hand_internal.h"
#include "support/loop_balance.h"
#include "support/random.h"
#include "support/turn_energy.h"

enum { BASE = TACT_HAND_BASE };

static const double pi = 3.14159265358979323846;
static const double none[3] = {0.0, 0.0, 0.0};

struct spring {
    double k[3], d[3], quat[4], axes[9];
};

static void make_random_spring(struct spring *spring, double damping)
{
    random_unit_quaternion(spring->quat);
    tact_quat_to_m3(spring->axes, spring->quat);
    for (int i = 0; i < 3; i++) {
        spring->k[i] = pow(10.0, uniform(-0.5, 1.0));
        spring->d[i] = damping * spring->k[i];
    }
}

static struct tact_hand *make_base_with_spring(const struct spring *spring, double inertia,
                                               double limit)
{
    const struct tact_pose start = {{0.1, 0.2, 0.3}, {1.0, 0.0, 0.0, 0.0}};
    const struct tact_link_def def = {.mass = 0.05,
                                      .inertia = {inertia, inertia, inertia, 0, 0, 0}};
    const struct tact_base_drive force = {1e3, 1.0, 0.0}, torque = {1.0, 0.0, limit};
    struct tact_link_def links[BASE];
    struct tact_hand *hand;
    tact_hand_base_links(&def, &force, &torque, links);
    assert_int_equal(tact_hand_create(links, BASE, &start, &hand), 0);
    assert_int_equal(tact_hand_set_base_axes(hand, 1, spring->quat, spring->k, spring->d), 0);
    return hand;
}

static void step_hand(struct tact_hand *hand, double h)
{
    assert_int_equal(tact_hand_free_velocity(hand, h, none, NULL), 0);
    tact_hand_integrate(hand, h);
}

/* Torque at the target, which is that on the base where stiffness is equal about all axes. */
static void find_torque_on_target(struct tact_hand *hand, double torque[3])
{
    const double *moment = tact_hand_base_axes_moment(hand);
    tact_v3_copy(torque, tact_hand_state(hand).torque + 3);
    tact_v3_axpy(torque, moment ? 1.0 : 0.0, moment ? moment : none);
}

static void random_attitude(double v[3], double angle)
{
    for (int i = 0; i < 3; i++) {
        v[i] = uniform(-1.0, 1.0) * angle / sqrt(3.0);
    }
}

/* At rest and without a damper the torque on the base is minus the gradient of the energy by its
 * attitude, and that at the target the gradient by the target's; at a limit both have the length of
 * the limit, and these directions. */
static void base_spring_torques_are_energy_gradients(void **state)
{
    (void)state;
    double worst = 0.0, worst_limited = 0.0;
    for (int trial = 0; trial < 100; trial++) {
        struct spring spring;
        const int is_torque_limited = trial % 2;
        const double limit = 0.1;
        make_random_spring(&spring, 0.0);
        struct tact_hand *hand =
            make_base_with_spring(&spring, 1e-3, is_torque_limited ? limit : 0.0);
        struct tact_hand_state s = tact_hand_state(hand);
        double q[3], by_base[3], by_target[3], at_target[3];
        random_attitude(s.q + 3, 1.5);
        random_attitude(s.target + 3,
                        1.5); /* the attitudes of base and target are up to 3 rad apart */
        tact_v3_copy(q, s.q + 3);
        tact_hand_refresh(hand);
        step_hand(hand, 1e-12);
        find_torque_on_target(hand, at_target);
        attitude_spring_gradients(by_base, by_target, spring.k, spring.axes, s.target + 3, q);
        const double most = tact_v3_norm(by_base),
                     share = is_torque_limited && most > limit ? limit / most : 1.0;
        double *off = is_torque_limited ? &worst_limited : &worst;
        for (int i = 0; i < 3; i++) {
            *off = fmax(*off, fabs(s.torque[3 + i] + share * by_base[i]) / (share * 10.0));
            *off = fmax(*off, fabs(at_target[i] - share * by_target[i]) / (share * 10.0));
        }
        tact_hand_destroy(hand);
    }
    print_message("off the gradients by %.1e, at a limit by %.1e\n", worst, worst_limited);
    assert_true(worst < 1e-8 && worst_limited < 1e-8);
}

/* A device that is turned about one of the axes feels the stiffness about that axis, where the
 * error is small; beyond, at most 3 % more where they differ by up to 4 times and the error is 0.2
 * rad.
 */
static void device_feels_the_stiffness_of_its_axis(void **state)
{
    (void)state;
    const double by = 1e-4, angles[2] = {1e-3, 0.2};
    double most[2] = {0.0, 0.0};
    for (int trial = 0; trial < 200; trial++) {
        struct spring spring;
        double error[3], torque[2][3], along[2][3];
        const int is_attitude_error_large = trial % 2, axis = trial % 3;
        make_random_spring(&spring, 0.0);
        random_attitude(error, 1.0);
        tact_v3_scale(error, error, angles[is_attitude_error_large] / tact_v3_norm(error));
        for (int i = 0; i < 3; i++) {
            spring.k[i] = uniform(1.0, 4.0);
        }
        for (int side = 0; side < 2; side++) {
            struct tact_hand *hand = make_base_with_spring(&spring, 1e-3, 0.0);
            double turn[3];
            for (int i = 0; i < 3; i++) {
                turn[i] = (side ? by : -by) * spring.axes[3 * i + axis];
            }
            rotate_attitude(tact_hand_state(hand).target + 3, error, turn);
            step_hand(hand, 1e-12);
            find_torque_on_target(hand, torque[side]);
            tact_m3_tmul_v3(along[side], spring.axes, torque[side]);
            tact_hand_destroy(hand);
        }
        const double felt_stiffness = (along[1][axis] - along[0][axis]) / (2.0 * by);
        most[is_attitude_error_large] =
            fmax(most[is_attitude_error_large], felt_stiffness / spring.k[axis] - 1.0);
    }
    print_message("stiffer than the axis by %.1e, at 0.2 rad by %.1e\n", most[0], most[1]);
    assert_true(most[0] < 1e-5 && most[1] < 0.03);
}

struct loop {
    struct spring spring;
    double reach[3], phase[3], inertia;
};

static void set_target_on_closed_loop(const struct loop *loop, double t, double target[3])
{
    for (int i = 0; i < 3; i++) {
        target[i] = loop->reach[i] * sin(pi * t) * sin(pi * t) * sin(4.0 * pi * t + loop->phase[i]);
    }
}

/* Energy of spring and base after a loop of a second, less the work done on the target, the torque
 * of a tick acting while the target turns to its next attitude. *most: largest energy on the way.
 */
static double energy_gained_in_loop(const struct loop *loop, double h, double *most)
{
    struct tact_hand *hand = make_base_with_spring(&loop->spring, loop->inertia, 0.0);
    struct tact_hand_state s = tact_hand_state(hand);
    double work = 0.0, energy = 0.0;
    *most = 0.0;
    set_target_on_closed_loop(loop, 0.0, s.target + 3);
    const int ticks = (int)lround(1.0 / h);
    for (int tick = 0; tick < ticks; tick++) {
        double last[3], moved[3], torque[3];
        step_hand(hand, h);
        find_torque_on_target(hand, torque);
        tact_v3_copy(last, s.target + 3);
        set_target_on_closed_loop(loop, (tick + 1) * h, s.target + 3);
        rotation_between_attitudes(moved, last, s.target + 3);
        for (int i = 0; i < 3; i++) {
            s.target_rate[3 + i] = (s.target[3 + i] - last[i]) / h;
        }
        work += tact_v3_dot(torque, moved);
        energy = attitude_spring_energy(loop->spring.k, loop->spring.axes, s.target + 3, s.q + 3) +
                 0.5 * loop->inertia * tact_v3_dot(s.v + 3, s.v + 3);
        *most = fmax(*most, energy);
    }
    tact_hand_destroy(hand);
    return energy - work;
}

/* Loops of 0.8 rad generate no energy at h, h/2 and h/4 where the base follows, and without a
 * damper the balance closes at 0. A base that does not turn is a wall: it generates what the
 * sampling does, in proportion to h. */
static void energy_balance_of_target_loop_is_exact(void **state)
{
    (void)state;
    for (int trial = 0; trial < 9; trial++) {
        const int is_base_immobile = trial % 3 == 2, is_spring_damped = trial % 3 == 1;
        struct loop loop = {.inertia = is_base_immobile ? 1e9 : 3e-4};
        double gained_energy[3], most[3];
        make_random_spring(&loop.spring, is_spring_damped ? 2e-3 : 0.0);
        for (int i = 0; i < 3; i++) {
            loop.reach[i] = uniform(0.5, 1.0) * 0.8;
            loop.phase[i] = uniform(-pi, pi);
        }
        for (int i = 0; i < 3; i++) {
            gained_energy[i] = energy_gained_in_loop(&loop, 5e-4 / (1 << i), &most[i]);
        }
        check_energy_balance_of_closed_loop(is_base_immobile, is_spring_damped, gained_energy,
                                            most[2]);
    }
}

/* Three stiffnesses that differ from each other by a relative 1e-10 give the torques of equal ones,
 * on base and target. */
static void nearly_equal_axes_act_as_equal_ones(void **state)
{
    (void)state;
    struct loop loop;
    struct tact_hand *hand[2];
    double off = 0.0, most = 0.0;
    make_random_spring(&loop.spring, 0.0);
    for (int i = 0; i < 3; i++) {
        loop.spring.k[i] = 3.0;
        loop.spring.d[i] = 0.01;
        loop.reach[i] = uniform(0.5, 1.0) * 0.8;
        loop.phase[i] = uniform(-pi, pi);
    }
    hand[0] = make_base_with_spring(&loop.spring, 3e-2, 0.4);
    for (int i = 0; i < 3; i++) {
        loop.spring.k[i] *= 1.0 + 1e-10 * i;
    }
    hand[1] = make_base_with_spring(&loop.spring, 3e-2, 0.4);
    for (int tick = 0; tick < 1000; tick++) {
        double torque[2][3];
        for (int k = 0; k < 2; k++) {
            step_hand(hand[k], 1e-3);
            find_torque_on_target(hand[k], torque[k]);
            set_target_on_closed_loop(&loop, (tick + 1) * 1e-3,
                                      tact_hand_state(hand[k]).target + 3);
        }
        for (int i = 0; i < 3; i++) {
            off = fmax(off, fabs(torque[1][i] - torque[0][i]));
            most = fmax(most, fabs(torque[0][i]));
        }
    }
    print_message("off by %.1e of %.3f N m\n", off, most);
    assert_true(most > 0.2 && off < 1e-8);
    tact_hand_destroy(hand[0]);
    tact_hand_destroy(hand[1]);
}

/* A base comes to rest at a target that jumps far, at stiffnesses that differ by up to 1e6 times,
 * and with a limit by up to 1e3. */
static void base_comes_to_rest_at_a_far_target(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        struct spring spring;
        double left[3];
        make_random_spring(&spring, 0.0);
        for (int i = 0; i < 3; i++) {
            spring.k[i] = pow(10.0, uniform(0.0, trial % 2 ? 3.0 : 6.0));
            spring.d[i] = 0.02 * spring.k[i];
        }
        struct tact_hand *hand = make_base_with_spring(&spring, 1e-5, trial % 2 ? 0.2 : 0.0);
        struct tact_hand_state s = tact_hand_state(hand);
        random_attitude(s.target + 3, 3.1);
        for (int tick = 0; tick < 6000; tick++) {
            step_hand(hand, 1e-3);
        }
        rotation_between_attitudes(left, s.q + 3, s.target + 3);
        if (!(tact_v3_norm(left) < 1e-9)) {
            fail_msg("trial %d: %g rad left", trial, tact_v3_norm(left));
        }
        tact_hand_destroy(hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_spring_torques_are_energy_gradients),
        cmocka_unit_test(device_feels_the_stiffness_of_its_axis),
        cmocka_unit_test(energy_balance_of_target_loop_is_exact),
        cmocka_unit_test(nearly_equal_axes_act_as_equal_ones),
        cmocka_unit_test(base_comes_to_rest_at_a_far_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
