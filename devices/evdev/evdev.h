/**
 * Input through evdev: gamepads, joysticks, wheels, pedals, six-axis pucks.
 *
 * Which device (all that are given must hold; at least one is required):
 *
 *   path            node, e.g. /dev/input/by-id/usb-...-event-joystick
 *   match           part of the device's name
 *   serial          its unique id, in full
 *   phys            where it is plugged in, in full
 *
 * Of several that match, one whose name is exactly `match` is used, else the lowest node, with a
 * message.
 *
 * Input channels: every axis, then every button, by their kernel names in lower case without prefix
 * change: abs_x, rel_rz, btn_south, ... (numbers where the kernel has no name: btn_0x10a); at most
 * TACT_DEVICE_CHANNELS. Multi-touch axes and keyboard keys only where `channels` names them.
 *
 *   channels        "abs_x abs_rz btn_a": these only, in this order and by these names (aliases
 *                   too)
 *   unsigned        "abs_z": the axes that go from 0 to 1, all others from -1 to 1. Without it:
 *                   abs_z, abs_rz, abs_throttle, abs_gas, abs_brake, abs_pressure and abs_hat...
 *                   (triggers, a balance board's sensors) whose minimum is not negative and whose
 *                   value at opening lies within a tenth of the range of an end; at the maximum
 *                   (pedals), they are inverted
 *   inverted        "abs_y abs_z": these axes are turned round (x -> -x, or x -> 1 - x), in place
 *                   of what was found without `unsigned`
 *   deadzone        0 .. 0.9: share of the way from rest that counts as rest; default: the
 *                   device's own (`flat`), and 0 for relative axes. Beyond it values start from 0
 *   relative        displacement: relative axes report their distance from rest (SpaceNavigator),
 *                   and fall to 0 when silent; increment: they are summed up, in counts. Default:
 *                   displacement where the device has rotary ones (rel_rx ...), else increment
 *   relative_range  [counts] displacement that counts as 1; default 350
 *   axis            map of [lowest, at rest, highest, half the width of rest] in counts by axis, as
 *                   measured (tact calibrate), in place of what the driver says. One that rests
 *                   within a tenth of an end goes from 0 to 1 unless `unsigned` is given
 *   calibrated_for  name of the device that these were measured of; any other is refused
 *   raw             true: axes in counts as they come, for calibrating; default false
 *   timeout         [s] a displaced axis that is silent for so long, since the kernel's stamp, is
 *                   at rest; default 0.04. A SpaceNavigator reports a displaced axis every 16 ms:
 * one report may be lost, and 50 ms after the last one nothing is commanded any more
 *
 *   recording       file of raw events, of tact run --record-devices or of evemu-record, that is
 *                   played in place of a device; path, match, serial and phys need not be given
 *
 *   forces          "force_x damper": the outputs, of force_x force_y spring spring_center damper
 *                   friction inertia vibration strong weak, see DEVICES.md; default none
 *   gain, rate, frequency, guard, guard_timeout: of the forces, see there
 *
 * With forces the last input channel is force_age [s]: since the force that is on the device was
 * sent. The guard process plays them (guard/guard.h): writing them is no system call.
 *
 * An absolute axis that is held sends nothing: silence is no staleness, and the state stays OK.
 * When the device goes away the state is LOST in the same tick (within 0.05 s where only its node
 * vanishes): axes are held, buttons (a deadman too) and displacements fall to 0. A monitor thread
 * searches for it every 0.05 s and hands it to the loop when it is back, at the same or another
 * port.
 *
 * stamp_ns is the kernel's stamp of the last event; if the kernel refuses CLOCK_MONOTONIC, which is
 * reported, it is the time of the tick that read it.
 *
 * A recording follows the scene's time. One of tact yields each event in the tick in which it was
 * read, with its stamp moved to this clock, and losses and returns of the device: with the same
 * settings every value is equal bit for bit. One of evemu uses the times of its events. After its
 * end the last values are repeated and the state is ENDED. Forces are ignored, force_age is 0.
 *
 * Real-time: reading is a non-blocking read(2) a tick. libevdev allocates nothing there, after lost
 * events (SYN_DROPPED) neither, when it asks for the state with a few ioctls.
 */
#ifndef TACT_DEVICES_EVDEV_H
#define TACT_DEVICES_EVDEV_H

#include "../../contact/api.h"
#include "../../rt/device.h"

TACT_BEGIN_DECLS

/** The type "evdev". */
extern TACT_API const struct tact_device_type tact_evdev_type;

TACT_END_DECLS

#endif
