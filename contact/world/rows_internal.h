/*
 * Products with the six rows of a contact: J and Y = M^-1 J^T of one node, dof x 6, row-major.
 * A row is held in three vector registers of two numbers. The order of summation is the same on
 * every processor.
 */
#ifndef TACT_CONTACT_ROWS_INTERNAL_H
#define TACT_CONTACT_ROWS_INTERNAL_H

/* Two numbers of a matrix row in a vector register, loaded without alignment. */
typedef double tact_row2 __attribute__((vector_size(16), aligned(8), may_alias));

#define TACT_AS_ROW_OF_DOUBLE_PAIRS(pointer) ((const tact_row2 *)(pointer))

/* u += J v. */
static inline void tact_rows_add_velocity(double *u, const double *j, const double *v, int dof)
{
    tact_row2 a = TACT_AS_ROW_OF_DOUBLE_PAIRS(u)[0], b = TACT_AS_ROW_OF_DOUBLE_PAIRS(u)[1],
              c = TACT_AS_ROW_OF_DOUBLE_PAIRS(u)[2];
    for (int m = 0; m < dof; m++) {
        const tact_row2 *row = TACT_AS_ROW_OF_DOUBLE_PAIRS(j + 6 * m);
        a += row[0] * v[m];
        b += row[1] * v[m];
        c += row[2] * v[m];
    }
    tact_row2 *out = (tact_row2 *)u;
    out[0] = a;
    out[1] = b;
    out[2] = c;
}

/* v += Y r. */
static inline void tact_rows_apply_impulse(double *v, const double *y, const double *r, int dof)
{
    tact_row2 a = TACT_AS_ROW_OF_DOUBLE_PAIRS(r)[0], b = TACT_AS_ROW_OF_DOUBLE_PAIRS(r)[1],
              c = TACT_AS_ROW_OF_DOUBLE_PAIRS(r)[2];
    for (int m = 0; m < dof; m++) {
        const tact_row2 *row = TACT_AS_ROW_OF_DOUBLE_PAIRS(y + 6 * m);
        tact_row2 sum = row[0] * a + row[1] * b + row[2] * c;
        v[m] += sum[0] + sum[1];
    }
}

/* Adds J^T Y to the symmetric 6 x 6 Schur matrix S of a contact. Only entries on and left of the
 * diagonal are set, and one right of it in every other row. The first `translations` rows of J have
 * zeros in columns 3 to 5, as those of a free body's translation have: these products are left out
 * of the last two rows of S. */
static inline void tact_rows_add_to_schur_matrix(double *s, const double *j, const double *y,
                                                 int dof, int translations)
{
    tact_row2 sum[6] = {
        TACT_AS_ROW_OF_DOUBLE_PAIRS(s)[0],      TACT_AS_ROW_OF_DOUBLE_PAIRS(s + 6)[0],
        TACT_AS_ROW_OF_DOUBLE_PAIRS(s + 12)[0], TACT_AS_ROW_OF_DOUBLE_PAIRS(s + 12)[1],
        TACT_AS_ROW_OF_DOUBLE_PAIRS(s + 18)[0], TACT_AS_ROW_OF_DOUBLE_PAIRS(s + 18)[1]};
    for (int m = 0; m < dof; m++) {
        const tact_row2 *row = TACT_AS_ROW_OF_DOUBLE_PAIRS(y + 6 * m);
        const double *factor = j + 6 * m;
        sum[0] += row[0] * factor[0];
        sum[1] += row[0] * factor[1];
        sum[2] += row[0] * factor[2];
        sum[3] += row[1] * factor[2];
        sum[4] += row[0] * factor[3];
        sum[5] += row[1] * factor[3];
    }
    *(tact_row2 *)s = sum[0];
    *(tact_row2 *)(s + 6) = sum[1];
    for (int i = 0; i < 4; i++) {
        ((tact_row2 *)(s + 12 + 6 * (i / 2)))[i % 2] = sum[2 + i];
    }
    for (int i = 0; i < 6; i++) {
        sum[i] = TACT_AS_ROW_OF_DOUBLE_PAIRS(s + 24)[i];
    }
    for (int m = translations; m < dof; m++) {
        const tact_row2 *row = TACT_AS_ROW_OF_DOUBLE_PAIRS(y + 6 * m);
        const double *factor = j + 6 * m + 4;
        for (int i = 0; i < 6; i++) {
            sum[i] += row[i % 3] * factor[i / 3];
        }
    }
    for (int i = 0; i < 6; i++) {
        ((tact_row2 *)(s + 24))[i] = sum[i];
    }
}

/* Product y = M j of a 3 x 3 matrix with three rows of six numbers each. */
static inline void tact_rows_multiply_3x3(double *y, const double *m, const double *j)
{
    const tact_row2 *a = TACT_AS_ROW_OF_DOUBLE_PAIRS(j), *b = TACT_AS_ROW_OF_DOUBLE_PAIRS(j + 6),
                    *c = TACT_AS_ROW_OF_DOUBLE_PAIRS(j + 12);
    for (int k = 0; k < 3; k++, m += 3) {
        tact_row2 *out = (tact_row2 *)(y + 6 * k);
        for (int i = 0; i < 3; i++) {
            out[i] = a[i] * m[0] + b[i] * m[1] + c[i] * m[2];
        }
    }
}

/* b = u - S r, S exactly symmetric. */
static inline void tact_rows_subtract_impulse_velocity(double *b, const double *u, const double *s,
                                                       const double *r)
{
    tact_row2 x = TACT_AS_ROW_OF_DOUBLE_PAIRS(u)[0], y = TACT_AS_ROW_OF_DOUBLE_PAIRS(u)[1],
              z = TACT_AS_ROW_OF_DOUBLE_PAIRS(u)[2];
    for (int k = 0; k < 6; k++) {
        const tact_row2 *column = TACT_AS_ROW_OF_DOUBLE_PAIRS(s + 6 * k);
        x -= column[0] * r[k];
        y -= column[1] * r[k];
        z -= column[2] * r[k];
    }
    tact_row2 *out = (tact_row2 *)b;
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

#endif
