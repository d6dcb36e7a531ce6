/* A session stepped by the program's own loop: the same bits as in tact's loop, a controller
 * whose targets a replay reads from the log, and faults that can be cleared once their cause
 * has ended. */
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
#include "contact/elementary.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "support/run_scene.h"

#define FIRST_LOG_PATH TACT_BINARY_DIR "/step_a.mcap"
#define SECOND_LOG_PATH TACT_BINARY_DIR "/step_b.mcap"

/* A finger above a ball on a floor, with a glove as haptic device whose switch is the deadman. */
#define GLOVE_SCENE_YAML(more)                                                                     \
    "name: step\n"                                                                                 \
    "materials: [{name: m}]\n"                                                                     \
    "pairs: [{materials: [m, m], friction: 0.5}]\n"                                                \
    "bodies:\n"                                                                                    \
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: m}]}\n"                   \
    "  - {name: ball, mass: 0.1, position: [0, 0, 0.00998],\n"                                     \
    "     shapes: [{type: sphere, radius: 0.01, material: m}]}\n"                                  \
    "hands:\n"                                                                                     \
    "  - name: h\n"                                                                                \
    "    links:\n"                                                                                 \
    "      - {name: a, mass: 0.1, inertia: [0.01, 0.01, 0.01, 0, 0, 0],\n"                         \
    "         joint: {type: hinge, axis: [0, 1, 0], position: [0.3, 0, 0.03], stiffness: 1, "      \
    "damping: 0.1},\n"                                                                             \
    "         shapes: [{type: sphere, radius: 0.01, position: [-0.3, 0, 0], material: m}]}\n"      \
    "devices: [{name: glove, type: glove}]\n"                                                      \
    "outputs: [{from: h.a, to: glove.felt, limit: 10, rate: 1e5}]\n"                               \
    "moments: {source: host}\n" more

static int deadman = 1; /* the glove's switch */
static double last_written_output;
static int device_write_count;

static void read_glove_device(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    (void)self, (void)tick, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = deadman;
}

static void write_glove_device(void *self, const double *out, int64_t now)
{
    (void)self, (void)now;
    last_written_output = out[0];
    device_write_count++;
}

static void close_glove_device(void *self)
{
    (void)self;
}

static int open_glove_device(const struct tact_device_config *config, struct tact_device *out,
                             struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_glove_device,
                                               write_glove_device, close_glove_device};
    (void)err;
    assert_ptr_equal(config->user, &device_write_count);
    out->ops = &ops;
    out->info.input_count = out->info.output_count = 1;
    strcpy(out->info.input[0].name, "switch");
    strcpy(out->info.output[0].name, "felt");
    return 0;
}

static const struct tact_device_type glove_device_type = {
    TACT_ABI(struct tact_device_type), "glove", "a glove", open_glove_device, &device_write_count};
static const struct tact_device_type *const types[] = {&glove_device_type};

struct rig {
    struct tact_scene *scene;
    struct tact_session *session;
    double
        nonfinite_controller_target; /* target of the controller where it is not 0, such as NaN */
    uint64_t between_ticks_callback_count;
};

/* Controller that moves the finger onto the ball and back. */
static void press_and_release_ball_by_controller(void *user, const struct tact_session_state *state,
                                                 double *target)
{
    struct rig *rig = user;
    assert_int_equal(state->tick, rig->between_ticks_callback_count++);
    assert_int_equal(state->joint_count, 1);
    assert_true(isfinite(state->q[0]) && isfinite(state->v[0]) && isfinite(state->torque[0]));
    target[0] = rig->nonfinite_controller_target != 0.0 ? rig->nonfinite_controller_target
                                                        : -0.3 * tact_sin(20.0 * state->time);
}

static void open_stepped_session(struct rig *rig, const char *text, int clock, const char *log)
{
    struct tact_session_options options = tact_session_options_default();
    *rig = (struct rig){.between_ticks_callback_count = 0};
    options.types = types;
    options.type_count = 1;
    options.clock = clock;
    options.ticks = 200;
    options.record = log;
    options.replace = 1;
    options.control = press_and_release_ball_by_controller;
    options.control_user = rig;
    deadman = 1;
    device_write_count = 0;
    open_session_of_scene_text(text, &options, &rig->scene, &rig->session);
}

static void close_stepped_session(struct rig *rig)
{
    tact_session_destroy(rig->session);
    tact_scene_free(rig->scene);
}

/* Steps `ticks` ticks; returns the number of the last. */
static struct tact_session_status step_session(struct rig *rig, int ticks)
{
    struct tact_session_status status = {.tick = 0};
    for (int i = 0; i < ticks; i++) {
        assert_int_equal(tact_session_step(rig->session, 0, &status), 0);
    }
    return status;
}

/* Compares all values that are computed from state and inputs, and the inputs except their
 * stamps. */
static void expect_equal_logs(const char *a, const char *b, uint64_t ticks)
{
    struct tact_error err = {0};
    struct tact_log *log[2];
    struct tact_record *r[2];
    assert_int_equal(tact_log_open(a, &log[0], &err), 0);
    assert_int_equal(tact_log_open(b, &log[1], &err), 0);
    const struct tact_layout *layout = tact_log_layout(log[0]);
    assert_true(tact_layout_equal(layout, tact_log_layout(log[1])));
    for (int i = 0; i < 2; i++) {
        r[i] = malloc(tact_layout_bytes(layout));
    }
    for (uint64_t k = 0; k < ticks; k++) {
        assert_int_equal(tact_log_next(log[0], r[0]), 1);
        assert_int_equal(tact_log_next(log[1], r[1]), 1);
        assert_int_equal(r[0]->tick, r[1]->tick);
        for (uint32_t i = 0; i < layout->field_count; i++) {
            const struct tact_field *f = &layout->fields[i];
            const int stamp = strstr(f->name, "glove_input") != NULL;
            if (f->kind != TACT_FIELD_TIMING && !stamp) {
                assert_memory_equal(&r[0]->values[f->offset], &r[1]->values[f->offset],
                                    f->count * sizeof(double));
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tact_log_next(log[i], r[i]), 0);
        free(r[i]);
        tact_log_close(log[i]);
    }
}

static void expect_identical_replay(const char *log, uint64_t ticks)
{
    struct tact_replay_report report;
    struct tact_error err = {0};
    assert_int_equal(tact_replay_run(log, (struct tact_messages){0}, &report, &err), 0);
    assert_int_equal(report.ticks, ticks);
    if (report.differing) {
        fail_msg("tick %d: %s", (int)report.first_tick, report.first_field);
    }
}

/* Stepping gives the bits of a run with either clock, whatever times the program passes. */
static void stepped_session_has_the_bits_of_a_run(void **state)
{
    (void)state;
    struct rig rig;
    struct tact_session_report report;
    open_stepped_session(&rig, GLOVE_SCENE_YAML("deadman: glove.switch\n"), TACT_LOOP_FREE,
                         FIRST_LOG_PATH);
    assert_int_equal(tact_session_run(rig.session, &report), 0);
    assert_true(report.contacts_max > 1);
    close_stepped_session(&rig);
    expect_identical_replay(FIRST_LOG_PATH, 200);
    for (int clock = TACT_LOOP_REAL; clock <= TACT_LOOP_FREE; clock++) {
        struct tact_session_status status = {0};
        open_stepped_session(&rig, GLOVE_SCENE_YAML("deadman: glove.switch\n"), clock,
                             SECOND_LOG_PATH);
        assert_int_equal(tact_session_begin(rig.session), 0);
        for (int k = 0; k < 200; k++) {
            const int64_t planned = clock == TACT_LOOP_REAL ? tact_clock_now() - 5000 : 0;
            assert_int_equal(tact_session_step(rig.session, planned, &status), 0);
            assert_int_equal(status.tick, k);
            assert_true(clock == TACT_LOOP_FREE || status.wake_ns >= 5000);
        }
        assert_int_equal(status.safety, TACT_SAFETY_ARMED);
        assert_int_equal(tact_session_end(rig.session, &report), 0);
        assert_int_equal(report.loop.executed, 200);
        assert_int_equal(report.loop.compute.count, 200);
        assert_int_equal(report.recorder.records, 200);
        assert_int_equal(device_write_count, 201);
        assert_true(last_written_output == 0.0);
        close_stepped_session(&rig);
        expect_equal_logs(FIRST_LOG_PATH, SECOND_LOG_PATH, 200);
    }
}

static void session_calls_out_of_order_are_refused(void **state)
{
    (void)state;
    struct rig rig;
    struct tact_session_report report;
    open_stepped_session(&rig, GLOVE_SCENE_YAML(""), TACT_LOOP_FREE, NULL);
    assert_int_equal(tact_session_step(rig.session, 0, NULL), -EINVAL);
    assert_int_equal(tact_session_end(rig.session, &report), -EINVAL);
    assert_int_equal(tact_session_begin(rig.session), 0);
    assert_int_equal(tact_session_begin(rig.session), -EALREADY);
    assert_int_equal(tact_session_run(rig.session, &report), -EALREADY);
    assert_int_equal(tact_session_clear_fault(rig.session), -EALREADY);
    step_session(&rig, 150);
    assert_true(last_written_output != 0.0);
    close_stepped_session(&rig); /* closing without tact_session_end() also ends the session */
    assert_true(last_written_output == 0.0);
    assert_int_equal(device_write_count, 151);
    open_stepped_session(&rig, GLOVE_SCENE_YAML(""), TACT_LOOP_FREE, NULL);
    assert_int_equal(tact_session_run(rig.session, &report), 0);
    assert_int_equal(tact_session_begin(rig.session), -EALREADY);
    assert_int_equal(tact_session_step(rig.session, 0, NULL), -EINVAL);
    close_stepped_session(&rig);
}

static void session_finds_bodies_and_joints_by_name(void **state)
{
    (void)state;
    struct rig rig;
    open_stepped_session(&rig, GLOVE_SCENE_YAML(""), TACT_LOOP_FREE, NULL);
    assert_int_equal(tact_session_find_body(rig.session, "ball"), 0);
    assert_int_equal(tact_session_find_body(rig.session, "floor"), -ENOENT);
    assert_int_equal(tact_session_find_joint(rig.session, "h.a"), 0);
    assert_int_equal(tact_session_find_joint(rig.session, "h.b"), -ENOENT);
    const int pair = tact_session_find_pair(rig.session, "ball/h.a");
    assert_string_equal(tact_session_pair_name(rig.session, pair), "ball/h.a");
    assert_int_equal(tact_session_find_pair(rig.session, "h.a/ball"), -ENOENT);
    /* Contacts can be read after a step. */
    struct tact_world *world = tact_session_world(rig.session);
    int touched = 0;
    assert_int_equal(tact_session_begin(rig.session), 0);
    for (int k = 0; k < 200; k++) {
        struct tact_session_status status = step_session(&rig, 1);
        double sum = 0.0;
        int count;
        const int *near = tact_world_near(world, &count);
        for (int i = 0; i < count; i++) {
            const struct tact_contact *c = tact_world_contact(world, near[i]);
            touched += c->touching && near[i] == pair;
            sum += c->touching ? c->impulse[0] * 1e3 : 0.0;
        }
        assert_true(fabs(sum - status.normal_force) <= 1e-9 * (1.0 + sum));
    }
    assert_true(touched > 10);
    close_stepped_session(&rig);
}

static void released_deadman_keeps_the_joint_targets(void **state)
{
    (void)state;
    struct rig rig;
    open_stepped_session(&rig, GLOVE_SCENE_YAML("deadman: glove.switch\n"), TACT_LOOP_FREE,
                         FIRST_LOG_PATH);
    struct tact_hand_state hand =
        tact_hand_state(tact_world_hand(tact_session_world(rig.session), 0));
    assert_int_equal(tact_session_begin(rig.session), 0);
    step_session(&rig, 50);
    const double before = hand.target[0];
    assert_true(before != 0.0);
    deadman = 0;
    step_session(&rig, 10);
    assert_true(hand.target[0] == before && last_written_output == 0.0);
    deadman = 1;
    step_session(&rig, 10);
    assert_true(hand.target[0] != before);
    close_stepped_session(&rig);
    expect_identical_replay(FIRST_LOG_PATH, 70);
}

/* Sets a target that is not finite for some ticks. */
static void command_nonfinite_target_for_some_ticks(struct rig *rig)
{
    rig->nonfinite_controller_target = NAN;
    struct tact_session_status status = step_session(rig, 5);
    assert_int_equal(status.safety, TACT_SAFETY_FAULT);
    assert_string_equal(
        status.fault.text,
        "joint h.a: the drive target that the program's controller set is not finite");
    assert_true(last_written_output == 0.0);
    assert_int_equal(tact_session_clear_fault(rig->session), -EBUSY);
    rig->nonfinite_controller_target = 0.0;
    assert_true(tact_session_arm(rig->session) < 0);
    step_session(rig, 1);
    assert_int_equal(tact_session_clear_fault(rig->session), 0);
    status = step_session(rig, 50);
    assert_int_equal(status.safety, TACT_SAFETY_DISARMED);
    assert_true(last_written_output == 0.0);
    assert_int_equal(tact_session_clear_fault(rig->session), -EALREADY);
}

static void cleared_session_fault_waits_for_the_deadman(void **state)
{
    (void)state;
    struct rig rig;
    struct tact_session_report report;
    open_stepped_session(&rig, GLOVE_SCENE_YAML("deadman: glove.switch\n"), TACT_LOOP_FREE,
                         FIRST_LOG_PATH);
    assert_int_equal(tact_session_begin(rig.session), 0);
    step_session(&rig, 50);
    command_nonfinite_target_for_some_ticks(&rig);
    assert_int_equal(tact_session_arm(rig.session), -EPERM);
    deadman = 0;
    step_session(&rig, 1);
    deadman = 1;
    struct tact_session_status status = step_session(&rig, 20);
    assert_int_equal(status.safety, TACT_SAFETY_ARMED);
    assert_true(last_written_output != 0.0);
    command_nonfinite_target_for_some_ticks(&rig);
    assert_int_equal(tact_session_end(rig.session, &report), 0);
    assert_int_equal(report.faults, 2);
    assert_int_equal(report.fault.tick, 50 + 56 + 21);
    assert_int_equal(report.safety, TACT_SAFETY_DISARMED);
    close_stepped_session(&rig);
    expect_identical_replay(FIRST_LOG_PATH, 50 + 56 + 21 + 56);
}

static int count_events(const char *path, const char *name)
{
    struct tact_error err = {0};
    struct tact_log *log;
    int count = 0;
    assert_int_equal(tact_log_open(path, &log, &err), 0);
    for (size_t k = 0; k < tact_log_state(log)->events; k++) {
        count += !strcmp(tact_log_event(log, k)->name, name);
    }
    tact_log_close(log);
    return count;
}

static void cleared_fault_without_deadman_waits_for_arming_by_program(void **state)
{
    (void)state;
    struct rig rig;
    open_stepped_session(&rig, GLOVE_SCENE_YAML(""), TACT_LOOP_FREE, FIRST_LOG_PATH);
    assert_int_equal(tact_session_begin(rig.session), 0);
    step_session(&rig, 50);
    command_nonfinite_target_for_some_ticks(&rig);
    assert_int_equal(tact_session_arm(rig.session), 0);
    struct tact_session_status status = step_session(&rig, 20);
    assert_int_equal(status.safety, TACT_SAFETY_ARMED);
    assert_true(last_written_output != 0.0);
    assert_int_equal(tact_session_arm(rig.session), 0); /* no effect */
    step_session(&rig, 20);
    assert_true(last_written_output != 0.0);
    close_stepped_session(&rig);
    assert_int_equal(count_events(FIRST_LOG_PATH, "fault"), 1);
    assert_int_equal(count_events(FIRST_LOG_PATH, "fault cleared"), 1);
    expect_identical_replay(FIRST_LOG_PATH, 50 + 56 + 40);
}

/* An invalid state remains a fault until the program replaces it. */
static void session_fault_whose_cause_lasts_is_not_cleared(void **state)
{
    (void)state;
    struct rig rig;
    open_stepped_session(&rig, GLOVE_SCENE_YAML(""), TACT_LOOP_FREE, NULL);
    struct tact_body *ball = tact_world_body(tact_session_world(rig.session), 0);
    const struct tact_body valid_body_state = *ball;
    assert_int_equal(tact_session_begin(rig.session), 0);
    step_session(&rig, 5);
    ball->twist[0] = NAN;
    step_session(&rig, 5);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(tact_session_clear_fault(rig.session), -EBUSY);
        step_session(&rig, 1);
    }
    *ball = valid_body_state;
    tact_world_refresh(tact_session_world(rig.session));
    assert_int_equal(step_session(&rig, 1).safety, TACT_SAFETY_FAULT);
    assert_int_equal(tact_session_clear_fault(rig.session), 0);
    assert_int_equal(step_session(&rig, 1).safety, TACT_SAFETY_DISARMED);
    /* The fault is cleared between two ticks, but its cause is present again in the next tick. */
    rig.nonfinite_controller_target = NAN;
    step_session(&rig, 1);
    rig.nonfinite_controller_target = 0.0;
    step_session(&rig, 1);
    assert_int_equal(tact_session_clear_fault(rig.session), 0);
    rig.nonfinite_controller_target = NAN;
    assert_int_equal(step_session(&rig, 1).safety, TACT_SAFETY_FAULT);
    close_stepped_session(&rig);
    remove(FIRST_LOG_PATH);
    remove(SECOND_LOG_PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepped_session_has_the_bits_of_a_run),
        cmocka_unit_test(session_calls_out_of_order_are_refused),
        cmocka_unit_test(session_finds_bodies_and_joints_by_name),
        cmocka_unit_test(released_deadman_keeps_the_joint_targets),
        cmocka_unit_test(cleared_session_fault_waits_for_the_deadman),
        cmocka_unit_test(cleared_fault_without_deadman_waits_for_arming_by_program),
        cmocka_unit_test(session_fault_whose_cause_lasts_is_not_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
