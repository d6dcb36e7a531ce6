/* Symmetric 6 x 6 matrices of forces and torques, row-major, whose rows have different units. */
#ifndef TACT_CONTACT_SYMMETRIC_SIX_INTERNAL_H
#define TACT_CONTACT_SYMMETRIC_SIX_INTERNAL_H

/* What a matrix lacks to be symmetric and positive semidefinite. */
enum tact_matrix_6x6_symmetry_fault {
    TACT_MATRIX_6X6_POSITIVE_SEMIDEFINITE,
    TACT_MATRIX_6X6_NOT_FINITE,
    TACT_MATRIX_6X6_NEGATIVE_DIAGONAL,
    TACT_MATRIX_6X6_NOT_SYMMETRIC,
    TACT_MATRIX_6X6_INDEFINITE, /* a deflection has negative energy */
};

/* Eigenvalues of a symmetric matrix, ascending; NaN where they are not found. Real-time safe. */
void tact_matrix_6x6_eigenvalues(const double m[36], double out[6]);

/* Checks that a matrix is symmetric and positive semidefinite, to 1e-9 of the roots of the products
 * of its diagonal entries. */
enum tact_matrix_6x6_symmetry_fault tact_matrix_6x6_find_symmetry_fault(const double m[36]);

#endif
