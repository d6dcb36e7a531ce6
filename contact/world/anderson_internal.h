/*
 * Anderson acceleration of a fixed-point sweep x -> g(x) (Walker and Ni 2011, type II): the next x
 * is the combination of the last sweeps' results whose combined residual g - x is least.
 * Gauss-Seidel stalls on contacts that share a load through a short lever, a pinched sheet for one;
 * this does not.
 */
#ifndef TACT_CONTACT_ANDERSON_INTERNAL_H
#define TACT_CONTACT_ANDERSON_INTERNAL_H

#define ANDERSON_WINDOW 8

struct anderson {
    int room;  /* most unknowns */
    int size;  /* unknowns of this solve */
    int known; /* sweeps seen since the restart */
    double *numbers;
    double *f, *g;                  /* residual (scaled) and result of the last sweep */
    double *df[ANDERSON_WINDOW];    /* differences of residuals (scaled) */
    double *dg[ANDERSON_WINDOW];    /* differences of results */
    double *basis[ANDERSON_WINDOW]; /* orthonormal basis of df */
};

/* -ENOMEM. */
int tact_anderson_create(struct anderson *a, int room);
void tact_anderson_destroy(struct anderson *a);

/* Forgets what it knows; size unknowns from now on. */
void tact_anderson_restart(struct anderson *a, int size);

/* x went into the sweep and g came out; scale makes the unknowns comparable. Writes the next x. */
void tact_anderson_step(struct anderson *a, const double *x, const double *g, const double *scale,
                        double *next);

#endif
