/**
 * The topics of a log as messages in memory, for programs that send them on while a session runs:
 * the same channels, schemas and encoding (ROS 2 CDR) as in the file, but for /tact/events.
 *
 * The messages of one record are independent of those of any other: a program may send every
 * record, every tenth, or the newest only. So /contacts/markers, which is written to a file while
 * there is something to change, has an entry for each contact, which deletes the arrow of one that
 * does not touch; and /scene is not among the messages of a record.
 *
 * No function here is real-time safe.
 */
#ifndef TACT_RT_LOG_TOPICS_H
#define TACT_RT_LOG_TOPICS_H

#include <stddef.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "recorder.h"

TACT_BEGIN_DECLS

/** One topic. Texts belong to the topics. */
struct tact_topic {
    const char *name;   /**< "/tf" */
    const char *type;   /**< "tf2_msgs/msg/TFMessage" */
    const char *schema; /**< ros2msg definition of the type */
};

/** One message. */
struct tact_topic_message {
    size_t topic;     /**< index of the message's topic */
    uint64_t time_ns; /**< log time, wall clock [ns since 1970] */
    const void *data; /**< the message's data [size] as CDR, with its encapsulation */
    size_t size;      /**< bytes */
};

struct tact_topics;

/**
 * The topics of a recording with that content; attachments and facts are not looked at.
 * wall_anchor_ns: wall clock minus CLOCK_MONOTONIC [ns].
 * @retval 0          *out is set
 * @retval -EINVAL    an offset or a name is invalid; see *err
 * @retval -ENOMEM    see *err
 */
TACT_API int tact_topics_create(const struct tact_recorder_content *content, int64_t wall_anchor_ns,
                                struct tact_topics **out, struct tact_error *err);
/** Frees the topics; NULL is allowed. */
TACT_API void tact_topics_free(struct tact_topics *topics);

/** Number of topics. */
TACT_API size_t tact_topics_count(const struct tact_topics *topics);
/** A topic by its index. */
TACT_API struct tact_topic tact_topics_get(const struct tact_topics *topics, size_t index);

/**
 * Encodes the messages of a record. They are valid until the next call: *messages, *count of
 * them, at most one a topic, in the order of the topics.
 * @retval 0 or -ENOMEM
 */
TACT_API int tact_topics_encode(struct tact_topics *topics, const struct tact_record *record,
                                const struct tact_topic_message **messages, size_t *count);

/** The message of /scene, which is to be sent once and has log time 0; NULL: there are no shapes.
 * Valid as long as the topics. */
TACT_API const struct tact_topic_message *tact_topics_scene(const struct tact_topics *topics);

TACT_END_DECLS

#endif
