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
    a->recorded_sweeps = 0;
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
    a->recorded_sweeps = 0;
}

/* Stores the changes of residual and result since the last sweep in the oldest slot. */
static void store_anderson_differences(struct anderson *a, const double *x, const double *g,
                                       const double *scale)
{
    int window_slot = (a->recorded_sweeps + ANDERSON_WINDOW - 1) % ANDERSON_WINDOW;
    for (int i = 0; i < a->size; i++) {
        double f = scale[i] * (g[i] - x[i]);
        if (a->recorded_sweeps) {
            a->df[window_slot][i] = f - a->f[i];
            a->dg[window_slot][i] = g[i] - a->g[i];
        }
        a->f[i] = f;
        a->g[i] = g[i];
    }
    a->recorded_sweeps++;
}

void tact_anderson_step(struct anderson *a, const double *x, const double *g, const double *scale,
                        double *next)
{
    double r[ANDERSON_WINDOW][ANDERSON_WINDOW], c[ANDERSON_WINDOW], weight[ANDERSON_WINDOW];
    int basis_slots[ANDERSON_WINDOW], n = a->size, rank = 0;
    store_anderson_differences(a, x, g, scale);
    int depth = a->recorded_sweeps - 1 < ANDERSON_WINDOW ? a->recorded_sweeps - 1 : ANDERSON_WINDOW;
    double *unrepresented_residual = next; /* part of the residual not yet represented by the basis;
                            at the end the array receives the result */
    double rounding_noise = 0.0;
    for (int i = 0; i < n; i++) {
        rounding_noise += scale[i] * g[i] * scale[i] * g[i];
    }
    rounding_noise = ROUNDING_DIFFERENCE_RATIO * sqrt(rounding_noise);
    memcpy(unrepresented_residual, a->f, sizeof *unrepresented_residual * (size_t)n);
    for (int k = 0; k < depth; k++) { /* newest difference first; dependent ones are skipped */
        int window_slot = (a->recorded_sweeps - 2 - k) % ANDERSON_WINDOW;
        double *q = a->residual_basis[rank],
               size = sqrt(tact_dot(a->df[window_slot], a->df[window_slot], n));
        memcpy(q, a->df[window_slot], sizeof *q * (size_t)n);
        for (int i = 0; i < rank; i++) {
            r[i][rank] = tact_dot(a->residual_basis[i], q, n);
            tact_axpy(q, -r[i][rank], a->residual_basis[i], n);
        }
        double remaining_norm = sqrt(tact_dot(q, q, n));
        if (!(remaining_norm > DEPENDENT_DIFFERENCE_TOLERANCE * size + rounding_noise)) {
            continue;
        }
        r[rank][rank] = remaining_norm;
        for (int i = 0; i < n; i++) {
            q[i] /= remaining_norm;
        }
        c[rank] = tact_dot(q, unrepresented_residual, n);
        tact_axpy(unrepresented_residual, -c[rank], q, n);
        basis_slots[rank++] = window_slot;
    }
    memcpy(next, g, sizeof *next * (size_t)n);
    for (int i = rank - 1; i >= 0; i--) {
        weight[i] = c[i];
        for (int k = i + 1; k < rank; k++) {
            weight[i] -= r[i][k] * weight[k];
        }
        weight[i] /= r[i][i];
        tact_axpy(next, -weight[i], a->dg[basis_slots[i]], n);
    }
}
