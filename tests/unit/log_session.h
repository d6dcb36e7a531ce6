/* A small session for the tests of the log: its layout, content and seeded records. */
#ifndef TACT_TESTS_LOG_SESSION_H
#define TACT_TESTS_LOG_SESSION_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rt/log/log_reader.h"
#include "rt/log/recorder.h"

#define SESSION_DOUBLE_COUNT 100
#define SESSION_START_NS INT64_C(1234567890123)
#define SESSION_WALL_CLOCK_ANCHOR_NS INT64_C(1763725461000000001)

/* Of Vigna's splitmix64. */
static inline uint64_t next_random_of_seed(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

static inline void add_session_fields(struct tact_layout *layout)
{
    tact_layout_add(layout, TACT_FIELD_INPUT, "device.q", "rad", 2);
    tact_layout_add(layout, TACT_FIELD_OUTPUT, "ruler pose", "m, quat_wxyz, world", 7);
    tact_layout_add(layout, TACT_FIELD_OUTPUT, "force", "N, on A, 100 % \xc2\xb1 0", 1);
    tact_layout_add(layout, TACT_FIELD_TIMING, "wake", "", 1);
    tact_layout_add(layout, TACT_FIELD_OUTPUT, "rest", "1", SESSION_DOUBLE_COUNT - 11);
}

/* Fills the record of a tick: smooth motion, and in the field "rest" doubles of random bits. */
static inline void fill_session_record(uint64_t tick, struct tact_record *record)
{
    uint64_t seed = tick;
    double t = (double)tick * 1e-3;

    record->tick = tick;
    record->stamp_ns = SESSION_START_NS + (int64_t)tick * 1000000;
    for (int i = 0; i < 11; i++)
        record->values[i] = sin(t * (1 + i));
    record->values[10] = (double)(next_random_of_seed(&seed) % 50000);
    for (int i = 11; i < SESSION_DOUBLE_COUNT; i++) {
        uint64_t bits = next_random_of_seed(&seed);
        if (i % 2 == 0)
            memcpy(&record->values[i], &bits, sizeof bits);
        else
            record->values[i] = cos(t * i);
    }
    record->values[12] = -0.0;
    record->values[14] = INFINITY;
    record->values[16] = 5e-324;
}

static const struct tact_log_attachment session_attachments[] = {
    {"scene.yaml", "application/yaml", "bodies: []\n", 11},
    {"meshes/empty.obj", NULL, "", 0},
    {"binary", "application/octet-stream", "\0\1\2\xff", 4},
};
static const struct tact_log_fact session_facts[] = {
    {"build_id", "0123abcd"}, {"period", "0.001"}, {"empty", ""}};
static const struct tact_recorder_joint session_joints[] = {
    {"left", 0, TACT_RECORDER_NONE, 9}, {"right", 1, TACT_RECORDER_NONE, TACT_RECORDER_NONE}};
static const struct tact_recorder_body session_bodies[] = {{"ruler", 2}};

static inline struct tact_recorder_content make_test_log_content(const struct tact_layout *layout)
{
    return (struct tact_recorder_content){
        .layout = layout,
        .attachments = session_attachments,
        .attachment_count = sizeof session_attachments / sizeof session_attachments[0],
        .facts = session_facts,
        .fact_count = sizeof session_facts / sizeof session_facts[0],
        .joints = session_joints,
        .joint_count = sizeof session_joints / sizeof session_joints[0],
        .bodies = session_bodies,
        .body_count = sizeof session_bodies / sizeof session_bodies[0],
    };
}

static inline struct tact_recorder_options session_recorder_options(void)
{
    struct tact_recorder_options options = tact_recorder_options_default();
    options.wall_anchor_ns = SESSION_WALL_CLOCK_ANCHOR_NS;
    options.replace = 1; /* replaces the log of an earlier run of the test */
    return options;
}

/* Opens a recorder of this session; the recorder makes its own copy of the layout. */
static inline int open_session_recorder(const char *path,
                                        const struct tact_recorder_options *options,
                                        struct tact_messages messages, struct tact_recorder **out)
{
    struct tact_layout layout = {0};

    add_session_fields(&layout);
    struct tact_recorder_content content = make_test_log_content(&layout);
    int rc = tact_recorder_open(path, options, &content, messages, out, NULL);
    tact_layout_free(&layout);
    return rc;
}

/* Records `ticks` ticks as fast as the recorder accepts them. */
static inline void record_session_ticks(struct tact_recorder *recorder, uint64_t from,
                                        uint64_t ticks)
{
    for (uint64_t tick = from; tick < from + ticks; tick++) {
        tact_recorder_wait_room(recorder);
        struct tact_record *record = tact_recorder_begin(recorder);
        if (!record)
            continue;
        fill_session_record(tick, record);
        tact_recorder_commit(recorder);
    }
}

static inline struct tact_record *new_session_record(void)
{
    return malloc(sizeof(struct tact_record) + SESSION_DOUBLE_COUNT * sizeof(double));
}

/* Reads the next records and compares them, bit for bit, with those of the ticks from `tick` on.
 * Returns how many are equal before the first that differs. */
static inline uint64_t count_equal_records(struct tact_log *log, uint64_t tick)
{
    struct tact_record *expected = new_session_record(), *found = new_session_record();
    size_t bytes = sizeof *found + SESSION_DOUBLE_COUNT * sizeof(double);
    uint64_t equal_record_count = 0;

    memset(found, 0xA5, bytes);
    for (; tact_log_next(log, found) == 1; equal_record_count++) {
        fill_session_record(tick + equal_record_count, expected);
        if (memcmp(expected, found, bytes) != 0)
            break;
    }
    free(expected);
    free(found);
    return equal_record_count;
}

/* The messages of a log recorder or reader: their number, and the text of the last one. */
struct message_summary {
    int warning_count, errors;
    char text[512];
};

static inline void count_message_and_keep_text(void *user, enum tact_message_level level,
                                               const char *text)
{
    struct message_summary *message_summary = user;
    message_summary->warning_count += level == TACT_MESSAGE_WARNING;
    message_summary->errors += level == TACT_MESSAGE_ERROR;
    snprintf(message_summary->text, sizeof message_summary->text, "%s", text);
}

/* Path of a file in the build tree for this test. */
static inline const char *test_log_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s_%d.mcap", TACT_BINARY_DIR, name, (int)getpid());
    return path;
}

#endif
