/**
 * Replay: the session of a log run again by the same tick, from the log alone.
 *
 * Inputs (devices, and moments that a source gave) come from the log; everything else is computed
 * anew and compared with what the log holds, bit by bit. Moments that the host computed are
 * computed again. No device and no OpenCL is needed.
 */
#ifndef TACT_RT_SESSION_REPLAY_H
#define TACT_RT_SESSION_REPLAY_H

#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "../histogram.h"
#include "../log/layout.h"
#include "../message.h"

TACT_BEGIN_DECLS

struct tact_replay_report {
    uint64_t ticks;                    /**< replayed */
    uint64_t values;                   /**< compared */
    uint64_t differing;                /**< of those, not equal to the last bit */
    uint64_t first_tick;               /**< where the first difference is */
    char first_field[TACT_FIELD_NAME]; /**< and in which field, */
    uint32_t first_element;            /**< at which element */
    double logged;                     /**< what the log has there */
    double replayed;                   /**< and what came out */
    uint64_t resyncs; /**< gaps in the log, after which the state was taken from it */
    int complete;     /**< 1: the log is whole */
    uint64_t bytes_lost;
    char damage[256];   /**< what is wrong with the log; "" where it is whole */
    char mismatch[512]; /**< facts of the machine or build that differ from the log's; "" where none
                         */
    struct tact_histogram compute; /**< of the replayed ticks [ns] */
};

/**
 * Replays a log up to its end, or up to where it is damaged.
 * @retval 0  replayed; see report->differing and report->complete
 * @retval -EINVAL  not a log of tact, or its scene does not give the layout it was recorded with
 * @retval -errno of reading the file. *err tells. Not real-time safe.
 */
TACT_API int tact_replay_run(const char *path, struct tact_messages messages,
                             struct tact_replay_report *report, struct tact_error *err);

TACT_END_DECLS

#endif
