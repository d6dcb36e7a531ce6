/**
 * The trajectory device: plays a recorded motion from a CSV file, resampled to the loop.
 *
 * It depends on the scene's time only. The file is read and checked when the device is opened.
 * Settings:
 *
 * - file: required; CSV, relative to the scene's folder (comma, semicolon, tab or blanks; an
 *   optional first line with the columns' names)
 * - rate: [Hz] of the rows, where the file has no times; or
 * - time: name or number (from 1) of the column of times [s]; equal times are dropped and counted,
 *   times that go back are refused
 * - columns: "px_m py_m 3", names or numbers of the columns to play; default: all but the time
 * - scale: one number, or one per column; default 1
 * - center: true: the first row is subtracted, so that the motion starts at 0; default false
 * - start: [s] the motion starts at this time of the scene; default 0
 * - speed: [1] factor of the motion's speed; default 1
 * - ramp: [s] the motion is blended in from its first row over this time (minimum jerk); default 0
 * - interpolation: cubic (default): Catmull-Rom, through every row with a continuous velocity, may
 *   overshoot between rows; linear
 *
 * Input channels: one per column, named after it (column_N without a header), of unit "". Before
 * `start` the first row is held; after the last row it is held and the state is TACT_DEVICE_ENDED.
 */
#ifndef TACT_DEVICES_TRAJECTORY_H
#define TACT_DEVICES_TRAJECTORY_H

#include "../../contact/api.h"
#include "../../rt/device.h"

TACT_BEGIN_DECLS

/** The type "trajectory". */
extern TACT_API const struct tact_device_type tact_trajectory_type;

TACT_END_DECLS

#endif
