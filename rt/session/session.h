/**
 * A session: a scene wired to devices, a moment source and a log, and run by the loop.
 *
 * Any program can run one: load a scene, create a session with the device types and the moment
 * source it wants, run it, read the report; or step it in a loop of its own. The tick itself is the
 * same in real time, free-wheeling, stepped and in a replay.
 */
#ifndef TACT_RT_SESSION_SESSION_H
#define TACT_RT_SESSION_SESSION_H

#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "../../contact/world/world.h"
#include "../device.h"
#include "../histogram.h"
#include "../log/recorder.h"
#include "../log/topics.h"
#include "../loop.h"
#include "../message.h"
#include "../safety.h"
#include "../source.h"
#include "../scene/scene.h"

TACT_BEGIN_DECLS

/** Makes a moment source for a scene. device: what the scene asks for, or NULL; period_ns: of the
 *  loop. 0, or a negative errno with *err filled: the session then falls back to the host, and says
 *  so, unless the scene insists. */
typedef int (*tact_source_factory)(void *user, const struct tact_source_scene *scene,
                                   const char *device, int64_t period_ns,
                                   struct tact_messages messages, struct tact_source *out,
                                   struct tact_error *err);

/** Why the outputs are zero from a tick on: a state that is not finite or too fast (see `max_speed`
 * of the scene), a hand that cannot be solved, an output or a target of a
 * controller that is not finite, a pair that cannot be measured, no room for a contact. */
struct tact_session_fault {
    char text[224]; /**< "body ruler: its pose is not finite"; "": none */
    uint64_t tick;  /**< the first with it */
};

/** What a person watches while it runs; written by the tick, read by anyone. */
struct tact_session_status {
    uint64_t tick;                   /**< tick that this is the status of, from 0 */
    double time;                     /**< of the scene [s] */
    int64_t wake_ns;                 /**< wake latency of this tick */
    int64_t compute_ns;              /**< of the tick before, begin to end */
    uint64_t missed;                 /**< ticks that missed their deadline so far */
    uint64_t fallbacks;              /**< pairs measured on the host although a source is there */
    uint64_t unmeasured;             /**< pairs, times ticks, that could not be measured so far */
    int32_t unmeasured_pair;         /**< the first of them, or -1 */
    uint32_t age;                    /**< oldest moments used in this tick [ticks], 0: host only */
    int32_t contacts;                /**< touching pairs */
    int32_t iterations;              /**< sweeps */
    double residual;                 /**< of the solve [1] */
    double normal_force;             /**< sum over the touching pairs [N] */
    int32_t safety;                  /**< enum tact_safety_state */
    uint64_t faults;                 /**< how often it came to a fault so far */
    struct tact_session_fault fault; /**< the last of them; it stands while safety is a fault */
    int32_t deadman;                 /**< 1: held, or none is asked for */
    uint64_t trips;                  /**< of the safety chain so far */
    int32_t devices_lost;            /**< devices that are lost or stale now */
    uint64_t overruns;               /**< records that did not fit in the log's ring */
};

/** What a controller begins a tick with. Pointers are valid during the call. Joints are those of
 *  all hands, hand by hand and link by link: see tact_session_find_joint(). */
struct tact_session_state {
    uint64_t tick;        /**< that is to come, from 0 */
    double time;          /**< of the scene, tick * period [s] */
    int32_t deadman;      /**< 1: held, or the scene asks for none; 0: targets have no effect */
    int32_t safety;       /**< enum tact_safety_state after the last tick */
    int joint_count;      /**< number of joints, J */
    const double *q;      /**< [J] joint values [rad] or [m], as measured where they are */
    const double *v;      /**< [J] joint rates [rad/s] or [m/s] */
    const double *torque; /**< [J] of the drives in the last tick [N m] or [N] */
    /** For reading bodies and contacts, see tact_session_world(); in tick 0 none has been solved.
     */
    struct tact_world *world;
};

/**
 * A controller of the program's own: state in, targets out, once a tick, from the thread that
 * ticks, after the devices are read and before the world is solved. Must be real-time safe. target:
 * [J] drive targets [rad] or [m], on entry those that stand: the last tick's, and where the scene's
 * inputs drive a joint, theirs. While the deadman is released they have no effect. One that is not
 * finite is a fault; the last targets then stay. They go into the log as inputs, so that a replay
 * needs no controller.
 */
typedef void (*tact_session_controller)(void *user, const struct tact_session_state *state,
                                        double *target);

struct tact_session;

/**
 * Called at the end of each tick, from the thread that ticks: for programs that show or stream what
 * happens. Reads the session, its world (tact_session_world()) and tact_session_device_state(), and
 * changes nothing. Must be real-time safe. status: of this tick, as in tact_session_step().
 */
typedef void (*tact_session_observer)(void *user, struct tact_session *session,
                                      const struct tact_session_status *status);

/** What a session is made with. */
struct tact_session_options {
    const struct tact_device_type *const *types; /**< device types that scenes may name */
    size_t type_count;                           /**< number of device types */
    tact_source_factory source;                  /**< NULL: host moments only */
    void *source_user;                           /**< handed to source */
    int clock;            /**< enum tact_loop_clock; default TACT_LOOP_REAL */
    uint64_t ticks;       /**< 0: scene.duration / period */
    int require_realtime; /**< 1: fail where real time is refused */
    const char *record;   /**< path of the log, or NULL; see tact_recorder_open() for "%n" */
    int replace; /**< 1: a log of that name is replaced; 0: -EEXIST. What the scene is read from
                      is replaced in no case (-EINVAL) */
    const char *record_devices; /**< folder for the raw streams of its devices, or NULL; those of
                                     these names are replaced with `replace`, but not where the
                                     scene plays one of the folder's */
    /** Facts, attachments, joints, bodies and sensors put into the log beside the session's own, or
     * NULL; its layout and the rest are not looked at. Offsets count from the start of the record,
     * where the scene's first device stands: state, stamp, then a value a channel. */
    const struct tact_recorder_content *also;
    uint64_t
        split_bytes; /**< another file of the log is begun after so many; 0: as the scene says */
    double split_seconds;          /**< ... after so long a time [s]; 0: as the scene says */
    struct tact_stop *stop;        /**< request to stop, or NULL */
    struct tact_messages messages; /**< called from normal threads */
    /** Called about ten times a second from a normal thread while it runs; may be NULL. */
    void (*watch)(void *user, const struct tact_session_status *status);
    void *watch_user;                /**< handed to watch */
    tact_session_controller control; /**< or NULL: targets come from the scene's inputs alone */
    void *control_user;              /**< handed to control */
    tact_session_observer observe;   /**< or NULL */
    void *observe_user;              /**< handed to observe */
};

/** Defaults: real time, the length of the scene, no device types, no log. Real-time safe. */
TACT_API struct tact_session_options tact_session_options_default(void);

#define TACT_SESSION_AGES 16 /**< ages counted one by one; the last bin holds the older ones */

/** What became of a run. Names belong to the session. */
struct tact_session_report {
    struct tact_loop_stats loop; /**< ticks, lateness and compute times of the loop */
    char source[64];             /**< "host", or the source's name */
    uint64_t source_pairs;       /**< pairs measured by the source and used */
    uint64_t host_pairs;         /**< pairs measured on the host */
    uint64_t fallbacks;      /**< of those, although a source is there: late, failed, not started */
    uint64_t fallback_ticks; /**< ticks with at least one fallback */
    uint64_t unmeasured;     /**< pairs, times ticks, that could not be measured: their last overlap
                                  is carried, and 20 such ticks in a row of one are a safety fault */
    uint32_t age;     /**< median age of the source's moments as used [ticks]; 0: none used */
    uint32_t age_max; /**< largest age of the source's moments as used [ticks] */
    uint64_t ages[TACT_SESSION_AGES]; /**< moments used by age [ticks]; 0: host; the last: older */
    struct tact_histogram moments;    /**< time that the moments of a tick took the loop [ns] */
    uint64_t missed_moments; /**< ticks that missed and whose moments took over half a period */
    int contacts;            /**< at the end */
    int contacts_max;        /**< most contacts of a tick */
    double iterations_mean;  /**< over ticks with contacts [1] */
    int iterations_max;      /**< most sweeps of a tick */
    double residual;         /**< at the end [1] */
    double residual_max;     /**< largest residual of a tick [1] */
    uint64_t counts[TACT_SOLVE_COUNTS];    /**< of all solves, by enum tact_solve_count */
    uint64_t methods[TACT_MOMENTS_COUNTS]; /**< of the host's moments, by enum
                                                tact_moments_count */
    uint64_t unconverged;                  /**< ticks that stopped at the limit of sweeps */
    uint64_t solve_failures;               /**< ticks whose solve failed: safety fault */
    int safety;                            /**< enum tact_safety_state at the end */
    uint64_t faults;                       /**< how often it came to a fault */
    struct tact_session_fault fault;       /**< the last of them; it stands where safety says so */
    uint64_t trips;                        /**< trips of the safety chain */
    struct tact_recorder_report recorder;  /**< zero where nothing was recorded */
};

/** Where a pair's moments came from. */
struct tact_session_pair_report {
    uint64_t host_ticks;       /**< ticks in which the host measured it */
    uint64_t source_ticks;     /**< ticks in which the source measured it */
    uint64_t unmeasured_ticks; /**< ticks in which nobody could measure it */
    uint32_t age_max;          /**< oldest result used [ticks] */
    int by_source;             /**< at the end: 1 source, 0 host */
    double cost;               /**< that the host takes for it, or would take [s], at the end */
};

/**
 * Wires a scene: builds the world, opens devices and the source, creates the log. The scene must
 * outlive the session. On failure *err says what, with the scene's file, line and key where the
 * scene is at fault. Not real-time safe.
 * @retval 0, -EINVAL, -ENODEV, -ENOMEM, -E2BIG (a tick's record has no room for so many pairs),
 *         -EINTR (options->stop was requested meanwhile), or the negative errno of a device, the
 * source or the log
 */
TACT_API int tact_session_create(const struct tact_scene *scene,
                                 const struct tact_session_options *options,
                                 struct tact_session **out, struct tact_error *err);

/** Runs to the end, or until stopped; once a session (-EALREADY the second time, or where it was
 *  begun). Outputs are zero afterwards. Returns what tact_loop_run() returns, or where that is 0
 * the negative errno of a log that could not be completed. Not real-time safe. */
TACT_API int tact_session_run(struct tact_session *session, struct tact_session_report *report);

/**
 * Begins a run in a loop of the program's own, once a session: each tact_session_step() is then a
 * tick, until tact_session_end(). Starts the thread that calls `messages` and `watch`. Not
 * real-time safe.
 * @retval 0
 * @retval -EALREADY  it was begun or run before
 */
TACT_API int tact_session_begin(struct tact_session *session);

/**
 * One tick, the same as in tact_session_run(), bit for bit: ticks count from 0 by one a call,
 * whatever the clock says, and the length of the scene does not end them. Calls come from one
 * thread at a time. Real-time safe with options.clock TACT_LOOP_REAL; with TACT_LOOP_FREE it waits
 * for the moment source and for room in the log. planned_ns: when the tick was due, CLOCK_MONOTONIC
 * [ns]: its time stamp, from which lateness is counted; 0: now, or on the free-wheeling clock a
 * period after the tick before. status: of this tick, or NULL.
 * @retval 0
 * @retval -EINVAL  outside tact_session_begin() and tact_session_end()
 * @retval -EINTR   options.stop was requested; nothing was done
 */
TACT_API int tact_session_step(struct tact_session *session, int64_t planned_ns,
                               struct tact_session_status *status);

/**
 * Ends a run that tact_session_begin() began: writes zero to all devices, closes the log, fills
 * *report. Not real-time safe.
 * @retval 0
 * @retval -EINVAL  it was not begun, or ended before
 * @retval -errno   the log could not be completed
 */
TACT_API int tact_session_end(struct tact_session *session, struct tact_session_report *report);

/**
 * Asks for the fault to be cleared in the next tick, whose cause must be gone. Outputs then stay
 * zero: it never arms by itself, but once the deadman was released and is held again, or, in a
 * scene without one, after tact_session_arm(). The log has it as an input and as an event. From any
 * thread. Real-time safe.
 * @retval 0
 * @retval -EBUSY     what raised it, or another cause, was there in the last tick
 * @retval -EALREADY  there is no fault
 */
TACT_API int tact_session_clear_fault(struct tact_session *session);

/**
 * Asks for the outputs of a scene without a deadman to be armed again in the next tick, once its
 * fault was cleared; they ramp up from zero. No effect where they are armed. From any thread.
 * Real-time safe.
 * @retval 0
 * @retval -EPERM  the scene has a deadman: nothing else arms it
 * @retval -EBUSY  there is a fault
 */
TACT_API int tact_session_arm(struct tact_session *session);

/** Writes zero to all devices of a session that was begun and not ended, closes devices, source and
 *  log, and frees everything. NULL is allowed. Not real-time safe. */
TACT_API void tact_session_destroy(struct tact_session *session);

/** Path of its log, with its number where "%n" was asked for; NULL where nothing is recorded.
 * Real-time safe. */
TACT_API const char *tact_session_log_path(const struct tact_session *session);

/**
 * The world: for reading before and after a run, between the steps of a loop of the program's own,
 * and in a controller. What touched in the last tick is then
 *
 *     int count;
 *     const int *near = tact_world_near(world, &count);
 *     for (int i = 0; i < count; i++) {
 *         const struct tact_contact *c = tact_world_contact(world, near[i]);
 *         if (c->touching) { ... }
 *     }
 *
 * with c->wrench on shape c->a, world axes, about c->patch.center [N, N m], and the friction
 * limit's state in c->limits; tact_session_find_pair() gives the index of one pair for
 * tact_world_contact(). Real-time safe.
 */
TACT_API struct tact_world *tact_session_world(struct tact_session *session);

/** Where the pressure of the next tick's contacts goes, of that tick only, from the thread that
 * ticks: an observer, or between two steps. *map is the caller's and not read before that tick.
 * Real-time safe. */
TACT_API void tact_session_take_pressure(struct tact_session *session, struct tact_pressure *map);

/** Layout of a tick's record. Real-time safe. */
TACT_API const struct tact_layout *tact_session_layout(const struct tact_session *session);

/**
 * Copies the record of the tick that has just ended, as its log has it or would have it. For an
 * observer, within its call: the log's slot is read, which the next tick gives to another record.
 * out: tact_layout_bytes() of tact_session_layout(). Returns the bytes that are used of it.
 * Real-time safe.
 */
TACT_API size_t tact_session_record(struct tact_session *session, struct tact_record *out);

/**
 * The topics of its log, whether or not one is recorded, for records of tact_session_layout(); of a
 * view (view.h) those of its log's records, with the times of that. To be freed. Not real-time
 * safe, and not while another thread is in a tick.
 * @retval 0
 * @retval -ENOMEM  *err says so
 */
TACT_API int tact_session_topics(struct tact_session *session, struct tact_topics **out,
                                 struct tact_error *err);

/** State of the index-th device of the scene in the last tick: enum tact_device_state. Real-time
 * safe. */
TACT_API int tact_session_device_state(const struct tact_session *session, int index);

/**
 * Has the next tick write an event `marker` with that text into the log; of several before it the
 * last. text: stays as long as the session. From any thread. Real-time safe.
 * @retval 0
 * @retval -ENOENT  nothing is recorded
 */
TACT_API int tact_session_mark(struct tact_session *session, const char *text);

/** Index of the body, for tact_world_body(); -ENOENT. Bodies that are fixed have none. Not
 * real-time safe, as the next two. */
TACT_API int tact_session_find_body(const struct tact_session *session, const char *name);

/** Index of the joint "hand.link" in the arrays of struct tact_session_state; -ENOENT. Not
 * real-time safe. */
TACT_API int tact_session_find_joint(const struct tact_session *session, const char *name);

/** Index of the pair "a/b", as tact_session_pair_name() gives it, for tact_world_contact();
 *  -ENOENT. Not real-time safe. */
TACT_API int tact_session_find_pair(struct tact_session *session, const char *name);

/** Name of a body by its index; belongs to the session. Real-time safe. */
TACT_API const char *tact_session_body_name(const struct tact_session *session, int body);
/** Name of a link's joint, "hand.link"; belongs to the session. Real-time safe. */
TACT_API const char *tact_session_joint_name(const struct tact_session *session, int hand,
                                             int link);
/** "a/b" for a pair of the world, e.g. "ruler/pinch.left_distal"; belongs to the session. Not
 * real-time safe, and not while another thread is in a tick. */
TACT_API const char *tact_session_pair_name(struct tact_session *session, int pair);

/** The report of one pair so far. Real-time safe. */
TACT_API struct tact_session_pair_report
tact_session_pair_report(const struct tact_session *session, int pair);

/** Pose of the body's frame (not of its centre of mass) now. Real-time safe. */
TACT_API void tact_session_body_pose(struct tact_session *session, int body, struct tact_pose *out);

TACT_END_DECLS

#endif
