/*
 * Anderson acceleration of a fixed-point sweep x -> g(x) (Walker and Ni 2011, type II). The
 * next x is the combination of the results of the last sweeps whose combined residual g - x is
 * smallest. Plain Gauss-Seidel stalls where contacts share a load through a short lever, for
 * example on a pinched sheet; the accelerated iteration converges there.
 */
#ifndef TACT_CONTACT_ANDERSON_INTERNAL_H
#define TACT_CONTACT_ANDERSON_INTERNAL_H

#define ANDERSON_WINDOW 8
#define ANDERSON_STORAGE_VECTORS                                                                   \
    (2 + 3 * ANDERSON_WINDOW) /* number of vectors in the storage, each as long as the unknowns */

struct anderson {
    int size;                    /* number of unknowns */
    int sweeps_since_restart;    /* number of sweeps recorded since the restart */
    double *f, *g;               /* scaled residual g - x and result g of the last sweep */
    double *df[ANDERSON_WINDOW]; /* differences between successive residuals (scaled) */
    double *dg[ANDERSON_WINDOW]; /* differences between successive results */
    double *residual_basis[ANDERSON_WINDOW]; /* orthonormal basis of the span of the residual
                                                differences */
};

/* Initialises the acceleration for `size` unknowns. numbers: storage for ANDERSON_STORAGE_VECTORS *
 * size numbers. */
void tact_anderson_initialise(struct anderson *a, double *numbers, int size);

/* Restarts the acceleration: discards the recorded sweeps. */
void tact_anderson_restart(struct anderson *a);

/* Records that the sweep mapped x to g, and writes the next x. scale makes the unknowns comparable
 * in size. */
void tact_anderson_step(struct anderson *a, const double *x, const double *g, const double *scale,
                        double *next);

#endif
