/* Ties to a joint of another site that a scene states and that are refused, with key and line. */
#include <errno.h>
#include <stdio.h>
#include "contact/number.h"
#include "support/remote_scenes.h"

static void bad_remote_ties_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *key;
    } bad[] = {
        {"impedance: 10", "impedance: 0", "remotes[0].impedance"},
        {"impedance: 10", "mode: velocity", "remotes[0].mode"},
        {"impedance: 10", "impedance: 10, axis: 6", "remotes[0].axis"},
        {"impedance: 10", "impedance: 10, tank: -1", "remotes[0].tank"},
        {"impedance: 10", "impedance: 10, stiffness: 5", "remotes[0].damping"},
        {"impedance: 10", "mode: position_position, stiffness: 5, damping: 1, tank: 1",
         "remotes[0].tank"},
        {"impedance: 10", "mode: position_force", "remotes[0].damping"},
        {"impedance: 10", "mode: model", "remotes[0].damping"},
        {"impedance: 10", "mode: model, damping: 2, tank: 1", "remotes[0].tank"},
        {"joint: arm.tip, device", "joint: arm.toe, device", "remotes[0].joint"},
        {"device: site", "device: sight", "remotes[0].device"},
        {"impedance: 10", "impedance: 10, damping: 5", "remotes[0].damping"},
        {"impedance: 10", "impedance: 10, tank: 1", "remotes[0].tank"},
        {"viscous: 1", "viscous: 1, limit: 3", "hands[0].links[0].joint.limit"},
        {"coupling: {damping: 10, stiffness: 300}", "stiffness: 300",
         "hands[0].links[0].joint.stiffness"},
        {", coupling: {damping: 10, stiffness: 300}", "", "remotes[0].joint"},
        {"remotes: [", "remotes: [{joint: arm.tip, device: site, axis: 1, impedance: 1}, ",
         "remotes[1].joint"},
    };
    char valid_scene_text[4096];
    (void)state;
    tact_number_print(valid_scene_text, sizeof valid_scene_text, person_scene_text, 0.4, 10.0,
                      300.0, 8.0, 9.0, "", "impedance: 10");
    tact_scene_free(parse_remote_scene(valid_scene_text));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[8192];
        struct tact_scene *scene = NULL;
        struct tact_error err = {.line = 0};
        const char *at = strstr(valid_scene_text, bad[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - valid_scene_text), valid_scene_text,
                 bad[i].to, at + strlen(bad[i].from));
        assert_int_equal(tact_scene_parse(text, strlen(text), "bad.yaml", NULL, &scene, &err),
                         -EINVAL);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_string_equal(err.key, bad[i].key);
        assert_true(err.line > 0);
    }
}

/* A base that moves: its position is tied whole, with or without its attitude. */
static void ties_of_a_base_cover_whole_vectors(void **state)
{
    static const char before[] = "name: base\nhands:\n  - name: tool\n    base:\n      mass: 0.1\n"
                                 "      inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]\n      ";
    static const char scene_text_after_base[] = "devices: [{name: site, type: end_0}]\nremotes:\n";
    static const char *const tie = "  - {joint: tool.base_%s, device: site, axis: %d, %s}\n";
    static const char *const coordinates[] = {"x", "y", "z", "rx", "ry", "rz"};
    static const struct {
        /* key that the message names; NULL: the scene is valid */
        const char *base, *numbers[6], *key;
    } cases[] = {
        {"limit: 5", {"impedance: 1", "impedance: 1", "impedance: 1"}, NULL},
        {"turn_coupling: {stiffness: 1, damping: 1}",
         {[3] = "impedance: 1", [4] = "impedance: 1", [5] = "impedance: 1"},
         NULL},
        {"limit: 5", {"impedance: 1", "impedance: 1"}, "remotes[0].joint"},
        {"limit: 5", {"impedance: 1", "impedance: 1", [3] = "impedance: 1"}, "remotes[0].joint"},
        {"limit: 5", {"impedance: 1", "impedance: 1", "impedance: 2"}, "remotes[0].joint"},
        {"limit: 5",
         {"mode: model, damping: 1", "mode: model, damping: 1", "mode: model, damping: 1"},
         "remotes[0].mode"},
        {"turn_coupling: {stiffness: 1, damping: 1}",
         {[3] = "impedance: 1, stiffness: 1, damping: 1",
          [4] = "impedance: 1, stiffness: 1, damping: 1",
          [5] = "impedance: 1, stiffness: 1, damping: 1"},
         "remotes[0].stiffness"},
        {"coupling: {stiffness: 1, damping: 1}\n      limit: 5",
         {"impedance: 1", "impedance: 1", "impedance: 1"},
         "hands[0].base.limit"},
        {"turn_coupling: {stiffness: 1, damping: 1}\n      turn_limit: 5",
         {[3] = "impedance: 1", [4] = "impedance: 1", [5] = "impedance: 1"},
         "hands[0].base.turn_limit"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        struct tact_scene *scene = NULL;
        struct tact_error err = {.line = 0};
        int used =
            snprintf(text, sizeof text, "%s%s\n%s", before, cases[i].base, scene_text_after_base);
        for (int k = 0; k < 6; k++) {
            if (cases[i].numbers[k]) {
                used += snprintf(text + used, sizeof text - (size_t)used, tie, coordinates[k], k,
                                 cases[i].numbers[k]);
            }
        }
        const int rc = tact_scene_parse(text, strlen(text), "base.yaml", NULL, &scene, &err);
        if (cases[i].key) {
            print_message("%d: %s: %s\n", err.line, err.key, err.text);
            assert_int_equal(rc, -EINVAL);
            assert_string_equal(err.key, cases[i].key);
            assert_true(err.line > 0);
        } else if (rc) {
            fail_msg("%d: %s: %s", err.line, err.key, err.text);
        }
        tact_scene_free(scene);
    }
}

/* A joint tied to another site follows that site's targets: a range for its own is refused. */
static void target_range_of_a_tied_joint_is_refused(void **state)
{
    static const char from[] = "viscous: 2";
    char valid_scene_text[4096], text[8192];
    struct tact_scene *scene = NULL;
    struct tact_error err = {.line = 0};
    (void)state;
    snprintf(valid_scene_text, sizeof valid_scene_text, robot_scene_text,
             "impedance: 10, stiffness: 1000, damping: 30");
    tact_scene_free(parse_remote_scene(valid_scene_text));
    const char *at = strstr(valid_scene_text, from);
    snprintf(text, sizeof text, "%.*sviscous: 2, target_lower: 0, target_upper: 0.1%s",
             (int)(at - valid_scene_text), valid_scene_text, at + strlen(from));
    assert_int_equal(tact_scene_parse(text, strlen(text), "bad.yaml", NULL, &scene, &err), -EINVAL);
    print_message("%d: %s: %s\n", err.line, err.key, err.text);
    assert_string_equal(err.key, "hands[0].links[0].joint.target_lower");
    assert_int_equal(err.line, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_remote_ties_are_refused),
        cmocka_unit_test(ties_of_a_base_cover_whole_vectors),
        cmocka_unit_test(target_range_of_a_tied_joint_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
