/** A copy of what goes into a log besides its records, for the files that follow the first. */
#ifndef TACT_RT_LOG_CONTENT_INTERNAL_H
#define TACT_RT_LOG_CONTENT_INTERNAL_H

#include "shown_internal.h"

struct tact_content {
    struct tact_recorder_content content; /* points into what follows; without shapes */
    struct tact_layout layout;
    struct tact_shown shown;
    struct tact_log_attachment *attachments;
    struct tact_log_fact *facts;
    size_t attachment_count, fact_count;
    struct tact_bytes scene; /* the message of /scene */
};

/** Copies all but the scene, and adds the fact "session". @retval 0 or -ENOMEM; tact_content_free()
 *  is due in any case */
int tact_content_copy(struct tact_content *to, const struct tact_recorder_content *from,
                      const char *session);
void tact_content_free(struct tact_content *content);

#endif
