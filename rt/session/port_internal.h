/* The devices at the other ends of couplings, by the scene or by calibration files. */
#ifndef TACT_RT_SESSION_PORT_INTERNAL_H
#define TACT_RT_SESSION_PORT_INTERNAL_H

#include "contact/error.h"
#include "rt/scene/scene.h"

struct tact_session;
struct session_coupling;

/* Properties of the device at the other end of a coupling. */
struct session_port {
    int is_known;                   /* 1: it has numbers: */
    struct tact_scene_port numbers; /* device properties in the units of the joint; with a tool, in
                                       those of the device */
    int calibration; /* index of the device whose calibration file states the properties, or -1 */
    double stiffest; /* smallest stiffness of a wall that was stable in calibration; INFINITY: none
                        known */
    double bound;    /* stiffness c of the energy bound [N m/rad, N/m]; 0: no bound */
    double max_damping; /* limit of passivity damping [N m s/rad, N s/m]; 0: none */
};

/* Sets the device properties of all couplings, once inputs and outputs are connected. */
void tact_session_set_ports(struct tact_session *s);
/* Haptic axis of an input channel in its device's calibration file, or NULL. */
const struct tact_scene_haptic_axis *tact_session_find_haptic_axis(const struct tact_session *s,
                                                                   int device, int channel);
/* Delay from sensor to force that a device has measured while it was opened: of its input `delay`
 * [s], whose value at rest it is. */
double tact_session_device_delay(const struct tact_session *s, int device);
/* Ratio of the stiffness at the device to that of the coupling: the largest product of its tool's
 * scales. */
double tact_session_coupling_gain(const struct session_coupling *c);
/* Refuses a coupling that is stiffer than the calibration of its device allows. */
int tact_session_check_ports(const struct tact_session *s, struct tact_error *err);

#endif
