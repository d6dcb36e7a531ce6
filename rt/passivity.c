#include "rt/passivity.h"

#include <math.h>
#include "contact/elementary.h"
#include "rt/passivity_internal.h"

static double squared_vector_norm(const double *v, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += v[i] * v[i];
    }
    return sum;
}

double tact_passivity_bound_axes(double *force, const double *last, const double *displacement,
                                 int n, const double *c)
{
    double squared_force = 0.0, max_squared_force = 0.0;
    for (int i = 0; i < n; i++) {
        const double weight = c[0] / c[i], force_at_bound = last[i] - c[i] * displacement[i];
        squared_force += weight * (force[i] * force[i]);
        max_squared_force += weight * (force_at_bound * force_at_bound);
    }
    const double factor =
        squared_force > max_squared_force ? sqrt(max_squared_force / squared_force) : 1.0;
    for (int i = 0; i < n; i++) {
        force[i] *= factor;
    }
    return factor;
}

double tact_passivity_bound(double *force, const double *last, const double *displacement, int n,
                            double c)
{
    double stiffness_of_each_axis[TACT_PASSIVITY_MOST];
    for (int i = 0; i < n; i++) {
        stiffness_of_each_axis[i] = c;
    }
    return tact_passivity_bound_axes(force, last, displacement, n, stiffness_of_each_axis);
}

double tact_passivity_damp(double *force, const double *rate, int n, double energy, double period,
                           double max_damping)
{
    const double squared_speed = squared_vector_norm(rate, n);
    if (!(energy < 0.0 && squared_speed > 0.0)) {
        return 0.0;
    }
    const double damping = fmin(-energy / (period * squared_speed), max_damping);
    for (int i = 0; i < n; i++) {
        force[i] -= damping * rate[i];
    }
    return damping;
}

double tact_passivity_stiffest(double damping, double delay, double friction, double resolution,
                               double period)
{
    const double stiffness_limit_of_sampling = damping / (0.5 * period + delay);
    return resolution > 0.0 ? fmin(stiffness_limit_of_sampling, 2.0 * friction / resolution)
                            : stiffness_limit_of_sampling;
}

double tact_passivity_max_damping(double mass, double delay, double filter_weight_of_new_rate,
                                  double period)
{
    const double right_angle = 1.57079632679489661923, ticks = delay / period + 1.0;
    double low = 0.0, high = right_angle / ticks, filter_real_part = 1.0,
           filter_imaginary_part = 0.0;
    for (int i = 0; i < 60;
         i++) { /* bisection of the angle, until its interval is one rounding step */
        const double angle = 0.5 * (low + high);
        filter_real_part = 1.0 - (1.0 - filter_weight_of_new_rate) * tact_cos(angle);
        filter_imaginary_part = (1.0 - filter_weight_of_new_rate) * tact_sin(angle);
        const int is_loop_phase_below_right_angle =
            ticks * angle + tact_atan2(filter_imaginary_part, filter_real_part) < right_angle;
        low = is_loop_phase_below_right_angle ? angle : low;
        high = is_loop_phase_below_right_angle ? high : angle;
    }
    const double rate_filter_gain =
        filter_weight_of_new_rate / tact_hypot(filter_real_part, filter_imaginary_part);
    return 2.0 * mass / period * tact_sin(0.5 * low) / tact_cos(0.5 * low) / rate_filter_gain;
}
