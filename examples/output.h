/* A file that a subcommand makes: never over one that exists unless --force is given, never over
 * what is read, and never half of it under its name. */
#ifndef TACT_EXAMPLES_OUTPUT_H
#define TACT_EXAMPLES_OUTPUT_H

#include <stdio.h>

struct output {
    const char *command; /* "tact NAME", for messages */
    const char *path;    /* as it was asked for */
    char *final;         /* where it goes: the target, where path is a link that is replaced */
    char *beside; /* what is written until it is whole; NULL: path is a pipe or a device, and is
                     written itself */
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

/* Opens a file beside path. EXIT_GOOD, or EXIT_BAD having said why. */
int output_open(struct output *o, const char *command, const char *path, int force);

/* Closes it; with code EXIT_GOOD or one that says that what could be read was written (keep), it
 * gets its name, else it is removed. Gives code, or EXIT_BAD having said why it is not there. */
int output_close(struct output *o, int code, int keep);

#endif
