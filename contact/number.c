#include "contact/number.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* The C locale is created once and never freed: glibc has it built in and needs no memory for it.
 */
static locale_t c_locale(void)
{
    static _Atomic(locale_t) made;
    locale_t locale = atomic_load(&made), none = (locale_t)0;
    if (!locale) {
        locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (locale && !atomic_compare_exchange_strong(&made, &none, locale)) {
            freelocale(locale); /* another thread created the locale first */
            locale = none;
        }
    }
    return locale;
}

void *tact_number_begin(void)
{
    return uselocale(c_locale());
}

void tact_number_end(void *before)
{
    uselocale(before);
}

double tact_number_read(const char *text, char **end)
{
    void *before = tact_number_begin();
    double value = strtod(text, end);
    tact_number_end(before);
    return value;
}

int tact_number_scan(const char *text, const char *format, ...)
{
    va_list args;
    void *before = tact_number_begin();
    va_start(args, format);
    int n = vsscanf(text, format, args);
    va_end(args);
    tact_number_end(before);
    return n;
}

int tact_number_vprint(char *out, size_t size, const char *format, va_list args)
{
    void *before = tact_number_begin();
    int n = vsnprintf(out, size, format, args);
    tact_number_end(before);
    return n;
}

int tact_number_print(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = tact_number_vprint(out, size, format, args);
    va_end(args);
    return n;
}
