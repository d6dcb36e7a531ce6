/* Round solids in motion by the model `features`: soft balls that spin, cans that tip and roll,
 * pressed spheres. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "support/contact_model_scene.h"
#include "support/run_scene.h"

#define G 9.81

/* A soft ball spins on a half-space, on a plate and on the round end of a capsule; friction in
 * Hertz's disc stops it: M = (3 pi / 16) mu N a, a^3 = 3 N R / (4 E*), 1/R = the sum of the
 * curvatures. */
static void soft_ball_spins_down_by_hertz_torsion(void **state)
{
    (void)state;
    const double radius = 0.01, mass = 0.05, mu = 0.5, modulus = 1e6, spin = 20.0, time = 0.1;
    for (int i = 0; i < 3; i++) {
        struct tact_world_options o = options_with_contact_model("features", 1e-3);
        const struct tact_shape ball = make_sphere(radius), plate = box_of_sides(1, 1, 1e-3);
        const struct tact_shape rod = {.kind = TACT_SHAPE_CAPSULE, .size = {0.03, 0.05, 0.0}};
        const double place[3] = {0.0, 0.0, radius};
        const double r = i == 2 ? 1.0 / (1.0 / radius + 1.0 / 0.03) : radius;
        const double a = cbrt(0.75 * mass * G * r / modulus);
        const double expected_spin_deceleration =
            3.0 * M_PI / 16.0 * mu * mass * G * a / (0.4 * mass * radius * radius);
        struct tact_pose ground_pose = tact_pose_identity();
        struct tact_contact_law law = make_friction_law(mu);
        struct world_scene s;
        law.modulus = modulus;
        open_empty_scene(&s, &o);
        ground_pose.position[2] = i == 2 ? -0.08 : -0.5e-3;
        if (i == 0) {
            add_scene_ground(&s);
        } else {
            add_scene_shape(&s, -1, i == 1 ? &plate : &rod, &ground_pose, 0);
        }
        add_scene_solid(&s, &ball, mass, place, 0.0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        double *w = tact_world_body(s.world, 0)->twist + 3;
        w[2] = spin;
        run_scene_for_seconds(&s, time);
        printf("%s: slower by %.4f rad/s, exact %.4f\n",
               i == 0   ? "half-space"
               : i == 1 ? "plate"
                        : "capsule",
               spin - w[2], expected_spin_deceleration * time);
        assert_true(fabs((spin - w[2]) / (expected_spin_deceleration * time) - 1.0) < 1e-4);
        close_scene(&s);
    }
}

static struct tact_shape make_cylinder_shape(double radius, double length)
{
    const struct tact_shape can = {.kind = TACT_SHAPE_CYLINDER, .size = {radius, 0.5 * length}};
    return can;
}

/* A can on a slope, on its end on a plate, stays under diameter / height and tips over it: its rim
 * is 64 corners, the chord of which is 0.12 % short of it where none is below. */
static void can_tips_over_its_rim_at_the_exact_slope(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        double slope = atan(0.6) * (i & 1 ? 1.0015 : 0.9985);
        struct tact_world_options o = options_with_tilted_gravity(slope);
        const struct tact_shape can = make_cylinder_shape(0.03, 0.1),
                                plate = box_of_sides(1, 1, 0.01);
        const double place[3] = {0.0, 0.0, 0.05};
        struct tact_pose ground_pose = tact_pose_identity();
        struct world_scene s;
        o.model = tact_contact_model_find("features");
        open_empty_scene(&s, &o);
        ground_pose.position[2] = -0.005;
        add_scene_shape(&s, -1, &plate, &ground_pose, 0);
        add_scene_solid(&s, &can, 0.3, place, i & 2 ? 0.4 : 0.0);
        start_box_on_ground(&s, 2.0);
        run_scene_for_seconds(&s, 1.5);
        printf("slope %.4f of diameter / height: tilt %.1e\n", tan(slope) / 0.6,
               body_tilt_from_vertical(&s, 0));
        assert_true(i & 1 ? body_tilt_from_vertical(&s, 0) > 0.1
                          : body_tilt_from_vertical(&s, 0) < 1e-9);
        close_scene(&s);
    }
}

/* A can on its side rolls down at 2/3 g sin(slope), less what the width of its line resists: it is
 * 1e-4 of its length. Nothing sinks. */
static void a_can_rolls_down_without_sinking(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const double r = 0.03, length = 0.1, slope = 0.2, h = 1e-3 / (1 << i % 2);
        struct tact_world_options o = options_with_tilted_gravity(slope);
        const struct tact_shape can = make_cylinder_shape(r, length),
                                plate = box_of_sides(8, 1, 1e-3);
        const double place[3] = {0.0, 0.0, r}, turn[3] = {2.0 * atan(1.0), 0.0, 0.0};
        struct world_scene s;
        double deepest = 0.0;
        o.model = tact_contact_model_find("features");
        o.period = h;
        open_empty_scene(&s, &o);
        add_ground_or_plate(&s, i >= 2 ? &plate : NULL);
        add_scene_solid(&s, &can, 0.3, place, 0.0);
        start_box_on_ground(&s, 0.5);
        struct tact_body *body = tact_world_body(s.world, 0);
        tact_quat_from_rotvec(body->pose.quat_wxyz, turn);
        tact_world_refresh(s.world);
        for (int k = 0; k < (int)(1.0 / h); k++) {
            step_scene(&s);
            deepest = fmin(deepest, body->pose.position[2] - r);
        }
        double rate = body->twist[0] / ((double)s.ticks * h), arm = 0.5e-4 * length;
        double exact = 2.0 / 3.0 * G * (sin(slope) - cos(slope) * arm / r);
        printf("rolls at %.6f of exact, lowest %.1e m, unsolved %ld\n", rate / exact, deepest,
               s.unsolved_ticks);
        assert_true(fabs(rate / exact - 1.0) < 1e-3 && deepest > -1e-12 && s.unsolved_ticks == 0);
        assert_true(fabs(body->twist[4] * r / body->twist[0] - 1.0) < 1e-5);
        close_scene(&s);
    }
}

/* A driven sphere presses on a fixed one without gravity: rounding of the gap ends no contact. */
static void pressed_spheres_stay_in_contact_without_gravity(void **state)
{
    (void)state;
    static const char text[] =
        "name: press\nduration: 0.5\ngravity: [0, 0, 0]\nmaterials: [{name: a}, {name: b}]\n"
        "pairs: [{materials: [a, b], friction: 0.5, model: features}]\nbodies:\n"
        "  - {name: ball, fixed: true, shapes: [{type: sphere, radius: 0.02, material: a}]}\n"
        "hands:\n  - name: h\n    position: [%g, 0.001, 0.05]\n    links:\n"
        "      - name: f\n        joint: {type: slide, axis: [0, 0, -1], position: [0, 0, 0],\n"
        "          stiffness: 200, damping: 2, start: 0}\n"
        "        mass: 0.03\n        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
        "        shapes: [{type: sphere, radius: 0.01, material: b}]\n"
        "devices:\n  - {name: op, type: operator,\n"
        "     settings: {script: [[0, 0, 0, 0], [0.02, 0, 0, 0], [0.2, 1, 0, 0]]}}\n"
        "inputs:\n  - {from: op.grip, to: h.f, offset: 0, scale: 0.04}\n";
    struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    options.types = tact_devices_builtin(&options.type_count);
    for (int i = 0; i < 14; i++) {
        struct tact_session_report report;
        struct tact_scene *scene;
        struct tact_session *session;
        int has_ball_touched = 0, open_ticks = 0;
        char scene_text[2048];
        tact_number_print(scene_text, sizeof scene_text, text, 0.001 * i - 0.004);
        open_session_of_scene_text(scene_text, &options, &scene, &session);
        assert_int_equal(tact_session_begin(session), 0);
        for (int k = 0; k < 500; k++) {
            assert_int_equal(tact_session_step(session, 0, NULL), 0);
            const int force = tact_world_contact(tact_session_world(session), 0)->impulse[0] > 0.0;
            open_ticks += has_ball_touched && !force;
            has_ball_touched |= force;
        }
        assert_int_equal(tact_session_end(session, &report), 0);
        tact_session_destroy(session);
        tact_scene_free(scene);
        assert_true(has_ball_touched && open_ticks == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(soft_ball_spins_down_by_hertz_torsion),
        cmocka_unit_test(can_tips_over_its_rim_at_the_exact_slope),
        cmocka_unit_test(a_can_rolls_down_without_sinking),
        cmocka_unit_test(pressed_spheres_stay_in_contact_without_gravity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
