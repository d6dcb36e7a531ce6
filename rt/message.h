/** * Messages for people: one callback for the whole library, which never prints. */
#ifndef TACT_RT_MESSAGE_H
#define TACT_RT_MESSAGE_H

#include "../contact/api.h"

TACT_BEGIN_DECLS

/** How much a message matters. */
enum tact_message_level { TACT_MESSAGE_INFO, TACT_MESSAGE_WARNING, TACT_MESSAGE_ERROR };

/** Called from threads that may block, never from the tick. text has no trailing newline. */
typedef void (*tact_message_fn)(void *user, enum tact_message_level level, const char *text);

/** A callback and its argument; fn may be NULL, which drops messages. Passed by value. */
struct tact_messages {
    tact_message_fn fn; /**< called with each message, or NULL: messages are dropped */
    void *user;         /**< handed to fn */
};

/** Formats one message and calls the callback. Not real-time safe. */
TACT_API void tact_message(struct tact_messages to, enum tact_message_level level,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));

TACT_END_DECLS

#endif
