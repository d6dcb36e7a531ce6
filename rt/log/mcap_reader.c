#include "mcap_reader_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "mcap_internal.h"

/* zstd's densest block: 128 KiB of one byte in 4 bytes. A frame that claims more is invalid. */
#define MAX_ZSTD_COMPRESSION_RATIO 32768
#define MAX_MCAP_HEADER_BYTES 1024 /* bytes */

int tact_mcap_read_at(int fd, uint64_t at, uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t n = pread(fd, data, size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? -errno : -EBADMSG;
        }
        data += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

void tact_mcap_reader_start(struct tact_mcap_reader *reader, int fd, uint64_t end)
{
    *reader = (struct tact_mcap_reader){
        .fd = fd,
        .size = end,
        .offset = TACT_MCAP_MAGIC_SIZE,
        .crc = tact_crc32(0, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE),
    };
}

/* Whether damaged magic bytes still identify an MCAP file. */
static bool is_damaged_mcap_magic(int fd, const uint8_t *magic)
{
    uint8_t header[TACT_MCAP_RECORD_HEADER + MAX_MCAP_HEADER_BYTES];
    int matching_magic_byte_count = 0;
    uint64_t length;

    for (int i = 0; i < TACT_MCAP_MAGIC_SIZE; i++) {
        matching_magic_byte_count += magic[i] == (uint8_t)TACT_MCAP_MAGIC[i];
    }
    if (2 * matching_magic_byte_count < TACT_MCAP_MAGIC_SIZE ||
        tact_mcap_read_at(fd, TACT_MCAP_MAGIC_SIZE, header, TACT_MCAP_RECORD_HEADER) != 0) {
        return false;
    }
    memcpy(&length, header + 1, sizeof length);
    if (header[0] != TACT_MCAP_HEADER || length > MAX_MCAP_HEADER_BYTES ||
        tact_mcap_read_at(fd, TACT_MCAP_MAGIC_SIZE + TACT_MCAP_RECORD_HEADER,
                          header + TACT_MCAP_RECORD_HEADER, length) != 0) {
        return false;
    }
    struct tact_byte_span content = {header + TACT_MCAP_RECORD_HEADER, length};
    return tact_mcap_parse_header(content) == 0;
}

/* -ENODATA if the file ends within the magic bytes: its writer was killed at the start. */
static int check_mcap_magic(int fd, off_t size, bool *has_damaged_magic)
{
    uint8_t magic[TACT_MCAP_MAGIC_SIZE];
    size_t length = size < (off_t)sizeof magic ? (size_t)size : sizeof magic;

    int rc = tact_mcap_read_at(fd, 0, magic, length);
    bool is_mcap_magic_intact = rc == 0 && memcmp(magic, TACT_MCAP_MAGIC, length) == 0;
    *has_damaged_magic = rc == 0 && !is_mcap_magic_intact && length == sizeof magic &&
                         is_damaged_mcap_magic(fd, magic);
    if (rc == 0 && !is_mcap_magic_intact && !*has_damaged_magic) {
        return -EBADMSG;
    }
    return rc == 0 && length < sizeof magic ? -ENODATA : rc;
}

int tact_mcap_reader_open(struct tact_mcap_reader *reader, const char *path)
{
    struct stat status;
    bool has_damaged_magic = false;
    int rc;

    *reader = (struct tact_mcap_reader){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (reader->fd < 0) {
        return -errno;
    }
    if (fstat(reader->fd, &status) != 0) {
        rc = -errno;
    } else if (S_ISDIR(status.st_mode)) {
        rc = -EISDIR;
    } else if (!S_ISREG(status.st_mode)) {
        rc = -EBADMSG;
    } else {
        rc = check_mcap_magic(reader->fd, status.st_size, &has_damaged_magic);
    }
    if (rc != 0) {
        close(reader->fd);
        reader->fd = -1;
        return rc;
    }
    /* Prevents a recorder from truncating the file meanwhile; a recorder that writes it has the
     * lock. */
    bool has_shared_file_lock = flock(reader->fd, LOCK_SH | LOCK_NB) == 0;
    int why = errno;
    tact_mcap_reader_start(reader, reader->fd, (uint64_t)status.st_size);
    reader->is_magic_damaged = has_damaged_magic;
    reader->has_shared_file_lock = has_shared_file_lock;
    reader->is_being_recorded = !has_shared_file_lock && why == EWOULDBLOCK;
    reader->status = status;
    return 0;
}

void tact_mcap_reader_close(struct tact_mcap_reader *reader)
{
    if (reader->fd >= 0) {
        close(reader->fd);
    }
    reader->fd = -1;
    tact_bytes_free(&reader->buffer);
}

int tact_mcap_reader_next(struct tact_mcap_reader *reader, struct tact_mcap_record *record)
{
    uint64_t remaining_file_byte_count = reader->size - reader->offset, length;
    uint8_t head[TACT_MCAP_RECORD_HEADER];

    if (remaining_file_byte_count == 0) {
        return -ENODATA;
    }
    if (remaining_file_byte_count < sizeof head) {
        return -EBADMSG;
    }
    int rc = tact_mcap_read_at(reader->fd, reader->offset, head, sizeof head);
    if (rc != 0) {
        return rc;
    }
    memcpy(&length, head + 1, sizeof length);
    if (length > remaining_file_byte_count - sizeof head ||
        (head[0] != TACT_MCAP_ATTACHMENT && head[0] != TACT_MCAP_DAMAGE_COVER &&
         length > 2 * TACT_MCAP_CHUNK_MAX_BYTES)) {
        return -EBADMSG;
    }
    reader->buffer.size = 0;
    uint8_t *content = tact_bytes_reserve(&reader->buffer, (size_t)length);
    if (!content) {
        return -ENOMEM;
    }
    rc = tact_mcap_read_at(reader->fd, reader->offset + sizeof head, content, (size_t)length);
    if (rc != 0) {
        return rc;
    }
    record->opcode = head[0];
    record->at = reader->offset;
    record->content = (struct tact_byte_span){content, (size_t)length};
    reader->offset += sizeof head + length;
    reader->crc_up_to_last_record = reader->crc;
    reader->crc = tact_crc32(reader->crc, head, sizeof head);
    reader->crc = tact_crc32(reader->crc, content, (size_t)length);
    return 0;
}

int tact_mcap_reader_is_at_end(const struct tact_mcap_reader *reader)
{
    uint8_t magic[TACT_MCAP_MAGIC_SIZE];

    if (reader->size - reader->offset != sizeof magic) {
        return -EBADMSG;
    }
    int rc = tact_mcap_read_at(reader->fd, reader->offset, magic, sizeof magic);
    if (rc == 0 && memcmp(magic, TACT_MCAP_MAGIC, sizeof magic) != 0) {
        rc = -EBADMSG;
    }
    return rc;
}

int tact_mcap_chunk_next_record(struct tact_byte_cursor *chunk, struct tact_mcap_record *record)
{
    if (chunk->left == 0) {
        return -ENODATA;
    }
    record->opcode = tact_byte_cursor_read_u8(chunk);
    record->at = 0;
    record->content = tact_byte_cursor_read_bytes(chunk, tact_byte_cursor_read_u64(chunk));
    return chunk->bad ? -EBADMSG : 0;
}

/* Whether a parser consumed its record exactly. */
static int check_record_read_completely(const struct tact_byte_cursor *in)
{
    return in->bad || in->left > 0 ? -EBADMSG : 0;
}

int tact_mcap_parse_header(struct tact_byte_span content)
{
    struct tact_byte_cursor in = {content.data, content.size, false};

    tact_byte_cursor_read_text(&in); /* profile */
    tact_byte_cursor_read_text(&in); /* library */
    return check_record_read_completely(&in);
}

int tact_mcap_check_damage_cover(struct tact_byte_span content)
{
    struct tact_byte_cursor in = {content.data, content.size, false};
    uint32_t crc = tact_byte_cursor_read_u32(&in);

    return in.bad || tact_crc32(0, in.at, in.left) != crc ? -EBADMSG : 0;
}

static int decompress_chunk(struct tact_byte_span chunk_bytes_in_file, bool is_zstd_compressed,
                            uint64_t size, struct tact_bytes *out)
{
    out->size = 0;
    if (size > TACT_MCAP_CHUNK_MAX_BYTES ||
        (!is_zstd_compressed && size != chunk_bytes_in_file.size)) {
        return -EBADMSG;
    }
    if (is_zstd_compressed &&
        (size / MAX_ZSTD_COMPRESSION_RATIO > chunk_bytes_in_file.size ||
         ZSTD_getFrameContentSize(chunk_bytes_in_file.data, chunk_bytes_in_file.size) != size)) {
        return -EBADMSG;
    }
    uint8_t *to = tact_bytes_reserve(out, (size_t)size);
    if (!to) {
        return -ENOMEM;
    }
    if (!is_zstd_compressed) {
        memcpy(to, chunk_bytes_in_file.data, chunk_bytes_in_file.size);
    } else if (ZSTD_decompress(to, (size_t)size, chunk_bytes_in_file.data,
                               chunk_bytes_in_file.size) != size) {
        return -EBADMSG;
    }
    out->size = (size_t)size;
    return 0;
}

int tact_mcap_parse_chunk(struct tact_byte_span content, struct tact_bytes *out)
{
    struct tact_byte_cursor in = {content.data, content.size, false};

    tact_byte_cursor_read_bytes(&in,
                                16); /* times of the first and of the last message of the chunk */
    uint64_t size = tact_byte_cursor_read_u64(&in);
    uint32_t crc = tact_byte_cursor_read_u32(&in);
    struct tact_byte_span compression = tact_byte_cursor_read_text(&in);
    struct tact_byte_span compressed_chunk_data =
        tact_byte_cursor_read_bytes(&in, tact_byte_cursor_read_u64(&in));
    bool is_zstd_compressed = tact_byte_span_equals_text(compression, "zstd");
    int rc = check_record_read_completely(&in);
    if (rc == 0 && !is_zstd_compressed && compression.size > 0) {
        rc = -EBADMSG;
    }
    if (rc == 0) {
        rc = decompress_chunk(compressed_chunk_data, is_zstd_compressed, size, out);
    }
    if (rc == 0 && tact_crc32(0, out->data, out->size) != crc) {
        rc = -EBADMSG;
    }
    return rc;
}

int tact_mcap_parse_schema(struct tact_byte_span content, struct tact_mcap_schema *out)
{
    struct tact_byte_cursor in = {content.data, content.size, false};

    out->id = tact_byte_cursor_read_u16(&in);
    out->name = tact_byte_cursor_read_text(&in);
    out->encoding = tact_byte_cursor_read_text(&in);
    out->data = tact_byte_cursor_read_text(&in);
    return check_record_read_completely(&in);
}

int tact_mcap_parse_channel(struct tact_byte_span content, struct tact_mcap_channel *out)
{
    struct tact_byte_cursor in = {content.data, content.size, false};

    out->id = tact_byte_cursor_read_u16(&in);
    out->schema = tact_byte_cursor_read_u16(&in);
    out->topic = tact_byte_cursor_read_text(&in);
    out->encoding = tact_byte_cursor_read_text(&in);
    tact_byte_cursor_read_text(&in); /* metadata */
    return check_record_read_completely(&in);
}

int tact_mcap_parse_message(struct tact_byte_span content, struct tact_mcap_message *out)
{
    struct tact_byte_cursor in = {content.data, content.size, false};

    out->channel = tact_byte_cursor_read_u16(&in);
    out->sequence = tact_byte_cursor_read_u32(&in);
    out->log_time = tact_byte_cursor_read_u64(&in);
    tact_byte_cursor_read_u64(&in); /* publish time */
    out->data = tact_byte_cursor_read_bytes(&in, in.left);
    return check_record_read_completely(&in);
}

int tact_mcap_parse_attachment(struct tact_byte_span content, struct tact_mcap_attachment *out)
{
    struct tact_byte_cursor in = {content.data, content.size, false};

    tact_byte_cursor_read_bytes(&in, 16); /* log time and creation time of the attachment */
    out->name = tact_byte_cursor_read_text(&in);
    out->media_type = tact_byte_cursor_read_text(&in);
    out->data = tact_byte_cursor_read_bytes(&in, tact_byte_cursor_read_u64(&in));
    uint32_t crc = tact_byte_cursor_read_u32(&in);
    if (check_record_read_completely(&in) != 0 ||
        tact_crc32(0, content.data, content.size - 4) != crc) {
        return -EBADMSG;
    }
    return 0;
}

int tact_mcap_parse_metadata(struct tact_byte_span content, struct tact_byte_span *name,
                             struct tact_byte_cursor *map)
{
    struct tact_byte_cursor in = {content.data, content.size, false};

    *name = tact_byte_cursor_read_text(&in);
    struct tact_byte_span pairs = tact_byte_cursor_read_text(&in);
    *map = (struct tact_byte_cursor){pairs.data, pairs.size, false};
    return check_record_read_completely(&in);
}
