/* Symmetric 6 x 6 matrices: eigenvalues, and whether one is positive semidefinite. */
#include "contact/symmetric_six_internal.h"

#include <math.h>
#include <string.h>

#define MAX_SWEEPS 30  /* of Jacobi's method, which converges in about 6 */
#define TOLERANCE 1e-9 /* of a matrix scaled to a unit diagonal */

/* Rotates the plane of axes p and q so that entry (p, q) becomes 0. */
static void rotate_to_zero(double a[36], int p, int q)
{
    const double off = a[6 * p + q];
    if (off == 0.0) {
        return;
    }
    const double theta = 0.5 * (a[7 * q] - a[7 * p]) / off;
    const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < 6; k++) {
        const double x = a[6 * k + p], y = a[6 * k + q];
        a[6 * k + p] = c * x - s * y;
        a[6 * k + q] = s * x + c * y;
    }
    for (int k = 0; k < 6; k++) {
        const double x = a[6 * p + k], y = a[6 * q + k];
        a[6 * p + k] = c * x - s * y;
        a[6 * q + k] = s * x + c * y;
    }
    a[6 * p + q] = a[6 * q + p] = 0.0;
}

void tact_symmetric_six_eigenvalues(const double m[36], double out[6])
{
    double a[36];
    memcpy(a, m, sizeof a);
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        for (int p = 0; p < 6; p++) {
            for (int q = p + 1; q < 6; q++) {
                rotate_to_zero(a, p, q);
            }
        }
    }
    for (int i = 0; i < 6; i++) {
        int k = i;
        for (; k > 0 && out[k - 1] > a[7 * i]; k--) {
            out[k] = out[k - 1];
        }
        out[k] = a[7 * i];
    }
}

/* Scales a matrix to a unit diagonal; rows without a diagonal entry keep a diagonal of 0, and
 * infinite entries off it. */
static void scale_to_unit_diagonal(const double m[36], double out[36])
{
    for (int i = 0; i < 36; i++) {
        const double scale = sqrt(m[7 * (i / 6)]) * sqrt(m[7 * (i % 6)]);
        out[i] = m[i] == 0.0 ? 0.0 : m[i] / scale;
    }
}

enum tact_symmetric_six_fault tact_symmetric_six_check(const double m[36])
{
    double unit[36], values[6];
    for (int i = 0; i < 36; i++) {
        if (!isfinite(m[i])) {
            return TACT_SIX_NOT_FINITE;
        }
    }
    for (int i = 0; i < 6; i++) {
        if (m[7 * i] < 0.0) {
            return TACT_SIX_NEGATIVE_DIAGONAL;
        }
    }
    scale_to_unit_diagonal(m, unit);
    for (int i = 0; i < 36; i++) {
        const int transposed = i % 6 * 6 + i / 6;
        const double off = m[i] - m[transposed];
        if (off != 0.0 && !(fabs(unit[i] - unit[transposed]) <= TOLERANCE)) {
            return TACT_SIX_NOT_SYMMETRIC;
        }
        if (i % 7 && !(fabs(unit[i]) <= 1.0 + TOLERANCE)) {
            return TACT_SIX_INDEFINITE;
        }
    }
    tact_symmetric_six_eigenvalues(unit, values);
    return values[0] >= -TOLERANCE ? TACT_SIX_SOUND : TACT_SIX_INDEFINITE;
}
