/* Matrices of springs of six coordinates, force then torque, for tests. Include after cmocka.h. */
#ifndef TACT_TESTS_SPRING_MATRIX_H
#define TACT_TESTS_SPRING_MATRIX_H

#include <math.h>
#include <string.h>
#include "random.h"

static inline double quadratic_form(const double m[36], const double x[6])
{
    double sum = 0.0;
    for (int i = 0; i < 36; i++) {
        sum += x[i / 6] * m[i] * x[i % 6];
    }
    return sum;
}

/* A random symmetric, positive definite matrix of about that stiffness, whose rotations act by
 * about that length. */
static inline void random_spring_matrix(double m[36], double stiffness, double length)
{
    double factor[36];
    for (int i = 0; i < 36; i++) {
        factor[i] = uniform(-1.0, 1.0) + (i % 7 ? 0.0 : 1.0);
    }
    for (int i = 0; i < 36; i++) {
        const double unit = (i / 6 < 3 ? 1.0 : length) * (i % 6 < 3 ? 1.0 : length);
        m[i] = i % 7 ? 0.0 : 0.1 * stiffness * unit;
        for (int k = 0; k < 6; k++) {
            m[i] += 0.4 * stiffness * unit * factor[i / 6 * 6 + k] * factor[i % 6 * 6 + k];
        }
    }
    for (int i = 0; i < 36; i++) { /* symmetric, bit for bit */
        m[i] = i / 6 > i % 6 ? m[i % 6 * 6 + i / 6] : m[i];
    }
}

/* The matrix at the origin of springs along and about the axes of a point: T^T diag(k) T, where
 * T takes the twist of the origin to that of the point. */
static inline void spring_matrix_at_point(double m[36], const double k[6], const double point[3])
{
    double t[36] = {0.0};
    for (int i = 0; i < 6; i++) {
        t[7 * i] = 1.0;
    }
    for (int i = 0; i < 3; i++) { /* w x point */
        t[6 * i + 3 + (i + 1) % 3] = point[(i + 2) % 3];
        t[6 * i + 3 + (i + 2) % 3] = -point[(i + 1) % 3];
    }
    for (int i = 0; i < 36; i++) {
        m[i] = 0.0;
        for (int n = 0; n < 6; n++) {
            m[i] += k[n] * t[6 * n + i / 6] * t[6 * n + i % 6];
        }
    }
}

/* Displacement x with K_pp x = force, of the positions alone. */
static inline void displacement_under_force(const double k[36], const double force[3], double x[3])
{
    const double *a = k, *b = k + 6, *c = k + 12;
    double bc[3], ca[3], ab[3];
    tact_v3_cross(bc, b, c);
    tact_v3_cross(ca, c, a);
    tact_v3_cross(ab, a, b);
    const double det = tact_v3_dot(a, bc);
    for (int i = 0; i < 3; i++) {
        x[i] = (bc[i] * force[0] + ca[i] * force[1] + ab[i] * force[2]) / det;
    }
}

#endif
