/* Creating the file of a log: "%n" becomes a number, and an existing file is replaced only on
 * request. */
#ifndef TACT_RT_LOG_LOG_FILE_INTERNAL_H
#define TACT_RT_LOG_LOG_FILE_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include "../../contact/error.h"
#include "recorder.h"

/* Opens the first file of a recording for writing: empty and locked. *name: its path, to be freed,
 * with a number for "%n"; *made: true if the file did not exist and was created.
 * @retval fd, or -EEXIST, -EBUSY, -ENOMEM or the errno of open() with *err set */
int tact_log_file_create_first(const char *path, const struct tact_recorder_options *options,
                               char **name, bool *made, struct tact_error *err);

/* Opens a later file of a recording in the same way as the first one. */
int tact_log_file_create_part(const char *path, int replace, bool *made, struct tact_error *err);

/* With RLIMIT_FSIZE, the kernel sends SIGXFSZ to a thread that exceeds it, which terminates the
 * process by default. Between these two calls the signal is blocked in this thread, and the write
 * fails with EFBIG. */
struct tact_sigxfsz_mask {
    sigset_t before;
    bool was_sigxfsz_pending;
};
struct tact_sigxfsz_mask tact_sigxfsz_block(void);
void tact_sigxfsz_restore(const struct tact_sigxfsz_mask *state);

#endif
