/*
 * Scenes with mimic joints and drives on tendons: a finger that presses on a wall, a gripper of two
 * fingers tied across the tree, a tendon that bends two joints, their replays, and scenes that are
 * refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "support/replays.h"

/* The distal link follows with 0.5, and presses on a wall 5 mm ahead. */
static const char pusher_scene_text[] =
    "name: pusher\n"
    "gravity: [0, 0, 0]\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    position: [0.045, 0, 0]\n"
    "    shapes: [{type: box, size: [0.02, 0.1, 0.1], material: skin}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    links:\n"
    "      - name: proximal\n"
    "        mass: 0.03\n"
    "        joint: {type: slide, axis: [1, 0, 0], stiffness: 500, damping: 5, lower: -0.1,\n"
    "          upper: 0.1}\n"
    "        inertia: [1e-5, 1e-5, 1e-5, 0, 0, 0]\n"
    "      - name: distal\n"
    "        parent: proximal\n"
    "        mass: 0.02\n"
    "        joint: {type: slide, axis: [1, 0, 0], position: [0.02, 0, 0], lower: -0.02,\n"
    "          upper: 0.03, friction: 0.4, mimic: {joint: proximal, multiplier: 0.5}}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: skin}]\n";

/* Two fingers on the base whose joints mirror each other hold a box between them. */
static const char gripper_scene_text[] =
    "name: gripper\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.8}]\n"
    "bodies:\n"
    "  - name: box\n"
    "    mass: 0.05\n"
    "    shapes: [{type: box, size: [0.04, 0.03, 0.03], material: skin}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: left\n"
    "        mass: 0.03\n"
    "        joint: {type: slide, axis: [1, 0, 0], position: [-0.035, 0, 0], start: 0.005,\n"
    "          mimic: {joint: right, multiplier: -1}}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: skin}]\n"
    "      - name: right\n"
    "        mass: 0.03\n"
    "        joint: {type: slide, axis: [1, 0, 0], position: [0.035, 0, 0], start: -0.005,\n"
    "          stiffness: 2000, damping: 20}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: skin}]\n";

/* Copies the scene's text with one change; the buffer has room for one more line. */
static void change_scene_text(char text[sizeof pusher_scene_text + 160], const char *from,
                              const char *to)
{
    const char *at = strstr(pusher_scene_text, from);
    assert_non_null(at);
    snprintf(text, sizeof pusher_scene_text + 160, "%.*s%s%s", (int)(at - pusher_scene_text),
             pusher_scene_text, to, at + strlen(from));
}

static struct tact_session *begin_session_of_scene_text(const char *text, struct tact_scene **scene)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session *session;
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(text, &options, scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    return session;
}

static void step_session(struct tact_session *session, int ticks)
{
    for (int tick = 0; tick < ticks; tick++) {
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
    }
}

/* At rest the virtual work of the drive and of the force on the wall is zero but for the dry
 * friction of the distal joint: K (target - x) = 1.5 f within 0.5 times its 0.4 N. The finger is no
 * deeper in the wall than the overlap that rigid contacts have. */
static void a_finger_presses_through_its_mimic_joint(void **state)
{
    (void)state;
    struct tact_scene *scene;
    struct tact_session *session = begin_session_of_scene_text(pusher_scene_text, &scene);
    struct tact_world *world = tact_session_world(session);
    const struct tact_hand_state q = tact_hand_state(tact_world_hand(world, 0));
    q.target[0] = 0.02;
    step_session(session, 600);
    const struct tact_contact *c = tact_world_contact(world, tact_world_pair_between(world, 0, 1));
    const double drive = 500.0 * (0.02 - q.q[0]), force = fabs(c->wrench[0]);
    const double depth = 0.02 + q.q[0] + q.q[1] + 0.01 - 0.035;
    print_message("drive %.6f N, force %.6f N, friction %.6f N, depth %.2f um\n", drive, force,
                  q.reaction[0], 1e6 * depth);
    assert_true(fabs(q.q[1] - 0.5 * q.q[0]) < 1e-14);
    assert_true(force > 1.0);
    assert_true(fabs(drive + q.reaction[0] - 1.5 * force) < 1e-8);
    assert_true(fabs(q.reaction[0]) <= 0.2 + 1e-12);
    assert_true(depth > 0.0 && depth < 20.1e-6);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* One drive of 2000 N/m presses with both fingers: each with half of its force. */
static void tied_fingers_on_two_branches_hold_a_box(void **state)
{
    (void)state;
    struct tact_scene *scene;
    struct tact_session *session = begin_session_of_scene_text(gripper_scene_text, &scene);
    struct tact_world *world = tact_session_world(session);
    const struct tact_hand_state q = tact_hand_state(tact_world_hand(world, 0));
    q.target[1] = -0.01;
    step_session(session, 800);
    const double drive = -2000.0 * (-0.01 - q.q[1]);
    const struct tact_contact *left =
        tact_world_contact(world, tact_world_pair_between(world, 0, 1));
    const struct tact_contact *right_finger_contact =
        tact_world_contact(world, tact_world_pair_between(world, 0, 2));
    const double sides[2] = {fabs(left->wrench[0]), fabs(right_finger_contact->wrench[0])};
    /* width of the box: distance between the inner faces of the fingers */
    const double width = 0.05 + q.q[1] - q.q[0];
    struct tact_pose pose;
    tact_session_body_pose(session, 0, &pose);
    print_message("drive %.6f N, %.6f N and %.6f N, box fell %.2f um, squeezed by %.2f um\n", drive,
                  sides[0], sides[1], -1e6 * pose.position[2], 1e6 * (0.04 - width));
    assert_true(fabs(q.q[0] + q.q[1]) < 1e-15);
    assert_true(fabs(sides[0] - sides[1]) < 1e-6 && fabs(sides[0] + sides[1] - drive) < 1e-6);
    assert_true(width < 0.04 && width > 0.04 - 2.0 * 20.1e-6);
    assert_true(fabs(pose.position[2]) < 1e-4);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void tied_joint_session_replays_from_any_tick(void **state)
{
    (void)state;
    char text[sizeof pusher_scene_text + 160];
    change_scene_text(text, "mass: 0.03\n        joint: {type: slide,",
                      "mass: 0.03\n        joint: {type: slide, start: -0.03,");
    strcat(text, "duration: 0.6\n");
    check_replays_from_any_tick(text);
    change_scene_text(
        text, "stiffness: 500, damping: 5,",
        "stiffness: 500, damping: 5, start: -0.03,\n          tendon: [{joint: proximal}, "
        "{joint: distal, coefficient: 2}],");
    strcat(text, "duration: 0.6\n");
    check_replays_from_any_tick(text);
}

static void invalid_joint_ties_of_a_scene_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *key, *says;
    } bad[] = {
        {"joint: proximal", "joint: medial", "mimic.joint", "no link named"},
        {"joint: proximal", "joint: distal", "mimic.joint", "cannot follow itself"},
        {"multiplier: 0.5", "multiplier: 0", "mimic.multiplier", "expected a multiplier"},
        {"multiplier: 0.5", "multiplier: 1e9", "mimic.multiplier", "expected a multiplier"},
        {"multiplier: 0.5", "offset: 0.035", "lower", "not between its stops"},
        {"multiplier: 0.5", "offset: 1e300", "mimic.offset", "1e"},
        {"multiplier: 0.5", "multipler: 0.5", "mimic.multipler", "did you mean"},
        {"friction: 0.4", "start: 0.01", "start", "gives 0"},
        {"friction: 0.4", "coupling: {stiffness: 100, damping: 1}", "coupling", "cannot have a"},
        {"friction: 0.4", "tendon: [{joint: medial}]", "tendon[0].joint", "no link named"},
        {"friction: 0.4", "tendon: [{joint: distal}, {joint: distal}]", "tendon[1].joint",
         "already"},
        {"friction: 0.4", "tendon: [{joint: distal, coefficient: 0}]", "tendon[0].coefficient",
         "other than 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[sizeof pusher_scene_text + 160], key[96];
        struct tact_error err = {.line = 0};
        struct tact_scene *scene = NULL;
        change_scene_text(text, bad[i].from, bad[i].to);
        assert_true(tact_scene_parse(text, strlen(text), "m.yaml", NULL, &scene, &err) < 0);
        snprintf(key, sizeof key, "hands[0].links[1].joint.%s", bad[i].key);
        if (strcmp(err.key, key) || !strstr(err.text, bad[i].says)) {
            print_message("%s:%d: %s\n", err.key, err.line, err.text);
        }
        assert_string_equal(err.key, key);
        assert_non_null(strstr(err.text, bad[i].says));
        assert_true(err.line > 0);
    }
}

/* Ranges of two tied joints that have no value in common are refused. */
static void tied_joints_without_a_common_range_are_refused(void **state)
{
    (void)state;
    char text[sizeof pusher_scene_text + 160];
    struct tact_error err = {.line = 0};
    struct tact_scene *scene = NULL;
    change_scene_text(text, "multiplier: 0.5", "multiplier: -1, offset: 0.03");
    char *lower = strstr(text, "lower: -0.1,");
    memcpy(lower, "lower: 0,   ", 12);
    memcpy(strstr(text, "upper: 0.03,"), "upper: 0.03,", 12);
    assert_int_equal(tact_scene_parse(text, strlen(text), "m.yaml", NULL, &scene, &err), 0);
    tact_scene_free(scene);
    memcpy(lower, "upper: 0,   ", 12);
    memcpy(strstr(text, "upper: 0.1}"), "lower: -.1}", 11);
    assert_true(tact_scene_parse(text, strlen(text), "m.yaml", NULL, &scene, &err) < 0);
    assert_string_equal(err.key, "hands[0].links[1].joint.lower");
    assert_non_null(strstr(err.text, "\"proximal\" has no range left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finger_presses_through_its_mimic_joint),
        cmocka_unit_test(tied_fingers_on_two_branches_hold_a_box),
        cmocka_unit_test(tied_joint_session_replays_from_any_tick),
        cmocka_unit_test(invalid_joint_ties_of_a_scene_are_refused),
        cmocka_unit_test(tied_joints_without_a_common_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
