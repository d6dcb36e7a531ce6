/* The derived topics of a log: offsets in a record of joints, frames and wrenches. */
#ifndef TACT_RT_LOG_DERIVED_TOPICS_INTERNAL_H
#define TACT_RT_LOG_DERIVED_TOPICS_INTERNAL_H

#include "../../contact/error.h"
#include "bytes_internal.h"
#include "recorder.h"

/* Sets err to "WHAT \"NAME\": WHY" and returns -EINVAL. */
int tact_recorder_content_set_error(struct tact_error *err, const char *what, const char *name,
                                    const char *why);

/* Copies of the content's lists; names are owned. */
struct tact_derived_topics {
    struct tact_recorder_joint *joints;
    struct tact_recorder_body *bodies;
    struct tact_recorder_link *links;
    struct tact_recorder_contact *contacts;
    struct tact_recorder_sensor *sensors;
    const char **owners;
    size_t joint_count, body_count, link_count, contact_count, sensor_count, owner_count;
};

/* Validates the lists. @retval 0, or -EINVAL with *err set: a name, or an offset outside the
 * record
 */
int tact_derived_topics_check(const struct tact_recorder_content *content, struct tact_error *err);

/* Copies the lists of the content. @retval 0 or -ENOMEM; call tact_derived_topics_free() in any
 * case */
int tact_derived_topics_copy(struct tact_derived_topics *derived_topics,
                             const struct tact_recorder_content *content);
void tact_derived_topics_free(struct tact_derived_topics *derived_topics);

/* Serialises and parses the lists. Input is untrusted: offsets must be inside a record of `size`
 * doubles, those of contacts inside an element of `stride` if there is a list, else 0. Call
 * tact_derived_topics_free() in any case. @retval 0, -EBADMSG or -ENOMEM */
void tact_derived_topics_write(const struct tact_derived_topics *derived_topics,
                               struct tact_bytes *out);
int tact_derived_topics_read(struct tact_derived_topics *derived_topics, uint32_t size,
                             uint32_t stride, struct tact_byte_cursor *in);

#endif
