/* An output file of a subcommand: an existing one is replaced only with --force, an input never,
 * and an incomplete file never gets its name. */
#ifndef TACT_EXAMPLES_OUTPUT_H
#define TACT_EXAMPLES_OUTPUT_H

#include <stdio.h>

struct output {
    const char *command;  /* "tact NAME", for messages */
    const char *path;     /* the path as given by the user */
    char *target_path;    /* path of the file that is written: the target if `path` is a link */
    char *temporary_path; /* path of the temporary file; NULL: path is a pipe or a device, and is
                     written itself */
    FILE *to;             /* writes to fd, and keeps the first error, which stdio forgets */
    int fd, write_error;  /* errno of the first write that failed; 0: none */
    int force;
};

/* Text of --force in the help of each subcommand. */
#define OUTPUT_FORCE_HELP "  --force              replace a file that exists\n"

/* Whether path can be created: it is absent, a pipe or device, or --force is set; and it is
 * none of the input files (NULL entries are ignored). Returns EXIT_GOOD, or EXIT_USAGE after a
 * message. */
int is_output_allowed(const char *command, const char *path, int force, const char *const *inputs,
                      int count);

/* Creates a temporary file in path's folder. *o stays where it is until it is closed. EXIT_GOOD, or
 * EXIT_BAD after a message. */
int output_open(struct output *o, const char *command, const char *path, int force);

/* Closes it; with code EXIT_GOOD, or another one and keep, it is renamed to path, else removed.
 * Returns code, or EXIT_BAD after a message. */
int output_close(struct output *o, int code, int must_keep_incomplete_file);

#endif
