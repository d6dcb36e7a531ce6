/* Copies of logs with changes made by a test: records as the reader returns them are written with
 * a list of contacts again where the log had one. */
#ifndef TACT_TESTS_REWRITE_H
#define TACT_TESTS_REWRITE_H

#include "rt/log/log_reader.h"
#include "rt/log/recorder.h"

struct log_rewrite {
    const struct tact_log *log;
    struct tact_layout layout;
    const char **owners; /* by shape */
    size_t owner_count;
};

/* Prepares the layout of a log's copy. Returns 0, or -1 without memory. Call
 * free_log_copy_buffers() in any case. */
int open_recorder_of_log_copy(struct log_rewrite *r, const struct tact_log *log);
void free_log_copy_buffers(struct log_rewrite *r);

/* Recorder content of the log copy: its layout and the names of shape owners; the caller sets the
 * other members. */
struct tact_recorder_content recorder_content_of_log_copy(const struct log_rewrite *r);

/* Converts a record as the reader returned it into the layout of the copy; `to` has room for
 * tact_layout_bytes() of that layout. */
void convert_record_to_copy_layout(const struct log_rewrite *r, const struct tact_record *from,
                                   struct tact_record *to);

/* Waits for room in the recorder and commits the record. Returns 0, or -1 where there is no
 * room. */
int append_record_to_log_copy(const struct log_rewrite *r, const struct tact_record *from,
                              struct tact_recorder *to);

#endif
