/* Finds the record of a tick in a log in which ticks may be missing. */
#ifndef TACT_EXAMPLES_LOG_SEEK_H
#define TACT_EXAMPLES_LOG_SEEK_H

#include <stdint.h>
#include "rt/log/log_reader.h"

/* Index of the last record at or before a tick, the first record where none is: what a loop skipped
 * did not move. Where ticks are missing it reads records: the one that the log reads next is then
 * another. 0 or a negative errno. */
int log_find_record(struct tact_log *log, uint64_t tick, uint64_t *index);

#endif
