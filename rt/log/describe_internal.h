/** What the rings say about their session, so that its log can be finished without its process. */
#ifndef TACT_RT_LOG_DESCRIBE_INTERNAL_H
#define TACT_RT_LOG_DESCRIBE_INTERNAL_H

#include "encode_internal.h"

struct tact_description {
    struct tact_recorder_options options;
    struct tact_encoder encoder;  /* without its writer */
    uint64_t prefix_bytes;        /* of the log when the rings were made: header, facts, ... */
    uint32_t prefix_crc;          /* of these bytes: tells this log from all others */
    struct tact_span definitions; /* schemas and channels, records as in the first chunk */
};

/** The same as bytes. The encoder is the recorder's, before its first message. */
void tact_describe(const struct tact_recorder_options *options, const struct tact_encoder *encoder,
                   struct tact_bytes *out);

/** Back from bytes; description->encoder is freed with tact_encoder_free(), definitions point into
 *  the bytes. Trusts nothing. @retval 0, -EBADMSG or -ENOMEM; then there is nothing to free */
int tact_description_read(struct tact_span from, struct tact_description *description);

#endif
