/* The MCAP container (https://mcap.dev/spec, version 0): magic bytes, opcodes, limits of tact. */
#ifndef TACT_RT_LOG_MCAP_INTERNAL_H
#define TACT_RT_LOG_MCAP_INTERNAL_H

#include <stdint.h>

#define TACT_MCAP_MAGIC "\x89MCAP0\r\n"
#define TACT_MCAP_MAGIC_SIZE 8
#define TACT_MCAP_RECORD_HEADER 9 /* size of a record's opcode and 64-bit length */

/* Maximum memory that the reader allocates for one chunk; the recorder's chunks are far smaller. */
#define TACT_MCAP_CHUNK_MAX_BYTES (UINT64_C(64) << 20)

enum tact_mcap_opcode {
    TACT_MCAP_HEADER = 0x01,
    TACT_MCAP_FOOTER = 0x02,
    TACT_MCAP_SCHEMA = 0x03,
    TACT_MCAP_CHANNEL = 0x04,
    TACT_MCAP_MESSAGE = 0x05,
    TACT_MCAP_CHUNK = 0x06,
    TACT_MCAP_MESSAGE_INDEX = 0x07,
    TACT_MCAP_CHUNK_INDEX = 0x08,
    TACT_MCAP_ATTACHMENT = 0x09,
    TACT_MCAP_ATTACHMENT_INDEX = 0x0A,
    TACT_MCAP_STATISTICS = 0x0B,
    TACT_MCAP_METADATA = 0x0C,
    TACT_MCAP_METADATA_INDEX = 0x0D,
    TACT_MCAP_SUMMARY_OFFSET = 0x0E,
    TACT_MCAP_DATA_END = 0x0F,
    TACT_MCAP_DAMAGE_COVER = 0xF0, /* private opcode of a record that covers damage (0x80 and
                               above), skipped by other readers */
};

/* When a log is recovered, a damaged range in its middle is covered: its first bytes become the
 * header of a private record and the checksum of the remaining bytes, which stay unchanged. */
#define TACT_MCAP_DAMAGE_COVER_CRC_BYTES 4
#define TACT_MCAP_MIN_DAMAGE_COVER_BYTES                                                           \
    (TACT_MCAP_RECORD_HEADER + TACT_MCAP_DAMAGE_COVER_CRC_BYTES) /* bytes */

/* A range of bytes of a file. */
struct tact_mcap_byte_range {
    uint64_t at, end;
};

#endif
