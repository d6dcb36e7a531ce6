/*
 * A base that forces and torques of a person move, as of a device of six axes that measures them
 * and takes speeds: against the exact motion of the mass and inertia with its dampers, speeds
 * limited by their length, balance with a wall that is met off the middle, replays, and what is
 * refused.
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
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "contact/vec.h"
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/folder.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/run_scene.h"

enum { AXES = 6, TICKS = 1500, RAMP_TICKS = 200 };

static const double period = 1e-3, mass = 0.4, inertia = 2e-3, damping = 3.0, turn_damping = 0.02;

static char folder[] = "/tmp/tact_pushed_XXXXXX", log_path[64];

static const char text[] =
    "name: pushed\n"
    "materials: [{name: steel}]\n"
    "pairs: [{materials: [steel, steel], friction: 0.3, model: features}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    position: [%g, 0, 0]\n"
    "    shapes: [{type: box, size: [0.1, 1, 1], position: [0.05, 0, 0], material: steel}]\n"
    "hands:\n"
    "  - name: tool\n"
    "    weightless: true\n"
    "    base:\n"
    "      mass: %g\n"
    "      inertia: [%g, %g, %g, 0, 0, 0]\n"
    "      center_of_mass: [0, 0, 0]\n"
    "      shapes: [{type: sphere, radius: 0.01, position: [0.02, 0.015, 0], material: steel}]\n"
    "      coupling: {%s}\n"
    "      turn_coupling: {%s}\n"
    "      %s\n"
    "devices:\n"
    "  - name: arm\n"
    "    type: twin\n"
    "    settings: {axes: x y z rx ry rz, units: m m m rad, forces: vx vy vz wx wy wz,\n"
    "      control: rate, sensed: fx fy fz tx ty tz, %s}\n"
    "inputs:\n"
    "  - {from: arm.fx, to: tool.base_x, what: force}\n"
    "  - {from: arm.fy, to: tool.base_y, what: force}\n"
    "  - {from: arm.fz, to: tool.base_z, what: force}\n"
    "  - {from: arm.tx, to: tool.base_rx, what: force}\n"
    "  - {from: arm.ty, to: tool.base_ry, what: force}\n"
    "  - {from: arm.tz, to: tool.base_rz, what: force}\n"
    "outputs:\n"
    "  - {from: tool.base_x, to: arm.vx, what: %s, limit: %g, rate: 100}\n"
    "  - {from: tool.base_y, to: arm.vy, what: %s, limit: %g, rate: 100}\n"
    "  - {from: tool.base_z, to: arm.vz, what: %s, limit: %g, rate: 100}\n"
    "  - {from: tool.base_rx, to: arm.wx, what: %s, limit: 20, rate: 1e4}\n"
    "  - {from: tool.base_ry, to: arm.wy, what: rate, limit: 20, rate: 1e4}\n"
    "  - {from: tool.base_rz, to: arm.wz, what: rate, limit: 20, rate: 1e4}\n"
    "%s";

struct scene_settings {
    double wall; /* [m] */
    const char *coupling, *turn_coupling, *base, *device, *along, *about;
    double limit; /* of the speed [m/s] */
    const char *more;
};

static void write_scene_text(const struct scene_settings *p, char out[8192])
{
    tact_number_print(out, 8192, text, p->wall, mass, inertia, inertia, inertia, p->coupling,
                      p->turn_coupling, p->base, p->device, p->along, p->limit, p->along, p->limit,
                      p->along, p->limit, p->about, p->more);
}

struct tick_values {
    double x[AXES], force[AXES], q[AXES], v[AXES], sent[AXES], energy[AXES], wall[AXES];
};

static void simulate_scene(const struct scene_settings *p, int ticks, struct tick_values *values)
{
    static const char *const coordinates[AXES] = {"x", "y", "z", "rx", "ry", "rz"};
    char scene[8192];
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    struct tact_log *log;
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = log_path;
    options.replace = 1;
    options.ticks = (uint64_t)ticks;
    write_scene_text(p, scene);
    run_session_of_scene_text(scene, &options, &report);
    assert_int_equal(report.faults, 0);
    assert_int_equal(tact_log_open(log_path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long input = tact_log_field(log, "arm_input", NULL) + 2,
               q = tact_log_field(log, "tool_position", NULL),
               v = tact_log_field(log, "tool_velocity", NULL),
               sent = tact_log_field(log, "outputs_sent", NULL),
               wall = tact_log_field(log, "wall_tool_base_wrench", NULL);
    for (int k = 0; k < ticks; k++) {
        assert_true(tact_log_next(log, record) > 0);
        for (int i = 0; i < AXES; i++) {
            char name[64];
            snprintf(name, sizeof name, "tool_base_%s_admittance", coordinates[i]);
            const double *from = record->values;
            values[k].x[i] = from[input + i];
            values[k].force[i] = from[input + AXES + i];
            values[k].q[i] = from[q + i];
            values[k].v[i] = from[v + i];
            values[k].sent[i] = from[sent + i];
            values[k].energy[i] = from[tact_log_field(log, name, NULL) + 4];
            values[k].wall[i] = wall < 0 ? 0.0 : from[wall + i];
        }
    }
    free(record);
    tact_log_close(log);
}

/* Forces and torques at random, which do not change: each coordinate is that of a mass, or of the
 * inertia of a ball, with its damper, implicit; the base turns about the axis of the torque. The
 * device is sent these speeds, ramped in, and its ports have the work of the person. */
static void pushed_base_moves_as_a_damped_body(void **state)
{
    (void)state;
    static struct tick_values values[TICKS];
    for (int trial = 0; trial < 3; trial++) {
        double f[AXES], v[AXES] = {0.0}, q[AXES] = {0.0}, worst = 0.0, sent = 0.0, work = 0.0;
        char push[512];
        for (int i = 0; i < AXES; i++) {
            f[i] = uniform(-1.0, 1.0) * (i < 3 ? 1.0 : 0.02);
        }
        tact_number_print(push, sizeof push,
                          "push: [[0, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]]", f[0], f[1], f[2],
                          f[3], f[4], f[5]);
        const struct scene_settings p = {
            9.0, "damping: 3", "damping: 0.02", "", push, "rate", "rate", 5.0, ""};
        simulate_scene(&p, TICKS, values);
        for (int k = 0; k < TICKS; k++) {
            for (int i = 0; i < AXES; i++) {
                const double m = i < 3 ? mass : inertia, b = i < 3 ? damping : turn_damping;
                v[i] = (m * v[i] + period * (k ? f[i] : 0.0)) / (m + period * b);
                q[i] += period * v[i];
                worst = fmax(worst, fabs(values[k].v[i] - v[i]));
                /* beyond half a turn the rotation vector is another one */
                worst = fmax(worst, i < 3 || tact_v3_norm(q + 3) < 3.0 ? fabs(values[k].q[i] - q[i])
                                                                       : 0.0);
                sent = fmax(sent, fabs(values[k].sent[i] -
                                       fmin(1.0, (k + 1.0) / RAMP_TICKS) * values[k].v[i]));
                work += k ? f[i] * (values[k].x[i] - values[k - 1].x[i]) : 0.0;
            }
        }
        for (int i = 0; i < AXES; i++) {
            work -= values[TICKS - 1].energy[i];
        }
        print_message("%.3f m and %.2f rad: off by %.1e, sent %.1e, ports %.1e J\n",
                      tact_v3_norm(q), tact_v3_norm(q + 3), worst, sent, work);
        assert_true(worst < 1e-13 && sent < 1e-14 && fabs(work) < 1e-12);
        check_replays_of_log(log_path, TICKS, 749, 1);
    }
}

/* A speed over its limit keeps its direction. */
static void speeds_of_a_pushed_base_are_limited_by_norm(void **state)
{
    (void)state;
    static struct tick_values values[TICKS];
    const struct scene_settings p = {9.0,
                                     "damping: 3",
                                     "damping: 0.02",
                                     "",
                                     "push: [[0, 0.9, -0.6, 0.3, 0, 0, 0]]",
                                     "rate",
                                     "rate",
                                     0.1,
                                     ""};
    simulate_scene(&p, TICKS, values);
    const double *v = values[TICKS - 1].v, *sent = values[TICKS - 1].sent;
    double across[3];
    tact_v3_cross(across, v, sent);
    print_message("%.4f m/s, sent %.17g, across by %.1e\n", tact_v3_norm(v), tact_v3_norm(sent),
                  tact_v3_norm(across));
    assert_true(tact_v3_norm(v) > 0.3 && fabs(tact_v3_norm(sent) - 0.1) < 1e-15);
    assert_true(tact_v3_norm(across) < 1e-16);
}

/* A hand goes 20 mm past a wall that a tip beside the middle of the tool meets: at rest force and
 * torque that the device measures are those of the wall, about the origin of the base, and nothing
 * rattles. */
static void person_feels_force_and_torque_of_a_wall(void **state)
{
    (void)state;
    enum { PRESS_TICKS = 3000 };
    static const double hands[3][2] = {{100.0, 2.0}, {300.0, 10.0}, {1000.0, 40.0}};
    static struct tick_values values[PRESS_TICKS];
    for (int i = 0; i < 3; i++) {
        char device[512];
        const struct scene_settings p = {
            0.04, "damping: 3", "damping: 0.02", "", device, "rate", "rate", 1.0, ""};
        tact_number_print(device, sizeof device,
                          "hand: trajectory, hand_file: %s/press.csv, hand_time: t, "
                          "hand_interpolation: linear, "
                          "hand_stiffness: [%g, %g, %g, 1, 1, 1], "
                          "hand_damping: [%g, %g, %g, 0.05, 0.05, 0.05]",
                          folder, hands[i][0], hands[i][0], hands[i][0], hands[i][1], hands[i][1],
                          hands[i][1]);
        simulate_scene(&p, PRESS_TICKS, values);
        const struct tick_values *last = &values[PRESS_TICKS - 1];
        const double tip[3] = {0.02, 0.015, 0.0};
        double off = 0.0, largest_sent_rate = 0.0, quat[4], arm[3], moment[3];
        tact_quat_from_rotvec(quat, last->q + 3);
        tact_quat_rotate(arm, quat, tip);
        arm[0] += 0.01;
        tact_v3_cross(moment, arm, last->wall);
        for (int k = 0; k < AXES; k++) {
            const double wall = last->wall[k] + (k < 3 ? 0.0 : moment[k - 3]);
            off = fmax(off, fabs(last->force[k] - wall));
            largest_sent_rate = fmax(largest_sent_rate, fabs(last->sent[k]));
        }
        print_message("%g N/m: pressed by %.3f N and %.4f N m, out of balance by %.1e, %.1e m/s or "
                      "rad/s left\n",
                      hands[i][0], tact_v3_norm(last->force), tact_v3_norm(last->force + 3), off,
                      largest_sent_rate);
        assert_true(tact_v3_norm(last->force) > 1.0 && tact_v3_norm(last->force + 3) > 0.01);
        assert_true(off < 1e-6 && largest_sent_rate < 1e-6);
    }
}

static void bad_pushed_bases_are_refused(void **state)
{
    (void)state;
    static const char fine[] = "damping: 3", fine_turn[] = "damping: 0.02";
    static const struct {
        struct scene_settings parts;
        const char *key, *expected;
    } bad[] = {
        {{9, "stiffness: 100, damping: 3", fine_turn, "", "lag: 0", "rate", "rate", 1, ""},
         "hands[0].base.coupling.stiffness",
         "damping\" alone"},
        {{9, fine, "axis_damping: [1, 2, 3]", "", "lag: 0", "rate", "rate", 1, ""},
         "hands[0].base.turn_coupling.axis_damping",
         "damping\" alone"},
        {{9, "damping: 0", fine_turn, "", "lag: 0", "rate", "rate", 1, ""},
         "hands[0].base.coupling.damping",
         "over 0"},
        {{9, fine, fine_turn, "turn_limit: 1", "lag: 0", "rate", "rate", 1, ""},
         "hands[0].base.turn_limit",
         "force limit"},
        {{9, fine, fine_turn, "", "control: rate", "rate", "rate", 1, ""}, "", "twice"},
        {{9, fine, fine_turn, "", "lag: 0", "rate", "position", 1, ""},
         "outputs[3].what",
         "no sum of angles"},
        {{9, fine, fine_turn, "", "lag: 0", "rate", "rate", 1,
          "tools: [{hand: tool, device: arm, position: [x, y, z]}]\n"},
         "tools[0].hand",
         "inputs[0] already moves tool.base_x by a measured force"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char scene[8192];
        struct tact_error err = {.line = 0};
        struct tact_scene *out = NULL;
        write_scene_text(&bad[i].parts, scene);
        const int rc = tact_scene_parse(scene, strlen(scene), "bad.yaml", NULL, &out, &err);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_int_equal(rc, -EINVAL);
        assert_non_null(strstr(err.text, bad[i].expected));
        assert_true(!bad[i].key[0] || !strcmp(err.key, bad[i].key));
    }
}

static int make_test_folder(void **state)
{
    (void)state;
    static const char content[] =
        "t,x,y,z,rx,ry,rz\n0,0,0,0,0,0,0\n0.3,0,0,0,0,0,0\n0.6,0.03,0,0,0,0,0\n9,0.03,0,0,0,0,0\n";
    const int rc = make_folder_with_file(folder, "press.csv", content);
    snprintf(log_path, sizeof log_path, "%s/pushed.mcap", folder);
    return rc;
}

static int remove_test_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"press.csv", "pushed.mcap"};
    return remove_folder_with_files(folder, files, sizeof files / sizeof *files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_base_moves_as_a_damped_body),
        cmocka_unit_test(speeds_of_a_pushed_base_are_limited_by_norm),
        cmocka_unit_test(person_feels_force_and_torque_of_a_wall),
        cmocka_unit_test(bad_pushed_bases_are_refused),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
