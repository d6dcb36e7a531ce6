/* Moments by ray casting compared with exact ones: convergence with the resolution, and meshes
 * with a missing or reversed triangle. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/compare/moments_rays.h"
#include "support/random.h"

static struct tact_moments_scratch *scratch;

struct moment_errors {
    double v, c, s, degrees;
};

static struct moment_errors relative_moment_errors(const struct tact_moments *m,
                                                   const struct tact_moments *expected)
{
    struct moment_errors e = {.v = fabs(m->volume / expected->volume - 1.0)};
    double size =
        (expected->second[0] + expected->second[1] + expected->second[2]) / expected->volume;
    double dc = 0.0, ds = 0.0, cross[3];
    for (int k = 0; k < 3; k++) {
        dc += pow(m->centroid[k] - expected->centroid[k], 2);
        ds += pow(m->second[k] - expected->second[k], 2);
        ds += 2.0 * pow(m->second[3 + k] - expected->second[3 + k], 2);
    }
    tact_v3_cross(cross, m->gradient, expected->gradient);
    e.c = sqrt(dc / size);
    e.s = sqrt(ds) / (expected->volume * size);
    e.degrees = 57.29577951308232 *
                atan2(tact_v3_norm(cross), tact_v3_dot(m->gradient, expected->gradient));
    return e;
}

static struct tact_shape tessellated_box_of_sides(double x, double y, double z)
{
    struct tact_shape s = {.kind = TACT_SHAPE_BOX, .size = {x, y, z}};
    assert_int_equal(tact_shape_tessellate(&s), 0);
    return s;
}

static struct tact_pose random_pose_rotated_at_origin(void)
{
    struct tact_pose p = tact_pose_identity();
    random_unit_quaternion(p.quat_wxyz);
    return p;
}

/* The scenes of a fingertip: ball, capsule and box against a ruler and the ground. */
static void ray_method_errors_decrease_with_resolution(void **unused)
{
    (void)unused;
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.008}};
    struct tact_shape finger = {.kind = TACT_SHAPE_CAPSULE, .size = {0.008, 0.01}};
    struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE},
                      ruler = tessellated_box_of_sides(0.15, 0.001, 0.015);
    assert_int_equal(tact_shape_tessellate(&finger), 0);
    const struct tact_shape *const pairs[4][2] = {
        {&ball, &ruler}, {&finger, &ruler}, {&ball, &ground}, {&ruler, &ground}};
    const double at[4][3] = {
        {0.01, 0.0088, 0.0}, {0.02, 0.0088, 0.001}, {0.0, 0.0, 0.0076}, {0.0, 0.0, 0.0148}};
    for (int i = 0; i < 4; i++) {
        struct moment_errors last = {0};
        for (int n = 16; n <= 256; n *= 4) {
            struct tact_moments exact, m;
            struct tact_rays_report report;
            /* The ruler's orientation determines how thin its overlap with the ground is: the same
             * for all seeds. */
            random_state =
                (88172645463325252u + (uint64_t)i) ^ (i == 3 ? 0 : campaign_seed_offset());
            struct tact_pose pb = random_pose_rotated_at_origin(), offset = tact_pose_identity(),
                             pa;
            tact_v3_copy(offset.position, at[i]);
            tact_pose_mul(&pa, &pb, &offset);
            struct tact_rays_body a = tact_rays_body(pairs[i][0], &pa);
            struct tact_rays_body b = tact_rays_body(pairs[i][1], &pb);
            assert_int_equal(
                tact_moments_pair(pairs[i][0], &pa, pairs[i][1], &pb, NULL, scratch, &exact), 1);
            assert_int_equal(tact_moments_rays(&a, &b, n, &m, &report), 1);
            assert_true(report.rays > 0 && report.dropped == 0 && report.corrected == 0);
            last = relative_moment_errors(&m, &exact);
            print_message("pair %d, N = %3d: V %.1e c %.1e C %.1e normal %.2g degrees\n", i, n,
                          last.v, last.c, last.s, last.degrees);
        }
        assert_true(last.v < 2e-2 && last.c < 3e-2 && last.s < 2e-2 && last.degrees < 0.5);
    }
    tact_shape_release(&ruler);
    tact_shape_release(&finger);
}

/* Boxes along the axes with common faces: the overlap counts whole along every ray, a common face
 * by half. */
static void ray_method_measures_pairs_with_common_faces(void **unused)
{
    (void)unused;
    struct tact_shape a = tessellated_box_of_sides(0.5, 0.5, 0.5);
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    struct tact_moments m;
    pa.position[0] = 0.5;
    struct tact_rays_body first = tact_rays_body(&a, &pa), second = tact_rays_body(&a, &pb);
    assert_int_equal(tact_moments_rays(&first, &second, 64, &m, NULL), 1);
    assert_true(fabs(m.volume - 0.5) < 1e-4);
    assert_true(fabs(m.gradient[0] + 1.0) < 1e-4);
    assert_true(fabs(m.gradient[1]) < 1e-12 && fabs(m.gradient[2]) < 1e-12);
    tact_shape_release(&a);
}

/* A box with a triangle missing or turned round is still measured, and it is reported. */
static void ray_method_measures_and_reports_defective_meshes(void **unused)
{
    (void)unused;
    struct tact_shape box = tessellated_box_of_sides(0.5, 0.5, 0.5),
                      other = tessellated_box_of_sides(0.5, 0.5, 0.5);
    struct tact_pose pa = random_pose_rotated_at_origin(), pb = random_pose_rotated_at_origin();
    struct tact_moments exact, m;
    struct tact_rays_report report;
    uint32_t triangles[36];
    pa.position[0] = 0.6;
    struct tact_rays_body a = tact_rays_body(&box, &pa), b = tact_rays_body(&other, &pb);
    assert_int_equal(tact_moments_pair(&box, &pa, &other, &pb, NULL, scratch, &exact), 1);
    assert_int_equal(a.triangle_count, 12);
    for (uint32_t t = 0; t < 12; t++) {
        memcpy(triangles, box.mesh->triangles, sizeof triangles);
        a.triangles = triangles;
        a.triangle_count = 12;
        triangles[3 * t] = box.mesh->triangles[3 * t + 1];
        triangles[3 * t + 1] = box.mesh->triangles[3 * t];
        assert_int_equal(tact_moments_rays(&a, &b, 64, &m, &report), 1);
        assert_true(relative_moment_errors(&m, &exact).v < 0.01 && report.dropped == 0);
        memcpy(triangles + 3 * t, triangles + 33, 3 * sizeof *triangles);
        a.triangle_count = 11;
        memcpy(triangles, box.mesh->triangles, 3 * t * sizeof *triangles);
        if (t < 11) {
            memcpy(triangles + 3 * t, box.mesh->triangles + 33, 3 * sizeof *triangles);
        }
        int rc = tact_moments_rays(&a, &b, 64, &m, &report);
        assert_int_equal(rc, 1);
        print_message("without triangle %2u: V %.1e, %zu of %zu rays dropped\n", (unsigned)t,
                      relative_moment_errors(&m, &exact).v, report.dropped, report.rays);
        assert_true(relative_moment_errors(&m, &exact).v < 0.2);
    }
    tact_shape_release(&box);
    tact_shape_release(&other);
}

static void ray_method_refuses_invalid_input(void **unused)
{
    (void)unused;
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {1.0}};
    struct tact_pose p = tact_pose_identity(), far = p;
    struct tact_moments m = {.volume = 1.0};
    far.position[2] = 5.0;
    struct tact_rays_body a = tact_rays_body(&plane, &p), b = tact_rays_body(&ball, &far);
    assert_int_equal(tact_moments_rays(&a, &a, 64, &m, NULL), -ENOTSUP);
    assert_int_equal(tact_moments_rays(&a, &b, 0, &m, NULL), -EINVAL);
    assert_int_equal(tact_moments_rays(&a, &b, 4096, &m, NULL), -EINVAL);
    assert_int_equal(tact_moments_rays(&a, &b, 64, &m, NULL), 0);
    assert_true(m.volume == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ray_method_errors_decrease_with_resolution),
        cmocka_unit_test(ray_method_measures_pairs_with_common_faces),
        cmocka_unit_test(ray_method_measures_and_reports_defective_meshes),
        cmocka_unit_test(ray_method_refuses_invalid_input),
    };
    scratch = tact_moments_scratch_create(1u << 18);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    tact_moments_scratch_destroy(scratch);
    return rc;
}
