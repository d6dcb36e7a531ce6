/* A scene with outputs and inputs that were never calibrated is refused, with its place and a
 * remedy in the message; one without outputs is accepted. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "devices/common/settings.h"
#include "rt/session/session.h"

/* What the simulated device reports: raw (uncalibrated) channels, no zero; and whether it was
 * closed. */
static int raw, untared, closed;

static void read_sensor_board(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    (void)self, (void)tick, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
}

static void write_sensor_board(void *self, const double *out, int64_t now)
{
    (void)self, (void)out, (void)now;
}

static void close_sensor_board(void *self)
{
    (void)self;
    closed++;
}

static int open_sensor_board(const struct tact_device_config *config, struct tact_device *out,
                             struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_sensor_board,
                                               write_sensor_board, close_sensor_board};
    (void)err;
    tact_settings_info(config, "board", &out->info);
    out->ops = &ops;
    out->info.input_count = 7;
    for (int i = 0; i < 7; i++) {
        char name[8];
        snprintf(name, sizeof name, "in%d", i);
        tact_settings_channel(&out->info.input[i], name, i ? "N" : "V", 0.0);
    }
    out->info.input[0].raw = raw;
    out->info.output_count = 1;
    tact_settings_channel(&out->info.output[0], "motor", "N m", 0.0);
    out->info.wrench_count = 1;
    snprintf(out->info.wrench[0].name, sizeof out->info.wrench[0].name, "wrist");
    out->info.wrench[0].channel = 1;
    out->info.wrench[0].untared = untared;
    return 0;
}

/* Makes the session, or sets *err. device, input: further lines of YAML for these two. */
static int make_session_of_board(const char *device, const char *input, int outputs,
                                 struct tact_error *err)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "board",
                                                 "as stated", open_sensor_board, NULL};
    static const struct tact_device_type *const types[] = {&type};
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    char text[1024];
    snprintf(text, sizeof text,
             "name: arming\n"
             "devices:\n"
             "  - {name: board, type: board%s}\n"
             "hands:\n"
             "  - name: robot\n"
             "    weightless: true\n"
             "    links:\n"
             "      - name: tip\n"
             "        mass: 0.1\n"
             "        inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0]\n"
             "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 8, damping: 0.2}\n"
             "inputs:\n"
             "  - {from: board.in0, to: robot.tip%s}\n%s",
             device, input,
             outputs ? "outputs:\n"
                       "  - {from: robot.tip, to: board.motor, limit: 1, rate: 100}\n"
                     : "");
    memset(err, 0, sizeof *err);
    options.types = types;
    options.type_count = 1;
    options.ticks = 1;
    options.clock = TACT_LOOP_FREE;
    closed = 0;
    int rc = tact_scene_parse(text, strlen(text), "arming.yaml", NULL, &scene, err);
    rc = rc ? rc : tact_session_create(scene, &options, &session, err);
    assert_int_equal(closed, rc != 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return rc;
}

static void expect_session_refused(const char *device, const char *input, int line, const char *key,
                                   const char *text)
{
    struct tact_error err;
    assert_int_equal(make_session_of_board(device, input, 1, &err), -EINVAL);
    if (err.line != line || strcmp(err.key, key) != 0 || !strstr(err.text, text)) {
        fail_msg("%d: %s: %s", err.line, err.key, err.text);
    }
    assert_int_equal(make_session_of_board(device, input, 0, &err), 0);
}

static void uncalibrated_inputs_do_not_arm_outputs(void **state)
{
    struct tact_error err;
    (void)state;
    assert_int_equal(make_session_of_board("", "", 1, &err), 0);
    assert_int_equal(make_session_of_board(", calibration_required: false", "", 1, &err), 0);
    expect_session_refused(", calibration_required: true", "", 3, "devices[0].calibration_required",
                           "until the device board is calibrated: run tact calibrate");
    raw = 1;
    expect_session_refused(
        "", "", 13, "inputs[0].from",
        "while the channel in0 is in uncalibrated V: run tact calibrate --channel in0");
    assert_int_equal(make_session_of_board("", ", scale: 0.15", 1, &err), 0);
    assert_int_equal(make_session_of_board("", ", offset: 0.1", 1, &err), 0);
    raw = 0;
    untared = 1;
    expect_session_refused("", "", 3, "devices[0]",
                           "until the zero of the force-torque sensor wrist of board is measured");
    untared = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(uncalibrated_inputs_do_not_arm_outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
