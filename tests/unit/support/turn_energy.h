/* Energy of a spring that turns a base to its target, with a stiffness about each of three axes
 * that do not move, and its numerical gradient. */
#ifndef TACT_TESTS_TURN_ENERGY_H
#define TACT_TESTS_TURN_ENERGY_H

#include "contact/vec.h"

/* Rotation vector of the rotation from one to another, given as rotation vectors. */
static inline void rotation_between_attitudes(double out[3], const double from[3],
                                              const double to[3])
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
static inline void rotate_attitude(double out[3], const double attitude[3], const double by[3])
{
    double turn[4], now[4], next[4];
    tact_quat_from_rotvec(turn, by);
    tact_quat_from_rotvec(now, attitude);
    tact_quat_mul(next, turn, now);
    tact_quat_to_rotvec(out, next);
}

/* Energy of the turning spring: sum k_i r_i^2 / 2 over the axes, columns of `axes`, with the
 * rotation vector r from q to target [J]. */
static inline double attitude_spring_energy(const double k[3], const double axes[9],
                                            const double target[3], const double q[3])
{
    double error[3], r[3];
    rotation_between_attitudes(error, q, target);
    tact_m3_tmul_v3(r, axes, error);
    return 0.5 * (k[0] * r[0] * r[0] + k[1] * r[1] * r[1] + k[2] * r[2] * r[2]);
}

/* Gradients of attitude_spring_energy() by turns of the base and of the target about the world's
 * axes [N m]. */
static inline void attitude_spring_gradients(double energy_gradient_by_base[3],
                                             double energy_gradient_by_target[3], const double k[3],
                                             const double axes[9], const double target[3],
                                             const double q[3])
{
    const double by = 1e-5;
    for (int i = 0; i < 3; i++) {
        const double rotation_forward[3] = {i == 0 ? by : 0.0, i == 1 ? by : 0.0,
                                            i == 2 ? by : 0.0};
        const double rotation_back[3] = {-rotation_forward[0], -rotation_forward[1],
                                         -rotation_forward[2]};
        double attitude_turned_forward[3], before[3];
        rotate_attitude(attitude_turned_forward, q, rotation_forward);
        rotate_attitude(before, q, rotation_back);
        energy_gradient_by_base[i] =
            (attitude_spring_energy(k, axes, target, attitude_turned_forward) -
             attitude_spring_energy(k, axes, target, before)) /
            (2.0 * by);
        rotate_attitude(attitude_turned_forward, target, rotation_forward);
        rotate_attitude(before, target, rotation_back);
        energy_gradient_by_target[i] =
            (attitude_spring_energy(k, axes, attitude_turned_forward, q) -
             attitude_spring_energy(k, axes, before, q)) /
            (2.0 * by);
    }
}

#endif
