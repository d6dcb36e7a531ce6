/* Joints on hardware in a session: a robot's joint, measured and driven by current, and a haptic
 * joint whose angle is the target of a simulated joint and whose motor exerts the reaction. The
 * hardware is a simulated device of a motor, a link and an encoder. */
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
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "rt/session/session.h"
#include "support/run_scene.h"
#include "support/rewrite.h"

enum { TICKS = 3000 };
enum { ANGLE, WISH, HELD };

static const double period = 1e-3;
static const double inertia = 2e-3; /* [kg m^2] */
static const double stiffness = 8.0;
static const double damping = 0.2;
static const double count = 1e-4; /* resolution of the encoder [rad] */
static const double pi = 3.14159265358979323846;

/* The simulated hardware of a joint: motor, link and encoder. */
static struct rig {
    double q; /* [rad] */
    double v;
    int state;                  /* state of the joint's device as it reports it */
    int is_motor_blocked;       /* 1: the motor does not move the link */
    uint64_t lost[2];           /* interval of ticks in which the device is lost */
    uint64_t stale_interval[2]; /* interval of ticks in which its values are stale */
    uint64_t tick;
    int output_write_count;
    double angle[TICKS]; /* as measured */
    double torque[TICKS];
} rig;

static double scripted_target_angle(double t)
{
    return 0.5 * sin(pi * t) * (t < 1.0 ? t : 1.0);
}

static int is_tick_in_interval(const uint64_t *span, uint64_t tick)
{
    return tick >= span[0] && tick < span[1];
}

static void read_robot_joint(void *self, uint64_t tick, double t, int64_t now,
                             struct tact_device_input *in)
{
    (void)self;
    rig.tick = tick;
    rig.angle[tick] =
        count * nearbyint((rig.is_motor_blocked ? scripted_target_angle(t) : rig.q) / count);
    in->state = is_tick_in_interval(rig.lost, tick)             ? TACT_DEVICE_LOST
                : is_tick_in_interval(rig.stale_interval, tick) ? TACT_DEVICE_STALE
                                                                : TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[ANGLE] = rig.angle[tick];
    in->channel[WISH] = scripted_target_angle(t);
    in->channel[HELD] = 1.0;
}

static void write_robot_joint(void *self, const double *out, int64_t now)
{
    (void)self;
    (void)now;
    /* the last write, after the last tick, only releases the force */
    if (rig.output_write_count++ < TICKS) {
        rig.torque[rig.tick] = out[0];
        rig.v += period * out[0] / inertia;
        rig.q += period * rig.v;
    }
}

static void close_robot_joint(void *self)
{
    (void)self;
}

static int open_robot_joint(const struct tact_device_config *config, struct tact_device *out,
                            struct tact_error *err)
{
    static const char *const names[] = {"angle", "wish", "held"};
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_robot_joint,
                                               write_robot_joint, close_robot_joint};
    (void)config;
    (void)err;
    out->ops = &ops;
    out->info.input_count = 3;
    out->info.output_count = 1;
    for (int i = 0; i < 3; i++) {
        strcpy(out->info.input[i].name, names[i]);
    }
    strcpy(out->info.output[0].name, "torque");
    return 0;
}

/* Torque of the joint's implicit drive [N m]. */
static double torque_of_implicit_drive(double target, double q, double v)
{
    double next = (inertia * v + period * stiffness * (target - q)) /
                  (inertia + period * damping + period * period * stiffness);
    return stiffness * (target - q - period * next) - damping * next;
}

/* A finger that turns about z, and a wall that it touches at about 0.37 rad. */
#define WALL_SCENE_YAML                                                                            \
    "name: rig\n"                                                                                  \
    "materials: [{name: skin}]\n"                                                                  \
    "pairs: [{materials: [skin, skin], friction: 0.5, compliance: 1e-3}]\n"                        \
    "bodies:\n"                                                                                    \
    "  - name: wall\n"                                                                             \
    "    fixed: true\n"                                                                            \
    "    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.1, WALL, 0], material: skin}]\n" \
    "hands:\n"                                                                                     \
    "  - name: hand\n"                                                                             \
    "    weightless: true\n"                                                                       \
    "    links:\n"                                                                                 \
    "      - name: tip\n"                                                                          \
    "        mass: 0.1\n"                                                                          \
    "        center_of_mass: [0, 0, 0]\n"                                                          \
    "        inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0]\n"                                               \
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 8, damping: 0.2}\n"                  \
    "        shapes: [{type: sphere, radius: 0.01, position: [0.1, 0, 0], material: skin}]\n"      \
    "devices: [{name: rig, type: rig}]\n"                                                          \
    "deadman: rig.held\n"

static const char robot_joint_scene[] = WALL_SCENE_YAML
    "inputs:\n"
    "  - {from: rig.angle, to: hand.tip, what: state}\n"
    "  - {from: rig.wish, to: hand.tip}\n"
    "outputs: [{from: hand.tip, to: rig.torque, what: drive, limit: 50, rate: 1e6}]\n";
static const char haptic_joint_scene[] =
    WALL_SCENE_YAML "inputs: [{from: rig.angle, to: hand.tip}]\n"
                    "outputs: [{from: hand.tip, to: rig.torque, limit: 50, rate: 1e6}]\n";

/* Runs a scene with the wall at y = `wall`, free-wheeling, into a log. */
static void run_joint_scene(const char *text, const char *wall, char *log)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "rig",
                                                 "a motor and an encoder", open_robot_joint, NULL};
    static const struct tact_device_type *const types[] = {&type};
    char scene_text[4096];
    struct tact_session_report report;
    const char *at = strstr(text, "WALL");
    snprintf(scene_text, sizeof scene_text, "%.*s%s%s", (int)(at - text), text, wall, at + 4);
    rig.q = rig.v = 0.0;
    strcpy(log, "/tmp/tact_joint_XXXXXX");
    close(mkstemp(log));
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    options.ticks = TICKS;
    options.record = log;
    options.replace = 1;
    run_session_of_scene_text(scene_text, &options, &report);
}

/* Copies a log without the ticks from `from` to before `to`. */
static void copy_log_without_ticks(const char *path, uint64_t from, uint64_t to,
                                   const char *copied_log_path)
{
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_log *log;
    struct tact_recorder *out = NULL;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    struct tact_recorder_options options = tact_recorder_options_default();
    options.replace = 1;
    struct log_rewrite log_rewrite;
    assert_int_equal(open_recorder_of_log_copy(&log_rewrite, log), 0);
    struct tact_recorder_content content = recorder_content_of_log_copy(&log_rewrite);
    content.attachments = tact_log_attachment_at(log, 0);
    content.attachment_count = tact_log_attachment_count(log);
    assert_int_equal(
        tact_recorder_open(copied_log_path, &options, &content, no_messages, &out, NULL), 0);
    while (tact_log_next(log, record) > 0) {
        if (record->tick < from || record->tick >= to) {
            assert_int_equal(append_record_to_log_copy(&log_rewrite, record, out), 0);
        }
    }
    assert_int_equal(tact_recorder_close(out, NULL), 0);
    free_log_copy_buffers(&log_rewrite);
    tact_log_close(log);
    free(record);
}

/* Replays a log bit for bit, also where 100 ticks in the middle of a motion are missing. */
static void expect_identical_replay(const char *log)
{
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_replay_report report;
    char copied_log_path[80];
    assert_int_equal(tact_replay_run(log, no_messages, &report, NULL), 0);
    assert_int_equal(report.ticks, TICKS);
    assert_int_equal(report.differing, 0);
    snprintf(copied_log_path, sizeof copied_log_path, "%s_cut", log);
    copy_log_without_ticks(log, 1300, 1400, copied_log_path);
    assert_int_equal(tact_replay_run(copied_log_path, no_messages, &report, NULL), 0);
    assert_int_equal(report.ticks, TICKS - 101);
    if (report.differing) {
        fail_msg("tick %lu, %s: %.17g, replayed %.17g", (unsigned long)report.first_tick,
                 report.first_field, report.logged, report.replayed);
    }
    unlink(copied_log_path);
    unlink(log);
}

/* The implicit drive acts on the measured angle and its difference; compared with the same joint
 * simulated without a session and an encoder. */
static void robot_joint_follows_its_drive(void **unused)
{
    char log[64];
    (void)unused;
    memset(&rig, 0, sizeof rig);
    run_joint_scene(robot_joint_scene, "1", log);
    struct rig rig_without_wall = {0};
    double ramp = 0.0, worst = 0.0, most = 0.0, apart = 0.0;
    for (int tick = 0; tick < TICKS; tick++) {
        double target = scripted_target_angle(tick * period);
        ramp = fmin(1.0, ramp + period / 0.2);
        double rate = tick ? (rig.angle[tick] - rig.angle[tick - 1]) / period : 0.0;
        double torque = ramp * torque_of_implicit_drive(target, rig.angle[tick], rate);
        worst = fmax(worst, fabs(rig.torque[tick] - torque));
        most = fmax(most, fabs(rig.torque[tick]));
        apart = fmax(apart, fabs(rig.angle[tick] - rig_without_wall.q));
        rig_without_wall.v +=
            period * ramp *
            torque_of_implicit_drive(target, rig_without_wall.q, rig_without_wall.v) / inertia;
        rig_without_wall.q += period * rig_without_wall.v;
    }
    print_message("robot joint: torque to %.3f N m, within %.1e of the drive's law; angle within "
                  "%.2f counts of a joint without encoder\n",
                  most, worst, apart / count);
    assert_true(most > 0.01);
    assert_true(worst < 1e-9);
    assert_true(apart < 3.0 * count);
    expect_identical_replay(log);
}

/* The robot's finger is at the wall: the contact force is that of the measured angle, and the
 * simulated joint stays at it. */
static void robot_joint_presses_by_its_measured_angle(void **unused)
{
    char log[64];
    struct tact_log *reader;
    (void)unused;
    memset(&rig, 0, sizeof rig);
    rig.is_motor_blocked = 1;
    run_joint_scene(robot_joint_scene, "0.1", log);
    assert_int_equal(tact_log_open(log, &reader, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(reader)));
    long measured = tact_log_field(reader, "hand_tip_measured", NULL);
    long pair = -1;
    for (uint32_t i = 0; i < tact_log_layout(reader)->field_count; i++) {
        const struct tact_field *f = &tact_log_layout(reader)->fields[i];
        pair = strstr(f->name, "_wrench") ? (long)f->offset : pair;
    }
    assert_true(measured >= 0 && pair >= 0);
    int touching = 0;
    while (tact_log_next(reader, record) > 0) {
        double angle = rig.angle[record->tick];
        assert_true(record->values[measured] == angle);
        if (record->tick) {
            double rate = (angle - rig.angle[record->tick - 1]) / (1.0 * period);
            assert_true(fabs(record->values[measured + 1] - rate) < 1e-9);
        }
        touching += fabs(record->values[pair + 1]) > 0.0;
    }
    assert_in_range(touching, 100, TICKS / 2);
    tact_log_close(reader);
    free(record);
    expect_identical_replay(log);
}

/* The motor of a haptic joint exerts minus the torque of the drive that couples the simulated
 * joint to its angle. */
static void haptic_joint_feels_the_reaction(void **unused)
{
    char log[64];
    struct tact_log *reader;
    (void)unused;
    memset(&rig, 0, sizeof rig);
    rig.is_motor_blocked = 1;
    run_joint_scene(haptic_joint_scene, "0.1", log);
    assert_int_equal(tact_log_open(log, &reader, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(reader)));
    long q = tact_log_field(reader, "hand_position", NULL);
    long v = tact_log_field(reader, "hand_velocity", NULL);
    double worst = 0.0, most = 0.0, deepest = 0.0;
    while (tact_log_next(reader, record) > 0) {
        uint64_t tick = record->tick;
        double ramp = fmin(1.0, (double)(tick + 1) * period / 0.2);
        double coupling =
            stiffness * (rig.angle[tick] - record->values[q]) -
            damping * record->values[v]; /* implicit: with the velocity at the end of the tick */
        worst = fmax(worst, fabs(rig.torque[tick] + ramp * coupling));
        most = fmax(most, -rig.torque[tick]);
        deepest = fmax(deepest, record->values[q]);
    }
    print_message("haptic joint: reaction to %.2f N m at angle %.3f, within %.1e of the coupling\n",
                  -most, deepest, worst);
    assert_true(worst < 1e-9);
    assert_true(most > 0.3); /* the finger is pushed away from the wall */
    /* the finger does not penetrate the wall, although the hand's angle does */
    assert_true(deepest < 0.48);
    tact_log_close(reader);
    free(record);
    expect_identical_replay(log);
}

/* The motor's torque is zero in the tick in which the encoder is lost or stale, and ramps up once
 * it is back. */
static void lost_joint_encoder_releases_the_torque(void **unused)
{
    (void)unused;
    for (int are_encoder_values_stale_not_lost = 0; are_encoder_values_stale_not_lost < 2;
         are_encoder_values_stale_not_lost++) {
        char log[64];
        memset(&rig, 0, sizeof rig);
        uint64_t *span = are_encoder_values_stale_not_lost ? rig.stale_interval : rig.lost;
        span[0] = 1960; /* interval while the joint is fast and away from its target */
        span[1] = 2100;
        /* the target equals the link's angle, so that only its speed causes a torque */
        rig.is_motor_blocked = 1;
        run_joint_scene(robot_joint_scene, "1", log);
        double full = fabs(rig.torque[1950]);
        assert_true(full > 0.2);
        for (uint64_t tick = span[0]; tick < span[1]; tick++) {
            assert_true(rig.torque[tick] == 0.0);
        }
        assert_true(fabs(rig.torque[span[1]]) < 0.02);
        double last = 0.0;
        for (uint64_t tick = span[1]; tick < span[1] + 200; tick++) {
            assert_true(fabs(rig.torque[tick] - last) < 0.04); /* the torque has no step */
            last = rig.torque[tick];
        }
        expect_identical_replay(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robot_joint_follows_its_drive),
        cmocka_unit_test(robot_joint_presses_by_its_measured_angle),
        cmocka_unit_test(haptic_joint_feels_the_reaction),
        cmocka_unit_test(lost_joint_encoder_releases_the_torque),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
