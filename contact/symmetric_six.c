/* Symmetric 6 x 6 matrices: eigenvalues, and whether one is positive semidefinite. */
#include "contact/symmetric_six_internal.h"

#include <math.h>
#include <string.h>

#include <lapacke.h>

#define NEGATIVE_EIGENVALUE_TOLERANCE                                                              \
    1e-9 /* largest negative eigenvalue that counts as 0, of a matrix scaled to a unit diagonal */

enum { WORK = 3 * 6 }; /* numbers of work space that dsyev needs, at least 3 n - 1 */

void tact_matrix_6x6_eigenvalues(const double m[36], double out[6])
{
    double a[36], work[WORK];
    memcpy(a, m, sizeof a);
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'U', 6, a, 6, out, work, WORK)) {
        for (int i = 0; i < 6; i++) {
            out[i] = NAN;
        }
    }
}

/* Scales a matrix to a unit diagonal; rows without a diagonal entry keep a diagonal of 0, and
 * infinite entries off it. */
static void scale_matrix_to_unit_diagonal(const double m[36], double out[36])
{
    for (int i = 0; i < 36; i++) {
        const double scale = sqrt(m[7 * (i / 6)]) * sqrt(m[7 * (i % 6)]);
        out[i] = m[i] == 0.0 ? 0.0 : m[i] / scale;
    }
}

enum tact_matrix_6x6_symmetry_fault tact_matrix_6x6_find_symmetry_fault(const double m[36])
{
    double unit[36], values[6];
    for (int i = 0; i < 36; i++) {
        if (!isfinite(m[i])) {
            return TACT_MATRIX_6X6_NOT_FINITE;
        }
    }
    for (int i = 0; i < 6; i++) {
        if (m[7 * i] < 0.0) {
            return TACT_MATRIX_6X6_NEGATIVE_DIAGONAL;
        }
    }
    scale_matrix_to_unit_diagonal(m, unit);
    for (int i = 0; i < 36; i++) {
        const int index_of_transposed_entry = i % 6 * 6 + i / 6;
        const double off = m[i] - m[index_of_transposed_entry];
        if (off != 0.0 &&
            !(fabs(unit[i] - unit[index_of_transposed_entry]) <= NEGATIVE_EIGENVALUE_TOLERANCE)) {
            return TACT_MATRIX_6X6_NOT_SYMMETRIC;
        }
        if (i % 7 && !(fabs(unit[i]) <= 1.0 + NEGATIVE_EIGENVALUE_TOLERANCE)) {
            return TACT_MATRIX_6X6_INDEFINITE;
        }
    }
    tact_matrix_6x6_eigenvalues(unit, values);
    return values[0] >= -NEGATIVE_EIGENVALUE_TOLERANCE ? TACT_MATRIX_6X6_POSITIVE_SEMIDEFINITE
                                                       : TACT_MATRIX_6X6_INDEFINITE;
}
