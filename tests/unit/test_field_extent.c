/*
 * The extent of closed meshes: against exact solutions of its equation, and its zero set against
 * the mesh.
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
#include "contact/pair/field/extent.h"
#include "support/campaign.h"
#include "support/data.h"
#include "support/field_bodies.h"
#include "support/random.h"

#define R 0.03
#define T 0.006
#define PRESSURE_SLOPE 1e6 /* [Pa/m] */

static struct tact_extent *compute_extent_of_mesh(const struct tact_mesh *mesh,
                                                  enum tact_extent_kind kind, double thickness,
                                                  double cell)
{
    const struct tact_extent_recipe recipe = {kind, thickness, cell};
    struct tact_extent *extent;
    struct tact_error err = {.line = 0};
    if (tact_extent_of_mesh(mesh, &recipe, &extent, &err)) {
        fail_msg("%s", err.text);
    }
    return extent;
}

static struct tact_pressure_field *field_of_given_extent(const struct tact_extent *e)
{
    struct tact_pressure_field *field;
    struct tact_error err = {.line = 0};
    double *pressure = malloc(e->vertex_count * sizeof *pressure);
    assert_non_null(pressure);
    for (size_t i = 0; i < e->vertex_count; i++) {
        pressure[i] = PRESSURE_SLOPE * e->extent[i];
    }
    if (tact_field_tets(e->vertices, e->vertex_count, e->tets, e->tet_count, pressure, &field,
                        &err)) {
        fail_msg("%s", err.text);
    }
    free(pressure);
    return field;
}

static struct tact_pressure_field *field_of_mesh_extent(const struct tact_mesh *mesh,
                                                        enum tact_extent_kind kind,
                                                        double thickness, double cell)
{
    struct tact_extent *extent = compute_extent_of_mesh(mesh, kind, thickness, cell);
    struct tact_pressure_field *field = field_of_given_extent(extent);
    tact_extent_free(extent);
    return field;
}

static struct tact_mesh *make_sphere_mesh(void)
{
    struct tact_mesh *mesh;
    assert_int_equal(tact_mesh_capsule(R, 0.0, 10000, &mesh), 0);
    return mesh;
}

/* A copy of a mesh with its vertices moved by a pose. */
static struct tact_mesh *make_moved_mesh(const struct tact_mesh *mesh, const struct tact_pose *pose)
{
    struct tact_mesh *out;
    double *x = malloc(3 * mesh->vertex_count * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        tact_pose_point(x + 3 * i, pose, mesh->vertices + 3 * i);
    }
    assert_int_equal(
        tact_mesh_create(x, mesh->vertex_count, mesh->triangles, mesh->triangle_count, &out, NULL),
        0);
    free(x);
    return out;
}

/* Exact extent of a ball at radius r, for each kind: w = R sinh(r / T) / (r sinh(R / T)); Laplace's
 * equation in a shell; the distance from the surface. */
static double exact_extent_of_ball(enum tact_extent_kind kind, double r)
{
    switch (kind) {
    case TACT_EXTENT_LAPLACE:
        return r < R - T ? T : T * (1.0 / r - 1.0 / R) / (1.0 / (R - T) - 1.0 / R);
    case TACT_EXTENT_DISTANCE:
        return R - r;
    default:
        return T * log(r * sinh(R / T) / (R * sinh(r / T)));
    }
}

static void field_extent_of_a_sphere_is_exact(void **state)
{
    (void)state;
    struct tact_mesh *mesh = make_sphere_mesh();
    /* the error is of the second order in the cell */
    const double cells = is_quick_sanitizer_run() ? 8.0 : 16.0, bound = 0.0128 / (cells * cells);
    for (enum tact_extent_kind kind = TACT_EXTENT_SCREENED; tact_extent_kind_names[kind]; kind++) {
        struct tact_extent *extent = compute_extent_of_mesh(mesh, kind, T, R / cells);
        double worst = 0.0;
        for (size_t i = 0; i < extent->vertex_count; i++) {
            double r = tact_v3_norm(extent->vertices + 3 * i);
            if (r > 1e-4 && r < R - 1e-4) {
                worst = tact_max(worst, fabs(extent->extent[i] - exact_extent_of_ball(kind, r)));
            }
        }
        printf("%s: %zu tetrahedra, nodes within %.1e m\n", tact_extent_kind_names[kind],
               extent->tet_count, worst);
        assert_true(worst < bound);
        tact_extent_free(extent);
    }
    tact_mesh_free(mesh);
}

/* The force of a ball pressed 3 mm into a rigid plane, in any orientation of the lattice: by exact
 * integration 6.279405e-7 m^3 times the slope; and the extent's slope on the surface, coth(R / T) -
 * T / R. All come nearer with smaller cells, and the force scatters less. */
static void ball_force_is_independent_of_the_lattice_orientation(void **state)
{
    (void)state;
    const double exact = 6.279405e-7 * PRESSURE_SLOPE, cell[2] = {0.0, R / 48.0};
    struct tact_pressure_field *flat = make_halfspace_field(INFINITY);
    struct tact_mesh *mesh = make_sphere_mesh();
    double last = 0.03, last_scatter = 0.01, last_slope = 0.02;
    const double exact_extent_slope_at_surface = 1.0 / tanh(R / T) - T / R;
    assert_true(fabs(exact_extent_slope_at_surface - 0.800091) < 5e-7);
    assert_true(fabs(exact_extent_of_ball(TACT_EXTENT_SCREENED, R - 1e-8) / 1e-8 -
                     exact_extent_slope_at_surface) < 1e-6);
    for (int i = 0; i < campaign_trial_count(2, 2); i++) {
        struct tact_pressure_field *ball =
            field_of_mesh_extent(mesh, TACT_EXTENT_SCREENED, T, cell[i]);
        struct tact_pose at = pose_from_position_and_rotation(0.0, 0.0, R - 0.003, 0.0, 0.0, 0.0),
                         floor = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
        double sum = 0.0, square = 0.0;
        struct tact_field_contact c;
        struct tact_field_quality q;
        tact_field_measure(ball, PRESSURE_SLOPE, mesh, &q);
        double relative_surface_slope_error = fabs(q.slope / exact_extent_slope_at_surface - 1.0);
        for (int n = 0; n < 100; n++) {
            random_unit_quaternion(at.quat_wxyz);
            assert_int_equal(find_field_contact(ball, &at, flat, &floor, &c), 1);
            sum += c.wrench[2] / 100.0;
            square += c.wrench[2] * c.wrench[2] / 100.0;
        }
        double relative_scatter_of_forces = sqrt(square - sum * sum) / sum,
               off = fabs(sum / exact - 1.0);
        printf("ball of %zu tetrahedra: force %.2f %% off, scatter %.2f %%, slope %.2f %%, %zu "
               "polygons\n",
               tact_field_cells(ball), 100.0 * off, 100.0 * relative_scatter_of_forces,
               100.0 * relative_surface_slope_error, c.polygons);
        assert_true(relative_scatter_of_forces < last_scatter && off < last);
        assert_true(relative_surface_slope_error < last_slope);
        last_slope = 0.7 * relative_surface_slope_error;
        last = 0.7 * off;
        last_scatter = 0.7 * relative_scatter_of_forces;
        tact_field_free(ball);
    }
    tact_field_free(flat);
    tact_mesh_free(mesh);
}

/* A plate of half thickness t: T ln(cosh(t / T) / cosh((t - d) / T)) at depth d in its middle.
 * The last plate, two cells thick, is small, as a larger one turned against the lattice would have
 * too many nodes. */
static void pressure_in_a_plate_is_exact(void **state)
{
    (void)state;
    const double thickness = 5e-3, width[6] = {1e-3, 5e-3, 25e-3, 25e-3, 5e-3, 1e-3};
    /* under a sanitizer the second and the last, the smallest ones */
    for (int i = is_quick_sanitizer_run(); i < 6; i += is_quick_sanitizer_run() ? 4 : 1) {
        struct tact_mesh *axis_aligned_mesh, *mesh, *punch;
        struct tact_pose at = i >= 3
                                  ? pose_from_position_and_rotation(0.0, 0.0, 0.0, 0.4, 0.3, 0.2)
                                  : pose_from_position_and_rotation(0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        struct tact_pose identity = pose_from_position_and_rotation(0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        struct tact_pressure_field *hard = make_rigid_box_field(0.005, 0.005, 0.02, &punch);
        const double side = i < 5 ? 0.03 : 0.012, half[3] = {side, side, 0.5 * width[i]};
        double worst = 0.0;
        assert_int_equal(tact_mesh_box(half, &axis_aligned_mesh), 0);
        mesh = make_moved_mesh(axis_aligned_mesh, &at);
        struct tact_pressure_field *plate =
            field_of_mesh_extent(mesh, TACT_EXTENT_SCREENED, thickness, 0.0);
        /* the last point is in the plate's middle, in a plane of the lattice */
        for (int n = 0; n < 5; n++) {
            double d = (0.1 + 0.1 * n) * width[i], t = 0.5 * width[i];
            const double up[3] = {0.0, 0.0, t - d + 0.02};
            struct tact_field_contact c;
            struct tact_pose pose_above_plate = at;
            tact_pose_point(pose_above_plate.position, &at, up);
            assert_int_equal(find_field_contact(hard, &pose_above_plate, plate, &identity, &c), 1);
            double exact = 1e-4 * PRESSURE_SLOPE * thickness *
                           log(cosh(t / thickness) / cosh((t - d) / thickness));
            worst = tact_max(worst, fabs(tact_v3_norm(c.wrench) / exact - 1.0));
        }
        printf("plate of %g thicknesses%s: %zu tetrahedra, force within %.1f %%\n",
               width[i] / thickness, i >= 3 ? ", turned" : "", tact_field_cells(plate),
               100.0 * worst);
        assert_true(worst < (i < 5 ? 0.025 : 0.05));
        tact_field_free(plate);
        tact_field_free(hard);
        tact_mesh_free(punch);
        tact_mesh_free(mesh);
        tact_mesh_free(axis_aligned_mesh);
    }
}

/* The zero set deviates from the mesh by at most 0.25 % of the size (rms), at thicknesses of 0.02
 * to 0.2 of the size. */
static void zero_set_of_the_field_is_near_a_real_mesh(void **state)
{
    (void)state;
    struct tact_mesh *mesh = load_test_data_mesh("spot.obj", 0.1);
    if (!mesh) {
        skip();
        return;
    }
    double size = mesh->nodes[0].upper[1] - mesh->nodes[0].lower[1];
    for (int i = is_quick_sanitizer_run(); i < 2; i++) {
        struct tact_field_quality q;
        struct tact_pressure_field *field =
            field_of_mesh_extent(mesh, TACT_EXTENT_SCREENED, size * (i ? 0.2 : 0.02), 0.0);
        tact_field_measure(field, PRESSURE_SLOPE, mesh, &q);
        printf("spot: %zu tetrahedra, volume %.4f of its own, slope %.3f +- %.3f, zero set off by "
               "%.3f %% of its size rms, %.2f %% at worst\n",
               tact_field_cells(field), q.volume / mesh->volume, q.slope, q.slope_spread,
               100.0 * q.rms / size, 100.0 * q.worst / size);
        assert_true(q.rms < 0.0025 * size && q.worst < 0.02 * size);
        assert_true(fabs(q.volume / mesh->volume - 1.0) < 0.005);
        tact_field_free(field);
    }
    tact_mesh_free(mesh);
}

/* The field of a box aligned with the lattice has exactly the box's faces and volume. */
static void field_of_a_box_is_represented_exactly(void **state)
{
    (void)state;
    const double half[3] = {0.02, 0.03, 0.01};
    struct tact_mesh *mesh;
    struct tact_field_quality q;
    assert_int_equal(tact_mesh_box(half, &mesh), 0);
    struct tact_pressure_field *field = field_of_mesh_extent(mesh, TACT_EXTENT_DISTANCE, T, 0.0);
    tact_field_measure(field, PRESSURE_SLOPE, mesh, &q);
    printf("box: %zu tetrahedra, volume %.1e of exact, deepest %.1e m of exact\n",
           tact_field_cells(field), q.volume / mesh->volume - 1.0, q.deepest - 0.01);
    assert_true(fabs(q.volume / mesh->volume - 1.0) < 1e-2);
    assert_true(fabs(q.deepest - 0.01) < 1e-12);
    tact_field_free(field);
    tact_mesh_free(mesh);
}

static void fields_of_equal_meshes_have_the_same_bits(void **state)
{
    (void)state;
    struct tact_mesh *mesh = make_sphere_mesh();
    struct tact_extent *a = compute_extent_of_mesh(mesh, TACT_EXTENT_SCREENED, T, R / 8.0);
    struct tact_extent *b = compute_extent_of_mesh(mesh, TACT_EXTENT_SCREENED, T, R / 8.0);
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->tet_count, b->tet_count);
    assert_memory_equal(a->vertices, b->vertices, 3 * a->vertex_count * sizeof(double));
    assert_memory_equal(a->extent, b->extent, a->vertex_count * sizeof(double));
    assert_memory_equal(a->tets, b->tets, 4 * a->tet_count * sizeof(uint32_t));
    tact_extent_free(a);
    tact_extent_free(b);
    tact_mesh_free(mesh);
}

static void expect_mesh_refused(const struct tact_mesh *mesh, enum tact_extent_kind kind,
                                double thickness, double cell, int code, const char *words)
{
    const struct tact_extent_recipe recipe = {kind, thickness, cell};
    struct tact_error err = {.line = 0};
    struct tact_extent *extent;
    assert_int_equal(tact_extent_of_mesh(mesh, &recipe, &extent, &err), code);
    printf("%s\n", err.text);
    assert_null(extent);
    assert_non_null(strstr(err.text, words));
}

static void meshes_without_a_field_are_refused(void **state)
{
    (void)state;
    const double half[3] = {0.03, 0.03, 0.5e-3};
    struct tact_pose at = pose_from_position_and_rotation(0.0, 0.0, 0.0, 0.4, 0.3, 0.2);
    struct tact_mesh *ball = make_sphere_mesh(), *plate, *mesh;
    assert_int_equal(tact_mesh_box(half, &plate), 0);
    mesh = make_moved_mesh(plate, &at);
    expect_mesh_refused(ball, TACT_EXTENT_SCREENED, 0.0, 0.0, -EINVAL, "must be positive");
    expect_mesh_refused(ball, TACT_EXTENT_SCREENED, NAN, 0.0, -EINVAL, "must be positive");
    expect_mesh_refused(ball, TACT_EXTENT_SCREENED, T, -1.0, -EINVAL, "must be positive");
    expect_mesh_refused(ball, TACT_EXTENT_SCREENED, 1e-3, 3e-3, -EDOM,
                        "expected a field cell of at most 0.002");
    expect_mesh_refused(ball, TACT_EXTENT_SCREENED, 1e-4, 0.0, -EDOM, "thickness over");
    expect_mesh_refused(ball, TACT_EXTENT_LAPLACE, 2.0 * R, 0.0, -EDOM, "deep");
    expect_mesh_refused(mesh, TACT_EXTENT_SCREENED, T, 1e-3, -EDOM, "0.001 m thin at");
    expect_mesh_refused(mesh, TACT_EXTENT_SCREENED, 5.0 * half[2], 0.0, -EDOM,
                        "do not resolve; expected a field cell of at most 0.0005 m");
    tact_mesh_free(mesh);
    tact_mesh_free(plate);
    tact_mesh_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field_extent_of_a_sphere_is_exact),
        cmocka_unit_test(ball_force_is_independent_of_the_lattice_orientation),
        cmocka_unit_test(pressure_in_a_plate_is_exact),
        cmocka_unit_test(zero_set_of_the_field_is_near_a_real_mesh),
        cmocka_unit_test(field_of_a_box_is_represented_exactly),
        cmocka_unit_test(fields_of_equal_meshes_have_the_same_bits),
        cmocka_unit_test(meshes_without_a_field_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
