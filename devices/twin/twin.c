#include "devices/twin/twin.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/twin/twin_internal.h"

double tact_twin_delayed_value(struct tact_twin_delay_queue *d, double value)
{
    d->value[d->delay_ring_index] = value;
    d->delay_ring_index = d->delay_ring_index == d->ticks ? 0 : d->delay_ring_index + 1;
    return d->value[d->delay_ring_index];
}

double tact_twin_quantised_reading(const struct tact_twin_axis *axis)
{
    double y = axis->scale * axis->x;
    if (axis->step > 0.0) {
        y = axis->origin + axis->step * nearbyint((y - axis->origin) / axis->step);
    }
    return fmin(axis->range[1], fmax(axis->range[0], y));
}

/* External force on an axis in a tick, from the setting push, in addition to motor and hand. */
static double scripted_push_force(const struct tact_twin_device *self, int axis, uint64_t tick)
{
    const double t = (double)tick * self->period;
    int row = 0;
    const int columns = self->push_column_count;
    while (row < self->push_row_count && self->scripted_push_table[(ptrdiff_t)row * columns] <= t) {
        row++;
    }
    return row ? self->scripted_push_table[(ptrdiff_t)(row - 1) * columns +
                                           (columns > 2 ? 1 + axis : 1)]
               : 0.0;
}

/* Advances an axis by one tick, in which the hand's target moves by change_of_hand_target. */
static void advance_axis_one_tick(const struct tact_twin_device *self, struct tact_twin_axis *a,
                                  double scripted_force_on_axis, double change_of_hand_target)
{
    if (a->axis_control != TACT_TWIN_MOTOR_FORCE) {
        tact_twin_advance_servo(self, a, scripted_force_on_axis, change_of_hand_target);
        return;
    }
    tact_twin_update_motion_step(self, a);
    const double h = self->period, displacement_per_tick_and_force = h * h / a->mass;
    a->force = tact_twin_delayed_value(&a->motor_force_delay, a->last_written_output);
    double spring_and_grip_force = a->stiffness * a->rest + a->grip_stiffness * a->hand_target +
                                   a->grip_damping * change_of_hand_target / h;
    const double step_response_input[4] = {
        a->x, a->w,
        displacement_per_tick_and_force *
            (spring_and_grip_force + a->force + scripted_force_on_axis),
        displacement_per_tick_and_force * a->grip_stiffness * change_of_hand_target};
    a->x = a->w = 0.0;
    for (int i = 0; i < 4; i++) {
        a->x += a->motion.position[i] * step_response_input[i];
        a->w += a->motion.speed[i] * step_response_input[i];
    }
    a->hand_target += change_of_hand_target;
    tact_twin_apply_friction(self, a);
    if (a->x < a->stops[0] || a->x > a->stops[1]) {
        bool is_axis_at_low_stop = a->x < a->stops[0];
        a->x = is_axis_at_low_stop ? a->stops[0] : a->stops[1];
        a->w = is_axis_at_low_stop ? fmax(0.0, a->w) : fmin(0.0, a->w);
    }
}

static double get_hand_target_position(const struct tact_twin_axis *axis,
                                       const struct tact_device_input *hand)
{
    return axis->channel_of_hand_device < 0
               ? 0.0
               : axis->hand_reach * hand->channel[axis->channel_of_hand_device];
}

/* Advances all axes from the last tick to the present one. */
static void advance_axis_motion(struct tact_twin_device *self, uint64_t tick,
                                const struct tact_device_input *hand)
{
    const uint64_t ticks_since_last_read = tick - self->tick;
    const int simulated_tick_count =
        ticks_since_last_read < TACT_TWIN_GAP ? (int)ticks_since_last_read : TACT_TWIN_GAP;
    double change_of_hand_target[TACT_TWIN_AXES];
    for (int i = 0; i < self->axes; i++) {
        change_of_hand_target[i] =
            simulated_tick_count
                ? (get_hand_target_position(&self->axis[i], hand) - self->axis[i].hand_target) /
                      simulated_tick_count
                : 0.0;
    }
    for (int k = 0; k < simulated_tick_count; k++) {
        const uint64_t now = self->tick + (uint64_t)k;
        for (int i = 0; i < TACT_TWIN_EFFECTS; i++) {
            if (self->effect[i] >= 0) {
                self->level[i] = tact_twin_delayed_value(&self->effect_level_delays[i],
                                                         self->written_effect_level[i]);
            }
        }
        for (int i = 0; i < self->axes; i++) {
            struct tact_twin_axis *a = &self->axis[i];
            advance_axis_one_tick(self, a,
                                  scripted_push_force(self, i, now) +
                                      tact_twin_compute_effect_force(self, a, now),
                                  change_of_hand_target[i]);
        }
    }
    for (int i = 0; i < self->axes; i++) {
        self->axis[i].hand_target = get_hand_target_position(&self->axis[i], hand);
    }
}

static bool is_device_unplugged_at(const struct tact_twin_device *self, double t)
{
    for (int i = 0; i < self->unplugged_interval_count; i++) {
        if (t >= self->unplugged_intervals[2 * i] && t < self->unplugged_intervals[2 * i + 1]) {
            return true;
        }
    }
    return false;
}

/* Fills the readings of this tick. While the device is unplugged, axes repeat their readings and
 * force readings are 0. */
static void fill_axis_readings(struct tact_twin_device *self, const struct tact_device_input *hand)
{
    for (int i = 0; i < self->axes; i++) {
        double delayed_position_reading = tact_twin_delayed_value(
            &self->axis[i].sensor, tact_twin_quantised_reading(&self->axis[i]));
        self->last_input_readings[i] =
            self->is_twin_unplugged ? self->last_input_readings[i] : delayed_position_reading;
        if (self->is_twin_unplugged) {
            tact_twin_stop_motor(&self->axis[i]);
        }
        if (self->axis[i].force_sensor_input >= 0) {
            const double delayed_force_reading = tact_twin_delayed_value(
                &self->axis[i].force_sensor, tact_twin_sensed_force(&self->axis[i]));
            self->last_input_readings[self->axis[i].force_sensor_input] =
                self->is_twin_unplugged ? 0.0 : delayed_force_reading;
        }
    }
    for (int i = 0; self->is_twin_unplugged && i < TACT_TWIN_EFFECTS; i++) {
        self->written_effect_level[i] = 0.0;
    }
    for (int i = 0; i < self->buttons; i++) {
        int channel = self->hand_channel_of_button[i];
        double delayed_button_value = tact_twin_delayed_value(
            &self->button_delays[i], channel < 0 ? 0.0 : hand->channel[channel]);
        self->last_input_readings[self->axes + i] =
            self->is_twin_unplugged ? 0.0 : delayed_button_value;
    }
}

static void twin_read(void *data, uint64_t tick, double t, int64_t now_ns,
                      struct tact_device_input *in)
{
    struct tact_twin_device *self = data;
    struct tact_device_input hand = {.state = TACT_DEVICE_OK};
    if (self->hand.ops) {
        self->hand.ops->read(self->hand.self, tick, t, now_ns, &hand);
    }
    if (!self->has_read_any_tick) {
        self->has_read_any_tick = true;
        self->tick = tick;
        for (int i = 0; i < self->axes; i++) {
            self->axis[i].hand_target = get_hand_target_position(&self->axis[i], &hand);
        }
    }
    advance_axis_motion(self, tick, &hand);
    self->tick = tick;
    self->is_twin_unplugged = is_device_unplugged_at(self, t);
    fill_axis_readings(self, &hand);
    in->state = self->is_twin_unplugged ? TACT_DEVICE_LOST : TACT_DEVICE_OK;
    in->stamp_ns = now_ns - (int64_t)(self->sensor_delay_ticks * self->period * 1e9 + 0.5);
    memcpy(in->channel, self->last_input_readings,
           (size_t)(self->axes + self->buttons + self->sensed_count) * sizeof *in->channel);
}

static void twin_write(void *data, const double *out, int64_t now_ns)
{
    struct tact_twin_device *self = data;
    (void)now_ns;
    tact_twin_store_outputs(self, out);
    for (int i = 0; i < self->axes; i++) {
        struct tact_twin_axis *a = &self->axis[i];
        if (a->output < 0 || self->is_twin_unplugged) {
            continue;
        }
        if (a->axis_control == TACT_TWIN_SERVO_TARGET) {
            const double target = out[a->output] / a->scale;
            a->last_written_output = isfinite(target) ? target : a->last_written_output;
        } else {
            double force = a->motor_force_per_output * out[a->output];
            a->last_written_output =
                isfinite(force) ? fmin(a->motor_limit, fmax(-a->motor_limit, force)) : 0.0;
        }
    }
}

static void twin_close(void *data)
{
    struct tact_twin_device *self = data;
    if (self->hand.ops) {
        self->hand.ops->close(self->hand.self);
    }
    for (int i = 0; i < self->axes; i++) {
        free(self->axis[i].motor_force_delay.value);
        free(self->axis[i].sensor.value);
        free(self->axis[i].force_sensor.value);
    }
    for (int i = 0; i < self->buttons; i++) {
        free(self->button_delays[i].value);
    }
    for (int i = 0; i < TACT_TWIN_EFFECTS; i++) {
        free(self->effect_level_delays[i].value);
    }
    free(self->scripted_push_table);
    free(self->unplugged_intervals);
    free(self);
}

static const struct tact_device_ops twin_ops = {TACT_ABI(struct tact_device_ops), twin_read,
                                                twin_write, twin_close};

static int twin_open(const struct tact_device_config *config, struct tact_device *out,
                     struct tact_error *err)
{
    struct tact_twin_device *self = calloc(1, sizeof *self);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    int rc = tact_twin_load_settings(self, config, &out->info, err);
    if (rc) {
        twin_close(self);
        return rc;
    }
    out->ops = &twin_ops;
    out->self = self;
    return 0;
}

const struct tact_device_type tact_twin_type = {
    TACT_ABI(struct tact_device_type), "twin",
    "simulated twin of a device: masses, motors and sensors", twin_open, NULL};

int tact_twin_read_state(const struct tact_device *device, int axis, struct tact_twin_state *state)
{
    const struct tact_twin_device *self = device->self;
    if (device->ops != &twin_ops || axis < 0 || axis >= self->axes) {
        return -EINVAL;
    }
    const struct tact_twin_axis *a = &self->axis[axis];
    *state = (struct tact_twin_state){a->x, a->w / self->period, a->force};
    return 0;
}
