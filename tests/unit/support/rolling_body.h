/* A rigid body with an ellipsoid surface that rolls without slip on a plane: its equations of
 * motion as an ordinary differential equation, integrated by Runge and Kutta's method of order 4.
 * The reference for simulated worlds, with which it shares no code. */
#ifndef TACT_TESTS_ROLLING_BODY_H
#define TACT_TESTS_ROLLING_BODY_H

#include <string.h>
#include "contact/linear.h"
#include "contact/vec.h"

/* A rolling rigid body with an ellipsoid surface; vectors in body axes at the centre of mass. */
struct rolling_body {
    double mass;                /* [kg] */
    double inertia[9];          /* [kg m^2] */
    double ellipsoid_matrix[9]; /* form of the ellipsoid: Q diag(s^2) Q^T [m^2] */
    double center[3];           /* center of the ellipsoid [m] */
    double gravity; /* gravitational acceleration, against the plane's normal z [m/s^2] */
    double y[10];   /* state of the body: quaternion to the world, angular velocity w in body axes
                       [rad/s], centre of mass [m] */
};

/* Sets the body's surface: an ellipsoid of half axes s, turned by yaw [rad] about z. */
static inline void set_rolling_ellipsoid(struct rolling_body *b, const double s[3], double yaw)
{
    const double c = cos(yaw), d = sin(yaw), q[9] = {c, -d, 0.0, d, c, 0.0, 0.0, 0.0, 1.0};
    memset(b->ellipsoid_matrix, 0, sizeof b->ellipsoid_matrix);
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < 3; k++) {
            b->ellipsoid_matrix[i] += q[i / 3 * 3 + k] * s[k] * s[k] * q[i % 3 * 3 + k];
        }
    }
}

/* Arm r from the centre of mass to the contact, in body axes, where the plane's normal is n, and
 * its rate dr where n changes at the rate dn. Returns the height of the ellipsoid's centre. */
static inline double contact_arm_of_rolling_body(const struct rolling_body *b, const double *n,
                                                 const double *dn, double r[3], double dr[3])
{
    double en[3], edn[3];
    tact_m3_mul_v3(en, b->ellipsoid_matrix, n);
    tact_m3_mul_v3(edn, b->ellipsoid_matrix, dn);
    double h = sqrt(tact_v3_dot(n, en)), turn = tact_v3_dot(n, edn) / (h * h * h);
    for (int i = 0; i < 3; i++) {
        r[i] = b->center[i] - en[i] / h;
        dr[i] = en[i] * turn - edn[i] / h;
    }
    return h;
}

static inline void rolling_state_derivative(const struct rolling_body *b, const double *y,
                                            double *rate)
{
    double turn[9], l[3], sum[3], t[3], u[3], v[3], r[3], dr[3], m[9], dn[3];
    const double *w = y + 4;
    tact_quat_to_m3(turn, y);
    const double n[3] = {turn[6], turn[7], turn[8]};
    tact_v3_cross(dn, n, w);
    contact_arm_of_rolling_body(b, n, dn, r, dr);
    tact_m3_mul_v3(l, b->inertia, w);
    tact_v3_cross(sum, l, w);
    tact_v3_cross(t, w, dr);
    tact_v3_cross(u, w, r);
    tact_v3_cross(v, w, u);
    tact_v3_add(t, t, v);
    tact_v3_axpy(t, -b->gravity, n);
    tact_v3_cross(v, r, t);
    tact_v3_axpy(sum, -b->mass, v);
    for (int i = 0; i < 9; i++) {
        m[i] = b->inertia[i] + b->mass * ((i % 4 ? 0.0 : tact_v3_dot(r, r)) - r[i / 3] * r[i % 3]);
    }
    tact_ldl_factor(m, 3);
    tact_ldl_solve(m, 3, sum);
    const double half[4] = {0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]};
    tact_quat_mul(rate, y, half);
    tact_v3_copy(rate + 4, sum);
    tact_v3_scale(u, u, -1.0);
    tact_m3_mul_v3(rate + 7, turn, u);
}

static inline void integrate_rolling_step(struct rolling_body *b, double h)
{
    double k[4][10], at[10];
    rolling_state_derivative(b, b->y, k[0]);
    for (int s = 1; s < 4; s++) {
        for (int i = 0; i < 10; i++) {
            at[i] = b->y[i] + (s == 3 ? h : 0.5 * h) * k[s - 1][i];
        }
        rolling_state_derivative(b, at, k[s]);
    }
    for (int i = 0; i < 10; i++) {
        b->y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    tact_quat_normalize(b->y);
}

/* Velocity of the rolling body's centre of mass, in the world. */
static inline void rolling_centre_velocity(const struct rolling_body *b, double v[3])
{
    double rate[10];
    rolling_state_derivative(b, b->y, rate);
    tact_v3_copy(v, rate + 7);
}

static inline double rolling_body_energy(const struct rolling_body *b)
{
    double v[3], l[3];
    rolling_centre_velocity(b, v);
    tact_m3_mul_v3(l, b->inertia, b->y + 4);
    return 0.5 * (b->mass * tact_v3_dot(v, v) + tact_v3_dot(l, b->y + 4)) +
           b->mass * b->gravity * b->y[9];
}

/* Sets the initial state: orientation q, angular velocity w [rad/s] (world), contact at the
 * origin. */
static inline void set_rolling_initial_state(struct rolling_body *b, const double q[4],
                                             const double w[3])
{
    double turn[9], r[3], dr[3], arm[3];
    memcpy(b->y, q, 4 * sizeof *q);
    tact_quat_to_m3(turn, q);
    tact_m3_tmul_v3(b->y + 4, turn, w);
    const double n[3] = {turn[6], turn[7], turn[8]};
    contact_arm_of_rolling_body(b, n, n, r, dr);
    tact_m3_mul_v3(arm, turn, r);
    tact_v3_scale(b->y + 7, arm, -1.0);
}

#endif
