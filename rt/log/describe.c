#include "describe_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 65536 /* joints, or bodies */

static void put_span(struct tact_bytes *out, struct tact_span span)
{
    tact_put_u32(out, (uint32_t)span.size);
    tact_put(out, span.data, span.size);
}

void tact_describe(const struct tact_recorder_options *options, const struct tact_encoder *encoder,
                   struct tact_bytes *out)
{
    tact_put_text(out, TACT_VERSION);
    tact_put_u32(out, options->chunk_bytes);
    tact_put_u64(out, (uint64_t)options->chunk_ns);
    tact_put_u32(out, (uint32_t)options->zstd_level);
    tact_put_u64(out, tact_mcap_writer_offset(encoder->writer));
    tact_put_u32(out, tact_mcap_writer_crc(encoder->writer));
    put_span(out, tact_mcap_writer_definitions(encoder->writer));
    tact_put_u32(out, encoder->size);
    tact_put_u64(out, (uint64_t)encoder->anchor_ns);
    tact_put_u32(out, encoder->derived_every);
    tact_put_u32(out, (uint32_t)encoder->tick_channel);
    tact_put_u32(out, (uint32_t)encoder->event_channel);
    tact_put_u32(out, (uint32_t)encoder->joint_channel);
    tact_put_u32(out, (uint32_t)encoder->tf_channel);
    tact_put_u32(out, (uint32_t)encoder->joint_count);
    for (size_t i = 0; i < encoder->joint_count; i++) {
        const struct tact_recorder_joint *joint = &encoder->joints[i];
        tact_put_text(out, joint->name);
        tact_put_u32(out, joint->position);
        tact_put_u32(out, joint->velocity);
        tact_put_u32(out, joint->effort);
    }
    tact_put_u32(out, (uint32_t)encoder->body_count);
    for (size_t i = 0; i < encoder->body_count; i++) {
        tact_put_text(out, encoder->bodies[i].name);
        tact_put_u32(out, encoder->bodies[i].pose);
    }
}

static bool inside(uint32_t offset, uint32_t size)
{
    return offset == TACT_RECORDER_NONE || offset < size;
}

static int read_joints(struct tact_cursor *in, struct tact_encoder *encoder)
{
    uint32_t count = tact_get_u32(in);

    if (in->bad || count > LIMIT)
        return -EBADMSG;
    encoder->joints = calloc((size_t)count + 1, sizeof *encoder->joints);
    if (!encoder->joints)
        return -ENOMEM;
    for (; encoder->joint_count < count; encoder->joint_count++) {
        struct tact_recorder_joint *joint = &encoder->joints[encoder->joint_count];
        char *name = tact_span_copy(tact_get_text(in));
        joint->name = name;
        joint->position = tact_get_u32(in);
        joint->velocity = tact_get_u32(in);
        joint->effort = tact_get_u32(in);
        if (!name || in->bad || !inside(joint->position, encoder->size) ||
            !inside(joint->velocity, encoder->size) || !inside(joint->effort, encoder->size)) {
            free(name);
            return -EBADMSG;
        }
    }
    return 0;
}

static int read_bodies(struct tact_cursor *in, struct tact_encoder *encoder)
{
    uint32_t count = tact_get_u32(in);

    if (in->bad || count > LIMIT)
        return -EBADMSG;
    encoder->bodies = calloc((size_t)count + 1, sizeof *encoder->bodies);
    if (!encoder->bodies)
        return -ENOMEM;
    for (; encoder->body_count < count; encoder->body_count++) {
        struct tact_recorder_body *body = &encoder->bodies[encoder->body_count];
        char *name = tact_span_copy(tact_get_text(in));
        body->name = name;
        body->pose = tact_get_u32(in);
        if (!name || in->bad || encoder->size < 7 || body->pose > encoder->size - 7) {
            free(name);
            return -EBADMSG;
        }
    }
    return 0;
}

int tact_description_read(struct tact_span from, struct tact_description *d)
{
    struct tact_cursor in = {from.data, from.size, false};
    struct tact_encoder *encoder = &d->encoder;

    *d = (struct tact_description){.options = tact_recorder_options_default()};
    if (!tact_span_is(tact_get_text(&in), TACT_VERSION))
        return -EBADMSG;
    d->options.chunk_bytes = tact_get_u32(&in);
    d->options.chunk_ns = (int64_t)tact_get_u64(&in);
    d->options.zstd_level = (int)tact_get_u32(&in);
    d->prefix_bytes = tact_get_u64(&in);
    d->prefix_crc = tact_get_u32(&in);
    d->definitions = tact_get_text(&in);
    encoder->size = tact_get_u32(&in);
    encoder->anchor_ns = (int64_t)tact_get_u64(&in);
    encoder->derived_every = tact_get_u32(&in);
    encoder->tick_channel = (int)tact_get_u32(&in);
    encoder->event_channel = (int)tact_get_u32(&in);
    encoder->joint_channel = (int)tact_get_u32(&in);
    encoder->tf_channel = (int)tact_get_u32(&in);
    int rc = in.bad ? -EBADMSG : read_joints(&in, encoder);
    if (rc == 0)
        rc = read_bodies(&in, encoder);
    if (rc == 0 && (in.bad || in.left > 0 || d->options.chunk_bytes > TACT_RECORDER_CHUNK_MAX ||
                    d->options.zstd_level < 0 || d->options.zstd_level > 19))
        rc = -EBADMSG;
    if (rc != 0)
        tact_encoder_free(encoder);
    return rc;
}
