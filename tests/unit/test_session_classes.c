/* Classes of shapes that select what touches, and drives whose targets have a range. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/world.h"
#include "devices/registry.h"
#include "rt/session/session.h"
#include "support/run_scene.h"

/* Shape 0 is the ball, 1 the palm, 2 to 4 are of the links a, b and c: a and c are on the palm and
 * overlap it, b is on a and overlaps c. */
#define CONTACT_CLASSES_SCENE(hand, ball, joint)                                                   \
    "name: palm\n"                                                                                 \
    "duration: 1\n"                                                                                \
    "materials: [{name: skin}]\n"                                                                  \
    "pairs: [{materials: [skin, skin], friction: 0.5}]\n"                                          \
    "bodies:\n"                                                                                    \
    "  - name: ball\n"                                                                             \
    "    mass: 0.05\n"                                                                             \
    "    position: [0.2, 0, 0.535]\n"                                                              \
    "    shapes: [{type: sphere, radius: 0.02, material: skin" ball "}]\n"                         \
    "hands:\n"                                                                                     \
    "  - name: h\n"                                                                                \
    "    position: [0.2, 0, 0.5]\n"                                                                \
    "    weightless: true\n" hand "    base:\n"                                                    \
    "      fixed: true\n"                                                                          \
    "      shapes: [{type: box, size: [0.2, 0.1, 0.02], material: skin}]\n"                        \
    "    links:\n"                                                                                 \
    "      - name: a\n"                                                                            \
    "        mass: 0.02\n"                                                                         \
    "        joint: {type: hinge, axis: [0, 1, 0], position: [0.1, 0, 0], stiffness: 1, damping: " \
    "0.05" joint "}\n"                                                                             \
    "        shapes: [{type: box, size: [0.04, 0.02, 0.02], material: skin}]\n"                    \
    "      - name: b\n"                                                                            \
    "        parent: a\n"                                                                          \
    "        mass: 0.02\n"                                                                         \
    "        joint: {type: hinge, axis: [0, 1, 0], position: [0.05, 0, 0], stiffness: 1}\n"        \
    "        shapes: [{type: box, size: [0.04, 0.02, 0.02], material: skin}]\n"                    \
    "      - name: c\n"                                                                            \
    "        mass: 0.02\n"                                                                         \
    "        joint: {type: hinge, axis: [0, 1, 0], position: [0.1, 0.019, 0], stiffness: 1}\n"     \
    "        shapes: [{type: box, size: [0.09, 0.02, 0.02], position: [0.03, 0, 0], material: "    \
    "skin}]\n"

static void store_last_message(void *user, enum tact_message_level level, const char *text)
{
    char *all = user;
    if (level == TACT_MESSAGE_WARNING && strlen(all) + strlen(text) < 1000) {
        strcat(strcat(all, text), "\n");
    }
}

static struct tact_session_options free_wheeling_options(char *messages)
{
    struct tact_session_options options = tact_session_options_default();
    size_t count;
    options.types = tact_devices_builtin(&count);
    options.type_count = count;
    options.clock = TACT_LOOP_FREE;
    options.messages = (struct tact_messages){store_last_message, messages};
    return options;
}

/* Checks for each pair of shapes of a scene whether they may touch. */
static void check_which_pairs_may_touch(const char *text, const int touch[5][5], char *messages)
{
    const struct tact_session_options options = free_wheeling_options(messages);
    struct tact_scene *scene;
    struct tact_session *session;
    open_session_of_scene_text(text, &options, &scene, &session);
    const struct tact_world *world = tact_session_world(session);
    assert_int_equal(tact_world_shape_count(world), 5);
    for (int a = 0; a < 5; a++) {
        for (int b = a + 1; b < 5; b++) {
            if ((tact_world_pair_between(world, a, b) >= 0) != touch[a][b]) {
                print_error("shapes %d and %d\n", a, b);
            }
            assert_int_equal(tact_world_pair_between(world, a, b) >= 0, touch[a][b]);
        }
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* A shape of a class that touches no other shape, and shapes of two classes: the pairs that may
 * touch. */
static void contact_classes_select_what_touches(void **state)
{
    (void)state;
    static const int none[5][5] = {{0, 0, 0, 0, 0}, {0, 0, 0, 1, 0}, {0}, {0}, {0}};
    static const int all[5][5] = {{0, 1, 1, 1, 1}, {0, 0, 0, 1, 0}, {0}, {0}, {0}};
    char messages[1024] = "";
    check_which_pairs_may_touch(CONTACT_CLASSES_SCENE("", ", collides: 2, collides_with: 2", ""),
                                none, messages);
    check_which_pairs_may_touch(CONTACT_CLASSES_SCENE("", ", collides: 0, collides_with: 0", ""),
                                none, messages);
    check_which_pairs_may_touch(CONTACT_CLASSES_SCENE("", ", collides: 2, collides_with: 3", ""),
                                all, messages);
    check_which_pairs_may_touch(CONTACT_CLASSES_SCENE("", ", collides: 3, collides_with: 2", ""),
                                all, messages);
}

#define OPERATOR_DEVICE_YAML                                                                       \
    "devices: [{name: o, type: operator, settings: {script: [[0, 0, 0, 0], [0.1, 1, 0, 0]]}}]\n"   \
    "inputs: [{from: o.grip, to: h.a, scale: -2}]\n"

/* The target is clamped to its range; without one it is that of the input. */
static void joint_target_stays_in_its_range(void **state)
{
    (void)state;
    static const char *const texts[2] = {
        CONTACT_CLASSES_SCENE("", "", ", target_lower: -0.3, target_upper: 1") OPERATOR_DEVICE_YAML,
        CONTACT_CLASSES_SCENE("", "", "") OPERATOR_DEVICE_YAML};
    static const double expected[2] = {-0.3, -2.0};
    for (int i = 0; i < 2; i++) {
        char messages[1024] = "";
        const struct tact_session_options options = free_wheeling_options(messages);
        struct tact_session_report report;
        struct tact_scene *scene;
        struct tact_session *session;
        open_session_of_scene_text(texts[i], &options, &scene, &session);
        assert_int_equal(tact_session_run(session, &report), 0);
        const struct tact_hand_state hand =
            tact_hand_state(tact_world_hand(tact_session_world(session), 0));
        assert_float_equal(hand.target[0], expected[i], 0.0);
        tact_session_destroy(session);
        tact_scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_classes_select_what_touches),
        cmocka_unit_test(joint_target_stays_in_its_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
