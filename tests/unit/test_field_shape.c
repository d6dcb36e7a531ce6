/*
 * Fields of shapes: depth times a slope, against exact answers.
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
#include "support/field_bodies.h"
#include "support/random.h"

#define PI 3.14159265358979323846

static struct tact_pressure_field *make_shape_field(enum tact_shape_kind kind, double x, double y,
                                                    double z, double slope)
{
    struct tact_shape shape = {.kind = kind, .size = {x, y, z}};
    struct tact_pressure_field *field;
    struct tact_error err;
    assert_int_equal(tact_shape_tessellate(&shape), 0);
    int rc = field_of_shape(&shape, slope, &field, &err);
    tact_shape_release(&shape);
    if (rc) {
        fail_msg("kind %d: %s", kind, err.text);
    }
    return field;
}

/* The pressure of a field at a point of its own frame, interpolated in the cell that contains
 * it. */
static double field_pressure_at(const struct tact_pressure_field *field, const double *x)
{
    for (size_t i = 0; i < field->cell_count; i++) {
        const struct field_cell *cell = &field->cells[i];
        int inside = 1;
        for (int c = 0; c < 4; c++) {
            const double *plane = field->faces[cell->face[c]];
            double at = tact_v3_dot(plane, x) - plane[3];
            inside = inside && (cell->inside >> c & 1 ? at >= -1e-12 : at <= 1e-12);
        }
        if (inside) {
            return cell->value_at_origin + tact_v3_dot(cell->gradient, x);
        }
    }
    return 0.0;
}

/* Nearly equal sizes have a nearly vanishing core, which must not make degenerate cells. */
static void shapes_of_nearly_equal_sizes_make_a_field(void **state)
{
    (void)state;
    for (int i = 0; i < 26; i++) {
        double s = 0.03, more = s * (1.0 + pow(10.0, -0.5 * i));
        const struct {
            enum tact_shape_kind kind;
            double size[3];
        } of[] = {{TACT_SHAPE_BOX, {s, more, more}},
                  {TACT_SHAPE_BOX, {more, s, s}},
                  {TACT_SHAPE_CYLINDER, {more, s, 0.0}},
                  {TACT_SHAPE_CYLINDER, {s, more, 0.0}}};
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
            const double *size = of[k].size, inside[3] = {0.6 * size[0], 0.01 * s, 0.005 * s};
            struct tact_pressure_field *field =
                make_shape_field(of[k].kind, size[0], size[1], size[2], 1e6);
            double depth = field_pressure_at(field, inside) / 1e6, exact = 0.4 * size[0];
            if (!(fabs(depth - exact) < 0.03 * exact)) {
                fail_msg("solid %zu, %g: %g m in place of %g", k, more / s - 1.0, depth, exact);
            }
            tact_field_free(field);
        }
    }
}

/* Distance of a point in a box from the nearest face. */
static void the_field_of_a_box_is_the_distance_to_its_faces(void **state)
{
    (void)state;
    const double size[4][3] = {
        {0.03, 0.03, 0.03}, {0.01, 0.03, 0.02}, {0.02, 0.01, 0.02}, {0.05, 0.05, 0.001}};
    for (int i = 0; i < 4; i++) {
        const double *s = size[i];
        struct tact_pressure_field *box = make_shape_field(TACT_SHAPE_BOX, s[0], s[1], s[2], 1e6);
        double worst = 0.0;
        for (int n = 0; n < 2000; n++) {
            double x[3], d = INFINITY;
            for (int k = 0; k < 3; k++) {
                x[k] = uniform(-s[k], s[k]);
                d = tact_min(d, s[k] - fabs(x[k]));
            }
            worst = tact_max(worst, fabs(field_pressure_at(box, x) - 1e6 * d));
        }
        printf("box %g x %g x %g: %zu tetrahedra, pressure within %.1e Pa\n", s[0], s[1], s[2],
               tact_field_cells(box), worst);
        assert_true(worst < 1e-6);
        tact_field_free(box);
    }
}

/* Force of round shapes on a plane, in closed form: sphere, upright capsule, ellipsoid of
 * three equal semi-axes. */
static void field_forces_of_round_shapes_are_exact(void **state)
{
    (void)state;
    const double r = 0.05, slope = 1e5 / r, l = 0.04;
    const enum tact_shape_kind kind[3] = {TACT_SHAPE_SPHERE, TACT_SHAPE_CAPSULE,
                                          TACT_SHAPE_ELLIPSOID};
    struct tact_pressure_field *floor = make_halfspace_field(INFINITY);
    struct tact_pose at = tact_pose_identity();
    struct tact_field_contact c;
    for (int i = 0; i < 3; i++) {
        struct tact_pressure_field *ball = make_shape_field(kind[i], r, i == 1 ? l : r, r, slope);
        for (double d = 0.005; d < 0.03; d += 0.005) {
            double exact = PI / 3.0 * slope * r * d * d * (3.0 - 2.0 * d / r), worst = 0.0;
            for (int n = 0; n < 20; n++) {
                struct tact_pose place = tact_pose_identity();
                if (i != 1) {
                    random_unit_quaternion(place.quat_wxyz);
                }
                place.position[2] = r - d + (i == 1 ? l : 0.0);
                assert_int_equal(find_field_contact(ball, &place, floor, &at, &c), 1);
                worst = tact_max(worst, fabs(c.wrench[2] / exact - 1.0));
                worst = tact_max(worst, tact_hypot(c.wrench[0], c.wrench[1]) / exact);
            }
            printf("kind %d, %g m deep: %zu polygons, force within %.2f %%\n", kind[i], d,
                   c.polygons, 100.0 * worst);
            assert_true(worst < 0.05 * 0.005 / d);
        }
        tact_field_free(ball);
    }
    tact_field_free(floor);
}

static void field_forces_of_cylinders_are_exact(void **state)
{
    (void)state;
    struct tact_pressure_field *floor = make_halfspace_field(INFINITY);
    struct tact_pose at = tact_pose_identity();
    const double slope = 1e6, d = 1e-3;
    for (int i = 0; i < 2; i++) {
        double r = 0.02, l = i ? 0.005 : 0.03;
        struct tact_pressure_field *rod = make_shape_field(TACT_SHAPE_CYLINDER, r, l, 0.0, slope);
        struct tact_pose place = tact_pose_identity();
        struct tact_field_contact c;
        place.position[2] = l - d;
        assert_int_equal(find_field_contact(rod, &place, floor, &at, &c), 1);
        /* force of depth d over the end's disc, less near its rim, where the cylinder's side is
         * nearer */
        double exact = slope * PI * (r * r * d - r * d * d + d * d * d / 3.0);
        printf("cylinder %g x %g: %zu tetrahedra, force %.3e of exact\n", r, l,
               tact_field_cells(rod), c.wrench[2] / exact - 1.0);
        assert_true(fabs(c.wrench[2] / exact - 1.0) < 1e-3);
        tact_field_free(rod);
    }
    tact_field_free(floor);
}

/* The field of a random convex hull: its steepest gradient is the slope. */
static void fields_of_convex_solids_are_exact(void **state)
{
    (void)state;
    double points[60];
    for (int i = 0; i < 60; i++) {
        points[i] = uniform(-0.03, 0.03);
    }
    struct tact_mesh *mesh;
    assert_int_equal(tact_mesh_hull(points, 20, &mesh, NULL), 0);
    struct tact_shape shape = {.kind = TACT_SHAPE_CONVEX, .mesh = mesh};
    struct tact_pressure_field *field, *hard;
    struct tact_error err;
    assert_int_equal(field_of_shape(&shape, 1e6, &field, NULL), 0);
    double steepest_gradient = 0.0;
    for (size_t i = 0; i < field->cell_count; i++) {
        steepest_gradient = tact_max(steepest_gradient, tact_v3_norm(field->cells[i].gradient));
    }
    printf("convex: %zu tetrahedra, steepest %.12g Pa/m\n", field->cell_count, steepest_gradient);
    assert_true(fabs(steepest_gradient / 1e6 - 1.0) < 1e-9);
    tact_field_free(field);
    shape.kind = TACT_SHAPE_MESH;
    assert_int_equal(field_of_shape(&shape, INFINITY, &hard, &err), 0);
    tact_field_free(hard);
    tact_mesh_free(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_nearly_equal_sizes_make_a_field),
        cmocka_unit_test(the_field_of_a_box_is_the_distance_to_its_faces),
        cmocka_unit_test(field_forces_of_round_shapes_are_exact),
        cmocka_unit_test(field_forces_of_cylinders_are_exact),
        cmocka_unit_test(fields_of_convex_solids_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
