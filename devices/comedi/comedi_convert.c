/* Conversion of raw values, and detection of unusable ones. */
#include <math.h>
#include "devices/comedi/comedi_internal.h"

static double evaluate_calibration_polynomial(const double *c, double x)
{
    double y = 0.0;
    for (int i = TACT_COMEDI_MAX_COEFFICIENTS - 1; i >= 0; i--) {
        y = y * x + c[i];
    }
    return y;
}

double tact_comedi_scaled_value(const struct tact_comedi_channel *channel, lsampl_t raw,
                                int64_t count)
{
    return evaluate_calibration_polynomial(channel->map,
                                           channel->kind == TACT_COMEDI_COUNTER
                                               ? (double)count
                                               : comedi_to_physical(raw, &channel->volts));
}

lsampl_t tact_comedi_raw(const struct tact_comedi_channel *channel, double value)
{
    /* clamped here, as comedi_from_physical() does not clamp */
    double output_voltage =
        evaluate_calibration_polynomial(channel->map, isfinite(value) ? value : 0.0);
    double x = output_voltage - channel->volts.expansion_origin;
    double raw = 0.0;
    for (int i = (int)channel->volts.order; i >= 0; i--) {
        raw = raw * x + channel->volts.coefficients[i];
    }
    raw = nearbyint(raw);
    return raw > 0.0 ? raw < channel->maxdata ? (lsampl_t)raw : channel->maxdata : 0;
}

int64_t tact_comedi_extend_counter(int64_t count, lsampl_t before, lsampl_t now, lsampl_t maxdata)
{
    int64_t span = (int64_t)maxdata + 1;
    int64_t step = (int64_t)now - (int64_t)before;
    if (step >= span - step) {
        step -= span;
    } else if (step < -span / 2) {
        step += span;
    }
    return count + step;
}

int tact_comedi_check_analog_reading(struct tact_comedi_analog_input_health *analog_input_health,
                                     const struct tact_comedi_channel *channel, lsampl_t raw,
                                     double value, uint32_t most, uint32_t stuck_tick_limit,
                                     bool *is_analog_reading_usable)
{
    bool end = raw == 0 || raw >= channel->maxdata;
    bool is_reading_out_of_limits = !(value >= channel->low && value <= channel->high);
    analog_input_health->saturated = end ? analog_input_health->saturated + 1 : 0;
    analog_input_health->implausible_tick_count =
        is_reading_out_of_limits ? analog_input_health->implausible_tick_count + 1 : 0;
    analog_input_health->unchanged_tick_count =
        raw == analog_input_health->raw ? analog_input_health->unchanged_tick_count + 1 : 0;
    analog_input_health->raw = raw;
    int fault = analog_input_health->saturated >= most ? TACT_COMEDI_READING_SATURATED
                : analog_input_health->implausible_tick_count >= most
                    ? TACT_COMEDI_READING_IMPLAUSIBLE
                : stuck_tick_limit && analog_input_health->unchanged_tick_count >= stuck_tick_limit
                    ? TACT_COMEDI_READING_STUCK
                    : TACT_COMEDI_READING_GOOD;
    *is_analog_reading_usable = !is_reading_out_of_limits && fault == TACT_COMEDI_READING_GOOD;
    return fault;
}

const char *tact_comedi_fault_name(int fault)
{
    static const char *const names[] = {"good", "saturated", "outside its limits", "stuck"};
    return fault >= 0 && fault < TACT_COMEDI_FAULTS ? names[fault] : "unknown";
}
