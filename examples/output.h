/* An output file of a subcommand: an existing one is replaced only with --force, an input never,
 * and an incomplete file never gets its name. */
#ifndef TACT_EXAMPLES_OUTPUT_H
#define TACT_EXAMPLES_OUTPUT_H

#include <stdio.h>

struct output {
    const char *command; /* "tact NAME", for messages */
    const char *path;    /* as it was asked for */
    char *final;         /* where it goes: the target, where path is a link that is replaced */
    char *beside; /* path of the temporary file; NULL: path is a pipe or a device, and is written
                     itself */
    FILE *to;
    int force;
};

/* What --force says in the help of each. */
#define OUTPUT_FORCE_HELP "  --force              replace a file that exists\n"

/* Whether path may be made: there is nothing, or a pipe or device, or --force; and it is none of
 * the files that are read (a NULL in the list is left out). EXIT_GOOD, or EXIT_USAGE having said
 * why. */
int output_allowed(const char *command, const char *path, int force, const char *const *inputs,
                   int count);

/* Creates a temporary file in path's folder. EXIT_GOOD, or EXIT_BAD after a message. */
int output_open(struct output *o, const char *command, const char *path, int force);

/* Closes it; with code EXIT_GOOD, or another one and keep, it is renamed to path, else removed.
 * Returns code, or EXIT_BAD after a message. */
int output_close(struct output *o, int code, int keep);

#endif
