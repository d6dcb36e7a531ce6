/* The limit of point contacts: real Coulomb problems of Siconos (FCLIB) by block Gauss-Seidel over
 * the cone solver with Anderson acceleration. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/local/local.h"
#include "contact/vec.h"
#include "contact/world/anderson_internal.h"
#include "support/coulomb_problem.h"

/* One block: the contact's own 3 x 3 of W, made symmetric as physics has it, what differs in b. */
static void solve_block(const struct coulomb_problem *p, int c, double *r)
{
    struct tact_local_problem local = {.mu = p->mu[c]};
    int n = 3 * p->contacts;
    double *rc = r + 3 * c, six[6] = {rc[0], rc[1], rc[2], 0, 0, 0};
    for (int i = 0; i < 3; i++) {
        local.b[i] = p->q[3 * c + i];
        for (int k = 0; k < n; k++) {
            local.b[i] += p->w[(3 * c + i) * n + k] * r[k];
        }
        for (int k = 0; k < 3; k++) {
            local.s[6 * i + k] =
                0.5 * (p->w[(3 * c + i) * n + 3 * c + k] + p->w[(3 * c + k) * n + 3 * c + i]);
            local.b[i] -= local.s[6 * i + k] * rc[k];
        }
    }
    tact_local_cone(&local, six);
    tact_v3_copy(rc, six);
}

/* Sweeps to 1e-6 and to 1e-10, and the residual at the end. */
static void solve(const struct coulomb_problem *p, int accelerated, int *six, int *ten,
                  double *residual)
{
    int n = 3 * p->contacts, sweeps = 0, calm = 0;
    double r[3 * COULOMB_MOST] = {0}, before[3 * COULOMB_MOST], next[3 * COULOMB_MOST],
                 scale[3 * COULOMB_MOST];
    static double numbers[ANDERSON_VECTORS * 3 * COULOMB_MOST];
    struct anderson anderson;
    tact_anderson_begin(&anderson, numbers, n);
    *six = *ten = 0;
    for (int i = 0; i < n; i++) {
        scale[i] = 1;
    }
    *residual = INFINITY;
    while (sweeps < 500 && calm < 1) {
        memcpy(before, r, sizeof before);
        for (int c = 0; c < p->contacts; c++) {
            solve_block(p, c, r);
        }
        sweeps++;
        *residual = coulomb_residual(p, r);
        *six = *six == 0 && *residual <= 1e-6 ? sweeps : *six;
        *ten = *ten == 0 && *residual <= 1e-10 ? sweeps : *ten;
        calm = *residual <= 1e-13;
        if (accelerated && !calm && sweeps < 500) {
            tact_anderson_step(&anderson, before, r, scale, next);
            memcpy(r, next, sizeof r);
        }
    }
}

static void solves_coulomb_problems(void **state)
{
    (void)state;
    static struct coulomb_problem p;
    for (int i = 0; i < COULOMB_PROBLEMS; i++) {
        coulomb_read(i, &p);
        for (int accelerated = 0; accelerated < 2; accelerated++) {
            int six, ten;
            double residual;
            solve(&p, accelerated, &six, &ten, &residual);
            print_message("%-24s %-9s %3d sweeps to 1e-6, %3d to 1e-10, ends at %.1e\n",
                          coulomb_names[i], accelerated ? "Anderson:" : "plain:", six, ten,
                          residual);
            assert_true(residual <= 1e-10);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_coulomb_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
