/* Replays in real time, and playback onto a device: through a safety chain with a ramp, with the
 * deadman and the limits of a given scene, and with zero outputs when it ends. */
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
#include "devices/scripted/operator.h"
#include "devices/twin/twin.h"
#include "rt/clock.h"
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "support/run_scene.h"

#define MAX_RECORDED_WRITES 4000
#define BOARD_OUTPUT_COUNT 8

static const struct tact_messages no_messages = {NULL, NULL};
static char log_path[512];
static struct tact_scene *playback_scene; /* the scene given beside the log */

/* A simulated board that stores what is written to it, and is lost in a given interval. */
static struct {
    int channels, opened, closed, writes;
    /* interval in which the board's deadman is pressed [ticks] */
    uint64_t deadman_pressed_from, deadman_pressed_until;
    const char *unit;
    uint64_t board_lost_from_tick, board_lost_until_tick;
    uint64_t tick;
    int64_t last_ns;
    struct {
        uint64_t tick;
        double written_output[BOARD_OUTPUT_COUNT];
    } write[MAX_RECORDED_WRITES];
} board;

static void read_simulated_board(void *self, uint64_t tick, double t, int64_t now_ns,
                                 struct tact_device_input *in)
{
    (void)self;
    (void)t;
    board.tick = tick;
    in->stamp_ns = now_ns;
    in->channel[0] = tick >= board.deadman_pressed_from && tick < board.deadman_pressed_until;
    in->state = tick >= board.board_lost_from_tick && tick < board.board_lost_until_tick
                    ? TACT_DEVICE_LOST
                    : TACT_DEVICE_OK;
}

static void write_simulated_board(void *self, const double *out, int64_t now_ns)
{
    (void)self;
    assert_true(board.writes < MAX_RECORDED_WRITES);
    board.last_ns = now_ns;
    board.write[board.writes].tick = board.tick;
    memcpy(board.write[board.writes++].written_output, out, sizeof board.write[0].written_output);
}

static void close_simulated_board(void *self)
{
    (void)self;
    board.closed++;
}

static int open_simulated_board(const struct tact_device_config *config, struct tact_device *out,
                                struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_simulated_board, write_simulated_board,
                                               close_simulated_board};
    (void)err;
    memset(&out->info, 0, sizeof out->info);
    snprintf(out->info.name, sizeof out->info.name, "%s", config->name);
    out->info.input_count = 4;
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"deadman", "grip", "turn", "lift"};
        snprintf(out->info.input[i].name, TACT_DEVICE_NAME, "%s", names[i]);
    }
    out->info.output_count = board.channels;
    for (int i = 0; i < board.channels; i++) {
        snprintf(out->info.output[i].name, TACT_DEVICE_NAME, "felt_%d", i);
        snprintf(out->info.output[i].unit, sizeof out->info.output[i].unit, "%s", board.unit);
    }
    out->ops = &ops;
    board.opened++;
    return 0;
}

/* The ruler's operator under another type name. */
static const struct tact_device_type simulated_board_device_type = {
    TACT_ABI(struct tact_device_type), "operator", "a board", open_simulated_board, NULL};
static struct tact_device_type pedal_type = {TACT_ABI(struct tact_device_type), "pedal", "a pedal",
                                             /* the open() of this type is that of the built-in
                                              * operator */
                                             NULL, NULL};
static const struct tact_device_type *const types[] = {&simulated_board_device_type, &pedal_type,
                                                       &tact_twin_type};

static struct tact_replay_options replay_options_for_scene(const char *name)
{
    struct tact_replay_options o = tact_replay_options_default();
    memset(&board, 0, sizeof board);
    board.channels = BOARD_OUTPUT_COUNT;
    board.deadman_pressed_until = UINT64_MAX;
    board.unit = "N m";
    o.playback_device = name;
    o.scene = playback_scene;
    o.types = types;
    o.type_count = sizeof types / sizeof *types;
    o.messages = no_messages;
    return o;
}

static int record_log_of_pinched_ruler(void **state)
{
    (void)state;
    struct run_result r;
    snprintf(log_path, sizeof log_path, "%s/onto_%d.mcap", TACT_BINARY_DIR, (int)getpid());
    const struct run_options o = {.scene = "ruler.yaml",
                                  .seconds = 2.0,
                                  .clock = TACT_LOOP_FREE,
                                  .source = "host",
                                  .record = log_path};
    run_scene(&o, &r);
    pedal_type.open = tact_operator_type.open;
    return tact_scene_load(TACT_SOURCE_DIR "/examples/scenes/ruler.yaml", &playback_scene, NULL);
}

static int remove_log_and_scene(void **state)
{
    (void)state;
    tact_scene_free(playback_scene);
    return unlink(log_path);
}

/* Loads the ruler's scene with some texts replaced. */
static struct tact_scene *load_edited_ruler_scene(const struct edit *edits)
{
    struct tact_scene *scene = NULL;
    struct tact_error err = {0};
    char *text = load_scene_text_with_edits("ruler.yaml", edits);
    if (tact_scene_parse(text, strlen(text), "here.yaml", NULL, &scene, &err)) {
        fail_msg("line %d: %s: %s", err.line, err.key, err.text);
    }
    free(text);
    return scene;
}

/* Reads outputs_sent[0..3] of a tick from the log. */
static void read_logged_outputs(struct tact_log *log, uint64_t tick, double out[4])
{
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    long at = tact_log_field(log, "outputs_sent", NULL);
    assert_true(at >= 0);
    assert_int_equal(tact_log_seek(log, tick), 0);
    assert_int_equal(tact_log_next(log, r), 1);
    memcpy(out, r->values + at, 4 * sizeof *out);
    free(r);
}

static void expect_zero_outputs_in_write(int output_write_index)
{
    for (int i = 0; i < BOARD_OUTPUT_COUNT; i++) {
        assert_true(board.write[output_write_index].written_output[i] == 0.0);
    }
}

static void playback_sends_the_logged_outputs(void **state)
{
    (void)state;
    struct tact_replay_options o = replay_options_for_scene("operator");
    struct tact_replay_report report;
    struct tact_error err = {0};
    struct tact_log *log;
    double sent[4], largest = 0.0;
    o.from = 1000; /* the playback starts in the middle of the grip, so that the output must ramp */
    o.to = 1600;
    int64_t playback_start_ns = tact_clock_now();
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, &err), 0);
    assert_int_equal(report.ticks, 600);
    assert_int_equal(report.differing, 0);
    assert_int_equal(board.opened, 1);
    assert_int_equal(board.closed, 1);
    assert_int_equal(board.writes, 601); /* 600 ticks and the zero at the end */
    expect_zero_outputs_in_write(600);
    /* the playback is never early; a busy machine may be late */
    assert_true(board.last_ns - playback_start_ns >= 599000000);
    assert_int_equal(tact_log_open(log_path, &log, NULL), 0);
    for (int i = 0; i < 600; i++) {
        assert_int_equal(board.write[i].tick, 1000 + i);
        read_logged_outputs(log, 1000 + (uint64_t)i, sent);
        for (int k = 0; k < 4; k++) {
            double written_output = board.write[i].written_output[k],
                   before = i ? board.write[i - 1].written_output[k] : 0.0;
            assert_true(fabs(written_output) <= fabs(sent[k]) + 1e-9);
            assert_true(fabs(written_output - before) <= 500.0 * 1e-3 + 1e-12);
            if (i > 250) { /* after the ramp of 0.2 s */
                assert_true(written_output == sent[k]);
            }
            largest = fmax(largest, fabs(written_output));
        }
        if (i < 20) {
            assert_true(fabs(board.write[i].written_output[0]) < 0.2 * fabs(sent[0]));
        }
        for (int k = 4; k < BOARD_OUTPUT_COUNT; k++) {
            assert_true(board.write[i].written_output[k] == 0.0);
        }
    }
    assert_true(largest > 0.05);
    tact_log_close(log);
}

static void lost_device_gets_zero_in_playback(void **state)
{
    (void)state;
    struct tact_replay_options o = replay_options_for_scene("operator");
    struct tact_replay_report report;
    board.board_lost_from_tick = 1300;
    board.board_lost_until_tick = 1310;
    o.from = 1000;
    o.to = 1400;
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, NULL), 0);
    assert_true(fabs(board.write[299].written_output[0]) > 0.01);
    for (int i = 300; i < 310; i++) {
        expect_zero_outputs_in_write(i);
    }
    /* After the device's return the output ramps up, as after any release. */
    assert_true(fabs(board.write[312].written_output[0]) <
                0.2 * fabs(board.write[299].written_output[0]));
    assert_true(fabs(board.write[399].written_output[0]) >
                fabs(board.write[312].written_output[0]));
}

/* Checks that outputs are zero unless the deadman is pressed, and ramp up from the moment it is. */
static void check_outputs_need_deadman(uint64_t from, uint64_t to,
                                       const struct tact_replay_report *report)
{
    int nonzero_output_count = 0, outside = 0;
    for (int i = 0; i < board.writes; i++) {
        int moved = 0;
        for (int k = 0; k < BOARD_OUTPUT_COUNT; k++) {
            moved = moved || board.write[i].written_output[k] != 0.0;
        }
        nonzero_output_count += moved;
        outside += moved && (board.write[i].tick < from || board.write[i].tick >= to);
    }
    print_message("%d of %d writes are not zero, %d of them with the switch released\n",
                  nonzero_output_count, board.writes, outside);
    assert_int_equal(outside, 0);
    assert_true(nonzero_output_count > (int)(to - from) - 5);
    assert_int_equal(report->playback_ticks, 500);
    assert_int_equal(report->playback_armed, to - from);
}

static void playback_uses_the_deadman_of_the_given_scene(void **state)
{
    (void)state;
    struct tact_replay_options o = replay_options_for_scene("operator");
    struct tact_replay_report report;
    o.from = 1000;
    o.to = 1500;
    board.deadman_pressed_from = 1200;
    board.deadman_pressed_until = 1350;
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, NULL), 0);
    check_outputs_need_deadman(1200, 1350, &report);
    o = replay_options_for_scene("operator");
    o.from = 1000;
    o.to = 1500;
    board.deadman_pressed_until =
        0; /* the deadman is released, although it is pressed throughout the log */
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, NULL), 0);
    for (int i = 0; i < board.writes; i++) {
        expect_zero_outputs_in_write(i);
    }
    assert_int_equal(board.writes, 501);
    assert_int_equal(report.playback_armed, 0);
}

/* The deadman of another device than the one that is written to. */
static void playback_deadman_may_be_on_another_device(void **state)
{
    (void)state;
    static const struct edit edits_adding_a_pedal[] = {
        {"devices:\n",
         "devices:\n  - name: foot\n    type: pedal\n    settings:\n      script: [[0, 0, "
         "0, 0]]\n      deadman_from: 1.15\n      deadman_until: 1.3\n"},
        {"deadman: operator.deadman", "deadman: foot.deadman"},
        {NULL, NULL}};
    /* A simulated device that is unplugged for some ticks. */
    static const struct edit twin[] = {
        {"devices:\n",
         "devices:\n  - name: foot\n    type: twin\n    settings:\n      axes: abs_x\n      "
         "forces: "
         "'-'\n      buttons: btn_south=deadman\n      mass: 0.02\n      damping: 0.06\n      "
         "hand: "
         "operator\n      hand_channels: turn\n      hand_script: [[0, 0, 0, 0]]\n      "
         "hand_stiffness: 6\n      hand_deadman_from: 1.1\n      hand_deadman_until: 3\n      "
         "lost: [[1.25, 3]]\n"},
        {"deadman: operator.deadman", "deadman: foot.btn_south"},
        {NULL, NULL}};
    for (int i = 0; i < 2; i++) {
        struct tact_replay_options o = replay_options_for_scene("operator");
        struct tact_replay_report report;
        struct tact_error err = {0};
        struct tact_scene *scene = load_edited_ruler_scene(i ? twin : edits_adding_a_pedal);
        o.from = 1000;
        o.to = 1500;
        o.scene = scene;
        if (tact_replay_run_with(log_path, &o, &report, &err)) {
            fail_msg("%s:%d: %s: %s", err.file, err.line, err.key, err.text);
        }
        check_outputs_need_deadman(i ? 1100 : 1150, i ? 1250 : 1300, &report);
        assert_int_equal(board.closed, 1);
        tact_scene_free(scene);
    }
}

/* Limits and rates are those of the given scene, whatever the log's scene allowed. */
static void playback_uses_the_output_limits_of_the_given_scene(void **state)
{
    (void)state;
    static const struct edit edits_to_strict_limits[] = {
        {"operator.felt_0, limit: 2, rate: 500", "operator.felt_0, limit: 0.05, rate: 500"},
        {"operator.felt_1, limit: 2, rate: 500", "operator.felt_1, limit: 2, rate: 0.1"},
        {NULL, NULL}};
    struct tact_replay_options o = replay_options_for_scene("operator");
    struct tact_replay_report report;
    struct tact_scene *scene = load_edited_ruler_scene(edits_to_strict_limits);
    double most = 0.0, fastest = 0.0;
    o.from = 1000;
    o.to = 1500;
    o.scene = scene;
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, NULL), 0);
    for (int i = 0; i + 1 < board.writes; i++) {
        double before = i ? board.write[i - 1].written_output[1] : 0.0;
        most = fmax(most, fabs(board.write[i].written_output[0]));
        fastest = fmax(fastest, fabs(board.write[i].written_output[1] - before));
    }
    assert_true(most == 0.05);
    assert_true(fastest > 0.99e-4 && fastest <= 1.0000001e-4);
    assert_true(report.playback_limited > 100);
    tact_scene_free(scene);
}

static struct tact_stop stop;

static void stop_playback_at_tick(void *user, const struct tact_layout *layout,
                                  const struct tact_record *then, const struct tact_record *now)
{
    (void)user;
    (void)layout;
    (void)now;
    if (then->tick == 1299) {
        tact_stop_request(&stop);
    }
}

static void stopped_playback_sends_zero_outputs(void **state)
{
    (void)state;
    struct tact_replay_options o = replay_options_for_scene("operator");
    struct tact_replay_report report;
    o.from = 1000;
    o.stop = &stop;
    o.compared = stop_playback_at_tick;
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, NULL), 0);
    assert_int_equal(report.ticks, 300);
    assert_int_equal(board.writes, 301);
    expect_zero_outputs_in_write(300);
    assert_int_equal(board.closed, 1);
}

static void playback_refuses_devices_that_do_not_fit(void **state)
{
    (void)state;
    struct tact_replay_report report;
    struct tact_error err = {0};
    struct tact_replay_options o = replay_options_for_scene("wheel");
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, &err), -ENODEV);
    assert_non_null(strstr(err.text, "wheel"));
    o = replay_options_for_scene("operator");
    board.channels = 3; /* the device lacks a channel that the scene needs */
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, &err), -EINVAL);
    assert_non_null(strstr(err.text, "felt_3"));
    assert_int_equal(board.closed, 1);
    o = replay_options_for_scene("operator");
    board.unit = "N";
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, &err), -EINVAL);
    assert_non_null(strstr(err.text, "felt_0"));
    assert_int_equal(board.writes, 1); /* only the zero that is written on closing */
    o = replay_options_for_scene("operator");
    o.type_count = 0;
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, &err), -EINVAL);
}

/* Each of these scenes is refused with one message, before any device is written to. */
static void playback_refuses_scenes_without_the_output(void **state)
{
    (void)state;
    static const struct {
        struct edit edits[2];
        int code;
        const char *text;
    } cases[] = {
        {{{"deadman: operator.deadman", ""}}, -EINVAL, "no deadman"},
        {{{"deadman: operator.deadman", "deadman: operator.button"}}, -EINVAL, "button"},
        {{{"  - {from: pinch.left_distal, to: operator.felt_1, limit: 2, rate: 500}\n", ""}},
         -EINVAL,
         "felt_1"},
        {{{"hands:\n", "hands:\n  - name: tip\n    base:\n      mass: 0.1\n"
                       "      inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0]\n"
                       "      coupling: {stiffness: 500, damping: 5}\n"
                       "      turn_coupling: {stiffness: 2, damping: 0.02}\n"},
          {"pinch.left_proximal, to: operator.felt_0, limit: 2, rate: 500}\n"
           "  - {from: pinch.left_distal, to: operator.felt_1, limit: 2",
           "tip.base_x, to: operator.felt_0, limit: 2, rate: 500}\n"
           "  - {from: tip.base_y, to: operator.felt_1, limit: 1"}},
         -EINVAL,
         "differs from that of outputs[0]"},
    };
    struct tact_replay_report report;
    struct tact_error err = {0};
    struct tact_replay_options o = replay_options_for_scene("operator");
    o.scene = NULL;
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, &err), -EINVAL);
    assert_non_null(strstr(err.text, "--scene"));
    assert_int_equal(board.opened, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct edit edits[] = {cases[i].edits[0], cases[i].edits[1], {NULL, NULL}};
        struct tact_scene *scene = load_edited_ruler_scene(edits);
        o = replay_options_for_scene("operator");
        o.scene = scene;
        memset(&err, 0, sizeof err);
        assert_int_equal(tact_replay_run_with(log_path, &o, &report, &err), cases[i].code);
        if (!strstr(err.text, cases[i].text)) {
            fail_msg("%s", err.text);
        }
        assert_true(board.writes <= 1);
        assert_int_equal(board.opened, board.closed);
        tact_scene_free(scene);
    }
}

static void playback_keeps_real_time(void **state)
{
    (void)state;
    struct tact_replay_options o = tact_replay_options_default();
    struct tact_replay_report report;
    o.realtime = 1;
    o.to = 300;
    int64_t playback_start_ns = tact_clock_now();
    assert_int_equal(tact_replay_run_with(log_path, &o, &report, NULL), 0);
    assert_true(tact_clock_now() - playback_start_ns >= 299000000);
    assert_int_equal(report.ticks, 300);
    assert_int_equal(report.differing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(playback_sends_the_logged_outputs),
        cmocka_unit_test(lost_device_gets_zero_in_playback),
        cmocka_unit_test(playback_uses_the_deadman_of_the_given_scene),
        cmocka_unit_test(playback_deadman_may_be_on_another_device),
        cmocka_unit_test(playback_uses_the_output_limits_of_the_given_scene),
        cmocka_unit_test(playback_refuses_scenes_without_the_output),
        cmocka_unit_test(stopped_playback_sends_zero_outputs),
        cmocka_unit_test(playback_refuses_devices_that_do_not_fit),
        cmocka_unit_test(playback_keeps_real_time),
    };
    return cmocka_run_group_tests(tests, record_log_of_pinched_ruler, remove_log_and_scene);
}
