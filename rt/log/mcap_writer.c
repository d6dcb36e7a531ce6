#include "mcap_writer_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "mcap_internal.h"
#include "mcap_writer_state_internal.h"

static int set_writer_error(struct tact_mcap_writer *writer, int error)
{
    if (writer->error == 0) {
        writer->error = error;
    }
    return writer->error;
}

static int write_all_bytes(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? -errno : -EIO;
        }
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

int tact_mcap_write_output(struct tact_mcap_writer *writer)
{
    struct tact_bytes *out = &writer->output;

    if (out->failed) {
        set_writer_error(writer, -ENOMEM);
    }
    if (writer->error != 0) {
        return writer->error;
    }
    int rc = write_all_bytes(writer->fd, out->data, out->size);
    if (rc != 0) {
        /* Half a record is useless, and truncating frees space on a full disk. The file is readable
         * either way, so a failure here is ignored. */
        if (ftruncate(writer->fd, (off_t)writer->offset) == 0) {
            (void)lseek(writer->fd, (off_t)writer->offset, SEEK_SET);
        }
        return set_writer_error(writer, rc);
    }
    writer->crc = tact_crc32(writer->crc, out->data, out->size);
    writer->offset += out->size;
    out->size = 0;
    return 0;
}

size_t tact_mcap_begin_record(struct tact_bytes *out, uint8_t opcode)
{
    tact_bytes_append_u8(out, opcode);
    tact_bytes_append_u64(out, 0);
    return out->size;
}

void tact_mcap_end_record(struct tact_bytes *out, size_t start)
{
    tact_bytes_overwrite_u64(out, start - 8, out->size - start);
}

int tact_mcap_writer_alloc(int fd, int zstd_level, struct tact_mcap_writer **out)
{
    static const uint8_t summary_group_opcodes[TACT_MCAP_GROUPS] = {
        TACT_MCAP_SCHEMA, TACT_MCAP_CHANNEL, TACT_MCAP_CHUNK_INDEX, TACT_MCAP_ATTACHMENT_INDEX,
        TACT_MCAP_METADATA_INDEX};
    struct tact_mcap_writer *writer = calloc(1, sizeof *writer);

    if (!writer || (zstd_level > 0 && !(writer->zstd = ZSTD_createCCtx()))) {
        free(writer);
        close(fd);
        return -ENOMEM;
    }
    writer->fd = fd;
    writer->zstd_level = zstd_level;
    for (int g = 0; g < TACT_MCAP_GROUPS; g++) {
        writer->groups[g].opcode = summary_group_opcodes[g];
    }
    *out = writer;
    return 0;
}

void tact_mcap_put_header(struct tact_bytes *out, const char *profile, const char *library)
{
    size_t record = tact_mcap_begin_record(out, TACT_MCAP_HEADER);

    tact_bytes_append_text(out, profile);
    tact_bytes_append_text(out, library);
    tact_mcap_end_record(out, record);
}

int tact_mcap_writer_open(int fd, const char *profile, const char *library, int zstd_level,
                          struct tact_mcap_writer **out)
{
    struct tact_mcap_writer *writer;
    int rc = tact_mcap_writer_alloc(fd, zstd_level, &writer);

    if (rc != 0) {
        return rc;
    }
    tact_bytes_append(&writer->output, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE);
    tact_mcap_put_header(&writer->output, profile, library);
    rc = tact_mcap_write_output(writer);
    if (rc != 0) {
        tact_mcap_writer_close(writer, NULL);
        return rc;
    }
    *out = writer;
    return 0;
}

/* Schemas and channels are in the first chunk, under its checksum, and again in the summary. */
static void put_record_in_chunk_and_summary(struct tact_mcap_writer *writer,
                                            struct tact_mcap_summary_group *group, size_t before)
{
    struct tact_bytes *records = &group->records;

    if (!records->failed) {
        tact_bytes_append(&writer->chunk, records->data + before, records->size - before);
    }
    group->count++;
}

int tact_mcap_writer_add_schema(struct tact_mcap_writer *writer, const char *name, const void *text,
                                size_t size)
{
    struct tact_mcap_summary_group *group = &writer->groups[TACT_MCAP_GROUP_SCHEMAS];
    struct tact_bytes *out = &group->records;
    size_t before = out->size;

    if (size > UINT32_MAX || group->count >= UINT16_MAX) {
        return -EINVAL;
    }
    size_t record = tact_mcap_begin_record(out, TACT_MCAP_SCHEMA);
    tact_bytes_append_u16(out, (uint16_t)(group->count + 1));
    tact_bytes_append_text(out, name);
    tact_bytes_append_text(out, "ros2msg");
    tact_bytes_append_u32(out, (uint32_t)size);
    tact_bytes_append(out, text, size);
    tact_mcap_end_record(out, record);
    put_record_in_chunk_and_summary(writer, group, before);
    return out->failed ? set_writer_error(writer, -ENOMEM) : (int)group->count;
}

int tact_mcap_writer_add_channel(struct tact_mcap_writer *writer, int schema, const char *topic)
{
    struct tact_mcap_summary_group *group = &writer->groups[TACT_MCAP_GROUP_CHANNEL_INFOS];
    struct tact_bytes *out = &group->records;
    size_t before = out->size;

    if (schema < 1 || writer->channel_count == TACT_MCAP_MAX_CHANNELS) {
        return -EINVAL;
    }
    size_t record = tact_mcap_begin_record(out, TACT_MCAP_CHANNEL);
    tact_bytes_append_u16(out, (uint16_t)writer->channel_count);
    tact_bytes_append_u16(out, (uint16_t)schema);
    tact_bytes_append_text(out, topic);
    tact_bytes_append_text(out, "cdr");
    /* rosbag2 requires this metadata of every channel; an empty value means the defaults */
    size_t map = out->size;
    tact_bytes_append_u32(out, 0);
    tact_bytes_append_text(out, "offered_qos_profiles");
    tact_bytes_append_text(out, "");
    tact_bytes_overwrite_u32(out, map, (uint32_t)(out->size - map - 4));
    tact_mcap_end_record(out, record);
    put_record_in_chunk_and_summary(writer, group, before);
    return out->failed ? set_writer_error(writer, -ENOMEM) : writer->channel_count++;
}

void tact_mcap_index_attachment(struct tact_mcap_writer *writer, uint64_t at, uint64_t length,
                                uint64_t time_ns, uint64_t size, const char *name,
                                const char *media_type)
{
    struct tact_mcap_summary_group *group = &writer->groups[TACT_MCAP_GROUP_ATTACHMENTS];
    size_t record = tact_mcap_begin_record(&group->records, TACT_MCAP_ATTACHMENT_INDEX);

    tact_bytes_append_u64(&group->records, at);
    tact_bytes_append_u64(&group->records, length);
    tact_bytes_append_u64(&group->records, time_ns);
    tact_bytes_append_u64(&group->records, time_ns);
    tact_bytes_append_u64(&group->records, size);
    tact_bytes_append_text(&group->records, name);
    tact_bytes_append_text(&group->records, media_type);
    tact_mcap_end_record(&group->records, record);
    group->count++;
}

void tact_mcap_index_metadata(struct tact_mcap_writer *writer, uint64_t at, uint64_t length,
                              const char *name)
{
    struct tact_mcap_summary_group *group = &writer->groups[TACT_MCAP_GROUP_METADATA];
    size_t record = tact_mcap_begin_record(&group->records, TACT_MCAP_METADATA_INDEX);

    tact_bytes_append_u64(&group->records, at);
    tact_bytes_append_u64(&group->records, length);
    tact_bytes_append_text(&group->records, name);
    tact_mcap_end_record(&group->records, record);
    group->count++;
}

int tact_mcap_writer_add_attachment(struct tact_mcap_writer *writer, uint64_t time_ns,
                                    const char *name, const char *media_type, const void *data,
                                    size_t size)
{
    struct tact_bytes *out = &writer->output;
    uint64_t at = writer->offset;
    size_t record = tact_mcap_begin_record(out, TACT_MCAP_ATTACHMENT);

    tact_bytes_append_u64(out, time_ns);
    tact_bytes_append_u64(out, time_ns);
    tact_bytes_append_text(out, name);
    tact_bytes_append_text(out, media_type);
    tact_bytes_append_u64(out, size);
    tact_bytes_append(out, data, size);
    if (!out->failed) {
        tact_bytes_append_u32(out, tact_crc32(0, out->data + record, out->size - record));
    }
    tact_mcap_end_record(out, record);
    uint64_t length = out->size;
    if (tact_mcap_write_output(writer) != 0) {
        return writer->error;
    }

    tact_mcap_index_attachment(writer, at, length, time_ns, size, name, media_type);
    return 0;
}

int tact_mcap_writer_add_metadata(struct tact_mcap_writer *writer, const char *name,
                                  const struct tact_bytes *map)
{
    struct tact_bytes *out = &writer->output;
    uint64_t at = writer->offset;

    if (map->failed || map->size > UINT32_MAX) {
        return set_writer_error(writer, map->failed ? -ENOMEM : -EINVAL);
    }
    size_t record = tact_mcap_begin_record(out, TACT_MCAP_METADATA);
    tact_bytes_append_text(out, name);
    tact_bytes_append_u32(out, (uint32_t)map->size);
    tact_bytes_append(out, map->data, map->size);
    tact_mcap_end_record(out, record);
    uint64_t length = out->size;
    if (tact_mcap_write_output(writer) != 0) {
        return writer->error;
    }

    tact_mcap_index_metadata(writer, at, length, name);
    return 0;
}

void tact_mcap_index_message(struct tact_mcap_writer *writer, int channel, uint64_t time_ns,
                             uint64_t offset)
{
    struct tact_mcap_channel_state *of = &writer->channels[channel];

    tact_bytes_append_u64(&of->index, time_ns);
    tact_bytes_append_u64(&of->index, offset);
    if (writer->chunk_message_count == 0 || time_ns < writer->chunk_first_log_time) {
        writer->chunk_first_log_time = time_ns;
    }
    if (writer->chunk_message_count == 0 || time_ns > writer->chunk_last_log_time) {
        writer->chunk_last_log_time = time_ns;
    }
    writer->chunk_message_count++;
    of->messages++;
}

struct tact_bytes *tact_mcap_writer_begin_message(struct tact_mcap_writer *writer, int channel,
                                                  uint64_t time_ns)
{
    struct tact_mcap_channel_state *of = &writer->channels[channel];
    struct tact_bytes *out = &writer->chunk;

    tact_mcap_index_message(writer, channel, time_ns, out->size);
    writer->open_message_offset = tact_mcap_begin_record(out, TACT_MCAP_MESSAGE);
    tact_bytes_append_u16(out, (uint16_t)channel);
    tact_bytes_append_u32(out, of->next++);
    tact_bytes_append_u64(out, time_ns);
    tact_bytes_append_u64(out, time_ns);
    return out;
}

void tact_mcap_writer_end_message(struct tact_mcap_writer *writer)
{
    tact_mcap_end_record(&writer->chunk, writer->open_message_offset);
}

uint64_t tact_mcap_writer_file_offset(const struct tact_mcap_writer *writer)
{
    return writer->offset;
}

uint32_t tact_mcap_writer_crc(const struct tact_mcap_writer *writer)
{
    return writer->crc;
}

struct tact_byte_span
tact_mcap_writer_schema_and_channel_records(const struct tact_mcap_writer *writer)
{
    return (struct tact_byte_span){writer->chunk.data, writer->chunk.size};
}

size_t tact_mcap_writer_open_chunk_bytes(const struct tact_mcap_writer *writer)
{
    return writer->chunk_message_count ? writer->chunk.size : 0;
}

/* Appends the chunk's record; -errno if out of memory or zstd fails. */
static int write_compressed_chunk(struct tact_mcap_writer *writer, uint64_t *compressed_chunk_size)
{
    struct tact_bytes *out = &writer->output;
    const struct tact_bytes *chunk = &writer->chunk;
    size_t record = tact_mcap_begin_record(out, TACT_MCAP_CHUNK);

    tact_bytes_append_u64(out, writer->chunk_first_log_time);
    tact_bytes_append_u64(out, writer->chunk_last_log_time);
    tact_bytes_append_u64(out, chunk->size);
    tact_bytes_append_u32(out, tact_crc32(0, chunk->data, chunk->size));
    tact_bytes_append_text(out, writer->zstd ? "zstd" : "");
    size_t chunk_length_offset = out->size;
    tact_bytes_append_u64(out, 0);
    if (writer->zstd) {
        size_t max_compressed_size = ZSTD_compressBound(chunk->size);
        uint8_t *to = tact_bytes_reserve(out, max_compressed_size);
        if (!to) {
            return -ENOMEM;
        }
        size_t size = ZSTD_compressCCtx(writer->zstd, to, max_compressed_size, chunk->data,
                                        chunk->size, writer->zstd_level);
        if (ZSTD_isError(size)) {
            return -EIO;
        }
        out->size += size;
    } else {
        tact_bytes_append(out, chunk->data, chunk->size);
    }
    *compressed_chunk_size = out->size - chunk_length_offset - 8;
    tact_bytes_overwrite_u64(out, chunk_length_offset, *compressed_chunk_size);
    tact_mcap_end_record(out, record);
    return out->failed ? -ENOMEM : 0;
}

void tact_mcap_index_chunk(struct tact_mcap_writer *writer, uint64_t at, uint64_t length,
                           uint64_t compressed_chunk_size, const char *compression)
{
    struct tact_bytes *out = &writer->output;
    struct tact_mcap_summary_group *group = &writer->groups[TACT_MCAP_GROUP_CHUNKS];
    struct tact_bytes *entry = &group->records;
    size_t before = out->size;

    size_t chunk_index_record = tact_mcap_begin_record(entry, TACT_MCAP_CHUNK_INDEX);
    tact_bytes_append_u64(entry, writer->chunk_first_log_time);
    tact_bytes_append_u64(entry, writer->chunk_last_log_time);
    tact_bytes_append_u64(entry, at);
    tact_bytes_append_u64(entry, length);
    size_t map = entry->size;
    tact_bytes_append_u32(entry, 0);
    for (int c = 0; c < writer->channel_count; c++) {
        struct tact_bytes *index = &writer->channels[c].index;
        if (index->size == 0) {
            continue;
        }
        tact_bytes_append_u16(entry, (uint16_t)c);
        tact_bytes_append_u64(entry, at + length + (out->size - before));
        size_t record = tact_mcap_begin_record(out, TACT_MCAP_MESSAGE_INDEX);
        tact_bytes_append_u16(out, (uint16_t)c);
        tact_bytes_append_u32(out, (uint32_t)index->size);
        tact_bytes_append(out, index->data, index->size);
        tact_mcap_end_record(out, record);
        index->size = 0;
    }
    tact_bytes_overwrite_u32(entry, map, (uint32_t)(entry->size - map - 4));
    tact_bytes_append_u64(entry, out->size - before);
    tact_bytes_append_text(entry, compression);
    tact_bytes_append_u64(entry, compressed_chunk_size);
    tact_bytes_append_u64(entry, writer->chunk.size);
    tact_mcap_end_record(entry, chunk_index_record);
    group->count++;
    if (writer->end == 0 || writer->chunk_first_log_time < writer->start) {
        writer->start = writer->chunk_first_log_time;
    }
    if (writer->chunk_last_log_time > writer->end) {
        writer->end = writer->chunk_last_log_time;
    }
    writer->chunk.size = 0;
    writer->chunk_message_count = 0;
}

/* The second chunk repeats the schemas and channels: without an index, a damaged first chunk then
 * costs only itself. */
static void repeat_schemas_and_channels(struct tact_mcap_writer *writer)
{
    for (int g = TACT_MCAP_GROUP_SCHEMAS; g <= TACT_MCAP_GROUP_CHANNEL_INFOS; g++) {
        tact_bytes_append(&writer->chunk, writer->groups[g].records.data,
                          writer->groups[g].records.size);
    }
}

int tact_mcap_writer_flush(struct tact_mcap_writer *writer)
{
    uint64_t compressed_chunk_size = 0;

    if (writer->chunk_message_count == 0 || writer->error != 0) {
        return writer->error;
    }
    bool failed = writer->chunk.failed;
    for (int c = 0; c < writer->channel_count; c++) {
        failed = failed || writer->channels[c].index.failed;
    }
    int rc = failed ? -ENOMEM
             : writer->chunk.size > TACT_MCAP_CHUNK_MAX_BYTES
                 ? -EMSGSIZE
                 : write_compressed_chunk(writer, &compressed_chunk_size);
    if (rc != 0) {
        return set_writer_error(writer, rc);
    }
    tact_mcap_index_chunk(writer, writer->offset, writer->output.size, compressed_chunk_size,
                          writer->zstd ? "zstd" : "");
    rc = tact_mcap_write_output(writer);
    if (rc == 0 && writer->groups[TACT_MCAP_GROUP_CHUNKS].count == 1) {
        repeat_schemas_and_channels(writer);
    }
    return rc;
}

int tact_mcap_writer_sync(struct tact_mcap_writer *writer)
{
    /* A pipe or a character device has nothing to sync. */
    if (writer->error == 0 && fdatasync(writer->fd) != 0 && errno != EINVAL && errno != EROFS) {
        set_writer_error(writer, -errno);
    }
    return writer->error;
}

static void put_statistics_record(struct tact_mcap_writer *writer, struct tact_bytes *out)
{
    uint64_t messages = 0;
    size_t record = tact_mcap_begin_record(out, TACT_MCAP_STATISTICS);

    for (int c = 0; c < writer->channel_count; c++) {
        messages += writer->channels[c].messages;
    }
    tact_bytes_append_u64(out, messages);
    tact_bytes_append_u16(out, (uint16_t)writer->groups[TACT_MCAP_GROUP_SCHEMAS].count);
    tact_bytes_append_u32(out, (uint32_t)writer->channel_count);
    tact_bytes_append_u32(out, writer->groups[TACT_MCAP_GROUP_ATTACHMENTS].count);
    tact_bytes_append_u32(out, writer->groups[TACT_MCAP_GROUP_METADATA].count);
    tact_bytes_append_u32(out, writer->groups[TACT_MCAP_GROUP_CHUNKS].count);
    tact_bytes_append_u64(out, writer->start);
    tact_bytes_append_u64(out, writer->end);
    tact_bytes_append_u32(out, (uint32_t)writer->channel_count * 10);
    for (int c = 0; c < writer->channel_count; c++) {
        tact_bytes_append_u16(out, (uint16_t)c);
        tact_bytes_append_u64(out, writer->channels[c].messages);
    }
    tact_mcap_end_record(out, record);
}

static void put_summary_offset(struct tact_bytes *summary_offset_records, uint8_t opcode,
                               uint64_t start, uint64_t length)
{
    if (length == 0) {
        return;
    }
    size_t record = tact_mcap_begin_record(summary_offset_records, TACT_MCAP_SUMMARY_OFFSET);
    tact_bytes_append_u8(summary_offset_records, opcode);
    tact_bytes_append_u64(summary_offset_records, start);
    tact_bytes_append_u64(summary_offset_records, length);
    tact_mcap_end_record(summary_offset_records, record);
}

/* Writes the end of the data, summary, offsets of its groups, footer and magic in one write. */
static int write_summary(struct tact_mcap_writer *writer)
{
    struct tact_bytes *out = &writer->output, summary_offset_records = {0};
    uint64_t base = writer->offset;

    size_t record = tact_mcap_begin_record(out, TACT_MCAP_DATA_END);
    tact_bytes_append_u32(out, writer->crc);
    tact_mcap_end_record(out, record);
    size_t summary = out->size;
    for (int g = 0; g < TACT_MCAP_GROUPS; g++) {
        const struct tact_mcap_summary_group *group = &writer->groups[g];
        size_t start = out->size;
        if (group->records.failed) {
            return set_writer_error(writer, -ENOMEM);
        }
        tact_bytes_append(out, group->records.data, group->records.size);
        put_summary_offset(&summary_offset_records, group->opcode, base + start, out->size - start);
    }
    size_t statistics_record_offset = out->size;
    put_statistics_record(writer, out);
    put_summary_offset(&summary_offset_records, TACT_MCAP_STATISTICS,
                       base + statistics_record_offset, out->size - statistics_record_offset);
    size_t summary_offset_section_start = out->size;
    tact_bytes_append(out, summary_offset_records.data, summary_offset_records.size);
    out->failed = out->failed || summary_offset_records.failed;
    tact_bytes_free(&summary_offset_records);
    record = tact_mcap_begin_record(out, TACT_MCAP_FOOTER);
    tact_bytes_append_u64(out, base + summary);
    tact_bytes_append_u64(out, base + summary_offset_section_start);
    tact_bytes_overwrite_u64(out, record - 8, 20);
    if (!out->failed) {
        tact_bytes_append_u32(out, tact_crc32(0, out->data + summary, out->size - summary));
    }
    tact_bytes_append(out, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE);
    return tact_mcap_write_output(writer);
}

int tact_mcap_writer_error(const struct tact_mcap_writer *writer)
{
    return writer->error;
}

int tact_mcap_writer_close(struct tact_mcap_writer *writer, uint64_t *bytes)
{
    tact_mcap_writer_flush(writer);
    if (writer->error == 0 && writer->groups[TACT_MCAP_GROUP_CHUNKS].count == 0) {
        /* without a message, the schemas are in no chunk and are written directly */
        tact_bytes_append(&writer->output, writer->chunk.data, writer->chunk.size);
    }
    if (writer->error == 0 && tact_mcap_write_output(writer) == 0 && write_summary(writer) == 0) {
        tact_mcap_writer_sync(writer);
    }
    if (close(writer->fd) != 0) {
        set_writer_error(writer, -errno);
    }
    writer->fd = -1;
    if (bytes) {
        *bytes = writer->offset;
    }
    int error = writer->error;
    tact_mcap_writer_abandon(writer);
    return error;
}

void tact_mcap_writer_abandon(struct tact_mcap_writer *writer)
{
    if (writer->fd >= 0) {
        close(writer->fd);
    }
    ZSTD_freeCCtx(writer->zstd);
    tact_bytes_free(&writer->chunk);
    tact_bytes_free(&writer->output);
    tact_bytes_free(&writer->patches);
    for (int c = 0; c < TACT_MCAP_MAX_CHANNELS; c++) {
        tact_bytes_free(&writer->channels[c].index);
    }
    for (int g = 0; g < TACT_MCAP_GROUPS; g++) {
        tact_bytes_free(&writer->groups[g].records);
    }
    free(writer);
}
