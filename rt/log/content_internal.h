/* A copy of everything in a log except its records, for the later files of a split session. */
#ifndef TACT_RT_LOG_CONTENT_INTERNAL_H
#define TACT_RT_LOG_CONTENT_INTERNAL_H

#include "derived_topics_internal.h"

struct tact_owned_recorder_content {
    /* content whose pointers refer to the members below; without shapes */
    struct tact_recorder_content content;
    struct tact_layout layout;
    struct tact_derived_topics derived_topics;
    struct tact_log_attachment *attachments;
    struct tact_log_fact *facts;
    size_t attachment_count, fact_count;
    struct tact_bytes scene; /* the encoded message of /scene */
};

/* Copies all but the shapes, and adds the fact "session". Call tact_recorder_content_free() in any
 * case.
 * @retval 0 or -ENOMEM */
int tact_recorder_content_copy(struct tact_owned_recorder_content *to,
                               const struct tact_recorder_content *from, const char *session);
void tact_recorder_content_free(struct tact_owned_recorder_content *content);

#endif
