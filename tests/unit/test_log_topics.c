/* The topics that a session encodes in memory equal those of its log: names, schemas, and the
 * bytes of each message. */
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
#include "rt/log/mcap_reader_internal.h"
#include "rt/session/session.h"
#include "support/run_scene.h"

enum { TICKS = 1000, TOPICS_MOST = 16, EVERY = 10, MCAP_SCHEMA = 3, MCAP_CHANNEL, MCAP_MESSAGE };
enum { MCAP_CHUNK = 6 };

/* Copies of the encoded messages and records, tick by tick. */
struct copies_of_ticks {
    struct tact_topics *topics;
    struct tact_record *record;
    struct tact_topic_message message[TICKS][TOPICS_MOST]; /* size 0: none */
    struct tact_record *records[TICKS];
    uint8_t *output; /* 1 for each double of a record, before the list of contacts, that state and
                        inputs determine (no clock reading) */
    uint32_t size;
    size_t record_bytes[TICKS];
};

static void *duplicate_bytes(const void *data, size_t size)
{
    void *data_copy = malloc(size);
    assert_non_null(data_copy);
    return memcpy(data_copy, data, size);
}

static void copy_observed_tick(void *user, struct tact_session *session,
                               const struct tact_session_status *status)
{
    struct copies_of_ticks *k = user;
    const struct tact_topic_message *messages;
    size_t count, last = 0, bytes = tact_session_record(session, k->record);
    assert_int_equal(k->record->tick, status->tick);
    assert_true(bytes <= tact_layout_bytes(tact_session_layout(session)));
    k->records[status->tick] = duplicate_bytes(k->record, bytes);
    k->record_bytes[status->tick] = bytes;
    assert_int_equal(tact_topics_encode(k->topics, k->record, &messages, &count), 0);
    for (size_t i = 0; i < count; i++) {
        struct tact_topic_message *to = &k->message[status->tick][messages[i].topic];
        assert_true(messages[i].topic < TOPICS_MOST && (i == 0 || messages[i].topic > last));
        last = messages[i].topic;
        *to = messages[i];
        to->data = duplicate_bytes(to->data, to->size);
    }
}

static void copy_outputs_of_tick(struct copies_of_ticks *k, const struct tact_layout *layout)
{
    k->size = layout->size;
    k->output = calloc(k->size, 1);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        memset(k->output + f->offset, f->kind == TACT_FIELD_OUTPUT, f->count);
    }
}

static void run_session(struct copies_of_ticks *k, const char *log)
{
    static const struct edit edits[] = {{NULL, NULL}};
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_scene *scene;
    struct tact_session *session;
    char *text = load_scene_text_with_edits("ruler.yaml", edits);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.ticks = TICKS;
    options.record = log;
    options.replace = 1;
    options.observe = copy_observed_tick;
    options.observe_user = k;
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_topics(session, &k->topics, NULL), 0);
    k->record = calloc(1, tact_layout_bytes(tact_session_layout(session)));
    copy_outputs_of_tick(k, tact_session_layout(session));
    assert_int_equal(tact_session_run(session, &report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    free(text);
}

static void free_tick_copies(struct copies_of_ticks *k)
{
    for (size_t i = 0; i < TICKS; i++) {
        for (size_t n = 0; n < TOPICS_MOST; n++) {
            free((void *)k->message[i][n].data);
        }
        free(k->records[i]);
    }
    tact_topics_free(k->topics);
    free(k->record);
    free(k->output);
    free(k);
}

/* State of the comparison with the file: its channels by id, and the number of messages
 * compared. */
struct file {
    struct copies_of_ticks *copies_of_ticks;
    char *schema_name[32], *schema_text[32];
    int topic[32]; /* index of a channel's topic; -1: /tact/events */
    int known[32]; /* 1: the channel's record was read before; files contain it more than once */
    size_t channels, compared[TOPICS_MOST];
    uint64_t tick;
};

static void read_topic_schema(struct file *f, struct tact_byte_span content)
{
    struct tact_mcap_schema s;
    assert_int_equal(tact_mcap_parse_schema(content, &s), 0);
    assert_true(s.id < 32);
    free(f->schema_name[s.id]);
    free(f->schema_text[s.id]);
    f->schema_name[s.id] = tact_byte_span_copy_to_text(s.name);
    f->schema_text[s.id] = tact_byte_span_copy_to_text(s.data);
}

static void check_channel_of_logged_topic(struct file *f, struct tact_byte_span content)
{
    struct tact_mcap_channel c;
    assert_int_equal(tact_mcap_parse_channel(content, &c), 0);
    assert_true(c.id < 32);
    f->topic[c.id] = -1;
    for (size_t i = 0; i < tact_topics_count(f->copies_of_ticks->topics); i++) {
        struct tact_topic t = tact_topics_get(f->copies_of_ticks->topics, i);
        if (tact_byte_span_equals_text(c.topic, t.name)) {
            f->topic[c.id] = (int)i;
            assert_string_equal(t.type, f->schema_name[c.schema]);
            assert_string_equal(t.schema, f->schema_text[c.schema]);
        }
    }
    assert_true(f->topic[c.id] >= 0 || tact_byte_span_equals_text(c.topic, "/tact/events"));
    f->channels += !f->known[c.id];
    f->known[c.id] = 1;
}

/* /contacts/markers in memory has the arrows of the file, and deletions of arrows that the file
 * never showed. */
static void compare_logged_message_with_topic(struct file *f, struct tact_byte_span content)
{
    struct tact_mcap_message m;
    assert_int_equal(tact_mcap_parse_message(content, &m), 0);
    int topic = f->topic[m.channel];
    if (topic < 0) {
        return;
    }
    const char *name = tact_topics_get(f->copies_of_ticks->topics, (size_t)topic).name;
    const struct tact_topic_message *scene = tact_topics_scene(f->copies_of_ticks->topics);
    if (!strcmp(name, "/tact/tick")) {
        memcpy(&f->tick, m.data.data + 4 + 8, sizeof f->tick);
    }
    const struct tact_topic_message *topic_message_in_memory =
        strcmp(name, "/scene") ? &f->copies_of_ticks->message[f->tick][topic] : scene;
    assert_true(topic_message_in_memory == scene || topic_message_in_memory->time_ns == m.log_time);
    if (strcmp(name, "/contacts/markers")) {
        assert_int_equal(topic_message_in_memory->size, m.data.size);
        assert_memory_equal(topic_message_in_memory->data, m.data.data, m.data.size);
    } else {
        assert_true(topic_message_in_memory->size >= m.data.size);
    }
    f->compared[topic]++;
}

static void read_topic_record(struct file *f, const struct tact_mcap_record *record)
{
    struct tact_bytes chunk = {0};
    struct tact_mcap_record inner;
    switch (record->opcode) {
    case MCAP_SCHEMA:
        read_topic_schema(f, record->content);
        break;
    case MCAP_CHANNEL:
        check_channel_of_logged_topic(f, record->content);
        break;
    case MCAP_MESSAGE:
        compare_logged_message_with_topic(f, record->content);
        break;
    case MCAP_CHUNK:
        assert_int_equal(tact_mcap_parse_chunk(record->content, &chunk), 0);
        for (struct tact_byte_cursor in = {chunk.data, chunk.size, false};
             !tact_mcap_chunk_next_record(&in, &inner);) {
            read_topic_record(f, &inner);
        }
        tact_bytes_free(&chunk);
        break;
    default:
        break;
    }
}

static void topics_in_memory_equal_those_of_the_log(void **state)
{
    (void)state;
    char path[] = "/tmp/tact_topics_XXXXXX";
    struct tact_mcap_reader reader;
    struct tact_mcap_record record;
    struct file f = {.copies_of_ticks = calloc(1, sizeof *f.copies_of_ticks)};
    close(mkstemp(path));
    run_session(f.copies_of_ticks, path);
    assert_int_equal(tact_mcap_reader_open(&reader, path), 0);
    while (!tact_mcap_reader_next(&reader, &record) && record.opcode != 15) { /* the data's end */
        read_topic_record(&f, &record);
    }
    tact_mcap_reader_close(&reader);
    unlink(path);
    size_t count = tact_topics_count(f.copies_of_ticks->topics);
    assert_int_equal(f.channels, count + 1); /* /tact/events */
    for (size_t i = 0; i < count; i++) {
        struct tact_topic t = tact_topics_get(f.copies_of_ticks->topics, i);
        size_t all = !strcmp(t.name, "/tact/tick") ? TICKS : TICKS / EVERY;
        /* this topic has a message only while the pair touches */
        int is_contact_topic = !strncmp(t.name, "/contacts/", 10);
        all = !strcmp(t.name, "/scene") ? 1 : all;
        printf("%s: %zu messages\n", t.name, f.compared[i]);
        assert_true(is_contact_topic ? f.compared[i] > 0 && f.compared[i] <= all
                                     : f.compared[i] == all);
    }
    for (size_t i = 0; i < 32; i++) {
        free(f.schema_name[i]);
        free(f.schema_text[i]);
    }
    free_tick_copies(f.copies_of_ticks);
}

/* A session without a log has the same records as one with a log, except for values read from
 * clocks. */
static void tick_records_are_equal_without_a_log(void **state)
{
    (void)state;
    char path[] = "/tmp/tact_topics_XXXXXX";
    struct copies_of_ticks *tick_copies_with_log = calloc(1, sizeof *tick_copies_with_log),
                           *copies_without_log = calloc(1, sizeof *copies_without_log);
    close(mkstemp(path));
    run_session(tick_copies_with_log, path);
    run_session(copies_without_log, NULL);
    unlink(path);
    for (size_t i = 0; i < TICKS; i++) {
        struct tact_record *a = tick_copies_with_log->records[i],
                           *b = copies_without_log->records[i];
        assert_int_equal(tick_copies_with_log->record_bytes[i],
                         copies_without_log->record_bytes[i]);
        assert_int_equal(a->tick, b->tick);
        for (uint32_t n = 0; n < tick_copies_with_log->size; n++) {
            assert_true(!tick_copies_with_log->output[n] ||
                        !memcmp(&a->values[n], &b->values[n], sizeof(double)));
        }
        assert_memory_equal(a->values + tick_copies_with_log->size,
                            b->values + tick_copies_with_log->size,
                            tick_copies_with_log->record_bytes[i] - sizeof *a -
                                tick_copies_with_log->size * sizeof(double));
    }
    free_tick_copies(tick_copies_with_log);
    free_tick_copies(copies_without_log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(topics_in_memory_equal_those_of_the_log),
                                       cmocka_unit_test(tick_records_are_equal_without_a_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
