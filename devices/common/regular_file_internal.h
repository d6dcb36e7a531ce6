/* Opening a file that a user names, which must be one that can be read from start to end. */
#ifndef TACT_DEVICES_REGULAR_FILE_INTERNAL_H
#define TACT_DEVICES_REGULAR_FILE_INTERNAL_H

#include <stdio.h>
#include "../../contact/error.h"

/* Opens a regular file for reading; a named pipe is refused without waiting for its other end.
 * *err gets the text only: the caller has set the file. Returns NULL with *rc set to a negative
 * errno. */
FILE *tact_regular_file_open(const char *path, int *rc, struct tact_error *err);

#endif
