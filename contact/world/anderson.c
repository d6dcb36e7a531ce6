#include "contact/world/anderson_internal.h"

#include <math.h>
#include <string.h>
#include "contact/linear.h"

#define DEPENDENT_DIFFERENCE_TOLERANCE                                                             \
    1e-9 /* relative size below which a difference of iterates counts as linearly dependent on the \
            others */
#define ROUNDING_DIFFERENCE_RATIO                                                                  \
    1e-14 /* size of a difference of iterates that may be rounding alone, relative to the unknowns \
           */

void tact_anderson_initialise(struct anderson *a, double *numbers, int size)
{
    size_t n = (size_t)size;
    a->size = size;
    a->sweeps_since_restart = 0;
    a->f = numbers;
    a->g = numbers + n;
    numbers += 2 * n;
    for (int i = 0; i < ANDERSON_WINDOW; i++) {
        a->df[i] = numbers;
        a->dg[i] = numbers + n;
        a->residual_basis[i] = numbers + 2 * n;
        numbers += 3 * n;
    }
}

void tact_anderson_restart(struct anderson *a)
{
    a->sweeps_since_restart = 0;
}

/* Stores the changes of residual and result since the last sweep in the oldest slot. */
static void store_anderson_differences(struct anderson *a, const double *x, const double *g,
                                       const double *scale)
{
    int anderson_window_slot = (a->sweeps_since_restart + ANDERSON_WINDOW - 1) % ANDERSON_WINDOW;
    for (int i = 0; i < a->size; i++) {
        double f = scale[i] * (g[i] - x[i]);
        if (a->sweeps_since_restart) {
            a->df[anderson_window_slot][i] = f - a->f[i];
            a->dg[anderson_window_slot][i] = g[i] - a->g[i];
        }
        a->f[i] = f;
        a->g[i] = g[i];
    }
    a->sweeps_since_restart++;
}

void tact_anderson_step(struct anderson *a, const double *x, const double *g, const double *scale,
                        double *next)
{
    double r[ANDERSON_WINDOW][ANDERSON_WINDOW], c[ANDERSON_WINDOW], weight[ANDERSON_WINDOW];
    int window_slots_of_basis[ANDERSON_WINDOW], n = a->size, rank = 0;
    store_anderson_differences(a, x, g, scale);
    int depth = a->sweeps_since_restart - 1 < ANDERSON_WINDOW ? a->sweeps_since_restart - 1
                                                              : ANDERSON_WINDOW;
    double *residual_outside_basis = next; /* part of the residual not yet represented by the basis;
                            at the end the array receives the result */
    double rounding_error_of_residual = 0.0;
    for (int i = 0; i < n; i++) {
        rounding_error_of_residual += scale[i] * g[i] * scale[i] * g[i];
    }
    rounding_error_of_residual = ROUNDING_DIFFERENCE_RATIO * sqrt(rounding_error_of_residual);
    memcpy(residual_outside_basis, a->f, sizeof *residual_outside_basis * (size_t)n);
    for (int k = 0; k < depth; k++) { /* newest difference first; dependent ones are skipped */
        int anderson_window_slot = (a->sweeps_since_restart - 2 - k) % ANDERSON_WINDOW;
        double *q = a->residual_basis[rank],
               size = sqrt(tact_dot(a->df[anderson_window_slot], a->df[anderson_window_slot], n));
        memcpy(q, a->df[anderson_window_slot], sizeof *q * (size_t)n);
        for (int i = 0; i < rank; i++) {
            r[i][rank] = tact_dot(a->residual_basis[i], q, n);
            tact_axpy(q, -r[i][rank], a->residual_basis[i], n);
        }
        double norm_of_independent_difference = sqrt(tact_dot(q, q, n));
        if (!(norm_of_independent_difference >
              DEPENDENT_DIFFERENCE_TOLERANCE * size + rounding_error_of_residual)) {
            continue;
        }
        r[rank][rank] = norm_of_independent_difference;
        for (int i = 0; i < n; i++) {
            q[i] /= norm_of_independent_difference;
        }
        c[rank] = tact_dot(q, residual_outside_basis, n);
        tact_axpy(residual_outside_basis, -c[rank], q, n);
        window_slots_of_basis[rank++] = anderson_window_slot;
    }
    memcpy(next, g, sizeof *next * (size_t)n);
    for (int i = rank - 1; i >= 0; i--) {
        weight[i] = c[i];
        for (int k = i + 1; k < rank; k++) {
            weight[i] -= r[i][k] * weight[k];
        }
        weight[i] /= r[i][i];
        tact_axpy(next, -weight[i], a->dg[window_slots_of_basis[i]], n);
    }
}
