/* The largest damping of a virtual wall: at a free device, and there beside the wall's stiffness.
 */
#include <complex.h>
#include <math.h>
#include "contact/elementary.h"
#include "rt/passivity.h"
#include "rt/passivity_internal.h"

#define ANGLE_BISECTION_COUNT 60 /* until the interval of an angle is one rounding step */
#define MIN_SCANNED_ANGLE 1e-5   /* [rad a tick] */
#define SCANNED_ANGLE_RATIO 1.01 /* of an angle by the one before */
/* damping b of the device over m / T below which the walls that it renders are too soft to act on
 * the largest damping */
#define MIN_DEVICE_DAMPING 1e-6

static const double right_angle = 1.57079632679489661923;

static double complex unit_circle_point(double angle)
{
    return tact_cos(angle) + I * tact_sin(angle);
}

/* 1 / H of a first-order low-pass. */
static double complex inverse_filter_response(double weight_of_new_value, double complex z)
{
    return (1.0 - (1.0 - weight_of_new_value) * conj(z)) / weight_of_new_value;
}

/* Damping at which a free device without damping of its own oscillates at a wall of no stiffness.
 */
static double max_damping_without_stiffness(const struct tact_passivity_loop *p)
{
    const double ticks = p->delay / p->period + 1.0;
    double low = 0.0, high = right_angle / ticks;
    double complex inverse_response = 1.0;
    for (int i = 0; i < ANGLE_BISECTION_COUNT; i++) {
        const double angle = 0.5 * (low + high);
        const double complex z = unit_circle_point(angle),
                             inverse_rate = inverse_filter_response(p->rate_filter_weight, z),
                             inverse_force = inverse_filter_response(p->force_filter_weight, z);
        const double phase_lag_of_filters = tact_atan2(cimag(inverse_rate), creal(inverse_rate)) +
                                            tact_atan2(cimag(inverse_force), creal(inverse_force));
        inverse_response = inverse_rate * inverse_force;
        *(ticks * angle + phase_lag_of_filters < right_angle ? &low : &high) = angle;
    }
    return 2.0 * p->mass / p->period * tact_sin(0.5 * low) / tact_cos(0.5 * low) *
           tact_hypot(creal(inverse_response), cimag(inverse_response));
}

/* The damping, if it is real, with which the loop has a root at an angle of the unit circle. */
static double complex damping_of_root(const struct tact_passivity_loop *p, double stiffness,
                                      double angle)
{
    const double decay = -tact_expm1(-p->damping * p->period / p->mass),
                 decay_time = decay * p->mass / p->damping;
    const double complex z = unit_circle_point(angle);
    const double complex inverse_device_by_difference =
        p->damping * p->period * z * (z - 1.0 + decay) /
        (p->period * (z - 1.0 + decay) - decay_time * (z - 1.0));
    const double complex device = unit_circle_point(angle * p->delay / p->period) *
                                  inverse_device_by_difference *
                                  inverse_filter_response(p->force_filter_weight, z);
    return -(device + stiffness * p->period * z / (z - 1.0)) *
           inverse_filter_response(p->rate_filter_weight, z);
}

/* The least positive damping with which the loop has a root on the unit circle, up to `most`. */
static double max_damping_beside_stiffness(const struct tact_passivity_loop *p, double stiffness,
                                           double most)
{
    double before = MIN_SCANNED_ANGLE;
    for (double angle = before * SCANNED_ANGLE_RATIO; before < 2.0 * right_angle;
         angle *= SCANNED_ANGLE_RATIO) {
        double low = before, high = fmin(angle, 2.0 * right_angle);
        const int is_imaginary_part_positive_at_low =
            cimag(damping_of_root(p, stiffness, low)) > 0.0;
        if ((cimag(damping_of_root(p, stiffness, high)) > 0.0) !=
            is_imaginary_part_positive_at_low) {
            for (int i = 0; i < ANGLE_BISECTION_COUNT; i++) {
                const double middle = 0.5 * (low + high);
                const int is_imaginary_part_positive_at_middle =
                    cimag(damping_of_root(p, stiffness, middle)) > 0.0;
                *(is_imaginary_part_positive_at_middle == is_imaginary_part_positive_at_low
                      ? &low
                      : &high) = middle;
            }
            const double damping = creal(damping_of_root(p, stiffness, low));
            most = damping > 0.0 ? fmin(most, damping) : most;
        }
        before = angle;
    }
    return most;
}

double tact_passivity_max_damping(const struct tact_passivity_loop *p)
{
    const double most = max_damping_without_stiffness(p);
    const double delay_with_filter =
        p->delay + p->period * (1.0 - p->force_filter_weight) / p->force_filter_weight;
    const double stiffness = fmin(
        p->stiffness, tact_passivity_stiffest(p->damping, delay_with_filter, 0.0, 0.0, p->period));
    return p->rate_filter_weight < 1.0 && stiffness > 0.0 &&
                   p->damping * p->period > MIN_DEVICE_DAMPING * p->mass
               ? max_damping_beside_stiffness(p, stiffness, most)
               : most;
}
