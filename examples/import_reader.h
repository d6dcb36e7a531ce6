/* Files of foreign types, which a process of its own reads: reader_process.h. */
#ifndef TACT_EXAMPLES_IMPORT_READER_H
#define TACT_EXAMPLES_IMPORT_READER_H

#include <stddef.h>
#include "contact/error.h"

/* Has the file read by a program of that name, beside this one or installed, with the file's type
 * as its argument, and returns what it writes, to be freed: OBJ text, NULL where it is empty.
 * Returns 0 or a negative errno with the message. */
int import_read_in_other_process(const char *path, const char *program, const char *type,
                                 char **text, size_t *text_size, struct tact_error *err);

#endif
