/* Ends of a line of wave variables. */
#include "devices/network/wave_end_internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>

static const double most_correction = 0.05; /* [m/s, rad/s] */
static const double fastest_gain = 2.0;     /* [1/s] */
static const double gain_by_round_trip = 0.5;
static const double ramp_time = 0.2; /* [s] */

double tact_wave_reflect(double impedance, double wave, double rate, double *wave_out)
{
    const double root = sqrt(2.0 * impedance);
    const double force = root * wave - impedance * rate;
    *wave_out = (impedance * rate - force) / root;
    return force;
}

double tact_wave_correction(const struct tact_wave_coupling *coupling, double error)
{
    if (!(coupling->round_trip >= 0.0) || !isfinite(error)) {
        return 0.0;
    }
    const double gain = coupling->round_trip > gain_by_round_trip / fastest_gain
                            ? gain_by_round_trip / coupling->round_trip
                            : fastest_gain;
    return fmax(-most_correction, fmin(most_correction, gain * error));
}

int tact_wave_couple(struct tact_wave_end *end, const struct tact_wave_coupling *coupling,
                     double wave, double other, double x, double rate, double *wave_out)
{
    const double b = coupling->impedance, root = sqrt(2.0 * b), h = coupling->period;
    const double resistance = h * coupling->stiffness + coupling->damping;
    const double share = b / (b + resistance);
    if (!isfinite(wave) || !isfinite(x) || !isfinite(rate)) {
        return -EDOM;
    }
    const double uncorrected = share * (coupling->stiffness * (end->position - x) -
                                        coupling->damping * rate + resistance * wave * root / b);
    double correction = tact_wave_correction(coupling, other - end->position);
    double force = uncorrected + share * resistance * correction;
    if (force * correction * h > end->tank) {
        correction = 0.0;
        force = uncorrected;
        end->limited += end->limited < UINT_MAX;
    }
    end->rate = (root * wave - force) / b;
    end->force = force;
    const double slip = end->rate + correction - rate, given = force * correction * h;
    end->position += h * (end->rate + correction);
    end->corrected += given;
    end->tank = fmin(end->tank - given + h * coupling->damping * slip * slip, coupling->tank);
    *wave_out = (b * end->rate - force) / root;
    return 0;
}

int tact_wave_engage(struct tact_wave_engagement *engagement, int held, int there, int lost,
                     double period)
{
    if (lost) {
        engagement->latched = engagement->was_there;
    } else if (there) {
        engagement->was_there = 1;
        engagement->latched = held ? engagement->latched : 0;
    }
    const int engaged = held && there && !lost && !engagement->latched;
    const double step = period / ramp_time;
    engagement->share =
        engaged ? fmin(1.0, engagement->share + step) : fmax(0.0, engagement->share - step);
    return engaged;
}
