/**
 * The simulated operator: a scripted pair of fingers that closes, holds, turns and releases.
 *
 * It depends on the scene's time only, so the same script yields the same values in every run.
 * Settings:
 *
 * - script: required; rows [time s, grip, turn rad, lift m], times strictly increasing, grip in 0
 * ..
 *   1. Rows are joined by minimum-jerk segments (quintic, at rest in every row); before the first
 *   and after the last row that row is held.
 * - deadman_from: [s] the deadman switch is pressed from this time on; default: always
 * - deadman_until: [s] and released again at this time; default: never
 *
 * Input channels: grip [1] (0 open, 1 closed), turn [rad], lift [m], deadman [1] (0 or 1).
 * Output channels: felt_0 .. felt_7 [N m], the torques that the operator feels.
 */
#ifndef TACT_DEVICES_OPERATOR_H
#define TACT_DEVICES_OPERATOR_H

#include "../../contact/api.h"
#include "../../rt/device.h"

TACT_BEGIN_DECLS

#define TACT_OPERATOR_FELT 8 /**< output channels */

/** The type "operator". */
extern TACT_API const struct tact_device_type tact_operator_type;

/** Torques that were last written to the operator, TACT_OPERATOR_FELT values [N m], 0 before any
 * write. NULL for a device of another type. Call it from the thread that writes, or after it has
 * ended. Real-time safe. */
TACT_API const double *tact_operator_felt(const struct tact_device *device);

TACT_END_DECLS

#endif
