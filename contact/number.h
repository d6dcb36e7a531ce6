/**
 * Conversion of numbers to and from text, with a decimal point in every locale: the only way in
 * which tact reads and prints numbers that are not integers.
 *
 * A program may set a locale with a decimal comma at any time. strtod(), scanf() and printf()
 * depend on that locale; these functions do not.
 *
 * Not real-time safe: the C library may allocate.
 */
#ifndef TACT_CONTACT_NUMBER_H
#define TACT_CONTACT_NUMBER_H

#include <stdarg.h>
#include <stddef.h>
#include "api.h"

TACT_BEGIN_DECLS

/** strtod() in the C locale: reads a number. end may be NULL. Not real-time safe, as all functions
 * here. */
TACT_API double tact_number_read(const char *text, char **end);

/** sscanf() in the C locale: reads formatted numbers; returns how many were read, or EOF. */
TACT_API int tact_number_scan(const char *text, const char *format, ...)
    __attribute__((format(scanf, 2, 3)));

/** snprintf() in the C locale: prints numbers; returns the length of the whole text. */
TACT_API int tact_number_print(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** vsnprintf() in the C locale: prints numbers; returns the length of the whole text. */
TACT_API int tact_number_vprint(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/**
 * Sets the C locale for this thread, for code that calls strtod() or fprintf() itself. Other
 * threads keep theirs. Returns a value that tact_number_end() requires, on the same thread; pairs
 * of calls may be nested.
 */
TACT_API void *tact_number_begin(void);
/** Restores the locale that was set before tact_number_begin(); before: the result of that call. */
TACT_API void tact_number_end(void *before);

TACT_END_DECLS

#endif
