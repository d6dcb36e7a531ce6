/* Ties to a joint of another site that a scene states and that are refused, with key and line. */
#include <errno.h>
#include <stdio.h>
#include "contact/number.h"
#include "support/remote_scenes.h"

static void bad_remotes_are_refused(void **state)
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
    char good[4096];
    (void)state;
    tact_number_print(good, sizeof good, person_text, 0.4, 10.0, 300.0, 8.0, 9.0, "",
                      "impedance: 10");
    tact_scene_free(load(good));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[8192];
        struct tact_scene *scene = NULL;
        struct tact_error err = {.line = 0};
        const char *at = strstr(good, bad[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, bad[i].to,
                 at + strlen(bad[i].from));
        assert_int_equal(tact_scene_parse(text, strlen(text), "bad.yaml", NULL, &scene, &err),
                         -EINVAL);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_string_equal(err.key, bad[i].key);
        assert_true(err.line > 0);
    }
}

/* Its targets are the other site's, which a range set here would not clamp. */
static void range_of_targets_is_refused(void **state)
{
    static const char from[] = "viscous: 2";
    char good[4096], text[8192];
    struct tact_scene *scene = NULL;
    struct tact_error err = {.line = 0};
    (void)state;
    snprintf(good, sizeof good, robot_text, "impedance: 10, stiffness: 1000, damping: 30");
    tact_scene_free(load(good));
    const char *at = strstr(good, from);
    snprintf(text, sizeof text, "%.*sviscous: 2, target_lower: 0, target_upper: 0.1%s",
             (int)(at - good), good, at + strlen(from));
    assert_int_equal(tact_scene_parse(text, strlen(text), "bad.yaml", NULL, &scene, &err), -EINVAL);
    print_message("%d: %s: %s\n", err.line, err.key, err.text);
    assert_string_equal(err.key, "hands[0].links[0].joint.target_lower");
    assert_int_equal(err.line, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_remotes_are_refused),
        cmocka_unit_test(range_of_targets_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
