/* Forces on a person's fingers in failures: a device that is lost and returns, values that are
 * stale or not finite, a released deadman, the end of the session. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/session/report.h"
#include "rt/session/session.h"
#include "support/run_scene.h"
#include "support/script_device.h"

#define TICKS 2000
#define RULER_PRESSED_TICK 1000         /* tick by which the fingers press the ruler */
#define RULER_OUTPUT_LIMIT 2.0          /* limit of every output in ruler.yaml [N m] */
#define ALLOWED_OUTPUT_STEP_IN_TICK 0.5 /* largest change of an output in a tick [N m] */

/* A simulated haptic glove whose values a function sets in each tick, and which stores what is
 * written to it. */
static struct {
    void (*set_values)(uint64_t tick, struct tact_device_input *in);
    double sent[TICKS + 1][4];
    int64_t stamp[TICKS + 1];
    int write_count;
    int closed;
} glove;

static const char *const inputs[] = {"grip", "turn", "lift", "deadman"};

static void read_glove_device(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    (void)self;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = fmin(1.0, fmax(0.0, (t - 0.1) / 0.5));
    in->channel[1] = in->channel[2] = 0.0;
    in->channel[3] = 1.0;
    glove.set_values(tick, in);
}

static void write_glove_device(void *self, const double *out, int64_t now)
{
    (void)self;
    assert_true(glove.write_count <= TICKS);
    memcpy(glove.sent[glove.write_count], out, sizeof glove.sent[0]);
    glove.stamp[glove.write_count++] = now;
}

static void close_glove_device(void *self)
{
    (void)self;
    glove.closed++;
}

static int open_glove_device(const struct tact_device_config *config, struct tact_device *out,
                             struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_glove_device,
                                               write_glove_device, close_glove_device};
    (void)config;
    (void)err;
    out->ops = &ops;
    out->info.input_count = out->info.output_count = 4;
    for (int i = 0; i < 4; i++) {
        strcpy(out->info.input[i].name, inputs[i]);
        snprintf(out->info.output[i].name, sizeof out->info.output[i].name, "felt_%d", i);
    }
    return 0;
}

/* A second device, not used by the scene, that is lost in a given interval. */
static struct {
    uint64_t from, to;
} lost_interval;

static void read_second_device(void *self, uint64_t tick, double t, int64_t now,
                               struct tact_device_input *in)
{
    (void)self;
    (void)t;
    in->state =
        tick >= lost_interval.from && tick < lost_interval.to ? TACT_DEVICE_LOST : TACT_DEVICE_OK;
    in->stamp_ns = now;
}

static int open_second_device(const struct tact_device_config *config, struct tact_device *out,
                              struct tact_error *err)
{
    (void)config;
    (void)err;
    return open_script_device(read_second_device, "nothing", out);
}

/* Runs the ruler with the glove, and checks what must be true whatever its values. */
static void run_session_with_glove(void (*set_values)(uint64_t, struct tact_device_input *),
                                   struct tact_session_report *report, char **json)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "glove",
                                                 "a glove", open_glove_device, NULL};
    static const struct tact_device_type other = {TACT_ABI(struct tact_device_type), "other",
                                                  "another device", open_second_device, NULL};
    static const struct tact_device_type *const types[] = {&type, &other};
    const struct edit edits[] = {{"type: operator", "type: glove"},
                                 {"    settings:\n", "    settings: {}\n#"},
                                 {"        - [0.0, 0, 0, 0]\n", ""},
                                 {"        - [0.1, 0, 0, 0]\n", ""},
                                 {"        - [0.6, 1, 0, 0]\n", ""},
                                 {"      script:", "#"},
                                 {"devices:\n", "devices:\n  - {name: other, type: other}\n"},
                                 {NULL, NULL}};
    char *text = load_scene_text_with_edits("ruler.yaml", edits);
    struct tact_error err = {0};
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_session_options options = tact_session_options_default();
    memset(&glove, 0, sizeof glove);
    glove.set_values = set_values;
    options.types = types;
    options.type_count = 2;
    options.clock = TACT_LOOP_FREE;
    options.ticks = TICKS;
    int rc = tact_scene_parse(text, strlen(text), "glove.yaml", NULL, &scene, &err);
    rc = rc ? rc : tact_session_create(scene, &options, &session, &err);
    if (rc) {
        fail_msg("%d: %s: %s", err.line, err.key, err.text);
    }
    assert_int_equal(tact_session_run(session, report), 0);
    if (json) {
        *json = tact_session_report_json(session, report);
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
    free(text);
    assert_int_equal(glove.closed, 1);
    /* one write in each tick, and one of zeros at the end */
    assert_int_equal(glove.write_count, TICKS + 1);
    for (int i = 0; i <= TICKS; i++) {
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(glove.sent[i][k]) <= RULER_OUTPUT_LIMIT);
            assert_true(i < TICKS || glove.sent[i][k] == 0.0);
        }
    }
    assert_true(glove.stamp[TICKS] > 0);
}

static double largest_glove_torque_at(int tick)
{
    double most = 0.0;
    for (int k = 0; k < 4; k++) {
        most = fmax(most, fabs(glove.sent[tick][k]));
    }
    return most;
}

static void leave_input_unchanged(uint64_t tick, struct tact_device_input *in)
{
    (void)tick;
    (void)in;
}

static void glove_feels_the_grip_and_is_released_at_the_end(void **state)
{
    (void)state;
    struct tact_session_report report;
    run_session_with_glove(leave_input_unchanged, &report, NULL);
    /* about 4 N at an arm of about 4 cm [N m] */
    assert_true(largest_glove_torque_at(RULER_PRESSED_TICK) > 0.05);
    assert_true(largest_glove_torque_at(TICKS - 1) > 0.05);
    assert_int_equal(report.safety, TACT_SAFETY_ARMED);
}

static void release_deadman_input(uint64_t tick, struct tact_device_input *in)
{
    in->channel[3] = tick < 1200 || tick >= 1500;
}

static void released_deadman_zeroes_the_glove_force_at_once(void **state)
{
    (void)state;
    struct tact_session_report report;
    run_session_with_glove(release_deadman_input, &report, NULL);
    assert_true(largest_glove_torque_at(1199) > 0.05);
    for (int i = 1200; i < 1500; i++) {
        assert_true(largest_glove_torque_at(i) == 0.0);
    }
    assert_true(largest_glove_torque_at(1500) < 0.02); /* the ramp takes 0.2 s */
    assert_true(largest_glove_torque_at(1800) > 0.05);
}

static void set_device_input_state_stale(uint64_t tick, struct tact_device_input *in)
{
    in->state = tick >= 1200 && tick < 1500 ? TACT_DEVICE_STALE : TACT_DEVICE_OK;
}

/* With stale values the deadman may have been released without notice. */
static void stale_device_values_release_the_deadman(void **state)
{
    (void)state;
    struct tact_session_report report;
    run_session_with_glove(set_device_input_state_stale, &report, NULL);
    assert_true(largest_glove_torque_at(1199) > 0.05);
    for (int i = 1200; i < 1500; i++) {
        assert_true(largest_glove_torque_at(i) == 0.0);
    }
    assert_true(largest_glove_torque_at(1800) > 0.05);
}

static void set_device_input_state_lost(uint64_t tick, struct tact_device_input *in)
{
    in->state = tick >= 1200 && tick < 1500 ? TACT_DEVICE_LOST : TACT_DEVICE_OK;
}

static void lost_device_gets_zero_force(void **state)
{
    (void)state;
    struct tact_session_report report;
    run_session_with_glove(set_device_input_state_lost, &report, NULL);
    for (int i = 1200; i < 1500; i++) {
        assert_true(largest_glove_torque_at(i) == 0.0);
    }
    for (int i = 1500; i < TICKS; i++) {
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(glove.sent[i][k] - glove.sent[i - 1][k]) <=
                        ALLOWED_OUTPUT_STEP_IN_TICK + 1e-12);
        }
    }
    assert_true(largest_glove_torque_at(1500) < 0.02);
    assert_true(largest_glove_torque_at(1800) > 0.05);
}

/* While any device is lost, no output is armed, as the user would act without its feedback. A
 * device that is lost once outputs are armed zeroes only its own. */
static void outputs_are_not_armed_while_a_device_is_lost(void **state)
{
    (void)state;
    struct tact_session_report report;
    lost_interval.from = 0;
    lost_interval.to = 1200;
    run_session_with_glove(leave_input_unchanged, &report, NULL);
    for (int i = 0; i < 1200; i++) {
        assert_true(largest_glove_torque_at(i) == 0.0);
    }
    assert_true(largest_glove_torque_at(1200) < 0.02); /* then a ramp of 0.2 s */
    assert_true(largest_glove_torque_at(1500) > 0.05);
    lost_interval.from = 1200;
    lost_interval.to = 1500;
    run_session_with_glove(leave_input_unchanged, &report, NULL);
    for (int i = RULER_PRESSED_TICK; i < TICKS; i++) {
        assert_true(largest_glove_torque_at(i) > 0.05);
    }
    run_session_with_glove(release_deadman_input, &report, NULL); /* at 1200 to 1500 */
    assert_true(largest_glove_torque_at(1800) > 0.05);
    lost_interval.to = 1700; /* after a release outputs are armed only once the device is back */
    run_session_with_glove(release_deadman_input, &report, NULL);
    for (int i = 1200; i < 1700; i++) {
        assert_true(largest_glove_torque_at(i) == 0.0);
    }
    assert_true(largest_glove_torque_at(1950) > 0.05);
    lost_interval.from = lost_interval.to = 0;
}

static void set_device_input_values_to_nan(uint64_t tick, struct tact_device_input *in)
{
    if (tick >= 1200 && tick < 1300) {
        in->channel[0] = NAN;
        in->channel[1] = INFINITY;
    }
}

/* The fingers keep their last targets: the grip is not lost, and no value that is not finite
 * enters the simulation. */
static void nonfinite_device_values_are_ignored(void **state)
{
    (void)state;
    struct tact_session_report report;
    run_session_with_glove(set_device_input_values_to_nan, &report, NULL);
    assert_int_equal(report.safety, TACT_SAFETY_ARMED);
    for (int i = 1200; i < 1300; i++) {
        assert_true(fabs(largest_glove_torque_at(i) - largest_glove_torque_at(1199)) < 0.01);
    }
}

static void set_deadman_input_to_nan(uint64_t tick, struct tact_device_input *in)
{
    if (tick >= 1200) {
        in->channel[3] = NAN;
    }
}

static void nonfinite_deadman_counts_as_released(void **state)
{
    (void)state;
    struct tact_session_report report;
    run_session_with_glove(set_deadman_input_to_nan, &report, NULL);
    assert_true(largest_glove_torque_at(1199) > 0.05);
    for (int i = 1200; i < TICKS; i++) {
        assert_true(largest_glove_torque_at(i) == 0.0);
    }
}

static void set_huge_joint_target_input(uint64_t tick, struct tact_device_input *in)
{
    if (tick >= 1200) {
        in->channel[0] = 1e308; /* finite, but overflows in the computation of the drives */
    }
}

/* A state that becomes not finite is a fault: outputs are zero from then on, and the report states
 * it. */
static void diverged_simulation_is_a_session_fault(void **state)
{
    (void)state;
    struct tact_session_report report;
    char *json;
    run_session_with_glove(set_huge_joint_target_input, &report, &json);
    assert_int_equal(report.safety, TACT_SAFETY_FAULT);
    assert_true(largest_glove_torque_at(1199) > 0.05);
    for (int i = 1210; i < TICKS; i++) {
        assert_true(largest_glove_torque_at(i) == 0.0);
    }
    assert_non_null(json);
    const char *const keys[] = {
        "\"solver\"", "\"ruler\"", "\"pinch.left_distal\"", "\"ruler/pinch.left_distal\"",
        "\"fault\"",  "null"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_non_null(strstr(json, keys[i]));
    }
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glove_feels_the_grip_and_is_released_at_the_end),
        cmocka_unit_test(released_deadman_zeroes_the_glove_force_at_once),
        cmocka_unit_test(stale_device_values_release_the_deadman),
        cmocka_unit_test(lost_device_gets_zero_force),
        cmocka_unit_test(outputs_are_not_armed_while_a_device_is_lost),
        cmocka_unit_test(nonfinite_device_values_are_ignored),
        cmocka_unit_test(nonfinite_deadman_counts_as_released),
        cmocka_unit_test(diverged_simulation_is_a_session_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
