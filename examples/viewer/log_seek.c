#include "log_seek.h"

#include <errno.h>
#include <stdlib.h>

int log_find_record(struct tact_log *log, uint64_t tick, uint64_t *index)
{
    const struct tact_log_state *state = tact_log_state(log);
    const uint64_t most = state->ticks ? state->ticks - 1 : 0;
    const uint64_t ticks_after_first = tick > state->first_tick ? tick - state->first_tick : 0;
    /* each tick missing from the log shifts the index of all later records by one */
    uint64_t high = ticks_after_first < most ? ticks_after_first : most;
    uint64_t low = ticks_after_first > state->missing ? ticks_after_first - state->missing : 0;
    low = low < high ? low : high;
    struct tact_record *record =
        low < high ? malloc(tact_layout_bytes(tact_log_layout(log))) : NULL;
    int rc = low == high || record ? 0 : -ENOMEM;
    while (!rc && low < high) {
        const uint64_t middle = high - (high - low) / 2;
        rc = tact_log_seek(log, middle);
        rc = rc ? rc : tact_log_next(log, record) == 1 ? 0 : -EIO;
        if (!rc && record->tick <= tick) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    free(record);
    *index = low;
    return rc;
}
