/**
 * A session: a scene connected to devices, a moment source and a log, and run by the loop.
 *
 * Any program can run one: it loads a scene, creates a session with its device types and moment
 * source, runs it and reads the report; or it steps the session in a loop of its own. The tick is
 * the same in real time, free-wheeling, stepped and in a replay.
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
#include "../field_cutter.h"
#include "../message.h"
#include "../safety.h"
#include "../source.h"
#include "../scene/scene.h"

TACT_BEGIN_DECLS

/** Creates a moment source for a scene. device: the device that the scene names, or NULL;
 * period_ns: of the loop. Returns 0, or a negative errno with *err set: the session then uses the
 * host and reports it, unless the scene requires the source. */
typedef int (*tact_source_factory)(void *user, const struct tact_source_scene *scene,
                                   const char *device, int64_t period_ns,
                                   struct tact_messages messages, struct tact_source *out,
                                   struct tact_error *err);

/** Reason for which the outputs are zero from a tick on: a state that is not finite or too fast
 * (`max_speed` of the scene), a hand that cannot be solved, an output or a controller's target that
 * is not finite, a pair that cannot be measured, more contacts than the capacity. */
struct tact_session_fault {
    char text[224]; /**< "body ruler: the body's pose is not finite"; "": no fault */
    uint64_t tick;  /**< first tick with the fault */
};

/** Status of a running session; written by the tick, readable from any thread. */
struct tact_session_status {
    uint64_t tick;                   /**< tick of this status, from 0 */
    double time;                     /**< time of the scene [s] */
    int64_t wake_ns;                 /**< wake latency of this tick */
    int64_t compute_ns;              /**< computing time of the tick before, from begin to end */
    uint64_t missed;                 /**< ticks that missed their deadline so far */
    uint64_t fallbacks;              /**< pairs measured on the host although there is a source */
    uint64_t unmeasured;             /**< pairs, times ticks, that could not be measured so far */
    int32_t unmeasured_pair;         /**< the first pair that could not be measured, or -1 */
    uint32_t age;                    /**< oldest moments used in this tick [ticks], 0: host only */
    int32_t contacts;                /**< touching pairs */
    int32_t iterations;              /**< sweeps */
    double residual;                 /**< residual of the solve [1] */
    double normal_force;             /**< sum of the normal forces of all touching pairs [N] */
    int32_t safety;                  /**< enum tact_safety_state */
    uint64_t faults;                 /**< number of faults so far */
    struct tact_session_fault fault; /**< the last fault; it is in effect while safety is a fault */
    int32_t deadman;                 /**< 1: the deadman is held, or the scene has none */
    uint64_t trips;                  /**< trips of the safety chain so far */
    int32_t devices_lost;            /**< devices that are lost or stale at present */
    uint64_t overruns;               /**< records beyond the capacity of the log's ring */
};

/** State at the start of a tick, for a controller. Pointers are valid during the call. Joints are
 * those of all hands, hand by hand and link by link: see tact_session_find_joint(). */
struct tact_session_state {
    uint64_t tick; /**< the tick that begins, from 0 */
    double time;   /**< time of the scene, tick * period [s] */
    int32_t
        deadman;    /**< 1: the deadman is held, or the scene has none; 0: targets have no effect */
    int32_t safety; /**< enum tact_safety_state after the last tick */
    int joint_count; /**< number of joints, J */
    const double *q; /**< [J] joint values [rad] or [m], measured ones where there is a sensor */
    const double *v; /**< [J] joint rates [rad/s] or [m/s] */
    const double *torque; /**< [J] of the drives in the last tick [N m] or [N] */
    /** for reading bodies and contacts, see tact_session_world(); before tick 0 none has been
     * solved */
    struct tact_world *world;
};

/**
 * A controller of the program: reads the state and sets targets once a tick, in the thread of the
 * tick, after the devices are read and before the world is solved. Must be real-time safe. target:
 * [J] drive targets [rad] or [m]; on entry those of the last tick or, where the scene's inputs
 * drive a joint, theirs. While the deadman is released they have no effect. One that is not finite
 * is a fault, and the last targets stay in effect. Targets are logged as inputs, so that a replay
 * needs no controller.
 */
typedef void (*tact_session_controller)(void *user, const struct tact_session_state *state,
                                        double *target);

struct tact_session;

/**
 * Called at the end of each tick, in the thread of the tick, for programs that display or stream
 * the state. It reads the session, its world (tact_session_world()) and
 * tact_session_device_state(), and changes nothing. Must be real-time safe. status: of this tick,
 * as in tact_session_step().
 */
typedef void (*tact_session_observer)(void *user, struct tact_session *session,
                                      const struct tact_session_status *status);

/** Options of a session. */
struct tact_session_options {
    const struct tact_device_type *const *types; /**< device types that scenes may name */
    size_t type_count;                           /**< number of device types */
    tact_source_factory
        source; /**< factory of the moment source; NULL: moments are computed on the host only */
    void *source_user;    /**< passed to source */
    int clock;            /**< enum tact_loop_clock; default TACT_LOOP_REAL */
    uint64_t ticks;       /**< 0: scene.duration / period */
    int require_realtime; /**< 1: fail where real-time scheduling is refused */
    const char *record;   /**< path of the log, or NULL; see tact_recorder_open() for "%n" */
    int replace; /**< 1: an existing log of that name is replaced; 0: -EEXIST. A file that the scene
                    is read from is never replaced (-EINVAL) */
    const char *record_devices; /**< folder for the raw streams of its devices, or NULL; existing
                                   files of these names are replaced with `replace`, unless the
                                   scene plays one of the folder's */
    /** Facts, attachments, joints, bodies and sensors to be logged besides the session's own, or
     * NULL; its layout and other members are ignored. Offsets count from the start of the record,
     * where the scene's first device is: state, stamp, then a value for each channel. */
    const struct tact_recorder_content *also;
    uint64_t split_bytes; /**< a new file of the log is begun after this many bytes; 0: as in the
                             scene */
    double split_seconds; /**< a new log file is started after this time [s]; 0: as in the scene */
    struct tact_stop *stop;        /**< request to stop, or NULL */
    struct tact_messages messages; /**< callback for messages, called from normal threads */
    /** Called with the session's status, about ten times a second from a normal thread during a
     * run; may be NULL. */
    void (*watch)(void *user, const struct tact_session_status *status);
    void *watch_user;                /**< passed to watch */
    tact_session_controller control; /**< controller of the program, or NULL: targets are those of
                                        the scene's inputs only */
    void *control_user;              /**< passed to control */
    tact_session_observer observe;   /**< or NULL */
    void *observe_user;              /**< passed to observe */
};

/** Defaults: real time, the length of the scene, no device types, no log. Real-time safe. */
TACT_API struct tact_session_options tact_session_options_default(void);

#define TACT_SESSION_AGES 16 /**< ages with a bin of their own; the last bin counts older ones */

/** Report of a run. Names belong to the session. */
struct tact_session_report {
    struct tact_loop_stats loop; /**< ticks, lateness and compute times of the loop */
    char source[64];             /**< "host", or the source's name */
    uint64_t source_pairs;       /**< pairs measured by the source and used */
    uint64_t host_pairs;         /**< pairs measured on the host */
    /** pairs measured on the host although there is a source: it was late, failed, or not started
     */
    uint64_t fallbacks;
    uint64_t fallback_ticks; /**< ticks with at least one fallback */
    uint64_t unmeasured; /**< pairs, times ticks, that could not be measured: their last overlap is
                            advanced, and 20 such ticks in a row of one pair are a safety fault */
    uint32_t age;        /**< median age of the source's moments as used [ticks]; 0: none used */
    uint32_t age_max;    /**< largest age of the source's moments as used [ticks] */
    uint64_t ages[TACT_SESSION_AGES]; /**< moments used by age [ticks]; 0: host; the last: older */
    struct tact_histogram moments;    /**< time for the moments of a tick in the loop [ns] */
    uint64_t missed_moments; /**< ticks that missed their deadline with more than half a period for
                                moments */
    int contacts;            /**< at the end */
    int contacts_max;        /**< most contacts of a tick */
    double iterations_mean;  /**< mean number of sweeps of the ticks with contacts [1] */
    int iterations_max;      /**< most sweeps of a tick */
    double residual;         /**< at the end [1] */
    double residual_max;     /**< largest residual of a tick [1] */
    uint64_t counts[TACT_SOLVE_COUNTS];    /**< counts of all solves, by enum tact_solve_count */
    uint64_t methods[TACT_MOMENTS_COUNTS]; /**< methods of the host's moments, by enum
                                              tact_moments_count */
    uint64_t unconverged;                  /**< ticks that stopped at the limit of sweeps */
    uint64_t solve_failures;               /**< ticks whose solve failed: safety fault */
    int safety;                            /**< enum tact_safety_state at the end */
    uint64_t faults;                       /**< number of faults */
    struct tact_session_fault
        fault;      /**< the last fault; it is in effect where `safety` is TACT_SAFETY_FAULT */
    uint64_t trips; /**< trips of the safety chain */
    struct tact_recorder_report
        recorder; /**< report of the log; all zero where nothing was recorded */
};

/** Sources of a pair's moments. */
struct tact_session_pair_report {
    uint64_t host_ticks;       /**< ticks in which the host measured it */
    uint64_t source_ticks;     /**< ticks in which the source measured it */
    uint64_t unmeasured_ticks; /**< ticks in which neither host nor source could measure it */
    uint32_t age_max;          /**< largest age of a result that was used for the pair [ticks] */
    int by_source;             /**< what measured the pair at the end: 1 the source, 0 the host */
    double cost; /**< time that the host takes for it, or would take [s], at the end */
};

/** Port of a coupled joint, or of the position or attitude of a coupled base: where a person and
 * the virtual side exchange energy. */
struct tact_session_port {
    const char *name; /**< "hand.link", "hand.base position" or "hand.base attitude"; of a joint
                         with a drive and several devices "hand.link DEVICE" */
    int engaged;      /**< 1: its inputs are good and set the target, or force */
    int components;   /**< number of components of the force: 1, of a base 3 */
    /** force that outputs exert on the person [N m] or [N], in the joint's units */
    double force[3];
    double energy;       /**< energy that the port absorbed from the person since the start [J] */
    double least_energy; /**< smallest value of energy in the run, 0 or less [J]: minus what the
                            port generated */
    uint64_t limited;  /**< ticks in which the passivity controller or the energy bound changed the
                          force */
    int is_admittance; /**< 1: of a joint that the force of a person moves and whose rate or
                            position is sent: force[0] is minus the measured one */
    double rate;   /**< of a joint that a force moves, rate sent last [rad/s] or [m/s]; where its
                      position is sent, by the last change of that */
    uint64_t held; /**< of a joint that a force moves, ticks in which its device was stale and the
                      last force was used */
    uint64_t missing; /**< of a joint that a force moves, ticks in which the force of a stale device
                         counted 0 */
};

/** A commanded grip of two fingers. */
struct tact_session_grip {
    const char *links[2]; /**< "hand.link" of the two fingers */
    double commanded;     /**< force that was commanded in the last tick; 0 while the deadman is
                             released [N] */
    double force; /**< mean of the forces toward each other that the drives exerted in the last tick
                       [N] */
    uint64_t short_ticks; /**< ticks so far in which a limit of a drive, or of its target, was
                               reached */
};

/** A body against a hand, its base included. A contact slips in the ticks in which its law is at
 * the limit of friction or torsion, by the relative velocity at the centre of its patch; of several
 * the largest counts.
 */
struct tact_session_hold {
    const char *body;  /**< name of the body */
    const char *hand;  /**< name of the hand */
    int touching;      /**< 1: the body has touched the hand, and was not released since */
    double grip_force; /**< sum of the normal forces in the last tick [N] */
    double load_force; /**< sum of the magnitudes of the friction forces on the body in the last
                          tick [N] */
    double slip;       /**< way so far [m] */
    double turn;       /**< angle of all slip about the normal so far, without sign [rad] */
    uint64_t touches;  /**< touches so far */
    uint64_t slips;    /**< slips so far of more than 10 um or 1 mrad in one go */
    uint64_t releases; /**< releases so far: no touch for 10 ms */
    /** touches, slips and releases beyond the first 32, which are counted and not listed */
    uint64_t events_left_out;
};

/** An event of a body against a hand, as the log has it. */
struct tact_session_hold_event {
    uint64_t tick; /**< tick in which it began */
    /** "touch", "slip" or "release"; "left out", once and last: further ones are counted and not
     * listed. Static text. */
    const char *name;
};

/**
 * Creates a session: builds the world, opens devices and the source, creates the log. The scene
 * must outlive the session. On failure *err states the reason, with the scene's file, line and key
 * where the scene is the cause. Not real-time safe.
 * @retval 0, -EINVAL, -ENODEV, -ENOMEM, -E2BIG (too many pairs for a tick's record), -EINTR
 *         (options->stop was requested meanwhile), or the negative errno of a device, the source or
 * the log
 */
TACT_API int tact_session_create(const struct tact_scene *scene,
                                 const struct tact_session_options *options,
                                 struct tact_session **out, struct tact_error *err);

/**
 * Lets a device compute polygons of contacts of pressure fields, for the thread that measures these
 * beside the tick. Does nothing where there is no such thread, or where moments.source of the scene
 * is neither opencl nor auto; with auto the device is used where it is measured to be faster. No
 * result changes by a bit. Where there is no device, or one with other bits than the host, a
 * message says so and the host computes. Call it before the run. Not real-time safe.
 * @retval 0
 * @retval -EALREADY  there is one, or the session was begun or run before
 * @retval <0         the errno of the factory: the host computes
 */
TACT_API int tact_session_add_field_cutter(struct tact_session *session,
                                           tact_field_cutter_factory factory, void *user);

/** Polygons of contacts of pressure fields that were measured beside the tick, in a session with a
 * field cutter. */
struct tact_session_polygons {
    char device[64];          /**< name of the cutter; "": there is none, the rest is 0 */
    uint64_t device_polygons; /**< polygons that the device computed and a measurement used */
    uint64_t host_polygons;   /**< polygons that the host computed */
    uint64_t device_frames;   /**< frames, of all pairs of a tick, with the device */
    uint64_t host_frames;     /**< frames without it */
    double device_time; /**< mean time to measure a frame with the device [s]; 0: there was none */
    double host_time;   /**< mean time to measure a frame without the device [s] */
    int32_t has_failed; /**< 1: the device's driver failed, and the host computed from then on */
};

/** Describes which polygons a field cutter computed so far, from any thread. Real-time safe. */
TACT_API void tact_session_polygons(const struct tact_session *session,
                                    struct tact_session_polygons *out);

/** Runs the session until its end or until it is stopped; once in a session (-EALREADY the second
 * time, or after tact_session_begin()). Outputs are zero afterwards. Returns the value of
 * tact_loop_run() or, where that is 0, the negative errno of a log that could not be completed. Not
 * real-time safe. */
TACT_API int tact_session_run(struct tact_session *session, struct tact_session_report *report);

/**
 * Begins a run in a loop of the program's own, once in a session: each tact_session_step() is then
 * a tick, until tact_session_end(). Starts the thread that calls `messages` and `watch`. Not
 * real-time safe.
 * @retval 0
 * @retval -EALREADY  it was begun or run before
 */
TACT_API int tact_session_begin(struct tact_session *session);

/**
 * One tick, bit for bit the same as in tact_session_run(). Ticks are counted by calls, from 0,
 * independent of the clock, and do not end with the duration of the scene. Only one thread may call
 * it at a time. Real-time safe with options.clock TACT_LOOP_REAL; with TACT_LOOP_FREE it waits for
 * the moment source and for space in the log.
 *
 * planned_ns: time at which the tick was due, CLOCK_MONOTONIC [ns]: its time stamp, from which
 * lateness is computed; 0: now, or on the free-wheeling clock one period after the tick before.
 * status: of this tick, or NULL.
 * @retval 0
 * @retval -EINVAL  outside tact_session_begin() and tact_session_end()
 * @retval -EINTR   options.stop was requested; nothing was done
 */
TACT_API int tact_session_step(struct tact_session *session, int64_t planned_ns,
                               struct tact_session_status *status);

/**
 * Ends a run begun by tact_session_begin(): writes zero to all devices, closes the log, sets
 * *report. Not real-time safe.
 * @retval 0
 * @retval -EINVAL  it was not begun, or ended before
 * @retval -errno   the log could not be completed
 */
TACT_API int tact_session_end(struct tact_session *session, struct tact_session_report *report);

/**
 * Requests that the fault is cleared in the next tick; its cause must no longer exist. Outputs stay
 * zero: they are only armed again after the deadman was released and is held again or, in a scene
 * without one, after tact_session_arm(). Logged as an input and as an event. From any thread.
 * Real-time safe.
 * @retval 0
 * @retval -EBUSY     its cause, or another one, existed in the last tick
 * @retval -EALREADY  there is no fault
 */
TACT_API int tact_session_clear_fault(struct tact_session *session);

/**
 * Requests that the outputs of a scene without a deadman are armed again in the next tick, after
 * its fault was cleared; they ramp up from zero. No effect where they are armed. From any thread.
 * Real-time safe.
 * @retval 0
 * @retval -EPERM  the scene has a deadman, which alone arms it
 * @retval -EBUSY  there is a fault
 */
TACT_API int tact_session_arm(struct tact_session *session);

/** Writes zero to all devices of a session that was begun and not ended, closes devices, source and
 * log, and frees everything. NULL is allowed. Not real-time safe. */
TACT_API void tact_session_destroy(struct tact_session *session);

/** Path of its log, with its number where "%n" was used; NULL where nothing is recorded.
 * Real-time safe. */
TACT_API const char *tact_session_log_path(const struct tact_session *session);

/** Number of commanded grips of the scene. Real-time safe. */
TACT_API int tact_session_grip_count(const struct tact_session *session);
/** A commanded grip, by its number in the scene, which is not checked. Real-time safe. */
TACT_API struct tact_session_grip tact_session_grip(const struct tact_session *session, int index);

/** Number of bodies times hands, at most 256. Real-time safe. */
TACT_API int tact_session_hold_count(const struct tact_session *session);
/** A body against a hand, by its number, body by body, which is not checked. Real-time safe. */
TACT_API struct tact_session_hold tact_session_hold(const struct tact_session *session, int index);
/** The events of a body against a hand, by their number from 0, in their order: for
 * programs that display them while the session runs, recorded or not. index: as of
 * tact_session_hold(), not checked. From any thread, also during a tick. Real-time safe.
 * @retval 1  *out is the event, which does not change any more
 * @retval 0  there is no event of that number so far */
TACT_API int tact_session_hold_event(const struct tact_session *session, int index, int number,
                                     struct tact_session_hold_event *out);

/** Number of ports: of couplings, of joints that forces move, and of joints with a drive, whose
 * force is not limited for passivity, for each device that sets the target by its position and is
 * sent the reaction. Real-time safe. */
TACT_API int tact_session_port_count(const struct tact_session *session);

/** A port, `index` from 0, in the last tick. The energy is exact for a force that
 * is constant within a tick; where scales of inputs and outputs magnify motion or force, and do not
 * only change units, it is that of the joint. Real-time safe. */
TACT_API struct tact_session_port tact_session_port(const struct tact_session *session, int index);

/**
 * The world: for reading before and after a run, between the steps of a program's own loop, and in
 * a controller. The contacts of the last tick are then
 *
 *     int count;
 *     const int *near = tact_world_near(world, &count);
 *     for (int i = 0; i < count; i++) {
 *         const struct tact_contact *c = tact_world_contact(world, near[i]);
 *         if (c->touching) { ... }
 *     }
 *
 * with c->wrench on shape c->a, world axes, about c->patch.center [N, N m], and the active limits
 * in c->limits; tact_session_find_pair() returns the index of one pair for tact_world_contact().
 * Real-time safe.
 */
TACT_API struct tact_world *tact_session_world(struct tact_session *session);

/** Requests the pressure of the next tick's contacts, for that tick only; from the thread of the
 * tick: in an observer, or between two steps. *map belongs to the caller and must not be read
 * before that tick. Real-time safe. */
TACT_API void tact_session_request_pressure(struct tact_session *session,
                                            struct tact_pressure *map);

/** Layout of a tick's record. Real-time safe. */
TACT_API const struct tact_layout *tact_session_layout(const struct tact_session *session);

/**
 * Copies the record of the tick that has just ended, as written to the log or as it would be. From
 * the thread that ticks, in an observer or between the steps of a loop of the program's own. out:
 * tact_layout_bytes() of tact_session_layout(). Returns the number of bytes used. Real-time safe.
 */
TACT_API size_t tact_session_record(struct tact_session *session, struct tact_record *out);

/**
 * The topics of its log, whether one is recorded or not, for records of tact_session_layout(); for
 * the session of a scene log (scene_log.h) those of its log's records, with their times. To be
 * freed. Not real-time safe, and not while another thread is in a tick.
 * @retval 0
 * @retval -ENOMEM  *err states it
 */
TACT_API int tact_session_topics(struct tact_session *session, struct tact_topics **out,
                                 struct tact_error *err);

/** State of the index-th device of the scene in the last tick: enum tact_device_state.
 * Real-time safe. */
TACT_API int tact_session_device_state(const struct tact_session *session, int index);

/**
 * Writes an event `marker` with that text to the log in the next tick; of several before it, the
 * last. text: must remain valid as long as the session. From any thread. Real-time safe.
 * @retval 0
 * @retval -ENOENT  nothing is recorded
 */
TACT_API int tact_session_mark(struct tact_session *session, const char *text);

/** Index of the body, for tact_world_body(); -ENOENT. Fixed bodies have none. Not real-time safe,
 * as the next two. */
TACT_API int tact_session_find_body(const struct tact_session *session, const char *name);

/** Index of the joint "hand.link" in the arrays of struct tact_session_state; -ENOENT. Not
 * real-time safe. */
TACT_API int tact_session_find_joint(const struct tact_session *session, const char *name);

/** Index of the pair "a/b", as named by tact_session_pair_name(), for tact_world_contact();
 * -ENOENT. Not real-time safe. */
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

/** Present pose of the body's frame (not of its centre of mass). Real-time safe. */
TACT_API void tact_session_body_pose(struct tact_session *session, int body, struct tact_pose *out);

TACT_END_DECLS

#endif
