/* A picture drawn by gnuplot, or the script that would draw it. */
#ifndef TACT_EXAMPLES_DRAWING_H
#define TACT_EXAMPLES_DRAWING_H

#include <stdio.h>
#include "output.h"

struct drawing {
    struct output out;
    const char *terminal; /* "pngcairo", "svg", "pdfcairo", or NULL for a script */
    FILE *to;             /* stream for the script */
};

/* out ends in .png, .svg, .pdf or .gp and is allowed (is_output_allowed()); command is for
 * messages. EXIT_GOOD, or EXIT_BAD after a message. */
int drawing_open(struct drawing *d, const char *command, const char *out, int force);

/* Draws. EXIT_GOOD, or EXIT_BAD after a message: then there is no file. */
int drawing_close(struct drawing *d);

/* Text in gnuplot's single quotes, in which nothing is a command: no line ends, no control
 * characters; a quote in it becomes a string of its own. */
void drawing_print_quoted(FILE *to, const char *prefix, const char *text);

/* 1 if text has this ending. */
int text_ends_with(const char *text, const char *suffix);

#endif
