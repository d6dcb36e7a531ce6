/* The limit of point contacts: real Coulomb problems of Siconos (FCLIB) by block Gauss-Seidel over
 * the cone solver with Anderson acceleration. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "contact/anderson_internal.h"
#include "contact/local.h"
#include "contact/vec.h"

enum { MOST = 16 };

/** Per contact n, t1, t2; u = W r + q. */
struct problem {
    int contacts;
    double mu[MOST], q[3 * MOST], w[9 * MOST * MOST], norm; /* norm: of W, spectral */
};

static const char *shared_folder(void)
{
    const char *folder = getenv("TACT_SHARED");
    return folder ? folder : TACT_SOURCE_DIR "/../shared";
}

/* Numbers that follow the key, brackets and commas between them. */
static void read_numbers(const char *text, const char *key, double *out, int count)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    at += strlen(key);
    for (int i = 0; i < count; i++) {
        at += strspn(at, " :,[]\n");
        char *end;
        out[i] = strtod(at, &end);
        assert_true(end > at);
        at = end;
    }
}

/* Largest |W x| / |x|, by the power method on W'W. */
static double spectral_norm(const double *w, int n)
{
    double x[3 * MOST], y[3 * MOST], norm = 0;
    for (int i = 0; i < n; i++) {
        x[i] = 1 + 0.1 * i;
    }
    for (int pass = 0; pass < 2000; pass++) {
        double size = 0, yy = 0;
        for (int i = 0; i < n; i++) {
            size += x[i] * x[i];
        }
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (int k = 0; k < n; k++) {
                y[i] += w[i * n + k] * x[k] / sqrt(size);
            }
            yy += y[i] * y[i];
        }
        norm = sqrt(yy);
        for (int i = 0; i < n; i++) {
            x[i] = 0;
            for (int k = 0; k < n; k++) {
                x[i] += w[k * n + i] * y[k];
            }
        }
    }
    return norm;
}

/* 0 where the file is absent. */
static int read_problem(const char *name, struct problem *p)
{
    char path[1024];
    double count;
    snprintf(path, sizeof path, "%s/data/friction_problems/%s.json", shared_folder(), name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        return 0;
    }
    static char text[1 << 20];
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    read_numbers(text, "\"nc\"", &count, 1);
    p->contacts = (int)count;
    assert_true(p->contacts > 0 && p->contacts <= MOST);
    int n = 3 * p->contacts;
    read_numbers(text, "\"mu\"", p->mu, p->contacts);
    read_numbers(text, "\"q\"", p->q, n);
    read_numbers(text, "\"W\"", p->w, n * n);
    p->norm = spectral_norm(p->w, n);
    return 1;
}

static void velocity(const struct problem *p, const double *r, double *u)
{
    int n = 3 * p->contacts;
    for (int i = 0; i < n; i++) {
        u[i] = p->q[i];
        for (int k = 0; k < n; k++) {
            u[i] += p->w[i * n + k] * r[k];
        }
    }
}

/* Onto {|x_t| <= mu x_n}. */
static void project(double mu, double *x)
{
    double t = hypot(x[1], x[2]);
    if (t <= mu * x[0]) {
        return;
    }
    double n = (x[0] + mu * t) / (1 + mu * mu), fit = t > 0 && n > 0 ? mu * n / t : 0;
    tact_v3_set(x, n > 0 ? n : 0, fit * x[1], fit * x[2]);
}

/* |r - P_K(r - rho u~)| / |r|, u~ = u + mu |u_t| e_n, rho = 1 / |W|. */
static double natural_map(const struct problem *p, const double *r)
{
    double u[3 * MOST], miss = 0, size = 0;
    velocity(p, r, u);
    for (int c = 0; c < p->contacts; c++) {
        const double *rc = r + 3 * c, *uc = u + 3 * c;
        double x[3] = {rc[0] - (uc[0] + p->mu[c] * hypot(uc[1], uc[2])) / p->norm,
                       rc[1] - uc[1] / p->norm, rc[2] - uc[2] / p->norm};
        project(p->mu[c], x);
        for (int i = 0; i < 3; i++) {
            miss += (rc[i] - x[i]) * (rc[i] - x[i]);
            size += rc[i] * rc[i];
        }
    }
    return size > 0 ? sqrt(miss / size) : sqrt(miss);
}

/* One block: the contact's own 3 x 3 of W, made symmetric as physics has it, what differs in b. */
static void solve_block(const struct problem *p, int c, double *r)
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
static void solve(const struct problem *p, int accelerated, int *six, int *ten, double *residual)
{
    int n = 3 * p->contacts, sweeps = 0, calm = 0;
    double r[3 * MOST] = {0}, before[3 * MOST], next[3 * MOST], scale[3 * MOST];
    struct anderson anderson;
    assert_int_equal(tact_anderson_create(&anderson, n), 0);
    tact_anderson_restart(&anderson, n);
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
        *residual = natural_map(p, r);
        *six = *six == 0 && *residual <= 1e-6 ? sweeps : *six;
        *ten = *ten == 0 && *residual <= 1e-10 ? sweeps : *ten;
        calm = *residual <= 1e-13;
        if (accelerated && !calm && sweeps < 500) {
            tact_anderson_step(&anderson, before, r, scale, next);
            memcpy(r, next, sizeof r);
        }
    }
    tact_anderson_destroy(&anderson);
}

static void solves_coulomb_problems(void **state)
{
    (void)state;
    static const char *const names[] = {"FC3D_Example1",
                                        "FrictionContact3D_1c",
                                        "FrictionContact3D_RR_1c",
                                        "NESpheres_10_1",
                                        "Rover1039",
                                        "Rover1040",
                                        "Rover11035",
                                        "Rover4396"};
    static struct problem p;
    for (int i = 0; i < 8; i++) {
        if (!read_problem(names[i], &p)) {
            print_message("%s is not in %s/data/friction_problems\n", names[i], shared_folder());
            exit(77);
        }
        for (int accelerated = 0; accelerated < 2; accelerated++) {
            int six, ten;
            double residual;
            solve(&p, accelerated, &six, &ten, &residual);
            print_message("%-24s %-9s %3d sweeps to 1e-6, %3d to 1e-10, ends at %.1e\n", names[i],
                          accelerated ? "Anderson:" : "plain:", six, ten, residual);
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
