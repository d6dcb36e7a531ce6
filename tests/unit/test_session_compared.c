/* A replay compares every value of every tick: a changed bit anywhere in a log is found, and its
 * field is reported. */
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
#include "rt/log/recorder.h"
#include "rt/session/replay.h"
#include "support/run_scene.h"
#include "support/rewrite.h"

enum { TICKS = 6, CHANGED = 3 };

static const struct tact_messages no_messages = {NULL, NULL};
static char original_log_path[512], changed_log_path[528];

static int record_original_log(void **state)
{
    (void)state;
    struct run_result r;
    snprintf(original_log_path, sizeof original_log_path, "%s/compared_%d.mcap", TACT_BINARY_DIR,
             (int)getpid());
    snprintf(changed_log_path, sizeof changed_log_path, "%s.changed", original_log_path);
    const struct run_options o = {.scene = "wheel_twin.yaml",
                                  .seconds = TICKS * 1e-3,
                                  .clock = TACT_LOOP_FREE,
                                  .source = "host",
                                  .record = original_log_path};
    run_scene(&o, &r);
    return 0;
}

static int remove_compared_logs(void **state)
{
    (void)state;
    unlink(changed_log_path);
    return unlink(original_log_path);
}

/* Copies the log and applies `change` to the value at `offset` in tick CHANGED. */
static void copy_log_with_changed_value(uint32_t offset, void (*change)(double *value))
{
    struct tact_log *log;
    struct tact_recorder *out = NULL;
    assert_int_equal(tact_log_open(original_log_path, &log, NULL), 0);
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    struct tact_recorder_options options = tact_recorder_options_default();
    options.replace = 1;
    struct log_rewrite log_rewrite;
    assert_int_equal(open_recorder_of_log_copy(&log_rewrite, log), 0);
    struct tact_recorder_content content = recorder_content_of_log_copy(&log_rewrite);
    content.attachments = tact_log_attachment_at(log, 0);
    content.attachment_count = tact_log_attachment_count(log);
    unlink(changed_log_path);
    assert_int_equal(
        tact_recorder_open(changed_log_path, &options, &content, no_messages, &out, NULL), 0);
    while (tact_log_next(log, r) > 0) {
        if (r->tick == CHANGED) {
            change(&r->values[offset]);
        }
        assert_int_equal(append_record_to_log_copy(&log_rewrite, r, out), 0);
    }
    assert_int_equal(tact_recorder_close(out, NULL), 0);
    free_log_copy_buffers(&log_rewrite);
    tact_log_close(log);
    free(r);
}

static void flip_last_bit(double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    bits ^= 1;
    memcpy(value, &bits, sizeof bits);
}

/* Makes a device's state or stamp a value that no device reports. */
static void add_half_to_logged_value(double *value)
{
    *value += 0.5;
}

static void expect_first_difference(const struct tact_field *field, uint32_t element)
{
    struct tact_replay_report report;
    struct tact_error err = {0};
    if (tact_replay_run(changed_log_path, no_messages, &report, &err)) {
        fail_msg("%s", err.text);
    }
    if (!report.differing || report.first_tick != CHANGED ||
        strcmp(report.first_field, field->name) || report.first_element != element) {
        fail_msg("%s[%u] was changed at tick %d; found: %lu, first %s[%u] at tick %lu", field->name,
                 element, CHANGED, (unsigned long)report.differing, report.first_field,
                 report.first_element, (unsigned long)report.first_tick);
    }
}

/* A replay reads a device's values from the log, so that a change of its channels is not a
 * difference; its state and stamp are read as whole numbers. */
static int is_device_field(const struct tact_field *field)
{
    size_t length = strlen(field->name);
    return length > 6 && !strcmp(field->name + length - 6, "_input");
}

static void log_comparison_finds_any_changed_bit(void **state)
{
    (void)state;
    struct tact_log *log;
    uint64_t fields = 0, inputs = 0;
    assert_int_equal(tact_log_open(original_log_path, &log, NULL), 0);
    const struct tact_layout *layout = tact_log_layout(log);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *field = &layout->fields[i];
        int device = is_device_field(field);
        uint32_t last = device ? 1 : field->count - 1;
        if (field->kind == TACT_FIELD_TIMING) {
            continue;
        }
        copy_log_with_changed_value(field->offset,
                                    device ? add_half_to_logged_value : flip_last_bit);
        expect_first_difference(field, 0);
        copy_log_with_changed_value(field->offset + last,
                                    device ? add_half_to_logged_value : flip_last_bit);
        expect_first_difference(field, last);
        fields++;
        inputs += field->kind == TACT_FIELD_INPUT;
    }
    print_message("%lu fields, %lu of them inputs\n", (unsigned long)fields, (unsigned long)inputs);
    assert_true(fields > 20 && inputs >= 3);
    tact_log_close(log);
}

static void log_comparison_counts_every_value(void **state)
{
    (void)state;
    struct tact_log *log;
    struct tact_replay_report report;
    uint64_t values = 0;
    assert_int_equal(tact_log_open(original_log_path, &log, NULL), 0);
    const struct tact_layout *layout = tact_log_layout(log);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        values += layout->fields[i].kind == TACT_FIELD_TIMING ? 0 : layout->fields[i].count;
    }
    assert_int_equal(tact_replay_run(original_log_path, no_messages, &report, NULL), 0);
    assert_int_equal(report.ticks, TICKS);
    assert_int_equal(report.differing, 0);
    assert_int_equal(report.values, TICKS * values);
    tact_log_close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_comparison_finds_any_changed_bit),
        cmocka_unit_test(log_comparison_counts_every_value),
    };
    return cmocka_run_group_tests(tests, record_original_log, remove_compared_logs);
}
