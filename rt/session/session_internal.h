/* Shared by the files of rt/session. */
#ifndef TACT_RT_SESSION_SESSION_INTERNAL_H
#define TACT_RT_SESSION_SESSION_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include "contact/keys.h"
#include "contact/pair/field/extent.h"
#include "contact/world/constraint.h"
#include "rt/log/log_reader.h"
#include "rt/session/port_internal.h"
#include "rt/session/record_internal.h"
#include "rt/session/session.h"
#include "rt/triple.h"

#define AGE_OF_HOST_MOMENTS 0 /* age [ticks] of moments that the host computed in the same tick */
#define MAX_DEVICE_INPUT_GAP                                                                       \
    5e-3 /* longest gap in a device's values without a new engagement [s] */

struct session_device {
    struct tact_device device;
    int open;
    struct tact_device_input input;
    double output[TACT_DEVICE_CHANNELS];
    uint32_t field; /* offset of the device's input in the record: state, stamp, channels */
};

struct session_admittance;

/* offset + scale * channel is added to the target of a joint, or is the joint's measured value. */
struct session_input {
    int device, channel, hand, link;
    double scale, offset, lower, upper;
    int sets_measured_joint_state; /* 1: the input sets the joint's measured state; 0: its target */
    struct session_admittance *admittance; /* that the input's force moves, or NULL */
    struct session_drive_port *drive_port; /* whose device's position the input is, or NULL */
    double alpha;                          /* weight of the new rate in its low-pass filter */
    struct {
        double q;     /* [rad, m] */
        double rate;  /* [rad/s, m/s] */
        double ticks; /* number of ticks up to the last good value; 0: none yet, or lost since */
    } state;
    uint32_t field; /* offset of the device's field in the record */
};

struct session_tool;

/* A joint that is tied to what a person holds. */
struct session_coupling {
    int hand, link;
    double alpha;                    /* weight of the new rate in its low-pass filter */
    double target_offset_decay;      /* fraction of the target offset that decays in a tick */
    int outputs;                     /* number of outputs that send the reaction of this coupling */
    int is_rotation;                 /* 1: it is a coordinate of the rotation vector of a base */
    int is_device_silent;            /* 1: no new values of the device for long: force fades out */
    double device_displacement;      /* device's, since the last tick; 0: disengaged [rad, m] */
    const struct session_tool *tool; /* tool that leads the coupling, or NULL: inputs do */
    double device_force_ratio;       /* force of the device by the joint's; 1 without a tool */
    double torque_from_other_site;   /* part of the joint's torque that ties exert [N m, N] */
    double
        requested_force_on_person; /* force that each output is to exert on the person [N m, N] */
    struct session_port port;      /* properties of its device */
    struct session_coupling_state {
        double target; /* sum of the inputs plus offset; while disengaged the last one [rad, m] */
        double input_sum; /* last good sum of the inputs [rad, m] */
        double rate;      /* filtered rate of the sum of the inputs [rad/s, m/s] */
        double offset; /* target offset that prevents a jump of the target on engagement [rad, m] */
        double ticks;  /* number of ticks up to the last good sum; 0: disengaged */
        double force;  /* force that the device exerts until the next tick [N m, N] */
        double energy; /* absorbed from the person since the start [J] */
        double least_energy;                  /* the least of it so far, 0 or less: generated [J] */
        double energy_absorbed_since_contact; /* energy that the passivity controller counts,
                                          absorbed since the touch less a debt of before [J] */
        double limited; /* number of ticks in which the controller or the bound acted */
    } state;
    uint32_t field; /* offset of its field in the record */
};

/* Offset of a member of a coupling's state among the doubles of its record field. */
#define COUPLING_STATE_OFFSET(member)                                                              \
    ((uint32_t)(offsetof(struct session_coupling_state, member) / sizeof(double)))

/* A button of a tool: a channel that counts as pressed above 0.5. */
struct session_tool_button {
    int device, channel; /* input channel of the button; device -1: there is none */
};

/* A tool: moves the base of a hand by the pose of a device. */
struct session_tool {
    const struct tact_scene_tool *def;
    int device, hand;
    int position[3], attitude[4];   /* channels */
    int is_rate_controlled;         /* 1: the channels are rates, not a pose */
    double longest_input_gap_ticks; /* longest time between good values [ticks] */
    double axes[9]; /* attitude of the device's frame in the world: rotation matrix */
    struct session_tool_button clutch, fine;
    struct session_coupling *first_coupling[2]; /* first of position, of attitude, or NULL */
    struct session_tool_state {
        double position[3];  /* last valid position of the device, world axes [m] */
        double quat_wxyz[4]; /* last valid attitude of the device, world axes */
        double ticks; /* number of ticks up to the last valid pose of the device; 0: none yet */
        double force_fraction;     /* fraction of the tool's force that is sent to the device [1] */
        double is_tool_disengaged; /* 1: the device does not lead the tool at present */
    } state;
    uint32_t field; /* offset of its field in the record */
};

struct session_output {
    int device, channel;
    enum { OUTPUT_TORQUE, OUTPUT_FORCE, OUTPUT_MOMENT, OUTPUT_RATE, OUTPUT_POSITION } kind;
    struct tact_owner owner;       /* link or body */
    const double *along;           /* world axis along which the force or moment is sent, or NULL */
    int sensor;                    /* index of the input that measures the output's joint, or -1 */
    struct session_coupling *port; /* coupling whose reaction the output sends, or NULL */
    struct session_drive_port *drive_port; /* port of the drive whose reaction it sends, or NULL */
    struct session_admittance *admittance; /* admittance whose motion the output sends, or NULL */
    struct session_tool *tool; /* tool whose force or torque the output sends, or NULL */
    int part, axis; /* component of the tool's wrench: 0 force, 1 torque; and axis of the device */
    double gain;    /* sign of the output times its scale */
    double gate;    /* factor of the output: 0 while its device or sensor is lost, then a ramp */
};

#define SESSION_MAX_NAMED_PAIRS 16 /* more pairs with one condition are counted, not named */
#define PAIR_NAME_BYTES 160        /* longest name of a pair, with the terminating zero */

/* Information about a pair while it is near, by the slot of its contact in the world. */
struct session_near_pair {
    int pair;       /* number of the pair in the world + 1: the slot of another pair is cleared */
    int32_t status; /* result of the overlap measurement in this tick, as of tact_moments_pair() */
    uint32_t age;   /* offset of the age in this tick [ticks], AGE_OF_HOST_MOMENTS for the host */
    /* poses at which the pressure fields of the pair were measured; 0: those of this tick */
    struct tact_pose measured[2];
    struct session_last_overlap { /* kept, as a lost contact may return */
        struct tact_moments moments;
        struct tact_pose a, b;
        uint64_t frame; /* 0: none */
    } last_source_overlap;
    struct session_last_overlap last; /* last overlap, by source or host; frame 0: there was none */
    uint32_t unmeasured_tick_count;   /* consecutive ticks without a measurement, up to this one */
};

/* Permanent information about a pair of shapes, kept after it is no longer near. */
struct session_pair {
    int number; /* number of the pair in the world; -1: represents all pairs beyond the capacity */
    int source; /* index of the pair in the moment source */
    char *name; /* name of the pair, once it was requested */
    uint32_t record_offset_plus_one;     /* its first field in a replayed record; 0: none */
    int number_among_pairs_of_same_name; /* from 1; 0: not known yet */
    int did_pair_come_near;              /* 1: its shapes were close, or touched, in some tick */
    struct tact_limit_tally contact_limit_tally;
    int starts_deeper_than_target; /* 1: deeper than its target at the start, by any amount */
    struct {
        double depth; /* overlap depth at the start [m] if it is to be reported, else 0 */
        int stuck;    /* 1: no joint can separate the two shapes */
        int inside;   /* 1: one shape is wholly inside the other: it has no depth */
    } start;
    uint64_t
        stuck_overlap_tick_count;  /* ticks in which the overlap was too deep but not pushed open */
    uint64_t tunnelled_tick_count; /* ticks in which its shapes passed each other by more than the
                              thinner of them */
    struct {
        const char *pressed_body_name; /* body that both shapes press on, and inside which they
                               overlap each other; NULL: none so far */
        uint64_t tick;                 /* tick in which that overlap inside a body was found */
        int logged; /* 1: the event of that overlap inside a body is in the log */
    } inside_overlap;
    int by_source;              /* 1: source, 0: host */
    uint64_t source_start_tick; /* first tick submitted to the source since it measures the pair */
    uint64_t carried_field_tick_count; /* ticks that used an earlier measurement of its pressure
                                          fields */
    int is_first_carried_measurement_logged; /* 1: the event of the first such tick is in the log */
    double cost_ns; /* time that the host takes, or would take, to measure the pair [ns] */
    double measured_host_cost_ns; /* since the source's last estimate [ns], or 0 */
    double scale; /* factor of the source's estimate that makes it agree with measurements */
    int32_t unmeasured_errno;       /* negative errno of the first failed measurement; 0: none */
    uint64_t first_unmeasured_tick; /* tick of the first failed measurement */
    int logged;                     /* 1: the event of the first failed measurement is in the log */
    struct session_pair_tick_counts {
        uint64_t host, source, unmeasured; /* numbers of ticks */
        uint32_t age_max;
    } tick_counts;
};

struct session_hand {
    char (*joint_names)[128];        /* of its joints */
    char base_name[128];             /* name of a base that moves, as the owner of its shapes */
    char port_names[2][128];         /* names of the ports of its position and attitude */
    int base_coordinate_count;       /* number of links that are coordinates of the base */
    int has_joint_stops_or_friction; /* 1: one of its joints has stops or dry friction */
    uint64_t *clamped_target_tick_counts; /* per target; NULL: no target has a range */
    uint32_t q, v, target, torque;
    uint32_t reaction, stop; /* only of a hand with has_joint_stops_or_friction */
};

/* owners.c: the owner of a body's shapes; that of the world where name is NULL. */
struct tact_owner tact_session_body_owner(const struct tact_scene *scene, const char *name);

/* Index of a link in its hand, or -1. */
int tact_session_link_index(const struct tact_scene_hand *hand, const char *name);

/* The owner of the shapes of a body, "hand.link" or "hand.base", which exists. */
struct tact_owner tact_session_find_owner(const struct tact_scene *scene, const char *name);

/* 1: the joint, or one that is tied to it, has stops or dry friction, which act on both. */
int tact_session_joint_has_stops(const struct tact_scene_hand *hand, uint32_t link);

struct session_body {
    const char *name;
    const struct tact_scene_body *def;
    struct tact_pose frame;    /* pose of the body frame in the frame of the centre of mass */
    double gravity_start_time; /* gravity does not act on the body until this time [s] */
    uint32_t pose, twist, center;
};

/* A joint of a mechanism: its fields in the record. */
struct session_constraint {
    uint32_t wrench, joint, warm;
};

struct session_event_marker {
    const struct tact_scene_marker *def;
    int device, channel;
    int was_marker_channel_high; /* 1: the marker's channel was above 0.5 in the last tick */
};

/* Reports to the user during a run: watch.c. */
struct session_status_watcher {
    struct tact_session *session;
    pthread_t thread;
    int started;
    struct tact_stop stop_request;
    struct tact_session_status last;
    int64_t session_start_time_ns; /* CLOCK_MONOTONIC */
    int logged;                    /* 1: the granted real-time settings are already logged */
};

/* Two parts of one hand that overlapped at the start, so that they do not touch each other. */
struct session_self_overlap {
    int hand;
    char part[2][128]; /* "hand.link" or "hand.base" */
    double depth;      /* [m]; NaN: one is inside the other, or it could not be measured */
};

/* Requests of the program during a run, and the result of its controller: an input of the tick. */
enum { SESSION_CLEAR = 1, SESSION_ARM = 2, SESSION_BAD_TARGET = 4 };

struct tact_session {
    const struct tact_scene *scene;
    struct tact_session_options options;
    double period;
    int64_t period_ns;
    int64_t wall_anchor_ns; /* wall clock minus CLOCK_MONOTONIC, at creation or when recorded */
    uint64_t ticks;

    struct tact_world *world;
    struct tact_extent_store extents; /* precomputed pressure-field extents of soft meshes */
    int shape_in_preparation; /* index of the shape whose contact-model data are being prepared */
    struct session_body *bodies;
    struct session_hand *hands;
    struct session_constraint *constraints;
    struct session_pair *pairs; /* all pairs that ever came near, and one that represents others */
    struct session_pair **pairs_sorted_by_number;
    struct tact_keys pair_index_by_number; /* their indices, by their numbers */
    int pair_count, pair_capacity;
    int has_pair_overflow; /* 1: more pairs came near than there is capacity for */
    struct session_near_pair *near_pairs;
    struct session_self_overlap *self_overlaps;
    int self_overlap_count;
    /* 1: the session replays a log with a results version below that number */
    int precedes_results_35, precedes_results_36, precedes_results_37, precedes_results_38,
        precedes_results_39, precedes_results_45, precedes_results_62, precedes_results_64;
    const char **shape_owner_names; /* name of the body or link that owns each shape */
    int *first_shape_of_owner;      /* index of the first shape of the same owner, for each shape */

    struct session_device *devices;
    int device_count;
    struct session_input *inputs;
    int input_count;
    struct session_admittance *admittances;
    int admittance_count;
    struct session_coupling *couplings;
    int coupling_count;
    struct session_drive_port *drive_ports;
    int drive_port_count;
    struct session_tool *tools;
    int tool_count;
    struct session_remote *remotes;
    int remote_count;
    struct session_grip *grips;
    int grip_count;
    struct session_hold *holds;
    int hold_count;
    int64_t omitted_hold_count;
    struct session_output *outputs;
    int output_count;
    struct session_position_outputs *positions;
    struct session_event_marker *markers;
    int event_marker_count;
    _Atomic(const char *) requested_marker_text; /* set by the program, or NULL */
    int deadman_device, deadman_channel;         /* -1: none */
    int is_deadman_held; /* 1: the deadman is held in this tick, or none is required */
    struct tact_safety safety;
    double requested_outputs[TACT_SAFETY_CHANNELS];
    double sent_outputs[TACT_SAFETY_CHANNELS];

    struct tact_moments_scratch *moments_scratch;
    struct tact_source source;
    int is_moment_source_open;
    int requires_moment_source; /* 1: every pair must be measured by the moment source */
    int is_tick_submitted; /* 1: the poses of the next tick were submitted to the moment source */
    uint8_t *is_source_pair_due; /* for each pair of the source: 1 if the source is to measure it */
    struct tact_pose *pose_history; /* poses of all shapes by tick, modulo the number of slots */
    uint64_t *pose_history_frame;   /* frame number of each slot of the pose history */
    uint32_t pose_history_slot_count;
    uint64_t submitted_frame_count; /* ticks whose poses are or were in pose_history */
    int64_t moments_duration_ns;    /* time spent on overlap moments in this tick [ns] */
    struct tact_shape *source_shapes;
    struct tact_source_pair *source_pairs; /* ascending by their numbers in the world */
    int source_pair_count;
    double *source_pair_normals; /* last contact normal of each pair, 3 numbers each */

    struct session_field_source *field_source; /* NULL: the solve measures all pressure fields */
    uint32_t measured_poses_offset; /* offset of these poses in the fields of a listed contact */

    struct tact_layout layout; /* layout of its records, or of the log that it replays */
    struct session_record_copies record_copies;
    struct tact_layout contact_element_layout; /* fields of one contact in the contact list */
    struct session_optional_contact_fields
        optional_contact_fields;       /* optional fields of a contact in the contact list */
    double *absent_contact_values;     /* values of the fields where a contact is not in the list */
    double *unrecorded_contact_values; /* buffer for contacts beyond the capacity of the list */
    int *recorded_pairs;               /* replay: pairs that have fields in the record */
    int recorded_pair_count;
    int has_fields_of_every_pair; /* replay of a log without lists: all pairs, each with its own
                                   * optional fields */
    int unrecorded_contact_count; /* contacts of the last record without fields in it */
    int first_unrecorded_pair;    /* first pair whose contact has no fields in the last record */
    uint32_t requested_outputs_field, sent_outputs_field, output_gate_field, safety_field,
        solver_field, tick_timing_field;
    uint32_t solver_counts_field, methods_field; /* record offsets, in logs with contact lists */
    uint32_t requests_field; /* record offset of the program's requests; 0: the log has none */
    uint64_t moment_method_counts_before_tick[TACT_MOMENTS_COUNTS];
    struct tact_recorder *recorder;
    char *log_path; /* path of the log that the session writes, or wrote */
    struct tact_record *unrecorded_replay_record; /* record of a replay that is not recorded */
    struct tact_record *last_filled_record;       /* record that the last tick filled; NULL: none */
    const struct tact_record *replayed_input_record; /* replay: the tick's inputs, else NULL */
    int recomputes_source_moments; /* replay: 1 if moments of a source are recomputed too */
    int is_ticked_by_caller;       /* replay: the caller restores and submits before every tick */

    struct tact_pressure *pressure; /* buffer for a map of the log; NULL: it has none */
    struct tact_pressure *requested_pressure_map; /* map requested for the next tick, or NULL */
    struct tact_pressure *pressure_map_of_tick;   /* pressure map of this tick, or NULL */
    uint64_t pressure_log_interval;               /* ticks between maps of the log; 0: none */
    uint64_t logged_pressure_patch_count; /* number of patches in all maps of the log so far */
    int is_pressure_map_logged;           /* 1: the pressure map of this tick is logged */

    struct tact_triple *status;
    struct tact_solve_stats solve_stats;
    struct tact_session_report report;
    uint64_t solved_tick_count;
    double solver_iteration_sum;
    int64_t compute_ns;
    uint32_t moments_age_of_tick;
    int unmeasured_pair; /* the first pair that could not be measured, or -1 */
    uint64_t deadline_missed_tick_count;
    uint64_t skipped_tick_count; /* number of ticks that the loop has skipped up to this one */
    uint64_t next_tick;          /* index of the tick after the last one */
    int64_t planned_ns;          /* planned wake-up time of the last tick */
    enum { SESSION_MADE, SESSION_RUNS, SESSION_OVER } phase;
    int is_stepped_by_program; /* 1: stepped by the program, not by the loop */
    struct session_status_watcher status_watcher;
    struct tact_session_status status_of_last_tick; /* status of the last tick */
    double *controller_joint_values; /* scratch: q, v, torque, target, joint_count each */
    int joint_count;
    int are_targets_inputs; /* 1: targets are inputs */
    uint32_t requests; /* requests from any thread, for the next tick: SESSION_CLEAR, SESSION_ARM */
    uint32_t requests_of_tick; /* requests that take effect in this tick, and SESSION_BAD_TARGET */
    int is_fault_in_report;    /* 1: the report already names the present fault */
    int has_fault_cause_now;   /* 1: this tick found a cause of a fault */
    int last_tick_had_fault_cause; /* 1: the last tick found a cause of a fault */
    int ended_tick_in_fault;       /* 1: the last tick ended in a fault; read by any thread */
    int inside_overlap_count, logged_inside_overlap_count; /* pairs with one; logged ones */
    int is_moment_fallback_logged; /* 1: the first fallback to the host is already in the log */
    int is_fault_logged;
};

/* session.c: -EINTR where the session's stop was requested during its creation. */
int tact_session_check_stop_during_creation(const struct tact_session *s, struct tact_error *err);

/* build.c: builds the contact world of the scene. */
int tact_session_build_world(struct tact_session *s, struct tact_error *err);

/* self_overlap.c: finds links of one hand that overlap each other at the start, and excludes or
 * refuses their pair. Before the world is finished. */
int tact_session_exclude_self_overlaps(struct tact_session *s, struct tact_error *err);
/* Writes "hand.a and hand.b overlap by 1.2 mm" and the consequence to out. Returns out. */
char *tact_session_describe_self_overlap(const struct session_self_overlap *overlap, char *out,
                                         size_t size);

/* pairs.c: permanent information about pairs of shapes. */
int tact_session_allocate_pairs(struct tact_session *s);
void tact_session_free_pairs(struct tact_session *s);
/* Allocates information for more pairs, before the first tick. -ENOMEM. */
int tact_session_allocate_more_pairs(struct tact_session *s, int more);
/* Permanent information about a pair, created on first use. Real-time safe. */
struct session_pair *tact_session_find_or_add_pair(struct tact_session *s, int pair);
/* Permanent information about a pair, or NULL where it does not exist yet. */
const struct session_pair *tact_session_find_known_pair(const struct tact_session *s, int pair);
/* All pairs that the session knows, sorted by number. */
struct session_pair **tact_session_sorted_pairs(struct tact_session *s);
/* Name of the owner of a shape: body, "hand.link", or the fixed body. */
const char *tact_session_owner_name(const struct tact_session *s, int shape);

/* Name of a link as the owner of shapes: its own, or "hand.base". */
const char *tact_session_link_name(const struct tact_session *s, int hand, int link);

/* build.c: sets the place in the scene of a shape's body or hand. */
void tact_session_set_error_location(const struct tact_session *s, int shape,
                                     struct tact_error *err);

/* extents.c: sets s->extents. */
void tact_session_open_field_extent_store(struct tact_session *s);
/* pairs.c: "a/b", and "a/b#2" for the second pair between the two. Real-time safe. */
void tact_session_name_pair(struct tact_session *s, int pair, char out[PAIR_NAME_BYTES]);
/* Number of a pair among the pairs of the same name, from 1. Real-time safe. */
int tact_session_pair_number_of_same_name(struct tact_session *s, int pair);
/* io_setup.c: opens the devices, and connects their channels with joints and outputs. */
int tact_session_open_devices(struct tact_session *s, const struct tact_device_info *logged_devices,
                              int replayed_device_count, struct tact_error *err);
int tact_session_open_device(const struct tact_session *s, uint32_t index, struct tact_device *out,
                             struct tact_error *err);
int tact_session_connect_channels(struct tact_session *s, int are_channels_from_log,
                                  struct tact_error *err);
/* Refuses outputs that are components of one vector, with the key of the first one that has another
 * limit, rate, filter or scale, or is one too many. */
int tact_session_check_output_vectors(const struct tact_scene *scene, struct tact_error *err);

/* io_setup.c: finds "device.channel"; an error has the key of the scene. */
int tact_session_find_channel(struct tact_session *s, const char *path, int output, const char *key,
                              int *device, int *channel, struct tact_error *err);

/* tool.c: connects the tools with their devices and couplings. */
int tact_session_connect_tools(struct tact_session *s, struct tact_error *err);
/* Sets targets and target rates of the bases that tools move. Real-time safe, as the following. */
void tact_session_set_tool_targets(struct tact_session *s, uint64_t tick, int are_inputs_valid);
/* 1 where the clutch of a tool is pressed. */
int tact_session_is_tool_clutch_pressed(const struct tact_session *s);
/* Force of a tool's output, positive on the person [N, N m]; and stores the value that was sent. */
double tact_session_tool_force(const struct session_output *out);
void tact_session_store_sent_tool_force(const struct session_output *out, double sent);

/* coupling.c: finds the coupled joints. -ENOMEM. */
int tact_session_create_couplings(struct tact_session *s);
/* Finds the coupling of a joint, or NULL. Real-time safe. */
struct session_coupling *tact_session_find_coupling(struct tact_session *s, int hand, int link);
/* Sets targets and target rates of coupled joints, and adds the energy of their ports.
 * are_inputs_valid: the targets are the sums of the inputs in this tick. Real-time safe. */
void tact_session_set_coupled_targets(struct tact_session *s, uint64_t tick, int are_inputs_valid);
/* Number of couplings from that one on which form a vector: three of a base, else 1; and its name.
 * Real-time safe. */
int tact_session_coupling_group_size(const struct tact_session *s, int index);
const char *tact_session_coupling_group_name(const struct tact_session *s, int index);
/* Computes the passive forces on the person, once the world is solved. Real-time safe. */
void tact_session_compute_person_forces(struct tact_session *s);

/* calibrated.c: checks the devices of a session that has outputs. Returns 0, or -EINVAL where a
 * device was never calibrated. */
int tact_session_check_devices_calibrated(const struct tact_session *s, struct tact_error *err);

/* moments.c: overlap moments from the moment source or the host. */
/* Present state of a pair that is near, and by the slot of its contact. Real-time safe. */
struct session_near_pair *tact_session_near_pair_state(struct tact_session *s, int pair);
struct session_near_pair *tact_session_near_pair_in_slot(struct tact_session *s, int slot,
                                                         int pair);
int tact_session_open_source(struct tact_session *s, struct tact_error *err);
void tact_session_measure_moments(struct tact_session *s, uint64_t tick);
void tact_session_submit_frame(struct tact_session *s, uint64_t tick);
/* Counts a measurement of a pair that is `age` ticks old. Real-time safe. */
void tact_session_count_pair_measurement(struct tact_session *s, struct session_pair *p,
                                         uint32_t age);

/* pressure.c: the maps of the log, before it is opened. 0 or -ENOMEM. */
int tact_session_open_logged_pressure(struct tact_session *s,
                                      struct tact_recorder_options *options);
/* Decides whether the next solve stores its pressure, and where. Real-time safe, as the following.
 */
void tact_session_choose_pressure_map(struct tact_session *s, uint64_t tick);
/* Passes the pressure map to the recorder, if it is due. */
void tact_session_record_pressure(struct tact_session *s, uint64_t tick, int64_t stamp_ns);
/* After the log is closed: reports missing maps. Not real-time safe. */
void tact_session_report_pressure(const struct tact_session *s);

/* record.c: the log, with its attachments and facts. */
int tact_session_open_log(struct tact_session *s, struct tact_error *err);
/* 1 where a setting of a device names a file in that folder, which may be NULL. */
bool tact_session_reads_file_in_folder(const struct tact_scene *scene, const char *folder);

/* Checks that the log may be written to its path, before anything is opened. */
int tact_session_check_log_path(const struct tact_scene *scene,
                                const struct tact_session_options *options, struct tact_error *err);

/* run.c: ends a run that was begun and not ended, as tact_session_end() does. */
void tact_session_end_abandoned_run(struct tact_session *s);

/* watch.c: the thread that reports to the user, with the stack size of the options. */
void tact_session_start_status_watcher(struct tact_session *s,
                                       const struct tact_realtime_options *realtime);
void tact_session_stop_status_watcher(struct tact_session *s);

/* control.c, real-time safe except the first. They allocate the joint values of the program's
 * controller; apply the requests of other threads and call the controller, at the start of a tick;
 * and update whether the session is in a fault, at the end of a tick. */
int tact_session_allocate_joint_values(struct tact_session *s);
void tact_session_apply_requests(struct tact_session *s);
void tact_session_call_controller(struct tact_session *s, uint64_t tick, double time);
void tact_session_update_fault_state(struct tact_session *s);

/* fault.c, real-time safe: names the fault, as "kind name: what"; of several faults the first. */
void tact_session_describe_fault(struct tact_session *s, uint64_t tick, const char *kind,
                                 const char *name, const char *what);
/* Raises a fault; value: the most informative number. */
void tact_session_raise_fault(struct tact_session *s, double value, uint64_t tick);
/*
 * Raises a fault where the solve returned an error, or the state after a tick is invalid; names an
 * output that is not finite.
 */
void tact_session_check_world_state(struct tact_session *s, int rc, uint64_t tick);
void tact_session_check_outputs(struct tact_session *s, uint64_t tick);
/* Raises a fault where a contact exceeded the capacity of the record. */
void tact_session_check_record_capacity(struct tact_session *s, uint64_t tick);

/* io_tick.c: from the devices to the joints, and back; real-time safe. */
void tact_session_read_inputs(struct tact_session *s, uint64_t tick);
/* Clamps the targets of drives to their ranges. */
void tact_session_clamp_targets(struct tact_session *s);
void tact_session_send_outputs(struct tact_session *s, uint64_t tick, int64_t now);

/* tick.c: one tick, real-time safe. */
void tact_session_tick(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns);

/* scene_log.c: tact_scene_log_open() with another local solver than the scene's, or NULL. */
struct tact_scene_log;
int tact_scene_log_open_with(const struct tact_log *log, const char *local,
                             struct tact_messages messages, struct tact_scene_log *out,
                             struct tact_error *err);

/*
 * start.c: overlaps at the start, before the layout; their report at load; and at the end the
 * report of those that could not be opened.
 */
void tact_session_accept_start_overlaps(struct tact_session *s);
void tact_session_report_start_overlaps(struct tact_session *s);
void tact_session_report_stuck_overlaps(struct tact_session *s);

/* Reports pairs whose shapes passed each other by more than the thinner of them in a tick, at the
 * end; also in the log. */
void tact_session_report_tunnelled_pairs(struct tact_session *s);

/* session.c. log: the one to be replayed, with its devices, or NULL. */
int tact_session_create_unstarted(const struct tact_scene *scene,
                                  const struct tact_session_options *options,
                                  const struct tact_device_info *logged_devices,
                                  int replayed_device_count, const struct tact_log *log,
                                  struct tact_session **out, struct tact_error *err);

#endif
