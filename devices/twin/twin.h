/**
 * The simulated twin of a device: masses on springs and dampers, read through a sensor and pushed
 * by a motor, both with the limits of real ones. Its channels take any names, so that it stands in
 * a scene where the device stood that it is the twin of.
 *
 * Each axis moves by  mass x'' = force - damping x' - friction - stiffness (x - rest) + hand +
 * push, which is solved exactly over a tick: the force is held, the hand's target is a straight
 * line in between. It depends on the scene's time only, so the same scene yields the same values in
 * every run.
 *
 * Numbers are one for all axes, or a list with one for each; rows of two likewise. [m] and [N]
 * stand for [rad] and [N m] as well.
 *
 *   axes            required; "abs_x abs_y": names of the axes, at most 16
 *   forces          "force_x -": outputs that push them, - for none; default: none
 *   buttons         "btn_south=deadman btn_west": further inputs: what that channel of the hand
 *                   says, or without one 0
 *   effects         "damper vibration": outputs as an evdev device has them, which it renders by
 *                   itself on all axes: spring spring_center damper friction vibration strong weak
 *   effect_spring   [N/m] toward the centre (0, or where the reading is spring_center) for 1
 *   effect_damper   [N s/m] for 1
 *   effect_friction [N] against any motion for 1
 *   effect_vibration  [N] amplitude for 1 of vibration, strong and weak; default of the four: 1
 *   frequencies     [Hz] of vibration, strong, weak; default [60, 40, 150]
 *   unfelt          "inertia": outputs that move nothing
 *   units           "rad 1": of the axes' readings, for people and logs; default m
 *   mass            [kg], over 0; required, but of servos, which have none
 *   damping         [N s/m]; default 0
 *   friction        [N] dry; default 0
 *   stiffness       [N/m] toward rest; default 0
 *   rest            [m]; default 0
 *   start           [m] position at the start, at rest; default 0
 *   stops           [low, high] [m]: there the mass loses its speed; default: none
 *   strength        [N] for 1 at the output, of a servo [m/s]; default 1
 *   force_limit     [N] at which the motor saturates, of a servo [m/s]; default: none
 *   force_delay     [s] from the write to the force, in whole ticks; default 0
 *   scale           reading for 1 m; default 1
 *   range           [low, high] of the reading, at which it saturates; default: none
 *   bits            the range is resolved in 2^bits - 1 equal steps, 1 to 32; needs range
 *   step            or: the reading is rounded to multiples of this
 *   delay           [s] by which readings are old, in whole ticks; default 0
 *   push            [N] on all axes; or rows [time s, one for each axis], each held until the next
 *   control         force (default); rate: an output is the speed at which a servo moves the axis,
 *                   against any force, as in an admittance device; position: the same, of a servo
 *                   that is given the position to which the speeds add up, within its stops;
 *                   target: an output is the position to which a servo moves the axis, in the unit
 *                   of its reading, within its stops
 *   lag             [s] time constant of the servo; default 0: at once
 *   speed_limit     [m/s] of the servo; default: none
 *   sensed          "fx -": inputs that measure the force on each axis, of hand and push, with
 *                   control rate, position and target
 *   sensed_step     [N] to multiples of which it is rounded; default: none
 *   lost            rows [from, until] [s] in which it is unplugged
 *   hand            trajectory or operator: whose hand holds it; default: none
 *   hand_channels   "grip turn": its channels that the axes follow, - for none; default: the first
 *   hand_reach      [m] for 1 at that channel; default 1
 *   hand_stiffness  [N/m] of the grip, required
 *   hand_damping    [N s/m] of the grip, on the difference of speeds; default 0
 *   hand_X          setting X of the trajectory or operator: hand_file, hand_script, ...
 *
 * Input channels: the axes, the buttons, then the forces that are measured. Output channels: the
 * forces, the unfelt ones, then the effects. A force written in tick k acts from that tick to the
 * next; so do effects, of which springs and dampers are part of the exact solution, and which
 * force_limit does not limit. While it is unplugged the state is LOST: axes are held, buttons
 * released, the motor is off, a servo stands still. Where the loop skips ticks it moves on, by at
 * most TACT_TWIN_GAP of them. Outputs that are not finite are 0, targets the one before.
 */
#ifndef TACT_DEVICES_TWIN_H
#define TACT_DEVICES_TWIN_H

#include "../../contact/api.h"
#include "../../rt/device.h"

TACT_BEGIN_DECLS

#define TACT_TWIN_AXES 16  /**< most axes */
#define TACT_TWIN_GAP 1000 /**< maximum number of ticks by which a twin advances at once */

/** The type "twin". */
extern TACT_API const struct tact_device_type tact_twin_type;

/** True state of an axis at the last tick that was read: without the sensor's delay, range and
 * resolution. */
struct tact_twin_state {
    double position; /**< [m], [rad] */
    double velocity; /**< [m/s], [rad/s] */
    /** force of the motor since the tick before; with a servo, force of hand and push on it [N], [N
     * m] */
    double force;
};

/** State of an axis by its index from 0. From the thread that reads, or after it has ended.
 * Real-time safe. @retval 0, or -EINVAL if the device is not a twin or has no such axis */
TACT_API int tact_twin_read_state(const struct tact_device *device, int axis,
                                  struct tact_twin_state *state);

TACT_END_DECLS

#endif
