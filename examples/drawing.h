/* A picture drawn by gnuplot, or the script that would draw it. */
#ifndef TACT_EXAMPLES_DRAWING_H
#define TACT_EXAMPLES_DRAWING_H

#include <stdio.h>

struct drawing {
    const char *command; /* "tact NAME", for messages */
    const char *out;
    const char *terminal; /* "pngcairo", "svg", or NULL for a script */
    FILE *to;             /* the script goes here */
};

/* out ends in .png, .svg or .gp; command is for messages. EXIT_GOOD, or EXIT_USAGE having said why.
 */
int drawing_open(struct drawing *d, const char *command, const char *out);

/* EXIT_GOOD, or EXIT_BAD having said why. */
int drawing_close(struct drawing *d);

/* 1 where text ends so. */
int ends_with(const char *text, const char *ending);

#endif
