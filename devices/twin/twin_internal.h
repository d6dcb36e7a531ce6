/* Internals of a twin: its axes, their steps, and its settings. */
#ifndef TACT_DEVICES_TWIN_INTERNAL_H
#define TACT_DEVICES_TWIN_INTERNAL_H

#include <stdbool.h>
#include "twin.h"

/* Coefficients of the exact motion of a mass on spring and damper over a tick: position and (speed
 * times the period) at its end, as linear functions of four values: the same two at its beginning,
 * the applied acceleration [m per squared period] and its change over the tick. */
struct tact_twin_motion_step {
    double position[4];
    double speed[4];
};

/* Computes the step. spring: stiffness period^2 / mass, damper: damping period / mass, both at
 * least 0 and at most TACT_TWIN_MAX_COEFFICIENT. */
void tact_twin_motion_step_init(struct tact_twin_motion_step *step, double spring_coefficient,
                                double damper_coefficient);

/* largest stiffness or damping coefficient: beyond it the motion settles within 1e-6 of a tick */
#define TACT_TWIN_MAX_COEFFICIENT 1e6

/* A delay by a fixed number of ticks. */
struct tact_twin_delay_queue {
    int ticks;
    int delay_ring_index;
    double *value; /* [ticks + 1] ring of delayed values */
};

/* Effects that a device renders itself, on all of its axes. */
enum tact_twin_compute_effect_force {
    TACT_TWIN_SPRING_EFFECT, /* spring toward the centre, level 0 .. 1 */
    TACT_TWIN_SPRING_CENTER, /* the centre of that spring, as a reading of the axis */
    TACT_TWIN_DAMPER_EFFECT, /* damper against the speed, level 0 .. 1 */
    TACT_TWIN_FRICTION_EFFECT,
    TACT_TWIN_VIBRATION_EFFECT, /* level of a sine; the sign of this and the next does not matter */
    TACT_TWIN_HEAVY_RUMBLE_MOTOR, /* heavy (slow) motor of a rumble pad; the next is the light one
                                   */
    TACT_TWIN_LIGHT_RUMBLE_MOTOR,
    TACT_TWIN_EFFECTS
};

/* Meaning of an axis' output. */
enum tact_twin_axis_control {
    TACT_TWIN_MOTOR_FORCE, /* force of the axis' motor */
    TACT_TWIN_SERVO_SPEED, /* speed at which the axis' servo moves it, whatever force acts */
    /* speed too, but the servo moves to the position that results from the sum of these speeds */
    TACT_TWIN_SERVO_POSITION,
    TACT_TWIN_SERVO_TARGET /* position to which the axis' servo moves it */
};

struct tact_twin_axis {
    /* settings of the axis: */
    double mass, damping, friction, stiffness, rest, start;
    double motor_force_per_output,
        motor_limit; /* strength and limit of the motor; motor_limit may be infinite */
    double scale, origin,
        step; /* scale, origin and step of the reading; step 0: none, otherwise from the origin */
    /* range of the reading, mechanical stops of x; may be infinite */
    double range[2], stops[2];
    double grip_stiffness, grip_damping, hand_reach; /* grip, grip damping and reach of the hand */
    int channel_of_hand_device;                      /* channel of the hand, -1: none */
    int output;                                      /* -1: none */
    enum tact_twin_axis_control axis_control;
    double servo_time_constant,
        speed_limit;        /* time constant [s] and maximum speed [m/s] of the servo */
    int force_sensor_input; /* index of the input that measures the hand's force; -1: none */
    double force_reading_resolution; /* resolution of the force reading [N]; 0: not rounded */
    /* strength of each effect at level 1 */
    double effect_spring_stiffness, effect_damper, effect_friction, effect_vibration;
    /* state of the axis: */
    /* coefficients of the motion, computed for these levels of spring and damper effects: */
    struct tact_twin_motion_step motion;
    double spring_level_at_update, damper_level_at_update;
    double x, w;                /* position [m], speed times the period [m] */
    double hand_target;         /* target of the hand at the last tick [m] */
    double last_written_output; /* what was written last: force [N], speed [m/s] or position [m] */
    double force; /* force of the motor after its delay [N]; with a servo that of hand and pushes */
    double servo_target_position; /* position that a position servo moves to [m] */
    struct tact_twin_delay_queue motor_force_delay, sensor, force_sensor;
};

struct tact_twin_device {
    double period;
    int axes, buttons, outputs, sensed_count;
    struct tact_twin_axis axis[TACT_TWIN_AXES];
    int effect[TACT_TWIN_EFFECTS]; /* index of each effect's output; -1: none */
    double effect_frequency[3];    /* frequency of vibration, heavy and light motor [Hz] */
    double written_effect_level[TACT_TWIN_EFFECTS], level[TACT_TWIN_EFFECTS];
    struct tact_twin_delay_queue effect_level_delays[TACT_TWIN_EFFECTS];
    int hand_channel_of_button[TACT_DEVICE_CHANNELS]; /* channel of the hand, -1: none */
    struct tact_twin_delay_queue button_delays[TACT_DEVICE_CHANNELS];
    /* size of the table of pushes: time, then one force for all axes or one for each */
    int push_row_count, push_column_count;
    double *scripted_push_table;
    int unplugged_interval_count;
    double *unplugged_intervals; /* rows [from, until] [s] in which the device is unplugged */
    struct tact_device hand;
    int sensor_delay_ticks;
    bool has_read_any_tick;
    bool is_twin_unplugged;
    uint64_t tick;                                    /* last tick that was read */
    double last_input_readings[TACT_DEVICE_CHANNELS]; /* readings of the input channels in the last
                                                         tick */
};

/* Reads all settings, opens the hand, allocates, sets *info. The caller closes self, also after a
 * failure. @retval 0, or a negative errno with *err set */
int tact_twin_load_settings(struct tact_twin_device *self, const struct tact_device_config *config,
                            struct tact_device_info *info, struct tact_error *err);

/* Reads the settings of the axes, whose number is known: motion, motor, sensor, delays.
 * @retval as tact_twin_load_settings() */
int tact_twin_read_motion(struct tact_twin_device *self, const struct tact_device_config *config,
                          struct tact_error *err);

/* Adds a channel; a duplicate or too long name is refused.
 * @retval as tact_twin_load_settings() */
int tact_twin_add_channel(struct tact_device_channel *channels, int *count, const char *name,
                          const char *unit, const struct tact_device_config *config,
                          const char *key, struct tact_error *err);

/* Reads rows of finite numbers; *rows points into the config and is unchanged if the key is
 * absent.
 * @retval as tact_twin_load_settings() */
int tact_twin_read_table(const struct tact_device_config *config, const char *key, int columns,
                         const double **rows, int *count, struct tact_error *err);

/* Recomputes the motion coefficients of an axis for the spring and damper effects that act now.
 * Real-time safe.
 * @retval -EINVAL too stiff for its mass */
int tact_twin_update_motion_step(const struct tact_twin_device *self, struct tact_twin_axis *axis);

/* Reads which effects the twin has, adds their outputs, and reads their strengths, once the axes
 * are known. @retval as tact_twin_load_settings() */
int tact_twin_read_effects(struct tact_twin_device *self, const struct tact_device_config *config,
                           struct tact_device_info *info, struct tact_error *err);

/* Sets the strength of the effects on an axis to the default, 1. */
void tact_twin_set_effect_defaults(const struct tact_twin_device *self,
                                   struct tact_twin_axis *axis);

/* Stores the output values of a tick, clamped to their ranges. Real-time safe. */
void tact_twin_store_outputs(struct tact_twin_device *self, const double *out);

/* Force of the effects on an axis in a tick [N], without friction; requires `level`. Real-time
 * safe. */
double tact_twin_compute_effect_force(const struct tact_twin_device *self,
                                      const struct tact_twin_axis *axis, uint64_t tick);

/* Applies friction over a tick: reduces the speed, at most to zero. Real-time safe. */
void tact_twin_apply_friction(const struct tact_twin_device *self, struct tact_twin_axis *axis);

/* Puts a value into a delay and returns the delayed one. Real-time safe. */
double tact_twin_delayed_value(struct tact_twin_delay_queue *delay, double value);

/* Sets the output of an axis to no force or no speed; a servo with `control: target` stays at its
 * position. Real-time safe. */
void tact_twin_stop_motor(struct tact_twin_axis *axis);

/* Advances an axis with a servo by a tick. scripted_pushing_force: force on the axis in addition
 * to the hand's [N]; change_of_hand_target: movement of the hand's target in the tick [m].
 * Real-time safe. */
void tact_twin_advance_servo(const struct tact_twin_device *self, struct tact_twin_axis *axis,
                             double scripted_pushing_force, double change_of_hand_target);

/* Reading of the force sensor of an axis [N]. Real-time safe. */
double tact_twin_sensed_force(const struct tact_twin_axis *axis);

/* Reads which axes have servos, and their force sensors. @retval as tact_twin_load_settings() */
int tact_twin_read_servos(struct tact_twin_device *self, const struct tact_device_config *config,
                          struct tact_device_info *info, struct tact_error *err);

/* Reading of the position sensor of an axis, with its resolution and range. Real-time safe. */
double tact_twin_quantised_reading(const struct tact_twin_axis *axis);

#endif
