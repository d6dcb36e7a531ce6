/** Six-axis force-torque sensors: a wrench from six to eight gauges through a calibration matrix.
 */
#ifndef TACT_DEVICES_WRENCH_INTERNAL_H
#define TACT_DEVICES_WRENCH_INTERNAL_H

#include <stdbool.h>
#include "../../contact/vec.h"
#include "../../rt/device.h"

#define TACT_WRENCH_GAUGES 8 /* maximum of one sensor; the minimum is 6 */

/** wrench = matrix (gauges - bias): force [N], torque [N m]. */
struct tact_wrench_map {
    int gauges;
    double matrix[6][TACT_WRENCH_GAUGES]; /* [N, N m] by the gauges' unit */
    double bias[TACT_WRENCH_GAUGES];      /* bias of the gauges at rest, in their unit */
};

/** Computes the wrench from the gauges. Real-time safe. */
void tact_wrench_from_gauges(const struct tact_wrench_map *map, const double *gauges,
                             double wrench[6]);

/** Transforms the map to another frame and its origin. pose: of the sensor in that frame. */
void tact_wrench_transform_map(struct tact_wrench_map *map, const struct tact_pose *pose);

/** Newtons in a unit of force ("lbf"), newton metres in one of torque ("N-mm"), metres in one of
 *  length; case and the characters " -.*" do not count, but for the first letter of mN and MN.
 * @retval 0, or -EINVAL for an unknown unit
 */
int tact_wrench_force_unit(const char *word, double *newtons);
int tact_wrench_torque_unit(const char *word, double *newton_metres);
int tact_wrench_length_unit(const char *word, double *metres);

/** Reads the matrix of a calibration file of ATI (DAQ transducers, *.cal), in its units' SI: the
 *  rows UserAxis or, where there are none, Axis by its scale about the origin of BasicTransform.
 *  The bias is 0. which: of the calibrations in the file, from 1; 0: there may be only one.
 *  @retval 0, or a negative errno with *err filled: file, line and why */
int tact_wrench_read_ati(const char *path, int which, struct tact_wrench_map *map,
                         struct tact_error *err);

/** A sensor as the settings describe it. */
struct tact_wrench {
    char name[24];
    char frame[TACT_DEVICE_NAME]; /* frame of the wrench */
    struct tact_wrench_map map;
    int gauge[TACT_WRENCH_GAUGES];  /* index of the device's input */
    double limit[6];                /* maximum magnitude of each axis [N, N m] */
    double bias_measuring_duration; /* [s] of measuring the bias when opened; 0: not measured */
    bool has_bias;                  /* a bias is set or measured */
};

/** Channels that a sensor adds to its device: fx fy fz tx ty tz, then what is overloaded: 1 << i
 *  for gauge i, 256 << k for axis k. */
enum { TACT_WRENCH_CHANNELS = 7, TACT_WRENCH_AXIS_BIT = 8 };
extern const char *const tact_wrench_axes[6];

/** Reads the settings "wrenches[0].name", ... of a device whose inputs have these names.
 *  @retval number of sensors, at most `most`, or a negative errno with *err filled */
int tact_wrench_settings(const struct tact_device_config *config,
                         const struct tact_device_channel *inputs, int input_count,
                         struct tact_wrench *wrenches, int most, struct tact_error *err);

/** Describes the sensor and its channels, of which `first` is the device's first. */
void tact_wrench_describe(const struct tact_wrench *wrench, int first,
                          struct tact_device_info *info);

#endif
