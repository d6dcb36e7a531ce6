/*
 * A tool whose base follows a device in position and attitude: the quasi-static force of a press,
 * replay from any tick, links on a base that moves, and scenes that are refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/campaign.h"
#include "support/folder.h"
#include "support/replays.h"
#include "support/run_scene.h"

static char folder[] = "/tmp/tact_tool_XXXXXX";

/* tool.yaml: while the hand holds still at 30 mm, the rock pushes back as grip and coupling in
 * series do, 300 and 1000 N/m; energy is taken from the person; the stroke reaches both sides. */
static void tool_presses_as_springs_in_series(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    char path[64];
    struct tact_record *record;
    snprintf(path, sizeof path, "%s/tool.mcap", folder);
    struct tact_log *log = record_and_open_log("tool.yaml", 3.2, path, &record);
    const long q = tact_log_field(log, "stylus_position", NULL),
               sent = tact_log_field(log, "outputs_sent", NULL),
               energy = tact_log_field(log, "stylus_base_x_coupling", NULL) + 6,
               wrench = tact_log_field(log, "rock_stylus_base_wrench", NULL);
    assert_true(q >= 0 && sent >= 0 && wrench >= 0);
    const double *v = read_values_of_tick(log, 1190, record), force = v[sent + 2];
    const double pressed = (v[q + 2] + 0.03) * 300.0 * 1000.0 / 1300.0;
    print_message("pressed with %.4f N, quasi-static %.4f N, contact %.4f N\n", force, pressed,
                  -v[wrench + 2]);
    assert_true(fabs(force - pressed) < 0.02 * pressed);
    assert_true(fabs(force + v[wrench + 2]) < 0.01 * pressed);
    v = read_values_of_tick(log, 3199, record);
    print_message("stroke ends at %.1f mm, turned by %.2f and %.2f rad; %.1f mJ absorbed\n",
                  v[q] * 1e3, v[q + 3], v[q + 4], v[energy] * 1e3);
    assert_true(v[q] < -0.02 && v[q + 3] > 0.2 && v[q + 4] < -0.2 && v[energy] > 0.05);
    free(record);
    tact_log_close(log);
    check_replays_of_log(path, 3200, 1601, 1);
}

/* The largest force on the hand, and the largest change of it in a tick [N]; the end of the tool's
 * path along z [m]. */
struct felt_force {
    double most, step, end;
};

static struct felt_force read_force_felt_by_tool_user(const char *path)
{
    struct felt_force out = {0.0, 0.0, 0.0};
    struct tact_log *log;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long q = tact_log_field(log, "stylus_position", NULL),
               sent = tact_log_field(log, "outputs_sent", NULL);
    double last[3] = {0.0}, change[3];
    while (tact_log_next(log, record) > 0) {
        const double *force = record->values + sent;
        tact_v3_sub(change, force, last);
        out.most = fmax(out.most, tact_v3_norm(force));
        out.step = fmax(out.step, tact_v3_norm(change));
        out.end = record->values[q + 2];
        tact_v3_copy(last, force);
    }
    free(record);
    tact_log_close(log);
    return out;
}

/* The stylus starts 20 mm and more inside the rock, where a blow would be most likely: the hand
 * rests, presses on from the first tick or later, or draws it out. Nothing is pushed out of the
 * rock, so that the force never changes by more than 1 mm of the coupling in a tick, and stays
 * within the limit of the device; the late press would be of 11.5 N without that limit. */
static void tool_that_starts_inside_a_body_strikes_no_hand(void **state)
{
    (void)state;
    static const struct {
        const char *what, *motion_csv;
        double most, end; /* largest force [N], 0: none; end of the tool's path [m] */
    } motions[] = {
        {"rest", "time,x,y,z,rx,ry,rz\n0,0,0,0,0,0,0\n2,0,0,0,0,0,0\n", 0.0, 0.0},
        {"press from the start", "time,x,y,z,rx,ry,rz\n0,0,0,-0.01,0,0,0\n2,0,0,-0.01,0,0,0\n", 8.0,
         0.0},
        {"press",
         "time,x,y,z,rx,ry,rz\n0,0,0,0,0,0,0\n0.5,0,0,0,0,0,0\n1,0,0,-0.05,0.1,0,0\n"
         "2,0,0,-0.05,0.1,0,0\n",
         8.0, 0.0},
        {"draw out",
         "time,x,y,z,rx,ry,rz\n0,0,0,0,0,0,0\n0.5,0,0,0,0,0,0\n0.9,0,0,0.04,0,0,0\n"
         "2,0,0,0.04,0,0,0\n",
         1.0, 0.04},
    };
    char path[64], name[64], file[128];
    struct run_result result;
    snprintf(path, sizeof path, "%s/tool.mcap", folder);
    snprintf(name, sizeof name, "%s/way.csv", folder);
    snprintf(file, sizeof file, "hand_file: %s\n      hand_interpolation: linear", name);
    const struct edit edits[] = {{"position: [0, 0, 0.07]", "position: [0, 0, 0.03]"},
                                 {"hand_file: tool_stroke.csv", file},
                                 {NULL, NULL}};
    for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
        FILE *to = fopen(name, "w");
        assert_non_null(to);
        fputs(motions[i].motion_csv, to);
        assert_int_equal(fclose(to), 0);
        remove(path);
        run_scene(&(struct run_options){.scene = "tool.yaml",
                                        .edits = edits,
                                        .seconds = 2.0,
                                        .clock = TACT_LOOP_FREE,
                                        .source = "host",
                                        .record = path},
                  &result);
        const struct felt_force felt_tool_force = read_force_felt_by_tool_user(path);
        print_message("%s: at most %.3f N, %.3f N more in a tick; ends at %.2f mm\n",
                      motions[i].what, felt_tool_force.most, felt_tool_force.step,
                      felt_tool_force.end * 1e3);
        assert_true(felt_tool_force.step < 1000.0 * 1e-3);
        assert_true(felt_tool_force.most <= motions[i].most * (1.0 + 1e-12));
        assert_true(fabs(felt_tool_force.end - motions[i].end) < 1e-3);
    }
    assert_int_equal(remove(path), 0);
}

static const char hard[] =
    "name: hard\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5, model: features}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.2, 0.1, 0.2], position: [0, 0.08, 0], material: skin}]\n"
    "hands:\n"
    "  - name: tip\n"
    "    weightless: true\n"
    "    base:\n"
    "      mass: 1e-3\n"
    "      inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
    "      shapes: [{type: sphere, radius: 0.01, material: skin}]\n"
    "      coupling: {stiffness: 8000, damping: 0, hard: true}\n"
    "devices:\n"
    "  - name: device\n"
    "    type: twin\n"
    "    calibration: %s/hard.calibration.yaml\n"
    "    settings: {axes: x y z, forces: fx fy fz, mass: 0.2, damping: [0.5, 2, 1],\n"
    "      hand: trajectory, hand_file: %s/press.csv, hand_time: t, hand_interpolation: linear,\n"
    "      hand_stiffness: 100, hand_damping: 2}\n"
    "%s";

static const char inputs_of_each_axis_yaml[] =
    "inputs:\n"
    "  - {from: device.x, to: tip.base_x}\n"
    "  - {from: device.y, to: tip.base_y}\n"
    "  - {from: device.z, to: tip.base_z}\n"
    "outputs:\n"
    "  - {from: tip.base_x, to: device.fx, limit: 100, rate: 1e9}\n"
    "  - {from: tip.base_y, to: device.fy, limit: 100, rate: 1e9}\n"
    "  - {from: tip.base_z, to: device.fz, limit: 100, rate: 1e9}\n";

/* The device's z is the world's y. */
static const char turned[] =
    "tools:\n"
    "  - {hand: tip, device: device, position: [x, y, z], force: [fx, fy, fz], limit: 100,\n"
    "     rate: 1e9, quat_wxyz: [0.7071067811865476, -0.7071067811865476, 0, 0]}\n";

/* Axes of a device with dampings of their own, 0.5, 2 and 1 N s/m, press a wall across one of them:
 * it is felt as stiff as that axis allows, b / (T / 2), and not as the first, 1000 N/m; nothing is
 * generated. io: how the device leads the base. */
static void check_passivity_bound_of_axis(const char *io, const char *motion, int axis)
{
    static const double b[3] = {0.5, 2.0, 1.0};
    static const char *const files[] = {"press.csv", "hard.calibration.yaml"};
    const char *const rows[] = {motion,
                                "haptic:\n  x: [0.2, 0.5, 0, 0, 0, 0]\n  y: [0.2, 2, 0, 0, 0, 0]\n"
                                "  z: [0.2, 1, 0, 0, 0, 0]\n"};
    char scene[4096], path[64];
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    struct tact_log *log;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(rows[i], file);
        assert_int_equal(fclose(file), 0);
    }
    snprintf(path, sizeof path, "%s/hard.mcap", folder);
    snprintf(scene, sizeof scene, hard, folder, folder, io);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.ticks = 3000;
    run_session_of_scene_text(scene, &options, &report);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long in = tact_log_field(log, "device_input", NULL) + 2,
               sent = tact_log_field(log, "outputs_sent", NULL),
               port = tact_log_field(log, "tip_base_x_coupling", NULL) + 6;
    double last[3] = {0.0}, dissipated_energy = 0.0, least = INFINITY, depth = 0.0;
    while (tact_log_next(log, record) > 0) {
        double stored_port_energy = 0.0;
        for (int i = 0; i < 3; i++) {
            const double x = record->values[in + i], force = record->values[sent + i];
            dissipated_energy += b[i] * (x - last[i]) * (x - last[i]) / 1e-3;
            stored_port_energy += force * force * 0.5e-3 / (2.0 * b[i]);
            last[i] = x;
        }
        least = fmin(least, record->values[port] + dissipated_energy - stored_port_energy);
        depth = last[axis] - 0.02;
    }
    const double felt_tool_force = b[axis] / 0.5e-3,
                 exact = 0.02 * 100.0 / (100.0 + felt_tool_force);
    print_message("%.4f mm deep, %.4f by 100 and %g N/m; absorbed and dissipated less stored "
                  "%.1e J at its least\n",
                  depth * 1e3, exact * 1e3, felt_tool_force, least);
    assert_true(fabs(depth - exact) < 0.05 * exact);
    assert_true(least > -1e-12);
    free(record);
    tact_log_close(log);
    check_replays_of_log(path, 3000, 1499, 1);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        assert_int_equal(remove(path), 0);
    }
    snprintf(path, sizeof path, "%s/hard.mcap", folder);
    assert_int_equal(remove(path), 0);
}

static void each_tool_axis_has_its_own_passivity_bound(void **state)
{
    (void)state;
    check_passivity_bound_of_axis(inputs_of_each_axis_yaml,
                                  "t,x,y,z\n0,0,0,0\n0.3,0,0,0\n0.8,0,0.04,0\n9,0,0.04,0\n", 1);
    check_passivity_bound_of_axis(turned, "t,x,y,z\n0,0,0,0\n0.3,0,0,0\n0.8,0,0,0.04\n9,0,0,0.04\n",
                                  2);
}

static const char grasp_scene_text[] =
    "name: grasp\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    position: [0, 0, 0.1]\n"
    "    weightless: true\n"
    "    base:\n"
    "      mass: 0.1\n"
    "      inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]\n"
    "      shapes: [{type: box, size: [0.06, 0.02, 0.02], material: skin}]\n"
    "      coupling: {stiffness: 500, damping: 5}\n"
    "      turn_coupling: {stiffness: 2, damping: 0.02}\n"
    "    links:\n"
    "      - name: finger\n"
    "        mass: 0.02\n"
    "        joint: {type: slide, axis: [1, 0, 0], position: [0, 0, -0.05], stiffness: 500, "
    "damping: 5}\n"
    "        shapes: [{type: box, size: [0.01, 0.01, 0.04], material: skin}]\n"
    "devices:\n"
    "  - name: way\n"
    "    type: trajectory\n"
    "    settings: {file: %s/way.csv, time: t, interpolation: linear}\n"
    "inputs:\n"
    "  - {from: way.x, to: hand.base_x}\n"
    "  - {from: way.turn, to: hand.base_ry}\n";

/* A link on a base moves with the base. */
static void links_of_a_tool_follow_its_base(void **state)
{
    (void)state;
    char text[4096], path[64];
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene;
    struct tact_session *session;
    struct tact_session_report report;
    snprintf(path, sizeof path, "%s/way.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("t,x,turn\n0,0,0\n0.5,0.05,1\n2,0.05,1\n", file);
    assert_int_equal(fclose(file), 0);
    snprintf(text, sizeof text, grasp_scene_text, folder);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.ticks = 2000;
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_run(session, &report), 0);
    struct tact_hand *hand = tact_world_hand(tact_session_world(session), 0);
    const struct tact_pose *base = tact_hand_link_pose(hand, TACT_HAND_BASE - 1),
                           *finger_link_pose = tact_hand_link_pose(hand, TACT_HAND_BASE);
    /* The base is turned by 1 rad about y: a link that hangs 50 mm below it moves to -x. */
    const double exact_finger_position[3] = {0.05 - 0.05 * sin(1.0), 0.0, 0.1 - 0.05 * cos(1.0)};
    print_message("base at %.3f %.3f %.3f mm, finger at %.3f %.3f %.3f mm\n",
                  base->position[0] * 1e3, base->position[1] * 1e3, base->position[2] * 1e3,
                  finger_link_pose->position[0] * 1e3, finger_link_pose->position[1] * 1e3,
                  finger_link_pose->position[2] * 1e3);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(base->position[i] - (i == 0 ? 0.05 : i == 2 ? 0.1 : 0.0)) < 1e-6);
        assert_true(fabs(finger_link_pose->position[i] - exact_finger_position[i]) < 1e-6);
    }
    assert_string_equal(tact_session_joint_name(session, 0, 0), "hand.base_x");
    assert_string_equal(tact_session_joint_name(session, 0, TACT_HAND_BASE), "hand.finger");
    assert_int_equal(tact_session_port_count(session), 2);
    assert_string_equal(tact_session_port(session, 1).name, "hand.base attitude");
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* A rotation vector that changes its sign at half a turn is no motion: the base is not driven at
 * 6,000 rad/s for a tick, which took 19 N m before. */
static void tool_base_passes_half_a_turn_without_a_torque_peak(void **state)
{
    (void)state;
    char text[4096], path[64];
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene;
    struct tact_session *session;
    double most = 0.0;
    snprintf(path, sizeof path, "%s/way.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("t,x,turn\n0,0,0\n1,0,3.1\n1.001,0,-3.1\n2,0,-2.5\n", file);
    assert_int_equal(fclose(file), 0);
    snprintf(text, sizeof text, grasp_scene_text, folder);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    const double *torque = tact_hand_state(tact_world_hand(tact_session_world(session), 0)).torque;
    for (int tick = 0; tick < 2000; tick++) {
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
        most = fmax(most, tact_v3_norm(torque + 3));
    }
    print_message("torque at most %.3f N m\n", most);
    assert_true(most > 1e-4 && most < 0.3);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static void bad_tool_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct edit edit;
        const char *key, *expected_message_text;
        int line;
    } bad[] = {
        {{"mass: 0.1\n", "mass: 0\n"}, "hands[0].base.mass", "greater than 0", 9},
        {{"size: [0.06, 0.02, 0.02], material: skin", "size: [0.06, 0.02, 0.02], material: bone"},
         "hands[0].base.shapes[0].material",
         "no material",
         11},
        {{"damping: 5}\n      turn", "damping: -5}\n      turn"},
         "hands[0].base.coupling.damping",
         "or more",
         12},
        {{"stiffness: 2, damping: 0.02", "stiffness: 2"},
         "hands[0].base.turn_coupling.damping",
         "a coupling of rotations has no default",
         13},
        {{"stiffness: 2, damping: 0.02", "stiffness: 2, damping: 0.02, hard: true"},
         "hands[0].base.turn_coupling.hard",
         "device",
         13},
        {{"name: finger", "name: base_x"}, "hands[0].links[0].name", "coordinate", 15},
        {{"name: finger", "name: base"}, "hands[0].links[0].name", "coordinate", 15},
        {{"mass: 0.02\n", "mass: -1\n"}, "hands[0].links[0].mass", "greater than 0", 16},
        {{"to: hand.base_ry", "to: hand.base"}, "inputs[1].to", "no link named \"base\"", 25},
        {{"to: hand.base_ry", "to: hand.base_ry, what: state"},
         "hands[0].base.turn_coupling",
         "measures its state",
         13},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[4096], changed_scene[4200];
        struct tact_error err = {0};
        struct tact_scene *scene = NULL;
        snprintf(text, sizeof text, grasp_scene_text, folder);
        char *at = strstr(text, bad[i].edit.from);
        assert_non_null(at);
        snprintf(changed_scene, sizeof changed_scene, "%.*s%s%s", (int)(at - text), text,
                 bad[i].edit.to, at + strlen(bad[i].edit.from));
        assert_int_equal(
            tact_scene_parse(changed_scene, strlen(changed_scene), "bad.yaml", NULL, &scene, &err),
            -22);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_int_equal(err.line, bad[i].line);
        assert_string_equal(err.key, bad[i].key);
        assert_non_null(strstr(err.text, bad[i].expected_message_text));
    }
}

static int make_test_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_test_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"tool.mcap", "way.csv"};
    return remove_folder_with_files(folder, files, sizeof files / sizeof *files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tool_presses_as_springs_in_series),
        cmocka_unit_test(tool_that_starts_inside_a_body_strikes_no_hand),
        cmocka_unit_test(each_tool_axis_has_its_own_passivity_bound),
        cmocka_unit_test(links_of_a_tool_follow_its_base),
        cmocka_unit_test(tool_base_passes_half_a_turn_without_a_torque_peak),
        cmocka_unit_test(bad_tool_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
