/* Products and systems of 6 x 6 matrices, row-major. All functions are real-time safe. */
#ifndef TACT_CONTACT_SIX_INTERNAL_H
#define TACT_CONTACT_SIX_INTERNAL_H

/* out += sign a b. */
void tact_6x6_add_product(double *out, double sign, const double *a, const double *b);

/* Adds a product of 6 x 6 matrices, out += sign a b, of the first `rows` rows of a and the first
 * `inner` columns of a, where all others of a are zero. */
void tact_6x6_add_product_of_leading_block(double *out, double sign, const double *a,
                                           const double *b, int rows, int inner);

/* Adds a matrix-vector product of six numbers, y += sign a x. */
void tact_6x6_add_matrix_vector(double *y, double sign, const double *a, const double *x);

/* Writes the transpose of the 6 x 6 matrix a to out. */
void tact_6x6_transpose(double *out, const double *a);

/* Inverts a 6 x 6 matrix whose rows and columns from n on are those of the identity, out = a^-1.
 * Returns 0, with out undefined, where a is singular. */
int tact_6x6_invert_leading_block(const double *a, int n, double *out);

/* Solves a 6 x 6 system in place, b = a^-1 b with at most 10 columns of b, by Gauss-Jordan
 * elimination with row pivots. Returns 0, with b unchanged, where a is singular. */
int tact_6x6_solve_in_place(const double *a, double *b, int columns);

#endif
