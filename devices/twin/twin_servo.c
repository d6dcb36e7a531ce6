/* Axes that are moved by servos, as in admittance devices: they follow a commanded speed
 * or position, whatever the hand does, and measure the hand's force. */
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "devices/common/settings.h"
#include "devices/twin/twin_internal.h"

/* Outputs that are targets are in the unit of the axis' reading, which measures where the axis is.
 */
static int describe_servo_target_channels(const struct tact_twin_device *self,
                                          const struct tact_device_config *config,
                                          struct tact_device_info *info, struct tact_error *err)
{
    static const char *const motor_setting_keys[] = {"strength", "force_limit"};
    for (int i = 0; i < 2; i++) {
        const struct tact_device_setting *setting =
            tact_settings_find(config, motor_setting_keys[i]);
        if (setting) {
            return tact_settings_fault(config, setting, err,
                                       "this key is not for \"control: target\", whose outputs are "
                                       "positions in the unit of the reading");
        }
    }
    for (int i = 0; i < self->axes; i++) {
        if (self->axis[i].output >= 0) {
            struct tact_device_channel *output = &info->output[self->axis[i].output];
            memcpy(output->unit, info->input[i].unit, sizeof output->unit);
            output->raw = 1 + i;
        }
    }
    return 0;
}

int tact_twin_read_servos(struct tact_twin_device *self, const struct tact_device_config *config,
                          struct tact_device_info *info, struct tact_error *err)
{
    static const char *const words[] = {"force", "rate", "position", "target"};
    static const char *const servo_setting_keys[] = {"lag", "speed_limit", "sensed_step"};
    const char *names = NULL;
    char name[256];
    int axis_control = TACT_TWIN_MOTOR_FORCE, axis = 0;
    int rc = tact_settings_choice(config, "control", words, 4, &axis_control, err);
    rc = rc ? rc : tact_settings_text(config, "sensed", &names, err);
    for (int i = 0; !rc && axis_control == TACT_TWIN_MOTOR_FORCE && i < 3; i++) {
        if (tact_settings_find(config, servo_setting_keys[i])) {
            rc = tact_settings_fault(
                config, tact_settings_find(config, servo_setting_keys[i]), err,
                "this key is only for \"control: rate\", \"position\" and \"target\"");
        }
    }
    for (int i = 0; i < self->axes; i++) {
        self->axis[i].axis_control = (enum tact_twin_axis_control)axis_control;
        self->axis[i].force_sensor_input = -1;
    }
    if (!rc && names && axis_control == TACT_TWIN_MOTOR_FORCE) {
        rc = tact_settings_fault(config, tact_settings_find(config, "sensed"), err,
                                 "this key is only for \"control: rate\", \"position\" and "
                                 "\"target\"");
    }
    while (!rc && names && tact_settings_word(&names, name, sizeof name)) {
        if (axis == self->axes) {
            return tact_settings_fault(config, tact_settings_find(config, "sensed"), err,
                                       "expected at most one name for each axis (\"-\" for none)");
        }
        if (strcmp(name, "-") != 0) {
            self->axis[axis].force_sensor_input = self->axes + self->buttons + self->sensed_count++;
            rc = tact_twin_add_channel(info->input, &info->input_count, name, "N", config, "sensed",
                                       err);
        }
        axis++;
    }
    return rc || axis_control != TACT_TWIN_SERVO_TARGET
               ? rc
               : describe_servo_target_channels(self, config, info, err);
}

void tact_twin_stop_motor(struct tact_twin_axis *a)
{
    a->last_written_output = a->axis_control == TACT_TWIN_SERVO_TARGET ? a->x : 0.0;
    for (int i = 0; a->axis_control == TACT_TWIN_SERVO_TARGET && i <= a->motor_force_delay.ticks;
         i++) {
        a->motor_force_delay.value[i] = a->x;
    }
}

/* Computes the speed of the servo [m/s], within its limit; a position servo moves toward the sum of
 * the commanded speeds, or a target. Only the limited speed is added up, so that the servo stops
 * when the output is 0. */
static double compute_servo_speed(const struct tact_twin_device *self, struct tact_twin_axis *a,
                                  double delayed_servo_output)
{
    double speed = fmin(a->speed_limit, fmax(-a->speed_limit, delayed_servo_output));
    if (a->axis_control == TACT_TWIN_SERVO_TARGET) {
        speed = (fmin(a->stops[1], fmax(a->stops[0], delayed_servo_output)) - a->x) / self->period;
    } else if (a->axis_control == TACT_TWIN_SERVO_POSITION) {
        const double next = a->servo_target_position + self->period * speed;
        a->servo_target_position = fmin(a->stops[1], fmax(a->stops[0], next));
        speed = (a->servo_target_position - a->x) / self->period;
    }
    return fmin(a->speed_limit, fmax(-a->speed_limit, speed));
}

void tact_twin_advance_servo(const struct tact_twin_device *self, struct tact_twin_axis *a,
                             double scripted_pushing_force, double change_of_hand_target)
{
    const double h = self->period, previous_speed = a->w / h;
    const double speed = compute_servo_speed(
        self, a, tact_twin_delayed_value(&a->motor_force_delay, a->last_written_output));
    /* fraction of the difference to the commanded speed by which the speed changes in this tick */
    const double reached_speed_difference_fraction =
        a->servo_time_constant > 0.0 ? -tact_expm1(-h / a->servo_time_constant) : 1.0;
    const double speed_at_end_of_tick =
        previous_speed + reached_speed_difference_fraction * (speed - previous_speed);
    a->x += h * speed +
            a->servo_time_constant * reached_speed_difference_fraction * (previous_speed - speed);
    a->w = h * speed_at_end_of_tick;
    if (a->x < a->stops[0] || a->x > a->stops[1]) {
        a->x = a->x < a->stops[0] ? a->stops[0] : a->stops[1];
        a->w = 0.0;
    }
    a->hand_target += change_of_hand_target;
    a->force = a->grip_stiffness * (a->hand_target - a->x) +
               a->grip_damping * (change_of_hand_target - a->w) / h + scripted_pushing_force;
}

double tact_twin_sensed_force(const struct tact_twin_axis *axis)
{
    return axis->force_reading_resolution > 0.0
               ? axis->force_reading_resolution *
                     nearbyint(axis->force / axis->force_reading_resolution)
               : axis->force;
}
