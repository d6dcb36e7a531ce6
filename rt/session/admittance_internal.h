/* Joints that the force of a person moves: the ports of admittance devices. */
#ifndef TACT_RT_SESSION_ADMITTANCE_INTERNAL_H
#define TACT_RT_SESSION_ADMITTANCE_INTERNAL_H

#include "rt/session/session_internal.h"

/* A joint that the force of a person moves against its damping. */
struct session_admittance {
    int hand, link;
    double damping;                /* [N s/m, N m s/rad] */
    int admittance_output_count;   /* 1: an output sends its rate, or its position */
    int does_output_send_position; /* 1: that output sends the position, at which the device stops
                        if a tick is skipped */
    struct session_admittance_state {
        double force;                        /* force of the person on the joint [N, N m] */
        double ticks_up_to_last_valid_input; /* up to the last tick with values of all force
                                         devices; 0: none */
        double ticks_up_to_last_input;       /* up to the last tick with inputs; 0: none */
        double rate;   /* rate of the motion that was sent to the joint's device until the next tick
                          [m/s, rad/s] */
        double energy; /* energy absorbed from the person since the start [J] */
        double least_energy; /* smallest energy so far, 0 or less: minus the generated energy [J] */
        double held;         /* ticks in which the last force of a stale device was used */
        double missing;      /* ticks in which a stale device's force was replaced by 0 */
    } state;
    uint32_t field; /* offset of the admittance in the record; 0: none, in the log of an earlier
                       version */
};

#define ADMITTANCE_STATE_NUMBER_COUNT                                                              \
    ((int)(sizeof(struct session_admittance_state) / sizeof(double)))
#define ADMITTANCE_STATE_OFFSET(member)                                                            \
    ((uint32_t)(offsetof(struct session_admittance_state, member) / sizeof(double)))

/* io_tick.c: value of an input, in the joint's unit. Real-time safe. */
double tact_session_input_value(const struct tact_session *s, const struct session_input *in);

/* Adds an input to the joint that its force moves, and creates the joint's admittance on first use.
 * are_inputs_valid: and the deadman is pressed. All functions but the first are
 * real-time safe. */
void tact_session_add_force_input(struct tact_session *s, struct session_input *in, double damping);
struct session_admittance *tact_session_find_admittance(const struct tact_session *s, int hand,
                                                        int link);
/* Applies the forces that move joints: with b v_0 = F, the damper b (v_0 - v) that acts implicitly
 * in the tick is F - b v. The force is 0 while the outputs are not armed, so that the joint does
 * not leave a device that stands still. */
void tact_session_apply_force_inputs(struct tact_session *s, uint64_t tick, int are_inputs_valid);
struct tact_session_port tact_session_admittance_port(const struct tact_session *s,
                                                      const struct session_admittance *a);

#endif
