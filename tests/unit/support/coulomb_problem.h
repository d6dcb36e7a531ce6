/* Coulomb friction problems as matrices: the project's own, and real ones of Siconos (FCLIB) where
 * those are available (data.h). */
#ifndef TACT_TESTS_COULOMB_PROBLEM_H
#define TACT_TESTS_COULOMB_PROBLEM_H

#include <stdbool.h>

enum { MAX_COULOMB_CONTACTS = 16, COULOMB_PROBLEMS = 11 };

/* Per contact n, t1, t2; u = W r + q. */
struct coulomb_problem {
    int contacts;
    double mu[MAX_COULOMB_CONTACTS], q[3 * MAX_COULOMB_CONTACTS],
        w[9 * MAX_COULOMB_CONTACTS * MAX_COULOMB_CONTACTS];
    double norm; /* norm of W, spectral */
};

extern const char *const coulomb_names[COULOMB_PROBLEMS];

/* Reads a Coulomb problem from its file; returns false, with a message, where the file is absent.
 */
bool read_coulomb_problem(int index, struct coulomb_problem *out);

/* |r - P_K(r - rho u~)| / |r|, u~ = u + mu |u_t| e_n, rho = 1 / |W|. */
double compute_coulomb_residual(const struct coulomb_problem *p, const double *r);

/* Adds two sums of squares of one contact: of the residual r - P_K(r - rho u~), with rho = 1 /
 * norm, and of the impulse r. */
void add_coulomb_residual_terms(double mu, double norm, const double *r, const double *u,
                                double *squared_deviation_sum, double *size);

#endif
