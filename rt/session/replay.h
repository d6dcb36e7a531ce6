/**
 * Replay: runs the session of a log again with the same tick, from the log alone.
 *
 * Inputs (devices, and moments of a source) are read from the log; everything else is recomputed
 * and compared with the log, bit for bit. Moments that the host computed are recomputed. Neither a
 * device nor OpenCL is needed.
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

/** Source of the moments of a replay. */
enum tact_replay_moments {
    TACT_REPLAY_LOGGED, /**< moments of a source are taken from the log */
    TACT_REPLAY_HOST,   /**< all recomputed on the host */
    TACT_REPLAY_SOURCE, /**< all moments from another source, whose result is awaited in every tick
                         */
};

struct tact_log;
struct tact_scene_log;

/** Options of a replay. */
struct tact_replay_options {
    double from;    /**< first tick; the state before it is read from the log [ticks] */
    double to;      /**< the tick after the last one; 0: the end of the log [ticks] */
    int in_seconds; /**< bit 0: `from` is a time [s] and not a tick; bit 1: `to` is one */
    int moments;    /**< enum tact_replay_moments */
    tact_source_factory source; /**< creates the moment source for TACT_REPLAY_SOURCE */
    void *source_user;          /**< submitted to source */
    int each; /**< 1: every tick starts from the state in the log, and shows the differences of that
                 tick alone */
    int realtime; /**< 1: each tick is due at its recorded time after the first, on a thread of
                     normal priority */
    /** Name of a device to which the log's outputs to the device of that name are written; implies
     * realtime. NULL: none. It is opened as `scene` states, which also determines a safety chain
     * that starts disarmed: the limits, rates and filters of its outputs to that device, and its
     * deadman, which is read from the device of that scene. Those of the log are not used. */
    const char *playback_device;
    /** scene with the limits of playback_device and a deadman, else NULL */
    const struct tact_scene *scene;
    const struct tact_device_type *const *types; /**< device types, for playback_device */
    size_t type_count;                           /**< number of device types */
    struct tact_stop *stop;        /**< request to stop, checked before every tick; or NULL */
    const char *local;             /**< local solver, "cone" or "bouchard"; NULL: the scene's */
    struct tact_messages messages; /**< callback for messages */
    /** Called after every replayed tick; may be NULL. */
    void (*compared)(void *user, const struct tact_layout *layout, const struct tact_record *logged,
                     const struct tact_record *replayed);
    /** Called before every tick, and after the last one; may be NULL. *next is the tick to be
     * replayed, or the one after the last. The function may wait, and may choose another tick of
     * the log, which then starts from the state in the log before it. Returns 0; 1 ends the replay.
     */
    int (*turn)(void *user, struct tact_scene_log *view, const struct tact_log *log,
                uint64_t *next);
    /** Called with the session after the last tick; may be NULL. */
    void (*ended)(void *user, struct tact_session *session);
    void *user; /**< argument of the callbacks compared, turn and ended */
};

/** Result of a replay. */
struct tact_replay_report {
    uint64_t ticks;                    /**< replayed */
    uint64_t values;                   /**< compared */
    uint64_t differing;                /**< number of compared values not equal bit for bit */
    uint64_t first_tick;               /**< tick of the first value that differs from the log */
    char first_field[TACT_FIELD_NAME]; /**< field of the first value that differs from the log */
    uint32_t first_element; /**< index in its field of the first value that differs from the log */
    double logged;          /**< value in the log [any] */
    double replayed;        /**< value in the replay [any] */
    uint64_t resyncs;    /**< gaps of ticks that ran but are not in the log, after which the state
                            was read from it */
    int complete;        /**< 1: the log is undamaged */
    uint64_t bytes_lost; /**< damaged bytes of the log that were not used */
    char damage[256];    /**< description of the damage; "" where there is none */
    int results_version; /**< results version of the log's writer, see tact_log_results_version() */
    char mismatch[512];  /**< facts of the machine or build that differ from the log's, the results
                            version first; "" where none do */
    struct tact_histogram compute; /**< compute times of the replayed ticks [ns] */
    int64_t took_ns;               /**< time from opening the log to the last comparison */
    int64_t session_ns; /**< sum of the compute times that the log has of the replayed ticks [ns] */
    uint64_t playback_ticks; /**< ticks with outputs written to playback_device */
    uint64_t playback_armed; /**< number of ticks in which the deadman of playback_device was held;
                                in all others zero was written to the device */
    uint64_t playback_limited; /**< values for playback_device that its limits or rates changed */
    int playback_fault;        /**< 1: a value in the log was not finite: zero from then on */
};

/** The first or last tick of a range: the value itself, or the first tick not before a time [s].
 * period [s]. Real-time safe. */
TACT_API uint64_t tact_replay_tick(double value, int in_seconds, double period);

/**
 * Replays a log up to its end, or up to damage.
 * @retval 0  replayed; see report->differing and report->complete
 * @retval -EINVAL  not a log of tact, or its scene does not result in the layout that it was
 * recorded with
 * @retval -errno of reading the file. *err states the reason.
 * Not real-time safe.
 */
TACT_API int tact_replay_run(const char *path, struct tact_messages messages,
                             struct tact_replay_report *report, struct tact_error *err);

/** Defaults: the whole log, as recorded, as in tact_replay_run(). Real-time safe. */
TACT_API struct tact_replay_options tact_replay_options_default(void);

/**
 * Replays a part of a log, or all of it with other moments or another solver. The inputs of the
 * devices are read from the log; the state evolves freely from the first tick on or, with `each`,
 * for one tick at a time.
 * @retval -EINVAL  a playback_device without a scene, or with one that has no deadman or no limit
 * for an output of the log; or no tick of the log is in the range
 * @retval -ENODATA  the log lacks the state before each tick of the range
 * @retval -ENODEV, or another errno of the source; others as tact_replay_run().
 * Not real-time safe.
 */
TACT_API int tact_replay_run_with(const char *path, const struct tact_replay_options *options,
                                  struct tact_replay_report *report, struct tact_error *err);

TACT_END_DECLS

#endif
