/* The contents of a log's records: facts, attachments, schemas, channels, ticks, events. */
#include "log_scan_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdr_internal.h"
#include "encode_internal.h"
#include "schema_internal.h"

/* Limit on the text of all events: chunks may be compressed so strongly that the file's size does
 * not bound it. */
#define MAX_EVENT_TEXT_BYTES ((size_t)256 << 20)

/* Ensures capacity for one more element of an array, whose capacity doubles. */
int tact_log_grow_array(void *array, size_t count, size_t element)
{
    void *old_array, *larger_array;

    if ((count & (count - 1)) != 0) {
        return 0;
    }
    memcpy(&old_array, array, sizeof old_array);
    larger_array = realloc(old_array, (count ? 2 * count : 1) * element);
    if (!larger_array) {
        return -ENOMEM;
    }
    memcpy(array, &larger_array, sizeof larger_array);
    return 0;
}

static int add_log_fact(struct tact_log *log, struct tact_byte_span key,
                        struct tact_byte_span value)
{
    int rc = tact_log_grow_array(&log->facts, log->fact_count, sizeof *log->facts);

    if (rc != 0) {
        return rc;
    }
    struct tact_log_fact parsed_log_fact = {tact_byte_span_copy_to_text(key),
                                            tact_byte_span_copy_to_text(value)};
    if (!parsed_log_fact.key || !parsed_log_fact.value) {
        free((char *)parsed_log_fact.key);
        free((char *)parsed_log_fact.value);
        return -EBADMSG;
    }
    tact_utf8_repair((char *)parsed_log_fact.key);
    tact_utf8_repair((char *)parsed_log_fact.value);
    log->facts[log->fact_count++] = parsed_log_fact;
    return 0;
}

static int scan_metadata(struct tact_log *log, struct tact_byte_span content)
{
    struct tact_byte_span name, key, value;
    struct tact_byte_cursor map;
    char crc[16] = "";
    int rc = tact_mcap_parse_metadata(content, &name, &map);

    if (rc != 0 || (!tact_byte_span_equals_text(name, TACT_FACTS_METADATA_NAME) &&
                    !tact_byte_span_equals_text(name, TACT_RECOVERED_METADATA_NAME) &&
                    !tact_byte_span_equals_text(name, TACT_CONTINUED_METADATA_NAME))) {
        return -EBADMSG;
    }
    const uint8_t *start = map.at;
    while (map.left > 0) {
        size_t before = (size_t)(map.at - start);
        key = tact_byte_cursor_read_text(&map);
        value = tact_byte_cursor_read_text(&map);
        if (map.bad) {
            return -EBADMSG;
        }
        if (tact_byte_span_equals_text(key, TACT_FACTS_CRC_KEY)) {
            snprintf(crc, sizeof crc, "%08" PRIx32, tact_crc32(0, start, before));
            return map.left == 0 && tact_byte_span_equals_text(value, crc) ? 0 : -EBADMSG;
        }
        rc = add_log_fact(log, key, value);
        if (rc != 0) {
            return rc;
        }
    }
    return -EBADMSG; /* without its checksum */
}

/* Adds all facts of a metadata record, or none. */
int tact_log_scan_facts(struct tact_log *log, struct tact_byte_span content)
{
    size_t before = log->fact_count;
    int rc = scan_metadata(log, content);

    for (; rc != 0 && log->fact_count > before; log->fact_count--) {
        free((char *)log->facts[log->fact_count - 1].key);
        free((char *)log->facts[log->fact_count - 1].value);
    }
    return rc;
}

int tact_log_scan_attachment(struct tact_log *log, struct tact_byte_span content)
{
    struct tact_mcap_attachment in;
    int rc = tact_mcap_parse_attachment(content, &in);

    if (rc == 0) {
        rc =
            tact_log_grow_array(&log->attachments, log->attachment_count, sizeof *log->attachments);
    }
    if (rc != 0) {
        return rc;
    }
    char *name = tact_byte_span_copy_to_text(in.name),
         *type = tact_byte_span_copy_to_text(in.media_type);
    void *data = malloc(in.data.size ? in.data.size : 1);
    if (!name || !type || !data) {
        free(name);
        free(type);
        free(data);
        return data ? -EBADMSG : -ENOMEM;
    }
    memcpy(data, in.data.data, in.data.size);
    log->attachments[log->attachment_count++] =
        (struct tact_log_attachment){name, type, data, in.data.size};
    return 0;
}

static void copy_topic_name(struct tact_byte_span name, char *out, size_t capacity)
{
    size_t size = name.size < capacity ? name.size : capacity - 1;
    memcpy(out, name.data, size);
    out[size] = '\0';
    tact_utf8_repair(out);
}

/* Each chunk may repeat the schemas and channels of the first: each is stored once. */
static void store_schema(struct tact_log *log, const struct tact_mcap_schema *schema)
{
    for (size_t i = 0; i < log->schema_count; i++) {
        if (log->schemas[i].id == schema->id) {
            return;
        }
    }
    if (log->schema_count == TACT_LOG_TOPICS) {
        return;
    }
    log->schemas[log->schema_count].id = schema->id;
    copy_topic_name(schema->name, log->schemas[log->schema_count].name, sizeof log->schemas->name);
    log->schema_count++;
}

static void store_topic(struct tact_log *log, const struct tact_mcap_channel *channel)
{
    for (size_t i = 0; i < log->topic_count; i++) {
        if (log->channel_of_topic[i] == channel->id) {
            return;
        }
    }
    if (log->topic_count == TACT_LOG_TOPICS) {
        return;
    }
    struct tact_log_topic *topic = &log->topics[log->topic_count];
    *topic = (struct tact_log_topic){.messages = 0};
    copy_topic_name(channel->topic, topic->name, sizeof topic->name);
    for (size_t i = 0; i < log->schema_count; i++) {
        if (log->schemas[i].id == channel->schema) {
            memcpy(topic->type, log->schemas[i].name, sizeof topic->type);
        }
    }
    log->channel_of_topic[log->topic_count++] = channel->id;
}

void tact_log_count_message(struct tact_log *log, const struct tact_mcap_message *message)
{
    for (size_t i = 0; i < log->topic_count; i++) {
        struct tact_log_topic *topic = &log->topics[i];
        if (log->channel_of_topic[i] != message->channel) {
            continue;
        }
        if (topic->messages++ == 0 || message->log_time < topic->first_ns) {
            topic->first_ns = message->log_time;
        }
        if (message->log_time > topic->last_ns) {
            topic->last_ns = message->log_time;
        }
    }
}

/* A schema or layout that is intact but not written by tact is an error, not damage. */
int tact_log_scan_schema(struct tact_log *log, struct tact_byte_span content,
                         struct tact_error *err)
{
    struct tact_mcap_schema schema;

    if (tact_mcap_parse_schema(content, &schema) != 0) {
        return -EBADMSG;
    }
    store_schema(log, &schema);
    if (log->is_tick_layout_known ||
        !tact_byte_span_equals_text(schema.name, TACT_SCHEMA_NAME_TICK) ||
        !tact_byte_span_equals_text(schema.encoding, "ros2msg")) {
        return 0;
    }
    log->is_tick_layout_known = true;
    log->tick_schema = schema.id;
    return tact_schema_parse_tick(schema.data, &log->layout, err);
}

/* Stores the id of a topic's channel: a topic has one channel, by which its messages are counted.
 */
static int set_id_of_single_channel(int *single_channel_id, int id)
{
    if (*single_channel_id >= 0 && *single_channel_id != id) {
        return -EBADMSG;
    }
    *single_channel_id = id;
    return 0;
}

int tact_log_scan_channel(struct tact_log *log, struct tact_byte_span content)
{
    struct tact_mcap_channel channel;

    if (tact_mcap_parse_channel(content, &channel) != 0) {
        return -EBADMSG;
    }
    store_topic(log, &channel);
    if (!tact_byte_span_equals_text(channel.encoding, "cdr")) {
        return 0;
    }
    if (tact_byte_span_equals_text(channel.topic, TACT_TOPIC_TICK) &&
        channel.schema == log->tick_schema) {
        return set_id_of_single_channel(&log->tick_log_channel, channel.id);
    }
    if (tact_byte_span_equals_text(channel.topic, TACT_TOPIC_EVENT)) {
        return set_id_of_single_channel(&log->event_channel, channel.id);
    }
    return 0;
}

int tact_log_scan_tick(struct tact_log *log, const struct tact_mcap_message *message)
{
    struct tact_log_state *state = &log->state;
    struct tact_log_tick parsed_tick_record;

    if (tact_log_parse_tick(log, message->data, &parsed_tick_record) != 0) {
        return -EBADMSG;
    }
    const uint64_t tick = parsed_tick_record.tick;
    /* The recorder numbers its messages: a gap is a missing chunk. */
    uint32_t lost = message->sequence - ((uint32_t)state->ticks + log->gap.lost_tick_count);
    if (lost > 0) {
        if (!log->gap.ticks || lost > INT32_MAX || (state->ticks > 0 && tick <= state->last_tick)) {
            return -EBADMSG;
        }
        if (log->gap.lost_tick_count == 0) {
            state->lost_first = state->ticks > 0 ? state->last_tick + 1 : 0;
        }
        state->lost_last = tick > 0 ? tick - 1 : 0;
        log->gap.lost_tick_count += lost;
        state->lost += lost;
    }
    log->gap.ticks = false;
    if (state->ticks == 0) {
        state->first_tick = tick;
    } else if (tick > state->last_tick) {
        state->missing += tick - state->last_tick - 1;
    }
    state->last_tick = tick;
    state->ticks++;
    return tact_log_pairs_add(log, parsed_tick_record);
}

int tact_log_scan_event(struct tact_log *log, const struct tact_mcap_message *message)
{
    struct tact_cdr_reader cdr = tact_cdr_open_message(message->data.data, message->data.size);
    struct tact_log_event event = {0};

    event.stamp_ns = tact_cdr_get_time(&cdr);
    event.tick = tact_cdr_get_u64(&cdr);
    struct tact_byte_span name = tact_cdr_get_string(&cdr), text = tact_cdr_get_string(&cdr);
    uint32_t lost = message->sequence - ((uint32_t)log->event_count + log->gap.lost_events);
    if (cdr.in.bad || cdr.in.left > 0 || (lost > 0 && (!log->gap.events || lost > INT32_MAX)) ||
        name.size + text.size > MAX_EVENT_TEXT_BYTES - log->event_text_bytes) {
        return -EBADMSG;
    }
    int rc = tact_log_grow_array(&log->events, log->event_count, sizeof *log->events);
    if (rc != 0) {
        return rc;
    }
    event.name = tact_byte_span_copy_to_text(name);
    event.text = tact_byte_span_copy_to_text(text);
    if (!event.name || !event.text) {
        free((char *)event.name);
        free((char *)event.text);
        return -EBADMSG;
    }
    tact_utf8_repair((char *)event.name);
    tact_utf8_repair((char *)event.text);
    log->gap.events = false;
    log->gap.lost_events += lost;
    log->state.lost_events += lost;
    log->event_text_bytes += name.size + text.size;
    log->events[log->event_count++] = event;
    return 0;
}
