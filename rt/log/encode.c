#include "contact/version.h"
#include "encode_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdr_internal.h"
#include "schema_internal.h"

uint64_t tact_encoder_wall_clock_time(const struct tact_encoder *encoder, int64_t stamp_ns)
{
    int64_t time;
    return __builtin_add_overflow(encoder->wall_clock_anchor_ns, stamp_ns, &time) || time < 0
               ? 0
               : (uint64_t)time;
}

struct tact_cdr_writer tact_encoder_begin_message(struct tact_encoder *encoder, int channel,
                                                  int64_t stamp_ns)
{
    return tact_cdr_begin_message(encoder->message_sink.begin(
        encoder->message_sink.self, channel, tact_encoder_wall_clock_time(encoder, stamp_ns)));
}

static int check_recorder_attachments(const struct tact_recorder_content *content,
                                      struct tact_error *err)
{
    for (size_t i = 0; i < content->attachment_count; i++) {
        const struct tact_log_attachment *a = &content->attachments[i];
        if (!a->name || !*a->name || !tact_utf8_valid(a->name) ||
            (a->media_type && !tact_utf8_valid(a->media_type))) {
            return tact_recorder_content_set_error(
                err, "attachment", a->name,
                "its name is empty, or its name or media type is not UTF-8");
        }
        if (!a->data && a->size > 0) {
            return tact_recorder_content_set_error(err, "attachment", a->name,
                                                   "its size is not 0, but it has no data");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(a->name, content->attachments[j].name) == 0) {
                return tact_recorder_content_set_error(
                    err, "attachment", a->name,
                    "another attachment to be recorded has the same name");
            }
        }
    }
    return 0;
}

static int check_recorder_facts(const struct tact_recorder_content *content, struct tact_error *err)
{
    static const char *const reserved[] = {
        "tact_version",    "schema_version",   "clock",           "wall_anchor_ns",
        "recovered_ticks", "recovered_events", "lost_ticks",      "part",
        "session",         "continued_in",     TACT_FACTS_CRC_KEY};

    for (size_t i = 0; i < content->fact_count; i++) {
        const struct tact_log_fact *session_fact = &content->facts[i];
        if (!session_fact->key || !*session_fact->key || !session_fact->value ||
            !tact_utf8_valid(session_fact->key) || !tact_utf8_valid(session_fact->value)) {
            return tact_recorder_content_set_error(err, "fact", session_fact->key,
                                                   "its key or value is missing or not UTF-8");
        }
        bool is_fact_key_in_use = false;
        for (size_t j = 0; j < sizeof reserved / sizeof reserved[0]; j++) {
            is_fact_key_in_use = is_fact_key_in_use || strcmp(session_fact->key, reserved[j]) == 0;
        }
        for (size_t j = 0; j < i; j++) {
            is_fact_key_in_use =
                is_fact_key_in_use || strcmp(session_fact->key, content->facts[j].key) == 0;
        }
        if (is_fact_key_in_use) {
            return tact_recorder_content_set_error(err, "fact", session_fact->key,
                                                   "two facts of the session have this key");
        }
    }
    return 0;
}

int tact_encoder_check_content(const struct tact_recorder_content *content, struct tact_error *err)
{
    const struct tact_layout *layout = content->layout;

    if (!layout) {
        return tact_error_set(err, -EINVAL, "a recording needs a layout");
    }
    if (layout->element && (layout->element->size == 0 || layout->most == 0)) {
        return tact_error_set(
            err, -EINVAL,
            "the list of a tick's record needs a capacity and at least one field in its elements");
    }
    int rc = tact_derived_topics_check(content, err);
    if (rc == 0) {
        rc = check_recorder_attachments(content, err);
    }
    return rc ? rc : check_recorder_facts(content, err);
}

static int add_message_schema(struct tact_encoder *encoder, bool is_topic_enabled, const char *name,
                              const char *text)
{
    return is_topic_enabled
               ? encoder->message_sink.schema(encoder->message_sink.self, name, text, strlen(text))
               : 0;
}

static int add_topic_channel(struct tact_encoder *encoder, int topic_channel_index,
                             bool is_topic_enabled, int schema, const char *topic)
{
    int rc = is_topic_enabled
                 ? encoder->message_sink.channel(encoder->message_sink.self, schema, topic)
                 : -1;

    encoder->channels[topic_channel_index] = rc;
    return is_topic_enabled && rc < 0 ? rc : 0;
}

/* Adds one wrench channel per contact, or per sensor, with consecutive ids. */
static int add_wrench_topics(struct tact_encoder *encoder, int topic_channel_index, int schema)
{
    const struct tact_derived_topics *s = &encoder->derived_topics;
    bool contacts = topic_channel_index == TACT_LOG_CHANNEL_CONTACTS;
    size_t count = contacts ? s->contact_count : s->sensor_count;
    char topic[TACT_RECORDER_TOPIC_NAME + 32];
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < count; i++) {
        snprintf(topic, sizeof topic, "/%s/%s/wrench", contacts ? "contacts" : "sensors",
                 contacts ? s->contacts[i].name : s->sensors[i].name);
        rc = encoder->message_sink.channel(encoder->message_sink.self, schema, topic);
        if (i == 0) {
            encoder->channels[topic_channel_index] = rc;
        }
    }
    return rc < 0 ? rc : 0;
}

static int add_derived_topics(struct tact_encoder *encoder)
{
    const struct tact_derived_topics *s = &encoder->derived_topics;
    bool joints = s->joint_count > 0, frames = s->body_count + s->link_count + s->contact_count > 0;
    bool are_contact_arrows_encoded = s->contact_count > 0, scene = encoder->scene.size > 0;
    int joint =
        add_message_schema(encoder, joints, TACT_SCHEMA_NAME_JOINTS, tact_schema_text_joints);
    int tf = add_message_schema(encoder, frames, TACT_SCHEMA_NAME_TF, tact_schema_text_tf);
    int wrench = add_message_schema(encoder, s->contact_count + s->sensor_count > 0,
                                    TACT_SCHEMA_NAME_WRENCH, tact_schema_text_wrench);
    int marker_schema_id = add_message_schema(encoder, are_contact_arrows_encoded || scene,
                                              TACT_SCHEMA_NAME_MARKERS, tact_schema_text_markers);

    int rc = add_topic_channel(encoder, TACT_LOG_CHANNEL_JOINTS, joints, joint, "/joint_states");
    rc = rc ? rc : add_topic_channel(encoder, TACT_LOG_CHANNEL_TF, frames, tf, "/tf");
    rc = rc ? rc : add_wrench_topics(encoder, TACT_LOG_CHANNEL_CONTACTS, wrench);
    rc = rc ? rc : add_wrench_topics(encoder, TACT_LOG_CHANNEL_SENSORS, wrench);
    rc = rc ? rc
            : add_topic_channel(encoder, TACT_LOG_CHANNEL_ARROWS, are_contact_arrows_encoded,
                                marker_schema_id, "/contacts/markers");
    return rc ? rc
              : add_topic_channel(encoder, TACT_LOG_CHANNEL_SCENE, scene, marker_schema_id,
                                  "/scene");
}

int tact_encoder_add_pressure(struct tact_encoder *encoder)
{
    const struct tact_message_sink *message_sink = &encoder->message_sink;
    int schema =
        add_message_schema(encoder, true, TACT_SCHEMA_NAME_PRESSURE, tact_schema_text_pressure);

    encoder->pressure_map_log_channel =
        schema < 0 ? schema
                   : message_sink->channel(message_sink->self, schema, TACT_TOPIC_PRESSURE);
    if (encoder->pressure_map_log_channel < 0) {
        return encoder->pressure_map_log_channel;
    }
    if (encoder->derived_every == 0 || encoder->channels[TACT_LOG_CHANNEL_ARROWS] >= 0) {
        return 0;
    }
    int marker_schema_id =
        add_message_schema(encoder, true, TACT_SCHEMA_NAME_MARKERS, tact_schema_text_markers);
    return add_topic_channel(encoder, TACT_LOG_CHANNEL_ARROWS, true, marker_schema_id,
                             "/contacts/markers");
}

static int add_tick_topic(struct tact_encoder *encoder, const struct tact_layout *layout)
{
    struct tact_bytes text = {0};

    tact_schema_put_tick(layout, &text);
    int schema = text.failed
                     ? -ENOMEM
                     : encoder->message_sink.schema(encoder->message_sink.self,
                                                    TACT_SCHEMA_NAME_TICK, text.data, text.size);
    tact_bytes_free(&text);
    encoder->tick_log_channel =
        schema < 0
            ? schema
            : encoder->message_sink.channel(encoder->message_sink.self, schema, TACT_TOPIC_TICK);
    return encoder->tick_log_channel < 0 ? encoder->tick_log_channel : 0;
}

static int add_event_topic(struct tact_encoder *encoder)
{
    int schema = add_message_schema(encoder, true, TACT_SCHEMA_NAME_EVENT, tact_schema_text_event);

    encoder->event_channel = schema < 0 ? schema
                                        : encoder->message_sink.channel(encoder->message_sink.self,
                                                                        schema, TACT_TOPIC_EVENT);
    return encoder->event_channel < 0 ? encoder->event_channel : 0;
}

void tact_put_crc_of_log_facts(struct tact_bytes *map)
{
    char text[16];
    snprintf(text, sizeof text, "%08" PRIx32, tact_crc32(0, map->data, map->size));
    tact_bytes_append_text(map, TACT_FACTS_CRC_KEY);
    tact_bytes_append_text(map, text);
}

static int write_facts_metadata(struct tact_mcap_writer *writer, const struct tact_encoder *encoder,
                                const struct tact_recorder_content *content, unsigned part)
{
    struct tact_bytes map = {0};
    char text[32];

    tact_bytes_append_text(&map, "tact_version");
    tact_bytes_append_text(&map, TACT_VERSION);
    tact_bytes_append_text(&map, "schema_version");
    tact_bytes_append_text(&map, TACT_SCHEMA_VERSION);
    tact_bytes_append_text(&map, "clock");
    tact_bytes_append_text(&map, "CLOCK_MONOTONIC");
    tact_bytes_append_text(&map, "wall_anchor_ns");
    snprintf(text, sizeof text, "%" PRId64, encoder->wall_clock_anchor_ns);
    tact_bytes_append_text(&map, text);
    if (part > 0) {
        tact_bytes_append_text(&map, "part");
        snprintf(text, sizeof text, "%u", part);
        tact_bytes_append_text(&map, text);
    }
    for (size_t i = 0; i < content->fact_count; i++) {
        tact_bytes_append_text(&map, content->facts[i].key);
        tact_bytes_append_text(&map, content->facts[i].value);
    }
    tact_put_crc_of_log_facts(&map);
    int rc = tact_mcap_writer_add_metadata(writer, TACT_FACTS_METADATA_NAME, &map);
    tact_bytes_free(&map);
    return rc;
}

int tact_encoder_init_topics(struct tact_encoder *encoder, struct tact_message_sink message_sink,
                             const struct tact_recorder_content *content,
                             const struct tact_bytes *scene, bool events, uint32_t derived_every,
                             int64_t wall_clock_anchor_ns)
{
    *encoder = (struct tact_encoder){
        .message_sink = message_sink,
        .size = content->layout->size,
        .stride = tact_layout_stride(content->layout),
        .wall_clock_anchor_ns = wall_clock_anchor_ns,
        .derived_every = derived_every,
        .event_channel = -1,
        .pressure_map_log_channel = -1,
    };
    for (int i = 0; i < TACT_DERIVED_CHANNELS; i++) {
        encoder->channels[i] = -1;
    }
    const struct tact_recorder_content names = {.owners = content->owners,
                                                .owner_count = content->owner_count};
    int rc =
        tact_derived_topics_copy(&encoder->derived_topics, derived_every > 0 ? content : &names);
    if (derived_every > 0) {
        tact_bytes_append(&encoder->scene, scene->data, scene->size);
    }
    if (rc == 0 && (scene->failed || encoder->scene.failed)) {
        rc = -ENOMEM;
    }
    rc = rc ? rc : add_tick_topic(encoder, content->layout);
    rc = rc || !events ? rc : add_event_topic(encoder);
    return rc ? rc : add_derived_topics(encoder);
}

int tact_encoder_init(struct tact_encoder *encoder, struct tact_mcap_writer *writer,
                      const struct tact_recorder_content *content, const struct tact_bytes *scene,
                      unsigned part, uint32_t derived_every, int64_t wall_clock_anchor_ns,
                      int64_t now_ns)
{
    int rc = tact_encoder_init_topics(encoder, tact_mcap_message_sink(writer), content, scene, true,
                                      derived_every, wall_clock_anchor_ns);
    if (rc == 0) {
        rc = write_facts_metadata(writer, encoder, content, part);
    }
    for (size_t i = 0; rc == 0 && i < content->attachment_count; i++) {
        const struct tact_log_attachment *a = &content->attachments[i];
        rc = tact_mcap_writer_add_attachment(writer, tact_encoder_wall_clock_time(encoder, now_ns),
                                             a->name, a->media_type, a->data, a->size);
    }
    return rc;
}

bool tact_encoder_has_channels(const struct tact_encoder *encoder, int count)
{
    bool are_topic_channels_present = encoder->tick_log_channel >= 0 &&
                                      encoder->tick_log_channel < count &&
                                      encoder->event_channel >= 0 && encoder->event_channel < count;

    for (int i = 0; i < TACT_DERIVED_CHANNELS; i++) {
        int last = encoder->channels[i];
        if (last >= 0 && i == TACT_LOG_CHANNEL_CONTACTS) {
            last += (int)encoder->derived_topics.contact_count - 1;
        }
        if (last >= 0 && i == TACT_LOG_CHANNEL_SENSORS) {
            last += (int)encoder->derived_topics.sensor_count - 1;
        }
        are_topic_channels_present =
            are_topic_channels_present && encoder->channels[i] >= -1 && last < count;
    }
    return are_topic_channels_present;
}

void tact_encoder_free(struct tact_encoder *encoder)
{
    tact_derived_topics_free(&encoder->derived_topics);
    tact_bytes_free(&encoder->scene);
    *encoder = (struct tact_encoder){0};
}

const char *tact_encoder_shape_owner_name(const struct tact_encoder *encoder, double shape)
{
    const struct tact_derived_topics *derived_topics = &encoder->derived_topics;
    return shape >= 0.0 && shape < (double)derived_topics->owner_count
               ? derived_topics->owners[(size_t)shape]
               : "";
}

static uint32_t checked_double_to_uint32(double value)
{
    return value >= 0.0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Encodes a list element; its name is "ruler/finger", or "ruler/finger#2" for the second pair. */
static void encode_contact_of_list(struct tact_cdr_writer *cdr, const struct tact_encoder *encoder,
                                   const double *element)
{
    char name[512];
    uint32_t number_among_pairs_of_same_name = checked_double_to_uint32(element[2]);
    int length = snprintf(name, sizeof name, "%.240s/%.240s",
                          tact_encoder_shape_owner_name(encoder, element[0]),
                          tact_encoder_shape_owner_name(encoder, element[1]));

    if (number_among_pairs_of_same_name > 1) {
        snprintf(name + length, sizeof name - (size_t)length, "#%" PRIu32,
                 number_among_pairs_of_same_name);
    }
    tact_utf8_repair(name); /* snprintf() may have cut the text within a UTF-8 character */
    tact_cdr_put_string(cdr, name);
    for (int i = 0; i < TACT_ELEMENT_HEAD; i++) {
        tact_cdr_put_u32(cdr, checked_double_to_uint32(element[i]));
    }
    tact_cdr_put_f64_array(cdr, element + TACT_ELEMENT_HEAD, encoder->stride - TACT_ELEMENT_HEAD);
}

void tact_encode_scene_once(struct tact_encoder *encoder, uint64_t time_ns)
{
    if (encoder->scene.size == 0) {
        return;
    }
    tact_bytes_append(encoder->message_sink.begin(encoder->message_sink.self,
                                                  encoder->channels[TACT_LOG_CHANNEL_SCENE],
                                                  time_ns),
                      encoder->scene.data, encoder->scene.size);
    encoder->message_sink.end(encoder->message_sink.self);
    tact_bytes_free(&encoder->scene);
}

void tact_encode_record(struct tact_encoder *encoder, const struct tact_record *record)
{
    uint64_t time = tact_encoder_wall_clock_time(encoder, record->stamp_ns);

    tact_encode_scene_once(encoder, time);
    struct tact_cdr_writer cdr = tact_cdr_begin_message(
        encoder->message_sink.begin(encoder->message_sink.self, encoder->tick_log_channel, time));

    tact_cdr_put_time(&cdr, record->stamp_ns);
    tact_cdr_put_u64(&cdr, record->tick);
    tact_cdr_put_f64_array(&cdr, record->values, encoder->size);
    if (encoder->stride > 0) {
        const double *element = record->values + encoder->size + 1;
        uint32_t count = checked_double_to_uint32(element[-1]);
        tact_cdr_put_u32(&cdr, count);
        for (uint32_t i = 0; i < count; i++, element += encoder->stride) {
            encode_contact_of_list(&cdr, encoder, element);
        }
    }
    encoder->message_sink.end(encoder->message_sink.self);
    if (encoder->derived_every > 0 && record->tick % encoder->derived_every == 0) {
        tact_encode_derived(encoder, record);
    }
}

void tact_encode_event(struct tact_encoder *encoder, uint64_t tick, int64_t stamp_ns,
                       const char *name, const char *text)
{
    struct tact_cdr_writer cdr =
        tact_encoder_begin_message(encoder, encoder->event_channel, stamp_ns);

    tact_cdr_put_time(&cdr, stamp_ns);
    tact_cdr_put_u64(&cdr, tick);
    tact_cdr_put_string(&cdr, name);
    tact_cdr_put_string(&cdr, text);
    encoder->message_sink.end(encoder->message_sink.self);
}
