/* The search for near triangles of two meshes (broad phase) compared with all pairs of their
 * triangles. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/moments/moments.h"
#include "support/random.h"

static struct tact_moments_scratch *scratch;

/* Makes the mesh of a bent and dented ball, closed but not convex, scaled and displaced from its
 * origin. */
static struct tact_mesh *make_dented_ball_mesh(size_t triangles, double size, double offset)
{
    struct tact_mesh *ball, *mesh;
    assert_int_equal(tact_mesh_capsule(1.0, 0.4, triangles, &ball), 0);
    double phase = uniform(0.0, 6.0);
    for (size_t i = 0; i < ball->vertex_count; i++) {
        double *v = ball->vertices + 3 * i, x = v[0], z = v[2];
        v[0] = size * (x + 0.3 * sin(3.0 * z + phase)) + offset;
        v[1] = size * v[1] * (1.0 + 0.3 * sin(4.0 * x + phase)) - offset;
        v[2] = size * (z + 0.2 * x * x) + 0.5 * offset;
    }
    assert_int_equal(tact_mesh_create(ball->vertices, ball->vertex_count, ball->triangles,
                                      ball->triangle_count, &mesh, NULL),
                     0);
    tact_mesh_free(ball);
    return mesh;
}

/* A random orientation with the mesh's centroid within `reach` of the origin. */
static struct tact_pose random_pose_near_mesh(const struct tact_mesh *mesh, double reach)
{
    struct tact_pose p;
    double centre[3];
    for (int k = 0; k < 4; k++) {
        p.quat_wxyz[k] = uniform(-1.0, 1.0);
    }
    tact_quat_normalize(p.quat_wxyz);
    tact_quat_rotate(centre, p.quat_wxyz, mesh->centroid);
    for (int k = 0; k < 3; k++) {
        p.position[k] = uniform(-reach, reach) - centre[k];
    }
    return p;
}

static double worst;

/* Rounding errors scale with the bodies' size L: relative to the overlap's second moment they grow
 * as (L^3 / V)^(5/3). The bounds of overlaps below 1e-5 of the smaller body are widened
 * accordingly. */
static void record_errors_of_moments(const struct tact_moments *got,
                                     const struct tact_moments *expected,
                                     double smaller_body_volume)
{
    double size = cbrt(expected->volume),
           trace = expected->second[0] + expected->second[1] + expected->second[2];
    double off = fabs(got->volume - expected->volume) / expected->volume;
    for (int k = 0; k < 3; k++) {
        off = fmax(off, fabs(got->centroid[k] - expected->centroid[k]) / size);
        off = fmax(off, fabs(got->gradient[k] - expected->gradient[k]) / (size * size));
        off = fmax(off, fabs(got->gradient[3 + k] - expected->gradient[3 + k]) / expected->volume);
    }
    for (int k = 0; k < 6; k++) {
        off = fmax(off, fabs(got->second[k] - expected->second[k]) / trace);
    }
    worst = fmax(worst,
                 off * fmin(1.0, pow(expected->volume / (1e-5 * smaller_body_volume), 5.0 / 3.0)));
}

/* Measures a pair with the broad phase and with all pairs of triangles; returns whether the bodies
 * overlap. */
static int compare_broad_phase_with_all_pairs(const struct tact_mesh *a, const struct tact_pose *pa,
                                              const struct tact_mesh *b, const struct tact_pose *pb,
                                              const double *direction)
{
    struct tact_prism_frame frame;
    if (!tact_prism_frame(a, pa, b, pb, direction, &frame)) {
        return 0;
    }
    size_t all = a->triangle_count * b->triangle_count;
    struct tact_prism_pair *all_triangle_pairs = malloc(all * sizeof *all_triangle_pairs);
    const struct tact_prism_pair *listed;
    assert_non_null(all_triangle_pairs);
    for (size_t i = 0; i < all; i++) {
        all_triangle_pairs[i].a = (uint32_t)(i / b->triangle_count);
        all_triangle_pairs[i].b = (uint32_t)(i % b->triangle_count);
    }
    struct tact_moments expected, got;
    long count = tact_prism_pairs(a, pa, b, pb, &frame, scratch, &listed);
    assert_true(count >= 0 && (size_t)count <= all);
    int rc = tact_prism_sum(a, pa, b, pb, &frame, all_triangle_pairs, all, &expected);
    assert_int_equal(tact_prism_sum(a, pa, b, pb, &frame, listed, (size_t)count, &got), rc);
    free(all_triangle_pairs);
    if (rc) {
        record_errors_of_moments(&got, &expected, fmin(a->volume, b->volume));
    }
    return rc;
}

static void measure_moments_of_random_mesh_pairs(const char *what, size_t triangle_count_a,
                                                 size_t triangle_count_b, double ratio,
                                                 double offset, int most)
{
    const int query_count = campaign_trial_count(most, most);
    int overlapping_pair_count = 0;
    worst = 0.0;
    for (int i = 0; i < query_count; i++) {
        struct tact_mesh *a = make_dented_ball_mesh(triangle_count_a, 1.0, offset);
        struct tact_mesh *b = make_dented_ball_mesh(triangle_count_b, ratio, -offset);
        struct tact_pose pa = random_pose_near_mesh(a, 0.5 + ratio),
                         pb = random_pose_near_mesh(b, 0.1);
        double d[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        overlapping_pair_count +=
            compare_broad_phase_with_all_pairs(a, &pa, b, &pb, i % 2 ? d : NULL);
        tact_mesh_free(a);
        tact_mesh_free(b);
    }
    print_message("%s: %d of %d overlap, listed against all pairs %.1e\n", what,
                  overlapping_pair_count, query_count, worst);
    assert_true(overlapping_pair_count > query_count / 8);
    assert_true(worst < 1e-9);
}

static void broad_phase_is_exact_for_meshes_of_similar_size(void **unused)
{
    (void)unused;
    measure_moments_of_random_mesh_pairs("200 and 300 triangles", 200, 300, 1.0, 0.0, 60);
}

static void broad_phase_is_exact_for_meshes_of_different_sizes(void **unused)
{
    (void)unused;
    measure_moments_of_random_mesh_pairs("60 and 1000 triangles, 20 times larger", 60, 1000, 20.0,
                                         0.0, 40);
    measure_moments_of_random_mesh_pairs("1000 and 60 triangles, 20 times smaller", 1000, 60, 0.05,
                                         0.0, 40);
}

/* Meshes whose vertices are far from their origin, as in files with the coordinates of a whole
 * machine.
 */
static void broad_phase_is_exact_far_from_the_origin(void **unused)
{
    (void)unused;
    measure_moments_of_random_mesh_pairs("30 sizes from the origin", 200, 300, 1.0, 30.0, 60);
}

/* Meshes with more pairs of near leaves of their trees than the broad phase stores at once. */
static void broad_phase_with_too_many_near_leaves_is_exact(void **unused)
{
    (void)unused;
    worst = 0.0;
    struct tact_mesh *a = make_dented_ball_mesh(3000, 1.0, 0.0),
                     *b = make_dented_ball_mesh(2600, 1.05, 0.0);
    for (int i = 0; i < 3; i++) {
        struct tact_pose pa = random_pose_near_mesh(a, 0.1), pb = random_pose_near_mesh(b, 0.1);
        assert_int_equal(compare_broad_phase_with_all_pairs(a, &pa, b, &pb, NULL), 1);
    }
    print_message("deep: listed against all pairs %.1e\n", worst);
    assert_true(worst < 1e-9);
    tact_mesh_free(a);
    tact_mesh_free(b);
}

/* Mesh sizes at which single precision would have no correct digit; the largest size of a mesh is
 * 1e9 m. */
static void meshes_of_sizes_beyond_float_precision_are_measured(void **unused)
{
    (void)unused;
    static const double units[] = {1e-9, 1e8};
    struct tact_mesh *none = NULL;
    assert_int_equal(tact_mesh_box((double[]){1e30, 1e30, 1e30}, &none), -EINVAL);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const double half[3] = {units[i], 0.5 * units[i], 0.25 * units[i]};
        struct tact_mesh *box;
        assert_int_equal(tact_mesh_box(half, &box), 0);
        struct tact_shape shape = {.kind = TACT_SHAPE_CONVEX, .mesh = box};
        struct tact_pose pa = tact_pose_identity(), pb = pa;
        pa.position[2] = 0.4 * units[i];
        struct tact_moments m;
        assert_int_equal(tact_moments_pair(&shape, &pa, &shape, &pb, NULL, scratch, &m), 1);
        double expected = 0.2 * units[i] * units[i] * units[i];
        assert_true(fabs(m.volume / expected - 1.0) < 1e-12);
        tact_mesh_free(box);
    }
}

/* A mesh with a convex one of few faces is measured by cuts with planes, compared here with prism
 * pairs. A few hulls have no facets, as rounding puts a corner out of the plane of its own
 * triangle. */
static void broad_phase_is_exact_for_meshes_cut_by_planes(void **unused)
{
    (void)unused;
    int overlapping_pair_count = 0, hulls_without_facets = 0;
    worst = 0.0;
    for (int i = 0; i < 200; i++) {
        double points[3 * 12];
        size_t count = 4 + (size_t)uniform(0.0, 9.0);
        for (size_t k = 0; k < 3 * count; k++) {
            points[k] = uniform(-1.0, 1.0);
        }
        struct tact_mesh *hull,
            *a = make_dented_ball_mesh(400, i % 2 ? 1.0 : 0.2, i % 3 ? 0.0 : 2.0);
        assert_int_equal(tact_mesh_hull(points, count, &hull, NULL), 0);
        struct tact_pose pa = random_pose_near_mesh(a, 1.0), pb = random_pose_near_mesh(hull, 0.1);
        struct tact_shape sa = {.kind = TACT_SHAPE_MESH, .mesh = a};
        struct tact_shape sb = {.kind = TACT_SHAPE_CONVEX, .mesh = hull};
        struct tact_prism_frame frame;
        struct tact_moments expected, got, swapped;
        const struct tact_prism_pair *pairs;
        int rc = tact_moments_pair(&sa, &pa, &sb, &pb, NULL, scratch, &got);
        assert_int_equal(tact_moments_pair(&sb, &pb, &sa, &pa, NULL, scratch, &swapped), rc);
        if (hull->facets) {
            assert_true(got.volume == swapped.volume && got.gradient[4] == -swapped.gradient[4]);
        } else {
            assert_true(fabs(got.volume - swapped.volume) < 1e-14);
            hulls_without_facets++;
        }
        if (tact_prism_frame(a, &pa, hull, &pb, NULL, &frame)) {
            long n = tact_prism_pairs(a, &pa, hull, &pb, &frame, scratch, &pairs);
            int other = tact_prism_sum(a, &pa, hull, &pb, &frame, pairs, (size_t)n, &expected);
            assert_true(other == rc || got.volume + expected.volume < 1e-13);
            overlapping_pair_count += rc && other;
            if (rc && other) {
                record_errors_of_moments(&got, &expected, fmin(a->volume, hull->volume));
            }
        }
        tact_mesh_free(a);
        tact_mesh_free(hull);
    }
    print_message("cut by planes: %d overlaps, against prism pairs %.1e; %d hulls without facets\n",
                  overlapping_pair_count, worst, hulls_without_facets);
    assert_true(overlapping_pair_count > 50 && hulls_without_facets <= 4);
    assert_true(worst < 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broad_phase_is_exact_for_meshes_of_similar_size),
        cmocka_unit_test(broad_phase_is_exact_for_meshes_of_different_sizes),
        cmocka_unit_test(broad_phase_is_exact_far_from_the_origin),
        cmocka_unit_test(broad_phase_with_too_many_near_leaves_is_exact),
        cmocka_unit_test(meshes_of_sizes_beyond_float_precision_are_measured),
        cmocka_unit_test(broad_phase_is_exact_for_meshes_cut_by_planes),
    };
    scratch = tact_moments_scratch_create(1000000);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    tact_moments_scratch_destroy(scratch);
    return rc;
}
