/* Moments of convex polyhedra through their duals, against a clip in long double and against
 * tact_moments_pair(). */
#include <errno.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/compare/moments_dual.h"

#include "surface_oracle.h"
#include "support/random.h"

static struct tact_shape random_hull_shape(int points, double flat)
{
    static double p[4096][3];
    struct tact_shape s = {.kind = TACT_SHAPE_CONVEX};
    for (int i = 0; i < points; i++) {
        for (int k = 0; k < 3; k++) {
            p[i][k] = uniform(-1.0, 1.0);
        }
        tact_v3_normalize(p[i], p[i]);
        p[i][2] *= flat;
    }
    assert_int_equal(tact_mesh_hull(p[0], (size_t)points, &s.owned, NULL), 0);
    s.mesh = s.owned;
    return s;
}

static struct tact_shape make_box_shape(double x, double y, double z)
{
    struct tact_shape s = {.kind = TACT_SHAPE_BOX, .size = {x, y, z}};
    assert_int_equal(tact_shape_tessellate(&s), 0);
    return s;
}

struct moment_errors {
    int overlapping_pair_count;
    double v, c, s, g;
};

static void record_moment_errors(struct moment_errors *e, const struct tact_moments *m,
                                 const struct oracle_moments *expected)
{
    double v = (double)expected->volume, size = 0.0, dc = 0.0, ds = 0.0, dg = 0.0;
    for (int k = 0; k < 3; k++) {
        size += (double)expected->second[k] / v;
        dc += pow(m->centroid[k] - (double)expected->centroid[k], 2);
        dg += pow(m->gradient[k] - (double)expected->gradient[k], 2);
        ds += pow(m->second[k] - (double)expected->second[k], 2);
        ds += 2.0 * pow(m->second[3 + k] - (double)expected->second[3 + k], 2);
    }
    e->overlapping_pair_count++;
    e->v = fmax(e->v, fabs(m->volume / v - 1.0));
    e->c = fmax(e->c, sqrt(dc / size));
    e->s = fmax(e->s, sqrt(ds) / (v * size));
    e->g = fmax(e->g, sqrt(dg) / (double)expected->surface);
}

static void check_moment_errors(const char *what, const struct moment_errors *e, int least,
                                double bound)
{
    print_message("%s: %d overlaps, V %.1e c %.1e C %.1e g %.1e\n", what, e->overlapping_pair_count,
                  e->v, e->c, e->s, e->g);
    assert_true(e->overlapping_pair_count >= least);
    assert_true(e->v < bound && e->c < bound && e->s < bound && e->g < bound);
}

static void compare_dual_moments_with_oracle(struct moment_errors *e, struct tact_shape *a,
                                             const struct tact_pose *pa, struct tact_shape *b,
                                             const struct tact_pose *pb)
{
    struct tact_moments m;
    struct oracle_moments expected = oracle_overlap(a->mesh, pa, b->mesh, pb, 1e-14);
    int rc = tact_moments_dual(a, pa, b, pb, &m);
    /* thin overlaps have the larger error that is documented */
    assert_true(rc >= 0 || (rc == -EDOM && expected.volume <= 1e-6L));
    if (expected.volume > 1e-6L) {
        assert_int_equal(rc, 1);
        record_moment_errors(e, &m, &expected);
    } else if (expected.volume <= 0 && rc >= 0) {
        assert_true(m.volume < 1e-14);
    }
    tact_shape_release(a);
    tact_shape_release(b);
}

static void moments_of_random_pairs_by_duals_are_exact(void **unused)
{
    (void)unused;
    struct moment_errors moment_errors_of_thick_hulls = {0}, sheets = {0};
    for (int i = 0; i < 300; i++) {
        double flat = i % 2 ? 1.0 : 0.02;
        struct tact_shape a = random_hull_shape(5 + i % 60, flat),
                          b = random_hull_shape(6 + i % 40, 1.0);
        struct tact_pose pa = random_pose(0.5), pb = random_pose(0.5);
        compare_dual_moments_with_oracle(i % 2 ? &moment_errors_of_thick_hulls : &sheets, &a, &pa,
                                         &b, &pb);
    }
    check_moment_errors("random", &moment_errors_of_thick_hulls, 100, 1e-13);
    check_moment_errors("with a sheet", &sheets, 100, 2e-12);
}

/* Moments of boxes with faces in common planes, both turned by one rotation. */
static void duals_measure_pairs_with_common_faces(void **unused)
{
    (void)unused;
    struct moment_errors e = {0};
    static const double box_half_edges_to_choose[3] = {0.5, 1.0, 1.5};
    for (int i = 0; i < 300; i++) {
        double a[3], b[3];
        struct tact_pose pb = random_pose(0.5), at = tact_pose_identity(), pa;
        for (int k = 0; k < 3; k++) {
            a[k] = box_half_edges_to_choose[(int)uniform(0.0, 3.0)];
            b[k] = box_half_edges_to_choose[(int)uniform(0.0, 3.0)];
            at.position[k] = (i >> k) & 1 ? b[k] - a[k] : uniform(-0.9, 0.9) * (a[k] + b[k]);
        }
        struct tact_shape sa = make_box_shape(a[0], a[1], a[2]),
                          sb = make_box_shape(b[0], b[1], b[2]);
        tact_pose_mul(&pa, &pb, &at);
        compare_dual_moments_with_oracle(&e, &sa, &pa, &sb, &pb);
    }
    check_moment_errors("common faces", &e, 290, 1e-14);
}

/* With very many planes the search for the deepest point, or qhull, may fail: the pair is then
 * refused, never measured wrongly. */
static void dual_method_measures_or_refuses_many_planes(void **unused)
{
    (void)unused;
    struct moment_errors e = {0};
    for (int i = 0; i < 2; i++) {
        struct tact_shape a = random_hull_shape(800, 1.0), b = random_hull_shape(500, 1.0);
        struct tact_pose pa = random_pose(0.1), pb = random_pose(0.1);
        pa.position[0] += i ? 1.75 : 1.0;
        compare_dual_moments_with_oracle(&e, &a, &pa, &b, &pb);
    }
    check_moment_errors("many planes", &e, 2, 3e-14);
}

static void dual_method_refuses_curved_shapes(void **unused)
{
    (void)unused;
    struct tact_shape box = make_box_shape(0.5, 0.4, 0.3), plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {1.0}};
    struct tact_pose p = tact_pose_identity(), ground = p;
    struct tact_moments m, exact;
    p.position[2] = 0.2;
    assert_int_equal(tact_moments_dual(&box, &p, &plane, &ground, &m), 1);
    assert_true(fabs(m.volume - 1.0 * 0.8 * 0.1) < 1e-14);
    assert_true(fabs(m.gradient[2] + 0.8) < 1e-13);
    assert_int_equal(tact_moments_dual(&plane, &ground, &box, &p, &m), 1);
    assert_true(fabs(m.gradient[2] - 0.8) < 1e-13);
    for (int i = 0; i < 50; i++) {
        struct tact_pose pa = random_pose(0.3), pb = random_pose(0.1);
        int rc = tact_moments_pair(&box, &pa, &plane, &pb, NULL, NULL, &exact);
        assert_int_equal(tact_moments_dual(&box, &pa, &plane, &pb, &m), rc);
        for (int k = 0; k < 6; k++) {
            assert_true(fabs(m.second[k] - exact.second[k]) < 1e-12);
            assert_true(fabs(m.gradient[k] - exact.gradient[k]) < 1e-12);
        }
    }
    p.position[2] = 0.4;
    assert_int_equal(tact_moments_dual(&box, &p, &plane, &ground, &m), 0);
    assert_true(m.volume == 0.0);
    assert_int_equal(tact_moments_dual(&ball, &p, &box, &p, &m), -ENOTSUP);
    assert_int_equal(tact_moments_dual(&plane, &p, &plane, &p, &m), -ENOTSUP);
    double ratio;
    assert_int_equal(tact_mesh_convexity(box.mesh, &ratio), 0);
    assert_true(fabs(ratio - 1.0) < 1e-14);
    tact_shape_release(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_of_random_pairs_by_duals_are_exact),
        cmocka_unit_test(duals_measure_pairs_with_common_faces),
        cmocka_unit_test(dual_method_measures_or_refuses_many_planes),
        cmocka_unit_test(dual_method_refuses_curved_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
