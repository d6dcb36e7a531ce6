/* The session to which a log states that it belongs, and the number of the file in it. */
#ifndef TACT_EXAMPLES_LOG_PART_H
#define TACT_EXAMPLES_LOG_PART_H

#include <stdbool.h>

/* Whether a file is a log of tact whose intact facts state this session and the number of this file
 * in it. It need not have a tick, without which tact_log_open() refuses it. False also for a file
 * that cannot be read. */
bool is_log_part(const char *path, const char *session, unsigned number);

#endif
