#include "encode_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdr_internal.h"
#include "schema_internal.h"

static uint64_t wall_time(const struct tact_encoder *encoder, int64_t stamp_ns)
{
    int64_t time;
    return __builtin_add_overflow(encoder->anchor_ns, stamp_ns, &time) || time < 0 ? 0
                                                                                   : (uint64_t)time;
}

static int bad(struct tact_error *err, const char *what, const char *name, const char *why)
{
    return tact_error_set(err, -EINVAL, "%s \"%s\": %s", what, name ? name : "", why);
}

static int check_attachments(const struct tact_recorder_content *content, struct tact_error *err)
{
    for (size_t i = 0; i < content->attachment_count; i++) {
        const struct tact_log_attachment *a = &content->attachments[i];
        if (!a->name || !*a->name || !tact_utf8_valid(a->name) ||
            (a->media_type && !tact_utf8_valid(a->media_type)))
            return bad(err, "attachment", a->name, "its name or type is empty or not UTF-8");
        if (!a->data && a->size > 0)
            return bad(err, "attachment", a->name, "it has no data");
        for (size_t j = 0; j < i; j++) {
            if (strcmp(a->name, content->attachments[j].name) == 0)
                return bad(err, "attachment", a->name, "there are two of this name");
        }
    }
    return 0;
}

static int check_facts(const struct tact_recorder_content *content, struct tact_error *err)
{
    static const char *const own[] = {"tact_version",   "schema_version",  "clock",
                                      "wall_anchor_ns", "recovered_ticks", "recovered_events",
                                      "lost_ticks",     TACT_FACTS_CRC};

    for (size_t i = 0; i < content->fact_count; i++) {
        const struct tact_log_fact *fact = &content->facts[i];
        if (!fact->key || !*fact->key || !fact->value || !tact_utf8_valid(fact->key) ||
            !tact_utf8_valid(fact->value))
            return bad(err, "fact", fact->key, "its key or value is missing or not UTF-8");
        bool taken = false;
        for (size_t j = 0; j < sizeof own / sizeof own[0]; j++)
            taken = taken || strcmp(fact->key, own[j]) == 0;
        for (size_t j = 0; j < i; j++)
            taken = taken || strcmp(fact->key, content->facts[j].key) == 0;
        if (taken)
            return bad(err, "fact", fact->key, "there are two of this key");
    }
    return 0;
}

int tact_encoder_check(const struct tact_recorder_content *content, struct tact_error *err)
{
    if (!content->layout)
        return tact_error_set(err, -EINVAL, "a recording needs a layout");
    uint32_t size = content->layout->size;
    for (size_t i = 0; i < content->joint_count; i++) {
        const struct tact_recorder_joint *joint = &content->joints[i];
        uint32_t offsets[3] = {joint->position, joint->velocity, joint->effort};
        if (!joint->name || !*joint->name || !tact_utf8_valid(joint->name))
            return bad(err, "joint", joint->name, "its name is empty or not UTF-8");
        for (int k = 0; k < 3; k++) {
            if (offsets[k] != TACT_RECORDER_NONE && offsets[k] >= size)
                return bad(err, "joint", joint->name, "an offset is outside the record");
        }
    }
    for (size_t i = 0; i < content->body_count; i++) {
        const struct tact_recorder_body *body = &content->bodies[i];
        if (!body->name || !*body->name || !tact_utf8_valid(body->name))
            return bad(err, "body", body->name, "its name is empty or not UTF-8");
        if (size < 7 || body->pose > size - 7)
            return bad(err, "body", body->name, "its pose is outside the record");
    }
    int rc = check_attachments(content, err);
    return rc ? rc : check_facts(content, err);
}

static int add_channel(struct tact_encoder *encoder, const char *schema, const void *text,
                       size_t size, const char *topic, int *channel)
{
    int rc = tact_mcap_writer_schema(encoder->writer, schema, text, size);

    if (rc > 0)
        rc = tact_mcap_writer_channel(encoder->writer, rc, topic);
    *channel = rc;
    return rc < 0 ? rc : 0;
}

static int add_channels(struct tact_encoder *encoder, const struct tact_layout *layout)
{
    struct tact_bytes text = {0};

    tact_schema_tick(layout, &text);
    int rc = text.failed ? -ENOMEM
                         : add_channel(encoder, TACT_SCHEMA_TICK, text.data, text.size,
                                       TACT_TOPIC_TICK, &encoder->tick_channel);
    tact_bytes_free(&text);
    if (rc == 0)
        rc = add_channel(encoder, TACT_SCHEMA_EVENT, tact_schema_event, strlen(tact_schema_event),
                         TACT_TOPIC_EVENT, &encoder->event_channel);
    if (rc == 0 && encoder->joint_count > 0)
        rc = add_channel(encoder, TACT_SCHEMA_JOINTS, tact_schema_joints,
                         strlen(tact_schema_joints), "/joint_states", &encoder->joint_channel);
    if (rc == 0 && encoder->body_count > 0)
        rc = add_channel(encoder, TACT_SCHEMA_TF, tact_schema_tf, strlen(tact_schema_tf), "/tf",
                         &encoder->tf_channel);
    return rc;
}

/* Nothing in MCAP checks a metadata record of a log that was cut, so it checks itself. */
static int write_facts(struct tact_encoder *encoder, const struct tact_recorder_content *content)
{
    struct tact_bytes map = {0};
    char text[32];

    tact_put_text(&map, "tact_version");
    tact_put_text(&map, TACT_VERSION);
    tact_put_text(&map, "schema_version");
    tact_put_text(&map, TACT_SCHEMA_VERSION);
    tact_put_text(&map, "clock");
    tact_put_text(&map, "CLOCK_MONOTONIC");
    tact_put_text(&map, "wall_anchor_ns");
    snprintf(text, sizeof text, "%" PRId64, encoder->anchor_ns);
    tact_put_text(&map, text);
    for (size_t i = 0; i < content->fact_count; i++) {
        tact_put_text(&map, content->facts[i].key);
        tact_put_text(&map, content->facts[i].value);
    }
    snprintf(text, sizeof text, "%08" PRIx32, tact_crc32(0, map.data, map.size));
    tact_put_text(&map, TACT_FACTS_CRC);
    tact_put_text(&map, text);
    int rc = tact_mcap_writer_metadata(encoder->writer, TACT_FACTS, &map);
    tact_bytes_free(&map);
    return rc;
}

static int copy_names(struct tact_encoder *encoder, const struct tact_recorder_content *content)
{
    encoder->joints = calloc(content->joint_count + 1, sizeof *encoder->joints);
    encoder->bodies = calloc(content->body_count + 1, sizeof *encoder->bodies);
    if (!encoder->joints || !encoder->bodies)
        return -ENOMEM;
    for (; encoder->joint_count < content->joint_count; encoder->joint_count++) {
        struct tact_recorder_joint *joint = &encoder->joints[encoder->joint_count];
        *joint = content->joints[encoder->joint_count];
        if (!(joint->name = strdup(joint->name)))
            return -ENOMEM;
    }
    for (; encoder->body_count < content->body_count; encoder->body_count++) {
        struct tact_recorder_body *body = &encoder->bodies[encoder->body_count];
        *body = content->bodies[encoder->body_count];
        if (!(body->name = strdup(body->name)))
            return -ENOMEM;
    }
    return 0;
}

int tact_encoder_init(struct tact_encoder *encoder, struct tact_mcap_writer *writer,
                      const struct tact_recorder_content *content, uint32_t derived_every,
                      int64_t anchor_ns, int64_t now_ns)
{
    *encoder = (struct tact_encoder){
        .writer = writer,
        .size = content->layout->size,
        .anchor_ns = anchor_ns,
        .derived_every = derived_every,
        .joint_channel = -1,
        .tf_channel = -1,
    };
    int rc = derived_every > 0 ? copy_names(encoder, content) : 0;
    if (rc == 0)
        rc = add_channels(encoder, content->layout);
    if (rc == 0)
        rc = write_facts(encoder, content);
    for (size_t i = 0; rc == 0 && i < content->attachment_count; i++) {
        const struct tact_log_attachment *a = &content->attachments[i];
        rc = tact_mcap_writer_attachment(writer, wall_time(encoder, now_ns), a->name, a->media_type,
                                         a->data, a->size);
    }
    return rc;
}

bool tact_encoder_channels_exist(const struct tact_encoder *encoder)
{
    int count = tact_mcap_writer_channels(encoder->writer);

    return encoder->tick_channel >= 0 && encoder->tick_channel < count &&
           encoder->event_channel >= 0 && encoder->event_channel < count &&
           encoder->joint_channel >= -1 && encoder->joint_channel < count &&
           encoder->tf_channel >= -1 && encoder->tf_channel < count;
}

void tact_encoder_free(struct tact_encoder *encoder)
{
    for (size_t i = 0; i < encoder->joint_count; i++)
        free((char *)encoder->joints[i].name);
    for (size_t i = 0; i < encoder->body_count; i++)
        free((char *)encoder->bodies[i].name);
    free(encoder->joints);
    free(encoder->bodies);
    *encoder = (struct tact_encoder){0};
}

static void put_header(struct tact_cdr *cdr, const struct tact_encoder *encoder, int64_t stamp_ns,
                       const char *frame)
{
    tact_cdr_time(cdr, (int64_t)wall_time(encoder, stamp_ns));
    tact_cdr_string(cdr, frame);
}

/* One of JointState's sequences: empty where no joint has the quantity, else one value a joint. */
static void put_joints(struct tact_cdr *cdr, const struct tact_encoder *encoder,
                       const struct tact_record *record, size_t member)
{
    size_t known = 0;
    uint32_t offset;

    for (size_t i = 0; i < encoder->joint_count; i++) {
        memcpy(&offset, (const char *)&encoder->joints[i] + member, sizeof offset);
        known += offset != TACT_RECORDER_NONE;
    }
    tact_cdr_u32(cdr, known ? (uint32_t)encoder->joint_count : 0);
    for (size_t i = 0; known && i < encoder->joint_count; i++) {
        memcpy(&offset, (const char *)&encoder->joints[i] + member, sizeof offset);
        tact_cdr_f64(cdr, offset != TACT_RECORDER_NONE ? record->values[offset] : (double)NAN);
    }
}

static void encode_joints(struct tact_encoder *encoder, const struct tact_record *record)
{
    struct tact_cdr cdr = tact_cdr_begin(tact_mcap_writer_begin(
        encoder->writer, encoder->joint_channel, wall_time(encoder, record->stamp_ns)));

    put_header(&cdr, encoder, record->stamp_ns, "");
    tact_cdr_u32(&cdr, (uint32_t)encoder->joint_count);
    for (size_t i = 0; i < encoder->joint_count; i++)
        tact_cdr_string(&cdr, encoder->joints[i].name);
    put_joints(&cdr, encoder, record, offsetof(struct tact_recorder_joint, position));
    put_joints(&cdr, encoder, record, offsetof(struct tact_recorder_joint, velocity));
    put_joints(&cdr, encoder, record, offsetof(struct tact_recorder_joint, effort));
    tact_mcap_writer_end(encoder->writer);
}

static void encode_tf(struct tact_encoder *encoder, const struct tact_record *record)
{
    struct tact_cdr cdr = tact_cdr_begin(tact_mcap_writer_begin(
        encoder->writer, encoder->tf_channel, wall_time(encoder, record->stamp_ns)));

    tact_cdr_u32(&cdr, (uint32_t)encoder->body_count);
    for (size_t i = 0; i < encoder->body_count; i++) {
        const double *pose = record->values + encoder->bodies[i].pose;
        put_header(&cdr, encoder, record->stamp_ns, "world");
        tact_cdr_string(&cdr, encoder->bodies[i].name);
        tact_cdr_f64_array(&cdr, pose, 3);
        tact_cdr_f64_array(&cdr, pose + 4, 3); /* ROS has w last */
        tact_cdr_f64(&cdr, pose[3]);
    }
    tact_mcap_writer_end(encoder->writer);
}

void tact_encode_record(struct tact_encoder *encoder, const struct tact_record *record)
{
    struct tact_cdr cdr = tact_cdr_begin(tact_mcap_writer_begin(
        encoder->writer, encoder->tick_channel, wall_time(encoder, record->stamp_ns)));

    tact_cdr_time(&cdr, record->stamp_ns);
    tact_cdr_u64(&cdr, record->tick);
    tact_cdr_f64_array(&cdr, record->values, encoder->size);
    tact_mcap_writer_end(encoder->writer);
    if (encoder->derived_every == 0 || record->tick % encoder->derived_every != 0)
        return;
    if (encoder->joint_channel >= 0)
        encode_joints(encoder, record);
    if (encoder->tf_channel >= 0)
        encode_tf(encoder, record);
}

void tact_encode_event(struct tact_encoder *encoder, uint64_t tick, int64_t stamp_ns,
                       const char *name, const char *text)
{
    struct tact_cdr cdr = tact_cdr_begin(tact_mcap_writer_begin(
        encoder->writer, encoder->event_channel, wall_time(encoder, stamp_ns)));

    tact_cdr_time(&cdr, stamp_ns);
    tact_cdr_u64(&cdr, tick);
    tact_cdr_string(&cdr, name);
    tact_cdr_string(&cdr, text);
    tact_mcap_writer_end(encoder->writer);
}
