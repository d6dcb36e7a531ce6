#include "rt/passivity.h"

#include <math.h>
#include "contact/elementary.h"
#include "rt/passivity_internal.h"

static double squared_norm(const double *v, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += v[i] * v[i];
    }
    return sum;
}

double tact_passivity_bound_axes(double *force, const double *last, const double *moved, int n,
                                 const double *c)
{
    double wanted = 0.0, most = 0.0;
    for (int i = 0; i < n; i++) {
        const double weight = c[0] / c[i], bound = last[i] - c[i] * moved[i];
        wanted += weight * (force[i] * force[i]);
        most += weight * (bound * bound);
    }
    const double factor = wanted > most ? sqrt(most / wanted) : 1.0;
    for (int i = 0; i < n; i++) {
        force[i] *= factor;
    }
    return factor;
}

double tact_passivity_bound(double *force, const double *last, const double *moved, int n, double c)
{
    double all[TACT_PASSIVITY_MOST];
    for (int i = 0; i < n; i++) {
        all[i] = c;
    }
    return tact_passivity_bound_axes(force, last, moved, n, all);
}

double tact_passivity_damp(double *force, const double *rate, int n, double energy, double period,
                           double most)
{
    const double squared_speed = squared_norm(rate, n);
    if (!(energy < 0.0 && squared_speed > 0.0)) {
        return 0.0;
    }
    const double damping = fmin(-energy / (period * squared_speed), most);
    for (int i = 0; i < n; i++) {
        force[i] -= damping * rate[i];
    }
    return damping;
}

double tact_passivity_stiffest(double damping, double delay, double friction, double resolution,
                               double period)
{
    const double sampled_stiffness_limit = damping / (0.5 * period + delay);
    return resolution > 0.0 ? fmin(sampled_stiffness_limit, 2.0 * friction / resolution)
                            : sampled_stiffness_limit;
}

double tact_passivity_max_damping(double mass, double delay, double alpha, double period)
{
    const double right_angle = 1.57079632679489661923, ticks = delay / period + 1.0;
    double low = 0.0, high = right_angle / ticks, real = 1.0, imaginary = 0.0;
    for (int i = 0; i < 60;
         i++) { /* halves the interval of the angle until it is a double's step */
        const double angle = 0.5 * (low + high);
        real = 1.0 - (1.0 - alpha) * tact_cos(angle);
        imaginary = (1.0 - alpha) * tact_sin(angle);
        const int is_below = ticks * angle + tact_atan2(imaginary, real) < right_angle;
        low = is_below ? angle : low;
        high = is_below ? high : angle;
    }
    const double filter_gain = alpha / tact_hypot(real, imaginary);
    return 2.0 * mass / period * tact_sin(0.5 * low) / tact_cos(0.5 * low) / filter_gain;
}
