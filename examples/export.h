/* A log in formats that other programs read. Doubles keep every bit. */
#ifndef TACT_EXAMPLES_EXPORT_H
#define TACT_EXAMPLES_EXPORT_H

#include "contact/error.h"
#include "output.h"
#include "rt/log/log_reader.h"

/* Writes all records that can be read. 0, or a negative errno with *err filled. */
int export_csv(struct tact_log *log, struct output *out, struct tact_error *err);
/* Where the output is a pipe or a device: -ESPIPE. */
int export_hdf5(struct tact_log *log, struct output *out, struct tact_error *err);

#endif
