/*
 * A hand of five fingers whose ten joints are each coupled to a glove: pressed on a floor, every
 * joint's torque is that of its spring or its own limit, all are in balance with the contact forces
 * by the geometry of the fingers, nothing rattles or generates energy, and a glove that is lost
 * and returns makes no jump.
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
#include "contact/number.h"
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/folder.h"
#include "support/replays.h"
#include "support/run_scene.h"

enum { FINGERS = 5, JOINTS = 2 * FINGERS, TICKS = 3000 };

static const double proximal_length = 0.05, distal_length = 0.03; /* lengths of the links [m] */

static char folder[] = "/tmp/tact_glove_XXXXXX", log_path[64];

/* Stiffness of a joint's coupling [N m/rad], and limit of its torque [N m]; 0: none. */
static double coupling_stiffness_of_glove_joint(int joint)
{
    return 0.3 + 0.07 * joint;
}

static double torque_limit_of_joint(int joint)
{
    return joint == 5 ? 0.012 : joint == 8 ? 0.05 : 0.0;
}

static size_t append_scene_text(char *out, size_t used, size_t room, const char *format, ...)
{
    va_list numbers;
    va_start(numbers, format);
    const int length = tact_number_vprint(out + used, room - used, format, numbers);
    va_end(numbers);
    assert_true(length > 0 && used + (size_t)length < room);
    return used + (size_t)length;
}

/* Writes the scene; glove_settings: further settings of the simulated glove. */
static void write_glove_scene(char *out, size_t room, const char *glove_settings)
{
    size_t used = append_scene_text(
        out, 0, room,
        "name: glove\n"
        "materials: [{name: skin}]\n"
        "pairs: [{materials: [skin, skin], friction: 0, model: features}]\n"
        "bodies:\n"
        "  - name: floor\n"
        "    fixed: true\n"
        "    shapes: [{type: box, size: [0.3, 0.3, 0.1], position: [0, 0, -0.085], "
        "material: skin}]\n"
        "hands:\n  - name: hand\n    weightless: true\n    links:\n");
    for (int i = 0; i < JOINTS; i++) {
        const int is_distal_joint = i % 2;
        used = append_scene_text(
            out, used, room,
            "      - name: link%d\n"
            "        %s\n"
            "        joint: {type: hinge, axis: [0, 1, 0], position: [%g, %g, 0], limit: %g,\n"
            "          coupling: {stiffness: %g, damping: 0.002}}\n"
            "        mass: 0.01\n        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
            "        center_of_mass: [0.015, 0, 0]\n",
            i, is_distal_joint ? "" : "# a finger", is_distal_joint ? proximal_length : 0.0,
            is_distal_joint ? 0.0 : 0.025 * (i / 2 - 2), torque_limit_of_joint(i),
            coupling_stiffness_of_glove_joint(i));
        if (is_distal_joint) {
            used = append_scene_text(
                out, used, room,
                "        parent: link%d\n"
                "        shapes: [{type: sphere, radius: 0.008, position: [%g, 0, 0], "
                "material: skin}]\n",
                i - 1, distal_length);
        }
    }
    used = append_scene_text(out, used, room,
                             "devices:\n  - name: glove\n    type: twin\n    settings:\n"
                             "      axes: a0 a1 a2 a3 a4 a5 a6 a7 a8 a9\n      units: rad\n"
                             "      forces: t0 t1 t2 t3 t4 t5 t6 t7 t8 t9\n"
                             "      mass: 1e-4\n      damping: 0.002\n      hand: trajectory\n"
                             "      hand_file: %s/curl.csv\n      hand_time: time\n"
                             "      hand_interpolation: linear\n      hand_stiffness: 0.5\n"
                             "      hand_damping: 0.01\n      %s\ninputs:\n",
                             folder, glove_settings);
    for (int i = 0; i < JOINTS; i++) {
        used = append_scene_text(out, used, room, "  - {from: glove.a%d, to: hand.link%d}\n", i, i);
    }
    used = append_scene_text(out, used, room, "outputs:\n");
    for (int i = 0; i < JOINTS; i++) {
        used = append_scene_text(
            out, used, room, "  - {from: hand.link%d, to: glove.t%d, limit: 1, rate: 100}\n", i, i);
    }
}

struct tick_values {
    double angle[JOINTS], q[JOINTS], torque[JOINTS], sent[JOINTS], least_energy[JOINTS];
    double force[FINGERS]; /* force of the floor on each finger [N] */
};

static void simulate_glove(const char *glove_settings, struct tick_values *values)
{
    static char scene[16384];
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    struct tact_log *log;
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = log_path;
    options.replace = 1;
    options.ticks = TICKS;
    write_glove_scene(scene, sizeof scene, glove_settings);
    run_session_of_scene_text(scene, &options, &report);
    assert_int_equal(report.faults, 0);
    assert_int_equal(tact_log_open(log_path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long angle = tact_log_field(log, "glove_input", NULL) + 2,
               q = tact_log_field(log, "hand_position", NULL),
               torque = tact_log_field(log, "hand_torque", NULL),
               sent = tact_log_field(log, "outputs_sent", NULL);
    for (int k = 0; k < TICKS; k++) {
        assert_true(tact_log_next(log, record) > 0);
        const double *v = record->values;
        for (int i = 0; i < JOINTS; i++) {
            char name[64];
            snprintf(name, sizeof name, "hand_link%d_coupling", i);
            values[k].angle[i] = v[angle + i];
            values[k].q[i] = v[q + i];
            values[k].torque[i] = v[torque + i];
            values[k].sent[i] = v[sent + i];
            values[k].least_energy[i] = v[tact_log_field(log, name, NULL) + 7];
            snprintf(name, sizeof name, "floor_hand_link%d_wrench", i);
            const long wrench = tact_log_field(log, name, NULL);
            if (i % 2) {
                values[k].force[i / 2] = wrench < 0 ? 0.0 : fabs(v[wrench + 2]);
            }
        }
    }
    free(record);
    tact_log_close(log);
}

/* At rest the torque of a joint is that of its spring, or its limit, and that which the force on
 * the finger's tip, straight up without friction, has about its axis. The person feels minus it. */
static void every_joint_of_a_hand_is_felt_with_its_limit(void **state)
{
    (void)state;
    static struct tick_values values[TICKS];
    int limited_tick_count = 0;
    simulate_glove("start: 0", values);
    const struct tick_values *last = &values[TICKS - 1], *before = &values[TICKS - 2];
    for (int i = 0; i < JOINTS; i++) {
        const int finger_index = i / 2;
        const double a = last->q[2 * finger_index],
                     distal_link_angle = a + last->q[2 * finger_index + 1];
        const double arm =
            distal_length * cos(distal_link_angle) + (i % 2 ? 0.0 : proximal_length * cos(a));
        const double spring = coupling_stiffness_of_glove_joint(i) * (last->angle[i] - last->q[i]);
        const double limit = torque_limit_of_joint(i);
        const int is_over_torque_limit = limit > 0.0 && spring > limit;
        print_message("joint %d: %.5f N m, spring %.5f%s, by the floor's %.3f N %.5f; felt %.5f; "
                      "%.1e rad/s, least energy %.1e J\n",
                      i, last->torque[i], spring, is_over_torque_limit ? ", over its limit" : "",
                      last->force[finger_index], arm * last->force[finger_index], last->sent[i],
                      (last->angle[i] - before->angle[i]) / 1e-3, last->least_energy[i]);
        limited_tick_count += is_over_torque_limit;
        assert_true(last->force[finger_index] > 0.1);
        assert_true(fabs(last->torque[i] - (is_over_torque_limit ? limit : spring)) < 1e-9);
        assert_true(fabs(last->torque[i] - arm * last->force[finger_index]) < 1e-7);
        assert_true(last->sent[i] == -last->torque[i]);
        assert_true(fabs(last->angle[i] - before->angle[i]) < 1e-10);
        assert_true(last->least_energy[i] > -1e-12);
    }
    assert_int_equal(limited_tick_count, 2);
    check_replays_of_log(log_path, TICKS, 1499, 1);
}

/* A glove that is lost for half a second while all fingers press, and returns at other angles: it
 * has no torque meanwhile, and none of the ten torques jumps by more than the springs have for 5
 * mrad. */
static void lost_glove_returns_without_a_jump(void **state)
{
    (void)state;
    static struct tick_values values[TICKS];
    double largest_torque_while_glove_is_lost = 0.0, step = 0.0;
    simulate_glove("lost: [[1.5, 2]]", values);
    for (int k = 1500; k < TICKS; k++) {
        for (int i = 0; i < JOINTS; i++) {
            largest_torque_while_glove_is_lost =
                fmax(largest_torque_while_glove_is_lost, k < 2000 ? fabs(values[k].sent[i]) : 0.0);
            step = fmax(step, k > 1500 ? fabs(values[k].sent[i] - values[k - 1].sent[i]) /
                                             coupling_stiffness_of_glove_joint(i)
                                       : 0.0);
        }
    }
    print_message("lost: %.1e N m, then steps of what the springs have for %.2f mrad at most\n",
                  largest_torque_while_glove_is_lost, 1e3 * step);
    assert_true(largest_torque_while_glove_is_lost == 0.0 && step < 5e-3);
    for (int i = 0; i < JOINTS; i++) {
        assert_true(fabs(values[TICKS - 1].sent[i]) > 1e-3);
    }
}

static int make_test_folder(void **state)
{
    (void)state;
    static const char content[] =
        "time,b0,b1,b2,b3,b4,b5,b6,b7,b8,b9\n0,0,0,0,0,0,0,0,0,0,0\n0.3,0,0,0,0,0,0,0,0,0,0\n"
        "1,0.5,0.4,0.6,0.3,0.55,0.35,0.5,0.5,0.7,0.2\n"
        "9,0.5,0.4,0.6,0.3,0.55,0.35,0.5,0.5,0.7,0.2\n";
    const int rc = make_folder_with_file(folder, "curl.csv", content);
    snprintf(log_path, sizeof log_path, "%s/glove.mcap", folder);
    return rc;
}

static int remove_test_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"curl.csv", "glove.mcap"};
    return remove_folder_with_files(folder, files, sizeof files / sizeof *files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_joint_of_a_hand_is_felt_with_its_limit),
        cmocka_unit_test(lost_glove_returns_without_a_jump),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
