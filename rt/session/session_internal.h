/* What the files of rt/session share. */
#ifndef TACT_RT_SESSION_SESSION_INTERNAL_H
#define TACT_RT_SESSION_SESSION_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "contact/keys.h"
#include "contact/pair/field/extent.h"
#include "contact/world/constraint.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "rt/triple.h"

#define SESSION_PRELOAD_UNIT "depth beyond the target kept from the start m"

/* Moments with this age were measured on the host in the tick itself. */
#define AGE_HOST 0

struct session_device {
    struct tact_device device;
    int open;
    struct tact_device_input input;
    double output[TACT_DEVICE_CHANNELS];
    uint32_t field; /* of its input in the record: state, stamp, channels */
};

/* offset + scale * channel is added to the target of a joint, or is the joint's measured value. */
struct session_input {
    int device, channel, hand, link;
    double scale, offset, lower, upper;
    int measures; /* the joint's state; else its target */
    double alpha; /* share of the new rate in its low-pass */
    struct {
        double q;     /* [rad, m] */
        double rate;  /* [rad/s, m/s] */
        double ticks; /* number of ticks up to the last good value; 0: none yet, or lost since */
    } state;
    uint32_t field; /* of it in the record */
};

struct session_output {
    int device, channel;
    enum { OUTPUT_TORQUE, OUTPUT_FORCE, OUTPUT_MOMENT } kind;
    struct tact_owner owner; /* link or body */
    const double *along;     /* of force and moment, or NULL */
    int sensor;              /* the input that measures its joint, or -1 */
    double gain;             /* sign of what goes out, times the scale */
    double gate; /* share that is let through: 0 while its device or sensor is lost, then a ramp */
};

/* Where the values of a contact stand behind the first of its fields, and how many follow them. */
enum {
    AT_STATUS = 0,  /* input: status, age */
    AT_MOMENTS = 2, /* input: V, c, C, g */
    AT_WRENCH = 18,
    AT_PATCH = 24, /* centre, normal, depth, spin arm */
    AT_WARM = 32,  /* impulse, point */
    AT_DIRECTION = 41,
    AT_LIMITS = 44,
    AT_MARGINS = 45,
    AT_EXTRAS = 51
};

struct session_extras {
    int pieces;  /* of a pair that may be split */
    int preload; /* of a pair that starts deeper than its target */
    int springs; /* of a pair with a tangential compliance, then of its pieces */
    int state;   /* of a pair whose contact model keeps something */
};

#define SESSION_NAME 160 /* longest name of a pair, with the zero */

/* What is known of a pair while it is near, by the place of its contact in the world. */
struct session_live {
    int pair;             /* 1 and its number: another one begins with nothing known */
    int32_t got;          /* this tick: status as tact_moments_pair() */
    uint32_t age;         /* this tick: ticks, AGE_HOST for the host */
    struct session_seen { /* the source's last overlap: a touch that is lost may come back */
        struct tact_moments moments;
        struct tact_pose a, b;
        uint64_t frame; /* 0: none */
    } seen;
    struct session_seen last; /* measured, by whomever; frame: 0 where it was no overlap */
    uint32_t unmeasured;      /* ticks in a row in which it could not be measured, up to this one */
};

/* What is known of it for good. */
struct session_pair {
    int number;     /* in the world; -1: it stands for all without room */
    int source;     /* and among the pairs of a source */
    char *name;     /* where it was asked for */
    uint32_t place; /* 1 and the offset of its first field, in a record that is replayed; 0: none */
    int same;       /* its number among the pairs of its name, from 1; 0: not yet known */
    int met;        /* its shapes were close in some tick */
    struct tact_limit_tally tally;
    int preloaded; /* deeper than its target at the start, by whatever little */
    struct {
        double depth; /* [m] at the start, where that is worth a report, else 0 */
        int stuck;    /* no joint can open it */
        int inside;   /* one shape wholly inside the other: it has no depth */
    } start;
    uint64_t stuck_ticks;  /* deeper than its target, but not pushed open */
    uint64_t outrun_ticks; /* its shapes passed by more than the thinner of them */
    int by_source;         /* else the host measures it */
    uint64_t since;        /* first tick handed to the source since it measures the pair */
    double cost_ns;        /* that the host takes or would take */
    double measured_ns;    /* cost_ns where that was measured since the source last told, or 0 */
    double scale;          /* of what the source tells, so that it agrees with what was measured */
    int32_t why;           /* errno of the first of all such ticks, 0: there was none; */
    uint64_t first;        /* that tick; */
    int told;              /* whether its event is in the log */
    struct session_use {
        uint64_t host, source, unmeasured; /* ticks */
        uint32_t age_max;
    } use;
};

struct session_hand {
    char (*names)[128];
    uint32_t q, v, target, torque;
};

struct session_body {
    const char *name;
    const struct tact_scene_body *def;
    struct tact_pose frame; /* body frame relative to the centre of mass */
    double released;        /* its weight is carried until then [s] */
    uint32_t pose, twist, center;
};

/* A joint of a mechanism: where it stands in the record. */
struct session_constraint {
    uint32_t wrench, joint, warm;
};

struct session_marker {
    const struct tact_scene_marker *def;
    int device, channel;
    int high; /* at the last tick */
};

/* Reports what a person must know while it runs: watch.c. */
struct session_watcher {
    struct tact_session *session;
    pthread_t thread;
    int started;
    struct tact_stop done;
    struct tact_session_status last;
    int64_t started_ns; /* CLOCK_MONOTONIC */
    int told;           /* what of real time was granted */
};

/* What a program may ask for while it runs, and what its controller did: an input of the tick. */
enum { SESSION_CLEAR = 1, SESSION_ARM = 2, SESSION_BAD_TARGET = 4 };

struct tact_session {
    const struct tact_scene *scene;
    struct tact_session_options options;
    double period;
    int64_t period_ns;
    int64_t wall_anchor_ns; /* wall clock minus CLOCK_MONOTONIC, when it was made or recorded */
    uint64_t ticks;

    struct tact_world *world;
    struct tact_extent_store extents; /* of soft meshes */
    int preparing;                    /* shape whose model data are being made */
    struct session_body *bodies;
    struct session_hand *hands;
    struct session_constraint *constraints;
    struct session_pair *pairs; /* those that ever came near, and one that stands for others */
    struct session_pair **pair_order;
    struct tact_keys pair_keys; /* where they are, by their numbers */
    int pair_count, pair_room;
    int pairs_uncounted; /* 1: there was no room for one */
    struct session_live *live;
    const char **owners; /* of each shape: name of its body or link, */
    int *group;          /* and the first shape of that */

    struct session_device *devices;
    int device_count;
    struct session_input *inputs;
    int input_count;
    struct session_output *outputs;
    int output_count;
    struct session_marker *markers;
    int marker_count;
    _Atomic(const char *) mark;          /* text of a marker that the program asks for, or NULL */
    int deadman_device, deadman_channel; /* -1: none */
    int deadman;                         /* held this tick */
    struct tact_safety safety;
    double wanted[TACT_SAFETY_CHANNELS];
    double sent[TACT_SAFETY_CHANNELS];

    struct tact_moments_scratch *scratch;
    struct tact_source source;
    int source_open;
    int insists;               /* every pair is the source's */
    int handed;                /* the tick to come was handed to the source */
    uint8_t *measured;         /* pairs that the source measures, of those that are active */
    struct tact_pose *history; /* poses of all shapes by tick, modulo the number of slots */
    uint64_t *history_frame;   /* number of each slot's frame */
    uint32_t history_slots;
    uint64_t frames;    /* ticks whose poses are in history, or were */
    int64_t moments_ns; /* that this tick's moments took */
    struct tact_shape *source_shapes;
    struct tact_source_pair *source_pairs; /* ascending, as the world has them */
    int source_pair_count;
    double *source_directions; /* 3 each: the last normal */

    struct tact_layout layout;    /* of what it records, or of the log that it replays */
    struct tact_layout element;   /* fields of a contact in the list */
    struct session_extras extras; /* that those have */
    double *absent;               /* their values where a contact is not in the list, */
    double *stray;                /* and room for others */
    int *listed;                  /* replay: pairs with a place in the record */
    int listed_count;
    int every_pair; /* replay of a log without lists: all of them, with own extras */
    int strays;     /* contacts of the last record that have no place in it, */
    int stray_pair; /* the first of them */
    uint32_t wanted_field, sent_field, gate_field, safety_field, solver_field, timing_field;
    uint32_t counts_field, methods_field; /* of logs with lists */
    uint32_t requests_field;              /* 0: a log that has none */
    uint64_t methods_before[TACT_MOMENTS_COUNTS];
    struct tact_recorder *recorder;
    char *log_path;                /* of what it writes, or wrote */
    struct tact_record *blank;     /* takes the record of a replay that is not recorded */
    struct tact_record *last;      /* the record that the last tick filled; NULL: it filled none */
    const struct tact_record *fed; /* replay: the tick's inputs, else NULL */
    int recompute; /* replay: moments that a source gave are measured anew as well */
    int apart;     /* replay: whoever ticks restores and submits before every tick */

    struct tact_pressure *pressure;       /* room for a map of the log's; NULL: it has none */
    struct tact_pressure *pressure_asked; /* where that of the next tick goes, or NULL */
    struct tact_pressure *pressure_now;   /* where that of this tick goes, or NULL */
    uint64_t pressure_every;              /* ticks from map to map of the log; 0: none */
    uint64_t pressure_patches;            /* of those so far */
    int pressure_due;                     /* this tick's map goes into the log */

    struct tact_triple *status;
    struct tact_solve_stats solve;
    struct tact_session_report report;
    uint64_t solved_ticks;
    double iterations_sum;
    int64_t compute_ns;
    uint32_t age_now;
    int unmeasured_pair; /* the first that could not be measured, or -1 */
    uint64_t missed;
    uint64_t skipped;   /* ticks that the loop gave up, up to this one */
    uint64_t next_tick; /* that follows the last one */
    int64_t planned_ns; /* wake-up time of the last one, as planned */
    enum { SESSION_MADE, SESSION_RUNS, SESSION_OVER } phase;
    int stepped; /* by the program, not by the loop */
    struct session_watcher watcher;
    struct tact_session_status now; /* of the last tick */
    double *joints;                 /* of a controller: q, v, torque, target, joint_count each */
    int joint_count;
    int controlled;    /* targets are inputs */
    uint32_t requests; /* from any thread, for the next tick: SESSION_CLEAR, SESSION_ARM */
    uint32_t obeyed;   /* those of this tick, and SESSION_BAD_TARGET */
    int fault_named;   /* the report's fault is of this one */
    int raised;        /* this tick found a cause of a fault */
    int cause_stands;  /* as the last tick found, and */
    int in_fault;      /* whether it ended in one; read by any thread */
    int seen_fallback; /* events already in the log */
    int seen_fault;
};

/* session.c: -EINTR where the session's stop was requested while it is made. */
int tact_session_stopped(const struct tact_session *s, struct tact_error *err);

/* build.c: the world from the scene; devices and the mapping. */
int tact_session_build_world(struct tact_session *s, struct tact_error *err);

/* pairs.c: what is known of pairs. */
int tact_session_make_pairs(struct tact_session *s);
void tact_session_free_pairs(struct tact_session *s);
/* Room for more; before the first tick. -ENOMEM. */
int tact_session_more_pairs(struct tact_session *s, int more);
/* What is known of a pair from now on. Real-time safe. */
struct session_pair *tact_session_pair(struct tact_session *s, int pair);
/* What is known of it, if anything. */
const struct session_pair *tact_session_known(const struct tact_session *s, int pair);
/* All of them in the order of their numbers. */
struct session_pair **tact_session_sorted_pairs(struct tact_session *s);
/* Name of what a shape belongs to: body, "hand.link", or the fixed body it came from. */
const char *tact_session_owner_name(const struct tact_session *s, int shape);

/* Sets the place in the scene of a shape's body or hand. build.c */
void tact_session_where(const struct tact_session *s, int shape, struct tact_error *err);

/* Sets s->extents. extents.c */
void tact_session_use_extents(struct tact_session *s);
/* "a/b", and "a/b#2" for the second pair between the two. Real-time safe. */
void tact_session_name_pair(struct tact_session *s, int pair, char out[SESSION_NAME]);
/* Its number among the pairs of its name, from 1. Real-time safe. */
int tact_session_pair_same(struct tact_session *s, int pair);
int tact_session_open_devices(struct tact_session *s, const struct tact_device_info *replayed,
                              int replayed_count, struct tact_error *err);
int tact_session_open_device(const struct tact_session *s, uint32_t index, struct tact_device *out,
                             struct tact_error *err);
int tact_session_map(struct tact_session *s, struct tact_error *err);

/* calibrated.c: where there are outputs, -EINVAL for what was never calibrated. */
int tact_session_check_calibrated(const struct tact_session *s, struct tact_error *err);

/* contacts.c: the contacts' part of it. */
int tact_session_layout_contacts(struct tact_session *s, const struct tact_log *log,
                                 struct tact_error *err);
void tact_session_fill_contacts(struct tact_session *s, double *values);
void tact_session_restore_contacts(struct tact_session *s, const double *values);
/* Of a pair that is near. Real-time safe. */
struct session_live *tact_session_live(struct tact_session *s, int pair);
/* What the record of a replay says of a pair, from its first field on. */
const double *tact_session_logged(const struct tact_session *s, int pair,
                                  const struct tact_record *record);

/* fields.c: the layout, and the record to and from the session. log: that is replayed, or NULL. */
int tact_session_layout_fields(struct tact_session *s, const struct tact_log *log,
                               struct tact_error *err);
void tact_session_fill(struct tact_session *s, struct tact_record *record);
void tact_session_feed(struct tact_session *s, const struct tact_record *record);
void tact_session_restore(struct tact_session *s, const struct tact_record *record);

/* moments.c: the source, or the host. */
int tact_session_open_source(struct tact_session *s, struct tact_error *err);
void tact_session_moments(struct tact_session *s, uint64_t tick);
void tact_session_submit(struct tact_session *s, uint64_t tick);

/* placing.c: who measures a pair. insists: the source, always. */
void tact_session_place(struct tact_session *s, int insists);
/* Moves a pair from the host to the source or back, at most one. Real-time safe, as what follows.
 */
void tact_session_replace(struct tact_session *s);
void tact_session_place_pair(const struct tact_session *s, struct session_pair *p);
/* What a pair took on the host, or would take as the source tells. */
void tact_session_cost_host(struct session_pair *p, int64_t ns);
void tact_session_cost_source(struct session_pair *p, int32_t ns);
/* Oldest result of the pair that is carried forward [ticks]. */
uint32_t tact_session_oldest(const struct tact_session *s, const struct session_pair *p);

/* pressure.c: before the log is opened: its maps. 0 or -ENOMEM. */
int tact_session_open_pressure(struct tact_session *s, struct tact_recorder_options *options);
/* Whether the solve to come keeps its pressure, and where. Real-time safe, as what follows. */
void tact_session_keep_pressure(struct tact_session *s, uint64_t tick);
/* Hands the map to the recorder, if it is due. */
void tact_session_record_pressure(struct tact_session *s, uint64_t tick, int64_t stamp_ns);
/* After the log is closed: what is missing from it. Not real-time safe. */
void tact_session_report_pressure(const struct tact_session *s);

/* record.c: the log, with its attachments and facts. */
int tact_session_open_log(struct tact_session *s, struct tact_error *err);
/* Whether the log may be written where it is asked for; before anything is opened. */
/** Whether a device's setting names a file in that folder, which may be NULL. */
bool tact_session_reads_from(const struct tact_scene *scene, const char *folder);

int tact_session_check_log(const struct tact_scene *scene,
                           const struct tact_session_options *options, struct tact_error *err);

/* run.c: ends what was begun and not ended, as tact_session_end() does. */
void tact_session_abandon(struct tact_session *s);

/* watch.c: the thread that reports to a person, with the stack size of the options. */
void tact_session_watch_start(struct tact_session *s, const struct tact_realtime_options *realtime);
void tact_session_watch_stop(struct tact_session *s);

/* control.c. Real-time safe, but for the first: at the beginning of a tick what was asked for, the
 * targets of the program's controller, and at the end of a tick whether it is in a fault. */
int tact_session_open_control(struct tact_session *s);
void tact_session_obey(struct tact_session *s);
void tact_session_control(struct tact_session *s, uint64_t tick, double time);
void tact_session_settle(struct tact_session *s);

/* fault.c, real-time safe: says what is wrong, as "kind name: what"; of several faults the first.
 */
void tact_session_name_fault(struct tact_session *s, uint64_t tick, const char *kind,
                             const char *name, const char *what);
/* Raises a fault; value: whatever tells most. */
void tact_session_raise(struct tact_session *s, double value, uint64_t tick);
/* Raises a fault where the solve returned rc, or the state after a tick is none that can be; says
 * which output is not finite.
 */
void tact_session_check_state(struct tact_session *s, int rc, uint64_t tick);
void tact_session_check_outputs(struct tact_session *s, uint64_t tick);
/* Raises a fault where a contact did not go into the record. */
void tact_session_check_record(struct tact_session *s, uint64_t tick);

/* wires.c: from the devices to the joints, and back; real-time safe. */
void tact_session_take_inputs(struct tact_session *s, uint64_t tick);
void tact_session_send_outputs(struct tact_session *s, uint64_t tick, int64_t now);

/* tick.c: one tick, real-time safe. */
void tact_session_tick(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns);

/* view.c: tact_view_open() with another local solver than the scene's, or NULL. */
struct tact_view;
int tact_view_open_with(const struct tact_log *log, const char *local,
                        struct tact_messages messages, struct tact_view *out,
                        struct tact_error *err);

/* start.c: overlaps at the start, before the layout; what is said of them at load, and at the end
 * of those that could not be opened. */
void tact_session_start(struct tact_session *s);
void tact_session_report_start(struct tact_session *s);
void tact_session_report_stuck(struct tact_session *s);

/* Names those whose shapes passed by more than the thinner of them in a tick, at the end; to the
 * log as well. */
void tact_session_report_outrun(struct tact_session *s);

/* session.c. log: that is to be replayed, with its devices, or NULL. */
int tact_session_prepare(const struct tact_scene *scene, const struct tact_session_options *options,
                         const struct tact_device_info *replayed, int replayed_count,
                         const struct tact_log *log, struct tact_session **out,
                         struct tact_error *err);

#endif
