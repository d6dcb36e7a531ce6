/* The devices at the other ends of couplings, by the scene or by calibration files. */
#ifndef TACT_RT_SESSION_PORT_INTERNAL_H
#define TACT_RT_SESSION_PORT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include "contact/error.h"
#include "rt/scene/scene.h"

struct tact_session;
struct session_coupling;
struct session_input;

#define MAX_PORT_DELAY_TICKS 1000 /* longest delay of a device whose forces are kept [ticks] */

/* Forces that were sent to a device before the last tick and have not acted yet, and the last one
 * that has. */
struct session_port_delay {
    int count;                           /* number of these forces; 0: a force acts at once */
    double second_oldest_force_fraction; /* fraction of the tick, 0 to 1, in which the second oldest
                                    of these forces acts; in the rest the oldest one acts */
    double *force;                       /* [count] newest first [N m, N] */
    double ticks_without_contact; /* number of ticks since the hand touched, up to count + 1: then
                    no force of a contact acts any more */
    uint32_t field;               /* offset of these values in the record */
};

/* Port of a joint with a drive: a device whose position sets the joint's target and that receives
 * the drive's reaction. */
struct session_drive_port {
    int hand, link, device;
    char name[256]; /* name of the joint; "JOINT DEVICE" where the joint has several of these
                       devices */
    struct session_port_delay delay;
    double device_position_in_tick; /* position of its device in this tick, as in its state */
    struct session_drive_port_state {
        double position; /* position of the device in the last tick in which it had values, by its
                            inputs to the joint without offset and clamp [rad, m] */
        double ticks;  /* number of ticks up to the one of `position`; 0: none yet, or lost since */
        double force;  /* force that the device exerts until the next tick, in the units of the
                          joint [N m, N] */
        double energy; /* absorbed from the person since the start [J] */
        double least_energy; /* the least of it so far, 0 or less: generated [J] */
    } state;
    uint32_t field; /* offset of its field in the record: the state, then the forces of the delay */
};

enum { DRIVE_PORT_STATE_NUMBERS = sizeof(struct session_drive_port_state) / sizeof(double) };
/* Offset of a member of a drive port's state among the doubles of its record field. */
#define DRIVE_PORT_STATE_OFFSET(member)                                                            \
    ((uint32_t)(offsetof(struct session_drive_port_state, member) / sizeof(double)))
/* End of the names of their record fields. */
#define DRIVE_PORT_FIELD_SUFFIX "_drive_port"

/* Properties of the device at the other end of a coupling. */
struct session_port {
    int are_axis_numbers_known;     /* 1: it has numbers: */
    struct tact_scene_port numbers; /* device properties in the units of the joint; with a tool, in
                                       those of the device */
    int calibrated_device_index;    /* index of the device whose calibration file states the
                                 properties, or    -1 */
    double stable_wall_stiffness;   /* smallest stiffness of a wall that was stable in calibration;
                          INFINITY: none known */
    double force_filter_cutoff;     /* lowest cut-off of the filters of its force [Hz]; 0: none */
    double bound_stiffness;   /* stiffness c of the energy bound [N m/rad, N/m]; 0: no bound */
    double max_damping;       /* limit of passivity damping [N m s/rad, N s/m]; 0: none */
    int reaction_device;      /* index of the device that receives the reaction, where the inputs of
                                 other devices do not move the port, or -1 */
    int has_own_input_sum;    /* 1: an input of the joint has a clamp, beyond which its device moves
                                 too, or is of a device that is not at the port: the motion of the
                                 port is not that of the joint's target. 0 of an attitude */
    double input_sum;         /* then the last good sum of the inputs of the port, without clamps
                                 [rad, m] */
    uint32_t input_sum_field; /* offset of that sum in the record */
    struct session_port_delay delay;
};

/* 1 where an input sets the target of a coupling's joint and is of the device at its port. */
int tact_session_is_input_of_port(const struct session_coupling *c, const struct session_input *in);
/* Sets the device properties of all couplings, once inputs and outputs are connected. */
void tact_session_set_ports(struct tact_session *s);
/* Haptic axis of an input channel in its device's calibration file, or NULL. */
const struct tact_scene_haptic_axis *tact_session_find_haptic_axis(const struct tact_session *s,
                                                                   int device, int channel);
/* Delay from sensor to force that a device has measured while it was opened: of its input `delay`
 * [s], whose value at rest it is. */
double tact_session_device_delay(const struct tact_session *s, int device);
/* Largest of these delays, of the devices that move a coupled joint [s]. */
double tact_session_measured_delay_of_coupling(const struct tact_session *s,
                                               const struct session_coupling *c);
/* Delay of a coupling's device: stated, calibrated or measured, the longest [s]. */
double tact_session_port_delay(const struct tact_session *s, const struct session_coupling *c);
/* Prepares a delay [s]: the number of ticks is bounded by MAX_PORT_DELAY_TICKS. 0 or -ENOMEM. */
int tact_session_set_port_delay(struct session_port_delay *delay, double time, double period);
/* Prepares the delays of all couplings' ports; none for a log of an earlier version. 0 or -ENOMEM.
 */
int tact_session_set_port_delays(struct tact_session *s);
/* Checks a delay of a device [s] against MAX_PORT_DELAY_TICKS. 0, or -EINVAL with the joint in the
 * text.
 */
int tact_session_check_port_delay(const struct tact_session *s, double delay, const char *joint,
                                  struct tact_error *err);
void tact_session_free_port_delays(struct tact_session *s);
/* Work that a port has absorbed by a displacement of its device since the last tick, and stores
 * `sent_force`, which was sent in the last tick, as the newest force that has not acted yet.
 * Real-time safe. */
double tact_session_port_work(struct session_port_delay *delay, double sent_force,
                              double displacement);
/* Adds the work since the last tick to the energy of a group of n couplings, which its first one
 * has. Real-time safe. */
void tact_session_add_port_work(struct session_coupling *c, int n);
/* Ratio of the stiffness at the device to that of the coupling: the largest product of its tool's
 * scales. */
double tact_session_coupling_gain(const struct session_coupling *c);
/* Adds a calibrated device axis to a port, if there is one. motion: scale from axis motion to joint
 * motion; force: scale from joint force to axis force. */
void tact_session_add_haptic_axis(const struct tact_session *s, struct session_port *port,
                                  int device, int channel, double motion, double force);
/* The stiffest wall that the device of a port renders, whose numbers are known, in their units
 * [N/m, N m/rad]. */
double tact_session_max_stiffness_of_port(const struct tact_session *s,
                                          const struct session_port *port);
/* The most damping of a coupling with which its device, whose mass is known, comes to rest when it
 * is released, in the units of its port [N s/m, N m s/rad]. */
double tact_session_max_damping_of_coupling(const struct tact_session *s,
                                            const struct session_coupling *c);
/* Checks a stiffness, in the units of a calibrated port, against the calibration: the stiffness
 * that was stable in a press test or, without one, 2 friction / resolution, and that of the delay.
 * With an energy bound it may only cause a warning. expected: what the message proposes beside less
 * stiffness. 0, or -EINVAL with the joint in the text. */
int tact_session_check_calibrated_stiffness(const struct tact_session *s,
                                            const struct session_port *port, double stiffness,
                                            int has_energy_bound, const char *joint,
                                            const char *expected, struct tact_error *err);
/* port_matrix.c: checks the matrices of bases against their devices. 0 or -EINVAL. */
int tact_session_check_base_matrices(const struct tact_session *s, struct tact_error *err);
/* Refuses a coupling that is stiffer than the calibration of its device allows, or whose damping
 * makes a known device oscillate; warns of one whose device is not known and receives its force. */
int tact_session_check_ports(const struct tact_session *s, struct tact_error *err);

/* drive_port.c: finds the ports of drives, once inputs and outputs are connected. 0 or -ENOMEM. */
int tact_session_connect_drive_ports(struct tact_session *s);
void tact_session_free_drive_ports(struct tact_session *s);
/* Checks the delays of their devices, and the stiffness of the drives against their calibrations. 0
 * or -EINVAL. */
int tact_session_check_drive_ports(const struct tact_session *s, struct tact_error *err);
/* Adds the work since the last tick, once the devices are read. Real-time safe. */
void tact_session_add_drive_port_work(struct tact_session *s, uint64_t tick);

/* 1: the record has the port of a coupling, beside the coupling. */
int tact_session_has_port_field(const struct tact_session *s, const struct session_coupling *c);

#endif
