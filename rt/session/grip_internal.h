/* Commanded grips of two fingers. */
#ifndef TACT_RT_SESSION_GRIP_INTERNAL_H
#define TACT_RT_SESSION_GRIP_INTERNAL_H

#include "rt/session/session_internal.h"

enum { GRIP_STATE_NUMBERS = 9 }; /* numbers of a grip in the record that come before its targets */

/* A commanded grip of two fingers. Vectors are in the world where no other frame is named. */
struct session_grip {
    const struct tact_scene_grip *def;
    int device, channel;
    int commanded_joint_count; /* number of joints that the grip commands */
    struct session_grip_state {
        double added_grip_force; /* force that the grip adds to that of the drive targets [N] */
        double force;            /* mean grip force that the drives exert, after their limits [N] */
        double grip_limited_tick_count; /* ticks so far in which a limit prevented the commanded
                                           force */
        double point[2][3];             /* finger contact points, in the frames of the links [m] */
        double target[TACT_SCENE_GRIP_JOINTS]; /* targets of the joints without the grip's added
                                                  force [rad, m] */
    } state;
    double center[2][3]; /* centres of the finger shapes, in the frames of their links [m] */
    double commanded;    /* commanded force in this tick [N] */
    double *jacobian;    /* scratch for the Jacobian of one finger, 6 by the number of links */
    double finger_point_jacobian[TACT_SCENE_GRIP_JOINTS][3]; /* by joint [m/rad, 1] */
    double compliance[2][9]; /* compliance of the finger points due to the drives [m/N] */
    double normal[3];        /* direction from the first finger point to the second, unit vector */
    uint32_t field;          /* offset of the grip in the record */
};

/* grip.c: connects the commanded grips with their devices. */
int tact_session_connect_grips(struct tact_session *s, struct tact_error *err);
void tact_session_free_grips(struct tact_session *s);
/* Removes the grip's added force from the targets of joints that no input moves, before the inputs
 * are read. Real-time safe, as the following. */
void tact_session_remove_grip_force(struct tact_session *s);
/* Adds the force of the grips to the targets set by inputs and controller. */
void tact_session_apply_grips(struct tact_session *s);
/* Finds where the fingers press, after the solve and before poses change. */
void tact_session_find_grip_points(struct tact_session *s);
/* Computes the grip force of the drives, once their torques are known. */
void tact_session_measure_grips(struct tact_session *s);

#endif
