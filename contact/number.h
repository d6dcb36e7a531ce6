/**
 * Numbers as text, with a point whatever locale the program has: the one way in which tact reads
 * and prints numbers that are not whole.
 *
 * A program may set a locale with a decimal comma at any time. What strtod(), scanf() and printf()
 * make of a number follows that locale; what these functions make of it does not.
 *
 * Not real-time safe: the C library may allocate.
 */
#ifndef TACT_CONTACT_NUMBER_H
#define TACT_CONTACT_NUMBER_H

#include <stdarg.h>
#include <stddef.h>
#include "api.h"

TACT_BEGIN_DECLS

/** strtod() in the C locale. end may be NULL. Not real-time safe, like the others here. */
TACT_API double tact_number_read(const char *text, char **end);

/** sscanf() in the C locale. */
TACT_API int tact_number_scan(const char *text, const char *format, ...)
    __attribute__((format(scanf, 2, 3)));

/** snprintf() in the C locale: returns the length that the whole text has. */
TACT_API int tact_number_print(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** vsnprintf() in the C locale. */
TACT_API int tact_number_vprint(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/**
 * Puts this thread in the C locale, for what others read or print: a library that calls strtod(), a
 * file written by fprintf(). Other threads keep theirs. Returns what tact_number_end() puts back,
 * on the same thread; pairs may be nested.
 */
TACT_API void *tact_number_begin(void);
/** Ends what tact_number_begin() began; before: what that returned. */
TACT_API void tact_number_end(void *before);

TACT_END_DECLS

#endif
