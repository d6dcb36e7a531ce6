/* Damaged logs: whatever the bytes of a file, the reader neither crashes nor reports a damaged log
 * as complete. Seeded, so that a failure can be repeated. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <cmocka.h>
#include "log_session.h"
#include "rt/log/mcap_internal.h"
#include "rt/log/mcap_reader_internal.h"
#include "rt/log/mcap_writer_internal.h"
#include "rt/log/recover.h"
#include "support/campaign.h"

#define TICKS 400
#define EVENT_COUNT 3

/* A finished log, read into memory. */
static uint8_t *whole;
static size_t intact_log_size;

/* Path for damaged log files: many are written, so they go to memory (/dev/shm), not to a disk. */
static int memory_file_fd = -1;
static char path[64];

static void write_file(const void *data, size_t size)
{
    assert_int_equal(ftruncate(memory_file_fd, 0), 0);
    assert_int_equal(pwrite(memory_file_fd, data, size, 0), size);
}

static int record_log_in_memory(void **state)
{
    (void)state;
    const char *file = test_log_path("whole");
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder *recorder;
    struct stat status;

    options.chunk_ns = 50000000;
    memory_file_fd = memfd_create("log", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory_file_fd);
    if (memory_file_fd < 0 ||
        open_session_recorder(file, &options, (struct tact_messages){0}, &recorder) != 0)
        return -1;
    for (uint64_t i = 0; i < EVENT_COUNT; i++) {
        tact_recorder_event(recorder, i, (int64_t)i, "marker", "a text");
        record_session_ticks(recorder, i * 100, 100);
    }
    record_session_ticks(recorder, EVENT_COUNT * 100, TICKS - EVENT_COUNT * 100);
    if (tact_recorder_close(recorder, NULL) != 0)
        return -1;
    int fd = open(file, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        return -1;
    intact_log_size = (size_t)status.st_size;
    whole = malloc(intact_log_size);
    if (!whole || read(fd, whole, intact_log_size) != status.st_size)
        return -1;
    close(fd);
    unlink(file);
    return 0;
}

static int free_recorded_log(void **state)
{
    (void)state;
    free(whole);
    close(memory_file_fd);
    return 0;
}

/* Reads all ticks and checks that each equals the recorded one and that they are in order; returns
 * their number. */
static uint64_t count_equal_ticks(struct tact_log *log)
{
    struct tact_record *expected = new_session_record(), *found = new_session_record();
    size_t bytes = sizeof *found + SESSION_DOUBLE_COUNT * sizeof(double);
    uint64_t equal_tick_count = 0, next = 0;

    for (; tact_log_next(log, found) == 1 && found->tick >= next && found->tick < TICKS;
         equal_tick_count++) {
        fill_session_record(found->tick, expected);
        if (memcmp(expected, found, bytes) != 0)
            break;
        next = found->tick + 1;
    }
    free(expected);
    free(found);
    return equal_tick_count;
}

/* Checks that all ticks that can be read from a damaged log equal the recorded ones; returns
 * whether the reader reports the log as complete. */
static bool check_readable_content_of_log(struct tact_log *log)
{
    const struct tact_log_state *state = tact_log_state(log);

    assert_int_equal(count_equal_ticks(log), state->ticks);
    for (size_t i = 0; i < state->events; i++) {
        const struct tact_log_event *event = tact_log_event(log, i);
        assert_true(i == 0 ? event->tick < EVENT_COUNT
                           : event->tick > tact_log_event(log, i - 1)->tick);
        assert_string_equal(event->name, "marker");
        assert_string_equal(event->text, "a text");
    }
    assert_in_range(tact_log_attachment_count(log), 0, 3);
    for (size_t i = 0; i < tact_log_attachment_count(log); i++) {
        const struct tact_log_attachment *a = tact_log_attachment_at(log, i);
        size_t k = 0;
        while (k < 3 && strcmp(a->name, session_attachments[k].name) != 0)
            k++;
        assert_in_range(k, i, 2);
        assert_int_equal(a->size, session_attachments[k].size);
        assert_memory_equal(a->data, session_attachments[k].data, a->size);
    }
    for (size_t i = 0; i < tact_log_fact_count(log); i++) {
        if (i >= 4)
            assert_string_equal(tact_log_fact_at(log, i)->value, session_facts[i - 4].value);
    }
    assert_int_equal(state->complete, state->why[0] == '\0');
    assert_true(!state->complete || state->data_complete);
    return state->ticks == TICKS && state->events == EVENT_COUNT &&
           tact_log_attachment_count(log) == 3 && tact_log_fact_count(log) == 7;
}

/* Finds, by the log's own index, where each chunk ends and how many ticks were recorded up to
 * there. */
struct extent {
    size_t end;
    uint64_t ticks;
};

static size_t find_log_chunks(struct extent *chunks, size_t most)
{
    uint64_t ticks = 0, length;
    size_t count = 0, end = 0;
    uint32_t message_index_entry_bytes;

    for (size_t at = 8; whole[at] != TACT_MCAP_DATA_END; at += 9 + length) {
        memcpy(&length, whole + at + 1, 8);
        if (whole[at] == TACT_MCAP_CHUNK)
            end = at + 9 + length;
        if (whole[at] == TACT_MCAP_MESSAGE_INDEX && whole[at + 9] == 0) {
            memcpy(&message_index_entry_bytes, whole + at + 11, 4);
            ticks += message_index_entry_bytes / 16;
            assert_true(count < most);
            chunks[count++] = (struct extent){end, ticks};
        }
    }
    return count;
}

static void truncated_log_returns_its_whole_chunks(void **state)
{
    (void)state;
    struct extent chunks[TICKS];
    size_t count = find_log_chunks(chunks, TICKS);
    uint64_t seed = 1 ^ campaign_seed_offset();

    assert_in_range(count, 5, 50);
    assert_int_equal(chunks[count - 1].ticks, TICKS);
    for (int i = 0; i < 300; i++) {
        size_t cut = next_random_of_seed(&seed) % intact_log_size;
        uint64_t expected = 0;
        struct tact_log *log;
        /* the log is also truncated exactly at the end of a chunk */
        if (i < (int)count)
            cut = chunks[i].end;
        for (size_t c = 0; c < count && chunks[c].end <= cut; c++)
            expected = chunks[c].ticks;
        write_file(whole, cut);
        int rc = tact_log_open(path, &log, NULL);
        if (expected == 0 && rc != 0) {
            /* an event may be in a chunk before that of the first tick */
            assert_true(rc == -ENODATA || rc == -EINVAL);
            continue;
        }
        assert_int_equal(rc, 0);
        const struct tact_log_state *found = tact_log_state(log);
        assert_false(found->complete);
        assert_int_equal(found->ticks, expected);
        assert_int_equal(found->file_bytes, cut);
        assert_int_equal(found->damage_at + found->bytes_lost, cut);
        assert_true(expected == 0 || found->damage_at >= chunks[0].end);
        check_readable_content_of_log(log);
        tact_log_close(log);
    }
}

/* A change of any byte of a finished log is detected. */
static void changed_byte_of_a_log_is_detected(void **state)
{
    (void)state;
    uint64_t seed = 2 ^ campaign_seed_offset();
    int refused = 0, short_of = 0;

    /* Changes every byte at the front and at the end of the log, and a sample of the bytes of
     * chunks. */
    for (size_t i = 0; i < 1500; i++) {
        size_t at = i < 450   ? i
                    : i < 900 ? intact_log_size - 1 - (i - 450)
                              : next_random_of_seed(&seed);
        uint8_t flipped_bit_mask = (uint8_t)(i % 3 == 0 ? 1U << next_random_of_seed(&seed) % 8
                                                        : 1 + next_random_of_seed(&seed) % 255);
        struct tact_log *log;
        at %= intact_log_size;
        whole[at] ^= flipped_bit_mask;
        write_file(whole, intact_log_size);
        whole[at] ^= flipped_bit_mask;
        if (tact_log_open(path, &log, NULL) != 0) {
            refused++;
            continue;
        }
        if (tact_log_state(log)->complete)
            fail_msg("byte %zu ^ %02x was not noticed", at, flipped_bit_mask);
        if (!check_readable_content_of_log(log))
            short_of++;
        tact_log_close(log);
    }
    printf("1500 changed bytes: %d refused, %d read in part, %d read in full with a warning\n",
           refused, short_of, 1500 - refused - short_of);
}

/* The log of a killed session has no checksum of the whole file: a changed byte is detected, or
 * changes no value. */
static void changed_byte_of_a_log_without_end_is_detected(void **state)
{
    (void)state;
    struct extent chunks[TICKS];
    size_t count = find_log_chunks(chunks, TICKS), size = chunks[count - 1].end;
    uint64_t seed = 3 ^ campaign_seed_offset();

    for (size_t i = 0; i < 1000; i++) {
        size_t at = i < 450 ? i : next_random_of_seed(&seed) % size;
        uint8_t flipped_bit_mask = (uint8_t)(1 + next_random_of_seed(&seed) % 255);
        struct tact_log *log;
        whole[at] ^= flipped_bit_mask;
        write_file(whole, size);
        whole[at] ^= flipped_bit_mask;
        if (tact_log_open(path, &log, NULL) != 0)
            continue;
        const struct tact_log_state *found = tact_log_state(log);
        bool is_damage_noticed = found->damage_at < size && found->bytes_lost > 0;
        assert_false(found->complete);
        if (!check_readable_content_of_log(log) && !is_damage_noticed)
            fail_msg("byte %zu ^ %02x was not noticed", at, flipped_bit_mask);
        tact_log_close(log);
    }
}

/* Reads a damaged log to its end; only crashes fail. */
static void read_whole_log(void)
{
    struct tact_error err = {0};
    struct tact_log *log;

    int rc = tact_log_open(path, &log, &err);
    if (rc != 0) {
        assert_true(rc < 0);
        assert_string_not_equal(err.text, "");
        return;
    }
    struct tact_record *record = calloc(1, tact_layout_bytes(tact_log_layout(log)));
    uint64_t ticks = 0;
    assert_non_null(record);
    while (tact_log_next(log, record) == 1)
        ticks++;
    assert_int_equal(ticks, tact_log_state(log)->ticks);
    assert_int_equal(tact_log_seek(log, ticks / 2), 0);
    assert_int_equal(tact_log_next(log, record), ticks > 0);
    free(record);
    tact_log_close(log);
}

static void log_with_many_damaged_bytes_is_read_without_harm(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(intact_log_size);
    uint64_t seed = 4 ^ campaign_seed_offset();

    for (int i = 0; i < 400; i++) {
        memcpy(bytes, whole, intact_log_size);
        size_t changed_byte_count = 1 + next_random_of_seed(&seed) % 4;
        for (size_t b = 0; b < changed_byte_count; b++) {
            size_t length = 1 + next_random_of_seed(&seed) % 64;
            size_t from = next_random_of_seed(&seed) % (intact_log_size - length);
            size_t to = next_random_of_seed(&seed) % (intact_log_size - length);
            uint64_t kind = next_random_of_seed(&seed) % 3;
            if (kind == 0)
                memmove(bytes + to, bytes + from, length);
            else
                memset(bytes + to, kind == 1 ? 0 : 0xFF, length);
        }
        write_file(bytes,
                   intact_log_size - (i % 2 ? next_random_of_seed(&seed) % intact_log_size : 0));
        read_whole_log();
    }
    free(bytes);
}

static void append_forged_record(struct tact_bytes *out, uint8_t opcode, const void *data,
                                 size_t size)
{
    tact_bytes_append_u8(out, opcode);
    tact_bytes_append_u64(out, size);
    tact_bytes_append(out, data, size);
}

/* Appends to a forged log a chunk of these bytes with a correct checksum. */
static void append_mcap_chunk(struct tact_bytes *out, const struct tact_bytes *chunk)
{
    struct tact_bytes content = {0};

    tact_bytes_append_u64(&content, 0);
    tact_bytes_append_u64(&content, 0);
    tact_bytes_append_u64(&content, chunk->size);
    tact_bytes_append_u32(&content, tact_crc32(0, chunk->data, chunk->size));
    tact_bytes_append_text(&content, "");
    tact_bytes_append_u64(&content, chunk->size);
    tact_bytes_append(&content, chunk->data, chunk->size);
    append_forged_record(out, TACT_MCAP_CHUNK, content.data, content.size);
    tact_bytes_free(&content);
}

/* Damaged chunks whose checksums are correct: only the parsers of records can detect the damage. */
static void forged_log_chunks_are_detected(void **state)
{
    (void)state;
    const char *base = test_log_path("forged");
    struct tact_bytes forged_log = {0}, chunk = {0};
    uint64_t seed = 5 ^ campaign_seed_offset();

    int fd = open(base, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_int_equal(write(fd, whole, intact_log_size), intact_log_size);
    close(fd);
    for (int i = 0; i < 300; i++) {
        struct tact_mcap_reader reader;
        struct tact_mcap_record record;
        assert_int_equal(tact_mcap_reader_open(&reader, base), 0);
        forged_log.size = 0;
        tact_bytes_append(&forged_log, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE);
        while (tact_mcap_reader_next(&reader, &record) == 0 &&
               record.opcode != TACT_MCAP_DATA_END) {
            if (record.opcode != TACT_MCAP_CHUNK) {
                append_forged_record(&forged_log, record.opcode, record.content.data,
                                     record.content.size);
                continue;
            }
            assert_int_equal(tact_mcap_parse_chunk(record.content, &chunk), 0);
            size_t byte_change_count = next_random_of_seed(&seed) % 3;
            for (size_t c = 0; c < byte_change_count; c++) {
                /* Most structure of a chunk is at its front, so most changes are made there. */
                size_t span = next_random_of_seed(&seed) % 2 ? 2000 : chunk.size;
                size_t at = next_random_of_seed(&seed) % (span < chunk.size ? span : chunk.size);
                chunk.data[at] = (uint8_t)next_random_of_seed(&seed);
            }
            if (next_random_of_seed(&seed) % 20 == 0)
                chunk.size = next_random_of_seed(&seed) % chunk.size;
            append_mcap_chunk(&forged_log, &chunk);
        }
        tact_mcap_reader_close(&reader);
        write_file(forged_log.data, forged_log.size);
        read_whole_log();
    }
    tact_bytes_free(&forged_log);
    tact_bytes_free(&chunk);
    unlink(base);
}

static void false_lengths_of_log_records_are_refused(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0,         1,          UINT64_MAX, UINT64_MAX - 8,
                                       INT64_MAX, UINT32_MAX, 1U << 20,   UINT64_C(1) << 40};
    struct tact_bytes file = {0}, content = {0};

    for (unsigned opcode = 0; opcode < 0x12; opcode++) {
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            for (size_t inner = 0; inner < 64; inner += 3) {
                file.size = content.size = 0;
                for (size_t b = 0; b < inner; b++)
                    tact_bytes_append_u8(&content, 0);
                tact_bytes_append_u64(&content, lengths[i]);
                tact_bytes_append_u64(&content, lengths[i]);
                tact_bytes_append(&file, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE);
                tact_bytes_append_u8(&file, (uint8_t)opcode);
                tact_bytes_append_u64(&file, i % 2 ? lengths[i] : content.size);
                tact_bytes_append(&file, content.data, content.size);
                write_file(file.data, file.size);
                read_whole_log();
            }
        }
    }
    /* A chunk whose stated size is more than a reader should allocate. */
    file.size = content.size = 0;
    tact_bytes_append_u64(&content, 0);
    tact_bytes_append_u64(&content, 0);
    tact_bytes_append_u64(&content, UINT64_C(1) << 40);
    tact_bytes_append_u32(&content, 0);
    tact_bytes_append_text(&content, "zstd");
    tact_bytes_append_u64(&content, 4);
    tact_bytes_append_u32(&content, 0xFD2FB528);
    struct tact_bytes chunk = {0};
    assert_int_equal(
        tact_mcap_parse_chunk((struct tact_byte_span){content.data, content.size}, &chunk),
        -EBADMSG);
    assert_int_equal(chunk.capacity, 0);
    tact_bytes_free(&file);
    tact_bytes_free(&content);
}

static int open_log_and_close(const char *path)
{
    struct tact_log *log = NULL;
    const int rc = tact_log_open(path, &log, NULL);
    tact_log_close(log);
    return rc;
}

static int recover_log(const char *path)
{
    return tact_log_recover(path, NULL, NULL, NULL);
}

/* Writes a file, and checks that what is done with it gives `expected` in two seconds of processor
 * time. Frees the bytes and removes the file. */
static void check_time_of_search_in_damaged_log(const char *path, struct tact_bytes *file,
                                                int (*read)(const char *), int expected)
{
    struct timespec from, to;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_int_equal(write(fd, file->data, file->size), file->size);
    close(fd);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    assert_int_equal(read(path), expected);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    printf("%zu bytes are searched in %.3f s\n", file->size, seconds);
    assert_true(seconds < 2.0);
    tact_bytes_free(file);
    unlink(path);
}

/* 500 damaged records, each after 72 false heads that claim the rest of the file: to read them all
 * for each would be 72 * 500 times half the file. */
static void search_for_records_after_damage_is_limited(void **state)
{
    (void)state;
    enum { RECORDS = 500, HEADS = 72 };
    const size_t record_bytes = HEADS * TACT_MCAP_RECORD_HEADER + TACT_MCAP_RECORD_HEADER + 4;
    struct tact_bytes file = {0};
    const char *path = test_log_path("resync");

    tact_bytes_append(&file, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE);
    tact_mcap_put_header(&file, "ros2", "tact");
    const size_t size = file.size + RECORDS * record_bytes;
    for (int i = 0; i < RECORDS; i++) {
        for (int k = 0; k < HEADS; k++) {
            tact_bytes_append_u8(&file, TACT_MCAP_ATTACHMENT);
            tact_bytes_append_u64(&file, size - file.size - 8);
        }
        append_forged_record(&file, TACT_MCAP_DAMAGE_COVER, "\0\0\0", 4);
    }
    assert_int_equal(file.size, size);
    check_time_of_search_in_damaged_log(path, &file, open_log_and_close, -ENODATA);
}

/* Half a log, then 20000 false heads of chunks: recovery does not read to the end from each. */
static void search_for_chunks_in_a_recovery_is_limited(void **state)
{
    (void)state;
    enum { HEADS = 20000 };
    struct tact_bytes file = {0};
    const char *path = test_log_path("resync_recovery");

    tact_bytes_append(&file, whole, intact_log_size / 2);
    const size_t size = file.size + HEADS * TACT_MCAP_RECORD_HEADER;
    while (file.size < size) {
        tact_bytes_append_u8(&file, TACT_MCAP_CHUNK);
        tact_bytes_append_u64(&file, size - file.size - 8);
    }
    check_time_of_search_in_damaged_log(path, &file, recover_log, -EBADMSG);
}

static void files_that_are_no_log_are_refused(void **state)
{
    (void)state;
    struct tact_error err = {0};
    struct tact_log *log = NULL;
    struct tact_mcap_writer *writer;

    assert_int_equal(tact_log_open("/nonexistent", &log, &err), -ENOENT);
    assert_string_equal(err.file, "/nonexistent");
    assert_int_equal(tact_log_open("/", &log, &err), -EISDIR);
    assert_int_equal(tact_log_open("/dev/null", &log, &err), -EINVAL);
    write_file("", 0);
    assert_int_equal(tact_log_open(path, &log, &err), -ENODATA);
    write_file("time,x,y\n0,1,2\n", 15);
    assert_int_equal(tact_log_open(path, &log, &err), -EINVAL);
    assert_non_null(strstr(err.text, "MCAP"));

    /* A valid MCAP file of another program is refused. */
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_int_equal(tact_mcap_writer_open(fd, "ros2", "other", 1, &writer), 0);
    int schema = tact_mcap_writer_add_schema(writer, "std_msgs/msg/String", "string data\n", 12);
    int channel = tact_mcap_writer_add_channel(writer, schema, "/chatter");
    tact_bytes_append(tact_mcap_writer_begin_message(writer, channel, 5), "\0\1\0\0\2\0\0\0x\0",
                      10);
    tact_mcap_writer_end_message(writer);
    assert_int_equal(tact_mcap_writer_close(writer, NULL), 0);
    assert_int_equal(tact_log_open(path, &log, &err), -EINVAL);
    assert_non_null(strstr(err.text, "/tact/tick"));
    assert_null(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_log_returns_its_whole_chunks),
        cmocka_unit_test(changed_byte_of_a_log_is_detected),
        cmocka_unit_test(changed_byte_of_a_log_without_end_is_detected),
        cmocka_unit_test(log_with_many_damaged_bytes_is_read_without_harm),
        cmocka_unit_test(forged_log_chunks_are_detected),
        cmocka_unit_test(false_lengths_of_log_records_are_refused),
        cmocka_unit_test(search_for_records_after_damage_is_limited),
        cmocka_unit_test(search_for_chunks_in_a_recovery_is_limited),
        cmocka_unit_test(files_that_are_no_log_are_refused),
    };
    return cmocka_run_group_tests(tests, record_log_in_memory, free_recorded_log);
}
