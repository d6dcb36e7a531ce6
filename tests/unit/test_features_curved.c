/* Distance and least translation of cylinders and ellipsoids, by the conditions of the optimum:
 * the gap along the normal in closed form, points of the solids at that distance, and no direction
 * with less depth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "support/manifold_check.h"
#include "support/random.h"

struct solid {
    struct tact_shape shape;
    struct tact_convex_core *core;
    struct tact_pose pose;
};

static struct solid make_solid(enum tact_shape_kind kind, double x, double y, double z)
{
    struct solid s = {.shape = {.kind = kind, .size = {x, y, z}}, .pose = tact_pose_identity()};
    if (kind == TACT_SHAPE_BOX) {
        assert_int_equal(tact_shape_tessellate(&s.shape), 0);
    }
    assert_int_equal(tact_convex_core_create(&s.shape, &s.core), 0);
    return s;
}

static void free_convex_solid(struct solid *s)
{
    tact_convex_core_free(s->core);
    tact_shape_release(&s->shape);
}

/* Support function of a shape in its own frame, by its closed form. */
static double support_function_of_shape(const struct tact_shape *s, const double n[3])
{
    const double *a = s->size;
    switch (s->kind) {
    case TACT_SHAPE_CYLINDER:
        return a[0] * hypot(n[0], n[1]) + a[1] * fabs(n[2]);
    case TACT_SHAPE_ELLIPSOID:
        return sqrt(a[0] * a[0] * n[0] * n[0] + a[1] * a[1] * n[1] * n[1] +
                    a[2] * a[2] * n[2] * n[2]);
    case TACT_SHAPE_BOX:
        return a[0] * fabs(n[0]) + a[1] * fabs(n[1]) + a[2] * fabs(n[2]);
    case TACT_SHAPE_CAPSULE:
        return a[0] + a[1] * fabs(n[2]);
    default:
        return a[0];
    }
}

/* Lower bound of the distance by which a point (shape frame) is outside of a shape; to first order
 * for an ellipsoid [m]. */
static double distance_outside_shape(const struct tact_shape *s, const double p[3])
{
    const double *a = s->size;
    switch (s->kind) {
    case TACT_SHAPE_CYLINDER:
        return fmax(hypot(p[0], p[1]) - a[0], fabs(p[2]) - a[1]);
    case TACT_SHAPE_ELLIPSOID: {
        double f = 0.0, slope = 0.0;
        for (int i = 0; i < 3; i++) {
            f += p[i] * p[i] / (a[i] * a[i]);
            slope += 4.0 * p[i] * p[i] / (a[i] * a[i] * a[i] * a[i]);
        }
        return (f - 1.0) / sqrt(slope);
    }
    case TACT_SHAPE_BOX:
        return fmax(fabs(p[0]) - a[0], fmax(fabs(p[1]) - a[1], fabs(p[2]) - a[2]));
    case TACT_SHAPE_CAPSULE: {
        double end = fabs(p[2]) > a[1] ? fabs(p[2]) - a[1] : 0.0;
        return hypot(hypot(p[0], p[1]), end) - a[0];
    }
    default:
        return tact_v3_norm(p) - a[0];
    }
}

/* Gap between A and B along a unit vector of the world, from B to A [m]. */
static double gap_of_solids_along(const struct solid *a, const struct solid *b, const double n[3])
{
    double turn[9], in[3], apart[3];
    tact_v3_sub(apart, a->pose.position, b->pose.position);
    double gap = tact_v3_dot(apart, n);
    tact_quat_to_m3(turn, a->pose.quat_wxyz);
    tact_m3_tmul_v3(in, turn, n);
    gap -= support_function_of_shape(&a->shape, in);
    tact_quat_to_m3(turn, b->pose.quat_wxyz);
    tact_m3_tmul_v3(in, turn, n);
    return gap - support_function_of_shape(&b->shape, in);
}

static double point_error_of_separation(const struct solid *s, const struct tact_separation *sep,
                                        const double *point)
{
    double turn[9], rel[3], in[3];
    tact_v3_add(rel, sep->origin, point);
    tact_v3_sub(rel, rel, s->pose.position);
    tact_quat_to_m3(turn, s->pose.quat_wxyz);
    tact_m3_tmul_v3(in, turn, rel);
    return distance_outside_shape(&s->shape, in);
}

/* The greatest gap of two solids along any direction, by a grid over the unit sphere, then finer
 * grids around its maxima. */
static double greatest_gap_over_directions(const struct solid *a, const struct solid *b)
{
    double best = -INFINITY;
    for (int start = 0; start < 8; start++) {
        double n[3], at, step = 0.3;
        do {
            tact_v3_set(n, uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
        } while (!(tact_v3_normalize(n, n) > 0.1));
        at = gap_of_solids_along(a, b, n);
        for (int i = 0; i < 200 && step > 1e-8; i++) {
            double t[2][3], next[3], found[3] = {0.0};
            double most = at;
            tact_v3_tangents(n, t[0], t[1]);
            for (int k = 0; k < 8; k++) {
                double angle = 0.78539816339744831 * k + step;
                tact_v3_copy(next, n);
                tact_v3_axpy(next, step * cos(angle), t[0]);
                tact_v3_axpy(next, step * sin(angle), t[1]);
                tact_v3_normalize(next, next);
                double gap = gap_of_solids_along(a, b, next);
                if (gap > most) {
                    most = gap;
                    tact_v3_copy(found, next);
                }
            }
            if (most > at) {
                at = most;
                tact_v3_copy(n, found);
            } else {
                step *= 0.5;
            }
        }
        best = fmax(best, at);
    }
    return best;
}

static struct solid random_solid(int kind, double size)
{
    double x = size * uniform(0.3, 1.0), y = size * uniform(0.3, 1.0), z = size * uniform(0.3, 1.0);
    static const enum tact_shape_kind shape_kinds[] = {TACT_SHAPE_CYLINDER, TACT_SHAPE_ELLIPSOID,
                                                       TACT_SHAPE_BOX, TACT_SHAPE_CAPSULE,
                                                       TACT_SHAPE_SPHERE};
    return make_solid(shape_kinds[kind], x, y, z);
}

/* Places a solid at random, or, one time in three, aligned with the axes, so that faces, lines and
 * ends coincide. */
static void place_solid_at_random(struct solid *s, double reach, int is_rotated_by_quarter_turns)
{
    static const double half = 0.70710678118654752;
    const double quarter_turn_quats[4][4] = {{1.0, 0.0, 0.0, 0.0},
                                             {half, half, 0.0, 0.0},
                                             {half, 0.0, half, 0.0},
                                             {half, 0.0, 0.0, half}};
    s->pose = random_pose(reach);
    if (is_rotated_by_quarter_turns) {
        memcpy(s->pose.quat_wxyz, quarter_turn_quats[(int)uniform(0.0, 4.0)],
               sizeof s->pose.quat_wxyz);
    }
}

struct worst_separation_deviations {
    double width, points, depth; /* largest deviations of a result, relative to the size: of the gap
                                    along its normal, of its points, of its depth */
};

/* Adds a result's deviations from the conditions of the optimum to *worst. searches_all_directions:
 * whether a direction with less depth is searched for. */
static void check_separation_is_optimal(const struct solid *a, const struct solid *b,
                                        const struct tact_separation *s, double size,
                                        int searches_all_directions,
                                        struct worst_separation_deviations *worst)
{
    double apart[3];
    assert_true(s->is_exact);
    worst->width =
        fmax(worst->width, fabs(gap_of_solids_along(a, b, s->normal) - s->distance) / size);
    worst->width = fmax(worst->width, fabs(s->distance - s->bound) / size);
    tact_v3_sub(apart, s->point_a, s->point_b);
    double off = fabs(tact_v3_norm(apart) - fabs(s->distance)) / size;
    off = fmax(off, point_error_of_separation(a, s, s->point_a) / size);
    off = fmax(off, point_error_of_separation(b, s, s->point_b) / size);
    worst->points = fmax(worst->points, off);
    if (searches_all_directions && s->distance < 0.0) {
        worst->depth =
            fmax(worst->depth, (greatest_gap_over_directions(a, b) - s->distance) / size);
    }
}

static void find_separation_of_pair(const struct solid *a, const struct solid *b, double *state,
                                    struct tact_separation *out)
{
    double none[TACT_NEAREST_STATE] = {0.0};
    assert_int_equal(
        tact_nearest_points(a->core, &a->pose, b->core, &b->pose, state ? state : none, out), 0);
}

/* Checks results at gaps of +-1e-9 and +-1e-13 of the size. At 1e-13 rounding errors affect the
 * direction between the points, but not the gap. */
static void check_separation_when_moved_to_touch(const struct solid *a, const struct solid *b,
                                                 const struct tact_separation *s, double size,
                                                 struct worst_separation_deviations *worst)
{
    static const double gaps[4] = {1e-9, 1e-13, -1e-13, -1e-9};
    for (int i = 0; i < 4; i++) {
        struct solid near = *a;
        struct tact_separation now;
        tact_v3_axpy(near.pose.position, gaps[i] * size - s->distance, s->normal);
        find_separation_of_pair(&near, b, NULL, &now);
        check_separation_is_optimal(&near, b, &now, size, 0, &worst[i == 1 || i == 2]);
    }
}

static void distances_of_random_curved_solids_are_exact(void **state)
{
    (void)state;
    static const double scale[3] = {1e-3, 0.05, 10.0};
    static const char *const names[] = {"cylinder", "ellipsoid", "box", "capsule", "sphere"};
    for (int i = 0; i < 10; i++) {
        int first = i % 2, second = i / 2, deep = 0, supports = 0;
        int trial_count = campaign_trial_count(40, 1000);
        struct worst_separation_deviations worst = {0.0, 0.0, 0.0},
                                           touching_deviations[2] = {{0.0, 0.0, 0.0}};
        for (int k = 0; k < trial_count; k++) {
            double size = scale[k % 3];
            struct solid a = random_solid(first, size), b = random_solid(second, size);
            struct tact_separation s;
            place_solid_at_random(&a, 0.0, k % 3 == 0);
            place_solid_at_random(&b, size * (k & 1 ? 0.8 : 1.6), k % 3 == 0);
            find_separation_of_pair(&a, &b, NULL, &s);
            deep += s.distance < 0.0;
            supports += s.supports;
            check_separation_is_optimal(&a, &b, &s, size, k % 20 == 1, &worst);
            if (s.distance > 0.1 * size) {
                check_separation_when_moved_to_touch(&a, &b, &s, size, touching_deviations);
            }
            free_convex_solid(&a);
            free_convex_solid(&b);
        }
        printf("%s, %s: %d of %d overlap, width %.1e, points %.1e, less depth %.1e of size, about "
               "touch %.1e and %.1e; %.0f supports\n",
               names[first], names[second], deep, trial_count, worst.width, worst.points,
               worst.depth, fmax(touching_deviations[0].width, touching_deviations[1].width),
               touching_deviations[0].points, (double)supports / trial_count);
        assert_true(worst.width < 4e-15 && worst.depth < 4e-15 && worst.points < 1e-14);
        assert_true(touching_deviations[0].width < 4e-15 && touching_deviations[1].width < 4e-15);
        /* rarely the points of the rim of a cylinder and a box that touch are farther off */
        assert_true(touching_deviations[0].points < 5e-9 && touching_deviations[1].points < 5e-9);
    }
}

/* Over small motions, distance searches from the last result and from no start state agree. */
static void warm_and_cold_started_distances_agree(void **state)
{
    (void)state;
    struct solid a = make_solid(TACT_SHAPE_CYLINDER, 0.03, 0.05, 0.0);
    struct solid b[3] = {make_solid(TACT_SHAPE_BOX, 0.04, 0.05, 0.02),
                         make_solid(TACT_SHAPE_ELLIPSOID, 0.03, 0.05, 0.04),
                         make_solid(TACT_SHAPE_CYLINDER, 0.05, 0.01, 0.0)};
    double kept[3][TACT_NEAREST_STATE] = {{0.0}}, worst = 0.0;
    int warm = 0, cold = 0, ticks = campaign_trial_count(3000, 100000);
    for (int i = 0; i < ticks; i++) {
        struct tact_separation now, then;
        double s = 1e-3 * i, way = 0.07 + 0.03 * sin(0.7 * s);
        const double turn[3] = {sin(s), 0.3 * cos(1.3 * s), 0.2 * s};
        tact_quat_from_rotvec(a.pose.quat_wxyz, turn);
        tact_v3_set(a.pose.position, way * cos(0.1 * s), way * sin(0.1 * s), 0.01);
        find_separation_of_pair(&a, &b[i % 3], kept[i % 3], &now);
        find_separation_of_pair(&a, &b[i % 3], NULL, &then);
        worst = fmax(worst, fabs(now.distance - then.distance));
        warm += now.supports;
        cold += then.supports;
    }
    printf("%d ticks: within %.1e m; %.1f supports a tick, cold %.1f\n", ticks, worst,
           (double)warm / ticks, (double)cold / ticks);
    assert_true(worst < 2e-16 && warm < cold);
    free_convex_solid(&a);
    for (int i = 0; i < 3; i++) {
        free_convex_solid(&b[i]);
    }
}

static void find_contact_of_solids(const struct solid *a, const struct solid *b,
                                   struct tact_separation *s, struct tact_manifold *m)
{
    find_separation_of_pair(a, b, NULL, s);
    tact_manifold_find_contact_points(a->core, &a->pose, b->core, &b->pose, s, m);
}

/* Contact polygons of a can of 30 mm by 100 mm that rests on its end, side or rim, on a half-space
 * and on a box. */
static void resting_can_has_exact_contact_polygons(void **state)
{
    (void)state;
    const double r = 0.03, l = 0.05, h = 0.02, g = 1e-5, quarter = 1.5707963267948966;
    struct solid can = make_solid(TACT_SHAPE_CYLINDER, r, l, 0.0);
    struct solid floor[2] = {make_solid(TACT_SHAPE_HALFSPACE, 0.0, 0.0, 0.0),
                             make_solid(TACT_SHAPE_BOX, 0.2, 0.2, h)};
    floor[1].pose.position[2] = -h;
    for (int i = 0; i < 2; i++) {
        struct tact_separation s;
        struct tact_manifold m;
        double can_tilt_rotation_vector[3] = {0.0, 0.05, 0.0}, lowest = INFINITY;
        tact_quat_from_rotvec(can.pose.quat_wxyz, (const double[3]){0.0, 0.0, 0.3});
        tact_v3_set(can.pose.position, 0.01, 0.02, l + g); /* on its end */
        find_contact_of_solids(&can, &floor[i], &s, &m);
        ASSERT_NEAR(s.distance, g, 1e-16);
        ASSERT_NEAR(s.normal[2], 1.0, 1e-15);
        assert_true(m.feature[0] == TACT_FEATURE_FACE && m.corners == 64);
        ASSERT_NEAR(area_of_manifold(&m), 32.0 * r * r * sin(2.0 * quarter / 32.0), 1e-15);
        ASSERT_NEAR(gap_of_manifold_at_point(&m, m.corner[5]), g, 1e-16);

        /* of a tilted can the lowest point is on the rim */
        tact_quat_from_rotvec(can.pose.quat_wxyz, can_tilt_rotation_vector);
        can.pose.position[2] = l * cos(0.05) + r * sin(0.05) + g;
        find_contact_of_solids(&can, &floor[i], &s, &m);
        ASSERT_NEAR(s.distance, g, 1e-16);
        for (int k = 0; k < m.corners; k++) {
            lowest = fmin(lowest, gap_of_manifold_at_point(&m, m.corner[k]));
        }
        ASSERT_NEAR(lowest, g, 2e-17);
        ASSERT_NEAR(s.point_a[0], r * cos(0.05) - l * sin(0.05), 1e-16);

        can_tilt_rotation_vector[1] = 0.7; /* on its rim */
        tact_quat_from_rotvec(can.pose.quat_wxyz, can_tilt_rotation_vector);
        can.pose.position[2] = l * cos(0.7) + r * sin(0.7) - g;
        find_contact_of_solids(&can, &floor[i], &s, &m);
        ASSERT_NEAR(s.distance, -g, 1e-16);
        ASSERT_NEAR(s.normal[2], 1.0, 1e-15);
        assert_true(m.feature[0] == TACT_FEATURE_VERTEX && m.corners == 1);

        can_tilt_rotation_vector[1] = quarter; /* on its side */
        tact_quat_from_rotvec(can.pose.quat_wxyz, can_tilt_rotation_vector);
        can.pose.position[2] = r + g;
        find_contact_of_solids(&can, &floor[i], &s, &m);
        ASSERT_NEAR(s.distance, g, 1e-16);
        ASSERT_NEAR(s.normal[2], 1.0, 1e-15);
        assert_true(m.feature[0] == TACT_FEATURE_EDGE && m.corners == 2);
        ASSERT_NEAR(hypot(m.corner[1][0] - m.corner[0][0], m.corner[1][1] - m.corner[0][1]),
                    2.0 * l, 1e-15);
        ASSERT_NEAR(gap_of_manifold_at_point(&m, m.corner[0]), g, 1e-16);
    }
    struct solid other = can; /* two cans that lie side by side, then crossed */
    struct tact_separation s;
    struct tact_manifold m;
    other.pose.position[1] += 2.0 * r + g;
    other.pose.position[0] += 0.03;
    find_contact_of_solids(&other, &can, &s, &m);
    ASSERT_NEAR(s.distance, g, 1e-16);
    ASSERT_NEAR(s.normal[1], 1.0, 1e-15);
    ASSERT_NEAR(fabs(m.corner[1][0] - m.corner[0][0]) + fabs(m.corner[1][1] - m.corner[0][1]), 0.07,
                1e-12);
    tact_v3_set(other.pose.position, 0.0, 0.01, can.pose.position[2] + 2.0 * r - g);
    tact_quat_from_rotvec(other.pose.quat_wxyz, (const double[3]){quarter, 0.0, 0.0});
    find_contact_of_solids(&other, &can, &s, &m);
    ASSERT_NEAR(s.distance, -g, 1e-16);
    ASSERT_NEAR(s.normal[2], 1.0, 1e-15);
    assert_true(m.corners == 1 && m.feature[1] == TACT_FEATURE_EDGE);
    free_convex_solid(&can);
    free_convex_solid(&floor[0]);
    free_convex_solid(&floor[1]);
}

/* A ball that touches the edge of a face, along a normal within 0.1 rad of that of the face:
 * exactly at one point, without a slope, on whichever side of the edge rounding puts that point. */
static void ball_at_an_edge_touches_at_one_level_point(void **state)
{
    (void)state;
    const double r = 0.02;
    struct solid ball = make_solid(TACT_SHAPE_SPHERE, r, 0.0, 0.0);
    struct solid box = make_solid(TACT_SHAPE_BOX, 0.2, 0.1, 0.05);
    for (int i = 0; i < 200; i++) {
        const double angle = uniform(0.001, 0.09), g = uniform(-1e-4, 1e-4);
        const double n[3] = {sin(angle), 0.0, cos(angle)};
        double edge[3] = {0.2, uniform(-0.09, 0.09), 0.05}, centre[3], middle[3], found[3];
        struct tact_separation s;
        struct tact_manifold m;
        box.pose = random_pose(0.3);
        tact_v3_copy(centre, edge);
        tact_v3_axpy(centre, r + g, n);
        tact_pose_point(ball.pose.position, &box.pose, centre);
        tact_v3_axpy(edge, 0.5 * g, n);
        tact_pose_point(middle, &box.pose, edge);
        find_contact_of_solids(&ball, &box, &s, &m);
        ASSERT_NEAR(s.distance, g, 1e-15);
        assert_int_equal(m.corners, 1);
        tact_v3_add(found, s.origin, m.middle);
        tact_v3_axpy(found, m.corner[0][0], m.t1);
        tact_v3_axpy(found, m.corner[0][1], m.t2);
        for (int k = 0; k < 3; k++) {
            ASSERT_NEAR(found[k], middle[k], 1e-15);
        }
        ASSERT_NEAR(gap_of_manifold_at_point(&m, (const double[2]){r, 0.0}), g, 1e-15);
        ASSERT_NEAR(gap_of_manifold_at_point(&m, (const double[2]){0.0, r}), g, 1e-15);
    }
    free_convex_solid(&ball);
    free_convex_solid(&box);
}

/* A warm-start state of another scene, or of a damaged log, does not change the result, also where
 * the exact normal is within 1e-3 rad of that of a cylinder's end or side: the search, which ends
 * within 1e-7 of the depth, may end at either. */
static void any_warm_start_state_gives_the_same_distance(void **state)
{
    (void)state;
    struct solid a = make_solid(TACT_SHAPE_CYLINDER, 0.03, 0.05, 0.0);
    struct solid b = make_solid(TACT_SHAPE_ELLIPSOID, 0.05, 0.02, 0.03);
    for (int i = 0; i < campaign_trial_count(1000, 1000000); i++) {
        double random_state[TACT_NEAREST_STATE], size = pow(10.0, uniform(0.0, 20.0));
        struct tact_separation one, other;
        b.pose = random_pose(0.07);
        for (int k = 0; k < TACT_NEAREST_STATE; k++) {
            random_state[k] = i % 50 ? uniform(i % 2 ? 0.0 : -size, size) : NAN;
        }
        random_state[0] = i % 3 ? floor(uniform(-4.0, 4.0)) : random_state[0];
        find_separation_of_pair(&a, &b, random_state, &one);
        find_separation_of_pair(&a, &b, NULL, &other);
        ASSERT_NEAR(one.distance, other.distance, 2e-16);
    }
    free_convex_solid(&a);
    free_convex_solid(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_of_random_curved_solids_are_exact),
        cmocka_unit_test(warm_and_cold_started_distances_agree),
        cmocka_unit_test(resting_can_has_exact_contact_polygons),
        cmocka_unit_test(ball_at_an_edge_touches_at_one_level_point),
        cmocka_unit_test(any_warm_start_state_gives_the_same_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
