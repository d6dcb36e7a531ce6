/* Widths of text in DejaVu Sans, the font of plots and pictures. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "text.h"

#define FIRST_TABULATED_CHARACTER ' '
#define TABULATED_CHARACTER_COUNT 95
#define UNITS_PER_EM 2048
/* Of other characters: wider than most. */
#define WIDTH_OF_OTHER_CHARACTERS 1.5

/* Advances of the characters from space to tilde, in 1/2048 of the size: tables cmap and hmtx of
 * DejaVuSans.ttf and DejaVuSans-Bold.ttf, version 2.37. */
static const short character_advance_widths[2][TABULATED_CHARACTER_COUNT] = {
    {651,  821,  942,  1716, 1303, 1946, 1597, 563,  799,  799,  1024, 1716, 651,  739,  651,  690,
     1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690,  690,  1716, 1716, 1716, 1087,
     2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604,  604,  1343, 1141, 1767, 1532, 1612,
     1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799,  690,  799,  1716, 1024,
     1024, 1255, 1300, 1126, 1300, 1260, 721,  1300, 1298, 569,  569,  1186, 569,  1995, 1298, 1253,
     1300, 1300, 842,  1067, 803,  1298, 1212, 1675, 1212, 1212, 1075, 1303, 690,  1303, 1716},
    {713,  934,  1067, 1716, 1425, 2052, 1786, 627,  936,  936,  1071, 1716, 778,  850,  778,  748,
     1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 819,  819,  1716, 1716, 1716, 1188,
     2048, 1585, 1561, 1503, 1700, 1399, 1399, 1681, 1714, 762,  762,  1587, 1305, 2038, 1714, 1741,
     1501, 1741, 1577, 1475, 1397, 1663, 1585, 2259, 1579, 1483, 1485, 936,  748,  936,  1716, 1024,
     1024, 1382, 1466, 1214, 1466, 1389, 891,  1466, 1458, 702,  702,  1362, 702,  2134, 1458, 1407,
     1466, 1466, 1010, 1219, 979,  1458, 1335, 1892, 1321, 1335, 1192, 1458, 748,  1458, 1716}};

/* Width of the character at the start of text. Some programs place characters at whole pixels,
 * others between them. */
static double get_character_width(const char *text, double size, int is_text_bold)
{
    const int index = (unsigned char)*text - FIRST_TABULATED_CHARACTER;
    if (index >= TABULATED_CHARACTER_COUNT) {
        return (*text & 0xc0) == 0x80 ? 0.0 : WIDTH_OF_OTHER_CHARACTERS * size;
    }
    const double width =
        index < 0 ? 0.0 : size * character_advance_widths[is_text_bold][index] / UNITS_PER_EM;
    return fmax(width, round(width));
}

double text_width(const char *text, double size, int is_text_bold)
{
    double width = 0.0;
    for (; *text; text++) {
        width += get_character_width(text, size, is_text_bold);
    }
    return width;
}

void text_shorten_to_width(const char *text, double most, double size, int is_text_bold, char *out,
                           size_t room)
{
    const char *shortened_head_end = text_make_printable(text),
               *end = shortened_head_end + strlen(shortened_head_end);
    const char *const printable_text = shortened_head_end, *tail = end;
    if (text_width(printable_text, size, is_text_bold) <= most) {
        snprintf(out, room, "%s", printable_text);
        return;
    }
    double remaining_text_width = most - ceil(size),
           half = 0.5 * remaining_text_width; /* an ellipsis is as wide as the size */
    for (double width; shortened_head_end < end; shortened_head_end++) {
        width = get_character_width(shortened_head_end, size, is_text_bold);
        half -= width;
        if (half < 0.0) {
            break;
        }
        remaining_text_width -= width;
    }
    while (tail > shortened_head_end) {
        const char *character_before_tail = tail - 1;
        while (character_before_tail > shortened_head_end &&
               (*character_before_tail & 0xc0) == 0x80) {
            character_before_tail--;
        }
        remaining_text_width -= get_character_width(character_before_tail, size, is_text_bold);
        if (remaining_text_width < 0.0) {
            break;
        }
        tail = character_before_tail;
    }
    snprintf(out, room, "%.*s…%s", (int)(shortened_head_end - printable_text), printable_text,
             tail);
}
