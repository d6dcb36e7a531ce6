/* The state of a patch's tangential springs: for bodies that cannot move along the patch, through
 * changes between one contact and several, under alternating loads, and in impacts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

static const double MU = 0.6, BOX_MASS = 0.5, G = 9.81;

static struct tact_contact_law make_contact_spring_law(double compliance,
                                                       double tangential_patch_compliance)
{
    struct tact_contact_law law = make_rigid_law(MU);
    law.compliance = compliance;
    law.tangential_compliance = tangential_patch_compliance;
    return law;
}

/* A driven finger that slides along z, and along x where `across`, over the ground. */
static void open_sliding_finger_scene(struct world_scene *s, const struct tact_world_options *o,
                                      int across)
{
    static const double axes[2][3] = {{0, 0, 1}, {1, 0, 0}};
    struct tact_link_def links[2];
    struct tact_pose base = tact_pose_identity(), here = base;
    struct tact_hand *hand;
    struct tact_contact_law law = make_contact_spring_law(1e-5, 1e-4);
    int n = 1 + across;
    base.position[2] = 0.01;
    for (int i = 0; i < n; i++) {
        links[i] = (struct tact_link_def){.parent = i - 1,
                                          .joint = TACT_JOINT_SLIDE,
                                          .origin = tact_pose_identity(),
                                          .stiffness = 2000,
                                          .damping = 20,
                                          .mass = 0.03,
                                          .inertia = {1e-6, 1e-6, 1e-6, 0, 0, 0}};
        memcpy(links[i].axis, axes[n - 1 - i], sizeof links[i].axis);
    }
    open_empty_scene(s, o);
    add_scene_ground(s);
    assert_int_equal(tact_hand_create(links, n, &base, &hand), 0);
    assert_int_equal(tact_world_add_hand(s->world, hand, 1), 0);
    tact_hand_refresh(hand);
    struct tact_shape *box = &s->shapes[s->shape_count++];
    *box = box_of_sides(0.02, 0.02, 0.02);
    assert_int_equal(tact_shape_tessellate(box), 0);
    struct tact_owner owner = {TACT_OWNER_HAND, 0, n - 1};
    assert_true(tact_world_add_shape(s->world, owner, box, &here, 1) >= 0);
    tact_hand_state(hand).target[n - 1] = -0.002;
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
}

/* The springs of a patch that cannot move in some directions stay finite; where a drive pulls along
 * the patch, drive and spring are deflected in series. */
static void contact_springs_of_driven_fingers_stay_bounded(void **state)
{
    (void)state;
    static const char *const models[] = {"cone", "Algorithm 1", "points"};
    const double share = 0.0005 * 2000 / (2000 + 1e4);
    for (int run = 0; run < 6; run++) {
        struct world_scene s;
        struct tact_world_options o = tact_world_options_default();
        int across = run % 2;
        o.local = run / 2 == 1 ? TACT_LOCAL_BOUCHARD : TACT_LOCAL_CONE;
        o.model = run / 2 == 2 ? tact_contact_model_find("points") : NULL;
        open_sliding_finger_scene(&s, &o, across);
        run_scene_for_seconds(&s, 0.2);
        if (across) {
            tact_hand_state(tact_world_hand(s.world, 0)).target[0] = 0.0005;
        }
        run_scene_for_seconds(&s, 0.8);
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        double sum = 0, q = tact_hand_state(tact_world_hand(s.world, 0)).q[0];
        for (int i = 0; i < 6; i++) {
            sum += fabs(c->springs.impulse[i]);
        }
        print_message("%s, %s: moved by %.4e m of %.4e m, springs %.1e N s, N %.3f\n",
                      across ? "pulls" : "presses", models[run / 2], across ? q : 0,
                      across ? share : 0, sum, fabs(c->wrench[2]));
        assert_true(fabs(c->wrench[2]) > 1 && sum < 0.01);
        assert_true(!across || fabs(q / share - 1) < 0.01);
        close_scene(&s);
    }
}

/* A box on the floor of an L-shaped body under a constant load along the wall touches the wall at
 * times: one contact becomes two and one again, and the box does not move. */
static void contact_springs_survive_changes_of_contact_pieces(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_contact_law law = make_contact_spring_law(1e-5, 1e-4);
    const double boxes[12] = {0, 0, -0.05, 0.6, 0.6, 0.1, -0.2, 0, 0.05, 0.1, 0.6, 0.1};
    const double at[3] = {-0.11 + 2e-5, 0, 0.01 - 2e-5 - law.compliance * BOX_MASS * G};
    struct tact_pose here = tact_pose_identity();
    open_empty_scene(&s, NULL);
    struct tact_shape l = make_shape_of_boxes(&s, boxes, 2), box = box_of_sides(0.08, 0.06, 0.02);
    add_scene_shape(&s, -1, &l, &here, 0);
    int k = add_scene_solid(&s, &box, BOX_MASS, at, 0), changes = 0, last = 0;
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    struct tact_body *body = tact_world_body(s.world, k);
    double h = s.options.period, most = MU * BOX_MASS * G, y = 0;
    for (int i = 0; i < 8000; i++) {
        body->twist[0] += h * 0.3 * most * sin(2 * M_PI * 2 * i * h) / BOX_MASS;
        body->twist[1] += h * 0.5 * most / BOX_MASS;
        step_scene(&s);
        int split = tact_world_contact(s.world, 0)->split;
        changes += i > 2000 && split != last;
        last = split;
        y = i == 2000 ? body->pose.position[1] : y;
    }
    print_message("%d times split or one again: moved by %.1e m, t F is %.1e m\n", changes,
                  body->pose.position[1] - y, law.tangential_compliance * 0.5 * most);
    assert_true(changes > 10);
    assert_true(fabs(body->pose.position[1] - y) < 0.05 * law.tangential_compliance * 0.5 * most);
    close_scene(&s);
}

/* Six boxes on a slope, shaken along the normal: the lean is the same after 100 periods as at
 * first, as the tilting stiffness of a patch does not depend on its depth. */
static void a_shaken_stack_does_not_lean_further(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_contact_spring_law(1e-6, 1e-6);
    struct tact_shape box = box_of_sides(0.1, 0.1, 0.02);
    tact_v3_set(o.gravity, 0.2 * G, 0, -G);
    open_empty_scene(&s, &o);
    add_scene_ground(&s);
    for (int i = 0; i < 6; i++) {
        const double at[3] = {0, 0, 0.01 - law.overlap + i * (0.02 - law.overlap)};
        add_scene_solid(&s, &box, i % 2 ? 0.2 : 1, at, 0);
    }
    set_scene_contact_law(&s, 0, 1, &law);
    set_scene_contact_law(&s, 1, 1, &law);
    finish_scene_building(&s);
    const struct tact_body *top = tact_world_body(s.world, 5);
    double pitch = 0, x = 0;
    for (int i = 0; i < 30001; i++) {
        for (int k = 0; k < 6; k++) {
            tact_world_body(s.world, k)->twist[2] += 5e-4 * sin(2 * M_PI * 4e-3 * i);
        }
        step_scene(&s);
        pitch = i == 5000 ? top->pose.quat_wxyz[2] : pitch;
        x = i == 5000 ? top->pose.position[0] : x;
    }
    print_message("after 100 times: leans by %.1e rad, moved by %.1e m\n",
                  2 * (top->pose.quat_wxyz[2] - pitch), top->pose.position[0] - x);
    assert_true(fabs(top->pose.quat_wxyz[2] - pitch) < 1e-7);
    assert_true(fabs(top->pose.position[0] - x) < 1e-6);
    close_scene(&s);
}

/* A flat box that lands obliquely and rebounds: the impact lasts one tick, and its friction is
 * that of a rigid patch. */
static void impact_does_not_load_the_contact_springs(void **state)
{
    (void)state;
    double after[3];
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        struct tact_contact_law law = make_contact_spring_law(i ? 1e-4 : 0, i == 2 ? 1e-4 : 0);
        struct tact_shape box = box_of_sides(0.08, 0.06, 0.02);
        const double at[3] = {0, 0, 0.06};
        law.restitution = 0.8;
        open_empty_scene(&s, NULL);
        add_scene_ground(&s);
        int k = add_scene_solid(&s, &box, BOX_MASS, at, 0), touched = 0;
        struct tact_body *body = tact_world_body(s.world, k);
        tact_v3_set(body->twist, 2.5, 0, -1);
        tact_world_refresh(s.world);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        for (int t = 0; t < 400 && !(touched && body->twist[2] > 0); t++) {
            step_scene(&s);
            touched |= tact_world_contact(s.world, 0)->touching;
        }
        after[i] = body->twist[0];
        close_scene(&s);
    }
    print_message("slides on at %.6f m/s, soft along the normal %.6f, along both %.6f\n", after[0],
                  after[1], after[2]);
    assert_true(after[0] > 0.1 && after[0] < 1);
    assert_true(fabs(after[2] - after[1]) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_springs_of_driven_fingers_stay_bounded),
        cmocka_unit_test(contact_springs_survive_changes_of_contact_pieces),
        cmocka_unit_test(a_shaken_stack_does_not_lean_further),
        cmocka_unit_test(impact_does_not_load_the_contact_springs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
