/* Patches from moments: exact extents, torsion arms and normals. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/moments/patch.h"

#define PI 3.14159265358979323846

static struct tact_moments measure_overlap_for_patch(const struct tact_shape *a, const double *pa,
                                                     const struct tact_shape *b)
{
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(100000);
    struct tact_pose at = tact_pose_identity(), here = tact_pose_identity();
    struct tact_moments m;
    tact_v3_copy(at.position, pa);
    assert_int_equal(tact_moments_pair(a, &at, b, &here, NULL, scratch, &m), 1);
    tact_moments_scratch_destroy(scratch);
    return m;
}

/* A ball on a plane: Hertz's torsion arm 3 pi / 16 (3 N R / (4 E*))^(1/3), found from the overlap.
 */
static void overlap_of_a_ball_gives_the_hertz_patch_radius(void **state)
{
    (void)state;
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.008}};
    struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    const double at[3] = {0.1, 0.2, 0.008 - 4e-5};
    struct tact_moments m = measure_overlap_for_patch(&ball, at, &ground);
    struct tact_patch_options options = {.modulus = 3e5, .curved = 1};
    struct tact_patch p;
    assert_int_equal(tact_patch_from_moments(&m, &options, &p), 0);
    double arm = 3 * M_PI / 16 * cbrt(0.75 * 4.0 * 0.008 / 3e5);
    print_message("R %.6f m, arm %.6e m, Hertz %.6e m\n", p.radius, tact_patch_spin_arm(&p, 4.0),
                  arm);
    assert_true(fabs(p.radius / 0.008 - 1) < 5e-3);
    assert_true(fabs(tact_patch_spin_arm(&p, 4.0) / arm - 1) < 2e-3);
    assert_true(fabs(p.depth / 2e-5 - 1) < 2e-3);
    assert_true(p.frame[2] > 1 - 1e-12);
}

/* A flat disc under uniform pressure has the torsion arm 2/3 R; its ellipse is the disc. */
static void disc_patch_has_the_exact_spin_arm(void **state)
{
    (void)state;
    double points[128][3];
    struct tact_mesh *mesh;
    struct tact_error err = {0};
    for (int i = 0; i < 128; i++) {
        points[i][0] = 0.05 * cos(i / 2 * M_PI / 32);
        points[i][1] = 0.05 * sin(i / 2 * M_PI / 32);
        points[i][2] = i % 2 ? 0.01 : -0.01;
    }
    assert_int_equal(tact_mesh_hull(points[0], 128, &mesh, &err), 0);
    struct tact_shape disc = {.kind = TACT_SHAPE_CONVEX, .mesh = mesh};
    struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    const double at[3] = {0, 0, 0.01 - 1e-5};
    struct tact_moments m = measure_overlap_for_patch(&disc, at, &ground);
    struct tact_patch_options options = {0};
    struct tact_patch p;
    assert_int_equal(tact_patch_from_moments(&m, &options, &p), 0);
    print_message("semi-axes %.5f %.5f m, arm %.5f m of %.5f\n", p.semi[0], p.semi[1],
                  tact_patch_spin_arm(&p, 1.0), 0.1 / 3);
    assert_true(fabs(p.semi[0] / 0.05 - 1) < 2e-3 && fabs(p.semi[1] / 0.05 - 1) < 2e-3);
    assert_true(fabs(tact_patch_spin_arm(&p, 1.0) / (0.1 / 3) - 1) < 2e-3);
    tact_mesh_free(mesh);
}

/* A cube over the edge of another: the gradient is tilted by the sides of the overlap, the blended
 * normal is vertical. */
static void thin_overlap_has_the_normal_of_its_plane(void **state)
{
    (void)state;
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {0.05, 0.05, 0.05}};
    assert_int_equal(tact_shape_tessellate(&box), 0);
    const double at[3] = {0.06, 0, 0.1 - 5e-4};
    struct tact_moments m = measure_overlap_for_patch(&box, at, &box);
    struct tact_patch p;
    double tilt[3];
    for (int kind = 0; kind < 3; kind++) {
        struct tact_patch_options options = {.normal = (enum tact_normal_kind)kind};
        assert_int_equal(tact_patch_from_moments(&m, &options, &p), 0);
        tilt[kind] = hypot(p.frame[0], p.frame[1]);
    }
    print_message("tilt of the normal: gradient %.1e, least moment %.1e, blend %.1e\n", tilt[0],
                  tilt[1], tilt[2]);
    assert_true(tilt[0] > 1e-3);
    assert_true(tilt[1] < 1e-9 && tilt[2] < 1e-9);
    tact_shape_release(&box);
}

/* A cube pushed deep into another is no thin sheet: the blended normal is that of the gradient. */
static void a_thick_overlap_has_the_gradient_as_normal(void **state)
{
    (void)state;
    struct tact_shape box = {.kind = TACT_SHAPE_BOX, .size = {0.05, 0.05, 0.05}};
    assert_int_equal(tact_shape_tessellate(&box), 0);
    const double at[3] = {0.06, 0.01, 0.07};
    struct tact_moments m = measure_overlap_for_patch(&box, at, &box);
    struct tact_patch_options blended_normal_options = {.normal = TACT_NORMAL_BLEND},
                              gradient_options = {0};
    struct tact_patch p, q;
    assert_int_equal(tact_patch_from_moments(&m, &blended_normal_options, &p), 0);
    assert_int_equal(tact_patch_from_moments(&m, &gradient_options, &q), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(p.frame[i] - q.frame[i]) < 1e-12);
    }
    tact_shape_release(&box);
}

/* The spin arm of an oblong patch under uniform pressure is the mean distance from its centre: by
 * sums over the ellipse. */
static void spin_arm_of_oblong_patches_is_the_mean_distance(void **state)
{
    (void)state;
    const double narrow_box_sides[3] = {1, 0.3, 0.05};
    for (int i = 0; i < 3; i++) {
        struct tact_shape box = {.kind = TACT_SHAPE_BOX,
                                 .size = {0.1, 0.1 * narrow_box_sides[i], 0.05}};
        const double at[3] = {0, 0, 0.0999};
        tact_shape_tessellate(&box);
        struct tact_moments m = measure_overlap_for_patch(&box, at, &box);
        struct tact_patch_options options = {.spin = TACT_SPIN_UNIFORM};
        struct tact_patch p;
        assert_int_equal(tact_patch_from_moments(&m, &options, &p), 0);
        double sum = 0;
        /* mean over a ring, by its angle; then 2/3 for all rings */
        for (int k = 0; k < 100000; k++) {
            double angle = 2 * 3.14159265358979323846 * (k + 0.5) / 100000;
            sum += hypot(p.semi[0] * cos(angle), p.semi[1] * sin(angle)) / 150000;
        }
        print_message("%.3f of its length wide: arm %.6e m, by sums %.6e m\n", narrow_box_sides[i],
                      p.spin_arm, sum);
        assert_true(fabs(p.spin_arm / sum - 1) < 2e-4);
        tact_shape_release(&box);
    }
}

/* A sliver with a centroid 5 m off, and one with too small second moments: both are replaced by
 * those of the outline, a rectangle of 0.2 by 0.1 about (0.3, -0.2). Correct moments are
 * unchanged. */
static void sliver_overlaps_are_repaired_by_their_outline(void **state)
{
    (void)state;
    const double half[2] = {0.1, 0.05}, off[3][2] = {{5, 5}, {0.02, 0}, {0.02, 0}};
    const double semi[3][2] = {{0.1, 0.1}, {0.1, 0}, {0.11, 0.05}};
    for (int i = 0; i < 3; i++) {
        struct tact_patch p = {.frame = {0, 0, 1, 1, 0, 0, 0, 1, 0}, .corners = 4};
        tact_v3_set(p.center, 0.3 - off[i][0], -0.2 - off[i][1], 0.7);
        memcpy(p.semi, semi[i], sizeof p.semi);
        for (int k = 0; k < 4; k++) {
            p.corner[k][0] = off[i][0] + (k == 1 || k == 2 ? 1 : -1) * half[0];
            p.corner[k][1] = off[i][1] + (k > 1 ? 1 : -1) * half[1];
        }
        assert_int_equal(tact_patch_repair(&p), i < 2);
        if (i < 2) {
            assert_true(fabs(p.center[0] - 0.3) < 1e-14 && fabs(p.center[1] + 0.2) < 1e-14);
            assert_true(p.center[2] == 0.7);
            for (int k = 0; k < 2; k++) { /* 4 C / V of a rectangle */
                assert_true(fabs(p.semi[k] - half[k] * 2 / sqrt(3)) < 1e-14);
                assert_true(fabs(fabs(p.corner[0][k]) - half[k]) < 1e-14);
            }
            assert_true(p.spin_arm > 0.05 && p.spin_arm < 0.07);
        } else {
            assert_true(fabs(p.center[0] - 0.28) < 1e-15 && p.semi[0] == 0.11);
        }
    }
}

/* Hertz's ellipse for two curvatures: the half axes by the pressure that the integrals give, table
 * of k2/k1, a/b, F1, and the arm of torsion over sqrt(ab). */
static void hertz_ellipse_of_two_curvatures_is_exact(void **state)
{
    (void)state;
    const double table[3][4] = {{1.0, 1.0, 1.0, 0.589049},
                                {5.0, 2.890181, 0.966886, 0.714354},
                                {20.0, 6.928681, 0.902395, 1.016284}};
    const double force = 3.0, modulus = 1e6, k1 = 20.0;
    struct tact_patch p = {.spin = TACT_SPIN_LIMIT_SURFACE};
    for (int i = 0; i < 3; i++) {
        double k2 = k1 * table[i][0], square[2];
        assert_int_equal(tact_patch_hertz(&p, modulus, k1, k2), 0);
        double ratio = p.stretch[0] / p.stretch[1], radius = tact_patch_elastic_radius(&p, force);
        double round = cbrt(0.75 * force / (modulus * sqrt(k1 * k2)));
        double arm = tact_patch_spin_arm(&p, force);
        tact_patch_mean_squares(&p, force, square);
        print_message("k2/k1 %g: a/b %.6f, F1 %.6f, arm %.6f\n", table[i][0], ratio, radius / round,
                      arm / radius);
        assert_true(fabs(ratio - table[i][1]) < 1e-6);
        assert_true(fabs(radius / round - table[i][2]) < 1e-6);
        assert_true(fabs(arm / radius - table[i][3]) < 1e-5);
        assert_true(fabs(square[0] / square[1] - ratio * ratio) < 1e-9);
    }
    /* Hertz's equation for the ratio of the axes, by quadrature */
    for (double flat = 1.0; flat < 1e5; flat *= 1.7) {
        assert_int_equal(tact_patch_hertz(&p, modulus, 1.0, flat), 0);
        double a = p.stretch[0], b = p.stretch[1], sum[2] = {0.0, 0.0};
        for (int k = 0; k < 200000; k++) { /* of dx / ((a2 + x) sqrt((a2 + x) (b2 + x) x)) */
            double t = (k + 0.5) / 200000, w = t / (1 - t), x = w * w * b * b;
            double root = sqrt((a * a + x) * (b * b + x)), d = 2 * b / ((1 - t) * (1 - t));
            sum[0] += d / ((a * a + x) * root);
            sum[1] += d / ((b * b + x) * root);
        }
        assert_true(fabs(sum[1] / sum[0] / flat - 1.0) < 1e-6);
    }
    assert_int_equal(tact_patch_hertz(&p, modulus, 0.0, 1.0), -EDOM);
    assert_int_equal(tact_patch_hertz(&p, modulus, 2.0, 1.0), -EDOM);
}

/* Approach of the bodies: the depth by which Hertz's pressure over the patch presses its centre in,
 * 1/(pi E*) times the integral of p/r, which along a ray is pi/4 p_0 times the ellipse's radius. It
 * is F2 times that of a ball of radius (k1 k2)^(-1/2), 1 for a disc. */
static void approach_by_the_hertz_ellipse_is_exact(void **state)
{
    (void)state;
    enum { RAYS = 256 };
    const double table[3][2] = {{1.0, 1.0}, {5.0, 0.965815}, {20.0, 0.893611}};
    const double force = 3.0, modulus = 1e6, k1 = 20.0;
    struct tact_patch p = {.spin = TACT_SPIN_LIMIT_SURFACE};
    for (int i = 0; i < 3; i++) {
        const double round = 1.0 / (k1 * sqrt(table[i][0])); /* radius of the ball [m] */
        assert_int_equal(tact_patch_hertz(&p, modulus, k1, k1 * table[i][0]), 0);
        const double radius = tact_patch_elastic_radius(&p, force);
        const double a = radius * p.stretch[0], b = radius * p.stretch[1];
        const double pressure = 1.5 * force / (PI * a * b);
        double depth = 0.0;
        for (int k = 0; k < RAYS; k++) {
            const double angle = 2.0 * PI * k / RAYS;
            depth += 0.5 * PI / RAYS * pressure / modulus * a * b /
                     hypot(b * cos(angle), a * sin(angle));
        }
        const double ball = cbrt(9.0 * force * force / (16.0 * modulus * modulus * round));
        print_message("k2/k1 %g: approach %.4e m, F2 %.6f (%.6f)\n", table[i][0], depth,
                      depth / ball, table[i][1]);
        assert_true(fabs(depth / ball - table[i][1]) < 1e-6);
    }
}

/* The corners of an outline, or every other one where there are too many; of a TACT_PATCH_ELASTIC
 * patch, points on the ellipse of its present force. */
static void outline_polygon_of_a_patch_has_its_area(void **state)
{
    (void)state;
    struct tact_patch p = {.kind = TACT_PATCH_ELLIPSE, .semi = {2.0, 1.0}, .corners = 24};
    double corner[TACT_PATCH_CORNERS][2], semi[2];
    for (int i = 0; i < 24; i++) {
        p.corner[i][0] = i;
    }
    assert_int_equal(tact_patch_polygon(&p, 1.0, TACT_PATCH_CORNERS, corner), 24);
    assert_true(corner[23][0] == 23.0);
    assert_int_equal(tact_patch_polygon(&p, 1.0, 12, corner), 12);
    assert_true(corner[0][0] == 0.0 && corner[11][0] == 22.0);
    p.corners = 0;
    for (int elastic = 0; elastic < 2; elastic++) {
        assert_int_equal(elastic ? tact_patch_hertz(&p, 1e6, 10.0, 40.0) : 0, 0);
        double radius = elastic ? tact_patch_elastic_radius(&p, 3.0) : 1.0;
        semi[0] = elastic ? radius * p.stretch[0] : 2.0;
        semi[1] = elastic ? radius * p.stretch[1] : 1.0;
        assert_int_equal(tact_patch_polygon(&p, 3.0, 32, corner), 32);
        for (int i = 0; i < 32; i++) {
            assert_true(fabs(hypot(corner[i][0] / semi[0], corner[i][1] / semi[1]) - 1.0) < 1e-14);
        }
        assert_true(corner[8][1] > 0.999 * semi[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_of_a_ball_gives_the_hertz_patch_radius),
        cmocka_unit_test(disc_patch_has_the_exact_spin_arm),
        cmocka_unit_test(thin_overlap_has_the_normal_of_its_plane),
        cmocka_unit_test(a_thick_overlap_has_the_gradient_as_normal),
        cmocka_unit_test(sliver_overlaps_are_repaired_by_their_outline),
        cmocka_unit_test(hertz_ellipse_of_two_curvatures_is_exact),
        cmocka_unit_test(approach_by_the_hertz_ellipse_is_exact),
        cmocka_unit_test(spin_arm_of_oblong_patches_is_the_mean_distance),
        cmocka_unit_test(outline_polygon_of_a_patch_has_its_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
