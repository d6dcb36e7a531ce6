/* Computes the exact motion of a mass on spring and damper over a tick. */
#include <math.h>
#include "devices/twin/twin_internal.h"

enum { N = 4, TERMS = 24 };

static void multiply_matrices(long double out[N][N], const long double a[N][N],
                              const long double b[N][N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            out[i][j] = 0.0L;
            for (int k = 0; k < N; k++) {
                out[i][j] += a[i][k] * b[k][j];
            }
        }
    }
}

static void copy_square_matrix(long double to[N][N], const long double from[N][N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            to[i][j] = from[i][j];
        }
    }
}

/* exp(a) by scaling, Taylor's series and squaring (Moler and Van Loan 2003, method 3): 24 terms at
 * a norm of at most 1/2 are exact to the last digit. */
static void matrix_exponential(long double out[N][N], long double a[N][N], long double matrix_norm)
{
    int matrix_halving_count = 0;
    long double term_of_taylor_series[N][N], next[N][N];
    while (matrix_norm > 0.5L) {
        matrix_norm *= 0.5L;
        matrix_halving_count++;
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = ldexpl(a[i][j], -matrix_halving_count);
            out[i][j] = term_of_taylor_series[i][j] = i == j;
        }
    }
    for (int n = 1; n <= TERMS; n++) {
        multiply_matrices(next, term_of_taylor_series, a);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                term_of_taylor_series[i][j] = next[i][j] / n;
                out[i][j] += term_of_taylor_series[i][j];
            }
        }
    }
    for (int i = 0; i < matrix_halving_count; i++) {
        multiply_matrices(next, out, out);
        copy_square_matrix(out, next);
    }
}

void tact_twin_motion_step_init(struct tact_twin_motion_step *step, double spring_coefficient,
                                double damper_coefficient)
{
    /* System matrix of the state (position, speed, applied acceleration, its rate of change), with
     * time in periods. */
    long double a[N][N] = {
        {0, 1, 0, 0}, {-spring_coefficient, -damper_coefficient, 1, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}};
    long double e[N][N];
    matrix_exponential(e, a, 2.0L + spring_coefficient + damper_coefficient);
    for (int i = 0; i < N; i++) {
        step->position[i] = (double)e[0][i];
        step->speed[i] = (double)e[1][i];
    }
}
