/*
 * Parametric surfaces that are deep in each other have a contact, and those that are apart have
 * none, by the depth of a triangulation in a torus. One inside the other is reported as such.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/mesh/mesh.h"
#include "contact/pair/models_internal.h"
#include "contact/shape/charts_internal.h"
#include "support/bowl_profile.h"
#include "support/random.h"
#include "support/run_scene.h"
#include "support/torus_patches.h"

/* Largest amount by which the largest depth inside a torus is underestimated [m] */
#define DEPTH_TOLERANCE_M 1e-4
/* Depth above which solids overlap, and distance above which they are apart; the triangulations are
 * within 0.2 mm of the surfaces [m] */
#define MIN_OVERLAP_DEPTH_M 2e-4
#define MIN_SEPARATION_M 4e-4

enum { MAX_ORACLE_VERTICES = 32768 }; /* number of vertices of a triangulation that is tested */

/* Two shapes at their poses and a query of the model about them. */
struct smooth_query {
    struct tact_pose pose[2];
    void *data[2];
    double state[256];
    int counts[TACT_SOLVE_COUNTS];
    struct tact_contact_law law;
    struct tact_world_options options;
    struct tact_pair_query query;
};

static void open_smooth_query(const struct tact_shape *a, const struct tact_shape *b,
                              struct smooth_query *p)
{
    memset(p, 0, sizeof *p);
    p->law.friction = 0.5;
    p->options = tact_world_options_default();
    p->query = (struct tact_pair_query){
        .model = &tact_model_smooth,
        .a = a,
        .b = b,
        .pose_a = &p->pose[0],
        .pose_b = &p->pose[1],
        .law = &p->law,
        .options = &p->options,
        .most = tact_model_smooth.patches(a, b, &p->options),
        .counts = p->counts,
        .state = p->state,
    };
    assert_true((int)(sizeof p->state / sizeof *p->state) >= tact_model_smooth.state);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(
            tact_model_smooth.prepare(&tact_model_smooth, k ? b : a, NULL, &p->data[k], NULL), 0);
        p->pose[k] = tact_pose_identity();
    }
    p->query.data_a = p->data[0];
    p->query.data_b = p->data[1];
}

static void close_smooth_query(struct smooth_query *p)
{
    tact_model_smooth.release(p->data[0]);
    tact_model_smooth.release(p->data[1]);
}

/* What the model returns for the poses without a contact in the last tick. */
static int measure_smooth_query(struct smooth_query *p)
{
    static struct tact_pair_piece piece[TACT_PIECES];
    struct tact_patch patch;
    memset(p->state, 0, sizeof p->state);
    return tact_model_smooth.measure(&p->query, &patch, piece);
}

/* Depth inside the torus B of a point in its frame [m]; negative: distance. */
static double depth_in_torus(const double at[3])
{
    return TORUS_TUBE_RADIUS_M - hypot(hypot(at[0], at[1]) - TORUS_RING_RADIUS_M, at[2]);
}

/* The larger of `least` and the largest depth inside the torus B of the points of a triangle in its
 * frame, within DEPTH_TOLERANCE_M [m]. Between two points the depth changes by no more than their
 * distance, which bounds it over the triangle; one whose bound is larger is halved. */
static double largest_depth_of_triangle(const double a[3], const double b[3], const double c[3],
                                        double least)
{
    const double *corner[3] = {a, b, c};
    double middle[3], edge[3], radius = 0.0, length[3];
    for (int i = 0; i < 3; i++) {
        middle[i] = (a[i] + b[i] + c[i]) / 3.0;
    }
    for (int i = 0; i < 3; i++) {
        tact_v3_sub(edge, corner[i], middle);
        radius = fmax(radius, tact_v3_norm(edge));
        tact_v3_sub(edge, corner[(i + 1) % 3], corner[i]);
        length[i] = tact_v3_norm(edge);
    }
    const double depth = depth_in_torus(middle);
    least = fmax(least, depth);
    if (depth + radius <= least + DEPTH_TOLERANCE_M) {
        return least;
    }
    int i = length[1] > length[0];
    i = length[2] > length[i] ? 2 : i;
    const double *p = corner[i], *q = corner[(i + 1) % 3], *r = corner[(i + 2) % 3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (p[k] + q[k]);
    }
    least = largest_depth_of_triangle(p, middle, r, least);
    return largest_depth_of_triangle(middle, q, r, least);
}

/* Largest depth of A's triangulation inside the torus B, at the query's poses, within
 * DEPTH_TOLERANCE_M [m]; negative: distance. Where vertices are deeper than MIN_OVERLAP_DEPTH_M,
 * theirs. */
static double largest_depth_in_torus(const struct smooth_query *p)
{
    static double at[MAX_ORACLE_VERTICES][3];
    const struct tact_mesh *mesh = p->query.a->mesh;
    double depth = -INFINITY, d[3], rotation[2][9];
    assert_true(mesh->vertex_count <= MAX_ORACLE_VERTICES);
    tact_quat_to_m3(rotation[0], p->pose[0].quat_wxyz);
    tact_quat_to_m3(rotation[1], p->pose[1].quat_wxyz);
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        tact_m3_mul_v3(d, rotation[0], mesh->vertices + 3 * i);
        tact_v3_add(d, d, p->pose[0].position);
        tact_v3_sub(d, d, p->pose[1].position);
        tact_m3_tmul_v3(at[i], rotation[1], d);
        depth = fmax(depth, depth_in_torus(at[i]));
    }
    for (size_t i = 0; i < mesh->triangle_count && depth <= MIN_OVERLAP_DEPTH_M; i++) {
        const uint32_t *corner = mesh->triangles + 3 * i;
        depth = largest_depth_of_triangle(at[corner[0]], at[corner[1]], at[corner[2]], depth);
    }
    return depth;
}

static struct tact_charts *load_pebble_subdivision_surface(double scale)
{
    struct tact_charts *charts = NULL;
    char *control_mesh_text = load_scene_text_with_edits("pebble.obj", NULL);
    assert_int_equal(tact_charts_subdivision(control_mesh_text, strlen(control_mesh_text),
                                             "pebble.obj", scale, &charts, NULL),
                     0);
    free(control_mesh_text);
    return charts;
}

/* Solids of patches, of revolution and of a control mesh, on a torus of patches and one in closed
 * form, at random poses: a contact where, and only where, they overlap. Where a thin solid goes
 * through a wall the overlap may have no normal, which is reported as -ERANGE. */
static void deep_solids_have_a_contact_where_an_exact_test_finds_an_overlap(void **state)
{
    (void)state;
    double profile[64][2];
    const int profile_point_count = make_bowl_profile(profile),
              poses = campaign_trial_count(150, 5000);
    int separate_solid_pair_count = 0, by_volume = 0;
    struct tact_charts *charts[3] = {load_torus_surface_patches(4), NULL,
                                     load_pebble_subdivision_surface(1.0)};
    assert_int_equal(
        tact_charts_revolution((const double(*)[2])profile, profile_point_count, &charts[1], NULL),
        0);
    static const enum tact_shape_kind shape_kinds_with_charts[3] = {
        TACT_SHAPE_PATCHES, TACT_SHAPE_REVOLUTION, TACT_SHAPE_SUBDIVISION};
    for (int i = 0; i < 6; i++) {
        struct tact_shape a = {.kind = shape_kinds_with_charts[i / 2], .charts = charts[i / 2]},
                          patches = {.kind = TACT_SHAPE_PATCHES, .charts = charts[0]},
                          closed = {.kind = TACT_SHAPE_TORUS,
                                    .size = {TORUS_RING_RADIUS_M, TORUS_TUBE_RADIUS_M}};
        struct smooth_query p;
        int overlapping_solid_pair_count = 0, apart = 0, missed_overlap_count = 0,
            false_overlap_count = 0, overlap_count_without_normal = 0;
        assert_int_equal(tact_shape_tessellate(&a), 0);
        assert_int_equal(tact_shape_tessellate(&patches), 0);
        assert_int_equal(tact_shape_tessellate(&closed), 0);
        open_smooth_query(&a, i % 2 ? &closed : &patches, &p);
        for (int k = 0; k < poses; k++) {
            p.pose[0] = random_pose(0.03 + 0.6 * charts[i / 2]->radius);
            p.pose[1] = random_pose(0.01);
            const double depth = largest_depth_in_torus(&p);
            const int rc = measure_smooth_query(&p);
            overlapping_solid_pair_count += depth > MIN_OVERLAP_DEPTH_M;
            missed_overlap_count += depth > MIN_OVERLAP_DEPTH_M && (rc == -EDOM || rc == -ENODATA);
            overlap_count_without_normal += rc == -ERANGE;
            apart += depth < -MIN_SEPARATION_M;
            false_overlap_count += depth < -MIN_SEPARATION_M && rc >= 0;
        }
        printf("%s on a torus %s: of %d overlaps %d missed, of %d apart %d with a contact; %d by "
               "volume, %d without a normal\n",
               (const char *const[]){"torus of patches", "bowl", "pebble"}[i / 2],
               i % 2 ? "in closed form" : "of patches", overlapping_solid_pair_count,
               missed_overlap_count, apart, false_overlap_count, p.counts[TACT_COUNT_NOT_FOUND],
               overlap_count_without_normal);
        assert_true(overlapping_solid_pair_count > poses / 10);
        separate_solid_pair_count += apart;
        by_volume += p.counts[TACT_COUNT_NOT_FOUND];
        assert_true(missed_overlap_count == 0 && false_overlap_count == 0);
        close_smooth_query(&p);
        tact_shape_release(&closed);
    }
    assert_true(separate_solid_pair_count > poses && by_volume > poses / 4);
    for (int i = 0; i < 3; i++) {
        tact_charts_free(charts[i]);
    }
}

/* A bowl that is 0.6 mm from a torus of patches has no contact through its wall. The surfaces have
 * opposite normals on one line there, but neither point is inside the other solid. */
static void contact_of_solids_that_are_apart_is_none(void **state)
{
    (void)state;
    double profile[64][2];
    const int profile_point_count = make_bowl_profile(profile);
    struct tact_charts *charts[2] = {NULL, load_torus_surface_patches(4)};
    assert_int_equal(
        tact_charts_revolution((const double(*)[2])profile, profile_point_count, &charts[0], NULL),
        0);
    struct tact_shape bowl = {.kind = TACT_SHAPE_REVOLUTION, .charts = charts[0]},
                      torus = {.kind = TACT_SHAPE_PATCHES, .charts = charts[1]};
    struct smooth_query p;
    assert_int_equal(tact_shape_tessellate(&bowl), 0);
    assert_int_equal(tact_shape_tessellate(&torus), 0);
    open_smooth_query(&bowl, &torus, &p);
    p.pose[0] = (struct tact_pose){
        {-0.065452771141764315, 0.097684420011028825, -0.010252576935456767},
        {0.51774882495886498, -0.7203065528057202, -0.35870416493406498, -0.29056143291533004}};
    p.pose[1] = (struct tact_pose){
        {-0.0017503322219678766, -0.0059269436547373404, -0.0077561447856890793},
        {-0.42832590865991699, 0.098513584746483654, -0.66640178890827373, 0.6022795408536693}};
    const double depth = largest_depth_in_torus(&p);
    const int rc = measure_smooth_query(&p);
    print_message("depth %.3g m: %d\n", depth, rc);
    assert_true(depth < -MIN_SEPARATION_M);
    assert_true(rc == -EDOM || rc == -ENODATA);
    close_smooth_query(&p);
    tact_charts_free(charts[0]);
    tact_charts_free(charts[1]);
}

/* A pebble, and a ball, in the middle of a pebble five times as large have no normal that separates
 * them: -ERANGE, as of every model that measures a volume. */
static void solid_inside_a_parametric_solid_is_reported(void **state)
{
    (void)state;
    struct tact_charts *charts[2] = {load_pebble_subdivision_surface(1.0),
                                     load_pebble_subdivision_surface(0.2)};
    struct tact_shape solid[3] = {{.kind = TACT_SHAPE_SUBDIVISION, .charts = charts[0]},
                                  {.kind = TACT_SHAPE_SUBDIVISION, .charts = charts[1]},
                                  {.kind = TACT_SHAPE_SPHERE, .size = {2e-3, 2e-3, 2e-3}}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tact_shape_tessellate(&solid[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        const struct tact_shape *smaller_solid = &solid[1 + i / 2];
        struct smooth_query p;
        open_smooth_query(i % 2 ? smaller_solid : &solid[0], i % 2 ? &solid[0] : smaller_solid, &p);
        p.pose[0].position[1] = 1e-3;
        const int rc = measure_smooth_query(&p);
        print_message("%d: %d\n", i, rc);
        assert_true(rc == -ERANGE || rc >= 0);
        assert_true(rc >= 0 || p.counts[TACT_COUNT_NOT_FOUND] == 1);
        close_smooth_query(&p);
    }
    tact_charts_free(charts[0]);
    tact_charts_free(charts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_solids_have_a_contact_where_an_exact_test_finds_an_overlap),
        cmocka_unit_test(contact_of_solids_that_are_apart_is_none),
        cmocka_unit_test(solid_inside_a_parametric_solid_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
