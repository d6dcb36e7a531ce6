/* Copies of logs with changes made by a test: records as the reader returns them are written with
 * a list of contacts again where the log had one. */
#ifndef TACT_TESTS_REWRITE_H
#define TACT_TESTS_REWRITE_H

#include "rt/log/log_reader.h"
#include "rt/log/recorder.h"

struct rewrite {
    const struct tact_log *log;
    struct tact_layout layout;
    const char **owners; /* by shape */
    size_t owner_count;
};

/* Returns 0, or -1 without memory. Call end_log_copy() in any case. */
int begin_log_copy(struct rewrite *r, const struct tact_log *log);
void end_log_copy(struct rewrite *r);

/* Layout and names; the caller sets the other members. */
struct tact_recorder_content log_copy_content(const struct rewrite *r);

/* Converts a record of the reader for the recorder; `to` has room for tact_layout_bytes() of the
 * copy's layout. */
void convert_record_for_copy(const struct rewrite *r, const struct tact_record *from,
                             struct tact_record *to);

/* Waits for room in the recorder and commits the record. Returns 0, or -1 where there is no
 * room. */
int write_record_to_copy(const struct rewrite *r, const struct tact_record *from,
                         struct tact_recorder *to);

#endif
