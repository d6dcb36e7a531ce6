/*
 * Finds the point that is deepest inside a set of planes: a linear program in four unknowns by the
 * dual simplex method.
 *
 * Unknowns y = (x, r), largest r with n_i.x + r <= d_i. Four planes at a time determine y. The
 * plane that y violates most replaces one of them, so that r decreases, until none is violated. The
 * start is four planes of a large tetrahedron.
 */
#include <math.h>
#include <string.h>

#include "contact/compare/dual_internal.h"

enum { MOST_STEPS = 2000 };

/* Objective of the linear program: the depth r plus a very small multiple of the point x, so that
 * no two bases are equally good and the steps cannot cycle. */
static const double ANTI_CYCLING_OBJECTIVE[4] = {0.37e-12, -0.61e-12, 0.23e-12, 1.0};

/* Solves the 4 x 4 system m x = b; returns 0 where it is singular. */
static int solve_4x4_system(double m[4][4], const double b[4], double x[4])
{
    double a[4][5];
    for (int i = 0; i < 4; i++) {
        memcpy(a[i], m[i], sizeof m[i]);
        a[i][4] = b[i];
    }
    for (int k = 0; k < 4; k++) {
        int row_of_largest_pivot = k;
        for (int i = k + 1; i < 4; i++) {
            row_of_largest_pivot =
                fabs(a[i][k]) > fabs(a[row_of_largest_pivot][k]) ? i : row_of_largest_pivot;
        }
        if (a[row_of_largest_pivot][k] == 0.0) {
            return 0;
        }
        for (int j = 0; j < 5; j++) {
            double t = a[k][j];
            a[k][j] = a[row_of_largest_pivot][j];
            a[row_of_largest_pivot][j] = t;
        }
        for (int i = 0; i < 4; i++) {
            double f = i == k ? 0.0 : a[i][k] / a[k][k];
            for (int j = k; j < 5; j++) {
                a[i][j] -= f * a[k][j];
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        x[k] = a[k][4] / a[k][k];
    }
    return 1;
}

/* The four constraints that the present vertex of the linear program satisfies with equality. */
struct simplex_basis {
    double row[4][4], right[4];
};

static void set_initial_simplex_basis(struct simplex_basis *b, double size)
{
    static const double normal_signs_of_start_tetrahedron[4][3] = {
        {1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            b->row[i][k] = normal_signs_of_start_tetrahedron[i][k] / sqrt(3.0);
        }
        b->row[i][3] = 1.0;
        b->right[i] = 4.0 * size;
    }
}

/* The constraint that leaves the basis when a new one enters, chosen such that all multipliers
 * stay positive; -1 where there is none. */
static int find_constraint_leaving_basis(const struct simplex_basis *b,
                                         const double constraint_entering_basis[4])
{
    double transposed_basis[4][4], multiplier[4], entering_coefficient[4],
        min_multiplier_ratio = INFINITY;
    int basis_row_to_replace = -1;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            transposed_basis[i][j] = b->row[j][i];
        }
    }
    if (!solve_4x4_system(transposed_basis, ANTI_CYCLING_OBJECTIVE, multiplier) ||
        !solve_4x4_system(transposed_basis, constraint_entering_basis, entering_coefficient)) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        double multiplier_ratio_of_basis_row = multiplier[i] / entering_coefficient[i];
        if (entering_coefficient[i] > 1e-12 &&
            multiplier_ratio_of_basis_row < min_multiplier_ratio) {
            min_multiplier_ratio = multiplier_ratio_of_basis_row;
            basis_row_to_replace = i;
        }
    }
    return basis_row_to_replace;
}

int tact_dual_find_chebyshev_centre(const double (*plane)[4], size_t count, double size,
                                    double point[3], double *depth)
{
    struct simplex_basis b;
    set_initial_simplex_basis(&b, size);
    for (int basis_exchange_count = 0; basis_exchange_count < MOST_STEPS; basis_exchange_count++) {
        /* with a tolerance of 1e-14 rounding could keep the search from ending */
        double y[4], max_violation = 1e-12 * size;
        size_t plane_entering_simplex_basis = count;
        if (!solve_4x4_system(b.row, b.right, y)) {
            return 0;
        }
        for (size_t i = 0; i < count; i++) {
            const double *n = plane[i];
            double violation_of_plane_constraint =
                n[0] * y[0] + n[1] * y[1] + n[2] * y[2] + y[3] - n[3];
            if (violation_of_plane_constraint > max_violation) {
                max_violation = violation_of_plane_constraint;
                plane_entering_simplex_basis = i;
            }
        }
        if (plane_entering_simplex_basis == count) {
            memcpy(point, y, 3 * sizeof *point);
            *depth = y[3];
            return 1;
        }
        double row[4] = {plane[plane_entering_simplex_basis][0],
                         plane[plane_entering_simplex_basis][1],
                         plane[plane_entering_simplex_basis][2], 1.0};
        int basis_row_to_replace = find_constraint_leaving_basis(&b, row);
        if (basis_row_to_replace < 0) {
            return 0;
        }
        memcpy(b.row[basis_row_to_replace], row, sizeof row);
        b.right[basis_row_to_replace] = plane[plane_entering_simplex_basis][3];
    }
    return 0;
}
