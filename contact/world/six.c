/* Products and systems of 6 x 6 matrices, row-major. */
#include "contact/world/six_internal.h"

#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/world/rows_internal.h"

#define PAIRS 7 /* of numbers in a row of a system: six unknowns and at most eight right sides */

void tact_six_multiply(double *out, double sign, const double *a, const double *b)
{
    for (int i = 0; i < 6; i++) {
        tact_row2 *row = (tact_row2 *)(out + 6 * i);
        tact_row2 x = row[0], y = row[1], z = row[2];
        for (int k = 0; k < 6; k++) {
            double s = sign * a[6 * i + k];
            x += s * TACT_ROW(b + 6 * k)[0];
            y += s * TACT_ROW(b + 6 * k)[1];
            z += s * TACT_ROW(b + 6 * k)[2];
        }
        row[0] = x;
        row[1] = y;
        row[2] = z;
    }
}

void tact_six_apply(double *y, double sign, const double *a, const double *x)
{
    tact_row2 p = TACT_ROW(x)[0], q = TACT_ROW(x)[1], r = TACT_ROW(x)[2];
    for (int i = 0; i < 6; i++) {
        const tact_row2 *row = TACT_ROW(a + 6 * i);
        tact_row2 sum = row[0] * p + row[1] * q + row[2] * r;
        y[i] += sign * (sum[0] + sum[1]);
    }
}

void tact_six_transpose(double *out, const double *a)
{
    for (int i = 0; i < 36; i++) {
        out[i] = a[6 * (i % 6) + i / 6];
    }
}

/* The row of the largest entry in column k, at or below the diagonal. */
static int find_pivot(double m[6][2 * PAIRS], int k)
{
    int best = k;
    for (int i = k + 1; i < 6; i++) {
        best = fabs(m[i][k]) > fabs(m[best][k]) ? i : best;
    }
    return best;
}

static void swap_rows(double *a, double *b)
{
    double t[2 * PAIRS];
    memcpy(t, a, sizeof t);
    memcpy(a, b, sizeof t);
    memcpy(b, t, sizeof t);
}

/* Row k by its pivot, and its multiple from all others. */
static void reduce(double m[6][2 * PAIRS], int k)
{
    tact_row2 *pivot = (tact_row2 *)m[k];
    double inverse = 1.0 / m[k][k];
    for (int j = k / 2; j < PAIRS; j++) {
        pivot[j] *= inverse;
    }
    for (int i = 0; i < 6; i++) {
        tact_row2 *row = (tact_row2 *)m[i];
        double s = m[i][k];
        for (int j = k / 2; j < PAIRS && i != k; j++) {
            row[j] -= s * pivot[j];
        }
    }
}

int tact_six_solve(const double *a, double *b, int columns)
{
    double m[6][2 * PAIRS] = {{0.0}};
    for (int i = 0; i < 6; i++) {
        memcpy(m[i], a + 6 * i, 6 * sizeof *a);
        memcpy(m[i] + 6, b + columns * i, (size_t)columns * sizeof *b);
    }
    for (int k = 0; k < 6; k++) {
        int best = find_pivot(m, k);
        if (!(fabs(m[best][k]) > 0.0)) {
            return 0;
        }
        if (best != k) {
            swap_rows(m[k], m[best]);
        }
        reduce(m, k);
    }
    for (int i = 0; i < 6; i++) {
        memcpy(b + columns * i, m[i] + 6, (size_t)columns * sizeof *b);
    }
    return 1;
}
