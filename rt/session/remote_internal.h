/* Joints that are tied to the joints of another site. */
#ifndef TACT_RT_SESSION_REMOTE_INTERNAL_H
#define TACT_RT_SESSION_REMOTE_INTERNAL_H

#include "rt/session/session_internal.h"
#include "rt/wall_internal.h"
#include "rt/wave_internal.h"

/* A joint that is tied to the joint of another site. */
struct session_remote {
    const struct tact_scene_remote *def;
    struct tact_wave_tie wave_tie;
    int device, hand, link;
    enum { REMOTE_WAVES, REMOTE_POSITION_FORCE, REMOTE_POSITION_POSITION, REMOTE_MODEL } mode;
    struct { /* input channels of the device that connects the sites */
        int wave, position, force, held, round_trip;
        int other_site_clutch, other_fault; /* channels that the device may lack: -1 */
    } in;
    struct { /* and outputs */
        int wave, position, force, held;
        int terms, clutched, fault;
    } out;
    int is_first_tie_of_device; /* 1: first tie of its device; it watches the state of the other
                                   site */
    int clutch_and_fault_bits;  /* state of the other site as last logged: bit 0 its clutch, bit 1
                                 * its fault
                                 */
    /* first tick in which a changed state of the other site is logged */
    uint64_t site_condition_log_tick;
    double terms; /* number of what both sites must agree on: rt/remote_terms_internal.h */
    struct session_coupling *coupling; /* coupling of the joint to what a person holds, or NULL */
    double stiffness,
        damping; /* stiffness and damping of the joint's drive that belong to this tie */
    /* Ties of the same vector: of a base's position or attitude x, y and z, of a joint itself. */
    struct session_remote *ties_of_vector[3];
    int vector_tie_count;    /* 1 or 3 */
    int tie_index_in_vector; /* index of this tie in its vector: part[component] is the tie itself
                              */
    int is_attitude_tie; /* 1: an attitude; positions are rotation vectors, rates angular velocities
                          */
    /* [9] axes of the coupling, columns in the world, where it has other numbers along each; NULL:
     * it has none */
    const double *axes;
    double line_end_rotation; /* rotation of the end of an attitude's line in the tick, about its
                            axis [rad] */
    enum tact_wave_kind arrived_wave_kind; /* kind of the waves that arrived for its vector */
    int is_line_end_held; /* 1: no wave is used in the tick, and the end of a robot's line stands
                             still */
    double
        squared_wave_added_at_robot; /* what the force of a robot's end added to the square of the
                                 wave that arrived in the tick, while force_fraction rises [W] */
    double tick_target_of_tie; /* target of this tie in the tick, part of the drive's target [rad,
                                  m] */
    struct session_remote_state {
        double target; /* position of the line's end, to which the tie's spring pulls the joint
                          [rad, m] */
        double rate;   /* target rate of the tie's damper in the tick [rad/s, m/s] */
        double line_end_correction_rate; /* part of the line end's rate that corrects its position
                              toward the other site's */
        double force;                    /* force of the tie on the joint [N m, N] */
        double used_wave, sent_wave;     /* waves at the line's end [sqrt(W)] */
        double offset; /* offset between the positions of the two sites, so that nothing jumps [rad,
                          m] */
        double other_site_position; /* position of the other site in the last tick [rad, m] */
        double ticks; /* number of the session's ticks up to this one, if the tie is engaged; 0:
                         disengaged; -1: disengaged as nothing arrived */
        double has_other_site_been_connected;    /* 1: the other site has been connected since the
                                                    start */
        double must_release_deadman_to_reengage; /* 1: the other site was lost; the deadman must be
                                 released before re-engaging */
        double force_fraction;        /* fraction of the force that a person feels, 0 to 1 [1] */
        double remaining_tank_energy; /* energy left in the tank for position corrections [J] */
        double work;                  /* work that the tie has done on the joint so far [J] */
        double robot_wait_time; /* remaining wait for the force of the robot, whose line end is to
                                   stay where it is meanwhile; only at a person [s] */
        double must_zero_position_offset; /* a robot's end: 1 until the first wave after the tie
                                             engaged */
    } state;
    uint32_t field; /* offset of its field in the record */
    struct session_remote_wall_model {
        /* wall found at the robot, in the robot's joint coordinate */
        struct tact_wall_estimate wall_found_at_robot;
        struct tact_wall_rendering wall_rendered_at_person; /* at the person */
        /* number of ticks in which the wall was stiffer than the joint can render */
        double limited;
    } model; /* of REMOTE_MODEL */
    uint32_t wall_model_field;
    double *jacobian; /* scratch for the Jacobian [6 * links] at the robot's end of REMOTE_MODEL,
                         else NULL */
};

/* Offset of a member of a tie's state among the doubles of its record field. */
#define REMOTE_STATE_OFFSET(member)                                                                \
    ((uint32_t)(offsetof(struct session_remote_state, member) / sizeof(double)))

/* remote.c: connects the joints that are tied to another site with their devices. */
int tact_session_connect_remotes(struct tact_session *s, struct tact_error *err);
/* Adds stiffness and damping of the ties of a joint to its drive. */
void tact_session_add_remote_drive(const struct tact_scene *scene, const char *joint,
                                   struct tact_link_def *link);
/* Sets the targets of tied joints, before the solve; and sets the channels that go to the other
 * site, after it. Real-time safe. */
void tact_session_set_tie_targets(struct tact_session *s, uint64_t tick);
void tact_session_send_to_other_sites(struct tact_session *s);
/* Logs clutch and fault of the other sites when they begin and end, at most once a second. */
void tact_session_log_other_sites(struct tact_session *s, uint64_t tick, int64_t now);
void tact_session_free_remotes(struct tact_session *s);

/* remote_wave.c: both ends of a line of waves. Real-time safe. */
#define TACT_SESSION_FORCE_RAMP_TIME 0.2 /* time for which a felt force fades in or out [s] */
/* Fraction of the force that a person feels, after a tick in which that force fades. */
double tact_session_faded_force_fraction(const struct tact_session *s,
                                         const struct session_remote *r);
/* Target rate of the damper that fades out the force of the last tick. */
double tact_session_rate_to_fade_force(const struct tact_session *s, const struct session_remote *r,
                                       double joint_rate);
/* Sets r->arrived_wave_kind, before the engagement. */
void tact_session_set_arrived_wave_kind(const struct tact_session *s, struct session_remote *r);
/* Updates the fraction of the force that a person feels and, at the robot, of the waves that are
 * used, while engaged. */
void tact_session_update_force_fraction(const struct tact_session *s, struct session_remote *r);
/* Sets the offset with which the other site's present position agrees with the end of the line. */
void tact_session_zero_position_offset(const struct tact_session *s, struct session_remote *r);
/* Sets the target rate of the joint's drive from the wave that arrived. */
void tact_session_update_target_from_wave(const struct tact_session *s, struct session_remote *r,
                                          double joint_rate);
/* After the solve: the end of the line moved; sets the wave that comes back from it. */
void tact_session_compute_outgoing_wave(struct session_remote *r, double q, double v);

/* weight of a new value in the filtered rate of the other site's position */
#define TIE_RATE_FILTER_WEIGHT 0.5

/* remote_terms.c: terms of all ties of a device, a whole number below 2^53; 0: it has none. */
double tact_session_remote_terms(const struct tact_scene *scene, const char *device);

/* remote_vector.c: ties of a base that moves, three of which are one of vectors; a joint's is one
 * of one component. Real-time safe. */
void tact_session_group_vector_ties(struct tact_session *s);
/* Input channels of the tie's device. */
const double *tact_session_remote_inputs(const struct tact_session *s,
                                         const struct session_remote *r);
/* Offset of the other site's position that leaves the end of the line where it is. */
double tact_session_offset_to_keep_line_end(const struct tact_session *s,
                                            const struct session_remote *r);
/* Difference from the end of the line to the other site's position. */
double tact_session_line_end_position_error(const struct tact_session *s,
                                            const struct session_remote *r);
/* Kind of the waves that arrived for the tie's vector. */
enum tact_wave_kind tact_session_arrived_wave_kind(const struct tact_session *s,
                                                   const struct session_remote *r);
/* Sets target and rate of an attitude that follows the other site's, for all three components. */
void tact_session_track_remote_attitude(const struct tact_session *s, struct session_remote *r);
/* Target rate of the joint's drive due to the tie, once the targets of the hand are set. */
double tact_session_tie_target_rate(const struct tact_session *s, const struct session_remote *r);
/* Sets targets and rates of all three components of a base whose coupling has axes of its own: r is
 * the first of them. */
void tact_session_add_tie_to_unequal_targets(const struct tact_session *s,
                                             const struct session_remote *r);
void tact_session_add_tie_to_unequal_rates(const struct tact_session *s,
                                           const struct session_remote *r);
/* Rotates the line ends of attitudes by their rotation in the tick. */
void tact_session_rotate_line_ends(struct tact_session *s);

/* remote_wall.c: of mode model. At the robot, once engaged or not: finds the wall and sets it in
 * place of position and force. Real-time safe. */
void tact_session_send_found_wall(const struct tact_session *s, struct session_remote *r,
                                  double *out);
/* Sets the target rate that renders the other site's wall at the person, while engaged. Real-time
 * safe. */
void tact_session_render_remote_wall(const struct tact_session *s, struct session_remote *r,
                                     double q, double joint_rate);
/* Reports joints where a wall was stiffer than can be rendered, at the end of a session. */
void tact_session_report_walls(struct tact_session *s,
                               void (*report)(struct tact_session *s, const char *event,
                                              const char *text));

#endif
