/* Signs that symmetric scenes cannot test: which corner of a patch approaches, and the directions
 * of two links of one hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/world_scene.h"

/* A triangular prism moves up and turns so that its corner at x = R moves down at 0.5 m/s while
 * the opposite edge, at half the distance, moves up: an impact at that corner with restitution e =
 * 0.5. */
static void approaching_corner_of_a_prism_rebounds(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_contact_law law = make_rigid_law(0);
    const double radius = 0.1, turn = 20, at[3] = {0, 0, 0.025 - 2e-5};
    law.restitution = 0.5;
    open_empty_scene(&s, NULL);
    add_scene_ground(&s);
    struct tact_shape prism = make_cylinder_mesh_shape(&s, radius, 0.05, 3);
    int b = add_scene_solid(&s, &prism, 1, at, 0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    struct tact_body *body = tact_world_body(s.world, b);
    body->twist[2] = 1.5;
    body->twist[4] = turn;
    solve_scene_velocities(&s);
    double corner = body->twist[2] - radius * body->twist[4];
    print_message("the corner comes down at 0.5 m/s and leaves at %.4f m/s\n", corner);
    assert_true(corner > 0.2);
    close_scene(&s);
}

/* Two links of one hand slide towards each other and stop at contact. */
static void colliding_links_of_one_hand_stop(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_contact_law law = make_rigid_law(0.5);
    struct tact_link_def links[2];
    const struct tact_pose here = tact_pose_identity();
    struct tact_shape box = box_of_sides(0.1, 0.1, 0.1);
    struct tact_hand *hand;
    open_empty_scene(&s, NULL);
    assert_int_equal(tact_shape_tessellate(&box), 0);
    for (int i = 0; i < 2; i++) {
        links[i] = (struct tact_link_def){.parent = -1,
                                          .joint = TACT_JOINT_SLIDE,
                                          .axis = {1, 0, 0},
                                          .origin = here,
                                          .mass = 1 + i,
                                          .inertia = {1e-3, 1e-3, 1e-3, 0, 0, 0}};
        links[i].origin.position[0] = (i ? 0.5 : -0.5) * (0.1 - 2e-5);
    }
    assert_int_equal(tact_hand_create(links, 2, &here, &hand), 0);
    assert_true(tact_world_add_hand(s.world, hand, 1) >= 0);
    for (int i = 0; i < 2; i++) {
        const struct tact_owner owner = {TACT_OWNER_HAND, 0, i};
        assert_true(tact_world_add_shape(s.world, owner, &box, &here, 1) >= 0);
    }
    set_scene_contact_law(&s, 1, 1, &law);
    finish_scene_building(&s);
    tact_hand_state(hand).v[0] = 1;
    tact_hand_state(hand).v[1] = -1;
    tact_world_refresh(s.world);
    solve_scene_velocities(&s);
    const double *v = tact_hand_velocity(hand);
    print_message("links of 1 and 2 kg at 1 and -1 m/s: then %.6f and %.6f m/s\n", v[0], v[1]);
    assert_true(fabs(v[0] + 1.0 / 3) < 1e-5 && fabs(v[1] + 1.0 / 3) < 1e-5); /* momentum is kept */
    close_scene(&s);
    tact_shape_release(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(approaching_corner_of_a_prism_rebounds),
        cmocka_unit_test(colliding_links_of_one_hand_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
