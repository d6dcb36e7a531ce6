/**
 * Finishing the log of a recorder that was killed.
 *
 * A tick stays in the recorder's rings until it is in the file, and the rings are shared memory
 * (/dev/shm) that outlives the process. Recovery takes from them what the file lacks, in its place
 * and once, and writes the index and the end of the file. It checks everything before it changes
 * anything, and may itself be killed and started again.
 */
#ifndef TACT_RT_LOG_RECOVER_H
#define TACT_RT_LOG_RECOVER_H

#include <stdbool.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"

TACT_BEGIN_DECLS

/** What recovery did. */
struct tact_recover_report {
    bool was_complete;     /**< the log was finished already */
    bool rings;            /**< its recorder left rings; without, the end may be missing */
    uint64_t ticks;        /**< in the log now */
    uint64_t ticks_added;  /**< of them from the rings */
    uint64_t ticks_lost;   /**< that were committed, but are damaged in the rings */
    uint64_t events;       /**< in the log now */
    uint64_t events_added; /**< of them from the rings */
    uint64_t events_lost;  /**< that were committed, but are damaged in the rings */
    uint64_t bytes_cut;    /**< of a record that was being written when the recorder was killed */
    bool counters_damaged; /**< the rings' counters were not right: more ticks may be lost */
    uint64_t
        bytes_covered; /**< of damage in the log, which stay there under a record of tact's own */
    uint64_t ticks_damaged; /**< that were in them, as far as that is known, and are lost */
    char damage[256];       /**< where they are, and which ticks were in them; "" without */
};

/**
 * Finishes a log in place and removes its rings. The facts "recovered_ticks", "recovered_events"
 * and "lost_ticks" are added to it, and where it has damage "damaged_ticks" and "damage".
 * ring_folder: as in the recorder's options; NULL: /dev/shm. report may be NULL. Not real-time
 * safe.
 *
 * Damage in a log without an end costs the chunks that it hits. Their ticks are taken from the
 * rings as far as these still hold them. An index of messages that is damaged is written anew. The
 * first bytes of all other damage are replaced by the head of a record that covers the rest, so
 * that every reader passes over it; the log stays one that is not complete, and says which ticks
 * are lost.
 * @retval 0        the log is whole now, or was so; see report for what could not be had
 * @retval -EBUSY   it is still being recorded, or read
 * @retval -EINVAL  not an MCAP file, or not a log of tact
 * @retval -ENODATA nothing was recorded: no tick in the file, and no rings
 * @retval -EBADMSG the log is damaged and has an end: it is read without that part; or the rings
 *                  are damaged, or another log's. *err tells; nothing was changed
 * @retval -EPERM   the rings belong to somebody else
 * @retval -errno   of reading or writing
 */
TACT_API int tact_log_recover(const char *path, const char *ring_folder,
                              struct tact_recover_report *report, struct tact_error *err);

TACT_END_DECLS

#endif
