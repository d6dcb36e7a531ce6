/* Joints that are tied to the joints of another site. */
#ifndef TACT_RT_SESSION_REMOTE_INTERNAL_H
#define TACT_RT_SESSION_REMOTE_INTERNAL_H

#include "rt/session/session_internal.h"
#include "rt/wall_internal.h"
#include "rt/wave_internal.h"

/* A joint that is tied to the joint of another site. */
struct session_remote {
    const struct tact_scene_remote *def;
    struct tact_wave_tie tie;
    int device, hand, link;
    enum { REMOTE_WAVES, REMOTE_POSITION_FORCE, REMOTE_POSITION_POSITION, REMOTE_MODEL } mode;
    struct { /* input channels of the device */
        int wave, position, force, held, round_trip;
        int other_site_clutched, other_fault; /* -1: the device has none, as below */
    } in;
    struct { /* and outputs */
        int wave, position, force, held;
        int agreement_digest, clutched, fault;
    } out;
    int is_first;       /* 1: of the ties of its device, whose other site it watches */
    int site_condition; /* of the other site as logged: bit 0 its clutch, bit 1 its fault */
    uint64_t condition_log_tick; /* first tick in which another one is logged */
    double
        agreement_digest; /* what both sites must agree on: a digest, a whole number below 2^24 */
    struct session_coupling *coupling; /* to what a person holds, or NULL */
    double stiffness, damping;         /* of the joint's drive that are of this tie */
    /* Ties of the same vector: of a base's position or attitude x, y and z, of a joint itself. */
    struct session_remote *part[3];
    int parts;     /* 1 or 3 */
    int component; /* of this tie among those: part[component] is itself */
    int turns;     /* 1: an attitude; positions are rotation vectors, rates angular velocities */
    double end_rotation;  /* of the end of an attitude's line in the tick, about its axis [rad] */
    int is_missing;       /* 1: no wave arrived */
    int is_force_fading;  /* 1: what the person feels fades, as no wave arrived here or there */
    int is_line_end_held; /* 1: no wave is used in the tick, and the end of a robot's line stays */
    double tie_target;    /* its share of the drive's target in the tick [rad, m] */
    struct session_remote_state {
        double target;     /* end of the line: where the tie's spring pulls [rad, m] */
        double rate;       /* target rate of the tie's damper in the tick [rad/s, m/s] */
        double correction; /* share of the end's rate that follows the other position */
        double force;      /* of the tie on the joint [N m, N] */
        double used, sent; /* waves [sqrt(W)] */
        double offset;     /* of the other position, so that nothing jumps [rad, m] */
        double other;      /* other position, of the tick before [rad, m] */
        double ticks; /* ticks up to this one, where it is engaged; 0: disengaged; -1: by silence */
        double met;   /* 1: the other site was there since the start */
        double must_reengage; /* 1: lost since; the deadman was not released yet */
        double share;         /* of the force that a person feels [1] */
        double tank;          /* energy left for the correction [J] */
        double work;          /* that the tie did on the joint so far [J] */
    } state;
    uint32_t field; /* its field in the record */
    struct session_remote_model {
        struct tact_wall_estimate found; /* at the robot, in its own coordinate */
        struct tact_wall_rendering felt; /* at the person */
        double limited;                  /* ticks in which the wall was stiffer than is felt here */
    } model;                             /* of REMOTE_MODEL */
    uint32_t model_field;
    double *jacobian; /* [6 * links] scratch of the robot's end of REMOTE_MODEL, else NULL */
};

/* remote.c: connects the joints that are tied to another site with their devices. */
int tact_session_connect_remotes(struct tact_session *s, struct tact_error *err);
/* Stiffness and damping that such a tie adds to the drive of a joint. */
void tact_session_add_remote_drive(const struct tact_scene *scene, const char *joint,
                                   struct tact_link_def *link);
/* Before and after the solve: their targets; and what goes to the other site. Real-time safe. */
void tact_session_follow_remotes(struct tact_session *s, uint64_t tick);
void tact_session_send_remotes(struct tact_session *s);
/* Logs a fault and the clutch of another site, when they begin and end, at most once a second. */
void tact_session_log_other_sites(struct tact_session *s, uint64_t tick, int64_t now);
void tact_session_free_remotes(struct tact_session *s);

#define REMOTE_RATE_WEIGHT 0.5 /* weight of a new rate of the other position */

/* remote_vector.c: ties of a base that moves, three of which are one of vectors; a joint's is one
 * of one component. Real-time safe. */
void tact_session_group_vector_ties(struct tact_session *s);
/* Of the other position, by which the end of the line stays where it is. */
double tact_session_tie_offset(const struct tact_session *s, const struct session_remote *r);
/* Of the end of the line to the other position. */
double tact_session_tie_error(const struct tact_session *s, const struct session_remote *r);
/* 1 where no wave of the vector is there. */
int tact_session_is_wave_missing(const struct tact_session *s, const struct session_remote *r);
/* 1 where the waves of the vector are those of an end that is kept, as no wave arrived there. */
int tact_session_is_other_end_stopped(const struct tact_session *s, const struct session_remote *r);
/* Target and rate of an attitude whose position is followed, of all three ties. */
void tact_session_follow_attitude(const struct tact_session *s, struct session_remote *r);
/* Target rate of the joint's drive by that of the tie, once the targets of the hand are set. */
double tact_session_tie_target_rate(const struct tact_session *s, const struct session_remote *r);
/* Turns the ends of the lines of attitudes by their way in the tick. */
void tact_session_rotate_line_ends(struct tact_session *s);

/* remote_wall.c: of mode model. At the robot, once engaged or not: finds the wall and sets it in
 * place of position and force. Real-time safe. */
void tact_session_send_wall(const struct tact_session *s, struct session_remote *r, double *out);
/* At the person, while engaged: sets the target rate of the tick. Real-time safe. */
void tact_session_follow_wall(const struct tact_session *s, struct session_remote *r, double q,
                              double joint_rate);
/* Joints where a wall was stiffer than is rendered, at the end of a session. */
void tact_session_report_walls(struct tact_session *s,
                               void (*report)(struct tact_session *s, const char *event,
                                              const char *text));

#endif
