#include "rt/message.h"

#include <stdarg.h>
#include <stdio.h>
#include "contact/number.h"

void tact_message(struct tact_messages to, enum tact_message_level level, const char *format, ...)
{
    if (!to.fn) {
        return;
    }
    char text[1024];
    va_list args;
    va_start(args, format);
    tact_number_vprint(text, sizeof text, format, args);
    va_end(args);
    to.fn(to.user, level, text);
}
