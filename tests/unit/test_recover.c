/* Recovery of killed recorders: no committed tick is lost, and damaged rings are refused or
 * reported. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "killed_session.h"
#include "support/campaign.h"

#define KILLED_SESSION_COUNT campaign_trial_count(20, 100)
#define DAMAGED_COPY_COUNT campaign_trial_count(300, 1500)

static void every_committed_tick_of_a_killed_session_is_recovered(void **state)
{
    (void)state;
    const char *path = test_log_path("recovered");
    struct tact_recover_report report;
    uint64_t seed = 1 ^ campaign_seed_offset(), ticks = 0, added_tick_count = 0, cut = 0;

    for (int run = 0; run < KILLED_SESSION_COUNT; run++) {
        struct tact_recorder_options options = recorder_options_with_small_ring();
        options.zstd_level = run % 3 == 0 ? 0 : 1;
        options.derived_every = run % 2 ? 10 : 0;
        options.chunk_bytes = run % 5 == 0 ? 10000 : 1 << 20;
        options.ring_events = 4096;
        unlink(path);
        record_then_kill_recorder(path, &options, run % 4 == 0, (uint64_t)(run % 4 != 1),
                                  next_random_of_seed(&seed) % 40000);
        struct tact_error err = {0};
        int rc = tact_log_recover(path, folder, &report, &err);
        if (rc != 0 && atomic_load(&shared->ticks) == 0) {
            if (rc != -ENODATA && rc != -EINVAL && rc != -ENOENT)
                fail_msg("run %d: %d %s", run, rc, err.text);
            /* ring file of a recorder that was killed before the head of its log was written */
            unlink(find_ring_file_path());
            continue;
        }
        if (rc != 0)
            fail_msg("run %d: %s", run, err.text);
        assert_true(report.rings && !report.counters_damaged);
        assert_int_equal(report.ticks_lost + report.events_lost, 0);
        ticks += check_recovered_log(path);
        added_tick_count += report.ticks_added;
        cut += report.bytes_cut > 0;
        assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
        assert_true(report.was_complete);
    }
    print_message("%d kills: %lu ticks committed, %lu of them only in memory, %lu records cut, "
                  "count lost: 0\n",
                  KILLED_SESSION_COUNT, (unsigned long)ticks, (unsigned long)added_tick_count,
                  (unsigned long)cut);
    unlink(path);
}

/* The recovery of a log is killed repeatedly, and repeated. */
static void log_recovery_can_be_killed_and_repeated(void **state)
{
    (void)state;
    const char *path = test_log_path("twice");
    struct tact_recover_report report;
    uint64_t seed = 2 ^ campaign_seed_offset();
    int incomplete_log_count = 0;

    for (int run = 0; run < KILLED_SESSION_COUNT / 4; run++) {
        struct tact_recorder_options options = recorder_options_with_small_ring();
        options.ring_ticks = 4096;
        options.ring_events = 4096;
        options.zstd_level = 9;
        options.chunk_bytes = 20000;
        record_then_kill_recorder(path, &options, 0, 3000, next_random_of_seed(&seed) % 3000);
        for (int k = 0; k < 5; k++)
            kill_recovery_after_delay(path, next_random_of_seed(&seed) % 15000);
        assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
        incomplete_log_count += !report.was_complete;
        assert_int_equal(report.ticks_lost + report.events_lost, 0);
        check_recovered_log(path);
    }
    print_message("%d recoveries, %d of them left to the last attempt\n", KILLED_SESSION_COUNT / 4,
                  incomplete_log_count);
    unlink(path);
}

/* Records and kills until a kill leaves ticks in the rings: in nearly empty rings most damage would
 * have no effect. */
static void record_with_ticks_in_rings(const char *path,
                                       const struct tact_recorder_options *options)
{
    struct tact_recover_report report = {.ticks_added = 0};

    for (int i = 0; i < 100 && report.ticks_added < 8; i++) {
        record_then_kill_recorder(path, options, 1, 400, 7000);
        char rings[400];
        strcpy(rings, find_ring_file_path());
        struct bytes log = read_file_bytes(path), ring = read_file_bytes(rings);
        assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
        write_file(path, log.data, log.size);
        write_file(rings, ring.data, ring.size);
        free(log.data);
        free(ring.data);
    }
    assert_true(report.ticks_added >= 8);
}

/* A ring file with one changed byte, or a truncated one, is refused or its loss reported. */
static void damaged_recorder_rings_are_refused_or_reported(void **state)
{
    (void)state;
    const char *path = test_log_path("fuzz");
    struct tact_recorder_options options = recorder_options_with_small_ring();
    uint64_t seed = 3 ^ campaign_seed_offset();
    int refused = 0, reported_loss_count = 0, harmless = 0;

    options.ring_ticks = 64;
    options.ring_events = 8;
    record_with_ticks_in_rings(path, &options);
    char rings[400];
    strcpy(rings, find_ring_file_path());
    struct bytes log = read_file_bytes(path), ring = read_file_bytes(rings);
    for (int run = 0; run < DAMAGED_COPY_COUNT; run++) {
        uint64_t at = next_random_of_seed(&seed) % (run % 3 == 0 ? 1500 : ring.size);
        uint8_t flipped_bit_mask = (uint8_t)(1 + next_random_of_seed(&seed) % 255);
        size_t size = run % 10 == 9 ? at : ring.size;
        struct tact_recover_report report;

        ring.data[at] ^= flipped_bit_mask;
        write_file(path, log.data, log.size);
        write_file(rings, ring.data, size);
        int rc = tact_log_recover(path, folder, &report, NULL);
        ring.data[at] ^= flipped_bit_mask;
        if (rc != 0) {
            struct bytes left = read_file_bytes(path);
            assert_int_equal(left.size, log.size);
            assert_memory_equal(left.data, log.data, log.size);
            assert_int_equal(access(rings, F_OK), 0);
            free(left.data);
            refused++;
        } else if (report.ticks_lost + report.events_lost > 0 || report.counters_damaged) {
            struct tact_log *recovered_log;
            assert_int_equal(tact_log_open(path, &recovered_log, NULL), 0);
            assert_true(tact_log_state(recovered_log)->complete);
            tact_log_close(recovered_log);
            reported_loss_count++;
        } else {
            check_recovered_log(path);
            harmless++;
        }
    }
    print_message("%d damaged rings: %d refused, %d with the loss stated, %d without a loss\n",
                  DAMAGED_COPY_COUNT, refused, reported_loss_count, harmless);
    assert_true(refused > 0 && reported_loss_count > 0 && harmless > 0);
    unlink(rings);
    free(log.data);
    free(ring.data);
    unlink(path);
}

static void log_without_recorder_rings_is_completed(void **state)
{
    (void)state;
    const char *path = test_log_path("alone");
    struct tact_recorder_options options = recorder_options_with_small_ring();
    struct tact_recover_report report;
    struct tact_log *log;

    record_then_kill_recorder(path, &options, 1, TICK_COUNT_BEYOND_RING_CAPACITY, 0);
    unlink(find_ring_file_path());
    assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
    assert_false(report.rings || report.was_complete);
    assert_int_equal(report.ticks_added, 0);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_true(tact_log_state(log)->complete);
    assert_int_equal(count_equal_records(log, 0), report.ticks);
    assert_string_equal(tact_log_fact(log, "recovered_ticks"), "0");
    tact_log_close(log);

    /* Without a tmpfs, or without the folder, recording continues without a ring file, and reports
     * that. */
    const char *const elsewhere[] = {TACT_BINARY_DIR, "/nonexistent"};
    for (int i = 0; i < 2; i++) {
        struct message_summary message_summary = {0};
        struct tact_recorder *recorder;
        options.ring_folder = elsewhere[i];
        assert_int_equal(open_session_recorder(
                             path, &options,
                             (struct tact_messages){count_message_and_keep_text, &message_summary},
                             &recorder),
                         0);
        assert_int_equal(message_summary.warning_count, 1);
        assert_non_null(strstr(message_summary.text, "if this process is killed"));
        record_session_ticks(recorder, 0, 100);
        assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    }
    unlink(path);
}

static void log_in_use_is_not_recovered(void **state)
{
    (void)state;
    const char *path = test_log_path("used");
    struct tact_recorder_options options = recorder_options_with_small_ring();
    struct tact_recorder *recorder;
    struct message_summary message_summary = {0};
    struct tact_log *log;

    assert_int_equal(
        open_session_recorder(path, &options, (struct tact_messages){NULL, NULL}, &recorder), 0);
    record_session_ticks(recorder, 0, 10);
    assert_int_equal(tact_log_recover(path, folder, NULL, NULL), -EBUSY);
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    assert_int_equal(tact_log_recover("/nonexistent/x.mcap", folder, NULL, NULL), -ENOENT);

    /* The reader's message names the command that recovers the log, and that of a new recording
     * what it overwrites. */
    options.ring_folder = NULL;
    record_then_kill_recorder(path, &options, 1, TICK_COUNT_BEYOND_RING_CAPACITY, 0);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_non_null(strstr(tact_log_state(log)->why, "run `tact recover "));
    assert_int_equal(tact_log_recover(path, NULL, NULL, NULL), -EBUSY);
    tact_log_close(log);
    assert_int_equal(
        open_session_recorder(path, &options,
                              (struct tact_messages){count_message_and_keep_text, &message_summary},
                              &recorder),
        0);
    assert_int_equal(message_summary.warning_count, 1);
    assert_non_null(strstr(message_summary.text, "not recovered"));
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    unlink(path);
}

static void deleted_log_is_reported_by_recovery(void **state)
{
    (void)state;
    const char *path = test_log_path("deleted");
    struct tact_recorder_options options = recorder_options_with_small_ring();
    struct tact_recorder_report report;
    struct tact_recorder *recorder;
    struct message_summary message_summary = {0};

    assert_int_equal(
        open_session_recorder(path, &options,
                              (struct tact_messages){count_message_and_keep_text, &message_summary},
                              &recorder),
        0);
    record_session_ticks(recorder, 0, 100);
    unlink(path);
    record_session_ticks(recorder, 100, 100);
    assert_int_equal(tact_recorder_close(recorder, &report), -ENOENT);
    assert_int_equal(report.records, 200);
    assert_int_equal(message_summary.errors, 1);
    assert_non_null(strstr(message_summary.text, "was deleted"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_committed_tick_of_a_killed_session_is_recovered),
        cmocka_unit_test(log_recovery_can_be_killed_and_repeated),
        cmocka_unit_test(damaged_recorder_rings_are_refused_or_reported),
        cmocka_unit_test(log_without_recorder_rings_is_completed),
        cmocka_unit_test(log_in_use_is_not_recovered),
        cmocka_unit_test(deleted_log_is_reported_by_recovery),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
