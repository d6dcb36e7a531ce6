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

static void copy_step_matrix(long double to[N][N], const long double from[N][N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            to[i][j] = from[i][j];
        }
    }
}

/* exp(a) by scaling, Taylor's series and squaring (Moler and Van Loan 2003, method 3): 24 terms at
 * a norm of at most 1/2 are exact to the last digit. */
static void matrix_exponential(long double out[N][N], long double a[N][N], long double norm)
{
    int halving_count = 0;
    long double taylor_term[N][N], next[N][N];
    while (norm > 0.5L) {
        norm *= 0.5L;
        halving_count++;
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = ldexpl(a[i][j], -halving_count);
            out[i][j] = taylor_term[i][j] = i == j;
        }
    }
    for (int n = 1; n <= TERMS; n++) {
        multiply_matrices(next, taylor_term, a);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                taylor_term[i][j] = next[i][j] / n;
                out[i][j] += taylor_term[i][j];
            }
        }
    }
    for (int i = 0; i < halving_count; i++) {
        multiply_matrices(next, out, out);
        copy_step_matrix(out, next);
    }
}

void tact_twin_motion_step_init(struct tact_twin_motion_step *step, double spring, double damper)
{
    /* System matrix of the state (position, speed, applied acceleration, its rate of change), with
     * time in periods. */
    long double a[N][N] = {{0, 1, 0, 0}, {-spring, -damper, 1, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}};
    long double e[N][N];
    matrix_exponential(e, a, 2.0L + spring + damper);
    for (int i = 0; i < N; i++) {
        step->position[i] = (double)e[0][i];
        step->speed[i] = (double)e[1][i];
    }
}
