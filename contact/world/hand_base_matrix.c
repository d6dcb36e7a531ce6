/*
 * A base that a spring and a damper of six coordinates tie to its target. With the error e = (x, r)
 * of the position and of the attitude (its rotation vector), the energy of the spring is e^T K e /
 * 2 in axes that turn with the target, where the terms of x and r are scaled by a share c: 1 up to
 * a quarter turn, and falling to 0 at half a turn, so that the energy is the same on both ways
 * round. The wrench on the base is the gradient, P^T K e with P = diag(1, J_r^-1(r)) (J_r: right
 * Jacobian of SO(3)) and the term of dc/dr. That at the end of a tick of length h is the one at
 * rate 0 less G = h P^T K P + D times the rates.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/rotvec_internal.h"
#include "contact/symmetric_six_internal.h"
#include "contact/world/hand_internal.h"

/* Pivot of the elimination of a limited drive, relative to its diagonal entry, below which it is
 * one of a direction without stiffness. */
#define MIN_PIVOT_RATIO_OF_LIMITED_DRIVE 1e-12

int tact_hand_set_base_matrices(struct tact_hand *hand, const double quat_wxyz[4],
                                const double stiffness[36], const double damping[36])
{
    if (!hand->has_moving_base || tact_matrix_6x6_find_symmetry_fault(stiffness) ||
        tact_matrix_6x6_find_symmetry_fault(damping)) {
        return -EINVAL;
    }
    struct base_matrix_drive *m = &hand->base_matrix_drive;
    tact_quat_to_m3(m->axes, quat_wxyz);
    for (int i = 0; i < 36; i++) {
        const int index_of_transposed_entry = i % 6 * 6 + i / 6;
        m->stiffness[i] = 0.5 * (stiffness[i] + stiffness[index_of_transposed_entry]);
        m->damping[i] = 0.5 * (damping[i] + damping[index_of_transposed_entry]);
    }
    m->is_base_drive_set = 1;
    hand->base_axis_drives[0].is_base_drive_set = hand->base_axis_drives[1].is_base_drive_set = 0;
    hand->base_axis_drives[1].must_torque_gradient_be_rotated = 0;
    memset(hand->base_axes_moment, 0, sizeof hand->base_axes_moment);
    return 0;
}

/* out = diag(p, q)^T m diag(p, q) for 3 x 3 matrices p and q. */
static void transform_6x6_by_blocks(double out[36], const double m[36], const double p[9],
                                    const double q[9])
{
    double half[36];
    for (int i = 0; i < 36; i++) {
        const int row = i / 6, column = i % 6, first = column / 3 * 3;
        const double *b = (column < 3 ? p : q) + column % 3;
        half[i] = m[6 * row + first] * b[0] + m[6 * row + first + 1] * b[3] +
                  m[6 * row + first + 2] * b[6];
    }
    for (int i = 0; i < 36; i++) {
        const int row = i / 6, column = i % 6, first = row / 3 * 3;
        const double *a = (row < 3 ? p : q) + row % 3;
        out[i] = a[0] * half[6 * first + column] + a[3] * half[6 * (first + 1) + column] +
                 a[6] * half[6 * (first + 2) + column];
    }
}

/* Twist of the target for the damper: its linear part at the base, so that a target and a
 * base that turn as one rigid body do no work on it. */
static void find_target_twist_at_base(const struct tact_hand *hand, double twist[6])
{
    const double *angular_velocity = hand->base_target_twist + 3;
    double velocity_of_offset[3];
    tact_v3_cross(velocity_of_offset, angular_velocity, hand->base_target_error);
    tact_v3_sub(twist, hand->base_target_twist, velocity_of_offset);
    tact_v3_copy(twist + 3, angular_velocity);
}

/* Factor c of the cross terms of position and attitude at a rotation angle, and its derivative over
 * the angle. */
static double find_cross_term_fraction(double angle, double *cross_term_slope_over_angle)
{
    const double half_pi = 1.57079632679489661923;
    const double sine = angle < 2.0 * half_pi ? tact_sin(angle) : 0.0;
    if (angle <= half_pi) {
        *cross_term_slope_over_angle = 0.0;
        return 1.0;
    }
    *cross_term_slope_over_angle = 2.0 * sine * tact_cos(angle) / angle;
    return sine * sine;
}

/* Scales the cross terms of a spring, and writes its force and the gradient by r of its energy. */
static void find_spring_force(double k[36], const double error[6],
                              double base_spring_force_and_torque[6])
{
    double slope, cross_energy = 0.0;
    const double cross_stiffness_fraction =
        find_cross_term_fraction(tact_v3_norm(error + 3), &slope);
    for (int i = 0; i < 3; i++) {
        cross_energy += error[i] * tact_v3_dot(k + 6 * i + 3, error + 3);
    }
    for (int i = 0; i < 36; i++) {
        k[i] *= (i / 6 < 3) == (i % 6 < 3) ? 1.0 : cross_stiffness_fraction;
    }
    for (int i = 0; i < 6; i++) {
        base_spring_force_and_torque[i] = tact_dot(k + 6 * i, error, 6);
    }
    tact_v3_axpy(base_spring_force_and_torque + 3, slope * cross_energy, error + 3);
}

void tact_hand_base_update_matrices(struct tact_hand *hand, double h)
{
    struct base_matrix_drive *m = &hand->base_matrix_drive;
    const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    double turn[4], rotation[9], axes[9], back[9], jacobian[9], k[36], d[36], twist[6], spring[6];
    tact_quat_from_rotvec(turn, hand->state.target + 3);
    tact_quat_to_m3(rotation, turn);
    tact_m3_mul(axes, rotation, m->axes);
    for (int i = 0; i < 9; i++) {
        back[i] = axes[i % 3 * 3 + i / 3];
    }
    transform_6x6_by_blocks(k, m->stiffness, back, back);
    transform_6x6_by_blocks(d, m->damping, back, back);
    find_target_twist_at_base(hand, twist);
    find_spring_force(k, hand->base_target_error, spring);
    for (int i = 0; i < 6; i++) {
        m->unlimited_base_force_at_zero_rate[i] = tact_dot(d + 6 * i, twist, 6);
    }
    tact_rotvec_inverse_right_jacobian(jacobian, hand->base_target_error + 3);
    tact_v3_axpy(m->unlimited_base_force_at_zero_rate, 1.0, spring);
    tact_m3_tmul_v3(twist, jacobian, spring + 3);
    tact_v3_axpy(m->unlimited_base_force_at_zero_rate + 3, 1.0, twist);
    transform_6x6_by_blocks(m->base_force_decrease_per_rate, k, identity, jacobian);
    for (int i = 0; i < 36; i++) {
        m->base_force_decrease_per_rate[i] = h * m->base_force_decrease_per_rate[i] + d[i];
    }
}

/* Eliminates coordinate s, whose force is at its limit `force`: the spring deflects along s so far
 * that it has this force, and the others have the stiffness that is left (its Schur complement). */
static void eliminate_limited_coordinate(struct base_matrix_drive *m, int s, double force)
{
    double column[6];
    const double pivot = m->acting_gain[7 * s], excess = m->force_with_limited_drives[s] - force;
    for (int i = 0; i < 6; i++) {
        column[i] = m->acting_gain[6 * i + s];
    }
    const int has_remaining_gain =
        pivot > MIN_PIVOT_RATIO_OF_LIMITED_DRIVE * m->base_force_decrease_per_rate[7 * s];
    for (int i = 0; i < 6; i++) {
        m->force_with_limited_drives[i] -= has_remaining_gain ? column[i] / pivot * excess : 0.0;
        for (int j = 0; j < 6; j++) {
            m->acting_gain[6 * i + j] -= has_remaining_gain ? column[i] / pivot * column[j] : 0.0;
        }
    }
    for (int i = 0; i < 6; i++) {
        m->acting_gain[6 * i + s] = m->acting_gain[6 * s + i] = 0.0;
    }
}

void tact_hand_base_set_acting_gains(struct tact_hand *hand, double h)
{
    struct base_matrix_drive *m = &hand->base_matrix_drive;
    memcpy(m->acting_gain, m->base_force_decrease_per_rate, sizeof m->acting_gain);
    memcpy(m->force_with_limited_drives, m->unlimited_base_force_at_zero_rate,
           sizeof m->force_with_limited_drives);
    for (int i = 0; i < TACT_HAND_BASE; i++) {
        if (tact_hand_is_base_drive_limited(hand, i)) {
            eliminate_limited_coordinate(m, i, hand->state.saturated[i] * hand->links[i].def.limit);
        }
    }
    for (int i = 0; i < 36; i++) {
        m->impulse_gain[i] = h * m->acting_gain[i];
    }
}

double tact_hand_base_matrix_torque_at_zero_rate(const struct tact_hand *hand, int i)
{
    const struct base_matrix_drive *m = &hand->base_matrix_drive;
    return tact_hand_is_base_drive_limited(hand, i) ? m->unlimited_base_force_at_zero_rate[i]
                                                    : m->force_with_limited_drives[i];
}

double tact_hand_base_matrix_torque_of_rates(const struct tact_hand *hand, int i)
{
    const struct base_matrix_drive *m = &hand->base_matrix_drive;
    const double *gain_row_of_acting_drives =
        tact_hand_is_base_drive_limited(hand, i) ? m->base_force_decrease_per_rate : m->acting_gain;
    return tact_dot(gain_row_of_acting_drives + 6 * i, hand->velocity, 6);
}
