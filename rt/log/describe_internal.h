/* The description of a session in its ring file, from which a killed recorder's log is completed.
 */
#ifndef TACT_RT_LOG_DESCRIBE_INTERNAL_H
#define TACT_RT_LOG_DESCRIBE_INTERNAL_H

#include "encode_internal.h"

struct tact_session_description {
    struct tact_recorder_options options;
    struct tact_encoder encoder; /* without its sink */
    /* number of bytes of the log when the rings were created: header, facts, ... */
    uint64_t log_prefix_byte_count;
    uint32_t log_prefix_crc; /* CRC of these first bytes of the log: identifies it */
    /* schema and channel records, as in the first chunk */
    struct tact_byte_span schema_and_channel_records;
};

/* Serialises the description. The writer and the encoder are the recorder's, before their first
 * message. */
void tact_session_description_write(const struct tact_recorder_options *options,
                                    const struct tact_mcap_writer *writer,
                                    const struct tact_encoder *encoder, struct tact_bytes *out);

/* Parses and validates a description. Free description->encoder with tact_encoder_free();
 * definitions point into the input. @retval 0, -EBADMSG or -ENOMEM; on failure there is nothing to
 * free */
int tact_session_description_read(struct tact_byte_span from,
                                  struct tact_session_description *description);

#endif
