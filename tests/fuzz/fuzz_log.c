/* Fuzz target of the log reader: LLVMFuzzerTestOneInput() for libFuzzer; run_log.c calls it without
 * libFuzzer. The first byte of an input chooses what the rest is: 0  a file, as it is 1  a file
 * whose checksums are put right, so that what is inside them is reached 2  the records of a chunk,
 * which is packed into a file
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz_log.h"
#include "rt/log/bytes_internal.h"
#include "rt/log/log_reader.h"
#include "rt/log/mcap_internal.h"

#define RECORD_HEAD_BYTES TACT_MCAP_RECORD_HEADER

static uint64_t read_little_endian(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

static void write_crc_of_range(uint8_t *at, const uint8_t *from, size_t size)
{
    uint32_t crc = tact_crc32(0, from, size);
    memcpy(at, &crc, sizeof crc);
}

/* Corrects the header of a chunk: times, size, CRC, compression. Only uncompressed chunks can be
 * corrected. */
static void correct_chunk_checksum(uint8_t *content, size_t size)
{
    if (size > 40 && read_little_endian(content + 28, 4) == 0 &&
        read_little_endian(content + 32, 8) == size - 40) {
        uint64_t unpacked_size = size - 40;
        memcpy(content + 16, &unpacked_size, sizeof unpacked_size);
        write_crc_of_range(content + 24, content + 40, size - 40);
    }
}

/* Corrects the checksum of a metadata record: hexadecimal text, its last eight bytes. */
static void correct_metadata_checksum(uint8_t *content, size_t size)
{
    if (size < 8)
        return;
    size_t map = 4 + read_little_endian(content, 4) + 4;
    /* size of the entry "crc32" and its value at the end of the record */
    const size_t last = 4 + 5 + 4 + 8;
    if (map > size || size - map < last)
        return;
    char text[9];
    uint32_t crc = tact_crc32(0, content + map, size - map - last);
    for (int i = 7; i >= 0; i--, crc >>= 4)
        text[i] = "0123456789abcdef"[crc & 15];
    memcpy(content + size - 8, text, 8);
}

static void correct_all_checksums(uint8_t *file, size_t size)
{
    size_t at = TACT_MCAP_MAGIC_SIZE, data_end = 0;

    while (at + RECORD_HEAD_BYTES <= size &&
           read_little_endian(file + at + 1, 8) <= size - at - RECORD_HEAD_BYTES) {
        uint8_t opcode = file[at], *content = file + at + RECORD_HEAD_BYTES;
        size_t length = read_little_endian(file + at + 1, 8);
        if (opcode == TACT_MCAP_CHUNK)
            correct_chunk_checksum(content, length);
        else if (opcode == TACT_MCAP_METADATA)
            correct_metadata_checksum(content, length);
        else if (opcode == TACT_MCAP_ATTACHMENT && length > 4)
            write_crc_of_range(content + length - 4, content, length - 4);
        else if (opcode == TACT_MCAP_DATA_END && length == 4) {
            write_crc_of_range(content, file, at);
            data_end = at + RECORD_HEAD_BYTES + length;
        } else if (opcode == TACT_MCAP_FOOTER && length == 20 && data_end > 0)
            write_crc_of_range(content + 16, file + data_end,
                               at + RECORD_HEAD_BYTES + 16 - data_end);
        at += RECORD_HEAD_BYTES + length;
    }
}

static void append_mcap_record(struct tact_bytes *out, uint8_t opcode, const void *content,
                               size_t size)
{
    tact_bytes_append_u8(out, opcode);
    tact_bytes_append_u64(out, size);
    tact_bytes_append(out, content, size);
}

/* Makes a log file of a single chunk. */
static void make_single_chunk_log(const uint8_t *records, size_t size, struct tact_bytes *out)
{
    struct tact_bytes content = {0};

    tact_bytes_append(out, TACT_MCAP_MAGIC, TACT_MCAP_MAGIC_SIZE);
    tact_bytes_append_text(&content, "ros2");
    tact_bytes_append_text(&content, "fuzz");
    append_mcap_record(out, TACT_MCAP_HEADER, content.data, content.size);
    content.size = 0;
    tact_bytes_append_u64(&content, 0);
    tact_bytes_append_u64(&content, 0);
    tact_bytes_append_u64(&content, size);
    tact_bytes_append_u32(&content, tact_crc32(0, records, size));
    tact_bytes_append_text(&content, "");
    tact_bytes_append_u64(&content, size);
    tact_bytes_append(&content, records, size);
    append_mcap_record(out, TACT_MCAP_CHUNK, content.data, content.size);
    tact_bytes_free(&content);
}

static volatile size_t sum_of_bytes_read; /* keeps the compiler from removing the reads */

static void read_all_log_content(struct tact_log *log)
{
    const struct tact_log_state *state = tact_log_state(log);
    const struct tact_layout *layout = tact_log_layout(log);
    struct tact_record *record = malloc(tact_layout_bytes(layout));
    uint64_t ticks = 0;
    size_t sum = 0;

    while (record && tact_log_next(log, record) > 0)
        ticks++;
    /* a file that was reported as intact must be readable */
    if (record && ticks != state->ticks)
        abort();
    if (ticks > 0 && (tact_log_seek(log, ticks - 1) != 0 || tact_log_next(log, record) != 1 ||
                      record->tick != state->last_tick))
        abort();
    for (size_t i = 0; tact_log_event(log, i); i++)
        sum += strlen(tact_log_event(log, i)->name) + strlen(tact_log_event(log, i)->text);
    for (size_t i = 0; i < tact_log_fact_count(log); i++)
        sum += strlen(tact_log_fact_at(log, i)->value);
    for (size_t i = 0; i < tact_log_attachment_count(log); i++) {
        const struct tact_log_attachment *a = tact_log_attachment_at(log, i);
        for (size_t k = 0; k < a->size; k++)
            sum += ((const uint8_t *)a->data)[k];
    }
    free(record);
    sum_of_bytes_read = sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[32];
    struct tact_bytes file = {0};
    struct tact_error err = {0};
    struct tact_log *log;

    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (size == 0)
        return 0;
    if (data[0] % 3 == 2)
        make_single_chunk_log(data + 1, size - 1, &file);
    else
        tact_bytes_append(&file, data + 1, size - 1);
    if (data[0] % 3 == 1 && file.size > 0)
        correct_all_checksums(file.data, file.size);
    if (!file.failed && ftruncate(fd, 0) == 0 &&
        pwrite(fd, file.data, file.size, 0) == (ssize_t)file.size &&
        tact_log_open(path, &log, &err) == 0) {
        read_all_log_content(log);
        tact_log_close(log);
    }
    tact_bytes_free(&file);
    return 0;
}
