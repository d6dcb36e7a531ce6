/* Commanded grips of two fingers. */
#ifndef TACT_RT_SESSION_GRIP_INTERNAL_H
#define TACT_RT_SESSION_GRIP_INTERNAL_H

#include "rt/session/session_internal.h"

enum { GRIP_STATE_NUMBERS = 9 }; /* before the targets */

/* A commanded grip of two fingers. Vectors are in the world where no other frame is named. */
struct session_grip {
    const struct tact_scene_grip *def;
    int device, channel;
    int joints; /* number of joints that it commands */
    struct session_grip_state {
        double push;          /* share of the force that it adds to what the targets exert [N] */
        double force;         /* that the drives exert on average, after their limits [N] */
        double limited_ticks; /* ticks so far in which a limit kept it from the commanded force */
        double point[2][3];   /* where the fingers press, frames of the links [m] */
        double target[TACT_SCENE_GRIP_JOINTS]; /* of the joints, without the push [rad, m] */
    } state;
    double center[2][3];                    /* centres of the shapes, frames of the links [m] */
    double commanded;                       /* force in this tick [N] */
    double *jacobian;                       /* 6 by the number of links, of one finger */
    double rows[TACT_SCENE_GRIP_JOINTS][3]; /* motion of a finger's point by the joint [m/rad, 1] */
    double compliance[2][9];                /* of the points, by the drives [m/N] */
    double normal[3];                       /* from the first point to the second; unit vector */
    uint32_t field;                         /* its field in the record */
};

/* grip.c: connects the commanded grips with their devices. */
int tact_session_connect_grips(struct tact_session *s, struct tact_error *err);
void tact_session_free_grips(struct tact_session *s);
/* Before the inputs: the joints that no input moves have the targets without the push. Real-time
 * safe, as the following. */
void tact_session_remove_grip_force(struct tact_session *s);
/* Adds the push to the targets of inputs and controller. */
void tact_session_apply_grips(struct tact_session *s);
/* After the solve, before poses change: where the fingers press. */
void tact_session_find_grip_points(struct tact_session *s);
/* Once the torques are known: the force of the drives. */
void tact_session_measure_grips(struct tact_session *s);

#endif
