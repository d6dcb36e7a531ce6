/* Going on with the file of a writer that was killed: its summary is made again from its records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcap_reader_internal.h"
#include "mcap_writer_state_internal.h"

static int failed(const struct tact_bytes *bytes)
{
    return bytes->failed ? -ENOMEM : 0;
}

/* A schema or a channel, as its record stands in the file. The ids are those that this writer would
 * have given: counted from one, and from zero. */
static int take_definition(struct tact_mcap_writer *writer, uint8_t opcode,
                           struct tact_span content)
{
    struct tact_mcap_schema schema;
    struct tact_mcap_channel channel;
    struct tact_mcap_group *group =
        &writer->groups[opcode == TACT_MCAP_SCHEMA ? TACT_MCAP_GROUP_SCHEMAS
                                                   : TACT_MCAP_GROUP_CHANNEL_INFOS];

    if (opcode == TACT_MCAP_SCHEMA) {
        if (tact_mcap_parse_schema(content, &schema) != 0 || schema.id == 0 ||
            schema.id > group->count + 1)
            return -EBADMSG;
        if (schema.id <= group->count)
            return 0; /* once more */
    } else {
        if (tact_mcap_parse_channel(content, &channel) != 0 || channel.id > group->count ||
            (channel.id == group->count && writer->channel_count == TACT_MCAP_CHANNELS))
            return -EBADMSG;
        if (channel.id < group->count)
            return 0;
        writer->channel_count++;
    }
    size_t record = tact_mcap_begin_record(&group->records, opcode);
    tact_put(&group->records, content.data, content.size);
    tact_mcap_end_record(&group->records, record);
    group->count++;
    return failed(&group->records);
}

static int take_message(struct tact_mcap_writer *writer, struct tact_span content, uint64_t offset)
{
    struct tact_mcap_message message;

    if (tact_mcap_parse_message(content, &message) != 0 ||
        message.channel >= writer->channel_count ||
        message.sequence != (uint32_t)writer->channels[message.channel].messages)
        return -EBADMSG;
    tact_mcap_index_message(writer, message.channel, message.log_time, offset);
    return failed(&writer->channels[message.channel].index);
}

static int take_records(struct tact_mcap_writer *writer, struct tact_cursor in)
{
    const uint8_t *start = in.at;
    struct tact_mcap_record record;
    int rc = 0;

    while (rc == 0 && in.left > 0) {
        uint64_t offset = (uint64_t)(in.at - start);
        rc = tact_mcap_chunk_next(&in, &record);
        if (rc == 0 && record.opcode == TACT_MCAP_MESSAGE)
            rc = take_message(writer, record.content, offset);
        else if (rc == 0 &&
                 (record.opcode == TACT_MCAP_SCHEMA || record.opcode == TACT_MCAP_CHANNEL))
            rc = take_definition(writer, record.opcode, record.content);
        else
            rc = rc ? rc : -EBADMSG;
    }
    return rc;
}

/* The index behind a chunk follows from its messages. All of it must stand there, or a part of it
 * at the end of the file, which is then left in `output` to be written. */
static int take_index(struct tact_mcap_writer *writer, struct tact_mcap_reader *file, uint64_t end)
{
    struct tact_bytes *out = &writer->output;
    struct tact_mcap_record record;
    size_t done = 0;

    while (done < out->size && file->offset < end) {
        int rc = tact_mcap_reader_next(file, &record);
        if (rc != 0)
            return rc;
        size_t size = TACT_MCAP_RECORD_HEAD + record.content.size;
        if (record.opcode != TACT_MCAP_MESSAGE_INDEX || size > out->size - done ||
            memcmp(out->data + done + TACT_MCAP_RECORD_HEAD, record.content.data,
                   record.content.size) != 0)
            return -EBADMSG;
        done += size;
    }
    memmove(out->data, out->data + done, out->size - done);
    out->size -= done;
    return 0;
}

static int take_chunk(struct tact_mcap_writer *writer, struct tact_mcap_reader *file,
                      const struct tact_mcap_record *chunk, uint64_t end)
{
    struct tact_cursor in = {chunk->content.data, chunk->content.size, false};

    tact_get(&in, 28); /* times, size and checksum */
    bool zstd = tact_get_text(&in).size > 0;
    uint64_t compressed = tact_get_u64(&in);
    int rc = tact_mcap_parse_chunk(chunk->content, &writer->chunk);
    if (rc == 0)
        rc = take_records(writer,
                          (struct tact_cursor){writer->chunk.data, writer->chunk.size, false});
    if (rc != 0)
        return rc;
    tact_mcap_index_chunk(writer, chunk->at, file->offset - chunk->at, compressed,
                          zstd ? "zstd" : "");
    rc = failed(&writer->output);
    return rc ? rc : take_index(writer, file, end);
}

static int take_attachment(struct tact_mcap_writer *writer, const struct tact_mcap_record *record)
{
    struct tact_cursor in = {record->content.data, record->content.size, false};
    struct tact_mcap_attachment attachment;
    uint64_t time_ns = tact_get_u64(&in);
    int rc = tact_mcap_parse_attachment(record->content, &attachment);

    if (rc != 0)
        return rc;
    char *name = tact_span_copy(attachment.name), *type = tact_span_copy(attachment.media_type);
    if (name && type)
        tact_mcap_index_attachment(writer, record->at, TACT_MCAP_RECORD_HEAD + record->content.size,
                                   time_ns, attachment.data.size, name, type);
    else
        rc = -EBADMSG;
    free(name);
    free(type);
    return rc;
}

static int take_metadata(struct tact_mcap_writer *writer, const struct tact_mcap_record *record)
{
    struct tact_cursor map;
    struct tact_span name;

    int rc = tact_mcap_parse_metadata(record->content, &name, &map);
    char *text = rc == 0 ? tact_span_copy(name) : NULL;
    if (!text)
        return -EBADMSG;
    tact_mcap_index_metadata(writer, record->at, TACT_MCAP_RECORD_HEAD + record->content.size,
                             text);
    free(text);
    return 0;
}

static int take_file(struct tact_mcap_writer *writer, struct tact_mcap_reader *file, uint64_t end)
{
    struct tact_mcap_record record;
    int rc = 0;

    while (rc == 0 && file->offset < end) {
        rc = tact_mcap_reader_next(file, &record);
        if (rc != 0)
            break;
        switch (record.opcode) {
        case TACT_MCAP_HEADER:
            break;
        case TACT_MCAP_SCHEMA:
        case TACT_MCAP_CHANNEL:
            rc = take_definition(writer, record.opcode, record.content);
            break;
        case TACT_MCAP_CHUNK:
            rc = take_chunk(writer, file, &record, end);
            break;
        case TACT_MCAP_ATTACHMENT:
            rc = take_attachment(writer, &record);
            break;
        case TACT_MCAP_METADATA:
            rc = take_metadata(writer, &record);
            break;
        default:
            rc = -EBADMSG;
        }
    }
    return rc == 0 && file->offset != end ? -EBADMSG : rc;
}

int tact_mcap_writer_take_over(const struct tact_mcap_takeover *from, struct tact_mcap_writer **out)
{
    struct tact_mcap_reader file;
    struct tact_mcap_writer *writer;

    int rc = tact_mcap_writer_make(from->fd, from->zstd_level, &writer);
    if (rc != 0)
        return rc;
    tact_mcap_reader_start(&file, from->fd, from->end);
    rc = take_file(writer, &file, from->end);
    writer->offset = file.offset;
    writer->crc = file.crc;
    tact_bytes_free(&file.buffer);
    /* A file that was closed without a message has its definitions outside of any chunk. */
    if (rc == 0 && writer->groups[TACT_MCAP_GROUP_CHANNEL_INFOS].count == 0) {
        struct tact_span definitions = from->definitions;
        tact_put(&writer->chunk, definitions.data, definitions.size);
        rc = take_records(writer, (struct tact_cursor){definitions.data, definitions.size, false});
    }
    if (rc == 0)
        rc = failed(&writer->chunk);
    if (rc != 0) {
        tact_mcap_writer_abandon(writer);
        return rc;
    }
    *out = writer;
    return 0;
}

int tact_mcap_writer_resume(struct tact_mcap_writer *writer)
{
    if (ftruncate(writer->fd, (off_t)writer->offset) != 0 ||
        lseek(writer->fd, (off_t)writer->offset, SEEK_SET) < 0)
        return -errno;
    return tact_mcap_write_output(writer);
}

int tact_mcap_writer_channels(const struct tact_mcap_writer *writer)
{
    return writer->channel_count;
}
