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
    double weighted_square_of_force = 0.0, weighted_square_of_force_at_bound = 0.0;
    for (int i = 0; i < n; i++) {
        const double weight = c[0] / c[i], force_at_bound = last[i] - c[i] * displacement[i];
        weighted_square_of_force += weight * (force[i] * force[i]);
        weighted_square_of_force_at_bound += weight * (force_at_bound * force_at_bound);
    }
    const double factor = weighted_square_of_force > weighted_square_of_force_at_bound
                              ? sqrt(weighted_square_of_force_at_bound / weighted_square_of_force)
                              : 1.0;
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
    const double squared_speed_of_port = squared_vector_norm(rate, n);
    if (!(energy < 0.0 && squared_speed_of_port > 0.0)) {
        return 0.0;
    }
    const double damping = fmin(-energy / (period * squared_speed_of_port), max_damping);
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

double tact_passivity_filter_delay(double cutoff, double period)
{
    const double pi = 3.14159265358979323846;
    return cutoff > 0.0 ? period / tact_expm1(2.0 * pi * cutoff * period) : 0.0;
}
