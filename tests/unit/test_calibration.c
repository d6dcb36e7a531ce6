/* Calibration files: how they reach a device and the log, and how devices apply them. */
#include <errno.h>
#include <libevdev/libevdev.h>
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
#include "devices/evdev/evdev_internal.h"
#include "devices/common/settings.h"
#include "devices/comedi/wrench_internal.h"
#include "rt/session/replay.h"
#include "rt/session/session.h"
#include "support/device_config.h"

static char folder[64];
static char scene_path[96];
static char calibration_path[96];

static void write_text_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static const char scene_text[] =
    "name: calibrated\n"
    "devices:\n"
    "  - name: pad\n"
    "    type: stated\n"
    "    settings: {match: stick}\n"
    "    calibration: pad.yaml\n"
    "hands:\n"
    "  - name: robot\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.1\n"
    "        inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 8, damping: 0.2}\n"
    "inputs:\n"
    "  - {from: pad.x, to: robot.tip}\n";

static void calibration_is_merged_with_device_settings(void **state)
{
    struct tact_scene *scene = NULL;
    struct tact_error err = {.line = 0};
    (void)state;
    write_text_file(scene_path, scene_text);
    write_text_file(calibration_path,
                    "# measured\ncalibrated_for: stick\naxis:\n  abs_x: [-5, 1, 7, 2]\n");
    if (tact_scene_load(scene_path, &scene, &err)) {
        fail_msg("%s: %s", err.key, err.text);
    }
    const struct tact_scene_device *d = &scene->devices[0];
    assert_int_equal(d->settings_count, 3);
    assert_string_equal(d->settings[0].key, "match");
    assert_null(d->settings[0].file);
    assert_string_equal(d->settings[1].key, "calibrated_for");
    assert_string_equal(d->settings[2].key, "axis.abs_x");
    assert_string_equal(d->settings[2].file, "pad.yaml");
    assert_int_equal(d->settings[2].line, 4);
    assert_true(d->settings[2].numbers[2] == 7.0);
    const struct tact_device_config config = {.file = "scene.yaml"};
    tact_settings_fault(&config, &d->settings[2], &err, "no");
    assert_string_equal(err.file, "pad.yaml");
    tact_scene_free(scene);
}

static void wrong_calibration_files_are_refused(void **state)
{
    const struct {
        const char *text, *file;
        int line;
    } cases[] = {{"axis: {abs_x: [1, 2\n", "pad.yaml", 2},
                 {"axis: {abs_x: [1, .nan]}\n", "pad.yaml", 1},
                 {"- a list\n", "pad.yaml", 1},
                 {"a: 1\na: 2\n", "pad.yaml", 2},
                 {"", "pad.yaml", 1}};
    (void)state;
    write_text_file(scene_path, scene_text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tact_scene *scene = NULL;
        struct tact_error err = {.line = 0};
        write_text_file(calibration_path, cases[i].text);
        assert_int_equal(tact_scene_load(scene_path, &scene, &err), -EINVAL);
        assert_null(scene);
        if (strcmp(err.file, cases[i].file) != 0 || err.line != cases[i].line) {
            fail_msg("case %zu: %s:%d: %s", i, err.file, err.line, err.text);
        }
    }
}

/* A device whose reading is a number of its calibration file. */
static void read_fake_calibrated_device(void *self, uint64_t tick, double t, int64_t now,
                                        struct tact_device_input *in)
{
    (void)tick, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = *(double *)self;
}

static void close_fake_calibrated_device(void *self)
{
    free(self);
}

static int open_calibrated_device(const struct tact_device_config *config, struct tact_device *out,
                                  struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_fake_calibrated_device, NULL,
                                               close_fake_calibrated_device};
    double *self = malloc(sizeof *self);
    *self = 0.0;
    tact_settings_number(config, "gain", self, err);
    out->ops = &ops;
    out->self = self;
    out->info.input_count = 1;
    snprintf(out->info.input[0].name, sizeof out->info.input[0].name, "x");
    return 0;
}

/* The log contains the calibration, so that a replay does not need the calibration file. */
static void calibration_is_logged_and_replayed(void **state)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "stated",
                                                 "as stated", open_calibrated_device, NULL};
    static const struct tact_device_type *const types[] = {&type};
    static struct tact_session_report report;
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_session_options options = tact_session_options_default();
    struct tact_replay_report replay_report;
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_error err = {.line = 0};
    char log[96];
    (void)state;
    snprintf(log, sizeof log, "%s/log.mcap", folder);
    write_text_file(scene_path, scene_text);
    write_text_file(calibration_path, "gain: 0.25\n");
    assert_int_equal(tact_scene_load(scene_path, &scene, &err), 0);
    options.types = types;
    options.type_count = 1;
    options.ticks = 50;
    options.clock = TACT_LOOP_FREE;
    options.record = log;
    options.replace = 1;
    assert_int_equal(tact_session_create(scene, &options, &session, &err), 0);
    assert_int_equal(tact_session_run(session, &report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    unlink(calibration_path);
    int rc = tact_replay_run(log, no_messages, &replay_report, &err);
    unlink(log);
    if (rc) {
        fail_msg("%s: %s", err.key, err.text);
    }
    assert_int_equal(replay_report.ticks, 50);
    assert_int_equal(replay_report.differing, 0);
}

static struct libevdev *make_stick_libevdev(void)
{
    struct libevdev *dev = libevdev_new();
    const struct input_absinfo stick_axis_range = {.minimum = -1000, .maximum = 1000, .flat = 100};
    const struct input_absinfo throttle_and_brake_axis_range = {
        .minimum = 0, .maximum = 1023, .value = 500};
    libevdev_set_name(dev, "stick");
    libevdev_enable_event_code(dev, EV_ABS, ABS_X, &stick_axis_range);
    libevdev_enable_event_code(dev, EV_ABS, ABS_Y, &stick_axis_range);
    libevdev_enable_event_code(dev, EV_ABS, ABS_THROTTLE, &throttle_and_brake_axis_range);
    libevdev_enable_event_code(dev, EV_ABS, ABS_BRAKE, &throttle_and_brake_axis_range);
    return dev;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-12)) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

static void calibrated_axes_are_scaled(void **state)
{
    const double x[] = {-800, 40, 900, 10};
    const double throttle_axis_calibration[] = {12, 12, 1001, 3};
    const double brake_axis_calibration[] = {30, 1000, 1010, 5};
    const struct tact_device_setting s[] = {
        NUMBERS("axis.abs_x", 1, 4, x),
        NUMBERS("axis.abs_throttle", 4, 1, throttle_axis_calibration),
        NUMBERS("axis.abs_brake", 1, 4, brake_axis_calibration),
        SETTING("calibrated_for", "stick")};
    struct libevdev *dev = make_stick_libevdev();
    static struct tact_evdev_source source;
    static struct tact_evdev_layout layout;
    static struct device_config c;
    (void)state;
    device_config_init(&c, s, 4);
    assert_int_equal(tact_evdev_choose_channels(&c.config, dev, &layout, &c.err), 0);
    source.dev = dev;
    assert_true(tact_evdev_compute_channel_ranges(&layout, &source));
    const struct {
        int channel, raw;
        double value;
    } cases[] = {
        {0, 40, 0.0},
        {0, 50, 0.0},
        {0, 30, 0.0},
        {0, 900, 1.0},
        {0, 1000, 1.0},
        {0, -800, -1.0},
        {0, 475, 425.0 / 850.0},
        {0, -380, -410.0 / 830.0},
        {1, 550, 450.0 / 900.0}, /* the driver's range */
        {2, 15, 0.0},
        {2, 1001, 1.0},
        {2, 508,
         493.0 / 986.0}, /* a throttle axis is one-sided, as it rests at an end of its range */
        {3, 1000, 0.0},
        {3, 30, 1.0},
        {3, 1010, 0.0}};
    assert_string_equal(layout.channel[2].name, "abs_throttle");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int k = cases[i].channel;
        assert_near(tact_evdev_scaled_value(&layout.channel[k], &source.range[k], cases[i].raw),
                    cases[i].value);
    }
    const struct tact_device_setting raw[] = {SETTING("raw", "true")};
    device_config_init(&c, raw, 1);
    assert_int_equal(tact_evdev_choose_channels(&c.config, dev, &layout, &c.err), 0);
    assert_true(tact_evdev_compute_channel_ranges(&layout, &source));
    assert_near(tact_evdev_scaled_value(&layout.channel[0], &source.range[0], -77), -77.0);
    libevdev_free(dev);
}

static void wrong_axis_calibrations_are_refused(void **state)
{
    const double valid_axis_calibration[] = {-800, 40, 900, 10};
    const double turned[] = {900, 40, -800, 10};
    const double wide[] = {-800, 40, 900, 1800};
    const struct {
        struct tact_device_setting setting;
        const char *text;
    } cases[] = {{NUMBERS("axis.abs_wheel", 1, 4, valid_axis_calibration), "no axis 'abs_wheel'"},
                 {NUMBERS("axis.abs_x", 1, 3, valid_axis_calibration), "lowest, at rest"},
                 {NUMBERS("axis.abs_x", 1, 4, turned), "lowest, at rest"},
                 {NUMBERS("axis.abs_x", 1, 4, wide), "lowest, at rest"},
                 {SETTING("axis.abs_x", "5"), "lowest, at rest"},
                 {SETTING("calibrated_for", "wheel"), "made for 'wheel'"}};
    struct libevdev *dev = make_stick_libevdev();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct tact_evdev_layout layout;
        static struct device_config c;
        device_config_init(&c, &cases[i].setting, 1);
        assert_int_equal(tact_evdev_choose_channels(&c.config, dev, &layout, &c.err), -EINVAL);
        if (!strstr(c.err.text, cases[i].text)) {
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, c.err.text, cases[i].text);
        }
    }
    libevdev_free(dev);
}

static void calibrated_bias_of_a_sensor_is_applied(void **state)
{
    static const struct tact_device_channel inputs[6] = {
        {.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}, {.name = "f"}};
    const double rows[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 1, [28] = 1, [35] = 1};
    const double gauge_bias[] = {1, 2, 3, 4, 5, 6};
    const struct tact_device_setting s[] = {
        SETTING("wrenches[0].name", "wrist"), SETTING("wrenches[0].channels", "a b c d e f"),
        NUMBERS("wrenches[0].matrix", 6, 6, rows), NUMBERS("bias.wrist", 1, 6, gauge_bias),
        NUMBERS("wrenches[0].bias", 1, 6, gauge_bias)};
    static struct device_config c;
    struct tact_force_torque_sensor w[1];
    (void)state;
    device_config_init(&c, s, 4);
    assert_int_equal(tact_wrench_read_sensor_settings(&c.config, inputs, 6, w, 1, &c.err), 1);
    assert_true(w[0].map.gauge_bias[5] == 6.0);
    device_config_init(&c, s, 5);
    assert_int_equal(tact_wrench_read_sensor_settings(&c.config, inputs, 6, w, 1, &c.err), -EINVAL);
    assert_non_null(strstr(c.err.text, "remove one of the two"));
}

static int make_test_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tact-calibration-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(scene_path, sizeof scene_path, "%s/scene.yaml", folder);
    snprintf(calibration_path, sizeof calibration_path, "%s/pad.yaml", folder);
    return 0;
}

static int remove_test_folder(void **state)
{
    (void)state;
    unlink(scene_path);
    unlink(calibration_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calibration_is_merged_with_device_settings),
        cmocka_unit_test(wrong_calibration_files_are_refused),
        cmocka_unit_test(calibration_is_logged_and_replayed),
        cmocka_unit_test(calibrated_axes_are_scaled),
        cmocka_unit_test(wrong_axis_calibrations_are_refused),
        cmocka_unit_test(calibrated_bias_of_a_sensor_is_applied),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
