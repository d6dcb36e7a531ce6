#include "log_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdr_internal.h"
#include "encode_internal.h"
#include "mcap_internal.h"
#include "schema_internal.h"

/* Chunks may be packed very tightly, so that the file's size does not bound their texts. */
#define EVENT_BYTES_LIMIT ((size_t)256 << 20)

/* Positive results of the functions below: go on, or stop and look at log->state. */
enum { SCAN_NEXT, SCAN_STOP };

/* The first damage is the one that is named. */
static void note_damage(struct tact_log *log, uint64_t at, uint64_t bytes, const char *why)
{
    log->state.bytes_lost += bytes;
    if (log->state.why[0] != '\0')
        return;
    log->state.damage_at = at;
    snprintf(log->state.why, sizeof log->state.why, "%s", why);
}

static int damage(struct tact_log *log, uint64_t at, const char *why)
{
    log->sound_end = at;
    note_damage(log, at, log->state.file_bytes - at, why);
    return SCAN_STOP;
}

/* Makes room for one more element of an array that grows by doubling. */
static int grow(void *array, size_t count, size_t element)
{
    void *old, *larger;

    if ((count & (count - 1)) != 0)
        return 0;
    memcpy(&old, array, sizeof old);
    larger = realloc(old, (count ? 2 * count : 1) * element);
    if (!larger)
        return -ENOMEM;
    memcpy(array, &larger, sizeof larger);
    return 0;
}

static int add_fact(struct tact_log *log, struct tact_span key, struct tact_span value)
{
    int rc = grow(&log->facts, log->fact_count, sizeof *log->facts);

    if (rc != 0)
        return rc;
    struct tact_log_fact fact = {tact_span_copy(key), tact_span_copy(value)};
    if (!fact.key || !fact.value) {
        free((char *)fact.key);
        free((char *)fact.value);
        return -EBADMSG;
    }
    tact_utf8_repair((char *)fact.key);
    tact_utf8_repair((char *)fact.value);
    log->facts[log->fact_count++] = fact;
    return 0;
}

static int take_metadata(struct tact_log *log, struct tact_span content)
{
    struct tact_span name, key, value;
    struct tact_cursor map;
    char crc[16] = "";
    int rc = tact_mcap_parse_metadata(content, &name, &map);

    if (rc != 0 || (!tact_span_is(name, TACT_FACTS) && !tact_span_is(name, TACT_RECOVERED) &&
                    !tact_span_is(name, TACT_CONTINUED)))
        return -EBADMSG;
    const uint8_t *start = map.at;
    while (map.left > 0) {
        size_t before = (size_t)(map.at - start);
        key = tact_get_text(&map);
        value = tact_get_text(&map);
        if (map.bad)
            return -EBADMSG;
        if (tact_span_is(key, TACT_FACTS_CRC)) {
            snprintf(crc, sizeof crc, "%08" PRIx32, tact_crc32(0, start, before));
            return map.left == 0 && tact_span_is(value, crc) ? 0 : -EBADMSG;
        }
        rc = add_fact(log, key, value);
        if (rc != 0)
            return rc;
    }
    return -EBADMSG; /* without its checksum */
}

/* All of a record's facts, or none. */
static int take_facts(struct tact_log *log, struct tact_span content)
{
    size_t before = log->fact_count;
    int rc = take_metadata(log, content);

    for (; rc != 0 && log->fact_count > before; log->fact_count--) {
        free((char *)log->facts[log->fact_count - 1].key);
        free((char *)log->facts[log->fact_count - 1].value);
    }
    return rc;
}

static int take_attachment(struct tact_log *log, struct tact_span content)
{
    struct tact_mcap_attachment in;
    int rc = tact_mcap_parse_attachment(content, &in);

    if (rc == 0)
        rc = grow(&log->attachments, log->attachment_count, sizeof *log->attachments);
    if (rc != 0)
        return rc;
    char *name = tact_span_copy(in.name), *type = tact_span_copy(in.media_type);
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

static void copy_name(struct tact_span name, char *out, size_t room)
{
    size_t size = name.size < room ? name.size : room - 1;
    memcpy(out, name.data, size);
    out[size] = '\0';
    tact_utf8_repair(out);
}

/* Chunks repeat the schemas and channels of the file's start: each counts once. */
static void list_schema(struct tact_log *log, const struct tact_mcap_schema *schema)
{
    for (size_t i = 0; i < log->schema_count; i++) {
        if (log->schemas[i].id == schema->id)
            return;
    }
    if (log->schema_count == TACT_LOG_TOPICS)
        return;
    log->schemas[log->schema_count].id = schema->id;
    copy_name(schema->name, log->schemas[log->schema_count].name, sizeof log->schemas->name);
    log->schema_count++;
}

static void list_topic(struct tact_log *log, const struct tact_mcap_channel *channel)
{
    for (size_t i = 0; i < log->topic_count; i++) {
        if (log->topic_channels[i] == channel->id)
            return;
    }
    if (log->topic_count == TACT_LOG_TOPICS)
        return;
    struct tact_log_topic *topic = &log->topics[log->topic_count];
    *topic = (struct tact_log_topic){.messages = 0};
    copy_name(channel->topic, topic->name, sizeof topic->name);
    for (size_t i = 0; i < log->schema_count; i++) {
        if (log->schemas[i].id == channel->schema)
            memcpy(topic->type, log->schemas[i].name, sizeof topic->type);
    }
    log->topic_channels[log->topic_count++] = channel->id;
}

static void count_message(struct tact_log *log, const struct tact_mcap_message *message)
{
    for (size_t i = 0; i < log->topic_count; i++) {
        struct tact_log_topic *topic = &log->topics[i];
        if (log->topic_channels[i] != message->channel)
            continue;
        if (topic->messages++ == 0 || message->log_time < topic->first_ns)
            topic->first_ns = message->log_time;
        if (message->log_time > topic->last_ns)
            topic->last_ns = message->log_time;
    }
}

/* A schema or layout that is sound but not ours is an error, not damage. */
static int take_schema(struct tact_log *log, struct tact_span content, struct tact_error *err)
{
    struct tact_mcap_schema schema;

    if (tact_mcap_parse_schema(content, &schema) != 0)
        return -EBADMSG;
    list_schema(log, &schema);
    if (log->layout_known || !tact_span_is(schema.name, TACT_SCHEMA_TICK) ||
        !tact_span_is(schema.encoding, "ros2msg"))
        return 0;
    log->layout_known = true;
    log->tick_schema = schema.id;
    return tact_schema_parse_tick(schema.data, &log->layout, err);
}

/* A topic keeps its channel: what has been counted is found by it. */
static int take_id(int *known, int id)
{
    if (*known >= 0 && *known != id)
        return -EBADMSG;
    *known = id;
    return 0;
}

static int take_channel(struct tact_log *log, struct tact_span content)
{
    struct tact_mcap_channel channel;

    if (tact_mcap_parse_channel(content, &channel) != 0)
        return -EBADMSG;
    list_topic(log, &channel);
    if (!tact_span_is(channel.encoding, "cdr"))
        return 0;
    if (tact_span_is(channel.topic, TACT_TOPIC_TICK) && channel.schema == log->tick_schema)
        return take_id(&log->tick_channel, channel.id);
    if (tact_span_is(channel.topic, TACT_TOPIC_EVENT))
        return take_id(&log->event_channel, channel.id);
    return 0;
}

static int take_tick(struct tact_log *log, const struct tact_mcap_message *message)
{
    struct tact_log_state *state = &log->state;
    struct tact_log_tick parsed;

    if (tact_log_parse_tick(log, message->data, &parsed) != 0)
        return -EBADMSG;
    const uint64_t tick = parsed.tick;
    /* The recorder numbers what it writes: a gap is a chunk that is not there any more. */
    uint32_t lost = message->sequence - ((uint32_t)state->ticks + log->gap.lost_ticks);
    if (lost > 0) {
        if (!log->gap.ticks || lost > INT32_MAX || (state->ticks > 0 && tick <= state->last_tick))
            return -EBADMSG;
        if (log->gap.lost_ticks == 0)
            state->lost_first = state->ticks > 0 ? state->last_tick + 1 : 0;
        state->lost_last = tick > 0 ? tick - 1 : 0;
        log->gap.lost_ticks += lost;
        state->lost += lost;
    }
    log->gap.ticks = false;
    if (state->ticks == 0)
        state->first_tick = tick;
    else if (tick > state->last_tick)
        state->missing += tick - state->last_tick - 1;
    state->last_tick = tick;
    state->ticks++;
    return tact_log_pairs_take(log, parsed);
}

static int take_event(struct tact_log *log, const struct tact_mcap_message *message)
{
    struct tact_cdr_reader cdr = tact_cdr_open(message->data.data, message->data.size);
    struct tact_log_event event = {0};

    event.stamp_ns = tact_cdr_get_time(&cdr);
    event.tick = tact_cdr_get_u64(&cdr);
    struct tact_span name = tact_cdr_get_string(&cdr), text = tact_cdr_get_string(&cdr);
    uint32_t lost = message->sequence - ((uint32_t)log->event_count + log->gap.lost_events);
    if (cdr.in.bad || cdr.in.left > 0 || (lost > 0 && (!log->gap.events || lost > INT32_MAX)) ||
        name.size + text.size > EVENT_BYTES_LIMIT - log->event_bytes)
        return -EBADMSG;
    int rc = grow(&log->events, log->event_count, sizeof *log->events);
    if (rc != 0)
        return rc;
    event.name = tact_span_copy(name);
    event.text = tact_span_copy(text);
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
    log->event_bytes += name.size + text.size;
    log->events[log->event_count++] = event;
    return 0;
}

static int take_chunk_record(struct tact_log *log, const struct tact_mcap_record *record,
                             struct tact_error *err)
{
    struct tact_mcap_message message;

    switch (record->opcode) {
    case TACT_MCAP_SCHEMA:
        return take_schema(log, record->content, err);
    case TACT_MCAP_CHANNEL:
        return take_channel(log, record->content);
    case TACT_MCAP_MESSAGE:
        if (tact_mcap_parse_message(record->content, &message) != 0)
            return -EBADMSG;
        count_message(log, &message);
        if (message.channel == log->tick_channel)
            return take_tick(log, &message);
        if (message.channel == log->event_channel)
            return take_event(log, &message);
        return 0;
    default:
        return -EBADMSG;
    }
}

/* A chunk counts whole or not at all. */
static int take_chunk(struct tact_log *log, const struct tact_mcap_record *chunk,
                      struct tact_error *err)
{
    struct tact_log_state before = log->state;
    const struct tact_log_gap gap_before = log->gap;
    struct tact_log_topic topics_before[TACT_LOG_TOPICS];
    size_t topic_count_before = log->topic_count, events_before = log->event_count;
    const int tick_channel_before = log->tick_channel, event_channel_before = log->event_channel;
    struct tact_mcap_record record;

    memcpy(topics_before, log->topics, sizeof topics_before);
    int rc = grow(&log->chunks, log->chunk_count, sizeof *log->chunks);
    if (rc == 0)
        rc = tact_mcap_parse_chunk(chunk->content, &log->chunk);
    if (rc != 0)
        return rc;
    struct tact_cursor cursor = {log->chunk.data, log->chunk.size, false};
    while (rc == 0 && (rc = tact_mcap_chunk_next(&cursor, &record)) == 0)
        rc = take_chunk_record(log, &record, err);
    if (rc == -ENODATA) {
        struct tact_log_chunk *sound = &log->chunks[log->chunk_count++];
        *sound =
            (struct tact_log_chunk){chunk->at, before.ticks, log->state.ticks - before.ticks, {0}};
        if (log->chunk.size <= TACT_LOG_KEPT - log->kept) {
            log->kept += log->chunk.size;
            sound->unpacked = log->chunk;
            log->chunk = (struct tact_bytes){0};
        }
        return 0;
    }
    log->state = before;
    log->gap = gap_before;
    memcpy(log->topics, topics_before, sizeof topics_before);
    log->topic_count = topic_count_before;
    log->tick_channel = tick_channel_before;
    log->event_channel = event_channel_before;
    for (; log->event_count > events_before; log->event_count--) {
        free((char *)log->events[log->event_count - 1].name);
        free((char *)log->events[log->event_count - 1].text);
    }
    return rc;
}

static int check_message_index(struct tact_span content)
{
    struct tact_cursor in = {content.data, content.size, false};

    tact_get_u16(&in);
    struct tact_span entries = tact_get_text(&in);
    return in.bad || in.left > 0 || entries.size % 16 != 0 ? -EBADMSG : 0;
}

static int take_definition(struct tact_log *log, const struct tact_mcap_record *record,
                           struct tact_error *err)
{
    return record->opcode == TACT_MCAP_SCHEMA ? take_schema(log, record->content, err)
                                              : take_channel(log, record->content);
}

/* What a damaged stretch held is found by the numbers of what follows. */
static int go_on_behind(struct tact_log *log, uint64_t at, const char *why, struct tact_error *err)
{
    note_damage(log, at, log->file.offset - at, why);
    log->gap.ticks = log->gap.events = true;
    return log->tick_channel < 0 ? tact_log_read_definitions(log, err, take_definition) : SCAN_NEXT;
}

/* The reading goes on behind what is damaged. Its length may be what is damaged, so that the next
 * record is looked for from its first byte on. */
static int skip(struct tact_log *log, uint64_t at, const char *why, struct tact_error *err)
{
    int rc = tact_log_resync(log, at + 1);

    if (rc == -ENODATA)
        return damage(log, at, why);
    if (rc != 0)
        return tact_error_set(err, rc, "cannot read the log: %s", strerror(-rc));
    rc = grow(&log->skipped, log->skipped_count, sizeof *log->skipped);
    if (rc != 0)
        return rc;
    log->skipped[log->skipped_count++] = (struct tact_mcap_stretch){at, log->file.offset};
    return go_on_behind(log, at, why, err);
}

static int take_cover(struct tact_log *log, const struct tact_mcap_record *record,
                      struct tact_error *err)
{
    if (tact_mcap_parse_cover(record->content) != 0)
        return skip(log, record->at, "a record that covers what was damaged is damaged", err);
    log->covered_count++;
    return go_on_behind(log, record->at, "bytes were damaged before it was recovered", err);
}

static int take_data_end(struct tact_log *log, const struct tact_mcap_record *record,
                         struct tact_error *err)
{
    struct tact_cursor in = {record->content.data, record->content.size, false};
    uint32_t crc = tact_get_u32(&in);

    /* It may be another record, whose opcode is damaged: the data may go on. */
    if (in.bad || in.left > 0)
        return skip(log, record->at, "the record that ends the data is damaged", err);
    if (log->skipped_count > 0) {
        log->data_end_at = record->at;
        return SCAN_STOP; /* the index would be of what is not there */
    }
    if (crc != log->file.crc_before) {
        /* The chunks and attachments are sound by their own checksums. */
        damage(log, record->at,
               "bytes between the records were changed: the checksum of the data "
               "does not match");
        log->state.bytes_lost = 0;
        return SCAN_STOP;
    }
    log->state.data_complete = log->covered_count == 0;
    log->data_end_at = record->at;
    log->file.crc = 0;
    return SCAN_NEXT;
}

/* The footer's checksum covers the summary and the footer up to itself; then the file must end. */
static int take_footer(struct tact_log *log, const struct tact_mcap_record *record)
{
    static const uint8_t head[TACT_MCAP_RECORD_HEAD] = {TACT_MCAP_FOOTER, 20};
    struct tact_span content = record->content;
    uint32_t crc;

    if (content.size != 20)
        return damage(log, record->at, "the footer is damaged");
    memcpy(&crc, content.data + 16, sizeof crc);
    uint32_t own = tact_crc32(log->file.crc_before, head, sizeof head);
    if (tact_crc32(own, content.data, 16) != crc)
        return damage(log, record->at, "the checksum of the index does not match");
    if (tact_mcap_reader_at_end(&log->file) != 0)
        return damage(log, log->file.offset, "the end of the file is damaged");
    log->closed = true;
    log->state.complete = log->covered_count == 0 && !log->file.magic_damaged;
    return SCAN_STOP;
}

static int take_data_record(struct tact_log *log, const struct tact_mcap_record *record,
                            struct tact_error *err)
{
    const char *why;
    int rc;

    switch (record->opcode) {
    case TACT_MCAP_HEADER:
        rc =
            record->at == TACT_MCAP_MAGIC_SIZE ? tact_mcap_parse_header(record->content) : -EBADMSG;
        why = "the header is damaged, or stands in the wrong place";
        break;
    case TACT_MCAP_SCHEMA:
        rc = take_schema(log, record->content, err);
        why = "a schema is damaged";
        break;
    case TACT_MCAP_CHANNEL:
        rc = take_channel(log, record->content);
        why = "a channel is damaged";
        break;
    case TACT_MCAP_CHUNK:
        rc = take_chunk(log, record, err);
        why = "a chunk is damaged, or one before it is missing";
        break;
    case TACT_MCAP_MESSAGE_INDEX:
        rc = check_message_index(record->content);
        why = "the index of a chunk is damaged";
        break;
    case TACT_MCAP_ATTACHMENT:
        rc = take_attachment(log, record->content);
        why = "an attachment is damaged";
        break;
    case TACT_MCAP_METADATA:
        rc = take_facts(log, record->content);
        why = "the facts of the session are damaged";
        break;
    case TACT_MCAP_COVER:
        return take_cover(log, record, err);
    case TACT_MCAP_DATA_END:
        return take_data_end(log, record, err);
    default:
        rc = -EBADMSG;
        why = "a record of a kind that tact does not write";
    }
    return rc == -EBADMSG ? skip(log, record->at, why, err) : rc;
}

static int take_summary_record(struct tact_log *log, const struct tact_mcap_record *record)
{
    switch (record->opcode) {
    case TACT_MCAP_SCHEMA:
    case TACT_MCAP_CHANNEL:
    case TACT_MCAP_CHUNK_INDEX:
    case TACT_MCAP_ATTACHMENT_INDEX:
    case TACT_MCAP_METADATA_INDEX:
    case TACT_MCAP_STATISTICS:
    case TACT_MCAP_SUMMARY_OFFSET:
        return SCAN_NEXT;
    case TACT_MCAP_FOOTER:
        return take_footer(log, record);
    default:
        return damage(log, record->at, "the index is damaged");
    }
}

/* A length that leads beyond the file: the file was cut there, or the length is damaged. */
static int end_inside(struct tact_log *log, uint64_t at, struct tact_error *err)
{
    size_t before = log->skipped_count;
    bool first = log->state.why[0] == '\0';
    int rc = skip(log, at, "the file ends inside a record", err);

    if (log->skipped_count > before && first)
        snprintf(log->state.why, sizeof log->state.why, "the length of a record is damaged");
    log->cut = log->cut || log->skipped_count == before;
    return rc;
}

/* Which ticks are lost is what whoever reads the log has to know. */
static void name_lost(const struct tact_log *log, struct tact_log_state *state)
{
    size_t used = strlen(state->why);

    if (state->lost > 0)
        snprintf(state->why + used, sizeof state->why - used,
                 "; %" PRIu64 " ticks are lost, of those from %" PRIu64 " to %" PRIu64, state->lost,
                 state->lost_first, state->lost_last);
    used = strlen(state->why);
    if (log->skipped_count + log->covered_count > 0 && log->gap.ticks && state->ticks > 0)
        snprintf(state->why + used, sizeof state->why - used,
                 "; ticks behind %" PRIu64 " were in it, how many is not known", state->last_tick);
}

int tact_log_scan(struct tact_log *log, struct tact_error *err)
{
    struct tact_mcap_record record;
    int rc = SCAN_NEXT;

    if (log->file.magic_damaged)
        note_damage(log, 0, TACT_MCAP_MAGIC_SIZE, "the magic bytes at its start are damaged");
    while (rc == SCAN_NEXT) {
        uint64_t at = log->file.offset;
        rc = tact_mcap_reader_next(&log->file, &record);
        if (rc == -EBADMSG && log->data_end_at == 0)
            rc = end_inside(log, at, err);
        else if (rc == -ENODATA || rc == -EBADMSG) {
            log->cut = true;
            rc = damage(log, at,
                        rc == -ENODATA ? "it has no end: its writer was killed or the file was cut"
                                       : "the file ends inside a record");
        } else if (rc != 0)
            return tact_error_set(err, rc, "cannot read the log: %s", strerror(-rc));
        else if (log->data_end_at > 0)
            rc = take_summary_record(log, &record);
        else
            rc = take_data_record(log, &record, err);
    }
    if (rc == -ENOMEM)
        tact_error_set(err, rc, "out of memory");
    log->state.events = log->event_count;
    name_lost(log, &log->state);
    return rc < 0 ? rc : 0;
}
