/* Recovery of killed logs that are damaged: a changed byte loses the chunk that contains it, which
 * is reported. */
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
#include "rt/log/mcap_internal.h"
#include "rt/log/mcap_reader_internal.h"
#include "support/campaign.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define DAMAGE_TRIAL_COUNT 50
#else
#define DAMAGE_TRIAL_COUNT campaign_trial_count(150, 750)
#endif

/* The record that contains a given byte of a log, before the damage. */
struct place {
    uint8_t opcode;
    uint64_t ticks; /* ticks in the record, if it is a chunk */
};

static uint64_t count_ticks_in_chunk(const struct tact_mcap_record *chunk)
{
    struct tact_bytes unpacked_chunk = {0};
    struct tact_mcap_record record;
    struct tact_mcap_message message;
    uint64_t ticks = 0;

    assert_int_equal(tact_mcap_parse_chunk(chunk->content, &unpacked_chunk), 0);
    struct tact_byte_cursor chunk_cursor = {unpacked_chunk.data, unpacked_chunk.size, false};
    while (tact_mcap_chunk_next_record(&chunk_cursor, &record) == 0) {
        if (record.opcode == TACT_MCAP_MESSAGE &&
            tact_mcap_parse_message(record.content, &message) == 0)
            ticks += message.channel ==
                     0; /* counts messages of the topic /tact/tick, the first channel */
    }
    tact_bytes_free(&unpacked_chunk);
    return ticks;
}

/* Finds the record that contains a byte; opcode 0 for one that the kill truncated. */
static struct place find_record_at_offset(const char *path, uint64_t at)
{
    struct place place = {.opcode = 0};
    struct tact_mcap_reader file;
    struct tact_mcap_record record;

    assert_int_equal(tact_mcap_reader_open(&file, path), 0);
    while (place.opcode == 0 && tact_mcap_reader_next(&file, &record) == 0) {
        if (at < file.offset)
            place = (struct place){record.opcode, record.opcode == TACT_MCAP_CHUNK
                                                      ? count_ticks_in_chunk(&record)
                                                      : 0};
    }
    tact_mcap_reader_close(&file);
    return place;
}

/* Checks that every committed tick is in the log bit for bit, or is among those reported as lost.
 * Returns the number of lost ticks. */
static uint64_t check_loss_is_reported(const char *path, uint64_t committed_ticks)
{
    uint64_t tick = 0;
    struct tact_record *expected = new_session_record(), *found = new_session_record();
    size_t bytes = sizeof *found + SESSION_DOUBLE_COUNT * sizeof(double);
    struct tact_log *log;

    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const struct tact_log_state *state = tact_log_state(log);
    memset(found, 0, bytes);
    memset(expected, 0, bytes);
    for (; tact_log_next(log, found) == 1; tick = found->tick + 1) {
        for (; tick < found->tick; tick++)
            assert_in_range(tick, state->lost_first, state->lost_last);
        fill_session_record(tick, expected);
        assert_memory_equal(found, expected, bytes);
    }
    assert_in_range(tick, committed_ticks, committed_ticks + 1);
    uint64_t lost = tick - state->ticks;
    assert_int_equal(state->lost, lost);
    assert_true(lost == 0 || strstr(state->why, "ticks are lost"));
    assert_true(!state->complete || lost == 0);
    free(expected);
    free(found);
    tact_log_close(log);
    return lost;
}

/* A second recovery does not change the log, and reports the same losses. */
static void check_second_recovery(const char *path, const struct tact_recover_report *first)
{
    struct tact_recover_report report;
    struct bytes before = read_file_bytes(path);

    assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
    struct bytes log_bytes_after_repair = read_file_bytes(path);
    assert_true(report.was_complete);
    assert_int_equal(report.ticks_damaged, first->ticks_damaged);
    assert_int_equal(report.damage[0] == 0, first->damage[0] == 0);
    assert_int_equal(before.size, log_bytes_after_repair.size);
    assert_memory_equal(before.data, log_bytes_after_repair.data, before.size);
    free(before.data);
    free(log_bytes_after_repair.data);
}

/* One damaged byte of a killed log loses the chunk that contains it, and nothing where its content
 * is also stored elsewhere: an index, the header, or a chunk still in the rings. */
static void damaged_byte_of_a_killed_log_loses_only_its_chunk(void **state)
{
    (void)state;
    const char *path = test_log_path("changed");
    struct tact_recorder_options options = recorder_options_with_small_ring();
    struct tact_recover_report report;
    struct tact_error err = {0};
    uint64_t seed = 4 ^ campaign_seed_offset(), lost = 0;
    int whole = 0;

    options.ring_ticks = 128;
    options.chunk_bytes = 30000;
    record_then_kill_recorder(path, &options, 1, 400, 3000);
    char rings[400];
    strcpy(rings, find_ring_file_path());
    struct bytes log = read_file_bytes(path), ring = read_file_bytes(rings);
    for (int run = 0; run < DAMAGE_TRIAL_COUNT; run++) {
        uint64_t at = next_random_of_seed(&seed) % (run % 10 == 0  ? 8
                                                    : run % 3 == 0 ? 1500
                                                                   : log.size);
        uint8_t flipped_bit_mask = (uint8_t)(1 + next_random_of_seed(&seed) % 255);
        write_file(path, log.data, log.size);
        struct place place = find_record_at_offset(path, at);
        log.data[at] ^= flipped_bit_mask;
        write_file(path, log.data, log.size);
        log.data[at] ^= flipped_bit_mask;
        write_file(rings, ring.data, ring.size);
        if (run % 2 == 0)
            kill_recovery_after_delay(path, next_random_of_seed(&seed) % 5000);
        if (tact_log_recover(path, folder, &report, &err) != 0)
            fail_msg("byte %lu ^ %02x: %s", (unsigned long)at, flipped_bit_mask, err.text);
        uint64_t missing = check_loss_is_reported(path, atomic_load(&shared->ticks));
        if (missing > place.ticks)
            fail_msg("byte %lu ^ %02x: %lu ticks are lost, the record of kind %d has %lu",
                     (unsigned long)at, flipped_bit_mask, (unsigned long)missing, place.opcode,
                     (unsigned long)place.ticks);
        assert_int_equal(report.ticks_damaged, missing);
        assert_int_equal(report.ticks_lost, 0);
        check_second_recovery(path, &report);
        assert_true(report.damage[0] || missing == 0);
        if (place.opcode != TACT_MCAP_CHUNK && place.opcode != TACT_MCAP_ATTACHMENT &&
            place.opcode != TACT_MCAP_METADATA)
            check_recovered_log(path);
        lost += missing;
        whole += !report.damage[0];
    }
    print_message("%d changed bytes: %d without a loss, %lu ticks lost of the others\n",
                  DAMAGE_TRIAL_COUNT, whole, (unsigned long)lost);
    assert_true(whole > 0 && lost > 0);
    unlink(rings);
    free(log.data);
    free(ring.data);
    unlink(path);
}

/* One damaged byte of a killed log without its ring file, as after a restart of the machine: the
 * loss is reported. */
static void log_damage_without_recorder_rings_is_reported(void **state)
{
    (void)state;
    const char *path = test_log_path("changed_alone");
    struct tact_recorder_options options = recorder_options_with_small_ring();
    struct tact_recover_report report;
    uint64_t seed = 6 ^ campaign_seed_offset(), lost = 0;

    options.ring_ticks = 128;
    options.chunk_bytes = 30000;
    record_then_kill_recorder(path, &options, 1, 400, 3000);
    unlink(find_ring_file_path());
    struct bytes log = read_file_bytes(path);
    assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
    uint64_t ticks = report.ticks;
    /* The log does not say how many ticks its last chunk contained. */
    for (int run = 0; run < DAMAGE_TRIAL_COUNT / 5; run++) {
        uint64_t at = next_random_of_seed(&seed) % (run % 10 == 0 ? 8 : log.size / 2);
        write_file(path, log.data, log.size);
        struct place place = find_record_at_offset(path, at);
        log.data[at] ^= 0x10;
        write_file(path, log.data, log.size);
        log.data[at] ^= 0x10;
        assert_int_equal(tact_log_recover(path, folder, &report, NULL), 0);
        uint64_t missing = check_loss_is_reported(path, ticks - 1);
        assert_in_range(missing, 0, place.ticks);
        assert_int_equal(report.ticks_damaged, missing);
        check_second_recovery(path, &report);
        lost += missing;
    }
    assert_true(lost > 0);
    free(log.data);
    unlink(path);
}

/* A log that is truncated after the kill: the rings restore what they contain, or the recovery is
 * refused. */
static void truncated_killed_logs_are_completed_or_refused(void **state)
{
    (void)state;
    const char *path = test_log_path("cut");
    struct tact_recorder_options options = recorder_options_with_small_ring();
    struct tact_recover_report report;
    uint64_t seed = 5 ^ campaign_seed_offset();
    int refused = 0, completed = 0, reported_loss_count = 0;

    options.ring_ticks = 128;
    options.chunk_bytes = 30000;
    record_then_kill_recorder(path, &options, 1, 400, 3000);
    char rings[400];
    strcpy(rings, find_ring_file_path());
    struct bytes log = read_file_bytes(path), ring = read_file_bytes(rings);
    for (int run = 0; run < DAMAGE_TRIAL_COUNT / 2; run++) {
        write_file(path, log.data, next_random_of_seed(&seed) % log.size);
        write_file(rings, ring.data, ring.size);
        if (tact_log_recover(path, folder, &report, NULL) != 0)
            refused++;
        else if (check_loss_is_reported(path, atomic_load(&shared->ticks)) > 0)
            reported_loss_count++;
        else
            completed++;
    }
    print_message("%d cut logs: %d refused, %d completed, %d with the loss stated\n",
                  DAMAGE_TRIAL_COUNT / 2, refused, completed, reported_loss_count);
    assert_true(reported_loss_count > 0);
    unlink(rings);
    /* The log of another session at the same path, with the ring file of this one. */
    write_file(path, log.data, log.size);
    write_file(rings, ring.data, ring.size);
    char other[600];
    snprintf(other, sizeof other, "%s.other", path);
    options.wall_anchor_ns++;
    record_then_kill_recorder(other, &options, 1, 400, 3000);
    struct bytes log_of_other_session = read_file_bytes(other);
    assert_int_equal(tact_log_recover(other, folder, &report, NULL), 0);
    write_file(path, log_of_other_session.data, log_of_other_session.size);
    assert_int_equal(tact_log_recover(path, folder, &report, NULL), -EBADMSG);
    unlink(rings);
    free(log.data);
    free(ring.data);
    free(log_of_other_session.data);
    unlink(other);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_byte_of_a_killed_log_loses_only_its_chunk),
        cmocka_unit_test(log_damage_without_recorder_rings_is_reported),
        cmocka_unit_test(truncated_killed_logs_are_completed_or_refused),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
