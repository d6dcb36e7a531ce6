/*
 * A weak, an average and a strong hand press through a device of six axes, at half of the stiffness
 * that the device renders: a stylus on a mesh of 98,304 triangles, and a ruler held in a gripper on
 * a table. No rattle, no energy generated, and the force of hand and coupling in series.
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
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/folder.h"
#include "support/run_scene.h"

/* Mass [kg], damping [N s/m] and stiffness [N/m] of a hand, and its attitude's: about 60 mm. */
struct grip {
    const char *name;
    double mass, damping, stiffness;
};
static const struct grip grips[] = {
    {"weak", 0.1, 2.0, 100.0}, {"average", 0.3, 10.0, 300.0}, {"strong", 1.0, 40.0, 1000.0}};

static const double device_mass = 0.1, coupling_stiffness = 1000.0; /* [kg], [N/m] */

static char folder[] = "/tmp/tact_grips_XXXXXX";

/* State of a hand that presses, read from the log. */
struct pressed {
    double force;  /* force along z at the end of the press [N] */
    double tool;   /* displacement of the tool along z at the end [m] */
    double speed;  /* root mean square of the device's speed along z in the last 0.2 s [m/s] */
    double energy; /* least energy that both ports together had absorbed [J] */
};

static struct pressed read_pressed_state(const char *path, const char *hand)
{
    struct pressed out = {.force = 0.0};
    struct tact_log *log;
    char x[64], rx[64], q[64];
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    snprintf(x, sizeof x, "%s_base_x_coupling", hand);
    snprintf(rx, sizeof rx, "%s_base_rx_coupling", hand);
    snprintf(q, sizeof q, "%s_position", hand);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long position = tact_log_field(log, x, NULL) + 6,
               attitude = tact_log_field(log, rx, NULL) + 6,
               z = tact_log_field(log, "device_input", NULL) + 4,
               sent = tact_log_field(log, "outputs_sent", NULL) + 2,
               tool = tact_log_field(log, q, NULL) + 2;
    const uint64_t ticks = tact_log_state(log)->ticks;
    double last = 0.0;
    for (uint64_t k = 0; tact_log_next(log, record) > 0; k++) {
        const double *v = record->values;
        out.energy = fmin(out.energy, v[position] + v[attitude]);
        out.speed += k + 200 >= ticks ? pow((v[z] - last) / 1e-3, 2.0) / 200.0 : 0.0;
        last = v[z];
        out.force = v[sent];
        out.tool = v[tool];
    }
    out.speed = sqrt(out.speed);
    free(record);
    tact_log_close(log);
    return out;
}

/* Checks the force of a press; aim: where the hand would be without the wall, along z [m]. */
static void check_press_force(const struct grip *grip, const char *what,
                              const struct pressed *pressed, double aim)
{
    const double exact = (pressed->tool - aim) * grip->stiffness * coupling_stiffness /
                         (grip->stiffness + coupling_stiffness);
    print_message(
        "%s hand, %s: %.4f N, quasi-static %.4f N; %.4f mm/s; energy %.1e J at its least\n",
        grip->name, what, pressed->force, exact, pressed->speed * 1e3, pressed->energy);
    assert_true(fabs(pressed->force - exact) < 0.02 * exact);
    assert_true(pressed->speed < 2e-3);
    assert_true(pressed->energy > -1e-5);
}

/* Runs a scene with that hand, whose lines in the scene are the average one's, and a way of its
 * own. `more`: further edits, ended by from = NULL. */
static struct pressed run_press_by_hand(const char *scene, const char *hand,
                                        const char *hand_file_of_scene, const char *hand_motion_csv,
                                        const struct grip *grip, double seconds,
                                        const struct edit *more)
{
    char mass[128], stiffness[128], damping[128], file[128], path[64], name[64];
    struct run_result result;
    const double arm = 0.06 * 0.06;
    snprintf(name, sizeof name, "%s/way.csv", folder);
    FILE *to = fopen(name, "w");
    assert_non_null(to);
    fputs(hand_motion_csv, to);
    assert_int_equal(fclose(to), 0);
    snprintf(file, sizeof file, "hand_file: %s", name);
    snprintf(path, sizeof path, "%s/press.mcap", folder);
    const double total = device_mass + grip->mass;
    tact_number_print(mass, sizeof mass, "mass: [%g, %g, %g, 2e-3, 2e-3, 2e-3]", total, total,
                      total);
    tact_number_print(stiffness, sizeof stiffness, "hand_stiffness: [%g, %g, %g, %g, %g, %g]",
                      grip->stiffness, grip->stiffness, grip->stiffness, arm * grip->stiffness,
                      arm * grip->stiffness, arm * grip->stiffness);
    tact_number_print(damping, sizeof damping, "hand_damping: [%g, %g, %g, %g, %g, %g]",
                      grip->damping, grip->damping, grip->damping, 0.03, 0.03, 0.03);
    struct edit edits[16] = {{"mass: [0.3, 0.3, 0.3, 2e-3, 2e-3, 2e-3]", mass},
                             {"hand_stiffness: [300, 300, 300, 1, 1, 1]", stiffness},
                             {"hand_damping: [10, 10, 10, 0.03, 0.03, 0.03]", damping},
                             {hand_file_of_scene, file}};
    for (int i = 0; more && more[i].from; i++) {
        edits[4 + i] = more[i];
    }
    remove(path);
    run_scene(&(struct run_options){.scene = scene,
                                    .edits = edits,
                                    .seconds = seconds,
                                    .clock = TACT_LOOP_FREE,
                                    .source = "host",
                                    .record = path},
              &result);
    return read_pressed_state(path, hand);
}

/* A ruler of 300 x 30 x 4 mm is gripped at its middle and pressed on the table by its lower edge.
 */
static void every_hand_presses_a_held_ruler_with_the_exact_force(void **state)
{
    (void)state;
    static const char hand_motion_csv[] =
        "time,x,y,z,rx,ry,rz,grip\n0,0,0,0,0,0,0,0\n0.4,0,0,0,0,0,0,0\n"
        "1,0,0,-0.055,0,0,0,0\n2.4,0,0,-0.055,0,0,0,0\n"
        "2.6,0,0,-0.055,0,0,0,1\n3,0,0,-0.055,0,0,0,1\n"
        "3.2,0,0,-0.060,0,0,0,1\n9,0,0,-0.060,0,0,0,1\n";
    static const struct edit ruler[] = {
        {"size: [0.04, 0.04, 0.04]", "size: [0.004, 0.3, 0.03]"},
        {"mass: 0.1\n    position: [0, 0, 0.02]", "mass: 0.03\n    position: [0, 0, 0.015]"},
        {"position: [-0.03, 0, -0.035]", "position: [-0.012, 0, -0.035]"},
        {"position: [0.03, 0, -0.035]", "position: [0.012, 0, -0.035]"},
        {NULL, NULL}};
    for (int i = 0; i < 3; i++) {
        const struct pressed pressed =
            run_press_by_hand("grasp_tool.yaml", "gripper", "hand_file: grasp_tool_way.csv",
                              hand_motion_csv, &grips[i], 4.4, ruler);
        check_press_force(&grips[i], "ruler", &pressed, -0.060);
    }
}

/* The stylus of tool.yaml is pressed on the rock; with the same hands. */
static void every_hand_presses_a_stylus_with_the_exact_force(void **state)
{
    (void)state;
    static const char hand_motion_csv[] = "time,x,y,z,rx,ry,rz\n0,0,0,0,0,0,0\n0.4,0,0,0,0,0,0\n"
                                          "1,0,0,-0.022,0,0,0\n9,0,0,-0.022,0,0,0\n";
    static const struct edit edits_of_linear_motion[] = {
        {"hand_time: time", "hand_time: time\n      hand_interpolation: linear"}, {NULL, NULL}};
    for (int i = 0; i < 3; i++) {
        const struct pressed pressed =
            run_press_by_hand("tool.yaml", "stylus", "hand_file: tool_stroke.csv", hand_motion_csv,
                              &grips[i], 2.6, edits_of_linear_motion);
        check_press_force(&grips[i], "stylus", &pressed, -0.022);
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
    static const char *const files[] = {"press.mcap", "way.csv"};
    return remove_folder_with_files(folder, files, sizeof files / sizeof *files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hand_presses_a_held_ruler_with_the_exact_force),
        cmocka_unit_test(every_hand_presses_a_stylus_with_the_exact_force)};
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
