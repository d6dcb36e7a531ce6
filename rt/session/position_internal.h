/* Outputs that are positions: the device moves to them, and stays where it is while outputs are not
 * armed. */
#ifndef TACT_RT_SESSION_POSITION_INTERNAL_H
#define TACT_RT_SESSION_POSITION_INTERNAL_H

#include "rt/session/session_internal.h"

/* All output channels of the devices that take positions, used by an output or not. */
struct session_position_outputs {
    int count;
    struct session_position_output {
        int device, channel;
        int position_measuring_channel; /* input of the device that measures the position */
        int output;                     /* index of the output that moves it; -1: none */
        int is_admittance_joint;        /* 1: a person's force moves the joint */
        double limit;                   /* largest |position| [rad, m] */
        struct session_position_output_state {
            double last_sent_device_position; /* position sent last [rad, m] */
            double anchor; /* position to which the motion of the joint is added [rad, m] */
            double joint_position_at_anchor; /* position of the joint at the anchor [rad, m] */
            double is_device_position_known; /* 1: measured since the start, or since the device was
                                                lost */
            double clamped;                  /* 1: the limit acted in the last tick */
        } state;
        uint32_t field; /* offset of its field in the record */
    } position[];
};

#define POSITION_STATE_NUMBER_COUNT                                                                \
    ((int)(sizeof(struct session_position_output_state) / sizeof(double)))

/* Finds the channels that take positions, once the outputs are connected. -ENOMEM. The other
 * functions are real-time safe. */
int tact_session_connect_position_outputs(struct tact_session *s);

/* Sets requested_outputs of the outputs that are positions, for the safety chain: the displacement
 * of each from its anchor. */
void tact_session_request_position_displacements(struct tact_session *s, uint64_t tick);

/* After the safety chain: converts requested_outputs and sent_outputs of these outputs from
 * displacements to positions, and sets the channels of the devices. */
void tact_session_send_limited_positions(struct tact_session *s);

/* Sets the channels of the devices to the positions that were sent last. */
void tact_session_send_last_positions(struct tact_session *s);

#endif
