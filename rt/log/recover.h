/**
 * Completing the log of a killed recorder.
 *
 * A tick stays in the recorder's rings until it is in the file, and the rings are shared memory
 * (/dev/shm) that outlives the process. Recovery appends the elements that the file lacks, each
 * once and in order, and writes the index and the end of the file. It checks everything before it
 * changes anything, and may itself be killed and started again.
 */
#ifndef TACT_RT_LOG_RECOVER_H
#define TACT_RT_LOG_RECOVER_H

#include <stdbool.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"

TACT_BEGIN_DECLS

/** Result of a recovery. */
struct tact_recover_report {
    bool was_complete; /**< the log was complete before */
    bool rings; /**< the recorder's rings were found; without them the last ticks may be missing */
    uint64_t ticks;        /**< number of ticks in the log after the recovery */
    uint64_t ticks_added;  /**< number of ticks in the log that came from the rings */
    uint64_t ticks_lost;   /**< ticks that were committed, but are damaged in the rings */
    uint64_t events;       /**< number of events in the log now */
    uint64_t events_added; /**< number of events that came from the rings */
    uint64_t events_lost;  /**< committed, but damaged in the rings */
    uint64_t bytes_cut;    /**< bytes of a truncated record that was being written when the recorder
                              was killed */
    bool counters_damaged; /**< the rings' counters were invalid: more ticks may be lost */
    uint64_t bytes_covered; /**< bytes of damage in the log, now inside private records */
    uint64_t ticks_damaged; /**< ticks lost in the damaged bytes, as far as known */
    char damage[256];       /**< offset of the damage and the ticks in it as text; "" if none */
};

/**
 * Completes a log in place and removes its rings. Adds the facts "recovered_ticks",
 * "recovered_events" and "lost_ticks", and for a damaged log "damaged_ticks" and "damage".
 * ring_folder: as in the recorder's options; NULL: /dev/shm. report may be NULL. Not real-time
 * safe.
 *
 * In a log without an end, each damaged chunk is lost, except for ticks that the rings still
 * contain. A damaged index of messages is rewritten. All other damage is covered: its first bytes
 * become the header of a private record, which other readers skip. The log then remains incomplete
 * and states which ticks are lost.
 * @retval 0        the log is complete; losses are in the report
 * @retval -EBUSY   it is being recorded or read
 * @retval -EINVAL  not an MCAP file, or not a log of tact
 * @retval -ENODATA nothing was recorded: no tick in the file, and no rings
 * @retval -EBADMSG nothing was changed: the log has an end and is damaged (readers skip the
 *                  damage), or the rings are damaged or of another log; see *err
 * @retval -EPERM   the rings belong to another user
 * @retval -errno   of reading or writing
 */
TACT_API int tact_log_recover(const char *path, const char *ring_folder,
                              struct tact_recover_report *report, struct tact_error *err);

TACT_END_DECLS

#endif
