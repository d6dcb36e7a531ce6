/*
 * The palm of a hand, and parts of a hand that overlap each other at the start: what touches, what
 * is left out and named, and scenes that are refused.
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
#include "rt/session/report.h"
#include "rt/session/session.h"
#include "support/run_scene.h"

/* Shape 0 is the ball, 1 the palm, whose top is at z = 0.02; 2 to 4 are the links. The last link
 * folds back to where the first one is, and 10 mm into the palm. */
static const char hand_scene_text[] =
    "name: palm\n"
    "materials: [{name: skin}, {name: ball}]\n"
    "pairs:\n"
    "  - {materials: [skin, skin], friction: 0.5}\n"
    "  - {materials: [skin, ball], friction: 0.5}\n"
    "bodies:\n"
    "  - {name: ball, mass: 0.1, position: [0.03, 0, 0.04], shapes: [{type: sphere, radius: 0.02, "
    "material: ball}]}\n"
    "hands:\n"
    "  - name: right\n"
    "    position: [0, 0, 0.01]\n"
    "    base:\n"
    "      fixed: true\n"
    "      shapes: [{type: box, size: [0.1, 0.1, 0.02], material: skin}]\n"
    "    links:\n"
    "      - name: a\n"
    "        mass: 0.02\n"
    "        joint: {type: hinge, axis: [0, 1, 0], position: [-0.04, 0, 0.01], stiffness: 1}\n"
    "        shapes: [{type: box, size: [0.01, 0.01, 0.04], position: [0, 0, 0.02], material: "
    "skin}]\n"
    "      - name: b\n"
    "        parent: a\n"
    "        mass: 0.02\n"
    "        joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 0.04], stiffness: 1}\n"
    "        shapes: [{type: box, size: [0.01, 0.01, 0.04], position: [0, 0, 0.02], material: "
    "skin}]\n"
    "      - name: c\n"
    "        parent: b\n"
    "        mass: 0.02\n"
    "        joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.05], stiffness: 1}\n"
    "        shapes: [{type: box, size: [0.01, 0.01, 0.04], position: [0, 0, 0.02], material: "
    "skin}]\n";

static void edit_hand_text(char text[sizeof hand_scene_text + 128], const struct edit *edit)
{
    const char *at = strstr(hand_scene_text, edit->from);
    assert_non_null(at);
    snprintf(text, sizeof hand_scene_text + 128, "%.*s%s%s", (int)(at - hand_scene_text),
             hand_scene_text, edit->to, at + strlen(edit->from));
}

static void collect_warnings(void *user, enum tact_message_level level, const char *text)
{
    char *all = user;
    if (level == TACT_MESSAGE_WARNING) {
        snprintf(all + strlen(all), 2048 - strlen(all), "%s\n", text);
    }
}

/* A link on the base never touches it; others do where they do not overlap it at the start. */
static void links_that_overlap_at_the_start_do_not_touch(void **state)
{
    (void)state;
    static const int expected_excluded_shape_pairs[5][5] = {
        {0, 0, 0, 0, 0}, {0, 0, 1, 0, 1}, {0, 0, 0, 1, 1}, {0, 0, 0, 0, 1}};
    char warnings_text[2048] = "";
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene;
    struct tact_session *session;
    options.clock = TACT_LOOP_FREE;
    options.messages = (struct tact_messages){collect_warnings, warnings_text};
    open_session_of_scene_text(hand_scene_text, &options, &scene, &session);
    const struct tact_world *world = tact_session_world(session);
    assert_int_equal(tact_world_shape_count(world), 5);
    for (int a = 0; a < 5; a++) {
        for (int b = a + 1; b < 5; b++) {
            assert_int_equal(tact_world_pair_between(world, a, b) < 0,
                             expected_excluded_shape_pairs[a][b]);
        }
    }
    print_message("%s", warnings_text);
    assert_non_null(strstr(warnings_text,
                           "right.base and right.c, of one hand, start with an overlap of 10 mm: "
                           "contacts between them are disabled"));
    assert_non_null(strstr(warnings_text, "right.a and right.c, of one hand, start with an overlap "
                                          "of 30 mm: contacts between them are disabled"));
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void links_with_start_overlap_kept_touch(void **state)
{
    (void)state;
    const struct edit edit_that_keeps_start_overlap = {"    base:\n",
                                                       "    start_overlap: keep\n    base:\n"};
    char text[sizeof hand_scene_text + 128], warnings_text[2048] = "";
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene;
    struct tact_session *session;
    edit_hand_text(text, &edit_that_keeps_start_overlap);
    options.clock = TACT_LOOP_FREE;
    options.messages = (struct tact_messages){collect_warnings, warnings_text};
    open_session_of_scene_text(text, &options, &scene, &session);
    const struct tact_world *world = tact_session_world(session);
    assert_true(tact_world_pair_between(world, 1, 2) < 0);
    assert_true(tact_world_pair_between(world, 1, 4) >= 0);
    assert_true(tact_world_pair_between(world, 2, 4) >= 0);
    assert_non_null(strstr(warnings_text, "right.c and right.base start with an overlap of 10 mm"));
    assert_null(strstr(warnings_text, "contacts between them are disabled"));
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* A ball rests on the palm: its weight is what an output of the palm's force gets. */
static void palm_bears_a_ball_lying_on_it(void **state)
{
    (void)state;
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene;
    struct tact_session *session;
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(hand_scene_text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    for (int tick = 0; tick < 300; tick++) {
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
    }
    struct tact_world *world = tact_session_world(session);
    const struct tact_contact *c = tact_world_contact(world, tact_world_pair_between(world, 0, 1));
    struct tact_pose pose;
    tact_session_body_pose(session, 0, &pose);
    print_message("height %.7f m, force on the ball %.9f N\n", pose.position[2], c->wrench[2]);
    assert_true(fabs(fabs(c->wrench[2]) - 0.981) < 1e-6);
    assert_true(fabs(pose.position[2] - 0.04) < 1e-4);
    struct tact_session_report report;
    assert_int_equal(tact_session_end(session, &report), 0);
    char *json = tact_session_report_json(session, &report);
    assert_non_null(json);
    assert_non_null(strstr(json, "\"self_overlaps\""));
    assert_non_null(strstr(json, "\"right.base\""));
    free(json);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void invalid_start_overlap_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct edit edit;
        const char *key, *says;
    } bad[] = {
        {{"fixed: true\n", "fixed: true\n      limit: 3\n"},
         "hands[0].base.limit",
         "cannot have the key limit"},
        {{"fixed: true\n", "fixed: true\n      mass: -1\n"}, "hands[0].base.mass", "greater"},
        {{"fixed: true\n", "fixed: false\n"}, "hands[0].base.mass", "missing"},
        {{"0.02], material: skin}]\n    links", "0.02], material: skim}]\n    links"},
         "hands[0].base.shapes[0].material",
         "no material"},
        {{"size: [0.1, 0.1, 0.02]", "size: [0.1, 0.1, 0]"},
         "hands[0].base.shapes[0].size[2]",
         "greater"},
        {{"- name: a\n", "- name: base\n"}, "hands[0].links[0].name", "name of a coordinate"},
        {{"    base:\n", "    start_overlap: maybe\n    base:\n"},
         "hands[0].start_overlap",
         "exclude"},
        {{"0.02], material: skin}]\n    links", "0.02], material: ball}]\n    links"},
         "bodies[0].shapes[0].material",
         "hands[0].base.shapes[0].material"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[sizeof hand_scene_text + 128];
        struct tact_error err = {.line = 0};
        struct tact_scene *scene = NULL;
        edit_hand_text(text, &bad[i].edit);
        assert_true(tact_scene_parse(text, strlen(text), "p.yaml", NULL, &scene, &err) < 0);
        if (strcmp(err.key, bad[i].key) || !strstr(err.text, bad[i].says)) {
            print_message("%s:%d: %s\n", err.key, err.line, err.text);
        }
        assert_string_equal(err.key, bad[i].key);
        assert_non_null(strstr(err.text, bad[i].says));
        assert_true(err.line > 0);
    }
}

static void start_overlaps_are_refused_on_request(void **state)
{
    (void)state;
    const struct edit edit_that_refuses_start_overlap = {"    base:\n",
                                                         "    start_overlap: refuse\n    base:\n"};
    char text[sizeof hand_scene_text + 128];
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene;
    struct tact_session *session;
    struct tact_error err = {.line = 0};
    edit_hand_text(text, &edit_that_refuses_start_overlap);
    options.clock = TACT_LOOP_FREE;
    assert_int_equal(tact_scene_parse(text, strlen(text), "p.yaml", NULL, &scene, &err), 0);
    assert_int_equal(tact_session_create(scene, &options, &session, &err), -EINVAL);
    print_message("%s:%d: %s\n", err.key, err.line, err.text);
    assert_string_equal(err.key, "hands[0].start_overlap");
    assert_non_null(
        strstr(err.text, "right.base and right.c, of one hand, start with an overlap of 10 mm"));
    tact_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_that_overlap_at_the_start_do_not_touch),
        cmocka_unit_test(links_with_start_overlap_kept_touch),
        cmocka_unit_test(palm_bears_a_ball_lying_on_it),
        cmocka_unit_test(invalid_start_overlap_settings_are_refused),
        cmocka_unit_test(start_overlaps_are_refused_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
