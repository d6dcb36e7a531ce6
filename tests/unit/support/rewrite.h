/* Copies of logs, with what a test changes: records as the reader gives them, written with a list
 * of contacts again where the log had one. */
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

/* 0, or -1 where memory is short. rewrite_end() is due in any case. */
int rewrite_begin(struct rewrite *r, const struct tact_log *log);
void rewrite_end(struct rewrite *r);

/* Layout and names; the rest is the caller's. */
struct tact_recorder_content rewrite_content(const struct rewrite *r);

/* A record for the recorder, which has room for tact_layout_bytes() of the copy's layout. */
void rewrite_record(const struct rewrite *r, const struct tact_record *from,
                    struct tact_record *to);

/* Waits for room, and commits. 0, or -1 where there is none. */
int rewrite_put(const struct rewrite *r, const struct tact_record *from, struct tact_recorder *to);

#endif
