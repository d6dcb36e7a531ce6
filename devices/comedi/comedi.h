/**
 * Measurement cards through comedi: analog, digital and counter inputs, analog and digital outputs.
 * One device a board; a scene may have several.
 *
 *   board           node of the board; default /dev/comedi0
 *   inputs          "angle=ai0 force=ai2 pedal=!di1 turn=counter0": names and what is behind them.
 *                   ! makes a digital channel active low; ai0@3 is channel 0 of subdevice 3,
 *                   without it the first subdevice of that kind is meant
 *   outputs         "current=ao0 enable=do3"
 *   reference       of analog inputs: ground (default), common, differential, other
 *   input_range     [V] rows of [low, high], one for all or one each; default: the board's first
 *   output_range    the same for the outputs
 *   input_map       rows of up to 4 coefficients c: value = c0 + c1 x + c2 x^2 + c3 x^3, x in volts
 *                   (counters: in counts from the opening on); default [0, 1]
 *   output_map      the same the other way: volts from the value that is sent
 *   maps            map of coefficients by an input's name, instead of input_map, as tact calibrate
 *                   writes it: "maps: {angle: [0.02, 0.15]}"
 *   input_units     "rad N": for people and logs; default V, count
 *   output_units    the same for the outputs
 *   limits          rows of [low, high], in the inputs' units: what is outside cannot be
 *   calibrated_for  name of the board that maps and bias were measured with; others are refused
 *   calibration     file of a board with software calibration (comedi_soft_calibrate)
 *   recording       file of raw words, of tact run --record-devices, that is played in place of a
 *                   board: the inputs that were recorded, in the range that they were read in; all
 *                   else is as the settings are now. Outputs go nowhere
 *   saturated       ticks in a row at an end of the range, or outside the limits, that are a fault;
 *                   default 3
 *   stuck           ticks without any change of an analog input that are a fault; default 0: never
 *   recover         [s] without fault after which outputs come back, over 0.2 s; default 0.1
 *
 *   stream          [Hz] scans a second of all analog inputs, which the board then makes by itself,
 *                   where its driver can; default: they are read in the tick
 *   stream_timeout  [s] age of the latest scan that is a fault; default 0.05
 *
 *   wrenches        list of force-torque sensors, at most 4, each with
 *     name          letters, digits and _: of its channels NAME_fx ... NAME_tz and NAME_overload
 *     channels      "g0 g1 g2 g3 g4 g5": the inputs, 6 to 8 analog ones, that are its gauges
 *     matrix        6 rows (fx fy fz tx ty tz) of a number a gauge, by the inputs' units
 *     units         of the matrix: "N Nm" (default), "N N-mm", "lbf lbf-in", ...
 *     file          instead of matrix and units: calibration file of ATI (*.cal)
 *     bias          of the gauges without load, in the inputs' units; default 0
 *                   (in a calibration file: bias: {NAME: [...]}, beside `wrenches`)
 *     tare          [s], 0 to 10, by which the bias is measured when opened; default 0: it is not
 *     limits        [N, N m] largest magnitude of the six axes; default: none
 *     position      [m] of the sensor in the frame of the wrench; default 0
 *     quat_wxyz     of the sensor in that frame; default 1 0 0 0
 *     frame         name of that frame, for logs; default: the sensor's name
 *
 *   guard           true (default): a process of its own writes the outputs, see guard/guard.h;
 *                   false: the loop does, and a loop that is killed leaves them as they are
 *   timeout         [s] silence of the loop after which the guard zeroes the outputs; default four
 * periods, at least 3 ms
 *
 * Tables have a row for each channel of `inputs` (of `outputs`) that is not digital, or one row.
 *
 * A stream is read by a thread; the tick takes the latest whole scan without a system call. Two
 * more inputs are its age, stream_age [s], and the number of its restarts, stream_lost: after the
 * board's buffer was full, or the board gone. Ticks in a row are then scans that the loop has
 * seen.
 *
 * A wrench is matrix (gauges - bias), in N and N m, about the origin of its frame. While a gauge is
 * at an end of its range or at fault, the six axes are held; an axis over its limit is not clamped.
 * Either shows in NAME_overload, the sum of 1 << i for each such gauge i and of 256 << k for each
 * axis k that was over its limit for `saturated` ticks, and is a fault as that of any input.
 *
 * All inputs are read in one system call a tick, all outputs written in another. The subdevices of
 * the outputs are locked: no other process can write them.
 *
 * Outputs are zero, that is, analog ones have the value that 0 maps to and digital ones are
 * inactive, from the opening to the first tick, after closing, and:
 * - while an input is at fault (saturated, outside its limits, stuck) or cannot be read, or the
 *   outputs could not be written: the state is STALE, what is at fault is held at its last good
 *   value, and the device itself writes zeros, whatever it is sent;
 * - when the guard has zeroed them: the state is STALE until only zeros were sent for 50 ms, as
 * when the deadman is released. A loop that continues after a stop therefore moves nothing;
 * - when the guard is gone: the state is LOST until the device is opened again;
 * - when the board is gone: the state is LOST in that tick, analog values are held, digital ones
 *   are 0. A monitor thread searches for the board every 50 ms and hands it to the loop when the
 * same one (by driver and name) is back.
 *
 * Every fault, loss and return is reported.
 *
 * Real-time: reading is one ioctl(2), or none where all is streamed; writing one futex(2) (without
 * a guard one ioctl). The driver decides how long a conversion takes.
 */
#ifndef TACT_DEVICES_COMEDI_H
#define TACT_DEVICES_COMEDI_H

#include "../../contact/api.h"
#include "../../rt/device.h"

TACT_BEGIN_DECLS

/** The type "comedi". */
extern TACT_API const struct tact_device_type tact_comedi_type;

TACT_END_DECLS

#endif
