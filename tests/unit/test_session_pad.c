/* A pad opens and closes the pinch: an Xbox pad simulated by umockdev, from its evdev node to the
 * ruler. */
#include <linux/input.h>
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
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "rt/session/session.h"
#include "support/mock_pad.h"
#include "support/run_scene.h"

static struct mock_pad *pad;

/* Input events of the pad, with their tick. */
static const struct {
    uint64_t tick;
    int events[2][3];
    int count;
} script[] = {
    {100, {{EV_KEY, BTN_SOUTH, 1}}, 1}, /* hold the deadman */
    {200, {{EV_ABS, ABS_RZ, 128}}, 1},  /* close */
    {400, {{EV_ABS, ABS_RZ, 255}}, 1},
    {1900, {{EV_KEY, BTN_SOUTH, 0}, {EV_ABS, ABS_RZ, 0}}, 2}, /* everything released */
    /* the trigger is already released, so that the hand opens */
    {2100, {{EV_KEY, BTN_SOUTH, 1}}, 1},
};

/* The pad's device, wrapped so that the events are sent at given ticks of a free-wheeling run. */
static struct tact_device inner;
static struct tact_device_ops wrapped_device_ops;

static void move_pad_and_read(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    for (size_t i = 0; i < sizeof script / sizeof *script; i++) {
        if (script[i].tick == tick) {
            mock_pad_send_events(pad, script[i].events, script[i].count);
        }
    }
    /* the hand lifts the ruler by 5 cm within 0.8 s */
    if (tick >= 900 && tick < 1700 && tick % 10 == 0) {
        mock_pad_send_events(
            pad, (const int[][3]){{EV_ABS, ABS_Y, -(int)(tick - 890) * 16384 / 800}}, 1);
    }
    inner.ops->read(self, tick, t, now, in);
}

static int open_wrapped_pad(const struct tact_device_config *config, struct tact_device *out,
                            struct tact_error *err)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    int rc = tact_device_type_find(types, count, "evdev")->open(config, &inner, err);
    if (!rc) {
        wrapped_device_ops = *inner.ops;
        wrapped_device_ops.read = move_pad_and_read;
        *out = inner;
        out->ops = &wrapped_device_ops;
    }
    return rc;
}

static void run_pad_scene(const char *log)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "evdev",
                                                 "wrapped", open_wrapped_pad, NULL};
    static const struct tact_device_type *const types[] = {&type};
    char pad_match_setting[128];
    snprintf(pad_match_setting, sizeof pad_match_setting, "path: %s #", mock_pad_node(pad));
    const struct edit edits[] = {{"match: pad", pad_match_setting}, {NULL, NULL}};
    char *text = load_scene_text_with_edits("pad.yaml", edits);
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    options.ticks = 3000;
    options.record = log;
    options.replace = 1;
    run_session_of_scene_text(text, &options, &report);
    assert_int_equal(report.loop.ticks, 3000);
    free(text);
}

/* Value of an element of a field in a tick of the log. */
static double logged_value_at(struct tact_log *log, struct tact_record *record, uint64_t tick,
                              const char *name, uint32_t element)
{
    long offset = tact_log_field(log, name, NULL);
    assert_true(offset >= 0);
    assert_int_equal(tact_log_seek(log, tick), 0);
    assert_int_equal(tact_log_next(log, record), 1);
    assert_int_equal(record->tick, tick);
    return record->values[offset + element];
}

static void game_pad_opens_and_closes_the_pinch(void **state)
{
    (void)state;
    char path[64] = "/tmp/tact_pad_XXXXXX";
    struct tact_replay_report replay;
    struct tact_error err = {0};
    struct tact_log *log;
    close(mkstemp(path));
    run_pad_scene(path);
    assert_int_equal(tact_log_open(path, &log, &err), 0);
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    double open = logged_value_at(log, r, 50, "pinch_target", 1),
           closed = logged_value_at(log, r, 450, "pinch_target", 1);
    double finger_target_with_released_deadman = logged_value_at(log, r, 2000, "pinch_target", 1),
           finger_target_with_deadman_held_again = logged_value_at(log, r, 2500, "pinch_target", 1);
    double high = logged_value_at(log, r, 1850, "ruler_pose", 2),
           low = logged_value_at(log, r, 2990, "ruler_pose", 2);
    double force = fabs(logged_value_at(log, r, 1850, "ruler_pinch_left_distal_wrench", 1));
    print_message(
        "target open %.3f closed %.3f, deadman released %.3f, then %.3f rad; ruler at %.4f "
        "m held with %.2f N, %.4f m released\n",
        open, closed, finger_target_with_released_deadman, finger_target_with_deadman_held_again,
        high, force, low);
    assert_true(fabs(closed - open) > 0.15);
    assert_true(finger_target_with_released_deadman ==
                closed); /* targets do not change while the deadman is released */
    /* the targets follow the trigger once the deadman is pressed again */
    assert_true(fabs(finger_target_with_deadman_held_again - open) < 0.02);
    assert_true(fabs(high - 0.05) < 0.002);
    assert_true(fabs(force / 4 - 1) < 0.1);
    assert_true(low < 0.02);
    tact_log_close(log);
    free(r);
    assert_int_equal(tact_replay_run(path, (struct tact_messages){NULL, NULL}, &replay, &err), 0);
    assert_int_equal(replay.ticks, 3000);
    assert_int_equal(replay.differing, 0);
    unlink(path);
}

int main(void)
{
    const char *why;
    const struct CMUnitTest tests[] = {cmocka_unit_test(game_pad_opens_and_closes_the_pinch)};
    pad = mock_pad_new("Xbox 360 wired USB controller", &why);
    if (!pad) {
        printf("skipped: %s\n", why);
        return 77;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mock_pad_free(pad);
    return failed;
}
