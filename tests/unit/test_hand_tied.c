/*
 * Joints that follow others (mimic joints) and drives on tendons: compared with the equation of
 * their common coordinate, with LAPACK on the reduced matrix of random trees; the joint laws hold
 * at the end of every tick.
 */
#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/hand_internal.h"
#include "support/random.h"
#include "support/world_scene.h"

enum { JOINTS = 20, TREES = 120 };

static struct tact_link_def make_child_link(int parent, enum tact_joint_kind joint)
{
    return (struct tact_link_def){.parent = parent,
                                  .joint = joint,
                                  .axis = {joint == TACT_JOINT_SLIDE, joint == TACT_JOINT_HINGE, 0},
                                  .origin = tact_pose_identity(),
                                  .mass = 0.1,
                                  .center = {0, 0, 0.02},
                                  .inertia = {3e-5, 3e-5, 1e-5, 0, 0, 0}};
}

/* A planar chain of two rods, the second turned by multiplier times the first plus an offset. */
struct tied_rods {
    double multiplier, offset;
    struct tact_link_def link_definitions[2];
};

static struct tied_rods make_tied_rods(double multiplier, double offset)
{
    struct tied_rods r = {
        multiplier,
        offset,
        {make_child_link(-1, TACT_JOINT_HINGE), make_child_link(0, TACT_JOINT_HINGE)}};
    r.link_definitions[0].center[2] = -0.03;
    r.link_definitions[1].center[2] = -0.025;
    r.link_definitions[1].origin.position[2] = -0.06;
    r.link_definitions[1].mass = 0.06;
    r.link_definitions[1].mimic = 1;
    r.link_definitions[1].multiplier = multiplier;
    r.link_definitions[1].offset = r.link_definitions[1].start = offset;
    return r;
}

/* Angular acceleration of the first of two tied rods, by Lagrange's equation of its angle. */
static double tied_rods_acceleration(const struct tied_rods *r, double q, double v)
{
    const double m1 = r->link_definitions[0].mass, m2 = r->link_definitions[1].mass, a = 0.06,
                 c1 = 0.03, c2 = 0.025;
    const double turn = 1.0 + r->multiplier, bend = r->multiplier * q + r->offset;
    const double i1 = r->link_definitions[0].inertia[1] + m1 * c1 * c1,
                 i2 = r->link_definitions[1].inertia[1] + m2 * c2 * c2;
    const double inertia =
        i1 + m2 * a * a + i2 * turn * turn + 2.0 * m2 * a * c2 * turn * cos(bend);
    const double slope = -2.0 * m2 * a * c2 * turn * r->multiplier * sin(bend);
    const double weight = 9.81 * (m1 * c1 * sin(q) + m2 * (a * sin(q) + c2 * turn * sin(q + bend)));
    return -(0.5 * slope * v * v + weight) / inertia;
}

/* Integrates the motion of the tied rods by Runge and Kutta's method of order 4, with steps of 0.1
 * ms. */
static void integrate_tied_rods(const struct tied_rods *r, double seconds, double *q, double *v)
{
    const double s = 1e-4;
    for (int k = 0; k < (int)lround(seconds / s); k++) {
        const double v1 = *v, a1 = tied_rods_acceleration(r, *q, v1);
        const double v2 = *v + 0.5 * s * a1, a2 = tied_rods_acceleration(r, *q + 0.5 * s * v1, v2);
        const double v3 = *v + 0.5 * s * a2, a3 = tied_rods_acceleration(r, *q + 0.5 * s * v2, v3);
        const double v4 = *v + s * a3, a4 = tied_rods_acceleration(r, *q + s * v3, v4);
        *q += s / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
        *v += s / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
}

static struct tact_hand *open_hand_scene(struct world_scene *s, double h, const double *gravity,
                                         const struct tact_link_def *link_definitions, int count)
{
    struct tact_world_options options = tact_world_options_default();
    const struct tact_pose base = tact_pose_identity();
    struct tact_hand *hand;
    options.period = h;
    memcpy(options.gravity, gravity, sizeof options.gravity);
    open_empty_scene(s, &options);
    assert_int_equal(tact_hand_create(link_definitions, count, &base, &hand), 0);
    assert_int_equal(tact_world_add_hand(s->world, hand, 0), 0);
    finish_scene_building(s);
    return hand;
}

static const double weight[3] = {0, 0, -9.81}, no_weight[3] = {0, 0, 0};

/* A tick applies the acceleration at the mean of the rates before and after it, to second order in
 * h; so does a swing of half a second that starts with the rate of half a tick before. */
static void tied_rods_swing_as_one_coordinate(void **state)
{
    (void)state;
    double worst[3] = {0.0};
    for (int run = 0; run < 6; run++) {
        const struct tied_rods r = make_tied_rods(run % 3 - 1.4, 0.3 * (run / 3));
        double error[3];
        for (int k = 0; k < 3; k++) {
            const double h = 5e-4 * (1 << k), q0 = 0.8, v0 = 3.0;
            double q = q0, v = v0;
            struct world_scene s;
            struct tact_hand *hand = open_hand_scene(&s, h, weight, r.link_definitions, 2);
            const struct tact_hand_state now = tact_hand_state(hand);
            const double before = v0 - 0.5 * h * tied_rods_acceleration(&r, q0, v0);
            now.q[0] = q0;
            now.v[0] = before;
            now.q[1] = r.multiplier * q0 + r.offset;
            now.v[1] = r.multiplier * before;
            tact_hand_refresh(hand);
            step_scene(&s);
            const double mean = 0.5 * (before + now.v[0]);
            worst[k] = fmax(worst[k],
                            fabs((now.v[0] - before) / h - tied_rods_acceleration(&r, q0, mean)));
            for (int tick = 1; tick < (int)lround(0.5 / h); tick++) {
                step_scene(&s);
                assert_true(fabs(now.q[1] - r.offset - r.multiplier * now.q[0]) < 1e-14);
            }
            integrate_tied_rods(&r, 0.5, &q, &v);
            error[k] = fabs(now.q[0] - q);
            close_scene(&s);
        }
        print_message("q2 = %.1f q1 + %.1f: %.2e, %.2e, %.2e rad apart at h/2, h, 2h\n",
                      r.multiplier, r.offset, error[0], error[1], error[2]);
        assert_true(error[1] < 1e-3);
        assert_true(error[0] < 0.3 * error[1] && error[1] < 0.3 * error[2]);
    }
    print_message("accelerations within %.1e, %.1e, %.1e rad/s^2\n", worst[0], worst[1], worst[2]);
    assert_true(worst[2] < 1e-2 && worst[1] < 0.27 * worst[2] && worst[0] < 0.27 * worst[1]);
}

/* Of two slides either one follows the other: masses, drives and armatures of both act on one
 * coordinate, whose implicit step is known exactly. */
static void tied_slides_move_as_one_coordinate(void **state)
{
    (void)state;
    for (int tie_variant = 0; tie_variant < 6; tie_variant++) {
        const double h = 1e-3, c = tie_variant % 3 - 1.5, offset = 0.01;
        const int leading_slide_index = tie_variant / 3, follower = 1 - leading_slide_index;
        struct tact_link_def link_definitions[2] = {make_child_link(-1, TACT_JOINT_SLIDE),
                                                    make_child_link(0, TACT_JOINT_SLIDE)};
        struct world_scene s;
        link_definitions[leading_slide_index].stiffness = 300.0;
        link_definitions[leading_slide_index].damping = 2.0;
        link_definitions[follower].stiffness = 80.0;
        link_definitions[follower].armature = 0.05;
        link_definitions[follower].mimic = 1 + leading_slide_index;
        link_definitions[follower].multiplier = c;
        link_definitions[follower].offset = link_definitions[follower].start = offset;
        struct tact_hand *hand = open_hand_scene(&s, h, no_weight, link_definitions, 2);
        const struct tact_hand_state q = tact_hand_state(hand);
        /* displacement of the first mass for a unit of the common coordinate */
        const double first = leading_slide_index ? c : 1.0;
        const double mass = 0.1 * first * first + 0.1 * (1.0 + c) * (1.0 + c) +
                            link_definitions[follower].armature * c * c;
        double x = 0.0, v = 0.0;
        q.target[leading_slide_index] = 0.02;
        q.target[follower] = 0.015;
        for (int k = 0; k < 400; k++) {
            const double force = 300.0 * (0.02 - x) + c * 80.0 * (0.015 - offset - c * x);
            v = (mass * v + h * force) / (mass + h * 2.0 + h * h * (300.0 + c * c * 80.0));
            x += h * v;
            step_scene(&s);
            assert_true(fabs(q.q[leading_slide_index] - x) < 1e-12);
            assert_true(fabs(q.q[follower] - offset - c * x) < 1e-14);
        }
        assert_true(fabs(x) > 1e-3);
        close_scene(&s);
    }
}

/* Two slides side by side, whose tendon drive acts on 2 q_0 - 3 q_1: it exerts one force, and the
 * motion perpendicular to that keeps its momentum. */
static void tendon_drive_exerts_one_force_along_the_tendon(void **state)
{
    (void)state;
    const struct tact_tendon_term terms[2] = {{0, 2.0}, {1, -3.0}};
    struct tact_link_def link_definitions[2] = {make_child_link(-1, TACT_JOINT_SLIDE),
                                                make_child_link(-1, TACT_JOINT_SLIDE)};
    struct world_scene s;
    const double h = 1e-3, inverse_mass = (4.0 + 9.0) / 0.1;
    double length = 0.02, rate = 0.0;
    link_definitions[0].stiffness = 40.0;
    link_definitions[0].damping = 0.5;
    link_definitions[0].limit = 1.0;
    link_definitions[0].start = 0.01;
    link_definitions[0].tendon = terms;
    link_definitions[0].tendon_count = 2;
    struct tact_hand *hand = open_hand_scene(&s, h, no_weight, link_definitions, 2);
    const struct tact_hand_state q = tact_hand_state(hand);
    assert_true(q.target[0] == 2.0 * 0.01);
    q.target[0] = 0.08;
    int tick_count_with_drive_at_limit = 0;
    for (int k = 0; k < 300; k++) {
        const double spring = 40.0 * (0.08 - length);
        double force =
            (spring - (h * 40.0 + 0.5) * rate) / (1.0 + h * inverse_mass * (h * 40.0 + 0.5));
        tick_count_with_drive_at_limit += force > 1.0;
        force = fmin(force, 1.0);
        rate += h * inverse_mass * force;
        length += h * rate;
        step_scene(&s);
        assert_true(fabs(2.0 * q.q[0] - 3.0 * q.q[1] - length) < 1e-12);
        assert_true(fabs(q.torque[0] - force) < 1e-10);
        assert_true(fabs(3.0 * q.v[0] + 2.0 * q.v[1]) < 1e-12);
        assert_true(q.torque[1] == 0.0);
        int held[2];
        const double left = tact_hand_drive_margin(hand, 0, h, &held[0]);
        assert_true(tact_hand_drive_margin(hand, 1, h, &held[1]) == left);
        assert_true(held[0] == (fabs(force) == 1.0) && held[1] == held[0]);
        assert_true((left < 0.0) == held[0]);
    }
    assert_true(tick_count_with_drive_at_limit > 3 && tick_count_with_drive_at_limit < 290);
    close_scene(&s);
}

/* A finger that follows another is moved by the other's drive, so its grip margin is that drive's.
 */
static void following_finger_has_the_grip_margin_of_its_leader(void **state)
{
    (void)state;
    struct tact_link_def link_definitions[3] = {make_child_link(-1, TACT_JOINT_SLIDE),
                                                make_child_link(-1, TACT_JOINT_SLIDE),
                                                make_child_link(-1, TACT_JOINT_SLIDE)};
    struct world_scene s;
    link_definitions[0].stiffness = 300.0;
    link_definitions[0].limit = 1.0;
    link_definitions[1].mimic = 1;
    link_definitions[1].multiplier = -0.5;
    struct tact_hand *hand = open_hand_scene(&s, 1e-3, no_weight, link_definitions, 3);
    /* the drive must exert 3 N, beyond its limit of 1 N, then 0.3 N */
    for (int k = 0; k < 2; k++) {
        int held[3];
        double left[3];
        tact_hand_state(hand).target[0] = tact_hand_state(hand).q[0] + (k ? 1e-3 : 1e-2);
        step_scene(&s);
        for (int i = 0; i < 3; i++) {
            left[i] = tact_hand_drive_margin(hand, i, 1e-3, &held[i]);
        }
        assert_true(held[0] == !k && held[1] == held[0] && !held[2]);
        assert_true((left[0] < 0.0) == !k && left[0] < 1.0 && left[1] == left[0] && left[2] == 1.0);
    }
    close_scene(&s);
}

/* A tree in which about every third link starts a branch, some joints follow others anywhere in it,
 * and some drives act on tendons of up to three joints. */
static struct tact_hand *random_tied_hand(int n, double full_from_reduced_matrix[JOINTS][JOINTS],
                                          struct tact_link_def *link_definitions,
                                          struct tact_tendon_term terms[JOINTS][3])
{
    struct tact_pose base = random_pose(0.1);
    struct tact_hand *hand;
    memset(full_from_reduced_matrix, 0, sizeof(double[JOINTS][JOINTS]));
    for (int i = 0; i < n; i++) {
        int starts_branch = uniform(0, 1) < 0.3;
        link_definitions[i] =
            make_child_link(i == 0          ? -1
                            : starts_branch ? (int)uniform(-1, i)
                                            : i - 1,
                            uniform(0, 1) < 0.8 ? TACT_JOINT_HINGE : TACT_JOINT_SLIDE);
        link_definitions[i].origin = random_pose(0.05);
        link_definitions[i].stiffness = uniform(0, 1);
        link_definitions[i].damping = uniform(0, 0.1);
        for (int k = 0; k < 3; k++) {
            link_definitions[i].axis[k] = uniform(-1, 1);
        }
    }
    for (int i = 0; i < n; i++) {
        int other = (int)uniform(0, n), led = 0;
        for (int k = 0; k < n; k++) {
            led |= link_definitions[k].mimic == i + 1;
        }
        if (uniform(0, 1) < 0.4 && other != i && !link_definitions[other].mimic && !led) {
            link_definitions[i].mimic = other + 1;
            link_definitions[i].multiplier = (uniform(0, 1) < 0.5 ? -1 : 1) * uniform(0.3, 2.0);
            link_definitions[i].offset = link_definitions[i].start = uniform(-0.5, 0.5);
        }
        for (int k = 0; k < 3 && n > 3 && uniform(0, 1) < 0.3; k++) {
            terms[i][k] = (struct tact_tendon_term){(i + 1 + k) % n, uniform(-2, 2)};
            link_definitions[i].tendon = terms[i];
            link_definitions[i].tendon_count = k + 1;
        }
    }
    for (int i = 0; i < n; i++) {
        full_from_reduced_matrix[i][link_definitions[i].mimic ? link_definitions[i].mimic - 1 : i] =
            link_definitions[i].mimic ? link_definitions[i].multiplier : 1.0;
    }
    assert_int_equal(tact_hand_create(link_definitions, n, &base, &hand), 0);
    return hand;
}

/* The joint-space mass matrix with drive terms, unreduced, row-major. */
static void joint_matrix_with_drives(struct tact_hand *hand,
                                     const struct tact_link_def *link_definitions, double h,
                                     double full[JOINTS][JOINTS])
{
    const int n = hand->count;
    double mass[JOINTS * JOINTS];
    tact_hand_mass_matrix(hand, mass);
    for (int i = 0; i < n; i++) {
        memcpy(full[i], mass + i * n, (size_t)n * sizeof *mass);
    }
    for (int i = 0; i < n; i++) {
        const struct tact_tendon_term own = {i, 1.0};
        const int count = link_definitions[i].tendon_count ? link_definitions[i].tendon_count : 1;
        const struct tact_tendon_term *terms =
            link_definitions[i].tendon_count ? link_definitions[i].tendon : &own;
        for (int a = 0; a < count; a++) {
            for (int b = 0; b < count; b++) {
                full[terms[a].joint][terms[b].joint] +=
                    terms[a].coefficient * terms[b].coefficient *
                    (h * link_definitions[i].damping + h * h * link_definitions[i].stiffness);
            }
        }
    }
}

/* Solves for all joints by x = T (T^T F T)^-1 T^T x with LAPACK; T: from free coordinates to
 * joints, F: full matrix. */
static void solve_reduced_densely(int n, double full[JOINTS][JOINTS],
                                  double full_from_reduced_matrix[JOINTS][JOINTS], double *x)
{
    double reduced[JOINTS * JOINTS] = {0}, right[JOINTS] = {0};
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    reduced[a * n + b] += full_from_reduced_matrix[i][a] * full[i][j] *
                                          full_from_reduced_matrix[j][b];
                }
            }
            right[a] += full_from_reduced_matrix[b][a] * x[b];
        }
    }
    for (int a = 0; a < n; a++) { /* joints that follow others are no coordinates of their own */
        reduced[a * n + a] += full_from_reduced_matrix[a][a] == 0.0 ? 1.0 : 0.0;
    }
    assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 1, reduced, n, right, 1), 0);
    for (int i = 0; i < n; i++) {
        x[i] = 0.0;
        for (int a = 0; a < n; a++) {
            x[i] += full_from_reduced_matrix[i][a] * right[a];
        }
    }
}

static void tied_hand_solves_as_lapack_on_the_reduced_matrix(void **state)
{
    (void)state;
    double worst = 0.0;
    int tied_joint_count = 0, tendon_drive_count = 0;
    for (int tree_index = 0; tree_index < TREES; tree_index++) {
        const int n = 1 + tree_index % JOINTS;
        double full[JOINTS][JOINTS], full_from_reduced_matrix[JOINTS][JOINTS], x[JOINTS], y[JOINTS],
            size = 0.0;
        struct tact_link_def link_definitions[JOINTS];
        struct tact_tendon_term terms[JOINTS][3];
        struct tact_hand *hand =
            random_tied_hand(n, full_from_reduced_matrix, link_definitions, terms);
        assert_int_equal(tact_hand_free_velocity(hand, 1e-2, weight, NULL), 0);
        joint_matrix_with_drives(hand, link_definitions, 1e-2, full);
        for (int i = 0; i < n; i++) {
            x[i] = y[i] = uniform(-1, 1);
            tied_joint_count += link_definitions[i].mimic > 0;
            tendon_drive_count += link_definitions[i].tendon_count > 1;
        }
        solve_reduced_densely(n, full, full_from_reduced_matrix, y);
        tact_hand_solve(hand, x, 1);
        for (int i = 0; i < n; i++) {
            size = fmax(size, fabs(y[i]));
        }
        for (int i = 0; i < n; i++) {
            worst = fmax(worst, fabs(x[i] - y[i]) / size);
        }
        tact_hand_destroy(hand);
    }
    print_message("%d ties, %d tendons, worst difference %.1e\n", tied_joint_count,
                  tendon_drive_count, worst);
    assert_true(worst < 1e-9);
    assert_true(tied_joint_count > 200 && tendon_drive_count > 50);
}

/* Chains of five hinges, two of which follow others, thrown into the stops of both. */
static void thrown_chains_keep_joint_ties_to_rounding(void **state)
{
    (void)state;
    int tick_count_with_joint_at_stop = 0;
    for (int run = 0; run < 12; run++) {
        struct tact_link_def link_definitions[5];
        struct world_scene s;
        for (int i = 0; i < 5; i++) {
            link_definitions[i] = make_child_link(i - 1, TACT_JOINT_HINGE);
            link_definitions[i].origin.position[2] = i ? 0.04 : 0.0;
            link_definitions[i].lower = i ? -0.5 : 0.0;
            link_definitions[i].upper = i ? 0.7 : 0.0;
            link_definitions[i].friction = i == 2 ? 0.01 : 0.0;
        }
        link_definitions[2].mimic = 1 + 1;
        link_definitions[2].multiplier = uniform(-2.0, 2.0);
        link_definitions[3].mimic = 1 + 4;
        link_definitions[3].multiplier = uniform(0.3, 1.5);
        struct tact_hand *hand = open_hand_scene(&s, 1e-3, no_weight, link_definitions, 5);
        const struct tact_hand_state q = tact_hand_state(hand);
        q.v[0] = uniform(-8.0, 8.0);
        q.v[1] = uniform(-8.0, 8.0);
        q.v[2] = link_definitions[2].multiplier * q.v[1];
        q.v[4] = uniform(-8.0, 8.0);
        q.v[3] = link_definitions[3].multiplier * q.v[4];
        for (int k = 0; k < 300; k++) {
            step_scene(&s);
            assert_true(fabs(q.q[2] - link_definitions[2].multiplier * q.q[1]) < 1e-14);
            assert_true(fabs(q.q[3] - link_definitions[3].multiplier * q.q[4]) < 1e-14);
            for (int i = 1; i < 5; i++) {
                assert_true(q.q[i] > -0.5 - 1e-12 && q.q[i] < 0.7 + 1e-12);
            }
            tick_count_with_joint_at_stop += q.stop[1] != 0.0 || q.stop[3] != 0.0;
        }
        assert_int_equal(s.unsolved_ticks, 0);
        close_scene(&s);
    }
    assert_true(tick_count_with_joint_at_stop > 0);
}

static void invalid_joint_ties_are_refused(void **state)
{
    (void)state;
    const struct tact_pose base = tact_pose_identity();
    for (int fault = 0; fault < 13; fault++) {
        struct tact_link_def link_definitions[3] = {make_child_link(-1, TACT_JOINT_HINGE),
                                                    make_child_link(0, TACT_JOINT_HINGE),
                                                    make_child_link(0, TACT_JOINT_HINGE)};
        struct tact_tendon_term terms[2] = {{1, 1.0}, {2, 1.0}};
        struct tact_hand *hand = NULL;
        link_definitions[1].mimic = fault == 1 ? 2 : fault == 2 ? 4 : fault == 3 ? -1 : 1;
        link_definitions[1].multiplier = fault == 4 ? 0.0 : fault == 5 ? NAN : 2.0;
        link_definitions[1].start = fault == 6 ? 0.1 : 0.0;
        link_definitions[0].mimic = fault == 7 ? 3 : 0;
        link_definitions[0].multiplier = 1.0;
        link_definitions[0].lower = link_definitions[1].lower = -1.0;
        link_definitions[0].upper = link_definitions[1].upper = 1.0;
        link_definitions[1].lower = fault == 8 ? 0.0 : -1.0;
        link_definitions[0].upper = fault == 8 ? 0.0 : 1.0;
        terms[0].joint = fault == 9 ? 3 : fault == 10 ? 2 : 1;
        terms[1].coefficient = fault == 11 ? INFINITY : 1.0;
        link_definitions[2].tendon = terms;
        link_definitions[2].tendon_count = fault == 12 ? -1 : 2;
        assert_int_equal(tact_hand_create(link_definitions, 3, &base, &hand), fault ? -EINVAL : 0);
        tact_hand_destroy(hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tied_rods_swing_as_one_coordinate),
        cmocka_unit_test(tied_slides_move_as_one_coordinate),
        cmocka_unit_test(tendon_drive_exerts_one_force_along_the_tendon),
        cmocka_unit_test(following_finger_has_the_grip_margin_of_its_leader),
        cmocka_unit_test(tied_hand_solves_as_lapack_on_the_reduced_matrix),
        cmocka_unit_test(thrown_chains_keep_joint_ties_to_rounding),
        cmocka_unit_test(invalid_joint_ties_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
