#include "contact/world/body.h"

#include <errno.h>
#include "contact/linear.h"

#define MAX_ROTATION_OF_RUNGE_KUTTA_STEP                                                           \
    0.02 /* largest rotation of a body in a Runge-Kutta step [rad] */
#define MAX_RUNGE_KUTTA_STEPS_PER_TICK                                                             \
    64 /* most Runge-Kutta steps in a tick: where a body turns by more than 1.28 rad in it,        \
          accuracy decreases */
#define MIN_GYROSCOPIC_ROTATION                                                                    \
    1e-8 /* rotation in a tick [rad] below which the gyroscopic change of angular velocity is less \
            than rounding */

static void unpack_symmetric_matrix(const double *packed_symmetric_matrix, double *m)
{
    const double full_matrix[9] = {
        packed_symmetric_matrix[0], packed_symmetric_matrix[3], packed_symmetric_matrix[4],
        packed_symmetric_matrix[3], packed_symmetric_matrix[1], packed_symmetric_matrix[5],
        packed_symmetric_matrix[4], packed_symmetric_matrix[5], packed_symmetric_matrix[2]};
    for (int i = 0; i < 9; i++) {
        m[i] = full_matrix[i];
    }
}

/* 1 where an inertia I and the second moment of its mass, tr(I)/2 1 - I, are positive definite up
 * to rounding. */
static int is_physical_inertia(const double *inertia)
{
    double half = 0.5 * (inertia[0] + inertia[4] + inertia[8]);
    if (!(half > 0.0) || !isfinite(half)) {
        return 0;
    }
    for (int index_of_inertia_condition = 0; index_of_inertia_condition < 2;
         index_of_inertia_condition++) {
        double m[9];
        for (int i = 0; i < 9; i++) {
            double half_trace_matrix_entry = i % 4 == 0 ? half * (1.0 + 1e-9) : 0.0;
            m[i] = index_of_inertia_condition ? half_trace_matrix_entry - inertia[i] : inertia[i];
        }
        double m2 = m[0] * m[4] - m[1] * m[3];
        double det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                     m[2] * (m[3] * m[7] - m[4] * m[6]);
        double slack = index_of_inertia_condition ? -1e-12 * half : 0.0;
        if (!(m[0] > slack) || !(m2 > slack * half) || !(det > slack * half * half)) {
            return 0;
        }
    }
    return 1;
}

int tact_body_set_mass(struct tact_body *body, double mass, const double inertia[6])
{
    double m[9];
    unpack_symmetric_matrix(inertia, m);
    if (!(mass > 0.0) || !isfinite(mass) || !is_physical_inertia(m)) {
        return -EINVAL;
    }
    body->mass = mass;
    double factored_inertia_matrix[9];
    for (int i = 0; i < 9; i++) {
        body->inertia[i] = factored_inertia_matrix[i] = m[i];
    }
    tact_ldl_factor(factored_inertia_matrix, 3);
    for (int j = 0; j < 3; j++) {
        double column[3] = {j == 0, j == 1, j == 2};
        tact_ldl_solve(factored_inertia_matrix, 3, column);
        for (int i = 0; i < 3; i++) {
            body->inverse_inertia[3 * i + j] = column[i];
        }
    }
    return 0;
}

void tact_body_refresh(struct tact_body *body)
{
    double r[9], ri[9];
    tact_quat_to_m3(r, body->pose.quat_wxyz);
    tact_m3_mul(ri, r, body->inverse_inertia);
    tact_m3_mul_t(body->inverse_world, ri, r);
}

/* w = R I^-1 R^T L. */
static void momentum_to_angular_velocity(const struct tact_body *body, const double *q,
                                         const double *l, double *w)
{
    double r[9], body_l[3], body_w[3];
    tact_quat_to_m3(r, q);
    tact_m3_tmul_v3(body_l, r, l);
    tact_m3_mul_v3(body_w, body->inverse_inertia, body_l);
    tact_m3_mul_v3(w, r, body_w);
}

/* Time derivative of a quaternion at angular velocity w. */
static void compute_quaternion_rate(const double *w, const double *q, double *rate)
{
    const double half[4] = {0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]};
    tact_quat_mul(rate, half, q);
}

/* Time derivative of the quaternion of a free body with angular momentum l. */
static void compute_free_body_quaternion_rate(const struct tact_body *body, const double *q,
                                              const double *l, double *rate)
{
    double w[3], unit[4] = {q[0], q[1], q[2], q[3]};
    tact_quat_normalize(unit);
    momentum_to_angular_velocity(body, unit, l, w);
    compute_quaternion_rate(w, q, rate);
}

static void runge_kutta_rotation_step(const struct tact_body *body, const double *l, double h,
                                      double *q)
{
    double k[4][4], at[4];
    compute_free_body_quaternion_rate(body, q, l, k[0]);
    for (int runge_kutta_stage = 1; runge_kutta_stage < 4; runge_kutta_stage++) {
        double step = runge_kutta_stage == 3 ? h : 0.5 * h;
        for (int i = 0; i < 4; i++) {
            at[i] = q[i] + step * k[runge_kutta_stage - 1][i];
        }
        compute_free_body_quaternion_rate(body, at, l, k[runge_kutta_stage]);
    }
    for (int i = 0; i < 4; i++) {
        q[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    tact_quat_normalize(q);
}

/* Rotates a quaternion for a time h at constant angular velocity w. */
static void euler_rotation_step(const double *w, double h, double *q)
{
    double rate[4];
    compute_quaternion_rate(w, q, rate);
    for (int i = 0; i < 4; i++) {
        q[i] += h * rate[i];
    }
    tact_quat_normalize(q);
}

void tact_body_drift(struct tact_body *body, double h)
{
    double l[3], angle = tact_v3_norm(body->twist + 3) * h;
    tact_body_momentum(body, l);
    /* A rotation angle that is not finite takes the largest number of steps, after which the pose
     * is not finite either. */
    int steps = angle <= MAX_ROTATION_OF_RUNGE_KUTTA_STEP * MAX_RUNGE_KUTTA_STEPS_PER_TICK
                    ? 1 + (int)(angle / MAX_ROTATION_OF_RUNGE_KUTTA_STEP)
                    : MAX_RUNGE_KUTTA_STEPS_PER_TICK;
    if (angle > MIN_GYROSCOPIC_ROTATION) {
        for (int i = 0; i < steps; i++) {
            runge_kutta_rotation_step(body, l, h / steps, body->pose.quat_wxyz);
        }
    } else if (angle > 0.0) {
        euler_rotation_step(body->twist + 3, h, body->pose.quat_wxyz);
    }
    tact_v3_axpy(body->pose.position, h, body->twist);
    tact_body_refresh(body);
    tact_m3_mul_v3(body->twist + 3, body->inverse_world, l);
}

double tact_body_energy(const struct tact_body *body)
{
    double l[3];
    tact_body_momentum(body, l);
    return 0.5 *
           (body->mass * tact_v3_dot(body->twist, body->twist) + tact_v3_dot(body->twist + 3, l));
}

void tact_body_momentum(const struct tact_body *body, double l[3])
{
    double r[9], w[3], body_l[3];
    tact_quat_to_m3(r, body->pose.quat_wxyz);
    tact_m3_tmul_v3(w, r, body->twist + 3);
    tact_m3_mul_v3(body_l, body->inertia, w);
    tact_m3_mul_v3(l, r, body_l);
}
