/*
 * Motion in reduced coordinates (Kry and Pai 2003) against exact answers: rolling, sliding and the
 * change between both, separation and impacts.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/compare/reduced_internal.h"
#include "support/campaign.h"
#include "support/reduced_start.h"
#include "support/rolling_body.h"

#define G 9.81
#define PI 3.14159265358979323846

/* A ball that slides at 1 m/s is slowed by mu g; (22, 23) as printed, for a normal into body 1,
 * speed it up with outward charts. It rolls from 2 v / (7 mu g) on, at 5/7 of the speed. */
static void sliding_ball_is_slowed_until_it_rolls(void **state)
{
    (void)state;
    struct start s = ball_on_ground(0.02, 0.1);
    struct tact_reduced_options o = options_with_friction(0.3);
    struct tact_pose pose;
    double twist[6], printed[6];
    s.twist[0] = 1.0;
    struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
    assert_int_equal(tact_reduced_report(r)->mode, TACT_REDUCED_SLIDING);
    assert_int_equal(tact_reduced_advance(r, 0.06), 0);
    tact_reduced_get(r, &pose, twist);
    tact_reduced_destroy(r);
    r = create_and_start_reduced_motion(&s, &o);
    r->options.friction_dynamic = -0.3;
    /* disables the check that would stop the motion for the energy it gains */
    r->state.max_kinetic_energy_since_contact_began = INFINITY;
    assert_int_equal(tact_reduced_advance(r, 0.06), 0);
    tact_reduced_get(r, &pose, printed);
    tact_reduced_destroy(r);
    printf("after 60 ms %.6f m/s, by the printed form %.3f\n", twist[0], printed[0]);
    assert_true(fabs(twist[0] - (1.0 - 0.3 * G * 0.06)) < 1e-9);
    assert_true(printed[0] > 1.17 && printed[0] < 1.18);
    r = create_and_start_reduced_motion(&s, &o);
    assert_int_equal(tact_reduced_advance(r, 0.3), 0);
    tact_reduced_get(r, &pose, twist);
    const struct tact_reduced_report *is = tact_reduced_report(r);
    const double ends = 2.0 / (7.0 * 0.3 * G);
    printf("rolls at %.6f m/s after %.7f s (%.7f); %ld changes\n", twist[0], is->mode_time[1], ends,
           is->rolls);
    assert_true(is->rolls == 1 && is->mode == TACT_REDUCED_ROLLING);
    assert_true(fabs(is->mode_time[TACT_REDUCED_SLIDING] - ends) < 2e-6);
    assert_true(fabs(twist[0] - 5.0 / 7.0) < 1e-6 && fabs(twist[4] - twist[0] / 0.02) < 1e-9);
    tact_reduced_destroy(r);
}

/* A ball that slides, then rolls, presses on the ground in every step: the force on it is up. In
 * the contact frame, whose normal is outward from the ball, f_6 is negative all the time: by the
 * printed rule, which separates where f_z is negative, there would be no contact. */
static void pressing_ball_has_a_negative_normal_component_and_does_not_separate(void **state)
{
    (void)state;
    struct start s = ball_on_ground(0.02, 0.1);
    const struct tact_reduced_options o = options_with_friction(0.3);
    double least = INFINITY, largest_in_frame = -INFINITY;
    s.twist[0] = 1.0;
    struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
    for (int k = 1; k <= 150; k++) {
        struct tact_pose pose;
        double twist[6], outward[3];
        assert_int_equal(tact_reduced_advance(r, 2e-3 * k), 0);
        tact_reduced_get(r, &pose, twist);
        const struct tact_reduced_report *is = tact_reduced_report(r);
        tact_v3_sub(outward, is->contact, pose.position);
        tact_v3_normalize(outward, outward);
        least = fmin(least, is->force[5]);
        largest_in_frame = fmax(largest_in_frame, tact_v3_dot(outward, is->force + 3));
    }
    const struct tact_reduced_report *is = tact_reduced_report(r);
    printf("force up from %.4f N, along the outward normal to %.4f N, weight %.4f N\n", least,
           largest_in_frame, 0.1 * G);
    assert_true(fabs(least - 0.1 * G) < 1e-9 && fabs(largest_in_frame + 0.1 * G) < 1e-9);
    assert_true(is->separations == 0 && is->mode == TACT_REDUCED_ROLLING);
    tact_reduced_destroy(r);
}

/* On a slope a ball rolls where tan <= 7/2 mu_s (35), else it slides with mu_d. */
static void static_friction_holds_and_dynamic_friction_slows_on_a_slope(void **state)
{
    (void)state;
    const double slope_tangents[2] = {1.04, 1.06}, mu_s = 0.3, mu_d = 0.2;
    for (int i = 0; i < 2; i++) {
        struct start s = ball_on_ground(0.02, 0.1);
        struct tact_reduced_options o = options_with_friction(mu_s);
        struct tact_pose pose;
        double twist[6];
        const double angle = atan(slope_tangents[i]);
        const double rolling_acceleration = 5.0 / 7.0 * G * sin(angle),
                     sliding = G * (sin(angle) - mu_d * cos(angle));
        o.friction_dynamic = mu_d;
        tact_v3_set(o.gravity, G * sin(angle), 0.0, -G * cos(angle));
        struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
        assert_int_equal(tact_reduced_advance(r, 0.5), 0);
        tact_reduced_get(r, &pose, twist);
        printf("tan %.2f: %s, %.6f m/s^2 (rolling %.6f, sliding %.6f)\n", slope_tangents[i],
               tact_reduced_mode_name(tact_reduced_report(r)->mode), twist[0] / 0.5,
               rolling_acceleration, sliding);
        assert_true(fabs(twist[0] / 0.5 - (i ? sliding : rolling_acceleration)) < 1e-8);
        assert_true(tact_reduced_report(r)->separations == 0);
        tact_reduced_destroy(r);
    }
}

/* A small ball leaves the top of a large one where cos = 2/3 without friction, 10/17 rolling. */
static void ball_rolling_off_a_ball_leaves_it_at_the_exact_angle(void **state)
{
    (void)state;
    SKIP_IN_QUICK_SANITIZER_RUN();
    for (int i = 0; i < 2; i++) {
        struct start s = ball_on_ground(0.01, 0.1);
        struct tact_reduced_options o = options_with_friction(i ? 100.0 : 0.0);
        const double start = 0.02;
        /* released at rest at a small angle: cos there is multiplied */
        s.fixed = (struct tact_shape){.kind = TACT_SHAPE_SPHERE, .size = {0.1}};
        tact_v3_set(s.pose.position, 0.11 * sin(start), 0.0, 0.11 * cos(start));
        struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
        struct tact_pose pose;
        double twist[6], t = 0.0, cosine = 1.0;
        while (!tact_reduced_report(r)->separations && t < 10.0) {
            tact_reduced_get(r, &pose, twist);
            cosine = pose.position[2] / tact_v3_norm(pose.position);
            t += 2e-4;
            assert_int_equal(tact_reduced_advance(r, t), 0);
        }
        const double exact = (i ? 10.0 / 17.0 : 2.0 / 3.0) * cos(start);
        printf("%s: leaves at cos %.6f (%.6f)\n", i ? "rolling" : "sliding", cosine, exact);
        assert_true(fabs(cosine - exact) < 2e-3);
        tact_reduced_destroy(r);
    }
}

/* Dropped balls: Newton's e gives the heights, and the contact begins again when they have bounced
 * out. With spin, Chatterjee and Ruina's law sticks or slides as its formulas say. */
static void reduced_impacts_follow_their_laws(void **state)
{
    (void)state;
    struct start s = ball_on_ground(0.02, 0.1);
    struct tact_reduced_options o = options_with_friction(0.2);
    struct tact_pose pose;
    double twist[6];
    o.impact = TACT_REDUCED_NEWTON;
    o.restitution = 0.5;
    s.pose.position[2] = 0.12;
    const double fall_time = sqrt(0.2 / G), speed = sqrt(0.2 * G);
    struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
    assert_int_equal(tact_reduced_advance(r, fall_time + speed * 0.5 / G), 0);
    tact_reduced_get(r, &pose, twist);
    printf("apex at %.9f m, %.1e m/s\n", pose.position[2] - 0.02, twist[2]);
    assert_true(fabs(pose.position[2] - 0.045) < 1e-7 && fabs(twist[2]) < 1e-6);
    assert_int_equal(tact_reduced_advance(r, 2.0), 0);
    const struct tact_reduced_report *is = tact_reduced_report(r);
    printf("%ld impacts, then %s\n", is->impacts, tact_reduced_mode_name(is->mode));
    assert_true(is->impacts == 7 && is->contacts == 1 && is->mode == TACT_REDUCED_ROLLING);
    tact_reduced_destroy(r);
    for (int i = 0; i < 2; i++) { /* with a slip of 0.1 m/s the ball sticks, with 2 m/s it slides */
        const double slip = i ? 2.0 : 0.1, e = 0.5, et = 0.3, mu = 0.2;
        double velocity[3] = {slip, 0.0, -1.0}, arm[3] = {0.0, 0.0, -0.02}, n[3] = {0.0, 0.0, 1.0};
        o.impact = TACT_REDUCED_CHATTERJEE_RUINA;
        o.tangential_restitution = et;
        r = create_and_start_reduced_motion(&s, &o);
        tact_v3_set(r->body.twist, slip, 0.0, -1.0);
        tact_reduced_apply_impact(r, n, arm, velocity);
        const double expected = i ? slip - 3.5 * mu * (1.0 + e) : -et * slip;
        printf("slip %.1f becomes %.6f (%.6f)\n", slip, velocity[0], expected);
        assert_true(fabs(velocity[0] - expected) < 1e-12 && fabs(velocity[2] - e) < 1e-12);
        tact_reduced_destroy(r);
    }
}

/* Without spin the torque about the normal is bounded by spin_static times the force, a length
 * (40): a top that rolls on an ellipsoid keeps w.n = 0, and with less it turns. */
static void spin_sticks_below_the_torsion_limit(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct start s = ball_on_ground(0.02, 0.1);
        struct tact_reduced_options o = options_with_friction(2.0);
        double twist[6], most = 0.0;
        struct tact_pose pose;
        o.spin_static = i ? 1e-7 : 1e-2;
        s.shape = (struct tact_shape){.kind = TACT_SHAPE_ELLIPSOID, .size = {0.03, 0.02, 0.015}};
        s.pose.position[2] = 0.015;
        tact_v3_set(s.twist + 3, 2.0, 3.0, 0.0);
        tact_v3_set(s.twist, 3.0 * 0.015, -2.0 * 0.015, 0.0);
        struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
        const double energy = tact_reduced_energy(r);
        assert_int_equal(tact_reduced_report(r)->mode, TACT_REDUCED_NO_SPIN);
        for (int k = 1; k <= 100; k++) {
            assert_int_equal(tact_reduced_advance(r, 5e-3 * k), 0);
            tact_reduced_get(r, &pose, twist);
            most = fmax(most, fabs(twist[5]));
        }
        printf("spin_static %.0e m: w.n up to %.1e rad/s, energy %+.1e\n", o.spin_static, most,
               tact_reduced_energy(r) / energy - 1.0);
        assert_true(i ? most > 1e-3 : most < 1e-12);
        assert_true(fabs(tact_reduced_energy(r) / energy - 1.0) < 1e-6);
        tact_reduced_destroy(r);
    }
}

/* The rattleback of 0.25 kg. */
static struct rolling_body make_rattleback(double w, struct start *s)
{
    const double size[3] = {0.11, 0.022, 0.018}, tilt = 0.5 * PI / 180.0;
    const double x[3] = {tilt, 0.0, 0.0}, y[3] = {0.0, tilt, 0.0}, z[3] = {0.0, 0.0, PI / 180.0};
    const double spin[3] = {0.0, 0.0, w};
    struct rolling_body b = {.mass = 0.25,
                             .inertia = {3.0e-5, 0.0, 0.0, 0.0, 60e-5, 0.0, 0.0, 0.0, 62e-5},
                             .center = {0.0, 0.0, 0.004},
                             .gravity = G};
    double qx[4], qy[4], q[4];
    tact_quat_from_rotvec(qx, x);
    tact_quat_from_rotvec(qy, y);
    tact_quat_mul(q, qy, qx);
    set_rolling_ellipsoid(&b, size, PI / 180.0);
    set_rolling_initial_state(&b, q, spin);
    *s = ball_on_ground(0.02, 0.25);
    s->shape = (struct tact_shape){.kind = TACT_SHAPE_ELLIPSOID, .size = {0.11, 0.022, 0.018}};
    s->local.position[2] = 0.004;
    tact_quat_from_rotvec(s->local.quat_wxyz, z);
    tact_v3_set(s->inertia, 3.0e-5, 60e-5, 62e-5);
    memcpy(s->pose.quat_wxyz, b.y, 4 * sizeof *b.y);
    tact_v3_copy(s->pose.position, b.y + 7);
    rolling_centre_velocity(&b, s->twist);
    tact_quat_rotate(s->twist + 3, b.y, b.y + 4);
    return b;
}

/* The equations of rolling by themselves: when the rattleback reverses, and its spin after 5 s. */
static double exact_spin_reversal_time(struct rolling_body *b)
{
    const double h = 5e-4;
    double last = 4.0, reverses = 0.0, w[3];
    for (int k = 1; k <= 10000; k++) {
        integrate_rolling_step(b, h);
        tact_quat_rotate(w, b->y, b->y + 4);
        if (!(reverses > 0.0) && w[2] < 0.0) {
            reverses = h * (k - w[2] / (w[2] - last));
        }
        last = w[2];
    }
    return reverses;
}

/* The rattleback reverses at 3.416 s by steps of up to 4 ms; "large steps" are for slow bodies: at
 * 16 ms it does so at another time, and at 50 ms, with which the paper's top still reversed, not at
 * all. */
static void reduced_rattleback_reverses_at_the_exact_time(void **state)
{
    (void)state;
    const double steps[4] = {50e-3, 16e-3, 4e-3, 1e-3};
    struct start s;
    struct rolling_body b = make_rattleback(4.0, &s);
    double w[3];
    const double exact = exact_spin_reversal_time(&b);
    tact_quat_rotate(w, b.y, b.y + 4);
    printf("exact: reverses at %.4f s, spin %.4f\n", exact, w[2]);
    for (int i = 0; i < campaign_trial_count(4, 4); i++) {
        struct tact_reduced_options o = options_with_friction(1.0);
        o.max_step = steps[i];
        o.slip_speed = 1e-3;
        struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
        struct tact_pose pose;
        double twist[6], last = 4.0, reverses = 0.0;
        assert_int_equal(tact_reduced_report(r)->mode, TACT_REDUCED_ROLLING);
        const double start = tact_reduced_energy(r);
        for (int k = 1; k <= 5.0 / steps[i] + 0.5; k++) {
            if (tact_reduced_advance(r, steps[i] * k)) {
                break;
            }
            tact_reduced_get(r, &pose, twist);
            if (!(reverses > 0.0) && twist[5] < 0.0) {
                reverses = steps[i] * (k - twist[5] / (twist[5] - last));
            }
            last = twist[5];
        }
        printf("steps of %g ms: reverses at %.4f s, spin %.4f after 5 s, energy %+.2e J, %s\n",
               1e3 * steps[i], reverses, twist[5], tact_reduced_energy(r) - start,
               tact_reduced_mode_name(tact_reduced_report(r)->mode));
        if (i > 1) {
            assert_true(fabs(reverses - exact) < (i == 2 ? 1.5e-2 : 1e-4));
            assert_true(fabs(twist[5] - w[2]) < (i == 2 ? 5e-2 : 1e-3));
        } else {
            assert_true(!(fabs(reverses - exact) < 0.1));
        }
        tact_reduced_destroy(r);
    }
}

/* The tippe top, its axis tilted by 0.5 rad, spun about the vertical at 155 rad/s: when it is
 * level, its tilt at the end [degrees], the relative drift of Jellett's integral, and separations.
 */
struct tippe_top_motion {
    double level, end, drift;
    long separations;
};

static struct tippe_top_motion run_reduced_tippe_top(double friction, double seconds)
{
    const double radius = 0.02, mass = 0.02, low = 0.006, tilt[3] = {0.0, 0.5, 0.0};
    struct start s = ball_on_ground(radius, mass);
    struct tact_reduced_options o = options_with_friction(friction);
    struct tippe_top_motion m = {.level = 0.0};
    double axis[3], z[3] = {0.0, 0.0, 1.0}, last = 1.0;
    tact_v3_set(s.inertia, 131.0 / 350.0 * mass * radius * radius,
                131.0 / 350.0 * mass * radius * radius, 0.4 * mass * radius * radius);
    s.local.position[2] = low;
    tact_quat_from_rotvec(s.pose.quat_wxyz, tilt);
    tact_quat_rotate(axis, s.pose.quat_wxyz, z);
    tact_v3_set(s.pose.position, -low * axis[0], -low * axis[1], radius - low * axis[2]);
    s.twist[5] = 155.0;
    o.max_step = 5e-4;
    struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
    for (int k = 1; k <= lround(seconds / o.max_step); k++) {
        struct tact_body body = r->body;
        double l[3], arm[3];
        assert_int_equal(tact_reduced_advance(r, 5e-4 * k), 0);
        tact_reduced_get(r, &body.pose, body.twist);
        tact_body_refresh(&body);
        tact_quat_rotate(axis, body.pose.quat_wxyz, z);
        if (!(m.level > 0.0) && axis[2] < 0.0) {
            m.level = 5e-4 * (k - axis[2] / (axis[2] - last));
        }
        last = axis[2];
        tact_body_momentum(&body, l);
        tact_v3_scale(arm, axis, low);
        arm[2] -= radius;
        m.drift = fmax(m.drift, fabs(-tact_v3_dot(l, arm) / 7.161736e-6 - 1.0));
    }
    m.end = 180.0 / PI * acos(last);
    m.separations = tact_reduced_report(r)->separations;
    tact_reduced_destroy(r);
    printf("friction %.1f: level at %.4f s, J within %.1e, %.1f degrees after %g s\n", friction,
           m.level, m.drift, m.end, seconds);
    return m;
}

/* Point friction turns the top over, and keeps Jellett's integral whatever the coefficient. With
 * 0.3 it is level at 0.495 s; it lifts off at 0.45 s, which an equation of motion without
 * separation does not know; after 1 s it is where the ordinary solver has it, at 164 degrees
 * (test_smooth_sliding), and not at 159. */
static void reduced_tippe_top_turns_over(void **state)
{
    (void)state;
    SKIP_IN_QUICK_SANITIZER_RUN();
    const struct tippe_top_motion is = run_reduced_tippe_top(0.3, 1.0),
                                  less = run_reduced_tippe_top(0.1, 1.0),
                                  more = run_reduced_tippe_top(0.6, 0.4);
    assert_true(fabs(is.level - 0.495) < 1e-3 && fabs(is.end - 164.0) < 1.0);
    assert_true(is.separations > 0 && !(less.level > 0.0) && fabs(more.level - 0.2688) < 1e-3);
    assert_true(is.drift < 1e-5 && less.drift < 1e-7 && more.drift < 1e-7);
}

/* A small ball at the end of a long arm that turns at 50 rad/s passes 10 mm in 1 ms: it grazes
 * another, which it overlaps for 4 mm of its way only, between two such steps. */
static void swung_ball_does_not_pass_through_another(void **state)
{
    (void)state;
    struct start s = ball_on_ground(0.01, 0.1);
    struct tact_reduced_options o = options_with_friction(0.0);
    const double angle = 0.525, far = 0.2199;
    tact_v3_set(o.gravity, 0.0, 0.0, 0.0);
    tact_v3_set(s.inertia, 1e-3, 1e-3, 1e-3);
    s.local.position[0] = 0.2;
    s.fixed = s.shape;
    tact_v3_set(s.place.position, far * cos(angle), far * sin(angle), 0.0);
    s.pose.position[2] = 0.0;
    s.twist[5] = 50.0;
    struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
    assert_int_equal(tact_reduced_advance(r, 0.02), 0);
    printf("%ld impacts in %ld steps\n", tact_reduced_report(r)->impacts,
           tact_reduced_report(r)->steps);
    assert_true(tact_reduced_report(r)->impacts > 0);
    tact_reduced_destroy(r);
}

/* A ring of RING_AND_TUBE_RADII[0], mean radius and radius of the tube, hangs in a fixed one of
 * RING_AND_TUBE_RADII[1], each across the other; it turns about the contact, `speed` times as fast
 * as in torus_on_torus.yaml. */
static const double RING_AND_TUBE_RADII[2][2] = {{0.03, 0.004}, {0.05, 0.006}};

static struct start start_of_ring_hanging_in_ring(double speed)
{
    const double mass = 0.05, hole = RING_AND_TUBE_RADII[0][0] - RING_AND_TUBE_RADII[0][1];
    struct start s = ball_on_ground(0.01, mass);
    const double y[3] = {0.0, 0.5 * PI, 0.0}, x[3] = {0.5 * PI, 0.0, 0.0};
    const double arm[3] = {0.0, 0.0, -hole};
    const double across = mass * (0.5 * RING_AND_TUBE_RADII[0][0] * RING_AND_TUBE_RADII[0][0] +
                                  0.625 * RING_AND_TUBE_RADII[0][1] * RING_AND_TUBE_RADII[0][1]);
    s.shape = (struct tact_shape){.kind = TACT_SHAPE_TORUS,
                                  .size = {RING_AND_TUBE_RADII[0][0], RING_AND_TUBE_RADII[0][1]}};
    s.fixed = (struct tact_shape){.kind = TACT_SHAPE_TORUS,
                                  .size = {RING_AND_TUBE_RADII[1][0], RING_AND_TUBE_RADII[1][1]}};
    tact_v3_set(s.inertia, across, across, 2.0 * across);
    tact_quat_from_rotvec(s.place.quat_wxyz, y);
    s.place.position[2] = RING_AND_TUBE_RADII[1][0];
    tact_quat_from_rotvec(s.pose.quat_wxyz, x);
    s.pose.position[2] = RING_AND_TUBE_RADII[1][1] - hole;
    tact_v3_set(s.twist + 3, 2.0 * speed, 3.0 * speed, speed);
    tact_v3_cross(s.twist, s.twist + 3, arm);
    return s;
}

/* Two rings touch in one point up to an angle between them: with mean m and deviation d of the
 * principal curvatures of both, where cos 2 phi = (d1^2 + d2^2 - (m1 + m2)^2)/(2 d1 d2). */
static void linked_rings_touch_in_one_point_up_to_an_angle(void **state)
{
    (void)state;
    const struct start s = start_of_ring_hanging_in_ring(0.0);
    const struct tact_reduced_options o = options_with_friction(0.8);
    double mean = 0.0, d[2];
    for (int b = 0; b < 2; b++) {
        const double tube = 1.0 / RING_AND_TUBE_RADII[b][1],
                     hole = -1.0 / (RING_AND_TUBE_RADII[b][0] - RING_AND_TUBE_RADII[b][1]);
        mean += 0.5 * (tube + hole);
        d[b] = 0.5 * (tube - hole);
    }
    const double angle =
        0.5 * acos((d[0] * d[0] + d[1] * d[1] - mean * mean) / (2.0 * d[0] * d[1]));
    for (int i = 0; i < 4; i++) {
        struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
        struct reduced_state at = r->state;
        at.q[4] += (i < 2 ? 1.0 : -1.0) * (angle + (i % 2 ? 1e-9 : -1e-9));
        at.max_kinetic_energy_since_contact_began = INFINITY;
        assert_int_equal(tact_reduced_check_state_possible(r, &at),
                         i % 2 ? FAILURE_OVERLAP_BESIDE_CONTACT : NO_SIMULATION_FAILURE);
        tact_reduced_destroy(r);
    }
    printf("up to %.3f degrees\n", 180.0 / PI * angle);
}

/* Rings pushed so hard that they come to that angle stop there, with the energy they had. */
static void linked_rings_pushed_hard_stop_where_contacts_merge(void **state)
{
    (void)state;
    const struct start s = start_of_ring_hanging_in_ring(2.0);
    for (int i = 0; i < 2; i++) {
        struct tact_reduced_options o = options_with_friction(0.8);
        o.max_step = i ? 1e-3 : 4e-3;
        struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
        const double start = tact_reduced_energy(r),
                     greatest_kinetic_energy = r->state.max_kinetic_energy_since_contact_began;
        const int rc = tact_reduced_advance(r, 2.0);
        const double change = (tact_reduced_energy(r) - start) / greatest_kinetic_energy;
        printf("by %g ms: %.4f s, energy %+.1e of the kinetic one; %s\n", 1e3 * o.max_step,
               tact_reduced_report(r)->time, change, tact_reduced_failure(r));
        assert_int_equal(rc, -EDOM);
        assert_true(fabs(tact_reduced_report(r)->time - 0.875) < 0.01);
        assert_true(change > -0.5 && change < 0.1);
        tact_reduced_destroy(r);
    }
}

/* Dynamic friction above the static one, a start with overlap, and a motion or a gap that is not
 * finite. */
static void failures_of_the_reduced_motion_are_named(void **state)
{
    (void)state;
    struct start s = ball_on_ground(0.02, 0.1);
    struct tact_reduced_options o = options_with_friction(0.3);
    struct tact_reduced *r;
    struct tact_error err = {.line = 0};
    for (int i = 0; i < 2; i++) {
        o.friction_static = i ? 0.0 : 0.29;
        assert_int_equal(tact_reduced_create(&s.shape, &s.local, s.mass, s.inertia, &s.fixed,
                                             &s.place, &o, &r, &err),
                         -EINVAL);
        assert_null(r);
        assert_non_null(strstr(err.text, "is below friction_dynamic"));
    }
    o.friction_static = 0.3;
    s.twist[0] = 1.0;
    r = create_and_start_reduced_motion(&s, &o);
    assert_string_equal(tact_reduced_failure(r), "");
    r->options.friction_dynamic = -0.3; /* with x = 0.3 g t, energy is 1 + 2 x + 3.5 x^2 */
    assert_int_equal(tact_reduced_advance(r, 0.06), -EDOM);
    assert_non_null(
        strstr(tact_reduced_failure(r), "the computed energy rises by more than a tenth"));
    printf("stopped after %.4f s\n", tact_reduced_report(r)->time);
    assert_true(fabs(tact_reduced_report(r)->time - (sqrt(5.4) - 2.0) / (7.0 * 0.3 * G)) < 1e-5);
    r->state.rate[0] = NAN;
    assert_int_equal(tact_reduced_advance(r, 0.1), -EDOM);
    assert_string_equal(tact_reduced_failure(r), "the computed motion is not finite");
    s.pose.position[2] = 0.019;
    assert_int_equal(tact_reduced_start(r, &s.pose, s.twist, 1e-6), -EDOM);
    assert_string_equal(tact_reduced_failure(r), "the surfaces overlap");
    s.pose.position[2] = 0.02;
    assert_int_equal(tact_reduced_start(r, &s.pose, s.twist, 1e-6), 0);
    assert_string_equal(tact_reduced_failure(r), "");
    s.pose.position[2] = 1.0; /* no contact is near, whose gap would be infinite too */
    assert_int_equal(tact_reduced_start(r, &s.pose, s.twist, INFINITY), -EINVAL);
    assert_string_equal(tact_reduced_failure(r), "the computed motion is not finite");
    tact_reduced_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_ball_is_slowed_until_it_rolls),
        cmocka_unit_test(pressing_ball_has_a_negative_normal_component_and_does_not_separate),
        cmocka_unit_test(static_friction_holds_and_dynamic_friction_slows_on_a_slope),
        cmocka_unit_test(ball_rolling_off_a_ball_leaves_it_at_the_exact_angle),
        cmocka_unit_test(reduced_impacts_follow_their_laws),
        cmocka_unit_test(spin_sticks_below_the_torsion_limit),
        cmocka_unit_test(reduced_rattleback_reverses_at_the_exact_time),
        cmocka_unit_test(reduced_tippe_top_turns_over),
        cmocka_unit_test(swung_ball_does_not_pass_through_another),
        cmocka_unit_test(linked_rings_touch_in_one_point_up_to_an_angle),
        cmocka_unit_test(linked_rings_pushed_hard_stop_where_contacts_merge),
        cmocka_unit_test(failures_of_the_reduced_motion_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
