#include "range.h"

#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/number.h"

#define MAX_EXACT_TICK 1e15 /* largest tick number that is exact as a double */

static const char *const names[2] = {"from", "to"};

/* Parses digits alone as a tick, and a number with a unit as a time. Returns 0, or -1 for any other
 * text. */
static int parse_tick_or_time(const char *text, double *value, int *seconds)
{
    char *text_after_number;
    const char *unit = text + strspn(text, "0123456789.");
    *value = tact_number_read(text, &text_after_number);
    *seconds = *unit != 0;
    if (unit == text || text_after_number != unit ||
        (*seconds && strcmp(unit, "s") && strcmp(unit, "ms")) || (!*seconds && strchr(text, '.'))) {
        return -1;
    }
    *value *= strcmp(unit, "ms") ? 1.0 : 1e-3;
    return *value < (*seconds ? MAX_EXACT_TICK * 1e-6 : MAX_EXACT_TICK) ? 0 : -1;
}

int range_parse_end(struct range *range, const char *command, int end, const char *text)
{
    int seconds;
    if (parse_tick_or_time(text, &range->at[end], &seconds)) {
        return command_print_usage_error(
            command,
            "--%s %s: a time with its unit, such as 1.5s or 1500ms, or a whole "
            "number for a tick is expected",
            names[end], text);
    }
    range->is_end_set_by_user[end] = 1;
    range->in_seconds = (range->in_seconds & ~(1 << end)) | seconds << end;
    return 0;
}

int range_check_not_empty(const struct range *range, const char *command)
{
    int are_ends_comparable =
        range->in_seconds == 0 || range->in_seconds == 3 || range->at[0] == 0.0;
    if (range->is_end_set_by_user[1] &&
        (range->at[1] == 0.0 || (are_ends_comparable && range->at[0] >= range->at[1]))) {
        return command_print_usage_error(command, "the range is empty: --from must be before --to");
    }
    return 0;
}
