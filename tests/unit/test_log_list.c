/* Records that end with a list of contacts: the reader returns what was recorded, each pair in
 * fields of its own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "log_session.h"
#include "rt/log/recover.h"

#define LOGGED_SHAPE_COUNT 6
#define DOUBLES_PER_ELEMENT 4 /* number of doubles in the fields of a list element */
#define TICKS 600
#define MAX_LIST_ENTRIES 8

static const char *const owners[LOGGED_SHAPE_COUNT] = {"floor", "finger tip",        "finger tip",
                                                       "a/b#9", "\xc3\xa9t\xc3\xa9", "9"};
static const struct tact_messages no_messages = {NULL, NULL};

static void make_layout_with_list(struct tact_layout *layout)
{
    tact_layout_add(layout, TACT_FIELD_INPUT, "device", "", 3);
    assert_int_equal(tact_layout_add_list(layout, MAX_LIST_ENTRIES), 0);
    assert_int_equal(tact_layout_add_list(layout, MAX_LIST_ENTRIES), -EINVAL);
    tact_layout_add(layout->element, TACT_FIELD_OUTPUT, "wrench", "N", 3);
    tact_layout_add(layout->element, TACT_FIELD_OUTPUT, "limits", "", 1);
    layout->element->fields[1].absent = 1.0;
}

/* The shape pairs that are in contact in a tick, ascending: each in about one tick of three, the
 * last but one only in ticks over 550, the last one never. */
static uint32_t shape_pairs_of_tick(uint64_t tick, uint32_t pairs[MAX_LIST_ENTRIES][2])
{
    uint64_t seed = tick;
    uint32_t count = 0;
    for (uint32_t a = 0; a < LOGGED_SHAPE_COUNT; a++) {
        for (uint32_t b = a + 1; b < LOGGED_SHAPE_COUNT; b++) {
            int wanted = next_random_of_seed(&seed) % 3 == 0 && a + b < 2 * LOGGED_SHAPE_COUNT - 3;
            if (wanted && count < MAX_LIST_ENTRIES &&
                (a + b < 2 * LOGGED_SHAPE_COUNT - 4 || tick > 550)) {
                pairs[count][0] = a;
                pairs[count++][1] = b;
            }
        }
    }
    return tick % 50 == 49 ? 0 : count;
}

static void expected_values_of_pair(uint64_t tick, uint32_t a, uint32_t b,
                                    double out[DOUBLES_PER_ELEMENT])
{
    uint64_t seed = tick * 1000 + a * 10 + b;
    for (int i = 0; i < DOUBLES_PER_ELEMENT; i++) {
        uint64_t bits = next_random_of_seed(&seed);
        memcpy(&out[i], &bits, sizeof bits);
    }
}

static void fill_list_record(uint64_t tick, struct tact_record *record)
{
    uint32_t pairs[MAX_LIST_ENTRIES][2], count = shape_pairs_of_tick(tick, pairs);
    double *element = record->values + 4;
    record->tick = tick;
    record->stamp_ns = SESSION_START_NS + (int64_t)tick * 1000000;
    for (int i = 0; i < 3; i++) {
        record->values[i] = (double)tick + 0.1 * i;
    }
    record->values[3] = count;
    for (uint32_t i = 0; i < count; i++, element += TACT_ELEMENT_HEAD + DOUBLES_PER_ELEMENT) {
        element[0] = pairs[i][0];
        element[1] = pairs[i][1];
        element[2] = 1 + (pairs[i][0] == 0 && pairs[i][1] == 2);
        expected_values_of_pair(tick, pairs[i][0], pairs[i][1], element + TACT_ELEMENT_HEAD);
    }
}

static void record_log_with_lists(const char *path, uint64_t split_bytes)
{
    struct tact_layout layout = {0};
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder *recorder;
    struct tact_error err = {0};
    make_layout_with_list(&layout);
    struct tact_recorder_content content = {
        .layout = &layout, .owners = owners, .owner_count = LOGGED_SHAPE_COUNT};
    options.split_bytes = split_bytes;
    if (split_bytes) { /* the split size is such that the next file begins before the last ticks */
        options.ring_ticks = 16;
        options.chunk_bytes = 4096;
    }
    if (tact_recorder_open(path, &options, &content, no_messages, &recorder, &err)) {
        fail_msg("%s", err.text);
    }
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        tact_recorder_wait_room(recorder);
        fill_list_record(tick, tact_recorder_begin(recorder));
        tact_recorder_commit(recorder);
    }
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    tact_layout_free(&layout);
}

static void expect_record_of_tick(const struct tact_log *log, const struct tact_record *r)
{
    uint32_t pairs[MAX_LIST_ENTRIES][2], count = shape_pairs_of_tick(r->tick, pairs), at = 0;
    const struct tact_log_pair *p;
    assert_true(r->values[1] == (double)r->tick + 0.1);
    for (size_t i = 0; (p = tact_log_pair(log, i)); i++) {
        double expected[DOUBLES_PER_ELEMENT] = {0.0, 0.0, 0.0, 1.0};
        if (at < count && p->a == pairs[at][0] && p->b == pairs[at][1]) {
            expected_values_of_pair(r->tick, p->a, p->b, expected);
            at++;
        }
        assert_memory_equal(r->values + p->offset, expected, sizeof expected);
    }
    assert_int_equal(at, count);
}

static void expect_log_as_recorded(const char *path, unsigned parts)
{
    struct tact_log *log;
    struct tact_error err = {0};
    uint32_t count = 0;
    if (tact_log_open(path, &log, &err)) {
        fail_msg("%s", err.text);
    }
    assert_true(tact_log_parts(log) >= parts);
    assert_int_equal(tact_log_element(log)->size, DOUBLES_PER_ELEMENT);
    const struct tact_log_pair *first = tact_log_pair(log, 0), *second = tact_log_pair(log, 1);
    assert_string_equal(first->name, "floor/finger tip");
    assert_string_equal(second->name, "floor/finger tip#2");
    assert_int_equal(first->offset, 3);
    assert_int_equal(tact_log_field(log, "floor_finger_tip_limits", &count), 6);
    assert_int_equal(count, 1);
    assert_int_equal(tact_log_field(log, "floor_finger_tip_2_wrench", NULL),
                     3 + DOUBLES_PER_ELEMENT);
    assert_int_equal(tact_log_field(log, "floor_a_b_9_wrench", NULL), 3 + 2 * DOUBLES_PER_ELEMENT);
    for (size_t i = 1; tact_log_pair(log, i); i++) {
        const struct tact_log_pair *a = tact_log_pair(log, i - 1), *b = tact_log_pair(log, i);
        assert_true(a->a < b->a || (a->a == b->a && a->b < b->b));
    }
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        assert_int_equal(tact_log_next(log, r), 1);
        assert_int_equal(r->tick, tick);
        expect_record_of_tick(log, r);
    }
    assert_int_equal(tact_log_next(log, r), 0);
    assert_int_equal(tact_log_seek(log, 333), 0);
    assert_int_equal(tact_log_next(log, r), 1);
    assert_int_equal(r->tick, 333);
    expect_record_of_tick(log, r);
    free(r);
    tact_log_close(log);
}

static void logged_lists_are_read_as_recorded(void **unused)
{
    (void)unused;
    char path[] = "/tmp/tact_list_XXXXXX";
    close(mkstemp(path));
    record_log_with_lists(path, 0);
    expect_log_as_recorded(path, 1);
    unlink(path);
}

/* A pair that is first in contact in a later file of a split log has fields in the layout, too. */
static void pairs_first_logged_in_later_files_have_fields(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/tact_list_XXXXXX", path[64], part[80];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.mcap", folder);
    record_log_with_lists(path, 65536);
    expect_log_as_recorded(path, 2);
    for (unsigned i = 1; i < 10; i++) {
        char *name = tact_log_part_path(path, i);
        snprintf(part, sizeof part, "%s", name);
        free(name);
        unlink(part);
    }
    rmdir(folder);
}

/* A changed byte in a list is found by the chunk's checksum, and the other chunks are read. */
static void damaged_chunk_of_lists_loses_only_its_ticks(void **unused)
{
    (void)unused;
    char path[] = "/tmp/tact_list_XXXXXX";
    struct tact_log *log;
    close(mkstemp(path));
    record_log_with_lists(path, 0);
    FILE *file = fopen(path, "r+");
    fseek(file, 0, SEEK_END);
    long middle = ftell(file) / 2;
    fseek(file, middle, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, middle, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const struct tact_log_state *state = tact_log_state(log);
    assert_true(!state->complete && state->ticks > 0 && state->ticks < TICKS);
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    uint64_t ticks = 0;
    while (tact_log_next(log, r) > 0) {
        expect_record_of_tick(log, r);
        ticks++;
    }
    assert_int_equal(ticks, state->ticks);
    free(r);
    tact_log_close(log);
    unlink(path);
}

/* Refused list layouts: capacity 0, no fields, invalid names. */
static void invalid_log_lists_are_refused(void **unused)
{
    (void)unused;
    struct tact_recorder_options options = session_recorder_options();
    struct tact_recorder *recorder;
    struct tact_error err;
    for (int i = 0; i < 3; i++) {
        static const char *const bad[] = {"floor", ""};
        struct tact_layout layout = {0};
        tact_layout_add(&layout, TACT_FIELD_INPUT, "device", "", 3);
        tact_layout_add_list(&layout, i == 0 ? 0 : MAX_LIST_ENTRIES);
        if (i != 1) {
            tact_layout_add(layout.element, TACT_FIELD_OUTPUT, "wrench", "N", 3);
        }
        struct tact_recorder_content content = {
            .layout = &layout, .owners = bad, .owner_count = i == 2 ? 2 : 1};
        err = (struct tact_error){0};
        assert_int_equal(tact_recorder_open("/tmp/tact_list_none", &options, &content, no_messages,
                                            &recorder, &err),
                         -EINVAL);
        print_message("%s\n", err.text);
        assert_non_null(strstr(err.text, i == 2 ? "name of the body or link" : "needs a capacity"));
        tact_layout_free(&layout);
    }
}

/* A record beyond what the recorder's rings take is refused before an older log is replaced. */
static void record_too_long_for_its_ring_leaves_the_old_log(void **unused)
{
    (void)unused;
    char path[] = "/tmp/tact_list_XXXXXX", old[8] = {0};
    struct tact_recorder_options options = session_recorder_options();
    struct tact_layout layout = {0};
    struct tact_recorder *recorder;
    struct tact_error err = {0};
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "old log", 7), 7);
    make_layout_with_list(&layout);
    layout.most = TACT_RECORD_BYTES_MAX / 56 + 1;
    struct tact_recorder_content content = {
        .layout = &layout, .owners = owners, .owner_count = LOGGED_SHAPE_COUNT};
    assert_int_equal(tact_recorder_open(path, &options, &content, no_messages, &recorder, &err),
                     -E2BIG);
    print_message("%s\n", err.text);
    assert_non_null(strstr(err.text, "a list of up to 299594 contacts"));
    assert_int_equal(pread(fd, old, 8, 0), 7);
    assert_string_equal(old, "old log");
    close(fd);
    tact_layout_free(&layout);
    unlink(path);
}

/* 19900 pairs of one name, as long names that are cut are: each has a field of its own. */
static void contact_pairs_of_one_cut_name_are_read(void **unused)
{
    (void)unused;
    enum { MANY = 200, PAIRS = MANY * (MANY - 1) / 2 };
    char path[] = "/tmp/tact_list_XXXXXX";
    const char *names[MANY];
    struct tact_recorder_options options = session_recorder_options();
    struct tact_layout layout = {0};
    struct tact_recorder *recorder;
    struct tact_error err = {0};
    struct tact_log *log;
    close(mkstemp(path));
    tact_layout_add(&layout, TACT_FIELD_INPUT, "device", "", 3);
    tact_layout_add_list(&layout, MANY * MANY);
    tact_layout_add(layout.element, TACT_FIELD_OUTPUT, "x", "", 1);
    for (int i = 0; i < MANY; i++) {
        names[i] = "x";
    }
    struct tact_recorder_content content = {
        .layout = &layout, .owners = names, .owner_count = MANY};
    assert_int_equal(tact_recorder_open(path, &options, &content, no_messages, &recorder, &err), 0);
    struct tact_record *record = tact_recorder_begin(recorder);
    double *element = record->values + 4;
    record->tick = 0;
    record->stamp_ns = SESSION_START_NS;
    memset(record->values, 0, 3 * sizeof(double));
    record->values[3] = PAIRS;
    for (int a = 0; a < MANY; a++) {
        for (int b = a + 1; b < MANY; b++, element += TACT_ELEMENT_HEAD + 1) {
            memcpy(element, (double[]){a, b, 1, MANY * a + b}, 4 * sizeof *element);
        }
    }
    tact_recorder_commit(recorder);
    assert_int_equal(tact_recorder_close(recorder, NULL), 0);
    tact_layout_free(&layout);
    assert_int_equal(tact_log_open(path, &log, &err), 0);
    const struct tact_layout *layout_of_log = tact_log_layout(log);
    assert_int_equal(layout_of_log->field_count, 1 + PAIRS);
    assert_string_equal(layout_of_log->fields[1].name, "x_x_x");
    assert_string_equal(layout_of_log->fields[PAIRS].name, "x_x_x_19900");
    record = malloc(tact_layout_bytes(layout_of_log));
    assert_int_equal(tact_log_next(log, record), 1);
    const struct tact_log_pair *pair;
    for (size_t i = 0; (pair = tact_log_pair(log, i)); i++) {
        assert_int_equal(record->values[pair->offset], MANY * pair->a + pair->b);
    }
    free(record);
    tact_log_close(log);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logged_lists_are_read_as_recorded),
        cmocka_unit_test(pairs_first_logged_in_later_files_have_fields),
        cmocka_unit_test(damaged_chunk_of_lists_loses_only_its_ticks),
        cmocka_unit_test(invalid_log_lists_are_refused),
        cmocka_unit_test(record_too_long_for_its_ring_leaves_the_old_log),
        cmocka_unit_test(contact_pairs_of_one_cut_name_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
