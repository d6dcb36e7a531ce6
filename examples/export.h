/* Exporting a log to formats of other programs. Doubles are exact. */
#ifndef TACT_EXAMPLES_EXPORT_H
#define TACT_EXAMPLES_EXPORT_H

#include "contact/error.h"
#include "output.h"
#include "rt/log/log_reader.h"
#include "rt/session/scene_log.h"

/* Names of the columns, by the scene in the log. */
struct export_names {
    struct tact_scene_log scene_log;
    /* name of each double of a record: link, channel, output; NULL: by number */
    const char **element_name;
    uint32_t count;
    const char *time; /* name of the column of times */
    double period;    /* [s]; NaN: unknown */
};

/* export_names.c: returns 0 or -ENOMEM; a log without a readable scene has no names. Must be
 * closed in either case. */
int export_names_read_log(struct export_names *names, struct tact_log *log);
void export_names_close(struct export_names *names);

/* Exporting functions: write all records of a log that can be read. Return 0, or a negative errno
 * with *err filled. */
typedef int export_writer_function(struct tact_log *log, const struct export_names *names,
                                   struct output *out, struct tact_error *err);
int export_csv(struct tact_log *log, const struct export_names *names, struct output *out,
               struct tact_error *err);
/* Writes a log as HDF5. Returns -ESPIPE if the output is a pipe or a device. */
int export_hdf5(struct tact_log *log, const struct export_names *names, struct output *out,
                struct tact_error *err);
/* export_html.c: the page of the viewer with the session in it. */
int export_html(struct tact_log *log, const struct export_names *names, struct output *out,
                struct tact_error *err);

#endif
