/*
 * Commanded grips: the force at rest against the command, at several lengths of the tick and with a
 * hand from an MJCF file; a limit that is reached; replay from any tick, with a controller too; and
 * grips that are refused.
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
#include "contact/number.h"
#include "devices/registry.h"
#include "rt/session/session.h"
#include "support/grip_scene.h"
#include "support/replays.h"
#include "support/run_scene.h"

static void print_grip_scene(char *text, size_t size, double period, double duration,
                             double support_until, const char *grip)
{
    tact_number_print(text, size, grip_scene_format, period, duration, 0.8, "0.05", support_until,
                      "[0, 0, 0, 0], [0.2, 1, 0, 0]", grip);
}

static const int ruler_finger_links[2] = {1, 3};
static const double ruler_tip_points[2][3] = {{0, 0, -0.05}, {0, 0, -0.05}};

/* Result of a run: the mean force [N] of the contacts on two links, along the line between a point
 * of each, computed from the contacts alone. */
struct held {
    double contacts;
    struct tact_session_grip grip;
};

static double mean_contact_force_along_tip_line(struct tact_world *world, const int link[2],
                                                const double local[2][3])
{
    double point[2][3], line[3], force[2] = {0.0, 0.0};
    int count;
    for (int k = 0; k < 2; k++) {
        tact_pose_point(point[k], tact_hand_link_pose(tact_world_hand(world, 0), link[k]),
                        local[k]);
    }
    tact_v3_sub(line, point[1], point[0]);
    tact_v3_normalize(line, line);
    const int *near = tact_world_near(world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(world, near[i]);
        const struct tact_owner b = tact_world_owner(world, c->b);
        for (int k = 0; k < 2 && c->touching && b.kind == TACT_OWNER_HAND; k++) {
            force[k] += b.link == link[k] ? tact_v3_dot(c->wrench, line) : 0.0;
        }
    }
    return 0.5 * (force[0] - force[1]);
}

/* Runs a scene; type: type of the device, or NULL for the built-in ones. */
static struct held run_grip_with_device_type(const char *text, double seconds,
                                             const struct tact_device_type *type, const int link[2],
                                             const double local[2][3])
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_status status = {.tick = 0};
    struct tact_session *session;
    struct tact_scene *scene;
    options.clock = TACT_LOOP_FREE;
    options.types = tact_devices_builtin(&options.type_count);
    if (type) {
        options.types = &type;
        options.type_count = 1;
    }
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    while (status.time < seconds) {
        assert_int_equal(tact_session_step(session, 0, &status), 0);
    }
    assert_int_equal(tact_session_grip_count(session), 1);
    const struct held held = {
        mean_contact_force_along_tip_line(tact_session_world(session), link, local),
        tact_session_grip(session, 0)};
    tact_session_destroy(session);
    tact_scene_free(scene);
    return held;
}

static struct held run_grip_session(const char *text, double seconds, const int link[2],
                                    const double local[2][3])
{
    return run_grip_with_device_type(text, seconds, NULL, link, local);
}

/* A device whose channel is 1, and from some tick on another value. */
enum { BROKEN_FROM = 800 };
static double nonfinite_grip_command;

static void read_nonfinite_device(void *self, uint64_t tick, double t, int64_t now_ns,
                                  struct tact_device_input *in)
{
    (void)self, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now_ns;
    in->channel[0] = tick < BROKEN_FROM ? 1.0 : nonfinite_grip_command;
}

static void close_nonfinite_device(void *self)
{
    (void)self;
}

static int open_nonfinite_device(const struct tact_device_config *config, struct tact_device *out,
                                 struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_nonfinite_device, NULL, close_nonfinite_device};
    (void)config, (void)err;
    out->ops = &ops;
    out->info.input_count = 1;
    strcpy(out->info.input[0].name, "grip");
    return 0;
}

/* A command that is not finite commands no grip force, also where the grip has a limit: the push of
 * the fingers stays as it was. */
static void nonfinite_grip_command_moves_nothing(void **state)
{
    (void)state;
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "operator",
                                                 "of a test", open_nonfinite_device, NULL};
    const double values[] = {NAN, INFINITY, -INFINITY};
    char text[4096];
    print_grip_scene(text, sizeof text, 1e-3, 2.0, 0.5, "scale: 4, limit: 10, speed: 0.5");
    for (int i = 0; i < 3; i++) {
        nonfinite_grip_command = values[i];
        const struct held held =
            run_grip_with_device_type(text, 1.2, &type, ruler_finger_links, ruler_tip_points);
        assert_true(held.grip.commanded == 0.0);
        assert_true(fabs(held.contacts - 4.0) < 1e-3 && fabs(held.grip.force - 4.0) < 1e-3);
    }
}

/* With the ruler's weight and torque in the grip, the grip force is within 1e-7 of the command,
 * whatever the period. */
static void ruler_is_gripped_with_the_commanded_force(void **state)
{
    (void)state;
    const double tick_periods[] = {1e-3, 5e-4, 2e-3}, grip_forces[] = {4.0, 16.0};
    for (int i = 0; i < 6; i++) {
        const double force = grip_forces[i / 3], period = tick_periods[i % 3];
        char text[4096], grip[64];
        tact_number_print(grip, sizeof grip, "scale: %g, speed: 0.5", force);
        print_grip_scene(text, sizeof text, period, 2.0, 0.5, grip);
        const struct held held = run_grip_session(text, 1.2, ruler_finger_links, ruler_tip_points);
        print_message("%g N commanded, %g s: contacts %.10f N, drives %.10f N\n", force, period,
                      held.contacts, held.grip.force);
        assert_true(held.grip.commanded == force && held.grip.short_ticks == 0);
        assert_true(fabs(held.contacts - force) < 1e-7 * force);
        assert_true(fabs(held.grip.force - force) < 1e-7 * force);
    }
}

/* The proximal drive of 0.1 N m is at its limit: the force is less, and that is counted. */
static void drive_limit_of_a_grip_is_kept_and_counted(void **state)
{
    (void)state;
    char text[4096];
    print_grip_scene(text, sizeof text, 1e-3, 2.0, 0.5, "scale: 4, speed: 0.5");
    for (char *at = text; (at = strstr(at, "damping: 0.02,")); at++) {
        memcpy(at, "limit:    0.1,", 14);
    }
    const struct held held = run_grip_session(text, 0.45, ruler_finger_links, ruler_tip_points);
    print_message("%.4f N of %g N, %llu ticks short\n", held.grip.force, held.grip.commanded,
                  (unsigned long long)held.grip.short_ticks);
    assert_true(held.grip.commanded == 4.0 && held.grip.short_ticks > 50);
    assert_true(held.grip.force > 0.5 && held.grip.force < 3.5);
}

/* The grip's own limit, and a command that ends: the fingers open. */
static void grip_command_is_clamped_and_ends(void **state)
{
    (void)state;
    char text[4096];
    print_grip_scene(text, sizeof text, 1e-3, 2.0, 2.0, "scale: 9, limit: 3, speed: 0.5");
    const struct held clamped = run_grip_session(text, 0.8, ruler_finger_links, ruler_tip_points);
    assert_true(clamped.grip.commanded == 3.0 && fabs(clamped.contacts - 3.0) < 3e-7);
    print_grip_scene(text, sizeof text, 1e-3, 2.0, 2.0, "scale: -4, offset: 4, speed: 0.5");
    const struct held state_at_end =
        run_grip_session(text, 0.6, ruler_finger_links, ruler_tip_points);
    assert_true(state_at_end.contacts == 0.0 && state_at_end.grip.commanded == 0.0);
    assert_true(fabs(state_at_end.grip.force) < 1e-3);
}

/* The hand of the mug, from an MJCF file, two joints a finger, of which none moves the tip along
 * the line; the mug is lifted. What the structure bears there is not known to the drives: 5 %. */
static void grip_of_a_hand_from_a_file_holds_the_mug(void **state)
{
    (void)state;
    const struct edit edits[] = {
        {"duration: 20 # s", "duration: 7"},
        {"../hands/", TACT_SOURCE_DIR "/examples/hands/"},
        {"  - {from: person.grip, to: hand.th_distal, scale: 0.42}\n", ""},
        {"  - {from: person.grip, to: hand.ff_proximal, scale: 0.51} # to the end of its range\n",
         ""},
        {"inputs:", "grips: [{links: [hand.ff_proximal, hand.th_distal], from: person.grip, "
                    "scale: 2}]\ninputs:"},
        {NULL, NULL}};
    char *text = load_scene_text_with_edits("mug.yaml", edits);
    const int link[2] = {7, 9};
    const double tip[2][3] = {{0, 0, 0.073}, {0, 0, 0.073}};
    const struct held held = run_grip_session(text, 6.9, link, tip);
    print_message("2 N commanded: contacts %.6f N, drives %.6f N\n", held.contacts,
                  held.grip.force);
    assert_true(held.grip.short_ticks == 0);
    assert_true(fabs(held.contacts - 2.0) < 0.1 && fabs(held.grip.force - 2.0) < 1e-6);
    free(text);
}

/* A controller of a program: the left proximal joint follows a slow motion. */
static void command_slow_finger_motion(void *user, const struct tact_session_state *state,
                                       double *target)
{
    (void)user;
    target[0] = 0.2658 + 0.01 * state->time;
    target[2] = -0.2658 + 0.01 * state->time;
}

static void grip_session_replays_from_any_tick(void **state)
{
    (void)state;
    for (int has_control_callback = 0; has_control_callback < 2; has_control_callback++) {
        char text[4096], folder[] = "/tmp/tact-grip-XXXXXX", path[64];
        struct tact_session_options options = tact_session_options_default();
        struct tact_session_report report;
        assert_non_null(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/a.mcap", folder);
        print_grip_scene(text, sizeof text, 1e-3, 0.6, 0.4, "scale: 4, speed: 0.5");
        options.clock = TACT_LOOP_FREE;
        options.types = tact_devices_builtin(&options.type_count);
        options.record = path;
        options.control = has_control_callback ? command_slow_finger_motion : NULL;
        run_session_of_scene_text(text, &options, &report);
        assert_true(report.contacts == 2);
        check_replays_of_log(path, 600, 97, 1);
        assert_int_equal(remove(path), 0);
        assert_int_equal(rmdir(folder), 0);
    }
}

static void invalid_grips_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct edit edit;
        const char *key, *text;
    } bad[] = {
        {{"pinch.right_distal]", "pinch.thumb]"}, "grips[0].links[1]", "no link"},
        {{"pinch.right_distal]", "pinch.left_proximal]"}, "grips[0].links", "carries the other"},
        {{"pinch.right_distal]", "pinch.left_distal]"}, "grips[0].links", "carries the other"},
        {{"pinch.right_distal], from", "claw.tip], from"}, "grips[0].links[1]", "no link"},
        {{"operator.grip, scale", "pad.grip, scale"}, "grips[0].from", "no device"},
        {{"scale: 4", "scale: 4, limit: -1"}, "grips[0].limit", "or more"},
        {{"scale: 4", "scale: 4, speed: 0"}, "grips[0].speed", "greater than 0"},
        {{"scale: 4", "scale: 1e9"}, "grips[0].scale", "from"},
        {{"stiffness: 1, damping: 0.005", "damping: 0.005"}, "grips[0].links", "no drive"},
        {{"stiffness: 1, damping: 0.005,", "mimic: {joint: left_proximal, offset: 0.7395},"},
         "grips[0].links",
         "is tied to other joints by the mimic of left_distal"},
        {{"scale: 4}\n", "scale: 4}\n  - {links: [pinch.left_proximal, pinch.right_distal], "
                         "from: operator.grip}\n"},
         "grips[1].links",
         "already commanded by grips[0]"},
    };
    char valid_scene_text[4096];
    print_grip_scene(valid_scene_text, sizeof valid_scene_text, 1e-3, 2.0, 0.5, "scale: 4");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char changed_scene[8192];
        struct tact_error err = {.line = 0};
        struct tact_scene *scene = NULL;
        const char *at = strstr(valid_scene_text, bad[i].edit.from);
        assert_non_null(at);
        snprintf(changed_scene, sizeof changed_scene, "%.*s%s%s", (int)(at - valid_scene_text),
                 valid_scene_text, bad[i].edit.to, at + strlen(bad[i].edit.from));
        assert_int_equal(
            tact_scene_parse(changed_scene, strlen(changed_scene), "grip.yaml", NULL, &scene, &err),
            -EINVAL);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_string_equal(err.key, bad[i].key);
        assert_non_null(strstr(err.text, bad[i].text));
        assert_true(err.line > 0);
    }
}

/* Two hinges of 1 N m/rad, 0.1 rad from their targets, whose arms of 30 mm lean by an angle out of
 * the line between the tips: each drive's force across its arm is tau / L, along the line
 * s tau / L, taken for the whole of it, so divided by s^2, but by no less than a thousandth. */
static void grip_force_has_no_jump_where_drives_bear_little(void **state)
{
    (void)state;
    static const char scene[] =
        "name: line\nperiod: 1e-3\nduration: 1\nmaterials: [{name: tip}]\n"
        "pairs: [{materials: [tip, tip], friction: 0.5}]\n"
        "hands:\n  - name: hand\n    weightless: true\n    links:\n"
        "      - {name: left, mass: 1e6, inertia: [1e6, 1e6, 1e6, 0, 0, 0], joint: {type: hinge,\n"
        "         axis: [1, 0, 0], position: [0, 0.1, 0], stiffness: 1},\n"
        "         shapes: [{type: sphere, radius: 0.005, position: [0, %.17g, %.17g], material: "
        "tip}]}\n"
        "      - {name: right, mass: 1e6, inertia: [1e6, 1e6, 1e6, 0, 0, 0], joint: {type: hinge,\n"
        "         axis: [-1, 0, 0], position: [0, -0.1, 0], stiffness: 1},\n"
        "         shapes: [{type: sphere, radius: 0.005, position: [0, %.17g, %.17g], material: "
        "tip}]}\n"
        "devices:\n  - {name: person, type: operator, settings: {script: [[0, 0, 0, 0]]}}\n"
        "inputs:\n  - {from: person.turn, to: hand.left, offset: 0.1}\n"
        "  - {from: person.turn, to: hand.right, offset: 0.1}\n"
        "grips:\n  - {links: [hand.left, hand.right], from: person.grip, scale: 1, speed: 0.5}\n";
    const double sines_of_tilt_of_tip_line[] = {0.0, 0.001, 0.0316, 0.03163, 0.1};
    for (size_t i = 0; i < sizeof sines_of_tilt_of_tip_line / sizeof *sines_of_tilt_of_tip_line;
         i++) {
        char text[4096];
        const double s = sines_of_tilt_of_tip_line[i], across = 0.03 * s,
                     along = 0.03 * sqrt(1.0 - s * s);
        const int link[2] = {0, 1};
        const double tip_positions[2][3] = {{0, -along, across}, {0, along, across}};
        tact_number_print(text, sizeof text, scene, -along, across, along, across);
        const struct held held = run_grip_session(text, 1e-3, link, tip_positions);
        const double exact = 0.1 / 0.03 * s / fmax(s * s, 1e-3);
        print_message("sine %.5f: %.6f N, exact %.6f\n", s, held.grip.force, exact);
        assert_true(fabs(fabs(held.grip.force) - exact) < 1e-5 * (1.0 + exact));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruler_is_gripped_with_the_commanded_force),
        cmocka_unit_test(drive_limit_of_a_grip_is_kept_and_counted),
        cmocka_unit_test(grip_command_is_clamped_and_ends),
        cmocka_unit_test(nonfinite_grip_command_moves_nothing),
        cmocka_unit_test(grip_of_a_hand_from_a_file_holds_the_mug),
        cmocka_unit_test(grip_force_has_no_jump_where_drives_bear_little),
        cmocka_unit_test(grip_session_replays_from_any_tick),
        cmocka_unit_test(invalid_grips_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
