/* Cylinders and ellipsoids on a plane: rolling, rest and tipping compared with exact solutions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846

static struct tact_shape make_shape(enum tact_shape_kind kind, double a, double b, double c)
{
    struct tact_shape s = {.kind = kind, .size = {a, b, c}};
    return s;
}

/* Adds a body of density 1000 of this shape, at a height over the ground, rotated by `turn`. */
static struct tact_body *add_body_above_ground(struct world_scene *s, double slope, double mu,
                                               const struct tact_shape *shape, double height,
                                               const double turn[3])
{
    struct tact_world_options o = options_with_tilted_gravity(slope);
    struct tact_contact_law law = make_rigid_law(mu);
    struct tact_shape_mass mass;
    const double place[3] = {0.0, 0.0, height};
    tact_shape_mass(shape, &mass);
    open_empty_scene(s, &o);
    add_scene_ground(s);
    add_scene_solid(s, shape, 1000.0 * mass.volume, place, 0.0);
    struct tact_body *body = tact_world_body(s->world, 0);
    tact_quat_from_rotvec(body->pose.quat_wxyz, turn);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    tact_world_refresh(s->world);
    return body;
}

/* Down a slope a cylinder rolls at 2/3 (g sin(slope) - g cos(slope) a / R), without slip: a is
 * half the width of the patch, whose edge the centre of pressure reaches. Where that is negative
 * the cylinder does not roll. */
static void cylinders_roll_downhill_at_two_thirds_g(void **state)
{
    (void)state;
    static const double radius[3] = {0.002, 0.02, 0.1};
    static const double rotation_vector_lying[3] = {PI / 2.0, 0.0, 0.0};
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        double r = radius[i], slope = 10.0 * PI / 180.0, width = 0.0;
        const struct tact_shape shape = make_shape(TACT_SHAPE_CYLINDER, r, 1.5 * r, 0.0);
        struct tact_body *body =
            add_body_above_ground(&s, slope, 0.6, &shape, r, rotation_vector_lying);
        run_scene_for_seconds(&s, 0.1);
        double before = body->twist[0];
        for (int k = 0; k < 500; k++) {
            step_scene(&s);
            const struct tact_patch *patch = &tact_world_contact(s.world, 0)->patch;
            int across = fabs(patch->frame[3]) < fabs(patch->frame[6]);
            double most = 0.0;
            for (int m = 0; m < patch->corners; m++) {
                most = fmax(most, fabs(patch->corner[m][across]));
            }
            width += most / 500.0;
        }
        double exact = 2.0 / 3.0 * G * (sin(slope) - cos(slope) * width / r);
        double rate = (body->twist[0] - before) / 0.5;
        double slip = body->twist[0] - r * body->twist[4];
        printf("radius %g m, patch %.3f mm: %.4f m/s^2, exact %.4f; slip %.1e m/s\n", r,
               1e3 * width, rate, fmax(0.0, exact), slip);
        assert_true(fabs(rate - fmax(0.0, exact)) < 0.02 * G * sin(slope));
        assert_true(fabs(slip) < 1e-3 && s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

/* On its end a cylinder tips where the slope exceeds its radius over half its height. */
static void upright_cylinders_tip_at_the_exact_slope(void **state)
{
    (void)state;
    static const double rotation_vector_upright[3] = {0.0, 0.0, 0.0};
    const double r = 0.02, half = 0.05;
    for (int is_beyond_tipping_slope = 0; is_beyond_tipping_slope < 2; is_beyond_tipping_slope++) {
        struct world_scene s;
        const struct tact_shape shape = make_shape(TACT_SHAPE_CYLINDER, r, half, 0.0);
        double slope = atan(r / half) * (is_beyond_tipping_slope ? 1.01 : 0.99);
        struct tact_body *body =
            add_body_above_ground(&s, slope, 0.9, &shape, half, rotation_vector_upright);
        run_scene_for_seconds(&s, 1.0);
        double tilt = body_tilt_from_vertical(&s, 0);
        printf("%.2f of the slope at which it tips: tilted by %.1e rad, moved %.1e m\n",
               is_beyond_tipping_slope ? 1.01 : 0.99, tilt, body->pose.position[0]);
        assert_true(is_beyond_tipping_slope ? tilt > 0.5
                                            : tilt < 1e-3 && fabs(body->pose.position[0]) < 1e-4);
        assert_true(s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

/* An ellipsoid is an affinely stretched ball, and so is the cap that a plane cuts off; it rests
 * with its shortest axis upright. */
static void ellipsoids_rest_on_their_flattest_side(void **state)
{
    (void)state;
    const double size[3] = {0.03, 0.02, 0.01}, rotation_vector_upright[3] = {0.0, 0.0, 0.0},
                 deep = 0.2;
    struct tact_shape shape = make_shape(TACT_SHAPE_ELLIPSOID, size[0], size[1], size[2]);
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose at = tact_pose_identity(), here = at;
    struct tact_shape_mass mass, by_mesh;
    struct tact_moments m;
    assert_int_equal(tact_shape_tessellate(&shape), 0);
    at.position[2] = size[2] * (1.0 - deep);
    assert_int_equal(tact_moments_pair(&shape, &at, &plane, &here, NULL, NULL, &m), 1);
    double cap = size[0] * size[1] * size[2] * PI * deep * deep * (3.0 - deep) / 3.0;
    struct tact_shape convex_shape_of_mesh = {.kind = TACT_SHAPE_CONVEX, .mesh = shape.mesh};
    tact_shape_mass(&shape, &mass);
    tact_shape_mass(&convex_shape_of_mesh, &by_mesh);
    printf("cap: %.4f of its volume; of the triangles' mass %.6f, inertia %.5f\n", m.volume / cap,
           by_mesh.volume / mass.volume, by_mesh.inertia[0] / mass.inertia[0]);
    assert_true(fabs(m.volume / cap - 1.0) < 0.015);
    assert_true(fabs(by_mesh.volume / mass.volume - 1.0) < 1e-9);
    assert_true(fabs(by_mesh.inertia[0] / mass.inertia[0] - 1.0) < 3e-3);
    tact_shape_release(&shape);

    struct world_scene s;
    struct tact_body *body =
        add_body_above_ground(&s, 0.0, 0.5, &shape, size[2], rotation_vector_upright);
    run_scene_for_seconds(&s, 1.0);
    printf("at rest: %.1e rad from upright, %.1e m/s\n", body_tilt_from_vertical(&s, 0),
           tact_v3_norm(body->twist));
    assert_true(body_tilt_from_vertical(&s, 0) < 1e-3 && tact_v3_norm(body->twist) < 1e-9 &&
                s.unsolved_ticks == 0);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cylinders_roll_downhill_at_two_thirds_g),
        cmocka_unit_test(upright_cylinders_tip_at_the_exact_slope),
        cmocka_unit_test(ellipsoids_rest_on_their_flattest_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
