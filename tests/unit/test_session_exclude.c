/*
 * Objects that a scene keeps from touching each other: a palm that is a fixed body, fingers that
 * overlap, and two hands; and scenes that are refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "rt/session/session.h"
#include "support/run_scene.h"

/* All shapes overlap: shape 0 is the palm, 1 and 2 are fingers a and b of `left`, 3 is the base of
 * `right`. */
#define FINGER_LINK_YAML(name)                                                                     \
    "      - name: " name "\n"                                                                     \
    "        mass: 0.02\n"                                                                         \
    "        joint: {type: hinge, axis: [0, 1, 0]}\n"                                              \
    "        shapes: [{type: box, size: [0.01, 0.01, 0.04], material: skin}]\n"

static const char scene_text[] =
    "name: exclude\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5}]\n"
    "bodies:\n"
    "  - name: palm\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.05, 0.05, 0.01], material: skin}]\n"
    "exclude:\n"
    "  - objects: [palm, left.a]\n"
    "  - objects: [left.b, left.a]\n"
    "  - objects: [left.b, right.base]\n"
    "hands:\n"
    "  - name: left\n"
    "    links:\n" FINGER_LINK_YAML("a")
        FINGER_LINK_YAML("b") "  - name: right\n"
                              "    base:\n"
                              "      mass: 0.1\n"
                              "      shapes: [{type: box, size: [0.02, 0.02, 0.02], "
                              "material: skin}]\n";

static void excluded_objects_of_a_scene_do_not_touch(void **state)
{
    (void)state;
    static const int expected_touching_pairs[4][4] = {{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene;
    struct tact_session *session;
    int near = 0, count;
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(scene_text, &options, &scene, &session);
    const struct tact_world *world = tact_session_world(session);
    assert_int_equal(tact_world_shape_count(world), 4);
    for (int a = 0; a < 4; a++) {
        for (int b = a + 1; b < 4; b++) {
            assert_int_equal(tact_world_pair_between(world, a, b) < 0,
                             expected_touching_pairs[a][b]);
            near += !expected_touching_pairs[a][b];
        }
    }
    assert_int_equal(tact_session_begin(session), 0);
    assert_int_equal(tact_session_step(session, 0, NULL), 0);
    tact_world_near(world, &count);
    assert_int_equal(count, near);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void invalid_contact_exclusions_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct edit edit;
        const char *key, *expected_message_text;
        int line;
    } bad[] = {
        {{"[palm, left.a]", "[plam, left.a]"}, "exclude[0].objects[0]", "no body is named", 9},
        {{"[palm, left.a]", "[palm, left.c]"}, "exclude[0].objects[1]", "no link named", 9},
        {{"[palm, left.a]", "[palm, palm]"}, "exclude[0].objects", "at least one of which", 9},
        {{"[left.b, left.a]", "[left.b, left.b]"}, "exclude[1].objects", "two different", 10},
        {{"[left.b, right.base]", "[left.b, left.base]"}, "exclude[2].objects[1]", "no link", 11},
        {{"[palm, left.a]", "[palm, right.base_x]"},
         "exclude[0].objects[1]",
         "expected \"right.base\"",
         9},
        {{"[left.b, right.base]", "[right.base, right.base_rz]"},
         "exclude[2].objects[1]",
         "expected \"right.base\"",
         11},
        {{"[left.b, right.base]", "[left.b]"}, "exclude[2].objects", "2", 11},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[sizeof scene_text + 64];
        struct tact_error err = {.line = 0};
        struct tact_scene *scene = NULL;
        const char *at = strstr(scene_text, bad[i].edit.from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - scene_text), scene_text, bad[i].edit.to,
                 at + strlen(bad[i].edit.from));
        assert_true(tact_scene_parse(text, strlen(text), "e.yaml", NULL, &scene, &err) < 0);
        if (strcmp(err.key, bad[i].key) || !strstr(err.text, bad[i].expected_message_text)) {
            print_message("%s:%d: %s\n", err.key, err.line, err.text);
        }
        assert_string_equal(err.key, bad[i].key);
        assert_non_null(strstr(err.text, bad[i].expected_message_text));
        assert_int_equal(err.line, bad[i].line);
    }
}

static void exclusions_of_absent_objects_are_refused(void **state)
{
    (void)state;
    const struct tact_world_options options = tact_world_options_default();
    const struct tact_owner fixed = {TACT_OWNER_FIXED, 0, 0}, body = {TACT_OWNER_BODY, 0, 0},
                            link = {TACT_OWNER_HAND, 0, 0};
    struct tact_world *world;
    assert_int_equal(tact_world_create(&options, &world), 0);
    assert_int_equal(tact_world_exclude(world, fixed, body), -EINVAL);
    assert_int_equal(tact_world_exclude(world, link, fixed), -EINVAL);
    assert_int_equal(tact_world_exclude(world, (struct tact_owner){TACT_OWNER_FIXED, -1, 0}, fixed),
                     -EINVAL);
    assert_int_equal(tact_world_finish(world), 0);
    assert_int_equal(tact_world_exclude(world, fixed, fixed), -EINVAL);
    tact_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(excluded_objects_of_a_scene_do_not_touch),
        cmocka_unit_test(invalid_contact_exclusions_are_refused),
        cmocka_unit_test(exclusions_of_absent_objects_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
