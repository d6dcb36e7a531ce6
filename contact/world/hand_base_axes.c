/*
 * Drives of a base whose numbers differ along the axes of a frame that does not move. The energy of
 * a spring is e^T K e / 2, and force and torque on the base are its gradient: K e of the position,
 * and J_r^-T K r of the attitude with the rotation vector r to the target (J_r: right Jacobian of
 * SO(3)). On the target acts J_r^-1 K r, and on the frame the difference r x K r, as axes that do
 * not move have an energy that a common turn of base and target changes. A part of K that is equal
 * about all axes is as that of a base without such axes, K r at rate 0 less h K times the rates;
 * the rest is implicit with J_r^-T K J_r^-1.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/rotvec_internal.h"
#include "contact/world/hand_internal.h"

int tact_hand_set_base_axes(struct tact_hand *hand, int part, const double quat_wxyz[4],
                            const double stiffness[3], const double damping[3])
{
    if (!hand->has_moving_base || part < 0 || part > 1) {
        return -EINVAL;
    }
    for (int i = 0; i < 3; i++) {
        if (!(stiffness[i] >= 0.0 && damping[i] >= 0.0) || !isfinite(stiffness[i] + damping[i])) {
            return -EINVAL;
        }
    }
    struct base_axis_drives *axes = &hand->base_axis_drives[part];
    double a[9];
    tact_quat_to_m3(a, quat_wxyz);
    for (int i = 0; i < 9; i++) {
        const double *p = a + 3 * (i / 3), *q = a + 3 * (i % 3);
        axes->stiffness[i] =
            p[0] * q[0] * stiffness[0] + p[1] * q[1] * stiffness[1] + p[2] * q[2] * stiffness[2];
        axes->damping[i] =
            p[0] * q[0] * damping[0] + p[1] * q[1] * damping[1] + p[2] * q[2] * damping[2];
    }
    const int are_axis_stiffnesses_equal =
        stiffness[1] == stiffness[0] && stiffness[2] == stiffness[0];
    axes->must_torque_gradient_be_rotated = part == 1 && !are_axis_stiffnesses_equal;
    axes->least = fmin(fmin(stiffness[0], stiffness[1]), stiffness[2]);
    axes->is_base_drive_set = 1;
    hand->base_matrix_drive.is_base_drive_set = 0;
    memset(hand->base_axes_moment, 0, sizeof hand->base_axes_moment);
    return 0;
}

/* Stiffness about the axes beyond the least one, and its product with the rotation error r. */
static void find_excess_stiffness_and_torque(const struct base_axis_drives *axes, const double r[3],
                                             double stiffness_beyond_least[9],
                                             double torque_beyond_least_stiffness[3])
{
    for (int i = 0; i < 9; i++) {
        stiffness_beyond_least[i] = axes->stiffness[i] - (i % 4 == 0 ? axes->least : 0.0);
    }
    tact_m3_mul_v3(torque_beyond_least_stiffness, stiffness_beyond_least, r);
}

/* The gradient of r^T K r / 2: least stiffness times r, plus the torque of the excess stiffness
 * turned by J_r^-1. */
static void update_rotation_spring(struct base_axis_drives *axes, const double r[3])
{
    double stiffness_beyond_least[9], torque_beyond_least_stiffness[3], jacobian[9], transposed[9],
        product[9];
    find_excess_stiffness_and_torque(axes, r, stiffness_beyond_least,
                                     torque_beyond_least_stiffness);
    tact_rotvec_inverse_right_jacobian(jacobian, r);
    tact_m3_tmul_v3(axes->spring_force_at_zero_rate, jacobian, torque_beyond_least_stiffness);
    tact_v3_axpy(axes->spring_force_at_zero_rate, axes->least, r);
    for (int i = 0; i < 9; i++) {
        transposed[i] = jacobian[i % 3 * 3 + i / 3];
    }
    tact_m3_mul(product, stiffness_beyond_least, jacobian);
    tact_m3_mul(axes->force_decrease_per_displacement, transposed, product);
    for (int i = 0; i < 9; i += 4) {
        axes->force_decrease_per_displacement[i] += axes->least;
    }
}

void tact_hand_base_update_axis_springs(struct tact_hand *hand)
{
    for (int part = 0; part < 2; part++) {
        struct base_axis_drives *axes = &hand->base_axis_drives[part];
        const double *error = hand->base_target_error + 3 * part;
        if (!axes->is_base_drive_set) {
            continue;
        }
        if (axes->must_torque_gradient_be_rotated) {
            update_rotation_spring(axes, error);
            continue;
        }
        for (int i = 0; i < 3; i++) {
            axes->spring_force_at_zero_rate[i] = tact_v3_dot(axes->stiffness + 3 * i, error);
        }
        memcpy(axes->force_decrease_per_displacement, axes->stiffness,
               sizeof axes->force_decrease_per_displacement);
    }
}

double tact_hand_base_torque_at_zero_rate(const struct tact_hand *hand, int i)
{
    const int first = i / 3 * 3;
    const struct base_axis_drives *axes = &hand->base_axis_drives[i / 3];
    return axes->spring_force_at_zero_rate[i % 3] +
           tact_v3_dot(axes->damping + 3 * (i % 3), hand->base_target_twist + first);
}

double tact_hand_base_torque_of_rates(const struct tact_hand *hand, int i, double h)
{
    const double *rates = hand->velocity + i / 3 * 3;
    const struct base_axis_drives *axes = &hand->base_axis_drives[i / 3];
    return h * tact_v3_dot(axes->force_decrease_per_displacement + 3 * (i % 3), rates) +
           tact_v3_dot(axes->damping + 3 * (i % 3), rates);
}

int tact_hand_is_base_drive_limited(const struct tact_hand *hand, int i)
{
    const double *saturated = hand->state.saturated + i / 3 * 3;
    return saturated[0] != 0.0 || saturated[1] != 0.0 || saturated[2] != 0.0;
}

void tact_hand_base_set_gains(struct tact_hand *hand, double h)
{
    if (hand->base_matrix_drive.is_base_drive_set) {
        tact_hand_base_set_acting_gains(hand, h);
    }
    for (int i = 0; i < TACT_HAND_BASE; i += 3) {
        struct base_axis_drives *axes = &hand->base_axis_drives[i / 3];
        const int is_drive_below_limit =
            axes->is_base_drive_set && !tact_hand_is_base_drive_limited(hand, i);
        for (int k = 0; axes->is_base_drive_set && k < 9; k++) {
            axes->gain[k] =
                is_drive_below_limit
                    ? h * axes->damping[k] + h * h * axes->force_decrease_per_displacement[k]
                    : 0.0;
        }
    }
}

void tact_hand_base_add_drives(struct tact_hand *hand)
{
    for (int i = 0; i < TACT_HAND_BASE; i++) {
        const struct base_axis_drives *axes = tact_hand_axes_of_coordinate(hand, i);
        const struct base_matrix_drive *m = tact_hand_matrices_of_coordinate(hand, i);
        for (int j = i / 3 * 3; axes && j < i; j++) {
            hand->matrix[i * hand->count + j] += axes->gain[3 * (i % 3) + j % 3];
        }
        for (int j = 0; m && j < i; j++) {
            hand->matrix[i * hand->count + j] += m->impulse_gain[6 * i + j];
        }
    }
}

/* Fraction of the torque of spring and damper, at the rates of the tick, that the drive's limit
 * allows. */
static double find_torque_fraction_within_limit(const struct tact_hand *hand, double h)
{
    double demanded_base_torque[3];
    for (int i = 0; i < 3; i++) {
        demanded_base_torque[i] = tact_hand_base_torque_at_zero_rate(hand, 3 + i) -
                                  tact_hand_base_torque_of_rates(hand, 3 + i, h);
    }
    const double length = tact_v3_norm(demanded_base_torque),
                 limited = tact_v3_norm(hand->state.torque + 3);
    return limited < length ? limited / length : 1.0;
}

void tact_hand_base_store_axes_moment(struct tact_hand *hand, double h)
{
    const struct base_axis_drives *axes = &hand->base_axis_drives[1];
    double stiffness_beyond_least[9], torque_beyond_least_stiffness[3], r[3];
    if (!axes->must_torque_gradient_be_rotated) {
        return;
    }
    tact_hand_base_find_rotation_to_target(hand, r);
    find_excess_stiffness_and_torque(axes, r, stiffness_beyond_least,
                                     torque_beyond_least_stiffness);
    tact_v3_cross(hand->base_axes_moment, r, torque_beyond_least_stiffness);
    tact_v3_scale(hand->base_axes_moment, hand->base_axes_moment,
                  find_torque_fraction_within_limit(hand, h));
}

const double *tact_hand_base_axes_moment(const struct tact_hand *hand)
{
    return hand->base_axis_drives[1].must_torque_gradient_be_rotated ? hand->base_axes_moment
                                                                     : NULL;
}
