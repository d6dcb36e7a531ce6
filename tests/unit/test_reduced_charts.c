/*
 * Charts in reduced coordinates (Kry and Pai 2003): a contact that crosses their edges (41 to 43)
 * moves as on one chart, however they are turned against each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/compare/reduced_internal.h"
#include "support/random.h"
#include "support/reduced_start.h"
#include "support/torus_patches.h"

/* A torus in closed form, as 64 patches, or as 400 that are turned against each other. */
enum { TORUS_KINDS = 3 };

static struct tact_charts *make_torus_charts(int kind)
{
    return kind == 0 ? NULL
           : kind == 1
               ? load_torus_surface_patches(8)
               : load_surface_patches_and_free_text(turned_torus_surface_patch_obj_text(20));
}

/* The same torus in these kinds, whose charts are crossed (41 to 43): an ellipsoid that rolls and
 * slides on it, and the torus that slides on the ellipsoid. */
static void torus_of_patches_moves_as_the_exact_torus(void **state)
{
    (void)state;
    const struct tact_shape solid = {.kind = TACT_SHAPE_ELLIPSOID, .size = {0.012, 0.01, 0.009}};
    for (int i = 0; i < 3; i++) {
        const int rolls = i == 1, does_torus_move = i == 2; /* the torus moves on the
                                                     ellipsoid, not the ellipsoid on the torus */
        struct start s = ball_on_ground(0.012, 0.1);
        struct tact_reduced_options o = options_with_friction(rolls ? 0.8 : 0.05);
        struct tact_pose pose[TORUS_KINDS];
        double twist[6];
        long chart_crossing_counts[TORUS_KINDS];
        tact_v3_set(s.inertia, 2e-6, 2.4e-6, 3e-6);
        tact_v3_set(s.twist, -0.15, 0.45, 0.0);
        tact_v3_set(s.twist + 3, 3.0, 6.0, 2.0);
        tact_v3_set(s.pose.position, TORUS_RING_RADIUS_M * cos(0.3), TORUS_RING_RADIUS_M * sin(0.3),
                    TORUS_TUBE_RADIUS_M + 0.009);
        if (does_torus_move) { /* the torus turns about the contact, and slips along x */
            double *arm = s.pose.position;
            tact_v3_set(o.gravity, 0.0, 0.0, -50.0); /* holds it down */
            tact_v3_scale(s.inertia, s.inertia, 20.0);
            tact_v3_scale(arm, arm, -1.0);
            arm[2] = TORUS_TUBE_RADIUS_M;
            tact_v3_scale(s.twist + 3, s.twist + 3, 3.0);
            tact_v3_cross(s.twist, s.twist + 3, arm);
            s.twist[0] += 0.3;
            arm[2] += 0.009;
        }
        o.max_step = rolls ? 5e-5 : 1e-4;
        o.min_step = 1e-10; /* edges are reached to the square of a step */
        for (int k = 0; k < TORUS_KINDS; k++) {
            struct tact_charts *charts = make_torus_charts(k);
            struct tact_reduced *r;
            struct tact_shape *torus = does_torus_move ? &s.shape : &s.fixed;
            *(does_torus_move ? &s.fixed : &s.shape) = solid;
            *torus = k ? (struct tact_shape){.kind = TACT_SHAPE_PATCHES, .charts = charts}
                       : (struct tact_shape){.kind = TACT_SHAPE_TORUS,
                                             .size = {TORUS_RING_RADIUS_M, TORUS_TUBE_RADIUS_M}};
            r = create_and_start_reduced_motion(&s, &o);
            assert_int_not_equal(tact_reduced_report(r)->mode, TACT_REDUCED_FLIGHT);
            assert_int_equal(tact_reduced_advance(r, 0.05), 0);
            assert_int_equal(tact_reduced_report(r)->separations, 0);
            tact_reduced_get(r, &pose[k], twist);
            chart_crossing_counts[k] = tact_reduced_report(r)->crossings;
            tact_reduced_destroy(r);
            tact_charts_free(charts);
        }
        printf("%s, the %s moves:", rolls ? "rolling" : "sliding",
               does_torus_move ? "torus" : "ellipsoid");
        for (int k = 1; k < TORUS_KINDS; k++) {
            double d[3];
            tact_v3_sub(d, pose[k].position, pose[0].position);
            printf(" %ld crossings, %.1e m apart;",
                   chart_crossing_counts[k] - chart_crossing_counts[0], tact_v3_norm(d));
            assert_true(chart_crossing_counts[k] - chart_crossing_counts[0] >= (k == 2 ? 3 : 1) &&
                        tact_v3_norm(d) < 5e-12);
        }
        printf(" without those edges %ld\n", chart_crossing_counts[0]);
        assert_true(chart_crossing_counts[2] >= 4);
    }
}

/* Pose of body 1 (a rotation and a position) and its twist in the world, at these coordinates. */
static void store_pose_and_twist(const struct tact_reduced *r, double out[18])
{
    struct reduced_kinematics k;
    double twist[SPATIAL] = {0.0};
    tact_reduced_kinematics(r->surface, &r->state, &k);
    tact_reduced_moving_body_pose(&k, out, out + 9);
    for (int i = 0; i < SPATIAL * COORDINATES; i++) {
        twist[i / COORDINATES] += k.body_frame_jacobian[i / COORDINATES][i % COORDINATES] *
                                  r->state.rate[i % COORDINATES];
    }
    tact_m3_mul_v3(out + 12, out, twist);
    tact_m3_mul_v3(out + 15, out, twist + 3);
}

/* A random contact of two ellipsoids, at an edge of a chart of body b. */
static int start_at_random_edge(struct tact_reduced *r, const struct tact_shape *shape, int b)
{
    const int edge = (int)uniform(0.0, 3.999); /* t = -1, s = 1, t = 1, s = -1 */
    memset(r, 0, sizeof *r);
    for (int k = 0; k < 2; k++) {
        struct tact_pose place;
        random_unit_quaternion(place.quat_wxyz);
        tact_v3_set(place.position, uniform(-0.05, 0.05), uniform(-0.05, 0.05), 0.0);
        tact_reduced_surface_set_pose(&r->surface[k], shape, &place);
        r->state.chart[k] = (int)uniform(0.0, 5.999);
    }
    for (int i = 0; i < COORDINATES; i++) {
        r->state.q[i] = i < 4 ? uniform(-0.9, 0.9) : uniform(-3.0, 3.0);
        r->state.rate[i] = uniform(-2.0, 2.0);
    }
    r->state.q[2 * b + (edge % 2 ? 0 : 1)] = edge == 1 || edge == 2 ? 1.0 : -1.0;
    return edge;
}

/* A change of chart at an edge, of either body, leaves the pose and the velocity of body 1. Psi
 * changes by the angle between the charts' axes (42), with the same sign on both bodies: with the
 * other on body 2, or with acos, which has no sign, the body jumps. */
static void change_of_chart_keeps_pose_and_velocity(void **state)
{
    (void)state;
    const struct tact_shape shape = {.kind = TACT_SHAPE_ELLIPSOID, .size = {0.05, 0.03, 0.02}};
    double worst = 0.0, opposite = 0.0, unsigned_angle = 0.0;
    for (int n = 0; n < 400; n++) {
        struct tact_reduced r;
        double before[18], after[18], psi;
        const int b = n % 2, edge = start_at_random_edge(&r, &shape, b);
        psi = r.state.q[4];
        store_pose_and_twist(&r, before);
        assert_int_equal(tact_reduced_change_chart(&r, b, edge), 0);
        store_pose_and_twist(&r, after);
        for (int i = 0; i < 18; i++) {
            worst = fmax(worst, fabs(after[i] - before[i]));
        }
        const double turn = r.state.q[4] - psi;
        for (int k = 0; k < 2; k++) {
            r.state.q[4] = psi + (k ? -turn : fabs(turn));
            store_pose_and_twist(&r, after);
            double off = 0.0;
            for (int i = 0; i < 9; i++) {
                off = fmax(off, fabs(after[i] - before[i]));
            }
            opposite = k && b == 1 ? fmax(opposite, off) : opposite;
            unsigned_angle = k ? unsigned_angle : fmax(unsigned_angle, off);
        }
    }
    printf("pose and twist to %.1e; by the other sign on body 2 off by up to %.2f, without sign by "
           "%.2f\n",
           worst, opposite, unsigned_angle);
    assert_true(worst < 1e-12 && opposite > 0.5 && unsigned_angle > 0.5);
}

/* Where the contact crosses an edge, the report is that of the place beyond it, and the direction
 * in which slip would begin is the same in the world, in the axes of the new chart. */
static void chart_edges_keep_the_report_and_the_direction_of_slip(void **state)
{
    (void)state;
    struct start s = ball_on_ground(0.01, 0.1);
    struct tact_reduced_options o = options_with_friction(0.8);
    double off = 0.0, turned = 0.0;
    int chart_crossing_counts = 0;
    tact_v3_set(s.twist, 0.1, 0.3, 0.0);
    tact_v3_set(s.twist + 3, -30.0, 10.0, 5.0);
    s.shape = (struct tact_shape){.kind = TACT_SHAPE_ELLIPSOID, .size = {0.01, 0.01, 0.01}};
    struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
    while (r->report.time < 0.2) {
        struct reduced_kinematics k;
        double axes[9], before[3], after[3], d[3];
        const int chart = r->state.chart[0];
        r->incipient_slip_direction[0] = 0.6;
        r->incipient_slip_direction[1] = 0.8;
        tact_reduced_kinematics(r->surface, &r->state, &k);
        tact_reduced_contact_axes_in_world(&k, axes);
        tact_m3_mul_v3(
            before, axes,
            (double[3]){r->incipient_slip_direction[0], r->incipient_slip_direction[1], 0.0});
        assert_int_equal(tact_reduced_step_contact(r, 0.2), NO_SIMULATION_FAILURE);
        if (r->state.chart[0] == chart) {
            continue;
        }
        tact_reduced_kinematics(r->surface, &r->state, &k);
        tact_reduced_contact_axes_in_world(&k, axes);
        tact_m3_mul_v3(
            after, axes,
            (double[3]){r->incipient_slip_direction[0], r->incipient_slip_direction[1], 0.0});
        tact_v3_sub(d, after, before);
        turned = fmax(turned, tact_v3_norm(d));
        tact_v3_sub(d, r->report.contact, k.frame[1].at);
        off = fmax(off, tact_v3_norm(d));
        chart_crossing_counts++;
    }
    printf("%d crossings: report off by %.1e m, direction of slip by %.1e\n", chart_crossing_counts,
           off, turned);
    assert_true(chart_crossing_counts >= 2 && off < 1e-15 && turned < 1e-3);
    tact_reduced_destroy(r);
}

/* Rotates the charts of a ball so that the corner of three of them is in a direction of the body
 * frame, and by `turn` [rad] about it. */
static void turn_chart_corner_to(const double direction[3], double turn, double quat_wxyz[4])
{
    const double corner[3] = {sqrt(1.0 / 3.0), sqrt(1.0 / 3.0), sqrt(1.0 / 3.0)};
    double axis[3], about[3], first[4], second[4];
    tact_v3_cross(axis, corner, direction);
    const double angle = atan2(tact_v3_norm(axis), tact_v3_dot(corner, direction));
    tact_v3_normalize(axis, axis);
    tact_v3_scale(axis, axis, angle);
    tact_v3_scale(about, direction, turn);
    tact_quat_from_rotvec(first, axis);
    tact_quat_from_rotvec(second, about);
    tact_quat_mul(quat_wxyz, second, first);
}

/* A ball rolls down a slope over the corner of three charts of it, to rounding or beside it, in any
 * direction: exactly 5/7 g sin A, as over the middle of one chart (43). */
static void ball_rolls_over_the_corner_of_its_charts_as_over_one_chart(void **state)
{
    (void)state;
    static const double angles_from_chart_corner[4] = {0.0, 1e-12, -1e-7, 1e-3}; /* [rad] */
    const double slope = 0.3, seconds = 0.3, reached = 0.4; /* reached: angle at the corner [rad] */
    const double expected = 0.5 * 5.0 / 7.0 * 9.81 * sin(slope) * seconds * seconds;
    double worst = 0.0;
    long crossings = 0;
    for (int i = 0; i < 48; i++) {
        struct start s = ball_on_ground(0.01, 0.1);
        struct tact_reduced_options o = options_with_friction(0.8);
        struct tact_pose pose;
        double twist[6], corner[3] = {sin(reached), angles_from_chart_corner[i % 4],
                                      -cos(reached)}; /* comes to the ground */
        tact_v3_normalize(corner, corner);
        s.shape = (struct tact_shape){.kind = TACT_SHAPE_ELLIPSOID, .size = {0.01, 0.01, 0.01}};
        turn_chart_corner_to(corner, 2.0 * 3.14159265358979323846 / 12.0 * (i / 4),
                             s.local.quat_wxyz);
        tact_v3_set(o.gravity, 9.81 * sin(slope), 0.0, -9.81 * cos(slope));
        struct tact_reduced *r = create_and_start_reduced_motion(&s, &o);
        assert_int_equal(tact_reduced_advance(r, seconds), 0);
        tact_reduced_get(r, &pose, twist);
        worst = fmax(worst, fabs(pose.position[0] / expected - 1.0));
        worst = fmax(worst, fabs(pose.position[1] / expected));
        assert_int_equal(tact_reduced_report(r)->mode, TACT_REDUCED_ROLLING);
        assert_int_equal(tact_reduced_report(r)->separations, 0);
        crossings += tact_reduced_report(r)->crossings;
        tact_reduced_destroy(r);
    }
    printf("48 ways over a corner, %ld crossings: off by %.1e of the way\n", crossings, worst);
    assert_true(crossings >= 48 && worst < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torus_of_patches_moves_as_the_exact_torus),
        cmocka_unit_test(change_of_chart_keeps_pose_and_velocity),
        cmocka_unit_test(chart_edges_keep_the_report_and_the_direction_of_slip),
        cmocka_unit_test(ball_rolls_over_the_corner_of_its_charts_as_over_one_chart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
