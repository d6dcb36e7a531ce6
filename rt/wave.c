/* Ends of a line of wave variables. */
#include "rt/wave_internal.h"

#include <math.h>

static const double most_correction = 0.05;   /* [m/s, rad/s] */
static const double fastest_correction = 2.0; /* gain, at most [1/s], */
static const double correction_share = 0.5;   /* and times the round trip [1] */

double tact_wave_share(const struct tact_wave_tie *tie)
{
    return tie->impedance / (tie->impedance + tie->period * tie->stiffness + tie->damping);
}

double tact_wave_rate(double impedance, double wave, double force)
{
    return (sqrt(2.0 * impedance) * wave - force) / impedance;
}

double tact_wave_reflected(double impedance, double rate, double force)
{
    return (impedance * rate - force) / sqrt(2.0 * impedance);
}

double tact_wave_correction(const struct tact_wave_tie *tie, double tank, double round_trip,
                            double error, double force)
{
    if (!(round_trip > 0.0) || !isfinite(error)) {
        return 0.0;
    }
    const double gain = round_trip > correction_share / fastest_correction
                            ? correction_share / round_trip
                            : fastest_correction;
    const double rate = fmax(-most_correction, fmin(most_correction, gain * error));
    const double given = force * rate * tie->period;
    return given > 0.0 && tank <= given ? 0.0 : rate;
}

void tact_wave_move_end(const struct tact_wave_tie *tie, double rate, double correction,
                        double force, double machine_rate, double *position, double *tank)
{
    const double slip = rate + correction - machine_rate;
    *position += tie->period * (rate + correction);
    *tank += tie->period * (tie->damping * slip * slip - force * correction);
    *tank = fmin(*tank, tie->tank);
}
