/* A force-torque sensor in a session: its topic in the log contains its channels' values, one axis
 * drives a joint, and a replay without the sensor is equal. */
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
#include "rt/log/mcap_internal.h"
#include "rt/log/mcap_reader_internal.h"
#include "rt/session/replay.h"
#include "rt/session/session.h"
#include "rt/session/scene_log.h"
#include "support/run_scene.h"

enum { TICKS = 200, EVERY = 10, FIRST = 2 };

/* Value of the sensor's channel i in a tick. */
static double sensor_channel_value(uint64_t tick, int i)
{
    return sin(0.01 * (double)tick + i) * (1.0 + i);
}

static void read_wrench_sensor(void *self, uint64_t tick, double t, int64_t now,
                               struct tact_device_input *in)
{
    (void)self, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    for (int i = 0; i < FIRST + 7; i++) {
        in->channel[i] = sensor_channel_value(tick, i);
    }
}

static void close_wrench_sensor(void *self)
{
    (void)self;
}

static int open_wrench_sensor(const struct tact_device_config *config, struct tact_device *out,
                              struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_wrench_sensor,
                                               NULL, close_wrench_sensor};
    (void)config, (void)err;
    out->ops = &ops;
    out->info.input_count = FIRST + 7;
    for (int i = 0; i < FIRST + 7; i++) {
        snprintf(out->info.input[i].name, sizeof out->info.input[i].name, "c%d", i);
    }
    out->info.wrench_count = 1;
    out->info.wrench[0] = (struct tact_device_wrench){"wrist", "palm", FIRST, 0};
    return 0;
}

static const char scene_text[] =
    "name: sensor\n"
    "hands:\n"
    "  - name: robot\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.1\n"
    "        inertia: [2e-3, 2e-3, 2e-3, 0, 0, 0]\n"
    "        joint: {type: hinge, axis: [0, 0, 1], stiffness: 8, damping: 0.2}\n"
    "devices:\n"
    "  - {name: 2-board, type: sensor}\n"
    "inputs:\n"
    "  - {from: 2-board.c4, to: robot.tip, scale: 0.01}\n";

static void record_wrench_session(const char *path)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "sensor",
                                                 "a sensor", open_wrench_sensor, NULL};
    static const struct tact_device_type *const types[] = {&type};
    struct tact_session_options options = tact_session_options_default();
    static struct tact_session_report report;
    options.types = types;
    options.type_count = 1;
    options.ticks = TICKS;
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.replace = 1;
    run_session_of_scene_text(scene_text, &options, &report);
}

/* Reads the records of a chunk. Returns the number of messages of the topic. */
static uint64_t count_wrench_messages_of_chunk(struct tact_byte_span chunk, int *channel,
                                               uint64_t sensor_message_count)
{
    struct tact_byte_cursor at = {chunk.data, chunk.size, false};
    struct tact_mcap_record r;
    while (tact_mcap_chunk_next_record(&at, &r) == 0) {
        struct tact_mcap_channel c;
        struct tact_mcap_message m;
        if (r.opcode == TACT_MCAP_CHANNEL && tact_mcap_parse_channel(r.content, &c) == 0 &&
            tact_byte_span_equals_text(c.topic, "/sensors/n_2_board_wrist/wrench")) {
            *channel = c.id;
        } else if (r.opcode == TACT_MCAP_MESSAGE && tact_mcap_parse_message(r.content, &m) == 0 &&
                   m.channel == *channel) {
            double wrench[6];
            assert_true(m.data.size > sizeof wrench);
            memcpy(wrench, m.data.data + m.data.size - sizeof wrench, sizeof wrench);
            for (int k = 0; k < 6; k++) {
                assert_true(wrench[k] ==
                            sensor_channel_value(sensor_message_count * EVERY, FIRST + k));
            }
            /* CDR: its head, the stamp, then the length and the bytes of the frame */
            assert_memory_equal(m.data.data + 16, "palm", 5);
            sensor_message_count++;
        }
    }
    return sensor_message_count;
}

static uint64_t count_wrench_messages_of_log(const char *path)
{
    struct tact_mcap_reader reader;
    struct tact_mcap_record r;
    struct tact_bytes chunk = {0};
    uint64_t sensor_message_count = 0;
    int channel = -1;
    assert_int_equal(tact_mcap_reader_open(&reader, path), 0);
    while (tact_mcap_reader_next(&reader, &r) == 0) {
        if (r.opcode == TACT_MCAP_CHUNK) {
            assert_int_equal(tact_mcap_parse_chunk(r.content, &chunk), 0);
            sensor_message_count = count_wrench_messages_of_chunk(
                (struct tact_byte_span){chunk.data, chunk.size}, &channel, sensor_message_count);
        }
    }
    tact_mcap_reader_close(&reader);
    tact_bytes_free(&chunk);
    return sensor_message_count;
}

/* Topics encoded from the log contain this topic too. */
static void check_exported_wrench_topic(const char *path)
{
    static const struct tact_messages no_messages = {NULL, NULL};
    const struct tact_topic_message *messages;
    struct tact_topics *topics;
    struct tact_scene_log view;
    struct tact_log *log;
    size_t count, found = 0;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_int_equal(tact_scene_log_open(log, no_messages, &view, NULL), 0);
    assert_int_equal(tact_session_topics(view.session, &topics, NULL), 0);
    struct tact_record *first_record = malloc(tact_layout_bytes(tact_log_layout(log)));
    assert_int_equal(tact_log_seek(log, 7), 0);
    assert_int_equal(tact_log_next(log, first_record), 1);
    assert_int_equal(tact_topics_encode(topics, first_record, &messages, &count), 0);
    for (size_t i = 0; i < count; i++) {
        const char *name = tact_topics_get(topics, messages[i].topic).name;
        if (!strcmp(name, "/sensors/n_2_board_wrist/wrench")) {
            double wrench[6];
            memcpy(wrench, (const char *)messages[i].data + messages[i].size - sizeof wrench,
                   sizeof wrench);
            assert_true(wrench[0] == sensor_channel_value(7, FIRST) &&
                        wrench[5] == sensor_channel_value(7, FIRST + 5));
            found++;
        }
    }
    assert_int_equal(found, 1);
    free(first_record);
    tact_topics_free(topics);
    tact_scene_log_close(&view);
    tact_log_close(log);
}

static void wrench_sensor_is_logged_and_replayed(void **unused)
{
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_replay_report report;
    struct tact_error err = {.line = 0};
    char path[64];
    (void)unused;
    snprintf(path, sizeof path, "/tmp/tact-session-wrench-%d.mcap", (int)getpid());
    record_wrench_session(path);
    assert_int_equal(count_wrench_messages_of_log(path), TICKS / EVERY);
    check_exported_wrench_topic(path);
    int rc = tact_replay_run(path, no_messages, &report, &err);
    unlink(path);
    if (rc) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(report.ticks, TICKS);
    assert_int_equal(report.differing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrench_sensor_is_logged_and_replayed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
