/* Coulomb friction problems as matrices: the project's own, and real ones of Siconos (FCLIB) where
 * those are available (data.h). */
#ifndef TACT_TESTS_COULOMB_PROBLEM_H
#define TACT_TESTS_COULOMB_PROBLEM_H

#include <stdbool.h>

enum { COULOMB_MOST = 16, COULOMB_PROBLEMS = 11 };

/* Per contact n, t1, t2; u = W r + q. */
struct coulomb_problem {
    int contacts;
    double mu[COULOMB_MOST], q[3 * COULOMB_MOST], w[9 * COULOMB_MOST * COULOMB_MOST];
    double norm; /* norm of W, spectral */
};

extern const char *const coulomb_names[COULOMB_PROBLEMS];

/* Reads a problem; false, with a message, where it is absent. */
bool coulomb_read(int index, struct coulomb_problem *out);

/* |r - P_K(r - rho u~)| / |r|, u~ = u + mu |u_t| e_n, rho = 1 / |W|. */
double coulomb_residual(const struct coulomb_problem *p, const double *r);

/* Adds the two sums of squares of one contact: of the difference above, with rho = 1 / norm, and
 * of r. */
void coulomb_miss(double mu, double norm, const double *r, const double *u, double *miss,
                  double *size);

#endif
