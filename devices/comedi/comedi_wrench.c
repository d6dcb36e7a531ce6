/* Force-torque sensors on a board, whose gauges are inputs: their tare and their wrench channels.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "devices/comedi/comedi_state_internal.h"
#include "devices/common/settings.h"
#include "rt/clock.h"

int tact_comedi_read_wrench_settings(const struct tact_device_config *config,
                                     struct tact_comedi_channel_layout *layout,
                                     struct tact_error *err)
{
    static const struct tact_device_channel none;
    struct tact_device_channel inputs[TACT_DEVICE_CHANNELS];
    for (int i = 0; i < layout->input_count; i++) {
        const struct tact_comedi_channel *channel = &layout->input[i];
        inputs[i] = none;
        /* Inputs that are not analog get an empty name, so that no gauge can name them. */
        if (channel->kind == TACT_COMEDI_ANALOG) {
            snprintf(inputs[i].name, sizeof inputs[i].name, "%s", channel->name);
        }
    }
    int count = tact_wrench_read_sensor_settings(config, inputs, layout->input_count,
                                                 layout->wrench, TACT_DEVICE_WRENCHES, err);
    layout->wrench_count = count > 0 ? count : 0;
    if (tact_comedi_input_count(layout) > TACT_DEVICE_CHANNELS) {
        return tact_settings_fault(
            config, NULL, err, "more than %d inputs, counting the channels of force-torque sensors",
            TACT_DEVICE_CHANNELS);
    }
    return count < 0 ? count : 0;
}

int tact_comedi_input_count(const struct tact_comedi_channel_layout *layout)
{
    return layout->input_count + layout->wrench_count * TACT_WRENCH_CHANNELS +
           (layout->stream_scan_rate > 0.0 ? TACT_COMEDI_STREAM_CHANNELS : 0);
}

int tact_comedi_measure_gauge_bias(struct tact_comedi_device *self, double period,
                                   struct tact_error *err)
{
    double longest_bias_measuring_duration = 0.0;
    double sum[TACT_DEVICE_WRENCHES][TACT_WRENCH_MAX_GAUGES] = {{0.0}};
    int bias_reading_count[TACT_DEVICE_WRENCHES] = {0};
    for (int w = 0; w < self->layout.wrench_count; w++) {
        longest_bias_measuring_duration = fmax(
            longest_bias_measuring_duration, self->layout.wrench[w].gauge_bias_measuring_duration);
    }
    int64_t start = tact_clock_now();
    for (int n = 0; n * period < longest_bias_measuring_duration; n++) {
        if (!self->playback) {
            tact_clock_sleep_until(start + (int64_t)(n * period * 1e9));
        }
        int rc = tact_comedi_read_first_inputs(self, TACT_COMEDI_TARE);
        if (rc == -ENODATA && n > 0) {
            break; /* the recording was made with a shorter tare */
        }
        if (rc) {
            return tact_error_set(err, rc, "%s: cannot be read: %s", self->name, strerror(-rc));
        }
        for (int w = 0; w < self->layout.wrench_count; w++) {
            const struct tact_force_torque_sensor *wrench = &self->layout.wrench[w];
            for (int i = 0;
                 n * period < wrench->gauge_bias_measuring_duration && i < wrench->map.gauges;
                 i++) {
                const struct tact_comedi_channel *gauge = &self->layout.input[wrench->gauge[i]];
                lsampl_t raw = self->raw_tick_values.raw[wrench->gauge[i]];
                if (raw == 0 || raw >= gauge->maxdata) {
                    return tact_error_set(
                        err, -ERANGE,
                        "%s: the zero of sensor %s was not measured: input %s is saturated",
                        self->name, wrench->name, gauge->name);
                }
                sum[w][i] += tact_comedi_scaled_value(gauge, raw, 0);
            }
            bias_reading_count[w] += n * period < wrench->gauge_bias_measuring_duration;
        }
    }
    for (int w = 0; w < self->layout.wrench_count; w++) {
        for (int i = 0; bias_reading_count[w] && i < self->layout.wrench[w].map.gauges; i++) {
            self->layout.wrench[w].map.gauge_bias[i] = sum[w][i] / bias_reading_count[w];
        }
    }
    return 0;
}

/* Bit mask of the wrench axes that are over their limits for long enough. */
static unsigned int find_overloaded_axes(struct tact_comedi_device *self, int w,
                                         const double wrench[6])
{
    unsigned int bits = 0;
    for (int k = 0; k < 6; k++) {
        bool exceeds_limit_of_sensor_axis = !(fabs(wrench[k]) <= self->layout.wrench[w].limit[k]);
        self->wrench_ticks_over_limit[w][k] =
            exceeds_limit_of_sensor_axis ? self->wrench_ticks_over_limit[w][k] +
                                               (self->wrench_ticks_over_limit[w][k] < UINT32_MAX)
                                         : 0;
        bits |= (unsigned int)(self->wrench_ticks_over_limit[w][k] >= self->saturated_tick_limit)
                << (TACT_WRENCH_AXIS_BIT + k);
    }
    return bits;
}

bool tact_comedi_compute_wrenches(struct tact_comedi_device *self)
{
    unsigned int all = 0;
    for (int w = 0; w < self->layout.wrench_count; w++) {
        const struct tact_force_torque_sensor *wrench = &self->layout.wrench[w];
        if (!self->raw_tick_values.is_new_scan) {
            all |= self->overloaded_wrench_axes[w];
            continue;
        }
        double *value =
            self->value + self->layout.input_count + (ptrdiff_t)w * TACT_WRENCH_CHANNELS;
        double gauge[TACT_WRENCH_MAX_GAUGES];
        unsigned int bits = 0;
        for (int i = 0; i < wrench->map.gauges; i++) {
            gauge[i] = self->value[wrench->gauge[i]];
            bits |= (unsigned int)self->is_analog_input_unreliable[wrench->gauge[i]] << i;
        }
        if (bits == 0) {
            tact_wrench_from_gauges(&wrench->map, gauge, value);
            bits = find_overloaded_axes(self, w, value);
        }
        value[6] = bits;
        unsigned int axes = bits >> TACT_WRENCH_AXIS_BIT;
        if (axes & ~self->overloaded_wrench_axes[w]) {
            atomic_fetch_or_explicit(&self->unreported_overloads[w],
                                     axes & ~self->overloaded_wrench_axes[w], memory_order_relaxed);
        }
        self->overloaded_wrench_axes[w] = axes;
        all |= axes;
    }
    return all != 0;
}

/* The force-torque sensor of which an input is a gauge, or NULL. */
static const struct tact_force_torque_sensor *
sensor_of_gauge_input(const struct tact_comedi_device *self, int input)
{
    for (int w = 0; w < self->layout.wrench_count; w++) {
        const struct tact_force_torque_sensor *wrench = &self->layout.wrench[w];
        for (int i = 0; i < wrench->map.gauges; i++) {
            if (wrench->gauge[i] == input) {
                return wrench;
            }
        }
    }
    return NULL;
}

void tact_comedi_describe_gauge(const struct tact_comedi_device *self, int input, char *text,
                                size_t size)
{
    const struct tact_force_torque_sensor *wrench = sensor_of_gauge_input(self, input);
    text[0] = '\0';
    if (wrench) {
        snprintf(text, size,
                 "; it is a strain gauge of the force-torque sensor %s, whose last wrench is used",
                 wrench->name);
    }
}

void tact_comedi_report_wrenches(struct tact_comedi_device *self)
{
    for (int w = 0; w < self->layout.wrench_count; w++) {
        unsigned int axes =
            atomic_exchange_explicit(&self->unreported_overloads[w], 0, memory_order_relaxed);
        for (int k = 0; k < 6; k++) {
            if (axes >> k & 1U) {
                tact_message(self->messages, TACT_MESSAGE_WARNING,
                             "%s: %s of %s is over its limit of %g %s; the outputs are zero",
                             self->name, tact_wrench_axes[k], self->layout.wrench[w].name,
                             self->layout.wrench[w].limit[k], k < 3 ? "N" : "N m");
            }
        }
    }
}
