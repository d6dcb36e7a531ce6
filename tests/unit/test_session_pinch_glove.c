/*
 * A glove whose four joints are coupled to those of two fingers, each with its own stiffness and
 * limit: in free motion every joint is where the glove is, and at an object each is felt as its
 * spring, up to its own limit.
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

/* ticks at which the free motion, the touch and the run end; the glove begins to move at tick
 * 200 */
enum { JOINTS = 4, FREE = 300, TOUCH = 350, TICKS = 2000 };

static const char *const names[JOINTS] = {"left", "left_tip", "right", "right_tip"};
static const double stiffness[JOINTS] = {2.0, 1.0, 3.0, 1.5}, /* [N m/rad] */
    limit[JOINTS] = {0.2, 0.0, 0.0, 0.02};                    /* [N m]; 0: none */

static char folder[] = "/tmp/tact_glove_XXXXXX";

/* Two fingers that point down, on either side of a box. */
static const char text[] =
    "name: glove\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5, model: features}]\n"
    "bodies:\n"
    "  - name: object\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.03, 0.05, 0.04], position: [0, 0, 0.02], material: skin}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    position: [0, 0, 0.1]\n"
    "    weightless: true\n"
    "    links:\n"
    "%s"
    "devices:\n"
    "  - name: glove\n"
    "    type: twin\n"
    "    settings:\n"
    "      axes: left left_tip right right_tip\n"
    "      forces: f0 f1 f2 f3\n"
    "      mass: 1e-3\n"
    "      damping: 5e-3\n"
    "      hand: trajectory\n"
    "      hand_file: %s/close.csv\n"
    "      hand_time: time\n"
    "      hand_interpolation: linear\n"
    "      hand_stiffness: 5\n"
    "      hand_damping: 0.1\n"
    "inputs:\n%s"
    "outputs:\n%s";

static void write_pinch_glove_scene(char *out, size_t size)
{
    char links[4096] = "", inputs[1024] = "", outputs[1024] = "";
    for (int i = 0; i < JOINTS; i++) {
        const double side = i < 2 ? -0.03 : 0.03;
        char place[64], one[1024];
        tact_number_print(place, sizeof place, "[%g, 0, %g]", i % 2 ? 0.0 : side,
                          i % 2 ? -0.04 : 0.0);
        tact_number_print(
            one, sizeof one,
            "      - name: %s\n%s%s%s"
            "        mass: 0.02\n"
            "        joint: {type: hinge, axis: [0, 1, 0], position: %s, limit: %g,\n"
            "                coupling: {stiffness: %g, damping: 0.01}}\n"
            "        shapes: [{type: box, size: [0.01, 0.02, 0.04], position: [0, 0, -0.02],\n"
            "                  material: skin}]\n",
            names[i], i % 2 ? "        parent: " : "", i % 2 ? names[i - 1] : "", i % 2 ? "\n" : "",
            place, limit[i], stiffness[i]);
        strcat(links, one);
        snprintf(one, sizeof one, "  - {from: glove.%s, to: hand.%s}\n", names[i], names[i]);
        strcat(inputs, one);
        snprintf(one, sizeof one, "  - {from: hand.%s, to: glove.f%d, limit: 5, rate: 1e9}\n",
                 names[i], i);
        strcat(outputs, one);
    }
    snprintf(out, size, text, links, folder, inputs, outputs);
}

/* Values of the last tick; *lag: largest of a joint behind the glove in free motion. */
static void read_last_logged_values(const char *path, double *lag, double glove_angles[JOINTS],
                                    double q[JOINTS], double sent[JOINTS], double least[JOINTS])
{
    struct tact_log *log;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long input = tact_log_field(log, "glove_input", NULL) + 2,
               position = tact_log_field(log, "hand_position", NULL),
               output = tact_log_field(log, "outputs_sent", NULL);
    *lag = 0.0;
    for (int k = 0; tact_log_next(log, record) > 0; k++) {
        for (int i = 0; i < JOINTS; i++) {
            char port[64];
            snprintf(port, sizeof port, "hand_%s_coupling", names[i]);
            glove_angles[i] = record->values[input + i];
            q[i] = record->values[position + i];
            sent[i] = record->values[output + i];
            least[i] = record->values[tact_log_field(log, port, NULL) + 7];
            *lag = k >= FREE && k < TOUCH ? fmax(*lag, fabs(glove_angles[i] - q[i])) : *lag;
        }
    }
    free(record);
    tact_log_close(log);
}

static void every_hand_joint_is_coupled_to_the_glove(void **state)
{
    (void)state;
    char scene[8192], path[64];
    double lag, glove_angles[JOINTS], q[JOINTS], sent[JOINTS], least[JOINTS];
    int joint_count_at_limit = 0;
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    snprintf(path, sizeof path, "%s/glove.mcap", folder);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.ticks = TICKS;
    write_pinch_glove_scene(scene, sizeof scene);
    run_session_of_scene_text(scene, &options, &report);
    read_last_logged_values(path, &lag, glove_angles, q, sent, least);
    print_message("free: at most %.1e rad behind\n", lag);
    for (int i = 0; i < JOINTS; i++) {
        const double spring = -stiffness[i] * (glove_angles[i] - q[i]);
        const int is_over_torque_limit = limit[i] > 0.0 && fabs(spring) > limit[i];
        const double exact = is_over_torque_limit ? copysign(limit[i], spring) : spring;
        print_message("%s: %.5f rad of %.5f, %.6f N m of %.6f, energy %.1e J at its least\n",
                      names[i], q[i], glove_angles[i], sent[i], exact, least[i]);
        joint_count_at_limit += is_over_torque_limit;
        assert_true(fabs(exact) > 0.01 && fabs(sent[i] - exact) < 1e-4 * fabs(exact));
        assert_true(least[i] > -1e-6);
    }
    assert_int_equal(joint_count_at_limit, 2);
    assert_true(lag < 1e-4);
    check_replays_of_log(path, TICKS, TICKS / 2 + 1, 1);
}

static int make_test_folder(void **state)
{
    (void)state;
    return make_folder_with_file(
        folder, "close.csv",
        "time,left,left_tip,right,right_tip\n0,0,0,0,0\n0.2,0,0,0,0\n1,-0.35,-0.1,0.35,0.1\n"
        "9,-0.35,-0.1,0.35,0.1\n");
}

static int remove_test_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"close.csv", "glove.mcap"};
    return remove_folder_with_files(folder, files, sizeof files / sizeof *files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_hand_joint_is_coupled_to_the_glove)};
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
