#include "contact/version.h"
#include "describe_internal.h"

#include <errno.h>

static void put_length_and_bytes(struct tact_bytes *out, struct tact_byte_span span)
{
    tact_bytes_append_u32(out, (uint32_t)span.size);
    tact_bytes_append(out, span.data, span.size);
}

void tact_session_description_write(const struct tact_recorder_options *options,
                                    const struct tact_mcap_writer *writer,
                                    const struct tact_encoder *encoder, struct tact_bytes *out)
{
    tact_bytes_append_text(out, TACT_VERSION);
    tact_bytes_append_u32(out, options->chunk_bytes);
    tact_bytes_append_u64(out, (uint64_t)options->chunk_ns);
    tact_bytes_append_u32(out, (uint32_t)options->zstd_level);
    tact_bytes_append_u64(out, tact_mcap_writer_file_offset(writer));
    tact_bytes_append_u32(out, tact_mcap_writer_crc(writer));
    put_length_and_bytes(out, tact_mcap_writer_schema_and_channel_records(writer));
    tact_bytes_append_u32(out, encoder->size);
    tact_bytes_append_u32(out, encoder->stride);
    tact_bytes_append_u64(out, (uint64_t)encoder->wall_clock_anchor_ns);
    tact_bytes_append_u32(out, encoder->derived_every);
    tact_bytes_append_u32(out, (uint32_t)encoder->tick_log_channel);
    tact_bytes_append_u32(out, (uint32_t)encoder->event_channel);
    for (int i = 0; i < TACT_DERIVED_CHANNELS; i++) {
        tact_bytes_append_u32(out, (uint32_t)encoder->channels[i]);
    }
    tact_derived_topics_write(&encoder->derived_topics, out);
}

int tact_session_description_read(struct tact_byte_span from, struct tact_session_description *d)
{
    struct tact_byte_cursor in = {from.data, from.size, false};
    struct tact_encoder *encoder = &d->encoder;

    *d = (struct tact_session_description){.options = tact_recorder_options_default()};
    if (!tact_byte_span_equals_text(tact_byte_cursor_read_text(&in), TACT_VERSION)) {
        return -EBADMSG;
    }
    d->options.chunk_bytes = tact_byte_cursor_read_u32(&in);
    d->options.chunk_ns = (int64_t)tact_byte_cursor_read_u64(&in);
    d->options.zstd_level = (int)tact_byte_cursor_read_u32(&in);
    d->log_prefix_byte_count = tact_byte_cursor_read_u64(&in);
    d->log_prefix_crc = tact_byte_cursor_read_u32(&in);
    d->schema_and_channel_records = tact_byte_cursor_read_text(&in);
    encoder->size = tact_byte_cursor_read_u32(&in);
    encoder->stride = tact_byte_cursor_read_u32(&in);
    in.bad = in.bad || (encoder->stride > 0 && encoder->stride <= TACT_ELEMENT_HEAD);
    encoder->wall_clock_anchor_ns = (int64_t)tact_byte_cursor_read_u64(&in);
    encoder->derived_every = tact_byte_cursor_read_u32(&in);
    encoder->tick_log_channel = (int)tact_byte_cursor_read_u32(&in);
    encoder->event_channel = (int)tact_byte_cursor_read_u32(&in);
    for (int i = 0; i < TACT_DERIVED_CHANNELS; i++) {
        encoder->channels[i] = (int)tact_byte_cursor_read_u32(&in);
    }
    int rc = in.bad ? -EBADMSG
                    : tact_derived_topics_read(&encoder->derived_topics, encoder->size,
                                               encoder->stride, &in);
    const struct tact_derived_topics *derived_topics = &encoder->derived_topics;
    if (rc == 0 && (derived_topics->contact_count > TACT_RECORDER_WRENCHES ||
                    derived_topics->sensor_count > TACT_RECORDER_WRENCHES)) {
        rc = -EBADMSG;
    }
    if (rc == 0 && (in.bad || in.left > 0 || d->options.chunk_bytes > TACT_RECORDER_CHUNK_MAX ||
                    d->options.zstd_level < 0 || d->options.zstd_level > 19)) {
        rc = -EBADMSG;
    }
    if (rc != 0) {
        tact_encoder_free(encoder);
    }
    return rc;
}
