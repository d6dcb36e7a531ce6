/* A sink of encoded messages in memory. See topics.h. */
#include "topics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "encode_internal.h"

struct schema {
    char *name, *text;
};

struct channel {
    char *name;
    int schema;
};

struct tact_topics {
    struct tact_encoder encoder;
    struct schema *schemas;
    struct channel *channels;
    int schema_count, channel_count;
    struct tact_bytes bytes; /* encoded messages of a record, one after the other */
    /* message of each topic; data is set once all are encoded */
    struct tact_topic_message *messages;
    size_t count;
    struct tact_bytes scene;
    struct tact_topic_message scene_message;
};

static char *copy_schema_text(const void *text, size_t size)
{
    char *text_copy = malloc(size + 1);
    if (text_copy) {
        memcpy(text_copy, text, size);
        text_copy[size] = '\0';
    }
    return text_copy;
}

static int store_topic_schema(void *self, const char *name, const void *text, size_t size)
{
    struct tact_topics *t = self;
    struct schema *reallocated_schemas =
        realloc(t->schemas, ((size_t)t->schema_count + 1) * sizeof *reallocated_schemas);

    if (!reallocated_schemas) {
        return -ENOMEM;
    }
    t->schemas = reallocated_schemas;
    reallocated_schemas[t->schema_count] =
        (struct schema){strdup(name), copy_schema_text(text, size)};
    int are_schema_texts_copied =
        reallocated_schemas[t->schema_count].name && reallocated_schemas[t->schema_count].text;
    t->schema_count++;
    return are_schema_texts_copied ? t->schema_count - 1 : -ENOMEM;
}

static int store_topic_channel(void *self, int schema, const char *topic)
{
    struct tact_topics *t = self;
    struct channel *reallocated_channels =
        realloc(t->channels, ((size_t)t->channel_count + 1) * sizeof *reallocated_channels);

    if (!reallocated_channels) {
        return -ENOMEM;
    }
    t->channels = reallocated_channels;
    reallocated_channels[t->channel_count] = (struct channel){strdup(topic), schema};
    t->channel_count++;
    return reallocated_channels[t->channel_count - 1].name ? t->channel_count - 1 : -ENOMEM;
}

static struct tact_bytes *begin_stored_message(void *self, int channel, uint64_t time_ns)
{
    struct tact_topics *t = self;

    t->messages[t->count] = (struct tact_topic_message){
        .topic = (size_t)channel, .time_ns = time_ns, .size = t->bytes.size};
    return &t->bytes;
}

/* Sets the size of the message, a member that until now was the offset of its first byte. */
static void end_stored_message(void *self)
{
    struct tact_topics *t = self;

    t->messages[t->count].size = t->bytes.size - t->messages[t->count].size;
    t->count++;
}

/* Moves the message of /scene out of the encoder, which would write it before its first record. */
static int encode_scene_message(struct tact_topics *t)
{
    t->scene = t->encoder.scene;
    t->encoder.scene = (struct tact_bytes){0};
    t->scene_message =
        (struct tact_topic_message){.topic = (size_t)t->encoder.channels[TACT_LOG_CHANNEL_SCENE],
                                    .data = t->scene.data,
                                    .size = t->scene.size};
    t->messages = calloc((size_t)t->channel_count, sizeof *t->messages);
    return t->messages ? 0 : -ENOMEM;
}

int tact_topics_create(const struct tact_recorder_content *content, int64_t wall_anchor_ns,
                       struct tact_topics **out, struct tact_error *err)
{
    struct tact_bytes scene = {0};
    struct tact_scene_omitted_shapes omitted_shapes;
    int rc = tact_encoder_check_content(content, err);
    if (rc != 0) {
        return rc;
    }
    struct tact_topics *t = calloc(1, sizeof *t);
    if (t) {
        const struct tact_message_sink message_sink = {t, store_topic_schema, store_topic_channel,
                                                       begin_stored_message, end_stored_message};
        if (content->shape_count > 0) {
            tact_encode_scene(content, SIZE_MAX, &scene, &omitted_shapes);
        }
        rc = tact_encoder_init_topics(&t->encoder, message_sink, content, &scene, false, 1,
                                      wall_anchor_ns);
        tact_bytes_free(&scene);
        rc = rc ? rc : encode_scene_message(t);
    }
    if (!t || rc != 0) {
        tact_topics_free(t);
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    *out = t;
    return 0;
}

void tact_topics_free(struct tact_topics *t)
{
    if (!t) {
        return;
    }
    for (int i = 0; i < t->schema_count; i++) {
        free(t->schemas[i].name);
        free(t->schemas[i].text);
    }
    for (int i = 0; i < t->channel_count; i++) {
        free(t->channels[i].name);
    }
    tact_encoder_free(&t->encoder);
    tact_bytes_free(&t->bytes);
    tact_bytes_free(&t->scene);
    free(t->schemas);
    free(t->channels);
    free(t->messages);
    free(t);
}

size_t tact_topics_count(const struct tact_topics *t)
{
    return (size_t)t->channel_count;
}

struct tact_topic tact_topics_get(const struct tact_topics *t, size_t index)
{
    const struct schema *schema = &t->schemas[t->channels[index].schema];

    return (struct tact_topic){t->channels[index].name, schema->name, schema->text};
}

int tact_topics_encode(struct tact_topics *t, const struct tact_record *record,
                       const struct tact_topic_message **messages, size_t *count)
{
    t->count = 0;
    t->bytes.size = 0;
    /* all are deleted */
    memset(t->encoder.is_force_arrow_shown, 1, sizeof t->encoder.is_force_arrow_shown);
    tact_encode_record(&t->encoder, record);
    if (t->bytes.failed) {
        t->bytes.failed = false;
        return -ENOMEM;
    }
    const uint8_t *at = t->bytes.data;
    for (size_t i = 0; i < t->count; i++) {
        t->messages[i].data = at;
        at += t->messages[i].size;
    }
    *messages = t->messages;
    *count = t->count;
    return 0;
}

const struct tact_topic_message *tact_topics_scene(const struct tact_topics *t)
{
    return t->scene.size > 0 ? &t->scene_message : NULL;
}
