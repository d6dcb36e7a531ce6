/* Continuing the file of a killed writer: the writer's state is restored from its records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcap_reader_internal.h"
#include "mcap_writer_state_internal.h"

#define COPY_BLOCK_BYTES 65536

struct reopened_log {
    struct tact_mcap_writer *writer;
    const struct tact_mcap_unfinished_file *from;
    struct tact_mcap_reader file;
    bool damaged; /* 1: a damaged range was skipped: message numbers may be missing */
};

static int error_of_byte_buffer(const struct tact_bytes *bytes)
{
    return bytes->failed ? -ENOMEM : 0;
}

/* A schema or a channel from its record in the file. The ids must be those that this writer
 * assigns: from 1, and from 0. */
static int rebuild_state_from_definition(struct tact_mcap_writer *writer, uint8_t opcode,
                                         struct tact_byte_span content)
{
    struct tact_mcap_schema schema;
    struct tact_mcap_channel channel;
    struct tact_mcap_summary_group *group =
        &writer->groups[opcode == TACT_MCAP_SCHEMA ? TACT_MCAP_GROUP_SCHEMAS
                                                   : TACT_MCAP_GROUP_CHANNEL_INFOS];

    if (opcode == TACT_MCAP_SCHEMA) {
        if (tact_mcap_parse_schema(content, &schema) != 0 || schema.id == 0 ||
            schema.id > group->count + 1) {
            return -EBADMSG;
        }
        if (schema.id <= group->count) {
            return 0; /* repeated */
        }
    } else {
        if (tact_mcap_parse_channel(content, &channel) != 0 || channel.id > group->count ||
            (channel.id == group->count && writer->channel_count == TACT_MCAP_MAX_CHANNELS)) {
            return -EBADMSG;
        }
        if (channel.id < group->count) {
            return 0;
        }
        writer->channel_count++;
    }
    size_t record = tact_mcap_begin_record(&group->records, opcode);
    tact_bytes_append(&group->records, content.data, content.size);
    tact_mcap_end_record(&group->records, record);
    group->count++;
    return error_of_byte_buffer(&group->records);
}

static int rebuild_state_from_message(struct reopened_log *t, struct tact_byte_span content,
                                      uint64_t offset)
{
    struct tact_mcap_writer *writer = t->writer;
    struct tact_mcap_message message;

    if (tact_mcap_parse_message(content, &message) != 0 ||
        message.channel >= writer->channel_count) {
        return -EBADMSG;
    }
    struct tact_mcap_channel_state *channel = &writer->channels[message.channel];
    if (message.sequence < channel->next || (message.sequence > channel->next && !t->damaged)) {
        return -EBADMSG;
    }
    channel->next = message.sequence + 1;
    tact_mcap_index_message(writer, message.channel, message.log_time, offset);
    return error_of_byte_buffer(&channel->index);
}

static int rebuild_state_from_all_records(struct reopened_log *t, struct tact_byte_cursor in)
{
    const uint8_t *start = in.at;
    struct tact_mcap_record record;
    int rc = 0;

    while (rc == 0 && in.left > 0) {
        uint64_t offset = (uint64_t)(in.at - start);
        rc = tact_mcap_chunk_next_record(&in, &record);
        if (rc == 0 && record.opcode == TACT_MCAP_MESSAGE) {
            rc = rebuild_state_from_message(t, record.content, offset);
        } else if (rc == 0 &&
                   (record.opcode == TACT_MCAP_SCHEMA || record.opcode == TACT_MCAP_CHANNEL)) {
            rc = rebuild_state_from_definition(t->writer, record.opcode, record.content);
        } else {
            rc = rc ? rc : -EBADMSG;
        }
    }
    return rc;
}

/* Finds the damaged range that contains an offset, or NULL. */
static const struct tact_mcap_byte_range *find_damage_at_offset(const struct reopened_log *t,
                                                                uint64_t at)
{
    for (size_t i = 0; i < t->from->damaged_count; i++) {
        if (t->from->damaged[i].at <= at && at < t->from->damaged[i].end) {
            return &t->from->damaged[i];
        }
    }
    return NULL;
}

static void queue_log_file_change(struct reopened_log *t, uint64_t at, const void *data,
                                  size_t size)
{
    tact_bytes_append_u64(&t->writer->patches, at);
    tact_bytes_append_u64(&t->writer->patches, size);
    tact_bytes_append(&t->writer->patches, data, size);
}

/* Checks that up to `end` only message indexes or damage follow. */
static int check_message_index_range(struct reopened_log *t, uint64_t end)
{
    const struct tact_mcap_byte_range *damaged_range = NULL;
    struct tact_mcap_record record;

    for (uint64_t at = t->file.offset; at < end;
         at = damaged_range ? damaged_range->end : t->file.offset) {
        damaged_range = find_damage_at_offset(t, at);
        if (damaged_range) {
            continue;
        }
        t->file.offset = at;
        int rc = tact_mcap_reader_next(&t->file, &record);
        if (rc != 0) {
            return rc;
        }
        if (record.opcode != TACT_MCAP_MESSAGE_INDEX) {
            return -EBADMSG;
        }
    }
    return damaged_range || t->file.offset == end ? 0 : -EBADMSG;
}

/* The index after a chunk follows from its messages. Damaged indexes are rewritten, and those
 * missing at the end of the file are left in `output`. */
static int rebuild_state_from_message_indexes(struct reopened_log *t)
{
    struct tact_bytes *out = &t->writer->output;
    struct tact_bytes found = {0};
    uint64_t at = t->file.offset;
    uint64_t remaining_bytes = t->from->end - at;
    size_t size = remaining_bytes < out->size ? (size_t)remaining_bytes : out->size;
    uint32_t crc = tact_crc32(t->file.crc, out->data, size);

    uint8_t *bytes = tact_bytes_reserve(&found, size);
    int rc = bytes ? tact_mcap_read_at(t->from->fd, at, bytes, size) : -ENOMEM;
    if (rc == 0 && memcmp(bytes, out->data, size) != 0) {
        rc = check_message_index_range(t, at + size);
        queue_log_file_change(t, at, out->data, size);
    }
    tact_bytes_free(&found);
    t->file.offset = at + size;
    t->file.crc = crc;
    memmove(out->data, out->data + size, out->size - size);
    out->size -= size;
    return rc;
}

static int rebuild_state_from_chunk(struct reopened_log *t, const struct tact_mcap_record *chunk)
{
    struct tact_mcap_writer *writer = t->writer;
    struct tact_byte_cursor in = {chunk->content.data, chunk->content.size, false};

    tact_byte_cursor_read_bytes(&in, 28); /* skips the chunk's times, size and checksum */
    bool is_zstd_compressed = tact_byte_cursor_read_text(&in).size > 0;
    uint64_t compressed_chunk_bytes = tact_byte_cursor_read_u64(&in);
    int rc = tact_mcap_parse_chunk(chunk->content, &writer->chunk);
    if (rc == 0) {
        rc = rebuild_state_from_all_records(
            t, (struct tact_byte_cursor){writer->chunk.data, writer->chunk.size, false});
    }
    if (rc != 0) {
        return rc;
    }
    tact_mcap_index_chunk(writer, chunk->at, t->file.offset - chunk->at, compressed_chunk_bytes,
                          is_zstd_compressed ? "zstd" : "");
    rc = error_of_byte_buffer(&writer->output);
    return rc ? rc : rebuild_state_from_message_indexes(t);
}

static int rebuild_state_from_attachment(struct tact_mcap_writer *writer,
                                         const struct tact_mcap_record *record)
{
    struct tact_byte_cursor in = {record->content.data, record->content.size, false};
    struct tact_mcap_attachment attachment;
    uint64_t time_ns = tact_byte_cursor_read_u64(&in);
    int rc = tact_mcap_parse_attachment(record->content, &attachment);

    if (rc != 0) {
        return rc;
    }
    char *name = tact_byte_span_copy_to_text(attachment.name),
         *type = tact_byte_span_copy_to_text(attachment.media_type);
    if (name && type) {
        tact_mcap_index_attachment(writer, record->at,
                                   TACT_MCAP_RECORD_HEADER + record->content.size, time_ns,
                                   attachment.data.size, name, type);
    } else {
        rc = -EBADMSG;
    }
    free(name);
    free(type);
    return rc;
}

static int rebuild_state_from_metadata(struct tact_mcap_writer *writer,
                                       const struct tact_mcap_record *record)
{
    struct tact_byte_cursor map;
    struct tact_byte_span name;

    int rc = tact_mcap_parse_metadata(record->content, &name, &map);
    char *text = rc == 0 ? tact_byte_span_copy_to_text(name) : NULL;
    if (!text) {
        return -EBADMSG;
    }
    tact_mcap_index_metadata(writer, record->at, TACT_MCAP_RECORD_HEADER + record->content.size,
                             text);
    free(text);
    return 0;
}

static int add_file_range_crc(int fd, uint64_t at, uint64_t end, uint32_t *crc)
{
    uint8_t block[COPY_BLOCK_BYTES];

    for (size_t size; at < end; at += size) {
        size = end - at < sizeof block ? (size_t)(end - at) : sizeof block;
        int rc = tact_mcap_read_at(fd, at, block, size);
        if (rc != 0) {
            return rc;
        }
        *crc = tact_crc32(*crc, block, size);
    }
    return 0;
}

/* Turns the rest of a damaged range, from file.offset on, into a record that covers it. */
static int rebuild_state_from_damage_cover(struct reopened_log *t, uint64_t end)
{
    struct tact_mcap_reader *file = &t->file;
    uint8_t head[TACT_MCAP_MIN_DAMAGE_COVER_BYTES] = {TACT_MCAP_DAMAGE_COVER};
    uint64_t at = file->offset, length = end - at - TACT_MCAP_RECORD_HEADER;
    uint32_t crc = 0;

    if (end - at < sizeof head) {
        return -EBADMSG;
    }
    int rc = add_file_range_crc(file->fd, at + sizeof head, end, &crc);
    memcpy(head + 1, &length, sizeof length);
    memcpy(head + TACT_MCAP_RECORD_HEADER, &crc, sizeof crc);
    queue_log_file_change(t, at, head, sizeof head);
    file->crc = tact_crc32(file->crc, head, sizeof head);
    if (rc == 0) {
        rc = add_file_range_crc(file->fd, at + sizeof head, end, &file->crc);
    }
    file->offset = end;
    t->writer->damage_cover_bytes += end - at;
    t->damaged = true;
    return rc;
}

/* Restores the file's header, which is rewritten if it differs from the expected one. */
static int rebuild_state_from_header(struct reopened_log *t)
{
    struct tact_byte_span header = t->from->header;
    uint64_t at = t->file.offset;

    t->file.offset += header.size;
    t->file.crc = tact_crc32(t->file.crc, header.data, header.size);
    queue_log_file_change(t, at, header.data, header.size);
    return t->file.offset <= t->from->end ? 0 : -EBADMSG;
}

static int rebuild_state_from_record(struct reopened_log *t, const struct tact_mcap_record *record)
{
    switch (record->opcode) {
    case TACT_MCAP_HEADER:
        return 0;
    case TACT_MCAP_SCHEMA:
    case TACT_MCAP_CHANNEL:
        return rebuild_state_from_definition(t->writer, record->opcode, record->content);
    case TACT_MCAP_CHUNK:
        return rebuild_state_from_chunk(t, record);
    case TACT_MCAP_ATTACHMENT:
        return rebuild_state_from_attachment(t->writer, record);
    case TACT_MCAP_METADATA:
        return rebuild_state_from_metadata(t->writer, record);
    case TACT_MCAP_DAMAGE_COVER:
        t->writer->damage_cover_bytes += TACT_MCAP_RECORD_HEADER + record->content.size;
        t->damaged = true;
        return 0;
    default:
        return -EBADMSG;
    }
}

static int rebuild_writer_state(struct reopened_log *t)
{
    struct tact_mcap_record record;
    int rc = t->from->header.size > 0 ? rebuild_state_from_header(t) : 0;

    queue_log_file_change(t, 0, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE);
    while (rc == 0 && t->file.offset < t->from->end) {
        const struct tact_mcap_byte_range *damaged_range_at_offset =
            find_damage_at_offset(t, t->file.offset);
        rc = damaged_range_at_offset
                 ? rebuild_state_from_damage_cover(t, damaged_range_at_offset->end)
                 : tact_mcap_reader_next(&t->file, &record);
        if (rc == 0 && !damaged_range_at_offset) {
            rc = rebuild_state_from_record(t, &record);
        }
    }
    return rc == 0 && t->file.offset != t->from->end ? -EBADMSG : rc;
}

int tact_mcap_writer_reopen(const struct tact_mcap_unfinished_file *from,
                            struct tact_mcap_writer **out)
{
    struct reopened_log t = {.from = from};
    int rc = tact_mcap_writer_alloc(from->fd, from->zstd_level, &t.writer);

    if (rc != 0) {
        return rc;
    }
    struct tact_mcap_writer *writer = t.writer;
    tact_mcap_reader_start(&t.file, from->fd, from->end);
    rc = rebuild_writer_state(&t);
    writer->offset = t.file.offset;
    writer->crc = t.file.crc;
    tact_bytes_free(&t.file.buffer);
    /* A file that was closed without a message has its definitions outside any chunk. */
    if (rc == 0 && writer->groups[TACT_MCAP_GROUP_CHANNEL_INFOS].count == 0) {
        struct tact_byte_span schema_and_channel_records = from->schema_and_channel_records;
        tact_bytes_append(&writer->chunk, schema_and_channel_records.data,
                          schema_and_channel_records.size);
        rc = rebuild_state_from_all_records(
            &t, (struct tact_byte_cursor){schema_and_channel_records.data,
                                          schema_and_channel_records.size, false});
    }
    if (rc == 0) {
        rc = error_of_byte_buffer(&writer->chunk);
    }
    if (rc == 0) {
        rc = error_of_byte_buffer(&writer->patches);
    }
    if (rc != 0) {
        tact_mcap_writer_abandon(writer);
        return rc;
    }
    *out = writer;
    return 0;
}

static int write_queued_log_file_changes(struct tact_mcap_writer *writer)
{
    struct tact_byte_cursor in = {writer->patches.data, writer->patches.size, false};

    while (in.left > 0) {
        uint64_t at = tact_byte_cursor_read_u64(&in);
        struct tact_byte_span bytes =
            tact_byte_cursor_read_bytes(&in, tact_byte_cursor_read_u64(&in));
        ssize_t n = pwrite(writer->fd, bytes.data, bytes.size, (off_t)at);
        if (n != (ssize_t)bytes.size) {
            return n < 0 ? -errno : -EIO;
        }
    }
    return 0;
}

int tact_mcap_writer_repair_file(struct tact_mcap_writer *writer)
{
    if (ftruncate(writer->fd, (off_t)writer->offset) != 0 ||
        lseek(writer->fd, (off_t)writer->offset, SEEK_SET) < 0) {
        return -errno;
    }
    int rc = write_queued_log_file_changes(writer);
    return rc ? rc : tact_mcap_write_output(writer);
}

uint64_t tact_mcap_writer_damage_cover_bytes(const struct tact_mcap_writer *writer)
{
    return writer->damage_cover_bytes;
}

void tact_mcap_writer_skip_sequence(struct tact_mcap_writer *writer, int channel, uint32_t count)
{
    writer->channels[channel].next += count;
}

int tact_mcap_writer_channel_count(const struct tact_mcap_writer *writer)
{
    return writer->channel_count;
}
