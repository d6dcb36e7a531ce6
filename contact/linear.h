/**
 * Linear algebra in place: symmetric systems of at most six unknowns, and long vectors. All
 * functions are real-time safe.
 */
#ifndef TACT_CONTACT_LINEAR_H
#define TACT_CONTACT_LINEAR_H

/** Inner product of two vectors of n numbers, summed in order. Units are the caller's. */
static inline double tact_dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/** y += s x, of n numbers. Units are the caller's. */
static inline void tact_axpy(double *y, double s, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] += s * x[i];
    }
}

/** Pivots below this fraction of their own diagonal entry count as zero: what remains is rounding.
 * Entries have different units, so the largest is no reference: for a patch a millimetre long and a
 * micrometre wide, the torque about its length is 1e-6 of the other. */
#define TACT_PIVOT_FLOOR 1e-13

/** Pivots below this fraction of the largest diagonal entry count as zero: the unknown has no
 * effect, and its entry is rounding. */
#define TACT_PIVOT_MIN 1e-26

/**
 * Factors the symmetric positive semidefinite n x n matrix a (row-major, row length n, lower part
 * read) as L D L^T in place: unit L below the diagonal, 1/D on it. A pivot that is zero to rounding
 * gets 1/D = 0, and its unknown becomes 0: a solution of the consistent singular systems that occur
 * for contacts of bodies with few degrees of freedom.
 */
static inline void tact_ldl_factor(double *a, int n)
{
    double least = 0.0;
    for (int i = 0; i < n; i++) {
        least = a[i * n + i] > least ? a[i * n + i] : least;
    }
    least *= TACT_PIVOT_MIN;
    double pivot[6] = {0.0};
    for (int j = 0; j < n; j++) {
        double work[6] = {0.0};
        double d = a[j * n + j], floor = TACT_PIVOT_FLOOR * d;
        floor = floor > least ? floor : least;
        for (int k = 0; k < j; k++) {
            work[k] = a[j * n + k] * pivot[k];
            d -= a[j * n + k] * work[k];
        }
        double inverse = d > floor ? 1.0 / d : 0.0;
        pivot[j] = d > floor ? d : 0.0;
        for (int i = j + 1; i < n; i++) {
            double s = a[i * n + j];
            for (int k = 0; k < j; k++) {
                s -= a[i * n + k] * work[k];
            }
            a[i * n + j] = s * inverse;
        }
        a[j * n + j] = inverse;
    }
}

/**
 * Solves a system with the factors of tact_ldl_factor(); x is the right side on input and the
 * solution on output. Units are the caller's.
 */
static inline void tact_ldl_solve(const double *a, int n, double *x)
{
    for (int i = 1; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= a[i * n + k] * x[k];
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] *= a[i * n + i];
    }
    for (int i = n - 2; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            x[i] -= a[k * n + i] * x[k];
        }
    }
}

#endif
