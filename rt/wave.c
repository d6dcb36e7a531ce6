/* Ends of a line of wave variables. */
#include "rt/wave_internal.h"

#include <math.h>
#include <stddef.h>

static const double max_position_correction_rate = 0.05; /* [m/s, rad/s] */
static const double max_position_correction_gain =
    2.0; /* correction rate by position error [1/s] */
static const double max_gain_times_round_trip =
    0.5; /* largest product of that gain and the round trip [1] */
/* lowest stiffness of a person's press, relative to the wave impedance [1/s] */
static const double min_press_stiffness_over_impedance = 8.0;
/* largest gain that the stretch of the line adds to the correction [1] */
static const double max_extra_weight_of_line_stretch_error = 2.0;
/* fraction of the energy tank's capacity below which the correction is reduced [1] */
static const double low_energy_tank_fraction = 0.02;
/* largest fraction that is taken off an incoming wave to end reflections [1] */
static const double max_wave_attenuation = 0.5;
/* one-way delay of the line above which reflections are attenuated [s] */
static const double min_delay_of_wave_attenuation = 0.08;
/* further delay over which the attenuation of reflections rises to its full value [s] */
static const double delay_range_of_wave_attenuation = 0.03;
/* lead over the other site, divided by the delay, at which the whole wave would be taken off, but
 * for max_wave_attenuation [m/s, rad/s] */
static const double lead_speed_of_full_attenuation = 0.1;

double tact_wave_drive_gain_fraction(const struct tact_wave_tie *tie)
{
    return tie->impedance / (tie->impedance + tie->period * tie->stiffness + tie->damping);
}

double tact_wave_line_end_rate(double impedance, double wave, double force)
{
    return (sqrt(2.0 * impedance) * wave - force) / impedance;
}

enum tact_wave_kind tact_wave_kind(double wave)
{
    static const double reserved_wave_values[] = {TACT_WAVE_AT_REST, TACT_WAVE_STOPPED,
                                                  TACT_WAVE_REQUEST_TO_WAIT, TACT_WAVE_WAITING};
    int kind = TACT_WAVE_KIND_MISSING;
    for (size_t i = 0; i < sizeof reserved_wave_values / sizeof *reserved_wave_values; i++) {
        kind += fabs(wave) > 0.5 * reserved_wave_values[i];
    }
    return (enum tact_wave_kind)(kind + (fabs(wave) > 2.0 * TACT_WAVE_WAITING));
}

int tact_wave_has_energy(double wave)
{
    return tact_wave_kind(wave) == TACT_WAVE_KIND_WITH_ENERGY;
}

double tact_wave_outgoing(double impedance, double rate, double force)
{
    return (impedance * rate - force) / sqrt(2.0 * impedance);
}

static double clamp_to_range(double value, double least, double most)
{
    return fmax(least, fmin(most, value));
}

/* Part of the position error that the line's force explains as its own stretch, force times delay
 * over impedance. */
static double position_error_due_to_line_stretch(const struct tact_wave_tie *tie, double round_trip,
                                                 double error, double force)
{
    const double line_stretch = 0.5 * round_trip * force / tie->impedance;
    return clamp_to_range(error, fmin(0.0, line_stretch), fmax(0.0, line_stretch));
}

double tact_wave_attenuate_incoming(const struct tact_wave_tie *tie, double round_trip,
                                    double error, double wave, double force)
{
    if (!(round_trip > 0.0) || !isfinite(error)) {
        return wave;
    }
    const double delay = 0.5 * round_trip,
                 rate = tact_wave_line_end_rate(tie->impedance, wave, force);
    const double line_end_lead_beyond_stretch =
        (rate > 0.0 ? -error : error) - fabs(force) * delay / tie->impedance;
    const double max_attenuation_at_delay =
        max_wave_attenuation *
        clamp_to_range((delay - min_delay_of_wave_attenuation) / delay_range_of_wave_attenuation,
                       0.0, 1.0);
    return wave * (1.0 - clamp_to_range(line_end_lead_beyond_stretch /
                                            (lead_speed_of_full_attenuation * delay),
                                        0.0, max_attenuation_at_delay));
}

double tact_wave_line_end_return_rate(const struct tact_wave_tie *tie, double round_trip,
                                      double error, double force)
{
    if (!(round_trip > 0.0) || !isfinite(error)) {
        return 0.0;
    }
    const double gain = fmin(max_position_correction_gain, max_gain_times_round_trip / round_trip);
    const double extra_weight_of_line_stretch_error =
        fmin(max_extra_weight_of_line_stretch_error,
             min_press_stiffness_over_impedance * 0.5 * round_trip);
    const double position_error_of_line_stretch =
        position_error_due_to_line_stretch(tie, round_trip, error, force);
    return gain * (error + extra_weight_of_line_stretch_error * position_error_of_line_stretch);
}

double tact_wave_position_correction(const struct tact_wave_tie *tie, double tank,
                                     double line_end_return_rate, double length, double force)
{
    const double rate = length > max_position_correction_rate
                            ? line_end_return_rate / length * max_position_correction_rate
                            : line_end_return_rate;
    const double energy_of_line_end_correction = force * rate * tie->period;
    if (energy_of_line_end_correction <= 0.0) {
        return rate;
    }
    return tank > energy_of_line_end_correction
               ? rate * fmin(1.0, tank / (low_energy_tank_fraction * tie->tank))
               : 0.0;
}

void tact_wave_advance_line_end(const struct tact_wave_tie *tie, double rate,
                                double line_end_correction_rate, double force,
                                double robot_joint_rate, double *position, double *tank)
{
    const double slip = rate + line_end_correction_rate - robot_joint_rate;
    *position += tie->period * (rate + line_end_correction_rate);
    *tank += tie->period * (tie->damping * slip * slip - force * line_end_correction_rate);
    *tank = fmin(*tank, tie->tank);
}
