/*
 * Rigid bodies that roll on their smooth surfaces, as blocks of the ordinary solver: against the
 * equations of rolling without slip, integrated by themselves (support/rolling_body.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "contact/pair/models_internal.h"
#include "support/rolling_body.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846

/* Sets the body of the exact solution into a world, on a half-space. */
static void open_rolling_world(struct world_scene *s, const struct rolling_body *b,
                               const double size[3], double yaw, double h, double mu,
                               const struct tact_contact_model *model)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(mu);
    struct tact_body body = {.pose = tact_pose_identity()};
    struct tact_pose local = tact_pose_identity();
    const double *m = b->inertia, packed_inertia[6] = {m[0], m[4], m[8], m[1], m[2], m[5]};
    const double turn[3] = {0.0, 0.0, yaw};
    struct tact_shape shape = {.kind = TACT_SHAPE_ELLIPSOID, .size = {size[0], size[1], size[2]}};
    if (size[0] == size[1] && size[1] == size[2]) {
        shape.kind = TACT_SHAPE_SPHERE;
    }
    o.period = h;
    o.gravity[2] = -b->gravity;
    law.model = model;
    assert_int_equal(tact_body_set_mass(&body, b->mass, packed_inertia), 0);
    memcpy(body.pose.quat_wxyz, b->y, 4 * sizeof *b->y);
    tact_v3_copy(body.pose.position, b->y + 7);
    rolling_centre_velocity(b, body.twist);
    tact_quat_rotate(body.twist + 3, b->y, b->y + 4);
    open_empty_scene(s, &o);
    add_scene_ground(s);
    assert_int_equal(tact_world_add_body(s->world, &body), 0);
    tact_v3_copy(local.position, b->center);
    tact_quat_from_rotvec(local.quat_wxyz, turn);
    add_scene_shape(s, 0, &shape, &local, 1);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
}

static const double rattleback_half_axes[3] = {0.11, 0.022, 0.018};
#define RATTLEBACK_YAW (PI / 180.0)

/* The rattleback of 0.25 kg, tilted by half a degree about both long axes, with that angular
 * velocity in the world, or in its own axes. */
static struct rolling_body make_tilted_rattleback(const double w[3], int is_spin_in_body_axes)
{
    struct rolling_body b = {.mass = 0.25,
                             .inertia = {3.0e-5, 0.0, 0.0, 0.0, 60e-5, 0.0, 0.0, 0.0, 62e-5},
                             .center = {0.0, 0.0, 0.004},
                             .gravity = G};
    const double tilt = 0.5 * PI / 180.0, x[3] = {tilt, 0.0, 0.0}, y[3] = {0.0, tilt, 0.0};
    double qx[4], qy[4], q[4], in_world[3];
    tact_quat_from_rotvec(qx, x);
    tact_quat_from_rotvec(qy, y);
    tact_quat_mul(q, qy, qx);
    tact_quat_rotate(in_world, q, w);
    set_rolling_ellipsoid(&b, rattleback_half_axes, RATTLEBACK_YAW);
    set_rolling_initial_state(&b, q, is_spin_in_body_axes ? in_world : w);
    return b;
}

/* The rattleback, spinning with w about the vertical. */
static struct rolling_body make_rattleback(double w)
{
    const double spin[3] = {0.0, 0.0, w};
    return make_tilted_rattleback(spin, 0);
}

struct spin {
    /* time at which the spin about the top's own axis first changes sign [s] */
    double rattleback_reversal_time;
    double at[4]; /* spin after 5, 10, 15, 20 s [rad/s] */
    /* largest and least difference of the mean energy of a second, whole periods of rocking, from
     * the energy at the start, divided by the kinetic energy then */
    double most, least;
    double highest_gap, deepest_gap; /* gap [m] */
    /* least normal force [N] after the first second, greatest ratio to it of friction */
    double least_normal_force, friction;
};

/* Angular velocity about the vertical [rad/s]. */
static double vertical_spin(const struct rolling_body *b)
{
    double w[3];
    tact_quat_rotate(w, b->y, b->y + 4);
    return w[2];
}

static struct spin exact_rattleback_spin(struct rolling_body b, double seconds)
{
    struct spin out = {.rattleback_reversal_time = 0.0};
    const double h = 2e-4, start = rolling_body_energy(&b);
    double last = vertical_spin(&b);
    for (long i = 1; i <= lround(seconds / h); i++) {
        integrate_rolling_step(&b, h);
        double t = (double)i * h, now = vertical_spin(&b);
        if (!(out.rattleback_reversal_time > 0.0) && now * last < 0.0) {
            out.rattleback_reversal_time = t - h * now / (now - last);
        }
        last = now;
        if (i % lround(5.0 / h) == 0) {
            out.at[i / lround(5.0 / h) - 1] = now;
        }
    }
    assert_true(fabs(rolling_body_energy(&b) / start - 1.0) < 1e-9);
    return out;
}

static struct spin simulate_rattleback_spin(const struct rolling_body *b, double seconds, double h)
{
    struct world_scene s;
    struct spin out = {.most = -1.0, .least = 1.0, .least_normal_force = INFINITY};
    open_rolling_world(&s, b, rattleback_half_axes, RATTLEBACK_YAW, h, 0.6, &tact_model_smooth);
    const struct tact_body *body = tact_world_body(s.world, 0);
    double start = compute_scene_energy(&s), sum = 0.0, last = body->twist[5];
    double start_kinetic_energy = tact_body_energy(body);
    long second = lround(1.0 / h);
    for (long i = 1; i <= lround(seconds / h); i++) {
        step_scene(&s);
        double t = (double)i * h, now = body->twist[5];
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        double gap = c->patch.gap[0];
        if (!(out.rattleback_reversal_time > 0.0) && now * last < 0.0) {
            out.rattleback_reversal_time = t - h * now / (now - last);
        }
        last = now;
        sum += compute_scene_energy(&s) / (double)second;
        out.highest_gap = fmax(out.highest_gap, gap);
        out.deepest_gap = fmin(out.deepest_gap, gap);
        if (i > second) {
            out.least_normal_force = fmin(out.least_normal_force, c->impulse[0] / h);
            out.friction = fmax(out.friction, hypot(c->impulse[1], c->impulse[2]) / c->impulse[0]);
        }
        if (i % second == 0) {
            out.most = fmax(out.most, (sum - start) / start_kinetic_energy);
            out.least = fmin(out.least, (sum - start) / start_kinetic_energy);
            sum = 0.0;
        }
        if (i % (5 * second) == 0) {
            out.at[i / (5 * second) - 1] = now;
        }
    }
    printf("h %.2f ms: reverses at %.4f s, spin %.4f %.4f rad/s after 5 and 10 s, energy %+.3f to "
           "%+.3f %%, gap %.1e to %.1e m, %ld unsolved\n",
           1e3 * h, out.rattleback_reversal_time, out.at[0], out.at[1], 100.0 * out.least,
           100.0 * out.most, out.deepest_gap, out.highest_gap, s.unsolved_ticks);
    close_scene(&s);
    return out;
}

/* The rattleback compared with its equations of motion: the spin agrees to a percent, and the
 * energy stays within 0.5 % below that at the start and 0.2 % above it, at 2 ms 0.4 %. */
static void simulated_rattleback_reverses_at_the_exact_time(void **state)
{
    (void)state;
    const struct rolling_body top = make_rattleback(4.0);
    struct spin exact = exact_rattleback_spin(top, 10.0);
    printf("exact: reverses at %.5f s, spin %.4f %.4f rad/s\n", exact.rattleback_reversal_time,
           exact.at[0], exact.at[1]);
    for (int i = 0; i < 3; i++) {
        double h = 2e-3 / (1 << i);
        struct spin is = simulate_rattleback_spin(&top, 10.0, h);
        assert_true(fabs(is.rattleback_reversal_time / exact.rattleback_reversal_time - 1.0) <
                    1e-3);
        assert_true(fabs(is.at[0] / exact.at[0] - 1.0) < 0.01);
        assert_true(fabs(is.at[1] / exact.at[1] - 1.0) < 0.005);
        assert_true(is.least > -0.005 && is.most < (i ? 0.002 : 0.004));
        assert_true(is.deepest_gap > -1e-6 && is.highest_gap < 1e-6);
    }
}

/* Spun about its own axis: reversal and spin after 5, 10 and 15 s as an adaptive integrator of
 * other equations has them, and the forces: the normal one falls to 1.31 N, where rolling needs a
 * coefficient of friction of 0.295. Spun in the other direction, it does not reverse in 20 s. */
static void published_rattlebacks_are_reproduced(void **state)
{
    (void)state;
    static const double known[2][4] = {{3.41426, -3.3220, -3.9882, -3.7481},
                                       {0.0, -3.9377, -3.5077, -2.2890}};
    for (int i = 0; i < 2; i++) {
        const double w[3] = {0.0, 0.0, i ? -4.0 : 4.0};
        const struct rolling_body top = make_tilted_rattleback(w, 1);
        const double rest = top.mass * G * (rattleback_half_axes[2] - top.center[2]);
        const struct spin exact = exact_rattleback_spin(top, 20.0),
                          is = simulate_rattleback_spin(&top, 20.0, 1e-3);
        printf("exact: reverses at %.5f s, spin %.4f %.4f %.4f; simulated after 15 s %.4f, normal "
               "force from %.3f N, friction up to %.4f of it\n",
               exact.rattleback_reversal_time, exact.at[0], exact.at[1], exact.at[2], is.at[2],
               is.least_normal_force, is.friction);
        /* energy above that of rest [J] */
        assert_true(fabs(rolling_body_energy(&top) - rest - 5.0869e-3) < 1e-7);
        assert_true(fabs(exact.rattleback_reversal_time - known[i][0]) < 2e-5);
        assert_true(i ? is.rattleback_reversal_time == 0.0
                      : fabs(is.rattleback_reversal_time / known[0][0] - 1.0) < 1e-3);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(exact.at[k] - known[i][1 + k]) < 1e-4);
            assert_true(fabs(is.at[k] / known[i][1 + k] - 1.0) < 0.01);
        }
        assert_true(is.most < 0.002 && is.least > -0.005);
        if (!i) {
            assert_true(fabs(is.least_normal_force - 1.31) < 0.03 &&
                        fabs(is.friction - 0.295) < 0.01);
        }
    }
}

/* The model without the rates of its contact: the tick is then only of first order, which shows
 * that the second order is due to them and not to the exact surface. */
static int measure_without_second_order_rates(const struct tact_pair_query *q,
                                              struct tact_patch *patch,
                                              struct tact_pair_piece *piece)
{
    int rc = tact_model_smooth.measure(q, patch, piece);
    memset(patch->target_velocity, 0, sizeof patch->target_velocity);
    return rc;
}

static void rolling_without_second_order_rates_loses_energy(void **state)
{
    (void)state;
    struct rolling_body b = make_rattleback(4.0);
    struct tact_contact_model model_without_second_order = tact_model_smooth;
    struct world_scene s;
    double lost[2];
    model_without_second_order.measure = measure_without_second_order_rates;
    for (int i = 0; i < 2; i++) {
        open_rolling_world(&s, &b, rattleback_half_axes, RATTLEBACK_YAW, 1e-3, 0.6,
                           i ? &model_without_second_order : &tact_model_smooth);
        double start = compute_phase_corrected_energy(&s),
               start_kinetic_energy = start - 0.25 * G * b.y[9];
        run_scene_for_seconds(&s, 10.0);
        lost[i] = (start - compute_phase_corrected_energy(&s)) / start_kinetic_energy;
        close_scene(&s);
    }
    printf("energy lost in 10 s: %.2f %%, without the term %.1f %%\n", 100.0 * lost[0],
           100.0 * lost[1]);
    assert_true(fabs(lost[0]) < 0.02 && lost[1] > 0.1);
}

/* Small rocking about the long axis and across: (I + m h^2) theta'' + m g (rho - h) theta = 0 where
 * it rolls, without the m h^2 where nothing holds the contact. rho: radius of curvature, h: height
 * of the centre of mass. */
static void rolling_body_rocks_at_the_exact_frequency(void **state)
{
    (void)state;
    const double r2[2] = {0.022 * 0.022 / 0.018, 0.11 * 0.11 / 0.018}, height = 0.018 - 0.004;
    const double published_frequencies_hz[2] = {5.166, 8.255}; /* without friction [Hz] */
    for (int i = 0; i < 4; i++) {
        struct rolling_body b = make_rattleback(0.0);
        struct world_scene s;
        const double inertia = b.inertia[i % 2 ? 4 : 0], still[3] = {0.0, 0.0, 0.0};
        const double tilt[3] = {i % 2 ? 0.0 : 1e-3, i % 2 ? 1e-3 : 0.0, 0.0};
        double q[4], rolls = i / 2 ? 0.0 : b.mass * height * height, last = 1.0, first = 0.0;
        double exact = 2.0 * PI * sqrt((inertia + rolls) / (b.mass * G * (r2[i % 2] - height)));
        int crossings = 0;
        set_rolling_ellipsoid(&b, rattleback_half_axes, 0.0);
        tact_quat_from_rotvec(q, tilt);
        set_rolling_initial_state(&b, q, still);
        open_rolling_world(&s, &b, rattleback_half_axes, 0.0, 1e-3, i / 2 ? 0.0 : 0.6,
                           &tact_model_smooth);
        const struct tact_body *body = tact_world_body(s.world, 0);
        double t = 0.0;
        while (crossings < 21 && t < 10.0) { /* crossings of the upright pose: ten periods */
            step_scene(&s);
            t += 1e-3;
            double now = body->pose.quat_wxyz[1 + i % 2];
            if (now * last < 0.0) {
                double at = t - 1e-3 * now / (now - last);
                first = crossings++ ? first : at;
                if (crossings == 21) {
                    double period = (at - first) / 10.0;
                    printf("%s %s: %.4f Hz, exact %.4f\n", i % 2 ? "along" : "across",
                           i / 2 ? "sliding" : "rolling", 1.0 / period, 1.0 / exact);
                    assert_true(fabs(period / exact - 1.0) < 1e-3);
                    if (i / 2) {
                        assert_true(fabs(1.0 / exact - published_frequencies_hz[i % 2]) < 5e-4);
                    }
                }
            }
            last = now;
        }
        assert_int_equal(crossings, 21);
        close_scene(&s);
    }
}

/* Turned against the axes of its inertia the top rocks in two modes, those of (I + m h^2 1) theta''
 * + m g (Rho - h 1) theta = 0 with Rho the radii of curvature, that of each tilt's direction. */
static void rattleback_rocks_at_its_two_exact_frequencies(void **state)
{
    (void)state;
    const double known[2] = {3.1795, 7.9478}, still[3] = {0.0, 0.0, 0.0}; /* [Hz] */
    const double height = rattleback_half_axes[2] - 0.004, c = cos(RATTLEBACK_YAW),
                 d = sin(RATTLEBACK_YAW);
    const double along =
                     rattleback_half_axes[0] * rattleback_half_axes[0] / rattleback_half_axes[2],
                 across =
                     rattleback_half_axes[1] * rattleback_half_axes[1] / rattleback_half_axes[2];
    const struct rolling_body top = make_rattleback(0.0);
    const double moved = top.mass * height * height, weight = top.mass * G;
    /* mass^-1 stiffness; the radius of a tilt about x is that of the curve along y */
    const double m[2] = {top.inertia[0] + moved, top.inertia[4] + moved};
    const double a[2] = {weight * (d * d * along + c * c * across - height) / m[0],
                         weight * (c * c * along + d * d * across - height) / m[1]};
    const double b = -weight * c * d * (along - across) / m[1],
                 product = b * -weight * c * d * (along - across) / m[0];
    for (int i = 0; i < 2; i++) {
        const double mean = 0.5 * (a[0] + a[1]),
                     half = sqrt(0.25 * (a[1] - a[0]) * (a[1] - a[0]) + product);
        const double square = i ? mean + half : mean - half, exact = sqrt(square) / (2.0 * PI);
        /* tilt about x over that about y, of the mode; the larger is 1 mrad */
        const double ratio = (square - a[1]) / b, most = fmax(fabs(ratio), 1.0);
        const double tilt[3] = {1e-3 * ratio / most, 1e-3 / most, 0.0};
        const int axis = fabs(ratio) < 1.0;
        struct rolling_body start = top;
        struct world_scene s;
        double q[4], last = tilt[axis], first = 0.0, end = 0.0;
        int crossings = 0;
        tact_quat_from_rotvec(q, tilt);
        set_rolling_initial_state(&start, q, still);
        open_rolling_world(&s, &start, rattleback_half_axes, RATTLEBACK_YAW, 1e-3, 0.6,
                           &tact_model_smooth);
        for (int k = 1; crossings < 21 && k < 10000; k++) {
            step_scene(&s);
            const double now = tact_world_body(s.world, 0)->pose.quat_wxyz[1 + axis];
            if (now * last < 0.0) {
                end = 1e-3 * (k - now / (now - last));
                first = crossings++ ? first : end;
            }
            last = now;
        }
        printf("mode %d: %.4f Hz, exact %.4f\n", i, 10.0 / (end - first), exact);
        assert_true(crossings == 21 && fabs(exact - known[i]) < 1e-4);
        assert_true(fabs(10.0 / (end - first) / exact - 1.0) < 1e-3);
        close_scene(&s);
    }
}

/* Chaplygin's ball: its angular momentum about the contact stays, and so does its energy. */
static void chaplygins_ball_keeps_momentum_and_energy(void **state)
{
    (void)state;
    const double size[3] = {0.05, 0.05, 0.05}, w[3] = {6.0, 2.0, 9.0}, q[4] = {1.0, 0.0, 0.0, 0.0};
    const double known[5] = {5.641910, 2.375610, 9.381274, 0.957056, -2.703893};
    struct rolling_body b = {.mass = 0.5,
                             .inertia = {4.0e-4, 0.0, 0.0, 0.0, 5.0e-4, 0.0, 0.0, 0.0, 6.5e-4},
                             .gravity = G};
    struct rolling_body exact;
    set_rolling_ellipsoid(&b, size, 0.0);
    set_rolling_initial_state(&b, q, w);
    exact = b;
    for (int i = 0; i < 100000; i++) {
        integrate_rolling_step(&exact, 1e-4);
    }
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        double turn[9], ends[3], l[3], moved[3], z[3] = {0.0, 0.0, 0.05};
        open_rolling_world(&s, &b, size, 0.0, 2e-3 / (1 << i), 0.5, &tact_model_smooth);
        run_scene_for_seconds(&s, 10.0);
        const struct tact_body *body = tact_world_body(s.world, 0);
        double before[3]; /* velocities are half a tick before the pose and, once solved, half a
                             tick after it */
        tact_v3_copy(before, body->twist + 3);
        solve_scene_velocities(&s);
        tact_quat_rotate(ends, exact.y, exact.y + 4);
        tact_body_momentum(body, l);
        tact_v3_cross(turn, z, body->twist);
        tact_v3_axpy(l, body->mass, turn);
        tact_v3_sub(moved, body->pose.position, exact.y + 7);
        double off = 0.0, kept = 0.0;
        for (int k = 0; k < 3; k++) {
            const double start[3] = {0.0099, 0.0035, 0.00585};
            off = fmax(off, fabs(0.5 * (before[k] + body->twist[3 + k]) - ends[k]));
            kept = fmax(kept, fabs(l[k] - start[k]) / 0.0099);
            if (!i) { /* published values */
                assert_true(fabs(ends[k] - known[k]) < 1e-5);
            }
        }
        printf("h %.1f ms: after 10 s w within %.1e rad/s, place %.1e m, momentum kept to %.1e\n",
               1e3 * s.options.period, off, tact_v3_norm(moved), kept);
        double order = pow(s.options.period / 1e-3, 2.0);
        assert_true(fabs(2.0 * tact_body_energy(body) / 0.11905 - 1.0) < 1e-4);
        assert_true(off < 9e-3 * order && tact_v3_norm(moved) < 1e-5 * order && kept < 1e-11);
        close_scene(&s);
    }
    assert_true(fabs(exact.y[7] - known[3]) < 1e-5 && fabs(exact.y[8] - known[4]) < 1e-5);
}

/* A table that turns about z, heavy enough that the ball does not disturb it. */
static void add_turntable(struct world_scene *s, double rate)
{
    struct tact_link_def link = {.parent = -1,
                                 .joint = TACT_JOINT_HINGE,
                                 .axis = {0.0, 0.0, 1.0},
                                 .origin = tact_pose_identity(),
                                 .mass = 1e6,
                                 .inertia = {1e6, 1e6, 1e6, 0.0, 0.0, 0.0}};
    const struct tact_pose here = tact_pose_identity();
    const struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_owner owner = {TACT_OWNER_HAND, 0, 0};
    struct tact_hand *hand;
    assert_int_equal(tact_hand_create(&link, 1, &here, &hand), 0);
    tact_hand_state(hand).v[0] = rate;
    assert_int_equal(tact_world_add_hand(s->world, hand, 1), 0);
    assert_true(tact_world_add_shape(s->world, owner, &plane, &here, 0) >= 0);
}

/* A solid ball that rolls on a turntable moves on a circle at 2/7 of its angular velocity,
 * wherever it starts. */
static void rolling_ball_circles_on_a_turntable_at_the_exact_rate(void **state)
{
    (void)state;
    const double r = 0.02, rate = 10.0, v = 0.1, start = 0.03;
    for (int i = 0; i < 2; i++) {
        struct tact_world_options o = tact_world_options_default();
        struct tact_contact_law law = make_rigid_law(0.5);
        const struct tact_shape ball = make_sphere(r);
        const double place[3] = {start, 0.0, r};
        struct world_scene s;
        o.period = 1e-3 / (1 << i);
        law.model = &tact_model_smooth;
        open_empty_scene(&s, &o);
        add_turntable(&s, rate);
        add_scene_solid(&s, &ball, 0.1, place, 0.0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        struct tact_body *body = tact_world_body(s.world, 0);
        tact_v3_set(body->twist, 0.0, v, 0.0);
        tact_v3_set(body->twist + 3, -(v - rate * start) / r, 0.0, 0.0);
        double circling_rate = 2.0 / 7.0 * rate, radius = v / circling_rate, off = 0.0;
        for (int k = 1; k <= lround(10.0 / o.period); k++) {
            step_scene(&s);
            double t = k * o.period, x = start - radius + radius * cos(circling_rate * t);
            double y = radius * sin(circling_rate * t);
            off = fmax(off, hypot(body->pose.position[0] - x, body->pose.position[1] - y));
        }
        printf("h %.1f ms: within %.1e m of the circle of %.1f mm for 10 s\n", 1e3 * o.period, off,
               1e3 * radius);
        assert_true(off < 1e-3 * radius * (1 << (1 - i)));
        assert_true(fabs(tact_hand_state(tact_world_hand(s.world, 0)).v[0] - rate) < 1e-6);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulated_rattleback_reverses_at_the_exact_time),
        cmocka_unit_test(published_rattlebacks_are_reproduced),
        cmocka_unit_test(rolling_without_second_order_rates_loses_energy),
        cmocka_unit_test(rolling_body_rocks_at_the_exact_frequency),
        cmocka_unit_test(rattleback_rocks_at_its_two_exact_frequencies),
        cmocka_unit_test(chaplygins_ball_keeps_momentum_and_energy),
        cmocka_unit_test(rolling_ball_circles_on_a_turntable_at_the_exact_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
