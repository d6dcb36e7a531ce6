/* Hands: inertia against finite differences of energy, a pendulum against its exact period, drives.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/hand.h"

static struct tact_link_def make_rod_link(int parent, double length,
                                          double link_origin_below_parent)
{
    struct tact_link_def def = {.parent = parent,
                                .joint = TACT_JOINT_HINGE,
                                .axis = {1, 0, 0},
                                .origin = {{0, 0, -link_origin_below_parent}, {1, 0, 0, 0}},
                                .mass = 0.03,
                                .center = {0, 0, -length / 2},
                                .inertia = {6.7e-6, 6.7e-6, 9.6e-7, 0, 0, 0}};
    return def;
}

/* Kinetic energy computed link by link from the twists, independently of the mass matrix. */
static double hand_kinetic_energy(struct tact_hand *hand,
                                  const struct tact_link_def *link_definitions)
{
    double sum = 0;
    for (int i = 0; i < tact_hand_count(hand); i++) {
        const struct tact_pose *pose = tact_hand_link_pose(hand, i);
        double c[3], t[6], r[9], w[3];
        tact_pose_point(c, pose, link_definitions[i].center);
        tact_hand_link_twist(hand, i, c, t);
        tact_quat_to_m3(r, pose->quat_wxyz);
        tact_m3_tmul_v3(w, r, t + 3);
        const double *in = link_definitions[i].inertia;
        sum += 0.5 * link_definitions[i].mass * tact_v3_dot(t, t) +
               0.5 * (in[0] * w[0] * w[0] + in[1] * w[1] * w[1] + in[2] * w[2] * w[2]);
    }
    return sum;
}

static double potential_energy(struct tact_hand *hand, const struct tact_link_def *link_definitions)
{
    double sum = 0;
    for (int i = 0; i < tact_hand_count(hand); i++) {
        double c[3];
        tact_pose_point(c, tact_hand_link_pose(hand, i), link_definitions[i].center);
        sum += 9.81 * link_definitions[i].mass * c[2];
    }
    return sum;
}

static const double gravity[3] = {0, 0, -9.81};

/* The velocity of a hand's tip is the Jacobian times the joint rates, and equals a finite
 * difference of positions. */
static void hand_jacobian_is_the_derivative_of_position(void **state)
{
    (void)state;
    struct tact_link_def link_definitions[3] = {
        make_rod_link(-1, 0.05, 0), make_rod_link(0, 0.05, 0.05), make_rod_link(1, 0.04, 0.05)};
    link_definitions[1].axis[0] = 0;
    link_definitions[1].axis[1] = 1;
    link_definitions[2].joint = TACT_JOINT_SLIDE;
    struct tact_pose base = {{0.1, 0.2, 0.3}, {0.9, 0.1, -0.3, 0.2}};
    struct tact_hand *hand;
    assert_int_equal(tact_hand_create(link_definitions, 3, &base, &hand), 0);
    struct tact_hand_state s = tact_hand_state(hand);
    const double q[3] = {0.3, -0.7, 0.01}, v[3] = {1.1, -0.6, 0.2}, tip[3] = {0.01, 0.02, -0.04};
    double p0[3], p1[3], jac[18], dt = 1e-7, speed[3] = {0};
    memcpy(s.q, q, sizeof q);
    tact_hand_refresh(hand);
    tact_pose_point(p0, tact_hand_link_pose(hand, 2), tip);
    tact_hand_jacobian(hand, 2, p0, jac);
    for (int j = 0; j < 3; j++) {
        tact_v3_axpy(speed, v[j], jac + 6 * j);
        s.q[j] += dt * v[j];
    }
    tact_hand_refresh(hand);
    tact_pose_point(p1, tact_hand_link_pose(hand, 2), tip);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs((p1[i] - p0[i]) / dt - speed[i]) < 1e-6);
    }
    tact_hand_destroy(hand);
}

/* Three links swinging freely keep their energy to first order in the step: halving it halves the
 * error. This holds only where inertia, Coriolis and gravity terms agree with one another. */
/* At constant joint rates the twist of a point fixed to a link changes at the rate Jdot v:
 * compared with a difference of twists. */
static void hand_jacobian_rate_is_the_derivative_of_the_twist(void **state)
{
    (void)state;
    struct tact_link_def link_definitions[4] = {
        make_rod_link(-1, 0.05, 0), make_rod_link(0, 0.05, 0.05), make_rod_link(1, 0.04, 0.05),
        make_rod_link(2, 0.03, 0.04)};
    const double q[4] = {0.3, -0.7, 0.01, 0.5}, v[4] = {3.0, -5.0, 0.2, 4.0}, e = 1e-6;
    const double tip[3] = {0.01, -0.004, -0.03};
    const struct tact_pose base = {{0.1, 0.2, 0.3}, {0.9, 0.1, -0.3, 0.2}};
    struct tact_hand *hand;
    link_definitions[1].axis[0] = 0;
    link_definitions[1].axis[1] = 1;
    link_definitions[2].joint = TACT_JOINT_SLIDE;
    assert_int_equal(tact_hand_create(link_definitions, 4, &base, &hand), 0);
    struct tact_hand_state s = tact_hand_state(hand);
    for (int link = 0; link < 4; link++) {
        double twist[2][6], point[3], rate[6];
        for (int k = 0; k < 3; k++) { /* state before, after, and at the time of the difference */
            for (int i = 0; i < 4; i++) {
                s.q[i] = q[i] + (k == 0 ? -e : k == 1 ? e : 0.0) * v[i];
                s.v[i] = v[i];
            }
            tact_hand_refresh(hand);
            tact_pose_point(point, tact_hand_link_pose(hand, link), tip);
            if (k < 2) {
                tact_hand_link_twist(hand, link, point, twist[k]);
            } else {
                tact_hand_link_rate(hand, link, point, rate);
            }
        }
        for (int i = 0; i < 6; i++) {
            assert_true(fabs(rate[i] - (twist[1][i] - twist[0][i]) / (2.0 * e)) < 1e-6);
        }
        assert_true(tact_v3_norm(rate) > 0.1);
    }
    tact_hand_destroy(hand);
}

static void freely_swinging_hand_conserves_energy(void **state)
{
    (void)state;
    double error[2];
    for (int run = 0; run < 2; run++) {
        struct tact_link_def link_definitions[3] = {
            make_rod_link(-1, 0.05, 0), make_rod_link(0, 0.05, 0.05), make_rod_link(1, 0.05, 0.05)};
        link_definitions[1].axis[0] = 0.6;
        link_definitions[1].axis[1] = 0.8;
        for (int i = 0; i < 3; i++) {
            link_definitions[i].start = 0.7 - 0.9 * i;
        }
        struct tact_pose base = tact_pose_identity();
        struct tact_hand *hand;
        assert_int_equal(tact_hand_create(link_definitions, 3, &base, &hand), 0);
        double h = run ? 2.5e-6 : 5e-6;
        double e0 = hand_kinetic_energy(hand, link_definitions) +
                    potential_energy(hand, link_definitions),
               worst = 0;
        for (int k = 0; k * h < 0.5; k++) {
            assert_int_equal(tact_hand_free_velocity(hand, h, gravity, NULL), 0);
            tact_hand_integrate(hand, h);
            worst = fmax(worst, fabs(hand_kinetic_energy(hand, link_definitions) +
                                     potential_energy(hand, link_definitions) - e0));
        }
        error[run] = worst;
        tact_hand_destroy(hand);
    }
    print_message("energy error %.2e J at 5 us, %.2e J at 2.5 us\n", error[0], error[1]);
    assert_true(error[0] < 1e-4);
    assert_true(error[1] < 0.6 * error[0]);
}

/* Derivative of the state of a double pendulum of two rods of make_rod_link(), by Lagrange's
 * equations. y: angles from the vertical, then their rates; rate: dy/dt. */
static void double_pendulum_derivative(const double y[4], double rate[4])
{
    const double m = 0.03, l = 0.05, own = 6.7e-6 + m * l * l / 4, g = 9.81;
    const double inertia_shared_by_both_rods = 0.5 * m * l * l,
                 c = inertia_shared_by_both_rods * cos(y[0] - y[1]),
                 s = inertia_shared_by_both_rods * sin(y[0] - y[1]);
    const double m00 = own + m * l * l, right[2] = {-s * y[3] * y[3] - 1.5 * m * g * l * sin(y[0]),
                                                    s * y[2] * y[2] - 0.5 * m * g * l * sin(y[1])};
    const double det = m00 * own - c * c;
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (own * right[0] - c * right[1]) / det;
    rate[3] = (m00 * right[1] - c * right[0]) / det;
}

/* Integrates the double pendulum's motion for a time, by Runge and Kutta's method. */
static void integrate_double_pendulum(double y[4], double time)
{
    enum { STEPS = 4000 };
    const double h = time / STEPS;
    for (int n = 0; n < STEPS; n++) {
        static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
        double k[4] = {0.0}, sum[4] = {0.0}, x[4];
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                x[j] = y[j] + at[i] * h * k[j];
            }
            double next[4];
            double_pendulum_derivative(x, next);
            memcpy(k, next, sizeof k);
            for (int j = 0; j < 4; j++) {
                sum[j] += weight[i] * k[j];
            }
        }
        for (int j = 0; j < 4; j++) {
            y[j] += h / 6.0 * sum[j];
        }
    }
}

/* Coriolis torques are those of the time between two ticks: the motion is of the second order. The
 * rates of a tick belong to half a tick before its end, and so do those at the start. */
static void double_pendulum_motion_is_of_second_order(void **state)
{
    (void)state;
    double off[3];
    for (int k = 0; k < 3; k++) {
        const double h = 2e-3 / (1 << k), time = 0.6;
        struct tact_link_def link_definitions[2] = {make_rod_link(-1, 0.05, 0),
                                                    make_rod_link(0, 0.05, 0.05)};
        double y[4] = {1.2, -0.5, 0.0, 0.0}, rate[4];
        struct tact_pose base = tact_pose_identity();
        struct tact_hand *hand;
        link_definitions[0].start = y[0];
        link_definitions[1].start = y[1] - y[0];
        assert_int_equal(tact_hand_create(link_definitions, 2, &base, &hand), 0);
        struct tact_hand_state s = tact_hand_state(hand);
        double_pendulum_derivative(y, rate);
        s.v[0] = -0.5 * h * rate[2];
        s.v[1] = -0.5 * h * (rate[3] - rate[2]);
        tact_hand_refresh(hand);
        for (int i = 0; i < lround(time / h); i++) {
            assert_int_equal(tact_hand_free_velocity(hand, h, gravity, NULL), 0);
            tact_hand_integrate(hand, h);
        }
        integrate_double_pendulum(y, time);
        off[k] = fmax(fabs(s.q[0] - y[0]), fabs(s.q[0] + s.q[1] - y[1]));
        tact_hand_destroy(hand);
    }
    print_message("off by %.2e, %.2e, %.2e rad after 0.6 s at 2, 1, 0.5 ms\n", off[0], off[1],
                  off[2]);
    assert_true(off[0] < 2e-2 && off[1] < 0.27 * off[0] && off[2] < 0.27 * off[1]);
}

/* Small swings of a physical pendulum have the period 2 pi sqrt(I / (m g l)). */
static void a_pendulum_has_its_exact_period(void **state)
{
    (void)state;
    struct tact_link_def def = make_rod_link(-1, 0.05, 0);
    def.start = 1e-3;
    struct tact_pose base = tact_pose_identity();
    struct tact_hand *hand;
    assert_int_equal(tact_hand_create(&def, 1, &base, &hand), 0);
    struct tact_hand_state s = tact_hand_state(hand);
    double inertia = def.inertia[0] + def.mass * 0.025 * 0.025, h = 1e-4, cross = 0;
    double period = 2 * M_PI * sqrt(inertia / (def.mass * 9.81 * 0.025));
    int crossings = 0;
    for (int k = 0; crossings < 20; k++) {
        double before = s.q[0];
        assert_int_equal(tact_hand_free_velocity(hand, h, gravity, NULL), 0);
        tact_hand_integrate(hand, h);
        if (before > 0 && s.q[0] <= 0) {
            crossings++;
            cross = (k + before / (before - s.q[0])) * h;
        }
    }
    double measured = cross / (19 + 0.25);
    print_message("period %.6f s, exact %.6f s\n", measured, period);
    assert_true(fabs(measured / period - 1) < 1e-4);
    tact_hand_destroy(hand);
}

/* With a drive gain a million times the useful one the joint reaches its target and stays there. */
static void joint_drive_is_stable_at_any_gain(void **state)
{
    (void)state;
    struct tact_link_def link_definitions[2] = {make_rod_link(-1, 0.05, 0),
                                                make_rod_link(0, 0.05, 0.05)};
    link_definitions[0].stiffness = 2e6;
    link_definitions[0].damping = 2e4;
    link_definitions[1].stiffness = 1e6;
    link_definitions[1].damping = 0;
    struct tact_pose base = tact_pose_identity();
    struct tact_hand *hand;
    assert_int_equal(tact_hand_create(link_definitions, 2, &base, &hand), 0);
    struct tact_hand_state s = tact_hand_state(hand);
    s.target[0] = 0.5;
    s.target[1] = -0.8;
    double joint_speed_of_last_ticks = 0;
    for (int k = 0; k < 5000; k++) {
        assert_int_equal(tact_hand_free_velocity(hand, 1e-3, gravity, NULL), 0);
        tact_hand_integrate(hand, 1e-3);
        assert_true(isfinite(s.q[0] + s.q[1] + s.v[0] + s.v[1]));
        joint_speed_of_last_ticks =
            k > 4000 ? fmax(joint_speed_of_last_ticks, fabs(s.v[0]) + fabs(s.v[1])) : 0;
    }
    print_message("rates after 4 s: %.1e rad/s; angles %.9f %.9f\n", joint_speed_of_last_ticks,
                  s.q[0], s.q[1]);
    assert_true(joint_speed_of_last_ticks < 1e-9);
    assert_true(fabs(s.q[0] - 0.5) < 1e-6 && fabs(s.q[1] + 0.8) < 1e-6);
    tact_hand_destroy(hand);
}

/* A saturated drive exerts exactly its torque limit. */
static void saturated_joint_drive_pushes_with_its_limit(void **state)
{
    (void)state;
    struct tact_link_def def = make_rod_link(-1, 0.05, 0);
    const double none[3] = {0, 0, 0};
    def.stiffness = 100;
    def.limit = 1e-3;
    struct tact_pose base = tact_pose_identity();
    struct tact_hand *hand;
    assert_int_equal(tact_hand_create(&def, 1, &base, &hand), 0);
    struct tact_hand_state s = tact_hand_state(hand);
    s.target[0] = 3.0;
    double inertia = def.inertia[0] + def.mass * 0.025 * 0.025;
    assert_int_equal(tact_hand_free_velocity(hand, 1e-3, none, NULL), 0);
    tact_hand_integrate(hand, 1e-3);
    assert_true(fabs(s.v[0] / (1e-3 * 1e-3 / inertia) - 1) < 1e-12);
    assert_true(s.torque[0] == 1e-3);
    tact_hand_destroy(hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_jacobian_is_the_derivative_of_position),
        cmocka_unit_test(hand_jacobian_rate_is_the_derivative_of_the_twist),
        cmocka_unit_test(freely_swinging_hand_conserves_energy),
        cmocka_unit_test(double_pendulum_motion_is_of_second_order),
        cmocka_unit_test(a_pendulum_has_its_exact_period),
        cmocka_unit_test(joint_drive_is_stable_at_any_gain),
        cmocka_unit_test(saturated_joint_drive_pushes_with_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
