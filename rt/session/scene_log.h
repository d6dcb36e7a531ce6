/**
 * A log interpreted with its scene: the meaning of the numbers in its records.
 *
 * The scene is in the log; the world built from it (without devices, without a moment source) has
 * the names of pairs, joints and bodies, and information that the records do not repeat in every
 * tick: the friction and model of each pair, the kind of its patch.
 *
 * No function here is real-time safe.
 */
#ifndef TACT_RT_SESSION_SCENE_LOG_H
#define TACT_RT_SESSION_SCENE_LOG_H

#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "../device.h"
#include "../log/log_reader.h"
#include "../message.h"
#include "../scene/scene.h"
#include "session.h"

TACT_BEGIN_DECLS

/** A pair of shapes of the log: one that came into contact, or in logs of schema_version 1 any that
 * may touch. Offsets count doubles in a record. */
struct tact_scene_log_pair {
    const char *name;  /**< name of the pair, "ruler/pinch.left_distal": shape A, then B */
    int pair;          /**< number of the pair in the session's world */
    double friction;   /**< mu [1] */
    const char *model; /**< contact model, static text */
    uint32_t status;   /**< status (1 overlap, 0 none, negative errno), age [ticks] */
    uint32_t moments;  /**< 16, struct tact_moments */
    uint32_t wrench;   /**< force [N] (3), moment [N m] (3) on A, world, about the patch's centre */
    uint32_t patch;    /**< centre [m] (3), normal that pushes A out of B (3), depth V/|g| [m],
                            spin arm [m] (times mu N the torsion limit); all 0 without touch */
    uint32_t impulse;  /**< impulse on shape A, world axes, about the patch's centre [N s (3), N m s
                          (3)] */
    uint32_t direction; /**< last normal (3) */
    uint32_t limits;    /**< enum tact_limit bits */
    uint32_t margins;   /**< struct tact_margins (6) */
};

/** A joint of a hand. */
struct tact_scene_log_joint {
    const char *name;  /**< "pinch.left_distal" */
    int slides;        /**< 1: [m], [N]; 0: [rad], [N m] */
    uint32_t position; /**< [rad] or [m] */
    uint32_t velocity; /**< [rad/s] or [m/s] */
    uint32_t target;   /**< offset of the target of the drive [rad] or [m] */
    uint32_t torque;   /**< offset of the torque of the drive [N m] or [N] */
    int resists;       /**< 1: it has stops or dry friction, and so the two members below */
    uint32_t reaction; /**< offset of the torque of stops and dry friction [N m] or [N] */
    uint32_t stop;     /**< offset of -1: at its lower stop, 1: at its upper one, 0: at none */
};

/** A body that moves. */
struct tact_scene_log_body {
    const char *name; /**< name of the body */
    uint32_t center;  /**< pose at the centre of mass [m], quat_wxyz, world (7) */
    uint32_t twist;   /**< velocity of the centre of mass [m/s], angular [rad/s], world (6) */
    uint32_t pose;    /**< pose of the body frame [m], quat_wxyz, world (7) */
};

/** A joint of a mechanism. */
struct tact_scene_log_constraint {
    const char *name; /**< name of the joint */
    uint32_t wrench;  /**< wrench on the first body, world axes, about the joint [N (3), N m (3)] */
    uint32_t joint;   /**< joint value [rad] or [m]; stop that it is at, -1, 0, 1; position of the
                         joint [m], world (3) */
};

/** Port of a coupled joint, or of the position or attitude of a coupled base, of which it has
 * three. Offsets are those of its first joint; those of the others follow `stride` doubles apart.
 * Or port of a joint that the force of a person moves, or of one with a drive, which has no target,
 * limited and stride: they are 0. */
struct tact_scene_log_port {
    const char *name; /**< name of the port, as in struct tact_session_port */
    int components;   /**< 1 or 3 joints */
    uint32_t stride;  /**< distance between the values of two joints [doubles] */
    uint32_t target;  /**< target; sum of the inputs; its rate; offset [joint's unit] (4) */
    uint32_t engaged; /**< number of ticks up to the last good input; 0: disengaged */
    uint32_t force;   /**< offset of the force on the person until the next tick [N m] or [N]; of
                           an admittance port of the force of the person */
    uint32_t energy;  /**< offset of the energy absorbed from the person since the start [J] */
    /** offset of the smallest energy of the port so far, 0 or less [J]: minus what it generated */
    uint32_t least_energy;
    uint32_t limited;  /**< offset of the number of ticks so far in which the force was limited for
                          passivity; 0: it is not limited */
    int is_admittance; /**< 1: port of a joint that the force of a person moves; only it has rate,
                          held and missing */
    uint32_t rate;     /**< offset of the rate sent until the next tick [rad/s] or [m/s] */
    uint32_t held;    /**< offset of the number of ticks so far in which a stale device's last force
                         was used */
    uint32_t missing; /**< offset of the number of ticks so far in which a stale device's force
                         counted 0 */
};

/** A body against a hand. */
struct tact_scene_log_hold {
    const char *body; /**< name of the body */
    const char *hand; /**< name of the hand */
    /** Sums of the magnitudes of the normal and of the friction forces [N]; slip [m] and turn [rad]
     * so far (4). */
    uint32_t hold;
};

/** A joint that is tied to the joint of another site (a scene's `remotes`). Offsets count doubles
 * in a record. */
struct tact_scene_log_remote {
    const char *name;  /**< name of the joint, "person.left" */
    int slides;        /**< 1: [m], [N]; 0: [rad], [N m] */
    int device;        /**< index of the device that connects the sites */
    uint32_t line_end; /**< offset of the end of the line, to which the tie pulls the joint [rad] or
                          [m] */
    uint32_t force;    /**< offset of the force of the tie on the joint [N m] or [N] */
    uint32_t used_wave; /**< offset of the wave that the tie used in the tick [sqrt(W)] */
    uint32_t sent_wave; /**< offset of the wave that it sent [sqrt(W)], or a value without energy */
    uint32_t engaged;   /**< offset of the number of ticks up to this one; 0: disengaged, -1:
                           disengaged by silence */
    uint32_t tank;      /**< offset of the energy left for corrections of the position [J] */
    uint32_t work;      /**< offset of the work that the tie has done on the joint so far [J] */
};

/** A log with its scene, as tact_scene_log_open() makes it; names and arrays belong to it. */
struct tact_scene_log {
    struct tact_scene *scene;                      /**< scene of the log */
    struct tact_session *session;                  /**< session made from the scene, never run */
    struct tact_scene_log_pair *pairs;             /**< [pair_count] pairs with a contact */
    int pair_count;                                /**< number of pairs */
    struct tact_scene_log_joint *joints;           /**< [joint_count] joints of all hands */
    int joint_count;                               /**< number of joints */
    struct tact_scene_log_constraint *constraints; /**< [constraint_count] joints of mechanisms */
    int constraint_count;                          /**< number of joints of mechanisms */
    struct tact_scene_log_port *ports;             /**< [port_count] ports */
    int port_count;                                /**< number of ports */
    struct tact_scene_log_hold *holds;             /**< [hold_count] bodies against hands */
    int hold_count;                     /**< number of holds; 0 in logs of earlier versions */
    struct tact_scene_log_body *bodies; /**< [body_count] bodies that move */
    int body_count;                     /**< number of bodies */
    struct tact_device_info *devices;   /**< devices of the scene, with the channels that they had
                                           when the log was recorded */
    int device_count;                   /**< number of devices */
    uint32_t *device_inputs; /**< offset of each device's inputs: state, stamp [ns], then one value
                                a channel */
    uint32_t wanted;         /**< [output_count] outputs before the safety chain */
    uint32_t sent;           /**< [output_count] outputs after the safety chain */
    int output_count;        /**< number of outputs */
    uint32_t safety;  /**< offset of the safety chain's state, enum tact_safety_state first */
    uint32_t solver;  /**< contacts, iterations, residual, update, deadman */
    uint32_t counts;  /**< TACT_SOLVE_COUNTS values of this tick; 0 in logs without counts */
    uint32_t methods; /**< TACT_MOMENTS_COUNTS values of this tick; 0 in logs without counts */
    uint32_t timing; /**< wake latency [ns], compute time of the tick before [ns], ticks before this
                        one that the loop skipped, and that the recorder lost to a full ring */
};

/**
 * Interprets an open log, which may be closed before *out is. Call tact_scene_log_close() also on
 * failure. Not real-time safe.
 * @retval 0
 * @retval -EINVAL  no scene in it, a scene that cannot be read, or one whose records have another
 * layout in this version of tact
 * @retval -ENOMEM  *err states the reason in each case
 */
TACT_API int tact_scene_log_open(const struct tact_log *log, struct tact_messages messages,
                                 struct tact_scene_log *out, struct tact_error *err);

/**
 * Runs the tick of `now` again from the state at the end of `before`, the record of the tick before
 * it. tact_session_world(view->session) then has the contacts as they were in that tick: patch with
 * its outline, impulse in the patch's frame. Not real-time safe.
 */
TACT_API void tact_scene_log_step(struct tact_scene_log *view, const struct tact_record *before,
                                  const struct tact_record *now);

/**
 * A joint that is tied to another site; index: that in the scene's `remotes`. Its name belongs to
 * view. Not real-time safe.
 * @retval 0
 * @retval -ERANGE  there are fewer
 */
TACT_API int tact_scene_log_remote(const struct tact_scene_log *view, uint32_t index,
                                   struct tact_scene_log_remote *out);

/** Frees its contents; one that is all zero is allowed. */
TACT_API void tact_scene_log_close(struct tact_scene_log *view);

TACT_END_DECLS

#endif
