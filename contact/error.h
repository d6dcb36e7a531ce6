/**
 * Errors in input files: what is wrong, and where.
 *
 * Functions return 0 or a negative errno. Those that read a user's file (scene, mesh, hand, log)
 * also take a struct tact_error, which may be NULL, and fill it with one message.
 */
#ifndef TACT_CONTACT_ERROR_H
#define TACT_CONTACT_ERROR_H

#include <stddef.h>
#include "api.h"

TACT_BEGIN_DECLS

/** One error message about bad input. Unknown parts are empty strings or 0. */
struct tact_error {
    char file[256]; /**< name of the file, as the user gave it */
    int line;       /**< line number, from 1; 0 where unknown */
    int column;     /**< column number, from 1; 0 where unknown */
    char key[128];  /**< key or element that is wrong, e.g. "bodies[0].mass" */
    char text[384]; /**< text of the message, what is wrong and what was expected, on one line:
                       control characters of the input are replaced by '?', here and in key */
};

/** Sets the text of an error (printf-like) and returns code, so that `return tact_error_set(err,
 * -EINVAL, ...)` is possible. err may be NULL. File, line, column and key are unchanged. Not
 * real-time safe. */
TACT_API int tact_error_set(struct tact_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Sets the file, line and key of an error. An argument that is NULL or 0 leaves that part
 * unchanged. Not real-time safe. */
TACT_API void tact_error_at(struct tact_error *err, const char *file, int line, int column,
                            const char *key);

/** Formats an error as "file:line:column: key: text" into buf, without parts that are unknown;
 * always terminated. Returns the length of the whole message. Not real-time safe. */
TACT_API size_t tact_error_format(const struct tact_error *err, char *buf, size_t size);

TACT_END_DECLS

#endif
