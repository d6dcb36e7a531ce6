#include "contact/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "contact/number.h"

/* Replaces control characters: names and texts of a file may contain anything, but a message is one
 * line. */
static void replace_line_breaks_in_text(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            *text = '?';
        }
    }
}

int tact_error_set(struct tact_error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        tact_number_vprint(err->text, sizeof err->text, format, args);
        va_end(args);
        replace_line_breaks_in_text(err->text);
    }
    return code;
}

void tact_error_at(struct tact_error *err, const char *file, int line, int column, const char *key)
{
    if (!err) {
        return;
    }
    if (file) {
        snprintf(err->file, sizeof err->file, "%s", file);
    }
    if (line) {
        err->line = line;
    }
    if (column) {
        err->column = column;
    }
    if (key) {
        snprintf(err->key, sizeof err->key, "%s", key);
        replace_line_breaks_in_text(err->key);
    }
}

size_t tact_error_format(const struct tact_error *err, char *buf, size_t size)
{
    char source_location_text[320] = "";
    if (err->file[0] && err->line && err->column) {
        snprintf(source_location_text, sizeof source_location_text, "%s:%d:%d: ", err->file,
                 err->line, err->column);
    } else if (err->file[0] && err->line) {
        snprintf(source_location_text, sizeof source_location_text, "%s:%d: ", err->file,
                 err->line);
    } else if (err->file[0]) {
        snprintf(source_location_text, sizeof source_location_text, "%s: ", err->file);
    }
    int n = snprintf(buf, size, "%s%s%s%s", source_location_text, err->key, err->key[0] ? ": " : "",
                     err->text);
    return n < 0 ? 0 : (size_t)n;
}
