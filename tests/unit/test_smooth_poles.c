/*
 * Poles of patches, where a side is one point: an ellipsoid of NURBS, as CAD programs write it,
 * against the closed form.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/models_internal.h"
#include "support/random.h"
#include "support/torus_patches.h"
#include "support/world_scene.h"

#define PI 3.14159265358979323846

static const double half_axes_of_patched_ellipsoid[3] = {0.05, 0.03, 0.02};

/* An OBJ file of the ellipsoid as one surface of four by two patches, from the south pole to the
 * north pole. control_point_lift: added to z of the row of control points next to the south pole
 * [m]. */
static char *ellipsoid_patch_file_text(double control_point_lift)
{
    static const double meridian_points[5][3] = {/* r, z, weight */
                                                 {0.0, -1.0, 1.0},
                                                 {1.0, -1.0, 0.70710678118654752},
                                                 {1.0, 0.0, 1.0},
                                                 {1.0, 1.0, 0.70710678118654752},
                                                 {0.0, 1.0, 1.0}};
    double circle_control_point[9][3];
    char *text = malloc(TORUS_PATCH_TEXT), *at = text;
    assert_non_null(text);
    assert_int_equal(circle_control_points(4, 2, circle_control_point), 9);
    for (int j = 0; j < 5; j++) {
        for (int i = 0; i < 9; i++) {
            at += tact_number_print(at, 128, "v %.17g %.17g %.17g %.17g\n",
                                    half_axes_of_patched_ellipsoid[0] * meridian_points[j][0] *
                                        circle_control_point[i][0],
                                    half_axes_of_patched_ellipsoid[1] * meridian_points[j][0] *
                                        circle_control_point[i][1],
                                    half_axes_of_patched_ellipsoid[2] * meridian_points[j][1] +
                                        (j == 1 ? control_point_lift : 0.0),
                                    meridian_points[j][2] * circle_control_point[i][2]);
        }
    }
    at += sprintf(at, "cstype rat bspline\ndeg 2 2\nsurf 0 4 0 2");
    for (int i = 1; i <= 45; i++) {
        at += sprintf(at, " %d", i);
    }
    sprintf(at, "\nparm u 0 0 0 1 1 2 2 3 3 4 4 4\nparm v 0 0 0 1 1 2 2 2\nend\n");
    return text;
}

/* A place at a distance from a pole, in parameters, or anywhere. */
static void random_patch_parameters(double parameter_distance_to_pole, double place[3])
{
    const int square = (int)uniform(0.0, 7.999); /* four to the south, then four to the north */
    const double b =
        parameter_distance_to_pole < 0.0 ? uniform(0.0, 1.0) : parameter_distance_to_pole;
    tact_v3_set(place, square, uniform(0.0, 1.0), square < 4 ? b : 1.0 - b);
}

/* Points, normals and curvatures are those of the closed form up to the poles and at them. */
static void patches_about_a_pole_have_the_surface_of_the_ellipsoid(void **state)
{
    (void)state;
    const double parameter_distance_to_pole[7] = {-1.0, 0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3};
    const struct tact_shape exact = {.kind = TACT_SHAPE_ELLIPSOID,
                                     .size = {half_axes_of_patched_ellipsoid[0],
                                              half_axes_of_patched_ellipsoid[1],
                                              half_axes_of_patched_ellipsoid[2]}};
    struct tact_charts *charts = load_surface_patches_and_free_text(ellipsoid_patch_file_text(0.0));
    double worst[3] = {0.0};
    for (int i = 0; i < 7000; i++) {
        struct tact_surface_point p, q;
        double place[3];
        random_patch_parameters(parameter_distance_to_pole[i % 7], place);
        assert_int_equal(tact_charts_point(charts, place, &p), 0);
        assert_int_equal(tact_shape_surface(&exact, p.at, &q), 0);
        for (int k = 0; k < 9; k++) {
            worst[0] =
                fmax(worst[0], fabs(p.at[k % 3] - q.at[k % 3]) / half_axes_of_patched_ellipsoid[0]);
            worst[1] = fmax(worst[1], fabs(p.normal[k % 3] - q.normal[k % 3]));
            worst[2] =
                fmax(worst[2], fabs(p.bend[k] - q.bend[k]) * half_axes_of_patched_ellipsoid[2]);
        }
    }
    struct tact_shape shape = {.kind = TACT_SHAPE_PATCHES, .charts = charts};
    assert_int_equal(tact_shape_tessellate(&shape), 0);
    struct tact_shape_mass mass, exact_mass;
    tact_shape_mass(&shape, &mass);
    tact_shape_mass(&exact, &exact_mass);
    double off = fabs(mass.volume / exact_mass.volume - 1.0);
    printf("points to %.1e, normals to %.1e, curvature to %.1e, volume to %.1e\n", worst[0],
           worst[1], worst[2], off);
    assert_true(worst[0] < 1e-14 && worst[1] < 1e-12 && worst[2] < 1e-7 && off < 1e-9);
    tact_charts_free(charts);
}

/* A step over a pole and past it ends where it leads, to the second order of its length. */
static void newton_steps_lead_over_a_pole(void **state)
{
    (void)state;
    struct tact_charts *charts = load_surface_patches_and_free_text(ellipsoid_patch_file_text(0.0));
    double worst = 0.0;
    int pole_crossing_count = 0;
    for (int i = 0; i < 40000; i++) {
        struct tact_surface_point p, q;
        double place[3], t[2][3], step[3], moved[3];
        random_patch_parameters(i % 20 ? pow(10.0, uniform(-9.0, -0.5)) : 0.0, place);
        assert_int_equal(tact_charts_point(charts, place, &p), 0);
        const double from = hypot(p.at[0], p.at[1]), angle = uniform(0.0, 2.0 * PI),
                     length = fmax(from, 1e-9) * pow(10.0, uniform(-2.0, 0.5));
        if (length > 0.1 * half_axes_of_patched_ellipsoid[2]) {
            continue;
        }
        tact_v3_tangents(p.normal, t[0], t[1]);
        tact_v3_scale(step, t[0], length * cos(angle));
        tact_v3_axpy(step, length * sin(angle), t[1]);
        tact_charts_move(charts, place, step);
        assert_int_equal(tact_charts_point(charts, place, &q), 0);
        pole_crossing_count += p.at[0] * q.at[0] + p.at[1] * q.at[1] < 0.0;
        tact_v3_sub(moved, q.at, p.at);
        tact_v3_sub(moved, moved, step);
        worst = fmax(worst, tact_v3_norm(moved) / length -
                                2.0 * (length + from) / half_axes_of_patched_ellipsoid[2]);
    }
    printf("steps off by up to %.1e of their length more than of the second order, %d go past the "
           "pole\n",
           worst, pole_crossing_count);
    assert_true(worst < 1e-3 && pole_crossing_count > 1000);
    tact_charts_free(charts);
}

/* Position and attitude of an ellipsoid after a second of rolling on a plane about its pole. */
static void find_pose_after_rolling(const struct tact_shape *shape, double tilt,
                                    struct tact_pose *out)
{
    struct tact_contact_law law = make_rigid_law(0.8);
    const double place[3] = {0.0, 0.0, half_axes_of_patched_ellipsoid[2]},
                 turn[3] = {0.0, tilt, 0.0};
    struct world_scene s;
    law.model = &tact_model_smooth;
    open_empty_scene(&s, NULL);
    add_scene_ground(&s);
    add_scene_solid(&s, shape, 0.1, place, 0.0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    struct tact_body *body = tact_world_body(s.world, 0);
    tact_quat_from_rotvec(body->pose.quat_wxyz, turn);
    tact_v3_set(body->twist + 3, 3.0, -2.0, 4.0);
    const double arm[3] = {0.0, 0.0, half_axes_of_patched_ellipsoid[2]};
    tact_v3_cross(body->twist, body->twist + 3, arm);
    tact_world_refresh(s.world);
    run_scene_for_seconds(&s, 1.0);
    assert_true(s.unsolved_ticks == 0);
    *out = body->pose;
    close_scene(&s);
}

/* The patches roll as the ellipsoid does, from the pole itself and over it. */
static void ellipsoid_of_patches_rolls_over_its_pole_as_the_closed_form(void **state)
{
    (void)state;
    const struct tact_shape exact = {.kind = TACT_SHAPE_ELLIPSOID,
                                     .size = {half_axes_of_patched_ellipsoid[0],
                                              half_axes_of_patched_ellipsoid[1],
                                              half_axes_of_patched_ellipsoid[2]}};
    struct tact_charts *charts = load_surface_patches_and_free_text(ellipsoid_patch_file_text(0.0));
    struct tact_shape shape = {.kind = TACT_SHAPE_PATCHES, .charts = charts};
    double worst = 0.0;
    assert_int_equal(tact_shape_tessellate(&shape), 0);
    for (int i = 0; i < 2; i++) {
        struct tact_pose a, b;
        find_pose_after_rolling(&exact, 1e-3 * i, &a);
        find_pose_after_rolling(&shape, 1e-3 * i, &b);
        for (int k = 0; k < 4; k++) {
            worst = fmax(worst,
                         fabs(a.quat_wxyz[k] - b.quat_wxyz[k]) * half_axes_of_patched_ellipsoid[0]);
            worst = fmax(worst, k < 3 ? fabs(a.position[k] - b.position[k]) : 0.0);
        }
        printf("at (%.6f, %.6f) m, apart by %.1e m\n", a.position[0], a.position[1], worst);
    }
    assert_true(worst < 1e-9);
    tact_charts_free(charts);
}

/* A tip, about which the normal jumps, is no pole of a smooth surface. */
static void tip_of_a_cone_is_refused(void **state)
{
    (void)state;
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    char *text = ellipsoid_patch_file_text(0.5 * half_axes_of_patched_ellipsoid[2]);
    assert_int_equal(tact_charts_patches(text, strlen(text), "cone.obj", 1.0, &charts, &err),
                     -EINVAL);
    assert_string_equal(err.text, "patch 0, side v = 0, is collapsed to a tip, where the normal "
                                  "jumps; expected a pole of a smooth surface");
    assert_string_equal(err.file, "cone.obj");
    assert_int_equal(err.line, 48);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_about_a_pole_have_the_surface_of_the_ellipsoid),
        cmocka_unit_test(newton_steps_lead_over_a_pole),
        cmocka_unit_test(ellipsoid_of_patches_rolls_over_its_pole_as_the_closed_form),
        cmocka_unit_test(tip_of_a_cone_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
