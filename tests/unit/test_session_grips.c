/*
 * A weak, an average and a strong hand press through a device of six axes, at half of the
 * stiffnesses that the device renders: a stylus on a mesh of 98,304 triangles, and a ruler held in
 * a gripper on a table. No rattle, no energy generated, and within 2 % the force of hand and
 * coupling in series, from where the tool touches by geometry.
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
#include "contact/mesh/generate.h"
#include "contact/number.h"
#include "contact/pair/field/nearest_internal.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/campaign.h"
#include "support/folder.h"
#include "support/run_scene.h"

/* Mass [kg], damping [N s/m] and stiffness [N/m] of a hand, and its attitude's: about 60 mm. */
struct grip {
    const char *name;
    double mass, damping, stiffness;
};
static const struct grip grips[] = {
    {"weak", 0.1, 2.0, 100.0}, {"average", 0.3, 10.0, 300.0}, {"strong", 1.0, 40.0, 1000.0}};

static const double haptic_device_mass = 0.1; /* [kg] */

static char folder[] = "/tmp/tact_grips_XXXXXX";

/* How a hand presses. */
struct hand_press {
    const char *what, *motion_csv;
    double stiffness, damping;   /* stiffness and damping of the coupling: half of what the device
                                    renders [N/m, N s/m] */
    double rotational_stiffness; /* the same of its attitude [N m/rad] */
    int delay;                   /* delay of the device's force, which the coupling knows [ticks] */
    double seconds;
    double aim; /* where the hand would be without the wall: displacement along z [m] */
    double (*touch_height)(double x, double y); /* displacement along z at which the tool touches,
                                                   at one along x and y [m] */
};

/* State of a hand that presses, read from the log. */
struct pressed {
    double force;      /* force along z at the end of the press [N] */
    double tool[3];    /* displacement of the tool at the end [m] */
    double speed;      /* root mean square of the device's speed in the last 0.5 s [m/s] */
    double turn_speed; /* the same of its attitude [rad/s] */
    double energy;     /* least energy that one of both ports had absorbed [J] */
};

static struct pressed read_pressed_state(const char *path, const char *hand)
{
    enum { LEAST = 7, MEAN_TICKS = 500 };
    struct pressed out = {.force = 0.0};
    struct tact_log *log;
    char x[64], rx[64], q[64];
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    snprintf(x, sizeof x, "%s_base_x_coupling", hand);
    snprintf(rx, sizeof rx, "%s_base_rx_coupling", hand);
    snprintf(q, sizeof q, "%s_position", hand);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long position = tact_log_field(log, x, NULL) + LEAST,
               attitude = tact_log_field(log, rx, NULL) + LEAST,
               device = tact_log_field(log, "device_input", NULL) + 2,
               sent = tact_log_field(log, "outputs_sent", NULL) + 2,
               tool = tact_log_field(log, q, NULL);
    const uint64_t ticks = tact_log_state(log)->ticks;
    double last[6] = {0.0};
    for (uint64_t k = 0; tact_log_next(log, record) > 0; k++) {
        const double *v = record->values;
        for (int i = 0; i < 6; i++) {
            const double axis_velocity = (v[device + i] - last[i]) / 1e-3;
            *(i < 3 ? &out.speed : &out.turn_speed) +=
                k + MEAN_TICKS >= ticks ? axis_velocity * axis_velocity / MEAN_TICKS : 0.0;
            last[i] = v[device + i];
        }
        out.energy = fmin(v[position], v[attitude]);
        out.force = v[sent];
        memcpy(out.tool, v + tool, sizeof out.tool);
    }
    out.speed = sqrt(out.speed);
    out.turn_speed = sqrt(out.turn_speed);
    free(record);
    tact_log_close(log);
    return out;
}

/* The force is that of hand and coupling in series, pressed from where the tool is, and within 2 %
 * from where it touches, to where the hand aims. */
static void check_press_force(const struct grip *grip, const struct hand_press *hand_press,
                              const struct pressed *pressed)
{
    const double series_stiffness =
        grip->stiffness * hand_press->stiffness / (grip->stiffness + hand_press->stiffness);
    const double wall = hand_press->touch_height(pressed->tool[0], pressed->tool[1]);
    const double exact = series_stiffness * (wall - hand_press->aim);
    print_message("%s hand, %s, %d ticks late: %.4f N, quasi-static %.4f N; tool %.4f mm, touches "
                  "at %.4f; %.1e mm/s, %.1e mrad/s; energy %.1e J at its least\n",
                  grip->name, hand_press->what, hand_press->delay, pressed->force, exact,
                  pressed->tool[2] * 1e3, wall * 1e3, pressed->speed * 1e3,
                  pressed->turn_speed * 1e3, pressed->energy);
    const double expected_press_force_at_tool_position =
        series_stiffness * (pressed->tool[2] - hand_press->aim);
    assert_true(fabs(pressed->force - expected_press_force_at_tool_position) <
                1e-4 * expected_press_force_at_tool_position);
    assert_true(fabs(pressed->force - exact) < 0.02 * exact);
    assert_true(pressed->force > 0.1);
    assert_true(pressed->speed < 1e-6);
    assert_true(pressed->turn_speed < 1e-5);
    assert_true(pressed->energy > -1e-12);
}

static void write_hand_motion(const char *name, const char *rows)
{
    FILE *to = fopen(name, "w");
    assert_non_null(to);
    fputs(rows, to);
    assert_int_equal(fclose(to), 0);
}

/* Runs a scene with the given hand instead of the average one, with a motion of its own, and with a
 * limit of force that no press reaches. `more`: further edits, ended by from = NULL. */
static struct pressed run_press_by_hand(const char *scene, const char *hand,
                                        const char *hand_file_of_scene,
                                        const char *turn_coupling_of_scene,
                                        const struct hand_press *hand_press,
                                        const struct grip *grip, const struct edit *more)
{
    char mass[128], stiffness[128], damping[256], file[128], path[64], name[64], coupling[128],
        turn[128];
    struct run_result result;
    const double arm = 0.06 * 0.06, device_and_hand_mass = haptic_device_mass + grip->mass;
    snprintf(name, sizeof name, "%s/way.csv", folder);
    write_hand_motion(name, hand_press->motion_csv);
    snprintf(file, sizeof file, "hand_file: %s", name);
    snprintf(path, sizeof path, "%s/press.mcap", folder);
    tact_number_print(mass, sizeof mass, "mass: [%g, %g, %g, 2e-3, 2e-3, 2e-3]",
                      device_and_hand_mass, device_and_hand_mass, device_and_hand_mass);
    tact_number_print(stiffness, sizeof stiffness, "hand_stiffness: [%g, %g, %g, %g, %g, %g]",
                      grip->stiffness, grip->stiffness, grip->stiffness, arm * grip->stiffness,
                      arm * grip->stiffness, arm * grip->stiffness);
    tact_number_print(damping, sizeof damping,
                      "hand_damping: [%g, %g, %g, 0.03, 0.03, 0.03]\n      force_delay: %d.0e-3",
                      grip->damping, grip->damping, grip->damping, hand_press->delay);
    tact_number_print(coupling, sizeof coupling,
                      "stiffness: %g\n        damping: %g\n"
                      "        device: {mass: %g, damping: 1, delay: %d.0e-3}",
                      hand_press->stiffness, hand_press->damping, haptic_device_mass,
                      hand_press->delay);
    tact_number_print(turn, sizeof turn,
                      "stiffness: %g\n        damping: 0.02\n        device: "
                      "{mass: 2e-3, damping: 0.01, delay: %d.0e-3}",
                      hand_press->rotational_stiffness, hand_press->delay);
    struct edit edits[16] = {
        {"mass: [0.3, 0.3, 0.3, 2e-3, 2e-3, 2e-3]", mass},
        {"hand_stiffness: [300, 300, 300, 1, 1, 1]", stiffness},
        {"hand_damping: [10, 10, 10, 0.03, 0.03, 0.03]", damping},
        {hand_file_of_scene, file},
        {"stiffness: 1000\n        damping: 5\n        device: {mass: 0.3, damping: 1}", coupling},
        {turn_coupling_of_scene, turn},
        {"limit: 8 ", "limit: 80 "}};
    for (int i = 0; more && more[i].from; i++) {
        edits[7 + i] = more[i];
    }
    remove(path);
    run_scene(&(struct run_options){.scene = scene,
                                    .edits = edits,
                                    .seconds = hand_press->seconds,
                                    .clock = TACT_LOOP_FREE,
                                    .source = "host",
                                    .record = path},
              &result);
    return read_pressed_state(path, hand);
}

static double touch_height_of_ruler(double x, double y)
{
    (void)x, (void)y;
    return -0.055; /* the height at which it was gripped where it stood */
}

/* A ruler of 300 x 30 x 4 mm is gripped at its middle where it stands on the table, and pressed on
 * the table by its lower edge by 5 mm: slowly, or from 20 mm above at 0.1 m/s. The grip is as firm
 * as a person's, 40 N, and its friction of 64 N stops the gripper, of 90 g and with the weak hand
 * and the device 0.29 kg, within m v^2 / 2 F = 0.03 mm at 0.12 m/s. With the grip of the scene,
 * whose friction is 3.8 N, the ruler slips by 0.1 to 0.3 mm, 2 to 6 % of the force. */
static void every_hand_presses_a_held_ruler_with_the_exact_force(void **state)
{
    (void)state;
    static const struct hand_press hand_presses[] = {
        {"ruler pressed",
         "time,x,y,z,rx,ry,rz,grip\n0,0,0,0,0,0,0,0\n0.4,0,0,0,0,0,0,0\n"
         "1,0,0,-0.055,0,0,0,0\n2.4,0,0,-0.055,0,0,0,0\n"
         "2.6,0,0,-0.055,0,0,0,1\n3,0,0,-0.055,0,0,0,1\n"
         "3.2,0,0,-0.060,0,0,0,1\n9,0,0,-0.060,0,0,0,1\n",
         1000.0, 5.0, 10.0, 0, 4.4, -0.060, touch_height_of_ruler},
        {"ruler set down",
         "time,x,y,z,rx,ry,rz,grip\n0,0,0,0,0,0,0,0\n0.4,0,0,0,0,0,0,0\n"
         "1,0,0,-0.055,0,0,0,0\n2.4,0,0,-0.055,0,0,0,0\n"
         "2.6,0,0,-0.055,0,0,0,1\n2.8,0,0,-0.055,0,0,0,1\n"
         "3.1,0,0,-0.035,0,0,0,1\n3.4,0,0,-0.035,0,0,0,1\n"
         "3.65,0,0,-0.060,0,0,0,1\n9,0,0,-0.060,0,0,0,1\n",
         1000.0, 5.0, 10.0, 0, 5.5, -0.060, touch_height_of_ruler}};
    static const struct edit ruler[] = {
        {"size: [0.04, 0.04, 0.04]", "size: [0.004, 0.3, 0.03]"},
        {"mass: 0.1\n    position: [0, 0, 0.02]", "mass: 0.03\n    position: [0, 0, 0.015]"},
        {"position: [-0.03, 0, -0.035], stiffness: 600, damping: 6, limit: 6",
         "position: [-0.012, 0, -0.035], stiffness: 10000, damping: 30, limit: 60"},
        {"position: [0.03, 0, -0.035], stiffness: 600, damping: 6, limit: 6",
         "position: [0.012, 0, -0.035], stiffness: 10000, damping: 30, limit: 60"},
        {NULL, NULL}};
    for (int i = 0; i < campaign_trial_count(6, 6); i++) {
        const struct hand_press *hand_press = &hand_presses[i / 3];
        const struct pressed pressed = run_press_by_hand(
            "grasp_tool.yaml", "gripper", "hand_file: grasp_tool_way.csv",
            "stiffness: 2\n        damping: 0.02\n        device: {mass: 2e-3, damping: 0.01}",
            hand_press, &grips[i % 3], ruler);
        check_press_force(&grips[i % 3], hand_press, &pressed);
    }
}

/* Displacement along z at which the stylus touches the rock of tool.yaml, whatever its attitude: a
 * ball of 5 mm that comes down from a height of 70 mm, by the distances of all triangles. */
static double touch_height_of_stylus(double x, double y)
{
    const struct tact_generate bumpy_cube_parameters = {.kind = TACT_GENERATE_BUMPY_CUBE,
                                                        .edge = 0.1,
                                                        .bump = 0.004,
                                                        .count = 6,
                                                        .triangles = 98304,
                                                        .seed = 1};
    struct tact_soup soup;
    const char *bad_parameter_name;
    assert_int_equal(tact_soup_generate(&bumpy_cube_parameters, &soup, &bad_parameter_name), 0);
    double apart = 0.07, inside = 0.05;
    for (int i = 0; i < 20; i++) {
        const double center[3] = {x, y, 0.5 * (apart + inside)};
        double least = INFINITY;
        for (uint32_t k = 0; k < soup.triangle_count; k++) {
            const uint32_t *t = soup.triangles + 3 * (size_t)k;
            least =
                fmin(least, tact_triangle_squared_distance(center, soup.vertices + 3 * (size_t)t[0],
                                                           soup.vertices + 3 * (size_t)t[1],
                                                           soup.vertices + 3 * (size_t)t[2]));
        }
        *(least > 0.005 * 0.005 ? &apart : &inside) = center[2];
    }
    tact_soup_free(&soup);
    return apart - 0.07;
}

/* The stylus of tool.yaml touches the rock at 0.1 m/s and is pressed 20 mm on, by the same hands:
 * straight, or sideways with a turn, also with a force that is a tick late. */
static void every_hand_presses_a_stylus_with_the_exact_force(void **state)
{
    (void)state;
    const double aim = touch_height_of_stylus(0.0, 0.0) - 0.02;
    char straight_motion_csv[256], sideways_motion_csv[256];
    tact_number_print(straight_motion_csv, sizeof straight_motion_csv,
                      "time,x,y,z,rx,ry,rz\n0,0,0,0,0,0,0\n0.4,0,0,0,0,0,0\n"
                      "%g,0,0,%g,0,0,0\n9,0,0,%g,0,0,0\n",
                      0.4 - aim / 0.1, aim, aim);
    tact_number_print(sideways_motion_csv, sizeof sideways_motion_csv,
                      "time,x,y,z,rx,ry,rz\n0,0,0,0,0,0,0\n0.4,0,0,0,0,0,0\n"
                      "%g,0.008,0.005,%g,0.3,0.2,0\n9,0.008,0.005,%g,0.3,0.2,0\n",
                      0.4 - aim / 0.1, aim, aim);
    const struct hand_press hand_presses[] = {{"stylus straight", straight_motion_csv, 1000.0, 5.0,
                                               10.0, 0, 2.5, aim, touch_height_of_stylus},
                                              {"stylus sideways", sideways_motion_csv, 333.0, 1.8,
                                               3.3, 1, 3.0, aim, touch_height_of_stylus},
                                              {"stylus sideways", sideways_motion_csv, 1000.0, 5.0,
                                               10.0, 0, 3.0, aim, touch_height_of_stylus},
                                              {"stylus straight", straight_motion_csv, 333.0, 1.8,
                                               3.3, 1, 3.0, aim, touch_height_of_stylus}};
    static const struct edit edits[] = {
        {"hand_time: time", "hand_time: time\n      hand_interpolation: linear"},
        {"limit: 8, rate: 1e4", "limit: 80, rate: 1e5"},
        {"limit: 8, rate: 1e4", "limit: 80, rate: 1e5"},
        {"limit: 8, rate: 1e4", "limit: 80, rate: 1e5"},
        {NULL, NULL}};
    for (int i = 0; i < campaign_trial_count(4, 12); i++) {
        const struct hand_press *hand_press = &hand_presses[i / 3];
        const struct pressed pressed = run_press_by_hand(
            "tool.yaml", "stylus", "hand_file: tool_stroke.csv",
            "stiffness: 1\n        damping: 0.005\n        device: {mass: 2e-3, damping: 0.01}",
            hand_press, &grips[i % 3], edits);
        check_press_force(&grips[i % 3], hand_press, &pressed);
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
