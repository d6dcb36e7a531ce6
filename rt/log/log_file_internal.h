/** The file that a recorder writes: made anew, with a number where one is asked for, never over
 *  another unless that is asked for. */
#ifndef TACT_RT_LOG_LOG_FILE_INTERNAL_H
#define TACT_RT_LOG_LOG_FILE_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include "../../contact/error.h"
#include "recorder.h"

/** Opens the first file of a recording for writing: empty, locked. *name: its path, to be freed,
 *  with a number for "%n"; *made: there was none of that name.
 *  @retval fd, or -EEXIST, -EBUSY, -ENOMEM or the errno of open() with *err filled */
int tact_log_file_first(const char *path, const struct tact_recorder_options *options, char **name,
                        bool *made, struct tact_error *err);

/** Opens a further file, likewise. */
int tact_log_file_next(const char *path, int replace, bool *made, struct tact_error *err);

/** Where a process may only make small files, the kernel sends SIGXFSZ to who makes a larger one,
 *  and that kills by default. Between these two calls this thread is not sent one, and the write
 *  fails with EFBIG. */
struct tact_size_signal {
    sigset_t before;
    bool was_pending;
};
struct tact_size_signal tact_size_signal_block(void);
void tact_size_signal_restore(const struct tact_size_signal *state);

#endif
