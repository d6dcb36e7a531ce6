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
#include "session.h"

TACT_BEGIN_DECLS

/** Where the moments of a replay come from. */
enum tact_replay_moments {
    TACT_REPLAY_LOGGED, /**< those that a source gave: from the log */
    TACT_REPLAY_HOST,   /**< all measured anew on the host */
    TACT_REPLAY_SOURCE, /**< all from another source, waited for at every tick */
};

struct tact_log;
struct tact_view;

/** What is replayed, and how. */
struct tact_replay_options {
    double from;    /**< first tick; the state before it is taken from the log [ticks] */
    double to;      /**< the tick after the last one; 0: the end of the log [ticks] */
    int in_seconds; /**< bit 0: from, bit 1: to is a time [s], not a tick */
    int moments;    /**< enum tact_replay_moments */
    tact_source_factory source; /**< for TACT_REPLAY_SOURCE */
    void *source_user;          /**< handed to source */
    int each; /**< 1: every tick begins in the state that the log has, and shows what it alone does
               */
    int realtime; /**< 1: a tick at its time after the first one, on a thread of normal priority */
    /** Device that is opened and given what the log sent to the one of that name; implies realtime.
     *  NULL: none. It is opened as `scene` says, by which a chain is set up that starts disarmed:
     *  the limits, rates and filters of its outputs to that device, and its deadman, which is read
     *  live from that scene's device. What the log has of these is not used. */
    const char *onto;
    const struct tact_scene *scene;              /**< for onto, else NULL; with a deadman */
    const struct tact_device_type *const *types; /**< device types, for onto */
    size_t type_count;                           /**< number of device types */
    struct tact_stop *stop;                      /**< or NULL; looked at before every tick */
    const char *local;             /**< local solver, "cone" or "bouchard"; NULL: the scene's */
    struct tact_messages messages; /**< where messages go */
    /** Called with every tick that was replayed; may be NULL. */
    void (*compared)(void *user, const struct tact_layout *layout, const struct tact_record *logged,
                     const struct tact_record *replayed);
    /** Called before every tick, and once there is none left, or NULL. *next is the tick that is
     * replayed next, after the last one where none is left. It may wait, and may set another tick
     * of the log: that one begins in the state that the log has before it. Returns 0; 1: the
     * replay ends here. */
    int (*turn)(void *user, struct tact_view *view, const struct tact_log *log, uint64_t *next);
    /** Called with the session once the last tick was replayed; may be NULL. */
    void (*ended)(void *user, struct tact_session *session);
    void *user; /**< handed to compared, turn and ended */
};

/** What came of a replay. */
struct tact_replay_report {
    uint64_t ticks;                    /**< replayed */
    uint64_t values;                   /**< compared */
    uint64_t differing;                /**< of those, not equal to the last bit */
    uint64_t first_tick;               /**< where the first difference is */
    char first_field[TACT_FIELD_NAME]; /**< and in which field, */
    uint32_t first_element;            /**< at which element */
    double logged;                     /**< what the log has there */
    double replayed;                   /**< and what came out */
    uint64_t resyncs;    /**< gaps in the log, after which the state was taken from it */
    int complete;        /**< 1: the log is whole */
    uint64_t bytes_lost; /**< damaged bytes of the log that were not used */
    char damage[256];    /**< what is wrong with the log; "" where it is whole */
    int results_version; /**< that made the log, see tact_log_results_version() */
    char mismatch[512];  /**< facts of the machine or build that differ from the log's, the results
                              version first; "" where none */
    struct tact_histogram compute; /**< of the replayed ticks [ns] */
    int64_t took_ns;               /**< from opening the log to the last comparison */
    int64_t session_ns;  /**< what those ticks took to compute when they were recorded, summed up */
    uint64_t onto_ticks; /**< in which the device was written */
    uint64_t onto_armed; /**< of those, with its deadman held; in all others it got zero */
    uint64_t onto_limited; /**< values that its limits or rates have changed */
    int onto_fault;        /**< 1: the log had a value that is not finite: zero from there on */
};

/** The tick that a range begins or ends with: the value itself, or the first tick that is not
 *  before a time [s]. period [s]. Real-time safe. */
TACT_API uint64_t tact_replay_tick(double value, int in_seconds, double period);

/**
 * Replays a log up to its end, or up to where it is damaged.
 * @retval 0  replayed; see report->differing and report->complete
 * @retval -EINVAL  not a log of tact, or its scene does not give the layout it was recorded with
 * @retval -errno of reading the file. *err tells. Not real-time safe.
 */
TACT_API int tact_replay_run(const char *path, struct tact_messages messages,
                             struct tact_replay_report *report, struct tact_error *err);

/** The whole log, as it was: what tact_replay_run() does. Real-time safe. */
TACT_API struct tact_replay_options tact_replay_options_default(void);

/** Replays a part of a log, or all of it with other moments or another solver: the inputs of the
 *  devices come from the log, the state goes its own way from the first tick on, or, with `each`,
 *  for a tick at a time.
 *  @retval -EINVAL  onto without a scene, or with one that has no deadman or no limit for what the
 *                   log has; or no tick of the log is between from and to
 *  @retval -ENODATA  the log lacks the state before each of those ticks
 *  @retval -ENODEV, or another errno of the source; others as tact_replay_run(). Not real-time
 * safe.
 */
TACT_API int tact_replay_run_with(const char *path, const struct tact_replay_options *options,
                                  struct tact_replay_report *report, struct tact_error *err);

TACT_END_DECLS

#endif
