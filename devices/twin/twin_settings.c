/* Settings of a twin for the motion and the sensors of its axes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/settings.h"
#include "devices/twin/twin_internal.h"

enum { MAX_DELAY = 10000 }; /* [ticks] */

/* A setting that has one number for each axis. */
struct axis_setting {
    const char *key;
    size_t offset; /* offset of the member in struct tact_twin_axis */
    enum { ANY, POSITIVE, NOT_NEGATIVE } sign;
};

/* Reads a setting with one number for all axes, or one for each. */
static int read_axis_setting(struct tact_twin_device *self, const struct tact_device_config *config,
                             const struct axis_setting *axis_setting, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, axis_setting->key);
    const double *numbers = NULL;
    double single;
    int count = 0;
    int rc = tact_settings_list(config, axis_setting->key, &single, &numbers, &count, err);
    if (rc || !setting) {
        return rc;
    }
    if (count != 1 && count != self->axes) {
        return tact_settings_fault(config, setting, err,
                                   "expected one number, or one for each of %d axes, not %d",
                                   self->axes, count);
    }
    for (int i = 0; i < self->axes; i++) {
        double x = numbers[count == 1 ? 0 : i];
        if (axis_setting->sign != ANY &&
            !(x >= 0.0 && (x > 0.0 || axis_setting->sign == NOT_NEGATIVE))) {
            return tact_settings_fault(config, setting, err, "expected a number %s, not %g",
                                       axis_setting->sign == POSITIVE ? "above 0" : "of 0 or more",
                                       x);
        }
        memcpy((char *)&self->axis[i] + axis_setting->offset, &x, sizeof x);
    }
    return 0;
}

int tact_twin_read_table(const struct tact_device_config *config, const char *key, int columns,
                         const double **rows, int *count, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, key);
    if (!setting) {
        return 0;
    }
    if (!setting->numbers || setting->columns != columns) {
        return tact_settings_fault(config, setting, err, "expected rows of %d numbers", columns);
    }
    for (int i = 0; i < setting->rows * columns; i++) {
        if (!isfinite(setting->numbers[i])) {
            return tact_settings_fault(config, setting, err, "row %d: not finite", i / columns + 1);
        }
    }
    *rows = setting->numbers;
    *count = setting->rows;
    return 0;
}

/* Reads rows of [low, high], one for all axes or one for each. */
static int read_axis_range_rows(struct tact_twin_device *self,
                                const struct tact_device_config *config, const char *key,
                                size_t offset, struct tact_error *err)
{
    const double *rows = NULL;
    int count = 0;
    int rc = tact_twin_read_table(config, key, 2, &rows, &count, err);
    for (int i = 0; !rc && rows && i < self->axes; i++) {
        const double *row = rows + (ptrdiff_t)2 * (count == 1 ? 0 : i);
        if (count != 1 && count != self->axes) {
            rc = tact_settings_fault(config, tact_settings_find(config, key), err,
                                     "expected one row, or one for each of %d axes, not %d",
                                     self->axes, count);
        } else if (!(row[0] < row[1])) {
            rc = tact_settings_fault(config, tact_settings_find(config, key), err,
                                     "%g is not below %g", row[0], row[1]);
        } else {
            memcpy((char *)&self->axis[i] + offset, row, 2 * sizeof *row);
        }
    }
    return rc;
}

/* Reads a delay [s] that must be a whole number of ticks. */
static int read_delay_setting(const struct tact_twin_device *self,
                              const struct tact_device_config *config, const char *key, int *ticks,
                              struct tact_error *err)
{
    double seconds = 0.0;
    int rc = tact_settings_number(config, key, &seconds, err);
    double exact_tick_count = seconds / self->period, whole = nearbyint(exact_tick_count);
    if (rc) {
        return rc;
    }
    if (!(exact_tick_count >= 0.0 && exact_tick_count <= MAX_DELAY &&
          fabs(exact_tick_count - whole) <= 1e-6 * (1.0 + exact_tick_count))) {
        return tact_settings_fault(
            config, tact_settings_find(config, key), err,
            "expected a multiple of the period, %g s, of at most %d periods, not %g s",
            self->period, MAX_DELAY, seconds);
    }
    *ticks = (int)whole;
    return 0;
}

/* Reads the resolution of the position reading: the size of a step, or a number of bits. */
static int read_reading_resolution(struct tact_twin_device *self,
                                   const struct tact_device_config *config, struct tact_error *err)
{
    const struct tact_device_setting *setting = tact_settings_find(config, "bits");
    double bits = 1.0;
    int rc = tact_settings_number(config, "bits", &bits, err);
    if (rc || !setting) {
        return rc;
    }
    if (tact_settings_find(config, "step") || !tact_settings_find(config, "range")) {
        return tact_settings_fault(config, setting, err,
                                   "this key needs the key range, and excludes the key step");
    }
    if (!(bits >= 1.0 && bits <= 32.0 && bits == nearbyint(bits))) {
        return tact_settings_fault(config, setting, err,
                                   "expected a whole number from 1 to 32, not %g", bits);
    }
    for (int i = 0; i < self->axes; i++) {
        struct tact_twin_axis *a = &self->axis[i];
        a->origin = a->range[0];
        a->step = (a->range[1] - a->range[0]) / (ldexp(1.0, (int)bits) - 1.0);
    }
    return 0;
}

/* Computes the motion coefficients of an axis over a tick, once all of its parameters are known. */
static int initialise_axis_motion(struct tact_twin_device *self,
                                  const struct tact_device_config *config, struct tact_error *err)
{
    for (int i = 0; i < self->axes; i++) {
        struct tact_twin_axis *a = &self->axis[i];
        if (a->channel_of_hand_device < 0) { /* without a hand, its grip has no stiffness */
            a->grip_stiffness = a->grip_damping = 0.0;
        }
        self->level[TACT_TWIN_SPRING_EFFECT] = self->level[TACT_TWIN_DAMPER_EFFECT] = 1.0;
        int rc = tact_twin_update_motion_step(self, a);
        self->level[TACT_TWIN_SPRING_EFFECT] = self->level[TACT_TWIN_DAMPER_EFFECT] = 0.0;
        a->spring_level_at_update = -1.0; /* forces recomputation */
        if (rc) {
            return tact_settings_fault(
                config, tact_settings_find(config, "mass"), err,
                "an axis of mass %g is too light for its springs and dampers at a period of %g s: "
                "expected a larger mass, or less stiffness and damping",
                a->mass, self->period);
        }
        a->x = a->servo_target_position = a->start;
    }
    return 0;
}

/* Allocates a delay whose queue is filled with its initial value. */
static int allocate_delay_queue(struct tact_twin_delay_queue *delay, int ticks, double value)
{
    delay->ticks = ticks;
    delay->value = calloc((size_t)ticks + 1, sizeof *delay->value);
    for (int i = 0; delay->value && i <= ticks; i++) {
        delay->value[i] = value;
    }
    return delay->value ? 0 : -ENOMEM;
}

static int allocate_delay_queues(struct tact_twin_device *self,
                                 const struct tact_device_config *config, struct tact_error *err)
{
    int motor_force_delay_ticks = 0;
    int rc = read_delay_setting(self, config, "delay", &self->sensor_delay_ticks, err);
    rc = rc ? rc : read_delay_setting(self, config, "force_delay", &motor_force_delay_ticks, err);
    if (rc) {
        return rc;
    }
    for (int i = 0; !rc && i < self->axes; i++) {
        struct tact_twin_axis *a = &self->axis[i];
        self->last_input_readings[i] = tact_twin_quantised_reading(a);
        a->last_written_output = a->axis_control == TACT_TWIN_SERVO_TARGET ? a->start : 0.0;
        rc = allocate_delay_queue(&a->motor_force_delay, motor_force_delay_ticks,
                                  a->last_written_output);
        rc = rc ? rc
                : allocate_delay_queue(&a->sensor, self->sensor_delay_ticks,
                                       self->last_input_readings[i]);
        rc = rc ? rc : allocate_delay_queue(&a->force_sensor, self->sensor_delay_ticks, 0.0);
    }
    for (int i = 0; !rc && i < self->buttons; i++) {
        rc = allocate_delay_queue(&self->button_delays[i], self->sensor_delay_ticks, 0.0);
    }
    for (int i = 0; !rc && i < TACT_TWIN_EFFECTS; i++) {
        rc = allocate_delay_queue(&self->effect_level_delays[i], motor_force_delay_ticks, 0.0);
    }
    return rc ? tact_error_set(err, rc, "out of memory") : 0;
}

#define AXIS_SETTING_ENTRY(key, member, sign)                                                      \
    {                                                                                              \
        key, offsetof(struct tact_twin_axis, member), sign                                         \
    }

int tact_twin_read_motion(struct tact_twin_device *self, const struct tact_device_config *config,
                          struct tact_error *err)
{
    static const struct axis_setting axis_setting[] = {
        AXIS_SETTING_ENTRY("mass", mass, POSITIVE),
        AXIS_SETTING_ENTRY("damping", damping, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("friction", friction, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("stiffness", stiffness, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("rest", rest, ANY),
        AXIS_SETTING_ENTRY("start", start, ANY),
        AXIS_SETTING_ENTRY("strength", motor_force_per_output, ANY),
        AXIS_SETTING_ENTRY("force_limit", motor_limit, POSITIVE),
        AXIS_SETTING_ENTRY("scale", scale, ANY),
        AXIS_SETTING_ENTRY("step", step, POSITIVE),
        AXIS_SETTING_ENTRY("hand_reach", hand_reach, ANY),
        AXIS_SETTING_ENTRY("hand_stiffness", grip_stiffness, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("hand_damping", grip_damping, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("lag", servo_time_constant, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("speed_limit", speed_limit, POSITIVE),
        AXIS_SETTING_ENTRY("sensed_step", force_reading_resolution, POSITIVE),
        AXIS_SETTING_ENTRY("effect_spring", effect_spring_stiffness, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("effect_damper", effect_damper, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("effect_friction", effect_friction, NOT_NEGATIVE),
        AXIS_SETTING_ENTRY("effect_vibration", effect_vibration, NOT_NEGATIVE),
    };
    int rc = 0;
    for (int i = 0; i < self->axes; i++) {
        self->axis[i].motor_force_per_output = self->axis[i].scale = self->axis[i].hand_reach = 1.0;
        tact_twin_set_effect_defaults(self, &self->axis[i]);
        self->axis[i].motor_limit = self->axis[i].range[1] = self->axis[i].stops[1] = INFINITY;
        self->axis[i].speed_limit = INFINITY;
        /* the mass of an axis with a servo has no effect */
        self->axis[i].mass = self->axis[i].axis_control == TACT_TWIN_MOTOR_FORCE ? 0.0 : 1.0;
        self->axis[i].range[0] = self->axis[i].stops[0] = -INFINITY;
    }
    if (!tact_settings_find(config, "mass") &&
        self->axis[0].axis_control == TACT_TWIN_MOTOR_FORCE) {
        return tact_settings_fault(config, NULL, err, "missing key \"mass\"");
    }
    for (size_t i = 0; !rc && i < sizeof axis_setting / sizeof *axis_setting; i++) {
        rc = read_axis_setting(self, config, &axis_setting[i], err);
    }
    rc = rc ? rc
            : read_axis_range_rows(self, config, "range", offsetof(struct tact_twin_axis, range),
                                   err);
    rc = rc ? rc
            : read_axis_range_rows(self, config, "stops", offsetof(struct tact_twin_axis, stops),
                                   err);
    rc = rc ? rc : read_reading_resolution(self, config, err);
    rc = rc ? rc : initialise_axis_motion(self, config, err);
    return rc ? rc : allocate_delay_queues(self, config, err);
}
