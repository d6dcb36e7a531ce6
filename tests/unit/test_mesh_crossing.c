/* Meshes that intersect themselves are refused with the number of crossings; those that only touch
 * themselves, and cavities, are accepted. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/mesh/mesh.h"
#include "contact/vec.h"

/* A mesh assembled from several meshes. */
struct build {
    double vertices[60000];
    uint32_t triangles[60000];
    size_t vertex_count, triangle_count;
};

static struct build build;

/* Adds a mesh to the assembled mesh, displaced by (x, y, z) and with reversed triangles where
 * `reverses_triangles`; frees it.
 */
static void add_mesh_component(struct tact_mesh *m, double x, double y, double z,
                               int reverses_triangles)
{
    const double by[3] = {x, y, z};
    size_t first = build.vertex_count;
    for (size_t i = 0; i < 3 * m->vertex_count; i++) {
        build.vertices[3 * first + i] = m->vertices[i] + by[i % 3];
    }
    for (size_t t = 0; t < m->triangle_count; t++) {
        for (size_t k = 0; k < 3; k++) {
            size_t from = reverses_triangles ? 2 - k : k;
            build.triangles[3 * (build.triangle_count + t) + k] =
                m->triangles[3 * t + from] + (uint32_t)first;
        }
    }
    build.vertex_count += m->vertex_count;
    build.triangle_count += m->triangle_count;
    tact_mesh_free(m);
}

static struct tact_mesh *make_box_mesh(double x, double y, double z)
{
    struct tact_mesh *m;
    assert_int_equal(tact_mesh_box((double[]){x, y, z}, &m), 0);
    return m;
}

static struct tact_mesh *make_ball_mesh(double radius, size_t triangles)
{
    struct tact_mesh *m;
    assert_int_equal(tact_mesh_capsule(radius, 0.0, triangles, &m), 0);
    return m;
}

/* Checks the results of tact_mesh_create() and tact_mesh_inspect() for the assembled mesh, then
 * clears it. */
static struct tact_mesh_defects expect_status_and_volume_of_mesh_check(int rc, const char *reason,
                                                                       double volume)
{
    struct tact_mesh_defects d;
    struct tact_error err = {.line = 0};
    struct tact_mesh *m;
    assert_int_equal(tact_mesh_inspect(build.vertices, build.vertex_count, build.triangles,
                                       build.triangle_count, &d),
                     0);
    assert_int_equal(tact_mesh_create(build.vertices, build.vertex_count, build.triangles,
                                      build.triangle_count, &m, &err),
                     rc);
    if (rc) {
        assert_non_null(strstr(err.text, reason));
    } else {
        assert_true(d.crossings == 0 && d.misplaced == 0);
        assert_true(fabs(m->volume - volume) < 1e-9 * volume);
        tact_mesh_free(m);
    }
    build.vertex_count = build.triangle_count = 0;
    return d;
}

static void overlapping_mesh_components_are_refused(void **unused)
{
    (void)unused;
    add_mesh_component(make_ball_mesh(1.0, 500), 0, 0, 0, 0);
    add_mesh_component(make_ball_mesh(1.0, 500), 1.2, 0.1, 0.2, 0);
    struct tact_mesh_defects d =
        expect_status_and_volume_of_mesh_check(-EINVAL, "pairs of triangles that cross", 0);
    assert_true(d.crossings > 20 && d.components == 2);
    /* A corner of a box goes through the face of another: three edges cross it. */
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(1, 1, 1), 1.7, 1.5, 1.9, 0);
    d = expect_status_and_volume_of_mesh_check(-EINVAL, "overlaps itself", 0);
    assert_true(d.crossings >= 3);
}

/* Bars that cross with their faces in common planes: no edge crosses the interior of a triangle.
 */
static void crossing_bars_with_coplanar_faces_are_refused(void **unused)
{
    (void)unused;
    add_mesh_component(make_box_mesh(1, 0.1, 0.1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(0.1, 1, 0.1), 0, 0, 0, 0);
    struct tact_mesh_defects d = expect_status_and_volume_of_mesh_check(-EINVAL, "cross", 0);
    assert_true(d.crossings > 0);
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(1, 1, 1), 1, 0, 0, 0);
    d = expect_status_and_volume_of_mesh_check(-EINVAL, "cross", 0);
    assert_true(d.crossings > 0);
}

static void touching_mesh_components_are_accepted(void **unused)
{
    (void)unused;
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(0.5, 0.25, 0.5), 0.1, 0.2, 1.5, 0); /* face on face */
    expect_status_and_volume_of_mesh_check(0, NULL, 8.0 + 0.5);
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(0.5, 0.5, 0.5), 1.5, 1.5, 0.1, 0); /* edge on edge */
    expect_status_and_volume_of_mesh_check(0, NULL, 8.0 + 1.0);
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(1, 1, 1), 2.5, 0, 0, 0);
    expect_status_and_volume_of_mesh_check(0, NULL, 16.0);
}

static void nested_mesh_components_must_alternate_in_orientation(void **unused)
{
    (void)unused;
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(0.5, 0.5, 0.5), 0, 0, 0, 1); /* a cavity */
    expect_status_and_volume_of_mesh_check(0, NULL, 8.0 - 1.0);
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(0.5, 0.5, 0.5), 0, 0, 0, 1);
    add_mesh_component(make_box_mesh(0.2, 0.2, 0.2), 0.1, 0, 0,
                       0); /* a body in the cavity of another */
    expect_status_and_volume_of_mesh_check(0, NULL, 8.0 - 1.0 + 0.064);
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(0.5, 0.5, 0.5), 0, 0, 0, 0); /* a body in a body */
    assert_int_equal(
        expect_status_and_volume_of_mesh_check(-EINVAL, "1 connected components", 0).misplaced, 1);
    add_mesh_component(make_box_mesh(1, 1, 1), 0, 0, 0, 0);
    add_mesh_component(make_box_mesh(0.5, 0.5, 0.5), 3, 0, 0, 1); /* a cavity in nothing */
    assert_int_equal(
        expect_status_and_volume_of_mesh_check(-EINVAL, "1 connected components", 0).misplaced, 1);
}

/* A mesh of one component with a corner pulled through the opposite side. */
static void mesh_with_a_corner_pulled_through_it_is_refused(void **unused)
{
    (void)unused;
    for (int is_corner_pulled_through = 0; is_corner_pulled_through < 2;
         is_corner_pulled_through++) {
        struct tact_mesh *m = make_ball_mesh(1.0, 2000);
        size_t top = 0;
        for (size_t i = 0; i < m->vertex_count; i++) {
            top = m->vertices[3 * i + 2] > m->vertices[3 * top + 2] ? i : top;
        }
        m->vertices[3 * top] = 0.03;
        m->vertices[3 * top + 1] = 0.02;
        m->vertices[3 * top + 2] = is_corner_pulled_through ? -1.5 : -0.5;
        add_mesh_component(m, 0, 0, 0, 0);
        struct tact_mesh_defects d;
        assert_int_equal(tact_mesh_inspect(build.vertices, build.vertex_count, build.triangles,
                                           build.triangle_count, &d),
                         0);
        print_message("pulled %s: %zu crossings\n", is_corner_pulled_through ? "through" : "in",
                      d.crossings);
        assert_int_equal(d.crossings > 0, is_corner_pulled_through);
        assert_int_equal(d.components, 1);
        build.vertex_count = build.triangle_count = 0;
    }
}

/* 750 needles through one point, of which each crosses each in eight pairs of triangles: the
 * search ends above its limit. */
static void mesh_with_very_many_crossings_is_refused_early(void **unused)
{
    (void)unused;
    enum { NEEDLES = 750 };
    uint64_t seed = 1;
    struct tact_error err = {.line = 0};
    struct tact_mesh *m;
    for (int i = 0; i < NEEDLES; i++) {
        static const uint32_t sides[12] = {0, 1, 3, 1, 2, 3, 2, 0, 3, 0, 2, 1};
        double d[3], p[3], q[3], *v = build.vertices + 3 * build.vertex_count;
        for (int k = 0; k < 3; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            d[k] = (double)(seed >> 40) / (1 << 24) - 0.5;
        }
        tact_v3_normalize(d, d);
        tact_v3_cross(p, d, fabs(d[0]) < 0.5 ? (double[]){1, 0, 0} : (double[]){0, 1, 0});
        tact_v3_normalize(p, p);
        tact_v3_cross(q, d, p);
        for (int k = 0; k < 3; k++) {
            tact_v3_scale(v + 3 * k, d, -1.0);
            tact_v3_axpy(v + 3 * k, 0.2 * cos(2.0944 * k), p);
            tact_v3_axpy(v + 3 * k, 0.2 * sin(2.0944 * k), q);
        }
        tact_v3_copy(v + 9, d);
        for (size_t k = 0; k < 12; k++) {
            build.triangles[3 * build.triangle_count + k] = (uint32_t)build.vertex_count + sides[k];
        }
        build.vertex_count += 4;
        build.triangle_count += 4;
    }
    assert_int_equal(tact_mesh_create(build.vertices, build.vertex_count, build.triangles,
                                      build.triangle_count, &m, &err),
                     -EINVAL);
    print_message("%s\n", err.text);
    assert_non_null(strstr(err.text, "more than 2000000 pairs of triangles that cross"));
    build.vertex_count = build.triangle_count = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_mesh_components_are_refused),
        cmocka_unit_test(crossing_bars_with_coplanar_faces_are_refused),
        cmocka_unit_test(touching_mesh_components_are_accepted),
        cmocka_unit_test(nested_mesh_components_must_alternate_in_orientation),
        cmocka_unit_test(mesh_with_a_corner_pulled_through_it_is_refused),
        cmocka_unit_test(mesh_with_very_many_crossings_is_refused_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
