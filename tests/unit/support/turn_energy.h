/* Energy of a spring that turns a base to its target, with a stiffness about each of three axes
 * that do not move, and its numerical gradient. */
#ifndef TACT_TESTS_TURN_ENERGY_H
#define TACT_TESTS_TURN_ENERGY_H

#include "contact/vec.h"

/* Rotation vector of the rotation from one to another, given as rotation vectors. */
static inline void rotation_between(double out[3], const double from[3], const double to[3])
{
    double a[4], b[4], turn[4];
    tact_quat_from_rotvec(a, from);
    tact_quat_from_rotvec(b, to);
    for (int i = 1; i < 4; i++) {
        a[i] = -a[i];
    }
    tact_quat_mul(turn, b, a);
    tact_quat_to_rotvec(out, turn);
}

/* Turns an attitude, given as a rotation vector, by another one about the axes of the world. */
static inline void turn_attitude(double out[3], const double attitude[3], const double by[3])
{
    double turn[4], now[4], next[4];
    tact_quat_from_rotvec(turn, by);
    tact_quat_from_rotvec(now, attitude);
    tact_quat_mul(next, turn, now);
    tact_quat_to_rotvec(out, next);
}

/* Energy of the turning spring: sum k_i r_i^2 / 2 over the axes, columns of `axes`, with the
 * rotation vector r from q to target [J]. */
static inline double turn_energy(const double k[3], const double axes[9], const double target[3],
                                 const double q[3])
{
    double error[3], r[3];
    rotation_between(error, q, target);
    tact_m3_tmul_v3(r, axes, error);
    return 0.5 * (k[0] * r[0] * r[0] + k[1] * r[1] * r[1] + k[2] * r[2] * r[2]);
}

/* Gradients of turn_energy() by turns of the base and of the target about the world's axes [N
 * m]. */
static inline void turn_energy_gradient(double base_gradient[3], double target_gradient[3],
                                        const double k[3], const double axes[9],
                                        const double target[3], const double q[3])
{
    const double by = 1e-5;
    for (int i = 0; i < 3; i++) {
        const double turn_forward[3] = {i == 0 ? by : 0.0, i == 1 ? by : 0.0, i == 2 ? by : 0.0};
        const double turn_back[3] = {-turn_forward[0], -turn_forward[1], -turn_forward[2]};
        double after[3], before[3];
        turn_attitude(after, q, turn_forward);
        turn_attitude(before, q, turn_back);
        base_gradient[i] =
            (turn_energy(k, axes, target, after) - turn_energy(k, axes, target, before)) /
            (2.0 * by);
        turn_attitude(after, target, turn_forward);
        turn_attitude(before, target, turn_back);
        target_gradient[i] =
            (turn_energy(k, axes, after, q) - turn_energy(k, axes, before, q)) / (2.0 * by);
    }
}

#endif
