/* Text from a log, a scene or the command line, converted for display. */
#ifndef TACT_EXAMPLES_TEXT_H
#define TACT_EXAMPLES_TEXT_H

#include <stdint.h>

#include <jansson.h>
#include <stddef.h>

#define MAX_SHOWN_TEXT_BYTES 256 /* maximum size of a text that is shown, with its zero */

/* Converts text for a terminal, a script for gnuplot or a file name: copies at most room - 1 bytes
 * of valid UTF-8, one line of it. Control characters (line ends, the start of escape sequences,
 * C1), invisible and direction-changing ones and bytes that are no UTF-8 become "?"; a text that
 * does not fit ends in "...". room is at least 8. Returns out. */
char *text_replace_control_characters(const char *text, char *out, size_t room);

/* Converts text for a terminal as text_replace_control_characters() does, into a static buffer,
 * which is reused by the 16th call after this one; for one thread. */
const char *text_make_printable(const char *text);

/* Name of a body in a hand, as "ruler in pinch", converted as by text_make_printable(), into one of
 * its buffers. */
const char *text_hold_name(const char *body, const char *hand);

/* text_width.c: width of a text in DejaVu Sans of a size, in the unit of the size; no less than
 * where each character is placed at a whole pixel. */
double text_width(const char *text, double size, int is_text_bold);

/* Converts a text for display, and omits its middle where it is wider than `most`, at least `size`.
 */
void text_shorten_to_width(const char *text, double most, double size, int is_text_bold, char *out,
                           size_t room);

/* A JSON string of a text of any length, with "?" for bytes that are no UTF-8; NULL: out of memory.
 */
json_t *text_json(const char *text);

/* A JSON array of the numbers; NULL: out of memory. */
json_t *text_json_numbers(const double *v, int count);

/* Prints to stdout, without control characters, and releases the reference. 0, or -1 if all is NULL
 * or cannot be printed. */
int text_print_json(json_t *all);

/* Prints a line with the counts that are not 0, by name; nothing where all are 0. */
void text_print_counts(const char *line_label, const uint64_t *values, int count,
                       const char *(*name)(int));

/* Returns 0 for a number that three decimals would print as a negative zero, else the number. */
double text_drop_sign_of_zero(double value);

/* Prints a line with the energy that a port absorbed [J], at the end and at its minimum, and in how
 * many ticks its force was limited for passivity. */
void text_print_port_energy(const char *name, double energy, double least, uint64_t limited);
/* Prints a line with the number of ticks in which a port's device was stale, with and without a
 * last force to repeat; nothing where both are 0. */
void text_print_stale_force(uint64_t held, uint64_t missing);

#endif
