/* Six-axis force-torque sensors: a wrench from six to eight gauges through a calibration matrix.
 */
#ifndef TACT_DEVICES_WRENCH_INTERNAL_H
#define TACT_DEVICES_WRENCH_INTERNAL_H

#include <stdbool.h>
#include "../../contact/vec.h"
#include "../../rt/device.h"

#define TACT_WRENCH_MAX_GAUGES 8 /* maximum number of gauges of a sensor; the minimum is 6 */

/* Calibration of a sensor: wrench = matrix (gauges - bias), with force [N] and torque [N m]. */
struct tact_gauge_map {
    int gauges;
    double matrix[6]
                 [TACT_WRENCH_MAX_GAUGES]; /* calibration matrix [N, N m per unit of the gauges] */
    double gauge_bias[TACT_WRENCH_MAX_GAUGES]; /* bias of the gauges at rest, in their unit */
};

/* Computes the wrench from the gauges. Real-time safe. */
void tact_wrench_from_gauges(const struct tact_gauge_map *map, const double *gauges,
                             double wrench[6]);

/* Transforms the calibration to wrenches in another frame, about its origin. pose: pose of the
 * sensor in that frame. */
void tact_wrench_transform_map(struct tact_gauge_map *map, const struct tact_pose *pose);

/* Factors from a unit to SI: newtons per unit of force ("lbf"), newton metres per unit of torque
 * ("N-mm"), metres per unit of length. Case and the characters " -.*" do not matter, except for the
 * first letter of mN and MN.
 * @retval 0, or -EINVAL for an unknown unit
 */
int tact_wrench_force_unit(const char *word, double *unit_in_newtons);
int tact_wrench_torque_unit(const char *word, double *unit_in_newton_metres);
int tact_wrench_length_unit(const char *word, double *unit_in_metres);

/* Reads the matrix of a calibration file of ATI (DAQ transducers, *.cal), converted to SI units:
 * its rows UserAxis or, where there are none, its rows Axis, scaled and about the origin of
 * BasicTransform. The bias is 0. which: number of the calibration in the file, from 1; 0: the file
 * must have only one.
 * @retval 0, or a negative errno with *err filled: file, line and why */
int tact_wrench_read_ati(const char *path, int calibration_number, struct tact_gauge_map *map,
                         struct tact_error *err);

/* A force-torque sensor as the settings describe it. */
struct tact_force_torque_sensor {
    char name[24];
    char frame[TACT_DEVICE_NAME]; /* name of the frame in which the wrench is expressed */
    struct tact_gauge_map map;
    int gauge[TACT_WRENCH_MAX_GAUGES]; /* index of each gauge among the device's inputs */
    double limit[6];                   /* maximum magnitude of each axis [N, N m] */
    /* [s] time for which the bias is measured when the device is opened; 0: it is not measured */
    double gauge_bias_measuring_duration;
    bool has_gauge_bias; /* a bias is set or was measured */
};

/* Number of channels that a sensor adds to its device: fx fy fz tx ty tz and the overload bits: 1
 * << i for gauge i, 256 << k for axis k. */
enum { TACT_WRENCH_CHANNELS = 7, TACT_WRENCH_AXIS_BIT = 8 };
extern const char *const tact_wrench_axes[6];

/* Reads the settings of force-torque sensors, "wrenches[0].name", ..., of a device with these
 * inputs.
 * @retval number of sensors, at most `most`, or a negative errno with *err filled */
int tact_wrench_read_sensor_settings(const struct tact_device_config *config,
                                     const struct tact_device_channel *inputs, int input_count,
                                     struct tact_force_torque_sensor *force_torque_sensors,
                                     int most, struct tact_error *err);

/* Adds the sensor and its channels to the device's description; first: index of its first channel.
 */
void tact_wrench_describe_channels(const struct tact_force_torque_sensor *wrench, int first,
                                   struct tact_device_info *info);

#endif
