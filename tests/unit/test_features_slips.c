/* Errors in the formulas of Yi and Drumwright 2018 that change a result: each test shows that the
 * printed formula is wrong and tact's result exact. Two more are tested where their subject is:
 * IV-D, no normal for edges that cross, in test_features_distance.c, and the frequency of a box
 * that rocks on its corners' springs in test_physics_features.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/compare/moments_dual.h"
#include "contact/pair/features/distance.h"
#include "contact/pair/features/layer_internal.h"
#include "support/random.h"

/* Distance of shape a at `position`, not turned, from shape b at the origin; normal gets the
 * contact normal, or is NULL. */
static double distance_to_body_at_origin(const struct tact_shape *a, const double position[3],
                                         const struct tact_shape *b, double normal[3])
{
    static struct tact_distance d;
    struct tact_pose at = tact_pose_identity(), origin = tact_pose_identity();
    tact_v3_copy(at.position, position);
    assert_int_equal(tact_distance_find(a, &at, b, &origin, &d), 0);
    if (normal) {
        tact_v3_copy(normal, d.normal);
    }
    return d.distance;
}

static struct tact_shape make_box_shape(double x, double y, double z)
{
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {0.5 * x, 0.5 * y, 0.5 * z}};
    assert_int_equal(tact_shape_tessellate(&box), 0);
    return box;
}

/* III-B: "for bodies with convex geometries", the vector from centre to centre satisfies the
 * necessary condition that a move along it lessens the least translation. Not for a tetrahedron of
 * base radius 1 and height 10, centroid at 2.5, and a small ball on its axis at 1.2: a move down,
 * away from the centroid, takes it deeper. */
static void line_of_centres_may_be_no_valid_contact_normal(void **state)
{
    (void)state;
    const double s = 0.5 * sqrt(3.0), radius = 1e-3, heights[2] = {1.2, 0.5};
    const double corner[12] = {1.0, 0.0, 0.0, -0.5, s, 0.0, -0.5, -s, 0.0, 0.0, 0.0, 10.0};
    struct tact_shape tetrahedron = {.kind = TACT_SHAPE_CONVEX};
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {radius, 0.0, 0.0}};
    struct tact_error err = {.line = 0};
    struct tact_mesh *mesh;
    double depth[2], normal[3];
    assert_int_equal(tact_mesh_hull(corner, 4, &mesh, &err), 0);
    tetrahedron.mesh = mesh;
    for (int i = 0; i < 2; i++) {
        /* exact depth below the nearest side, whose slope is the base's inner radius, 0.5, over the
         * height */
        const double exact = 0.5 * (10.0 - heights[i]) / sqrt(100.25);
        const double at[3] = {0.0, 0.0, heights[i]};
        depth[i] = -distance_to_body_at_origin(&ball, at, &tetrahedron, normal) - radius;
        print_message("at %.1f: %.6f deep, exact %.6f\n", heights[i], depth[i], exact);
        assert_true(fabs(depth[i] - exact) < 1e-14);
    }
    assert_true(heights[1] < heights[0] && heights[0] < 2.5 && depth[1] > depth[0] + 0.03);
    /* a move along tact's normal reduces the depth by its own length */
    for (int i = 1; i <= 4; i++) {
        double at[3] = {0.0, 0.0, heights[0]};
        const double shift_distance = 0.25 * i * depth[0];
        distance_to_body_at_origin(&ball, at, &tetrahedron, normal);
        tact_v3_axpy(at, shift_distance, normal);
        double left = -distance_to_body_at_origin(&ball, at, &tetrahedron, NULL) - radius;
        assert_true(fabs(left - (depth[0] - shift_distance)) < 1e-14);
    }
    tact_mesh_free(mesh);
}

/* The vector between centres is a valid normal where A - B is symmetric about a point: a move along
 * it never takes one of two boxes deeper into the other. */
static void line_of_centres_is_valid_normal_for_two_boxes(void **state)
{
    (void)state;
    int overlapping_pair_count = 0;
    for (int i = 0; i < 300; i++) {
        struct tact_shape a = make_box_shape(uniform(0.2, 1), uniform(0.2, 1), uniform(0.2, 1));
        struct tact_shape b = make_box_shape(uniform(0.2, 1), uniform(0.2, 1), uniform(0.2, 1));
        struct tact_pose pose = random_pose(0.4), origin = tact_pose_identity();
        static struct tact_distance before, after;
        assert_int_equal(tact_distance_find(&a, &pose, &b, &origin, &before), 0);
        tact_v3_scale(pose.position, pose.position, 1.05);
        assert_int_equal(tact_distance_find(&a, &pose, &b, &origin, &after), 0);
        overlapping_pair_count += before.distance < 0.0;
        assert_true(before.distance >= 0.0 || after.distance >= before.distance - 1e-14);
        tact_shape_release(&a);
        tact_shape_release(&b);
    }
    assert_true(overlapping_pair_count > 100);
}

/* III-A: disjoint bodies "should be translated apart" by delta to touch. They must be moved
 * together by delta, against the normal. */
static void printed_translation_of_disjoint_bodies_has_the_wrong_sign(void **state)
{
    (void)state;
    struct tact_shape a = make_box_shape(0.3, 0.2, 0.1), b = make_box_shape(0.5, 0.4, 0.2);
    for (int i = 0; i < 2; i++) {
        const double place[3] = {0.1, -0.05, i ? 0.4 : 0.1};
        double normal[3], kissing[3], printed_position[3];
        double d = distance_to_body_at_origin(&a, place, &b, normal);
        tact_v3_copy(kissing, place);
        tact_v3_copy(printed_position, place);
        tact_v3_axpy(kissing, -d, normal);
        tact_v3_axpy(printed_position, fabs(d), normal);
        double distance_after_printed_move =
            distance_to_body_at_origin(&a, printed_position, &b, NULL);
        assert_true(fabs(distance_to_body_at_origin(&a, kissing, &b, NULL)) < 1e-15);
        assert_true(i ? fabs(distance_after_printed_move - 2.0 * d) < 1e-15
                      : fabs(distance_after_printed_move) < 1e-15);
    }
    tact_shape_release(&a);
    tact_shape_release(&b);
}

/* Appendix: the mean force of an edge's ends is that of the edge, but not the torque: pressure
 * that is linear along it has (f_t - f_h) L / 12 about the middle, the two ends (f_t - f_h) L / 4.
 * f: f: force at the depth of a point with the whole stiffness. */
static void springs_at_the_ends_of_an_edge_give_too_much_torque(void **state)
{
    (void)state;
    enum { POINTS = 100000 };
    const double length = 0.2, width = 1e-6, stiffness = 3e4, tail = 2e-3, head = 5e-4;
    struct tact_patch p = {.corners = 4};
    const double corner[4][2] = {{-0.5 * length, -0.5 * width},
                                 {0.5 * length, -0.5 * width},
                                 {0.5 * length, 0.5 * width},
                                 {-0.5 * length, 0.5 * width}};
    double force = 0.0, torque = 0.0;
    memcpy(p.corner, corner, sizeof corner);
    for (int i = 0; i < 3; i++) {
        p.frame[4 * i] = 1.0;
    }
    assert_int_equal(tact_patch_from_outline(&p, TACT_SPIN_UNIFORM), 0);
    p.gap[0] = -0.5 * (tail + head);
    p.gap[1] = -(tail - head) / length * p.frame[4];
    p.gap[2] = -(tail - head) / length * p.frame[7];
    tact_compliant_layer_set_wrench(&p, stiffness);
    /* force and torque by their definition, summed over points of the edge */
    for (int i = 0; i < POINTS; i++) {
        double x = length * ((i + 0.5) / POINTS - 0.5);
        double f = stiffness / POINTS * (0.5 * (tail + head) + (tail - head) * x / length);
        force += f;
        torque += f * x;
    }
    double got = hypot(p.wrench[4], p.wrench[5]), ends = stiffness * (tail - head) * length / 4.0;
    print_message("force %.9f, summed %.9f; torque %.9f, summed %.9f, of the ends %.9f\n",
                  p.wrench[0], force, got, torque, ends);
    assert_true(fabs(p.wrench[0] / force - 1.0) < 1e-9 && fabs(got / torque - 1.0) < 1e-8);
    assert_true(fabs(ends / torque - 3.0) < 1e-8);
    assert_true(fabs(0.5 * stiffness * (tail + head) / force - 1.0) < 1e-9);
}

/* Mean over the area of a polygon of a depth that is linear, d0 + d.x: by triangles, of each of
 * which the mean of its vertices is that of its area. vertices: gets the mean of the vertices. */
static double mean_depth_of_polygon(const double (*corner)[2], int corners, double d0,
                                    const double d[2], double *vertices)
{
    double sum = 0.0, area = 0.0, depth[8];
    *vertices = 0.0;
    for (int i = 0; i < corners; i++) {
        depth[i] = d0 + d[0] * corner[i][0] + d[1] * corner[i][1];
        *vertices += depth[i] / corners;
    }
    for (int i = 1; i + 1 < corners; i++) {
        const double *o = corner[0], *p = corner[i], *q = corner[i + 1];
        const double twice = (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
        sum += twice * (depth[0] + depth[i] + depth[i + 1]) / 3.0;
        area += twice;
    }
    return sum / area;
}

/* Appendix: the force of a face is that of its mean depth, which the paper takes over its vertices.
 * That is the mean over the area of a triangle and a parallelogram, not of a trapezoid or of a
 * square with a corner cut off. */
static void mean_depth_of_vertices_is_not_mean_over_area(void **state)
{
    (void)state;
    static const struct {
        int corners, is_equal;
        double corner[5][2];
    } faces[] = {
        {3, 1, {{0.0, 0.0}, {0.3, 0.1}, {0.1, 0.2}}},
        {4, 1, {{0.0, 0.0}, {0.3, 0.1}, {0.4, 0.3}, {0.1, 0.2}}},
        {4, 0, {{0.0, 0.0}, {0.3, 0.0}, {0.2, 0.1}, {0.1, 0.1}}},
        {5, 0, {{0.0, 0.0}, {0.2, 0.0}, {0.2, 0.18}, {0.18, 0.2}, {0.0, 0.2}}},
    };
    const double stiffness = 3e4, d0 = 5e-4, d[2] = {1e-3, 8e-3};
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++) {
        struct tact_patch p = {.corners = faces[i].corners};
        double vertices;
        const double mean =
            mean_depth_of_polygon(faces[i].corner, faces[i].corners, d0, d, &vertices);
        memcpy(p.corner, faces[i].corner, sizeof faces[i].corner);
        for (int k = 0; k < 3; k++) {
            p.frame[4 * k] = 1.0;
        }
        assert_int_equal(tact_patch_from_outline(&p, TACT_SPIN_UNIFORM), 0);
        p.gap[0] = -(d0 + d[0] * p.center[1] + d[1] * p.center[2]);
        p.gap[1] = -(d[0] * p.frame[4] + d[1] * p.frame[5]);
        p.gap[2] = -(d[0] * p.frame[7] + d[1] * p.frame[8]);
        tact_compliant_layer_set_wrench(&p, stiffness);
        print_message("%d corners: force %.12f N, exact %.12f, by its vertices %.12f\n",
                      faces[i].corners, p.wrench[0], stiffness * mean, stiffness * vertices);
        assert_true(fabs(p.wrench[0] / (stiffness * mean) - 1.0) < 1e-12);
        assert_true(faces[i].is_equal ? fabs(vertices / mean - 1.0) < 1e-12
                                      : fabs(vertices / mean - 1.0) > 0.03);
    }
}

/* The line before (7), and (10): phi = a y + b at a point y = y_h + (y_t - y_h) s, its rate x' +
 * (omega x (p - o))_y, force k_p phi + k_v phi'. Summed over n points of an edge. */
static void formulas_printed_in_the_appendix_are_wrong(void **state)
{
    (void)state;
    enum { POINTS = 9 };
    int wrong_printed_result_count = 0;
    for (int i = 0; i < 100; i++) {
        const double a = uniform(0.5, 2), b = uniform(-1, 1), kp = uniform(1, 2);
        const double kv = uniform(1, 2), rise = uniform(-1, 1), o[2] = {uniform(-1, 1), 0.0};
        const double w = uniform(0.5, 1), h[2] = {uniform(-1, 1), uniform(0.5, 1)};
        const double t[2] = {h[0] + uniform(0.5, 1), h[1] + uniform(0.5, 1)};
        double sum = 0.0, y = 0.0, x = 0.0;
        for (int k = 0; k < POINTS; k++) { /* rotation about z: (omega x r)_y = omega r_x */
            double s = k / (POINTS - 1.0);
            double p[2] = {h[0] + (t[0] - h[0]) * s, h[1] + (t[1] - h[1]) * s};
            sum += kp * (a * p[1] + b) + kv * (rise + w * (p[0] - o[0]));
            x += p[0];
            y += p[1];
        }
        const double n = POINTS, turned = kv * w * o[0];
        double force_by_printed_formula = (a * kp * y - kv * w * x + kp * b + rise - turned) / n;
        double force_by_corrected_formula =
            (a * kp * y + kv * w * x + n * (kp * b + kv * rise - turned)) / n;
        assert_true(fabs(force_by_corrected_formula - sum / n) < 1e-13);
        wrong_printed_result_count += fabs(force_by_printed_formula - sum / n) > 1e-3;
        double ends = 0.5 * (a * kp * (h[1] + t[1]) + kv * w * (h[0] + t[0]));
        assert_true(fabs(ends + kp * b + kv * rise - turned - sum / n) < 1e-13); /* (9) */
        double depth_by_printed_formula = a * h[1] + (t[1] - h[1]) * 1.0 + b, phi = a * t[1] + b;
        assert_true(fabs(a - 1.0) < 1e-2 || fabs(depth_by_printed_formula - phi) > 1e-3);
    }
    assert_true(wrong_printed_result_count >=
                90); /* a few results of the printed formula are right by chance */
}

/* The planes n.r <= d of a box at a position, as 6 rows of n and d. */
static void write_planes_of_box(const double half[3], const double place[3], double plane[6][4])
{
    memset(plane, 0, 6 * sizeof *plane);
    for (int i = 0; i < 6; i++) {
        double sign = i & 1 ? 1.0 : -1.0;
        plane[i][i / 2] = sign;
        plane[i][3] = half[i / 2] + sign * place[i / 2];
    }
}

/* IV-G, step 2: "translate both polyhedra by p", the point deepest inside both. The duals are those
 * about the origin, which is inside both only after a translation by -p. */
static void dual_polyhedra_are_taken_about_deepest_point(void **state)
{
    (void)state;
    const double half[2][3] = {{0.3, 0.2, 0.1}, {0.2, 0.3, 0.15}};
    const double place[2][3] = {{1.0, 0.5, 2.0}, {1.3, 0.6, 2.1}};
    /* the intersection: x 1.1 to 1.3, y 0.3 to 0.7, z 1.95 to 2.1 */
    const double inside[3] = {1.2, 0.5, 2.025}, exact = 0.2 * 0.4 * 0.15;
    double dual_points[12][3], least[2] = {INFINITY, INFINITY};
    for (int k = 0; k < 2; k++) {
        double plane[6][4];
        write_planes_of_box(half[k], place[k], plane);
        for (int i = 0; i < 6; i++) {
            double shift = tact_v3_dot(plane[i], inside), d = plane[i][3] - shift;
            least[0] = fmin(least[0], d); /* moved by -p */
            /* half-spaces moved by p, as printed: the origin is outside */
            least[1] = fmin(least[1], plane[i][3] + shift);
            tact_v3_scale(dual_points[6 * k + i], plane[i], 1.0 / d);
        }
    }
    assert_true(fabs(least[0] - 0.075) < 1e-15 && least[1] < -1.0);
    struct tact_error err = {.line = 0};
    struct tact_mesh *hull, *overlap;
    double corner[32][3];
    assert_int_equal(tact_mesh_hull(dual_points[0], 12, &hull, &err), 0);
    assert_true(hull->triangle_count <= 32);
    /* each facet of the dual lies in a plane u.m = 1: u is a corner of the overlap */
    for (size_t i = 0; i < hull->triangle_count; i++) {
        const uint32_t *c = hull->triangles + 3 * i;
        const double *o = hull->vertices + 3 * c[0];
        double p[3], q[3], m[3];
        tact_v3_sub(p, hull->vertices + 3 * c[1], o);
        tact_v3_sub(q, hull->vertices + 3 * c[2], o);
        tact_v3_cross(m, p, q);
        tact_v3_scale(m, m, 1.0 / tact_v3_dot(m, o));
        tact_v3_add(corner[i], m, inside);
    }
    assert_int_equal(tact_mesh_hull(corner[0], hull->triangle_count, &overlap, &err), 0);
    struct tact_shape a = make_box_shape(0.6, 0.4, 0.2), b = make_box_shape(0.4, 0.6, 0.3);
    struct tact_pose at[2] = {tact_pose_identity(), tact_pose_identity()};
    struct tact_moments moments;
    tact_v3_copy(at[0].position, place[0]);
    tact_v3_copy(at[1].position, place[1]);
    assert_int_equal(tact_moments_dual(&a, &at[0], &b, &at[1], &moments), 1);
    print_message("overlap %.12f, through duals here %.12f, exact %.12f\n", moments.volume,
                  overlap->volume, exact);
    assert_true(fabs(overlap->volume / exact - 1.0) < 1e-12);
    assert_true(fabs(moments.volume / exact - 1.0) < 1e-10);
    tact_mesh_free(hull);
    tact_mesh_free(overlap);
    tact_shape_release(&a);
    tact_shape_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_of_centres_may_be_no_valid_contact_normal),
        cmocka_unit_test(line_of_centres_is_valid_normal_for_two_boxes),
        cmocka_unit_test(printed_translation_of_disjoint_bodies_has_the_wrong_sign),
        cmocka_unit_test(springs_at_the_ends_of_an_edge_give_too_much_torque),
        cmocka_unit_test(mean_depth_of_vertices_is_not_mean_over_area),
        cmocka_unit_test(formulas_printed_in_the_appendix_are_wrong),
        cmocka_unit_test(dual_polyhedra_are_taken_about_deepest_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
