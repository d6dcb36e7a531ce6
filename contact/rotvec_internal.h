/* Rates of rotation vectors: the left Jacobian of SO(3) and its inverse (Bullo and Murray 1995).
 * Real-time safe. */
#ifndef TACT_CONTACT_ROTVEC_INTERNAL_H
#define TACT_CONTACT_ROTVEC_INTERNAL_H

#include "contact/elementary.h"
#include "contact/vec.h"

/* Angular velocity, world axes, of the rotation exp(v) of a rotation vector v that changes at
 * `rate`. */
static inline void tact_rotvec_angular_velocity(double out[3], const double v[3],
                                                const double rate[3])
{
    const double angle = tact_v3_norm(v), square = angle * angle;
    double v_cross_rate[3], v_cross_v_rate[3];
    tact_v3_cross(v_cross_rate, v, rate);
    tact_v3_cross(v_cross_v_rate, v, v_cross_rate);
    const double a = angle > 1e-3 ? (1.0 - tact_cos(angle)) / square : 0.5 - square / 24.0;
    const double b =
        angle > 1e-3 ? (angle - tact_sin(angle)) / (square * angle) : 1.0 / 6.0 - square / 120.0;
    for (int i = 0; i < 3; i++) {
        out[i] = rate[i] + a * v_cross_rate[i] + b * v_cross_v_rate[i];
    }
}

/* Rate of the rotation vector v of an attitude that turns by w. */
static inline void tact_rotvec_rate(double out[3], const double v[3], const double w[3])
{
    const double angle = tact_v3_norm(v), half = 0.5 * angle;
    double vector_cross_rate[3], vector_cross_cross_rate[3];
    tact_v3_cross(vector_cross_rate, v, w);
    tact_v3_cross(vector_cross_cross_rate, v, vector_cross_rate);
    const double share = angle > 1e-3
                             ? (1.0 - half * tact_cos(half) / tact_sin(half)) / (angle * angle)
                             : 1.0 / 12.0 + angle * angle / 720.0;
    for (int i = 0; i < 3; i++) {
        out[i] = w[i] - 0.5 * vector_cross_rate[i] + share * vector_cross_cross_rate[i];
    }
}

/* Inverse of the right Jacobian of SO(3) at a rotation vector: that of the left one transposed. */
static inline void tact_rotvec_inverse_right_jacobian(double out[9], const double v[3])
{
    for (int i = 0; i < 3; i++) {
        const double unit[3] = {i == 0, i == 1, i == 2};
        tact_rotvec_rate(out + 3 * i, v, unit);
    }
}

#endif
