/*
 * A base that a spring and a damper of six coordinates tie to its target: its wrench is the
 * gradient of an energy, a spring at another point deflects as that point does, a loop of the
 * target generates no energy but what a sampled spring must, and a force at its limit leaves the
 * torque of the spring that deflects along it.
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
#include "support/loop_balance.h"
#include "support/random.h"
#include "support/spring_matrix.h"
#include "support/turn_energy.h"

enum { BASE = TACT_HAND_BASE };

static const double pi = 3.14159265358979323846;
static const double none[3] = {0.0, 0.0, 0.0}, zeros[36] = {0.0};
static const struct tact_pose start = {{0.1, 0.2, 0.3}, {1.0, 0.0, 0.0, 0.0}};

static const double mass = 0.05, inertia = 1e-5; /* [kg], [kg m^2] */

static struct tact_hand *make_heavy_base(double mass, double inertia, const double center[3],
                                         double force_limit, double torque_limit)
{
    const struct tact_link_def def = {.mass = mass,
                                      .center = {center[0], center[1], center[2]},
                                      .inertia = {inertia, inertia, inertia, 0, 0, 0}};
    const struct tact_base_drive force = {1.0, 0.0, force_limit}, torque = {1.0, 0.0, torque_limit};
    struct tact_link_def links[BASE];
    struct tact_hand *hand;
    tact_hand_base_links(&def, &force, &torque, links);
    assert_int_equal(tact_hand_create(links, BASE, &start, &hand), 0);
    return hand;
}

static struct tact_hand *make_base_with_limits(const double center[3], double force_limit,
                                               double torque_limit)
{
    return make_heavy_base(mass, inertia, center, force_limit, torque_limit);
}

static void step_hand(struct tact_hand *hand, double h, const double gravity[3])
{
    assert_int_equal(tact_hand_free_velocity(hand, h, gravity, NULL), 0);
    tact_hand_integrate(hand, h);
}

/* Displacement in the axes of the frame, which turn with the target. */
static void displacement_in_frame_axes(double out[6], const double quat[4], const double target[6],
                                       const double world[6])
{
    double turn[4], all[4], axes[9];
    tact_quat_from_rotvec(turn, target + 3);
    tact_quat_mul(all, turn, quat);
    tact_quat_to_m3(axes, all);
    tact_m3_tmul_v3(out, axes, world);
    tact_m3_tmul_v3(out + 3, axes, world + 3);
}

/* e^T K e / 2 of a base at q; the terms of position and attitude fade out beyond a quarter turn. */
static double spring_energy(const double k[36], const double quat[4], const double target[6],
                            const double q[6])
{
    double error[6], e[6];
    tact_v3_sub(error, target, q);
    rotation_between_attitudes(error + 3, q + 3, target + 3);
    displacement_in_frame_axes(e, quat, target, error);
    const double angle = tact_v3_norm(e + 3), share = angle < 0.5 * pi ? 1.0 : pow(sin(angle), 2.0);
    double cross = 0.0;
    for (int i = 0; i < 9; i++) {
        cross += e[i / 3] * k[i / 3 * 6 + 3 + i % 3] * e[3 + i % 3];
    }
    return 0.5 * quadratic_form(k, e) - (1.0 - share) * cross;
}

/* Adds a rotation and a displacement, world axes, to the coordinates of a base. */
static void displace_base(double out[6], const double q[6], int axis, double by)
{
    double way[3] = {0.0};
    memcpy(out, q, 6 * sizeof *out);
    if (axis < 3) {
        out[axis] += by;
        return;
    }
    way[axis - 3] = by;
    rotate_attitude(out + 3, q + 3, way);
}

static void random_base_joint_values(double q[6], double reach, double angle)
{
    for (int i = 0; i < 6; i++) {
        q[i] = uniform(-1.0, 1.0) * (i < 3 ? reach : angle / sqrt(3.0));
    }
}

/* The wrench on the base is minus the gradient of the energy by its place, and the reaction at the
 * target, whose torque balances both forces, that by the target's. */
static void base_spring_wrench_is_energy_gradient(void **state)
{
    (void)state;
    double worst = 0.0;
    for (int trial = 0; trial < 50; trial++) {
        struct tact_hand *hand = make_base_with_limits(none, 0.0, 0.0);
        struct tact_hand_state s = tact_hand_state(hand);
        double quat[4], k[36], arm[3], moment[3];
        random_unit_quaternion(quat);
        random_spring_matrix(k, 1000.0, 0.05);
        assert_int_equal(tact_hand_set_base_matrices(hand, quat, k, zeros), 0);
        random_base_joint_values(s.q, 0.1, 1.5);
        random_base_joint_values(s.target, 0.1, 1.5); /* base and target are up to 3 rad apart */
        double q[6], target[6];
        memcpy(q, s.q, sizeof q);
        memcpy(target, s.target, sizeof target);
        tact_hand_refresh(hand);
        step_hand(hand, 1e-12, none);
        tact_v3_sub(arm, target, q);
        tact_v3_cross(moment, arm, s.torque);
        for (int i = 0; i < 6; i++) {
            const double by = 1e-5;
            double base_displaced_backwards[6], base_displaced_forwards[6];
            displace_base(base_displaced_backwards, q, i, -by);
            displace_base(base_displaced_forwards, q, i, by);
            const double wanted = -(spring_energy(k, quat, target, base_displaced_forwards) -
                                    spring_energy(k, quat, target, base_displaced_backwards)) /
                                  (2.0 * by);
            displace_base(base_displaced_backwards, target, i, -by);
            displace_base(base_displaced_forwards, target, i, by);
            const double reaction = (spring_energy(k, quat, base_displaced_forwards, q) -
                                     spring_energy(k, quat, base_displaced_backwards, q)) /
                                    (2.0 * by);
            const double torque_at_target = s.torque[i] - (i < 3 ? 0.0 : moment[i - 3]);
            const double unit = i < 3 ? 300.0 : 15.0;
            worst = fmax(worst, fabs(s.torque[i] - wanted) / unit);
            worst = fmax(worst, fabs(torque_at_target - reaction) / unit);
        }
        tact_hand_destroy(hand);
    }
    print_message("off the gradient by %.1e\n", worst);
    assert_true(worst < 1e-8);
}

/* Springs along the axes of a point away from the base: a load deflects that point by force over
 * stiffness along each axis, and turns the base by its moment about that point over the others. */
static void spring_at_a_point_deflects_there(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        double quat[4], axes[9], k[36], d[36], spring[6], damper[6], point[3], center[3];
        double gravity[3];
        for (int i = 0; i < 3; i++) {
            spring[i] = pow(10.0, uniform(3.0, 4.0));
            spring[3 + i] = pow(10.0, uniform(0.5, 1.5));
            point[i] = uniform(-0.1, 0.1);
            center[i] = uniform(-0.02, 0.02);
            gravity[i] = uniform(-0.1, 0.1);
        }
        for (int i = 0; i < 6; i++) {
            damper[i] = 2e-3 * spring[i];
        }
        random_unit_quaternion(quat);
        tact_quat_to_m3(axes, quat);
        spring_matrix_at_point(k, spring, point);
        spring_matrix_at_point(d, damper, point);
        struct tact_hand *hand = make_base_with_limits(center, 0.0, 0.0);
        struct tact_hand_state s = tact_hand_state(hand);
        assert_int_equal(tact_hand_set_base_matrices(hand, quat, k, d), 0);
        for (int tick = 0; tick < 3000; tick++) {
            step_hand(hand, 1e-3, gravity);
        }
        double force[3], arm[3], moment[3], moved[6], at_point[3], turned[3], off = 0.0;
        tact_m3_tmul_v3(force, axes, gravity);
        tact_v3_scale(force, force, mass);
        tact_m3_tmul_v3(arm, axes, center);
        tact_v3_sub(arm, arm, point);
        tact_v3_cross(moment, arm, force);
        tact_m3_tmul_v3(moved, axes, s.q);
        tact_m3_tmul_v3(moved + 3, axes, s.q + 3);
        tact_v3_cross(turned, moved + 3, point);
        tact_v3_add(at_point, moved, turned);
        for (int i = 0; i < 3; i++) {
            off = fmax(off, fabs(at_point[i] - force[i] / spring[i]) / 5e-6);
            off = fmax(off, fabs(moved[3 + i] - moment[i] / spring[3 + i]) / 5e-5);
        }
        if (!(off < 1e-3)) {
            fail_msg("trial %d: off by %g", trial, off);
        }
        tact_hand_destroy(hand);
    }
}

struct loop {
    double reach[6], phase[6];
    double quat[4], k[36], d[36];
    double mass, inertia; /* mass [kg] and moment of inertia [kg m^2] of the base */
};

/* A closed path of a second of the target, from rest to rest. */
static void set_target_on_closed_loop(const struct loop *loop, double t, double target[6])
{
    const double share = sin(pi * t) * sin(pi * t);
    for (int i = 0; i < 6; i++) {
        target[i] = loop->reach[i] * share * sin(4.0 * pi * t + loop->phase[i]);
    }
}

/* Energy of spring and base after the loop, less the work done on the target, the force of
 * a tick acting while the target moves to its next place. *most: largest energy on the way. */
static double energy_gained_in_loop(const struct loop *loop, double h, double *most)
{
    struct tact_hand *hand = make_heavy_base(loop->mass, loop->inertia, none, 0.0, 0.0);
    struct tact_hand_state s = tact_hand_state(hand);
    double work = 0.0, energy = 0.0, last[6];
    assert_int_equal(tact_hand_set_base_matrices(hand, loop->quat, loop->k, loop->d), 0);
    *most = 0.0;
    set_target_on_closed_loop(loop, 0.0, s.target);
    const int ticks = (int)lround(1.0 / h);
    for (int tick = 0; tick < ticks; tick++) {
        double moved[6], arm[3], moment[3];
        step_hand(hand, h, none);
        memcpy(last, s.target, sizeof last);
        tact_v3_sub(arm, last, s.q);
        tact_v3_cross(moment, arm, s.torque);
        set_target_on_closed_loop(loop, (tick + 1) * h, s.target);
        tact_v3_sub(moved, s.target, last);
        rotation_between_attitudes(moved + 3, last + 3, s.target + 3);
        for (int i = 0; i < 6; i++) {
            s.target_rate[i] = (s.target[i] - last[i]) / h;
            work += (s.torque[i] - (i < 3 ? 0.0 : moment[i - 3])) * moved[i];
        }
        energy = spring_energy(loop->k, loop->quat, s.target, s.q) +
                 0.5 * loop->mass * tact_v3_dot(s.v, s.v) +
                 0.5 * loop->inertia * tact_v3_dot(s.v + 3, s.v + 3);
        *most = fmax(*most, energy);
    }
    tact_hand_destroy(hand);
    return energy - work;
}

static void make_random_loop(struct loop *loop, double damping)
{
    for (int i = 0; i < 6; i++) {
        loop->reach[i] = uniform(0.5, 1.0) * (i < 3 ? 0.1 : 0.8);
        loop->phase[i] = uniform(-pi, pi);
    }
    random_unit_quaternion(loop->quat);
    random_spring_matrix(loop->k, 1000.0, 0.05);
    random_spring_matrix(loop->d, damping, 0.05);
}

/* No loop of the target, followed by the base, generates energy at h, h/2 and h/4. A base that does
 * not move is a wall, which generates what the sampling does, in proportion to h (Colgate: K h / 2
 * times the square of the speed). Without a damper the balance closes at 0 in both: the spring has
 * an energy. */
static void loop_against_a_matrix_coupling_generates_no_energy(void **state)
{
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        const int is_base_immobile = trial % 3 == 2, is_spring_damped = trial % 3 == 1;
        struct loop loop = {.mass = is_base_immobile ? 1e9 : mass,
                            .inertia = is_base_immobile ? 1e9 : 3e-4};
        double gained_energy[3], most[3];
        make_random_loop(&loop, is_spring_damped ? 1.0 : 0.0);
        for (int i = 0; i < 3; i++) {
            gained_energy[i] = energy_gained_in_loop(&loop, 5e-4 / (1 << i), &most[i]);
        }
        check_energy_balance_of_closed_loop(is_base_immobile, is_spring_damped, gained_energy,
                                            most[2]);
    }
}

/* Where the force is at its limit, the spring deflects so far that it has that force: its torque is
 * that of the least energy at the error of the attitude, e^T K e / 2 - f x over all positions x. */
static void torque_beside_a_limited_force_is_that_of_the_least_energy(void **state)
{
    (void)state;
    for (int trial = 0; trial < 40; trial++) {
        struct tact_hand *hand = make_base_with_limits(none, 5.0, 0.0);
        struct tact_hand_state s = tact_hand_state(hand);
        const double quat[4] = {1.0, 0.0, 0.0, 0.0};
        double k[36], torque[3], deflection[6];
        random_spring_matrix(k, 1000.0, 0.05);
        assert_int_equal(tact_hand_set_base_matrices(hand, quat, k, zeros), 0);
        random_base_joint_values(s.target, 0.1, 0.0);
        step_hand(hand, 1e-12, none); /* an error of the position alone */
        const double length = tact_v3_norm(s.torque);
        assert_true(length < 5.0 + 1e-12);
        displacement_under_force(k, s.torque, deflection);
        tact_v3_copy(torque, s.torque + 3);
        for (int i = 0; i < 3; i++) {
            double wanted = 0.0;
            for (int j = 0; j < 3; j++) {
                wanted += k[6 * (3 + i) + j] * deflection[j];
            }
            if (!(fabs(torque[i] - wanted) < 1e-9 * (1.0 + fabs(wanted)))) {
                fail_msg("trial %d: %.12g, not %.12g N m", trial, torque[i], wanted);
            }
        }
        tact_hand_destroy(hand);
    }
}

/* A base comes to rest at a target that jumps far, at any stiffness, with limits and without; a
 * force limit is never exceeded. */
static void base_comes_to_rest_at_a_far_target(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        const int has_force_and_torque_limits = trial % 2;
        struct tact_hand *hand =
            make_base_with_limits(none, has_force_and_torque_limits ? 5.0 : 0.0,
                                  trial % 3 && has_force_and_torque_limits ? 0.2 : 0.0);
        struct tact_hand_state s = tact_hand_state(hand);
        double quat[4], k[36], d[36], left[3];
        random_unit_quaternion(quat);
        random_spring_matrix(k, pow(10.0, uniform(3.0, 9.0)), 0.05);
        for (int i = 0; i < 36; i++) {
            d[i] = 0.02 * k[i];
        }
        assert_int_equal(tact_hand_set_base_matrices(hand, quat, k, d), 0);
        random_base_joint_values(s.target, 0.1, 3.1);
        for (int tick = 0; tick < 6000; tick++) {
            step_hand(hand, 1e-3, none);
            assert_true(!has_force_and_torque_limits || tact_v3_norm(s.torque) < 5.0 + 1e-9);
        }
        rotation_between_attitudes(left, s.q + 3, s.target + 3);
        const double turned = tact_v3_norm(left);
        tact_v3_sub(left, s.target, s.q);
        if (!(turned < 1e-9 && tact_v3_norm(left) < 1e-10)) {
            fail_msg("trial %d: %g m and %g rad left", trial, tact_v3_norm(left), turned);
        }
        tact_hand_destroy(hand);
    }
}

/* With matrices of two drives that are alike along all axes, a base moves as with these drives, but
 * for the implicit gain of rotations across the error, of which it has the exact one. */
static void matrices_of_two_drives_move_a_base_as_the_drives(void **state)
{
    (void)state;
    const double quat[4] = {0.5, 0.5, -0.5, 0.5};
    double k[36] = {0.0}, d[36] = {0.0}, off = 0.0;
    const struct tact_link_def def = {.mass = mass, .inertia = {1e-5, 2e-5, 3e-5, 0, 0, 0}};
    const struct tact_base_drive force = {800.0, 4.0, 3.0}, torque = {2.0, 0.01, 0.5};
    struct tact_link_def links[BASE];
    struct tact_hand *hands[2];
    struct tact_hand_state s[2];
    for (int i = 0; i < 6; i++) {
        k[7 * i] = i < 3 ? force.stiffness : torque.stiffness;
        d[7 * i] = i < 3 ? force.damping : torque.damping;
    }
    tact_hand_base_links(&def, &force, &torque, links);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tact_hand_create(links, BASE, &start, &hands[i]), 0);
        s[i] = tact_hand_state(hands[i]);
    }
    assert_int_equal(tact_hand_set_base_matrices(hands[1], quat, k, d), 0);
    for (int tick = 0; tick < 1000; tick++) {
        for (int i = 0; i < 2; i++) {
            s[i].target[0] = 0.02 * sin(0.01 * tick);
            s[i].target[4] = 0.9 * sin(0.02 * tick);
            s[i].target[5] = 0.4 * sin(0.03 * tick);
            step_hand(hands[i], 1e-3, none);
        }
        for (int i = 0; i < 6; i++) {
            off = fmax(off, fabs(s[0].q[i] - s[1].q[i]));
        }
    }
    print_message("off by %.1e\n", off);
    assert_true(off < 5e-6);
    tact_hand_destroy(hands[0]);
    tact_hand_destroy(hands[1]);
}

static void bad_base_coupling_matrices_are_refused(void **state)
{
    (void)state;
    const double quat[4] = {1.0, 0.0, 0.0, 0.0};
    struct tact_hand *hand = make_base_with_limits(none, 0.0, 0.0);
    double k[36], bad[36];
    random_spring_matrix(k, 1000.0, 0.05);
    assert_int_equal(tact_hand_set_base_matrices(hand, quat, zeros, zeros), 0);
    assert_int_equal(tact_hand_set_base_matrices(hand, quat, k, k), 0);
    const struct {
        int at;
        double by;
    } changes[] = {{0, -1e9}, {1, 1.0}, {30, 0.01}, {35, NAN}, {14, INFINITY}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        memcpy(bad, k, sizeof bad);
        bad[changes[i].at] += changes[i].by;
        assert_int_equal(tact_hand_set_base_matrices(hand, quat, bad, k), -EINVAL);
        assert_int_equal(tact_hand_set_base_matrices(hand, quat, k, bad), -EINVAL);
    }
    memcpy(bad, k, sizeof bad);
    bad[5] = bad[30] = 1.01 * sqrt(k[0] * k[35]); /* symmetric, with an energy below 0 */
    assert_int_equal(tact_hand_set_base_matrices(hand, quat, bad, k), -EINVAL);
    tact_hand_destroy(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_spring_wrench_is_energy_gradient),
        cmocka_unit_test(spring_at_a_point_deflects_there),
        cmocka_unit_test(loop_against_a_matrix_coupling_generates_no_energy),
        cmocka_unit_test(torque_beside_a_limited_force_is_that_of_the_least_energy),
        cmocka_unit_test(base_comes_to_rest_at_a_far_target),
        cmocka_unit_test(matrices_of_two_drives_move_a_base_as_the_drives),
        cmocka_unit_test(bad_base_coupling_matrices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
