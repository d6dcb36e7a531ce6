/* Active limits of a contact and their margins, compared with statics by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

/* The patch is in the middle of the overlap, 2e-5 thick, which shortens its arm to the centre of
 * mass. */
static const double G = 9.81, MU = 0.5, SINK = 1e-5;

static void assert_near(double got, double exact, double tolerance)
{
    if (!(fabs(got - exact) <= tolerance)) {
        print_message("%.9f, exact %.9f\n", got, exact);
    }
    assert_true(fabs(got - exact) <= tolerance);
}

/* Puts a box of given length and height at rest on a slope, and simulates one tick. */
static const struct tact_contact *simulate_tick_of_box_on_slope(struct world_scene *s, double slope,
                                                                double mu, double length,
                                                                double height)
{
    struct tact_world_options o = options_with_tilted_gravity(slope);
    struct tact_contact_law law = make_rigid_law(mu);
    struct tact_shape box = box_of_sides(length, 0.1, height);
    const double at[3] = {0, 0, 0.5 * height - law.overlap};
    open_empty_scene(s, &o);
    add_scene_ground(s);
    add_scene_solid(s, &box, 1.0, at, 0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    solve_scene_velocities(s);
    return tact_world_contact(s->world, 0);
}

/* A block on a slope needs friction of tan(slope) times the normal force, with the centre of
 * pressure tan(slope) height / 2 off the middle. */
static void block_on_a_slope_has_exact_limit_margins(void **state)
{
    (void)state;
    for (int slope_degrees = 5; slope_degrees <= 40; slope_degrees += 5) {
        struct world_scene s;
        double slope = slope_degrees * M_PI / 180, need = tan(slope);
        const struct tact_contact *c = simulate_tick_of_box_on_slope(&s, slope, MU, 0.2, 0.04);
        double friction = need < MU ? 1 - need / MU : MU / need - 1;
        assert_near(c->margins.friction, friction, 1e-9);
        assert_near(c->margins.slip, friction, 1e-9);
        assert_near(c->margins.spin, 1, 1e-9);
        assert_near(c->margins.edge, 1 - need * (0.02 - SINK) / 0.1, 1e-9);
        assert_near(c->margins.normal, cos(slope), 1e-9);
        assert_near(c->margins.joint, 1, 0);
        assert_int_equal(c->limits, need < MU ? 0 : TACT_LIMIT_CONE);
        close_scene(&s);
    }
}

/* A rough, tall block tips: the centre of pressure would be (height / length) tan(slope) of the
 * way to the edge. */
static void tipping_block_reaches_the_edge_limit_of_its_patch(void **state)
{
    (void)state;
    const double tested_slopes[2] = {0.2, 0.5};
    for (int i = 0; i < 2; i++) {
        struct world_scene s;
        const struct tact_contact *c =
            simulate_tick_of_box_on_slope(&s, tested_slopes[i], 2.0, 0.1, 0.3);
        double reach = (0.15 - SINK) / 0.05 * tan(tested_slopes[i]);
        assert_near(c->margins.edge, reach < 1 ? 1 - reach : 1 / reach - 1, 1e-9);
        assert_true(c->margins.slip > 0);
        assert_int_equal(c->limits, reach < 1 ? 0 : TACT_LIMIT_EDGE);
        close_scene(&s);
    }
}

static void limit_margins_of_spinning_or_separating_bodies_are_exact(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_contact_law law = make_rigid_law(MU);
    struct tact_shape disc;
    const double at[3] = {0, 0, 0.005 - 2e-5};
    open_empty_scene(&s, NULL);
    add_scene_ground(&s);
    disc = make_cylinder_mesh_shape(&s, 0.05, 0.01, 64);
    int b = add_scene_solid(&s, &disc, 1.0, at, 0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    struct tact_body *body = tact_world_body(s.world, b);
    const struct tact_contact *c = tact_world_contact(s.world, 0);
    body->twist[5] = 10; /* stopping it in one tick takes a torque of I w / h; the limit of the
                            patch is 2/3 mu m g R */
    solve_scene_velocities(&s);
    double largest_friction_torque_of_disc = 2.0 / 3 * MU * G * 0.05,
           need = 0.5 * 0.05 * 0.05 * 10 / 1e-3;
    assert_int_equal(c->limits, TACT_LIMIT_SPIN);
    print_message("spin: margin %.6f, exact %.6f\n", c->margins.spin,
                  largest_friction_torque_of_disc / need - 1);
    assert_near(c->margins.spin, largest_friction_torque_of_disc / need - 1, 4e-5);
    assert_near(c->margins.slip, c->margins.spin, 1e-6);
    assert_near(c->margins.friction, 1, 1e-6);
    memset(body->twist, 0, sizeof body->twist);
    body->twist[2] = 1.0;
    solve_scene_velocities(&s);
    assert_int_equal(c->limits, TACT_LIMIT_OPEN);
    assert_near(c->margins.normal, -1, 1e-9);
    assert_true(c->touching && c->impulse[0] == 0);
    struct tact_pose *pose = &body->pose;
    pose->position[2] = 1.0;
    tact_world_refresh(s.world);
    solve_scene_velocities(&s);
    assert_true(!c->touching && c->margins.edge == 0 && c->margins.normal == 0);
    close_scene(&s);
}

/* A finger on a slide presses on the floor by a spring that demands more than the drive's limit. */
static void saturated_joint_drive_is_reported(void **state)
{
    (void)state;
    const double limits[3] = {1.0, 5.0, 0.0};
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        struct tact_contact_law law = make_rigid_law(MU);
        struct tact_hand *hand;
        struct tact_pose base = tact_pose_identity(), local = tact_pose_identity();
        struct tact_link_def link = {.parent = -1,
                                     .joint = TACT_JOINT_SLIDE,
                                     .axis = {0, 0, -1},
                                     .origin = tact_pose_identity(),
                                     .stiffness = 1000,
                                     .damping = 20,
                                     .limit = limits[i],
                                     .mass = 0.1,
                                     .inertia = {1e-5, 1e-5, 1e-5, 0, 0, 0}};
        base.position[2] = 0.01 - 2e-5;
        assert_int_equal(tact_hand_create(&link, 1, &base, &hand), 0);
        open_empty_scene(&s, NULL);
        add_scene_ground(&s);
        int h = tact_world_add_hand(s.world, hand, 1);
        struct tact_shape ball = make_sphere(0.01);
        assert_int_equal(tact_shape_tessellate(&ball), 0);
        const struct tact_owner owner = {TACT_OWNER_HAND, h, 0};
        assert_true(tact_world_add_shape(s.world, owner, &ball, &local, 1) >= 0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        tact_hand_state(hand).target[0] = 2e-3; /* 2 N */
        for (int k = 0; k < 200; k++) {
            step_scene(&s);
        }
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        /* drive force at rest [N]: the finger reaches the floor after 20 um */
        const double drive_force_at_rest = 2 - 0.02;
        const double exact[3] = {1 / drive_force_at_rest - 1, 1 - drive_force_at_rest / 5, 1};
        print_message("drive limit %g N: margin %.6f, normal force %.4f N\n", limits[i],
                      c->margins.joint, c->wrench[2]);
        assert_near(c->margins.joint, exact[i], 2.5e-5);
        assert_int_equal(!!(c->limits & TACT_LIMIT_JOINT), i == 0);
        close_scene(&s);
        tact_shape_release(&ball);
    }
}

static void limit_tally_counts_contacts_at_their_limits(void **state)
{
    (void)state;
    struct tact_limit_tally t = {0};
    const struct tact_margins a = {0.5, -0.1, 0.2, 0.3, 1, 1}, b = {0.6, 0.4, 0.1, 0.9, -0.2, 1};
    tact_limit_tally_add(&t, TACT_LIMIT_CONE | TACT_LIMIT_SPIN, 1e-3, &a);
    tact_limit_tally_add(&t, TACT_LIMIT_EDGE, 1e-3, &b);
    const double least[TACT_MARGIN_COUNT] = {0.5, -0.1, 0.1, 0.3, -0.2, 1};
    assert_memory_equal(t.least, least, sizeof least);
    assert_true(t.touching == 2 && t.at[0] == 0 && t.at[1] == 1 && t.at[2] == 1 && t.at[3] == 1);
    assert_true(t.modes[TACT_FRICTION_SLIDING] == 1 && t.modes[TACT_FRICTION_NO_SPIN] == 1 &&
                t.modes[TACT_FRICTION_ROLLING] == 0);
    assert_int_equal(tact_friction_mode_from_limits(TACT_LIMIT_SPIN, 1e-3), TACT_FRICTION_ROLLING);
    assert_int_equal(tact_friction_mode_from_limits(0, 0.0), TACT_FRICTION_ROLLING);
    assert_int_equal(tact_friction_mode_from_limits(TACT_LIMIT_OPEN, 1e-3), -1);
    assert_null(tact_friction_mode_name(TACT_FRICTION_MODES));
    assert_string_equal(tact_limit_name(3), "spin");
    assert_string_equal(tact_margin_name(4), "edge");
    assert_null(tact_limit_name(TACT_LIMIT_COUNT));
    assert_null(tact_margin_name(-1));
    assert_true(tact_margin(0, 0) == 1 && tact_margin(INFINITY, 1) == -1);
    assert_true(tact_margin(1, INFINITY) == 1 && tact_margin(2, 1) == -0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_on_a_slope_has_exact_limit_margins),
        cmocka_unit_test(tipping_block_reaches_the_edge_limit_of_its_patch),
        cmocka_unit_test(limit_margins_of_spinning_or_separating_bodies_are_exact),
        cmocka_unit_test(saturated_joint_drive_is_reported),
        cmocka_unit_test(limit_tally_counts_contacts_at_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
