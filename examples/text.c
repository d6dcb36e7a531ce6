/* Untrusted text, converted for display. */
#include "text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINTABLE_TEXT_SLOT_COUNT 16

/* Length of the character at the start of text, and its code; 0 where that is no UTF-8 (RFC 3629:
 * neither overlong, nor a surrogate, nor beyond U+10FFFF). */
static size_t decode_utf8(const char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xC0 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (!length || at[0] > 0xF4) {
        return 0;
    }
    *code = length == 1 ? at[0] : at[0] & (0x7FU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (at[i] & 0x3F);
    }
    int is_invalid_code_point =
        *code < least[length] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000);
    return is_invalid_code_point ? 0 : length;
}

/* Characters that end a line, start an escape sequence, cannot be seen, or change the direction of
 * what follows. */
static int is_undisplayed_character(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C ||
           (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
           (code >= 0xFFF9 && code <= 0xFFFB) || (code & 0xFFFE) == 0xFFFE || code >= 0xE0000;
}

char *text_replace_control_characters(const char *text, char *out, size_t room)
{
    size_t used = 0, cut = 0; /* cut: number of bytes after which "..." still fits */
    while (*text) {
        uint32_t code = 0;
        size_t length = decode_utf8(text, &code);
        int is_hidden_character = !length || is_undisplayed_character(code);
        size_t more = is_hidden_character ? 1 : length;
        if (used + more >= room) {
            memcpy(out + cut, "...", 3);
            used = cut + 3;
            break;
        }
        if (is_hidden_character) {
            out[used] = '?';
        } else {
            memcpy(out + used, text, length);
        }
        used += more;
        cut = used + 4 <= room ? used : cut;
        text += length ? length : 1;
    }
    out[used] = '\0';
    return out;
}

const char *text_make_printable(const char *text)
{
    static char slots[PRINTABLE_TEXT_SLOT_COUNT][MAX_SHOWN_TEXT_BYTES];
    static size_t next;
    return text_replace_control_characters(text, slots[next++ % PRINTABLE_TEXT_SLOT_COUNT],
                                           sizeof slots[0]);
}

json_t *text_json_numbers(const double *v, int count)
{
    json_t *all = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(all, json_real(v[i]));
    }
    return all;
}

json_t *text_json(const char *text)
{
    json_t *made = json_string(text);
    char *text_copy = made ? NULL : strdup(text);
    for (char *at = text_copy; at && *at;) {
        uint32_t code;
        size_t length = decode_utf8(at, &code);
        if (!length) {
            *at = '?';
        }
        at += length ? length : 1;
    }
    made = text_copy ? json_string(text_copy) : made;
    free(text_copy);
    return made;
}

int text_print_json(json_t *all)
{
    char *text = all ? json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(all);
    for (const char *at = text; at && *at;) {
        uint32_t code = 0;
        size_t length = decode_utf8(at, &code);
        /* Control characters in strings are already escaped; line ends are part of the format. */
        if (code != '\n' && code < 0x10000 && is_undisplayed_character(code)) {
            printf("\\u%04x", (unsigned)code);
        } else {
            fwrite(at, 1, length, stdout);
        }
        at += length ? length : 1;
    }
    putchar('\n');
    free(text);
    return text ? 0 : -1;
}

void text_print_counts(const char *line_label, const uint64_t *values, int count,
                       const char *(*name)(int))
{
    const char *count_separator = "";
    for (int i = 0; i < count; i++) {
        if (values[i]) {
            printf("%s%s %llu", *count_separator ? count_separator : line_label, name(i),
                   (unsigned long long)values[i]);
            count_separator = ", ";
        }
    }
    printf("%s", *count_separator ? "\n" : "");
}

double text_drop_sign_of_zero(double value)
{
    return fabs(value) < 0.0005 ? 0.0 : value;
}

void text_print_port_energy(const char *name, double energy, double least, uint64_t limited)
{
    printf(
        "  port       %s: absorbed %.3f mJ from the person in all (minimum during the run %.3f mJ)",
        text_make_printable(name), text_drop_sign_of_zero(energy * 1e3),
        text_drop_sign_of_zero(fmin(least, 0.0) * 1e3));
    if (limited) {
        printf("; force limited for passivity in %llu ticks", (unsigned long long)limited);
    }
    printf("\n");
}

void text_print_stale_force(uint64_t held, uint64_t missing)
{
    if (held || missing) {
        printf("    the device of this port was stale: its last force was used in %llu ticks, and "
               "zero force in %llu\n",
               (unsigned long long)held, (unsigned long long)missing);
    }
}

const char *text_hold_name(const char *body, const char *hand)
{
    char text[MAX_SHOWN_TEXT_BYTES];
    snprintf(text, sizeof text, "%s in %s", body, hand);
    return text_make_printable(text);
}
