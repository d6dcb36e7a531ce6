/* Symmetric 6 x 6 matrices of forces and torques, row-major, whose rows have different units. */
#ifndef TACT_CONTACT_SYMMETRIC_SIX_INTERNAL_H
#define TACT_CONTACT_SYMMETRIC_SIX_INTERNAL_H

/* What a matrix lacks to be symmetric and positive semidefinite. */
enum tact_symmetric_six_fault {
    TACT_SIX_POSITIVE_SEMIDEFINITE,
    TACT_SIX_NOT_FINITE,
    TACT_SIX_NEGATIVE_DIAGONAL,
    TACT_SIX_NOT_SYMMETRIC,
    TACT_SIX_INDEFINITE, /* a deflection has negative energy */
};

/* Eigenvalues of a symmetric matrix, ascending; NaN where they are not found. Real-time safe. */
void tact_symmetric_six_eigenvalues(const double m[36], double out[6]);

/* Checks that a matrix is symmetric and positive semidefinite, to 1e-9 of the roots of the products
 * of its diagonal entries. */
enum tact_symmetric_six_fault tact_symmetric_six_find_fault(const double m[36]);

#endif
