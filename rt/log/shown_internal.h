/** What a log shows beside its records: which doubles of a record are joints, frames and wrenches.
 */
#ifndef TACT_RT_LOG_SHOWN_INTERNAL_H
#define TACT_RT_LOG_SHOWN_INTERNAL_H

#include "../../contact/error.h"
#include "bytes_internal.h"
#include "recorder.h"

/** Copies of the content's lists; names are owned. */
struct tact_shown {
    struct tact_recorder_joint *joints;
    struct tact_recorder_body *bodies;
    struct tact_recorder_link *links;
    struct tact_recorder_contact *contacts;
    struct tact_recorder_sensor *sensors;
    const char **owners;
    size_t joint_count, body_count, link_count, contact_count, sensor_count, owner_count;
};

/** @retval 0, or -EINVAL with *err filled: a name, or an offset outside the record */
int tact_shown_check(const struct tact_recorder_content *content, struct tact_error *err);

/** @retval 0 or -ENOMEM; tact_shown_free() is due in any case */
int tact_shown_copy(struct tact_shown *shown, const struct tact_recorder_content *content);
void tact_shown_free(struct tact_shown *shown);

/** To bytes and back. Reading trusts nothing: offsets are inside a record of `size` doubles, those
 * of contacts inside an element of `stride` where there is a list, else 0. tact_shown_free() is due
 * in any case. @retval 0, -EBADMSG or -ENOMEM */
void tact_shown_put(const struct tact_shown *shown, struct tact_bytes *out);
int tact_shown_get(struct tact_shown *shown, uint32_t size, uint32_t stride,
                   struct tact_cursor *in);

#endif
