/**
 * Plays back a device from a log: the inputs that another session's loop read, tick by tick and bit
 * for bit. What the scene derives from them (inputs, markers, deadman) is computed again.
 *
 *   file     required; a log of tact, relative to the scene's folder; of a session that was split
 *            the first file
 *   device   name of the device in the log; default: that of this one
 *   start    [s] of the log that is time 0 here; default 0
 *
 * Input and output channels are those of the recorded device, by name and unit; what is written to
 * the outputs goes nowhere. In each tick it gives the last record that is not later, with its state
 * and, moved to this session's clock, its stamp; before the first one that one, after the last one
 * that one with the state ENDED. So ticks that the log lacks are as if the loop had skipped them
 * again, and a session of another period takes the values as they come.
 */
#ifndef TACT_DEVICES_RECORDING_H
#define TACT_DEVICES_RECORDING_H

#include "../../contact/api.h"
#include "../../rt/device.h"

TACT_BEGIN_DECLS

/** The type "recording". */
extern TACT_API const struct tact_device_type tact_recording_type;

TACT_END_DECLS

#endif
