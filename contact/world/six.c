/* Products and systems of 6 x 6 matrices, row-major. */
#include "contact/world/six_internal.h"

#include <math.h>
#include <string.h>
#include "contact/simd_internal.h"
#include "contact/world/rows_internal.h"

#define MAX_ENTRIES_OF_SYSTEM_ROW                                                                  \
    16 /* most numbers in a row of a linear system: six unknowns and ten right sides */

#define TACT_AS_ROW_OF_FOUR_DOUBLES(pointer) ((const tact_row4 *)(pointer))

/* out += sign a b. */
TACT_INLINE void add_product_of_6x6_matrices(double *out, double sign, const double *a,
                                             const double *b)
{
    double factor[36];
    for (int i = 0; i < 36; i += 4) {
        *(tact_row4 *)(factor + i) = sign * *TACT_AS_ROW_OF_FOUR_DOUBLES(a + i);
    }
    for (int i = 0; i < 6; i++) {
        tact_row4 *wide = (tact_row4 *)(out + 6 * i), x = *wide;
        tact_row2 *rest = (tact_row2 *)(out + 6 * i + 4), y = *rest;
        for (int k = 0; k < 6; k++) {
            double s = factor[6 * i + k];
            x += s * *TACT_AS_ROW_OF_FOUR_DOUBLES(b + 6 * k);
            y += s * *TACT_AS_ROW_OF_DOUBLE_PAIRS(b + 6 * k + 4);
        }
        *wide = x;
        *rest = y;
    }
}

TACT_DISPATCH_BY_CPU(void, tact_6x6_add_product,
                     (double *out, double sign, const double *a, const double *b),
                     (out, sign, a, b))
{
    add_product_of_6x6_matrices(out, sign, a, b);
}

TACT_DISPATCH_BY_CPU(void, tact_6x6_add_product_of_leading_block,
                     (double *out, double sign, const double *a, const double *b, int rows,
                      int inner),
                     (out, sign, a, b, rows, inner))
{
    if (rows == 6 && inner == 6) {
        add_product_of_6x6_matrices(out, sign, a, b);
        return;
    }
    for (int i = 0; i < rows; i++) {
        tact_row4 *wide = (tact_row4 *)(out + 6 * i), x = *wide;
        tact_row2 *rest = (tact_row2 *)(out + 6 * i + 4), y = *rest;
        for (int k = 0; k < inner; k++) {
            double s = sign * a[6 * i + k];
            x += s * *TACT_AS_ROW_OF_FOUR_DOUBLES(b + 6 * k);
            y += s * *TACT_AS_ROW_OF_DOUBLE_PAIRS(b + 6 * k + 4);
        }
        *wide = x;
        *rest = y;
    }
}

TACT_DISPATCH_BY_CPU(void, tact_6x6_add_matrix_vector,
                     (double *y, double sign, const double *a, const double *x), (y, sign, a, x))
{
    tact_row2 p = TACT_AS_ROW_OF_DOUBLE_PAIRS(x)[0], q = TACT_AS_ROW_OF_DOUBLE_PAIRS(x)[1],
              r = TACT_AS_ROW_OF_DOUBLE_PAIRS(x)[2];
    for (int i = 0; i < 6; i++) {
        const tact_row2 *row = TACT_AS_ROW_OF_DOUBLE_PAIRS(a + 6 * i);
        tact_row2 sum = row[0] * p + row[1] * q + row[2] * r;
        y[i] += sign * (sum[0] + sum[1]);
    }
}

TACT_DISPATCH_BY_CPU(void, tact_6x6_transpose, (double *out, const double *a), (out, a))
{
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            out[6 * i + k] = a[6 * k + i];
        }
    }
}

/* Index of the row with the largest entry in column k, at or below the diagonal, among the first
 * `rows` rows. */
TACT_INLINE int find_pivot_row(double m[6][MAX_ENTRIES_OF_SYSTEM_ROW], int k, int rows)
{
    int best = k;
    for (int i = k + 1; i < rows; i++) {
        best = fabs(m[i][k]) > fabs(m[best][k]) ? i : best;
    }
    return best;
}

TACT_INLINE void swap_matrix_rows(double *a, double *b)
{
    double t[MAX_ENTRIES_OF_SYSTEM_ROW];
    memcpy(t, a, sizeof t);
    memcpy(a, b, sizeof t);
    memcpy(b, t, sizeof t);
}

/* Divides row k by its pivot, and subtracts its multiples from all other rows; a row has
 * simd_vectors_per_row vectors.
 */
TACT_INLINE void reduce_rows_by_pivot_row(double m[6][MAX_ENTRIES_OF_SYSTEM_ROW], int k, int rows,
                                          int simd_vectors_per_row)
{
    tact_row4 *pivot = (tact_row4 *)m[k];
    double inverse = 1.0 / m[k][k];
    for (int j = k / 4; j < simd_vectors_per_row; j++) {
        pivot[j] *= inverse;
    }
    for (int i = 0; i < rows; i++) {
        tact_row4 *row = (tact_row4 *)m[i];
        double s = m[i][k];
        for (int j = k / 4; j < simd_vectors_per_row && i != k; j++) {
            row[j] -= s * pivot[j];
        }
    }
}

/* Gauss-Jordan elimination with row pivots. Returns 0 where all pivots of a column are zero. */
TACT_INLINE int eliminate_gauss_jordan(double m[6][MAX_ENTRIES_OF_SYSTEM_ROW], int rows,
                                       int simd_vectors_per_row)
{
    for (int k = 0; k < rows; k++) {
        int best = find_pivot_row(m, k, rows);
        if (!(fabs(m[best][k]) > 0.0)) {
            return 0;
        }
        if (best != k) {
            swap_matrix_rows(m[k], m[best]);
        }
        reduce_rows_by_pivot_row(m, k, rows, simd_vectors_per_row);
    }
    return 1;
}

/* Solves the system of a with its right sides in place; a row of all has simd_vectors_per_row
 * vectors. Returns 0 where a is singular. */
TACT_INLINE int solve_6x6_for_right_side_columns(const double *a, double *b, int columns,
                                                 int simd_vectors_per_row)
{
    double m[6][MAX_ENTRIES_OF_SYSTEM_ROW];
    for (int i = 0; i < 6; i++) {
        memset(m[i] + 4 * (simd_vectors_per_row - 1), 0, 4 * sizeof *a);
        memcpy(m[i], a + 6 * i, 6 * sizeof *a);
        memcpy(m[i] + 6, b + columns * i, (size_t)columns * sizeof *b);
    }
    if (!eliminate_gauss_jordan(m, 6, simd_vectors_per_row)) {
        return 0;
    }
    for (int i = 0; i < 6; i++) {
        memcpy(b + columns * i, m[i] + 6, (size_t)columns * sizeof *b);
    }
    return 1;
}

TACT_DISPATCH_BY_CPU(int, tact_6x6_solve_in_place, (const double *a, double *b, int columns),
                     (a, b, columns))
{
    switch (columns) {
    case 1:
        return solve_6x6_for_right_side_columns(a, b, 1, 2);
    case 6:
        return solve_6x6_for_right_side_columns(a, b, 6, 3);
    case 7:
        return solve_6x6_for_right_side_columns(a, b, 7, 4);
    default:
        return solve_6x6_for_right_side_columns(a, b, columns, MAX_ENTRIES_OF_SYSTEM_ROW / 4);
    }
}

TACT_DISPATCH_BY_CPU(int, tact_6x6_invert_leading_block, (const double *a, int n, double *out),
                     (a, n, out))
{
    double m[6][MAX_ENTRIES_OF_SYSTEM_ROW] = {{0.0}};
    for (int i = 0; i < 6; i++) {
        memcpy(m[i], a + 6 * i, 6 * sizeof *a);
        m[i][6 + i] = 1.0;
    }
    if (!(n == 6 ? eliminate_gauss_jordan(m, 6, 3) : eliminate_gauss_jordan(m, n, 3))) {
        return 0;
    }
    for (int i = 0; i < 6; i++) {
        memcpy(out + 6 * i, m[i] + 6, 6 * sizeof *out);
    }
    return 1;
}
