/* Outlines of flat overlaps, against corners known by construction, and hulls of points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/moments/hull_internal.h"
#include "contact/moments/outline_internal.h"
#include "support/random.h"

static const double up[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}; /* rows n = z, t1 = x, t2 = y */
static const double origin[3] = {0, 0, 0};

static struct tact_shape make_box(double x, double y, double z)
{
    struct tact_shape s = {.kind = TACT_SHAPE_BOX, .size = {x, y, z}};
    assert_int_equal(tact_shape_tessellate(&s), 0);
    return s;
}

/* Checks that the corners are the expected ones, in any order. */
static void expect_polygon_corners(const double (*corner)[2], int count, const double (*wanted)[2],
                                   int n)
{
    assert_int_equal(count, n);
    for (int i = 0; i < n; i++) {
        double nearest = INFINITY;
        for (int k = 0; k < count; k++) {
            nearest =
                fmin(nearest, hypot(corner[k][0] - wanted[i][0], corner[k][1] - wanted[i][1]));
        }
        assert_true(nearest < 1e-12);
    }
}

static void outline_of_a_box_on_the_ground_is_its_base(void **state)
{
    (void)state;
    struct tact_shape b = make_box(0.1, 0.2, 0.05), ground = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose pb = tact_pose_identity(), pg = tact_pose_identity();
    double corner[TACT_PATCH_CORNERS][2];
    const double wanted[4][2] = {{0.1, 0.2}, {-0.1, 0.2}, {-0.1, -0.2}, {0.1, -0.2}};
    pb.position[2] = 0.05 - 1e-5;
    expect_polygon_corners(corner, tact_outline(&b, &pb, &ground, &pg, origin, up, corner), wanted,
                           4);
    expect_polygon_corners(corner, tact_outline(&ground, &pg, &b, &pb, origin, up, corner), wanted,
                           4);
    /* turned by 30 degrees about the vertical, in axes that turn with it */
    double turn[3] = {0, 0, M_PI / 6}, c = cos(M_PI / 6), s = sin(M_PI / 6);
    const double turned[9] = {0, 0, 1, c, s, 0, -s, c, 0};
    tact_quat_from_rotvec(pb.quat_wxyz, turn);
    expect_polygon_corners(corner, tact_outline(&b, &pb, &ground, &pg, origin, turned, corner),
                           wanted, 4);
    pb.position[2] = 0.06;
    assert_int_equal(tact_outline(&b, &pb, &ground, &pg, origin, up, corner), 0);
    tact_shape_release(&b);
}

/* A cube over the edge of another: the intersection of the two squares. */
static void outline_of_a_cube_over_an_edge_is_the_common_rectangle(void **state)
{
    (void)state;
    struct tact_shape b = make_box(0.05, 0.05, 0.05);
    struct tact_pose low = tact_pose_identity(), high = tact_pose_identity();
    double corner[TACT_PATCH_CORNERS][2];
    const double wanted[4][2] = {{0.05, 0.05}, {-0.02, 0.05}, {-0.02, -0.04}, {0.05, -0.04}};
    high.position[0] = 0.03;
    high.position[1] = 0.01;
    high.position[2] = 0.1 - 1e-5;
    expect_polygon_corners(corner, tact_outline(&b, &high, &b, &low, origin, up, corner), wanted,
                           4);
    tact_shape_release(&b);
}

/* The hull of a table's feet: a mesh that is not convex. */
static void outline_of_table_feet_is_their_hull(void **state)
{
    (void)state;
    double v[5 * 8 * 3];
    uint32_t t[5 * 12 * 3];
    struct tact_mesh *unit, *table;
    const double half[3] = {1, 1, 1};
    assert_int_equal(tact_mesh_box(half, &unit), 0);
    for (int k = 0; k < 5; k++) { /* four table legs and a plate above them: five components */
        double at[3] = {k & 1 ? 0.4 : -0.4, k & 2 ? 0.3 : -0.3, 0.1};
        double size[3] = {0.02, 0.02, 0.1};
        if (k == 4) {
            at[0] = at[1] = 0;
            at[2] = 0.25;
            size[0] = size[1] = 0.5;
            size[2] = 0.02;
        }
        for (int i = 0; i < 24; i++) {
            v[24 * k + i] = at[i % 3] + size[i % 3] * unit->vertices[i];
        }
        for (int i = 0; i < 36; i++) {
            t[36 * k + i] = unit->triangles[i] + (uint32_t)(8 * k);
        }
    }
    struct tact_error err = {0};
    assert_int_equal(tact_mesh_create(v, 40, t, 60, &table, &err), 0);
    struct tact_shape s = {.kind = TACT_SHAPE_MESH, .mesh = table};
    struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose pose = tact_pose_identity();
    double corner[TACT_PATCH_CORNERS][2];
    const double wanted[4][2] = {{0.42, 0.32}, {-0.42, 0.32}, {-0.42, -0.32}, {0.42, -0.32}};
    pose.position[2] = -1e-4;
    struct tact_pose here = tact_pose_identity();
    expect_polygon_corners(corner, tact_outline(&s, &pose, &ground, &here, origin, up, corner),
                           wanted, 4);
    tact_mesh_free(table);
    tact_mesh_free(unit);
}

static void outline_of_an_octagonal_prism_is_its_base(void **state)
{
    (void)state;
    double points[16][3], wanted[8][2], corner[TACT_PATCH_CORNERS][2];
    struct tact_mesh *mesh;
    struct tact_error err = {0};
    for (int i = 0; i < 16; i++) {
        double angle = (i / 2 + 0.5) * M_PI / 4;
        points[i][0] = wanted[i / 2][0] = 0.1 * cos(angle);
        points[i][1] = wanted[i / 2][1] = 0.1 * sin(angle);
        points[i][2] = i % 2 ? 0.025 : -0.025;
    }
    assert_int_equal(tact_mesh_hull(points[0], 16, &mesh, &err), 0);
    struct tact_shape s = {.kind = TACT_SHAPE_CONVEX, .mesh = mesh};
    struct tact_shape b = make_box(0.3, 0.3, 0.01);
    struct tact_pose ps = tact_pose_identity(), pb = tact_pose_identity();
    ps.position[2] = 0.035 - 2e-5;
    expect_polygon_corners(corner, tact_outline(&s, &ps, &b, &pb, origin, up, corner), wanted, 8);
    tact_shape_release(&b);
    tact_mesh_free(mesh);
}

/* Fraction of the expected polygon's area that the found corners leave out; each must be one of
 * its corners. */
static double missing_outline_area_fraction(const double (*corner)[2], int count,
                                            const double (*wanted)[2], int n)
{
    double area[2] = {0, 0};
    for (int i = 0; i < count; i++) {
        double nearest = INFINITY;
        for (int k = 0; k < n; k++) {
            nearest =
                fmin(nearest, hypot(corner[i][0] - wanted[k][0], corner[i][1] - wanted[k][1]));
        }
        assert_true(nearest < 1e-12);
    }
    for (int of = 0; of < 2; of++) {
        const double(*c)[2] = of ? wanted : corner;
        int m = of ? n : count;
        for (int i = 0; i < m; i++) {
            const double *p = c[i], *q = c[(i + 1) % m];
            area[of] += 0.5 * (p[0] * q[1] - p[1] * q[0]);
        }
    }
    return 1 - area[0] / area[1];
}

/* A convex prism with a regular outline, or a stretched one. */
static struct tact_shape make_polygonal_prism(int n, double (*wanted)[2])
{
    double points[256][3];
    struct tact_mesh *mesh;
    struct tact_error err = {0};
    double turn = uniform(0, 2 * M_PI), width = 0.1 * exp(uniform(-2, 0));
    for (int i = 0; i < 2 * n; i++) {
        double angle = turn + (i / 2) * 2 * M_PI / n;
        points[i][0] = wanted[i / 2][0] = 0.1 * cos(angle);
        points[i][1] = wanted[i / 2][1] = width * sin(angle);
        points[i][2] = i % 2 ? 0.025 : -0.025;
    }
    assert_int_equal(tact_mesh_hull(points[0], (size_t)(2 * n), &mesh, &err), 0);
    return (struct tact_shape){.kind = TACT_SHAPE_CONVEX, .mesh = mesh, .owned = mesh};
}

/* Outlines of 3 to 128 sides have all corners up to 64; of more, 64 corners and nearly all of the
 * area. On the ground, and on a box where the prism has few enough faces. */
static void outlines_of_prisms_of_3_to_128_sides_are_nearly_whole(void **state)
{
    (void)state;
    struct tact_shape b = make_box(0.3, 0.3, 0.01), ground = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose ps = tact_pose_identity(), pb = ps, pg = ps;
    double worst = 0;
    ps.position[2] = 0.025 - 2e-5;
    pb.position[2] = -0.01;
    for (int n = 3; n <= 128; n++) {
        double wanted[128][2], corner[TACT_PATCH_CORNERS][2];
        struct tact_shape s = make_polygonal_prism(n, wanted);
        for (int is_prism_on_box = 0; is_prism_on_box < 1 + (n <= 62); is_prism_on_box++) {
            int count = tact_outline(&s, &ps, is_prism_on_box ? &b : &ground,
                                     is_prism_on_box ? &pb : &pg, origin, up, corner);
            if (n <= TACT_PATCH_CORNERS) {
                expect_polygon_corners(corner, count, wanted, n);
            }
            assert_int_equal(count, n < TACT_PATCH_CORNERS ? n : TACT_PATCH_CORNERS);
            worst = fmax(worst, missing_outline_area_fraction(corner, count, wanted, n));
        }
        tact_shape_release(&s);
    }
    print_message("area at most %.4f %% short\n", 100 * worst);
    assert_true(worst <= 1.5e-3);
    tact_shape_release(&b);
}

static int compare_points(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

/* Corners of the hull by Andrew's chain, counter-clockwise; sorts the points. */
static int hull_by_andrews_chain(double (*p)[2], int n, double (*hull)[2])
{
    int k = 0;
    qsort(p, (size_t)n, sizeof *p, compare_points);
    for (int side = 0; side < 2; side++) {
        int start = k;
        for (int j = 0; j < n; j++) {
            const double *r = p[side ? n - 1 - j : j];
            while (k >= start + 2 &&
                   (hull[k - 1][0] - hull[k - 2][0]) * (r[1] - hull[k - 2][1]) <=
                       (hull[k - 1][1] - hull[k - 2][1]) * (r[0] - hull[k - 2][0])) {
                k--;
            }
            memcpy(hull[k++], r, sizeof *hull);
        }
        k--; /* this corner is the first one of the other side of the hull */
    }
    return k;
}

/* Points on an ellipse, on a lattice (most of them on lines between others, and twice), in a
 * square, or on a rounded rectangle. */
static void make_hull_test_points(int kind, int n, double (*p)[2])
{
    double width = exp(uniform(-3, 0)), turn = uniform(0, M_PI);
    for (int i = 0; i < n; i++) {
        double angle = uniform(0, 2 * M_PI), x = cos(angle), y = width * sin(angle);
        if (kind == 1) {
            x = floor(uniform(-4, 5));
            y = floor(uniform(-4, 5));
        } else if (kind == 2) {
            x = uniform(-1, 1);
            y = uniform(-1, 1);
        } else if (kind == 3) {
            x = copysign(1 + 0.3 * fabs(cos(angle)), x);
            y = copysign(0.2 + 0.3 * fabs(sin(angle)), y);
        }
        p[i][0] = kind == 1 ? x : cos(turn) * x - sin(turn) * y;
        p[i][1] = kind == 1 ? y : sin(turn) * x + cos(turn) * y;
    }
}

static void hulls_of_points_equal_those_by_andrews_chain(void **state)
{
    (void)state;
    static double p[2000][2], wanted[2001][2];
    static struct tact_planar_hull hull;
    double worst[2] = {0, 0};
    int outline_count_with_corners_left_out = 0;
    for (int k = 0; k < 4000; k++) {
        double corner[TACT_PATCH_CORNERS][2];
        int n = 3 + (int)exp(uniform(0, k % 8 ? 5 : log(1900)));
        hull.count = 0;
        make_hull_test_points(k % 4, n, p);
        for (int i = 0; i < n; i++) {
            tact_planar_hull_add_point(&hull, p[i][0], p[i][1]);
        }
        int count = tact_planar_hull_corners(&hull, corner),
            corners = hull_by_andrews_chain(p, n, wanted);
        if (corners >= 3) {
            int exact = corners <= TACT_PATCH_CORNERS;
            assert_true(exact ? count <= corners : count == TACT_PATCH_CORNERS);
            double *most = &worst[!exact];
            *most = fmax(*most, missing_outline_area_fraction(corner, count, wanted, corners));
            outline_count_with_corners_left_out += !exact;
        } else {
            assert_int_equal(count, 0);
        }
    }
    print_message("hulls: area %.1e short; %d of more than %d corners: %.4f %%\n", worst[0],
                  outline_count_with_corners_left_out, TACT_PATCH_CORNERS, 100 * worst[1]);
    assert_true(worst[0] < 1e-8);
    assert_true(worst[1] < 2e-3);
    assert_true(outline_count_with_corners_left_out > 100);
}

/* Prisms of 3 to 14 sides in each other, at random: the outline of the corners that the measurement
 * found is that of another cut, bit for bit. Corners are not known of overlaps with many. */
static void outline_of_measured_corners_equals_that_of_another_cut(void **state)
{
    (void)state;
    int known[2] = {0, 0}, crowded = 0;
    for (int i = 0; i < 3000; i++) {
        double wanted[16][2], repeated_corners[TACT_PATCH_CORNERS][2],
            corner[TACT_PATCH_CORNERS][2], frame[9];
        struct tact_shape a = make_polygonal_prism(3 + i % 12, wanted),
                          b = make_polygonal_prism(3 + i / 12 % 12, wanted);
        struct tact_pose pa = random_pose(0.1), pb = random_pose(0.1), turned = random_pose(1);
        struct tact_overlap_corners found;
        struct tact_moments m;
        tact_quat_to_m3(frame, turned.quat_wxyz);
        if (tact_moments_measure(&a, &pa, &b, &pb, NULL, NULL, &m, NULL, &found) == 1) {
            const struct tact_pose *cut = found.was_solid_b_cut_by_a ? &pb : &pa;
            int count = tact_outline(&a, &pa, &b, &pb, m.centroid, frame, repeated_corners);
            if (found.count) {
                assert_int_equal(tact_outline_from_corners(&found, cut, m.centroid, frame, corner),
                                 count);
                assert_memory_equal(corner, repeated_corners, (size_t)count * sizeof corner[0]);
            }
            known[found.was_solid_b_cut_by_a] += found.count > 0;
            crowded += found.count == 0;
        } else {
            assert_int_equal(found.count, 0);
        }
        tact_shape_release(&a);
        tact_shape_release(&b);
    }
    print_message("corners known of %d and %d overlaps, of %d not\n", known[0], known[1], crowded);
    assert_true(known[0] > 100 && known[1] > 100 && crowded > 100);
}

static void curved_overlaps_have_no_corner_outline(void **state)
{
    (void)state;
    struct tact_shape b = make_box(0.1, 0.1, 0.1),
                      ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.1}};
    struct tact_pose p = tact_pose_identity();
    double corner[TACT_PATCH_CORNERS][2];
    assert_int_equal(tact_outline(&ball, &p, &b, &p, origin, up, corner), 0);
    assert_int_equal(tact_outline(&b, &p, &ball, &p, origin, up, corner), 0);
    tact_shape_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outline_of_a_box_on_the_ground_is_its_base),
        cmocka_unit_test(outline_of_a_cube_over_an_edge_is_the_common_rectangle),
        cmocka_unit_test(outline_of_table_feet_is_their_hull),
        cmocka_unit_test(outline_of_an_octagonal_prism_is_its_base),
        cmocka_unit_test(outlines_of_prisms_of_3_to_128_sides_are_nearly_whole),
        cmocka_unit_test(hulls_of_points_equal_those_by_andrews_chain),
        cmocka_unit_test(outline_of_measured_corners_equals_that_of_another_cut),
        cmocka_unit_test(curved_overlaps_have_no_corner_outline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
