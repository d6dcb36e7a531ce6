/* A device whose readings come from a log: with the same mapping the session has the same bits,
 * another mapping is applied to the same readings. */
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
#include "devices/recorded/recording.h"
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/device_config.h"
#include "support/run_scene.h"

enum { TICKS = 3000 };

/* The log that is played: wheel_twin.yaml, with the device unplugged for some ticks. */
static char source[] = "/tmp/tact_recording_XXXXXX";

static void run_scene_text(const char *text, uint64_t ticks, const char *log)
{
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.ticks = ticks;
    options.record = log;
    options.replace = 1;
    run_session_of_scene_text(text, &options, &report);
}

static int record_source_log(void **state)
{
    (void)state;
    static const struct edit edits[] = {
        {"hand: operator ", "lost: [[1.9, 2.0]]\n      hand: operator "}, {NULL, NULL}};
    char *text = load_scene_text_with_edits("wheel_twin.yaml", edits);
    close(mkstemp(source));
    run_scene_text(text, TICKS, source);
    free(text);
    return 0;
}

static int remove_source_log(void **state)
{
    (void)state;
    return unlink(source);
}

/* wheel_twin.yaml with a recording instead of the twin, and further edits. */
static char *scene_text_with_recording(const char *settings, const struct edit *more)
{
    char *text = load_scene_text_with_edits("wheel_twin.yaml", more);
    char *device = strstr(text, "    type: twin"), *rest = strstr(text, "inputs:");
    char *out = malloc(strlen(text) + 512);
    sprintf(out, "%.*s    type: recording\n    settings: {file: %s%s}\n\n%s", (int)(device - text),
            text, source, settings, rest);
    free(text);
    return out;
}

/* All records of a log, one after another. */
static double *read_records_of_log(const char *path, struct tact_log **log, size_t *size)
{
    assert_int_equal(tact_log_open(path, log, NULL), 0);
    *size = tact_log_layout(*log)->size;
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(*log)));
    double *values = calloc(tact_log_state(*log)->ticks * *size, sizeof *values);
    for (size_t i = 0; tact_log_next(*log, record) > 0; i++) {
        memcpy(values + i * *size, record->values, *size * sizeof *values);
        /* the device's stamp, relative to the tick's */
        values[i * *size + 1] -= (double)record->stamp_ns;
    }
    free(record);
    return values;
}

static size_t log_field_offset(const struct tact_log *log, const char *name)
{
    long at = tact_log_field(log, name, NULL);
    assert_true(at >= 0);
    return (size_t)at;
}

/* Compares every input, state, force and output of every tick, but not the values read from
 * clocks. */
static void recorded_device_reproduces_the_session(void **state)
{
    (void)state;
    char path_of_played_log[] = "/tmp/tact_recording_XXXXXX";
    struct tact_log *recorded_and_played_logs[2];
    double *values[2];
    size_t size[2];
    close(mkstemp(path_of_played_log));
    char *text = scene_text_with_recording("", NULL);
    run_scene_text(text, TICKS, path_of_played_log);
    values[0] = read_records_of_log(source, &recorded_and_played_logs[0], &size[0]);
    values[1] = read_records_of_log(path_of_played_log, &recorded_and_played_logs[1], &size[1]);
    assert_int_equal(size[0], size[1]);
    const size_t timing = log_field_offset(recorded_and_played_logs[0], "timing"),
                 after = timing + 4;
    int lost = 0;
    for (size_t tick = 0; tick < TICKS; tick++) {
        const double *a = values[0] + tick * size[0], *b = values[1] + tick * size[1];
        assert_memory_equal(a, b, timing * sizeof *a);
        assert_memory_equal(a + after, b + after, (size[0] - after) * sizeof *a);
        lost += a[0] == TACT_DEVICE_LOST;
    }
    assert_int_equal(lost, 100);
    for (int i = 0; i < 2; i++) {
        tact_log_close(recorded_and_played_logs[i]);
        free(values[i]);
    }
    free(text);
    unlink(path_of_played_log);
}

/* With half the scale the same readings lead the joint half as far: the sum of its inputs, toward
 * which its target goes once the deadman is pressed. */
static void recorded_device_takes_another_input_mapping(void **state)
{
    (void)state;
    static const struct edit half[] = {{"scale: 0.08", "scale: 0.04"}, {NULL, NULL}};
    char path_of_played_log[] = "/tmp/tact_recording_XXXXXX";
    struct tact_log *recorded_and_played_logs[2];
    double *values[2];
    size_t size[2];
    close(mkstemp(path_of_played_log));
    char *text = scene_text_with_recording("", half);
    run_scene_text(text, TICKS, path_of_played_log);
    values[0] = read_records_of_log(source, &recorded_and_played_logs[0], &size[0]);
    values[1] = read_records_of_log(path_of_played_log, &recorded_and_played_logs[1], &size[1]);
    const size_t sum = log_field_offset(recorded_and_played_logs[0], "hand_finger_coupling") + 1,
                 box = log_field_offset(recorded_and_played_logs[0], "box_pose");
    for (size_t tick = 0; tick < TICKS; tick++) {
        const double *a = values[0] + tick * size[0], *b = values[1] + tick * size[1];
        assert_memory_equal(a, b, 4 * sizeof *a);
        assert_true(b[sum] == 0.04 * b[2] || b[3] < 0.5);
        assert_true(a[sum] == 0.08 * a[2] || a[3] < 0.5);
        if (tick == TICKS - 1) {
            assert_true(a[box] > 0.09 && b[box] < 0.0801);
        }
    }
    for (int i = 0; i < 2; i++) {
        tact_log_close(recorded_and_played_logs[i]);
        free(values[i]);
    }
    free(text);
    unlink(path_of_played_log);
}

static struct tact_device open_recording(const struct tact_device_setting *settings, int count,
                                         double period)
{
    struct device_config c;
    struct tact_device device = {0};
    device_config_init(&c, settings, count);
    c.config.period = period;
    if (tact_recording_type.open(&c.config, &device, &c.err)) {
        fail_msg("%s: %s", c.err.key, c.err.text);
    }
    return device;
}

/* Read in a loop of another period, from another time on, and beyond the end of the log. */
static void recorded_device_is_read_by_time(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("file", source), SETTING("device", "wheel"),
                                            SETTING("start", "0.5")};
    struct tact_device device = open_recording(s, 3, 0.0025);
    struct tact_log *log;
    size_t size;
    double *values = read_records_of_log(source, &log, &size);
    assert_string_equal(device.info.type, "recording");
    assert_string_equal(device.info.input[1].name, "btn_trigger");
    assert_string_equal(device.info.output[0].name, "force_x");
    for (uint64_t tick = 0; tick < 1100; tick++) {
        struct tact_device_input in = {.state = -1};
        const int64_t now = 1000000000 + 2500000 * (int64_t)tick;
        device.ops->read(device.self, tick, 0.0025 * (double)tick, now, &in);
        const uint64_t row = tick * 5 / 2 + 500;
        const double *v = values + (row < TICKS ? row : TICKS - 1) * size;
        assert_true(in.channel[0] == v[2] && in.channel[1] == v[3]);
        assert_int_equal(in.state, row < TICKS ? (int)v[0] : TACT_DEVICE_ENDED);
        if (row < TICKS) { /* the sensor's delay is 2 ms; every other tick is between two records */
            assert_int_equal(now - in.stamp_ns, tick % 2 ? 2500000 : 2000000);
        }
    }
    device.ops->close(device.self);
    tact_log_close(log);
    free(values);
}

static void expect_recorded_device_refused(const struct tact_device_setting *s, int count,
                                           const char *key, const char *word)
{
    struct device_config c;
    struct tact_device device = {0};
    device_config_init(&c, s, count);
    assert_true(tact_recording_type.open(&c.config, &device, &c.err) < 0);
    assert_string_equal(c.err.file, "scene.yaml");
    assert_string_equal(c.err.key, key);
    if (!strstr(c.err.text, word)) {
        fail_msg("'%s' lacks '%s'", c.err.text, word);
    }
    assert_null(device.self);
}

static void bad_recorded_device_settings_are_refused(void **state)
{
    (void)state;
    const struct tact_device_setting none[] = {SETTING("start", "1")};
    const struct tact_device_setting absent[] = {SETTING("file", "/nowhere/at/all.mcap")};
    const struct tact_device_setting text[] = {
        SETTING("file", TACT_SOURCE_DIR "/examples/scenes/wheel.yaml")};
    const struct tact_device_setting other[] = {SETTING("file", source), SETTING("device", "pad")};
    const struct tact_device_setting own[] = {SETTING("file", source)};
    const struct tact_device_setting key[] = {SETTING("file", source), SETTING("sart", "1")};
    expect_recorded_device_refused(none, 1, "device", "missing key \"file\"");
    expect_recorded_device_refused(absent, 1, "file", "at/all.mcap");
    expect_recorded_device_refused(text, 1, "file", "wheel.yaml");
    expect_recorded_device_refused(other, 2, "device", "no device \"pad\"; it has: wheel");
    expect_recorded_device_refused(own, 1, "device", "no device \"device\"; it has: wheel");
    expect_recorded_device_refused(key, 2, "sart", "unknown key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_device_reproduces_the_session),
        cmocka_unit_test(recorded_device_takes_another_input_mapping),
        cmocka_unit_test(recorded_device_is_read_by_time),
        cmocka_unit_test(bad_recorded_device_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, record_source_log, remove_source_log);
}
