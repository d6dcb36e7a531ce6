/* The sparse factorisation of a hand's matrix, of random trees, against LAPACK on the full matrix.
 */
#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/hand_internal.h"
#include "support/random.h"

enum { JOINTS = 24, TREES = 200 };

/* Error relative to the largest entry; the worst condition number is about 1e6. */
#define MAX_RELATIVE_ERROR 1e-10

static double matrix[JOINTS * JOINTS]; /* M + diagonal, full */

/* A random tree of links in which about every third link starts a branch, so that chains have 1 to
 * more than TACT_UNKNOWNS_PER_NODE links. */
static struct tact_hand *random_branching_hand(int n)
{
    struct tact_link_def link_definitions[JOINTS] = {{0}};
    struct tact_pose base = random_pose(0.1);
    struct tact_hand *hand;
    double diagonal[JOINTS];
    for (int i = 0; i < n; i++) {
        int starts_branch = uniform(0, 1) < 0.3;
        link_definitions[i].parent = i == 0 ? -1 : starts_branch ? (int)uniform(-1, i) : i - 1;
        link_definitions[i].joint = uniform(0, 1) < 0.8 ? TACT_JOINT_HINGE : TACT_JOINT_SLIDE;
        link_definitions[i].origin = random_pose(0.05);
        link_definitions[i].mass = uniform(0.01, 0.1);
        for (int k = 0; k < 3; k++) {
            link_definitions[i].axis[k] = uniform(-1, 1);
            link_definitions[i].center[k] = uniform(-0.02, 0.02);
            link_definitions[i].inertia[k] = 1e-5;
        }
    }
    assert_int_equal(tact_hand_create(link_definitions, n, &base, &hand), 0);
    for (int i = 0; i < n; i++) {
        tact_hand_state(hand).q[i] = uniform(-1, 1);
        diagonal[i] = uniform(0, 1e-5);
    }
    tact_hand_refresh(hand);
    tact_hand_mass_matrix(hand, hand->mass);
    memcpy(matrix, hand->mass, (size_t)(n * n) * sizeof *matrix);
    for (int i = 0; i < n; i++) {
        matrix[i * n + i] += diagonal[i];
    }
    assert_int_equal(tact_hand_factor_mass_matrix(hand, diagonal), 0);
    return hand;
}

/* Solves for `columns` right sides by dense elimination; x: n x columns, row-major, holds the right
 * sides, then the solutions. */
static void solve_by_dense_elimination(int n, double *x, int columns)
{
    double matrix_copy[JOINTS * JOINTS];
    memcpy(matrix_copy, matrix, sizeof matrix_copy);
    assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, columns, matrix_copy, n, x, columns),
                     0);
}

static double worst_relative_difference(const double *a, const double *b, int n)
{
    double worst = 0, size = 0;
    for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return worst / size;
}

static void mass_matrix_factor_solves_as_lapack(void **state)
{
    (void)state;
    double worst = 0, x[JOINTS], y[JOINTS];
    for (int tree_index = 0; tree_index < TREES; tree_index++) {
        int n = 1 + tree_index % JOINTS;
        struct tact_hand *hand = random_branching_hand(n);
        for (int i = 0; i < n; i++) {
            x[i] = y[i] = uniform(-1, 1);
        }
        tact_hand_solve(hand, x, 1);
        solve_by_dense_elimination(n, y, 1);
        worst = fmax(worst, worst_relative_difference(x, y, n));
        tact_hand_destroy(hand);
    }
    print_message("largest difference %.1e\n", worst);
    assert_true(worst <= MAX_RELATIVE_ERROR);
}

/* Z^T Z = J M^-1 J^T for the Jacobian J of a contact between two links, where Z has rows for their
 * ancestors only. */
static void mass_matrix_factor_gives_contact_mobility(void **state)
{
    (void)state;
    double worst = 0;
    for (int tree_index = 0; tree_index < TREES; tree_index++) {
        int n = 1 + tree_index % JOINTS;
        struct tact_hand *hand = random_branching_hand(n);
        double j[6 * JOINTS] = {0}, z[6 * JOINTS], y[6 * JOINTS], s[36] = {0}, exact[36] = {0};
        for (int link = (int)uniform(0, n), k = 0; k < 2; link = (int)uniform(0, n), k++) {
            for (int i = link; i >= 0; i = tact_hand_parent(hand, i)) {
                hand->rows[i] = z + 6 * i;
                for (int m = 0; m < 6; m++) {
                    j[6 * i + m] += uniform(-1, 1);
                }
            }
        }
        memcpy(z, j, sizeof z);
        memcpy(y, j, sizeof y);
        tact_hand_apply_inverse_transpose_to_rows(hand, hand->rows);
        solve_by_dense_elimination(n, y, 6);
        for (int i = 0; i < 36 * n; i++) {
            int row = 6 * (i / 36), a = i % 36 / 6, b = i % 6;
            s[i % 36] += z[row + a] * z[row + b];
            exact[i % 36] += j[row + a] * y[row + b];
        }
        worst = fmax(worst, worst_relative_difference(s, exact, 36));
        tact_hand_destroy(hand);
    }
    print_message("largest difference %.1e\n", worst);
    assert_true(worst <= MAX_RELATIVE_ERROR);
}

/* The scaled rates w = L v have the kinetic energy |w|^2 / 2, and convert back to the joint rates
 * v. */
static void joint_rates_convert_to_scaled_and_back(void **state)
{
    (void)state;
    for (int tree_index = 0; tree_index < TREES; tree_index++) {
        int n = 1 + tree_index % JOINTS;
        struct tact_hand *hand = random_branching_hand(n);
        double v[JOINTS], square = 0, exact = 0;
        for (int i = 0; i < n; i++) {
            v[i] = hand->state.v[i] = uniform(-1, 1);
        }
        for (int i = 0; i < n * n; i++) {
            exact += v[i / n] * matrix[i] * v[i % n];
        }
        tact_hand_copy_rates_by_slot(hand);
        tact_hand_multiply_rates_by_factor(hand, hand->w);
        for (int i = 0; i < TACT_UNKNOWNS_PER_NODE * hand->coordinate_chain_count; i++) {
            square += hand->w[i] * hand->w[i];
        }
        tact_hand_compute_joint_rates(hand);
        assert_true(fabs(square - exact) <= 1e-12 * exact);
        assert_true(worst_relative_difference(hand->velocity, v, n) <= MAX_RELATIVE_ERROR);
        tact_hand_destroy(hand);
    }
}

static void indefinite_mass_matrices_are_refused(void **state)
{
    (void)state;
    static const double bad[3] = {-1, NAN, INFINITY};
    struct tact_hand *hand = random_branching_hand(JOINTS);
    for (int k = 0; k < 3; k++) {
        double diagonal[JOINTS] = {0};
        diagonal[JOINTS / 2] = bad[k];
        assert_int_equal(tact_hand_factor_mass_matrix(hand, diagonal), -EDOM);
    }
    tact_hand_destroy(hand);
}

static void solving_four_at_once_equals_single_solves(void **state)
{
    (void)state;
    for (int tree_index = 0; tree_index < TREES; tree_index++) {
        int n = 1 + tree_index % JOINTS;
        struct tact_hand *hand = random_branching_hand(n);
        double four_interleaved_vectors[4 * JOINTS], four_single_vectors[4][JOINTS];
        for (int i = 0; i < 4 * n; i++) {
            four_interleaved_vectors[i] = four_single_vectors[i % 4][i / 4] = uniform(-1, 1);
        }
        tact_hand_apply_inverse_factor_to_four(hand, four_interleaved_vectors);
        for (int k = 0; k < 4; k++) {
            tact_hand_apply_inverse_factor(hand, four_single_vectors[k]);
            for (int i = 0; i < n; i++) {
                assert_memory_equal(&four_interleaved_vectors[4 * i + k],
                                    &four_single_vectors[k][i], sizeof(double));
            }
        }
        tact_hand_destroy(hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_matrix_factor_solves_as_lapack),
        cmocka_unit_test(mass_matrix_factor_gives_contact_mobility),
        cmocka_unit_test(joint_rates_convert_to_scaled_and_back),
        cmocka_unit_test(solving_four_at_once_equals_single_solves),
        cmocka_unit_test(indefinite_mass_matrices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
