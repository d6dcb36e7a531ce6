/* Products and systems of 6 x 6 matrices, row-major. All functions are real-time safe. */
#ifndef TACT_CONTACT_SIX_INTERNAL_H
#define TACT_CONTACT_SIX_INTERNAL_H

/* out += sign a b. */
void tact_6x6_add_product(double *out, double sign, const double *a, const double *b);

/* The same of the first `rows` rows of a and out and the first `inner` columns of a and rows of b,
 * where all others of a are zero. */
void tact_6x6_add_part_of_product(double *out, double sign, const double *a, const double *b,
                                  int rows, int inner);

/* y += sign a x, of six numbers. */
void tact_6x6_add_matrix_vector(double *y, double sign, const double *a, const double *x);

/* out = the transpose of a. */
void tact_6x6_transpose(double *out, const double *a);

/* out = a^-1, where rows and columns from n on are those of the identity. Returns 0, with out
 * undefined, where a is singular. */
int tact_6x6_invert_part(const double *a, int n, double *out);

/* b = a^-1 b, b is 6 x columns with at most 10 columns, by Gauss-Jordan elimination with row
 * pivots. Returns 0, with b unchanged, where a is singular. */
int tact_6x6_solve_in_place(const double *a, double *b, int columns);

#endif
