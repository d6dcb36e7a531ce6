/* Sessions with recorded input and their logs: replayed bit for bit, damage and loss reported. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/log/log_reader.h"
#include "rt/log/recorder.h"
#include "rt/session/replay.h"
#include "support/campaign.h"
#include "support/data.h"
#include "support/run_scene.h"
#include "support/rewrite.h"

static const struct tact_messages no_messages = {NULL, NULL};

/* Replays a log and checks that every tick is equal bit for bit, except the first after each gap,
 * from which the replay restarts. */
static void expect_replay_is_identical(const char *log, uint64_t ticks, uint64_t gaps)
{
    struct tact_replay_report report;
    struct tact_error err = {0};
    assert_int_equal(tact_replay_run(log, no_messages, &report, &err), 0);
    print_message("replayed %lu ticks, %lu values, %lu differing\n", (unsigned long)report.ticks,
                  (unsigned long)report.values, (unsigned long)report.differing);
    if (report.differing) {
        print_message("first at tick %lu, %s[%u]: %.17g, replayed %.17g\n",
                      (unsigned long)report.first_tick, report.first_field, report.first_element,
                      report.logged, report.replayed);
    }
    assert_int_equal(report.ticks, ticks - gaps);
    assert_int_equal(report.differing, 0);
    assert_int_equal(report.resyncs, gaps);
    assert_true(report.complete);
    assert_true(report.values > 100 * ticks);
}

/* Copies a log without the ticks from `from` to before `to`. */
static void copy_log_without_ticks(const char *path, uint64_t from, uint64_t to,
                                   const char *copied_log_path)
{
    struct tact_log *log;
    struct tact_recorder *out;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    struct log_rewrite log_rewrite;
    assert_int_equal(open_recorder_of_log_copy(&log_rewrite, log), 0);
    struct tact_recorder_options options = tact_recorder_options_default();
    options.replace = 1;
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

static void run_and_record_example_scene(struct run_options *o, char *log,
                                         struct run_result *result)
{
    strcpy(log, "/tmp/tact_replay_XXXXXX");
    close(mkstemp(log));
    o->record = log;
    run_scene(o, result);
}

static void run_with_host_moments_replays_bit_for_bit(void **state)
{
    (void)state;
    struct run_options o = {
        .scene = "ruler.yaml", .seconds = 3, .clock = TACT_LOOP_FREE, .source = "host"};
    struct run_result r;
    char log[64];
    run_and_record_example_scene(&o, log, &r);
    expect_replay_is_identical(log, 3000, 0);
    unlink(log);
}

/* A run in real time replays, with moments from another thread and with late ticks. */
static void run_in_real_time_replays_bit_for_bit(void **state)
{
    (void)state;
    skip_test_without_opencl();
    struct run_options o = {
        .scene = "ruler.yaml", .seconds = 3, .clock = TACT_LOOP_REAL, .source = "opencl"};
    struct run_result r;
    char log[64];
    run_and_record_example_scene(&o, log, &r);
    print_message("age %u (most %u), %lu fallbacks, %lu missed\n", r.report.age, r.report.age_max,
                  (unsigned long)r.report.fallbacks, (unsigned long)r.report.loop.missed);
    assert_int_equal(r.report.loop.ticks, 3000);
    expect_replay_is_identical(log, r.report.loop.executed, 0);
    unlink(log);
}

/* A controller that is late by 0.13 s twice: while the fingers close, and while they press. */
static void wait_too_long_in_two_ticks(void *user, const struct tact_session_state *state,
                                       double *target)
{
    (void)user, (void)target;
    if (state->tick == 300 || state->tick == 900) {
        tact_clock_sleep_until(tact_clock_now() + 130000000);
    }
}

/* Ticks that the loop skipped are no gap: the replay continues with the state that it has, from any
 * tick of the log. */
static void replay_continues_after_skipped_ticks(void **state)
{
    (void)state;
    char log[] = "/tmp/tact_replay_XXXXXX", *text = load_scene_text_with_edits("ruler.yaml", NULL);
    struct tact_session_options options = {.clock = TACT_LOOP_REAL,
                                           .ticks = 1200,
                                           .record = log,
                                           .replace = 1,
                                           .control = wait_too_long_in_two_ticks};
    struct tact_session_report report;
    options.types = tact_devices_builtin(&options.type_count);
    close(mkstemp(log));
    run_session_of_scene_text(text, &options, &report);
    print_message("%lu ticks skipped\n", (unsigned long)report.loop.skipped);
    assert_true(report.loop.skipped >= 2 * 129);
    expect_replay_is_identical(log, report.loop.executed, 0);
    const uint64_t from[] = {299, 300, 301, 400, 902, 1050};
    for (int i = 0; i < 6; i++) {
        struct tact_replay_options how = tact_replay_options_default();
        struct tact_replay_report replayed;
        struct tact_error err = {.line = 0};
        how.from = (double)from[i];
        how.each = i % 2;
        assert_int_equal(tact_replay_run_with(log, &how, &replayed, &err), 0);
        assert_true(replayed.ticks > 0 && replayed.differing == 0 && replayed.resyncs == 0);
    }
    unlink(log);
    free(text);
}

/* Missing ticks leave a gap in the log, after which the replay restarts. */
static void replay_restarts_after_a_gap_in_the_log(void **state)
{
    (void)state;
    struct run_options o = {
        .scene = "ruler.yaml", .seconds = 2, .clock = TACT_LOOP_FREE, .source = "host"};
    struct run_result r;
    char log[64], copied_log_path[80];
    run_and_record_example_scene(&o, log, &r);
    snprintf(copied_log_path, sizeof copied_log_path, "%s_copy", log);
    copy_log_without_ticks(log, 400, 650,
                           copied_log_path); /* removes ticks while the fingers close */
    expect_replay_is_identical(copied_log_path, 1750, 1);
    copy_log_without_ticks(log, 0, 100, copied_log_path);
    expect_replay_is_identical(copied_log_path, 1900, 1);
    unlink(log);
    unlink(copied_log_path);
}

/* The log also contains the impulses of a mechanism's joints, the pieces of a contact, and the
 * state of the springs of patches and pieces. */
static void replay_restores_joints_pieces_and_springs_after_a_gap(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    static const struct edit whole[] = {
        {"duration: 10", "contact: {compliance: 1e-4, tangential_compliance: 2e-4}\nduration: 10"},
        {NULL, NULL}};
    static const struct edit pieces[] = {
        {"friction: 0.2}", "friction: 0.2, compliance: 1e-6, tangential_compliance: 1e-5}"},
        {NULL, NULL}};
    static const struct edit layer[] = {
        {"dissipation: 0.01}", "dissipation: 0.01, tangential_compliance: 1e-5}"}, {NULL, NULL}};
    static const struct {
        const char *scene;
        const struct edit *edits;
    } runs[] = {{"swing.yaml", NULL},
                {"groove.yaml", NULL},
                {"groove.yaml", pieces},
                {"ruler.yaml", whole},
                {"socket.yaml", layer}};
    for (int i = 0; i < 5; i++) {
        struct run_options o = {.scene = runs[i].scene,
                                .edits = runs[i].edits,
                                .seconds = 1,
                                .clock = TACT_LOOP_FREE,
                                .source = "host"};
        struct run_result r;
        char log[64], copied_log_path[80];
        run_and_record_example_scene(&o, log, &r);
        expect_replay_is_identical(log, 1000, 0);
        snprintf(copied_log_path, sizeof copied_log_path, "%s_copy", log);
        copy_log_without_ticks(log, 350, 600, copied_log_path);
        expect_replay_is_identical(copied_log_path, 750, 1);
        unlink(log);
        unlink(copied_log_path);
    }
}

static void run_of_bouchards_algorithm_1_replays(void **state)
{
    (void)state;
    const struct edit edits[] = {{"duration: 10", "contact: {local: bouchard}\nduration: 10"},
                                 {NULL, NULL}};
    struct run_options o = {.scene = "ruler.yaml",
                            .edits = edits,
                            .seconds = 3,
                            .clock = TACT_LOOP_FREE,
                            .source = "host"};
    struct run_result r;
    char log[64];
    run_and_record_example_scene(&o, log, &r);
    print_message("Algorithm 1: pitch %.3f deg, %.1f sweeps\n", r.pitch_deg,
                  r.report.iterations_mean);
    expect_replay_is_identical(log, 3000, 0);
    unlink(log);
}

/* Runs the pinch along a recorded motion, which moves the hand to the end of that. */
static void check_guided_run(const struct edit *edits)
{
    struct run_options o = {.scene = "guided.yaml",
                            .edits = edits,
                            .seconds = 11,
                            .clock = TACT_LOOP_FREE,
                            .source = "auto"};
    struct run_result r;
    char log[64];
    double tilt, slip;
    run_and_record_example_scene(&o, log, &r);
    read_worst_tilt_and_slip_of_log(log, "ruler", "ruler_pinch_left_distal",
                                    "ruler_pinch_right_distal", 2.0, 11.0, &tilt, &slip);
    print_message("ruler at %.3f %.3f %.3f m, turned %.3f deg and slipped %.2e m on the way\n",
                  r.position[0], r.position[1], r.position[2], tilt, slip);
    assert_int_equal(r.report.contacts, 2);
    assert_true(tilt < 1.0);
    assert_true(slip < 1e-3);
    /* the ruler has moved with the hand */
    assert_true(hypot(r.position[0] - 0.02, r.position[1]) > 0.05);
    expect_replay_is_identical(log, 11000, 0);
    unlink(log);
}

static void run_guided_by_a_trajectory_replays(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    check_guided_run(NULL);
}

static void run_guided_by_recorded_motion_replays(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    char csv[DATA_PATH];
    FILE *file = open_test_data_file("franka_guiding/rec0.csv", csv);
    if (!file) {
        skip();
    }
    fclose(file);
    const struct edit edits[] = {
        {"../imports/guiding.csv", csv}, {"rate: 100", "rate: 695"}, {NULL, NULL}};
    check_guided_run(edits);
}

/* A log truncated anywhere replays up to there, and the loss is reported. */
static void truncated_session_log_replays_to_its_end(void **state)
{
    (void)state;
    struct run_options o = {
        .scene = "ruler.yaml", .seconds = 4, .clock = TACT_LOOP_FREE, .source = "host"};
    struct run_result r;
    struct tact_replay_report report;
    struct tact_error err = {0};
    char log[64];
    struct stat size;
    run_and_record_example_scene(&o, log, &r);
    stat(log, &size);
    assert_int_equal(truncate(log, size.st_size / 2), 0);
    assert_int_equal(tact_replay_run(log, no_messages, &report, &err), 0);
    print_message("cut to half: %lu ticks, %lu bytes lost (%s)\n", (unsigned long)report.ticks,
                  (unsigned long)report.bytes_lost, report.damage);
    assert_false(report.complete);
    assert_true(report.damage[0]);
    assert_true(report.ticks > 500 && report.ticks < 4000);
    assert_int_equal(report.differing, 0);
    unlink(log);
}

/* A log with a changed byte in the recorded data is never reported as intact. */
static void changed_byte_of_a_replayed_log_is_detected(void **state)
{
    (void)state;
    struct run_options o = {
        .scene = "ruler.yaml", .seconds = 1, .clock = TACT_LOOP_FREE, .source = "host"};
    struct run_result r;
    char log[64];
    struct stat size;
    uint64_t seed = 99 ^ campaign_seed_offset();
    run_and_record_example_scene(&o, log, &r);
    stat(log, &size);
    int fd = open(log, O_RDWR);
    const int trial_count = campaign_trial_count(40, 40);
    for (int i = 0; i < trial_count; i++) {
        struct tact_replay_report report;
        struct tact_error err = {0};
        unsigned char byte, flipped;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        off_t at = (off_t)((seed >> 20) % (uint64_t)size.st_size);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        flipped = (unsigned char)(byte ^ (1u << (seed >> 61)));
        assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
        int rc = tact_replay_run(log, no_messages, &report, &err);
        assert_true(rc < 0 || !report.complete || report.differing > 0);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
    expect_replay_is_identical(log, 1000, 0);
    unlink(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_with_host_moments_replays_bit_for_bit),
        cmocka_unit_test(run_in_real_time_replays_bit_for_bit),
        cmocka_unit_test(replay_continues_after_skipped_ticks),
        cmocka_unit_test(run_of_bouchards_algorithm_1_replays),
        cmocka_unit_test(replay_restarts_after_a_gap_in_the_log),
        cmocka_unit_test(replay_restores_joints_pieces_and_springs_after_a_gap),
        cmocka_unit_test(run_guided_by_a_trajectory_replays),
        cmocka_unit_test(run_guided_by_recorded_motion_replays),
        cmocka_unit_test(truncated_session_log_replays_to_its_end),
        cmocka_unit_test(changed_byte_of_a_replayed_log_is_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
