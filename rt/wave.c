/* Ends of a line of wave variables. */
#include "rt/wave_internal.h"

#include <math.h>

static const double most_correction = 0.05;   /* [m/s, rad/s] */
static const double fastest_correction = 2.0; /* gain, at most [1/s], */
static const double correction_share = 0.5;   /* and times the round trip [1] */
static const double softest_press = 8.0;      /* stiffness of a press, by the impedance [1/s] */
static const double most_share = 2.0;         /* of what that adds to the gain [1] */
static const double low_tank = 0.02;          /* of a tank, below which it gives less [1] */
static const double matched_share = 0.5;      /* of a wave, whose absence ends reflections [1] */
static const double matched_from = 0.08;      /* delay of a line whose reflections are felt [s], */
static const double matched_ramp = 0.03;      /* and over which that begins to matter [s] */
static const double ahead_rate = 0.1; /* how far ahead, by the delay, that acts [m/s, rad/s] */

double tact_wave_share(const struct tact_wave_tie *tie)
{
    return tie->impedance / (tie->impedance + tie->period * tie->stiffness + tie->damping);
}

double tact_wave_rate(double impedance, double wave, double force)
{
    return (sqrt(2.0 * impedance) * wave - force) / impedance;
}

int tact_wave_has_energy(double wave)
{
    return fabs(wave) > 2.0 * TACT_WAVE_KEPT;
}

int tact_wave_is_of_kept_end(double wave)
{
    return fabs(wave) > 0.5 * TACT_WAVE_KEPT && fabs(wave) < 2.0 * TACT_WAVE_KEPT;
}

double tact_wave_reflected(double impedance, double rate, double force)
{
    return (impedance * rate - force) / sqrt(2.0 * impedance);
}

static double keep_within(double value, double least, double most)
{
    return fmax(least, fmin(most, value));
}

/* The error as far as it is the stretch of the line by its force. */
static double find_stretch(const struct tact_wave_tie *tie, double round_trip, double error,
                           double force)
{
    const double whole = 0.5 * round_trip * force / tie->impedance;
    return keep_within(error, fmin(0.0, whole), fmax(0.0, whole));
}

double tact_wave_taken(const struct tact_wave_tie *tie, double round_trip, double error,
                       double wave, double force)
{
    if (!(round_trip > 0.0) || !isfinite(error)) {
        return wave;
    }
    const double delay = 0.5 * round_trip, rate = tact_wave_rate(tie->impedance, wave, force);
    const double ahead = (rate > 0.0 ? -error : error) - fabs(force) * delay / tie->impedance;
    const double most =
        matched_share * keep_within((delay - matched_from) / matched_ramp, 0.0, 1.0);
    return wave * (1.0 - keep_within(ahead / (ahead_rate * delay), 0.0, most));
}

double tact_wave_correction(const struct tact_wave_tie *tie, double tank, double round_trip,
                            double error, double force)
{
    if (!(round_trip > 0.0) || !isfinite(error)) {
        return 0.0;
    }
    const double gain = fmin(fastest_correction, correction_share / round_trip);
    const double share = fmin(most_share, softest_press * 0.5 * round_trip);
    const double stretch = find_stretch(tie, round_trip, error, force);
    const double rate =
        keep_within(gain * (error + share * stretch), -most_correction, most_correction);
    const double given = force * rate * tie->period;
    if (given <= 0.0) {
        return rate;
    }
    return tank > given ? rate * fmin(1.0, tank / (low_tank * tie->tank)) : 0.0;
}

void tact_wave_move_end(const struct tact_wave_tie *tie, double rate, double correction,
                        double force, double machine_rate, double *position, double *tank)
{
    const double slip = rate + correction - machine_rate;
    *position += tie->period * (rate + correction);
    *tank += tie->period * (tie->damping * slip * slip - force * correction);
    *tank = fmin(*tank, tie->tank);
}
