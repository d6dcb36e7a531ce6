#include "log_part.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "rt/log/bytes_internal.h"
#include "rt/log/encode_internal.h"
#include "rt/log/mcap_internal.h"

#define MAX_RECORD_BYTES                                                                           \
    (UINT64_C(1) << 20) /* maximum size of a header record, and of the facts                       \
                         */
#define MAX_RECORDS_BEFORE_FACTS                                                                   \
    65536 /* maximum number of records before the facts: one for each attachment                   \
           */
#define MCAP_PROFILE "ros2"
#define MCAP_LIBRARY_PREFIX "tact "

/* A record of an MCAP file, with its content where that is of one of the two kinds read here. */
struct mcap_record {
    uint8_t opcode;
    uint64_t length;
    uint8_t *content;
};

static bool read_file_bytes_at(int fd, uint64_t at, void *to, size_t size)
{
    return at <= INT64_MAX && pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Reads the record at an offset. The caller frees its content, also after a failure. */
static bool read_mcap_record_at(int fd, uint64_t at, struct mcap_record *out)
{
    uint8_t head[TACT_MCAP_RECORD_HEADER];
    *out = (struct mcap_record){0};
    if (!read_file_bytes_at(fd, at, head, sizeof head)) {
        return false;
    }
    out->opcode = head[0];
    memcpy(&out->length, head + 1, sizeof out->length);
    if (out->opcode != TACT_MCAP_HEADER && out->opcode != TACT_MCAP_METADATA) {
        return out->length <= INT64_MAX / 2;
    }
    out->content = out->length <= MAX_RECORD_BYTES ? malloc((size_t)out->length + 1) : NULL;
    return out->content &&
           read_file_bytes_at(fd, at + sizeof head, out->content, (size_t)out->length);
}

static bool is_header_of_tact(const struct mcap_record *record)
{
    struct tact_byte_cursor in = {record->content, (size_t)record->length, false};
    bool is_header_record_valid =
        record->opcode == TACT_MCAP_HEADER &&
        tact_byte_span_equals_text(tact_byte_cursor_read_text(&in), MCAP_PROFILE);
    struct tact_byte_span library = tact_byte_cursor_read_text(&in);
    return is_header_record_valid && !in.bad && library.size > strlen(MCAP_LIBRARY_PREFIX) &&
           !memcmp(library.data, MCAP_LIBRARY_PREFIX, strlen(MCAP_LIBRARY_PREFIX));
}

/* Whether the facts name the session and the number, and their checksum is right. */
static bool are_facts_of_log_file(struct tact_byte_cursor map, const char *session,
                                  const char *number)
{
    const uint8_t *start = map.at;
    bool is_same_session = false, is_same_file_number = false;
    char crc[16];
    while (map.left > 0 && !map.bad) {
        size_t before = (size_t)(map.at - start);
        struct tact_byte_span key = tact_byte_cursor_read_text(&map),
                              value = tact_byte_cursor_read_text(&map);
        if (!map.bad && tact_byte_span_equals_text(key, TACT_FACTS_CRC_KEY)) {
            snprintf(crc, sizeof crc, "%08" PRIx32, tact_crc32(0, start, before));
            return is_same_session && is_same_file_number && tact_byte_span_equals_text(value, crc);
        }
        is_same_session |= tact_byte_span_equals_text(key, "session") &&
                           tact_byte_span_equals_text(value, session);
        is_same_file_number |=
            tact_byte_span_equals_text(key, "part") && tact_byte_span_equals_text(value, number);
    }
    return false;
}

/* Looks for the facts among the records before the first chunk. */
static bool contains_facts_of_log_file(int fd, const char *session, const char *number)
{
    uint64_t at = TACT_MCAP_MAGIC_SIZE;
    bool found = false, same = false;
    for (int i = 0; i < MAX_RECORDS_BEFORE_FACTS && !found; i++) {
        struct mcap_record record;
        bool is_header_record_valid = read_mcap_record_at(fd, at, &record);
        found = !is_header_record_valid || record.opcode == TACT_MCAP_CHUNK ||
                (i == 0 && !is_header_of_tact(&record));
        if (!found && record.opcode == TACT_MCAP_METADATA) {
            struct tact_byte_cursor in = {record.content, (size_t)record.length, false};
            found = tact_byte_span_equals_text(tact_byte_cursor_read_text(&in),
                                               TACT_FACTS_METADATA_NAME);
            struct tact_byte_span map = tact_byte_cursor_read_text(&in);
            same = found && !in.bad &&
                   are_facts_of_log_file((struct tact_byte_cursor){map.data, map.size, false},
                                         session, number);
        }
        at += TACT_MCAP_RECORD_HEADER + record.length;
        free(record.content);
    }
    return same;
}

bool is_log_part(const char *path, const char *session, unsigned number)
{
    /* O_NONBLOCK: opening a named pipe must not block */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    char magic[TACT_MCAP_MAGIC_SIZE], text[16];
    snprintf(text, sizeof text, "%u", number);
    bool same = fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) &&
                read_file_bytes_at(fd, 0, magic, sizeof magic) &&
                !memcmp(magic, TACT_MCAP_MAGIC, sizeof magic) && *session &&
                contains_facts_of_log_file(fd, session, text);
    if (fd >= 0) {
        close(fd);
    }
    return same;
}
