/*
 * Anderson acceleration of a fixed-point sweep x -> g(x) (Walker and Ni 2011, type II): the next x
 * is the combination of the last sweeps' results whose combined residual g - x is least.
 * Gauss-Seidel stalls on contacts that share a load through a short lever, a pinched sheet for one;
 * this does not.
 */
#ifndef TACT_CONTACT_ANDERSON_INTERNAL_H
#define TACT_CONTACT_ANDERSON_INTERNAL_H

#define ANDERSON_WINDOW 8
#define ANDERSON_VECTORS (2 + 3 * ANDERSON_WINDOW) /* as long as the unknowns */

struct anderson {
    int size;                       /* unknowns */
    int known;                      /* sweeps seen since the restart */
    double *f, *g;                  /* residual (scaled) and result of the last sweep */
    double *df[ANDERSON_WINDOW];    /* differences of residuals (scaled) */
    double *dg[ANDERSON_WINDOW];    /* differences of results */
    double *basis[ANDERSON_WINDOW]; /* orthonormal basis of df */
};

/* For `size` unknowns; numbers: room for ANDERSON_VECTORS times as many. */
void tact_anderson_begin(struct anderson *a, double *numbers, int size);

/* Forgets what it knows. */
void tact_anderson_restart(struct anderson *a);

/* x went into the sweep and g came out; scale makes the unknowns comparable. Writes the next x. */
void tact_anderson_step(struct anderson *a, const double *x, const double *g, const double *scale,
                        double *next);

#endif
