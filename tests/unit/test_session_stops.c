/*
 * Stops, friction and armature of a hand's joints in scenes: a finger that is driven against its
 * stops with a block in its way, replay from any tick, and scenes that are refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "rt/session/report.h"
#include "rt/session/session.h"
#include "support/replays.h"
#include "support/run_scene.h"

static const char finger_scene_text[] =
    "name: stops\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5}]\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: skin}]}\n"
    "  - name: block\n"
    "    mass: 0.05\n"
    "    position: [0.06, 0, 0.01]\n"
    "    shapes: [{type: box, size: [0.02, 0.04, 0.02], material: skin}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    position: [0, 0, 0.07]\n"
    "    links:\n"
    "      - name: proximal\n"
    "        mass: 0.03\n"
    "        joint: {type: hinge, axis: [0, 1, 0], stiffness: 2, damping: 0.02, start: 0.1,\n"
    "          lower: -0.4, upper: 0.3, friction: 0.002, viscous: 1e-4, armature: 2e-5}\n"
    "        shapes: [{type: capsule, radius: 0.008, length: 0.02, position: [0, 0, -0.015],\n"
    "          material: skin}]\n"
    "      - name: distal\n"
    "        parent: proximal\n"
    "        mass: 0.02\n"
    "        joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.03], stiffness: 2,\n"
    "          damping: 0.02, start: -0.3, lower: -0.6, upper: 0.2, friction: 0.002}\n"
    "        shapes: [{type: capsule, radius: 0.007, length: 0.02, position: [0, 0, -0.015],\n"
    "          material: skin}]\n";

/* A finger that is driven by 1 rad beyond its stops, in both directions, rests on them, where they
 * bear what the drives exert besides the weight. */
static void driven_finger_rests_on_its_joint_stops(void **state)
{
    (void)state;
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene;
    struct tact_session *session;
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(finger_scene_text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    struct tact_hand *hand = tact_world_hand(tact_session_world(session), 0);
    const struct tact_hand_state s = tact_hand_state(hand);
    for (int side = 1; side >= -1; side -= 2) {
        for (int i = 0; i < 2; i++) {
            s.target[i] = s.q[i] + side;
        }
        for (int tick = 0; tick < 800; tick++) {
            assert_int_equal(tact_session_step(session, 0, NULL), 0);
        }
        const double stop[2] = {side > 0 ? 0.3 : -0.4, side > 0 ? 0.2 : -0.6};
        for (int i = 0; i < 2; i++) {
            print_message("joint %d at %.12f, stop %g, reaction %.4f N m\n", i, s.q[i], stop[i],
                          s.reaction[i]);
            assert_true(fabs(s.q[i] - stop[i]) < 1e-12);
            assert_true(s.stop[i] == side);
            assert_true(-s.reaction[i] * side > 0.1);
        }
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* The finger's text with one change; each test has room for a line more. */
static void change_finger_text(char text[sizeof finger_scene_text + 64], const struct edit *edit)
{
    const char *at = strstr(finger_scene_text, edit->from);
    assert_non_null(at);
    snprintf(text, sizeof finger_scene_text + 64, "%.*s%s%s", (int)(at - finger_scene_text),
             finger_scene_text, edit->to, at + strlen(edit->from));
}

/* A finger without a drive falls on its stop, where it swings and rests with friction. */
static void session_with_joint_stops_replays_from_any_tick(void **state)
{
    (void)state;
    char text[sizeof finger_scene_text + 64];
    change_finger_text(
        text, &(struct edit){"stiffness: 2, damping: 0.02, start: 0.1,\n          lower: -0.4",
                             "start: 0.2, lower: 0.05"});
    strcat(text, "duration: 0.6\n");
    check_replays_from_any_tick(text);
}

static void append_stop_message(void *user, enum tact_message_level level, const char *text)
{
    char *kept = user;
    (void)level;
    snprintf(kept, 256, "%s", text);
}

/* A target that is set beyond its range 100 times is clamped 100 times; that is said by name. */
static void clamped_joint_targets_are_counted(void **state)
{
    (void)state;
    char text[sizeof finger_scene_text + 64], kept[256] = "";
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_scene *scene;
    struct tact_session *session;
    change_finger_text(text, &(struct edit){"start: -0.3,", "start: -0.3, target_lower: -0.4, "
                                                            "target_upper: 0.1,"});
    options.clock = TACT_LOOP_FREE;
    options.messages = (struct tact_messages){append_stop_message, kept};
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    const struct tact_hand_state s =
        tact_hand_state(tact_world_hand(tact_session_world(session), 0));
    for (int tick = 0; tick < 150; tick++) {
        s.target[1] = tick < 100 ? 1.0 : -0.2;
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
        assert_true(s.target[1] == (tick < 100 ? 0.1 : -0.2));
    }
    assert_int_equal(tact_session_end(session, &report), 0);
    assert_string_equal(kept, "the target of the joint hand.distal was outside of its range, and "
                              "clamped to it, in 100 ticks");
    char *json = tact_session_report_json(session, &report);
    assert_non_null(strstr(json, "\"clamped_ticks\": 100"));
    free(json);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void bad_joint_stop_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct edit edit;
        const char *key, *expected_message_text;
        int line;
    } bad[] = {
        {{"lower: -0.4, ", ""}, "hands[0].links[0].joint.upper", "both", 17},
        {{"lower: -0.4, upper: 0.3", "lower: 0.4, upper: 0.3"},
         "hands[0].links[0].joint.lower",
         "lower below upper",
         17},
        {{"start: -0.3", "start: -0.7"},
         "hands[0].links[1].joint.start",
         "not between its stops",
         24},
        {{"friction: 0.002,", "friction: -0.1,"},
         "hands[0].links[0].joint.friction",
         "or more",
         17},
        {{"viscous: 1e-4", "viscous: -1"}, "hands[0].links[0].joint.viscous", "or more", 17},
        {{"armature: 2e-5", "armature: -1"}, "hands[0].links[0].joint.armature", "or more", 17},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char changed_scene[sizeof finger_scene_text + 64];
        struct tact_error err = {.line = 0};
        struct tact_scene *scene = NULL;
        change_finger_text(changed_scene, &bad[i].edit);
        assert_true(tact_scene_parse(changed_scene, strlen(changed_scene), "stops.yaml", NULL,
                                     &scene, &err) < 0);
        if (strcmp(err.key, bad[i].key) || !strstr(err.text, bad[i].expected_message_text) ||
            err.line != bad[i].line) {
            print_message("%s:%d: %s\n", err.key, err.line, err.text);
        }
        assert_string_equal(err.key, bad[i].key);
        assert_non_null(strstr(err.text, bad[i].expected_message_text));
        assert_int_equal(err.line, bad[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driven_finger_rests_on_its_joint_stops),
        cmocka_unit_test(session_with_joint_stops_replays_from_any_tick),
        cmocka_unit_test(clamped_joint_targets_are_counted),
        cmocka_unit_test(bad_joint_stop_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
